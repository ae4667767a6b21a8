// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of the driver's instructions on this processor, and whether the global control
 * stops a counter. This runs once, at load, if root asks for it by a parameter, so that users can
 * send us the results.
 *
 * The result is the fastest of many short batches, because interrupts, NMIs and hypervisors only
 * make a batch slower. Costs are in cycles of the TSC.
 */

#define pr_fmt(fmt) "perfctr: " fmt

#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "arch/x86/measure.h"
#include "arch/x86/trial.h"

#define ROUNDS	100
#define BATCH	16	/* operations in a batch, which runs with interrupts off */
#define STOP_TURNS	1000	/* turns of perfctr_x86_spin() */

bool perfctr_x86_measure_wanted;
module_param_named(measure, perfctr_x86_measure_wanted, bool, 0444);
MODULE_PARM_DESC(measure, "x86: log what registers held, and what RDPMC, WRMSR and the like cost on this processor");

/**
 * struct operands - registers and values of the measured operations
 * @regs: the registers of the measured counter
 * @value: the value of the counter or of the LVTPC, which is written back
 */
struct operands {
	const struct perfctr_x86_registers *regs;
	u64 value;
};

typedef void (*operation_t)(const struct operands *o, unsigned int i);

static __always_inline u64 get_msr(u32 msr)
{
	u32 low, high;

	native_rdmsr(msr, low, high);
	return (u64)high << 32 | low;
}

static __always_inline void put_msr(u32 msr, u64 value)
{
	native_wrmsr(msr, (u32)value, (u32)(value >> 32));
}

/*
 * Returns the cycles of the fastest batch. If the operation changes a register, @msr is that
 * register. The register is restored before interrupts are enabled, so that no other code runs with
 * the changed value.
 */
static __always_inline u64 fastest(operation_t op, const struct operands *o, u32 msr)
{
	u64 least = U64_MAX;
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		unsigned long flags;
		u64 cycles, found = 0;
		unsigned int i;

		local_irq_save(flags);
		if (msr)
			found = get_msr(msr);
		cycles = rdtsc_ordered();
		for (i = 0; i < BATCH; i++)
			op(o, i);
		cycles = rdtsc_ordered() - cycles;
		if (msr)
			put_msr(msr, found);
		local_irq_restore(flags);
		least = min(least, cycles);
	}
	return least;
}

static __always_inline void nothing(const struct operands *o, unsigned int i)
{
	barrier();
}

static __always_inline void read_tsc(const struct operands *o, unsigned int i)
{
	rdtsc();
}

static __always_inline u64 get_pmc(const struct operands *o)
{
	u32 low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (o->regs->rdpmc));
	return (u64)high << 32 | low;
}

static __always_inline void read_pmc(const struct operands *o, unsigned int i)
{
	get_pmc(o);
}

static __always_inline void read_counter(const struct operands *o, unsigned int i)
{
	get_msr(o->regs->perfctr);
}

static __always_inline void write_counter(const struct operands *o, unsigned int i)
{
	put_msr(o->regs->perfctr, o->value);
}

/*
 * Writes two values alternately, because a switch writes only changed values. Neither value counts
 * in kernel mode.
 */
static __always_inline void write_evntsel(const struct operands *o, unsigned int i)
{
	put_msr(o->regs->evntsel, o->regs->evntsels[i % 2]);
}

static __always_inline void write_global_ctrl(const struct operands *o, unsigned int i)
{
	put_msr(o->regs->global_ctrl, i % 2 ? 0 : o->regs->run);
}

static __always_inline unsigned long get_cr4(void)
{
	unsigned long cr4;

	asm volatile("mov %%cr4, %0" : "=r" (cr4));
	return cr4;
}

static __always_inline void read_cr4(const struct operands *o, unsigned int i)
{
	get_cr4();
}

/*
 * Reads CR4 and writes the same value back. Modules cannot call the kernel's function for this,
 * which also updates a copy of CR4. The copy stays right, because with interrupts off nobody else
 * changes CR4 in between.
 */
static __always_inline void read_and_write_cr4(const struct operands *o, unsigned int i)
{
	asm volatile("mov %0, %%cr4" : : "r" (get_cr4()) : "memory");
}

static void __init report(const char *what, u64 cycles, u64 less)
{
	cycles -= min(cycles, less);
	pr_info("cost of %s: %llu cycles\n", what, div_u64(cycles + BATCH / 2, BATCH));
}

#ifdef CONFIG_X86_LOCAL_APIC
static __always_inline void write_lvtpc(const struct operands *o, unsigned int i)
{
	apic->write(APIC_LVTPC, (u32)o->value);
}

static void __init measure_lvtpc(const struct perfctr_x86_registers *regs, u64 empty)
{
	struct operands o = { .regs = regs };

	/* The P5's APIC has no LVTPC. */
	if (!boot_cpu_has(X86_FEATURE_APIC) || GET_APIC_MAXLVT(apic->read(APIC_LVR)) < 4)
		return;
	o.value = apic->read(APIC_LVTPC);
	/*
	 * An interrupt masks the LVTPC until its handler has run. A trace may interrupt even now,
	 * because nobody reserves traces. We must not write a masked value back, or the LVTPC would
	 * stay masked.
	 */
	if (o.value & APIC_LVT_MASKED)
		return;
	report("LVTPC write", fastest(write_lvtpc, &o, 0), empty);
}
#else
static void __init measure_lvtpc(const struct perfctr_x86_registers *regs, u64 empty)
{
}
#endif

/*
 * Measures whether the global control stops a counter at once. A counter that counts on after the
 * first read stops late. The caller has checked that the counter's value can be restored.
 */
static void __init measure_stop(const struct perfctr_x86_registers *regs)
{
	struct operands o = { .regs = regs };
	u64 found, evntsel, global_ctrl, first, late;
	unsigned long flags;

	local_irq_save(flags);
	found = get_msr(regs->perfctr);
	evntsel = get_msr(regs->evntsel);
	global_ctrl = get_msr(regs->global_ctrl);
	put_msr(regs->perfctr, 0);
	put_msr(regs->evntsel, regs->counting);
	put_msr(regs->global_ctrl, regs->run);
	perfctr_x86_spin(STOP_TURNS);
	put_msr(regs->global_ctrl, 0);
	first = get_pmc(&o);
	perfctr_x86_spin(STOP_TURNS);
	late = get_pmc(&o) - first;
	put_msr(regs->evntsel, evntsel);
	put_msr(regs->perfctr, found);
	put_msr(regs->global_ctrl, global_ctrl);
	local_irq_restore(flags);
	if (first)
		pr_info("GLOBAL_CTRL=0: %llu instructions counted after it\n", late);
}

static void __init measure_counter(const struct perfctr_x86_registers *regs, u64 empty)
{
	struct operands o = { .regs = regs };
	u64 mask = GENMASK_ULL(regs->width - 1, 0);
	bool kept;

	if (!regs->no_rdpmc)
		report("RDPMC", fastest(read_pmc, &o, 0), empty);
	report("RDMSR of a counter", fastest(read_counter, &o, 0), empty);
	o.value = get_msr(regs->perfctr);
	/*
	 * Many counters take only 32 bits and extend their sign. Do not write to the counter if its
	 * value could not be restored.
	 */
	kept = ((u64)(s32)o.value & mask) == o.value;
	if (kept)
		report("WRMSR of a counter", fastest(write_counter, &o, 0), empty);
	report("WRMSR of an event select", fastest(write_evntsel, &o, regs->evntsel), empty);
	if (regs->global_ctrl)
		report("WRMSR of GLOBAL_CTRL",
		       fastest(write_global_ctrl, &o, regs->global_ctrl), empty);
	if (regs->global_ctrl && kept)
		measure_stop(regs);
}

/* perfex selftest expects the line of RDTSC first. */
void __init perfctr_x86_measure(const struct perfctr_x86_registers *regs)
{
	struct operands o = { .regs = regs };
	u64 empty = fastest(nothing, &o, 0), cr4;

	report("RDTSC", fastest(read_tsc, &o, 0), empty);
	if (!boot_cpu_has(X86_FEATURE_XENPV)) {
		cr4 = fastest(read_cr4, &o, 0);
		report("CR4 read", cr4, empty);
		report("CR4 write", fastest(read_and_write_cr4, &o, 0), cr4);
	}
	if (!regs->perfctr)
		return;
	measure_counter(regs, empty);
	measure_lvtpc(regs, empty);
}
