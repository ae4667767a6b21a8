// SPDX-License-Identifier: GPL-2.0
/* arm64: counters through perf. An event of a control is a number of PMUv3's. */

#include <linux/errno.h>
#include <linux/perf_event.h>
#include <asm/sysreg.h>

#include "lowlevel.h"
#include "settings.h"

#define EVENT_MASK	0xffffull	/* PMEVTYPER<n>_EL0.evtCount */
#define CYCLES_INDEX	31		/* hw.idx of PMCCNTR_EL0, which counts cycles alone */
#define PMCR_N_SHIFT	11
#define PMCR_N_MASK	0x1f

int perfctr_cpu_shared_attr(const struct perfctr_ctr_control *ctr,
			    struct perfctr_shared_attr *attr)
{
	if (ctr->event & ~EVENT_MASK || ctr->config || ctr->map != PERFCTR_MAP_ANY)
		return -EINVAL;
	attr->type = PERF_TYPE_RAW;
	attr->config = ctr->event;
	return 0;
}

/* perf cuts off the rest of a raw event, and has meanings of its own for the others. */
bool perfctr_cpu_shared_is_exact(const struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->config1 || attr->config2)
		return false;
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	       !(attr->config & ~EVENT_MASK);
}

bool perfctr_cpu_shared_is_general(const struct perf_event *event)
{
	return event->hw.idx < CYCLES_INDEX;
}

unsigned int perfctr_cpu_shared_generals(void)
{
	return read_sysreg(pmcr_el0) >> PMCR_N_SHIFT & PMCR_N_MASK;
}

/*
 * A process that has mapped an event of its own reads all counters that are in use, unless the
 * setting forbids it, as it does by default.
 */
bool perfctr_cpu_shared_discloses(void)
{
	return perfctr_read_number("proc/sys/kernel/perf_user_access") && !perfctr_perf_is_closed();
}
