/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfctr: performance counters of the calling thread.
 *
 * The calls and types of perfctr 2.6 come first, and have the meaning that they had in 2.6. New
 * calls and types follow. libperfctr(3) describes each call.
 *
 * A call that fails returns -1 or NULL and sets errno, unless its comment says otherwise. A read
 * that returns a count returns PERFCTR_NO_COUNT (all bits set) if it fails. errno is EIO if the
 * state has a sticky error, and EINVAL if the state has no such counter.
 */
#ifndef LIBPERFCTR_H
#define LIBPERFCTR_H

#include <stddef.h>
#include <linux/perfctr.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Types and constants of perfctr 2.6
 *
 * <linux/perfctr.h> has the PERFCTR_FEATURE_* and the types of processors.
 */

/*
 * The members are those of the kernel's struct perfctr_kernel_info, which <linux/perfctr.h>
 * describes; members of perfctr 2.6 come first. A member that the module is too old to know is 0.
 * own_cpu_type is the type that the module reports. cpu_type is an older type if PERFCTR_CPU_TYPE
 * in the environment names one (libperfctr(3)).
 */
struct perfctr_info {
	unsigned int abi_version;
	char driver_version[32];
	unsigned int cpu_type;
	unsigned int cpu_features;
	unsigned int cpu_khz;
	unsigned int tsc_to_cpu_mult;
	unsigned int nrctrs;
	unsigned int no_counters;
	unsigned int user_read;
	unsigned int width;
	unsigned int source;
	unsigned int topdown;
	unsigned int own_cpu_type;
	unsigned int _reserved1;
	unsigned long long tsc_hz;
	unsigned long long counters;
	unsigned long long events[2];
	unsigned long long _reserved[8];
};

struct perfctr_cpu_mask {
	unsigned int nrwords;
	unsigned int mask[1];	/* has nrwords elements */
};

struct perfctr_cpus_info {
	struct perfctr_cpu_mask *cpus;
	struct perfctr_cpu_mask *cpus_forbidden;
};

#if defined(__x86_64__) || defined(__i386__)

#define PERFCTR_NRCTRS	18

/* Older names of two types of processors */
#define PERFCTR_X86_AMD_FAM10		PERFCTR_X86_AMD_FAM10H
#define PERFCTR_X86_INTEL_COREI7	PERFCTR_X86_INTEL_NHLM

/* A value of pmc_map[] on a Pentium 4: any counter of a block (0 BPU, 1 MS, 2 FLAME, 3 IQ) */
#define PERFCTR_P4_ANY(block)	(0xfffffff0u + (block))
#define PERFCTR_P4_BLOCKS	4u

struct perfctr_cpu_control {
	unsigned int tsc_on;
	unsigned int nractrs;
	unsigned int nrictrs;
	unsigned int pmc_map[PERFCTR_NRCTRS];
	unsigned int evntsel[PERFCTR_NRCTRS];
	__extension__ union {
		struct {
			unsigned int escr[PERFCTR_NRCTRS];
			unsigned int pebs_enable;
			unsigned int pebs_matrix_vert;
		} p4;
		unsigned int evntsel_high[PERFCTR_NRCTRS];
		struct {
			unsigned int _padding[PERFCTR_NRCTRS];
			unsigned int offcore_rsp[2];
		} nhlm;
	};
	int ireset[PERFCTR_NRCTRS];
	unsigned int perf_user;		/* see PERFCTR_PERF_EVENTS below */
	unsigned int perf_kernel;
	unsigned int extended;		/* see PERFCTR_EXTENDED below */
	unsigned int _reserved[1];
};

#elif defined(__powerpc__) && !defined(__powerpc64__)

#define PERFCTR_NRCTRS	8

struct perfctr_cpu_control {
	unsigned int tsc_on;
	unsigned int nractrs;
	unsigned int nrictrs;
	unsigned int pmc_map[PERFCTR_NRCTRS];
	unsigned int evntsel[PERFCTR_NRCTRS];
	int ireset[PERFCTR_NRCTRS];
	struct {
		unsigned int mmcr0;
		unsigned int mmcr2;
	} ppc;
	unsigned int perf_user;		/* see PERFCTR_PERF_EVENTS below */
	unsigned int perf_kernel;
	unsigned int extended;		/* see PERFCTR_EXTENDED below */
	unsigned int _reserved[1];
};

#elif defined(__aarch64__)

#define PERFCTR_NRCTRS	32

/**
 * struct perfctr_cpu_control - what is counted
 * @tsc_on: 1 to accumulate the clock (CNTVCT_EL0)
 * @nractrs: number of a-mode counters
 * @nrictrs: number of i-mode counters, which follow these
 * @pmc_map: PERFCTR_MAP_ANY
 * @evntsel: the event; for an event of perf_events, the lower half of its config
 * @arm64.mode: PERFCTR_CTR_USER, PERFCTR_CTR_KERNEL or both; 0 is user mode
 *	alone, so that a control that was zeroed needs no privilege
 * @arm64.config: 0; for an event of perf_events, the upper half of its config
 * @ireset: start values of the i-mode counters
 * @perf_user, @perf_kernel: see PERFCTR_PERF_EVENTS below
 * @extended: see PERFCTR_EXTENDED below
 */
struct perfctr_cpu_control {
	unsigned int tsc_on;
	unsigned int nractrs;
	unsigned int nrictrs;
	unsigned int pmc_map[PERFCTR_NRCTRS];
	unsigned int evntsel[PERFCTR_NRCTRS];
	struct {
		unsigned int mode[PERFCTR_NRCTRS];
		unsigned long long config[PERFCTR_NRCTRS];
	} arm64;
	int ireset[PERFCTR_NRCTRS];
	unsigned int perf_user;
	unsigned int perf_kernel;
	unsigned int extended;
	unsigned int _reserved[1];
};

#else /* riscv */

/* Room for more counters than there are registers: cycle, instret and hpmcounter3 to 31 */
#define PERFCTR_NRCTRS	32

/**
 * struct perfctr_cpu_control - what is counted
 * @tsc_on: 1 to accumulate the clock (the time CSR)
 * @nractrs: number of a-mode counters
 * @nrictrs: number of i-mode counters, which follow these
 * @pmc_map: number of the hardware counter, as of its CSR: 0 cycle, 2 instret, 3..31
 *	hpmcounter3..31; or PERFCTR_MAP_ANY for any programmable counter that can count the event
 * @evntsel: SBI event_idx: type in bits 16..19 (0 hardware, 1 cache, 2 raw),
 *	code in bits 0..15
 * @riscv.mode: PERFCTR_CTR_USER, PERFCTR_CTR_KERNEL or both; 0 is user mode
 *	alone, so that a control that was zeroed needs no privilege
 * @riscv.event_data: SBI event_data of a raw event, else 0
 * @ireset: start values of the i-mode counters
 * @perf_user, @perf_kernel: see PERFCTR_PERF_EVENTS below
 * @extended: see PERFCTR_EXTENDED below
 */
struct perfctr_cpu_control {
	unsigned int tsc_on;
	unsigned int nractrs;
	unsigned int nrictrs;
	unsigned int pmc_map[PERFCTR_NRCTRS];
	unsigned int evntsel[PERFCTR_NRCTRS];
	struct {
		unsigned int mode[PERFCTR_NRCTRS];
		unsigned long long event_data[PERFCTR_NRCTRS];
	} riscv;
	int ireset[PERFCTR_NRCTRS];
	unsigned int perf_user;
	unsigned int perf_kernel;
	unsigned int extended;
	unsigned int _reserved[1];
};

#endif

/*
 * Programs for 2.6 do not set the members that 2.6 did not use. The library looks at these members
 * only if cpu_control.extended is this number:
 *  - perf_user and perf_kernel;
 *  - on x86, evntsel_high (on AMD's family 10h always), and an offcore_rsp that no counter uses;
 *  - in struct vperfctr_control, source, flags other than CLOEXEC, and si_signo if there are no
 *    i-mode counters.
 * A control that is read back has this number.
 */
#define PERFCTR_EXTENDED	0x37747865u

/*
 * A program may test this macro to see that perf_user and perf_kernel exist. Counter i of a struct
 * perfctr_cpu_control counts an event of perf_events if bit i of perf_user (user mode) or
 * perf_kernel (kernel mode) is set. Then pmc_map[i] is the type of the event, and evntsel[i] the
 * lower half of its config. The upper half is evntsel_high[i] on x86, riscv.event_data[i] on
 * RISC-V, and arm64.config[i] on arm64.
 */
#define PERFCTR_PERF_EVENTS	1

struct perfctr_sum_ctrs {
	unsigned long long tsc;
	unsigned long long pmc[PERFCTR_NRCTRS];
};

struct vperfctr_control {
	int si_signo;
	struct perfctr_cpu_control cpu_control;
	unsigned int preserve;	/* bits beyond the counters are ignored */
	unsigned int flags;
	unsigned int source;	/* VPERFCTR_SOURCE_*; taken as ANY without PERFCTR_EXTENDED */
	unsigned int _reserved[3];
};

/*
 * The source says who programs the counters: the module's own driver (NATIVE) or perf_events
 * (SHARED; see PERFCTR_SOURCE_*). ANY chooses NATIVE if possible, else SHARED. A control that is
 * read back has the source that was chosen, or ANY if it has no counters.
 */
#define VPERFCTR_SOURCE_ANY	0
#define VPERFCTR_SOURCE_NATIVE	1
#define VPERFCTR_SOURCE_SHARED	2

#define VPERFCTR_CONTROL_CLOEXEC	PERFCTR_CONTROL_CLOEXEC

/* A mode of vperfctr_open_mode(): makes a state; EEXIST if there is one. Mode 0 makes no state. */
#define VPERFCTR_OPEN_CREAT_EXCL	3

/* si_code of the signal for overflows, and the member of siginfo_t with the mask of counters */
#define SI_PMC_OVF	PERFCTR_SI_OVF
#define si_pmc_ovf_mask	si_pid

/* The control of one CPU. The next structure also has the CPU's sums. */
struct gperfctr_cpu_control {
	unsigned int cpu;
	struct perfctr_cpu_control cpu_control;
	unsigned int _reserved[4];
};

struct gperfctr_cpu_state {
	unsigned int cpu;
	struct perfctr_cpu_control cpu_control;
	struct perfctr_sum_ctrs sum;
	unsigned int _reserved[4];
};

struct vperfctr;
struct rvperfctr;
struct gperfctr;

/* Counters of the calling thread */
struct vperfctr *vperfctr_open(void);
struct vperfctr *vperfctr_open_mode(unsigned int mode);
int vperfctr_info(const struct vperfctr *v, struct perfctr_info *info);
struct perfctr_cpus_info *vperfctr_cpus_info(const struct vperfctr *v);
int vperfctr_control(const struct vperfctr *v, struct vperfctr_control *control);
int vperfctr_read_ctrs(const struct vperfctr *v, struct perfctr_sum_ctrs *sum);
unsigned long long vperfctr_read_tsc(const struct vperfctr *v);
unsigned long long vperfctr_read_pmc(const struct vperfctr *v, unsigned int i);
int vperfctr_read_state(const struct vperfctr *v, struct perfctr_sum_ctrs *sum,
			struct vperfctr_control *control);
int vperfctr_stop(const struct vperfctr *v);
int vperfctr_is_running(const struct vperfctr *v);
int vperfctr_iresume(const struct vperfctr *v);
int vperfctr_unlink(const struct vperfctr *v);
void vperfctr_close(struct vperfctr *v);

/*
 * Counters of the thread with the id @pid, which the caller must trace by ptrace(2) (EPERM). The
 * thread must be stopped for open, control, stop, iresume and unlink (ESRCH).
 */
struct rvperfctr *rvperfctr_open(int pid);
int rvperfctr_pid(const struct rvperfctr *r);
int rvperfctr_info(const struct rvperfctr *r, struct perfctr_info *info);
int rvperfctr_read_ctrs(const struct rvperfctr *r, struct perfctr_sum_ctrs *sum);
int rvperfctr_read_state(const struct rvperfctr *r, struct perfctr_sum_ctrs *sum,
			 struct vperfctr_control *control);
int rvperfctr_control(const struct rvperfctr *r, struct vperfctr_control *control);
int rvperfctr_stop(const struct rvperfctr *r);
int rvperfctr_iresume(const struct rvperfctr *r);
int rvperfctr_unlink(const struct rvperfctr *r);
void rvperfctr_close(struct rvperfctr *r);

/*
 * Counters of CPUs, whatever runs there; the caller needs CAP_PERFMON (EACCES). gperfctr_control()
 * says what a CPU counts; a control with neither clock nor counters takes the CPU out of the
 * session. gperfctr_start() starts all CPUs that have a control, and returns their number. The
 * interval has no effect, but must be 10000 or more (EINVAL). From start to stop a control or
 * another start fails with EBUSY. After gperfctr_stop() the sums stand still, and the next start
 * goes on from them. gperfctr_read() reads the CPU state->cpu.
 */
struct gperfctr *gperfctr_open(void);
void gperfctr_close(struct gperfctr *g);
int gperfctr_control(const struct gperfctr *g, struct gperfctr_cpu_control *control);
int gperfctr_read(const struct gperfctr *g, struct gperfctr_cpu_state *state);
int gperfctr_stop(const struct gperfctr *g);
int gperfctr_start(const struct gperfctr *g, unsigned int interval_usec);
int gperfctr_info(const struct gperfctr *g, struct perfctr_info *info);
struct perfctr_cpus_info *gperfctr_cpus_info(const struct gperfctr *g);

/*
 * These functions are for the calling thread's own counters. They take the file descriptor of a
 * handle, which can be sent over a socket.
 */
int _vperfctr_open(int creat);
int _vperfctr_control(int fd, const struct vperfctr_control *control);
int _vperfctr_read_control(int fd, struct vperfctr_control *control);
int _vperfctr_read_sum(int fd, struct perfctr_sum_ctrs *sum);

/* These give information on processor and driver. @fd is open on /dev/perfctr or is a handle. */
int perfctr_info(int fd, struct perfctr_info *info);
int perfctr_get_info(struct perfctr_info *info);
struct perfctr_cpus_info *perfctr_cpus_info(int fd);
int perfctr_abi_check_fd(int fd);
/* A macro of 2.6. @version is ignored, because the library knows its own version. */
#define _perfctr_abi_check_fd(fd, version)	((void)(version), perfctr_abi_check_fd(fd))
unsigned int perfctr_info_nrctrs(const struct perfctr_info *info);
const char *perfctr_info_cpu_name(const struct perfctr_info *info);

/* These print a structure for people, on stdout. */
void perfctr_info_print(const struct perfctr_info *info);
void perfctr_cpus_info_print(const struct perfctr_cpus_info *info);
void perfctr_cpu_control_print(const struct perfctr_cpu_control *control);

/* The events of a processor */
enum perfctr_unit_mask_type {
	perfctr_um_type_fixed,
	perfctr_um_type_exclusive,
	perfctr_um_type_bitmask
};

struct perfctr_unit_mask_value {
	unsigned int value;
	const char *description;
};

struct perfctr_unit_mask {
	unsigned int default_value;
	enum perfctr_unit_mask_type type;
	unsigned int nvalues;
	struct perfctr_unit_mask_value values[];	/* has nvalues elements */
};

/*
 * evntsel is the number of the event:
 *  - x86: the event code of the event select. To form an event select, shift a value of the unit
 *    mask left by 8 and or it to the code. Values with more than 8 bits set higher bits of the
 *    event select.
 *  - AMD's FAM10H: as on x86, but bits 8 to 11 belong into evntsel_high. On later processors of
 *    AMD, bits 16 to 19 belong into evntsel_high.
 *  - Pentium 4: the ESCR's event select, and from bit 8 on the CCCR's ESCR select. The unit mask
 *    is the ESCR's event mask.
 *  - RISC-V: the SBI's event_idx.
 *  - events of perf_events: type in bits 24..31, config in bits 0..23.
 *
 * In counters_set fixed counter n of x86 is bit 24 + n.
 */
struct perfctr_event {
	unsigned int evntsel;
	unsigned int counters_set;	/* bit n: hardware counter n can count the event */
	const struct perfctr_unit_mask *unit_mask;	/* NULL if the event has none */
	const char *name;
	const char *description;
};

/* Members are in the order of 2.6. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct perfctr_event_set {
	unsigned int cpu_type;
	const char *event_prefix;
	const struct perfctr_event_set *include;	/* a set with more events, or NULL */
	unsigned int nevents;
	const struct perfctr_event *events;
};

/*
 * Returns the events of a processor type, or NULL. perfctr_event_codes.h defines a macro for each
 * event: its name is event_prefix and name, and its value is evntsel, or, for a Pentium 4, the
 * ESCR's event select alone. That header also has all names of 2.6.
 */
const struct perfctr_event_set *perfctr_cpu_event_set(unsigned int cpu_type);

/*
 * Calls that 2.6 did not have
 */

/* The version of this header; in a static program also the version of the library */
#define LIBPERFCTR_VERSION	"7.0.0"

#define PERFCTR_DEVICE	"/dev/perfctr"

/* A read returns this instead of a count if it fails, and sets errno. */
#define PERFCTR_NO_COUNT	(~0ULL)

/* A mode of vperfctr_open_mode(): opens the thread's state, or makes one, like vperfctr_open() */
#define VPERFCTR_OPEN_CREAT	1

/* Returns the file descriptor of a handle. The handle still owns the descriptor. */
int vperfctr_fd(const struct vperfctr *v);

/*
 * Makes a handle of a file descriptor, which may have come over a socket. The handle then owns the
 * descriptor. Reads of such a handle ask the kernel.
 */
struct vperfctr *vperfctr_from_fd(int fd);

/*
 * These calls control and read with the structures of the kernel's ABI. A size of 0 in the control
 * means the whole structure; other structures need no size. As in the ABI, source 0 is NATIVE. If a
 * control fails, @refused is the counter that failed, @owner says who has the counters (EBUSY), and
 * @reason may say more. A read of a state with a sticky error stores the sums, and fails with EIO.
 */
int vperfctr_control_native(const struct vperfctr *v, struct perfctr_control *control);
int vperfctr_read_control_native(const struct vperfctr *v,
				 struct perfctr_control *control);
int vperfctr_read_native(const struct vperfctr *v, struct perfctr_read *sums);
int _vperfctr_control_native(int fd, struct perfctr_control *control);
int _vperfctr_read_control_native(int fd, struct perfctr_control *control);
int _vperfctr_read_native(int fd, struct perfctr_read *sums);

/*
 * vperfctr_read_tree() adds the sums of a state with PERFCTR_CONTROL_INHERIT and of its
 * descendants; @which is PERFCTR_TREE_*. If the total is incomplete, the call stores it and fails
 * with EIO. vperfctr_next_member() gives the first descendant if the member's cursor is 0. Call it
 * again with the same structure for the next descendant. ENOENT: there are no more.
 */
int vperfctr_read_tree(const struct vperfctr *v, unsigned int which,
		       struct perfctr_read_tree *tree);
int vperfctr_next_member(const struct vperfctr *v, struct perfctr_member *member);
/* Makes a thread that the caller traces a member of the caller's tree. The call sets the size. */
int vperfctr_add_member(const struct vperfctr *v, struct perfctr_add_member *member);
int _vperfctr_read_tree(int fd, unsigned int which, struct perfctr_read_tree *tree);
int _vperfctr_next_member(int fd, struct perfctr_member *member);
int _vperfctr_add_member(int fd, struct perfctr_add_member *member);

/*
 * Rings of records, for controls with PERFCTR_CONTROL_RECORD. vperfctr_make_ring() makes a ring for
 * the caller's own counters, and sets the size in @ring.
 *
 * vperfctr_ring_map() maps the ring of a handle. The ring has @pages pages. Any process that has
 * the handle may map the ring, but only one process at a time may read it.
 *
 * vperfctr_ring_next() returns the next record in one piece, which is valid until the next call. If
 * it returns NULL, errno is EAGAIN if there is no record yet (poll the handle), EBADMSG if somebody
 * else wrote to the ring, or ENOMEM.
 *
 * vperfctr_ring_peek() is for copying. It gives all records in two parts, of which the second may
 * be empty, and returns the number of bytes. vperfctr_ring_consume() then says how many bytes were
 * read. vperfctr_ring_lost() returns the number of records that found no room.
 */
struct vperfctr_ring;
struct iovec;
int vperfctr_make_ring(const struct vperfctr *v, struct perfctr_ring *ring);
int _vperfctr_make_ring(int fd, struct perfctr_ring *ring);
struct vperfctr_ring *vperfctr_ring_map(int fd, unsigned int pages);
void vperfctr_ring_unmap(struct vperfctr_ring *ring);
const struct perfctr_record *vperfctr_ring_next(struct vperfctr_ring *ring);
unsigned long long vperfctr_ring_lost(const struct vperfctr_ring *ring);
size_t vperfctr_ring_peek(struct vperfctr_ring *ring, struct iovec *part);
void vperfctr_ring_consume(struct vperfctr_ring *ring, size_t bytes);

/*
 * Does what rvperfctr_open() does, for the thread of a pidfd. It needs /proc. EBADF: @pidfd is no
 * pidfd. ESRCH: the thread has ended, or has no id in this pid namespace.
 */
struct rvperfctr *rvperfctr_open_pidfd(int pidfd);
/* Returns a handle of @r's thread, for vperfctr_*() calls. rvperfctr_close() frees the handle. */
struct vperfctr *rvperfctr_vperfctr(const struct rvperfctr *r);

/*
 * These calls count CPUs with the structures of the kernel's ABI. @cpu of the control is the number
 * of the CPU; the call sets PERFCTR_CONTROL_CPU. A read of a CPU whose counters were lost stores
 * the sums and fails with EIO.
 */
int gperfctr_fd(const struct gperfctr *g);
int gperfctr_control_native(const struct gperfctr *g, struct perfctr_control *control);
int gperfctr_read_native(const struct gperfctr *g, unsigned int cpu,
			 struct perfctr_read_cpu *sums);
/* After a control failed, these return its PERFCTR_OWNER_* and its PERFCTR_REASON_*. */
int gperfctr_owner(const struct gperfctr *g);
int gperfctr_reason(const struct gperfctr *g);

/*
 * These suspend and resume all counters of the caller, or of all threads of its tree. The call
 * returns when it has taken effect on each CPU. Any thread of a tree may call them.
 */
int vperfctr_suspend(const struct vperfctr *v);
int vperfctr_resume(const struct vperfctr *v);

/*
 * Lets i-mode counters go on after an overflow, like vperfctr_iresume(). They then go on by
 * themselves until the last of @count overflows. Both calls act on the caller's own counters, even
 * if @v is the handle of its tree's root.
 */
int vperfctr_refresh(const struct vperfctr *v, unsigned int count);

/* Returns who has the counters, PERFCTR_OWNER_*, after a control failed with EBUSY. */
int vperfctr_owner(const struct vperfctr *v);
/* Returns @owner, a PERFCTR_OWNER_*, in words. */
const char *perfctr_owner_name(unsigned int owner);

/* Returns why a control failed, PERFCTR_REASON_*. This says more than errno. */
int vperfctr_reason(const struct vperfctr *v);
/* Returns @reason, a PERFCTR_REASON_*, in words. */
const char *perfctr_reason_name(unsigned int reason);

/* Returns a PERFCTR_SOURCE_* in words. */
const char *perfctr_source_name(unsigned int source);

/* Returns a PERFCTR_ERROR_* in words. */
const char *perfctr_error_name(unsigned int error);

/*
 * perfctr_event_parse() turns the name of an event into one counter of a control. A name is one of
 * these:
 *  - perf's name of a hardware or cache event, or an alias of it: "instructions",
 *    "dTLB-load-misses".
 *  - "cycle" or "instret" for the fixed counters of RISC-V.
 *  - rHEX for a raw event. On x86 rHEX/HEX also gives the value of the event's own register. On a
 *    Pentium 4 the form is rCCCR/ESCR, with the block in bits 32..34 of the CCCR, and
 *    rCCCR/ESCR/PEBS_ENABLE/PEBS_MATRIX_VERT for replay tagging.
 *  - a name of perfctr_cpu_event_set(), on x86 processors whose event selects do not have the P6's
 *    layout: P5 and its clones, VIA C3, Pentium 4. On a Pentium 4 units follow behind colons:
 *    "branch_retired:MMTP:MMTM".
 *  - a name that the kernel has in /sys/bus/event_source/devices/DEVICE/events. On hybrid
 *    processors the library does not look there.
 *  - a name of libpfm4's, if that is installed: "L2_RQSTS:MISS", "BR_INST_RETIRED:CONDITIONAL:c=1".
 * Case matters only in the kernel's names. ":u", ":k" or ":uk" behind the name gives the mode.
 *
 * On Intel's processors, the model that the library runs on decides which event a cache event of
 * perf's is. Some of these events use a register of their own (LLC-loads from Nehalem on). On
 * hybrid processors the library knows only cache events that are the same on all cores.
 *
 * The module has no counters for processor types PERFCTR_*_GENERIC except PERFCTR_RISCV_GENERIC.
 * For these types the names are those of perf_events' own events. The flags of such a counter have
 * PERFCTR_CTR_PERF, and any processor with PERFCTR_FEATURE_SHARED can count it.
 *
 * A program that is linked with libperfctr.a knows libpfm4's names only if it is linked with
 * -Wl,-u,perfctr_pfm_event. A program with more privileges than its user (AT_SECURE in
 * getauxval(3)) never knows them, because libpfm4 reads its environment.
 *
 * If the name has no modifier, the flags have no mode. The caller must then add a mode, because the
 * kernel refuses a counter without one. Errors: ENOENT: the processor type has no event of that
 * name. EINVAL: a bad modifier, a raw number that is too large, or a unit that the event lacks.
 * EOPNOTSUPP: this processor lacks that cache event of perf's, or no control can hold libpfm4's
 * number of the event.
 */
int perfctr_event_parse(unsigned int cpu_type, const char *spec,
			struct perfctr_ctr_control *ctr);

/*
 * Returns the modifier of @spec, from its colon on, or the end of @spec if there is no modifier.
 * libpfm4's names have other colons, so only the last colon counts, and only if nothing but u and k
 * follows.
 */
const char *perfctr_event_modifier(const char *spec);

/* Returns the events of a processor type by perf's names, without aliases; or NULL. */
const struct perfctr_event_set *perfctr_event_names(unsigned int cpu_type);

/* The description may be NULL. */
struct perfctr_event_name {
	const char *name;
	const char *description;
};

/*
 * Returns more names, sorted, with a NULL name behind the last: perf's cache events on this
 * machine's Intel model, and the names of the kernel and of libpfm4. Some of them are in
 * perfctr_event_names() too, and perfctr_event_parse() refuses some. One free() releases the list.
 * Returns NULL with ENOMEM if there is no memory.
 */
struct perfctr_event_name *perfctr_more_event_names(void);

/*
 * Returns at most @max names that are similar to the unknown name @spec, the best first, with NULL
 * behind the last. A modifier in @spec is ignored. One free() releases the list. Returns NULL if
 * there are no such names, or no memory.
 */
char **perfctr_event_suggest(unsigned int cpu_type, const char *spec, size_t max);

/* Writes the name of a counter's event with its modifier to @buf. Returns what snprintf() does. */
int perfctr_event_format(unsigned int cpu_type,
			 const struct perfctr_ctr_control *ctr,
			 char *buf, size_t size);

/*
 * Returns 1 if the processor has the event, else 0. The library does not know which raw events
 * exist, and returns 1 for each raw event if there are programmable counters. It does not know
 * which events of perf's exist, and returns 1 for each of them if the processor has
 * PERFCTR_FEATURE_SHARED.
 */
int perfctr_event_available(const struct perfctr_info *info,
			    const struct perfctr_ctr_control *ctr);

/*
 * Returns how many of @n events need a general-purpose (programmable) counter because no fixed
 * counter is left for them. Stores in @there how many such counters a CPU has. Returns 0 if any
 * event is one of perf's, because only perf knows which counters its events need.
 */
unsigned int perfctr_event_demand(const struct perfctr_info *info,
				  const struct perfctr_ctr_control *ctr, unsigned int n,
				  unsigned int *there);

/*
 * Instructions without noise
 *
 * Real x86 processors count one extra instruction in user mode at each interrupt.
 * vperfctr_measure_correction() finds out whether this processor does, and whether its event for
 * interrupts counts each interrupt. To do so, it counts loops of known length in the calling thread
 * while a timer interrupts some of the loops. That takes some hundredths of a second, and leaves
 * the handle without a control. vperfctr_add_correction() then adds a counter of interrupts to a
 * control, and vperfctr_corrected() corrects the control's counts of instructions in user mode:
 *
 *	vperfctr_measure_correction(v, PERFCTR_SOURCE_ANY, &correction);
 *	vperfctr_add_correction(&correction, &control);
 *	vperfctr_control_native(v, &control);
 *	...
 *	vperfctr_read_native(v, &sums);
 *	n = vperfctr_corrected(&correction, sums.sum, 0);
 *
 * If the processor counts exactly, nothing is subtracted. All other counts stay as they are.
 */

/**
 * struct vperfctr_correction - how counts of instructions in user mode are corrected
 * @interrupts: the counter of interrupts in user mode
 * @per_interrupt: extra instructions that the processor counts at each interrupt: 0 or 1
 * @per_fault: extra instructions that the processor counts at each page fault in user mode: 0 or 1.
 *	No event counts these faults, so if this is 1, a corrected count is still too high by the
 *	number of faults
 * @counter: which counter of the control counts @interrupts, unless @per_interrupt or @corrected is
 *	0; vperfctr_add_correction() sets this
 * @corrected: bit i is set if counter i of the control counts instructions in user mode;
 *	vperfctr_add_correction() sets this
 */
struct vperfctr_correction {
	struct perfctr_ctr_control interrupts;
	unsigned int per_interrupt;
	unsigned int per_fault;
	unsigned int counter;
	unsigned int _reserved[5];
	unsigned long long corrected;
};

/*
 * Errors: ENOENT: no event of this processor type is known to count interrupts. ETIME: within a
 * second the event did not count interrupts in twenty loops. ERANGE: the counts fit neither 0 nor 1
 * for each interrupt, so they cannot be corrected. Other errors are those of
 * vperfctr_control_native().
 */
int vperfctr_measure_correction(const struct vperfctr *v, unsigned int source,
				struct vperfctr_correction *correction);

/*
 * Adds the counter of interrupts behind all counters of the control, if a correction is needed.
 * EOPNOTSUPP: there are i-mode counters, whose periods cannot be corrected. EINVAL: there is no
 * room.
 */
int vperfctr_add_correction(struct vperfctr_correction *correction,
			    struct perfctr_control *control);

/*
 * Returns count @i, corrected. @counts are the sums of one read by the kernel, or differences of
 * two such reads.
 */
unsigned long long vperfctr_corrected(const struct vperfctr_correction *correction,
				      const unsigned long long *counts, unsigned int i);

/* Reads counter @i by vperfctr_read_pmc(), and returns the corrected count. */
unsigned long long vperfctr_read_corrected(const struct vperfctr *v,
					   const struct vperfctr_correction *correction,
					   unsigned int i);

/*
 * The read path
 *
 * vperfctr_read_pmc(), vperfctr_read_tsc() and the reads below are inline. For other languages the
 * library also has them as functions. They read the mapped page and the register. If the page says
 * that the kernel must be asked, they call vperfctr_ask_*(). A read is a compiler barrier: memory
 * accesses of the measured code stay on their side of the read.
 *
 * The processor may reorder: it may execute RDPMC before earlier instructions, or after later ones.
 * The error of a few instructions does not matter if a hundred are measured. To measure fewer, use
 * vperfctr_read_pmc_fenced().
 *
 * Any thread may call these functions with any handle. They read registers only in the counted
 * thread; in other threads they ask the kernel.
 */
#define PERFCTR_COLD	__attribute__((__cold__, __noinline__)) PERFCTR_BOUND

/* These compilers can bind a function at the program's start, and not at a call in a region. */
#if defined(__GNUC__) && !defined(__clang__) && (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__))
#define PERFCTR_BOUND	__attribute__((__noplt__))
#else
#define PERFCTR_BOUND
#endif

/* The compiler always inlines these functions, and never emits them: the library has copies. */
#define PERFCTR_INLINE \
	extern __inline__ __attribute__((__gnu_inline__, __always_inline__))

unsigned long long vperfctr_ask_pmc(const struct vperfctr *v, unsigned int i) PERFCTR_COLD;
unsigned long long vperfctr_ask_tsc(const struct vperfctr *v) PERFCTR_COLD;
unsigned long long vperfctr_ask_reg(const struct vperfctr *v, unsigned int reg) PERFCTR_COLD;
int vperfctr_ask_snapshot(const struct vperfctr *v, struct perfctr_sum_ctrs *sum,
			  unsigned int n) PERFCTR_COLD;

/*
 * TopDown (x86, PERFCTR_FEATURE_TOPDOWN) tells what the slots of the pipeline were used for. The
 * control has SLOTS and metrics, in any order.
 *
 * vperfctr_read_topdown() reads registers if it can. vperfctr_ask_topdown() asks the kernel,
 * which begins a new period. A switch begins a new period too, and so does each second. A metric
 * has 8 bits, so its error is 1/255 of the slots of the period. To measure a short region, call
 * vperfctr_ask_topdown() before it. EINVAL: the control has no metric.
 */
struct perfctr_topdown {
	unsigned long long slots;
	unsigned long long metric[PERFCTR_METRICS];	/* slots of each PERFCTR_METRIC_* */
	unsigned int metrics;				/* bit n: metric n is counted */
};

int vperfctr_read_topdown(const struct vperfctr *v, struct perfctr_topdown *topdown);
int vperfctr_ask_topdown(const struct vperfctr *v, struct perfctr_topdown *topdown) PERFCTR_COLD;

/* Fills @topdown from the sums of one read. The control has the @n counters @ctr. */
int perfctr_topdown_sums(const struct perfctr_ctr_control *ctr, unsigned int n, const __u64 *sum,
			 struct perfctr_topdown *topdown);

/*
 * Stores in @ratio the shares of the slots between two reads, each from 0 to 1. If @from is NULL,
 * the shares are of all slots in @to. The shares of the metrics come first, by their numbers. Then
 * come the differences between level 1 and level 2, by the numbers below. Returns a mask of the
 * shares that are known; the other shares are 0.
 */
#define PERFCTR_TOPDOWN_LIGHT_OPS	8	/* RETIRING minus HEAVY_OPS */
#define PERFCTR_TOPDOWN_MACHINE_CLEARS	9	/* BAD_SPEC minus BR_MISPREDICT */
#define PERFCTR_TOPDOWN_FETCH_BW	10	/* FE_BOUND minus FETCH_LAT */
#define PERFCTR_TOPDOWN_CORE_BOUND	11	/* BE_BOUND minus MEM_BOUND */
#define PERFCTR_TOPDOWN_RATIOS		12
unsigned int perfctr_topdown_ratios(const struct perfctr_topdown *from,
				    const struct perfctr_topdown *to, double *ratio);

/* Returns the name of share @i. */
const char *perfctr_topdown_name(unsigned int i);

/*
 * Returns the mapped page of a handle, never NULL. If the page could not be mapped, this is a page
 * that tells each reader to ask the kernel.
 */
const struct perfctr_page *vperfctr_page(const struct vperfctr *v);

/*
 * Reads the clock and the first @n counters, all of one moment. The call is cheapest if @n is a
 * constant. vperfctr_read_ctrs() reads all counters of the state.
 */
int vperfctr_snapshot(const struct vperfctr *v, struct perfctr_sum_ctrs *sum,
		      unsigned int n);

/*
 * Reads the state's counter that uses hardware counter @reg, numbered as in perfctr_info.counters.
 * The call is cheapest if @reg is a constant. EINVAL: the state does not use that hardware counter.
 */
unsigned long long vperfctr_read_reg(const struct vperfctr *v, unsigned int reg);

/*
 * Does what vperfctr_read_pmc() does, between two fences: the processor reads the register after it
 * has executed all earlier instructions, and before it executes any later one. The fence is:
 *  - LFENCE on x86, or CPUID on processors before SSE2,
 *  - FENCE on RISC-V, which orders reads of counters like reads of devices,
 *  - ISB on arm64,
 *  - ISYNC on ppc32.
 */
unsigned long long vperfctr_read_pmc_fenced(const struct vperfctr *v, unsigned int i);

#if defined(__riscv)
#define PERFCTR_REG_CYCLE	0u
#define PERFCTR_REG_TIME	1u
#define PERFCTR_REG_INSTRET	2u
#define vperfctr_read_cycle(v)		vperfctr_read_reg((v), PERFCTR_REG_CYCLE)
#define vperfctr_read_instret(v)	vperfctr_read_reg((v), PERFCTR_REG_INSTRET)
#endif

#ifdef __cplusplus
}
#endif

#include "perfctr-inline.h"
#include "perfctr-meter.h"

#endif /* LIBPERFCTR_H */
