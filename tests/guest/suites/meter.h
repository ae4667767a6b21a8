/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of a meter that fail. */
#ifndef PERFCTR_TEST_METER_H
#define PERFCTR_TEST_METER_H

#include <libperfctr.h>

/* The name of instructions, which every machine with counters has */
#define NAME "instructions"

struct vperfctr_meter *meter_of(const char *events, unsigned int flags);

/* The call fails with @err, and its sentence has all of these words, NULL behind them. */
void expect_failure(struct vperfctr_meter *m, int err, int expected, ...);

/* The tests of test_meter_refused.c, which test_meter.c calls */
void meter_refused(void);

#endif
