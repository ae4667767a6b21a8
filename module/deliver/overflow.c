// SPDX-License-Identifier: GPL-2.0
/*
 * Overflows: the signal, how counting goes on, and the counters' interrupt, which is heard
 * while some config has i-mode counters. period.c describes the life of an overflow.
 */

#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/uidgid.h>
#include <asm/irq_regs.h>

#include "base/hook.h"
#include "arch/sums.h"
#include "thread/notify.h"
#include "thread/tracee.h"
#include "switch/period.h"
#include "switch/resume.h"
#include "switch/suspend.h"
#include "deliver/overflow.h"
#include "deliver/record.h"

/* How many overflows of a thread in one tick its counters go on after by themselves */
static unsigned int overflow_budget = 50000 / HZ;
module_param(overflow_budget, uint, 0644);
MODULE_PARM_DESC(overflow_budget, "overflows of a thread in a tick after which its counters go on by themselves (50000 a second)");

/* End an overflow. The clock may be resumed alone, so the state is suspended first. */
static void go_on(struct vperfctr *perfctr)
{
	vperfctr_suspend(perfctr);
	atomic_andnot(PERFCTR_HOLD_COUNTERS, &perfctr->hold);
}

/*
 * Its tree is dead, and it was not detached yet: nobody is told of its overflows any more, also of
 * one that was found before. The root may write to the same ring by another control. By the owner,
 * interrupts are off: who ends the tree waits until this CPU has seen it.
 */
static bool is_dead(const struct vperfctr *perfctr)
{
	return atomic_read(&perfctr->hold) & PERFCTR_HOLD_DEAD;
}

/* May the counters go on by themselves once more in this tick? */
static bool within(struct perfctr_budget *budget)
{
	unsigned long now = jiffies;

	if (budget->tick != now) {
		budget->tick = now;
		budget->spent = 0;
	}
	return ++budget->spent <= READ_ONCE(overflow_budget);
}

/*
 * The owner signals itself, so si_uid is right in its namespace. The mask in si_pid is
 * not translated, as nothing crosses a namespace.
 */
static void tell(int signo, u32 mask, bool throttled)
{
	struct kernel_siginfo info;
	int err;

	clear_siginfo(&info);
	info.si_signo = signo;
	info.si_errno = throttled ? EAGAIN : 0;
	info.si_code = PERFCTR_SI_OVF;
	info.si_pid = mask;
	info.si_uid = from_kuid_munged(current_user_ns(), current_uid());
	err = send_sig_info(signo, &info, current);
	if (err) {
		/* SIGIO can always be sent; F_SETSIG does the same. */
		info.si_signo = SIGIO;
		send_sig_info(SIGIO, &info, current);
	}
}

/*
 * Samples instead of signals: at an overflow, or when one is due by time. The counters go on at
 * once.
 */

/*
 * Writes a sample, unless there were too many in this tick: then it is false, and said so. One that
 * counts in kernel mode may overflow here for ever: a kill ends that.
 */
static bool write_sample(struct vperfctr *perfctr, struct pt_regs *regs, u32 mask,
			 const u64 *value)
{
	if (likely(within(&perfctr->recorder->budget) && !fatal_signal_pending(current))) {
		vperfctr_record_sample(perfctr, regs, mask, value);
		return true;
	}
	vperfctr_record_throttled(perfctr);
	return false;
}

/* It is suspended, and the caller resumes it. @regs: see vperfctr_record_sample() */
static void sample(struct vperfctr *perfctr, struct pt_regs *regs)
{
	u64 value[1 + PERFCTR_MAX_HW], clock = perfctr->cpu_state.clock;
	struct perfctr_recorder *recorder = perfctr->recorder;
	bool timed = recorder->timer && (s64)(clock - recorder->due) >= 0;
	u32 mask = perfctr->imode ? perfctr->imode->pending : 0;

	lockdep_assert_irqs_disabled();
	if ((!mask && !timed) || is_dead(perfctr))
		return;
	if (mask)
		perfctr->imode->pending = 0;
	go_on(perfctr);
	if (timed)
		recorder->due += recorder->timer;
	/* What is that late is left out. */
	if (timed && (s64)(clock - recorder->due) >= 0)
		recorder->due = clock + recorder->timer;
	if (recorder->throttled)
		return;
	perfctr_cpu_store_sums(&perfctr->cpu_state, value);
	if (!write_sample(perfctr, regs, mask, value))
		vperfctr_throttle(perfctr, true);
}

/* The same as its interrupt ends, if its counters were merely stopped. */
static void sample_stopped(struct vperfctr *perfctr)
{
	u64 value[1 + PERFCTR_MAX_HW];
	u32 mask = vperfctr_imode_read_stopped(perfctr, value);
	bool throttled = false;

	if (mask)
		throttled = !write_sample(perfctr, perfctr_cpu_interrupted_regs(), mask, value);
	if (likely(vperfctr_imode_restart(perfctr, value, throttled)))
		return;
	if (throttled)
		vperfctr_throttle(perfctr, true);
	vperfctr_resume(perfctr);
}

void vperfctr_on_timer(struct vperfctr *perfctr)
{
	/* Resuming it sets the timer again, and looks whether it is still throttled. */
	if (!(perfctr->seq & 1) || perfctr->undo & PERFCTR_UNDO_CLOCK)
		return;
	vperfctr_suspend(perfctr);
	sample(perfctr, get_irq_regs());
	vperfctr_resume(perfctr);
}

/* On the way to user mode. What was interrupted is not known any more. */
static void sample_late(struct vperfctr *perfctr)
{
	unsigned long flags;

	local_irq_save(flags);
	vperfctr_suspend(perfctr);
	sample(perfctr, NULL);
	local_irq_restore(flags);
}

void vperfctr_deliver(struct vperfctr *perfctr)
{
	struct perfctr_imode *imode = perfctr->imode;
	bool goes_on, throttled = false;
	unsigned long flags;
	int signo;
	u32 mask;

	if (perfctr->recorder) {
		sample_late(perfctr);
		return;
	}
	/* It may have another control by now. */
	if (!imode)
		return;
	local_irq_save(flags);
	mask = is_dead(perfctr) ? 0 : imode->pending;
	imode->pending = 0;
	signo = imode->signo;
	/* If it counts in kernel mode it may overflow here for ever: let a kill end that. */
	goes_on = mask && imode->left > 1 && !fatal_signal_pending(current);
	if (goes_on)
		imode->left--;
	if (goes_on && !within(&imode->budget)) {
		throttled = true;
		atomic_or(PERFCTR_HOLD_THROTTLED, &perfctr->hold);
	} else if (goes_on) {
		go_on(perfctr);
	}
	local_irq_restore(flags);
	if (mask)
		tell(signo, mask, throttled);
}

/*
 * An exec removes the signal handler, so it ends the signals too: they would kill. Samples go on.
 */
void vperfctr_imode_exec(struct vperfctr *perfctr)
{
	unsigned long flags;

	if (!perfctr->imode || perfctr->recorder)
		return;
	local_irq_save(flags);
	go_on(perfctr);
	vperfctr_imode_init(perfctr, 0, perfctr->imode->refresh);
	vperfctr_resume(perfctr);
	local_irq_restore(flags);
}

/* By the owner, or while that is held. Interrupts are off. @left: of REFRESH; 0: IRESUME */
static int iresume(struct vperfctr *own, u64 left)
{
	bool overflown = atomic_read(&own->hold) & PERFCTR_HOLD_OVERFLOWN;

	if (!own->imode || own->recorder || (!left && (!overflown || own->imode->pending)))
		return -EINVAL;
	if (left)
		own->imode->left = left;
	/* A pending overflow is delivered first. */
	if (overflown && !own->imode->pending) {
		go_on(own);
		if (vperfctr_is_own(own))
			vperfctr_resume(own);
	}
	return 0;
}

static int iresume_tracee(struct vperfctr *perfctr, u64 left)
{
	struct task_struct *task = vperfctr_traced_owner(perfctr);
	unsigned long flags;
	int err;

	if (IS_ERR(task))
		return PTR_ERR(task);
	err = perfctr_tracee_hold(task, &flags);
	if (!err) {
		err = iresume(perfctr, left);
		perfctr_tracee_release(task, flags);
	}
	perfctr_tracee_put(task);
	return err;
}

/* Resumes the caller's own state, through any handle of its tree, or a tracee's through its own. */
static int resume_ioctl(struct vperfctr *perfctr, u64 left)
{
	struct vperfctr *own = vperfctr_acting_owner(perfctr, true);
	int err;

	if (own == ERR_PTR(-EPERM))
		return iresume_tracee(perfctr, left);
	if (IS_ERR(own))
		return PTR_ERR(own);
	local_irq_disable();
	err = iresume(own, left);
	local_irq_enable();
	return err;
}

int vperfctr_iresume_ioctl(struct vperfctr *perfctr)
{
	return resume_ioctl(perfctr, 0);
}

int vperfctr_refresh_ioctl(struct vperfctr *perfctr, unsigned long count)
{
	if (!count || count > INT_MAX)
		return -EINVAL;
	return resume_ioctl(perfctr, count);
}

static __always_inline void interrupt_begins(struct vperfctr *perfctr)
{
	const struct perfctr_config *config = perfctr->config;
	bool user_only = config->kin & PERFCTR_ID_USER;

	if (!(perfctr->undo & PERFCTR_UNDO_ICTRS))
		return;
	/* None overflows before user mode goes on, so others' handlers do not matter to them. */
	if (user_only && !perfctr_cpu_ioverflowed(config))
		return;
	/* To stop them is enough if the others count nothing here, and its page shows nothing. */
	if (user_only && perfctr->recorder && perfctr->undo == PERFCTR_UNDO_ICTRS)
		vperfctr_imode_stop(perfctr);
	else
		vperfctr_suspend(perfctr);
}

/*
 * An overflow interrupt. As it begins the state is suspended, which finds overflows; so our
 * counters stand still while others' handlers run. A state that counts user mode alone runs on
 * if the interrupt is of others' counters. As it ends the owner is signalled, if
 * user mode was interrupted. Otherwise that waits until it returns to user mode, as a
 * signal would end a sleep in the kernel. On RT it always waits, since the signal's lock
 * sleeps. Then the state goes on, or waits for IRESUME.
 */
static void interrupt(bool ends)
{
	struct vperfctr *perfctr = vperfctr_current();

	/* Of one without i-mode counters nothing stops here, and so nothing may be resumed. */
	if (!perfctr || !perfctr->imode)
		return;
	if (!ends) {
		interrupt_begins(perfctr);
		return;
	}
	if (perfctr->imode->stopped)
		sample_stopped(perfctr);
	if (perfctr->seq & 1)
		return;
	if (perfctr->imode->pending && perfctr->recorder) {
		sample(perfctr, perfctr_cpu_interrupted_regs());
	} else if (perfctr->imode->pending && !IS_ENABLED(CONFIG_PREEMPT_RT) &&
		   perfctr_cpu_interrupted_user()) {
		/* Tells lockdep, as posix timers do, that the lock may be taken: not on RT. */
		lockdep_posixtimer_enter();
		vperfctr_deliver(perfctr);
		lockdep_posixtimer_exit();
	}
	vperfctr_resume(perfctr);
}

static int turn_interrupts(bool on)
{
	return perfctr_cpu_set_ihandler(on ? interrupt : NULL);
}

static struct perfctr_hook interrupts_hook = {
	.mutex = __MUTEX_INITIALIZER(interrupts_hook.mutex),
	.turn = turn_interrupts,
	.off = __DELAYED_WORK_INITIALIZER(interrupts_hook.off, perfctr_hook_off, 0),
};

int perfctr_interrupts_get(void)
{
	return perfctr_hook_get(&interrupts_hook);
}

void perfctr_interrupts_put(void)
{
	perfctr_hook_put(&interrupts_hook);
}

void perfctr_interrupts_exit(void)
{
	perfctr_hook_exit(&interrupts_hook);
}
