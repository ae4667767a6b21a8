// SPDX-License-Identifier: GPL-2.0
/*
 * The slow way to resume a state does what switch.c does not do at once. It loads counters, shows
 * them in the page, grants permission to read them, starts i-mode counters, and heeds holds.
 * A thread takes this way at each switch if it has i-mode counters or RAW, or if its control
 * differs from that of the thread before it.
 */

#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/smp.h>

#include "arch/sums.h"
#include "arch/user.h"
#include "perf/shared.h"
#include "perf/told.h"
#include "thread/kin.h"
#include "thread/notify.h"
#include "thread/page.h"
#include "switch/grace.h"
#include "switch/period.h"
#include "switch/resume.h"
#include "switch/suspend.h"
#include "switch/switch.h"
#include "switch/timer.h"

static __always_inline void grant(struct vperfctr *perfctr)
{
	unsigned long granted = perfctr_cpu_grant(perfctr->config);

	if (granted)
		perfctr->granted |= granted;
}

/*
 * Returns true if this CPU may load the config. An isolated CPU first joins the claims. An evicted
 * config has no claim.
 */
static noinline notrace bool may_load_rarely(const struct perfctr_config *config)
{
	if (!perfctr_cpus_told_here())
		perfctr_cpus_join();
	return !READ_ONCE(config->evicted);
}

static __always_inline bool may_load(const struct perfctr_config *config)
{
	return likely(!READ_ONCE(perfctr_any_rarity)) || may_load_rarely(config);
}

static __always_inline bool load(struct vperfctr *perfctr)
{
	if (likely(may_load(perfctr->config) && !perfctr_cpu_load(perfctr->config)))
		return true;
	vperfctr_lose(perfctr);
	return false;
}

static __always_inline unsigned long kin_of(const struct vperfctr *perfctr)
{
	return likely(!perfctr->apart) ? perfctr->config->kin : perfctr_new_kin();
}

/*
 * Lets the registers run, private to the threads of user @uid in the state's kin. The registers
 * start from zero, unless they were private to these threads already. Returns false if the state
 * was lost.
 */
static __always_inline bool load_private(struct vperfctr *perfctr, kuid_t uid)
{
	const struct perfctr_config *config = perfctr->config;
	unsigned long kin = kin_of(perfctr);

	if (!(perfctr_cpu_private(kin, uid) && perfctr_cpu_runs()) &&
	    (!may_load(config) || perfctr_cpu_restart(config, kin, uid))) {
		vperfctr_lose(perfctr);
		return false;
	}
	perfctr->shown_to = uid;
	return true;
}

/*
 * Loads the registers for an owner that has mapped its page, or may read registers without a page.
 * Under "guarded" the registers must hold nothing of others, so they start from zero, unless they
 * have only run for the owner's kin. Sets *readable if the page may show the registers, and *permit
 * if the owner may read them without a fault. While the state is held, the page shows nothing, and
 * the permission lasts for the grace. After an overflow the permission stays, because a read that
 * was interrupted goes on when the signal handler returns. Returns false if the state was lost.
 */
static __always_inline bool load_user(struct vperfctr *perfctr, int hold,
				      bool *readable, bool *permit)
{
	unsigned int policy = READ_ONCE(perfctr_user_read);
	const struct perfctr_config *config = perfctr->config;
	bool may = perfctr_cpu_user_readable(config, policy);
	kuid_t uid = current_real_cred()->euid;
	bool counting = !hold;

	*readable = may && counting && READ_ONCE(perfctr->user) && !perfctr->lent;
	*permit = may && (counting || hold & PERFCTR_HOLD_OVERFLOWN);
	if (perfctr_guards_all()) {
		*permit = counting;
		policy = PERFCTR_USER_READ_GUARDED;
	} else if (!*permit && has_grace(perfctr)) {
		*permit = true;
		policy = PERFCTR_USER_READ_GUARDED;
	}
	if (!*permit || policy != PERFCTR_USER_READ_GUARDED || !config->nr)
		return !counting || perfctr_cpu_has_loaded(config) || load(perfctr);
	if (!load_private(perfctr, uid))
		return false;
	/* i-mode counters may hold counts of others, until a start sets new values. */
	if (!counting && config->imask)
		perfctr_cpu_iclear(config);
	return true;
}

/* Turns all sums into differences, in the arch's own way if the config has one. */
static __always_inline void all_to_differences(struct vperfctr *perfctr)
{
	if (likely(!perfctr_config_has_own_way(perfctr->config))) {
		sums_to_differences(perfctr, false);
		return;
	}
	sums_are_changing(perfctr);
	perfctr_cpu_resume_own_way(perfctr->config, &perfctr->cpu_state);
	perfctr->undo |= PERFCTR_UNDO_OWN_WAY;
}

/* Writes the biases to the page, and lets the page show the registers. */
static __always_inline void show(struct vperfctr *perfctr)
{
	const struct perfctr_cpu_ctr *ctr = perfctr->cpu_state.ctr, *end = perfctr->cpu_state.end;
	const struct perfctr_config *config = perfctr->config;
	struct perfctr_page *page = perfctr->page;
	unsigned long i = 0;

	if (unlikely(!perfctr->owned || clock_changed(perfctr)))
		vperfctr_page_own(perfctr, true);
	for (; ctr != end; ctr++)
		page->slot[perfctr_cpu_slot(config, i++)].bias = ctr->acc;
	if (perfctr->clock_on)
		page->slot[PERFCTR_CPU_CLOCK_SLOT].bias = perfctr->cpu_state.clock;
	show_registers(perfctr);
	begin_grace(perfctr);
}

/*
 * Permits a thread with RAW to read registers without a page. If the thread may do so because the
 * policy is "open", the permission ends when the policy has changed.
 */
static void grant_raw(struct vperfctr *perfctr)
{
	if (perfctr->raw == PERFCTR_RAW_BY_PRIVILEGE ||
	    READ_ONCE(perfctr_user_read) == PERFCTR_USER_READ_OPEN) {
		grant(perfctr);
		perfctr->undo |= PERFCTR_UNDO_SHOWN;
	} else {
		/* If the thread has also mapped its page, load_user() may grant the permission. */
		unpermit(perfctr);
		perfctr_cpu_make_public();
	}
}

/*
 * Returns the holds of a state that counts on one CPU only. On other CPUs the state is treated as
 * suspended. HOLD_ONE_CPU itself is always set, so that each resume of the state calls this
 * function.
 */
static __cold int one_cpu_hold(const struct vperfctr *perfctr, int hold)
{
	if (perfctr->only_cpu != smp_processor_id())
		hold |= PERFCTR_HOLD_SUSPENDED;
	return hold & ~PERFCTR_HOLD_ONE_CPU;
}

/*
 * Handles a state that counts nothing until its owner starts it, if ever. If its tree is dead, its
 * counters may soon be somebody else's, so the owner may not read registers any more.
 */
static __cold void held_entirely(struct vperfctr *perfctr, int hold, struct task_struct *owner)
{
	if (!(hold & PERFCTR_HOLD_DEAD))
		return;
	vperfctr_revoke(perfctr);
	vperfctr_return_soon(perfctr, owner, PERFCTR_TODO_DETACH);
}

/*
 * Starts the i-mode counters, and then resumes the state. Returns false if the i-mode counters
 * cannot start. Then the state stays suspended. If an overflow interrupt is pending, that interrupt
 * runs first and resumes the state when it ends, so sched_in() may find the state resumed. A state
 * without i-mode counters comes here for samples by time.
 */
static bool resume_imode(struct vperfctr *perfctr)
{
	const struct perfctr_recorder *recorder = perfctr->recorder;
	int err;

	if (recorder && unlikely(recorder->throttled) && time_after(jiffies, recorder->budget.tick))
		vperfctr_throttle(perfctr, false);
	if (perfctr->imode) {
		err = vperfctr_imode_start(perfctr);
		if (err) {
			if (err != -EAGAIN)
				vperfctr_lose(perfctr);
			return false;
		}
		perfctr->undo |= PERFCTR_UNDO_ICTRS;
	}
	all_to_differences(perfctr);
	if (perfctr->imode)
		vperfctr_imode_resume(perfctr);
	if (recorder)
		vperfctr_timer_set(perfctr, current);
	return true;
}

/*
 * Queues again the work that vperfctr_return() could not do when the work was due. Returns true if
 * there is such work.
 */
static __always_inline bool todo_again(struct vperfctr *perfctr, struct task_struct *owner)
{
	if (likely(!perfctr->todo))
		return false;
	vperfctr_return_soon(perfctr, owner, 0);
	return true;
}

/*
 * Resumes a plain state whose counters run already. If nothing happens in between, sched_in()
 * resumes the state at once the next time. An undo that is not 0 prevents this: the thread has just
 * lost its page but may still read registers, and sched_out() must take back the permission.
 */
static __always_inline void resume_plainly(struct vperfctr *perfctr, struct task_struct *owner)
{
	if (!todo_again(perfctr, owner) && likely(!perfctr->undo)) {
		WRITE_ONCE(perfctr->at_once, READ_ONCE(perfctr->config->id));
		/* Other threads may set a hold of a state in a tree: see tree.c, "Stop and go". */
		if (perfctr->tree) {
			smp_mb();	/* pairs with member_hold() */
			if (unlikely(atomic_read(&perfctr->hold)))
				WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
		}
	}
	sums_to_differences(perfctr, true);
}

/*
 * Lets another thread hand its counters over to this state at the next switch-in, if nothing
 * happens in between. Either the page shows the registers (@shown), or there is no page and anybody
 * could read the registers. Whoever unmaps the page writes user first, and whoever holds the state
 * writes hold first. Both then write at_once. So either their at_once replaces ours, or we see what
 * they wrote before it.
 */
static __always_inline void let_take_over(struct vperfctr *perfctr, bool shown)
{
	bool open = READ_ONCE(perfctr_user_read) == PERFCTR_USER_READ_OPEN;
	unsigned long id = open ? READ_ONCE(perfctr->config->id) : perfctr->config->kin;

	if (!(id & PERFCTR_ID_USER) || !perfctr->plain || perfctr->todo ||
	    perfctr->apart)
		return;
	if (shown) {
		if (perfctr_by_tracepoint() && !perfctr_cpu_always_readable())
			return;
		id += PERFCTR_AT_ONCE_SHOWN - PERFCTR_ID_USER;
		if (open)
			id |= PERFCTR_AT_ONCE_OPEN;
	} else {
		/* If there is a page that shows nothing now, the next resume must look again. */
		if (open || READ_ONCE(perfctr->user))
			return;
		id |= PERFCTR_AT_ONCE_PRIVATE;
	}
	WRITE_ONCE(perfctr->at_once, id);
	smp_mb();	/* pairs with set_user(), member_hold() */
	if (unlikely((shown && !READ_ONCE(perfctr->user)) || atomic_read(&perfctr->hold)))
		WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
}

/*
 * Does what i-mode counters and RAW need before a resume. Returns true if the state is resumed
 * already.
 */
static noinline notrace bool begin_odd(struct vperfctr *perfctr, int hold)
{
	/* An interrupt that came before sched_in() has resumed the state: see resume_imode(). */
	if (perfctr->imode && perfctr->seq & 1)
		return true;
	/* With RAW, the thread keeps its permission while the state is held. */
	if (perfctr->raw)
		grant_raw(perfctr);
	if (!perfctr->imode)
		return false;
	if (perfctr->imode->pending)
		vperfctr_return_soon(perfctr, current, PERFCTR_TODO_OVERFLOW);
	if (hold && !(hold & ~PERFCTR_HOLD_COUNTERS)) {
		sums_are_changing(perfctr);
		perfctr_cpu_resume_clock(&perfctr->cpu_state);
		perfctr->undo |= PERFCTR_UNDO_CLOCK;
	}
	return false;
}

/* Resumes the state, as far as it may count now. Returns true if its page shows registers. */
static __always_inline bool resume_and_show(struct vperfctr *perfctr)
{
	struct perfctr_config *config = perfctr->config;
	bool readable = false, permit = false, counting;
	int hold = atomic_read(&perfctr->hold);

	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	if (unlikely(hold & (PERFCTR_HOLD_ENTIRELY | PERFCTR_HOLD_ONE_CPU))) {
		if (hold & PERFCTR_HOLD_ENTIRELY) {
			held_entirely(perfctr, hold, current);
			return false;
		}
		hold = one_cpu_hold(perfctr, hold);
	}
	counting = !hold;
	/* A state with i-mode counters or RAW is not plain. */
	if (unlikely(!perfctr->plain) && begin_odd(perfctr, hold))
		return perfctr->owned;
	if ((READ_ONCE(perfctr->user) && !perfctr->lent) || perfctr_cpu_is_permitted(current) ||
	    (perfctr_guards_all() && config->nr)) {
		if (!load_user(perfctr, hold, &readable, &permit))
			return false;
	} else if (counting) {
		if (!perfctr_cpu_has_loaded(config) && !load(perfctr))
			return false;
		if (perfctr->plain) {
			resume_plainly(perfctr, current);
			return false;
		}
	}
	todo_again(perfctr, current);
	/*
	 * The registers may have run private to this thread since the switch. The switch-out would
	 * not stop them, since this thread has no permission that could be taken back.
	 */
	if (!counting && !permit)
		leave_registers(is_same_user(perfctr_cpu_private_user()));
	if (likely(counting && perfctr->plain)) {
		sums_to_differences(perfctr, true);
	} else if ((perfctr->imode || perfctr->recorder) && counting) {
		if (!resume_imode(perfctr)) {
			leave_registers(is_same_user(perfctr_cpu_private_user()));
			return false;
		}
	} else if (counting) {
		all_to_differences(perfctr);
	}
	if (readable)
		show(perfctr);
	if (permit) {
		grant(perfctr);
		perfctr->undo |= PERFCTR_UNDO_SHOWN;
	}
	if (readable || (permit && perfctr_cpu_always_readable()))
		let_take_over(perfctr, readable);
	return readable;
}

/*
 * Returns true if this CPU is going offline. Threads that still have to leave the CPU run no user
 * code on it.
 */
static bool cpu_is_going(int cpu)
{
	return !cpumask_test_cpu(cpu, cpu_active_mask);
}

/* Sets the timer for samples of a shared state. Such a state has no i-mode counters. */
static noinline notrace void resume_timer(struct vperfctr *perfctr, struct task_struct *owner)
{
	struct perfctr_recorder *recorder = perfctr->recorder;

	recorder->throttled &= !time_after(jiffies, recorder->budget.tick);
	vperfctr_timer_set(perfctr, owner);
}

/*
 * Resumes a state of the shared source. No counters have to be loaded, and no page shows registers.
 * resume_plainly() explains at_once and hold.
 */
static void resume_shared(struct vperfctr *perfctr, bool call, struct task_struct *owner)
{
	const struct perfctr_config *config = perfctr->config;
	int hold = atomic_read(&perfctr->hold), cpu = smp_processor_id();
	bool todo;

	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	if (unlikely(hold & (PERFCTR_HOLD_ENTIRELY | PERFCTR_HOLD_ONE_CPU))) {
		if (hold & PERFCTR_HOLD_ENTIRELY) {
			held_entirely(perfctr, hold, owner);
			return;
		}
		hold = one_cpu_hold(perfctr, hold);
	}
	todo = todo_again(perfctr, owner);
	if (hold)
		return;
	if (READ_ONCE(config->evicted)) {
		vperfctr_lose(perfctr);
		return;
	}
	/* A state with samples is never resumed at once, because each resume sets the timer. */
	if (!todo && !perfctr->recorder) {
		WRITE_ONCE(perfctr->at_once, READ_ONCE(config->id));
		smp_mb();	/* pairs with member_hold() */
		if (unlikely(atomic_read(&perfctr->hold)))
			WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	}
	sums_are_changing(perfctr);
	if (likely(!perfctr_shared_resume(&perfctr->cpu_state, cpu, call))) {
		if (unlikely(perfctr->recorder))
			resume_timer(perfctr, owner);
		return;
	}
	vperfctr_unresume_shared(perfctr, call);
	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	/* perf's events have left a CPU that goes offline. The thread counts on its next CPU. */
	if (!cpu_is_going(cpu))
		vperfctr_lose(perfctr);
}

/*
 * Makes the registers public on a processor where anybody could read them, unless the switch-out
 * has to undo SHOWN. Only such a switch-out checks who comes next, and so may leave the registers
 * to kin.
 */
static __always_inline void rest_unless_left(const struct vperfctr *perfctr)
{
	if (perfctr_cpu_always_readable() && !(perfctr->undo & PERFCTR_UNDO_SHOWN))
		perfctr_cpu_make_public();
}

/* Resumes a native state, with all that sched_in() does not do at once. */
static noinline notrace void resume_native(struct vperfctr *perfctr)
{
	if (!resume_and_show(perfctr) && unlikely(perfctr->owned))
		vperfctr_page_own(perfctr, false);
	rest_unless_left(perfctr);
}

static void resume(struct vperfctr *perfctr)
{
	if (vperfctr_is_native(perfctr))
		resume_native(perfctr);
	else
		resume_shared(perfctr, vperfctr_calls(perfctr), current);
}

/* Loads the counters for @next. The real credentials of @next do not change meanwhile. */
static __always_inline bool load_next(struct vperfctr *perfctr, struct task_struct *next)
{
	const struct perfctr_config *config = perfctr->config;

	if (!perfctr_guards_all())
		return perfctr_cpu_has_loaded(config) || load(perfctr);
	if (!load_private(perfctr, user_of(next)))
		return false;
	perfctr->undo |= PERFCTR_UNDO_SHOWN;
	return true;
}

/*
 * Resumes the state of @next, as far as possible before @next is current. Returns true if some work
 * must still be done in the context of @next. This work shows a page, permits reads, starts i-mode
 * counters, or sets a timer. Until then the counters run for other threads as well, but @next
 * cannot see their counts.
 */
static notrace bool resume_in_part(struct vperfctr *perfctr, struct task_struct *next)
{
	const struct perfctr_config *config = perfctr->config;
	int hold = atomic_read(&perfctr->hold);
	bool rest = (READ_ONCE(perfctr->user) && !perfctr->lent) || perfctr->raw ||
		    perfctr->imode || perfctr->recorder || perfctr_cpu_is_permitted(next);

	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	if (unlikely(hold & (PERFCTR_HOLD_ENTIRELY | PERFCTR_HOLD_ONE_CPU))) {
		if (hold & PERFCTR_HOLD_ENTIRELY)
			return hold & PERFCTR_HOLD_DEAD;
		hold = one_cpu_hold(perfctr, hold);
	}
	if (perfctr->imode) {
		if (!(hold & ~PERFCTR_HOLD_COUNTERS)) {
			sums_are_changing(perfctr);
			perfctr_cpu_resume_clock(&perfctr->cpu_state);
			perfctr->undo |= PERFCTR_UNDO_CLOCK;
		}
		return true;
	}
	if (hold)
		return rest;
	if (config->nr && !load_next(perfctr, next))
		return true;
	if (!rest && perfctr->plain && !perfctr_guards_all()) {
		resume_plainly(perfctr, next);
		return false;
	}
	all_to_differences(perfctr);
	if (perfctr_cpu_always_readable() && !rest && !todo_again(perfctr, next))
		let_take_over(perfctr, false);
	return rest || perfctr->todo;
}

notrace void vperfctr_come_later(struct vperfctr *perfctr, struct task_struct *next)
{
	bool rest;

	lockdep_assert_irqs_disabled();
	if (vperfctr_is_native(perfctr)) {
		rest = resume_in_part(perfctr, next);
		rest_unless_left(perfctr);
	} else {
		resume_shared(perfctr, vperfctr_calls(perfctr), next);
		/* To stop the kernel's counts, we would need a lock that we cannot take here. */
		rest = perfctr->error && READ_ONCE(perfctr->soft_on);
	}
	if (rest)
		vperfctr_return_soon(perfctr, next, PERFCTR_TODO_RESUME);
}

/*
 * Resumes the state of current, which has just come to this CPU. A state that was handed counters
 * is resumed already, but sometimes may not go on with these counters. For example, somebody has
 * held the state or unmapped its page.
 */
static __always_inline void come_slowly(struct vperfctr *perfctr, bool native)
{
	lockdep_assert_irqs_disabled();
	if (perfctr->seq & 1 && !perfctr->imode) {
		vperfctr_suspend(perfctr);
		/*
		 * If the state stays held, no switch-out takes the permission back. The owner has
		 * run no user code with it.
		 */
		unpermit(perfctr);
		perfctr_cpu_make_public();
	}
	if (native)
		resume_native(perfctr);
	else
		resume_shared(perfctr, vperfctr_calls(perfctr), current);
	if (unlikely(perfctr->error))
		vperfctr_soft_lost(perfctr);
	local_irq_enable();
}

notrace void vperfctr_come_slowly(struct vperfctr *perfctr)
{
	come_slowly(perfctr, true);
}

notrace void vperfctr_come_slowly_shared(struct vperfctr *perfctr)
{
	come_slowly(perfctr, false);
}

void vperfctr_resume_locked(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	lockdep_assert_held(&perfctr->lock);
	resume(perfctr);
	if (unlikely(perfctr->error))
		vperfctr_soft_follow(perfctr);
}

notrace void vperfctr_resume(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	resume(perfctr);
	if (unlikely(perfctr->error))
		vperfctr_soft_lost(perfctr);
}
