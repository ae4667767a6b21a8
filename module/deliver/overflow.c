// SPDX-License-Identifier: GPL-2.0
/*
 * Overflows: the signal, the counters' interrupt, and how counting goes on. The module hears the
 * interrupt while some config has i-mode counters. period.c describes the life of an overflow.
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

/* The number of overflows of a thread in a tick that let counters go on, or write a sample */
static unsigned int overflow_budget = 50000 / HZ;
module_param(overflow_budget, uint, 0644);
MODULE_PARM_DESC(overflow_budget, "overflows of a thread in a tick after which its counters go on by themselves (50000 a second)");

/*
 * Ends an overflow, so that the counters may go on. Suspends the state first, because perhaps only
 * its clock is resumed.
 */
static void go_on(struct vperfctr *perfctr)
{
	vperfctr_suspend(perfctr);
	atomic_andnot(PERFCTR_HOLD_COUNTERS, &perfctr->hold);
}

/*
 * Returns true if the state's tree is dead. Then no overflow of the state is delivered any more,
 * not even an overflow that was found before: the root may already write to the same ring by
 * another control. The owner calls this with interrupts off. While interrupts are off, whoever ends
 * the tree waits for this CPU.
 */
static bool is_dead(const struct vperfctr *perfctr)
{
	return atomic_read(&perfctr->hold) & PERFCTR_HOLD_DEAD;
}

/* Returns true if one more overflow of this tick may let the counters go on, or write a sample. */
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
 * Signals the owner, which is current. A thread that signals itself gets an si_uid of its own user
 * namespace, and the kernel does not translate si_pid, which has the mask here.
 */
static void signal_owner(int signo, u32 mask, bool throttled)
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
		/* SIGIO can always be sent. The kernel falls back on SIGIO for F_SETSIG, too. */
		info.si_signo = SIGIO;
		send_sig_info(SIGIO, &info, current);
	}
}

/*
 * A state that records gets samples instead of signals, at an overflow, or when a sample is due by
 * time. Its counters go on at once.
 */

/*
 * Writes a sample. If there were too many samples in this tick, writes THROTTLED instead and
 * returns false. A state that counts kernel mode may overflow here again and again, and only a kill
 * ends that.
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

/*
 * Writes the sample that is due, if any. The caller has suspended the state, and resumes it
 * afterwards.
 * @regs: see vperfctr_record_sample()
 */
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
	/* Overdue samples are skipped. */
	if (timed && (s64)(clock - recorder->due) >= 0)
		recorder->due = clock + recorder->timer;
	if (recorder->throttled)
		return;
	perfctr_cpu_store_sums(&perfctr->cpu_state, value);
	if (!write_sample(perfctr, regs, mask, value))
		vperfctr_throttle(perfctr, true);
}

/*
 * Writes the sample that is due, if any, at the end of an interrupt that only stopped the i-mode
 * counters. The state goes on.
 */
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
	/* Each resume sets the timer again, and checks whether the state is still throttled. */
	if (!(perfctr->seq & 1) || perfctr->undo & PERFCTR_UNDO_CLOCK)
		return;
	vperfctr_suspend(perfctr);
	sample(perfctr, get_irq_regs());
	vperfctr_resume(perfctr);
}

/*
 * Writes the sample that is due, if any. The owner calls this on its way to user mode, when the
 * interrupted registers are not known any more.
 */
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
	/* The state may have got another control, without i-mode counters. */
	if (!imode)
		return;
	local_irq_save(flags);
	mask = is_dead(perfctr) ? 0 : imode->pending;
	imode->pending = 0;
	signo = imode->signo;
	/* A state that counts kernel mode may overflow here again and again until it is killed. */
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
		signal_owner(signo, mask, throttled);
}

/*
 * An exec removes the signal handler, and a signal would kill the new program. So the exec ends the
 * signals. Samples go on.
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

/*
 * Lets the counters go on after an overflow. The owner calls this, or another thread while the
 * owner is frozen. Interrupts are off. @left is the argument of REFRESH, or 0 for IRESUME. Returns
 * 0, or -EINVAL if the call does not fit the state.
 */
static int iresume(struct vperfctr *own, u64 left)
{
	bool overflown = atomic_read(&own->hold) & PERFCTR_HOLD_OVERFLOWN;

	if (!own->imode || own->recorder || (!left && (!overflown || own->imode->pending)))
		return -EINVAL;
	if (left)
		own->imode->left = left;
	/* A pending overflow is delivered first, and the counters go on after that. */
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
	err = perfctr_tracee_freeze(task, &flags);
	if (!err) {
		err = iresume(perfctr, left);
		perfctr_tracee_thaw(task, flags);
	}
	perfctr_tracee_put(task);
	return err;
}

/*
 * Lets the counters of the caller's state go on, if @perfctr is of the same tree. Otherwise
 * @perfctr must be the state of a tracee, and its counters go on. @left: see iresume()
 */
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
	/* The interrupt is not ours. Counters of user mode cannot overflow while handlers run. */
	if (user_only && !perfctr_cpu_ioverflowed(config))
		return;
	/* a-mode counters of user mode count nothing here, so only i-mode counters must stop. */
	if (user_only && perfctr->recorder && perfctr->undo == PERFCTR_UNDO_ICTRS)
		vperfctr_imode_stop(perfctr);
	else
		vperfctr_suspend(perfctr);
}

/*
 * Handles an overflow interrupt, once as the interrupt begins and once as it ends.
 *
 * As the interrupt begins, we suspend the state. The suspend finds overflows, and our counters
 * stand still while other handlers run. A state that counts only user mode runs on if none of its
 * own counters overflowed.
 *
 * As the interrupt ends, we signal the owner if the interrupt came in user mode. Otherwise the
 * signal waits until the owner returns to user mode, because the signal would end a sleep in the
 * kernel. On PREEMPT_RT, the signal always waits, because the signal's lock sleeps. Then the state
 * goes on, or waits for IRESUME.
 */
static void interrupt(bool ends)
{
	struct vperfctr *perfctr = vperfctr_current();

	/* The interrupt suspends only states with i-mode counters, and resumes only such states. */
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
		/* Tell lockdep, as posix timers do, that we may take the signal's lock here. */
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
