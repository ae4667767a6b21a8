// SPDX-License-Identifier: GPL-2.0
/* arm64: counters through perf. A control's event is a PMUv3 event number. */

#include <linux/errno.h>
#include <linux/perf/arm_pmu.h>
#include <linux/perf/arm_pmuv3.h>
#include <linux/perf_event.h>
#include <asm/sysreg.h>

#include "base/settings.h"
#include "arch/cpu.h"
#include "arch/perf.h"

#define EVENT_MASK	0xffffull	/* PMEVTYPER<n>_EL0.evtCount */
#define CYCLES_INDEX	31		/* hw.idx of PMCCNTR_EL0, which counts only cycles */
/* ID_AA64DFR0_EL1.PMUVer is 0 if there are no counters, and 15 if the counters are not PMUv3's. */
#define PMUVER_SHIFT	8
#define PMUVER_MASK	0xf
#define PMUVER_OTHER	0xf
#define OTHER_GENERALS	8	/* of Apple's PMU (Linux's drivers/perf/apple_m1_cpu_pmu.c) */
#define PMCR_N_SHIFT	11
#define PMCR_N_MASK	0x1f

/*
 * Returns true if the CPU has PMUv3. On other CPUs the registers of PMUv3 do not exist, and reading
 * one is an Oops.
 */
static bool is_pmuv3(void)
{
	unsigned int version = read_sysreg(id_aa64dfr0_el1) >> PMUVER_SHIFT & PMUVER_MASK;

	return version && version != PMUVER_OTHER;
}

/* Returns true for PMUv3 events of 32 bits. Before 6.11, perf numbered the counters differently. */
bool perfctr_cpu_shared_inline(const struct perf_event *event)
{
	unsigned int wide = ARMPMU_EVT_64BIT | ARMPMU_EVT_47BIT;

#ifdef ARMPMU_EVT_63BIT
	wide |= ARMPMU_EVT_63BIT;
#endif
	if (!is_pmuv3() || CYCLES_INDEX != ARMV8_PMU_CYCLE_IDX)
		return false;
	return !(event->hw.flags & wide) && event->hw.idx >= 0 && event->hw.idx <= CYCLES_INDEX;
}

int perfctr_cpu_shared_attr(const struct perfctr_ctr_control *ctr,
			    struct perfctr_shared_attr *attr)
{
	if (ctr->event & ~EVENT_MASK || ctr->config || ctr->map != PERFCTR_MAP_ANY)
		return -EINVAL;
	attr->type = PERF_TYPE_RAW;
	attr->config = ctr->event;
	return 0;
}

/*
 * Refuses the upper bits of a raw event, which perf ignores. Also refuses config1 and config2,
 * because perf gives them its own meanings.
 */
int perfctr_cpu_shared_judge(const struct perf_event *event, u32 *reason)
{
	const struct perf_event_attr *attr = &event->attr;
	bool generic = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;

	return attr->config1 || attr->config2 || (!generic && attr->config & ~EVENT_MASK) ?
	       -EINVAL : 0;
}

bool perfctr_cpu_shared_is_general(const struct perf_event *event)
{
	return event->hw.idx < CYCLES_INDEX;
}

unsigned int perfctr_cpu_shared_generals(void)
{
	return is_pmuv3() ? read_sysreg(pmcr_el0) >> PMCR_N_SHIFT & PMCR_N_MASK : OTHER_GENERALS;
}

static struct perfctr_setting user_access = {
	.name = "proc/sys/kernel/perf_user_access",
};

void perfctr_cpu_shared_watch(bool on)
{
	perfctr_setting_watch(&user_access, on);
	perfctr_perf_watch(on);
}

/*
 * A process that has mapped an event of its own can read all counters in use, unless the setting
 * perf_user_access forbids that. By default the setting forbids it.
 */
bool perfctr_cpu_shared_discloses(void)
{
	return perfctr_setting_read(&user_access) && !perfctr_perf_is_closed();
}
