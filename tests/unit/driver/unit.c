// SPDX-License-Identifier: GPL-2.0
/* See unit.h. */
#include "unit.h"

#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT 120	/* seconds; a test takes none, but a busy machine may */

static struct {
	const char *subject;
	int passed;
	int failed;
} run;

void unit_begin(const char *subject)
{
	run.subject = subject;
}

static void flatten(char *text)
{
	for (; *text; text++)
		if (*text == '\n')
			*text = ' ';
}

/* The first failure tells enough; the others of a table are only counted. */
static void complain(const TTest *test, SRunner *runner)
{
	TestResult **results = srunner_failures(runner);
	int failures = srunner_ntests_failed(runner);
	char why[1024];

	(void)snprintf(why, sizeof(why), "%s:%d: %s", tr_lfile(results[0]), tr_lno(results[0]),
		       tr_msg(results[0]));
	flatten(why);
	printf("not ok %s.%s: %s", run.subject, test->name, why);
	if (failures > 1)
		printf(" (and %d more rows)", failures - 1);
	printf("\n");
	free((void *)results);
}

/* UNIT_ONLY: the beginning of a subject, a dot and a test */
static bool is_wanted(const TTest *test)
{
	const char *only = getenv("UNIT_ONLY");
	char name[256];

	(void)snprintf(name, sizeof(name), "%s.%s", run.subject, test->name);
	return !only || !strncmp(name, only, strlen(only));
}

void unit_run(const TTest *test, int rows)
{
	Suite *suite;
	SRunner *runner;
	TCase *tcase;

	if (!is_wanted(test))
		return;
	suite = suite_create(run.subject);
	tcase = tcase_create(test->name);
	runner = srunner_create(suite);
	tcase_set_timeout(tcase, TIMEOUT);
	tcase_add_loop_test(tcase, test, 0, rows);
	suite_add_tcase(suite, tcase);
	srunner_set_fork_status(runner, CK_FORK);
	srunner_run_all(runner, CK_SILENT);
	if (srunner_ntests_failed(runner) == 0 && srunner_ntests_run(runner) == rows) {
		run.passed++;
		printf("ok %s.%s\n", run.subject, test->name);
	} else {
		run.failed++;
		complain(test, runner);
	}
	srunner_free(runner);
}

int unit_end(void)
{
	printf("%d passed, %d failed\n", run.passed, run.failed);
	return run.failed || !run.passed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_arch();
	test_config();
	test_shared();
	return unit_end();
}
