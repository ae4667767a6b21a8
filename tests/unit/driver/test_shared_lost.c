// SPDX-License-Identifier: GPL-2.0
/* Counters through perf that perf loses, or that a CPU takes with it */
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
	/* One of the two event sets is the other's. */
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

void test_shared_lost(void)
{
	UNIT_RUN(one_of_two_is_lost);
	UNIT_RUN(what_cannot_be_mended);
	UNIT_RUN(hotplug);
	UNIT_RUN(registers_are_lost_in_a_sleep);
	UNIT_RUN(a_cpu_comes_without_room);
	UNIT_RUN(isolated_cpus);
	UNIT_RUN(evicted);
	/*
	 * The rest wants several modes at once, or perf's counters without privilege: on ppc32
	 * neither is possible. And there perf's driver is known by the processor, not by asking
	 * for an event.
	 */
	if (MODEL_ONE_MODE)
		return;
	unit_run(a_loss_ends_the_sum, 2);
	UNIT_RUN(perf_takes_the_last_ones);
	UNIT_RUN(the_next_control_mends);
}
