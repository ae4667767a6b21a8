/* SPDX-License-Identifier: GPL-2.0 */
/*
 * These functions run a function on CPUs while no state and no wide is resumed there. Each CPU
 * calls fn(arg) with interrupts off. They return 0, or the error of a CPU where fn() failed. The
 * caller holds the hotplug lock. They may sleep.
 */
#ifndef PERFCTR_RUN_H
#define PERFCTR_RUN_H

struct cpumask;

/* Runs fn() on all told CPUs, and charges current's user for the broadcast. */
int perfctr_run(int (*fn)(void *arg), void *arg);
/* Runs fn() on all told CPUs, as perfctr_run() does, but charges nobody. */
int perfctr_run_paid(int (*fn)(void *arg), void *arg);
/*
 * Runs fn() on the online CPUs of @cpus, and charges current's user. The caller need not hold the
 * hotplug lock.
 */
int perfctr_run_on(const struct cpumask *cpus, int (*fn)(void *arg), void *arg);
/*
 * Does nothing, as a @fn. It is run because states and wides are suspended for it: as they resume,
 * they look whether they may still count.
 */
int perfctr_run_nothing(void *unused);

#endif /* PERFCTR_RUN_H */
