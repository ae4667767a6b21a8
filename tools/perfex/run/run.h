/* SPDX-License-Identifier: GPL-2.0 */
/* A program runs under the counters, or beside what -p counts. */
#ifndef PERFEX_RUN_H
#define PERFEX_RUN_H

#include "count/counts.h"
#include "count/how.h"
#include "out/results.h"

/* Prints each interval to @results. Returns -1 if the program did not start. */
int run_program(char **argv, struct events *events, const struct how *how,
		const struct perfctr_info *info, struct results *results, struct run *run);
/* Gives back what @run has. */
void run_end(const struct how *how, struct run *run);
/* Ends perfex as the program ended, by the same signal; or returns the exit status. */
int end_like(const struct run *run);

#endif /* PERFEX_RUN_H */
