/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_PROCESSOR_H
#define PERFCTR_X86_PROCESSOR_H

/* Fills in perfctr_pmu. Call it at load. */
void perfctr_x86_find_counters(void);

#endif /* PERFCTR_X86_PROCESSOR_H */
