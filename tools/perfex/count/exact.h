/* SPDX-License-Identifier: GPL-2.0 */
/* --exact subtracts the instructions that a processor counts too many at interrupts. */
#ifndef PERFEX_EXACT_H
#define PERFEX_EXACT_H

#include "count/events.h"
#include "count/how.h"

/* Measures the correction, before anything runs. False: it has told why there is none. */
bool exact_begin(const struct perfctr_info *info, struct events *events, struct how *how);
/* Adds a counter of interrupts behind those of the events. */
void exact_control(const struct how *how, struct perfctr_control *control);
/* Turns the kernel's sums into what the program executed. */
void exact_correct(const struct how *how, unsigned int nrctrs, __u64 *sum);
/* How many instructions were taken off each corrected count */
uint64_t exact_subtracted(const struct how *how, const struct perfctr_read_tree *sums);
/* By how many each corrected count may still be too high */
uint64_t exact_excess(const struct how *how, const struct perfctr_read_tree *sums);

#endif /* PERFEX_EXACT_H */
