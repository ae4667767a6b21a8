// SPDX-License-Identifier: GPL-2.0
/*
 * x86: the interrupt of the counters, which the LVTPC of the local APIC delivers.
 *
 * perf makes the LVTPC raise an NMI. But we switch counters with interrupts off, and an NMI in the
 * middle of a switch could do no more than raise an ordinary interrupt. So we use an ordinary
 * interrupt from the start. A module cannot have a vector of its own, so we give the LVTPC the
 * vector of the kernel's irq_work. The kernel tolerates that interrupt when no work is queued, and
 * a tracepoint in its handler calls us. The interrupt may be late if it comes in the kernel.
 * Nothing is lost then, because the sums show what has overflowed.
 *
 * While we have the counters, perf has none. But Intel PT interrupts through the LVTPC too. We pass
 * such an interrupt to perf as an NMI, as perf expects. In any NMI, perf's handler acknowledges all
 * overflows, stops or starts all counters, and sets the LVTPC to NMI. Our handler runs after perf's
 * and repairs this.
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

/* The mode of LVTPC_OURS is fixed delivery, which is 0. */
#define LVTPC_OURS	IRQ_WORK_VECTOR
#define LVTPC_MODE	0x700

/* An APIC has the LVTPC if its MAXLVT, the number of entries less one, is at least 4. */
#define LVTPC_MAXLVT	4

/*
 * The value of the LVTPC before we took it, and our use of it since. Only that CPU accesses these
 * variables, with interrupts off or in an NMI.
 */
static DEFINE_PER_CPU(u32, lvtpc_before);
static DEFINE_PER_CPU(bool, lvtpc_taken);
static DEFINE_PER_CPU(bool, handed);	/* an NMI for perf is on its way */
static DEFINE_PER_CPU(struct irq_work, raised);
static DEFINE_PER_CPU(unsigned int, nmis);	/* only with perfctr_pmu.beside */
static perfctr_ihandler_t ihandler;
static bool mends;	/* after_perf() is registered; constant after init */
static bool hears;	/* the tracepoint exists, so overflows reach us; constant after init */

/* Raises an NMI for perf, if Intel PT has interrupted. */
static notrace void hand_on(void)
{
	if (!perfctr_x86_trace_waits())
		return;
	WRITE_ONCE(*this_cpu_ptr(&handed), true);
	apic->send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
}

/*
 * Runs as the irq_work interrupt begins. ihandler(false) sees all overflows so far and stops our
 * counters, so none can overflow while we acknowledge the overflows. The LVTPC masks itself when it
 * delivers an interrupt (except on the P6 and AMD), so we unmask it afterwards. An interrupt of
 * Intel PT is lost while the LVTPC is masked, so hand_on() looks for one.
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

/*
 * Beside perf, the LVTPC is perf's, and raises an NMI. Our handler runs before perf's, which would
 * wonder about an overflow that is not perf's. It runs again after perf's handler: a counter that
 * counts the kernel may overflow after our handler has looked, and perf then acknowledges that
 * overflow, or the LVTPC is still masked. perf's handler may also have stopped fixed counters of
 * ours.
 *
 * The NMI queues a work, whose interrupt comes as soon as interrupts are on. The tracepoint in that
 * interrupt is too early for us: the work may not have been queued when it is passed, if an NMI
 * comes just behind it.
 */
static notrace int beside_perf(bool before)
{
	if (!perfctr_x86_take_overflows(before))
		return NMI_DONE;
	irq_work_queue(this_cpu_ptr(&raised));
	return NMI_HANDLED;
}

static notrace int before_perf(unsigned int type, struct pt_regs *regs)
{
	__this_cpu_write(nmis, __this_cpu_read(nmis) + 1);
	return beside_perf(true);
}

static notrace int behind_perf(unsigned int type, struct pt_regs *regs)
{
	perfctr_x86_restore_fixed();
	return beside_perf(false);
}

static notrace void handle_raised(struct irq_work *work)
{
	perfctr_ihandler_t handler = READ_ONCE(ihandler);

	if (!handler)
		return;
	handler(false);
	handler(true);
}

static notrace int after_perf(unsigned int type, struct pt_regs *regs)
{
	bool was_handed = __this_cpu_read(handed);
	u32 lvtpc = apic->read(APIC_LVTPC);

	/* Neither perf nor we use the LVTPC. KVM may use it for a guest that has the counters. */
	if (!(lvtpc & LVTPC_MODE) && (lvtpc & ~APIC_LVT_MASKED) != LVTPC_OURS)
		return NMI_DONE;
	__this_cpu_write(handed, false);
	perfctr_x86_mend(was_handed);
	if (__this_cpu_read(lvtpc_taken) && lvtpc & LVTPC_MODE) {
		apic->write(APIC_LVTPC, LVTPC_OURS);
		/* Raise our interrupt for overflows that perf has acknowledged in our place. */
		irq_work_queue(this_cpu_ptr(&raised));
		/*
		 * perf unmasks the LVTPC when it handles an interrupt. If the LVTPC is still
		 * masked, the interrupt came from our counters.
		 */
		was_handed |= lvtpc & APIC_LVT_MASKED;
	}
	return was_handed ? NMI_HANDLED : NMI_DONE;
}

/* The work does nothing, because we queue it only to get its interrupt. */
static void do_nothing(struct irq_work *work)
{
}

void perfctr_x86_take_interrupts(bool take)
{
	bool taken = __this_cpu_read(lvtpc_taken);
	u32 before;

	lockdep_assert_irqs_disabled();
	if (perfctr_pmu.beside)
		return;
	if (take && !taken) {
		before = apic->read(APIC_LVTPC);
		/* perf always needs its NMI unmasked. */
		if ((before & LVTPC_MODE) == APIC_DM_NMI)
			before &= ~APIC_LVT_MASKED;
		__this_cpu_write(lvtpc_before, before);
	}
	/* Write lvtpc_taken before the LVTPC, because an NMI may come in between. */
	WRITE_ONCE(*this_cpu_ptr(&lvtpc_taken), take);
	/*
	 * Write the LVTPC even if we had taken it before. It stays masked if a deep sleep has lost
	 * its interrupt.
	 */
	if (take) {
		apic->write(APIC_LVTPC, LVTPC_OURS);
	} else if (taken) {
		apic->write(APIC_LVTPC, __this_cpu_read(lvtpc_before));
		hand_on();
	}
}

/*
 * Called before a CPU comes up. As it comes up, the kernel sets up the LVTPC, so we do not have the
 * LVTPC any more.
 */
void perfctr_x86_forget_interrupts(unsigned int cpu)
{
	per_cpu(lvtpc_taken, cpu) = false;
}

unsigned int perfctr_x86_nmis(void)
{
	return __this_cpu_read(nmis);
}

/*
 * Returns true if the interrupt came from user mode. In 64-bit mode only such an interrupt runs on
 * the stack of the thread. In 32-bit mode we cannot know this, and always return false.
 */
notrace bool perfctr_cpu_interrupted_user(void)
{
	int here;

	return IS_ENABLED(CONFIG_X86_64) && object_is_on_stack(&here);
}

static void sync_raised(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&raised, cpu));
}

int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler)
{
	if (!hears)
		return -ENODEV;
	if (perfctr_pmu.beside) {
		WRITE_ONCE(ihandler, handler);
		if (!handler)
			sync_raised();
		return 0;
	}
	if (!handler) {
		perfctr_probes_unregister(&probe, 1);
		return 0;
	}
	ihandler = handler;
	return perfctr_probes_register(&probe, 1);
}

/*
 * Initializes @raised here, because not all kernels relocate addresses in initializers of per-CPU
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
		per_cpu(raised, cpu) = IRQ_WORK_INIT_HARD(perfctr_pmu.beside ? handle_raised :
							  do_nothing);
	if (perfctr_pmu.beside) {
		err = register_nmi_handler(NMI_LOCAL, before_perf, NMI_FLAG_FIRST,
					   "perfctr, before perf");
		if (err)
			return err;
		err = register_nmi_handler(NMI_LOCAL, behind_perf, 0, "perfctr");
		if (err)
			unregister_nmi_handler(NMI_LOCAL, "perfctr, before perf");
		mends = !err;
		hears = !err;
		return err;
	}
	/*
	 * The handler stays registered while the module is loaded, even if our counters cannot
	 * interrupt. In NMIs of Intel PT, perf starts counters that we have stopped, and the
	 * handler stops them again.
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
	if (!mends)
		return;
	mends = false;
	unregister_nmi_handler(NMI_LOCAL, "perfctr");
	if (perfctr_pmu.beside)
		unregister_nmi_handler(NMI_LOCAL, "perfctr, before perf");
	sync_raised();
}

#else

unsigned int perfctr_x86_nmis(void)
{
	return 0;
}

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
