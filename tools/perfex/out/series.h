/* SPDX-License-Identifier: GPL-2.0 */
/* The numbers of a run as a list, and those of several runs as samples. */
#ifndef PERFEX_SERIES_H
#define PERFEX_SERIES_H

#include "perfex.h"
#include "base/statistics.h"
#include "base/values.h"

/**
 * struct series - several runs of one program
 * @runs: of how many the numbers are
 * @failed: how many are left out, as they went wrong, or a signal asked perfex for the end
 * @warm_ups_failed: how many of those to warm up went wrong
 * @interrupted: a signal asked for the end
 * @values: what there is of one run at least
 * @sample: of each of @values, from the runs in which it was known
 */
struct series {
	unsigned int runs, failed, warm_ups_failed;
	bool interrupted;
	struct values values;
	struct sample sample[MOST_VALUES];
};

/* Of the run, or since @before (NULL: the beginning). The list stands until the next call. */
const struct values *series_values(const struct perfctr_info *info, const struct events *events,
				   const struct how *how, const struct run *run,
				   const struct moment *before);
/* A run, and its values, or one to warm up. False, after it told that there is no memory */
bool series_add(struct series *series, const struct run *run, bool warms_up,
		const struct values *values);
/* Of value i; if there is no memory for it, as if it had not been counted */
void series_summary(const struct series *series, unsigned int i, struct summary *summary);
void series_free(struct series *series);

/* Parts of what text.c and json.c write, for comparisons: @run is of one run, or of several */
/* Of what is left out, if there is anything */
void text_failed(FILE *f, const struct series *series);
void text_notes(FILE *f, const struct events *events, const struct how *how,
		const struct run *run, bool one_run);
void json_command(FILE *f, char **argv);
/* The beginning of an object */
void json_value_name(FILE *f, const struct value *value);
/* Members of an object: how many runs there were */
void json_runs(FILE *f, const struct series *series);
/* Members of an object: what several runs say of one number, which is divided by @scale */
void json_summary(FILE *f, const struct summary *summary, double scale, int digits);

/* The forms of output that need lists */
void text_series(FILE *f, char **argv, const struct events *events, const struct how *how,
		 const struct run *run, const struct series *series);
void json_series(FILE *f, char **argv, const struct perfctr_info *info,
		 const struct events *events, const struct how *how, const struct run *run,
		 const struct series *series);
void print_series(FILE *f, char **argv, const struct perfctr_info *info,
		  const struct events *events, const struct how *how, const struct run *run,
		  const struct series *series);

#endif /* PERFEX_SERIES_H */
