/* SPDX-License-Identifier: GPL-2.0 */
/* The numbers of a run as a list, and those of several runs as samples. */
#ifndef PERFEX_SERIES_H
#define PERFEX_SERIES_H

#include "base/statistics.h"
#include "base/values.h"
#include "count/counts.h"
#include "count/how.h"

/**
 * struct series - several runs of one program
 * @runs: the number of runs that count
 * @failed: the number of those that went wrong or were stopped, and do not count
 * @warm_ups_failed: the number of runs to warm up that went wrong
 * @interrupted: a signal asked for the end
 * @values: each value that at least one run has
 * @sample: of each of @values, from the runs that know it
 */
struct series {
	unsigned int runs, failed, warm_ups_failed;
	bool interrupted;
	struct values values;
	struct sample sample[MOST_VALUES];
};

/* @run has ended: finds counts of 0 that cannot be true. */
void note_zeroes(const struct perfctr_info *info, const struct events *events,
		 const struct how *how, struct run *run);
/* Of the run, or since @before; the list stands until the next call. */
const struct values *series_values(const struct perfctr_info *info, const struct events *events,
				   const struct how *how, const struct run *run,
				   const struct moment *before);
/* Adds a run, or one to warm up. False: it has told that there is no memory. */
bool series_add(struct series *series, const struct run *run, bool warms_up,
		const struct values *values);
/* Of value @i. Without memory it is as if the value had not been counted. */
void series_summary(const struct series *series, unsigned int i, struct summary *summary);
void series_free(struct series *series);

#endif /* PERFEX_SERIES_H */
