/* SPDX-License-Identifier: GPL-2.0 */
/* Assigns hardware counters to a control's counters. */
#ifndef PERFCTR_X86_PLACE_H
#define PERFCTR_X86_PLACE_H

#include <linux/types.h>

/**
 * perfctr_x86_place() - give each counter of a control a hardware counter of its own
 * @can: for each counter, a bit map of the hardware counters that it can have. 0: it needs no
 *	hardware counter and gets none
 * @nr: number of counters, at most PERFCTR_X86_MAX
 * @hw: out: the hardware counter of each counter
 *
 * Finds an assignment if there is one. The same arguments always give the same assignment. Returns
 * @nr, or the index of the first counter that cannot be placed. Counters with a single choice are
 * placed first, the others in their order.
 */
unsigned int perfctr_x86_place(const u32 *can, unsigned int nr, u8 *hw);

#endif /* PERFCTR_X86_PLACE_H */
