// SPDX-License-Identifier: GPL-2.0
/*
 * How the kernel calls us at a switch, and so which state a thread has: by a preempt
 * notifier, which is in the list of its thread while the state is attached.
 */

#include <linux/module.h>

#include "perfctr.h"
#include "hook.h"

struct preempt_ops perfctr_preempt_ops[PERFCTR_NR_WAYS] __ro_after_init;

/*
 * Also from an interrupt: the list is current's own, changed only by current
 * and in an order that leaves it whole for a walk from its head at any moment.
 */
struct vperfctr *vperfctr_current(void)
{
	return perfctr_of_task(current);
}

struct vperfctr *vperfctr_acting_owner(const struct vperfctr *perfctr, bool tree_too)
{
	struct perfctr_tree *tree = READ_ONCE(perfctr->tree);
	struct vperfctr *own = vperfctr_current();

	if (own && (own == perfctr || (tree_too && tree && own->tree == tree)))
		return own;
	return ERR_PTR(rcu_access_pointer(perfctr->owner) ? -EPERM : -ESRCH);
}

static int turn_notifiers(bool on)
{
	if (on)
		preempt_notifier_inc();
	else
		preempt_notifier_dec();
	return 0;
}

static struct perfctr_hook notifier_hook = {
	.mutex = __MUTEX_INITIALIZER(notifier_hook.mutex),
	.turn = turn_notifiers,
	.off = __DELAYED_WORK_INITIALIZER(notifier_hook.off, perfctr_hook_off, 0),
};

void vperfctr_attach(struct vperfctr *perfctr)
{
	unsigned long flags;

	refcount_inc(&perfctr->refs);
	__module_get(THIS_MODULE);
	rcu_assign_pointer(perfctr->owner, current);
	perfctr_hook_get(&notifier_hook);
	preempt_notifier_init(&perfctr->notifier, &perfctr_preempt_ops[PERFCTR_NATIVE]);
	local_irq_save(flags);
	preempt_notifier_register(&perfctr->notifier);
	local_irq_restore(flags);
}

void vperfctr_adopt(struct vperfctr *perfctr, struct task_struct *child)
{
	__module_get(THIS_MODULE);
	rcu_assign_pointer(perfctr->owner, child);
	/* The parent's state keeps them on. */
	perfctr_hook_share(&notifier_hook);
	preempt_notifier_init(&perfctr->notifier,
			      &perfctr_preempt_ops[perfctr_config_way(perfctr->config)]);
	/* As preempt_notifier_register() does for current. */
	hlist_add_head(&perfctr->notifier.link, &child->preempt_notifiers);
}

void vperfctr_unnotify(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	preempt_notifier_unregister(&perfctr->notifier);
	perfctr_hook_put(&notifier_hook);
}

void vperfctr_follow_config(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	perfctr->notifier.ops = &perfctr_preempt_ops[perfctr_config_way(perfctr->config)];
}

void __init perfctr_notify_init(const struct preempt_ops *ops)
{
	memcpy(perfctr_preempt_ops, ops, sizeof(perfctr_preempt_ops));
}

/* No state is left. */
void perfctr_notify_exit(void)
{
	perfctr_hook_exit(&notifier_hook);
}
