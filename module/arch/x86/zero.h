/* SPDX-License-Identifier: GPL-2.0 */
/* Writes the values of counters. Most functions are inline, for the hot path. */
#ifndef PERFCTR_X86_ZERO_H
#define PERFCTR_X86_ZERO_H

#include <linux/jump_label.h>

#include "arch/x86/registers.h"

DECLARE_STATIC_KEY_FALSE(perfctr_x86_carry_key);	/* constant after init */

/* Call at init if errata make counters lose or gain carries between their halves. */
void perfctr_x86_mind_carries(void);

/*
 * Writes a counter. Because of an erratum of the Pentium 4 (N15; O8 of the Xeon MP), a pending
 * event is added when the value is written, and may carry into the upper half. So we write the
 * value twice, as perf does.
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

/* These two functions are not inline, because few processors need them. */
void perfctr_x86_zero_with_carries(u32 counters);
void perfctr_x86_zero_with_metrics(u32 counters);

/*
 * Zeroes these counters. Called at each switch between threads that may not see each other's
 * counts. for_each_set_bit() would take 50 % more instructions.
 */
static __always_inline void zero_each(u32 counters)
{
	/* Check the key once for all counters. write_ctr() would check it for each counter. */
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

/* Does what zero() does, but is not inline. */
void perfctr_x86_zero(u32 counters);

#endif /* PERFCTR_X86_ZERO_H */
