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
#include "engine/scenes.h"

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

struct thread *begin_shared(const struct control *control)
{
	struct thread *thread = begin_thread(0);

	run_on(0, thread);
	set_control(thread, control, NULL, true, 0, 0);
	ck_assert(state_of(thread)->config->shared);
	let_run(thread, MODEL_USER, 5000);
	switch_to(&idle[0]);
	return thread;
}

void expect_error_and_sums(struct thread *thread, u32 error)
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

void expect_counts_on(unsigned int cpu, struct thread *thread)
{
	to_cpu(cpu);
	switch_to(thread);
	let_run(thread, MODEL_USER, 2000);
	let_run(thread, MODEL_KERNEL, 200);
	expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
	switch_to(&idle[cpu]);
	expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
}

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

void test_scenes(void)
{
	test_scenes_taken();
	test_scenes_shared();
	UNIT_RUN(what_was_given_is_told);
	UNIT_RUN(controls_that_are_refused);
	unit_run(a_tree_changes_while_it_is_read, 2 * MEANWHILE * POINTS);
	UNIT_RUN(a_config_ends_under_a_reader);
	UNIT_RUN(a_tree_dies_under_a_reader);
	unit_run(a_tree_dies_with_an_overflow, 4 * UNTOLD);
	UNIT_RUN(an_ended_member_has_no_spare);
	unit_run(too_many_samples, 2);
	unit_run(a_child_inside, 2);
	unit_run(the_policy_changes_under_a_sleeper, 18);
}
