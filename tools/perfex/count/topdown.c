// SPDX-License-Identifier: GPL-2.0
/* Computes TopDown's shares of the slots. */
#include <string.h>

#include "count/topdown.h"

int metric_of(const struct event *event)
{
	unsigned int metric;

	for (metric = 0; metric < PERFCTR_METRICS; metric++)
		if (!(event->ctr.flags & PERFCTR_CTR_PERF) &&
		    event->ctr.event == PERFCTR_EVENT_METRIC(metric))
			return (int)metric;
	return -1;
}

unsigned int topdown_shares(const struct events *events, const __u64 *sum, const __u64 *before,
			    double ratio[PERFCTR_TOPDOWN_RATIOS])
{
	struct perfctr_ctr_control ctr[PERFCTR_MAX_CTRS];
	struct perfctr_topdown from, to;
	unsigned int i;

	memset(ratio, 0, PERFCTR_TOPDOWN_RATIOS * sizeof(*ratio));
	for (i = 0; i < events->n; i++)
		ctr[i] = events->event[i].ctr;
	if (perfctr_topdown_sums(ctr, events->n, sum, &to) < 0 ||
	    (before && perfctr_topdown_sums(ctr, events->n, before, &from) < 0))
		return 0;
	return perfctr_topdown_ratios(before ? &from : NULL, &to, ratio);
}
