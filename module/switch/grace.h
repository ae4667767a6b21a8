/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread may be switched out between its look at the page and its read of the register. If the
 * thread comes back without its permission, the read kills the thread. So a thread keeps its
 * permission after a change of the policy, or when its tree is suspended, until we have seen the
 * thread at GRACE_PLACES places in user mode. By then the thread has executed at least GRACE_PLACES
 * instructions, which is more than there are between the look and the read. A number of switches
 * would prove little: a thread may be switched out again before its first instruction. A thread
 * that always waits in one place must lose its permission, too. The page says "ask" at once.
 * Registers that start from zero meanwhile do no harm: the thread sees "ask", and throws away what
 * it has read.
 */
#ifndef PERFCTR_GRACE_H
#define PERFCTR_GRACE_H

#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>

#include "arch/user.h"
#include "thread/state.h"

#define GRACE_PLACES		31
#define GRACE_A_PLACE		8	/* 8 switches in one place count as a new place */

/*
 * Returns true if current is within its grace, and uses up some of the grace. @perfctr: current's
 * state
 */
static inline bool has_grace(struct vperfctr *perfctr)
{
	u8 place = instruction_pointer(task_pt_regs(current)) >> 1;
	u8 step = place == perfctr->grace_place ? 1 : GRACE_A_PLACE;

	if (!perfctr_cpu_permits_threads() || !perfctr->grace)
		return false;
	perfctr->grace_place = place;
	perfctr->grace -= min(step, perfctr->grace);
	return true;
}

/* A full grace begins each time the page shows registers. */
static __always_inline void begin_grace(struct vperfctr *perfctr)
{
	perfctr->grace = GRACE_PLACES * GRACE_A_PLACE;
}

#endif /* PERFCTR_GRACE_H */
