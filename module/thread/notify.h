/* SPDX-License-Identifier: GPL-2.0 */
/* This header says how the kernel calls us at a switch, and how we find the state of a thread. */
#ifndef PERFCTR_NOTIFY_H
#define PERFCTR_NOTIFY_H

#include <linux/hash.h>
#include <linux/jump_label.h>
#include <linux/preempt.h>
#include <linux/rculist.h>

#include "base/hook.h"
#include "thread/state.h"

/*
 * A way says how a config's counters are read: as native registers, as perf's registers, or by
 * perf's driver.
 */
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

/*
 * The functions of preempt notifiers for each way. A state's notifier points to the functions of
 * its config's way.
 */
extern struct preempt_ops perfctr_preempt_ops[PERFCTR_NR_WAYS];
/*
 * Copies @ops to perfctr_preempt_ops, which is constant from then on. @probe: our probe of
 * sched_switch. Returns 0, or an error if the tracepoint is needed and cannot be used.
 */
int perfctr_notify_init(const struct preempt_ops *ops, struct perfctr_probe *probe);
void perfctr_notify_exit(void);

/* Returns true if we see switches by the tracepoint sched_switch, and not by preempt notifiers. */
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
 * Used only with the tracepoint: the table in which we find the state of a thread. Readers walk the
 * table without a lock, because a state's memory is freed after a grace period.
 */
#define PERFCTR_TABLE_BITS	16
extern struct hlist_head *perfctr_table;
/*
 * Used only with the tracepoint: the state of this CPU's thread. Only this CPU writes it, with
 * interrupts off.
 */
DECLARE_PER_CPU(struct vperfctr *, perfctr_here);

/*
 * This uses hash_32(), because RISC-V takes six instructions to load the 64-bit constant of
 * hash_64().
 */
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
 * Returns the state of a thread, or NULL. The thread is current, is frozen, or runs next on this
 * CPU. Interrupts are off, unless the thread is current. With @native, the function takes less
 * time, but may miss a state that does not count natively.
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
 * get turns on the hook by which we see switches, and put gives the hook back. Call get before a
 * state is attached. get returns 0, -ENOMEM, or the tracepoint's error, and may sleep.
 */
int perfctr_notify_get(void);
void perfctr_notify_put(void);
/*
 * Gives a new state to @task, and takes a reference. @task is current, or is kept from
 * running. The caller has called perfctr_notify_get(), which vperfctr_unnotify() undoes.
 */
void vperfctr_attach(struct vperfctr *perfctr, struct task_struct *task);
/*
 * Gives a new state to a child of current that has not run yet. Takes over the caller's reference.
 * The caller need not call perfctr_notify_get(). Interrupts are off.
 */
void vperfctr_adopt(struct vperfctr *perfctr, struct task_struct *child);
/*
 * Calls free_memory() with the state's return_work, which is not in use any more. If other CPUs may
 * be walking the table of states, the call comes after a grace period.
 */
static inline void vperfctr_free_memory(struct vperfctr *perfctr,
					void (*free_memory)(struct callback_head *return_work))
{
	if (perfctr_by_tracepoint())
		call_rcu(&perfctr->return_work, free_memory);
	else
		free_memory(&perfctr->return_work);
}

/*
 * Gives current a state that was made for it. Takes over the caller's reference. The caller has
 * called perfctr_notify_get(). Interrupts are off.
 */
void vperfctr_take_up(struct vperfctr *perfctr);
/* Stops watching the owner's switches. The owner is current, or is frozen. Interrupts are off. */
void vperfctr_unnotify(struct vperfctr *perfctr);
/*
 * Call this after the state got another config. The caller is the owner, with interrupts off, and
 * the state is suspended.
 */
void vperfctr_follow_config(struct vperfctr *perfctr);
static __always_inline bool vperfctr_is_native(const struct vperfctr *perfctr)
{
	return likely(perfctr->notifier.ops == &perfctr_preempt_ops[PERFCTR_NATIVE]);
}

/* Returns true if only perf's driver can read the counters of a state that is not native. */
static __always_inline bool vperfctr_calls(const struct vperfctr *perfctr)
{
	return !PERFCTR_CPU_SHARED_INLINE ||
	       perfctr->notifier.ops == &perfctr_preempt_ops[PERFCTR_SHARED_CALL];
}

/* Returns the state of current, or NULL. */
struct vperfctr *vperfctr_current(void);
/*
 * Returns the state that a call of current acts on, through a handle of @perfctr. This is @perfctr
 * if current owns it. With @tree_too, it is current's own state if that state is in the tree of
 * @perfctr. Otherwise the call is refused: returns -EPERM if another thread owns @perfctr, or
 * -ESRCH if no thread owns @perfctr any more.
 */
struct vperfctr *vperfctr_acting_owner(struct vperfctr *perfctr, bool tree_too);

#endif /* PERFCTR_NOTIFY_H */
