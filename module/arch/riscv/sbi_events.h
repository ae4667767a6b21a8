/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_RISCV_SBI_EVENTS_H
#define PERFCTR_RISCV_SBI_EVENTS_H

#include <linux/types.h>

/* Does the SBI define this event? Events are numbered as there. */
bool perfctr_riscv_event_is_defined(u64 event);
/* Has a counter ever been taken for it? Not recorded of raw events. */
bool perfctr_riscv_event_is_known(u64 event);
void perfctr_riscv_event_is_proven(u64 event);
/* Find out which exist; repeated now and then. config_mutex is held, except at load. */
void perfctr_riscv_probe_events(void);

#endif /* PERFCTR_RISCV_SBI_EVENTS_H */
