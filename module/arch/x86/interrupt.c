// SPDX-License-Identifier: GPL-2.0
/*
 * x86: the counters' interrupt, the NMI that the local APIC's LVTPC makes of it, and
 * the interrupt that follows it.
 *
 * The LVTPC masks itself as it delivers (not the P6's). While we have counters perf
 * has none; but with Intel PT or BTS its handler all the same acknowledges what it finds,
 * and stops or starts all counters. So ours, which comes after it, hears every NMI.
 */

#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/nmi.h>

#include "lowlevel.h"
#include "interrupt.h"

#ifdef CONFIG_X86_LOCAL_APIC

/* What the LVTPC was before; only that CPU touches it, with interrupts off */
static DEFINE_PER_CPU(u32, lvtpc_before);
static DEFINE_PER_CPU(bool, lvtpc_taken);
static DEFINE_PER_CPU(struct irq_work, following);
static perfctr_ihandler_t ihandler;
static bool hears;	/* constant after init */

static void follow(struct irq_work *work)
{
	ihandler(false);
	ihandler(true);
}

static notrace int overflow(unsigned int type, struct pt_regs *regs)
{
	unsigned int overflows = perfctr_x86_acknowledge(true);

	if (!overflows)
		return NMI_DONE;
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	/*
	 * What came while it was masked makes no NMI. More than one handled means that
	 * another NMI, without anything left to handle, is no surprise.
	 */
	overflows += perfctr_x86_acknowledge(false);
	if (READ_ONCE(ihandler))
		irq_work_queue(this_cpu_ptr(&following));
	return overflows;
}

void perfctr_x86_take_interrupts(bool take)
{
	lockdep_assert_irqs_disabled();
	if (__this_cpu_read(lvtpc_taken) == take)
		return;
	__this_cpu_write(lvtpc_taken, take);
	if (take)
		__this_cpu_write(lvtpc_before, apic->read(APIC_LVTPC));
	apic->write(APIC_LVTPC, take ? APIC_DM_NMI : __this_cpu_read(lvtpc_before));
}

static void wait_for_followers(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&following, cpu));
}

int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler)
{
	if (!hears)
		return -ENODEV;
	/* It stays, for what is queued by chance though nobody has i-mode counters. */
	if (handler)
		WRITE_ONCE(ihandler, handler);
	else
		wait_for_followers();
	return 0;
}

/* Not all kernels relocate what an initializer of per-CPU data refers to. */
int __init perfctr_x86_interrupt_init(void)
{
	unsigned int cpu;
	int err;

	if (!boot_cpu_has(X86_FEATURE_APIC))
		return -ENODEV;
	for_each_possible_cpu(cpu)
		per_cpu(following, cpu) = IRQ_WORK_INIT_HARD(follow);
	/* For as long as we are loaded, as the end of that takes a while. */
	err = register_nmi_handler(NMI_LOCAL, overflow, 0, "perfctr");
	hears = !err;
	return err;
}

void perfctr_x86_interrupt_exit(void)
{
	if (!hears)
		return;
	unregister_nmi_handler(NMI_LOCAL, "perfctr");
	wait_for_followers();
}

#else

void perfctr_x86_take_interrupts(bool take)
{
}

int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler)
{
	return -ENODEV;
}

void perfctr_x86_interrupt_exit(void)
{
}

int __init perfctr_x86_interrupt_init(void)
{
	return -ENODEV;
}

#endif
