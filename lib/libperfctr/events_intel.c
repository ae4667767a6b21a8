// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * perf's cache events on each model of Intel's family 6 (Linux 7, arch/x86/events/intel/core.c
 * and p6.c: *_hw_cache_event_ids, *_hw_cache_extra_regs, intel_pmu_init()). A model cannot count an
 * event that its table lacks. perf has names for some such events, but refuses them because the
 * model's register lacks their bits. tests/check.sh events compares each model with Linux.
 */
#include <linux/perf_event.h>

#include "internal.h"

#define LOADS		(PERF_COUNT_HW_CACHE_OP_READ << 8)
#define STORES		(PERF_COUNT_HW_CACHE_OP_WRITE << 8)
#define PREFETCHES	(PERF_COUNT_HW_CACHE_OP_PREFETCH << 8)
#define MISSES		(PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

#define EVENT(cache, what, event)	OFFCORE(cache, what, event, 0)
/* An event of off-core responses has a register of its own; @value is that register's value. */
#define OFFCORE(cache, what, event, value) \
	{ PERF_COUNT_HW_CACHE_##cache | (what), event, value }
#define END	{ 0, 0, 0 }

/* Off-core responses to loads, load misses, stores and store misses */
#define RESPONSES(cache, event, loads, load_misses, stores, store_misses) \
	OFFCORE(cache, LOADS, event, loads), OFFCORE(cache, LOADS | MISSES, event, load_misses), \
	OFFCORE(cache, STORES, event, stores), OFFCORE(cache, STORES | MISSES, event, store_misses)
/* Off-core responses to prefetches and their misses */
#define MORE_RESPONSES(cache, event, prefetches, prefetch_misses) \
	OFFCORE(cache, PREFETCHES, event, prefetches), \
	OFFCORE(cache, PREFETCHES | MISSES, event, prefetch_misses)

#define BRANCHES \
	EVENT(BPU, LOADS, 0x00c4), EVENT(BPU, LOADS | MISSES, 0x00c5)

/* The cache events of Pentium Pro to Pentium M */
static const struct perfctr_intel_cache p6[] = {
	EVENT(L1D, LOADS, 0x0043), EVENT(L1D, LOADS | MISSES, 0x0045),
	EVENT(L1D, STORES | MISSES, 0x0f29),
	EVENT(L1I, LOADS, 0x0080), EVENT(L1I, LOADS | MISSES, 0x0f28),
	EVENT(LL, STORES | MISSES, 0x0025),
	EVENT(DTLB, LOADS, 0x0043),
	EVENT(ITLB, LOADS, 0x0080), EVENT(ITLB, LOADS | MISSES, 0x0085),
	BRANCHES, END
};

static const struct perfctr_intel_cache core2[] = {
	EVENT(L1D, LOADS, 0x0f40), EVENT(L1D, LOADS | MISSES, 0x0140),
	EVENT(L1D, STORES, 0x0f41), EVENT(L1D, STORES | MISSES, 0x0141),
	EVENT(L1D, PREFETCHES, 0x104e),
	EVENT(L1I, LOADS, 0x0080), EVENT(L1I, LOADS | MISSES, 0x0081),
	EVENT(LL, LOADS, 0x4f29), EVENT(LL, LOADS | MISSES, 0x4129),
	EVENT(LL, STORES, 0x4f2a), EVENT(LL, STORES | MISSES, 0x412a),
	EVENT(DTLB, LOADS, 0x0f40), EVENT(DTLB, LOADS | MISSES, 0x0208),
	EVENT(DTLB, STORES, 0x0f41), EVENT(DTLB, STORES | MISSES, 0x0808),
	EVENT(ITLB, LOADS, 0x00c0), EVENT(ITLB, LOADS | MISSES, 0x1282),
	BRANCHES, END
};

/* The cache events of Bonnell and Saltwell */
static const struct perfctr_intel_cache atom[] = {
	EVENT(L1D, LOADS, 0x2140), EVENT(L1D, STORES, 0x2240),
	EVENT(L1I, LOADS, 0x0380), EVENT(L1I, LOADS | MISSES, 0x0280),
	EVENT(LL, LOADS, 0x4f29), EVENT(LL, LOADS | MISSES, 0x4129),
	EVENT(LL, STORES, 0x4f2a), EVENT(LL, STORES | MISSES, 0x412a),
	EVENT(DTLB, LOADS, 0x2140), EVENT(DTLB, LOADS | MISSES, 0x0508),
	EVENT(DTLB, STORES, 0x2240), EVENT(DTLB, STORES | MISSES, 0x0608),
	EVENT(ITLB, LOADS, 0x00c0), EVENT(ITLB, LOADS | MISSES, 0x0282),
	BRANCHES, END
};

#define NEHALEM								\
	EVENT(L1D, LOADS, 0x010b), EVENT(L1D, LOADS | MISSES, 0x0151),	\
	EVENT(L1D, STORES, 0x020b), EVENT(L1D, STORES | MISSES, 0x0251), \
	EVENT(L1D, PREFETCHES, 0x014e), EVENT(L1D, PREFETCHES | MISSES, 0x024e), \
	EVENT(L1I, LOADS, 0x0380), EVENT(L1I, LOADS | MISSES, 0x0280),	\
	RESPONSES(LL, 0x01b7, 0xf701, 0xf001, 0xf70a, 0xf00a),		\
	MORE_RESPONSES(LL, 0x01b7, 0xf730, 0xf030),			\
	RESPONSES(NODE, 0x01b7, 0x7001, 0x2001, 0x700a, 0x200a),	\
	MORE_RESPONSES(NODE, 0x01b7, 0x7030, 0x2030),			\
	EVENT(DTLB, LOADS | MISSES, 0x0108), EVENT(DTLB, STORES | MISSES, 0x010c), \
	EVENT(ITLB, LOADS, 0x01c0),					\
	EVENT(BPU, LOADS, 0x00c4), EVENT(BPU, LOADS | MISSES, 0x03e8)

static const struct perfctr_intel_cache nehalem[] = {
	NEHALEM,
	EVENT(DTLB, LOADS, 0x0f40), EVENT(DTLB, STORES, 0x0f41), EVENT(ITLB, LOADS | MISSES, 0x20c8),
	END
};

static const struct perfctr_intel_cache westmere[] = {
	NEHALEM,
	EVENT(DTLB, LOADS, 0x010b), EVENT(DTLB, STORES, 0x020b), EVENT(ITLB, LOADS | MISSES, 0x0185),
	END
};

#define SANDY_BRIDGE							\
	EVENT(L1D, LOADS, 0xf1d0), EVENT(L1D, LOADS | MISSES, 0x0151),	\
	EVENT(L1D, STORES, 0xf2d0), EVENT(L1D, STORES | MISSES, 0x0851), \
	EVENT(L1D, PREFETCHES | MISSES, 0x024e),			\
	EVENT(L1I, LOADS | MISSES, 0x0280),				\
	OFFCORE(LL, LOADS, 0x01b7, 0x10081), OFFCORE(LL, STORES, 0x01b7, 0x10102), \
	OFFCORE(LL, PREFETCHES, 0x01b7, 0x10030),			\
	EVENT(DTLB, LOADS, 0x81d0),					\
	EVENT(DTLB, STORES, 0x82d0), EVENT(DTLB, STORES | MISSES, 0x0149), \
	EVENT(ITLB, LOADS, 0x1085), EVENT(ITLB, LOADS | MISSES, 0x0185), \
	BRANCHES

/* Only servers have the bits for these events in the register of off-core responses. */
#define SANDY_BRIDGE_SERVER						\
	SANDY_BRIDGE,							\
	OFFCORE(LL, LOADS | MISSES, 0x01b7, 0x3fffc00081),		\
	OFFCORE(LL, STORES | MISSES, 0x01b7, 0x3fffc00102),		\
	OFFCORE(LL, PREFETCHES | MISSES, 0x01b7, 0x3fffc00030),		\
	RESPONSES(NODE, 0x01b7, 0x1fffc00081, 0x1fff800081, 0x1fffc00102, 0x1fff800102), \
	MORE_RESPONSES(NODE, 0x01b7, 0x1fffc00030, 0x1fff800030)

static const struct perfctr_intel_cache sandy_bridge[] = {
	SANDY_BRIDGE, EVENT(DTLB, LOADS | MISSES, 0x0108), END
};

static const struct perfctr_intel_cache sandy_bridge_server[] = {
	SANDY_BRIDGE_SERVER, EVENT(DTLB, LOADS | MISSES, 0x0108), END
};

static const struct perfctr_intel_cache ivy_bridge[] = {
	SANDY_BRIDGE, EVENT(DTLB, LOADS | MISSES, 0x8108), END
};

static const struct perfctr_intel_cache ivy_bridge_server[] = {
	SANDY_BRIDGE_SERVER, EVENT(DTLB, LOADS | MISSES, 0x8108), END
};

/* The events that are equal on Haswell and its successors */
#define HASWELL								\
	EVENT(L1D, LOADS, 0x81d0), EVENT(L1D, LOADS | MISSES, 0x0151), EVENT(L1D, STORES, 0x82d0), \
	EVENT(DTLB, LOADS, 0x81d0), EVENT(DTLB, STORES, 0x82d0),	\
	BRANCHES

#define HASWELL_TLBS							\
	EVENT(L1I, LOADS | MISSES, 0x0280),				\
	EVENT(DTLB, LOADS | MISSES, 0x0108), EVENT(DTLB, STORES | MISSES, 0x0149), \
	EVENT(ITLB, LOADS, 0x6085), EVENT(ITLB, LOADS | MISSES, 0x0185)

static const struct perfctr_intel_cache haswell[] = {
	HASWELL, HASWELL_TLBS,
	RESPONSES(LL, 0x01b7, 0x10001, 0x3fb8400001, 0x10002, 0x3fb8400002),
	RESPONSES(NODE, 0x01b7, 0x1f80400001, 0x1fb8000001, 0x1f80400002, 0x1fb8000002),
	END
};

static const struct perfctr_intel_cache broadwell[] = {
	HASWELL, HASWELL_TLBS,
	RESPONSES(LL, 0x01b7, 0x10001, 0x1fbc000001, 0x10002, 0x1fbc000002),
	RESPONSES(NODE, 0x01b7, 0x1f84000001, 0x1fb8000001, 0x1f84000002, 0x1fb8000002),
	END
};

#define SKYLAKE								\
	HASWELL,							\
	EVENT(L1I, LOADS | MISSES, 0x0283),				\
	EVENT(DTLB, LOADS | MISSES, 0x0e08), EVENT(DTLB, STORES | MISSES, 0x0e49), \
	EVENT(ITLB, LOADS | MISSES, 0x0e85)

#define SKYLAKE_RESPONSES						\
	RESPONSES(LL, 0x01b7, 0x3fc0010001, 0x3ffc020001, 0x3fc0010002, 0x3ffc020002), \
	RESPONSES(NODE, 0x01b7, 0x1fc4000001, 0x1ff8000001, 0x1fc4000002, 0x1ff8000002)

static const struct perfctr_intel_cache skylake[] = {
	SKYLAKE, SKYLAKE_RESPONSES, EVENT(ITLB, LOADS, 0x2085), END
};

static const struct perfctr_intel_cache ice_lake[] = {
	SKYLAKE, SKYLAKE_RESPONSES, END
};

static const struct perfctr_intel_cache ice_lake_server[] = {
	SKYLAKE,
	RESPONSES(LL, 0x01b7, 0x10001, 0x3fbfc00001, 0x3f3ffc0002, 0x3f3fc00002),
	RESPONSES(NODE, 0x01b7, 0x104000001, 0x730000001, 0x104000002, 0x730000002),
	END
};

#define GOLDEN_COVE							\
	EVENT(L1D, LOADS, 0x81d0), EVENT(L1D, LOADS | MISSES, 0xe124), EVENT(L1D, STORES, 0x82d0), \
	EVENT(L1I, LOADS | MISSES, 0xe424),				\
	EVENT(DTLB, LOADS, 0x81d0), EVENT(DTLB, LOADS | MISSES, 0x0e12), \
	EVENT(DTLB, STORES, 0x82d0), EVENT(DTLB, STORES | MISSES, 0x0e13), \
	EVENT(ITLB, LOADS | MISSES, 0x0e11),				\
	EVENT(BPU, LOADS, 0x04c4), EVENT(BPU, LOADS | MISSES, 0x04c5)

static const struct perfctr_intel_cache golden_cove[] = {
	GOLDEN_COVE, RESPONSES(LL, 0x012a, 0x10001, 0x3fbfc00001, 0x10002, 0x3fbfc00002), END
};

/* The cache events of Sapphire, Emerald and Granite Rapids */
static const struct perfctr_intel_cache golden_cove_server[] = {
	GOLDEN_COVE,
	RESPONSES(LL, 0x012a, 0x10001, 0x3fbfc00001, 0x3f3ffc0002, 0x3f3fc00002),
	OFFCORE(NODE, LOADS, 0x012a, 0x104000001), OFFCORE(NODE, LOADS | MISSES, 0x012a, 0x730000001),
	END
};

/* The event of instruction TLB misses lasts for cycles, so its edges (bit 18) are counted. */
#define SILVERMONT							\
	EVENT(L1D, LOADS | MISSES, 0x0104),				\
	EVENT(L1I, LOADS, 0x0380), EVENT(L1I, LOADS | MISSES, 0x0280),	\
	OFFCORE(LL, LOADS, 0x01b7, 0x10001), OFFCORE(LL, STORES, 0x01b7, 0x10002), \
	EVENT(DTLB, LOADS | MISSES, 0x0804),				\
	EVENT(ITLB, LOADS, 0x00c0), EVENT(ITLB, LOADS | MISSES, 0x40205), \
	BRANCHES

/* The cache events of Silvermont and Airmont */
static const struct perfctr_intel_cache silvermont[] = {
	SILVERMONT,
	OFFCORE(LL, STORES | MISSES, 0x01b7, 0x3680000002),
	MORE_RESPONSES(LL, 0x01b7, 0x10030, 0x3680000030),
	END
};

static const struct perfctr_intel_cache knights_landing[] = {
	SILVERMONT, END
};

/* The events that are equal on Goldmont and all later small cores */
#define GOLDMONT							\
	EVENT(L1D, LOADS, 0x81d0), EVENT(L1D, STORES, 0x82d0),		\
	EVENT(L1I, LOADS, 0x0380), EVENT(L1I, LOADS | MISSES, 0x0280),	\
	EVENT(DTLB, LOADS, 0x81d0), EVENT(DTLB, STORES, 0x82d0),	\
	EVENT(ITLB, LOADS | MISSES, 0x0481),				\
	BRANCHES

#define GOLDMONT_RESPONSES(load_misses, store_misses) \
	RESPONSES(LL, 0x01b7, 0x10001, load_misses, 0x10002, store_misses)

#define GOLDMONT_PLUS							\
	GOLDMONT,							\
	EVENT(DTLB, LOADS | MISSES, 0x0e08), EVENT(DTLB, STORES | MISSES, 0x0e49)

static const struct perfctr_intel_cache goldmont[] = {
	GOLDMONT, GOLDMONT_RESPONSES(0x3600000001, 0x3600000002),
	MORE_RESPONSES(LL, 0x01b7, 0x10030, 0x3600000030), EVENT(ITLB, LOADS, 0x00c0),
	END
};

static const struct perfctr_intel_cache goldmont_plus[] = {
	GOLDMONT_PLUS, GOLDMONT_RESPONSES(0x3600000001, 0x3600000002), EVENT(ITLB, LOADS, 0x00c0), END
};

static const struct perfctr_intel_cache tremont[] = {
	GOLDMONT_PLUS, GOLDMONT_RESPONSES(0x3f04000001, 0x3f04000002), END
};

static const struct perfctr_intel_cache gracemont[] = {
	GOLDMONT_PLUS, GOLDMONT_RESPONSES(0x3f84400001, 0x3f84400002), END
};

static const struct perfctr_intel_cache crestmont[] = {
	GOLDMONT_PLUS, GOLDMONT_RESPONSES(0x3fbfc00001, 0x3fbfc00002), END
};

/* The cache events that are the same on all cores of hybrid processors */
static const struct perfctr_intel_cache hybrid[] = {
	EVENT(L1D, LOADS, 0x81d0), EVENT(L1D, STORES, 0x82d0),
	EVENT(DTLB, LOADS, 0x81d0), EVENT(DTLB, STORES, 0x82d0),
	END
};

static const struct {
	unsigned char model;
	const struct perfctr_intel_cache *caches;
} models[] = {
	{ 0x01, p6 }, { 0x03, p6 }, { 0x05, p6 }, { 0x06, p6 }, { 0x07, p6 }, { 0x08, p6 },
	{ 0x09, p6 }, { 0x0a, p6 }, { 0x0b, p6 }, { 0x0d, p6 },
	{ 0x0f, core2 }, { 0x16, core2 }, { 0x17, core2 }, { 0x1d, core2 },
	{ 0x1a, nehalem }, { 0x1e, nehalem }, { 0x2e, nehalem },
	{ 0x25, westmere }, { 0x2c, westmere }, { 0x2f, westmere },
	{ 0x2a, sandy_bridge }, { 0x2d, sandy_bridge_server },
	{ 0x3a, ivy_bridge }, { 0x3e, ivy_bridge_server },
	{ 0x3c, haswell }, { 0x3f, haswell }, { 0x45, haswell }, { 0x46, haswell },
	{ 0x3d, broadwell }, { 0x47, broadwell }, { 0x4f, broadwell }, { 0x56, broadwell },
	{ 0x4e, skylake }, { 0x5e, skylake }, { 0x55, skylake }, { 0x8e, skylake },
	{ 0x9e, skylake }, { 0xa5, skylake }, { 0xa6, skylake },
	{ 0x7d, ice_lake }, { 0x7e, ice_lake }, { 0x8c, ice_lake }, { 0x8d, ice_lake },
	{ 0xa7, ice_lake },
	{ 0x6a, ice_lake_server }, { 0x6c, ice_lake_server },
	{ 0x97, golden_cove }, { 0x9a, golden_cove }, { 0xb7, golden_cove }, { 0xba, golden_cove },
	{ 0xbf, golden_cove }, { 0xaa, golden_cove }, { 0xac, golden_cove }, { 0xb5, golden_cove },
	{ 0x8f, golden_cove_server }, { 0xcf, golden_cove_server },
	{ 0xad, golden_cove_server }, { 0xae, golden_cove_server },
	{ 0x57, knights_landing }, { 0x85, knights_landing },
	{ 0x1c, atom }, { 0x26, atom }, { 0x27, atom }, { 0x35, atom }, { 0x36, atom },
	{ 0x37, silvermont }, { 0x4a, silvermont }, { 0x4c, silvermont }, { 0x4d, silvermont },
	{ 0x5a, silvermont }, { 0x75, silvermont },
	{ 0x5c, goldmont }, { 0x5f, goldmont }, { 0x7a, goldmont_plus },
	{ 0x86, tremont }, { 0x96, tremont }, { 0x9c, tremont },
	{ 0xbe, gracemont }, { 0xaf, crestmont }, { 0xb6, crestmont },
};

const struct perfctr_intel_cache *perfctr_intel_caches(unsigned int model)
{
	size_t i;

	if (model & PERFCTR_INTEL_HYBRID)
		return hybrid;
	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (models[i].model == model)
			return models[i].caches;
	return NULL;
}
