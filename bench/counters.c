// SPDX-License-Identifier: GPL-2.0
/* Sets up perfctr and perf_events to count the same. */
#define _GNU_SOURCE
#include "bench.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <libperfctr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "kit/perfside.h"

#define PAGE 4096

unsigned int bench_counters, bench_user_counters;
uint32_t bench_source = PERFCTR_SOURCE_NATIVE;

#if !defined(__x86_64__) && !defined(__i386__)

static const unsigned int events[MAX_COUNTERS] = {
#if defined(__riscv)
	EV_INSTRUCTIONS, EV_CYCLES, EV_DTLB_LOAD_MISSES, EV_DTLB_STORE_MISSES,
#elif defined(__powerpc__)
	/* The last two events have counters of their own, PMC3 and PMC2. */
	EV_INSTRUCTIONS, EV_CYCLES, EV_DTLB_LOAD_MISSES, EV_ITLB_LOAD_MISSES,
#else
	/* The emulated machine has no other events. */
	EV_INSTRUCTIONS, EV_CYCLES, EV_INSTRUCTIONS, EV_CYCLES,
#endif
};

void counters_find(void)
{
	struct perfctr_info info;

	if (perfctr_get_info(&info))
		die("perfctr_get_info");
	if (!info.nrctrs) {
		(void)fprintf(stderr, "bench: this processor has no counters\n");
		exit(EXIT_FAILURE);
	}
	bench_counters = MAX_COUNTERS;
	bench_user_counters = MAX_COUNTERS;
}

void read_writes(uint32_t writes[NR_WRITES])
{
	memset(writes, 0, NR_WRITES * sizeof(writes[0]));
}

static uint32_t which_counter(unsigned int i, unsigned int counters)
{
	(void)i;
	(void)counters;
	return PERFCTR_MAP_ANY;
}

static void perf_event(struct perf_event_attr *attr, unsigned int i)
{
	perf_attr_init(attr, events[i]);
}

void counters_set_event(unsigned int i, struct perfctr_ctr_control *ctr)
{
	ctr->event = events[i];
}

#else

#define BRANCHES	0xc4u
#define FIXED		24u	/* number of the first fixed counter */

/*
 * The events of Intel's processors since the Core. counters_find() sets those of other processors.
 */
static uint64_t events[MAX_COUNTERS] = {
	EV_INSTRUCTIONS, EV_CYCLES, BRANCHES, EV_DTLB_LOAD_MISSES,
};
/* What the events of a Pentium 4 need in other registers. */
static struct perfctr_ctr_control more[MAX_COUNTERS];

static unsigned int general_purpose;

/* Finds as many events as there are counters for, which on the P6 are two. */
static void find_events(const struct perfctr_info *info)
{
	static const char * const names[] = {
		"instructions", "cycles", "branches", "L1-dcache-loads",
	};
	unsigned int i;

	for (i = 0; i < general_purpose && i < MAX_COUNTERS; i++) {
		const char *name = i == 3 && perf_is_p4() ? "dTLB-load-misses" : names[i];

		if (perfctr_event_parse(info->cpu_type, name, &more[i]))
			die(name);
		events[i] = more[i].event;
	}
}

void counters_find(void)
{
	struct perfctr_info info;
	unsigned int nr;

	if (perfctr_get_info(&info))
		die("perfctr_get_info");
	general_purpose = (unsigned int)__builtin_popcountll(info.counters & ((1u << FIXED) - 1));
	nr = general_purpose;
	/* Instructions and cycles have fixed counters on processors with fixed counters. */
	if (info.counters >> FIXED)
		nr += 2;
	else
		find_events(&info);
	bench_counters = nr < MAX_COUNTERS ? nr : MAX_COUNTERS;
	/* Without privilege a user gets half of the counters that count any event. */
	nr -= general_purpose - general_purpose / 2;
	bench_user_counters = nr < bench_counters ? nr : bench_counters;
	if (!bench_counters) {
		(void)fprintf(stderr, "bench: this processor has no counters\n");
		exit(EXIT_FAILURE);
	}
}

void read_writes(uint32_t writes[NR_WRITES])
{
	unsigned int all, unused;

	__cpuid(0x40000001, writes[WRMSR], all, writes[CR4], unused);
	writes[WRMSR_OTHER] = all - writes[WRMSR];
}

/*
 * Returns the counter for event @i. perf_events takes the fixed counters first. perfctr takes them
 * only if the other counters are too few.
 */
static uint32_t which_counter(unsigned int i, unsigned int counters)
{
	return i < 2 && counters > general_purpose ? FIXED + i : PERFCTR_MAP_ANY;
}

static void perf_event(struct perf_event_attr *attr, unsigned int i)
{
	static const unsigned int p4[MAX_COUNTERS] = {
		EV_INSTRUCTIONS, EV_CYCLES, EV_INSTRUCTIONS, EV_DTLB_LOAD_MISSES,
	};

	if (perf_is_p4()) {
		perf_attr_init(attr, p4[i]);
		if (i == 2)
			attr->config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
		return;
	}
	perf_attr_init(attr, EV_INSTRUCTIONS);
	attr->type = PERF_TYPE_RAW;
	attr->config = events[i];
}

void counters_set_event(unsigned int i, struct perfctr_ctr_control *ctr)
{
	ctr->event = events[i];
	ctr->config = more[i].config;
	ctr->config1 = more[i].config1;
	ctr->config2 = more[i].config2;
}

#endif

void counters_perf_event(unsigned int i, struct perf_event_attr *attr)
{
	perf_event(attr, i);
}

bool has_topdown(void)
{
	struct perfctr_info info;

	if (perfctr_get_info(&info))
		die("perfctr_get_info");
	return info.cpu_features & PERFCTR_FEATURE_TOPDOWN;
}

/* Returns the number of a TopDown event, which perf uses as well. */
static unsigned int topdown_event(unsigned int i)
{
	return i ? PERFCTR_EVENT_METRIC(i - 1) : PERFCTR_EVENT_SLOTS;
}

static void perfctr_begin(struct counting *counting)
{
	const struct setup *setup = &counting->setup;
	size_t size = offsetof(struct perfctr_control, ctr) +
		      setup->counters * sizeof(struct perfctr_ctr_control);
	/*
	 * The control is no larger than what the kernel gets, since a thread's stack is measured as
	 * well.
	 */
	struct perfctr_control *control = alloca(size);
	unsigned int i;

	memset(control, 0, size);
	control->size = (uint32_t)size;
	control->ctr_offset = offsetof(struct perfctr_control, ctr);
	control->ctr_size = sizeof(control->ctr[0]);
	control->tsc_on = 1;
	control->flags = setup->inherit ? PERFCTR_CONTROL_INHERIT : 0;
	control->source = bench_source;
	control->nractrs = setup->counters;
	for (i = 0; i < setup->counters; i++) {
		control->ctr[i].map = setup->topdown ? PERFCTR_MAP_ANY :
						       which_counter(i, setup->counters);
		if (setup->topdown)
			control->ctr[i].event = topdown_event(i);
		else
			counters_set_event(i, &control->ctr[i]);
		control->ctr[i].flags = PERFCTR_CTR_USER |
					(setup->kernel ? PERFCTR_CTR_KERNEL : 0);
	}
	counting->fds[0] = _vperfctr_open(1);
	if (counting->fds[0] < 0)
		die("perfctr: open");
	if (ioctl(counting->fds[0], PERFCTR_IOC_CONTROL, control))
		die("perfctr: control");
	if (!setup->map)
		return;
	counting->page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, counting->fds[0], 0);
	if (counting->page == MAP_FAILED)
		die("perfctr: mmap");
}

static void perf_begin(struct counting *counting)
{
	const struct setup *setup = &counting->setup;
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < setup->counters; i++) {
		perf_event(&attr, setup->topdown ? 0 : i);
		if (setup->topdown)
			attr.config = topdown_event(i);
		attr.exclude_kernel = !setup->kernel;
		attr.exclude_hv = !setup->kernel;
		attr.inherit = setup->inherit;
		attr.read_format = PERF_FORMAT_GROUP;
		counting->fds[i] = perf_open(&attr, 0, -1, i ? counting->fds[0] : -1);
		if (counting->fds[i] < 0)
			die("perf_event_open");
		if (!setup->map)
			continue;
		counting->perf_pages[i] = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
					       counting->fds[i], 0);
		if (counting->perf_pages[i] == MAP_FAILED)
			die("perf: mmap");
	}
}

void counting_begin(struct counting *counting, const struct setup *setup)
{
	memset(counting, 0, sizeof(*counting));
	counting->setup = *setup;
	if (setup->side == PERFCTR)
		perfctr_begin(counting);
	else if (setup->side == PERF)
		perf_begin(counting);
}

void counting_end(struct counting *counting)
{
	unsigned int i;

	if (counting->setup.side == PERFCTR) {
		if (counting->page)
			munmap((void *)(uintptr_t)counting->page, PAGE);
		ioctl(counting->fds[0], PERFCTR_IOC_UNLINK);
		close(counting->fds[0]);
	} else if (counting->setup.side == PERF) {
		for (i = counting->setup.counters; i-- > 0;) {
			if (counting->perf_pages[i])
				munmap(counting->perf_pages[i], PAGE);
			close(counting->fds[i]);
		}
	}
}

bool is_readable(const struct counting *counting)
{
	return counting->page && counting->page->seq >= 0;
}

const char *bench_param = "";

void module_load(const char *param)
{
	int fd = open("/lib/perfctr.ko", O_RDONLY | O_CLOEXEC);
	char params[128];

	(void)snprintf(params, sizeof(params), "broadcasts=0 %s %s", bench_param, param);
	if (fd < 0 || (syscall(SYS_finit_module, fd, params, 0) && errno != EEXIST))
		die("/lib/perfctr.ko");
	close(fd);
}

void module_unload(void)
{
	unsigned int i;

	/* A thread that has just ended may still use the module. */
	for (i = 0; i < 1000; i++) {
		if (!syscall(SYS_delete_module, "perfctr", O_NONBLOCK) || errno == ENOENT)
			return;
		usleep(1000);
	}
	die("unload");
}

void write_setting(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) < 0 || fclose(file))
		die(path);
}

void set_policy(const char *policy)
{
	write_setting("/sys/module/perfctr/parameters/user_read", policy);
}
