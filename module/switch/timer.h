/* SPDX-License-Identifier: GPL-2.0 */
/* Each CPU's timer: for samples by time, and for the end of throttling. */
#ifndef PERFCTR_TIMER_H
#define PERFCTR_TIMER_H

#include <linux/types.h>

struct task_struct;
struct vperfctr;

/* Converts @ns, at most a second, to ticks of the clock. Returns at least one tick. */
u64 perfctr_timer_ticks(u64 ns);
/*
 * Sets the timer of this CPU for a state that records and was just resumed here. The timer calls
 * @fn of perfctr_timer_init() when a sample, or the end of a throttling, may be due. If a sample is
 * due already, the owner also writes it on its way to user mode. The owner is current, or comes to
 * this CPU.
 */
void vperfctr_timer_set(struct vperfctr *perfctr, struct task_struct *owner);
/* Initializes the timers. They call @fn in a hard interrupt. */
void perfctr_timer_init(void (*fn)(struct vperfctr *perfctr));
void perfctr_timer_exit(void);

#endif /* PERFCTR_TIMER_H */
