/* SPDX-License-Identifier: GPL-2.0 */
/* Which hardware counter each counter of a control gets. */
#ifndef PERFCTR_X86_PLACE_H
#define PERFCTR_X86_PLACE_H

#include <linux/types.h>

/**
 * perfctr_x86_place() - give each counter of a control a hardware counter of its own
 * @can: for each, the hardware counters that can count it and that it may have, as a bit map.
 *	None: it needs no counter, and none is given to it
 * @nr: how many there are, PERFCTR_X86_MAX at most
 * @hw: out: the hardware counter of each
 *
 * If there is any assignment it finds one, and always the same. Returns @nr, or the index of
 * the first that cannot have any beside those before it and those with one choice.
 */
unsigned int perfctr_x86_place(const u32 *can, unsigned int nr, u8 *hw);

#endif /* PERFCTR_X86_PLACE_H */
