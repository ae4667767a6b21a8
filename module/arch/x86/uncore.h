/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_UNCORE_H
#define PERFCTR_X86_UNCORE_H

/* Call at init if RDPMC can read counters that are not the core's and that nobody reserves. */
void perfctr_x86_uncore_exists(void);
/*
 * Call at init if a program on another hyperthread can read this CPU's counters by RDPMC. Call it
 * before perfctr_cpu_guard_init().
 */
void perfctr_x86_guard_never(void);

#endif /* PERFCTR_X86_UNCORE_H */
