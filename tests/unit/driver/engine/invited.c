// SPDX-License-Identifier: GPL-2.0
/*
 * ADD_MEMBER of a thread that is in the kernel, and does not return to user mode before it forks,
 * execs, ends, or calls OPEN: it was stopped at the entry of that call, say, by its tracer. All but
 * the end attach its state, and so nothing of what comes then is missed.
 */
#include "engine/world.h"
#include "unit.h"
#include "thread/notify.h"

static struct thread *root, *member;
static struct tree *tree;

/* @seed: 12 and 28 see switches by the tracepoint, 48 and 16 by notifiers. */
static void begin(unsigned int row, u32 flags)
{
	static const unsigned int seeds[] = { 12, 48, 28, 16 };

	seed = seeds[row % ARRAY_SIZE(seeds)];
	engine_begin();
	root = begin_thread(0);
	tree = tree_new();
	run_on(0, root);
	set_control(root, &controls[1], tree, true, 0, flags);
	run_on(0, root);
	member = begin_thread(0);
	add_member(root, member);
	to_cpu(1);
	switch_to(member);
	ck_assert(!state_of(member) && member->invited);
}

static void expect_all(void)
{
	struct perfctr_read_tree read = { .size = sizeof(read), .which = PERFCTR_TREE_LIVE };
	unsigned int i;

	to_cpu(0);
	expect_states();
	/* Of what, and whether by READ or read(), is drawn. */
	for (i = 0; i < 8; i++)
		expect_tree(tree, tree->handle);
	expect_sums(member);
	expect_sums(root);
	ck_assert_int_eq(engine_ioctl(tree->handle, PERFCTR_IOC_READ_TREE, &read), 0);
	ck_assert_uint_eq(read.missed, 0);
	ck_assert_uint_eq(read.error, PERFCTR_ERROR_NONE);
}

/* As a process, by vfork, as a thread; and after that once more */
START_TEST(a_fork_attaches)
{
	static const unsigned int ways[] = { 0, 3, 4 };
	struct thread *child, *second;

	begin((unsigned int)_i, _i % 2 ? PERFCTR_CONTROL_RECORD : 0);
	child = make_child(member, ways[_i / 4]);
	ck_assert(state_of(member) && state_of(child));
	ck_assert(state_of(child)->tree == state_of(root)->tree);
	run_on(2, child);
	if (!member->vfork_child) {
		run_on(1, member);
		second = make_child(member, 4);
		run_on(0, second);
	}
	expect_all();
	engine_end();
}
END_TEST

/* The program that comes is counted, or nothing with CLOEXEC. */
START_TEST(an_exec_attaches)
{
	bool cloexec = _i / 4;

	begin((unsigned int)_i, cloexec ? PERFCTR_CONTROL_CLOEXEC : PERFCTR_CONTROL_RECORD);
	do_exec(member);
	ck_assert(!state_of(member) == cloexec);
	run_on(1, member);
	expect_all();
	engine_end();
}
END_TEST

/* OPEN finds the member, also without CREAT, which would give it another state. */
START_TEST(open_attaches)
{
	struct perfctr_open open = {
		.size = sizeof(open), .flags = _i / 4 ? PERFCTR_OPEN_CREAT : 0,
	};

	begin((unsigned int)_i, 0);
	member->handle = kzalloc(sizeof(*member->handle), GFP_KERNEL);
	member->handle->refs = 1;
	ck_assert_int_eq(engine_ioctl(member->handle, PERFCTR_IOC_OPEN, &open), 0);
	ck_assert(state_of(member) && state_of(member)->tree == state_of(root)->tree);
	run_on(1, member);
	expect_all();
	engine_end();
}
END_TEST

/* It ends, or the tree has died: nothing is attached, and nobody inherits. */
START_TEST(too_late)
{
	struct thread *child;

	begin((unsigned int)_i, 0);
	if (_i / 4 == 0) {
		do_exit(member);
		run_on(0, root);
		expect_tree(tree, tree->handle);
	} else {
		to_cpu(0);
		set_control(root, &controls[0], NULL, true, 0, 0);
		to_cpu(1);
		child = make_child(member, 0);
		ck_assert(!state_of(member) && !state_of(child));
		run_on(1, member);
		ck_assert(!state_of(member));
	}
	engine_end();
}
END_TEST

/* The tree has died, and another one invites it: that is the one that counts. */
START_TEST(invited_again)
{
	begin((unsigned int)_i, 0);
	to_cpu(0);
	tree = tree_new();
	set_control(root, &controls[0], tree, true, 0, 0);
	add_member(root, member);
	to_cpu(1);
	run_on(2, make_child(member, 0));
	run_on(1, member);
	ck_assert(state_of(member)->tree == state_of(root)->tree);
	expect_all();
	engine_end();
}
END_TEST

/*
 * It is a member of a tree that has died, which it does not know yet, and another one invites it:
 * its own state gives way, as it forks or as it returns to user mode.
 */
START_TEST(invited_by_the_next_tree)
{
	begin((unsigned int)_i, 0);
	run_on(1, member);
	ck_assert(state_of(member));
	to_cpu(0);
	tree = tree_new();
	set_control(root, &controls[0], tree, true, 0, 0);
	add_member(root, member);
	to_cpu(1);
	if (_i / 4)
		run_on(2, make_child(member, 0));
	run_on(1, member);
	ck_assert(state_of(member)->tree == state_of(root)->tree);
	expect_all();
	engine_end();
}
END_TEST

/*
 * A tracee in the middle of its stop still has a CPU, or waits for one: its tracer waits for it, or is
 * killed. One that is in no stop is refused.
 */
enum stop { HAS_A_CPU, IS_QUEUED, TRACER_KILLED, NO_STOP, STOPS };

static unsigned int waits;

static void stops_now(void)
{
	if (++waits < 3)
		return;
	member->task.on_cpu = 0;
	member->task.on_rq = 0;
}

START_TEST(in_the_middle_of_its_stop)
{
	struct perfctr_open open = {
		.size = sizeof(open), .flags = PERFCTR_OPEN_CREAT | PERFCTR_OPEN_THREAD,
	};
	struct perfctr_control stop = { PERFCTR_CONTROL_INIT };
	enum stop how = (enum stop)(_i / 2);

	seed = _i % 2 ? 12 : 48;
	engine_begin();
	run_on(0, begin_thread(0));
	member = begin_thread(0);
	member->handle = kzalloc(sizeof(*member->handle), GFP_KERNEL);
	member->handle->refs = 1;
	open.tid = member->task.pid->nr;
	ck_assert_int_eq(engine_ioctl(member->handle, PERFCTR_IOC_OPEN, &open), -EPERM);
	trace(member);
	ck_assert_int_eq(engine_ioctl(member->handle, PERFCTR_IOC_OPEN, &open), 0);
	set_control(member, &controls[0], NULL, true, 0, 0);
	shim_while_waiting = stops_now;
	if (how == IS_QUEUED)
		member->task.on_rq = 1;
	else
		member->task.on_cpu = 1;
	if (how == TRACER_KILLED) {
		shim_killed = true;
		ck_assert_int_eq(engine_ioctl(member->handle, PERFCTR_IOC_CONTROL, &stop), -EINTR);
		shim_killed = false;
	} else if (how == NO_STOP) {
		member->task.__state = TASK_RUNNING;
		ck_assert_int_eq(engine_ioctl(member->handle, PERFCTR_IOC_CONTROL, &stop), -ESRCH);
	} else {
		set_control(member, &controls[1], NULL, true, 0, 0);
	}
	ck_assert_uint_eq(waits, how < TRACER_KILLED ? 3 : 0);
	ck_assert(!member->task.pi_lock.held && !shim_irqs_off);
	untrace(member);
	run_on(1, member);
	expect_sums(member);
	engine_end();
}
END_TEST

static long add(struct thread *to)
{
	struct perfctr_add_member arg = { .size = sizeof(arg), .tid = member->task.pid->nr };

	return engine_ioctl(to->handle, PERFCTR_IOC_ADD_MEMBER, &arg);
}

/*
 * A member that runs on another CPU is added again, to its tree or another: the tracer has to
 * interrupt that CPU, unless switches are seen by the tracepoint. So it is charged, and waits.
 */
START_TEST(a_member_that_runs)
{
	struct thread *other;
	unsigned int i;
	u64 before;

	begin((unsigned int)_i, 0);
	run_on(1, member);
	other = begin_thread(0);
	run_on(2, other);
	set_control(other, &controls[0], tree_new(), true, 0, 0);
	trace(member);
	ck_assert_int_eq(add(other), -EBUSY);
	to_cpu(0);
	trace(member);
	before = shim_now;
	ck_assert_int_eq(add(root), -EEXIST);
	ck_assert_uint_eq(shim_now, before);
	shim_set_param("broadcasts", 2);
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(add(root), -EEXIST);
	ck_assert_int_eq(shim_now > before, !perfctr_by_tracepoint());
	shim_signal_after = 0;
	ck_assert_int_eq(add(root), perfctr_by_tracepoint() ? -EEXIST : -ERESTARTSYS);
	shim_signal_after = -1;
	untrace(member);
	shim_set_param("broadcasts", 0);
	run_on(1, member);
	expect_all();
	engine_end();
}
END_TEST

/* It ends after it was found, and before its work is queued: the tree has no such member. */
START_TEST(ends_before_it_is_invited)
{
	struct perfctr_read_tree read = { .size = sizeof(read), .which = PERFCTR_TREE_LIVE };
	int refs;

	begin((unsigned int)_i, _i / 4 ? PERFCTR_CONTROL_RECORD : 0);
	run_on(1, member);
	member = begin_thread(0);
	to_cpu(0);
	refs = shim_module_refs;
	trace(member);
	shim_no_work = true;
	ck_assert_int_eq(add(root), -ESRCH);
	shim_no_work = false;
	ck_assert_int_eq(shim_module_refs, refs);
	ck_assert_int_eq(engine_ioctl(tree->handle, PERFCTR_IOC_READ_TREE, &read), 0);
	ck_assert_uint_eq(read.live, 1);
	ck_assert_uint_eq(read.ended, 1);
	ck_assert_int_eq(add(root), 0);
	untrace(member);
	member->tree = tree;
	member->invited = true;
	tree->nr_ended = 1;
	run_on(1, member);
	expect_all();
	engine_end();
}
END_TEST

/* It waits for its CPU, and nobody may look at its notifiers, until it sleeps or runs. */
static void goes_on(void)
{
	if (++waits != 4)
		return;
	if (seed & 16) {
		to_cpu(1);
		switch_to(member);
		to_cpu(0);
	} else {
		member->task.__state = TASK_INTERRUPTIBLE;
		member->task.on_rq = 0;
	}
}

START_TEST(a_member_that_waits)
{
	begin((unsigned int)_i, 0);
	nobody_calls = true;
	run_on(1, member);
	switch_to(&idle[1]);
	to_cpu(0);
	trace(member);
	member->task.__state = _i / 4 ? TASK_WAKING : TASK_RUNNING;
	member->task.on_rq = !(_i / 4);
	shim_while_waiting = goes_on;
	shim_killed = true;
	ck_assert_int_eq(add(root), perfctr_by_tracepoint() ? -EEXIST : -EINTR);
	shim_killed = false;
	ck_assert_int_eq(add(root), -EEXIST);
	ck_assert_uint_eq(waits, perfctr_by_tracepoint() ? 0 : 4);
	untrace(member);
	run_on(1, member);
	expect_all();
	engine_end();
}
END_TEST

void test_invited(void)
{
	unit_run(a_fork_attaches, 12);
	unit_run(an_exec_attaches, 8);
	unit_run(open_attaches, 8);
	unit_run(too_late, 8);
	unit_run(invited_again, 4);
	unit_run(invited_by_the_next_tree, 8);
	unit_run(in_the_middle_of_its_stop, 2 * STOPS);
	unit_run(ends_before_it_is_invited, 8);
	unit_run(a_member_that_runs, 4);
	unit_run(a_member_that_waits, 8);
}
