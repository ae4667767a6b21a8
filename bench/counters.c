// SPDX-License-Identifier: GPL-2.0
/* perfctr and perf_events, set up to count the same. */
#define _GNU_SOURCE
#include "bench.h"

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

#include "perfside.h"

#define PAGE 4096

const unsigned int bench_events[MAX_COUNTERS] = {
	EV_INSTRUCTIONS, EV_CYCLES, EV_DTLB_LOAD_MISSES, EV_DTLB_STORE_MISSES,
};

static void perfctr_begin(struct counting *counting)
{
	const struct setup *setup = &counting->setup;
	struct perfctr_control control;
	size_t size = offsetof(struct perfctr_control, ctr) +
		      setup->counters * sizeof(control.ctr[0]);
	unsigned int i;

	/* No more than is given to the kernel: it is measured. */
	memset(&control, 0, size);
	control.size = (uint32_t)size;
	control.tsc_on = 1;
	control.flags = setup->inherit ? PERFCTR_CONTROL_INHERIT : 0;
	control.nractrs = setup->counters;
	for (i = 0; i < setup->counters; i++) {
		control.ctr[i].map = PERFCTR_MAP_ANY;
		control.ctr[i].event = bench_events[i];
		control.ctr[i].flags = PERFCTR_CTR_USER | (setup->kernel ? PERFCTR_CTR_KERNEL : 0);
	}
	counting->fds[0] = _vperfctr_open(1);
	if (counting->fds[0] < 0)
		die("perfctr: open");
	if (ioctl(counting->fds[0], PERFCTR_IOC_CONTROL, &control))
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
		perf_attr_init(&attr, bench_events[i]);
		attr.exclude_kernel = !setup->kernel;
		attr.exclude_hv = !setup->kernel;
		/* What is inherited cannot be read as a group. */
		attr.inherit = setup->inherit;
		attr.read_format = setup->inherit ? 0 : PERF_FORMAT_GROUP;
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

void module_load(void)
{
	int fd = open("/lib/perfctr.ko", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
		die("/lib/perfctr.ko");
	close(fd);
}

void module_unload(void)
{
	unsigned int i;

	/* What ended a moment ago may still hold it. */
	for (i = 0; i < 1000; i++) {
		if (!syscall(SYS_delete_module, "perfctr", O_NONBLOCK) || errno == ENOENT)
			return;
		usleep(1000);
	}
	die("unload");
}

void set_policy(const char *policy)
{
	FILE *file = fopen("/sys/module/perfctr/parameters/user_read", "we");

	if (!file || fputs(policy, file) < 0 || fclose(file))
		die("user_read");
}
