/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of known length. The difference of two counts of it is the count of the work alone, as the
 * code around it is the same.
 */
#ifndef PERFEX_LOOP_H
#define PERFEX_LOOP_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "selftest/checks.h"

/* Two instructions a turn; one is a branch. */
void spin(unsigned long turns);
/* Leaves the CPU for a moment. */
void nap(unsigned int ms);
/* Seconds of CLOCK_MONOTONIC */
double now(void);

typedef void (*work_t)(unsigned long n);

/**
 * struct counting - a counter of the calling thread
 * @fd: its descriptor, or -1
 * @perf: it is perf_events'
 * @control: what it counts, or why it could not start
 * @error: errno, if it could not start
 */
struct counting {
	int fd;
	bool perf;
	struct perfctr_control control;
	int error;
};

/* One counter of perfctr's. start_control(): @c->control is filled in. */
bool start(struct counting *c, unsigned int source, const struct perfctr_ctr_control *ctr);
bool start_control(struct counting *c);
/* By name, on any counter: "instructions:u" */
bool start_event(struct counting *c, const struct machine *m, const char *spec);
/* An event of perf's, in user mode */
bool start_perf(struct counting *c, unsigned int type, uint64_t config);
void stop(struct counting *c);
/* Why it did not start, and why it cannot be read */
const char *why_not_started(const struct counting *c);
const char *why_unread(const struct counting *c);

/* The counts of work(n) and of the code around it. False: they cannot be read. */
bool count(const struct counting *c, work_t work, unsigned long n, uint64_t *counts);

/* Several runs whose counts should be the same */
struct tally {
	unsigned int runs, exact;
	uint64_t least, most;
};

void tally_add(struct tally *tally, uint64_t count, uint64_t expected);
/* @runs differences of work(more) and work(less). False: they cannot be read. */
bool tally(const struct counting *c, unsigned int runs, work_t work, unsigned long less,
	   unsigned long more, uint64_t expected, struct tally *tally);

/*
 * The difference of work(more) and work(less), each the lowest count of some runs: an interrupt can
 * only add to a count.
 */
bool fewest(const struct counting *c, work_t work, unsigned long less, unsigned long more,
	    uint64_t *least);

/* Runs of all tallies: how many were off although others were exact, and by how much at most */
struct runs {
	unsigned int all, off;
	uint64_t most;
};

extern struct runs all_runs;

/* Turns of the loop */
#define SHORT	1000ul
#define LONG	(SHORT + 1000000ul)
#define EXPECTED	((uint64_t)2 * (LONG - SHORT))

/* Prints how many runs were exact, and the number of switches, if it is known. */
#define NO_SWITCHES	UINT64_MAX
void tell_tally(const char *what, const struct tally *tally, uint64_t expected, uint64_t switches);

/*
 * If no run was exact, that is a deviation. If some were not, interrupts may be the cause, as they
 * add to the counts of real processors: check_ticks() tells how much, and check_runs() how many
 * runs were off.
 */
void judge_tally(const char *what, const struct tally *tally, uint64_t expected);

#endif /* PERFEX_LOOP_H */
