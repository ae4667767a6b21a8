/* SPDX-License-Identifier: GPL-2.0 */
/* TopDown: SLOTS, and its metrics. */
#ifndef PERFCTR_X86_TOPDOWN_H
#define PERFCTR_X86_TOPDOWN_H

#include <linux/types.h>

#include "arch/cpu.h"

/*
 * Call at init if the processor has TopDown: @nr_metrics metrics, and slots on fixed counter 3.
 * @operand is RDPMC's number of the register of the metrics.
 */
void perfctr_x86_topdown_describe(unsigned int nr_metrics, u32 operand);

/* Returns the number of metrics, four for each level, or 0 if there is no TopDown. */
unsigned int perfctr_x86_topdown_metrics(void);

/* Returns true if the event is SLOTS or a metric, and this processor lacks it. */
bool perfctr_x86_topdown_lacks(u64 event);

/* Returns 0, or -EINVAL with why->reason if perfctr_x86_topdown_lacks(event). */
int perfctr_x86_topdown_check(u64 event, struct perfctr_refusal *why);

/*
 * Returns true if the counter's event is a metric that exists. If @metric is not NULL, sets *metric
 * to the number of the metric.
 */
bool perfctr_x86_is_metric(const struct perfctr_ctr_control *ctr, unsigned int *metric);

/*
 * Returns 0, or -EINVAL with *why if a metric of the control is not valid, or lacks the SLOTS that
 * it needs.
 */
int perfctr_x86_metrics_check(const struct perfctr_ctr_control *ctr, unsigned int nr,
			      struct perfctr_refusal *why);

#endif /* PERFCTR_X86_TOPDOWN_H */
