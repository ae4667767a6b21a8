/* SPDX-License-Identifier: GPL-2.0 */
/* Writes counts as JSON for programs, each object on a line of its own. */
#ifndef PERFEX_JSON_H
#define PERFEX_JSON_H

#include <stdio.h>

#include "out/series.h"

void json_run(FILE *f, char **argv, const struct perfctr_info *info,
	      const struct events *events, const struct how *how, const struct run *run);
void json_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		   const struct how *how, const struct run *run, const struct moment *before);
void json_series(FILE *f, char **argv, const struct perfctr_info *info,
		 const struct events *events, const struct how *how, const struct run *run,
		 const struct series *series);

/* The functions below write parts of objects, for comparisons. */
void json_command(FILE *f, char **argv);
/* Writes the beginning of an object, with the name of @value. */
void json_value_name(FILE *f, const struct value *value);
/* Writes the members that tell how many runs there were. */
void json_runs(FILE *f, const struct series *series);
/* Writes the members of a summary, whose numbers are divided by @scale. */
void json_summary(FILE *f, const struct summary *summary, double scale, int digits);

#endif /* PERFEX_JSON_H */
