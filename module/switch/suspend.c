// SPDX-License-Identifier: GPL-2.0
/* The slow way to suspend a state: all that switch.c does not do at once. Also hides registers. */

#include <linux/cred.h>
#include <linux/lockdep.h>

#include "arch/sums.h"
#include "arch/user.h"
#include "perf/shared.h"
#include "perf/told.h"
#include "thread/kin.h"
#include "thread/notify.h"
#include "thread/page.h"
#include "switch/period.h"
#include "switch/suspend.h"
#include "switch/switch.h"
#include "switch/wide.h"

/*
 * A switch-out calls this function, too, with the runqueue locked. Then the kernel's counts stop
 * only when the thread comes back.
 */
notrace void vperfctr_lose(struct vperfctr *perfctr)
{
	u32 error = READ_ONCE(perfctr->config->evicted);

	if (!error)
		error = vperfctr_is_native(perfctr) && perfctr_cpu_changed() ?
			PERFCTR_ERROR_CHANGED : PERFCTR_ERROR_LOST;
	atomic_or(PERFCTR_HOLD_LOST, &perfctr->hold);
	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	if (!vperfctr_is_native(perfctr))
		WRITE_ONCE(perfctr_shared_any_lost, true);
	WRITE_ONCE(perfctr->error, error);
	if (perfctr->page && !perfctr->stale)
		WRITE_ONCE(perfctr->page->error, error);
	/* Without a page, a thread does not see that the registers now belong to somebody else. */
	if (perfctr->raw && !READ_ONCE(perfctr->user))
		vperfctr_revoke(perfctr);
	/* We kept the thread off this CPU, but somebody has sent it here. */
	if (unlikely(perfctr_cpu_out_of_place()) && vperfctr_is_native(perfctr))
		vperfctr_return_soon(perfctr, rcu_dereference_protected(perfctr->owner, true),
				     PERFCTR_TODO_ILL);
}

/*
 * Makes the page say "ask". The permission to read registers ends only when the thread leaves the
 * CPU (@next is not NULL) or calls CONTROL. An interrupt that suspends the state, after a change of
 * the policy for example, leaves the permission: the thread may be between its look at the page and
 * its read, and the read would fault. The thread throws away what it reads then.
 */
static notrace void hide(struct vperfctr *perfctr, struct task_struct *next)
{
	if (perfctr->page)
		hide_registers(perfctr);
	if (!next)
		return;
	unpermit(perfctr);
	leave(is_same_user(perfctr_cpu_private_user()), next, true);
}

/*
 * Suspends a state that has i-mode counters or the arch's own way, or of which only the clock is
 * resumed.
 */
static noinline notrace void suspend_odd(struct vperfctr *perfctr)
{
	u8 undo = perfctr->undo;

	/* Stop i-mode counters first. Events that came after the sums were made would be lost. */
	if (undo & PERFCTR_UNDO_ICTRS)
		perfctr_cpu_istop(perfctr->config, perfctr);
	if (undo & PERFCTR_UNDO_CLOCK) {
		perfctr_cpu_suspend_clock(&perfctr->cpu_state);
		sums_are_complete(perfctr, perfctr->seq);
	} else if (perfctr->seq & 1) {
		if (undo & PERFCTR_UNDO_OWN_WAY)
			perfctr_cpu_suspend_own_way(perfctr->config, &perfctr->cpu_state);
		else
			perfctr_cpu_suspend(&perfctr->cpu_state);
		if (undo & PERFCTR_UNDO_ICTRS)
			vperfctr_imode_look(perfctr);
		sums_are_complete(perfctr, perfctr->seq);
	}
	perfctr->undo &= PERFCTR_UNDO_SHOWN;
}

notrace void vperfctr_suspend_slowly(struct vperfctr *perfctr, struct task_struct *next)
{
	if (unlikely(perfctr->undo != PERFCTR_UNDO_SHOWN)) {
		suspend_odd(perfctr);
		if (!(perfctr->undo & PERFCTR_UNDO_SHOWN))
			return;
	} else if (perfctr->seq & 1) {
		perfctr_cpu_suspend(&perfctr->cpu_state);
		sums_are_complete(perfctr, perfctr->seq);
	}
	hide(perfctr, next);
}

notrace void vperfctr_unresume_shared(struct vperfctr *perfctr, bool call)
{
	perfctr_shared_suspend(&perfctr->cpu_state, smp_processor_id(), call);
	sums_are_complete(perfctr, perfctr->seq);
}

/* If this were inline, gcc would save registers for it on the native way, too. */
static noinline void suspend_not_native(struct vperfctr *perfctr)
{
	suspend_shared(perfctr, vperfctr_calls(perfctr));
}

void vperfctr_suspend(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	if (vperfctr_is_native(perfctr))
		suspend(perfctr, NULL);
	else
		suspend_not_native(perfctr);
	/* The caller may change what the state counts. resume() finds out what at_once may be. */
	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
}

/*
 * The next switch-out will not see that the thread could read registers. It would leave registers
 * running that are private to the thread, so this function also makes the registers public.
 */
void vperfctr_revoke(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	unpermit(perfctr);
	perfctr->grace = 0;
	perfctr_cpu_make_public();
}

/*
 * Returns current's state if its config was evicted and current may still read registers, or NULL.
 * Such a thread keeps its permission until it leaves its CPU, because it may be between its look at
 * the page and its read: see hide(). But its registers may count for others meanwhile.
 */
static struct vperfctr *late_reader(void)
{
	struct vperfctr *perfctr = vperfctr_current();

	lockdep_assert_irqs_disabled();
	return perfctr && perfctr->granted && READ_ONCE(perfctr->config->evicted) ? perfctr : NULL;
}

int perfctr_find_late_reader(void *found)
{
	if (late_reader())
		WRITE_ONCE(*(bool *)found, true);
	return 0;
}

int perfctr_end_late_reader(void *unused)
{
	struct vperfctr *perfctr = late_reader();

	if (perfctr)
		vperfctr_revoke(perfctr);
	return 0;
}

#ifdef PERFCTR_CPU_PERMITS_PROCESSES
/* Hides from @next the counts of all threads but its kin. @perfctr: current's state, or NULL */
static noinline notrace void hide_others(struct task_struct *next, struct vperfctr *perfctr)
{
	bool shown = perfctr && perfctr->undo & PERFCTR_UNDO_SHOWN;

	if (is_kin(next) && (!shown || is_same_user(perfctr_cpu_private_user())))
		return;
	if (perfctr)
		vperfctr_suspend(perfctr);
	if (unlikely(perfctr_wides_here()))
		perfctr_wides_lose();
	perfctr_cpu_scrub(next);
}

/*
 * Called as @next comes to this CPU, or when @next is current and has just been permitted to read
 * registers.
 */
notrace void perfctr_let_in(struct task_struct *next)
{
	struct vperfctr *perfctr;

	lockdep_assert_irqs_disabled();
	/* The registers of an isolated CPU may hold perf's counts. @next may not see these. */
	if (unlikely(!perfctr_cpus_told_here()))
		perfctr_cpus_join();
	perfctr = perfctr_of_task(current, true);
	/* If current could read registers, sched_out() hides current's counts: see leave(). */
	if (perfctr && perfctr->undo & PERFCTR_UNDO_SHOWN && next != current)
		return;
	if (READ_ONCE(perfctr_user_read) != PERFCTR_USER_READ_OPEN && !perfctr_cpu_may_see(next))
		hide_others(next, perfctr);
}
#endif
