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

#include "arch/cpu.h"
#include "thread/affinity.h"

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
 *
 * Its cpuset may lose CPUs at the same time, too. If that comes after the mask was read and before
 * ours is set, ours replaces the cpuset's: the thread, and children that it makes from then on,
 * may run on CPUs that the cpuset has lost. It lasts until the CPUs of the cpuset change again, the
 * thread goes to another cpuset, or somebody sets its affinity. So does what is undone below. The
 * kernel's sched_setaffinity() asks cpuset_cpus_allowed() again behind it, but Linux exports
 * neither (6.1, 6.12, 7.2), nor anything else that gives a thread the CPUs of its cpuset:
 * cgroup_attach_task_all() does nothing for a thread that is there already.
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
