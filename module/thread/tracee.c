// SPDX-License-Identifier: GPL-2.0
/*
 * This file finds and freezes another thread, which current traces by ptrace(2).
 *
 * A thread in a ptrace stop is in no function of ours. It runs again only when it is woken, and
 * whoever wakes it takes its pi_lock. So a tracer who holds this lock may do to the thread's state
 * what otherwise only the thread itself may do. A kill of the thread waits until the lock is
 * released. (The kernel's ptrace sets a flag instead. When it clears the flag it must wake a thread
 * that was killed meanwhile, and a module cannot do that.)
 */

#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/smp.h>

#include "base/account.h"
#include "thread/notify.h"
#include "thread/tracee.h"

/*
 * Returns true if current traces the thread. Only current or the thread's death can end that, so a
 * true result stays true while the thread lives.
 */
static bool traces(const struct task_struct *task)
{
	return READ_ONCE(task->ptrace) && rcu_access_pointer(task->parent) == current;
}

/*
 * Returns true if the file is a pidfd of the thread, or of its process. The kernel's version
 * decides which of the file's two pointers is a pidfd's pid. No other kind of file has a pointer to
 * a struct pid there.
 */
static bool is_pidfd_of(const struct file *file, struct task_struct *task)
{
	const void *pid[] = { task_pid(task), task_tgid(task) };
	const void *own = READ_ONCE(file->private_data), *inodes = file_inode(file)->i_private;

	return own == pid[0] || own == pid[1] || inodes == pid[0] || inodes == pid[1];
}

static int check_pidfd(int pidfd, struct task_struct *task)
{
	struct file *file = fget(pidfd);
	int err;

	if (!file)
		return -EBADF;
	rcu_read_lock();
	err = is_pidfd_of(file, task) ? 0 : -ESRCH;
	rcu_read_unlock();
	fput(file);
	return err;
}

struct task_struct *perfctr_tracee_get(pid_t tid, bool by_pidfd, int pidfd)
{
	struct task_struct *task;
	int err = 0;

	rcu_read_lock();
	task = pid_task(find_vpid(tid), PIDTYPE_PID);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	if (!task)
		return ERR_PTR(-ESRCH);
	/* We hold the task now, so it does no harm if another thread gets its id. */
	if (by_pidfd)
		err = check_pidfd(pidfd, task);
	if (!err && !traces(task))
		err = -EPERM;
	if (!err)
		return task;
	put_task_struct(task);
	return ERR_PTR(err);
}

struct task_struct *vperfctr_traced_owner(struct vperfctr *perfctr)
{
	struct task_struct *owner;

	rcu_read_lock();
	owner = rcu_dereference(perfctr->owner);
	if (!owner)
		owner = ERR_PTR(-ESRCH);
	else if (!traces(owner))
		owner = ERR_PTR(-EPERM);
	else
		get_task_struct(owner);
	rcu_read_unlock();
	return owner;
}

void perfctr_tracee_put(struct task_struct *task)
{
	put_task_struct(task);
}

/*
 * Returns true if the thread does not run. A thread may still run, or wait to run, on its way to
 * the stop. The task's pi_lock is held.
 */
static bool is_asleep(const struct task_struct *task)
{
	if (perfctr_task_is_queued(task))
		return false;
#ifdef CONFIG_SMP
	smp_rmb();	/* A thread first leaves the queue, and then its CPU. */
	return !smp_load_acquire(&task->on_cpu);	/* We see all that the thread did. */
#else
	return true;
#endif
}

int perfctr_tracee_freeze(struct task_struct *task, unsigned long *flags)
{
	int err;

	for (;;) {
		raw_spin_lock_irqsave(&task->pi_lock, *flags);
		err = task_is_traced(task) ? 0 : -ESRCH;
		if (!err && is_asleep(task)) {
			__release(&task->pi_lock);	/* for sparse: the caller holds it */
			return 0;
		}
		raw_spin_unlock_irqrestore(&task->pi_lock, *flags);
		if (!err && fatal_signal_pending(current))
			err = -EINTR;
		if (err)
			return err;
		usleep_range(10, 100);
	}
}

void perfctr_tracee_thaw(struct task_struct *task, unsigned long flags)
{
	__acquire(&task->pi_lock);
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
}

struct look {
	struct task_struct *task;
	const struct perfctr_tree *tree;
	bool done;
	int err;
};

/*
 * Sets look->err if the task has a state. Call this for current, or for a task that does not run
 * meanwhile. With the tracepoint, it is enough to be under RCU.
 */
static void tracee_look(struct look *look)
{
	const struct vperfctr *perfctr = perfctr_of_task(look->task, false);

	/* A new state may replace a state whose tree has died: see return.c. */
	if (perfctr && !(atomic_read(&perfctr->hold) & PERFCTR_HOLD_DEAD))
		look->err = READ_ONCE(perfctr->tree) == look->tree ? -EEXIST : -EBUSY;
	look->done = true;
}

#ifdef CONFIG_PREEMPT_NOTIFIERS
static void look_at_current(void *arg)
{
	struct look *at = arg;

	if (current == at->task)
		tracee_look(at);
}

/* Returns true if the thread was woken, even if another CPU has yet to queue it. */
static bool is_woken(const struct task_struct *task)
{
	unsigned int state = READ_ONCE(task->__state);

	return state == TASK_RUNNING || state == TASK_WAKING;
}

static bool is_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return READ_ONCE(task->on_cpu);
#else
	return false;
#endif
}

/*
 * A thread may change its list of notifiers whenever it runs, and then free the notifiers that we
 * see there. So we look while the thread sleeps, or, while it runs, from an interrupt on its CPU.
 * The interrupt may hit another thread, so current's user is charged for the interrupt. We do not
 * look at a thread that waits for its CPU.
 */
static int look_once(struct look *at)
{
	struct task_struct *task = at->task;
	unsigned long flags;
	int err;

	raw_spin_lock_irqsave(&task->pi_lock, flags);
	if (!is_woken(task) && is_asleep(task))
		tracee_look(at);
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	if (at->done || !is_on_cpu(task))
		return 0;
	err = perfctr_broadcasts_allow();
	if (err)
		return err;
	smp_call_function_single(task_cpu(task), look_at_current, at, 1);
	perfctr_broadcasts_made(1);
	return 0;
}

/* The thread may wait long for its CPU, so we look less and less often. */
static int look_patiently(struct look *at)
{
	unsigned int us;
	int err;

	if (!READ_ONCE(at->task->preempt_notifiers.first))
		return 0;
	for (us = 10;; us = min(2 * us, 10000U)) {
		err = look_once(at);
		if (at->done || err)
			return at->done ? at->err : err;
		if (fatal_signal_pending(current))
			return -EINTR;
		usleep_range(us, 10 * us);
	}
}
#else
static int look_patiently(struct look *at)
{
	return 0;	/* never called */
}
#endif

int perfctr_tracee_check_free(struct task_struct *task, const struct perfctr_tree *tree)
{
	struct look at = { .task = task, .tree = tree };

	if (!perfctr_by_tracepoint())
		return look_patiently(&at);
	rcu_read_lock();
	tracee_look(&at);
	rcu_read_unlock();
	return at.err;
}
