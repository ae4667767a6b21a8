/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slow way to resume a state: all that a switch does not do at once. Interrupts are off.
 */
#ifndef PERFCTR_RESUME_H
#define PERFCTR_RESUME_H

#include <linux/types.h>

struct task_struct;
struct vperfctr;

/* By the owner, or an interrupt on its CPU. For vperfctr_resume_locked() perfctr->lock is held. */
void vperfctr_resume(struct vperfctr *perfctr);
void vperfctr_resume_locked(struct vperfctr *perfctr);
/*
 * With the tracepoint: next comes to this CPU, but its state cannot be resumed at once. Resumes it
 * as far as possible. What must be done in next's context is done before next returns to user mode.
 * The runqueue is locked.
 */
void vperfctr_come_later(struct vperfctr *perfctr, struct task_struct *next);

/* Do what sched_in() does not do at once. They turn interrupts on. */
void vperfctr_come_slowly(struct vperfctr *perfctr);
void vperfctr_come_slowly_shared(struct vperfctr *perfctr);

#endif /* PERFCTR_RESUME_H */
