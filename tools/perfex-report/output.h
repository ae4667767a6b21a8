/* SPDX-License-Identifier: GPL-2.0 */
/* What perfex report and perfex annotate print. */
#ifndef PERFEX_REPORT_OUTPUT_H
#define PERFEX_REPORT_OUTPUT_H

#include <stdio.h>

#include "stacks.h"

/* header.c: what was recorded, and what is missing. Each line begins with @mark. */
void print_header(FILE *f, const char *mark, const struct profile *profile);
/* Prints which objects have no symbols, and why. It knows those that were looked up so far. */
void print_missing(FILE *f, const char *mark, const struct symbols *symbols);
/* Objects that may be other files than were recorded; print_missing() tells it too */
void print_unsure(FILE *f, const char *mark, const struct profile *profile);
/* The command with its arguments */
void print_command(FILE *f, const struct reader *reader, void (*put)(FILE *f, const char *word));

/* text.c: the table, or JSON Lines: an object about the recording, then one for each row */
struct table_how {
	unsigned int by;		/* BY_* */
	unsigned int column;		/* to sort by */
	unsigned int limit;		/* of rows; 0: all */
	bool children;
};

void print_table(FILE *f, const struct symbols *symbols, const struct stacks *stacks,
		 const struct table_how *how);
void json_table(FILE *f, const struct symbols *symbols, const struct stacks *stacks,
		const struct table_how *how);

/* folded.c: "thread;caller;function count", a stack in a line */
void print_folded(FILE *f, const struct stacks *stacks, unsigned int column);

/* svg.c: a flame graph */
void print_svg(FILE *f, const struct stacks *stacks, unsigned int column);

/* annotate.c. False: it has told that no sample is in such a function. */
bool print_annotation(FILE *f, struct symbols *symbols, const char *function, const char *object,
		      unsigned int column);

#endif /* PERFEX_REPORT_OUTPUT_H */
