/* SPDX-License-Identifier: GPL-2.0 */
/* Declares what perfex report and perfex annotate print. */
#ifndef PERFEX_REPORT_OUTPUT_H
#define PERFEX_REPORT_OUTPUT_H

#include <stdio.h>

#include "stacks.h"

/* header.c: prints what was recorded, and what is missing. Each line begins with @mark. */
void print_header(FILE *f, const char *mark, const struct profile *profile);
/*
 * header.c: prints which objects have no symbols, and why. Only objects that have been looked up so
 * far are known.
 */
void print_missing(FILE *f, const char *mark, const struct symbols *symbols);
/*
 * header.c: prints the objects that may be other files than were recorded. print_missing() prints
 * them too.
 */
void print_unsure(FILE *f, const char *mark, const struct profile *profile);
/* header.c: prints the command with its arguments. */
void print_command(FILE *f, const struct reader *reader, void (*put)(FILE *f, const char *word));

/*
 * text.c: how to print the table. In JSON Lines, the first object is about the recording, and each
 * further object is a row.
 */
struct table_how {
	unsigned int by;		/* BY_* */
	unsigned int column;		/* the column to sort by */
	unsigned int limit;		/* most rows to print; 0: all */
	bool children;
};

void print_table(FILE *f, const struct symbols *symbols, const struct stacks *stacks,
		 const struct table_how *how);
void json_table(FILE *f, const struct symbols *symbols, const struct stacks *stacks,
		const struct table_how *how);

/* folded.c: prints stacks as "thread;caller;function count", one per line. */
void print_folded(FILE *f, const struct stacks *stacks, unsigned int column);

/* svg.c: prints a flame graph. */
void print_svg(FILE *f, const struct stacks *stacks, unsigned int column);

/*
 * annotate.c: prints the counts in a function. Returns false after printing that no sample is in
 * such a function.
 */
bool print_annotation(FILE *f, struct symbols *symbols, const char *function, const char *object,
		      unsigned int column);

#endif /* PERFEX_REPORT_OUTPUT_H */
