/* SPDX-License-Identifier: GPL-2.0 */
/* The same numbers of many files, in one table */
#ifndef PERFEX_MERGE_H
#define PERFEX_MERGE_H

#include <stdio.h>

#include "base/values.h"

/**
 * struct merged - one number of all files that have it
 * @files: how many these are
 * @minimum, @maximum: the values; @minimum_of, @maximum_of: which file's, by its index: the first
 *	of several
 * @total: of counts
 */
struct merged {
	unsigned int files;
	struct value minimum, maximum;
	unsigned int minimum_of, maximum_of;
	double mean;
	uint64_t total;
};

/**
 * struct merge - all of them
 * @values: what some file has; values[i] is merged[i]
 */
struct merge {
	struct values values;
	struct merged merged[MOST_VALUES];
};

/* Adds what the file of index @file has. */
void merge_add(struct merge *merge, unsigned int file, const struct values *values);

#endif /* PERFEX_MERGE_H */
