// SPDX-License-Identifier: GPL-2.0
/* Trees: members that live, members that are kept, and how long they keep others waiting. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/inherit.h"

START_TEST(members_one_by_one)
{
	int fd = count_tree(EV_INSTRUCTIONS, 0);
	struct children children = children_start(8, false);
	struct perfctr_member member = { .cursor = 0 };
	uint64_t sum = 0, cursor = 0;
	struct perfctr_read_tree live;
	unsigned int n = 0;
	char name[16];

	ck_ok(prctl(PR_GET_NAME, name));
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	live = read_tree(fd, PERFCTR_TREE_LIVE);
	while (!next_member(fd, &member)) {
		ck_assert_uint_gt(member.cursor, cursor);
		cursor = member.cursor;
		ck_assert_uint_eq(member.flags, PERFCTR_MEMBER_LIVE);
		ck_assert_int_eq(member.tid, children.pid[n]);
		ck_assert_int_eq(member.tgid, children.pid[n]);
		ck_assert_str_eq(member.comm, name);
		ck_assert_uint_eq(member.nrctrs, 1);
		sum += member.sum[0];
		n++;
	}
	ck_assert_uint_eq(n, 8);
	ck_assert_uint_eq(live.live, 8);
	ck_assert_uint_eq(live.sum[0], sum);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	children_end(&children);
	/* Without KEEP a member that has ended is gone. */
	member.cursor = 0;
	ck_assert_int_eq(next_member(fd, &member), -ENOENT);
}
END_TEST

START_TEST(kept_members)
{
	int fd = count_tree(EV_INSTRUCTIONS, PERFCTR_CONTROL_KEEP);
	struct perfctr_member member = { .cursor = 0 };
	unsigned int n = 0;
	uint64_t sum = 0;
	pid_t child;

	for (n = 0; n < 20; n++) {
		ck_ok(child = fork());
		if (!child) {
			char name[16];

			(void)snprintf(name, sizeof(name), "child-%u", n);
			prctl(PR_SET_NAME, name);
			body_spin(LOOPS * (n + 1));
			_exit(0);
		}
		expect_exit(child, 0);
	}
	for (n = 0; !next_member(fd, &member); n++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "child-%u", n);
		ck_assert_str_eq(member.comm, name);
		ck_assert_uint_eq(member.flags, 0);
		ck_assert_uint_gt(member.sum[0], BODY_SPIN(LOOPS * (n + 1)));
		ck_assert_uint_lt(member.sum[0], BODY_SPIN(LOOPS * (n + 1)) + 20000);
		sum += member.sum[0];
	}
	ck_assert_uint_eq(n, 20);
	ck_assert_uint_eq(read_tree(fd, PERFCTR_TREE_ENDED).sum[0], sum);
}
END_TEST

/*
 * How late does a thread of the highest priority wake up while another one makes calls that
 * go through a tree? For so long interrupts, or switches, were off.
 */
struct lateness {
	volatile uint64_t worst;
	volatile bool end;
};

static void *wake_up_often(void *arg)
{
	struct lateness *lateness = arg;

	make_realtime();
	while (!lateness->end) {
		uint64_t due = now_ns() + 100000, late;
		struct timespec next = {
			.tv_sec = (time_t)(due / 1000000000),
			.tv_nsec = (long)(due % 1000000000),
		};

		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL))
			continue;
		late = now_ns() - due;
		if (late > lateness->worst)
			lateness->worst = late;
	}
	return NULL;
}

/*
 * The ends of thousands of processes leave RCU as many callbacks. It runs them as a tick
 * ends, ten at a time, in whatever thread is there: they were seen to take 147 us of the
 * realtime thread. A barrier waits for the callbacks that are queued, but not for those that
 * they queue: after one barrier 3 to 14 such tens are left, after three none. Kernels before
 * 6.2 have nothing to wait by.
 */
static void await_rcu(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (write_text("/sys/module/rcutree/parameters/do_rcu_barrier", "1"))
			sleep_us(500000);
	sleep_us(10000);
}

/* In a tree where @kept and @living members have ended and are kept, and @living others sleep */
static uint64_t lateness_of_tree(unsigned int kept, unsigned int living)
{
	struct perfctr_member member = { .cursor = ~0ull };
	int fd = count_tree(EV_INSTRUCTIONS, PERFCTR_CONTROL_KEEP);
	struct lateness lateness = { 0 };
	struct perfctr_control none;
	struct perfctr_read_tree tree;
	pthread_t thread;
	unsigned int i;
	int gate[2];
	pid_t child;
	char byte;

	ck_ok(pipe(gate));
	for (i = 0; i < kept + living; i++) {
		child = vfork();	/* NOLINT(*vfork,bugprone-unsafe-functions) */
		if (!child)
			_exit(0);
		ck_ok(child);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		if (i < kept)
			continue;
		ck_ok(child = fork());
		if (!child) {
			close(gate[1]);
			_exit(read(gate[0], &byte, 1) != 0);
		}
	}
	pin_self(0);
	await_rcu();
	ck_assert_int_eq(pthread_create(&thread, NULL, wake_up_often, &lateness), 0);
	sleep_us(2000);
	lateness.worst = 0;
	ck_assert_int_eq(next_member(fd, &member), -ENOENT);
	tree = read_tree(fd, ALL);
	ck_assert_uint_eq(tree.ended, kept + living);
	ck_assert_uint_eq(tree.live, living + 1);	/* the thread is one */
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	control_init(&none);
	set_control(fd, &none);
	sleep_us(1000);
	lateness.end = true;
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	close(gate[0]);
	close(gate[1]);
	while (waitpid(-1, NULL, 0) > 0)
		continue;
	close(fd);
	unlink_self(open_self());
	return lateness.worst;
}

/*
 * The kernel's page allocator itself gives up to thousands of pages back in one go, with
 * interrupts off, when as many were freed one after another: 229 us were seen on x86.
 */
#define PAGES_AT_ONCE "/proc/sys/vm/percpu_pagelist_high_fraction"

START_TEST(long_trees_hold_nobody_up)
{
	/* A kernel that checks itself takes a minute for a thousand, and looks at all it does. */
	bool slow = getenv("SLOW_KERNEL");
	unsigned int many = slow ? 300 : 10000;
	/*
	 * There a soft interrupt runs a hundred of RCU's callbacks in a row. On PowerPC that is
	 * 1.7 ms, with 80 members as with 1280, and on x86 up to 2.3; less than one if it runs them
	 * one by one (rcutree.blimit).
	 */
	uint64_t least, kept, living, more = is_ppc() || is_x86() ? 3000000 : 1000000;

	if (!slow)
		more = 50000;
	ck_assert_int_eq(write_text(PAGES_AT_ONCE, "100000"), 0);
	least = lateness_of_tree(10, 0);
	kept = lateness_of_tree(many, 0);
	living = lateness_of_tree(10, 300);
	ck_assert_int_eq(write_text(PAGES_AT_ONCE, "0"), 0);
	ck_assert_msg(kept < least + more && living < least + more,
		      "%" PRIu64 " ns late with 10 kept, %" PRIu64 " with %u; %" PRIu64
		      " with 300 that live", least, kept, many, living);
}
END_TEST

/* A descendant may open and read its own state, but not control it. */
static void *look_at_own(void *arg)
{
	struct perfctr_control control;
	int *err = arg, fd = try_open(0);
	uint64_t words[2][2];

	if (fd < 0) {
		*err = fd;
		return NULL;
	}
	control_init(&control);
	control_add(&control, EV_CYCLES);
	*err = 1;
	if (ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0 || errno != EBUSY)
		return NULL;
	*err = 2;
	if (ioctl(fd, PERFCTR_IOC_UNLINK) == 0 || errno != EBUSY)
		return NULL;
	*err = 3;
	if (control.owner != PERFCTR_OWNER_HOLDER || control.refused != PERFCTR_NO_INDEX)
		return NULL;
	*err = 4;
	if (exact_read(fd, words[0], sizeof(words[0]), body_spin, LOOPS) != sizeof(words[0]))
		return NULL;
	*err = 5;
	if (words[1][1] - words[0][1] == EXACT_KERNEL + BODY_SPIN(LOOPS))
		*err = 0;
	close(fd);
	return NULL;
}

START_TEST(descendants_are_the_roots)
{
	int fd = count_tree(EV_INSTRUCTIONS, 0), err = -1;
	pthread_t thread;
	pid_t child;

	ck_assert_int_eq(pthread_create(&thread, NULL, look_at_own, &err), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(err, 0);
	ck_ok(child = fork());
	if (!child) {
		(void)look_at_own(&err);
		_exit(err);
	}
	expect_exit(child, 0);
	ck_assert_uint_eq(read_tree(fd, ALL).ended, 2);
}
END_TEST

/* Mapped pages of descendants: their own registers, as for anybody. */
START_TEST(descendant_maps_its_page)
{
	int fd = count_tree(EV_INSTRUCTIONS, 0);
	uint64_t value[2];
	pid_t child;
	long ret;

	ck_ok(child = fork());
	if (!child) {
		int own = try_open(0);
		const struct perfctr_page *page = own < 0 ? NULL : try_map(own);

		if (!page)
			_exit(1);
		ret = exact_inline(page, 0, body_spin, LOOPS, value);
		_exit(ret < 0 || value[1] - value[0] != EXACT_INLINE + BODY_SPIN(LOOPS) +
				 (uint64_t)ret * EXACT_INLINE_RETRY ? 2 : 0);
	}
	expect_exit(child, 0);
	close(fd);
}
END_TEST

void inherit_members(void)
{
	GUEST_RUN(members_one_by_one, NEED_COUNTERS | AS_USER);
	GUEST_RUN(kept_members, NEED_COUNTERS | AS_USER);
	GUEST_RUN(long_trees_hold_nobody_up, NEED_COUNTERS);
	GUEST_RUN(descendants_are_the_roots, NEED_COUNTERS | AS_USER);
	GUEST_RUN(descendant_maps_its_page, NEED_COUNTERS | NEED_USER_READ | AS_USER);
}
