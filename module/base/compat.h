/* SPDX-License-Identifier: GPL-2.0 */
/* This header hides differences between kernel versions, and has nothing else. */
#ifndef PERFCTR_COMPAT_H
#define PERFCTR_COMPAT_H

#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sched/coredump.h>
#ifdef PERFCTR_HAVE_EXEC_STATE
#include <linux/sched/exec_state.h>
#endif
#include <linux/version.h>
#if defined(CONFIG_X86) && LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#include <asm/cpuid/api.h>
#endif

/* The probe of sched_process_exit got a second argument in 6.16. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define PERFCTR_EXIT_PROBE_ARGS	void *data, struct task_struct *task, bool group_dead
#else
#define PERFCTR_EXIT_PROBE_ARGS	void *data, struct task_struct *task
#endif

#define PERFCTR_SWITCH_PROBE_ARGS	void *data, bool preempt, struct task_struct *prev, \
					struct task_struct *next, unsigned int prev_state

/*
 * Returns 0 if the caller may count in kernel mode. Asks perf on kernels where modules can ask it.
 */
static inline int perfctr_allow_kernel(void)
{
#ifdef PERFCTR_PERF_ALLOW_KERNEL_VOID
	return perf_allow_kernel();
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	struct perf_event_attr attr = { .size = sizeof(attr) };

	return perf_allow_kernel(&attr);
#else
	return perfmon_capable() ? 0 : -EACCES;
#endif
}

/*
 * Returns true if a debugger of the same user could attach to current. The answer depends on
 * current's last exec, and on later changes of its credentials. Returns false once current has
 * dropped its memory.
 */
static inline bool perfctr_current_is_dumpable(void)
{
#ifdef PERFCTR_HAVE_EXEC_STATE
	guard(rcu)();
	return rcu_dereference(current->exec_state)->dumpable == TASK_DUMPABLE_OWNER;
#else
	return current->mm && get_dumpable(current->mm) == SUID_DUMP_USER;
#endif
}

/*
 * Flags for task_work_add() in a switch. Under KASAN, task_work_add() records the caller's stack,
 * and TWAF_NO_ALLOC keeps it from allocating memory for the record. Kernels before 6.12 lack that
 * flag.
 */
#ifdef PERFCTR_HAVE_TWAF_NO_ALLOC
#define PERFCTR_TWA_RESUME	(TWA_RESUME | TWAF_NO_ALLOC)
#else
#define PERFCTR_TWA_RESUME	TWA_RESUME
#endif

/*
 * Returns true if the thread could run without being woken. Since 6.12, sleeping threads may stay
 * in the queue.
 */
static inline bool perfctr_task_is_queued(const struct task_struct *task)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	return READ_ONCE(task->on_rq) && !READ_ONCE(task->se.sched_delayed);
#else
	return READ_ONCE(task->on_rq);
#endif
}

/* Flags of threads without user code. Since 6.4, PF_USER_WORKER marks more such threads. */
#ifdef PF_USER_WORKER
#define PERFCTR_PF_NOT_USER	(PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)
#else
#define PERFCTR_PF_NOT_USER	(PF_KTHREAD | PF_IO_WORKER)
#endif

/* 6.13 replaced hrtimer_init(), which is gone since 6.15. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define perfctr_hrtimer_setup(timer, fn, clock, mode)				\
	do {									\
		struct hrtimer *hrtimer = (timer);				\
										\
		hrtimer_init(hrtimer, clock, mode);				\
		hrtimer->function = (fn);					\
	} while (0)
#else
#define perfctr_hrtimer_setup	hrtimer_setup
#endif

/* del_timer_sync() became timer_delete_sync() in 6.2. The old name is gone since 6.15. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define timer_delete_sync(timer)	del_timer_sync(timer)
#endif

/* __counted_by() is new in 6.6. */
#ifndef __counted_by
#define __counted_by(member)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/*
 * These callbacks run in the last step before the system sleeps, and in the first step after it
 * wakes. Without CONFIG_CPU_PM, nothing else tells us that a CPU sleeps deeply. The callbacks have
 * an argument since 6.19, and in some stable kernels before 6.19.
 */
#ifndef CONFIG_CPU_PM
#include <linux/syscore_ops.h>

#ifdef PERFCTR_HAVE_SYSCORE
#define PERFCTR_SYSCORE_ARGS	void *data
#define PERFCTR_SYSCORE(name, sleeps, wakes)					\
	static const struct syscore_ops name##_ops = { .suspend = sleeps, .resume = wakes }; \
	static struct syscore name = { .ops = &name##_ops }
#define perfctr_register_syscore	register_syscore
#define perfctr_unregister_syscore	unregister_syscore
#else
#define PERFCTR_SYSCORE_ARGS	void
#define PERFCTR_SYSCORE(name, sleeps, wakes)					\
	static struct syscore_ops name = { .suspend = sleeps, .resume = wakes }
#define perfctr_register_syscore	register_syscore_ops
#define perfctr_unregister_syscore	unregister_syscore_ops
#endif
#endif

/*
 * Only KVM selects preempt notifiers. A kernel without preempt notifiers lacks these structures,
 * but our table of states (notify.c) uses them.
 */
#ifndef CONFIG_PREEMPT_NOTIFIERS
struct preempt_notifier;

struct preempt_ops {
	void (*sched_in)(struct preempt_notifier *notifier, int cpu);
	void (*sched_out)(struct preempt_notifier *notifier, struct task_struct *next);
};

struct preempt_notifier {
	struct hlist_node link;
	struct preempt_ops *ops;
};
#endif

#endif /* PERFCTR_COMPAT_H */
