/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Suspending a state, with all that a switch does not do at once, and hiding registers from others.
 * Interrupts are off.
 */
#ifndef PERFCTR_SUSPEND_H
#define PERFCTR_SUSPEND_H

#include <linux/types.h>

struct task_struct;
struct vperfctr;

/* By the owner, or an interrupt on its CPU */
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

/* For switch.c: what suspend() does not do at once. @next: NULL if this is not a switch */
void vperfctr_suspend_slowly(struct vperfctr *perfctr, struct task_struct *next);
/* After a resume with counters of perf's that found one lost: the sums are as before. */
void vperfctr_unresume_shared(struct vperfctr *perfctr, bool call);

#endif /* PERFCTR_SUSPEND_H */
