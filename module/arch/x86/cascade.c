// SPDX-License-Identifier: GPL-2.0
/*
 * The Pentium 4 has counters that wait until another counter overflows. The processor then starts
 * the counter by setting a bit of its control register. This bit is not in our copy of the
 * register, perfctr_x86_cpu.control. Another thread may use the counter next, and then the counter
 * must wait again. So a resume always writes the control register. perfctr_cpu_state.own is a bit
 * map of the state's counters that have started.
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
