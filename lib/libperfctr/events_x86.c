// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of Intel's processors with event selects of the P6's layout: architectural events, and
 * similar events of the P6 (Intel SDM, chapters on performance monitoring).
 */
#include "events.h"

#define X86(code, name, text)	{ code, X86_PROG, NULL, name, text }
#define METRIC(metric, name, text)					\
	{ PERFCTR_EVENT_METRIC(PERFCTR_METRIC_##metric), 1u << X86_FIXED_SLOTS, NULL, \
	  "topdown-" name, text }

/* Architectural events in the order of CPUID leaf 10's bits, then other events of fixed counters */
const struct perfctr_event perfctr_arch_events[] = {
	X86(0x003cu, "cycles", "clock cycles of the core"),
	X86(0x00c0u, "instructions", "instructions completed"),
	X86(0x013cu, "bus-cycles", "cycles of the bus"),
	X86(0x4f2eu, "cache-references", "last level cache accesses"),
	X86(0x412eu, "cache-misses", "last level cache accesses that missed"),
	X86(0x00c4u, "branches", "branch instructions completed"),
	X86(0x00c5u, "branch-misses", "branches mispredicted"),
	{ 0x013cu, 1u << X86_FIXED_REF, NULL, "ref-cycles",
	  "cycles at a constant reference frequency" },
	{ PERFCTR_EVENT_SLOTS, 1u << X86_FIXED_SLOTS, NULL, "slots",
	  "slots of the pipeline for operations" },
	METRIC(RETIRING, "retiring", "slots of operations that were completed"),
	METRIC(BAD_SPEC, "bad-spec", "slots lost by wrong speculation"),
	METRIC(FE_BOUND, "fe-bound", "slots for which the front end had no operation"),
	METRIC(BE_BOUND, "be-bound", "slots for which the back end had no room"),
	METRIC(HEAVY_OPS, "heavy-ops", "of retiring: of instructions of several operations"),
	METRIC(BR_MISPREDICT, "br-mispredict", "of bad-spec: by mispredicted branches"),
	METRIC(FETCH_LAT, "fetch-lat", "of fe-bound: for want of instructions"),
	METRIC(MEM_BOUND, "mem-bound", "of be-bound: by waiting for memory"),
};

/* Events of the P6 family */
static const struct perfctr_event x86_p6_events[] = {
	X86(0x0079u, "cycles", "clock cycles of the core"),
	X86(0x00c0u, "instructions", "instructions completed"),
	X86(0x00c4u, "branches", "branch instructions completed"),
	X86(0x00c5u, "branch-misses", "branches mispredicted"),
};

static const struct perfctr_event_set x86_sets[] = {
	SET(PERFCTR_X86_INTEL_P6, "P6_", x86_p6_events),
	SET(PERFCTR_X86_INTEL_PII, "PII_", x86_p6_events),
	SET(PERFCTR_X86_INTEL_PIII, "PIII_", x86_p6_events),
	SET(PERFCTR_X86_INTEL_PENTM, "PENTM_", x86_p6_events),
	SET(PERFCTR_X86_INTEL_CORE, "CORE_", perfctr_arch_events),
	SET(PERFCTR_X86_INTEL_CORE2, "CORE2_", perfctr_arch_events),
	SET(PERFCTR_X86_INTEL_ATOM, "ATOM_", perfctr_arch_events),
	SET(PERFCTR_X86_INTEL_NHLM, "NHLM_", perfctr_arch_events),
	SET(PERFCTR_X86_INTEL_WSTMR, "WSTMR_", perfctr_arch_events),
	SET(PERFCTR_X86_INTEL_ARCH, "ARCH_", perfctr_arch_events),
};

const struct perfctr_event_set *perfctr_x86_event_names(unsigned int cpu_type)
{
	return perfctr_find_set(x86_sets, ARRAY_SIZE(x86_sets), cpu_type);
}
