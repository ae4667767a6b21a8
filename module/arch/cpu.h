/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the driver of each architecture offers: the counters of a CPU. A driver knows the registers
 * of CPUs. Of threads it knows only who may read registers (arch/user.h). It calls other folders
 * only through functions that they pass to it: perfctr_run_t, perfctr_ihandler_t,
 * perfctr_changed_t, and those of perfctr_cpu_permit_init().
 *
 * The hot path is inline in the driver's own header, perfctr_cpu.h. PERFCTR_CPU_FN() declares the
 * type of such a function, and fails to compile if the driver's function has another type.
 *
 * Some parts are optional. A driver that has such a part defines the macro that is named here.
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

/* ENODEV: the machine has not even a clock that we could use. */
int perfctr_cpu_init(void);
void perfctr_cpu_exit(void);

/* Frequency of the clock, Hz */
u64 perfctr_cpu_clock_hz(void);

/* The most counters that one control can have. Constant after init */
unsigned int perfctr_cpu_nrctrs(void);

/* Fills in the members that depend on the processor. */
void perfctr_cpu_info(struct perfctr_kernel_info *info);

/*
 * PERFCTR_CPU_MODELESS: some processors cannot tell modes apart. On these modeless() is true, and
 * each control counts the kernel too.
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
 * Could this processor count the control, if no counter was in use? Returns 0, or EINVAL or
 * EOPNOTSUPP with why->index. Sets *kernel if the control counts, or may count, more than user
 * mode. May sleep.
 */
int perfctr_cpu_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
		      struct perfctr_refusal *why);

/* PERFCTR_CPU_MORE_CONFIG: the driver may use config1 and config2 of an event. */
#ifndef PERFCTR_CPU_MORE_CONFIG
static inline bool perfctr_cpu_more_config(void)
{
	return false;
}
#endif

/* May config1 and config2 of that counter be nonzero? */
static inline bool perfctr_may_have_more(const struct perfctr_ctr_control *ctr)
{
	return ctr->flags & PERFCTR_CTR_PERF || perfctr_cpu_more_config();
}

/* Size of perfctr_config.image for @nr counters, in bytes */
size_t perfctr_cpu_image_size(u32 nr);

/* Allocates a zeroed config of @nr counters. NULL: out of memory. May sleep. */
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
 * Sets *core to the type of these CPUs. EXDEV: they are of several types, which count differently,
 * or of a type that cannot count. The caller holds the CPU hotplug lock.
 */
int perfctr_cpu_core(const struct perfctr_where *where, u32 *core);

/* Is that online CPU unable to count as the others do? */
bool perfctr_cpu_is_forbidden(unsigned int cpu);

/*
 * PERFCTR_CPU_KEEPS_OFF: on some machines two CPUs may share counters. Threads that count stay off
 * one of the two.
 * keeps_off: is this such a machine? out_of_place: must threads that count stay off this CPU?
 * Interrupts are off.
 * for_sessions: does that counter ask for something that only sessions may have?
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
 * Takes every counter of the config on every CPU that is told, or none. EBUSY, or EINVAL if an
 * event turns out not to exist; both fill in *why. The caller holds config_mutex and the CPU
 * hotplug lock.
 */
int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why);
/*
 * Gives back the counters that no other config needs. Where the kernel permits processes to read
 * registers they may linger instead: perfctr_cpu_lingers(). Same locks.
 */
void perfctr_cpu_unclaim(struct perfctr_config *config, perfctr_run_t run);

/* Writes the name of counter @hw to a control that asked for PERFCTR_MAP_ANY. */
void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw);

/*
 * PERFCTR_CPU_COUNTS_ONCE: on some processors only one counter at a time can count an event. True
 * if this is one of them, or if nobody knows yet. The caller holds config_mutex.
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

/* The CPU is down and about to come up. */
void perfctr_cpu_prepare(unsigned int cpu);
/*
 * The CPU has come up, or is about to go down. A kernel thread calls these on that CPU. May sleep.
 * The caller holds config_mutex.
 */
void perfctr_cpu_reserve(unsigned int cpu);
void perfctr_cpu_unreserve(unsigned int cpu);
/*
 * Called on the CPU with interrupts off.
 * online: takes the counters that claimed configs need, and assumes nothing about what the
 * registers hold: the CPU has come up, or may have lost its registers in a deep sleep.
 * offline: gives all counters back.
 */
void perfctr_cpu_online(void);
void perfctr_cpu_offline(void);
/*
 * Like online, on a CPU that was not told of claims so far. A claim or unclaim may run at the same
 * time. It is recorded before perfctr_run_t is called, so either this function sees it, or it also
 * runs here.
 */
void perfctr_cpu_join_claims(void);

/*
 * age: zeroes counters that are past half of their range; called through perfctr_run_t.
 * age_period: the interval at which that is needed, in jiffies. 0: never
 */
int perfctr_cpu_age(void *unused);
unsigned long perfctr_cpu_age_period(void);

/*
 * Ageing period for counters of @width bits that count at most 2^@max_rate_shift events per second
 */
static inline unsigned long perfctr_age_period(unsigned int width, unsigned int max_rate_shift)
{
	unsigned long second = HZ;

	/* A counter that is just below half of its range must not wrap before age() runs again. */
	if (width - 2 <= max_rate_shift)
		return max(1UL, second >> (max_rate_shift + 2 - width));
	return second << min(width - 2 - max_rate_shift, 16U);
}

/*
 * Interrupts
 */

/* NULL: no handler. The old handler runs nowhere when this returns. May sleep. */
int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler);
/* Call in the handler. Did the interrupt come from user mode? False if nobody knows. */
bool perfctr_cpu_interrupted_user(void);
/* Call in the handler. Returns the interrupted registers; NULL if nobody knows them. */
struct pt_regs *perfctr_cpu_interrupted_regs(void);

/*
 * Walk the stack of current's user mode, if its code keeps frame pointers. Page faults are
 * disabled.
 * first_frame: returns the address of the innermost frame.
 * next_frame: sets *caller to the return address in *frame, and *frame to the address of the next
 * frame. False: the frame cannot be read. Both values may be garbage.
 */
unsigned long perfctr_cpu_first_frame(const struct pt_regs *regs);
bool perfctr_cpu_next_frame(const struct pt_regs *regs, unsigned long *frame, u64 *caller);
/*
 * Stores the kernel's call chain at the point where current was interrupted: at most @depth return
 * addresses, the innermost first. Returns their number. Interrupts are off.
 */
unsigned int perfctr_cpu_kernel_chain(struct pt_regs *regs, unsigned long *caller,
				      unsigned int depth);

/*
 * The hot path, with interrupts off
 *
 * PERFCTR_CPU_RARE marks a function that is rarely called: noinline or __always_inline, as suits
 * the architecture.
 */

PERFCTR_CPU_FN(u64, perfctr_cpu_clock, void);
PERFCTR_CPU_FN(u64, perfctr_cpu_read, const struct perfctr_cpu_ctr *ctr);
/* Sets @read of a counter that uses hardware counter @hw. */
PERFCTR_CPU_FN(void, perfctr_cpu_bind, struct perfctr_cpu_ctr *ctr, unsigned int hw);

/* PERFCTR_CPU_BINDS_ICTRS: i-mode counters are read differently. */
#ifdef PERFCTR_CPU_BINDS_ICTRS
PERFCTR_CPU_FN(void, perfctr_cpu_bind_ictr, struct perfctr_cpu_ctr *ctr, unsigned int hw);
#else
static __always_inline void perfctr_cpu_bind_ictr(struct perfctr_cpu_ctr *ctr, unsigned int hw)
{
	perfctr_cpu_bind(ctr, hw);
}
#endif

/* Do this CPU's counters count that config now? */
PERFCTR_CPU_FN(bool, perfctr_cpu_has_loaded, const struct perfctr_config *config);
/* The same by the config's id, if the caller knows this CPU's number */
PERFCTR_CPU_FN(bool, perfctr_cpu_has_loaded_on, int cpu, unsigned long id);
/*
 * Makes this CPU's counters count that config. EIO: a counter is not available, this CPU is of
 * another type, or somebody else has written to its registers.
 */
PERFCTR_CPU_FN(int, perfctr_cpu_load, const struct perfctr_config *config);

/*
 * PERFCTR_CPU_VERIFIES: the driver reads registers back.
 * verify: do this CPU's registers hold the values that we wrote? Also true if they are not ours. It
 * reads them at most once per jiffy, and repeats that answer until the jiffy ends; on ppc32 it
 * reads them each time.
 * changed: has verify() returned false? Then perfctr_cpu_load() fails until the counters are
 * unclaimed.
 * set_changed: call before anything is claimed. NULL: no handler. May sleep.
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
 * Call these around stores to user memory in a system call of current. If a page must be fetched,
 * either the store fails or faulted() is true. It may also be true without reason. All of this
 * holds only if current is not switched out in between.
 */
PERFCTR_CPU_FN(void, perfctr_cpu_faults_begin, void);
PERFCTR_CPU_FN(bool, perfctr_cpu_faulted, void);
PERFCTR_CPU_FN(void, perfctr_cpu_faults_end, void);

/*
 * i-mode counters
 *
 * They run only while a state that has them is resumed. Their registers start below zero, and
 * interrupt when they reach zero.
 */

/*
 * The number of bits that perfctr_cpu_read() returns of an i-mode counter. The highest is the sign.
 */
PERFCTR_CPU_FN(unsigned int, perfctr_cpu_iwidth, void);
/* The most events that a register can count before it interrupts */
PERFCTR_CPU_FN(u64, perfctr_cpu_irange, void);
/*
 * Starts the i-mode counters of the config that this CPU has loaded, from these values below zero.
 * NULL: continue where they stopped, if perfctr_cpu_istopped(). EAGAIN: an interrupt is pending, so
 * try again when it ends. EIO: a counter failed.
 */
PERFCTR_CPU_FN(int, perfctr_cpu_istart, const struct perfctr_config *config, const u64 *value);
/* Stops them. An earlier overflow may still interrupt: the sums show whether there was one. */
PERFCTR_CPU_FN(void, perfctr_cpu_istop, const struct perfctr_config *config, const void *id);
/* Has one of them overflowed since it was started? May be true although none has. */
PERFCTR_CPU_FN(bool, perfctr_cpu_ioverflowed, const struct perfctr_config *config);
/* Stops them and zeroes their registers. */
PERFCTR_CPU_FN(void, perfctr_cpu_iclear, const struct perfctr_config *config);
/* Was @id passed to the last istop() on this CPU, and has nobody changed the registers since? */
PERFCTR_CPU_FN(bool, perfctr_cpu_istopped, const void *id);

/*
 * Counters that need more than a read
 *
 * PERFCTR_CPU_OWN_WAY: some configs have such counters; these have perfctr_config.own_way.
 *
 * resume, suspend: used instead of those of arch/sums.h. i-mode counters are already started, or
 * already stopped.
 * - x86, metrics: each is a part of another counter's count, since both were zero. At each suspend
 *   they are added to their sums, and at each resume they start again from zero. @acc of a metric
 *   is its sum.
 * - Pentium 4: a counter waits until another one overflows. The processor changes the control
 *   register, so its value is part of the state. ppc32 does this, too.
 *
 * sample: reads the clock and the sums of a state that stays resumed, like
 * perfctr_cpu_store_sums(). The state has no i-mode counters. On x86, slots of kernel mode are
 * missed while the metrics start again, and no others.
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
 * PERFCTR_CPU_METRICS: a counter may be a metric. Returns 1 + the number of the metric;
 * PERFCTR_WHOLE for the counter of which metrics are parts; 0 for other counters.
 */
#ifdef PERFCTR_CPU_METRICS
PERFCTR_CPU_FN(int, perfctr_cpu_metric, unsigned int hw);
#else
static inline int perfctr_cpu_metric(unsigned int hw)
{
	return 0;
}
#endif

/* May this config have metrics? Also true on a Pentium 4 if a counter waits, which does no harm. */
static inline bool perfctr_config_has_metrics(const struct perfctr_config *config)
{
#ifdef PERFCTR_CPU_METRICS
	return config->own_way;
#else
	return false;
#endif
}

#endif /* PERFCTR_CPU_H */
