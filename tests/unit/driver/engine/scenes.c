// SPDX-License-Identifier: GPL-2.0
/* What threads do in a certain order, since it went wrong once, or must not */

#include "engine/world.h"
#include "unit.h"
#include "perf/shared.h"
#include "thread/kin.h"
#include "switch/resume.h"
#include "switch/suspend.h"
#include "deliver/read.h"
#include "config/config.h"
#include "config/permit.h"
#include "calls/handle.h"

struct thread *begin_thread(unsigned int uid)
{
	struct process *process = process_new(NULL);
	struct thread *thread = thread_new();

	process->pid_ns = NULL;
	thread_begins(thread, process, uid);
	return thread;
}

void run_on(unsigned int cpu, struct thread *thread)
{
	to_cpu(cpu);
	switch_to(thread);
	return_to_user();
	expect_user_mode();
	let_run(thread, MODEL_USER, 1000);
	expect_user_mode();
}

/* As a claim on another CPU does */
static void suspend_and_resume(const struct thread *thread)
{
	local_irq_disable();
	vperfctr_suspend(state_of(thread));
	vperfctr_resume(state_of(thread));
	local_irq_enable();
	look();
}

/*
 * A tree dies while one of its members, whose process may read registers, runs on another
 * CPU. The config was the tree's alone, so it is unclaimed: from then on registers hold not
 * only what is that process's.
 */
START_TEST(a_config_ends_under_a_reader)
{
	struct thread *root, *member, *stranger;

	seed = 1;
	engine_begin();
	root = begin_thread(0);
	stranger = begin_thread(1);
	to_cpu(0);
	switch_to(root);
	set_control(root, &controls[0], tree_new(), true, 0, 0);
	do_map(root);
	run_on(0, root);
	member = make_child(root, 4);
	run_on(1, member);
	to_cpu(0);
	set_control(root, &controls[1], NULL, true, 0, 0);
	run_on(1, member);
	run_on(1, stranger);
	run_on(1, member);
	engine_end();
}
END_TEST

/*
 * A tree dies while one of its members reads registers, which are private to its user. It is
 * switched out before it is in user mode again. Registers that nothing stops count on, for
 * whoever comes: the next reader of that user with the same control must not see that.
 */
START_TEST(a_tree_dies_under_a_reader)
{
	struct thread *root, *member, *reader, *stranger;

	seed = 1;
	engine_begin();
	root = begin_thread(0);
	reader = begin_thread(0);
	stranger = begin_thread(1);
	to_cpu(0);
	switch_to(reader);
	set_control(reader, &controls[0], NULL, true, 0, 0);
	do_map(reader);
	switch_to(root);
	set_control(root, &controls[0], tree_new(), true, 0, 0);
	run_on(0, root);
	member = make_child(root, 4);
	to_cpu(1);
	switch_to(member);
	do_map(member);
	run_on(1, member);
	to_cpu(0);
	set_control(root, &controls[1], NULL, true, 0, 0);
	run_on(1, stranger);
	run_on(1, reader);
	engine_end();
}
END_TEST

/*
 * A tree dies while one of its members sleeps whose overflow was found, and not told yet. Nobody is
 * told of it any more: the root may write to the same ring by another control, and the member's
 * handler may be gone.
 */
enum untold { AT_THE_SWITCH, AT_A_RESUME, BY_TIME, BY_SIGNAL, UNTOLD };

START_TEST(a_tree_dies_with_an_overflow)
{
	/* With random interrupts, and without; each by the tracepoint and by notifiers */
	static const unsigned int seeds[] = { 44, 48, 28, 16 };
	enum untold how = (enum untold)(_i % UNTOLD);
	struct thread *root, *member;
	struct counted before;

	seed = seeds[_i / UNTOLD];
	engine_begin();
	root = begin_thread(0);
	run_on(0, root);
	set_control(root, &controls[how == BY_TIME ? 1 : 7], tree_new(), true, 1,
		    how == BY_SIGNAL ? 0 : PERFCTR_CONTROL_RECORD);
	return_to_user();
	member = make_child(root, 4);
	to_cpu(1);
	switch_to(member);
	return_to_user();
	let_run(member, MODEL_USER, 30000);
	end_periods(member);
	if (how != AT_THE_SWITCH)
		suspend_and_resume(member);
	switch_to(&idle[1]);
	to_cpu(0);
	set_control(root, &controls[0], NULL, true, 0, 0);
	before = nr;
	to_cpu(1);
	switch_to(member);
	/* Of one that is not interrupted the work is done that was queued before. */
	if (MACHINE_OTHERS_INTERRUPT && how == AT_THE_SWITCH)
		machine_irq(false);
	look();
	return_to_user();
	ck_assert(!state_of(member));
	ck_assert_uint_eq(nr.samples, before.samples);
	ck_assert_uint_eq(nr.overflows, before.overflows);
	engine_end();
}
END_TEST

/*
 * The policy changes while one of two threads that hand counters on to each other sleeps: its page
 * shows what the policy says as soon as it runs again, and not what was so before.
 */
START_TEST(the_policy_changes_under_a_sleeper)
{
	static const unsigned int policies[] = {
		PERFCTR_USER_READ_GUARDED, PERFCTR_USER_READ_OFF, PERFCTR_USER_READ_OPEN,
	};
	unsigned int from = policies[_i % 3], to = policies[_i / 3 % 3], i, shown;
	struct thread *thread[2];

	seed = _i < 9 ? 1 : 4;
	engine_begin();
	for (i = 0; i < 2; i++) {
		thread[i] = begin_thread(0);
		to_cpu(0);
		switch_to(thread[i]);
		set_control(thread[i], &controls[0], NULL, true, 0, 0);
		do_map(thread[i]);
	}
	perfctr_user_read_asked = from;
	perfctr_policy_changed();
	look();
	for (i = 0; i < 5; i++)
		run_on(0, thread[i % 2]);
	perfctr_user_read_asked = to;
	perfctr_policy_changed();
	look();
	for (i = 0; i < 5; i++) {
		shown = nr.shown;
		run_on(0, thread[i % 2]);
		ck_assert(nr.shown > shown || to == PERFCTR_USER_READ_OFF);
	}
	engine_end();
}
END_TEST

/* A child in an inner pid namespace has its parent's control. Neither may see the other's counts. */
START_TEST(a_child_inside)
{
	struct thread *root, *child;
	int i;

	seed = _i ? 4 : 1;
	engine_begin();
	root = begin_thread(0);
	to_cpu(0);
	switch_to(root);
	set_control(root, &controls[0], tree_new(), true, 0, 0);
	do_map(root);
	next_inside = true;
	child = make_child(root, 0);
	next_inside = false;
	switch_to(child);
	do_map(child);
	for (i = 0; i < 6; i++)
		run_on(0, i % 2 ? child : root);
	engine_end();
}
END_TEST

/* A tree keeps the state of a member that has ended, and one of their spares. */
START_TEST(an_ended_member_has_no_spare)
{
	struct thread *root, *members[3];
	unsigned int i, before;

	seed = 1;
	engine_begin();
	root = begin_thread(0);
	to_cpu(0);
	switch_to(root);
	set_control(root, &controls[0], tree_new(), true, 0, PERFCTR_CONTROL_KEEP);
	for (i = 0; i < ARRAY_SIZE(members); i++)
		members[i] = make_child(root, 4);
	for (i = 0; i < ARRAY_SIZE(members); i++) {
		run_on(1, members[i]);
		before = shim_allocations;
		do_exit(members[i]);
		ck_assert_uint_eq(before - shim_allocations, i > 0);
	}
	engine_end();
}
END_TEST

static void run_to_overflow(struct thread *thread, u64 instructions)
{
	return_to_user();
	let_run(thread, MODEL_USER, instructions);
	end_periods(thread);
	if (machine_irq_waits())
		machine_irq(true);
	look();
	return_to_user();
}

/*
 * Two samples may be written in a tick. Instead of the third one that is said, and nothing is
 * written until the next tick, in which a whole period begins. What is counted is right.
 */
START_TEST(too_many_samples)
{
	struct thread *thread;
	unsigned int i;

	seed = _i ? 12 : 48;
	engine_begin();
	set_budget(2);
	thread = begin_thread(0);
	run_on(0, thread);
	/* By overflow alone */
	do {
		set_control(thread, &controls[7], NULL, true, 0, PERFCTR_CONTROL_RECORD);
	} while (thread->timer_ns);
	for (i = 0; i < 3; i++) {
		run_to_overflow(thread, 4100);
		ck_assert_uint_eq(nr.samples, min(1 + i, 2u));
		ck_assert_uint_eq(nr.throttled, i == 2);
	}
	run_to_overflow(thread, 20000);
	switch_to(&idle[0]);
	run_on(0, thread);
	expect_sums(thread);
	shim_jiffies++;
	fire_timer(true);
	run_to_overflow(thread, 3900);
	ck_assert_uint_eq(nr.samples, 2);
	run_to_overflow(thread, 200);
	ck_assert_uint_eq(nr.samples, 3);
	ck_assert_uint_eq(nr.throttled, 1);
	expect_sums(thread);
	engine_end();
}
END_TEST

/*
 * Counters through perf, which loses them at some point. What was counted until then stays, the
 * state says LOST, and nobody else is affected.
 */

static struct perf_event *event_of(const struct thread *thread, u32 i, unsigned int cpu)
{
	struct perf_event *event = model_perf_event(cpu, state_of(thread)->config->hw[i]);

	ck_assert(event);
	return event;
}

/* It counts by such a control, and has run on CPU 0; then the CPU is idle. */
static struct thread *begin_shared(const struct control *control)
{
	struct thread *thread = begin_thread(0);

	run_on(0, thread);
	set_control(thread, control, NULL, true, 0, 0);
	ck_assert(state_of(thread)->config->shared);
	let_run(thread, MODEL_USER, 5000);
	switch_to(&idle[0]);
	return thread;
}

/* Its sums are what the model says, and its error is that, by all that reads. */
static void expect_error_and_sums(struct thread *thread, u32 error)
{
	const struct control *control = thread->control;
	struct perfctr_read read = { .size = sizeof(read) };
	u32 i, nr = control->nractrs + control->nrictrs;
	u64 words[1 + MAX_CTRS];
	long err;
	ssize_t length;

	err = engine_ioctl(thread->handle, PERFCTR_IOC_READ, &read);
	ck_assert_int_eq(err, error ? -EIO : 0);
	ck_assert_uint_eq(read.error, error);
	ck_assert_uint_eq(read.nrctrs, nr);
	for (i = 0; i < nr; i++)
		ck_assert_uint_eq(read.sum[i], count_of(control, &thread->seen, i));
	length = vperfctr_fops.read(&thread->handle->file, (char *)words, sizeof(words), NULL);
	ck_assert_int_eq(length, error ? -EIO : (ssize_t)(8 * (1 + nr)));
	for (i = 0; !error && i < nr; i++)
		ck_assert_uint_eq(words[1 + i], count_of(control, &thread->seen, i));
}

static void expect_counts_on(unsigned int cpu, struct thread *thread)
{
	to_cpu(cpu);
	switch_to(thread);
	let_run(thread, MODEL_USER, 2000);
	let_run(thread, MODEL_KERNEL, 200);
	expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
	switch_to(&idle[cpu]);
	expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
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

#ifdef CONFIG_RISCV
/*
 * The firmware does not start a counter as the thread comes: the state is lost, with what it had
 * counted, and its thread may read no register, by RAW either. The next control counts again.
 */
static const struct {
	const char *name;
	const struct control *control;
	bool raw;
	unsigned int after;
} refusals[] = {
	{ "a load", &controls[0], false, 0 },
	{ "a load, with RAW", &controls[0], true, 0 },
	{ "a start of i-mode counters", &controls[7], false, 0 },
	{ "a start of i-mode counters after the others", &controls[6], false, 1 },
};

START_TEST(the_firmware_starts_nothing)
{
	const unsigned int row = (unsigned int)_i / 2;
	struct thread *thread, *other;

	seed = _i % 2 ? 4 : 1;
	nobody_calls = true;
	engine_begin();
	if (refusals[row].raw) {
		perfctr_user_read_asked = PERFCTR_USER_READ_OPEN;
		perfctr_policy_changed();
	}
	other = begin_thread(0);
	thread = begin_thread(0);
	to_cpu(0);
	switch_to(other);
	set_control(other, &controls[2], NULL, true, 0, 0);
	run_on(0, thread);
	set_control(thread, refusals[row].control, NULL, true, 0,
		    refusals[row].raw ? PERFCTR_CONTROL_RAW : 0);
	run_on(0, thread);
	ck_assert_int_eq(machine_may_read(FIRST), refusals[row].raw);
	run_on(0, other);
	model_fail(SBI_EXT_PMU_COUNTER_START, refusals[row].after, 1, SBI_ERR_FAILURE);
	switch_to(thread);
	return_to_user();
	ck_assert_uint_eq(state_of(thread)->error, PERFCTR_ERROR_LOST);
	ck_assert(!machine_may_read(FIRST));
	model_execute(MODEL_USER, 500);
	expect_error_and_sums(thread, PERFCTR_ERROR_LOST);
	switch_to(&idle[0]);
	switch_to(thread);
	return_to_user();
	expect_error_and_sums(thread, PERFCTR_ERROR_LOST);
	set_control(thread, refusals[row].control, NULL, true, 0, 0);
	run_on(0, other);
	run_on(0, thread);
	expect_sums(thread);
	expect_sums(other);
	engine_end();
}
END_TEST

/*
 * Root evicts a thread that may be between its look at the page and its read of a register. So it
 * keeps its permission, while it stays on its CPU, but for a time.
 */
START_TEST(evicted_while_it_reads)
{
	struct thread *reader;

	seed = 1;
	nobody_calls = true;
	engine_begin();
	reader = begin_thread(0);
	to_cpu(0);
	switch_to(reader);
	set_control(reader, &controls[0], NULL, true, 0, 0);
	do_map(reader);
	run_on(0, reader);
	ck_assert(machine_may_read(FIRST));
	if (_i)
		switch_to(&idle[0]);
	to_cpu(1);
	perfctr_config_evict(true, KUIDT_INIT(0));
	ck_assert_int_eq(perfctr_late_readers, !_i);
	to_cpu(0);
	ck_assert_int_eq(machine_may_read(FIRST), !_i);
	shim_work(true);
	ck_assert(!perfctr_late_readers && !machine_may_read(FIRST));
	switch_to(reader);
	return_to_user();
	ck_assert(!machine_may_read(FIRST));
	expect_error_and_sums(reader, PERFCTR_ERROR_LOST);
	engine_end();
}
END_TEST
#endif

/* READ_CONTROL gives what was given, and CPUS those that are online, none of which is forbidden. */
START_TEST(what_was_given_is_told)
{
	const struct control *control;
	struct thread *thread;
	u32 mask, i, which;

	seed = 1;
	engine_begin();
	thread = begin_thread(0);
	run_on(0, thread);
	for (control = controls; control < controls + machine_nr_controls(); control++) {
		struct perfctr_control arg = { PERFCTR_CONTROL_INIT };

		set_control(thread, control, NULL, true, control->nrictrs, PERFCTR_CONTROL_CLOEXEC);
		ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_READ_CONTROL, &arg), 0);
		ck_assert(arg.tsc_on == 1 && arg.source == NATIVE && arg.flags == PERFCTR_CONTROL_CLOEXEC);
		ck_assert(arg.nractrs == control->nractrs && arg.nrictrs == control->nrictrs);
		ck_assert_int_eq(arg.si_signo, control->nrictrs ? 10 : 0);
		ck_assert_uint_eq(arg.refresh, control->nrictrs);
		ck_assert_uint_eq(arg.refused, PERFCTR_NO_INDEX);
		for (i = 0; i < arg.nractrs + arg.nrictrs; i++) {
			struct perfctr_ctr_control want = control->ctr[i];

			if (want.map == ANY)
				want.map = arg.ctr[i].map;
			ck_assert_msg(!memcmp(&arg.ctr[i], &want, sizeof(want)), "control %d, counter %u",
				      (int)(control - controls), i);
		}
	}
	for (which = PERFCTR_CPUS_ALL; which <= PERFCTR_CPUS_FORBIDDEN; which++) {
		struct perfctr_cpus cpus = {
			.size = sizeof(cpus), .which = which, .nrwords = 1, .mask = (uintptr_t)&mask,
		};

		mask = ~0u;
		ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_CPUS, &cpus), 0);
		ck_assert_uint_eq(mask, which == PERFCTR_CPUS_ALL ? shim_online : 0);
	}
	engine_end();
}
END_TEST

/* What this processor has not, or perf cannot give; nothing is changed. */
START_TEST(controls_that_are_refused)
{
	struct perfctr_control arg = { PERFCTR_CONTROL_INIT, .nractrs = 2, .source = NATIVE };
	struct thread *thread;

	seed = 1;
	engine_begin();
	thread = begin_thread(0);
	run_on(0, thread);
	set_control(thread, &controls[0], NULL, true, 0, 0);
	memcpy(arg.ctr, controls[1].ctr, sizeof(controls[1].ctr));
	if (!perfctr_cpu_more_config()) {
		arg.ctr[1].config1 = 1;
		ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_CONTROL, &arg), -EINVAL);
		ck_assert_uint_eq(arg.refused, 1);
		arg.ctr[1].config1 = 0;
	}
	arg.flags = PERFCTR_CONTROL_RAW;
	if (!perfctr_cpu_permits_threads()) {
		ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_CONTROL, &arg), -EOPNOTSUPP);
		ck_assert_uint_eq(arg.reason, PERFCTR_REASON_NONE);
	}
	arg.source = SHARED;
	ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_CONTROL, &arg), -EOPNOTSUPP);
	ck_assert_uint_eq(arg.reason, PERFCTR_REASON_SOURCE);
	run_on(0, thread);
	expect_sums(thread);
	engine_end();
}
END_TEST

/*
 * While a tree is read, by another thread than the root's, a member ends: one that was added
 * already, one that runs and is asked, or one that is not added yet. Or the one that is asked
 * leaves its CPU, and the reader may have a signal. Either the sum is that of all, or the signal is
 * served first.
 */
enum meanwhile { ADDED_ENDS, ASKED_ENDS, OTHER_ENDS, ASKED_LEAVES, SIGNALLED, MEANWHILE };

/* Before that one is asked, and after */
#define POINTS 2

static struct {
	struct thread *member[3];
	enum meanwhile what;
	unsigned int point;
} meanwhile;

static void happen(void)
{
	unsigned int reader = shim_cpu;

	if (shim_irqs_off || meanwhile.point--)
		return;
	shim_at_point = NULL;
	to_cpu(1);
	if (meanwhile.what >= ASKED_LEAVES) {
		switch_to(&idle[1]);
	} else {
		switch_to(meanwhile.member[meanwhile.what]);
		do_exit(meanwhile.member[meanwhile.what]);
	}
	to_cpu(reader);
	if (meanwhile.what == SIGNALLED)
		shim_signal_after = (int)shim_waits++;
}

START_TEST(a_tree_changes_while_it_is_read)
{
	const struct control *control = &controls[1];
	struct perfctr_read_tree read = {
		.size = sizeof(read), .which = PERFCTR_TREE_LIVE | PERFCTR_TREE_ENDED,
	};
	struct thread *root;
	u64 sum[2] = {};
	unsigned int i;
	long err;

	seed = _i % 2 ? 12 : 48;
	nobody_calls = true;
	engine_begin();
	root = begin_thread(0);
	run_on(0, root);
	set_control(root, control, tree_new(), true, 0, 0);
	return_to_user();
	meanwhile.what = (enum meanwhile)(_i / 2 % MEANWHILE);
	meanwhile.point = (unsigned int)_i / 2 / MEANWHILE;
	for (i = 0; i < 3; i++)
		meanwhile.member[i] = make_child(root, 4);
	for (i = 0; i < 3; i++)
		run_on(1, meanwhile.member[2 * i % 3]);
	for (i = 0; i < 3; i++) {
		sum[0] += count_of(control, &meanwhile.member[i]->seen, 0);
		sum[1] += count_of(control, &meanwhile.member[i]->seen, 1);
	}
	to_cpu(2);
	shim_at_point = happen;
	err = engine_ioctl(root->handle, PERFCTR_IOC_READ_TREE, &read);
	ck_assert_ptr_null(shim_at_point);
	shim_signal_after = -1;
	if (meanwhile.what != SIGNALLED || _i / 2 / MEANWHILE)
		ck_assert_int_eq(err, 0);
	else
		ck_assert_int_eq(err, -ERESTARTSYS);
	for (i = 0; i < 2; i++) {
		ck_assert(err || (read.sum[0] == sum[0] && read.sum[1] == sum[1]));
		ck_assert(err || read.live + read.ended == 3);
		err = engine_ioctl(root->handle, PERFCTR_IOC_READ_TREE, &read);
		ck_assert_int_eq(err, 0);
	}
	engine_end();
}
END_TEST

#ifdef CONFIG_X86
/* ANY takes the source that is in use, and our own registers if none is. */
START_TEST(any_takes_what_is_in_use)
{
	const struct control *any = &shared_controls[4];
	struct thread *thread, *other;

	seed = _i ? 12 : 48;
	engine_begin();
	thread = begin_shared(&shared_controls[1]);
	other = begin_shared(any);
	expect_counts_on(0, other);
	expect_counts_on(1, thread);
	to_cpu(0);
	switch_to(thread);
	do_unlink(thread);
	switch_to(other);
	do_unlink(other);
	set_control(other, any, NULL, true, 0, 0);
	ck_assert(!is_shared(other));
	ck_assert(other->control && other->control->source == PERFCTR_SOURCE_ANY);
	switch_to(&idle[0]);
	expect_counts_on(1, other);
	/* And so the other one is refused. */
	to_cpu(0);
	switch_to(thread);
	set_control(thread, &shared_controls[1], NULL, true, 0, 0);
	ck_assert_uint_eq(nr.refused, 1);
	expect_counts_on(0, other);
	engine_end();
}
END_TEST
#endif

#ifdef CONFIG_X86
/*
 * Somebody else writes to registers of CPU 0 while a thread counts there. Whoever counts by them
 * has an error that says so, by the next switch, tick or end of counting, and no sooner.
 */
enum notice { BY_THE_TIMER, AT_THE_NEXT_SWITCH, AT_UNLINK, AT_SUSPEND, AT_EXIT, AT_PRESERVE,
	      NOTICES };

START_TEST(registers_are_changed)
{
	struct perfctr_control again = { PERFCTR_CONTROL_INIT, .nractrs = 1, .preserve = 1 };
	struct thread *thread, *sleeper, *clock;
	struct perfctr_read read = { .size = sizeof(read) };
	struct handle *handle;

	seed = 1;
	engine_begin();
	thread = begin_thread(0);
	sleeper = begin_thread(0);
	clock = begin_thread(0);
	run_on(1, clock);
	set_control(clock, &controls[5], NULL, true, 0, 0);
	run_on(0, sleeper);
	set_control(sleeper, &controls[0], NULL, true, 0, 0);
	run_on(0, thread);
	set_control(thread, &controls[0], NULL, true, 0, 0);
	run_on(0, thread);
	handle = thread->handle;
	shim_jiffies++;
	ck_assert_uint_eq(shim_timers(0), 1);
	expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
	model_set_msr(0, model_global_ctrl(), 0);
	shim_jiffies++;
	switch (_i) {
	case BY_THE_TIMER:
		ck_assert_uint_eq(shim_timers(0), 1);
		expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
		to_cpu(1);
		shim_work(false);
		to_cpu(0);
		expect_error_and_sums(thread, PERFCTR_ERROR_CHANGED);
		break;
	case AT_THE_NEXT_SWITCH:
		/* The work that evicts comes later; until then it may be handed on to its kin. */
		ck_assert_uint_eq(shim_timers(0), 1);
		switch_to(&idle[0]);
		switch_to(sleeper);
		expect_error_and_sums(sleeper, PERFCTR_ERROR_CHANGED);
		switch_to(thread);
		expect_error_and_sums(thread, PERFCTR_ERROR_CHANGED);
		break;
	case AT_UNLINK:
		ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_UNLINK, NULL), 0);
		break;
	case AT_SUSPEND:
		ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_SUSPEND, NULL), 0);
		expect_error_and_sums(thread, PERFCTR_ERROR_CHANGED);
		break;
	case AT_EXIT:
		do_exit(thread);
		break;
	default:
		again.ctr[0] = controls[0].ctr[0];
		again.source = NATIVE;
		ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_CONTROL, &again), -EIO);
		expect_error_and_sums(thread, PERFCTR_ERROR_CHANGED);
		break;
	}
	ck_assert_int_eq(engine_ioctl(handle, PERFCTR_IOC_READ, &read), -EIO);
	ck_assert_uint_eq(read.error, PERFCTR_ERROR_CHANGED);
	/* Then for whoever has the same counters, wherever; and for nobody without counters. */
	shim_work(false);
	to_cpu(1);
	switch_to(sleeper);
	expect_error_and_sums(sleeper, PERFCTR_ERROR_CHANGED);
	run_on(1, clock);
	expect_error_and_sums(clock, PERFCTR_ERROR_NONE);
	/* The next control takes them anew. */
	switch_to(sleeper);
	set_control(sleeper, &controls[0], NULL, true, 0, 0);
	expect_counts_on(1, sleeper);
	expect_counts_on(0, sleeper);
	engine_end();
}
END_TEST

/*
 * A Pentium 4's second hyperthreads count nothing: whoever is to count natively is kept off them, and stays
 * so. If the control comes to nothing it may run where it could before. Who comes there all the same is lost, with
 * SIGILL.
 */
static long control_on_p4(struct thread *thread, u32 nractrs)
{
	struct perfctr_control arg = {
		PERFCTR_CONTROL_INIT,
		.tsc_on = 1, .nractrs = nractrs, .source = NATIVE,
		/* Instructions */
		.ctr[0] = { .map = 17, .event = P4_CCCR(4), .config = P4_ESCR(2, 1), .flags = USER },
	};

	return engine_ioctl(thread->handle, PERFCTR_IOC_CONTROL, &arg);
}

static void expect_on_p4(const struct thread *thread, u32 error)
{
	struct perfctr_read read = { .size = sizeof(read) };

	ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_READ, &read), error ? -EIO : 0);
	ck_assert_uint_eq(read.error, error);
	ck_assert_uint_eq(read.sum[0], 1000);
}

START_TEST(kept_off_hyperthreads)
{
	struct perfctr_open open = {
		.size = sizeof(open), .flags = PERFCTR_OPEN_CREAT | PERFCTR_OPEN_THREAD,
	};
	struct thread *thread, *tracee;
	unsigned long everywhere, firsts;
	unsigned int n, time;
	long err;

	seed = _i ? 12 : 48;
	hyperthreads = true;
	engine_begin();
	ck_assert(perfctr_cpu_is_forbidden(1) && !perfctr_cpu_is_forbidden(2));
	thread = begin_thread(0);
	everywhere = thread->task.cpus_mask.bits;
	firsts = everywhere & ~BIT(1);
	run_on(0, thread);
	/* The clock counts everywhere. */
	set_control(thread, &controls[5], NULL, true, 0, 0);
	ck_assert_uint_eq(thread->task.cpus_mask.bits, everywhere);
	/* The first time asks what is known the second time: points move. */
	for (time = 0; time < 2; time++) {
		thread->task.cpus_mask.bits = everywhere;
		ck_assert_int_eq(control_on_p4(thread, 0), 0);
		for (n = 1;; n++) {
			shim_work(true);
			shim_fail_nth = n;
			err = control_on_p4(thread, 1);
			if (shim_fail_nth)
				break;
			ck_assert_msg(err == -ENOMEM || err == -EFAULT, "%ld at point %u", err, n);
			ck_assert_uint_eq(thread->task.cpus_mask.bits, everywhere);
		}
		shim_fail_nth = 0;
		ck_assert_int_eq(err, 0);
		ck_assert_uint_eq(thread->task.cpus_mask.bits, firsts);
	}
	ck_assert_int_eq(control_on_p4(thread, 1), 0);
	ck_assert_uint_eq(thread->task.cpus_mask.bits, firsts);
	return_to_user();
	model_execute(MODEL_USER, 1000);
	expect_on_p4(thread, PERFCTR_ERROR_NONE);
	/* It is sent there. */
	switch_to(&idle[0]);
	to_cpu(1);
	switch_to(thread);
	return_to_user();
	ck_assert_uint_eq(shim_ills, 1);
	model_execute(MODEL_USER, 500);
	expect_on_p4(thread, PERFCTR_ERROR_LOST);
	/* It may run nowhere else, or wants the clock alone. */
	thread->task.cpus_mask.bits = BIT(1);
	ck_assert_int_eq(control_on_p4(thread, 1), -EINVAL);
	ck_assert_int_eq(control_on_p4(thread, 0), 0);
	ck_assert_uint_eq(thread->task.cpus_mask.bits, BIT(1));
	/* A tracee, which still has a CPU as its tracer is killed */
	tracee = begin_thread(0);
	tracee->handle = kzalloc(sizeof(*tracee->handle), GFP_KERNEL);
	tracee->handle->refs = 1;
	open.tid = tracee->task.pid->nr;
	trace(tracee);
	ck_assert_int_eq(engine_ioctl(tracee->handle, PERFCTR_IOC_OPEN, &open), 0);
	tracee->task.on_cpu = 1;
	shim_killed = true;
	ck_assert_int_eq(control_on_p4(tracee, 1), -EINTR);
	ck_assert_uint_eq(tracee->task.cpus_mask.bits, everywhere);
	tracee->task.on_cpu = 0;
	shim_killed = false;
	ck_assert_int_eq(control_on_p4(tracee, 1), 0);
	ck_assert_uint_eq(tracee->task.cpus_mask.bits, firsts);
	untrace(tracee);
	to_cpu(2);
	switch_to(tracee);
	return_to_user();
	model_execute(MODEL_USER, 1000);
	expect_on_p4(tracee, PERFCTR_ERROR_NONE);
	engine_end();
}
END_TEST

static const char *const policies[] = { "off", "guarded", "open" };

/*
 * AMD's amd_uncore comes, whose counters RDPMC reads too: under "guarded" nobody may execute it any
 * more as that begins, and nobody dies of it. "open" is root's word.
 */
START_TEST(counters_of_others_come)
{
	unsigned int from = (unsigned int)_i, left;
	struct thread *thread;

	seed = 20;
	counters_outside = true;
	engine_begin();
	ck_assert(model_is_amd());
	perfctr_user_read_asked = from;
	perfctr_policy_changed();
	thread = begin_thread(0);
	to_cpu(0);
	switch_to(thread);
	set_control(thread, &controls[0], NULL, true, 0, 0);
	do_map(thread);
	run_on(0, thread);
	ck_assert_uint_eq(perfctr_user_read, from);
	ck_assert_msg(model_pce[0] == (from != PERFCTR_USER_READ_OFF), "%s", policies[from]);
	model_module_comes("amd_uncore");
	look();
	left = from == PERFCTR_USER_READ_OPEN ? PERFCTR_USER_READ_OPEN : PERFCTR_USER_READ_OFF;
	ck_assert_uint_eq(perfctr_user_read, left);
	ck_assert_msg(model_pce[0] == (left == PERFCTR_USER_READ_OPEN), "%s", policies[from]);
	run_on(0, thread);
	/* It stays so, whatever is asked, but for "open". */
	perfctr_user_read_asked = PERFCTR_USER_READ_GUARDED;
	perfctr_policy_changed();
	look();
	ck_assert_uint_eq(perfctr_user_read, PERFCTR_USER_READ_OFF);
	run_on(0, thread);
	perfctr_user_read_asked = PERFCTR_USER_READ_OPEN;
	perfctr_policy_changed();
	look();
	run_on(0, thread);
	ck_assert(model_pce[0]);
	engine_end();
}
END_TEST
#endif

void test_scenes(void)
{
#ifdef CONFIG_X86
	unit_run(registers_are_changed, NOTICES);
	UNIT_ROWS(counters_of_others_come, policies);
	unit_run(kept_off_hyperthreads, 2);
#endif
	unit_run(a_loss_is_noticed, MOMENTS);
	UNIT_RUN(shared_counters_are_handed_over);
#if MACHINE_OTHERS_INTERRUPT
	unit_run(interrupted_before_it_comes_in, 2);
#endif
	UNIT_RUN(shared_on_a_cpu_that_goes);
	UNIT_RUN(shared_is_evicted);
#ifdef CONFIG_RISCV
	unit_run(the_firmware_starts_nothing, 2 * ARRAY_SIZE(refusals));
	unit_run(evicted_while_it_reads, 2);
#endif
	UNIT_RUN(what_was_given_is_told);
	UNIT_RUN(controls_that_are_refused);
	unit_run(a_tree_changes_while_it_is_read, 2 * MEANWHILE * POINTS);
#ifdef CONFIG_X86
	unit_run(any_takes_what_is_in_use, 2);
#endif
	UNIT_RUN(a_config_ends_under_a_reader);
	UNIT_RUN(a_tree_dies_under_a_reader);
	unit_run(a_tree_dies_with_an_overflow, 4 * UNTOLD);
	UNIT_RUN(an_ended_member_has_no_spare);
	unit_run(too_many_samples, 2);
	unit_run(a_child_inside, 2);
	unit_run(the_policy_changes_under_a_sleeper, 18);
}
