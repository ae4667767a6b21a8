/* SPDX-License-Identifier: GPL-2.0 */
/* Who has the counters of the CPUs */
#ifndef PERFCTR_X86_CLAIM_H
#define PERFCTR_X86_CLAIM_H

#include <linux/types.h>

/*
 * From perf, all counters of all CPUs, also those that cannot be reserved: perf does just the same.
 * EBUSY. May sleep
 */
int perfctr_x86_reserve(void);
void perfctr_x86_unreserve(void);
/*
 * Does somebody count here who does not reserve? Root hears of it once, mostly as the module is
 * loaded. The counters are reserved
 */
bool perfctr_x86_firmware_counts(void);

#endif /* PERFCTR_X86_CLAIM_H */
