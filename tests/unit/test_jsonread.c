// SPDX-License-Identifier: GPL-2.0
/* perfex: reading JSON, good and bad. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/jsonread.h"
#include "run.h"

static char why[200];

static void is_bad(const char *text, const char *words)
{
	struct json *json = json_parse(text, why, sizeof(why));

	ck_assert_msg(!json, "it took %s", text);
	ck_assert_msg(strstr(why, words), "%s: '%s' is not in: %s", text, words, why);
}

START_TEST(test_good)
{
	struct json *json = json_parse(" {\"a\": [1, -2.5e3, {\"b\": null}], \"c\":{}, \"d\" : [],"
				       "\"e\": true,\"f\":false , \"g\": \"x\\n\\\"\\u00e4\\u20ac\\ud800\"} ",
				       why, sizeof(why));
	const struct json *a;

	ck_assert_msg(json, "%s", why);
	ck_assert_int_eq(json->type, JSON_OBJECT);
	a = json_member(json, "a");
	ck_assert_int_eq(a->type, JSON_ARRAY);
	ck_assert_str_eq(a->child->text, "1");
	ck_assert_str_eq(a->child->next->text, "-2.5e3");
	ck_assert_int_eq(json_member(a->child->next->next, "b")->type, JSON_NULL);
	ck_assert_ptr_null(a->child->next->next->next);
	ck_assert_ptr_null(json_member(json, "c")->child);
	ck_assert_int_eq(json_member(json, "c")->type, JSON_OBJECT);
	ck_assert_int_eq(json_member(json, "d")->type, JSON_ARRAY);
	ck_assert_int_eq(json_member(json, "e")->type, JSON_TRUE);
	ck_assert_int_eq(json_member(json, "f")->type, JSON_FALSE);
	ck_assert_str_eq(json_member(json, "g")->text, "x\n\"\xc3\xa4\xe2\x82\xac\xef\xbf\xbd");
	ck_assert_ptr_null(json_member(json, "b"));
	ck_assert_ptr_null(json_member(a, "a"));
	ck_assert_ptr_null(json_member(NULL, "a"));
	json_free(json);
	json = json_parse("0", why, sizeof(why));
	ck_assert_str_eq(json->text, "0");
	json_free(json);
	json_free(NULL);
}
END_TEST

START_TEST(test_bad)
{
	is_bad("", "at character 1 there is the end, where a value was expected");
	is_bad("{", "there is the end, where the name of a member was expected");
	is_bad("{\"a\" 1}", "at character 6 there is '1}', where a colon was expected");
	is_bad("{\"a\": 1,}", "the name of a member was expected");
	is_bad("{\"a\": 1 \"b\"}", "a comma or } was expected");
	is_bad("[1 2]", "a comma or ] was expected");
	is_bad("[1, ]", "a value was expected");
	is_bad("[1}", "a comma or ] was expected");
	is_bad("[1]]", "where nothing more was expected");
	is_bad("{} {}", "where nothing more was expected");
	is_bad("\"abc", "a quotation mark was expected");
	is_bad("\"a\nb\"", "a quotation mark was expected");
	is_bad("\"\\x\"", "may follow a backslash");
	is_bad("\"\\u12g4\"", "four hexadecimal digits");
	is_bad("\"\\u12", "four hexadecimal digits");
	is_bad("nul", "a value was expected");
	is_bad("-", "a value was expected");
	is_bad("1.", "a digit was expected");
	is_bad("1e", "a digit was expected");
	is_bad("01", "where nothing more was expected");
}
END_TEST

/* Each beginning of a text that is good is bad, and a hundred thousand brackets are no problem. */
START_TEST(test_cut_and_deep)
{
	static const char good[] = "{\"a\": [1.5, {\"b\": \"\\u00e4\"}], \"c\": null}";
	static char deep[200001];
	char cut[sizeof(good)];
	struct json *json;
	size_t i;

	for (i = 0; i < sizeof(good) - 1; i++) {
		(void)snprintf(cut, sizeof(cut), "%.*s", (int)i, good);
		is_bad(cut, "was expected");
	}
	memset(deep, '[', 100000);
	is_bad(deep, "the end, where a value was expected");
	memset(deep + 100000, ']', 100000);
	json = json_parse(deep, why, sizeof(why));
	ck_assert_ptr_nonnull(json);
	json_free(json);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("jsonread");

	tcase_add_test(tcase, test_good);
	tcase_add_test(tcase, test_bad);
	tcase_add_test(tcase, test_cut_and_deep);
	return run_tests("jsonread", tcase);
}
