// SPDX-License-Identifier: GPL-2.0
/*
 * Counts by some of the general-purpose counters while perf has the others.
 *
 * The counters with the highest numbers are ours if a control needs them; the first ones are left
 * to perf. perf also keeps the fixed counters, because they share one control register, which perf
 * writes whole, and the global control, in which the bit of each counter is set while perf has any
 * event. So we use the counters as on a processor without a global control: each counter is stopped
 * by its own control register.
 *
 * While perf has disabled all counters, in the kernel, ours stand still, too. They then miss some
 * instructions of kernel mode.
 */

#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/irq_work.h>
#include <linux/lockdep.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>

#include "arch/beside.h"
#include "arch/user.h"
#include "arch/perf.h"
#include "arch/x86/beside.h"
#include "arch/x86/registers.h"
#include "arch/x86/verify.h"
#include "arch/x86/zero.h"

static bool beside;
module_param(beside, bool, 0444);
MODULE_PARM_DESC(beside, "x86: count beside perf_events instead of taking all counters from it (N)");

static int perf_counters = -1;
module_param(perf_counters, int, 0444);
MODULE_PARM_DESC(perf_counters, "x86: with beside: leave so many general-purpose counters to perf_events (-1: 0 to 3)");

static u32 holding;		/* the counters that all CPUs should hold; config_mutex */
static bool any_lost;		/* set on any CPU, cleared under config_mutex */

/* Returns the general-purpose counters that can count an event of perf's, as far as we know. */
static notrace u32 general_counters(u64 config)
{
	const struct perfctr_ctr_control ctr = {
		.map = PERFCTR_MAP_ANY, .event = config & perfctr_pmu.event_bits,
		.flags = PERFCTR_CTR_USER,
	};
	struct perfctr_refusal why = PERFCTR_NO_REFUSAL;
	u32 counters = 0;

	perfctr_pmu.family->check(&ctr, &counters, &why);
	return counters & perfctr_pmu.general ?: perfctr_pmu.general;
}

static notrace int place(const struct perf_event *event, u64 taken)
{
	u64 config = event->hw.config;
	bool only = false;
	int fixed = -1;
	u32 free;

	if (perfctr_pmu.family->perf_fixed)
		fixed = perfctr_pmu.family->perf_fixed(config, &only);
	if (fixed >= 0 && !(taken & BIT_ULL(fixed)))
		return fixed;
	if (only)
		return PERFCTR_BESIDE_NONE;
	free = general_counters(config) & ~(u32)taken;
	return free ? (int)__ffs(free) : PERFCTR_BESIDE_NONE;
}

/*
 * perf may take counters in the middle of a switch, with the runqueue locked. Nobody may be woken
 * then, and a work of the kernel's queues wakes its thread. So an irq_work reports the loss as soon
 * as interrupts are on.
 */
static DEFINE_PER_CPU(struct irq_work, lost_work);
static DEFINE_PER_CPU(u32, lost_counters);

static void report_loss(struct irq_work *work)
{
	u32 counters = __this_cpu_read(lost_counters);

	__this_cpu_write(lost_counters, 0);
	perfctr_x86_report_lost(counters);
}

/* Zeroes the control register of a counter that we hold or have lost. */
static notrace void stop_counter(struct perfctr_x86_cpu *cpu, unsigned int hw)
{
	u32 reg = perfctr_pmu.ctr[hw].reg;

	write_msr(perfctr_pmu.control[reg].msr, 0);
	cpu->control[reg] = 0;
}

/* These counters are not ours any more. */
static notrace void forget_counters(struct perfctr_x86_cpu *cpu, u32 counters)
{
	cpu->held &= ~counters;
	cpu->enabled &= ~counters;
	cpu->interrupting &= ~counters;
	cpu->dirty &= ~counters;
	cpu->negative &= ~counters;
}

/*
 * Runs in perf's pmu_enable(). Nobody counts on this CPU now. A counter that perf has taken has
 * perf's control already. A counter that is free may still have ours.
 */
static notrace void found(u32 lost, u32 idle, u32 written)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	unsigned int hw;
	u32 left;

	lockdep_assert_irqs_disabled();
	written &= cpu->held;
	lost &= cpu->held;
	perfctr_x86_zero(written);
	cpu->negative &= ~written;
	if (!lost)
		return;
	for (left = lost; left; left &= left - 1) {
		hw = __ffs(left);
		cpu->control[perfctr_pmu.ctr[hw].reg] = 0;
		if (idle & BIT(hw)) {
			stop_counter(cpu, hw);
			write_ctr(hw, 0);
		}
	}
	forget_counters(cpu, lost);
	cpu->load_core = PERFCTR_X86_LOST;
	perfctr_x86_belong_to_nobody(cpu);
	WRITE_ONCE(any_lost, true);
	__this_cpu_or(lost_counters, lost);
	irq_work_queue(this_cpu_ptr(&lost_work));
}

static struct perfctr_beside driver = {
	.type = PERF_TYPE_RAW,
	.place = place,
	.changes = perfctr_x86_registers_change,
	.found = found,
};

bool perfctr_x86_beside_has_lost(void)
{
	return READ_ONCE(any_lost);
}

int perfctr_x86_beside_hold(u32 counters)
{
	unsigned int cpu;
	int err;

	for_each_online_cpu(cpu) {
		err = perfctr_beside_hold(cpu, holding | counters);
		if (err)
			return err;
	}
	holding |= counters;
	return 0;
}

u32 perfctr_x86_beside_held(void)
{
	unsigned int cpu;
	u32 held = ~0u;

	for_each_online_cpu(cpu)
		held &= perfctr_beside_held(cpu);
	return held;
}

void perfctr_x86_beside_join(unsigned int cpu)
{
	perfctr_beside_hold(cpu, holding);
}

void perfctr_x86_beside_keep(u32 counters)
{
	unsigned int cpu;

	holding &= counters;
	for_each_possible_cpu(cpu)
		perfctr_beside_release(cpu, ~holding);
	if (holding)
		return;
	perfctr_beside_unhook();
	WRITE_ONCE(any_lost, false);
}

void perfctr_x86_beside_stop_others(u32 counters)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	u32 others = cpu->held & ~counters, left;

	lockdep_assert_irqs_disabled();
	for (left = others; left; left &= left - 1)
		stop_counter(cpu, __ffs(left));
	perfctr_x86_zero(others);
	forget_counters(cpu, others);
	if (cpu->held)
		return;
	cpu->ours = false;
	cpu->running = 0;
	cpu->load_core = PERFCTR_X86_LOST;
	perfctr_x86_belong_to_nobody(cpu);
}

void perfctr_x86_beside_forget(unsigned int cpu)
{
	perfctr_beside_release(cpu, ~0u);
}

void perfctr_x86_beside_take(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	u32 held = perfctr_beside_held(smp_processor_id()), left;

	lockdep_assert_irqs_disabled();
	for (left = held & ~cpu->held; left; left &= left - 1) {
		unsigned int hw = __ffs(left);

		stop_counter(cpu, hw);
		write_ctr(hw, 0);
	}
	cpu->held = held;
	cpu->running = perfctr_pmu.counters;
	cpu->ours = held;
	/* A CPU that comes up may get less than the others have. Nobody can count there. */
	cpu->load_core = held && !(holding & ~held) ? cpu->core : PERFCTR_X86_LOST;
}

/*
 * Returns how many counters perf keeps unless root chooses otherwise. If perf has no fixed
 * counters, the NMI watchdog needs a general one.
 */
static unsigned int __init usual_perf_counters(unsigned int nr)
{
	return (perfctr_pmu.family->perf_fixed ? 0 : 1) + (nr >= 6 ? 2 : 0);
}

void __init perfctr_x86_beside_init(void)
{
	unsigned int nr = hweight32(perfctr_pmu.general), kept, cpu;

	if (!beside || perfctr_pmu.hybrid || !perfctr_pmu.family->beside ||
	    !perfctr_pmu.family->beside() || !perfctr_cpu_shared_exists())
		return;
	kept = perf_counters < 0 ? usual_perf_counters(nr) : (unsigned int)perf_counters;
	if (kept >= nr) {
		pr_warn("perfctr: perf_counters=%d would leave no counter to us: beside is ignored\n",
			perf_counters);
		return;
	}
	driver.config = perfctr_pmu.family->placeholder;
	for_each_possible_cpu(cpu)
		per_cpu(lost_work, cpu) = IRQ_WORK_INIT_HARD(report_loss);
	if (perfctr_beside_init(&driver))
		return;
	perfctr_pmu.beside = true;
	/* Only AMD's driver minds: see perfctr_x86_take_overflows(). */
	if (!perfctr_pmu.family->perf_fixed)
		perfctr_pmu.stop_before_perf = perfctr_pmu.global_ctrl;
	perfctr_pmu.counters = perfctr_pmu.general & ~(BIT(kept) - 1);
	perfctr_pmu.global_ctrl = 0;
	perfctr_pmu.global_always = 0;
	perfctr_pmu.reloaded = false;
	perfctr_pmu.freeze_msr = 0;
	perfctr_pmu.freeze = 0;
	perfctr_pmu.frozen = 0;
	perfctr_pmu.trace = 0;
	perfctr_pmu.slots = 0;
	perfctr_pmu.nr_metrics = 0;
}

void perfctr_x86_beside_exit(void)
{
	unsigned int cpu;

	if (!perfctr_pmu.beside)
		return;
	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&lost_work, cpu));
	if (!perfctr_beside_exit())
		pr_crit("perfctr: somebody has hooked perf's functions after perfctr\n");
}
