// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what native counters beside perf_events cost: the first control, for which perf gives us
 * counters, and what perf's users pay while we hold some.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kit/perfside.h"

#define FIRSTS 5
#define TURNS 200
/* The module gives counters back a second after the last use of them, or a little later. */
#define GIVEN_BACK_US 3000000

static double open_close_once(const void *arg)
{
	const struct setup *setup = arg;
	struct counting counting;
	uint64_t start;

	if (setup->side == PERFCTR)
		usleep(GIVEN_BACK_US);
	start = now_ns();
	counting_begin(&counting, setup);
	counting_end(&counting);
	return (double)(now_ns() - start);
}

static double open_close_first(enum side side, unsigned int counters)
{
	struct setup setup = { .side = side, .counters = counters };

	return median_of_runs(open_close_once, &setup, FIRSTS);
}

/* An event of perf's for this task is enabled and disabled, as by a program that counts a region. */
static double enable_disable(const void *arg)
{
	const int *fd = arg;
	unsigned int i;
	uint64_t start = now_ns();

	for (i = 0; i < TURNS; i++) {
		ioctl(*fd, PERF_EVENT_IOC_ENABLE, 0);
		ioctl(*fd, PERF_EVENT_IOC_DISABLE, 0);
	}
	return (double)(now_ns() - start) / TURNS;
}

static double perfs_enable_disable(void)
{
	struct perf_event_attr attr;
	double cost;
	int fd;

	counters_perf_event(0, &attr);
	attr.disabled = 1;
	fd = perf_open(&attr, 0, -1, -1);
	if (fd < 0)
		die("perf_event_open");
	cost = settled_within(enable_disable, &fd, 0.001);
	close(fd);
	return cost;
}

void bench_beside(void)
{
	struct setup setup = { .side = PERFCTR };
	struct counting counting;
	double without;
	unsigned int n;

	for (n = 1; n <= bench_counters; n++)
		report("open_close_first", n, open_close_first(PERFCTR, n),
		       open_close_first(PERF, n), NONE, "insn");
	module_unload();
	without = perfs_enable_disable();
	module_load("");
	report("perf_enable_disable", 0, perfs_enable_disable(), without, NONE, "insn");
	for (setup.counters = 1; setup.counters <= bench_counters; setup.counters++) {
		counting_begin(&counting, &setup);
		report("perf_enable_disable", setup.counters, perfs_enable_disable(), without,
		       NONE, "insn");
		counting_end(&counting);
	}
}
