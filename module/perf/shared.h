/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shared source: counters that perf_events programs, and that we only read.
 *
 * An event that configs count by is a slot. On each CPU it is one pinned kernel event of perf's,
 * which serves all states that want it, and counts all the time. perf chooses its
 * register, and may choose another with interrupts off; it handles overflows in an
 * interrupt or an NMI. Its count never goes back, whatever perf does.
 *
 * Who reads an event is on its CPU, with interrupts off.
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
 * @event: by slot; one that never counts if there is none. Changed while no state is
 *	resumed here that counts by it
 */
struct perfctr_shared_cpu {
	struct perf_event *event[PERFCTR_MAX_HW];
};

DECLARE_PER_CPU(struct perfctr_shared_cpu, perfctr_shared_cpu);

/* An event was found lost: the next control looks whether it can be had again. */
extern bool perfctr_shared_any_lost;

static __always_inline void perfctr_shared_bind(struct perfctr_cpu_ctr *ctr, unsigned int slot)
{
	ctr->read = (__force unsigned long)&perfctr_shared_cpu.event[slot];
}

/* Does perf count it on this CPU, and nothing but what was asked for? */
static __always_inline bool perfctr_shared_counts(const struct perf_event *event, int cpu)
{
	return READ_ONCE(event->oncpu) == cpu && perfctr_cpu_shared_filters(event);
}

/*
 * The count of an event. @call: ask perf's driver for it, else read the register here. *lost is
 * set if perf does not count it on this CPU: then the count is that of its end.
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

/* As perfctr_cpu_resume(). True if an event is lost: then all are to be suspended again. */
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

/* As perfctr_cpu_suspend(). True if an event is lost: then its sum is that of its end. */
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

/* As perfctr_cpu_hand_over(). True if an event is lost, of both. */
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

/* Most counters that one control can have, by either source; constant after init */
unsigned int perfctr_nrctrs(void);

/* Could perf count these a-mode counters at all? As perfctr_cpu_check(). */
int perfctr_shared_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
			 struct perfctr_refusal *why);
/*
 * Has perf count the config's events on every told CPU, and on isolated ones that are in @where;
 * or none: EACCES, EBUSY, EINVAL, ENOMEM, EXDEV, with *why. config_mutex and the hotplug
 * lock are held, as by the functions below.
 */
int perfctr_shared_claim(struct perfctr_config *config, const struct perfctr_where *where,
			 struct perfctr_refusal *why);
/* May current, without privilege, still have a config that was claimed? EACCES: not, *why */
int perfctr_shared_allowed(const struct perfctr_config *config, struct perfctr_refusal *why);
/* Nobody is resumed by it any more. */
void perfctr_shared_unclaim(struct perfctr_config *config);
/*
 * For a control that is to count @where: if an event is lost, or missing on one of these CPUs, try
 * to have it again. If that fails, states that count by it are lost there. @remake runs on such a
 * CPU, in a kernel thread: it suspends the wides there, and calls perfctr_shared_remake().
 */
void perfctr_shared_mend(const struct perfctr_where *where, long (*remake)(void *unused));
void perfctr_shared_remake(unsigned int cpu);
/* Does this kernel count anything for us? Constant after init. */
bool perfctr_shared_available(void);

/*
 * This CPU has slept so deeply that its registers are lost, and perf does not restore them: who
 * counts here from now on is lost. No state is resumed.
 */
void perfctr_shared_slept(void);

/* By a kernel thread on that CPU, which has come, or will go, with config_mutex held */
void perfctr_shared_online(unsigned int cpu);
void perfctr_shared_offline(unsigned int cpu);

void perfctr_shared_init(void);

#endif /* PERFCTR_SHARED_H */
