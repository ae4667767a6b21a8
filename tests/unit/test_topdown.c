// SPDX-License-Identifier: GPL-2.0
/* TopDown: shares from sums, and reads of a page that no kernel wrote. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <libperfctr.h>

#include "run.h"

#define SLOTS	PERFCTR_EVENT_SLOTS
#define EVENT(n)	PERFCTR_EVENT_METRIC(PERFCTR_METRIC_##n)

#define NEAR(is, want)	ck_assert_msg(fabs((is) - (want)) < 1e-9, "%f, not %f", is, want)

/* As controls have them: in any order, with others between, once as whole event selects */
static const struct perfctr_ctr_control control[] = {
	{ .event = EVENT(BE_BOUND) }, { .event = 0xc0 }, { .event = SLOTS | 0x410000 },
	{ .event = EVENT(RETIRING) | 0x410000 }, { .event = EVENT(MEM_BOUND) },
	/* perf's, which only looks like one */
	{ .event = SLOTS, .config = 1, .flags = PERFCTR_CTR_PERF },
	{ .event = EVENT(BAD_SPEC) }, { .event = 0x8800 }, { .event = 0x8001 },
};

#define N	(sizeof(control) / sizeof(control[0]))

START_TEST(test_sums)
{
	static const __u64 sum[N] = { 300, 7, 1000, 450, 120, 8, 50, 9, 10 };
	struct perfctr_topdown topdown;

	ck_assert_int_eq(perfctr_topdown_sums(control, N, sum, &topdown), 0);
	ck_assert_uint_eq(topdown.slots, 1000);
	ck_assert_uint_eq(topdown.metrics, 1u << PERFCTR_METRIC_BE_BOUND |
			  1u << PERFCTR_METRIC_RETIRING | 1u << PERFCTR_METRIC_MEM_BOUND |
			  1u << PERFCTR_METRIC_BAD_SPEC);
	ck_assert_uint_eq(topdown.metric[PERFCTR_METRIC_BE_BOUND], 300);
	ck_assert_uint_eq(topdown.metric[PERFCTR_METRIC_RETIRING], 450);
	ck_assert_uint_eq(topdown.metric[PERFCTR_METRIC_MEM_BOUND], 120);
	ck_assert_uint_eq(topdown.metric[PERFCTR_METRIC_BAD_SPEC], 50);
	ck_assert_uint_eq(topdown.metric[PERFCTR_METRIC_FE_BOUND], 0);

	/* Without SLOTS, and without a metric */
	errno = 0;
	ck_assert_int_eq(perfctr_topdown_sums(control, 2, sum, &topdown), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(perfctr_topdown_sums(control + 1, 2, sum, &topdown), -1);
	ck_assert_int_eq(perfctr_topdown_sums(control, 0, sum, &topdown), -1);
}
END_TEST

static const struct perfctr_topdown all = {
	.slots = 2000, .metrics = 0xff,
	.metric = { 800, 200, 400, 600, 300, 150, 100, 350 },
};

START_TEST(test_ratios)
{
	static const double want[PERFCTR_TOPDOWN_RATIOS] = {
		0.4, 0.1, 0.2, 0.3, 0.15, 0.075, 0.05, 0.175, 0.25, 0.025, 0.15, 0.125,
	};
	struct perfctr_topdown to = all;
	double ratio[PERFCTR_TOPDOWN_RATIOS];
	unsigned int i;

	ck_assert_uint_eq(perfctr_topdown_ratios(NULL, &all, ratio), 0xfff);
	for (i = 0; i < PERFCTR_TOPDOWN_RATIOS; i++)
		NEAR(ratio[i], want[i]);

	/* Of a region: all of its 500 slots were bound by memory. */
	to.slots += 500;
	to.metric[PERFCTR_METRIC_BE_BOUND] += 500;
	to.metric[PERFCTR_METRIC_MEM_BOUND] += 500;
	ck_assert_uint_eq(perfctr_topdown_ratios(&all, &to, ratio), 0xfff);
	for (i = 0; i < PERFCTR_TOPDOWN_RATIOS; i++)
		NEAR(ratio[i], i == PERFCTR_METRIC_BE_BOUND || i == PERFCTR_METRIC_MEM_BOUND ? 1. : 0.);

	/* 64 bits may wrap, and units of 8 bits make less than nothing, or more than all. */
	to = all;
	to.slots = all.slots + 100;
	to.metric[PERFCTR_METRIC_RETIRING] -= 3;
	to.metric[PERFCTR_METRIC_BE_BOUND] += 104;
	to.metric[PERFCTR_METRIC_FE_BOUND] += 10;
	to.metric[PERFCTR_METRIC_FETCH_LAT] += 12;
	ck_assert_uint_eq(perfctr_topdown_ratios(&all, &to, ratio), 0xfff);
	NEAR(ratio[PERFCTR_METRIC_RETIRING], 0.);
	NEAR(ratio[PERFCTR_METRIC_BE_BOUND], 1.);
	NEAR(ratio[PERFCTR_METRIC_FE_BOUND], 0.1);
	NEAR(ratio[PERFCTR_TOPDOWN_FETCH_BW], 0.);
}
END_TEST

START_TEST(test_ratios_of_some)
{
	struct perfctr_topdown from = all, to = all;
	double ratio[PERFCTR_TOPDOWN_RATIOS];

	/* Level 1, and of level 2 one; its rest needs both */
	to.metrics = 0xf;
	ck_assert_uint_eq(perfctr_topdown_ratios(NULL, &to, ratio), 0xf);
	NEAR(ratio[PERFCTR_METRIC_HEAVY_OPS], 0.);
	to.metrics = 1u << PERFCTR_METRIC_FE_BOUND | 1u << PERFCTR_METRIC_FETCH_LAT |
		     1u << PERFCTR_METRIC_HEAVY_OPS;
	ck_assert_uint_eq(perfctr_topdown_ratios(NULL, &to, ratio),
			  to.metrics | 1u << PERFCTR_TOPDOWN_FETCH_BW);
	NEAR(ratio[PERFCTR_TOPDOWN_FETCH_BW], 0.15);
	/* What one of two reads has not, nobody knows. */
	from.metrics = 1u << PERFCTR_METRIC_FE_BOUND;
	to.slots++;
	ck_assert_uint_eq(perfctr_topdown_ratios(&from, &to, ratio), 1u << PERFCTR_METRIC_FE_BOUND);
	/* No slots, no shares */
	from = to;
	ck_assert_uint_eq(perfctr_topdown_ratios(&from, &to, ratio), 0);
}
END_TEST

START_TEST(test_names)
{
	unsigned int i, k;

	for (i = 0; i < PERFCTR_TOPDOWN_RATIOS; i++)
		for (k = 0; k < i; k++)
			ck_assert_str_ne(perfctr_topdown_name(i), perfctr_topdown_name(k));
	ck_assert_str_eq(perfctr_topdown_name(PERFCTR_TOPDOWN_CORE_BOUND), "core bound");
	ck_assert_str_eq(perfctr_topdown_name(PERFCTR_TOPDOWN_RATIOS), "unknown");
}
END_TEST

/* The names are perf's, and of which processors they are INFO tells. */
START_TEST(test_events)
{
	static const struct {
		const char *name;
		unsigned int event, level;
	} rows[] = {
		{ "slots", 0x0400, 1 },
		{ "topdown-retiring", 0x8000, 1 }, { "topdown-bad-spec", 0x8100, 1 },
		{ "topdown-fe-bound", 0x8200, 1 }, { "topdown-be-bound", 0x8300, 1 },
		{ "topdown-heavy-ops", 0x8400, 2 }, { "topdown-br-mispredict", 0x8500, 2 },
		{ "topdown-fetch-lat", 0x8600, 2 }, { "topdown-mem-bound", 0x8700, 2 },
	};
	struct perfctr_info info = {
		.cpu_type = PERFCTR_X86_INTEL_ARCH, .counters = 0xf0000ff, .events = { 0x7f },
	};
	struct perfctr_ctr_control ctr;
	char name[80];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(perfctr_event_parse(info.cpu_type, rows[i].name, &ctr), 0);
		ck_assert_uint_eq(ctr.event, rows[i].event);
		ck_assert_uint_eq(ctr.map, PERFCTR_MAP_ANY);
		for (info.topdown = 0; info.topdown < 3; info.topdown++)
			ck_assert_int_eq(perfctr_event_available(&info, &ctr),
					 info.topdown >= rows[i].level);
		perfctr_event_format(info.cpu_type, &ctr, name, sizeof(name));
		ck_assert_str_eq(name, rows[i].name);
		/* The counter that READ_CONTROL names changes nothing. */
		ctr.map = 27;
		perfctr_event_format(info.cpu_type, &ctr, name, sizeof(name));
		ck_assert_str_eq(name, rows[i].name);
		ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_INTEL_PIII, rows[i].name, &ctr), -1);
	}
}
END_TEST

static struct perfctr_page page = { .size = sizeof(page), .seq = 2 };

static const struct {
	const struct perfctr_page *page;
	int fd;
	void *map;
} fake = { &page, -1, &page };

/* A page that is another thread's, or has no metrics, or a clock that is hidden: ask. */
START_TEST(test_asks)
{
	const struct vperfctr *v = (const void *)&fake;
	struct perfctr_topdown topdown;
	struct perfctr_sum_ctrs sum;

	page.nrctrs = 2;
	page.metric[1] = 1;
	page.metrics_owner = 1;
	ck_assert_int_eq(vperfctr_read_topdown(v, &topdown), -1);
	ck_assert_int_eq(errno, EBADF);
	errno = 0;
	ck_assert_int_eq(vperfctr_snapshot(v, &sum, 2), -1);
	ck_assert(vperfctr_read_pmc(v, 1) == PERFCTR_NO_COUNT);
#ifdef PERFCTR_READS_METRICS
	/* The thread's own, but not the clock: a snapshot has it. */
	page.metrics_owner = perfctr_thread_pointer();
	ck_assert_int_eq(vperfctr_snapshot(v, &sum, 1), -1);
	/* All but an i-mode counter behind them */
	page.slot[PERFCTR_CLOCK_SLOT].owner = page.metrics_owner;
	page.slot[0].owner = page.metrics_owner;
	page.nrctrs = 3;
	ck_assert_int_eq(vperfctr_snapshot(v, &sum, 3), -1);
	/* More than there are */
	page.nrctrs = 1;
	ck_assert_int_eq(vperfctr_snapshot(v, &sum, 2), -1);
	page.nrctrs = 0;
	page.metric[1] = 0;
	ck_assert(vperfctr_read_pmc(v, 1) == PERFCTR_NO_COUNT);
#endif
}
END_TEST

#ifdef PERFCTR_READS_METRICS

/* Rounded as the kernel rounds: to the nearest of 255ths, never up from just below a half */
START_TEST(test_rounding)
{
	static const struct {
		unsigned int slots, field, count;
	} rows[] = {
		{ 1, 127, 0 }, { 1, 128, 1 }, { 255, 1, 1 }, { 1000, 255, 1000 }, { 2, 191, 1 },
		{ 2, 192, 2 }, { 1000000, 51, 200000 }, { 3, 0, 0 },
	};
	unsigned int i;

	page.metric[2] = 1 + PERFCTR_METRIC_FE_BOUND;
	page.slot[2].bias = 5;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_uint_eq(perfctr_metric_count(&page, 2, rows[i].slots,
						       0xff00ffffULL | (__u64)rows[i].field <<
						       8 * PERFCTR_METRIC_FE_BOUND),
				  5 + rows[i].count);
}
END_TEST

#endif

int main(void)
{
	TCase *tc = tcase_create("topdown");

	tcase_add_test(tc, test_sums);
	tcase_add_test(tc, test_ratios);
	tcase_add_test(tc, test_ratios_of_some);
	tcase_add_test(tc, test_names);
	tcase_add_test(tc, test_events);
	tcase_add_test(tc, test_asks);
#ifdef PERFCTR_READS_METRICS
	tcase_add_test(tc, test_rounding);
#endif
	return run_tests("topdown", tc);
}
