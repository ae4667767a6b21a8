// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that become members of a tree while they run: ADD_MEMBER.
 *
 * Nobody but a thread itself may attach a state to it while it runs. So a member is made for it,
 * which it finds when it next comes to us: on its way to user mode, in a fork (whose child
 * inherits), an exec, an OPEN, or as it ends. Until then the member is in the tree, counts nothing,
 * and is held by INVITED. The thread is neither stopped nor woken.
 */

#include <linux/hash.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/uaccess.h>

#include "perfctr.h"
#include "tree.h"

#define INVITED_BITS	8
static struct hlist_head invited[BIT(INVITED_BITS)];	/* by notifier.link; invited_lock */
/* Inside the lock of a tree, outside that of a state */
static DEFINE_RAW_SPINLOCK(invited_lock);

atomic_t perfctr_nr_invited = ATOMIC_INIT(0);

static struct hlist_head *head_of(const struct task_struct *task)
{
	return &invited[hash_ptr(task, INVITED_BITS)];
}

static struct vperfctr *find(const struct task_struct *task)
{
	struct vperfctr *perfctr;

	lockdep_assert_held(&invited_lock);
	hlist_for_each_entry(perfctr, head_of(task), notifier.link)
		if (rcu_access_pointer(perfctr->owner) == task)
			return perfctr;
	return NULL;
}

static void take_out(struct vperfctr *perfctr)
{
	lockdep_assert_held(&invited_lock);
	hlist_del(&perfctr->notifier.link);
	atomic_dec(&perfctr_nr_invited);
}

struct vperfctr *perfctr_invitation_take(const struct task_struct *task)
{
	struct vperfctr *perfctr;
	unsigned long flags;

	raw_spin_lock_irqsave(&invited_lock, flags);
	perfctr = find(task);
	if (perfctr)
		take_out(perfctr);
	raw_spin_unlock_irqrestore(&invited_lock, flags);
	return perfctr;
}

/* It ends without having counted: its thread ends, or has another state. */
static void decline(struct vperfctr *perfctr, u32 error)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	WRITE_ONCE(perfctr->error, error);
	vperfctr_hold(perfctr, PERFCTR_HOLD_ENDED);
	atomic_andnot(PERFCTR_HOLD_INVITED, &perfctr->hold);
	vperfctr_descendant_name(perfctr);
	rcu_assign_pointer(perfctr->owner, NULL);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
	vperfctr_descendant_end(perfctr);
	perfctr_notify_put();
}

static void accept(struct vperfctr *perfctr)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	vperfctr_take_up(perfctr);
	vperfctr_unhold(perfctr, PERFCTR_HOLD_INVITED);
	vperfctr_resume_locked(perfctr);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
}

void vperfctr_invitation_answer(struct vperfctr *perfctr, const struct vperfctr *own)
{
	if (!own && !(current->flags & PF_EXITING)) {
		accept(perfctr);
		return;
	}
	/* It may have inherited one of the same tree meanwhile. */
	decline(perfctr, own && own->tree != perfctr->tree ? PERFCTR_ERROR_MEMORY :
							     PERFCTR_ERROR_NONE);
	/* Its work has another reference, so this is never the last. */
	vperfctr_put(perfctr);
}

/*
 * EEXIST: it is a member already; EBUSY: it has another state; EINTR: current was killed. An
 * invitation to a tree that has died since, which the thread did not see as it sleeps, gives way.
 */
static int check_free(const struct perfctr_tree *tree, struct task_struct *task)
{
	int err = perfctr_tracee_check_free(task, tree);
	struct vperfctr *other, *dead = NULL;

	if (err)
		return err;
	raw_spin_lock_irq(&invited_lock);
	other = find(task);
	if (other && atomic_read(&other->hold) & PERFCTR_HOLD_DEAD) {
		take_out(other);
		dead = other;
	} else if (other) {
		err = other->tree == tree ? -EEXIST : -EBUSY;
	}
	raw_spin_unlock_irq(&invited_lock);
	if (dead) {
		decline(dead, PERFCTR_ERROR_NONE);
		vperfctr_put(dead);
	}
	return err;
}

/* By the root's owner. Takes over the caller's reference to the new state, unless it fails. */
static int invite(struct perfctr_tree *tree, struct vperfctr *perfctr, struct task_struct *task)
{
	unsigned long flags;

	/* For the work, as in vperfctr_return_soon(); it may begin at once. */
	refcount_inc(&perfctr->refs);
	__module_get(THIS_MODULE);
	vperfctr_invite_prepare(perfctr);
	raw_spin_lock_irqsave(&tree->lock, flags);
	vperfctr_member_enter(tree, perfctr, task, PERFCTR_HOLD_INVITED |
			      (atomic_read(&tree->root->hold) & PERFCTR_HOLD_LOST));
	rcu_assign_pointer(perfctr->owner, task);
	raw_spin_lock(&invited_lock);
	hlist_add_head(&perfctr->notifier.link, head_of(task));
	atomic_inc(&perfctr_nr_invited);
	raw_spin_unlock(&invited_lock);
	raw_spin_unlock_irqrestore(&tree->lock, flags);
	smp_mb();	/* pairs with probe_fork() */
	if (vperfctr_invite_soon(perfctr, task))
		return 0;
	/* It has exited so far that it runs no user code. If it did not take it, we do. */
	if (perfctr_invitation_take(task) == perfctr) {
		decline(perfctr, PERFCTR_ERROR_NONE);
		vperfctr_put(perfctr);
	}
	vperfctr_put(perfctr);
	module_put(THIS_MODULE);
	return -ESRCH;
}

static int add_member(struct vperfctr *root, struct task_struct *task)
{
	struct perfctr_tree *tree = root->tree;
	struct perfctr_affinity affinity = {};
	struct vperfctr *perfctr;
	int err = check_free(tree, task);

	if (err)
		return err;
	perfctr = vperfctr_spare_create(root, true);
	if (!perfctr)
		return -ENOMEM;
	err = perfctr_keep_off(task, root->config, &affinity) ?: perfctr_notify_get();
	if (err) {
		vperfctr_put(perfctr);
	} else {
		/* It has no handler of ours: without a ring its overflows are never due. */
		vperfctr_member_init(perfctr, root, perfctr_is_other(task));
		err = invite(tree, perfctr, task);
	}
	perfctr_keep_off_end(task, &affinity, err);
	return err;
}

int vperfctr_add_member_ioctl(struct vperfctr *perfctr, void __user *arg)
{
	struct perfctr_add_member add;
	struct task_struct *task;
	int err;

	perfctr = vperfctr_acting_owner(perfctr, false);
	if (IS_ERR(perfctr))
		return PTR_ERR(perfctr);
	err = perfctr_get_struct(&add, sizeof(add), arg, PERFCTR_ADD_MEMBER_SIZE_VER0);
	if (err)
		return err;
	if (add.flags & ~PERFCTR_ADD_PIDFD || add.tid <= 0 ||
	    (add.pidfd && !(add.flags & PERFCTR_ADD_PIDFD)) ||
	    !perfctr_all_zero(add.reserved, sizeof(add.reserved)))
		return -EINVAL;
	/* Only the caller could end the tree. */
	if (perfctr->inherited || !perfctr->tree)
		return -ENOENT;
	task = perfctr_tracee_get(add.tid, add.flags & PERFCTR_ADD_PIDFD, add.pidfd);
	if (IS_ERR(task))
		return PTR_ERR(task);
	err = add_member(perfctr, task);
	perfctr_tracee_put(task);
	return err;
}
