// SPDX-License-Identifier: GPL-2.0
/*
 * Implements -p, which counts processes that run already.
 *
 * A thread of perfex makes a tree whose root counts nothing, traces all threads of the processes by
 * ptrace(2), and adds them to the tree. Then this thread ends, which ends the tracing. The
 * processes' threads are not stopped, so none of their system calls ends with EINTR. Threads and
 * processes that these threads make later are born in the tree.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "count/explain.h"
#include "count/signals.h"
#include "record/recording.h"
#include "run/attach.h"
#include "run/control.h"

#define MOST_PIDS	4194304		/* Linux' limit */

/**
 * struct attaching - the state of the thread that adds others to the tree
 * @seen: a bit for each thread id that has been handled
 * @added: number of threads that have been added
 * @run: where a failure is described
 */
struct attaching {
	const struct how *how;
	const struct events *events;
	unsigned char *seen;
	unsigned int added;
	struct run *run;
};

static bool attach_fails(struct attaching *a, enum stage stage, pid_t tid, int error)
{
	a->run->stage = stage;
	a->run->pid = tid;
	a->run->error = error;
	return false;
}

/*
 * Returns true if a thread has ended. Its stat file then has the state Z or X behind the name. For
 * such a thread ptrace(2) and ADD_MEMBER fail with EPERM, as for a thread that may not be traced.
 * The first thread of a process keeps the state Z while other threads run.
 */
static bool has_exited(pid_t pid, pid_t tid)
{
	char path[64], text[512] = "";
	const char *behind;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return true;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	behind = strrchr(text, ')');
	return !behind || strncmp(behind, ") Z", 3) == 0 || strncmp(behind, ") X", 3) == 0;
}

/*
 * Adds a thread, unless it ends meanwhile. Sets *found if the thread was not a member. Such a
 * thread may have made other threads. Returns false on failure.
 */
static bool add_thread(struct attaching *a, pid_t pid, int pidfd, pid_t tid, bool *found)
{
	struct perfctr_add_member add = {
		.size = sizeof(add), .flags = PERFCTR_ADD_PIDFD, .pidfd = pidfd, .tid = tid,
	};
	enum stage stage = STAGE_TRACE;
	int error;

	if (!ptrace(PTRACE_SEIZE, tid, NULL, NULL)) {
		stage = STAGE_ADD;
		if (!_vperfctr_add_member(a->run->fd, &add)) {
			*found = true;
			a->added++;
			return true;
		}
	}
	error = errno;
	/* The thread was born in the tree, and so are all threads that it makes. */
	if (stage == STAGE_ADD && error == EEXIST)
		return true;
	*found = true;
	return error == ESRCH || (error == EPERM && has_exited(pid, tid)) ||
		attach_fails(a, stage, tid, error);
}

/* Adds threads that were not seen yet. *found is set if one of them was not a member. */
static bool add_new_threads(struct attaching *a, pid_t pid, int pidfd, bool *found)
{
	const struct dirent *entry;
	bool good = true;
	char path[40];
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT || attach_fails(a, STAGE_TRACE, pid, errno);
	while (good && (entry = readdir(dir))) {
		long tid = strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || tid >= MOST_PIDS || a->seen[tid / 8] >> tid % 8 & 1)
			continue;
		a->seen[tid / 8] |= (unsigned char)(1 << tid % 8);
		good = add_thread(a, pid, pidfd, (pid_t)tid, found);
	}
	closedir(dir);
	return good;
}

/*
 * Adds threads until a pass finds only members. A thread may make another thread before it is added
 * itself. A later pass finds the new thread.
 */
static bool add_all(struct attaching *a)
{
	bool found;
	unsigned int i;

	do {
		found = false;
		for (i = 0; i < a->how->npids; i++)
			if (!add_new_threads(a, a->how->pids[i], a->how->pidfds[i].fd, &found))
				return false;
	} while (found);
	return a->added || attach_fails(a, STAGE_TRACE, a->how->pids[0], ESRCH);
}

static void *attach(void *arg)
{
	struct attaching *a = arg;

	a->run->stage = STAGE_OPEN;
	a->run->fd = _vperfctr_open(1);
	a->run->error = errno;
	if (a->run->fd < 0 ||
	    (a->how->recording && !recording_make_ring(a->run->fd, a->how, a->run)) ||
	    !control_program(a->run->fd, a->events, a->how, a->run))
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &a->run->start);
	if (!add_all(a))
		return NULL;
	a->run->stage = STAGE_RUNNING;
	a->run->pid = 0;
	return NULL;
}

bool attach_begin(const struct events *events, const struct how *how, struct run *run)
{
	struct attaching a = { .how = how, .events = events, .run = run };
	pthread_t thread;
	int err;

	how->pidfds[how->npids] = (struct pollfd){ .fd = signals_fd(), .events = POLLIN };
	a.seen = calloc(MOST_PIDS / 8, 1);
	err = a.seen ? pthread_create(&thread, NULL, attach, &a) : ENOMEM;
	if (err)
		attach_fails(&a, STAGE_FORK, 0, err);
	else
		pthread_join(thread, NULL);
	free(a.seen);
	return run->stage == STAGE_RUNNING;
}

bool attach_ended(const struct how *how)
{
	unsigned int i, ended = 0;

	if (poll(how->pidfds, how->npids, 0) < 0)
		return false;
	for (i = 0; i < how->npids; i++) {
		/* poll() skips a descriptor of -1. */
		if (how->pidfds[i].revents) {
			close(how->pidfds[i].fd);
			how->pidfds[i].fd = -1;
		}
		ended += how->pidfds[i].fd < 0;
	}
	return ended == how->npids;
}

bool attach_wait(const struct how *how, int64_t ms)
{
	(void)poll(how->pidfds, how->npids + 1, ms < 0 ? -1 : (int)ms);
	return signals_left();
}

bool attach_parse(const char *list, struct how *how)
{
	char *copy = strdup(list), *rest = copy, *text, *end;
	bool good = copy != NULL;
	unsigned int n;

	while (good && (text = strsep(&rest, ","))) {
		long pid = strtol(text, &end, 10);

		n = how->npids;
		how->pids = reallocarray(how->pids, n + 1, sizeof(*how->pids));
		/* The last entry is for signals. */
		how->pidfds = reallocarray(how->pidfds, n + 2, sizeof(*how->pidfds));
		if (!how->pids || !how->pidfds) {
			explain("no memory");
			good = false;
		} else if (end == text || *end || pid <= 0 || pid >= MOST_PIDS) {
			explain("--pid (-p): '%s' is no process id, which is a number of at least 1", text);
			good = false;
		} else {
			how->pids[n] = (pid_t)pid;
			how->pidfds[n] = (struct pollfd){
				.fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0), .events = POLLIN,
			};
			if (how->pidfds[n].fd < 0) {
				explain(errno == ESRCH ? "--pid (-p): there is no process %ld" :
					"--pid (-p): %ld is not a process, but a thread of one", pid);
				good = false;
			}
			how->npids++;
		}
	}
	free(copy);
	return good;
}
