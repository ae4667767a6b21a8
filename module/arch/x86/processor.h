/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_PROCESSOR_H
#define PERFCTR_X86_PROCESSOR_H

/* Call at load: fills in perfctr_pmu. */
void perfctr_x86_find_counters(void);

#endif /* PERFCTR_X86_PROCESSOR_H */
