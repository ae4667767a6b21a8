/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one interface between the services above it and the
 * counters of an architecture. An arch knows registers and no threads, and
 * never calls up except through the perfctr_run_t that it is handed.
 *
 * A perfctr_config is what a control asks of the hardware. Equal controls of a user
 * share one config, and equal ones of others, on the same counters, have the same id:
 * a CPU whose active id is the state's own needs nothing written.
 */
#ifndef PERFCTR_LOWLEVEL_H
#define PERFCTR_LOWLEVEL_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/perfctr.h>

#include "compat.h"

/* Counters of one control that the drivers have at most: masks of them have 32 bits. */
#define PERFCTR_MAX_HW	32

/* In the id of a config: its counters count user mode alone. Ids rise by PERFCTR_ID_STEP. */
#define PERFCTR_ID_USER	1UL
#define PERFCTR_ID_STEP	8UL

struct perfctr_user;

/**
 * struct perfctr_config - one set of counters, shared by all states of a user that want it
 * @node: in config.c's table; config_mutex
 * @unused: in config.c's list of those without users
 * @users: who may count by it: while there is one, and it is not @evicted, it is claimed.
 *	Only config.c raises it from zero
 * @refs: who may look at it: each user, and those that were one; and config.c's table
 * @id: that of all which want the same of the same counters, and of no other ever; not 0;
 *	with PERFCTR_ID_USER. config_mutex; read by whoever is a user
 * @uid: the user whose controls have it; constant
 * @user: that user's account; NULL without counters; constant, while it is in the table
 * @hash: where it is in the table; constant
 * @evicted: it was claimed, and is no more: who counts by it is lost
 * @hw: hardware counter of each of the @nr; set by perfctr_cpu_claim(), then constant
 * @mask: the same as a bit map
 * @imask: those of the i-mode counters
 * @arch_mask: the others, in the numbers of the arch, if it has its own
 * @core: the type of core that it counts on, in the numbers of the arch; constant
 * @nr: number of counters; 0 is a control of the clock alone
 * @nr_ictrs: how many of them, the last ones, are i-mode counters: those whose
 *	ireset is not zero
 * @ctr: what was asked, as the user gave it; constant
 */
struct perfctr_config {
	struct hlist_node node;
	struct list_head unused;
	atomic_t users;
	refcount_t refs;
	unsigned long id;
	kuid_t uid;
	struct perfctr_user *user;
	u32 hash;
	bool evicted;
	u32 mask;
	u32 imask;
	unsigned long arch_mask;
	u32 core;
	u8 hw[PERFCTR_MAX_HW];
	u32 nr;
	u32 nr_ictrs;
	struct perfctr_ctr_control ctr[] __counted_by(nr);
};

/**
 * struct perfctr_refusal - what of a control was refused, and who has it
 * @owner: PERFCTR_OWNER_*: with EBUSY, who probably has what was wanted
 * @index: the counter that was refused, in the order of the control, or
 *	PERFCTR_NO_INDEX if it is no single one
 */
struct perfctr_refusal {
	u32 owner;
	u32 index;
};

/* The first i-mode counter, if there are any */
static inline u32 perfctr_config_nr_actrs(const struct perfctr_config *config)
{
	return config->nr - config->nr_ictrs;
}

/**
 * struct perfctr_cpu_ctr - one counter of a state
 * @read: how its register is read (arch)
 * @acc: while suspended the sum; while resumed sum - start, so that the count
 *	is @acc plus the register. The classic pair sum/start, folded into one
 */
struct perfctr_cpu_ctr {
	unsigned long read;
	u64 acc;
};

/**
 * struct perfctr_cpu_state - sums of the clock and all counters
 * @clock: as perfctr_cpu_ctr.acc, for the clock
 * @end: one past the last counter in use
 * @ctr: the counters; registers never wrap while they are in use
 *	(perfctr_cpu_age()), so no mask is needed here
 *
 * Touched only with interrupts off on the CPU where the owner runs, or, while
 * the owner does not run, by nobody; see struct vperfctr for readers.
 */
struct perfctr_cpu_state {
	u64 clock;
	struct perfctr_cpu_ctr *end;
	struct perfctr_cpu_ctr ctr[];
};

/**
 * typedef perfctr_run_t - run something on every CPU that is told of claims
 *
 * Those are the online ones, less isolated ones where nobody counts: these join later,
 * by perfctr_cpu_join_claims(). Calls fn(arg) on each with interrupts off and no state
 * resumed there, so that counters may be reprogrammed. Returns 0, or the error of some
 * CPU where it failed; the others have been called all the same. May sleep; the caller
 * holds the CPU hotplug lock.
 */
typedef int (*perfctr_run_t)(int (*fn)(void *arg), void *arg);

/**
 * typedef perfctr_ihandler_t - an overflow interrupt, of whoever's counter
 *
 * Called on its CPU with interrupts off, as an interrupt: as it begins (@ends is
 * false), when the current state is suspended and looked at, and as it ends.
 */
typedef void (*perfctr_ihandler_t)(bool ends);

/* May fail with ENODEV where there is nothing to count with, not even a clock. */
int perfctr_cpu_init(void);
void perfctr_cpu_exit(void);

/* Frequency of the clock, Hz. */
u64 perfctr_cpu_clock_hz(void);

/* Most counters that one control can have; constant after init. */
unsigned int perfctr_cpu_nrctrs(void);

/* Fills in what the processor decides. */
void perfctr_cpu_info(struct perfctr_info *info);

/*
 * Is the control one that this processor can ever count? 0, or EINVAL or EOPNOTSUPP
 * and why->index. Sets *kernel if it counts, or may count, anything but user mode.
 * May sleep.
 */
int perfctr_cpu_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
		      struct perfctr_refusal *why);

/*
 * Of what type are the CPUs where current may run? EXDEV: of several, which do not
 * count the same, or of one that cannot count. The hotplug lock is held.
 */
int perfctr_cpu_core(u32 *core);

/* Is that CPU, which is online, one that cannot count as the others do? */
bool perfctr_cpu_is_forbidden(unsigned int cpu);

/*
 * Get every counter of the config on every online CPU, or none: EBUSY, EINVAL for
 * an event that turns out not to exist; both set *why. config_mutex and the hotplug
 * lock are held.
 */
int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why);
/*
 * Give back what no other config needs; but where processes are permitted to read
 * registers, perfctr_cpu_lingers() may be true then. Same locks.
 */
void perfctr_cpu_unclaim(struct perfctr_config *config, perfctr_run_t run);

/* What was asked with PERFCTR_MAP_ANY, as it is asked of the hardware counter it came to be. */
void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw);

/* Hear interrupts; NULL: no more, and nobody runs the handler when it returns. May sleep. */
int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler);
/* In the handler: it was user mode that was interrupted. False: or that is not known. */
bool perfctr_cpu_interrupted_user(void);

/*
 * CPU hotplug. prepare: a CPU, which is down, will come. reserve and unreserve:
 * it has come, or it goes, and it is a thread of the kernel's there that calls,
 * and may sleep; config_mutex is held.
 */
void perfctr_cpu_prepare(unsigned int cpu);
void perfctr_cpu_reserve(unsigned int cpu);
void perfctr_cpu_unreserve(unsigned int cpu);
/*
 * On the CPU, interrupts off: get what the live configs need, whatever it has,
 * as it has come, or may have lost its registers in a deep sleep; give all back.
 */
void perfctr_cpu_online(void);
void perfctr_cpu_offline(void);
/*
 * The same, get, where the CPU was not run on as what is live was claimed. What is
 * claimed or given back at the same time runs here as well, if this does not see it: so
 * it is noted before perfctr_run_t, whichever of the two it is.
 */
void perfctr_cpu_join_claims(void);

/*
 * Set back the counters that are past half of their range. perfctr_cpu_age_period()
 * says how often, in jiffies; 0 is never. perfctr_run_t's conditions.
 */
int perfctr_cpu_age(void *unused);
unsigned long perfctr_cpu_age_period(void);

/* That of counters of so many bits, of events of which a second has up to 2^@max_rate_shift. */
static inline unsigned long perfctr_age_period(unsigned int width, unsigned int max_rate_shift)
{
	unsigned long second = HZ;

	/* What is found below half of its range must not wrap before the next look. */
	if (width - 2 <= max_rate_shift)
		return max(1UL, second >> (max_rate_shift + 2 - width));
	return second << min(width - 2 - max_rate_shift, 16U);
}

/*
 * The rest is the hot path, inline in the header of the arch. Interrupts are off.
 *
 * PERFCTR_CPU_APART
 *	of a way through the hot path that is not the quickest: noinline or __always_inline
 * bool perfctr_cpu_holds(const struct perfctr_config *)
 *	this CPU's counters count that config now
 * bool perfctr_cpu_holds_on(int cpu, unsigned long id)
 *	the same by its id, where the caller knows the number of this CPU
 * int perfctr_cpu_load(const struct perfctr_config *)
 *	make it so; EIO if a counter cannot be had, or this CPU is of another type
 * void perfctr_cpu_faults_begin(void), bool perfctr_cpu_faulted(void),
 * void perfctr_cpu_faults_end(void)
 *	around stores to user memory in a system call of current: either they fail
 *	where a page must be fetched first, or faulted says that one was, or may have
 *	been. Both are for who is not switched out meanwhile
 * u64 perfctr_cpu_clock(void), u64 perfctr_cpu_read(const struct perfctr_cpu_ctr *)
 * void perfctr_cpu_bind(struct perfctr_cpu_ctr *, unsigned int hw)
 *	set @read for a hardware counter
 *
 * i-mode counters run while a state that has them is resumed, and no longer. Their
 * registers start from a negative value and interrupt as they come to zero:
 * unsigned int perfctr_cpu_iwidth(void)
 *	how many bits perfctr_cpu_read() gives of one, the highest of which is its sign
 * u64 perfctr_cpu_irange(void)
 *	the most that a register can be from its interrupt
 * int perfctr_cpu_istart(const struct perfctr_config *, const u64 *value)
 *	the config is held; start its i-mode counters from these values, which are
 *	negative. NULL: from where they stopped, if perfctr_cpu_istopped(). EAGAIN:
 *	not now, as an interrupt waits; try again as it ends. EIO: a counter failed
 * void perfctr_cpu_istop(const struct perfctr_config *, const void *id)
 *	stop them. What overflowed meanwhile interrupts no more
 * void perfctr_cpu_iclear(const struct perfctr_config *)
 *	stop them, and let their registers hold zero
 * bool perfctr_cpu_istopped(const void *id)
 *	those that were stopped last here were stopped with this id, and nobody
 *	touched them since
 *
 * User reads:
 * u64 perfctr_cpu_thread_pointer(task): of current, or of a child that it makes, as
 *	user space sees it
 * unsigned int perfctr_cpu_slot(config, i), PERFCTR_CPU_CLOCK_SLOT
 * bool perfctr_cpu_clock_hidden(void): current may not read the clock in user mode
 * bool perfctr_cpu_user_readable(config, policy): may its registers be shown at all?
 * bool perfctr_cpu_user_permitted(void): of current, whose registers were shown before: may
 *	they be again? For who is dead any answer will do
 * u32 perfctr_cpu_operand(unsigned int hw): what an instruction that reads it names it
 * unsigned long perfctr_cpu_grant(config), void perfctr_cpu_revoke(u32 granted)
 *	give and take the permission to read the registers in user mode
 * bool perfctr_cpu_private(config, uid): nothing but threads of that user that
 *	may read the registers of config ran since these were zero, or they stood
 * kuid_t perfctr_cpu_private_user(void): that user, while they are private
 * bool perfctr_cpu_runs(void): they run, if they are private
 * int perfctr_cpu_restart(config, uid): let them run, from zero unless they are
 *	private; private to uid, and so not held for others, until loaded. EIO as there
 * void perfctr_cpu_leave(void): the thread leaves that they are private to, if they
 *	are: they stop, or are private to nobody
 * void perfctr_cpu_join(const struct task_struct *next): but it leaves them to another
 *	that they are private to as well
 * void perfctr_cpu_share(void): private to nobody, held for everybody if they run:
 *	whoever wants it private again restarts it
 *
 * Where the kernel permits processes, and not threads, to read registers, the arch
 * defines PERFCTR_CPU_PERMITS_PROCESSES. Then threads come to a CPU of which we know
 * nothing else, and what they find in its registers must be theirs:
 * bool perfctr_cpu_is_permitted(task)
 * bool perfctr_cpu_may_see(task): of a permitted one: what is in the registers is its mm's
 * void perfctr_cpu_scrub(task): else: stop, zero all. No state is resumed
 * void perfctr_cpu_permit_init(changes, hides), void perfctr_cpu_permit_exit(void): may sleep;
 *	changes(false) is called, and then changes(true), around what others do to the
 *	permission and to registers, on the CPU where they do it, with interrupts off.
 *	hides() after perfctr_cpu_clock_hidden() may have changed for current, if the
 *	kernel lets us know
 * int perfctr_cpu_mm_get(mm), bool perfctr_cpu_mm_put(mm): there is one more, or one
 *	less, map of a page in it. May sleep; what get allocates may be denied (ENOMEM).
 *	put says whether it was permitted, and now is not
 * bool perfctr_cpu_mm_waits(mm): it has maps, but not the permission
 * bool perfctr_cpu_mm_permit(mm): give it; false if it does not wait any more.
 *	perfctr_cpu_update_permission() on each CPU makes it so. May sleep
 * void perfctr_cpu_mm_forked(mm): of a child that has not run yet: no map is its own
 * void perfctr_cpu_giving(bool): from now on, or no more, all that may be permitted
 *	soon is taken for permitted
 * bool perfctr_cpu_mm_any_given(void): is it given to any? May sleep
 * bool perfctr_cpu_lingers(void): no config has counters, but they are not given back,
 *	as somebody may be about to read one
 * void perfctr_cpu_give_back(run): if so, they are: nobody may read them any more. As
 *	perfctr_cpu_unclaim()
 * bool perfctr_cpu_withhold(bool): take it from all, or give it back; true if that
 *	is a change. The rest as with permit
 * void perfctr_cpu_update_permission(void): let this CPU know what the mm it is in may
 *	do. Interrupts are off, and no state is resumed
 */
#if defined(CONFIG_RISCV)
#include "arch/riscv/perfctr_cpu.h"
#elif defined(CONFIG_X86)
#include "arch/x86/perfctr_cpu.h"
#else
#error "perfctr has no driver for this architecture"
#endif

#ifndef PERFCTR_CPU_PERMITS_PROCESSES
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
#else
bool perfctr_cpu_lingers(void);
void perfctr_cpu_give_back(perfctr_run_t run);
#endif

/* Can one thread have what the others of its process have not? */
static inline bool perfctr_cpu_permits_threads(void)
{
#ifdef PERFCTR_CPU_PERMITS_PROCESSES
	return false;
#else
	return true;
#endif
}

/* The clock alone goes on: subtract it, add it. */
static __always_inline void perfctr_cpu_resume_clock(struct perfctr_cpu_state *state)
{
	state->clock -= perfctr_cpu_clock();
}

static __always_inline void perfctr_cpu_suspend_clock(struct perfctr_cpu_state *state)
{
	state->clock += perfctr_cpu_clock();
}

/* Subtract the registers. @some: it is known that there are counters. */
static __always_inline void perfctr_cpu_resume(struct perfctr_cpu_state *state, bool some)
{
	struct perfctr_cpu_ctr *ctr = state->ctr, *end = state->end;

	if (some || ctr != end) {
		do {
			ctr->acc -= perfctr_cpu_read(ctr);
		} while (++ctr != end);
	}
	perfctr_cpu_resume_clock(state);
}

/* Add them, again. */
static __always_inline void perfctr_cpu_suspend(struct perfctr_cpu_state *state)
{
	struct perfctr_cpu_ctr *ctr, *end = state->end;

	perfctr_cpu_suspend_clock(state);
	for (ctr = state->ctr; ctr != end; ctr++)
		ctr->acc += perfctr_cpu_read(ctr);
}

/* @slot: where @to's bias goes as well, or NULL */
static __always_inline void perfctr_cpu_hand_over_one(struct perfctr_cpu_ctr *from,
						      struct perfctr_cpu_ctr *to,
						      struct perfctr_page_slot *slot)
{
	u64 value = perfctr_cpu_read(from);

	from->acc += value;
	to->acc -= value;
	if (slot)
		slot->bias = to->acc;
}

/*
 * perfctr_cpu_suspend() of one state, which has counters, and perfctr_cpu_resume() of
 * another whose config, @config, has the same id: each register is read once. Two at a
 * time, since the loop itself takes a third as long as what it does. @slot: of @to's
 * page, with @show
 */
static __always_inline void perfctr_cpu_hand_over(struct perfctr_cpu_state *from,
						  struct perfctr_cpu_state *to,
						  const struct perfctr_config *config,
						  struct perfctr_page_slot *slot, bool show)
{
	struct perfctr_cpu_ctr *ctr = from->ctr, *end = from->end, *last = end - 1;
	struct perfctr_cpu_ctr *other = to->ctr;
	u64 now = perfctr_cpu_clock();
	unsigned long i = 0;

	from->clock += now;
	to->clock -= now;
	do {
		perfctr_cpu_hand_over_one(ctr, other,
					  show ? &slot[perfctr_cpu_slot(config, i)] : NULL);
		if (ctr == last)
			break;
		perfctr_cpu_hand_over_one(ctr + 1, other + 1,
					  show ? &slot[perfctr_cpu_slot(config, i + 1)] : NULL);
		ctr += 2;
		other += 2;
		i += 2;
	} while (ctr != end);
}

#endif /* PERFCTR_LOWLEVEL_H */
