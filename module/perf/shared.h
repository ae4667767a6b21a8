/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shared source has counters that perf_events programs. We only read them.
 *
 * Configs count by event sets. On each CPU, an event set has one pinned kernel event of perf's,
 * which counts all the time, and serves all states that want it. perf chooses the event's register,
 * and may choose another register with interrupts off. perf handles overflows in an interrupt or an
 * NMI. An event's count never goes back, whatever perf does.
 *
 * Events are read on their CPU, with interrupts off.
 */
#ifndef PERFCTR_SHARED_H
#define PERFCTR_SHARED_H

#include <linux/percpu.h>
#include <linux/perf_event.h>

#include "arch/cpu.h"
#include "arch/sums.h"
#include "arch/perf.h"

/**
 * struct perfctr_shared_cpu - the events of a CPU
 * @event: the event of each event set on this CPU. If a set has no event here, this is an event
 *	that never counts. Changes only while no state that counts by the set is resumed here
 */
struct perfctr_shared_cpu {
	struct perf_event *event[PERFCTR_MAX_HW];
};

DECLARE_PER_CPU(struct perfctr_shared_cpu, perfctr_shared_cpu);

/* True if an event was found lost. The next control tries to make the event again. */
extern bool perfctr_shared_any_lost;

static __always_inline void perfctr_shared_bind(struct perfctr_cpu_ctr *ctr, unsigned int set)
{
	ctr->read = (__force unsigned long)&perfctr_shared_cpu.event[set];
}

/* Returns true if perf counts the event on this CPU, and in no other modes than were asked for. */
static __always_inline bool perfctr_shared_counts(const struct perf_event *event, int cpu)
{
	return READ_ONCE(event->oncpu) == cpu && perfctr_cpu_shared_filters(event);
}

/*
 * Returns the count of an event. @call: ask perf's driver, instead of reading the register here.
 * Sets *lost if perf does not count the event on this CPU. The result is then the count with which
 * the event ended.
 */
static __always_inline u64 perfctr_shared_read(const struct perfctr_cpu_ctr *ctr, int cpu,
					       bool call, bool *lost)
{
	struct perf_event *event = raw_cpu_read(*(struct perf_event * __percpu *)ctr->read);

	if (unlikely(!perfctr_shared_counts(event, cpu))) {
		*lost = true;
		return local64_read(&event->count);
	}
	if (!call)
		return perfctr_cpu_shared_read(event);
	event->pmu->read(event);
	return local64_read(&event->count);
}

/*
 * Does what perfctr_cpu_resume() does, for counters of perf's. Returns true if an event is lost.
 * The caller must then suspend the state again.
 */
static __always_inline bool perfctr_shared_resume(struct perfctr_cpu_state *state, int cpu,
						  bool call)
{
	struct perfctr_cpu_ctr *ctr = state->ctr, *end = state->end;
	bool lost = false;

	do {
		ctr->acc -= perfctr_shared_read(ctr, cpu, call, &lost);
	} while (++ctr != end);
	perfctr_cpu_resume_clock(state);
	return lost;
}

/*
 * Does what perfctr_cpu_suspend() does, for counters of perf's. Returns true if perf has ended an
 * event. The sum then has what the event had counted until its end.
 */
static __always_inline bool perfctr_shared_suspend(struct perfctr_cpu_state *state, int cpu,
						   bool call)
{
	struct perfctr_cpu_ctr *ctr = state->ctr, *end = state->end;
	bool lost = false;

	perfctr_cpu_suspend_clock(state);
	do {
		ctr->acc += perfctr_shared_read(ctr, cpu, call, &lost);
	} while (++ctr != end);
	return lost;
}

/*
 * Does what perfctr_cpu_hand_over() does, for counters of perf's. Returns true if an event is lost.
 * Both states have then lost the event.
 */
static __always_inline bool perfctr_shared_hand_over(struct perfctr_cpu_state *from,
						     struct perfctr_cpu_state *to, int cpu,
						     bool call)
{
	struct perfctr_cpu_ctr *ctr = from->ctr, *end = from->end, *other = to->ctr;
	u64 now = perfctr_cpu_clock(), value;
	bool lost = false;

	from->clock += now;
	to->clock -= now;
	do {
		value = perfctr_shared_read(ctr, cpu, call, &lost);
		ctr->acc += value;
		other->acc -= value;
		other++;
	} while (++ctr != end);
	return lost;
}

/*
 * Returns the largest number of counters that one control can have, from either source. Constant
 * after init.
 */
unsigned int perfctr_nrctrs(void);

/*
 * Checks whether perf could count these a-mode counters at all, as perfctr_cpu_check() does for
 * native counters.
 */
int perfctr_shared_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
			 struct perfctr_refusal *why);
/*
 * Makes perf count the config's events on every told CPU, and on those isolated CPUs where the
 * control may count (@where). On failure, perf counts none of the events. Returns 0, or -EACCES,
 * -EBUSY, -EINVAL, -ENOMEM or -EXDEV with *why. The caller holds config_mutex and the hotplug lock,
 * as for the functions below.
 */
int perfctr_shared_claim(struct perfctr_config *config, const struct perfctr_where *where,
			 struct perfctr_refusal *why);
/* Returns 0 if users without privilege may count by a claimed config, or -EACCES with *why. */
int perfctr_shared_allowed(const struct perfctr_config *config, struct perfctr_refusal *why);
/* Gives the config's events back. Call this when no resumed state counts by the config any more. */
void perfctr_shared_unclaim(struct perfctr_config *config);
/*
 * Prepares a control that is to count on the CPUs in @where. Tries to make events again that are
 * lost or missing on one of these CPUs. If that fails, states that count by the event are lost
 * there. @remake runs on each CPU that lacks an event, in a kernel thread. It suspends the wides
 * there, and calls perfctr_shared_remake().
 */
void perfctr_shared_mend(const struct perfctr_where *where, long (*remake)(void *unused));
void perfctr_shared_remake(unsigned int cpu);
/* Returns true if perf can count anything for us on this machine. Constant after init. */
bool perfctr_shared_available(void);

/*
 * Call this when this CPU has slept so deeply that it lost its registers, which perf does not
 * restore. States that count here from now on are lost. No state may be resumed now.
 */
void perfctr_shared_slept(void);

/*
 * Call these when the CPU has come, or before it goes, in a kernel thread on that CPU, with
 * config_mutex held.
 */
void perfctr_shared_online(unsigned int cpu);
void perfctr_shared_offline(unsigned int cpu);

void perfctr_shared_init(void);

#endif /* PERFCTR_SHARED_H */
