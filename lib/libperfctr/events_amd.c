// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of AMD's processors by perf's names. There is a table for each generation that perf
 * distinguishes (Linux, arch/x86/events/amd/core.c).
 */
#include "internal.h"

#define EVENT(code, name, text)	{ code, CTRS, NULL, name, text }
#define CTRS	0x00ffffffu

/* An event whose number has bits above the low 16 of the event select; see perfctr_amd_event() */
#define WIDE(high, low)	((high) << 16 | (low))

#define BASIC							\
	EVENT(0x0076u, "cycles", "clock cycles of the core"),		\
	EVENT(0x00c0u, "instructions", "instructions completed"),		\
	EVENT(0x00c2u, "branches", "branch instructions completed"),	\
	EVENT(0x00c3u, "branch-misses", "branches mispredicted")

/* The events of K7 to family 16h */
#define OLD								\
	BASIC,							\
	EVENT(0x077du, "cache-references", "level 2 cache accesses"), \
	EVENT(0x077eu, "cache-misses", "level 2 cache accesses that missed"), \
	EVENT(0x00d0u, "stalled-cycles-frontend", "cycles without instructions to issue"), \
	EVENT(0x00d1u, "stalled-cycles-backend", "cycles without room to issue to"), \
	EVENT(0x0040u, "L1-dcache-loads", "level 1 data cache accesses"), \
	EVENT(0x0141u, "L1-dcache-load-misses", "level 1 data cache misses"), \
	EVENT(0x0267u, "L1-dcache-prefetches", "level 1 data cache prefetches"), \
	EVENT(0x0167u, "L1-dcache-prefetch-misses", "level 1 data cache prefetches that were cancelled"), \
	EVENT(0x0080u, "L1-icache-loads", "level 1 instruction cache fetches"), \
	EVENT(0x0081u, "L1-icache-load-misses", "level 1 instruction cache misses"), \
	EVENT(0x014bu, "L1-icache-prefetches", "level 1 instruction cache prefetches"), \
	EVENT(0x037du, "LLC-loads", "level 2 cache accesses, of loads and fetches"), \
	EVENT(0x037eu, "LLC-load-misses", "level 2 cache misses, of loads and fetches"), \
	EVENT(0x017fu, "LLC-stores", "level 2 cache fills and writebacks"), \
	EVENT(0x0746u, "dTLB-load-misses", "data TLB misses"), \
	EVENT(0x0385u, "iTLB-load-misses", "instruction TLB misses")

static const struct perfctr_event old_events[] = {
	OLD
};

/* The events of K8 and family 10h, whose cores also count events of the northbridge */
static const struct perfctr_event northbridge_events[] = {
	OLD,
	EVENT(0xb8e9u, "node-loads", "requests to memory, of all cores"),
	EVENT(0x98e9u, "node-load-misses", "requests to memory of other nodes, of all cores"),
};

#define ZEN								\
	BASIC,							\
	EVENT(0xff60u, "cache-references", "level 2 cache accesses"),	\
	EVENT(0x0964u, "cache-misses", "level 2 cache accesses that missed"), \
	EVENT(0x0040u, "L1-dcache-loads", "level 1 data cache accesses"),	\
	EVENT(0xc860u, "L1-dcache-load-misses", "level 1 data cache misses"), \
	EVENT(0xff5au, "L1-dcache-prefetches", "level 1 data cache prefetches"), \
	EVENT(0x0080u, "L1-icache-loads", "level 1 instruction cache fetches"), \
	EVENT(0x0081u, "L1-icache-load-misses", "level 1 instruction cache misses"), \
	EVENT(0xff45u, "dTLB-loads", "level 2 data TLB accesses"),	\
	EVENT(0xf045u, "dTLB-load-misses", "level 2 data TLB misses"),	\
	EVENT(0x0084u, "iTLB-loads", "level 2 instruction TLB hits"),	\
	EVENT(0xff85u, "iTLB-load-misses", "level 2 instruction TLB misses")
#define ZEN_FRONTEND(code)						\
	EVENT(code, "stalled-cycles-frontend", "cycles without instructions to issue")

static const struct perfctr_event zen_events[] = {
	ZEN,
	ZEN_FRONTEND(0x0287u),
	EVENT(0x0187u, "stalled-cycles-backend", "cycles without room to issue to"),
};

static const struct perfctr_event zen2_events[] = {
	ZEN,
	ZEN_FRONTEND(0x00a9u),
};

static const struct perfctr_event zen4_events[] = {
	ZEN,
	ZEN_FRONTEND(0x00a9u),
	EVENT(WIDE(1u, 0x0120u), "ref-cycles", "cycles at a constant reference frequency"),
};

#define SET(type, prefix, of) \
	{ .cpu_type = (type), .event_prefix = (prefix), \
	  .nevents = ARRAY_SIZE(of), .events = (of) }

static const struct perfctr_event_set sets[] = {
	SET(PERFCTR_X86_AMD_K7, "K7_", old_events),
	SET(PERFCTR_X86_AMD_K8, "K8_", northbridge_events),
	SET(PERFCTR_X86_AMD_K8C, "K8C_", northbridge_events),
	SET(PERFCTR_X86_AMD_FAM10H, "FAM10H_", northbridge_events),
	SET(PERFCTR_X86_AMD_FAM15H, "FAM15H_", old_events),
	SET(PERFCTR_X86_AMD_ZEN, "ZEN_", zen_events),
	SET(PERFCTR_X86_AMD_ZEN2, "ZEN2_", zen2_events),
	SET(PERFCTR_X86_AMD_ZEN4, "ZEN4_", zen4_events),
};

const struct perfctr_event_set *perfctr_amd_event_names(unsigned int cpu_type)
{
	return perfctr_find_set(sets, ARRAY_SIZE(sets), cpu_type);
}

__u64 perfctr_amd_event(unsigned int evntsel)
{
	return (evntsel & 0xffffu) | ((__u64)evntsel << 16 & PERFCTR_AMD_HIGH);
}
