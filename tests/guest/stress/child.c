// SPDX-License-Identifier: GPL-2.0
/* Operations of stress: children, programs that take another's place, threads. */
#define _GNU_SOURCE
#include "stress/stress.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"

/* Children */

void check_end(const struct actor *actor, int status, bool killed)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && killed)
		return;
	/* Its tracer was killed while it made a single step. */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP && killed && shared->steps)
		return;
	wrong(actor, "a child ended with status %#x", (unsigned int)status);
}

static void reap(struct actor *actor, unsigned int i, int options)
{
	int status;
	pid_t pid;

	if (!actor->child[i])
		return;
	pid = waitpid(actor->child[i], &status, options);
	if (!pid)
		return;
	if (pid < 0)
		wrong(actor, "waitpid: %s", strerror(errno));
	else
		check_end(actor, status, actor->killed[i]);
	actor->child[i] = 0;
	actor->killed[i] = false;
}

void reap_all(struct actor *actor, int options)
{
	unsigned int i;

	for (i = 0; i < CHILDREN; i++)
		reap(actor, i, options);
}

/* Begins the child of a fork: the parent's handle and map belong to another thread. */
static void be_child(struct actor *actor, uint64_t rng)
{
	const struct perfctr_page *page = actor->page;
	int own = actor->own;
	unsigned int i;

	if (page && page->seq >= 0)
		wrong(actor, "a child sees registers in its parent's page");
	actor->rng = rng | 1;
	actor->attached = false;
	actor->own = -1;
	actor->page = NULL;
	actor->shared_handle = false;
	for (i = 0; i < CHILDREN; i++)
		actor->child[i] = 0;
	actor->depth++;
	if (page && one_in(actor, 2))
		give_page(page);
	if (own >= 0)
		keep_foreign(actor, own);
	control_init(&actor->control);
}

/* A free place for a child, or -1 */
int child_slot(struct actor *actor)
{
	unsigned int i = below(actor, CHILDREN);

	if (actor->depth >= DEPTH)
		return -1;
	reap(actor, i, WNOHANG);
	return actor->child[i] ? -1 : (int)i;
}

/* A child in a free place: 0 is the child; -1: there is none. */
pid_t make_child(struct actor *actor)
{
	uint64_t rng = any(actor);
	int i = child_slot(actor);
	pid_t pid;

	if (i < 0)
		return -1;
	actor->shared_handle = true;
	pid = fork();
	if (pid < 0) {
		wrong(actor, "fork: %s", strerror(errno));
	} else if (!pid) {
		be_child(actor, rng);
	} else {
		actor->child[i] = pid;
		actor->killed[i] = false;
	}
	return pid;
}

void op_fork(struct actor *actor)
{
	if (make_child(actor) == 0) {
		burst(actor);
		_exit(shared->failed ? EXIT_FAILURE : 0);
	}
}

/* The state, and what it is known to count, goes on in the new program. */
void exec_self(struct actor *actor)
{
	char rng[32], own[16], depth[16], attached[2] = "0";
	char *const argv[] = { "stress", "--again", rng, own, attached, depth, NULL };
	char *const envp[] = { NULL };

	if (actor->own >= 0 && fcntl(actor->own, F_SETFD, 0))
		wrong(actor, "fcntl: %s", strerror(errno));
	(void)snprintf(rng, sizeof(rng), "%llu", (unsigned long long)any(actor));
	(void)snprintf(own, sizeof(own), "%d", actor->own);
	(void)snprintf(depth, sizeof(depth), "%u", actor->depth);
	if (actor->attached && !(actor->control.flags & PERFCTR_CONTROL_CLOEXEC))
		attached[0] = '1';
	execve("/proc/self/exe", argv, envp);
	wrong(actor, "execve: %s", strerror(errno));
	_exit(EXIT_FAILURE);
}

static void prepare_and_exec(struct actor *actor)
{
	unsigned int i, n = below(actor, 6);

	op_open(actor);
	for (i = 0; i < n; i++) {
		op_control(actor);
		op_exact(actor);
		op_map(actor);
	}
	exec_self(actor);
}

static void *exec_thread(void *arg)
{
	prepare_and_exec(arg);
	return NULL;
}

/* By a child; in one of three by its second thread, which takes the first's place. */
void op_exec(struct actor *actor)
{
	struct actor second;
	pthread_t thread;
	pid_t pid;

	pid = make_child(actor);
	if (!pid) {
		if (!one_in(actor, 3))
			prepare_and_exec(actor);
		op_open(actor);
		op_control(actor);
		actor_init(&second, any(actor), actor->depth);
		if (pthread_create(&thread, NULL, exec_thread, &second))
			_exit(0);
		while (!shared->stop)
			op_exact(actor);
		pause();	/* the exec ends it */
		_exit(EXIT_FAILURE);
	}
	if (pid > 0)
		shared->execs++;
}

/* As posix_spawn() does it: a child in the same memory, with the same thread pointer */
void op_spawn(struct actor *actor)
{
	char *const argv[] = { "stress", "--nothing", NULL };
	char *const envp[] = { NULL };
	int err, status, i = child_slot(actor);
	pid_t pid;

	if (i < 0)
		return;
	actor->shared_handle = true;
	err = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, envp);
	if (err) {
		wrong(actor, "posix_spawn: %s", strerror(err));
		return;
	}
	op_exact(actor);
	if (waitpid(pid, &status, 0) != pid)
		wrong(actor, "waitpid: %s", strerror(errno));
	else
		check_end(actor, status, false);
	shared->execs++;
}

static void *thread_main(void *arg)
{
	struct actor *actor = arg;
	unsigned int i;

	burst(actor);
	/* Threads share maps and files. Some maps are left behind. */
	if (one_in(actor, 2))
		op_unmap(actor);
	for (i = 0; i < FOREIGN; i++)
		if (actor->foreign[i] >= 0)
			close(actor->foreign[i]);
	if (actor->own >= 0)
		close(actor->own);
	return NULL;
}

void op_thread(struct actor *actor)
{
	struct actor other[2];
	pthread_t thread[2];
	unsigned int i, n = 1 + below(actor, 2);

	if (actor->depth >= DEPTH)
		return;
	for (i = 0; i < n; i++) {
		actor_init(&other[i], any(actor), DEPTH);
		if (actor->own >= 0) {
			other[i].foreign[0] = dup(actor->own);
			actor->shared_handle = true;
		}
		if (pthread_create(&thread[i], NULL, thread_main, &other[i]))
			break;
	}
	n = i;
	for (i = 0; i < 10; i++) {
		op_exact(actor);
		op_rest(actor);
	}
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

void op_kill(struct actor *actor)
{
	unsigned int i = below(actor, CHILDREN);

	if (!actor->child[i])
		return;
	actor->killed[i] = true;
	if (kill(actor->child[i], SIGKILL))
		wrong(actor, "kill: %s", strerror(errno));
	shared->kills++;
}

void op_reap(struct actor *actor)
{
	reap_all(actor, WNOHANG);
}

/* The last handle of a child that has died reads what the child last saw, or more. */
void op_heir(struct actor *actor)
{
	uint64_t words[2][1 + PERFCTR_MAX_CTRS], seen = 0;
	struct perfctr_control control;
	uint64_t evictions = shared->evicted;
	struct perfctr_read rd;
	int pair[2], fd, status;
	pid_t pid;

	if (!shared->nevents || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
		return;
	actor->shared_handle = true;
	pid = fork();
	if (pid < 0) {
		wrong(actor, "fork: %s", strerror(errno));
		return;
	}
	if (!pid) {
		control_init(&control);
		control_add(&control, EV_INSTRUCTIONS);
		fd = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);
		if (fd < 0)
			wrong(actor, "OPEN by a new child: %s", strerror(-fd));
		/* EBUSY: no counter is left. The child's death says so. */
		if (!try_control(fd, &control) &&
		    exact_read(fd, words[0], sizeof(words[0]), body_spin, 1000) > 0 &&
		    !send_fd(pair[1], fd))
			(void)send(pair[1], &words[1][1], sizeof(uint64_t), 0);
		_exit(0);
	}
	close(pair[1]);
	if (waitpid(pid, &status, 0) != pid || status)
		wrong(actor, "an heir's child ended with status %#x", (unsigned int)status);
	fd = try_receive_fd(pair[0], MSG_DONTWAIT);
	if (fd >= 0 && recv(pair[0], &seen, sizeof(seen), MSG_DONTWAIT) == sizeof(seen)) {
		int err = try_read(fd, &rd);

		if (err == -EIO && actor->evictable && shared->evictions != evictions)
			err = 0;
		if (err || (rd.flags & PERFCTR_READ_ATTACHED) || rd.sum[0] < seen ||
		    (shared->exact && rd.sum[0] > seen + 100000))
			wrong(actor, "READ of a dead child: %s, flags %#x, %llu; it had seen %llu",
			     strerror(-err), rd.flags, (unsigned long long)rd.sum[0],
			     (unsigned long long)seen);
	}
	close(pair[0]);
	if (fd >= 0)
		keep_foreign(actor, fd);
}
