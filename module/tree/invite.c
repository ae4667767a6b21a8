// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that become members of a tree while they run: ADD_MEMBER.
 *
 * While a thread runs, only the thread itself may attach a state. So we make a member for the
 * thread, and queue the member's return_work, which attaches the member before the thread's next
 * user instruction. A fork (whose child inherits), an exec or an OPEN may come earlier. Each of
 * these looks for the member among the thread's works, and attaches it. Until the member is
 * attached, it is in the tree and counts nothing. The thread is neither stopped nor woken.
 */

#include <linux/module.h>
#include <linux/pid.h>
#include <linux/uaccess.h>

#include "base/usercopy.h"
#include "thread/affinity.h"
#include "thread/kin.h"
#include "thread/notify.h"
#include "thread/tracee.h"
#include "switch/resume.h"
#include "tree/invite.h"
#include "tree/tree.h"

atomic_t perfctr_nr_invited = ATOMIC_INIT(0);

/*
 * Ends a member that has counted nothing, because its thread ends, or has another state, or because
 * the tree is dead.
 */
static void decline(struct vperfctr *perfctr, u32 error)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	WRITE_ONCE(perfctr->error, error);
	vperfctr_hold(perfctr, PERFCTR_HOLD_ENDED);
	atomic_andnot(PERFCTR_HOLD_IDLE, &perfctr->hold);
	vperfctr_descendant_name(perfctr);
	rcu_assign_pointer(perfctr->owner, NULL);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
	vperfctr_descendant_end(perfctr);
	perfctr_notify_put();
	atomic_dec(&perfctr_nr_invited);
}

static void accept(struct vperfctr *perfctr)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	vperfctr_take_up(perfctr);
	vperfctr_unhold(perfctr, PERFCTR_HOLD_IDLE);
	vperfctr_resume_locked(perfctr);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
	atomic_dec(&perfctr_nr_invited);
}

void vperfctr_answer(struct vperfctr *perfctr, const struct vperfctr *own)
{
	if (!own && !(current->flags & PF_EXITING) &&
	    !(atomic_read(&perfctr->hold) & PERFCTR_HOLD_DEAD)) {
		accept(perfctr);
		return;
	}
	/* If current has inherited a state of the same tree meanwhile, this is no error. */
	decline(perfctr, own && own->tree != perfctr->tree ? PERFCTR_ERROR_MEMORY :
							     PERFCTR_ERROR_NONE);
	/* The work has a reference, too, so this does not put the last reference. */
	vperfctr_put(perfctr);
}

/*
 * Checks that the thread has no state yet. Returns 0, or -EEXIST if the thread has a state of this
 * tree or is invited to this tree. Returns -EBUSY if the thread has another state or is invited to
 * another tree, and -EINTR if current was killed.
 */
static int check_free(const struct perfctr_tree *tree, struct task_struct *task)
{
	const struct vperfctr *other;
	unsigned long flags;
	int err = 0;

	raw_spin_lock_irqsave(&task->pi_lock, flags);
	other = perfctr_find_invited(task);
	if (other)
		err = other->tree == tree ? -EEXIST : -EBUSY;
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	return err ?: perfctr_tracee_check_free(task, tree);
}

/*
 * Current, the root's owner, invites @task. Takes over the caller's reference to the new state,
 * also on failure. Returns 0, or -ESRCH if @task exits.
 */
static int invite(struct perfctr_tree *tree, struct vperfctr *perfctr, struct task_struct *task)
{
	unsigned long flags;

	/* The work has these references, and may begin at once: see vperfctr_return_soon(). */
	refcount_inc(&perfctr->refs);
	__module_get(THIS_MODULE);
	raw_spin_lock_irqsave(&tree->lock, flags);
	vperfctr_member_enter(tree, perfctr, task, PERFCTR_HOLD_IDLE |
			      (atomic_read(&tree->root->hold) & PERFCTR_HOLD_LOST));
	rcu_assign_pointer(perfctr->owner, task);
	raw_spin_unlock_irqrestore(&tree->lock, flags);
	atomic_inc(&perfctr_nr_invited);
	if (vperfctr_invite(perfctr, task))	/* a barrier: pairs with probe_fork() */
		return 0;
	decline(perfctr, PERFCTR_ERROR_NONE);
	vperfctr_put(perfctr);
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
		/* The thread has no signal handler, so its overflows are due only with a ring. */
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
	/* The tree stays, because only the caller could end it. */
	if (perfctr->inherited || !perfctr->tree)
		return -ENOENT;
	task = perfctr_tracee_get(add.tid, add.flags & PERFCTR_ADD_PIDFD, add.pidfd);
	if (IS_ERR(task))
		return PTR_ERR(task);
	err = add_member(perfctr, task);
	perfctr_tracee_put(task);
	return err;
}
