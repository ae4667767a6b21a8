// SPDX-License-Identifier: GPL-2.0
/*
 * Compares samples by Welch's t. The method is exact for normal distributions, allows samples of
 * different variances, and uses no random numbers, so equal values always give an equal answer. A
 * bootstrap assumes less, but its intervals are too narrow for five or ten values, and few people
 * wait for more.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"

#define FEWEST	5	/* with fewer values, the interval would not cover 95 % */

bool sample_add(struct sample *sample, double value)
{
	if (sample->n == sample->room) {
		unsigned int room = sample->room ? 2 * sample->room : 8;
		double *grown = reallocarray(sample->value, room, sizeof(*grown));

		if (!grown)
			return false;
		sample->value = grown;
		sample->room = room;
	}
	sample->value[sample->n++] = value;
	return true;
}

void sample_free(struct sample *sample)
{
	free(sample->value);
	*sample = (struct sample){ .n = 0 };
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

bool sample_summary(const struct sample *sample, struct summary *summary)
{
	unsigned int i, n = sample->n;
	double *sorted, squares = 0;

	*summary = (struct summary){ .n = n };
	if (!n)
		return true;
	sorted = reallocarray(NULL, n, sizeof(*sorted));
	if (!sorted)
		return false;
	memcpy(sorted, sample->value, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	summary->minimum = sorted[0];
	summary->maximum = sorted[n - 1];
	summary->median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
	free(sorted);

	/* Summing differences from the first value makes the mean of equal values exact. */
	for (i = 0; i < n; i++)
		summary->mean += sample->value[i] - sample->value[0];
	summary->mean = sample->value[0] + summary->mean / n;
	for (i = 0; i < n; i++)
		squares += (sample->value[i] - summary->mean) * (sample->value[i] - summary->mean);
	if (n > 1)
		summary->deviation = sqrt(squares / (n - 1));
	return true;
}

/* Returns the probability that Student's t is between 0 and @t, by Simpson's rule. */
static double student_part(double t, double freedom)
{
	const unsigned int steps = 1000;	/* the error is below 1e-9 */
	double density = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) /
			 sqrt(freedom * acos(-1));
	double sum = 0, step = t / steps, x;
	unsigned int i;

	for (i = 0; i <= steps; i++) {
		x = i * step;
		sum += (i == 0 || i == steps ? 1 : 2 + i % 2 * 2) *
		       pow(1 + x * x / freedom, -(freedom + 1) / 2);
	}
	return density * sum * step / 3;
}

double student_t(double freedom)
{
	double low = 1.9, high = 13;	/* the result is 1.96 for infinite freedom, 12.71 for 1 */
	unsigned int i;

	for (i = 0; i < 50; i++) {
		double middle = (low + high) / 2;

		if (student_part(middle, freedom) < 0.475)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/*
 * Returns half the width of the interval around the difference of two means, whose variances are
 * @va and @vb. The degrees of freedom follow Welch and Satterthwaite.
 */
static double half_interval(const struct summary *a, double va, const struct summary *b, double vb)
{
	double freedom;

	if (va + vb <= 0)
		return 0;
	freedom = (va + vb) * (va + vb) /
		  (va * va / (a->n - 1) + vb * vb / (b->n - 1));
	return student_t(freedom) * sqrt(va + vb);
}

/*
 * Subtracts the mean A from the mean B. The relative difference is B/A - 1. Since A varies too, the
 * variance of B/A is (B/A)^2 (va/A^2 + vb/B^2), to first order.
 */
void summary_difference(const struct summary *a, const struct summary *b,
			struct difference *difference)
{
	/* the variances of the two means */
	double va = a->deviation * a->deviation / a->n, vb = b->deviation * b->deviation / b->n;
	double size = fabs(a->mean), ratio, half = 0;

	*difference = (struct difference){
		.mean = b->mean - a->mean,
		.known = a->n >= FEWEST && b->n >= FEWEST,
	};
	if (difference->known)
		half = half_interval(a, va, b, vb);
	difference->low = difference->mean - half;
	difference->high = difference->mean + half;
	/* If A's true mean may be 0, the quotient may be anything. */
	if (!difference->known || size <= student_t(a->n - 1) * sqrt(va))
		return;
	ratio = b->mean / size;
	difference->part_known = true;
	difference->part_half = half_interval(a, ratio * ratio * va, b, vb) / size;
}
