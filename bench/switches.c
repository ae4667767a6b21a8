// SPDX-License-Identifier: GPL-2.0
/*
 * What counters add to a context switch: two processes on one CPU yield to each
 * other, with counters and without. A switch is one of them out and the other
 * one in, so both sides of a thread's switch are in the figure.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define YIELDS 250	/* in less than the time between two interrupts of the timer */
#define ROUNDS 31	/* of these, of which the median is taken */
#define WARM_UP 500
#define UID_USER 1000
#define UID_STRANGER 1001

struct pair {
	struct setup setup[2];
	uid_t uid[2];
};

struct ring {
	volatile unsigned int ready;
	volatile bool stop;
	volatile double per_switch;
};

static long own_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void yield_times(unsigned int n)
{
	while (n--)
		sched_yield();
}

/* Cost of a switch, of which there are two in each of our turns: out, and in again */
static double round_of_yields(void)
{
	long switches = own_switches();
	uint64_t began = now_ns();

	yield_times(YIELDS);
	began = now_ns() - began;
	switches = own_switches() - switches;
	/* Once out in a turn, or this is not what it is taken for */
	if (switches < YIELDS - YIELDS / 20 || switches > YIELDS + YIELDS / 20) {
		(void)fprintf(stderr, "bench: %ld switches in %d yields\n", switches, YIELDS);
		_exit(EXIT_FAILURE);
	}
	return (double)began / (2.0 * (double)switches);
}

static int in_order(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

/* One of the two; number 0 has the watch. */
static void yielder(const struct pair *pair, struct ring *ring, unsigned int number)
{
	struct counting counting;
	double cost[ROUNDS];
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* perf_event_open() is root's on Debian; what was opened stays. */
	if (pair->setup[number].side == PERF)
		counting_begin(&counting, &pair->setup[number]);
	become(pair->uid[number]);
	if (pair->setup[number].side != PERF)
		counting_begin(&counting, &pair->setup[number]);
	__sync_fetch_and_add(&ring->ready, 1);
	while (ring->ready < 2)
		sched_yield();
	if (number) {
		while (!ring->stop)
			sched_yield();
		_exit(0);
	}
	yield_times(WARM_UP);
	for (i = 0; i < ROUNDS; i++)
		cost[i] = round_of_yields();
	qsort(cost, ROUNDS, sizeof(cost[0]), in_order);
	ring->per_switch = cost[ROUNDS / 2];
	ring->stop = true;
	_exit(0);
}

static double measure_pair(const void *arg)
{
	static struct ring *ring;
	pid_t pid[2];
	unsigned int i;

	if (!ring)
		ring = shared_alloc(sizeof(*ring));
	ring->ready = 0;
	ring->stop = false;
	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			die("fork");
		if (!pid[i])
			yielder(arg, ring, i);
	}
	await_child(pid[0]);
	await_child(pid[1]);
	return ring->per_switch;
}

/* The base line, by what the pair does without counters */
static double base_line(uid_t first, uid_t second)
{
	struct pair pair = { .uid = { first, second } };

	return settled(measure_pair, &pair);
}

static double extra(const struct setup *setup, const struct pair *how, double base)
{
	struct pair pair = *how;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		bool kernel = pair.setup[i].kernel;

		pair.setup[i] = *setup;
		pair.setup[i].kernel = kernel;
	}
	return settled(measure_pair, &pair) - base;
}

/* One metric, for 1 to 4 counters. First ours, since perf's hook outlasts its events. */
static void compare(const char *metric, const struct pair *how, const double *bounds,
		    double part_of_perf)
{
	double perfctr[MAX_COUNTERS], perf[MAX_COUNTERS];
	double base = base_line(how->uid[0], how->uid[1]);
	struct setup setup = { .map = how->setup[0].map };
	unsigned int n;

	for (n = 1; n <= MAX_COUNTERS; n++) {
		setup.side = PERFCTR;
		setup.counters = n;
		perfctr[n - 1] = extra(&setup, how, base);
	}
	for (n = 1; n <= MAX_COUNTERS; n++) {
		setup.side = PERF;
		setup.counters = n;
		perf[n - 1] = extra(&setup, how, base);
	}
	for (n = 0; n < MAX_COUNTERS; n++) {
		double bound = NONE;

		if (bounds)
			bound = bounds[n];
		else if (part_of_perf > 0)
			bound = perf[n] * part_of_perf;
		report(metric, n + 1, perfctr[n], perf[n], bound, "insn");
	}
	await_perf_gone();
}

/* A process that counts, and sleeps, while others switch. */
static pid_t counting_sleeper(enum side side)
{
	volatile bool *ready = shared_alloc(sizeof(*ready));
	struct setup setup = { .side = side, .counters = MAX_COUNTERS };
	struct counting counting;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		counting_begin(&counting, &setup);
		*ready = true;
		for (;;)
			pause();
	}
	while (!*ready)
		usleep(1000);
	return pid;
}

static void end_sleeper(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
}

static double beside(enum side side, double base)
{
	pid_t pid = counting_sleeper(side);
	double cost = base_line(0, 0) - base;

	end_sleeper(pid);
	return cost;
}

/* Two that do not count: without the module, with it, and while somebody counts. */
static void bystanders(void)
{
	double without, idle, perfctr, perf;

	module_unload();
	without = base_line(0, 0);
	perf = beside(PERF, without);
	await_perf_gone();
	module_load();
	idle = base_line(0, 0);
	report("switch_base", 0, idle, without, NONE, "insn");
	report("switch_extra_bystander_nobody", 0, idle - without, 0, 0.5, "insn");
	perfctr = beside(PERFCTR, idle);
	report("switch_extra_bystander", MAX_COUNTERS, perfctr, perf, 10, "insn");
}

void bench_switches(void)
{
	/* 1 and 4 counters are the issue's; those between are on the line. */
	static const double bounds[MAX_COUNTERS] = { 110, 110 + 70 / 3.0, 110 + 140 / 3.0, 180 };
	struct pair plain = { .uid = { 0, 0 } };
	struct pair kin = { .uid = { UID_USER, UID_USER } };
	struct pair strangers = { .uid = { UID_USER, UID_STRANGER } };
	struct pair others = { .uid = { 0, 0 } };

	bystanders();
	compare("switch_extra", &plain, bounds, 0);
	others.setup[1].kernel = true;
	compare("switch_extra_other_control", &others, NULL, 0);
	kin.setup[0].map = true;
	strangers.setup[0].map = true;
	set_policy("guarded");
	compare("switch_extra_guarded_kin", &kin, NULL, 0);
	compare("switch_extra_guarded_strangers", &strangers, NULL, 0.25);
	set_policy("open");
	compare("switch_extra_open", &strangers, NULL, 0);
	set_policy("guarded");
}
