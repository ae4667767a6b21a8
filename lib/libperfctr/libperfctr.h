/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfctr: performance counters of the calling thread.
 *
 * The calls and types of perfctr 2.6 come first, with 2.6's meaning; new ones follow.
 * libperfctr(3) describes each call.
 *
 * Unless it says otherwise a call that fails returns -1 or NULL and sets errno. Reads that return a
 * value return PERFCTR_NO_COUNT (all bits set) and set errno: EIO if the state has a sticky error,
 * EINVAL if it has no such counter.
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
 * The PERFCTR_FEATURE_* and the types of processors are in <linux/perfctr.h>.
 */

/*
 * 2.6's members, then new ones: those of the kernel's struct perfctr_kernel_info, which
 * <linux/perfctr.h> describes. They are 0 if the module is too old to know them. With
 * PERFCTR_CPU_TYPE in the environment (libperfctr(3)) cpu_type may be an older type than
 * own_cpu_type.
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
	unsigned int mask[1];	/* really nrwords */
};

struct perfctr_cpus_info {
	struct perfctr_cpu_mask *cpus;
	struct perfctr_cpu_mask *cpus_forbidden;
};

#if defined(__x86_64__) || defined(__i386__)

#define PERFCTR_NRCTRS	18

/* Older names of two types */
#define PERFCTR_X86_AMD_FAM10		PERFCTR_X86_AMD_FAM10H
#define PERFCTR_X86_INTEL_COREI7	PERFCTR_X86_INTEL_NHLM

/* In pmc_map[] on a Pentium 4: any counter of a block: 0 BPU, 1 MS, 2 FLAME, 3 IQ */
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
 * @evntsel: the event
 * @arm64.mode: PERFCTR_CTR_USER, PERFCTR_CTR_KERNEL or both; 0 is user mode
 *	alone, so that a control that was zeroed needs no privilege
 * @arm64.config: the rest of the event
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

/* More than there are registers: cycle, instret and hpmcounter3 to 31 */
#define PERFCTR_NRCTRS	32

/**
 * struct perfctr_cpu_control - what is counted
 * @tsc_on: 1 to accumulate the clock (the time CSR)
 * @nractrs: number of a-mode counters
 * @nrictrs: number of i-mode counters, which follow these
 * @pmc_map: number of the hardware counter, by its CSR: 0 cycle, 2 instret, 3..31 hpmcounter3..31;
 *	or PERFCTR_MAP_ANY: any programmable counter that can count the event
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
 * Old programs do not set members that 2.6 did not use. So these count only if
 * cpu_control.extended is this number: perf_user and perf_kernel; on x86 evntsel_high (on AMD's
 * family 10h always) and an offcore_rsp that no counter uses; in struct vperfctr_control source,
 * si_signo without i-mode counters, and the flags other than CLOEXEC. A control that is read back
 * has this number.
 */
#define PERFCTR_EXTENDED	0x37747865u

/*
 * Counter i of a struct perfctr_cpu_control counts an event of perf_events if bit i of perf_user
 * (user mode) or perf_kernel (kernel mode) is set. Then pmc_map[i] is the type of perf's event, and
 * evntsel[i] the lower half of its config; the upper half is evntsel_high[i] on x86,
 * riscv.event_data[i] or arm64.config[i] elsewhere. The macro says that these members exist.
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
	unsigned int source;	/* VPERFCTR_SOURCE_*, if extended; else ANY */
	unsigned int _reserved[3];
};

/*
 * Who programs the counters: the module's own driver (NATIVE), or perf_events (SHARED; see
 * PERFCTR_SOURCE_*). ANY is NATIVE if it can be had, else SHARED. A control that is read back has
 * the source that was chosen, or ANY if it has no counters.
 */
#define VPERFCTR_SOURCE_ANY	0
#define VPERFCTR_SOURCE_NATIVE	1
#define VPERFCTR_SOURCE_SHARED	2

#define VPERFCTR_CONTROL_CLOEXEC	PERFCTR_CONTROL_CLOEXEC

/* vperfctr_open_mode(): 0 opens only a state that exists */
#define VPERFCTR_OPEN_CREAT_EXCL	3

/* si_code of the signal at overflow, and its siginfo_t member with the mask of counters */
#define SI_PMC_OVF	PERFCTR_SI_OVF
#define si_pmc_ovf_mask	si_pid

/* The control of one CPU, and its sums */
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

/* Own thread */
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
 * The thread with the id @pid, which the caller traces by ptrace(2) (EPERM). To open, control,
 * stop, iresume and unlink, the thread must be stopped (ESRCH).
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
 * CPUs, whatever runs there; the caller needs CAP_PERFMON (EACCES). gperfctr_control() says what
 * a CPU counts; with neither clock nor counters it counts no more. gperfctr_start() starts all of
 * them, and returns how many; the interval has no effect, but must be 10000 or more (EINVAL).
 * Until gperfctr_stop() a control or another start fails with EBUSY. After it the sums stand
 * still, and the next start goes on from them. gperfctr_read() reads the CPU state->cpu.
 */
struct gperfctr *gperfctr_open(void);
void gperfctr_close(struct gperfctr *g);
int gperfctr_control(const struct gperfctr *g, struct gperfctr_cpu_control *control);
int gperfctr_read(const struct gperfctr *g, struct gperfctr_cpu_state *state);
int gperfctr_stop(const struct gperfctr *g);
int gperfctr_start(const struct gperfctr *g, unsigned int interval_usec);
int gperfctr_info(const struct gperfctr *g, struct perfctr_info *info);
struct perfctr_cpus_info *gperfctr_cpus_info(const struct gperfctr *g);

/* The same with file descriptors, which can be sent over a socket */
int _vperfctr_open(int creat);
int _vperfctr_control(int fd, const struct vperfctr_control *control);
int _vperfctr_read_control(int fd, struct vperfctr_control *control);
int _vperfctr_read_sum(int fd, struct perfctr_sum_ctrs *sum);

/* Processor and driver; fd is that of /dev/perfctr or of a handle */
int perfctr_info(int fd, struct perfctr_info *info);
int perfctr_get_info(struct perfctr_info *info);
struct perfctr_cpus_info *perfctr_cpus_info(int fd);
int perfctr_abi_check_fd(int fd);
/* 2.6's macro; the version is always that of the header. */
#define _perfctr_abi_check_fd(fd, version)	((void)(version), perfctr_abi_check_fd(fd))
unsigned int perfctr_info_nrctrs(const struct perfctr_info *info);
const char *perfctr_info_cpu_name(const struct perfctr_info *info);

/* For people, on stdout */
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
	struct perfctr_unit_mask_value values[];	/* nvalues */
};

/*
 * evntsel on x86: the number of the event. A value of the unit mask, shifted left by 8, is or'ed
 * to it; some values have more than 8 bits, for higher bits of the event select. FAM10H: bits 8
 * to 11 of evntsel belong into evntsel_high; on later processors of AMD's bits 16 to 19. Pentium
 * 4: the ESCR's event select, and from bit 8 on the CCCR's ESCR select; the unit mask is the
 * ESCR's event mask. RISC-V: the SBI's event_idx. Events of perf's: type in bits 24..31, config
 * in bits 0..23.
 *
 * counters_set: fixed counter n of x86 is bit 24 + n.
 */
struct perfctr_event {
	unsigned int evntsel;
	unsigned int counters_set;	/* bit n: hardware counter n can count it */
	const struct perfctr_unit_mask *unit_mask;	/* or NULL */
	const char *name;
	const char *description;
};

/* In perfctr 2.6's order. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct perfctr_event_set {
	unsigned int cpu_type;
	const char *event_prefix;
	const struct perfctr_event_set *include;	/* NULL, or more events */
	unsigned int nevents;
	const struct perfctr_event *events;
};

/*
 * perfctr_event_codes.h defines the event_prefix and name of each event as its evntsel; for a
 * Pentium 4 as the ESCR's event select alone. It also has all names of 2.6.
 */
const struct perfctr_event_set *perfctr_cpu_event_set(unsigned int cpu_type);

/*
 * What 2.6 did not have
 */

/* The version of this header, and so of the static library in a program */
#define LIBPERFCTR_VERSION	"7.0.0"

#define PERFCTR_DEVICE	"/dev/perfctr"

/* Returned instead of a count, with errno set */
#define PERFCTR_NO_COUNT	(~0ULL)

/* vperfctr_open_mode(): opens a state, or creates one, as vperfctr_open() */
#define VPERFCTR_OPEN_CREAT	1

/* The file descriptor of a handle; the handle still owns it. */
int vperfctr_fd(const struct vperfctr *v);

/*
 * A handle around a file descriptor, which may have come over a socket. The handle then owns the
 * descriptor. Reads ask the kernel.
 */
struct vperfctr *vperfctr_from_fd(int fd);

/*
 * Control and read with the structures of the kernel's ABI. A size of 0 in the control means the
 * whole structure; the calls fill in sizes. As in the ABI, source 0 is NATIVE. If a control
 * fails, its refused is the counter that failed, owner says who has it (EBUSY), and reason may
 * say more. A read of a state with a sticky error stores the sums and fails with EIO.
 */
int vperfctr_control_native(const struct vperfctr *v, struct perfctr_control *control);
int vperfctr_read_control_native(const struct vperfctr *v,
				 struct perfctr_control *control);
int vperfctr_read_native(const struct vperfctr *v, struct perfctr_read *sums);
int _vperfctr_control_native(int fd, struct perfctr_control *control);
int _vperfctr_read_control_native(int fd, struct perfctr_control *control);
int _vperfctr_read_native(int fd, struct perfctr_read *sums);

/*
 * Trees: the sums of a state with PERFCTR_CONTROL_INHERIT and of its descendants; which is
 * PERFCTR_TREE_*. An incomplete total is stored, and the call fails with EIO.
 * vperfctr_next_member() gives the first descendant if cursor is 0, and the next one if it gets
 * the same structure again. ENOENT: there are no more.
 */
int vperfctr_read_tree(const struct vperfctr *v, unsigned int which,
		       struct perfctr_read_tree *tree);
int vperfctr_next_member(const struct vperfctr *v, struct perfctr_member *member);
/* A thread that the caller traces becomes a member of the caller's tree; the call sets size. */
int vperfctr_add_member(const struct vperfctr *v, struct perfctr_add_member *member);
int _vperfctr_read_tree(int fd, unsigned int which, struct perfctr_read_tree *tree);
int _vperfctr_next_member(int fd, struct perfctr_member *member);
int _vperfctr_add_member(int fd, struct perfctr_add_member *member);

/*
 * Rings of records, for controls with PERFCTR_CONTROL_RECORD. make_ring makes one for the
 * caller's own counters, and sets size. map maps the ring of a handle, which has @pages pages;
 * any process that has the handle may, and one may read at a time. next returns the next record
 * in one piece, good until the next call; NULL with EAGAIN: there is none yet (poll the handle);
 * EBADMSG: somebody wrote to the ring; ENOMEM. lost is the number of records that found no room.
 * To copy records, peek gives all of them in two parts, of which the second may be empty, and
 * returns their bytes; consume tells how many bytes were read.
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
 * rvperfctr_open() for the thread of a pidfd; it needs /proc. EBADF: it is no pidfd. ESRCH: the
 * thread has ended, or has no id in this pid namespace.
 */
struct rvperfctr *rvperfctr_open_pidfd(int pidfd);
/* A handle of the same thread for other calls; rvperfctr_close() frees it. */
struct vperfctr *rvperfctr_vperfctr(const struct rvperfctr *r);

/*
 * CPUs, with the structures of the kernel's ABI. The control's cpu says which one; the call sets
 * its flag. A read of a CPU whose counters were lost stores the sums and fails with EIO.
 */
int gperfctr_fd(const struct gperfctr *g);
int gperfctr_control_native(const struct gperfctr *g, struct perfctr_control *control);
int gperfctr_read_native(const struct gperfctr *g, unsigned int cpu,
			 struct perfctr_read_cpu *sums);
/* After a control failed: PERFCTR_OWNER_*, PERFCTR_REASON_* */
int gperfctr_owner(const struct gperfctr *g);
int gperfctr_reason(const struct gperfctr *g);

/*
 * Suspend and resume all counters of the caller, or of all threads of its tree. They take effect on
 * each CPU before the call returns. Any thread of a tree may call them.
 */
int vperfctr_suspend(const struct vperfctr *v);
int vperfctr_resume(const struct vperfctr *v);

/*
 * i-mode counters go on after an overflow, as with vperfctr_iresume(), and then by themselves, up
 * to the last of @count overflows. Both calls act on the caller's own counters, even if @v is the
 * handle of its tree's root.
 */
int vperfctr_refresh(const struct vperfctr *v, unsigned int count);

/* Who has the counters, after a control failed with EBUSY: PERFCTR_OWNER_*, and in words */
int vperfctr_owner(const struct vperfctr *v);
const char *perfctr_owner_name(unsigned int owner);

/* Why a control failed, beside errno: PERFCTR_REASON_*, and in words */
int vperfctr_reason(const struct vperfctr *v);
const char *perfctr_reason_name(unsigned int reason);

/* PERFCTR_SOURCE_* in words */
const char *perfctr_source_name(unsigned int source);

/* PERFCTR_ERROR_* in words */
const char *perfctr_error_name(unsigned int error);

/*
 * Names of events. A name may be one of perf's for a hardware or cache event, or one of its
 * aliases ("instructions", "dTLB-load-misses"); "cycle" or "instret", the fixed counters of
 * RISC-V; or rHEX, a raw event. On x86 rHEX/HEX also gives the value of the event's own register;
 * on a Pentium 4 it is rCCCR/ESCR, with the block in the CCCR's bits 32..34, and
 * /PEBS_ENABLE/PEBS_MATRIX_VERT for replay tagging. ":u", ":k" or ":uk" at the end gives the
 * mode. Case does not matter. On x86 processors whose event selects do not have the P6's layout
 * (P5 and its clones, VIA C3, Pentium 4) names of perfctr_cpu_event_set() are known too, on a
 * Pentium 4 with units behind colons ("branch_retired:MMTP:MMTM").
 *
 * The model of Intel's processor that the library runs on decides what perf's cache events are.
 * Some have a register of their own (LLC-loads from Nehalem on). On hybrid processors only names
 * are known that are the same event on all cores.
 *
 * For processor types that the module has no counters for (PERFCTR_*_GENERIC, but not
 * PERFCTR_RISCV_GENERIC) the names are those of perf_events' own events. Their flags have
 * PERFCTR_CTR_PERF, and any processor with PERFCTR_FEATURE_SHARED can count them.
 *
 * Other names are looked up in the kernel (DEVICE/events in /sys/bus/event_source/devices),
 * unless the processor is hybrid; there case matters. Then libpfm4 is asked, if it is installed,
 * which knows the names of the manuals: "L2_RQSTS:MISS", "BR_INST_RETIRED:CONDITIONAL:c=1". With
 * libperfctr.a a program has libpfm4's names only if it is linked with -Wl,-u,perfctr_pfm_event.
 * A program with more privileges than its user (AT_SECURE in getauxval(3)) never has them, as
 * libpfm4 reads its environment.
 *
 * perfctr_event_parse() fills in one counter of a control. Without a modifier its flags have no
 * mode, and the caller must add one, as the kernel refuses it. Errors: ENOENT: the processor type
 * has no event of that name; EINVAL: a bad modifier, a raw number that is too large, or a unit
 * that the event lacks; EOPNOTSUPP: this processor lacks that cache event of perf's, or no
 * control can have libpfm4's number of the event.
 */
int perfctr_event_parse(unsigned int cpu_type, const char *spec,
			struct perfctr_ctr_control *ctr);

/*
 * The modifier in spec, from its colon on; the end of spec if there is none. Names of libpfm4's
 * have other colons, so it is the last one, if only u and k follow.
 */
const char *perfctr_event_modifier(const char *spec);

/* The names of a type of processor, without aliases; or NULL */
const struct perfctr_event_set *perfctr_event_names(unsigned int cpu_type);

/* description may be NULL. */
struct perfctr_event_name {
	const char *name;
	const char *description;
};

/*
 * More names, sorted, with NULL behind the last: perf's cache events on this machine's model of
 * Intel's, and the names of the kernel and of libpfm4. Some are in perfctr_event_names() too, and
 * some are not taken by perfctr_event_parse(). One free() releases all. NULL: ENOMEM.
 */
struct perfctr_event_name *perfctr_more_event_names(void);

/*
 * At most max names that are near to an unknown one, best first, with NULL behind the last. A
 * modifier in spec is ignored. One free() releases all. NULL: there are none, or ENOMEM.
 */
char **perfctr_event_suggest(unsigned int cpu_type, const char *spec, size_t max);

/* The name of a counter's event, with a modifier for its modes. Returns what snprintf() returns. */
int perfctr_event_format(unsigned int cpu_type,
			 const struct perfctr_ctr_control *ctr,
			 char *buf, size_t size);

/*
 * 1 if the processor has the event, 0 if not. Nobody tells which raw events exist: they are taken
 * to exist if there are programmable counters. perf does not tell which of its events exist: they
 * are taken to exist if it counts for the module.
 */
int perfctr_event_available(const struct perfctr_info *info,
			    const struct perfctr_ctr_control *ctr);

/*
 * How many of n events need a general-purpose (programmable) counter, as no fixed one is left for
 * them; there: how many of these a CPU has. Returns 0 if one is an event of perf's, as only perf
 * knows what it needs.
 */
unsigned int perfctr_event_demand(const struct perfctr_info *info,
				  const struct perfctr_ctr_control *ctr, unsigned int n,
				  unsigned int *there);

/*
 * Instructions without noise
 *
 * Real x86 processors count an instruction too many in user mode at each interrupt.
 * vperfctr_measure_correction() finds out whether this one does, and whether its event for
 * interrupts counts each of them: it counts loops of known length in the calling thread while a
 * timer interrupts some of them. That takes some hundredths of a second, and leaves the handle
 * without a control. Then a control with a-mode counters of instructions in user mode gets a
 * counter of that event, and the counts are corrected:
 *
 *	vperfctr_measure_correction(v, PERFCTR_SOURCE_ANY, &correction);
 *	vperfctr_add_correction(&correction, &control);
 *	vperfctr_control_native(v, &control);
 *	...
 *	vperfctr_read_native(v, &sums);
 *	n = vperfctr_corrected(&correction, sums.sum, 0);
 *
 * If the processor counts exactly nothing is subtracted. Other counts than those of instructions
 * in user mode stay as they are.
 */

/**
 * struct vperfctr_correction - how counts of instructions in user mode are corrected
 * @interrupts: the counter of interrupts in user mode
 * @per_interrupt: instructions too many at each interrupt: 1, or 0
 * @per_fault: instructions too many at each page fault in user mode: 1, or 0. No event counts these
 *	faults, so if it is 1 a corrected count is still too high by their number
 * @counter: the counter of the control for @interrupts, unless @per_interrupt or @corrected is 0;
 *	vperfctr_add_correction() sets it
 * @corrected: bit i: counter i of the control counts instructions in user mode;
 *	vperfctr_add_correction() sets it
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
 * ENOENT: no event of this processor type is known to count interrupts. ETIME: within a second it
 * did not count the interrupts of twenty loops. ERANGE: the counts fit neither 0 nor 1 for each
 * interrupt, so nothing could be corrected. Other errors are those of vperfctr_control_native().
 */
int vperfctr_measure_correction(const struct vperfctr *v, unsigned int source,
				struct vperfctr_correction *correction);

/*
 * Adds a counter to the control, behind all others, if it is needed. EOPNOTSUPP: there are i-mode
 * counters, and a period cannot be corrected. EINVAL: there is no room.
 */
int vperfctr_add_correction(struct vperfctr_correction *correction,
			    struct perfctr_control *control);

/* Count i, corrected. @counts are those of one read by the kernel, or differences of two. */
unsigned long long vperfctr_corrected(const struct vperfctr_correction *correction,
				      const unsigned long long *counts, unsigned int i);

/* Reads counter i, inline if vperfctr_read_pmc() can, and corrects it. */
unsigned long long vperfctr_read_corrected(const struct vperfctr *v,
					   const struct vperfctr_correction *correction,
					   unsigned int i);

/*
 * The read path
 *
 * vperfctr_read_pmc(), vperfctr_read_tsc() and those below are inline; the library also has them
 * as functions, for other languages. They read the mapped page and the register. If the page says
 * so, they call the cold functions here, which ask the kernel. A read is a compiler barrier:
 * memory accesses of the measured code stay on their side of it.
 *
 * The processor may reorder: RDPMC waits for nothing, so it may be executed before earlier
 * instructions, or after later ones. Beside a hundred instructions that is noise. For fewer there
 * is vperfctr_read_pmc_fenced().
 *
 * Any thread may call them with any handle. Only the counted thread reads registers; others ask
 * the kernel.
 */
#define PERFCTR_COLD	__attribute__((__cold__, __noinline__)) PERFCTR_BOUND

/* If the compiler can, bind these when the program is loaded, not at a call in a region. */
#if defined(__GNUC__) && !defined(__clang__) && (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__))
#define PERFCTR_BOUND	__attribute__((__noplt__))
#else
#define PERFCTR_BOUND
#endif

/* Always inlined, never emitted: the library has the functions. */
#define PERFCTR_INLINE \
	extern __inline__ __attribute__((__gnu_inline__, __always_inline__))

unsigned long long vperfctr_ask_pmc(const struct vperfctr *v, unsigned int i) PERFCTR_COLD;
unsigned long long vperfctr_ask_tsc(const struct vperfctr *v) PERFCTR_COLD;
unsigned long long vperfctr_ask_reg(const struct vperfctr *v, unsigned int reg) PERFCTR_COLD;
int vperfctr_ask_snapshot(const struct vperfctr *v, struct perfctr_sum_ctrs *sum,
			  unsigned int n) PERFCTR_COLD;

/*
 * TopDown (x86, PERFCTR_FEATURE_TOPDOWN): what the slots of the pipeline were used for. The
 * control has SLOTS and metrics, in any order.
 *
 * vperfctr_read_topdown() reads registers if it can. vperfctr_ask_topdown() asks the kernel,
 * which begins a new period. A metric has 8 bits, so its error is 1/255 of the slots of the
 * period: ask before a short region. A switch begins a new period too, and so does each second.
 * EINVAL: the control has no metric.
 */
struct perfctr_topdown {
	unsigned long long slots;
	unsigned long long metric[PERFCTR_METRICS];	/* by PERFCTR_METRIC_*, in slots */
	unsigned int metrics;				/* bit n: metric n is counted */
};

int vperfctr_read_topdown(const struct vperfctr *v, struct perfctr_topdown *topdown);
int vperfctr_ask_topdown(const struct vperfctr *v, struct perfctr_topdown *topdown) PERFCTR_COLD;

/* The same from sums that were read in another way; n: counters of the control */
int perfctr_topdown_sums(const struct perfctr_ctr_control *ctr, unsigned int n, const __u64 *sum,
			 struct perfctr_topdown *topdown);

/*
 * Shares of the slots between two reads (from: NULL is the beginning), each from 0 to 1: those of
 * the metrics, by their numbers, then what level 2 leaves of level 1. Returns a bit for each
 * share that is known; the others are 0.
 */
#define PERFCTR_TOPDOWN_LIGHT_OPS	8	/* RETIRING less HEAVY_OPS */
#define PERFCTR_TOPDOWN_MACHINE_CLEARS	9	/* BAD_SPEC less BR_MISPREDICT */
#define PERFCTR_TOPDOWN_FETCH_BW	10	/* FE_BOUND less FETCH_LAT */
#define PERFCTR_TOPDOWN_CORE_BOUND	11	/* BE_BOUND less MEM_BOUND */
#define PERFCTR_TOPDOWN_RATIOS		12
unsigned int perfctr_topdown_ratios(const struct perfctr_topdown *from,
				    const struct perfctr_topdown *to, double *ratio);

/* The name of share i */
const char *perfctr_topdown_name(unsigned int i);

/*
 * The mapped page of a handle; never NULL. If it could not be mapped, it is a page that tells each
 * reader to ask the kernel.
 */
const struct perfctr_page *vperfctr_page(const struct vperfctr *v);

/*
 * The clock and the first n counters, all of one moment; cheapest if n is a constant.
 * vperfctr_read_ctrs() does the same for all counters of the state.
 */
int vperfctr_snapshot(const struct vperfctr *v, struct perfctr_sum_ctrs *sum,
		      unsigned int n);

/*
 * A hardware counter of the state by the number of its register (struct perfctr_info, counters)
 * instead of its place in the control; cheapest if reg is a constant. EINVAL: the state does not
 * use it.
 */
unsigned long long vperfctr_read_reg(const struct vperfctr *v, unsigned int reg);

/*
 * vperfctr_read_pmc() between two fences: the register is read when all earlier instructions have
 * been executed, and no later one. x86: LFENCE, or CPUID on processors before SSE2. RISC-V:
 * FENCE, which orders reads of counters as reads of devices. arm64: ISB.
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
