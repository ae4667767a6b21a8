/* SPDX-License-Identifier: GPL-2.0 */
/* Overflows: the interrupt, the signal or the sample, and how counting goes on. */
#ifndef PERFCTR_OVERFLOW_H
#define PERFCTR_OVERFLOW_H

struct vperfctr;

/* In a hard interrupt: this CPU's timer fires, and current has this state, which records. */
void vperfctr_on_timer(struct vperfctr *perfctr);
/*
 * Writes the sample that is due, or signals the overflow, if there is one: by the owner on its way
 * to user mode; or signals it, by an interrupt of user mode.
 */
void vperfctr_deliver(struct vperfctr *perfctr);
/* After an exec no overflow is signalled any more. */
void vperfctr_imode_exec(struct vperfctr *perfctr);
int vperfctr_iresume_ioctl(struct vperfctr *perfctr);
int vperfctr_refresh_ioctl(struct vperfctr *perfctr, unsigned long count);

/* The counters' interrupts are heard from now on, until some time after the last put. May sleep. */
int perfctr_interrupts_get(void);
void perfctr_interrupts_put(void);
/* No config is left. */
void perfctr_interrupts_exit(void);

#endif /* PERFCTR_OVERFLOW_H */
