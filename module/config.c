// SPDX-License-Identifier: GPL-2.0
/*
 * Configs: what controls ask of the hardware, one for all states that ask the
 * same, so that its address is their id. A config is claimed, on every online
 * CPU, before the first state has it, and unclaimed after the last.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "perfctr.h"

/* Guards configs, users rising from zero, and all claiming. Inside the hotplug lock. */
static DEFINE_MUTEX(config_mutex);
static LIST_HEAD(configs);
static int prepare_state, online_state;

static void config_reap(struct work_struct *work);
static DECLARE_WORK(reap_work, config_reap);

static void config_age(struct work_struct *work);
static DECLARE_DELAYED_WORK(age_work, config_age);

static void config_give_back(struct work_struct *work);
static DECLARE_DELAYED_WORK(give_back_work, config_give_back);

static bool config_equal(const struct perfctr_config *config,
			 const struct perfctr_ctr_control *ctr, u32 nr, u32 core)
{
	const struct perfctr_ctr_control *own = config->ctr;
	u32 i;

	if (config->nr != nr || config->core != core)
		return false;
	/* Where an arch has no memcmp() of its own that is slower. Reserved members are zero. */
	for (i = 0; i < nr; i++, own++, ctr++)
		if (own->map != ctr->map || own->flags != ctr->flags ||
		    own->event != ctr->event || own->config != ctr->config ||
		    own->ireset != ctr->ireset)
			return false;
	return true;
}

static struct perfctr_config *config_find(const struct perfctr_ctr_control *ctr, u32 nr,
					  u32 core)
{
	struct perfctr_config *config;

	list_for_each_entry(config, &configs, list)
		if (config_equal(config, ctr, nr, core))
			return config;
	return NULL;
}

static void config_give_back(struct work_struct *work)
{
	cpus_read_lock();
	mutex_lock(&config_mutex);
	perfctr_cpu_give_back(perfctr_run);
	mutex_unlock(&config_mutex);
	cpus_read_unlock();
}

/* After what may have unclaimed the last counters */
static void give_back_later(void)
{
	if (perfctr_cpu_lingers())
		mod_delayed_work(perfctr_wq, &give_back_work, PERFCTR_READER_DELAY);
}

void perfctr_config_no_reader(void)
{
	if (perfctr_cpu_lingers())
		mod_delayed_work(perfctr_wq, &give_back_work, 0);
}

/* Called with config_mutex and the hotplug lock held. */
static void config_free(struct perfctr_config *config)
{
	lockdep_assert_held(&config_mutex);
	list_del(&config->list);
	perfctr_cpu_unclaim(config, perfctr_run);
	give_back_later();
	if (config->nr_ictrs)
		perfctr_interrupts_put();
	perfctr_config_unref(config);
}

static void reap_locked(void)
{
	struct perfctr_config *config, *next;

	list_for_each_entry_safe(config, next, &configs, list)
		if (!atomic_read(&config->users))
			config_free(config);
}

static void config_reap(struct work_struct *work)
{
	cpus_read_lock();
	mutex_lock(&config_mutex);
	reap_locked();
	mutex_unlock(&config_mutex);
	cpus_read_unlock();
}

static void config_age(struct work_struct *work)
{
	bool more;

	cpus_read_lock();
	mutex_lock(&config_mutex);
	more = !list_empty(&configs);
	if (more)
		perfctr_run(perfctr_cpu_age, NULL);
	mutex_unlock(&config_mutex);
	cpus_read_unlock();
	if (more)
		queue_delayed_work(perfctr_wq, &age_work, perfctr_cpu_age_period());
}

/* The first counter that counts in kernel mode */
static u32 find_kernel(const struct perfctr_ctr_control *ctr, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (ctr[i].flags & PERFCTR_CTR_KERNEL)
			return i;
	return PERFCTR_NO_INDEX;
}

/* With interrupts to be heard for it, where it has i-mode counters. */
static struct perfctr_config *config_get(const struct perfctr_ctr_control *ctr, u32 nr,
					 u32 nr_ictrs, struct perfctr_refusal *why)
{
	struct perfctr_config *config;
	bool kernel = false;
	u32 core = 0;
	int err;

	cpus_read_lock();
	mutex_lock(&config_mutex);
	err = perfctr_cpu_check(ctr, nr, &kernel, why);
	if (!err && kernel && perfctr_allow_kernel()) {
		why->index = find_kernel(ctr, nr);
		err = -EACCES;
	}
	/* The clock is the same everywhere. */
	if (!err && nr)
		err = perfctr_cpu_core(&core);
	if (err)
		goto err_unlock;

	config = config_find(ctr, nr, core);
	if (config) {
		perfctr_config_share(config);
		if (nr_ictrs)
			perfctr_interrupts_put();	/* it has its own */
		goto out;
	}
	/* What nobody needs any more may be just what is needed now. */
	reap_locked();

	err = -ENOMEM;
	config = kzalloc(struct_size(config, ctr, nr), GFP_KERNEL_ACCOUNT);
	if (!config)
		goto err_unlock;
	config->nr = nr;
	config->nr_ictrs = nr_ictrs;
	config->core = core;
	memcpy(config->ctr, ctr, nr * sizeof(*ctr));
	err = perfctr_cpu_claim(config, perfctr_run, why);
	if (err) {
		give_back_later();
		kfree(config);
		goto err_unlock;
	}
	atomic_set(&config->users, 1);
	refcount_set(&config->refs, 2);	/* the user's, and the list's */
	list_add(&config->list, &configs);
	if (perfctr_cpu_age_period())
		queue_delayed_work(perfctr_wq, &age_work, perfctr_cpu_age_period());
out:
	mutex_unlock(&config_mutex);
	cpus_read_unlock();
	return config;

err_unlock:
	mutex_unlock(&config_mutex);
	cpus_read_unlock();
	return ERR_PTR(err);
}

struct perfctr_config *perfctr_config_get(const struct perfctr_ctr_control *ctr, u32 nr,
					  struct perfctr_refusal *why)
{
	struct perfctr_config *config;
	u32 i, nr_ictrs = 0;
	int err;

	might_sleep();
	*why = (struct perfctr_refusal){
		.owner = PERFCTR_OWNER_NONE,
		.index = PERFCTR_NO_INDEX,
	};
	for (i = 0; i < nr; i++)
		nr_ictrs += ctr[i].ireset != 0;
	/* Before the hotplug lock, which tracepoints take themselves. */
	err = nr_ictrs ? perfctr_interrupts_get() : 0;
	if (err == -ENODEV) {
		/* No counter interrupts; the i-mode counters are the last ones. */
		why->index = nr - nr_ictrs;
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (err)
		return ERR_PTR(err);
	config = config_get(ctr, nr, nr_ictrs, why);
	if (IS_ERR(config) && nr_ictrs)
		perfctr_interrupts_put();
	return config;
}

void perfctr_config_share(struct perfctr_config *config)
{
	atomic_inc(&config->users);
	refcount_inc(&config->refs);
}

void perfctr_config_unuse(struct perfctr_config *config, bool atomic)
{
	if (!atomic_dec_and_test(&config->users))
		return;
	/* From here on somebody may have found and raised it again: the reaper looks. */
	if (atomic)
		queue_work(perfctr_wq, &reap_work);
	else
		config_reap(NULL);
}

void perfctr_config_unref(struct perfctr_config *config)
{
	if (refcount_dec_and_test(&config->refs))
		kfree(config);
}

void perfctr_config_put(struct perfctr_config *config, bool atomic)
{
	if (!config)
		return;
	/* Not the last: the list has one as long as there is a user. */
	perfctr_config_unref(config);
	perfctr_config_unuse(config, atomic);
}

void perfctr_config_info(struct perfctr_info *info)
{
	mutex_lock(&config_mutex);
	perfctr_cpu_info(info);
	mutex_unlock(&config_mutex);
}

static int config_cpu_prepare(unsigned int cpu)
{
	perfctr_cpu_prepare(cpu);
	return 0;
}

/* Also after an offline that was called off. */
static int config_cpu_online(unsigned int cpu)
{
	mutex_lock(&config_mutex);
	perfctr_cpu_reserve(cpu);
	local_irq_disable();
	perfctr_cpu_online();
	local_irq_enable();
	mutex_unlock(&config_mutex);
	return 0;
}

/* Threads that must leave this CPU may still be switched in, to be pushed off, and load. */
static int config_cpu_offline(unsigned int cpu)
{
	mutex_lock(&config_mutex);
	perfctr_cpu_unreserve(cpu);
	local_irq_disable();
	perfctr_cpu_offline();
	local_irq_enable();
	mutex_unlock(&config_mutex);
	return 0;
}

int perfctr_config_init(void)
{
	prepare_state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "perfctr:prepare",
						  config_cpu_prepare, NULL);
	if (prepare_state < 0)
		return prepare_state;
	online_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perfctr:online",
					 config_cpu_online, config_cpu_offline);
	if (online_state >= 0)
		return 0;
	cpuhp_remove_state_nocalls(prepare_state);
	return online_state;
}

/* No state is left, so no config gets or loses its last reference any more. */
void perfctr_config_exit(void)
{
	flush_work(&reap_work);
	config_reap(NULL);
	WARN_ON(!list_empty(&configs));
	cancel_delayed_work_sync(&give_back_work);
	config_give_back(NULL);
	perfctr_interrupts_exit();
	cancel_delayed_work_sync(&age_work);
	cpuhp_remove_state(online_state);
	cpuhp_remove_state_nocalls(prepare_state);
}
