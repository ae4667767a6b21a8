// SPDX-License-Identifier: GPL-2.0
/*
 * Trees: threads and processes that count because the one that made them does. A child here
 * ends by _exit() right after its last read, so its count is known to the instruction. Of
 * other counts perf, with its own inheritance, is the witness.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/inherit.h"

#define WAITER_PATH "/usr/libexec/perfctr/waiter"

/* --- what is counted --- */

/*
 * Two children differ in the length of their loops only, so the difference of their counts is
 * known. They are not made by fork(), where the C library takes a lock in the child: RISC-V's
 * LR and SC are tried again if an interrupt comes between them, which is four instructions
 * more.
 */
static uint64_t child_with_loop(int fd, unsigned long loops)
{
	uint64_t before = read_tree(fd, PERFCTR_TREE_ENDED).sum[0];
	pid_t child;

	ck_ok(child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
	if (!child) {
		body_spin(loops);
		_exit(0);
	}
	expect_exit(child, 0);
	return read_tree(fd, PERFCTR_TREE_ENDED).sum[0] - before;
}

START_TEST(fork_counts)
{
	int fd = count_tree(EV_INSTRUCTIONS, 0);
	uint64_t once = child_with_loop(fd, LOOPS);
	unsigned int i;

	ck_assert_uint_gt(once, BODY_SPIN(LOOPS));
	for (i = 1; i <= 100; i++)
		ck_assert_uint_eq(child_with_loop(fd, LOOPS + i) - once,
				  BODY_SPIN(LOOPS + i) - BODY_SPIN(LOOPS));
	ck_assert_uint_eq(read_tree(fd, ALL).ended, 101);
	ck_assert_uint_eq(read_tree(fd, ALL).live, 0);
}
END_TEST

/* A program of known length: nothing is lost or counted twice at its exec. */
START_TEST(exec_counts)
{
	int fd = count_tree(EV_INSTRUCTIONS, 0);
	uint64_t sums[2];
	unsigned int i;
	pid_t child;

	for (i = 0; i < 2; i++) {
		uint64_t before = read_tree(fd, PERFCTR_TREE_ENDED).sum[0];

		ck_ok(child = fork());
		if (!child) {
			execl(i ? KNOWN_PATH : KNOWN_OTHER_PATH, "known", NULL);
			_exit(99);
		}
		expect_exit(child, 0);
		sums[i] = read_tree(fd, PERFCTR_TREE_ENDED).sum[0] - before;
	}
	/* The path to the exec has a few instructions for each character of the name. */
	ck_assert_uint_gt(sums[1] - sums[0],
			  KNOWN_LENGTH(KNOWN_LOOPS) - KNOWN_LENGTH(KNOWN_OTHER_LOOPS) - 200);
	ck_assert_uint_lt(sums[1] - sums[0],
			  KNOWN_LENGTH(KNOWN_LOOPS) - KNOWN_LENGTH(KNOWN_OTHER_LOOPS) + 200);
}
END_TEST

/* Most instructions of this test's own between two reads */
#define OWN_CODE 10000

/* The root's own sum is not in its descendants', and the total is all. */
START_TEST(parts_of_the_whole)
{
	int fd = count_tree(EV_INSTRUCTIONS, 0);
	struct perfctr_read_tree root, all;
	struct perfctr_read rd;

	(void)child_with_loop(fd, LOOPS);
	root = read_tree(fd, PERFCTR_TREE_ROOT);
	read_all(fd, &rd);
	all = read_tree(fd, ALL);
	ck_assert_uint_ge(rd.sum[0], root.sum[0]);
	ck_assert_uint_lt(rd.sum[0], root.sum[0] + OWN_CODE);
	ck_assert_uint_ge(all.sum[0], rd.sum[0] + read_tree(fd, PERFCTR_TREE_ENDED).sum[0]);
	ck_assert_uint_lt(all.sum[0],
			  rd.sum[0] + read_tree(fd, PERFCTR_TREE_ENDED).sum[0] + OWN_CODE);
	ck_assert_uint_gt(all.clock, 0);
	ck_assert_uint_eq(all.nrctrs, 1);
	ck_assert_uint_eq(all.missed, 0);
}
END_TEST

/* --- a large tree, and perf --- */

#define PROCESSES 1000ul
#define THREADS_EACH 4ul

static _Noreturn void process_with_threads(unsigned long seed)
{
	pthread_t threads[THREADS_EACH];
	unsigned long i;

	for (i = 0; i < THREADS_EACH; i++)
		if (pthread_create(&threads[i], NULL, spin_thread,
				   (void *)(LOOPS + seed % 97 + i)))
			_exit(1);
	for (i = 0; i < THREADS_EACH; i++)
		if (pthread_join(threads[i], NULL))
			_exit(2);
	_exit(0);
}

/* Generations: each process makes the next before its threads, up to a depth. */
static void grow(unsigned int processes, unsigned int depth)
{
	unsigned int i, status_bad = 0;
	int status;
	pid_t child;

	for (i = 0; i < processes; i += depth) {
		unsigned int level;

		child = fork();
		if (child < 0)
			_exit(3);
		if (!child) {
			for (level = 1; level < depth; level++) {
				child = fork();
				if (child < 0)
					_exit(3);
				if (child)
					break;
			}
			/* Some parents end before their children. */
			if (level < depth && (i / depth) % 2 && waitpid(child, &status, 0) != child)
				_exit(4);
			process_with_threads(i + level);
		}
		/* A few at a time */
		if (i / depth % 4 == 3)
			while (waitpid(-1, &status, 0) > 0)
				status_bad += status != 0;
	}
	while (waitpid(-1, &status, 0) > 0)
		status_bad += status != 0;
	if (status_bad)
		_exit(5);
}

START_TEST(large_tree_as_perf_counts_it)
{
	struct totals totals = totals_begin();
	struct perfctr_read_tree tree;

	grow(PROCESSES, 5);
	ck_assert_uint_gt(totals_agree(&totals), PROCESSES * THREADS_EACH * BODY_SPIN(LOOPS));
	tree = read_tree(totals.fd, ALL);
	ck_assert_uint_eq(tree.missed, 0);
	ck_assert_uint_eq(tree.live, 0);
	ck_assert_uint_eq(tree.ended, PROCESSES * (1 + THREADS_EACH));
}
END_TEST

/* A tree is read while members come and go: its sum never goes back, and ends right. */
START_TEST(read_while_it_comes_and_goes)
{
	int fd, perf, status;
	uint64_t ours, theirs, last = 0, now;
	unsigned int reads = 0;
	pid_t grower;

	be_reaper();
	fd = count_tree(EV_LIKE_INSTRUCTIONS, 0);
	perf = perf_inherited();
	ours = read_tree(fd, PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE).sum[0];
	theirs = perf_read_one(perf);
	ck_ok(grower = fork());
	if (!grower) {
		be_reaper();
		grow(200, 5);
		_exit(0);
	}
	while (waitpid(grower, &status, WNOHANG) == 0) {
		now = read_tree(fd, PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE).sum[0];
		ck_assert_uint_ge(now, last);
		last = now;
		reads++;
		sched_yield();
	}
	ck_assert_int_eq(status, 0);
	ck_assert_uint_gt(reads, 20);
	/* perf's sum contains the root, so ours is read with the root too. */
	ours = read_tree(fd, ALL).sum[0] - ours;
	theirs = perf_read_one(perf) - theirs;
	now = read_sum(fd, 0);
	ck_assert_uint_ge(ours + 20000, theirs);
	ck_assert_uint_eq(read_tree(fd, ALL).ended, 200 * (1 + THREADS_EACH) + 1);
	ck_assert_uint_eq(read_tree(fd, ALL).live, 0);
	ck_assert_uint_gt(now, 0);
}
END_TEST

/* --- stop and go --- */

START_TEST(stop_and_go)
{
	int fd = count_tree(EV_INSTRUCTIONS, 0);
	struct children children = children_start(6, true);
	struct perfctr_read_tree stopped, later;
	unsigned int turn;

	for (turn = 0; turn < 20; turn++) {
		ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
		stopped = read_tree(fd, ALL);
		sleep_us(20000);
		body_spin(LOOPS);
		later = read_tree(fd, ALL);
		ck_assert_uint_eq(later.sum[0], stopped.sum[0]);
		ck_assert_uint_eq(later.clock, stopped.clock);
		ck_assert_uint_eq(later.soft.switches, stopped.soft.switches);
		ck_assert_uint_eq(later.soft.minor_faults, stopped.soft.minor_faults);
		ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
		sleep_us(20000);
		later = read_tree(fd, PERFCTR_TREE_LIVE);
		ck_assert_uint_gt(later.sum[0], 6 * BODY_SPIN(LOOPS));
		ck_assert_uint_gt(read_tree(fd, ALL).sum[0], stopped.sum[0] + 6 * BODY_SPIN(LOOPS));
		ck_assert_uint_gt(later.soft.switches, 0);
	}
	children_end(&children);
}
END_TEST

/* From SUSPEND to RESUME nothing of the caller is counted, and all of it at other times. */
static void stop_is_exact(unsigned int flags)
{
	int fd = open_self();
	struct perfctr_control control;
	uint64_t before[2][2], after[2];	/* the clock, and the sum */
	unsigned int i;

	control_init(&control);
	control.tsc_on = 1;
	control.flags = flags;
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	for (i = 0; i < 100; i++) {
		ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
		ck_assert_int_eq(exact_read(fd, before[0], sizeof(before[0]), body_spin,
					    LOOPS + i), 16);
		ck_assert_int_eq(read(fd, after, sizeof(after)), 16);
		ck_assert_uint_eq(after[1], before[0][1]);
		ck_assert_uint_eq(after[1], before[1][1]);
		ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
		{
			uint64_t words[2][2];

			ck_assert_int_eq(exact_read(fd, words[0], sizeof(words[0]), body_spin, LOOPS),
					 16);
			ck_assert_uint_eq(words[1][1] - words[0][1], EXACT_KERNEL + BODY_SPIN(LOOPS));
		}
	}
}

START_TEST(stop_of_one_is_exact)
{
	stop_is_exact(0);
}
END_TEST

START_TEST(stop_of_a_tree_is_exact)
{
	stop_is_exact(PERFCTR_CONTROL_INHERIT);
}
END_TEST

START_TEST(stop_by_others)
{
	int fd = open_self();
	pid_t child;

	/* A child that is in no tree may not. */
	ck_ok(child = fork());
	if (!child)
		_exit(ioctl(fd, PERFCTR_IOC_SUSPEND) == 0 || errno != EPERM);
	expect_exit(child, 0);
	unlink_self(fd);
	ck_errno(ioctl(fd, PERFCTR_IOC_SUSPEND), ESRCH);
	close(fd);
	/* A member of the tree may. */
	fd = count_tree(EV_INSTRUCTIONS, 0);
	ck_ok(child = fork());
	if (!child)
		_exit(ioctl(fd, PERFCTR_IOC_SUSPEND) != 0);
	expect_exit(child, 0);
	{
		uint64_t first = read_sum(fd, 0);

		body_spin(LOOPS);
		ck_assert_uint_eq(read_sum(fd, 0), first);
	}
}
END_TEST

START_TEST(bad_input)
{
	struct perfctr_read_tree tree;
	struct perfctr_member member = { .cursor = 0 };
	struct perfctr_control control;
	int fd = count_event(EV_INSTRUCTIONS);

	ck_assert_int_eq(try_read_tree(fd, ALL, &tree), -ENOENT);
	ck_assert_int_eq(next_member(fd, &member), -ENOENT);
	control_init(&control);
	control.flags = PERFCTR_CONTROL_KEEP;
	control.tsc_on = 1;
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	control.flags = PERFCTR_CONTROL_NO_IDLE << 1;
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	close(fd);

	fd = count_tree(EV_INSTRUCTIONS, 0);
	ck_assert_int_eq(try_read_tree(fd, 0, &tree), -EINVAL);
	ck_assert_int_eq(try_read_tree(fd, 8, &tree), -EINVAL);
	tree.size = 16;
	tree.which = ALL;
	ck_errno(ioctl(fd, PERFCTR_IOC_READ_TREE, &tree), EINVAL);
	tree.size = PERFCTR_MAX_SIZE + 1;
	ck_errno(ioctl(fd, PERFCTR_IOC_READ_TREE, &tree), E2BIG);
	ck_errno(ioctl(fd, PERFCTR_IOC_READ_TREE, NULL), EFAULT);
	member.size = 16;
	ck_errno(ioctl(fd, PERFCTR_IOC_NEXT_MEMBER, &member), EINVAL);
	ck_errno(ioctl(fd, PERFCTR_IOC_NEXT_MEMBER, 8ul), EFAULT);
	/* Exactly as much as wanted */
	memset(&tree, 0xaa, sizeof(tree));
	tree.size = offsetof(struct perfctr_read_tree, sum) + sizeof(tree.sum[0]);
	tree.which = ALL;
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_TREE, &tree));
	ck_assert_uint_gt(tree.sum[0], 0);
	ck_assert_uint_eq(tree.sum[1], 0xaaaaaaaaaaaaaaaaull);
}
END_TEST

/* Each control makes another tree. A read says which tree it is of. */
START_TEST(trees_have_ids)
{
	uint64_t id[3];
	int fd = count_tree(EV_INSTRUCTIONS, 0);

	id[0] = read_tree(fd, ALL).tree_id;
	ck_assert_uint_ne(id[0], 0);
	child_with_loop(fd, LOOPS);
	ck_assert_uint_eq(read_tree(fd, PERFCTR_TREE_ENDED).tree_id, id[0]);
	close(fd);
	fd = count_tree(EV_INSTRUCTIONS, 0);
	id[1] = read_tree(fd, ALL).tree_id;
	unlink_self(fd);
	close(fd);
	fd = count_tree(EV_INSTRUCTIONS, 0);
	id[2] = read_tree(fd, ALL).tree_id;
	ck_assert(id[0] != id[1] && id[1] != id[2] && id[0] != id[2]);
}
END_TEST

/* --- what the kernel counts --- */

static int perf_software(uint64_t config)
{
	struct perf_event_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = config;
	attr.inherit = 1;
	ck_ok(fd = perf_open(&attr, 0, -1, -1));
	return fd;
}

/*
 * Both read at one moment: reads again if the thread was switched out in between, or if it
 * faulted on a page that its last fork took (faults are perf[2]).
 */
static struct perfctr_read_tree read_both(int fd, const int *perf, uint64_t *counts)
{
	struct perfctr_read_tree tree;
	uint64_t switches, faults;
	int i;

	do {
		switches = perf_read_one(perf[0]);
		faults = perf_read_one(perf[2]);
		tree = read_tree(fd, ALL);
		for (i = 4; i >= 0; i--)
			counts[i] = perf_read_one(perf[i]);
	} while (counts[0] != switches || counts[2] != faults);
	return tree;
}

/* What the kernel itself accounts for the caller and the children it has waited for */
static uint64_t rusage_switches(void)
{
	struct rusage self, children;

	ck_ok(getrusage(RUSAGE_SELF, &self));
	ck_ok(getrusage(RUSAGE_CHILDREN, &children));
	return (uint64_t)(self.ru_nvcsw + self.ru_nivcsw + children.ru_nvcsw + children.ru_nivcsw);
}

START_TEST(soft_counts_as_perf_counts_them)
{
	static const uint64_t events[] = {
		PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
		PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
		PERF_COUNT_SW_TASK_CLOCK,
	};
	struct perfctr_read_tree before, after;
	uint64_t perf_before[5], perf_after[5], switches;
	int fd, perf[5], i;
	volatile char *memory;
	pid_t child;

	fd = count_tree(EV_INSTRUCTIONS, 0);
	for (i = 0; i < 5; i++)
		perf[i] = perf_software(events[i]);
	memory = mmap(NULL, 100 * PAGE_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)memory, MAP_FAILED);
	/* The first time touches all that a read touches. */
	(void)read_both(fd, perf, perf_before);
	switches = rusage_switches();
	before = read_both(fd, perf, perf_before);
	for (i = 0; i < 100; i++)
		memory[i * PAGE_SIZE] = 1;
	for (i = 0; i < 10; i++) {
		ck_ok(child = fork());
		if (!child) {
			int k;

			for (k = 0; k < 20; k++) {
				memory[k * PAGE_SIZE] = 2;
				if (guest.ncpus > 1)
					pin_self((unsigned int)k % 2);
				sleep_us(500);
			}
			body_spin(LOOPS * 100);
			_exit(0);
		}
		expect_exit(child, 0);
	}
	after = read_both(fd, perf, perf_after);
	switches = rusage_switches() - switches;
	/*
	 * As a thread ends perf stops first, then its memory goes, then we stop, and it may
	 * be preempted in between. Only the kernel counts its switches after that.
	 */
	ck_assert_uint_ge(after.soft.switches - before.soft.switches, 10ul * 20);
	ck_assert_uint_ge(after.soft.switches - before.soft.switches,
			  perf_after[0] - perf_before[0]);
	ck_assert_uint_le(after.soft.switches - before.soft.switches, switches);
	ck_assert_uint_le(switches, perf_after[0] - perf_before[0] + 10ul * (is_rt() ? 15 : 5));
	/* perf counts several migrations between two runs as one. */
	ck_assert_uint_ge(after.soft.migrations - before.soft.migrations,
			  perf_after[1] - perf_before[1]);
	if (guest.ncpus > 1)
		ck_assert_uint_gt(perf_after[1] - perf_before[1], 10ul * 10);
	ck_assert_uint_ge(after.soft.minor_faults - before.soft.minor_faults, 100 + 10ul * 20);
	ck_assert_uint_eq(after.soft.minor_faults - before.soft.minor_faults,
			  perf_after[2] - perf_before[2]);
	ck_assert_uint_eq(after.soft.major_faults - before.soft.major_faults,
			  perf_after[3] - perf_before[3]);
	/* perf's clock leaves out what perf does at a switch; ours has it in. */
	ck_assert_uint_gt(after.soft.task_clock - before.soft.task_clock,
			  (perf_after[4] - perf_before[4]) / 2);
	ck_assert_uint_lt(after.soft.task_clock - before.soft.task_clock,
			  (perf_after[4] - perf_before[4]) * 2);
}
END_TEST

START_TEST(soft_counts_of_one_thread)
{
	struct perfctr_read rd[2];
	int fd = count_event(EV_INSTRUCTIONS);
	uint64_t inner, outer;
	unsigned int i;

	/*
	 * What the kernel itself has counted before and after each of the two reads. It may run
	 * a thread of its own at any time: again, until it did not do so between these.
	 */
	do {
		outer = rusage_switches();
		read_all(fd, &rd[0]);
		inner = rusage_switches();
		for (i = 0; i < 10; i++)
			sleep_us(100);
		inner = rusage_switches() - inner;
		read_all(fd, &rd[1]);
		outer = rusage_switches() - outer;
	} while (inner != outer);
	ck_assert_uint_ge(inner, 10);
	ck_assert_uint_eq(rd[1].soft.switches - rd[0].soft.switches, inner);
	ck_assert_uint_eq(rd[1].soft.major_faults, rd[0].soft.major_faults);
	ck_assert_uint_eq(rd[1].soft.task_clock,
			  rd[1].clock * 1000000000ull / guest.info.tsc_hz);
	/* A control sets them to zero: there are no more than have come since. */
	outer = rusage_switches();
	set_control(fd, &(struct perfctr_control){ PERFCTR_CONTROL_INIT, .tsc_on = 1 });
	read_all(fd, &rd[1]);
	outer = rusage_switches() - outer;
	ck_assert_uint_le(rd[1].soft.switches, outer);
	ck_assert_uint_lt(outer, 10);
}
END_TEST

/* --- registers by instruction --- */

#define CYCLE 0
#define INSTRET 2

static int count_raw(uint32_t flags)
{
	struct perfctr_control control;
	uint32_t modes = PERFCTR_CTR_USER;
	int fd = try_open(PERFCTR_OPEN_CREAT), err;

	if (!(guest.info.cpu_features & PERFCTR_FEATURE_FILTER_FIXED))
		modes |= PERFCTR_CTR_KERNEL;
	control_init(&control);
	control.tsc_on = 1;
	control.flags = PERFCTR_CONTROL_RAW | flags;
	control_add_at(&control, CYCLE, EV_CYCLES, modes);
	control_add_at(&control, INSTRET, EV_INSTRUCTIONS, modes);
	err = try_control(fd, &control);
	return err ? err : fd;
}

static bool both_legal(void)
{
	return may_read_register(CYCLE) && may_read_register(INSTRET);
}

static void *legal_in_thread(void *arg)
{
	bool *legal = arg;

	*legal = both_legal();
	return NULL;
}

START_TEST(raw_registers)
{
	bool legal = false;
	uint64_t first;
	unsigned int i;
	pthread_t thread;
	pid_t child;
	int fd;

	ck_assert(!may_read_register(CYCLE) && !may_read_register(INSTRET));
	fd = count_raw(PERFCTR_CONTROL_INHERIT);
	ck_assert_int_ge(fd, 0);
	ck_assert(both_legal());
	/* Legal over switches, suspended or not, and for its threads, not for its children */
	for (i = 0; i < 20; i++) {
		if (i == 10)
			ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
		sleep_us(500);
		if (guest.ncpus > 1)
			pin_self(i % 2);
		first = read_register(INSTRET);
		body_spin(LOOPS);
		ck_assert_uint_ge(read_register(INSTRET) - first, BODY_SPIN(LOOPS));
	}
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	ck_assert_int_eq(pthread_create(&thread, NULL, legal_in_thread, &legal), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(legal);
	ck_ok(child = fork());
	if (!child)
		_exit(both_legal());
	expect_exit(child, 0);
	unlink_self(fd);
	ck_assert(!may_read_register(CYCLE) && !may_read_register(INSTRET));
}
END_TEST

START_TEST(raw_registers_need_privilege)
{
	ck_assert_int_eq(count_raw(0), -EACCES);
	ck_assert(!may_read_register(CYCLE));
}
END_TEST

/* --- who may what --- */

/* Makes the caller the root of a tree, by a device that is open; 0 or -errno. For helpers */
static int make_root(int fd, unsigned int flags)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CREAT };
	struct perfctr_control control;

	if (ioctl(fd, PERFCTR_IOC_OPEN, &o))
		return -errno;
	control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT | flags;
	control_add(&control, EV_INSTRUCTIONS);
	return try_control(fd, &control);
}

static int wait_byte(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1 ? 0 : -EPIPE;
}

/*
 * The thread that made the tree has ended, as of any daemon that forks. A member that has become
 * another user may not stop the others all the same.
 */
START_TEST(holder_only_outlives_the_root)
{
	int *error = shared_alloc(sizeof(*error)), fd = open_device(), ready[2], go[2];
	struct perfctr_read_tree tree;
	pid_t root;

	ck_ok(pipe(ready));
	ck_ok(pipe(go));
	*error = 1;
	ck_ok(root = fork());
	if (!root) {
		if (make_root(fd, PERFCTR_CONTROL_HOLDER_ONLY))
			_exit(1);
		if (!fork()) {
			int own;

			become(STRANGER_UID);
			own = try_open(0);
			if (write(ready[1], "x", 1) == 1 && !wait_byte(go[0]))
				*error = ioctl(own, PERFCTR_IOC_SUSPEND) ? -errno : 0;
			if (write(ready[1], "x", 1) == 1)
				pause();
			_exit(0);
		}
		_exit(wait_byte(ready[0]));
	}
	expect_exit(root, 0);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	ck_assert_int_eq(wait_byte(ready[0]), 0);
	ck_assert_int_eq(*error, -EBUSY);
	tree = read_tree(fd, ALL);
	ck_assert_uint_eq(tree.live, 1);
	ck_assert_uint_eq(tree.flags, 0);
	close(fd);
}
END_TEST

START_TEST(reader_sees_suspension)
{
	int fd = count_tree(EV_INSTRUCTIONS, PERFCTR_CONTROL_SUSPENDED);

	ck_assert_uint_eq(read_tree(fd, ALL).flags, PERFCTR_READ_SUSPENDED);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	ck_assert_uint_eq(read_tree(fd, ALL).flags, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	ck_assert_uint_eq(read_tree(fd, ALL).flags, PERFCTR_READ_SUSPENDED);
	unlink_self(fd);
}
END_TEST

/* CLOEXEC unlinks the root, which ends the tree. */
START_TEST(exec_ends_the_tree)
{
	struct perfctr_read rd = { .size = sizeof(rd) };
	int fd = open_device(), ready[2], err = 0;
	struct perfctr_read_tree tree;
	unsigned int i;
	pid_t root;

	ck_ok(pipe(ready));
	ck_ok(root = fork());
	if (!root) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (make_root(fd, PERFCTR_CONTROL_CLOEXEC))
			_exit(1);
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (write(ready[1], "x", 1) == 1)
				pause();
			_exit(0);
		}
		if (!wait_byte(ready[0]))
			execl(WAITER_PATH, "waiter", "/tmp/waits", NULL);
		_exit(1);
	}
	/* Until the child has made it a handle */
	for (i = 0; i < 1000 && try_read(fd, &rd) == -ENOTTY; i++)
		sleep_us(1000);
	for (i = 0; i < 2000 && !err; i++) {
		sleep_us(1000);
		ck_assert_int_eq(try_read(fd, &rd), 0);
		if (rd.cstatus && !(rd.flags & PERFCTR_READ_ATTACHED))
			err = try_read_tree(fd, ALL, &tree);
	}
	ck_assert_int_eq(err, -ENOENT);
	kill(root, SIGKILL);
	waitpid(root, NULL, 0);
	close(fd);
}
END_TEST

static int count_kernel(void)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT;
	control_add_at(&control, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, PERFCTR_CTR_KERNEL);
	set_control(fd, &control);
	return fd;
}

/* A descendant that lost its privilege does not see what it may not ask for. */
START_TEST(kernel_counts_need_privilege)
{
	int *error = shared_alloc(2 * sizeof(*error)), fd = count_kernel();
	pid_t child;

	ck_ok(child = fork());
	if (!child) {
		int own = try_open(0);

		become(STRANGER_UID);
		error[0] = try_open(0);
		error[1] = try_map(own) ? 0 : -errno;
		_exit(own < 0);
	}
	expect_exit(child, 0);
	ck_assert_int_eq(error[0], -EACCES);
	ck_assert_int_eq(error[1], -EACCES);
	ck_assert_uint_eq(read_tree(fd, ALL).ended, 1);
	unlink_self(fd);
}
END_TEST

int main(void)
{
	guest_begin("inherit", NULL);
	GUEST_RUN(fork_counts, NEED_COUNTERS | AS_USER);
	GUEST_RUN(exec_counts, NEED_COUNTERS | AS_USER);
	GUEST_RUN(parts_of_the_whole, NEED_COUNTERS | AS_USER);
	GUEST_RUN(large_tree_as_perf_counts_it, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(read_while_it_comes_and_goes, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	inherit_members();
	GUEST_RUN(stop_and_go, NEED_COUNTERS | AS_USER);
	GUEST_RUN(stop_of_one_is_exact, NEED_COUNTERS | AS_USER);
	GUEST_RUN(stop_of_a_tree_is_exact, NEED_COUNTERS | AS_USER);
	GUEST_RUN(stop_by_others, NEED_COUNTERS | AS_USER);
	GUEST_RUN(holder_only_outlives_the_root, NEED_COUNTERS);
	GUEST_RUN(reader_sees_suspension, NEED_COUNTERS | AS_USER);
	GUEST_RUN(exec_ends_the_tree, NEED_COUNTERS | AS_USER);
	GUEST_RUN(kernel_counts_need_privilege, NEED_COUNTERS);
	GUEST_RUN(bad_input, NEED_COUNTERS | AS_USER);
	GUEST_RUN(trees_have_ids, NEED_COUNTERS | LOG_SILENT | AS_USER);
	inherit_ends();
	GUEST_RUN(soft_counts_as_perf_counts_them, NEED_COUNTERS | NEED_PERF);
	GUEST_RUN(soft_counts_of_one_thread, NEED_COUNTERS | AS_USER);
	GUEST_RUN(raw_registers, NEED_FIXED);
	GUEST_RUN(raw_registers_need_privilege, NEED_FIXED | AS_USER);
	return guest_end();
}
