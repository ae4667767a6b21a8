/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Do the counters of a CPU count? With hypervisors, firmware and emulators a register may not take
 * a value, or an event may count nothing, and CPUID does not tell.
 */
#ifndef PERFCTR_X86_TRIAL_H
#define PERFCTR_X86_TRIAL_H

#include <linux/types.h>

/**
 * struct perfctr_x86_trial - what a CPU's counters did wrong
 * @counters: counters that do not keep what is written, miscount a loop of known length, or count
 *	it although they are set to user mode only
 * @events: events of perfctr_pmu.events that are miscounted by counters that count others right
 */
struct perfctr_x86_trial {
	u32 counters;
	u32 events;
};

/* How often a loop is tried, and its two numbers of turns */
#define PERFCTR_X86_TRIES	3
#define PERFCTR_X86_SHORT	1000
#define PERFCTR_X86_LONG	11000

/* Do these two counts fit? @per_turn: events in each turn; 0: some in many turns */
static inline bool perfctr_x86_is_right(u64 few, u64 many, u8 per_turn)
{
	if (per_turn)
		return many - few == per_turn * (PERFCTR_X86_LONG - PERFCTR_X86_SHORT);
	return many && many >= few;
}

/* Does root want counters to be tried? Constant */
extern bool perfctr_x86_trial_wanted;

/* Call if there are counters, once perfctr_pmu is known. */
void perfctr_x86_trial_init(void);

/*
 * Call on the CPU, with interrupts off, while the counters are reserved and nobody else's. It takes
 * as long as 200,000 instructions, or three times that if something is wrong. Registers are
 * restored, but a value that cannot be written to a counter becomes zero.
 */
void perfctr_x86_try(struct perfctr_x86_trial *trial);

/* spin.c: two instructions in each turn, one of them a branch */
void perfctr_x86_spin(unsigned long turns);

#endif /* PERFCTR_X86_TRIAL_H */
