/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tries whether the counters of a CPU count. Because of a hypervisor, firmware or an emulator, a
 * register may not keep a value, or an event may count nothing, although CPUID reports the counter.
 */
#ifndef PERFCTR_X86_TRIAL_H
#define PERFCTR_X86_TRIAL_H

#include <linux/types.h>

#include "arch/cpu.h"

/**
 * struct perfctr_x86_trial - the counters and events of a CPU that failed the trial
 * @counters: counters that do not keep a written value, miscount the loop, or count the loop in
 *	kernel mode when set to user mode only
 * @events: events of perfctr_pmu.events that are miscounted by counters that count other events
 *	right
 */
struct perfctr_x86_trial {
	u32 counters;
	u32 events;
};

/* The most tries of a trial, and the turns of its short loop and of its long loop */
#define PERFCTR_X86_TRIES	3
#define PERFCTR_X86_SHORT	1000
#define PERFCTR_X86_LONG	11000

/*
 * Returns true if the counts of the short loop and of the long loop are right. @per_turn is the
 * number of events in each turn. 0: the number is not known, but many turns cause some.
 */
static inline bool perfctr_x86_is_right(u64 few, u64 many, u8 per_turn)
{
	if (per_turn)
		return many - few == per_turn * (PERFCTR_X86_LONG - PERFCTR_X86_SHORT);
	return many && many >= few;
}

/* The module parameter "trial"; constant */
extern bool perfctr_x86_trial_wanted;

/* Call at init if there are counters, after perfctr_pmu is filled in. */
void perfctr_x86_trial_init(void);

/*
 * Tries these counters of this CPU, with interrupts off. The caller has reserved the counters or,
 * beside perf, holds them, and nobody uses them. This takes as long as 200,000 instructions, or
 * three times that if something is wrong, or more if NMIs come between. Registers are restored, but
 * a counter whose old value cannot be written becomes zero. Returns false if there were so many
 * NMIs that the result means nothing.
 */
bool perfctr_x86_try(u32 counters, struct perfctr_x86_trial *trial);

/*
 * Tries these counters of this CPU, but those that were tried since it came up, and notes the
 * result. Returns false if there is none: see perfctr_x86_try().
 */
bool perfctr_x86_try_here(u32 counters);
/* Returns true if a counter or an event that we use has failed the trial of this CPU. */
bool perfctr_x86_is_bad(const struct perfctr_x86_cpu *cpu);
/*
 * Drops the counters and events that failed the trial of any online CPU. Returns true if there are
 * any. Call before any config uses these counters. The caller holds config_mutex and the hotplug
 * lock.
 */
bool perfctr_x86_drop_bad(void);
/*
 * At a claim of all counters, tries the CPUs that could not be tried when they came up, because
 * perf had their counters. Drops counters that fail, or after the first claim stops using the CPU.
 * The caller holds config_mutex and the hotplug lock.
 */
void perfctr_x86_try_all(perfctr_run_t run);
/*
 * Call this on a CPU that comes up and was tried. Before the first claim of all counters, those
 * that fail are dropped. After it, and beside perf, other CPUs may count with these counters. Then
 * this CPU is not used at all, and states that are resumed on it are lost.
 */
void perfctr_x86_judge_coming(void);

/* Executes a loop with two instructions in each turn, one of which is a branch: see spin.c. */
void perfctr_x86_spin(unsigned long turns);

#endif /* PERFCTR_X86_TRIAL_H */
