// SPDX-License-Identifier: GPL-2.0
/*
 * A session is an open file that counts CPUs, and no threads (PERFCTR_OPEN_CPUS). A session has a
 * wide for each CPU that it counts (wide.c).
 */

#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <trace/events/sched.h>

#include "base/account.h"
#include "base/hook.h"
#include "base/usercopy.h"
#include "thread/kin.h"
#include "switch/wide.h"
#include "config/config.h"
#include "config/permit.h"
#include "calls/layout.h"
#include "calls/session.h"

/**
 * struct perfctr_session - an open file that counts CPUs
 * @mutex: guards the session and its wides
 * @running: the wides count, or will count when their CPUs come online
 * @cpus: CPUs for which the session has a wide
 * @wide: the wide of each CPU, or NULL
 */
struct perfctr_session {
	struct mutex mutex;	/* guards the session and its wides */
	bool running;
	cpumask_var_t cpus;
	struct perfctr_wide *wide[];
};

/*
 * Guards @native, and perfctr_wide.withholds. @native is the wide whose config the registers of a
 * CPU count. Many configs may be claimed, but a CPU counts only one of them at a time. This mutex
 * is taken inside a session's mutex.
 */
static DEFINE_MUTEX(native_mutex);
static DEFINE_PER_CPU(struct perfctr_wide *, native);	/* guarded by native_mutex */

/*
 * This probe runs before each switch of any thread, while a session does not count the idle task.
 */
static notrace void probe_idle(PERFCTR_SWITCH_PROBE_ARGS)
{
	if (!next->pid)
		perfctr_wides_idle(true);
	else if (!prev->pid)
		perfctr_wides_idle(false);
}

static struct perfctr_probe idle_probe = PERFCTR_PROBE(sched_switch, probe_idle);

static int turn_idle(bool on)
{
	if (on)
		return perfctr_probes_register(&idle_probe, 1);
	perfctr_probes_unregister(&idle_probe, 1);
	return 0;
}

static struct perfctr_hook idle_hook = {
	.mutex = __MUTEX_INITIALIZER(idle_hook.mutex),
	.turn = turn_idle,
	.off = __DELAYED_WORK_INITIALIZER(idle_hook.off, perfctr_hook_off, 0),
};

/* Lets processes read registers again, if no other wide forbids that. */
static void end_withholding(struct perfctr_wide *wide)
{
	lockdep_assert_held(&native_mutex);
	if (wide->withholds)
		perfctr_permit_wide(false);
	wide->withholds = false;
}

/*
 * Lets processes read registers again after an eviction, unless a wide whose config was not evicted
 * forbids that.
 */
static void follow_eviction(void)
{
	struct perfctr_wide **has;
	unsigned int cpu;

	mutex_lock(&native_mutex);
	for_each_possible_cpu(cpu) {
		has = per_cpu_ptr(&native, cpu);
		if (!*has || !READ_ONCE((*has)->config->evicted))
			continue;
		end_withholding(*has);
		*has = NULL;
	}
	mutex_unlock(&native_mutex);
}

int perfctr_session_init(void)
{
	perfctr_config_set_evicted(follow_eviction);
	return perfctr_probes_find(&idle_probe, 1);
}

void perfctr_session_exit(void)
{
	perfctr_hook_exit(&idle_hook);
}

struct perfctr_session *perfctr_session_create(void)
{
	struct perfctr_session *session;

	if (!perfmon_capable())
		return ERR_PTR(-EACCES);
	session = kvzalloc(struct_size(session, wide, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (session && !zalloc_cpumask_var(&session->cpus, GFP_KERNEL_ACCOUNT)) {
		kvfree(session);
		session = NULL;
	}
	if (!session)
		return ERR_PTR(-ENOMEM);
	mutex_init(&session->mutex);
	return session;
}

static bool is_native(const struct perfctr_wide *wide)
{
	return wide->config->of_session;
}

/* Frees a stopped wide, and gives back its registers and its config. @wide may be NULL. */
static void put_wide(struct perfctr_wide *wide)
{
	if (!wide)
		return;
	if (is_native(wide)) {
		mutex_lock(&native_mutex);
		if (per_cpu(native, wide->cpu) == wide)
			per_cpu(native, wide->cpu) = NULL;
		end_withholding(wide);
		mutex_unlock(&native_mutex);
	}
	if (wide->no_idle)
		perfctr_hook_put(&idle_hook);
	perfctr_config_put(wide->config, false);
	kfree(wide);
}

/*
 * Takes the registers of the wide's CPU for @wide, which replaces @old. From here on, no process
 * may read registers. Returns 0, or -EBUSY if the registers count for another wide than @old.
 */
static int take_registers(struct perfctr_wide *wide, const struct perfctr_wide *old,
			  struct perfctr_refusal *why)
{
	struct perfctr_wide **has = per_cpu_ptr(&native, wide->cpu);
	int err = 0;

	if (!is_native(wide))
		return 0;
	mutex_lock(&native_mutex);
	if (*has && *has != old && !READ_ONCE((*has)->config->evicted)) {
		why->owner = PERFCTR_OWNER_PERFCTR;
		why->reason = PERFCTR_REASON_CPUS;
		err = -EBUSY;
		goto out;
	}
	/* The wide *has was evicted, and follow_eviction() will not find it any more. */
	if (*has && *has != old)
		end_withholding(*has);
	*has = wide;
	wide->withholds = true;
	perfctr_permit_wide(true);
	/* An eviction since the claim may already have called follow_eviction(). */
	if (READ_ONCE(wide->config->evicted))
		end_withholding(wide);
out:
	mutex_unlock(&native_mutex);
	return err;
}

static int session_check(struct perfctr_control *control)
{
	u32 i;

	if ((control->flags & ~PERFCTR_CONTROL_NO_IDLE) != PERFCTR_CONTROL_CPU ||
	    !perfctr_control_cpu_valid(control) ||
	    control->tsc_on > 1 || control->nrictrs || control->si_signo || control->refresh ||
	    control->preserve || control->source > PERFCTR_SOURCE_ANY || control->reserved0 ||
	    control->timer_ns ||
	    !perfctr_all_zero(control->reserved, sizeof(control->reserved)))
		return -EINVAL;
	for (i = 0; i < control->nractrs; i++) {
		const struct perfctr_ctr_control *ctr = &control->ctr[i];

		if (!perfctr_all_zero(ctr->reserved, sizeof(ctr->reserved)) || ctr->ireset ||
		    ((ctr->config1 || ctr->config2) && !perfctr_may_have_more(ctr)))
			return -EINVAL;
	}
	return perfmon_capable() ? 0 : -EACCES;
}

/* Returns a new wide, or returns an error pointer and sets *why. */
static struct perfctr_wide *make_wide(const struct perfctr_control *control,
				      const struct perfctr_wide *old, struct perfctr_refusal *why)
{
	struct perfctr_where where = { .cpu = control->cpu };
	bool no_idle = control->flags & PERFCTR_CONTROL_NO_IDLE;
	struct perfctr_config *config;
	struct perfctr_wide *wide;
	int err;

	config = perfctr_config_get(&where, true, control->ctr, control->nractrs,
				    control->source, why);
	if (IS_ERR(config))
		return ERR_CAST(config);
	if (config->of_session && perfctr_guards_all()) {
		perfctr_config_put(config, false);
		why->reason = PERFCTR_REASON_OPEN;
		return ERR_PTR(-EACCES);
	}
	/* The probe is on before the wide starts, so that it sees when the CPU becomes idle. */
	err = no_idle ? perfctr_hook_get(&idle_hook) : 0;
	wide = err ? NULL : perfctr_wide_create(config, control->cpu, control->tsc_on, no_idle);
	if (!wide) {
		if (no_idle && !err)
			perfctr_hook_put(&idle_hook);
		perfctr_config_put(config, false);
		return ERR_PTR(err ?: -ENOMEM);
	}
	err = take_registers(wide, old, why);
	if (err) {
		put_wide(wide);
		return ERR_PTR(err);
	}
	return wide;
}

static int session_apply(struct perfctr_session *session, const struct perfctr_control *control,
			 struct perfctr_refusal *why)
{
	struct perfctr_wide **place = &session->wide[control->cpu], *wide = NULL;

	if (session->running)
		return -EBUSY;
	if (control->tsc_on || control->nractrs) {
		wide = make_wide(control, *place, why);
		if (IS_ERR(wide))
			return PTR_ERR(wide);
	}
	put_wide(*place);
	*place = wide;
	if (wide)
		cpumask_set_cpu(control->cpu, session->cpus);
	else
		cpumask_clear_cpu(control->cpu, session->cpus);
	return 0;
}

static int control_ioctl(struct perfctr_session *session, void __user *arg)
{
	struct perfctr_refusal why = PERFCTR_NO_REFUSAL;
	struct perfctr_few_counters few __uninitialized;
	struct perfctr_control *control = perfctr_control_get(arg, &few);
	int err;

	if (IS_ERR(control))
		return PTR_ERR(control);
	/* If the reason of a failure could not be stored, fail before anything is done. */
	err = perfctr_put_refusal(arg, &why);
	if (!err)
		err = session_check(control);
	if (!err) {
		mutex_lock(&session->mutex);
		err = session_apply(session, control, &why);
		mutex_unlock(&session->mutex);
	}
	/* This store worked above. If it fails now, the caller still gets err. */
	if (err)
		(void)perfctr_put_refusal(arg, &why);
	perfctr_control_free(control, &few);
	return err;
}

static void start_here(void *arg)
{
	struct perfctr_session *session = arg;

	perfctr_wide_start(session->wide[smp_processor_id()]);
}

static void stop_here(void *arg)
{
	struct perfctr_session *session = arg;

	perfctr_wide_stop(session->wide[smp_processor_id()]);
}

/* Starts or stops all wides at the same time, as nearly as interrupts allow. */
static void start_or_stop(struct perfctr_session *session, bool start)
{
	unsigned int cpu;

	lockdep_assert_held(&session->mutex);
	cpus_read_lock();
	for_each_cpu(cpu, session->cpus) {
		if (cpumask_test_cpu(cpu, cpu_online_mask))
			continue;
		local_irq_disable();
		if (start)
			perfctr_wide_start(session->wide[cpu]);
		else
			perfctr_wide_stop(session->wide[cpu]);
		local_irq_enable();
	}
	on_each_cpu_mask(session->cpus, start ? start_here : stop_here, session, 1);
	cpus_read_unlock();
	session->running = start;
}

/*
 * Makes events anew that perf has lost since the controls were made, or that are missing on a CPU
 * which has come online since.
 */
static void mend(const struct perfctr_session *session)
{
	unsigned int cpu;

	for_each_cpu(cpu, session->cpus)
		if (session->wide[cpu]->config->shared)
			perfctr_config_mend(cpu);
}

static int session_resume(struct perfctr_session *session)
{
	int err = perfctr_broadcasts_allow();

	if (err)
		return err;
	mutex_lock(&session->mutex);
	if (session->running) {
		err = -EBUSY;
	} else {
		mend(session);
		start_or_stop(session, true);
		perfctr_broadcasts_made(1);
	}
	mutex_unlock(&session->mutex);
	return err;
}

static void stop(struct perfctr_session *session)
{
	mutex_lock(&session->mutex);
	if (session->running) {
		start_or_stop(session, false);
		perfctr_broadcasts_made(1);
	}
	mutex_unlock(&session->mutex);
}

static int suspend_ioctl(struct perfctr_session *session)
{
	int err = perfctr_broadcasts_allow();

	if (!err)
		stop(session);
	return err;
}

struct read_wide {
	struct perfctr_wide *wide;
	u64 *value;
};

static void read_here(void *arg)
{
	struct read_wide *read = arg;

	perfctr_wide_read(read->wide, read->value);
}

static void read_wide(struct perfctr_wide *wide, struct perfctr_read_cpu *read)
{
	struct read_wide arg = { .wide = wide, .value = &read->clock };
	const struct perfctr_config *config = wide->config;

	if (cpumask_test_cpu(wide->cpu, cpu_online_mask)) {
		smp_call_function_single(wide->cpu, read_here, &arg, 1);
	} else {
		local_irq_disable();
		read_here(&arg);
		local_irq_enable();
	}
	read->cstatus = (wide->clock_on ? PERFCTR_CSTATUS_CLOCK : 0) | config->nr;
	read->error = wide->error;
	read->nrctrs = config->nr;
	if (!wide->clock_on)
		read->clock = 0;
}

static_assert(offsetof(struct perfctr_read_cpu, sum) ==
	      offsetof(struct perfctr_read_cpu, clock) + sizeof(u64));

static int read_ioctl(struct perfctr_session *session, struct perfctr_read_cpu __user *arg)
{
	struct perfctr_read_cpu read = {};
	int err;

	err = perfctr_get_size(arg, PERFCTR_READ_CPU_SIZE_VER0, &read.size);
	if (err)
		return err;
	if (get_user(read.cpu, &arg->cpu))
		return -EFAULT;
	if (read.cpu >= nr_cpu_ids)
		return -EINVAL;
	read.cpu = array_index_nospec(read.cpu, nr_cpu_ids);
	if (!cpu_possible(read.cpu))
		return -EINVAL;
	mutex_lock(&session->mutex);
	cpus_read_lock();
	if (cpumask_test_cpu(read.cpu, cpu_online_mask))
		read.flags |= PERFCTR_READ_CPU_ONLINE;
	if (session->wide[read.cpu]) {
		read_wide(session->wide[read.cpu], &read);
		if (session->running)
			read.flags |= PERFCTR_READ_CPU_RUNNING;
	}
	cpus_read_unlock();
	mutex_unlock(&session->mutex);
	err = perfctr_put_struct(arg, read.size, &read, sizeof(read));
	if (err)
		return err;
	return read.error ? -EIO : 0;
}

long perfctr_session_ioctl(struct perfctr_session *session, unsigned int cmd, void __user *arg)
{
	switch (cmd) {
	case PERFCTR_IOC_CONTROL:
		return control_ioctl(session, arg);
	case PERFCTR_IOC_RESUME:
		return session_resume(session);
	case PERFCTR_IOC_SUSPEND:
		return suspend_ioctl(session);
	case PERFCTR_IOC_READ_CPU:
		return read_ioctl(session, arg);
	}
	return -ENOTTY;
}

void perfctr_session_free(struct perfctr_session *session)
{
	unsigned int cpu;

	/* Even if a signal ends this wait, the wides must stop: their CPUs have them in lists. */
	(void)perfctr_broadcasts_allow();
	stop(session);
	for_each_cpu(cpu, session->cpus)
		put_wide(session->wide[cpu]);
	free_cpumask_var(session->cpus);
	kvfree(session);
}
