// SPDX-License-Identifier: GPL-2.0
/* Looks at each thread that comes to a CPU: see let_in.h. */

#include <linux/lockdep.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <trace/events/sched.h>

#include "base/hook.h"
#include "arch/user.h"
#include "perf/shared.h"
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

static int turn_switches(bool on)
{
	if (on)
		return perfctr_probes_register(&switch_probe, 1);
	perfctr_probes_unregister(&switch_probe, 1);
	return 0;
}

static struct perfctr_hook switches_hook = {
	.mutex = __MUTEX_INITIALIZER(switches_hook.mutex),
	.turn = turn_switches,
	.off = __DELAYED_WORK_INITIALIZER(switches_hook.off, perfctr_hook_off, 0),
};

int perfctr_let_in_init(void)
{
	/* This probe runs before the probe of switch.c. */
	switch_probe.prio = 1;
	return perfctr_probes_find(&switch_probe, 1);
}

void perfctr_let_in_exit(void)
{
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
#endif

static bool guards;	/* config_mutex */

int perfctr_guard_begin(void)
{
	int err = perfctr_let_in_get();

	if (err)
		return err;
	mutex_lock(&perfctr_config_mutex);
	if (guards)
		perfctr_let_in_put();
	guards = true;
	mutex_unlock(&perfctr_config_mutex);
	return 0;
}

bool perfctr_guard_is_on(void)
{
	lockdep_assert_held(&perfctr_config_mutex);
	return guards;
}

void perfctr_guard_end(void)
{
	lockdep_assert_held(&perfctr_config_mutex);
	if (!guards || perfctr_nr_claimed[false] || perfctr_cpu_lingers())
		return;
	guards = false;
	perfctr_let_in_put();
}
