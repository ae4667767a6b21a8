/* SPDX-License-Identifier: GPL-2.0 */
/* How the kernel calls us at a switch, and how we find the state of a thread */
#ifndef PERFCTR_NOTIFY_H
#define PERFCTR_NOTIFY_H

#include <linux/hash.h>
#include <linux/jump_label.h>
#include <linux/preempt.h>
#include <linux/rculist.h>

#include "base/hook.h"
#include "thread/state.h"

/* How a config's counters are read: as native registers, as perf's registers, by perf's driver */
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

/* The functions for each way. A state's notifier points to those of its config's way. */
extern struct preempt_ops perfctr_preempt_ops[PERFCTR_NR_WAYS];
/* @ops becomes perfctr_preempt_ops, which is constant from then on. @probe: of sched_switch */
int perfctr_notify_init(const struct preempt_ops *ops, struct perfctr_probe *probe);
void perfctr_notify_exit(void);

/* Do we see switches by the tracepoint sched_switch, and not by preempt notifiers? */
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
 * With the tracepoint: finds the state of a thread. Readers walk the table without a lock, since a
 * state's memory is freed after a grace period.
 */
#define PERFCTR_TABLE_BITS	16
extern struct hlist_head *perfctr_table;
/* With the tracepoint: the state of this CPU's thread. Only this CPU writes, interrupts off. */
DECLARE_PER_CPU(struct vperfctr *, perfctr_here);

/* hash_32(), since RISC-V takes six instructions to load the 64-bit constant of hash_64(). */
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
 * The state of a thread, or NULL. The thread is current, is frozen, or runs next on this
 * CPU. Interrupts are off, unless it is current. @native: quicker, but a state that does not count
 * natively may be missed
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
 * Turns the hook by which we see switches on, or gives it back. Whoever attaches a state calls get
 * first: ENOMEM, or the tracepoint's error. get may sleep.
 */
int perfctr_notify_get(void);
void perfctr_notify_put(void);
/*
 * Gives a new state to that thread, and takes a reference. The thread is current, or is kept from
 * running. The caller has called notify_get(); unnotify undoes that.
 */
void vperfctr_attach(struct vperfctr *perfctr, struct task_struct *task);
/*
 * The same for a child of current that has not run yet, without notify_get(). Takes over the
 * caller's reference. Interrupts are off.
 */
void vperfctr_adopt(struct vperfctr *perfctr, struct task_struct *child);
/*
 * Calls free_memory() with the state's return_work, which nobody uses any more: at once, or after a
 * grace period if others may be walking the table.
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
 * As vperfctr_attach(), for current and a state that was made for it. But this takes over the
 * caller's reference, and interrupts are off.
 */
void vperfctr_take_up(struct vperfctr *perfctr);
/*
 * We do not see the owner's switches any more. The owner is current, or is frozen.
 * Interrupts are off.
 */
void vperfctr_unnotify(struct vperfctr *perfctr);
/* After the state got another config. By the owner, interrupts off; the state is suspended. */
void vperfctr_follow_config(struct vperfctr *perfctr);
static __always_inline bool vperfctr_is_native(const struct vperfctr *perfctr)
{
	return likely(perfctr->notifier.ops == &perfctr_preempt_ops[PERFCTR_NATIVE]);
}

/* For a state that is not native: can only perf's driver read its counters? */
static __always_inline bool vperfctr_calls(const struct vperfctr *perfctr)
{
	return !PERFCTR_CPU_SHARED_INLINE ||
	       perfctr->notifier.ops == &perfctr_preempt_ops[PERFCTR_SHARED_CALL];
}

/* The state of current, or NULL. */
struct vperfctr *vperfctr_current(void);
/*
 * The state that a call of current acts on, through a handle of @perfctr: @perfctr if current owns
 * it; with @tree_too also current's own state, if it is of the same tree. EPERM: current owns
 * neither. ESRCH: nobody owns @perfctr any more.
 */
struct vperfctr *vperfctr_acting_owner(struct vperfctr *perfctr, bool tree_too);

#endif /* PERFCTR_NOTIFY_H */
