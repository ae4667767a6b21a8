// SPDX-License-Identifier: GPL-2.0
/*
 * How it works, as Linux's arch/x86/events/core.c and kernel/events/core.c are in 6.1 to 7.2:
 *
 * - x86_pmu_add() without PERF_EF_START gives the event a counter, but marks it PERF_HES_ARCH, and
 *   x86_pmu_enable() then never starts it. A counter that was never started is not in active_mask.
 *   So perf's interrupt handler, its enable_all and its disable_all leave the counter alone.
 * - x86_schedule_events() lets each event keep the counter in hw.idx if no two events want the same
 *   one. So we write the number of the counter that we want to hw.idx before we enable a
 *   placeholder, and perf takes exactly this counter. For the same reason perf moves no placeholder
 *   as long as each event of others has a number of its own in hw.idx. If two events want the same
 *   counter, perf assigns all counters anew. Our add() prevents that where it can.
 * - perf only assigns counters when it adds events, and only applies this in x86_pmu_enable(), with
 *   interrupts off. So that is where we look.
 */

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "base/work.h"
#include "arch/beside.h"

/*
 * prev_count of a placeholder. perf sets prev_count whenever it writes to an event's counter. No
 * counter has so many bits.
 */
#define UNTOUCHED	0x5a5a5a5a5a5a5a5aLL

#define MAX_PRESENT	64	/* perf has at most so many counters on a CPU */

/**
 * struct holder - the events of a CPU. Only this CPU accesses it, with interrupts off, but other
 *	CPUs may read @held, and may change everything while the CPU is offline
 * @held: the counters that we hold
 * @event: the placeholder of each of @held
 * @present: the events that perf has added, ours too
 * @nr_present: number of these
 * @added: an event was added since perf was last enabled
 */
struct holder {
	u64 held;
	struct perf_event *event[PERFCTR_BESIDE_MAX];
	struct perf_event *present[MAX_PRESENT];
	unsigned int nr_present;
	bool added;
};

static DEFINE_PER_CPU(struct holder, holders);

static const struct perfctr_beside *driver;	/* constant after init */
static struct pmu *the_pmu;			/* constant after init */

/* perf's own functions; constant while we are hooked */
static int (*perfs_add)(struct perf_event *event, int flags);
static void (*perfs_del)(struct perf_event *event, int flags);
static void (*perfs_enable)(struct pmu *pmu);
static int (*perfs_init)(struct perf_event *event);
static bool hooked;
static bool buried;	/* somebody has hooked the functions after us, so ours stay in use */

/* A placeholder is known by its handler, which perf never calls. */
static void no_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
}

static bool is_placeholder(const struct perf_event *event)
{
	return event->overflow_handler == no_overflow;
}

/* Number of tasks in our_init() */
static atomic_t initializing = ATOMIC_INIT(0);

/* What perf calls when an event of a user overflows, forward and backward. Constant after init. */
static perf_overflow_handler_t users_handlers[2];

/*
 * Returns true if a user opens this event. The kernel's own events have other handlers. The child
 * of a process with inherited events gets its events in fork(2), which must not fail.
 */
static bool is_users(const struct perf_event *event)
{
	return !event->parent && (event->overflow_handler == users_handlers[0] ||
				  event->overflow_handler == users_handlers[1]);
}

/* Returns true if the event is pinned and counts a CPU. Only the leader of a group says so. */
static notrace bool is_pinned(const struct perf_event *event)
{
	return event->group_leader->attr.pinned && !event->hw.target;
}

/* Returns true if perf has given this counter to the placeholder, with all that its event needs. */
static notrace bool has_counter(const struct perf_event *event, unsigned int idx)
{
	return event->state == PERF_EVENT_STATE_ACTIVE && event->hw.idx == (int)idx &&
	       !((event->hw.config ^ event->attr.config) & driver->event_bits);
}

static notrace u64 counter_bit(const struct perf_event *event)
{
	int idx = event->hw.idx;

	return idx >= 0 && idx < 64 ? BIT_ULL(idx) : 0;
}

static notrace u64 present_counters(const struct holder *own)
{
	unsigned int i;
	u64 counters = 0;

	for (i = 0; i < own->nr_present; i++)
		counters |= counter_bit(own->present[i]);
	return counters;
}

/* Returns true if perf has added all placeholders of this CPU. */
static notrace bool all_present(const struct holder *own)
{
	unsigned int i, nr = 0;

	for (i = 0; i < own->nr_present; i++)
		nr += is_placeholder(own->present[i]);
	return nr >= hweight64(own->held);
}

static notrace void remember(struct holder *own, struct perf_event *event)
{
	if (own->nr_present < MAX_PRESENT)
		own->present[own->nr_present++] = event;
}

static notrace void forget(struct holder *own, const struct perf_event *event)
{
	unsigned int i;

	for (i = 0; i < own->nr_present; i++) {
		if (own->present[i] != event)
			continue;
		own->present[i] = own->present[--own->nr_present];
		return;
	}
}

/*
 * Gives an event of others a counter of its own. Returns false if the event must wait. perf takes a
 * number in hw.idx for one that it has programmed before if last_cpu is this CPU, so a new number
 * needs another last_cpu.
 */
static notrace bool give_place(const struct holder *own, struct perf_event *event)
{
	u64 taken = own->held | present_counters(own);
	int idx;

	if (event->hw.idx >= 0 && !(taken & counter_bit(event)))
		return true;
	idx = driver->place(event, taken);
	/*
	 * If perf cannot add a pinned event, perf does not even try the younger ones of that CPU.
	 * If perf has not come to all of ours yet, these would be lost. So the older event gets a
	 * counter, even if we lose one.
	 */
	if (idx == PERFCTR_BESIDE_NONE && is_pinned(event) && !all_present(own))
		idx = PERFCTR_BESIDE_ANY;
	if (idx == PERFCTR_BESIDE_NONE)
		return false;
	event->hw.idx = idx;
	event->hw.last_cpu = -1;
	return true;
}

static notrace int our_add(struct perf_event *event, int flags)
{
	struct holder *own = this_cpu_ptr(&holders);
	int err;

	lockdep_assert_irqs_disabled();
	/* Even if this fails, perf may have removed other events in the same go. */
	own->added = true;
	if (is_placeholder(event))
		flags &= ~PERF_EF_START;
	else if (!give_place(own, event))
		return -EAGAIN;
	err = perfs_add(event, flags);
	if (!err)
		remember(own, event);
	return err;
}

static notrace void our_del(struct perf_event *event, int flags)
{
	forget(this_cpu_ptr(&holders), event);
	perfs_del(event, flags);
}

/* Compares the placeholders of this CPU with what perf has made of them. */
static notrace void look(struct holder *own)
{
	u64 held = own->held, lost = 0, written = 0, in_use = 0, left;

	for (left = held; left; left &= left - 1) {
		unsigned int idx = __ffs64(left);
		struct perf_event *event = own->event[idx];

		if (!has_counter(event, idx)) {
			lost |= BIT_ULL(idx);
		} else if (local64_read(&event->hw.prev_count) != UNTOUCHED) {
			local64_set(&event->hw.prev_count, UNTOUCHED);
			written |= BIT_ULL(idx);
		}
	}
	if (!lost && !written)
		return;
	WRITE_ONCE(own->held, held & ~lost);
	if (lost)
		in_use = present_counters(own);
	driver->found(lost, lost & ~in_use, written);
}

static notrace void our_enable(struct pmu *pmu)
{
	struct holder *own = this_cpu_ptr(&holders);
	bool look_here = own->added && own->held;

	lockdep_assert_irqs_disabled();
	own->added = false;
	if (look_here)
		driver->changes(false);
	perfs_enable(pmu);
	if (look_here)
		look(own);
	if (own->held & driver->shared)
		driver->restore();
	if (look_here)
		driver->changes(true);
}

/* A task opens an event. May sleep. */
static int our_init(struct perf_event *event)
{
	unsigned int cpu = event->cpu < 0 ? raw_smp_processor_id() : (unsigned int)event->cpu;
	int err;

	atomic_inc(&initializing);
	err = perfs_init(event);
	if (!err && is_users(event) && driver->starves(event, perfctr_beside_held(cpu))) {
		if (event->destroy)
			event->destroy(event);
		event->destroy = NULL;
		err = -EBUSY;
	}
	atomic_dec(&initializing);
	return err;
}

static void hook(void)
{
	if (hooked || buried) {
		hooked = true;
		return;
	}
	perfs_add = the_pmu->add;
	perfs_del = the_pmu->del;
	perfs_enable = the_pmu->pmu_enable;
	perfs_init = the_pmu->event_init;
	/* The CPUs must see perf's functions before they see ours. */
	smp_wmb();
	WRITE_ONCE(the_pmu->del, our_del);
	WRITE_ONCE(the_pmu->add, our_add);
	WRITE_ONCE(the_pmu->pmu_enable, our_enable);
	WRITE_ONCE(the_pmu->event_init, our_init);
	hooked = true;
}

static void forget_all(void *unused)
{
	struct holder *own = this_cpu_ptr(&holders);

	own->nr_present = 0;
	own->added = false;
}

void perfctr_beside_unhook(void)
{
	if (!hooked)
		return;
	hooked = false;
	if (READ_ONCE(the_pmu->add) != our_add || READ_ONCE(the_pmu->del) != our_del ||
	    READ_ONCE(the_pmu->pmu_enable) != our_enable ||
	    READ_ONCE(the_pmu->event_init) != our_init) {
		/* Whoever has hooked after us calls our hooks, so the module must stay. */
		if (!buried)
			__module_get(THIS_MODULE);
		buried = true;
		return;
	}
	WRITE_ONCE(the_pmu->event_init, perfs_init);
	WRITE_ONCE(the_pmu->pmu_enable, perfs_enable);
	WRITE_ONCE(the_pmu->add, perfs_add);
	WRITE_ONCE(the_pmu->del, perfs_del);
	/* These hooks run with interrupts off, so none of them runs on a CPU where this runs. */
	on_each_cpu(forget_all, NULL, 1);
	if (buried)
		module_put(THIS_MODULE);
	buried = false;
}

bool perfctr_beside_exit(void)
{
	synchronize_rcu();
	/*
	 * our_init() only sleeps while it is counted in initializing. Before and after that, a task
	 * may be preempted in it, and synchronize_rcu_tasks() waits until the task goes on.
	 */
	synchronize_rcu_tasks();
	while (atomic_read(&initializing))
		schedule_timeout_uninterruptible(1);
	synchronize_rcu_tasks();
	return !buried;
}

/* Makes a placeholder, which perf does not know of until it is enabled. */
static struct perf_event *make_placeholder(unsigned int cpu, unsigned int idx)
{
	struct perf_event_attr attr = {
		.type = driver->type,
		.size = sizeof(attr),
		.disabled = 1,
		.pinned = 1,
		.exclude_user = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	driver->describe(idx, &attr);
	return perf_event_create_kernel_counter(&attr, cpu, NULL, no_overflow, NULL);
}

/*
 * Returns true if perf has given this CPU's counter @idx to the placeholder, which is ours from now
 * on.
 */
static bool admit(struct perf_event *event, unsigned int idx)
{
	struct holder *own;
	bool ok;

	local_irq_disable();
	own = this_cpu_ptr(&holders);
	ok = has_counter(event, idx);
	if (ok) {
		local64_set(&event->hw.prev_count, UNTOUCHED);
		own->event[idx] = event;
		WRITE_ONCE(own->held, own->held | BIT_ULL(idx));
	}
	local_irq_enable();
	return ok;
}

/* Returns true if a pinned event has the counter. Such an event comes before a new placeholder. */
static bool is_taken(unsigned int idx)
{
	const struct holder *own;
	bool taken = false;
	unsigned int i;

	local_irq_disable();
	own = this_cpu_ptr(&holders);
	for (i = 0; i < own->nr_present; i++) {
		const struct perf_event *event = own->present[i];

		taken |= event->hw.idx == (int)idx && is_pinned(event);
	}
	local_irq_enable();
	return taken;
}

/*
 * Perf may only be asked for a counter that it can give. If two events want the same counter, perf
 * assigns all counters anew, and others would lose theirs. We do not know the events that were
 * there before the hooks, but perf adds them again when it adds the first placeholder.
 */
static int hold_one(unsigned int idx)
{
	struct perf_event *event;

	if (is_taken(idx))
		return -EBUSY;
	event = make_placeholder(smp_processor_id(), idx);
	if (IS_ERR(event))
		return PTR_ERR(event);
	event->hw.idx = idx;
	perf_event_enable(event);
	if (admit(event, idx))
		return 0;
	perf_event_release_kernel(event);
	return -EBUSY;
}

/* Releases the placeholders that have lost their counters, so that they do not take others. */
static void release_lost(void)
{
	struct holder *own = this_cpu_ptr(&holders);
	unsigned int idx;

	for (idx = 0; idx < PERFCTR_BESIDE_MAX; idx++) {
		if (!own->event[idx] || READ_ONCE(own->held) & BIT_ULL(idx))
			continue;
		perf_event_release_kernel(own->event[idx]);
		own->event[idx] = NULL;
	}
}

/*
 * Runs in a kernel thread on the CPU. perf would not make an event for a caller who may not use
 * perf.
 */
static long hold_here(void *counters)
{
	u64 left;
	int err;

	release_lost();
	for (left = *(u64 *)counters; left; left &= left - 1) {
		err = hold_one(__ffs64(left));
		if (err)
			return err;
	}
	return 0;
}

int perfctr_beside_hold(unsigned int cpu, u64 counters)
{
	u64 left = counters & ~perfctr_beside_held(cpu);

	if (!left)
		return 0;
	hook();
	return perfctr_work_on_cpu(cpu, hold_here, &left);
}

static void drop(void *counters)
{
	struct holder *own = this_cpu_ptr(&holders);

	WRITE_ONCE(own->held, own->held & ~*(u64 *)counters);
}

void perfctr_beside_release(unsigned int cpu, u64 counters)
{
	struct holder *own = per_cpu_ptr(&holders, cpu);
	unsigned int idx;

	if (smp_call_function_single(cpu, drop, &counters, 1)) {
		/* The CPU is offline. */
		own->held &= ~counters;
		own->nr_present = 0;
		own->added = false;
	}
	for (idx = 0; idx < PERFCTR_BESIDE_MAX; idx++) {
		if (!(counters & BIT_ULL(idx)) || !own->event[idx])
			continue;
		perf_event_release_kernel(own->event[idx]);
		own->event[idx] = NULL;
	}
}

u64 perfctr_beside_held(unsigned int cpu)
{
	return READ_ONCE(per_cpu(holders, cpu).held);
}

/* Finds out what handler perf gives an event without one. */
static int find_users_handler(bool backward)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.disabled = 1,
		.write_backward = backward,
	};
	struct perf_event *event = perf_event_create_kernel_counter(&attr, -1, current, NULL,
								    NULL);

	if (IS_ERR(event))
		return PTR_ERR(event);
	users_handlers[backward] = event->overflow_handler;
	perf_event_release_kernel(event);
	return 0;
}

int perfctr_beside_init(const struct perfctr_beside *beside)
{
	struct perf_event *event;
	int err = find_users_handler(false) ?: find_users_handler(true);

	if (err)
		return err;
	driver = beside;
	event = make_placeholder(raw_smp_processor_id(), 0);
	if (IS_ERR(event))
		return PTR_ERR(event);
	the_pmu = event->pmu;
	perf_event_release_kernel(event);
	return 0;
}
