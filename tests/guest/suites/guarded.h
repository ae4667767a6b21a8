/* SPDX-License-Identifier: GPL-2.0 */
/* The policy, and a control for what it guards. */
#ifndef PERFCTR_TEST_GUARDED_H
#define PERFCTR_TEST_GUARDED_H

#include <check.h>
#include <linux/perfctr.h>
#include <stdbool.h>

#include "kit/counting.h"
#include "kit/loops.h"

#define REGISTERS 32
#if defined(__riscv)
#define TIME_REGISTER 1	/* the time of day is no secret */
#else
#define TIME_REGISTER REGISTERS
#endif

struct perfctr_control usual_control(bool other);
void set_policy(const char *policy);
void run_policy(const TTest *test, unsigned int what);

/* The tests of test_guarded_registers.c, which test_guarded.c calls */
void guarded_registers(void);

#endif
