// SPDX-License-Identifier: GPL-2.0
/*
 * The switch: a counted thread leaves a CPU, or comes to a CPU.
 *
 * sched_out() runs with the runqueue locked and interrupts off: it may not wake, signal, allocate
 * or print. sched_in() runs at the end of finish_task_switch(), with preemption off, but always
 * with interrupts on. It turns interrupts off, because an interrupt (perfctr_run(), a reader) must
 * find the state suspended or resumed, and not in between.
 *
 * Migration: a state is resumed when its thread comes to a CPU and suspended when the thread leaves
 * the CPU, so differences never move to another CPU. Exit: the exit probe removes the notifier, so
 * we do not see later switches of the dying thread. Fork: the kernel gives a child an empty list of
 * notifiers.
 */

#include <linux/module.h>
#include <trace/events/sched.h>

#include "base/hook.h"
#include "arch/sums.h"
#include "arch/user.h"
#include "perf/shared.h"
#include "perf/told.h"
#include "thread/notify.h"
#include "thread/page.h"
#include "switch/resume.h"
#include "switch/suspend.h"
#include "switch/switch.h"

/*
 * Returns true if a thread that was handed counters may go on with them while its page shows them.
 * Whoever objects has written at_once. If an interrupt has suspended and resumed the state since
 * the hand-over, @id is what that resume wrote. The processor may now refuse reads that it
 * permitted before, if this mm last ran on another CPU, or if perf's settings have changed.
 */
static __always_inline bool may_stay_shown(const struct vperfctr *perfctr, unsigned long id)
{
	return id & PERFCTR_AT_ONCE_SHOWN && !clock_changed(perfctr) &&
	       perfctr_cpu_user_permitted(perfctr->config);
}

#ifdef CONFIG_PREEMPT_NOTIFIERS
static notrace void sched_in(struct preempt_notifier *notifier, int cpu)
{
	struct vperfctr *perfctr = container_of(notifier, struct vperfctr, notifier);

	if (perfctr->seq & 1) {
		/* The state was handed counters. */
		unsigned long id = READ_ONCE(perfctr->at_once);

		if (likely(id & PERFCTR_ID_USER) || may_stay_shown(perfctr, id))
			return;
		local_irq_disable();
		goto slowly;
	}
	local_irq_disable();
	if (unlikely(!perfctr_cpu_has_loaded_on(cpu, READ_ONCE(perfctr->at_once))))
		goto slowly;
	sums_to_differences(perfctr, true);
	local_irq_enable();
	return;

slowly:
	OPTIMIZER_HIDE_VAR(perfctr);	/* see suspend() */
	vperfctr_come_slowly(perfctr);
}
#endif

/* Returns the state of @next if it counts in the same way as @perfctr, or NULL. */
static __always_inline struct vperfctr *state_of_next(const struct vperfctr *perfctr,
						      struct task_struct *next)
{
#ifdef CONFIG_PREEMPT_NOTIFIERS
	struct hlist_node *first = next->preempt_notifiers.first;
	struct preempt_notifier *notifier;

	if (!first)
		return NULL;
	notifier = hlist_entry(first, struct preempt_notifier, link);
	if (unlikely(notifier->ops != perfctr->notifier.ops))
		return NULL;
	return container_of(notifier, struct vperfctr, notifier);
#else
	return NULL;
#endif
}

/*
 * Returns the state of @next if it can be handed the counters of @perfctr at once, or NULL. Both
 * states count by the same registers, in user mode alone. @next comes right now, so nothing counts
 * in between, and one reading serves both. @next does not run yet, so only we change its state
 * here. A thread that sets a hold of the state of @next meanwhile writes at_once, which sched_in()
 * checks again, or interrupts this CPU.
 */
static __always_inline struct vperfctr *successor(const struct vperfctr *perfctr,
						  unsigned long id, struct task_struct *next)
{
	struct vperfctr *other = state_of_next(perfctr, next);

	return other && likely(READ_ONCE(other->at_once) == id) ? other : NULL;
}

/*
 * Reads the registers once. This reading ends the differences of @perfctr and begins those of
 * @other. With @show, the page of @other shows the registers from now on. It is safe to show them
 * here, because the thread runs user code only after its sched_in().
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
 * Returns true if the counters may be handed to @other, the state of @next, without a page that
 * shows them. On a processor where anybody could read the registers, the registers are private to a
 * user. Then @next must be that user, and current must still be that user.
 */
static __always_inline bool may_hand_on(struct vperfctr *perfctr, unsigned long id,
					struct vperfctr *other, const struct task_struct *next)
{
	kuid_t uid = perfctr->shown_to;

	if (!perfctr_cpu_always_readable() || !(id & PERFCTR_AT_ONCE_PRIVATE))
		return true;
	if (!uid_eq(user_of(next), uid) || !is_same_user(uid))
		return false;
	other->shown_to = uid;
	other->undo = PERFCTR_UNDO_SHOWN;
	perfctr->undo = 0;
	return true;
}

/*
 * Switches out a thread whose page shows its registers. If the page of @next may show them, too,
 * @next gets the permission with the counters. Under "guarded", the registers must be private to
 * the user of @next. @other is the state of @next, or NULL. Returns true if @other was resumed.
 */
static PERFCTR_CPU_RARE
notrace bool sched_out_shown(struct vperfctr *perfctr, unsigned long id, struct vperfctr *other,
			     struct task_struct *next)
{
	unsigned long other_id = other ? READ_ONCE(other->at_once) : PERFCTR_NO_CONFIG;
	bool open = id & PERFCTR_AT_ONCE_OPEN, same;
	kuid_t uid = perfctr->shown_to;

	same = open || is_same_user(uid);
	hide_registers(perfctr);
	if (other_id == id && same && (open || uid_eq(user_of(next), uid))) {
		/* Under "open", registers are private to nobody. */
		if (!open) {
			perfctr_cpu_leave_to_kin(next);
			other->shown_to = uid;
		}
		if (perfctr_cpu_permits_threads()) {
			other->granted = perfctr->granted;
			perfctr->granted = 0;
		}
		other->undo = PERFCTR_UNDO_SHOWN;
		perfctr->undo = 0;
		hand_over(perfctr, other, true);
		return true;
	}
	perfctr_cpu_suspend(&perfctr->cpu_state);
	sums_are_complete(perfctr, perfctr->seq);
	perfctr_cpu_revoke(perfctr->granted);
	perfctr->granted = 0;
	perfctr->undo = 0;
	/* If next's at_once says SHOWN, next is not kin, because kin got the counters above. */
	leave(same, next, !(other_id & PERFCTR_AT_ONCE_SHOWN));
	return false;
}

#ifdef CONFIG_PREEMPT_NOTIFIERS
static notrace void sched_out(struct preempt_notifier *notifier, struct task_struct *next)
{
	struct vperfctr *perfctr = container_of(notifier, struct vperfctr, notifier), *other;
	unsigned long id = READ_ONCE(perfctr->at_once);

	if (unlikely(!(id & PERFCTR_ID_USER))) {
		OPTIMIZER_HIDE_VAR(next);	/* see suspend() */
		if (id & PERFCTR_AT_ONCE_SHOWN)
			sched_out_shown(perfctr, id, state_of_next(perfctr, next), next);
		else
			suspend(perfctr, next);
		return;
	}
	/*
	 * If at_once has PERFCTR_ID_USER, a running thread's state is resumed. Then undo is 0
	 * unless at_once has PRIVATE, too.
	 */
	other = successor(perfctr, id, next);
	if (other && likely(may_hand_on(perfctr, id, other, next))) {
		hand_over(perfctr, other, false);
	} else if (perfctr_cpu_always_readable() && id & PERFCTR_AT_ONCE_PRIVATE) {
		suspend(perfctr, next);
	} else {
		perfctr_cpu_suspend(&perfctr->cpu_state);
		sums_are_complete(perfctr, perfctr->seq);
	}
}
#endif

/*
 * The next functions switch states of the shared source. They load no counters, because perf counts
 * the events of all states all the time. If perf has lost an event, they call vperfctr_lose().
 */

/*
 * Returns true if the config was evicted or has another id than @id. An evicted config keeps its
 * id, and other configs with that id get a new one. A resumed state must have the new id in
 * at_once, or it would hand its counters over to a state of the evicted config.
 */
static __always_inline bool is_outdated(const struct vperfctr *perfctr, unsigned long id)
{
	return READ_ONCE(perfctr->config->evicted) || READ_ONCE(perfctr->config->id) != id;
}

/* Resumes the state, or returns false if it cannot be resumed at once. Interrupts are off. */
static __always_inline bool resume_shared_at_once(struct vperfctr *perfctr, int cpu, bool call)
{
	unsigned long id = READ_ONCE(perfctr->at_once);

	if (unlikely(id == PERFCTR_NO_CONFIG))
		return false;
	if (unlikely(READ_ONCE(perfctr_any_rarity)) && is_outdated(perfctr, id))
		return false;
	sums_are_changing(perfctr);
	if (likely(!perfctr_shared_resume(&perfctr->cpu_state, cpu, call)))
		return true;
	OPTIMIZER_HIDE_VAR(perfctr);
	vperfctr_unresume_shared(perfctr, call);
	return false;
}

static __always_inline void hand_over_shared(struct vperfctr *perfctr, struct vperfctr *other,
					     bool call)
{
	bool lost;

	sums_are_changing(other);
	lost = perfctr_shared_hand_over(&perfctr->cpu_state, &other->cpu_state,
					smp_processor_id(), call);
	sums_are_complete(perfctr, perfctr->seq);
	if (unlikely(lost)) {
		WRITE_ONCE(other->at_once, PERFCTR_NO_CONFIG);
		OPTIMIZER_HIDE_VAR(perfctr);
		vperfctr_lose(perfctr);
	}
}

#ifdef CONFIG_PREEMPT_NOTIFIERS
static __always_inline void shared_in(struct preempt_notifier *notifier, int cpu, bool call)
{
	struct vperfctr *perfctr = container_of(notifier, struct vperfctr, notifier);

	/* A state that is resumed already was handed counters. */
	if (perfctr->seq & 1 && likely(READ_ONCE(perfctr->at_once) & PERFCTR_ID_USER))
		return;
	local_irq_disable();
	if (likely(!(perfctr->seq & 1) && resume_shared_at_once(perfctr, cpu, call))) {
		local_irq_enable();
		return;
	}
	OPTIMIZER_HIDE_VAR(perfctr);	/* see suspend() */
	vperfctr_come_slowly_shared(perfctr);
}

static __always_inline void shared_out(struct preempt_notifier *notifier,
				       struct task_struct *next, bool call)
{
	struct vperfctr *perfctr = container_of(notifier, struct vperfctr, notifier), *other;
	unsigned long id = READ_ONCE(perfctr->at_once);

	/* If at_once has PERFCTR_ID_USER, a running thread's state is resumed. */
	other = likely(id & PERFCTR_ID_USER) ? successor(perfctr, id, next) : NULL;
	if (other)
		hand_over_shared(perfctr, other, call);
	else
		suspend_shared(perfctr, call);
}

#if PERFCTR_CPU_SHARED_INLINE
static notrace void shared_inline_in(struct preempt_notifier *notifier, int cpu)
{
	shared_in(notifier, cpu, false);
}

static notrace void shared_inline_out(struct preempt_notifier *notifier, struct task_struct *next)
{
	shared_out(notifier, next, false);
}
#endif

static notrace void shared_call_in(struct preempt_notifier *notifier, int cpu)
{
	shared_in(notifier, cpu, true);
}

static notrace void shared_call_out(struct preempt_notifier *notifier, struct task_struct *next)
{
	shared_out(notifier, next, true);
}
#endif

/*
 * The next functions do a switch by the tracepoint. The tracepoint calls probe_switch() once for
 * each switch, before the switch, in the context of the thread that leaves, with the runqueue
 * locked. vperfctr_come_later() leaves some work to the thread that comes, which does it before it
 * returns to user mode. No page is shown at a switch, except on processors where anybody can read
 * registers without a permission.
 */
static __always_inline void out(struct vperfctr *perfctr, struct task_struct *next)
{
	if (vperfctr_is_native(perfctr))
		suspend(perfctr, next);
	else if (vperfctr_calls(perfctr))
		suspend_shared(perfctr, true);
	else
		suspend_shared(perfctr, false);
}

static __always_inline void in(struct vperfctr *perfctr, struct task_struct *next)
{
	int cpu = smp_processor_id();
	bool done;

	if (vperfctr_is_native(perfctr)) {
		done = perfctr_cpu_has_loaded_on(cpu, READ_ONCE(perfctr->at_once));
		if (likely(done))
			sums_to_differences(perfctr, true);
	} else if (vperfctr_calls(perfctr)) {
		done = resume_shared_at_once(perfctr, cpu, true);
	} else {
		done = resume_shared_at_once(perfctr, cpu, false);
	}
	if (unlikely(!done))
		vperfctr_come_later(perfctr, next);
}

/*
 * Returns true if the state's page shows registers that anybody could read. Then the state of the
 * next thread may take them over.
 */
static __always_inline bool is_shown(const struct vperfctr *perfctr)
{
	return perfctr_cpu_always_readable() &&
	       READ_ONCE(perfctr->at_once) & PERFCTR_AT_ONCE_SHOWN;
}

/*
 * Does what probe_switch() does not do. @same is true if both states count by the same registers of
 * perf's: see successor().
 */
static noinline notrace void out_and_in(struct vperfctr *perfctr, struct vperfctr *coming,
					struct task_struct *next, bool same)
{
	/* These are perf's counters. probe_switch() itself hands native counters over. */
	if (same) {
		if (vperfctr_calls(perfctr))
			hand_over_shared(perfctr, coming, true);
		else
			hand_over_shared(perfctr, coming, false);
		return;
	}
	if (perfctr && coming && is_shown(perfctr)) {
		if (sched_out_shown(perfctr, READ_ONCE(perfctr->at_once), coming, next))
			return;
	} else if (perfctr) {
		out(perfctr, next);
	}
	if (coming)
		in(coming, next);
}

/*
 * Most switches do not reach out_and_in(): they are between threads without a state, or hand native
 * counters over. out_and_in() is the only call here, so that gcc saves registers only on the way to
 * it.
 */
static notrace void probe_switch(PERFCTR_SWITCH_PROBE_ARGS)
{
	struct vperfctr **here = this_cpu_ptr(&perfctr_here);
	struct vperfctr *perfctr = *here, *coming = perfctr_look_up(next);
	bool same = false;

	if (perfctr == coming)
		return;
	/*
	 * This CPU may just have moved @next here. This barrier pairs with the one in
	 * member_hold(), which writes at_once, and then reads the number of @next's CPU.
	 */
	smp_mb__after_spinlock();
	/* Only interrupts of this CPU read perfctr_here, and none comes during a switch. */
	*here = coming;
	if (likely(perfctr && coming)) {
		unsigned long id = READ_ONCE(perfctr->at_once);

		same = id & PERFCTR_ID_USER && READ_ONCE(coming->at_once) == id;
		if (same && vperfctr_is_native(perfctr)) {
			if (likely(may_hand_on(perfctr, id, coming, next))) {
				hand_over(perfctr, coming, false);
				return;
			}
			same = false;
		}
	}
	out_and_in(perfctr, coming, next, same);
}

static struct perfctr_probe switch_probe = PERFCTR_PROBE(sched_switch, probe_switch);

int __init perfctr_switch_init(void)
{
	static const struct preempt_ops ops[PERFCTR_NR_WAYS] __initconst = {
#ifdef CONFIG_PREEMPT_NOTIFIERS
		[PERFCTR_NATIVE] = { .sched_in = sched_in, .sched_out = sched_out },
#if PERFCTR_CPU_SHARED_INLINE
		[PERFCTR_SHARED_INLINE] = {
			.sched_in = shared_inline_in,
			.sched_out = shared_inline_out,
		},
#endif
		[PERFCTR_SHARED_CALL] = {
			.sched_in = shared_call_in,
			.sched_out = shared_call_out,
		},
#endif
	};

	return perfctr_notify_init(ops, &switch_probe);
}
