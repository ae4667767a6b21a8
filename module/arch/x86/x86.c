// SPDX-License-Identifier: GPL-2.0
/*
 * x86 processors. The clock is the time-stamp counter, if the processor has one. The file of the
 * processor's family says which counters the processor has, and what their registers mean.
 */

#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/moduleparam.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <asm/cpufeature.h>
#include <asm/nmi.h>
#include <asm/tsc.h>

#include "arch/user.h"
#include "arch/x86/beside.h"
#include "arch/x86/claim.h"
#include "arch/x86/interrupt.h"
#include "arch/x86/measure.h"
#include "arch/x86/mediated.h"
#include "arch/x86/place.h"
#include "arch/x86/processor.h"
#include "arch/x86/registers.h"
#include "arch/x86/take.h"
#include "arch/x86/topdown.h"
#include "arch/x86/trial.h"
#include "arch/x86/verify.h"
#include "arch/x86/virt.h"

/*
 * No counter counts more than 2^MAX_RATE_SHIFT events per second, which is 45 per cycle at 6 GHz.
 * Most events happen at most once per cycle. There are 4 to 8 issue slots per cycle, and events of
 * occupancy may count some dozens, because they add the length of a queue.
 */
#define MAX_RATE_SHIFT	38

/*
 * Returns true if CPUs differ. Then @core of struct perfctr_x86_family gives the type of each CPU,
 * or says that the CPU cannot count.
 */
static bool cores_differ(void)
{
	return perfctr_pmu.hybrid || perfctr_x86_siblings;
}

/*
 * Looks only at CPUs where the thread may run now. If the thread is moved to a CPU of another type,
 * perfctr_cpu_load() fails there.
 */
int perfctr_cpu_core(const struct perfctr_where *where, u32 *core)
{
	struct task_struct *task = where->task;
	bool found = false, same = true;
	unsigned long flags;
	unsigned int cpu;

	*core = 0;
	if (!cores_differ())
		return 0;
	if (where->cpu >= 0) {
		/* The type of a CPU that never came up is not known. */
		if (!cpumask_test_cpu(where->cpu, cpu_online_mask))
			return -EXDEV;
		*core = per_cpu(perfctr_x86_cpu, where->cpu).core;
		if (*core != PERFCTR_X86_NO_CORE)
			return 0;
		return perfctr_x86_siblings ? -EINVAL : -EXDEV;
	}
	/* Take this lock, because others may change the affinity of the thread. */
	raw_spin_lock_irqsave(&task->pi_lock, flags);
	for_each_cpu_and(cpu, &task->cpus_mask, cpu_online_mask) {
		u32 own = per_cpu(perfctr_x86_cpu, cpu).core;

		/* The thread stays off these CPUs: see perfctr_keep_off(). */
		if (perfctr_x86_siblings && own == PERFCTR_X86_NO_CORE)
			continue;
		if (found && own != *core)
			same = false;
		*core = own;
		found = true;
	}
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	if (perfctr_x86_siblings)
		return found ? 0 : -EINVAL;
	return same && *core != PERFCTR_X86_NO_CORE ? 0 : -EXDEV;
}

bool perfctr_cpu_is_forbidden(unsigned int cpu)
{
	return READ_ONCE(per_cpu(perfctr_x86_cpu, cpu).core) == PERFCTR_X86_NO_CORE;
}

/*
 * Leaves @ours as it was, because the registers of the CPU still hold what they held when it went
 * down.
 */
void perfctr_cpu_prepare(unsigned int cpu)
{
	struct perfctr_x86_cpu *coming = per_cpu_ptr(&perfctr_x86_cpu, cpu);

	perfctr_x86_belong_to_nobody(coming);
	perfctr_x86_forget_interrupts(cpu);
	perfctr_x86_shared_forget(cpu);
	coming->tried = 0;
	coming->bad = 0;
	coming->bad_events = 0;
	perfctr_x86_set_core(coming, cores_differ() ? PERFCTR_X86_NO_CORE : 0);
	if (!perfctr_pmu.beside)
		return;
	perfctr_x86_beside_forget(cpu);
	coming->ours = false;
	coming->held = 0;
	coming->enabled = 0;
	coming->interrupting = 0;
	coming->dirty = 0;
	coming->negative = 0;
	coming->load_core = PERFCTR_X86_LOST;
}

void perfctr_cpu_unreserve(unsigned int cpu)
{
}

/*
 * Ageing also verifies the registers, because the timer of verify.c does not run on CPUs without a
 * tick.
 */
int perfctr_cpu_age(void *unused)
{
	perfctr_cpu_verify();
	perfctr_x86_age();
	return 0;
}

unsigned long perfctr_cpu_age_period(void)
{
	if (!perfctr_pmu.family)
		return 0;
	return perfctr_age_period(perfctr_pmu.width, perfctr_pmu.rate_shift ?: MAX_RATE_SHIFT);
}

u64 perfctr_cpu_clock_hz(void)
{
	return perfctr_x86_clock_is_kernels() ? NSEC_PER_SEC : (u64)tsc_khz * 1000;
}

bool perfctr_cpu_has_one_source(void)
{
	return !perfctr_pmu.beside;
}

bool perfctr_cpu_modeless(void)
{
	return perfctr_pmu.modeless;
}

unsigned int perfctr_cpu_nrctrs(void)
{
	return hweight32(perfctr_pmu.counters) + perfctr_x86_topdown_metrics();
}

void perfctr_cpu_info(struct perfctr_kernel_info *info)
{
	info->cpu_type = perfctr_pmu.family ? perfctr_pmu.family->cpu_type() : PERFCTR_X86_GENERIC;
	info->cpu_features = perfctr_x86_clock_is_kernels() ? 0 : PERFCTR_FEATURE_RDTSC;
	if (perfctr_pmu.family && !perfctr_pmu.modeless)
		info->cpu_features |= PERFCTR_FEATURE_FILTER | PERFCTR_FEATURE_FILTER_FIXED;
	if (perfctr_pmu.family && perfctr_cpu_can_permit())
		info->cpu_features |= PERFCTR_FEATURE_RDPMC;
	if (perfctr_pmu.interrupts)
		info->cpu_features |= PERFCTR_FEATURE_PCINT;
	if (boot_cpu_has(X86_FEATURE_HYPERVISOR))
		info->cpu_features |= PERFCTR_FEATURE_HYPERVISOR;
	if (perfctr_pmu.hybrid)
		info->cpu_features |= PERFCTR_FEATURE_HYBRID;
	if (perfctr_pmu.unknown_model)
		info->cpu_features |= PERFCTR_FEATURE_UNKNOWN_MODEL;
	if (perfctr_pmu.beside)
		info->cpu_features |= PERFCTR_FEATURE_BESIDE;
	if (perfctr_x86_topdown_metrics())
		info->cpu_features |= PERFCTR_FEATURE_TOPDOWN;
	info->topdown = DIV_ROUND_UP(perfctr_x86_topdown_metrics(), PERFCTR_METRICS / 2);
	info->cpu_khz = cpu_khz;
	info->tsc_to_cpu_mult = 1;
	info->tsc_hz = perfctr_cpu_clock_hz();
	info->nrctrs = perfctr_cpu_nrctrs();
	info->no_counters = perfctr_pmu.none;
	info->width = perfctr_pmu.family ? perfctr_pmu.width : 64;
	info->counters = perfctr_pmu.counters;
	info->events[0] = perfctr_pmu.events;
}

void perfctr_cpu_reserve(unsigned int cpu)
{
	struct perfctr_x86_cpu *coming = per_cpu_ptr(&perfctr_x86_cpu, cpu);
	u32 core;

	if (perfctr_pmu.beside)
		perfctr_x86_beside_join(cpu);
	if (!cores_differ())
		return;
	core = perfctr_pmu.family->core();
	/*
	 * We cannot have had the counters of a CPU of this type. If @ours is true, it was set for
	 * another processor in the same place.
	 */
	if (core == PERFCTR_X86_NO_CORE)
		coming->ours = false;
	perfctr_x86_set_core(coming, core);
}

/*
 * Returns the value of the control register with which a general counter counts instructions in
 * kernel mode.
 */
static u64 __init counting(unsigned int hw)
{
	const struct perfctr_ctr_control ctr = {
		.map = hw, .event = perfctr_pmu.family->known->event, .flags = PERFCTR_CTR_KERNEL,
	};
	struct perfctr_cpu_image *image = kzalloc(perfctr_cpu_image_size(1), GFP_KERNEL);
	u64 value;

	if (!image)
		return 0;
	perfctr_pmu.family->compile(&ctr, hw, image);
	value = image->entry[0].value;
	kfree(image);
	return value;
}

/*
 * Measures what instructions cost, while nobody can have claimed anything yet. Uses the last
 * counter, because on the P6 it counts nothing unless the first event select enables it.
 */
static void __init measure(void)
{
	struct perfctr_x86_registers regs = {};
	unsigned int last;

	if (perfctr_x86_clock_is_kernels()) {
		pr_info("perfctr: cost not measured: there is no time-stamp counter\n");
		return;
	}
	if (perfctr_pmu.family) {
		last = __fls(perfctr_pmu.general);
		regs.rdpmc = perfctr_cpu_operand(last);
		regs.no_rdpmc = perfctr_x86_has_no_rdpmc();
		regs.perfctr = perfctr_pmu.ctr[last].msr;
		regs.width = perfctr_pmu.width;
		regs.evntsel = perfctr_pmu.control[perfctr_pmu.ctr[last].reg].msr;
		memcpy(regs.evntsels, perfctr_pmu.sample, sizeof(regs.evntsels));
		if (perfctr_pmu.global_ctrl)
			regs.counting = counting(last);
		regs.global_ctrl = perfctr_pmu.global_ctrl;
		regs.run = global_bits(perfctr_pmu.counters);
		if (perfctr_x86_reserve()) {
			pr_info("perfctr: cost not measured: perf_events or the NMI watchdog has the counters\n");
			return;
		}
	}
	migrate_disable();
	if (perfctr_pmu.family)
		perfctr_x86_log_registers();
	if (perfctr_pmu.family && perfctr_x86_firmware_counts())
		pr_info("perfctr: cost not measured: the firmware has the counters\n");
	else
		perfctr_x86_measure(&regs);
	migrate_enable();
	if (perfctr_pmu.family)
		perfctr_x86_unreserve();
}

void perfctr_cpu_set_changed(perfctr_changed_t handler)
{
	perfctr_x86_set_changed(handler);
	if (handler)
		perfctr_x86_mediated_init(handler);
	else
		perfctr_x86_mediated_exit();
}

int __init perfctr_cpu_init(void)
{
	if (!boot_cpu_has(X86_FEATURE_TSC)) {
		if (!PERFCTR_X86_OLD)
			return -ENODEV;
		perfctr_x86_use_kernels_clock();
	}
	perfctr_x86_find_counters();
	perfctr_x86_shared_init();
	if (perfctr_x86_measure_wanted)
		measure();
	perfctr_x86_verify_init();
	perfctr_x86_virt_init();
	if (perfctr_pmu.family)
		perfctr_x86_trial_init();
	return 0;
}

void perfctr_cpu_exit(void)
{
	perfctr_x86_virt_exit();
	perfctr_x86_verify_exit();
	perfctr_x86_interrupt_exit();
	perfctr_x86_beside_exit();
}
