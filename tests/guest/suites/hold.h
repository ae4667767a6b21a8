/* SPDX-License-Identifier: GPL-2.0 */
/* The subject of test_hold.c, in two files. */
#ifndef PERFCTR_TEST_HOLD_H
#define PERFCTR_TEST_HOLD_H

/* The tests of test_hold_raw.c, which test_hold.c calls */
void hold_raw(void);

#endif
