/* SPDX-License-Identifier: GPL-2.0 */
/*
 * perf_event_open() beside us: the independent witness, and the other tenant
 * of the same counters. Debian lets only root use it.
 */
#ifndef PERFCTR_PERFSIDE_H
#define PERFCTR_PERFSIDE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#if defined(__x86_64__) || defined(__i386__)

/*
 * Of Intel's processors; those of TLBs since Skylake. Controls that are made by
 * control_add() and the like have the P6's or AMD's event for cycles where it is theirs.
 */
#define EV_CYCLES		0x003cu
#define EV_INSTRUCTIONS		0x00c0u
#define EV_LIKE_INSTRUCTIONS	EV_INSTRUCTIONS	/* counts the same, beside it */
#define EV_DTLB_LOAD_MISSES	0x0108u
#define EV_DTLB_STORE_MISSES	0x0149u
#define EV_ITLB_LOAD_MISSES	0x0185u
/*
 * Mispredicted branches, which the emulated ones have not. The P6 and AMD's say of no event
 * that they have it not: there this has a bit that is no event's.
 */
#define EV_MISSING		x86_missing

extern unsigned int x86_cycles, x86_missing;

#elif defined(__powerpc__)

/* Events that are the same on all models, on any of at least two counters */
#define EV_CYCLES		1u
#define EV_INSTRUCTIONS		2u
#define EV_LIKE_INSTRUCTIONS	EV_CYCLES
/* Of TLBs there is none: dispatched instructions, transitions of a bit of the timebase, nothing */
#define EV_DTLB_LOAD_MISSES	4u
#define EV_DTLB_STORE_MISSES	3u
#define EV_ITLB_LOAD_MISSES	0u
#define EV_MISSING		0x80u	/* no counter has so many events */

#elif defined(__aarch64__)

/* As PMUv3 numbers them; the emulated machine has the first two. */
#define EV_CYCLES		0x0011u
#define EV_INSTRUCTIONS		0x0008u
#define EV_LIKE_INSTRUCTIONS	EV_CYCLES
#define EV_DTLB_LOAD_MISSES	0x004cu
#define EV_DTLB_STORE_MISSES	0x004du
#define EV_ITLB_LOAD_MISSES	0x0002u
#define EV_MISSING		0x0010u

#else

/* The events of the emulated machine, as the SBI numbers them */
#define EV_CYCLES		0x00001u
#define EV_INSTRUCTIONS		0x00002u
#define EV_LIKE_INSTRUCTIONS	EV_CYCLES
#define EV_DTLB_LOAD_MISSES	0x10019u
#define EV_DTLB_STORE_MISSES	0x1001bu
#define EV_ITLB_LOAD_MISSES	0x10021u
/* Mispredicted branches, which it has not */
#define EV_MISSING		0x00006u

#endif

#if defined(__x86_64__) || defined(__i386__)
/* Is this a Pentium 4, whose raw events have numbers of perf's? */
bool perf_is_p4(void);
#endif

/* Fills in type and config of an EV_*, in user mode only. */
void perf_attr_init(struct perf_event_attr *attr, unsigned int event);

int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group);

/* Counts the event for the calling thread, from now on; -1 with errno. */
int perf_open_self(unsigned int event);

/* One count; UINT64_MAX where perf could not give the counter (pinned events). */
uint64_t perf_read_one(int fd);

/* Samples of an event in user mode, for the calling thread or as perf_event_open() has it */
struct perf_sampling {
	int fd;
	struct perf_event_mmap_page *ring;
};

bool perf_sampling_begin(struct perf_sampling *sampling, unsigned int event, uint64_t period);
bool perf_sampling_begin_at(struct perf_sampling *sampling, unsigned int event, uint64_t period,
			    pid_t pid, int cpu);
/* How many there are so far */
uint64_t perf_sampling_count(const struct perf_sampling *sampling);
/* Ends it, and returns how many there were. */
uint64_t perf_sampling_end(struct perf_sampling *sampling);

/*
 * Takes programmable counters of @cpu through perf, one by one with pinned
 * events until one is not had, or @max are. Fills @fds, returns how many.
 */
unsigned int perf_take_counters(unsigned int cpu, int *fds, unsigned int max);
/* The same with an event of one's choice, which may also have a fixed counter; or with these attributes. */
unsigned int perf_take_by(unsigned int event, unsigned int cpu, int *fds, unsigned int max);
unsigned int perf_take(struct perf_event_attr *attr, unsigned int cpu, int *fds, unsigned int max);
void perf_give_counters(int *fds, unsigned int n);

#endif /* PERFCTR_PERFSIDE_H */
