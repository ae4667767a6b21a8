/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wide is the counters of a CPU, and of no thread. A session (session.c) has a wide for each CPU
 * that it counts on.
 *
 * A wide counts whatever runs on its CPU. While a wide is resumed it has differences, as a resumed
 * state has. perfctr_run() suspends the wides of a CPU together with the state there: see run.c.
 */
#ifndef PERFCTR_WIDE_H
#define PERFCTR_WIDE_H

#include "arch/cpu.h"

/**
 * struct perfctr_wide - the counters of one CPU of a session
 * @here: links the wide into the list of its CPU, from start to stop
 * @config: what the wide counts. The wide has a reference to the config, and is a user of it;
 *	constant
 * @cpu: the CPU that the wide counts; constant
 * @clock_on: readers get the clock; constant
 * @no_idle: the wide does not count the idle task; constant
 * @resumed: @state has differences
 * @slept: the wide was resumed when its CPU went to sleep
 * @withholds: because of this wide, no process may read registers; native_mutex of session.c
 * @error: PERFCTR_ERROR_*: why the wide does not count any more; 0: it has no error
 * @state: the sums, or the differences
 *
 * A wide is changed on its CPU with interrupts off. While that CPU is offline, the session changes
 * the wide with the hotplug lock held.
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
	struct perfctr_cpu_state state;	/* must be last: it ends with an array of counters */
};

/*
 * Makes a wide, which is not started yet. The wide takes over the caller's use of the config.
 * Returns NULL if there is no memory. May sleep.
 */
struct perfctr_wide *perfctr_wide_create(struct perfctr_config *config, unsigned int cpu,
					 bool clock_on, bool no_idle);
/*
 * Start, stop and read a wide. These are called on the wide's CPU with interrupts off, or, while
 * that CPU is offline, on any CPU with the hotplug lock held. A wide that is started while its CPU
 * is offline begins to count when the CPU comes online. perfctr_wide_read() writes the clock to
 * value[0], and the sums to value[1] and so on.
 */
void perfctr_wide_start(struct perfctr_wide *wide);
void perfctr_wide_stop(struct perfctr_wide *wide);
void perfctr_wide_read(struct perfctr_wide *wide, u64 *value);

/* Suspend and resume all wides of this CPU. Pairs of calls may nest. Interrupts are off. */
void perfctr_wides_suspend(void);
void perfctr_wides_resume(void);
/* The wides of a CPU that were started and not stopped */
DECLARE_PER_CPU(struct hlist_head, perfctr_wides);

static __always_inline bool perfctr_wides_here(void)
{
	return this_cpu_read(perfctr_wides.first);
}

/*
 * All native wides of this CPU end with PERFCTR_ERROR_LOST, because a thread comes that could read
 * their counts. Interrupts are off.
 */
void perfctr_wides_lose(void);
/* Resumes the wides of this CPU, which has just come online. Interrupts are off. */
void perfctr_wides_online(void);
/* Suspends the wides of this CPU, which is about to go offline. Interrupts are off. */
void perfctr_wides_offline(void);
/*
 * Suspends the wides as this CPU goes to a sleep in which it may lose its registers (@asleep), and
 * resumes them as it wakes. Interrupts are off.
 */
void perfctr_wides_sleep(bool asleep);
/*
 * Suspends the wides with no_idle as this CPU switches to the idle task (@idle), and resumes them
 * as it switches to another task. The probe of switches calls this while there are such wides.
 * Interrupts are off. The runqueue may be locked.
 */
void perfctr_wides_idle(bool idle);
/* Returns true if @cpu has wides. The CPU is coming online, and config_mutex is held. */
bool perfctr_wides_on(unsigned int cpu);

#endif /* PERFCTR_WIDE_H */
