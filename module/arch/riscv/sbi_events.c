// SPDX-License-Identifier: GPL-2.0
/* Finds out which of the SBI's events exist. */

#include <linux/jiffies.h>
#include <linux/nospec.h>
#include <linux/perf_event.h>
#include <linux/percpu.h>
#include <asm/tlbflush.h>

#include "arch/riscv/registers.h"
#include "arch/riscv/sbi_events.h"

bool perfctr_riscv_event_is_defined(u64 event)
{
	unsigned int code = SBI_EVENT_CODE(event);

	switch (event >> 16) {
	case SBI_TYPE_HW:
		return code > SBI_PMU_HW_NO_EVENT && code < SBI_PMU_HW_GENERAL_MAX;
	case SBI_TYPE_CACHE:
		/*
		 * Bit 0 is the result, bits 2..1 are the operation, and the upper bits are the
		 * cache.
		 */
		return (code >> 1 & 3) < PERF_COUNT_HW_CACHE_OP_MAX &&
		       code >> 3 < PERF_COUNT_HW_CACHE_MAX;
	default:
		return event == SBI_EVENT_RAW;
	}
}

void perfctr_riscv_event_is_proven(u64 event)
{
	if (SBI_EVENT_TYPE(event) <= SBI_TYPE_CACHE)
		perfctr_pmu.events[array_index_nospec(SBI_EVENT_TYPE(event), 2)] |=
			BIT_ULL(SBI_EVENT_CODE(event) & 63);
}

/*
 * Returns 0 if two counters count that event together, 1 if only one of them does, and -1 if
 * neither does or the answer is not known.
 */
static int event_counts_once(struct perfctr_riscv_cpu *cpu, unsigned int type, unsigned int code)
{
	struct perfctr_riscv_prog prog = perfctr_riscv_event_prog(type, code);
	unsigned long rest = perfctr_pmu.programmable & ~cpu->owned;
	unsigned int hw, nr = 0, counting = 0;
	u32 taken = 0;

	for_each_set_bit(hw, &rest, PERFCTR_RISCV_MAX) {
		if (nr < 2 && !perfctr_riscv_match_one(cpu, hw, &prog, false)) {
			taken |= BIT(hw);
			nr++;
		}
	}
	if (nr == 2 && !perfctr_riscv_start(taken, SBI_PMU_START_FLAG_SET_INIT_VALUE, 0)) {
		/*
		 * The call executes instructions, and the flush causes TLB misses, so working
		 * counters count.
		 */
		local_flush_tlb_all();
		perfctr_riscv_stop(taken, 0);
		for_each_set_bit(hw, &rest, PERFCTR_RISCV_MAX)
			if (taken & BIT(hw) && perfctr_riscv_read(perfctr_riscv_stub(hw)))
				counting++;
	}
	perfctr_riscv_stop(taken, SBI_PMU_STOP_FLAG_RESET);
	return counting ? counting < 2 : -1;
}

/* Returns event_counts_once() of the first event for which the answer is known, or -1. */
static int events_count_once(struct perfctr_riscv_cpu *cpu)
{
	unsigned int type, code;
	int once = -1;

	if (!(perfctr_pmu.fixed_only & BIT(PERFCTR_RISCV_INSTRET)))
		once = event_counts_once(cpu, SBI_TYPE_HW, SBI_PMU_HW_INSTRUCTIONS);
	for (type = SBI_TYPE_HW; type <= SBI_TYPE_CACHE; type++) {
		unsigned long events = perfctr_riscv_events_of_no_fixed(type);

		for_each_set_bit(code, &events, BITS_PER_LONG)
			if (once < 0)
				once = event_counts_once(cpu, type, code);
	}
	return once;
}

/*
 * Finds out which events only cycle or instret counts. Call this while all programmable counters
 * are free or ours. With Smcntrpmf, this probe could take the filter from somebody's counter.
 */
static void find_fixed_only(struct perfctr_riscv_cpu *cpu)
{
	unsigned long fixed = perfctr_pmu.counters & FIXED_MASK;
	unsigned int hw;

	if (perfctr_pmu.filter_fixed)
		return;
	for_each_set_bit(hw, &fixed, PERFCTR_RISCV_HPM) {
		struct perfctr_riscv_prog prog =
			perfctr_riscv_event_prog(SBI_TYPE_HW, perfctr_riscv_fixed_event(hw));
		int got = perfctr_riscv_match(cpu, perfctr_pmu.programmable & ~cpu->owned, &prog);

		if (got >= 0) {
			perfctr_riscv_stop(BIT(got), SBI_PMU_STOP_FLAG_RESET);
			continue;
		}
		perfctr_pmu.fixed_only |= BIT(hw);
		/*
		 * Find out whether the firmware chooses this counter by itself. The counter has no
		 * filter that the call could destroy.
		 */
		perfctr_riscv_match(cpu, BIT(hw), &prog);
	}
}

/*
 * Tries the event on this CPU's counters that are not ours. Returns a mask with the counter that
 * took the event, or 0.
 */
static u32 probe_event(unsigned int type, unsigned int code)
{
	struct perfctr_riscv_prog prog = perfctr_riscv_event_prog(type, code);
	struct perfctr_riscv_cpu *cpu;
	unsigned long irqflags;
	u32 taken = 0;
	int hw;

	local_irq_save(irqflags);
	cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	hw = perfctr_riscv_match(cpu, perfctr_pmu.programmable & ~cpu->owned, &prog);
	if (hw >= 0) {
		taken = BIT(hw);
		perfctr_riscv_stop(taken, SBI_PMU_STOP_FLAG_RESET);
		perfctr_riscv_event_is_proven(prog.event);
	}
	local_irq_restore(irqflags);
	return taken;
}

/*
 * Finds out which standard events exist. Only a free counter can tell. While somebody else has some
 * of the counters, the probe is repeated. The intervals grow, because the probe may never succeed.
 * cycles and instructions need no probe, and asking for them may do harm: see
 * perfctr_riscv_match_one().
 */
void perfctr_riscv_probe_events(void)
{
	struct perfctr_riscv_cpu *cpu;
	unsigned long irqflags, rest;
	unsigned int code, hw;
	u32 seen = 0;

	if (perfctr_pmu.probed ||
	    (perfctr_pmu.probe_again && time_before(jiffies, perfctr_pmu.probe_again)))
		return;
	if (perfctr_pmu.counters & BIT(PERFCTR_RISCV_CYCLE))
		perfctr_riscv_event_is_proven(SBI_PMU_HW_CPU_CYCLES);
	if (perfctr_pmu.counters & BIT(PERFCTR_RISCV_INSTRET))
		perfctr_riscv_event_is_proven(SBI_PMU_HW_INSTRUCTIONS);
	if (!perfctr_pmu.programmable) {
		perfctr_pmu.probed = true;
		return;
	}
	for (code = 0; code < 64; code++) {
		if (perfctr_riscv_event_is_defined(SBI_TYPE_HW << 16 | code) &&
		    code > SBI_PMU_HW_INSTRUCTIONS)
			seen |= probe_event(SBI_TYPE_HW, code);
		if (perfctr_riscv_event_is_defined(SBI_TYPE_CACHE << 16 | code))
			seen |= probe_event(SBI_TYPE_CACHE, code);
	}

	local_irq_save(irqflags);
	cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	rest = perfctr_pmu.programmable & ~cpu->owned & ~seen;
	for_each_set_bit(hw, &rest, PERFCTR_RISCV_MAX)
		if (perfctr_riscv_is_free(cpu, hw))
			seen |= BIT(hw);
	/* The probe was complete if each counter is ours, or was free a moment ago. */
	perfctr_pmu.probed = !(perfctr_pmu.programmable & ~cpu->owned & ~seen);
	if (perfctr_pmu.probed && perfctr_pmu.filter)
		find_fixed_only(cpu);
	if (perfctr_pmu.event_once < 0 && hweight32(seen) > 1)
		perfctr_pmu.event_once = events_count_once(cpu);
	/*
	 * Probe again if too few counters were free to compare two. With a single counter there is
	 * nothing to compare.
	 */
	if (perfctr_pmu.event_once < 0 && hweight32(seen) < 2 &&
	    hweight32(perfctr_pmu.programmable) > 1)
		perfctr_pmu.probed = false;
	local_irq_restore(irqflags);
	perfctr_pmu.probe_again = (jiffies + (1UL * HZ << min(perfctr_pmu.probes, 10U))) | 1;
	perfctr_pmu.probes++;
}
