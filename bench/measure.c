// SPDX-License-Identifier: GPL-2.0
/* Measures figures that can be trusted; see bench.h. */
#define _GNU_SOURCE
#include "bench.h"

#include <grp.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AGREEMENT 5.0		/* instructions */
#define TRIES 12
#define MOST_RUNS 41		/* most runs for a median */
#define SETTLE_SECONDS 8	/* by the guest's clock, after its boot */
#define HOOKS_GONE_SECONDS 12

unsigned int unsettled;
double uncertainty;

void die(const char *what)
{
	perror(what);
	_exit(EXIT_FAILURE);
}

#if !defined(__x86_64__) && !defined(__i386__)

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#else

/*
 * The TSC is QEMU's instruction counter itself. The kernel's clock is only as exact as its
 * calibration, and may be another clock altogether.
 */
uint64_t now_ns(void)
{
	uint32_t low, high;

	__asm__ volatile ("rdtsc" : "=a" (low), "=d" (high));
	return (uint64_t)high << 32 | low;
}

#endif

void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

void become(uid_t uid)
{
	if (uid && (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
		    setresuid(uid, uid, uid) || prctl(PR_SET_DUMPABLE, 1)))
		die("become");
}

void *shared_alloc(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		die("mmap");
	return mem;
}

void set_small_stack(pthread_attr_t *attr)
{
	long least = sysconf(_SC_THREAD_STACK_MIN);

	if (pthread_attr_setstacksize(attr, least > 32768 ? (size_t)least : 32768))
		die("pthread_attr_setstacksize");
}

void await_child(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status) {
		(void)fprintf(stderr, "bench: a child failed, status %#x\n", (unsigned int)status);
		_exit(EXIT_FAILURE);
	}
}

static double settle(measure_fn *measure, const void *arg, double apart, double fraction)
{
	double now, last = measure(arg), least = last, most = last;
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		now = measure(arg);
		if (fabs(now - last) <= fmax(apart, fraction * fabs(now))) {
			uncertainty = fmax(uncertainty, fraction * fabs(now));
			return (now + last) / 2;
		}
		least = fmin(least, now);
		most = fmax(most, now);
		last = now;
	}
	unsettled++;
	uncertainty = fmax(uncertainty, most - least);
	return least;
}

double settled(measure_fn *measure, const void *arg)
{
	return settle(measure, arg, AGREEMENT, 0);
}

double settled_within(measure_fn *measure, const void *arg, double fraction)
{
	return settle(measure, arg, AGREEMENT, fraction);
}

static int in_order(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

double median_of_runs(measure_fn *measure, const void *arg, unsigned int runs)
{
	double figure[MOST_RUNS];
	unsigned int i;

	for (i = 0; i < runs; i++)
		figure[i] = measure(arg);
	qsort(figure, runs, sizeof(figure[0]), in_order);
	uncertainty = fmax(uncertainty, (figure[runs * 3 / 4] - figure[runs / 4]) / 2);
	return figure[runs / 2];
}

void settle_guest(void)
{
	while (now_ns() < SETTLE_SECONDS * 1000000000ull)
		usleep(100000);
}

void await_hooks_gone(void)
{
	sleep(HOOKS_GONE_SECONDS);
}
