/* SPDX-License-Identifier: GPL-2.0 */
/* Writes counts as a table for people. */
#ifndef PERFEX_TEXT_H
#define PERFEX_TEXT_H

#include <stdio.h>

#include "out/series.h"

void text_run(FILE *f, char **argv, const struct perfctr_info *info,
	      const struct events *events, const struct how *how, const struct run *run);
void text_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		   const struct how *how, const struct run *run, const struct moment *before);
void text_series(FILE *f, char **argv, const struct events *events, const struct how *how,
		 const struct run *run, const struct series *series);

/* The functions below write parts of the table, for comparisons. */
/* Prints how many runs do not count, if there are any. */
void text_failed(FILE *f, const struct series *series);
/* Prints notes on the counts of @run. @one_run is false if the counts are of several runs. */
void text_notes(FILE *f, const struct events *events, const struct how *how,
		const struct run *run, bool one_run);

#endif /* PERFEX_TEXT_H */
