// SPDX-License-Identifier: GPL-2.0
/*
 * The timer of states that record. It fires when the next sample by time is due, or when the state
 * has been throttled for a tick.
 *
 * Each CPU has one timer. We set it when a state is resumed on the CPU, but do not cancel it when
 * the state is suspended, because that would take longer. So the timer may fire while another
 * thread or no thread runs. Then nothing is due. Due times are in ticks of the state's own clock.
 */

#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/percpu.h>

#include "thread/notify.h"
#include "switch/timer.h"

/* A timer is set only on its own CPU, with interrupts off. */
static DEFINE_PER_CPU(struct hrtimer, timer);
static void (*on_timer)(struct vperfctr *perfctr);	/* constant after init */

static enum hrtimer_restart fires(struct hrtimer *unused)
{
	struct vperfctr *perfctr = vperfctr_current();

	lockdep_assert_irqs_disabled();
	if (perfctr && perfctr->recorder)
		on_timer(perfctr);
	return HRTIMER_NORESTART;
}

u64 perfctr_timer_ticks(u64 ns)
{
	/* @ns is at most a second, so the product does not overflow with a clock below 18 GHz. */
	return max(div_u64(ns * perfctr_cpu_clock_hz(), NSEC_PER_SEC), 1ULL);
}

notrace void vperfctr_timer_set(struct vperfctr *perfctr, struct task_struct *owner)
{
	const struct perfctr_recorder *recorder = perfctr->recorder;
	s64 left = recorder->due - (perfctr->cpu_state.clock + perfctr_cpu_clock());
	u64 ns = U64_MAX;

	lockdep_assert_irqs_disabled();
	/*
	 * The owner also looks on its way to user mode, because a thread that is switched all the
	 * time may leave before the timer can fire.
	 */
	if (recorder->timer && left <= 0) {
		vperfctr_return_soon(perfctr, owner, PERFCTR_TODO_OVERFLOW);
		ns = NSEC_PER_USEC;
	} else if (recorder->timer && !recorder->throttled) {
		ns = div64_u64(left * NSEC_PER_SEC, perfctr_cpu_clock_hz());
	}
	if (recorder->throttled)
		ns = min_t(u64, ns, TICK_NSEC);
	if (ns != U64_MAX)
		hrtimer_start(this_cpu_ptr(&timer), ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED_HARD);
}

void __init perfctr_timer_init(void (*fn)(struct vperfctr *perfctr))
{
	unsigned int cpu;

	on_timer = fn;
	for_each_possible_cpu(cpu)
		perfctr_hrtimer_setup(per_cpu_ptr(&timer, cpu), fires, CLOCK_MONOTONIC,
				      HRTIMER_MODE_REL_PINNED_HARD);
}

/* Cancels the timers. No state is left, so they are not set again. */
void perfctr_timer_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		hrtimer_cancel(per_cpu_ptr(&timer, cpu));
}
