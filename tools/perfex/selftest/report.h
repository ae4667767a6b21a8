/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of perfex --report share: the machine, the checks and what they say. */
#ifndef PERFEX_REPORT_H
#define PERFEX_REPORT_H

#include <linux/perf_event.h>

#include "perfex.h"

/* A line is as perfctr_info_print() has it. */
#define KEY "%-23s "

/* x86: the first fixed counter; see perfctr_info.counters. */
#define X86_FIXED	24u

/* What a check needs. What the machine lacks of it is the reason why the check is not made. */
#define NEED_COUNT	0x01	/* instructions in user mode are counted, by any source */
#define NEED_NATIVE	0x02	/* ... by the module's own driver */
#define NEED_ROOT	0x04
#define NEED_PERF	0x08	/* perf_event_open() is allowed */
#define NEED_INTERRUPT	0x10	/* counters interrupt as they overflow */
#define NEED_RDPMC	0x20	/* counters are read in user mode */
#define NEED_HOTPLUG	0x40	/* the option --hotplug */
#define NEED_SLEEP	0x80	/* the option --sleep */

/**
 * struct machine - where the checks are made
 * @info: what the module says of it
 * @how: options
 * @has: NEED_*
 * @source: by which instructions are counted now: PERFCTR_SOURCE_*
 * @why_not: if they are not, or not natively, why
 * @firmware: that is why not
 * @cpu: where the checks run
 */
struct machine {
	const struct perfctr_info *info;
	const struct report_options *how;
	unsigned int has;
	unsigned int source;
	const char *why_not;
	bool firmware;
	unsigned int cpu;
};

struct check {
	const char *title;
	unsigned int needs;
	void (*make)(const struct machine *m);
};

/* checks.c: makes them one by one, and counts what deviates. */
void make_checks(const struct check *checks, size_t n, const struct machine *m);
/* A line of a check */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line that is a deviation: one sentence with its number, which the verdict repeats */
void deviates(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The check cannot be made after all. */
void not_made(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_verdict(const struct machine *m);

/*
 * loop.c: code of known length, and the difference of two counts, which is that of the work
 * alone as all around it is the same
 */

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

/* check_*.c; check_ticks() finds whether instructions are counted too many at interrupts. */
extern bool interrupts_add;
void check_unclaimed(const struct machine *m);
void check_loop(const struct machine *m);
void check_every_counter(const struct machine *m);
void check_kernel_mode(const struct machine *m);
void check_events(const struct machine *m);
void check_ref_cycles(const struct machine *m);
void check_page_faults(const struct machine *m);
void check_system_calls(const struct machine *m);
void check_ticks(const struct machine *m);
void check_runs(const struct machine *m);
void check_overflows(const struct machine *m);
void check_short_periods(const struct machine *m);
void check_wrap(const struct machine *m);
void check_beside_perf(const struct machine *m);
void check_exclusion(const struct machine *m);
void check_registers_kept(const struct machine *m);
void check_hotplug(const struct machine *m);
void check_sleep(const struct machine *m);

/* report_x86.c */
#if IS_X86
void check_promises(const struct machine *m);
void check_load(const struct machine *m);
void check_read_cost(const struct machine *m);
void check_constraints(const struct machine *m);
void check_hyperthreads(const struct machine *m);
void print_left_alone(const struct perfctr_info *info);
void print_cpuid(void);
void print_costs(void);
#endif

#endif /* PERFEX_REPORT_H */
