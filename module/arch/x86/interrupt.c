// SPDX-License-Identifier: GPL-2.0
/*
 * x86: the counters' interrupt, through the local APIC's LVTPC.
 *
 * perf uses an NMI for it. But we switch counters with interrupts off, and an NMI that comes then
 * could only raise an ordinary interrupt. So we use an ordinary interrupt from the start. We cannot
 * have a vector of our own, so we give the LVTPC the vector of the kernel's irq_work. The kernel
 * tolerates that interrupt when it has queued nothing, and a tracepoint tells us of it. A late
 * interrupt loses nothing, because the sums show what overflowed; in user mode it comes as soon as
 * an NMI.
 *
 * While we have the counters perf has none, but Intel PT interrupts through the LVTPC too. We pass
 * that on to perf as the NMI that it expects. In any NMI perf's handler acknowledges all overflows,
 * stops or starts all counters, and sets the LVTPC to NMI. Our handler runs after it and repairs
 * that.
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

/* Fixed delivery mode is 0. */
#define LVTPC_OURS	IRQ_WORK_VECTOR
#define LVTPC_MODE	0x700

/* An APIC has the LVTPC if its number of entries less one is at least this. */
#define LVTPC_MAXLVT	4

/*
 * The LVTPC's value before we took it, and what we did with it. Only that CPU accesses these, with
 * interrupts off, or in an NMI.
 */
static DEFINE_PER_CPU(u32, lvtpc_before);
static DEFINE_PER_CPU(bool, lvtpc_taken);
static DEFINE_PER_CPU(bool, handed);	/* to perf, which has not had its NMI yet */
static DEFINE_PER_CPU(struct irq_work, raised);
static perfctr_ihandler_t ihandler;
static bool mends;	/* after_perf() is registered; constant after init */
static bool hears;	/* i-mode counters can be heard too; constant after init */

/* Passes the interrupt to perf, if it is perf's. */
static notrace void hand_on(void)
{
	if (!perfctr_x86_trace_waits())
		return;
	WRITE_ONCE(*this_cpu_ptr(&handed), true);
	apic->send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
}

/*
 * Our counters stand still before we acknowledge anything: the handler has seen all overflows so
 * far, and no more come until the counters go on. The LVTPC masks itself when it delivers (not the
 * P6's or AMD's). We unmask it last. What PT signalled while it was masked raises no interrupt any
 * more, so hand_on() looks for it.
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

	/* The LVTPC is KVM's, for a guest that has the counters, or nobody's. */
	if (!(lvtpc & LVTPC_MODE) && (lvtpc & ~APIC_LVT_MASKED) != LVTPC_OURS)
		return NMI_DONE;
	__this_cpu_write(handed, false);
	perfctr_x86_mend(was_handed);
	if (__this_cpu_read(lvtpc_taken) && lvtpc & LVTPC_MODE) {
		apic->write(APIC_LVTPC, LVTPC_OURS);
		/* Raise our interrupt for overflows that perf has acknowledged in our place. */
		irq_work_queue(this_cpu_ptr(&raised));
		/*
		 * perf unmasks the LVTPC when it handles something. It is still masked, so we
		 * overflowed.
		 */
		was_handed |= lvtpc & APIC_LVT_MASKED;
	}
	return was_handed ? NMI_HANDLED : NMI_DONE;
}

/* The irq_work does nothing: we queue it to get its interrupt. */
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
		/* perf always wants its NMI unmasked. */
		if ((before & LVTPC_MODE) == APIC_DM_NMI)
			before &= ~APIC_LVT_MASKED;
		__this_cpu_write(lvtpc_before, before);
	}
	/* Write this before the LVTPC: an NMI may come in between. */
	WRITE_ONCE(*this_cpu_ptr(&lvtpc_taken), take);
	/* The LVTPC may be masked, if its interrupt was lost in a deep sleep. */
	if (take) {
		apic->write(APIC_LVTPC, LVTPC_OURS);
	} else if (taken) {
		apic->write(APIC_LVTPC, __this_cpu_read(lvtpc_before));
		hand_on();
	}
}

/* When a CPU comes up the kernel sets up the LVTPC as if we were not there. */
void perfctr_x86_forget_interrupts(unsigned int cpu)
{
	per_cpu(lvtpc_taken, cpu) = false;
}

/* In 64-bit mode an interrupt has a stack of its own, unless it came from user mode. */
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

/*
 * This initialises @raised, because not all kernels relocate addresses in initializers of per-CPU
 * data.
 */
int __init perfctr_x86_interrupt_init(void)
{
	unsigned int cpu;
	int err;

	if (!boot_cpu_has(X86_FEATURE_APIC))
		return -ENODEV;
	/* The P5's APIC has no LVTPC. */
	if (GET_APIC_MAXLVT(apic->read(APIC_LVR)) < LVTPC_MAXLVT)
		return -ENODEV;
	for_each_possible_cpu(cpu)
		per_cpu(raised, cpu) = IRQ_WORK_INIT_HARD(do_nothing);
	/*
	 * It stays registered while we are loaded, even if our counters cannot interrupt: Intel
	 * PT's NMIs start counters that we have stopped.
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
