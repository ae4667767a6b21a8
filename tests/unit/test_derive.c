// SPDX-License-Identifier: GPL-2.0
/* perfex: what follows from counts, and what does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libperfctr.h>

#include "base/values.h"
#include "run.h"

#define U	PERFCTR_CTR_USER
#define K	PERFCTR_CTR_KERNEL

static struct values values;

static void event(const char *name, unsigned int mode, uint64_t count)
{
	struct value *value = values_add_count(&values, VALUE_EVENT, name, true, count);

	ck_assert_ptr_nonnull(value);
	(void)snprintf(value->plain, sizeof(value->plain), "%s", name);
	value->mode = mode;
}

static void seconds(const char *name, double number)
{
	struct value *value = values_add(&values, VALUE_SECONDS, name);

	value->known = true;
	value->number = number;
}

static unsigned int derived(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < values.n; i++)
		n += values.value[i].kind == VALUE_DERIVED;
	return n;
}

static void has(const char *name, unsigned int mode, double number, const char *unit)
{
	const struct value *value = values_find(&values, VALUE_DERIVED, name);

	ck_assert_msg(value, "no %s", name);
	ck_assert(value->known);
	ck_assert_uint_eq(value->mode, mode);
	ck_assert_msg(fabs(value->number - number) < 1e-9, "%s is %f, not %f", name, value->number,
		      number);
	ck_assert_str_eq(value->unit, unit);
}

START_TEST(test_ratios)
{
	values.n = 0;
	event("cycles", U, 1000);
	event("instructions", U, 2500);
	event("branches", U, 400);
	event("branch-misses", U, 10);
	event("L1-dcache-load-misses", U, 30);
	event("L1-dcache-loads", U, 60);
	event("dTLB-store-misses", U, 1);
	derive(&values, true);
	has("instructions per cycle", U, 2.5, "");
	has("branch-misses of branches", U, 2.5, "%");
	has("branch-misses per 1000 instructions", U, 4, "");
	has("L1-dcache-load-misses of L1-dcache-loads", U, 50, "%");
	has("L1-dcache-load-misses per 1000 instructions", U, 12, "");
	has("dTLB-store-misses per 1000 instructions", U, 0.4, "");
	ck_assert_uint_eq(derived(), 6);
}
END_TEST

/* Another mode is another count: each goes with its own. */
START_TEST(test_modes)
{
	values.n = 0;
	event("instructions", U, 2000);
	event("cycles", U | K, 1000);
	derive(&values, true);
	ck_assert_uint_eq(derived(), 0);
	event("cycles", U, 500);
	event("instructions", K, 10);
	event("cycles", K, 40);
	derive(&values, true);
	ck_assert_uint_eq(derived(), 2);
	has("instructions per cycle", U, 4, "");
}
END_TEST

START_TEST(test_nothing_to_divide_by)
{
	values.n = 0;
	event("instructions", U, 2000);
	event("cycles", U, 0);
	derive(&values, true);
	ck_assert_uint_eq(derived(), 0);
	/* Not counted */
	values.value[1].count = 7;
	values.value[1].number = 7;
	values.value[1].known = false;
	derive(&values, true);
	ck_assert_uint_eq(derived(), 0);
	values.value[1].known = true;
	values.value[0].known = false;
	derive(&values, true);
	ck_assert_uint_eq(derived(), 0);
	/* What only looks like an event's name */
	values.n = 0;
	event("-misses", U, 5);
	event("instructions", U, 10);
	event("misses", U, 10);
	derive(&values, true);
	ck_assert_uint_eq(derived(), 0);
}
END_TEST

START_TEST(test_fixed_counters)
{
	values.n = 0;
	event("cycle", U | K, 1000);
	event("instret", U | K, 1500);
	event("dTLB-load-misses", U | K, 3);
	derive(&values, false);
	has("instructions per cycle", U | K, 1.5, "");
	has("dTLB-load-misses per 1000 instructions", U | K, 2, "");
	ck_assert_uint_eq(derived(), 2);
	/* Twice the same is one value. */
	event("instret", U | K, 1500);
	derive(&values, false);
	ck_assert_uint_eq(derived(), 2);
}
END_TEST

START_TEST(test_of_the_clock)
{
	values.n = 0;
	event("cycles", U | K, 3000000000);
	seconds("on a processor", 1.5);
	seconds("elapsed", 0.5);
	derive(&values, true);
	has("cycles per nanosecond", U | K, 2, "GHz");
	has("processors used", 0, 3, "");
	/* Nothing ran: it used no processor, and no frequency is known. */
	values.n = 3;
	values.value[1].number = 0;
	derive(&values, true);
	ck_assert_uint_eq(derived(), 1);
	has("processors used", 0, 0, "");
	values.value[1].number = 1.5;
	/* The clock of idle CPUs */
	values.n = 3;
	derive(&values, false);
	ck_assert_uint_eq(derived(), 0);
	/* Cycles of one mode: the clock is of both. */
	values.value[0].mode = U;
	derive(&values, true);
	ck_assert_uint_eq(derived(), 1);
	has("processors used", 0, 3, "");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("derive");

	tcase_add_test(tcase, test_ratios);
	tcase_add_test(tcase, test_modes);
	tcase_add_test(tcase, test_nothing_to_divide_by);
	tcase_add_test(tcase, test_fixed_counters);
	tcase_add_test(tcase, test_of_the_clock);
	return run_tests("derive", tcase);
}
