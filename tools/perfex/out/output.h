/* SPDX-License-Identifier: GPL-2.0 */
/* Writes counts in the format that the user chose. */
#ifndef PERFEX_OUTPUT_H
#define PERFEX_OUTPUT_H

#include <stdio.h>

#include "out/series.h"

void print_run(FILE *f, char **argv, const struct perfctr_info *info,
	       const struct events *events, const struct how *how, const struct run *run);
/* Writes what was counted since @before. */
void print_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		    const struct how *how, const struct run *run, const struct moment *before);
void print_series(FILE *f, char **argv, const struct perfctr_info *info,
		  const struct events *events, const struct how *how, const struct run *run,
		  const struct series *series);

#endif /* PERFEX_OUTPUT_H */
