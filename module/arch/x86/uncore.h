/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_UNCORE_H
#define PERFCTR_X86_UNCORE_H

/* At init: RDPMC reads counters that are not the core's, and that nobody reserves. */
void perfctr_x86_uncore_exists(void);
/* Others execute where RDPMC reads what a CPU counts. Before perfctr_cpu_guard_init() */
void perfctr_x86_guard_never(void);

#endif /* PERFCTR_X86_UNCORE_H */
