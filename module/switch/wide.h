/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wides: the counters of a CPU, and of no thread. A session (session.c) has one for each CPU that
 * it counts on.
 *
 * A wide counts whatever runs on its CPU. While it is resumed it holds differences, as a state
 * does. perfctr_run() suspends the wides of a CPU together with the state there: see run.c.
 */
#ifndef PERFCTR_WIDE_H
#define PERFCTR_WIDE_H

#include "arch/cpu.h"

/**
 * struct perfctr_wide - the counters of one CPU of a session
 * @here: in its CPU's list while it is to count
 * @config: with a reference; the wide is a user of the config; constant
 * @cpu: constant
 * @clock_on: readers get the clock; constant
 * @no_idle: the wide does not count the idle task; constant
 * @resumed: @state holds differences
 * @slept: it was resumed when its CPU went to sleep
 * @withholds: because of this wide no process may read registers; native_mutex of session.c
 * @error: PERFCTR_ERROR_*: it does not count any more
 * @state: the sums
 *
 * Changed on its CPU with interrupts off; while that CPU is offline, by the session, with the
 * hotplug lock held.
 */
struct perfctr_wide {
	struct hlist_node here;
	struct perfctr_config *config;
	unsigned int cpu;
	bool clock_on;
	bool no_idle;
	bool resumed;
	bool slept;
	bool withholds;
	u32 error;
	struct perfctr_cpu_state state;	/* last: its array is as long as need be */
};

/*
 * Makes a wide, which is not started yet. Takes over the caller's use of the config. NULL: no
 * memory. May sleep.
 */
struct perfctr_wide *perfctr_wide_create(struct perfctr_config *config, unsigned int cpu,
					 bool clock_on, bool no_idle);
/*
 * On the wide's CPU with interrupts off. Or, while that CPU is offline, with the hotplug lock held:
 * then a wide that is started counts when the CPU comes. read: value[0] is the clock, and the sums
 * follow
 */
void perfctr_wide_start(struct perfctr_wide *wide);
void perfctr_wide_stop(struct perfctr_wide *wide);
void perfctr_wide_read(struct perfctr_wide *wide, u64 *value);

/* Suspend and resume all wides of this CPU. Calls come in pairs, and may nest. Interrupts off. */
void perfctr_wides_suspend(void);
void perfctr_wides_resume(void);
/* This CPU has come, or will go. Interrupts are off. */
void perfctr_wides_online(void);
void perfctr_wides_offline(void);
/*
 * This CPU goes to a sleep in which it may lose its registers (@asleep), or wakes from it.
 * Interrupts are off.
 */
void perfctr_wides_sleep(bool asleep);
/*
 * This CPU switches to the idle task (@idle), or to another. The probe of switches calls it while
 * there are wides with no_idle. Interrupts are off; the runqueue may be locked.
 */
void perfctr_wides_idle(bool idle);
/* Has that CPU any wides? It is coming online, and config_mutex is held. */
bool perfctr_wides_on(unsigned int cpu);

#endif /* PERFCTR_WIDE_H */
