/* SPDX-License-Identifier: GPL-2.0 */
/* What perfex report and perfex annotate print */
#ifndef PERFEX_REPORT_OUTPUT_H
#define PERFEX_REPORT_OUTPUT_H

#include <stdio.h>

#include "stacks.h"

/* header.c: what was recorded, and what must be known of it. @mark begins each line. */
void print_header(FILE *f, const char *mark, const struct profile *profile);
/* Which objects have no symbols, and why; after they were asked for */
void print_missing(FILE *f, const char *mark, const struct symbols *symbols);
/* Which may be other files than were recorded: print_missing() has it; other forms tell it beside. */
void print_unsure(FILE *f, const char *mark, const struct profile *profile);
/* The command with its arguments, in one line */
void print_command(FILE *f, const struct reader *reader, void (*put)(FILE *f, const char *word));

/* text.c: the table, or JSON Lines: an object about the recording, then one for each row */
struct table_how {
	unsigned int by;		/* BY_* */
	unsigned int column;		/* sorted by */
	unsigned int limit;		/* most rows; 0: all */
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

/* annotate.c: false: there is no such function in the samples, which is told */
bool print_annotation(FILE *f, struct symbols *symbols, const char *function, const char *object,
		      unsigned int column);

#endif /* PERFEX_REPORT_OUTPUT_H */
