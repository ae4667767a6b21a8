// SPDX-License-Identifier: GPL-2.0
/*
 * The switch: how the kernel tells that a counted thread leaves a CPU, or comes to one.
 *
 * sched_out runs with the runqueue locked and interrupts off: nothing here may
 * wake, signal, allocate or print. sched_in runs with preemption off, but
 * interrupts on (and always on: it runs at the end of finish_task_switch()), so
 * it turns them off: an interrupt (perfctr_run(), a reader) sees a state
 * suspended or resumed, never half way.
 *
 * Migration: a state is resumed and suspended on one CPU, since both happen
 * as its thread comes and goes, and differences are never kept across. Exit:
 * the probe unregisters the notifier, later switches of the dying thread are
 * not seen. Fork: the kernel gives a child an empty list of notifiers.
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
 * gcc gives a variable that is passed to a call another register at once, which takes
 * a move, even where no call is made. So what the rare calls pass is a copy.
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

/* No register may be read in user mode any more, until that is permitted again. */
static __always_inline void unpermit(struct vperfctr *perfctr)
{
	if (perfctr->undo & PERFCTR_UNDO_SHOWN)
		perfctr_cpu_revoke(perfctr->granted);
	perfctr->granted = 0;
	perfctr->undo &= ~PERFCTR_UNDO_SHOWN;
}

/*
 * A thread that saw its registers in the page may have been switched out before
 * it read them, and would die of it if it were not permitted to when it comes
 * back. So a new policy takes the permission away some switches late. The page
 * says "ask" at once, and what is read, after a start from zero, thrown away.
 */
#define GRACE	3

/* prctl() may have changed whether the thread may read it: x86's only. */
static __always_inline bool clock_changed(const struct vperfctr *perfctr)
{
	return !perfctr_cpu_permits_threads() && perfctr->clock_on &&
	       perfctr_cpu_clock_hidden() ==
	       !!perfctr->page->slot[PERFCTR_CPU_CLOCK_SLOT].owner;
}

/* Where the biases are. The owner runs when it looks, so no order matters. */
static __always_inline void show_again(struct vperfctr *perfctr)
{
	perfctr->page_seq = (perfctr->page_seq + 1) & S32_MAX;
	WRITE_ONCE(perfctr->page->seq, perfctr->page_seq);
}

static __always_inline void grant(struct vperfctr *perfctr)
{
	unsigned long granted = perfctr_cpu_grant(perfctr->config);

	if (granted)
		perfctr->granted |= granted;
}

/*
 * A thread was handed counters and a permission to read them, and its page has the biases
 * for that. It may show its registers if no interrupt has come since, which would have
 * shown them, or written at_once: one comes of each change of the policy.
 */
static __always_inline bool may_show_again(const struct vperfctr *perfctr)
{
	return READ_ONCE(perfctr->at_once) & PERFCTR_AT_ONCE_SHOWN && perfctr->page->seq < 0 &&
	       !clock_changed(perfctr) && perfctr_cpu_user_permitted();
}

static notrace void sched_in(struct preempt_notifier *notifier, int cpu)
{
	struct vperfctr *perfctr = container_of(notifier, struct vperfctr, notifier);

	if (perfctr->seq & 1) {
		/* It was handed over. */
		if (likely(READ_ONCE(perfctr->at_once) & PERFCTR_ID_USER))
			return;
		local_irq_disable();
		if (unlikely(!may_show_again(perfctr)))
			goto slowly;
		show_again(perfctr);
		grant(perfctr);
	} else {
		local_irq_disable();
		if (unlikely(!perfctr_cpu_holds_on(cpu, READ_ONCE(perfctr->at_once))))
			goto slowly;
		sums_to_differences(perfctr, true);
	}
	local_irq_enable();
	return;

slowly:
	OPTIMIZER_HIDE_VAR(perfctr);	/* see suspend() */
	sched_in_slowly(perfctr);
}

/*
 * Next's state, if next counts by the registers that perfctr counts by now, in user mode
 * alone, and may do so at once: then between the two nothing counts, as next comes right
 * now, and one reading serves both. Next's state is nobody's but ours here: next does not
 * run yet, and whoever wants it to stand still meanwhile writes at_once, at which
 * sched_in() looks again, or interrupts this CPU.
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

/* @show: other's page is to have the biases */
static __always_inline void hand_over(struct vperfctr *perfctr, struct vperfctr *other, bool show)
{
	struct perfctr_page_slot *slot = show ? other->page->slot : NULL;

	sums_are_changing(other);
	perfctr_cpu_hand_over(&perfctr->cpu_state, &other->cpu_state, other->config, slot, show);
	if (show && other->clock_on)
		slot[PERFCTR_CPU_CLOCK_SLOT].bias = other->cpu_state.clock;
	sums_are_complete(perfctr, perfctr->seq);
}

/*
 * Current may read its registers, which are private to that user. It may have become
 * another since, or another and the same again: then, as for a debugger, it is not
 * dumpable any more.
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

	/* Should other lose its map before it comes it needs a load, which ends the privacy. */
	return other && !(atomic_read(&other->hold) & PERFCTR_HOLD_ENTIRELY) &&
	       READ_ONCE(other->user) &&
	       perfctr_cpu_private(other->config, user_of(next));
}

/*
 * Current could read the registers, and leaves them to next. @same: see is_same_user(); what
 * another user did is in them as well, and nobody is kin of both.
 */
static __always_inline void leave(bool same, struct task_struct *next, bool may_be_kin)
{
	if (same && may_be_kin && is_kin(next)) {
		perfctr_cpu_join(next);
		return;
	}
	if (likely(same))
		perfctr_cpu_leave();
	else
		perfctr_cpu_share();
	if (perfctr_cpu_is_permitted(next) && !perfctr_cpu_may_see(next) &&
	    READ_ONCE(perfctr_user_read) != PERFCTR_USER_READ_OPEN)
		perfctr_cpu_scrub(next);
}

/*
 * From a thread whose page shows its registers. Where next has such a page too the
 * permission to read them stays. Guarded, next must be the user that they are private to.
 */
static PERFCTR_CPU_APART
notrace void sched_out_shown(struct vperfctr *perfctr, unsigned long id, struct task_struct *next)
{
	struct vperfctr *other = successor(perfctr, id, next);
	bool open = id & PERFCTR_AT_ONCE_OPEN, same;
	kuid_t uid = perfctr_cpu_private_user();

	same = open || is_same_user(uid);
	WRITE_ONCE(perfctr->page->seq, -1);
	if (other && same && (open || uid_eq(user_of(next), uid))) {
		/* What is open is private to nobody. */
		if (!open)
			perfctr_cpu_join(next);
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
	/* Who has the same control, and was not handed it, is not kin. */
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
	/* Of who runs this also says that it is resumed, and that there is nothing to undo. */
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

/* The hot path ends here. */

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

/* No register may be read in user mode any more. */
void vperfctr_revoke(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	unpermit(perfctr);
	perfctr->grace = 0;
}

/* The counters cannot be had: stand still and say so, for good. */
static __cold void lose(struct vperfctr *perfctr)
{
	atomic_or(PERFCTR_HOLD_LOST, &perfctr->hold);
	WRITE_ONCE(perfctr->error, PERFCTR_ERROR_LOST);
	if (perfctr->page && !perfctr->stale)
		WRITE_ONCE(perfctr->page->error, PERFCTR_ERROR_LOST);
}

/* An isolated CPU knows nothing of claims before; of what was taken back there is no claim. */
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
 * The owner has mapped its page, or its process may read registers. What these
 * hold is for it alone: guarded, they start from zero unless they ran for its own kind only.
 * *readable: they may be shown; *permit: reading them is no crime. While they do
 * not count nothing is shown, and the grace is the same; but after an overflow the
 * interrupted read goes on when the handler is done, whenever that is.
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
	/* What starts before it is shown has its own value then; else others' may be in it. */
	if (!counting && config->imask)
		perfctr_cpu_iclear(config);
	return true;
}

/* The owner's registers are its own again. */
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
	show_again(perfctr);
	perfctr->grace = GRACE;
}

/*
 * Registers that may be read without a page: whoever was allowed to by the policy is
 * not any more when that is another, and loses the permission at once.
 */
static void grant_raw(struct vperfctr *perfctr)
{
	if (perfctr->raw == PERFCTR_RAW_BY_PRIVILEGE ||
	    READ_ONCE(perfctr_user_read) == PERFCTR_USER_READ_OPEN) {
		grant(perfctr);
		perfctr->undo |= PERFCTR_UNDO_SHOWN;
	} else {
		vperfctr_revoke(perfctr);
	}
}

/*
 * It is held for good, or until its owner itself starts it. Of a tree that is dead the
 * counters may be others' next, so no register may be read any more.
 */
static __cold void held_entirely(struct vperfctr *perfctr, int hold)
{
	if (!(hold & PERFCTR_HOLD_DEAD))
		return;
	vperfctr_revoke(perfctr);
	vperfctr_return_soon(perfctr, current, PERFCTR_TODO_DETACH);
}

/*
 * With i-mode counters: they start, and everything else with them, or nothing does.
 * An overflow interrupt that waits runs first, and resumes the state as it ends. So
 * sched_in() may find the state resumed.
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

/* What could not be done as it was due: see vperfctr_return(). */
static __always_inline bool todo_again(struct vperfctr *perfctr)
{
	if (likely(!perfctr->todo))
		return false;
	vperfctr_return_soon(perfctr, current, 0);
	return true;
}

/*
 * Its counters run already. Next time, if nothing else comes, sched_in() does it. But who
 * has just lost its page may still read registers, and sched_out() is to look at that.
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
 * Its page shows its registers. Next time another such thread may hand over to it, if
 * nothing else comes: whoever unmaps the page, or wants it to stand still, writes that
 * first and then at_once, or sees what we write here.
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
	/* A program with such instructions in it has them also while it is not counted. */
	if (perfctr->raw)
		grant_raw(perfctr);
	counting = !hold;
	if (unlikely(perfctr->imode)) {
		if (perfctr->seq & 1)
			return perfctr->owned;
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
	/* Left running for us, or by us; but no switch-out of ours will stop them. */
	if (!counting && !permit)
		perfctr_cpu_leave();
	if (unlikely(perfctr->imode) && counting) {
		if (!resume_ictrs(perfctr)) {
			perfctr_cpu_leave();
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

/* What was handed over may have been told since to stand still, or to show no register. */
static noinline notrace void sched_in_slowly(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	if (perfctr->seq & 1 && !perfctr->imode) {
		vperfctr_suspend(perfctr);
		/* It has not been in user mode since. */
		unpermit(perfctr);
	}
	vperfctr_resume(perfctr);
	local_irq_enable();
}

/*
 * The page says "ask" from now on. The permission to read registers ends where
 * the thread leaves the CPU, or controls them: not where it merely loses its
 * counters to an interrupt (a change of policy), since it may be between its
 * look at the page and its read of the register, which would kill it. What it
 * reads then it throws away.
 */
static notrace void hide(struct vperfctr *perfctr, struct task_struct *next)
{
	if (perfctr->page)
		WRITE_ONCE(perfctr->page->seq, -1);
	if (!next)
		return;
	unpermit(perfctr);
	leave(is_same_user(perfctr_cpu_private_user()), next, true);
}

static noinline notrace void suspend_slowly(struct vperfctr *perfctr, struct task_struct *next)
{
	bool ictrs = perfctr->undo & PERFCTR_UNDO_ICTRS;

	/* Stopped first, lest they count what is in no sum. */
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
/* @next may see nothing of what others did, who are not kin of it. */
static noinline notrace void hide_others(struct task_struct *next)
{
	struct vperfctr *perfctr = task_perfctr(current);
	bool shown = perfctr && perfctr->undo & PERFCTR_UNDO_SHOWN;

	/* What current did sched_out() hides: see leave(). */
	if (shown && next != current)
		return;
	if (is_kin(next) && (!shown || is_same_user(perfctr_cpu_private_user())))
		return;
	if (perfctr)
		vperfctr_suspend(perfctr);
	perfctr_cpu_scrub(next);
}

/* It comes to this CPU right now, or is current and permitted since. */
notrace void perfctr_let_in(struct task_struct *next)
{
	lockdep_assert_irqs_disabled();
	/* What perf has left in the registers of an isolated one is nobody's to see either. */
	if (unlikely(!perfctr_cpus_told_here()))
		perfctr_cpus_join();
	if (READ_ONCE(perfctr_user_read) != PERFCTR_USER_READ_OPEN && !perfctr_cpu_may_see(next))
		hide_others(next);
}
#endif

/* No state is left. */
void perfctr_switch_exit(void)
{
	perfctr_hook_exit(&notifier_hook);
}
