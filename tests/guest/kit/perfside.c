// SPDX-License-Identifier: GPL-2.0
/* perf_event_open() for the tests; see perfside.h. */
#define _GNU_SOURCE
#include "kit/perfside.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The control page and 8 for samples */
#define RING_SIZE (9ul * 4096)

#define CACHE_EVENT(cache, op, result) \
	((cache) | ((op) << 8) | ((result) << 16))

#if defined(__x86_64__) || defined(__i386__)

unsigned int x86_cycles = EV_CYCLES, x86_missing = 0x00c5;

static void __attribute__((constructor)) find_events(void)
{
	unsigned int most, b, c, d;

	__cpuid(0, most, b, c, d);
	(void)c;
	(void)d;
	if (b == signature_AMD_ebx)
		x86_cycles = 0x0076;
	else if (most >= 10) /* architectural performance monitoring */
		return;
	else
		x86_cycles = 0x0079;
	x86_missing |= 1u << 21;
}

bool perf_is_p4(void)
{
	unsigned int a, b, c, d;

	__cpuid(0, a, b, c, d);
	if (b != signature_INTEL_ebx)
		return false;
	__cpuid(1, a, b, c, d);
	(void)b;
	(void)c;
	(void)d;
	return (a >> 8 & 0xf) == 15;
}

#endif

void perf_attr_init(struct perf_event_attr *attr, unsigned int event)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->type = PERF_TYPE_HW_CACHE;
	switch (event) {
	case EV_CYCLES:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = PERF_COUNT_HW_CPU_CYCLES;
		break;
	case EV_INSTRUCTIONS:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = PERF_COUNT_HW_INSTRUCTIONS;
		break;
#if defined(__powerpc__)
	default:
		attr->type = PERF_TYPE_RAW;
		attr->config = event;
		break;
#else
	case EV_DTLB_LOAD_MISSES:
		attr->config = CACHE_EVENT(PERF_COUNT_HW_CACHE_DTLB,
					   PERF_COUNT_HW_CACHE_OP_READ,
					   PERF_COUNT_HW_CACHE_RESULT_MISS);
		break;
	case EV_DTLB_STORE_MISSES:
		attr->config = CACHE_EVENT(PERF_COUNT_HW_CACHE_DTLB,
					   PERF_COUNT_HW_CACHE_OP_WRITE,
					   PERF_COUNT_HW_CACHE_RESULT_MISS);
		break;
	default:
		attr->config = CACHE_EVENT(PERF_COUNT_HW_CACHE_ITLB,
					   PERF_COUNT_HW_CACHE_OP_READ,
					   PERF_COUNT_HW_CACHE_RESULT_MISS);
		break;
#endif
	}
}

int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
}

int perf_open_self(unsigned int event)
{
	struct perf_event_attr attr;

	perf_attr_init(&attr, event);
	return perf_open(&attr, 0, -1, -1);
}

uint64_t perf_read_one(int fd)
{
	uint64_t count;

	/* A pinned event that could not be had reads as end of file. */
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return UINT64_MAX;
	return count;
}

bool perf_sampling_begin_at(struct perf_sampling *sampling, unsigned int event, uint64_t period,
			    pid_t pid, int cpu)
{
	struct perf_event_attr attr;

	perf_attr_init(&attr, event);
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	sampling->fd = perf_open(&attr, pid, cpu, -1);
	if (sampling->fd < 0)
		return false;
	sampling->ring = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			      sampling->fd, 0);
	if (sampling->ring != MAP_FAILED)
		return true;
	close(sampling->fd);
	return false;
}

bool perf_sampling_begin(struct perf_sampling *sampling, unsigned int event, uint64_t period)
{
	return perf_sampling_begin_at(sampling, event, period, 0, -1);
}

uint64_t perf_sampling_count(const struct perf_sampling *sampling)
{
	/* A sample is a header of 8 bytes and the address. */
	return ((const volatile struct perf_event_mmap_page *)sampling->ring)->data_head / 16;
}

uint64_t perf_sampling_end(struct perf_sampling *sampling)
{
	uint64_t samples = perf_sampling_count(sampling);

	munmap(sampling->ring, RING_SIZE);
	close(sampling->fd);
	return samples;
}

unsigned int perf_take_by(unsigned int event, unsigned int cpu, int *fds, unsigned int max)
{
	struct perf_event_attr attr;

	perf_attr_init(&attr, event);
	return perf_take(&attr, cpu, fds, max);
}

unsigned int perf_take(struct perf_event_attr *attr, unsigned int cpu, int *fds, unsigned int max)
{
	unsigned int n;

	attr->pinned = 1;
	for (n = 0; n < max; n++) {
		fds[n] = perf_open(attr, -1, (int)cpu, -1);
		if (fds[n] < 0)
			break;
		if (perf_read_one(fds[n]) == UINT64_MAX) {
			close(fds[n]);
			break;
		}
	}
	return n;
}

unsigned int perf_take_counters(unsigned int cpu, int *fds, unsigned int max)
{
	/*
	 * A TLB event: the firmware gives out fixed counters for instructions and cycles when
	 * the programmable ones have run out. It is also the only TLB event that the P6 has.
	 */
	return perf_take_by(EV_ITLB_LOAD_MISSES, cpu, fds, max);
}

void perf_give_counters(int *fds, unsigned int n)
{
	while (n)
		close(fds[--n]);
}
