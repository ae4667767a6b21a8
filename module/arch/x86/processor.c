// SPDX-License-Identifier: GPL-2.0
/* Finds the family that the processor belongs to. */

#include <linux/init.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>

#include "arch/x86/amd/amd.h"
#include "arch/x86/beside.h"
#include "arch/x86/centaur/c3.h"
#include "arch/x86/intel/intel.h"
#include "arch/x86/interrupt.h"
#include "arch/x86/intel/p4.h"
#include "arch/x86/intel/p5.h"
#include "arch/x86/intel/p6.h"
#include "arch/x86/processor.h"
#include "arch/x86/registers.h"
#include "arch/x86/centaur/winchip.h"

/**
 * struct candidate - a family that the processor may belong to
 * @is: returns true if the processor belongs to the family
 * @look: fills in perfctr_pmu if the registers of the counters exist. Otherwise leaves it zero and
 *	returns the reason, PERFCTR_NO_COUNTERS_*
 * @family: the functions of the family
 */
struct candidate {
	bool (*is)(void);
	u32 (*look)(void);
	const struct perfctr_x86_family *family;
};

static const struct candidate families[] __initconst = {
	{ perfctr_intel_is, perfctr_intel_look, &perfctr_intel },
	{ perfctr_p6_is, perfctr_p6_look, &perfctr_p6 },
	{ perfctr_p4_is, perfctr_p4_look, &perfctr_p4 },
	{ perfctr_amd_is, perfctr_amd_look, &perfctr_amd },
	{ perfctr_p5_is, perfctr_p5_look, &perfctr_p5 },
	{ perfctr_winchip_c6_is, perfctr_winchip_look, &perfctr_winchip_c6 },
	{ perfctr_winchip_2_is, perfctr_winchip_look, &perfctr_winchip_2 },
	{ perfctr_c3_is, perfctr_c3_look, &perfctr_c3 },
};

void __init perfctr_x86_find_counters(void)
{
	unsigned int i;

	perfctr_pmu.none = PERFCTR_NO_COUNTERS_PROCESSOR;
	for (i = 0; i < ARRAY_SIZE(families); i++) {
		if (!families[i].is())
			continue;
		perfctr_pmu.none = boot_cpu_has(X86_FEATURE_XENPV) ?
				   PERFCTR_NO_COUNTERS_REGISTERS : families[i].look();
		break;
	}
	if (!perfctr_pmu.counters)
		return;
	perfctr_pmu.family = families[i].family;
	perfctr_x86_beside_init();
	perfctr_pmu.interrupts = perfctr_pmu.interrupts && !perfctr_x86_interrupt_init();
}
