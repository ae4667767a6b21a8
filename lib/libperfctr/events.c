// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of events, which are perf's names. x86: the architectural events, and similar
 * ones of the P6 (Intel SDM, chapters on performance monitoring). riscv:
 * the events of the SBI PMU extension (RISC-V Supervisor Binary Interface
 * Specification 2.0, chapter 11). Where the module has no driver: perf's own events
 * (perf_event_open(2), type and config). ppc32: events_ppc.c; AMD's x86: events_amd.c; cache events of
 * Intel's models: events_intel.c; x86 before the P6, and the Pentium 4: events_old.c.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* SBI event_idx: type in bits 16..19, code in bits 0..15 */
#define SBI_TYPE_HW	0u
#define SBI_TYPE_CACHE	1u
#define SBI_TYPE_RAW	2u
#define SBI_EVENT(type, code)	((type) << 16 | (code))
#define SBI_TYPE(event)		((event) >> 16 & 0xfu)
#define SBI_CODE(event)		((event) & 0xffffu)

#define SBI_HW_CPU_CYCLES	1u
#define SBI_HW_INSTRUCTIONS	2u

/* Cache event code: cache in bits 3..15, operation in bits 1..2, result in bit 0 */
#define SBI_CACHE(cache, op, result)	((cache) << 3 | (op) << 1 | (result))

#define RISCV_CYCLE	0u
#define RISCV_INSTRET	2u

#define CTRS_CYCLE	(1u << RISCV_CYCLE)
#define CTRS_INSTRET	(1u << RISCV_INSTRET)
#define CTRS_PROG	0xfffffff8u

#define HW(code, name, text) \
	{ SBI_EVENT(SBI_TYPE_HW, code), CTRS_PROG, NULL, name, text }
#define CACHE(cache, op, result, name, text) \
	{ SBI_EVENT(SBI_TYPE_CACHE, SBI_CACHE(cache, op, result)), CTRS_PROG, NULL, name, text }

/*
 * Names that the SBI's events and perf's have in common, with the SBI's numbers. @hw and @cache
 * are macros that make an entry of each.
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

/* Events that can be counted without programmable counters too; the kernel takes care of that. */
#define BASIC_EVENTS							\
	HW(SBI_HW_CPU_CYCLES, "cycles", "clock cycles of the core"),	\
	HW(SBI_HW_INSTRUCTIONS, "instructions", "instructions completed"), \
	{ SBI_EVENT(SBI_TYPE_HW, SBI_HW_CPU_CYCLES), CTRS_CYCLE, NULL,	\
	  "cycle", "the fixed counter cycle" },				\
	{ SBI_EVENT(SBI_TYPE_HW, SBI_HW_INSTRUCTIONS), CTRS_INSTRET, NULL, \
	  "instret", "the fixed counter instret" }

/* Cache events that make no sense (stores through an instruction cache) have no name. */
static const struct perfctr_event riscv_events[] = {
	BASIC_EVENTS,
	COMMON_EVENTS(HW, CACHE),
};

static const struct perfctr_event riscv_generic_events[] = {
	BASIC_EVENTS,
};

/* perf's: its type in bits 24..31, config in bits 0..23. Any counter: perf chooses. */
#define PERF_EVENT(type, config)	((unsigned int)(type) << 24 | (config))
#define PERF_TYPE(event)		((event) >> 24)
#define PERF_CONFIG(event)		((event) & 0xffffffu)
#define PERF_CTRS	0xffffffffu

/* The SBI's hardware events begin with 1, and perf's with 0. */
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

/* x86: counters other than the fixed ones */
#define X86_PROG	0x00ffffffu
/* Fixed counter 2, which counts reference cycles; on others 0x13c counts cycles of the bus */
#define X86_FIXED_REF	26u

/* Fixed counter 3; TopDown's metrics are shares of what it counts. */
#define X86_FIXED_SLOTS	27u

#define X86(code, name, text)	{ code, X86_PROG, NULL, name, text }
#define METRIC(metric, name, text)					\
	{ PERFCTR_EVENT_METRIC(PERFCTR_METRIC_##metric), 1u << X86_FIXED_SLOTS, NULL, \
	  "topdown-" name, text }

/*
 * Intel SDM, architectural performance events, in the order of CPUID leaf 10's bits; then
 * the other events of fixed counters
 */
#define X86_ARCH_BITS	7u
static const struct perfctr_event x86_arch_events[] = {
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

/* P6 family */
static const struct perfctr_event x86_p6_events[] = {
	X86(0x0079u, "cycles", "clock cycles of the core"),
	X86(0x00c0u, "instructions", "instructions completed"),
	X86(0x00c4u, "branches", "branch instructions completed"),
	X86(0x00c5u, "branch-misses", "branches mispredicted"),
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

#define SET(type, prefix, of) \
	{ .cpu_type = (type), .event_prefix = (prefix), \
	  .nevents = ARRAY_SIZE(of), .events = (of) }

/* The module has no driver for their counters, but perf may have one. */
static const struct perfctr_event_set perf_sets[] = {
	SET(PERFCTR_X86_GENERIC, "PERF_", perf_events),
	SET(PERFCTR_ARM64_GENERIC, "PERF_", perf_events),
};

static const struct perfctr_event_set x86_sets[] = {
	SET(PERFCTR_X86_INTEL_P6, "P6_", x86_p6_events),
	SET(PERFCTR_X86_INTEL_PII, "PII_", x86_p6_events),
	SET(PERFCTR_X86_INTEL_PIII, "PIII_", x86_p6_events),
	SET(PERFCTR_X86_INTEL_PENTM, "PENTM_", x86_p6_events),
	SET(PERFCTR_X86_INTEL_CORE, "CORE_", x86_arch_events),
	SET(PERFCTR_X86_INTEL_CORE2, "CORE2_", x86_arch_events),
	SET(PERFCTR_X86_INTEL_ATOM, "ATOM_", x86_arch_events),
	SET(PERFCTR_X86_INTEL_NHLM, "NHLM_", x86_arch_events),
	SET(PERFCTR_X86_INTEL_WSTMR, "WSTMR_", x86_arch_events),
	SET(PERFCTR_X86_INTEL_ARCH, "ARCH_", x86_arch_events),
};

/* Types of processors have numbers that mean something else on another architecture. */
static int is_ppc(unsigned int cpu_type)
{
#if defined(__powerpc__)
	return cpu_type > PERFCTR_PPC_GENERIC && cpu_type <= PERFCTR_PPC_7450;
#else
	(void)cpu_type;
	return 0;
#endif
}

static int is_amd(unsigned int cpu_type)
{
	return !is_ppc(cpu_type) && perfctr_amd_event_names(cpu_type);
}

/* x86 without event selects of the P6's layout */
static int is_old(unsigned int cpu_type)
{
	return !is_ppc(cpu_type) && perfctr_old_event_names(cpu_type);
}

const struct perfctr_event_set *perfctr_event_names(unsigned int cpu_type)
{
	const struct perfctr_event_set *set;

	if (is_ppc(cpu_type))
		return perfctr_ppc_event_names(cpu_type);
	set = perfctr_amd_event_names(cpu_type);
	if (!set)
		set = perfctr_old_event_names(cpu_type);
	if (!set)
		set = perfctr_find_set(x86_sets, ARRAY_SIZE(x86_sets), cpu_type);
	if (!set)
		set = perfctr_find_set(perf_sets, ARRAY_SIZE(perf_sets), cpu_type);
	if (set)
		return set;
	switch (cpu_type) {
	case PERFCTR_RISCV_SBI:
		return &riscv_set;
	case PERFCTR_RISCV_GENERIC:
		return &riscv_generic_set;
	default:
		return NULL;
	}
}

/* perf's cache events on this machine's model; NULL: it is none of Intel's, or not known */
static const struct perfctr_intel_cache *caches_of(unsigned int cpu_type)
{
	return is_ppc(cpu_type) || !perfctr_find_set(x86_sets, ARRAY_SIZE(x86_sets), cpu_type) ?
		NULL : perfctr_intel_caches(perfctr_intel_model());
}

/* Which of perf's cache events has that name, or NULL */
static const struct perfctr_event *find_perf_cache_event(const char *name)
{
	const struct perfctr_event *event = perfctr_find_name(&perf_sets[0], name);

	return event && PERF_TYPE(event->evntsel) == PERF_TYPE_HW_CACHE ? event : NULL;
}

/* 1; 0: it is no name of a cache event, or nothing is known of the model; -1: the model has none */
static int parse_cache_event(unsigned int cpu_type, const char *name,
			     struct perfctr_ctr_control *ctr)
{
	const struct perfctr_intel_cache *cache = caches_of(cpu_type);
	const struct perfctr_event *event = cache ? find_perf_cache_event(name) : NULL;

	if (!event)
		return 0;
	for (; cache->event; cache++) {
		if (cache->config != PERF_CONFIG(event->evntsel))
			continue;
		ctr->event = cache->event;
		ctr->config = cache->value;
		ctr->map = PERFCTR_MAP_ANY;
		return 1;
	}
	return -1;
}

/* The name and description of one of these */
static const struct perfctr_event *perf_event_of(const struct perfctr_intel_cache *cache)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(perf_events); i++)
		if (perf_events[i].evntsel == PERF_EVENT(PERF_TYPE_HW_CACHE, cache->config))
			return &perf_events[i];
	return NULL;
}

static int parse_modifier(const char *modifier, __u32 *flags)
{
	if (!*modifier)
		return -1;
	for (; *modifier; modifier++) {
		if (*modifier == 'u')
			*flags |= PERFCTR_CTR_USER;
		else if (*modifier == 'k')
			*flags |= PERFCTR_CTR_KERNEL;
		else
			return -1;
	}
	return 0;
}

static int is_x86(unsigned int cpu_type)
{
	return cpu_type < PERFCTR_RISCV_GENERIC && cpu_type != PERFCTR_X86_GENERIC &&
	       !is_ppc(cpu_type);
}

/* A control's event for one of a set */
static __u64 number_of(const struct perfctr_event_set *set, const struct perfctr_event *event)
{
	return is_amd(set->cpu_type) ? perfctr_amd_event(event->evntsel) : event->evntsel;
}

/* SLOTS or a metric: the level of TopDown that has it, or 0. Of Intel's processors */
static unsigned int topdown_level(unsigned int cpu_type, __u64 event)
{
	__u64 metric = (event - PERFCTR_EVENT_METRIC(0)) >> 8;

	if (!is_x86(cpu_type) || is_amd(cpu_type) || is_old(cpu_type))
		return 0;
	if (event == PERFCTR_EVENT_SLOTS)
		return 1;
	if (event & 0xffu || metric >= PERFCTR_METRICS)
		return 0;
	return metric < PERFCTR_METRICS / 2 ? 1 : 2;
}

static int is_riscv(unsigned int cpu_type)
{
	return cpu_type == PERFCTR_RISCV_SBI || cpu_type == PERFCTR_RISCV_GENERIC;
}

static int has_perf_events(const struct perfctr_event_set *set)
{
	return set && set->events == perf_events;
}

/* As perfctr_parse_raw(); what the numbers are depends on the type of processor. */
static int parse_raw_event(unsigned int cpu_type, const char *name,
			   struct perfctr_ctr_control *ctr)
{
	__u64 values[4] = { 0 };
	int raw = 0;

	if (is_ppc(cpu_type)) {
		raw = perfctr_parse_raw(name, values, 1);
		return raw > 0 ? perfctr_ppc_parse_raw(values[0], ctr) : raw;
	}
	if (cpu_type == PERFCTR_RISCV_SBI) {
		raw = perfctr_parse_raw(name, &ctr->config, 1);
		ctr->event = SBI_EVENT(SBI_TYPE_RAW, 0u);
	} else if (is_x86(cpu_type)) {
		/* CCCR, ESCR, PEBS_ENABLE, PEBS_MATRIX_VERT; or an event select and what it takes */
		raw = perfctr_parse_raw(name, values, is_old(cpu_type) && perfctr_is_p4(cpu_type) ? 4 : 2);
		ctr->event = values[0];
		ctr->config = values[1];
		ctr->config1 = values[2];
		ctr->config2 = values[3];
	} else if (has_perf_events(perfctr_event_names(cpu_type))) {
		/* perf's config1 is the value of a register of Intel's. */
		raw = perfctr_parse_raw(name, values, cpu_type == PERFCTR_X86_GENERIC ? 2 : 1);
		ctr->event = PERF_TYPE_RAW;
		ctr->config = values[0];
		ctr->config1 = values[1];
		ctr->flags = PERFCTR_CTR_PERF;
	}
	ctr->map = PERFCTR_MAP_ANY;
	return raw;
}

static void set_event(const struct perfctr_event_set *set, const struct perfctr_event *event,
		      struct perfctr_ctr_control *ctr)
{
	ctr->event = number_of(set, event);
	ctr->map = PERFCTR_MAP_ANY;
	if (has_perf_events(set)) {
		ctr->event = PERF_TYPE(event->evntsel);
		ctr->config = PERF_CONFIG(event->evntsel);
		ctr->flags = PERFCTR_CTR_PERF;
	} else if (is_ppc(set->cpu_type)) {
		/* With one counter, which is named; or any of several. */
		if (!(event->counters_set & (event->counters_set - 1)))
			ctr->map = (unsigned int)__builtin_ctz(event->counters_set);
	} else if (event->counters_set == CTRS_CYCLE) {
		ctr->map = RISCV_CYCLE;
	} else if (event->counters_set == CTRS_INSTRET) {
		ctr->map = RISCV_INSTRET;
	} else if (is_old(set->cpu_type)) {
		perfctr_old_set_event(set->cpu_type, event, ctr);
	} else if (event->counters_set == 1u << X86_FIXED_REF) {
		ctr->map = X86_FIXED_REF;
	}
}

/*
 * On x86 perf's config is an event select, and config1 the value of the event's own register, which
 * Intel's have.
 */
static int set_named_event(unsigned int cpu_type, const struct perfctr_named_event *event,
			   struct perfctr_ctr_control *ctr)
{
	ctr->map = event->map;
	ctr->flags = event->modes;
	ctr->config = event->config[0];
	ctr->config1 = event->config[1];
	ctr->config2 = event->config[2];
	ctr->event = event->type;
	if (!is_x86(cpu_type)) {
		ctr->flags |= PERFCTR_CTR_PERF;
		ctr->map = PERFCTR_MAP_ANY;
		return 0;
	}
	if (event->type != PERF_TYPE_RAW || event->config[2] ||
	    event->config[0] & ~(0xffffffffULL | (is_amd(cpu_type) ? PERFCTR_AMD_HIGH : 0)))
		return EOPNOTSUPP;
	ctr->event = event->config[0];
	ctr->config = event->config[1];
	ctr->config1 = 0;
	return 0;
}

/* An event that the kernel has a name for, or libpfm4: 0, or the error */
static int parse_named_event(unsigned int cpu_type, const char *name, struct perfctr_ctr_control *ctr)
{
	struct perfctr_named_event event;
	int err;

	if (is_ppc(cpu_type) || is_riscv(cpu_type))
		return ENOENT;
	/* Whatever else has names for these has numbers of perf's own. */
	if (is_old(cpu_type))
		return perfctr_old_event(cpu_type, name, ctr);
	err = perfctr_sysfs_event(PERFCTR_SYSFS, name, &event);
	if (err == ENOENT && perfctr_pfm_event)
		err = perfctr_pfm_event(name, &event);
	return err ? err : set_named_event(cpu_type, &event, ctr);
}

const char *perfctr_event_modifier(const char *spec)
{
	const char *colon = strrchr(spec, ':'), *end = spec + strlen(spec);

	return colon && colon[1] && !colon[1 + strspn(colon + 1, "uk")] ? colon : end;
}

/* 1: the name up to the first colon is of this type of processor, or a raw event; -1: a bad one */
static int parse_known_event(unsigned int cpu_type, const struct perfctr_event_set *set,
			     const char *spec, struct perfctr_ctr_control *ctr)
{
	size_t length = strcspn(spec, ":");
	const struct perfctr_event *event;
	int known = 1, cached;
	char name[64];

	if (length >= sizeof(name))
		return 0;
	memcpy(name, spec, length);
	name[length] = '\0';
	/* The model's event, before an alias that is the same on most models only */
	event = perfctr_find_event(set, name);
	cached = event ? 0 : parse_cache_event(cpu_type, name, ctr);
	if (cached < 0)
		return 0;
	if (!event && !cached)
		event = perfctr_find_name(set, name);
	if (event)
		set_event(set, event, ctr);
	else if (!cached)
		known = parse_raw_event(cpu_type, name, ctr);
	if (known > 0 && spec[length] && parse_modifier(spec + length + 1, &ctr->flags) < 0)
		return -1;
	return known;
}

int perfctr_event_parse(unsigned int cpu_type, const char *spec,
			struct perfctr_ctr_control *ctr)
{
	const struct perfctr_event_set *set = perfctr_event_names(cpu_type);
	const char *modifier = perfctr_event_modifier(spec);
	char name[PERFCTR_EVENT_NAME_MAX];
	int known, err = ENOENT;

	memset(ctr, 0, sizeof(*ctr));
	known = set ? parse_known_event(cpu_type, set, spec, ctr) : 0;
	if (known > 0)
		return 0;
	if (set && (size_t)(modifier - spec) < sizeof(name)) {
		memcpy(name, spec, (size_t)(modifier - spec));
		name[modifier - spec] = '\0';
		err = parse_named_event(cpu_type, name, ctr);
		if (err == ENOENT && is_x86(cpu_type) && find_perf_cache_event(name))
			err = EOPNOTSUPP;
		if (!err && *modifier)
			(void)parse_modifier(modifier + 1, &ctr->flags);
	}
	if (!err)
		return 0;
	/* The event is known without what stands behind it. */
	errno = known < 0 && err == ENOENT ? EINVAL : err;
	return -1;
}

struct perfctr_event_name *perfctr_more_event_names(void)
{
	const struct perfctr_intel_cache *cache = perfctr_intel_caches(perfctr_intel_model());
	const struct perfctr_event *event;
	struct perfctr_names names;

	if (perfctr_names_begin(&names) < 0)
		return NULL;
	/* If memory runs out the stream has an error, which perfctr_names_end() finds. */
	for (; cache && cache->event; cache++) {
		event = perf_event_of(cache);
		if (event)
			(void)perfctr_names_add(&names, event->name, event->description);
	}
	(void)perfctr_sysfs_names(PERFCTR_SYSFS, &names);
	if (perfctr_pfm_names)
		(void)perfctr_pfm_names(&names);
	return perfctr_names_end(&names);
}

/* Whatever the processor is: perf's numbers are the same everywhere. */
static int format_perf_event(const struct perfctr_ctr_control *ctr, const char *modifier,
			     char *buf, size_t size)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(perf_events) && !ctr->config1 && !ctr->config2; i++)
		if (PERF_TYPE(perf_events[i].evntsel) == ctr->event &&
		    PERF_CONFIG(perf_events[i].evntsel) == ctr->config)
			return snprintf(buf, size, "%s%s", perf_events[i].name, modifier);
	if (ctr->event == PERF_TYPE_RAW && !ctr->config1 && !ctr->config2)
		return snprintf(buf, size, "r%llx%s", ctr->config, modifier);
	if (ctr->event == PERF_TYPE_RAW && !ctr->config2)
		return snprintf(buf, size, "r%llx/%llx%s", ctr->config, ctr->config1, modifier);
	return snprintf(buf, size, "perf event %llu/0x%llx/0x%llx/0x%llx%s", ctr->event,
			ctr->config, ctr->config1, ctr->config2, modifier);
}

int perfctr_event_format(unsigned int cpu_type,
			 const struct perfctr_ctr_control *ctr,
			 char *buf, size_t size)
{
	static const char *const modifiers[] = { "", ":u", ":k", ":uk" };
	const char *modifier = modifiers[ctr->flags & (PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)];
	const struct perfctr_event_set *set = perfctr_event_names(cpu_type);
	const struct perfctr_intel_cache *cache = caches_of(cpu_type);
	const struct perfctr_event *event;
	unsigned int i, wanted = CTRS_PROG;
	char name[PERFCTR_EVENT_NAME_MAX];

	if (ctr->flags & PERFCTR_CTR_PERF)
		return format_perf_event(ctr, modifier, buf, size);
	if (set && is_ppc(cpu_type))
		return perfctr_ppc_format(set, ctr, modifier, buf, size);
	if (is_old(cpu_type) && perfctr_old_name(cpu_type, ctr, name, sizeof(name)))
		return snprintf(buf, size, "%s%s", name, modifier);
	if (is_riscv(cpu_type) && ctr->map <= RISCV_INSTRET)
		wanted = 1u << ctr->map;
	else if (topdown_level(cpu_type, ctr->event))
		wanted = 1u << X86_FIXED_SLOTS;
	else if (is_x86(cpu_type))
		wanted = ctr->map == X86_FIXED_REF ? 1u << X86_FIXED_REF : X86_PROG;
	for (i = 0; set && !is_old(cpu_type) && i < set->nevents; i++)
		if (number_of(set, &set->events[i]) == ctr->event &&
		    set->events[i].counters_set == wanted && (!ctr->config || !is_x86(cpu_type)))
			return snprintf(buf, size, "%s%s", set->events[i].name, modifier);
	for (; wanted == X86_PROG && cache && cache->event; cache++) {
		event = perf_event_of(cache);
		if (event && cache->event == ctr->event && cache->value == ctr->config)
			return snprintf(buf, size, "%s%s", event->name, modifier);
	}
	if (is_riscv(cpu_type) && ctr->event == SBI_EVENT(SBI_TYPE_RAW, 0u))
		return snprintf(buf, size, "r%llx%s", ctr->config, modifier);
	if (is_x86(cpu_type) && (ctr->config1 || ctr->config2))
		return snprintf(buf, size, "r%llx/%llx/%llx/%llx%s", ctr->event, ctr->config, ctr->config1,
				ctr->config2, modifier);
	if (is_x86(cpu_type) && ctr->config)
		return snprintf(buf, size, "r%llx/%llx%s", ctr->event, ctr->config, modifier);
	if (is_x86(cpu_type))
		return snprintf(buf, size, "r%llx%s", ctr->event, modifier);
	return snprintf(buf, size, "event 0x%llx%s", ctr->event, modifier);
}

/* The processor tells which architectural events it has, and of no others. */
static int x86_available(const struct perfctr_info *info, const struct perfctr_ctr_control *ctr)
{
	const struct perfctr_event_set *set = perfctr_event_names(info->cpu_type);
	unsigned int i;

	if (!set || (ctr->map != PERFCTR_MAP_ANY && ctr->map >= 64))
		return 0;
	if (set->events == x86_arch_events)
		for (i = 0; i < X86_ARCH_BITS; i++)
			if (set->events[i].evntsel == (ctr->event & 0xffffu) &&
			    !(info->events[0] >> i & 1))
				return 0;
	if (set->events == x86_arch_events && topdown_level(info->cpu_type, ctr->event & 0xffffu))
		return topdown_level(info->cpu_type, ctr->event & 0xffffu) <= info->topdown;
	return ctr->map == PERFCTR_MAP_ANY ? !!(info->counters & X86_PROG) :
					      !!(info->counters >> ctr->map & 1);
}

int perfctr_event_available(const struct perfctr_info *info,
			    const struct perfctr_ctr_control *ctr)
{
	unsigned int code = SBI_CODE((unsigned int)ctr->event);

	if (ctr->flags & PERFCTR_CTR_PERF)
		return !!(info->cpu_features & PERFCTR_FEATURE_SHARED);
	if (is_ppc(info->cpu_type))
		return ctr->map == PERFCTR_MAP_ANY ? !!info->counters :
						      ctr->map < 64 && info->counters >> ctr->map & 1;
	if (is_x86(info->cpu_type))
		return x86_available(info, ctr);
	if (!is_riscv(info->cpu_type))
		return 0;
	if (ctr->map != PERFCTR_MAP_ANY && ctr->map <= RISCV_INSTRET)
		return !!(info->counters >> ctr->map & 1);
	switch (SBI_TYPE((unsigned int)ctr->event)) {
	case SBI_TYPE_HW:
		return code < 64 && (info->events[0] >> code & 1);
	case SBI_TYPE_CACHE:
		return code < 64 && (info->events[1] >> code & 1);
	case SBI_TYPE_RAW:
		return !!(info->counters & CTRS_PROG);
	default:
		return 0;
	}
}

static __u64 general_purpose(const struct perfctr_info *info)
{
	if (is_x86(info->cpu_type))
		return info->counters & X86_PROG;
	return is_riscv(info->cpu_type) ? info->counters & CTRS_PROG : info->counters;
}

/* The fixed counter that counts the event, as a bit of perfctr_info.counters; or 0 */
static __u64 fixed_counter(const struct perfctr_info *info, const struct perfctr_ctr_control *ctr)
{
	static const __u32 x86_fixed[] = { X86_INSTRUCTIONS, X86_CYCLES, X86_REF_CYCLES };
	int unfiltered = is_riscv(info->cpu_type) && !(info->cpu_features & PERFCTR_FEATURE_FILTER);
	__u64 counter = 0;
	unsigned int i;

	if (ctr->map != PERFCTR_MAP_ANY)
		return ctr->map < 64 ? info->counters & 1ULL << ctr->map & ~general_purpose(info) : 0;
	for (i = 0; is_x86(info->cpu_type) && i < ARRAY_SIZE(x86_fixed); i++)
		if (ctr->event == x86_fixed[i])
			counter = 1ULL << (X86_FIXED_INSTRUCTIONS + i);
	/* Where programmable counters have no filter the kernel takes the fixed ones for these. */
	if (unfiltered && ctr->event == SBI_EVENT(SBI_TYPE_HW, SBI_HW_CPU_CYCLES))
		counter = CTRS_CYCLE;
	if (unfiltered && ctr->event == SBI_EVENT(SBI_TYPE_HW, SBI_HW_INSTRUCTIONS))
		counter = CTRS_INSTRET;
	return counter & info->counters;
}

unsigned int perfctr_event_demand(const struct perfctr_info *info,
				  const struct perfctr_ctr_control *ctr, unsigned int n,
				  unsigned int *there)
{
	unsigned int i, needed = 0;
	__u64 used = 0, fixed;

	*there = (unsigned int)__builtin_popcountll(general_purpose(info));
	for (i = 0; i < n; i++) {
		if (ctr[i].flags & PERFCTR_CTR_PERF)
			return 0;
		if (topdown_level(info->cpu_type, ctr[i].event))
			continue;
		fixed = fixed_counter(info, &ctr[i]);
		needed += !fixed || used & fixed;
		used |= fixed;
	}
	return needed;
}

char **perfctr_event_suggest(unsigned int cpu_type, const char *spec, size_t max)
{
	const struct perfctr_event_set *set = perfctr_event_names(cpu_type);
	size_t i, length = (size_t)(perfctr_event_modifier(spec) - spec);
	struct perfctr_near near = { .max = max < PERFCTR_NEAR_MAX ? max : PERFCTR_NEAR_MAX };
	struct perfctr_event_name *more = NULL;
	char **names;

	if (!set)
		return NULL;
	for (i = 0; i < set->nevents; i++)
		perfctr_near_compare(&near, spec, length, set->events[i].name);
	perfctr_near_aliases(&near, spec, length, set);
	for (set = is_old(cpu_type) ? perfctr_event_table(cpu_type) : NULL; set; set = set->include)
		for (i = 0; i < set->nevents; i++)
			perfctr_near_compare(&near, spec, length, set->events[i].name);
	if (!is_ppc(cpu_type) && !is_riscv(cpu_type) && !is_old(cpu_type))
		more = perfctr_more_event_names();
	for (i = 0; more && more[i].name; i++)
		perfctr_near_compare(&near, spec, length, more[i].name);
	names = perfctr_near_names(&near);
	free(more);
	return names;
}

/* Of the processors that 2.6 did not have there are names only. */
const struct perfctr_event_set *perfctr_cpu_event_set(unsigned int cpu_type)
{
	const struct perfctr_event_set *set = perfctr_event_table(cpu_type);

	return set || cpu_type <= PERFCTR_X86_INTEL_ARCH ? set : perfctr_event_names(cpu_type);
}
