// SPDX-License-Identifier: GPL-2.0
/*
 * Some CPUs have no counters of their own: on a Pentium 4, the second hyperthread of each core. We
 * take these CPUs out of the affinity of a thread that counts natively. They stay out when the
 * thread stops counting, as with perfctr 2.6. If somebody nevertheless moves the thread to such a
 * CPU, vperfctr_lose() ends its counting.
 */

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "arch/cpu.h"
#include "thread/affinity.h"

/*
 * Sets @before to the CPUs where the thread may run, and @places to the CPUs where it may also
 * count. Returns false if the two are equal.
 */
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
 * Somebody may change the thread's affinity at the same time. Then either change may win, as with
 * two calls of sched_setaffinity(). This function may sleep, and may move current to another CPU.
 *
 * The thread's cpuset may lose CPUs at the same time, too. If that happens after we read the mask
 * and before we set ours, our mask replaces the cpuset's. Then the thread, and the children that it
 * makes from then on, may run on CPUs that the cpuset has lost. This lasts until the CPUs of the
 * cpuset change again, the thread goes to another cpuset, or somebody sets its affinity.
 * perfctr_keep_off_end() with @undo has the same race. The kernel's sched_setaffinity() sets the
 * mask, and then checks the mask against cpuset_cpus_allowed(). Linux (6.1, 6.12, 7.2) exports
 * neither of these functions, nor anything else that gives a thread the CPUs of its cpuset:
 * cgroup_attach_task_all() does nothing for a thread that is in the cgroup already.
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
	/* This fails if those CPUs have gone meanwhile. */
	if (undo)
		(void)set_cpus_allowed_ptr(task, affinity->before);
	free_cpumask_var(affinity->before);
}
