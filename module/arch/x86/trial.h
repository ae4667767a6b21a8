/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Do the counters of a CPU count? Hypervisors, firmware and emulators have registers that take
 * no value, and events that count nothing, and CPUID does not tell.
 */
#ifndef PERFCTR_X86_TRIAL_H
#define PERFCTR_X86_TRIAL_H

#include <linux/types.h>

/**
 * struct perfctr_x86_trial - what a CPU's counters did wrong
 * @counters: those that do not keep what is written, do not count a loop of known length, or
 *	count it although they are to count user mode alone
 * @events: of perfctr_pmu.events, those that counters count wrong that count other ones
 */
struct perfctr_x86_trial {
	u32 counters;
	u32 events;
};

/* How often a loop is tried, with so many turns each time, and with more */
#define PERFCTR_X86_TRIES	3
#define PERFCTR_X86_SHORT	1000
#define PERFCTR_X86_LONG	11000

/* Is that what is counted in these? @per_turn: in each turn; 0: some */
static inline bool perfctr_x86_is_right(u64 few, u64 many, u8 per_turn)
{
	if (per_turn)
		return many - few == per_turn * (PERFCTR_X86_LONG - PERFCTR_X86_SHORT);
	return many && many >= few;
}

/* Does root want that counters are tried? Constant */
extern bool perfctr_x86_trial_wanted;

/* There are counters, and perfctr_pmu is known. */
void perfctr_x86_trial_init(void);

/*
 * On the CPU, with interrupts off, while the counters are reserved and nobody else's. Takes as
 * long as 200,000 instructions, or three times that if something is wrong. The registers hold
 * afterwards what they held before, but for values that no counter can be given: these are zero.
 */
void perfctr_x86_try(struct perfctr_x86_trial *trial);

/* spin.c: two instructions in each turn, one of them a branch */
void perfctr_x86_spin(unsigned long turns);

#endif /* PERFCTR_X86_TRIAL_H */
