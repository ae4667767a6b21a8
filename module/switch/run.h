/* SPDX-License-Identifier: GPL-2.0 */
/*
 * These functions call fn(arg) on CPUs, with interrupts off, while no state and no wide is resumed
 * there. They return 0, or the error of a CPU where fn() failed. All but perfctr_run_here() may
 * sleep, and their caller holds the hotplug lock.
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
/* Runs fn() on this CPU. Interrupts are off. */
int perfctr_run_here(int (*fn)(void *arg), void *arg);
/*
 * A function for perfctr_run() that does nothing. All states and wides are suspended for it. As
 * they resume, they look whether they may still count.
 */
int perfctr_run_nothing(void *unused);

#endif /* PERFCTR_RUN_H */
