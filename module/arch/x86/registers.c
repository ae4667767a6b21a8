// SPDX-License-Identifier: GPL-2.0
/*
 * The registers of a CPU, and the hot path.
 *
 * Counters run all the time while a config is claimed. When a thread is switched in, we write those
 * registers of its config that differ from our copy of this CPU's registers.
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
#include "arch/x86/reset.h"
#include "arch/x86/take.h"
#include "arch/x86/zero.h"

bool perfctr_x86_more_config;
bool perfctr_x86_siblings;
u64 perfctr_x86_session_bits;

u32 perfctr_x86_rdpmc[PERFCTR_X86_METRIC + PERFCTR_METRICS];

DEFINE_STATIC_KEY_FALSE(perfctr_x86_rdmsr_key);
DEFINE_STATIC_KEY_FALSE(perfctr_x86_clock_key);

void __init perfctr_x86_read_by_rdmsr(void)
{
	static_branch_enable(&perfctr_x86_rdmsr_key);
	perfctr_x86_forbid_user_reads();
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

void perfctr_x86_image_add(struct perfctr_cpu_image *image, u32 reg, u64 mask, u64 value)
{
	struct perfctr_x86_entry *entry;
	u32 i;

	for (i = image->at_load; i < image->nr; i++)
		if (image->entry[i].reg == reg)
			break;
	entry = &image->entry[i];
	if (i == image->nr) {
		entry->msr = perfctr_pmu.control[reg].msr;
		entry->reg = reg;
		image->nr++;
	}
	entry->mask |= mask;
	entry->value |= value;
}

static notrace u64 read_ctr(unsigned int hw)
{
	struct perfctr_cpu_ctr ctr;

	perfctr_cpu_bind(&ctr, hw);
	return perfctr_cpu_read(&ctr);
}

/*
 * Returns true if the counter is in the upper half of its range. An i-mode counter is then below
 * zero.
 */
static notrace bool upper_half(unsigned int hw)
{
	return read_ctr(hw) >> (perfctr_pmu.width - 1) & 1;
}

/*
 * Writes a control register. The copy comes first, because an NMI may restore the register from the
 * copy: see perfctr_x86_restore_fixed(). write_msr() is a barrier for the compiler.
 */
static notrace void write_control(struct perfctr_x86_cpu *cpu, u32 reg, u64 value)
{
	if (cpu->control[reg] == value)
		return;
	cpu->control[reg] = value;
	write_msr(perfctr_pmu.control[reg].msr, value);
}

/*
 * Replaces let_run() on processors without a global control. Sets or clears the bit that all
 * counters need. If there is no such bit either, all counters run.
 */
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

/* Lets exactly these counters run. If one register stops all counters, this takes one write. */
static notrace void let_run(struct perfctr_x86_cpu *cpu, u32 counters)
{
	u32 before = cpu->running;

	if (likely(perfctr_pmu.global_ctrl)) {
		/* An NMI compares the register with cpu->running: see perfctr_x86_mend(). */
		WRITE_ONCE(cpu->running, counters);
		barrier();
		if (before != counters)
			write_global(counters);
	} else {
		let_run_otherwise(cpu, counters);
	}
	cpu->dirty |= cpu->running & cpu->enabled;
}

/*
 * Does what let_run(cpu, 0) does. Most switches of threads that read registers call this function.
 */
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

	/*
	 * Counters that never stop are left out. They are zeroed before a thread comes that may not
	 * see their counts.
	 */
	counters &= ~perfctr_pmu.never_stop;
	still = counters & cpu->enabled;
	for_each_set_bit(hw, &still, PERFCTR_X86_MAX) {
		const struct perfctr_x86_ctr *ctr = &perfctr_pmu.ctr[hw];

		write_control(cpu, ctr->reg, cpu->control[ctr->reg] & ~ctr->stop);
	}
	cpu->enabled &= ~counters;
	cpu->interrupting &= ~counters;
}

/*
 * Stops these counters by their own controls, if there is no global control by which let_run()
 * could stop them.
 */
static __always_inline void silence(struct perfctr_x86_cpu *cpu, u32 counters)
{
	if (!perfctr_pmu.global_ctrl)
		silence_each(cpu, counters);
}

static notrace void zero_all(struct perfctr_x86_cpu *cpu)
{
	zero(cpu->dirty);
	cpu->dirty = cpu->running & cpu->enabled;
	cpu->negative = 0;
}

static __always_inline void write_entries(struct perfctr_x86_cpu *cpu,
					  const struct perfctr_x86_entry *entry,
					  const struct perfctr_x86_entry *end)
{
	for (; entry < end; entry++) {
		u64 before = cpu->control[entry->reg];
		u64 value = (before & ~entry->mask) | entry->value;

		if (before == value)
			continue;
		/* As in write_control() */
		cpu->control[entry->reg] = value;
		write_msr(entry->msr, value);
	}
}

static noinline notrace void write_after_reset(struct perfctr_x86_cpu *cpu,
					       const struct perfctr_x86_entry *entry,
					       const struct perfctr_x86_entry *end)
{
	perfctr_x86_reset_before(cpu, entry, end);
	write_entries(cpu, entry, end);
}

static noinline notrace void write_image(struct perfctr_x86_cpu *cpu,
					 const struct perfctr_cpu_image *image, u32 first, u32 end)
{
	if (static_branch_unlikely(&perfctr_x86_reset_key))
		write_after_reset(cpu, image->entry + first, image->entry + end);
	else
		write_entries(cpu, image->entry + first, image->entry + end);
}

/*
 * Writes the control registers of a config. Its i-mode counters stand still until
 * perfctr_cpu_istart().
 */
static __always_inline void set_up(struct perfctr_x86_cpu *cpu, const struct perfctr_config *config)
{
	const struct perfctr_cpu_image *image = config->image;
	u32 sums = config->mask & ~config->imask;

	lockdep_assert_irqs_disabled();
	/*
	 * A CPU that goes down has given its counters back, but threads that must leave the CPU may
	 * still run.
	 */
	if (unlikely(!cpu->ours))
		perfctr_x86_take_all();
	/*
	 * The register of an a-mode counter must not wrap from its upper half to zero, because its
	 * difference would then change sign. So zero registers that i-mode counters have left in
	 * the upper half.
	 */
	if (unlikely(cpu->negative & sums)) {
		perfctr_x86_zero(cpu->negative & sums);
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
 * A thread that may read one register may read all of them. So all registers that may hold counts
 * of other users or processes are zeroed. Only the config's own counters run, because counts of
 * other events may be secret.
 */
notrace int perfctr_cpu_restart(const struct perfctr_config *config, unsigned long kin,
				kuid_t uid)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	/* A dying thread has no mm. */
	u64 mm = current->mm ? current->mm->context.ctx_id : 0;
	bool private = perfctr_cpu_private(kin, uid), foreign;

	if (unlikely(config->core != cpu->load_core))
		return -EIO;
	set_up(cpu, config);
	silence(cpu, ~config->mask | config->imask);
	/*
	 * Compare both process and user: a process may have several users, and a user may have
	 * several processes.
	 */
	foreign = !private && cpu->dirty &&
		  (!mm || cpu->private_mm != mm || !uid_eq(cpu->private_uid, uid));
	/*
	 * First stop the counters that must stand still. Otherwise they would count again after
	 * they are zeroed. If one bit enables all counters, the i-mode counters need not be
	 * stopped, because they have no event yet.
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

notrace void perfctr_cpu_make_public(void)
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
		perfctr_cpu_make_public();
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
 * A counter that reaches zero interrupts (see interrupt.c), and sets its bit in the global status,
 * if there is a global status. The interrupt may be late, and there are interrupts without an
 * overflow. The sums show what has overflowed.
 *
 * KVM writes the global control when it enters and leaves a guest, which restarts counters that we
 * have stopped. So we never assume that a counter still has the value at which it stopped.
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
	/* Beside perf, a counter may raise an NMI as soon as it is enabled. */
	WRITE_ONCE(cpu->interrupting, cpu->interrupting | config->imask);
	barrier();
	write_image(cpu, image, image->at_load, image->nr);
	cpu->enabled |= config->imask;
	let_run(cpu, cpu->running | config->imask);
	return 0;
}

/*
 * Does what silence() does, in spite of an erratum of the Pentium 4 (O9 of the Xeon MP). If the
 * lower 32 bits of a counter carry in the clock in which the counter stops, the carry is lost. The
 * counter then seems to have counted 2^31 or more between the two reads, which is impossible.
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

/*
 * Clears the overflow bit in the control of each counter that may interrupt. For counters that have
 * been stopped, the bit is already clear, because a write of the control clears it.
 */
static noinline notrace void acknowledge_each(struct perfctr_x86_cpu *cpu)
{
	unsigned long counters = cpu->interrupting;
	unsigned int hw;

	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX) {
		u32 reg = perfctr_pmu.ctr[hw].reg;

		if (read_msr(perfctr_pmu.control[reg].msr) & perfctr_pmu.overflow)
			write_msr(perfctr_pmu.control[reg].msr, cpu->control[reg]);
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

/*
 * A counter has overflowed if it is not below zero. It stays so until the interrupt of the overflow
 * has been handled. The status does not tell, because perf may have acknowledged our overflow.
 *
 * AMD's driver warns of overflows that are not perf's. So none of our counters may overflow between
 * this and perf's handler, which stops and starts all counters anyway.
 */
notrace bool perfctr_x86_take_overflows(bool before_perf)
{
	const struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	u32 counters = READ_ONCE(cpu->held) & READ_ONCE(cpu->interrupting), over = 0;

	if (counters && before_perf && perfctr_pmu.stop_before_perf)
		write_msr(perfctr_pmu.stop_before_perf, 0);
	/* If perf saw that the metrics have overflowed, it would zero SLOTS and the metrics. */
	if (before_perf && READ_ONCE(cpu->held) & perfctr_pmu.slots)
		write_msr(perfctr_pmu.global_ack, PERFCTR_X86_GLOBAL_METRICS);
	for (; counters; counters &= counters - 1)
		if (!upper_half(__ffs(counters)))
			over |= counters & -counters;
	if (over && perfctr_pmu.global_status)
		write_msr(perfctr_pmu.global_ack, global_bits_alone(over));
	return over;
}

notrace u64 perfctr_x86_bits_of(u32 counters, u32 reg)
{
	u64 bits = 0;
	u32 fixed;

	if (!perfctr_pmu.beside)
		return ~0ULL;
	if (reg != perfctr_pmu.fixed_control || !perfctr_pmu.fixed_control)
		return counters & BIT(reg) ? ~0ULL : 0;
	for (fixed = counters >> PERFCTR_X86_FIXED; fixed; fixed &= fixed - 1)
		bits |= perfctr_pmu.ctr[PERFCTR_X86_FIXED + __ffs(fixed)].stop;
	return bits;
}

/*
 * If an NMI comes between the read and the write, perf's handler may have stopped a counter of
 * perf's that interrupts too often. The write then lets that counter run again. This does no harm:
 * perf's handlers ignore the counter, and perf writes its value before perf uses it again.
 */
notrace void perfctr_x86_restore_fixed(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	u32 reg = perfctr_pmu.fixed_control, msr = perfctr_pmu.control[reg].msr;
	u64 ours, is, value;

	if (!(cpu->held >> PERFCTR_X86_FIXED))
		return;
	ours = perfctr_x86_bits_of(cpu->held, reg);
	is = read_msr(msr);
	value = (is & ~ours) | (cpu->control[reg] & ours);
	cpu->control[reg] = value;
	if (value != is)
		write_msr(msr, value);
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
	/*
	 * While a trace runs, perf acknowledges the trace's bit. A bit that is set again belongs to
	 * a new interrupt and must stay.
	 */
	if (!(read_msr(perfctr_pmu.trace_msr) & perfctr_pmu.trace_on) && perfctr_x86_trace_waits())
		write_msr(perfctr_pmu.global_ack, perfctr_pmu.trace);
}

void perfctr_x86_age(void)
{
	unsigned long counters = perfctr_pmu.counters;
	unsigned int hw;

	/* There may be configs of the clock alone, while somebody else has the counters. */
	if (!this_cpu_ptr(&perfctr_x86_cpu)->ours)
		return;
	if (perfctr_pmu.beside)
		counters = this_cpu_ptr(&perfctr_x86_cpu)->held;
	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX)
		if (upper_half(hw))
			perfctr_x86_zero(BIT(hw));
}
