// SPDX-License-Identifier: GPL-2.0
/*
 * perf.c: counters through perf on RISC-V, whose driver asks the same firmware as ours. So both
 * sources may be in use.
 */
#include "shared_kit.h"
#include "tests.h"
#include "config/config.h"

#define ALL	3u

static const struct perfctr_ctr_control two[] = {
	CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER),
};

/* --- events --- */

#define EVENT(e)	{ .map = ANY, .event = (e), .flags = USER }
#define RAW(d)		{ .map = ANY, .event = EV_RAW, .config = (d), .flags = USER }

static const struct {
	struct perfctr_ctr_control ctr;
	int err;
	u32 type;
	u64 config;
} events[] = {
	{ EVENT(0), -EINVAL, 0, 0 },
	{ EVENT(EV_CYCLES), 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ EVENT(EV_INSTRUCTIONS), 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ EVENT(3), 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ EVENT(EV_BRANCHES), 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ EVENT(10), 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ EVENT(11), -EINVAL, 0, 0 },
	{ EVENT(0xffff), -EINVAL, 0, 0 },
	{ { .map = ANY, .event = EV_CYCLES, .config = 1, .flags = USER }, -EINVAL, 0, 0 },
	{ EVENT(0x10000), 0, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D },
	{ EVENT(EV_DTLB_READ), 0, PERF_TYPE_HW_CACHE,
	  PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_RESULT_MISS << 16 },
	{ EVENT(EV_DTLB_WRITE), 0, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_DTLB |
	  PERF_COUNT_HW_CACHE_OP_WRITE << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16 },
	{ EVENT(EV_ITLB), 0, PERF_TYPE_HW_CACHE,
	  PERF_COUNT_HW_CACHE_ITLB | PERF_COUNT_HW_CACHE_RESULT_MISS << 16 },
	{ EVENT(0x10000 | 6 << 3 | 2 << 1 | 1), 0, PERF_TYPE_HW_CACHE,
	  PERF_COUNT_HW_CACHE_NODE | PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 |
	  PERF_COUNT_HW_CACHE_RESULT_MISS << 16 },
	{ { .map = ANY, .event = EV_ITLB, .config = 1, .flags = USER }, -EINVAL, 0, 0 },
	/* No such cache, or operation; some look like others where perf's numbers have less room. */
	{ EVENT(0x10000 | 7 << 3), -EINVAL, 0, 0 },
	{ EVENT(0x10000 | 3 << 1), -EINVAL, 0, 0 },
	{ EVENT(0x10000 | 0x100 << 3), -EINVAL, 0, 0 },
	{ EVENT(0x10000 | 0x1000 << 3 | 1), -EINVAL, 0, 0 },
	{ RAW(0), 0, PERF_TYPE_RAW, 0 },
	{ RAW(RAW_STORES), 0, PERF_TYPE_RAW, RAW_STORES },
	{ RAW(BIT(48) - 1), 0, PERF_TYPE_RAW, BIT(48) - 1 },
	{ RAW(BIT(48)), -EINVAL, 0, 0 },
	{ EVENT(0x20001), -EINVAL, 0, 0 },
	{ EVENT(0x30000), -EINVAL, 0, 0 },	/* a later version's */
	{ EVENT(0xf0000), -EINVAL, 0, 0 },	/* firmware's */
	{ EVENT(BIT(32) | EV_CYCLES), -EINVAL, 0, 0 },
	{ EVENT(BIT(32) | EV_RAW), -EINVAL, 0, 0 },
};

START_TEST(translation)
{
	struct perfctr_shared_attr attr = {};

	driver_init(&model_default);
	ck_assert_int_eq(perfctr_cpu_shared_attr(&events[_i].ctr, &attr), events[_i].err);
	if (events[_i].err)
		return;
	ck_assert_uint_eq(attr.type, events[_i].type);
	ck_assert_uint_eq(attr.config, events[_i].config);
	ck_assert_uint_eq(attr.config1 | attr.config2, 0);
}
END_TEST

/* Each event that the model has, by both names: one slot, and one count */
START_TEST(both_names_are_one_event)
{
	static const struct perfctr_ctr_control sbi[] = {
		EVENT(EV_CYCLES), EVENT(EV_INSTRUCTIONS), EVENT(EV_DTLB_READ),
		EVENT(EV_DTLB_WRITE), EVENT(EV_ITLB), RAW(RAW_STORES), RAW(RAW_LOADS),
	};
	static const struct perfctr_ctr_control perfs[] = {
		CTR_PERF(PERF_TYPE_HARDWARE, 0, USER), CTR_PERF(PERF_TYPE_HARDWARE, 1, USER),
		CTR_PERF(PERF_TYPE_HW_CACHE, 0x10003, USER),
		CTR_PERF(PERF_TYPE_HW_CACHE, 0x10103, USER),
		CTR_PERF(PERF_TYPE_HW_CACHE, 0x10004, USER),
		CTR_PERF(PERF_TYPE_RAW, RAW_STORES, USER), CTR_PERF(PERF_TYPE_RAW, RAW_LOADS, USER),
	};
	struct perfctr_config *config, *perf;

	shared_begin(&model_default);
	config = GET(sbi, SHARED);
	perf = GET(perfs, SHARED);
	ck_assert_mem_eq(config->hw, perf->hw, ARRAY_SIZE(sbi));
	ck_assert_uint_eq(model_perf_live, 2 * ARRAY_SIZE(sbi));
	expect_counts(config, ALL);
	expect_counts_as(perf, ALL, sbi);
	shared_put(config);
	shared_put(perf);
	shared_end();
}
END_TEST

/* What the firmware does not have */
START_TEST(events_that_do_not_exist)
{
	static const struct perfctr_ctr_control none[] = {
		EVENT(EV_CYCLES), EVENT(EV_BRANCHES), RAW(RAW_NONE),
	};

	shared_begin(&model_default);
	expect_refused(none, 2, SHARED, -EINVAL, 1, NOBODY, NO_REASON);
	expect_refused(none + 2, 1, SHARED, -EINVAL, 0, NOBODY, NO_REASON);
	shared_end();
}
END_TEST

/* --- sources --- */

/* Both count at once, and take each other's counters only where these are free. */
START_TEST(side_by_side)
{
	static const struct perfctr_ctr_control eight[] = {
		CTR(ANY, EV_ITLB, USER), CTR(ANY, EV_ITLB, BOTH), CTR(ANY, EV_ITLB, KERNEL),
		CTR(ANY, EV_DTLB_READ, USER), CTR(ANY, EV_DTLB_READ, BOTH),
		CTR(ANY, EV_DTLB_READ, KERNEL), CTR(ANY, EV_DTLB_WRITE, USER),
		CTR(ANY, EV_DTLB_WRITE, KERNEL),
	};
	struct perfctr_config *native, *shared, *any;
	struct perfctr_kernel_info info = {};

	shared_begin(&model_default);
	shared = GET(two, SHARED);
	native = GET(two, NATIVE);
	any = GET(two, ANY_SOURCE);
	ck_assert_ptr_eq(any, native);
	perfctr_config_info(&info);
	ck_assert_uint_eq(info.source, ANY_SOURCE);
	expect_counts(native, ALL);
	expect_counts(shared, ALL);
	shared_put(any);
	shared_put(native);
	/* Six are left. */
	expect_refused(eight, 8, NATIVE, -EBUSY, 6, PERFCTR_OWNER_PERF, NO_REASON);
	native = shared_get(eight, 6, NATIVE);
	expect_refused(eight + 7, 1, SHARED, -EBUSY, 0, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_ROOM);
	expect_counts(native, ALL);
	expect_counts(shared, ALL);
	shared_put(shared);
	shared_put(native);
	perfctr_config_info(&info);
	ck_assert_uint_eq(info.source, NATIVE);
	shared_end();
}
END_TEST

/* perf's users have the rest, so for the native driver there is nothing left. */
START_TEST(shared_where_native_has_no_room)
{
	struct perf_event *rival[MODEL_GENERALS - 2];
	struct perfctr_config *shared, *any;
	unsigned int i;

	shared_begin(&model_default);
	shared = GET(two, SHARED);
	for (i = 0; i < ARRAY_SIZE(rival); i++)
		rival[i] = model_perf_other(1, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true);
	expect_refused(two, 2, NATIVE, -EBUSY, 0, PERFCTR_OWNER_PERF, NO_REASON);
	any = GET(two, ANY_SOURCE);
	ck_assert_ptr_eq(any, shared);
	expect_counts(any, ALL);
	shared_put(any);
	expect_refused(general + 1, 1, ANY_SOURCE, -EBUSY, 0, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_ROOM);
	for (i = 0; i < ARRAY_SIZE(rival); i++)
		model_perf_release_other(rival[i]);
	shared_put(shared);
	shared_end();
}
END_TEST

/* --- machines that cannot filter --- */

/* perf's PMU refuses each exclude flag there, and only USER with KERNEL is what it counts. */
START_TEST(nothing_can_be_excluded)
{
	static const struct perfctr_ctr_control both[] = {
		CTR(ANY, EV_ITLB, BOTH), CTR(ANY, EV_INSTRUCTIONS, BOTH),
		CTR(ANY, EV_CYCLES, BOTH),
	};
	struct model_machine machine = model_default;
	struct perfctr_config *config;

	machine.sscofpmf = false;
	shared_begin(&machine);
	expect_refused(two, 2, SHARED, -EINVAL, 0, NOBODY, NO_REASON);
	config = GET(both, SHARED);
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

/*
 * perf takes T-Head's counters for filtering ones, as these interrupt, but the firmware has no way
 * to filter without Sscofpmf: then user mode would be counted with the kernel.
 */
START_TEST(what_perf_only_believes_to_filter)
{
	static const struct perfctr_ctr_control both[] = {
		CTR(ANY, EV_ITLB, BOTH), CTR(ANY, EV_INSTRUCTIONS, BOTH),
	};
	static const struct perfctr_ctr_control kernel[] = { CTR(ANY, EV_ITLB, KERNEL) };
	struct model_machine machine = model_default;
	struct perfctr_config *config;
	unsigned int i;

	machine.sscofpmf = false;
	machine.thead = true;
	shared_begin(&machine);
	for (i = 0; i < 2; i++) {
		expect_refused(two + i, 1, SHARED, -EOPNOTSUPP, 0, NOBODY, NO_REASON);
		expect_refused(two + i, 1, ANY_SOURCE, -EOPNOTSUPP, 0, NOBODY, NO_REASON);
	}
	expect_refused(kernel, 1, SHARED, -EOPNOTSUPP, 0, NOBODY, NO_REASON);
	config = GET(both, SHARED);
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

/* Andes' counters do filter, by an extension that is older than Sscofpmf. */
START_TEST(what_filters_without_sscofpmf)
{
	struct model_machine machine = model_default;
	struct perfctr_config *config;

	machine.sscofpmf = false;
	machine.andes = true;
	shared_begin(&machine);
	expect_refused(two, 2, NATIVE, -EOPNOTSUPP, 0, NOBODY, NO_REASON);
	config = GET(two, ANY_SOURCE);
	ck_assert(config->shared);
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

/* On some boards perf has no other counter for it either. */
START_TEST(fixed_counters_alone)
{
	static const struct perfctr_ctr_control both[] = {
		CTR(ANY, EV_INSTRUCTIONS, BOTH), CTR(ANY, EV_ITLB, BOTH),
	};
	struct model_machine machine = model_default;
	struct perfctr_config *config;

	machine.board = true;
	shared_begin(&machine);
	expect_refused(two, 2, SHARED, -EOPNOTSUPP, 0, NOBODY, NO_REASON);
	expect_refused(two, 2, ANY_SOURCE, -EOPNOTSUPP, 0, NOBODY, NO_REASON);
	config = GET(both, ANY_SOURCE);
	ck_assert(!config->shared);
	/* perf would write it, and does not get it. */
	ck_assert_uint_eq(model_perf_reserved[0], BIT(MODEL_INSTRET));
	expect_refused(both, 1, SHARED, -EBUSY, 0, PERFCTR_OWNER_PERF, NO_REASON);
	expect_counts(config, ALL);
	shared_put(config);
	config = GET(both, SHARED);
	expect_counts(config, ALL);
	expect_refused(both, 2, NATIVE, -EBUSY, 0, PERFCTR_OWNER_PERF, NO_REASON);
	shared_put(config);
	shared_end();
}
END_TEST

/* An event is counted once (QEMU): the second counter of it would stand still. */
START_TEST(an_event_on_two_counters)
{
	static const struct perfctr_ctr_control modes[] = {
		CTR(ANY, EV_DTLB_READ, USER), CTR(ANY, EV_DTLB_READ, KERNEL),
	};
	static const struct perfctr_ctr_control same[] = {
		CTR(ANY, EV_DTLB_READ, USER), CTR(ANY, EV_ITLB, USER), CTR(ANY, EV_DTLB_READ, USER),
	};
	struct model_machine machine = model_default;
	struct perfctr_config *config;

	machine.event_once = true;
	shared_begin(&machine);
	expect_refused(modes, 2, SHARED, -EOPNOTSUPP, 1, NOBODY, NO_REASON);
	expect_refused(modes, 2, ANY_SOURCE, -EOPNOTSUPP, 1, NOBODY, NO_REASON);
	config = GET(same, SHARED);
	expect_counts(config, ALL);
	expect_refused(modes + 1, 1, SHARED, -EBUSY, 0, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_ROOM);
	shared_put(config);
	config = shared_get(modes + 1, 1, SHARED);
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

/* There cycle and instret are counters that one of both has. */
START_TEST(fixed_counters_have_one_owner)
{
	static const struct perfctr_ctr_control cycles[] = { CTR(ANY, EV_CYCLES, BOTH) };
	struct model_machine machine = model_default;
	struct perfctr_config *config;

	machine.sscofpmf = false;
	shared_begin(&machine);
	config = GET(cycles, NATIVE);
	ck_assert_uint_eq(model_perf_reserved[0], BIT(MODEL_CYCLE));
	expect_refused(cycles, 1, SHARED, -EBUSY, 0, PERFCTR_OWNER_PERF, NO_REASON);
	expect_counts(config, ALL);
	shared_put(config);
	config = GET(cycles, SHARED);
	expect_refused(cycles, 1, NATIVE, -EBUSY, 0, PERFCTR_OWNER_PERF, NO_REASON);
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

static const struct perfctr_ctr_control one[] = { CTR(ANY, EV_INSTRUCTIONS, USER) };

struct crowd {
	struct perf_event *rival[MODEL_GENERALS];
	struct perfctr_config *config;
	struct thread thread;
};

/*
 * The firmware gives cycle and instret where all others are taken, and may do so later, when
 * perf moves its events: so it has moved that of the thread, which is running, and was exact
 * until then.
 */
static void crowd_begin(struct crowd *crowd, const struct model_machine *machine)
{
	const u64 misses = PERF_COUNT_HW_CACHE_ITLB | PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
	unsigned int i;

	shared_begin(machine);
	/* The first one is older than ours, and counts later. */
	for (i = 0; i < ARRAY_SIZE(crowd->rival); i++)
		crowd->rival[i] = model_perf_other(0, PERF_TYPE_HW_CACHE, misses, i > 0);
	crowd->config = GET(one, SHARED);
	thread_init(&crowd->thread, crowd->config);
	thread_run(&crowd->thread, 0, 1000);
	thread_expect_exact(&crowd->thread);
	thread_in(&crowd->thread, 0);
	model_execute(MODEL_USER, 1000);
	model_perf_enable(crowd->rival[0]);
	ck_assert_int_eq(event_of(crowd->config, 0, 0)->hw.idx, MODEL_INSTRET);
}

static void crowd_end(struct crowd *crowd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(crowd->rival); i++)
		model_perf_release_other(crowd->rival[i]);
	shared_end();
}

/* They count in all modes. */
START_TEST(fixed_counters_do_not_filter)
{
	struct crowd crowd;

	crowd_begin(&crowd, &model_default);
	model_witness[0] = NULL;
	model_execute(MODEL_USER, 1000);
	thread_out(&crowd.thread);
	ck_assert_int_eq(crowd.thread.error, -EIO);
	thread_expect_sum(&crowd.thread, 0);
	shared_put(crowd.config);
	expect_refused(one, 1, SHARED, -EBUSY, 0, PERFCTR_OWNER_PERF, NO_REASON);
	crowd_end(&crowd);
}
END_TEST

/* With Smcntrpmf they filter, and what perf moves there is as good as before. */
START_TEST(fixed_counters_that_filter)
{
	struct crowd crowd;

	crowd_begin(&crowd, &model_filtering);
	model_execute(MODEL_KERNEL, 1000);
	model_execute(MODEL_USER, 1000);
	thread_out(&crowd.thread);
	ck_assert_int_eq(crowd.thread.error, 0);
	thread_expect_exact(&crowd.thread);
	thread_run(&crowd.thread, 0, 1000);
	thread_expect_exact(&crowd.thread);
	shared_put(crowd.config);
	/* The next one takes the filter away, which the firmware leaves. */
	model_perf_release_other(model_perf_other(0, PERF_TYPE_HARDWARE,
						  PERF_COUNT_HW_INSTRUCTIONS, true));
	crowd_end(&crowd);
}
END_TEST

void test_perf(void)
{
	unit_begin("riscv_perf");
	UNIT_ROWS(translation, events);
	UNIT_RUN(both_names_are_one_event);
	UNIT_RUN(events_that_do_not_exist);
	UNIT_RUN(side_by_side);
	UNIT_RUN(shared_where_native_has_no_room);
	UNIT_RUN(nothing_can_be_excluded);
	UNIT_RUN(what_perf_only_believes_to_filter);
	UNIT_RUN(what_filters_without_sscofpmf);
	UNIT_RUN(fixed_counters_alone);
	UNIT_RUN(an_event_on_two_counters);
	UNIT_RUN(fixed_counters_have_one_owner);
	UNIT_RUN(fixed_counters_do_not_filter);
	UNIT_RUN(fixed_counters_that_filter);
}
