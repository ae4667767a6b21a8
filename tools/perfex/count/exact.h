/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Implements --exact, which subtracts the extra instructions that a processor counts at interrupts.
 */
#ifndef PERFEX_EXACT_H
#define PERFEX_EXACT_H

#include "count/events.h"
#include "count/how.h"

/*
 * Measures the correction before anything runs. Returns true, or false after printing why there is
 * no correction.
 */
bool exact_begin(const struct perfctr_info *info, struct events *events, struct how *how);
/* Adds a counter of interrupts behind those of the events. */
void exact_control(const struct how *how, struct perfctr_control *control);
/* Corrects the kernel's sums, so that they are what the program executed. */
void exact_correct(const struct how *how, unsigned int nrctrs, __u64 *sum);
/* Returns how many instructions were subtracted from each corrected count. */
uint64_t exact_subtracted(const struct how *how, const struct perfctr_read_tree *sums);
/* Returns how many extra instructions each corrected count may still have. */
uint64_t exact_excess(const struct how *how, const struct perfctr_read_tree *sums);

#endif /* PERFEX_EXACT_H */
