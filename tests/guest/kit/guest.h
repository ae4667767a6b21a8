/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by all test programs in the emulated machine: one libcheck runner per test, which
 * prints a line for each test, skips a test if the machine lacks what it needs, runs it as
 * the right user, and fails it if the kernel complained meanwhile.
 *
 * A test file is a program:
 *
 *	int main(void)
 *	{
 *		guest_begin("subject", NULL);
 *		GUEST_RUN(name_of_test, NEED_COUNTERS | AS_USER);
 *		return guest_end();
 *	}
 */
#ifndef PERFCTR_GUEST_H
#define PERFCTR_GUEST_H

#include <check.h>
#include <errno.h>
#include <linux/perfctr.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/* What a test needs. If the machine lacks it, the test is reported as skipped. */
#define NEED_COUNTERS	0x001	/* programmable counters that filter by mode */
#define NEED_SMP	0x002	/* a second CPU that can be taken off and on */
#define NEED_PERF	0x004	/* perf_event_open() counts instructions */
#define NEED_FIXED	0x008	/* the fixed counters cycle and instret */
#define NEED_UNFILTERED	0x010	/* ... which cannot be restricted to a mode */
#define NEED_USER_READ	0x020	/* counters can be read in user mode */
#define NEED_SAMPLES	0x040	/* perf_events, alone, takes samples */
#define NEED_INTERRUPT	0x080	/* counters interrupt as they overflow */
#define NEED_NO_INTERRUPT 0x2000 /* ... they do not */
#define NEED_NAMESPACES	0x4000	/* of pids, and of users */
#define NEED_BESIDE	0x8000	/* perf_events counts while we do */
#define NEED_NO_BESIDE	0x10000	/* ... it does not, nor do we while it does */
#define NEED_NARROW	0x20000	/* counters can be made narrower, by a parameter */
#define NEED_TLB_NAMES	0x40000	/* the library has names for events of TLBs, which count */
#define NEED_X86	0x80000	/* an x86 processor */
#define NEED_LACKS	0x100000	/* the processor tells which events it has not */
#define NEED_HYBRID	0x200000	/* two CPUs, of two types */
#define NEED_EXTRA	0x400000	/* events with a register of their own */
#define NEED_NATIVE	0x800000	/* counters of perfctr's own driver */
#define NEED_SHARED	0x1000000	/* perf_events counts for us, for users as well */
#define NEED_ALIKE	0x2000000	/* CPUs of one type */
#define NEED_NO_RT	0x4000000	/* the kernel itself interrupts other CPUs rarely */
#define NEED_TOPDOWN	0x8000000	/* SLOTS and TopDown's metrics */
#define NEED_PERMISSION	0x10000000	/* who reads registers in user mode was permitted to */
#define NEED_KPROBES	0x40000000	/* the kernel has kprobes */
#define NEED_ROOM	0x20000000	/* what was counted before leaves counters for the next control */

#define NEED_EVNTSEL	0x80000000u	/* event selects as the P6's and AMD's are */
#define NEED_RDTSC	0x100000000ull	/* the clock can be read in user mode */
#define NEED_MODELESS	0x200000000ull	/* counters that count all modes */
#define NEED_CYCLES	0x400000000ull	/* a name for the event of clock cycles */
#define NEED_NOISE	0x800000000ull	/* an event that counts interrupts */

/* The user that runs the test; root without any of these */
#define AS_USER		0x100
#define AS_STRANGER	0x200

/* The kernel log: what the test may leave there */
#define LOG_SILENT	0x400	/* nothing at all, whoever says it */
#define LOG_MODULE	0x800	/* the module may talk, as it does when it is loaded */
#define LOG_OOM		0x1000	/* the OOM killer may kill */

#define GUEST_UID	1000
#define STRANGER_UID	1001

#define PERFCTR_MODULE	"/lib/perfctr.ko"
#ifndef PERFCTR_DEVICE
#define PERFCTR_DEVICE	"/dev/perfctr"
#endif
#define MODULE_PARAMS	"/sys/module/perfctr/parameters/"

/**
 * struct guest_facts - the machine, as found when the program began
 * @ncpus: online CPUs
 * @perf: perf_event_open() counts instructions in user mode
 * @samples: ... and takes samples of cycles
 * @twice: ... and counts an event on two counters at the same time
 * @info: what PERFCTR_IOC_INFO said
 * @nprogrammable: programmable counters of a CPU; 0 if they count all modes, as most tests then count the
 *	clock alone (test_modeless.c has the others)
 * @shared: controls count by perf_events (SOURCE=shared in the environment)
 */
struct guest_facts {
	unsigned int ncpus;
	bool perf;
	bool samples;
	bool twice;
	struct perfctr_kernel_info info;
	unsigned int nprogrammable;
	bool shared;
};

extern struct guest_facts guest;

static inline bool is_ppc(void)
{
#if defined(__powerpc__)
	return true;
#else
	return false;
#endif
}

/* ppc32's types have the numbers of x86's. */
static inline bool is_x86(void)
{
	return guest.info.cpu_type < PERFCTR_RISCV_GENERIC && !is_ppc();
}

/* AMD's, of which CPUID tells no events */
static inline bool is_amd(void)
{
	const unsigned int type = guest.info.cpu_type;

	return is_x86() && (type == PERFCTR_X86_AMD_K7 || type == PERFCTR_X86_AMD_K8 ||
			    type == PERFCTR_X86_AMD_K8C || type == PERFCTR_X86_AMD_FAM10H ||
			    type >= PERFCTR_X86_AMD_FAM15H);
}

/* Intel's P5, its clones, and the C3: events of their own, which CPUID does not tell */
static inline bool is_pentium(void)
{
	const unsigned int type = guest.info.cpu_type;

	return is_x86() && (type == PERFCTR_X86_INTEL_P5 || type == PERFCTR_X86_INTEL_P5MMX ||
			    (type >= PERFCTR_X86_CYRIX_MII && type <= PERFCTR_X86_WINCHIP_2) ||
			    type == PERFCTR_X86_VIA_C3);
}

/* Counters count all modes, and never stop. */
static inline bool is_modeless(void)
{
	return is_pentium() && !(guest.info.cpu_features & PERFCTR_FEATURE_FILTER);
}

static inline bool is_p4(void)
{
	const unsigned int type = guest.info.cpu_type;

	return is_x86() && (type == PERFCTR_X86_INTEL_P4 || type == PERFCTR_X86_INTEL_P4M2 ||
			    type == PERFCTR_X86_INTEL_P4M3);
}

/* The first programmable counter that counts instructions; the others follow. */
static inline unsigned int first_counter(void)
{
	return is_p4() ? 12 : 0;
}

/* We count by some counters of perf's PMU, while perf counts by others. */
static inline bool is_beside(void)
{
	return guest.info.cpu_features & PERFCTR_FEATURE_BESIDE;
}

/*
 * The counters that we can have at the same time. Beside perf one that counts cycles is perf's; the NMI watchdog has
 * Intel's fixed one.
 */
static inline uint64_t our_counters(void)
{
	return guest.info.counters & ~(is_beside() ? 1ull << 25 : 0);
}

/* perf has all counters or none, and so have we. */
static inline bool has_one_source(void)
{
	return (is_x86() && !is_beside()) || is_ppc();
}

/* Of i-mode counters */
static inline unsigned int least_period(void)
{
	if (guest.info.cpu_type == PERFCTR_X86_INTEL_NHLM)
		return 32;
	return is_x86() && !is_p4() ? 2 : 1;
}

/* PREEMPT_RT: locks sleep, interrupts are threads, and realtime threads are pushed to other CPUs. */
bool is_rt(void);
/* register_kprobe() is there for modules. */
bool has_kprobes(void);

static inline bool is_arm64(void)
{
	return guest.info.cpu_type >= PERFCTR_ARM64_GENERIC;
}

/*
 * Loads the module afresh if it is not loaded with these parameters (NULL:
 * none), and learns the facts of the machine.
 */
void guest_begin(const char *subject, const char *params);
void guest_run(const TTest *test, uint64_t what);
/* Returns the exit status of the program: 0 if nothing failed. */
int guest_end(void);

#define GUEST_RUN(test, what) guest_run(test, what)

/*
 * 0, or -errno: loading twice is EEXIST, unloading twice ENOENT. Limits on users are off,
 * since they make tests wait, unless @params is MODULE_DEFAULTS. The environment's PARAMS
 * are parameters too.
 */
#define MODULE_DEFAULTS	""
int module_load(const char *params);
int module_unload(void);
/* Waits for the last reference to fall, which may come after the last close(). */
int module_unload_patiently(void);
bool module_is_loaded(void);

/* Writes @text to the file @path; 0, or -errno. */
int write_text(const char *path, const char *text);
/* Reads a file into @buf, NUL-terminated; the length, or -errno. */
ssize_t read_text(const char *path, char *buf, size_t size);

/* Becomes another user, for good, and stays dumpable as a login would be. */
void become(uid_t uid);

/* Binds the calling thread, or thread @tid, to one CPU. */
void pin_self(unsigned int cpu);
void pin_thread(pid_t tid, unsigned int cpu);
/* The id of a thread of the kernel by its name; 0: there is none */
pid_t kernel_thread(const char *name);
/* Switches CPU @cpu on or off; 0, or -errno. Root only. */
int cpu_online(unsigned int cpu, bool on);
/* A real-time priority makes a thread preempt all others. Root only. */
void make_realtime(void);

uint64_t now_ns(void);
void sleep_us(unsigned int us);
/*
 * Beside perf on x86, waits until what was counted before has left no counter held, which takes a second. Giving back
 * interrupts each CPU.
 */
void until_given_back(void);

/*
 * Zeroed memory that forked children share. Helpers report in it, since only the test's
 * own process may assert.
 */
void *shared_alloc(size_t size);

/* Waits for @pid, and asserts that it exited with @status. */
void expect_exit(pid_t pid, int status);
/* Waits until the tracee stops, and returns the signal. */
int wait_stop(pid_t pid);
/* Starts the program, which the caller traces, and which stands at its first instruction. */
pid_t exec_traced(const char *path);

/* Asserts that @call fails with @err; tells both errors by name if not. */
#define ck_errno(call, err) do {					\
	long _ret, _errno;						\
	errno = 0;							\
	_ret = (long)(call);						\
	_errno = errno;							\
	ck_assert_msg(_ret == -1, "%s succeeded (%ld), expected %s",	\
		      #call, _ret, #err);				\
	ck_assert_msg(_errno == (err), "%s: %s, expected %s",		\
		      #call, strerror((int)_errno), #err);		\
} while (0)

/* Asserts that a call does not fail, and tells why if it does. */
#define ck_ok(call) do {						\
	errno = 0;							\
	ck_assert_msg((long)(call) != -1, "%s: %s",			\
		      #call, strerror(errno));				\
} while (0)

#endif /* PERFCTR_GUEST_H */
