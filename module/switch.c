// SPDX-License-Identifier: GPL-2.0
/*
 * The switch: a counted thread leaves a CPU, or comes to one.
 *
 * sched_out() runs with the runqueue locked and interrupts off: it may not wake, signal,
 * allocate or print. sched_in() runs with preemption off, but interrupts on (always: it
 * runs at the end of finish_task_switch()). It turns them off, as an interrupt
 * (perfctr_run(), a reader) must find the state suspended or resumed, and not in between.
 *
 * Migration: a state is resumed when its thread comes to a CPU and suspended when it
 * leaves, so differences never move to another CPU. Exit: the probe removes the notifier,
 * so we do not see later switches of the dying thread. Fork: the kernel gives a child an
 * empty list of notifiers.
 */

#include <linux/cred.h>
#include <linux/module.h>
#include <linux/smp.h>

#include "perfctr.h"
#include "hook.h"

/* The policy for user reads, PERFCTR_USER_READ_* */
unsigned int perfctr_user_read = PERFCTR_USER_READ_GUARDED;

static struct vperfctr *task_perfctr(struct task_struct *task);
static noinline void resume(struct vperfctr *perfctr);
static noinline void suspend_slowly(struct vperfctr *perfctr, struct task_struct *next);
static noinline void sched_in_slowly(struct vperfctr *perfctr);

static __always_inline void sums_are_changing(struct vperfctr *perfctr)
{
	WRITE_ONCE(perfctr->seq, perfctr->seq + 1);
	smp_wmb();	/* odd before any sum becomes a difference; pairs with vperfctr_sums() */
}

/* @some: there are counters, and not the clock alone */
static __always_inline void sums_to_differences(struct vperfctr *perfctr, bool some)
{
	sums_are_changing(perfctr);
	perfctr_cpu_resume(&perfctr->cpu_state, some);
}

/* @seq: what perfctr->seq is, as the compiler does not know across the barrier */
static __always_inline void sums_are_complete(struct vperfctr *perfctr, u32 seq)
{
	smp_wmb();	/* sums before even; pairs with vperfctr_sums() */
	WRITE_ONCE(perfctr->seq, seq + 1);
}

/*
 * gcc moves a variable that is passed to a call into another register early, even on paths
 * without the call. So the rare calls are passed a copy.
 */
static __always_inline void suspend(struct vperfctr *perfctr, struct task_struct *next)
{
	u32 seq = perfctr->seq;

	if (unlikely(perfctr->undo)) {
		OPTIMIZER_HIDE_VAR(perfctr);
		suspend_slowly(perfctr, next);
	} else if (likely(seq & 1)) {
		perfctr_cpu_suspend(&perfctr->cpu_state);
		sums_are_complete(perfctr, seq);
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

/*
 * A thread may be switched out between its look at the page and its read of the register. If
 * it had no permission when it comes back it would die. So after a change of the policy it
 * keeps its permission for some switches. The page says "ask" at once, and the thread throws
 * away what it has read after a start from zero.
 */
#define GRACE	3

/* Has prctl() changed whether the thread may read the clock? Only on x86. */
static __always_inline bool clock_changed(const struct vperfctr *perfctr)
{
	return !perfctr_cpu_permits_threads() && perfctr->clock_on &&
	       perfctr_cpu_clock_hidden() ==
	       !!perfctr->page->slot[PERFCTR_CPU_CLOCK_SLOT].owner;
}

/*
 * The page has the biases already. Only the owner looks at it, and only while it runs, so no
 * barrier is needed.
 */
static __always_inline void show_registers(struct vperfctr *perfctr)
{
	WRITE_ONCE(perfctr->page->seq, (perfctr->page->seq + 1) & S32_MAX);
}

/* The page says "ask". It keeps the count for the next show_registers(). */
static __always_inline void hide_registers(struct vperfctr *perfctr)
{
	WRITE_ONCE(perfctr->page->seq, perfctr->page->seq | S32_MIN);
}

static __always_inline void grant(struct vperfctr *perfctr)
{
	unsigned long granted = perfctr_cpu_grant(perfctr->config);

	if (granted)
		perfctr->granted |= granted;
}

/*
 * A thread was handed counters and a permission to read them, and its page shows them: may it
 * go on like that? Whoever objects has written at_once. If an interrupt has come since, it has
 * suspended the state and resumed it; then the answer is about what it left. On another
 * CPU than the last that this mm ran on, or since perf's settings changed, the processor may
 * refuse what it permitted before.
 */
static __always_inline bool may_stay_shown(const struct vperfctr *perfctr, unsigned long id)
{
	return id & PERFCTR_AT_ONCE_SHOWN && !clock_changed(perfctr) &&
	       perfctr_cpu_user_permitted(perfctr->config);
}

static notrace void sched_in(struct preempt_notifier *notifier, int cpu)
{
	struct vperfctr *perfctr = container_of(notifier, struct vperfctr, notifier);

	if (perfctr->seq & 1) {
		/* It was handed over. */
		unsigned long id = READ_ONCE(perfctr->at_once);

		if (likely(id & PERFCTR_ID_USER) || may_stay_shown(perfctr, id))
			return;
		local_irq_disable();
		goto slowly;
	}
	local_irq_disable();
	if (unlikely(!perfctr_cpu_holds_on(cpu, READ_ONCE(perfctr->at_once))))
		goto slowly;
	sums_to_differences(perfctr, true);
	local_irq_enable();
	return;

slowly:
	OPTIMIZER_HIDE_VAR(perfctr);	/* see suspend() */
	sched_in_slowly(perfctr);
}

/*
 * The state of next, if it counts by the registers that perfctr counts by now, in user mode
 * alone, and may do so at once. Nothing counts between the two then, as next comes right now,
 * and one reading serves both. Only we change next's state here, as next does not run yet.
 * Whoever wants to hold it meanwhile writes at_once, which sched_in() checks again, or
 * interrupts this CPU.
 */
static __always_inline struct vperfctr *successor(const struct vperfctr *perfctr,
						  unsigned long id, struct task_struct *next)
{
	struct hlist_node *first = next->preempt_notifiers.first;
	struct preempt_notifier *notifier;
	struct vperfctr *other;

	if (!first)
		return NULL;
	notifier = hlist_entry(first, struct preempt_notifier, link);
	if (unlikely(notifier->ops != perfctr->notifier.ops))
		return NULL;
	other = container_of(notifier, struct vperfctr, notifier);
	return likely(READ_ONCE(other->at_once) == id) ? other : NULL;
}

/*
 * One reading of the registers ends perfctr's differences and begins other's. With @show
 * other's page shows them from now on: other's user code runs after its sched_in() alone.
 */
static __always_inline void hand_over(struct vperfctr *perfctr, struct vperfctr *other, bool show)
{
	struct perfctr_page_slot *slot = show ? other->page->slot : NULL;

	sums_are_changing(other);
	perfctr_cpu_hand_over(&perfctr->cpu_state, &other->cpu_state, other->config, slot, show);
	if (show) {
		if (other->clock_on)
			slot[PERFCTR_CPU_CLOCK_SLOT].bias = other->cpu_state.clock;
		show_registers(other);
	}
	sums_are_complete(perfctr, perfctr->seq);
}

/*
 * Is current, which may read registers that are private to that user, still that user? If it
 * has changed its user and changed back it is not dumpable any more, and counts as another
 * user here, as it does for a debugger.
 */
static __always_inline bool is_same_user(kuid_t uid)
{
	return uid_eq(current_real_cred()->euid, uid) && perfctr_current_is_dumpable();
}

static __always_inline kuid_t user_of(const struct task_struct *task)
{
	return rcu_dereference_sched(task->real_cred)->euid;
}

/* Would next, if it comes right now, read the same registers for the same user? */
static __always_inline bool is_kin(struct task_struct *next)
{
	const struct vperfctr *other = task_perfctr(next);

	/* If next loses its map before it runs it needs a load, which ends the privacy. */
	return other && !(atomic_read(&other->hold) & PERFCTR_HOLD_ENTIRELY) &&
	       READ_ONCE(other->user) &&
	       perfctr_cpu_private(other->config, user_of(next));
}

static __always_inline void leave_registers(bool same)
{
	if (likely(same))
		perfctr_cpu_leave();
	else
		perfctr_cpu_share();
}

/*
 * Current could read the registers, and leaves them to next. @same: see is_same_user(); if
 * false they hold counts of two users, and nobody is kin of both.
 */
static __always_inline void leave(bool same, struct task_struct *next, bool may_be_kin)
{
	if (same && may_be_kin && is_kin(next)) {
		perfctr_cpu_join(next);
		return;
	}
	leave_registers(same);
	if (perfctr_cpu_is_permitted(next) && !perfctr_cpu_may_see(next) &&
	    READ_ONCE(perfctr_user_read) != PERFCTR_USER_READ_OPEN)
		perfctr_cpu_scrub(next);
}

/*
 * From a thread whose page shows its registers. If next's page may show them too, the
 * permission is handed over with the counters. Under "guarded" next's user must be the one
 * that they are private to.
 */
static PERFCTR_CPU_APART
notrace void sched_out_shown(struct vperfctr *perfctr, unsigned long id, struct task_struct *next)
{
	struct vperfctr *other = successor(perfctr, id, next);
	bool open = id & PERFCTR_AT_ONCE_OPEN, same;
	kuid_t uid = perfctr->shown_to;

	same = open || is_same_user(uid);
	hide_registers(perfctr);
	if (other && same && (open || uid_eq(user_of(next), uid))) {
		/* What is open is private to nobody. */
		if (!open) {
			perfctr_cpu_join(next);
			other->shown_to = uid;
		}
		if (perfctr_cpu_permits_threads()) {
			other->granted = perfctr->granted;
			perfctr->granted = 0;
		}
		other->undo = PERFCTR_UNDO_SHOWN;
		perfctr->undo = 0;
		hand_over(perfctr, other, true);
		return;
	}
	perfctr_cpu_suspend(&perfctr->cpu_state);
	sums_are_complete(perfctr, perfctr->seq);
	perfctr_cpu_revoke(perfctr->granted);
	perfctr->granted = 0;
	perfctr->undo = 0;
	/* A thread with the same control that was not handed the counters is not kin. */
	leave(same, next, !other);
}

static notrace void sched_out(struct preempt_notifier *notifier, struct task_struct *next)
{
	struct vperfctr *perfctr = container_of(notifier, struct vperfctr, notifier), *other;
	unsigned long id = READ_ONCE(perfctr->at_once);

	if (unlikely(!(id & PERFCTR_ID_USER))) {
		OPTIMIZER_HIDE_VAR(next);	/* see suspend() */
		if (id & PERFCTR_AT_ONCE_SHOWN)
			sched_out_shown(perfctr, id, next);
		else
			suspend(perfctr, next);
		return;
	}
	/* Of a running thread such an id also says: it is resumed, with nothing to undo. */
	other = successor(perfctr, id, next);
	if (other) {
		hand_over(perfctr, other, false);
	} else {
		perfctr_cpu_suspend(&perfctr->cpu_state);
		sums_are_complete(perfctr, perfctr->seq);
	}
}

static struct preempt_ops perfctr_preempt_ops = {
	.sched_in = sched_in,
	.sched_out = sched_out,
};

/*
 * What all switches run ends here. Threads with i-mode counters or RAW, or with another
 * control than the thread before them, come through resume() and suspend_slowly().
 */

static struct vperfctr *task_perfctr(struct task_struct *task)
{
	struct preempt_notifier *notifier;

	hlist_for_each_entry(notifier, &task->preempt_notifiers, link)
		if (notifier->ops == &perfctr_preempt_ops)
			return container_of(notifier, struct vperfctr, notifier);
	return NULL;
}

/*
 * Also from an interrupt: the list is current's own, changed only by current
 * and in an order that leaves it whole for a walk from its head at any moment.
 */
struct vperfctr *vperfctr_current(void)
{
	return task_perfctr(current);
}

struct vperfctr *vperfctr_acting_owner(const struct vperfctr *perfctr, bool tree_too)
{
	struct perfctr_tree *tree = READ_ONCE(perfctr->tree);
	struct vperfctr *own = vperfctr_current();

	if (own && (own == perfctr || (tree_too && tree && own->tree == tree)))
		return own;
	return ERR_PTR(rcu_access_pointer(perfctr->owner) ? -EPERM : -ESRCH);
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

void vperfctr_suspend(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	suspend(perfctr, NULL);
	/* What follows may change whether it can be resumed at once; resume() finds out. */
	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
}

/*
 * No register may be read in user mode any more. No switch-out will see that it was, and leave
 * the registers: so they are private to nobody from now on.
 */
void vperfctr_revoke(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	unpermit(perfctr);
	perfctr->grace = 0;
	perfctr_cpu_share();
}

/* The counters cannot be had: set the error that stays, and stop. */
static __cold void lose(struct vperfctr *perfctr)
{
	atomic_or(PERFCTR_HOLD_LOST, &perfctr->hold);
	WRITE_ONCE(perfctr->error, PERFCTR_ERROR_LOST);
	if (perfctr->page && !perfctr->stale)
		WRITE_ONCE(perfctr->page->error, PERFCTR_ERROR_LOST);
	/* Who reads registers without a look at a page would not see that they are others'. */
	if (perfctr->raw && !READ_ONCE(perfctr->user))
		vperfctr_revoke(perfctr);
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
	lose(perfctr);
	return false;
}

/*
 * The owner has mapped its page, or its process may read registers: they must hold nothing of
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
	if (!*permit && perfctr->grace) {
		perfctr->grace--;
		*permit = true;
		policy = PERFCTR_USER_READ_GUARDED;
	}
	if (!*permit || policy != PERFCTR_USER_READ_GUARDED || !config->nr)
		return !counting || perfctr_cpu_holds(config) || load(perfctr);
	if (!(perfctr_cpu_private(config, uid) && perfctr_cpu_runs()) &&
	    (!may_load(config) || perfctr_cpu_restart(config, uid))) {
		lose(perfctr);
		return false;
	}
	perfctr->shown_to = uid;
	/* i-mode counters get their values when they start: until then they may hold others'. */
	if (!counting && config->imask)
		perfctr_cpu_iclear(config);
	return true;
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
	perfctr->grace = GRACE;
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
 * It is held until its owner starts it, if ever. A dead tree's counters may soon be somebody
 * else's: no register may be read any more.
 */
static __cold void held_entirely(struct vperfctr *perfctr, int hold)
{
	if (!(hold & PERFCTR_HOLD_DEAD))
		return;
	vperfctr_revoke(perfctr);
	vperfctr_return_soon(perfctr, current, PERFCTR_TODO_DETACH);
}

/*
 * Starts the i-mode counters, and then all others; if they cannot start, nothing does. An
 * overflow interrupt that waits runs first, and resumes the state as it ends. So sched_in()
 * may find the state resumed.
 */
static bool resume_ictrs(struct vperfctr *perfctr)
{
	int err = vperfctr_imode_start(perfctr);

	if (err) {
		if (err != -EAGAIN)
			lose(perfctr);
		return false;
	}
	perfctr->undo |= PERFCTR_UNDO_ICTRS;
	sums_to_differences(perfctr, false);
	vperfctr_imode_resume(perfctr);
	return true;
}

/* Queues work again that could not be done when it was due: see vperfctr_return(). */
static __always_inline bool todo_again(struct vperfctr *perfctr)
{
	if (likely(!perfctr->todo))
		return false;
	vperfctr_return_soon(perfctr, current, 0);
	return true;
}

/*
 * Its counters run already. The next time sched_in() does it at once, if nothing happens in
 * between. But a thread that has just lost its page may still read registers, which
 * sched_out() must look at.
 */
static __always_inline void resume_plainly(struct vperfctr *perfctr)
{
	if (!todo_again(perfctr) && likely(!perfctr->undo)) {
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
 * The page shows the registers. The next time another such thread may hand over to it, if
 * nothing happens in between: whoever unmaps the page, or holds the state, writes that and
 * then at_once, or sees what we write here.
 */
static __always_inline void let_take_over(struct vperfctr *perfctr)
{
	unsigned long id = READ_ONCE(perfctr->config->id);

	if (!(id & PERFCTR_ID_USER) || perfctr->imode || perfctr->raw || perfctr->todo)
		return;
	id += PERFCTR_AT_ONCE_SHOWN - PERFCTR_ID_USER;
	if (READ_ONCE(perfctr_user_read) == PERFCTR_USER_READ_OPEN)
		id |= PERFCTR_AT_ONCE_OPEN;
	WRITE_ONCE(perfctr->at_once, id);
	smp_mb();	/* pairs with set_user(), member_hold() */
	if (unlikely(!READ_ONCE(perfctr->user) || atomic_read(&perfctr->hold)))
		WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
}

/* True if the page shows registers. */
static __always_inline bool resume_and_show(struct vperfctr *perfctr)
{
	struct perfctr_config *config = perfctr->config;
	bool readable = false, permit = false, counting;
	int hold = atomic_read(&perfctr->hold);

	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	if (unlikely(hold & PERFCTR_HOLD_ENTIRELY)) {
		held_entirely(perfctr, hold);
		return false;
	}
	/* An interrupt before sched_in() has resumed it: see resume_ictrs(). */
	if (unlikely(perfctr->imode) && perfctr->seq & 1)
		return perfctr->owned;
	/* RAW's permission stays while the state is held. */
	if (perfctr->raw)
		grant_raw(perfctr);
	counting = !hold;
	if (unlikely(perfctr->imode)) {
		if (perfctr->imode->pending)
			vperfctr_return_soon(perfctr, current, PERFCTR_TODO_OVERFLOW);
		if (hold && !(hold & ~PERFCTR_HOLD_COUNTERS)) {
			sums_are_changing(perfctr);
			perfctr_cpu_resume_clock(&perfctr->cpu_state);
			perfctr->undo |= PERFCTR_UNDO_CLOCK;
		}
	}
	if ((READ_ONCE(perfctr->user) && !perfctr->lent) || perfctr_cpu_is_permitted(current)) {
		if (!load_user(perfctr, hold, &readable, &permit))
			return false;
	} else if (counting) {
		if (!perfctr_cpu_holds(config) && !load(perfctr))
			return false;
		if (perfctr->plain) {
			resume_plainly(perfctr);
			return false;
		}
	}
	todo_again(perfctr);
	/*
	 * They may run private to us since the switch, and no switch-out of ours would stop them.
	 */
	if (!counting && !permit)
		leave_registers(is_same_user(perfctr_cpu_private_user()));
	if (unlikely(perfctr->imode) && counting) {
		if (!resume_ictrs(perfctr)) {
			leave_registers(is_same_user(perfctr_cpu_private_user()));
			return false;
		}
	} else if (counting) {
		sums_to_differences(perfctr, false);
	}
	if (readable)
		show(perfctr);
	if (permit) {
		grant(perfctr);
		perfctr->undo |= PERFCTR_UNDO_SHOWN;
	}
	if (readable)
		let_take_over(perfctr);
	return readable;
}

/* Everything that sched_in() does not do at once. */
static noinline notrace void resume(struct vperfctr *perfctr)
{
	if (!resume_and_show(perfctr) && unlikely(perfctr->owned))
		vperfctr_page_own(perfctr, false);
}

/* Somebody may have held a state that was handed counters, or unmapped its page. */
static noinline notrace void sched_in_slowly(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	if (perfctr->seq & 1 && !perfctr->imode) {
		vperfctr_suspend(perfctr);
		/* Not in user mode since. If it stays held, no switch-out leaves these. */
		unpermit(perfctr);
		perfctr_cpu_share();
	}
	vperfctr_resume(perfctr);
	local_irq_enable();
}

/*
 * The page says "ask" from now on. The permission ends when the thread leaves the CPU or calls
 * CONTROL. It does not end when an interrupt takes its counters (a change of the policy): the
 * thread may be between its look at the page and its read, which would fault. It throws away
 * what it reads then.
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

static noinline notrace void suspend_slowly(struct vperfctr *perfctr, struct task_struct *next)
{
	bool ictrs = perfctr->undo & PERFCTR_UNDO_ICTRS;

	/* First stop them: events after the sums were made would be lost. */
	if (unlikely(ictrs))
		perfctr_cpu_istop(perfctr->config, perfctr);
	if (perfctr->undo & PERFCTR_UNDO_CLOCK) {
		perfctr_cpu_suspend_clock(&perfctr->cpu_state);
		sums_are_complete(perfctr, perfctr->seq);
	} else if (perfctr->seq & 1) {
		perfctr_cpu_suspend(&perfctr->cpu_state);
		if (unlikely(ictrs))
			vperfctr_imode_look(perfctr);
		sums_are_complete(perfctr, perfctr->seq);
	}
	perfctr->undo &= ~(PERFCTR_UNDO_ICTRS | PERFCTR_UNDO_CLOCK);
	if (perfctr->undo & PERFCTR_UNDO_SHOWN)
		hide(perfctr, next);
}

static int turn_notifiers(bool on)
{
	if (on)
		preempt_notifier_inc();
	else
		preempt_notifier_dec();
	return 0;
}

static struct perfctr_hook notifier_hook = {
	.mutex = __MUTEX_INITIALIZER(notifier_hook.mutex),
	.turn = turn_notifiers,
	.off = __DELAYED_WORK_INITIALIZER(notifier_hook.off, perfctr_hook_off, 0),
};

void vperfctr_attach(struct vperfctr *perfctr)
{
	unsigned long flags;

	refcount_inc(&perfctr->refs);
	__module_get(THIS_MODULE);
	rcu_assign_pointer(perfctr->owner, current);
	perfctr_hook_get(&notifier_hook);
	preempt_notifier_init(&perfctr->notifier, &perfctr_preempt_ops);
	local_irq_save(flags);
	preempt_notifier_register(&perfctr->notifier);
	local_irq_restore(flags);
}

void vperfctr_adopt(struct vperfctr *perfctr, struct task_struct *child)
{
	__module_get(THIS_MODULE);
	rcu_assign_pointer(perfctr->owner, child);
	/* The parent's state keeps them on. */
	perfctr_hook_share(&notifier_hook);
	preempt_notifier_init(&perfctr->notifier, &perfctr_preempt_ops);
	/* As preempt_notifier_register() does for current. */
	hlist_add_head(&perfctr->notifier.link, &child->preempt_notifiers);
}

void vperfctr_unnotify(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	preempt_notifier_unregister(&perfctr->notifier);
	/* No switch-out of ours comes any more. */
	vperfctr_revoke(perfctr);
	perfctr_hook_put(&notifier_hook);
}

#ifdef PERFCTR_CPU_PERMITS_PROCESSES
/* Lets @next see nothing of what others did that are not its kin. @perfctr: current's, or NULL */
static noinline notrace void hide_others(struct task_struct *next, struct vperfctr *perfctr)
{
	bool shown = perfctr && perfctr->undo & PERFCTR_UNDO_SHOWN;

	if (is_kin(next) && (!shown || is_same_user(perfctr_cpu_private_user())))
		return;
	if (perfctr)
		vperfctr_suspend(perfctr);
	perfctr_cpu_scrub(next);
}

/* @next comes to this CPU right now, or is current, and permitted since. */
notrace void perfctr_let_in(struct task_struct *next)
{
	struct vperfctr *perfctr;

	lockdep_assert_irqs_disabled();
	/* On an isolated CPU perf's values may be in the registers: nobody may see these either. */
	if (unlikely(!perfctr_cpus_told_here()))
		perfctr_cpus_join();
	perfctr = task_perfctr(current);
	/* sched_out() hides what current did: see leave(). */
	if (perfctr && perfctr->undo & PERFCTR_UNDO_SHOWN && next != current)
		return;
	if (READ_ONCE(perfctr_user_read) != PERFCTR_USER_READ_OPEN && !perfctr_cpu_may_see(next))
		hide_others(next, perfctr);
}
#endif

/* No state is left. */
void perfctr_switch_exit(void)
{
	perfctr_hook_exit(&notifier_hook);
}
