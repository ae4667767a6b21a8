/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REPORT_TESTS_H
#define REPORT_TESTS_H

#include <check.h>

void add_reader_tests(TCase *tc);
void add_profile_tests(TCase *tc);
void add_output_tests(TCase *tc);

#endif /* REPORT_TESTS_H */
