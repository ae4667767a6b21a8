/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This header declares, for the folder perf, what each architecture's driver knows about perf's
 * counters. Call these functions on the event's CPU, with interrupts off. But functions that take a
 * struct perfctr_shared_attr may sleep.
 */
#ifndef PERFCTR_CPU_PERF_H
#define PERFCTR_CPU_PERF_H

#include "arch/cpu.h"

struct perf_event;

/*
 * PERFCTR_CPU_ONE_SOURCE: the driver may take all counters from perf.
 * has_one_source: returns true if either perf has all counters, or perfctr has them. Constant after
 * init.
 * shared_exists: returns true if perf has a PMU for this machine's cores. May sleep.
 */
#ifdef PERFCTR_CPU_ONE_SOURCE
PERFCTR_CPU_FN(bool, perfctr_cpu_has_one_source, void);
bool perfctr_cpu_shared_exists(void);
#else
static inline bool perfctr_cpu_has_one_source(void)
{
	return false;
}
#endif

/*
 * Returns the count of an event. Call this while the event counts. The result is correct even if
 * perf changes the event in an NMI. PERFCTR_CPU_SHARED_INLINE is 1 if this function reads
 * registers, and 0 if it calls perf.
 */
PERFCTR_CPU_FN(u64, perfctr_cpu_shared_read, struct perf_event *event);
/* Returns true if, as far as is known, perfctr_cpu_shared_read() works for the event. */
PERFCTR_CPU_FN(bool, perfctr_cpu_shared_inline, const struct perf_event *event);
/*
 * Returns true if the register of an event counts only the modes that were asked for. Call this
 * while the event counts. perf may choose another register later.
 */
PERFCTR_CPU_FN(bool, perfctr_cpu_shared_filters, const struct perf_event *event);

/*
 * Sets *attr to the perf event that counts the same as a native control. Returns 0, or -EINVAL if
 * there is no such event.
 */
int perfctr_cpu_shared_attr(const struct perfctr_ctr_control *ctr,
			    struct perfctr_shared_attr *attr);
/*
 * Returns PERFCTR_REASON_NONE if, as far as is known, perf can count this event for us. Returns
 * another PERFCTR_REASON_* if the event needs a group of events.
 */
PERFCTR_CPU_FN(u32, perfctr_cpu_shared_refusal, const struct perfctr_shared_attr *attr);
/* Returns true if the event may also count a thread other than its own. */
PERFCTR_CPU_FN(bool, perfctr_cpu_shared_needs_privilege, const struct perfctr_shared_attr *attr);
/*
 * Checks whether an event counts what was asked for. Call this while the event counts. Returns 0,
 * or -EINVAL or -EOPNOTSUPP with *reason if perf ignores part of the request, or if the native
 * driver refuses the event because it counts wrong.
 */
int perfctr_cpu_shared_judge(const struct perf_event *event, u32 *reason);

/*
 * PERFCTR_CPU_SHARED_TRIES: some events are tried before they count for us.
 * twin: sets *attr to an event that shows whether @event counts. Returns false if there is no such
 * event, or if it has been tried.
 * try: records what the twin counted, for perfctr_cpu_shared_judge(). The twin counts kernel mode.
 */
#ifdef PERFCTR_CPU_SHARED_TRIES
bool perfctr_cpu_shared_twin(const struct perf_event *event, struct perfctr_shared_attr *attr);
void perfctr_cpu_shared_try(struct perf_event *twin);
#else
static inline bool perfctr_cpu_shared_twin(const struct perf_event *event,
					   struct perfctr_shared_attr *attr)
{
	return false;
}

static inline void perfctr_cpu_shared_try(struct perf_event *twin)
{
}
#endif

/*
 * is_general: returns true if the event is on a counter that can count any event.
 * generals: returns the number of such counters of this CPU.
 */
bool perfctr_cpu_shared_is_general(const struct perf_event *event);
unsigned int perfctr_cpu_shared_generals(void);

/*
 * discloses: returns true if a user without privilege could read perf's counters in user mode. Call
 * it only between watch(true) and watch(false). May sleep.
 * watch: opens or closes the files that discloses() reads. It opens them in a kernel thread. May
 * sleep.
 */
PERFCTR_CPU_FN(bool, perfctr_cpu_shared_discloses, void);
PERFCTR_CPU_FN(void, perfctr_cpu_shared_watch, bool on);
/*
 * Returns true if user mode cannot read the counter of the event, even where it can read other
 * counters of perf's.
 */
PERFCTR_CPU_FN(bool, perfctr_cpu_shared_hides, const struct perf_event *event);

#endif /* PERFCTR_CPU_PERF_H */
