// SPDX-License-Identifier: GPL-2.0
/*
 * ADD_MEMBER of a thread that is in the kernel, and does not return to user mode before it forks,
 * execs, ends, or calls OPEN: it was stopped at the entry of that call, say, by its tracer. All but
 * the end attach its state, and so nothing of what comes then is missed.
 */
#include "engine/world.h"
#include "unit.h"

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

void test_invited(void)
{
	unit_run(a_fork_attaches, 12);
	unit_run(an_exec_attaches, 8);
	unit_run(open_attaches, 8);
	unit_run(too_late, 8);
	unit_run(invited_again, 4);
	unit_run(invited_by_the_next_tree, 8);
}
