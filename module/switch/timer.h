/* SPDX-License-Identifier: GPL-2.0 */
/* Each CPU's timer: for samples by time, and for the end of throttling. */
#ifndef PERFCTR_TIMER_H
#define PERFCTR_TIMER_H

#include <linux/types.h>

struct task_struct;
struct vperfctr;

/* Converts nanoseconds, at most a second, to ticks of the clock: at least one tick. */
u64 perfctr_timer_ticks(u64 ns);
/*
 * A state that records was resumed on this CPU. Sets the timer, which calls init's @fn when
 * something may be due. If it is due already, the owner does it on its way to user mode. The owner
 * is current, or comes to this CPU.
 */
void vperfctr_timer_set(struct vperfctr *perfctr, struct task_struct *owner);
/* The timers call @fn in a hard interrupt. */
void perfctr_timer_init(void (*fn)(struct vperfctr *perfctr));
void perfctr_timer_exit(void);

#endif /* PERFCTR_TIMER_H */
