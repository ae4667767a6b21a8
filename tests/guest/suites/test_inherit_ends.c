// SPDX-License-Identifier: GPL-2.0
/* Trees: how they end, and memory that does. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/inherit.h"

/* Any control, also of nothing, or an unlink ends the tree: its threads count no more. */
START_TEST(tree_ends)
{
	struct perfctr_control control;
	struct perfctr_read_tree tree;
	volatile int *seen = shared_alloc(sizeof(*seen));
	volatile bool *go = shared_alloc(sizeof(*go));
	int fd = count_tree(EV_INSTRUCTIONS, 0), i;
	pid_t child;

	for (i = 0; i < 3; i++) {
		if (i)
			fd = count_tree(EV_INSTRUCTIONS, 0);
		*seen = 0;
		*go = false;
		ck_ok(child = fork());
		if (!child) {
			while (!*go)
				(void)sched_yield();
			/* It loses its state on its way back from a system call or interrupt. */
			sleep_us(1000);
			*seen = try_open(0);
			_exit(0);
		}
		control_init(&control);
		control.tsc_on = i != 1;
		if (i == 2)
			unlink_self(fd);
		else
			set_control(fd, &control);
		*go = true;
		expect_exit(child, 0);
		ck_assert_int_eq(*seen, -ENOENT);
		ck_assert_int_eq(try_read_tree(fd, ALL, &tree), -ENOENT);
		close(fd);
	}
}
END_TEST

/* The root's thread has ended: its handle can still be read, and the rest of the tree counts on. */
START_TEST(root_goes_first)
{
	volatile int *handle = shared_alloc(sizeof(*handle));
	struct perfctr_read_tree before, after;
	int sock[2], fd;
	pid_t root, orphan = 0;

	be_reaper();
	ck_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	ck_ok(root = fork());
	if (!root) {
		fd = try_open(PERFCTR_OPEN_CREAT);
		if (fd < 0)
			_exit(1);
		{
			struct perfctr_control control;

			control_init(&control);
			control.flags = PERFCTR_CONTROL_INHERIT;
			control.tsc_on = 1;
			control_add(&control, EV_INSTRUCTIONS);
			if (try_control(fd, &control))
				_exit(2);
		}
		if (send_fd(sock[1], fd))
			_exit(3);
		orphan = fork();
		if (!orphan) {
			while (!*handle)
				body_spin(LOOPS);
			body_spin(LOOPS * 100);
			_exit(0);
		}
		_exit(0);
	}
	fd = receive_fd(sock[0]);
	ck_assert_int_ge(fd, 0);
	expect_exit(root, 0);
	before = read_tree(fd, ALL);
	ck_assert_uint_eq(before.live, 1);
	*handle = 1;
	ck_ok(orphan = waitpid(-1, NULL, 0));
	after = read_tree(fd, ALL);
	ck_assert_uint_eq(after.live, 0);
	ck_assert_uint_eq(after.ended, 1);
	ck_assert_uint_ge(after.sum[0], before.sum[0] + BODY_SPIN(LOOPS * 100));
	close(fd);
}
END_TEST

/* An exec by a thread that is not the first ends all others, and it goes on as the first. */
static void *exec_known(void *arg)
{
	(void)arg;
	sleep_us(2000);
	execl(KNOWN_PATH, "known", NULL);
	_exit(99);
}

static void *clone_storm(void *arg)
{
	pthread_t thread;

	for (;;)
		if (!pthread_create(&thread, NULL, spin_thread, (void *)LOOPS))
			(void)pthread_join(thread, NULL);
	return arg;
}

START_TEST(exec_in_a_storm)
{
	struct totals totals = totals_begin();
	pthread_t thread;
	pid_t child;
	int turn;

	for (turn = 0; turn < 20; turn++) {
		ck_ok(child = fork());
		if (!child) {
			int i;

			for (i = 0; i < 3; i++)
				(void)pthread_create(&thread, NULL, clone_storm, NULL);
			(void)pthread_create(&thread, NULL, exec_known, NULL);
			for (;;)
				pause();
		}
		expect_exit(child, 0);
	}
	(void)totals_agree(&totals);
}
END_TEST

/* Members that are killed at any moment are in the sum. */
START_TEST(killed_trees)
{
	struct totals totals = totals_begin();
	pid_t child;
	int turn;

	for (turn = 0; turn < 30; turn++) {
		ck_ok(child = fork());
		if (!child) {
			pthread_t thread;
			int i;

			ck_ok(setpgid(0, 0));
			for (i = 0; i < 3; i++)
				(void)pthread_create(&thread, NULL, clone_storm, NULL);
			for (;;)
				if (!fork())
					_exit(0);
		}
		sleep_us(3000 + (unsigned int)turn * 300);
		while (kill(-child, SIGKILL) && errno == ESRCH)
			sleep_us(100);
		while (waitpid(-1, NULL, 0) > 0)
			(void)kill(-child, SIGKILL);
	}
	(void)totals_agree(&totals);
}
END_TEST

/* If a limit makes a fork fail half way, no child is counted that was not born. */
START_TEST(forks_that_fail)
{
	struct rlimit limit;
	int fd;
	unsigned int failed = 0, i, born = 0;
	pid_t child;

	fd = count_tree(EV_INSTRUCTIONS, 0);
	ck_ok(getrlimit(RLIMIT_NPROC, &limit));
	limit.rlim_cur = 20;
	ck_ok(setrlimit(RLIMIT_NPROC, &limit));
	for (i = 0; i < 200; i++) {
		child = fork();
		if (!child) {
			sleep_us(20000);
			_exit(0);
		}
		failed += child < 0;
		born += child > 0;
	}
	while (waitpid(-1, NULL, 0) > 0)
		continue;
	ck_assert_uint_gt(failed, 0);
	ck_assert_uint_eq(read_tree(fd, ALL).ended, born);
	ck_assert_uint_eq(read_tree(fd, ALL).live, 0);
	ck_assert_uint_eq(read_tree(fd, ALL).missed, 0);
}
END_TEST

#define CGROUPS "/tmp/cgroups"
#define LIMITED CGROUPS "/limited"

static void enter_limited_memory(const char *limit)
{
	(void)mkdir(CGROUPS, 0755);
	ck_ok(mount("none", CGROUPS, "cgroup2", 0, NULL));
	ck_assert_int_eq(write_text(CGROUPS "/cgroup.subtree_control", "+memory"), 0);
	ck_assert(!mkdir(LIMITED, 0755) || errno == EEXIST);
	ck_assert_int_eq(write_text(LIMITED "/memory.max", limit), 0);
	ck_assert_int_eq(write_text(LIMITED "/cgroup.procs", "0"), 0);
	ck_ok(umount2(CGROUPS, MNT_DETACH));
}

static _Noreturn void take_memory(unsigned int pages)
{
	volatile char *memory = mmap(NULL, pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	(void)write_text("/proc/self/oom_score_adj", "1000");
	for (i = 0; memory != MAP_FAILED && i < pages; i++)
		memory[i * PAGE_SIZE] = 1;
	for (;;)
		pause();
}

/* Without memory descendants die, are not born, or are missed, and READ_TREE says so. */
START_TEST(memory_that_ends)
{
	struct totals totals = totals_begin();
	unsigned int born = 0, killed = 0, i;
	struct perfctr_read_tree tree;
	pid_t child, children[300];
	uint64_t theirs;
	int status, err;

	enter_limited_memory("8M");
	ck_assert_int_eq(write_text("/proc/self/oom_score_adj", "-1000"), 0);
	for (i = 0; i < 300; i++) {
		child = fork();
		if (!child)
			take_memory(50);
		if (child > 0)
			children[born++] = child;
	}
	/* The last ones are still under way. */
	sleep_us(100000);
	while (waitpid(-1, &status, WNOHANG) > 0)
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	for (i = 0; i < born; i++)
		(void)kill(children[i], SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		continue;
	/* 300 times 50 pages of 4 KiB are 60 MB. */
	ck_assert_uint_gt(killed, 100);
	err = both_totals(totals.fd, &tree, totals.perf, &theirs);
	ck_assert_uint_eq(tree.live, 0);
	ck_assert_uint_eq(tree.ended + tree.missed, born);
	ck_assert_int_eq(err, tree.missed ? -EIO : 0);
	ck_assert_uint_eq(tree.error, tree.missed ? PERFCTR_ERROR_MEMORY : PERFCTR_ERROR_NONE);
	if (!tree.missed)
		ck_assert_uint_eq(tree.sum[0] - totals.ours, theirs - totals.theirs);
}
END_TEST

START_TEST(not_unloaded_with_a_descendant)
{
	volatile bool *leave = shared_alloc(sizeof(*leave));
	int fd = count_tree(EV_INSTRUCTIONS, 0), status;
	pid_t child;

	ck_ok(child = fork());
	if (!child) {
		close(fd);
		while (!*leave)
			sleep_us(1000);
		_exit(0);
	}
	sleep_us(5000);
	ck_assert_int_eq(module_unload(), -EAGAIN);
	unlink_self(fd);
	close(fd);
	/* The descendant wakes and detaches its state. */
	ck_assert_int_eq(module_unload_patiently(), 0);
	*leave = true;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

void inherit_ends(void)
{
	GUEST_RUN(tree_ends, NEED_COUNTERS | AS_USER);
	GUEST_RUN(root_goes_first, NEED_COUNTERS | AS_USER);
	GUEST_RUN(exec_in_a_storm, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(killed_trees, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(forks_that_fail, NEED_COUNTERS | AS_USER);
	/* The oom-killer reports the stack that asked for memory, which may be the module's. */
	GUEST_RUN(memory_that_ends, NEED_COUNTERS | NEED_BESIDE | NEED_PERF | LOG_OOM | LOG_MODULE);
	GUEST_RUN(not_unloaded_with_a_descendant, NEED_COUNTERS | LOG_MODULE);
}
