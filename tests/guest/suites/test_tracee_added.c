// SPDX-License-Identifier: GPL-2.0
/* ADD_MEMBER: a thread that is traced becomes a member of its tracer's tree, and does not notice. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <linux/time_types.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "suites/tracee.h"

#define ALL (PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE)

/*
 * Members of a tree that were not born there
 */

/* A root that counts nothing itself */
static int open_root(void)
{
	struct perfctr_control control;
	int fd = open_self();

	control_instructions(&control, PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP |
				       PERFCTR_CONTROL_ON_EXEC);
	set_control(fd, &control);
	return fd;
}

static int try_add_by(int root, pid_t tid, unsigned int flags, int pidfd)
{
	struct perfctr_add_member add = { .size = sizeof(add), .flags = flags, .tid = tid,
					  .pidfd = pidfd };

	return ioctl(root, PERFCTR_IOC_ADD_MEMBER, &add) ? -errno : 0;
}

static int try_add(int root, pid_t tid)
{
	return try_add_by(root, tid, 0, 0);
}

/* Has a thread trace @tid, add it, and end, which lets go of @tid without stopping it. */
struct adding {
	int root;
	pid_t tid;
	int err;
};

static void *add_and_end(void *arg)
{
	struct adding *adding = arg;

	adding->root = open_root();
	adding->err = ptrace(PTRACE_SEIZE, adding->tid, NULL, NULL) ? -errno :
		      try_add(adding->root, adding->tid);
	return NULL;
}

/* A child that waits for a byte, and ends with what then() returns; *go: where to write it */
static pid_t start_waiting(int *go, int (*then)(void))
{
	int pair[2];
	pid_t pid;
	char byte;

	ck_ok(pipe(pair));
	pid = fork();
	if (!pid)
		_exit(read(pair[0], &byte, 1) == 1 ? then() : 98);
	*go = pair[1];
	sleep_us(50000);
	return pid;
}

/* The root's handle */
static int add_in_passing(pid_t tid)
{
	struct adding adding = { .tid = tid };
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, add_and_end, &adding), 0);
	pthread_join(thread, NULL);
	ck_assert_msg(!adding.err, "%s", strerror(-adding.err));
	return adding.root;
}

static void read_tree(int root, struct perfctr_read_tree *tree)
{
	int err = try_read_tree(root, ALL, tree);

	ck_assert_msg(!err, "READ_TREE: %s", strerror(-err));
}

START_TEST(added_at_its_first_instruction)
{
	pid_t pid = exec_traced(KNOWN_PATH);
	struct perfctr_member member = { .size = sizeof(member) };
	struct perfctr_read_tree tree;
	int root = open_root();

	ck_assert_int_eq(try_add(root, pid), 0);
	read_tree(root, &tree);
	ck_assert_uint_eq(tree.live, 1);
	ck_assert_uint_eq(tree.sum[0], 0);
	finish(pid);
	read_tree(root, &tree);
	ck_assert_uint_eq(tree.live, 0);
	ck_assert_uint_eq(tree.ended, 1);
	ck_assert_uint_eq(tree.missed, 0);
	ck_assert_uint_eq(tree.sum[0], LENGTH);
	ck_ok(ioctl(root, PERFCTR_IOC_NEXT_MEMBER, &member));
	ck_assert_int_eq(member.tid, pid);
	ck_assert_str_eq(member.comm, "known");
	ck_assert_uint_eq(member.sum[0], LENGTH);
}
END_TEST

/* A call that a stop would have ended with EINTR goes on, and the thread counts after it. */
START_TEST(added_without_disturbing_it)
{
	int root, go[2], epoll;
	struct perfctr_read_tree tree;
	pid_t pid;

	ck_ok(pipe(go));
	pid = fork();
	if (!pid) {
		struct epoll_event event = { .events = EPOLLIN };

		epoll = epoll_create1(0);
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, go[0], &event) ||
		    epoll_wait(epoll, &event, 1, -1) != 1)
			_exit(errno);
		execl(KNOWN_PATH, KNOWN_PATH, NULL);
		_exit(99);
	}
	sleep_us(50000);
	root = add_in_passing(pid);
	sleep_us(50000);
	read_tree(root, &tree);
	ck_assert_uint_eq(tree.live, 1);
	ck_assert_uint_eq(tree.sum[0], 0);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	expect_exit(pid, 0);
	read_tree(root, &tree);
	ck_assert_uint_eq(tree.ended, 1);
	ck_assert_uint_eq(tree.missed, 0);
	/* The C library's part of execl(), and what follows epoll_wait() */
	ck_assert_uint_gt(tree.sum[0], LENGTH);
	ck_assert_uint_lt(tree.sum[0], LENGTH + 10000);
}
END_TEST

#ifdef SYS_semtimedop_time64	/* 32 bits */

/*
 * Threads that sleep as they are added, in the calls that end with EINTR if a tracer stops the
 * thread; and the parent of a vfork, which cannot be stopped before its child ends.
 */
#define CALL_SEMTIMEDOP		SYS_semtimedop_time64
#define CALL_SIGTIMEDWAIT	SYS_rt_sigtimedwait_time64
#define CALL_GETEVENTS		SYS_io_pgetevents_time64
#else
#define CALL_SEMTIMEDOP		SYS_semtimedop
#define CALL_SIGTIMEDWAIT	SYS_rt_sigtimedwait
#define CALL_GETEVENTS		SYS_io_getevents
#endif

#define KERNEL_SIGSET_SIZE	8
#define SHORT_MS		1000	/* The time of a call ends. */
#define LONG_MS			100000	/* It never does. */
#define SPIN			1000ul

struct call {
	long nr;
	long arg[6];
};

/**
 * struct sleeper - a process that sleeps in a call
 * @pid: it
 * @go, @waits: two ends of a socket: a byte that is written to @go is the event that it waits for,
 *	unless that is a signal, or that @sem is raised
 * @sem: a semaphore
 * @timeout_ms: the longest that the call takes
 * @ready: it is about to call; @awake: the call has returned
 * @result: what the call returned, or -errno
 * @slept_ns: how long that took
 * @err: of its own READs, later
 * @after: its count from the return of the call to the first READ
 * @loop: its count between two READs around body_spin(SPIN)
 */
struct sleeper {
	pid_t pid;
	int go, waits, sem;
	long timeout_ms;
	volatile bool ready, awake;
	long result;
	uint64_t slept_ns;
	long err;
	uint64_t after, loop;
};

static void timeout_of(const struct sleeper *sleeper, struct __kernel_timespec *timeout)
{
	timeout->tv_sec = sleeper->timeout_ms / 1000;
	timeout->tv_nsec = sleeper->timeout_ms % 1000 * 1000000;
}

/* Each fills in a call, and returns whether it could. */

static bool prepare_epoll(struct sleeper *sleeper, struct call *call)
{
	static struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0);

	*call = (struct call){ SYS_epoll_pwait, { epoll, (long)&event, 1, sleeper->timeout_ms, 0,
						  KERNEL_SIGSET_SIZE } };
	return !epoll_ctl(epoll, EPOLL_CTL_ADD, sleeper->waits, &event);
}

static bool prepare_semaphore(struct sleeper *sleeper, struct call *call)
{
	static struct sembuf take = { .sem_op = -1 };
	static struct __kernel_timespec timeout;

	timeout_of(sleeper, &timeout);
	*call = (struct call){ CALL_SEMTIMEDOP, { sleeper->sem, (long)&take, 1, (long)&timeout } };
	return true;
}

static bool prepare_signal(struct sleeper *sleeper, struct call *call)
{
	static struct __kernel_timespec timeout;
	static sigset_t set;

	timeout_of(sleeper, &timeout);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	*call = (struct call){ CALL_SIGTIMEDWAIT, { (long)&set, 0, (long)&timeout,
						    KERNEL_SIGSET_SIZE } };
	return !sigprocmask(SIG_BLOCK, &set, NULL);
}

static bool prepare_socket(struct sleeper *sleeper, struct call *call)
{
	const struct timeval timeout = { .tv_sec = sleeper->timeout_ms / 1000,
					 .tv_usec = sleeper->timeout_ms % 1000 * 1000 };
	static char byte;

	*call = (struct call){ SYS_recvfrom, { sleeper->waits, (long)&byte, 1 } };
	return !setsockopt(sleeper->waits, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
}

static bool prepare_aio(struct sleeper *sleeper, struct call *call)
{
	static struct iocb poll = { .aio_lio_opcode = IOCB_CMD_POLL, .aio_buf = EPOLLIN };
	static struct __kernel_timespec timeout;
	struct iocb *list = &poll;
	static struct io_event event;
	aio_context_t context = 0;

	timeout_of(sleeper, &timeout);
	poll.aio_fildes = (uint32_t)sleeper->waits;
	if (syscall(SYS_io_setup, 1, &context) || syscall(SYS_io_submit, context, 1, &list) != 1)
		return false;
	*call = (struct call){ CALL_GETEVENTS, { (long)context, 1, 1, (long)&event,
						 (long)&timeout } };
	return true;
}

/* The child has a copy of the memory, and its parent waits all the same. */
static bool prepare_vfork(struct sleeper *sleeper, struct call *call)
{
	(void)sleeper;
	*call = (struct call){ SYS_clone, { CLONE_VFORK | SIGCHLD } };
	return true;
}

static bool send_byte(const struct sleeper *sleeper)
{
	return write(sleeper->go, "x", 1) == 1;
}

static bool raise_semaphore(const struct sleeper *sleeper)
{
	struct sembuf give = { .sem_op = 1 };

	return !semop(sleeper->sem, &give, 1);
}

static bool send_signal(const struct sleeper *sleeper)
{
	return !kill(sleeper->pid, SIGUSR1);
}

#define ANY_PID		LONG_MAX
#define NO_TIMEOUT	LONG_MIN

/* @event, @timeout: what the call returns by its event, and at the end of its time */
static const struct {
	const char *name;
	bool (*prepare)(struct sleeper *sleeper, struct call *call);
	bool (*wake)(const struct sleeper *sleeper);
	long event, timeout;
} sleeps[] = {
	{ "epoll_wait", prepare_epoll, send_byte, 1, 0 },
	{ "semtimedop", prepare_semaphore, raise_semaphore, 0, -EAGAIN },
	{ "sigtimedwait", prepare_signal, send_signal, SIGUSR1, -EAGAIN },
	{ "recv", prepare_socket, send_byte, 1, -EAGAIN },
	{ "io_getevents", prepare_aio, send_byte, 1, 0 },
	{ "vfork", prepare_vfork, send_byte, ANY_PID, NO_TIMEOUT },
};

#define NR_SLEEPS (sizeof(sleeps) / sizeof(sleeps[0]))

/*
 * Calls, and then makes the file @fd a handle on the caller's own state, and reads that. What the
 * caller executes in user mode from the return of the call to READ is always the same, but for
 * errno.
 */
static __attribute__((noinline)) long call_and_read(const struct call *call, int fd,
						    struct perfctr_read *rd)
{
	const long *arg = call->arg;
	struct perfctr_open own = { .size = sizeof(own) };
	long ret = syscall(call->nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);

	(void)syscall(SYS_ioctl, fd, PERFCTR_IOC_OPEN, &own);
	(void)syscall(SYS_ioctl, fd, PERFCTR_IOC_READ, rd);
	return ret;
}

/* That number, by a thread that counts itself: its call is a READ. */
static uint64_t length_after_call(int fd)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	const struct call read = { SYS_ioctl, { fd, PERFCTR_IOC_READ, (long)&rd[0] } };

	ck_assert_int_eq(call_and_read(&read, open_device(), &rd[1]), 0);
	return rd[1].sum[0] - rd[0].sum[0];
}

/* How much longer it is after a call that fails */
static uint64_t length_of_errno(int fd)
{
	const struct call good = { SYS_getppid, {} }, bad = { SYS_close, { -1 } };
	struct perfctr_read rd = { .size = sizeof(rd) };
	uint64_t before, length;

	before = read_sum(fd, 0);
	(void)call_and_read(&good, open_device(), &rd);
	length = rd.sum[0] - before;
	before = read_sum(fd, 0);
	ck_assert_int_eq(call_and_read(&bad, open_device(), &rd), -1);
	return rd.sum[0] - before - length;
}

static void sleep_and_count(struct sleeper *sleeper, unsigned int kind)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	int fd = open(PERFCTR_DEVICE, O_RDONLY | O_CLOEXEC);
	struct call call;
	uint64_t begun;
	char byte;
	long ret;

	if (fd < 0 || !sleeps[kind].prepare(sleeper, &call))
		_exit(errno);
	sleeper->ready = true;
	begun = now_ns();
	ret = call_and_read(&call, fd, &rd[0]);
	if (call.nr == SYS_clone && !ret)
		_exit(read(sleeper->waits, &byte, 1) != 1);
	sleeper->result = ret < 0 ? -errno : ret;
	sleeper->slept_ns = now_ns() - begun;
	sleeper->awake = true;
	sleeper->after = rd[0].sum[0];
	sleeper->err = exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, SPIN);
	sleeper->loop = rd[1].sum[0] - rd[0].sum[0];
	_exit(0);
}

static void start_sleeper(struct sleeper *sleeper, unsigned int kind, long timeout_ms)
{
	int pair[2];
	pid_t pid;

	ck_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	sleeper->go = pair[1];
	sleeper->waits = pair[0];
	ck_ok(sleeper->sem = semget(IPC_PRIVATE, 1, 0600));
	sleeper->timeout_ms = timeout_ms;
	ck_ok(pid = fork());
	if (!pid)
		sleep_and_count(sleeper, kind);
	sleeper->pid = pid;
}

/* Until it sleeps in its call: nothing that sleeps comes between that and ready. */
static void await_sleep(const struct sleeper *sleeper, const char *name)
{
	char path[40], text[512];
	const char *behind = NULL;
	unsigned int tries;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", sleeper->pid);
	for (tries = 0; tries < 2000; tries++) {
		ck_assert_int_gt(read_text(path, text, sizeof(text)), 0);
		behind = strrchr(text, ')');
		/* The parent of a vfork is D. */
		if (sleeper->ready && behind && (behind[2] == 'S' || behind[2] == 'D'))
			return;
		sleep_us(5000);
	}
	ck_abort_msg("%s: ready %d, in state%s", name, sleeper->ready, behind ? behind + 1 : "");
}

/* It was added to the tree of @root as it slept, and was not disturbed. */
static void expect_undisturbed(const struct sleeper *sleeper, unsigned int kind, int root,
			       long result, uint64_t after)
{
	const char *name = sleeps[kind].name;
	struct perfctr_read_tree tree;

	expect_exit(sleeper->pid, 0);
	if (result == ANY_PID)
		ck_assert_msg(sleeper->result > 0, "%s: %ld", name, sleeper->result);
	else
		ck_assert_msg(sleeper->result == result, "%s: %ld, not %ld", name, sleeper->result,
			      result);
	ck_assert_msg(result == sleeps[kind].event ||
		      sleeper->slept_ns >= (uint64_t)sleeper->timeout_ms * 1000000u,
		      "%s slept for %llu ns", name, (unsigned long long)sleeper->slept_ns);
	ck_assert_msg(!sleeper->err, "%s: READ: %ld", name, sleeper->err);
	ck_assert_msg(sleeper->after == after, "%s: %llu, not %llu", name,
		      (unsigned long long)sleeper->after, (unsigned long long)after);
	ck_assert_uint_eq(sleeper->loop, EXACT_KERNEL + BODY_SPIN(SPIN));
	read_tree(root, &tree);
	ck_assert_uint_eq(tree.live, 0);
	ck_assert_uint_eq(tree.ended, 1);
	ck_assert_uint_eq(tree.missed, 0);
	ck_ok(semctl(sleeper->sem, 0, IPC_RMID));
}

START_TEST(added_while_they_sleep)
{
	struct sleeper (*sleepers)[2] = shared_alloc(NR_SLEEPS * sizeof(*sleepers));
	int fd = count_event(EV_INSTRUCTIONS), root[NR_SLEEPS][2];
	uint64_t after = length_after_call(fd), more = length_of_errno(fd);
	long short_ms = getenv("SLOW_KERNEL") ? 5 * SHORT_MS : SHORT_MS;
	unsigned int i, by_time;

	unlink_self(fd);
	for (i = 0; i < NR_SLEEPS; i++) {
		start_sleeper(&sleepers[i][0], i, LONG_MS);
		if (sleeps[i].timeout != NO_TIMEOUT)
			start_sleeper(&sleepers[i][1], i, short_ms);
	}
	for (i = 0; i < NR_SLEEPS; i++) {
		for (by_time = 0; by_time < 2; by_time++) {
			struct sleeper *sleeper = &sleepers[i][by_time];

			if (!sleeper->pid)
				continue;
			await_sleep(sleeper, sleeps[i].name);
			root[i][by_time] = add_in_passing(sleeper->pid);
			/* So it did not wait for the sleeper. */
			ck_assert_msg(!sleeper->awake, "%s: awake", sleeps[i].name);
		}
	}
	sleep_us(50000);
	for (i = 0; i < NR_SLEEPS; i++) {
		ck_assert_msg(!sleepers[i][0].awake, "%s was woken", sleeps[i].name);
		ck_assert_msg(sleeps[i].wake(&sleepers[i][0]), "%s: wake", sleeps[i].name);
		expect_undisturbed(&sleepers[i][0], i, root[i][0], sleeps[i].event, after);
		if (sleepers[i][1].pid)
			expect_undisturbed(&sleepers[i][1], i, root[i][1], sleeps[i].timeout,
					   after + (sleeps[i].timeout < 0 ? more : 0));
	}
}
END_TEST

/* It makes children as fast as it can, and from some time on all of them are counted. */
START_TEST(children_of_a_thread_that_was_added)
{
	struct {
		volatile uint64_t forks;
		volatile bool over;
	} *seen = shared_alloc(sizeof(*seen));
	struct perfctr_read_tree tree;
	uint64_t from, until;
	int root;
	pid_t pid = fork();

	if (!pid) {
		while (!seen->over) {
			pid_t child;

			seen->forks++;
			child = fork();
			if (!child)
				_exit(0);
			waitpid(child, NULL, 0);
		}
		_exit(0);
	}
	while (!seen->forks)
		sched_yield();
	root = add_in_passing(pid);
	from = seen->forks;
	while (seen->forks < from + 20)
		sched_yield();
	seen->over = true;
	expect_exit(pid, 0);
	until = seen->forks;
	read_tree(root, &tree);
	ck_assert_uint_eq(tree.live, 0);
	ck_assert_uint_eq(tree.missed, 0);
	/* It itself, and the child that it was making as it was added */
	ck_assert_uint_ge(tree.ended, 1 + until - from);
	ck_assert_uint_le(tree.ended, 1 + until - from + 2);
}
END_TEST

static int nothing(void)
{
	return 99;
}

START_TEST(added_and_killed_before_it_counts)
{
	struct perfctr_read_tree tree;
	int go, root;
	pid_t pid = start_waiting(&go, nothing);

	root = add_in_passing(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	read_tree(root, &tree);
	ck_assert_uint_eq(tree.live, 0);
	ck_assert_uint_eq(tree.ended, 1);
	ck_assert_uint_eq(tree.missed, 0);
	ck_assert_uint_eq(tree.sum[0], 0);
}
END_TEST

static int open_first(void)
{
	int fd = try_open(CREAT | EXCL);

	return fd < 0 ? -fd : 0;
}

/* The tree is gone before the thread has taken its place: then it has no state. */
START_TEST(added_to_a_tree_that_ends)
{
	int go, root;
	pid_t pid = start_waiting(&go, open_first);

	root = add_in_passing(pid);
	close(root);
	/* The thread that made the root may still be on its way out, with a reference. */
	sleep_us(50000);
	ck_assert_int_eq(write(go, "x", 1), 1);
	expect_exit(pid, 0);
}
END_TEST

static int find_that_it_is_held(void)
{
	struct perfctr_control control;
	int fd;

	if (try_open(CREAT | EXCL) != -EEXIST)
		return 1;
	fd = try_open(0);
	control_instructions(&control, 0);
	return try_control(fd, &control) == -EBUSY && control.owner == PERFCTR_OWNER_HOLDER ? 0 : 2;
}

/* OPEN is the first that it does for us: it finds the state that was made for it. */
START_TEST(added_as_it_opens_itself)
{
	int go, root;
	pid_t pid = start_waiting(&go, find_that_it_is_held);

	root = add_in_passing(pid);
	ck_assert_int_eq(write(go, "x", 1), 1);
	expect_exit(pid, 0);
	close(root);
}
END_TEST

START_TEST(refusals_to_add)
{
	struct perfctr_add_member add = { .size = sizeof(add) };
	pid_t pid = exec_traced(KNOWN_PATH), own = exec_traced(KNOWN_PATH), other;
	int fd = open_self(), root, pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	ck_assert_int_eq(try_add(fd, pid), -ENOENT);
	count_instructions(fd);
	ck_assert_int_eq(try_add(fd, pid), -ENOENT);
	unlink_self(fd);
	ck_assert_int_eq(try_add(fd, pid), -ESRCH);
	root = open_root();
	other = fork();
	if (!other)
		_exit(try_add(root, pid) == -EPERM ? 0 : 1);
	expect_exit(other, 0);
	ck_assert_int_eq(try_add(root, 0), -EINVAL);
	ck_assert_int_eq(try_add(root, -1), -EINVAL);
	ck_assert_int_eq(try_add_by(root, pid, 2, 0), -EINVAL);
	ck_assert_int_eq(try_add_by(root, pid, 0, pidfd), -EINVAL);
	ck_assert_int_eq(try_add_by(root, pid, PERFCTR_ADD_PIDFD, -1), -EBADF);
	ck_assert_int_eq(try_add_by(root, pid, PERFCTR_ADD_PIDFD, 12345), -EBADF);
	ck_assert_int_eq(try_add_by(root, own, PERFCTR_ADD_PIDFD, pidfd), -ESRCH);
	ck_assert_int_eq(try_add(root, getppid()), -EPERM);
	ck_assert_int_eq(try_add(root, getpid()), -EPERM);
	add.tid = pid;
	add.reserved[1] = 1;
	ck_errno(ioctl(root, PERFCTR_IOC_ADD_MEMBER, &add), EINVAL);
	add.reserved[1] = 0;
	add.size = sizeof(add) - 4;
	ck_errno(ioctl(root, PERFCTR_IOC_ADD_MEMBER, &add), EINVAL);
	ck_errno(ioctl(root, PERFCTR_IOC_ADD_MEMBER, NULL), EFAULT);
	ck_assert_int_eq(try_add_by(root, pid, PERFCTR_ADD_PIDFD, pidfd), 0);
	ck_assert_int_eq(try_add(root, pid), -EEXIST);
	/* It took it up. */
	go_to_call(pid);
	ck_assert_int_eq(try_add(root, pid), -EEXIST);
	fd = open_thread(own);
	ck_assert_int_eq(try_add(root, own), -EBUSY);
	finish(own);
	finish(pid);
	ck_assert_int_eq(try_add(root, pid), -ESRCH);
	close(fd);
}
END_TEST

void tracee_added(void)
{
	GUEST_RUN(added_at_its_first_instruction, NEED_COUNTERS | AS_USER);
	GUEST_RUN(added_without_disturbing_it, NEED_COUNTERS | AS_USER);
	GUEST_RUN(added_while_they_sleep, NEED_COUNTERS | AS_USER);
	GUEST_RUN(children_of_a_thread_that_was_added, NEED_COUNTERS | AS_USER);
	GUEST_RUN(added_and_killed_before_it_counts, NEED_COUNTERS | AS_USER);
	GUEST_RUN(added_to_a_tree_that_ends, NEED_COUNTERS | AS_USER);
	GUEST_RUN(added_as_it_opens_itself, NEED_COUNTERS | AS_USER);
	GUEST_RUN(refusals_to_add, NEED_COUNTERS | AS_USER);
	/* A member is looked for in another way where switches are seen by the tracepoint. */
	(void)guest_end();
	guest_begin("tracee", "by_tracepoint=1");
	GUEST_RUN(added_while_they_sleep, NEED_COUNTERS | AS_USER);
}
