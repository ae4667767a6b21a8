/* SPDX-License-Identifier: GPL-2.0 */
/* Describes a run: how it began, how it ended, and what it counted. */
#ifndef PERFEX_COUNTS_H
#define PERFEX_COUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include "count/events.h"

/* The point that a run has reached. A run that ends before STAGE_RUNNING has failed. */
enum stage {
	STAGE_FORK,
	STAGE_OPEN,
	STAGE_RING,		/* perfex record: the ring could not be made */
	STAGE_CONTROL,
	STAGE_EXEC,
	STAGE_TRACE,		/* -p: thread run.pid cannot be traced */
	STAGE_ADD,		/* -p: thread run.pid cannot be counted */
	STAGE_NO_CPU,		/* -C: there is no CPU run.refused */
	STAGE_RUNNING,
};

/**
 * struct run - one run
 * @stage: the point that the run has reached
 * @error: errno, if the run failed
 * @owner: PERFCTR_OWNER_*, after CONTROL failed with EBUSY
 * @reason: PERFCTR_REASON_*, after CONTROL failed
 * @bad_event: the index of the event that cannot be counted, after CONTROL failed; -1 if each event
 *	can be counted alone, but not all together
 * @refused: the index of the first event that found no free counter; -C: the CPU that is missing
 * @possible: a bit for each counter that could count the refused event; 0: not known
 * @user_only: only user mode is counted, since the user may not count kernel mode
 * @left_out: a bit for each of the usual events that could not be counted
 * @ring_pages: number of pages of the ring of perfex record
 * @ring_flags: PERFCTR_RING_* of the ring
 * @source: the source of the counters, PERFCTR_SOURCE_*
 * @status: how the program ended, as wait(2) reports
 * @start: the time just before the exec, by CLOCK_MONOTONIC
 * @end: the time at the end of the run, by CLOCK_MONOTONIC
 * @usage: the process's resource usage since @start
 * @stop: a signal asked perfex to end
 * @sums: the sums of all threads; with --self, of the first thread
 * @fd: the handle, or -1
 * @pid: the program's first thread; 0 if no program is run
 * @counted: the sums cover at least a part of the run
 * @complete: the sums cover the whole run
 * @why: why the sums do not cover the whole run
 * @zeroes: a bit for each event whose count of 0 cannot be true
 * @why_zero: the likely cause of such a count
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

/* The sums and the time that had elapsed when an interval began. */
struct moment {
	struct perfctr_read_tree sums;
	double elapsed;
};

double elapsed(const struct run *run);
double seconds(const struct timeval *t);
/* Returns the modes in which @run counted @event: PERFCTR_CTR_USER, PERFCTR_CTR_KERNEL or both. */
unsigned int mode(const struct event *event, const struct run *run);
/* Returns true if the program failed or was killed, or if the counts do not cover the whole run. */
bool went_wrong(const struct run *run);
/*
 * Returns true if @run, and not @worst, decides the exit status of several runs. The first run that
 * went wrong decides. If all went well, the first run with a count of 0 that cannot be true
 * decides, or else the first run.
 */
bool decides(bool first, const struct run *worst, const struct run *run);
/* Returns the exit status of perfex for a program that no signal killed. */
int exit_status(const struct run *run);
/* Returns true if event @i was counted. */
bool is_counted(const struct run *run, unsigned int i);
/*
 * Finds the next thread of the tree while the handle is open. The program's first thread comes
 * first; with -p there is no such thread. Returns false if there are no more threads.
 */
bool next_thread(const struct run *run, char **argv, struct perfctr_member *member, bool first);
/* Returns true if the thread was counted at least for a part of its life. */
bool is_member_counted(const struct perfctr_member *member);

#endif /* PERFEX_COUNTS_H */
