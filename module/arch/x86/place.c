// SPDX-License-Identifier: GPL-2.0
/*
 * Chooses a hardware counter for each counter of a control. Some events can be counted by only a
 * few hardware counters. Events with a single choice are placed first. Each other event takes a
 * free hardware counter, if possible a fixed one, because other events may need the general ones.
 * If none is free, events that are already placed move to make room: this finds a matching in a
 * bipartite graph by augmenting paths.
 */

#include <linux/bitops.h>

#include "arch/cpu.h"
#include "arch/x86/place.h"
#include "arch/x86/registers.h"

/**
 * struct placing - the counters that have been placed so far
 * @can: see perfctr_x86_place()
 * @hw: the hardware counter of each counter that is placed
 * @used: the hardware counters in use, as a bit map
 * @placed: the counter that has each of @used
 */
struct placing {
	const u32 *can;
	u8 *hw;
	u32 used;
	u8 placed[PERFCTR_X86_MAX];
};

static void give(struct placing *p, unsigned int i, unsigned int hw)
{
	p->hw[i] = hw;
	p->placed[hw] = i;
	p->used |= BIT(hw);
}

/*
 * Places counter @i by moving placed counters. Returns false if that is impossible. This is a
 * breadth-first search from @i, which visits each hardware counter, and the counter placed there,
 * at most once.
 */
static bool give_by_moving(struct placing *p, unsigned int i)
{
	u8 queue[PERFCTR_X86_MAX], wanted_by[PERFCTR_X86_MAX];
	unsigned int head = 0, tail = 0, hw, before;
	unsigned long left;
	u32 seen = 0;

	for (queue[tail++] = i; head < tail; head++) {
		left = p->can[queue[head]] & ~seen;
		for_each_set_bit(hw, &left, PERFCTR_X86_MAX) {
			seen |= BIT(hw);
			wanted_by[hw] = queue[head];
			if (p->used & BIT(hw)) {
				queue[tail++] = p->placed[hw];
				continue;
			}
			/*
			 * Hardware counter @hw is free. Each counter on the path gets the hardware
			 * counter for which it was moved.
			 */
			while (wanted_by[hw] != i) {
				before = p->hw[wanted_by[hw]];
				give(p, wanted_by[hw], hw);
				hw = before;
			}
			give(p, i, hw);
			return true;
		}
	}
	return false;
}

static bool give_any(struct placing *p, unsigned int i)
{
	u32 left = p->can[i] & ~p->used, fixed = left & ~(BIT(PERFCTR_X86_FIXED) - 1);

	if (!left)
		return give_by_moving(p, i);
	/* Beside perf, we leave the first counters to perf as long as others are free. */
	give(p, i, perfctr_pmu.beside ? __fls(left) : __ffs(fixed ?: left));
	return true;
}

unsigned int perfctr_x86_place(const u32 *can, unsigned int nr, u8 *hw)
{
	struct placing p = { .can = can, .hw = hw };
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (hweight32(can[i]) != 1)
			continue;
		if (p.used & can[i])
			return i;
		give(&p, i, __ffs(can[i]));
	}
	for (i = 0; i < nr; i++)
		if (hweight32(can[i]) > 1 && !give_any(&p, i))
			return i;
	return nr;
}
