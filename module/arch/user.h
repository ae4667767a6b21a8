/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This header is about registers that user mode reads: what a page shows, who may read registers,
 * and whose counts the registers hold while user mode may read them. Interrupts are off, except in
 * functions that may sleep.
 */
#ifndef PERFCTR_CPU_USER_H
#define PERFCTR_CPU_USER_H

#include "arch/cpu.h"

/*
 * What a page shows
 */

/*
 * Returns the thread pointer, as user space sees it, of current or of a child that current is
 * making.
 */
PERFCTR_CPU_FN(u64, perfctr_cpu_thread_pointer, struct task_struct *task);
/*
 * Returns the slot of counter @i of the config in a page. The clock's slot is
 * PERFCTR_CPU_CLOCK_SLOT.
 */
PERFCTR_CPU_FN(unsigned long, perfctr_cpu_slot, const struct perfctr_config *config,
	       unsigned long i);
/* Returns the operand that selects the counter in an instruction that reads it. */
PERFCTR_CPU_FN(u32, perfctr_cpu_operand, unsigned int hw);
/*
 * Returns true if user mode of current may not read the clock. PERFCTR_CPU_HIDES_CLOCK is defined
 * if the answer may change.
 */
PERFCTR_CPU_FN(bool, perfctr_cpu_clock_hidden, void);

static inline bool perfctr_cpu_hides_clock(void)
{
#ifdef PERFCTR_CPU_HIDES_CLOCK
	return true;
#else
	return false;
#endif
}

/* Returns true if a page may ever show registers of the config. @policy: PERFCTR_USER_READ_* */
PERFCTR_CPU_FN(bool, perfctr_cpu_user_readable, const struct perfctr_config *config,
	       unsigned int policy);
/*
 * Returns true if user mode may read the registers of the config here and now. If current is a dead
 * thread, either result will do.
 */
PERFCTR_CPU_FN(bool, perfctr_cpu_user_permitted, const struct perfctr_config *config);
/*
 * These functions grant and revoke the permission to read registers in user mode.
 * PERFCTR_CPU_PERMITS_THREADS: one thread of a process may have the permission while other threads
 * have not.
 */
PERFCTR_CPU_FN(unsigned long, perfctr_cpu_grant, const struct perfctr_config *config);
PERFCTR_CPU_FN(void, perfctr_cpu_revoke, u32 granted);

static inline bool perfctr_cpu_permits_threads(void)
{
#ifdef PERFCTR_CPU_PERMITS_THREADS
	return true;
#else
	return false;
#endif
}

/*
 * Private registers
 *
 * Registers are private to a user's threads of one kin (kin.c) if they have run for these threads
 * alone since they were zero. Then these threads may read them.
 */

PERFCTR_CPU_FN(bool, perfctr_cpu_private, unsigned long kin, kuid_t uid);
/* Returns the user to whom the registers are private, or any user if they are private to nobody. */
PERFCTR_CPU_FN(kuid_t, perfctr_cpu_private_user, void);
/* Returns true if the registers run. Call this only if they are private. */
PERFCTR_CPU_FN(bool, perfctr_cpu_runs, void);
/*
 * Lets the registers run, private to the threads of that kin and user. The registers start from
 * zero, unless they were already private to these threads. Other threads can use the config here
 * only after perfctr_cpu_load(). Returns 0, or -EIO for the same reasons as perfctr_cpu_load().
 */
PERFCTR_CPU_FN(int, perfctr_cpu_restart, const struct perfctr_config *config, unsigned long kin,
	       kuid_t uid);
/*
 * Call this when the CPU switches away from the thread to which the registers may be private. The
 * registers stop, or stop being private.
 */
PERFCTR_CPU_FN(void, perfctr_cpu_leave, void);
/*
 * Call this instead of perfctr_cpu_leave() if the next thread is kin. The registers stay private to
 * it.
 */
PERFCTR_CPU_FN(void, perfctr_cpu_leave_to_kin, const struct task_struct *next);
/* Makes the registers private to nobody. If they run, they count for all threads from now on. */
PERFCTR_CPU_FN(void, perfctr_cpu_make_public, void);

/*
 * PERFCTR_CPU_ALWAYS_READABLE: on some processors user mode can always read registers, and the
 * kernel cannot forbid it. On such a processor, unless the policy is open, registers that are not
 * zero are private to a user.
 * always_readable: returns true if this is such a processor.
 * rest: stops and zeroes all registers, while no state is resumed. On such a processor, leave() and
 * make_public() do the same if the registers are private.
 */
#ifdef PERFCTR_CPU_ALWAYS_READABLE
PERFCTR_CPU_FN(bool, perfctr_cpu_always_readable, void);
PERFCTR_CPU_FN(void, perfctr_cpu_rest, void);
#else
static __always_inline bool perfctr_cpu_always_readable(void)
{
	return false;
}

static inline void perfctr_cpu_rest(void)
{
}
#endif

/*
 * PERFCTR_CPU_PERMITS_PROCESSES: the kernel can permit a process to read registers, but not a
 * single thread. All threads of that process may then read registers. So the registers must hold
 * nothing of others when such a thread comes to a CPU.
 */
#ifdef PERFCTR_CPU_PERMITS_PROCESSES
PERFCTR_CPU_FN(bool, perfctr_cpu_is_permitted, const struct task_struct *task);
/*
 * Returns true if the registers hold only counts of the task's own mm. The task must be permitted.
 */
PERFCTR_CPU_FN(bool, perfctr_cpu_may_see, const struct task_struct *task);
/* Stops and zeroes the registers, which hold counts of others. No state is resumed. */
PERFCTR_CPU_FN(void, perfctr_cpu_scrub, const struct task_struct *next);
/*
 * Sets two callbacks. May sleep.
 * changes: called with false before others change the permission or the registers, and with true
 * after the change. It is called on the CPU where they change, with interrupts off.
 * hides: called when the result of perfctr_cpu_clock_hidden() may have changed for current, if the
 * kernel reports that.
 */
void perfctr_cpu_permit_init(void (*changes)(bool ends), void (*hides)(void));
void perfctr_cpu_permit_exit(void);
/*
 * Beside perf, while we have this CPU's counters: calls comes() whenever the kernel is about to let
 * an mm read registers, because the mm comes to this CPU, or has just been permitted. Interrupts
 * are off then. Mostly the kernel is in the middle of a switch, and the next thread is not current
 * yet. NULL: does so no more. Returns 0, or an error if it cannot. May sleep. The caller serializes
 * the calls, and does not hold the hotplug lock.
 */
int perfctr_cpu_watch_readers(void (*comes)(void));
/*
 * Returns true if our counters are the only counters that user mode can read. If they are not, the
 * policy "guarded" cannot hold.
 */
bool perfctr_cpu_can_guard(void);
/*
 * Sets a callback. The driver calls ends() when perfctr_cpu_can_guard() becomes false, before user
 * mode can read other counters. This happens at most once. This function and ends() may sleep.
 */
void perfctr_cpu_guard_init(void (*ends)(void));
void perfctr_cpu_guard_exit(void);
/*
 * Call get when mm has mapped one page more, and put when it has one page less. get returns 0 or
 * -ENOMEM. put returns true if it took the permission from mm. Both may sleep.
 */
int perfctr_cpu_mm_get(struct mm_struct *mm);
bool perfctr_cpu_mm_put(struct mm_struct *mm);
/* Returns true if mm has mapped pages and does not have the permission yet. */
bool perfctr_cpu_mm_waits(struct mm_struct *mm);
/*
 * Permits mm. Returns false if mm is not waiting for permission any more. A CPU applies the
 * permission when it calls perfctr_cpu_update_permission(). May sleep.
 */
bool perfctr_cpu_mm_permit(struct mm_struct *mm);
/* Call this for the mm of a child that has not run yet, and so has mapped no page. */
void perfctr_cpu_mm_forked(struct mm_struct *mm);
/* While @giving is true, each mm counts as permitted, because any mm may soon be permitted. */
PERFCTR_CPU_FN(void, perfctr_cpu_giving, bool giving);
/* Returns true if any mm is permitted. May sleep. */
bool perfctr_cpu_mm_any_given(void);
/*
 * Returns true if the counters linger: no config has them, but somebody may be about to read them.
 */
bool perfctr_cpu_lingers(void);
/* Gives back counters that linger. The caller holds the locks that perfctr_cpu_unclaim() needs. */
void perfctr_cpu_give_back(perfctr_run_t run);
/* These are the reasons why no process may read registers. */
#define PERFCTR_WITHHELD_POLICY		1u	/* the policy is `off` */
#define PERFCTR_WITHHELD_CPUS		2u	/* sessions count everybody by these counters */
/*
 * Adds or removes a reason. Takes the permission from all mms, or gives it back when no reason is
 * left. Returns true if that changed something. A CPU applies the change when it calls
 * perfctr_cpu_update_permission().
 */
bool perfctr_cpu_withhold(unsigned int why, bool withhold);
/* Applies the permission of this CPU's mm. Interrupts are off, and no state is resumed. */
void perfctr_cpu_update_permission(void);
#else
static inline int perfctr_cpu_mm_get(struct mm_struct *mm)
{
	return 0;
}

static inline bool perfctr_cpu_mm_put(struct mm_struct *mm)
{
	return false;
}

static inline bool perfctr_cpu_mm_waits(struct mm_struct *mm)
{
	return false;
}

static inline void perfctr_cpu_mm_forked(struct mm_struct *mm)
{
}

static inline bool perfctr_cpu_is_permitted(const struct task_struct *task)
{
	return false;
}

static inline bool perfctr_cpu_may_see(const struct task_struct *task)
{
	return true;
}

static inline void perfctr_cpu_scrub(const struct task_struct *next)
{
}

static inline bool perfctr_cpu_lingers(void)
{
	return false;
}

static inline void perfctr_cpu_give_back(perfctr_run_t run)
{
}
#endif

#endif /* PERFCTR_CPU_USER_H */
