/* SPDX-License-Identifier: GPL-2.0 */
/* What is the same in each program of libcheck's here: it has one case. */
#ifndef PERFCTR_UNIT_RUN_H
#define PERFCTR_UNIT_RUN_H

#include <check.h>
#include <stdlib.h>

/* Runs the tests, says how many there were, and frees them. The program's exit status */
static inline int run_tests(const char *subject, TCase *tcase)
{
	Suite *suite = suite_create(subject);
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif /* PERFCTR_UNIT_RUN_H */
