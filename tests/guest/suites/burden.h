/* SPDX-License-Identifier: GPL-2.0 */
/* The subject of test_burden.c, in two files. */
#ifndef PERFCTR_TEST_BURDEN_H
#define PERFCTR_TEST_BURDEN_H

#define LOOPS 1000ul

/* A handler that does nothing but end a wait */
static inline void wake(int signo)
{
	(void)signo;
}

/* The tests of test_burden_evicted.c, which test_burden.c calls */
void burden_evicted(void);

#endif
