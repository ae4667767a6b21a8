/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A modelled x86 machine: CPUs with the counter registers of a family of processors, which
 * fault where the processor's do: tables in model_registers.c say which there are. Those who want them reserve them as Linux has it:
 * perf has all registers or none. A driver that writes a register which it did not
 * reserve, or what faults, fails the test. Counters interrupt by the local APIC's LVTPC;
 * what it delivers comes when the test says so. And the kernel's part in RDPMC of user
 * mode: CR4.PCE as the mm has it, and what perf has left in registers zeroed then.
 *
 * After the Software Developer's Manual, volume 3, "Performance Monitoring": of
 * versions 1 to 5 of architectural performance monitoring, of the P6, of the Pentium 4, and of the
 * P5. After AMD's Architecture Programmer's Manual, volume 2: of K7 to Zen 5. And of clones, after the
 * sources that the driver's p5.c, winchip.c and c3.c name.
 */
#ifndef MODEL_MSR_H
#define MODEL_MSR_H

#include <asm/msr-index.h>
#include <asm/processor.h>

#include "model.h"
#include "model_perf_events.h"

#define MODEL_GP	8	/* most general-purpose counters with registers of old */
#define MODEL_P4	18	/* a Pentium 4's counters, */
#define MODEL_ESCRS	0x42	/* and MSRs 3A0h to 3E1h, of which not all are there */
#define MODEL_FIXED	4	/* most fixed ones */
#define MODEL_EXTRAS	3	/* registers that belong to events: off-core, twice, front end */
#define MODEL_MSRS	0x800	/* of these accesses are counted: see model_index() */

/* The driver's names */
#define FIXED(n)	(24 + (n))
#define GP_MASK		0xffffffu

/* Event selects of what a CPU here can count: what the manual calls architectural, ... */
#define EV_CYCLES		0x003cu
#define EV_INSTRUCTIONS		0x00c0u
#define EV_REFERENCE_CYCLES	0x013cu
#define EV_LLC_REFERENCES	0x4f2eu
#define EV_LLC_MISSES		0x412eu
#define EV_BRANCHES		0x00c4u
#define EV_MISPREDICTIONS	0x00c5u
/* ... of Nehalem, ... */
#define EV_ITLB			0x0185u
#define EV_DTLB_READ		0x0108u
#define EV_DTLB_WRITE		0x0149u
/* ... and of the P6 */
#define EV_P6_CYCLES		0x0079u

/* The P5's, without modes, and its clones'; of MMX's on the first counter alone; the C6's; the C3's */
#define EV_P5_INSTRUCTIONS	0x16u
#define EV_P5_BRANCHES		0x12u
#define EV_P5_ITLB		0x0du
#define EV_P5MMX_CYCLES		0x30u
#define EV_MII_ITLB		0x402u
#define EV_C6_CYCLES		0x00u
#define EV_C6_INSTRUCTIONS	0x02u
#define EV_WINCHIP_CYCLES	0x3fu
#define EV_C3_ITERATIONS	0x1c0u
#define CESR_OS			BIT(6)
#define CESR_USR		BIT(7)
#define CESR_CLOCKS		BIT(8)

/* AMD's, the last one of 12 bits. Its model counts the others as well: tests of all processors do. */
#define EV_AMD_CYCLES		0x0076u
#define EV_AMD_BRANCHES		0x00c2u
#define EV_AMD_MISPREDICTIONS	0x00c3u
#define EV_AMD_WIDE		0x1000001d0ull

/*
 * The Pentium 4's, as a control's event and its config: the CCCR's ESCR select, and the block for
 * MAP_ANY; the ESCR's event and event mask. And of the CCCR:
 */
#define P4_CCCR(select)		((u64)(select) << 13)
#define P4_BLOCK(block)		((u64)((block) + 1) << 32)
#define P4_ESCR(event, mask)	((u64)(event) << 25 | (u64)(mask) << 9)
#define CCCR_EXTENDED	BIT(11)
#define CCCR_ENABLE	BIT(12)
#define CCCR_ANY_THREAD	(BIT(16) | BIT(17))
#define CCCR_COMPARE	BIT(18)
#define CCCR_FORCE_OVF	BIT(25)
#define CCCR_OVF_PMI_T0	BIT(26)
#define CCCR_OVF_PMI_T1	BIT(27)
#define CCCR_CASCADE	BIT(30)
#define CCCR_OVF	BIT(31)

/* TopDown's: so many slots in each cycle, and a metric that is a share of them */
#define EV_SLOTS		0x0400u
#define EV_METRIC(n)		(0x8000u + ((n) << 8))
#define MODEL_SLOTS		4

/* What they count is said by a register of their own. */
#define EV_OFFCORE_0		0x01b7u
#define EV_OFFCORE_1		0x01bbu
#define EV_FRONTEND		0x01c6u

#define SEL_USR		BIT(16)
#define SEL_OS		BIT(17)
#define SEL_EDGE	BIT(18)
#define SEL_PC		BIT(19)
#define SEL_INT		BIT(20)
#define SEL_ANY		BIT(21)
#define SEL_EN		BIT(22)
#define SEL_INV		BIT(23)
#define SEL_CMASK(n)	((u64)(n) << 24)

/* For config.c's tests: the first of the counters that count anything */
#define MODEL_ARCH	"x86"
#define FIRST		0
/* Each counter counts the modes that it was asked for. */
#define MODEL_ONE_MODE	0
/* What cannot be, whoever asks; and what turns out not to exist */
#define CTR_NEVER	CTR(ANY, EV_CYCLES | SEL_PC, KERNEL)
#define CTR_NEVER_ERROR	(-EINVAL)
/* Of two that cannot be had since another has all, the one that is blamed */
#define BUSY_INDEX	PERFCTR_NO_INDEX
#define CTR_NONE	CTR(ANY, EV_CYCLES | SEL_ANY, USER)
/* Of the default machine; and an event of which this one has one counter */
#define MODEL_GENERALS	4
#define CTR_ONLY	CTR(FIXED(2), EV_REFERENCE_CYCLES, USER)
#define model_only	model_default

/**
 * struct model_machine - what is built
 * @nr_cpus: CPUs, all online
 * @vendor, @family, @model, @stepping: as Linux has it in boot_cpu_data
 * @leaves: the highest leaf of CPUID
 * @version: of architectural performance monitoring; 0: the P6, if @leaves says so. Of AMD's:
 *	2 has a global control, 1 is all before it
 * @nr, @width: general-purpose counters, and their bits
 * @nr_fixed, @fixed_width: the fixed ones, of which CPUID tells
 * @fixed_untold: not
 * @told: of how many architectural events CPUID tells
 * @lacks: bit map of those that it says are not there
 * @full_width: counters can be written whole, at MSR_IA32_PMC0
 * @metrics: of TopDown; 0: there is no such thing
 * @pt: Intel PT, as far as its interrupt goes
 * @extras: what may be set in the registers of events; 0: there is none
 * @siblings: CPUs are hyperthreads, two of one core, which share those
 * @hypervisor: CPUID tells of one
 * @resets: a counter that is given an event counts cycles instead, unless all were reset before,
 *	as errata AAK100, AAP53 and BD53 have it
 * @tsx_force_abort, @rtm_always_abort: what CPUID tells of transactions
 * @no_tsc, @xenpv, @hybrid, @no_apic, @no_pdcm, @mmx: features
 * @maxlvt: the number of the local APIC's last entry; 0: 6
 * @no_irq_probe: there is no tracepoint in the interrupt
 * @no_probe: cr4_update_pce() cannot be probed
 * @no_endbr: and it does not begin with ENDBR
 * @no_guest_probe: perf_create_mediated_pmu() cannot be probed
 * @no_virt_probe: perf's functions for KVM cannot be probed
 * @amd_core: of AMD: counters since family 15H
 * @amd_ctrs: and so many, which CPUID tells
 * @amd_outside: and counters outside of the cores, which RDPMC reads too
 * @threads: of a Pentium 4: threads of a core, two of which are CPUs n and n + 1
 * @no_perfmon: MSR_IA32_MISC_ENABLE says that there are no counters
 * @core: of a hybrid processor, EAX of CPUID's leaf 1AH
 * @other_cpus: CPUs of another type, as a bit map
 * @other: and what these are: @version to @full_width, and @core
 */
struct model_machine {
	unsigned int nr_cpus;
	u8 vendor, family, model, stepping;
	int leaves;
	unsigned int version;
	unsigned int nr, width;
	unsigned int nr_fixed, fixed_width;
	bool fixed_untold;
	unsigned int told;
	u32 lacks;
	bool full_width;
	unsigned int metrics;
	bool pt;
	u64 extras[MODEL_EXTRAS];
	bool siblings;
	bool hypervisor;
	bool resets;
	bool tsx_force_abort, rtm_always_abort;
	bool no_tsc, xenpv, hybrid, no_apic, no_pdcm, mmx;
	u32 maxlvt;
	bool no_irq_probe;
	bool no_probe, no_endbr;
	bool no_guest_probe;
	bool no_virt_probe;
	bool amd_core;
	u32 amd_ctrs;
	bool amd_outside;
	unsigned int threads;
	bool no_perfmon;
	u32 core;
	u32 other_cpus;
	const struct model_machine *other;
};

extern struct model_machine model;

/*
 * As they were first sold: Pentium III, Core, Core 2, Nehalem, Skylake, Ice Lake. The default
 * is Sandy Bridge.
 */
extern const struct model_machine model_p6, model_v1, model_v2, model_v3, model_v4, model_v5;

/* AMD's: K8, Barcelona, Bulldozer, Zen, and Zen 4 */
extern const struct model_machine model_k7, model_k8, model_10h, model_15h, model_16h, model_zen, model_zen4;

/* The P5, with MMX; Cyrix's MII; Centaur's WinChip C6 and 2; VIA's C3 */
extern const struct model_machine model_p5, model_p5mmx, model_mii, model_c6, model_winchip_2, model_c3;

/* Pentium 4s: Willamette, Northwood, Prescott; and these two with hyperthreads */
extern const struct model_machine model_p4, model_p4m2, model_p4m3, model_p4m2_ht, model_p4m3_ht;

/*
 * The Pentium 4's errata: what is left over of an event carries into the upper half of a counter
 * that is written, unless it was just written; and a counter that is stopped right after its lower
 * half has carried loses that. False as a test begins
 */
extern bool model_carries;

/* A WRMSR of the driver's is no instruction that any counter sees. False as a test begins */
extern bool model_free_writes;

/* Ice Lake's servers, and Sapphire Rapids, with TopDown of one level, and of two */
extern const struct model_machine model_topdown, model_topdown_2;

/*
 * Of how many of 1,000 slots each metric is a part, from now on; of so many slots, that is what
 * they are: the processor cuts off.
 */
extern unsigned int model_mix[PERFCTR_METRICS];
u64 model_part(unsigned int i, u64 slots);

/* What does not exist although CPUID tells of it: an MSR, an operand of RDPMC; ~0: nothing */
extern u32 model_no_msr;
extern u32 model_no_rdpmc;
/* An MSR that takes what is written, and does not keep it */
extern u32 model_drops;
/* An MSR that can be read, and faults if it is written */
extern u32 model_no_write;
/* Bits of the global control that a hypervisor does not know: a write of them is a fault, or lost */
extern u64 model_global_faults, model_global_drops;
/* Counters of each CPU that count nothing, by the driver's numbers */
extern u32 model_stuck[SHIM_CPUS];
/* Counters of each CPU that count both modes, whatever their controls say */
extern u32 model_modeless[SHIM_CPUS];
/* An event that no general-purpose counter counts, as a hypervisor may filter it; ~0: none */
extern u32 model_filtered;
/* An event that only these counters count: on the others it is zero; ~0: none */
extern u32 model_confined, model_confined_to;
/* Bit n: an NMI comes in the n-th loop from now of the driver's trial */
extern u64 model_disturbs;

/* Of the current CPU, by whoever it is. False: #GP, and nothing has changed. */
bool model_wrmsr(u32 msr, u64 value);
bool model_rdmsr(u32 msr, u64 *value);
bool model_rdpmc(u32 counter, u64 *value);
/* What a register of a CPU holds; fails if there is none. */
u64 model_msr(unsigned int cpu, u32 msr);
/* Somebody who does not reserve writes it. */
void model_set_msr(unsigned int cpu, u32 msr, u64 value);

/* The MSR of the ESCR that counter i of a Pentium 4 selects by that CCCR; 0: there is none */
u32 model_escr(unsigned int i, u64 cccr);
/* The registers of general-purpose counter n of this machine, its global control, and status */
u32 model_perfctr(unsigned int n);
u32 model_evntsel(unsigned int n);
u32 model_global_ctrl(void);
u32 model_global_status(void);

static inline bool model_is_p4(void)
{
	return model.vendor == X86_VENDOR_INTEL && model.family == 15;
}

static inline bool model_is_amd(void)
{
	return model.vendor == X86_VENDOR_AMD || model.vendor == X86_VENDOR_HYGON;
}

/* Has it fixed counters? Those that there are do not count before version 2. */
static inline bool model_has_fixed(void)
{
	return model.version >= 2 && !model_is_amd();
}

/* The driver's accesses since model_calls_reset(), by model_index() of the MSR */
extern unsigned int model_writes[SHIM_CPUS][MODEL_MSRS];

/* AMD's begin with C000_0300h and C001_0000h, and no others are in their places here. */
static inline u32 model_index(u32 msr)
{
	if (msr < 0x700)
		return msr;
	return msr >> 16 == 0xc001 ? 0x700 | (msr & 0xf) | (msr & 0x200) >> 4 : 0x7f0 | (msr & 0xf);
}

/* How often counter n of a CPU was given a value */
unsigned int model_sets(unsigned int cpu, unsigned int n);
unsigned int model_all_writes(void);

/* Overflow interrupts that a CPU got */
extern unsigned int model_pmis[SHIM_CPUS];

/* LVTPC, which masks itself as it delivers, but for the P6's */
extern u32 model_lvtpc[SHIM_CPUS];
/* An interrupt of irq_work's vector waits, or an NMI. */
extern bool model_irq_waits[SHIM_CPUS];
extern bool model_nmi_waits[SHIM_CPUS];
/* It comes, or one of somebody else's. */
void model_irq(unsigned int cpu);
/* What the driver's handler says */
int model_nmi(unsigned int cpu);
/* An NMI of somebody else's comes after each WRMSR of the driver. */
extern bool model_nmis_at_once;
/* Is called after each WRMSR of the driver, unless NULL. */
extern void (*model_after_write)(u32 msr);

/* CR4.PCE, and how often the kernel looked at it on the driver's behalf */
extern bool model_pce[SHIM_CPUS];
extern unsigned int model_pce_updates[SHIM_CPUS];
/* The kernel looks at it: another mm came, or one is permitted. It is in shim_current's. */
void model_update_pce(void);
/* Counters that perf left as they were, to be zeroed when one may read them */
extern u32 model_perf_dirty[SHIM_CPUS];

/* perf has an event more, or less: with the first it takes all counters, or fails. */
bool model_perf_reserve(void);
void model_perf_unreserve(void);
/* See model_perf_take_all(). */
bool model_perf_has_all(unsigned int cpu);
/* The CPUs where perf hides its events from RDPMC in user mode */
extern u32 model_perf_hides;

/* If not 0, the driver counts beside perf, and what it wants to hold, perf refuses so. */
extern int model_hold_error;

/* KVM turns virtualization on, or off, on the current CPU of AMD's. */
void model_virt(bool on);

/* KVM makes a guest that has the counters for itself, if perf says 0. */
void model_guest_begins(int err);

/* What measure.c was asked */
extern unsigned int model_measured;

/* Who has reserved a counter's register, and its event select's */
struct model_reservations {
	u8 perfctr[MODEL_P4];
	u8 evntsel[MODEL_P4];
};

extern struct model_reservations model_reserved;

/*
 * What the driver leaves of what it has taken: nothing counts, all is zero, and each
 * counter waits for its own control alone. Of a machine with three fixed counters, or more.
 */
void model_expect_taken(unsigned int cpu);

/* What of a CPU's registers says what it counts */
struct model_control {
	u64 evntsel[MODEL_P4];	/* the Pentium 4's CCCRs */
	u64 escr[MODEL_ESCRS];
	u64 fixed_ctrl;
	u64 global_ctrl;
	u64 extras[MODEL_EXTRAS];
};

struct model_ownership {
	struct model_control cpu[SHIM_CPUS];
	struct model_reservations reserved;
};

#endif /* MODEL_MSR_H */
