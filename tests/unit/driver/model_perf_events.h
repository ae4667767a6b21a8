/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of perf_events as the module sees it: kernel events, each of one CPU, and pinned.
 * After Linux 6.12, kernel/events/core.c and arch/x86/events/core.c:
 *
 *  - a CPU's events get counters in the order in which they were made. One that gets none is
 *    in error, as are those after it, and stays so until somebody enables it;
 *  - for a new event all others of its CPU stop and start, maybe with another counter. A
 *    count never goes back;
 *  - a counter starts at minus the largest period, and is set back in an NMI when it
 *    overflows;
 *  - a PMU that cannot filter refuses each exclude flag; one that knows nothing of an event,
 *    or does not exist on that CPU, says ENOENT.
 *
 * An event that is made to count must be made by the kernel on its own CPU, and is to be
 * released before the CPU goes, and at the end of the test.
 */
#ifndef MODEL_PERF_EVENTS_H
#define MODEL_PERF_EVENTS_H

#include "model.h"
#include "shim/linux/perf_event.h"

/* Of cores of the other type, if CPUs are of two types */
#define MODEL_OTHER_TYPE	10
/* Of a PMU that is no core's */
#define MODEL_UNCORE_TYPE	24

/* perf has no PMU that counts what cores do. */
extern bool model_no_perf;
/* An event that perf counts, but its driver reads something else than RDPMC, on these CPUs */
extern u32 model_perf_differs;
/* Its driver finds more at the first read of any event, and counts exactly from there on. */
extern bool model_perf_calls;

/* Guests that have the counters for themselves: nobody gets an event that counts guests. */
extern unsigned int model_perf_guests;
/* Of the module's that count no guests: how often it asked for one, and how many it has */
extern unsigned int model_perf_asked;
extern unsigned int model_perf_live;
/* After @after more are asked for, the next one fails with @error. */
void model_perf_fail(unsigned int after, long error);
/* Nobody has any. */
bool model_perf_is_idle(void);
/* Fails the test unless the module has none. */
void model_perf_expect_none(void);
/* The event of one of the module's event sets, or NULL */
struct perf_event *model_perf_event(unsigned int cpu, unsigned int set);

/* Another user of perf's makes an event, which may not count yet. */
struct perf_event *model_perf_other(unsigned int cpu, u32 type, u64 config, bool enabled);
/* It is to count, and the CPU's events are scheduled anew. */
void model_perf_enable(struct perf_event *event);
void model_perf_release_other(struct perf_event *event);

/* It is in error from now on. */
void model_perf_lose(struct perf_event *event);
/* What perf does when a counter has overflowed */
void model_perf_nmi(unsigned int cpu);
/* What perf would say now. */
u64 model_perf_count(const struct perf_event *event);
/* The event's register, and how many bits it has */
void model_perf_set_register(struct perf_event *event, u64 value);
u64 model_perf_register(const struct perf_event *event);
u64 model_perf_mask(const struct perf_event *event);
/* Called after each read of a part of an event: what an NMI does there */
extern void (*model_perf_between)(void);

/*
 * By each architecture: the PMU of a CPU
 */

u32 model_pmu_type(unsigned int cpu);
/* It cannot exclude anything. */
bool model_pmu_no_exclude(void);
/* Takes what must be had before there is any event: 0, EBUSY. And gives it back. */
int model_pmu_reserve(void);
void model_pmu_unreserve(void);
/* Does it know the event? 0, ENOENT, EINVAL; sets hw.config, and hw.extra_reg. */
int model_pmu_map(struct perf_event *event);
/* On the current CPU. EAGAIN: no counter; 1: it goes on from the value that it has. */
int model_pmu_add(struct perf_event *event);
/* @ends: and not to start again. */
void model_pmu_del(struct perf_event *event, bool ends);
/* The register of an event that counts */
u64 model_pmu_value(const struct perf_event *event);
void model_pmu_set(struct perf_event *event, u64 value);
u64 model_pmu_mask(const struct perf_event *event);

#endif /* MODEL_PERF_EVENTS_H */
