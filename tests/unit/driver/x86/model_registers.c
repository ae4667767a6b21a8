// SPDX-License-Identifier: GPL-2.0
/* Which registers each family has, and what can be written to them. */
#include <asm/cpufeature.h>

#include "x86/model_inside.h"

static u64 valid_all(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return ~0ull;
}

u64 valid_none(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return 0;
}

bool gp_there(unsigned int cpu, unsigned int i)
{
	return i < nr_gp_of(cpu);
}

u64 *gp_value(unsigned int cpu, unsigned int i)
{
	return &cpus[core_of(cpu)].gp[i];
}

u64 *evntsel_value(unsigned int cpu, unsigned int i)
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

const struct family p6 = {
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

u64 *extra(unsigned int cpu, unsigned int i)
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

const struct family architectural = {
	.perfctr = MSR_ARCH_PERFMON_PERFCTR0, .evntsel = MSR_ARCH_PERFMON_EVENTSEL0, .stride = 1,
	.ranges = arch_ranges, .events = architectural_events, .rdpmc = arch_rdpmc,
	.lvtpc_masked = true, .pdcm = true,
};

/* AMD's */
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

const struct family k7 = {
	.perfctr = MSR_K7_PERFCTR0, .evntsel = MSR_K7_EVNTSEL0, .stride = 1,
	.ranges = k7_ranges, .events = amd_events, .rdpmc = amd_rdpmc,
};

const struct family core = {
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

const struct family p5mmx = {
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

const struct family *old_family(void)
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
