/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slow way to suspend a state: all that a switch does not do at once. And hiding registers from
 * others. Interrupts are off.
 */
#ifndef PERFCTR_SUSPEND_H
#define PERFCTR_SUSPEND_H

#include <linux/types.h>

struct task_struct;
struct vperfctr;

/* By the owner, or an interrupt on its CPU */
void vperfctr_suspend(struct vperfctr *perfctr);
/* Takes back the permission to read registers in user mode. They are private to nobody then. */
void vperfctr_revoke(struct vperfctr *perfctr);

/*
 * For perfctr_run(). riscv: sets the bool if current's config was evicted, but current may still
 * read registers.
 */
int perfctr_find_late_reader(void *found);
/* For perfctr_run(): takes the permission from such a thread. */
int perfctr_end_late_reader(void *unused);

/*
 * x86: next, or current, may read registers: scrubs them, unless they hold only counts of its own
 * process or kin. Suspends current's state first, so that current's own counts are not lost.
 */
void perfctr_let_in(struct task_struct *next);

/* For switch.c: does what suspend() does not do at once. @next: NULL if this is no switch */
void vperfctr_suspend_slowly(struct vperfctr *perfctr, struct task_struct *next);
/* A resume with perf's counters has found one lost: this undoes it, and restores the sums. */
void vperfctr_unresume_shared(struct vperfctr *perfctr, bool call);
/* The state cannot have its counters: it stops for good, with an error. */
void vperfctr_lose(struct vperfctr *perfctr);

#endif /* PERFCTR_SUSPEND_H */
