/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of perfex know of each other. */
#ifndef PERFEX_H
#define PERFEX_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include <libperfctr.h>

#define PERFEX_VERSION	"7.0.0"

/* Our own exit status beside the program's, as env, nohup and timeout have it */
#define EXIT_PERFEX	125
#define EXIT_NOT_EXECUTABLE	126
#define EXIT_NOT_FOUND	127

struct event {
	char name[64];			/* as given, without modifier */
	struct perfctr_ctr_control ctr;
	bool modifier;			/* the user said in which mode */
};

struct events {
	struct event event[PERFCTR_MAX_CTRS];
	unsigned int n;
	bool chosen;			/* by the user; else what is usual */
};

/* What the options say of a run */
struct how {
	bool self;			/* the program's first thread only */
	bool per_thread;		/* each thread's counts as well */
	bool json;
	bool raw_csr;			/* rdcycle and rdinstret are legal */
	unsigned int interval;		/* ms between reads on the way; 0: none */
	unsigned int repeat;		/* how many runs; 1 without -r */
};

/* How far the child came */
enum stage {
	STAGE_FORK,
	STAGE_OPEN,
	STAGE_CONTROL,
	STAGE_EXEC,
	STAGE_RUNNING,
};

struct run {
	/* How it began; all but RUNNING have an error */
	enum stage stage;
	int error;
	unsigned int owner;		/* of CONTROL with EBUSY: PERFCTR_OWNER_* */
	int bad_event;			/* of CONTROL: which one, -1 unknown */
	bool user_only;			/* kernel mode was left out, not being allowed */
	bool clock_only;		/* the usual events could not be counted */

	/* How it ended */
	int status;			/* as of wait() */
	struct timespec start, end;	/* CLOCK_MONOTONIC */
	struct rusage usage;
	struct perfctr_read_tree sums;	/* of one thread as well */
	int fd;				/* the handle, or -1 */
	pid_t pid;			/* of the program's first thread */
	bool complete;			/* the sums are of the whole run */
	const char *why;		/* if not, why */
};

/* Several runs: mean and standard deviation of each number */
struct statistic {
	double n, mean, squares;
};

/* The events, then the clock, then the elapsed time */
struct statistics {
	struct statistic number[PERFCTR_MAX_CTRS + 2];
};

/*
 * run.c: runs the program under the counters, and tells f of each interval.
 * Returns -1 if it did not start. run_end() gives back what a run has.
 */
int run_program(char **argv, struct events *events, const struct how *how,
		const struct perfctr_info *info, FILE *f, struct run *run);
void run_end(struct run *run);
/* After EBUSY: PERFCTR_OWNER_*, who has what the handle was to get */
unsigned int find_owner(int fd);

/* report.c: on stdout */
void print_report(const struct perfctr_info *info);

/* perfex.c: likewise */
void print_info(const struct perfctr_info *info);

/* output.c */
void print_text(FILE *f, char **argv, const struct perfctr_info *info,
		const struct events *events, const struct how *how, const struct run *run);
void print_json(FILE *f, char **argv, const struct perfctr_info *info,
		const struct events *events, const struct how *how, const struct run *run);
/* What was counted since the interval before; both are of the whole run so far. */
void print_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		    const struct how *how, const struct run *run,
		    const struct perfctr_read_tree *before);
void statistics_add(struct statistics *statistics, const struct events *events,
		    const struct run *run);
void print_statistics(FILE *f, char **argv, const struct perfctr_info *info,
		      const struct events *events, const struct how *how,
		      const struct run *run, const struct statistics *statistics);
void print_list(const struct perfctr_info *info);

/* explain.c: on stderr, what is wrong and what to do about it; or as a text, without an end */
void explain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void explain_device(int error);
void explain_event(const struct perfctr_info *info, const char *spec, int error);
void explain_missing_event(const struct perfctr_info *info, const char *name);
void explain_too_many(const struct perfctr_info *info, unsigned int n);
const char *why_unbound(void);
const char *why_busy(const struct perfctr_info *info, unsigned int owner);
void explain_run(const struct run *run, char **argv, const struct perfctr_info *info,
		 const struct events *events);

#endif /* PERFEX_H */
