// SPDX-License-Identifier: GPL-2.0
/* Counters through perf: how a control is one of its events, as mpc7450-pmu.c numbers them. */
#include "shared_kit.h"
#include "tests.h"

static const struct {
	const char *name;
	struct perfctr_ctr_control ctr;
	int err;
	u64 config;
} attrs[] = {
	{ "any", CTR(ANY, EV_INSTRUCTIONS, USER), 0, 0x002 },
	{ "a counter", CTR(0, 0x22, USER), 0, 0x122 },
	{ "the last", CTR(5, 0x3f, USER), 0, 0x63f },
	{ "too many", CTR(6, 1, USER), -EINVAL, 0 },
	{ "select", CTR(0, 0x7f, USER), 0, 0x17f },
	{ "longer", CTR(0, 0x80, USER), -EINVAL, 0 },
	{ "much longer", CTR(0, BIT_ULL(32) | 1, USER), -EINVAL, 0 },
	{ "threshold", CTR_MMCR(0, 0x1e, USER, THRESHOLD(0x2a)), 0, 0x2a11e },
	{ "multiplied", CTR_MMCR(0, 0x28, USER, MMCRS(THRESHOLD(0x3f), THRESHMULT)), 0, 0x7f128 },
	{ "multiplier alone", CTR_MMCR(ANY, 1, USER, MMCRS(0, THRESHMULT)), 0, 0x40001 },
	{ "other bits", CTR_MMCR(0, 1, USER, FCECE), -EINVAL, 0 },
	{ "triggers", CTR_MMCR(0, 1, USER, TRIGGER), -EINVAL, 0 },
	{ "conditions", CTR_MMCR(0, 1, USER, PMC1CE), -EINVAL, 0 },
	{ "marks", CTR_MMCR(0, 1, USER, FCM0), -EINVAL, 0 },
	{ "of MMCR2", CTR_MMCR(0, 1, USER, MMCRS(0, 0x40000000)), -EINVAL, 0 },
};

START_TEST(numbers_of_events)
{
	struct perfctr_shared_attr attr = {};

	driver_init(&model_default);
	ck_assert_msg(perfctr_cpu_shared_attr(&attrs[_i].ctr, &attr) == attrs[_i].err, "%s",
		      attrs[_i].name);
	if (attrs[_i].err)
		return;
	ck_assert_uint_eq(attr.type, PERF_TYPE_RAW);
	ck_assert_uint_eq(attr.config, attrs[_i].config);
}
END_TEST

/* perf would cut off what it does not know: these are not counted as asked for. */
static const struct {
	struct perf_event_attr attr;
	bool exact;
} events[] = {
	{ { .type = PERF_TYPE_RAW, .config = 0x7ffff }, true },
	{ { .type = PERF_TYPE_RAW, .config = 0x80000 }, false },
	{ { .type = PERF_TYPE_RAW, .config = BIT_ULL(63) | 1 }, false },
	{ { .type = PERF_TYPE_HARDWARE, .config = 1 }, true },
	{ { .type = PERF_TYPE_RAW, .config = 1, .config1 = 1 }, false },
	{ { .type = PERF_TYPE_RAW, .config = 1, .config2 = 1 }, false },
};

START_TEST(exact_events)
{
	struct perf_event event = { .attr = events[_i].attr };
	u32 reason = 0;

	ck_assert_int_eq(perfctr_cpu_shared_judge(&event, &reason), events[_i].exact ? 0 : -EINVAL);
}
END_TEST

/* perf numbers counters from 1; the first four are general. */
START_TEST(general_counters)
{
	struct perf_event event = { .hw.idx = _i + 1 };

	ck_assert(perfctr_cpu_shared_is_general(&event) == (_i < 4));
	ck_assert_uint_eq(perfctr_cpu_shared_generals(), 4);
}
END_TEST

static const struct perfctr_ctr_control mixed[] = {
	CTR(ANY, EV_CYCLES, USER), CTR(0, EV_LOADS, USER), CTR(ANY, EV_ITLB, USER),
};

/* By either source the same; and while the one has all, the other one has none. */
START_TEST(one_source_at_a_time)
{
	struct perfctr_config *config, *native;

	shared_begin(&model_default);
	config = GET(mixed, SHARED);
	expect_counts(config, 3);
	expect_refused(mixed, 3, NATIVE, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_SOURCE);
	shared_put(config);
	native = GET(mixed, NATIVE);
	expect_counts(native, 3);
	expect_refused(mixed, 3, SHARED, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_SOURCE);
	shared_put(native);
	shared_end();
}
END_TEST

/* perf's events of a CPU count the same modes. */
START_TEST(modes_of_perfs)
{
	static const struct perfctr_ctr_control kernel[] = { CTR(ANY, EV_CYCLES, KERNEL) };
	struct perfctr_config *config;

	shared_begin(&model_default);
	config = GET(mixed, SHARED);
	expect_refused(kernel, 1, SHARED, -EBUSY, 0, PERFCTR_OWNER_PERFCTR, PERFCTR_REASON_ROOM);
	expect_counts(config, 3);
	shared_put(config);
	config = GET(kernel, SHARED);
	expect_counts(config, 3);
	shared_put(config);
	shared_end();
}
END_TEST

/* Others could read them, so somebody without privilege gets none. */
START_TEST(disclosed)
{
	shared_begin(&model_default);
	drop_privilege();
	expect_refused(mixed, 1, SHARED, -EACCES, 0, NOBODY, PERFCTR_REASON_OPEN);
	take_privilege();
	shared_put(GET(mixed, SHARED));
	shared_end();
}
END_TEST

void test_perf(void)
{
	unit_begin("ppc32_perf");
	UNIT_ROWS(numbers_of_events, attrs);
	UNIT_ROWS(exact_events, events);
	unit_run(general_counters, MODEL_PMCS);
	UNIT_RUN(one_source_at_a_time);
	UNIT_RUN(modes_of_perfs);
	UNIT_RUN(disclosed);
}
