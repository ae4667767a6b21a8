/* SPDX-License-Identifier: GPL-2.0 */
/* Counts as CSV for programs, a number in each line. */
#ifndef PERFEX_CSV_H
#define PERFEX_CSV_H

#include <stdio.h>

#include "out/series.h"

void csv_run(FILE *f, char **argv, const struct perfctr_info *info,
	     const struct events *events, const struct how *how, const struct run *run);
void csv_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		  const struct how *how, const struct run *run, const struct moment *before);
void csv_series(FILE *f, const struct how *how, const struct run *run, const struct series *series);

/* Parts of these, for comparisons and perfex merge */
/* A number of @value's kind; nothing if it is not known */
void csv_number(FILE *f, const struct value *value, bool known, double number);
/* Three fields: name, mode and unit */
void csv_value(FILE *f, bool first, const struct value *value);
/* The fields from "runs" to "maximum" */
void csv_summary(FILE *f, const struct value *value, const struct summary *summary,
		 unsigned int failed);
/* Tells on stderr of counts of 0 that cannot be true: CSV has no place for that. */
void csv_zeroes(const struct run *run);

#endif /* PERFEX_CSV_H */
