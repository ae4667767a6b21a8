/* SPDX-License-Identifier: GPL-2.0 */
/* Controls of a Pentium 4. */
#ifndef PERFCTR_TEST_P4_H
#define PERFCTR_TEST_P4_H

#include <errno.h>
#include <linux/perfctr.h>
#include <stdint.h>

#include "kit/loops.h"

#define USER	PERFCTR_CTR_USER
#define LOOPS	2000ul

/* CCCR */
#define SELECT(n)	((uint64_t)(n) << 13)

/* ESCR */
#define ESCR(event, mask)	((uint64_t)(event) << 25 | (uint64_t)(mask) << 9)
#define T1_USR	1u
#define INSNS	ESCR(2, 1)

void add(struct perfctr_control *control, uint32_t map, uint64_t cccr, uint64_t escr);

/* What counter @i counts of the body */
uint64_t counted(int fd, unsigned int i, body_fn *body, unsigned long arg);

/* The tests of test_p4_threads.c, which test_p4.c calls */
void p4_threads(void);

#endif
