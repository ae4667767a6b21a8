/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Running a function on CPUs while nothing is resumed there. Each CPU calls fn(arg) with interrupts
 * off. Returns 0, or the error of a CPU where fn() failed. The hotplug lock is held; may sleep.
 */
#ifndef PERFCTR_RUN_H
#define PERFCTR_RUN_H

struct cpumask;

/* Runs fn() on all told CPUs, and charges current's user for the broadcast. */
int perfctr_run(int (*fn)(void *arg), void *arg);
/* The same, but charges nobody */
int perfctr_run_paid(int (*fn)(void *arg), void *arg);
/* As perfctr_run(), on those of these CPUs that are online, and without the hotplug lock */
int perfctr_run_on(const struct cpumask *cpus, int (*fn)(void *arg), void *arg);
/*
 * A @fn that does nothing. States and wides are suspended for it. As they resume, they look whether
 * they may still count.
 */
int perfctr_run_nothing(void *unused);

#endif /* PERFCTR_RUN_H */
