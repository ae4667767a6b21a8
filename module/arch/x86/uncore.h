/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_UNCORE_H
#define PERFCTR_X86_UNCORE_H

/* Call at init: RDPMC reads counters that are not the core's and that nobody reserves. */
void perfctr_x86_uncore_exists(void);
/*
 * Others run on threads where RDPMC reads this CPU's counters. Call before
 * perfctr_cpu_guard_init().
 */
void perfctr_x86_guard_never(void);

#endif /* PERFCTR_X86_UNCORE_H */
