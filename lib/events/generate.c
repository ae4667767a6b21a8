// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes tables of events for the x86 processors of perfctr 2.6 from libpfm4's tables. The program
 * includes the files of libpfm4 that have the tables, because libpfm4's interface tells neither
 * counters nor groups of unit masks. tests/unit/test_tables.c compares the result with that
 * interface.
 *
 *	generate NAME >NAME.inc
 *
 * tests/machines/libpfm4.sh --generate runs this program. Its output is in the repository, so a
 * build needs no libpfm4, and git shows how a table changes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pfmlib_priv.h"
#include "pfmlib_intel_x86_priv.h"
/* The headers of both vendors define these macros. */
#undef sel_event_select
#undef sel_unit_mask
#undef sel_usr
#undef sel_os
#undef sel_edge
#undef sel_pc
#undef sel_int
#undef sel_en
#undef sel_inv
#undef sel_cnt_mask
#undef sel_anythr
#undef sel_intx
#undef sel_intxcp
#include "pfmlib_amd64_priv.h"
#include "pfmlib_intel_netburst_priv.h"
#include "events/intel_ppro_events.h"
#include "events/intel_pii_events.h"
#include "events/intel_p6_events.h"
#include "events/intel_pm_events.h"
#include "events/intel_coreduo_events.h"
#include "events/intel_core_events.h"
#include "events/intel_atom_events.h"
#include "events/intel_nhm_events.h"
#include "events/intel_wsm_events.h"
#include "events/intel_x86_arch_events.h"
#include "events/intel_netburst_events.h"
#include "events/amd64_events_k7.h"
#include "events/amd64_events_k8.h"
#include "events/amd64_events_fam10h.h"

#include "generate.h"

#define MAX_SETS	20

struct set sets[MAX_SETS];
unsigned int nsets;

_Static_assert(NGROUPS == INTEL_X86_NUM_GRP, "libpfm4 has so many groups of unit masks");

void die(const char *what, const char *name)
{
	fprintf(stderr, "generate: %s: %s\n", what, name);
	exit(EXIT_FAILURE);
}

static struct set *new_set(const char *name, const char *type, const char *prefix)
{
	struct set *set = &sets[nsets++];

	if (nsets > MAX_SETS)
		die("too many sets", name);
	set->name = name;
	set->type = type;
	set->prefix = prefix;
	return set;
}

static struct event *new_event(struct set *set, const char *name, const char *text,
			       unsigned int code, unsigned int counters)
{
	struct event *event = &set->event[set->n++];

	if (set->n > MAX_EVENTS)
		die("too many events", name);
	event->name = name;
	event->text = text;
	event->code = code;
	event->counters = counters;
	return event;
}

static struct mask *new_mask(struct event *event, const char *name, const char *text,
			     unsigned int value)
{
	struct mask *mask = &event->mask[event->nmasks++];

	if (event->nmasks > MAX_MASKS)
		die("too many unit masks", event->name);
	mask->name = name;
	mask->text = text;
	mask->value = value;
	return mask;
}

/*
 * Intel's processors except the Pentium 4
 */

/* Fixed counter n is bit 32 + n in libpfm4, and bit 24 + n in our tables. */
static unsigned int intel_counters(uint64_t mask)
{
	return (unsigned int)(mask & 0xff) | (unsigned int)(mask >> 32 & 7) << 24;
}

/*
 * Returns the code of an event. If an alias stands for EVENT:MASK, libpfm4 uses the code of
 * EVENT:MASK and ignores the alias's own code. The code of any other alias is right.
 */
static unsigned int intel_code(const intel_x86_entry_t *table, unsigned int n,
			       const intel_x86_entry_t *alias)
{
	const char *mask = alias->equiv ? strchr(alias->equiv, ':') : NULL;
	size_t len = mask ? (size_t)(mask - alias->equiv) : 0;
	unsigned int i, k;

	for (i = 0; mask && !strchr(mask, '=') && i < n; i++) {
		if (strncmp(table[i].name, alias->equiv, len) || table[i].name[len])
			continue;
		for (k = 0; k < table[i].numasks; k++)
			if (!strcmp(table[i].umasks[k].uname, mask + 1))
				return table[i].code | (unsigned int)table[i].umasks[k].ucode;
		die("an alias of nothing", alias->name);
	}
	return alias->code;
}

/*
 * Returns the value of a unit mask. An alias, MASK:MASK:MODIFIER=1, has the values of the masks
 * that it names, and the modifiers in its own code.
 */
static unsigned int intel_mask(const intel_x86_entry_t *event, const intel_x86_umask_t *of)
{
	unsigned int value = (unsigned int)(of->ucode >> 8), i, masks = 0;
	char names[256], *name;

	if (!of->uequiv)
		return value;
	(void)snprintf(names, sizeof(names), "%s", of->uequiv);
	for (name = strtok(names, ":"); name; name = strtok(NULL, ":")) {
		if (strchr(name, '='))
			continue;
		for (i = 0; i < event->numasks && strcmp(event->umasks[i].uname, name); i++)
			;
		/* If a mask of the alias does not exist, libpfm4 uses the code of the alias. */
		if (i == event->numasks)
			return value;
		masks |= (unsigned int)(event->umasks[i].ucode >> 8) & 0xff;
	}
	return (value & ~0xffu) | masks;
}

static void intel_event(struct set *set, const intel_x86_entry_t *from, unsigned int code,
			pfm_pmu_t pmu)
{
	unsigned int i;
	unsigned int counters = intel_counters(from->cntmsk);
	const intel_x86_umask_t *umask;
	struct event *event;
	struct mask *mask;

	/* libpfm4 has its own number for reference cycles on the fixed counter. */
	if (code == 0x300)
		code = 0x13c;
	/* libpfm4 asks the processor how many counters can count architectural events. */
	if (pmu == PFM_PMU_INTEL_X86_ARCH)
		counters |= 0xffffff;
	event = new_event(set, from->name, from->desc, code & 0xff, counters);
	/* Events of off-core responses have a register, offcore_rsp, instead of unit masks. */
	if (!from->numasks || from->flags & INTEL_X86_NHM_OFFCORE) {
		if (code >> 8)
			new_mask(event, NULL, from->desc, code >> 8);
		return;
	}
	event->one_group = !!(from->flags & INTEL_X86_GRP_EXCL);
	for (i = 0; i < from->numasks; i++) {
		umask = &from->umasks[i];
		if (umask->umodel && umask->umodel != pmu)
			continue;
		mask = new_mask(event, umask->uname, umask->udesc,
				code >> 8 | intel_mask(from, umask));
		mask->group = umask->grpid;
		mask->alone = !!(umask->uflags & INTEL_X86_NCOMBO);
		mask->is_default = !!(umask->uflags & INTEL_X86_DFL);
		if (umask->ucntmsk)
			die("a unit mask with counters", from->name);
	}
}

static struct set *intel(const char *name, const char *type, const char *prefix,
			 const intel_x86_entry_t *from, unsigned int n, pfm_pmu_t pmu)
{
	struct set *set = new_set(name, type, prefix);
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!from[i].model || from[i].model == pmu)
			intel_event(set, &from[i], intel_code(from, n, &from[i]), pmu);
	return set;
}

/*
 * AMD's processors, whose four counters can all count each event
 */

static int of_revision(unsigned int flags, amd64_rev_t revision)
{
	unsigned int from = flags >> 8 & 0xff, till = flags >> 16 & 0xff;

	return from <= revision && (!till || revision <= till);
}

static struct set *amd(const char *name, const char *type, const char *prefix, const amd64_entry_t *from,
		unsigned int n, amd64_rev_t revision)
{
	struct set *set = new_set(name, type, prefix);
	struct event *event;
	struct mask *mask;
	unsigned int i, k;

	for (i = 0; i < n; i++) {
		if (!of_revision(from[i].flags, revision) ||
		    from[i].flags & (AMD64_FL_IBSFE | AMD64_FL_IBSOP))
			continue;
		event = new_event(set, from[i].name, from[i].desc, from[i].code, 0xf);
		for (k = 0; k < from[i].numasks; k++) {
			if (!of_revision(from[i].umasks[k].uflags, revision))
				continue;
			mask = new_mask(event, from[i].umasks[k].uname, from[i].umasks[k].udesc,
					from[i].umasks[k].ucode);
			mask->group = from[i].umasks[k].grpid;
			mask->alone = !!(from[i].umasks[k].uflags & AMD64_FL_NCOMBO);
			mask->is_default = !!(from[i].umasks[k].uflags & AMD64_FL_DFL);
			mask->optional = !!(from[i].umasks[k].uflags & AMD64_FL_OMIT);
		}
	}
	return set;
}

/*
 * The Pentium 4
 */

/*
 * The units of a Pentium 4, each with an even and an odd ESCR; SSU has no odd ESCR. libpfm4 numbers
 * the even ESCRs first, and then the odd ESCRs, in the order of this table. p4_counters() checks
 * the order by the ESCR select of each unit. (Intel SDM volume 3, performance counter MSRs and
 * associated CCCR and ESCR MSRs)
 */
static const struct {
	const char *name;
	unsigned int select;
	unsigned int counters[2];	/* counters of the even and of the odd ESCR */
} units[] = {
	{ "BPU", 0, { 0x3, 0xc } }, { "IS", 1, { 0x3, 0xc } }, { "MOB", 2, { 0x3, 0xc } },
	{ "ITLB", 3, { 0x3, 0xc } }, { "PMH", 4, { 0x3, 0xc } }, { "IX", 5, { 0x3, 0xc } },
	{ "FSB", 6, { 0x3, 0xc } }, { "BSU", 7, { 0x3, 0xc } },
	{ "MS", 0, { 0x30, 0xc0 } }, { "TC", 1, { 0x30, 0xc0 } }, { "TBPU", 2, { 0x30, 0xc0 } },
	{ "FLAME", 0, { 0x300, 0xc00 } }, { "FIRM", 1, { 0x300, 0xc00 } },
	{ "SAAT", 2, { 0x300, 0xc00 } }, { "U2L", 3, { 0x300, 0xc00 } },
	{ "DAC", 5, { 0x300, 0xc00 } },
	{ "IQ", 0, { 0x13000, 0x2c000 } }, { "ALF", 1, { 0x13000, 0x2c000 } },
	{ "RAT", 2, { 0x13000, 0x2c000 } }, { "SSU", 3, { 0x13000, 0 } },
	{ "CRU", 4, { 0x13000, 0x2c000 } }, { "CRU", 5, { 0x13000, 0x2c000 } },
	{ "CRU", 6, { 0x13000, 0x2c000 } },
};
#define SSU	19u

static unsigned int p4_counters(const netburst_entry_t *from)
{
	unsigned int counters = 0, i, unit, second, fits = 0;

	for (i = 0; i < MAX_ESCRS_PER_EVENT; i++) {
		if (from->allowed_escrs[i] < 0)
			continue;
		unit = (unsigned int)from->allowed_escrs[i];
		second = unit >= SIZE(units);
		if (second)
			unit -= SIZE(units);
		if (second && unit >= SSU)
			unit++;
		if (unit >= SIZE(units))
			die("an unknown ESCR", from->name);
		/* In the manual some events of the bus have ESCR select 3. */
		if (units[unit].select == from->escr_select ||
		    (!strcmp(units[unit].name, "FSB") && from->escr_select == 3))
			fits = 1;
		counters |= units[unit].counters[second];
	}
	if (!fits)
		die("another ESCR select", from->name);
	return counters;
}

/* Adds another name of an event. */
static void p4_alias(struct set *set, const char *name, const char *of)
{
	struct event *alias = new_event(set, name, "", 0, 0);
	unsigned int i;

	for (i = 0; i < set->n && strcmp(set->event[i].name, of); i++)
		;
	if (i == set->n)
		die("an alias of nothing", name);
	*alias = set->event[i];
	alias->name = name;
}

/* Adds two names of perfctr 2.6 that libpfm4 lacks, and an event that only Intel's manual has. */
static void p4_add(struct set *set)
{
	const char *text = "x87, MMX, SSE, SSE2 and SSE3 uops that load, store or move between registers";
	struct event *event;

	p4_alias(set, "uop_type", "uops_type");
	p4_alias(set, "bsq_active_entries", "BSQ_active_entries");
	/* The event is in FIRM_ESCR0 and FIRM_ESCR1. */
	event = new_event(set, "x87_SIMD_moves_uop", text, 0x2e | 1 << 8, 0xf00);
	new_mask(event, "ALLP0", "All that store or move between registers", 1 << 3);
	new_mask(event, "ALLP2", "All that load", 1 << 4);
}

static struct set *p4(const char *name, const char *type, const char *prefix, unsigned int n)
{
	struct set *set = new_set(name, type, prefix);
	const netburst_entry_t *from;
	struct event *event;
	unsigned int i, k;

	for (i = 0; i < n; i++) {
		from = &netburst_events[i];
		event = new_event(set, from->name, from->desc,
				  from->event_select | from->escr_select << 8, p4_counters(from));
		for (k = 0; k < EVENT_MASK_BITS && from->event_masks[k].name; k++)
			/*
			 * This skips tags, which are not in the ESCR's mask. The tags of
			 * replay_event are codes of libpfm4 for what PEBS has to tag.
			 */
			if (from->event_masks[k].bit < EVENT_MASK_BITS &&
			    (strcmp(from->name, "replay_event") ||
			     P4_REPLAY_REAL_MASK >> from->event_masks[k].bit & 1))
				new_mask(event, from->event_masks[k].name,
					 from->event_masks[k].desc,
					 1u << from->event_masks[k].bit)->is_default =
					!!(from->event_masks[k].flags & NETBURST_FL_DFL);
	}
	p4_add(set);
	return set;
}

#define INTEL(name, type, prefix, table, pmu) \
	intel(name, "PERFCTR_X86_INTEL_" type, prefix, table, SIZE(table), PFM_PMU_##pmu)
#define AMD(name, type, prefix, table, revision) \
	amd(name, "PERFCTR_X86_AMD_" type, prefix, table, SIZE(table), revision)

static void make_sets(void)
{
	struct set *p6, *pii, *piii, *first, *second, *third;

	p6 = INTEL("p6", "P6", "P6_", intel_ppro_pe, INTEL_PPRO);
	pii = INTEL("pii", "PII", "PII_", intel_pii_pe, INTEL_PII);
	piii = INTEL("piii", "PIII", "PIII_", intel_p6_pe, I386_P6);
	INTEL("pentm", "PENTM", "PENTM_", intel_pm_pe, I386_PM);
	include(pii, p6);
	include(piii, p6);
	INTEL("core", "CORE", "CORE_", intel_coreduo_pe, COREDUO);
	INTEL("core2", "CORE2", "CORE2_", intel_core_pe, INTEL_CORE);
	INTEL("atom", "ATOM", "ATOM_", intel_atom_pe, INTEL_ATOM);
	INTEL("nhlm", "NHLM", "NHLM_", intel_nhm_pe, INTEL_NHM);
	INTEL("wstmr", "WSTMR", "WSTMR_", intel_wsm_pe, INTEL_WSM);
	INTEL("arch", "ARCH", "ARCH_", intel_x86_arch_pe, INTEL_X86_ARCH);
	/* Models of the Pentium 4 before model 3 lack the last event. */
	first = p4("p4", "PERFCTR_X86_INTEL_P4", "P4_", SIZE(netburst_events) - 1);
	second = p4("p4m2", "PERFCTR_X86_INTEL_P4M2", "P4M2_", SIZE(netburst_events) - 1);
	third = p4("p4m3", "PERFCTR_X86_INTEL_P4M3", "P4M3_", SIZE(netburst_events));
	include(second, first);
	include(third, first);
	AMD("k7", "K7", "K7_", amd64_k7_pe, AMD64_K7);
	first = AMD("k8", "K8", "K8_", amd64_k8_pe, AMD64_K8_REV_B);
	second = AMD("k8c", "K8C", "K8C_", amd64_k8_pe, AMD64_K8_REV_C);
	include(second, first);
	AMD("fam10h", "FAM10H", "FAM10H_", amd64_fam10h_pe, AMD64_FAM10H_REV_B);
}

int main(int argc, char **argv)
{
	unsigned int i;

	make_sets();
	for (i = 0; argc == 2 && i < nsets; i++) {
		if (strcmp(sets[i].name, argv[1]))
			continue;
		print_set(&sets[i]);
		return EXIT_SUCCESS;
	}
	die("no such set", argc == 2 ? argv[1] : "usage: generate NAME");
}
