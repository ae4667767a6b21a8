// SPDX-License-Identifier: GPL-2.0
/* Takes all counters of a CPU, and gives them back with their old controls. */

#include <linux/init.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include "arch/user.h"
#include "arch/x86/extra.h"
#include "arch/x86/registers.h"
#include "arch/x86/take.h"
#include "arch/x86/zero.h"

/* Clears the freeze bit, because we stop counters ourselves. Firmware may have set the bit. */
static void unfreeze(struct perfctr_x86_cpu *cpu)
{
	u64 value;

	if (!perfctr_pmu.freeze)
		return;
	value = read_msr(perfctr_pmu.freeze_msr);
	if (!cpu->ours)
		cpu->froze = value & perfctr_pmu.freeze;
	if (value & perfctr_pmu.freeze)
		write_msr(perfctr_pmu.freeze_msr, value & ~perfctr_pmu.freeze);
	if (perfctr_pmu.frozen && read_msr(perfctr_pmu.global_status) & perfctr_pmu.frozen)
		write_msr(perfctr_pmu.global_ack, perfctr_pmu.frozen);
}

/*
 * Saves the control registers if firmware counts by them. If nothing counts, nobody needs the old
 * values: perf writes each control register before perf uses it.
 */
static void save_controls(struct perfctr_x86_cpu *cpu)
{
	unsigned int reg;
	u64 unused;

	cpu->overrides = perfctr_pmu.family->counts(&unused);
	if (!cpu->overrides)
		return;
	for (reg = 0; reg < perfctr_pmu.nr_controls; reg++)
		cpu->found[reg] = perfctr_pmu.control[reg].unused ? 0 :
				   read_msr(perfctr_pmu.control[reg].msr);
}

/* Restores the firmware's control registers. The firmware's counters go on from zero. */
static void restore_controls(struct perfctr_x86_cpu *cpu)
{
	unsigned int reg;

	for (reg = 0; cpu->overrides && reg < perfctr_pmu.nr_controls; reg++)
		if (!perfctr_pmu.control[reg].unused)
			write_msr(perfctr_pmu.control[reg].msr, cpu->found[reg]);
	cpu->overrides = false;
}

bool perfctr_x86_firmware_returned(void)
{
	const struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	unsigned int reg;

	if (!cpu->ours || !cpu->overrides)
		return false;
	for (reg = 0; reg < perfctr_pmu.nr_controls; reg++)
		if (cpu->found[reg] && cpu->found[reg] != cpu->control[reg] &&
		    read_msr(perfctr_pmu.control[reg].msr) == cpu->found[reg])
			return true;
	return false;
}

static void zero_controls(struct perfctr_x86_cpu *cpu)
{
	unsigned int reg;

	for (reg = 0; reg < perfctr_pmu.nr_controls; reg++) {
		if (!perfctr_pmu.control[reg].unused)
			write_msr(perfctr_pmu.control[reg].msr, 0);
		cpu->control[reg] = 0;
	}
}

void perfctr_x86_drop(u32 counters, u32 events)
{
	u64 used = 0, lost = 0;
	unsigned long left = perfctr_pmu.counters & counters;
	unsigned int hw, reg;

	for_each_set_bit(hw, &left, PERFCTR_X86_MAX)
		lost |= BIT_ULL(perfctr_pmu.ctr[hw].reg);
	perfctr_pmu.dropped |= counters & perfctr_pmu.counters;
	perfctr_pmu.counters &= ~counters;
	perfctr_pmu.general &= ~counters;
	perfctr_pmu.events &= ~events;
	if (!(perfctr_pmu.counters & perfctr_pmu.slots))
		perfctr_pmu.global_always = 0;
	left = perfctr_pmu.counters;
	for_each_set_bit(hw, &left, PERFCTR_X86_MAX)
		used |= BIT_ULL(perfctr_pmu.ctr[hw].reg);
	for (reg = 0; reg < perfctr_pmu.nr_controls; reg++)
		if (lost & ~used & BIT_ULL(reg))
			perfctr_pmu.control[reg].unused = true;
}

/* Writes the idle values to the control registers, which are zero now. */
static void set_idle(struct perfctr_x86_cpu *cpu)
{
	unsigned int reg;
	u64 idle;

	for (reg = 0; reg < perfctr_pmu.nr_controls; reg++) {
		idle = perfctr_pmu.control[reg].idle;
		if (perfctr_pmu.control[reg].unused || !idle)
			continue;
		write_msr(perfctr_pmu.control[reg].msr, idle);
		cpu->control[reg] = idle;
	}
}

void perfctr_x86_take_all(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (cpu->core == PERFCTR_X86_NO_CORE)
		return;
	/* We must not take what we do not hold. */
	if (WARN_ON(perfctr_pmu.beside))
		return;
	/* Zero now what perf left, so that a switch need not. */
	perfctr_x86_clear_perfs();
	/* On a CPU that joins late, the permission may have changed meanwhile. */
	perfctr_cpu_update_permission();

	if (perfctr_pmu.global_ctrl && !cpu->ours)
		cpu->global_ctrl = read_msr(perfctr_pmu.global_ctrl);
	if (!cpu->ours)
		save_controls(cpu);
	unfreeze(cpu);
	cpu->ours = false;	/* tells an NMI to leave the registers alone */
	zero_controls(cpu);
	perfctr_x86_zero(perfctr_pmu.counters);
	set_idle(cpu);
	if (perfctr_pmu.global_ctrl)
		write_global(perfctr_pmu.counters);
	if (perfctr_pmu.family->clear_unused)
		perfctr_pmu.family->clear_unused();
	cpu->running = perfctr_pmu.counters;
	cpu->enabled = perfctr_pmu.never_stop & perfctr_pmu.counters;
	cpu->interrupting = 0;
	cpu->dirty = cpu->enabled;
	cpu->negative = 0;
	perfctr_x86_belong_to_nobody(cpu);
	perfctr_x86_extra_take();
	/* If somebody else had written to the registers, these values are gone. */
	cpu->load_core = cpu->core;
	cpu->ours = true;
}

void perfctr_x86_release_all(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	perfctr_x86_belong_to_nobody(cpu);
	if (!cpu->ours)
		return;
	cpu->ours = false;
	cpu->load_core = cpu->core;
	zero_controls(cpu);
	if (cpu->froze)
		write_msr(perfctr_pmu.freeze_msr,
			  read_msr(perfctr_pmu.freeze_msr) | perfctr_pmu.freeze);
	cpu->froze = false;
	cpu->running = 0;
	/* Zero the counters, because some processes may read them without our permission. */
	perfctr_x86_zero(perfctr_pmu.counters);
	cpu->dirty = 0;
	cpu->negative = 0;
	restore_controls(cpu);
	/* Restore the global control last. Counters of firmware go on now. */
	if (perfctr_pmu.global_ctrl)
		write_msr(perfctr_pmu.global_ctrl, cpu->global_ctrl);
}

static void __init log_register(u32 msr)
{
	if (msr)
		pr_info("perfctr: at load MSR 0x%x: 0x%llx\n", msr, read_msr(msr));
}

void __init perfctr_x86_log_registers(void)
{
	unsigned long counters = perfctr_pmu.counters;
	unsigned int reg, hw;

	pr_info("perfctr: at load, CPU %u:\n", smp_processor_id());
	for (reg = 0; reg < perfctr_pmu.nr_controls; reg++)
		log_register(perfctr_pmu.control[reg].msr);
	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX)
		log_register(perfctr_pmu.ctr[hw].msr);
	log_register(perfctr_pmu.global_ctrl);
	log_register(perfctr_pmu.global_status);
	log_register(perfctr_pmu.freeze_msr);
}
