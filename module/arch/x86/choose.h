/* SPDX-License-Identifier: GPL-2.0 */
/* Which counters a control can have, and what their registers hold for it. Under config_mutex */
#ifndef PERFCTR_X86_CHOOSE_H
#define PERFCTR_X86_CHOOSE_H

#include "arch/cpu.h"

/*
 * Sets *can to the counters that can count this control's event and that it may have; 0 for a
 * metric, which needs no counter. Returns 0, or an error with *why.
 */
int perfctr_x86_can_count(const struct perfctr_ctr_control *ctr, u32 *can,
			  struct perfctr_refusal *why);
/* Chooses one counter of @can for each, in @hw. EINVAL with *why: none is left for one of them. */
int perfctr_x86_choose(const struct perfctr_ctr_control *ctr, const u32 *can, unsigned int nr,
		       u8 *hw, struct perfctr_refusal *why);
/* Makes the image of a config whose counters are chosen. */
void perfctr_x86_compile(struct perfctr_config *config);

#endif /* PERFCTR_X86_CHOOSE_H */
