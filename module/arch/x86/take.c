// SPDX-License-Identifier: GPL-2.0
/* Takes all counters of a CPU, and gives them back as they were. */

#include <linux/init.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include "arch/user.h"
#include "arch/x86/extra.h"
#include "arch/x86/registers.h"
#include "arch/x86/take.h"
#include "arch/x86/zero.h"

/* Firmware may have set the freeze bit. We clear it, since we stop counters ourselves. */
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
 * Saves the control registers if firmware counts by them. If nothing counts, nobody needs them
 * back: perf programs what it uses.
 */
static void save_controls(struct perfctr_x86_cpu *cpu)
{
	unsigned int slot;
	u64 unused;

	cpu->overrides = perfctr_pmu.family->counts(&unused);
	if (!cpu->overrides)
		return;
	for (slot = 0; slot < perfctr_pmu.nr_controls; slot++)
		cpu->found[slot] = perfctr_pmu.control[slot].unused ? 0 :
				   read_msr(perfctr_pmu.control[slot].msr);
}

/* The firmware's counters go on from zero. */
static void restore_controls(struct perfctr_x86_cpu *cpu)
{
	unsigned int slot;

	for (slot = 0; cpu->overrides && slot < perfctr_pmu.nr_controls; slot++)
		if (!perfctr_pmu.control[slot].unused)
			write_msr(perfctr_pmu.control[slot].msr, cpu->found[slot]);
	cpu->overrides = false;
}

bool perfctr_x86_firmware_returned(void)
{
	const struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	unsigned int slot;

	if (!cpu->ours || !cpu->overrides)
		return false;
	for (slot = 0; slot < perfctr_pmu.nr_controls; slot++)
		if (cpu->found[slot] && cpu->found[slot] != cpu->control[slot] &&
		    read_msr(perfctr_pmu.control[slot].msr) == cpu->found[slot])
			return true;
	return false;
}

static void zero_controls(struct perfctr_x86_cpu *cpu)
{
	unsigned int slot;

	for (slot = 0; slot < perfctr_pmu.nr_controls; slot++) {
		if (!perfctr_pmu.control[slot].unused)
			write_msr(perfctr_pmu.control[slot].msr, 0);
		cpu->control[slot] = 0;
	}
}

void perfctr_x86_drop(u32 counters, u32 events)
{
	u64 used = 0, lost = 0;
	unsigned long left = perfctr_pmu.counters & counters;
	unsigned int hw, slot;

	for_each_set_bit(hw, &left, PERFCTR_X86_MAX)
		lost |= BIT_ULL(perfctr_pmu.ctr[hw].slot);
	perfctr_pmu.dropped |= counters & perfctr_pmu.counters;
	perfctr_pmu.counters &= ~counters;
	perfctr_pmu.general &= ~counters;
	perfctr_pmu.events &= ~events;
	if (!(perfctr_pmu.counters & perfctr_pmu.slots))
		perfctr_pmu.global_always = 0;
	left = perfctr_pmu.counters;
	for_each_set_bit(hw, &left, PERFCTR_X86_MAX)
		used |= BIT_ULL(perfctr_pmu.ctr[hw].slot);
	for (slot = 0; slot < perfctr_pmu.nr_controls; slot++)
		if (lost & ~used & BIT_ULL(slot))
			perfctr_pmu.control[slot].unused = true;
}

/* The control registers are zero. */
static void set_idle(struct perfctr_x86_cpu *cpu)
{
	unsigned int slot;
	u64 idle;

	for (slot = 0; slot < perfctr_pmu.nr_controls; slot++) {
		idle = perfctr_pmu.control[slot].idle;
		if (perfctr_pmu.control[slot].unused || !idle)
			continue;
		write_msr(perfctr_pmu.control[slot].msr, idle);
		cpu->control[slot] = idle;
	}
}

void perfctr_x86_take_all(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (cpu->core == PERFCTR_X86_NO_CORE)
		return;
	/* Zero now what perf left, so that a switch need not. */
	perfctr_x86_clear_perfs();
	/* On a CPU that is told late, the permission may have changed before. */
	perfctr_cpu_update_permission();

	if (perfctr_pmu.global_ctrl && !cpu->ours)
		cpu->global_ctrl = read_msr(perfctr_pmu.global_ctrl);
	if (!cpu->ours)
		save_controls(cpu);
	unfreeze(cpu);
	cpu->ours = false;	/* tells an NMI */
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
	/* What somebody else had written is gone. */
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
	/* Zero them for processes that may read them without us. */
	perfctr_x86_zero(perfctr_pmu.counters);
	cpu->dirty = 0;
	cpu->negative = 0;
	restore_controls(cpu);
	/* Only now do counters go on that counted before we took them. */
	if (perfctr_pmu.global_ctrl)
		write_msr(perfctr_pmu.global_ctrl, cpu->global_ctrl);
}

static void __init tell_held(u32 msr)
{
	if (msr)
		pr_info("perfctr: at load MSR 0x%x: 0x%llx\n", msr, read_msr(msr));
}

void __init perfctr_x86_tell_held(void)
{
	unsigned long counters = perfctr_pmu.counters;
	unsigned int slot, hw;

	pr_info("perfctr: at load, CPU %u:\n", smp_processor_id());
	for (slot = 0; slot < perfctr_pmu.nr_controls; slot++)
		tell_held(perfctr_pmu.control[slot].msr);
	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX)
		tell_held(perfctr_pmu.ctr[hw].msr);
	tell_held(perfctr_pmu.global_ctrl);
	tell_held(perfctr_pmu.global_status);
	tell_held(perfctr_pmu.freeze_msr);
}
