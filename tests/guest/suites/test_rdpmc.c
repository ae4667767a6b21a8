// SPDX-License-Identifier: GPL-2.0
/*
 * x86: RDPMC while the counters are perf's. A process that has mapped its page may read
 * registers only while the module has the counters: else it would read what perf counts,
 * which may be anybody's instructions.
 *
 * Root counts the instructions of CPU 0 by perf. A victim of one user computes there, and a
 * spy of another user, which has its page mapped, tries all registers before and after.
 * Neither counts anything itself, so whatever a register holds but zero is another's.
 *
 * Threads of the kernel's that use the mm of a process execute no user instruction, so no
 * RDPMC; but they come and go as those do that may, as io_uring's here. Not tried is KVM,
 * whose guest has a CR4 of its own.
 */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <linux/perfctr.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "kit/rivals.h"
#include "suites/rdpmc.h"

#define WORK		1000000u
#define STACK_SIZE	65536

/* Who of the spy's processes and threads reads */
enum reader { READER_SELF, READER_SIBLING, READER_FORK, READER_SHARES_MEMORY, NR_READERS };

enum command { LOOK, CONTROL, STOP, MAP, UNMAP, RING, END };

/**
 * struct spy - shared between the test and the spy
 * @ask: tells the spy to do @command as @reader; the number of the request
 * @done: the number of the last one that was done
 * @before: a look is half way: the victim may work
 * @after: the victim has worked
 * @readable: registers that could be read in this look, as a bit map
 * @learnt: the most that one of them held, or rose by
 * @error: -errno
 */
struct spy {
	volatile unsigned int ask;
	volatile unsigned int done;
	enum command command;
	enum reader reader;
	volatile bool before;
	volatile bool after;
	volatile unsigned int readable;
	volatile uint64_t learnt;
	volatile int error;
};

static void set_policy(const char *policy)
{
	int err = write_text(MODULE_PARAMS "user_read", policy);

	ck_assert_msg(!err, "user_read=%s: %s", policy, strerror(-err));
}

/* Sleeps: with an instruction clock, spinning for as long would take many instructions. */
static void wait_a_moment(void)
{
	sleep_us(100);
}

/* --- the spy --- */

static int look(void *arg)
{
	uint64_t before[REGISTERS], after[REGISTERS];
	struct spy *spy = arg;
	unsigned int n;

	spy->readable = try_registers(before);
	spy->before = true;
	while (!spy->after)
		wait_a_moment();
	spy->readable |= try_registers(after);
	spy->learnt = 0;
	for (n = 0; n < REGISTERS; n++) {
		if (before[n] > spy->learnt)
			spy->learnt = before[n];
		if (after[n] > spy->learnt)
			spy->learnt = after[n];
	}
	return 0;
}

static void *look_thread(void *arg)
{
	look(arg);
	return NULL;
}

static int look_as(struct spy *spy)
{
	static char stack[STACK_SIZE] __attribute__((aligned(16)));
	pthread_t thread;
	pid_t child;
	int status;

	switch (spy->reader) {
	case READER_SELF:
		return look(spy);
	case READER_SIBLING:
		return pthread_create(&thread, NULL, look_thread, spy) ||
		       pthread_join(thread, NULL) ? -EAGAIN : 0;
	case READER_FORK:
		child = fork();
		if (!child)
			_exit(look(spy));
		break;
	default:
		child = clone(look, stack + sizeof(stack), CLONE_VM | SIGCHLD, spy);
		break;
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -errno;
	return status ? -EFAULT : 0;
}

/* Starts a thread of the kernel's with the caller's mm, which looks for work on CPU 0. */
static int poll_by_kernel(void)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SQPOLL | IORING_SETUP_SQ_AFF,
		.sq_thread_cpu = 0,
		.sq_thread_idle = 100000,	/* ms: without a pause */
	};

	return syscall(SYS_io_uring_setup, 4, &params) < 0 ? -errno : 0;
}

static void play_spy(struct spy *spy, bool map_first)
{
	const struct perfctr_page *page = NULL;
	struct perfctr_control control;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin_self(0);
	become(GUEST_UID);
	fd = try_open(PERFCTR_OPEN_CREAT);
	if (fd < 0)
		spy->error = fd;
	if (map_first)
		page = try_map(fd);
	control_init(&control);
	control_add(&control, EV_DTLB_LOAD_MISSES);
	do {
		while (spy->ask == spy->done)
			wait_a_moment();
		switch (spy->command) {
		case LOOK:
			spy->error = look_as(spy);
			break;
		case CONTROL:
		case STOP:
			control.nractrs = spy->command == CONTROL;
			spy->error = try_control(fd, &control);
			break;
		case MAP:
			page = try_map(fd);
			spy->error = page ? 0 : -errno;
			break;
		case UNMAP:
			spy->error = munmap((void *)(uintptr_t)page, PAGE_SIZE) ? -errno : 0;
			break;
		case RING:
			spy->error = poll_by_kernel();
			break;
		case END:
			break;
		}
		spy->done = spy->ask;
	} while (spy->command != END);
	_exit(0);
}

static pid_t spy_start(struct spy **spy, bool map_first)
{
	pid_t pid;

	*spy = shared_alloc(sizeof(**spy));
	ck_ok(pid = fork());
	if (!pid)
		play_spy(*spy, map_first);
	return pid;
}

static void ask(struct spy *spy, enum command command)
{
	spy->command = command;
	spy->ask++;
	while (spy->done != spy->ask)
		wait_a_moment();
	ck_assert_msg(!spy->error, "command %u: %s", command, strerror(-spy->error));
}

static void spy_end(pid_t pid, struct spy *spy)
{
	ask(spy, END);
	expect_exit(pid, 0);
}

/* --- the victim --- */

static void victim_works(void)
{
	pid_t victim;

	ck_ok(victim = fork());
	if (!victim) {
		pin_self(0);
		become(STRANGER_UID);
		body_spin(WORK);
		_exit(0);
	}
	expect_exit(victim, 0);
}

static void look_at_victim(struct spy *spy, enum reader reader)
{
	spy->reader = reader;
	spy->before = false;
	spy->after = false;
	spy->command = LOOK;
	spy->ask++;
	while (!spy->before)
		wait_a_moment();
	victim_works();
	spy->after = true;
	while (spy->done != spy->ask)
		wait_a_moment();
	ck_assert_msg(!spy->error, "look: %s", strerror(-spy->error));
}

/* --- perf --- */

/* Readers are given some time after the last control. */
static int perf_open_patiently(void)
{
	unsigned int waited;
	int fd;

	for (waited = 0; waited < READERS_GIVE_UP; waited += 1000) {
		fd = perf_open_cpu();
		if (fd >= 0 || errno != EBUSY)
			break;
		sleep_us(1000);
	}
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* perf counts the victim. No reader of the spy's may read registers, so none learns of it. */
static void perf_is_not_read(struct spy *spy, const char *when)
{
	int perf = perf_open_patiently();
	enum reader reader;

	for (reader = READER_SELF; reader < NR_READERS; reader++) {
		uint64_t before = perf_read_one(perf), counted;

		look_at_victim(spy, reader);
		counted = perf_read_one(perf) - before;
		ck_assert_uint_ge(counted, BODY_SPIN(WORK));
		ck_assert_msg(!spy->readable, "%s, reader %u: may read registers %#x, and learnt %llu",
			      when, reader, spy->readable, (unsigned long long)spy->learnt);
	}
	close(perf);
}

static const char *const policies[] = { "guarded", "open", "off" };

START_TEST(before_a_claim)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct spy *spy;
		pid_t pid = spy_start(&spy, true);

		set_policy(policies[i]);
		perf_is_not_read(spy, policies[i]);
		spy_end(pid, spy);
	}
}
END_TEST

/* With @map_first the page shows registers as soon as there is a claim. */
static void one_after_the_other(const char *policy, bool map_first, bool ring)
{
	bool off = !strcmp(policy, "off");
	unsigned int turn, mine;
	struct spy *spy;
	pid_t pid;

	set_policy(policy);
	pid = spy_start(&spy, map_first);
	if (ring)
		ask(spy, RING);
	for (turn = 0; turn < 3; turn++) {
		ask(spy, CONTROL);
		if (!map_first && !turn)
			ask(spy, MAP);
		ck_errno(perf_open_cpu(), EBUSY);
		look_at_victim(spy, READER_SELF);
		mine = off ? 0 : (unsigned int)guest.info.counters;
		ck_assert_msg(spy->readable == mine, "%s: registers %#x", policy, spy->readable);
		/* The spy may see others' misses, but no instructions. */
		ck_assert_uint_lt(spy->learnt, WORK);
		look_at_victim(spy, READER_SIBLING);
		ck_assert_uint_eq(spy->readable, mine);
		look_at_victim(spy, READER_FORK);
		ck_assert_uint_eq(spy->readable, 0);
		ask(spy, STOP);
		perf_is_not_read(spy, policy);
	}
	ask(spy, CONTROL);
	ask(spy, UNMAP);
	look_at_victim(spy, READER_SELF);
	ck_assert_uint_eq(spy->readable, 0);
	spy_end(pid, spy);
}

START_TEST(before_during_and_after)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		one_after_the_other(policies[i], true, false);
}
END_TEST

START_TEST(mapped_during)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		one_after_the_other(policies[i], false, false);
}
END_TEST

START_TEST(beside_io_uring)
{
	one_after_the_other("guarded", true, true);
}
END_TEST

/* Another process has the claim, and the policy changes while there is none. */
START_TEST(another_has_the_claim)
{
	struct spy *spy;
	pid_t pid = spy_start(&spy, true);
	int fd = open_self();
	unsigned int i;

	for (i = 0; i < 6; i++) {
		const char *policy = policies[i % 3];
		struct perfctr_control control;

		control_init(&control);
		control_add(&control, EV_INSTRUCTIONS);
		set_control(fd, &control);
		set_policy(policy);
		sleep_us(READERS_GIVE_UP);
		look_at_victim(spy, READER_SELF);
		ck_assert_uint_eq(spy->readable,
				  !strcmp(policy, "off") ? 0 : (unsigned int)guest.info.counters);
		if (strcmp(policy, "open") != 0)
			ck_assert_uint_eq(spy->learnt, 0);
		control.nractrs = 0;
		set_control(fd, &control);
		set_policy(policies[(i + 1) % 3]);
		perf_is_not_read(spy, policy);
	}
	spy_end(pid, spy);
}
END_TEST

/* The program after an exec has no page, unlike the one before it. */
START_TEST(after_exec)
{
	int perf = perf_open_patiently();
	pid_t child;

	ck_ok(child = fork());
	if (!child) {
		pin_self(0);
		if (!try_map(try_open(PERFCTR_OPEN_CREAT)))
			_exit(125);
		execl("/proc/self/exe", "test_rdpmc", "readable", NULL);
		_exit(126);
	}
	expect_exit(child, 0);
	close(perf);
}
END_TEST

/* The watchdog is a user of perf: it has a CPU-wide event of cycles. */
START_TEST(watchdog)
{
	struct spy *spy;
	pid_t pid;
	enum reader reader;

	ck_assert_int_eq(write_text(WATCHDOG, "1"), 0);
	pid = spy_start(&spy, true);
	for (reader = READER_SELF; reader < NR_READERS; reader++) {
		look_at_victim(spy, reader);
		ck_assert_msg(!spy->readable, "reader %u: may read registers %#x, and learnt %llu",
			      reader, spy->readable, (unsigned long long)spy->learnt);
	}
	write_text(WATCHDOG, "0");
	ask(spy, CONTROL);
	look_at_victim(spy, READER_SELF);
	ck_assert_uint_ne(spy->readable, 0);
	ask(spy, STOP);
	sleep_us(READERS_GIVE_UP);
	ck_assert_int_eq(write_text(WATCHDOG, "1"), 0);
	look_at_victim(spy, READER_SELF);
	ck_assert_uint_eq(spy->readable, 0);
	spy_end(pid, spy);
}
END_TEST

/* --- perf comes and goes while a spy reads all the time --- */

struct storm {
	unsigned int counter;		/* beside perf, the others may be perf's */
	volatile bool stop;
	volatile uint64_t tries;
	volatile uint64_t reads;
	volatile uint64_t learnt;
};

static void play_storm(struct storm *storm, unsigned int cpu)
{
	uint64_t value[REGISTERS];
	unsigned int n, readable;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin_self(cpu);
	become(GUEST_UID);
	if (!try_map(try_open(PERFCTR_OPEN_CREAT)))
		_exit(1);
	while (!storm->stop) {
		readable = try_registers(value);
		storm->tries++;
		storm->reads += readable != 0;
		for (n = 0; n < REGISTERS; n++)
			if (value[n] > storm->learnt && (!is_beside() || n == storm->counter))
				storm->learnt = value[n];
		wait_a_moment();
	}
	_exit(0);
}

static void storm_on(unsigned int cpu)
{
	struct storm *storm = shared_alloc(sizeof(*storm));
	struct perfctr_control control;
	int fd = open_self(), perf;
	uint64_t tries;
	unsigned int i;
	pid_t spy;

	pin_self(0);
	control_init(&control);
	storm->counter = general_map(guest.nprogrammable - 1);
	control_add_at(&control, storm->counter, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	ck_ok(spy = fork());
	if (!spy)
		play_storm(storm, cpu);
	for (i = 0; i < 15; i++) {
		perf = perf_open_patiently();
		victim_works();
		tries = storm->tries;
		while (storm->tries < tries + 2) {
			ck_assert_int_eq(waitpid(spy, NULL, WNOHANG), 0);
			wait_a_moment();
		}
		close(perf);
		control.nractrs = 1;
		set_control(fd, &control);
		victim_works();
		if (i % 3 == 0)
			sleep_us(2000);
		control.nractrs = 0;
		set_control(fd, &control);
	}
	storm->stop = true;
	expect_exit(spy, 0);
	ck_assert_uint_ge(storm->reads, 5);
	ck_assert_uint_gt(storm->tries, storm->reads);
	ck_assert_msg(!storm->learnt, "a register held %llu", (unsigned long long)storm->learnt);
}

START_TEST(perf_comes_and_goes)
{
	storm_on(0);
}
END_TEST

START_TEST(perf_comes_and_goes_beside)
{
	storm_on(1);
}
END_TEST

/* --- what perf leaves behind --- */

#define LEFT	8	/* more events at once than perf has counters for */
#define WAITS	5

/* perf counts on each CPU by as many counters as it can have, and ends. */
static void perf_ran(void)
{
	struct perf_event_attr attr;
	unsigned int cpu, i;
	int fd[LEFT];

	perf_attr_init(&attr, EV_INSTRUCTIONS);
	for (cpu = 0; cpu < guest.ncpus; cpu++) {
		for (i = 0; i < LEFT; i++)
			ck_ok(fd[i] = perf_open(&attr, -1, (int)cpu, -1));
		pin_self(cpu);
		body_spin(WORK);
		for (i = 0; i < LEFT; i++)
			close(fd[i]);
	}
	pin_self(0);
}

/* On CPU 1: wakes the thread at the other end of the pipe, and maps its page before turn 2. */
static void *wake_up(void *arg)
{
	const struct perfctr_page *page = NULL;
	const int *pipe_fd = arg;
	struct perfctr_control control;
	int fd, turn, err;

	pin_self(1);
	fd = try_open(PERFCTR_OPEN_CREAT);
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	err = fd < 0 ? fd : try_control(fd, &control);
	for (turn = 0; !err && turn < WAITS; turn++) {
		sleep_us(20000);
		if (turn == 2) {
			page = try_map(fd);
			err = page ? 0 : -errno;
		}
		sleep_us(20000);
		if (write(pipe_fd[1], "", 1) != 1)
			err = -errno;
	}
	if (page)
		munmap((void *)(uintptr_t)page, PAGE_SIZE);
	close(pipe_fd[1]);
	return (void *)(intptr_t)err;
}

/*
 * As a process comes that may execute RDPMC, perf zeroes what it had left in the counters. A thread
 * of the process counts by now: it was handed the counters by another process on its CPU.
 */
static void counts_on_as_registers_are_cleared(const char *policy)
{
	uint64_t counted[WAITS];
	struct perfctr_control control;
	int pipe_fd[2], fd, turn;
	pthread_t thread;
	void *error;
	pid_t rival;
	char byte;

	set_policy(policy);
	perf_ran();
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	ck_ok(rival = fork());
	if (!rival) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = try_open(PERFCTR_OPEN_CREAT);
		if (fd < 0 || try_control(fd, &control))
			_exit(1);
		for (;;)
			body_spin(WORK);
	}
	fd = open_self();
	set_control(fd, &control);
	ck_ok(pipe(pipe_fd));
	ck_assert_int_eq(pthread_create(&thread, NULL, wake_up, pipe_fd), 0);
	for (turn = 0; turn < WAITS; turn++) {
		uint64_t before = read_sum(fd, 0);

		ck_assert_int_eq(read(pipe_fd[0], &byte, 1), 1);
		counted[turn] = read_sum(fd, 0) - before;
	}
	ck_assert_int_eq(pthread_join(thread, &error), 0);
	ck_assert_int_eq((intptr_t)error, 0);
	/* The first one has symbols to bind. */
	for (turn = 2; turn < WAITS; turn++)
		ck_assert_msg(counted[turn] == counted[1], "%s: turn %d: %lld, expected %lld",
			      policy, turn, (long long)counted[turn], (long long)counted[1]);
	ck_assert_int_eq(waitpid(rival, NULL, WNOHANG), 0);
	ck_ok(kill(rival, SIGKILL));
	ck_ok(waitpid(rival, NULL, 0));
	unlink_self(fd);
	close(fd);
	close(pipe_fd[0]);
}

START_TEST(what_perf_left_is_cleared_before)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		counts_on_as_registers_are_cleared(policies[i]);
}
END_TEST

/* --- what the rest of the kernel does while the counters are ours --- */

#define RDPMC_ATTRIBUTE	"/sys/bus/event_source/devices/cpu/rdpmc"
#define FREEZE_ON_SMI	"/sys/bus/event_source/devices/cpu/freeze_on_smi"
#define THRESHOLD	"/proc/sys/kernel/watchdog_thresh"

/*
 * The watchdog is armed again, perf's attributes change, and an event of perf's is asked for.
 * None of that makes a count wrong.
 */
START_TEST(the_kernel_leaves_registers_alone)
{
	struct perfctr_control control;
	const struct rivals_plan plan = { .n = 4, .cpu = 0, .control = &control, .exact = true };
	struct rivals *rivals;
	unsigned int turn;

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control_add(&control, EV_CYCLES);
	rivals = rivals_start(&plan);
	for (turn = 0; turn < 6; turn++) {
		(void)write_text(WATCHDOG, "1");
		(void)write_text(THRESHOLD, turn % 2 ? "10" : "11");
		ck_errno(perf_open_cpu(), EBUSY);
		ck_assert_int_eq(write_text(RDPMC_ATTRIBUTE, turn % 2 ? "2" : "0"), 0);
		/* Intel's alone have it. */
		(void)write_text(FREEZE_ON_SMI, turn % 2 ? "0" : "1");
		sleep_us(10000);
		ck_assert_int_eq(write_text(RDPMC_ATTRIBUTE, "1"), 0);
		(void)write_text(WATCHDOG, "0");
	}
	rivals_stop(rivals);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "readable")) {
		uint64_t value[REGISTERS];

		guest.info.counters = 0xff;
		return try_registers(value) ? 1 : 0;
	}
	guest_begin("rdpmc", NULL);
	run(before_a_claim, 0);
	run(before_during_and_after, NEED_NO_BESIDE);
	run(mapped_during, NEED_NO_BESIDE);
	run(beside_io_uring, NEED_NO_BESIDE);
	run(another_has_the_claim, NEED_NO_BESIDE);
	run(after_exec, 0);
	run(watchdog, 0);
	run(perf_comes_and_goes, 0);
	run(perf_comes_and_goes_beside, NEED_SMP);
	run(what_perf_left_is_cleared_before, NEED_SMP);
	run(the_kernel_leaves_registers_alone, NEED_NO_BESIDE);
	rdpmc_late();
	return guest_end();
}
