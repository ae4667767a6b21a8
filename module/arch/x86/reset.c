// SPDX-License-Identifier: GPL-2.0
/*
 * Resets counters because of errata AAK100, AAP53 and BD53 (specification updates of Nehalem and
 * Westmere). After a write of its event select, a counter may count core cycles instead of the
 * event, or nothing. Before we write an event select, all counters must stop, get special events,
 * run, and stop again. The counts of these special events mean nothing.
 */

#include <linux/init.h>
#include <linux/lockdep.h>

#include "arch/x86/registers.h"
#include "arch/x86/reset.h"

DEFINE_STATIC_KEY_FALSE(perfctr_x86_reset_key);

/* The special event selects, and how many there are; constant after init */
static const u32 *reset_events;
static unsigned int nr_reset_events;

void __init perfctr_x86_reset_needed(const u32 *events, unsigned int nr)
{
	reset_events = events;
	nr_reset_events = nr;
	static_branch_enable(&perfctr_x86_reset_key);
}

/* Writes a register and ignores a fault, because some hypervisors refuse such a write. */
static notrace void write_anyway(u32 msr, u64 value)
{
	wrmsr_safe(msr, lower_32_bits(value), upper_32_bits(value));
}

/*
 * Writes these event selects, or zero if @events is NULL, and zeroes the counters. An NMI may start
 * the counters meanwhile, which does no harm.
 */
static notrace void give_events(const u32 *events)
{
	unsigned int i, nr = min_t(unsigned int, perfctr_pmu.nr_controls_reserved,
				   nr_reset_events);

	for (i = 0; i < nr; i++) {
		if (perfctr_pmu.control[i].unused)
			continue;
		write_anyway(perfctr_pmu.control[i].msr, events ? events[i] : 0);
		write_anyway(perfctr_pmu.ctr[i].msr, 0);
	}
}

static notrace void reset(void)
{
	lockdep_assert_irqs_disabled();
	write_anyway(perfctr_pmu.global_ctrl, 0);
	give_events(reset_events);
	write_anyway(perfctr_pmu.global_ctrl, global_bits(perfctr_pmu.general));
	write_anyway(perfctr_pmu.global_ctrl, 0);
	give_events(NULL);
}

noinline notrace void perfctr_x86_reset_before(struct perfctr_x86_cpu *cpu,
					       const struct perfctr_x86_entry *entry,
					       const struct perfctr_x86_entry *end)
{
	unsigned int i;

	for (; entry < end; entry++)
		if (entry->reg < perfctr_pmu.nr_controls_reserved &&
		    (cpu->control[entry->reg] & entry->mask) != entry->value)
			break;
	if (entry == end)
		return;
	reset();
	for (i = 0; i < perfctr_pmu.nr_controls_reserved; i++)
		cpu->control[i] = 0;
	write_anyway(perfctr_pmu.global_ctrl, global_bits(cpu->running));
}

void perfctr_x86_reset(void)
{
	if (static_branch_unlikely(&perfctr_x86_reset_key))
		reset();
}
