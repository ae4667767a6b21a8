/* SPDX-License-Identifier: GPL-2.0 */
/* TopDown: SLOTS, and the metrics that are parts of it. */
#ifndef PERFCTR_X86_TOPDOWN_H
#define PERFCTR_X86_TOPDOWN_H

#include <linux/types.h>

#include "arch/cpu.h"

/*
 * Call at init: there are that many metrics, and fixed counter 3 counts slots. @operand: RDPMC's
 * number of the register of the metrics
 */
void perfctr_x86_topdown_describe(unsigned int nr_metrics, u32 operand);

/* Number of metrics; 0: no TopDown. Four are one level. */
unsigned int perfctr_x86_topdown_metrics(void);

/* Is it an event of TopDown's, SLOTS or a metric, that this processor lacks? */
bool perfctr_x86_topdown_lacks(u64 event);

/* The same for an event that somebody wants to count: 0, or EINVAL with why->reason */
int perfctr_x86_topdown_check(u64 event, struct perfctr_refusal *why);

/*
 * Does that counter count a metric that exists? If @metric is not NULL, sets *metric to its number.
 */
bool perfctr_x86_is_metric(const struct perfctr_ctr_control *ctr, unsigned int *metric);

/* Do the metrics of a control have what they need? 0, or EINVAL with *why */
int perfctr_x86_metrics_check(const struct perfctr_ctr_control *ctr, unsigned int nr,
			      struct perfctr_refusal *why);

#endif /* PERFCTR_X86_TOPDOWN_H */
