// SPDX-License-Identifier: GPL-2.0
/*
 * Some CPUs have no counters of their own: of a Pentium 4's core the second hyperthread. A thread
 * that is to count natively is kept off them, by its affinity, and stays so when it counts no
 * more, as with perfctr 2.6. Who sends it there all the same ends its counting: vperfctr_lose().
 */

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "perfctr.h"

/* Of the CPUs where it may run those where it may count; false: all of them */
static bool find_places(struct task_struct *task, struct cpumask *before, struct cpumask *places)
{
	unsigned long flags;
	unsigned int cpu;

	raw_spin_lock_irqsave(&task->pi_lock, flags);
	cpumask_copy(before, &task->cpus_mask);
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	cpumask_copy(places, before);
	for_each_cpu_and(cpu, before, cpu_possible_mask)
		if (perfctr_cpu_is_forbidden(cpu))
			cpumask_clear_cpu(cpu, places);
	return !cpumask_equal(before, places);
}

/*
 * Somebody may give it another affinity at the same time: then either may be the last, as if
 * there were two calls of sched_setaffinity(). It may sleep, and current may go to another CPU.
 */
int perfctr_keep_off(struct task_struct *task, const struct perfctr_config *config,
		     struct perfctr_affinity *affinity)
{
	cpumask_var_t places;
	int err = 0;

	affinity->changed = false;
	if (likely(!perfctr_cpu_keeps_off()) || !config->nr || config->shared)
		return 0;
	if (!alloc_cpumask_var(&places, GFP_KERNEL))
		return -ENOMEM;
	if (!alloc_cpumask_var(&affinity->before, GFP_KERNEL)) {
		free_cpumask_var(places);
		return -ENOMEM;
	}
	if (find_places(task, affinity->before, places)) {
		err = set_cpus_allowed_ptr(task, places);
		affinity->changed = !err;
	}
	if (!affinity->changed)
		free_cpumask_var(affinity->before);
	free_cpumask_var(places);
	return err;
}

void perfctr_keep_off_end(struct task_struct *task, struct perfctr_affinity *affinity, bool undo)
{
	if (likely(!affinity->changed))
		return;
	/* It fails if those CPUs have gone meanwhile. */
	if (undo)
		(void)set_cpus_allowed_ptr(task, affinity->before);
	free_cpumask_var(affinity->before);
}
