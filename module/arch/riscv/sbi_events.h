/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_RISCV_SBI_EVENTS_H
#define PERFCTR_RISCV_SBI_EVENTS_H

#include <linux/nospec.h>
#include <linux/types.h>

#include "arch/riscv/registers.h"

/* Returns true if the SBI defines this event. Events have the SBI's numbers. */
bool perfctr_riscv_event_is_defined(u64 event);
/* Records that a counter took this event, which the SBI defines. Raw events are not recorded. */
void perfctr_riscv_event_is_proven(u64 event);
/* Returns true if the event was ever recorded as proven. */
static inline bool perfctr_riscv_event_is_known(u64 event)
{
	if (SBI_EVENT_TYPE(event) > SBI_TYPE_CACHE || SBI_EVENT_CODE(event) > 63)
		return false;
	return perfctr_pmu.events[array_index_nospec(SBI_EVENT_TYPE(event), 2)] >>
	       (SBI_EVENT_CODE(event) & 63) & 1;
}

/*
 * Finds out which events exist. A later call may repeat the probe. config_mutex is held, except
 * when the module is loaded.
 */
void perfctr_riscv_probe_events(void);

#endif /* PERFCTR_RISCV_SBI_EVENTS_H */
