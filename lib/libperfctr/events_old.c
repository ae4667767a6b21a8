// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of x86 processors whose event selects do not have the P6's layout. The events have perf's
 * names and the names of perfctr 2.6's tables. The kernel and libpfm4 do not know these events, or
 * know them only by perf's own numbers.
 *
 * An event of a Pentium 4 takes two registers. The ESCR has the event's number and mask, and the
 * CCCR selects one of the ESCRs of the counter's block. The tables have the block in counters_set.
 *
 * Sources: the sources of the tables in events/, and p4_general_events[] and p4_pebs_bind_map[] of
 * Linux's arch/x86/events/intel/p4.c. Two events differ from Linux's: "instructions" counts all
 * instructions that retire, tagged or not, and "branches" counts unconditional jumps, too.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "internal.h"

#define PROG	0x00ffffffu

#define X86(code, name, text)	{ code, PROG, NULL, name, text }

/* Events of the P5 and of Cyrix's processors. The P5 with MMX also counts cycles. */
#define P5_COMMON							\
	X86(0x0016u, "instructions", "instructions executed"),		\
	X86(0x0012u, "branches", "branch instructions executed")

static const struct perfctr_event p5_events[] = {
	P5_COMMON,
};

static const struct perfctr_event p5mmx_events[] = {
	{ 0x0030u, 1u, NULL, "cycles", "clock cycles of the core" },
	P5_COMMON,
};

static const struct perfctr_event c6_events[] = {
	X86(0x0000u, "cycles", "clock cycles of the core"),
	X86(0x0002u, "instructions", "instructions executed"),
};

static const struct perfctr_event winchip_events[] = {
	X86(0x003fu, "cycles", "clock cycles of the core"),
	X86(0x0016u, "instructions", "instructions executed"),
};

static const struct perfctr_event c3_events[] = {
	X86(0x0079u, "cycles", "clock cycles of the core"),
	X86(0x00c0u, "instructions", "instructions executed"),
};

/* An event of a Pentium 4: number and counters as in the tables of events/, and the ESCR's mask */
#define P4_BPU	0x0000fu
#define P4_IQ	0x3f000u
#define P4(code, counters, mask, name, text)				\
	{ code, counters, &(mask), name, text }
#define MASK(name, value)						\
	static const struct perfctr_unit_mask name = {			\
		value, perfctr_um_type_fixed, 1, { { value, "" } }	\
	}

MASK(running, 0x1);
MASK(not_bogus, 0x1);
MASK(tagged_or_not, 0x3);
MASK(all_branches, 0xf);
MASK(cache_hits, 0x3f);
MASK(cache_misses, 0x700);
MASK(itlb_all, 0x7);
MASK(itlb_miss, 0x2);

static const struct perfctr_event p4_events[] = {
	P4(0x613u, P4_BPU, running, "cycles", "clock cycles of the core"),
	P4(0x402u, P4_IQ, tagged_or_not, "instructions", "instructions completed"),
	P4(0x506u, P4_IQ, all_branches, "branches", "branch instructions completed"),
	P4(0x403u, P4_IQ, not_bogus, "branch-misses", "branches mispredicted"),
	P4(0x70cu, P4_BPU, cache_hits, "cache-references",
	   "cache accesses that hit, from level 2 on"),
	P4(0x70cu, P4_BPU, cache_misses, "cache-misses",
	   "cache accesses that missed, from level 2 on"),
	P4(0x318u, P4_BPU, itlb_all, "iTLB-loads", "instruction TLB loads"),
	P4(0x318u, P4_BPU, itlb_miss, "iTLB-load-misses", "instruction TLB load misses"),
	P4(0x509u, P4_IQ, not_bogus, "L1-dcache-load-misses", "level 1 data cache load misses"),
	P4(0x509u, P4_IQ, not_bogus, "LLC-load-misses", "level 2 cache load misses"),
	P4(0x509u, P4_IQ, not_bogus, "dTLB-load-misses", "data TLB load misses"),
	P4(0x509u, P4_IQ, not_bogus, "dTLB-store-misses", "data TLB store misses"),
};

/*
 * Two registers of the core say what replay_event counts. This table has the values of both
 * registers for events of p4_events[], and for units of replay_event without a bit in the ESCR's
 * mask.
 */
#define REPLAY_EVENT	0x509u
#define UOP_TAG		0x1000000u

static const struct tag {
	const char *event;	/* name of the event in p4_events[], or NULL */
	const char *unit;
	unsigned int enable;	/* value of PEBS_ENABLE */
	unsigned int vert;	/* value of PEBS_MATRIX_VERT */
} tags[] = {
	{ "L1-dcache-load-misses", "L1_LD_MISS", UOP_TAG | 0x1, 0x1 },
	{ "LLC-load-misses", "L2_LD_MISS", UOP_TAG | 0x2, 0x1 },
	{ "dTLB-load-misses", "DTLB_LD_MISS", UOP_TAG | 0x4, 0x1 },
	{ "dTLB-store-misses", "DTLB_ST_MISS", UOP_TAG | 0x4, 0x2 },
	{ NULL, "DTLB_ALL_MISS", UOP_TAG | 0x4, 0x3 },
	{ NULL, "MOB_LD_REPLAY", UOP_TAG | 0x200, 0x1 },
	{ NULL, "SP_LD_RET", UOP_TAG | 0x400, 0x1 },
	{ NULL, "SP_ST_RET", UOP_TAG | 0x400, 0x2 },
};

#define SET(type, prefix, of) \
	{ .cpu_type = (type), .event_prefix = (prefix), \
	  .nevents = ARRAY_SIZE(of), .events = (of) }

static const struct perfctr_event_set sets[] = {
	SET(PERFCTR_X86_INTEL_P5, "P5_", p5_events),
	SET(PERFCTR_X86_INTEL_P5MMX, "P5MMX_", p5mmx_events),
	SET(PERFCTR_X86_CYRIX_MII, "MII_", p5_events),
	SET(PERFCTR_X86_WINCHIP_C6, "WCC6_", c6_events),
	SET(PERFCTR_X86_WINCHIP_2, "WC2_", winchip_events),
	SET(PERFCTR_X86_VIA_C3, "VC3_", c3_events),
	SET(PERFCTR_X86_INTEL_P4, "P4_", p4_events),
	SET(PERFCTR_X86_INTEL_P4M2, "P4M2_", p4_events),
	SET(PERFCTR_X86_INTEL_P4M3, "P4M3_", p4_events),
};

const struct perfctr_event_set *perfctr_old_event_names(unsigned int cpu_type)
{
	return perfctr_find_set(sets, ARRAY_SIZE(sets), cpu_type);
}

int perfctr_is_p4(unsigned int cpu_type)
{
	const struct perfctr_event_set *set = perfctr_old_event_names(cpu_type);

	return set && set->events == p4_events;
}

/*
 * From an event to the numbers of a control
 */

#define CCCR_SELECT_SHIFT	13
#define ESCR_EVENT_SHIFT	25
#define ESCR_MASK_SHIFT		9
#define ESCR_MASK		0xffffu
#define ESCR_MODES		0xcull
/* The bits of a CCCR that are not part of the event: ENABLE, ACTIVE_THREAD, OVF_PMI_T0 */
#define CCCR_CONTROL		0x04031000ull
/* The bits for modes in a half of the CESR */
#define CESR_MODES		0xc0ull

/* The counters of the blocks BPU, MS, FLAME and IQ. IQ has six, the others have four. */
static const unsigned int blocks[] = { 0xf, 0xf0, 0xf00, P4_IQ };

static __u64 block_of(unsigned int counters)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(blocks); i++)
		if (blocks[i] & counters)
			return (__u64)(i + 1) << P4_BLOCK_SHIFT;
	return 0;
}

/*
 * Returns the map for an event: ANY if all counters of a block count the event, else the first
 * counter that does.
 */
static unsigned int p4_map(unsigned int counters)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(blocks); i++)
		if (blocks[i] == counters)
			return PERFCTR_MAP_ANY;
	return (unsigned int)__builtin_ctz(counters);
}

static void p4_encode(const struct perfctr_event *event, unsigned int mask,
		      struct perfctr_ctr_control *ctr)
{
	ctr->map = p4_map(event->counters_set);
	ctr->event = block_of(event->counters_set) | event->evntsel >> 8 << CCCR_SELECT_SHIFT;
	ctr->config = (event->evntsel & 0xffu) << ESCR_EVENT_SHIFT | mask << ESCR_MASK_SHIFT;
}

static void tag_encode(const struct tag *tag, struct perfctr_ctr_control *ctr)
{
	ctr->config1 = tag->enable;
	ctr->config2 = tag->vert;
}

void perfctr_old_set_event(unsigned int cpu_type, const struct perfctr_event *event,
			   struct perfctr_ctr_control *ctr)
{
	size_t i;

	if (perfctr_is_p4(cpu_type)) {
		p4_encode(event, event->unit_mask ? event->unit_mask->default_value : 0, ctr);
		for (i = 0; i < ARRAY_SIZE(tags); i++)
			if (tags[i].event && !strcmp(tags[i].event, event->name))
				tag_encode(&tags[i], ctr);
		return;
	}
	ctr->event = event->evntsel;
	/* A number may mean a different event on each of the two counters. */
	ctr->map = event->counters_set == 1u || event->counters_set == 2u ?
		   event->counters_set - 1u : PERFCTR_MAP_ANY;
}

/*
 * From a name in the tables, EVENT or EVENT:UNIT:UNIT, to an event. The description of a unit
 * begins with the unit's name.
 */

static const struct perfctr_event *find_old_event(unsigned int cpu_type, const char *name,
						  size_t length)
{
	const struct perfctr_event_set *set;
	unsigned int i;

	for (set = perfctr_event_table(cpu_type); set; set = set->include)
		for (i = 0; i < set->nevents; i++)
			if (!strncasecmp(set->events[i].name, name, length) &&
			    !set->events[i].name[length])
				return &set->events[i];
	return NULL;
}

/* Returns the value of the unit with that name, or 0. */
static unsigned int find_unit(const struct perfctr_unit_mask *mask, const char *name, size_t length)
{
	unsigned int i;

	for (i = 0; length && mask && i < mask->nvalues; i++)
		if (!strncasecmp(mask->values[i].description, name, length) &&
		    mask->values[i].description[length] == ':')
			return mask->values[i].value;
	return 0;
}

static const struct tag *find_tag(const struct perfctr_event *event, const char *name,
				  size_t length)
{
	size_t i;

	for (i = 0; event->evntsel == REPLAY_EVENT && i < ARRAY_SIZE(tags); i++)
		if (!strncasecmp(tags[i].unit, name, length) && !tags[i].unit[length])
			return &tags[i];
	return NULL;
}

/* Adds units, each with a colon before it, to the counter. Returns -1 if the event lacks a unit. */
static int add_units(const struct perfctr_event *event, const char *units,
		     struct perfctr_ctr_control *ctr)
{
	unsigned int mask = 0, value;
	const struct tag *tag;
	size_t length;

	for (; *units; units += length) {
		length = strcspn(++units, ":");
		value = find_unit(event->unit_mask, units, length);
		tag = value ? NULL : find_tag(event, units, length);
		if (!value && (!tag || ctr->config1))
			return -1;
		mask |= value;
		if (tag)
			tag_encode(tag, ctr);
	}
	/* If all units are tags, the mask is the default. */
	if (!mask)
		mask = event->unit_mask->default_value;
	p4_encode(event, mask, ctr);
	return 0;
}

int perfctr_old_event(unsigned int cpu_type, const char *name,
		      struct perfctr_ctr_control *ctr)
{
	size_t length = strcspn(name, ":");
	const struct perfctr_event *event = find_old_event(cpu_type, name, length);

	if (!event)
		return ENOENT;
	memset(ctr, 0, sizeof(*ctr));
	if (!name[length]) {
		perfctr_old_set_event(cpu_type, event, ctr);
		return 0;
	}
	if (!perfctr_is_p4(cpu_type) || !event->unit_mask)
		return EINVAL;
	return add_units(event, name + length, ctr) < 0 ? EINVAL : 0;
}

/*
 * From the numbers of a control back to a name
 */

/* Clears bits of the event that repeat what other members of the control say. */
static void normalize(unsigned int cpu_type, struct perfctr_ctr_control *ctr)
{
	if (perfctr_is_p4(cpu_type)) {
		ctr->event &= ~CCCR_CONTROL;
		ctr->config &= ~ESCR_MODES;
		if (ctr->map < 32)
			ctr->event |= block_of(1u << ctr->map);
	} else if (cpu_type == PERFCTR_X86_INTEL_P5 || cpu_type == PERFCTR_X86_INTEL_P5MMX ||
		   cpu_type == PERFCTR_X86_CYRIX_MII) {
		ctr->event &= ~CESR_MODES;
	}
	/* ANY means the first counter, but on the C3 the second, which is its only one. */
	if (!perfctr_is_p4(cpu_type) && ctr->map == PERFCTR_MAP_ANY)
		ctr->map = cpu_type == PERFCTR_X86_VIA_C3;
}

static int same(unsigned int cpu_type, const struct perfctr_event *event,
		const struct perfctr_ctr_control *ctr)
{
	struct perfctr_ctr_control other = { .map = 0 };

	perfctr_old_set_event(cpu_type, event, &other);
	return other.event == ctr->event && other.config == ctr->config &&
	       other.config1 == ctr->config1 && other.config2 == ctr->config2 &&
	       (ctr->map >= 32 || event->counters_set >> ctr->map & 1);
}

/*
 * Writes the table's name with units to @name. Returns 0 if the counter counts another event, or
 * more than units can say.
 */
static int format_units(const struct perfctr_event *event,
			const struct perfctr_ctr_control *ctr, char *name, size_t size)
{
	unsigned int left = (unsigned int)(ctr->config >> ESCR_MASK_SHIFT) & ESCR_MASK, i;
	const struct perfctr_unit_mask *mask = event->unit_mask;
	struct perfctr_ctr_control other = { .map = 0 };
	size_t used = (size_t)snprintf(name, size, "%s", event->name);

	p4_encode(event, left, &other);
	if (used >= size || !mask || !left || other.event != ctr->event ||
	    other.config != ctr->config ||
	    (ctr->map < 32 && !(event->counters_set >> ctr->map & 1)))
		return 0;
	for (i = 0; i < mask->nvalues; i++) {
		if (mask->values[i].value & ~left)
			continue;
		left &= ~mask->values[i].value;
		used += (size_t)snprintf(name + used, size - used, ":%.*s",
					 (int)strcspn(mask->values[i].description, ":"),
					 mask->values[i].description);
		if (used >= size)
			return 0;
	}
	for (i = 0; i < ARRAY_SIZE(tags) && event->evntsel == REPLAY_EVENT && ctr->config1; i++) {
		if (tags[i].enable != ctr->config1 || tags[i].vert != ctr->config2)
			continue;
		used += (size_t)snprintf(name + used, size - used, ":%s", tags[i].unit);
		return !left && used < size;
	}
	return !left && !ctr->config1 && !ctr->config2;
}

static const char *find_name(const struct perfctr_event_set *set, unsigned int cpu_type,
			     const struct perfctr_ctr_control *ctr)
{
	unsigned int i;

	for (; set; set = set->include)
		for (i = 0; i < set->nevents; i++)
			if (same(cpu_type, &set->events[i], ctr))
				return set->events[i].name;
	return NULL;
}

int perfctr_old_name(unsigned int cpu_type, const struct perfctr_ctr_control *ctr,
		     char *name, size_t size)
{
	struct perfctr_ctr_control normal = *ctr;
	const struct perfctr_event_set *set;
	const char *found;
	unsigned int i;

	normalize(cpu_type, &normal);
	found = find_name(perfctr_old_event_names(cpu_type), cpu_type, &normal);
	if (!found)
		found = find_name(perfctr_event_table(cpu_type), cpu_type, &normal);
	if (found) {
		(void)snprintf(name, size, "%s", found);
		return 1;
	}
	set = perfctr_is_p4(cpu_type) ? perfctr_event_table(cpu_type) : NULL;
	for (; set; set = set->include)
		for (i = 0; i < set->nevents; i++)
			if (format_units(&set->events[i], &normal, name, size))
				return 1;
	return 0;
}
