/* SPDX-License-Identifier: GPL-2.0 */
/* These functions find and make events of perf's, and tell whether an event counts. */
#ifndef PERFCTR_EVENT_H
#define PERFCTR_EVENT_H

#include "arch/types.h"

struct perf_event;

/*
 * Sets *event to perf's event for a counter of a control. Returns 0, or -EINVAL if perf has no
 * event that counts exactly the same, or if the event's PMU is not a PMU of CPU cores. Never fails
 * for a control that was checked. The caller holds config_mutex.
 */
int perfctr_event_find(const struct perfctr_ctr_control *ctr, struct perfctr_shared_attr *event);
/* Returns the modes that a counter counts: PERFCTR_CTR_USER, PERFCTR_CTR_KERNEL or both. */
u32 perfctr_event_modes(const struct perfctr_ctr_control *ctr);

/*
 * Makes a pinned event on this CPU. Returns the event, or perf's error. @flags: the modes. Call
 * this only in a kernel thread of this CPU: any other thread needs the privilege to count a CPU.
 * May sleep.
 */
struct perf_event *perfctr_event_make(const struct perfctr_shared_attr *event, u32 flags);
/*
 * Makes a pinned event as perfctr_event_make() does, but tries it first. A hypervisor may keep some
 * events from counting. So this function first counts a loop with a twin of the event, in kernel
 * mode, where nobody else executes such a loop. Returns -EBUSY if perf chose another kind of
 * counter each time.
 */
struct perf_event *perfctr_event_make_tried(const struct perfctr_shared_attr *wanted, u32 flags);
/*
 * Returns true if the event counts. Call this on the event's CPU, or right after the event was made
 * there.
 */
bool perfctr_event_counts(const struct perf_event *event);
/* Turns an error of perf's into an error of CONTROL. */
int perfctr_event_error(long err);

/* Call this when the CPU has come, in a kernel thread on that CPU, with config_mutex held. */
void perfctr_event_online(unsigned int cpu);
void perfctr_event_init(void);

static inline bool perfctr_event_same(const struct perfctr_shared_attr *a,
				      const struct perfctr_shared_attr *b)
{
	return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
	       a->config2 == b->config2;
}

#endif /* PERFCTR_EVENT_H */
