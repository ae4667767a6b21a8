// SPDX-License-Identifier: GPL-2.0
/* perfex: texts and numbers as they stand in what it writes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libperfctr.h>

#include "base/quote.h"
#include "base/values.h"
#include "run.h"

/* What moves a cursor, as bytes and as UTF-8; what is no UTF-8; and what is text */
#define CONTROLS	"\033[2J\x9b\xc2\x9b\a\x7f\xc3\xa4\xe2\x82\xac"
#define PLAIN		"?[2J?????\xc3\xa4\xe2\x82\xac"

static void csv_is(const char *text, const char *want)
{
	char buf[64] = "";
	FILE *f = fmemopen(buf, sizeof(buf), "w");

	ck_assert_ptr_nonnull(f);
	csv_text(f, true, text);
	csv_text(f, false, text);
	fclose(f);
	ck_assert_uint_eq(strlen(buf), 2 * strlen(want) + 1);
	ck_assert(!strncmp(buf, want, strlen(want)));
	ck_assert_int_eq(buf[strlen(want)], ',');
	ck_assert_str_eq(buf + strlen(want) + 1, want);
}

START_TEST(test_csv)
{
	csv_is("", "");
	csv_is("cycles", "cycles");
	csv_is("a b", "a b");
	csv_is("a,b", "\"a,b\"");
	csv_is("a\"b", "\"a\"\"b\"");
	csv_is("\"", "\"\"\"\"");
	csv_is("a\nb", "a?b");
	csv_is("a\rb,", "\"a?b,\"");
	csv_is(CONTROLS, PLAIN);
}
END_TEST

static void value_is(enum value_kind kind, const char *unit, double number, const char *want)
{
	struct value value = { .kind = kind, .unit = unit };
	char buf[64];

	value_text(&value, number, buf, sizeof(buf));
	ck_assert_str_eq(buf, want);
}

START_TEST(test_values)
{
	value_is(VALUE_EVENT, "", 0, "0");
	value_is(VALUE_EVENT, "", 1234567, "1,234,567");
	value_is(VALUE_COUNT, "", 1000.5, "1,001");
	value_is(VALUE_COUNT, "", 0.8, "0.80");
	value_is(VALUE_COUNT, "", 999.5, "999.50");
	value_is(VALUE_COUNT, "", 42, "42");
	value_is(VALUE_EVENT, "", -1234567, "-1,234,567");
	value_is(VALUE_SECONDS, "s", 1.5, "1.500000000");
	value_is(VALUE_DERIVED, "", 2.5, "2.500");
	value_is(VALUE_DERIVED, "%", 12.345, "12.35%");
	value_is(VALUE_DERIVED, "GHz", 3.1, "3.100 GHz");
}
END_TEST

START_TEST(test_labels)
{
	struct value value = { .kind = VALUE_EVENT, .name = "cycles", .mode = 1 };
	char buf[64];

	value.mode = PERFCTR_CTR_USER;
	value_label(&value, buf, sizeof(buf));
	ck_assert_str_eq(buf, "cycles:u");
	value.mode = PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL;
	value_label(&value, buf, sizeof(buf));
	ck_assert_str_eq(buf, "cycles:uk");
	value = (struct value){ .kind = VALUE_SECONDS, .name = "elapsed" };
	value_label(&value, buf, sizeof(buf));
	ck_assert_str_eq(buf, "seconds elapsed");
}
END_TEST

static void columns_are(double number, const char *want)
{
	const struct value value = { .kind = VALUE_COUNT };
	char buf[64] = "";
	FILE *f = fmemopen(buf, sizeof(buf), "w");

	ck_assert_ptr_nonnull(f);
	value_column(f, 17, &value, number);
	column(f, 9, "x");
	value_column(f, 17, &value, number);
	fclose(f);
	ck_assert_str_eq(buf, want);
}

/* As wide as they are, two columns never run together. */
START_TEST(test_columns)
{
	columns_are(1234, "            1,234        x            1,234");
	columns_are(99999999999, "   99,999,999,999        x   99,999,999,999");
	columns_are(1e12, " 1,000,000,000,000        x 1,000,000,000,000");
	columns_are(1e15, " 1,000,000,000,000,000        x 1,000,000,000,000,000");
}
END_TEST

static char *printed(int width, const char *text, int *columns)
{
	static char buf[64];
	FILE *f = fmemopen(buf, sizeof(buf), "w");

	ck_assert_ptr_nonnull(f);
	*columns = plain_text(f, width, text);
	fclose(f);
	return buf;
}

START_TEST(test_plain)
{
	char text[] = CONTROLS, buf[80] = "";
	struct value value = { .name = "\033[31mcycles\n" };
	int columns;
	FILE *f;

	ck_assert_str_eq(printed(0, CONTROLS, &columns), PLAIN);
	ck_assert_int_eq(columns, 11);
	ck_assert_str_eq(printed(5, "\xc3\xa4\n", &columns), "   \xc3\xa4?");
	ck_assert_int_eq(columns, 5);
	ck_assert_str_eq(printed(-5, "\xc3\xa4\n", &columns), "\xc3\xa4?   ");
	ck_assert_int_eq(columns, 5);
	ck_assert_str_eq(printed(-1, "ab", &columns), "ab");
	ck_assert_int_eq(columns, 2);
	/* What only looks like UTF-8: surrogates, what is too long, and what is behind the last one */
	ck_assert_str_eq(printed(0, "\xed\x9f\xbf\xed\xa0\x80", &columns), "\xed\x9f\xbf???");
	ck_assert_str_eq(printed(0, "\xc1\xbf\xe0\x9f\xbf\xe0\xa0\x80", &columns), "?????\xe0\xa0\x80");
	ck_assert_str_eq(printed(0, "\xf0\x8f\xbf\xbf\xf0\x90\x80\x80", &columns), "????\xf0\x90\x80\x80");
	ck_assert_str_eq(printed(0, "\xf4\x8f\xbf\xbf\xf4\x90\x80\x80", &columns), "\xf4\x8f\xbf\xbf????");
	make_plain(text);
	ck_assert_str_eq(text, PLAIN);
	value_label(&value, buf, sizeof(buf));
	ck_assert_str_eq(buf, "?[31mcycles?");
	f = fmemopen(buf, sizeof(buf), "w");
	ck_assert_ptr_nonnull(f);
	plain_lines(f, "one \033[2J\ntwo\r\n");
	fclose(f);
	ck_assert_str_eq(buf, "one ?[2J\ntwo?\n");
	f = fmemopen(buf, sizeof(buf), "w");
	ck_assert_ptr_nonnull(f);
	json_string(f, CONTROLS);
	fclose(f);
	ck_assert_str_eq(buf, "\"\\u001b[2J\\ufffd\\u009b\\u0007\\u007f\xc3\xa4\xe2\x82\xac\"");
	f = fmemopen(buf, sizeof(buf), "w");
	ck_assert_ptr_nonnull(f);
	xml_text(f, "\033\xc2\x9b<", SIZE_MAX);
	fclose(f);
	ck_assert_str_eq(buf, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd&lt;");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("quote");

	tcase_add_test(tcase, test_csv);
	tcase_add_test(tcase, test_plain);
	tcase_add_test(tcase, test_values);
	tcase_add_test(tcase, test_labels);
	tcase_add_test(tcase, test_columns);
	return run_tests("quote", tcase);
}
