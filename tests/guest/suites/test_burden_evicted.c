// SPDX-License-Identifier: GPL-2.0
/*
 * How root takes back the counters that users have. The module is loaded as it is by default.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/burden.h"

#define ALL (PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE)

/**
 * struct victim - a process that counts
 * @pid: its id
 * @error: the result of its latest read
 * @turns: how often it has read
 * @over: the eviction has ended
 * @late: how often it could read after that
 */
struct victim {
	pid_t pid;
	volatile int error;
	volatile unsigned int turns;
	volatile bool sleeps, asleep;
	volatile bool over;
	volatile unsigned int late;
};

static struct victim *victim_start(uid_t uid, bool sleeps, bool map)
{
	struct victim *victim = shared_alloc(sizeof(*victim));
	struct perfctr_read rd;
	pid_t pid;

	victim->sleeps = sleeps;
	ck_ok(pid = fork());
	if (!pid) {
		int fd;

		become(uid);
		fd = count_event(EV_INSTRUCTIONS);
		if (map)
			map_page(fd);
		for (;;) {
			bool over = victim->over;

			victim->error = try_read(fd, &rd);
			victim->late += over && !victim->error;
			victim->turns++;
			victim->asleep = victim->sleeps;
			if (victim->sleeps)
				pause();
			body_spin(LOOPS);
		}
	}
	victim->pid = pid;
	while (victim->turns < 2 && !victim->asleep) {
		ck_assert_msg(!waitpid(pid, NULL, WNOHANG), "the victim could not count");
		sleep_us(1000);
	}
	ck_assert_int_eq(victim->error, 0);
	return victim;
}

/* The result of its next read */
static int victim_error(struct victim *victim)
{
	unsigned int turns = victim->turns;

	if (victim->sleeps) {
		victim->sleeps = false;
		kill(victim->pid, SIGUSR2);
	}
	while (victim->turns < turns + 2)
		sleep_us(1000);
	return victim->error;
}

static void evict(const char *whom)
{
	ck_assert_int_eq(write_text(MODULE_PARAMS "evict", whom), 0);
}

/* The counters are free again: perf counts the caller's instructions. */
static void expect_free(void)
{
	unsigned int i;
	int fd = -1;

	/* The counters are kept for a second, if somebody may read them. */
	for (i = 0; i < 30; i++) {
		fd = perf_open_self(EV_INSTRUCTIONS);
		if (fd >= 0)
			break;
		sleep_us(100000);
	}
	ck_assert_msg(fd >= 0, "perf_event_open(): %s", strerror(errno));
	body_spin(LOOPS);
	ck_assert_uint_ge(perf_read_one(fd), BODY_SPIN(LOOPS));
	close(fd);
}

/* Victims of one user: one runs, one sleeps, one has mapped its page. */
START_TEST(root_takes_a_users_counters)
{
	struct victim *running = victim_start(GUEST_UID, false, false);
	struct victim *sleeping = victim_start(GUEST_UID, true, false);
	struct victim *mapped = victim_start(GUEST_UID, false, true);

	sigaction(SIGUSR2, &(struct sigaction){ .sa_handler = wake }, NULL);
	ck_assert_int_eq(victim_error(running), 0);
	evict("1000");
	expect_free();
	ck_assert_int_eq(victim_error(running), -EIO);
	ck_assert_int_eq(victim_error(mapped), -EIO);
	kill(sleeping->pid, SIGKILL);
	kill(running->pid, SIGKILL);
	kill(mapped->pid, SIGKILL);
}
END_TEST

/* A thread that sleeps finds out as it wakes. */
START_TEST(who_sleeps_is_evicted_too)
{
	struct victim *sleeping;

	signal(SIGUSR2, wake);
	sleeping = victim_start(GUEST_UID, true, false);
	evict("1000\n");
	expect_free();
	ck_assert_int_eq(victim_error(sleeping), -EIO);
	kill(sleeping->pid, SIGKILL);
}
END_TEST

/* Others count on, exactly, with the same control. An evicted user may control again. */
START_TEST(others_are_not_evicted)
{
	struct victim *victim = victim_start(GUEST_UID, false, false);
	int fd = count_event(EV_INSTRUCTIONS);
	struct perfctr_control control;
	struct perfctr_read rd;
	uint64_t before;

	before = read_sum(fd, 0);
	body_spin(LOOPS);
	evict("1000");
	evict("1001");
	body_spin(LOOPS);
	ck_assert_uint_ge(read_sum(fd, 0) - before, 2 * BODY_SPIN(LOOPS));
	ck_assert_int_eq(victim_error(victim), -EIO);
	kill(victim->pid, SIGKILL);
	evict("0");
	ck_assert_int_eq(try_read(fd, &rd), -EIO);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_LOST);
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	before = read_sum(fd, 0);
	body_spin(LOOPS);
	ck_assert_uint_ge(read_sum(fd, 0) - before, BODY_SPIN(LOOPS));
}
END_TEST

/*
 * Another user counts the same on the same CPU, through perf: after an eviction neither hands its
 * counters to the other.
 */
START_TEST(evicted_beside_the_same)
{
	struct victim *other, *victim;
	unsigned int i;

	guest.shared = true;
	pin_self(0);
	other = victim_start(STRANGER_UID, false, false);
	for (i = 0; i < 20; i++) {
		victim = victim_start(GUEST_UID, false, false);
		sleep_us(20000);
		evict("1000");
		victim->over = true;
		sleep_us(50000);	/* not between the two */
		ck_assert_int_eq(victim_error(victim), -EIO);
		ck_assert_msg(!victim->late, "it counted on after eviction %u", i);
		ck_assert_int_eq(victim_error(other), 0);
		kill(victim->pid, SIGKILL);
	}
	/* While it counts there is no other source for the next test. */
	kill(other->pid, SIGKILL);
	ck_assert_int_eq(waitpid(other->pid, NULL, 0), other->pid);
}
END_TEST

/* A tree whose members run or sleep, and a member that is made after the eviction */
START_TEST(all_and_trees_are_evicted)
{
	struct victim *other = victim_start(STRANGER_UID, false, false);
	struct perfctr_read_tree tree;
	struct perfctr_control control;
	int fd = open_self(), go[2];
	pid_t child, late;
	char byte;

	ck_ok(pipe(go));
	control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT;
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	ck_ok(child = fork());
	if (!child)
		_exit(read(go[0], &byte, 1) != 1);
	evict("all");
	ck_assert_int_eq(victim_error(other), -EIO);
	kill(other->pid, SIGKILL);
	ck_ok(late = fork());
	if (!late)
		_exit(0);
	expect_exit(late, 0);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	expect_exit(child, 0);
	ck_assert_int_eq(try_read_tree(fd, ALL, &tree), -EIO);
	ck_assert_uint_eq(tree.error, PERFCTR_ERROR_LOST);
	ck_assert_uint_eq(tree.ended, 2);
	expect_free();
	set_control(fd, &control);
	ck_assert_int_eq(try_read_tree(fd, ALL, &tree), 0);
}
END_TEST

/* A control without counters is not evicted. */
START_TEST(the_clock_is_nobodys_to_take)
{
	struct perfctr_control control;
	int fd = open_self();
	uint64_t before;

	control_init(&control);
	control.tsc_on = 1;
	set_control(fd, &control);
	before = read_clock(fd);
	evict("all");
	body_spin(LOOPS);
	ck_assert_uint_gt(read_clock(fd), before);
}
END_TEST

START_TEST(bad_evictions)
{
	static const char *const nonsense[] = {
		"\n", "-1", "4294967295", "4294967296", "bob", "1000x", "all 1000",
	};
	int fd = count_event(EV_INSTRUCTIONS), err;
	uint64_t before = read_sum(fd, 0);
	unsigned int i;

	for (i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		err = write_text(MODULE_PARAMS "evict", nonsense[i]);
		ck_assert_msg(err == -EINVAL || err == -ERANGE, "'%s': %s", nonsense[i],
			      strerror(-err));
	}
	body_spin(LOOPS);
	ck_assert_uint_ge(read_sum(fd, 0) - before, BODY_SPIN(LOOPS));
}
END_TEST

START_TEST(users_do_not_evict)
{
	ck_assert_int_eq(write_text(MODULE_PARAMS "evict", "0"), -EACCES);
	ck_assert_int_eq(write_text(MODULE_PARAMS "broadcasts", "0"), -EACCES);
	ck_assert_int_eq(write_text(MODULE_PARAMS "controls", "0"), -EACCES);
}
END_TEST

void burden_evicted(void)
{
	GUEST_RUN(root_takes_a_users_counters, NEED_COUNTERS | NEED_PERF);
	GUEST_RUN(who_sleeps_is_evicted_too, NEED_COUNTERS | NEED_PERF);
	GUEST_RUN(others_are_not_evicted, NEED_COUNTERS);
	GUEST_RUN(evicted_beside_the_same, NEED_COUNTERS | NEED_SHARED);
	GUEST_RUN(all_and_trees_are_evicted, NEED_COUNTERS | NEED_PERF);
	GUEST_RUN(the_clock_is_nobodys_to_take, 0);
	GUEST_RUN(bad_evictions, NEED_COUNTERS);
	GUEST_RUN(users_do_not_evict, AS_USER);
}
