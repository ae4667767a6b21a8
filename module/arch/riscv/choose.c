// SPDX-License-Identifier: GPL-2.0
/* RISC-V: checks controls, and says which counters a control can have. */

#include <linux/bitops.h>
#include <linux/nospec.h>
#include <asm/sbi.h>

#include "arch/riscv/choose.h"
#include "arch/riscv/registers.h"
#include "arch/riscv/sbi_events.h"

u32 perfctr_riscv_fixed_for(u64 event)
{
	u32 hw;

	if (event == SBI_PMU_HW_CPU_CYCLES)
		hw = PERFCTR_RISCV_CYCLE;
	else if (event == SBI_PMU_HW_INSTRUCTIONS)
		hw = PERFCTR_RISCV_INSTRET;
	else
		return PERFCTR_MAP_ANY;
	return perfctr_pmu.fixed_only & BIT(hw) || !perfctr_pmu.programmable ? hw :
									       PERFCTR_MAP_ANY;
}

static bool is_fixed(const struct perfctr_ctr_control *ctr)
{
	return ctr->map == PERFCTR_RISCV_CYCLE || ctr->map == PERFCTR_RISCV_INSTRET;
}

/* Returns true if an earlier programmable counter of the control counts the same event. */
static bool named_before(const struct perfctr_ctr_control *first,
			 const struct perfctr_ctr_control *ctr)
{
	const struct perfctr_ctr_control *other;

	for (other = first; other < ctr; other++)
		if (other->event == ctr->event && other->config == ctr->config &&
		    !is_fixed(other) && !is_fixed(ctr))
			return true;
	return false;
}

int perfctr_cpu_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
		      struct perfctr_refusal *why)
{
	const struct perfctr_ctr_control *first = ctr;
	unsigned int i, any = 0, most = hweight32(perfctr_pmu.programmable);
	u32 used = 0;

	perfctr_riscv_probe_events();
	for (i = 0; i < nr; i++, ctr++) {
		u32 map = ctr->map;
		bool filter = perfctr_pmu.filter;
		bool known = perfctr_riscv_event_is_known(ctr->event);

		why->index = i;
		if (map == PERFCTR_MAP_ANY)
			map = perfctr_riscv_fixed_for(ctr->event);
		if (!ctr->flags || ctr->flags & ~CTR_BOTH)
			return -EINVAL;
		if (ctr->event >> 16 == SBI_TYPE_FW)
			return -EOPNOTSUPP;
		if (!known && !perfctr_riscv_event_is_defined(ctr->event))
			return -EINVAL;
		if (ctr->event == SBI_EVENT_RAW ? ctr->config >> SBI_RAW_BITS : ctr->config)
			return -EINVAL;
		if (map != PERFCTR_MAP_ANY) {
			if (map >= PERFCTR_RISCV_MAX)
				return -EINVAL;
			map = array_index_nospec(map, PERFCTR_RISCV_MAX);
			if (!(perfctr_pmu.counters & BIT(map)) || used & BIT(map))
				return -EINVAL;
			used |= BIT(map);
			if (map == PERFCTR_RISCV_CYCLE || map == PERFCTR_RISCV_INSTRET) {
				if (ctr->event != perfctr_riscv_fixed_event(map))
					return -EINVAL;
				/*
				 * Fixed counters do not interrupt, even if programmable counters
				 * do.
				 */
				if (ctr->ireset && perfctr_pmu.interrupt)
					return ctr->map == PERFCTR_MAP_ANY ? -EOPNOTSUPP : -EINVAL;
				filter = perfctr_pmu.filter_fixed;
			}
		} else if (++any > most) {
			return -EINVAL;
		}
		if (ctr->ireset && !perfctr_pmu.interrupt)
			return -EOPNOTSUPP;
		/* While event_once is unknown (-1), refuse the event, too. */
		if (perfctr_pmu.event_once && named_before(first, ctr))
			return -EOPNOTSUPP;
		if (perfctr_pmu.probed && ctr->event != SBI_EVENT_RAW && !known)
			return -EINVAL;
		if (!filter && ctr->flags != CTR_BOTH)
			return -EOPNOTSUPP;
		if (ctr->flags & PERFCTR_CTR_KERNEL)
			*kernel = true;
	}
	/* If the processor has too few counters, no single counter is to blame. */
	why->index = PERFCTR_NO_INDEX;
	return any > hweight32(perfctr_pmu.programmable & ~used) ? -EINVAL : 0;
}
