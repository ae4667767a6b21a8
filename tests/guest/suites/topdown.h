/* SPDX-License-Identifier: GPL-2.0 */
/* A control of all metrics, and what they must be. */
#ifndef PERFCTR_TEST_TOPDOWN_H
#define PERFCTR_TEST_TOPDOWN_H

#include <linux/perfctr.h>
#include <stdint.h>

#define USER		PERFCTR_CTR_USER
#define SLOTS		PERFCTR_EVENT_SLOTS
#define METRIC(n)	PERFCTR_EVENT_METRIC(n)
#define L1		4u
#define WHOLE		255u

/* Where each counter is in the tests' control: metrics are the last ones. */
enum { CYCLES, INSTRUCTIONS, BRANCHES_AT, SLOTS_AT, METRICS_AT };

/* Slots of a cycle */
uint64_t width(void);
unsigned int nr_metrics(void);
void add(struct perfctr_control *control, uint64_t event);
void whole_control(struct perfctr_control *control);
int count_all(void);

/* What of the slots is each metric's, in fifths of a slot, from the counts beside them */
#define FIFTHS	5u

void parts_of(const __u64 *sum, uint64_t *part);
double share(uint64_t part, uint64_t slots);

/* The tests of test_topdown_others.c, which test_topdown.c calls */
void topdown_others(void);

#endif
