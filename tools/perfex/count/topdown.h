/* SPDX-License-Identifier: GPL-2.0 */
/* TopDown: what the slots of the pipeline were used for. */
#ifndef PERFEX_TOPDOWN_H
#define PERFEX_TOPDOWN_H

#include "count/events.h"

/* PERFCTR_METRIC_* of @event, or -1 */
int metric_of(const struct event *event);
/*
 * Shares of the slots that were counted since @before (NULL: since the beginning), and their number
 * as perfctr_topdown_ratios() returns it; 0: slots and metrics are not among the events.
 */
unsigned int topdown_shares(const struct events *events, const __u64 *sum, const __u64 *before,
			    double ratio[PERFCTR_TOPDOWN_RATIOS]);

#endif /* PERFEX_TOPDOWN_H */
