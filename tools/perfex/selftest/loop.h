/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of known length, and the difference of two counts of it: that is the count of the work
 * alone, as all around it is the same.
 */
#ifndef PERFEX_LOOP_H
#define PERFEX_LOOP_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "selftest/checks.h"

/* Two instructions each turn, of which one is a branch */
void spin(unsigned long turns);
/* Off the CPU for a moment, and on again */
void nap(unsigned int ms);
/* By the clock on the wall */
double now(void);

typedef void (*work_t)(unsigned long n);

/**
 * struct counting - something of the calling thread that is counted
 * @fd: its descriptor; -1: it could not be opened
 * @perf: by perf_events
 * @control: what it counts, or why it does not
 * @error: errno then
 */
struct counting {
	int fd;
	bool perf;
	struct perfctr_control control;
	int error;
};

/* One counter of perfctr's; ctr->map says which. start_control(): the control is there. */
bool start(struct counting *c, unsigned int source, const struct perfctr_ctr_control *ctr);
bool start_control(struct counting *c);
/* By name, on any counter: "instructions:u" */
bool start_event(struct counting *c, const struct machine *m, const char *spec);
/* The same event, of perf's; in user mode alone */
bool start_perf(struct counting *c, unsigned int type, uint64_t config);
void stop(struct counting *c);
/* Why it did not start, or cannot be read */
const char *why_not_started(const struct counting *c);
const char *why_unread(const struct counting *c);

/* The counts of work(n), with what is around it; false: they cannot be read. */
bool count(const struct counting *c, work_t work, unsigned long n, uint64_t *counts);

/* What several runs counted of what should always be the same */
struct tally {
	unsigned int runs, exact;
	uint64_t least, most;
};

void tally_add(struct tally *tally, uint64_t count, uint64_t expected);
/* So many runs of work(more) less work(less) */
bool tally(const struct counting *c, unsigned int runs, work_t work, unsigned long less,
	   unsigned long more, uint64_t expected, struct tally *tally);

/*
 * What work(more) counts more than work(less): the fewest of some runs each, which are those
 * without an interrupt, as that may only add to it
 */
bool fewest(const struct counting *c, work_t work, unsigned long less, unsigned long more,
	    uint64_t *least);

/* Runs of all tallies, and how many of them were off though others were exact, by up to so much */
struct runs {
	unsigned int all, off;
	uint64_t most;
};

extern struct runs all_runs;

/* Turns of the loop */
#define SHORT	1000ul
#define LONG	(SHORT + 1000000ul)
#define EXPECTED	((uint64_t)2 * (LONG - SHORT))

/* Says how many of the runs were exact, and between how many switches, if that is known. */
#define NO_SWITCHES	UINT64_MAX
void tell_tally(const char *what, const struct tally *tally, uint64_t expected, uint64_t switches);

/*
 * None was exact: that deviates. Some were: interrupts may be the cause, as they add to the counts
 * of real processors. check_ticks() says by how much, and check_runs() adds up what was off.
 */
void judge_tally(const char *what, const struct tally *tally, uint64_t expected);

#endif /* PERFEX_LOOP_H */
