/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This header names the CPUs that are told of claims. The registers of all other CPUs hold nothing
 * of ours.
 */
#ifndef PERFCTR_TOLD_H
#define PERFCTR_TOLD_H

#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/smp.h>
#include <linux/types.h>

extern struct cpumask perfctr_told_cpus;

/* Call this when a CPU has come. The CPU is told from now on, unless it is isolated. */
void perfctr_cpus_tell(unsigned int cpu);
/* Call this on an isolated CPU, with interrupts off. The CPU is told from now on. */
void perfctr_cpus_join(void);
/*
 * Call this while there is no claim, with config_mutex held. Isolated CPUs are not told any more.
 */
void perfctr_cpus_leave(void);
/* Returns true if all online CPUs are told. */
bool perfctr_cpus_all_told(void);

/*
 * True if an isolated CPU was seen or a config was evicted since the module was loaded. While this
 * is false, a load does not look for them.
 */
extern bool perfctr_any_rarity;

/* Returns true if this CPU is told. */
static __always_inline bool perfctr_cpus_told_here(void)
{
	return likely(!READ_ONCE(perfctr_any_rarity)) ||
	       cpumask_test_cpu(smp_processor_id(), &perfctr_told_cpus);
}

#endif /* PERFCTR_TOLD_H */
