// SPDX-License-Identifier: GPL-2.0
/* This file finds and makes events of perf's, and checks whether a control may have them. */

#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include "arch/cpu.h"
#include "arch/perf.h"
#include "perf/event.h"
#include "perf/shared.h"

#define CTR_MODES	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

/* The types of the PMUs of CPU cores. config_mutex guards them after init. */
static u32 core_types[8];
static unsigned int nr_core_types;
static bool several_types;	/* CPUs may have PMUs of several types; config_mutex */
static bool available;		/* constant after init */

static struct perf_event *make_event(const struct perfctr_shared_attr *event, u32 flags,
				     unsigned int cpu, bool disabled)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof(attr),
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.disabled = disabled,
		.pinned = 1,
		.exclude_user = !(flags & PERFCTR_CTR_USER),
		.exclude_kernel = !(flags & PERFCTR_CTR_KERNEL),
		.exclude_hv = 1,
		/*
		 * Without exclude_guest, a VM with counters of its own does not start, or keeps us
		 * out.
		 */
		.exclude_guest = 1,
	};
	struct perf_event *made = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);

	if (made != ERR_PTR(-EINVAL) || flags != CTR_MODES)
		return made;
	/* A PMU that cannot exclude anything refuses an event with these bits. */
	attr.exclude_hv = 0;
	attr.exclude_guest = 0;
	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

/* perf may choose another kind of counter at each try, so we try more than once. */
#define TRIES	3

struct perf_event *perfctr_event_make(const struct perfctr_shared_attr *event, u32 flags)
{
	return make_event(event, flags, smp_processor_id(), false);
}

struct perf_event *perfctr_event_make_tried(const struct perfctr_shared_attr *wanted, u32 flags)
{
	struct perfctr_shared_attr attr;
	struct perf_event *event;
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		event = perfctr_event_make(wanted, flags);
		if (IS_ERR(event) || READ_ONCE(event->state) != PERF_EVENT_STATE_ACTIVE ||
		    !perfctr_cpu_shared_twin(event, &attr))
			return event;
		perf_event_release_kernel(event);
		event = perfctr_event_make(&attr, PERFCTR_CTR_KERNEL);
		if (IS_ERR(event))
			return event;
		if (READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE)
			perfctr_cpu_shared_try(event);
		perf_event_release_kernel(event);
	}
	return ERR_PTR(-EBUSY);
}

bool perfctr_event_counts(const struct perf_event *event)
{
	return READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE &&
	       perfctr_cpu_shared_filters(event);
}

/*
 * Records the type of the core PMU that counts cycles on that CPU. On hybrid processors, each core
 * PMU has a type of its own. PMUs outside the cores always have types of their own.
 */
static void note_core_type(unsigned int cpu)
{
	struct perfctr_shared_attr cycles = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};
	struct perf_event *event = make_event(&cycles, CTR_MODES, cpu, true);
	unsigned int i;

	if (IS_ERR(event))
		return;
	several_types |= event->pmu->capabilities & PERF_PMU_CAP_EXTENDED_HW_TYPE;
	for (i = 0; i < nr_core_types; i++)
		if (core_types[i] == event->pmu->type)
			break;
	if (i == nr_core_types && i < ARRAY_SIZE(core_types))
		core_types[nr_core_types++] = event->pmu->type;
	perf_event_release_kernel(event);
}

static void note_core_types(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		note_core_type(cpu);
		/* If there is one type, all CPUs have the same PMU. */
		if (!several_types)
			break;
	}
}

static bool is_core_type(u64 type)
{
	unsigned int i;

	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW)
		return available;
	if (!nr_core_types)
		note_core_types();
	for (i = 0; i < nr_core_types; i++)
		if (core_types[i] == type)
			return true;
	return false;
}

bool perfctr_shared_available(void)
{
	return available;
}

/* The largest number of counters of a control where there are no native counters */
#define MOST_COUNTERS	16

unsigned int perfctr_nrctrs(void)
{
	return perfctr_cpu_nrctrs() ?: (available ? MOST_COUNTERS : 0);
}

int perfctr_event_find(const struct perfctr_ctr_control *ctr, struct perfctr_shared_attr *event)
{
	*event = (struct perfctr_shared_attr){};
	if (!(ctr->flags & PERFCTR_CTR_PERF))
		return perfctr_cpu_shared_attr(ctr, event);
	if (ctr->map != PERFCTR_MAP_ANY || !is_core_type(ctr->event))
		return -EINVAL;
	event->type = ctr->event;
	event->config = ctr->config;
	event->config1 = ctr->config1;
	event->config2 = ctr->config2;
	return 0;
}

u32 perfctr_event_modes(const struct perfctr_ctr_control *ctr)
{
	return ctr->flags & CTR_MODES;
}

int perfctr_shared_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
			 struct perfctr_refusal *why)
{
	struct perfctr_shared_attr event;
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++, ctr++) {
		why->index = i;
		if (!perfctr_event_modes(ctr) || ctr->flags & ~(CTR_MODES | PERFCTR_CTR_PERF))
			return -EINVAL;
		err = perfctr_event_find(ctr, &event);
		if (err)
			return err;
		why->reason = perfctr_cpu_shared_refusal(&event);
		if (why->reason)
			return why->reason == PERFCTR_REASON_SOURCE ? -EOPNOTSUPP : -EINVAL;
		if (ctr->flags & PERFCTR_CTR_KERNEL)
			*kernel = true;
		/*
		 * Some bits make a thread count another thread. We demand privilege for these bits,
		 * as perf does.
		 */
		if (!perfmon_capable() && perfctr_cpu_shared_needs_privilege(&event)) {
			why->reason = PERFCTR_REASON_KERNEL;
			return -EACCES;
		}
	}
	why->index = PERFCTR_NO_INDEX;
	return 0;
}

int perfctr_event_error(long err)
{
	switch (err) {
	case -ENOMEM:
	case -EACCES:
	case -EBUSY:
		return err;
	case -EPERM:
		return -EACCES;
	case -ENOSPC:
		return -EBUSY;
	default:
		return -EINVAL;
	}
}

void perfctr_event_online(unsigned int cpu)
{
	if (several_types)
		note_core_type(cpu);
}

void perfctr_event_init(void)
{
#ifdef PERFCTR_CPU_ONE_SOURCE
	/*
	 * Make no event here: that would change registers that we may claim next, or that nobody
	 * claims.
	 */
	available = perfctr_cpu_shared_exists();
#else
	cpus_read_lock();
	note_core_types();
	cpus_read_unlock();
	available = nr_core_types;
#endif
}
