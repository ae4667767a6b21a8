// SPDX-License-Identifier: GPL-2.0
/* The modelled machine: see model_msr.h. */
#include <check.h>
#include <stdio.h>

#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/mmu_context.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>
#include <asm/tsc.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/sched/signal.h>

#include "arch/x86/measure.h"
#include "arch/x86/trial.h"
#include "base/hook.h"
#include "x86/model_msr.h"

#define FIXED_OS	1u
#define FIXED_USR	2u
#define FIXED_ANY	4u
#define FIXED_PMI	8u

#define STATUS_TOPA_PMI	BIT(55)
#define STATUS_LBR_FRZ	BIT(58)
#define STATUS_CTR_FRZ	BIT(59)
#define STATUS_ASCI	BIT(60)
#define STATUS_UNCORE	BIT(61)
#define STATUS_OVF_BUF	BIT(62)
#define STATUS_COND_CHG	BIT(63)

#define RDPMC_FIXED	BIT(30)
#define RDPMC_METRICS	BIT(29)

#define SLOTS		3	/* the fixed counter of them */
#define GLOBAL_METRICS	BIT(48)

#define DEBUGCTL_BTF	BIT(1)
#define DEBUGCTL_FREEZE	BIT(12)

#define ALL_EVENTS	7

#define CPUID_AMD_PERFMON	0x80000022u

static struct {
	struct model_control control;
	u64 gp[MODEL_P4];
	u64 fixed[MODEL_FIXED];
	u64 parts[PERFCTR_METRICS];	/* slots of each metric since the last write of metrics */
	u64 metrics;
	u64 status;
	u64 tsc;
	u64 fs_base;
	u64 perf_capabilities;
	u64 rtit_ctl;
	u64 debugctl;
	u64 extras[MODEL_EXTRAS];
	bool stale[MODEL_P4];	/* counts cycles: see struct model_machine's @resets */
	bool resetting, reset;
	u64 pebs[2];
} cpus[SHIM_CPUS];

#define INTEL(m)	.nr_cpus = 2, .vendor = X86_VENDOR_INTEL, .family = 6, .model = (m)

const struct model_machine model_p6 = {
	INTEL(8), .leaves = 3, .nr = 2, .width = 40,
};

const struct model_machine model_v1 = {
	INTEL(14), .leaves = 10, .version = 1, .nr = 2, .width = 40, .told = ALL_EVENTS,
};

const struct model_machine model_v2 = {
	INTEL(15), .leaves = 10, .version = 2, .nr = 2, .width = 40, .nr_fixed = 3,
	.fixed_width = 40, .told = ALL_EVENTS,
};

const struct model_machine model_v3 = {
	INTEL(26), .leaves = 11, .version = 3, .nr = 4, .width = 48, .nr_fixed = 3,
	.fixed_width = 48, .told = ALL_EVENTS, .resets = true,
	.extras = { 0xffff },
};

const struct model_machine model_v4 = {
	INTEL(94), .leaves = 22, .version = 4, .nr = 4, .width = 48, .nr_fixed = 3,
	.fixed_width = 48, .told = ALL_EVENTS, .full_width = true, .pt = true,
	.extras = { 0x3fffff8fff, 0x3fffff8fff, 0x7fff17 },
};

const struct model_machine model_v5 = {
	INTEL(126), .leaves = 27, .version = 5, .nr = 8, .width = 48, .nr_fixed = 4,
	.fixed_width = 48, .told = ALL_EVENTS + 1, .full_width = true, .pt = true,
	.extras = { 0x3fffffbfff, 0x3fffffbfff, 0x7fff17 },
};

#define AMD(f, m, v, nr_ctrs)						\
	.nr_cpus = 2, .vendor = X86_VENDOR_AMD, .family = (f), .model = (m), .leaves = 1,	\
	.version = (v), .nr = (nr_ctrs), .width = 48

const struct model_machine model_k7 = {
	AMD(0x06, 10, 0, 4),
};

const struct model_machine model_k8 = {
	AMD(0x0f, 5, 1, 4),
};

const struct model_machine model_10h = {
	AMD(0x10, 2, 1, 4),
};

const struct model_machine model_15h = {
	AMD(0x15, 2, 1, 6), .amd_core = true, .amd_outside = true,
};

const struct model_machine model_16h = {
	AMD(0x16, 0, 1, 4),
};

const struct model_machine model_zen = {
	AMD(0x17, 1, 1, 6), .amd_core = true,
};

const struct model_machine model_zen4 = {
	AMD(0x19, 0x61, 2, 6), .amd_core = true, .amd_ctrs = 6,
};

/* The P5's local APIC has no LVTPC, and the others have none. */
const struct model_machine model_p5 = {
	.nr_cpus = 2, .vendor = X86_VENDOR_INTEL, .family = 5, .model = 2, .leaves = 1, .nr = 2,
	.width = 40, .maxlvt = 3,
};

const struct model_machine model_p5mmx = {
	.nr_cpus = 2, .vendor = X86_VENDOR_INTEL, .family = 5, .model = 4, .leaves = 1, .nr = 2,
	.width = 40, .maxlvt = 3, .mmx = true,
};

#define CLONE(v, f, m, w)						\
	.nr_cpus = 1, .vendor = X86_VENDOR_##v, .family = (f), .model = (m), .leaves = 1,	\
	.nr = 2, .width = (w), .mmx = true, .no_apic = true

const struct model_machine model_mii = {
	CLONE(CYRIX, 6, 0, 48),
};

/* Linux takes the time-stamp counter away. */
const struct model_machine model_c6 = {
	CLONE(CENTAUR, 5, 4, 40), .no_tsc = true,
};

const struct model_machine model_winchip_2 = {
	CLONE(CENTAUR, 5, 8, 40),
};

const struct model_machine model_c3 = {
	CLONE(CENTAUR, 6, 7, 40),
};

#define P4(m, t)						\
	.nr_cpus = 2, .vendor = X86_VENDOR_INTEL, .family = 15, .model = (m), .leaves = 2,	\
	.nr = MODEL_P4, .width = 40, .threads = (t)

const struct model_machine model_p4 = { P4(1, 1) };
const struct model_machine model_p4m2 = { P4(2, 1) };
const struct model_machine model_p4m3 = { P4(3, 1) };
const struct model_machine model_p4m2_ht = { P4(2, 2) };
const struct model_machine model_p4m3_ht = { P4(4, 2) };

const struct model_machine model_topdown = {
	INTEL(106), .leaves = 27, .version = 5, .nr = 8, .width = 48, .nr_fixed = 4,
	.fixed_width = 48, .told = ALL_EVENTS + 1, .full_width = true, .metrics = 4,
};

const struct model_machine model_topdown_2 = {
	INTEL(143), .leaves = 32, .version = 5, .nr = 8, .width = 48, .nr_fixed = 4,
	.fixed_width = 48, .told = ALL_EVENTS + 1, .full_width = true, .metrics = 8,
};

const struct model_machine model_default = {
	INTEL(42), .leaves = 13, .version = 3, .nr = 4, .width = 48, .nr_fixed = 3,
	.fixed_width = 48, .told = ALL_EVENTS,
};

const struct model_machine model_tight = {
	INTEL(14), .leaves = 10, .version = 1, .nr = 2, .width = 40, .told = ALL_EVENTS,
};

/* Without any counters */
const struct model_machine model_ageless = {
	INTEL(26), .leaves = 10,
};

const struct model_machine model_narrow = {
	INTEL(14), .leaves = 10, .version = 1, .nr = 2, .width = 32, .told = ALL_EVENTS,
};

struct model_machine model;
u32 model_no_msr = ~0u;
u32 model_no_rdpmc = ~0u;
bool model_carries;
bool model_free_writes;
u32 model_drops = ~0u;
u32 model_no_write = ~0u;
u64 model_global_faults, model_global_drops;
u32 model_stuck[SHIM_CPUS];
u32 model_modeless[SHIM_CPUS];
u32 model_filtered = ~0u;
u64 model_disturbs;
unsigned int model_mix[PERFCTR_METRICS] = { 400, 100, 200, 300, 150, 50, 120, 180 };
u32 model_confined = ~0u, model_confined_to;
unsigned int model_writes[SHIM_CPUS][MODEL_MSRS];
static unsigned int reads;
unsigned int model_pmis[SHIM_CPUS];
struct model_reservations model_reserved;
struct cpuinfo_x86 boot_cpu_data;
unsigned int cpu_khz = 2000000;
unsigned int tsc_khz = 1500000;

/* What an event select with that event counts; the last one counts nothing. */
struct event {
	u64 event;
	enum model_kind kind;
};

static const struct event architectural_events[] = {
	{ EV_CYCLES, KIND_CYCLES },
	{ EV_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_REFERENCE_CYCLES, KIND_REFERENCE_CYCLES },
	{ EV_BRANCHES, KIND_BRANCHES },
	{ EV_MISPREDICTIONS, KIND_MISPREDICTIONS },
	{ EV_ITLB, KIND_ITLB },
	{ EV_DTLB_READ, KIND_DTLB_READ },
	{ EV_DTLB_WRITE, KIND_DTLB_WRITE },
	{ 0, KIND_NR },
};

static const struct event p6_events[] = {
	{ EV_P6_CYCLES, KIND_CYCLES },
	{ EV_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_BRANCHES, KIND_BRANCHES },
	{ 0, KIND_NR },
};

static const struct event amd_events[] = {
	{ EV_AMD_CYCLES, KIND_CYCLES },
	{ EV_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_AMD_BRANCHES, KIND_BRANCHES },
	{ EV_AMD_MISPREDICTIONS, KIND_MISPREDICTIONS },
	{ EV_AMD_WIDE, KIND_BRANCHES },
	{ EV_CYCLES, KIND_CYCLES },
	{ EV_BRANCHES, KIND_BRANCHES },
	{ EV_MISPREDICTIONS, KIND_MISPREDICTIONS },
	{ EV_ITLB, KIND_ITLB },
	{ EV_DTLB_READ, KIND_DTLB_READ },
	{ EV_DTLB_WRITE, KIND_DTLB_WRITE },
	{ 0, KIND_NR },
};

static const struct event p5_events[] = {
	{ EV_P5_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_P5_BRANCHES, KIND_BRANCHES },
	{ EV_P5_ITLB, KIND_ITLB },
	{ 0, KIND_NR },
};

/* Of the first counter alone: on the second one 30h is something else, which nobody does here. */
static const struct event p5mmx_events[] = {
	{ EV_P5_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_P5_BRANCHES, KIND_BRANCHES },
	{ EV_P5_ITLB, KIND_ITLB },
	{ EV_P5MMX_CYCLES, KIND_CYCLES },
	{ 0, KIND_NR },
};

static const struct event mii_events[] = {
	{ EV_P5_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_P5_BRANCHES, KIND_BRANCHES },
	{ EV_P5_ITLB, KIND_ITLB },
	{ EV_MII_ITLB, KIND_ITLB },
	{ 0, KIND_NR },
};

static const struct event c6_events[] = {
	{ EV_C6_CYCLES, KIND_CYCLES },
	{ EV_C6_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ 0, KIND_NR },
};

static const struct event winchip_2_events[] = {
	{ EV_P5_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_P5_ITLB, KIND_ITLB },
	{ EV_WINCHIP_CYCLES, KIND_CYCLES },
	{ 0, KIND_NR },
};

/* No string instruction is repeated here. */
static const struct event c3_events[] = {
	{ EV_P6_CYCLES, KIND_CYCLES },
	{ EV_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_C3_ITERATIONS, KIND_INSTRUCTIONS },
	{ 0, KIND_NR },
};

static const enum model_kind fixed_kinds[MODEL_FIXED] = {
	KIND_INSTRUCTIONS, KIND_CYCLES, KIND_REFERENCE_CYCLES, KIND_NR,
};

/* The machine that describes this CPU */
static const struct model_machine *of(unsigned int cpu)
{
	return model.other_cpus & BIT(cpu) ? model.other : &model;
}

/* General-purpose counters that have registers */
static unsigned int nr_gp_of(unsigned int cpu)
{
	return min(of(cpu)->nr, (unsigned int)(model_is_p4() ? MODEL_P4 : MODEL_GP));
}

/* Whose registers a CPU has: hyperthreads of a Pentium 4 have one set of them. */
static unsigned int core_of(unsigned int cpu)
{
	return model_is_p4() && model.threads > 1 ? cpu & ~1u : cpu;
}

/* General-purpose counters that CPUs of all types have */
static unsigned int nr_gp(void)
{
	unsigned int nr = min(model.nr, (unsigned int)(model_is_p4() ? MODEL_P4 : MODEL_GP));

	return model.other ? min(nr, model.other->nr) : nr;
}

static u64 bits(unsigned int nr)
{
	return nr < 64 ? BIT(nr) - 1 : ~0ull;
}

/* As in GLOBAL_CTRL */
static u64 all_counters(unsigned int cpu)
{
	return bits(of(cpu)->nr) | bits(of(cpu)->nr_fixed) << 32 |
	       (of(cpu)->metrics ? GLOBAL_METRICS : 0);
}

/* What can be set there */
static u64 global_bits_of(unsigned int cpu)
{
	return all_counters(cpu) & ~model_global_faults & ~model_global_drops;
}

void model_boot(const struct model_machine *machine)
{
	unsigned int cpu, i;

	model = *machine;
	shim_no_tracepoint = model.no_irq_probe ? "irq_work_entry" : NULL;
	shim_possible = model.nr_cpus;
	shim_online = BIT(model.nr_cpus) - 1;
	boot_cpu_data = (struct cpuinfo_x86) {
		.x86 = model.family,
		.x86_vendor = model.vendor,
		.x86_model = model.model,
		.x86_stepping = model.stepping,
		.cpuid_level = model.leaves,
		.extended_cpuid_level = model.amd_ctrs || (model_is_amd() && model.version >= 2) ?
					CPUID_AMD_PERFMON : 0x80000008,
	};
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		/* No two registers hold the same by chance. */
		for (i = 0; i < MODEL_P4; i++)
			cpus[cpu].gp[i] = 0x10000ull * (i + 1) + 0x100ull * cpu;
		for (i = 0; i < MODEL_FIXED; i++)
			cpus[cpu].fixed[i] = 0x100000ull * (i + 1) + 0x100ull * cpu;
		/* After reset, and as perf leaves it */
		if (model.version >= 2)
			cpus[cpu].control.global_ctrl = cpu % 2 ? global_bits_of(cpu) :
								  bits(of(cpu)->nr);
		/* What does not concern us too: LBR, PEBS, and SMM_FREEZE */
		cpus[cpu].perf_capabilities = 0x10c5 | (of(cpu)->full_width ? BIT(13) : 0) |
					      (of(cpu)->metrics ? BIT(15) : 0);
		model_lvtpc[cpu] = APIC_LVT_MASKED | (0xe0 + cpu);
		cpus[cpu].tsc = 1000000 + cpu;
		cpus[cpu].fs_base = 0x7f0000001000ull + 0x10000ull * cpu;
	}
}

u32 shim_cpuid(u32 leaf, enum shim_cpuid_reg reg)
{
	const struct model_machine *own = of(shim_cpu);

	if (leaf == CPUID_AMD_PERFMON) {
		shim_assert(boot_cpu_data.extended_cpuid_level >= leaf);
		/* Above the number of core counters are those of others. */
		return reg == SHIM_EAX ? model.amd_ctrs != 0 : model.amd_ctrs | 0x4100;
	}
	/* Beyond its last leaf a processor gives that leaf: the driver must not ask. */
	shim_assert(model.leaves >= (int)leaf);
	if (leaf == 0x1a && reg == SHIM_EAX)
		return own->core;
	if (model_is_p4() && leaf == 1) {
		/* Threads of the processor, and this one's number; cores are not told. */
		shim_assert(reg == SHIM_EBX);
		return model.threads << 16 | (model.threads > 1 ? shim_cpu : 2 * shim_cpu) << 24;
	}
	shim_assert(leaf == 10);
	switch (reg) {
	case SHIM_EAX:
		return own->version | own->nr << 8 | own->width << 16 | own->told << 24;
	case SHIM_EBX:
		return own->lacks;
	case SHIM_EDX:
		/* Version 1 does not define it. */
		return own->fixed_untold ? 0 : own->nr_fixed | own->fixed_width << 5;
	case SHIM_ECX:
		/* Nor do those before 5. */
		return own->version >= 5 ? (u32)bits(own->nr_fixed) : 0xffffffff;
	default:
		return 0;
	}
}

/*
 * Registers
 */

enum reg_kind { REG_MISSING, REG_PLAIN, REG_SIGN_EXTENDED, REG_READ_ONLY, REG_CLEARS, REG_SETS };

struct reg {
	enum reg_kind kind;
	u64 valid;	/* the bits that may be set */
	u64 *value;
};

/**
 * struct range - registers of one kind that follow each other
 * @first: the MSR of the first one; the next ones are @stride apart
 * @most: so many at most
 * @from: the number of the first one
 * @is_there: a CPU has that one
 * @valid: what may be set in one of them
 * @value: what it holds
 * @never_right: bits that do not fault everywhere, and that nobody is to set
 */
struct range {
	u32 first;
	u32 stride;
	unsigned int most;
	unsigned int from;
	enum reg_kind kind;
	bool (*is_there)(unsigned int cpu, unsigned int i);
	u64 (*valid)(unsigned int cpu, unsigned int i);
	u64 *(*value)(unsigned int cpu, unsigned int i);
	u64 never_right;
};

/**
 * struct family - what differs from one family of processors to the next
 * @perfctr: the MSR of counter 0, as it is reserved; the next ones are @stride apart
 * @evntsel: the same of the event selects
 * @ranges: all registers; the last has none
 * @events: what is counted
 * @rdpmc: what a counter holds, by the operand of the instruction; NULL: there is none
 * @select: what a counter's control says, as an event select, if it is none; of it
 * @code: is the event
 * @one_enable: the enable bit of the first event select is that of all
 * @lvtpc_masked: as it delivers, it masks itself
 * @pdcm: there is a register of capabilities
 */
struct family {
	u32 perfctr;
	u32 evntsel;
	u32 stride;
	const struct range *ranges;
	const struct event *events;
	const u64 *(*rdpmc)(unsigned int cpu, u32 counter);
	u64 (*select)(unsigned int cpu, unsigned int i);
	u64 code;
	bool one_enable;
	bool lvtpc_masked;
	bool pdcm;
};

/* For arguments of functions that do not depend on the register, or on the CPU */
#define UNUSED(a, b)	((void)(a), (void)(b))

static u64 valid_all(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return ~0ull;
}

static u64 valid_none(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return 0;
}

static bool gp_there(unsigned int cpu, unsigned int i)
{
	return i < nr_gp_of(cpu);
}

static u64 *gp_value(unsigned int cpu, unsigned int i)
{
	return &cpus[core_of(cpu)].gp[i];
}

static u64 *evntsel_value(unsigned int cpu, unsigned int i)
{
	return &cpus[core_of(cpu)].control.evntsel[i];
}

static bool debugctl_there(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return true;
}

static u64 debugctl_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return DEBUGCTL_BTF | (of(cpu)->version >= 2 ? DEBUGCTL_FREEZE : 0);
}

static u64 *debugctl_value(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return &cpus[cpu].debugctl;
}

#define ONE	1, 1, 0			/* stride, most, from */
#define GP	1, MODEL_GP, 0
#define SELS	(SEL_PC | SEL_ANY)	/* a pin of the processor, other threads */

/* The P6: the event select of counter 0 enables both. */

static u64 p6_evntsel_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return 0xffffffff & ~SEL_ANY & ~(i ? SEL_EN : 0);
}

static const u64 *p6_rdpmc(unsigned int cpu, u32 counter)
{
	return counter < nr_gp_of(cpu) ? &cpus[cpu].gp[counter] : NULL;
}

static const struct range p6_ranges[] = {
	{ MSR_P6_PERFCTR0, GP, REG_SIGN_EXTENDED, gp_there, valid_all, gp_value, 0 },
	{ MSR_P6_EVNTSEL0, GP, REG_PLAIN, gp_there, p6_evntsel_valid, evntsel_value, SELS },
	{ MSR_IA32_DEBUGCTLMSR, ONE, REG_PLAIN, debugctl_there, debugctl_valid, debugctl_value, 0 },
	{ .most = 0 },
};

static const struct family p6 = {
	.perfctr = MSR_P6_PERFCTR0, .evntsel = MSR_P6_EVNTSEL0, .stride = 1,
	.ranges = p6_ranges, .events = p6_events, .rdpmc = p6_rdpmc,
	.one_enable = true,
};

/* Architectural performance monitoring */

static u64 arch_evntsel_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	/* AnyThread came with version 3 and went with 5. */
	return 0xffffffff & ~(model.version < 3 || model.version >= 5 ? SEL_ANY : 0);
}

static bool whole_there(unsigned int cpu, unsigned int i)
{
	return i < nr_gp_of(cpu) && of(cpu)->full_width;
}

static u64 whole_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return bits(of(cpu)->width);
}

static bool fixed_there(unsigned int cpu, unsigned int i)
{
	return of(cpu)->version >= 2 && i < of(cpu)->nr_fixed;
}

static u64 fixed_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return bits(of(cpu)->fixed_width);
}

static u64 *fixed_value(unsigned int cpu, unsigned int i)
{
	return &cpus[cpu].fixed[i];
}

static bool v2_there(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return of(cpu)->version >= 2;
}

static bool v4_there(unsigned int cpu, unsigned int i)
{
	return v2_there(cpu, i) && model.version >= 4;
}

static u64 fixed_ctrl_valid(unsigned int cpu, unsigned int unused)
{
	u64 one = FIXED_OS | FIXED_USR | FIXED_PMI, valid = 0;
	unsigned int i;

	(void)unused;
	if (model.version == 3 || model.version == 4)
		one |= FIXED_ANY;
	for (i = 0; i < of(cpu)->nr_fixed; i++)
		valid |= one << 4 * i;
	return valid;
}

static u64 *fixed_ctrl_value(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return &cpus[cpu].control.fixed_ctrl;
}

static u64 global_ctrl_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return all_counters(cpu) & ~model_global_faults;
}

static u64 *global_ctrl_value(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return &cpus[cpu].control.global_ctrl;
}

static u64 status_valid(unsigned int cpu, unsigned int i)
{
	u64 valid = all_counters(cpu) | STATUS_OVF_BUF;

	UNUSED(cpu, i);
	if (model.version >= 3)
		valid |= STATUS_UNCORE;
	if (model.version >= 4)
		valid |= STATUS_TOPA_PMI | STATUS_LBR_FRZ | STATUS_CTR_FRZ | STATUS_ASCI;
	if (model_is_amd())
		valid = all_counters(cpu) | STATUS_LBR_FRZ | STATUS_CTR_FRZ;
	return valid;
}

static u64 ovf_ctrl_valid(unsigned int cpu, unsigned int i)
{
	return status_valid(cpu, i) | STATUS_COND_CHG;
}

static u64 *status_value(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return &cpus[cpu].status;
}

static bool capabilities_there(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return boot_cpu_has(X86_FEATURE_PDCM);
}

static u64 *capabilities_value(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return &cpus[cpu].perf_capabilities;
}

static bool pt_there(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return model.pt;
}

static u64 pt_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return 0xffff;
}

static u64 *pt_value(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return &cpus[cpu].rtit_ctl;
}

static bool extra_there(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return model.extras[i];
}

static u64 extra_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return model.extras[i];
}

/* The core's register: two CPUs are hyperthreads of one core, if @siblings. */
static u64 *extra(unsigned int cpu, unsigned int i)
{
	return &cpus[model.siblings ? cpu & ~1u : cpu].extras[i];
}

static bool metrics_there(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return of(cpu)->metrics;
}

/* Fractions of 8 bits of what SLOTS has, cut off: whoever zeroes one of the two alone sees it. */
static u64 *metrics_value(unsigned int cpu, unsigned int unused)
{
	u64 slots = cpus[cpu].fixed[SLOTS];
	unsigned int i;

	(void)unused;
	cpus[cpu].metrics = 0;
	for (i = 0; i < of(cpu)->metrics && slots; i++)
		cpus[cpu].metrics |= min(cpus[cpu].parts[i] * 255 / slots, 255ull) << 8 * i;
	return &cpus[cpu].metrics;
}

u64 model_part(unsigned int i, u64 slots)
{
	u64 said = 0;

	if (i != 3)
		return slots * model_mix[i] / 1000;
	/* What is not said goes to the last of level 1. */
	for (i = 0; i < 3; i++)
		said += slots * model_mix[i] / 1000;
	return slots - said;
}

static const u64 *arch_rdpmc(unsigned int cpu, u32 counter)
{
	u32 fixed = counter - RDPMC_FIXED;

	if (counter == RDPMC_METRICS && of(cpu)->metrics)
		return metrics_value(cpu, 0);
	if (counter < nr_gp_of(cpu))
		return &cpus[cpu].gp[counter];
	return model.version >= 2 && fixed < of(cpu)->nr_fixed ? &cpus[cpu].fixed[fixed] : NULL;
}

static const struct range arch_ranges[] = {
	{ MSR_ARCH_PERFMON_PERFCTR0, GP, REG_SIGN_EXTENDED, gp_there, valid_all, gp_value, 0 },
	{ MSR_ARCH_PERFMON_EVENTSEL0, GP, REG_PLAIN, gp_there, arch_evntsel_valid,
	  evntsel_value, SELS },
	{ MSR_IA32_PMC0, GP, REG_PLAIN, whole_there, whole_valid, gp_value, 0 },
	{ MSR_CORE_PERF_FIXED_CTR0, 1, MODEL_FIXED, 0, REG_PLAIN, fixed_there, fixed_valid,
	  fixed_value, 0 },
	{ MSR_CORE_PERF_FIXED_CTR_CTRL, ONE, REG_PLAIN, v2_there, fixed_ctrl_valid,
	  fixed_ctrl_value, 0x4444 },
	{ MSR_PERF_METRICS, ONE, REG_PLAIN, metrics_there, valid_all, metrics_value, ~0ull },
	{ MSR_CORE_PERF_GLOBAL_CTRL, ONE, REG_PLAIN, v2_there, global_ctrl_valid,
	  global_ctrl_value, 0 },
	{ MSR_CORE_PERF_GLOBAL_STATUS, ONE, REG_READ_ONLY, v2_there, valid_none, status_value, 0 },
	{ MSR_CORE_PERF_GLOBAL_OVF_CTRL, ONE, REG_CLEARS, v2_there, ovf_ctrl_valid,
	  status_value, 0 },
	{ MSR_CORE_PERF_GLOBAL_STATUS_SET, ONE, REG_SETS, v4_there, status_valid,
	  status_value, 0 },
	{ MSR_OFFCORE_RSP_0, 1, 2, 0, REG_PLAIN, extra_there, extra_valid, extra, 0 },
	{ MSR_PEBS_FRONTEND, 1, 1, 2, REG_PLAIN, extra_there, extra_valid, extra, 0 },
	{ MSR_IA32_PERF_CAPABILITIES, ONE, REG_READ_ONLY, capabilities_there, valid_none,
	  capabilities_value, 0 },
	{ MSR_IA32_RTIT_CTL, ONE, REG_PLAIN, pt_there, pt_valid, pt_value, 0 },
	{ MSR_IA32_DEBUGCTLMSR, ONE, REG_PLAIN, debugctl_there, debugctl_valid, debugctl_value, 0 },
	{ .most = 0 },
};

static const struct family architectural = {
	.perfctr = MSR_ARCH_PERFMON_PERFCTR0, .evntsel = MSR_ARCH_PERFMON_EVENTSEL0, .stride = 1,
	.ranges = arch_ranges, .events = architectural_events, .rdpmc = arch_rdpmc,
	.lvtpc_masked = true, .pdcm = true,
};

/* AMD's */

#define AMD_EVENT_HIGH	(0xfull << 32)
#define AMD_HOST_GUEST	(3ull << 40)
#define AMD_NEVER	(SELS | AMD_HOST_GUEST)

/* What a select has beyond bit 31 came with family 10h. */
static u64 amd_evntsel_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return (0xffffffff & ~SEL_ANY) | (model.family < 0x10 ? 0 : AMD_EVENT_HIGH | AMD_HOST_GUEST);
}

static u64 amd_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return bits(of(cpu)->width);
}

static const u64 *amd_rdpmc(unsigned int cpu, u32 counter)
{
	static const u64 outside = 123456789;

	/* Whatever the next numbers read, it is not the core's. */
	if (counter >= 6)
		return model.amd_outside && counter < 16 ? &outside : NULL;
	return p6_rdpmc(cpu, counter);
}

#define K7	1, 4, 0
#define CORE	2, 6, 0

static const struct range k7_ranges[] = {
	{ MSR_K7_PERFCTR0, K7, REG_PLAIN, gp_there, amd_valid, gp_value, 0 },
	{ MSR_K7_EVNTSEL0, K7, REG_PLAIN, gp_there, amd_evntsel_valid, evntsel_value, AMD_NEVER },
	{ MSR_IA32_DEBUGCTLMSR, ONE, REG_PLAIN, debugctl_there, debugctl_valid, debugctl_value, 0 },
	{ .most = 0 },
};

/* The four of old are other names of the first ones, and who reserves these does not write them. */
static const struct range core_ranges[] = {
	{ MSR_F15H_PERF_CTR, CORE, REG_PLAIN, gp_there, amd_valid, gp_value, 0 },
	{ MSR_F15H_PERF_CTL, CORE, REG_PLAIN, gp_there, amd_evntsel_valid, evntsel_value,
	  AMD_NEVER },
	{ MSR_AMD64_PERF_CNTR_GLOBAL_CTL, ONE, REG_PLAIN, v2_there, global_ctrl_valid,
	  global_ctrl_value, 0 },
	{ MSR_AMD64_PERF_CNTR_GLOBAL_STATUS, ONE, REG_READ_ONLY, v2_there, valid_none,
	  status_value, 0 },
	{ MSR_AMD64_PERF_CNTR_GLOBAL_STATUS_CLR, ONE, REG_CLEARS, v2_there, status_valid,
	  status_value, 0 },
	{ MSR_IA32_DEBUGCTLMSR, ONE, REG_PLAIN, debugctl_there, debugctl_valid, debugctl_value, 0 },
	{ .most = 0 },
};

static const struct family k7 = {
	.perfctr = MSR_K7_PERFCTR0, .evntsel = MSR_K7_EVNTSEL0, .stride = 1,
	.ranges = k7_ranges, .events = amd_events, .rdpmc = amd_rdpmc,
};

static const struct family core = {
	.perfctr = MSR_F15H_PERF_CTR, .evntsel = MSR_F15H_PERF_CTL, .stride = 2,
	.ranges = core_ranges, .events = amd_events, .rdpmc = amd_rdpmc,
};

/*
 * The P5 and its clones. Both counters' controls are the halves of CESR, which is here the first
 * event select. What is reserved faults.
 */

#define MSR_CESR	0x11
#define MSR_CTR0	0x12
#define CESR_PINS	(BIT(9) | BIT(25))
#define P5_CODE		0x43f

static u64 both_halves(u64 half)
{
	return half | half << 16;
}

static bool cesr_there(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return true;
}

static u64 p5_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return both_halves(0x3ff);
}

static u64 mii_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return both_halves(0x7ff);
}

static u64 winchip_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return both_halves(0xff);
}

static u64 half(unsigned int cpu, unsigned int i)
{
	return cpus[cpu].control.evntsel[0] >> 16 * i & 0xffff;
}

/* Clocks in which there is an event: each instruction takes one here, as each branch does. */
static u64 p5_select(unsigned int cpu, unsigned int i)
{
	u64 value = half(cpu, i);

	return (value & P5_CODE) | (value & CESR_OS ? SEL_OS : 0) | (value & CESR_USR ? SEL_USR : 0) |
	       SEL_EN;
}

static u64 winchip_select(unsigned int cpu, unsigned int i)
{
	return half(cpu, i) | SEL_OS | SEL_USR | SEL_EN;
}

static const u64 *no_rdpmc(unsigned int cpu, u32 counter)
{
	UNUSED(cpu, counter);
	return NULL;
}

#define P5	1, 2, 0

static const struct range p5_ranges[] = {
	{ MSR_CTR0, P5, REG_PLAIN, gp_there, amd_valid, gp_value, 0 },
	{ MSR_CESR, ONE, REG_PLAIN, cesr_there, p5_valid, evntsel_value, CESR_PINS },
	{ .most = 0 },
};

static const struct range mii_ranges[] = {
	{ MSR_CTR0, P5, REG_PLAIN, gp_there, amd_valid, gp_value, 0 },
	{ MSR_CESR, ONE, REG_PLAIN, cesr_there, mii_valid, evntsel_value, CESR_PINS },
	{ .most = 0 },
};

static const struct range winchip_ranges[] = {
	{ MSR_CTR0, P5, REG_PLAIN, gp_there, amd_valid, gp_value, 0 },
	{ MSR_CESR, ONE, REG_PLAIN, cesr_there, winchip_valid, evntsel_value, 0 },
	{ .most = 0 },
};

#define CESR	.perfctr = MSR_CTR0, .evntsel = MSR_CESR, .stride = 1

static const struct family p5 = {
	CESR, .ranges = p5_ranges, .events = p5_events, .rdpmc = no_rdpmc, .select = p5_select,
	.code = P5_CODE,
};

static const struct family p5mmx = {
	CESR, .ranges = p5_ranges, .events = p5mmx_events, .rdpmc = p6_rdpmc, .select = p5_select,
	.code = P5_CODE,
};

static const struct family mii = {
	CESR, .ranges = mii_ranges, .events = mii_events, .rdpmc = p6_rdpmc, .select = p5_select,
	.code = P5_CODE,
};

static const struct family c6 = {
	CESR, .ranges = winchip_ranges, .events = c6_events, .rdpmc = p6_rdpmc,
	.select = winchip_select, .code = 0xff,
};

static const struct family winchip_2 = {
	CESR, .ranges = winchip_ranges, .events = winchip_2_events, .rdpmc = p6_rdpmc,
	.select = winchip_select, .code = 0xff,
};

/* The C3: what the first counter's registers are nobody may write. */

static bool second_there(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return i == 1;
}

static bool first_there(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return i == 0;
}

static u64 c3_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return 0x1ff;
}

static u64 *tsc_value(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return &cpus[cpu].tsc;
}

static const u64 *c3_rdpmc(unsigned int cpu, u32 counter)
{
	return counter ? p6_rdpmc(cpu, counter) : &cpus[cpu].tsc;
}

static u64 c3_select(unsigned int cpu, unsigned int i)
{
	return i == 1 ? cpus[cpu].control.evntsel[1] | SEL_OS | SEL_USR | SEL_EN : 0;
}

static const struct range c3_ranges[] = {
	{ MSR_P6_PERFCTR0, ONE, REG_READ_ONLY, first_there, valid_none, tsc_value, 0 },
	{ MSR_P6_EVNTSEL0, ONE, REG_READ_ONLY, first_there, valid_none, evntsel_value, 0 },
	{ MSR_P6_PERFCTR0 + 1, 1, 1, 1, REG_PLAIN, second_there, amd_valid, gp_value, 0 },
	{ MSR_P6_EVNTSEL0 + 1, 1, 1, 1, REG_PLAIN, second_there, c3_valid, evntsel_value, 0 },
	{ .most = 0 },
};

static const struct family c3 = {
	.perfctr = MSR_P6_PERFCTR0, .evntsel = MSR_P6_EVNTSEL0, .stride = 1,
	.ranges = c3_ranges, .events = c3_events, .rdpmc = c3_rdpmc, .select = c3_select,
	.code = 0x1ff,
};

static const struct family *old_family(void)
{
	if (model.vendor == X86_VENDOR_CYRIX)
		return &mii;
	/* VIA's later ones have architectural performance monitoring. */
	if (model.vendor == X86_VENDOR_CENTAUR && model.family == 6)
		return model.version ? NULL : &c3;
	if (model.vendor == X86_VENDOR_CENTAUR)
		return model.model == 4 ? &c6 : &winchip_2;
	if (model.vendor == X86_VENDOR_INTEL && model.family == 5)
		return model.mmx ? &p5mmx : &p5;
	return NULL;
}

/* The Pentium 4's */

#define ESCR_T1	3ull		/* thread 1's modes, which are never right here */
#define ESCR_T0_USR	BIT(2)
#define ESCR_T0_OS	BIT(3)

static const u8 p4_escrs[][2] = {	/* the first one's place, and the last one's */
	{ 0x00, 0x1e }, { 0x20, 0x25 }, { 0x28, 0x2d }, { 0x40, 0x41 },
};

static u64 p4_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return bits(40);
}

/* Of the IQ's counters 0, and 3 to 5, one that waits for another one of 4 and 5 */
static bool p4_can_extend(unsigned int i)
{
	return model.model >= 2 && (i == 12 || i >= 15);
}

static u64 p4_cccr_valid(unsigned int cpu, unsigned int i)
{
	(void)cpu;
	return 0xc7fff000 | (p4_can_extend(i) ? CCCR_EXTENDED : 0) |
	       (model.threads > 1 ? CCCR_OVF_PMI_T1 : 0);
}

static bool p4_escr_there(unsigned int cpu, unsigned int i)
{
	unsigned int k;

	(void)cpu;
	if ((i == 0x1a || i == 0x1b) && model.model > 2)
		return false;
	for (k = 0; k < sizeof(p4_escrs) / sizeof(p4_escrs[0]); k++)
		if (i >= p4_escrs[k][0] && i <= p4_escrs[k][1])
			return true;
	return false;
}

static u64 p4_escr_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return 0x7ffffffc | (model.threads > 1 ? ESCR_T1 : 0);
}

static u64 *p4_escr_value(unsigned int cpu, unsigned int i)
{
	return &cpus[core_of(cpu)].control.escr[i];
}

static bool p4_there(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return true;
}

static u64 p4_pebs_valid(unsigned int cpu, unsigned int i)
{
	(void)cpu;
	return i ? 0x1fff : 0x7001fff;
}

static u64 *p4_pebs_value(unsigned int cpu, unsigned int i)
{
	return &cpus[core_of(cpu)].pebs[i];
}

static u64 *p4_misc_value(unsigned int cpu, unsigned int i)
{
	static u64 misc;

	UNUSED(cpu, i);
	misc = model.no_perfmon ? 1 : 0x81;
	return &misc;
}

/* Bit 31 is the quick read, of 32 bits: the driver never uses it. */
static const u64 *p4_rdpmc(unsigned int cpu, u32 counter)
{
	return counter < nr_gp_of(cpu) ? gp_value(cpu, counter) : NULL;
}

/* OVF is cleared and not set; T1's interrupts are nobody's. */
static const struct range p4_ranges[] = {
	{ MSR_IA32_MISC_ENABLE, ONE, REG_READ_ONLY, p4_there, valid_none, p4_misc_value, 0 },
	{ 0x300, 1, MODEL_P4, 0, REG_PLAIN, gp_there, p4_valid, gp_value, 0 },
	{ 0x360, 1, MODEL_P4, 0, REG_PLAIN, gp_there, p4_cccr_valid, evntsel_value,
	  CCCR_OVF_PMI_T1 | CCCR_OVF },
	{ 0x3a0, 1, MODEL_ESCRS, 0, REG_PLAIN, p4_escr_there, p4_escr_valid, p4_escr_value,
	  ESCR_T1 },
	{ 0x3f1, 1, 2, 0, REG_PLAIN, p4_there, p4_pebs_valid, p4_pebs_value, 0 },
	{ .most = 0 },
};

static const struct family p4_family = {
	.perfctr = 0x300, .evntsel = 0x360, .stride = 1,
	.ranges = p4_ranges, .rdpmc = p4_rdpmc,
	.lvtpc_masked = true,
};

/* The place of the ESCR that a counter selects; of events of the model alone */
static const struct p4_event {
	u32 block, select;
	u64 escr;
	enum model_kind kind;
} p4_events[] = {
	{ 0, 6, P4_ESCR(0x13, 1), KIND_CYCLES },
	{ 1, 2, P4_ESCR(0x04, 0x1e), KIND_BRANCHES },
	{ 2, 5, P4_ESCR(0x05, 1), KIND_STORES },
	{ 3, 4, P4_ESCR(0x02, 1), KIND_INSTRUCTIONS },
	{ 3, 5, P4_ESCR(0x06, 0xf), KIND_BRANCHES },
	{ 3, 5, P4_ESCR(0x06, 0xa), KIND_MISPREDICTIONS },
	{ 3, 5, P4_ESCR(0x09, 1), KIND_DTLB_READ },
};

/* MSRs of the ESCRs: of each block those of the first half, by what selects them */
static const u16 p4_select[4][8] = {
	{ 0x3b2, 0x3b4, 0x3aa, 0x3b6, 0x3ac, 0x3c8, 0x3a2, 0x3a0 },
	{ 0x3c0, 0x3c4, 0x3c2, 0, 0, 0, 0, 0 },
	{ 0x3a6, 0x3a4, 0x3ae, 0x3b0, 0, 0x3a8, 0, 0 },
	{ 0x3ba, 0x3ca, 0x3bc, 0x3be, 0x3b8, 0x3cc, 0x3e0, 0 },
};

static unsigned int p4_block(unsigned int i)
{
	return i < 12 ? i / 4 : 3;
}

static bool p4_second_half(unsigned int i)
{
	return i < 16 ? i & 2 : i & 1;
}

u32 model_escr(unsigned int i, u64 cccr)
{
	u32 first = p4_select[p4_block(i)][cccr >> 13 & 7];

	/* SSU_ESCR0 has no second one. */
	if (!first || (first == 0x3be && p4_second_half(i)))
		return 0;
	return first + p4_second_half(i);
}

static enum model_kind p4_kind(unsigned int block, u64 cccr, u64 escr, const u64 *pebs)
{
	unsigned int k;

	if (cccr & CCCR_COMPARE)
		return KIND_NR;
	for (k = 0; k < sizeof(p4_events) / sizeof(p4_events[0]); k++) {
		const struct p4_event *event = &p4_events[k];

		if (event->block != block || event->select != (cccr >> 13 & 7) ||
		    event->escr != (escr & 0x7ffffe00))
			continue;
		/* Replays are counted where their cause is tagged: here, misses of the TLB by loads. */
		if (event->kind == KIND_DTLB_READ && (pebs[0] != 0x1000004 || pebs[1] != 1))
			return KIND_NR;
		return event->kind;
	}
	return KIND_NR;
}

static const struct family *family(void)
{
	if (old_family())
		return old_family();
	if (model_is_p4())
		return &p4_family;
	if (model_is_amd())
		return model.amd_core ? &core : &k7;
	return model.version ? &architectural : &p6;
}

u32 model_perfctr(unsigned int n)
{
	return family()->perfctr + n * family()->stride;
}

u32 model_evntsel(unsigned int n)
{
	return family()->evntsel + n * family()->stride;
}

u32 model_global_ctrl(void)
{
	return model_is_amd() ? MSR_AMD64_PERF_CNTR_GLOBAL_CTL : MSR_CORE_PERF_GLOBAL_CTRL;
}

u32 model_global_status(void)
{
	return model_is_amd() ? MSR_AMD64_PERF_CNTR_GLOBAL_STATUS : MSR_CORE_PERF_GLOBAL_STATUS;
}

bool boot_cpu_has(unsigned int feature)
{
	switch (feature) {
	case X86_FEATURE_TSC:
		return !model.no_tsc;
	case X86_FEATURE_XENPV:
		return model.xenpv;
	case X86_FEATURE_HYBRID_CPU:
		return model.hybrid;
	case X86_FEATURE_APIC:
		return !model.no_apic;
	case X86_FEATURE_INTEL_PT:
		return model.pt;
	case X86_FEATURE_PDCM:
		return family()->pdcm && !model.no_pdcm;
	case X86_FEATURE_HT:
		return model.threads > 1;
	case X86_FEATURE_PERFCTR_CORE:
		return model.amd_core;
	case X86_FEATURE_PERFMON_V2:
		return model_is_amd() && model.version >= 2;
	case X86_FEATURE_PERFCTR_NB:
	case X86_FEATURE_PERFCTR_LLC:
		return model.amd_outside;
	case X86_FEATURE_MMX:
		return model.mmx;
	case X86_FEATURE_HYPERVISOR:
		return model.hypervisor;
	case X86_FEATURE_TSX_FORCE_ABORT:
		return model.tsx_force_abort;
	case X86_FEATURE_RTM_ALWAYS_ABORT:
		return model.rtm_always_abort;
	default:
		ck_abort_msg("no feature %u", feature);
		return false;
	}
}

bool cpu_smt_possible(void)
{
	return model.siblings;
}

/* The number of the MSR among those that begin at @first, or ~0 */
static u32 index_of(u32 msr, u32 first, u32 stride)
{
	u32 distance = msr - first;

	return distance % stride ? ~0u : distance / stride;
}

/* The bit of the counter's own event select that lets it count */
static u64 enable_of(unsigned int i)
{
	return family()->one_enable && i ? 0 : SEL_EN;
}

/* NULL if there is no such register */
static const struct range *find_range(unsigned int cpu, u32 msr, u32 *i)
{
	const struct range *range;

	for (range = family()->ranges; range->most; range++) {
		*i = index_of(msr, range->first, range->stride);
		if (*i >= range->most)
			continue;
		*i += range->from;
		return range->is_there(cpu, *i) ? range : NULL;
	}
	return NULL;
}

static struct reg find(unsigned int cpu, u32 msr)
{
	struct reg missing = { .kind = REG_MISSING };
	const struct range *range;
	u32 i;

	if (msr == MSR_FS_BASE)
		return (struct reg) { REG_PLAIN, ~0ull, &cpus[cpu].fs_base };
	range = find_range(cpu, msr, &i);
	if (msr == model_no_msr || !range)
		return missing;
	return (struct reg) { range->kind, range->valid(cpu, i), range->value(cpu, i) };
}

/* All counters are at zero, and have the three events that the errata name. */
static bool has_reset_events(unsigned int cpu)
{
	static const u64 events[] = { 0x4300b5, 0x4300d2, 0x4300b1 };
	unsigned int i, k;
	u32 found = 0;

	for (i = 0; i < nr_gp_of(cpu); i++) {
		for (k = 0; k < 3 && cpus[cpu].control.evntsel[i] != events[k]; k++)
			;
		if (k == 3 || cpus[cpu].gp[i])
			return false;
		found |= (u32)BIT(k);
	}
	return found == 7;
}

/* With these events they run, and stand again. That lasts until a thread runs. */
static void watch_reset(u32 msr, u64 value)
{
	u32 i = index_of(msr, MSR_ARCH_PERFMON_EVENTSEL0, 1);

	if (msr == MSR_CORE_PERF_GLOBAL_CTRL) {
		if (!value && cpus[shim_cpu].resetting)
			cpus[shim_cpu].reset = true;
		cpus[shim_cpu].resetting = (value & 0xf) == 0xf && has_reset_events(shim_cpu);
	} else if (i < nr_gp_of(shim_cpu)) {
		cpus[shim_cpu].stale[i] = value & SEL_EN && !cpus[shim_cpu].reset;
	}
}

/* Of each CPU's counters: the last increase has carried. And what was written last */
static u32 p4_carried[SHIM_CPUS], p4_written;

static u64 p4_carry(u32 msr, u64 value)
{
	u64 *gp = cpus[shim_cpu].gp;
	u32 last = p4_written, i = msr - 0x360;

	p4_written = msr;
	if (msr - 0x300 < MODEL_P4 && last != msr)
		return (value + BIT(32)) & bits(40);
	if (i < MODEL_P4 && p4_carried[shim_cpu] & BIT(i) && !(value & CCCR_ENABLE) &&
	    cpus[shim_cpu].control.evntsel[i] & CCCR_ENABLE)
		gp[i] = (gp[i] - BIT(32)) & bits(40);
	return value;
}

bool model_wrmsr(u32 msr, u64 value)
{
	struct reg reg = find(shim_cpu, msr);

	if (reg.kind == REG_MISSING || reg.kind == REG_READ_ONLY || value & ~reg.valid ||
	    msr == model_no_write)
		return false;
	if (msr == model_drops)
		return true;
	if (msr == model_global_ctrl())
		value &= ~model_global_drops;
	if (model_carries)
		value = p4_carry(msr, value);
	switch (reg.kind) {
	case REG_SIGN_EXTENDED:
		*reg.value = (u64)(s64)(s32)value & bits(of(shim_cpu)->width);
		break;
	case REG_CLEARS:
		*reg.value &= ~value;
		break;
	case REG_SETS:
		*reg.value |= value;
		break;
	default:
		*reg.value = value;
		if (msr == MSR_PERF_METRICS)
			memset(cpus[shim_cpu].parts, 0, sizeof(cpus[shim_cpu].parts));
	}
	if (model.resets)
		watch_reset(msr, value);
	return true;
}

bool model_rdmsr(u32 msr, u64 *value)
{
	struct reg reg = find(shim_cpu, msr);

	if (reg.kind == REG_MISSING)
		return false;
	*value = reg.kind == REG_CLEARS || reg.kind == REG_SETS ? 0 : *reg.value;
	return true;
}

bool model_rdpmc(u32 counter, u64 *value)
{
	const u64 *ctr = counter == model_no_rdpmc ? NULL : family()->rdpmc(shim_cpu, counter);

	if (ctr)
		*value = *ctr;
	return ctr;
}

u64 model_msr(unsigned int cpu, u32 msr)
{
	struct reg reg = find(cpu, msr);

	ck_assert_msg(reg.kind != REG_MISSING, "there is no MSR %#x", msr);
	return *reg.value;
}

void model_set_msr(unsigned int cpu, u32 msr, u64 value)
{
	struct reg reg = find(cpu, msr);

	ck_assert_msg(reg.kind != REG_MISSING, "there is no MSR %#x", msr);
	*reg.value = value;
}

/*
 * The driver's accesses
 */

/* A counter's two registers are reserved one by one. Other MSRs need the reservation of all. */
static bool is_reserved(u32 msr)
{
	/* One covers all. */
	if (family()->select)
		return model_reserved.perfctr[0] == MODEL_DRIVER &&
		       model_reserved.evntsel[0] == MODEL_DRIVER;

	u32 ctr = index_of(msr, family()->perfctr, family()->stride);
	u32 sel = index_of(msr, family()->evntsel, family()->stride);
	unsigned int i;

	/* Nobody else reserves what only CPUs of one type have. */
	if (ctr < nr_gp())
		return model_reserved.perfctr[ctr] == MODEL_DRIVER;
	if (!model_is_p4() && sel < MODEL_GP)
		return model_reserved.evntsel[sel] == MODEL_DRIVER;
	for (i = 0; i < nr_gp(); i++)
		if (model_reserved.perfctr[i] != MODEL_DRIVER ||
		    (!model_is_p4() && model_reserved.evntsel[i] != MODEL_DRIVER))
			return false;
	return true;
}

static bool is_never_right(u32 msr, u64 value)
{
	u32 i;
	const struct range *range = find_range(shim_cpu, msr, &i);

	return range && value & range->never_right;
}

bool shim_wrmsr_safe(u32 msr, u64 value)
{
	lockdep_assert_irqs_disabled();
	ck_assert_msg(is_reserved(msr), "CPU %u: WRMSR of %#x, which the driver has not reserved",
		      shim_cpu, msr);
	/* What counts before the write, or after it, counts the write's own instructions too. */
	if (!model_free_writes)
		model_execute(MODEL_KERNEL, 2);
	if (is_never_right(msr, value) || !model_wrmsr(msr, value))
		return false;
	model_writes[shim_cpu][model_index(msr)]++;
	if (!model_free_writes)
		model_execute(MODEL_KERNEL, 1);
	if (model_nmis_at_once)
		ck_assert_int_eq(model_nmi(shim_cpu), NMI_DONE);
	return true;
}

void shim_wrmsr(u32 msr, u64 value)
{
	ck_assert_msg(shim_wrmsr_safe(msr, value), "CPU %u: WRMSR of %#llx to %#x: #GP", shim_cpu,
		      value, msr);
}

bool shim_rdmsr_safe(u32 msr, u64 *value)
{
	reads += msr != MSR_FS_BASE;
	return model_rdmsr(msr, value);
}

u64 shim_rdmsr(u32 msr)
{
	u64 value = 0;

	ck_assert_msg(shim_rdmsr_safe(msr, &value), "CPU %u: RDMSR of %#x: #GP", shim_cpu, msr);
	return value;
}

u64 shim_rdtsc(void)
{
	return cpus[shim_cpu].tsc;
}

unsigned int model_sets(unsigned int cpu, unsigned int n)
{
	unsigned int sets = model_writes[cpu][model_index(model_perfctr(n))];

	return model_is_amd() ? sets : sets + model_writes[cpu][MSR_IA32_PMC0 + n];
}

unsigned int model_all_writes(void)
{
	unsigned int cpu, msr, all = 0;

	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		for (msr = 0; msr < MODEL_MSRS; msr++)
			all += model_writes[cpu][msr];
	return all;
}

unsigned int model_all_calls(void)
{
	return model_all_writes() + reads;
}

void model_calls_reset(void)
{
	memset(model_writes, 0, sizeof(model_writes));
	reads = 0;
}

/*
 * Counting. Edge detection, inversion and counter masks are not modelled: such an event
 * counts nothing. Tests look at the register.
 */

/*
 * The kind of an off-core response is made up: bit 0 of the register stands for branches, bit
 * 1 for mispredictions. The register decides together with the event select.
 */
static enum model_kind kind_by(u64 extra)
{
	if (extra == 1)
		return KIND_BRANCHES;
	return extra == 2 ? KIND_MISPREDICTIONS : KIND_NR;
}

static enum model_kind kind_of(u64 evntsel, const u64 *extras)
{
	const struct event *event;
	u64 code = evntsel & (0xffff | AMD_EVENT_HIGH);

	if (code == model_filtered)
		return KIND_NR;
	if (model.extras[0] && code == EV_OFFCORE_0)
		return kind_by(extras[0]);
	if (model.extras[1] && code == EV_OFFCORE_1)
		return kind_by(extras[1]);
	if (evntsel & (SEL_EDGE | SEL_INV | SEL_CMASK(0xff)))
		return KIND_NR;
	for (event = family()->events; event->kind != KIND_NR; event++)
		if (event->event == code)
			return event->kind;
	return KIND_NR;
}

static void interrupt(void)
{
	model_pmis[shim_cpu]++;
	if (model.version >= 2 && cpus[shim_cpu].debugctl & DEBUGCTL_FREEZE) {
		if (model.version >= 4 || model_is_amd())
			cpus[shim_cpu].status |= STATUS_CTR_FRZ;
		else
			cpus[shim_cpu].control.global_ctrl = 0;
	}
	if (model_lvtpc[shim_cpu] & APIC_LVT_MASKED)
		return;
	if (model_lvtpc[shim_cpu] == APIC_DM_NMI) {
		model_nmi_waits[shim_cpu] = true;
	} else {
		shim_assert(model_lvtpc[shim_cpu] == IRQ_WORK_VECTOR);
		model_irq_waits[shim_cpu] = true;
	}
	if (family()->lvtpc_masked)
		model_lvtpc[shim_cpu] |= APIC_LVT_MASKED;
}

static void advance(u64 *value, unsigned int width, unsigned int bit, bool interrupts, u64 nr)
{
	u64 limit = bits(width);

	if (nr > limit - *value) {
		if (model.version >= 2)
			cpus[shim_cpu].status |= BIT(bit);
		if (interrupts)
			interrupt();
	}
	*value = (*value + nr) & limit;
}

/* What a general-purpose counter's control says */
static u64 select_of(unsigned int i)
{
	return family()->select ? family()->select(shim_cpu, i) :
				  cpus[shim_cpu].control.evntsel[i];
}

/* What a general-purpose counter counts */
static enum model_kind kind_on(unsigned int i)
{
	u64 evntsel = select_of(i);

	if (family() == &p5mmx && i && (evntsel & 0x3f) == EV_P5MMX_CYCLES)
		return KIND_NR;
	if (cpus[shim_cpu].stale[i])
		return KIND_CYCLES;
	if ((evntsel & 0xffff) == model_confined && !(model_confined_to & BIT(i)))
		return KIND_NR;
	return kind_of(evntsel, extra(shim_cpu, 0));
}

static bool counts_in(unsigned int hw, bool mode)
{
	if (model_stuck[shim_cpu] & BIT(hw))
		return false;
	return mode || model_modeless[shim_cpu] & BIT(hw);
}

static void p4_advance(unsigned int i, u64 nr)
{
	u64 *cccr = cpus[shim_cpu].control.evntsel, limit = bits(40);
	u64 *value = &cpus[shim_cpu].gp[i];
	bool overflows = nr && (nr > limit - *value || cccr[i] & CCCR_FORCE_OVF);
	unsigned int k;

	p4_carried[shim_cpu] &= ~BIT(i);
	if (((*value & bits(32)) + nr) >> 32)
		p4_carried[shim_cpu] |= BIT(i);
	*value = (*value + nr) & limit;
	if (!overflows)
		return;
	cccr[i] |= CCCR_OVF;
	/* Others wait for that: of a pair of halves, or, of the IQ's, for one of its last two. */
	for (k = 0; k < MODEL_P4; k++) {
		if ((cccr[k] & CCCR_CASCADE && i == (k < 16 ? k ^ 2 : k - 2)) ||
		    (cccr[k] & CCCR_EXTENDED && i == (k == 12 || k == 17 ? 16 : 17)))
			cccr[k] |= CCCR_ENABLE;
	}
	if (cccr[i] & CCCR_OVF_PMI_T0)
		interrupt();
}

/* On the second thread nothing here counts, as no ESCR has its modes. */
static void p4_count(enum model_kind kind, enum model_mode mode, u64 nr)
{
	struct model_control *control = &cpus[shim_cpu].control;
	u64 enabled = 0;
	unsigned int i;

	if (core_of(shim_cpu) != shim_cpu)
		return;
	for (i = 0; i < MODEL_P4; i++)
		if (control->evntsel[i] & CCCR_ENABLE)
			enabled |= BIT(i);
	for (i = 0; i < MODEL_P4; i++) {
		u64 cccr = control->evntsel[i];
		u32 msr = model_escr(i, cccr);
		u64 escr = msr ? control->escr[msr - 0x3a0] : 0;

		if (enabled & BIT(i) && (cccr & CCCR_ANY_THREAD) == CCCR_ANY_THREAD &&
		    p4_kind(p4_block(i), cccr, escr, cpus[shim_cpu].pebs) == kind &&
		    counts_in(i, escr & (mode == MODEL_USER ? ESCR_T0_USR : ESCR_T0_OS)))
			p4_advance(i, nr);
	}
}

static bool is_enabled(const struct model_control *control, unsigned int i)
{
	if (family()->select)
		return select_of(i) & SEL_EN;
	return control->evntsel[family()->one_enable ? 0 : i] & SEL_EN &&
	       (model.version < 2 || control->global_ctrl & BIT(i));
}

static void count_slots(enum model_mode mode, u64 slots)
{
	const struct model_control *control = &cpus[shim_cpu].control;
	u64 ctrl = control->fixed_ctrl >> 4 * SLOTS;
	unsigned int i;

	if (!of(shim_cpu)->metrics || model_stuck[shim_cpu] & BIT(FIXED(SLOTS)) ||
	    !(control->global_ctrl & BIT(32 + SLOTS)) ||
	    !(ctrl & (mode == MODEL_USER ? FIXED_USR : FIXED_OS)))
		return;
	advance(&cpus[shim_cpu].fixed[SLOTS], of(shim_cpu)->fixed_width, 32 + SLOTS,
		ctrl & FIXED_PMI, slots);
	for (i = 0; i < of(shim_cpu)->metrics && control->global_ctrl & GLOBAL_METRICS; i++)
		cpus[shim_cpu].parts[i] += model_part(i, slots);
}

static void witness_slots(struct model_tally *tally, u64 slots)
{
	unsigned int i;

	for (i = 0; i < PERFCTR_METRICS; i++)
		tally->part[i] += model_part(i, slots);
	tally->slots += slots;
	tally->runs++;
}

void model_count(enum model_kind kind, enum model_mode mode, u64 nr)
{
	const struct model_control *control = &cpus[shim_cpu].control;
	unsigned int i;

	if (kind == KIND_CYCLES && mode == MODEL_USER && model_witness[shim_cpu])
		witness_slots(model_witness[shim_cpu], MODEL_SLOTS * nr);
	if (model_is_p4()) {
		p4_count(kind, mode, nr);
		return;
	}
	if (mode == MODEL_USER)
		cpus[shim_cpu].reset = false;
	if (cpus[shim_cpu].status & STATUS_CTR_FRZ)
		return;
	if (kind == KIND_CYCLES)
		count_slots(mode, MODEL_SLOTS * nr);
	for (i = 0; i < nr_gp_of(shim_cpu); i++) {
		u64 evntsel = select_of(i);

		if (is_enabled(control, i) && kind_on(i) == kind &&
		    counts_in(i, evntsel & (mode == MODEL_USER ? SEL_USR : SEL_OS)))
			advance(&cpus[shim_cpu].gp[i], of(shim_cpu)->width, i, evntsel & SEL_INT, nr);
	}
	for (i = 0; i < of(shim_cpu)->nr_fixed; i++) {
		u64 ctrl = control->fixed_ctrl >> 4 * i;

		if (control->global_ctrl & BIT(32 + i) && fixed_kinds[i] == kind &&
		    counts_in(FIXED(i), ctrl & (mode == MODEL_USER ? FIXED_USR : FIXED_OS)))
			advance(&cpus[shim_cpu].fixed[i], of(shim_cpu)->fixed_width, 32 + i,
				ctrl & FIXED_PMI, nr);
	}
}

void model_pass(u64 time)
{
	cpus[shim_cpu].tsc += time;
	/* Elsewhere tests say how the kernel's goes. */
	if (model.no_tsc || (model.vendor == X86_VENDOR_CENTAUR && model.family == 5))
		shim_now += time;
}

u64 tally_count(const struct model_tally *tally, const struct perfctr_ctr_control *ctr,
		unsigned int hw)
{
	const u64 extras[MODEL_EXTRAS] = { ctr->config, ctr->config, ctr->config };
	const u64 pebs[] = { ctr->config1, ctr->config2 };
	enum model_kind kind;

	if (model_is_p4())
		kind = p4_kind(p4_block(hw), ctr->event, ctr->config, pebs);
	else if (family()->select)
		kind = kind_of(ctr->event & family()->code, extras);
	else
		kind = kind_of(ctr->event & ~(SEL_USR | SEL_OS | SEL_EN), extras);
	if (family() == &p5mmx && hw && (ctr->event & family()->code) == EV_P5MMX_CYCLES)
		return 0;
	if (!model_is_p4() && (ctr->event & 0xffff) == EV_SLOTS)
		return MODEL_SLOTS * ((ctr->flags & USER ? tally->nr[KIND_CYCLES][MODEL_USER] : 0) +
			(ctr->flags & KERNEL ? tally->nr[KIND_CYCLES][MODEL_KERNEL] : 0));
	if (kind == KIND_NR)
		return 0;
	return (ctr->flags & USER ? tally->nr[kind][MODEL_USER] : 0) +
	       (ctr->flags & KERNEL ? tally->nr[kind][MODEL_KERNEL] : 0);
}

static u64 *value_of(unsigned int cpu, unsigned int hw)
{
	if (hw < nr_gp_of(cpu))
		return gp_value(cpu, hw);
	shim_assert(hw >= FIXED(0) && hw < FIXED(MODEL_FIXED));
	return &cpus[cpu].fixed[hw - FIXED(0)];
}

u64 model_value(unsigned int cpu, unsigned int hw)
{
	return *value_of(cpu, hw);
}

void model_set_value(unsigned int cpu, unsigned int hw, u64 value)
{
	*value_of(cpu, hw) = value;
}

/*
 * Interrupts
 */

u32 model_lvtpc[SHIM_CPUS];
bool model_irq_waits[SHIM_CPUS];
bool model_nmi_waits[SHIM_CPUS];
bool model_nmis_at_once;
static nmi_handler_t nmi_handler;
static struct irq_work *irq_works[SHIM_CPUS];

static u32 apic_read(u32 reg)
{
	shim_assert(!model.no_apic);
	if (reg == APIC_LVR)
		return (model.maxlvt ?: 6) << 16 | 0x14;
	shim_assert(reg == APIC_LVTPC && (!model.maxlvt || model.maxlvt >= 4));
	return model_lvtpc[shim_cpu];
}

static void apic_write(u32 reg, u32 value)
{
	shim_assert(reg == APIC_LVTPC && !model.no_apic && (!model.maxlvt || model.maxlvt >= 4));
	model_lvtpc[shim_cpu] = value;
}

const struct cpumask *cpumask_of(unsigned int cpu)
{
	static const struct cpumask masks[SHIM_CPUS] = { { BIT(0) }, { BIT(1) } };

	return &masks[cpu];
}

static void send_ipi_mask(const struct cpumask *mask, int vector)
{
	shim_assert(mask->bits == BIT(shim_cpu) && vector == NMI_VECTOR);
	model_nmi_waits[shim_cpu] = true;
}

static const struct apic local_apic = {
	.read = apic_read,
	.write = apic_write,
	.send_IPI_mask = send_ipi_mask,
};
const struct apic *const apic = &local_apic;

int register_nmi_handler(unsigned int type, nmi_handler_t handler, unsigned long flags,
			 const char *name)
{
	(void)name;
	might_sleep();
	shim_assert(type == NMI_LOCAL && !flags && !nmi_handler);
	nmi_handler = handler;
	return 0;
}

void unregister_nmi_handler(unsigned int type, const char *name)
{
	(void)name;
	might_sleep();
	shim_assert(type == NMI_LOCAL && nmi_handler);
	nmi_handler = NULL;
}

int model_nmi(unsigned int cpu)
{
	unsigned int before = shim_cpu;
	unsigned long flags;
	int handled;

	model_nmi_waits[cpu] = false;
	shim_cpu = cpu;
	local_irq_save(flags);
	handled = nmi_handler ? nmi_handler(NMI_LOCAL, NULL) : NMI_DONE;
	local_irq_restore(flags);
	shim_cpu = before;
	return handled;
}

/* Each CPU has its own work, which is not queued again while it is pending. */
bool irq_work_queue(struct irq_work *work)
{
	shim_assert(shim_irqs_off && work->func && work->hard);
	if (work->pending)
		return false;
	shim_assert(!irq_works[shim_cpu]);
	work->pending = true;
	irq_works[shim_cpu] = work;
	model_irq_waits[shim_cpu] = true;
	return true;
}

void irq_work_sync(struct irq_work *work)
{
	might_sleep();
	shim_assert(!work->pending);
}

void model_irq(unsigned int cpu)
{
	unsigned int before = shim_cpu;
	void (*probe)(void *data, int vector) = shim_probe("irq_work_entry");
	struct irq_work *work;

	shim_assert(!shim_irqs_off);
	model_irq_waits[cpu] = false;
	shim_cpu = cpu;
	local_irq_disable();
	if (probe)
		probe(NULL, IRQ_WORK_VECTOR);
	work = irq_works[cpu];
	irq_works[cpu] = NULL;
	if (work) {
		work->pending = false;
		work->func(work);
	}
	local_irq_enable();
	shim_cpu = before;
}

struct task_struct *model_tasks;
unsigned int model_nr_tasks;

/*
 * RDPMC in user mode
 */

bool model_pce[SHIM_CPUS];
unsigned int model_pce_updates[SHIM_CPUS];
u32 model_perf_dirty[SHIM_CPUS];
static struct kretprobe *pce_probe;

void perf_clear_dirty_counters(void)
{
	unsigned int i;

	lockdep_assert_irqs_disabled();
	for (i = 0; i < nr_gp(); i++)
		if (model_perf_dirty[shim_cpu] & BIT(i))
			cpus[shim_cpu].gp[i] = 0;
	model_perf_dirty[shim_cpu] = 0;
}

/* The kernel's function, with the probe in it */
void cr4_update_pce(void *unused)
{
	struct kretprobe_instance instance;

	(void)unused;
	lockdep_assert_irqs_disabled();
	model_pce_updates[shim_cpu]++;
	if (pce_probe)
		pce_probe->entry_handler(&instance, NULL);
	model_pce[shim_cpu] = current->mm &&
			      atomic_read(&current->mm->context.perf_rdpmc_allowed);
	if (model_pce[shim_cpu])
		perf_clear_dirty_counters();
	if (pce_probe)
		pce_probe->handler(&instance, NULL);
}

void model_update_pce(void)
{
	unsigned long flags;

	local_irq_save(flags);
	cr4_update_pce(NULL);
	local_irq_restore(flags);
}

/* Where a probe of a function is: behind its ENDBR, if it has one */
#define ENDBR	4

static void *probe_address(void *function)
{
	return (char *)function + (model.no_endbr ? 0 : ENDBR);
}

int register_kprobe(struct kprobe *probe)
{
	might_sleep();
	if (model.no_probe || strcmp(probe->symbol_name, "perf_clear_dirty_counters") != 0)
		return -ENOENT;
	probe->addr = probe_address((void *)perf_clear_dirty_counters);
	return 0;
}

void unregister_kprobe(struct kprobe *probe)
{
	might_sleep();
	(void)probe;
}

int sprint_symbol(char *text, unsigned long address)
{
	(void)address;
	return sprintf(text, "model+0x%x/0x40", model.no_endbr ? 0 : ENDBR);
}

/* KVM's guests that have the counters for themselves: perf knows of them. */
static struct kretprobe *guest_probe;

void model_guest_begins(int err)
{
	struct kretprobe_instance instance;
	struct pt_regs regs = { .ax = err };

	model_perf_guests += !err;
	if (guest_probe)
		guest_probe->handler(&instance, &regs);
}

/* As KVM turns virtualization on and off, perf reloads what it has: see virt.c. */
static struct kretprobe *virt_probes[2];

static struct kretprobe **virt_probe(const struct kretprobe *probe)
{
	if (!strcmp(probe->kp.symbol_name, "amd_pmu_enable_virt"))
		return &virt_probes[1];
	return strcmp(probe->kp.symbol_name, "amd_pmu_disable_virt") ? NULL : &virt_probes[0];
}

void model_virt(bool on)
{
	struct kretprobe_instance instance;

	if (model.version >= 2)
		cpus[shim_cpu].control.global_ctrl = all_counters(shim_cpu);
	if (virt_probes[on])
		virt_probes[on]->handler(&instance, NULL);
}

int register_kretprobe(struct kretprobe *probe)
{
	might_sleep();
	if (virt_probe(probe)) {
		if (model.no_virt_probe)
			return -ENOENT;
		shim_assert(!*virt_probe(probe));
		*virt_probe(probe) = probe;
		return 0;
	}
	if (!strcmp(probe->kp.symbol_name, "perf_create_mediated_pmu")) {
		if (model.no_guest_probe)
			return -ENOENT;
		shim_assert(!guest_probe);
		guest_probe = probe;
		return 0;
	}
	/* The probes of the clock concern switch.c only. */
	if (strcmp(probe->kp.symbol_name, "cr4_update_pce") != 0)
		return -ENOENT;
	if (model.no_probe)
		return -ENOENT;
	shim_assert(!pce_probe);
	pce_probe = probe;
	probe->kp.addr = probe_address((void *)cr4_update_pce);
	return 0;
}

void unregister_kretprobe(struct kretprobe *probe)
{
	might_sleep();
	if (virt_probe(probe)) {
		*virt_probe(probe) = NULL;
		return;
	}
	if (probe == guest_probe) {
		guest_probe = NULL;
		return;
	}
	shim_assert(pce_probe == probe);
	pce_probe = NULL;
}

/*
 * In the place of spin.c
 */

void perfctr_x86_spin(unsigned long turns)
{
	model_count(KIND_INSTRUCTIONS, MODEL_KERNEL, 2 * turns);
	model_count(KIND_BRANCHES, MODEL_KERNEL, turns);
	model_count(KIND_CYCLES, MODEL_KERNEL, 3 * turns);
	model_count(KIND_REFERENCE_CYCLES, MODEL_KERNEL, turns / 100);
	if (model_disturbs & 1)
		model_execute(MODEL_KERNEL, 1000);
	model_disturbs >>= 1;
}

/*
 * In the place of measure.c
 */

unsigned int model_measured;
bool perfctr_x86_measure_wanted;

void perfctr_x86_measure(const struct perfctr_x86_registers *regs)
{
	(void)regs;
	model_measured++;
}

/*
 * Reservations
 */

static u8 *reservation(u8 *all, u32 msr, u32 first)
{
	u32 i = family()->select ? 0 : index_of(msr, first, family()->stride);

	ck_assert_msg(i < nr_gp() || i < nr_gp_of(0), "the processor has no counter %u", i);
	return &all[i];
}

static int reserve(u8 *owner)
{
	if (*owner != MODEL_NOBODY)
		return 0;
	*owner = MODEL_DRIVER;
	return 1;
}

static void release(u8 *owner)
{
	shim_assert(*owner == MODEL_DRIVER);
	*owner = MODEL_NOBODY;
}

int reserve_perfctr_nmi(unsigned int msr)
{
	return reserve(reservation(model_reserved.perfctr, msr, family()->perfctr));
}

void release_perfctr_nmi(unsigned int msr)
{
	release(reservation(model_reserved.perfctr, msr, family()->perfctr));
}

int reserve_evntsel_nmi(unsigned int msr)
{
	return reserve(reservation(model_reserved.evntsel, msr, family()->evntsel));
}

void release_evntsel_nmi(unsigned int msr)
{
	release(reservation(model_reserved.evntsel, msr, family()->evntsel));
}

/* perf has all reservations while it counts anywhere, or has an event. */
static u32 perf_cpus;
static unsigned int perf_events;

static bool perf_reserve(void)
{
	unsigned int i;

	for (i = 0; i < MODEL_P4; i++)
		if (model_reserved.perfctr[i] != MODEL_NOBODY ||
		    model_reserved.evntsel[i] != MODEL_NOBODY)
			return false;
	memset(model_reserved.perfctr, MODEL_PERF, nr_gp_of(0));
	memset(model_reserved.evntsel, MODEL_PERF, nr_gp_of(0));
	return true;
}

bool model_perf_reserve(void)
{
	if (!perf_cpus && !perf_events && !perf_reserve())
		return false;
	perf_events++;
	return true;
}

static void perf_unreserve(void)
{
	if (!perf_cpus && !perf_events)
		memset(&model_reserved, MODEL_NOBODY, sizeof(model_reserved));
}

void model_perf_unreserve(void)
{
	shim_assert(perf_events);
	perf_events--;
	perf_unreserve();
}

bool model_perf_has_all(unsigned int cpu)
{
	return perf_cpus & BIT(cpu);
}

u32 model_perf_take_all(unsigned int cpu)
{
	unsigned int i;

	if (!perf_cpus && !perf_events && !perf_reserve())
		return 0;
	perf_cpus |= BIT(cpu);
	for (i = 0; i < nr_gp(); i++) {
		cpus[cpu].control.evntsel[i] = EV_BRANCHES | SEL_USR | SEL_INT |
					       enable_of(i);
		cpus[cpu].stale[i] = false;
		/* perf's counters start from a negative value. */
		cpus[cpu].gp[i] = bits(model.width) - 1000000;
	}
	if (model.version >= 2)
		cpus[cpu].control.global_ctrl = global_bits_of(cpu);
	return (u32)bits(nr_gp());
}

void model_perf_give(unsigned int cpu, u32 counters)
{
	shim_assert(perf_cpus & BIT(cpu) && counters == bits(nr_gp()));
	memset(cpus[cpu].control.evntsel, 0, sizeof(cpus[cpu].control.evntsel));
	model_perf_dirty[cpu] = (u32)bits(nr_gp());
	perf_cpus &= ~BIT(cpu);
	perf_unreserve();
}

/*
 * What tests look at
 */

void model_expect_loaded(void)
{
	static const struct model_reservations nothing;

	ck_assert_msg(!model_all_writes(), "registers were written");
	ck_assert_msg(!memcmp(&model_reserved, &nothing, sizeof(nothing)), "something is reserved");
}

bool driver_remembers(unsigned int cpu, const struct perfctr_config *config)
{
	const struct perfctr_x86_cpu *driver = per_cpu_ptr(&perfctr_x86_cpu, cpu);

	return driver->active == config->id || driver->private_kin == config->kin;
}

void model_expect_taken(unsigned int cpu)
{
	const struct model_control *control = &cpus[cpu].control;
	u64 idle = model_is_p4() ? CCCR_ANY_THREAD : 0;
	unsigned int i;

	for (i = 0; i < MODEL_ESCRS; i++)
		ck_assert_msg(!control->escr[i], "CPU %u, ESCR %#x: %#llx", cpu, 0x3a0 + i,
			      control->escr[i]);
	for (i = 0; i < nr_gp(); i++) {
		ck_assert_msg(control->evntsel[i] == (family()->one_enable ? enable_of(i) : idle),
			      "CPU %u, EVNTSEL%u: %#llx", cpu, i, control->evntsel[i]);
		ck_assert_msg(!cpus[cpu].gp[i], "CPU %u, counter %u: %#llx", cpu, i,
			      cpus[cpu].gp[i]);
	}
	if (model.version < 2)
		return;
	if (model_is_amd()) {
		ck_assert_uint_eq(control->global_ctrl, bits(nr_gp()));
		return;
	}
	ck_assert_msg(!control->fixed_ctrl, "CPU %u, FIXED_CTR_CTRL: %#llx", cpu,
		      control->fixed_ctrl);
	for (i = 0; i < 3; i++)
		ck_assert_msg(!cpus[cpu].fixed[i], "CPU %u, fixed counter %u: %#llx", cpu, i,
			      cpus[cpu].fixed[i]);
	ck_assert_msg(control->global_ctrl == (bits(nr_gp()) | 0x700000000),
		      "CPU %u, GLOBAL_CTRL: %#llx", cpu, control->global_ctrl);
}

void model_ownership(struct model_ownership *all)
{
	unsigned int cpu;

	memset(all, 0, sizeof(*all));
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		all->cpu[cpu] = cpus[cpu].control;
		memcpy(all->cpu[cpu].extras, extra(cpu, 0), sizeof(all->cpu[cpu].extras));
	}
	all->reserved = model_reserved;
}

void model_expect_ownership(const struct model_ownership *before)
{
	unsigned int cpu, i;

	for (i = 0; i < MODEL_P4; i++)
		ck_assert_msg(model_reserved.perfctr[i] == before->reserved.perfctr[i] &&
			      model_reserved.evntsel[i] == before->reserved.evntsel[i],
			      "counter %u: reserved by %u and %u, was by %u and %u", i,
			      model_reserved.perfctr[i], model_reserved.evntsel[i],
			      before->reserved.perfctr[i], before->reserved.evntsel[i]);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		const struct model_control *is = &cpus[cpu].control, *was = &before->cpu[cpu];

		for (i = 0; i < MODEL_ESCRS; i++)
			ck_assert_msg(is->escr[i] == was->escr[i],
				      "CPU %u, ESCR %#x: %#llx, was %#llx", cpu, 0x3a0 + i,
				      is->escr[i], was->escr[i]);
		for (i = 0; i < MODEL_P4; i++)
			ck_assert_msg(is->evntsel[i] == was->evntsel[i],
				      "CPU %u, EVNTSEL%u: %#llx, was %#llx", cpu, i,
				      is->evntsel[i], was->evntsel[i]);
		for (i = 0; i < MODEL_EXTRAS; i++)
			ck_assert_msg(*extra(cpu, i) == was->extras[i],
				      "CPU %u, extra register %u: %#llx, was %#llx", cpu, i,
				      *extra(cpu, i), was->extras[i]);
		ck_assert_msg(is->fixed_ctrl == was->fixed_ctrl,
			      "CPU %u, FIXED_CTR_CTRL: %#llx, was %#llx", cpu,
			      is->fixed_ctrl, was->fixed_ctrl);
		ck_assert_msg(is->global_ctrl == was->global_ctrl,
			      "CPU %u, GLOBAL_CTRL: %#llx, was %#llx", cpu,
			      is->global_ctrl, was->global_ctrl);
	}
}

/* All or none: the counters of a CPU are the driver's if they are set up, and reserved. */
u32 model_owned(unsigned int cpu, enum model_owner owner)
{
	if (owner == MODEL_DRIVER && !per_cpu_ptr(&perfctr_x86_cpu, cpu)->ours)
		return 0;
	return model_reserved.perfctr[0] == owner &&
	       (model_is_p4() || model_reserved.evntsel[0] == owner) ?
	       (u32)bits(nr_gp()) : 0;
}

u32 model_needed(const struct perfctr_config *config)
{
	return config->nr ? (u32)bits(nr_gp()) : 0;
}

/*
 * CPUs that lose registers. INIT, by which a CPU comes, leaves the counters as they are.
 */

void model_cpu_off(unsigned int cpu)
{
	(void)cpu;
}

void model_cpu_on(unsigned int cpu)
{
	(void)cpu;
}

void model_cpu_sleep(unsigned int cpu, bool firmware_forgets)
{
	(void)firmware_forgets;
	memset(&cpus[cpu].control, 0, sizeof(cpus[cpu].control));
	memset(cpus[cpu].gp, 0, sizeof(cpus[cpu].gp));
	memset(cpus[cpu].stale, 0, sizeof(cpus[cpu].stale));
	memset(cpus[cpu].fixed, 0, sizeof(cpus[cpu].fixed));
	/* A core's registers are lost with the last of its hyperthreads. */
	if (!model.siblings || !(shim_online & BIT(cpu ^ 1)))
		memset(extra(cpu, 0), 0, sizeof(cpus[cpu].extras));
	cpus[cpu].status = 0;
	if (model.version >= 2)
		cpus[cpu].control.global_ctrl = bits(of(cpu)->nr);
}
