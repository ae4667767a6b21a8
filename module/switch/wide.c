// SPDX-License-Identifier: GPL-2.0
/*
 * A wide is the counters of a CPU, and of no thread. wide.h says more.
 *
 * If a wide's config is native, the CPU's registers count the config all the time. Meanwhile no
 * thread has native counters (config.c), nor the permission to read registers (permit.c; on RISC-V
 * config.c). So no switch loads, stops or zeroes the registers. Whoever changes them for other
 * reasons, ageing for example, calls perfctr_run(), which suspends the wides. If the config is
 * shared, the wide reads the same events of perf's as all states.
 */

#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "arch/cpu.h"
#include "arch/sums.h"
#include "perf/shared.h"
#include "perf/told.h"
#include "thread/kin.h"
#include "switch/wide.h"

/**
 * struct wides - whether the wides of a CPU count
 * @nr_suspends: number of calls of perfctr_wides_suspend() less those of perfctr_wides_resume()
 * @online: perfctr_wides_online() was called, so the wides may count
 * @asleep: the CPU sleeps, and may lose its counters
 * @slept_at: the clock when the CPU went to sleep
 * @idle: the CPU runs the idle task; kept only while there are wides with no_idle
 */
struct wides {
	unsigned int nr_suspends;
	bool online;
	bool asleep;
	bool idle;
	u64 slept_at;
};

static DEFINE_PER_CPU(struct wides, wides);
DEFINE_PER_CPU(struct hlist_head, perfctr_wides);

static bool may_count(const struct wides *own, const struct perfctr_wide *wide)
{
	return own->online && !own->asleep && !own->nr_suspends && !(own->idle && wide->no_idle);
}

struct perfctr_wide *perfctr_wide_create(struct perfctr_config *config, unsigned int cpu,
					 bool clock_on, bool no_idle)
{
	struct perfctr_wide *wide;
	unsigned int i;

	wide = kzalloc(struct_size(wide, state.ctr, config->nr), GFP_KERNEL_ACCOUNT);
	if (!wide)
		return NULL;
	wide->config = config;
	wide->cpu = cpu;
	wide->clock_on = clock_on;
	wide->no_idle = no_idle;
	wide->state.end = wide->state.ctr + config->nr;
	for (i = 0; i < config->nr; i++) {
		if (config->shared)
			perfctr_shared_bind(&wide->state.ctr[i], config->hw[i]);
		else
			perfctr_cpu_bind(&wide->state.ctr[i], config->hw[i]);
	}
	return wide;
}

static notrace void wide_lose(struct perfctr_wide *wide, u32 error)
{
	if (wide->config->shared)
		WRITE_ONCE(perfctr_shared_any_lost, true);
	WRITE_ONCE(wide->error, error);
}

static notrace void suspend(struct perfctr_wide *wide)
{
	const struct perfctr_config *config = wide->config;

	if (!wide->resumed)
		return;
	wide->resumed = false;
	if (config->shared) {
		if (perfctr_shared_suspend(&wide->state, wide->cpu, config->call))
			wide_lose(wide, PERFCTR_ERROR_LOST);
	} else if (perfctr_config_has_own_way(config)) {
		perfctr_cpu_suspend_own_way(config, &wide->state);
	} else {
		perfctr_cpu_suspend(&wide->state);
	}
}

/*
 * Returns true if threads could read these registers, although under the policy in force no thread
 * may: all threads, or current, because perf permits it.
 */
static notrace bool is_seen(void)
{
	return perfctr_guards_all() || (perfctr_cpu_is_permitted(current) &&
					READ_ONCE(perfctr_user_read) != PERFCTR_USER_READ_OPEN);
}

static notrace void wide_resume_native(struct perfctr_wide *wide)
{
	const struct perfctr_config *config = wide->config;

	if (config->nr && is_seen()) {
		wide_lose(wide, PERFCTR_ERROR_LOST);
		return;
	}
	if (!perfctr_cpu_has_loaded(config) && perfctr_cpu_load(config)) {
		wide_lose(wide, perfctr_cpu_changed() ? PERFCTR_ERROR_CHANGED : PERFCTR_ERROR_LOST);
		return;
	}
	wide->resumed = true;
	if (perfctr_config_has_own_way(config))
		perfctr_cpu_resume_own_way(config, &wide->state);
	else
		perfctr_cpu_resume(&wide->state, false);
}

/*
 * Lets this CPU join the claims. perfctr_cpus_join() takes the registers, and checks who may read
 * them. That check suspends and resumes all wides of this CPU. The wides may not be resumed before
 * the registers are taken, so the outer pair of calls keeps them suspended. In the end all wides
 * are resumed, and so is the wide for which we were called.
 */
static notrace void join(void)
{
	perfctr_wides_suspend();
	perfctr_cpus_join();
	perfctr_wides_resume();
}

static notrace void wide_resume(struct perfctr_wide *wide)
{
	const struct perfctr_config *config = wide->config;
	u32 evicted = READ_ONCE(config->evicted);

	if (wide->resumed || wide->error)
		return;
	/* An isolated CPU takes no part in claims until it joins. */
	if (config->nr && unlikely(!perfctr_cpus_told_here())) {
		join();
		if (wide->resumed || wide->error)
			return;
	}
	if (evicted) {
		wide_lose(wide, evicted);
	} else if (!config->shared) {
		wide_resume_native(wide);
	} else {
		wide->resumed = true;
		/* If perf has lost an event, suspend() adds again what the resume subtracted. */
		if (perfctr_shared_resume(&wide->state, wide->cpu, config->call))
			suspend(wide);
	}
}

void perfctr_wide_start(struct perfctr_wide *wide)
{
	struct wides *own = per_cpu_ptr(&wides, wide->cpu);

	lockdep_assert_irqs_disabled();
	/* If the wide's CPU is offline, perfctr_wides_online() sets own->idle later. */
	if (wide->no_idle && wide->cpu == smp_processor_id())
		own->idle = !current->pid;
	hlist_add_head(&wide->here, per_cpu_ptr(&perfctr_wides, wide->cpu));
	if (may_count(own, wide))
		wide_resume(wide);
}

void perfctr_wide_stop(struct perfctr_wide *wide)
{
	lockdep_assert_irqs_disabled();
	suspend(wide);
	hlist_del(&wide->here);
}

/*
 * Reads a wide, which stays resumed and so misses no event. Returns true if an event of perf's is
 * lost.
 */
static bool wide_sample(const struct perfctr_wide *wide, u64 *value)
{
	const struct perfctr_config *config = wide->config;
	const struct perfctr_cpu_ctr *ctr;
	bool lost = false;

	*value++ = wide->state.clock + perfctr_cpu_clock();
	for (ctr = wide->state.ctr; ctr != wide->state.end; ctr++)
		*value++ = ctr->acc + (config->shared ?
				       perfctr_shared_read(ctr, wide->cpu, config->call, &lost) :
				       perfctr_cpu_read(ctr));
	return lost;
}

/* Stops the wide with an error if its counters were evicted, or changed by others. */
static void wide_look(struct perfctr_wide *wide)
{
	const struct perfctr_config *config = wide->config;
	u32 error = READ_ONCE(config->evicted);

	if (!error && config->nr && !config->shared && !perfctr_cpu_verify())
		error = PERFCTR_ERROR_CHANGED;
	if (!error)
		return;
	suspend(wide);
	wide_lose(wide, error);
}

void perfctr_wide_read(struct perfctr_wide *wide, u64 *value)
{
	lockdep_assert_irqs_disabled();
	if (wide->resumed)
		wide_look(wide);
	if (wide->resumed && !perfctr_config_has_own_way(wide->config)) {
		if (!wide_sample(wide, value))
			return;
		suspend(wide);
		perfctr_cpu_store_sums(&wide->state, value);
	} else if (wide->resumed) {
		perfctr_cpu_sample_own_way(wide->config, &wide->state, value);
	} else {
		perfctr_cpu_store_sums(&wide->state, value);
	}
}

static void suspend_all(void)
{
	struct perfctr_wide *wide;

	lockdep_assert_irqs_disabled();
	hlist_for_each_entry(wide, this_cpu_ptr(&perfctr_wides), here)
		suspend(wide);
}

void perfctr_wides_suspend(void)
{
	struct wides *own = this_cpu_ptr(&wides);

	own->nr_suspends++;
	suspend_all();
}

notrace void perfctr_wides_lose(void)
{
	struct perfctr_wide *wide;

	lockdep_assert_irqs_disabled();
	hlist_for_each_entry(wide, this_cpu_ptr(&perfctr_wides), here) {
		if (!wide->resumed || wide->config->shared || !wide->config->nr)
			continue;
		suspend(wide);
		wide_lose(wide, PERFCTR_ERROR_LOST);
	}
}

static void resume_all(struct wides *own)
{
	struct perfctr_wide *wide;

	hlist_for_each_entry(wide, this_cpu_ptr(&perfctr_wides), here)
		if (may_count(own, wide))
			wide_resume(wide);
}

void perfctr_wides_resume(void)
{
	struct wides *own = this_cpu_ptr(&wides);

	lockdep_assert_irqs_disabled();
	own->nr_suspends--;
	resume_all(own);
}

void perfctr_wides_online(void)
{
	struct wides *own = this_cpu_ptr(&wides);

	lockdep_assert_irqs_disabled();
	own->online = true;
	/* We run in a kernel thread, and not in the idle task. */
	own->idle = false;
	resume_all(own);
}

void perfctr_wides_offline(void)
{
	struct wides *own = this_cpu_ptr(&wides);

	suspend_all();
	own->online = false;
}

void perfctr_wides_sleep(bool asleep)
{
	struct wides *own = this_cpu_ptr(&wides);

	struct perfctr_wide *wide;

	if (asleep) {
		own->slept_at = perfctr_cpu_clock();
		hlist_for_each_entry(wide, this_cpu_ptr(&perfctr_wides), here)
			wide->slept = wide->resumed;
		suspend_all();
	}
	own->asleep = asleep;
	if (asleep)
		return;
	hlist_for_each_entry(wide, this_cpu_ptr(&perfctr_wides), here) {
		/* In the idle states of CPU_PM the clock goes on, and counters do not. */
		if (IS_ENABLED(CONFIG_CPU_PM) && wide->slept)
			wide->state.clock += perfctr_cpu_clock() - own->slept_at;
		wide->slept = false;
	}
	resume_all(own);
}

notrace void perfctr_wides_idle(bool idle)
{
	struct wides *own = this_cpu_ptr(&wides);
	struct perfctr_wide *wide;

	lockdep_assert_irqs_disabled();
	own->idle = idle;
	hlist_for_each_entry(wide, this_cpu_ptr(&perfctr_wides), here) {
		if (!wide->no_idle)
			continue;
		if (idle)
			suspend(wide);
		else if (may_count(own, wide))
			wide_resume(wide);
	}
}

bool perfctr_wides_on(unsigned int cpu)
{
	return per_cpu(perfctr_wides, cpu).first;
}
