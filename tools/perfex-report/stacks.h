/* SPDX-License-Identifier: GPL-2.0 */
/* Makes the profile with names: a tree of calls, and a table of functions. */
#ifndef PERFEX_REPORT_STACKS_H
#define PERFEX_REPORT_STACKS_H

#include "profile.h"
#include "symbols.h"

/* One function, or a thread's name at the root of the thread's stacks. */
struct named {
	enum frame_kind kind;
	bool is_thread;
	const char *function;
	const char *object;
};

/* A call in the tree. Callers stand before callees. */
struct call {
	uint32_t parent;		/* the caller, or NO_NODE */
	uint32_t named;
	uint32_t first, next;		/* first child, next sibling; or NO_NODE */
	uint32_t weight;		/* index of the call's own counts, or NO_WEIGHT */
};

struct stacks {
	const struct profile *profile;
	struct named *named;
	size_t named_capacity;
	struct table named_table;
	struct call *calls;
	size_t calls_capacity;
	struct table calls_table;
	uint64_t *weights;		/* profile->ncolumns numbers for each weight */
	size_t nweights, weights_capacity;
	uint32_t first;			/* the first root */
};

void stacks_make(struct stacks *stacks, struct symbols *symbols);
void stacks_free(struct stacks *stacks);
/*
 * Returns one column for each call, with the counts of all that it called. The caller frees the
 * array.
 */
uint64_t *stacks_inclusive(const struct stacks *stacks, unsigned int column);
/* Returns what was counted in the call itself, without what it called. */
uint64_t stacks_self(const struct stacks *stacks, uint32_t call, unsigned int column);
/*
 * Returns the next call of a walk, callers first, or NO_NODE at the end. @depth grows by one, or
 * falls by any number.
 */
uint32_t stacks_next(const struct stacks *stacks, uint32_t call, unsigned int *depth);

/* What a row of the table stands for, one bit each. */
#define BY_COMM		1
#define BY_OBJECT	2
#define BY_FUNCTION	4

struct row {
	const char *comm, *object, *function;	/* each is NULL without its BY_* */
	enum frame_kind kind;
	uint64_t self[MAX_COLUMNS];
	uint64_t children[MAX_COLUMNS];		/* counts with callees; each sample once */
};

struct rows {
	struct row *row;
	size_t n, capacity;
	struct table table;
};

/* Makes the rows, sorted by @column of row.children if @children is true, or else of row.self. */
void rows_make(struct rows *rows, const struct stacks *stacks, unsigned int by, unsigned int column,
	       bool children);
void rows_free(struct rows *rows);

#endif /* PERFEX_REPORT_STACKS_H */
