/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slow way to resume a state: all that a switch does not do at once. Interrupts are off.
 */
#ifndef PERFCTR_RESUME_H
#define PERFCTR_RESUME_H

#include <linux/types.h>

struct task_struct;
struct vperfctr;

/*
 * Resume the state. The owner calls these functions, or an interrupt on the owner's CPU. A caller
 * that holds perfctr->lock uses vperfctr_resume_locked().
 */
void vperfctr_resume(struct vperfctr *perfctr);
void vperfctr_resume_locked(struct vperfctr *perfctr);
/*
 * Resumes @perfctr, the state of @next, as far as possible. The rest is done in the context of
 * @next, before @next returns to user mode. The probe of the tracepoint calls this if @next comes
 * to this CPU, and its state cannot be resumed at once. The runqueue is locked.
 */
void vperfctr_come_later(struct vperfctr *perfctr, struct task_struct *next);

/*
 * sched_in() calls these functions for a state that it cannot resume at once. They turn interrupts
 * on.
 */
void vperfctr_come_slowly(struct vperfctr *perfctr);
void vperfctr_come_slowly_shared(struct vperfctr *perfctr);

#endif /* PERFCTR_RESUME_H */
