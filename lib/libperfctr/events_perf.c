// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of RISC-V's SBI (RISC-V Supervisor Binary Interface Specification 2.0, chapter 11), and
 * perf's own events (type and config in perf_event_open(2)). The SBI and perf have most names in
 * common.
 */
#include <linux/perf_event.h>

#include "events.h"

#define HW(code, name, text) \
	{ SBI_EVENT(SBI_TYPE_HW, code), CTRS_PROG, NULL, name, text }
#define CACHE(cache, op, result, name, text) \
	{ SBI_EVENT(SBI_TYPE_CACHE, SBI_CACHE(cache, op, result)), CTRS_PROG, NULL, name, text }

/*
 * The names that the SBI and perf have in common, with the SBI's numbers. The macros @hw and @cache
 * make the entries of a table.
 */
#define COMMON_EVENTS(hw, cache)					\
	hw(3u, "cache-references", "cache accesses"),			\
	hw(4u, "cache-misses", "cache accesses that missed"),		\
	hw(5u, "branches", "branch instructions completed"),		\
	hw(6u, "branch-misses", "branches mispredicted"),		\
	hw(7u, "bus-cycles", "cycles of the bus"),			\
	hw(8u, "stalled-cycles-frontend", "cycles without instructions to issue"), \
	hw(9u, "stalled-cycles-backend", "cycles without room to issue to"), \
	hw(10u, "ref-cycles", "cycles at a constant reference frequency"), \
	CACHE_READ(cache, 0u, "L1-dcache", "level 1 data cache"),	\
	CACHE_WRITE(cache, 0u, "L1-dcache", "level 1 data cache"),	\
	CACHE_PREFETCH(cache, 0u, "L1-dcache", "level 1 data cache"),	\
	CACHE_READ(cache, 1u, "L1-icache", "level 1 instruction cache"), \
	CACHE_PREFETCH(cache, 1u, "L1-icache", "level 1 instruction cache"), \
	CACHE_READ(cache, 2u, "LLC", "last level cache"),		\
	CACHE_WRITE(cache, 2u, "LLC", "last level cache"),		\
	CACHE_PREFETCH(cache, 2u, "LLC", "last level cache"),		\
	CACHE_READ(cache, 3u, "dTLB", "data TLB"),			\
	CACHE_WRITE(cache, 3u, "dTLB", "data TLB"),			\
	CACHE_PREFETCH(cache, 3u, "dTLB", "data TLB"),			\
	CACHE_READ(cache, 4u, "iTLB", "instruction TLB"),		\
	CACHE_READ(cache, 5u, "branch", "branch predictor"),		\
	CACHE_READ(cache, 6u, "node", "local memory"),			\
	CACHE_WRITE(cache, 6u, "node", "local memory"),			\
	CACHE_PREFETCH(cache, 6u, "node", "local memory")
#define CACHE_OP(cache, number, op, many, one, name, text)		\
	cache(number, op, 0u, name "-" many, text " " many),		\
	cache(number, op, 1u, name "-" one "-misses", text " " one " misses")
#define CACHE_READ(cache, number, name, text) \
	CACHE_OP(cache, number, 0u, "loads", "load", name, text)
#define CACHE_WRITE(cache, number, name, text) \
	CACHE_OP(cache, number, 1u, "stores", "store", name, text)
#define CACHE_PREFETCH(cache, number, name, text) \
	CACHE_OP(cache, number, 2u, "prefetches", "prefetch", name, text)

/* The kernel can count these events without programmable counters. */
#define BASIC_EVENTS							\
	HW(SBI_HW_CPU_CYCLES, "cycles", "clock cycles of the core"),	\
	HW(SBI_HW_INSTRUCTIONS, "instructions", "instructions completed"), \
	{ SBI_EVENT(SBI_TYPE_HW, SBI_HW_CPU_CYCLES), CTRS_CYCLE, NULL,	\
	  "cycle", "the fixed counter cycle" },				\
	{ SBI_EVENT(SBI_TYPE_HW, SBI_HW_INSTRUCTIONS), CTRS_INSTRET, NULL, \
	  "instret", "the fixed counter instret" }

/* Senseless cache events, such as stores through an instruction cache, have no name. */
static const struct perfctr_event riscv_events[] = {
	BASIC_EVENTS,
	COMMON_EVENTS(HW, CACHE),
};

static const struct perfctr_event riscv_generic_events[] = {
	BASIC_EVENTS,
};

/* perf chooses the counter, so an event of perf's may be on any counter. */
#define PERF_CTRS	0xffffffffu

/* The numbers of hardware events begin with 1 in the SBI, and with 0 in perf. */
#define PERF_HW(code, name, text) \
	{ PERF_EVENT(PERF_TYPE_HARDWARE, (code) - 1u), PERF_CTRS, NULL, name, text }
#define PERF_CACHE(cache, op, result, name, text)			\
	{ PERF_EVENT(PERF_TYPE_HW_CACHE, (cache) | (op) << 8 | (result) << 16), PERF_CTRS, NULL, \
	  name, text }

static const struct perfctr_event perf_events[] = {
	PERF_HW(SBI_HW_CPU_CYCLES, "cycles", "clock cycles of the core"),
	PERF_HW(SBI_HW_INSTRUCTIONS, "instructions", "instructions completed"),
	COMMON_EVENTS(PERF_HW, PERF_CACHE),
};

static const struct perfctr_event_set riscv_set = {
	.cpu_type = PERFCTR_RISCV_SBI,
	.event_prefix = "SBI_",
	.nevents = ARRAY_SIZE(riscv_events),
	.events = riscv_events,
};

static const struct perfctr_event_set riscv_generic_set = {
	.cpu_type = PERFCTR_RISCV_GENERIC,
	.event_prefix = "SBI_",
	.nevents = ARRAY_SIZE(riscv_generic_events),
	.events = riscv_generic_events,
};

/* These sets are for processors without a driver in the module; perf may have a driver. */
static const struct perfctr_event_set perf_sets[] = {
	SET(PERFCTR_X86_GENERIC, "PERF_", perf_events),
	SET(PERFCTR_ARM64_GENERIC, "PERF_", perf_events),
};

const struct perfctr_event_set *perfctr_riscv_event_names(unsigned int cpu_type)
{
	switch (cpu_type) {
	case PERFCTR_RISCV_SBI:
		return &riscv_set;
	case PERFCTR_RISCV_GENERIC:
		return &riscv_generic_set;
	default:
		return NULL;
	}
}

const struct perfctr_event_set *perfctr_perf_event_names(unsigned int cpu_type)
{
	return perfctr_find_set(perf_sets, ARRAY_SIZE(perf_sets), cpu_type);
}

const struct perfctr_event *perfctr_perf_event(unsigned int event)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(perf_events); i++)
		if (perf_events[i].evntsel == event)
			return &perf_events[i];
	return NULL;
}

const struct perfctr_event *perfctr_perf_cache_event(const char *name)
{
	const struct perfctr_event *event = perfctr_find_name(&perf_sets[0], name);

	return event && PERF_TYPE(event->evntsel) == PERF_TYPE_HW_CACHE ? event : NULL;
}
