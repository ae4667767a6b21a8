/* SPDX-License-Identifier: GPL-2.0 */
/* What was counted, as CSV; quote.h has its texts. */
#ifndef PERFEX_CSV_H
#define PERFEX_CSV_H

#include "out/series.h"

/* A number of @value's kind, or nothing if it is not known */
void csv_number(FILE *f, const struct value *value, bool known, double number);
/* The name, the mode and the unit of a value: three fields */
void csv_value(FILE *f, bool first, const struct value *value);
/* What several runs say of a value: the fields from "runs" to "maximum" */
void csv_summary(FILE *f, const struct value *value, const struct summary *summary,
		 unsigned int failed);
/* Tells on stderr of counts that cannot be: a file has no place for that. */
void csv_zeroes(const struct run *run);
void csv_series(FILE *f, const struct how *how, const struct run *run, const struct series *series);

#endif /* PERFEX_CSV_H */
