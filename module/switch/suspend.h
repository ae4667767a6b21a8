/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slow way to suspend a state: all that a switch does not do at once. Also hides registers from
 * other threads. Interrupts are off.
 */
#ifndef PERFCTR_SUSPEND_H
#define PERFCTR_SUSPEND_H

#include <linux/types.h>

struct task_struct;
struct vperfctr;

/* Suspends the state. The owner calls this, or an interrupt on the owner's CPU. */
void vperfctr_suspend(struct vperfctr *perfctr);
/* Takes back the permission to read registers in user mode, and makes the registers public. */
void vperfctr_revoke(struct vperfctr *perfctr);

/*
 * A function for perfctr_run(). On RISC-V it sets the bool to which @found points if current's
 * config was evicted, but current may still read registers.
 */
int perfctr_find_late_reader(void *found);
/* A function for perfctr_run(). It takes the permission from a thread whose config was evicted. */
int perfctr_end_late_reader(void *unused);

/*
 * Scrubs the registers unless they hold only counts of the process or the kin of @next. Suspends
 * current's state first, so that current's own counts are not lost. On x86, permit.c calls this if
 * @next may read registers, and comes to this CPU or is current.
 */
void perfctr_let_in(struct task_struct *next);

/* Does for switch.c what suspend() does not do at once. @next is NULL if this is no switch. */
void vperfctr_suspend_slowly(struct vperfctr *perfctr, struct task_struct *next);
/* Restores the sums after a resume with perf's counters has found a lost event. */
void vperfctr_unresume_shared(struct vperfctr *perfctr, bool call);
/* Stops a state for good, with an error, because the state cannot have its counters. */
void vperfctr_lose(struct vperfctr *perfctr);

#endif /* PERFCTR_SUSPEND_H */
