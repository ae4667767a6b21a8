/* SPDX-License-Identifier: GPL-2.0 */
/* Makes a list of the numbers of a run, and samples of the numbers of several runs. */
#ifndef PERFEX_SERIES_H
#define PERFEX_SERIES_H

#include "base/statistics.h"
#include "base/values.h"
#include "count/counts.h"
#include "count/how.h"

/**
 * struct series - several runs of one program
 * @runs: the number of runs that count
 * @failed: the number of runs that went wrong or were stopped, and do not count
 * @warm_ups_failed: the number of runs to warm up that went wrong
 * @interrupted: a signal asked perfex to end
 * @values: each value that at least one run has
 * @sample: for each of @values, its numbers in the runs that measured it
 */
struct series {
	unsigned int runs, failed, warm_ups_failed;
	bool interrupted;
	struct values values;
	struct sample sample[MOST_VALUES];
};

/* Finds counts of 0 that cannot be true, after @run has ended. */
void note_zeroes(const struct perfctr_info *info, const struct events *events,
		 const struct how *how, struct run *run);
/* Returns the numbers of the run, or those since @before. The list is valid until the next call. */
const struct values *series_values(const struct perfctr_info *info, const struct events *events,
				   const struct how *how, const struct run *run,
				   const struct moment *before);
/* Adds a run, or a run to warm up. Returns false after printing that there is no memory. */
bool series_add(struct series *series, const struct run *run, bool warms_up,
		const struct values *values);
/* Summarizes value @i. If there is no memory, the value looks as if it had not been counted. */
void series_summary(const struct series *series, unsigned int i, struct summary *summary);
void series_free(struct series *series);

#endif /* PERFEX_SERIES_H */
