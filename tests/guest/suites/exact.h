/* SPDX-License-Identifier: GPL-2.0 */
/* A thread that is counted, whose counts must be exact. */
#ifndef PERFCTR_TEST_EXACT_H
#define PERFCTR_TEST_EXACT_H

#include <linux/perfctr.h>
#include <stdbool.h>
#include <stdint.h>

#include "kit/loops.h"

#define RUNS 1000u
#define SPIN_LOOPS 2000
#define YIELDS 4ul

/* The thread that is counted: a handle and, for inline reads, its page. */
struct subject {
	int fd;
	const struct perfctr_page *page;
};

/* The page, if it shows registers; else reads go through the kernel although it is mapped. */
const struct perfctr_page *shown_page(int fd);
struct subject subject_open(bool mapped);

/* Counts body(arg) once, by inline reads where there is a page. */
void demand(const struct subject *subject, body_fn *body, unsigned long arg,
	    uint64_t length, unsigned int turn);

/* All 1,000 runs: a loop, which only interrupts disturb, and one that calls the kernel. */
void demand_runs(const struct subject *subject);

/* The tests of test_exact_among.c, which test_exact.c calls */
void exact_among(void);

#endif
