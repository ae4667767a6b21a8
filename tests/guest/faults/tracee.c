// SPDX-License-Identifier: GPL-2.0
/*
 * Cases of faults: another thread, which the caller traces. It stands before its first instruction,
 * and its length is known, so at its end all of it must have been counted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "faults/faults.h"
#include "kit/guest.h"
#include "kit/known.h"

#define LENGTH KNOWN_LENGTH(KNOWN_OTHER_LOOPS)
#define ALL (PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE)

/* --- scenes --- */

static void with_tracee(struct scene *scene)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			execl(KNOWN_OTHER_PATH, KNOWN_OTHER_PATH, NULL);
		_exit(99);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL))
		die("the tracee");
	scene->tracee = pid;
	scene->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (scene->pidfd < 0)
		die("pidfd_open: %s", strerror(errno));
}

static void with_tracee_and_device(struct scene *scene)
{
	with_tracee(scene);
	open_only(scene);
	first_control(&scene->control);
}

static void with_new_module(struct scene *scene)
{
	renew_module();
	with_tracee_and_device(scene);
}

static long open_tracee(const struct scene *scene, int fd, unsigned int flags)
{
	struct perfctr_open arg = {
		.size = sizeof(arg),
		.flags = flags | PERFCTR_OPEN_THREAD | PERFCTR_OPEN_PIDFD,
		.tid = scene->tracee,
		.pidfd = scene->pidfd,
	};

	return ioctl(fd, PERFCTR_IOC_OPEN, &arg);
}

/* The next control counts more, and makes a tree. */
static void with_tracee_that_counts(struct scene *scene)
{
	with_tracee_and_device(scene);
	if (open_tracee(scene, scene->fd, PERFCTR_OPEN_CREAT) ||
	    try_control(scene->fd, &scene->control))
		die("the tracee's counters: %s", strerror(errno));
	scene->next = scene->control;
	scene->next.flags = PERFCTR_CONTROL_INHERIT;
	if (exact)
		control_add(&scene->next, EV_CYCLES);
	add_period(&scene->next, 1ll << 40);
}

/* A tree of the caller's, to which the tracee does not belong */
static void with_tracee_and_tree(struct scene *scene)
{
	with_tracee(scene);
	with_flags(scene, PERFCTR_CONTROL_INHERIT);
}

static void with_tracee_and_imode_tree(struct scene *scene)
{
	with_tracee_and_tree(scene);
	add_period(&scene->control, 1ll << 40);
	if (try_control(scene->own, &scene->control))
		die("CONTROL with INHERIT and a period");
}

/* --- calls --- */

static long call_open_tracee(struct scene *scene)
{
	return open_tracee(scene, scene->fd, PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);
}

static long call_add_member(struct scene *scene)
{
	struct perfctr_add_member arg = {
		.size = sizeof(arg),
		.flags = PERFCTR_ADD_PIDFD,
		.tid = scene->tracee,
		.pidfd = scene->pidfd,
	};

	return ioctl(scene->own, PERFCTR_IOC_ADD_MEMBER, &arg);
}

/* --- checks --- */

/* Lets it go on to its end. */
static bool ends_well(const struct scene *scene)
{
	int status;

	return !ptrace(PTRACE_CONT, scene->tracee, NULL, NULL) &&
	       waitpid(scene->tracee, &status, 0) == scene->tracee && !status;
}

/* From its first instruction to the last */
static const char *counts_all(const struct scene *scene)
{
	struct perfctr_read rd;

	if (!ends_well(scene))
		return "the tracee does not end as it should";
	if (try_read(scene->fd, &rd) || rd.flags)
		return "READ after its end";
	return exact ? compare_counts(rd.sum[0], LENGTH) : NULL;
}

/* A state is there, or none, and nothing is in the way of the next. */
static const char *check_open_tracee(struct scene *scene, bool done)
{
	struct scene other = *scene;
	bool found;

	open_only(&other);
	found = !open_tracee(&other, other.fd, 0);
	if (found != done)
		return done ? "there is no state" : "a state has been made";
	if (!found && errno != ENOENT)
		return "OPEN without CREAT does not say that there is none";
	if (!done && is_handle(scene->fd))
		return "the file has become a handle";
	if (!done && call_open_tracee(scene))
		return "OPEN fails afterwards";
	if (try_control(scene->fd, &scene->control))
		return "what OPEN gave is no handle";
	return counts_all(scene);
}

static const char *check_control_tracee(struct scene *scene, bool done)
{
	const struct perfctr_control *control = done ? &scene->next : &scene->control;
	const char *wrong = in_force(scene->fd, control);
	struct perfctr_read_tree tree;

	if (!wrong && !try_read_tree(scene->fd, ALL, &tree) != done)
		wrong = done ? "there is no tree" : "there is a tree";
	return wrong ? wrong : counts_all(scene);
}

static bool has_members(const struct scene *scene, unsigned int live, unsigned int ended,
			struct perfctr_read_tree *tree)
{
	return !try_read_tree(scene->own, PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE, tree) &&
	       tree->live == live && tree->ended == ended && !tree->missed;
}

/* It is a member, or not, and then it can be added; from there on all of it is counted. */
static const char *check_add_member(struct scene *scene, bool done)
{
	struct perfctr_read_tree tree;
	const char *wrong;

	if (!has_members(scene, done, 0, &tree))
		return done ? "it is no member" : "it is a member";
	if (!done && call_add_member(scene))
		return "ADD_MEMBER fails afterwards";
	if (!call_add_member(scene) || errno != EEXIST)
		return "it can be added twice";
	if (!ends_well(scene))
		return "the tracee does not end as it should";
	if (!has_members(scene, 0, 1, &tree))
		return "its end is not counted";
	wrong = exact ? compare_counts(tree.sum[0], LENGTH) : NULL;
	return wrong ? wrong : counts(scene, &scene->control);
}

const struct fault_case tracee_cases[] = {
	{ "open_tracee", with_tracee_and_device, call_open_tracee, check_open_tracee, 0, 0 },
	{ "open_tracee_first", with_new_module, call_open_tracee, check_open_tracee, 0, 0 },
	{ "control_tracee", with_tracee_that_counts, call_control, check_control_tracee, 0, 0 },
	{ "add_member", with_tracee_and_tree, call_add_member, check_add_member, 0, 0 },
	{ "add_member_imode", with_tracee_and_imode_tree, call_add_member, check_add_member, 0, 0 },
	{ }
};
