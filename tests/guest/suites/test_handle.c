// SPDX-License-Identifier: GPL-2.0
/*
 * The handle of a thread's counters: passed on, read while the thread runs,
 * sleeps or dies, and afterwards; and what becomes of counting at fork.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/rivals.h"
#include "suites/handle.h"

/* Counts, stores its last own read in @arg, sleeps until it is told, and exits. */
static void count_and_exit(int fd, int sock, void *arg)
{
	struct perfctr_read *last = arg;

	body_spin(LOOPS);
	if (try_read(fd, last))
		_exit(103);
	say_byte(sock);
	await_byte(sock);
	_exit(0);
}

START_TEST(read_after_death)
{
	struct perfctr_control control = instructions_and_clock();
	struct perfctr_read *last = shared_alloc(sizeof(*last));
	struct perfctr_read first, second;
	struct child child = child_start(&control, count_and_exit, last);

	await_byte(child.sock);
	child_go(&child);
	expect_exit(child.pid, 0);
	read_dead(child.fd, &first);
	ck_assert_uint_eq(first.error, PERFCTR_ERROR_NONE);
	ck_assert_uint_eq(first.cstatus, last->cstatus);
	ck_assert_uint_gt(first.clock, last->clock);
	if (control.nractrs) {
		ck_assert_uint_gt(first.sum[0], last->sum[0]);
		/* The rest is a few calls. */
		ck_assert_uint_lt(first.sum[0], last->sum[0] + 2000);
	}
	sleep_us(10000);
	read_dead(child.fd, &second);
	ck_assert_mem_eq(&first, &second, sizeof(first));
}
END_TEST

/* --- reads of a thread that runs --- */

struct runner {
	unsigned int cpu;
	pthread_t pthread;
	volatile pid_t tid;
	volatile int fd;
	volatile bool stop;
	volatile uint64_t loops;
};

static void *runner_run(void *arg)
{
	struct perfctr_control control = instructions_and_clock();
	struct runner *runner = arg;
	int fd;

	pin_self(runner->cpu);
	runner->tid = gettid();
	fd = try_open(PERFCTR_OPEN_CREAT);
	if (fd >= 0 && try_control(fd, &control))
		fd = -1;
	runner->fd = fd;
	while (!runner->stop) {
		body_spin(1000);
		runner->loops++;
	}
	return NULL;
}

static struct runner *runner_start(unsigned int cpu)
{
	struct runner *runner = shared_alloc(sizeof(*runner));

	runner->cpu = cpu;
	runner->fd = -2;
	ck_assert_int_eq(pthread_create(&runner->pthread, NULL, runner_run, runner), 0);
	while (runner->fd == -2)
		sleep_us(100);
	ck_assert_int_ge(runner->fd, 0);
	return runner;
}

/*
 * What a read tells lies between what the thread had done before it and after it. Each turn
 * of the thread's loop is at least body_spin(1000).
 */
static void read_running(struct runner *runner)
{
	uint64_t last = 0, loops_before, loops_after;
	struct perfctr_read rd;
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		loops_before = runner->loops;
		read_all(runner->fd, &rd);
		loops_after = runner->loops;
		ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED);
		ck_assert_uint_ge(rd.sum[0], last);
		ck_assert_uint_ge(rd.sum[0], loops_before * BODY_SPIN(1000));
		/* A turn is the loop, its call and the bookkeeping: below 20 more. */
		ck_assert_uint_le(rd.sum[0], (loops_after + 1) * (BODY_SPIN(1000) + 20) + 5000);
		last = rd.sum[0];
		if (i % 64 == 0)
			sched_yield();
	}
	ck_assert_uint_gt(last, 0);
}

static void runner_stop(struct runner *runner)
{
	runner->stop = true;
	pthread_join(runner->pthread, NULL);
}

START_TEST(read_running_on_this_cpu)
{
	struct runner *runner;

	pin_self(0);
	runner = runner_start(0);
	read_running(runner);
	runner_stop(runner);
}
END_TEST

START_TEST(read_running_on_another_cpu)
{
	struct runner *runner;

	pin_self(0);
	runner = runner_start(1);
	read_running(runner);
	runner_stop(runner);
}
END_TEST

START_TEST(read_while_it_moves)
{
	struct runner *runner = runner_start(0);
	struct mover *mover;

	pin_self(0);
	mover = mover_start(runner->tid, 200);
	read_running(runner);
	mover_stop(mover);
	runner_stop(runner);
}
END_TEST

START_TEST(read_sleeping)
{
	struct perfctr_control control = instructions_and_clock();
	struct perfctr_read *own = shared_alloc(sizeof(*own));
	struct perfctr_read first, second;
	struct child child = child_start(&control, count_and_exit, own);

	await_byte(child.sock);
	sleep_us(20000);
	read_all(child.fd, &first);
	sleep_us(20000);
	read_all(child.fd, &second);
	ck_assert_uint_eq(first.flags, PERFCTR_READ_ATTACHED);
	ck_assert_mem_eq(&first, &second, sizeof(first));
	ck_assert_uint_ge(first.clock, own->clock);
	if (control.nractrs)
		ck_assert_uint_gt(first.sum[0], own->sum[0]);
	child_go(&child);
	expect_exit(child.pid, 0);
}
END_TEST

/* Reads without a pause while the thread exits: right before, during and after. */
START_TEST(read_while_it_dies)
{
	struct perfctr_control control = instructions_and_clock();
	struct perfctr_read *own = shared_alloc(sizeof(*own));
	struct perfctr_read rd, final;
	unsigned int i, seen_alive = 0;

	for (i = 0; i < 200; i++) {
		struct child child = child_start(&control, count_and_exit, own);
		uint64_t last_sum = 0, last_clock = 0;

		await_byte(child.sock);
		child_go(&child);
		do {
			read_all(child.fd, &rd);
			ck_assert_uint_ge(rd.clock, last_clock);
			ck_assert_uint_ge(rd.sum[0], last_sum);
			ck_assert_uint_ge(rd.clock, own->clock);
			last_sum = rd.sum[0];
			last_clock = rd.clock;
			seen_alive += (rd.flags & PERFCTR_READ_ATTACHED) != 0;
			if (i & 1)
				sched_yield();
		} while (rd.flags & PERFCTR_READ_ATTACHED);
		expect_exit(child.pid, 0);
		read_dead(child.fd, &final);
		ck_assert_uint_eq(final.clock, rd.clock);
		ck_assert_uint_eq(final.sum[0], rd.sum[0]);
		close(child.fd);
		close(child.sock);
	}
	ck_assert_uint_gt(seen_alive, 0);
}
END_TEST

/* A killed thread leaves its sums, as one that exits does. */
static void spin_forever(int fd, int sock, void *arg)
{
	(void)fd;
	(void)arg;
	say_byte(sock);
	for (;;)
		body_spin(1000);
}

START_TEST(read_after_a_kill)
{
	struct perfctr_control control = instructions_and_clock();
	struct child child = child_start(&control, spin_forever, NULL);
	struct perfctr_read before, after;
	int status;

	await_byte(child.sock);
	sleep_us(20000);
	read_all(child.fd, &before);
	ck_ok(kill(child.pid, SIGKILL));
	ck_assert_int_eq(waitpid(child.pid, &status, 0), child.pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	read_dead(child.fd, &after);
	ck_assert_uint_ge(after.clock, before.clock);
	if (control.nractrs)
		ck_assert_uint_ge(after.sum[0], before.sum[0]);
}
END_TEST

/* --- the last close --- */

/* The thread loses all its handles and counts on: a new handle shows it. */
START_TEST(counting_outlives_the_handle)
{
	struct perfctr_control control = instructions_and_clock();
	struct perfctr_read before, after;
	int fd = open_self();

	set_control(fd, &control);
	read_all(fd, &before);
	close(fd);
	body_spin(LOOPS);
	ck_ok(fd = try_open(0));
	read_all(fd, &after);
	ck_assert_uint_eq(after.cstatus, before.cstatus);
	ck_assert_uint_eq(after.flags, PERFCTR_READ_ATTACHED);
	ck_assert_uint_gt(after.clock, before.clock);
	if (control.nractrs)
		ck_assert_uint_ge(after.sum[0] - before.sum[0], BODY_SPIN(LOOPS));
	/* The holder went with its last close. */
	set_control(fd, &control);
	unlink_self(fd);
}
END_TEST

/* Ends in the other order: first the thread, then the last handle. */
START_TEST(many_come_and_go)
{
	struct perfctr_control control = instructions_and_clock();
	struct perfctr_read *own = shared_alloc(sizeof(*own));
	unsigned int i;

	for (i = 0; i < 300; i++) {
		struct child child = child_start(&control, count_and_exit, own);

		/* Every second handle is closed while its thread still runs. */
		if (i & 1)
			close(child.fd);
		await_byte(child.sock);
		child_go(&child);
		expect_exit(child.pid, 0);
		if (!(i & 1))
			close(child.fd);
		close(child.sock);
	}
}
END_TEST

/* --- recognisable --- */

START_TEST(recognisable_in_proc)
{
	struct perfctr_control control = instructions_and_clock();
	char path[64], text[1024], tid[32], cstatus[32];
	struct perfctr_read rd;
	int fd = open_self();
	ssize_t len;

	set_control(fd, &control);
	read_all(fd, &rd);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = readlink(path, text, sizeof(text) - 1);
	ck_ok(len);
	text[len] = '\0';
	ck_assert_str_eq(text, PERFCTR_DEVICE);

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	ck_assert_int_gt(read_text(path, text, sizeof(text)), 0);
	(void)snprintf(tid, sizeof(tid), "tid:\t%d\n", gettid());
	ck_assert_msg(strstr(text, tid) != NULL, "no \"%s\" in \"%s\"", tid, text);
	(void)snprintf(cstatus, sizeof(cstatus), "cstatus:\t%#x\n", rd.cstatus);
	ck_assert_msg(strstr(text, cstatus) != NULL, "no \"%s\" in \"%s\"", cstatus, text);
}
END_TEST

/* --- fork and threads --- */

struct seen {
	volatile int asks;
	volatile int open_err;
	volatile uint64_t own;
	volatile uint64_t before;
	volatile uint64_t after;
	volatile uint64_t snapshot;
};

static struct vperfctr *library_counts(void)
{
	struct vperfctr *v = vperfctr_open();
	struct perfctr_control control = instructions_and_clock();

	ck_assert_ptr_nonnull(v);
	ck_ok(vperfctr_control_native(v, &control));
	return v;
}

/* Out of line: a vfork beside it could clobber the registers of an inlined read. */
static __attribute__((noinline)) uint64_t own_count(struct vperfctr *v)
{
	return vperfctr_read_pmc(v, 0);
}

/*
 * What another task sees through the inherited page and handle. Each look at a
 * thread on another CPU is an interrupt there.
 */
#define LOOKS 2000

static void look_at_parent(struct vperfctr *v, struct seen *seen)
{
	struct perfctr_sum_ctrs sum;
	unsigned int i;

	seen->before = vperfctr_read_pmc(v, 0);
	for (i = 0; i < LOOKS; i++) {
		seen->asks = page_asks(vperfctr_page(v), 0);
		if (!seen->asks)
			return;
		seen->after = vperfctr_read_pmc(v, 0);
		if (vperfctr_read_ctrs(v, &sum))
			return;
		seen->snapshot = sum.pmc[0];
	}
}

static void check_seen(struct vperfctr *v, const struct seen *seen, uint64_t start)
{
	uint64_t now = own_count(v);

	ck_assert_int_eq(seen->asks, 1);
	ck_assert_uint_ge(seen->before, start);
	ck_assert_uint_ge(seen->after, seen->before);
	ck_assert_uint_ge(seen->snapshot, seen->after);
	ck_assert_uint_ge(now, seen->snapshot);
}

START_TEST(child_does_not_count)
{
	struct perfctr_control control = instructions_and_clock();
	struct perfctr_read before, after;
	int fd = open_self();
	pid_t child;

	set_control(fd, &control);
	read_all(fd, &before);
	ck_ok(child = fork());
	if (!child) {
		/* The child has no counters of its own, and its work is not counted. */
		if (try_open(0) != -ENOENT)
			_exit(1);
		body_spin(50 * LOOPS);
		_exit(0);
	}
	expect_exit(child, 0);
	read_all(fd, &after);
	ck_assert_uint_lt(after.sum[0] - before.sum[0], BODY_SPIN(50 * LOOPS));
}
END_TEST

START_TEST(child_reads_parents_page)
{
	struct seen *seen = shared_alloc(sizeof(*seen));
	struct vperfctr *v = library_counts();
	uint64_t start = own_count(v);
	pid_t child;
	unsigned int i;

	ck_ok(child = fork());
	if (!child) {
		look_at_parent(v, seen);
		_exit(0);
	}
	/* The parent runs meanwhile, with and without pauses. */
	for (i = 0; i < 2000; i++) {
		body_spin(1000);
		sched_yield();
	}
	expect_exit(child, 0);
	check_seen(v, seen, start);
}
END_TEST

START_TEST(child_reads_page_of_another_cpu)
{
	struct seen *seen = shared_alloc(sizeof(*seen));
	struct vperfctr *v = library_counts();
	uint64_t start = own_count(v);
	pid_t child;
	int status;

	pin_self(0);
	ck_ok(child = fork());
	if (!child) {
		pin_self(1);
		look_at_parent(v, seen);
		_exit(0);
	}
	do {
		body_spin(100000);
	} while (waitpid(child, &status, WNOHANG) == 0);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	check_seen(v, seen, start);
}
END_TEST

/* A child that has counters of its own, mapped, reads the parent's through the kernel. */
START_TEST(child_with_own_counters)
{
	struct seen *seen = shared_alloc(sizeof(*seen));
	struct vperfctr *v = library_counts();
	uint64_t start = own_count(v);
	pid_t child;
	unsigned int i;

	ck_ok(child = fork());
	if (!child) {
		struct perfctr_control control = instructions_and_clock();
		struct vperfctr *own = vperfctr_open();

		if (!own || vperfctr_control_native(own, &control))
			_exit(1);
		body_spin(LOOPS);
		look_at_parent(v, seen);
		seen->own = vperfctr_read_pmc(own, 0);
		_exit(0);
	}
	for (i = 0; i < 2000; i++) {
		body_spin(1000);
		sched_yield();
	}
	expect_exit(child, 0);
	check_seen(v, seen, start);
	ck_assert_uint_gt(seen->own, BODY_SPIN(LOOPS));
}
END_TEST

struct sibling {
	struct vperfctr *v;
	struct seen seen;
};

static void *look_as_sibling(void *arg)
{
	struct sibling *sibling = arg;

	sibling->seen.open_err = try_open(0);
	look_at_parent(sibling->v, &sibling->seen);
	return NULL;
}

START_TEST(sibling_reads_page)
{
	struct sibling sibling = { .v = library_counts() };
	uint64_t start = vperfctr_read_pmc(sibling.v, 0);
	pthread_t thread;
	unsigned int i;

	ck_assert_int_eq(pthread_create(&thread, NULL, look_as_sibling, &sibling), 0);
	for (i = 0; i < 2000; i++) {
		body_spin(1000);
		sched_yield();
	}
	pthread_join(thread, NULL);
	ck_assert_int_eq(sibling.seen.open_err, -ENOENT);
	check_seen(sibling.v, &sibling.seen, start);
}
END_TEST

START_TEST(sibling_reads_page_on_another_cpu)
{
	struct sibling sibling = { .v = library_counts() };
	uint64_t start = vperfctr_read_pmc(sibling.v, 0);
	pthread_t thread;
	cpu_set_t set;
	unsigned int i;

	pin_self(0);
	ck_assert_int_eq(pthread_create(&thread, NULL, look_as_sibling, &sibling), 0);
	CPU_ZERO(&set);
	CPU_SET(1, &set);
	pthread_setaffinity_np(thread, sizeof(set), &set);
	for (i = 0; i < 200; i++)
		body_spin(100000);
	pthread_join(thread, NULL);
	check_seen(sibling.v, &sibling.seen, start);
}
END_TEST

/*
 * The child of a vfork borrows the parent's memory and thread pointer, but it is not the
 * counted thread.
 */
static __attribute__((noinline)) void look_as_vfork(struct vperfctr *v, struct seen *seen)
{
	seen->asks = page_asks(vperfctr_page(v), 0);
	seen->before = vperfctr_read_pmc(v, 0);
	body_spin(LOOPS);
	seen->after = vperfctr_read_pmc(v, 0);
	seen->snapshot = seen->after;
}

START_TEST(vfork_reads_page)
{
	struct seen *seen = shared_alloc(sizeof(*seen));
	struct vperfctr *v = library_counts();
	uint64_t start = own_count(v);
	pid_t child;

	/* Code of ours that runs in the parent's memory after vfork() is the test. */
	child = vfork();	/* NOLINT(*vfork,bugprone-unsafe-functions) */
	if (!child) {
		look_as_vfork(v, seen);	/* NOLINT(*.Vfork) */
		_exit(0);
	}
	ck_ok(child);
	expect_exit(child, 0);
	check_seen(v, seen, start);
	/* The parent did nothing meanwhile. */
	ck_assert_uint_eq(seen->after, seen->before);
}
END_TEST

/* The owner itself does read its registers: without that the tests above would say little. */
START_TEST(owner_reads_registers)
{
	struct vperfctr *v = library_counts();
	const struct perfctr_page *page = vperfctr_page(v);

	ck_assert(!page_asks(page, 0));
	ck_assert(may_read_register(page_hw_counter(page, 0)));
	vperfctr_close(v);
}
END_TEST

int main(void)
{
	guest_begin("handle", NULL);
	GUEST_RUN(read_after_death, AS_USER);
	handle_exec();
	GUEST_RUN(read_running_on_this_cpu, NEED_COUNTERS | AS_USER);
	GUEST_RUN(read_running_on_another_cpu, NEED_COUNTERS | NEED_SMP | AS_USER);
	GUEST_RUN(read_while_it_moves, NEED_COUNTERS | NEED_SMP | AS_USER);
	GUEST_RUN(read_sleeping, AS_USER);
	GUEST_RUN(read_while_it_dies, AS_USER);
	GUEST_RUN(read_after_a_kill, AS_USER);
	GUEST_RUN(counting_outlives_the_handle, AS_USER);
	GUEST_RUN(many_come_and_go, AS_USER);
	GUEST_RUN(recognisable_in_proc, AS_USER);
	GUEST_RUN(child_does_not_count, NEED_COUNTERS | AS_USER);
	GUEST_RUN(child_reads_parents_page, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(child_reads_page_of_another_cpu,
		  NEED_COUNTERS | NEED_USER_READ | NEED_SMP | AS_USER);
	GUEST_RUN(child_with_own_counters, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(sibling_reads_page, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(sibling_reads_page_on_another_cpu,
		  NEED_COUNTERS | NEED_USER_READ | NEED_SMP | AS_USER);
	GUEST_RUN(vfork_reads_page, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(owner_reads_registers, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	return guest_end();
}
