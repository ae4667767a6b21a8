// SPDX-License-Identifier: GPL-2.0
/*
 * shared.c and config.c: counters through perf, and by which source a control counts. What
 * only one architecture has is in its test_perf.c; what switches and reads do with a loss is
 * in engine/random.c.
 */
#include "shared_kit.h"
#include "perf/shared.h"
#include "perf/told.h"
#include "switch/run.h"
#include "config/config.h"

#define ALL	3u	/* both CPUs */

static const struct perfctr_ctr_control two[] = {
	CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER),
};
static const struct perfctr_ctr_control many[] = {
	CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_CYCLES, BOTH), CTR(ANY, EV_ITLB, KERNEL),
	CTR(ANY, EV_DTLB_READ, USER),
};

/* --- counting --- */

START_TEST(counts_exactly)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	config = GET(many, SHARED);
	ck_assert_uint_eq(model_perf_live, 2 * ARRAY_SIZE(many));
	expect_counts(config, ALL);
	shared_put(config);
	ck_assert_uint_eq(model_perf_live, 0);
	shared_end();
}
END_TEST

/* Whoever makes or ends an event has all others of the CPU stop, and move. */
START_TEST(counts_while_perf_moves_events)
{
	struct perfctr_config *config, *other;
	struct perf_event *rival;
	struct thread thread;
	int i;

	shared_begin(&model_default);
	config = GET(two, SHARED);
	thread_init(&thread, config);
	for (i = 0; i < 20; i++) {
		unsigned int cpu = (unsigned int)i % 2;

		thread_in(&thread, cpu);
		model_execute(MODEL_USER, 1000);
		other = shared_get(&general[1 + i % 3], 1, SHARED);
		model_execute(MODEL_USER, 100);
		rival = model_perf_other(cpu, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true);
		model_execute(MODEL_USER, 10);
		model_perf_release_other(rival);
		shared_put(other);
		thread_out(&thread);
	}
	ck_assert_int_eq(thread.error, 0);
	thread_expect_exact(&thread);
	shared_put(config);
	shared_end();
}
END_TEST

/* Registers overflow, and perf sets them back. */
START_TEST(counts_over_an_overflow)
{
	struct perfctr_config *config;
	struct perf_event *event;
	struct thread thread;
	u64 skip;
	int i;

	shared_begin(&model_default);
	config = shared_get(general, 1, SHARED);
	thread_init(&thread, config);
	for (i = 0; i < 3; i++) {
		thread_in(&thread, 0);
		event = event_of(config, 0, 0);
		/* As if so many had happened */
		skip = (0 - model_perf_register(event) - 50) & model_perf_mask(event);
		model_perf_set_register(event, 0ull - 50);
		model_execute(MODEL_USER, 13 * 50 + 200);
		model_perf_nmi(0);
		model_execute(MODEL_USER, 1000);
		thread_out(&thread);
		ck_assert_uint_gt(skip, model_perf_mask(event) / 4);
		thread.state.ctr[0].acc -= skip;
	}
	thread_expect_exact(&thread);
	shared_put(config);
	shared_end();
}
END_TEST

/* --- event sets --- */

/* Equal events are one event, in whatever control, of whatever user. */
START_TEST(equal_events_share_an_event_set)
{
	static const struct perfctr_ctr_control twice[] = {
		CTR(ANY, EV_ITLB, USER), CTR(ANY, EV_DTLB_READ, USER), CTR(ANY, EV_ITLB, USER),
	};
	struct perfctr_config *config, *other, *same;

	shared_begin(&model_default);
	config = GET(two, SHARED);
	ck_assert_uint_eq(model_perf_asked, 4);
	ck_assert_ptr_eq(GET(two, SHARED), config);
	shim_uid = 1000;
	other = GET(two, SHARED);
	ck_assert_ptr_ne(other, config);
	ck_assert_uint_eq(other->id, config->id);
	ck_assert_uint_eq(model_perf_asked, 4);
	same = GET(twice, SHARED);
	ck_assert_uint_eq(model_perf_asked, 6);
	ck_assert_uint_eq(same->hw[0], config->hw[1]);
	ck_assert_uint_eq(same->hw[2], config->hw[1]);
	ck_assert_uint_ne(same->hw[1], config->hw[0]);
	ck_assert_uint_eq(same->mask, BIT(same->hw[0]) | BIT(same->hw[1]));
	shared_put(config);
	shared_put(config);
	ck_assert_uint_eq(model_perf_live, 6);
	expect_counts(other, ALL);
	expect_counts(same, ALL);
	shared_put(other);
	/* The instructions' is nobody's any more. */
	ck_assert_uint_eq(model_perf_live, 4);
	expect_counts(same, ALL);
	shared_put(same);
	ck_assert_uint_eq(model_perf_live, 0);
	shared_end();
}
END_TEST

/* Events that differ in any member */
static const struct {
	const char *name;
	struct perfctr_ctr_control a, b;
} differences[] = {
	{ "event", CTR(ANY, EV_ITLB, USER), CTR(ANY, EV_DTLB_READ, USER) },
	{ "modes", CTR(ANY, EV_ITLB, USER), CTR(ANY, EV_ITLB, BOTH) },
	{ "type", CTR_PERF(PERF_TYPE_HARDWARE, 0, USER), CTR_PERF(PERF_TYPE_HW_CACHE,
	  PERF_COUNT_HW_CACHE_ITLB | PERF_COUNT_HW_CACHE_RESULT_MISS << 16, USER) },
	{ "config", CTR_PERF(PERF_TYPE_HARDWARE, 0, USER), CTR_PERF(PERF_TYPE_HARDWARE, 1, USER) },
	{ "config2", { .map = ANY, .config2 = 1, .flags = USER | PERFCTR_CTR_PERF },
	  { .map = ANY, .config2 = 2, .flags = USER | PERFCTR_CTR_PERF } },
};

START_TEST(different_events_do_not)
{
	struct perfctr_config *a, *b;

	shared_begin(&model_default);
	a = shared_get(&differences[_i].a, 1, SHARED);
	b = shared_get(&differences[_i].b, 1, SHARED);
	ck_assert_msg(a->hw[0] != b->hw[0] && a != b && a->id != b->id, "%s", differences[_i].name);
	ck_assert_uint_eq(model_perf_live, 4);
	ck_assert_ptr_eq(shared_get(&differences[_i].a, 1, SHARED), a);
	ck_assert_ptr_eq(shared_get(&differences[_i].b, 1, SHARED), b);
	shared_put(a);
	shared_put(a);
	shared_put(b);
	shared_put(b);
	shared_end();
}
END_TEST

/* The source is a part of what a config is; a user with privilege is not one without. */
START_TEST(sources_and_privileges_are_told_apart)
{
	struct perfctr_config *shared, *native, *poor;

	shared_begin(&model_default);
	shared = GET(two, SHARED);
	drop_privilege();
	shim_uid = 0;
	poor = GET(two, SHARED);
	ck_assert_ptr_ne(poor, shared);
	ck_assert(poor->unprivileged && !shared->unprivileged);
	take_privilege();
	shared_put(poor);
	shared_put(shared);
	native = GET(two, NATIVE);
	ck_assert(!native->shared);
	expect_counts(native, ALL);
	shared_put(native);
	shared_end();
}
END_TEST

START_TEST(so_many_slots)
{
	struct perfctr_ctr_control ctr = { .map = ANY, .flags = USER | PERFCTR_CTR_PERF };
	struct perfctr_config *config[PERFCTR_MAX_HW];
	struct perfctr_ctr_control pair[] = { general[0], general[1] };
	unsigned int i;

	shared_begin(&model_default);
	/* Where there is no CPU perf need not have room for the events. */
	shim_online = 0;
	for (i = 0; i < PERFCTR_MAX_HW - 1; i++) {
		ctr.config2 = i;
		config[i] = shared_get(&ctr, 1, SHARED);
	}
	expect_refused(pair, 2, SHARED, -EBUSY, 1, PERFCTR_OWNER_PERFCTR, PERFCTR_REASON_ROOM);
	for (i = 0; i < PERFCTR_MAX_HW - 1; i++)
		shared_put(config[i]);
	shim_online = ALL;
	shared_end();
}
END_TEST

/* --- refusals --- */

static const struct {
	long error;
	int err;
	u32 owner, reason;
} failures[] = {
	{ -ENOMEM, -ENOMEM, NOBODY, NO_REASON },
	{ -EACCES, -EACCES, NOBODY, NO_REASON },
	{ -EPERM, -EACCES, NOBODY, NO_REASON },
	{ -EBUSY, -EBUSY, PERFCTR_OWNER_PERF, PERFCTR_REASON_ROOM },
	{ -ENOSPC, -EBUSY, PERFCTR_OWNER_PERF, PERFCTR_REASON_ROOM },
	{ -EINVAL, -EINVAL, NOBODY, NO_REASON },
	{ -ENODEV, -EINVAL, NOBODY, NO_REASON },
	{ -EOPNOTSUPP, -EINVAL, NOBODY, NO_REASON },
	{ -ENXIO, -EINVAL, NOBODY, NO_REASON },
};

/* Any of the events that a claim makes fails, and nothing is left of the claim. */
START_TEST(perf_fails_half_way)
{
	static const struct perfctr_ctr_control three[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER),
		CTR(ANY, EV_DTLB_READ, KERNEL),
	};
	struct perfctr_config *before;
	unsigned int after;

	shared_begin(&model_default);
	for (after = 0; after < 6; after++) {
		model_perf_fail(after, failures[_i].error);
		expect_refused(three, 3, SHARED, failures[_i].err, after % 3, failures[_i].owner,
			       failures[_i].reason);
	}
	/* The same where one of them is there already. */
	before = shared_get(&three[1], 1, SHARED);
	for (after = 0; after < 4; after++) {
		model_perf_fail(after, failures[_i].error);
		expect_refused(three, 3, SHARED, failures[_i].err, after % 2 * 2,
			       failures[_i].err == -EBUSY ? PERFCTR_OWNER_PERFCTR : NOBODY,
			       failures[_i].reason);
	}
	expect_counts(before, ALL);
	shared_put(before);
	before = GET(three, SHARED);
	expect_counts(before, ALL);
	shared_put(before);
	shared_end();
}
END_TEST

/* A counter that perf's other users have, and that only one event wants */
START_TEST(one_event_without_room)
{
	struct perf_event *rival[MODEL_GENERALS];
	unsigned int i, cpu = (unsigned int)_i;

	shared_begin(&model_default);
	for (i = 0; i < MODEL_GENERALS; i++)
		rival[i] = model_perf_other(cpu, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_ITLB |
					    PERF_COUNT_HW_CACHE_RESULT_MISS << 16, true);
	expect_refused(general, 1, SHARED, -EBUSY, 0, PERFCTR_OWNER_PERF, NO_REASON);
	expect_refused(general, 2, SHARED, -EBUSY, 0, PERFCTR_OWNER_PERF, PERFCTR_REASON_ROOM);
	for (i = 0; i < MODEL_GENERALS; i++)
		model_perf_release_other(rival[i]);
	shared_put(shared_get(general, 2, SHARED));
	shared_end();
}
END_TEST

START_TEST(too_many_events)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	expect_refused(general, MODEL_GENERALS + 1, SHARED, -EBUSY, MODEL_GENERALS,
		       PERFCTR_OWNER_PERF, PERFCTR_REASON_ROOM);
	config = shared_get(general, MODEL_GENERALS, SHARED);
	expect_refused(&general[MODEL_GENERALS], 1, SHARED, -EBUSY, 0, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_ROOM);
	/* Who tries does not lose what others have. */
	expect_counts(config, ALL);
	shared_put(config);
	shared_put(shared_get(&general[MODEL_GENERALS], 1, SHARED));
	shared_end();
}
END_TEST

static const struct {
	const char *name;
	struct perfctr_ctr_control ctr;
	int err;
	u32 reason;
} bad[] = {
	{ "no mode", CTR(ANY, EV_ITLB, 0), -EINVAL, NO_REASON },
	{ "no mode of perf's", CTR_PERF(PERF_TYPE_HARDWARE, 0, 0), -EINVAL, NO_REASON },
	{ "flag", CTR(ANY, EV_ITLB, USER | 8), -EINVAL, NO_REASON },
	{ "software", CTR_PERF(PERF_TYPE_SOFTWARE, 0, USER), -EINVAL, NO_REASON },
	{ "uncore", CTR_PERF(MODEL_UNCORE_TYPE, 0, USER), -EINVAL, NO_REASON },
	{ "the other core", CTR_PERF(MODEL_OTHER_TYPE, 0, USER), -EINVAL, NO_REASON },
	{ "type of 64 bits", CTR_PERF(BIT(32) | PERF_TYPE_HARDWARE, 0, USER), -EINVAL, NO_REASON },
	{ "map of perf's", { .map = FIRST, .flags = USER | PERFCTR_CTR_PERF }, -EINVAL, NO_REASON },
	{ "number", CTR_PERF(PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX, USER), -EINVAL, NO_REASON },
	{ "cache", CTR_PERF(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_MAX, USER), -EINVAL,
	  NO_REASON },
	{ "i-mode", ICTR(ANY, EV_ITLB, USER, 100), -EOPNOTSUPP, PERFCTR_REASON_SOURCE },
};

START_TEST(bad_counters)
{
	struct perfctr_ctr_control ctr[2] = { CTR(ANY, EV_ITLB, USER), bad[_i].ctr };
	bool i_mode = bad[_i].ctr.ireset;

	shared_begin(&model_default);
	expect_refused(ctr, 2, SHARED, bad[_i].err, i_mode ? NO_INDEX : 1, NOBODY, bad[_i].reason);
	expect_refused(ctr + 1, 1, SHARED, bad[_i].err, i_mode ? NO_INDEX : 0, NOBODY,
		       bad[_i].reason);
	shared_end();
}
END_TEST

START_TEST(no_memory)
{
	shared_begin(&model_default);
	shim_no_memory = true;
	expect_refused(two, 2, SHARED, -ENOMEM, NO_INDEX, NOBODY, NO_REASON);
	shim_no_memory = false;
	shared_put(GET(two, SHARED));
	shared_end();
}
END_TEST

/* An event that perf's core does not have at all, on machines whose CPUs are alike */
START_TEST(an_event_that_no_cpu_knows)
{
	static const struct perfctr_ctr_control none[] = {
		CTR(ANY, EV_ITLB, USER),
		CTR_PERF(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_NODE, USER),
		CTR(ANY, EV_DTLB_READ, USER),
	};

	shared_begin(&model_default);
	expect_refused(none, 3, SHARED, -EINVAL, 1, NOBODY, NO_REASON);
	expect_refused(none + 1, 1, SHARED, -EINVAL, 0, NOBODY, NO_REASON);
	expect_refused(none + 1, 2, SHARED, -EINVAL, 0, NOBODY, NO_REASON);
	shared_end();
}
END_TEST

/* --- privilege --- */

START_TEST(kernel_mode_needs_permission)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	config = GET(many, SHARED);
	shim_allow_kernel = -EPERM;
	expect_refused(many, 4, SHARED, -EACCES, 1, NOBODY, PERFCTR_REASON_KERNEL);
	expect_refused(many + 2, 1, SHARED, -EACCES, 0, NOBODY, PERFCTR_REASON_KERNEL);
	shared_put(GET(two, SHARED));
	shim_allow_kernel = 0;
	shared_put(config);
	shared_end();
}
END_TEST

/* perf keeps half of the general counters; what has fewer rules has no part in it. */
START_TEST(half_of_them_without_privilege)
{
	u32 half = MODEL_GENERALS / 2;
	struct perfctr_config *config, *rich, *other;

	shared_begin(&model_default);
	drop_privilege();
	expect_refused(general, half + 1, SHARED, -EBUSY, NO_INDEX, NOBODY, PERFCTR_REASON_HALF);
	config = shared_get(general, half, SHARED);
	expect_counts(config, ALL);
	expect_refused(&general[half], 1, SHARED, -EBUSY, NO_INDEX, NOBODY, PERFCTR_REASON_HALF);
	/* What there is already costs nothing, whoever wants it. */
	shim_uid = 1001;
	other = shared_get(general, half, SHARED);
	take_privilege();
	rich = shared_get(&general[half], 1, SHARED);
	/* But it is one more that somebody without privilege has. */
	drop_privilege();
	expect_refused(&general[half], 1, SHARED, -EBUSY, NO_INDEX, NOBODY, PERFCTR_REASON_HALF);
	shared_put(config);
	expect_refused(&general[half], 1, SHARED, -EBUSY, NO_INDEX, NOBODY, PERFCTR_REASON_HALF);
	shared_put(other);
	shared_put(shared_get(&general[half], 1, SHARED));
	shared_put(rich);
	shared_end();
}
END_TEST

START_TEST(the_only_counter_without_privilege)
{
	static const struct perfctr_ctr_control only[] = { CTR(ANY, EV_CYCLES, USER), CTR_ONLY };
	struct perfctr_config *config;

	shared_begin(&model_only);
	drop_privilege();
	expect_refused(only + 1, 1, SHARED, -EBUSY, 0, NOBODY, PERFCTR_REASON_ONLY);
	if (MODEL_GENERALS == 4)
		expect_refused(only, 2, SHARED, -EBUSY, 1, NOBODY, PERFCTR_REASON_ONLY);
	take_privilege();
	config = shared_get(only + 1, 1, SHARED);
	expect_counts_as(config, ALL, only + 1);
	/* It is there already, but would be kept from perf for longer. */
	drop_privilege();
	expect_refused(only + 1, 1, SHARED, -EBUSY, 0, NOBODY, PERFCTR_REASON_ONLY);
	expect_counts_as(config, ALL, only + 1);
	shared_put(config);
	shared_end();
}
END_TEST

/* No CPU has it, so there is no second; the next control finds out whether there is one now. */
START_TEST(the_only_counter_is_lost)
{
	struct perfctr_config *config, *joined;

	shared_begin(&model_default);
	config = shared_get(two, 1, SHARED);
	shim_cpu_down(1);
	model_cpu_off(1);
	model_perf_lose(event_of(config, 0, 0));
	perfctr_shared_any_lost = true;
	model_perf_fail(0, -EBUSY);
	shared_put(shared_get(two, 1, SHARED));
	ck_assert_uint_eq(model_perf_live, 0);
	drop_privilege();
	expect_refused(two, 1, SHARED, -EBUSY, 0, NOBODY, PERFCTR_REASON_ONLY);
	joined = shared_get(two, 1, SHARED);
	expect_counts(joined, BIT(0));
	shared_put(joined);
	take_privilege();
	shared_put(config);
	model_cpu_on(1);
	shim_cpu_up(1);
	shared_end();
}
END_TEST

/* --- the choice of a source --- */

static void expect_info(u32 source, u32 features)
{
	struct perfctr_kernel_info info = {};

	perfctr_config_info(&info);
	ck_assert_uint_eq(info.source, source);
	ck_assert_uint_eq(info.cpu_features & (PERFCTR_FEATURE_NATIVE | PERFCTR_FEATURE_SHARED),
			  features);
}

#define BOTH_SOURCES	(PERFCTR_FEATURE_NATIVE | PERFCTR_FEATURE_SHARED)

START_TEST(native_if_it_can_be_had)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	expect_info(NATIVE, BOTH_SOURCES);
	config = GET(two, ANY_SOURCE);
	ck_assert(!config->shared);
	ck_assert_uint_eq(model_perf_live, 0);
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

/* perf's numbers are perf's. */
START_TEST(perfs_numbers_are_shared)
{
	static const struct perfctr_ctr_control perfs[] = {
		CTR(ANY, EV_ITLB, USER),
		CTR_PERF(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, USER),
	};
	static const struct perfctr_ctr_control twin[] = {
		CTR(ANY, EV_ITLB, USER), CTR(ANY, EV_INSTRUCTIONS, USER),
	};
	static const struct perfctr_ctr_control i_mode[] = {
		CTR_PERF(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, USER),
		ICTR(ANY, EV_ITLB, USER, 100),
	};
	struct perfctr_config *config;

	shared_begin(&model_default);
	config = GET(perfs, ANY_SOURCE);
	ck_assert(config->shared);
	expect_counts_as(config, ALL, twin);
	expect_info(SHARED, BOTH_SOURCES);
	shared_put(config);
	expect_refused(perfs, 2, NATIVE, -EOPNOTSUPP, NO_INDEX, NOBODY, PERFCTR_REASON_SOURCE);
	expect_refused(i_mode, 2, ANY_SOURCE, -EOPNOTSUPP, NO_INDEX, NOBODY,
		       PERFCTR_REASON_SOURCE);
	expect_refused(i_mode, 2, SHARED, -EOPNOTSUPP, NO_INDEX, NOBODY, PERFCTR_REASON_SOURCE);
	shared_end();
}
END_TEST

START_TEST(the_clock_has_no_source)
{
	struct perfctr_config *config, *clock;

	shared_begin(&model_default);
	config = GET(two, SHARED);
	clock = shared_get(two, 0, SHARED);
	ck_assert(!clock->shared);
	ck_assert_ptr_eq(shared_get(two, 0, NATIVE), clock);
	ck_assert_ptr_eq(shared_get(two, 0, ANY_SOURCE), clock);
	shared_put(clock);
	shared_put(clock);
	shared_put(clock);
	shared_put(config);
	shared_end();
}
END_TEST

/* Without perf the native driver is all there is. */
START_TEST(perf_counts_nothing)
{
	struct perfctr_config *config;

	model_no_perf = true;
	shared_begin(&model_default);
	expect_info(NATIVE, PERFCTR_FEATURE_NATIVE);
	expect_refused(two, 2, SHARED, -EOPNOTSUPP, NO_INDEX, NOBODY, NO_REASON);
	config = GET(two, ANY_SOURCE);
	expect_counts(config, ALL);
	expect_refused((struct perfctr_ctr_control []) { CTR_NONE }, 1, ANY_SOURCE, -EINVAL, 0,
		       NOBODY, NO_REASON);
	shared_put(config);
	shared_end();
}
END_TEST

/* An event that neither source has */
START_TEST(neither_can)
{
	static const struct perfctr_ctr_control never[] = { CTR_NONE };

	shared_begin(&model_default);
	expect_refused(never, 1, ANY_SOURCE, -EINVAL, 0, NOBODY, NO_REASON);
	shared_end();
}
END_TEST

void test_shared(void)
{
	unit_begin(MODEL_ARCH "_shared");
	UNIT_RUN(counts_while_perf_moves_events);
	UNIT_RUN(counts_over_an_overflow);
	UNIT_RUN(equal_events_share_an_event_set);
	UNIT_RUN(so_many_slots);
	unit_run(one_event_without_room, 2);
	UNIT_RUN(too_many_events);
	UNIT_ROWS(bad_counters, bad);
	UNIT_RUN(no_memory);
	UNIT_RUN(an_event_that_no_cpu_knows);
	UNIT_RUN(the_only_counter_without_privilege);
	test_shared_lost();
	UNIT_RUN(native_if_it_can_be_had);
	UNIT_RUN(perfs_numbers_are_shared);
	UNIT_RUN(the_clock_has_no_source);
	UNIT_RUN(neither_can);
	/*
	 * The rest wants several modes at once, or perf's counters without privilege: on ppc32
	 * neither is possible. And there perf's driver is known by the processor, not by asking
	 * for an event.
	 */
	if (MODEL_ONE_MODE)
		return;
	UNIT_RUN(counts_exactly);
	UNIT_ROWS(different_events_do_not, differences);
	UNIT_RUN(sources_and_privileges_are_told_apart);
	UNIT_ROWS(perf_fails_half_way, failures);
	UNIT_RUN(kernel_mode_needs_permission);
	UNIT_RUN(half_of_them_without_privilege);
	UNIT_RUN(the_only_counter_is_lost);
	UNIT_RUN(perf_counts_nothing);
}
