/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers of events, and sets of events. */
#ifndef PERFCTR_EVENTS_H
#define PERFCTR_EVENTS_H

#include "internal.h"

/* SBI event_idx: type in bits 16..19, code in bits 0..15 */
#define SBI_TYPE_HW	0u
#define SBI_TYPE_CACHE	1u
#define SBI_TYPE_RAW	2u
#define SBI_EVENT(type, code)	((type) << 16 | (code))
#define SBI_TYPE(event)		((event) >> 16 & 0xfu)
#define SBI_CODE(event)		((event) & 0xffffu)

#define SBI_HW_CPU_CYCLES	1u
#define SBI_HW_INSTRUCTIONS	2u

/* Cache event code: cache in bits 3..15, operation in bits 1..2, result in bit 0 */
#define SBI_CACHE(cache, op, result)	((cache) << 3 | (op) << 1 | (result))

#define RISCV_CYCLE	0u
#define RISCV_INSTRET	2u

#define CTRS_CYCLE	(1u << RISCV_CYCLE)
#define CTRS_INSTRET	(1u << RISCV_INSTRET)
#define CTRS_PROG	0xfffffff8u

/* An event of perf's as a number: its type in bits 24..31, config in bits 0..23 */
#define PERF_EVENT(type, config)	((unsigned int)(type) << 24 | (config))
#define PERF_TYPE(event)		((event) >> 24)
#define PERF_CONFIG(event)		((event) & 0xffffffu)

/* x86: counters other than the fixed ones */
#define X86_PROG	0x00ffffffu
/* Fixed counter 2 counts reference cycles; on other counters 0x13c counts cycles of the bus. */
#define X86_FIXED_REF	26u
/* Fixed counter 3 counts slots; TopDown's metrics are shares of them. */
#define X86_FIXED_SLOTS	27u

/* Intel's architectural events come first, in the order of CPUID leaf 10's bits. */
#define X86_ARCH_BITS	7u
perfctr_internal
extern const struct perfctr_event perfctr_arch_events[];

#define SET(type, prefix, of) \
	{ .cpu_type = (type), .event_prefix = (prefix), \
	  .nevents = ARRAY_SIZE(of), .events = (of) }

/* Each of these returns NULL for another type. */
/* Intel's with event selects of the P6's layout */
perfctr_internal
const struct perfctr_event_set *perfctr_x86_event_names(unsigned int cpu_type);
perfctr_internal
const struct perfctr_event_set *perfctr_riscv_event_names(unsigned int cpu_type);
/* The module has no driver for its counters, but perf may have one. */
perfctr_internal
const struct perfctr_event_set *perfctr_perf_event_names(unsigned int cpu_type);

/* perf's event with that PERF_EVENT() number; or NULL */
perfctr_internal
const struct perfctr_event *perfctr_perf_event(unsigned int event);
/* perf's cache event of that name; or NULL */
perfctr_internal
const struct perfctr_event *perfctr_perf_cache_event(const char *name);

#endif /* PERFCTR_EVENTS_H */
