// SPDX-License-Identifier: GPL-2.0
/*
 * Gives processes the permission to read registers in user mode, on x86, where the kernel cannot
 * give it to single threads. Also changes the policy.
 */

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/mm_types.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "base/account.h"
#include "arch/user.h"
#include "perf/told.h"
#include "thread/kin.h"
#include "thread/notify.h"
#include "switch/resume.h"
#include "switch/run.h"
#include "switch/suspend.h"
#include "switch/wide.h"
#include "config/config.h"
#include "config/let_in.h"
#include "config/permit.h"

unsigned int perfctr_user_read_asked = PERFCTR_USER_READ_GUARDED;

#ifdef PERFCTR_CPU_PERMITS_PROCESSES
/* Treats current as if it had just come to this CPU. */
static int look_at_permission(void *unused)
{
	if (perfctr_cpu_is_permitted(current))
		perfctr_let_in(current);
	perfctr_cpu_update_permission();
	return 0;
}
#else
/*
 * Under "open", registers count for all threads. When that policy has ended, no thread may see
 * these counts, so this zeroes the registers.
 */
static int look_at_permission(void *unused)
{
	if (perfctr_guards_all())
		perfctr_cpu_rest();
	return 0;
}
#endif

#ifdef PERFCTR_CPU_PERMITS_PROCESSES
static DEFINE_PER_CPU(bool, resumes);

/*
 * Called before and after others change the permission or the registers of this CPU: see
 * perfctr_cpu_permit_init().
 */
static notrace void permission_changes(bool ends)
{
	struct vperfctr *perfctr = vperfctr_current();
	unsigned long flags;

	local_irq_save(flags);
	if (!ends) {
		__this_cpu_write(resumes, perfctr && perfctr->seq & 1);
		if (__this_cpu_read(resumes))
			vperfctr_suspend(perfctr);
		perfctr_wides_suspend();
	} else {
		if (perfctr_cpu_is_permitted(current))
			perfctr_let_in(current);
		perfctr_wides_resume();
		if (__this_cpu_read(resumes))
			vperfctr_resume(perfctr);
		__this_cpu_write(resumes, false);
	}
	local_irq_restore(flags);
}

/*
 * Updates current's page before current returns to user mode, because current may not read the
 * clock any more, or may read it again.
 */
static notrace void clock_hides(void)
{
	struct vperfctr *perfctr = vperfctr_current();
	unsigned long flags;

	local_irq_save(flags);
	if (perfctr && perfctr->seq & 1) {
		vperfctr_suspend(perfctr);
		vperfctr_resume(perfctr);
	}
	local_irq_restore(flags);
}

/*
 * Guards nr_wide, the number of wides that count natively, and each change of permissions. While
 * there is such a wide, no process is permitted. No thread is treated as permitted either, because
 * the registers would be zeroed as such a thread comes. This mutex is never taken under a lock that
 * mmap(2) holds.
 */
static DEFINE_MUTEX(wide_mutex);
static unsigned int nr_wide;	/* guarded by wide_mutex */

/* From here on every thread is checked as it comes to a CPU, because it may soon be permitted. */
static void giving_begins(void)
{
	lockdep_assert_held(&wide_mutex);
	if (nr_wide)
		return;
	perfctr_cpu_giving(true);
	perfctr_run(look_at_permission, NULL);
	/* A CPU that is not told may be in the middle of a switch. Wait until that ends. */
	if (!perfctr_cpus_all_told())
		synchronize_rcu();
}

static void giving_ends(void)
{
	if (!nr_wide)
		perfctr_cpu_giving(false);
}

/*
 * First turns on the probe, then gives the permission. A thread that was switched in before the
 * probe was on is still on its CPU when giving_begins() looks there.
 */
bool perfctr_permit(void)
{
	if (!perfctr_cpu_mm_waits(current->mm))
		return true;
	if (perfctr_broadcasts_allow() || perfctr_let_in_get())
		return false;
	mutex_lock(&wide_mutex);
	giving_begins();
	if (perfctr_cpu_mm_permit(current->mm))
		perfctr_run(look_at_permission, NULL);
	else
		perfctr_let_in_put();
	giving_ends();
	mutex_unlock(&wide_mutex);
	return true;
}

void perfctr_forbid(struct mm_struct *mm)
{
	if (!perfctr_cpu_mm_put(mm))
		return;
	perfctr_run(look_at_permission, NULL);
	perfctr_let_in_put();
	if (!perfctr_cpu_mm_any_given())
		perfctr_config_no_reader();
}

/* Sets the policy in force. If registers cannot be guarded, "guarded" means "off". */
static void policy_choose(void)
{
	static DEFINE_MUTEX(mutex);
	unsigned int policy;

	mutex_lock(&mutex);
	policy = READ_ONCE(perfctr_user_read_asked);
	if (policy == PERFCTR_USER_READ_GUARDED && !perfctr_cpu_can_guard())
		policy = PERFCTR_USER_READ_OFF;
	WRITE_ONCE(perfctr_user_read, policy);
	mutex_unlock(&mutex);
}

static void policy_follow(struct work_struct *work)
{
	bool off = READ_ONCE(perfctr_user_read) == PERFCTR_USER_READ_OFF;

	mutex_lock(&wide_mutex);
	giving_begins();
	if (perfctr_cpu_withhold(PERFCTR_WITHHELD_POLICY, off))
		perfctr_run(look_at_permission, NULL);
	giving_ends();
	mutex_unlock(&wide_mutex);
}

void perfctr_permit_wide(bool more)
{
	mutex_lock(&wide_mutex);
	if (more && !nr_wide++) {
		if (perfctr_cpu_withhold(PERFCTR_WITHHELD_CPUS, true))
			perfctr_run(look_at_permission, NULL);
	} else if (!more && !--nr_wide) {
		giving_begins();
		if (perfctr_cpu_withhold(PERFCTR_WITHHELD_CPUS, false))
			perfctr_run(look_at_permission, NULL);
		giving_ends();
	}
	mutex_unlock(&wide_mutex);
}

static DECLARE_DELAYED_WORK(policy_work, policy_follow);

static void policy_changed(void)
{
	if (READ_ONCE(perfctr_user_read) == PERFCTR_USER_READ_OFF && perfctr_cpu_mm_any_given()) {
		mod_delayed_work(perfctr_wq, &policy_work, PERFCTR_READER_DELAY);
		return;
	}
	cancel_delayed_work_sync(&policy_work);
	policy_follow(NULL);
}

/*
 * When this returns, no thread may read registers, and a thread that was about to read a register
 * has had the time to do so.
 */
static void guard_ends(void)
{
	perfctr_policy_changed();
	if (READ_ONCE(perfctr_user_read) == PERFCTR_USER_READ_OFF && perfctr_cpu_mm_any_given())
		msleep(jiffies_to_msecs(PERFCTR_READER_DELAY));
	flush_delayed_work(&policy_work);
}

int perfctr_permit_init(void)
{
	perfctr_cpu_permit_init(permission_changes, clock_hides);
	perfctr_cpu_guard_init(guard_ends);
	policy_choose();
	/* No process has a permission yet, so none has to be taken back. */
	perfctr_cpu_withhold(PERFCTR_WITHHELD_POLICY, perfctr_user_read == PERFCTR_USER_READ_OFF);
	return 0;
}

void perfctr_permit_exit(void)
{
	perfctr_cpu_guard_exit();
	cancel_delayed_work_sync(&policy_work);
	perfctr_cpu_withhold(PERFCTR_WITHHELD_POLICY, false);
	perfctr_cpu_permit_exit();
}
#else
bool perfctr_permit(void)
{
	return true;
}

void perfctr_forbid(struct mm_struct *mm)
{
}

static void policy_choose(void)
{
	WRITE_ONCE(perfctr_user_read, READ_ONCE(perfctr_user_read_asked));
}

static void policy_changed(void)
{
}

void perfctr_permit_wide(bool more)
{
}

int perfctr_permit_init(void)
{
	return 0;
}

void perfctr_permit_exit(void)
{
}
#endif

void perfctr_policy_changed(void)
{
	policy_choose();
	/* This suspends every running state, and resumes it by the new policy. */
	cpus_read_lock();
	perfctr_run(look_at_permission, NULL);
	cpus_read_unlock();
	policy_changed();
}
