/* SPDX-License-Identifier: GPL-2.0 */
/* A run: how it began, how it ended, and what it counted. */
#ifndef PERFEX_COUNTS_H
#define PERFEX_COUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include "count/events.h"

/* How far a run came: all but RUNNING are failures. */
enum stage {
	STAGE_FORK,
	STAGE_OPEN,
	STAGE_RING,		/* of perfex record */
	STAGE_CONTROL,
	STAGE_EXEC,
	STAGE_TRACE,		/* -p: thread run.pid cannot be traced */
	STAGE_ADD,		/* -p: thread run.pid cannot be counted */
	STAGE_NO_CPU,		/* -C: there is no CPU run.refused */
	STAGE_RUNNING,
};

/**
 * struct run - one run
 * @stage: how far it came
 * @error: errno, if it did not run
 * @owner: after CONTROL failed with EBUSY: PERFCTR_OWNER_*
 * @reason: after CONTROL failed: PERFCTR_REASON_*
 * @bad_event: after CONTROL failed: the index of the event that cannot be counted; -1: each can,
 *	but not all together
 * @refused: the first event that found no free counter
 * @possible: a bit for each counter that could count it; 0: not known
 * @user_only: the user may not count in kernel mode, so it was left out
 * @left_out: a bit for each of the usual events that could not be counted
 * @ring_pages: of the ring of perfex record
 * @ring_flags: PERFCTR_RING_* of that ring
 * @source: of the counters: PERFCTR_SOURCE_*
 * @status: how the program ended, as wait() has it
 * @start: just before the exec, CLOCK_MONOTONIC
 * @end: the same clock at the end
 * @usage: since the start
 * @stop: a signal asked for the end
 * @sums: of all threads, or of the one that is counted
 * @fd: the handle, or -1
 * @pid: of the program's first thread; 0 if no program is run
 * @counted: the sums are those of at least a part of the run
 * @complete: the sums are those of the whole run
 * @why: why they are not
 * @zeroes: a bit for each event whose count of 0 cannot be true
 * @why_zero: what may be the cause
 */
struct run {
	enum stage stage;
	int error;
	unsigned int owner;
	unsigned int reason;
	int bad_event;
	unsigned int refused;
	uint64_t possible;
	bool user_only;
	unsigned int left_out;
	unsigned int ring_pages;
	unsigned int ring_flags;
	unsigned int source;
	int status;
	struct timespec start, end;
	struct rusage usage;
	bool stop;
	struct perfctr_read_tree sums;
	int fd;
	pid_t pid;
	bool counted;
	bool complete;
	const char *why;
	uint64_t zeroes;
	const char *why_zero;
};

/* What had been counted, and how long, when an interval began */
struct moment {
	struct perfctr_read_tree sums;
	double elapsed;
};

double elapsed(const struct run *run);
double seconds(const struct timeval *t);
/* The modes in which @run counted @event: PERFCTR_CTR_USER and PERFCTR_CTR_KERNEL */
unsigned int mode(const struct event *event, const struct run *run);
/* The program failed or was killed, or the counts are not of the whole run. */
bool went_wrong(const struct run *run);
/*
 * Whether @run, and not @worst, decides the exit status of several runs. That is the first run that
 * went wrong, else the first with a count of 0 that cannot be true, else the first.
 */
bool decides(bool first, const struct run *worst, const struct run *run);
/* The exit status of perfex if the program ended by itself */
int exit_status(const struct run *run);
/* Whether event @i was counted */
bool is_counted(const struct run *run, unsigned int i);
/*
 * The next thread of the tree while the handle is open: the root first, unless -p has made it.
 * False: there are no more.
 */
bool next_thread(const struct run *run, char **argv, struct perfctr_member *member, bool first);
bool is_member_counted(const struct perfctr_member *member);

#endif /* PERFEX_COUNTS_H */
