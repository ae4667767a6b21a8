// SPDX-License-Identifier: GPL-2.0
/* perfex report, without symbols: the reader, address spaces, sums, and what is printed */
#include <stdlib.h>

#include "tests.h"

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tc = tcase_create("report");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	add_reader_tests(tc);
	add_profile_tests(tc);
	add_output_tests(tc);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
