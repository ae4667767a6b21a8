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

/* --- slots --- */

/* Equal events are one event, in whatever control, of whatever user. */
START_TEST(equal_events_share_a_slot)
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

/* --- losses --- */

/* A thread runs on CPU 0 when that happens; what follows is not to be counted. */
static void lose_under(struct thread *thread, struct perf_event *event)
{
	thread_in(thread, 0);
	model_execute(MODEL_USER, 5000);
	model_execute(MODEL_KERNEL, 500);
	model_perf_lose(event);
	model_witness[0] = NULL;
	model_execute(MODEL_USER, 3000);
}

/* The sum is that of the loss, whether it is noticed early or late. */
START_TEST(a_loss_ends_the_sum)
{
	struct perfctr_config *config, *bystander;
	struct thread thread, other, later;

	shared_begin(&model_default);
	config = shared_get(many, 1, SHARED);
	bystander = shared_get(many + 2, 1, SHARED);
	thread_init(&thread, config);
	thread_init(&later, config);
	thread_init(&other, bystander);
	thread_run(&thread, 0, 1000);
	thread_run(&other, 0, 1000);
	thread_run(&later, 0, 1000);
	lose_under(&thread, event_of(config, 0, 0));
	if (_i) {
		/* Somebody looks at the CPU before the thread leaves it. */
		cpus_read_lock();
		perfctr_run_paid(perfctr_cpu_age, NULL);
		cpus_read_unlock();
		ck_assert_int_eq(thread.error, -EIO);
	}
	thread_out(&thread);
	ck_assert_int_eq(thread.error, -EIO);
	thread_expect_sum(&thread, 0);
	/* One that comes later has nothing of it, and on another CPU nothing has happened. */
	thread_run(&later, 1, 1000);
	ck_assert_int_eq(later.error, 0);
	thread_in(&later, 0);
	model_witness[0] = NULL;
	model_execute(MODEL_USER, 1000);
	ck_assert_int_eq(later.error, -EIO);
	thread_out(&later);
	thread_expect_sum(&later, 0);
	/* Who does not use it counts on. */
	thread_run(&other, 0, 1000);
	ck_assert_int_eq(other.error, 0);
	thread_expect_exact(&other);
	shared_put(config);
	shared_put(bystander);
	shared_end();
}
END_TEST

/* Two events, of which one is lost: both states that have it are, with the sum of its end. */
START_TEST(one_of_two_is_lost)
{
	struct perfctr_config *both, *first;
	struct thread thread, safe;

	shared_begin(&model_default);
	both = GET(two, SHARED);
	first = shared_get(two, 1, SHARED);
	thread_init(&thread, both);
	thread_init(&safe, first);
	lose_under(&thread, event_of(both, 1, 0));
	thread_out(&thread);
	ck_assert_int_eq(thread.error, -EIO);
	thread_expect_sum(&thread, 1);
	expect_counts(first, ALL);
	shared_put(both);
	shared_put(first);
	shared_end();
}
END_TEST

/* perf's other users come first, and take the counter of the last event. */
START_TEST(perf_takes_the_last_ones)
{
	struct perf_event *early[2];
	struct perfctr_config *config, *extra;
	struct thread thread;
	u32 nr = MODEL_GENERALS, i;

	shared_begin(&model_default);
	/* Not of those that x86 has a fixed counter for */
	for (i = 0; i < 2; i++)
		early[i] = model_perf_other(0, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_ITLB |
					    PERF_COUNT_HW_CACHE_RESULT_MISS << 16, false);
	config = shared_get(general, nr - 1, SHARED);
	extra = shared_get(&general[nr - 1], 1, SHARED);
	thread_init(&thread, extra);
	thread_in(&thread, 0);
	model_execute(MODEL_USER, 100);
	model_execute(MODEL_KERNEL, 100);
	model_perf_enable(early[0]);
	model_witness[0] = NULL;
	model_execute(MODEL_USER, 100);
	thread_out(&thread);
	ck_assert_int_eq(thread.error, -EIO);
	thread_expect_sum(&thread, 0);
	expect_counts(config, ALL);
	/* The next one takes one more; an event in error does not come back by itself. */
	model_perf_enable(early[1]);
	ck_assert_int_eq(event_of(config, nr - 2, 0)->state, PERF_EVENT_STATE_ERROR);
	model_perf_release_other(early[0]);
	model_perf_release_other(early[1]);
	ck_assert_int_eq(event_of(config, nr - 2, 0)->state, PERF_EVENT_STATE_ERROR);
	ck_assert_int_eq(event_of(config, nr - 2, 1)->state, PERF_EVENT_STATE_ACTIVE);
	/* Unless somebody asks again, who knows that something was lost. */
	perfctr_shared_any_lost = true;
	shared_put(shared_get(general, 1, SHARED));
	expect_counts(config, ALL);
	expect_counts(extra, ALL);
	shared_put(extra);
	shared_put(config);
	shared_end();
}
END_TEST

/*
 * The next control has a lost event again, made anew. Who counted by it meanwhile is lost all
 * the same; who did not run there counts on, without a gap.
 */
START_TEST(the_next_control_mends)
{
	struct perfctr_config *config;
	struct thread thread, sleeper;
	unsigned int asked;

	shared_begin(&model_default);
	config = shared_get(many, 3, SHARED);
	thread_init(&thread, config);
	thread_init(&sleeper, config);
	thread_run(&sleeper, 0, 1000);
	lose_under(&thread, event_of(config, 0, 0));
	asked = model_perf_asked;
	/* If nobody has noticed the loss, nobody looks. */
	shared_put(shared_get(many, 3, SHARED));
	ck_assert_uint_eq(model_perf_asked, asked);
	perfctr_shared_any_lost = true;
	shared_put(shared_get(many, 3, SHARED));
	ck_assert_uint_eq(model_perf_asked, asked + 1);
	ck_assert(!perfctr_shared_any_lost);
	/* It was switched out for that, and is not resumed by the new event. */
	ck_assert_int_eq(thread.error, -EIO);
	model_execute(MODEL_USER, 1000);
	thread_out(&thread);
	thread_expect_sum(&thread, 0);
	thread_run(&sleeper, 0, 1000);
	thread_run(&sleeper, 1, 1000);
	thread_expect_exact(&sleeper);
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

/* If it cannot be had, states that count by it are lost there, and others are not. */
START_TEST(what_cannot_be_mended)
{
	struct perfctr_config *config, *other;
	struct thread thread, on_other;

	shared_begin(&model_default);
	config = shared_get(two, 1, SHARED);
	other = shared_get(two + 1, 1, SHARED);
	thread_init(&thread, config);
	thread_init(&on_other, other);
	model_perf_lose(event_of(config, 0, 0));
	model_perf_lose(event_of(other, 0, 0));
	perfctr_shared_any_lost = true;
	model_perf_fail(0, -EBUSY);
	shared_put(shared_get(two, 1, SHARED));
	thread_run(&on_other, 0, 1000);
	ck_assert_int_eq(on_other.error, 0);
	thread_expect_exact(&on_other);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	thread_in(&thread, 0);
	ck_assert_int_eq(thread.error, -EIO);
	thread_out(&thread);
	/* And the next control tries again. */
	perfctr_shared_any_lost = true;
	shared_put(shared_get(two, 1, SHARED));
	expect_counts(config, ALL);
	shared_put(config);
	shared_put(other);
	shared_end();
}
END_TEST

/* --- CPUs that come and go --- */

START_TEST(hotplug)
{
	struct perfctr_config *config, *late;
	struct thread thread, leaver;

	shared_begin(&model_default);
	config = GET(two, SHARED);
	thread_init(&thread, config);
	thread_init(&leaver, config);
	thread_run(&thread, 1, 1000);
	thread_run(&leaver, 1, 1000);
	/* It still runs on the CPU, which goes. */
	thread_in(&leaver, 1);
	model_execute(MODEL_USER, 100);
	thread_out(&leaver);
	shim_going = BIT(1);
	shim_cpu_down(1);
	ck_assert_uint_eq(model_perf_live, 2);
	model_cpu_off(1);
	/* The last steps of those that have to leave, before the CPU is off: not counted, not lost */
	shim_online |= BIT(1);
	thread_in(&leaver, 1);
	ck_assert(!leaver.resumed);
	model_execute(MODEL_KERNEL, 100);
	thread_out(&leaver);
	ck_assert_int_eq(leaver.error, 0);
	shim_online &= ~(u32)BIT(1);
	thread_run(&thread, 0, 1000);
	/* What is claimed now is claimed there when it comes. */
	late = shared_get(many + 3, 1, SHARED);
	ck_assert_uint_eq(model_perf_live, 3);
	shim_going = 0;
	model_cpu_on(1);
	shim_cpu_up(1);
	ck_assert_uint_eq(model_perf_live, 6);
	thread_run(&thread, 1, 1000);
	thread_run(&leaver, 1, 1000);
	thread_expect_exact(&thread);
	thread_expect_exact(&leaver);
	expect_counts(late, ALL);
	shared_put(config);
	shared_put(late);
	shared_end();
}
END_TEST

/* perf does not restore what a sleep has lost: whoever counts is lost, and not wrong. */
START_TEST(registers_are_lost_in_a_sleep)
{
	struct perfctr_config *config;
	struct thread thread;

	shared_begin(&model_default);
	config = GET(two, SHARED);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	local_irq_disable();
	perfctr_shared_slept();
	local_irq_enable();
	thread_in(&thread, 0);
	ck_assert_int_eq(thread.error, -EIO);
	thread_out(&thread);
	shared_put(GET(two, SHARED));
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

/* perf has no room on a CPU that comes: who counts there is lost, until a control mends it. */
START_TEST(a_cpu_comes_without_room)
{
	struct perfctr_config *config;
	struct thread thread;

	shared_begin(&model_default);
	config = GET(two, SHARED);
	thread_init(&thread, config);
	shim_cpu_down(1);
	model_cpu_off(1);
	model_cpu_on(1);
	model_perf_fail(1, -ENOMEM);
	shim_cpu_up(1);
	ck_assert_uint_eq(model_perf_live, 3);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	thread_in(&thread, 1);
	ck_assert_int_eq(thread.error, -EIO);
	thread_out(&thread);
	perfctr_shared_any_lost = true;
	shared_put(GET(two, SHARED));
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

/* Isolated CPUs are left alone, unless the thread that asks may run there. */
START_TEST(isolated_cpus)
{
	struct perfctr_config *config;
	struct thread thread;

	cpus_isolated = BIT(1);
	shared_begin(&model_default);
	perfctr_any_rarity = true;	/* as told.c says */
	shim_current.cpus_mask.bits = BIT(0);
	config = GET(two, SHARED);
	ck_assert_uint_eq(model_perf_live, 2);
	expect_counts(config, BIT(0));
	thread_init(&thread, config);
	thread_in(&thread, 1);
	ck_assert_int_eq(thread.error, -EIO);
	thread_out(&thread);
	shim_current.cpus_mask.bits = ALL;
	ck_assert_ptr_eq(GET(two, SHARED), config);
	ck_assert_uint_eq(model_perf_live, 4);
	expect_counts(config, ALL);
	ck_assert(!(cpus_told & BIT(1)));
	shim_cpu_down(1);
	ck_assert_uint_eq(model_perf_live, 2);
	shim_cpu_up(1);
	ck_assert_uint_eq(model_perf_live, 2);
	shared_put(config);
	shared_put(config);
	/* From the first control on, too */
	config = GET(two, SHARED);
	ck_assert_uint_eq(model_perf_live, 4);
	shared_put(config);
	shared_end();
	cpus_isolated = 0;
}
END_TEST

/* --- eviction --- */

/* A user's config is evicted: whoever else counts by the same events counts on. */
START_TEST(evicted)
{
	struct perfctr_config *config, *other;
	struct thread thread, sleeper, stranger;

	shared_begin(&model_default);
	other = shared_get(two + 1, 1, SHARED);
	shim_uid = 1000;
	config = GET(two, SHARED);
	shim_uid = 0;
	thread_init(&thread, config);
	thread_init(&sleeper, config);
	thread_init(&stranger, other);
	thread_run(&thread, 0, 500);
	thread_run(&sleeper, 1, 500);
	thread_in(&thread, 0);
	model_execute(MODEL_USER, 1000);
	thread_in(&stranger, 1);
	model_execute(MODEL_USER, 1000);
	perfctr_config_evict(false, KUIDT_INIT(1000));
	/* One of the two slots is the other's. */
	ck_assert_uint_eq(model_perf_live, 2);
	ck_assert_int_eq(thread.error, -EIO);
	ck_assert_int_eq(stranger.error, 0);
	shim_cpu = 0;
	model_execute(MODEL_USER, 1000);
	thread_out(&thread);
	thread_expect_exact(&thread);
	shim_cpu = 1;
	model_execute(MODEL_USER, 1000);
	thread_out(&stranger);
	thread_expect_exact(&stranger);
	thread_in(&sleeper, 0);
	ck_assert_int_eq(sleeper.error, -EIO);
	thread_out(&sleeper);
	thread_expect_exact(&sleeper);
	shared_put(config);
	expect_counts(other, ALL);
	shared_put(other);
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
	UNIT_RUN(equal_events_share_a_slot);
	UNIT_RUN(so_many_slots);
	unit_run(one_event_without_room, 2);
	UNIT_RUN(too_many_events);
	UNIT_ROWS(bad_counters, bad);
	UNIT_RUN(no_memory);
	UNIT_RUN(an_event_that_no_cpu_knows);
	UNIT_RUN(the_only_counter_without_privilege);
	UNIT_RUN(one_of_two_is_lost);
	UNIT_RUN(what_cannot_be_mended);
	UNIT_RUN(hotplug);
	UNIT_RUN(registers_are_lost_in_a_sleep);
	UNIT_RUN(a_cpu_comes_without_room);
	UNIT_RUN(isolated_cpus);
	UNIT_RUN(evicted);
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
	unit_run(a_loss_ends_the_sum, 2);
	UNIT_RUN(perf_takes_the_last_ones);
	UNIT_RUN(the_next_control_mends);
	UNIT_RUN(perf_counts_nothing);
}
