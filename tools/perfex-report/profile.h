/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps a tree of stacks with counts.
 *
 * A SAMPLE has the sums of its thread's counters. What the thread has counted since its previous
 * SAMPLE is added to the stack of this SAMPLE. So all stacks together have exactly what the threads
 * had counted by their last SAMPLEs, and nothing is estimated.
 */
#ifndef PERFEX_REPORT_PROFILE_H
#define PERFEX_REPORT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "maps.h"
#include "memory.h"
#include "reader.h"

/* The most columns: the counters, the clock, and the samples. */
#define MAX_COLUMNS	(PERFCTR_MAX_CTRS + 2)

/* A file with code, or something else that has code. */
struct object {
	const char *path;
	uint64_t inode;
	uint32_t major, minor;
	uint32_t id_size;		/* bytes of the build id, or 0 */
	uint8_t id[RECFILE_MAX_BUILD_ID];
	bool stamped;			/* a FILE record had size and times (ns) */
	int64_t size, mtime, ctime;
	bool changed;			/* the file changed between two maps */
	struct elf *elf;		/* the state of symbols.c */
};

/* The indices of objects that always exist. */
#define OBJECT_UNKNOWN	0		/* nothing was mapped at the address */
#define OBJECT_KERNEL	1
#define OBJECT_THREAD	2		/* root of a thread's stacks; @address: the thread's name */

#define NO_NODE		UINT32_MAX
#define NO_WEIGHT	UINT32_MAX

/*
 * One place in a stack. @address is an offset in a file, or an address if there is no file. For a
 * caller, @address is the return address minus one, since the return address may lie behind the
 * caller's end if the callee never returns.
 */
struct node {
	uint32_t parent;
	uint32_t object;
	uint64_t address;
	uint32_t weight;		/* index of its counts, or NO_WEIGHT */
};

struct thread {
	int32_t pid, tid;
	uint32_t comm;			/* index of the name in texts */
	bool sampled;
	uint64_t *before;		/* sums at the thread's last SAMPLE; NULL: zeros */
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
	struct node *nodes;		/* parents stand before their children */
	size_t nodes_capacity;
	struct table nodes_table;
	uint64_t *weights;		/* @ncolumns numbers for each weight */
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
	uint64_t timers;		/* samples at which no counter had overflowed */
	uint64_t unmapped;		/* samples at places where nothing was mapped */
	uint64_t map_unknown;		/* samples for which the maps were not known */
	uint64_t entered;		/* samples somewhere in the kernel */
	uint64_t lost;			/* number of lost records, from LOST records */
	uint64_t throttled;
	uint64_t backwards;		/* sums that were smaller than the thread's last ones */
	uint64_t unknown;		/* records of unknown types */
	uint64_t threads_sampled;
	uint64_t first, last;		/* times of samples, ns */
};

void profile_init(struct profile *profile, const struct reader *reader);
/* Adds a record, which the reader has checked. */
void profile_add(struct profile *profile, const struct perfctr_record *record);
void profile_free(struct profile *profile);

/* Returns the name of a column: an event, "clock" (ticks) or "samples". */
const char *column_name(const struct profile *profile, unsigned int column);
/* Returns the index of the column of that name, or -1. */
int column_find(const struct profile *profile, const char *name);

#endif /* PERFEX_REPORT_PROFILE_H */
