// SPDX-License-Identifier: GPL-2.0
/*
 * What Linux's driver of architectural performance monitoring does with counters that are not
 * perf's: arch/x86/events/intel/core.c.
 */

#include <asm/perf_event.h>
#include <asm/processor.h>

#include "arch/x86/evntsel.h"
#include "arch/x86/intel/intel.h"

#define CPUID_PERFMON	10

#define EVNTSEL_ANY	BIT(21)

/* These bits of an event select keep an event from a fixed counter. */
#define NOT_FIXED	((EVNTSEL_EVENT & ~(EVNTSEL_CODE | EVNTSEL_UMASK)) | EVNTSEL_ANY)

/* perf's numbers for the events of fixed counters, and for the first metric's */
static const u32 fixed_events[] = { 0x00c0, 0x003c, 0x0300, PERFCTR_EVENT_SLOTS };
#define ONLY_FIXED	2	/* from this one on, no general-purpose counter counts the event */
#define FIRST_METRIC	0x8000

/*
 * Nehalem's and Westmere's driver zeroes all event selects whenever it enables counters. On Sandy
 * Bridge to Haswell with hyperthreads, perf moves events because of an erratum. perf's driver of
 * version 1 was not tried.
 */
bool perfctr_intel_beside(void)
{
	/* The version of architectural performance monitoring */
	if ((cpuid_eax(CPUID_PERFMON) & 0xff) < 2)
		return false;
	switch (boot_cpu_data.x86 == 6 ? boot_cpu_data.x86_model : 0) {
	case 26: case 30: case 31: case 46: case 37: case 44: case 47:
	case 42: case 45: case 58: case 62: case 60: case 63: case 69: case 70:
		return false;
	}
	return true;
}

/* On a general counter, event 0 counts nothing. */
u64 perfctr_intel_placeholder(unsigned int idx)
{
	return idx < INTEL_PMC_IDX_FIXED ? 0 : fixed_events[idx - INTEL_PMC_IDX_FIXED];
}

notrace int perfctr_intel_perf_fixed(u64 select, bool *only)
{
	u32 event = select & (EVNTSEL_CODE | EVNTSEL_UMASK);
	unsigned int i;

	if (select & NOT_FIXED)
		return -1;
	if (event >= FIRST_METRIC && !(event & EVNTSEL_CODE)) {
		*only = true;
		return INTEL_PMC_IDX_METRIC_BASE + (event - FIRST_METRIC) / 0x100;
	}
	for (i = 0; i < ARRAY_SIZE(fixed_events); i++) {
		if (event != fixed_events[i])
			continue;
		*only = i >= ONLY_FIXED;
		return INTEL_PMC_IDX_FIXED + i;
	}
	return -1;
}
