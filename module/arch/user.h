/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers that user mode reads: what a page shows, who may read registers, and whose counts they
 * hold while somebody may. Interrupts are off, except in functions that may sleep.
 */
#ifndef PERFCTR_CPU_USER_H
#define PERFCTR_CPU_USER_H

#include "arch/cpu.h"

/*
 * What a page shows
 */

/* The thread pointer, as user space sees it, of current or of a child that it is making */
PERFCTR_CPU_FN(u64, perfctr_cpu_thread_pointer, struct task_struct *task);
/* The slot of counter @i of that config in a page. The clock's slot is PERFCTR_CPU_CLOCK_SLOT. */
PERFCTR_CPU_FN(unsigned long, perfctr_cpu_slot, const struct perfctr_config *config,
	       unsigned long i);
/* The operand that selects the counter in an instruction that reads it */
PERFCTR_CPU_FN(u32, perfctr_cpu_operand, unsigned int hw);
/* Is user mode of current forbidden to read the clock? PERFCTR_CPU_HIDES_CLOCK: this may change. */
PERFCTR_CPU_FN(bool, perfctr_cpu_clock_hidden, void);

static inline bool perfctr_cpu_hides_clock(void)
{
#ifdef PERFCTR_CPU_HIDES_CLOCK
	return true;
#else
	return false;
#endif
}

/* May a page ever show registers of that config? @policy: PERFCTR_USER_READ_* */
PERFCTR_CPU_FN(bool, perfctr_cpu_user_readable, const struct perfctr_config *config,
	       unsigned int policy);
/* May user mode read them here and now? For a dead thread either answer will do. */
PERFCTR_CPU_FN(bool, perfctr_cpu_user_permitted, const struct perfctr_config *config);
/*
 * Grant and revoke the permission to read registers in user mode. PERFCTR_CPU_PERMITS_THREADS: one
 * thread of a process may have it while others have not.
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
/* The user to whom the registers are private. If they are private to nobody: any user */
PERFCTR_CPU_FN(kuid_t, perfctr_cpu_private_user, void);
/* The registers are private. Do they run? */
PERFCTR_CPU_FN(bool, perfctr_cpu_runs, void);
/*
 * Lets the registers run, private to these threads. They start from zero, unless they were private
 * to them already. Other threads can use the config here only after perfctr_cpu_load(). EIO as
 * there.
 */
PERFCTR_CPU_FN(int, perfctr_cpu_restart, const struct perfctr_config *config, unsigned long kin,
	       kuid_t uid);
/* The thread to which the registers may be private is leaving. They stop, or stop being private. */
PERFCTR_CPU_FN(void, perfctr_cpu_leave, void);
/* The same, but the next thread is kin, so the registers stay private to it. */
PERFCTR_CPU_FN(void, perfctr_cpu_leave_to_kin, const struct task_struct *next);
/* Makes the registers private to nobody. If they run, they count for everybody from now on. */
PERFCTR_CPU_FN(void, perfctr_cpu_make_public, void);

/*
 * PERFCTR_CPU_ALWAYS_READABLE: on some processors user mode can always read registers; nobody can
 * forbid it. There, unless the policy is open, registers that are not zero are private to a user.
 * always_readable: is this such a processor?
 * rest: stops and zeroes all registers, while no state is resumed. On such a processor leave()
 * and make_public() do so too, if the registers are private.
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
 * single thread. All threads of that process may then read them. So the registers must hold nothing
 * of others when such a thread comes to a CPU.
 */
#ifdef PERFCTR_CPU_PERMITS_PROCESSES
PERFCTR_CPU_FN(bool, perfctr_cpu_is_permitted, const struct task_struct *task);
/* The task is permitted. Do the registers hold only counts of its own mm? */
PERFCTR_CPU_FN(bool, perfctr_cpu_may_see, const struct task_struct *task);
/* The registers hold counts of others: stops and zeroes them. No state is resumed. */
PERFCTR_CPU_FN(void, perfctr_cpu_scrub, const struct task_struct *next);
/*
 * Sets two callbacks. changes: called with false before others change the permission or the
 * registers, and with true after that; on that CPU, with interrupts off. hides: called when
 * perfctr_cpu_clock_hidden() may have changed for current, if the kernel reports that. May sleep.
 */
void perfctr_cpu_permit_init(void (*changes)(bool ends), void (*hides)(void));
void perfctr_cpu_permit_exit(void);
/*
 * Are our counters the only ones that user mode can read? If not, the policy "guarded" cannot hold.
 */
bool perfctr_cpu_can_guard(void);
/*
 * ends() is called when perfctr_cpu_can_guard() becomes false, before user mode can read anything
 * else. This happens at most once. May sleep; so may ends().
 */
void perfctr_cpu_guard_init(void (*ends)(void));
void perfctr_cpu_guard_exit(void);
/*
 * mm has mapped one page more, or one page less. get: may return ENOMEM. put: returns true if this
 * took the permission from mm. May sleep.
 */
int perfctr_cpu_mm_get(struct mm_struct *mm);
bool perfctr_cpu_mm_put(struct mm_struct *mm);
/* Has mm mapped pages without having the permission yet? */
bool perfctr_cpu_mm_waits(struct mm_struct *mm);
/*
 * Permits mm. False: mm is not waiting for permission any more. A CPU applies this when it calls
 * perfctr_cpu_update_permission(). May sleep.
 */
bool perfctr_cpu_mm_permit(struct mm_struct *mm);
/* mm belongs to a child that has not run yet, so it has mapped no page. */
void perfctr_cpu_mm_forked(struct mm_struct *mm);
/* While @giving is true each mm counts as permitted, because one may soon be. */
PERFCTR_CPU_FN(void, perfctr_cpu_giving, bool giving);
/* Is any mm permitted? May sleep */
bool perfctr_cpu_mm_any_given(void);
/* Do the counters linger? No config has them, but somebody may be about to read them. */
bool perfctr_cpu_lingers(void);
/* Gives back counters that linger. Same locks as perfctr_cpu_unclaim(). */
void perfctr_cpu_give_back(perfctr_run_t run);
/* Why no process may read registers */
#define PERFCTR_WITHHELD_POLICY		1u	/* the policy is `off` */
#define PERFCTR_WITHHELD_CPUS		2u	/* sessions count everybody by these counters */
/*
 * Takes the permission from all mms, or gives it back if no other reason is left. Returns true if
 * that changed something. CPUs apply it as after mm_permit.
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
