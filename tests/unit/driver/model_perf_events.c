// SPDX-License-Identifier: GPL-2.0
/* See model_perf_events.h. */
#include <check.h>

#include "model_perf_events.h"
#include "perf/shared.h"

struct model_event {
	struct perf_event event;
	struct model_event *next;
	bool others;
	s64 left;		/* until the counter overflows */
};

static struct model_event *events;	/* in the order in which they were made */

bool model_no_perf;
u32 model_perf_differs;
bool model_perf_calls;
unsigned int model_perf_asked;
unsigned int model_perf_live;
void (*model_perf_between)(void);

static struct {
	unsigned int after;
	long error;
} fail;

void model_perf_fail(unsigned int after, long error)
{
	fail.after = after;
	fail.error = error;
}

static long injected(void)
{
	long error = fail.error;

	if (!error || fail.after--)
		return 0;
	fail.error = 0;
	return error;
}

static struct model_event *of(const struct perf_event *event)
{
	return container_of((struct perf_event *)event, struct model_event, event);
}

/*
 * Counts
 */

u64 local64_read(const local64_t *l)
{
	u64 value = READ_ONCE(l->value);

	if (model_perf_between)
		model_perf_between();
	return value;
}

static u64 since(const struct perf_event *event)
{
	return (model_pmu_value(event) - event->hw.prev_count.value) & model_pmu_mask(event);
}

/* As x86_perf_event_update() */
static void update(struct perf_event *event)
{
	u64 delta = since(event);

	event->hw.prev_count.value = model_pmu_value(event);
	event->count.value += delta;
	of(event)->left -= (s64)delta;
}

/* As x86_perf_event_set_period() */
static void set_period(struct perf_event *event)
{
	s64 period = (s64)(model_pmu_mask(event) >> 1), *left = &of(event)->left;

	if (*left <= -period)
		*left = period;
	if (*left <= 0)
		*left += period;
	if (*left > period)
		*left = period;
	event->hw.prev_count.value = -(u64)*left;
	model_pmu_set(event, -(u64)*left & model_pmu_mask(event));
}

u64 model_perf_count(const struct perf_event *event)
{
	bool counts = event->state == PERF_EVENT_STATE_ACTIVE;

	return event->count.value + (counts ? since(event) : 0);
}

u64 model_perf_register(const struct perf_event *event)
{
	return model_pmu_value(event);
}

void model_perf_set_register(struct perf_event *event, u64 value)
{
	model_pmu_set(event, value & model_pmu_mask(event));
}

u64 model_perf_mask(const struct perf_event *event)
{
	return model_pmu_mask(event);
}

static void pmu_read(struct perf_event *event)
{
	lockdep_assert_irqs_disabled();
	ck_assert_msg(event->state == PERF_EVENT_STATE_ACTIVE && event->oncpu == (int)shim_cpu,
		      "CPU %u reads an event of CPU %u, in state %d", shim_cpu, event->cpu,
		      event->state);
	update(event);
	/* Only seen by who asks the driver: as if it knew of counts that are not in the register */
	if (model_perf_differs & BIT(shim_cpu) || (model_perf_calls && !event->was_read))
		event->count.value += 1000;
	event->was_read = true;
}

void model_perf_nmi(unsigned int cpu)
{
	unsigned int before = shim_cpu;
	struct model_event *one;

	shim_cpu = cpu;
	for (one = events; one; one = one->next) {
		struct perf_event *event = &one->event;

		if (event->state != PERF_EVENT_STATE_ACTIVE || event->cpu != cpu)
			continue;
		update(event);
		/* The top bit is set until it overflows. */
		if (!(model_pmu_value(event) & ~(model_pmu_mask(event) >> 1)))
			set_period(event);
	}
	shim_cpu = before;
}

/*
 * Who has a counter
 */

static void sched_out(struct perf_event *event, int state, bool ends)
{
	if (event->state == PERF_EVENT_STATE_ACTIVE) {
		update(event);
		model_pmu_del(event, ends);
		event->oncpu = -1;
	}
	event->state = state;
}

static bool sched_in(struct perf_event *event)
{
	int added = model_pmu_add(event);

	if (added < 0)
		return false;
	event->state = PERF_EVENT_STATE_ACTIVE;
	event->oncpu = (int)event->cpu;
	if (added)
		event->hw.prev_count.value = model_pmu_value(event);
	else
		set_period(event);
	return true;
}

/* All events of the CPU stop, and those start that find room. */
static void reschedule(unsigned int cpu)
{
	unsigned int before = shim_cpu;
	struct model_event *one;
	bool room = true;

	shim_cpu = cpu;
	for (one = events; one; one = one->next)
		if (one->event.cpu == cpu && one->event.state == PERF_EVENT_STATE_ACTIVE)
			sched_out(&one->event, PERF_EVENT_STATE_INACTIVE, false);
	for (one = events; one; one = one->next) {
		if (one->event.cpu != cpu || one->event.state != PERF_EVENT_STATE_INACTIVE)
			continue;
		room = room && sched_in(&one->event);
		if (!room)
			one->event.state = PERF_EVENT_STATE_ERROR;
	}
	shim_cpu = before;
}

void model_perf_lose(struct perf_event *event)
{
	unsigned int before = shim_cpu;

	ck_assert_int_eq(event->state, PERF_EVENT_STATE_ACTIVE);
	shim_cpu = event->cpu;
	sched_out(event, PERF_EVENT_STATE_ERROR, true);
	shim_cpu = before;
}

/*
 * Events that come and go
 */

/* The PMU that the event is for, by its type */
static struct pmu *find_pmu(u32 type, unsigned int cpu)
{
	static struct pmu pmus[2] = { { .read = pmu_read }, { .read = pmu_read } };
	u32 own = model_pmu_type(cpu);
	struct pmu *pmu = &pmus[own == MODEL_OTHER_TYPE];
	unsigned int other;

	pmu->type = own;
	pmu->capabilities = 0;
	/* So perf marks the PMUs of a hybrid processor. */
	for (other = 0; other < SHIM_CPUS; other++)
		if (model_pmu_type(other) != own)
			pmu->capabilities = PERF_PMU_CAP_EXTENDED_HW_TYPE;
	if (model_no_perf)
		return NULL;
	return type == own || type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE ? pmu :
											 NULL;
}

static bool excludes(const struct perf_event_attr *attr)
{
	return attr->exclude_user || attr->exclude_kernel || attr->exclude_hv ||
	       attr->exclude_idle || attr->exclude_host || attr->exclude_guest;
}

static int init(struct perf_event *event)
{
	int err = model_pmu_map(event);

	if (!err && model_pmu_no_exclude() && excludes(&event->attr))
		err = -EINVAL;
	return err ? err : model_pmu_reserve();
}

static struct perf_event *make(const struct perf_event_attr *attr, unsigned int cpu, bool others)
{
	struct pmu *pmu = find_pmu(attr->type, cpu);
	struct model_event *made, **link;
	int err;

	if (!pmu)
		return ERR_PTR(-ENOENT);
	if (!others && (shim_no_memory || shim_fails()))
		return ERR_PTR(-ENOMEM);
	made = calloc(1, sizeof(*made));
	if (!made)
		abort();
	made->event.attr = *attr;
	made->event.pmu = pmu;
	made->event.cpu = cpu;
	made->event.oncpu = -1;
	made->event.hw.idx = -1;
	made->event.state = attr->disabled ? PERF_EVENT_STATE_OFF : PERF_EVENT_STATE_INACTIVE;
	made->others = others;
	err = init(&made->event);
	if (err) {
		free(made);
		return ERR_PTR(err);
	}
	made->left = (s64)(model_pmu_mask(&made->event) >> 1);
	for (link = &events; *link; link = &(*link)->next)
		;
	*link = made;
	model_perf_live += !others;
	if (!attr->disabled)
		reschedule(cpu);
	return &made->event;
}

static void forget(struct perf_event *event)
{
	unsigned int before = shim_cpu;
	struct model_event **link;

	shim_cpu = event->cpu;
	sched_out(event, PERF_EVENT_STATE_OFF, true);
	shim_cpu = before;
	for (link = &events; *link && *link != of(event); link = &(*link)->next)
		;
	shim_assert(*link);
	*link = of(event)->next;
	model_pmu_unreserve();
	model_perf_live -= !of(event)->others;
	free(of(event));
}

unsigned int model_perf_guests;

/* Perf looks last whether a guest has the counters. */
static struct perf_event *make_for_guests(struct perf_event_attr *attr, unsigned int cpu)
{
	struct perf_event *event = make(attr, cpu, false);

	shim_assert(attr->disabled);
	if (IS_ERR(event) || !model_perf_guests)
		return event;
	forget(event);
	return ERR_PTR(-EOPNOTSUPP);
}

struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
						    struct task_struct *task,
						    void (*overflow)(void), void *context)
{
	long error;

	might_sleep();
	shim_assert(attr->pinned && attr->size == sizeof(*attr) && !task && !overflow && !context);
	shim_assert(cpu >= 0 && cpu < SHIM_CPUS && shim_online & BIT(cpu));
	/* No state is resumed there meanwhile. */
	ck_assert_msg(attr->disabled || shim_cpu == (unsigned int)cpu,
		      "CPU %u makes an event of CPU %d", shim_cpu, cpu);
	if (!attr->exclude_guest && !model_pmu_no_exclude())
		return make_for_guests(attr, (unsigned int)cpu);
	model_perf_asked++;
	error = injected();
	return error ? ERR_PTR(error) : make(attr, (unsigned int)cpu, false);
}

int perf_event_release_kernel(struct perf_event *event)
{
	might_sleep();
	shim_assert(!of(event)->others);
	forget(event);
	return 0;
}

struct perf_event *model_perf_other(unsigned int cpu, u32 type, u64 config, bool enabled)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = !enabled,
		.pinned = 1,
	};
	struct perf_event *event = make(&attr, cpu, true);

	ck_assert_msg(!IS_ERR(event), "another user's event: %ld", PTR_ERR(event));
	return event;
}

void model_perf_enable(struct perf_event *event)
{
	event->state = PERF_EVENT_STATE_INACTIVE;
	reschedule(event->cpu);
}

void model_perf_release_other(struct perf_event *event)
{
	shim_assert(of(event)->others);
	forget(event);
}

bool model_perf_is_idle(void)
{
	return !events;
}

void model_perf_expect_none(void)
{
	const struct model_event *one;

	for (one = events; one; one = one->next)
		ck_assert_msg(one->others, "event %#llx of CPU %u was not released",
			      one->event.attr.config, one->event.cpu);
	ck_assert_uint_eq(model_perf_live, 0);
}

struct perf_event *model_perf_event(unsigned int cpu, unsigned int set)
{
	struct perf_event *event = per_cpu_ptr(&perfctr_shared_cpu, cpu)->event[set];
	const struct model_event *one;

	for (one = events; one; one = one->next)
		if (&one->event == event)
			return event;
	return NULL;
}
