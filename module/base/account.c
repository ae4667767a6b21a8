// SPDX-License-Identifier: GPL-2.0
/*
 * This file limits what users cost others: interrupts of CPUs that others use, configs, and locked
 * memory. Each user has an account that counts these costs.
 *
 * A user who makes a user namespace has 65,536 ids there, or more. So a thread in a namespace is
 * charged to the owner of the outermost namespace around it, which is just below the initial one.
 * If root owns that namespace (a container), the namespace itself has an account.
 *
 * We charge a broadcast after it was made, since a call does not know in advance how many
 * broadcasts it makes. A call that is about to make a broadcast waits until the account allows it.
 * Broadcasts of our worker are not charged: the call that caused them was charged with them.
 */

#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>

#include "base/account.h"

static unsigned int broadcasts = 100;
module_param(broadcasts, uint, 0644);
MODULE_PARM_DESC(broadcasts, "interrupts of all CPUs that a user causes in a second, or in one go, before its calls wait (100); 0: any number");

static unsigned int max_configs = 16384;
module_param_named(controls, max_configs, uint, 0644);
MODULE_PARM_DESC(controls, "different controls that a user's threads may have at a time (16384)");

/*
 * Says who is charged: a user (@ns is 0), or a namespace that root owns (@ns is its inode number).
 */
struct payer {
	kuid_t uid;
	unsigned int ns;
};

/**
 * struct perfctr_account - costs of a user who has configs or locked memory, or made broadcasts
 * @node: in accounts, by @payer; accounts_lock
 * @payer: who is charged; constant
 * @nr_configs: number of configs of this user; accounts_lock
 * @nr_pages: pages of rings of this user; accounts_lock
 * @paid_until: when the broadcasts made so far would have ended at the allowed pace, ns;
 *	accounts_lock
 */
struct perfctr_account {
	struct hlist_node node;
	struct payer payer;
	unsigned int nr_configs;
	unsigned long nr_pages;
	u64 paid_until;
};

/* Guards all accounts. It is taken inside every other lock, and only in process context. */
static DEFINE_SPINLOCK(accounts_lock);
static DEFINE_HASHTABLE(accounts, 8);	/* under accounts_lock */

static struct payer current_payer(void)
{
	struct user_namespace *ns = current_user_ns();

	if (ns == &init_user_ns)
		return (struct payer){ .uid = current_uid() };
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return (struct payer){
		.uid = ns->owner,
		.ns = uid_eq(ns->owner, GLOBAL_ROOT_UID) ? ns->ns.inum : 0,
	};
}

static u32 key_of(const struct payer *payer)
{
	return __kuid_val(payer->uid) + payer->ns;
}

/* Returns true if the account may be freed, because a new account would have the same values. */
static bool is_idle(const struct perfctr_account *account, u64 now)
{
	return !account->nr_configs && !account->nr_pages &&
	       account->paid_until + NSEC_PER_SEC < now;
}

static struct perfctr_account *account_find(const struct payer *payer)
{
	struct perfctr_account *account;

	lockdep_assert_held(&accounts_lock);
	hash_for_each_possible(accounts, account, node, key_of(payer))
		if (uid_eq(account->payer.uid, payer->uid) && account->payer.ns == payer->ns)
			return account;
	return NULL;
}

/*
 * Returns the payer's account, and makes it if there is none. Drops accounts_lock while it
 * allocates. Frees idle accounts of the same bucket. Accounts are small, and there are no more
 * accounts than users and containers, so no memory cgroup is charged. The allocation may not fail:
 * a broadcast that was made has to be charged.
 */
static struct perfctr_account *find_or_make(const struct payer *payer)
{
	struct perfctr_account *account, *made, *old;
	struct hlist_node *next;
	u64 now;

	account = account_find(payer);
	if (account)
		return account;
	spin_unlock(&accounts_lock);
	made = kzalloc(sizeof(*made), GFP_KERNEL | __GFP_NOFAIL);
	spin_lock(&accounts_lock);
	account = account_find(payer);
	if (account) {
		kfree(made);
		return account;
	}
	now = ktime_get_ns();
	hash_for_each_possible_safe(accounts, old, next, node, key_of(payer)) {
		if (is_idle(old, now)) {
			hash_del(&old->node);
			kfree(old);
		}
	}
	made->payer = *payer;
	hash_add(accounts, &made->node, key_of(payer));
	return made;
}

static struct perfctr_account *current_account(void)
{
	struct payer payer = current_payer();

	return find_or_make(&payer);
}

/* Charges @nr broadcasts. Each uses up 1 / @limit of a second. */
static void charge(struct perfctr_account *account, unsigned int nr, unsigned int limit, u64 now)
{
	/* An idle user saves up at most the broadcasts of one second. */
	if (account->paid_until + NSEC_PER_SEC < now)
		account->paid_until = now - NSEC_PER_SEC;
	account->paid_until += (u64)nr * (NSEC_PER_SEC / limit);
}

/* Returns the nanoseconds until the user may make the next broadcast. */
static u64 wait_of(const struct perfctr_account *account, u64 now)
{
	return account && account->paid_until > now ? account->paid_until - now : 0;
}

int perfctr_account_add_config(struct perfctr_account **account)
{
	unsigned int limit = READ_ONCE(broadcasts);
	u64 now = limit ? ktime_get_ns() : 0;
	struct perfctr_account *found;
	int err = 0;

	spin_lock(&accounts_lock);
	found = current_account();
	if (limit && wait_of(found, now))
		err = -EAGAIN;
	else if (found->nr_configs >= READ_ONCE(max_configs))
		err = -ENOSPC;
	if (!err) {
		found->nr_configs++;
		*account = found;
		/*
		 * The end of the config needs a broadcast, and cannot wait until one is allowed. So
		 * charge that broadcast now.
		 */
		if (limit)
			charge(found, 1, limit, now);
	}
	spin_unlock(&accounts_lock);
	return err;
}

void perfctr_account_drop_config(struct perfctr_account *account)
{
	spin_lock(&accounts_lock);
	account->nr_configs--;
	spin_unlock(&accounts_lock);
}

int perfctr_account_add_pages(struct perfctr_account **account, unsigned int nr,
			      unsigned long limit)
{
	struct perfctr_account *found;
	int err = 0;

	spin_lock(&accounts_lock);
	found = current_account();
	if (found->nr_pages + nr > limit)
		err = -ENOMEM;
	else
		found->nr_pages += nr;
	spin_unlock(&accounts_lock);
	*account = found;
	return err;
}

void perfctr_account_drop_pages(struct perfctr_account *account, unsigned int nr)
{
	spin_lock(&accounts_lock);
	account->nr_pages -= nr;
	spin_unlock(&accounts_lock);
}

void perfctr_broadcasts_made(unsigned int nr)
{
	unsigned int limit = READ_ONCE(broadcasts);

	might_sleep();
	if (current->flags & PF_KTHREAD || !limit)
		return;
	spin_lock(&accounts_lock);
	charge(current_account(), nr, limit, ktime_get_ns());
	spin_unlock(&accounts_lock);
}

static u64 broadcasts_wait(void)
{
	struct payer payer = current_payer();
	u64 wait;

	if (!READ_ONCE(broadcasts))
		return 0;
	spin_lock(&accounts_lock);
	wait = wait_of(account_find(&payer), ktime_get_ns());
	spin_unlock(&accounts_lock);
	return wait;
}

int perfctr_broadcasts_allow(void)
{
	u64 wait;

	might_sleep();
	while ((wait = broadcasts_wait())) {
		/* Wait a second at a time, so that a changed parameter soon takes effect. */
		wait = min_t(u64, wait, NSEC_PER_SEC);
		schedule_timeout_interruptible(nsecs_to_jiffies(wait) + 1);
		if (signal_pending(current))
			return -ERESTARTSYS;
	}
	return 0;
}

/* Needs no lock, because no config is left and no call is in progress. */
void perfctr_account_exit(void)
{
	struct perfctr_account *account;
	struct hlist_node *next;
	int bucket;

	hash_for_each_safe(accounts, bucket, next, account, node) {
		WARN_ON(account->nr_configs || account->nr_pages);
		hash_del(&account->node);
		kfree(account);
	}
}
