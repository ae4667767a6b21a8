// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a program under counters.
 *
 * The child opens its own counters, programs them to start at its exec, and
 * sends the handle here. The handle reads the sums when the child is dead, and
 * while it is open nobody else can program these counters: who holds them is
 * the open file, not the process, and the child's own descriptor closes at exec.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perfex.h"

/* What the child tells; the first one comes with the handle. */
struct report {
	enum stage stage;
	int error;
	unsigned int owner;
	int bad_event;
	bool user_only;
	bool clock_only;
	struct timespec start;
};

union control_message {
	struct cmsghdr align;
	char buf[CMSG_SPACE(sizeof(int))];
};

static void send_report(int sock, const struct report *report, int fd)
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
	/* If the parent is gone, nobody is left to be told. */
	while (sendmsg(sock, &msg, MSG_NOSIGNAL) < 0 && errno == EINTR)
		continue;
}

/* Returns whether there was one; *fd is set if it came with a handle. */
static bool receive_report(int sock, struct report *report, int *fd)
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

/*
 * The child
 */

static unsigned int control_flags(const struct how *how)
{
	unsigned int flags = PERFCTR_CONTROL_ON_EXEC | (how->raw_csr ? PERFCTR_CONTROL_RAW : 0);

	if (how->self)
		return flags;
	return flags | PERFCTR_CONTROL_INHERIT |
	       (how->per_thread ? PERFCTR_CONTROL_KEEP : 0);
}

static int control(int fd, const struct events *events, unsigned int first,
		   unsigned int n, bool user_only, const struct how *how)
{
	struct perfctr_control c = {
		.size = sizeof(c),
		.flags = control_flags(how),
		.tsc_on = 1,
		.nractrs = n,
	};
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct event *event = &events->event[first + i];

		c.ctr[i] = event->ctr;
		if (event->modifier)
			continue;
		c.ctr[i].flags = PERFCTR_CTR_USER;
		if (!user_only)
			c.ctr[i].flags |= PERFCTR_CTR_KERNEL;
	}
	return _vperfctr_control_native(fd, &c);
}

/* Which event is it that cannot be counted, even alone? */
static int find_bad_event(int fd, const struct events *events, int error, bool user_only,
			  const struct how *how)
{
	unsigned int i;

	for (i = 0; i < events->n; i++)
		if (control(fd, events, i, 1, user_only, how) < 0 && errno == error)
			return (int)i;
	return -1;
}

unsigned int find_owner(int fd)
{
	struct perfctr_info info;

	/* The handle knows of a holder only, the device who had the hardware. */
	if (!perfctr_info(fd, &info) && info.owner != PERFCTR_OWNER_NONE)
		return info.owner;
	if (!perfctr_get_info(&info))
		return info.owner;
	return PERFCTR_OWNER_NONE;
}

/*
 * Events without a modifier are counted in both modes where that is allowed,
 * else all of them in user mode. Events that the user did not choose are better
 * left out than a reason to fail, unless others merely have the counters now, or the
 * user can bind the program to where there are some.
 */
static bool program(int fd, const struct events *events, const struct how *how,
		    struct report *report)
{
	report->stage = STAGE_CONTROL;
	if (!control(fd, events, 0, events->n, false, how))
		return true;
	if (errno == EACCES) {
		report->user_only = true;
		if (!control(fd, events, 0, events->n, true, how))
			return true;
	}
	report->error = errno;
	if (report->error == EBUSY)
		report->owner = find_owner(fd);
	report->bad_event = find_bad_event(fd, events, report->error, report->user_only,
					   how);
	if (events->chosen || report->error == EBUSY || report->error == EXDEV)
		return false;
	report->clock_only = true;
	return !control(fd, events, 0, 0, false, how);
}

static _Noreturn void child(int sock, char **argv, const struct events *events,
			   const struct how *how)
{
	struct report report = { .stage = STAGE_OPEN, .bad_event = -1 };
	int fd;

	fd = _vperfctr_open(1);
	if (fd < 0) {
		report.error = errno;
		send_report(sock, &report, -1);
		_exit(EXIT_PERFEX);
	}
	if (!program(fd, events, how, &report)) {
		send_report(sock, &report, -1);
		_exit(EXIT_PERFEX);
	}
	report.stage = STAGE_RUNNING;
	report.error = 0;
	clock_gettime(CLOCK_MONOTONIC, &report.start);
	send_report(sock, &report, fd);

	/* The socket closes at exec, and so tells the parent that it went well. */
	execvp(argv[0], argv);

	report.stage = STAGE_EXEC;
	report.error = errno;
	send_report(sock, &report, -1);
	_exit(report.error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/*
 * The parent
 */

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

/* Also of an incomplete tree, but says so. */
static void read_sums(const struct how *how, struct run *run)
{
	struct perfctr_read_tree self;
	unsigned int flags = 0;
	int ret;

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
}

/* Milliseconds to the next multiple of the interval after the start */
static int until_next(const struct how *how, const struct run *run)
{
	struct timespec now;
	int64_t ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (now.tv_sec - run->start.tv_sec) * 1000 +
	     (now.tv_nsec - run->start.tv_nsec) / 1000000;
	return (int)(how->interval - ms % how->interval);
}

/* Tells what was counted in each interval until the program ends. */
static void watch(const struct how *how, const struct perfctr_info *info,
		  const struct events *events, FILE *f, struct run *run)
{
	struct perfctr_read_tree before = { .size = sizeof(before) };
	struct pollfd end = { .events = POLLIN };

	end.fd = (int)syscall(SYS_pidfd_open, run->pid, 0);
	if (end.fd < 0)
		return;
	for (;;) {
		int n = poll(&end, 1, until_next(how, run));

		if (n > 0 || (n < 0 && errno != EINTR))
			break;
		if (n < 0)
			continue;
		clock_gettime(CLOCK_MONOTONIC, &run->end);
		read_sums(how, run);
		print_interval(f, info, events, how, run, &before);
		before = run->sums;
	}
	close(end.fd);
}

void run_end(struct run *run)
{
	if (run->fd >= 0)
		close(run->fd);
	run->fd = -1;
}

int run_program(char **argv, struct events *events, const struct how *how,
		const struct perfctr_info *info, FILE *f, struct run *run)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction standard = { .sa_handler = SIG_DFL };
	struct sigaction old_int, old_quit, old_chld;
	struct report report;
	int sock[2];
	pid_t pid;

	memset(run, 0, sizeof(*run));
	run->stage = STAGE_FORK;
	run->fd = -1;
	run->bad_event = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0) {
		run->error = errno;
		return -1;
	}

	/* Ctrl-C is for the program; what it counted is still wanted. */
	sigaction(SIGINT, &ignore, &old_int);
	sigaction(SIGQUIT, &ignore, &old_quit);
	/* Who started us may ignore this one, and nothing would be left to wait for. */
	sigaction(SIGCHLD, &standard, &old_chld);

	pid = fork();
	if (!pid) {
		sigaction(SIGINT, &old_int, NULL);
		sigaction(SIGQUIT, &old_quit, NULL);
		sigaction(SIGCHLD, &old_chld, NULL);
		close(sock[0]);
		child(sock[1], argv, events, how);
	}
	if (pid < 0)
		run->error = errno;
	close(sock[1]);
	if (pid < 0)
		goto out;

	run->error = EPIPE;	/* if it dies without a word */
	run->pid = pid;
	while (receive_report(sock[0], &report, &run->fd)) {
		run->stage = report.stage;
		run->error = report.error;
		run->owner = report.owner;
		run->bad_event = report.bad_event;
		run->user_only = report.user_only;
		run->clock_only = report.clock_only;
		run->start = report.start;
	}
	if (run->clock_only)
		events->n = 0;
	if (run->stage == STAGE_RUNNING && how->interval)
		watch(how, info, events, f, run);
	while (wait4(pid, &run->status, 0, &run->usage) < 0 && errno == EINTR)
		continue;
	clock_gettime(CLOCK_MONOTONIC, &run->end);
	if (run->stage == STAGE_RUNNING)
		read_sums(how, run);
out:
	close(sock[0]);
	return run->stage == STAGE_RUNNING ? 0 : -1;
}
