/* SPDX-License-Identifier: GPL-2.0 */
/* Reserves the counters of the CPUs, and finds firmware that uses them. */
#ifndef PERFCTR_X86_CLAIM_H
#define PERFCTR_X86_CLAIM_H

#include <linux/types.h>

/*
 * Reserves all counters of all CPUs, so that perf cannot take them. Like perf, we also take
 * counters that the kernel cannot reserve. Returns 0, or -EBUSY if perf has the counters. May
 * sleep.
 */
int perfctr_x86_reserve(void);
void perfctr_x86_unreserve(void);
/*
 * Returns true if something counts on this CPU without a reservation. Warns root once. The caller
 * has reserved the counters.
 */
bool perfctr_x86_firmware_counts(void);

#endif /* PERFCTR_X86_CLAIM_H */
