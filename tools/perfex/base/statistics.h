/* SPDX-License-Identifier: GPL-2.0 */
/* Samples, and what they say: nothing here knows of counters. */
#ifndef PERFEX_STATISTICS_H
#define PERFEX_STATISTICS_H

#include <stdbool.h>

/* One number of several runs */
struct sample {
	double *value;
	unsigned int n, room;
};

/**
 * struct summary - what a sample is like
 * @deviation: the standard deviation of whom the sample is of: with n - 1; 0 if n is 1
 * @median: of an even number, the mean of the two in the middle
 */
struct summary {
	unsigned int n;
	double mean, deviation, minimum, median, maximum;
};

/**
 * struct difference - the mean of one sample less that of another
 * @low, @high: where the true difference is with a confidence of 95 %, by Welch's t; both are
 *	@mean if neither sample varies
 * @known: each sample has five values at least, so that there are @low and @high
 * @part_half: half of the interval of the same confidence around @mean as a part of the first mean
 * @part_known: it is there: the first mean is not 0, and its own interval has no 0 in it
 */
struct difference {
	double mean, low, high;
	double part_half;
	bool known, part_known;
};

/* False without memory */
bool sample_add(struct sample *sample, double value);
void sample_free(struct sample *sample);
/* Of an empty sample all is 0. It sorts a copy: false without memory. */
bool sample_summary(const struct sample *sample, struct summary *summary);
/* @b less @a; both have values. */
void summary_difference(const struct summary *a, const struct summary *b,
			struct difference *difference);
/* What Student's t with that many degrees of freedom, 1 at least, exceeds in 1 of 40 cases */
double student_t(double freedom);

#endif /* PERFEX_STATISTICS_H */
