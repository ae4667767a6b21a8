// SPDX-License-Identifier: GPL-2.0
/*
 * Events of threads and CPUs: a thread forks, execs or ends, or a CPU sleeps.
 */

#include <linux/binfmts.h>
#include <linux/cpu_pm.h>
#include <linux/mm_types.h>
#include <trace/events/sched.h>

#include "base/hook.h"
#include "arch/user.h"
#include "perf/shared.h"
#include "thread/notify.h"
#include "switch/resume.h"
#include "switch/suspend.h"
#include "switch/wide.h"
#include "deliver/overflow.h"
#include "deliver/record.h"
#include "tree/tree.h"
#include "calls/control.h"
#include "calls/life.h"
#include "calls/map.h"
#include "calls/return.h"
#include "calls/threads.h"

/*
 * The probes run in the thread's own context. They may not sleep, because some kernels call them
 * with preemption off.
 */
static void probe_exit(PERFCTR_EXIT_PROBE_ARGS)
{
	struct vperfctr *perfctr = vperfctr_current();

	if (!perfctr)
		return;
	vperfctr_record_exit(perfctr);
	vperfctr_detach(perfctr, true);
}

static void probe_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct vperfctr *perfctr;

	/*
	 * A tracer invites a thread, and then looks for all threads of the process. If the tracer
	 * has not seen this child, we see its invitation of current here. This barrier pairs with
	 * task_work_add().
	 */
	smp_mb();
	perfctr = vperfctr_current_or_invited();
	if (unlikely(child->mm != current->mm && perfctr_cpu_is_permitted(child)))
		perfctr_cpu_mm_forked(child->mm);
	if (likely(!perfctr))
		return;
	if (child->mm == current->mm &&
	    perfctr_cpu_thread_pointer(child) == perfctr_cpu_thread_pointer(current))
		vperfctr_lend(perfctr);
	vperfctr_inherit(perfctr, child);
}

static void probe_exec(void *data, struct task_struct *task, pid_t old_pid,
		       struct linux_binprm *bprm)
{
	struct vperfctr *perfctr = vperfctr_current_or_invited();

	if (likely(!perfctr))
		return;
	vperfctr_exec_unmap(perfctr);
	vperfctr_exec_pid(perfctr);
	if (perfctr->flags & PERFCTR_CONTROL_CLOEXEC) {
		/*
		 * A probe must not sleep, but the function that ends a tree may. So current ends
		 * the tree on its way to user mode.
		 */
		if (perfctr->tree && !perfctr->inherited)
			vperfctr_return_soon(perfctr, current, PERFCTR_TODO_FORGET);
		vperfctr_detach(perfctr, true);
	} else if (bprm->secureexec || !perfctr_current_is_dumpable()) {
		vperfctr_stop(perfctr, PERFCTR_ERROR_EXEC);
		vperfctr_detach(perfctr, true);
	} else if (atomic_read(&perfctr->hold) & PERFCTR_HOLD_ON_EXEC) {
		vperfctr_record_exec(perfctr);
		vperfctr_start_on_exec(perfctr);
	} else {
		vperfctr_record_exec(perfctr);
		vperfctr_imode_exec(perfctr);
	}
}

/*
 * Called as a CPU goes to a sleep in which its counters may be lost, and as it wakes. Current is
 * the idle thread or, when the whole system is suspended, the thread that asked for the suspend.
 * A thread that asks for a suspend may count. Interrupts are off in both cases.
 */
static int cpu_sleeps(struct notifier_block *notifier, unsigned long action, void *data)
{
	struct vperfctr *perfctr = vperfctr_current();
	unsigned long flags;

	local_irq_save(flags);
	switch (action) {
	case CPU_PM_ENTER:
		if (perfctr)
			vperfctr_suspend(perfctr);
		perfctr_wides_sleep(true);
		break;
	case CPU_PM_ENTER_FAILED:
	case CPU_PM_EXIT:
		perfctr_cpu_online();
		perfctr_wides_sleep(false);
		/* The timer cannot be set yet, so the state is resumed on the way to user mode. */
		if (perfctr && perfctr->recorder)
			vperfctr_return_soon(perfctr, current, PERFCTR_TODO_OVERFLOW);
		else if (perfctr)
			vperfctr_resume(perfctr);
		break;
	}
	local_irq_restore(flags);
	return NOTIFY_OK;
}

static struct notifier_block sleep_notifier = { .notifier_call = cpu_sleeps };

#ifndef CONFIG_CPU_PM
/* Called on the last CPU, with interrupts off. Hotplug takes the other CPUs down and up. */
static int system_sleeps(PERFCTR_SYSCORE_ARGS)
{
	cpu_sleeps(NULL, CPU_PM_ENTER, NULL);
	return 0;
}

static void system_wakes(PERFCTR_SYSCORE_ARGS)
{
	perfctr_shared_slept();
	cpu_sleeps(NULL, CPU_PM_EXIT, NULL);
}

PERFCTR_SYSCORE(sleep_syscore, system_sleeps, system_wakes);
#else
static int sleep_syscore;

static void perfctr_register_syscore(int *unused)
{
}

static void perfctr_unregister_syscore(int *unused)
{
}
#endif

static struct perfctr_probe probes[] = {
	PERFCTR_PROBE(sched_process_exit, probe_exit),
	PERFCTR_PROBE(sched_process_fork, probe_fork),
	PERFCTR_PROBE(sched_process_exec, probe_exec),
};

int perfctr_threads_init(void)
{
	int err = perfctr_probes_find(probes, ARRAY_SIZE(probes));

	if (!err)
		err = perfctr_probes_register(probes, ARRAY_SIZE(probes));
	if (err)
		return err;
	cpu_pm_register_notifier(&sleep_notifier);
	perfctr_register_syscore(&sleep_syscore);
	return 0;
}

void perfctr_threads_exit(void)
{
	/* A CPU may still run cpu_sleeps() after this. perfctr_exit() waits for such CPUs. */
	perfctr_unregister_syscore(&sleep_syscore);
	cpu_pm_unregister_notifier(&sleep_notifier);
	perfctr_probes_unregister(probes, ARRAY_SIZE(probes));
}
