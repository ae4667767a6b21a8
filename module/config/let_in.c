// SPDX-License-Identifier: GPL-2.0
/* Looks at each thread that comes to a CPU: see let_in.h. */

#include <linux/irq_work.h>
#include <linux/lockdep.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <trace/events/sched.h>

#include "base/hook.h"
#include "arch/user.h"
#include "perf/shared.h"
#include "switch/run.h"
#include "switch/suspend.h"
#include "config/config.h"
#include "config/let_in.h"

#ifdef PERFCTR_CPU_PERMITS_PROCESSES
/*
 * This probe runs before each switch, and so before sched_out(), with the runqueue locked. The
 * probe also sees permitted threads that have no state.
 *
 * The probe makes each switch of each thread slower. Where the kernel mitigates ITS (indirect
 * target selection), a return in the lower half of a cache line costs one more jump. This alignment
 * puts our return in the upper half.
 */
static __aligned(64) notrace void probe_switch(PERFCTR_SWITCH_PROBE_ARGS)
{
	if (unlikely(perfctr_cpu_is_permitted(next)))
		perfctr_let_in(next);
}

static struct perfctr_probe switch_probe = PERFCTR_PROBE(sched_switch, probe_switch);

static void guard_closely(struct work_struct *unused);
static DECLARE_WORK(guard_work, guard_closely);

/*
 * If current is not permitted, perf's attribute rdpmc is 2. Every process may then read registers,
 * and the kernel calls the probed function at each change of mm. An interrupt at each of these
 * would cost more than a look at each switch.
 */
static int look_for_reader(void *unused)
{
	if (perfctr_cpu_is_permitted(current))
		perfctr_let_in(current);
	else
		queue_work(perfctr_wq, &guard_work);
	return 0;
}

static void reader_came(struct irq_work *unused)
{
	perfctr_run_here(look_for_reader, NULL);
}

static DEFINE_PER_CPU(struct irq_work, came_work);

/*
 * In the middle of a switch we do not know which thread comes, and its counters may be resumed
 * already. So an irq_work looks at it. This interrupt waits in the local APIC from here on. The
 * thread takes it as soon as it turns interrupts on, at the end of the switch, and so before it
 * runs in user mode.
 */
static notrace void reader_comes(void)
{
	irq_work_queue(this_cpu_ptr(&came_work));
}

/*
 * The watch is on while it is wanted, except while each switch is looked at, because it would find
 * nobody more. All protected by watch_mutex.
 */
static DEFINE_MUTEX(watch_mutex);
static bool watch_wanted;
static bool watch_on;
static bool switches_on;

static int update_watch(void)
{
	bool on = watch_wanted && !switches_on;
	int err;

	lockdep_assert_held(&watch_mutex);
	if (on == watch_on)
		return 0;
	err = perfctr_cpu_watch_readers(on ? reader_comes : NULL);
	if (!err)
		watch_on = on;
	return err;
}

static int turn_watch(bool on)
{
	int err;

	mutex_lock(&watch_mutex);
	watch_wanted = on;
	err = update_watch();
	if (err)
		watch_wanted = !on;
	mutex_unlock(&watch_mutex);
	return err;
}

static int turn_switches(bool on)
{
	int err = on ? perfctr_probes_register(&switch_probe, 1) : 0;

	if (err)
		return err;
	mutex_lock(&watch_mutex);
	switches_on = on;
	err = update_watch();
	if (err && !on)
		switches_on = true;
	mutex_unlock(&watch_mutex);
	if (on)
		return 0;
	if (!err)
		perfctr_probes_unregister(&switch_probe, 1);
	return err;
}

static struct perfctr_hook switches_hook = {
	.mutex = __MUTEX_INITIALIZER(switches_hook.mutex),
	.turn = turn_switches,
	.off = __DELAYED_WORK_INITIALIZER(switches_hook.off, perfctr_hook_off, 0),
};

static struct perfctr_hook watch_hook = {
	.mutex = __MUTEX_INITIALIZER(watch_hook.mutex),
	.turn = turn_watch,
	.off = __DELAYED_WORK_INITIALIZER(watch_hook.off, perfctr_hook_off, 0),
};

int perfctr_let_in_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(came_work, cpu) = IRQ_WORK_INIT_HARD(reader_came);
	/* This probe runs before the probe of switch.c. */
	switch_probe.prio = 1;
	return perfctr_probes_find(&switch_probe, 1);
}

void perfctr_let_in_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&came_work, cpu));
	flush_work(&guard_work);
	perfctr_hook_exit(&watch_hook);
	perfctr_hook_exit(&switches_hook);
}

int perfctr_let_in_get(void)
{
	return perfctr_hook_get(&switches_hook);
}

void perfctr_let_in_put(void)
{
	perfctr_hook_put(&switches_hook);
}

/* How registers are guarded from processes that perf permits, until perfctr_guard_end() */
static enum guard {
	UNGUARDED,
	WATCHED,	/* we are a user of watch_hook */
	GUARDED,	/* we are a user of switches_hook */
} guard;		/* config_mutex */

static void put(enum guard what)
{
	if (what == WATCHED)
		perfctr_hook_put(&watch_hook);
	else if (what == GUARDED)
		perfctr_hook_put(&switches_hook);
}

int perfctr_guard_begin(bool closely)
{
	enum guard mine = WATCHED, other;
	int err = 0;

	if (closely || perfctr_hook_get(&watch_hook)) {
		mine = GUARDED;
		err = perfctr_hook_get(&switches_hook);
	}
	if (err)
		return err;
	mutex_lock(&perfctr_config_mutex);
	other = mine;
	if (guard < mine) {
		other = guard;
		guard = mine;
	}
	mutex_unlock(&perfctr_config_mutex);
	put(other);
	return 0;
}

bool perfctr_guard_is_on(bool closely)
{
	lockdep_assert_held(&perfctr_config_mutex);
	return guard >= (closely ? GUARDED : WATCHED);
}

void perfctr_guard_end(void)
{
	lockdep_assert_held(&perfctr_config_mutex);
	if (perfctr_nr_claimed[false] || perfctr_cpu_lingers())
		return;
	put(guard);
	guard = UNGUARDED;
}

/* If this fails, we go on watching. */
static void guard_closely(struct work_struct *unused)
{
	perfctr_guard_begin(true);
	/* The last counters may have been given back meanwhile. */
	mutex_lock(&perfctr_config_mutex);
	perfctr_guard_end();
	mutex_unlock(&perfctr_config_mutex);
}
#else
int perfctr_let_in_init(void)
{
	return 0;
}

void perfctr_let_in_exit(void)
{
}

int perfctr_let_in_get(void)
{
	return 0;
}

void perfctr_let_in_put(void)
{
}

int perfctr_guard_begin(bool closely)
{
	return 0;
}

bool perfctr_guard_is_on(bool closely)
{
	return true;
}

void perfctr_guard_end(void)
{
}
#endif
