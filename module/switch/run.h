/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Running a function on CPUs while nothing is resumed there. fn(arg) is called with interrupts off.
 * Returns 0, or the error of one CPU where it failed. The hotplug lock is held; may sleep.
 */
#ifndef PERFCTR_RUN_H
#define PERFCTR_RUN_H

struct cpumask;

/* On all told CPUs, at the expense of current's user */
int perfctr_run(int (*fn)(void *arg), void *arg);
/* The same at nobody's expense */
int perfctr_run_paid(int (*fn)(void *arg), void *arg);
/* The same on the online ones of these CPUs, without the hotplug lock */
int perfctr_run_on(const struct cpumask *cpus, int (*fn)(void *arg), void *arg);
/* For @fn: whoever counts is suspended and resumed, and so looks again whether it may. */
int perfctr_run_nothing(void *unused);

#endif /* PERFCTR_RUN_H */
