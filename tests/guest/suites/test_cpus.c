// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of CPUs: sessions, and threads that are bound to one CPU.
 *
 * A real-time thread that is alone on its CPU executes what that counts in user mode, so what a
 * session counts there is as exact as what the thread counts itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libperfctr.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/perfside.h"

#define LOOPS 20000ul
#define BOTH (PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)
#define ONLINE PERFCTR_READ_CPU_ONLINE
#define RUNNING PERFCTR_READ_CPU_RUNNING
#define NO_CPU 1000000u

static int try_open_cpus(void)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	int fd = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC), err;

	if (fd < 0 || !ioctl(fd, PERFCTR_IOC_OPEN, &o))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int open_cpus(void)
{
	int fd = try_open_cpus();

	ck_assert_msg(fd >= 0, "OPEN of CPUs: %s", strerror(-fd));
	return fd;
}

/* Instructions in user mode on that CPU, and the clock */
static void cpu_control(struct perfctr_control *control, unsigned int cpu, unsigned int source)
{
	control_init(control);
	control->flags = PERFCTR_CONTROL_CPU;
	control->cpu = cpu;
	control->tsc_on = 1;
	control->source = source;
	control_add(control, EV_INSTRUCTIONS);
}

static void count_cpu(int fd, unsigned int cpu, unsigned int source)
{
	struct perfctr_control control;
	int err;

	cpu_control(&control, cpu, source);
	err = try_control(fd, &control);
	ck_assert_msg(!err, "CONTROL of CPU %u by source %u: %s (reason %u)", cpu, source,
		      strerror(-err), control.reason);
}

static int try_count_cpu(int fd, unsigned int cpu, unsigned int source, uint32_t *reason)
{
	struct perfctr_control control;
	int err;

	cpu_control(&control, cpu, source);
	err = try_control(fd, &control);
	*reason = control.reason;
	return err;
}

static int try_count_self(int fd, unsigned int source, uint32_t *reason)
{
	struct perfctr_control control;
	int err;

	control_init(&control);
	control.source = source;
	control_add(&control, EV_INSTRUCTIONS);
	err = try_control(fd, &control);
	*reason = control.reason;
	return err;
}

static void go(int fd)
{
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
}

static void stop(int fd)
{
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
}

static int try_read_cpu(int fd, unsigned int cpu, struct perfctr_read_cpu *rd)
{
	memset(rd, 0xff, sizeof(*rd));
	rd->size = sizeof(*rd);
	rd->cpu = cpu;
	return ioctl(fd, PERFCTR_IOC_READ_CPU, rd) ? -errno : 0;
}

static void read_cpu(int fd, unsigned int cpu, struct perfctr_read_cpu *rd)
{
	int err = try_read_cpu(fd, cpu, rd);

	ck_assert_msg(!err, "READ_CPU of %u: %s (error %u)", cpu, strerror(-err), rd->error);
}

static bool has_source(unsigned int source)
{
	return guest.info.cpu_features & (source == PERFCTR_SOURCE_NATIVE ?
					  PERFCTR_FEATURE_NATIVE : PERFCTR_FEATURE_SHARED);
}

/* Calls test(PERFCTR_SOURCE_*) for each source that the machine has. */
static void by_each_source(void (*test)(unsigned int source))
{
	if (has_source(PERFCTR_SOURCE_NATIVE))
		test(PERFCTR_SOURCE_NATIVE);
	if (has_source(PERFCTR_SOURCE_SHARED))
		test(PERFCTR_SOURCE_SHARED);
}

/* Alone on that CPU, as far as user mode goes */
static void be_alone_on(unsigned int cpu)
{
	pin_self(cpu);
	make_realtime();
}

/* Counts a body on this CPU by its session, and asserts that it counted just that. */
static void expect_exact(int fd, unsigned int cpu)
{
	struct perfctr_read space[2] = {};
	struct perfctr_read_cpu *rd[2] = { (void *)&space[0], (void *)&space[1] };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		rd[i]->size = sizeof(*rd[i]);
		rd[i]->cpu = cpu;
	}
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ_CPU, space, body_spin, LOOPS), 0);
		ck_assert_uint_eq(rd[1]->sum[0] - rd[0]->sum[0], EXACT_KERNEL + BODY_SPIN(LOOPS));
		ck_assert_uint_gt(rd[1]->clock, rd[0]->clock);
	}
}

static void exact_by(unsigned int source)
{
	struct perfctr_read_cpu rd, again;
	unsigned int cpu = guest.ncpus - 1;
	int fd = open_cpus();

	be_alone_on(cpu);
	count_cpu(fd, cpu, source);
	read_cpu(fd, cpu, &rd);
	ck_assert_uint_eq(rd.sum[0], 0);
	ck_assert_uint_eq(rd.clock, 0);
	ck_assert_uint_eq(rd.flags, ONLINE);
	ck_assert_uint_eq(rd.cstatus, PERFCTR_CSTATUS_CLOCK | 1);
	ck_assert_uint_eq(rd.nrctrs, 1);
	ck_assert_uint_eq(rd.sum[1], 0);
	go(fd);
	expect_exact(fd, cpu);
	read_cpu(fd, cpu, &rd);
	ck_assert_uint_eq(rd.flags, ONLINE | RUNNING);
	stop(fd);
	read_cpu(fd, cpu, &rd);
	ck_assert_uint_eq(rd.flags, ONLINE);
	body_spin(LOOPS);
	read_cpu(fd, cpu, &again);
	ck_assert_uint_eq(rd.sum[0], again.sum[0]);
	ck_assert_uint_eq(rd.clock, again.clock);
	/* It goes on from there, and a new control begins anew. */
	go(fd);
	read_cpu(fd, cpu, &again);
	ck_assert_uint_ge(again.sum[0], rd.sum[0]);
	ck_assert_uint_lt(again.sum[0], rd.sum[0] + BODY_SPIN(LOOPS));
	expect_exact(fd, cpu);
	stop(fd);
	count_cpu(fd, cpu, source);
	read_cpu(fd, cpu, &rd);
	ck_assert_uint_eq(rd.sum[0], 0);
	close(fd);
}

START_TEST(exact_natively)
{
	exact_by(PERFCTR_SOURCE_NATIVE);
}
END_TEST

START_TEST(exact_through_perf)
{
	exact_by(PERFCTR_SOURCE_SHARED);
}
END_TEST

/* Of all CPUs at a time, each by a control of its own, with what threads of each do */
static void all_cpus_by(unsigned int source)
{
	struct perfctr_read_cpu before[64], after[64];
	unsigned int cpu, n = guest.ncpus < 64 ? guest.ncpus : 64;
	struct perfctr_control control;
	int fd = open_cpus();

	for (cpu = 0; cpu < n; cpu++)
		count_cpu(fd, cpu, source);
	/* The last one counts the clock alone, in place of that. */
	control_init(&control);
	control.flags = PERFCTR_CONTROL_CPU;
	control.cpu = n - 1;
	control.tsc_on = 1;
	if (n > 1)
		set_control(fd, &control);
	go(fd);
	for (cpu = 0; cpu < n; cpu++) {
		pin_self(cpu);
		read_cpu(fd, cpu, &before[cpu]);
		body_spin(LOOPS);
		read_cpu(fd, cpu, &after[cpu]);
		ck_assert_uint_gt(after[cpu].clock, before[cpu].clock);
		if (cpu && cpu == n - 1)
			ck_assert_uint_eq(after[cpu].nrctrs, 0);
		else
			ck_assert_uint_ge(after[cpu].sum[0] - before[cpu].sum[0],
					  BODY_SPIN(LOOPS));
	}
	close(fd);
}

START_TEST(all_cpus)
{
	by_each_source(all_cpus_by);
	all_cpus_by(PERFCTR_SOURCE_ANY);
}
END_TEST

/* Sums of another CPU, while a thread there works: perf's event there has counted the same. */
START_TEST(agrees_with_perf)
{
	struct perf_event_attr attr;
	struct perfctr_read_cpu rd[2];
	uint64_t theirs[2];
	int fd = open_cpus(), event, i;
	cpu_set_t set;
	pid_t pid;

	/* Nobody else runs there, but what the test sends. */
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	ck_ok(sched_setaffinity(0, sizeof(set), &set));
	perf_attr_init(&attr, EV_INSTRUCTIONS);
	attr.disabled = 0;
	ck_ok(event = perf_open(&attr, -1, 1, -1));
	count_cpu(fd, 1, PERFCTR_SOURCE_SHARED);
	go(fd);
	for (i = 0; i < 2; i++) {
		/* While nothing runs there in user mode. */
		sleep_us(20000);
		read_cpu(fd, 1, &rd[i]);
		theirs[i] = perf_read_one(event);
		if (i)
			break;
		pid = fork();
		if (!pid) {
			pin_self(1);
			body_spin(10 * LOOPS);
			_exit(0);
		}
		expect_exit(pid, 0);
	}
	ck_assert_uint_ge(rd[1].sum[0] - rd[0].sum[0], BODY_SPIN(10 * LOOPS));
	ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], theirs[1] - theirs[0]);
	close(event);
	close(fd);
}
END_TEST

static void expect_counts(int fd, unsigned int cpu)
{
	struct perfctr_read_cpu before, after;

	read_cpu(fd, cpu, &before);
	body_spin(LOOPS);
	read_cpu(fd, cpu, &after);
	ck_assert_uint_eq(after.flags, ONLINE | RUNNING);
	ck_assert_uint_ge(after.sum[0] - before.sum[0], BODY_SPIN(LOOPS));
}

/* A CPU goes and comes: its sums stand still meanwhile. One may be controlled while it is away. */
static void hotplug_by(unsigned int source)
{
	struct perfctr_read_cpu before, off, again;
	int fd = open_cpus();

	count_cpu(fd, 0, source);
	count_cpu(fd, 1, source);
	go(fd);
	pin_self(1);
	expect_counts(fd, 1);
	read_cpu(fd, 1, &before);
	pin_self(0);
	ck_assert_int_eq(cpu_online(1, false), 0);
	read_cpu(fd, 1, &off);
	ck_assert_uint_eq(off.flags, RUNNING);
	ck_assert_uint_ge(off.sum[0], before.sum[0]);
	expect_counts(fd, 0);
	read_cpu(fd, 1, &again);
	ck_assert_uint_eq(off.sum[0], again.sum[0]);
	ck_assert_uint_eq(off.clock, again.clock);
	ck_assert_int_eq(cpu_online(1, true), 0);
	pin_self(1);
	expect_counts(fd, 1);
	read_cpu(fd, 1, &again);
	ck_assert_uint_ge(again.sum[0], off.sum[0] + BODY_SPIN(LOOPS));

	pin_self(0);
	stop(fd);
	ck_assert_int_eq(cpu_online(1, false), 0);
	count_cpu(fd, 1, source);
	go(fd);
	read_cpu(fd, 1, &off);
	ck_assert_uint_eq(off.flags, RUNNING);
	ck_assert_uint_eq(off.sum[0], 0);
	ck_assert_int_eq(cpu_online(1, true), 0);
	pin_self(1);
	expect_counts(fd, 1);
	/* Closed while it is away */
	pin_self(0);
	ck_assert_int_eq(cpu_online(1, false), 0);
	close(fd);
	ck_assert_int_eq(cpu_online(1, true), 0);
}

START_TEST(hotplug)
{
	/* No kernel with nohz_full= takes off a CPU of it. */
	if (cpu_online(1, false) == -EBUSY)
		return;
	ck_assert_int_eq(cpu_online(1, true), 0);
	by_each_source(hotplug_by);
}
END_TEST

/* Beside threads that count natively CPUs do not, and the other way round; each is told why. */
START_TEST(native_excludes)
{
	int fd = open_cpus(), self = open_self(), other = open_cpus();
	struct perfctr_read_cpu rd;
	uint32_t reason;

	ck_assert_int_eq(try_count_self(self, PERFCTR_SOURCE_NATIVE, &reason), 0);
	ck_assert_int_eq(try_count_cpu(fd, 0, PERFCTR_SOURCE_NATIVE, &reason), -EBUSY);
	ck_assert_uint_eq(reason, PERFCTR_REASON_THREADS);
	read_cpu(fd, 0, &rd);
	ck_assert_uint_eq(rd.cstatus, 0);
	if (has_one_source()) {
		ck_assert_int_eq(try_count_cpu(fd, 0, PERFCTR_SOURCE_ANY, &reason), -EBUSY);
		ck_assert_uint_eq(reason, PERFCTR_REASON_THREADS);
	}
	unlink_self(self);
	close(self);

	be_alone_on(0);
	count_cpu(fd, 0, PERFCTR_SOURCE_NATIVE);
	go(fd);
	self = open_self();
	ck_assert_int_eq(try_count_self(self, PERFCTR_SOURCE_NATIVE, &reason), -EBUSY);
	ck_assert_uint_eq(reason, PERFCTR_REASON_CPUS);
	if (has_one_source()) {
		/* Without a driver of perf's there is nothing that could be busy. */
		bool shared = guest.info.cpu_features & PERFCTR_FEATURE_SHARED;

		ck_assert_int_eq(try_count_self(self, PERFCTR_SOURCE_SHARED, &reason),
				 shared ? -EBUSY : -EOPNOTSUPP);
		if (shared)
			ck_assert_uint_eq(reason, PERFCTR_REASON_CPUS);
		ck_assert_int_eq(try_count_self(self, PERFCTR_SOURCE_ANY, &reason), -EBUSY);
		ck_assert_uint_eq(reason, PERFCTR_REASON_CPUS);
	}
	/* A CPU is one session's. */
	ck_assert_int_eq(try_count_cpu(other, 0, PERFCTR_SOURCE_NATIVE, &reason), -EBUSY);
	ck_assert_uint_eq(reason, PERFCTR_REASON_CPUS);
	if (guest.ncpus > 1) {
		count_cpu(other, 1, PERFCTR_SOURCE_NATIVE);
		go(other);
	}
	expect_exact(fd, 0);
	close(other);
	expect_exact(fd, 0);
	close(fd);
	ck_assert_int_eq(try_count_self(self, PERFCTR_SOURCE_NATIVE, &reason), 0);
	close(self);
}
END_TEST

/* Threads with the clock alone, with a page or not, come and go, and disturb no register. */
START_TEST(clock_beside_native)
{
	struct perfctr_control control;
	int fd = open_cpus(), self = open_self();

	control_init(&control);
	control.tsc_on = 1;
	be_alone_on(0);
	count_cpu(fd, 0, PERFCTR_SOURCE_NATIVE);
	go(fd);
	set_control(self, &control);
	expect_exact(fd, 0);
	map_page(self);
	expect_exact(fd, 0);
	sleep_us(2000);
	expect_exact(fd, 0);
	unlink_self(self);
	expect_exact(fd, 0);
	close(self);
	close(fd);
}
END_TEST

/* Who could read registers cannot while these count for CPUs, and can again afterwards. */
START_TEST(nobody_reads_registers)
{
	int self = count_event(EV_INSTRUCTIONS), fd = open_cpus();
	const struct perfctr_page *page = map_page(self);
	struct perfctr_control control;
	uint32_t reason;

	while (page_asks(page, 0))
		sched_yield();
	control_init(&control);
	set_control(self, &control);
	be_alone_on(0);
	count_cpu(fd, 0, PERFCTR_SOURCE_NATIVE);
	go(fd);
	ck_assert_int_eq(may_read_register(0), 0);
	expect_exact(fd, 0);
	close(fd);
	ck_assert_int_eq(try_count_self(self, PERFCTR_SOURCE_NATIVE, &reason), 0);
	sched_yield();
	ck_assert(!page_asks(page, 0));
	unmap_page(page);
	close(self);
}
END_TEST

/* By perf threads and CPUs count at the same time, by the same events. */
START_TEST(shared_beside_threads)
{
	struct perfctr_read space[2] = {};
	int fd = open_cpus(), self = open_self();
	uint32_t reason;

	be_alone_on(0);
	count_cpu(fd, 0, PERFCTR_SOURCE_SHARED);
	go(fd);
	ck_assert_int_eq(try_count_self(self, PERFCTR_SOURCE_SHARED, &reason), 0);
	expect_exact(fd, 0);
	space[0].size = sizeof(*space);
	space[1].size = sizeof(*space);
	ck_assert_int_eq(exact_kernel(self, PERFCTR_IOC_READ, space, body_spin, LOOPS), 0);
	ck_assert_uint_eq(space[1].sum[0] - space[0].sum[0], EXACT_KERNEL + BODY_SPIN(LOOPS));
	expect_exact(fd, 0);
	unlink_self(self);
	expect_exact(fd, 0);
	close(self);
	close(fd);
}
END_TEST

/* Root takes the counters: the error sticks until the next control. */
static void evict_by(unsigned int source)
{
	struct perfctr_read_cpu rd, again;
	int fd = open_cpus();

	be_alone_on(0);
	count_cpu(fd, 0, source);
	go(fd);
	expect_exact(fd, 0);
	ck_assert_int_eq(write_text(MODULE_PARAMS "evict", "all"), 0);
	ck_assert_int_eq(try_read_cpu(fd, 0, &rd), -EIO);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_LOST);
	ck_assert_uint_gt(rd.sum[0], BODY_SPIN(LOOPS));
	body_spin(LOOPS);
	ck_assert_int_eq(try_read_cpu(fd, 0, &again), -EIO);
	ck_assert_uint_eq(rd.sum[0], again.sum[0]);
	stop(fd);
	count_cpu(fd, 0, source);
	go(fd);
	expect_exact(fd, 0);
	close(fd);
}

START_TEST(evicted)
{
	by_each_source(evict_by);
}
END_TEST

/**
 * struct spy - a thread that reads a register of its CPU, again and again
 * @error: it could not count
 * @counter: the register
 * @begun: it has been read
 * @session: a session counts by it
 * @seen: how often it was read since then
 * @turns: how often it was tried
 */
struct spy {
	volatile int error;
	volatile unsigned int counter;
	volatile bool begun, session;
	volatile unsigned int seen, turns;
};

static int try_count_and_map(const struct perfctr_page **page)
{
	struct perfctr_control control;
	int fd = try_open(PERFCTR_OPEN_CREAT), err;

	if (fd < 0)
		return fd;
	control_init(&control);
	control.source = PERFCTR_SOURCE_NATIVE;
	control_add(&control, EV_INSTRUCTIONS);
	err = try_control(fd, &control);
	if (err)
		return err;
	*page = try_map(fd);
	return *page ? 0 : -errno;
}

/* It never leaves its CPU. */
static void play_spy(struct spy *spy, unsigned int cpu)
{
	const struct perfctr_page *page = NULL;
	uint64_t value;

	be_alone_on(cpu);
	become(GUEST_UID);
	spy->error = try_count_and_map(&page);
	if (spy->error)
		_exit(EXIT_FAILURE);
	spy->counter = page_hw_counter(page, 0);
	for (;;) {
		bool session = spy->session;

		if (try_read_register(spy->counter, &value)) {
			spy->begun = true;
			spy->seen += session;
		}
		spy->turns++;
	}
}

static void wait_for_turns(const struct spy *spy, pid_t pid, unsigned int n)
{
	unsigned int turns = spy->turns;

	while (spy->turns - turns < n || !spy->begun) {
		ck_assert_msg(!waitpid(pid, NULL, WNOHANG), "the spy ended: %s",
			      strerror(-spy->error));
		sleep_us(1000);
	}
}

/* A thread that was evicted, and did not leave its CPU since, reads nothing of what that counts. */
START_TEST(an_evicted_thread_reads_no_session)
{
	struct spy *spy = shared_alloc(sizeof(*spy));
	unsigned int cpu = guest.ncpus - 1;
	struct perfctr_read_cpu rd;
	int fd = open_cpus();
	pid_t pid;

	pin_self(0);
	ck_ok(pid = fork());
	if (!pid)
		play_spy(spy, cpu);
	wait_for_turns(spy, pid, 2);
	ck_assert_int_eq(write_text(MODULE_PARAMS "evict", "1000"), 0);
	count_cpu(fd, cpu, PERFCTR_SOURCE_NATIVE);
	go(fd);
	spy->session = true;
	wait_for_turns(spy, pid, 5);
	ck_assert_uint_eq(spy->seen, 0);
	read_cpu(fd, cpu, &rd);
	ck_assert_uint_gt(rd.sum[0], 0);
	kill(pid, SIGKILL);
	close(fd);
}
END_TEST

static void expect_shown(const struct perfctr_page *page)
{
	unsigned int i;

	for (i = 0; i < 100 && page_asks(page, 0); i++)
		sleep_us(10000);
	ck_assert(!page_asks(page, 0));
}

/* A session that was evicted keeps nobody from reading registers, though its file is open. */
START_TEST(an_evicted_session_withholds_nothing)
{
	int fd = open_cpus(), other = open_cpus(), self = open_self();
	const struct perfctr_page *page = map_page(self);
	unsigned int cpu = guest.ncpus - 1;
	struct perfctr_control control;
	uint32_t reason;

	be_alone_on(0);
	count_cpu(fd, 0, PERFCTR_SOURCE_NATIVE);
	count_cpu(fd, cpu, PERFCTR_SOURCE_NATIVE);
	go(fd);
	ck_assert_int_eq(write_text(MODULE_PARAMS "evict", "all"), 0);
	ck_assert_int_eq(try_count_self(self, PERFCTR_SOURCE_NATIVE, &reason), 0);
	expect_shown(page);
	/* Another one withholds registers, whoever closes his file meanwhile. */
	control_init(&control);
	set_control(self, &control);
	count_cpu(other, cpu, PERFCTR_SOURCE_NATIVE);
	count_cpu(other, 0, PERFCTR_SOURCE_NATIVE);
	go(other);
	close(fd);
	ck_assert_int_eq(may_read_register(0), 0);
	expect_exact(other, 0);
	close(other);
	ck_assert_int_eq(try_count_self(self, PERFCTR_SOURCE_NATIVE, &reason), 0);
	expect_shown(page);
	unmap_page(page);
	close(self);
}
END_TEST

/* Without the idle task a CPU that does nothing counts nothing; what runs there counts as ever. */
static void no_idle_by(unsigned int source)
{
	unsigned int cpu = guest.ncpus - 1;
	struct perfctr_read_cpu before[2], after[2];
	struct perfctr_control control;
	int fd[2] = { open_cpus(), open_cpus() };
	uint64_t all, busy;

	pin_self(0);
	/* The other one has the clock alone, since the registers may be the first one's. */
	cpu_control(&control, cpu, source);
	control.flags |= PERFCTR_CONTROL_NO_IDLE;
	set_control(fd[0], &control);
	control_init(&control);
	control.flags = PERFCTR_CONTROL_CPU;
	control.cpu = cpu;
	control.tsc_on = 1;
	set_control(fd[1], &control);
	go(fd[0]);
	go(fd[1]);
	read_cpu(fd[0], cpu, &before[0]);
	read_cpu(fd[1], cpu, &before[1]);
	sleep_us(200000);
	read_cpu(fd[1], cpu, &after[1]);
	read_cpu(fd[0], cpu, &after[0]);
	busy = after[0].clock - before[0].clock;
	all = after[1].clock - before[1].clock;
	ck_assert_uint_gt(all, 0);
	ck_assert_msg(busy < all / 2, "%llu of %llu ticks", (unsigned long long)busy,
		      (unsigned long long)all);
	be_alone_on(cpu);
	expect_exact(fd[0], cpu);
	sleep_us(1000);
	expect_exact(fd[0], cpu);
	read_cpu(fd[0], cpu, &before[0]);
	ck_assert_uint_gt(before[0].clock, after[0].clock);
	stop(fd[0]);
	go(fd[0]);
	expect_exact(fd[0], cpu);
	close(fd[0]);
	close(fd[1]);
}

START_TEST(without_idle)
{
	by_each_source(no_idle_by);
}
END_TEST

/* The module stays while there is a session. */
START_TEST(keeps_the_module)
{
	int fd = open_cpus();

	pin_self(0);
	count_cpu(fd, 0, PERFCTR_SOURCE_ANY);
	go(fd);
	ck_assert_int_eq(module_unload(), -EAGAIN);
	expect_counts(fd, 0);
	close(fd);
}
END_TEST

static void expect_refused(int fd, struct perfctr_control *control, int err)
{
	ck_assert_int_eq(try_control(fd, control), -err);
}

#define BAD(change) do {						\
	cpu_control(&control, 0, PERFCTR_SOURCE_ANY);			\
	change;								\
	expect_refused(fd, &control, EINVAL);				\
} while (0)

START_TEST(bad_controls)
{
	struct perfctr_control control;
	struct perfctr_read_cpu rd;
	int fd = open_cpus();

	BAD(control.flags = 0);
	BAD(control.flags = PERFCTR_CONTROL_NO_IDLE);
	BAD(control.flags |= PERFCTR_CONTROL_INHERIT);
	BAD(control.flags |= PERFCTR_CONTROL_ON_EXEC);
	BAD(control.flags |= PERFCTR_CONTROL_RAW);
	BAD(control.flags |= 0x80000000u);
	BAD(control.cpu = NO_CPU);
	BAD(control.cpu = UINT32_MAX);
	BAD(control.reserved0 = 1);
	BAD(control.timer_ns = PERFCTR_TIMER_MIN);
	BAD(control.flags |= PERFCTR_CONTROL_RECORD);
	BAD(control.reserved[4] = 1);
	BAD(control.tsc_on = 2);
	BAD(control.preserve = 1);
	BAD(control.refresh = 1);
	BAD(control.si_signo = SIGUSR1);
	BAD(control.source = PERFCTR_SOURCE_ANY + 1);
	BAD(control.nractrs = 0; control_add_ictr(&control, EV_INSTRUCTIONS, -1000);
	    control.si_signo = SIGUSR1);
	BAD(control.ctr[0].ireset = -1);
	BAD(control.ctr[0].reserved[0] = 1);
	BAD(control.ctr[0].config1 = 1);
	BAD(control.ctr[0].flags = 0);
	ck_errno(ioctl(fd, PERFCTR_IOC_CONTROL, NULL), EFAULT);

	ck_assert_int_eq(try_read_cpu(fd, NO_CPU, &rd), -EINVAL);
	ck_assert_int_eq(try_read_cpu(fd, UINT32_MAX, &rd), -EINVAL);
	ck_errno(ioctl(fd, PERFCTR_IOC_READ_CPU, NULL), EFAULT);
	rd.size = 8;
	ck_errno(ioctl(fd, PERFCTR_IOC_READ_CPU, &rd), EINVAL);
	rd.size = PERFCTR_MAX_SIZE + 8;
	ck_errno(ioctl(fd, PERFCTR_IOC_READ_CPU, &rd), E2BIG);
	/* Without counters, and with an array that has no room for them */
	read_cpu(fd, 0, &rd);
	ck_assert_uint_eq(rd.cstatus, 0);

	count_cpu(fd, 0, PERFCTR_SOURCE_ANY);
	go(fd);
	cpu_control(&control, 0, PERFCTR_SOURCE_ANY);
	expect_refused(fd, &control, EBUSY);
	ck_errno(ioctl(fd, PERFCTR_IOC_RESUME), EBUSY);
	rd.size = PERFCTR_READ_CPU_SIZE_VER0;
	rd.cpu = 0;
	rd.sum[0] = 77;
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CPU, &rd));
	ck_assert_uint_eq(rd.sum[0], 77);
	ck_assert_uint_eq(rd.nrctrs, 1);
	stop(fd);
	stop(fd);
	/* One with nothing ends the CPU's part. */
	control_init(&control);
	control.flags = PERFCTR_CONTROL_CPU;
	set_control(fd, &control);
	read_cpu(fd, 0, &rd);
	ck_assert_uint_eq(rd.cstatus, 0);
	close(fd);
}
END_TEST

/* A session has four calls, and no state has the fifth. */
START_TEST(other_calls)
{
	static const unsigned long calls[] = {
		PERFCTR_IOC_OPEN, PERFCTR_IOC_READ, PERFCTR_IOC_READ_CONTROL, PERFCTR_IOC_UNLINK,
		PERFCTR_IOC_IRESUME, PERFCTR_IOC_READ_TREE, PERFCTR_IOC_NEXT_MEMBER,
		PERFCTR_IOC_REFRESH, PERFCTR_IOC_ADD_MEMBER,
	};
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	int fd = open_cpus(), self = open_self(), device = open_device();
	static struct perfctr_read_cpu rd;
	struct perfctr_kernel_info info = { .size = sizeof(info) };
	char text[256], path[64];
	uint64_t words[4];
	unsigned int i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		rd.size = sizeof(rd);
		ck_errno(ioctl(fd, calls[i], &rd), ENOTTY);
	}
	ck_ok(ioctl(fd, PERFCTR_IOC_INFO, &info));
	ck_errno(read(fd, words, sizeof(words)), EINVAL);
	ck_assert_ptr_null(try_map(fd));
	ck_assert_int_eq(errno, ENODEV);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	ck_assert_int_gt(read_text(path, text, sizeof(text)), 0);
	ck_assert_ptr_nonnull(strstr(text, "cpus:"));
	rd.size = sizeof(rd);
	ck_errno(ioctl(self, PERFCTR_IOC_READ_CPU, &rd), ENOTTY);
	ck_errno(ioctl(device, PERFCTR_IOC_READ_CPU, &rd), ENOTTY);
	ck_errno(ioctl(self, PERFCTR_IOC_OPEN, &o), ENOTTY);
	o.flags |= PERFCTR_OPEN_CREAT;
	ck_errno(ioctl(device, PERFCTR_IOC_OPEN, &o), EINVAL);
	o.flags = PERFCTR_OPEN_CPUS;
	o.tid = getpid();
	ck_errno(ioctl(device, PERFCTR_IOC_OPEN, &o), EINVAL);
	o.tid = 0;
	o.pidfd = 1;
	ck_errno(ioctl(device, PERFCTR_IOC_OPEN, &o), EINVAL);
	close(device);
	close(self);
	close(fd);
}
END_TEST

/* Users may not, nor by a handle of root's. */
START_TEST(users_may_not)
{
	struct perfctr_read_cpu rd;
	uint32_t reason;
	int fd = open_cpus();

	count_cpu(fd, 0, PERFCTR_SOURCE_ANY);
	become(GUEST_UID);
	ck_assert_int_eq(try_open_cpus(), -EACCES);
	ck_assert_int_eq(try_count_cpu(fd, 0, PERFCTR_SOURCE_ANY, &reason), -EACCES);
	go(fd);
	read_cpu(fd, 0, &rd);
	close(fd);
}
END_TEST

/* Where everybody can read the registers they are not a CPU's, unless that is what is wanted. */
START_TEST(native_needs_open)
{
	int fd = open_cpus();
	struct perfctr_read_cpu rd;
	uint32_t reason;

	be_alone_on(0);
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "guarded"), 0);
	ck_assert_int_eq(try_count_cpu(fd, 0, PERFCTR_SOURCE_NATIVE, &reason), -EACCES);
	ck_assert_uint_eq(reason, PERFCTR_REASON_OPEN);
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "open"), 0);
	count_cpu(fd, 0, PERFCTR_SOURCE_NATIVE);
	go(fd);
	expect_exact(fd, 0);
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "guarded"), 0);
	ck_assert_int_eq(try_read_cpu(fd, 0, &rd), -EIO);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_LOST);
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "open"), 0);
	stop(fd);
	count_cpu(fd, 0, PERFCTR_SOURCE_NATIVE);
	go(fd);
	expect_exact(fd, 0);
	close(fd);
}
END_TEST

/*
 * Threads that are bound
 */

static void bound_control(struct perfctr_control *control, unsigned int cpu, unsigned int source)
{
	cpu_control(control, cpu, source);
}

static void expect_thread_counts(int fd, uint64_t expected)
{
	struct perfctr_read space[2] = { { .size = sizeof(*space) }, { .size = sizeof(*space) } };

	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, space, body_spin, LOOPS), 0);
	ck_assert_uint_eq(space[1].sum[0] - space[0].sum[0], expected);
	if (expected)
		ck_assert_uint_gt(space[1].clock, space[0].clock);
	else
		ck_assert_uint_eq(space[1].clock, space[0].clock);
}

#define BODY (EXACT_KERNEL + BODY_SPIN(LOOPS))

static void bound_by(unsigned int source)
{
	struct perfctr_control control, back = { PERFCTR_CONTROL_INIT };
	const struct perfctr_page *page;
	struct perfctr_read rd, again;
	int fd = open_self(), i;
	bool may;

	pin_self(0);
	bound_control(&control, 1, source);
	set_control(fd, &control);
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &back));
	ck_assert_uint_eq(back.flags, PERFCTR_CONTROL_CPU);
	ck_assert_uint_eq(back.cpu, 1);
	expect_thread_counts(fd, 0);
	pin_self(1);
	expect_thread_counts(fd, BODY);
	page = map_page(fd);
	expect_thread_counts(fd, BODY);
	may = !page_asks(page, 0);
	for (i = 0; i < 20; i++) {
		pin_self(0);
		ck_assert(page_asks(page, 0));
		expect_thread_counts(fd, 0);
		read_all(fd, &rd);
		ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED);
		sleep_us(100);
		read_all(fd, &again);
		ck_assert_uint_eq(rd.sum[0], again.sum[0]);
		pin_self(1);
		expect_thread_counts(fd, BODY);
		ck_assert(!may || !page_asks(page, 0));
	}
	/* What the kernel counts is the thread's, wherever it runs. */
	ck_assert_uint_gt(again.soft.switches, 0);
	/* Suspended it stands still there as well. */
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	expect_thread_counts(fd, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	expect_thread_counts(fd, BODY);
	unmap_page(page);
	expect_thread_counts(fd, BODY);
	pin_self(0);
	expect_thread_counts(fd, 0);
	/* Unbound it counts everywhere. */
	control.flags = 0;
	control.cpu = 0;
	set_control(fd, &control);
	expect_thread_counts(fd, BODY);
	unlink_self(fd);
	close(fd);
}

START_TEST(bound)
{
	by_each_source(bound_by);
}
END_TEST

/* Descendants are bound as their root is. */
static void bound_child_by(unsigned int source)
{
	struct perfctr_read_tree before, after;
	struct perfctr_control control;
	int fd = open_self(), i;
	pid_t pid;

	pin_self(0);
	bound_control(&control, 1, source);
	control.flags |= PERFCTR_CONTROL_INHERIT;
	set_control(fd, &control);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(try_read_tree(fd, PERFCTR_TREE_ENDED, &before), 0);
		pid = fork();
		if (!pid) {
			pin_self(i);
			body_spin(LOOPS);
			pin_self(0);
			body_spin(LOOPS);
			_exit(0);
		}
		expect_exit(pid, 0);
		ck_assert_int_eq(try_read_tree(fd, PERFCTR_TREE_ENDED, &after), 0);
		if (i) {
			ck_assert_uint_ge(after.sum[0] - before.sum[0], BODY_SPIN(LOOPS));
			ck_assert_uint_lt(after.sum[0] - before.sum[0], BODY_SPIN(LOOPS) + 1000);
		} else {
			ck_assert_uint_eq(after.sum[0], before.sum[0]);
			ck_assert_uint_eq(after.clock, before.clock);
		}
	}
	unlink_self(fd);
	close(fd);
}

START_TEST(bound_descendants)
{
	by_each_source(bound_child_by);
}
END_TEST

START_TEST(bound_badly)
{
	struct perfctr_control control;
	int fd = open_self();

	bound_control(&control, NO_CPU, PERFCTR_SOURCE_ANY);
	expect_refused(fd, &control, EINVAL);
	bound_control(&control, 0, PERFCTR_SOURCE_ANY);
	control.flags |= PERFCTR_CONTROL_NO_IDLE;
	expect_refused(fd, &control, EINVAL);
	bound_control(&control, 0, PERFCTR_SOURCE_ANY);
	control.reserved0 = 1;
	expect_refused(fd, &control, EINVAL);
	bound_control(&control, 1, PERFCTR_SOURCE_ANY);
	control.flags = 0;
	expect_refused(fd, &control, EINVAL);
	close(fd);
}
END_TEST

/*
 * The library, and perfex
 */

/* Instructions in user mode, as perfctr 2.6 has it */
static void compat_control(struct gperfctr_cpu_control *control, unsigned int cpu)
{
	struct vperfctr_control own = { .si_signo = 0 };

	own.cpu_control.tsc_on = 1;
	own.cpu_control.nractrs = 1;
	own.cpu_control.pmc_map[0] = PERFCTR_MAP_ANY;
	OLD_EVENT(&own.cpu_control, 0, EV_INSTRUCTIONS);
	USER_MODE(&own);
	*control = (struct gperfctr_cpu_control){ .cpu = cpu, .cpu_control = own.cpu_control };
}

START_TEST(library)
{
	struct gperfctr_cpu_control control;
	struct gperfctr_cpu_state state, later;
	struct perfctr_control native;
	struct perfctr_cpus_info *cpus;
	struct perfctr_info info;
	struct gperfctr *g = gperfctr_open(), *other;

	ck_assert_ptr_nonnull(g);
	ck_ok(gperfctr_info(g, &info));
	ck_assert_uint_eq(info.cpu_type, guest.info.cpu_type);
	ck_assert_ptr_nonnull(cpus = gperfctr_cpus_info(g));
	free(cpus);
	ck_errno(gperfctr_start(g, 9999), EINVAL);
	be_alone_on(0);
	compat_control(&control, NO_CPU);
	ck_errno(gperfctr_control(g, &control), EINVAL);
	compat_control(&control, 0);
	ck_ok(gperfctr_control(g, &control));
	ck_assert_int_eq(gperfctr_start(g, 10000), 1);
	ck_errno(gperfctr_start(g, 10000), EBUSY);
	ck_errno(gperfctr_control(g, &control), EBUSY);
	memset(&state, 0xff, sizeof(state));
	state.cpu = 0;
	later.cpu = 0;
	ck_ok(gperfctr_read(g, &state));
	body_spin(LOOPS);
	ck_ok(gperfctr_read(g, &later));
	ck_assert_uint_ge(later.sum.pmc[0] - state.sum.pmc[0], BODY_SPIN(LOOPS));
	ck_assert_uint_lt(later.sum.pmc[0] - state.sum.pmc[0], BODY_SPIN(LOOPS) + 8000);
	ck_assert_uint_gt(later.sum.tsc, state.sum.tsc);
	ck_assert_uint_eq(later.sum.pmc[1], 0);
	ck_assert_uint_eq(state.cpu_control.tsc_on, 1);
	ck_assert_uint_eq(state.cpu_control.nractrs, 1);
	ck_assert_uint_eq(state.cpu_control.pmc_map[0], control.cpu_control.pmc_map[0]);
	ck_assert_uint_eq(state.cpu_control.evntsel[0], control.cpu_control.evntsel[0]);
	ck_ok(gperfctr_stop(g));
	ck_ok(gperfctr_read(g, &state));
	body_spin(LOOPS);
	ck_ok(gperfctr_read(g, &later));
	ck_assert_uint_eq(later.sum.pmc[0], state.sum.pmc[0]);
	/* A native control in its place */
	cpu_control(&native, 0, PERFCTR_SOURCE_ANY);
	native.flags = 0;
	ck_ok(gperfctr_control_native(g, &native));
	ck_ok(gperfctr_read(g, &state));
	ck_assert_uint_eq(state.sum.pmc[0], 0);
	ck_assert_uint_eq(state.cpu_control.nractrs, 0);
	if (guest.info.cpu_features & PERFCTR_FEATURE_NATIVE) {
		cpu_control(&native, 0, PERFCTR_SOURCE_NATIVE);
		other = gperfctr_open();
		ck_ok(gperfctr_control_native(g, memset(&native, 0, sizeof(native))));
		cpu_control(&native, 0, PERFCTR_SOURCE_NATIVE);
		ck_ok(gperfctr_control_native(other, &native));
		ck_errno(gperfctr_control_native(g, &native), EBUSY);
		ck_assert_int_eq(gperfctr_owner(g), PERFCTR_OWNER_PERFCTR);
		ck_assert_int_eq(gperfctr_reason(g), PERFCTR_REASON_CPUS);
		/* What the library refuses has no owner, whatever was before. */
		memset(&control, 0, sizeof(control));
		control.cpu_control.nractrs = PERFCTR_NRCTRS + 1;
		ck_errno(gperfctr_control(g, &control), EINVAL);
		ck_assert_int_eq(gperfctr_owner(g), PERFCTR_OWNER_NONE);
		ck_assert_int_eq(gperfctr_reason(g), PERFCTR_REASON_NONE);
		gperfctr_close(other);
	}
	/* Nothing to count ends the CPU's part. */
	memset(&control, 0, sizeof(control));
	ck_ok(gperfctr_control(g, &control));
	ck_assert_int_eq(gperfctr_start(g, 10000), 0);
	gperfctr_close(g);
}
END_TEST

START_TEST(library_without_privilege)
{
	ck_assert_ptr_null(gperfctr_open());
	ck_assert_int_eq(errno, EACCES);
}
END_TEST

static char said[16384];

/* Runs a command, and returns how it ended; what it said is in said. */
static int sh(const char *command)
{
	char line[1024];
	size_t n;
	FILE *f;
	int status;

	snprintf(line, sizeof(line), "(%s) 2>&1", command);
	f = popen(line, "r");
	ck_assert_ptr_nonnull(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_says(const char *what)
{
	ck_assert_msg(strstr(said, what) != NULL, "'%s' is not in: %s", what, said);
}

static void expect_fails(const char *command, int status, const char *what)
{
	ck_assert_int_eq(sh(command), status);
	expect_says(what);
}

/* The number behind this text */
static unsigned long long number_after(const char *what)
{
	const char *at = strstr(said, what);

	ck_assert_msg(at != NULL, "'%s' is not in: %s", what, said);
	return strtoull(at + strlen(what), NULL, 10);
}

#define LENGTH KNOWN_LENGTH(KNOWN_LOOPS)
#define KNOWN "/usr/libexec/perfctr/known"

START_TEST(perfex_counts_cpus)
{
	unsigned long long count;

	ck_assert_int_eq(sh("perfex -a -e instructions:u " KNOWN), 0);
	expect_says("Counts of CPUs 0, 1 during '" KNOWN "'");
	expect_says("instructions:u");
	expect_says("of all these CPUs");
	expect_says("seconds user");
	ck_assert_int_eq(sh("perfex -C 1 --json -e instructions:u taskset 2 " KNOWN), 0);
	count = number_after("\"count\": ");
	ck_assert_uint_ge(count, LENGTH);
	expect_says("\"cpus\": [1]");
	expect_says("\"exit_status\": 0");
	ck_assert_int_eq(sh("perfex -C 0-1 --per-cpu --json -e instructions:u taskset 2 " KNOWN), 0);
	expect_says("\"per_cpu\": [{\"cpu\": 0, \"online\": true, \"complete\": true, ");
	count = number_after("{\"cpu\": 1, \"online\": true, \"complete\": true, \"counts\": [");
	ck_assert_uint_ge(count, LENGTH);
	ck_assert_int_eq(sh("perfex -C 1,0 --per-cpu -I 20 -e instructions:u sleep 0.1"), 0);
	expect_says("CPU       instructions:u");
	expect_says("Counts of CPUs 1, 0 during");
	/* The program's status is perfex's. */
	ck_assert_int_eq(sh("perfex -a sh -c 'exit 3'"), 3);
	ck_assert_int_eq(sh("perfex -a /nowhere"), 127);
	ck_assert_int_eq(sh("perfex -a --no-idle " KNOWN), 0);
	expect_says("The idle tasks were left out.");
	ck_assert_int_eq(sh("perfex -a -r 3 --json " KNOWN), 0);
	expect_says("\"runs\": 3");
	/* Without a program, until it is told to end */
	ck_assert_int_eq(sh("perfex -a --json -I 50 -e instructions & sleep 0.3; kill -TERM $!; wait $!"),
			 0);
	expect_says("{\"interval\": ");
	expect_says("{\"cpus\": [0, 1], \"counts\": ");
}
END_TEST

START_TEST(perfex_refuses)
{
	expect_fails("perfex -C 7777 true", 125, "there is no CPU 7777");
	expect_fails("perfex -C 1-0 true", 2, "is no list of CPUs");
	expect_fails("perfex -C x true", 2, "is no list of CPUs");
	expect_fails("perfex -a --self true", 2, "do not go together");
	expect_fails("perfex -a -p 1", 2, "do not go together");
	expect_fails("perfex -a -r 2", 2, "--repeat (-r) needs a program");
	expect_fails("perfex --per-cpu true", 2, "--per-cpu needs --all-cpus (-a) or --cpu (-C)");
	expect_fails("perfex --no-idle true", 2, "--no-idle needs --all-cpus (-a) or --cpu (-C)");
}
END_TEST

START_TEST(perfex_needs_root)
{
	expect_fails("perfex -a true", 125, "which needs root or CAP_PERFMON");
}
END_TEST

int main(void)
{
	/* Where everybody can read the registers that is the condition. */
	guest_begin("cpus", is_ppc() ? "user_read=open" : NULL);
	GUEST_RUN(exact_natively, NEED_COUNTERS | NEED_NATIVE | LOG_SILENT);
	GUEST_RUN(exact_through_perf, NEED_COUNTERS | NEED_SHARED);
	GUEST_RUN(all_cpus, NEED_COUNTERS);
	GUEST_RUN(agrees_with_perf, NEED_COUNTERS | NEED_SMP | NEED_PERF | NEED_SHARED);
	GUEST_RUN(hotplug, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(native_excludes, NEED_COUNTERS | NEED_NATIVE);
	GUEST_RUN(clock_beside_native, NEED_COUNTERS | NEED_NATIVE);
	GUEST_RUN(nobody_reads_registers, NEED_COUNTERS | NEED_NATIVE | NEED_USER_READ | NEED_X86);
	GUEST_RUN(shared_beside_threads, NEED_COUNTERS | NEED_SHARED);
	GUEST_RUN(evicted, NEED_COUNTERS);
	GUEST_RUN(an_evicted_session_withholds_nothing,
		  NEED_COUNTERS | NEED_NATIVE | NEED_USER_READ | NEED_PERMISSION);
	GUEST_RUN(an_evicted_thread_reads_no_session,
		  NEED_COUNTERS | NEED_NATIVE | NEED_USER_READ | NEED_PERMISSION | NEED_SMP);
	GUEST_RUN(without_idle, NEED_COUNTERS);
	GUEST_RUN(keeps_the_module, NEED_COUNTERS);
	GUEST_RUN(bad_controls, NEED_COUNTERS | LOG_SILENT);
	GUEST_RUN(other_calls, LOG_SILENT);
	GUEST_RUN(users_may_not, NEED_COUNTERS | LOG_SILENT);
	if (is_ppc() && guest.info.cpu_features & PERFCTR_FEATURE_RDPMC)
		GUEST_RUN(native_needs_open, NEED_COUNTERS | NEED_NATIVE);
	GUEST_RUN(bound, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(bound_descendants, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(bound_badly, NEED_COUNTERS | LOG_SILENT);
	GUEST_RUN(library, NEED_COUNTERS);
	GUEST_RUN(library_without_privilege, AS_USER);
	GUEST_RUN(perfex_counts_cpus, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(perfex_refuses, NEED_COUNTERS);
	GUEST_RUN(perfex_needs_root, AS_USER);
	return guest_end();
}
