// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of events against what libpfm4 itself makes of each event's name and those of its unit
 * masks. It goes by libpfm4's interface, and the tables were made of its sources.
 */
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libperfctr.h>

#include "run.h"

/*
 * cpu_type, and libpfm4's name of that processor's counters. Of architectural events it asks the
 * processor: test_sets.c has those.
 */
static const struct {
	unsigned int cpu_type;
	const char *pmu;
} types[] = {
	{ PERFCTR_X86_INTEL_P6, "ppro" }, { PERFCTR_X86_INTEL_PII, "pii" },
	{ PERFCTR_X86_INTEL_PIII, "p6" }, { PERFCTR_X86_INTEL_PENTM, "pm" },
	{ PERFCTR_X86_INTEL_CORE, "coreduo" }, { PERFCTR_X86_INTEL_CORE2, "core" },
	{ PERFCTR_X86_INTEL_ATOM, "atom" }, { PERFCTR_X86_INTEL_NHLM, "nhm" },
	{ PERFCTR_X86_INTEL_WSTMR, "wsm" },
	{ PERFCTR_X86_INTEL_P4, "netburst" }, { PERFCTR_X86_INTEL_P4M2, "netburst" },
	{ PERFCTR_X86_INTEL_P4M3, "netburst_p" },
	{ PERFCTR_X86_AMD_K7, "amd64_k7" }, { PERFCTR_X86_AMD_K8, "amd64_k8_revb" },
	{ PERFCTR_X86_AMD_K8C, "amd64_k8_revc" }, { PERFCTR_X86_AMD_FAM10H, "amd64_fam10h_barcelona" },
};

#define NOT_THE_EVENT	0x005b0000u	/* modes, pin control, interrupt, enable */

static int is_p4(unsigned int cpu_type)
{
	return cpu_type == PERFCTR_X86_INTEL_P4 || cpu_type == PERFCTR_X86_INTEL_P4M2 ||
	       cpu_type == PERFCTR_X86_INTEL_P4M3;
}

/* What libpfm4 makes of it: event number and unit mask as ours. 0, or its error */
static int encode(unsigned int cpu_type, const char *spec, unsigned int *event, unsigned int *mask)
{
	pfm_pmu_encode_arg_t arg;
	uint64_t code;
	int err;

	memset(&arg, 0, sizeof(arg));
	arg.size = sizeof(arg);
	err = pfm_get_os_event_encoding(spec, PFM_PLM3, PFM_OS_NONE, &arg);
	if (err != PFM_SUCCESS)
		return err;
	code = arg.codes[0];
	if (is_p4(cpu_type)) {
		/* ESCR, CCCR */
		*event = (unsigned int)(code >> 25 & 0x3f) |
			 (unsigned int)(arg.codes[1] >> 13 & 7) << 8;
		*mask = (unsigned int)(code >> 9 & 0xffff);
	} else {
		*event = (unsigned int)(code & 0xff) | (unsigned int)(code >> 32 & 0xf) << 8;
		*mask = (unsigned int)((code & ~(uint64_t)NOT_THE_EVENT) >> 8 & 0xffffff);
	}
	free(arg.codes);
	return PFM_SUCCESS;
}

/* The name of a value stands before the colon. */
static void add_name(char *spec, size_t size, const struct perfctr_unit_mask_value *value)
{
	const char *colon = strchr(value->description, ':');
	size_t len = strlen(spec);

	snprintf(spec + len, size - len, ":%.*s", (int)(colon - value->description),
		 value->description);
}

/* libpfm4 has another number for the event of the fixed counter of reference cycles. */
static int is_pseudo(const struct perfctr_event *event)
{
	return event->counters_set == 1u << 26;
}

/* libpfm4 takes it for its other mask, CYCLES, and so leaves out the edge that makes walks of them. */
static int is_mistaken(const char *spec)
{
	return !strcmp(spec, "atom::PAGE_WALKS:WALKS");
}

/* Without unit masks in its name, or where that is an error with those that ours is made of */
static void check_default(unsigned int cpu_type, const char *pmu, const struct perfctr_event *event)
{
	const struct perfctr_unit_mask *um = event->unit_mask;
	unsigned int number, mask, i, part, expected = um ? um->default_value : 0;
	char spec[512];
	int err;

	snprintf(spec, sizeof(spec), "%s::%s", pmu, event->name);
	err = encode(cpu_type, spec, &number, &mask);
	if (err) {
		ck_assert_msg(um && um->nvalues > 1, "%s: %s", spec, pfm_strerror(err));
		for (i = 0, part = 0; i < um->nvalues && part != expected; i++) {
			if (um->values[i].value & ~expected || !(um->values[i].value & ~part))
				continue;
			part |= um->values[i].value;
			add_name(spec, sizeof(spec), &um->values[i]);
		}
		if (!expected)
			add_name(spec, sizeof(spec), &um->values[0]);
		err = encode(cpu_type, spec, &number, &mask);
		ck_assert_msg(!err, "%s: %s", spec, pfm_strerror(err));
	}
	if (is_pseudo(event)) {
		ck_assert_uint_eq(number | mask << 8, 0x300);
		return;
	}
	ck_assert_msg(number == event->evntsel, "%s: 0x%x, ours 0x%x", spec, number, event->evntsel);
	if (is_mistaken(spec)) {
		ck_assert_uint_eq(mask, 0x3);
		ck_assert_uint_eq(expected, 0x403);
		return;
	}
	ck_assert_msg(mask == expected, "%s: mask 0x%x, ours 0x%x", spec, mask, expected);
}

/*
 * Each value alone. Where libpfm4 wants masks of several groups it adds the defaults of the others, or
 * fails; then ours must be among what it made.
 */
static void check_values(unsigned int cpu_type, const char *pmu, const struct perfctr_event *event)
{
	const struct perfctr_unit_mask *um = event->unit_mask;
	unsigned int number, mask, i, k;
	char spec[512];
	int err;

	for (i = 0; um && um->nvalues > 1 && i < um->nvalues; i++) {
		snprintf(spec, sizeof(spec), "%s::%s", pmu, event->name);
		add_name(spec, sizeof(spec), &um->values[i]);
		err = encode(cpu_type, spec, &number, &mask);
		if (err == PFM_ERR_UMASK && um->type == perfctr_um_type_bitmask) {
			/* With one more, of a group that has no default */
			for (k = 0; err && k < um->nvalues; k++) {
				snprintf(spec, sizeof(spec), "%s::%s", pmu, event->name);
				add_name(spec, sizeof(spec), &um->values[i]);
				add_name(spec, sizeof(spec), &um->values[k]);
				err = k == i ? err : encode(cpu_type, spec, &number, &mask);
			}
			ck_assert_msg(!err, "%s: %s", spec, pfm_strerror(err));
			ck_assert_msg((mask & um->values[i].value) == um->values[i].value, "%s", spec);
			continue;
		}
		ck_assert_msg(!err, "%s: %s", spec, pfm_strerror(err));
		ck_assert_msg(number == event->evntsel, "%s: 0x%x", spec, number);
		if (is_mistaken(spec))
			continue;
		if (um->type == perfctr_um_type_bitmask)
			ck_assert_msg((mask & um->values[i].value) == um->values[i].value &&
				      !(mask & ~(um->values[i].value | um->default_value)),
				      "%s: mask 0x%x, ours 0x%x", spec, mask, um->values[i].value);
		else
			ck_assert_msg(mask == um->values[i].value, "%s: mask 0x%x, ours 0x%x", spec,
				      mask, um->values[i].value);
	}
}

/* libpfm4 lets choose two if the type says so, and not if it says no. */
static void check_type(unsigned int cpu_type, const char *pmu, const struct perfctr_event *event)
{
	const struct perfctr_unit_mask *um = event->unit_mask;
	unsigned int number, mask, i, k, pairs = 0;
	char spec[512];
	int err;

	if (!um || um->nvalues < 2)
		return;
	for (i = 0; i < um->nvalues; i++) {
		for (k = i + 1; k < um->nvalues; k++) {
			/* libpfm4 takes one for the other with a modifier, and so for the same mask. */
			if (!((um->values[i].value ^ um->values[k].value) & 0xff))
				continue;
			snprintf(spec, sizeof(spec), "%s::%s", pmu, event->name);
			add_name(spec, sizeof(spec), &um->values[i]);
			add_name(spec, sizeof(spec), &um->values[k]);
			err = encode(cpu_type, spec, &number, &mask);
			/* A third one may be missing. */
			pairs += err == PFM_SUCCESS || err == PFM_ERR_UMASK;
		}
	}
	ck_assert_msg(!pairs == (um->type == perfctr_um_type_exclusive), "%s::%s: %u pairs", pmu,
		      event->name, pairs);
}

/* How many events libpfm4 has of it, less those that count nothing by these counters */
static unsigned int count_events(const char *pmu)
{
	pfm_pmu_info_t info;
	pfm_event_info_t event;
	unsigned int n = 0;
	int p, i;

	for (p = 0; p < PFM_PMU_MAX; p++) {
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		if (pfm_get_pmu_info(p, &info) != PFM_SUCCESS || strcmp(info.name, pmu))
			continue;
		for (i = info.first_event; i != -1; i = pfm_get_event_next(i)) {
			memset(&event, 0, sizeof(event));
			event.size = sizeof(event);
			ck_assert_int_eq(pfm_get_event_info(i, PFM_OS_NONE, &event), PFM_SUCCESS);
			n += !strstr(event.name, "IBS");
		}
	}
	return n;
}

/* By names that perfctr 2.6 has, and libpfm4 has not; or has, but in other letters: test_sets.c */
static int is_added(const struct perfctr_event *event)
{
	static const char *const names[] = { "uop_type", "bsq_active_entries", "x87_SIMD_moves_uop" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(event->name, names[i]))
			return 1;
	return 0;
}

START_TEST(as_libpfm4_encodes_it)
{
	const struct perfctr_event_set *set = perfctr_cpu_event_set(types[_i].cpu_type);
	unsigned int i, n = 0, added = 0;

	ck_assert_ptr_nonnull(set);
	for (; set; set = set->include) {
		for (i = 0; i < set->nevents; i++) {
			if (is_added(&set->events[i])) {
				added++;
				continue;
			}
			n++;
			check_default(types[_i].cpu_type, types[_i].pmu, &set->events[i]);
			check_values(types[_i].cpu_type, types[_i].pmu, &set->events[i]);
			check_type(types[_i].cpu_type, types[_i].pmu, &set->events[i]);
		}
	}
	ck_assert_uint_eq(n, count_events(types[_i].pmu));
	ck_assert_uint_eq(added, is_p4(types[_i].cpu_type) ? 3 : 0);
	ck_assert_uint_gt(n, 6);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("tables");

	/* Also those processors that this one is not */
	(void)setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS)
		return EXIT_FAILURE;
	tcase_add_loop_test(tc, as_libpfm4_encodes_it, 0, (int)(sizeof(types) / sizeof(types[0])));
	return run_tests("tables", tc);
}
