/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each architecture's driver knows of perf's counters, for perf/. An event that counts does so
 * on this CPU, with interrupts off. What is asked of a struct perfctr_shared_attr may sleep.
 */
#ifndef PERFCTR_CPU_PERF_H
#define PERFCTR_CPU_PERF_H

#include "arch/cpu.h"

struct perf_event;

/*
 * PERFCTR_CPU_ONE_SOURCE: perf has all counters, or perfctr has.
 * shared_exists: has perf a PMU of the cores there? May sleep
 */
#ifdef PERFCTR_CPU_ONE_SOURCE
bool perfctr_cpu_shared_exists(void);
#endif

/*
 * The count of an event that counts. Right while perf may be in an NMI. PERFCTR_CPU_SHARED_INLINE
 * is 1 if this reads registers, and 0 if it calls perf.
 */
PERFCTR_CPU_FN(u64, perfctr_cpu_shared_read, struct perf_event *event);
/* May it be used for that event, as far as is known? */
PERFCTR_CPU_FN(bool, perfctr_cpu_shared_inline, const struct perf_event *event);
/*
 * Does the register of an event that counts keep to the modes that were asked for? perf may choose
 * another register later.
 */
PERFCTR_CPU_FN(bool, perfctr_cpu_shared_filters, const struct perf_event *event);

/* *attr becomes perf's event for a native control's. EINVAL: none is exactly the same */
int perfctr_cpu_shared_attr(const struct perfctr_ctr_control *ctr,
			    struct perfctr_shared_attr *attr);
/*
 * PERFCTR_REASON_*: why perf cannot count it for us, as it takes a group of events. NONE: it can,
 * as far as is known
 */
PERFCTR_CPU_FN(u32, perfctr_cpu_shared_refusal, const struct perfctr_shared_attr *attr);
/* May it count more than its own thread? */
PERFCTR_CPU_FN(bool, perfctr_cpu_shared_needs_privilege, const struct perfctr_shared_attr *attr);
/*
 * 0, or EINVAL or EOPNOTSUPP with *reason: that event, which counts here, does not count what was
 * asked for, because perf ignores part of it; or the native driver refuses it for counting wrong.
 */
int perfctr_cpu_shared_judge(const struct perf_event *event, u32 *reason);

/*
 * PERFCTR_CPU_SHARED_TRIES: some events are tried before they count for us.
 * twin: *attr becomes an event by which to try whether that one counts. False: there is none, or
 * it was tried. try: judge() heeds what that twin counted, which counts kernel mode.
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

/* Has it a counter that can count any event? How many such has this CPU? */
bool perfctr_cpu_shared_is_general(const struct perf_event *event);
unsigned int perfctr_cpu_shared_generals(void);

/*
 * Could a user without privilege read perf's counters in user mode? May sleep. Ask while it is
 * watched: watch() opens the files that tell that, or closes them. It opens in a kernel thread. May
 * sleep
 */
PERFCTR_CPU_FN(bool, perfctr_cpu_shared_discloses, void);
PERFCTR_CPU_FN(void, perfctr_cpu_shared_watch, bool on);
/* Can nobody read that event's counter, even so? */
PERFCTR_CPU_FN(bool, perfctr_cpu_shared_hides, const struct perf_event *event);

#endif /* PERFCTR_CPU_PERF_H */
