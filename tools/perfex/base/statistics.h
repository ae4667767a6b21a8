/* SPDX-License-Identifier: GPL-2.0 */
/* Summarizes samples by mean, deviation and median, and compares two samples. */
#ifndef PERFEX_STATISTICS_H
#define PERFEX_STATISTICS_H

#include <stdbool.h>

/* The values that one number had in several runs. */
struct sample {
	double *value;
	unsigned int n, room;
};

/**
 * struct summary - a sample in a few numbers
 * @deviation: the standard deviation, with n - 1 as divisor; 0 if n is 1
 * @median: if n is even, the mean of the two values in the middle
 */
struct summary {
	unsigned int n;
	double mean, deviation, minimum, median, maximum;
};

/**
 * struct difference - the difference between the means of two samples
 * @low, @high: the interval that has the true difference with 95 % confidence, by Welch's t; both
 *	are @mean if neither sample varies
 * @part_half: half the width of the interval of the relative difference
 * @known: each sample has at least five values, so @low and @high are valid
 * @part_known: the first mean is certainly not 0, so @part_half is valid
 */
struct difference {
	double mean, low, high;
	double part_half;
	bool known, part_known;
};

/* Returns true, or false if there is no memory. */
bool sample_add(struct sample *sample, double value);
void sample_free(struct sample *sample);
/*
 * Summarizes a sample. All numbers of an empty sample are 0. Returns false if there is no memory to
 * sort a copy.
 */
bool sample_summary(const struct sample *sample, struct summary *summary);
/* Subtracts the mean of @a from the mean of @b. Neither sample may be empty. */
void summary_difference(const struct summary *a, const struct summary *b,
			struct difference *difference);
/* Returns the number that Student's t exceeds in 1 of 40 cases. @freedom is at least 1. */
double student_t(double freedom);

#endif /* PERFEX_STATISTICS_H */
