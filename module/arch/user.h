/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers that user mode reads, as each architecture's driver knows them: what a page shows, who
 * may read registers, and whose counts they hold meanwhile. Interrupts are off, but where a
 * function may sleep.
 */
#ifndef PERFCTR_CPU_USER_H
#define PERFCTR_CPU_USER_H

#include "arch/cpu.h"

/*
 * What a page shows
 */

/* The thread pointer of current, or of a child that it makes, as user space sees it */
PERFCTR_CPU_FN(u64, perfctr_cpu_thread_pointer, struct task_struct *task);
/* The place in a page of counter @i of that config. The clock's is PERFCTR_CPU_CLOCK_SLOT. */
PERFCTR_CPU_FN(unsigned long, perfctr_cpu_slot, const struct perfctr_config *config,
	       unsigned long i);
/* The counter's name in an instruction that reads it */
PERFCTR_CPU_FN(u32, perfctr_cpu_operand, unsigned int hw);
/* May current not read the clock in user mode? PERFCTR_CPU_HIDES_CLOCK: that may change. */
PERFCTR_CPU_FN(bool, perfctr_cpu_clock_hidden, void);

static inline bool perfctr_cpu_hides_clock(void)
{
#ifdef PERFCTR_CPU_HIDES_CLOCK
	return true;
#else
	return false;
#endif
}

/* May a page show registers of that config at all? @policy: PERFCTR_USER_READ_* */
PERFCTR_CPU_FN(bool, perfctr_cpu_user_readable, const struct perfctr_config *config,
	       unsigned int policy);
/* May user mode read them here and now? Of a thread that is dead any answer is right. */
PERFCTR_CPU_FN(bool, perfctr_cpu_user_permitted, const struct perfctr_config *config);
/*
 * Give and take the permission to read registers in user mode. PERFCTR_CPU_PERMITS_THREADS: a
 * thread may have it when others of its process have not.
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
 * Registers that are private
 *
 * They are private to a user's threads of one kin (kin.c) if, since they were zero, they ran for
 * these alone. Then these may read them.
 */

PERFCTR_CPU_FN(bool, perfctr_cpu_private, unsigned long kin, kuid_t uid);
/* That user. If they are private to nobody: any user */
PERFCTR_CPU_FN(kuid_t, perfctr_cpu_private_user, void);
/* They are private: do they run? */
PERFCTR_CPU_FN(bool, perfctr_cpu_runs, void);
/*
 * Lets them run, private to these; from zero, if they were not private to them already. This CPU
 * holds the config for others only after perfctr_cpu_load(). EIO as there
 */
PERFCTR_CPU_FN(int, perfctr_cpu_restart, const struct perfctr_config *config, unsigned long kin,
	       kuid_t uid);
/* The thread to which they may be private leaves. They stop, or are not private any more. */
PERFCTR_CPU_FN(void, perfctr_cpu_leave, void);
/* The same, but the next thread is kin, and they stay private to it. */
PERFCTR_CPU_FN(void, perfctr_cpu_join, const struct task_struct *next);
/* They become private to nobody. If they run they count for everybody from now on. */
PERFCTR_CPU_FN(void, perfctr_cpu_share, void);

/*
 * PERFCTR_CPU_ALWAYS_READABLE: some processors let user mode read registers, and nobody can forbid
 * that. Unless the policy is open, they are private to a user there whenever they are not zero.
 * always_readable: is that so here?
 * rest: stops and zeroes them all, while no state is resumed. There leave and share do that, too,
 * if they are private.
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
 * PERFCTR_CPU_PERMITS_PROCESSES: the kernel permits processes, and not threads, to read registers.
 * All threads of such a process may read them. So they must hold nothing of others when one comes
 * to a CPU.
 */
#ifdef PERFCTR_CPU_PERMITS_PROCESSES
PERFCTR_CPU_FN(bool, perfctr_cpu_is_permitted, const struct task_struct *task);
/* It is permitted: do the registers hold nothing but its own mm's counts? */
PERFCTR_CPU_FN(bool, perfctr_cpu_may_see, const struct task_struct *task);
/* They do hold others': stops and zeroes them. No state is resumed. */
PERFCTR_CPU_FN(void, perfctr_cpu_scrub, const struct task_struct *next);
/*
 * changes: called with false before others change the permission or the registers, and with true
 * after that; on that CPU, with interrupts off. hides: called after perfctr_cpu_clock_hidden() may
 * have changed for current, if the kernel says so. May sleep
 */
void perfctr_cpu_permit_init(void (*changes)(bool ends), void (*hides)(void));
void perfctr_cpu_permit_exit(void);
/* Can user mode read no counters but ours? Else the policy "guarded" cannot hold. */
bool perfctr_cpu_can_guard(void);
/*
 * ends: called if that ends, before there is anything to be read. It ends at most once. May sleep,
 * as ends() may
 */
void perfctr_cpu_guard_init(void (*ends)(void));
void perfctr_cpu_guard_exit(void);
/*
 * mm has mapped one page more, or one less. get: ENOMEM. put: true: it was permitted, and is not
 * any more. May sleep
 */
int perfctr_cpu_mm_get(struct mm_struct *mm);
bool perfctr_cpu_mm_put(struct mm_struct *mm);
/* Has it mapped pages, but no permission? */
bool perfctr_cpu_mm_waits(struct mm_struct *mm);
/*
 * Permits it. False: it does not wait any more. In force on a CPU after
 * perfctr_cpu_update_permission() there. May sleep
 */
bool perfctr_cpu_mm_permit(struct mm_struct *mm);
/* It is a child's that has not run yet: it has mapped no page. */
void perfctr_cpu_mm_forked(struct mm_struct *mm);
/* While true, each mm counts as permitted, as one may soon be. */
PERFCTR_CPU_FN(void, perfctr_cpu_giving, bool giving);
/* Is any mm permitted? May sleep */
bool perfctr_cpu_mm_any_given(void);
/* Does no config have counters, which are kept all the same, as somebody may be about to read? */
bool perfctr_cpu_lingers(void);
/* Gives back counters that linger. As perfctr_cpu_unclaim() */
void perfctr_cpu_give_back(perfctr_run_t run);
/* Why no process may read registers */
#define PERFCTR_WITHHELD_POLICY		1u	/* the policy is `off` */
#define PERFCTR_WITHHELD_CPUS		2u	/* they count for CPUs, and so for everybody */
/*
 * Takes the permission from all mms, or gives it back if no other reason is left. True: that is a
 * change. In force as after mm_permit
 */
bool perfctr_cpu_withhold(unsigned int why, bool withhold);
/* Tells this CPU what its mm may do. Interrupts are off, and no state is resumed. */
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
