// SPDX-License-Identifier: GPL-2.0
/*
 * The PMU that perf has of a 745x: Linux's core-book3s.c and mpc7450-pmu.c. It takes all counters
 * or none. A raw event is a select, and above it the number of its counter, or 0. All events of a
 * CPU count the same modes, since freeze bits are about all counters: one that wants another
 * does not get a counter (check_excludes()).
 */
#include <check.h>

#include "ppc32/model_spr.h"

#define RAW_PMC(config)		((config) >> 8 & 7)
#define RAW_SELECT(config)	((config) & 0x7f)
#define RAW_THRESHOLD(config)	((config) >> 12 & 0x3f)
#define RAW_THRESHMULT		0x40000ull

static struct {
	u32 used;
	u32 freezes;	/* FCS and FCP of all that are used */
} pmu[SHIM_CPUS];

static unsigned int events;

u32 model_pmu_type(unsigned int cpu)
{
	(void)cpu;
	return PERF_TYPE_RAW;
}

bool model_pmu_no_exclude(void)
{
	return false;
}

int model_pmu_reserve(void)
{
	/* For any CPU: it takes the machine's. */
	if (!events && !model_perf_take_all(0))
		return -EBUSY;
	events++;
	return 0;
}

void model_pmu_unreserve(void)
{
	if (!--events)
		model_perf_give(0, 0);
}

static const u64 hardware_events[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES] = EV_CYCLES,
	[PERF_COUNT_HW_INSTRUCTIONS] = EV_INSTRUCTIONS,
};

static int map_cache(u64 config, u64 *event)
{
	u32 cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= PERF_COUNT_HW_CACHE_MAX || op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;
	if (result != PERF_COUNT_HW_CACHE_RESULT_MISS)
		return -ENOENT;
	if (cache == PERF_COUNT_HW_CACHE_ITLB && op == PERF_COUNT_HW_CACHE_OP_READ)
		*event = EV_ITLB;
	else if (cache == PERF_COUNT_HW_CACHE_DTLB && op == PERF_COUNT_HW_CACHE_OP_READ)
		*event = EV_DTLB_READ;
	else if (cache == PERF_COUNT_HW_CACHE_DTLB && op == PERF_COUNT_HW_CACHE_OP_WRITE)
		*event = EV_DTLB_WRITE;
	else
		return -ENOENT;
	return 0;
}

/* The counters that may have it; 0: there is no such event. */
static u32 counters_of(u64 config)
{
	if (RAW_PMC(config))
		return RAW_PMC(config) <= MODEL_PMCS ? (u32)BIT(RAW_PMC(config) - 1) : 0;
	if (RAW_SELECT(config) <= 1)
		return 0x3f;
	if (RAW_SELECT(config) <= 7)
		return 0x0f;
	if (RAW_SELECT(config) <= 13)
		return 0x0b;
	return RAW_SELECT(config) <= 22 ? 0x03 : 0;
}

int model_pmu_map(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	u64 mapped = attr->config;
	int err = 0;

	if (attr->type == PERF_TYPE_HARDWARE) {
		if (attr->config >= PERF_COUNT_HW_MAX)
			return -EINVAL;
		mapped = hardware_events[attr->config];
		err = mapped ? 0 : -ENOENT;
	} else if (attr->type == PERF_TYPE_HW_CACHE) {
		err = map_cache(attr->config, &mapped);
	}
	if (err)
		return err;
	event->hw.config = mapped;
	return counters_of(mapped) ? 0 : -EINVAL;
}

static u32 select_bits(unsigned int hw, u64 select)
{
	static const unsigned int shift[MODEL_PMCS] = { 6, 0, 27, 22, 17, 11 };
	static const u32 mask[MODEL_PMCS] = { 0x7f, 0x3f, 0x1f, 0x1f, 0x1f, 0x3f };

	return ((u32)select & mask[hw]) << shift[hw];
}

/* The registers, after an event came or went */
static void program(unsigned int hw, u64 select)
{
	unsigned int spr = hw < 2 ? SPR_MMCR0 : SPR_MMCR1;
	u32 others = model_spr(shim_cpu, spr) & ~select_bits(hw, ~0ull);
	u32 freezes = pmu[shim_cpu].used ? pmu[shim_cpu].freezes : FC;

	model_set_spr(shim_cpu, spr, others | select_bits(hw, select));
	others = model_mmcr0(shim_cpu) & ~(FC | FCS | FCP);
	model_set_spr(shim_cpu, SPR_MMCR0, others | freezes);
}

int model_pmu_add(struct perf_event *event)
{
	u32 freezes = (event->attr.exclude_kernel ? FCS : 0) | (event->attr.exclude_user ? FCP : 0);
	u32 can = counters_of(event->hw.config) & ~pmu[shim_cpu].used;
	unsigned int hw;

	if (pmu[shim_cpu].used && pmu[shim_cpu].freezes != freezes)
		return -EAGAIN;
	if (!can)
		return -EAGAIN;
	hw = 31 - (unsigned int)__builtin_clz(can);
	pmu[shim_cpu].used |= (u32)BIT(hw);
	pmu[shim_cpu].freezes = freezes;
	/* From 1, as Linux numbers them */
	event->hw.idx = (int)hw + 1;
	model_set_pmc(shim_cpu, hw, 0);
	program(hw, RAW_SELECT(event->hw.config));
	return 0;
}

void model_pmu_del(struct perf_event *event, bool ends)
{
	unsigned int hw = (unsigned int)event->hw.idx - 1;

	(void)ends;
	event->hw.idx = -1;
	pmu[shim_cpu].used &= ~(u32)BIT(hw);
	program(hw, 0);
}

u64 model_pmu_value(const struct perf_event *event)
{
	return model_pmc(event->cpu, (unsigned int)event->hw.idx - 1);
}

void model_pmu_set(struct perf_event *event, u64 value)
{
	model_set_pmc(event->cpu, (unsigned int)event->hw.idx - 1, (u32)value);
}

u64 model_pmu_mask(const struct perf_event *event)
{
	(void)event;
	return 0xffffffff;
}
