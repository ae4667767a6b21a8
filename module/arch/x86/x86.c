// SPDX-License-Identifier: GPL-2.0
/*
 * x86 processors: the time-stamp counter as the clock, of any that has one, and
 * the counters of Intel's family 6: architectural performance monitoring and the
 * P6, which are alike but for a few registers.
 *
 * Counters run freely as long as a config is claimed. Everything that any config
 * wants is written when a thread of its is switched in and the CPU's registers,
 * as they are remembered, differ. They are taken all together, since that is how
 * perf takes them: it has all or none, and so have we.
 */

#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/nospec.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <asm/asm.h>
#include <asm/cpufeature.h>
#include <asm/msr-index.h>
#include <asm/nmi.h>
#include <asm/tsc.h>

#include "lowlevel.h"
#include "extra.h"
#include "interrupt.h"
#include "measure.h"

#define CTR_BOTH	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

#define EVNTSEL_USR	BIT(16)
#define EVNTSEL_OS	BIT(17)
#define EVNTSEL_EDGE	BIT(18)
#define EVNTSEL_INT	BIT(20)
#define EVNTSEL_EN	BIT(22)
#define EVNTSEL_INV	BIT(23)
/* What counts: event and unit mask, edge, inversion, counter mask */
#define EVENT_BITS	(0xffffULL | EVNTSEL_EDGE | EVNTSEL_INV | 0xff000000ULL)
/* What the rest of a control says as well */
#define CONTROL_BITS	(EVNTSEL_USR | EVNTSEL_OS | EVNTSEL_INT | EVNTSEL_EN)

#define FIXED_OS	1u
#define FIXED_USR	2u
#define FIXED_PMI	8u
#define FIXED_BITS	4	/* of each fixed counter in their control */

#define PERF_CAP_FULL_WIDTH	BIT(13)

#define STATUS_PT	BIT_ULL(55)	/* Intel PT's output is full */
#define STATUS_CTR_FRZ	BIT_ULL(59)	/* version 4 and up: counters are frozen */

/*
 * Of MSR_IA32_DEBUGCTLMSR: an overflow interrupt stops all counters. Versions 2 and 3 clear
 * the global control then, later ones set STATUS_CTR_FRZ.
 */
#define DEBUGCTL_FREEZE	BIT_ULL(12)

/*
 * What counts up to 2^MAX_RATE_SHIFT in a second, wide of what any event can. Some count
 * more than one in a cycle: issue slots 4 to 8, and events of occupancy as many as a queue
 * is long, some dozens. This is 45 a cycle at 6 GHz.
 */
#define MAX_RATE_SHIFT	38

/*
 * From version 6 on perf uses registers in other places, MSRs 0x1900 and up, for which its
 * reservations say yes to everybody. They are the same counters: nothing would keep perf
 * and us apart.
 */
#define VERSION_TOO_NEW	6

/* CPUID leaf 1AH: EAX is of what type and native model a hybrid processor's core is */
#define LEAF_CORE	0x1a

/*
 * Constant after init, but @users, @iusers, @taken and @joinable, which are config_mutex's
 * @version: of architectural performance monitoring; 0: the P6
 * @nr: general-purpose counters; 0: there are no counters
 * @nr_fixed: fixed counters
 * @width: bits of the narrowest of them
 * @counters: all of them, as a bit map
 * @lacks: architectural events that the processor says it has not, as a bit map
 * @interrupts: they interrupt
 * @pt: there is Intel PT, which interrupts as counters do
 * @freezes: there is DEBUGCTL_FREEZE
 * @full_width: there are registers that write all of a general-purpose counter
 * @hybrid: CPUs are of several types; all above is what each of them has
 * @none: PERFCTR_NO_COUNTERS_*
 * @users: configs that are claimed
 * @iusers: those of them with i-mode counters
 * @taken: the counters are reserved, and ours on every CPU that is told: while there are users,
 *	and for some time after the last, see perfctr_cpu_lingers()
 * @joinable: a CPU that was not told may take them: ends before they are given back
 */
static struct counters {
	unsigned int version;
	unsigned int nr;
	unsigned int nr_fixed;
	unsigned int width;
	u32 counters;
	u32 lacks;
	bool interrupts;
	bool pt;
	bool freezes;
	bool full_width;
	bool hybrid;
	u32 none;
	unsigned int users;
	unsigned int iusers;
	bool taken;
	bool joinable;
} pmu;

DEFINE_PER_CPU(struct perfctr_x86_cpu, perfctr_x86_cpu);

/* instructions, core cycles, reference cycles: events of the fixed counters */
static const u32 fixed_events[] = { 0x00c0, 0x003c, 0x013c };

/*
 * In the order of CPUID leaf 10's bits: core cycles, instructions, reference cycles,
 * references to and misses of the last level cache, branches, mispredicted ones
 */
static const u32 arch_events[] = { 0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5 };

static void write_msr(u32 msr, u64 value)
{
	wrmsr(msr, (u32)value, value >> 32);
}

static u64 read_msr(u32 msr)
{
	u32 low, high;

	rdmsr(msr, low, high);
	return (u64)high << 32 | low;
}

/* Of counters by number, in the global control */
static u64 global_bits(u32 counters)
{
	return (counters & GENMASK(PERFCTR_X86_FIXED - 1, 0)) |
	       (u64)(counters >> PERFCTR_X86_FIXED) << 32;
}

/* Each has a bit that enables it; but the P6 has one for both, in the first. */
static u32 enable(unsigned int hw)
{
	return pmu.version || !hw ? EVNTSEL_EN : 0;
}

static u32 control_bits(const struct perfctr_ctr_control *ctr, unsigned int hw)
{
	return enable(hw) |
	       (ctr->flags & PERFCTR_CTR_USER ? EVNTSEL_USR : 0) |
	       (ctr->flags & PERFCTR_CTR_KERNEL ? EVNTSEL_OS : 0) |
	       (ctr->ireset ? EVNTSEL_INT : 0);
}

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
	return read_ctr(hw) >> (pmu.width - 1) & 1;
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
	WRITE_ONCE(cpu->running, pmu.version == 1 ? pmu.counters : counters);
	barrier();
	if (pmu.version >= 2 && before != counters)
		write_msr(MSR_CORE_PERF_GLOBAL_CTRL, global_bits(counters));
	else if (!pmu.version)
		write_evntsel(cpu, 0, counters ? cpu->evntsel[0] | EVNTSEL_EN :
						 cpu->evntsel[0] & ~EVNTSEL_EN);
	cpu->dirty |= cpu->running & cpu->enabled;
}

/* Where that leaves others running: their own controls stop them. */
static notrace void silence(struct perfctr_x86_cpu *cpu, u32 counters)
{
	unsigned int i;

	if (pmu.version >= 2)
		return;
	for (i = 0; i < pmu.nr; i++)
		if (counters & BIT(i))
			write_evntsel(cpu, i, cpu->evntsel[i] & (pmu.version ? 0 : EVNTSEL_EN));
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

static void belong_to_nobody(struct perfctr_x86_cpu *cpu)
{
	cpu->active = 0;
	cpu->private_config = 0;
	cpu->private_mm = 0;
}

/* Firmware may have set it. We stop counters ourselves, where we want them to. */
static void unfreeze(struct perfctr_x86_cpu *cpu)
{
	u64 debugctl;

	if (!pmu.freezes)
		return;
	debugctl = read_msr(MSR_IA32_DEBUGCTLMSR);
	if (!cpu->ours)
		cpu->froze = debugctl & DEBUGCTL_FREEZE;
	if (debugctl & DEBUGCTL_FREEZE)
		write_msr(MSR_IA32_DEBUGCTLMSR, debugctl & ~DEBUGCTL_FREEZE);
	if (pmu.version >= 4 && read_msr(MSR_CORE_PERF_GLOBAL_STATUS) & STATUS_CTR_FRZ)
		write_msr(MSR_CORE_PERF_GLOBAL_OVF_CTRL, STATUS_CTR_FRZ);
}

/* Nothing counts, all are zero, and what is to count is enabled by its own control alone. */
static void take_all(struct perfctr_x86_cpu *cpu)
{
	unsigned int i;

	if (cpu->core == PERFCTR_X86_NO_CORE)
		return;
	/* Whatever perf left to be zeroed when one comes who may read it, let it be now. */
	perfctr_cpu_update_permission();

	if (pmu.version >= 2 && !cpu->ours)
		cpu->global_ctrl = read_msr(MSR_CORE_PERF_GLOBAL_CTRL);
	unfreeze(cpu);
	cpu->ours = false;	/* for an NMI */
	for (i = 0; i < pmu.nr; i++) {
		write_msr(MSR_ARCH_PERFMON_EVENTSEL0 + i, 0);
		write_msr(MSR_ARCH_PERFMON_PERFCTR0 + i, 0);
		cpu->evntsel[i] = 0;
	}
	if (pmu.version >= 2) {
		write_msr(MSR_CORE_PERF_FIXED_CTR_CTRL, 0);
		for (i = 0; i < pmu.nr_fixed; i++)
			write_msr(MSR_CORE_PERF_FIXED_CTR0 + i, 0);
		write_msr(MSR_CORE_PERF_GLOBAL_CTRL, global_bits(pmu.counters));
	} else if (!pmu.version) {
		/* Without a mode it counts nothing itself. */
		write_msr(MSR_ARCH_PERFMON_EVENTSEL0, EVNTSEL_EN);
		cpu->evntsel[0] = EVNTSEL_EN;
	}
	cpu->fixed_ctrl = 0;
	cpu->running = pmu.counters;
	cpu->enabled = 0;
	cpu->interrupting = 0;
	cpu->dirty = 0;
	cpu->negative = 0;
	belong_to_nobody(cpu);
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
		take_all(cpu);
	write_controls(cpu, config, 0,
		       pmu.version >= 2 ? config->nr : perfctr_config_nr_actrs(config));
}

notrace int perfctr_cpu_load(const struct perfctr_config *config)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (!config->nr)
		return 0;
	if (unlikely(config->core != cpu->core))
		return -EIO;
	set_up(cpu, config);
	let_run(cpu, pmu.counters & ~cpu->interrupting);
	belong_to_nobody(cpu);
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
	let_run(cpu, pmu.version ? config->mask & ~config->imask : config->mask);
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
	belong_to_nobody(cpu);
	if (cpu->running)
		cpu->active = id;
}

notrace void perfctr_cpu_leave(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (pmu.version == 1)
		perfctr_cpu_share();
	else if (cpu->private_config)
		let_run(cpu, 0);
}

static notrace void rest(struct perfctr_x86_cpu *cpu)
{
	lockdep_assert_irqs_disabled();
	if (cpu->ours) {
		let_run(cpu, 0);
		silence(cpu, pmu.counters);
		zero_all(cpu);
	}
	belong_to_nobody(cpu);
}

notrace void perfctr_cpu_scrub(const struct task_struct *next)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	rest(cpu);
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
	return pmu.width;
}

/* Writes to the registers of old are of 32 bits, and extend the sign. */
notrace u64 perfctr_cpu_irange(void)
{
	return pmu.full_width ? BIT_ULL(pmu.width - 1) : BIT_ULL(31);
}

static notrace void write_ictr(unsigned int hw, u64 value)
{
	u64 all = GENMASK_ULL(pmu.width - 1, 0);

	if ((read_ctr(hw) & all) == (value & all))
		return;
	if (hw >= PERFCTR_X86_FIXED)
		write_ctr(hw, value & all);
	else if (pmu.full_width)
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
	if (pmu.version < 2)
		write_controls(cpu, config, first, config->nr);
	let_run(cpu, cpu->running | config->imask);
	return 0;
}

static notrace void stop_ictrs(struct perfctr_x86_cpu *cpu, const struct perfctr_config *config)
{
	lockdep_assert_irqs_disabled();
	if (pmu.version >= 2)
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

	if (pmu.version < 2 || !this_cpu_read(perfctr_x86_cpu.ours))
		return;
	own = read_msr(MSR_CORE_PERF_GLOBAL_STATUS) & global_bits(pmu.counters);
	if (own)
		write_msr(MSR_CORE_PERF_GLOBAL_OVF_CTRL, own);
}

notrace bool perfctr_x86_pt_waits(void)
{
	return pmu.pt && this_cpu_read(perfctr_x86_cpu.ours) &&
	       read_msr(MSR_CORE_PERF_GLOBAL_STATUS) & STATUS_PT;
}

notrace void perfctr_x86_mend(bool handed)
{
	const struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	u64 running;

	if (pmu.version < 2 || !cpu->ours)
		return;
	running = global_bits(READ_ONCE(cpu->running));
	if (read_msr(MSR_CORE_PERF_GLOBAL_CTRL) != running)
		write_msr(MSR_CORE_PERF_GLOBAL_CTRL, running);
	/* While it traces perf has acknowledged it, and what is there is new. */
	if (handed && !(read_msr(MSR_IA32_RTIT_CTL) & RTIT_CTL_TRACEEN) && perfctr_x86_pt_waits())
		write_msr(MSR_CORE_PERF_GLOBAL_OVF_CTRL, STATUS_PT);
}

static void release_all(struct perfctr_x86_cpu *cpu)
{
	unsigned int i;

	belong_to_nobody(cpu);
	if (!cpu->ours)
		return;
	cpu->ours = false;
	for (i = 0; i < pmu.nr; i++)
		write_msr(MSR_ARCH_PERFMON_EVENTSEL0 + i, 0);
	if (pmu.version >= 2) {
		write_msr(MSR_CORE_PERF_FIXED_CTR_CTRL, 0);
		write_msr(MSR_CORE_PERF_GLOBAL_CTRL, cpu->global_ctrl);
	}
	if (cpu->froze)
		write_msr(MSR_IA32_DEBUGCTLMSR,
			  read_msr(MSR_IA32_DEBUGCTLMSR) | DEBUGCTL_FREEZE);
	cpu->froze = false;
	cpu->running = 0;
	/* For processes that may read them without us. */
	cpu->dirty = pmu.counters;
	zero_all(cpu);
}

/* It would count zero, as if nothing had happened. */
static bool is_lacking(u64 event)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(arch_events); i++)
		if (pmu.lacks & BIT(i) && (event & 0xffff) == arch_events[i])
			return true;
	return false;
}

int perfctr_cpu_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
		      struct perfctr_refusal *why)
{
	u64 extras[PERFCTR_X86_EXTRAS] = {};
	unsigned int i, any = 0;
	u32 used = 0;
	int err;

	for (i = 0; i < nr; i++, ctr++) {
		why->index = i;
		if (!ctr->flags || ctr->flags & ~CTR_BOTH)
			return -EINVAL;
		if (!pmu.nr || ctr->event & ~(EVENT_BITS | CONTROL_BITS))
			return -EINVAL;
		/* perfctr 2.6 gives the whole register: then it must say what the rest says. */
		if (ctr->event & CONTROL_BITS &&
		    (ctr->event & CONTROL_BITS) !=
		    control_bits(ctr, ctr->map == PERFCTR_MAP_ANY ? 0 : ctr->map))
			return -EINVAL;
		if (is_lacking(ctr->event))
			return -EINVAL;
		if (ctr->map != PERFCTR_MAP_ANY) {
			u32 hw;

			if (ctr->map >= PERFCTR_X86_MAX)
				return -EINVAL;
			hw = array_index_nospec(ctr->map, PERFCTR_X86_MAX);
			if (!(pmu.counters & BIT(hw)) || used & BIT(hw))
				return -EINVAL;
			used |= BIT(hw);
			if (hw >= PERFCTR_X86_FIXED) {
				hw = array_index_nospec(hw - PERFCTR_X86_FIXED,
							ARRAY_SIZE(fixed_events));
				if ((ctr->event & EVENT_BITS) != fixed_events[hw])
					return -EINVAL;
			}
		} else {
			any++;
		}
		err = perfctr_x86_extra_check(ctr, extras);
		if (err)
			return err;
		if (ctr->ireset && !pmu.interrupts)
			return -EOPNOTSUPP;
		if (ctr->flags & PERFCTR_CTR_KERNEL)
			*kernel = true;
	}
	why->index = PERFCTR_NO_INDEX;
	return any > hweight32(GENMASK(PERFCTR_X86_FIXED - 1, 0) & pmu.counters & ~used) ?
	       -EINVAL : 0;
}

void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw)
{
	ctr->map = hw;
	/* A whole event select is that of the counter: on the P6 not all are enabled. */
	if (ctr->event & CONTROL_BITS)
		ctr->event = (ctr->event & EVENT_BITS) | control_bits(ctr, hw);
}

/* Where it was allowed to run when it asked: elsewhere perfctr_cpu_load() fails. */
int perfctr_cpu_core(u32 *core)
{
	bool found = false, same = true;
	unsigned long flags;
	unsigned int cpu;

	*core = 0;
	if (!pmu.hybrid)
		return 0;
	/* Others may bind it elsewhere. */
	raw_spin_lock_irqsave(&current->pi_lock, flags);
	for_each_cpu_and(cpu, &current->cpus_mask, cpu_online_mask) {
		u32 own = per_cpu(perfctr_x86_cpu, cpu).core;

		if (found && own != *core)
			same = false;
		*core = own;
		found = true;
	}
	raw_spin_unlock_irqrestore(&current->pi_lock, flags);
	return same && *core != PERFCTR_X86_NO_CORE ? 0 : -EXDEV;
}

bool perfctr_cpu_is_forbidden(unsigned int cpu)
{
	return READ_ONCE(per_cpu(perfctr_x86_cpu, cpu).core) == PERFCTR_X86_NO_CORE;
}

static void unreserve(unsigned int perfctrs, unsigned int evntsels)
{
	while (perfctrs)
		release_perfctr_nmi(MSR_ARCH_PERFMON_PERFCTR0 + --perfctrs);
	while (evntsels)
		release_evntsel_nmi(MSR_ARCH_PERFMON_EVENTSEL0 + --evntsels);
}

/* Who has one has all, the fixed ones too: perf does just the same. */
static int reserve(void)
{
	unsigned int perfctrs, evntsels = 0;

	for (perfctrs = 0; perfctrs < pmu.nr; perfctrs++)
		if (!reserve_perfctr_nmi(MSR_ARCH_PERFMON_PERFCTR0 + perfctrs))
			goto busy;
	for (; evntsels < pmu.nr; evntsels++)
		if (!reserve_evntsel_nmi(MSR_ARCH_PERFMON_EVENTSEL0 + evntsels))
			goto busy;
	return 0;

busy:
	unreserve(perfctrs, evntsels);
	return -EBUSY;
}

/* Somebody who does not reserve: firmware. Not perf, which leaves the P6's enabled, in no mode. */
static int claim_look(void *unused)
{
	bool enabled = false;
	unsigned int i;

	if (this_cpu_read(perfctr_x86_cpu.core) == PERFCTR_X86_NO_CORE)
		return 0;
	for (i = 0; i < pmu.nr; i++) {
		u32 sel = read_msr(MSR_ARCH_PERFMON_EVENTSEL0 + i);

		if (enable(i))
			enabled = sel & EVNTSEL_EN;
		if (enabled && sel & (EVNTSEL_USR | EVNTSEL_OS))
			return -EBUSY;
	}
	return pmu.nr_fixed && read_msr(MSR_CORE_PERF_FIXED_CTR_CTRL) ? -EBUSY : 0;
}

static int claim_take(void *unused)
{
	take_all(this_cpu_ptr(&perfctr_x86_cpu));
	return 0;
}

static int claim_take_interrupts(void *unused)
{
	perfctr_x86_acknowledge();
	perfctr_x86_take_interrupts(true);
	return 0;
}

static int claim_release_interrupts(void *unused)
{
	perfctr_x86_take_interrupts(false);
	return 0;
}

/* Nothing counts, and all are zero, but they stay ours. */
static int claim_rest(void *unused)
{
	rest(this_cpu_ptr(&perfctr_x86_cpu));
	return 0;
}

static int claim_permit(void *unused)
{
	perfctr_cpu_update_permission();
	return 0;
}

/* What is not ours any more nobody may read. */
static int claim_release(void *unused)
{
	perfctr_cpu_update_permission();
	release_all(this_cpu_ptr(&perfctr_x86_cpu));
	return 0;
}

/* Whoever counts by it looks again, as it may be without a claim now. */
static int claim_forget(void *arg)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	const struct perfctr_config *config = arg;

	if (cpu->active == READ_ONCE(config->id))
		cpu->active = 0;
	if (cpu->private_config == READ_ONCE(config->id))
		cpu->private_config = 0;
	return 0;
}

/* All counters, for the first config */
static int claim_first(perfctr_run_t run, struct perfctr_refusal *why)
{
	if (reserve()) {
		why->owner = PERFCTR_OWNER_PERF;
		return -EBUSY;
	}
	if (run(claim_look, NULL)) {
		unreserve(pmu.nr, pmu.nr);
		why->owner = PERFCTR_OWNER_FIRMWARE;
		return -EBUSY;
	}
	perfctr_x86_forget_permits();
	run(claim_take, NULL);
	WRITE_ONCE(pmu.taken, true);
	WRITE_ONCE(pmu.joinable, true);
	return 0;
}

int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why)
{
	bool first = !pmu.taken;
	unsigned int i;
	u32 used = 0;
	int err;

	if (!config->nr)
		return 0;
	why->index = perfctr_x86_extra_refused(config);
	if (why->index != PERFCTR_NO_INDEX) {
		why->owner = PERFCTR_OWNER_PERFCTR;
		return -EBUSY;
	}
	for (i = 0; i < config->nr; i++)
		if (config->ctr[i].map != PERFCTR_MAP_ANY)
			used |= BIT(config->ctr[i].map);
	for (i = 0; i < config->nr; i++) {
		config->hw[i] = config->ctr[i].map;
		if (config->ctr[i].map == PERFCTR_MAP_ANY)
			config->hw[i] = ffz(used);
		used |= BIT(config->hw[i]);
	}
	if (first && claim_first(run, why))
		return -EBUSY;
	WRITE_ONCE(pmu.users, pmu.users + 1);
	config->mask = used;
	for (i = perfctr_config_nr_actrs(config); i < config->nr; i++)
		config->imask |= BIT(config->hw[i]);
	if (config->nr_ictrs && !pmu.iusers++)
		run(claim_take_interrupts, NULL);
	err = perfctr_x86_extra_get(config, run, &why->index);
	if (err) {
		perfctr_cpu_unclaim(config, run);
	} else if (first) {
		/* All registers are zero, everywhere. */
		perfctr_x86_permit_claimed(true);
		if (perfctr_x86_any_permitted())
			run(claim_permit, NULL);
	}
	return err;
}

void perfctr_cpu_unclaim(struct perfctr_config *config, perfctr_run_t run)
{
	if (!config->nr)
		return;
	perfctr_x86_extra_put(config, run);
	if (config->nr_ictrs && !--pmu.iusers)
		run(claim_release_interrupts, NULL);
	WRITE_ONCE(pmu.users, pmu.users - 1);
	if (pmu.users)
		run(claim_forget, config);
	else if (perfctr_x86_any_permitted())
		run(claim_rest, NULL);
	else
		perfctr_cpu_give_back(run);
}

/*
 * A thread that saw its registers in the page may not have read them yet when another
 * ended its counting. It would die of that if nobody might read any more, and everybody
 * could read perf's if all might. So the counters are kept for a while, at zero.
 */
bool perfctr_cpu_lingers(void)
{
	return READ_ONCE(pmu.taken) && !READ_ONCE(pmu.users);
}

void perfctr_cpu_give_back(perfctr_run_t run)
{
	if (!perfctr_cpu_lingers())
		return;
	perfctr_x86_permit_claimed(false);
	WRITE_ONCE(pmu.joinable, false);
	run(claim_release, NULL);
	WRITE_ONCE(pmu.taken, false);
	unreserve(pmu.nr, pmu.nr);
}

/* Its registers hold what they held as it went, which may be ours: see perfctr_cpu_load(). */
void perfctr_cpu_prepare(unsigned int cpu)
{
	struct perfctr_x86_cpu *coming = per_cpu_ptr(&perfctr_x86_cpu, cpu);

	belong_to_nobody(coming);
	perfctr_x86_forget_interrupts(cpu);
	if (pmu.hybrid)
		WRITE_ONCE(coming->core, PERFCTR_X86_NO_CORE);
}

void perfctr_cpu_unreserve(unsigned int cpu)
{
}

/* Also after a sleep in which the registers were lost */
void perfctr_cpu_online(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (pmu.taken) {
		take_all(cpu);
		if (pmu.iusers)
			perfctr_x86_take_interrupts(true);
		return;
	}
	/* Ours still: loaded as it went, when the last user had it no more. Or perf's by now. */
	if ((cpu->ours || perfctr_x86_extra_ever_had()) && !reserve()) {
		release_all(cpu);
		perfctr_x86_extra_release();
		unreserve(pmu.nr, pmu.nr);
	}
	cpu->ours = false;
	belong_to_nobody(cpu);
}

void perfctr_cpu_join_claims(void)
{
	if (READ_ONCE(pmu.joinable))
		perfctr_cpu_online();
}

/* Interrupts may still come, of threads that have to leave: the kernel ends them all. */
void perfctr_cpu_offline(void)
{
	lockdep_assert_irqs_disabled();
	release_all(this_cpu_ptr(&perfctr_x86_cpu));
}

int perfctr_cpu_age(void *unused)
{
	unsigned long counters = pmu.counters;
	unsigned int hw;

	/* There may be configs of the clock alone, and the counters somebody else's. */
	if (!this_cpu_ptr(&perfctr_x86_cpu)->ours)
		return 0;
	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX)
		if (upper_half(hw))
			write_ctr(hw, 0);
	return 0;
}

unsigned long perfctr_cpu_age_period(void)
{
	if (!pmu.nr)
		return 0;
	return perfctr_age_period(pmu.width, MAX_RATE_SHIFT);
}

u64 perfctr_cpu_clock_hz(void)
{
	return (u64)tsc_khz * 1000;
}

unsigned int perfctr_cpu_nrctrs(void)
{
	return hweight32(pmu.counters);
}

static u32 cpu_type(void)
{
	if (!pmu.nr)
		return PERFCTR_X86_GENERIC;
	if (!pmu.version) {
		switch (boot_cpu_data.x86_model) {
		case 3: case 5: case 6:
			return PERFCTR_X86_INTEL_PII;
		case 7: case 8: case 10: case 11:
			return PERFCTR_X86_INTEL_PIII;
		case 9: case 13:
			return PERFCTR_X86_INTEL_PENTM;
		}
		return PERFCTR_X86_INTEL_P6;
	}
	switch (boot_cpu_data.x86_model) {
	case 14:
		return PERFCTR_X86_INTEL_CORE;
	case 15: case 22: case 23: case 29:
		return PERFCTR_X86_INTEL_CORE2;
	case 28: case 38: case 39: case 53: case 54:
		return PERFCTR_X86_INTEL_ATOM;
	case 26: case 30: case 31: case 46:
		return PERFCTR_X86_INTEL_NHLM;
	case 37: case 44: case 47:
		return PERFCTR_X86_INTEL_WSTMR;
	}
	return PERFCTR_X86_INTEL_ARCH;
}

void perfctr_cpu_info(struct perfctr_info *info)
{
	info->cpu_type = cpu_type();
	info->cpu_features = PERFCTR_FEATURE_RDTSC;
	if (pmu.nr)
		info->cpu_features |= PERFCTR_FEATURE_FILTER | PERFCTR_FEATURE_FILTER_FIXED;
	if (pmu.nr && perfctr_cpu_can_permit())
		info->cpu_features |= PERFCTR_FEATURE_RDPMC;
	if (pmu.interrupts)
		info->cpu_features |= PERFCTR_FEATURE_PCINT;
	if (pmu.hybrid)
		info->cpu_features |= PERFCTR_FEATURE_HYBRID;
	info->cpu_khz = cpu_khz;
	info->tsc_to_cpu_mult = 1;
	info->tsc_hz = (u64)tsc_khz * 1000;
	info->nrctrs = perfctr_cpu_nrctrs();
	info->no_counters = pmu.none;
	info->width = pmu.nr ? pmu.width : 64;
	info->counters = pmu.counters;
	if (pmu.version)
		info->events[0] = GENMASK(ARRAY_SIZE(arch_events) - 1, 0) & ~pmu.lacks;
}

static bool register_exists(u32 msr)
{
	u32 low, high;

	return !rdmsr_safe(msr, &low, &high);
}

/* Emulators and hypervisors may have registers, and yet not the instruction. */
static bool rdpmc_works(u32 counter)
{
	u32 low, high, fault = 1;

	asm volatile("1:	rdpmc\n"
		     "	xor %0, %0\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : "+r" (fault), "=&a" (low), "=&d" (high) : "c" (counter));
	return !fault;
}

/*
 * The processor's word (CPUID leaf 10; the P6 family is known by its model), if the
 * registers are there. Of this CPU.
 */
static void look_for_counters(struct counters *own)
{
	unsigned int version, nr, nr_fixed = 0, width, i;
	u32 lacks = 0;

	own->none = PERFCTR_NO_COUNTERS_REGISTERS;
	if (boot_cpu_data.cpuid_level >= 10) {
		u32 eax = cpuid_eax(10), ebx = cpuid_ebx(10), edx = cpuid_edx(10);
		unsigned int told = min_t(unsigned int, eax >> 24, ARRAY_SIZE(arch_events));

		version = eax & 0xff;
		nr = eax >> 8 & 0xff;
		width = eax >> 16 & 0xff;
		if (version >= 2) {
			nr_fixed = edx & 0x1f;
			if (nr_fixed)
				width = min(width, edx >> 5 & 0xff);
		}
		if (!version)
			return;
		if (version >= VERSION_TOO_NEW) {
			own->none = PERFCTR_NO_COUNTERS_VERSION;
			return;
		}
		/* Of those that the leaf is too old to tell of it has none. */
		lacks = (ebx & (BIT(told) - 1)) | (GENMASK(ARRAY_SIZE(arch_events) - 1, 0) &
						   ~(BIT(told) - 1));
	} else {
		version = 0;
		nr = 2;
		width = 40;
	}
	/* More have no registers in the places of old. */
	nr = min(nr, 8U);
	nr_fixed = min_t(unsigned int, nr_fixed, ARRAY_SIZE(fixed_events));
	for (i = 0; i < nr; i++)
		if (!register_exists(MSR_ARCH_PERFMON_EVENTSEL0 + i) ||
		    !register_exists(MSR_ARCH_PERFMON_PERFCTR0 + i) || !rdpmc_works(i))
			return;
	for (i = 0; i < nr_fixed; i++)
		if (!register_exists(MSR_CORE_PERF_FIXED_CTR0 + i) ||
		    !rdpmc_works(PERFCTR_X86_RDPMC_FIXED + i))
			return;
	if (!nr || width < 32 || width > 64 ||
	    (version >= 2 && (!register_exists(MSR_CORE_PERF_GLOBAL_CTRL) ||
			      !register_exists(MSR_CORE_PERF_FIXED_CTR_CTRL))))
		return;
	own->none = PERFCTR_NO_COUNTERS_NONE;
	own->version = version;
	own->nr = nr;
	own->nr_fixed = nr_fixed;
	own->width = width;
	own->lacks = lacks;
	own->interrupts = version < 2 || register_exists(MSR_CORE_PERF_GLOBAL_STATUS);
	own->pt = own->interrupts && version >= 2 && boot_cpu_has(X86_FEATURE_INTEL_PT) &&
		  register_exists(MSR_IA32_RTIT_CTL);
	own->freezes = version >= 2 && register_exists(MSR_IA32_DEBUGCTLMSR) &&
		       register_exists(MSR_CORE_PERF_GLOBAL_STATUS);
	own->full_width = version && boot_cpu_has(X86_FEATURE_PDCM) &&
			  register_exists(MSR_IA32_PERF_CAPABILITIES) &&
			  read_msr(MSR_IA32_PERF_CAPABILITIES) & PERF_CAP_FULL_WIDTH &&
			  register_exists(MSR_IA32_PMC0);
}

/*
 * Hybrid processors have different counters on different CPUs: what all have is used,
 * and a CPU that comes later with less is not.
 */

static long __init look_on_cpu(void *own)
{
	look_for_counters(own);
	return 0;
}

/* Less what a CPU has not. Where registers do not end alike nobody can wait for their end. */
static void __init keep_shared(struct counters *all, const struct counters *own)
{
	all->version = min(all->version, own->version);
	all->nr = min(all->nr, own->nr);
	all->nr_fixed = min(all->nr_fixed, own->nr_fixed);
	all->interrupts &= own->interrupts && all->width == own->width;
	all->pt &= own->pt;
	all->freezes &= own->freezes;
	all->width = min(all->width, own->width);
	all->lacks |= own->lacks;
	all->full_width &= own->full_width;
	if (!all->none)
		all->none = own->none;
}

static bool has_all(const struct counters *own)
{
	return own->version >= pmu.version && own->nr >= pmu.nr &&
	       own->nr_fixed >= pmu.nr_fixed && !(own->lacks & ~pmu.lacks) &&
	       (own->full_width || !pmu.full_width) && (own->pt || !pmu.pt) &&
	       (own->freezes || !pmu.freezes) &&
	       (pmu.interrupts ? own->interrupts && own->width == pmu.width :
				 own->width >= pmu.width);
}

static void __init look_everywhere(struct counters *all)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct counters own = {};

		work_on_cpu(cpu, look_on_cpu, &own);
		if (all->hybrid)
			keep_shared(all, &own);
		else
			*all = own;
		all->hybrid = true;
	}
	cpus_read_unlock();
	/* One without a global control would be another driver's. */
	if (all->version < 2) {
		all->nr = 0;
		if (!all->none)
			all->none = PERFCTR_NO_COUNTERS_PROCESSOR;
	}
}

void perfctr_cpu_reserve(unsigned int cpu)
{
	struct perfctr_x86_cpu *coming = per_cpu_ptr(&perfctr_x86_cpu, cpu);
	struct counters own = {};
	u32 core = 0;

	if (!pmu.hybrid)
		return;
	look_for_counters(&own);
	if (has_all(&own))
		core = cpuid_eax(LEAF_CORE);
	/* Or it does not tell what it is, and may be anything. */
	if (!core) {
		core = PERFCTR_X86_NO_CORE;
		/* What it may have held was another's in its place. */
		coming->ours = false;
	}
	WRITE_ONCE(coming->core, core);
}

static void __init find_counters(void)
{
	struct counters all = { .none = PERFCTR_NO_COUNTERS_PROCESSOR };

	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && boot_cpu_data.x86 == 6) {
		if (boot_cpu_has(X86_FEATURE_XENPV))
			all.none = PERFCTR_NO_COUNTERS_REGISTERS;
		else if (!boot_cpu_has(X86_FEATURE_HYBRID_CPU))
			look_for_counters(&all);
		else if (boot_cpu_data.cpuid_level >= LEAF_CORE)
			look_everywhere(&all);
	}
	if (!all.nr) {
		pmu.none = all.none;
		return;
	}
	pmu = all;
	perfctr_x86_extra_init(all.version);
	pmu.interrupts = all.interrupts && !perfctr_x86_interrupt_init();
	pmu.counters = GENMASK(all.nr - 1, 0);
	if (all.nr_fixed)
		pmu.counters |= GENMASK(PERFCTR_X86_FIXED + all.nr_fixed - 1, PERFCTR_X86_FIXED);
}

/* Nobody can have claimed anything yet. The last counter: nothing of the P6's counts by it. */
static void __init measure(void)
{
	struct perfctr_x86_registers regs = {};
	unsigned int last = pmu.nr - 1;

	if (pmu.nr) {
		regs.rdpmc = last;
		regs.perfctr = MSR_ARCH_PERFMON_PERFCTR0 + last;
		regs.width = pmu.width;
		regs.evntsel = MSR_ARCH_PERFMON_EVENTSEL0 + last;
		regs.control = EVNTSEL_USR | enable(last);
		regs.global_ctrl = pmu.version >= 2 ? global_bits(pmu.counters) : 0;
		if (reserve()) {
			pr_info("perfctr: cost not measured: perf_events or the NMI watchdog has the counters\n");
			return;
		}
	}
	migrate_disable();
	if (pmu.nr && claim_look(NULL))
		pr_info("perfctr: cost not measured: the firmware has the counters\n");
	else
		perfctr_x86_measure(&regs);
	migrate_enable();
	if (pmu.nr)
		unreserve(pmu.nr, pmu.nr);
}

int __init perfctr_cpu_init(void)
{
	if (!boot_cpu_has(X86_FEATURE_TSC))
		return -ENODEV;
	find_counters();
	if (perfctr_x86_measure_wanted)
		measure();
	return 0;
}

void perfctr_cpu_exit(void)
{
	perfctr_x86_interrupt_exit();
}
