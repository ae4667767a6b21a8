// SPDX-License-Identifier: GPL-2.0
/*
 * A config is what a control asks of the counters. All states of one user that ask for the same
 * share one config. A config is claimed on every told CPU before its first state gets it, and
 * unclaimed after its last state has gone, or when root evicts the config.
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
#include "arch/perf.h"
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
#include "config/let_in.h"

static DEFINE_HASHTABLE(configs, 12);	/* all configs; config_mutex */
static unsigned int nr_configs;		/* number of configs in the table; config_mutex */
static u64 hash_key;			/* random, so that users cannot fill one bucket; constant */

static void (*have_evicted)(void);	/* from perfctr_config_set_evicted(), or NULL */

/* Until this time, in jiffies, threads may read registers that another thread took from them. */
static unsigned long late_until;

/* Guards the list, and changes of a config's @users from and to zero. Taken inside config_mutex. */
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

/* Size of the members of struct perfctr_ctr_control that may differ. The rest is zero. */
#define COMPARED	offsetof(struct perfctr_ctr_control, reserved)

static_assert(COMPARED == 6 * sizeof(u64));

/* The kernel's own hash functions would take as long as the rest of a CONTROL of four counters. */
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

	/* memcmp() is slower, unless an arch has its own version. */
	for (i = 0; i < wanted->nr; i++, own++, ctr++)
		if (own->map != ctr->map || own->flags != ctr->flags ||
		    own->event != ctr->event || own->config != ctr->config ||
		    own->ireset != ctr->ireset)
			return false;
	/* Without PERFCTR_CTR_PERF, config1 and config2 are zero on most processors. */
	if (likely(!wanted->perf && !perfctr_cpu_more_config()))
		return true;
	for (i = 0; i < wanted->nr; i++)
		if (config->ctr[i].config1 != wanted->ctr[i].config1 ||
		    config->ctr[i].config2 != wanted->ctr[i].config2)
			return false;
	return true;
}

/*
 * Returns the config that current may use, or NULL. Sets *other to a config that somebody else has
 * for an equal control, or to NULL.
 */
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

/*
 * Returns an id that no config in the table has. Ids of former configs are used again, because no
 * CPU has loaded a config whose claim has ended. See also @at_once of struct vperfctr.
 */
static unsigned long new_id(bool user)
{
	static unsigned long last = PERFCTR_ID_STEP;	/* the latest id; config_mutex */
	static bool again;		/* ids are used again, never with 64 bits; config_mutex */
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

/* Leaves isolated CPUs alone again if there is no config, and no counter lingers. */
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
	perfctr_guard_end();
	leave_if_last();
	mutex_unlock(&perfctr_config_mutex);
	cpus_read_unlock();
}

static void ended_others(void)
{
	WRITE_ONCE(late_until, jiffies + PERFCTR_READER_DELAY);
}

/* Returns for how long counters linger, in jiffies. */
static unsigned long readers_need(void)
{
	/* If late_until is past, this is a large number. */
	unsigned long left = READ_ONCE(late_until) - jiffies;

	return left > PERFCTR_HANDLER_DELAY && left <= PERFCTR_READER_DELAY ?
	       left : PERFCTR_HANDLER_DELAY;
}

/* Gives back lingering counters in a while. Taking single counters from perf is slow. */
static void give_back_later(void)
{
	if (perfctr_cpu_lingers())
		mod_delayed_work(perfctr_wq, &give_back_work,
				 perfctr_cpu_has_one_source() ? readers_need() : HZ);
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
	/* This suspends the states that count by the config. Their next resume finds @evicted. */
	if (config->evicted)
		perfctr_run_paid(perfctr_run_nothing, NULL);
	perfctr_shared_unclaim(config);
}

/*
 * Removes a config from the table, unclaims it, and puts the table's reference. The caller holds
 * the hotplug lock and config_mutex.
 */
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
	/* These are not put with the last reference, which may be put where nothing may sleep. */
	put_user_ns(config->user_ns);
	put_pid_ns(config->pid_ns);
	perfctr_config_unref(config);
}

static struct perfctr_config *next_unused(void)
{
	struct perfctr_config *config;

	/* This needs no lock: after a config is added to the list, somebody always reaps again. */
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

	/* A config gets no new user meanwhile, because config_find() needs the mutex. */
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

/* Adds a user to a config of the table, which may just have lost its last user. */
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

/* Makes and claims a config for perfctr_config_get_from(). */
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
	/* A control without counters is not charged, so a thread can always stop counting. */
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

	/* The type of core matters only for native counters. */
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
			perfctr_interrupts_put();	/* the config has a get of its own */
		return config;
	}
	err = perfctr_check(wanted, why) ?: err;
	if (err)
		return ERR_PTR(err);
	/* A config without users may have the counters that we want. */
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
	/* From here on use_again() may take the config off the list. */
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

/* Gives all other configs with the id of the evicted config a new id, which no CPU has loaded. */
static void change_id(const struct perfctr_config *evicted)
{
	unsigned long id = new_id(evicted->id & PERFCTR_ID_USER);
	struct perfctr_config *config;

	hash_for_each_possible(configs, config, node, evicted->hash)
		if (config != evicted && config->id == evicted->id)
			WRITE_ONCE(config->id, id);
}

/*
 * Evicts a config. The end of its claim suspends every running state that counts by the config. The
 * next resume of such a state sees @evicted.
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

/* While there may be late readers, isolated CPUs stay told, so that we find readers on them. */
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

/* Evicts the configs of all users, or of user @uid. @native spares shared configs. */
static void evict_some(bool all, kuid_t uid, bool native, u32 error)
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
		    !(native && config->shared))
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
	evict_some(all, uid, false, PERFCTR_ERROR_LOST);
}

static void evict_native(struct work_struct *work);
static DECLARE_WORK(changed_work, evict_native);
static DECLARE_WORK(lost_work, evict_native);

/*
 * Evicts all native configs after somebody else has written to the registers of a CPU, or perf has
 * taken some. A thread that counted there since the last verification may be on any CPU now.
 */
static void evict_native(struct work_struct *work)
{
	evict_some(true, KUIDT_INIT(0), true,
		   work == &lost_work ? PERFCTR_ERROR_LOST : PERFCTR_ERROR_CHANGED);
}

static void registers_changed(bool lost)
{
	queue_work(perfctr_wq, lost ? &lost_work : &changed_work);
}

int perfctr_config_init(void)
{
	int err = perfctr_let_in_init();

	if (err)
		return err;
	hash_key = get_random_u64() | 1;
	perfctr_shared_init();
	err = perfctr_hotplug_init();
	if (err)
		return err;
	perfctr_cpu_set_changed(registers_changed);
	return 0;
}

/* Called when no state is left, so no config can lose its last user any more. */
void perfctr_config_exit(void)
{
	flush_work(&reap_work);
	config_reap(NULL);
	WARN_ON(nr_configs);
	cancel_delayed_work_sync(&readers_work);
	readers_end(&readers_work.work);
	cancel_delayed_work_sync(&give_back_work);
	config_give_back(NULL);
	perfctr_let_in_exit();
	/* The counters were given back, so registers are not verified any more. */
	perfctr_cpu_set_changed(NULL);
	flush_work(&changed_work);
	flush_work(&lost_work);
	perfctr_interrupts_exit();
	perfctr_fold_exit();
	cancel_delayed_work_sync(&age_work);
	perfctr_hotplug_exit();
}
