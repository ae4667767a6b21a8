/* SPDX-License-Identifier: GPL-2.0 */
/* Samples: mean, deviation, median, and how two differ. */
#ifndef PERFEX_STATISTICS_H
#define PERFEX_STATISTICS_H

#include <stdbool.h>

/* One number of several runs */
struct sample {
	double *value;
	unsigned int n, room;
};

/**
 * struct summary - a sample in a few numbers
 * @deviation: the standard deviation, estimated with n - 1; 0 if n is 1
 * @median: if n is even, the mean of the two in the middle
 */
struct summary {
	unsigned int n;
	double mean, deviation, minimum, median, maximum;
};

/**
 * struct difference - the mean of one sample less that of another
 * @low, @high: the true difference is between these with 95 % confidence, by Welch's t; both are
 *	@mean if neither sample varies
 * @known: each sample has at least five values; else there are no @low and @high
 * @part_half: half of that interval if the difference is divided by the first mean
 * @part_known: the first mean is certainly not 0; else there is no @part_half
 */
struct difference {
	double mean, low, high;
	double part_half;
	bool known, part_known;
};

/* False: there is no memory. */
bool sample_add(struct sample *sample, double value);
void sample_free(struct sample *sample);
/* All numbers of an empty sample are 0. False: there is no memory to sort a copy. */
bool sample_summary(const struct sample *sample, struct summary *summary);
/* @b less @a; neither is empty. */
void summary_difference(const struct summary *a, const struct summary *b,
			struct difference *difference);
/* Student's t exceeds this in 1 of 40 cases; @freedom is at least 1. */
double student_t(double freedom);

#endif /* PERFEX_STATISTICS_H */
