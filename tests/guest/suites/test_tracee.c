// SPDX-License-Identifier: GPL-2.0
/*
 * Control of another thread, by the thread that traces it with ptrace(2).
 *
 * The traced program is "known": it stops at its first instruction, and its length is known,
 * so what is counted from a stop to its end is known as well.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "suites/tracee.h"

#define PIDFD PERFCTR_OPEN_PIDFD

START_TEST(from_the_first_instruction_to_the_last)
{
	pid_t pid = exec_traced(KNOWN_PATH);
	int fd = open_thread(pid);
	struct perfctr_read rd;

	count_instructions(fd);
	read_all(fd, &rd);
	ck_assert_uint_eq(rd.sum[0], 0);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED);
	finish(pid);
	read_all(fd, &rd);
	ck_assert_uint_eq(rd.sum[0], LENGTH);
	ck_assert_uint_eq(rd.flags, 0);
	ck_errno(ioctl(fd, PERFCTR_IOC_CONTROL, &rd), ESRCH);
}
END_TEST

/* What is counted up to a stop and from there on, in any number of controls, is all of it. */
START_TEST(controlled_anew_at_each_system_call)
{
	pid_t pid = exec_traced(KNOWN_PATH);
	int fd = open_thread(pid);
	struct perfctr_control control;
	uint64_t sum = 0, before;
	unsigned int i;

	count_instructions(fd);
	control_instructions(&control, 0);
	for (i = 0; i < 4; i++) {
		go_to_call(pid);
		before = read_sum(fd, 0);
		ck_assert_uint_gt(before, 0);
		/* In every second one the sum is kept. */
		control.preserve = i & 1;
		set_control(fd, &control);
		ck_assert_uint_eq(read_sum(fd, 0), i & 1 ? before : 0);
		if (!(i & 1))
			sum += before;
		go_to_call(pid);
	}
	finish(pid);
	ck_assert_uint_eq(sum + read_sum(fd, 0), LENGTH);
}
END_TEST

START_TEST(read_control_gives_what_the_tracer_gave)
{
	struct perfctr_control given, got = { PERFCTR_CONTROL_INIT };
	pid_t pid = exec_traced(KNOWN_PATH);
	int fd = open_thread(pid);

	control_instructions(&given, PERFCTR_CONTROL_CLOEXEC);
	set_control(fd, &given);
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &got));
	ck_assert_uint_eq(got.nractrs, 1);
	ck_assert_uint_eq(got.tsc_on, 1);
	ck_assert_uint_eq(got.flags, PERFCTR_CONTROL_CLOEXEC);
	ck_assert_uint_eq(got.ctr[0].event, given.ctr[0].event);
	finish(pid);
}
END_TEST

/* A child that was sent its parent's end of a socket: perfctr 2.6's users do that. */
START_TEST(by_a_handle_that_the_tracee_sent)
{
	int fd, pair[2];
	pid_t pid;

	ck_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid = fork();
	if (!pid) {
		fd = try_open(CREAT);
		if (fd >= 0 && !send_fd(pair[1], fd) && !ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			execl(KNOWN_PATH, KNOWN_PATH, NULL);
		_exit(99);
	}
	fd = receive_fd(pair[0]);
	ck_assert_int_eq(wait_stop(pid), SIGTRAP);
	count_instructions(fd);
	finish(pid);
	ck_assert_uint_eq(read_sum(fd, 0), LENGTH);
}
END_TEST

/* The tracer finds the state that the thread itself has made, and who holds it keeps it. */
START_TEST(the_state_of_a_thread_that_counts_itself)
{
	struct perfctr_control control;
	int fd, status, go[2];
	pid_t pid;

	ck_ok(pipe(go));
	pid = fork();
	if (!pid) {
		fd = try_open(CREAT);
		control_instructions(&control, 0);
		if (fd < 0 || try_control(fd, &control) || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(99);
		raise(SIGSTOP);
		/* The tracer has stopped it, and let go of it. */
		_exit(try_control(fd, &control) ? 98 : 0);
	}
	ck_assert_int_eq(wait_stop(pid), SIGSTOP);
	ck_assert_int_eq(try_open_thread(pid, CREAT | EXCL), -EEXIST);
	fd = try_open_thread(pid, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_gt(read_sum(fd, 0), 0);
	control_instructions(&control, 0);
	ck_assert_int_eq(try_control(fd, &control), -EBUSY);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_HOLDER);
	ck_errno(ioctl(fd, PERFCTR_IOC_UNLINK), EBUSY);
	ck_ok(ptrace(PTRACE_DETACH, pid, NULL, NULL));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(unlinked_and_opened_again)
{
	pid_t pid = exec_traced(KNOWN_PATH);
	int fd = open_thread(pid), again;
	struct perfctr_read rd;
	uint64_t before;

	ck_assert_int_eq(try_open_thread(pid, CREAT | EXCL), -EEXIST);
	count_instructions(fd);
	go_to_call(pid);
	before = read_sum(fd, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_UNLINK));
	ck_ok(ioctl(fd, PERFCTR_IOC_UNLINK));
	ck_errno(ioctl(fd, PERFCTR_IOC_CONTROL, &rd), ESRCH);
	ck_errno(ioctl(fd, PERFCTR_IOC_SUSPEND), ESRCH);
	ck_assert_int_eq(try_open_thread(pid, 0), -ENOENT);
	again = try_open_thread(pid, CREAT | EXCL);
	ck_assert_int_ge(again, 0);
	count_instructions(again);
	finish(pid);
	read_all(fd, &rd);
	ck_assert_uint_eq(rd.sum[0], before);
	ck_assert_uint_eq(rd.flags, 0);
	ck_assert_uint_eq(before + read_sum(again, 0), LENGTH);
}
END_TEST

static void suspended_from_call_to_call(uint32_t flags)
{
	pid_t pid = exec_traced(KNOWN_PATH);
	int fd = open_thread(pid);
	struct perfctr_control control;
	struct perfctr_read rd;
	uint64_t before, turn;

	control_instructions(&control, flags);
	set_control(fd, &control);
	go_to_call(pid);
	go_to_call(pid);
	before = read_sum(fd, 0);
	go_to_call(pid);
	go_to_call(pid);
	turn = read_sum(fd, 0) - before;
	ck_assert_uint_gt(turn, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	go_to_call(pid);
	go_to_call(pid);
	read_all(fd, &rd);
	ck_assert_uint_eq(rd.sum[0], before + turn);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_SUSPENDED);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	finish(pid);
	ck_assert_uint_eq(read_sum(fd, 0), LENGTH - turn);
}

START_TEST(suspended_and_resumed)
{
	suspended_from_call_to_call(0);
}
END_TEST

START_TEST(suspended_and_resumed_in_a_tree)
{
	suspended_from_call_to_call(PERFCTR_CONTROL_INHERIT);
}
END_TEST

/* Each overflow stops it with the signal, which the tracer keeps; then it lets it go on. */
static void overflows_of_a_tracee(unsigned long cmd)
{
	const uint64_t period = 300000;
	pid_t pid = exec_traced(KNOWN_PATH);
	int fd = open_thread(pid), status;
	struct perfctr_control control;
	unsigned int overflows = 0;

	ck_errno(ioctl(fd, PERFCTR_IOC_IRESUME), EINVAL);
	control_init(&control);
	control_add_ictr(&control, EV_INSTRUCTIONS, -(int64_t)period);
	control.si_signo = SIGUSR1;
	set_control(fd, &control);
	ck_errno(ioctl(fd, PERFCTR_IOC_IRESUME), EINVAL);
	for (;;) {
		cont(pid);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			break;
		ck_assert_int_eq(WSTOPSIG(status), SIGUSR1);
		overflows++;
		if (cmd == PERFCTR_IOC_REFRESH)
			ck_ok(ioctl(fd, cmd, 1ul));
		else
			ck_ok(ioctl(fd, cmd));
	}
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(overflows, LENGTH / period);
	ck_assert_uint_eq(read_sum(fd, 0), LENGTH);
}

START_TEST(iresume_of_a_tracee)
{
	overflows_of_a_tracee(PERFCTR_IOC_IRESUME);
}
END_TEST

START_TEST(refresh_of_a_tracee)
{
	overflows_of_a_tracee(PERFCTR_IOC_REFRESH);
}
END_TEST

/* It is stopped on one CPU and goes on on the other. */
START_TEST(moved_while_it_stands)
{
	pid_t pid;
	int fd;

	pin_self(0);
	pid = exec_traced(KNOWN_PATH);
	fd = open_thread(pid);
	count_instructions(fd);
	pin_thread(pid, 1);
	go_to_call(pid);
	count_instructions(fd);
	pin_thread(pid, 0);
	finish(pid);
	/* The loop is before the first call. */
	ck_assert_uint_lt(read_sum(fd, 0), 100);
	ck_assert_uint_gt(read_sum(fd, 0), 0);
}
END_TEST

/* It counts from its first instruction, and execs the same program: then all is counted again. */
START_TEST(an_exec_of_the_tracee)
{
	int fd, status;
	uint64_t before;
	pid_t pid;

	pid = fork();
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(99);
		raise(SIGSTOP);
		execl(KNOWN_PATH, KNOWN_PATH, NULL);
		_exit(98);
	}
	ck_assert_int_eq(wait_stop(pid), SIGSTOP);
	fd = open_thread(pid);
	count_instructions(fd);
	cont(pid);
	ck_assert_int_eq(wait_stop(pid), SIGTRAP);
	before = read_sum(fd, 0);
	ck_assert_uint_gt(before, 0);
	cont(pid);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(read_sum(fd, 0), before + LENGTH);
}
END_TEST

/* The tracee makes a child, which inherits: known, after an exec. */
START_TEST(a_tree_of_the_tracee)
{
	struct perfctr_read_tree tree;
	struct perfctr_member member = { .size = sizeof(member) };
	struct perfctr_control control;
	int fd, status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(99);
		raise(SIGSTOP);
		pid = fork();
		if (!pid) {
			execl(KNOWN_PATH, KNOWN_PATH, NULL);
			_exit(98);
		}
		waitpid(pid, &status, 0);
		_exit(status);
	}
	ck_assert_int_eq(wait_stop(pid), SIGSTOP);
	fd = open_thread(pid);
	control_instructions(&control, PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP);
	set_control(fd, &control);
	for (;;) {
		cont(pid);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			break;
		ck_assert_int_eq(WSTOPSIG(status), SIGCHLD);
	}
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(try_read_tree(fd, PERFCTR_TREE_ENDED, &tree), 0);
	ck_assert_uint_eq(tree.ended, 1);
	ck_assert_uint_eq(tree.live, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_NEXT_MEMBER, &member));
	ck_assert_str_eq(member.comm, "known");
	ck_assert_uint_eq(member.sum[0], tree.sum[0]);
	/* Before its exec it executed some of the C library's. */
	ck_assert_uint_gt(member.sum[0], LENGTH);
	ck_assert_uint_lt(member.sum[0], LENGTH + 10000);
}
END_TEST

/* Another process traces it, has it counted, and dies; it counts on, for whoever has a handle. */
START_TEST(the_tracer_dies)
{
	int fd, status, up[2], down[2], sock[2];
	pid_t tracer, pid = 0;
	char byte;

	ck_ok(pipe(up));
	ck_ok(pipe(down));
	ck_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	pid = fork();
	if (!pid) {
		if (read(down[0], &byte, 1) == 1)
			execl(KNOWN_PATH, KNOWN_PATH, NULL);
		_exit(99);
	}
	tracer = fork();
	if (!tracer) {
		struct perfctr_control control;

		if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACEEXEC) ||
		    write(down[1], "x", 1) != 1 || waitpid(pid, &status, __WALL) != pid ||
		    status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			_exit(97);
		fd = try_open_thread(pid, CREAT);
		control_instructions(&control, 0);
		if (fd < 0 || try_control(fd, &control) || send_fd(sock[1], fd))
			_exit(96);
		kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(waitpid(tracer, &status, 0), tracer);
	ck_assert_msg(WIFSIGNALED(status), "status %#x", (unsigned int)status);
	fd = receive_fd(sock[0]);
	expect_exit(pid, 0);
	ck_assert_uint_eq(read_sum(fd, 0), LENGTH);
}
END_TEST

/* Who may not trace it is refused, whatever handle it has. */
START_TEST(only_its_tracer)
{
	static const unsigned long cmd[] = {
		PERFCTR_IOC_UNLINK, PERFCTR_IOC_SUSPEND, PERFCTR_IOC_RESUME, PERFCTR_IOC_IRESUME,
		PERFCTR_IOC_REFRESH,
	};
	struct perfctr_control control;
	unsigned int i;
	pid_t pid = exec_traced(KNOWN_PATH), other;
	int fd = open_thread(pid);

	count_instructions(fd);
	other = fork();
	if (!other) {
		control_instructions(&control, 0);
		if (try_open_thread(pid, CREAT) != -EPERM || try_open_thread(pid, 0) != -EPERM ||
		    try_control(fd, &control) != -EPERM)
			_exit(1);
		for (i = 0; i < sizeof(cmd) / sizeof(cmd[0]); i++)
			if (!ioctl(fd, cmd[i], 1ul) || errno != EPERM)
				_exit(2 + (int)i);
		_exit(0);
	}
	expect_exit(other, 0);
	/* Nor may another thread of the tracer's process, or anybody open itself like that. */
	ck_assert_int_eq(try_open_thread(getppid(), CREAT), -EPERM);
	ck_assert_int_eq(try_open_thread(getpid(), CREAT), -EPERM);
	finish(pid);
	ck_assert_uint_eq(read_sum(fd, 0), LENGTH);
}
END_TEST

/* A tracee that is traced but runs */
START_TEST(not_while_it_runs)
{
	struct perfctr_control control;
	pid_t pid = fork();
	int fd;

	if (!pid)
		for (;;)
			pause();
	ck_ok(ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	ck_assert_int_eq(try_open_thread(pid, CREAT), -ESRCH);
	ck_ok(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL));
	wait_stop(pid);
	fd = open_thread(pid);
	count_instructions(fd);
	cont(pid);
	control_instructions(&control, 0);
	ck_assert_int_eq(try_control(fd, &control), -ESRCH);
	ck_errno(ioctl(fd, PERFCTR_IOC_UNLINK), ESRCH);
	ck_errno(ioctl(fd, PERFCTR_IOC_SUSPEND), ESRCH);
	ck_errno(ioctl(fd, PERFCTR_IOC_RESUME), ESRCH);
	ck_errno(ioctl(fd, PERFCTR_IOC_IRESUME), ESRCH);
	ck_errno(ioctl(fd, PERFCTR_IOC_REFRESH, 1ul), ESRCH);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(try_open_thread(pid, CREAT), -ESRCH);
	/* Everybody may still read, and unlink what is nobody's. */
	read_sum(fd, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_UNLINK));
}
END_TEST

START_TEST(a_pidfd_says_whose_thread_it_is)
{
	pid_t pid = exec_traced(KNOWN_PATH);
	int own = (int)syscall(SYS_pidfd_open, getpid(), 0);
	int its = (int)syscall(SYS_pidfd_open, pid, 0);
	int fd, file = open("/dev/null", O_RDONLY);

	ck_assert_int_ge(own, 0);
	ck_assert_int_ge(its, 0);
	ck_assert_int_eq(try_open_by(own, pid, CREAT | PIDFD), -ESRCH);
	ck_assert_int_eq(try_open_by(file, pid, CREAT | PIDFD), -ESRCH);
	ck_assert_int_eq(try_open_by(12345, pid, CREAT | PIDFD), -EBADF);
	ck_assert_int_eq(try_open_by(-1, pid, CREAT | PIDFD), -EBADF);
	ck_assert_int_eq(try_open_by(its, pid, PIDFD), -ENOENT);
	fd = try_open_by(its, pid, CREAT | PIDFD);
	ck_assert_msg(fd >= 0, "OPEN by pidfd: %s", strerror(-fd));
	count_instructions(fd);
	finish(pid);
	ck_assert_uint_eq(read_sum(fd, 0), LENGTH);
}
END_TEST

/* Another thread kills the tracee at any instant of the tracer's calls. */
struct killing {
	volatile pid_t pid;
	volatile uint64_t when;		/* by now_ns() */
	volatile bool over;
};

static void *kill_late(void *arg)
{
	struct killing *killing = arg;
	pid_t pid;

	while (!killing->over) {
		pid = killing->pid;
		if (!pid)
			continue;
		while (now_ns() < killing->when)
			;
		kill(pid, SIGKILL);
		killing->pid = 0;
	}
	return NULL;
}

/* How long the calls take on a tracee that nobody kills: kernels that check themselves are slow. */
static uint64_t calls_take(void)
{
	struct perfctr_control control;
	pid_t pid = exec_traced(KNOWN_PATH);
	uint64_t start = now_ns();
	int fd = try_open_thread(pid, CREAT);

	control_instructions(&control, 0);
	ck_assert_int_eq(try_control(fd, &control), 0);
	start = now_ns() - start;
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return start;
}

#define KILLS 200u

START_TEST(killed_while_it_is_controlled)
{
	static struct killing killing;
	uint64_t span = 3 * calls_take();
	struct perfctr_control control;
	unsigned int turn, done = 0, refused = 0;
	struct perfctr_read rd;
	pthread_t killer;
	int fd, err;
	pid_t pid;

	ck_assert_int_eq(pthread_create(&killer, NULL, kill_late, &killing), 0);
	for (turn = 0; turn < KILLS; turn++) {
		pid = exec_traced(KNOWN_PATH);
		killing.when = now_ns() + span * (turn * 77 % KILLS) / KILLS;
		killing.pid = pid;
		fd = try_open_thread(pid, CREAT);
		for (err = fd < 0 ? fd : 0; !err; done += !err) {
			control_instructions(&control, turn & 1 ? PERFCTR_CONTROL_INHERIT : 0);
			err = try_control(fd, &control);
			if (!err && turn & 2)
				err = ioctl(fd, PERFCTR_IOC_SUSPEND) ? -errno : 0;
			if (!err && turn & 4)
				err = ioctl(fd, PERFCTR_IOC_UNLINK) ? -errno : -ESRCH;
		}
		ck_assert_int_eq(err, -ESRCH);
		refused++;
		waitpid(pid, NULL, 0);
		while (killing.pid)
			;
		if (fd >= 0) {
			ck_assert_int_eq(try_read(fd, &rd), 0);
			ck_assert_uint_eq(rd.flags & PERFCTR_READ_ATTACHED, 0);
			close(fd);
		}
	}
	killing.over = true;
	pthread_join(killer, NULL);
	ck_assert_uint_gt(done, 0);
	ck_assert_uint_eq(refused, turn);
}
END_TEST

int main(void)
{
	guest_begin("tracee", NULL);
	GUEST_RUN(from_the_first_instruction_to_the_last, NEED_COUNTERS | AS_USER);
	GUEST_RUN(controlled_anew_at_each_system_call, NEED_COUNTERS | AS_USER);
	GUEST_RUN(read_control_gives_what_the_tracer_gave, NEED_COUNTERS | AS_USER);
	GUEST_RUN(by_a_handle_that_the_tracee_sent, NEED_COUNTERS | AS_USER);
	GUEST_RUN(the_state_of_a_thread_that_counts_itself, NEED_COUNTERS | AS_USER);
	GUEST_RUN(unlinked_and_opened_again, NEED_COUNTERS | AS_USER);
	GUEST_RUN(suspended_and_resumed, NEED_COUNTERS | AS_USER);
	GUEST_RUN(suspended_and_resumed_in_a_tree, NEED_COUNTERS | AS_USER);
	GUEST_RUN(iresume_of_a_tracee, NEED_COUNTERS | NEED_INTERRUPT | NEED_NATIVE | AS_USER);
	GUEST_RUN(refresh_of_a_tracee, NEED_COUNTERS | NEED_INTERRUPT | NEED_NATIVE | AS_USER);
	GUEST_RUN(moved_while_it_stands, NEED_COUNTERS | NEED_SMP | NEED_ALIKE | AS_USER);
	GUEST_RUN(an_exec_of_the_tracee, NEED_COUNTERS | AS_USER);
	GUEST_RUN(a_tree_of_the_tracee, NEED_COUNTERS | AS_USER);
	GUEST_RUN(the_tracer_dies, NEED_COUNTERS | AS_USER);
	GUEST_RUN(only_its_tracer, NEED_COUNTERS | AS_USER);
	GUEST_RUN(not_while_it_runs, NEED_COUNTERS | AS_USER);
	GUEST_RUN(a_pidfd_says_whose_thread_it_is, NEED_COUNTERS | AS_USER);
	GUEST_RUN(killed_while_it_is_controlled, NEED_COUNTERS | AS_USER);
	tracee_added();
	return guest_end();
}
