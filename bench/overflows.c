// SPDX-License-Identifier: GPL-2.0
/*
 * Measures an overflow: the way from the interrupted instruction to the handler's first
 * instruction, and the way back from the handler's call that lets the counter continue. The counted
 * thread only reads the time. So the ends are its last reading before the handler and its first
 * reading after it. A tick of the clock may be a hundred instructions. So the period is a prime,
 * and the figure is the mean of many overflows.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <libperfctr.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit/perfside.h"

#define OVERFLOWS 2000
#define PERIOD 5003	/* a prime, so that the ends fall anywhere in a tick */
#define SIGNAL SIGUSR1

static volatile uint64_t last_look;
static volatile unsigned int handled;
static volatile bool back;
static uint64_t came_at, to_handler, from_handler, left_at;
static int fd;
static unsigned long go_on;

#if defined(__riscv)

#define TICK 100.0	/* instructions */

static inline uint64_t ticks(void)
{
	uint64_t value;

	__asm__ volatile("rdtime %0" : "=r" (value));
	return value;
}

#elif defined(__aarch64__)

#define TICK 16.0

static inline uint64_t ticks(void)
{
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r" (value));
	return value;
}

#elif defined(__powerpc__)

#define TICK 40.0

static inline uint64_t ticks(void)
{
	uint32_t high, low, again;

	do {
		__asm__ volatile("mftbu %0\n\tmftb %1\n\tmftbu %2"
				 : "=r" (high), "=r" (low), "=r" (again));
	} while (high != again);
	return (uint64_t)high << 32 | low;
}

#else

#define TICK 1.0

static inline uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a" (low), "=d" (high));
	return (uint64_t)high << 32 | low;
}

#endif

static void on_overflow(int signo)
{
	came_at = ticks();
	(void)signo;
	to_handler += came_at - last_look;
	handled++;
	back = true;
	left_at = ticks();
	/* perf_events takes the argument for a count, and perfctr ignores it. */
	ioctl(fd, go_on, 1);
}

/* Reads the time until OVERFLOWS were handled. */
static void look_at_the_time(void)
{
	handled = 0;
	to_handler = 0;
	from_handler = 0;
	while (handled < OVERFLOWS) {
		/* Read @back before the time, as the handler may run after that. */
		bool is_back = back;

		last_look = ticks();
		if (is_back) {
			back = false;
			from_handler += last_look - left_at;
		}
	}
}

static void handle(void)
{
	struct sigaction action = { .sa_handler = on_overflow, .sa_flags = SA_RESTART };

	if (sigaction(SIGNAL, &action, NULL))
		die("sigaction");
}

static void ours_begin(void)
{
	struct perfctr_info info;
	struct perfctr_control control = {
		PERFCTR_CONTROL_INIT,
		.nrictrs = 1,
		.si_signo = SIGNAL,
		.ctr[0] = {
			.map = PERFCTR_MAP_ANY,
			.flags = PERFCTR_CTR_USER,
			.ireset = -PERIOD,
		},
	};

	fd = _vperfctr_open(1);
	if (fd < 0)
		die("perfctr: open");
	if (perfctr_info(fd, &info) || !(info.cpu_features & PERFCTR_FEATURE_PCINT)) {
		(void)fprintf(stderr, "bench: no overflow interrupts (boot.sh --patched)\n");
		exit(EXIT_FAILURE);
	}
	go_on = PERFCTR_IOC_IRESUME;
	counters_set_event(0, &control.ctr[0]);
	if (ioctl(fd, PERFCTR_IOC_CONTROL, &control))
		die("perfctr: control");
}

/*
 * Sets up perf_events as PAPI does: each overflow disables the event, and the handler refreshes it.
 */
static void perfs_begin(void)
{
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = (pid_t)syscall(SYS_gettid) };
	struct perf_event_attr attr;

	perf_attr_init(&attr, EV_INSTRUCTIONS);
	attr.sample_period = PERIOD;
	attr.wakeup_events = 1;
	attr.disabled = 1;
	fd = perf_open(&attr, 0, -1, -1);
	if (fd < 0)
		die("perf_event_open");
	if (fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) || fcntl(fd, F_SETSIG, SIGNAL) ||
	    fcntl(fd, F_SETOWN_EX, &owner))
		die("fcntl");
	go_on = PERF_EVENT_IOC_REFRESH;
	if (ioctl(fd, PERF_EVENT_IOC_REFRESH, 1))
		die("PERF_EVENT_IOC_REFRESH");
}

enum way { THERE, BACK, BOTH };

struct overflow {
	enum side side;
	enum way way;
};

static double measure_overflow(const void *arg)
{
	const struct overflow *overflow = arg;
	double there, homewards;

	handle();
	if (overflow->side == PERF)
		perfs_begin();
	else
		ours_begin();
	look_at_the_time();
	if (overflow->side == PERFCTR)
		ioctl(fd, PERFCTR_IOC_UNLINK);
	close(fd);
	there = TICK * (double)to_handler / OVERFLOWS;
	homewards = TICK * (double)from_handler / (OVERFLOWS - 1);
	if (overflow->way == BOTH)
		return there + homewards;
	return overflow->way == THERE ? there : homewards;
}

void bench_overflows(void)
{
	static const char * const names[] = {
		"overflow_to_handler", "overflow_back", "overflow",
	};
	enum way way;

	for (way = THERE; way <= BOTH; way++) {
		struct overflow ours = { PERFCTR, way }, perfs = { PERF, way };
		double perf = settled_within(measure_overflow, &perfs, 0.01);

		report(names[way], 1, settled_within(measure_overflow, &ours, 0.01), perf,
		       perf / 2, "insn");
	}
}
