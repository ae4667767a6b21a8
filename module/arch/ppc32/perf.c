// SPDX-License-Identifier: GPL-2.0
/*
 * PowerPC, 32 bits: counters through perf, whose driver supports only the 745x. A raw event of
 * perf's consists of the number of a counter and a select, as in arch/powerpc/perf/mpc7450-pmu.c.
 */

#include <linux/errno.h>
#include <linux/perf_event.h>

#include "arch/perf.h"
#include "arch/ppc32/registers.h"

#define PERF_PMC_SHIFT		8
#define PERF_SELECT_MASK	0x7f
#define PERF_THRESHOLD_SHIFT	12	/* 6 bits wide */
#define PERF_THRESHMULT		0x40000
#define MMCR0_THRESHOLD_SHIFT	16

/* On the 745x, and on no other model, perf's driver registers itself early in the boot. */
bool perfctr_cpu_shared_exists(void)
{
	return IS_ENABLED(CONFIG_PPC_PERF_CTRS) && perfctr_ppc32_model.type == PERFCTR_PPC_7450;
}

int perfctr_cpu_shared_attr(const struct perfctr_ctr_control *ctr,
			    struct perfctr_shared_attr *attr)
{
	u32 mmcr0 = lower_32_bits(ctr->config), mmcr2 = upper_32_bits(ctr->config);

	if (ctr->event > PERF_SELECT_MASK || mmcr0 & ~MMCR0_THRESHOLD_BITS ||
	    mmcr2 & ~MMCR2_THRESHMULT_BIT)
		return -EINVAL;
	attr->type = PERF_TYPE_RAW;
	attr->config = ctr->event;
	if (ctr->map != PERFCTR_MAP_ANY) {
		if (ctr->map >= PERFCTR_PPC32_MAX)
			return -EINVAL;
		attr->config |= (ctr->map + 1) << PERF_PMC_SHIFT;
	}
	attr->config |= mmcr0 >> MMCR0_THRESHOLD_SHIFT << PERF_THRESHOLD_SHIFT;
	if (mmcr2)
		attr->config |= PERF_THRESHMULT;
	return 0;
}

/* Refuses the upper bits of a raw event, which perf ignores. */
int perfctr_cpu_shared_judge(const struct perf_event *event, u32 *reason)
{
	const struct perf_event_attr *attr = &event->attr;

	return attr->config1 || attr->config2 ||
	       (attr->type == PERF_TYPE_RAW && attr->config & ~GENMASK_ULL(18, 0)) ? -EINVAL : 0;
}

/* Returns true for PMC1 to PMC4. PMC5 and PMC6 count few events. */
bool perfctr_cpu_shared_is_general(const struct perf_event *event)
{
	return event->hw.idx <= 4;
}

unsigned int perfctr_cpu_shared_generals(void)
{
	return 4;
}
