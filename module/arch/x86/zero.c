// SPDX-License-Identifier: GPL-2.0
/* Zeroes counters. */

#include <linux/init.h>
#include <linux/percpu.h>
#include <asm/msr-index.h>

#include "arch/x86/zero.h"

/*
 * registers.h and perfctr_cpu.h declare these variables. They are defined here because this is the
 * lowest file that uses them.
 */
struct perfctr_pmu perfctr_pmu;
DEFINE_PER_CPU(struct perfctr_x86_cpu, perfctr_x86_cpu);

DEFINE_STATIC_KEY_FALSE(perfctr_x86_carry_key);

void __init perfctr_x86_mind_carries(void)
{
	static_branch_enable(&perfctr_x86_carry_key);
}

noinline notrace void perfctr_x86_zero_with_carries(u32 counters)
{
	for (; counters; counters &= counters - 1)
		write_ctr(__ffs(counters), 0);
}

/* Zeroes SLOTS before PERF_METRICS, as Linux's intel/core.c does. */
noinline notrace void perfctr_x86_zero_with_metrics(u32 counters)
{
	zero_each(counters);
	write_msr(MSR_PERF_METRICS, 0);
}

noinline notrace void perfctr_x86_zero(u32 counters)
{
	zero(counters);
}
