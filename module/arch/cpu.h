/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of a CPU, as each architecture's driver has them. A driver knows registers of CPUs.
 * Of threads it knows only who may read registers (arch/user.h). It calls folders above only
 * through functions that they hand to it: perfctr_run_t, perfctr_ihandler_t, perfctr_changed_t, and
 * those of perfctr_cpu_permit_init().
 *
 * What is in the hot path is inline in the driver's own header, perfctr_cpu.h. PERFCTR_CPU_FN()
 * is the prototype of such a function, and fails to compile if the driver has another one.
 *
 * Some drivers lack some of this. A driver that has it defines the macro that is named here.
 */
#ifndef PERFCTR_CPU_H
#define PERFCTR_CPU_H

#include <linux/jiffies.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "arch/types.h"

#if defined(CONFIG_ARM64)
#include "arch/arm64/perfctr_cpu.h"
#elif defined(CONFIG_PPC32)
#include "arch/ppc32/perfctr_cpu.h"
#elif defined(CONFIG_RISCV)
#include "arch/riscv/perfctr_cpu.h"
#elif defined(CONFIG_X86)
#include "arch/x86/perfctr_cpu.h"
#else
#error "perfctr has no driver for this architecture"
#endif

#define PERFCTR_CPU_FN(result, name, ...) \
	static_assert(__same_type(result(*)(__VA_ARGS__), &(name)))

struct pt_regs;

/*
 * The processor
 */

/* ENODEV: there is nothing to count with, not even a clock */
int perfctr_cpu_init(void);
void perfctr_cpu_exit(void);

/* Frequency of the clock, Hz */
u64 perfctr_cpu_clock_hz(void);

/* Most counters that one control can have. Constant after init */
unsigned int perfctr_cpu_nrctrs(void);

/* Fills in the members that depend on the processor. */
void perfctr_cpu_info(struct perfctr_kernel_info *info);

/*
 * PERFCTR_CPU_MODELESS: some processors count all modes together. Then each control counts the
 * kernel, and modeless() is true.
 */
#ifdef PERFCTR_CPU_MODELESS
bool perfctr_cpu_modeless(void);
#else
static inline bool perfctr_cpu_modeless(void)
{
	return false;
}
#endif

/*
 * Controls, and who has which counters
 */

/*
 * Could this processor count the control, if it had all counters? 0, or EINVAL or EOPNOTSUPP with
 * why->index. *kernel becomes true if the control counts, or may count, more than user mode. May
 * sleep.
 */
int perfctr_cpu_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
		      struct perfctr_refusal *why);

/* PERFCTR_CPU_MORE_CONFIG: config1 and config2 of an event may have a meaning. */
#ifndef PERFCTR_CPU_MORE_CONFIG
static inline bool perfctr_cpu_more_config(void)
{
	return false;
}
#endif

/* May config1 and config2 of that counter be other than zero? */
static inline bool perfctr_may_have_more(const struct perfctr_ctr_control *ctr)
{
	return ctr->flags & PERFCTR_CTR_PERF || perfctr_cpu_more_config();
}

/* Bytes of perfctr_config.image, for so many counters */
size_t perfctr_cpu_image_size(u32 nr);

/* A config of @nr counters, all zero. NULL: no memory. May sleep */
static inline struct perfctr_config *perfctr_config_alloc(u32 nr)
{
	struct perfctr_config *config;
	size_t size = struct_size(config, ctr, nr);

	config = kzalloc(size + perfctr_cpu_image_size(nr), GFP_KERNEL_ACCOUNT);
	if (config)
		config->image = (void *)config + size;
	return config;
}

/*
 * *core becomes the type of these CPUs. EXDEV: they are of several types, which do not count the
 * same, or of a type that cannot count. The caller holds the CPU hotplug lock.
 */
int perfctr_cpu_core(const struct perfctr_where *where, u32 *core);

/* Is that CPU, which is online, unable to count as the others do? */
bool perfctr_cpu_is_forbidden(unsigned int cpu);

/*
 * PERFCTR_CPU_KEEPS_OFF: some CPUs' counters may be another CPU's as well. A thread that counts
 * stays away from them.
 * keeps_off: is that so here? out_of_place: is this CPU such a one? Interrupts are off.
 * for_sessions: does that counter want what only the counters of a whole CPU may have?
 */
#ifdef PERFCTR_CPU_KEEPS_OFF
PERFCTR_CPU_FN(bool, perfctr_cpu_keeps_off, void);
PERFCTR_CPU_FN(bool, perfctr_cpu_out_of_place, void);
PERFCTR_CPU_FN(bool, perfctr_cpu_for_sessions, const struct perfctr_ctr_control *ctr);
#else
static inline bool perfctr_cpu_keeps_off(void)
{
	return false;
}

static inline bool perfctr_cpu_out_of_place(void)
{
	return false;
}

static inline bool perfctr_cpu_for_sessions(const struct perfctr_ctr_control *ctr)
{
	return false;
}
#endif

/*
 * Takes every counter of the config on every CPU that is told, or none. EBUSY, or EINVAL for an
 * event that turns out not to exist; both with *why. Under config_mutex and the CPU hotplug lock
 */
int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why);
/*
 * Gives back the counters that no other config needs. Where the kernel permits processes to read
 * registers they may linger instead: perfctr_cpu_lingers(). Under the same locks
 */
void perfctr_cpu_unclaim(struct perfctr_config *config, perfctr_run_t run);

/* Writes that counter's name to a control that had PERFCTR_MAP_ANY. */
void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw);

/*
 * PERFCTR_CPU_COUNTS_ONCE: some processors may count an event by one only of the counters that
 * want it. True if this one does, or nobody knows. Under config_mutex
 */
#ifdef PERFCTR_CPU_COUNTS_ONCE
bool perfctr_cpu_counts_once(void);
#else
static inline bool perfctr_cpu_counts_once(void)
{
	return false;
}
#endif

/*
 * CPUs that come and go
 */

/* The CPU is down, and will come. */
void perfctr_cpu_prepare(unsigned int cpu);
/*
 * The CPU has come, or will go. A kernel thread calls them on that CPU. May sleep. Under
 * config_mutex
 */
void perfctr_cpu_reserve(unsigned int cpu);
void perfctr_cpu_unreserve(unsigned int cpu);
/*
 * On the CPU, with interrupts off. online: takes the counters that claimed configs need, whatever
 * it had: it has come, or may have lost its registers in a deep sleep. offline: gives all back.
 */
void perfctr_cpu_online(void);
void perfctr_cpu_offline(void);
/*
 * As online, on a CPU that was not told of claims so far. Somebody may claim or unclaim at the same
 * time: that is noted before perfctr_run_t is called. So either this sees it, or it runs here too.
 */
void perfctr_cpu_join_claims(void);

/*
 * age: zeroes counters that are past half of their range; called by perfctr_run_t. age_period: how
 * often that is needed, in jiffies. 0: never
 */
int perfctr_cpu_age(void *unused);
unsigned long perfctr_cpu_age_period(void);

/* The period for counters of @width bits that count at most 2^@max_rate_shift events a second */
static inline unsigned long perfctr_age_period(unsigned int width, unsigned int max_rate_shift)
{
	unsigned long second = HZ;

	/* A counter that is just below half of its range must not wrap before the next look. */
	if (width - 2 <= max_rate_shift)
		return max(1UL, second >> (max_rate_shift + 2 - width));
	return second << min(width - 2 - max_rate_shift, 16U);
}

/*
 * Interrupts
 */

/* NULL: hear no more; the handler runs nowhere when this returns. May sleep */
int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler);
/* In the handler: was user mode interrupted? False if nobody knows */
bool perfctr_cpu_interrupted_user(void);
/* In the handler: where; NULL if nobody knows */
struct pt_regs *perfctr_cpu_interrupted_regs(void);

/*
 * The frames of current's user mode, if its code keeps frame pointers. first_frame: the address of
 * the innermost one. next_frame: *caller becomes the return address in *frame, and *frame the
 * address of the next one. False: they cannot be read. They may hold anything. Page faults are
 * disabled.
 */
unsigned long perfctr_cpu_first_frame(const struct pt_regs *regs);
bool perfctr_cpu_next_frame(const struct pt_regs *regs, unsigned long *frame, u64 *caller);
/*
 * Stores who called whom in the kernel, where current was interrupted: at most @depth return
 * addresses, the innermost first. Returns how many. Interrupts are off.
 */
unsigned int perfctr_cpu_kernel_chain(struct pt_regs *regs, unsigned long *caller,
				      unsigned int depth);

/*
 * The hot path, with interrupts off
 *
 * PERFCTR_CPU_APART is noinline or __always_inline: what suits a branch of it that is rarely taken.
 */

PERFCTR_CPU_FN(u64, perfctr_cpu_clock, void);
PERFCTR_CPU_FN(u64, perfctr_cpu_read, const struct perfctr_cpu_ctr *ctr);
/* Sets @read for a hardware counter. */
PERFCTR_CPU_FN(void, perfctr_cpu_bind, struct perfctr_cpu_ctr *ctr, unsigned int hw);

/* PERFCTR_CPU_BINDS_ICTRS: an i-mode counter is read in another way. */
#ifdef PERFCTR_CPU_BINDS_ICTRS
PERFCTR_CPU_FN(void, perfctr_cpu_bind_ictr, struct perfctr_cpu_ctr *ctr, unsigned int hw);
#else
static __always_inline void perfctr_cpu_bind_ictr(struct perfctr_cpu_ctr *ctr, unsigned int hw)
{
	perfctr_cpu_bind(ctr, hw);
}
#endif

/* Do this CPU's counters count that config now? */
PERFCTR_CPU_FN(bool, perfctr_cpu_holds, const struct perfctr_config *config);
/* The same by its id, where the caller knows the number of this CPU */
PERFCTR_CPU_FN(bool, perfctr_cpu_holds_on, int cpu, unsigned long id);
/*
 * Makes them count it. EIO: a counter cannot be had, this CPU is of another type, or somebody else
 * has written to its registers
 */
PERFCTR_CPU_FN(int, perfctr_cpu_load, const struct perfctr_config *config);

/*
 * PERFCTR_CPU_VERIFIES: the driver reads registers back.
 * verify: do this CPU's registers hold what was written to them? True also if they are not ours.
 * They are read at most once in a jiffy, and that answer holds until its end; on ppc32 each time.
 * changed: did verify() say no? Then perfctr_cpu_load() fails until the counters are unclaimed.
 * set_changed: before anything is claimed. NULL: hear no more. May sleep
 */
#ifdef PERFCTR_CPU_VERIFIES
PERFCTR_CPU_FN(bool, perfctr_cpu_verify, void);
PERFCTR_CPU_FN(bool, perfctr_cpu_changed, void);
void perfctr_cpu_set_changed(perfctr_changed_t handler);
#else
static inline bool perfctr_cpu_verify(void)
{
	return true;
}

static inline bool perfctr_cpu_changed(void)
{
	return false;
}

static inline void perfctr_cpu_set_changed(perfctr_changed_t handler)
{
}
#endif

/*
 * Around stores to user memory in a system call of current. If a page must be fetched, then either
 * the store fails or faulted() is true. It may be true without reason. Both hold only if current is
 * not switched out meanwhile.
 */
PERFCTR_CPU_FN(void, perfctr_cpu_faults_begin, void);
PERFCTR_CPU_FN(bool, perfctr_cpu_faulted, void);
PERFCTR_CPU_FN(void, perfctr_cpu_faults_end, void);

/*
 * i-mode counters
 *
 * They run only while a state that has them is resumed. Their registers start below zero, and
 * interrupt as they come to zero.
 */

/* How many bits perfctr_cpu_read() gives of one. The highest is the sign. */
PERFCTR_CPU_FN(unsigned int, perfctr_cpu_iwidth, void);
/* The longest way of a register to its interrupt */
PERFCTR_CPU_FN(u64, perfctr_cpu_irange, void);
/*
 * Starts the i-mode counters of the config, which this CPU holds, from these values below zero.
 * NULL: from where they stopped, if perfctr_cpu_istopped(). EAGAIN: an interrupt is pending, try
 * again as it ends. EIO: a counter failed
 */
PERFCTR_CPU_FN(int, perfctr_cpu_istart, const struct perfctr_config *config, const u64 *value);
/* Stops them. An earlier overflow may still interrupt: the sums tell whether there was one. */
PERFCTR_CPU_FN(void, perfctr_cpu_istop, const struct perfctr_config *config, const void *id);
/* Has one of them overflowed since they were started? True may be wrong */
PERFCTR_CPU_FN(bool, perfctr_cpu_ioverflowed, const struct perfctr_config *config);
/* Stops them, and zeroes their registers. */
PERFCTR_CPU_FN(void, perfctr_cpu_iclear, const struct perfctr_config *config);
/* Did the last istop() on this CPU have that id, and has nobody changed the registers since? */
PERFCTR_CPU_FN(bool, perfctr_cpu_istopped, const void *id);

/*
 * Counters that need more than to be read
 *
 * PERFCTR_CPU_OWN_WAY: some configs have such, and perfctr_config.own_way.
 * resume, suspend: instead of those of arch/sums.h. i-mode counters were started before, or are
 * stopped.
 * - x86, metrics: shares of what another counter counts since both were zero. They begin anew, and
 *   are added to their sums. @acc of a metric is its sum in between.
 * - Pentium 4: a counter waits for another one to overflow. A control register changes by itself,
 *   and belongs to the state; on ppc32, too.
 * sample: the clock and the sums of a state that remains resumed, as perfctr_cpu_store_sums(). No
 * i-mode counters. x86 misses the slots of kernel mode in which metrics begin anew, no others.
 */
#ifdef PERFCTR_CPU_OWN_WAY
PERFCTR_CPU_FN(void, perfctr_cpu_resume_own_way, const struct perfctr_config *config,
	       struct perfctr_cpu_state *state);
PERFCTR_CPU_FN(void, perfctr_cpu_suspend_own_way, const struct perfctr_config *config,
	       struct perfctr_cpu_state *state);
PERFCTR_CPU_FN(void, perfctr_cpu_sample_own_way, const struct perfctr_config *config,
	       struct perfctr_cpu_state *state, u64 *value);
#else
static inline void perfctr_cpu_resume_own_way(const struct perfctr_config *config,
					      struct perfctr_cpu_state *state)
{
}

static inline void perfctr_cpu_suspend_own_way(const struct perfctr_config *config,
					       struct perfctr_cpu_state *state)
{
}

static inline void perfctr_cpu_sample_own_way(const struct perfctr_config *config,
					      struct perfctr_cpu_state *state, u64 *value)
{
}
#endif

static __always_inline bool perfctr_config_has_own_way(const struct perfctr_config *config)
{
#ifdef PERFCTR_CPU_OWN_WAY
	return config->own_way;
#else
	return false;
#endif
}

/*
 * PERFCTR_CPU_METRICS: a counter may be a metric. 1 + the number of that metric; PERFCTR_WHOLE: it
 * is the counter whose shares the metrics are; 0: neither
 */
#ifdef PERFCTR_CPU_METRICS
PERFCTR_CPU_FN(int, perfctr_cpu_metric, unsigned int hw);
#else
static inline int perfctr_cpu_metric(unsigned int hw)
{
	return 0;
}
#endif

/* May it have metrics? On a Pentium 4 it is true of a counter that waits, which does no harm. */
static inline bool perfctr_config_has_metrics(const struct perfctr_config *config)
{
#ifdef PERFCTR_CPU_METRICS
	return config->own_way;
#else
	return false;
#endif
}

#endif /* PERFCTR_CPU_H */
