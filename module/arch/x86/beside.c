// SPDX-License-Identifier: GPL-2.0
/*
 * Counts by some of the counters while perf has the others.
 *
 * The counters with the highest numbers are ours if a control needs them and perf has not pinned an
 * event to them; the first ones are left to perf. perf also keeps the global control, in which the
 * bit of each counter is set while perf has any event. So we use the counters as on a processor
 * without a global control: each counter is stopped by its own control.
 *
 * One counter that can count cycles is always left to perf, because the NMI watchdog may be turned
 * on at any time. It prefers the fixed counter.
 *
 * The fixed counters share one control register. perf writes it whole, from its own copy, when perf
 * enables its counters and in its handler of NMIs. So after both, perfctr_x86_restore_fixed()
 * restores the bits of our counters. Our copy of the register also has the bits of perf's counters.
 * Nothing of user mode is lost in between.
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
#include <asm/perf_event.h>

#include "arch/beside.h"
#include "arch/user.h"
#include "arch/perf.h"
#include "arch/x86/beside.h"
#include "arch/x86/evntsel.h"
#include "arch/x86/extra.h"
#include "arch/x86/registers.h"
#include "arch/x86/verify.h"
#include "arch/x86/zero.h"

#define FIXED_CYCLES	BIT(PERFCTR_X86_FIXED + 1)	/* if it exists, it counts cycles */

static bool beside;
module_param(beside, bool, 0444);
MODULE_PARM_DESC(beside, "x86: count beside perf_events instead of taking all counters from it (N)");

static int perf_counters = -1;
module_param(perf_counters, int, 0444);
MODULE_PARM_DESC(perf_counters, "x86: with beside: leave so many general-purpose counters to perf_events (-1: 0 to 3)");

static bool refuse_perf = true;
module_param(refuse_perf, bool, 0644);
MODULE_PARM_DESC(refuse_perf, "x86: with beside: refuse a user's event of perf_events with EBUSY while we hold all its counters (Y)");

static u32 holding;		/* the counters that all CPUs should hold; config_mutex */

/*
 * What the placeholder of each counter owns besides the counter: the extra register of @event, with
 * @value. perf then gives this register to no event that needs another value. @value is 0 if it
 * owns none. Changes only while no CPU holds the counter; config_mutex.
 */
static struct {
	unsigned int reg;
	u64 event;
	u64 value;
} owns[PERFCTR_X86_MAX];

static u64 missing;		/* perf's numbers of fixed counters that we do not know; constant */
static bool any_lost;		/* set on any CPU, cleared under config_mutex */

/* Returns perf's numbers of these counters, and our numbers of perf's. */
static notrace u64 perfs_numbers(u32 counters)
{
	return global_bits_alone(counters);
}

static notrace u32 our_numbers(u64 counters)
{
	return (counters & GENMASK(PERFCTR_X86_FIXED - 1, 0)) |
	       (u32)(counters >> INTEL_PMC_IDX_FIXED) << PERFCTR_X86_FIXED;
}

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
	if (fixed >= 0 && !(taken & BIT_ULL(fixed)) && (only || !(missing & BIT_ULL(fixed))))
		return fixed;
	if (only)
		return PERFCTR_BESIDE_NONE;
	free = general_counters(config) & ~(u32)taken;
	return free ? (int)__ffs(free) : PERFCTR_BESIDE_NONE;
}

static bool starves(const struct perf_event *event, u64 held)
{
	return held && READ_ONCE(refuse_perf) && place(event, held) == PERFCTR_BESIDE_NONE;
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

/* Zeroes the control of a counter that we hold or have lost. */
static notrace void stop_counter(struct perfctr_x86_cpu *cpu, unsigned int hw)
{
	const struct perfctr_x86_ctr *ctr = &perfctr_pmu.ctr[hw];
	u32 msr = perfctr_pmu.control[ctr->reg].msr;
	u64 value = 0;

	/* Other counters of this register may be perf's. */
	if (hw >= PERFCTR_X86_FIXED)
		value = read_msr(msr) & ~ctr->stop;
	/* An NMI may restore the register from the copy. */
	cpu->control[ctr->reg] = value;
	write_msr(msr, value);
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
static notrace void found(u64 perf_lost, u64 perf_idle, u64 perf_written)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	u32 written = our_numbers(perf_written) & cpu->held;
	u32 lost = our_numbers(perf_lost) & cpu->held, left;
	u32 idle = our_numbers(perf_idle);
	unsigned int hw;

	lockdep_assert_irqs_disabled();
	perfctr_x86_zero(written);
	cpu->negative &= ~written;
	if (!lost)
		return;
	for (left = lost; left; left &= left - 1) {
		hw = __ffs(left);
		if (hw >= PERFCTR_X86_FIXED)
			cpu->control[perfctr_pmu.fixed_control] &= ~perfctr_pmu.ctr[hw].stop;
		else
			cpu->control[perfctr_pmu.ctr[hw].reg] = 0;
		if (idle & BIT(hw)) {
			stop_counter(cpu, hw);
			write_ctr(hw, 0);
		}
	}
	forget_counters(cpu, lost);
	cpu->load_core = PERFCTR_X86_LOST;
	perfctr_x86_belong_to_nobody(cpu);
	perfctr_x86_extra_forget();
	WRITE_ONCE(any_lost, true);
	__this_cpu_or(lost_counters, lost);
	irq_work_queue(this_cpu_ptr(&lost_work));
}

static void describe(unsigned int idx, struct perf_event_attr *attr)
{
	unsigned int hw = __ffs(our_numbers(BIT_ULL(idx)));

	attr->config = perfctr_pmu.family->placeholder(idx);
	if (!owns[hw].value)
		return;
	attr->config = owns[hw].event;
	attr->config1 = owns[hw].value;
}

static struct perfctr_beside driver = {
	.type = PERF_TYPE_RAW,
	.describe = describe,
	.event_bits = EVNTSEL_CODE_AND_UMASK,
	.place = place,
	.starves = starves,
	.changes = perfctr_x86_registers_change,
	.found = found,
	.restore = perfctr_x86_restore_fixed,
};

bool perfctr_x86_beside_has_lost(void)
{
	return READ_ONCE(any_lost);
}

bool perfctr_x86_beside_is_last(u32 counters)
{
	u32 cycles = perfctr_pmu.general | (perfctr_pmu.counters & FIXED_CYCLES);

	return !(cycles & ~(holding | counters));
}

u32 perfctr_x86_beside_fit(const struct perfctr_ctr_control *ctr)
{
	unsigned int hw, reg;
	u64 value = perfctr_x86_extra_value(ctr, &reg);
	unsigned long held = holding;
	u32 fit = ~0U;

	if (!value)
		return fit;
	for_each_set_bit(hw, &held, PERFCTR_X86_MAX) {
		if (owns[hw].value && owns[hw].reg == reg && owns[hw].value != value)
			return 0;
		if (!owns[hw].value || owns[hw].event != (ctr->event & EVNTSEL_CODE_AND_UMASK))
			fit &= ~BIT(hw);
	}
	return fit;
}

/* Says what the placeholders of counters that are not held yet own. */
static void own_extras(const struct perfctr_config *config)
{
	unsigned int i, hw;

	for (i = 0; i < config->nr; i++) {
		hw = config->hw[i];
		if (hw >= PERFCTR_X86_MAX || holding & BIT(hw))
			continue;
		owns[hw].value = perfctr_x86_extra_value(&config->ctr[i], &owns[hw].reg);
		owns[hw].event = config->ctr[i].event & EVNTSEL_CODE_AND_UMASK;
	}
}

/* All CPUs release the placeholders of all counters but @holding. */
static void release_others(void)
{
	unsigned int cpu, hw;

	for_each_possible_cpu(cpu)
		perfctr_beside_release(cpu, ~perfs_numbers(holding));
	for (hw = 0; hw < PERFCTR_X86_MAX; hw++)
		if (!(holding & BIT(hw)))
			owns[hw].value = 0;
}

int perfctr_x86_beside_hold(const struct perfctr_config *config, u32 counters, u32 *busy)
{
	u32 wanted = holding | counters, left;
	unsigned int cpu;
	int err;

	*busy = 0;
	if (perfctr_x86_beside_is_last(counters)) {
		left = counters & ~holding;
		*busy = left & FIXED_CYCLES ?: left;
		return -EBUSY;
	}
	own_extras(config);
	for_each_online_cpu(cpu) {
		err = perfctr_beside_hold(cpu, perfs_numbers(wanted));
		if (!err)
			continue;
		left = wanted & ~our_numbers(perfctr_beside_held(cpu));
		*busy = left;
		release_others();
		return err;
	}
	holding = wanted;
	return 0;
}

void perfctr_x86_beside_join(unsigned int cpu)
{
	perfctr_beside_hold(cpu, perfs_numbers(holding));
}

void perfctr_x86_beside_keep(u32 counters)
{
	holding &= counters;
	release_others();
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
	perfctr_beside_release(cpu, ~0ULL);
}

static u32 held_here(void)
{
	lockdep_assert_irqs_disabled();
	return our_numbers(perfctr_beside_held(smp_processor_id()));
}

u32 perfctr_x86_beside_held(void)
{
	return held_here() & perfctr_pmu.counters;
}

void perfctr_x86_beside_take(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	u32 held = held_here(), left;

	/* After somebody else has written to the registers, all begin anew. */
	left = cpu->load_core == PERFCTR_X86_CHANGED ? held : held & ~cpu->held;
	for (; left; left &= left - 1) {
		unsigned int hw = __ffs(left);

		stop_counter(cpu, hw);
		write_ctr(hw, 0);
	}
	cpu->held = held;
	cpu->running = perfctr_pmu.counters;
	cpu->ours = held;
	/* A CPU that comes up may get less than the others have. Nobody can count there. */
	cpu->load_core = held && !(holding & ~held) ? cpu->core : PERFCTR_X86_LOST;
	if (cpu->load_core == PERFCTR_X86_LOST)
		perfctr_x86_extra_forget();
	else
		perfctr_x86_extra_take();
}

/*
 * Returns how many general counters perf keeps unless root chooses otherwise. If there is no fixed
 * counter of cycles, the NMI watchdog needs a general one.
 */
static unsigned int __init usual_perf_counters(unsigned int nr)
{
	return (perfctr_pmu.counters & FIXED_CYCLES ? 0 : 1) + (nr >= 6 ? 2 : 0);
}

void __init perfctr_x86_beside_init(void)
{
	u32 fixed = perfctr_pmu.counters & ~perfctr_pmu.general;
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
	driver.shared = perfs_numbers(fixed);
	missing = perfs_numbers(~perfctr_pmu.counters) & ~(BIT_ULL(INTEL_PMC_IDX_FIXED) - 1);
	for_each_possible_cpu(cpu)
		per_cpu(lost_work, cpu) = IRQ_WORK_INIT_HARD(report_loss);
	if (perfctr_beside_init(&driver))
		return;
	perfctr_pmu.beside = true;
	/* Only AMD's driver minds: see perfctr_x86_take_overflows(). */
	if (!perfctr_pmu.family->perf_fixed)
		perfctr_pmu.stop_before_perf = perfctr_pmu.global_ctrl;
	perfctr_pmu.counters = (perfctr_pmu.general & ~(BIT(kept) - 1)) | fixed;
	perfctr_pmu.global_ctrl = 0;
	perfctr_pmu.global_always = 0;
	perfctr_pmu.reloaded = false;
	perfctr_pmu.freeze_msr = 0;
	perfctr_pmu.freeze = 0;
	perfctr_pmu.frozen = 0;
	perfctr_pmu.trace = 0;
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
