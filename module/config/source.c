// SPDX-License-Identifier: GPL-2.0
/*
 * Chooses the source that counts a control: the module's own driver, or perf.
 */

#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/user_namespace.h>

#include "base/account.h"
#include "arch/user.h"
#include "perf/shared.h"
#include "switch/wide.h"
#include "deliver/overflow.h"
#include "config/config.h"
#include "config/let_in.h"

unsigned int perfctr_config_source = PERFCTR_SOURCE_ANY;

/* Returns true if, after this result, the other source may still count the control. */
static bool may_try_other(const struct perfctr_config *config)
{
	return IS_ERR(config) && config != ERR_PTR(-ENOMEM) && config != ERR_PTR(-ENOSPC) &&
	       config != ERR_PTR(-EAGAIN) && config != ERR_PTR(-EACCES) &&
	       config != ERR_PTR(-EUCLEAN);
}

/*
 * Runs in a kernel thread, on a CPU where perf has lost an event. The switch to the kernel thread
 * has suspended the state that counted here, but wides go on until we suspend them.
 */
static long remake_by_kernel(void *unused)
{
	local_irq_disable();
	perfctr_wides_suspend();
	local_irq_enable();
	perfctr_shared_remake(smp_processor_id());
	local_irq_disable();
	perfctr_wides_resume();
	local_irq_enable();
	return 0;
}

/*
 * Returns a config that perf counts, or an error. EAGAIN may also mean that native counters still
 * linger for a short time.
 */
static struct perfctr_config *config_get_shared(struct wanted *wanted,
						struct perfctr_refusal *why)
{
	*why = PERFCTR_NO_REFUSAL;
	if (!perfctr_shared_available())
		return ERR_PTR(-EOPNOTSUPP);
	wanted->shared = true;
	wanted->unprivileged = !perfmon_capable();
	wanted->core = 0;
	if (perfctr_cpu_has_one_source()) {
		/* End native configs without users, which would keep perf from counting. */
		if (perfctr_nr_claimed[false])
			perfctr_config_reap();
		if (perfctr_nr_claimed[false]) {
			why->owner = PERFCTR_OWNER_PERFCTR;
			why->reason = perfctr_native_reason(wanted);
			return ERR_PTR(-EBUSY);
		}
		if (perfctr_cpu_lingers())
			return ERR_PTR(-EAGAIN);
	}
	/* Earlier users get their lost events back before this config takes any. */
	perfctr_shared_mend(&wanted->where, remake_by_kernel);
	return perfctr_config_get_from(wanted, why);
}

void perfctr_config_mend(unsigned int cpu)
{
	const struct perfctr_where where = { .cpu = cpu };

	cpus_read_lock();
	mutex_lock(&perfctr_config_mutex);
	perfctr_shared_mend(&where, remake_by_kernel);
	mutex_unlock(&perfctr_config_mutex);
	cpus_read_unlock();
}

/* EUCLEAN: try again after perfctr_guard_begin(). */
static struct perfctr_config *config_get_native(struct wanted *wanted,
						struct perfctr_refusal *why)
{
	struct perfctr_config *config;

	/* While perf has counters, too, it may let any process read registers. */
	if (!perfctr_cpu_has_one_source() && wanted->nr &&
	    !perfctr_guard_is_on(wanted->of_session))
		return ERR_PTR(-EUCLEAN);
	config = perfctr_config_get_from(wanted, why);
	if (perfctr_cpu_has_one_source() && config == ERR_PTR(-EBUSY) &&
	    perfctr_nr_claimed[true]) {
		why->owner = PERFCTR_OWNER_PERFCTR;
		why->reason = PERFCTR_REASON_SOURCE;
	}
	return config;
}

/* Tries both sources. If both fail, returns the more useful error. */
static struct perfctr_config *config_get_any(struct wanted *wanted, struct perfctr_refusal *why)
{
	struct perfctr_config *config, *shared;
	struct perfctr_refusal other;

	if (perfctr_cpu_has_one_source()) {
		if (perfctr_nr_claimed[true])
			perfctr_config_reap();
		if (perfctr_nr_claimed[true] && !wanted->nr_ictrs)
			return config_get_shared(wanted, why);
	}
	config = config_get_native(wanted, why);
	if (!may_try_other(config) || !perfctr_shared_available() || wanted->nr_ictrs)
		return config;
	shared = config_get_shared(wanted, &other);
	if (IS_ERR(shared) && shared != ERR_PTR(-EAGAIN) && shared != ERR_PTR(-EACCES) &&
	    perfctr_cpu_nrctrs() &&
	    (other.reason == PERFCTR_REASON_SOURCE || other.reason == PERFCTR_REASON_CPUS ||
	     (config != ERR_PTR(-EBUSY) && config != ERR_PTR(-EXDEV))))
		return config;
	*why = other;
	return shared;
}

/* Returns a config for a CPU. perf is tried first, because threads can then count, too. */
static struct perfctr_config *config_get_cpu(struct wanted *wanted, struct perfctr_refusal *why)
{
	struct perfctr_config *config = config_get_shared(wanted, why), *native;
	struct perfctr_refusal other = PERFCTR_NO_REFUSAL;

	if (!may_try_other(config) || !perfctr_cpu_nrctrs())
		return config;
	wanted->shared = false;
	wanted->unprivileged = false;
	native = config_get_native(wanted, &other);
	if (IS_ERR(native) && native != ERR_PTR(-EAGAIN) && native != ERR_PTR(-EUCLEAN) &&
	    config != ERR_PTR(-EOPNOTSUPP))
		return config;
	*why = other;
	return native;
}

/* Returns a config or an error. EUCLEAN: try again after perfctr_guard_begin(). */
static struct perfctr_config *config_get(struct wanted *wanted, u32 source,
					 struct perfctr_refusal *why)
{
	struct perfctr_config *config;

	wanted->shared = false;
	wanted->unprivileged = false;
	wanted->core = 0;
	cpus_read_lock();
	mutex_lock(&perfctr_config_mutex);
	/* A control of the clock alone has no source. */
	if (likely(source == PERFCTR_SOURCE_NATIVE || !wanted->nr))
		config = config_get_native(wanted, why);
	else if (source == PERFCTR_SOURCE_SHARED || wanted->perf)
		config = config_get_shared(wanted, why);
	else if (wanted->of_session)
		config = config_get_cpu(wanted, why);
	else
		config = config_get_any(wanted, why);
	mutex_unlock(&perfctr_config_mutex);
	cpus_read_unlock();
	return config;
}

struct perfctr_config *perfctr_config_get(const struct perfctr_where *where, bool of_session,
					  const struct perfctr_ctr_control *ctr, u32 nr,
					  u32 source, struct perfctr_refusal *why)
{
	struct wanted wanted = {
		.ctr = ctr, .nr = nr, .where = *where, .of_session = of_session,
		.uid = current_uid(), .pid_ns = task_active_pid_ns(current),
		.user_ns = current_user_ns(),
	};
	struct perfctr_config *config;
	u32 i, forced, flags = 0;
	int err = 0;

	*why = PERFCTR_NO_REFUSAL;
	for (i = 0; i < nr; i++)
		flags |= ctr[i].flags;
	wanted.perf = flags & PERFCTR_CTR_PERF;
	/* The i-mode counters are the last ones. */
	while (wanted.nr_ictrs < nr && ctr[nr - wanted.nr_ictrs - 1].ireset)
		wanted.nr_ictrs++;
	forced = READ_ONCE(perfctr_config_source);
	if (source == PERFCTR_SOURCE_ANY)
		source = forced;
	/* A control of the clock alone has no source. */
	if (unlikely(nr && forced != PERFCTR_SOURCE_ANY && source != forced)) {
		why->reason = PERFCTR_REASON_SOURCE;
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (unlikely(source == PERFCTR_SOURCE_SHARED ? wanted.nr_ictrs > 0 :
		     wanted.perf && (source == PERFCTR_SOURCE_NATIVE || wanted.nr_ictrs))) {
		why->reason = PERFCTR_REASON_SOURCE;
		return ERR_PTR(-EOPNOTSUPP);
	}
	/*
	 * perfctr_interrupts_get() may register a tracepoint, which takes the hotplug lock. So call
	 * it before we take that lock.
	 */
	if (wanted.nr_ictrs)
		err = perfctr_interrupts_get();
	if (err == -ENODEV) {
		/* No counter can interrupt: blame the first i-mode counter. */
		why->index = nr - wanted.nr_ictrs;
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (err)
		return ERR_PTR(err);
	for (;;) {
		config = config_get(&wanted, source, why);
		if (config == ERR_PTR(-EUCLEAN)) {
			err = perfctr_guard_begin(of_session);
		} else if (config == ERR_PTR(-EAGAIN)) {
			err = perfctr_broadcasts_allow();
			if (!err && perfctr_config_lingers() && schedule_timeout_interruptible(1))
				err = -ERESTARTSYS;
		} else {
			break;
		}
		if (err) {
			config = ERR_PTR(err);
			break;
		}
	}
	if (IS_ERR(config) && wanted.nr_ictrs)
		perfctr_interrupts_put();
	return config;
}

void perfctr_config_info(struct perfctr_kernel_info *info)
{
	mutex_lock(&perfctr_config_mutex);
	perfctr_cpu_info(info);
	info->nrctrs = perfctr_nrctrs();
	if (perfctr_cpu_nrctrs() && READ_ONCE(perfctr_config_source) != PERFCTR_SOURCE_SHARED)
		info->cpu_features |= PERFCTR_FEATURE_NATIVE;
	if (perfctr_shared_available() && READ_ONCE(perfctr_config_source) != PERFCTR_SOURCE_NATIVE)
		info->cpu_features |= PERFCTR_FEATURE_SHARED;
	info->source = !perfctr_nr_claimed[true] ? PERFCTR_SOURCE_NATIVE :
		       perfctr_nr_claimed[false] ? PERFCTR_SOURCE_ANY : PERFCTR_SOURCE_SHARED;
	mutex_unlock(&perfctr_config_mutex);
}
