// SPDX-License-Identifier: GPL-2.0
/* The modelled processors: what they are, which events they count, and what CPUID says. */
#include <asm/apic.h>

#include "x86/model_inside.h"

#define ALL_EVENTS	7

#define CPUID_AMD_PERFMON	0x80000022u

struct model_cpu cpus[SHIM_CPUS];

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
unsigned int reads;
unsigned int model_pmis[SHIM_CPUS];
struct model_reservations model_reserved;
struct cpuinfo_x86 boot_cpu_data;
unsigned int cpu_khz = 2000000;
unsigned int tsc_khz = 1500000;

const struct event architectural_events[] = {
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

const struct event p6_events[] = {
	{ EV_P6_CYCLES, KIND_CYCLES },
	{ EV_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_BRANCHES, KIND_BRANCHES },
	{ 0, KIND_NR },
};

const struct event amd_events[] = {
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

const struct event p5_events[] = {
	{ EV_P5_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_P5_BRANCHES, KIND_BRANCHES },
	{ EV_P5_ITLB, KIND_ITLB },
	{ 0, KIND_NR },
};

const struct event p5mmx_events[] = {
	{ EV_P5_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_P5_BRANCHES, KIND_BRANCHES },
	{ EV_P5_ITLB, KIND_ITLB },
	{ EV_P5MMX_CYCLES, KIND_CYCLES },
	{ 0, KIND_NR },
};

const struct event mii_events[] = {
	{ EV_P5_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_P5_BRANCHES, KIND_BRANCHES },
	{ EV_P5_ITLB, KIND_ITLB },
	{ EV_MII_ITLB, KIND_ITLB },
	{ 0, KIND_NR },
};

const struct event c6_events[] = {
	{ EV_C6_CYCLES, KIND_CYCLES },
	{ EV_C6_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ 0, KIND_NR },
};

const struct event winchip_2_events[] = {
	{ EV_P5_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_P5_ITLB, KIND_ITLB },
	{ EV_WINCHIP_CYCLES, KIND_CYCLES },
	{ 0, KIND_NR },
};

const struct event c3_events[] = {
	{ EV_P6_CYCLES, KIND_CYCLES },
	{ EV_INSTRUCTIONS, KIND_INSTRUCTIONS },
	{ EV_C3_ITERATIONS, KIND_INSTRUCTIONS },
	{ 0, KIND_NR },
};

const enum model_kind fixed_kinds[MODEL_FIXED] = {
	KIND_INSTRUCTIONS, KIND_CYCLES, KIND_REFERENCE_CYCLES, KIND_NR,
};

const struct model_machine *of(unsigned int cpu)
{
	return model.other_cpus & BIT(cpu) ? model.other : &model;
}

unsigned int nr_gp_of(unsigned int cpu)
{
	return min(of(cpu)->nr, (unsigned int)(model_is_p4() ? MODEL_P4 : MODEL_GP));
}

unsigned int core_of(unsigned int cpu)
{
	return model_is_p4() && model.threads > 1 ? cpu & ~1u : cpu;
}

unsigned int nr_gp(void)
{
	unsigned int nr = min(model.nr, (unsigned int)(model_is_p4() ? MODEL_P4 : MODEL_GP));

	return model.other ? min(nr, model.other->nr) : nr;
}

u64 bits(unsigned int nr)
{
	return nr < 64 ? BIT(nr) - 1 : ~0ull;
}

u64 all_counters(unsigned int cpu)
{
	return bits(of(cpu)->nr) | bits(of(cpu)->nr_fixed) << 32 |
	       (of(cpu)->metrics ? GLOBAL_METRICS : 0);
}

u64 global_bits_of(unsigned int cpu)
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
