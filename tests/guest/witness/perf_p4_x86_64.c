// SPDX-License-Identifier: GPL-2.0
/*
 * The emulated Pentium 4, by Linux's own driver: it must be right before anybody tests another
 * driver on it. Run on Linux 5.10, as later ones count wrong (p4_pmu_set_period()). perfctr is not
 * there, so each check is a line of its own, as guest.c writes them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit/loops.h"
#include "kit/perfside.h"

#define LOOPS	2000ul
#define TURNS	200u
#define PAGES	64ul

static unsigned int passed, failed, cpu;

static void __attribute__((format(printf, 3, 4))) tell(const char *name, bool good,
							const char *format, ...)
{
	va_list args;

	printf("%s perf_p4.%s_on_cpu_%u: ", good ? "ok" : "not ok", name, cpu);
	va_start(args, format);
	(void)vprintf(format, args);
	va_end(args);
	printf("\n");
	if (good)
		passed++;
	else
		failed++;
}

/* Of two reads, both of which are the same system call; UINT64_MAX: one failed */
static uint64_t counted(int fd, body_fn *body, unsigned long arg)
{
	uint64_t words[2];

	if (exact_read(fd, words, sizeof(words[0]), body, arg) != sizeof(words[0]))
		return UINT64_MAX;
	return words[1] - words[0];
}

static int open_generic(uint64_t config)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = config;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.pinned = 1;
	return perf_open(&attr, 0, -1, -1);
}

/* Each of many turns, of a loop and of one that calls the kernel */
static void exact(const char *name, uint64_t config)
{
	int fd = open_generic(config);
	unsigned int turn, wrong = 0;
	uint64_t got = 0;

	for (turn = 0; fd >= 0 && turn < TURNS; turn++) {
		got = counted(fd, body_spin, LOOPS + turn);
		wrong += got != EXACT_KERNEL + BODY_SPIN(LOOPS + turn);
		wrong += counted(fd, body_yield, 4) != EXACT_KERNEL + BODY_YIELD(4);
	}
	tell(name, fd >= 0 && !wrong, "%u of %u turns are wrong; the last loop: %" PRIu64, wrong,
	     2 * TURNS, got);
	close(fd);
}

static void branches(void)
{
	int fd = open_generic(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	uint64_t more = counted(fd, body_spin, LOOPS + 1000) - counted(fd, body_spin, LOOPS);

	tell("branches", fd >= 0 && more == 1000, "%" PRIu64 " in 1000 turns more", more);
	close(fd);
}

/* Stores to pages that are there and were not touched since: replays that Linux tags for */
static void tlb_misses(const char *name, unsigned int event, uint64_t least, uint64_t most)
{
	struct body_touch_arg arg = { .n = PAGES };
	int fd = perf_open_self(event);
	uint64_t misses = 0;

	arg.base = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (fd >= 0 && arg.base != MAP_FAILED) {
		(void)counted(fd, body_touch, (unsigned long)&arg);
		(void)madvise(arg.base, PAGES * 4096, MADV_DONTNEED);
		misses = counted(fd, body_touch, (unsigned long)&arg);
	}
	tell(name, fd >= 0 && misses >= least && misses <= most, "%" PRIu64, misses);
	close(fd);
}

static void samples(void)
{
	const uint64_t period = 100000;
	struct perf_sampling sampling;
	uint64_t got = 0;
	bool began = perf_sampling_begin(&sampling, EV_INSTRUCTIONS, period);

	if (began) {
		body_spin(20 * period / 2);
		got = perf_sampling_end(&sampling);
	}
	tell("samples", began && got == 20, "%" PRIu64 " of 20", got);
}

static bool watchdog_off(void)
{
	FILE *f = fopen("/proc/sys/kernel/nmi_watchdog", "we");

	return f && fputs("0", f) >= 0 && !fclose(f);
}

static bool pin(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return !sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* The second CPU is the other hyperthread, which has bits of its own in each register of events. */
int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!watchdog_off())
		tell("watchdog_off", false, "%s", strerror(errno));
	for (; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		if (!pin())
			tell("pinned", false, "%s", strerror(errno));
		exact("instructions", PERF_COUNT_HW_INSTRUCTIONS);
		exact("cycles", PERF_COUNT_HW_CPU_CYCLES);
		branches();
		tlb_misses("dtlb_store_misses", EV_DTLB_STORE_MISSES, PAGES, PAGES);
		tlb_misses("dtlb_load_misses", EV_DTLB_LOAD_MISSES, 0, 0);
		samples();
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
