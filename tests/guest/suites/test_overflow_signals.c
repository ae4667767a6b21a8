// SPDX-License-Identifier: GPL-2.0
/* i-mode counters: which signals come, when, and what exec, fork and the end make of them. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "suites/overflow.h"

/* --- deliver so many, and stop --- */

START_TEST(refresh_stops_after_so_many)
{
	struct listener *self = listen_to(SIGRTMIN + 1, STAY);
	struct perfctr_control control, back = { PERFCTR_CONTROL_INIT };
	struct perfctr_read rd;
	unsigned int i;

	refresh_control(&control, 5000, 7);
	set_control(self->fd, &control);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_READ_CONTROL, &back));
	ck_assert_uint_eq(back.refresh, 7);
	ck_assert_int_eq(back.si_signo, SIGRTMIN + 1);
	ck_assert_uint_eq(back.nrictrs, 1);
	ck_assert_int_eq(back.ctr[0].ireset, -5000);
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 7);
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.sum[0], 35000);
	ck_assert_uint_eq(rd.overflows, 7);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_OVERFLOWN);

	ck_ok(ioctl(self->fd, PERFCTR_IOC_REFRESH, 3));
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 10);
	ck_assert_uint_eq(read_sum(self->fd, 0), 50000);

	/* While the counters run, REFRESH replaces the number. IRESUME allows one overflow more. */
	ck_ok(ioctl(self->fd, PERFCTR_IOC_REFRESH, 1000));
	ck_ok(ioctl(self->fd, PERFCTR_IOC_REFRESH, 2));
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 12);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_IRESUME));
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 13);
	for (i = 0; i < 13; i++) {
		ck_assert_int_eq(self->note[i].mask, 1);
		ck_assert_int_eq(self->note[i].error, 0);
	}
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.sum[0], 65000);
	ck_assert_uint_eq(rd.overflows, 13);
}
END_TEST

/*
 * The thread overflows at each instruction: it uses up its budget in each tick, and is told.
 * Another thread on the same CPU works as fast as beside any thread.
 */
struct work {
	volatile uint64_t done;
	volatile bool stop;
};

static uint64_t worked_in(struct work *work, unsigned int us)
{
	uint64_t before = work->done, until = now_ns() + us * 1000ull;

	while (now_ns() < until)
		body_spin(1000);
	return work->done - before;
}

#define STORM_MS	150	/* of work, each 100 of which take an emulated processor some seconds */

static void storm(uint32_t modes, uid_t uid)
{
	struct work *work = shared_alloc(sizeof(*work));
	struct listener *self = listen_to(SIGRTMIN + 1, STAY);
	struct perfctr_control control;
	struct sigaction action;
	uint64_t alone, beside, told = 0, until;
	struct perfctr_read rd;
	unsigned int i;
	pid_t child;

	/* If an overflow takes too long for the default budget */
	if (getenv("SLOW_KERNEL"))
		ck_assert_int_eq(write_text(MODULE_PARAMS "overflow_budget", "5"), 0);
	pin_self(0);
	become(uid);
	ck_ok(child = fork());
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!work->stop) {
			body_spin(1000);
			work->done++;
		}
		_exit(0);
	}
	alone = worked_in(work, STORM_MS * 1000);

	/* The thread may overflow in its handler more often than signals can be queued. */
	(void)sigaction(SIGRTMIN + 1, NULL, &action);
	(void)sigaction(SIGIO, &action, NULL);
	refresh_control(&control, least_period(), INT32_MAX);
	control.ctr[0].flags = modes;
	beside = work->done;
	set_control(self->fd, &control);
	for (until = now_ns() + STORM_MS * 1000000ull; now_ns() < until;)
		if (self->throttled) {
			/* The thread asks for more. */
			told++;
			self->throttled = false;
			read_all(self->fd, &rd);
			ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED |
					  PERFCTR_READ_OVERFLOWN | PERFCTR_READ_THROTTLED);
			self->nr = 0;
			ck_ok(ioctl(self->fd, PERFCTR_IOC_IRESUME));
		}
	beside = work->done - beside;
	ck_ok(ioctl(self->fd, PERFCTR_IOC_UNLINK));
	work->stop = true;
	expect_exit(child, 0);
	ck_assert_uint_gt(told, 0);
	ck_assert_uint_gt(alone, 1000);
	ck_assert_uint_ge(beside * 10, alone * 8);
	for (i = 0; i < self->nr && i < NOTES; i++)
		ck_assert_int_eq(self->note[i].mask, 1);
}

START_TEST(storm_in_user_mode)
{
	storm(PERFCTR_CTR_USER, GUEST_UID);
}
END_TEST

START_TEST(storm_in_both_modes)
{
	storm(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL, 0);
}
END_TEST

START_TEST(budget_is_a_parameter)
{
	struct listener *self = listen_to(SIGRTMIN + 1, STAY);
	struct perfctr_control control;
	struct perfctr_read rd;

	ck_assert_int_eq(write_text(MODULE_PARAMS "overflow_budget", "3"), 0);
	refresh_control(&control, 1000, 1000);
	set_control(self->fd, &control);
	body_spin(10000);
	read_all(self->fd, &rd);
	ck_assert_int_eq(write_text(MODULE_PARAMS "overflow_budget", "200"), 0);
	/* A tick more or less */
	ck_assert_uint_ge(self->nr, 4);
	ck_assert_uint_le(self->nr, 8);
	ck_assert_int_eq(self->note[self->nr - 1].error, EAGAIN);
	ck_assert_int_eq(self->note[self->nr - 2].error, 0);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_OVERFLOWN |
			  PERFCTR_READ_THROTTLED);
	ck_assert_uint_eq(rd.sum[0], self->nr * 1000ull);
	/* Counting goes on where it was. */
	ck_ok(ioctl(self->fd, PERFCTR_IOC_IRESUME));
	body_spin(3000);
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.overflows, rd.sum[0] / 1000);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED);
}
END_TEST

/* --- signals --- */

START_TEST(blocked_signal_waits)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct pollfd p = { .events = POLLIN };
	struct perfctr_control control;
	struct perfctr_read rd;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	period_control(&control, 10000);
	set_control(self->fd, &control);
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 0);
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.sum[0], 10000);
	ck_assert_uint_eq(rd.overflows, 1);
	/* A loop of events can hear of it. */
	ck_ok(p.fd = signalfd(-1, &set, SFD_CLOEXEC));
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	close(p.fd);
	/* The overflow has been told, although nobody handles the signal yet. */
	ck_ok(ioctl(self->fd, PERFCTR_IOC_IRESUME));
	body_spin(100000);
	ck_assert_uint_eq(read_sum(self->fd, 0), 20000);
	ck_assert_uint_eq(self->nr, 0);
	self->then = STAY;
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* Of each signal one is kept. */
	ck_assert_uint_eq(self->nr, 1);
	ck_assert_int_eq(self->note[0].mask, 1);
	ck_assert_int_eq(self->note[0].code, 'P');
}
END_TEST

START_TEST(ignored_signal)
{
	struct perfctr_control control;
	int fd = open_self();

	(void)signal(SIGUSR1, SIG_IGN);
	period_control(&control, 10000);
	set_control(fd, &control);
	body_spin(100000);
	ck_assert_uint_eq(read_sum(fd, 0), 10000);
	ck_ok(ioctl(fd, PERFCTR_IOC_IRESUME));
	body_spin(100000);
	ck_assert_uint_eq(read_sum(fd, 0), 20000);
}
END_TEST

START_TEST(default_action_kills)
{
	struct perfctr_control control;
	int status;
	pid_t child;

	ck_ok(child = fork());
	if (!child) {
		(void)signal(SIGUSR1, SIG_DFL);
		period_control(&control, 10000);
		if (try_control(try_open(PERFCTR_OPEN_CREAT), &control))
			_exit(1);
		body_spin(100000);
		_exit(2);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGUSR1);
}
END_TEST

START_TEST(queue_is_full)
{
	struct rlimit before, none;
	struct listener *self = listen_to(SIGIO, IRESUME);
	struct perfctr_control control;

	ck_ok(getrlimit(RLIMIT_SIGPENDING, &before));
	none = before;
	none.rlim_cur = 0;
	refresh_control(&control, 10000, 0);
	set_control(self->fd, &control);
	ck_ok(setrlimit(RLIMIT_SIGPENDING, &none));
	body_spin(12000);
	(void)ioctl(self->fd, PERFCTR_IOC_SUSPEND);
	/* libcheck's timer is in that queue too. */
	ck_ok(setrlimit(RLIMIT_SIGPENDING, &before));
	ck_assert_uint_eq(self->nr, 2);
	ck_assert_int_eq(self->note[0].signo, SIGIO);
	ck_assert_int_eq(self->note[0].code, 'P');
	ck_assert_int_eq(self->note[0].mask, 1);
	ck_assert_uint_eq(self->note[1].sum[0], 20000);
}
END_TEST

/* si_pid holds the mask. A process id there would change in a pid namespace, or be 0. */
START_TEST(in_a_pid_namespace)
{
	struct spinner *spinner = shared_alloc(sizeof(*spinner));
	pid_t child;

	learn_tail(listen_to(SIGUSR1, IRESUME));
	*spinner = (struct spinner){ .cpu = -1, .period = 1009, .loops = 100000, .rounds = 2 };
	child = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL,
			       NULL);
	ck_ok(child);
	if (!child) {
		spinner_run(spinner);
		_exit(getpid() == 1 ? 0 : 1);
	}
	expect_exit(child, 0);
	ck_assert_msg(spinner->fine, "%s", spinner->self->fault);
}
END_TEST

/* --- exec, fork, threads --- */

/* The new image has no handler, and lives; its counts are exact. */
START_TEST(exec_ends_the_signals)
{
	struct perfctr_control control, back = { PERFCTR_CONTROL_INIT };
	struct perfctr_read before, after;
	uint64_t *sum = shared_alloc(sizeof(*sum));
	int pair[2], go[2], fd;
	pid_t child;
	char byte;

	ck_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	ck_ok(pipe(go));
	ck_ok(child = fork());
	if (!child) {
		struct listener *self = listen_to(SIGUSR1, STAY);

		period_control(&control, 100000);
		(void)try_control(self->fd, &control);
		(void)send_fd(pair[1], self->fd);
		(void)read(go[0], &byte, 1);
		body_spin(100000);	/* the counters stand still at the exec */
		*sum = self->nr;
		execl(KNOWN_PATH, "known", NULL);
		_exit(127);
	}
	fd = receive_fd(pair[0]);
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &back));
	ck_assert_int_eq(back.si_signo, SIGUSR1);
	read_all(fd, &before);
	ck_assert_int_eq(write(go[1], "g", 1), 1);
	expect_exit(child, 0);
	ck_assert_uint_eq(*sum, 1);
	read_all(fd, &after);
	ck_assert_uint_eq(after.sum[0], 100000 + KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_eq(after.overflows, 1);
	ck_assert_uint_eq(after.flags, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &back));
	/* READ_CONTROL gives what was asked for. */
	ck_assert_int_eq(back.si_signo, SIGUSR1);
}
END_TEST

START_TEST(fork_inherits_nothing)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	pid_t child;

	learn_tail(self);
	ck_exact(self, 1009, 10000);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_RESUME));
	ck_ok(child = fork());
	if (!child) {
		/* A listener of its own: the parent's counts on. */
		listener = shared_alloc(sizeof(*listener));
		body_spin(100000);
		_exit(listener->nr ? 1 : 0);
	}
	expect_exit(child, 0);
}
END_TEST

/* A thread of a tree: handlers and handle are the root's, periods and signals its own. */
struct member {
	pthread_t pthread;
	struct listener listener;
	int root;
	bool done;
};

static void *member_run(void *arg)
{
	struct member *member = arg;

	listener = &member->listener;
	/* IRESUME by the root's handle resumes the caller's own counters. */
	member->listener.fd = member->root;
	body_spin(200000);
	member->done = true;
	return NULL;
}

START_TEST(a_tree_of_periods)
{
	struct member *member = shared_alloc(8 * sizeof(*member));
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct perfctr_control control;
	struct perfctr_read_tree tree;
	unsigned int i, signals = 0;
	pid_t child[4];

	period_control(&control, 10007);
	control.flags = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP;
	set_control(self->fd, &control);
	for (i = 0; i < 8; i++)
		member[i].root = self->fd;
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&member[i].pthread, NULL, member_run, &member[i]), 0);
	for (i = 0; i < 4; i++) {
		ck_ok(child[i] = fork());
		if (!child[i]) {
			member_run(&member[4 + i]);
			_exit(0);
		}
	}
	for (i = 0; i < 4; i++)
		pthread_join(member[i].pthread, NULL);
	for (i = 0; i < 4; i++)
		expect_exit(child[i], 0);
	/* A joined thread may still be ending. */
	for (i = 0; i < 1000; i++) {
		ck_assert_int_eq(try_read_tree(self->fd, PERFCTR_TREE_ENDED, &tree), 0);
		if (tree.ended == 8)
			break;
		sleep_us(1000);
	}
	ck_assert_uint_eq(tree.ended, 8);
	for (i = 0; i < 8; i++) {
		ck_assert(member[i].done);
		/* 400,001 of the loop alone, and a little for each handler's end */
		ck_assert_uint_ge(member[i].listener.nr, 39);
		ck_assert_uint_le(member[i].listener.nr, 42);
		signals += member[i].listener.nr;
	}
	ck_assert_uint_le(signals, tree.sum[0] / 10007);
	ck_assert_uint_ge(signals + 8, tree.sum[0] / 10007);
}
END_TEST

void overflow_signals(void)
{
	GUEST_RUN(refresh_stops_after_so_many, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(storm_in_user_mode, NEED_INTERRUPT | LOG_SILENT);
	GUEST_RUN(storm_in_both_modes, NEED_INTERRUPT | LOG_SILENT);
	GUEST_RUN(budget_is_a_parameter, NEED_INTERRUPT | LOG_SILENT);
	GUEST_RUN(blocked_signal_waits, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(ignored_signal, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(default_action_kills, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(queue_is_full, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(in_a_pid_namespace, NEED_INTERRUPT | NEED_NAMESPACES | LOG_SILENT);
	GUEST_RUN(exec_ends_the_signals, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(fork_inherits_nothing, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(a_tree_of_periods, NEED_INTERRUPT | LOG_SILENT | AS_USER);
}
