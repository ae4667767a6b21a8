// SPDX-License-Identifier: GPL-2.0
/*
 * This file knows which CPUs are told of claims.
 *
 * We leave an isolated CPU (isolcpus=, nohz_full=) alone: such a CPU is not told of claims and
 * permissions until a state with counters, or a process that may read registers, comes to it. Then
 * the CPU joins the told CPUs, and takes the counters that are claimed at that time. When the last
 * config ends, the CPU leaves the told CPUs again.
 */

#include <linux/cpumask.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>

#include "arch/cpu.h"
#include "perf/told.h"

/*
 * A bit is set by its CPU, or when the CPU comes. Bits are cleared under config_mutex while there
 * is no config.
 */
struct cpumask perfctr_told_cpus;
bool perfctr_any_rarity;
static bool any_joined;		/* an isolated CPU has joined, and has not left yet */

static bool is_isolated(unsigned int cpu)
{
	return !housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN) ||
	       !housekeeping_test_cpu(cpu, HK_TYPE_TICK);
}

void perfctr_cpus_tell(unsigned int cpu)
{
	if (is_isolated(cpu))
		WRITE_ONCE(perfctr_any_rarity, true);
	else
		cpumask_set_cpu(cpu, &perfctr_told_cpus);
}

/*
 * A thread records a claim, or its end, before it reads the mask of told CPUs. We set our bit in
 * the mask before we look for claims. So either we see the claim, or its broadcast reaches this CPU
 * as soon as interrupts are on again.
 */
notrace void perfctr_cpus_join(void)
{
	lockdep_assert_irqs_disabled();
	cpumask_set_cpu(smp_processor_id(), &perfctr_told_cpus);
	WRITE_ONCE(any_joined, true);
	smp_mb();	/* pairs with perfctr_run() and perfctr_run_paid() */
	perfctr_cpu_join_claims();
}

void perfctr_cpus_leave(void)
{
	unsigned int cpu;

	if (!READ_ONCE(any_joined))
		return;
	WRITE_ONCE(any_joined, false);
	for_each_cpu(cpu, &perfctr_told_cpus)
		if (is_isolated(cpu))
			cpumask_clear_cpu(cpu, &perfctr_told_cpus);
}

bool perfctr_cpus_all_told(void)
{
	return cpumask_subset(cpu_online_mask, &perfctr_told_cpus);
}
