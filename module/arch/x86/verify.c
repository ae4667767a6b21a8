// SPDX-License-Identifier: GPL-2.0
/*
 * Verifies that the registers hold what we wrote. We have a copy of the control registers, so that
 * a switch writes only what differs and reads nothing back. If somebody else writes to a register,
 * counts are wrong from then on, and nobody would notice.
 *
 * So we compare the registers with the copy at each tick of each CPU that is not idle, and when a
 * state ends its counting. After a difference, no state counts on this CPU until we take the
 * registers again. The values of counters are not compared, because they change all the time.
 *
 * A comparison takes up to a dozen RDMSRs of about a hundred cycles each. In a virtual machine the
 * hypervisor handles each RDMSR, which takes a thousand cycles or more. With PREEMPT_RT, the timer
 * wakes a thread. In these two cases we compare only ten times a second. We never compare twice in
 * the same jiffy, however often threads end.
 */

#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/timer.h>
#include <asm/cpufeature.h>

#include "arch/cpu.h"
#include "arch/x86/extra.h"
#include "arch/x86/interrupt.h"
#include "arch/x86/registers.h"
#include "arch/x86/verify.h"

/* Each CPU has a timer, which runs there while we have the CPU's counters. It wakes no idle CPU. */
static DEFINE_PER_CPU(struct timer_list, timers);

static unsigned long period;	/* in jiffies; constant after init */
static perfctr_changed_t changed;	/* constant after init */

/* Reports a register that holds a value that we did not write, and stops counting on this CPU. */
static void report_changed(struct perfctr_x86_cpu *cpu, u32 msr, u64 is, u64 was)
{
	pr_warn_ratelimited("perfctr: CPU %u, MSR 0x%x: 0x%llx, which was 0x%llx: somebody else writes counters' registers\n",
			    smp_processor_id(), msr, is, was);
	/* Each later resume must call perfctr_cpu_load(), which then fails. */
	cpu->load_core = PERFCTR_X86_CHANGED;
	perfctr_x86_belong_to_nobody(cpu);
	if (changed)
		changed(false);
}

notrace void perfctr_x86_report_lost(u32 counters)
{
	pr_warn_ratelimited("perfctr: CPU %u: perf_events has taken counters 0x%x\n",
			    smp_processor_id(), counters);
	if (changed)
		changed(true);
}

static bool holds(struct perfctr_x86_cpu *cpu, u32 msr, u64 mask, u64 value)
{
	u64 is = read_msr(msr);

	if (likely((is & mask) == value))
		return true;
	report_changed(cpu, msr, is, (is & ~mask) | value);
	return false;
}

/* An NMI may come between two reads, but it restores all registers: see perfctr_x86_mend(). */
bool perfctr_cpu_verify(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	unsigned long now = jiffies;
	unsigned int reg;
	u64 is, was;
	u32 msr;

	lockdep_assert_irqs_disabled();
	if (!cpu->ours)
		return true;
	if (cpu->load_core == PERFCTR_X86_CHANGED)
		return false;
	if (cpu->load_core == PERFCTR_X86_LOST)
		return true;
	if (cpu->verified == now)
		return true;
	cpu->verified = now;
	for (reg = 0; reg < perfctr_pmu.nr_controls; reg++) {
		const struct perfctr_x86_control *control = &perfctr_pmu.control[reg];
		u64 value = cpu->control[reg];
		u64 compared = perfctr_x86_bits_of(cpu->held, reg) & ~control->changes;

		if (value & perfctr_pmu.cascade)
			compared &= ~perfctr_pmu.started;
		if (!control->unused && compared &&
		    !holds(cpu, control->msr, compared, value & compared))
			return false;
	}
	if (perfctr_pmu.global_ctrl &&
	    !holds(cpu, perfctr_pmu.global_ctrl, ~global_bits_alone(perfctr_pmu.dropped),
		   global_bits(cpu->running)))
		return false;
	if (perfctr_pmu.freeze && !holds(cpu, perfctr_pmu.freeze_msr, perfctr_pmu.freeze, 0))
		return false;
	msr = perfctr_x86_extra_changed(&is, &was);
	if (msr)
		report_changed(cpu, msr, is, was);
	return !msr;
}

static void look(struct timer_list *timer)
{
	unsigned long flags;

	local_irq_save(flags);
	/*
	 * When a CPU goes down, its timer moves to another CPU. Ignore it there, because each CPU
	 * has its own timer.
	 */
	if (timer == this_cpu_ptr(&timers) && perfctr_cpu_verify() &&
	    this_cpu_read(perfctr_x86_cpu.ours))
		mod_timer(timer, jiffies + period);
	local_irq_restore(flags);
}

void perfctr_x86_watch(void)
{
	lockdep_assert_irqs_disabled();
	mod_timer(this_cpu_ptr(&timers), jiffies + period);
}

void perfctr_x86_set_changed(perfctr_changed_t handler)
{
	changed = handler;
}

void __init perfctr_x86_verify_init(void)
{
	bool seldom = IS_ENABLED(CONFIG_PREEMPT_RT) || boot_cpu_has(X86_FEATURE_HYPERVISOR);
	unsigned int cpu;

	period = seldom ? HZ / 10 : 1;
	for_each_possible_cpu(cpu)
		timer_setup(per_cpu_ptr(&timers, cpu), look, TIMER_PINNED | TIMER_DEFERRABLE);
}

void perfctr_x86_verify_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		timer_delete_sync(per_cpu_ptr(&timers, cpu));
}
