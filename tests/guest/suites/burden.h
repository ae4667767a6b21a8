/* SPDX-License-Identifier: GPL-2.0 */
/* Threads that would disturb what is counted here. */
#ifndef PERFCTR_TEST_BURDEN_H
#define PERFCTR_TEST_BURDEN_H

#define LOOPS 1000ul

void wake(int signo);

/* The tests of test_burden_evicted.c, which test_burden.c calls */
void burden_evicted(void);

#endif
