// SPDX-License-Identifier: GPL-2.0
/* Instructions without noise: what counts of a known loop prove, and what is subtracted. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "run.h"

#define LENGTH	1000000ull	/* of a long loop */
#define AROUND	37ull		/* of what is counted beside each loop */

/* So many runs of a processor that counts @each too many at an interrupt, of which some come */
static void add_runs(struct perfctr_noise *noise, unsigned int runs, unsigned int each)
{
	unsigned int i;

	for (i = 0; i < runs; i++) {
		unsigned long long length = i % 2 ? LENGTH : 0, interrupts = i % 4;

		perfctr_noise_add(noise, AROUND + length + each * interrupts, interrupts, length,
				  interrupts > 0);
	}
}

static int verdict(const struct perfctr_noise *noise)
{
	errno = 0;
	return perfctr_noise_verdict(noise);
}

START_TEST(exact_processor)
{
	struct perfctr_noise noise = { .runs = 0 };

	add_runs(&noise, 28, 0);
	ck_assert(perfctr_noise_is_known(&noise));
	ck_assert_int_eq(verdict(&noise), 0);
}
END_TEST

START_TEST(one_too_many)
{
	struct perfctr_noise noise = { .runs = 0 };

	add_runs(&noise, 28, 1);
	ck_assert(perfctr_noise_is_known(&noise));
	ck_assert_int_eq(verdict(&noise), 1);
}
END_TEST

/* Interrupts in the first run, which all others are compared with */
START_TEST(noise_in_the_first_run)
{
	struct perfctr_noise noise = { .runs = 0 };

	perfctr_noise_add(&noise, AROUND + 3, 3, 0, 1);
	add_runs(&noise, 28, 1);
	ck_assert_int_eq(verdict(&noise), 1);
}
END_TEST

START_TEST(neither_fits)
{
	struct perfctr_noise noise = { .runs = 0 };
	unsigned int each;

	add_runs(&noise, 28, 2);
	ck_assert(perfctr_noise_is_known(&noise));
	ck_assert_int_eq(verdict(&noise), -1);
	ck_assert_int_eq(errno, ERANGE);

	/* A single run decides, ... */
	for (each = 0; each < 2; each++) {
		memset(&noise, 0, sizeof(noise));
		add_runs(&noise, 28, each);
		perfctr_noise_add(&noise, AROUND + LENGTH + 2, 1, LENGTH, 1);
		ck_assert_int_eq(verdict(&noise), -1);
		ck_assert_int_eq(errno, ERANGE);
	}
	/* ... also before interrupts came. */
	memset(&noise, 0, sizeof(noise));
	perfctr_noise_add(&noise, AROUND, 0, 0, 0);
	perfctr_noise_add(&noise, AROUND + 1, 0, 0, 1);
	ck_assert(perfctr_noise_is_known(&noise));
	ck_assert_int_eq(verdict(&noise), -1);
	ck_assert_int_eq(errno, ERANGE);
}
END_TEST

/*
 * However well they fit: nothing was seen, or not enough. What counts but is known to be no
 * interrupt does not help, nor does an interrupt that was not counted.
 */
START_TEST(too_few_interrupts)
{
	struct perfctr_noise noise = { .runs = 0 };
	unsigned int each, i;

	for (each = 0; each < 2; each++) {
		memset(&noise, 0, sizeof(noise));
		add_runs(&noise, 24, each);
		ck_assert_uint_eq(noise.seen, PERFCTR_NOISE_INTERRUPTS - 2);
		perfctr_noise_add(&noise, AROUND + each, 1, 0, 1);
		for (i = 0; i < 100; i++) {
			perfctr_noise_add(&noise, AROUND + each, 1, 0, 0);
			perfctr_noise_add(&noise, AROUND, 0, 0, 1);
		}
		ck_assert(!perfctr_noise_is_known(&noise));
		ck_assert_int_eq(verdict(&noise), -1);
		ck_assert_int_eq(errno, ETIME);
		perfctr_noise_add(&noise, AROUND + each, 1, 0, 1);
		ck_assert_int_eq(verdict(&noise), (int)each);
	}
	memset(&noise, 0, sizeof(noise));
	ck_assert_int_eq(verdict(&noise), -1);
	ck_assert_int_eq(errno, ETIME);
}
END_TEST

/* An event that counts system calls, say: just as many in each run */
START_TEST(the_same_in_each_run)
{
	struct perfctr_noise noise = { .runs = 0 };
	unsigned int i;

	for (i = 0; i < 40; i++)
		perfctr_noise_add(&noise, AROUND + i % 2 * LENGTH, 1, i % 2 * LENGTH,
				  i % 2 != 0);
	ck_assert_int_eq(verdict(&noise), -1);
	ck_assert_int_eq(errno, ERANGE);
}
END_TEST

START_TEST(faults)
{
	ck_assert_int_eq(perfctr_noise_of_faults(0, 32), 0);
	ck_assert_int_eq(perfctr_noise_of_faults(32, 32), 1);
	errno = 0;
	ck_assert_int_eq(perfctr_noise_of_faults(31, 32), -1);
	ck_assert_int_eq(errno, ERANGE);
	ck_assert_int_eq(perfctr_noise_of_faults(-1ull, 32), -1);
	ck_assert_int_eq(perfctr_noise_of_faults(0, 0), -1);
}
END_TEST

#if defined(__x86_64__) || defined(__i386__)

static void add_ctr(struct perfctr_control *control, unsigned long long event, unsigned int flags)
{
	control->ctr[control->nractrs].event = event;
	control->ctr[control->nractrs++].flags = flags;
}

/* Instructions among what looks like them */
static void some_control(struct perfctr_control *control)
{
	struct perfctr_ctr_control *ctr;

	memset(control, 0, sizeof(*control));
	add_ctr(control, 0x3c, PERFCTR_CTR_USER);
	add_ctr(control, 0xc0, PERFCTR_CTR_USER);
	add_ctr(control, 0xc0, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL);
	add_ctr(control, 0xc0, PERFCTR_CTR_KERNEL);
	add_ctr(control, 0x4100c0, PERFCTR_CTR_USER);
	add_ctr(control, 0x1c0, PERFCTR_CTR_USER);
	add_ctr(control, 0x10000c0, PERFCTR_CTR_USER);
	add_ctr(control, 0x8000c0, PERFCTR_CTR_USER);
	add_ctr(control, 0x400c0, PERFCTR_CTR_USER);
	add_ctr(control, PERF_TYPE_HARDWARE, PERFCTR_CTR_USER | PERFCTR_CTR_PERF);
	ctr = &control->ctr[control->nractrs - 1];
	ctr->config = PERF_COUNT_HW_INSTRUCTIONS;
	add_ctr(control, PERF_TYPE_HARDWARE, PERFCTR_CTR_USER | PERFCTR_CTR_PERF);
	/* perf's number of a raw event is none of ours. */
	add_ctr(control, 0xc0, PERFCTR_CTR_USER | PERFCTR_CTR_PERF);
}

#define SOME_COUNTERS	12u
#define SOME_CORRECTED	(1ull << 1 | 1ull << 4 | 1ull << 9)

START_TEST(one_counter_is_added)
{
	struct vperfctr_correction c = {
		.interrupts = { .event = 0x1cb, .flags = PERFCTR_CTR_USER },
		.per_interrupt = 1,
	};
	struct perfctr_control control;
	unsigned long long counts[SOME_COUNTERS + 1];
	unsigned int i;

	some_control(&control);
	ck_assert_uint_eq(control.nractrs, SOME_COUNTERS);
	ck_assert_int_eq(vperfctr_add_correction(&c, &control), 0);
	ck_assert_uint_eq(control.nractrs, SOME_COUNTERS + 1);
	ck_assert_uint_eq(control.ctr[SOME_COUNTERS].event, 0x1cb);
	ck_assert_uint_eq(control.ctr[SOME_COUNTERS].flags, PERFCTR_CTR_USER);
	ck_assert_uint_eq(c.counter, SOME_COUNTERS);
	ck_assert_uint_eq(c.corrected, SOME_CORRECTED);

	for (i = 0; i < SOME_COUNTERS; i++)
		counts[i] = 1000 + i;
	counts[SOME_COUNTERS] = 7;
	for (i = 0; i <= SOME_COUNTERS; i++)
		ck_assert_uint_eq(vperfctr_corrected(&c, counts, i),
				  counts[i] - (SOME_CORRECTED >> i & 1 ? 7 : 0));
}
END_TEST

/* The Pentium's event selects have modes, and instructions another number. */
START_TEST(the_pentiums_instructions)
{
	static const uint64_t event[] = { 0x16, 0x96, 0xc0, 0x116, 0x12 };
	struct vperfctr_correction c = {
		.interrupts = { .event = 0x27, .flags = PERFCTR_CTR_USER },
		.per_interrupt = 1,
	};
	struct perfctr_control control = { PERFCTR_CONTROL_INIT, .nractrs = 5 };
	unsigned int i;

	for (i = 0; i < 5; i++) {
		control.ctr[i].event = event[i];
		control.ctr[i].flags = PERFCTR_CTR_USER;
	}
	ck_assert_int_eq(vperfctr_add_correction(&c, &control), 0);
	ck_assert_uint_eq(control.ctr[5].event, 0x27);
	ck_assert_uint_eq(c.corrected, 1ull << 0 | 1ull << 1);
}
END_TEST

START_TEST(none_is_needed)
{
	struct vperfctr_correction c = { .per_fault = 1 };
	unsigned long long counts[SOME_COUNTERS + 1] = { 0, 1000 };
	struct perfctr_control control;

	/* It counts exactly. */
	some_control(&control);
	ck_assert_int_eq(vperfctr_add_correction(&c, &control), 0);
	ck_assert_uint_eq(control.nractrs, SOME_COUNTERS);
	ck_assert_uint_eq(c.corrected, SOME_CORRECTED);
	counts[SOME_COUNTERS] = 7;
	ck_assert_uint_eq(vperfctr_corrected(&c, counts, 1), 1000);

	/* Nothing is to be corrected. */
	c.per_interrupt = 1;
	control.nractrs = 1;
	ck_assert_int_eq(vperfctr_add_correction(&c, &control), 0);
	ck_assert_uint_eq(control.nractrs, 1);
	ck_assert_uint_eq(c.corrected, 0);
	ck_assert_uint_eq(vperfctr_corrected(&c, counts, 1), 1000);
}
END_TEST

START_TEST(refusals)
{
	struct vperfctr_correction c = { .per_interrupt = 1 };
	struct perfctr_control control;

	some_control(&control);
	control.nrictrs = 1;
	ck_assert_int_eq(vperfctr_add_correction(&c, &control), -1);
	ck_assert_int_eq(errno, EOPNOTSUPP);
	control.nrictrs = 0;
	control.nractrs = PERFCTR_MAX_CTRS;
	ck_assert_int_eq(vperfctr_add_correction(&c, &control), -1);
	ck_assert_int_eq(errno, EINVAL);
	c.per_interrupt = 0;
	ck_assert_int_eq(vperfctr_add_correction(&c, &control), 0);
	control.nractrs = PERFCTR_MAX_CTRS + 1;
	ck_assert_int_eq(vperfctr_add_correction(&c, &control), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

#endif

int main(void)
{
	TCase *tc = tcase_create("noise");

	tcase_add_test(tc, exact_processor);
	tcase_add_test(tc, one_too_many);
	tcase_add_test(tc, noise_in_the_first_run);
	tcase_add_test(tc, neither_fits);
	tcase_add_test(tc, too_few_interrupts);
	tcase_add_test(tc, the_same_in_each_run);
	tcase_add_test(tc, faults);
#if defined(__x86_64__) || defined(__i386__)
	tcase_add_test(tc, one_counter_is_added);
	tcase_add_test(tc, the_pentiums_instructions);
	tcase_add_test(tc, none_is_needed);
	tcase_add_test(tc, refusals);
#endif
	return run_tests("correct", tc);
}
