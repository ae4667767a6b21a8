// SPDX-License-Identifier: GPL-2.0
/* Interrupts of the local APIC, and what the kernel tells its probes. */
#include <asm/apic.h>
#include <asm/mmu_context.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>

#include "arch/x86/measure.h"
#include "arch/x86/trial.h"

#include "x86/model_inside.h"

/*
 * Interrupts
 */

u32 model_lvtpc[SHIM_CPUS];
bool model_irq_waits[SHIM_CPUS];
bool model_nmi_waits[SHIM_CPUS];
bool model_nmis_at_once;
void (*model_after_write)(u32 msr);
static nmi_handler_t nmi_handler;
static struct irq_work *irq_works[SHIM_CPUS];

static u32 apic_read(u32 reg)
{
	shim_assert(!model.no_apic);
	if (reg == APIC_LVR)
		return (model.maxlvt ?: 6) << 16 | 0x14;
	shim_assert(reg == APIC_LVTPC && (!model.maxlvt || model.maxlvt >= 4));
	return model_lvtpc[shim_cpu];
}

static void apic_write(u32 reg, u32 value)
{
	shim_assert(reg == APIC_LVTPC && !model.no_apic && (!model.maxlvt || model.maxlvt >= 4));
	model_lvtpc[shim_cpu] = value;
}

const struct cpumask *cpumask_of(unsigned int cpu)
{
	static const struct cpumask masks[SHIM_CPUS] = { { BIT(0) }, { BIT(1) } };

	return &masks[cpu];
}

static void send_ipi_mask(const struct cpumask *mask, int vector)
{
	shim_assert(mask->bits == BIT(shim_cpu) && vector == NMI_VECTOR);
	model_nmi_waits[shim_cpu] = true;
}

static const struct apic local_apic = {
	.read = apic_read,
	.write = apic_write,
	.send_IPI_mask = send_ipi_mask,
};
const struct apic *const apic = &local_apic;

int register_nmi_handler(unsigned int type, nmi_handler_t handler, unsigned long flags,
			 const char *name)
{
	(void)name;
	might_sleep();
	shim_assert(type == NMI_LOCAL && !flags && !nmi_handler);
	nmi_handler = handler;
	return 0;
}

void unregister_nmi_handler(unsigned int type, const char *name)
{
	(void)name;
	might_sleep();
	shim_assert(type == NMI_LOCAL && nmi_handler);
	nmi_handler = NULL;
}

int model_nmi(unsigned int cpu)
{
	unsigned int before = shim_cpu;
	unsigned long flags;
	int handled;

	model_nmi_waits[cpu] = false;
	shim_cpu = cpu;
	local_irq_save(flags);
	handled = nmi_handler ? nmi_handler(NMI_LOCAL, NULL) : NMI_DONE;
	local_irq_restore(flags);
	shim_cpu = before;
	return handled;
}

/* Each CPU has its own work, which is not queued again while it is pending. */
bool irq_work_queue(struct irq_work *work)
{
	shim_assert(shim_irqs_off && work->func && work->hard);
	if (work->pending)
		return false;
	shim_assert(!irq_works[shim_cpu]);
	work->pending = true;
	irq_works[shim_cpu] = work;
	model_irq_waits[shim_cpu] = true;
	return true;
}

void irq_work_sync(struct irq_work *work)
{
	might_sleep();
	shim_assert(!work->pending);
}

void model_irq(unsigned int cpu)
{
	unsigned int before = shim_cpu;
	void (*probe)(void *data, int vector) = shim_probe("irq_work_entry");
	struct irq_work *work;

	shim_assert(!shim_irqs_off);
	model_irq_waits[cpu] = false;
	shim_cpu = cpu;
	local_irq_disable();
	if (probe)
		probe(NULL, IRQ_WORK_VECTOR);
	work = irq_works[cpu];
	irq_works[cpu] = NULL;
	if (work) {
		work->pending = false;
		work->func(work);
	}
	local_irq_enable();
	shim_cpu = before;
}

struct task_struct *model_tasks;
unsigned int model_nr_tasks;

/*
 * RDPMC in user mode
 */

bool model_pce[SHIM_CPUS];
unsigned int model_pce_updates[SHIM_CPUS];
u32 model_perf_dirty[SHIM_CPUS];
static struct kretprobe *pce_probe;
static struct kprobe *clear_probe;

void perf_clear_dirty_counters(void)
{
	unsigned int i;

	lockdep_assert_irqs_disabled();
	if (clear_probe)
		clear_probe->pre_handler(clear_probe, NULL);
	for (i = 0; i < nr_gp(); i++)
		if (model_perf_dirty[shim_cpu] & BIT(i))
			cpus[shim_cpu].gp[i] = 0;
	model_perf_dirty[shim_cpu] = 0;
}

/* The kernel's function, with the probe in it */
void cr4_update_pce(void *unused)
{
	struct kretprobe_instance instance;

	(void)unused;
	lockdep_assert_irqs_disabled();
	model_pce_updates[shim_cpu]++;
	if (pce_probe)
		pce_probe->entry_handler(&instance, NULL);
	model_pce[shim_cpu] = current->mm &&
			      atomic_read(&current->mm->context.perf_rdpmc_allowed);
	if (model_pce[shim_cpu])
		perf_clear_dirty_counters();
	if (pce_probe)
		pce_probe->handler(&instance, NULL);
}

void model_update_pce(void)
{
	unsigned long flags;

	local_irq_save(flags);
	cr4_update_pce(NULL);
	local_irq_restore(flags);
}

/* Where a probe of a function is: behind its ENDBR, if it has one */
#define ENDBR	4

static void *probe_address(void *function)
{
	return (char *)function + (model.no_endbr ? 0 : ENDBR);
}

int register_kprobe(struct kprobe *probe)
{
	might_sleep();
	if (model.no_probe || strcmp(probe->symbol_name, "perf_clear_dirty_counters") != 0)
		return -ENOENT;
	probe->addr = probe_address((void *)perf_clear_dirty_counters);
	return 0;
}

void unregister_kprobe(struct kprobe *probe)
{
	might_sleep();
	if (clear_probe == probe)
		clear_probe = NULL;
}

int enable_kprobe(struct kprobe *probe)
{
	might_sleep();
	shim_assert(probe->flags == KPROBE_FLAG_DISABLED && !clear_probe);
	clear_probe = probe;
	return 0;
}

int disable_kprobe(struct kprobe *probe)
{
	might_sleep();
	shim_assert(clear_probe == probe);
	clear_probe = NULL;
	return 0;
}

int sprint_symbol(char *text, unsigned long address)
{
	(void)address;
	return sprintf(text, "model+0x%x/0x40", model.no_endbr ? 0 : ENDBR);
}

/* KVM's guests that have the counters for themselves: perf knows of them. */
static struct kretprobe *guest_probe;

void model_guest_begins(int err)
{
	struct kretprobe_instance instance;
	struct pt_regs regs = { .ax = err };

	model_perf_guests += !err;
	if (guest_probe)
		guest_probe->handler(&instance, &regs);
}

/* As KVM turns virtualization on and off, perf reloads what it has: see virt.c. */
static struct kretprobe *virt_probes[2];

static struct kretprobe **virt_probe(const struct kretprobe *probe)
{
	if (!strcmp(probe->kp.symbol_name, "amd_pmu_enable_virt"))
		return &virt_probes[1];
	return strcmp(probe->kp.symbol_name, "amd_pmu_disable_virt") ? NULL : &virt_probes[0];
}

void model_virt(bool on)
{
	struct kretprobe_instance instance;

	if (model.version >= 2)
		cpus[shim_cpu].control.global_ctrl = all_counters(shim_cpu);
	if (virt_probes[on])
		virt_probes[on]->handler(&instance, NULL);
}

int register_kretprobe(struct kretprobe *probe)
{
	might_sleep();
	if (virt_probe(probe)) {
		if (model.no_virt_probe)
			return -ENOENT;
		shim_assert(!*virt_probe(probe));
		*virt_probe(probe) = probe;
		return 0;
	}
	if (!strcmp(probe->kp.symbol_name, "perf_create_mediated_pmu")) {
		if (model.no_guest_probe)
			return -ENOENT;
		shim_assert(!guest_probe);
		guest_probe = probe;
		return 0;
	}
	/* The probes of the clock concern switch.c only. */
	if (strcmp(probe->kp.symbol_name, "cr4_update_pce") != 0)
		return -ENOENT;
	if (model.no_probe)
		return -ENOENT;
	shim_assert(!pce_probe);
	pce_probe = probe;
	probe->kp.addr = probe_address((void *)cr4_update_pce);
	return 0;
}

void unregister_kretprobe(struct kretprobe *probe)
{
	might_sleep();
	if (virt_probe(probe)) {
		*virt_probe(probe) = NULL;
		return;
	}
	if (probe == guest_probe) {
		guest_probe = NULL;
		return;
	}
	shim_assert(pce_probe == probe);
	pce_probe = NULL;
}

/*
 * In the place of spin.c
 */

void perfctr_x86_spin(unsigned long turns)
{
	model_count(KIND_INSTRUCTIONS, MODEL_KERNEL, 2 * turns);
	model_count(KIND_BRANCHES, MODEL_KERNEL, turns);
	model_count(KIND_CYCLES, MODEL_KERNEL, 3 * turns);
	model_count(KIND_REFERENCE_CYCLES, MODEL_KERNEL, turns / 100);
	if (model_disturbs & 1)
		model_execute(MODEL_KERNEL, 1000);
	model_disturbs >>= 1;
}

/*
 * In the place of measure.c
 */

unsigned int model_measured;
bool perfctr_x86_measure_wanted;

void perfctr_x86_measure(const struct perfctr_x86_registers *regs)
{
	(void)regs;
	model_measured++;
}
