/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The whole ABI of perfctr: the ioctls of /dev/perfctr and of handles, their structures, and the
 * page that a thread maps. An open file of /dev/perfctr becomes a handle by PERFCTR_IOC_OPEN.
 *
 * Rules that hold for every structure that crosses the boundary:
 *  - members have a fixed width and the same place for 32- and 64-bit callers;
 *  - the first member is the structure's size in bytes, as the caller knows it. A size below
 *    PERFCTR_*_SIZE_VER0, the size of the first version, fails with EINVAL, and a size above
 *    PERFCTR_MAX_SIZE fails with E2BIG. The caller may know more bytes at the end than the module.
 *    These bytes must be zero in a structure that the caller fills (E2BIG), and the module sets
 *    them to zero in a structure that it fills. Structures grow at their end only, and every size
 *    that was valid once stays valid. The counters in struct perfctr_control may grow too;
 *  - reserved members and undefined flag bits must be zero, else EINVAL.
 *
 * docs/abi.md has the table of errors, call by call.
 */
#ifndef _UAPI_LINUX_PERFCTR_H
#define _UAPI_LINUX_PERFCTR_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PERFCTR_ABI_VERSION	0x07000000u

/* The most counters that a control, and so a page, can have. A driver may allow fewer. */
#define PERFCTR_MAX_CTRS	64

/* The largest size that a structure may have, in bytes */
#define PERFCTR_MAX_SIZE	65536u

/*
 * The smallest valid size of each structure. For a control this is the size without counters, and
 * for a structure that holds sums the size without @sum.
 */
#define PERFCTR_INFO_SIZE_VER0		192
#define PERFCTR_CPUS_SIZE_VER0		24
#define PERFCTR_OPEN_SIZE_VER0		64
#define PERFCTR_CONTROL_SIZE_VER0	128
#define PERFCTR_CTR_CONTROL_SIZE_VER0	64
#define PERFCTR_READ_SIZE_VER0		32
#define PERFCTR_READ_TREE_SIZE_VER0	72
#define PERFCTR_MEMBER_SIZE_VER0	56
#define PERFCTR_ADD_MEMBER_SIZE_VER0	32
#define PERFCTR_READ_CPU_SIZE_VER0	32
#define PERFCTR_RING_SIZE_VER0		64

/*
 * cstatus says what a state counts. Bit 31 is set if the clock is on. Bits 0..7
 * are the number of all counters, and bits 8..15 the number of i-mode counters.
 */
#define PERFCTR_CSTATUS_CLOCK		0x80000000u
#define PERFCTR_CSTATUS_NRCTRS(cs)	((cs) & 0xffu)
#define PERFCTR_CSTATUS_NRICTRS(cs)	(((cs) >> 8) & 0xffu)

/* The sticky error of a state: why the state does not count although it should */
#define PERFCTR_ERROR_NONE	0
#define PERFCTR_ERROR_LOST	1	/* a CPU's counters could not be had, or root took them */
#define PERFCTR_ERROR_EXEC	2	/* an exec raised privileges, or ended dumpability */
#define PERFCTR_ERROR_MEMORY	3	/* there was no memory to count a descendant */
#define PERFCTR_ERROR_CHANGED	4	/* somebody else wrote to the counters' registers */

/* Who probably has the counters that a control did not get; see perfctr_control.owner */
#define PERFCTR_OWNER_NONE	0
#define PERFCTR_OWNER_PERF	1	/* perf_events */
#define PERFCTR_OWNER_WATCHDOG	2	/* the NMI watchdog */
#define PERFCTR_OWNER_FIRMWARE	3	/* the firmware keeps the counters, or has none */
#define PERFCTR_OWNER_PERFCTR	4	/* other controls of perfctr */
#define PERFCTR_OWNER_HOLDER	5	/* another open file holds this state */

/*
 * Where counters come from. NATIVE: the module's own driver programs the registers. SHARED:
 * perf_events programs them, and the module reads the events of perf_events. SHARED works on any
 * processor that perf_events knows, beside the other users of perf_events. On x86 and ppc32 only
 * one source can be in use at a time, because perf_events and the module each take all counters or
 * none. On other architectures both can be in use. A control that has the clock but no counters
 * has no source.
 */
#define PERFCTR_SOURCE_NATIVE	0
#define PERFCTR_SOURCE_SHARED	1
#define PERFCTR_SOURCE_ANY	2	/* NATIVE if possible, else SHARED; sessions: the reverse */

/* Why a control was refused, where errno does not say enough; see perfctr_control.reason */
#define PERFCTR_REASON_NONE	0
#define PERFCTR_REASON_KERNEL	1	/* EACCES: the control counts more than user mode */
#define PERFCTR_REASON_OPEN	2	/* EACCES: perf's users could read these counters */
#define PERFCTR_REASON_HALF	3	/* EBUSY: half of the counters are for the privileged */
#define PERFCTR_REASON_ONLY	4	/* EBUSY: the only such counter is for the privileged */
#define PERFCTR_REASON_ROOM	5	/* EBUSY: too many different events at a time */
#define PERFCTR_REASON_SOURCE	6	/* EBUSY, EOPNOTSUPP: the other source might work */
#define PERFCTR_REASON_COUNTER	7	/* EINVAL: no counter that counts the event is left */
#define PERFCTR_REASON_MODEL	8	/* EOPNOTSUPP: the model is not known */
#define PERFCTR_REASON_ERRATUM	9	/* EOPNOTSUPP: an erratum spoils counts or interrupts */
#define PERFCTR_REASON_SLOTS	10	/* EINVAL: a TopDown metric without SLOTS in the control */
#define PERFCTR_REASON_TOPDOWN	11	/* EINVAL: this processor has no such TopDown event */
#define PERFCTR_REASON_MEDIATED	12	/* EBUSY: a KVM guest has the counters for itself */
#define PERFCTR_REASON_CPUS	13	/* EBUSY: a session has the native counters */
#define PERFCTR_REASON_THREADS	14	/* EBUSY: threads have the native counters */
#define PERFCTR_REASON_TRIAL	15	/* EINVAL: CPUID or a trial says the event counts nothing */

/* Bits of perfctr_kernel_info.cpu_features. The first three are those of perfctr 2.6. */
#define PERFCTR_FEATURE_RDPMC		0x01	/* counters are readable in user mode */
#define PERFCTR_FEATURE_RDTSC		0x02	/* the clock is readable in user mode */
#define PERFCTR_FEATURE_PCINT		0x04	/* there are i-mode counters */
#define PERFCTR_FEATURE_FILTER		0x08	/* programmable counters filter by mode */
#define PERFCTR_FEATURE_FILTER_FIXED	0x10	/* cycle and instret filter by mode */
#define PERFCTR_FEATURE_HYBRID		0x20	/* the processor has cores of several types */
#define PERFCTR_FEATURE_NATIVE		0x40	/* PERFCTR_SOURCE_NATIVE may be used */
#define PERFCTR_FEATURE_SHARED		0x80	/* PERFCTR_SOURCE_SHARED may be used */
#define PERFCTR_FEATURE_HYPERVISOR	0x100	/* a hypervisor provides the counters */
#define PERFCTR_FEATURE_UNKNOWN_MODEL	0x200	/* NATIVE counts architectural events only */
#define PERFCTR_FEATURE_TOPDOWN		0x400	/* x86 counts SLOTS and TopDown's metrics */
#define PERFCTR_FEATURE_BESIDE		0x800	/* x86: NATIVE counts while perf counts, too */

/* Values of perfctr_kernel_info.user_read, and of the module parameter of that name */
#define PERFCTR_USER_READ_OFF		0
#define PERFCTR_USER_READ_GUARDED	1
#define PERFCTR_USER_READ_OPEN		2

/*
 * Values of perfctr_kernel_info.cpu_type. x86 and ppc32 have the numbers of perfctr 2.6, and
 * further numbers for later processors. One number may mean different processors on different
 * architectures.
 */
#define PERFCTR_X86_GENERIC		0
#define PERFCTR_X86_INTEL_P5		1
#define PERFCTR_X86_INTEL_P5MMX		2
#define PERFCTR_X86_INTEL_P6		3
#define PERFCTR_X86_INTEL_PII		4
#define PERFCTR_X86_INTEL_PIII		5
#define PERFCTR_X86_CYRIX_MII		6
#define PERFCTR_X86_WINCHIP_C6		7
#define PERFCTR_X86_WINCHIP_2		8
#define PERFCTR_X86_AMD_K7		9
#define PERFCTR_X86_VIA_C3		10
#define PERFCTR_X86_INTEL_P4		11
#define PERFCTR_X86_INTEL_P4M2		12
#define PERFCTR_X86_AMD_K8		13
#define PERFCTR_X86_INTEL_PENTM		14
#define PERFCTR_X86_AMD_K8C		15
#define PERFCTR_X86_INTEL_P4M3		16
#define PERFCTR_X86_INTEL_CORE		17
#define PERFCTR_X86_INTEL_CORE2		18
#define PERFCTR_X86_AMD_FAM10H		19
#define PERFCTR_X86_INTEL_ATOM		20
#define PERFCTR_X86_INTEL_NHLM		21
#define PERFCTR_X86_INTEL_WSTMR		22
#define PERFCTR_X86_INTEL_ARCH		23	/* others with architectural monitoring */
#define PERFCTR_X86_AMD_FAM15H		24	/* families 15h and 16h */
#define PERFCTR_X86_AMD_ZEN		25	/* Zen 1, and Hygon's processors */
#define PERFCTR_X86_AMD_ZEN2		26	/* Zen 2 and Zen 3 */
#define PERFCTR_X86_AMD_ZEN4		27	/* Zen 4 and later */
#define PERFCTR_PPC_GENERIC		0	/* has the timebase alone */
#define PERFCTR_PPC_604			1
#define PERFCTR_PPC_604e		2
#define PERFCTR_PPC_750			3	/* 750 and 740 */
#define PERFCTR_PPC_7400		4	/* 7400 and 7410 */
#define PERFCTR_PPC_7450		5	/* 7450 and all later 74xx */
#define PERFCTR_RISCV_GENERIC		0x100	/* has the unprivileged counters alone */
#define PERFCTR_RISCV_SBI		0x101	/* has counters through the SBI PMU extension */
#define PERFCTR_ARM64_GENERIC		0x200	/* has counters through perf */

/*
 * Values of perfctr_kernel_info.no_counters, which says why there are no counters:
 *  - NONE: there are counters, or a RISC-V processor has none.
 *  - PROCESSOR: the module has no driver for this vendor or family.
 *  - VERSION: x86 has version 6 or later of performance monitoring, where the module could not keep
 *    perf out of the registers.
 *  - REGISTERS: some registers are missing or cannot be read, which happens under some hypervisors
 *    and emulators.
 *  - TRIAL: when the module was loaded, each counter miscounted a loop of known length, or did not
 *    keep the value that was written to it.
 */
#define PERFCTR_NO_COUNTERS_NONE	0
#define PERFCTR_NO_COUNTERS_PROCESSOR	1
#define PERFCTR_NO_COUNTERS_VERSION	2
#define PERFCTR_NO_COUNTERS_REGISTERS	3
#define PERFCTR_NO_COUNTERS_TRIAL	4

/**
 * struct perfctr_kernel_info - processor and driver
 * @size: of this structure, in bytes, as the caller knows it
 * @abi_version: PERFCTR_ABI_VERSION of the module
 * @driver_version: version of the module, NUL-terminated
 * @cpu_type: PERFCTR_X86_*, PERFCTR_PPC_*, PERFCTR_RISCV_*, PERFCTR_ARM64_*
 * @cpu_features: PERFCTR_FEATURE_*
 * @cpu_khz: frequency of the core, kHz; 0 where the kernel does not know it
 * @tsc_to_cpu_mult: core clocks per tick of the clock; 0 where unknown
 * @tsc_hz: frequency of the clock, Hz
 * @nrctrs: most counters of one control
 * @no_counters: PERFCTR_NO_COUNTERS_*: why @counters is 0
 * @user_read: PERFCTR_USER_READ_*: the policy in force
 * @width: bits of the narrowest counter
 * @counters: bit n is set if hardware counter n exists. riscv: n is the number of the CSR minus the
 *	number of cycle (0 cycle, 2 instret, 3..31 hpmcounter3..31). x86: 0..23 is RDPMC's number,
 *	24 and up are the fixed counters 0 and up. HYBRID: the counters that cores of every type
 *	have. ppc32: n is PMC<n + 1>
 * @events: events that the module knows the processor to have. riscv: bit n of [0]
 *	is SBI hardware event n; bit n of [1] is the SBI cache event of code n.
 *	x86: bit n of [0] is architectural event n of CPUID leaf 10
 * @source: PERFCTR_SOURCE_*: the source that is in use now. ANY means both, and NATIVE may also
 *	mean none. On x86 and ppc32 the other source is not available while one is in use
 * @topdown: with FEATURE_TOPDOWN, the number of levels of metrics, 1 or 2; else 0
 * @reserved: zero
 */
struct perfctr_kernel_info {
	__u32 size;
	__u32 abi_version;
	char driver_version[32];
	__u32 cpu_type;
	__u32 cpu_features;
	__u32 cpu_khz;
	__u32 tsc_to_cpu_mult;
	__u64 tsc_hz;
	__u32 nrctrs;
	__u32 no_counters;
	__u32 user_read;
	__u32 width;
	__u64 counters;
	__u64 events[2];
	__u32 source;
	__u32 topdown;
	__u64 reserved[10];
};

/* Values of perfctr_cpus.which */
#define PERFCTR_CPUS_ALL	0	/* the online CPUs */
#define PERFCTR_CPUS_FORBIDDEN	1	/* online CPUs where nobody may count */

/**
 * struct perfctr_cpus - a mask of CPUs
 * @size: of this structure
 * @which: PERFCTR_CPUS_*
 * @nrwords: in: words of room at @mask; out: words needed. If there is too little room, the
 *	call fails with EOVERFLOW, stores @nrwords, and stores nothing at @mask
 * @reserved: zero
 * @mask: address of @nrwords words of 32 bits; CPU n is bit n % 32 of word n / 32
 */
struct perfctr_cpus {
	__u32 size;
	__u32 which;
	__u32 nrwords;
	__u32 reserved;
	__u64 mask;
};

/* Bits of perfctr_open.flags */
#define PERFCTR_OPEN_CREAT	1	/* make the state if the thread has none */
#define PERFCTR_OPEN_EXCL	2	/* with CREAT: EEXIST if the thread has a state */
#define PERFCTR_OPEN_PIDFD	4	/* @pidfd refers to thread @tid or to its process */
#define PERFCTR_OPEN_THREAD	8	/* for the thread @tid, which the caller traces */
#define PERFCTR_OPEN_CPUS	16	/* for CPUs instead of a thread: a session */

/**
 * struct perfctr_open - makes the open file a handle on the counters of a thread
 * @size: of this structure
 * @flags: PERFCTR_OPEN_*
 * @pidfd: with PERFCTR_OPEN_PIDFD, a descriptor of the thread or of its process (pidfd_open(2)), so
 *	that @tid cannot be a reused id, now of another thread; else 0
 * @tid: with PERFCTR_OPEN_THREAD, the id of a stopped thread that the caller traces by ptrace(2);
 *	else 0, and the thread is the caller. (While a thread is traced, no other thread can get its
 *	id, so its tracer needs no @pidfd.)
 * @reserved: zero
 *
 * The file stays this handle. For another handle, open the device again.
 *
 * CONTROL, UNLINK, IRESUME, REFRESH, SUSPEND and RESUME act on the thread that the handle counts.
 * That thread may call them, and its tracer may while the thread is stopped. Whether the handle
 * was opened with THREAD makes no difference.
 *
 * With CPUS, and no other flag, the handle is a session. A session counts CPUs, whatever runs on
 * them, and needs CAP_PERFMON (EACCES). Whoever has the handle may call CONTROL with
 * PERFCTR_CONTROL_CPU, RESUME, SUSPEND and READ_CPU. Other calls fail with ENOTTY.
 */
struct perfctr_open {
	__u32 size;
	__u32 flags;
	__s32 pidfd;
	__s32 tid;
	__u64 reserved[6];
};

/* A value of perfctr_ctr_control.map: any counter that can count the event */
#define PERFCTR_MAP_ANY		0xffffffffu

/*
 * Intel's TopDown on x86, with the numbers that perf uses. In each cycle the pipeline has several
 * slots for operations. SLOTS counts all slots. A metric counts the slots that were used, or lost,
 * in one way. At level 1, each slot belongs to one of the first four metrics. At level 2, each of
 * the other metrics counts a part of the slots of one of these four, which its comment names.
 */
#define PERFCTR_EVENT_SLOTS		0x0400
#define PERFCTR_EVENT_METRIC(n)		(0x8000 + ((n) << 8))
#define PERFCTR_METRIC_RETIRING		0
#define PERFCTR_METRIC_BAD_SPEC		1
#define PERFCTR_METRIC_FE_BOUND		2
#define PERFCTR_METRIC_BE_BOUND		3
#define PERFCTR_METRIC_HEAVY_OPS	4	/* of RETIRING */
#define PERFCTR_METRIC_BR_MISPREDICT	5	/* of BAD_SPEC */
#define PERFCTR_METRIC_FETCH_LAT	6	/* of FE_BOUND */
#define PERFCTR_METRIC_MEM_BOUND	7	/* of BE_BOUND */
#define PERFCTR_METRICS			8	/* number of all metrics */

/* Bits of perfctr_ctr_control.flags */
#define PERFCTR_CTR_USER	1	/* count in user mode */
#define PERFCTR_CTR_KERNEL	2	/* count in kernel mode */
#define PERFCTR_CTR_PERF	4	/* @event has perf's numbers; SHARED only */

/**
 * struct perfctr_ctr_control - what one counter counts
 * @map: hardware counter, numbered as in perfctr_kernel_info.counters, or PERFCTR_MAP_ANY. With
 *	SHARED, perf chooses the counter, whatever @map is
 * @flags: PERFCTR_CTR_*, at least one
 * @event: the event; each architecture has its own numbers, see below
 * @config: the rest of the event on some architectures, else 0
 * @ireset: for an i-mode counter: the period, negated. The counter counts up from this number to
 *	zero, and begins there again after each overflow. Any negative number of 64 bits is valid,
 *	whatever the width of the register. On x86 it is at most -2, and on Nehalem and Haswell at
 *	most -32. On the 750 and some 74xx, i-mode counters are refused with EOPNOTSUPP and
 *	PERFCTR_REASON_ERRATUM, unless the module's parameter unsafe_interrupts is set. For an
 *	a-mode counter: 0
 * @config1: on a Pentium 4, the value of PEBS_ENABLE, for replay tagging; with PERFCTR_CTR_PERF,
 *	perf's config1; else 0
 * @config2: on a Pentium 4, the value of PEBS_MATRIX_VERT; with PERFCTR_CTR_PERF, perf's config2;
 *	else 0
 * @reserved: zero; room for more registers of a counter
 *
 * With PERFCTR_CTR_PERF, @event is the type in perf's struct perf_event_attr: hardware 0, hardware
 * cache 3, raw 4, or the type of a core PMU of a hybrid processor. @config, @config1 and @config2
 * are the members of that structure with these names. @map must be ANY. Without PERFCTR_CTR_PERF
 * the architecture decides:
 *
 * riscv: @event is the SBI event_idx: the type in bits 16..19 (0 hardware, 1 cache, 2 raw), the
 * code in bits 0..15. Counter 0 (cycle) counts event 1 only, and counter 2 (instret) event 2 only.
 * @config is the SBI event_data of a raw event, 48 bits. MAP_ANY means any programmable counter.
 * Without Sscofpmf, programmable counters have no filter, so MAP_ANY then means cycle for cycles
 * and instret for instructions.
 *
 * x86: @event is a part of the event select, or the whole event select. The part has event, unit
 * mask, edge, inversion and counter mask (bits 0..15, 18, 23 and 24..31; on AMD since family 10h
 * also bits 32..35, the event's upper bits), and zeros elsewhere. In a whole event select bits 16,
 * 17, 20 and 22 must agree with @flags and @ireset. (On the P6, an event select has bit 22, enable,
 * only with counter 0 or ANY.) MAP_ANY means any counter that can count the event, if possible a
 * fixed one. If any assignment of counters fits the control, the module finds one.
 *
 * Fixed counters of x86 count only their own events: 0xc0 instructions, 0x3c core cycles, 0x300
 * reference cycles, and SLOTS. If @map names the counter of reference cycles, @event may also be
 * 0x13c; on other counters 0x13c counts bus cycles. A metric of TopDown is a part of the slots that
 * SLOTS counts. A metric takes no counter, and its @map is ANY. The control must have SLOTS too, in
 * a-mode and with the same @flags. No other event of code 0 exists.
 *
 * Some events of x86, such as off-core responses and events of the front end, have a register of
 * their own. For these events @config is the value of that register. Hyperthreads share the
 * register, so all threads of the machine must use the same value at a time. CONTROL fails with
 * EBUSY while any control, even the caller's own, has another value.
 *
 * Pentium 4: @event has the CCCR in bits 0..31: either the whole CCCR, or only its ESCR select,
 * FORCE_OVF, threshold and the threshold's options. With MAP_ANY, bits 32..34 of @event are the
 * block: 1 BPU, 2 MS, 3 FLAME, 4 IQ. With CASCADE or EXTENDED_CASCADE, and without ENABLE, the
 * counter waits until another counter overflows. The other counter must be an i-mode counter, which
 * overflows at the end of a period, or a counter with FORCE_OVF, which overflows at each event.
 * @config is the ESCR. Bits 2 and 3 of the ESCR are zero or agree with @flags. Bits 0 and 1 are
 * zero in a control of a thread; in a session they are the modes of the other hyperthread. Counters
 * that select the same ESCR need the same @config. @config1 and @config2 must be the same for all
 * threads at a time, like @config on other x86.
 *
 * arm64: @event is the number of the event in PMEVTYPER<n>_EL0, bits 0..15. The source must be
 * SHARED, and @map ANY.
 *
 * ppc32: @event is the select of counter @map (PMC<n>SEL of MMCR0 and MMCR1). With MAP_ANY, @event
 * must mean the same on several counters, as all values below 5 do (0 nothing, 1 cycles, 2
 * instructions completed, 3 transitions of a bit of the timebase, 4 instructions dispatched), and
 * on the 745x all values below 23. @config has MMCR0 in bits 0..31, without FC, FCS, FCP, PMXE,
 * PMC1SEL and PMC2SEL. So @config may set FCM1, FCM0, FCECE, TBSEL, TBEE, THRESHOLD, PMC1CE, PMCnCE
 * and TRIGGER. Bits 32..63 of @config are MMCR2, of which only THRESHMULT of the 7400 and 745x may
 * be set. Both registers, and the modes in @flags, belong to the control as a whole: all its
 * counters must have the same @config and @flags. For FCECE and TRIGGER, the i-mode counters are
 * the enabled conditions. Beside i-mode counters, TBEE, PMC1CE and PMCnCE must be zero. With FCECE,
 * a period is at most 2^31. An a-mode counter is negative from a sum of 2^31 on. But if an i-mode
 * counter is in PMC2 or a higher counter, only an a-mode counter in PMC1 becomes negative. A
 * control begins neither frozen nor triggered. Counters that an overflow has frozen go on when the
 * counters of the state go on.
 */
struct perfctr_ctr_control {
	__u32 map;
	__u32 flags;
	__u64 event;
	__u64 config;
	__s64 ireset;
	__u64 config1;
	__u64 config2;
	__u64 reserved[2];
};

/* A value of perfctr_control.refused: no single counter was to blame */
#define PERFCTR_NO_INDEX	0xffffffffu

/* si_code of the signal for overflows, which perfctr 2.6 called SI_PMC_OVF */
#define PERFCTR_SI_OVF		'P'

/* Bits of perfctr_control.flags */
#define PERFCTR_CONTROL_CLOEXEC	1	/* unlink the state at exec */
#define PERFCTR_CONTROL_ON_EXEC	2	/* start at the next exec, not now */
#define PERFCTR_CONTROL_INHERIT	4	/* also count the thread's descendants: a tree */
#define PERFCTR_CONTROL_KEEP	8	/* with INHERIT: keep the sums of descendants that end */
#define PERFCTR_CONTROL_RAW	16	/* the registers may be read by instruction */
#define PERFCTR_CONTROL_SUSPENDED 32	/* stay suspended until PERFCTR_IOC_RESUME */
#define PERFCTR_CONTROL_HOLDER_ONLY 64	/* only the holder may call SUSPEND and RESUME */
#define PERFCTR_CONTROL_CPU	128	/* count on the CPU @cpu only */
#define PERFCTR_CONTROL_RECORD	256	/* overflows write to the ring, and signal nobody */
#define PERFCTR_CONTROL_NO_IDLE	512	/* sessions only: do not count while the CPU is idle */

/**
 * struct perfctr_control - what a state counts
 * @size: of this structure, with its counters; the structure may end after the last counter in use
 * @flags: PERFCTR_CONTROL_*
 * @ctr_offset: bytes from the start of this structure to the first counter: the caller's
 *	size of the members before @ctr
 * @ctr_size: bytes from each counter to the next: the caller's size of struct
 *	perfctr_ctr_control
 * @tsc_on: 1 if the clock is to be accumulated, else 0
 * @nractrs: number of a-mode counters, the first ones of @ctr
 * @nrictrs: number of i-mode counters, which follow. riscv: on programmable
 *	counters only
 * @si_signo: signal for overflows, not SIGKILL or SIGSTOP; 0 without i-mode
 *	counters
 * @preserve: if bit i is set, counter i goes on from the sum that it has; else it starts from
 *	zero. The sum of a counter that this control does not name is kept for a later control.
 *	Bits 32 and up must be zero, because no processor has so many counters yet
 * @refresh: with i-mode counters, the number of overflows after which they stay suspended. After
 *	each earlier overflow they go on by themselves. 0 means 1. Without i-mode counters: 0
 * @refused: out: index in @ctr of the counter that made the call fail; PERFCTR_NO_INDEX if
 *	the call succeeded, or no single counter was to blame
 * @owner: out: with EBUSY, who probably has the counters (PERFCTR_OWNER_*); else PERFCTR_OWNER_NONE
 * @source: PERFCTR_SOURCE_* of this state and its descendants, until the next control.
 *	READ_CONTROL gives the source that was chosen in place of ANY
 * @reason: out: PERFCTR_REASON_*
 * @possible: out: with PERFCTR_REASON_COUNTER, a mask of the counters that could count the event of
 *	counter @refused, like perfctr_kernel_info.counters; 0 if the module does not know them
 * @cpu: with PERFCTR_CONTROL_CPU, the number of a possible CPU, online or not; else 0
 * @reserved0: zero
 * @timer_ns: with RECORD: the thread writes a SAMPLE each time that it has run for this many
 *	nanoseconds, PERFCTR_TIMER_MIN to PERFCTR_TIMER_MAX, with or without i-mode counters. 0
 *	means no timer. Without RECORD: 0
 * @reserved: zero
 * @ctr: the counters
 *
 * The members before @ctr may grow at their end, and so may each counter. @ctr_offset and
 * @ctr_size say how large those of the caller are. Both must be multiples of 8, not below
 * PERFCTR_CONTROL_SIZE_VER0 and PERFCTR_CTR_CONTROL_SIZE_VER0, even if there are no
 * counters. All counters in use must lie within @size. Otherwise CONTROL fails with EINVAL.
 * PERFCTR_CONTROL_INIT sets all three sizes to those of this header. Bytes that the module
 * does not know must be zero (E2BIG). Bytes behind the last counter in use are ignored.
 *
 * CONTROL overwrites @refused, @owner, @reason and @possible, so the structure must be writable
 * (EFAULT). CONTROL leaves these members alone only if it fails before it looks at the control:
 * with EPERM, ESRCH, E2BIG or EFAULT, and with EINVAL for invalid sizes or too many counters.
 * READ_CONTROL sets them to NO_INDEX, NONE, NONE and 0.
 *
 * A control with neither clock nor counters stops the state, which then has no holder.
 *
 * READ_CONTROL gives the latest control, even after an exec, UNLINK or the end of the thread. In
 * place of MAP_ANY it gives the counter that was chosen; for metrics, and with SHARED, it always
 * gives MAP_ANY. CONTROL accepts the result. All states of a tree have the root's control.
 *
 * On a HYBRID processor, counters count on cores of one type only: the type of the CPUs where the
 * thread may run when it calls CONTROL. If these CPUs are of several types, CONTROL fails with
 * EXDEV, so first restrict the thread to CPUs of one type. If the thread comes to a CPU of another
 * type later, its error is PERFCTR_ERROR_LOST.
 *
 * On a Pentium 4 the second hyperthread of each core is FORBIDDEN. CONTROL takes these CPUs out of
 * the thread's affinity for good, and fails with EINVAL if no other CPU is left. A thread that
 * comes to such a CPU later has the error PERFCTR_ERROR_LOST, and gets SIGILL.
 *
 * INHERIT makes the thread the root of a tree. Its descendants are the threads and processes that
 * the root makes by fork or clone from then on, and all that its descendants make. A descendant
 * counts what the root counts, from its first instruction on, in a state of its own, which only the
 * root's holder can control. The next control of the root, or its unlink, ends the tree, and the
 * descendants count no more. If the root's thread has ended, the last close of a handle on the root
 * ends the tree.
 *
 * At an overflow all counters are suspended; the clock goes on. Before its next user instruction
 * the thread gets the signal @si_signo, with si_code PERFCTR_SI_OVF. si_pid is a mask of the
 * counters that have overflowed: bit i is counter i. The mask has 32 bits, so i-mode counters must
 * be among the first 32 (EINVAL). The counters go on with PERFCTR_IOC_IRESUME or REFRESH, or by
 * themselves up to the number of overflows in @refresh. If they go on by themselves more often in a
 * tick than the module's parameter overflow_budget allows, they stay suspended, and si_errno is
 * EAGAIN (else 0). With INHERIT, each thread has periods and signals of its own. An exec removes
 * signal handlers, so it ends the signals too, and from then on i-mode counters only count.
 * Therefore a control with ON_EXEC and signals for overflows is refused with EINVAL. If the signal
 * cannot be queued, for example because of RLIMIT_SIGPENDING, the thread gets SIGIO.
 *
 * RECORD: an overflow writes a SAMPLE to the state's ring (PERFCTR_IOC_RING; EINVAL if there is no
 * ring), and sends no signal: @si_signo and @refresh must be 0. The counters go on at once. An exec
 * does not end RECORD, so ON_EXEC is allowed. There must be an i-mode counter or @timer_ns
 * (EINVAL). With INHERIT, descendants write to the same ring. The module's parameter
 * overflow_budget limits the SAMPLEs of a thread in a tick. At the limit the thread writes
 * THROTTLED, and no SAMPLE until the next tick; its counters go on. If a tracer makes the control,
 * RECORD is refused with EOPNOTSUPP.
 *
 * RAW permits the thread, and the threads of its tree in the same process, to read the registers of
 * the counters by instruction, without a map, as long as the control is in force. (On riscv these
 * are rdcycle and rdinstret, if the control names counters 0 and 2.) The registers also run while
 * other threads run, and so reveal something of those threads. That is why RAW needs the privilege
 * for kernel mode (EACCES), unless the policy user_read is open. RAW is refused with EOPNOTSUPP on
 * x86, where only processes get a permission, on arm64, where no thread gets one, and on ppc32,
 * where all threads have it.
 *
 * With CPU, a thread's clock and counters count while the thread runs on the CPU @cpu. On another
 * CPU they stand still, as if they were suspended, and the page shows no registers. The events that
 * the kernel counts (struct perfctr_soft) go on. On a HYBRID processor, the counters are those of
 * the type of core that @cpu is.
 *
 * A session's control must have CPU, may have NO_IDLE, and may have no other flag (EINVAL). With
 * NO_IDLE, clock and counters stand still while the CPU runs its idle task, also in interrupts that
 * come meanwhile. (A thread's control with NO_IDLE is refused with EINVAL.) Each CPU of a session
 * has a control of its own. A new control replaces the old one, and zeroes the CPU's sums. A
 * control with neither clock nor counters takes the CPU out of the session. i-mode counters and
 * @preserve are refused with EINVAL. While the session runs, CONTROL fails with EBUSY. A CPU that
 * is not online counts when it comes online. In a session, ANY means SHARED if possible, else
 * NATIVE. With SHARED, other programs may count by the same counters. NATIVE takes the counters of
 * all CPUs for sessions. Meanwhile no thread can count natively (EBUSY, reason CPUS), no process
 * may read registers, and each CPU belongs to one session. While threads count natively, a native
 * session is refused with EBUSY (reason THREADS). On ppc32, where every thread can read the
 * registers, a native session is refused with EACCES (reason OPEN), unless the policy user_read is
 * open.
 */
struct perfctr_control {
	__u32 size;
	__u32 flags;
	__u32 ctr_offset;
	__u32 ctr_size;
	__u32 tsc_on;
	__u32 nractrs;
	__u32 nrictrs;
	__s32 si_signo;
	__u64 preserve;
	__u64 refresh;
	__u32 refused;
	__u32 owner;
	__u32 source;
	__u32 reason;
	__u64 possible;
	__u32 cpu;
	__u32 reserved0;
	__u64 timer_ns;
	__u64 reserved[5];
	struct perfctr_ctr_control ctr[PERFCTR_MAX_CTRS];
};

/* The least and the largest perfctr_control.timer_ns */
#define PERFCTR_TIMER_MIN	10000
#define PERFCTR_TIMER_MAX	1000000000

/* Usage: struct perfctr_control control = { PERFCTR_CONTROL_INIT, .tsc_on = 1 }; */
#define PERFCTR_CONTROL_INIT						\
	.size = sizeof(struct perfctr_control),				\
	.ctr_offset = sizeof(struct perfctr_control) -			\
		      PERFCTR_MAX_CTRS * sizeof(struct perfctr_ctr_control), \
	.ctr_size = sizeof(struct perfctr_ctr_control)

/*
 * read(2) on a handle is the fastest read by a system call. It stores 1 + nrctrs words of 64 bits,
 * the clock and then the sums, all of one moment, and returns the number of bytes. EINVAL: the
 * buffer is too small. EIO: the state has a sticky error, which PERFCTR_IOC_READ tells.
 */

/**
 * struct perfctr_soft - events of a thread that the kernel counts
 * @switches: times that the thread left a CPU (perf: context-switches)
 * @migrations: times that the thread was moved to another CPU (perf: cpu-migrations, which
 *	counts several moves between two runs as one)
 * @minor_faults: page faults without input or output (perf: minor-faults)
 * @major_faults: page faults with input or output (perf: major-faults)
 * @task_clock: ns on a CPU, measured by the clock, which must be on (perf: task-clock)
 *
 * The kernel counts these events since the last control that counts anything, since the exec at
 * which counting began, or, in a descendant, since its birth. It does not count while
 * PERFCTR_IOC_SUSPEND has suspended the state. Kernel mode is included, and needs no privilege.
 */
struct perfctr_soft {
	__u64 switches;
	__u64 migrations;
	__u64 minor_faults;
	__u64 major_faults;
	__u64 task_clock;
};

/* Bits of perfctr_read.flags */
#define PERFCTR_READ_ATTACHED	1	/* the thread still has this state */
#define PERFCTR_READ_ON_EXEC	2	/* counting starts at the next exec */
#define PERFCTR_READ_OVERFLOWN	4	/* an overflow has suspended the counters */
#define PERFCTR_READ_THROTTLED	8	/* overflow_budget was exceeded: counters stay suspended */
#define PERFCTR_READ_SUSPENDED	16	/* the state is suspended until PERFCTR_IOC_RESUME */

/**
 * struct perfctr_read - one consistent read of the clock and all counters
 * @size: in: of the caller's structure, at least up to @sum; out: unchanged
 * @cstatus: what is counted; 0 after a control that counts nothing, though the sums stay
 * @error: PERFCTR_ERROR_*; if not NONE the call fails with EIO, but stores the sums, which have
 *	stood still since the error
 * @nrctrs: number of valid members of @sum, if @size has room for them
 * @flags: PERFCTR_READ_*
 * @overflows: times that i-mode counters overflowed; overflows of several counters at once count as
 *	one. The thread may get fewer signals if its counters go on before it gets a signal, because
 *	the kernel queues each signal below SIGRTMIN only once
 * @clock: ticks of the clock while the thread ran
 * @sum: one per counter, zero beyond @nrctrs
 * @soft: what the kernel counted, read a moment later
 */
struct perfctr_read {
	__u32 size;
	__u32 cstatus;
	__u32 error;
	__u32 nrctrs;
	__u32 flags;
	__u32 overflows;
	__u64 clock;
	__u64 sum[PERFCTR_MAX_CTRS];
	struct perfctr_soft soft;
};

/* Bits of perfctr_read_cpu.flags */
#define PERFCTR_READ_CPU_ONLINE		1	/* the CPU is online */
#define PERFCTR_READ_CPU_RUNNING	2	/* the session runs */

/**
 * struct perfctr_read_cpu - one consistent read of a CPU's clock and counters
 * @size: in: of the caller's structure, at least up to @sum; out: unchanged
 * @cpu: in: the number of a possible CPU, else EINVAL
 * @cstatus: what is counted on this CPU; 0 if the session does not count it
 * @error: PERFCTR_ERROR_*; if not NONE the call fails with EIO, but stores the sums, which have
 *	stood still since the error
 * @nrctrs: number of valid members of @sum, if @size has room for them
 * @flags: PERFCTR_READ_CPU_*
 * @clock: ticks of the clock while the session ran and the CPU was online
 * @sum: one per counter, zero beyond @nrctrs
 *
 * The read runs on CPU @cpu with interrupts off. All values are of the same moment, and no event is
 * missed or counted twice, with two exceptions. TopDown's metrics and SLOTS start from zero at the
 * read, and miss the slots of kernel mode during the read. With FCECE or TRIGGER (ppc32), all
 * counters stand still during the read.
 */
struct perfctr_read_cpu {
	__u32 size;
	__u32 cpu;
	__u32 cstatus;
	__u32 error;
	__u32 nrctrs;
	__u32 flags;
	__u64 clock;
	__u64 sum[PERFCTR_MAX_CTRS];
};

/* Bits of perfctr_read_tree.which */
#define PERFCTR_TREE_ROOT	1	/* the root itself */
#define PERFCTR_TREE_ENDED	2	/* descendants that have ended */
#define PERFCTR_TREE_LIVE	4	/* live descendants */

/**
 * struct perfctr_read_tree - sums over a tree
 * @size: of this structure
 * @which: in: PERFCTR_TREE_*, at least one
 * @cstatus: what is counted
 * @error: an error of any of these threads; PERFCTR_ERROR_MEMORY if some descendants could not be
 *	counted. If not NONE the call fails with EIO, but stores everything
 * @nrctrs: number of valid members of @sum
 * @flags: PERFCTR_READ_SUSPENDED: the tree is suspended, so no member counts
 * @tree_id: id of the tree; each control that makes a tree gives the tree a new id. The sums of two
 *	reads may be compared if both have the same id
 * @live: number of live descendants
 * @ended: number of descendants that have ended
 * @missed: number of descendants that could not be counted, for lack of memory
 * @not_kept: with KEEP, the number of ended descendants that were not kept one by one, because the
 *	module's parameter keep was exceeded. The sums include them
 * @clock, @sum, @soft: as in struct perfctr_read
 *
 * Each thread is counted once, and all its counters are read at the same moment. Live threads are
 * read one after another. A thread that is born meanwhile is not included.
 */
struct perfctr_read_tree {
	__u32 size;
	__u32 which;
	__u32 cstatus;
	__u32 error;
	__u32 nrctrs;
	__u32 flags;
	__u64 tree_id;
	__u64 live;
	__u64 ended;
	__u64 missed;
	__u64 not_kept;
	__u64 clock;
	__u64 sum[PERFCTR_MAX_CTRS];
	struct perfctr_soft soft;
};

/* A bit of perfctr_member.flags */
#define PERFCTR_MEMBER_LIVE	1	/* the descendant has not ended */

/**
 * struct perfctr_member - one descendant of a tree
 * @size: of this structure
 * @flags: PERFCTR_MEMBER_*
 * @cursor: in: 0, or the cursor of the previous member; out: the cursor of this member. Cursors
 *	rise in the order of birth
 * @tid: its thread id, in the reader's pid namespace (0 if the thread is not in that namespace)
 * @tgid: the id of its process, also in that namespace
 * @comm: its name when it ended, or its present name; NUL-terminated
 * @error: its PERFCTR_ERROR_*
 * @nrctrs: number of valid members of @sum
 * @clock, @sum, @soft: as in struct perfctr_read
 *
 * NEXT_MEMBER gives the next descendant; with KEEP, also descendants that have ended. ENOENT: there
 * is no next one.
 */
struct perfctr_member {
	__u32 size;
	__u32 flags;
	__u64 cursor;
	__s32 tid;
	__s32 tgid;
	char comm[16];
	__u32 error;
	__u32 nrctrs;
	__u64 clock;
	__u64 sum[PERFCTR_MAX_CTRS];
	struct perfctr_soft soft;
};

/* A bit of perfctr_add_member.flags */
#define PERFCTR_ADD_PIDFD	1	/* @pidfd refers to thread @tid or to its process */

/**
 * struct perfctr_add_member - makes a thread a member of the caller's tree
 * @size: of this structure
 * @flags: PERFCTR_ADD_*
 * @pidfd: as in struct perfctr_open
 * @tid: id of a thread that the caller traces by ptrace(2), stopped or not
 * @reserved: zero
 *
 * The root's thread calls ADD_MEMBER, by any handle of its state. The added thread counts from its
 * next user instruction on, as if it had been born in the tree. So do the children that it makes
 * from then on. The call neither stops nor wakes the thread, and the caller may stop tracing it
 * afterwards. With i-mode counters the thread gets no signals. To count added threads only, give
 * the root's control ON_EXEC, and never exec.
 */
struct perfctr_add_member {
	__u32 size;
	__u32 flags;
	__s32 pidfd;
	__s32 tid;
	__u64 reserved[2];
};

/* Bits of perfctr_ring.flags */
#define PERFCTR_RING_USER_CHAIN	1	/* call chain in user mode, by frame pointers */
#define PERFCTR_RING_KERNEL	2	/* addresses in the kernel; needs a privilege */
#define PERFCTR_RING_KERNEL_CHAIN 4	/* with KERNEL: call chain in the kernel */
#define PERFCTR_RING_MAPS	8	/* also write MAP, UNMAP, COMM, FORK and EXIT records */

#define PERFCTR_RING_MAX_DEPTH	127	/* most addresses of one chain */

/**
 * struct perfctr_ring - makes a ring of records for a state
 * @size: of this structure
 * @flags: PERFCTR_RING_*
 * @pages: number of pages for records, a power of two
 * @wakeup: poll(2) on the handle wakes after this many records, or when the ring is half full;
 *	0: only when the ring is half full
 * @user_depth: with USER_CHAIN, the most addresses of a chain, 1 to PERFCTR_RING_MAX_DEPTH; else 0
 * @kernel_depth: with KERNEL_CHAIN, the most addresses of a chain, limited like @user_depth; else 0
 * @reserved: zero
 *
 * A state has at most one ring, from this call until the state is freed. A descendant's state has
 * no ring of its own. A control with PERFCTR_CONTROL_RECORD lets the state and its descendants
 * write to the ring. Whoever has a handle may map the ring: MAP_SHARED, at PERFCTR_RING_OFFSET, in
 * its whole length. The map is one page with a struct perfctr_ring_page, then @pages pages with
 * records. All these pages are charged to the user's RLIMIT_MEMLOCK.
 */
struct perfctr_ring {
	__u32 size;
	__u32 flags;
	__u32 pages;
	__u32 wakeup;
	__u32 user_depth;
	__u32 kernel_depth;
	__u64 reserved[5];
};

/* Offset of a ring for mmap(2), in bytes; a multiple of every page size */
#define PERFCTR_RING_OFFSET	0x1000000

/**
 * struct perfctr_ring_page - the first page of a ring, which the reader may write
 * @size: bytes of this structure that the module fills
 * @flags: PERFCTR_RING_*
 * @offset: bytes from the start of this page to the records
 * @length: bytes of room for records, a power of two
 * @head: bytes that the module has written since the ring was made, modulo 2^32. The next record
 *	begins at @offset + @head % @length. A record may reach the end of the room and go on at
 *	@offset. Read @head with acquire order
 * @lost: records that found no room, since the ring was made
 * @tail: bytes that the reader has read since the ring was made, modulo 2^32. The reader writes
 *	@tail with release order. The bytes from @tail to @head belong to the reader, all other
 *	bytes to the module
 */
struct perfctr_ring_page {
	__u32 size;
	__u32 flags;
	__u64 offset;
	__u64 length;
	__u32 head;
	__u32 reserved0;
	__u64 lost;
	__u64 reserved[11];
	__u32 tail;
	__u32 reserved1;
};

/* Values of perfctr_record.type. A reader skips types that it does not know. */
#define PERFCTR_RECORD_SAMPLE		1
#define PERFCTR_RECORD_LOST		2
#define PERFCTR_RECORD_THROTTLED	3
#define PERFCTR_RECORD_MAP		4
#define PERFCTR_RECORD_UNMAP		5
#define PERFCTR_RECORD_COMM		6
#define PERFCTR_RECORD_FORK		7
#define PERFCTR_RECORD_EXIT		8

/* Bits of perfctr_record.flags */
#define PERFCTR_RECORD_KERNEL	1	/* SAMPLE: @ip is in the kernel */
#define PERFCTR_RECORD_ENTERED	2	/* SAMPLE: the thread entered the kernel at @ip */
#define PERFCTR_RECORD_EXEC	4	/* COMM: an exec gave the name, and unmapped everything */
#define PERFCTR_RECORD_MAP_UNKNOWN 8	/* SAMPLE: the MAPs so far may not be up to date */

/**
 * struct perfctr_record - the beginning of each record
 * @type: PERFCTR_RECORD_*
 * @flags: PERFCTR_RECORD_*
 * @size: bytes of the whole record, a multiple of 8
 * @time: CLOCK_MONOTONIC, ns
 * @pid: process id of the record's thread, in the pid namespace of the ring's maker
 * @tid: thread id of the record's thread, in the same namespace
 *
 * THROTTLED and EXIT have no other members. THROTTLED: the thread's counters go on, but the thread
 * writes no SAMPLE before the next tick. EXIT: the thread has ended.
 */
struct perfctr_record {
	__u16 type;
	__u16 flags;
	__u32 size;
	__u64 time;
	__s32 pid;
	__s32 tid;
};

/**
 * struct perfctr_record_sample - SAMPLE: where a thread was, and all its counters
 * @record: the beginning
 * @ip: address of the next instruction; 0 during an exec or an exit
 * @cpu: where the thread ran
 * @overflown: mask of the i-mode counters that have overflowed; 0: the timer wrote the sample
 * @nrctrs: number of sums
 * @kernel_depth: number of addresses in the kernel
 * @user_depth: number of addresses in user mode
 * @reserved: zero
 * @clock: ticks of the clock while the thread ran
 * @value: the sums of one moment, as in struct perfctr_read; then the addresses in the kernel, then
 *	those in user mode, each from the innermost function to the outermost. The first address in
 *	the kernel is @ip. The first address in user mode is the address where the thread entered
 *	the kernel, or @ip if @ip is in user mode. All other addresses are return addresses
 *
 * MAP_UNKNOWN, in a ring with MAPS, says that the executable memory of the process has changed
 * since the MAPs before this record. So readers do not know what is at the record's addresses in
 * user mode. This happens between an exec and the MAPs of the new program, and after another thread
 * has mapped something.
 */
struct perfctr_record_sample {
	struct perfctr_record record;
	__u64 ip;
	__u32 cpu;
	__u32 overflown;
	__u16 nrctrs;
	__u16 kernel_depth;
	__u16 user_depth;
	__u16 reserved;
	__u64 clock;
	__u64 value[];
};

/**
 * struct perfctr_record_lost - LOST: there was no room for records
 * @record: the beginning; pid and tid are 0
 * @lost: number of records that were lost right before this one
 */
struct perfctr_record_lost {
	struct perfctr_record record;
	__u64 lost;
};

/**
 * struct perfctr_record_map - MAP: a process has mapped executable memory
 * @record: the beginning
 * @start: first address of the memory
 * @length: bytes
 * @offset: offset of @start in the file, bytes
 * @inode: of the file; 0 if there is no file
 * @major: major number of the file's device
 * @minor: its minor number
 * @path: of the file, from the root directory of the thread; or "[vdso]" and the like; or "//anon".
 *	NUL-terminated, and filled up with NULs
 *
 * A MAP replaces earlier MAPs of these addresses, and may repeat a part of them. A SAMPLE without
 * MAP_UNKNOWN comes after the MAPs of all executable memory that its process has at that time. The
 * child of a fork has its parent's MAPs.
 */
struct perfctr_record_map {
	struct perfctr_record record;
	__u64 start;
	__u64 length;
	__u64 offset;
	__u64 inode;
	__u32 major;
	__u32 minor;
	char path[];
};

/**
 * struct perfctr_record_unmap - UNMAP: the executable memory in a range is gone; if other memory
 *	has replaced it, the next MAPs describe that memory
 * @record: the beginning
 * @start: first address of the range, which is the first address of a MAP or lies within a MAP
 * @length: bytes of the range
 */
struct perfctr_record_unmap {
	struct perfctr_record record;
	__u64 start;
	__u64 length;
};

/**
 * struct perfctr_record_comm - COMM: the name of a thread
 * @record: the beginning
 * @comm: NUL-terminated
 */
struct perfctr_record_comm {
	struct perfctr_record record;
	char comm[16];
};

/**
 * struct perfctr_record_fork - FORK: a thread or process was made
 * @record: the beginning; its ids are the new thread's
 * @parent_pid: process id of the thread that made the new thread
 * @parent_tid: id of the thread that made the new thread
 */
struct perfctr_record_fork {
	struct perfctr_record record;
	__s32 parent_pid;
	__s32 parent_tid;
};

/**
 * struct perfctr_page_slot - one counter in the mapped page
 * @owner: thread pointer of the one thread that may read the register and add @bias; 0 if no thread
 *	may, because the counter is not in use, or the kernel must be asked. A thread need check
 *	nothing else before it reads the register
 * @bias: the number to add to the register: the sum minus the register's value at the start
 */
struct perfctr_page_slot {
	__u64 owner;
	__u64 bias;
};

#define PERFCTR_PAGE_SLOTS	66
#define PERFCTR_PAGE_NO_SLOT	65	/* the slot whose owner is always 0 */

/**
 * struct perfctr_page - the page that the owner of a state maps, read-only
 * @size: bytes of this structure that the module fills
 * @seq: sequence count: every switch, control and sample changes @seq. It is positive if the
 *	registers may be read, and negative if the kernel must be asked. The kernel must be asked
 *	if the state is stopped or has an error, if its thread does not run or may not read the
 *	registers, or if the page belongs to another process
 * @cstatus: what is counted
 * @error: PERFCTR_ERROR_*
 * @nrctrs: number of counters
 * @reserved: zero
 * @map: per counter, the byte offset of its slot from @slot[0]: on riscv 16 times the number of the
 *	hardware counter, on x86, arm64 and ppc32 16 times the counter's index. Members beyond
 *	@nrctrs have the offset of PERFCTR_PAGE_NO_SLOT
 * @owner: like the owner of a slot, but for the whole page: set if the clock and all counters may
 *	be read
 * @slot: on riscv a slot for each hardware counter, and slot 1 for the clock (the time CSR); on
 *	x86, arm64 and ppc32 a slot for each counter, and slot 64 for the clock (the TSC,
 *	CNTVCT_EL0, the timebase)
 * @operand: per counter: on x86 the operand of RDPMC, on ppc32 the n of the register UPMC<n + 1>,
 *	else 0
 * @metrics_owner: like the owner of a slot, but for all metrics of TopDown; 0 also if there are no
 *	metrics
 * @slots: with metrics: the index of the counter SLOTS
 * @reserved1: zero
 * @metric: per counter: 1 + PERFCTR_METRIC_* of a metric, else 0
 *
 * The owner of a state reads counter i like this. "ask" means to ask the kernel, by
 * read(2) on the handle:
 *
 *	do {
 *		seq = page->seq;
 *		slot = (char *)page->slot + page->map[i];
 *		if (slot->owner != thread pointer) ask;
 *		value = slot->bias + read_counter(i);
 *	} while (page->seq != seq);
 *
 * read_counter(i) is the CSR cycle + page->map[i] / 16 on riscv, RDPMC of page->operand[i] on x86,
 * and UPMC<n + 1> on ppc32, where n is page->operand[i]. On arm64 only the clock is read like this,
 * and no counter. Only the owner finds its own thread pointer in a slot, and only while it may read
 * the register.
 *
 * Registers that may be read do not wrap: the module sets them back to
 * zero, and adapts the bias, long before they would.
 *
 * TopDown's metrics share one register, which has 8 bits for each metric. They are the metric's
 * part of the register of SLOTS, in 255ths. For metrics, @map has the offset of
 * PERFCTR_PAGE_NO_SLOT, and neither their slots nor the page as a whole have an owner. So readers
 * that do not know metrics ask the kernel. Readers that know them read counter i, a metric, like
 * this:
 *
 *	do {
 *		seq = page->seq;
 *		if (page->metrics_owner != thread pointer) ask;
 *		slots = RDPMC of page->operand[page->slots];
 *		field = RDPMC of page->operand[i] >> 8 * (page->metric[i] - 1) & 255;
 *		value = page->slot[i].bias + (field * slots + 127) / 255;
 *	} while (page->seq != seq);
 *
 * @map, @slot and @operand never change their meaning. If the count of a later kind of counter
 * is not a bias plus a register, the counter's @map has the offset of PERFCTR_PAGE_NO_SLOT, and
 * its slot has no owner, so that readers of today ask the kernel. A later version may add
 * members at the end that tell how to read such a counter; @size tells whether they are there.
 * This structure stays within 2048 bytes. The offset for mmap(2) must be 0 or
 * PERFCTR_RING_OFFSET (EINVAL).
 */
struct perfctr_page {
	__u32 size;
	__s32 seq;
	__u32 cstatus;
	__u32 error;
	__u32 nrctrs;
	__u32 reserved;
	__u64 owner;
	__u32 map[PERFCTR_MAX_CTRS];
	struct perfctr_page_slot slot[PERFCTR_PAGE_SLOTS];
	__u32 operand[PERFCTR_MAX_CTRS];
	__u64 metrics_owner;
	__u32 slots;
	__u32 reserved1;
	__u8 metric[PERFCTR_MAX_CTRS];
};

#define PERFCTR_IOC_MAGIC	0xd0

/* Calls on /dev/perfctr and on handles */
#define PERFCTR_IOC_INFO		_IO(PERFCTR_IOC_MAGIC, 0x10)
#define PERFCTR_IOC_CPUS		_IO(PERFCTR_IOC_MAGIC, 0x11)
/* The call that makes an open file of /dev/perfctr a handle */
#define PERFCTR_IOC_OPEN		_IO(PERFCTR_IOC_MAGIC, 0x12)
/* Calls on handles */
#define PERFCTR_IOC_CONTROL		_IO(PERFCTR_IOC_MAGIC, 0x13)
#define PERFCTR_IOC_READ		_IO(PERFCTR_IOC_MAGIC, 0x14)
#define PERFCTR_IOC_READ_CONTROL	_IO(PERFCTR_IOC_MAGIC, 0x15)
#define PERFCTR_IOC_UNLINK		_IO(PERFCTR_IOC_MAGIC, 0x16)
#define PERFCTR_IOC_IRESUME		_IO(PERFCTR_IOC_MAGIC, 0x17)
#define PERFCTR_IOC_READ_TREE		_IO(PERFCTR_IOC_MAGIC, 0x18)
#define PERFCTR_IOC_NEXT_MEMBER		_IO(PERFCTR_IOC_MAGIC, 0x19)
#define PERFCTR_IOC_SUSPEND		_IO(PERFCTR_IOC_MAGIC, 0x1a)
#define PERFCTR_IOC_RESUME		_IO(PERFCTR_IOC_MAGIC, 0x1b)
/* The argument is a number, 1 to 0x7fffffff, which replaces perfctr_control.refresh */
#define PERFCTR_IOC_REFRESH		_IO(PERFCTR_IOC_MAGIC, 0x1c)
#define PERFCTR_IOC_ADD_MEMBER		_IO(PERFCTR_IOC_MAGIC, 0x1d)
#define PERFCTR_IOC_RING		_IO(PERFCTR_IOC_MAGIC, 0x1f)
/* A call on sessions, which are handles that were opened with PERFCTR_OPEN_CPUS */
#define PERFCTR_IOC_READ_CPU		_IO(PERFCTR_IOC_MAGIC, 0x1e)

#endif /* _UAPI_LINUX_PERFCTR_H */
