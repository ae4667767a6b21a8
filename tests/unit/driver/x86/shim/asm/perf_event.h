/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_PERF_EVENT_H
#define SHIM_ASM_PERF_EVENT_H

void perf_clear_dirty_counters(void);

#endif /* SHIM_ASM_PERF_EVENT_H */
