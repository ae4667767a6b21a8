/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sums have 64 bits. Resuming a state subtracts the registers from its sums. Suspending the state
 * adds the registers back. Interrupts are off.
 */
#ifndef PERFCTR_SUMS_H
#define PERFCTR_SUMS_H

#include "arch/cpu.h"

/* These two functions resume and suspend a state of which only the clock runs. */
static __always_inline void perfctr_cpu_resume_clock(struct perfctr_cpu_state *state)
{
	state->clock -= perfctr_cpu_clock();
}

static __always_inline void perfctr_cpu_suspend_clock(struct perfctr_cpu_state *state)
{
	state->clock += perfctr_cpu_clock();
}

/* Subtracts the registers from the sums. @some: the caller knows that the state has counters. */
static __always_inline void perfctr_cpu_resume(struct perfctr_cpu_state *state, bool some)
{
	struct perfctr_cpu_ctr *ctr = state->ctr, *end = state->end;

	if (some || ctr != end) {
		do {
			ctr->acc -= perfctr_cpu_read(ctr);
		} while (++ctr != end);
	}
	perfctr_cpu_resume_clock(state);
}

/* Adds the registers to the sums. */
static __always_inline void perfctr_cpu_suspend(struct perfctr_cpu_state *state)
{
	struct perfctr_cpu_ctr *ctr, *end = state->end;

	perfctr_cpu_suspend_clock(state);
	for (ctr = state->ctr; ctr != end; ctr++)
		ctr->acc += perfctr_cpu_read(ctr);
}

/* Stores the clock and the sums of a suspended state, in the layout of struct perfctr_sample. */
static inline void perfctr_cpu_store_sums(const struct perfctr_cpu_state *state, u64 *value)
{
	const struct perfctr_cpu_ctr *ctr, *end = state->end;

	*value++ = state->clock;
	for (ctr = state->ctr; ctr != end; ctr++)
		*value++ = ctr->acc;
}

/*
 * Ends the difference of @from and begins the difference of @to, by one reading of the register.
 * Returns the bias of @to.
 */
static __always_inline u64 perfctr_cpu_hand_over_one(struct perfctr_cpu_ctr *from,
						     struct perfctr_cpu_ctr *to)
{
	u64 value = perfctr_cpu_read(from);

	from->acc += value;
	return to->acc -= value;
}

/*
 * Suspends @from, which has counters, and resumes @to. @config is the config of @to, and has the
 * same id as the config of @from. This function reads each register once. It handles two counters
 * per iteration, because the loop itself costs a third of the work in it. With @show, it also
 * writes the biases of @to to the page of @to, whose slots are @slot.
 */
static __always_inline void perfctr_cpu_hand_over(struct perfctr_cpu_state *from,
						  struct perfctr_cpu_state *to,
						  const struct perfctr_config *config,
						  struct perfctr_page_slot *slot, bool show)
{
	struct perfctr_cpu_ctr *ctr = from->ctr, *end = from->end, *last = end - 1;
	struct perfctr_cpu_ctr *other = to->ctr;
	u64 now = perfctr_cpu_clock(), bias;
	unsigned long i = 0;

	from->clock += now;
	to->clock -= now;
	do {
		bias = perfctr_cpu_hand_over_one(ctr, other);
		if (show)
			slot[perfctr_cpu_slot(config, i)].bias = bias;
		if (ctr == last)
			break;
		bias = perfctr_cpu_hand_over_one(ctr + 1, other + 1);
		if (show)
			slot[perfctr_cpu_slot(config, i + 1)].bias = bias;
		ctr += 2;
		other += 2;
		i += 2;
	} while (ctr != end);
}

#endif /* PERFCTR_SUMS_H */
