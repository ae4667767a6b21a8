// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what inheritance adds to a fork of a process that counts, and to the end of its child.
 * The parent waits at once, and the machine has one CPU. So the time from the parent's call of
 * fork() to the child's call of _exit() belongs to the fork. The time from there to the parent's
 * return from waitpid() belongs to the end.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS 100

struct forking {
	struct setup setup;
	unsigned int threads;	/* threads that count and sleep meanwhile */
	bool end;		/* measure the child's end, not the fork */
};

/*
 * Delays a fork, so that each begins at another point between two ticks. RISC-V's clock ticks once
 * in 100 instructions.
 */
static void delay(unsigned int n)
{
	while (n--)
		__asm__ volatile ("");
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Returns the mean of the middle half of the forks, since occasional work of the kernel falls on
 * some of them.
 */
static double fork_and_end(bool end)
{
	volatile uint64_t *left = shared_alloc(sizeof(*left));
	uint64_t began, took[FORKS], sum = 0;
	unsigned int i;
	pid_t pid;

	for (i = 0; i < FORKS; i++) {
		delay(i);
		began = now_ns();
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid) {
			*left = now_ns();
			_exit(0);
		}
		await_child(pid);
		took[i] = end ? now_ns() - *left : *left - began;
	}
	qsort(took, FORKS, sizeof(took[0]), compare);
	for (i = FORKS / 4; i < FORKS * 3 / 4; i++)
		sum += took[i];
	return (double)sum / (FORKS / 2.0);
}

static pthread_barrier_t ready;

static void *sleeper(void *arg)
{
	(void)pthread_barrier_wait(&ready);
	for (;;)
		pause();
	return arg;
}

/* Starts a process of @n threads, which all sleep when this function returns. */
static pid_t start_sleepers(unsigned int n)
{
	pthread_attr_t attr;
	pthread_t thread;
	int told[2];
	unsigned int i;
	pid_t pid;
	char byte;

	if (pipe(told))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid) {
		close(told[1]);
		if (read(told[0], &byte, 1) != 1)
			die("sleepers");
		close(told[0]);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_attr_init(&attr);
	set_small_stack(&attr);
	pthread_barrier_init(&ready, NULL, n);
	for (i = 1; i < n; i++)
		if (pthread_create(&thread, &attr, sleeper, NULL))
			die("pthread_create");
	(void)pthread_barrier_wait(&ready);
	if (write(told[1], "", 1) != 1)
		die("pipe");
	for (;;)
		pause();
}

/*
 * Measures forks in a process of their own, so that nothing is left behind. Yet another process has
 * the sleepers. If the forking process had their stacks, these would be most of a fork's cost.
 */
static double forks(const void *arg)
{
	const struct forking *forking = arg;
	/*
	 * All calls share one page. With a page for each call, every fork would copy more maps than
	 * the last.
	 */
	static volatile double *figure;
	struct counting counting;
	pid_t pid;

	if (!figure)
		figure = shared_alloc(sizeof(*figure));
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		counting_begin(&counting, &forking->setup);
		pid = forking->threads ? start_sleepers(forking->threads) : 0;
		*figure = fork_and_end(forking->end);
		if (pid) {
			(void)kill(pid, SIGKILL);
			(void)waitpid(pid, NULL, 0);
		}
		_exit(0);
	}
	await_child(pid);
	return *figure;
}

/* Returns the number of runs, which are fewer among many threads since these take long to start. */
static unsigned int runs_among(unsigned int threads)
{
	if (!threads)
		return 41;
	return threads <= 1000 ? 21 : 9;
}

static double cost(enum side side, unsigned int counters, unsigned int threads, bool end)
{
	struct forking forking = {
		.setup = { .side = side, .counters = counters, .inherit = true },
		.threads = threads,
		.end = end,
	};

	/*
	 * A fork takes about 170,000 instructions, depending on how full the kernel's free lists
	 * are.
	 */
	return median_of_runs(forks, &forking, runs_among(threads));
}

static void extra(const char *metric, unsigned int counters, unsigned int threads, bool end,
		  double base, double bound)
{
	report(metric, threads ? threads : counters, cost(PERFCTR, counters, threads, end) - base,
	       cost(PERF, counters, threads, end) - base, bound, "insn");
}

static void by_counters(const char *metric, bool end, double bound)
{
	double base = cost(NOBODY, 0, 0, end);
	unsigned int n;

	for (n = 1; n <= bench_counters; n++)
		extra(metric, n, 0, end, base, bound);
}

void bench_forks(void)
{
	by_counters("fork_extra", false, RISCV_X86(3000, NONE));
	by_counters("exit_extra", true, RISCV_X86(2000, NONE));
}

/* Measures forks with four counters among many threads that count. */
void bench_crowds(void)
{
	static const unsigned int crowds[] = { 1, 10, 100, 1000, 10000 };
	struct rlimit limit = { 100000, 100000 };
	unsigned int n;
	FILE *file = fopen("/proc/sys/kernel/pid_max", "we");

	/*
	 * With a large pid_max, ids do not begin again from the lowest, where the search for a free
	 * id takes long.
	 */
	if (!file || fputs("4194304\n", file) < 0 || fclose(file))
		die("pid_max");

	(void)setrlimit(RLIMIT_NPROC, &limit);
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	for (n = 0; n < sizeof(crowds) / sizeof(crowds[0]); n++)
		extra("fork_extra_among", bench_counters, crowds[n], false,
		      cost(NOBODY, 0, crowds[n], false), RISCV_X86(3000, NONE));
	for (n = 0; n < sizeof(crowds) / sizeof(crowds[0]); n++)
		extra("exit_extra_among", bench_counters, crowds[n], true,
		      cost(NOBODY, 0, crowds[n], true), RISCV_X86(2000, NONE));
}
