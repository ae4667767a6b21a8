// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a program under counters, or beside the processes that -p counts.
 *
 * The child opens its own counters, programs them to start at its exec, and sends the handle to
 * perfex, which reads the sums when the child is dead. As long as the handle is open, no other
 * process can program these counters: their holder is the open file, not the process. The child's
 * own descriptor is closed by the exec.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/perfex.h"
#include "count/counts.h"
#include "count/cpus.h"
#include "count/exact.h"
#include "count/signals.h"
#include "out/output.h"
#include "out/results.h"
#include "out/series.h"
#include "record/recording.h"
#include "run/attach.h"
#include "run/control.h"
#include "run/input.h"
#include "run/run.h"

union control_message {
	struct cmsghdr align;
	char buf[CMSG_SPACE(sizeof(int))];
};

/*
 * Sends the child's own struct run, which tells how the child began. The first message also has the
 * handle. Returns true if perfex still lives.
 */
static bool send_report(int sock, const struct run *report, int fd)
{
	struct iovec iov = { .iov_base = (void *)report, .iov_len = sizeof(*report) };
	union control_message control = { .buf = { 0 } };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;

	if (fd >= 0) {
		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	}
	while (sendmsg(sock, &msg, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return false;
	return true;
}

/*
 * Receives a message of the child. Returns true if a message came. *fd is set if a handle came with
 * it.
 */
static bool receive_report(int sock, struct run *report, int *fd)
{
	struct iovec iov = { .iov_base = report, .iov_len = sizeof(*report) };
	union control_message control = { .buf = { 0 } };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *cmsg;
	ssize_t n;

	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(*report))
		return false;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(cmsg), sizeof(*fd));
	return true;
}

/* The following functions run in the child. */

static _Noreturn void become_program(int sock, char **argv, const struct how *how,
				     struct run *report)
{
	signals_give_back();
	input_again(how);
	/* The exec closes the socket. So the parent knows that the exec has succeeded. */
	execvp(argv[0], argv);

	report->stage = STAGE_EXEC;
	report->error = errno;
	send_report(sock, report, -1);
	_exit(report->error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

static _Noreturn void child(int sock, char **argv, const struct events *events,
			   const struct how *how)
{
	struct run report = { .stage = STAGE_OPEN, .bad_event = -1 };
	int fd;

	/*
	 * The kernel kills the program when perfex ends for any reason. If perfex has ended
	 * already, its end of the socket is closed, and the report below fails.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = how->ncpus ? -1 : _vperfctr_open(1);
	if (fd < 0 && !how->ncpus) {
		report.error = errno;
		send_report(sock, &report, -1);
		_exit(EXIT_PERFEX);
	}
	if ((how->recording && !recording_make_ring(fd, how, &report)) ||
	    (!how->ncpus && !control_program(fd, events, how, &report))) {
		send_report(sock, &report, -1);
		_exit(EXIT_PERFEX);
	}
	report.stage = STAGE_RUNNING;
	report.error = 0;
	/*
	 * The CPU time up to here is perfex's own. The clock is read first, so that the program's
	 * CPU time cannot exceed the time that elapses.
	 */
	clock_gettime(CLOCK_MONOTONIC, &report.start);
	getrusage(RUSAGE_SELF, &report.usage);
	if (!send_report(sock, &report, fd))
		_exit(EXIT_PERFEX);
	become_program(sock, argv, how, &report);
}

/* Runs the program beside the processes that -p counts. The program itself is not counted. */
static _Noreturn void child_beside(int sock, char **argv, const struct how *how)
{
	struct run report = { .stage = STAGE_EXEC, .bad_event = -1 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	become_program(sock, argv, how, &report);
}

/* The following functions run in perfex itself, the parent. */

static void note(struct run *run, const struct run *report)
{
	run->stage = report->stage;
	run->error = report->error;
	run->owner = report->owner;
	run->reason = report->reason;
	run->source = report->source;
	run->bad_event = report->bad_event;
	run->refused = report->refused;
	run->possible = report->possible;
	run->user_only = report->user_only;
	run->ring_pages = report->ring_pages;
	run->ring_flags = report->ring_flags;
	run->left_out = report->left_out;
	run->start = report->start;
}

#define WHOLE_TREE	(PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE)

static int read_self(int fd, struct perfctr_read_tree *sums, unsigned int *flags)
{
	struct perfctr_read self;
	int ret = _vperfctr_read_native(fd, &self), err = errno;

	memset(sums, 0, sizeof(*sums));
	sums->cstatus = self.cstatus;
	sums->error = self.error;
	sums->nrctrs = self.nrctrs;
	sums->clock = self.clock;
	memcpy(sums->sum, self.sum, sizeof(sums->sum));
	sums->soft = self.soft;
	*flags = self.flags;
	errno = err;
	return ret;
}

/*
 * Reads the sums into @run. The sums of an incomplete tree are read too, and @run says that they
 * are incomplete.
 */
static void read_sums(const struct how *how, struct run *run)
{
	struct perfctr_read_tree self;
	unsigned int flags = 0;
	int ret;

	if (how->ncpus) {
		cpus_read(how, run);
		return;
	}
	run->complete = true;
	ret = read_self(run->fd, &self, &flags);
	if (how->self)
		run->sums = self;
	else
		ret = _vperfctr_read_tree(run->fd, WHOLE_TREE, &run->sums);
	if (ret < 0) {
		run->complete = false;
		run->why = errno == EIO ? perfctr_error_name(run->sums.error) : strerror(errno);
	} else if (flags & PERFCTR_READ_ON_EXEC) {
		run->complete = false;
		run->why = "counting did not start at the exec";
	}
	exact_correct(how, run->sums.nrctrs, run->sums.sum);
	/* The clock runs whenever anything is counted. */
	run->counted = run->complete || run->sums.clock;
}

static int64_t ms_since_start(const struct run *run)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - run->start.tv_sec) * 1000 +
	       (now.tv_nsec - run->start.tv_nsec) / 1000000;
}

static bool has_ended(const struct how *how, struct run *run)
{
	pid_t pid;

	if (!run->pid)
		return run->stop || (how->npids && attach_ended(how));
	do
		pid = wait4(run->pid, &run->status, WNOHANG, &run->usage);
	while (pid < 0 && errno == EINTR);
	return pid != 0;
}

static void read_now(const struct how *how, struct run *run)
{
	clock_gettime(CLOCK_MONOTONIC, &run->end);
	read_sums(how, run);
}

/*
 * Waits for a signal or for the end of a process. Without a program, a signal asks perfex itself to
 * end.
 */
static bool wait_for(const struct how *how, const struct run *run, int64_t ms)
{
	return run->pid ? signals_pass_on(run->pid, ms) : attach_wait(how, ms);
}

/*
 * Passes signals on to the program, and prints each interval, until the program ends. The last read
 * gives both the end of the last interval and the total.
 */
static void watch(const struct how *how, const struct perfctr_info *info,
		  const struct events *events, struct results *results, struct run *run)
{
	struct moment before = { .elapsed = 0 };
	int64_t due = how->interval, left = -1;

	while (!has_ended(how, run)) {
		if (how->interval)
			left = due - ms_since_start(run);
		if (how->interval && left <= 0) {
			read_now(how, run);
			print_interval(results_file(results), info, events, how, run, &before);
			(void)results_written(results);
			before = (struct moment){ run->sums, elapsed(run) };
			if (how->ncpus)
				cpus_interval_ends(how);
			/* Skip the intervals that have passed meanwhile. */
			due += (1 - left / how->interval) * how->interval;
			continue;
		}
		run->stop |= wait_for(how, run, left);
	}
	if (how->ncpus)
		cpus_stop();
	read_now(how, run);
	if (how->interval)
		print_interval(results_file(results), info, events, how, run, &before);
}

/*
 * Passes signals on and copies records until the program ends, for perfex record. If the recording
 * cannot begin, the program is killed.
 */
static void run_recording(const struct how *how, const struct perfctr_info *info,
			  const struct events *events, char **argv, struct run *run)
{
	bool records = recording_begin(info, events, how, run, argv);

	if (!records && run->pid)
		kill(run->pid, SIGKILL);
	run->stop |= !records;
	while (!has_ended(how, run))
		run->stop |= records ? recording_wait(how, run) : wait_for(how, run, -1);
	read_now(how, run);
	if (!records || !recording_end(how)) {
		run->complete = false;
		run->why = NULL;	/* the reason is printed already */
	}
}

void run_end(const struct how *how, struct run *run)
{
	if (how->ncpus)
		cpus_end(how);
	if (run->fd >= 0)
		close(run->fd);
	run->fd = -1;
}

/* Subtracts the CPU time that the process used before the exec. */
static void subtract_usage(struct run *run, const struct rusage *before)
{
	timersub(&run->usage.ru_utime, &before->ru_utime, &run->usage.ru_utime);
	timersub(&run->usage.ru_stime, &before->ru_stime, &run->usage.ru_stime);
}

static bool socket_make(int *sock, struct run *run)
{
	if (!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock))
		return true;
	run->error = errno;
	return false;
}

/* Receives the messages in which the child tells how it began. The child writes to @sock[1]. */
static void hear_child(pid_t pid, int *sock, struct run *run, struct run *report)
{
	if (pid < 0) {
		run->error = errno;
		close(sock[1]);
		return;
	}
	close(sock[1]);
	run->error = EPIPE;	/* the error if the child dies without a message */
	run->pid = pid;
	while (receive_report(sock[0], report, &run->fd))
		note(run, report);
}

static int start_beside(char **argv, const struct how *how, struct run *run)
{
	struct timespec start = run->start;
	struct run report;
	int sock[2];
	pid_t pid;

	run->stage = STAGE_FORK;
	if (!socket_make(sock, run))
		return -1;
	pid = fork();
	if (!pid) {
		close(sock[0]);
		child_beside(sock[1], argv, how);
	}
	hear_child(pid, sock, run, &report);
	close(sock[0]);
	run->start = start;
	if (pid < 0)
		return -1;
	if (run->stage != STAGE_EXEC) {
		run->stage = STAGE_RUNNING;
		run->error = 0;
		return 0;
	}
	while (waitpid(pid, &run->status, 0) < 0 && errno == EINTR)
		continue;
	return -1;
}

static int run_attached(char **argv, struct events *events, const struct how *how,
			const struct perfctr_info *info, struct results *results, struct run *run)
{
	if (!attach_begin(events, how, run))
		return -1;
	if (argv[0] && start_beside(argv, how, run) < 0)
		return -1;
	events_leave_out(events, run->left_out);
	if (how->recording)
		run_recording(how, info, events, NULL, run);
	else
		watch(how, info, events, results, run);
	run->stop |= signals_left();
	return 0;
}

/* Restores the members that cpus_begin() has set and the child's messages lack. */
static void keep(struct run *run, const struct run *began)
{
	run->source = began->source;
	run->start = began->start;
}

int run_program(char **argv, struct events *events, const struct how *how,
		const struct perfctr_info *info, struct results *results, struct run *run)
{
	struct run report = { .stage = STAGE_FORK }, began;
	int sock[2];
	pid_t pid;

	memset(run, 0, sizeof(*run));
	run->stage = STAGE_FORK;
	run->fd = -1;
	run->bad_event = -1;
	if (how->npids)
		return run_attached(argv, events, how, info, results, run);
	if (how->ncpus && !cpus_begin(events, how, run))
		return -1;
	events_leave_out(events, run->left_out);
	if (how->ncpus && !argv[0]) {
		watch(how, info, events, results, run);
		return 0;
	}
	began = *run;
	run->stage = STAGE_FORK;
	if (!socket_make(sock, run))
		return -1;

	pid = fork();
	if (!pid) {
		close(sock[0]);
		child(sock[1], argv, events, how);
	}
	hear_child(pid, sock, run, &report);
	if (pid < 0)
		goto out;

	if (how->ncpus)
		keep(run, &began);
	else
		events_leave_out(events, run->left_out);
	if (run->stage == STAGE_RUNNING) {
		if (how->recording)
			run_recording(how, info, events, argv, run);
		else
			watch(how, info, events, results, run);
		subtract_usage(run, &report.usage);
		note_zeroes(info, events, how, run);
	} else {
		while (waitpid(pid, &run->status, 0) < 0 && errno == EINTR)
			continue;
	}
	run->stop |= signals_left();
out:
	close(sock[0]);
	return run->stage == STAGE_RUNNING ? 0 : -1;
}

int end_like(const struct run *run)
{
	struct rlimit no_core = { 0, 0 };
	sigset_t set;
	int sig;

	if (WIFSIGNALED(run->status)) {
		sig = WTERMSIG(run->status);
		/* The program has dumped its core already, so perfex must not dump one. */
		setrlimit(RLIMIT_CORE, &no_core);
		signal(sig, SIG_DFL);
		sigemptyset(&set);
		sigaddset(&set, sig);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		raise(sig);
		return 128 + sig;
	}
	return exit_status(run);
}
