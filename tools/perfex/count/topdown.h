/* SPDX-License-Identifier: GPL-2.0 */
/* Computes TopDown's shares: what the slots of the pipeline were used for. */
#ifndef PERFEX_TOPDOWN_H
#define PERFEX_TOPDOWN_H

#include "count/events.h"

/* Returns the PERFCTR_METRIC_* of @event, or -1 if @event is no metric. */
int metric_of(const struct event *event);
/*
 * Computes the shares of the slots that were counted since @before, or since the beginning if
 * @before is NULL. Returns what perfctr_topdown_ratios() returns, or 0 if slots and metrics are not
 * among the events.
 */
unsigned int topdown_shares(const struct events *events, const __u64 *sum, const __u64 *before,
			    double ratio[PERFCTR_TOPDOWN_RATIOS]);

#endif /* PERFEX_TOPDOWN_H */
