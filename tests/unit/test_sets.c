// SPDX-License-Identifier: GPL-2.0
/* The events of perfctr 2.6's processors: tables, and perfctr_event_codes.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libperfctr.h>
#include <perfctr_event_codes.h>

#include "run.h"

#if defined(__powerpc__)
#define LAST_TYPE	PERFCTR_PPC_7450
#elif defined(__x86_64__) || defined(__i386__)
#define LAST_TYPE	PERFCTR_X86_INTEL_WSTMR
#endif

#ifdef LAST_TYPE

/* @i counts on, through the sets that are included. */
static const struct perfctr_event *event_of(const struct perfctr_event_set *set, unsigned int i,
					    const struct perfctr_event_set **owner)
{
	for (; set; set = set->include) {
		if (i < set->nevents) {
			*owner = set;
			return &set->events[i];
		}
		i -= set->nevents;
	}
	return NULL;
}

static const struct perfctr_event *find(unsigned int cpu_type, const char *name)
{
	const struct perfctr_event_set *owner;
	const struct perfctr_event *event;
	unsigned int i;

	for (i = 0;; i++) {
		event = event_of(perfctr_cpu_event_set(cpu_type), i, &owner);
		if (!event || !strcmp(event->name, name))
			return event;
	}
}

static void check_mask(const char *name, const struct perfctr_unit_mask *mask)
{
	unsigned int i, all = 0, found = 0;

	ck_assert_uint_gt(mask->nvalues, 0);
	for (i = 0; i < mask->nvalues; i++) {
		all |= mask->values[i].value;
		found += mask->values[i].value == mask->default_value;
		ck_assert_ptr_nonnull(mask->values[i].description);
		/* An event select has 32 bits, of which the lowest 8 are the event. */
		ck_assert_msg(!(mask->values[i].value >> 24), "%s", name);
	}
	switch (mask->type) {
	case perfctr_um_type_fixed:
		ck_assert_msg(mask->nvalues == 1 && found, "%s", name);
		break;
	case perfctr_um_type_exclusive:
		ck_assert_msg(mask->nvalues > 1 && found, "%s", name);
		break;
	case perfctr_um_type_bitmask:
		ck_assert_msg(mask->nvalues > 1 && (mask->default_value || found) &&
			      !(mask->default_value & ~all), "%s", name);
		break;
	default:
		ck_abort_msg("%s: type %d", name, (int)mask->type);
	}
}

START_TEST(every_type_has_a_set)
{
	const struct perfctr_event_set *set = perfctr_cpu_event_set((unsigned int)_i), *owner, *other;
	const struct perfctr_event *event;
	unsigned int i, k;
	const char *c;

	ck_assert_ptr_nonnull(set);
	ck_assert_uint_eq(set->cpu_type, (unsigned int)_i);
	ck_assert_ptr_nonnull(set->event_prefix);
	for (i = 0; (event = event_of(set, i, &owner)); i++) {
		ck_assert_msg(isalpha((unsigned char)owner->event_prefix[0]), "%s", event->name);
		for (c = event->name; *c; c++)
			ck_assert_msg(isalnum((unsigned char)*c) || *c == '_', "%s", event->name);
		ck_assert_ptr_nonnull(event->description);
		ck_assert_uint_ne(event->counters_set, 0);
		for (k = 0; k < i; k++)
			ck_assert_str_ne(event->name, event_of(set, k, &other)->name);
		if (event->unit_mask)
			check_mask(event->name, event->unit_mask);
	}
}
END_TEST

/* Each set once, also those that are only included: so many */
static unsigned int all_sets(const struct perfctr_event_set **sets, unsigned int most)
{
	const struct perfctr_event_set *set;
	unsigned int type, i, n = 0;

	for (type = 0; type <= LAST_TYPE + 1; type++) {
		for (set = perfctr_cpu_event_set(type); set; set = set->include) {
			for (i = 0; i < n && sets[i] != set; i++)
				;
			if (i < n)
				continue;
			ck_assert_uint_lt(n, most);
			sets[n++] = set;
		}
	}
	return n;
}

/* Those that 2.6 had and libpfm4 has not: test_compat26.c has them all. */
#define OLDER_NAMES	104u

/*
 * perfctr_event_codes.h has each event of each set once, a Pentium 4's by its event select alone,
 * and 2.6's other names.
 */
START_TEST(codes_are_the_sets)
{
	const struct perfctr_event_set *sets[64], *set;
	unsigned int nr = all_sets(sets, 64), k, i, code, mask, expected = 0, found = 0;
	unsigned int older = 0;
	char line[256], name[128], full[256];
	FILE *f = fopen(CODES, "r");

	ck_assert_ptr_nonnull(f);
	for (k = 0; k < nr; k++)
		expected += sets[k]->nevents;
	while (fgets(line, sizeof(line), f)) {
		int found_here = 0, right = 0;

		if (sscanf(line, "#define %127s %x", name, &code) != 2)
			continue;
		/* Of the other architecture */
		if (!strncmp(name, "PPC_", 4) != (LAST_TYPE == 5))
			continue;
		mask = !strncmp(name, "P4", 2) ? 0xff : ~0u;
		for (k = 0; k < nr; k++) {
			set = sets[k];
			for (i = 0; i < set->nevents; i++) {
				snprintf(full, sizeof(full), "%s%s", set->event_prefix,
					 set->events[i].name);
				if (strcmp(full, name) != 0)
					continue;
				found_here++;
				right += (set->events[i].evntsel & mask) == code;
			}
		}
		ck_assert_msg(found_here <= 1 && right == found_here, "%s", name);
		found += found_here == 1;
		older += found_here == 0;
	}
	fclose(f);
	ck_assert_uint_eq(older, LAST_TYPE == 5 ? 0 : OLDER_NAMES);
	ck_assert_uint_eq(found, expected);
}
END_TEST

START_TEST(unknown_types_have_none)
{
	ck_assert_ptr_null(perfctr_cpu_event_set(PERFCTR_X86_AMD_ZEN4 + 1));
	ck_assert_ptr_null(perfctr_cpu_event_set(255));
	ck_assert_ptr_null(perfctr_cpu_event_set(~0u));
	ck_assert_ptr_nonnull(perfctr_cpu_event_set(PERFCTR_RISCV_SBI));
}
END_TEST

#endif

#if defined(__x86_64__) || defined(__i386__)

/* Some, as the manuals have them */
static const struct {
	unsigned int cpu_type;
	const char *name;
	unsigned int evntsel, counters;
	int type;			/* -1: no unit mask */
	unsigned int default_value;
} known[] = {
	{ PERFCTR_X86_INTEL_P5, "INSTRUCTIONS_EXECUTED", P5_INSTRUCTIONS_EXECUTED, 0x3, -1, 0 },
	{ PERFCTR_X86_INTEL_P5, "HARDWARE_INTERRUPTS", 0x27, 0x3, -1, 0 },
	/* Another event on each counter; included; shared with Cyrix's */
	{ PERFCTR_X86_INTEL_P5MMX, "NUMBER_OF_CYCLES_NOT_IN_HALT_STATE", 0x30, 0x1, -1, 0 },
	{ PERFCTR_X86_INTEL_P5MMX, "DATA_CACHE_TLB_MISS_STALL_DURATION", 0x30, 0x2, -1, 0 },
	{ PERFCTR_X86_INTEL_P5MMX, "DATA_READ", P5_DATA_READ, 0x3, -1, 0 },
	{ PERFCTR_X86_CYRIX_MII, "TAKEN_BRANCHES", P5MMX_TAKEN_BRANCHES, 0x2, -1, 0 },
	/* 43h, of which the highest bit is elsewhere */
	{ PERFCTR_X86_CYRIX_MII, "L1_TLB_MISS", 0x403, 0x3, -1, 0 },
	{ PERFCTR_X86_WINCHIP_C6, "X86_INSTRUCTIONS", WCC6_X86_INSTRUCTIONS, 0x3, -1, 0 },
	{ PERFCTR_X86_WINCHIP_2, "INTERNAL_CLOCKS", WC2_INTERNAL_CLOCKS, 0x3, -1, 0 },
	{ PERFCTR_X86_VIA_C3, "INSTRUCTIONS_EXECUTED_AND_STRING_ITERATIONS", 0x1c0, 0x2, -1, 0 },
	{ PERFCTR_X86_INTEL_P6, "DATA_MEM_REFS", P6_DATA_MEM_REFS, 0x3, -1, 0 },
	/* By counter 0 alone, and by counter 1 alone */
	{ PERFCTR_X86_INTEL_P6, "FLOPS", 0xc1, 0x1, -1, 0 },
	{ PERFCTR_X86_INTEL_P6, "FP_ASSIST", 0x11, 0x2, -1, 0 },
	/* Included; MESI */
	{ PERFCTR_X86_INTEL_PII, "L2_IFETCH", 0x28, 0x3, perfctr_um_type_bitmask, 0xf },
	{ PERFCTR_X86_INTEL_PIII, "BUS_DRDY_CLOCKS", 0x62, 0x3, perfctr_um_type_exclusive, 0 },
	{ PERFCTR_X86_INTEL_CORE2, "INSTRUCTION_RETIRED", 0xc0, 0x01000003, -1, 0 },
	{ PERFCTR_X86_INTEL_CORE2, "LLC_MISSES", 0x2e, 0x3, perfctr_um_type_fixed, 0x41 },
	/* By fixed counter 2 alone */
	{ PERFCTR_X86_INTEL_CORE2, "UNHALTED_REFERENCE_CYCLES", 0x3c, 0x04000000,
	  perfctr_um_type_fixed, 0x1 },
	{ PERFCTR_X86_INTEL_NHLM, "UNHALTED_CORE_CYCLES", 0x3c, 0x0200000f, -1, 0 },
	{ PERFCTR_X86_INTEL_NHLM, "OFFCORE_RESPONSE_0", 0xb7, 0xf, perfctr_um_type_fixed, 0x1 },
	{ PERFCTR_X86_AMD_K7, "CPU_CLK_UNHALTED", K7_CPU_CLK_UNHALTED, 0xf, -1, 0 },
	{ PERFCTR_X86_AMD_K8C, "RETIRED_INSTRUCTIONS", 0xc0, 0xf, -1, 0 },
	/* An event of 12 bits */
	{ PERFCTR_X86_AMD_FAM10H, "L3_CACHE_MISSES", 0x4e1, 0xf, perfctr_um_type_bitmask, 0xf7 },
	/* ESCR select 5, event 6, CRU: counters 12 to 17 */
	{ PERFCTR_X86_INTEL_P4, "branch_retired", 0x506, 0x3f000, perfctr_um_type_bitmask, 0xf },
	/* FSB: counters 0 to 3 */
	{ PERFCTR_X86_INTEL_P4M2, "global_power_events", 0x613, 0xf, perfctr_um_type_fixed, 1 },
	{ PERFCTR_X86_INTEL_P4M3, "instr_completed", 0x407, 0x3f000,
	  perfctr_um_type_bitmask, 0x3 },
	/* By 2.6's names; libpfm4 has others, and has not the last one */
	{ PERFCTR_X86_INTEL_P4, "uop_type", 0x202, 0x3f000, perfctr_um_type_bitmask, 0x6 },
	{ PERFCTR_X86_INTEL_P4M2, "bsq_active_entries", 0x706, 0xc, perfctr_um_type_bitmask, 0x3fef },
	{ PERFCTR_X86_INTEL_P4M3, "x87_SIMD_moves_uop", 0x12e, 0xf00, perfctr_um_type_bitmask, 0x18 },
	/* All architectural events of the SDM's first seven */
	{ PERFCTR_X86_INTEL_ARCH, "UNHALTED_CORE_CYCLES", 0x3c, 0x2ffffff, -1, 0 },
	{ PERFCTR_X86_INTEL_ARCH, "INSTRUCTION_RETIRED", 0xc0, 0x1ffffff, -1, 0 },
	{ PERFCTR_X86_INTEL_ARCH, "UNHALTED_REFERENCE_CYCLES", 0x3c, 0x4ffffff,
	  perfctr_um_type_fixed, 0x01 },
	{ PERFCTR_X86_INTEL_ARCH, "LLC_REFERENCES", 0x2e, 0xffffff, perfctr_um_type_fixed, 0x4f },
	{ PERFCTR_X86_INTEL_ARCH, "LLC_MISSES", 0x2e, 0xffffff, perfctr_um_type_fixed, 0x41 },
	{ PERFCTR_X86_INTEL_ARCH, "BRANCH_INSTRUCTIONS_RETIRED", 0xc4, 0xffffff, -1, 0 },
	{ PERFCTR_X86_INTEL_ARCH, "MISPREDICTED_BRANCH_RETIRED", 0xc5, 0xffffff, -1, 0 },
};

START_TEST(known_events)
{
	const struct perfctr_event *event = find(known[_i].cpu_type, known[_i].name);

	ck_assert_msg(event != NULL, "%s", known[_i].name);
	ck_assert_uint_eq(event->evntsel, known[_i].evntsel);
	ck_assert_uint_eq(event->counters_set, known[_i].counters);
	ck_assert_int_eq(event->unit_mask ? (int)event->unit_mask->type : -1, known[_i].type);
	if (event->unit_mask)
		ck_assert_uint_eq(event->unit_mask->default_value, known[_i].default_value);
}
END_TEST

/* The generic one has no counters, and it alone no events. */
START_TEST(types_without_events)
{
	const struct perfctr_event_set *owner;
	unsigned int type;

	for (type = 0; type <= LAST_TYPE; type++)
		ck_assert_msg(!event_of(perfctr_cpu_event_set(type), 0, &owner) ==
			      (type == PERFCTR_X86_GENERIC), "type %u", type);
}
END_TEST

#elif defined(__powerpc__)

START_TEST(ppc_events)
{
	const struct perfctr_event *event = find(PERFCTR_PPC_7450, "L1_ICACHE_PREFETCHES");

	ck_assert_ptr_nonnull(event);
	ck_assert_uint_eq(event->evntsel, PPC_7450_L1_ICACHE_PREFETCHES);
	ck_assert_uint_eq(event->counters_set, 1u << 5);
	ck_assert_uint_eq(find(PERFCTR_PPC_604, "CYCLES")->counters_set, 0x3);
	ck_assert_uint_eq(perfctr_cpu_event_set(PERFCTR_PPC_GENERIC)->nevents, 0);
}
END_TEST

#endif

int main(void)
{
	TCase *tc = tcase_create("sets");

#ifdef LAST_TYPE
	tcase_add_loop_test(tc, every_type_has_a_set, 0, LAST_TYPE + 1);
	tcase_add_test(tc, codes_are_the_sets);
	tcase_add_test(tc, unknown_types_have_none);
#endif
#if defined(__x86_64__) || defined(__i386__)
	tcase_add_loop_test(tc, known_events, 0, (int)(sizeof(known) / sizeof(known[0])));
	tcase_add_test(tc, types_without_events);
#elif defined(__powerpc__)
	tcase_add_test(tc, ppc_events);
#endif
	return run_tests("sets", tc);
}
