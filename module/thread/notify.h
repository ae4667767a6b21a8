/* SPDX-License-Identifier: GPL-2.0 */
/* How the kernel calls us at a switch, and so which state a thread has */
#ifndef PERFCTR_NOTIFY_H
#define PERFCTR_NOTIFY_H

#include <linux/hash.h>
#include <linux/jump_label.h>
#include <linux/preempt.h>
#include <linux/rculist.h>

#include "base/hook.h"
#include "thread/state.h"

/* The ways in which counters are read: registers, perf's registers, by perf's driver */
enum perfctr_way {
	PERFCTR_NATIVE,
	PERFCTR_SHARED_INLINE,
	PERFCTR_SHARED_CALL,
	PERFCTR_NR_WAYS
};

static inline enum perfctr_way perfctr_config_way(const struct perfctr_config *config)
{
	if (likely(!config->shared))
		return PERFCTR_NATIVE;
	return config->call ? PERFCTR_SHARED_CALL : PERFCTR_SHARED_INLINE;
}

/* By way. A state's notifier has the one of its config. */
extern struct preempt_ops perfctr_preempt_ops[PERFCTR_NR_WAYS];
/* Constant after init. @probe: of sched_switch */
int perfctr_notify_init(const struct preempt_ops *ops, struct perfctr_probe *probe);
void perfctr_notify_exit(void);

/* Are switches seen by the tracepoint sched_switch? Else by preempt notifiers */
DECLARE_STATIC_KEY_FALSE(perfctr_tracepoint_key);
static __always_inline bool perfctr_by_tracepoint(void)
{
#ifdef CONFIG_PREEMPT_NOTIFIERS
	return static_branch_unlikely(&perfctr_tracepoint_key);
#else
	return true;
#endif
}

/*
 * With the tracepoint: the states that threads have, by thread. Walked without a lock: a state's
 * memory is freed after a grace period.
 */
#define PERFCTR_TABLE_BITS	16
extern struct hlist_head *perfctr_table;
/* The state of this CPU's current thread. That CPU alone changes it, with interrupts off. */
DECLARE_PER_CPU(struct vperfctr *, perfctr_here);

/* By the lower half of the address: a constant of 64 bits would take a RISC-V six instructions. */
static __always_inline u32 perfctr_table_index(const struct task_struct *task)
{
	return hash_32((unsigned long)task, PERFCTR_TABLE_BITS);
}

static __always_inline struct vperfctr *perfctr_look_up(const struct task_struct *task)
{
	struct hlist_head *head = &perfctr_table[perfctr_table_index(task)];
	struct vperfctr *perfctr;

	hlist_for_each_entry_rcu_notrace(perfctr, head, notifier.link)
		if (rcu_access_pointer(perfctr->owner) == task)
			return perfctr;
	return NULL;
}

/*
 * The state of a thread that is current, is kept from running, or is to run next on this CPU; or
 * NULL. Interrupts are off, unless it is current. @native: only of
 * interest if it counts by the registers, and else it may be NULL, which is quicker
 */
static __always_inline struct vperfctr *perfctr_of_task(struct task_struct *task, bool native)
{
#ifdef CONFIG_PREEMPT_NOTIFIERS
	struct preempt_notifier *notifier;

	if (perfctr_by_tracepoint())
		return perfctr_look_up(task);
	hlist_for_each_entry(notifier, &task->preempt_notifiers, link)
		if (native ? notifier->ops == &perfctr_preempt_ops[PERFCTR_NATIVE] :
			     (unsigned long)notifier->ops - (unsigned long)perfctr_preempt_ops <
			     sizeof(perfctr_preempt_ops))
			return container_of(notifier, struct vperfctr, notifier);
	return NULL;
#else
	return perfctr_look_up(task);
#endif
}

/*
 * Have the switches of threads seen from now on, or not any more: by whoever attaches a state.
 * May sleep. ENOMEM, or the tracepoint's error
 */
int perfctr_notify_get(void);
void perfctr_notify_put(void);
/*
 * Give a new state to that thread, which is current or is kept from running, after notify_get(),
 * which unnotify undoes. Takes a reference.
 */
void vperfctr_attach(struct vperfctr *perfctr, struct task_struct *task);
/*
 * The same for a child of current that has not run yet; takes over the caller's reference.
 * Interrupts are off.
 */
void vperfctr_adopt(struct vperfctr *perfctr, struct task_struct *child);
/*
 * Free a state's memory by that function of its return_work, which is in no use any more: at
 * once, or, if others may be walking the table, after a grace period.
 */
static inline void vperfctr_free_memory(struct vperfctr *perfctr,
					void (*free_memory)(struct callback_head *return_work))
{
	if (perfctr_by_tracepoint())
		call_rcu(&perfctr->return_work, free_memory);
	else
		free_memory(&perfctr->return_work);
}

/* The same for current, of a state that was made for it, after notify_get(). Interrupts are off. */
void vperfctr_take_up(struct vperfctr *perfctr);
/*
 * See its owner's switches no more, who is current or is kept from running. Interrupts are off.
 */
void vperfctr_unnotify(struct vperfctr *perfctr);
/* After its config was exchanged. By the owner, interrupts are off, and it is suspended. */
void vperfctr_follow_config(struct vperfctr *perfctr);
static __always_inline bool vperfctr_is_native(const struct vperfctr *perfctr)
{
	return likely(perfctr->notifier.ops == &perfctr_preempt_ops[PERFCTR_NATIVE]);
}

/* Of one that is not native: can only perf's driver read its counters? */
static __always_inline bool vperfctr_calls(const struct vperfctr *perfctr)
{
	return !PERFCTR_CPU_SHARED_INLINE ||
	       perfctr->notifier.ops == &perfctr_preempt_ops[PERFCTR_SHARED_CALL];
}

/* The state of current, or NULL. */
struct vperfctr *vperfctr_current(void);
/*
 * The state that a call through a handle of @perfctr acts on, by its owner, who is current:
 * @perfctr, or, @tree_too, another of its tree. EPERM: current owns no such state. ESRCH:
 * nobody owns @perfctr any more.
 */
struct vperfctr *vperfctr_acting_owner(struct vperfctr *perfctr, bool tree_too);

#endif /* PERFCTR_NOTIFY_H */
