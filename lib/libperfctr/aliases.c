// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds an event of a set by its name, or by any other name that perf has for it. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "internal.h"

/* perf's other names for events of a set */
static const struct {
	const char *alias;
	const char *name;
} aliases[] = {
	{ "cpu-cycles", "cycles" },
	/* The next four are of use on x86 only: other tables have events with these names. */
	{ "branch-loads", "branches" },
	{ "branch-load-misses", "branch-misses" },
	{ "dTLB-loads", "L1-dcache-loads" },
	{ "iTLB-loads", "L1-icache-loads" },
	{ "branch-instructions", "branches" },
	{ "idle-cycles-frontend", "stalled-cycles-frontend" },
	{ "idle-cycles-backend", "stalled-cycles-backend" },
};

/* The names that perf has for a part of a cache event. Longer names come first. */
struct part {
	const char *name;
	const char *means;
};

static const struct part cache_parts[] = {
	{ "L1-dcache", "L1-dcache" }, { "L1-data", "L1-dcache" },
	{ "l1-d", "L1-dcache" }, { "l1d", "L1-dcache" },
	{ "L1-icache", "L1-icache" }, { "L1-instruction", "L1-icache" },
	{ "l1-i", "L1-icache" }, { "l1i", "L1-icache" },
	{ "LLC", "LLC" }, { "L2", "LLC" },
	{ "dTLB", "dTLB" }, { "d-tlb", "dTLB" }, { "Data-TLB", "dTLB" },
	{ "iTLB", "iTLB" }, { "i-tlb", "iTLB" }, { "Instruction-TLB", "iTLB" },
	{ "branches", "branch" }, { "branch", "branch" }, { "bpu", "branch" },
	{ "btb", "branch" }, { "bpc", "branch" },
	{ "node", "node" },
};

static const struct part op_parts[] = {
	{ "loads", "load" }, { "load", "load" }, { "read", "load" },
	{ "stores", "store" }, { "store", "store" }, { "write", "store" },
	{ "prefetches", "prefetch" }, { "prefetch", "prefetch" },
	{ "speculative-read", "prefetch" }, { "speculative-load", "prefetch" },
};

static const struct part result_parts[] = {
	{ "refs", "" }, { "reference", "" }, { "ops", "" }, { "access", "" },
	{ "misses", "misses" }, { "miss", "misses" },
};

const struct perfctr_event *perfctr_find_event(const struct perfctr_event_set *set,
					       const char *name)
{
	unsigned int i;

	for (i = 0; i < set->nevents; i++)
		if (!strcasecmp(set->events[i].name, name))
			return &set->events[i];
	return NULL;
}

/*
 * Moves *name behind its first part, which ends at a dash or at the end of the name. Returns what
 * the part means, or NULL if the part is not in @parts.
 */
static const char *take_part(const char **name, const struct part *parts, size_t n)
{
	size_t i, len;

	for (i = 0; i < n; i++) {
		len = strlen(parts[i].name);
		if (strncasecmp(*name, parts[i].name, len) != 0)
			continue;
		if ((*name)[len] == '-')
			len++;
		else if ((*name)[len])
			continue;
		*name += len;
		return parts[i].means;
	}
	return NULL;
}

/* Finds CACHE[-OP][-RESULT]. As in perf the default of OP is read, and that of RESULT is access. */
static const struct perfctr_event *find_cache_event(const struct perfctr_event_set *set,
						    const char *name)
{
	const char *cache, *op = NULL, *result = NULL;
	char canonical[64];
	size_t len;

	len = strlen(name);
	if (!len || name[len - 1] == '-')
		return NULL;
	cache = take_part(&name, cache_parts, ARRAY_SIZE(cache_parts));
	if (!cache)
		return NULL;
	while (*name) {
		if (!op) {
			op = take_part(&name, op_parts, ARRAY_SIZE(op_parts));
			if (op)
				continue;
		}
		if (!result) {
			result = take_part(&name, result_parts, ARRAY_SIZE(result_parts));
			if (result)
				continue;
		}
		return NULL;
	}
	if (!op)
		op = "load";
	if (result && *result)
		snprintf(canonical, sizeof(canonical), "%s-%s-misses", cache, op);
	else
		snprintf(canonical, sizeof(canonical), "%s-%s%s", cache, op,
			 strcmp(op, "prefetch") ? "s" : "es");
	return perfctr_find_event(set, canonical);
}

const struct perfctr_event *perfctr_find_name(const struct perfctr_event_set *set,
					      const char *name)
{
	const struct perfctr_event *event;
	size_t i;

	event = perfctr_find_event(set, name);
	for (i = 0; !event && i < ARRAY_SIZE(aliases); i++)
		if (!strcasecmp(aliases[i].alias, name))
			event = perfctr_find_event(set, aliases[i].name);
	if (!event)
		event = find_cache_event(set, name);
	return event;
}

void perfctr_near_aliases(struct perfctr_near *near, const char *spec, size_t length,
			  const struct perfctr_event_set *set)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(aliases); i++)
		if (perfctr_find_event(set, aliases[i].name))
			perfctr_near_compare(near, spec, length, aliases[i].alias);
}
