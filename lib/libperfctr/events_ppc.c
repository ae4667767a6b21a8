// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of PowerPCs of 32 bits, by perf's names. Of the 604, 750GX and MPC7400 from their user's
 * manuals, of the 745x from Linux's arch/powerpc/perf/mpc7450-pmu.c. An event's number is
 * the select of its counter: but for a few it means something else on another one.
 *
 * Raw events are perf's of the 745x: the select in bits 0..6, the number of the counter in bits
 * 8..10 (PMC1 is 1; 0: any that counts the event), THRESHOLD in bits 12..17 and THRESHMULT in
 * bit 18.
 */
#include <stdio.h>

#include "internal.h"

#define PMC(n)		(1u << ((n) - 1))
#define ANY_2		0x03u
#define ANY_4		0x0fu
#define ANY_6		0x3fu

#define EVENT(select, counters, name, text)	{ select, counters, NULL, name, text }

/* On all counters of the 604 to 7400 */
#define COMMON(counters)							\
	EVENT(0x01u, counters, "cycles", "clock cycles of the core"),		\
	EVENT(0x02u, counters, "instructions", "instructions completed")

static const struct perfctr_event ppc_604_events[] = {
	COMMON(ANY_2),
	EVENT(0x05u, PMC(1), "L1-icache-load-misses",
	      "level 1 instruction cache load misses, with speculative ones"),
	EVENT(0x06u, PMC(1), "dTLB-load-misses", "data TLB misses"),
	EVENT(0x07u, PMC(1), "branch-misses", "branches mispredicted"),
};

static const struct perfctr_event ppc_604e_events[] = {
	COMMON(ANY_4),
};

static const struct perfctr_event ppc_750_events[] = {
	COMMON(ANY_4),
	EVENT(0x05u, PMC(3), "cache-misses", "level 1 data cache misses"),
	EVENT(0x05u, PMC(2), "L1-icache-load-misses", "level 1 instruction cache load misses"),
	EVENT(0x06u, PMC(3), "dTLB-load-misses", "data TLB misses"),
	EVENT(0x06u, PMC(2), "iTLB-load-misses", "instruction TLB misses"),
};

static const struct perfctr_event ppc_7400_events[] = {
	COMMON(ANY_4),
	EVENT(0x05u, PMC(4), "branch-misses", "branches mispredicted"),
	EVENT(0x0fu, PMC(2), "L1-dcache-load-misses",
	      "level 1 data cache load misses, with speculative ones"),
	EVENT(0x06u, PMC(3), "dTLB-load-misses", "data TLB misses"),
	EVENT(0x06u, PMC(2), "iTLB-load-misses", "instruction TLB misses"),
};

static const struct perfctr_event ppc_7450_events[] = {
	EVENT(0x01u, ANY_6, "cycles", "clock cycles of the core"),
	EVENT(0x02u, ANY_4, "instructions", "instructions completed"),
	EVENT(0x17u, PMC(2), "cache-misses", "level 1 data cache misses"),
	EVENT(0x22u, PMC(1), "branches", "branch instructions completed"),
	EVENT(0x1cu, PMC(4), "branch-misses", "branches mispredicted"),
	EVENT(0x25u, PMC(2), "L1-dcache-load-misses", "level 1 data cache load misses"),
	EVENT(0x27u, PMC(2), "L1-dcache-store-misses", "level 1 data cache store misses"),
	EVENT(0x29u, PMC(1), "L1-icache-loads", "level 1 instruction cache loads"),
	EVENT(0x15u, PMC(1), "L1-icache-load-misses", "level 1 instruction cache load misses"),
	EVENT(0x34u, PMC(6), "L1-icache-prefetches", "level 1 instruction cache prefetches"),
	EVENT(0x12u, PMC(3), "dTLB-load-misses", "data TLB misses"),
	EVENT(0x23u, PMC(2), "iTLB-load-misses", "instruction TLB misses"),
};

#define SET(type, prefix, of) \
	{ .cpu_type = (type), .event_prefix = (prefix), \
	  .nevents = ARRAY_SIZE(of), .events = (of) }

static const struct perfctr_event_set ppc_sets[] = {
	SET(PERFCTR_PPC_604, "PPC_604_", ppc_604_events),
	SET(PERFCTR_PPC_604e, "PPC_604e_", ppc_604e_events),
	SET(PERFCTR_PPC_750, "PPC_750_", ppc_750_events),
	SET(PERFCTR_PPC_7400, "PPC_7400_", ppc_7400_events),
	SET(PERFCTR_PPC_7450, "PPC_7450_", ppc_7450_events),
};

const struct perfctr_event_set *perfctr_ppc_event_set(unsigned int cpu_type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ppc_sets); i++)
		if (ppc_sets[i].cpu_type == cpu_type)
			return &ppc_sets[i];
	return NULL;
}

#define RAW_SELECT		0x7fu
#define RAW_PMC_SHIFT		8
#define RAW_PMC			7u
#define RAW_THRESHOLD_SHIFT	12
#define RAW_THRESHMULT_SHIFT	18
#define RAW_BITS		0x7f77fu

/* perfctr_ctr_control.config: MMCR0, and above it MMCR2 */
#define THRESHOLD		0x3fu
#define THRESHOLD_SHIFT		16
#define THRESHMULT_SHIFT	63

int perfctr_ppc_parse_raw(__u64 raw, struct perfctr_ctr_control *ctr)
{
	unsigned int pmc = (unsigned int)(raw >> RAW_PMC_SHIFT) & RAW_PMC;

	ctr->event = raw & RAW_SELECT;
	ctr->map = pmc ? pmc - 1 : PERFCTR_MAP_ANY;
	ctr->config = (raw >> RAW_THRESHOLD_SHIFT & THRESHOLD) << THRESHOLD_SHIFT |
		      raw >> RAW_THRESHMULT_SHIFT << THRESHMULT_SHIFT;
	return raw & ~(__u64)RAW_BITS ? -1 : 1;
}

static int has_name(const struct perfctr_event *event, const struct perfctr_ctr_control *ctr)
{
	if (event->evntsel != ctr->event || ctr->config)
		return 0;
	return ctr->map == PERFCTR_MAP_ANY || (ctr->map < 32 && event->counters_set >> ctr->map & 1);
}

int perfctr_ppc_format(const struct perfctr_event_set *set, const struct perfctr_ctr_control *ctr,
		       const char *modifier, char *buf, size_t size)
{
	__u64 threshold = ctr->config >> THRESHOLD_SHIFT & THRESHOLD;
	__u64 known = (__u64)THRESHOLD << THRESHOLD_SHIFT | 1ULL << THRESHMULT_SHIFT;
	unsigned int i, pmc = ctr->map == PERFCTR_MAP_ANY ? 0 : ctr->map + 1;

	for (i = 0; i < set->nevents; i++)
		if (has_name(&set->events[i], ctr))
			return snprintf(buf, size, "%s%s", set->events[i].name, modifier);
	if (ctr->config & ~known)
		return snprintf(buf, size, "event 0x%llx/0x%llx%s", ctr->event, ctr->config,
				modifier);
	return snprintf(buf, size, "r%llx%s", ctr->event | (__u64)pmc << RAW_PMC_SHIFT |
			threshold << RAW_THRESHOLD_SHIFT |
			ctr->config >> THRESHMULT_SHIFT << RAW_THRESHMULT_SHIFT, modifier);
}
