// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a function on CPUs while neither a state nor a wide is resumed there.
 */

#include <linux/cpumask.h>
#include <linux/smp.h>

#include "base/account.h"
#include "perf/told.h"
#include "thread/notify.h"
#include "switch/resume.h"
#include "switch/run.h"
#include "switch/suspend.h"
#include "switch/wide.h"

struct run {
	int (*fn)(void *arg);
	void *arg;
	int err;
};

/*
 * Returns true if the state is suspended before fn() and resumed after it. The resume takes into
 * account what fn() has changed. A state with RAW is resumed even while it is held, because its
 * permission follows the policy.
 */
static bool must_resume(const struct vperfctr *perfctr)
{
	return perfctr->seq & 1 || perfctr->raw;
}

int perfctr_run_here(int (*fn)(void *arg), void *arg)
{
	struct vperfctr *perfctr = vperfctr_current();
	bool resumes = perfctr && must_resume(perfctr);
	int err;

	lockdep_assert_irqs_disabled();
	if (resumes)
		vperfctr_suspend(perfctr);
	perfctr_wides_suspend();
	err = fn(arg);
	perfctr_wides_resume();
	if (resumes)
		vperfctr_resume(perfctr);
	return err;
}

static void run_one(void *arg)
{
	struct run *run = arg;
	int err = perfctr_run_here(run->fn, run->arg);

	if (err)
		WRITE_ONCE(run->err, err);
}

static bool has_others(const struct cpumask *cpus)
{
	unsigned int cpu, own = raw_smp_processor_id();

	if (num_online_cpus() == 1)
		return false;
	for_each_cpu_and(cpu, cpus, cpu_online_mask)
		if (cpu != own)
			return true;
	return false;
}

static int run_on(const struct cpumask *cpus, int (*fn)(void *arg), void *arg)
{
	struct run run = { .fn = fn, .arg = arg };

	on_each_cpu_mask(cpus, run_one, &run, 1);
	return run.err;
}

int perfctr_run_on(const struct cpumask *cpus, int (*fn)(void *arg), void *arg)
{
	if (has_others(cpus))
		perfctr_broadcasts_made(1);
	return run_on(cpus, fn, arg);
}

int perfctr_run_paid(int (*fn)(void *arg), void *arg)
{
	smp_mb();	/* pairs with perfctr_cpus_join() */
	return run_on(&perfctr_told_cpus, fn, arg);
}

int perfctr_run(int (*fn)(void *arg), void *arg)
{
	smp_mb();	/* pairs with perfctr_cpus_join() */
	return perfctr_run_on(&perfctr_told_cpus, fn, arg);
}

int perfctr_run_nothing(void *unused)
{
	return 0;
}
