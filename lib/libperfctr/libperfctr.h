/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfctr: performance counters of the calling thread.
 *
 * The names of perfctr 2.6 come first, with 2.6's meaning; what is new stands
 * beside them, further down. libperfctr(3) describes each call.
 *
 * Unless said otherwise a call that fails returns -1 or NULL and sets errno.
 * The reads that return a value return PERFCTR_NO_COUNT (all bits set) and set
 * errno: EIO when the state has a sticky error, EINVAL when it has no such
 * counter.
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
 * 2.6's members, then what is new: the members of the kernel's struct perfctr_kernel_info, which
 * <linux/perfctr.h> describes. They are 0 if the module is older and does not know them. cpu_type may
 * be an older one than own_cpu_type, if PERFCTR_CPU_TYPE is in the environment (libperfctr(3)).
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

/* In pmc_map[], on a Pentium 4: any counter of that block: 0 BPU, 1 MS, 2 FLAME, 3 IQ */
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
 * @pmc_map: number of the hardware counter, that is of its CSR less that of
 *	cycle: 0 cycle, 2 instret, 3..31 hpmcounter3..31; or PERFCTR_MAP_ANY,
 *	any programmable counter that can count the event
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
 * Programs of 2.6's time leave members that it did not look at as they find them. So what is new
 * is looked at only if cpu_control.extended is this number: perf_user and perf_kernel, on x86
 * evntsel_high (but on AMD's family 10h) and an offcore_rsp that no counter takes, and in struct
 * vperfctr_control source, si_signo without i-mode counters, and the flags other than CLOEXEC. A
 * control that is read back has it.
 */
#define PERFCTR_EXTENDED	0x37747865u

/*
 * Events of perf_events in a struct perfctr_cpu_control: counter i has one if bit i of perf_user
 * (count in user mode) or of perf_kernel (in kernel mode) is set. Then pmc_map[i] is the type of
 * perf's event, and evntsel[i] the lower half of its config. The upper half is evntsel_high[i] on
 * x86, riscv.event_data[i] and arm64.config[i] elsewhere. The macro says that these members
 * are there.
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
 * Where counters come from: the module's own driver, or perf_events (see PERFCTR_SOURCE_*). ANY is
 * the first if it can be had, else the second. What is read back is the one that was chosen, or
 * ANY if there are no counters.
 */
#define VPERFCTR_SOURCE_ANY	0
#define VPERFCTR_SOURCE_NATIVE	1
#define VPERFCTR_SOURCE_SHARED	2

#define VPERFCTR_CONTROL_CLOEXEC	PERFCTR_CONTROL_CLOEXEC

/* vperfctr_open_mode(): 0 opens only what exists */
#define VPERFCTR_OPEN_CREAT_EXCL	3

/* si_code of the signal at overflow, and the siginfo_t member with the mask */
#define SI_PMC_OVF	PERFCTR_SI_OVF
#define si_pmc_ovf_mask	si_pid

/* What one CPU counts, and what it has counted */
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
 * The thread with the id @pid, which the caller traces by ptrace(2). To open, control, stop,
 * iresume and unlink it must be stopped (ESRCH); EPERM: the caller does not trace it.
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
 * CPUs, whatever runs there; for who has CAP_PERFMON (EACCES). A control with neither clock nor
 * counters ends the CPU's part. While it is started gperfctr_control() and gperfctr_start() fail
 * with EBUSY. The sums of gperfctr_read(), which are of state->cpu, are never old, so the interval
 * of gperfctr_start() has no meaning; it must be 10000 or more (EINVAL). It returns how many CPUs
 * have a part. After gperfctr_stop() sums stand still, and the next start goes on from there.
 */
struct gperfctr *gperfctr_open(void);
void gperfctr_close(struct gperfctr *g);
int gperfctr_control(const struct gperfctr *g, struct gperfctr_cpu_control *control);
int gperfctr_read(const struct gperfctr *g, struct gperfctr_cpu_state *state);
int gperfctr_stop(const struct gperfctr *g);
int gperfctr_start(const struct gperfctr *g, unsigned int interval_usec);
int gperfctr_info(const struct gperfctr *g, struct perfctr_info *info);
struct perfctr_cpus_info *gperfctr_cpus_info(const struct gperfctr *g);

/* The same on file descriptors, which may be sent over a socket */
int _vperfctr_open(int creat);
int _vperfctr_control(int fd, const struct vperfctr_control *control);
int _vperfctr_read_control(int fd, struct vperfctr_control *control);
int _vperfctr_read_sum(int fd, struct perfctr_sum_ctrs *sum);

/* Processor and driver; fd is of /dev/perfctr or a handle */
int perfctr_info(int fd, struct perfctr_info *info);
int perfctr_get_info(struct perfctr_info *info);
struct perfctr_cpus_info *perfctr_cpus_info(int fd);
int perfctr_abi_check_fd(int fd);
/* What 2.6's header made of that; the version is always that of the header. */
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
 * x86: the number of the event; shifted left by 8, a value of the unit mask is or'ed to it, and with
 * the other bits that makes an event select. (Some values have more than 8 bits, for the event select's
 * higher ones.) FAM10H: bits 8 to 11 of evntsel belong into evntsel_high; of AMD's later ones bits
 * 16 to 19. P4: the ESCR's event
 * select, and from bit 8 on the CCCR's ESCR select; the unit mask is the ESCR's event mask.
 * Fixed counter n is in bit 24 + n of counters_set.
 * riscv: evntsel is the SBI's event_idx. Events of perf's: type in bits 24..31, config in bits 0..23
 */
struct perfctr_event {
	unsigned int evntsel;
	unsigned int counters_set;	/* bit n: hardware counter n can count it */
	const struct perfctr_unit_mask *unit_mask;	/* NULL: has none */
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
 * perfctr_event_codes.h defines event_prefix and name of each as its evntsel, of a Pentium 4's as the
 * ESCR's event select alone. It has all names of 2.6 besides.
 */
const struct perfctr_event_set *perfctr_cpu_event_set(unsigned int cpu_type);

/*
 * What is new
 */

/* Of this header, and so of a program that is linked with the static library */
#define LIBPERFCTR_VERSION	"7.0.0"

/* Where the module's device is */
#define PERFCTR_DEVICE	"/dev/perfctr"

/* Returned instead of a count, with errno set */
#define PERFCTR_NO_COUNT	(~0ULL)

/* vperfctr_open_mode(): open, or create if there is none, as vperfctr_open() */
#define VPERFCTR_OPEN_CREAT	1

/* The file descriptor of a handle, which still belongs to it */
int vperfctr_fd(const struct vperfctr *v);

/*
 * A handle around a file descriptor, one that came over a socket say. The
 * descriptor belongs to the handle afterwards. Reads go through the kernel
 * unless the caller is the thread that is counted.
 */
struct vperfctr *vperfctr_from_fd(int fd);

/*
 * Control and read with all that the kernel's ABI has. A size of 0 in the
 * control stands for the whole structure, and is filled in; the size of what is
 * read is filled in by the call. The source is as the kernel's ABI has it, so 0 is NATIVE. A
 * control that fails says in refused, owner and reason which counter it is, with EBUSY who has
 * it, and what more there is to say. A read of a state with a sticky error stores the sums and
 * fails with EIO.
 */
int vperfctr_control_native(const struct vperfctr *v, struct perfctr_control *control);
int vperfctr_read_control_native(const struct vperfctr *v,
				 struct perfctr_control *control);
int vperfctr_read_native(const struct vperfctr *v, struct perfctr_read *sums);
int _vperfctr_control_native(int fd, struct perfctr_control *control);
int _vperfctr_read_control_native(int fd, struct perfctr_control *control);
int _vperfctr_read_native(int fd, struct perfctr_read *sums);

/*
 * Trees: the sums of a state with PERFCTR_CONTROL_INHERIT and its descendants. which
 * selects them: PERFCTR_TREE_*. If the total is not complete it is stored, and the call
 * fails with EIO. vperfctr_next_member() gives the first descendant if cursor is
 * 0; called again with the same structure it gives the next one. ENOENT is the end.
 */
int vperfctr_read_tree(const struct vperfctr *v, unsigned int which,
		       struct perfctr_read_tree *tree);
int vperfctr_next_member(const struct vperfctr *v, struct perfctr_member *member);
/* A thread that the caller traces becomes a member of the caller's tree: sets size. */
int vperfctr_add_member(const struct vperfctr *v, struct perfctr_add_member *member);
int _vperfctr_read_tree(int fd, unsigned int which, struct perfctr_read_tree *tree);
int _vperfctr_next_member(int fd, struct perfctr_member *member);
int _vperfctr_add_member(int fd, struct perfctr_add_member *member);

/*
 * Rings of records, for controls with PERFCTR_CONTROL_RECORD. make_ring: for the caller's own
 * counters; sets size. map: maps the ring of that handle, which has so many pages; any process that
 * has the handle may, and one reads at a time. next: the next record, in one piece, until the next
 * call; NULL: EAGAIN, there is none yet (poll the handle); EBADMSG, somebody wrote to the ring;
 * ENOMEM. lost: records that found no room. peek and consume are for those who copy records: what is
 * there, in two parts (the second may be empty), whose length in bytes is returned; and so many bytes were read.
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
 * rvperfctr_open() of the thread that a pidfd refers to, which needs /proc. EBADF: it is no
 * pidfd; ESRCH: the thread has ended, or has no id here.
 */
struct rvperfctr *rvperfctr_open_pidfd(int pidfd);
/* What all calls of a struct vperfctr act on the same thread by; rvperfctr_close() frees it. */
struct vperfctr *rvperfctr_vperfctr(const struct rvperfctr *r);

/*
 * CPUs, with all that the kernel's ABI has. The control's cpu says which one; its flag is set by
 * the call. A read of a CPU whose counters were lost stores the sums and fails with EIO.
 */
int gperfctr_fd(const struct gperfctr *g);
int gperfctr_control_native(const struct gperfctr *g, struct perfctr_control *control);
int gperfctr_read_native(const struct gperfctr *g, unsigned int cpu,
			 struct perfctr_read_cpu *sums);
/* After a control failed: PERFCTR_OWNER_*, PERFCTR_REASON_* */
int gperfctr_owner(const struct gperfctr *g);
int gperfctr_reason(const struct gperfctr *g);

/*
 * Suspend and resume all counters of the caller, or of all threads of its tree. When the
 * call returns it is in force on every CPU. Any thread of a tree may call these.
 */
int vperfctr_suspend(const struct vperfctr *v);
int vperfctr_resume(const struct vperfctr *v);

/*
 * i-mode counters: let them go on after an overflow, as vperfctr_iresume() does, and then
 * by themselves until the last of count overflows. Both calls work on the caller's
 * own counters, even if v is the handle of the root of its tree.
 */
int vperfctr_refresh(const struct vperfctr *v, unsigned int count);

/* Who has the counters, after a control failed with EBUSY: PERFCTR_OWNER_*; in words */
int vperfctr_owner(const struct vperfctr *v);
const char *perfctr_owner_name(unsigned int owner);

/* Why a control failed, if errno alone does not tell: PERFCTR_REASON_*; in words */
int vperfctr_reason(const struct vperfctr *v);
const char *perfctr_reason_name(unsigned int reason);

/* PERFCTR_SOURCE_* in words */
const char *perfctr_source_name(unsigned int source);

/* PERFCTR_ERROR_* in words */
const char *perfctr_error_name(unsigned int error);

/*
 * Event names. Known are perf's names of hardware and cache events with their
 * aliases ("instructions", "dTLB-load-misses"), rHEX for a raw event (on x86
 * rHEX/HEX where the event takes a register of its own: its value; on a Pentium 4 rCCCR/ESCR, with the
 * block in the CCCR's bits 32..34, and /PEBS_ENABLE/PEBS_MATRIX_VERT for replay tagging), and
 * "cycle" and "instret" for the fixed counters; ":u", ":k" or ":uk" says in
 * which mode to count. Upper and lower case are the same. Of x86's processors without event selects of
 * the P6's layout (P5 and its clones, VIA C3, Pentium 4) those of perfctr_cpu_event_set() are known, too,
 * on a Pentium 4 with units behind colons ("branch_retired:MMTP:MMTM").
 *
 * What perf's cache events are on Intel's processors goes by the model of the machine that the library
 * runs on. Some take a register of their own (LLC-loads from Nehalem on). Where cores are of several
 * types only those names are known that are the same event on all of them.
 *
 * Of processor types that the module has no counters for (PERFCTR_*_GENERIC, but for
 * PERFCTR_RISCV_GENERIC) the names are those of events that perf_events counts. They
 * have PERFCTR_CTR_PERF among their flags, and may be counted by on any processor with
 * PERFCTR_FEATURE_SHARED.
 *
 * A name that is none of these is, on other processors, looked up among those that the kernel has for this
 * machine's (DEVICE/events in /sys/bus/event_source/devices), unless its cores are of several types;
 * upper and lower case differ there. Then libpfm4 is asked, if it is installed, which knows the names of
 * the manuals: "L2_RQSTS:MISS", "BR_INST_RETIRED:CONDITIONAL:c=1". A program that is linked with
 * libperfctr.a has libpfm4's names only with -Wl,-u,perfctr_pfm_event, and one with privileges that its
 * user has not (AT_SECURE in getauxval(3)) never, since libpfm4 looks at its environment.
 *
 * perfctr_event_parse() fills in one counter of a control. Without a modifier
 * its flags have no mode, which the kernel refuses: the caller adds one. It fails with
 * ENOENT if the processor type has no event of that name, and with EINVAL for
 * a bad modifier, a raw number that is too large, or an event with units that it has not;
 * with EOPNOTSUPP if the name is perf's of a cache event and this processor has none for it, or if
 * libpfm4 knows the event, but with a number that no control can have.
 */
int perfctr_event_parse(unsigned int cpu_type, const char *spec,
			struct perfctr_ctr_control *ctr);

/*
 * Where the modifier in spec begins, with its colon; its end if there is none. Names of libpfm4's
 * have colons of their own, so it is the last one, if only u and k follow.
 */
const char *perfctr_event_modifier(const char *spec);

/* The names that a type of processor has, but for aliases; or NULL */
const struct perfctr_event_set *perfctr_event_names(unsigned int cpu_type);

/* description: NULL if there is none */
struct perfctr_event_name {
	const char *name;
	const char *description;
};

/*
 * perf's names of cache events on this machine's model of Intel's, and the names that the kernel and
 * libpfm4 have, sorted, with NULL behind the last; one free() releases all. The kernel has some that are in the table as well, and perfctr_event_parse() does not take some
 * of them. NULL: ENOMEM.
 */
struct perfctr_event_name *perfctr_more_event_names(void);

/*
 * The names that are nearest to an unknown one, best first, at most max, with NULL behind the last; one
 * free() releases all. A modifier in spec is ignored. NULL: there are none, or ENOMEM.
 */
char **perfctr_event_suggest(unsigned int cpu_type, const char *spec, size_t max);

/*
 * The name of what a counter counts, with its modifier if its flags have a mode.
 * Returns what snprintf() returns.
 */
int perfctr_event_format(unsigned int cpu_type,
			 const struct perfctr_ctr_control *ctr,
			 char *buf, size_t size);

/*
 * 1 if the processor has the event, 0 if not. Of raw events only the firmware
 * knows: they are taken to exist where there are programmable counters. Of perf's events only
 * perf knows: they are taken to exist where it counts for us.
 */
int perfctr_event_available(const struct perfctr_info *info,
			    const struct perfctr_ctr_control *ctr);

/*
 * How many of n events need general-purpose counters (programmable ones, where these are called so),
 * since no fixed counter is left for them; there: how many of those a CPU has. It returns 0 if one is
 * an event of perf's, since only perf knows what that needs.
 */
unsigned int perfctr_event_demand(const struct perfctr_info *info,
				  const struct perfctr_ctr_control *ctr, unsigned int n,
				  unsigned int *there);

/*
 * Instructions without noise
 *
 * Real x86 processors count an instruction too many in user mode at each interrupt.
 * vperfctr_measure_correction() finds out whether this one does, and whether its event for
 * interrupts tells just how many: it counts loops of known length in the calling thread, some
 * of which a timer interrupts. That takes some hundredths of a second, and leaves the handle without
 * a control. A control of instructions in
 * user mode (a-mode) is then given the event beside its counters, and its counts are corrected:
 *
 *	vperfctr_measure_correction(v, PERFCTR_SOURCE_ANY, &correction);
 *	vperfctr_add_correction(&correction, &control);
 *	vperfctr_control_native(v, &control);
 *	...
 *	vperfctr_read_native(v, &sums);
 *	n = vperfctr_corrected(&correction, sums.sum, 0);
 *
 * Nothing is subtracted on a processor that counts exactly, nor from other counters than those of
 * instructions in user mode.
 */

/**
 * struct vperfctr_correction - what is too much in counts of instructions in user mode
 * @interrupts: what counts interrupts in user mode
 * @per_interrupt: instructions too many at each of them: 1, or 0 if they are counted exactly
 * @per_fault: the same at each page fault in user mode. No event counts these, so if it is 1 a
 *	count is still too large: by the thread's page faults, less those in kernel mode
 * @counter: which counter of the control counts @interrupts, if @per_interrupt and @corrected are
 *	not 0; set by vperfctr_add_correction()
 * @corrected: bit i: counter i of the control counts instructions in user mode; set likewise
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
 * Fails with ENOENT if no event of this processor type is known to count interrupts, with ETIME
 * if it did not count those that interrupted twenty loops within a second, with ERANGE if what the loops counted fits
 * neither answer, so that nothing could be corrected; else as vperfctr_control_native().
 */
int vperfctr_measure_correction(const struct vperfctr *v, unsigned int source,
				struct vperfctr_correction *correction);

/*
 * Adds a counter to the control, behind all others, if one is needed. EOPNOTSUPP if there are
 * i-mode counters: a period cannot be corrected. EINVAL if there is no room.
 */
int vperfctr_add_correction(struct vperfctr_correction *correction,
			    struct perfctr_control *control);

/*
 * Count i of such a control, corrected. The counts are those of one read, through the kernel,
 * or differences between two.
 */
unsigned long long vperfctr_corrected(const struct vperfctr_correction *correction,
				      const unsigned long long *counts, unsigned int i);

/* Reads counter i as vperfctr_read_pmc() does, inline where that is, and corrects it. */
unsigned long long vperfctr_read_corrected(const struct vperfctr *v,
					   const struct vperfctr_correction *correction,
					   unsigned int i);

/*
 * The read path
 *
 * vperfctr_read_pmc(), vperfctr_read_tsc() and those below are inline; the
 * library has them out of line as well, for other languages. They read the
 * mapped page and the register. Only if the page says so they call the cold functions
 * here, which ask the kernel. A read is a compiler barrier: memory accesses of the
 * measured code stay on their side of it.
 *
 * The processor is not kept from anything: RDPMC waits for nothing, so it may read the register
 * before what stands before it has been executed, or after something that stands behind it. Beside
 * a hundred instructions or more that is noise. For less there is vperfctr_read_pmc_fenced().
 *
 * Any thread may call them with any handle. Only the counted thread reads registers; others
 * ask the kernel.
 */
#define PERFCTR_COLD	__attribute__((__cold__, __noinline__)) PERFCTR_BOUND

/* Bound when the program is loaded, where compilers can do that, and not at a call within a region */
#if defined(__GNUC__) && !defined(__clang__) && (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__))
#define PERFCTR_BOUND	__attribute__((__noplt__))
#else
#define PERFCTR_BOUND
#endif

/* Always inlined, never emitted: out-of-line copies are in the library. */
#define PERFCTR_INLINE \
	extern __inline__ __attribute__((__gnu_inline__, __always_inline__))

unsigned long long vperfctr_ask_pmc(const struct vperfctr *v, unsigned int i) PERFCTR_COLD;
unsigned long long vperfctr_ask_tsc(const struct vperfctr *v) PERFCTR_COLD;
unsigned long long vperfctr_ask_reg(const struct vperfctr *v, unsigned int reg) PERFCTR_COLD;
int vperfctr_ask_snapshot(const struct vperfctr *v, struct perfctr_sum_ctrs *sum,
			  unsigned int n) PERFCTR_COLD;

/*
 * TopDown (x86, PERFCTR_FEATURE_TOPDOWN): what the slots of the pipeline were used for, of a
 * control with SLOTS and metrics, in any order.
 *
 * vperfctr_read_topdown() reads registers if it can; vperfctr_ask_topdown() asks the kernel,
 * which begins a new period of measurement. A metric is a fraction of 8 bits of the slots of its
 * period, so a short region is measured best from an ask on: 1/255 of all slots since then
 * is the error. Each begins at a switch as well, and once a second. EINVAL: the control has no
 * metric.
 */
struct perfctr_topdown {
	unsigned long long slots;
	unsigned long long metric[PERFCTR_METRICS];	/* by PERFCTR_METRIC_*, in slots */
	unsigned int metrics;				/* bit n: metric n is counted */
};

int vperfctr_read_topdown(const struct vperfctr *v, struct perfctr_topdown *topdown);
int vperfctr_ask_topdown(const struct vperfctr *v, struct perfctr_topdown *topdown) PERFCTR_COLD;

/* The same from sums that were read in another way: of the n counters of a control */
int perfctr_topdown_sums(const struct perfctr_ctr_control *ctr, unsigned int n, const __u64 *sum,
			 struct perfctr_topdown *topdown);

/*
 * Shares of the slots between two reads (from: NULL is the beginning), each 0 to 1: those of the
 * metrics, by their numbers, and those that are the rest of level 1's when level 2's are taken
 * off. Returns which there are, as a bit map; the others are 0.
 */
#define PERFCTR_TOPDOWN_LIGHT_OPS	8	/* RETIRING less HEAVY_OPS */
#define PERFCTR_TOPDOWN_MACHINE_CLEARS	9	/* BAD_SPEC less BR_MISPREDICT */
#define PERFCTR_TOPDOWN_FETCH_BW	10	/* FE_BOUND less FETCH_LAT */
#define PERFCTR_TOPDOWN_CORE_BOUND	11	/* BE_BOUND less MEM_BOUND */
#define PERFCTR_TOPDOWN_RATIOS		12
unsigned int perfctr_topdown_ratios(const struct perfctr_topdown *from,
				    const struct perfctr_topdown *to, double *ratio);

/* What share i is, in words */
const char *perfctr_topdown_name(unsigned int i);

/*
 * The mapped page of a handle; never NULL. Where the page could not be mapped
 * it is one that tells every reader to ask the kernel.
 */
const struct perfctr_page *vperfctr_page(const struct vperfctr *v);

/*
 * The clock and the first n counters, consistent with each other. Cheapest
 * where n is a constant. vperfctr_read_ctrs() does the same for as many
 * counters as the state has.
 */
int vperfctr_snapshot(const struct vperfctr *v, struct perfctr_sum_ctrs *sum,
		      unsigned int n);

/*
 * One hardware counter that the state counts on, by the number of its register
 * (struct perfctr_info, counters) instead of its place in the control.
 * Cheapest where reg is a constant. EINVAL if the state does not use it.
 */
unsigned long long vperfctr_read_reg(const struct vperfctr *v, unsigned int reg);

/*
 * vperfctr_read_pmc(), between two fences: as the register is read all that stands before the call
 * has been executed, and nothing behind it. x86: LFENCE, or CPUID before SSE2; RISC-V: FENCE, to
 * which CSRs that count are devices (they are read in order already, but not so with memory);
 * arm64: ISB.
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
