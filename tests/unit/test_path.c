// SPDX-License-Identifier: GPL-2.0
/* perfex: names of output files with %p, %h and %q{VAR}. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "run.h"

static char why[256];

static void is(const char *pattern, const char *want)
{
	char *path = path_expand(pattern, why, sizeof(why));

	ck_assert_msg(path, "%s: %s", pattern, why);
	ck_assert_str_eq(path, want);
	free(path);
}

static void is_refused(const char *pattern, const char *words)
{
	char *path = path_expand(pattern, why, sizeof(why));

	ck_assert_msg(!path, "%s became %s", pattern, path);
	ck_assert_msg(strstr(why, words), "%s: %s", pattern, why);
}

START_TEST(test_expanded)
{
	char want[300], host[256] = "";

	ck_assert_int_eq(setenv("RANK", "17", 1), 0);
	ck_assert_int_eq(setenv("EMPTY", "", 1), 0);
	is("plain", "plain");
	is("", "");
	is("100%%", "100%");
	is("a.%q{RANK}.%q{RANK}%q{EMPTY}.json", "a.17.17.json");
	(void)snprintf(want, sizeof(want), "%d", (int)getpid());
	is("%p", want);
	ck_assert_int_eq(gethostname(host, sizeof(host) - 1), 0);
	(void)snprintf(want, sizeof(want), "/x/%s-%d", host, (int)getpid());
	is("/x/%h-%p", want);
	/* What a variable holds is not looked at again. */
	ck_assert_int_eq(setenv("RANK", "%p", 1), 0);
	is("%q{RANK}", "%p");
}
END_TEST

START_TEST(test_refused)
{
	ck_assert_int_eq(unsetenv("NOT_THERE"), 0);
	ck_assert_int_eq(setenv("SLASH", "a/b", 1), 0);
	is_refused("%", "after a percent sign stands p, h, q{VAR} or %");
	is_refused("%d", "'%d': after a percent sign");
	is_refused("a%q", "name of a variable in braces");
	is_refused("%q{", "name of a variable in braces");
	is_refused("%q{RANK", "name of a variable in braces");
	is_refused("%q{}", "name of a variable in braces");
	is_refused("%q{NOT_THERE}", "the environment has no variable NOT_THERE");
	is_refused("%q{SLASH}", "SLASH is 'a/b', which has a slash");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("path");

	tcase_add_test(tcase, test_expanded);
	tcase_add_test(tcase, test_refused);
	return run_tests("path", tcase);
}
