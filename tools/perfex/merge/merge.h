/* SPDX-License-Identifier: GPL-2.0 */
/* Compares the numbers of many files. */
#ifndef PERFEX_MERGE_H
#define PERFEX_MERGE_H

#include <stdio.h>

#include "base/values.h"

/**
 * struct merged - one number in all files
 * @files: number of files that have the number
 * @minimum_of, @maximum_of: index of the first file with the minimum, and with the maximum
 * @total: the sum over all files, if the number is a count
 */
struct merged {
	unsigned int files;
	struct value minimum, maximum;
	unsigned int minimum_of, maximum_of;
	double mean;
	uint64_t total;
};

/**
 * struct merge - all numbers of all files
 * @values: each number that at least one file has
 * @merged: merged[i] belongs to values[i]
 */
struct merge {
	struct values values;
	struct merged merged[MOST_VALUES];
};

/* Adds the numbers of the file with index @file. */
void merge_add(struct merge *merge, unsigned int file, const struct values *values);

#endif /* PERFEX_MERGE_H */
