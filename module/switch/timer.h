/* SPDX-License-Identifier: GPL-2.0 */
/* A timer of each CPU: samples by time, and the end of a throttling. */
#ifndef PERFCTR_TIMER_H
#define PERFCTR_TIMER_H

#include <linux/types.h>

struct task_struct;
struct vperfctr;

/* Ticks of the clock in so many nanoseconds */
u64 perfctr_timer_ticks(u64 ns);
/*
 * The state, which records, was resumed on this CPU: has init's @fn called when something may be
 * due. If it is due already, the owner does it on its way to user mode. The owner is current, or
 * comes to this CPU.
 */
void vperfctr_timer_set(struct vperfctr *perfctr, struct task_struct *owner);
/* @fn is called in a hard interrupt. */
void perfctr_timer_init(void (*fn)(struct vperfctr *perfctr));
void perfctr_timer_exit(void);

#endif /* PERFCTR_TIMER_H */
