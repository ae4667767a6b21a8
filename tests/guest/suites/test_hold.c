// SPDX-License-Identifier: GPL-2.0
/*
 * Why a state does not count: it is suspended, waits for an exec, or belongs to a tree that
 * is dead. What the kernel counts stops with it. Then what an exec, a vfork and a thread's
 * end leave behind.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/hold.h"

#define LOOPS 1000ul
#define FAULTS 100u
#define SELF "/proc/self/exe"
#define ALL (PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE)

/* A control with @flags: instructions in user mode, and the clock */
static void control_with(int fd, uint32_t flags)
{
	struct perfctr_control control;

	control_init(&control);
	control.tsc_on = 1;
	control.flags = flags;
	if (guest.nprogrammable)
		control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
}

static int count_with(uint32_t flags)
{
	int fd = open_self();

	control_with(fd, flags);
	return fd;
}

/* Makes as many page faults as @pages. */
static void fault(unsigned int pages)
{
	volatile char *memory = mmap(NULL, pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	ck_assert(memory != MAP_FAILED);
	madvise((void *)memory, pages * PAGE_SIZE, MADV_NOHUGEPAGE);
	for (i = 0; i < pages; i++)
		memory[i * PAGE_SIZE] = 1;
	munmap((void *)memory, pages * PAGE_SIZE);
}

/* Reads before and after some work. */
static void read_around_work(int fd, struct perfctr_read *before, struct perfctr_read *after)
{
	read_all(fd, before);
	body_spin(LOOPS);
	fault(FAULTS);
	sleep_us(1000);
	read_all(fd, after);
}

/* Nothing goes on: neither counters nor clock nor what the kernel counts. */
static void expect_still(int fd)
{
	struct perfctr_read before, after;

	read_around_work(fd, &before, &after);
	ck_assert_uint_ne(before.flags & PERFCTR_READ_SUSPENDED, 0);
	ck_assert_mem_eq(&before, &after, sizeof(before));
}

/* Everything counts: each of these faults, and the loop. */
static void expect_counting(int fd)
{
	struct perfctr_read before, after;

	read_around_work(fd, &before, &after);
	ck_assert_uint_eq(before.flags & PERFCTR_READ_SUSPENDED, 0);
	ck_assert_uint_gt(after.clock, before.clock);
	ck_assert_uint_ge(after.soft.minor_faults, before.soft.minor_faults + FAULTS);
	if (after.nrctrs)
		ck_assert_uint_gt(after.sum[0], before.sum[0] + BODY_SPIN(LOOPS));
}

/* --- suspended from the start --- */

START_TEST(control_suspended)
{
	int fd = count_with(PERFCTR_CONTROL_SUSPENDED);
	struct perfctr_read rd;

	read_all(fd, &rd);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_SUSPENDED);
	ck_assert_uint_eq(rd.clock, 0);
	ck_assert_uint_eq(rd.sum[0], 0);
	expect_still(fd);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	expect_counting(fd);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	expect_still(fd);
	/* The next control ends the suspension. */
	control_with(fd, 0);
	expect_counting(fd);
}
END_TEST

START_TEST(tree_suspended)
{
	int fd = count_with(PERFCTR_CONTROL_SUSPENDED | PERFCTR_CONTROL_INHERIT);
	struct perfctr_read_tree tree;
	pid_t child;

	expect_still(fd);
	ck_ok(child = fork());
	if (!child) {
		body_spin(LOOPS);
		_exit(0);
	}
	expect_exit(child, 0);
	ck_assert_int_eq(try_read_tree(fd, ALL, &tree), 0);
	ck_assert_uint_eq(tree.ended, 1);
	ck_assert_uint_eq(tree.sum[0], 0);
	ck_assert_uint_eq(tree.clock, 0);
	ck_assert_uint_eq(tree.soft.switches, 0);
	ck_assert_uint_eq(tree.soft.minor_faults, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	expect_counting(fd);
}
END_TEST

/* --- suspended while an overflow holds the counters, but not the clock --- */

static volatile sig_atomic_t overflows;

static void note_overflow(int signo)
{
	(void)signo;
	overflows++;
}

static void suspend_after_overflow(uint32_t flags)
{
	struct perfctr_control control;
	struct perfctr_read before, after;
	int fd = open_self();

	overflows = 0;
	ck_assert(signal(SIGUSR1, note_overflow) != SIG_ERR);
	control_init(&control);
	control.tsc_on = 1;
	control.flags = flags;
	control_add_ictr(&control, EV_INSTRUCTIONS, -1000);
	control.si_signo = SIGUSR1;
	set_control(fd, &control);
	body_spin(LOOPS);
	ck_assert_int_eq(overflows, 1);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	read_all(fd, &before);
	body_spin(LOOPS);
	read_all(fd, &after);
	ck_assert_uint_eq(after.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_OVERFLOWN |
				       PERFCTR_READ_SUSPENDED);
	ck_assert_uint_eq(after.clock, before.clock);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	read_all(fd, &before);
	body_spin(LOOPS * 10);
	read_all(fd, &after);
	ck_assert_uint_eq(after.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_OVERFLOWN);
	ck_assert_uint_gt(after.clock, before.clock);
	ck_assert_uint_eq(after.sum[0], before.sum[0]);
	unlink_self(fd);
	close(fd);
}

START_TEST(suspended_after_an_overflow)
{
	unsigned int i;

	/* A switch in between would let the clock go on in any case, so tries several times. */
	for (i = 0; i < 20; i++) {
		suspend_after_overflow(0);
		suspend_after_overflow(PERFCTR_CONTROL_INHERIT);
	}
}
END_TEST

/* --- suspended over an exec --- */

static void still_after_exec(int fd)
{
	struct perfctr_read rd;

	read_all(fd, &rd);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_SUSPENDED);
	ck_assert_uint_eq(rd.clock, 0);
	ck_assert_uint_eq(rd.sum[0], 0);
	ck_assert_uint_eq(rd.soft.switches, 0);
	ck_assert_uint_eq(rd.soft.minor_faults, 0);
	expect_still(fd);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	expect_counting(fd);
}

static void exec_self(const char *what, int fd)
{
	char number[16];

	(void)snprintf(number, sizeof(number), "%d", fd);
	(void)fcntl(fd, F_SETFD, 0);
	execl(SELF, SELF, what, number, NULL);
}

static void run_suspended_at_exec(uint32_t flags, bool resumed)
{
	pid_t child;
	int fd;

	ck_ok(child = fork());
	if (!child) {
		fd = count_with(PERFCTR_CONTROL_ON_EXEC | flags);
		if (!(flags & PERFCTR_CONTROL_SUSPENDED))
			ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
		if (resumed)
			ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
		exec_self(resumed ? "counting" : "suspended", fd);
		_exit(101);
	}
	expect_exit(child, 0);
}

START_TEST(suspended_before_exec)
{
	run_suspended_at_exec(0, false);
	run_suspended_at_exec(PERFCTR_CONTROL_INHERIT, false);
	run_suspended_at_exec(PERFCTR_CONTROL_SUSPENDED, false);
	run_suspended_at_exec(PERFCTR_CONTROL_SUSPENDED | PERFCTR_CONTROL_INHERIT, false);
	run_suspended_at_exec(0, true);
	run_suspended_at_exec(PERFCTR_CONTROL_SUSPENDED, true);
}
END_TEST

/* --- who may suspend --- */

/* In a child: 0 if both calls fail with @err, or succeed if @err is 0 */
static int try_stop_go(int fd, int err)
{
	int i;

	for (i = 0; i < 2; i++) {
		errno = 0;
		if ((ioctl(fd, i ? PERFCTR_IOC_RESUME : PERFCTR_IOC_SUSPEND) ? errno : 0) != err)
			return 1 + i;
	}
	return 0;
}

static void others_get(uint32_t flags, int err)
{
	int fd = count_with(flags), other = open_self();
	pid_t child;

	ck_assert_int_eq(try_stop_go(other, err), 0);
	ck_assert_int_eq(try_stop_go(fd, 0), 0);
	expect_counting(fd);
	if (flags & PERFCTR_CONTROL_INHERIT) {
		ck_ok(child = fork());
		if (!child)
			_exit(try_stop_go(open_self(), err) ?: try_stop_go(fd, 0));
		expect_exit(child, 0);
		expect_counting(fd);
	}
	/* Nobody holds it any more. */
	close(fd);
	ck_assert_int_eq(try_stop_go(other, 0), 0);
	expect_counting(other);
	close(other);
}

START_TEST(holder_only_suspends)
{
	others_get(0, 0);
	others_get(PERFCTR_CONTROL_INHERIT, 0);
	others_get(PERFCTR_CONTROL_HOLDER_ONLY, EBUSY);
	others_get(PERFCTR_CONTROL_HOLDER_ONLY | PERFCTR_CONTROL_INHERIT, EBUSY);
}
END_TEST

/* --- what was done to an old tree is not done to a new control --- */

#define ROUNDS 150u

START_TEST(old_tree_does_not_stop_a_new_control)
{
	volatile int *ready = shared_alloc(sizeof(*ready));
	unsigned int i;
	pid_t child;
	int fd, own;

	for (i = 0; i < ROUNDS; i++) {
		fd = count_with(PERFCTR_CONTROL_INHERIT);
		*ready = 0;
		ck_ok(child = fork());
		if (!child) {
			own = try_open(0);
			*ready = 1;
			while (!ioctl(own, PERFCTR_IOC_RESUME) && !ioctl(own, PERFCTR_IOC_SUSPEND))
				continue;
			_exit(0);
		}
		while (!*ready)
			sched_yield();
		sleep_us(300 + i % 50 * 20);
		control_with(fd, 0);
		expect_counting(fd);
		ck_ok(kill(child, SIGKILL));
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		close(fd);
		unlink_self(open_self());
	}
}
END_TEST

/* --- nothing stays claimed when nobody can read it --- */

static bool perf_counts(void)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_init(&attr, EV_INSTRUCTIONS);
	fd = perf_open(&attr, 0, -1, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The root has ended, its handle is closed, and a descendant sleeps. */
START_TEST(sleeping_descendant_claims_nothing)
{
	int gate[2];
	pid_t root, sleeper;
	int fd;

	ck_assert(perf_counts());
	ck_ok(pipe(gate));
	ck_ok(root = fork());
	if (!root) {
		become(GUEST_UID);
		fd = count_with(PERFCTR_CONTROL_INHERIT);
		sleeper = fork();
		if (!sleeper) {
			close(fd);
			(void)!write(gate[1], "x", 1);
			pause();
			_exit(0);
		}
		if (write(gate[1], &sleeper, sizeof(sleeper)) != sizeof(sleeper))
			_exit(1);
		sleep_us(100000);
		_exit(perf_counts());	/* not while we count */
	}
	{
		char seen[1 + sizeof(sleeper)];
		size_t have = 0;

		while (have < sizeof(seen)) {
			ssize_t n = read(gate[0], seen + have, sizeof(seen) - have);

			ck_assert_int_gt(n, 0);
			have += (size_t)n;
		}
		/* The byte may come before the number or after it. */
		memcpy(&sleeper, seen[0] == 'x' ? seen + 1 : seen, sizeof(sleeper));
	}
	expect_exit(root, 0);
	sleep_us(100000);
	ck_assert(perf_counts());
	ck_ok(kill(sleeper, SIGKILL));
}
END_TEST

/* --- a read is of one moment --- */

/* Clock and instructions of all modes in step, also if the read faults a page in. */
START_TEST(read_into_a_fresh_page)
{
	double ticks = (double)guest.info.tsc_hz / 1e9;
	struct perfctr_control control;
	uint64_t here[2] = { 0 };
	double least = 1e9;
	int fd = open_self();
	unsigned int i;

	control_init(&control);
	control.tsc_on = 1;
	control_add_at(&control, PERFCTR_MAP_ANY, EV_INSTRUCTIONS,
		       PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL);
	set_control(fd, &control);
	/* While another CPU executes, the clock goes on but this CPU's instructions do not. */
	if (guest.ncpus > 1)
		ck_assert_int_eq(cpu_online(1, false), 0);
	for (i = 0; i < 20; i++) {
		uint64_t *to = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		double drift;

		ck_assert(to != MAP_FAILED);
		ck_assert_int_eq(read(fd, here, sizeof(here)), sizeof(here));
		ck_assert_int_eq(read(fd, to, sizeof(here)), sizeof(here));
		/* An instruction takes a nanosecond. */
		drift = (double)(to[0] - here[0]) / ticks - (double)(to[1] - here[1]);
		if (fabs(drift) < least)
			least = fabs(drift);
		munmap(to, PAGE_SIZE);
	}
	if (guest.ncpus > 1)
		ck_assert_int_eq(cpu_online(1, true), 0);
	/* A tick of the clock, and the firmware's part; at least once nothing interrupts. */
	ck_assert_msg(least < 1 / ticks + 1000, "clock and instructions are %.0f ns apart",
		      least);
}
END_TEST

/* --- exec, vfork, end --- */

static bool readable(const struct perfctr_page *page)
{
	return !page_asks(page, 0);
}

/* A thread that execs gets the id of its process's first thread, and goes on counting with it. */
static void *exec_in_thread(void *arg)
{
	int fd = try_open(PERFCTR_OPEN_CREAT);
	struct perfctr_control control;

	(void)arg;
	control_init(&control);
	control.tsc_on = 1;
	if (fd < 0 || try_control(fd, &control))
		_exit(102);
	exec_self("tid", fd);
	_exit(103);
}

START_TEST(thread_that_execs_has_its_process_id)
{
	pthread_t thread;
	unsigned int i;
	pid_t child;

	for (i = 0; i < 20; i++) {
		ck_ok(child = fork());
		if (!child) {
			if (pthread_create(&thread, NULL, exec_in_thread, NULL))
				_exit(104);
			for (;;)
				pause();
		}
		expect_exit(child, 0);
	}
}
END_TEST

static int fdinfo_tid(int fd)
{
	char path[64], text[256], *line;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (read_text(path, text, sizeof(text)) < 0)
		return -1;
	line = strstr(text, "tid:\t");
	return line ? atoi(line + 5) : -1;
}

/* A process that keeps the memory which another process left by exec */
struct left {
	const struct perfctr_page *page;
	volatile int shown, wrong, done;
};

/* The new program writes here when it counts. */
#define GATE 100

static int stay(void *arg)
{
	struct left *left = arg;
	const struct perfctr_page *page = left->page;
	struct perfctr_page then;
	unsigned int i, k;

	/* Until after the exec, and somewhat longer */
	for (i = 0; i < 1000 && left->shown != 1; i++)
		sleep_us(1000);
	memcpy(&then, page, sizeof(then));
	for (i = 0; i < 50; i++) {
		sleep_us(1000);
		for (k = 0; k < PERFCTR_PAGE_SLOTS; k++)
			if (page->slot[k].owner)
				left->wrong = 1;
		if (page->seq >= 0)
			left->wrong = 2;
		if (memcmp(page->slot, then.slot, sizeof(then.slot)) != 0)
			left->wrong = 3;
	}
	left->done = 1;
	_exit(0);
}

START_TEST(old_memory_does_not_see_an_exec)
{
	struct left *left = shared_alloc(sizeof(*left));
	char *stack = shared_alloc(65536);
	int gate[2], fd, status;
	pid_t child;
	char byte;

	ck_ok(pipe(gate));
	ck_ok(child = fork());
	if (!child) {
		fd = count_with(0);
		left->page = map_page(fd);
		if (clone(stay, stack + 65536, CLONE_VM | CLONE_PARENT | SIGCHLD, left) < 0)
			_exit(105);
		dup2(gate[1], GATE);
		exec_self("mapped", fd);
		_exit(106);
	}
	/* The new program counts, and has mapped its own page. */
	close(gate[1]);
	ck_assert_int_eq(read(gate[0], &byte, 1), 1);
	left->shown = 1;
	while (!left->done && !left->wrong)
		sleep_us(1000);
	ck_assert_int_eq(left->wrong, 0);
	ck_ok(kill(child, SIGKILL));
	while (waitpid(-1, &status, __WALL) > 0)
		continue;
}
END_TEST

/* A tracer that follows vfork leaves the page readable after it. */
START_TEST(vfork_under_a_tracer)
{
	const struct perfctr_page *page;
	pid_t traced, child, who;
	int fd, status, stops = 0;

	ck_ok(traced = fork());
	if (!traced) {
		fd = count_with(0);
		page = map_page(fd);
		sleep_us(2000);
		if (!readable(page))
			_exit(1);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		child = vfork();	/* NOLINT(*vfork,bugprone-unsafe-functions) */
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
		raise(SIGSTOP);
		sleep_us(2000);
		_exit(readable(page) ? 0 : 2);
	}
	ck_assert_int_eq(waitpid(traced, &status, 0), traced);
	ck_ok(ptrace(PTRACE_SETOPTIONS, traced, NULL,
		     PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE));
	ck_ok(ptrace(PTRACE_CONT, traced, NULL, NULL));
	while ((who = waitpid(-1, &status, __WALL)) > 0) {
		if (who != traced) {
			if (WIFSTOPPED(status))
				ptrace(PTRACE_CONT, who, NULL, NULL);
		} else if (!WIFSTOPPED(status)) {
			break;
		} else if (WSTOPSIG(status) == SIGSTOP) {
			ck_ok(ptrace(PTRACE_DETACH, traced, NULL, NULL));
		} else {
			stops += WSTOPSIG(status) == SIGTRAP;
			ptrace(PTRACE_CONT, traced, NULL,
			       (void *)(WSTOPSIG(status) == SIGTRAP ? 0l :
					(long)WSTOPSIG(status)));
		}
	}
	ck_assert_int_ge(stops, 1);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* A live member has a name, also while it ends. */
START_TEST(dying_members_have_names)
{
	int fd = count_with(PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP);
	struct perfctr_member member;
	unsigned int i, n = 0;
	pid_t child;

	for (i = 0; i < 300; i++) {
		ck_ok(child = fork());
		if (!child)
			_exit(0);
		for (;;) {
			member.size = sizeof(member);
			member.cursor = i;
			if (!ioctl(fd, PERFCTR_IOC_NEXT_MEMBER, &member)) {
				n += member.flags & PERFCTR_MEMBER_LIVE;
				ck_assert_msg(member.comm[0], "member %u of flags %#x", i,
					      member.flags);
				if (!(member.flags & PERFCTR_MEMBER_LIVE))
					break;
			}
			if (i % 2)
				sched_yield();
		}
		expect_exit(child, 0);
	}
	ck_assert_uint_gt(n, 0);
}
END_TEST

/* --- members that are kept --- */

START_TEST(no_more_are_kept_than_the_parameter)
{
	struct perfctr_member member = { .cursor = 0 };
	struct perfctr_read_tree tree;
	unsigned int i;
	pid_t child;
	int fd;

	ck_assert_int_eq(write_text(MODULE_PARAMS "keep", "10"), 0);
	fd = count_with(PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP);
	for (i = 0; i < 25; i++) {
		ck_ok(child = fork());
		if (!child)
			_exit(0);
		expect_exit(child, 0);
	}
	ck_assert_int_eq(try_read_tree(fd, ALL, &tree), 0);
	ck_assert_uint_eq(tree.ended, 25);
	ck_assert_uint_eq(tree.missed, 0);
	ck_assert_uint_eq(tree.not_kept, 15);
	for (i = 0;; i++) {
		member.size = sizeof(member);
		if (ioctl(fd, PERFCTR_IOC_NEXT_MEMBER, &member))
			break;
		ck_assert_uint_eq(member.cursor, i + 1);
	}
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_uint_eq(i, 10);
	ck_assert_int_eq(write_text(MODULE_PARAMS "keep", "65536"), 0);
}
END_TEST

/* --- what a test's child does after its exec, with the handle that it has left open --- */

static struct {
	const char *what;
	int fd;
} after;

START_TEST(after_exec_child)
{
	const struct perfctr_page *page;
	unsigned int i;

	ck_ok(ioctl(after.fd, PERFCTR_IOC_INFO, &guest.info));
	guest.nprogrammable = guest.info.nrctrs;
	if (!strcmp(after.what, "suspended")) {
		still_after_exec(after.fd);
	} else if (!strcmp(after.what, "counting")) {
		expect_counting(after.fd);
	} else if (!strcmp(after.what, "tid")) {
		ck_assert_int_eq(fdinfo_tid(after.fd), getpid());
	} else if (!strcmp(after.what, "mapped")) {
		page = map_page(after.fd);
		sleep_us(2000);
		ck_assert(readable(page));
		ck_assert_int_eq(write(GATE, "x", 1), 1);
		for (i = 0; i < 1000; i++)
			sleep_us(1000);
	}
}
END_TEST

/* Without a child for the test, as the state is this process's. 0 if it passed */
static int run_after_exec(void)
{
	Suite *suite = suite_create("exec");
	TCase *tcase = tcase_create("exec");
	SRunner *runner;
	int failed;

	guest.info.size = sizeof(guest.info);
	tcase_add_test(tcase, after_exec_child);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	if (failed)
		srunner_print(runner, CK_NORMAL);
	srunner_free(runner);
	return failed != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		after.what = argv[1];
		after.fd = atoi(argv[2]);
		return run_after_exec();
	}
	guest_begin("hold", NULL);
	GUEST_RUN(control_suspended, AS_USER);
	GUEST_RUN(tree_suspended, AS_USER);
	GUEST_RUN(suspended_after_an_overflow, NEED_INTERRUPT | AS_USER);
	GUEST_RUN(suspended_before_exec, AS_USER);
	GUEST_RUN(holder_only_suspends, AS_USER);
	GUEST_RUN(old_tree_does_not_stop_a_new_control, NEED_SMP | AS_USER);
	GUEST_RUN(sleeping_descendant_claims_nothing, NEED_COUNTERS | NEED_PERF | NEED_NO_BESIDE);
	GUEST_RUN(read_into_a_fresh_page, NEED_COUNTERS);
	GUEST_RUN(thread_that_execs_has_its_process_id, AS_USER);
	GUEST_RUN(old_memory_does_not_see_an_exec, NEED_COUNTERS | NEED_USER_READ);
	GUEST_RUN(vfork_under_a_tracer, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(dying_members_have_names, AS_USER);
	GUEST_RUN(no_more_are_kept_than_the_parameter, 0);
	hold_raw();
	return guest_end();
}
