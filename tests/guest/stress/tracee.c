// SPDX-License-Identifier: GPL-2.0
/* Operations of stress: a tracer controls its tracee, which does the same to itself, and dies. */
#define _GNU_SOURCE
#include "stress/stress.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"

static void *nothing(void *arg)
{
	return arg;
}

/* Whatever fails: the tracer may have changed anything since. */
static void tracee(struct actor *actor)
{
	struct perfctr_control control;
	const struct perfctr_page *page;
	struct perfctr_read rd;
	pthread_t thread;
	int fd = -1;
	pid_t pid;

	own_handle = -1;
	/* If the actor is killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!shared->stop) {
		switch (below(actor, 8)) {
		case 0:
			if (fd >= 0)
				close(fd);
			fd = try_open(PERFCTR_OPEN_CREAT);
			break;
		case 1:
			random_control(actor, &control);
			(void)try_control(fd, &control);
			break;
		case 2:
			if (fd >= 0 && one_in(actor, 4))
				(void)ioctl(fd, PERFCTR_IOC_UNLINK);
			break;
		case 3:
			pid = one_in(actor, 4) ? fork() : -1;
			if (!pid)
				_exit(0);
			if (pid > 0)
				waitpid(pid, NULL, 0);
			break;
		case 4:
			page = fd >= 0 ? try_map(fd) : NULL;
			if (page)
				give_page(page);
			break;
		case 5:
			if (!pthread_create(&thread, NULL, nothing, NULL))
				pthread_join(thread, NULL);
			break;
		case 6:
			(void)try_read(fd, &rd);
			break;
		default:
			body_spin(1 + below(actor, 3000));
			sched_yield();
		}
	}
	_exit(0);
}

/* A handle on the tracee's counters; -1: there are none, or it has died */
static int open_tracee(struct actor *actor, pid_t pid)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_THREAD, .tid = pid };
	int err, fd = open(PERFCTR_DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!one_in(actor, 4))
		o.flags |= PERFCTR_OPEN_CREAT;
	if (!ioctl(fd, PERFCTR_IOC_OPEN, &o))
		return fd;
	err = errno;
	if (err != ESRCH && !(err == ENOENT && !(o.flags & PERFCTR_OPEN_CREAT)))
		wrong(actor, "OPEN of a tracee: %s", strerror(err));
	close(fd);
	return -1;
}

/* What a call on a tracee may say: it was killed, or counts itself, or has no such counters. */
static void check_call(struct actor *actor, const char *call, int ret, int also)
{
	if (ret && errno != ESRCH && errno != also)
		wrong(actor, "%s of a tracee: %s", call, strerror(errno));
}

/* The tracee stands still, and so its sums do. */
static void check_still(struct actor *actor, int fd)
{
	struct perfctr_read rd[2];
	int err = try_read(fd, &rd[0]);

	if (!err)
		err = try_read(fd, &rd[1]);
	if (err && err != -EINTR && !may_be_lost(err))
		wrong(actor, "READ of a tracee: %s", strerror(-err));
	if (!err && rd[0].flags == rd[1].flags && rd[0].flags & PERFCTR_READ_ATTACHED &&
	    memcmp(rd[0].sum, rd[1].sum, sizeof(rd[0].sum)) != 0)
		wrong(actor, "the sums of a tracee that stands changed");
}

/* @dies: it may be killed meanwhile */
static void call_tracee(struct actor *actor, int fd, bool dies)
{
	struct perfctr_control control;
	int err;

	switch (below(actor, 7)) {
	case 0:
	case 1:
		random_control(actor, &control);
		err = try_control(fd, &control);
		if (err && err != -ESRCH && err != -EBUSY && err != -EACCES &&
		    err != -EOPNOTSUPP && !may_be_lost(err))
			wrong(actor, "CONTROL of a tracee: %s", strerror(-err));
		shared->tracees += !err;
		break;
	case 2:
		check_call(actor, "SUSPEND", ioctl(fd, PERFCTR_IOC_SUSPEND), EINTR);
		break;
	case 3:
		check_call(actor, "RESUME", ioctl(fd, PERFCTR_IOC_RESUME), EINTR);
		break;
	case 4:
		check_call(actor, "IRESUME", ioctl(fd, PERFCTR_IOC_IRESUME), EINVAL);
		break;
	case 5:
		if (one_in(actor, 4))
			check_call(actor, "UNLINK", ioctl(fd, PERFCTR_IOC_UNLINK), EBUSY);
		break;
	default:
		if (!dies)
			check_still(actor, fd);
	}
}

/* Kills it after a moment, from another CPU if there is one. */
static void killer(struct actor *actor, pid_t pid)
{
	body_spin(1 + below(actor, 200000));
	(void)syscall(SYS_kill, pid, SIGKILL);
	_exit(0);
}

/* Adds a thread to a tree of its own, and ends, or the other ends, or both. */
static void adder(struct actor *actor)
{
	struct perfctr_add_member add = { .size = sizeof(add) };
	struct perfctr_read_tree tree;
	struct perfctr_control control;
	int fd, err;

	/* Before there is a tree that it would be born in */
	add.tid = fork();
	if (!add.tid)
		tracee(actor);
	fd = try_open(PERFCTR_OPEN_CREAT);
	random_control(actor, &control);
	control.flags |= PERFCTR_CONTROL_INHERIT | (one_in(actor, 2) ? PERFCTR_CONTROL_KEEP : 0);
	if (fd < 0 || try_control(fd, &control))
		_exit(0);
	if (!ptrace(PTRACE_SEIZE, add.tid, NULL, PTRACE_O_EXITKILL)) {
		err = ioctl(fd, PERFCTR_IOC_ADD_MEMBER, &add) ? errno : 0;
		shared->tracees += !err;
		if (err && err != ESRCH && err != EEXIST && err != EBUSY && err != ENOENT)
			wrong(actor, "ADD_MEMBER: %s", strerror(err));
	}
	body_spin(1 + below(actor, 30000));
	sched_yield();
	err = try_read_tree(fd, PERFCTR_TREE_LIVE | PERFCTR_TREE_ENDED, &tree);
	if (err && err != -EINTR && err != -ENOENT && tree.error != PERFCTR_ERROR_MEMORY &&
	    !may_be_lost(err))
		wrong(actor, "READ_TREE of who was added: %s", strerror(-err));
	if (one_in(actor, 2))
		kill(add.tid, SIGKILL);
	_exit(0);
}

void op_tracee(struct actor *actor)
{
	unsigned int turns = 1 + below(actor, 8);
	pid_t pid, other = -1;
	int fd = -1, status;

	if (actor->depth >= DEPTH)
		return;
	if (one_in(actor, 3)) {
		if (!make_child(actor))
			adder(actor);
		return;
	}
	actor->shared_handle = true;
	pid = fork();
	if (!pid) {
		actor->rng = any(actor);
		tracee(actor);
	}
	if (pid < 0)
		return;
	if (one_in(actor, 3)) {
		other = fork();
		if (!other)
			killer(actor, pid);
	}
	/* It may have been killed already. */
	if (!ptrace(PTRACE_SEIZE, pid, NULL, NULL)) {
		while (turns-- && !ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) &&
		       waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
			unsigned int calls = below(actor, 6);

			if (fd >= 0 && one_in(actor, 3)) {
				close(fd);
				fd = -1;
			}
			if (fd < 0)
				fd = open_tracee(actor, pid);
			while (fd >= 0 && calls--)
				call_tracee(actor, fd, other > 0);
			/* Without its signals: its handlers are the actor's. */
			(void)ptrace(PTRACE_CONT, pid, NULL, NULL);
			body_spin(1 + below(actor, 3000));
			sched_yield();
		}
	}
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		;
	if (other > 0)
		waitpid(other, NULL, 0);
	if (fd >= 0)
		keep_foreign(actor, fd);
}
