/* SPDX-License-Identifier: GPL-2.0 */
/* Who has the counters of the CPUs */
#ifndef PERFCTR_X86_CLAIM_H
#define PERFCTR_X86_CLAIM_H

#include <linux/types.h>

/*
 * Reserves all counters of all CPUs from perf. perf likewise takes counters that cannot be
 * reserved. EBUSY. May sleep
 */
int perfctr_x86_reserve(void);
void perfctr_x86_unreserve(void);
/*
 * Does something count here that did not reserve? This warns root once, mostly at load. The
 * counters are reserved.
 */
bool perfctr_x86_firmware_counts(void);

#endif /* PERFCTR_X86_CLAIM_H */
