/* SPDX-License-Identifier: GPL-2.0 */
/* Runs a program under counters, or beside the processes that -p counts. */
#ifndef PERFEX_RUN_H
#define PERFEX_RUN_H

#include "count/counts.h"
#include "count/how.h"
#include "out/results.h"

/*
 * Runs the program, and prints each interval to @results. Returns 0, or -1 if the program did not
 * start.
 */
int run_program(char **argv, struct events *events, const struct how *how,
		const struct perfctr_info *info, struct results *results, struct run *run);
/* Releases the resources of @run. */
void run_end(const struct how *how, struct run *run);
/*
 * Ends perfex as the program ended. If a signal ended the program, perfex dies by the same signal.
 * Otherwise returns the exit status.
 */
int end_like(const struct run *run);

#endif /* PERFEX_RUN_H */
