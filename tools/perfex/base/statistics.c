// SPDX-License-Identifier: GPL-2.0
/*
 * Samples, and what they say.
 *
 * Two samples are compared by Welch's t. It is exact where values are distributed normally, does not
 * suppose that both vary alike, and needs no random numbers, so the same values give the same answer.
 * A bootstrap would suppose less, but of the five or ten values that people have patience for its
 * intervals are too narrow.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"

#define FEWEST	5	/* values of which an interval is told: of fewer it covers more or less than 95 % */

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

	/* By differences from the first, so that equal values have their own mean exactly. */
	for (i = 0; i < n; i++)
		summary->mean += sample->value[i] - sample->value[0];
	summary->mean = sample->value[0] + summary->mean / n;
	for (i = 0; i < n; i++)
		squares += (sample->value[i] - summary->mean) * (sample->value[i] - summary->mean);
	if (n > 1)
		summary->deviation = sqrt(squares / (n - 1));
	return true;
}

/* The part of Student's t that is between 0 and @t, by Simpson's rule over its density */
static double student_part(double t, double freedom)
{
	const unsigned int steps = 1000;	/* an error below 1e-9 */
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
	double low = 1.9, high = 13;	/* of infinitely many and of 1: 1.96 and 12.71 */
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
 * Half of the interval around the difference of two means, whose variances are @va and @vb. The
 * degrees of freedom are those of Welch and Satterthwaite.
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
 * As part of A's mean the difference is B/A - 1, and A varies as well. To the first order B/A has the
 * variance (B/A)^2 (va/A^2 + vb/B^2), which is that of B less B/A times A, divided by A^2.
 */
void summary_difference(const struct summary *a, const struct summary *b,
			struct difference *difference)
{
	/* The variances of the two means */
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
	/* Of an A that may be 0 everything may be a part. */
	if (!difference->known || size <= student_t(a->n - 1) * sqrt(va))
		return;
	ratio = b->mean / size;
	difference->part_known = true;
	difference->part_half = half_interval(a, ratio * ratio * va, b, vb) / size;
}
