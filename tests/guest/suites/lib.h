/* SPDX-License-Identifier: GPL-2.0 */
/* A control of perfctr 2.6's. */
#ifndef PERFCTR_TEST_LIB_H
#define PERFCTR_TEST_LIB_H

#include <libperfctr.h>
#include <stdbool.h>

#define LOOPS 10000ul

bool has_counters(void);

/* The clock, and instructions and store misses where there are counters. */
void usual_control(struct vperfctr_control *control);
struct vperfctr *usual(void);

/* Out of line, so that it is the same code for any @n. */
__attribute__((noipa)) unsigned long long count_once(const struct vperfctr *v,
						     unsigned long n);

/* The read's own length drops out of the difference of two counts. */
void counts_exactly(const struct vperfctr *v);

/* The tests of test_lib_*.c, which test_lib.c calls */
void lib_handles(void);
void lib_events(void);

#endif
