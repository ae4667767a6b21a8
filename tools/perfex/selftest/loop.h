/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs code of known length, and counts it. The difference of two counts is the count of the work
 * alone, as the code around the work is the same.
 */
#ifndef PERFEX_LOOP_H
#define PERFEX_LOOP_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "selftest/checks.h"

/* Runs a loop of two instructions per turn, of which one is a branch. */
void spin(unsigned long turns);
/* Sleeps for @ms milliseconds. */
void nap(unsigned int ms);
/* Returns the seconds of CLOCK_MONOTONIC. */
double now(void);

typedef void (*work_t)(unsigned long n);

/**
 * struct counting - a counter of the calling thread
 * @fd: the counter's descriptor, or -1
 * @perf: the counter belongs to perf_events
 * @control: what the counter counts, or why it could not start
 * @error: errno, if the counter could not start
 */
struct counting {
	int fd;
	bool perf;
	struct perfctr_control control;
	int error;
};

/*
 * Start one counter of perfctr, or return false with the reason in @c. Before start_control(), the
 * caller fills in @c->control.
 */
bool start(struct counting *c, unsigned int source, const struct perfctr_ctr_control *ctr);
bool start_control(struct counting *c);
/* Starts an event by its name, such as "instructions:u", on any counter. */
bool start_event(struct counting *c, const struct machine *m, const char *spec);
/* Starts an event of perf's in user mode. */
bool start_perf(struct counting *c, unsigned int type, uint64_t config);
void stop(struct counting *c);
/* Return why a counter did not start, and why a counter cannot be read. */
const char *why_not_started(const struct counting *c);
const char *why_unread(const struct counting *c);

/* Counts work(n) and the code around it. Returns false if the counters cannot be read. */
bool count(const struct counting *c, work_t work, unsigned long n, uint64_t *counts);

/* The results of several runs whose counts should be equal. */
struct tally {
	unsigned int runs, exact;
	uint64_t least, most;
};

void tally_add(struct tally *tally, uint64_t count, uint64_t expected);
/*
 * Makes a tally of @runs differences between the counts of work(more) and work(less). Returns false
 * if the counter cannot be read.
 */
bool tally(const struct counting *c, unsigned int runs, work_t work, unsigned long less,
	   unsigned long more, uint64_t expected, struct tally *tally);

/*
 * Finds the difference between the lowest count of work(more) and the lowest count of work(less) in
 * ten runs, as an interrupt can only add to a count. Returns false if the counter cannot be read.
 */
bool fewest(const struct counting *c, work_t work, unsigned long less, unsigned long more,
	    uint64_t *least);

/*
 * The runs of all tallies, and the runs that were off while other runs of their tally were exact.
 * @most is the largest deviation.
 */
struct runs {
	unsigned int all, off;
	uint64_t most;
};

extern struct runs all_runs;

/* Numbers of turns of the loop, and the expected difference of their counts. */
#define SHORT	1000ul
#define LONG	(SHORT + 1000000ul)
#define EXPECTED	((uint64_t)2 * (LONG - SHORT))

/* Prints how many runs were exact, and the number of switches unless it is NO_SWITCHES. */
#define NO_SWITCHES	UINT64_MAX
void tell_tally(const char *what, const struct tally *tally, uint64_t expected, uint64_t switches);

/*
 * Judges a tally. If no run was exact, that is a deviation. If only some runs were exact,
 * interrupts may be the cause, as they add to the counts of real processors. check_ticks() says how
 * much they add, and check_runs() how many runs were off.
 */
void judge_tally(const char *what, const struct tally *tally, uint64_t expected);

#endif /* PERFEX_LOOP_H */
