/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chooses the counters of a control, and makes the values of their registers. Callers hold
 * config_mutex.
 */
#ifndef PERFCTR_X86_CHOOSE_H
#define PERFCTR_X86_CHOOSE_H

#include "arch/cpu.h"

/*
 * Sets *can to the counters that can count this event and that the control allows, as a bit map.
 * For a metric *can is 0, because a metric needs no counter. Returns 0, or an error with *why.
 */
int perfctr_x86_can_count(const struct perfctr_ctr_control *ctr, u32 *can,
			  struct perfctr_refusal *why);
/*
 * Sets each element of @hw to one of the counters in the same element of @can. Returns 0, or
 * -EINVAL with *why if no counter is left for an element.
 */
int perfctr_x86_choose(const struct perfctr_ctr_control *ctr, const u32 *can, unsigned int nr,
		       u8 *hw, struct perfctr_refusal *why);
/*
 * These two know the counters that were chosen for a config, also before its claim. Returns all of
 * them.
 */
u32 perfctr_x86_chosen(const struct perfctr_config *config);
/* Returns the index of the first one that is in @counters, or PERFCTR_NO_INDEX. */
u32 perfctr_x86_index_of(const struct perfctr_config *config, u32 counters);
/* Makes the image of a config whose counters are chosen. */
void perfctr_x86_compile(struct perfctr_config *config);

#endif /* PERFCTR_X86_CHOOSE_H */
