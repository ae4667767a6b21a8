// SPDX-License-Identifier: GPL-2.0
/*
 * The counters' interrupt: heard while there is a control that has i-mode counters.
 */

#include "perfctr.h"
#include "hook.h"

/*
 * An overflow interrupt: as it begins the state is suspended, and so looked at, and
 * whoever else has a counter that interrupts finds ours standing still. As it ends
 * the owner hears of it, if it comes from user mode and goes back there: else on its
 * way there, lest a sleep in the kernel end. A signal's lock sleeps on RT. Then the
 * state goes on, or it waits for IRESUME.
 */
static void interrupt(bool ends)
{
	struct vperfctr *perfctr = perfctr_current();

	if (!perfctr || !perfctr->imode)
		return;
	if (!ends && perfctr->undo & PERFCTR_UNDO_ICTRS)
		perfctr_suspend(perfctr);
	if (!ends || perfctr->seq & 1)
		return;
	if (perfctr->imode->pending && !IS_ENABLED(CONFIG_PREEMPT_RT) &&
	    perfctr_cpu_interrupted_user()) {
		/* What posix timers say to lockdep as well: not on RT, so the lock may be had. */
		lockdep_posixtimer_enter();
		perfctr_imode_deliver(perfctr);
		lockdep_posixtimer_exit();
	}
	perfctr_resume(perfctr);
}

static int turn_interrupts(bool on)
{
	return perfctr_cpu_set_ihandler(on ? interrupt : NULL);
}

static PERFCTR_HOOK(interrupts_hook, turn_interrupts);

int perfctr_interrupts_get(void)
{
	return perfctr_hook_get(&interrupts_hook);
}

void perfctr_interrupts_put(void)
{
	perfctr_hook_put(&interrupts_hook);
}

void perfctr_interrupts_exit(void)
{
	perfctr_hook_exit(&interrupts_hook);
}
