/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resuming and suspending a state, with all that a switch does not do at once. Interrupts are off.
 */
#ifndef PERFCTR_RESUME_H
#define PERFCTR_RESUME_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/perfctr.h>

#include "arch/cpu.h"
#include "arch/user.h"

struct task_struct;
struct vperfctr;

/* The policy for user reads that is in force: PERFCTR_USER_READ_* */
extern unsigned int perfctr_user_read;

/* Must registers hold nothing of others whenever a thread runs, whatever state it has? */
static __always_inline bool perfctr_guards_all(void)
{
	return perfctr_cpu_always_readable() &&
	       READ_ONCE(perfctr_user_read) != PERFCTR_USER_READ_OPEN;
}

/* By the owner, or an interrupt on its CPU. locked: perfctr->lock is held. */
void vperfctr_resume(struct vperfctr *perfctr);
void vperfctr_resume_locked(struct vperfctr *perfctr);
void vperfctr_suspend(struct vperfctr *perfctr);
/* Takes back the permission to read registers in user mode, and hides them in the page. */
void vperfctr_revoke(struct vperfctr *perfctr);

/* For perfctr_run(). riscv: was current evicted, and may it still read registers? Sets the bool. */
int perfctr_find_late_reader(void *found);
/* For perfctr_run(): such a thread may not read them any more. */
int perfctr_end_late_reader(void *unused);

/*
 * x86: next, or current, may read registers: scrubs them, unless what they hold is of its process
 * or its kin. Current's own counts are not lost: its state is suspended first.
 */
void perfctr_let_in(struct task_struct *next);

/*
 * With the tracepoint: next comes to this CPU, and its state cannot be resumed at once. What has to
 * be done in its own context is done before it returns to user mode. The runqueue is locked.
 */
void vperfctr_come_later(struct vperfctr *perfctr, struct task_struct *next);

/* For switch.c: what suspend() does not do at once. @next: NULL if this is not a switch */
void vperfctr_suspend_slowly(struct vperfctr *perfctr, struct task_struct *next);
/* What sched_in() does not do at once. Interrupts are on when it returns. */
void vperfctr_come_slowly(struct vperfctr *perfctr);
void vperfctr_come_slowly_shared(struct vperfctr *perfctr);
/* After a resume with counters of perf's that found one lost: the sums are as before. */
void vperfctr_unresume_shared(struct vperfctr *perfctr, bool call);
/* The counters cannot be had: stops, with the error that stays. */
void vperfctr_lose(struct vperfctr *perfctr);

#endif /* PERFCTR_RESUME_H */
