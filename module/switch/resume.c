// SPDX-License-Identifier: GPL-2.0
/*
 * Resuming a state, with all that switch.c does not do at once: loading its counters, showing them
 * in its page, permission to read them, i-mode, holds. Threads with i-mode counters or RAW, or with
 * another control than the thread before them, come here at each switch.
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
#include "switch/period.h"
#include "switch/resume.h"
#include "switch/suspend.h"
#include "switch/switch.h"
#include "switch/timer.h"

/*
 * A thread may be switched out between its look at the page and its read of the register. If
 * it had no permission when it comes back it would die. So after a change of the policy, or when
 * its tree is suspended, it keeps its permission until it was seen at GRACE_PLACES places in
 * user mode: so it went on by as many instructions at least, which is more than stand between the
 * look and the read. Switches alone prove little, as it may be switched out again before its first
 * instruction; but a thread that always waits in one place must lose its permission as well. The
 * page says "ask" at once, and the thread throws away what it has read after a start from zero.
 */
#define GRACE_PLACES		31
#define GRACE_A_PLACE		8	/* so many switches in one place are as another place */

/* Is it within its grace? @perfctr: current's */
static bool has_grace(struct vperfctr *perfctr)
{
	u8 place = instruction_pointer(task_pt_regs(current)) >> 1;
	u8 step = place == perfctr->grace_place ? 1 : GRACE_A_PLACE;

	if (!perfctr_cpu_permits_threads() || !perfctr->grace)
		return false;
	perfctr->grace_place = place;
	perfctr->grace -= min(step, perfctr->grace);
	return true;
}

static __always_inline void grant(struct vperfctr *perfctr)
{
	unsigned long granted = perfctr_cpu_grant(perfctr->config);

	if (granted)
		perfctr->granted |= granted;
}

/*
 * Also from a switch-out, with the runqueue locked: so what the kernel counts follows when the
 * thread comes back.
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
	/* Who reads registers without a look at a page would not see that they are others'. */
	if (perfctr->raw && !READ_ONCE(perfctr->user))
		vperfctr_revoke(perfctr);
	/* It was kept off this CPU, and somebody has sent it here. */
	if (unlikely(perfctr_cpu_out_of_place()) && vperfctr_is_native(perfctr))
		vperfctr_return_soon(perfctr, rcu_dereference_protected(perfctr->owner, true),
				     PERFCTR_TODO_ILL);
}

/* An isolated CPU must join the claims first. An evicted config has no claim. */
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

/* For that user's threads of its kin alone; from zero, unless they only ran for these. */
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
 * The owner has mapped its page, or may read registers without: they must hold nothing of
 * others. Under "guarded" they start from zero unless they only ran for its kin. *readable:
 * the page may show them. *permit: a read of them does not fault. While the state is held the
 * page shows nothing, and the permission lasts for the grace; but after an overflow it stays,
 * since the interrupted read goes on when the handler returns.
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
		return !counting || perfctr_cpu_holds(config) || load(perfctr);
	if (!load_private(perfctr, uid))
		return false;
	/* i-mode counters get their values when they start: until then they may hold others'. */
	if (!counting && config->imask)
		perfctr_cpu_iclear(config);
	return true;
}

/* Not if it is known to be plain. */
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

/* Writes the biases to the page, and lets it show the registers. */
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
	perfctr->grace = GRACE_PLACES * GRACE_A_PLACE;
}

/*
 * Registers that may be read without a page. A permission by policy ends at once when the
 * policy changes.
 */
static void grant_raw(struct vperfctr *perfctr)
{
	if (perfctr->raw == PERFCTR_RAW_BY_PRIVILEGE ||
	    READ_ONCE(perfctr_user_read) == PERFCTR_USER_READ_OPEN) {
		grant(perfctr);
		perfctr->undo |= PERFCTR_UNDO_SHOWN;
	} else {
		/* A page that was mapped as well gives it the grace again: see load_user(). */
		unpermit(perfctr);
		perfctr_cpu_share();
	}
}

/*
 * What holds a state that is bound to a CPU: elsewhere it is as if it were suspended. HOLD_BOUND is
 * always set, so that nobody resumes it without asking here.
 */
static __cold int bound_hold(const struct vperfctr *perfctr, int hold)
{
	if (perfctr->bound_cpu != smp_processor_id())
		hold |= PERFCTR_HOLD_SUSPENDED;
	return hold & ~PERFCTR_HOLD_BOUND;
}

/*
 * It is held until its owner starts it, if ever. A dead tree's counters may soon be somebody
 * else's: no register may be read any more.
 */
static __cold void held_entirely(struct vperfctr *perfctr, int hold, struct task_struct *owner)
{
	if (!(hold & PERFCTR_HOLD_DEAD))
		return;
	vperfctr_revoke(perfctr);
	vperfctr_return_soon(perfctr, owner, PERFCTR_TODO_DETACH);
}

/*
 * Starts the i-mode counters, and then all others; if they cannot start, nothing does. An
 * overflow interrupt that waits runs first, and resumes the state as it ends. So sched_in()
 * may find the state resumed. Without i-mode counters there are samples by time alone.
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

/* Queues work again that could not be done when it was due: see vperfctr_return(). */
static __always_inline bool todo_again(struct vperfctr *perfctr, struct task_struct *owner)
{
	if (likely(!perfctr->todo))
		return false;
	vperfctr_return_soon(perfctr, owner, 0);
	return true;
}

/*
 * Its counters run already. The next time sched_in() does it at once, if nothing happens in
 * between. But a thread that has just lost its page may still read registers, which
 * sched_out() must look at.
 */
static __always_inline void resume_plainly(struct vperfctr *perfctr, struct task_struct *owner)
{
	if (!todo_again(perfctr, owner) && likely(!perfctr->undo)) {
		WRITE_ONCE(perfctr->at_once, READ_ONCE(perfctr->config->id));
		/* Of a tree: see tree.c, "Stop and go". */
		if (perfctr->tree) {
			smp_mb();	/* pairs with member_hold() */
			if (unlikely(atomic_read(&perfctr->hold)))
				WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
		}
	}
	sums_to_differences(perfctr, true);
}

/*
 * The page shows the registers, or anybody could read them, and there is no page. The next time
 * another such thread may hand over to it, if nothing happens in between: whoever unmaps the page,
 * or holds the state, writes that and then at_once, or sees what we write here.
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
		/* Who has a page that shows nothing must find out whether it may again. */
		if (open || READ_ONCE(perfctr->user))
			return;
		id |= PERFCTR_AT_ONCE_PRIVATE;
	}
	WRITE_ONCE(perfctr->at_once, id);
	smp_mb();	/* pairs with set_user(), member_hold() */
	if (unlikely((shown && !READ_ONCE(perfctr->user)) || atomic_read(&perfctr->hold)))
		WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
}

/* What i-mode counters and RAW need before a resume. True: it was resumed already. */
static noinline notrace bool begin_odd(struct vperfctr *perfctr, int hold)
{
	/* An interrupt before sched_in() has resumed it: see resume_imode(). */
	if (perfctr->imode && perfctr->seq & 1)
		return true;
	/* RAW's permission stays while the state is held. */
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

/* True if the page shows registers. */
static __always_inline bool resume_and_show(struct vperfctr *perfctr)
{
	struct perfctr_config *config = perfctr->config;
	bool readable = false, permit = false, counting;
	int hold = atomic_read(&perfctr->hold);

	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	if (unlikely(hold & (PERFCTR_HOLD_ENTIRELY | PERFCTR_HOLD_BOUND))) {
		if (hold & PERFCTR_HOLD_ENTIRELY) {
			held_entirely(perfctr, hold, current);
			return false;
		}
		hold = bound_hold(perfctr, hold);
	}
	counting = !hold;
	/* Neither i-mode nor RAW is plain. */
	if (unlikely(!perfctr->plain) && begin_odd(perfctr, hold))
		return perfctr->owned;
	if ((READ_ONCE(perfctr->user) && !perfctr->lent) || perfctr_cpu_is_permitted(current) ||
	    (perfctr_guards_all() && config->nr)) {
		if (!load_user(perfctr, hold, &readable, &permit))
			return false;
	} else if (counting) {
		if (!perfctr_cpu_holds(config) && !load(perfctr))
			return false;
		if (perfctr->plain) {
			resume_plainly(perfctr, current);
			return false;
		}
	}
	todo_again(perfctr, current);
	/*
	 * They may run private to us since the switch, and no switch-out of ours would stop them.
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

/* Does this CPU only run threads that have to leave it? They run no user code here. */
static bool cpu_is_going(int cpu)
{
	return !cpumask_test_cpu(cpu, cpu_active_mask);
}

/* For samples of one that counts by perf's counters, which has no i-mode counters. */
static noinline notrace void resume_timer(struct vperfctr *perfctr, struct task_struct *owner)
{
	struct perfctr_recorder *recorder = perfctr->recorder;

	recorder->throttled &= !time_after(jiffies, recorder->budget.tick);
	vperfctr_timer_set(perfctr, owner);
}

/*
 * Nothing has to be loaded, and no page shows registers. As for at_once and hold, see
 * resume_plainly().
 */
static void resume_shared(struct vperfctr *perfctr, bool call, struct task_struct *owner)
{
	const struct perfctr_config *config = perfctr->config;
	int hold = atomic_read(&perfctr->hold), cpu = smp_processor_id();
	bool todo;

	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	if (unlikely(hold & (PERFCTR_HOLD_ENTIRELY | PERFCTR_HOLD_BOUND))) {
		if (hold & PERFCTR_HOLD_ENTIRELY) {
			held_entirely(perfctr, hold, owner);
			return;
		}
		hold = bound_hold(perfctr, hold);
	}
	todo = todo_again(perfctr, owner);
	if (hold)
		return;
	if (READ_ONCE(config->evicted)) {
		vperfctr_lose(perfctr);
		return;
	}
	/* Samples by time: each resume sets the timer. */
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
	/* Perf has gone from there already. The thread counts where it goes. */
	if (!cpu_is_going(cpu))
		vperfctr_lose(perfctr);
}

/*
 * Anybody could read what is in the registers. Only a switch-out that has to undo SHOWN looks who
 * comes next.
 */
static __always_inline void rest_unless_left(const struct vperfctr *perfctr)
{
	if (perfctr_cpu_always_readable() && !(perfctr->undo & PERFCTR_UNDO_SHOWN))
		perfctr_cpu_share();
}

/* Everything that sched_in() does not do at once. */
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

/* Loads for next, whose real credentials do not change meanwhile. */
static __always_inline bool load_next(struct vperfctr *perfctr, struct task_struct *next)
{
	const struct perfctr_config *config = perfctr->config;

	if (!perfctr_guards_all())
		return perfctr_cpu_holds(config) || load(perfctr);
	if (!load_private(perfctr, user_of(next)))
		return false;
	perfctr->undo |= PERFCTR_UNDO_SHOWN;
	return true;
}

/*
 * Resumes a state of next's, which is not current yet, as far as that can be done now. True if
 * the rest is to be done in its context: a page is shown, registers are given permission to,
 * i-mode counters start, a timer is set. Its counters run for others as well until then, which it
 * cannot see.
 */
static notrace bool resume_in_part(struct vperfctr *perfctr, struct task_struct *next)
{
	const struct perfctr_config *config = perfctr->config;
	int hold = atomic_read(&perfctr->hold);
	bool rest = (READ_ONCE(perfctr->user) && !perfctr->lent) || perfctr->raw ||
		    perfctr->imode || perfctr->recorder || perfctr_cpu_is_permitted(next);

	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	if (unlikely(hold & (PERFCTR_HOLD_ENTIRELY | PERFCTR_HOLD_BOUND))) {
		if (hold & PERFCTR_HOLD_ENTIRELY)
			return hold & PERFCTR_HOLD_DEAD;
		hold = bound_hold(perfctr, hold);
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
		/* What the kernel counts follows under a lock that cannot be taken here. */
		rest = perfctr->error && READ_ONCE(perfctr->soft_on);
	}
	if (rest)
		vperfctr_return_soon(perfctr, next, PERFCTR_TODO_RESUME);
}

/* Somebody may have held a state that was handed counters, or unmapped its page. */
static __always_inline void come_slowly(struct vperfctr *perfctr, bool native)
{
	lockdep_assert_irqs_disabled();
	if (perfctr->seq & 1 && !perfctr->imode) {
		vperfctr_suspend(perfctr);
		/* Not in user mode since. If it stays held, no switch-out leaves these. */
		unpermit(perfctr);
		perfctr_cpu_share();
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
