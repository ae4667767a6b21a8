/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RISCV_TESTS_H
#define RISCV_TESTS_H

#include "threads.h"
#include "unit.h"

void test_check(void);
void test_claim(void);
void test_load(void);
void test_ictrs(void);
void test_user(void);
void test_cpus(void);
void test_perf(void);
void test_frames(void);

#endif /* RISCV_TESTS_H */
