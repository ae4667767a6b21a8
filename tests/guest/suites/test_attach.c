// SPDX-License-Identifier: GPL-2.0
/* perfex -p: processes that run already. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"

#define OUTPUT "/tmp/attach.json"
#define ERRORS "/tmp/attach.err"
#define LENGTH KNOWN_LENGTH(KNOWN_LOOPS)
/* What the C library executes between a thread's call and the code of known length */
#define AROUND 20000u

static char text[65536];

static pid_t start_perfex(const char *list, const char *option)
{
	pid_t pid;

	unlink(OUTPUT);
	pid = fork();
	if (!pid) {
		if (!freopen(ERRORS, "w", stderr))
			_exit(99);
		execlp("perfex", "perfex", "-e", "instructions:u", "--json", "-o", OUTPUT, "-p",
		       list, option, NULL);
		_exit(99);
	}
	return pid;
}

/* The same beside a program: sh -c SCRIPT */
static pid_t start_beside(pid_t target, const char *script)
{
	char list[16];
	pid_t pid;

	(void)snprintf(list, sizeof(list), "%d", target);
	unlink(OUTPUT);
	pid = fork();
	if (!pid) {
		execlp("perfex", "perfex", "-e", "instructions:u", "--json", "-o", OUTPUT, "-p",
		       list, "--", "sh", "-c", script, NULL);
		_exit(99);
	}
	return pid;
}

static pid_t attach(pid_t pid, const char *option)
{
	char list[16];
	pid_t perfex;

	(void)snprintf(list, sizeof(list), "%d", pid);
	perfex = start_perfex(list, option);
	sleep_us(400000);
	return perfex;
}

static const char *read_output(const char *path)
{
	ck_assert_int_ge(read_text(path, text, sizeof(text)), 0);
	return text;
}

/* The number behind the first @name that follows @from */
static uint64_t number(const char *from, const char *name)
{
	char quoted[40];
	const char *s;

	(void)snprintf(quoted, sizeof(quoted), "\"%s\": ", name);
	s = strstr(from, quoted);
	ck_assert_msg(s, "no %s in: %s", name, from);
	return strtoull(s + strlen(quoted), NULL, 10);
}

static unsigned int occurrences(const char *s, const char *word)
{
	unsigned int n = 0;

	while ((s = strstr(s, word))) {
		s++;
		n++;
	}
	return n;
}

/* Waits in epoll_wait(), which a stop would end, and becomes a program of known length. */
static pid_t start_target(int go)
{
	struct epoll_event event = { .events = EPOLLIN };
	pid_t pid = fork();
	int epoll;

	if (pid)
		return pid;
	epoll = epoll_create1(0);
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, go, &event) || epoll_wait(epoll, &event, 1, -1) != 1)
		_exit(errno);
	execl(KNOWN_PATH, KNOWN_PATH, NULL);
	_exit(99);
}

START_TEST(counts_a_process_until_it_ends)
{
	pid_t pid, perfex;
	uint64_t count;
	int go[2];

	ck_ok(pipe(go));
	pid = start_target(go[0]);
	perfex = attach(pid, NULL);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	expect_exit(pid, 0);
	expect_exit(perfex, 0);
	count = number(read_output(OUTPUT), "count");
	ck_assert_uint_gt(count, LENGTH);
	ck_assert_uint_lt(count, LENGTH + AROUND);
	ck_assert_uint_eq(number(text, "descendants_live"), 0);
	ck_assert_uint_eq(number(text, "descendants_missed"), 0);
	ck_assert_ptr_null(strstr(text, "\"system\""));
}
END_TEST

/* The program lets the process go, waits for its end, and executes much itself. */
START_TEST(counts_while_a_program_runs)
{
	char script[160];
	uint64_t count;
	int go[2], done[2];
	pid_t pid, perfex;

	ck_ok(pipe(go));
	ck_ok(pipe(done));
	pid = start_target(go[0]);
	(void)snprintf(script, sizeof(script),
		       "echo >&%d; read x <&%d; i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done; exit 7",
		       go[1], done[0]);
	perfex = start_beside(pid, script);
	expect_exit(pid, 0);
	ck_assert_int_eq(write(done[1], "\n", 1), 1);
	expect_exit(perfex, 7);
	count = number(read_output(OUTPUT), "count");
	ck_assert_uint_gt(count, LENGTH);
	ck_assert_uint_lt(count, LENGTH + AROUND);
	ck_assert_uint_eq(number(text, "descendants_ended"), 1);
	ck_assert_uint_eq(number(text, "exit_status"), 7);
}
END_TEST

/* The process sleeps on, and may be counted again: the first invitation it never saw gives way. */
START_TEST(ends_with_the_program)
{
	pid_t pid;
	int go[2], turn;

	ck_ok(pipe(go));
	pid = start_target(go[0]);
	for (turn = 0; turn < 2; turn++) {
		expect_exit(start_beside(pid, "exec sleep 0.2"), 0);
		ck_assert_uint_eq(number(read_output(OUTPUT), "descendants_live"), 1);
		ck_assert_uint_eq(number(text, "count"), 0);
	}
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	expect_exit(pid, 0);
}
END_TEST

/*
 * Each time it sleeps in its call as perfex ends: its state is of a dead tree when the next
 * perfex comes, and is until the thread returns from that call.
 */
START_TEST(counted_again_while_it_sleeps)
{
	char script[80], byte;
	uint64_t count;
	int go[2], turn;
	pid_t pid;

	ck_ok(pipe(go));
	pid = fork();
	while (!pid) {
		if (read(go[0], &byte, 1) != 1)
			_exit(99);
		body_spin(100000);
	}
	(void)snprintf(script, sizeof(script), "echo >&%d; sleep 0.3", go[1]);
	for (turn = 0; turn < 3; turn++) {
		expect_exit(start_beside(pid, script), 0);
		count = number(read_output(OUTPUT), "count");
		ck_assert_uint_gt(count, BODY_SPIN(100000));
		ck_assert_uint_lt(count, BODY_SPIN(100000) + AROUND);
		ck_assert_uint_eq(number(text, "descendants_live"), 1);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

static void *wait_and_spin(void *go)
{
	char byte;

	if (read(*(int *)go, &byte, 1) == 1)
		body_spin(100000);
	return NULL;
}

/* Two processes, one of them with four threads, and a child that is born meanwhile */
START_TEST(counts_all_threads_of_all)
{
	const uint64_t least = 2 * (uint64_t)LENGTH + 3 * BODY_SPIN(100000);
	pid_t pid, other, perfex;
	int go[2], status;
	char list[32];

	ck_ok(pipe(go));
	pid = fork();
	if (!pid) {
		pthread_t thread[3];
		unsigned int i;

		for (i = 0; i < 3; i++)
			pthread_create(&thread[i], NULL, wait_and_spin, &go[0]);
		for (i = 0; i < 3; i++)
			pthread_join(thread[i], NULL);
		pid = fork();
		if (!pid) {
			execl(KNOWN_PATH, KNOWN_PATH, NULL);
			_exit(99);
		}
		waitpid(pid, &status, 0);
		_exit(status);
	}
	other = start_target(go[0]);
	(void)snprintf(list, sizeof(list), "%d,%d", pid, other);
	sleep_us(100000);
	perfex = start_perfex(list, "--per-thread");
	sleep_us(400000);
	ck_assert_int_eq(write(go[1], "xxxx", 4), 4);
	expect_exit(pid, 0);
	expect_exit(other, 0);
	expect_exit(perfex, 0);
	read_output(OUTPUT);
	ck_assert_uint_eq(number(text, "descendants_ended"), 6);
	ck_assert_uint_eq(occurrences(text, "\"tid\""), 6);
	ck_assert_uint_eq(occurrences(text, "\"known\""), 2);
	/* The first count is that of the threads' first, the total comes after them. */
	ck_assert_uint_gt(number(text, "count"), least);
	ck_assert_uint_lt(number(text, "count"), least + (uint64_t)6 * AROUND);
}
END_TEST

static void *wait_and_end(void *go)
{
	char byte;

	(void)!read(*(int *)go, &byte, 1);
	return NULL;
}

/* The first thread has ended long ago, and the process goes on. */
START_TEST(first_thread_has_ended)
{
	pid_t pid, perfex;
	uint64_t count;
	int go[2];

	ck_ok(pipe(go));
	pid = fork();
	if (!pid) {
		pthread_t thread;

		pthread_create(&thread, NULL, wait_and_spin, &go[0]);
		syscall(SYS_exit, 0);
	}
	sleep_us(100000);
	perfex = attach(pid, NULL);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	expect_exit(pid, 0);
	expect_exit(perfex, 0);
	count = number(read_output(OUTPUT), "count");
	ck_assert_uint_gt(count, BODY_SPIN(100000));
	ck_assert_uint_lt(count, BODY_SPIN(100000) + AROUND);
	ck_assert_uint_eq(number(text, "descendants_ended"), 1);
}
END_TEST

static char state_of(pid_t pid, pid_t tid)
{
	char path[64];
	const char *behind;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	behind = strrchr(read_output(path), ')');
	if (!behind)
		return '?';
	return behind[2];
}

/* A thread has ended, and is still there: another that traces it did not hear of that yet. */
START_TEST(another_thread_has_ended)
{
	int go[2], end[2], status;
	pid_t pid, perfex, tid;
	uint64_t count;
	char path[64];

	ck_ok(pipe(go));
	ck_ok(pipe(end));
	pid = fork();
	if (!pid) {
		pthread_t thread;

		pthread_create(&thread, NULL, wait_and_end, &end[0]);
		wait_and_spin(&go[0]);
		_exit(0);
	}
	sleep_us(100000);
	tid = pid;
	do {
		ck_assert_int_lt(++tid, pid + 100);
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	} while (access(path, F_OK));
	ck_ok(ptrace(PTRACE_SEIZE, tid, NULL, NULL));
	ck_assert_int_eq(write(end[1], "x", 1), 1);
	while (state_of(pid, tid) != 'Z')
		sleep_us(10000);
	perfex = attach(pid, NULL);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	ck_assert_int_eq(waitpid(tid, &status, __WALL), tid);
	expect_exit(pid, 0);
	expect_exit(perfex, 0);
	count = number(read_output(OUTPUT), "count");
	ck_assert_uint_gt(count, BODY_SPIN(100000));
	ck_assert_uint_lt(count, BODY_SPIN(100000) + AROUND);
}
END_TEST

/* What is left behind is nothing: the thread may count itself. */
static void leaves_nothing(int signo)
{
	int fd, go[2], status;
	pid_t pid, perfex;
	char byte;

	ck_ok(pipe(go));
	pid = fork();
	if (!pid) {
		if (read(go[0], &byte, 1) != 1)
			_exit(99);
		fd = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);
		_exit(fd < 0 ? -fd : 0);
	}
	perfex = attach(pid, NULL);
	kill(perfex, signo);
	ck_assert_int_eq(waitpid(perfex, &status, 0), perfex);
	if (signo == SIGKILL) {
		ck_assert(WIFSIGNALED(status));
	} else {
		ck_assert_int_eq(status, 0);
		ck_assert_uint_eq(number(read_output(OUTPUT), "descendants_live"), 1);
	}
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	expect_exit(pid, 0);
}

START_TEST(ends_by_an_interrupt)
{
	leaves_nothing(SIGINT);
}
END_TEST

START_TEST(is_killed)
{
	leaves_nothing(SIGKILL);
}
END_TEST

static void refuses(const char *list, const char *option, int status, const char *words)
{
	expect_exit(start_perfex(list, option), status);
	read_output(ERRORS);
	ck_assert_msg(strstr(text, words), "'%s' does not say '%s'", text, words);
}

START_TEST(refuses_what_it_cannot_count)
{
	char list[16];
	pid_t pid, perfex;
	int go[2];

	refuses("x", NULL, 2, "'x' is no process id");
	refuses("0", NULL, 2, "'0' is no process id");
	refuses("12,", NULL, 2, "is no process id");
	refuses("4000000", NULL, 2, "there is no process 4000000");
	refuses("1", NULL, 125, "thread 1 cannot be traced");
	(void)snprintf(list, sizeof(list), "%d", getpid());
	refuses(list, "--self", 2, "--pid (-p) and --self do not go together");
	ck_ok(pipe(go));
	pid = start_target(go[0]);
	perfex = attach(pid, NULL);
	(void)snprintf(list, sizeof(list), "%d", pid);
	refuses(list, NULL, 125, "is counted by perfctr already");
	refuses(list, "true", 125, "is counted by perfctr already");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	expect_exit(perfex, 0);
	pid = start_target(go[0]);
	(void)snprintf(list, sizeof(list), "%d", pid);
	expect_exit(start_perfex(list, "/nothing"), 127);
	read_output(ERRORS);
	ck_assert_msg(strstr(text, "cannot run '/nothing'"), "%s", text);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

int main(void)
{
	guest_begin("attach", NULL);
	GUEST_RUN(counts_a_process_until_it_ends, NEED_COUNTERS | AS_USER);
	GUEST_RUN(counts_all_threads_of_all, NEED_COUNTERS | AS_USER);
	GUEST_RUN(counts_while_a_program_runs, NEED_COUNTERS | AS_USER);
	GUEST_RUN(ends_with_the_program, NEED_COUNTERS | AS_USER);
	GUEST_RUN(counted_again_while_it_sleeps, NEED_COUNTERS | AS_USER);
	GUEST_RUN(first_thread_has_ended, NEED_COUNTERS | AS_USER);
	GUEST_RUN(another_thread_has_ended, NEED_COUNTERS | AS_USER);
	GUEST_RUN(ends_by_an_interrupt, NEED_COUNTERS | AS_USER);
	GUEST_RUN(is_killed, NEED_COUNTERS | AS_USER);
	GUEST_RUN(refuses_what_it_cannot_count, NEED_COUNTERS | AS_USER);
	return guest_end();
}
