/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPUs that are told of claims. The registers of all other CPUs hold nothing of ours.
 */
#ifndef PERFCTR_TOLD_H
#define PERFCTR_TOLD_H

#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/smp.h>
#include <linux/types.h>

extern struct cpumask perfctr_told_cpus;

/* A CPU has come: it is told from now on, unless it is isolated. */
void perfctr_cpus_tell(unsigned int cpu);
/* This CPU is told from now on, though it is isolated. Interrupts are off. */
void perfctr_cpus_join(void);
/* Isolated CPUs are not told any more. There is no claim; config_mutex is held. */
void perfctr_cpus_leave(void);
/* Are all online CPUs told? */
bool perfctr_cpus_all_told(void);

/*
 * Since the module was loaded, an isolated CPU was seen or a config was evicted. As long as this
 * is false, a load looks for neither.
 */
extern bool perfctr_any_rarity;

/* Is this CPU told? */
static __always_inline bool perfctr_cpus_told_here(void)
{
	return likely(!READ_ONCE(perfctr_any_rarity)) ||
	       cpumask_test_cpu(smp_processor_id(), &perfctr_told_cpus);
}

#endif /* PERFCTR_TOLD_H */
