// SPDX-License-Identifier: GPL-2.0
/* Chooses the counters of a control, and makes the values of their registers. */

#include <linux/errno.h>
#include <linux/nospec.h>

#include "arch/x86/choose.h"
#include "arch/x86/extra.h"
#include "arch/x86/place.h"
#include "arch/x86/processor.h"
#include "arch/x86/registers.h"
#include "arch/x86/topdown.h"

#define CTR_BOTH	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

int perfctr_x86_can_count(const struct perfctr_ctr_control *ctr, u32 *can,
			  struct perfctr_refusal *why)
{
	u32 asked = perfctr_pmu.counters, counters = 0;
	int err;

	*can = 0;
	/* perfctr_x86_metrics_check() checks metrics. */
	if (perfctr_x86_is_metric(ctr, NULL))
		return 0;
	if (ctr->map != PERFCTR_MAP_ANY) {
		if (ctr->map >= PERFCTR_X86_MAX)
			return -EINVAL;
		asked &= BIT(array_index_nospec(ctr->map, PERFCTR_X86_MAX));
		if (!asked)
			return -EINVAL;
	}
	err = perfctr_pmu.family->check(ctr, &counters, why);
	*can = counters & asked;
	if (err || *can)
		return err;
	why->reason = PERFCTR_REASON_COUNTER;
	why->possible = counters;
	return -EINVAL;
}

int perfctr_x86_choose(const struct perfctr_ctr_control *ctr, const u32 *can, unsigned int nr,
		       u8 *hw, struct perfctr_refusal *why)
{
	unsigned int i, metric;
	u32 counters = 0;

	for (i = 0; i < nr; i++)
		if (perfctr_x86_is_metric(&ctr[i], &metric))
			hw[i] = PERFCTR_X86_METRIC + metric;
	why->index = perfctr_pmu.family && perfctr_pmu.family->place ?
		     perfctr_pmu.family->place(ctr, can, nr, hw) : perfctr_x86_place(can, nr, hw);
	if (why->index == nr) {
		why->index = PERFCTR_NO_INDEX;
		return 0;
	}
	perfctr_pmu.family->check(&ctr[why->index], &counters, why);
	why->reason = PERFCTR_REASON_COUNTER;
	why->possible = counters;
	return -EINVAL;
}

int perfctr_cpu_check(const struct perfctr_ctr_control *first, unsigned int nr, bool *kernel,
		      struct perfctr_refusal *why)
{
	const struct perfctr_ctr_control *ctr = first;
	u64 extras[PERFCTR_X86_EXTRAS] = {};
	u32 can[PERFCTR_X86_MAX];
	u8 hw[PERFCTR_X86_MAX];
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++, ctr++) {
		why->index = i;
		/*
		 * Only a counter for sessions may have no flags. The modes of such a counter are in
		 * ctr->config.
		 */
		if ((!ctr->flags && !perfctr_cpu_for_sessions(ctr)) || ctr->flags & ~CTR_BOTH)
			return -EINVAL;
		if (!perfctr_pmu.counters) {
			if (perfctr_pmu.none == PERFCTR_NO_COUNTERS_TRIAL)
				why->reason = PERFCTR_REASON_TRIAL;
			return -EINVAL;
		}
		err = perfctr_x86_can_count(ctr, &can[i], why);
		if (err)
			return err;
		err = perfctr_x86_extra_check(ctr, extras);
		if (err)
			return err;
		if (ctr->ireset && -(u64)ctr->ireset < perfctr_pmu.least_period)
			return -EINVAL;
		if (ctr->ireset && !perfctr_pmu.interrupts)
			return -EOPNOTSUPP;
		if (ctr->flags & PERFCTR_CTR_KERNEL)
			*kernel = true;
	}
	err = perfctr_x86_metrics_check(first, nr, why);
	return err ?: perfctr_x86_choose(first, can, nr, hw, why);
}

void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw)
{
	if (hw >= PERFCTR_X86_METRIC)
		return;
	ctr->map = hw;
	perfctr_pmu.family->name(ctr, hw);
}

size_t perfctr_cpu_image_size(u32 nr)
{
	struct perfctr_cpu_image *image;

	return struct_size(image, entry, nr * PERFCTR_X86_ENTRIES);
}

void perfctr_x86_compile(struct perfctr_config *config)
{
	struct perfctr_cpu_image *image = config->image;
	u32 i, nr_actrs = perfctr_config_nr_actrs(config);

	for (i = 0; i < nr_actrs; i++)
		if (config->hw[i] < PERFCTR_X86_METRIC)
			perfctr_pmu.family->compile(&config->ctr[i], config->hw[i], image);
	image->counters = config->mask & ~config->imask;
	if (!perfctr_pmu.global_ctrl)
		image->at_load = image->nr;
	for (; i < config->nr; i++)
		perfctr_pmu.family->compile(&config->ctr[i], config->hw[i], image);
	if (perfctr_pmu.global_ctrl) {
		image->counters = config->mask;
		image->at_load = image->nr;
	}
}

/* Returns the bit of the counter, or 0 for a metric. */
static u32 chosen_bit(const struct perfctr_config *config, u32 i)
{
	return config->hw[i] < PERFCTR_X86_METRIC ? BIT(config->hw[i]) : 0;
}

u32 perfctr_x86_chosen(const struct perfctr_config *config)
{
	u32 i, counters = 0;

	for (i = 0; i < config->nr; i++)
		counters |= chosen_bit(config, i);
	return counters;
}

u32 perfctr_x86_index_of(const struct perfctr_config *config, u32 counters)
{
	u32 i;

	for (i = 0; i < config->nr; i++)
		if (chosen_bit(config, i) & counters)
			return i;
	return PERFCTR_NO_INDEX;
}
