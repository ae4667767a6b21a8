/* SPDX-License-Identifier: GPL-2.0 */
/* The same numbers of many files. */
#ifndef PERFEX_MERGE_H
#define PERFEX_MERGE_H

#include <stdio.h>

#include "base/values.h"

/**
 * struct merged - one number of all files that have it
 * @files: number of these files
 * @minimum_of, @maximum_of: index of the first file that has the minimum, the maximum
 * @total: the sum, if it is a count
 */
struct merged {
	unsigned int files;
	struct value minimum, maximum;
	unsigned int minimum_of, maximum_of;
	double mean;
	uint64_t total;
};

/**
 * struct merge - all numbers
 * @values: each that at least one file has; values[i] belongs to merged[i]
 */
struct merge {
	struct values values;
	struct merged merged[MOST_VALUES];
};

/* Adds the numbers of the file of index @file. */
void merge_add(struct merge *merge, unsigned int file, const struct values *values);

#endif /* PERFEX_MERGE_H */
