// SPDX-License-Identifier: GPL-2.0
/*
 * Compares each number across many files. Finds its minimum, mean and maximum, and which files have
 * the minimum and the maximum.
 */
#include "base/values.h"
#include "merge/merge.h"

static void add_one(struct merged *merged, unsigned int file, const struct value *value)
{
	if (!merged->files || value->number < merged->minimum.number) {
		merged->minimum = *value;
		merged->minimum_of = file;
	}
	if (!merged->files || value->number > merged->maximum.number) {
		merged->maximum = *value;
		merged->maximum_of = file;
	}
	merged->files++;
	/* Updating the mean by differences makes the mean of equal numbers exact. */
	merged->mean += (value->number - merged->mean) / merged->files;
	merged->total += value->count;
}

void merge_add(struct merge *merge, unsigned int file, const struct values *values)
{
	unsigned int i;
	int k;

	for (i = 0; i < values->n; i++) {
		k = values_same(&merge->values, values, i);
		if (k < 0 && merge->values.n < MOST_VALUES) {
			k = (int)merge->values.n++;
			merge->values.value[k] = values->value[i];
			merge->merged[k] = (struct merged){ .files = 0 };
		}
		if (k >= 0 && values->value[i].known)
			add_one(&merge->merged[k], file, &values->value[i]);
	}
}
