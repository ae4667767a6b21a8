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
