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

/* A new state for that thread, with a reference; NULL: no memory. May sleep. */
struct vperfctr *vperfctr_create(struct task_struct *task);
/* For vperfctr_put() alone */
void vperfctr_root_free(struct vperfctr *perfctr);

/* By the owner: stops the state, with an error that stays until the next control that counts. */
void vperfctr_stop(struct vperfctr *perfctr, u32 error);
/*
 * By the owner, or its tracer, as counting ends, or a control preserves sums. EIO: somebody else
 * has written to the registers, so the state was stopped, now or before.
 */
int vperfctr_verify(struct vperfctr *perfctr);

/*
 * Ends the owner's permission to read registers. @own: by the owner. Else by its tracer, while the
 * owner is frozen: then the permission ended as the owner left its CPU, and the registers here are
 * the tracer's, which may be counting by them.
 */
static __always_inline void vperfctr_end_reading(struct vperfctr *perfctr, bool own)
{
	if (own)
		vperfctr_revoke(perfctr);
	else
		perfctr->grace = 0;
}

/*
 * By the owner: takes the state from it, at an unlink, exec or exit, or when its tree is dead.
 * @atomic: does not sleep. Freeing a root may sleep, and on RT freeing any state may. Then the
 * thread's reference is put later, on its way to user mode.
 */
void vperfctr_detach(struct vperfctr *perfctr, bool atomic);
/* The same for a root whose owner current traces: ESRCH, EINTR as perfctr_tracee_freeze() */
int vperfctr_detach_tracee(struct vperfctr *perfctr, struct task_struct *owner);
/* After an unlink of a root: ends its tree, although the state may live on. Sleeps. */
void vperfctr_forget_tree(struct vperfctr *perfctr);

#endif /* PERFCTR_LIFE_H */
