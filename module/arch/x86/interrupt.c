// SPDX-License-Identifier: GPL-2.0
/*
 * x86: the counters' interrupt, by the local APIC's LVTPC.
 *
 * For perf that is an NMI. But counters are switched with interrupts off, and an NMI
 * that comes then can do nothing but call for an ordinary interrupt. So ours is one
 * from the start: the LVTPC is given the vector of the kernel's irq_work, since we
 * cannot have one of our own. The kernel does not mind that interrupt when it has
 * queued nothing, and a tracepoint tells us of it. Nothing is lost where it comes late,
 * as sums say what overflowed; and in user mode it comes no later than an NMI.
 *
 * While we have counters perf has none, but Intel PT interrupts by the LVTPC too. That is
 * handed on to perf as the NMI that it waits for. And perf's handler of whatever NMI then
 * acknowledges all that it finds, stops or starts all counters, and makes the LVTPC an
 * NMI's: ours, which comes after it, puts that right.
 */

#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/nmi.h>
#include <asm/trace/irq_vectors.h>

#include "arch/cpu.h"
#include "base/hook.h"
#include "arch/x86/interrupt.h"
#include "arch/x86/registers.h"

#ifdef CONFIG_X86_LOCAL_APIC

/* Fixed delivery mode, which is zero */
#define LVTPC_OURS	IRQ_WORK_VECTOR
#define LVTPC_MODE	0x700

/* An APIC whose last entry has this number, or a higher one, has the LVTPC. */
#define LVTPC_MAXLVT	4

/* What the LVTPC was before; only that CPU touches these, with interrupts off, or an NMI */
static DEFINE_PER_CPU(u32, lvtpc_before);
static DEFINE_PER_CPU(bool, lvtpc_taken);
static DEFINE_PER_CPU(bool, handed);	/* to perf, which has not had its NMI yet */
static DEFINE_PER_CPU(struct irq_work, raised);
static perfctr_ihandler_t ihandler;
static bool mends;	/* after_perf() is registered; constant after init */
static bool hears;	/* and i-mode counters can be heard; constant after init */

/* If it is perf's. */
static notrace void hand_on(void)
{
	if (!perfctr_x86_trace_waits())
		return;
	WRITE_ONCE(*this_cpu_ptr(&handed), true);
	apic->send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
}

/*
 * Its own counters stand still before anything is acknowledged: what overflowed until
 * then the handler has seen, and nothing does afterwards, until they go on. The LVTPC
 * masks itself as it delivers (not the P6's, nor AMD's). It is unmasked last, but what PT had for
 * it meanwhile makes no interrupt any more.
 */
static notrace void probe_irq_work(void *data, int vector)
{
	if (!__this_cpu_read(lvtpc_taken))
		return;
	ihandler(false);
	perfctr_x86_acknowledge();
	apic->write(APIC_LVTPC, LVTPC_OURS);
	hand_on();
	ihandler(true);
}

static struct perfctr_probe probe = PERFCTR_PROBE(irq_work_entry, probe_irq_work);

static notrace int after_perf(unsigned int type, struct pt_regs *regs)
{
	bool was_handed = __this_cpu_read(handed);
	u32 lvtpc = apic->read(APIC_LVTPC);

	/* KVM's, for a guest to which it has given the counters, or nobody's */
	if (!(lvtpc & LVTPC_MODE) && (lvtpc & ~APIC_LVT_MASKED) != LVTPC_OURS)
		return NMI_DONE;
	__this_cpu_write(handed, false);
	perfctr_x86_mend(was_handed);
	if (__this_cpu_read(lvtpc_taken) && lvtpc & LVTPC_MODE) {
		apic->write(APIC_LVTPC, LVTPC_OURS);
		/* For what perf has acknowledged in our place. */
		irq_work_queue(this_cpu_ptr(&raised));
		/* Perf unmasks what it handles: this was an overflow of ours. */
		was_handed |= lvtpc & APIC_LVT_MASKED;
	}
	return was_handed ? NMI_HANDLED : NMI_DONE;
}

/* Its interrupt is all that is wanted of it. */
static void do_nothing(struct irq_work *work)
{
}

void perfctr_x86_take_interrupts(bool take)
{
	bool taken = __this_cpu_read(lvtpc_taken);
	u32 before;

	lockdep_assert_irqs_disabled();
	if (take && !taken) {
		before = apic->read(APIC_LVTPC);
		/* Perf always wants its NMI. */
		if ((before & LVTPC_MODE) == APIC_DM_NMI)
			before &= ~APIC_LVT_MASKED;
		__this_cpu_write(lvtpc_before, before);
	}
	/* For an NMI: first it is not ours any more. */
	WRITE_ONCE(*this_cpu_ptr(&lvtpc_taken), take);
	/* It may be masked, if the interrupt was lost in a deep sleep. */
	if (take) {
		apic->write(APIC_LVTPC, LVTPC_OURS);
	} else if (taken) {
		apic->write(APIC_LVTPC, __this_cpu_read(lvtpc_before));
		hand_on();
	}
}

/* The kernel has set it up as if we were not there. */
void perfctr_x86_forget_interrupts(unsigned int cpu)
{
	per_cpu(lvtpc_taken, cpu) = false;
}

/* In 64-bit mode interrupts have a stack of their own, but where they come from user mode. */
notrace bool perfctr_cpu_interrupted_user(void)
{
	int here;

	return IS_ENABLED(CONFIG_X86_64) && object_is_on_stack(&here);
}

int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler)
{
	if (!hears)
		return -ENODEV;
	if (!handler) {
		perfctr_probes_unregister(&probe, 1);
		return 0;
	}
	ihandler = handler;
	return perfctr_probes_register(&probe, 1);
}

/* Not all kernels relocate what an initializer of per-CPU data refers to. */
int __init perfctr_x86_interrupt_init(void)
{
	unsigned int cpu;
	int err;

	if (!boot_cpu_has(X86_FEATURE_APIC))
		return -ENODEV;
	/* The P5's has no LVTPC. */
	if (GET_APIC_MAXLVT(apic->read(APIC_LVR)) < LVTPC_MAXLVT)
		return -ENODEV;
	for_each_possible_cpu(cpu)
		per_cpu(raised, cpu) = IRQ_WORK_INIT_HARD(do_nothing);
	/*
	 * For as long as we are loaded: Intel PT's NMIs let counters run that are stopped, whether
	 * ours can interrupt or not.
	 */
	err = register_nmi_handler(NMI_LOCAL, after_perf, 0, "perfctr");
	mends = !err;
	if (!err && perfctr_probes_find(&probe, 1))
		err = -ENODEV;
	hears = !err;
	return err;
}

void perfctr_x86_interrupt_exit(void)
{
	unsigned int cpu;

	if (!mends)
		return;
	mends = false;
	unregister_nmi_handler(NMI_LOCAL, "perfctr");
	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&raised, cpu));
}

#else

bool perfctr_cpu_interrupted_user(void)
{
	return false;
}

void perfctr_x86_take_interrupts(bool take)
{
}

void perfctr_x86_forget_interrupts(unsigned int cpu)
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
