// SPDX-License-Identifier: GPL-2.0
/* Linux's tables and functions, and as much of Linux around them as they need: see linux.h. */
#include "linux.h"

#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define __initconst
#define __read_mostly
#define fallthrough		__attribute__((fallthrough))
#define BIT(n)			(1ull << (n))
#define BIT_ULL(n)		BIT(n)
#define C(n)			PERF_COUNT_HW_CACHE_##n
#define GENMASK_ULL(h, l)	((~0ull >> (63 - (h))) & (~0ull << (l)))
#define HWEIGHT(n)		__builtin_popcountll(n)
#define BITS_TO_LONGS(n)	(((n) + 63) / 64)
#define max(a, b)		((a) > (b) ? (a) : (b))
#define X86_VENDOR_INTEL	0
#define VFM_MAKE(vendor, family, model) ((vendor) << 16 | (family) << 8 | (model))
#define PERF_X86_EVENT_EXCL	1

enum { X86_HYBRID_PMU_CORE_IDX, X86_HYBRID_PMU_ATOM_IDX, X86_HYBRID_PMU_TINY_IDX };

#define hweight_long(n)		HWEIGHT(n)

struct hw_perf_event {
	u64 config;
};

struct cpu_hw_events;

struct perf_event {
	struct hw_perf_event hw;
	struct {
		unsigned int precise_ip;
	} attr;
};

static void linux_add(struct linux_model *m, const char *name)
{
	if (m->nr_names == LINUX_NAMES)
		__builtin_trap();
	m->names[m->nr_names++] = name;
}

/* What can be counted by none */
static struct event_constraint emptyconstraint;

#define INTEL_UEVENT_EXTRA_REG(event, msr, valid, reg)	{ event, #reg, valid }
#define INTEL_UEVENT_PEBS_LDLAT_EXTRA_REG(event)	{ event, "LDLAT", 0 }
#define EVENT_EXTRA_END					{ 0, 0, 0 }

#include "linux_tables.h"

const struct linux_cache *linux_p6(void)
{
	static struct linux_cache cache;

	memcpy(cache.event, p6_hw_cache_event_ids, sizeof(cache.event));
	return &cache;
}

void linux_look(u32 vfm, struct linux_model *m)
{
	*m = (struct linux_model){ .pmu = 0 };
	by_model(vfm, m);
	if (!m->unknown && !m->constraints[0])
		m->constraints[0] = LINUX_VERSION_1;
}

bool linux_does(const struct linux_model *m, const char *name)
{
	unsigned int i;

	for (i = 0; i < m->nr_names; i++)
		if (!strcmp(m->names[i], name))
			return true;
	return false;
}

static const struct event_constraint *find(const struct linux_model *m, unsigned int pmu, u32 event)
{
	const struct event_constraint *c;

	for_each_event_constraint(c, m->constraints[pmu])
		if (constraint_match((struct event_constraint *)c, event))
			return c;
	return NULL;
}

/*
 * As intel_pmu_check_event_constraints() changes them: all general-purpose counters count what a
 * fixed one does, unless it is of code 0, which Linux uses for events of fixed ones alone.
 */
u64 linux_counters(const struct linux_model *m, unsigned int pmu, u32 event, bool *alone)
{
	const struct event_constraint *c = find(m, pmu, event);

	*alone = c && c->flags & PERF_X86_EVENT_EXCL;
	if (!c)
		return 0xff;
	if (c->cmask == FIXED_EVENT_FLAGS)
		return c->idxmsk64 | (c->code & 0xff ? 0xff : 0);
	/* Metrics of TopDown are no counters. */
	return c->idxmsk64 & (0xff | 0xffffull << LINUX_FIXED);
}

bool linux_is_simple(const struct linux_model *m, unsigned int pmu)
{
	const struct event_constraint *c;

	for_each_event_constraint(c, m->constraints[pmu])
		if (c->cmask & ~(u64)0xffff && c->cmask != FIXED_EVENT_FLAGS)
			return false;
	return true;
}

const struct extra_reg *linux_extra(const struct linux_model *m, unsigned int pmu, u32 event)
{
	const struct extra_reg *extra;

	for (extra = m->extras[pmu]; extra && extra->event; extra++)
		if (extra->event == event)
			return extra;
	return NULL;
}

s64 linux_period(const struct linux_model *m, u32 event, s64 period)
{
	struct perf_event perf = { .hw = { event } };

	period = max(period, LINUX_LEAST_PERIOD);
	if (m->limit_period)
		m->limit_period(&perf, &period);
	return period;
}

u64 linux_amd_15h_counters(u64 event)
{
	struct perf_event perf = { .hw = { event } };

	return amd_get_event_constraints_f15h(NULL, 0, &perf)->idxmsk64;
}
