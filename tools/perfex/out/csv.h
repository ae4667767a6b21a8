/* SPDX-License-Identifier: GPL-2.0 */
/* Writes counts as CSV for programs, one number in each line. */
#ifndef PERFEX_CSV_H
#define PERFEX_CSV_H

#include <stdio.h>

#include "out/series.h"

void csv_run(FILE *f, char **argv, const struct perfctr_info *info,
	     const struct events *events, const struct how *how, const struct run *run);
void csv_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		  const struct how *how, const struct run *run, const struct moment *before);
void csv_series(FILE *f, const struct how *how, const struct run *run, const struct series *series);

/* The functions below write parts of lines, for comparisons and perfex merge. */
/* Writes @number in the form of @value's kind, or nothing if @known is false. */
void csv_number(FILE *f, const struct value *value, bool known, double number);
/* Writes three fields: the name, mode and unit of @value. */
void csv_value(FILE *f, bool first, const struct value *value);
/* Writes the fields from "runs" to "maximum". */
void csv_summary(FILE *f, const struct value *value, const struct summary *summary,
		 unsigned int failed);
/* Prints to stderr which counts of 0 cannot be true. CSV has no place for that. */
void csv_zeroes(const struct run *run);

#endif /* PERFEX_CSV_H */
