// SPDX-License-Identifier: GPL-2.0
/* perfex merge: files of JSON become one table; which files are refused, and with which words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libperfctr.h>

#include "merge/counts_file.h"
#include "merge/merge.h"
#include "run.h"

#define U	PERFCTR_CTR_USER
#define BOTH	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

static char path[] = "/tmp/test_merge.XXXXXX";
static char why[320];
static struct counts_file file;
static struct merge merge;

static bool read_text(const char *text)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
	return counts_file_read(path, &file, why, sizeof(why));
}

static void is_good(const char *text)
{
	ck_assert_msg(read_text(text), "%s: %s", text, why);
}

static void is_bad(const char *text, const char *words)
{
	ck_assert_msg(!read_text(text), "it took %s", text);
	ck_assert_msg(strstr(why, words), "%s: '%s' is not in: %s", text, words, why);
}

#define EVENT(name, user, kernel, count) \
	"{\"event\": \"" name "\", \"user\": " user ", \"kernel\": " kernel ", \"count\": " count "}"
#define END	"\"complete\": true, \"incomplete_because\": null}\n"

START_TEST(test_file)
{
	const struct value *value;

	is_good("{\"interval\": 1.0, \"counts\": [" EVENT("cycles", "true", "false", "1") "]}\n"
		"{\"command\": [\"x\"], \"counts\": ["
		EVENT("cycles", "true", "false", "18446744073709551615") ", "
		EVENT("instructions", "true", "true", "null") "],"
		"\"derived\": [{\"name\": \"processors used\", \"unit\": \"\", \"value\": 0.5},"
		"{\"name\": \"cycles per nanosecond\", \"user\": true, \"kernel\": true, \"unit\": \"GHz\","
		"\"value\": 3}], \"topdown\": {\"bad_speculation\": 0.25},"
		"\"clock\": {\"ticks\": 10, \"hz\": 5, \"seconds\": 2.0},"
		"\"kernel_counts\": {\"context_switches\": 4}, \"elapsed\": 7.5, " END "\n\n");
	ck_assert_str_eq(file.incomplete, "");
	value = values_find(&file.values, VALUE_EVENT, "cycles");
	ck_assert(value && value->known && value->mode == U);
	ck_assert_uint_eq(value->count, UINT64_MAX);
	value = values_find(&file.values, VALUE_EVENT, "instructions");
	ck_assert(value && !value->known && value->mode == BOTH);
	value = values_find(&file.values, VALUE_DERIVED, "cycles per nanosecond");
	ck_assert(value && value->number == 3 && value->mode == BOTH);
	ck_assert_str_eq(value->unit, "GHz");
	value = values_find(&file.values, VALUE_DERIVED, "processors used");
	ck_assert(value && value->number == 0.5 && !value->mode);
	value = values_find(&file.values, VALUE_SHARE, "bad speculation");
	ck_assert(value && value->number == 25);
	value = values_find(&file.values, VALUE_SECONDS, "on a processor");
	ck_assert(value && value->number == 2);
	value = values_find(&file.values, VALUE_COUNT, "context switches");
	ck_assert(value && value->count == 4);
	ck_assert_ptr_null(values_find(&file.values, VALUE_COUNT, "migrations"));
	is_good("{\"counts\": [], \"complete\": false, \"incomplete_because\": \"no memory\"}");
	ck_assert_str_eq(file.incomplete, "no memory");
}
END_TEST

START_TEST(test_refused)
{
	is_bad("", "is empty");
	is_bad("\n \n", "is empty");
	is_bad(" Counts of 'x':\n", "line 1 is no JSON: at character 2 there is 'Counts of 'x', where a value");
	is_bad("{}\n", "line 1 is not what perfex --json writes: 'counts' is missing");
	is_bad("{\"counts\": 1, " END, "'counts' is missing, or not what it should be");
	is_bad("{\"counts\": [1], " END, "'event'");
	is_bad("{\"counts\": [{\"event\": 1, \"count\": 1}], " END, "'event'");
	is_bad("{\"counts\": [{\"event\": \"x\"}], " END, "'count'");
	is_bad("{\"counts\": [" EVENT("x", "true", "true", "-1") "], " END, "'count' is -1, which is no whole");
	is_bad("{\"counts\": [" EVENT("x", "true", "true", "18446744073709551616") "], " END,
	       "'count' is 18446744073709551616, which is no whole");
	is_bad("{\"counts\": [" EVENT("x", "true", "true", "\"1\"") "], " END, "'count' is missing, or not");
	/* What is no whole number: as other programs write large ones, and other forms */
	is_bad("{\"counts\": [" EVENT("x", "true", "true", "1.5e9") "], " END,
	       "line 1 is not what perfex --json writes: 'count' is 1.5e9, which is no whole number of at most");
	is_bad("{\"counts\": [" EVENT("x", "true", "true", "2.0") "], " END, "'count' is 2.0, which is no whole");
	is_bad("{\"counts\": [" EVENT("x", "true", "true", "2e3") "], " END, "'count' is 2e3, which is no whole");
	is_bad("{\"counts\": [" EVENT("x", "true", "true", "-0") "], " END, "'count' is -0, which is no whole");
	is_bad("{\"counts\": [], \"clock\": {\"ticks\": 1.5}, " END, "'ticks' is 1.5, which is no whole");
	is_bad("{\"counts\": [], \"kernel_counts\": {\"migrations\": 1e0}, " END, "'migrations' is 1e0, which");
	is_bad("{\"counts\": [], \"exact\": {\"subtracted\": 0.5}, " END, "'subtracted' is 0.5, which");
	is_good("{\"counts\": [" EVENT("x", "true", "true", "0") "], \"elapsed\": 1.5e-3, " END);
	is_bad("{\"counts\": [], \"elapsed\": \"1\", " END, "'elapsed'");
	is_bad("{\"counts\": []}", "'complete'");
	is_bad("{\"runs\": 3, \"counts\": [], " END, "counts of one run: they are of several (--repeat)");
	is_bad("{\"pass\": 1, \"passes\": 3, \"counts\": [], " END,
	       "counts of one run: they are of several (--passes)");
	is_bad("{\"counts\": [], " END "{\"interval\": 1, \"counts\": []}\n", "line 2 is not the counts of a whole");
	ck_assert(!counts_file_read("/nonexistent", &file, why, sizeof(why)));
	ck_assert_str_eq(why, "cannot be read: No such file or directory");
	ck_assert(!counts_file_read("/tmp", &file, why, sizeof(why)));
	ck_assert_str_eq(why, "cannot be read: Is a directory");
}
END_TEST

static const struct merged *merged_of(enum value_kind kind, const char *name, unsigned int mode)
{
	unsigned int i;

	for (i = 0; i < merge.values.n; i++)
		if (merge.values.value[i].kind == kind && merge.values.value[i].mode == mode &&
		    !strcmp(merge.values.value[i].name, name))
			return &merge.merged[i];
	ck_abort_msg("no %s", name);
	return NULL;
}

START_TEST(test_merge)
{
	const struct merged *m;

	is_good("{\"counts\": [" EVENT("a", "true", "false", "10") "," EVENT("b", "true", "false", "1")
		"], \"elapsed\": 1.5, " END);
	merge_add(&merge, 0, &file.values);
	/* In another order, and of another mode */
	is_good("{\"counts\": [" EVENT("b", "true", "true", "5") "," EVENT("a", "true", "false", "4")
		"], \"elapsed\": 0.5, " END);
	merge_add(&merge, 1, &file.values);
	is_good("{\"counts\": [" EVENT("a", "true", "false", "10") "," EVENT("b", "true", "false", "null")
		"], \"elapsed\": 1.0, " END);
	merge_add(&merge, 2, &file.values);
	/* Of equal ones it is the first file. */
	is_good("{\"counts\": [" EVENT("b", "true", "true", "5") "], \"elapsed\": 1.0, " END);
	merge_add(&merge, 3, &file.values);

	m = merged_of(VALUE_EVENT, "a", U);
	ck_assert_uint_eq(m->files, 3);
	ck_assert_uint_eq(m->minimum.count, 4);
	ck_assert_uint_eq(m->minimum_of, 1);
	ck_assert_uint_eq(m->maximum.count, 10);
	ck_assert_uint_eq(m->maximum_of, 0);
	ck_assert_double_eq_tol(m->mean, 8, 1e-12);
	ck_assert_uint_eq(m->total, 24);
	/* What was not counted is no zero, and another mode is another number. */
	m = merged_of(VALUE_EVENT, "b", U);
	ck_assert_uint_eq(m->files, 1);
	ck_assert_uint_eq(m->minimum.count, 1);
	m = merged_of(VALUE_EVENT, "b", BOTH);
	ck_assert_uint_eq(m->files, 2);
	ck_assert_uint_eq(m->minimum_of, 1);
	ck_assert_uint_eq(m->maximum_of, 1);
	m = merged_of(VALUE_SECONDS, "elapsed", 0);
	ck_assert_double_eq(m->mean, 1);
	ck_assert_uint_eq(m->minimum_of, 1);
	ck_assert_uint_eq(merge.values.n, 4);
}
END_TEST

/* An event that is counted twice is two numbers. */
START_TEST(test_twice)
{
	unsigned int i;

	merge.values.n = 0;
	for (i = 0; i < 2; i++) {
		is_good(i ? "{\"counts\": [" EVENT("a", "true", "false", "30") ","
			    EVENT("a", "true", "false", "40") "], " END :
			    "{\"counts\": [" EVENT("a", "true", "false", "1") ","
			    EVENT("a", "true", "false", "2") "], " END);
		merge_add(&merge, i, &file.values);
	}
	ck_assert_uint_eq(merge.values.n, 2);
	ck_assert_uint_eq(merge.merged[0].total, 31);
	ck_assert_uint_eq(merge.merged[1].total, 42);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("merge");
	int status, fd = mkstemp(path);

	if (fd < 0)
		return EXIT_FAILURE;
	close(fd);
	tcase_add_test(tcase, test_file);
	tcase_add_test(tcase, test_refused);
	tcase_add_test(tcase, test_merge);
	tcase_add_test(tcase, test_twice);
	status = run_tests("merge", tcase);
	(void)unlink(path);
	return status;
}
