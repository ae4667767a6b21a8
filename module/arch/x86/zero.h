/* SPDX-License-Identifier: GPL-2.0 */
/* Writing the values of counters; inline, for the hot path */
#ifndef PERFCTR_X86_ZERO_H
#define PERFCTR_X86_ZERO_H

#include <linux/jump_label.h>

#include "arch/x86/registers.h"

DECLARE_STATIC_KEY_FALSE(perfctr_x86_carry_key);	/* constant after init */

/* At init: counters lose and gain carries between their halves, by errata. */
void perfctr_x86_mind_carries(void);

/*
 * By an erratum of the Pentium 4's (N15; O8 of the Xeon MP) what is left over of the event is
 * added as the value is written, and may carry into the upper half. It is written again, as perf
 * does.
 */
static __always_inline void write_value(u32 msr, u64 value)
{
	write_msr(msr, value);
	if (static_branch_unlikely(&perfctr_x86_carry_key))
		write_msr(msr, value);
}

static inline void write_ctr(unsigned int hw, u64 value)
{
	write_value(perfctr_pmu.ctr[hw].msr, value);
}

/* Not inline: what few processors need */
void perfctr_x86_zero_with_carries(u32 counters);
void perfctr_x86_zero_with_metrics(u32 counters);

/* for_each_set_bit() takes half as many instructions more, and strangers zero at each switch. */
static __always_inline void zero_each(u32 counters)
{
	/* Asked once for all: write_ctr() would ask for each. */
	if (static_branch_unlikely(&perfctr_x86_carry_key)) {
		perfctr_x86_zero_with_carries(counters);
		return;
	}
	for (; counters; counters &= counters - 1)
		write_msr(perfctr_pmu.ctr[__ffs(counters)].msr, 0);
}

static __always_inline void zero(u32 counters)
{
	if (unlikely(counters & perfctr_pmu.slots))
		perfctr_x86_zero_with_metrics(counters);
	else
		zero_each(counters);
}

/* The same, not inline */
void perfctr_x86_zero(u32 counters);

#endif /* PERFCTR_X86_ZERO_H */
