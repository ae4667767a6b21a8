// SPDX-License-Identifier: LGPL-2.1-or-later
/* Computes from TopDown's metrics what the slots of the pipeline were used for. */
#include <errno.h>
#include <string.h>

#include "internal.h"

#define LEVEL_1	4u	/* number of metrics of level 1; level 2 has the same number */

static const char *const names[PERFCTR_TOPDOWN_RATIOS] = {
	[PERFCTR_METRIC_RETIRING] = "retiring",
	[PERFCTR_METRIC_BAD_SPEC] = "bad speculation",
	[PERFCTR_METRIC_FE_BOUND] = "frontend bound",
	[PERFCTR_METRIC_BE_BOUND] = "backend bound",
	[PERFCTR_METRIC_HEAVY_OPS] = "heavy operations",
	[PERFCTR_METRIC_BR_MISPREDICT] = "branch mispredicts",
	[PERFCTR_METRIC_FETCH_LAT] = "fetch latency",
	[PERFCTR_METRIC_MEM_BOUND] = "memory bound",
	[PERFCTR_TOPDOWN_LIGHT_OPS] = "light operations",
	[PERFCTR_TOPDOWN_MACHINE_CLEARS] = "machine clears",
	[PERFCTR_TOPDOWN_FETCH_BW] = "fetch bandwidth",
	[PERFCTR_TOPDOWN_CORE_BOUND] = "core bound",
};

const char *perfctr_topdown_name(unsigned int i)
{
	return i < ARRAY_SIZE(names) ? names[i] : "unknown";
}

static int metric_of(const struct perfctr_ctr_control *ctr)
{
	unsigned int event = (unsigned int)ctr->event & 0xffffu;
	unsigned int metric = (event - PERFCTR_EVENT_METRIC(0)) >> 8;

	return !(ctr->flags & PERFCTR_CTR_PERF) && !(event & 0xffu) && metric < PERFCTR_METRICS ?
	       (int)metric : -1;
}

int perfctr_topdown_sums(const struct perfctr_ctr_control *ctr, unsigned int n, const __u64 *sum,
			 struct perfctr_topdown *topdown)
{
	unsigned int i;
	int metric, slots = 0;

	memset(topdown, 0, sizeof(*topdown));
	for (i = 0; i < n; i++) {
		metric = metric_of(&ctr[i]);
		if (metric >= 0) {
			topdown->metrics |= 1u << metric;
			topdown->metric[metric] = sum[i];
		} else if ((ctr[i].event & 0xffffu) == PERFCTR_EVENT_SLOTS &&
			   !(ctr[i].flags & PERFCTR_CTR_PERF)) {
			topdown->slots = sum[i];
			slots = 1;
		}
	}
	if (slots && topdown->metrics)
		return 0;
	errno = EINVAL;
	return -1;
}

/*
 * Returns part / slots, from 0 to 1. A metric has only 8 bits, so over a short time the rounded
 * part may be below 0, or above slots.
 */
static double share(double part, double slots)
{
	if (part <= 0)
		return 0;
	return part >= slots ? 1 : part / slots;
}

static double metric_share(const struct perfctr_topdown *from, const struct perfctr_topdown *to,
			   unsigned int metric)
{
	unsigned long long slots = to->slots - (from ? from->slots : 0);

	return share((double)(long long)(to->metric[metric] - (from ? from->metric[metric] : 0)),
		     (double)slots);
}

unsigned int perfctr_topdown_ratios(const struct perfctr_topdown *from,
				    const struct perfctr_topdown *to, double *ratio)
{
	unsigned int i, known = to->metrics & (from ? from->metrics : ~0u);

	memset(ratio, 0, PERFCTR_TOPDOWN_RATIOS * sizeof(*ratio));
	if (to->slots == (from ? from->slots : 0))
		return 0;
	known &= (1u << PERFCTR_METRICS) - 1;
	for (i = 0; i < PERFCTR_METRICS; i++)
		if (known >> i & 1)
			ratio[i] = metric_share(from, to, i);
	/*
	 * A metric of level 2 is a part of a metric of level 1. The rest is the share of the metric
	 * of level 1 minus the share of the part.
	 */
	for (i = 0; i < LEVEL_1; i++) {
		if (!(known >> i & known >> (LEVEL_1 + i) & 1))
			continue;
		known |= 1u << (PERFCTR_METRICS + i);
		ratio[PERFCTR_METRICS + i] = share(ratio[i] - ratio[LEVEL_1 + i], 1);
	}
	return known;
}

/* Learns from the page which counter is which metric, or, without a page, from the control. */
int vperfctr_ask_topdown(const struct vperfctr *v, struct perfctr_topdown *topdown)
{
	struct perfctr_ctr_control ctr[PERFCTR_MAX_CTRS] = { { .map = 0 } };
	const struct perfctr_page *page = v->page;
	struct perfctr_control control;
	struct perfctr_words words;
	unsigned int i;
	int n = perfctr_read_words(v->fd, &words, sizeof(words));

	if (n < 0)
		return -1;
	if (!v->map || page->nrctrs != (unsigned int)n) {
		if (_vperfctr_read_control_native(v->fd, &control) < 0)
			return -1;
		return perfctr_topdown_sums(control.ctr, (unsigned int)n, words.sum, topdown);
	}
	for (i = 0; i < (unsigned int)n; i++)
		if (page->metric[i])
			ctr[i].event = PERFCTR_EVENT_METRIC(page->metric[i] - 1u);
	ctr[page->slots].event = PERFCTR_EVENT_SLOTS;
	return perfctr_topdown_sums(ctr, (unsigned int)n, words.sum, topdown);
}

int vperfctr_read_topdown(const struct vperfctr *v, struct perfctr_topdown *topdown)
{
#ifdef PERFCTR_READS_METRICS
	if (perfctr_page_read_topdown(v->page, topdown))
		return 0;
#endif
	return vperfctr_ask_topdown(v, topdown);
}
