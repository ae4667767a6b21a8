/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The runner: each test, and each row of a test that has a table, is a process of
 * its own, so the driver's static data are as after loading. One line per test. UNIT_ONLY
 * chooses those whose names begin like that.
 */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>

void unit_begin(const char *subject);
/* @rows: how often it is run, with _i from 0; 1 without a table */
void unit_run(const TTest *test, int rows);
/* Prints the counts; the exit status of the program. */
int unit_end(void);

#define UNIT_RUN(test)		unit_run(test, 1)
#define UNIT_ROWS(test, table)	unit_run(test, (int)(sizeof(table) / sizeof((table)[0])))

/* What there is to test: of an architecture, and of config.c and shared.c over its driver */
void test_arch(void);
void test_config(void);
void test_shared(void);

#endif /* UNIT_H */
