// SPDX-License-Identifier: GPL-2.0
/* What becomes of counting at exec. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "kit/rivals.h"
#include "suites/handle.h"

/* The final sum contains exactly what was executed up to the end. */
static void run_known(int fd, int sock, void *arg)
{
	(void)sock;
	(void)fd;
	execl(arg, arg, NULL);
	_exit(104);
}

static void count_on_exec(void *path, uint64_t length)
{
	struct perfctr_control control = instructions_and_clock();
	struct perfctr_read rd;
	struct child child;

	control.flags = PERFCTR_CONTROL_ON_EXEC;
	child = child_start(&control, run_known, path);
	expect_exit(child.pid, 0);
	read_dead(child.fd, &rd);
	ck_assert_uint_eq(rd.flags, 0);
	ck_assert_uint_gt(rd.clock, 0);
	ck_assert_uint_eq(rd.sum[0], length);
}

START_TEST(exec_of_known_length)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		count_on_exec(KNOWN_PATH, KNOWN_LENGTH(KNOWN_LOOPS));
		count_on_exec(KNOWN_OTHER_PATH, KNOWN_LENGTH(KNOWN_OTHER_LOOPS));
	}
}
END_TEST

START_TEST(exec_of_known_length_among_rivals)
{
	struct rivals_plan plan = { .cpu = -1 };
	struct rivals *rivals = rivals_start(&plan);
	unsigned int i;

	for (i = 0; i < 20; i++)
		count_on_exec(KNOWN_PATH, KNOWN_LENGTH(KNOWN_LOOPS));
	rivals_stop(rivals);
}
END_TEST

/* perf counts the same for the same program. */
START_TEST(exec_of_known_length_by_perf)
{
	struct perf_event_attr attr;
	char byte = 0;
	int gate[2], fd;
	pid_t pid;

	ck_ok(pipe(gate));
	ck_ok(pid = fork());
	if (!pid) {
		if (read(gate[0], &byte, 1) == 1)
			execl(KNOWN_PATH, KNOWN_PATH, NULL);
		_exit(1);
	}
	perf_attr_init(&attr, EV_INSTRUCTIONS);
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	fd = perf_open(&attr, pid, -1, -1);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(gate[1], &byte, 1), 1);
	expect_exit(pid, 0);
	ck_assert_uint_eq(perf_read_one(fd), KNOWN_LENGTH(KNOWN_LOOPS));
}
END_TEST

/* Nothing is counted before the exec, and a read says that the state waits for it. */
static void wait_then_run_known(int fd, int sock, void *arg)
{
	body_spin(LOOPS);
	say_byte(sock);
	await_byte(sock);
	run_known(fd, sock, arg);
}

START_TEST(on_exec_waits)
{
	struct perfctr_control control = instructions_and_clock();
	struct perfctr_read rd;
	struct child child;

	control.flags = PERFCTR_CONTROL_ON_EXEC;
	child = child_start(&control, wait_then_run_known, KNOWN_PATH);
	await_byte(child.sock);
	read_all(child.fd, &rd);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_ON_EXEC);
	ck_assert_uint_eq(rd.clock, 0);
	ck_assert_uint_eq(rd.sum[0], 0);
	child_go(&child);
	expect_exit(child.pid, 0);
	read_dead(child.fd, &rd);
	ck_assert_uint_eq(rd.flags, 0);
	ck_assert_uint_gt(rd.clock, 0);
	if (control.nractrs)
		ck_assert_uint_eq(rd.sum[0], KNOWN_LENGTH(KNOWN_LOOPS));
}
END_TEST

/* A failed exec changes nothing. */
static void fail_to_exec(int fd, int sock, void *arg)
{
	execl("/nonexistent", "/nonexistent", NULL);
	execl("/etc/passwd", "/etc/passwd", NULL);
	wait_then_run_known(fd, sock, arg);
}

START_TEST(failed_exec_starts_nothing)
{
	struct perfctr_control control = instructions_and_clock();
	struct perfctr_read rd;
	struct child child;

	control.flags = PERFCTR_CONTROL_ON_EXEC;
	child = child_start(&control, fail_to_exec, KNOWN_PATH);
	await_byte(child.sock);
	read_all(child.fd, &rd);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_ON_EXEC);
	ck_assert_uint_eq(rd.clock, 0);
	child_go(&child);
	expect_exit(child.pid, 0);
	read_dead(child.fd, &rd);
	if (control.nractrs)
		ck_assert_uint_eq(rd.sum[0], KNOWN_LENGTH(KNOWN_LOOPS));
}
END_TEST

/* Counting that has begun goes on over an exec, and adds up. */
struct before_exec {
	struct perfctr_read rd;
};

static void count_then_run_known(int fd, int sock, void *arg)
{
	struct before_exec *before = arg;

	(void)sock;
	body_spin(LOOPS);
	if (try_read(fd, &before->rd))
		_exit(103);
	execl(KNOWN_PATH, KNOWN_PATH, NULL);
	_exit(104);
}

START_TEST(counting_goes_on_over_exec)
{
	struct perfctr_control control = instructions_and_clock();
	struct before_exec *before = shared_alloc(sizeof(*before));
	struct perfctr_read rd;
	struct child child = child_start(&control, count_then_run_known, before);

	expect_exit(child.pid, 0);
	read_dead(child.fd, &rd);
	ck_assert_uint_gt(rd.clock, before->rd.clock);
	if (!control.nractrs)
		return;
	ck_assert_uint_ge(before->rd.sum[0], BODY_SPIN(LOOPS));
	/* Between the read and the exec lies the call of execl(), of some length. */
	ck_assert_uint_gt(rd.sum[0], before->rd.sum[0] + KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_lt(rd.sum[0], before->rd.sum[0] + KNOWN_LENGTH(KNOWN_LOOPS) + 1000);
}
END_TEST

START_TEST(cloexec_unlinks_at_exec)
{
	struct perfctr_control control = instructions_and_clock();
	struct before_exec *before = shared_alloc(sizeof(*before));
	struct perfctr_read rd;
	struct child child;

	control.flags = PERFCTR_CONTROL_CLOEXEC;
	child = child_start(&control, count_then_run_known, before);
	expect_exit(child.pid, 0);
	read_dead(child.fd, &rd);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_NONE);
	ck_assert_uint_ge(rd.clock, before->rd.clock);
	if (control.nractrs) {
		ck_assert_uint_gt(rd.sum[0], before->rd.sum[0]);
		ck_assert_uint_lt(rd.sum[0], before->rd.sum[0] + 1000);
	}
}
END_TEST

/* The two flags contradict each other: the exec unlinks. */
START_TEST(cloexec_and_on_exec)
{
	struct perfctr_control control = instructions_and_clock();
	struct perfctr_read rd;
	struct child child;

	control.flags = PERFCTR_CONTROL_CLOEXEC | PERFCTR_CONTROL_ON_EXEC;
	child = child_start(&control, run_known, KNOWN_PATH);
	expect_exit(child.pid, 0);
	read_dead(child.fd, &rd);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_NONE);
	ck_assert_uint_eq(rd.clock, 0);
	ck_assert_uint_eq(rd.sum[0], 0);
}
END_TEST

#define SETUID_COPY "/tmp/known_setuid"
#define UNREADABLE_COPY "/tmp/known_unreadable"

static void copy_program(const char *to, mode_t mode)
{
	char buf[16384];
	ssize_t len;
	int in, out;

	ck_ok(in = open(KNOWN_PATH, O_RDONLY | O_CLOEXEC));
	ck_ok(out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
	while ((len = read(in, buf, sizeof(buf))) > 0)
		ck_assert_int_eq(write(out, buf, (size_t)len), len);
	close(in);
	ck_ok(fchmod(out, mode));
	close(out);
}

static void stops_at_exec(char *path, unsigned int flags)
{
	struct perfctr_control control = instructions_and_clock();
	struct perfctr_read rd;
	struct child child;
	int err;

	control.flags = flags;
	child = child_start(&control, run_known, path);
	expect_exit(child.pid, 0);
	err = try_read(child.fd, &rd);
	ck_assert_int_eq(err, -EIO);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_EXEC);
	ck_assert_uint_eq(rd.flags & PERFCTR_READ_ATTACHED, 0);
	/* Nothing of the program itself was counted. */
	if (control.nractrs)
		ck_assert_uint_lt(rd.sum[0], 5000);
	if (flags & PERFCTR_CONTROL_ON_EXEC) {
		ck_assert_uint_eq(rd.clock, 0);
		ck_assert_uint_eq(rd.sum[0], 0);
	}
}

/* Runs @test as user in a child of root, which has prepared the file. */
static void prepared(const char *path, mode_t mode)
{
	copy_program(path, mode);
	become(GUEST_UID);
}

START_TEST(setuid_exec_stops)
{
	prepared(SETUID_COPY, 04755);
	stops_at_exec(SETUID_COPY, 0);
}
END_TEST

START_TEST(setuid_exec_does_not_start)
{
	prepared(SETUID_COPY, 04755);
	stops_at_exec(SETUID_COPY, PERFCTR_CONTROL_ON_EXEC);
}
END_TEST

START_TEST(unreadable_exec_stops)
{
	prepared(UNREADABLE_COPY, 0711);
	stops_at_exec(UNREADABLE_COPY, 0);
}
END_TEST

START_TEST(unreadable_exec_does_not_start)
{
	prepared(UNREADABLE_COPY, 0711);
	stops_at_exec(UNREADABLE_COPY, PERFCTR_CONTROL_ON_EXEC);
}
END_TEST

void handle_exec(void)
{
	GUEST_RUN(exec_of_known_length, NEED_COUNTERS | AS_USER);
	GUEST_RUN(exec_of_known_length_among_rivals, NEED_COUNTERS);
	GUEST_RUN(exec_of_known_length_by_perf, NEED_COUNTERS | NEED_PERF);
	GUEST_RUN(on_exec_waits, AS_USER);
	GUEST_RUN(failed_exec_starts_nothing, AS_USER);
	GUEST_RUN(counting_goes_on_over_exec, AS_USER);
	GUEST_RUN(cloexec_unlinks_at_exec, AS_USER);
	GUEST_RUN(cloexec_and_on_exec, AS_USER);
	GUEST_RUN(setuid_exec_stops, 0);
	GUEST_RUN(setuid_exec_does_not_start, 0);
	GUEST_RUN(unreadable_exec_stops, 0);
	GUEST_RUN(unreadable_exec_does_not_start, 0);
}
