// SPDX-License-Identifier: GPL-2.0
/*
 * This file says how the kernel calls us at a switch, and how we find the state of a thread.
 *
 * Normally preempt notifiers call us. A state's notifier is in the list of its thread while the
 * state is attached, and threads without a state pay nothing. Only KVM selects preempt notifiers.
 * If the kernel has no preempt notifiers, or the parameter by_tracepoint is set, the tracepoint
 * sched_switch calls us, once at each switch of any thread. Then we find states by thread in a
 * table, and each CPU knows the state of its current thread.
 */

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/spinlock.h>

#include "base/hook.h"
#include "thread/notify.h"
#include "thread/ring.h"

struct preempt_ops perfctr_preempt_ops[PERFCTR_NR_WAYS] __ro_after_init;

DEFINE_STATIC_KEY_FALSE(perfctr_tracepoint_key);
struct hlist_head *perfctr_table;	/* constant after init; NULL without the tracepoint */
DEFINE_PER_CPU(struct vperfctr *, perfctr_here);

static struct perfctr_probe *switch_probe;	/* constant after init */

#ifdef CONFIG_PREEMPT_NOTIFIERS
static bool by_tracepoint;
module_param(by_tracepoint, bool, 0444);
MODULE_PARM_DESC(by_tracepoint, "see switches by the tracepoint sched_switch, and not by preempt notifiers (no)");
#endif

/*
 * Each lock guards every TABLE_LOCKS-th list of the table. It is taken inside all other locks of
 * ours.
 */
#define TABLE_LOCKS	64
static raw_spinlock_t table_locks[TABLE_LOCKS];

/*
 * An interrupt may call this function, too. Only current changes its list of notifiers, and does so
 * in such an order that an interrupt can always walk the list from its head.
 */
struct vperfctr *vperfctr_current(void)
{
	if (perfctr_by_tracepoint())
		return this_cpu_read(perfctr_here);
	return perfctr_of_task(current, false);
}

struct vperfctr *vperfctr_acting_owner(struct vperfctr *perfctr, bool tree_too)
{
	const struct task_struct *owner = rcu_access_pointer(perfctr->owner);
	const struct perfctr_tree *tree = READ_ONCE(perfctr->tree);

	if (likely(owner == current))
		return perfctr;
	if (tree_too && tree) {
		struct vperfctr *own = vperfctr_current();

		if (own && own->tree == tree)
			return own;
	}
	return ERR_PTR(owner ? -EPERM : -ESRCH);
}

static int turn_tracepoint(bool on)
{
	if (on)
		return perfctr_probes_register(switch_probe, 1);
	perfctr_probes_unregister(switch_probe, 1);
	return 0;
}

#ifdef CONFIG_PREEMPT_NOTIFIERS
static int turn(bool on)
{
	if (perfctr_by_tracepoint())
		return turn_tracepoint(on);
	if (on)
		preempt_notifier_inc();
	else
		preempt_notifier_dec();
	return 0;
}
#else
static int turn(bool on)
{
	return turn_tracepoint(on);
}
#endif

static struct perfctr_hook notifier_hook = {
	.mutex = __MUTEX_INITIALIZER(notifier_hook.mutex),
	.turn = turn,
	.off = __DELAYED_WORK_INITIALIZER(notifier_hook.off, perfctr_hook_off, 0),
};

int perfctr_notify_get(void)
{
	return perfctr_hook_get(&notifier_hook);
}

void perfctr_notify_put(void)
{
	perfctr_hook_put(&notifier_hook);
}

static raw_spinlock_t *lock_of(u32 bucket)
{
	return &table_locks[bucket % TABLE_LOCKS];
}

static void table_add(struct vperfctr *perfctr, const struct task_struct *task)
{
	u32 bucket = perfctr_table_index(task);

	raw_spin_lock(lock_of(bucket));
	hlist_add_head_rcu(&perfctr->notifier.link, &perfctr_table[bucket]);
	raw_spin_unlock(lock_of(bucket));
	if (task == current)
		__this_cpu_write(perfctr_here, perfctr);
}

static void table_remove(struct vperfctr *perfctr)
{
	const struct task_struct *owner = rcu_access_pointer(perfctr->owner);
	u32 bucket = perfctr_table_index(owner);

	raw_spin_lock(lock_of(bucket));
	hlist_del_rcu(&perfctr->notifier.link);
	raw_spin_unlock(lock_of(bucket));
	if (owner == current)
		__this_cpu_write(perfctr_here, NULL);
}

/* Makes us see the switches of @task, which is current or does not run. */
static __always_inline void notify(struct vperfctr *perfctr, struct task_struct *task,
				   enum perfctr_way way)
{
	lockdep_assert_irqs_disabled();
	__module_get(THIS_MODULE);
	if (perfctr->recorder)
		perfctr_ring_add_writer(perfctr->recorder->ring);
	rcu_assign_pointer(perfctr->owner, task);
	perfctr->notifier.ops = &perfctr_preempt_ops[way];
	if (perfctr_by_tracepoint())
		table_add(perfctr, task);
#ifdef CONFIG_PREEMPT_NOTIFIERS
	else	/* as preempt_notifier_register() does for current */
		hlist_add_head(&perfctr->notifier.link, &task->preempt_notifiers);
#endif
}

void vperfctr_attach(struct vperfctr *perfctr, struct task_struct *task)
{
	unsigned long flags;

	refcount_inc(&perfctr->refs);
	local_irq_save(flags);
	notify(perfctr, task, PERFCTR_NATIVE);
	local_irq_restore(flags);
}

void vperfctr_adopt(struct vperfctr *perfctr, struct task_struct *child)
{
	/* The hook is on, because the parent's state uses it. */
	perfctr_hook_add_user(&notifier_hook);
	notify(perfctr, child, perfctr_config_way(perfctr->config));
}

void vperfctr_take_up(struct vperfctr *perfctr)
{
	notify(perfctr, current, perfctr_config_way(perfctr->config));
}

void vperfctr_unnotify(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	if (perfctr->recorder)
		perfctr_ring_drop_writer(perfctr->recorder->ring);
	if (perfctr_by_tracepoint())
		table_remove(perfctr);
#ifdef CONFIG_PREEMPT_NOTIFIERS
	else
		hlist_del(&perfctr->notifier.link);
#endif
	perfctr_notify_put();
}

void vperfctr_follow_config(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	perfctr->notifier.ops = &perfctr_preempt_ops[perfctr_config_way(perfctr->config)];
}

int __init perfctr_notify_init(const struct preempt_ops *ops, struct perfctr_probe *probe)
{
	unsigned int i;
	int err;

	memcpy(perfctr_preempt_ops, ops, sizeof(perfctr_preempt_ops));
	for (i = 0; i < TABLE_LOCKS; i++)
		raw_spin_lock_init(&table_locks[i]);
	switch_probe = probe;
#ifdef CONFIG_PREEMPT_NOTIFIERS
	if (!by_tracepoint)
		return 0;
	static_branch_enable(&perfctr_tracepoint_key);
#endif
	err = perfctr_probes_find(switch_probe, 1);
	if (err)
		return err;
	perfctr_table = kvcalloc(BIT(PERFCTR_TABLE_BITS), sizeof(*perfctr_table), GFP_KERNEL);
	return perfctr_table ? 0 : -ENOMEM;
}

/* Call this when no state is left. */
void perfctr_notify_exit(void)
{
	perfctr_hook_exit(&notifier_hook);
	/* Wait for the grace period after which states are freed. */
	if (perfctr_by_tracepoint())
		rcu_barrier();
	kvfree(perfctr_table);
}
