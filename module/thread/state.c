// SPDX-License-Identifier: GPL-2.0
/*
 * This file has parts of a state: its references, what the kernel counts, and the way back to user
 * mode. struct vperfctr says who may access each member.
 */

#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/task_work.h>

#include "perf/shared.h"
#include "thread/state.h"

#define STATE_SIZE(nrctrs)	(offsetof(struct vperfctr, cpu_state.ctr) + \
				 (nrctrs) * sizeof(struct perfctr_cpu_ctr))

static_assert(STATE_SIZE(PERFCTR_MAX_HW) <= 1024);
#if defined(CONFIG_RISCV) && !defined(CONFIG_DEBUG_SPINLOCK) && !defined(CONFIG_DEBUG_LOCK_ALLOC)
/* With cycle, instret and 16 hpmcounters, 15 states fit in two pages. */
static_assert(STATE_SIZE(18) <= 2 * 4096 / 15);
#endif

/* Functions of the folders above this one. Constant after init. */
static struct perfctr_above above;

size_t vperfctr_size(void)
{
	return STATE_SIZE(perfctr_nrctrs());
}

void vperfctr_setup(struct vperfctr *perfctr)
{
	refcount_set(&perfctr->refs, 1);
	raw_spin_lock_init(&perfctr->lock);
	raw_spin_lock_init(&perfctr->map_lock);
	atomic_set(&perfctr->hold, PERFCTR_HOLD_IDLE);
	perfctr->at_once = PERFCTR_NO_CONFIG;
	perfctr->cpu_state.end = perfctr->cpu_state.ctr;
}

void vperfctr_put(struct vperfctr *perfctr)
{
	if (!refcount_dec_and_test(&perfctr->refs))
		return;
	put_pid(perfctr->pid);
	free_page((unsigned long)perfctr->page);
	if (perfctr->spare)
		vperfctr_put(perfctr->spare);
	if (perfctr->inherited)
		above.free_inherited(perfctr);
	else
		above.free_root(perfctr);
}

void vperfctr_drop_spare(struct vperfctr *perfctr)
{
	struct vperfctr *spare = perfctr->spare;

	perfctr->spare = NULL;
	if (spare)
		vperfctr_put(spare);
}

pid_t vperfctr_tid(struct vperfctr *perfctr)
{
	struct pid *pid;
	pid_t tid;

	raw_spin_lock_irq(&perfctr->lock);
	pid = get_pid(perfctr->pid);
	raw_spin_unlock_irq(&perfctr->lock);
	tid = pid_vnr(pid);
	put_pid(pid);
	return tid;
}

bool vperfctr_is_shared(struct vperfctr *perfctr)
{
	bool shared;

	raw_spin_lock_irq(&perfctr->lock);
	shared = perfctr->config && perfctr->config->shared;
	raw_spin_unlock_irq(&perfctr->lock);
	return shared;
}

/*
 * What the kernel counts
 */

/* The task may be running. Then the values are recent, but not all from the same moment. */
static __no_kcsan void soft_fields(const struct task_struct *task, u64 *field)
{
	field[0] = task->nvcsw + task->nivcsw;
	field[1] = task->se.nr_migrations;
	field[2] = task->min_flt;
	field[3] = task->maj_flt;
}

/*
 * A 32-bit kernel keeps most of these counts in 32 bits, which wrap. So our sums have only 32 bits
 * there, too. Otherwise a wrap would make a sum huge.
 */
static u64 soft_sum(u64 sum)
{
	return (unsigned long)sum;
}

/* Called with perfctr->lock held. */
static void soft_set(struct vperfctr *perfctr, const struct task_struct *owner, bool on)
{
	u64 field[PERFCTR_NR_SOFT];
	unsigned int i;

	if (perfctr->soft_on == on)
		return;
	soft_fields(owner, field);
	for (i = 0; i < PERFCTR_NR_SOFT; i++)
		perfctr->soft[i] = on ? perfctr->soft[i] - field[i] :
					soft_sum(perfctr->soft[i] + field[i]);
	perfctr->soft_on = on;
}

void vperfctr_soft_read(struct vperfctr *perfctr, u64 *soft)
{
	u64 field[PERFCTR_NR_SOFT] = {};
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	if (perfctr->soft_on)
		soft_fields(rcu_dereference_protected(perfctr->owner, true), field);
	for (i = 0; i < PERFCTR_NR_SOFT; i++)
		soft[i] = soft_sum(perfctr->soft[i] + field[i]);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
}

void vperfctr_soft_follow(struct vperfctr *perfctr)
{
	struct task_struct *owner;

	/* The owner cannot detach while we hold the lock. */
	owner = rcu_dereference_protected(perfctr->owner, lockdep_is_held(&perfctr->lock));
	if (owner)
		soft_set(perfctr, owner,
			 !(atomic_read(&perfctr->hold) & ~PERFCTR_HOLD_PARTLY));
}

void vperfctr_hold(struct vperfctr *perfctr, int why)
{
	lockdep_assert_held(&perfctr->lock);
	atomic_or(why, &perfctr->hold);
	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	vperfctr_soft_follow(perfctr);
}

void vperfctr_unhold(struct vperfctr *perfctr, int why)
{
	lockdep_assert_held(&perfctr->lock);
	atomic_andnot(why, &perfctr->hold);
	vperfctr_soft_follow(perfctr);
}

void vperfctr_soft_lost(struct vperfctr *perfctr)
{
	raw_spin_lock(&perfctr->lock);
	vperfctr_soft_follow(perfctr);
	raw_spin_unlock(&perfctr->lock);
}

u64 vperfctr_task_clock(u64 clock)
{
	u64 hz = perfctr_cpu_clock_hz(), seconds, rest;

	/* Before 6.13, the C version of mul_u64_u64_div_u64() drops digits. */
	seconds = div64_u64_rem(clock, hz, &rest);
	return seconds * NSEC_PER_SEC + div64_u64(rest * NSEC_PER_SEC, hz);
}

/* Call this while the state is suspended, or new. */
void vperfctr_bind(struct vperfctr *perfctr)
{
	const struct perfctr_config *config = perfctr->config;
	struct perfctr_cpu_ctr *ctr = perfctr->cpu_state.ctr;
	u32 i;

	if (unlikely(config->shared)) {
		for (i = 0; i < config->nr; i++)
			perfctr_shared_bind(&ctr[i], config->hw[i]);
		return;
	}
#if defined(CONFIG_PPC32) || defined(CONFIG_X86)
	perfctr->cpu_state.own = 0;
#endif
	for (i = 0; i < perfctr_config_nr_actrs(config); i++)
		perfctr_cpu_bind(&ctr[i], config->hw[i]);
	for (; i < config->nr; i++)
		perfctr_cpu_bind_ictr(&ctr[i], config->hw[i]);
}

/*
 * The way back to user mode
 */

/*
 * Queues the work. Returns true if it was not queued before. The caller must then give the work its
 * references.
 */
bool vperfctr_return_queue(struct vperfctr *perfctr, struct task_struct *task)
{
	unsigned long flags;
	bool queued = false;

	local_irq_save(flags);
	if (!(perfctr->todo & PERFCTR_TODO_QUEUED)) {
		init_task_work(&perfctr->return_work, above.on_return);
		/* This fails only if the thread is exiting, and so runs no user code any more. */
		queued = !task_work_add(task, &perfctr->return_work, PERFCTR_TWA_RESUME);
		if (queued)
			perfctr->todo |= PERFCTR_TODO_QUEUED;
	}
	local_irq_restore(flags);
	return queued;
}

bool vperfctr_invite(struct vperfctr *perfctr, struct task_struct *task)
{
	/* Set todo first: once the work is queued, todo belongs to the task. */
	perfctr->todo = PERFCTR_TODO_QUEUED | PERFCTR_TODO_RESUME | PERFCTR_TODO_MAPS;
	init_task_work(&perfctr->return_work, above.on_invited);
	return !task_work_add(task, &perfctr->return_work, PERFCTR_TWA_RESUME);
}

/*
 * Walks the kernel's list of the task's works, as task_work_cancel() does. Others may add to the
 * list. But while pi_lock is held, no work in the list begins, and no work is taken out.
 */
struct vperfctr *perfctr_find_invited(struct task_struct *task)
{
	struct callback_head *work;

	lockdep_assert_held(&task->pi_lock);
	for (work = READ_ONCE(task->task_works); work; work = READ_ONCE(work->next)) {
		struct vperfctr *perfctr = container_of(work, struct vperfctr, return_work);

		if (work->func == above.on_invited &&
		    !(atomic_read(&perfctr->hold) & PERFCTR_HOLD_DEAD))
			return perfctr;
	}
	return NULL;
}

void vperfctr_was_invited(struct vperfctr *perfctr)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&current->pi_lock, flags);
	perfctr->return_work.func = above.on_return;
	raw_spin_unlock_irqrestore(&current->pi_lock, flags);
}

/* The caller is the owner, is an interrupt on its CPU, or makes a child that has not run yet. */
void vperfctr_return_soon(struct vperfctr *perfctr, struct task_struct *task, u16 todo)
{
	unsigned long flags;

	/* With interrupts off, the work cannot run before it has its references. */
	local_irq_save(flags);
	perfctr->todo |= todo;
	if (vperfctr_return_queue(perfctr, task)) {
		refcount_inc(&perfctr->refs);
		__module_get(THIS_MODULE);
	}
	local_irq_restore(flags);
}

void perfctr_state_init(const struct perfctr_above *fns)
{
	above = *fns;
}
