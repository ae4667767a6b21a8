// SPDX-License-Identifier: GPL-2.0
/*
 * What the registers of a CPU hold, and the hot path.
 *
 * Counters run freely as long as a config is claimed. Everything that any config
 * wants is written when a thread of its is switched in and the CPU's registers,
 * as they are remembered, differ.
 */

#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <asm/cpufeature.h>

#include "registers.h"
#include "extra.h"

#define FIXED_OS	1u
#define FIXED_USR	2u
#define FIXED_PMI	8u
#define FIXED_BITS	4	/* of each fixed counter in their control */

#define STATUS_PT	BIT_ULL(55)	/* Intel PT's output is full */
#define STATUS_CTR_FRZ	BIT_ULL(59)	/* version 4 and up: counters are frozen */

/*
 * Of MSR_IA32_DEBUGCTLMSR: an overflow interrupt stops all counters. Versions 2 and 3 clear
 * the global control then, later ones set STATUS_CTR_FRZ.
 */
#define DEBUGCTL_FREEZE	BIT_ULL(12)

struct perfctr_pmu perfctr_pmu;

DEFINE_PER_CPU(struct perfctr_x86_cpu, perfctr_x86_cpu);

static u32 evntsel(const struct perfctr_ctr_control *ctr, unsigned int hw)
{
	return (ctr->event & EVENT_BITS) | control_bits(ctr, hw);
}

static u64 fixed_ctrl(const struct perfctr_ctr_control *ctr, unsigned int hw)
{
	u64 ctrl = (ctr->flags & PERFCTR_CTR_USER ? FIXED_USR : 0) |
		   (ctr->flags & PERFCTR_CTR_KERNEL ? FIXED_OS : 0) |
		   (ctr->ireset ? FIXED_PMI : 0);

	return ctrl << FIXED_BITS * (hw - PERFCTR_X86_FIXED);
}

static u64 fixed_mask(unsigned int hw)
{
	return 0xfULL << FIXED_BITS * (hw - PERFCTR_X86_FIXED);
}

static void write_ctr(unsigned int hw, u64 value)
{
	write_msr(hw < PERFCTR_X86_FIXED ? MSR_ARCH_PERFMON_PERFCTR0 + hw :
		  MSR_CORE_PERF_FIXED_CTR0 + hw - PERFCTR_X86_FIXED, value);
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

static notrace void note_control(struct perfctr_x86_cpu *cpu, unsigned int hw, bool enabled,
				 bool interrupting)
{
	cpu->enabled = (cpu->enabled & ~BIT(hw)) | (enabled ? BIT(hw) : 0);
	cpu->interrupting = (cpu->interrupting & ~BIT(hw)) | (interrupting ? BIT(hw) : 0);
}

static notrace void write_evntsel(struct perfctr_x86_cpu *cpu, unsigned int hw, u32 sel)
{
	if (cpu->evntsel[hw] == sel)
		return;
	write_msr(MSR_ARCH_PERFMON_EVENTSEL0 + hw, sel);
	cpu->evntsel[hw] = sel;
	note_control(cpu, hw, sel & (EVNTSEL_USR | EVNTSEL_OS), sel & EVNTSEL_INT);
}

/* By one write, where there is one that does it. */
static notrace void let_run(struct perfctr_x86_cpu *cpu, u32 counters)
{
	u32 before = cpu->running;

	/* An NMI looks whether the register has it: see perfctr_x86_mend(). */
	WRITE_ONCE(cpu->running, perfctr_pmu.version == 1 ? perfctr_pmu.counters : counters);
	barrier();
	if (perfctr_pmu.version >= 2 && before != counters)
		write_msr(MSR_CORE_PERF_GLOBAL_CTRL, global_bits(counters));
	else if (!perfctr_pmu.version)
		write_evntsel(cpu, 0, counters ? cpu->evntsel[0] | EVNTSEL_EN :
			      cpu->evntsel[0] & ~EVNTSEL_EN);
	cpu->dirty |= cpu->running & cpu->enabled;
}

/* Where that leaves others running: their own controls stop them. */
static notrace void silence(struct perfctr_x86_cpu *cpu, u32 counters)
{
	unsigned int i;

	if (perfctr_pmu.version >= 2)
		return;
	for (i = 0; i < perfctr_pmu.nr; i++)
		if (counters & BIT(i))
			write_evntsel(cpu, i, cpu->evntsel[i] &
					      (perfctr_pmu.version ? 0 : EVNTSEL_EN));
}

static notrace void zero_all(struct perfctr_x86_cpu *cpu)
{
	unsigned long dirty = cpu->dirty;
	unsigned int hw;

	for_each_set_bit(hw, &dirty, PERFCTR_X86_MAX)
		write_ctr(hw, 0);
	cpu->dirty = cpu->running & cpu->enabled;
	cpu->negative = 0;
}

/* Firmware may have set it. We stop counters ourselves, where we want them to. */
static void unfreeze(struct perfctr_x86_cpu *cpu)
{
	u64 debugctl;

	if (!perfctr_pmu.freezes)
		return;
	debugctl = read_msr(MSR_IA32_DEBUGCTLMSR);
	if (!cpu->ours)
		cpu->froze = debugctl & DEBUGCTL_FREEZE;
	if (debugctl & DEBUGCTL_FREEZE)
		write_msr(MSR_IA32_DEBUGCTLMSR, debugctl & ~DEBUGCTL_FREEZE);
	if (perfctr_pmu.version >= 4 && read_msr(MSR_CORE_PERF_GLOBAL_STATUS) & STATUS_CTR_FRZ)
		write_msr(MSR_CORE_PERF_GLOBAL_OVF_CTRL, STATUS_CTR_FRZ);
}

void perfctr_x86_take_all(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	unsigned int i;

	if (cpu->core == PERFCTR_X86_NO_CORE)
		return;
	/* Whatever perf left to be zeroed when one comes who may read it, let it be now. */
	perfctr_cpu_update_permission();

	if (perfctr_pmu.version >= 2 && !cpu->ours)
		cpu->global_ctrl = read_msr(MSR_CORE_PERF_GLOBAL_CTRL);
	unfreeze(cpu);
	cpu->ours = false;	/* for an NMI */
	for (i = 0; i < perfctr_pmu.nr; i++) {
		write_msr(MSR_ARCH_PERFMON_EVENTSEL0 + i, 0);
		write_msr(MSR_ARCH_PERFMON_PERFCTR0 + i, 0);
		cpu->evntsel[i] = 0;
	}
	if (perfctr_pmu.version >= 2) {
		write_msr(MSR_CORE_PERF_FIXED_CTR_CTRL, 0);
		for (i = 0; i < perfctr_pmu.nr_fixed; i++)
			write_msr(MSR_CORE_PERF_FIXED_CTR0 + i, 0);
		write_msr(MSR_CORE_PERF_GLOBAL_CTRL, global_bits(perfctr_pmu.counters));
	} else if (!perfctr_pmu.version) {
		/* Without a mode it counts nothing itself. */
		write_msr(MSR_ARCH_PERFMON_EVENTSEL0, EVNTSEL_EN);
		cpu->evntsel[0] = EVNTSEL_EN;
	}
	cpu->fixed_ctrl = 0;
	cpu->running = perfctr_pmu.counters;
	cpu->enabled = 0;
	cpu->interrupting = 0;
	cpu->dirty = 0;
	cpu->negative = 0;
	perfctr_x86_belong_to_nobody(cpu);
	perfctr_x86_extra_take();
	cpu->ours = true;
}

static notrace void write_controls(struct perfctr_x86_cpu *cpu,
				   const struct perfctr_config *config, u32 first, u32 end)
{
	u64 ctrl = cpu->fixed_ctrl;
	u32 i;

	for (i = first; i < end; i++) {
		const struct perfctr_ctr_control *ctr = &config->ctr[i];
		unsigned int hw = config->hw[i];

		/* A sum that goes on over zero would be a difference of other signs. */
		if (unlikely(cpu->negative & BIT(hw)) && !ctr->ireset) {
			write_ctr(hw, 0);
			cpu->negative &= ~BIT(hw);
		}
		if (hw < PERFCTR_X86_FIXED) {
			write_evntsel(cpu, hw, evntsel(ctr, hw));
		} else {
			ctrl = (ctrl & ~fixed_mask(hw)) | fixed_ctrl(ctr, hw);
			note_control(cpu, hw, true, ctr->ireset);
		}
	}
	if (cpu->fixed_ctrl != ctrl) {
		write_msr(MSR_CORE_PERF_FIXED_CTR_CTRL, ctrl);
		cpu->fixed_ctrl = ctrl;
	}
}

/* i-mode counters stand still until perfctr_cpu_istart(). */
static notrace void set_up(struct perfctr_x86_cpu *cpu, const struct perfctr_config *config)
{
	lockdep_assert_irqs_disabled();
	/* A CPU that goes has given back, but threads that have to leave it may still run. */
	if (unlikely(!cpu->ours))
		perfctr_x86_take_all();
	write_controls(cpu, config, 0,
		       perfctr_pmu.version >= 2 ? config->nr : perfctr_config_nr_actrs(config));
}

notrace int perfctr_cpu_load(const struct perfctr_config *config)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (!config->nr)
		return 0;
	if (unlikely(config->core != cpu->core))
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
notrace int perfctr_cpu_restart(const struct perfctr_config *config, kuid_t uid)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	/* One that dies is without. */
	u64 mm = current->mm ? current->mm->context.ctx_id : 0;
	bool kin = perfctr_cpu_private(config, uid), foreign;

	if (unlikely(config->core != cpu->core))
		return -EIO;
	set_up(cpu, config);
	silence(cpu, ~config->mask | config->imask);
	/* In one process there may be several users, of whom each has kin elsewhere. */
	foreign = !kin && cpu->dirty &&
		  (!mm || cpu->private_mm != mm || !uid_eq(cpu->private_uid, uid));
	/*
	 * First what is to stand stands, lest it count on from zero. The P6 enables both
	 * or none; but its i-mode ones have no mode yet.
	 */
	let_run(cpu, perfctr_pmu.version ? config->mask & ~config->imask : config->mask);
	if (foreign)
		zero_all(cpu);
	if (!kin)
		cpu->private_mm = mm;
	else if (cpu->private_mm != mm)
		cpu->private_mm = 0;
	cpu->active = 0;
	cpu->private_config = READ_ONCE(config->id);
	cpu->private_uid = uid;
	return 0;
}

notrace void perfctr_cpu_share(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	unsigned long id = cpu->private_config;

	if (!id)
		return;
	perfctr_x86_belong_to_nobody(cpu);
	if (cpu->running)
		cpu->active = id;
}

notrace void perfctr_cpu_leave(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (perfctr_pmu.version == 1)
		perfctr_cpu_share();
	else if (cpu->private_config)
		let_run(cpu, 0);
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

/* Writes to the registers of old are of 32 bits, and extend the sign. */
notrace u64 perfctr_cpu_irange(void)
{
	return perfctr_pmu.full_width ? BIT_ULL(perfctr_pmu.width - 1) : BIT_ULL(31);
}

static notrace void write_ictr(unsigned int hw, u64 value)
{
	u64 all = GENMASK_ULL(perfctr_pmu.width - 1, 0);

	if ((read_ctr(hw) & all) == (value & all))
		return;
	if (hw >= PERFCTR_X86_FIXED)
		write_ctr(hw, value & all);
	else if (perfctr_pmu.full_width)
		write_msr(MSR_IA32_PMC0 + hw, value & all);
	else
		write_ctr(hw, (u32)value);
}

notrace int perfctr_cpu_istart(const struct perfctr_config *config, const u64 *value)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	u32 i, first = perfctr_config_nr_actrs(config);

	lockdep_assert_irqs_disabled();
	silence(cpu, config->imask);
	for (i = first; i < config->nr; i++)
		write_ictr(config->hw[i], value[i - first]);
	cpu->dirty |= config->imask;
	cpu->negative |= config->imask;
	if (perfctr_pmu.version < 2)
		write_controls(cpu, config, first, config->nr);
	let_run(cpu, cpu->running | config->imask);
	return 0;
}

static notrace void stop_ictrs(struct perfctr_x86_cpu *cpu, const struct perfctr_config *config)
{
	lockdep_assert_irqs_disabled();
	if (perfctr_pmu.version >= 2)
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

notrace void perfctr_x86_acknowledge(void)
{
	u64 own;

	if (perfctr_pmu.version < 2 || !this_cpu_read(perfctr_x86_cpu.ours))
		return;
	own = read_msr(MSR_CORE_PERF_GLOBAL_STATUS) & global_bits(perfctr_pmu.counters);
	if (own)
		write_msr(MSR_CORE_PERF_GLOBAL_OVF_CTRL, own);
}

notrace bool perfctr_x86_pt_waits(void)
{
	return perfctr_pmu.pt && this_cpu_read(perfctr_x86_cpu.ours) &&
	       read_msr(MSR_CORE_PERF_GLOBAL_STATUS) & STATUS_PT;
}

notrace void perfctr_x86_mend(bool handed)
{
	const struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	u64 running;

	if (perfctr_pmu.version < 2 || !cpu->ours)
		return;
	running = global_bits(READ_ONCE(cpu->running));
	if (read_msr(MSR_CORE_PERF_GLOBAL_CTRL) != running)
		write_msr(MSR_CORE_PERF_GLOBAL_CTRL, running);
	/* While it traces perf has acknowledged it, and what is there is new. */
	if (handed && !(read_msr(MSR_IA32_RTIT_CTL) & RTIT_CTL_TRACEEN) && perfctr_x86_pt_waits())
		write_msr(MSR_CORE_PERF_GLOBAL_OVF_CTRL, STATUS_PT);
}

void perfctr_x86_release_all(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	unsigned int i;

	perfctr_x86_belong_to_nobody(cpu);
	if (!cpu->ours)
		return;
	cpu->ours = false;
	for (i = 0; i < perfctr_pmu.nr; i++)
		write_msr(MSR_ARCH_PERFMON_EVENTSEL0 + i, 0);
	if (perfctr_pmu.version >= 2) {
		write_msr(MSR_CORE_PERF_FIXED_CTR_CTRL, 0);
		write_msr(MSR_CORE_PERF_GLOBAL_CTRL, cpu->global_ctrl);
	}
	if (cpu->froze)
		write_msr(MSR_IA32_DEBUGCTLMSR,
			  read_msr(MSR_IA32_DEBUGCTLMSR) | DEBUGCTL_FREEZE);
	cpu->froze = false;
	cpu->running = 0;
	/* For processes that may read them without us. */
	cpu->dirty = perfctr_pmu.counters;
	zero_all(cpu);
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
			write_ctr(hw, 0);
}
