/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hot path: a counted thread leaves a CPU, or comes to a CPU. This header has the functions
 * that several files of switch/ need inline.
 */
#ifndef PERFCTR_SWITCH_H
#define PERFCTR_SWITCH_H

#include <linux/cred.h>

#include "arch/sums.h"
#include "arch/user.h"
#include "perf/shared.h"
#include "thread/kin.h"
#include "thread/notify.h"
#include "thread/page.h"
#include "switch/resume.h"
#include "switch/suspend.h"

static __always_inline void sums_are_changing(struct vperfctr *perfctr)
{
	WRITE_ONCE(perfctr->seq, perfctr->seq + 1);
	smp_wmb();	/* seq is odd before sums become differences; pairs with vperfctr_sums() */
}

/* Turns all sums into differences. @some is true if the state has counters besides the clock. */
static __always_inline void sums_to_differences(struct vperfctr *perfctr, bool some)
{
	sums_are_changing(perfctr);
	perfctr_cpu_resume(&perfctr->cpu_state, some);
}

/*
 * Makes seq even, after all sums were written. @seq is the value of perfctr->seq. Without this
 * argument, the compiler would read seq again behind the barrier.
 */
static __always_inline void sums_are_complete(struct vperfctr *perfctr, u32 seq)
{
	smp_wmb();	/* all sums are written before seq is even; pairs with vperfctr_sums() */
	WRITE_ONCE(perfctr->seq, seq + 1);
}

/*
 * Suspends a native state. gcc moves a variable that is passed to a call into another register
 * early, even on paths without the call. So the rare call is passed a copy.
 */
static __always_inline void suspend(struct vperfctr *perfctr, struct task_struct *next)
{
	u32 seq = perfctr->seq;

	if (unlikely(perfctr->undo)) {
		OPTIMIZER_HIDE_VAR(perfctr);
		vperfctr_suspend_slowly(perfctr, next);
	} else if (likely(seq & 1)) {
		perfctr_cpu_suspend(&perfctr->cpu_state);
		sums_are_complete(perfctr, seq);
	}
}

/* Suspends a state of the shared source. Such a state never has anything to undo. */
static __always_inline void suspend_shared(struct vperfctr *perfctr, bool call)
{
	u32 seq = perfctr->seq;
	bool lost;

	if (!(seq & 1))
		return;
	lost = perfctr_shared_suspend(&perfctr->cpu_state, smp_processor_id(), call);
	sums_are_complete(perfctr, seq);
	if (unlikely(lost)) {
		OPTIMIZER_HIDE_VAR(perfctr);
		vperfctr_lose(perfctr);
	}
}

/* Takes back the permission to read registers in user mode. */
static __always_inline void unpermit(struct vperfctr *perfctr)
{
	if (perfctr->undo & PERFCTR_UNDO_SHOWN)
		perfctr_cpu_revoke(perfctr->granted);
	perfctr->granted = 0;
	perfctr->undo &= ~PERFCTR_UNDO_SHOWN;
}

/* Returns true if prctl() has changed whether the thread may read the clock. */
static __always_inline bool clock_changed(const struct vperfctr *perfctr)
{
	return perfctr_cpu_hides_clock() && perfctr->clock_on &&
	       perfctr_cpu_clock_hidden() ==
	       !!perfctr->page->slot[PERFCTR_CPU_CLOCK_SLOT].owner;
}

/*
 * Returns true if current, which may read registers that are private to user @uid, is still that
 * user. If current has changed its user and changed back, current is not dumpable any more. Then
 * this returns false. (A debugger may not trace such a thread either.)
 */
static __always_inline bool is_same_user(kuid_t uid)
{
	return uid_eq(current_real_cred()->euid, uid) && perfctr_current_is_dumpable();
}

static __always_inline kuid_t user_of(const struct task_struct *task)
{
	return rcu_dereference_sched(task->real_cred)->euid;
}

/*
 * Returns true if the registers are private to the kin and the user of @next, and @next may read
 * them. @next comes to this CPU right now.
 */
static __always_inline bool is_kin(struct task_struct *next)
{
	const struct vperfctr *other = perfctr_of_task(next, true);

	/*
	 * If @next loses its map before it runs, the resume of its state calls load(), which makes
	 * the registers public.
	 */
	return other && !(atomic_read(&other->hold) & PERFCTR_HOLD_ENTIRELY) &&
	       !other->apart &&
	       (perfctr_cpu_always_readable() || READ_ONCE(other->user)) &&
	       perfctr_cpu_private(other->config->kin, user_of(next));
}

static __always_inline void leave_registers(bool same)
{
	if (likely(same))
		perfctr_cpu_leave();
	else
		perfctr_cpu_make_public();
}

/*
 * Current, which could read the registers, leaves them to @next if @next is kin. @same is the
 * result of is_same_user(). If @same is false, the registers hold counts of two users, and nobody
 * is kin of both.
 */
static __always_inline void leave(bool same, struct task_struct *next, bool may_be_kin)
{
	if (same && may_be_kin && is_kin(next)) {
		perfctr_cpu_leave_to_kin(next);
		return;
	}
	leave_registers(same);
	if (perfctr_cpu_is_permitted(next) && !perfctr_cpu_may_see(next) &&
	    READ_ONCE(perfctr_user_read) != PERFCTR_USER_READ_OPEN)
		perfctr_cpu_scrub(next);
}

int perfctr_switch_init(void);

#endif /* PERFCTR_SWITCH_H */
