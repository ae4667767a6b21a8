/* SPDX-License-Identifier: GPL-2.0 */
/* Overflows: the interrupt, the signal or the sample, and how counting goes on. */
#ifndef PERFCTR_OVERFLOW_H
#define PERFCTR_OVERFLOW_H

struct vperfctr;

/*
 * Writes the sample that is due, as the timer of this CPU fires. @perfctr is the state of current,
 * and records. Called in a hard interrupt.
 */
void vperfctr_on_timer(struct vperfctr *perfctr);
/*
 * Writes the sample, or signals the overflow, if one is due. The owner calls this on its way to
 * user mode. An overflow interrupt that came in user mode calls this to signal the overflow.
 */
void vperfctr_deliver(struct vperfctr *perfctr);
/* Ends the signals of overflows. The owner calls this at an exec. */
void vperfctr_imode_exec(struct vperfctr *perfctr);
int vperfctr_iresume_ioctl(struct vperfctr *perfctr);
int vperfctr_refresh_ioctl(struct vperfctr *perfctr, unsigned long count);

/*
 * Hears the counters' interrupts from now on, until some time after the last
 * perfctr_interrupts_put(). Returns 0 or an error. May sleep.
 */
int perfctr_interrupts_get(void);
void perfctr_interrupts_put(void);
/* Stops hearing the counters' interrupts. Called at unload, when no config is left. */
void perfctr_interrupts_exit(void);

#endif /* PERFCTR_OVERFLOW_H */
