// SPDX-License-Identifier: GPL-2.0
/*
 * The Pentium 4 has counters that wait until another one overflows. The processor starts such a
 * counter by a bit of its control register, which @control does not have. The next state that uses
 * the counter belongs to another thread and must wait again, so the register is always written.
 * perfctr_cpu_state.own: counters that have started
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
		u32 reg = perfctr_pmu.ctr[config->hw[i]].reg;

		if (perfctr_x86_waits(&config->ctr[i]))
			write_msr(perfctr_pmu.control[reg].msr, cpu->control[reg] |
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
		u32 reg = perfctr_pmu.ctr[config->hw[i]].reg;

		state->ctr[i].acc += perfctr_cpu_read(&state->ctr[i]);
		if (perfctr_x86_waits(&config->ctr[i]) &&
		    read_msr(perfctr_pmu.control[reg].msr) & perfctr_pmu.started)
			state->own |= BIT(i);
	}
}
