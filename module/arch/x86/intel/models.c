// SPDX-License-Identifier: GPL-2.0
/*
 * Facts about each of Intel's models: its errata, and events that only some general-purpose
 * counters can count.
 *
 * Such an event counts zero or something else on the other counters. The right counters are in
 * Intel's lists of events ("Counter" of each event; Software Developer's Manual, volume 3,
 * "Performance Monitoring Events"), and in Linux's driver (arch/x86/events/intel/core.c,
 * intel_*_event_constraints[], by model in intel_pmu_init()). tests/unit/driver/linux compares
 * these tables with Linux's, for each model and each event.
 */

#include <linux/kernel.h>

#include "arch/x86/intel/intel.h"

/**
 * struct perfctr_intel_rule - some events, and the counters that can count them
 * @event: event and unit mask, as in bits 15..0 of the event select
 * @mask: the bits of @event that are compared
 * @last: the rule covers all codes up to @last. 0: only the code of @event
 * @counters: the counters, as a bit map. 0: the end of a table
 *
 * The first rule that matches an event applies.
 */
struct perfctr_intel_rule {
	u16 event;
	u16 mask;
	u8 last;
	u8 counters;
};

/*
 * CODE() is a rule for all events of one code, CODES() for several codes, EVENT() for a single
 * event.
 */
#define CODE(code, counters)		{ code, 0xff, 0, counters }
#define CODES(first, last, counters)	{ first, 0xff, last, counters }
#define EVENT(event, counters)		{ event, 0xffff, 0, counters }

#define ANY	0xff

static const struct perfctr_intel_rule no_rules[] = { {} };

/* These rules are for Core Solo and Core Duo. */
static const struct perfctr_intel_rule core_rules[] = {
	CODES(0x11, 0x13, 0x2),		/* FP_ASSIST, MUL, DIV */
	CODE(0x14, 0x1),		/* CYCLES_DIV_BUSY */
	CODE(0x19, 0x2),		/* DELAYED_BYPASS */
	CODE(0xc1, 0x1),		/* FP_COMP_INSTR_RET */
	{}
};

static const struct perfctr_intel_rule core2_rules[] = {
	CODE(0x10, 0x1),		/* FP_COMP_OPS_EXE */
	CODES(0x11, 0x13, 0x2),		/* FP_ASSIST, MUL, DIV */
	CODE(0x14, 0x1),		/* CYCLES_DIV_BUSY */
	CODE(0x18, 0x1),		/* IDLE_DURING_DIV */
	CODE(0x19, 0x2),		/* DELAYED_BYPASS */
	CODE(0xa1, 0x1),		/* RS_UOPS_DISPATCHED_CYCLES */
	CODE(0xc9, 0x1),		/* ITLB_MISS_RETIRED */
	CODE(0xcb, 0x1),		/* MEM_LOAD_RETIRED */
	{}
};

static const struct perfctr_intel_rule nehalem_rules[] = {
	CODES(0x40, 0x43, 0x3),		/* L1D_CACHE_LD, _ST, _LOCK, L1D_ALL_REF */
	CODE(0x48, 0x3),		/* L1D_PEND_MISS */
	CODE(0x4e, 0x3),		/* L1D_PREFETCH */
	CODE(0x51, 0x3),		/* L1D */
	CODE(0x63, 0x3),		/* CACHE_LOCK_CYCLES */
	{}
};

static const struct perfctr_intel_rule westmere_rules[] = {
	CODE(0x51, 0x3),		/* L1D */
	CODE(0x60, 0x1),		/* OFFCORE_REQUESTS_OUTSTANDING */
	CODE(0x63, 0x3),		/* CACHE_LOCK_CYCLES */
	CODE(0xb3, 0x1),		/* SNOOPQ_REQUESTS_OUTSTANDING */
	{}
};

/*
 * From Sandy Bridge on, a core without hyperthreading has 8 counters. A rule of 0xf means that the
 * upper four counters cannot count the event.
 */
static const struct perfctr_intel_rule sandy_bridge_rules[] = {
	CODE(0x48, 0x4),		/* L1D_PEND_MISS.PENDING */
	EVENT(0x02a3, 0x4),		/* CYCLE_ACTIVITY.CYCLES_L1D_PENDING */
	EVENT(0x04a3, 0xf),		/* CYCLE_ACTIVITY.CYCLES_NO_DISPATCH */
	EVENT(0x05a3, 0xf),		/* CYCLE_ACTIVITY.STALLS_L2_PENDING */
	EVENT(0x06a3, 0x4),		/* CYCLE_ACTIVITY.STALLS_L1D_PENDING */
	EVENT(0x01c0, 0x2),		/* INST_RETIRED.PREC_DIST */
	CODE(0xcd, 0x8),		/* MEM_TRANS_RETIRED */
	CODES(0xd0, 0xd3, 0xf),		/* MEM_UOPS_RETIRED, MEM_LOAD_UOPS_* */
	{}
};

static const struct perfctr_intel_rule ivy_bridge_rules[] = {
	EVENT(0x0148, 0x4),		/* L1D_PEND_MISS.PENDING */
	EVENT(0x0279, 0xf),		/* IDQ.EMPTY */
	EVENT(0x019c, 0xf),		/* IDQ_UOPS_NOT_DELIVERED.CORE */
	EVENT(0x02a3, 0xf),		/* CYCLE_ACTIVITY.CYCLES_LDM_PENDING */
	EVENT(0x04a3, 0xf),		/* CYCLE_ACTIVITY.CYCLES_NO_EXECUTE */
	EVENT(0x05a3, 0xf),		/* CYCLE_ACTIVITY.STALLS_L2_PENDING */
	EVENT(0x06a3, 0xf),		/* CYCLE_ACTIVITY.STALLS_LDM_PENDING */
	EVENT(0x08a3, 0x4),		/* CYCLE_ACTIVITY.CYCLES_L1D_PENDING */
	EVENT(0x0ca3, 0x4),		/* CYCLE_ACTIVITY.STALLS_L1D_PENDING */
	EVENT(0x01c0, 0x2),		/* INST_RETIRED.PREC_DIST */
	CODES(0xd0, 0xd3, 0xf),		/* MEM_UOPS_RETIRED, MEM_LOAD_UOPS_* */
	{}
};

static const struct perfctr_intel_rule haswell_rules[] = {
	EVENT(0x0148, 0x4),		/* L1D_PEND_MISS.PENDING */
	EVENT(0x04a3, 0xf),		/* CYCLE_ACTIVITY.CYCLES_NO_EXECUTE */
	EVENT(0x08a3, 0x4),		/* CYCLE_ACTIVITY.CYCLES_L1D_PENDING */
	EVENT(0x0ca3, 0x4),		/* CYCLE_ACTIVITY.STALLS_L1D_PENDING */
	EVENT(0x01c0, 0x2),		/* INST_RETIRED.PREC_DIST */
	CODE(0xcd, 0x8),		/* MEM_TRANS_RETIRED */
	CODES(0xd0, 0xd3, 0xf),		/* MEM_UOPS_RETIRED, MEM_LOAD_UOPS_* */
	{}
};

static const struct perfctr_intel_rule broadwell_rules[] = {
	EVENT(0x0148, 0x4),		/* L1D_PEND_MISS.PENDING */
	{ 0x08a3, 0x08ff, 0, 0x4 },	/* bit 3 of the unit mask: CYCLE_ACTIVITY.*_L1D_MISS */
	CODE(0xcd, 0xf),		/* MEM_TRANS_RETIRED */
	CODES(0xd0, 0xd2, 0xf),		/* MEM_UOPS_RETIRED, MEM_LOAD_UOPS_* */
	{}
};

/* These rules also serve Kaby Lake, Coffee Lake, Comet Lake and Cascade Lake. */
static const struct perfctr_intel_rule skylake_rules[] = {
	EVENT(0x01c0, 0x2),		/* INST_RETIRED.PREC_DIST */
	CODE(0xc6, 0xf),		/* FRONTEND_RETIRED */
	CODE(0xcd, 0xf),		/* MEM_TRANS_RETIRED */
	CODES(0xd0, 0xd2, 0xf),		/* MEM_INST_RETIRED, MEM_LOAD_*RETIRED */
	{}
};

/* Each hyperthread has 8 counters. These rules also serve Tiger Lake and Rocket Lake. */
static const struct perfctr_intel_rule ice_lake_rules[] = {
	CODES(0x03, 0x0a, 0xf), CODES(0x1f, 0x28, 0xf), CODE(0x32, 0xf),
	CODES(0x48, 0x56, 0xf), CODES(0x60, 0x8b, 0xf),
	EVENT(0x04a3, ANY),		/* CYCLE_ACTIVITY.STALLS_TOTAL */
	EVENT(0x10a3, ANY),		/* CYCLE_ACTIVITY.CYCLES_MEM_ANY */
	EVENT(0x14a3, ANY),		/* CYCLE_ACTIVITY.STALLS_MEM_ANY */
	CODE(0xa3, 0xf), CODES(0xa8, 0xb0, 0xf), CODES(0xb7, 0xbd, 0xf),
	CODES(0xd0, 0xe6, 0xf), CODES(0xef, 0xf4, 0xf),
	{}
};

/*
 * These rules are for Sapphire, Emerald and Granite Rapids, Bartlett Lake, and the larger cores of
 * Alder Lake to Meteor Lake.
 */
static const struct perfctr_intel_rule golden_cove_rules[] = {
	CODE(0x2e, ANY), CODE(0x3c, ANY), CODES(0x01, 0x8f, 0xf),
	/* CYCLE_ACTIVITY. The last three of these rules are in Linux 7.2, but not in Linux 6.12. */
	EVENT(0x01a3, 0xf), EVENT(0x02a3, 0xf), EVENT(0x08a3, 0xf),
	EVENT(0x05a3, 0xf), EVENT(0x06a3, 0xf), EVENT(0x0ca3, 0xf),
	EVENT(0x04a4, 0x1),		/* TOPDOWN.BAD_SPEC_SLOTS */
	EVENT(0x08a4, 0x1),		/* TOPDOWN.BR_MISPREDICT_SLOTS */
	EVENT(0x01cd, 0xfe),		/* MEM_TRANS_RETIRED.LOAD_LATENCY; as in Linux 7.2 */
	EVENT(0x02cd, 0x1),		/* MEM_TRANS_RETIRED.STORE_SAMPLE */
	CODE(0xce, 0x1),		/* AMX_OPS_RETIRED */
	CODES(0xd0, 0xdf, 0xf),
	{}
};

/* Each model has its rules, its errata, and the least period if it is larger than usual. */
static const struct perfctr_intel_model
	core = { core_rules, 0, 0 },
	core2 = { core2_rules, 0, 0 },
	nehalem = { nehalem_rules, PERFCTR_INTEL_RESET, 32 },
	westmere = { westmere_rules, PERFCTR_INTEL_RESET, 0 },
	sandy_bridge = { sandy_bridge_rules, PERFCTR_INTEL_SIBLINGS, 0 },
	ivy_bridge = { ivy_bridge_rules, PERFCTR_INTEL_SIBLINGS, 0 },
	haswell = { haswell_rules, PERFCTR_INTEL_SIBLINGS | PERFCTR_INTEL_PREC_DIST, 32 },
	broadwell = { broadwell_rules, PERFCTR_INTEL_PREC_DIST, 0 },
	skylake = { skylake_rules, 0, 0 },
	ice_lake = { ice_lake_rules, 0, 0 },
	golden_cove = { golden_cove_rules, 0, 0 },
	/*
	 * Bonnell, Saltwell, Silvermont, Airmont, Goldmont, Tremont, Gracemont and Crestmont are
	 * alike.
	 */
	atom = { no_rules, 0, 0 },
	knights = { no_rules, 0, 0 };

/*
 * For a hybrid processor this table has the model of the larger cores. The smaller cores are like
 * atom.
 */
static const struct {
	u8 number;
	const struct perfctr_intel_model *model;
} models[] = {
	{ 0x0e, &core },
	{ 0x0f, &core2 }, { 0x16, &core2 }, { 0x17, &core2 }, { 0x1d, &core2 },
	{ 0x1a, &nehalem }, { 0x1e, &nehalem }, { 0x2e, &nehalem },
	{ 0x25, &westmere }, { 0x2c, &westmere }, { 0x2f, &westmere },
	{ 0x2a, &sandy_bridge }, { 0x2d, &sandy_bridge },
	{ 0x3a, &ivy_bridge }, { 0x3e, &ivy_bridge },
	{ 0x3c, &haswell }, { 0x3f, &haswell }, { 0x45, &haswell }, { 0x46, &haswell },
	{ 0x3d, &broadwell }, { 0x47, &broadwell }, { 0x4f, &broadwell }, { 0x56, &broadwell },
	{ 0x4e, &skylake }, { 0x5e, &skylake }, { 0x55, &skylake }, { 0x8e, &skylake },
	{ 0x9e, &skylake }, { 0xa5, &skylake }, { 0xa6, &skylake },
	{ 0x6a, &ice_lake }, { 0x6c, &ice_lake }, { 0x7d, &ice_lake }, { 0x7e, &ice_lake },
	{ 0x8c, &ice_lake }, { 0x8d, &ice_lake }, { 0xa7, &ice_lake },
	{ 0x8f, &golden_cove }, { 0xcf, &golden_cove },
	{ 0xad, &golden_cove }, { 0xae, &golden_cove },
	{ 0x97, &golden_cove }, { 0x9a, &golden_cove },
	{ 0xb7, &golden_cove }, { 0xba, &golden_cove }, { 0xbf, &golden_cove },
	{ 0xd7, &golden_cove },
	{ 0xaa, &golden_cove }, { 0xac, &golden_cove }, { 0xb5, &golden_cove },
	{ 0x57, &knights }, { 0x85, &knights },
	{ 0x1c, &atom }, { 0x26, &atom }, { 0x27, &atom }, { 0x35, &atom }, { 0x36, &atom },
	{ 0x37, &atom }, { 0x4a, &atom }, { 0x4c, &atom }, { 0x4d, &atom }, { 0x5a, &atom },
	{ 0x75, &atom },
	{ 0x5c, &atom }, { 0x5f, &atom }, { 0x7a, &atom },
	{ 0x86, &atom }, { 0x96, &atom }, { 0x9c, &atom },
	{ 0xbe, &atom }, { 0xaf, &atom }, { 0xb6, &atom },
};

const struct perfctr_intel_model *perfctr_intel_model_find(u8 number)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (models[i].number == number)
			return models[i].model;
	return NULL;
}

u32 perfctr_intel_model_counters(const struct perfctr_intel_model *model, u64 event)
{
	const struct perfctr_intel_rule *rule;

	for (rule = model->rules; rule->counters; rule++) {
		u16 found = event & rule->mask;

		if (found == rule->event || (found > rule->event && found <= rule->last))
			return rule->counters;
	}
	return ANY;
}

bool perfctr_intel_model_is_bad(const struct perfctr_intel_model *model, u64 event, bool ictr,
				bool smt)
{
	u8 code = event;

	if (model->errata & PERFCTR_INTEL_SIBLINGS && smt && code >= 0xd0 && code <= 0xd3)
		return true;
	return model->errata & PERFCTR_INTEL_PREC_DIST && ictr && (event & 0xffff) == 0x01c0;
}
