// SPDX-License-Identifier: GPL-2.0
/*
 * Counting through perf: the NMI watchdog works meanwhile, and nobody else reads these counters. All
 * tests count by the shared source, whatever the environment says.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/beside.h"

/* --- without privilege --- */

/* Becomes a user, or root again. */
static void act_as(uid_t uid)
{
	ck_ok(setresuid(uid, uid, 0));
}

/* --- the NMI watchdog --- */

static uint64_t nmis(unsigned int cpu)
{
	char text[16384];
	const char *at;
	char *end;
	uint64_t n;

	ck_assert_int_gt(read_text("/proc/interrupts", text, sizeof(text)), 0);
	at = strstr(text, "NMI:");
	ck_assert_ptr_nonnull(at);
	for (at += 4;; at = end) {
		n = strtoull(at, &end, 10);
		ck_assert_ptr_ne(end, at);
		if (!cpu--)
			return n;
	}
}

/* Its event overflows after each second in which a CPU is not idle. */
static void watchdog_looks_at_each_cpu(const char *when)
{
	unsigned int cpu;

	for (cpu = 0; cpu < guest.ncpus; cpu++) {
		uint64_t before, began;

		pin_self(cpu);
		before = nmis(cpu);
		began = now_ns();
		while (nmis(cpu) == before) {
			body_spin(1000000);
			ck_assert_msg(now_ns() - began < 2000000000, "armed %s: none on CPU %u",
				      when, cpu);
		}
	}
}

/* As many events as a user is given; codes that any general-purpose counter counts */
static int take_what_a_user_gets(void)
{
	struct perfctr_control control = two_counters(), more;
	unsigned int n = 0;
	int fd, err;

	act_as(GUEST_UID);
	fd = open_self();
	for (;;) {
		more = control;
		err = try_control(fd, &more);
		if (err)
			break;
		control_add(&control, 0xc4 + (n++ << 8));
	}
	act_as(0);
	ck_assert_int_eq(err, -EBUSY);
	ck_assert_uint_eq(more.reason, PERFCTR_REASON_HALF);
	ck_assert_uint_gt(n, 1);
	exact_once(fd);
	return fd;
}

/* Whoever comes first: an event of the watchdog's is on its counter, and a user's are exact. */
START_TEST(watchdog_works)
{
	int fd;

	set(WATCHDOG, "1");
	set(WATCHDOG_THRESH, "1");
	fd = take_what_a_user_gets();
	watchdog_looks_at_each_cpu("before");
	exact_once(fd);
	unlink_self(fd);
	close(fd);

	set(WATCHDOG, "0");
	fd = take_what_a_user_gets();
	set(WATCHDOG, "1");
	watchdog_looks_at_each_cpu("later");
	exact_once(fd);
}
END_TEST

#if !defined(__riscv)

/* --- who reads these counters, and who may count --- */

#define REGISTERS	32
#define WORK		1000000u

/* RDPMC or USER_ACCESS */
static const char *user_reads;

/**
 * struct spy - a user who tries to read all registers, over and over
 * @rounds: how often
 * @readable: those that could be read, as a bit map
 * @learnt: the most that one of them held
 * @error: why it has no event of perf's; -errno
 */
struct spy {
	pid_t pid;
	volatile bool stop;
	volatile uint64_t rounds;
	volatile unsigned int readable;
	volatile uint64_t learnt;
	volatile int error;
};

static void try_registers(struct spy *spy)
{
	uint64_t value;
	unsigned int n;

	for (n = 0; n < REGISTERS; n++) {
		if (!try_read_register(n, &value))
			continue;
		spy->readable |= 1u << n;
		if (value > spy->learnt)
			spy->learnt = value;
	}
	spy->rounds++;
}

/* An event of perf's that its owner may read in user mode; 0, or -errno */
static int map_event_of_perf(void)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_init(&attr, EV_CYCLES);
#if defined(__aarch64__)
	attr.config1 = 2;	/* user access */
#endif
	fd = perf_open(&attr, 0, -1, -1);
	return fd < 0 || !try_map(fd) ? -errno : 0;
}

/* It counts itself and has its page mapped; and it has an event of perf's mapped if it may. */
static void play_spy(struct spy *spy)
{
	struct perfctr_control control = two_counters();
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin_self(0);
	become(GUEST_UID);
	spy->error = map_event_of_perf();
	fd = try_open(PERFCTR_OPEN_CREAT);
	(void)try_map(fd);
	(void)try_control(fd, &control);
	while (!spy->stop) {
		try_registers(spy);
		sleep_us(100);
	}
	_exit(0);
}

static struct spy *spy_start(void)
{
	struct spy *spy = shared_alloc(sizeof(*spy));
	pid_t pid;

	ck_ok(pid = fork());
	if (!pid)
		play_spy(spy);
	spy->pid = pid;
	while (spy->rounds < 2)
		sleep_us(100);
	return spy;
}

static void spy_end(struct spy *spy)
{
	spy->stop = true;
	expect_exit(spy->pid, 0);
}

/* Another user counts what it does beside the spy. Returns what CONTROL said. */
static int victim_counts(const struct spy *spy)
{
	struct perfctr_control control = two_counters();
	uint64_t rounds = spy->rounds;
	int fd, err;

	pin_self(0);
	act_as(STRANGER_UID);
	fd = open_self();
	err = try_control(fd, &control);
	if (!err) {
		exact_once(fd);
		body_spin(WORK);
		while (spy->rounds < rounds + 3)
			sleep_us(100);
		exact_once(fd);
	} else {
		ck_assert_uint_eq(control.reason, PERFCTR_REASON_OPEN);
		ck_assert_uint_eq(control.refused, 0);
	}
	unlink_self(fd);
	close(fd);
	act_as(0);
	return err;
}

/* With perf closed to users, as on Debian, or with its registers closed */
START_TEST(nobody_reads_our_counters)
{
	struct spy *spy;

	set(PARANOID, "3");
	spy = spy_start();
	ck_assert_int_eq(spy->error, -EACCES);
	ck_assert_int_eq(victim_counts(spy), 0);
	spy_end(spy);
	ck_assert_msg(!spy->readable, "registers %#x, learnt %llu", spy->readable,
		      (unsigned long long)spy->learnt);

	set(PARANOID, "2");
	set(user_reads, "0");
	spy = spy_start();
	ck_assert_int_eq(spy->error, 0);
	ck_assert_int_eq(victim_counts(spy), 0);
	spy_end(spy);
	ck_assert_msg(!spy->readable, "closed: registers %#x, learnt %llu", spy->readable,
		      (unsigned long long)spy->learnt);
}
END_TEST

/* Where perf's users read registers others are not counted, unless root says so. */
START_TEST(nobody_is_told_of_others_unasked)
{
	struct spy *spy;

	set(PARANOID, "2");
	set(user_reads, "1");
	spy = spy_start();
	ck_assert_int_eq(spy->error, 0);
	ck_assert_int_eq(victim_counts(spy), -EACCES);
	/* This is what a spy learns then. */
	set(SHARED_OPEN, "1");
	ck_assert_int_eq(victim_counts(spy), 0);
	spy_end(spy);
	ck_assert_uint_ne(spy->readable, 0);
	ck_assert_uint_ge(spy->learnt, WORK);
}
END_TEST

/*
 * A control is checked each time, also where its user counts the same already. One that is
 * refused changes nothing, so what counts goes on.
 */
START_TEST(equal_controls_are_checked_again)
{
	struct perfctr_control control = two_counters();
	struct perfctr_control again = control;
	int fd, other;
	pid_t pid;

	set(PARANOID, "3");
	set(user_reads, "1");
	act_as(GUEST_UID);
	fd = count_two();
	act_as(0);
	set(PARANOID, "2");
	act_as(GUEST_UID);
	ck_assert_int_eq(try_control(fd, &again), -EACCES);
	ck_assert_uint_eq(again.reason, PERFCTR_REASON_OPEN);
	exact_once(fd);
	/* Another thread of this user's */
	ck_ok(pid = fork());
	if (!pid) {
		other = try_open(PERFCTR_OPEN_CREAT);
		again = control;
		_exit(other < 0 || try_control(other, &again) != -EACCES);
	}
	expect_exit(pid, 0);
	act_as(0);

	set(SHARED_OPEN, "1");
	act_as(GUEST_UID);
	set_control(fd, &control);
	exact_once(fd);
	act_as(0);
	set(SHARED_OPEN, "0");
	act_as(GUEST_UID);
	ck_assert_int_eq(try_control(fd, &again), -EACCES);
	act_as(0);
	set(PARANOID, "3");
	act_as(GUEST_UID);
	set_control(fd, &control);
	exact_once(fd);
	act_as(0);
	/* root's controls are not concerned. */
	set(PARANOID, "2");
	set_control(fd, &control);
	exact_once(fd);
}
END_TEST

#endif /* !__riscv */

void beside_others(void)
{
	const unsigned int shared = NEED_COUNTERS | NEED_SHARED | NEED_PERF;

	run(watchdog_works, shared | NEED_X86 | NEED_ALIKE);
#if !defined(__riscv)
	/* RISC-V's perf shows a process the counters of its own events alone. */
	user_reads = is_x86() ? RDPMC : USER_ACCESS;
	if (guest.info.cpu_features & PERFCTR_FEATURE_HYBRID)
		user_reads = RDPMC_HYBRID;
	run(nobody_reads_our_counters, shared);
	run(nobody_is_told_of_others_unasked, shared);
	run(equal_controls_are_checked_again, shared);
#endif
}
