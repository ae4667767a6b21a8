// SPDX-License-Identifier: GPL-2.0
/*
 * Intel's P6: Pentium Pro, II, III, and M. They have two counters, which are enabled by a single
 * bit. The bit is in the first event select, and reserved in the second.
 */

#include <linux/init.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/msr-index.h>
#include <asm/processor.h>

#include "arch/x86/evntsel.h"
#include "arch/x86/intel/p6.h"
#include "arch/x86/topdown.h"

#define NR		2
#define WIDTH		40
#define CPUID_PERFMON	10	/* later processors have this leaf */

#define INSTRUCTIONS	0x00c0
#define BRANCHES	0x00c4
#define CYCLES		0x0079

/*
 * These events are counted by only one of the counters (Software Developer's Manual, volume 3, P6
 * family performance-monitoring events).
 */
static const struct {
	u8 event;
	u32 counters;
} rules[] = {
	{ 0x10, BIT(0) },	/* FP_COMP_OPS_EXE */
	{ 0x11, BIT(1) },	/* FP_ASSIST */
	{ 0x12, BIT(1) },	/* MUL */
	{ 0x13, BIT(1) },	/* DIV */
	{ 0x14, BIT(0) },	/* CYCLES_DIV_BUSY */
	{ 0xc1, BIT(0) },	/* FLOPS */
};

bool __init perfctr_p6_is(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && boot_cpu_data.x86 == 6 &&
	       boot_cpu_data.cpuid_level < CPUID_PERFMON && !boot_cpu_has(X86_FEATURE_HYBRID_CPU);
}

u32 __init perfctr_p6_look(void)
{
	if (!perfctr_x86_evntsel_exists(NR, MSR_P6_PERFCTR0, MSR_P6_EVNTSEL0, 1))
		return PERFCTR_NO_COUNTERS_REGISTERS;
	perfctr_x86_evntsel_describe(NR, WIDTH, MSR_P6_PERFCTR0, MSR_P6_EVNTSEL0, 1);
	perfctr_pmu.together = EVNTSEL_EN;
	/* The first counter counts nothing while its mode bits are zero. */
	perfctr_pmu.control[0].idle = EVNTSEL_EN;
	perfctr_pmu.ctr[0].stop = ~EVNTSEL_EN;
	perfctr_pmu.ctr[1].enable = 0;
	perfctr_pmu.interrupts = true;
	/* These Pentium Pros have erratum 26 (Linux, arch/x86/events/intel/p6.c). */
	if (boot_cpu_data.x86_model == 1 && boot_cpu_data.x86_stepping < 9)
		perfctr_x86_forbid_user_reads();
	perfctr_x86_evntsel_samples(INSTRUCTIONS, BRANCHES);
	return PERFCTR_NO_COUNTERS_NONE;
}

static u32 p6_cpu_type(void)
{
	switch (boot_cpu_data.x86_model) {
	case 3: case 5: case 6:
		return PERFCTR_X86_INTEL_PII;
	case 7: case 8: case 10: case 11:
		return PERFCTR_X86_INTEL_PIII;
	case 9: case 13:
		return PERFCTR_X86_INTEL_PENTM;
	}
	return PERFCTR_X86_INTEL_P6;
}

static int p6_check(const struct perfctr_ctr_control *ctr, u32 *counters,
		    struct perfctr_refusal *why)
{
	unsigned int i;

	if (perfctr_x86_topdown_check(ctr->event & EVNTSEL_EVENT, why))
		return -EINVAL;
	*counters = perfctr_pmu.counters;
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if ((ctr->event & 0xff) == rules[i].event)
			*counters = rules[i].counters;
	return perfctr_x86_evntsel_check(ctr);
}

static const struct perfctr_x86_known known[] = {
	{ .event = INSTRUCTIONS, .per_turn = 2 },
	{ .event = BRANCHES, .per_turn = 1 },
	{ .event = CYCLES },
	{}
};

const struct perfctr_x86_family perfctr_p6 = {
	.cpu_type = p6_cpu_type,
	.check = p6_check,
	.name = perfctr_x86_evntsel_name,
	.compile = perfctr_x86_evntsel_compile,
	.counts = perfctr_x86_evntsel_counts,
	.known = known,
};
