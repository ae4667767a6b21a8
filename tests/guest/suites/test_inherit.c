// SPDX-License-Identifier: GPL-2.0
/*
 * Trees: threads and processes that count because the one that made them does. A child here
 * ends by _exit() right after its last read, so its count is known to the instruction. Of
 * other counts perf, with its own inheritance, is the witness.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/perfside.h"

#define LOOPS 1000ul
#define ALL (PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE)
#define WAITER_PATH "/usr/libexec/perfctr/waiter"

static int count_tree(unsigned int event, unsigned int flags)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.tsc_on = 1;
	control.flags = PERFCTR_CONTROL_INHERIT | flags;
	control_add(&control, event);
	set_control(fd, &control);
	return fd;
}

static struct perfctr_read_tree read_tree(int fd, unsigned int which)
{
	struct perfctr_read_tree tree;
	int err = try_read_tree(fd, which, &tree);

	ck_assert_msg(!err, "READ_TREE: %s", strerror(-err));
	return tree;
}

static int next_member(int fd, struct perfctr_member *member)
{
	member->size = sizeof(*member);
	return ioctl(fd, PERFCTR_IOC_NEXT_MEMBER, member) ? -errno : 0;
}

/* --- what is counted --- */

/*
 * Two children differ in the length of their loops only, so the difference of their counts is
 * known. They are not made by fork(), where the C library takes a lock in the child: RISC-V's
 * LR and SC are tried again if an interrupt comes between them, which is four instructions
 * more.
 */
static uint64_t child_with_loop(int fd, unsigned long loops)
{
	uint64_t before = read_tree(fd, PERFCTR_TREE_ENDED).sum[0];
	pid_t child;

	ck_ok(child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
	if (!child) {
		body_spin(loops);
		_exit(0);
	}
	expect_exit(child, 0);
	return read_tree(fd, PERFCTR_TREE_ENDED).sum[0] - before;
}

START_TEST(fork_counts)
{
	int fd = count_tree(EV_INSTRUCTIONS, 0);
	uint64_t once = child_with_loop(fd, LOOPS);
	unsigned int i;

	ck_assert_uint_gt(once, BODY_SPIN(LOOPS));
	for (i = 1; i <= 100; i++)
		ck_assert_uint_eq(child_with_loop(fd, LOOPS + i) - once,
				  BODY_SPIN(LOOPS + i) - BODY_SPIN(LOOPS));
	ck_assert_uint_eq(read_tree(fd, ALL).ended, 101);
	ck_assert_uint_eq(read_tree(fd, ALL).live, 0);
}
END_TEST

/* A program of known length: nothing is lost or counted twice at its exec. */
START_TEST(exec_counts)
{
	int fd = count_tree(EV_INSTRUCTIONS, 0);
	uint64_t sums[2];
	unsigned int i;
	pid_t child;

	for (i = 0; i < 2; i++) {
		uint64_t before = read_tree(fd, PERFCTR_TREE_ENDED).sum[0];

		ck_ok(child = fork());
		if (!child) {
			execl(i ? KNOWN_PATH : KNOWN_OTHER_PATH, "known", NULL);
			_exit(99);
		}
		expect_exit(child, 0);
		sums[i] = read_tree(fd, PERFCTR_TREE_ENDED).sum[0] - before;
	}
	/* The path to the exec has a few instructions for each character of the name. */
	ck_assert_uint_gt(sums[1] - sums[0],
			  KNOWN_LENGTH(KNOWN_LOOPS) - KNOWN_LENGTH(KNOWN_OTHER_LOOPS) - 200);
	ck_assert_uint_lt(sums[1] - sums[0],
			  KNOWN_LENGTH(KNOWN_LOOPS) - KNOWN_LENGTH(KNOWN_OTHER_LOOPS) + 200);
}
END_TEST

/* Most instructions of this test's own between two reads */
#define OWN_CODE 10000

/* The root's own sum is not in its descendants', and the total is all. */
START_TEST(parts_of_the_whole)
{
	int fd = count_tree(EV_INSTRUCTIONS, 0);
	struct perfctr_read_tree root, all;
	struct perfctr_read rd;

	(void)child_with_loop(fd, LOOPS);
	root = read_tree(fd, PERFCTR_TREE_ROOT);
	read_all(fd, &rd);
	all = read_tree(fd, ALL);
	ck_assert_uint_ge(rd.sum[0], root.sum[0]);
	ck_assert_uint_lt(rd.sum[0], root.sum[0] + OWN_CODE);
	ck_assert_uint_ge(all.sum[0], rd.sum[0] + read_tree(fd, PERFCTR_TREE_ENDED).sum[0]);
	ck_assert_uint_lt(all.sum[0],
			  rd.sum[0] + read_tree(fd, PERFCTR_TREE_ENDED).sum[0] + OWN_CODE);
	ck_assert_uint_gt(all.clock, 0);
	ck_assert_uint_eq(all.nrctrs, 1);
	ck_assert_uint_eq(all.missed, 0);
}
END_TEST

/* --- a large tree, and perf --- */

#define PROCESSES 1000ul
#define THREADS_EACH 4ul

static void *spin_thread(void *arg)
{
	body_spin((unsigned long)arg);
	return NULL;
}

static _Noreturn void process_with_threads(unsigned long seed)
{
	pthread_t threads[THREADS_EACH];
	unsigned long i;

	for (i = 0; i < THREADS_EACH; i++)
		if (pthread_create(&threads[i], NULL, spin_thread,
				   (void *)(LOOPS + seed % 97 + i)))
			_exit(1);
	for (i = 0; i < THREADS_EACH; i++)
		if (pthread_join(threads[i], NULL))
			_exit(2);
	_exit(0);
}

/* Generations: each process makes the next before its threads, up to a depth. */
static void grow(unsigned int processes, unsigned int depth)
{
	unsigned int i, status_bad = 0;
	int status;
	pid_t child;

	for (i = 0; i < processes; i += depth) {
		unsigned int level;

		child = fork();
		if (child < 0)
			_exit(3);
		if (!child) {
			for (level = 1; level < depth; level++) {
				child = fork();
				if (child < 0)
					_exit(3);
				if (child)
					break;
			}
			/* Some parents end before their children. */
			if (level < depth && (i / depth) % 2 && waitpid(child, &status, 0) != child)
				_exit(4);
			process_with_threads(i + level);
		}
		/* A few at a time */
		if (i / depth % 4 == 3)
			while (waitpid(-1, &status, 0) > 0)
				status_bad += status != 0;
	}
	while (waitpid(-1, &status, 0) > 0)
		status_bad += status != 0;
	if (status_bad)
		_exit(5);
}

static int perf_inherited(void)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_init(&attr, EV_INSTRUCTIONS);
	attr.inherit = 1;
	ck_ok(fd = perf_open(&attr, 0, -1, -1));
	return fd;
}

/* Orphans become children of the caller, which waits for them, so that none is left at a read. */
static void be_reaper(void)
{
	ck_ok(prctl(PR_SET_CHILD_SUBREAPER, 1));
}

/* The code between the two reads is always the same. */
static __attribute__((noinline)) int both_totals(int fd, struct perfctr_read_tree *tree,
						 int perf, uint64_t *theirs)
{
	int err = try_read_tree(fd, ALL, tree);

	*theirs = perf_read_one(perf);
	return err;
}

struct totals {
	int fd;
	int perf;
	uint64_t ours;
	uint64_t theirs;
};

/* perf counts instructions, we count them too or what is as many, and they must agree. */
static struct totals totals_begin(void)
{
	struct perfctr_read_tree tree;
	struct totals totals;

	be_reaper();
	totals.fd = count_tree(EV_LIKE_INSTRUCTIONS, 0);
	totals.perf = perf_inherited();
	ck_assert_int_eq(both_totals(totals.fd, &tree, totals.perf, &totals.theirs), 0);
	totals.ours = tree.sum[0];
	return totals;
}

/* Compares the counts since totals_begin(), with all members ended; returns ours. */
static uint64_t totals_agree(const struct totals *totals)
{
	struct perfctr_read_tree tree;
	uint64_t theirs;

	ck_assert_int_eq(both_totals(totals->fd, &tree, totals->perf, &theirs), 0);
	ck_assert_uint_eq(tree.sum[0] - totals->ours, theirs - totals->theirs);
	ck_assert_uint_eq(tree.live, 0);
	return tree.sum[0] - totals->ours;
}

START_TEST(large_tree_as_perf_counts_it)
{
	struct totals totals = totals_begin();
	struct perfctr_read_tree tree;

	grow(PROCESSES, 5);
	ck_assert_uint_gt(totals_agree(&totals), PROCESSES * THREADS_EACH * BODY_SPIN(LOOPS));
	tree = read_tree(totals.fd, ALL);
	ck_assert_uint_eq(tree.missed, 0);
	ck_assert_uint_eq(tree.live, 0);
	ck_assert_uint_eq(tree.ended, PROCESSES * (1 + THREADS_EACH));
}
END_TEST

/* A tree is read while members come and go: its sum never goes back, and ends right. */
START_TEST(read_while_it_comes_and_goes)
{
	int fd, perf, status;
	uint64_t ours, theirs, last = 0, now;
	unsigned int reads = 0;
	pid_t grower;

	be_reaper();
	fd = count_tree(EV_LIKE_INSTRUCTIONS, 0);
	perf = perf_inherited();
	ours = read_tree(fd, PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE).sum[0];
	theirs = perf_read_one(perf);
	ck_ok(grower = fork());
	if (!grower) {
		be_reaper();
		grow(200, 5);
		_exit(0);
	}
	while (waitpid(grower, &status, WNOHANG) == 0) {
		now = read_tree(fd, PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE).sum[0];
		ck_assert_uint_ge(now, last);
		last = now;
		reads++;
		sched_yield();
	}
	ck_assert_int_eq(status, 0);
	ck_assert_uint_gt(reads, 20);
	/* perf's sum contains the root, so ours is read with the root too. */
	ours = read_tree(fd, ALL).sum[0] - ours;
	theirs = perf_read_one(perf) - theirs;
	now = read_sum(fd, 0);
	ck_assert_uint_ge(ours + 20000, theirs);
	ck_assert_uint_eq(read_tree(fd, ALL).ended, 200 * (1 + THREADS_EACH) + 1);
	ck_assert_uint_eq(read_tree(fd, ALL).live, 0);
	ck_assert_uint_gt(now, 0);
}
END_TEST

/* --- those that live --- */

struct children {
	unsigned int n;
	pid_t pid[16];
	volatile unsigned int *ready;
	volatile bool *leave;
};

/* Children that count, say so, and spin or sleep until they are told to leave */
static struct children children_start(unsigned int n, bool spin)
{
	struct children children = { .n = n };
	unsigned int i;

	children.ready = shared_alloc(sizeof(*children.ready));
	children.leave = shared_alloc(sizeof(*children.leave));
	for (i = 0; i < n; i++) {
		ck_ok(children.pid[i] = fork());
		if (!children.pid[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (guest.ncpus > 1)
				pin_self(i % 2);
			__sync_fetch_and_add(children.ready, 1);
			while (!*children.leave) {
				if (spin)
					body_spin(LOOPS);
				else
					sleep_us(1000);
			}
			_exit(0);
		}
	}
	while (*children.ready < n)
		sleep_us(100);
	return children;
}

static void children_end(struct children *children)
{
	unsigned int i;

	*children->leave = true;
	for (i = 0; i < children->n; i++)
		expect_exit(children->pid[i], 0);
}

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

/* --- stop and go --- */

START_TEST(stop_and_go)
{
	int fd = count_tree(EV_INSTRUCTIONS, 0);
	struct children children = children_start(6, true);
	struct perfctr_read_tree stopped, later;
	unsigned int turn;

	for (turn = 0; turn < 20; turn++) {
		ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
		stopped = read_tree(fd, ALL);
		sleep_us(20000);
		body_spin(LOOPS);
		later = read_tree(fd, ALL);
		ck_assert_uint_eq(later.sum[0], stopped.sum[0]);
		ck_assert_uint_eq(later.clock, stopped.clock);
		ck_assert_uint_eq(later.soft.switches, stopped.soft.switches);
		ck_assert_uint_eq(later.soft.minor_faults, stopped.soft.minor_faults);
		ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
		sleep_us(20000);
		later = read_tree(fd, PERFCTR_TREE_LIVE);
		ck_assert_uint_gt(later.sum[0], 6 * BODY_SPIN(LOOPS));
		ck_assert_uint_gt(read_tree(fd, ALL).sum[0], stopped.sum[0] + 6 * BODY_SPIN(LOOPS));
		ck_assert_uint_gt(later.soft.switches, 0);
	}
	children_end(&children);
}
END_TEST

/* From SUSPEND to RESUME nothing of the caller is counted, and all of it at other times. */
static void stop_is_exact(unsigned int flags)
{
	int fd = open_self();
	struct perfctr_control control;
	uint64_t before[2][2], after[2];	/* the clock, and the sum */
	unsigned int i;

	control_init(&control);
	control.tsc_on = 1;
	control.flags = flags;
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	for (i = 0; i < 100; i++) {
		ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
		ck_assert_int_eq(exact_read(fd, before[0], sizeof(before[0]), body_spin,
					    LOOPS + i), 16);
		ck_assert_int_eq(read(fd, after, sizeof(after)), 16);
		ck_assert_uint_eq(after[1], before[0][1]);
		ck_assert_uint_eq(after[1], before[1][1]);
		ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
		{
			uint64_t words[2][2];

			ck_assert_int_eq(exact_read(fd, words[0], sizeof(words[0]), body_spin, LOOPS),
					 16);
			ck_assert_uint_eq(words[1][1] - words[0][1], EXACT_KERNEL + BODY_SPIN(LOOPS));
		}
	}
}

START_TEST(stop_of_one_is_exact)
{
	stop_is_exact(0);
}
END_TEST

START_TEST(stop_of_a_tree_is_exact)
{
	stop_is_exact(PERFCTR_CONTROL_INHERIT);
}
END_TEST

START_TEST(stop_by_others)
{
	int fd = open_self();
	pid_t child;

	/* A child that is in no tree may not. */
	ck_ok(child = fork());
	if (!child)
		_exit(ioctl(fd, PERFCTR_IOC_SUSPEND) == 0 || errno != EPERM);
	expect_exit(child, 0);
	unlink_self(fd);
	ck_errno(ioctl(fd, PERFCTR_IOC_SUSPEND), ESRCH);
	close(fd);
	/* A member of the tree may. */
	fd = count_tree(EV_INSTRUCTIONS, 0);
	ck_ok(child = fork());
	if (!child)
		_exit(ioctl(fd, PERFCTR_IOC_SUSPEND) != 0);
	expect_exit(child, 0);
	{
		uint64_t first = read_sum(fd, 0);

		body_spin(LOOPS);
		ck_assert_uint_eq(read_sum(fd, 0), first);
	}
}
END_TEST

/* --- errors, and ends --- */

START_TEST(bad_input)
{
	struct perfctr_read_tree tree;
	struct perfctr_member member = { .cursor = 0 };
	struct perfctr_control control;
	int fd = count_event(EV_INSTRUCTIONS);

	ck_assert_int_eq(try_read_tree(fd, ALL, &tree), -ENOENT);
	ck_assert_int_eq(next_member(fd, &member), -ENOENT);
	control_init(&control);
	control.flags = PERFCTR_CONTROL_KEEP;
	control.tsc_on = 1;
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	control.flags = PERFCTR_CONTROL_NO_IDLE << 1;
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	close(fd);

	fd = count_tree(EV_INSTRUCTIONS, 0);
	ck_assert_int_eq(try_read_tree(fd, 0, &tree), -EINVAL);
	ck_assert_int_eq(try_read_tree(fd, 8, &tree), -EINVAL);
	tree.size = 16;
	tree.which = ALL;
	ck_errno(ioctl(fd, PERFCTR_IOC_READ_TREE, &tree), EINVAL);
	tree.size = PERFCTR_MAX_SIZE + 1;
	ck_errno(ioctl(fd, PERFCTR_IOC_READ_TREE, &tree), E2BIG);
	ck_errno(ioctl(fd, PERFCTR_IOC_READ_TREE, NULL), EFAULT);
	member.size = 16;
	ck_errno(ioctl(fd, PERFCTR_IOC_NEXT_MEMBER, &member), EINVAL);
	ck_errno(ioctl(fd, PERFCTR_IOC_NEXT_MEMBER, 8ul), EFAULT);
	/* Exactly as much as wanted */
	memset(&tree, 0xaa, sizeof(tree));
	tree.size = offsetof(struct perfctr_read_tree, sum) + sizeof(tree.sum[0]);
	tree.which = ALL;
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_TREE, &tree));
	ck_assert_uint_gt(tree.sum[0], 0);
	ck_assert_uint_eq(tree.sum[1], 0xaaaaaaaaaaaaaaaaull);
}
END_TEST

/* Each control makes another tree. A read says which tree it is of. */
START_TEST(trees_have_ids)
{
	uint64_t id[3];
	int fd = count_tree(EV_INSTRUCTIONS, 0);

	id[0] = read_tree(fd, ALL).tree_id;
	ck_assert_uint_ne(id[0], 0);
	child_with_loop(fd, LOOPS);
	ck_assert_uint_eq(read_tree(fd, PERFCTR_TREE_ENDED).tree_id, id[0]);
	close(fd);
	fd = count_tree(EV_INSTRUCTIONS, 0);
	id[1] = read_tree(fd, ALL).tree_id;
	unlink_self(fd);
	close(fd);
	fd = count_tree(EV_INSTRUCTIONS, 0);
	id[2] = read_tree(fd, ALL).tree_id;
	ck_assert(id[0] != id[1] && id[1] != id[2] && id[0] != id[2]);
}
END_TEST

/* Any control, also of nothing, or an unlink ends the tree: its threads count no more. */
START_TEST(tree_ends)
{
	struct perfctr_control control;
	struct perfctr_read_tree tree;
	volatile int *seen = shared_alloc(sizeof(*seen));
	volatile bool *go = shared_alloc(sizeof(*go));
	int fd = count_tree(EV_INSTRUCTIONS, 0), i;
	pid_t child;

	for (i = 0; i < 3; i++) {
		if (i)
			fd = count_tree(EV_INSTRUCTIONS, 0);
		*seen = 0;
		*go = false;
		ck_ok(child = fork());
		if (!child) {
			while (!*go)
				(void)sched_yield();
			/* It loses its state on its way back from a system call or interrupt. */
			sleep_us(1000);
			*seen = try_open(0);
			_exit(0);
		}
		control_init(&control);
		control.tsc_on = i != 1;
		if (i == 2)
			unlink_self(fd);
		else
			set_control(fd, &control);
		*go = true;
		expect_exit(child, 0);
		ck_assert_int_eq(*seen, -ENOENT);
		ck_assert_int_eq(try_read_tree(fd, ALL, &tree), -ENOENT);
		close(fd);
	}
}
END_TEST

/* The root's thread has ended: its handle can still be read, and the rest of the tree counts on. */
START_TEST(root_goes_first)
{
	volatile int *handle = shared_alloc(sizeof(*handle));
	struct perfctr_read_tree before, after;
	int sock[2], fd;
	pid_t root, orphan = 0;

	be_reaper();
	ck_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	ck_ok(root = fork());
	if (!root) {
		fd = try_open(PERFCTR_OPEN_CREAT);
		if (fd < 0)
			_exit(1);
		{
			struct perfctr_control control;

			control_init(&control);
			control.flags = PERFCTR_CONTROL_INHERIT;
			control.tsc_on = 1;
			control_add(&control, EV_INSTRUCTIONS);
			if (try_control(fd, &control))
				_exit(2);
		}
		if (send_fd(sock[1], fd))
			_exit(3);
		orphan = fork();
		if (!orphan) {
			while (!*handle)
				body_spin(LOOPS);
			body_spin(LOOPS * 100);
			_exit(0);
		}
		_exit(0);
	}
	fd = receive_fd(sock[0]);
	ck_assert_int_ge(fd, 0);
	expect_exit(root, 0);
	before = read_tree(fd, ALL);
	ck_assert_uint_eq(before.live, 1);
	*handle = 1;
	ck_ok(orphan = waitpid(-1, NULL, 0));
	after = read_tree(fd, ALL);
	ck_assert_uint_eq(after.live, 0);
	ck_assert_uint_eq(after.ended, 1);
	ck_assert_uint_ge(after.sum[0], before.sum[0] + BODY_SPIN(LOOPS * 100));
	close(fd);
}
END_TEST

/* An exec by a thread that is not the first ends all others, and it goes on as the first. */
static void *exec_known(void *arg)
{
	(void)arg;
	sleep_us(2000);
	execl(KNOWN_PATH, "known", NULL);
	_exit(99);
}

static void *clone_storm(void *arg)
{
	pthread_t thread;

	for (;;)
		if (!pthread_create(&thread, NULL, spin_thread, (void *)LOOPS))
			(void)pthread_join(thread, NULL);
	return arg;
}

START_TEST(exec_in_a_storm)
{
	struct totals totals = totals_begin();
	pthread_t thread;
	pid_t child;
	int turn;

	for (turn = 0; turn < 20; turn++) {
		ck_ok(child = fork());
		if (!child) {
			int i;

			for (i = 0; i < 3; i++)
				(void)pthread_create(&thread, NULL, clone_storm, NULL);
			(void)pthread_create(&thread, NULL, exec_known, NULL);
			for (;;)
				pause();
		}
		expect_exit(child, 0);
	}
	(void)totals_agree(&totals);
}
END_TEST

/* Members that are killed at any moment are in the sum. */
START_TEST(killed_trees)
{
	struct totals totals = totals_begin();
	pid_t child;
	int turn;

	for (turn = 0; turn < 30; turn++) {
		ck_ok(child = fork());
		if (!child) {
			pthread_t thread;
			int i;

			ck_ok(setpgid(0, 0));
			for (i = 0; i < 3; i++)
				(void)pthread_create(&thread, NULL, clone_storm, NULL);
			for (;;)
				if (!fork())
					_exit(0);
		}
		sleep_us(3000 + (unsigned int)turn * 300);
		while (kill(-child, SIGKILL) && errno == ESRCH)
			sleep_us(100);
		while (waitpid(-1, NULL, 0) > 0)
			(void)kill(-child, SIGKILL);
	}
	(void)totals_agree(&totals);
}
END_TEST

/* If a limit makes a fork fail half way, no child is counted that was not born. */
START_TEST(forks_that_fail)
{
	struct rlimit limit;
	int fd;
	unsigned int failed = 0, i, born = 0;
	pid_t child;

	fd = count_tree(EV_INSTRUCTIONS, 0);
	ck_ok(getrlimit(RLIMIT_NPROC, &limit));
	limit.rlim_cur = 20;
	ck_ok(setrlimit(RLIMIT_NPROC, &limit));
	for (i = 0; i < 200; i++) {
		child = fork();
		if (!child) {
			sleep_us(20000);
			_exit(0);
		}
		failed += child < 0;
		born += child > 0;
	}
	while (waitpid(-1, NULL, 0) > 0)
		continue;
	ck_assert_uint_gt(failed, 0);
	ck_assert_uint_eq(read_tree(fd, ALL).ended, born);
	ck_assert_uint_eq(read_tree(fd, ALL).live, 0);
	ck_assert_uint_eq(read_tree(fd, ALL).missed, 0);
}
END_TEST

#define CGROUPS "/tmp/cgroups"
#define LIMITED CGROUPS "/limited"

static void enter_limited_memory(const char *limit)
{
	(void)mkdir(CGROUPS, 0755);
	ck_ok(mount("none", CGROUPS, "cgroup2", 0, NULL));
	ck_assert_int_eq(write_text(CGROUPS "/cgroup.subtree_control", "+memory"), 0);
	ck_assert(!mkdir(LIMITED, 0755) || errno == EEXIST);
	ck_assert_int_eq(write_text(LIMITED "/memory.max", limit), 0);
	ck_assert_int_eq(write_text(LIMITED "/cgroup.procs", "0"), 0);
	ck_ok(umount2(CGROUPS, MNT_DETACH));
}

static _Noreturn void take_memory(unsigned int pages)
{
	volatile char *memory = mmap(NULL, pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	(void)write_text("/proc/self/oom_score_adj", "1000");
	for (i = 0; memory != MAP_FAILED && i < pages; i++)
		memory[i * PAGE_SIZE] = 1;
	for (;;)
		pause();
}

/* Without memory descendants die, are not born, or are missed, and READ_TREE says so. */
START_TEST(memory_that_ends)
{
	struct totals totals = totals_begin();
	unsigned int born = 0, killed = 0, i;
	struct perfctr_read_tree tree;
	pid_t child, children[300];
	uint64_t theirs;
	int status, err;

	enter_limited_memory("8M");
	ck_assert_int_eq(write_text("/proc/self/oom_score_adj", "-1000"), 0);
	for (i = 0; i < 300; i++) {
		child = fork();
		if (!child)
			take_memory(50);
		if (child > 0)
			children[born++] = child;
	}
	/* The last ones are still under way. */
	sleep_us(100000);
	while (waitpid(-1, &status, WNOHANG) > 0)
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	for (i = 0; i < born; i++)
		(void)kill(children[i], SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		continue;
	/* 300 times 50 pages of 4 KiB are 60 MB. */
	ck_assert_uint_gt(killed, 100);
	err = both_totals(totals.fd, &tree, totals.perf, &theirs);
	ck_assert_uint_eq(tree.live, 0);
	ck_assert_uint_eq(tree.ended + tree.missed, born);
	ck_assert_int_eq(err, tree.missed ? -EIO : 0);
	ck_assert_uint_eq(tree.error, tree.missed ? PERFCTR_ERROR_MEMORY : PERFCTR_ERROR_NONE);
	if (!tree.missed)
		ck_assert_uint_eq(tree.sum[0] - totals.ours, theirs - totals.theirs);
}
END_TEST

START_TEST(not_unloaded_with_a_descendant)
{
	volatile bool *leave = shared_alloc(sizeof(*leave));
	int fd = count_tree(EV_INSTRUCTIONS, 0), status;
	pid_t child;

	ck_ok(child = fork());
	if (!child) {
		close(fd);
		while (!*leave)
			sleep_us(1000);
		_exit(0);
	}
	sleep_us(5000);
	ck_assert_int_eq(module_unload(), -EAGAIN);
	unlink_self(fd);
	close(fd);
	/* The descendant wakes and detaches its state. */
	ck_assert_int_eq(module_unload_patiently(), 0);
	*leave = true;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

/* --- what the kernel counts --- */

static int perf_software(uint64_t config)
{
	struct perf_event_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = config;
	attr.inherit = 1;
	ck_ok(fd = perf_open(&attr, 0, -1, -1));
	return fd;
}

/*
 * Both read at one moment: reads again if the thread was switched out in between, or if it
 * faulted on a page that its last fork took (faults are perf[2]).
 */
static struct perfctr_read_tree read_both(int fd, const int *perf, uint64_t *counts)
{
	struct perfctr_read_tree tree;
	uint64_t switches, faults;
	int i;

	do {
		switches = perf_read_one(perf[0]);
		faults = perf_read_one(perf[2]);
		tree = read_tree(fd, ALL);
		for (i = 4; i >= 0; i--)
			counts[i] = perf_read_one(perf[i]);
	} while (counts[0] != switches || counts[2] != faults);
	return tree;
}

/* What the kernel itself accounts for the caller and the children it has waited for */
static uint64_t rusage_switches(void)
{
	struct rusage self, children;

	ck_ok(getrusage(RUSAGE_SELF, &self));
	ck_ok(getrusage(RUSAGE_CHILDREN, &children));
	return (uint64_t)(self.ru_nvcsw + self.ru_nivcsw + children.ru_nvcsw + children.ru_nivcsw);
}

START_TEST(soft_counts_as_perf_counts_them)
{
	static const uint64_t events[] = {
		PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
		PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
		PERF_COUNT_SW_TASK_CLOCK,
	};
	struct perfctr_read_tree before, after;
	uint64_t perf_before[5], perf_after[5], switches;
	int fd, perf[5], i;
	volatile char *memory;
	pid_t child;

	fd = count_tree(EV_INSTRUCTIONS, 0);
	for (i = 0; i < 5; i++)
		perf[i] = perf_software(events[i]);
	memory = mmap(NULL, 100 * PAGE_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)memory, MAP_FAILED);
	/* The first time touches all that a read touches. */
	(void)read_both(fd, perf, perf_before);
	switches = rusage_switches();
	before = read_both(fd, perf, perf_before);
	for (i = 0; i < 100; i++)
		memory[i * PAGE_SIZE] = 1;
	for (i = 0; i < 10; i++) {
		ck_ok(child = fork());
		if (!child) {
			int k;

			for (k = 0; k < 20; k++) {
				memory[k * PAGE_SIZE] = 2;
				if (guest.ncpus > 1)
					pin_self((unsigned int)k % 2);
				sleep_us(500);
			}
			body_spin(LOOPS * 100);
			_exit(0);
		}
		expect_exit(child, 0);
	}
	after = read_both(fd, perf, perf_after);
	switches = rusage_switches() - switches;
	/*
	 * As a thread ends perf stops first, then its memory goes, then we stop, and it may
	 * be preempted in between. Only the kernel counts its switches after that.
	 */
	ck_assert_uint_ge(after.soft.switches - before.soft.switches, 10ul * 20);
	ck_assert_uint_ge(after.soft.switches - before.soft.switches,
			  perf_after[0] - perf_before[0]);
	ck_assert_uint_le(after.soft.switches - before.soft.switches, switches);
	ck_assert_uint_le(switches, perf_after[0] - perf_before[0] + 10ul * (is_rt() ? 15 : 5));
	/* perf counts several migrations between two runs as one. */
	ck_assert_uint_ge(after.soft.migrations - before.soft.migrations,
			  perf_after[1] - perf_before[1]);
	if (guest.ncpus > 1)
		ck_assert_uint_gt(perf_after[1] - perf_before[1], 10ul * 10);
	ck_assert_uint_ge(after.soft.minor_faults - before.soft.minor_faults, 100 + 10ul * 20);
	ck_assert_uint_eq(after.soft.minor_faults - before.soft.minor_faults,
			  perf_after[2] - perf_before[2]);
	ck_assert_uint_eq(after.soft.major_faults - before.soft.major_faults,
			  perf_after[3] - perf_before[3]);
	/* perf's clock leaves out what perf does at a switch; ours has it in. */
	ck_assert_uint_gt(after.soft.task_clock - before.soft.task_clock,
			  (perf_after[4] - perf_before[4]) / 2);
	ck_assert_uint_lt(after.soft.task_clock - before.soft.task_clock,
			  (perf_after[4] - perf_before[4]) * 2);
}
END_TEST

START_TEST(soft_counts_of_one_thread)
{
	struct perfctr_read rd[2];
	int fd = count_event(EV_INSTRUCTIONS);
	uint64_t inner, outer;
	unsigned int i;

	/*
	 * What the kernel itself has counted before and after each of the two reads. It may run
	 * a thread of its own at any time: again, until it did not do so between these.
	 */
	do {
		outer = rusage_switches();
		read_all(fd, &rd[0]);
		inner = rusage_switches();
		for (i = 0; i < 10; i++)
			sleep_us(100);
		inner = rusage_switches() - inner;
		read_all(fd, &rd[1]);
		outer = rusage_switches() - outer;
	} while (inner != outer);
	ck_assert_uint_ge(inner, 10);
	ck_assert_uint_eq(rd[1].soft.switches - rd[0].soft.switches, inner);
	ck_assert_uint_eq(rd[1].soft.major_faults, rd[0].soft.major_faults);
	ck_assert_uint_eq(rd[1].soft.task_clock,
			  rd[1].clock * 1000000000ull / guest.info.tsc_hz);
	/* A control sets them to zero: there are no more than have come since. */
	outer = rusage_switches();
	set_control(fd, &(struct perfctr_control){ PERFCTR_CONTROL_INIT, .tsc_on = 1 });
	read_all(fd, &rd[1]);
	outer = rusage_switches() - outer;
	ck_assert_uint_le(rd[1].soft.switches, outer);
	ck_assert_uint_lt(outer, 10);
}
END_TEST

/* --- registers by instruction --- */

#define CYCLE 0
#define INSTRET 2

static int count_raw(uint32_t flags)
{
	struct perfctr_control control;
	uint32_t modes = PERFCTR_CTR_USER;
	int fd = try_open(PERFCTR_OPEN_CREAT), err;

	if (!(guest.info.cpu_features & PERFCTR_FEATURE_FILTER_FIXED))
		modes |= PERFCTR_CTR_KERNEL;
	control_init(&control);
	control.tsc_on = 1;
	control.flags = PERFCTR_CONTROL_RAW | flags;
	control_add_at(&control, CYCLE, EV_CYCLES, modes);
	control_add_at(&control, INSTRET, EV_INSTRUCTIONS, modes);
	err = try_control(fd, &control);
	return err ? err : fd;
}

static bool both_legal(void)
{
	return may_read_register(CYCLE) && may_read_register(INSTRET);
}

static void *legal_in_thread(void *arg)
{
	bool *legal = arg;

	*legal = both_legal();
	return NULL;
}

START_TEST(raw_registers)
{
	bool legal = false;
	uint64_t first;
	unsigned int i;
	pthread_t thread;
	pid_t child;
	int fd;

	ck_assert(!may_read_register(CYCLE) && !may_read_register(INSTRET));
	fd = count_raw(PERFCTR_CONTROL_INHERIT);
	ck_assert_int_ge(fd, 0);
	ck_assert(both_legal());
	/* Legal over switches, suspended or not, and for its threads, not for its children */
	for (i = 0; i < 20; i++) {
		if (i == 10)
			ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
		sleep_us(500);
		if (guest.ncpus > 1)
			pin_self(i % 2);
		first = read_register(INSTRET);
		body_spin(LOOPS);
		ck_assert_uint_ge(read_register(INSTRET) - first, BODY_SPIN(LOOPS));
	}
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	ck_assert_int_eq(pthread_create(&thread, NULL, legal_in_thread, &legal), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(legal);
	ck_ok(child = fork());
	if (!child)
		_exit(both_legal());
	expect_exit(child, 0);
	unlink_self(fd);
	ck_assert(!may_read_register(CYCLE) && !may_read_register(INSTRET));
}
END_TEST

START_TEST(raw_registers_need_privilege)
{
	ck_assert_int_eq(count_raw(0), -EACCES);
	ck_assert(!may_read_register(CYCLE));
}
END_TEST

/* --- who may what --- */

/* Makes the caller the root of a tree, by a device that is open; 0 or -errno. For helpers */
static int make_root(int fd, unsigned int flags)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CREAT };
	struct perfctr_control control;

	if (ioctl(fd, PERFCTR_IOC_OPEN, &o))
		return -errno;
	control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT | flags;
	control_add(&control, EV_INSTRUCTIONS);
	return try_control(fd, &control);
}

static int wait_byte(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1 ? 0 : -EPIPE;
}

/*
 * The thread that made the tree has ended, as of any daemon that forks. A member that has become
 * another user may not stop the others all the same.
 */
START_TEST(holder_only_outlives_the_root)
{
	int *error = shared_alloc(sizeof(*error)), fd = open_device(), ready[2], go[2];
	struct perfctr_read_tree tree;
	pid_t root;

	ck_ok(pipe(ready));
	ck_ok(pipe(go));
	*error = 1;
	ck_ok(root = fork());
	if (!root) {
		if (make_root(fd, PERFCTR_CONTROL_HOLDER_ONLY))
			_exit(1);
		if (!fork()) {
			int own;

			become(STRANGER_UID);
			own = try_open(0);
			if (write(ready[1], "x", 1) == 1 && !wait_byte(go[0]))
				*error = ioctl(own, PERFCTR_IOC_SUSPEND) ? -errno : 0;
			if (write(ready[1], "x", 1) == 1)
				pause();
			_exit(0);
		}
		_exit(wait_byte(ready[0]));
	}
	expect_exit(root, 0);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	ck_assert_int_eq(wait_byte(ready[0]), 0);
	ck_assert_int_eq(*error, -EBUSY);
	tree = read_tree(fd, ALL);
	ck_assert_uint_eq(tree.live, 1);
	ck_assert_uint_eq(tree.flags, 0);
	close(fd);
}
END_TEST

START_TEST(reader_sees_suspension)
{
	int fd = count_tree(EV_INSTRUCTIONS, PERFCTR_CONTROL_SUSPENDED);

	ck_assert_uint_eq(read_tree(fd, ALL).flags, PERFCTR_READ_SUSPENDED);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	ck_assert_uint_eq(read_tree(fd, ALL).flags, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	ck_assert_uint_eq(read_tree(fd, ALL).flags, PERFCTR_READ_SUSPENDED);
	unlink_self(fd);
}
END_TEST

/* CLOEXEC unlinks the root, which ends the tree. */
START_TEST(exec_ends_the_tree)
{
	struct perfctr_read rd = { .size = sizeof(rd) };
	int fd = open_device(), ready[2], err = 0;
	struct perfctr_read_tree tree;
	unsigned int i;
	pid_t root;

	ck_ok(pipe(ready));
	ck_ok(root = fork());
	if (!root) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (make_root(fd, PERFCTR_CONTROL_CLOEXEC))
			_exit(1);
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (write(ready[1], "x", 1) == 1)
				pause();
			_exit(0);
		}
		if (!wait_byte(ready[0]))
			execl(WAITER_PATH, "waiter", "/tmp/waits", NULL);
		_exit(1);
	}
	/* Until the child has made it a handle */
	for (i = 0; i < 1000 && try_read(fd, &rd) == -ENOTTY; i++)
		sleep_us(1000);
	for (i = 0; i < 2000 && !err; i++) {
		sleep_us(1000);
		ck_assert_int_eq(try_read(fd, &rd), 0);
		if (rd.cstatus && !(rd.flags & PERFCTR_READ_ATTACHED))
			err = try_read_tree(fd, ALL, &tree);
	}
	ck_assert_int_eq(err, -ENOENT);
	kill(root, SIGKILL);
	waitpid(root, NULL, 0);
	close(fd);
}
END_TEST

static int count_kernel(void)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT;
	control_add_at(&control, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, PERFCTR_CTR_KERNEL);
	set_control(fd, &control);
	return fd;
}

/* A descendant that lost its privilege does not see what it may not ask for. */
START_TEST(kernel_counts_need_privilege)
{
	int *error = shared_alloc(2 * sizeof(*error)), fd = count_kernel();
	pid_t child;

	ck_ok(child = fork());
	if (!child) {
		int own = try_open(0);

		become(STRANGER_UID);
		error[0] = try_open(0);
		error[1] = try_map(own) ? 0 : -errno;
		_exit(own < 0);
	}
	expect_exit(child, 0);
	ck_assert_int_eq(error[0], -EACCES);
	ck_assert_int_eq(error[1], -EACCES);
	ck_assert_uint_eq(read_tree(fd, ALL).ended, 1);
	unlink_self(fd);
}
END_TEST

int main(void)
{
	guest_begin("inherit", NULL);
	GUEST_RUN(fork_counts, NEED_COUNTERS | AS_USER);
	GUEST_RUN(exec_counts, NEED_COUNTERS | AS_USER);
	GUEST_RUN(parts_of_the_whole, NEED_COUNTERS | AS_USER);
	GUEST_RUN(large_tree_as_perf_counts_it, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(read_while_it_comes_and_goes, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(members_one_by_one, NEED_COUNTERS | AS_USER);
	GUEST_RUN(kept_members, NEED_COUNTERS | AS_USER);
	GUEST_RUN(long_trees_hold_nobody_up, NEED_COUNTERS);
	GUEST_RUN(descendants_are_the_roots, NEED_COUNTERS | AS_USER);
	GUEST_RUN(descendant_maps_its_page, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(stop_and_go, NEED_COUNTERS | AS_USER);
	GUEST_RUN(stop_of_one_is_exact, NEED_COUNTERS | AS_USER);
	GUEST_RUN(stop_of_a_tree_is_exact, NEED_COUNTERS | AS_USER);
	GUEST_RUN(stop_by_others, NEED_COUNTERS | AS_USER);
	GUEST_RUN(holder_only_outlives_the_root, NEED_COUNTERS);
	GUEST_RUN(reader_sees_suspension, NEED_COUNTERS | AS_USER);
	GUEST_RUN(exec_ends_the_tree, NEED_COUNTERS | AS_USER);
	GUEST_RUN(kernel_counts_need_privilege, NEED_COUNTERS);
	GUEST_RUN(bad_input, NEED_COUNTERS | AS_USER);
	GUEST_RUN(trees_have_ids, NEED_COUNTERS | LOG_SILENT | AS_USER);
	GUEST_RUN(tree_ends, NEED_COUNTERS | AS_USER);
	GUEST_RUN(root_goes_first, NEED_COUNTERS | AS_USER);
	GUEST_RUN(exec_in_a_storm, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(killed_trees, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(forks_that_fail, NEED_COUNTERS | AS_USER);
	/* The oom-killer reports the stack that asked for memory, which may be the module's. */
	GUEST_RUN(memory_that_ends, NEED_COUNTERS | NEED_BESIDE | NEED_PERF | LOG_OOM | LOG_MODULE);
	GUEST_RUN(not_unloaded_with_a_descendant, NEED_COUNTERS | LOG_MODULE);
	GUEST_RUN(soft_counts_as_perf_counts_them, NEED_COUNTERS | NEED_PERF);
	GUEST_RUN(soft_counts_of_one_thread, NEED_COUNTERS | AS_USER);
	GUEST_RUN(raw_registers, NEED_FIXED);
	GUEST_RUN(raw_registers_need_privilege, NEED_FIXED | AS_USER);
	return guest_end();
}
