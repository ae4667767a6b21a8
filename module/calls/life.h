/* SPDX-License-Identifier: GPL-2.0 */
/* The life of a state: it is made, stopped, detached, and freed. */
#ifndef PERFCTR_LIFE_H
#define PERFCTR_LIFE_H

#include <linux/types.h>

#include "thread/state.h"
#include "switch/suspend.h"

struct task_struct;

int perfctr_life_init(void);
void perfctr_life_exit(void);

/* Returns a new state for @task, with a reference, or NULL if there is no memory. May sleep. */
struct vperfctr *vperfctr_create(struct task_struct *task);
/* Frees a state that is no descendant. Only vperfctr_put() calls this. */
void vperfctr_root_free(struct vperfctr *perfctr);

/*
 * Stops the state with an error that stays until the next control that counts. The owner calls
 * this.
 */
void vperfctr_stop(struct vperfctr *perfctr, u32 error);
/*
 * Looks whether the registers are still as we wrote them. The owner or its tracer calls this as
 * counting ends, or as a control preserves sums. Returns 0, or -EIO if somebody else has written to
 * the registers. Then the state was stopped, now or earlier.
 */
int vperfctr_verify(struct vperfctr *perfctr);

/*
 * Ends the owner's permission to read registers. The owner calls this with @own true. The owner's
 * tracer calls this with @own false, while the owner is frozen. In the second case the permission
 * ended as the owner left its CPU, and the registers of this CPU belong to the tracer, which may be
 * counting.
 */
static __always_inline void vperfctr_end_reading(struct vperfctr *perfctr, bool own)
{
	if (own)
		vperfctr_revoke(perfctr);
	else
		perfctr->grace = 0;
}

/*
 * Takes the state from its owner, at an unlink, exec or exit, or when its tree is dead. The owner
 * calls this. With @atomic this does not sleep. If freeing the state may sleep (as for a root, and
 * on PREEMPT_RT for any state), the thread puts its reference later, on its way to user mode.
 */
void vperfctr_detach(struct vperfctr *perfctr, bool atomic);
/*
 * Takes a root's state from its owner, which current traces. Returns 0, or the error of
 * perfctr_tracee_freeze().
 */
int vperfctr_detach_tracee(struct vperfctr *perfctr, struct task_struct *owner);
/* Ends a root's tree after an unlink, although the root's state may live on. May sleep. */
void vperfctr_forget_tree(struct vperfctr *perfctr);

#endif /* PERFCTR_LIFE_H */
