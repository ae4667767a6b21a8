/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PPC32_TESTS_H
#define PPC32_TESTS_H

#include "threads.h"
#include "unit.h"

void test_model(void);
void test_check(void);
void test_claim(void);
void test_load(void);
void test_ictrs(void);
void test_own_way(void);
void test_user(void);
void test_perf(void);
void test_verify(void);

#endif /* PPC32_TESTS_H */
