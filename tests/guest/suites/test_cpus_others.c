// SPDX-License-Identifier: GPL-2.0
/* Sessions beside threads: who excludes whom, who is evicted, and who reads registers. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/cpus.h"

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

void cpus_others(void)
{
	GUEST_RUN(native_excludes, NEED_COUNTERS | NEED_NATIVE);
	GUEST_RUN(clock_beside_native, NEED_COUNTERS | NEED_NATIVE);
	GUEST_RUN(nobody_reads_registers, NEED_COUNTERS | NEED_NATIVE | NEED_USER_READ | NEED_X86);
	GUEST_RUN(shared_beside_threads, NEED_COUNTERS | NEED_SHARED);
	GUEST_RUN(evicted, NEED_COUNTERS);
	GUEST_RUN(an_evicted_session_withholds_nothing,
		  NEED_COUNTERS | NEED_NATIVE | NEED_USER_READ | NEED_PERMISSION);
	GUEST_RUN(an_evicted_thread_reads_no_session,
		  NEED_COUNTERS | NEED_NATIVE | NEED_USER_READ | NEED_PERMISSION | NEED_SMP);
	if (is_ppc() && guest.info.cpu_features & PERFCTR_FEATURE_RDPMC)
		GUEST_RUN(native_needs_open, NEED_COUNTERS | NEED_NATIVE);
}
