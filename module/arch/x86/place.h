/* SPDX-License-Identifier: GPL-2.0 */
/* Assigns hardware counters to a control's counters. */
#ifndef PERFCTR_X86_PLACE_H
#define PERFCTR_X86_PLACE_H

#include <linux/types.h>

/**
 * perfctr_x86_place() - give each counter of a control a hardware counter of its own
 * @can: for each, a bit map of the hardware counters that can count it and that it may have. 0: it
 *	needs no hardware counter and gets none
 * @nr: number of counters, at most PERFCTR_X86_MAX
 * @hw: out: the hardware counter of each
 *
 * Finds an assignment if there is one, and always the same one. Returns @nr, or the index of the
 * first counter that cannot have one beside those before it and those with a single choice.
 */
unsigned int perfctr_x86_place(const u32 *can, unsigned int nr, u8 *hw);

#endif /* PERFCTR_X86_PLACE_H */
