// SPDX-License-Identifier: GPL-2.0
/*
 * The PMU that perf has of an x86 processor: it takes all counters or none, programs the
 * registers of model_msr.c, and gives an event the fixed counter that is its own before any
 * other. Each time it starts with another of the general-purpose ones.
 */
#include <check.h>

#include "x86/model_msr.h"

#define CONFIG_BITS	(0xffffull | SEL_EDGE | SEL_INV | SEL_ANY | SEL_CMASK(0xff))
#define FIXED_IDX	32		/* hw.idx of the first one */
#define REF_CYCLES	0x300u		/* perf's number for what fixed counter 2 counts */
#define RDPMC_DISABLE	BIT_ULL(37)

static struct {
	u32 gp;
	u32 fixed;
	u64 global_ctrl;	/* before perf used it */
	unsigned int turn;
} used[SHIM_CPUS];

u32 model_perf_hides;

/* What fixed counters count */
static const u64 fixed_events[] = { EV_INSTRUCTIONS, EV_CYCLES, REF_CYCLES };

static const u64 hardware_events[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES] = EV_CYCLES,
	[PERF_COUNT_HW_INSTRUCTIONS] = EV_INSTRUCTIONS,
	[PERF_COUNT_HW_CACHE_REFERENCES] = EV_LLC_REFERENCES,
	[PERF_COUNT_HW_CACHE_MISSES] = EV_LLC_MISSES,
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = EV_BRANCHES,
	[PERF_COUNT_HW_BRANCH_MISSES] = EV_MISPREDICTIONS,
	[PERF_COUNT_HW_BUS_CYCLES] = EV_REFERENCE_CYCLES,
	[PERF_COUNT_HW_REF_CPU_CYCLES] = REF_CYCLES,
};

/* The rest is not there. */
static const struct {
	u64 config;
	u64 event;
} cache_events[] = {
	{ PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_RESULT_MISS << 16, EV_DTLB_READ },
	{ PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_WRITE << 8 |
	  PERF_COUNT_HW_CACHE_RESULT_MISS << 16, EV_DTLB_WRITE },
	{ PERF_COUNT_HW_CACHE_ITLB | PERF_COUNT_HW_CACHE_RESULT_MISS << 16, EV_ITLB },
};

static const struct {
	u32 event;
	u32 msr;
} extra_regs[MODEL_EXTRAS] = {
	{ EV_OFFCORE_0, MSR_OFFCORE_RSP_0 }, { EV_OFFCORE_1, MSR_OFFCORE_RSP_1 },
	{ EV_FRONTEND, MSR_PEBS_FRONTEND },
};

static const struct model_machine *machine_of(unsigned int cpu)
{
	return model.other_cpus & BIT(cpu) ? model.other : &model;
}

u32 model_pmu_type(unsigned int cpu)
{
	return model.other_cpus & BIT(cpu) ? MODEL_OTHER_TYPE : PERF_TYPE_RAW;
}

bool model_pmu_no_exclude(void)
{
	return false;
}

int model_pmu_reserve(void)
{
	return model_perf_reserve() ? 0 : -EBUSY;
}

void model_pmu_unreserve(void)
{
	model_perf_unreserve();
}

static int map_cache(u64 config, u64 *event)
{
	unsigned int i;

	if ((config & 0xff) >= PERF_COUNT_HW_CACHE_MAX ||
	    (config >> 8 & 0xff) >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    (config >> 16 & 0xff) >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(cache_events); i++) {
		if (cache_events[i].config == config) {
			*event = cache_events[i].event;
			return 0;
		}
	}
	return -ENOENT;
}

static int map_extra(struct perf_event *event)
{
	unsigned int i;

	for (i = 0; i < MODEL_EXTRAS; i++) {
		if (!model.extras[i] || extra_regs[i].event != (event->hw.config & 0xffff))
			continue;
		if (event->attr.config1 & ~model.extras[i])
			return -EINVAL;
		event->hw.extra_reg.reg = extra_regs[i].msr;
		event->hw.extra_reg.config = event->attr.config1;
	}
	return 0;
}

int model_pmu_map(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	u64 mapped = attr->config & CONFIG_BITS;
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
	event->hw.config = mapped | (attr->exclude_user ? 0 : SEL_USR) |
			   (attr->exclude_kernel ? 0 : SEL_OS) | SEL_EN |
			   (model_perf_hides & BIT(shim_cpu) ? RDPMC_DISABLE : 0);
	return map_extra(event);
}

static u64 mode_bits(const struct perf_event *event)
{
	return (event->hw.config & SEL_USR ? 2 : 0) | (event->hw.config & SEL_OS ? 1 : 0);
}

static void set_bits(u32 msr, u64 clear, u64 set)
{
	model_set_msr(shim_cpu, msr, (model_msr(shim_cpu, msr) & ~clear) | set);
}

/* Sets the bit in GLOBAL_CTRL, or the register as it was if perf has no counter any more. */
static void enable(unsigned int bit, bool on)
{
	bool last = !on && !used[shim_cpu].gp && !used[shim_cpu].fixed;

	if (model.version < 2)
		return;
	if (last)
		set_bits(model_global_ctrl(), ~0ull, used[shim_cpu].global_ctrl);
	else
		set_bits(model_global_ctrl(), BIT(bit), on ? BIT(bit) : 0);
}

static bool add_fixed(struct perf_event *event)
{
	const struct model_machine *machine = machine_of(shim_cpu);
	u64 code = event->hw.config & CONFIG_BITS;
	unsigned int i;

	for (i = 0; machine->version >= 2 && i < min(machine->nr_fixed, 3u); i++) {
		if (fixed_events[i] != code || used[shim_cpu].fixed & BIT(i))
			continue;
		used[shim_cpu].fixed |= (u32)BIT(i);
		event->hw.idx = (int)(FIXED_IDX + i);
		event->hw.event_base_rdpmc = (int)(BIT(30) | i);
		set_bits(MSR_CORE_PERF_FIXED_CTR_CTRL, 0xfull << 4 * i, mode_bits(event) << 4 * i);
		enable(32 + i, true);
		return true;
	}
	return false;
}

static bool add_gp(struct perf_event *event)
{
	unsigned int nr = min(machine_of(shim_cpu)->nr, (unsigned int)MODEL_GP), i, k;

	if (model_perf_has_all(shim_cpu) || (event->hw.config & CONFIG_BITS) == REF_CYCLES)
		return false;
	for (k = 0; k < nr; k++) {
		i = (k + used[shim_cpu].turn) % nr;
		if (used[shim_cpu].gp & BIT(i))
			continue;
		used[shim_cpu].turn++;
		used[shim_cpu].gp |= (u32)BIT(i);
		event->hw.idx = (int)i;
		event->hw.event_base_rdpmc = (int)i;
		model_set_msr(shim_cpu, model_evntsel(i),
			      (event->hw.config & ~RDPMC_DISABLE));
		enable(i, true);
		return true;
	}
	return false;
}

int model_pmu_add(struct perf_event *event)
{
	u32 extra = event->hw.extra_reg.reg;

	/* One value of such a register at a time; 0 is also that of nobody. */
	if (extra && model_msr(shim_cpu, extra) &&
	    model_msr(shim_cpu, extra) != event->hw.extra_reg.config)
		return -EAGAIN;
	if (!used[shim_cpu].gp && !used[shim_cpu].fixed && model.version >= 2)
		used[shim_cpu].global_ctrl = model_msr(shim_cpu, model_global_ctrl());
	if (!add_fixed(event) && !add_gp(event))
		return -EAGAIN;
	if (extra)
		model_set_msr(shim_cpu, extra, event->hw.extra_reg.config);
	return 0;
}

void model_pmu_del(struct perf_event *event, bool ends)
{
	unsigned int i = (unsigned int)event->hw.idx;

	if (i >= FIXED_IDX) {
		used[shim_cpu].fixed &= ~(u32)BIT(i - FIXED_IDX);
		set_bits(MSR_CORE_PERF_FIXED_CTR_CTRL, 0xfull << 4 * (i - FIXED_IDX), 0);
	} else {
		used[shim_cpu].gp &= ~(u32)BIT(i);
		model_set_msr(shim_cpu, model_evntsel(i), 0);
		if (ends)
			model_perf_dirty[shim_cpu] |= (u32)BIT(i);
	}
	enable(i, false);
	if (event->hw.extra_reg.reg)
		model_set_msr(shim_cpu, event->hw.extra_reg.reg, 0);
	event->hw.idx = -1;
	event->hw.event_base_rdpmc = -1;
}

static unsigned int hw_of(const struct perf_event *event)
{
	unsigned int i = (unsigned int)event->hw.idx;

	return i >= FIXED_IDX ? FIXED(i - FIXED_IDX) : i;
}

u64 model_pmu_value(const struct perf_event *event)
{
	return model_value(event->cpu, hw_of(event));
}

void model_pmu_set(struct perf_event *event, u64 value)
{
	model_set_value(event->cpu, hw_of(event), value);
}

/* perf has one width for all. */
u64 model_pmu_mask(const struct perf_event *event)
{
	(void)event;
	return ~0ull >> (64 - model.width);
}
