// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that wait for others to overflow: a Pentium 4's. The processor lets one go by a bit of
 * its control register, and what is remembered of that register does not have the bit. The next
 * state that has the counter is another thread's, for which it waits, so the register is always
 * written. perfctr_cpu_state.own: counters that have started
 */

#include <linux/bits.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>

#include "arch/sums.h"
#include "arch/x86/registers.h"

notrace void perfctr_x86_resume_waiting(const struct perfctr_config *config,
					struct perfctr_cpu_state *state)
{
	const struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	u32 i;

	lockdep_assert_irqs_disabled();
	for (i = 0; i < config->nr; i++) {
		u32 slot = perfctr_pmu.ctr[config->hw[i]].slot;

		if (perfctr_x86_waits(&config->ctr[i]))
			write_msr(perfctr_pmu.control[slot].msr, cpu->control[slot] |
				  (state->own & BIT(i) ? perfctr_pmu.started : 0));
		state->ctr[i].acc -= perfctr_cpu_read(&state->ctr[i]);
	}
	perfctr_cpu_resume_clock(state);
}

notrace void perfctr_x86_suspend_waiting(const struct perfctr_config *config,
					 struct perfctr_cpu_state *state)
{
	u32 i;

	lockdep_assert_irqs_disabled();
	perfctr_cpu_suspend_clock(state);
	for (i = 0; i < config->nr; i++) {
		u32 slot = perfctr_pmu.ctr[config->hw[i]].slot;

		state->ctr[i].acc += perfctr_cpu_read(&state->ctr[i]);
		if (perfctr_x86_waits(&config->ctr[i]) &&
		    read_msr(perfctr_pmu.control[slot].msr) & perfctr_pmu.started)
			state->own |= BIT(i);
	}
}
