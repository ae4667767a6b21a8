/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the records add up to: a tree of stacks, each with what was counted there.
 *
 * A SAMPLE has the sums of its thread's counters since the thread began to count. What the thread
 * has counted since its last SAMPLE is counted for the place where it is now. So what is counted
 * for all places together is what the threads had counted by their last SAMPLEs: nothing is
 * estimated.
 */
#ifndef PERFEX_REPORT_PROFILE_H
#define PERFEX_REPORT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "maps.h"
#include "memory.h"
#include "reader.h"

/* What is counted beside the counters: columns nrctrs and nrctrs + 1 */
#define MAX_COLUMNS	(PERFCTR_MAX_CTRS + 2)

/* What code comes from: a file, or something that is none */
struct object {
	const char *path;
	uint64_t inode;
	uint32_t major, minor;
	uint32_t id_size;		/* of the build id; 0: none was recorded */
	uint8_t id[RECFILE_MAX_BUILD_ID];
	bool stamped;			/* a FILE told size and times, ns */
	int64_t size, mtime, ctime;
	bool changed;			/* it was mapped, changed, and mapped again */
	struct elf *elf;		/* symbols.c: what it found */
};

/* Indices of objects that are always there */
#define OBJECT_UNKNOWN	0		/* addresses where nothing was mapped */
#define OBJECT_KERNEL	1
#define OBJECT_THREAD	2		/* the root of a thread's stacks: @address is its name */

#define NO_NODE		UINT32_MAX
#define NO_WEIGHT	UINT32_MAX

/*
 * One place in a stack. @address is an offset in a file, else an address. Of a caller it is one
 * less than where it goes on: that may be behind its end, if what it calls never returns.
 */
struct node {
	uint32_t parent;
	uint32_t object;
	uint64_t address;
	uint32_t weight;		/* what was counted here; NO_WEIGHT: nothing */
};

struct thread {
	int32_t pid, tid;
	uint32_t comm;			/* of texts */
	bool sampled;
	uint64_t *before;		/* its sums at the last SAMPLE; NULL: it begins from zero */
};

struct process {
	int32_t pid;
	struct space space;
};

struct profile {
	const struct reader *reader;
	unsigned int ncolumns;
	struct texts texts;		/* paths and names */

	struct object *objects;
	size_t objects_capacity;
	struct table objects_table;
	struct node *nodes;		/* parents come first */
	size_t nodes_capacity;
	struct table nodes_table;
	uint64_t *weights;		/* @ncolumns each */
	size_t nweights, weights_capacity;

	struct thread *threads;
	size_t threads_capacity;
	struct table threads_table;
	struct process *processes;
	size_t processes_capacity;
	struct table processes_table;
	struct maps maps;

	uint64_t total[MAX_COLUMNS];
	uint64_t samples;
	uint64_t timers;		/* of these: by the timer, no counter had overflown */
	uint64_t unmapped;		/* of these: nothing was mapped where they were */
	uint64_t map_unknown;		/* of these: what was mapped there was not told */
	uint64_t entered;		/* of these: in the kernel, and not told where */
	uint64_t lost;			/* as LOST tells */
	uint64_t throttled;
	uint64_t backwards;		/* sums that were less than the thread's last */
	uint64_t unknown;		/* records of types that are not known */
	uint64_t threads_sampled;
	uint64_t first, last;		/* times of samples, ns */
};

void profile_init(struct profile *profile, const struct reader *reader);
/* Of a record that the reader has found good */
void profile_add(struct profile *profile, const struct perfctr_record *record);
void profile_free(struct profile *profile);

/* The name of a column: an event, "clock" (ticks) or "samples" */
const char *column_name(const struct profile *profile, unsigned int column);
/* Index of the column of that name, or -1 */
int column_find(const struct profile *profile, const char *name);

#endif /* PERFEX_REPORT_PROFILE_H */
