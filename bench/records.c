// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what a sample that is written to a ring adds to a loop of known length, from the
 * interrupt on. Both sides write where the sample was taken, the thread, the time, the CPU, and all
 * counters. With _chain they also write the callers in user mode, by frame pointers. Nobody reads
 * meanwhile, as the rings are large enough.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <libperfctr.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit/perfside.h"

#define RECORDS 1000
#define PERIOD 30011	/* a prime; the samples in a second are far from too many for either side */
#define RING_PAGES 256
#define DEPTH 16

struct setting {
	enum side side;
	unsigned int counters;
	bool chain;
};

struct ring {
	int fd[MAX_COUNTERS];
	void *map;
	size_t size;
};

static void ours_begin(const struct setting *setting, struct ring *ring)
{
	struct perfctr_ring wanted = {
		.size = sizeof(wanted),
		.pages = RING_PAGES,
		.flags = setting->chain ? PERFCTR_RING_USER_CHAIN : 0,
		.user_depth = setting->chain ? DEPTH : 0,
	};
	struct perfctr_control control = {
		PERFCTR_CONTROL_INIT,
		.tsc_on = 1,
		.flags = PERFCTR_CONTROL_RECORD,
		.nractrs = setting->counters - 1,
		.nrictrs = 1,
	};
	unsigned int i;

	for (i = 0; i < setting->counters; i++) {
		control.ctr[i] = (struct perfctr_ctr_control){
			.map = PERFCTR_MAP_ANY,
			.flags = PERFCTR_CTR_USER,
			.ireset = i == setting->counters - 1 ? -PERIOD : 0,
		};
		/* The counter that interrupts is perfctr's last one, and perf's first one. */
		counters_set_event((i + 1) % setting->counters, &control.ctr[i]);
	}
	ring->fd[0] = _vperfctr_open(1);
	if (ring->fd[0] < 0)
		die("perfctr: open");
	if (ioctl(ring->fd[0], PERFCTR_IOC_RING, &wanted))
		die("perfctr: ring");
	ring->map = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd[0],
			 PERFCTR_RING_OFFSET);
	if (ring->map == MAP_FAILED)
		die("perfctr: mmap");
	if (ioctl(ring->fd[0], PERFCTR_IOC_CONTROL, &control))
		die("perfctr: control");
}

static unsigned int ours_end(struct ring *ring)
{
	const struct perfctr_ring_page *page = ring->map;
	const char *data = (const char *)ring->map + page->offset;
	unsigned int records = 0;
	uint32_t at;

	ioctl(ring->fd[0], PERFCTR_IOC_UNLINK);
	for (at = 0; at < page->head; records++)
		at += ((const struct perfctr_record *)(data + at))->size;
	return records;
}

static void perfs_begin(const struct setting *setting, struct ring *ring)
{
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < setting->counters; i++) {
		counters_perf_event(i, &attr);
		attr.exclude_kernel = 1;
		attr.exclude_hv = 1;
		attr.exclude_callchain_kernel = 1;
		attr.sample_max_stack = setting->chain ? DEPTH : 0;
		attr.read_format = PERF_FORMAT_GROUP;
		attr.disabled = !i;
		if (!i) {
			attr.sample_period = PERIOD;
			attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					   PERF_SAMPLE_CPU | PERF_SAMPLE_READ |
					   (setting->chain ? PERF_SAMPLE_CALLCHAIN : 0);
			attr.watermark = 1;
			attr.wakeup_watermark = 1u << 30;
		}
		ring->fd[i] = perf_open(&attr, 0, -1, i ? ring->fd[0] : -1);
		if (ring->fd[i] < 0)
			die("perf_event_open");
	}
	ring->map = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd[0], 0);
	if (ring->map == MAP_FAILED)
		die("perf: mmap");
	if (ioctl(ring->fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP))
		die("PERF_EVENT_IOC_ENABLE");
}

static unsigned int perfs_end(struct ring *ring)
{
	const struct perf_event_mmap_page *page = ring->map;
	const char *data = (const char *)ring->map + page->data_offset;
	unsigned int records = 0;
	uint64_t at;

	ioctl(ring->fd[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	for (at = 0; at < page->data_head; records++)
		at += ((const struct perf_event_header *)(data + at))->size;
	return records;
}

/* Runs a loop of two instructions per turn. Returns the time that it takes. */
static __attribute__((noinline, optimize("no-omit-frame-pointer")))
uint64_t spin(unsigned long turns)
{
	uint64_t start = now_ns();

	while (turns) {
		__asm__ volatile("" : "+r" (turns));
		turns--;
	}
	return now_ns() - start;
}

static __attribute__((noinline, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))
uint64_t outer(unsigned long turns)
{
	uint64_t time = spin(turns);

	__asm__ volatile("");
	return time;
}

static double measure_record(const void *arg)
{
	const struct setting *setting = arg;
	struct ring ring = { .size = (1 + RING_PAGES) * (size_t)sysconf(_SC_PAGESIZE) };
	unsigned long turns = RECORDS * (unsigned long)PERIOD / 2;
	unsigned int records, i;
	uint64_t alone, time;

	alone = outer(turns);
	if (setting->side == PERF)
		perfs_begin(setting, &ring);
	else
		ours_begin(setting, &ring);
	time = outer(turns);
	records = setting->side == PERF ? perfs_end(&ring) : ours_end(&ring);
	munmap(ring.map, ring.size);
	for (i = 0; i < (setting->side == PERF ? setting->counters : 1); i++)
		close(ring.fd[i]);
	if (records < RECORDS - 2) {
		(void)fprintf(stderr, "bench: %u records of %u\n", records, RECORDS);
		exit(EXIT_FAILURE);
	}
	return (double)(time - alone) / records;
}

static void measure(const char *name, unsigned int counters, bool chain)
{
	struct setting ours = { PERFCTR, counters, chain }, perfs = { PERF, counters, chain };
	double perf = settled_within(measure_record, &perfs, 0.02);

	report(name, counters, settled_within(measure_record, &ours, 0.02), perf, perf / 2, "insn");
}

void bench_records(void)
{
	/* Without these settings perf would lower the rate if a sample takes long. */
	write_setting("/proc/sys/kernel/perf_event_max_sample_rate", "1000000");
	write_setting("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	write_setting("/proc/sys/kernel/perf_event_mlock_kb", "16384");
	measure("record", 1, false);
	if (bench_counters > 1)
		measure("record", bench_counters, false);
	measure("record_chain", 1, true);
}
