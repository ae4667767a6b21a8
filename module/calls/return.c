// SPDX-License-Identifier: GPL-2.0
/*
 * The work that a thread does for its state before it returns to user mode, or as it dies.
 */

#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/task_work.h>

#include "thread/notify.h"
#include "switch/resume.h"
#include "switch/suspend.h"
#include "deliver/maps.h"
#include "deliver/overflow.h"
#include "config/permit.h"
#include "tree/invite.h"
#include "tree/tree.h"
#include "calls/life.h"
#include "calls/map.h"
#include "calls/return.h"

/* Does the work of @todo. Returns the bits of work that could not be done now. */
static u16 return_todo(struct vperfctr *perfctr, u16 todo)
{
	unsigned long flags;
	u16 left = 0;

	if (todo & PERFCTR_TODO_LENT && !vperfctr_take_back(perfctr))
		left |= PERFCTR_TODO_LENT;
	if (todo & PERFCTR_TODO_PERMIT && READ_ONCE(perfctr->user) && !perfctr_permit())
		left |= PERFCTR_TODO_PERMIT;
	if (todo & PERFCTR_TODO_SPARE && perfctr->tree && !perfctr->spare)
		perfctr->spare = vperfctr_spare_create(perfctr, true);
	if (todo & PERFCTR_TODO_MAPS)
		vperfctr_record_maps(perfctr);
	if (todo & PERFCTR_TODO_ILL)
		send_sig_info(SIGILL, SEND_SIG_PRIV, current);
	if (todo & PERFCTR_TODO_OVERFLOW)
		vperfctr_deliver(perfctr);
	if (todo & (PERFCTR_TODO_OVERFLOW | PERFCTR_TODO_RESUME)) {
		local_irq_save(flags);
		/* The probe of switches may have resumed the state only in part. */
		if (perfctr_by_tracepoint() && todo & PERFCTR_TODO_RESUME)
			vperfctr_suspend(perfctr);
		if (!(perfctr->seq & 1))
			vperfctr_resume(perfctr);
		local_irq_restore(flags);
	}
	return left;
}

/*
 * A thread that calls exec and is not the first thread of its process takes over the id of the
 * first thread. We may have the last reference to the old pid, which the probe of exec cannot put.
 */
static void update_pid(struct vperfctr *perfctr)
{
	struct pid *pid = get_pid(task_pid(current));
	unsigned long flags;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	swap(perfctr->pid, pid);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
	put_pid(pid);
}

void vperfctr_exec_pid(struct vperfctr *perfctr)
{
	if (perfctr->pid != task_pid(current))
		vperfctr_return_soon(perfctr, current, PERFCTR_TODO_PID);
}

/*
 * Attaches or ends the state to which current was invited. If current still has a state of a dead
 * tree, detaches that state first.
 */
static void answer(struct vperfctr *perfctr)
{
	struct vperfctr *own = vperfctr_current();

	if (own && atomic_read(&own->hold) & PERFCTR_HOLD_DEAD) {
		vperfctr_detach(own, true);
		own = NULL;
	}
	vperfctr_answer(perfctr, own);
}

/*
 * The work stays queued, with its reference. ADD_MEMBER finds the state in the queue until the
 * state is attached.
 */
void perfctr_attach_invited(void)
{
	struct vperfctr *perfctr;
	unsigned long flags;

	raw_spin_lock_irqsave(&current->pi_lock, flags);
	perfctr = perfctr_find_invited(current);
	raw_spin_unlock_irqrestore(&current->pi_lock, flags);
	if (!perfctr)
		return;
	answer(perfctr);
	vperfctr_was_invited(perfctr);
}

/*
 * The owner calls this before it returns to user mode, or as it dies. May sleep. Work that cannot
 * be done now stays in todo, and resume() queues it again when the owner is next switched in. If we
 * queued the work here, it would run again at once, and so on for ever.
 */
void vperfctr_return(struct callback_head *work)
{
	struct vperfctr *perfctr = container_of(work, struct vperfctr, return_work);
	bool attached = perfctr == vperfctr_current();
	unsigned long flags;
	u16 todo, left;

	local_irq_save(flags);
	todo = perfctr->todo;
	perfctr->todo = 0;
	local_irq_restore(flags);
	if (todo & PERFCTR_TODO_PID)
		update_pid(perfctr);
	if (attached) {
		if (todo & PERFCTR_TODO_DETACH) {
			vperfctr_detach(perfctr, false);
			attached = false;
		} else {
			left = return_todo(perfctr, todo);
			local_irq_save(flags);
			perfctr->todo |= left;
			if (left)
				WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
			local_irq_restore(flags);
		}
	}
	if (todo & PERFCTR_TODO_FORGET)
		vperfctr_forget_tree(perfctr);
	if (!attached)
		vperfctr_drop_spare(perfctr);
	vperfctr_put(perfctr);
	module_put(THIS_MODULE);	/* perfctr_exit() waits for threads that are still here */
}

void vperfctr_return_invited(struct callback_head *work)
{
	answer(container_of(work, struct vperfctr, return_work));
	vperfctr_return(work);
}
