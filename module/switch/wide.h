/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wides: the counters of a CPU, and of no thread. A session (session.c) has one for each CPU that
 * it counts on.
 *
 * A wide counts whatever runs on its CPU. While it is resumed its state holds differences, as
 * that of a thread does, and whatever suspends the states on a CPU suspends its wides as
 * well: see run.c.
 */
#ifndef PERFCTR_WIDE_H
#define PERFCTR_WIDE_H

#include "arch/cpu.h"

/**
 * struct perfctr_wide - the counters of one CPU of a session
 * @here: in its CPU's list while it is to count
 * @config: its session is a user of it, with a reference; constant
 * @cpu: constant
 * @clock_on: the clock is to be told; constant
 * @no_idle: it does not count what the idle task does; constant
 * @resumed: @state holds differences
 * @slept: it was resumed when its CPU went to sleep
 * @withholds: by it no process may read registers; the session's file (session.c)
 * @error: PERFCTR_ERROR_*: it does not count any more
 * @state: the sums
 *
 * Changed on its CPU with interrupts off; while that is offline, by the session with the hotplug
 * lock held.
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

/* The caller's use of the config is the wide's, from now on. NULL: no memory. Not started */
struct perfctr_wide *perfctr_wide_create(struct perfctr_config *config, unsigned int cpu,
					 bool clock_on, bool no_idle);
/*
 * On its CPU with interrupts off; or, while that is offline, with the hotplug lock held: then it
 * counts when the CPU comes. read: the clock, and then the sums
 */
void perfctr_wide_start(struct perfctr_wide *wide);
void perfctr_wide_stop(struct perfctr_wide *wide);
void perfctr_wide_read(struct perfctr_wide *wide, u64 *value);

/* All of this CPU; in pairs, one within another if need be. Interrupts are off. */
void perfctr_wides_suspend(void);
void perfctr_wides_resume(void);
/* This CPU has come, or will go. Interrupts are off. */
void perfctr_wides_online(void);
void perfctr_wides_offline(void);
/*
 * This CPU goes to a sleep in which its registers may be lost, and, not asleep, wakes. Interrupts
 * are off.
 */
void perfctr_wides_sleep(bool asleep);
/*
 * By whoever sees switches, while there are wides with no_idle: from here on the idle task has this
 * CPU, or another. Interrupts are off; the runqueue may be locked.
 */
void perfctr_wides_idle(bool idle);
/* Has that CPU any? config_mutex is held, and the CPU comes. */
bool perfctr_wides_on(unsigned int cpu);

#endif /* PERFCTR_WIDE_H */
