// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of 32-bit PowerPCs, by perf's names. Sources: the user's manuals of the 604, 750GX and
 * MPC7400; for the 745x, Linux's arch/powerpc/perf/mpc7450-pmu.c. An event's number is the select
 * of its counter, and most numbers mean different events on different counters.
 *
 * Raw events have perf's form for the 745x: the select in bits 0..6, the counter in bits 8..10
 * (1 is PMC1, 0 is any counter that counts the event), THRESHOLD in bits 12..17, and THRESHMULT in
 * bit 18.
 */
#include <stdio.h>

#include "internal.h"

#define PMC(n)		(1u << ((n) - 1))
#define ANY_2		0x03u
#define ANY_4		0x0fu
#define ANY_6		0x3fu

/*
 * Each event has two names: a C identifier for perfctr_cpu_event_set(), and perf's.
 * events/codes.awk reads these lists too.
 */

/* Events that all counters of the 604 to the 7400 have */
#define COMMON(E, counters)								\
	E(0x01u, counters, "CYCLES", "cycles", "clock cycles of the core")		\
	E(0x02u, counters, "INSTRUCTIONS", "instructions", "instructions completed")

#define PPC_604_EVENTS(E)								\
	COMMON(E, ANY_2)								\
	E(0x05u, PMC(1), "L1_ICACHE_LOAD_MISSES", "L1-icache-load-misses",		\
	  "level 1 instruction cache load misses, with speculative ones")		\
	E(0x06u, PMC(1), "DTLB_LOAD_MISSES", "dTLB-load-misses", "data TLB misses")	\
	E(0x07u, PMC(1), "BRANCH_MISSES", "branch-misses", "branches mispredicted")

#define PPC_604e_EVENTS(E)								\
	COMMON(E, ANY_4)

#define PPC_750_EVENTS(E)								\
	COMMON(E, ANY_4)								\
	E(0x05u, PMC(3), "CACHE_MISSES", "cache-misses", "level 1 data cache misses")	\
	E(0x05u, PMC(2), "L1_ICACHE_LOAD_MISSES", "L1-icache-load-misses",		\
	  "level 1 instruction cache load misses")					\
	E(0x06u, PMC(3), "DTLB_LOAD_MISSES", "dTLB-load-misses", "data TLB misses")	\
	E(0x06u, PMC(2), "ITLB_LOAD_MISSES", "iTLB-load-misses", "instruction TLB misses")

#define PPC_7400_EVENTS(E)								\
	COMMON(E, ANY_4)								\
	E(0x05u, PMC(4), "BRANCH_MISSES", "branch-misses", "branches mispredicted")	\
	E(0x0fu, PMC(2), "L1_DCACHE_LOAD_MISSES", "L1-dcache-load-misses",		\
	  "level 1 data cache load misses, with speculative ones")			\
	E(0x06u, PMC(3), "DTLB_LOAD_MISSES", "dTLB-load-misses", "data TLB misses")	\
	E(0x06u, PMC(2), "ITLB_LOAD_MISSES", "iTLB-load-misses", "instruction TLB misses")

#define PPC_7450_EVENTS(E)								\
	E(0x01u, ANY_6, "CYCLES", "cycles", "clock cycles of the core")			\
	E(0x02u, ANY_4, "INSTRUCTIONS", "instructions", "instructions completed")	\
	E(0x17u, PMC(2), "CACHE_MISSES", "cache-misses", "level 1 data cache misses")	\
	E(0x22u, PMC(1), "BRANCHES", "branches", "branch instructions completed")	\
	E(0x1cu, PMC(4), "BRANCH_MISSES", "branch-misses", "branches mispredicted")	\
	E(0x25u, PMC(2), "L1_DCACHE_LOAD_MISSES", "L1-dcache-load-misses",		\
	  "level 1 data cache load misses")						\
	E(0x27u, PMC(2), "L1_DCACHE_STORE_MISSES", "L1-dcache-store-misses",		\
	  "level 1 data cache store misses")						\
	E(0x29u, PMC(1), "L1_ICACHE_LOADS", "L1-icache-loads",				\
	  "level 1 instruction cache loads")						\
	E(0x15u, PMC(1), "L1_ICACHE_LOAD_MISSES", "L1-icache-load-misses",		\
	  "level 1 instruction cache load misses")					\
	E(0x34u, PMC(6), "L1_ICACHE_PREFETCHES", "L1-icache-prefetches",		\
	  "level 1 instruction cache prefetches")					\
	E(0x12u, PMC(3), "DTLB_LOAD_MISSES", "dTLB-load-misses", "data TLB misses")	\
	E(0x23u, PMC(2), "ITLB_LOAD_MISSES", "iTLB-load-misses", "instruction TLB misses")

#define PERF_NAME(select, counters, id, name, text)	{ select, counters, NULL, name, text },
#define IDENTIFIER(select, counters, id, name, text)	{ select, counters, NULL, id, text },

#define TABLES(cpu)									\
	static const struct perfctr_event ppc_##cpu##_names[] = {			\
		PPC_##cpu##_EVENTS(PERF_NAME)						\
	};										\
	static const struct perfctr_event ppc_##cpu##_identifiers[] = {			\
		PPC_##cpu##_EVENTS(IDENTIFIER)						\
	}

TABLES(604);
TABLES(604e);
TABLES(750);
TABLES(7400);
TABLES(7450);

#define SET(cpu, of) \
	{ .cpu_type = PERFCTR_PPC_##cpu, .event_prefix = "PPC_" #cpu "_", \
	  .nevents = ARRAY_SIZE(ppc_##cpu##_##of), .events = ppc_##cpu##_##of }
#define SETS(of) { SET(604, of), SET(604e, of), SET(750, of), SET(7400, of), SET(7450, of) }

static const struct perfctr_event_set names[] = SETS(names);
static const struct perfctr_event_set identifiers[] = SETS(identifiers);

const struct perfctr_event_set *perfctr_ppc_event_names(unsigned int cpu_type)
{
	return perfctr_find_set(names, ARRAY_SIZE(names), cpu_type);
}

const struct perfctr_event_set *perfctr_ppc_event_set(unsigned int cpu_type)
{
	return perfctr_find_set(identifiers, ARRAY_SIZE(identifiers), cpu_type);
}

#define RAW_SELECT		0x7fu
#define RAW_PMC_SHIFT		8
#define RAW_PMC			7u
#define RAW_THRESHOLD_SHIFT	12
#define RAW_THRESHMULT_SHIFT	18
#define RAW_BITS		0x7f77fu

/* Fields of perfctr_ctr_control.config: MMCR0 is its lower half, MMCR2 its upper half */
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
