/* SPDX-License-Identifier: GPL-2.0 */
/* Events of perf's: which there are, how one is made, and whether it counts */
#ifndef PERFCTR_EVENT_H
#define PERFCTR_EVENT_H

#include <linux/types.h>

struct perf_event;
struct perfctr_ctr_control;
struct perfctr_shared_attr;

/*
 * *event becomes perf's event for a counter of a control. EINVAL: none is exactly that, or it is
 * not of the CPU's cores. A control that was checked has one. Under config_mutex
 */
int perfctr_event_find(const struct perfctr_ctr_control *ctr, struct perfctr_shared_attr *event);
/* PERFCTR_CTR_USER, PERFCTR_CTR_KERNEL or both */
u32 perfctr_event_modes(const struct perfctr_ctr_control *ctr);

/*
 * Makes a pinned event on this CPU, or returns perf's error. In a kernel thread that stays here, so
 * perf does not ask for the privilege that counting a CPU takes. @flags: its modes. May sleep
 */
struct perf_event *perfctr_event_make(const struct perfctr_shared_attr *event, u32 flags);
/*
 * The same. An event that a hypervisor may keep from counting is tried before: by a twin, as nobody
 * else executes a loop in kernel mode. EBUSY: perf chose another kind of counter each time
 */
struct perf_event *perfctr_event_make_tried(const struct perfctr_shared_attr *wanted, u32 flags);
/* Does it count? On its CPU, or right after it was made there */
bool perfctr_event_counts(const struct perf_event *event);
/* perf's error, as one of CONTROL */
int perfctr_event_error(long err);

/* The CPU has come. By a kernel thread there, under config_mutex */
void perfctr_event_online(unsigned int cpu);
void perfctr_event_init(void);

#endif /* PERFCTR_EVENT_H */
