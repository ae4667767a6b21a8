// SPDX-License-Identifier: GPL-2.0
/* Scenes with counters through perf */
#include "engine/world.h"
#include "unit.h"
#include "perf/shared.h"
#include "switch/resume.h"
#include "deliver/read.h"
#include "config/config.h"
#include "config/permit.h"
#include "calls/handle.h"
#include "engine/scenes.h"

static struct perf_event *event_of(const struct thread *thread, u32 i, unsigned int cpu)
{
	struct perf_event *event = model_perf_event(cpu, state_of(thread)->config->hw[i]);

	ck_assert(event);
	return event;
}

enum moment { AT_SWITCH_OUT, AT_SWITCH_IN, AT_HAND_OVER, AT_READ, AT_READ_BY_OTHER, AT_CONTROL,
	      MOMENTS };

static void notice_loss(enum moment moment, struct thread *thread, struct thread *heir)
{
	u64 value[1 + PERFCTR_MAX_HW];
	struct perfctr_sample sample = { .value = value };

	switch (moment) {
	case AT_SWITCH_OUT:
	case AT_SWITCH_IN:
		switch_to(&idle[0]);
		break;
	case AT_HAND_OVER:
		/* The heir is not counted, as it has what is lost as well. */
		switch_to(heir);
		model_execute(MODEL_USER, 300);
		break;
	case AT_READ:
		ck_assert_int_eq(vperfctr_fops.read(&thread->handle->file, (char *)value,
						    sizeof(value), NULL), -EIO);
		break;
	case AT_READ_BY_OTHER:
		to_cpu(1);
		ck_assert(!vperfctr_sample(state_of(thread), &sample));
		ck_assert_uint_eq(value[1], count_of(thread->control, &thread->seen, 0));
		break;
	default:
		/* Another's control, which mends */
		perfctr_shared_any_lost = true;
		to_cpu(1);
		switch_to(heir);
		set_control(heir, heir->control, NULL, true, 0, 0);
		break;
	}
	to_cpu(0);
}

START_TEST(a_loss_is_noticed)
{
	struct thread *thread, *heir, *sleeper, *bystander;
	enum moment moment = (enum moment)_i;

	seed = 1;
	engine_begin();
	thread = begin_shared(&shared_controls[_i % 2]);
	heir = begin_shared(thread->control);
	sleeper = begin_shared(thread->control);
	bystander = begin_shared(&shared_controls[3]);
	perfctr_shared_any_lost = false;
	to_cpu(0);
	if (moment != AT_SWITCH_IN) {
		switch_to(thread);
		let_run(thread, MODEL_USER, 3000);
	}
	model_perf_lose(event_of(thread, 0, 0));
	if (moment == AT_SWITCH_IN)
		switch_to(thread);
	model_execute(MODEL_USER, 700);
	notice_loss(moment, thread, heir);
	if (thread->control->nractrs == 1 || moment == AT_SWITCH_IN)
		expect_error_and_sums(thread, PERFCTR_ERROR_LOST);
	ck_assert_uint_eq(state_of(thread)->error, PERFCTR_ERROR_LOST);
	ck_assert(perfctr_shared_any_lost || moment == AT_CONTROL);
	ck_assert_uint_eq(state_of(heir)->error,
			  moment == AT_HAND_OVER ? PERFCTR_ERROR_LOST : PERFCTR_ERROR_NONE);
	if (moment == AT_HAND_OVER)
		expect_error_and_sums(heir, PERFCTR_ERROR_LOST);
	switch_to(&idle[0]);
	expect_counts_on(0, bystander);
	expect_counts_on(1, sleeper);
	/* After the next control all who are not lost count there. */
	to_cpu(0);
	switch_to(bystander);
	set_control(bystander, &shared_controls[2], NULL, true, 0, 0);
	switch_to(&idle[0]);
	expect_counts_on(0, sleeper);
	expect_counts_on(0, bystander);
	/* Who is lost stays so, until its own next control. */
	to_cpu(0);
	switch_to(thread);
	model_execute(MODEL_USER, 100);
	ck_assert_uint_eq(state_of(thread)->error, PERFCTR_ERROR_LOST);
	set_control(thread, &shared_controls[1], NULL, true, 0, 0);
	switch_to(&idle[0]);
	expect_counts_on(0, thread);
	engine_end();
}
END_TEST

/* One reading ends the one's count and begins the other's. */
START_TEST(shared_counters_are_handed_over)
{
	struct thread *thread[2];
	int i;

	seed = 1;
	engine_begin();
	thread[0] = begin_shared(&shared_controls[1]);
	thread[1] = begin_shared(&shared_controls[1]);
	to_cpu(0);
	for (i = 0; i < 6; i++) {
		struct thread *next = thread[i % 2];

		local_irq_disable();
		fire_out(current, &next->task);
		/* Not from the idle thread */
		ck_assert_uint_eq(state_of(next)->seq & 1, i > 0);
		shim_on[0] = &next->task;
		local_irq_enable();
		to_cpu(0);
		model_execute(MODEL_KERNEL, 100);
		fire_in(&next->task);
		let_run(next, MODEL_USER, 1000 + (unsigned int)i);
	}
	/* Somebody holds the next one after it was handed over. */
	local_irq_disable();
	fire_out(current, &thread[0]->task);
	ck_assert_uint_eq(state_of(thread[0])->seq & 1, 1);
	shim_on[0] = &thread[0]->task;
	atomic_or(PERFCTR_HOLD_SUSPENDED, &state_of(thread[0])->hold);
	WRITE_ONCE(state_of(thread[0])->at_once, PERFCTR_NO_CONFIG);
	local_irq_enable();
	to_cpu(0);
	fire_in(&thread[0]->task);
	ck_assert_uint_eq(state_of(thread[0])->seq & 1, 0);
	model_execute(MODEL_USER, 1000);
	switch_to(&idle[0]);
	expect_error_and_sums(thread[0], PERFCTR_ERROR_NONE);
	expect_error_and_sums(thread[1], PERFCTR_ERROR_NONE);
	engine_end();
}
END_TEST

#if MACHINE_OTHERS_INTERRUPT
/*
 * An overflow interrupt of perf's comes after a switch, before sched_in(). It is heard, since
 * somebody has i-mode counters. A state that is sampled by time has none, so the interrupt leaves
 * it alone, and sched_in() resumes it, once.
 */
START_TEST(interrupted_before_it_comes_in)
{
	const struct control *control = _i ? &shared_controls[1] : &controls[1];
	struct thread *thread, *other;
	unsigned int i;

	seed = 1;
	engine_begin();
	other = begin_thread(0);
	run_on(1, other);
	set_control(other, &controls[7], NULL, true, 0, 0);
	thread = begin_thread(0);
	run_on(0, thread);
	set_control(thread, control, NULL, true, 0, PERFCTR_CONTROL_RECORD);
	ck_assert_int_eq(is_shared(thread), _i);
	let_run(thread, MODEL_USER, 5000);
	for (i = 0; i < 3; i++) {
		switch_to(&idle[0]);
		local_irq_disable();
		fire_out(current, &thread->task);
		shim_on[0] = &thread->task;
		local_irq_enable();
		to_cpu(0);
		machine_irq(false);
		ck_assert_uint_eq(state_of(thread)->seq & 1, 0);
		model_execute(MODEL_KERNEL, 100);
		fire_in(&thread->task);
		ck_assert_uint_eq(state_of(thread)->seq & 1, 1);
		let_run(thread, MODEL_USER, 1000 + i);
		expect_sums(thread);
	}
	engine_end();
}
END_TEST
#endif

/* A CPU goes. Who still runs there is neither counted nor lost. */
START_TEST(shared_on_a_cpu_that_goes)
{
	struct thread *thread;

	seed = 1;
	engine_begin();
	thread = begin_shared(&shared_controls[1]);
	expect_counts_on(2, thread);
	shim_going = BIT(2);
	shim_cpu_down(2);
	/* It is pushed off only now. */
	shim_online |= BIT(2);
	to_cpu(2);
	switch_to(thread);
	ck_assert_uint_eq(state_of(thread)->seq & 1, 0);
	model_execute(MODEL_KERNEL, 500);
	switch_to(&idle[2]);
	shim_online &= ~BIT(2);
	expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
	expect_counts_on(0, thread);
	shim_going = 0;
	to_cpu(0);
	shim_cpu_up(2);
	expect_counts_on(2, thread);
	/* If it comes back without the event, the thread is lost. */
	to_cpu(0);
	shim_cpu_down(2);
	model_perf_fail(1, -ENOMEM);
	shim_cpu_up(2);
	to_cpu(2);
	switch_to(thread);
	model_execute(MODEL_USER, 500);
	expect_error_and_sums(thread, PERFCTR_ERROR_LOST);
	engine_end();
}
END_TEST

/* Root evicts: running threads are lost at once, and sleeping ones as they come. */
START_TEST(shared_is_evicted)
{
	struct thread *thread, *sleeper;

	seed = 1;
	engine_begin();
	thread = begin_shared(&shared_controls[1]);
	sleeper = begin_shared(&shared_controls[1]);
	to_cpu(0);
	switch_to(thread);
	let_run(thread, MODEL_USER, 1000);
	to_cpu(1);
	perfctr_config_evict(true, KUIDT_INIT(0));
	ck_assert_uint_eq(state_of(thread)->error, PERFCTR_ERROR_LOST);
	model_perf_expect_none();
	to_cpu(0);
	model_execute(MODEL_USER, 1000);
	expect_error_and_sums(thread, PERFCTR_ERROR_LOST);
	expect_error_and_sums(sleeper, PERFCTR_ERROR_NONE);
	switch_to(sleeper);
	expect_error_and_sums(sleeper, PERFCTR_ERROR_LOST);
	set_control(sleeper, &shared_controls[0], NULL, true, 0, 0);
	switch_to(&idle[0]);
	expect_counts_on(0, sleeper);
	engine_end();
}
END_TEST

void test_scenes_shared(void)
{
	unit_run(a_loss_is_noticed, MOMENTS);
	UNIT_RUN(shared_counters_are_handed_over);
#if MACHINE_OTHERS_INTERRUPT
	unit_run(interrupted_before_it_comes_in, 2);
#endif
	UNIT_RUN(shared_on_a_cpu_that_goes);
	UNIT_RUN(shared_is_evicted);

}
