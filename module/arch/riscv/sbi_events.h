/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_RISCV_SBI_EVENTS_H
#define PERFCTR_RISCV_SBI_EVENTS_H

#include <linux/types.h>

/* As the SBI defines them; they are numbered as it does. */
bool perfctr_riscv_event_is_defined(u64 event);
/* Has a counter ever been had for it? That a raw event exists is never known for others' sake. */
bool perfctr_riscv_event_is_known(u64 event);
void perfctr_riscv_event_is_proven(u64 event);
/* Find out, now and then, which exist. config_mutex is held, but at load. */
void perfctr_riscv_probe_events(void);

#endif /* PERFCTR_RISCV_SBI_EVENTS_H */
