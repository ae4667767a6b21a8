/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_RISCV_SBI_EVENTS_H
#define PERFCTR_RISCV_SBI_EVENTS_H

#include <linux/nospec.h>
#include <linux/types.h>

#include "arch/riscv/registers.h"

/* Does the SBI define this event? Events are numbered as there. */
bool perfctr_riscv_event_is_defined(u64 event);
/* Records that a counter took this event, which is defined. Raw events are not recorded. */
void perfctr_riscv_event_is_proven(u64 event);
/* Was the event ever recorded as proven? */
static inline bool perfctr_riscv_event_is_known(u64 event)
{
	if (SBI_EVENT_TYPE(event) > SBI_TYPE_CACHE || SBI_EVENT_CODE(event) > 63)
		return false;
	return perfctr_pmu.events[array_index_nospec(SBI_EVENT_TYPE(event), 2)] >>
	       (SBI_EVENT_CODE(event) & 63) & 1;
}

/* Finds out which events exist; repeated now and then. config_mutex is held, except at load. */
void perfctr_riscv_probe_events(void);

#endif /* PERFCTR_RISCV_SBI_EVENTS_H */
