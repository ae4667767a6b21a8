// SPDX-License-Identifier: GPL-2.0
/* What perf does with its counters, and with those that have no filter. */
#include <check.h>

#include "riscv/model_inside.h"

bool model_perf_take(unsigned int cpu, unsigned int hw, u32 event, u64 data, bool user_only)
{
	unsigned int before = shim_cpu;
	struct sbiret ret;
	bool good;

	shim_cpu = cpu;
	caller = MODEL_PERF;
	ret = cfg_match(index_of(hw), 1, user_only ? SBI_PMU_CFG_FLAG_SET_SINH : 0, event, data);
	good = !ret.error && (u64)ret.value == index_of(hw);
	if (good)
		start(index_of(hw), 1, SBI_PMU_START_FLAG_SET_INIT_VALUE, 0);
	shim_cpu = before;
	return good;
}

u32 model_perf_take_all(unsigned int cpu)
{
	u32 event = model.basic ? EV_CYCLES : EV_ITLB;
	unsigned int hw;
	u32 taken = 0;

	for (hw = MODEL_HPM; hw < MODEL_CTRS; hw++)
		if (model.programmable & BIT(hw) && model_perf_take(cpu, hw, event, 0, true))
			taken |= BIT(hw);
	return taken;
}

void model_perf_give(unsigned int cpu, u32 counters)
{
	unsigned int before = shim_cpu, hw;

	shim_cpu = cpu;
	caller = MODEL_PERF;
	for (hw = MODEL_HPM; hw < MODEL_CTRS; hw++)
		if (counters & BIT(hw))
			stop(index_of(hw), 1, SBI_PMU_STOP_FLAG_RESET);
	shim_cpu = before;
}

/* As in Linux: without any OF it does not start again what it has stopped. */
void model_perf_handles(unsigned int cpu, u64 value)
{
	unsigned int before = shim_cpu, hw;
	u32 of;

	shim_cpu = cpu;
	caller = MODEL_PERF;
	ck_assert(harts[cpu].pending);
	for (hw = MODEL_HPM; hw < MODEL_CTRS; hw++)
		if (harts[cpu].ctr[hw].owner == MODEL_PERF)
			stop(index_of(hw), 1, 0);
	of = harts[cpu].of;
	harts[cpu].pending = false;
	for (hw = MODEL_HPM; of && hw < MODEL_CTRS; hw++)
		if (harts[cpu].ctr[hw].owner == MODEL_PERF)
			start(index_of(hw), 1,
			      of & BIT(hw) ? SBI_PMU_START_FLAG_SET_INIT_VALUE : 0, value);
	shim_cpu = before;
}

/*
 * perf's driver, riscv_pmu_sbi: it asks the firmware for a counter. On a machine without
 * Sscofpmf cycles and instructions get the fixed counters, each for one event.
 */
u32 model_perf_pinned[SHIM_CPUS];
u32 model_perf_reserved[SHIM_CPUS];

u32 model_pmu_type(unsigned int cpu)
{
	(void)cpu;
	return PERF_TYPE_RAW;
}

/* Nor does it interrupt. */
bool model_pmu_no_exclude(void)
{
	return !model.sscofpmf && !model.thead && !model.andes;
}

int model_pmu_reserve(void)
{
	return 0;
}

void model_pmu_unreserve(void)
{
}

static int map_cache(u64 config, u32 *event)
{
	u32 cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= PERF_COUNT_HW_CACHE_MAX || op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;
	*event = 0x10000 | cache << 3 | op << 1 | result;
	return 0;
}

/* ENOENT: the firmware has said that no counter counts it. */
int model_pmu_map(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	u32 mapped = EV_RAW;
	u64 data = 0;

	if (attr->type == PERF_TYPE_HARDWARE) {
		if (attr->config >= PERF_COUNT_HW_MAX)
			return -EINVAL;
		mapped = (u32)attr->config + 1;
	} else if (attr->type == PERF_TYPE_HW_CACHE) {
		int err = map_cache(attr->config, &mapped);

		if (err)
			return err;
	} else {
		data = attr->config & GENMASK_ULL(47, 0);
	}
	/* So that they are beside each other in what the event remembers */
	event->hw.config = mapped;
	event->hw.extra_reg.config = data;
	return event_counters(mapped, data) || mapped == EV_CYCLES || mapped == EV_INSTRUCTIONS ?
	       0 : -ENOENT;
}

static bool add_fixed(struct perf_event *event, unsigned int hw)
{
	u32 others = model_perf_pinned[shim_cpu] | model_perf_reserved[shim_cpu];

	if (others & BIT(hw))
		return false;
	event->hw.idx = (int)hw;
	model_perf_reserved[shim_cpu] |= BIT(hw);
	/* perf counts from -(2^63 - 1); a counter that runs already keeps its value. */
	if (harts[shim_cpu].ctr[hw].inhibited)
		harts[shim_cpu].value[hw] = BIT(63) + 1;
	harts[shim_cpu].ctr[hw].inhibited = false;
	return true;
}

int model_pmu_add(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	u64 flags = (attr->exclude_user ? SBI_PMU_CFG_FLAG_SET_UINH : 0) |
		    (attr->exclude_kernel ? SBI_PMU_CFG_FLAG_SET_SINH : 0);
	struct sbiret ret;
	unsigned int hw;

	caller = MODEL_PERF;
	ret = cfg_match(0, BIT(nr_hw_ctrs()) - 1, flags, event->hw.config,
			event->hw.extra_reg.config);
	if (ret.error)
		return -EAGAIN;
	hw = hw_of((unsigned long)ret.value);
	if (hw < MODEL_HPM)
		return add_fixed(event, hw) ? 1 : -EAGAIN;
	event->hw.idx = (int)hw;
	start((unsigned long)ret.value, 1, 0, 0);
	return 0;
}

void model_pmu_del(struct perf_event *event, bool ends)
{
	unsigned int hw = (unsigned int)event->hw.idx;

	caller = MODEL_PERF;
	event->hw.idx = -1;
	if (hw >= MODEL_HPM) {
		stop(index_of(hw), 1, SBI_PMU_STOP_FLAG_RESET);
		return;
	}
	model_perf_reserved[shim_cpu] &= ~BIT(hw);
	/* It starts from its present value, if perf thinks that possible. */
	if (!ends && !(harts[shim_cpu].value[hw] & BIT(63)))
		harts[shim_cpu].value[hw] += BIT(63) + 1;
	if (ends)
		harts[shim_cpu].ctr[hw].inhibited = true;
}

u64 model_pmu_value(const struct perf_event *event)
{
	return harts[event->cpu].value[event->hw.idx];
}

void model_pmu_set(struct perf_event *event, u64 value)
{
	harts[event->cpu].value[event->hw.idx] = value;
}

u64 model_pmu_mask(const struct perf_event *event)
{
	return ctr_limit(event->hw.idx < 0 ? MODEL_HPM : (unsigned int)event->hw.idx);
}
