// SPDX-License-Identifier: GPL-2.0
/*
 * Configs: what controls ask of the hardware, one for all states of a user that ask
 * the same. A config is claimed on every told CPU before its first state gets it, and
 * unclaimed after the last state has gone, or when root evicts it.
 */

#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>

#include "base/account.h"
#include "base/hook.h"
#include "arch/user.h"
#include "perf/shared.h"
#include "perf/told.h"
#include "thread/state.h"
#include "switch/run.h"
#include "switch/suspend.h"
#include "deliver/overflow.h"
#include "config/check.h"
#include "config/config.h"
#include "config/fold.h"
#include "config/hotplug.h"

static DEFINE_HASHTABLE(configs, 12);	/* config_mutex */
static unsigned int nr_configs;		/* in the table; config_mutex */
static u64 hash_key;			/* random, so that nobody can fill one bucket; constant */

static void (*have_evicted)(void);	/* handed down by a higher file; or NULL */

/* In jiffies. Until then threads may still read registers whose counting another has ended. */
static unsigned long late_until;

/* Guards the list, and each config's users as they reach or leave zero. Inside config_mutex. */
static DEFINE_RAW_SPINLOCK(unused_lock);
static LIST_HEAD(unused);

static void config_reap(struct work_struct *work);
static DECLARE_WORK(reap_work, config_reap);

static void config_age(struct work_struct *work);
static DECLARE_DELAYED_WORK(age_work, config_age);

static void config_give_back(struct work_struct *work);
static DECLARE_DELAYED_WORK(give_back_work, config_give_back);

static void readers_end(struct work_struct *work);
static DECLARE_DELAYED_WORK(readers_work, readers_end);

/* The members of a counter that may differ; the rest is zero. */
#define COMPARED	offsetof(struct perfctr_ctr_control, reserved)

static_assert(COMPARED == 6 * sizeof(u64));

/* The kernel's hashes would take as long as all the rest of a CONTROL of four counters. */
static u32 config_hash(const struct wanted *wanted)
{
	const struct perfctr_ctr_control *ctr = wanted->ctr;
	u32 nr = wanted->nr;
	u64 hash = ((u64)wanted->core << 32 | nr) * hash_key;

	for (; nr; nr--, ctr++) {
		hash = (hash ^ ((u64)ctr->map << 32 | ctr->flags)) * hash_key;
		hash = (hash ^ hash >> 32 ^ ctr->event) * hash_key;
		hash = (hash ^ hash >> 32 ^ ctr->config) * hash_key;
		hash = (hash ^ hash >> 32 ^ ctr->ireset) * hash_key;
	}
	return hash >> 32;
}

static bool config_equal(const struct perfctr_config *config, const struct wanted *wanted)
{
	const struct perfctr_ctr_control *own = config->ctr, *ctr = wanted->ctr;
	u32 i;

	/* memcmp() is slower, unless an arch has its own. */
	for (i = 0; i < wanted->nr; i++, own++, ctr++)
		if (own->map != ctr->map || own->flags != ctr->flags ||
		    own->event != ctr->event || own->config != ctr->config ||
		    own->ireset != ctr->ireset)
			return false;
	/* Others' are zero. */
	if (likely(!wanted->perf && !perfctr_cpu_more_config()))
		return true;
	for (i = 0; i < wanted->nr; i++)
		if (config->ctr[i].config1 != wanted->ctr[i].config1 ||
		    config->ctr[i].config2 != wanted->ctr[i].config2)
			return false;
	return true;
}

/* Finds the config that current may share. *other: somebody else's for an equal control, or NULL */
static struct perfctr_config *config_find(const struct wanted *wanted,
					  struct perfctr_config **other)
{
	struct perfctr_config *config;

	lockdep_assert_held(&perfctr_config_mutex);
	*other = NULL;
	hash_for_each_possible(configs, config, node, wanted->hash) {
		if (config->hash != wanted->hash || config->nr != wanted->nr ||
		    config->core != wanted->core || config->shared != wanted->shared ||
		    config->of_session != perfctr_native_session(wanted) ||
		    !config_equal(config, wanted))
			continue;
		if (uid_eq(config->uid, wanted->uid) && config->pid_ns == wanted->pid_ns &&
		    config->user_ns == wanted->user_ns &&
		    config->unprivileged == wanted->unprivileged)
			return config;
		*other = config;
	}
	return NULL;
}

/* No CPU has loaded a config whose claim has ended, so ids are used again. See @at_once. */
static unsigned long new_id(bool user)
{
	static unsigned long last = PERFCTR_ID_STEP;	/* config_mutex */
	static bool again;		/* config_mutex; never where a long has 64 bits */
	const struct perfctr_config *config;
	int i;

	lockdep_assert_held(&perfctr_config_mutex);
next:
	last = (last + PERFCTR_ID_STEP) & (PERFCTR_ID_UPPER - 1) ?: PERFCTR_ID_STEP;
	again |= last == PERFCTR_ID_STEP;
	if (unlikely(again))
		hash_for_each(configs, i, config, node)
			if ((config->id & ~PERFCTR_ID_USER) == last ||
			    (config->kin & ~PERFCTR_ID_USER) == last)
				goto next;
	return last | (user ? PERFCTR_ID_USER : 0);
}

/* If we have neither a claim nor a counter, leave isolated CPUs alone again. */
static void leave_if_last(void)
{
	if (!nr_configs && !perfctr_config_lingers())
		perfctr_cpus_leave();
}

static void config_give_back(struct work_struct *work)
{
	cpus_read_lock();
	mutex_lock(&perfctr_config_mutex);
	perfctr_cpu_give_back(perfctr_run_paid);
	leave_if_last();
	mutex_unlock(&perfctr_config_mutex);
	cpus_read_unlock();
}

static void ended_others(void)
{
	WRITE_ONCE(late_until, jiffies + PERFCTR_READER_DELAY);
}

/* How long counters linger, in jiffies */
static unsigned long readers_need(void)
{
	/* A large number if late_until is past */
	unsigned long left = READ_ONCE(late_until) - jiffies;

	return left > PERFCTR_HANDLER_DELAY && left <= PERFCTR_READER_DELAY ?
	       left : PERFCTR_HANDLER_DELAY;
}

/* Call this when the last counters may have been unclaimed. */
static void give_back_later(void)
{
	if (perfctr_cpu_lingers())
		mod_delayed_work(perfctr_wq, &give_back_work, readers_need());
}

void perfctr_config_no_reader(void)
{
	if (perfctr_cpu_lingers())
		mod_delayed_work(perfctr_wq, &give_back_work, 0);
}

static void config_unclaim(struct perfctr_config *config)
{
	perfctr_nr_claimed[config->shared] -= config->nr > 0;
	perfctr_nr_session_configs -= config->of_session;
	if (perfctr_config_has_metrics(config))
		perfctr_fold_put();
	if (!config->shared) {
		perfctr_cpu_unclaim(config, perfctr_run_paid);
		return;
	}
	/* This suspends the states that count by it; then they are lost. */
	if (config->evicted)
		perfctr_run_paid(perfctr_run_nothing, NULL);
	perfctr_shared_unclaim(config);
}

/* config_mutex and the hotplug lock are held. Puts the table's reference. */
static void config_end(struct perfctr_config *config)
{
	lockdep_assert_held(&perfctr_config_mutex);
	hash_del(&config->node);
	nr_configs--;
	config_unclaim(config);
	give_back_later();
	leave_if_last();
	if (config->nr_ictrs)
		perfctr_interrupts_put();
	if (config->account)
		perfctr_account_drop_config(config->account);
	/* We put these here: the config's last reference may be put where nothing may sleep. */
	put_user_ns(config->user_ns);
	put_pid_ns(config->pid_ns);
	perfctr_config_unref(config);
}

static struct perfctr_config *next_unused(void)
{
	struct perfctr_config *config;

	/* No lock needed: whoever adds a config then reaps, or has the worker reap. */
	if (list_empty(&unused))
		return NULL;
	raw_spin_lock_irq(&unused_lock);
	config = list_first_entry_or_null(&unused, struct perfctr_config, unused);
	if (config)
		list_del(&config->unused);
	raw_spin_unlock_irq(&unused_lock);
	return config;
}

bool perfctr_config_reap(void)
{
	struct perfctr_config *config;
	bool any = false;

	/* A config gets no new user meanwhile: to find it takes the mutex. */
	while ((config = next_unused())) {
		config_end(config);
		any = true;
	}
	return any;
}

static void config_reap(struct work_struct *work)
{
	cpus_read_lock();
	mutex_lock(&perfctr_config_mutex);
	perfctr_config_reap();
	mutex_unlock(&perfctr_config_mutex);
	cpus_read_unlock();
}

static void config_age(struct work_struct *work)
{
	bool more;

	cpus_read_lock();
	mutex_lock(&perfctr_config_mutex);
	more = nr_configs;
	if (more)
		perfctr_run_paid(perfctr_cpu_age, NULL);
	mutex_unlock(&perfctr_config_mutex);
	cpus_read_unlock();
	if (more)
		queue_delayed_work(perfctr_wq, &age_work, perfctr_cpu_age_period());
}

/* Adds a user to a config of the table, which may just have lost its last one. */
static void use_again(struct perfctr_config *config)
{
	if (likely(atomic_add_unless(&config->users, 1, 0))) {
		refcount_inc(&config->refs);
		return;
	}
	raw_spin_lock_irq(&unused_lock);
	if (!atomic_read(&config->users))
		list_del(&config->unused);
	perfctr_config_add_user(config);
	raw_spin_unlock_irq(&unused_lock);
}

static int config_claim(struct perfctr_config *config, const struct perfctr_where *where,
			struct perfctr_refusal *why)
{
	int err = config->shared ? perfctr_shared_claim(config, where, why) :
				   perfctr_cpu_claim(config, perfctr_run, why);

	if (err)
		return err;
	perfctr_nr_claimed[config->shared] += config->nr > 0;
	perfctr_nr_session_configs += config->of_session;
	if (perfctr_config_has_metrics(config))
		perfctr_fold_get();
	return 0;
}

/* Makes and claims a config. Interrupts and EAGAIN: see perfctr_config_get_from(). */
static struct perfctr_config *config_make(const struct wanted *wanted,
					  struct perfctr_refusal *why)
{
	u32 nr = wanted->nr;
	struct perfctr_config *config = perfctr_config_alloc(nr);
	int err;

	if (!config)
		return ERR_PTR(-ENOMEM);
	config->nr = nr;
	config->nr_ictrs = wanted->nr_ictrs;
	config->core = wanted->core;
	config->hash = wanted->hash;
	config->shared = wanted->shared;
	config->of_session = perfctr_native_session(wanted);
	config->unprivileged = wanted->unprivileged;
	config->id = new_id(nr && !wanted->kernel);
	config->kin = config->id;
	config->uid = wanted->uid;
	config->pid_ns = get_pid_ns(wanted->pid_ns);
	config->user_ns = get_user_ns(wanted->user_ns);
	memcpy(config->ctr, wanted->ctr, nr * sizeof(*wanted->ctr));
	/* A control without counters never fails here: that is how a thread stops. */
	err = nr ? perfctr_account_add_config(&config->account) : 0;
	if (err)
		goto err_free;
	err = config_claim(config, &wanted->where, why);
	if (err) {
		give_back_later();
		leave_if_last();
		goto err_drop;
	}
	return config;

err_drop:
	if (config->account)
		perfctr_account_drop_config(config->account);
err_free:
	put_user_ns(config->user_ns);
	put_pid_ns(config->pid_ns);
	kfree(config);
	return ERR_PTR(err);
}

struct perfctr_config *perfctr_config_get_from(struct wanted *wanted,
					       struct perfctr_refusal *why)
{
	struct perfctr_config *config = NULL, *other;
	int err = 0;

	/* Cores of all types have the clock, and perf counts on each type. */
	if (wanted->nr && !wanted->shared)
		err = perfctr_cpu_core(&wanted->where, &wanted->core);
	wanted->hash = config_hash(wanted);
	if (!err)
		config = config_find(wanted, &other);
	if (config) {
		err = perfctr_check_again(config, wanted, why);
		if (err)
			return ERR_PTR(err);
		use_again(config);
		if (wanted->nr_ictrs)
			perfctr_interrupts_put();	/* this config has its own get */
		return config;
	}
	err = perfctr_check(wanted, why) ?: err;
	if (err)
		return ERR_PTR(err);
	/* A config that nobody uses any more may have the counters that we want. */
	if (perfctr_config_reap())
		config_find(wanted, &other);
	err = perfctr_check_wide(wanted, why);
	if (err)
		return ERR_PTR(err);
	config = config_make(wanted, why);
	if (IS_ERR(config))
		return config;
	atomic_set(&config->users, 1);
	refcount_set(&config->refs, 2);	/* the user's, and the table's */
	if (other && !memcmp(config->hw, other->hw, wanted->nr))
		config->id = other->id;
	hash_add(configs, &config->node, config->hash);
	nr_configs++;
	if (perfctr_cpu_age_period())
		queue_delayed_work(perfctr_wq, &age_work, perfctr_cpu_age_period());
	return config;
}

void perfctr_config_add_user(struct perfctr_config *config)
{
	atomic_inc(&config->users);
	refcount_inc(&config->refs);
}

void perfctr_config_drop_user(struct perfctr_config *config, bool atomic)
{
	unsigned long flags;
	bool last;

	if (atomic_add_unless(&config->users, -1, 1))
		return;
	raw_spin_lock_irqsave(&unused_lock, flags);
	last = atomic_dec_and_test(&config->users) && !config->evicted;
	if (last)
		list_add(&config->unused, &unused);
	raw_spin_unlock_irqrestore(&unused_lock, flags);
	if (!last)
		return;
	/* From here on somebody may find it and use it again, which takes it off the list. */
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
	perfctr_config_drop_user(config, atomic);
	perfctr_config_unref(config);
}

void perfctr_config_put_late(struct perfctr_config *config)
{
	ended_others();
	perfctr_config_put(config, false);
}

/* Gives other configs with the evicted one's id a new id, which no CPU has loaded. */
static void change_id(const struct perfctr_config *evicted)
{
	unsigned long id = new_id(evicted->id & PERFCTR_ID_USER);
	struct perfctr_config *config;

	hash_for_each_possible(configs, config, node, evicted->hash)
		if (config != evicted && config->id == evicted->id)
			WRITE_ONCE(config->id, id);
}

/*
 * The end of the claim suspends every running state that counts by it. The next resume of such a
 * state sees @evicted.
 */
static void config_evict(struct perfctr_config *config, u32 error)
{
	change_id(config);
	raw_spin_lock_irq(&unused_lock);
	WRITE_ONCE(config->evicted, error);
	WRITE_ONCE(perfctr_any_rarity, true);
	if (!atomic_read(&config->users))
		list_del(&config->unused);
	raw_spin_unlock_irq(&unused_lock);
	config_end(config);
}

/* While there may be late readers, isolated CPUs stay told, so that we find readers there too. */
static void readers_begin(void)
{
	lockdep_assert_held(&perfctr_config_mutex);
	if (perfctr_cpu_permits_threads())
		WRITE_ONCE(perfctr_late_readers, true);
}

static void readers_follow(void)
{
	lockdep_assert_held(&perfctr_config_mutex);
	if (!perfctr_cpu_permits_threads())
		return;
	WRITE_ONCE(perfctr_late_readers, false);
	perfctr_run_paid(perfctr_find_late_reader, &perfctr_late_readers);
	if (perfctr_late_readers)
		mod_delayed_work(perfctr_wq, &readers_work, PERFCTR_READER_DELAY);
	else
		leave_if_last();
}

static void readers_end(struct work_struct *work)
{
	cpus_read_lock();
	mutex_lock(&perfctr_config_mutex);
	if (perfctr_late_readers) {
		perfctr_run_paid(perfctr_end_late_reader, NULL);
		WRITE_ONCE(perfctr_late_readers, false);
		leave_if_last();
	}
	mutex_unlock(&perfctr_config_mutex);
	cpus_read_unlock();
}

/* Evicts the configs of all users, or of one; with PERFCTR_ERROR_CHANGED only native ones. */
static void evict_some(bool all, kuid_t uid, u32 error)
{
	struct perfctr_config *config;
	struct hlist_node *next;
	int bucket;

	cpus_read_lock();
	mutex_lock(&perfctr_config_mutex);
	ended_others();
	readers_begin();
	hash_for_each_safe(configs, bucket, next, config, node)
		if (config->nr && (all || uid_eq(config->uid, uid)) &&
		    !(error == PERFCTR_ERROR_CHANGED && config->shared))
			config_evict(config, error);
	readers_follow();
	mutex_unlock(&perfctr_config_mutex);
	cpus_read_unlock();
	if (have_evicted)
		have_evicted();
}

void perfctr_config_set_evicted(void (*evicted)(void))
{
	have_evicted = evicted;
}

void perfctr_config_evict(bool all, kuid_t uid)
{
	evict_some(all, uid, PERFCTR_ERROR_LOST);
}

/* Threads that counted on a CPU since its registers were verified may be anywhere: evict all. */
static void evict_native(struct work_struct *work)
{
	evict_some(true, KUIDT_INIT(0), PERFCTR_ERROR_CHANGED);
}

static DECLARE_WORK(evict_work, evict_native);

static void registers_changed(void)
{
	queue_work(perfctr_wq, &evict_work);
}

int perfctr_config_init(void)
{
	int err;

	hash_key = get_random_u64() | 1;
	perfctr_shared_init();
	err = perfctr_hotplug_init();
	if (err)
		return err;
	perfctr_cpu_set_changed(registers_changed);
	return 0;
}

/* No state is left, so no config loses its last user any more. */
void perfctr_config_exit(void)
{
	flush_work(&reap_work);
	config_reap(NULL);
	WARN_ON(nr_configs);
	cancel_delayed_work_sync(&readers_work);
	readers_end(&readers_work.work);
	cancel_delayed_work_sync(&give_back_work);
	config_give_back(NULL);
	/* Counters were given back; verification is off. */
	perfctr_cpu_set_changed(NULL);
	flush_work(&evict_work);
	perfctr_interrupts_exit();
	perfctr_fold_exit();
	cancel_delayed_work_sync(&age_work);
	perfctr_hotplug_exit();
}
