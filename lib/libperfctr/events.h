/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers of events and sets of events, for the files that parse and write names of events. */
#ifndef PERFCTR_EVENTS_H
#define PERFCTR_EVENTS_H

#include "internal.h"

/* RISC-V: the SBI's event_idx has its type in bits 16..19, and its code in bits 0..15. */
#define SBI_TYPE_HW	0u
#define SBI_TYPE_CACHE	1u
#define SBI_TYPE_RAW	2u
#define SBI_EVENT(type, code)	((type) << 16 | (code))
#define SBI_TYPE(event)		((event) >> 16 & 0xfu)
#define SBI_CODE(event)		((event) & 0xffffu)

#define SBI_HW_CPU_CYCLES	1u
#define SBI_HW_INSTRUCTIONS	2u

/* The SBI's code of a cache event: cache in bits 3..15, operation in bits 1..2, result in bit 0 */
#define SBI_CACHE(cache, op, result)	((cache) << 3 | (op) << 1 | (result))

#define RISCV_CYCLE	0u
#define RISCV_INSTRET	2u

#define CTRS_CYCLE	(1u << RISCV_CYCLE)
#define CTRS_INSTRET	(1u << RISCV_INSTRET)
#define CTRS_PROG	0xfffffff8u

/* perfctr_event.evntsel of an event of perf's: its type in bits 24..31, config in bits 0..23 */
#define PERF_EVENT(type, config)	((unsigned int)(type) << 24 | (config))
#define PERF_TYPE(event)		((event) >> 24)
#define PERF_CONFIG(event)		((event) & 0xffffffu)

/* x86: the mask of programmable counters, which are all counters but the fixed ones */
#define X86_PROG	0x00ffffffu
/* Event 0x13c counts reference cycles on fixed counter 2, and cycles of the bus on all others. */
#define X86_FIXED_REF	26u
/* Fixed counter 3 counts slots. TopDown's metrics are shares of these slots. */
#define X86_FIXED_SLOTS	27u

/* perfctr_arch_events[] begins with these events, in the order of the bits of CPUID leaf 10. */
#define X86_ARCH_BITS	7u
perfctr_internal
extern const struct perfctr_event perfctr_arch_events[];

#define SET(type, prefix, of) \
	{ .cpu_type = (type), .event_prefix = (prefix), \
	  .nevents = ARRAY_SIZE(of), .events = (of) }

/* Returns the events of an Intel processor whose event selects have the P6's layout, or NULL. */
perfctr_internal
const struct perfctr_event_set *perfctr_x86_event_names(unsigned int cpu_type);
/* Returns the events of a RISC-V processor, or NULL. */
perfctr_internal
const struct perfctr_event_set *perfctr_riscv_event_names(unsigned int cpu_type);
/* Returns perf's own events for a type of processor without a driver in the module, or NULL. */
perfctr_internal
const struct perfctr_event_set *perfctr_perf_event_names(unsigned int cpu_type);

/* Returns perf's event with the PERF_EVENT() number @event, or NULL. */
perfctr_internal
const struct perfctr_event *perfctr_perf_event(unsigned int event);
/* Returns perf's cache event that is called @name, or NULL. */
perfctr_internal
const struct perfctr_event *perfctr_perf_cache_event(const char *name);

#endif /* PERFCTR_EVENTS_H */
