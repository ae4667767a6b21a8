// SPDX-License-Identifier: GPL-2.0
/*
 * PowerPC 604 to 745x: this file programs and runs the counters of a CPU. It also has the hot path.
 *
 * Three control registers say what all counters count, and in which mode, so a CPU runs one config
 * at a time. A switch to another config writes only the control registers that differ. The counters
 * run on meanwhile. perfctr_cpu_age() zeroes them long before their bit 31 becomes set.
 *
 * If PMXE is set, a counter interrupts while its bit 31 is set. The rest of the module expects an
 * i-mode counter to be negative, and to interrupt when it reaches zero. So the register of an
 * i-mode counter holds the expected value with bit 31 inverted, and the stubs invert bit 31 when
 * they read the register. One enable bit is for all counters but PMC1. So while an i-mode counter
 * needs that enable bit, a-mode counters other than PMC1 stay below 2^30.
 *
 * If user mode can read the counters (perfctr_ppc32_copies), they run only for the threads of one
 * user and for one config. They start from zero. When another thread comes, the counters stop and
 * are zeroed, which costs one write for each. Two traces remain. The selects of PMC3 and up in
 * MMCR1 show which events somebody counted. SIAR, which also has a copy for user mode, shows where
 * a counter last interrupted.
 *
 * perf may write to the registers although they are reserved for us. If perf cannot reserve the
 * registers for an event, Linux (seen in 6.12.107) still subtracts the event from perf's number of
 * events. The number becomes negative, and perf opens the next event without a reservation
 * (power_pmu_event_init(), hw_perf_event_destroy()). perf leaves another value in MMCR0 than we do.
 * So we compare MMCR0 before we write it, at each tick, and when a state ends its counting. After a
 * difference, no state counts by these registers until they are taken again.
 */

#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/timer.h>
#include <asm/reg.h>

#include "arch/sums.h"
#include "arch/user.h"
#include "arch/ppc32/registers.h"

/* These registers have other numbers on other PowerPCs. */
#define SPR_MMCR2	944
#define SPR_PMC5	945
#define SPR_PMC6	946
#define SPR_BAMR	951
#define SPR_MMCR0	952
#define SPR_PMC1	953
#define SPR_PMC2	954
#define SPR_MMCR1	956
#define SPR_PMC3	957
#define SPR_PMC4	958

/* Ageing zeroes a counter that has reached this value, which is halfway to bit 31. */
#define AGED		BIT(30)
/* perfctr_cpu_state.own says how the processor has changed MMCR0 since the control was set. */
#define OWN_FROZEN	1	/* FC is set */
#define OWN_TRIGGERED	2	/* TRIGGER is cleared */

DEFINE_PER_CPU(struct perfctr_ppc32_cpu, perfctr_ppc32_cpu);

/* Each CPU's timer runs at each tick while the registers are ours. The timer wakes no idle CPU. */
static DEFINE_PER_CPU(struct timer_list, timers);

DEFINE_STATIC_KEY_FALSE(perfctr_ppc32_copies);
bool perfctr_ppc32_claimed;
struct perfctr_ppc32_model perfctr_ppc32_model __ro_after_init;

static __always_inline u32 all_counters(void)
{
	return GENMASK(perfctr_ppc32_model.counters - 1, 0);
}

static __always_inline u32 read_pmc(unsigned int hw)
{
	return perfctr_ppc32_read(perfctr_ppc32_stub(hw));
}

static notrace void write_pmc(unsigned int hw, u32 value)
{
	switch (hw) {
	case 0:
		mtspr(SPR_PMC1, value);
		break;
	case 1:
		mtspr(SPR_PMC2, value);
		break;
	case 2:
		mtspr(SPR_PMC3, value);
		break;
	case 3:
		mtspr(SPR_PMC4, value);
		break;
	case 4:
		mtspr(SPR_PMC5, value);
		break;
	case 5:
		mtspr(SPR_PMC6, value);
		break;
	}
}

static __always_inline void zero_pmcs(u32 counters)
{
	if (counters & BIT(0))
		mtspr(SPR_PMC1, 0);
	if (counters & BIT(1))
		mtspr(SPR_PMC2, 0);
	if (likely(!(counters >> 2)))
		return;
	if (counters & BIT(2))
		mtspr(SPR_PMC3, 0);
	if (counters & BIT(3))
		mtspr(SPR_PMC4, 0);
	if (counters & BIT(4))
		mtspr(SPR_PMC5, 0);
	if (counters & BIT(5))
		mtspr(SPR_PMC6, 0);
}

/* Zeroes counters that are at least halfway to being negative. */
static __always_inline void age(unsigned long counters)
{
	unsigned int hw;

	for_each_set_bit(hw, &counters, PERFCTR_PPC32_MAX)
		if (read_pmc(hw) >= AGED)
			write_pmc(hw, 0);
}

static __always_inline void belong_to_nobody(struct perfctr_ppc32_cpu *cpu)
{
	cpu->active = 0;
	cpu->private_kin = 0;
	cpu->istopped = NULL;
}

static perfctr_changed_t changed;	/* NULL without a handler */

/*
 * Records that MMCR0 holds a value that we did not write. The report comes later, because a switch
 * may neither print nor wake up anybody.
 */
static noinline notrace void has_changed(struct perfctr_ppc32_cpu *cpu, u32 is)
{
	cpu->found = is;
	cpu->changed = true;
	belong_to_nobody(cpu);
}

static void report_changed(struct perfctr_ppc32_cpu *cpu)
{
	if (cpu->reported)
		return;
	cpu->reported = true;
	pr_warn_ratelimited("perfctr: CPU %u, MMCR0: 0x%08x, which was 0x%08x: somebody else writes counters' registers\n",
			    smp_processor_id(), cpu->found, cpu->mmcr[0]);
	if (changed)
		changed(false);
}

/* Returns true if MMCR0 holds what we wrote, except bits that the processor changes by itself. */
static __always_inline bool holds(const struct perfctr_ppc32_cpu *cpu, u32 is)
{
	u32 own = 0;

	if (unlikely(cpu->mmcr[0] & MMCR0_CHANGES))
		own = MMCR0_PMXE_BIT | MMCR0_FC_BIT | MMCR0_TRIGGER_BIT;
	return !((is ^ cpu->mmcr[0]) & ~own);
}

/*
 * Writes MMCR0, whose value the processor may have changed since we last wrote it. If somebody else
 * has changed MMCR0, we leave the registers alone.
 */
static __always_inline void write_mmcr0(struct perfctr_ppc32_cpu *cpu, u32 value)
{
	u32 is;

	if (cpu->mmcr[0] == value && !(value & MMCR0_CHANGES))
		return;
	is = mfspr(SPR_MMCR0);
	if (unlikely(!holds(cpu, is))) {
		has_changed(cpu, is);
		return;
	}
	mtspr(SPR_MMCR0, value);
	cpu->mmcr[0] = value;
}

/*
 * Writes the other control registers. A register that does not exist always has the value 0, so it
 * is never written.
 */
static __always_inline void write_others(struct perfctr_ppc32_cpu *cpu, const u32 *mmcr)
{
	if (cpu->mmcr[1] != mmcr[1]) {
		mtspr(SPR_MMCR1, mmcr[1]);
		cpu->mmcr[1] = mmcr[1];
	}
	if (cpu->mmcr[2] != mmcr[2]) {
		mtspr(SPR_MMCR2, mmcr[2]);
		cpu->mmcr[2] = mmcr[2];
	}
}

/* Stops and zeroes all counters. From then on they belong to nobody. */
static __always_inline void rest(struct perfctr_ppc32_cpu *cpu)
{
	write_mmcr0(cpu, MMCR0_FC_BIT);
	if (unlikely(cpu->changed))
		return;
	zero_pmcs(cpu->dirty);
	cpu->dirty = 0;
	cpu->imask = 0;
	belong_to_nobody(cpu);
}

void perfctr_ppc32_take(void)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);
	const struct perfctr_ppc32_model *model = &perfctr_ppc32_model;

	lockdep_assert_irqs_disabled();
	/* Discard what others left in the registers. */
	mtspr(SPR_MMCR0, MMCR0_FC_BIT);
	if (model->mmcrs > 1)
		mtspr(SPR_MMCR1, 0);
	if (model->mmcrs > 2)
		mtspr(SPR_MMCR2, 0);
	if (model->bamr)
		mtspr(SPR_BAMR, 0);
	cpu->mmcr[0] = MMCR0_FC_BIT;
	cpu->mmcr[1] = 0;
	cpu->mmcr[2] = 0;
	cpu->dirty = all_counters();
	cpu->ours = true;
	cpu->changed = false;
	cpu->reported = false;
	rest(cpu);
	mod_timer(this_cpu_ptr(&timers), jiffies + 1);
}

void perfctr_ppc32_release(void)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);

	lockdep_assert_irqs_disabled();
	belong_to_nobody(cpu);
	if (!cpu->ours)
		return;
	/*
	 * Leave the registers as they are after power-on, except for FC. perf sets up what it
	 * needs.
	 */
	if (perfctr_cpu_verify())
		perfctr_ppc32_take();
	cpu->ours = false;
	cpu->changed = false;
}

notrace void perfctr_cpu_rest(void)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);

	if (cpu->ours && !cpu->changed)
		rest(cpu);
}

/* Prepares the registers for a config. Counters that held i-mode counts start from zero. */
static __always_inline int set_up(struct perfctr_ppc32_cpu *cpu)
{
	lockdep_assert_irqs_disabled();
	/*
	 * A CPU that goes down has given its counters back, but threads that must leave it may
	 * still run.
	 */
	if (unlikely(!cpu->ours)) {
		if (!READ_ONCE(perfctr_ppc32_claimed))
			return -EIO;
		perfctr_ppc32_take();
	}
	if (unlikely(cpu->changed))
		return -EIO;
	if (unlikely(cpu->imask)) {
		zero_pmcs(cpu->imask);
		cpu->imask = 0;
	}
	cpu->istopped = NULL;
	return 0;
}

static __always_inline void write_image(struct perfctr_ppc32_cpu *cpu,
					const struct perfctr_config *config)
{
	write_others(cpu, config->image->mmcr);
	write_mmcr0(cpu, config->image->mmcr[0]);
	cpu->dirty |= config->mask;
}

notrace int perfctr_cpu_load(const struct perfctr_config *config)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);

	if (!config->nr)
		return 0;
	if (set_up(cpu))
		return -EIO;
	write_image(cpu, config);
	if (unlikely(cpu->changed))
		return -EIO;
	cpu->private_kin = 0;
	cpu->active = READ_ONCE(config->id);
	return 0;
}

notrace int perfctr_cpu_restart(const struct perfctr_config *config, unsigned long kin,
				kuid_t uid)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);

	if (set_up(cpu))
		return -EIO;
	if (!perfctr_cpu_private(kin, uid))
		rest(cpu);
	write_image(cpu, config);
	if (unlikely(cpu->changed))
		return -EIO;
	cpu->active = 0;
	cpu->private_kin = kin;
	cpu->private_uid = uid;
	return 0;
}

/*
 * i-mode
 */

notrace int perfctr_cpu_istart(const struct perfctr_config *config, const u64 *value)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);
	const struct perfctr_cpu_image *image = config->image;
	u32 i, first = perfctr_config_nr_actrs(config);

	lockdep_assert_irqs_disabled();
	age(image->chained & ~config->imask);
	for (i = first; value && i < config->nr; i++)
		write_pmc(config->hw[i], (u32)value[i - first] ^ BIT(31));
	cpu->imask = config->imask;
	cpu->istopped = NULL;
	write_others(cpu, image->full);
	/* With own_way, perfctr_cpu_resume_own_way() writes MMCR0. */
	if (likely(!config->own_way))
		write_mmcr0(cpu, image->full[0]);
	return 0;
}

static __always_inline void stop_ictrs(struct perfctr_ppc32_cpu *cpu,
				       const struct perfctr_config *config)
{
	lockdep_assert_irqs_disabled();
	/* Write MMCR0 first: that ends interrupts. */
	write_mmcr0(cpu, config->image->mmcr[0]);
	write_others(cpu, config->image->mmcr);
}

notrace void perfctr_cpu_istop(const struct perfctr_config *config, const void *id)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);

	if (unlikely(config->own_way))
		cpu->stopped = mfspr(SPR_MMCR0);
	stop_ictrs(cpu, config);
	cpu->istopped = id;
}

notrace void perfctr_cpu_iclear(const struct perfctr_config *config)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);

	stop_ictrs(cpu, config);
	zero_pmcs(config->imask);
	cpu->imask = 0;
	cpu->istopped = NULL;
}

notrace void perfctr_ppc32_quiet(void)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);

	/*
	 * The manuals say that the interrupt clears PMXE. If it did not, the interrupt would come
	 * forever.
	 */
	if (cpu->ours && !cpu->changed && cpu->mmcr[0] & MMCR0_PMXE_BIT)
		write_mmcr0(cpu, cpu->mmcr[0] & ~MMCR0_PMXE_BIT);
}

/*
 * These functions are for configs with FCECE or TRIGGER. With these bits, the processor changes
 * MMCR0 when counters become negative. So each state has its own MMCR0, which each control resets.
 * While the state is suspended, all counters are frozen (perfctr_cpu_image.mmcr).
 *
 * An a-mode counter starts from its sum, limited to 2^31. So the counter becomes negative at 2^31,
 * and stays negative, as if no other thread used it. An a-mode counter whose condition is enabled
 * for i-mode counters starts from zero instead. Otherwise it would interrupt forever.
 */
notrace void perfctr_cpu_resume_own_way(const struct perfctr_config *config,
					struct perfctr_cpu_state *state)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);
	const struct perfctr_cpu_image *image = config->image;
	u32 i, mmcr0 = image->full[0];
	unsigned int hw;

	/* Values that others left must not act as conditions or triggers of this state. */
	age(cpu->dirty & ~config->mask);
	for (i = 0; i < perfctr_config_nr_actrs(config); i++) {
		hw = config->hw[i];
		write_pmc(hw, image->chained & BIT(hw) ? 0 :
			  min_t(u64, state->ctr[i].acc, BIT(31)));
	}
	perfctr_cpu_resume(state, true);
	write_others(cpu, image->full);
	if (state->own & OWN_FROZEN)
		mmcr0 |= MMCR0_FC_BIT;
	if (state->own & OWN_TRIGGERED)
		mmcr0 &= ~MMCR0_TRIGGER_BIT;
	write_mmcr0(cpu, mmcr0);
}

notrace void perfctr_cpu_suspend_own_way(const struct perfctr_config *config,
					 struct perfctr_cpu_state *state)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);
	u32 mmcr0;

	if (config->nr_ictrs) {
		mmcr0 = cpu->stopped;
	} else {
		mmcr0 = mfspr(SPR_MMCR0);
		write_mmcr0(cpu, config->image->mmcr[0]);
		write_others(cpu, config->image->mmcr);
	}
	perfctr_cpu_suspend(state);
	if (!(mmcr0 & MMCR0_TRIGGER_BIT))
		state->own |= OWN_TRIGGERED;
	/*
	 * With i-mode counters, only an overflow freezes the counters, and all counters go on with
	 * the next period.
	 */
	if (mmcr0 & MMCR0_FC_BIT && !config->nr_ictrs)
		state->own |= OWN_FROZEN;
	else
		state->own &= ~OWN_FROZEN;
}

/* The counters miss events while the sample is taken. The clock misses that time, too. */
notrace void perfctr_cpu_sample_own_way(const struct perfctr_config *config,
					struct perfctr_cpu_state *state, u64 *value)
{
	perfctr_cpu_suspend_own_way(config, state);
	perfctr_cpu_store_sums(state, value);
	perfctr_cpu_resume_own_way(config, state);
}

void perfctr_ppc32_age(void)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);

	if (cpu->ours && !cpu->changed)
		age(all_counters() & ~cpu->imask);
}

/*
 * These functions check whether the registers hold what we wrote. perfctr_cpu_verify() is called at
 * each tick, and when a state ends its counting, but never at a switch.
 */

bool perfctr_cpu_verify(void)
{
	struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);
	u32 is;

	lockdep_assert_irqs_disabled();
	if (!cpu->ours)
		return true;
	if (!cpu->changed) {
		is = mfspr(SPR_MMCR0);
		if (likely(holds(cpu, is)))
			return true;
		has_changed(cpu, is);
	}
	report_changed(cpu);
	return false;
}

static void look(struct timer_list *timer)
{
	unsigned long flags;

	local_irq_save(flags);
	/* When a CPU goes down, its timer moves to another CPU, which has a timer of its own. */
	if (timer == this_cpu_ptr(&timers) && perfctr_cpu_verify() &&
	    this_cpu_ptr(&perfctr_ppc32_cpu)->ours)
		mod_timer(timer, jiffies + 1);
	local_irq_restore(flags);
}

void perfctr_cpu_set_changed(perfctr_changed_t handler)
{
	changed = handler;
}

void __init perfctr_ppc32_verify_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		timer_setup(per_cpu_ptr(&timers, cpu), look, TIMER_PINNED | TIMER_DEFERRABLE);
}

void perfctr_ppc32_verify_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		timer_delete_sync(per_cpu_ptr(&timers, cpu));
}
