// SPDX-License-Identifier: GPL-2.0
/* perfex selftest: which counts of code of known length are exact, and what is said of those that are not. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "count/why.h"
#include "selftest/loop.h"
#include "run.h"

static char deviation[256];

/* Of checks.c and why.c */
void deviates(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(deviation, sizeof(deviation), format, args);
	va_end(args);
}

const char *why_busy(unsigned int owner, unsigned int reason)
{
	(void)owner;
	(void)reason;
	return "busy";
}

const char *why_open(void)
{
	return "open";
}

const char *why_unbound(void)
{
	return "unbound";
}

static void nothing(unsigned long n)
{
	(void)n;
}

/* A counter of perf's, whose reads in pairs differ by these */
static struct counting counts_are(const uint64_t *differences, unsigned int n)
{
	uint64_t count = 1000;
	unsigned int i;
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(write(fds[1], &count, sizeof(count)), sizeof(count));
		count += differences[i];
		ck_assert_int_eq(write(fds[1], &count, sizeof(count)), sizeof(count));
		count += 17;
	}
	close(fds[1]);
	return (struct counting){ .fd = fds[0], .perf = true };
}

static void is_told(const struct tally *tally, const char *words)
{
	FILE *terminal = stdout;
	size_t size;
	char *text;

	stdout = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(stdout);
	tell_tally("the loop", tally, 100, NO_SWITCHES);
	fclose(stdout);
	stdout = terminal;
	ck_assert_str_eq(text, words);
	free(text);
}

/* What is counted too many is as wrong as what is counted too few. */
START_TEST(test_too_many_and_too_few)
{
	static const struct {
		uint64_t counts[3];
		unsigned int exact;
		uint64_t off;			/* the most, if some were exact */
		const char *told, *deviation;
	} rows[] = {
		{ { 100, 100, 100 }, 3, 0, "  the loop: exact in 3 of 3 runs\n", "" },
		{ { 100, 103, 100 }, 2, 3, "  the loop: exact in 2 of 3 runs, counted were 100 to 103, executed 100\n",
		  "" },
		{ { 101, 100, 98 }, 1, 2, "  the loop: exact in 1 of 3 runs, counted were 98 to 101, executed 100\n",
		  "" },
		{ { 102, 101, 103 }, 0, 0, "  the loop: exact in 0 of 3 runs, counted were 101 to 103, executed 100\n",
		  "the loop: of 100 instructions 101 to 103 are counted" },
		{ { 97, 99, 98 }, 0, 0, "  the loop: exact in 0 of 3 runs, counted were 97 to 99, executed 100\n",
		  "the loop: of 100 instructions 97 to 99 are counted" },
	};
	unsigned int i, k;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tally tally = { .runs = 0 };

		deviation[0] = '\0';
		all_runs = (struct runs){ .all = 0 };
		for (k = 0; k < 3; k++)
			tally_add(&tally, rows[i].counts[k], 100);
		ck_assert_uint_eq(tally.exact, rows[i].exact);
		is_told(&tally, rows[i].told);
		judge_tally("the loop", &tally, 100);
		ck_assert_str_eq(deviation, rows[i].deviation);
		ck_assert_uint_eq(all_runs.all, 3);
		ck_assert_uint_eq(all_runs.off, rows[i].exact ? 3 - rows[i].exact : 0);
		ck_assert_uint_eq(all_runs.most, rows[i].off);
	}
}
END_TEST

/* A run is the work with more less that with less; the first time is for the caches. */
START_TEST(test_runs)
{
	static const uint64_t differences[] = { 999, 10, 110, 11, 110, 10, 111 };
	struct counting c = counts_are(differences, 7);
	struct tally seen;

	ck_assert(tally(&c, 3, nothing, 1, 2, 100, &seen));
	ck_assert_uint_eq(seen.runs, 3);
	ck_assert_uint_eq(seen.exact, 1);
	ck_assert_uint_eq(seen.least, 99);
	ck_assert_uint_eq(seen.most, 101);
	/* There is no more. */
	ck_assert(!tally(&c, 1, nothing, 1, 2, 100, &seen));
	close(c.fd);
}
END_TEST

START_TEST(test_fewest)
{
	static const uint64_t differences[] = {
		12, 113, 11, 112, 10, 113, 12, 114, 12, 113, 12, 111, 12, 113, 12, 113, 12, 113, 12, 113,
	};
	struct counting c = counts_are(differences, 20);
	uint64_t least;

	ck_assert(fewest(&c, nothing, 1, 2, &least));
	ck_assert_uint_eq(least, 101);
	ck_assert(!fewest(&c, nothing, 1, 2, &least));
	close(c.fd);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("tally");

	tcase_add_test(tcase, test_too_many_and_too_few);
	tcase_add_test(tcase, test_runs);
	tcase_add_test(tcase, test_fewest);
	return run_tests("tally", tcase);
}
