/* SPDX-License-Identifier: GPL-2.0 */
/* Overflows: the interrupt, the signal or the sample, and how counting goes on. */
#ifndef PERFCTR_OVERFLOW_H
#define PERFCTR_OVERFLOW_H

struct vperfctr;

/* In a hard interrupt: this CPU's timer has fired. The state is current's, and records. */
void vperfctr_on_timer(struct vperfctr *perfctr);
/*
 * The owner calls this on its way to user mode: it writes the sample that is due, or signals the
 * overflow, if there is one. An interrupt of user mode calls it to signal an overflow.
 */
void vperfctr_deliver(struct vperfctr *perfctr);
/* By the owner at an exec: no overflow is signalled any more. */
void vperfctr_imode_exec(struct vperfctr *perfctr);
int vperfctr_iresume_ioctl(struct vperfctr *perfctr);
int vperfctr_refresh_ioctl(struct vperfctr *perfctr, unsigned long count);

/* Hears the counters' interrupts from now on, until some time after the last put. May sleep. */
int perfctr_interrupts_get(void);
void perfctr_interrupts_put(void);
/* At unload, when no config is left */
void perfctr_interrupts_exit(void);

#endif /* PERFCTR_OVERFLOW_H */
