/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_UNCORE_H
#define PERFCTR_X86_UNCORE_H

/* At init: RDPMC reads counters that are not the core's, and that nobody reserves. */
void perfctr_x86_uncore_exists(void);

#endif /* PERFCTR_X86_UNCORE_H */
