// SPDX-License-Identifier: GPL-2.0
/*
 * What the registers of a CPU hold, and the hot path.
 *
 * Counters run freely as long as a config is claimed. Everything that any config
 * wants is written when a thread of its is switched in and the CPU's registers,
 * as they are remembered, differ.
 */

#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <asm/msr-index.h>

#include "arch/user.h"
#include "arch/x86/extra.h"
#include "arch/x86/registers.h"

struct perfctr_pmu perfctr_pmu;

bool perfctr_x86_more_config;
bool perfctr_x86_siblings;
u64 perfctr_x86_session_bits;

u32 perfctr_x86_rdpmc[PERFCTR_X86_METRIC + PERFCTR_METRICS];

DEFINE_PER_CPU(struct perfctr_x86_cpu, perfctr_x86_cpu);

DEFINE_STATIC_KEY_FALSE(perfctr_x86_rdmsr_key);
DEFINE_STATIC_KEY_FALSE(perfctr_x86_clock_key);
static DEFINE_STATIC_KEY_FALSE(perfctr_x86_carry_key);

void __init perfctr_x86_read_by_rdmsr(void)
{
	static_branch_enable(&perfctr_x86_rdmsr_key);
	perfctr_x86_forbid_user_reads();
}

void __init perfctr_x86_mind_carries(void)
{
	static_branch_enable(&perfctr_x86_carry_key);
}

void __init perfctr_x86_use_kernels_clock(void)
{
	static_branch_enable(&perfctr_x86_clock_key);
}

noinline notrace u64 perfctr_x86_read_ctr_msr(u32 msr)
{
	return read_msr(msr);
}

noinline notrace u64 perfctr_x86_kernels_clock(void)
{
	return ktime_get_ns();
}

void perfctr_x86_image_add(struct perfctr_cpu_image *image, u32 slot, u64 mask, u64 value)
{
	struct perfctr_x86_entry *entry;
	u32 i;

	for (i = image->at_load; i < image->nr; i++)
		if (image->entry[i].slot == slot)
			break;
	entry = &image->entry[i];
	if (i == image->nr) {
		entry->msr = perfctr_pmu.control[slot].msr;
		entry->slot = slot;
		image->nr++;
	}
	entry->mask |= mask;
	entry->value |= value;
}

/*
 * By an erratum of the Pentium 4's (N15; O8 of the Xeon MP) what is left over of the event is
 * added as the value is written, and may carry into the upper half. It is written again, as perf
 * does.
 */
static __always_inline void write_value(u32 msr, u64 value)
{
	write_msr(msr, value);
	if (static_branch_unlikely(&perfctr_x86_carry_key))
		write_msr(msr, value);
}

static notrace void write_ctr(unsigned int hw, u64 value)
{
	write_value(perfctr_pmu.ctr[hw].msr, value);
}

static notrace u64 read_ctr(unsigned int hw)
{
	struct perfctr_cpu_ctr ctr;

	perfctr_cpu_bind(&ctr, hw);
	return perfctr_cpu_read(&ctr);
}

/* Is it past half of its range? To an i-mode counter that is below zero. */
static notrace bool upper_half(unsigned int hw)
{
	return read_ctr(hw) >> (perfctr_pmu.width - 1) & 1;
}

static notrace void write_control(struct perfctr_x86_cpu *cpu, u32 slot, u64 value)
{
	if (cpu->control[slot] == value)
		return;
	write_msr(perfctr_pmu.control[slot].msr, value);
	cpu->control[slot] = value;
}

/* Without a global control: by the bit that all need, or not at all */
static noinline notrace void let_run_otherwise(struct perfctr_x86_cpu *cpu, u32 counters)
{
	if (!perfctr_pmu.together) {
		cpu->running = perfctr_pmu.counters;
		return;
	}
	cpu->running = counters;
	write_control(cpu, 0, counters ? cpu->control[0] | perfctr_pmu.together :
		      cpu->control[0] & ~perfctr_pmu.together);
}

/* By one write, where there is one that does it. */
static notrace void let_run(struct perfctr_x86_cpu *cpu, u32 counters)
{
	u32 before = cpu->running;

	if (likely(perfctr_pmu.global_ctrl)) {
		/* An NMI looks whether the register has it: see perfctr_x86_mend(). */
		WRITE_ONCE(cpu->running, counters);
		barrier();
		if (before != counters)
			write_global(counters);
	} else {
		let_run_otherwise(cpu, counters);
	}
	cpu->dirty |= cpu->running & cpu->enabled;
}

/* let_run() of none, at most switches of threads that read registers */
static __always_inline void stop_all(struct perfctr_x86_cpu *cpu)
{
	if (unlikely(!perfctr_pmu.global_ctrl)) {
		let_run(cpu, 0);
	} else if (cpu->running) {
		WRITE_ONCE(cpu->running, 0);	/* see let_run() */
		barrier();
		write_global(0);
	}
}

static noinline notrace void silence_each(struct perfctr_x86_cpu *cpu, u32 counters)
{
	unsigned long still;
	unsigned int hw;

	/* Whoever may not see what these count finds it zeroed. */
	counters &= ~perfctr_pmu.never_stop;
	still = counters & perfctr_pmu.counters;
	for_each_set_bit(hw, &still, PERFCTR_X86_MAX) {
		const struct perfctr_x86_ctr *ctr = &perfctr_pmu.ctr[hw];

		write_control(cpu, ctr->slot, cpu->control[ctr->slot] & ~ctr->stop);
	}
	cpu->enabled &= ~counters;
	cpu->interrupting &= ~counters;
}

/* Where that leaves others running: their own controls stop them. */
static __always_inline void silence(struct perfctr_x86_cpu *cpu, u32 counters)
{
	if (!perfctr_pmu.global_ctrl)
		silence_each(cpu, counters);
}

static noinline notrace void zero_with_carries(u32 counters)
{
	for (; counters; counters &= counters - 1)
		write_ctr(__ffs(counters), 0);
}

/* for_each_set_bit() takes half as many instructions more, and strangers zero at each switch. */
static __always_inline void zero_each(u32 counters)
{
	/* Asked once for all: write_ctr() would ask for each. */
	if (static_branch_unlikely(&perfctr_x86_carry_key)) {
		zero_with_carries(counters);
		return;
	}
	for (; counters; counters &= counters - 1)
		write_msr(perfctr_pmu.ctr[__ffs(counters)].msr, 0);
}

/* In this order, as Linux's intel/core.c has it */
static noinline notrace void zero_with_metrics(u32 counters)
{
	zero_each(counters);
	write_msr(MSR_PERF_METRICS, 0);
}

static __always_inline void zero(u32 counters)
{
	if (unlikely(counters & perfctr_pmu.slots))
		zero_with_metrics(counters);
	else
		zero_each(counters);
}

static noinline notrace void zero_some(u32 counters)
{
	zero(counters);
}

static notrace void zero_all(struct perfctr_x86_cpu *cpu)
{
	zero(cpu->dirty);
	cpu->dirty = cpu->running & cpu->enabled;
	cpu->negative = 0;
}

/* Firmware may have set it. We stop counters ourselves, where we want them to. */
static void unfreeze(struct perfctr_x86_cpu *cpu)
{
	u64 value;

	if (!perfctr_pmu.freeze)
		return;
	value = read_msr(perfctr_pmu.freeze_msr);
	if (!cpu->ours)
		cpu->froze = value & perfctr_pmu.freeze;
	if (value & perfctr_pmu.freeze)
		write_msr(perfctr_pmu.freeze_msr, value & ~perfctr_pmu.freeze);
	if (perfctr_pmu.frozen && read_msr(perfctr_pmu.global_status) & perfctr_pmu.frozen)
		write_msr(perfctr_pmu.global_ack, perfctr_pmu.frozen);
}

/* If nothing counts there is nothing that anybody wants back: perf sets up what it needs. */
static void save_controls(struct perfctr_x86_cpu *cpu)
{
	unsigned int slot;
	u64 unused;

	cpu->overrides = perfctr_pmu.family->counts(&unused);
	if (!cpu->overrides)
		return;
	for (slot = 0; slot < perfctr_pmu.nr_controls; slot++)
		cpu->found[slot] = perfctr_pmu.control[slot].unused ? 0 :
				   read_msr(perfctr_pmu.control[slot].msr);
}

/* Its counters go on from zero. */
static void restore_controls(struct perfctr_x86_cpu *cpu)
{
	unsigned int slot;

	for (slot = 0; cpu->overrides && slot < perfctr_pmu.nr_controls; slot++)
		if (!perfctr_pmu.control[slot].unused)
			write_msr(perfctr_pmu.control[slot].msr, cpu->found[slot]);
	cpu->overrides = false;
}

bool perfctr_x86_firmware_returned(void)
{
	const struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	unsigned int slot;

	if (!cpu->ours || !cpu->overrides)
		return false;
	for (slot = 0; slot < perfctr_pmu.nr_controls; slot++)
		if (cpu->found[slot] && cpu->found[slot] != cpu->control[slot] &&
		    read_msr(perfctr_pmu.control[slot].msr) == cpu->found[slot])
			return true;
	return false;
}

static void zero_controls(struct perfctr_x86_cpu *cpu)
{
	unsigned int slot;

	for (slot = 0; slot < perfctr_pmu.nr_controls; slot++) {
		if (!perfctr_pmu.control[slot].unused)
			write_msr(perfctr_pmu.control[slot].msr, 0);
		cpu->control[slot] = 0;
	}
}

void perfctr_x86_drop(u32 counters, u32 events)
{
	u64 used = 0, lost = 0;
	unsigned long left = perfctr_pmu.counters & counters;
	unsigned int hw, slot;

	for_each_set_bit(hw, &left, PERFCTR_X86_MAX)
		lost |= BIT_ULL(perfctr_pmu.ctr[hw].slot);
	perfctr_pmu.dropped |= counters & perfctr_pmu.counters;
	perfctr_pmu.counters &= ~counters;
	perfctr_pmu.general &= ~counters;
	perfctr_pmu.events &= ~events;
	if (!(perfctr_pmu.counters & perfctr_pmu.slots))
		perfctr_pmu.global_always = 0;
	left = perfctr_pmu.counters;
	for_each_set_bit(hw, &left, PERFCTR_X86_MAX)
		used |= BIT_ULL(perfctr_pmu.ctr[hw].slot);
	for (slot = 0; slot < perfctr_pmu.nr_controls; slot++)
		if (lost & ~used & BIT_ULL(slot))
			perfctr_pmu.control[slot].unused = true;
}

void perfctr_x86_take_all(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	unsigned int slot;

	if (cpu->core == PERFCTR_X86_NO_CORE)
		return;
	/* Zero now what perf left, and not when a reader comes. */
	perfctr_x86_clear_perfs();
	/* On a CPU that is told late the permission may have changed before. */
	perfctr_cpu_update_permission();

	if (perfctr_pmu.global_ctrl && !cpu->ours)
		cpu->global_ctrl = read_msr(perfctr_pmu.global_ctrl);
	if (!cpu->ours)
		save_controls(cpu);
	unfreeze(cpu);
	cpu->ours = false;	/* for an NMI */
	zero_controls(cpu);
	zero_some(perfctr_pmu.counters);
	for (slot = 0; slot < perfctr_pmu.nr_controls; slot++)
		if (!perfctr_pmu.control[slot].unused)
			write_control(cpu, slot, perfctr_pmu.control[slot].idle);
	if (perfctr_pmu.global_ctrl)
		write_global(perfctr_pmu.counters);
	if (perfctr_pmu.family->clear_unused)
		perfctr_pmu.family->clear_unused();
	cpu->running = perfctr_pmu.counters;
	cpu->enabled = perfctr_pmu.never_stop & perfctr_pmu.counters;
	cpu->interrupting = 0;
	cpu->dirty = cpu->enabled;
	cpu->negative = 0;
	perfctr_x86_belong_to_nobody(cpu);
	perfctr_x86_extra_take();
	/* What somebody else had written is not there any more. */
	cpu->load_core = cpu->core;
	cpu->ours = true;
}

/*
 * Errata AAK100, AAP53 and BD53 (specification updates of Nehalem and Westmere): a counter that
 * is given an event may count core cycles, or not at all. Before an event select is written,
 * all counters must stand, have these events, which count nothing that is wanted, run, and
 * stand again.
 */
static DEFINE_STATIC_KEY_FALSE(reset_key);	/* constant after init */

/* Constant after init */
static const u32 *reset_events;
static unsigned int nr_reset_events;

void __init perfctr_x86_reset_needed(const u32 *events, unsigned int nr)
{
	reset_events = events;
	nr_reset_events = nr;
	static_branch_enable(&reset_key);
}

/* Some hypervisors refuse even what others have to bear. */
static notrace void write_anyway(u32 msr, u64 value)
{
	wrmsr_safe(msr, lower_32_bits(value), upper_32_bits(value));
}

/* Both registers of each of these counters. An NMI may let them run meanwhile, in vain. */
static notrace void give_events(const u32 *events)
{
	unsigned int i, nr = min_t(unsigned int, perfctr_pmu.nr_controls_reserved,
				   nr_reset_events);

	for (i = 0; i < nr; i++) {
		if (perfctr_pmu.control[i].unused)
			continue;
		write_anyway(perfctr_pmu.control[i].msr, events ? events[i] : 0);
		write_anyway(perfctr_pmu.ctr[i].msr, 0);
	}
}

static noinline notrace void reset(void)
{
	write_anyway(perfctr_pmu.global_ctrl, 0);
	give_events(reset_events);
	write_anyway(perfctr_pmu.global_ctrl, global_bits(perfctr_pmu.general));
	write_anyway(perfctr_pmu.global_ctrl, 0);
	give_events(NULL);
}

notrace void perfctr_x86_reset(void)
{
	lockdep_assert_irqs_disabled();
	if (static_branch_unlikely(&reset_key))
		reset();
}

/*
 * If this part of the image changes an event select. Nobody is resumed now, so no count is lost
 * with the values of counters.
 */
static noinline notrace void reset_before(struct perfctr_x86_cpu *cpu,
					  const struct perfctr_x86_entry *entry,
					  const struct perfctr_x86_entry *end)
{
	unsigned int i;

	for (; entry < end; entry++)
		if (entry->slot < perfctr_pmu.nr_controls_reserved &&
		    (cpu->control[entry->slot] & entry->mask) != entry->value)
			break;
	if (entry == end)
		return;
	reset();
	for (i = 0; i < perfctr_pmu.nr_controls_reserved; i++)
		cpu->control[i] = 0;
	write_anyway(perfctr_pmu.global_ctrl, global_bits(cpu->running));
}

static __always_inline void write_entries(struct perfctr_x86_cpu *cpu,
					  const struct perfctr_x86_entry *entry,
					  const struct perfctr_x86_entry *end)
{
	for (; entry < end; entry++) {
		u64 before = cpu->control[entry->slot];
		u64 value = (before & ~entry->mask) | entry->value;

		if (before == value)
			continue;
		write_msr(entry->msr, value);
		cpu->control[entry->slot] = value;
	}
}

static noinline notrace void write_after_reset(struct perfctr_x86_cpu *cpu,
					       const struct perfctr_x86_entry *entry,
					       const struct perfctr_x86_entry *end)
{
	reset_before(cpu, entry, end);
	write_entries(cpu, entry, end);
}

static noinline notrace void write_image(struct perfctr_x86_cpu *cpu,
					 const struct perfctr_cpu_image *image, u32 first, u32 end)
{
	if (static_branch_unlikely(&reset_key))
		write_after_reset(cpu, image->entry + first, image->entry + end);
	else
		write_entries(cpu, image->entry + first, image->entry + end);
}

/* i-mode counters stand still until perfctr_cpu_istart(). */
static __always_inline void set_up(struct perfctr_x86_cpu *cpu, const struct perfctr_config *config)
{
	const struct perfctr_cpu_image *image = config->image;
	u32 sums = config->mask & ~config->imask;

	lockdep_assert_irqs_disabled();
	/* A CPU that goes has given back, but threads that have to leave it may still run. */
	if (unlikely(!cpu->ours))
		perfctr_x86_take_all();
	/* A sum that goes on over zero would be a difference of other signs. */
	if (unlikely(cpu->negative & sums)) {
		zero_some(cpu->negative & sums);
		cpu->negative &= ~sums;
	}
	write_image(cpu, image, 0, image->at_load);
	cpu->enabled |= image->counters;
	cpu->interrupting = (cpu->interrupting & ~sums) | (config->imask & image->counters);
}

notrace int perfctr_cpu_load(const struct perfctr_config *config)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (!config->nr)
		return 0;
	if (unlikely(config->core != cpu->load_core))
		return -EIO;
	set_up(cpu, config);
	let_run(cpu, perfctr_pmu.counters & ~cpu->interrupting);
	perfctr_x86_belong_to_nobody(cpu);
	cpu->active = READ_ONCE(config->id);
	return 0;
}

/*
 * Whoever may read one register may read them all. So nothing of others is in any of
 * them, and none runs but those that were asked for, which may count what the thread
 * may not know.
 */
notrace int perfctr_cpu_restart(const struct perfctr_config *config, unsigned long kin,
				kuid_t uid)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	/* One that dies is without. */
	u64 mm = current->mm ? current->mm->context.ctx_id : 0;
	bool private = perfctr_cpu_private(kin, uid), foreign;

	if (unlikely(config->core != cpu->load_core))
		return -EIO;
	set_up(cpu, config);
	silence(cpu, ~config->mask | config->imask);
	/* In one process there may be several users, of whom each has kin elsewhere. */
	foreign = !private && cpu->dirty &&
		  (!mm || cpu->private_mm != mm || !uid_eq(cpu->private_uid, uid));
	/*
	 * First what is to stand stands, lest it count on from zero. Where one bit enables
	 * all or none the i-mode ones count nothing yet.
	 */
	let_run(cpu, perfctr_pmu.together ? config->mask : config->mask & ~config->imask);
	if (foreign)
		zero_all(cpu);
	if (!private)
		cpu->private_mm = mm;
	else if (cpu->private_mm != mm)
		cpu->private_mm = 0;
	cpu->active = 0;
	cpu->private_kin = kin;
	cpu->private_id = READ_ONCE(config->id);
	cpu->private_uid = uid;
	return 0;
}

notrace void perfctr_cpu_share(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (!cpu->private_kin)
		return;
	perfctr_x86_belong_to_nobody(cpu);
	if (cpu->running)
		cpu->active = cpu->private_id;
}

notrace void perfctr_cpu_leave(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (perfctr_x86_run_always())
		perfctr_cpu_share();
	else if (cpu->private_kin)
		stop_all(cpu);
}

notrace void perfctr_x86_rest(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	lockdep_assert_irqs_disabled();
	if (cpu->ours) {
		let_run(cpu, 0);
		silence(cpu, perfctr_pmu.counters);
		zero_all(cpu);
	}
	perfctr_x86_belong_to_nobody(cpu);
}

notrace void perfctr_cpu_scrub(const struct task_struct *next)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	perfctr_x86_rest();
	cpu->private_mm = next->mm->context.ctx_id;
}

/*
 * i-mode
 *
 * A counter that comes to zero sets its bit in the global status, where there is
 * one, and interrupts: see interrupt.c. That may be late, or in vain; sums tell.
 *
 * What KVM does with the global control when it enters and leaves a guest lets counters
 * run that we had stopped. So where they stopped is not relied on.
 */

notrace unsigned int perfctr_cpu_iwidth(void)
{
	return perfctr_pmu.width;
}

notrace u64 perfctr_cpu_irange(void)
{
	return perfctr_pmu.irange;
}

static notrace void write_ictr(unsigned int hw, u64 value)
{
	u64 all = GENMASK_ULL(perfctr_pmu.width - 1, 0);

	if ((read_ctr(hw) & all) == (value & all))
		return;
	write_value(perfctr_pmu.ctr[hw].start_msr, value & perfctr_pmu.ctr[hw].start_mask);
}

notrace int perfctr_cpu_istart(const struct perfctr_config *config, const u64 *value)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	const struct perfctr_cpu_image *image = config->image;
	u32 i, first = perfctr_config_nr_actrs(config);

	lockdep_assert_irqs_disabled();
	silence(cpu, config->imask);
	for (i = first; i < config->nr; i++)
		write_ictr(config->hw[i], value[i - first]);
	cpu->dirty |= config->imask;
	cpu->negative |= config->imask;
	write_image(cpu, image, image->at_load, image->nr);
	cpu->enabled |= config->imask;
	cpu->interrupting |= config->imask;
	let_run(cpu, cpu->running | config->imask);
	return 0;
}

/*
 * By another erratum of the Pentium 4's (O9 of the Xeon MP) a counter that is stopped in the clock
 * in which its lower 32 bits carry loses the carry. It cannot have counted so much meanwhile.
 */
static noinline notrace void silence_with_carries(struct perfctr_x86_cpu *cpu, u32 counters)
{
	const u64 all = GENMASK_ULL(perfctr_pmu.width - 1, 0);
	unsigned long each = counters;
	u64 value[PERFCTR_X86_MAX];
	unsigned int hw;

	for_each_set_bit(hw, &each, PERFCTR_X86_MAX)
		value[hw] = read_ctr(hw);
	silence(cpu, counters);
	for_each_set_bit(hw, &each, PERFCTR_X86_MAX) {
		u64 now = read_ctr(hw);

		if (((now - value[hw]) & all) >> 31)
			write_ctr(hw, (now + BIT_ULL(32)) & all);
	}
}

static notrace void stop_ictrs(struct perfctr_x86_cpu *cpu, const struct perfctr_config *config)
{
	lockdep_assert_irqs_disabled();
	if (static_branch_unlikely(&perfctr_x86_carry_key))
		silence_with_carries(cpu, config->imask);
	else if (perfctr_pmu.global_ctrl)
		let_run(cpu, cpu->running & ~config->imask);
	else
		silence(cpu, config->imask);
}

notrace void perfctr_cpu_istop(const struct perfctr_config *config, const void *id)
{
	stop_ictrs(this_cpu_ptr(&perfctr_x86_cpu), config);
}

notrace void perfctr_cpu_iclear(const struct perfctr_config *config)
{
	u32 i;

	stop_ictrs(this_cpu_ptr(&perfctr_x86_cpu), config);
	for (i = perfctr_config_nr_actrs(config); i < config->nr; i++)
		write_ictr(config->hw[i], 0);
}

/* Those that were stopped have been written, which clears it. */
static noinline notrace void acknowledge_each(struct perfctr_x86_cpu *cpu)
{
	unsigned long counters = cpu->interrupting;
	unsigned int hw;

	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX) {
		u32 slot = perfctr_pmu.ctr[hw].slot;

		if (read_msr(perfctr_pmu.control[slot].msr) & perfctr_pmu.overflow)
			write_msr(perfctr_pmu.control[slot].msr, cpu->control[slot]);
	}
}

notrace void perfctr_x86_acknowledge(void)
{
	u64 own;

	if (!this_cpu_read(perfctr_x86_cpu.ours))
		return;
	if (!perfctr_pmu.global_status) {
		if (perfctr_pmu.overflow)
			acknowledge_each(this_cpu_ptr(&perfctr_x86_cpu));
		return;
	}
	own = read_msr(perfctr_pmu.global_status) & global_bits(perfctr_pmu.counters);
	if (own)
		write_msr(perfctr_pmu.global_ack, own);
}

notrace bool perfctr_x86_trace_waits(void)
{
	return perfctr_pmu.trace && this_cpu_read(perfctr_x86_cpu.ours) &&
	       read_msr(perfctr_pmu.global_status) & perfctr_pmu.trace;
}

notrace void perfctr_x86_mend(bool handed)
{
	const struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	u64 running;

	if (!perfctr_pmu.global_ctrl || !cpu->ours)
		return;
	running = global_bits(READ_ONCE(cpu->running));
	if (read_msr(perfctr_pmu.global_ctrl) != running)
		write_msr(perfctr_pmu.global_ctrl, running);
	if (!handed || !perfctr_pmu.trace)
		return;
	/* While it traces perf has acknowledged it, and what is there is new. */
	if (!(read_msr(perfctr_pmu.trace_msr) & perfctr_pmu.trace_on) && perfctr_x86_trace_waits())
		write_msr(perfctr_pmu.global_ack, perfctr_pmu.trace);
}

void perfctr_x86_release_all(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	perfctr_x86_belong_to_nobody(cpu);
	if (!cpu->ours)
		return;
	cpu->ours = false;
	cpu->load_core = cpu->core;
	zero_controls(cpu);
	if (cpu->froze)
		write_msr(perfctr_pmu.freeze_msr,
			  read_msr(perfctr_pmu.freeze_msr) | perfctr_pmu.freeze);
	cpu->froze = false;
	cpu->running = 0;
	/* For processes that may read them without us. */
	cpu->dirty = perfctr_pmu.counters;
	zero_all(cpu);
	restore_controls(cpu);
	/* Only now does anything count that was counting before. */
	if (perfctr_pmu.global_ctrl)
		write_msr(perfctr_pmu.global_ctrl, cpu->global_ctrl);
}

void perfctr_x86_age(void)
{
	unsigned long counters = perfctr_pmu.counters;
	unsigned int hw;

	/* There may be configs of the clock alone, and the counters somebody else's. */
	if (!this_cpu_ptr(&perfctr_x86_cpu)->ours)
		return;
	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX)
		if (upper_half(hw))
			zero_some(BIT(hw));
}

static void __init tell_held(u32 msr)
{
	if (msr)
		pr_info("perfctr: at load MSR 0x%x: 0x%llx\n", msr, read_msr(msr));
}

void __init perfctr_x86_tell_held(void)
{
	unsigned long counters = perfctr_pmu.counters;
	unsigned int slot, hw;

	pr_info("perfctr: at load, CPU %u:\n", smp_processor_id());
	for (slot = 0; slot < perfctr_pmu.nr_controls; slot++)
		tell_held(perfctr_pmu.control[slot].msr);
	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX)
		tell_held(perfctr_pmu.ctr[hw].msr);
	tell_held(perfctr_pmu.global_ctrl);
	tell_held(perfctr_pmu.global_status);
	tell_held(perfctr_pmu.freeze_msr);
}
