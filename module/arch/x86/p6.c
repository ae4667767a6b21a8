// SPDX-License-Identifier: GPL-2.0
/*
 * Intel's P6: Pentium Pro, II, III, and M. Two counters, which one bit enables: that of
 * the first one's event select. It is reserved in the second.
 */

#include <linux/init.h>
#include <asm/cpufeature.h>
#include <asm/msr-index.h>
#include <asm/processor.h>

#include "evntsel.h"
#include "p6.h"

#define NR		2
#define WIDTH		40
#define CPUID_PERFMON	10	/* that leaf came later */

#define INSTRUCTIONS	0x00c0
#define BRANCHES	0x00c4

bool __init perfctr_p6_is(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && boot_cpu_data.x86 == 6 &&
	       boot_cpu_data.cpuid_level < CPUID_PERFMON && !boot_cpu_has(X86_FEATURE_HYBRID_CPU);
}

u32 __init perfctr_p6_look(void)
{
	if (!perfctr_x86_evntsel_exists(NR, MSR_P6_PERFCTR0, MSR_P6_EVNTSEL0))
		return PERFCTR_NO_COUNTERS_REGISTERS;
	perfctr_x86_evntsel_describe(NR, WIDTH, MSR_P6_PERFCTR0, MSR_P6_EVNTSEL0);
	perfctr_pmu.together = EVNTSEL_EN;
	/* Without a mode it counts nothing itself. */
	perfctr_pmu.control[0].idle = EVNTSEL_EN;
	perfctr_pmu.ctr[0].stop = ~EVNTSEL_EN;
	perfctr_pmu.ctr[1].enable = 0;
	perfctr_pmu.interrupts = true;
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

const struct perfctr_x86_family perfctr_p6 = {
	.cpu_type = p6_cpu_type,
	.check = perfctr_x86_evntsel_check,
	.name = perfctr_x86_evntsel_name,
	.compile = perfctr_x86_evntsel_compile,
	.counts = perfctr_x86_evntsel_counts,
};
