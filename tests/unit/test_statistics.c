// SPDX-License-Identifier: GPL-2.0
/* perfex: means, deviations, medians, and differences with their confidence. */
#include <math.h>
#include <stdlib.h>

#include "base/statistics.h"
#include "run.h"

#define NEAR(is, want)	ck_assert_msg(fabs((is) - (want)) < 1e-6, "%.9f, not %.9f", is, want)
#define SAMPLE(...)	sample_of((const double[]){ __VA_ARGS__ }, \
				  sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

static struct summary sample_of(const double *values, size_t n)
{
	struct sample sample = { .n = 0 };
	struct summary summary;
	size_t i;

	for (i = 0; i < n; i++)
		ck_assert(sample_add(&sample, values[i]));
	ck_assert_uint_eq(sample.n, n);
	ck_assert(sample_summary(&sample, &summary));
	sample_free(&sample);
	return summary;
}

START_TEST(test_summary)
{
	/* Not in order, and not many */
	struct summary s = SAMPLE(2, 4, 4, 4, 5, 5, 7, 9);

	ck_assert_uint_eq(s.n, 8);
	NEAR(s.mean, 5.);
	NEAR(s.deviation, sqrt(32. / 7));	/* n - 1 */
	NEAR(s.median, 4.5);
	s = SAMPLE(9, 1, 5);
	NEAR(s.minimum, 1.);
	NEAR(s.median, 5.);
	NEAR(s.maximum, 9.);
	NEAR(s.deviation, 4.);
	s = SAMPLE(7);
	NEAR(s.mean, 7.);
	NEAR(s.deviation, 0.);
	NEAR(s.median, 7.);
	s = sample_of(NULL, 0);
	ck_assert_uint_eq(s.n, 0);
	NEAR(s.mean, 0.);
}
END_TEST

/* Equal counts have their own mean, and no deviation: also large ones. */
START_TEST(test_exact)
{
	const double count = 9007199254740881.;
	struct summary s = SAMPLE(count, count, count);

	ck_assert_double_eq(s.mean, count);
	ck_assert_double_eq(s.deviation, 0);
	/* Small differences of large numbers */
	s = SAMPLE(1e15 + 4, 1e15 + 7, 1e15 + 13, 1e15 + 16);
	ck_assert_double_eq(s.mean, 1e15 + 10);
	NEAR(s.deviation, sqrt(30.));
}
END_TEST

/* From tables of Student's t; of 4.5 by numeric integration in another way */
START_TEST(test_student)
{
	NEAR(student_t(1), 12.7062047);
	NEAR(student_t(2), 4.3026527);
	NEAR(student_t(4.5), 2.6589123);
	NEAR(student_t(5), 2.5705818);
	NEAR(student_t(10), 2.2281389);
	NEAR(student_t(30), 2.0422725);
	ck_assert_double_eq_tol(student_t(1e6), 1.959966, 1e-5);
}
END_TEST

START_TEST(test_difference)
{
	/* The first example of Wikipedia's page on Welch's t-test: t = 2.46 of 25.0 degrees */
	struct summary a = SAMPLE(27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1,
				  19.6, 19.0, 21.7, 21.4);
	struct summary b = SAMPLE(27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9,
				  22.1, 22.9, 20.5, 24.4);
	struct difference d;

	summary_difference(&a, &b, &d);
	ck_assert(d.known);
	NEAR(d.mean, 2.1666667);
	NEAR(d.low, 0.3492373);
	NEAR(d.high, 3.9840961);
	/* In the other direction the same with its sign changed */
	summary_difference(&b, &a, &d);
	NEAR(d.low, -3.9840961);
	NEAR(d.high, -0.3492373);

	a = SAMPLE(1, 2, 3, 4, 5);
	b = SAMPLE(2, 4, 6, 8, 10);
	summary_difference(&a, &b, &d);
	NEAR(d.low, -0.8877416);
	NEAR(d.high, 6.8877416);
}
END_TEST

/*
 * As a part of the first mean: t (B/A) sqrt(va/A^2 + vb/B^2). The numbers are from another program, which
 * has t by the incomplete beta function.
 */
START_TEST(test_part)
{
	struct summary a = SAMPLE(10, 11, 9, 10, 10.5), b = SAMPLE(21, 19, 20, 22, 18);
	struct summary minus = SAMPLE(-10, -11, -9, -10, -10.5), rare = SAMPLE(0, 0, 1, 0, 0);
	struct summary few = SAMPLE(21, 19, 20, 22);
	struct difference d;

	summary_difference(&a, &b, &d);
	ck_assert(d.known && d.part_known);
	NEAR(d.low, 7.9623855);
	NEAR(d.high, 11.8376145);
	/* With A's mean as if it were exact it would be 0.1918430. */
	NEAR(d.part_half, 0.2205473);
	summary_difference(&minus, &b, &d);
	NEAR(d.part_half, 0.2205473);
	a = SAMPLE(1, 2, 3, 4, 5);
	b = SAMPLE(2, 4, 6, 8, 10);
	summary_difference(&a, &b, &d);
	NEAR(d.part_half, 1.5373361);
	/* It is B alone that does not vary. */
	a = SAMPLE(4, 5, 6, 5, 5, 5.5);
	b = SAMPLE(8, 8, 8, 8, 8);
	summary_difference(&a, &b, &d);
	NEAR(d.part_half, 0.2159215);
	/* Neither of them */
	summary_difference(&b, &b, &d);
	ck_assert(d.part_known);
	ck_assert_double_eq(d.part_half, 0);
	/* The first may be 0, or is. */
	summary_difference(&rare, &b, &d);
	ck_assert(d.known && !d.part_known);
	rare = SAMPLE(0, 0, 0, 0, 0);
	summary_difference(&rare, &b, &d);
	ck_assert(d.known && !d.part_known);
	/* Four values have no interval, on either side. */
	summary_difference(&b, &few, &d);
	ck_assert(!d.known && !d.part_known);
	summary_difference(&few, &b, &d);
	ck_assert(!d.known && !d.part_known);
	NEAR(d.mean, -12.5);
}
END_TEST

/* One of the two, or both, do not vary; or there is one value only. */
START_TEST(test_difference_of_constants)
{
	struct summary a = SAMPLE(5, 5, 5, 5, 5), b = SAMPLE(8, 8, 8, 8, 8), c = SAMPLE(1, 3, 2, 2, 2);
	struct summary one = SAMPLE(6);
	struct difference d;

	summary_difference(&a, &b, &d);
	ck_assert(d.known);
	ck_assert_double_eq(d.mean, 3);
	ck_assert_double_eq(d.low, 3);
	ck_assert_double_eq(d.high, 3);
	/* The degrees of freedom are c's alone: 4 */
	summary_difference(&a, &c, &d);
	NEAR(d.mean, -3.);
	NEAR(d.high, -3 + 2.7764451 * sqrt(0.5 / 5));
	summary_difference(&a, &one, &d);
	ck_assert(!d.known);
	ck_assert_double_eq(d.mean, 1);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("statistics");

	tcase_add_test(tcase, test_summary);
	tcase_add_test(tcase, test_exact);
	tcase_add_test(tcase, test_student);
	tcase_add_test(tcase, test_difference);
	tcase_add_test(tcase, test_part);
	tcase_add_test(tcase, test_difference_of_constants);
	return run_tests("statistics", tcase);
}
