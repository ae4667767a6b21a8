// SPDX-License-Identifier: GPL-2.0
/*
 * RISC-V: counters through perf. perf's driver programs them through the SBI, as registers.c does.
 */

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/of.h>
#include <linux/perf_event.h>

#include "arch/perf.h"
#include "arch/riscv/registers.h"
#include "arch/riscv/sbi_events.h"

/*
 * perf's numbers of generic events begin with 0, and SBI's with 1 (drivers/perf/riscv_pmu_sbi.c).
 */
#define HW_NONE		0
#define HW_MAX		(PERF_COUNT_HW_MAX + 1)

u64 perfctr_riscv_unfiltered;

/* Returns true if the name is in the ISA string, after an underscore. */
static bool __init is_in_isa(const char *isa, const char *name)
{
	const char *found = strstr(isa, name);

	return found && found != isa && found[-1] == '_';
}

/* Linux 6.12 does not know the name of Smcntrpmf, so we look for it in the device tree. */
bool __init perfctr_riscv_cpus_have(const char *name)
{
	unsigned int cpu;
	bool have = true;

	for_each_possible_cpu(cpu) {
		struct device_node *node = of_get_cpu_node(cpu, NULL);
		const char *isa;

		if (!node)
			return false;
		if (of_property_match_string(node, "riscv,isa-extensions", name) < 0 &&
		    (of_property_read_string(node, "riscv,isa", &isa) || !is_in_isa(isa, name)))
			have = false;
		of_node_put(node);
	}
	return have;
}

/*
 * Finds the counters that have no filter. perf assumes that counters that interrupt also filter.
 * T-Head's counters interrupt without Sscofpmf. But without Sscofpmf, OpenSBI filters only the
 * counters of Andes, by Andes' own extension. Firmware counters have no modes.
 */
void __init perfctr_riscv_shared_init(void)
{
	bool andes = perfctr_riscv_cpus_have("xandespmu");
	unsigned long filtered = 0;
	unsigned int hw;

	if (perfctr_pmu.filter || andes)
		filtered |= perfctr_pmu.programmable;
	if (perfctr_pmu.filter_fixed || andes)
		filtered |= perfctr_pmu.counters & FIXED_MASK;
	perfctr_riscv_unfiltered = ~0ULL;
	for_each_set_bit(hw, &filtered, PERFCTR_RISCV_MAX)
		perfctr_riscv_unfiltered &= ~BIT_ULL(perfctr_pmu.index[hw]);
}

/*
 * Refuses an event whose counter does not filter, if no counter filters at all, or if perf can
 * count the event on no other counter.
 */
int perfctr_cpu_shared_judge(const struct perf_event *event, u32 *reason)
{
	unsigned long fixed = perfctr_pmu.fixed_only;
	unsigned int hw;

	if (perfctr_cpu_shared_filters(event))
		return 0;
	if (perfctr_riscv_unfiltered == ~0ULL)
		return -EOPNOTSUPP;
	for_each_set_bit(hw, &fixed, PERFCTR_RISCV_HPM)
		if (perfctr_pmu.index[hw] == event->hw.idx)
			return -EOPNOTSUPP;
	return 0;
}

bool perfctr_cpu_counts_once(void)
{
	perfctr_riscv_probe_events();
	return perfctr_pmu.event_once;
}

/*
 * A cache event's code has the cache in bits 15..3, the operation in bits 2..1, and the result in
 * bit 0.
 */
static int cache_config(u32 code, u64 *config)
{
	u32 cache = code >> 3, operation = code >> 1 & 3, result = code & 1;

	/* perf's number has 8 bits for each field. */
	if (cache >= PERF_COUNT_HW_CACHE_MAX || operation >= PERF_COUNT_HW_CACHE_OP_MAX)
		return -EINVAL;
	*config = cache | operation << 8 | result << 16;
	return 0;
}

int perfctr_cpu_shared_attr(const struct perfctr_ctr_control *ctr,
			    struct perfctr_shared_attr *attr)
{
	u32 code = SBI_EVENT_CODE(ctr->event);

	if (ctr->event == SBI_EVENT_RAW) {
		if (ctr->config >> SBI_RAW_BITS)
			return -EINVAL;
		attr->type = PERF_TYPE_RAW;
		attr->config = ctr->config;
		return 0;
	}
	if (ctr->config)
		return -EINVAL;
	switch (SBI_EVENT_TYPE(ctr->event)) {
	case SBI_TYPE_HW:
		if (code == HW_NONE || code >= HW_MAX)
			return -EINVAL;
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = code - 1;
		return 0;
	case SBI_TYPE_CACHE:
		attr->type = PERF_TYPE_HW_CACHE;
		return cache_config(code, &attr->config);
	}
	return -EINVAL;
}

bool perfctr_cpu_shared_is_general(const struct perf_event *event)
{
	/* The index is the firmware's number. */
	return event->hw.idx >= PERFCTR_RISCV_HPM;
}

unsigned int perfctr_cpu_shared_generals(void)
{
	return hweight32(perfctr_pmu.programmable);
}
