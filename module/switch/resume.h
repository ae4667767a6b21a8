/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resuming a state, with all that a switch does not do at once. Interrupts are off.
 */
#ifndef PERFCTR_RESUME_H
#define PERFCTR_RESUME_H

#include <linux/types.h>

struct task_struct;
struct vperfctr;

/* By the owner, or an interrupt on its CPU. locked: perfctr->lock is held. */
void vperfctr_resume(struct vperfctr *perfctr);
void vperfctr_resume_locked(struct vperfctr *perfctr);
/*
 * With the tracepoint: next comes to this CPU, and its state cannot be resumed at once. What has to
 * be done in its own context is done before it returns to user mode. The runqueue is locked.
 */
void vperfctr_come_later(struct vperfctr *perfctr, struct task_struct *next);

/* What sched_in() does not do at once. Interrupts are on when it returns. */
void vperfctr_come_slowly(struct vperfctr *perfctr);
void vperfctr_come_slowly_shared(struct vperfctr *perfctr);
/* The counters cannot be had: stops, with the error that stays. */
void vperfctr_lose(struct vperfctr *perfctr);

#endif /* PERFCTR_RESUME_H */
