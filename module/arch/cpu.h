/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This header declares what the driver of each architecture offers: the counters of a CPU. A driver
 * knows the registers of CPUs. All it knows of threads is which threads may read registers
 * (arch/user.h). A driver calls other folders only through functions that they pass to it:
 * perfctr_run_t, perfctr_ihandler_t, perfctr_changed_t, and those of perfctr_cpu_permit_init().
 *
 * The hot path is inline in the driver's own header, perfctr_cpu.h. PERFCTR_CPU_FN() declares the
 * type of such a function, and fails to compile if the driver's function has another type.
 *
 * Some parts are optional. A driver that has such a part defines the macro with which the part's
 * comment begins.
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

/* Returns 0, or -ENODEV if the machine has no clock that we could use. */
int perfctr_cpu_init(void);
void perfctr_cpu_exit(void);

/* Returns the frequency of the clock in Hz. */
u64 perfctr_cpu_clock_hz(void);

/* Returns the largest number of counters that one control can have. Constant after init. */
unsigned int perfctr_cpu_nrctrs(void);

/* Fills in the members of *info that depend on the processor. */
void perfctr_cpu_info(struct perfctr_kernel_info *info);

/*
 * PERFCTR_CPU_MODELESS: some processors cannot tell modes apart. On such a processor
 * perfctr_cpu_modeless() is true, and each control counts the kernel too.
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
 * Checks whether this processor could count the control if no counter was in use. Returns 0, or
 * -EINVAL or -EOPNOTSUPP with why->index. Sets *kernel if the control counts, or may count, more
 * than user mode. May sleep.
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

/* Returns true if config1 and config2 of the counter may be nonzero. */
static inline bool perfctr_may_have_more(const struct perfctr_ctr_control *ctr)
{
	return ctr->flags & PERFCTR_CTR_PERF || perfctr_cpu_more_config();
}

/* Returns the size of perfctr_config.image for @nr counters, in bytes. */
size_t perfctr_cpu_image_size(u32 nr);

/* Allocates a zeroed config of @nr counters. Returns NULL if memory is short. May sleep. */
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
 * Sets *core to the type of the CPUs in @where. Returns 0, or -EXDEV if the CPUs have several
 * types, which count differently, or a type that cannot count. The caller holds the CPU hotplug
 * lock.
 */
int perfctr_cpu_core(const struct perfctr_where *where, u32 *core);

/* Returns true if @cpu, which is online, has a type that cannot count. */
bool perfctr_cpu_is_forbidden(unsigned int cpu);

/*
 * PERFCTR_CPU_KEEPS_OFF: on some machines two CPUs may share counters. Threads that count stay off
 * one of the two CPUs.
 * keeps_off: returns true if this is such a machine.
 * out_of_place: returns true if threads that count must stay off this CPU. Interrupts are off.
 * for_sessions: returns true if only a session may use this control of a counter.
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
 * Takes every counter of the config on every CPU that is told, or takes nothing. Returns 0, -EBUSY,
 * or -EINVAL if an event turns out not to exist. Both errors fill in *why. The caller holds
 * config_mutex and the CPU hotplug lock.
 */
int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why);
/*
 * Gives back the counters that no other config needs. If the kernel permits processes to read
 * registers, the counters may linger instead: see perfctr_cpu_lingers(). The caller holds
 * config_mutex and the CPU hotplug lock.
 */
void perfctr_cpu_unclaim(struct perfctr_config *config, perfctr_run_t run);

/* Writes the name of counter @hw to a control that asked for PERFCTR_MAP_ANY. */
void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw);

/*
 * PERFCTR_CPU_COUNTS_ONCE: on some processors only one counter at a time can count a given event.
 * Returns true if this is such a processor, or if that is not known yet. The caller holds
 * config_mutex.
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

/* Call this while the CPU is down and about to come up. */
void perfctr_cpu_prepare(unsigned int cpu);
/*
 * Call reserve after the CPU has come up, and unreserve before it goes down, in a kernel thread on
 * that CPU. Both may sleep. The caller holds config_mutex.
 */
void perfctr_cpu_reserve(unsigned int cpu);
void perfctr_cpu_unreserve(unsigned int cpu);
/*
 * Call these on the CPU with interrupts off.
 * online: takes the counters that claimed configs need. It assumes nothing about the contents of
 * the registers, because the CPU has come up or may have lost its registers in a deep sleep.
 * offline: gives all counters back.
 */
void perfctr_cpu_online(void);
void perfctr_cpu_offline(void);
/*
 * Does what perfctr_cpu_online() does, on a CPU that was not told of claims so far. A claim or
 * unclaim may run at the same time. The driver records a claim before it calls perfctr_run_t. So
 * either this function finds the claim, or perfctr_run_t runs on this CPU, too.
 */
void perfctr_cpu_join_claims(void);

/*
 * age: zeroes counters that are past half of their range. Called through perfctr_run_t.
 * age_period: returns the interval at which age() must be called, in jiffies, or 0 if it is not
 * needed.
 */
int perfctr_cpu_age(void *unused);
unsigned long perfctr_cpu_age_period(void);

/*
 * Returns the ageing period for counters of @width bits that count at most 2^@max_rate_shift events
 * per second.
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

/*
 * Sets the handler, or no handler if @handler is NULL. When this function returns, the old handler
 * runs nowhere. May sleep.
 */
int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler);
/*
 * Call this in the handler. Returns true if the interrupt came from user mode, and false if that is
 * not known.
 */
bool perfctr_cpu_interrupted_user(void);
/* Call this in the handler. Returns the interrupted registers, or NULL if they are not known. */
struct pt_regs *perfctr_cpu_interrupted_regs(void);

/*
 * These functions walk the user-mode stack of current. They work only if its code keeps frame
 * pointers. Page faults are disabled.
 * first_frame: returns the address of the innermost frame.
 * next_frame: sets *caller to the return address in *frame, and *frame to the address of the next
 * frame. Returns false if the frame cannot be read. Both values may be garbage.
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
 * The hot path. Interrupts are off.
 *
 * PERFCTR_CPU_RARE marks a function that is rarely called: noinline or __always_inline, as suits
 * the architecture.
 */

PERFCTR_CPU_FN(u64, perfctr_cpu_clock, void);
PERFCTR_CPU_FN(u64, perfctr_cpu_read, const struct perfctr_cpu_ctr *ctr);
/* Sets @read of a counter that uses hardware counter @hw. */
PERFCTR_CPU_FN(void, perfctr_cpu_bind, struct perfctr_cpu_ctr *ctr, unsigned int hw);

/* PERFCTR_CPU_BINDS_ICTRS: the driver reads i-mode counters in another way than a-mode counters. */
#ifdef PERFCTR_CPU_BINDS_ICTRS
PERFCTR_CPU_FN(void, perfctr_cpu_bind_ictr, struct perfctr_cpu_ctr *ctr, unsigned int hw);
#else
static __always_inline void perfctr_cpu_bind_ictr(struct perfctr_cpu_ctr *ctr, unsigned int hw)
{
	perfctr_cpu_bind(ctr, hw);
}
#endif

/* Returns true if this CPU's counters count the config now. */
PERFCTR_CPU_FN(bool, perfctr_cpu_has_loaded, const struct perfctr_config *config);
/* Returns true if CPU @cpu, which is this CPU, has loaded a config with that id. */
PERFCTR_CPU_FN(bool, perfctr_cpu_has_loaded_on, int cpu, unsigned long id);
/*
 * Makes this CPU's counters count the config. Returns 0, or -EIO if a counter is not available,
 * this CPU is of another type, or somebody else has written to its registers.
 */
PERFCTR_CPU_FN(int, perfctr_cpu_load, const struct perfctr_config *config);

/*
 * PERFCTR_CPU_VERIFIES: the driver reads registers back.
 * verify: returns true if this CPU's registers hold the values that we wrote, or are not ours. It
 * reads the registers at most once per jiffy, and repeats that answer until the jiffy ends. On
 * ppc32 it reads them each time.
 * changed: returns true if verify() has returned false. From then on, perfctr_cpu_load() fails
 * until the counters are unclaimed.
 * set_changed: sets the handler, or no handler if @handler is NULL. Call it before anything is
 * claimed. May sleep.
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
 * Call these around stores to user memory in a system call of current. If a store needs a page that
 * is not in memory, either the store fails or faulted() returns true. faulted() may also return
 * true without reason. All of this holds only if current is not switched out in between.
 */
PERFCTR_CPU_FN(void, perfctr_cpu_faults_begin, void);
PERFCTR_CPU_FN(bool, perfctr_cpu_faulted, void);
PERFCTR_CPU_FN(void, perfctr_cpu_faults_end, void);

/*
 * i-mode counters
 *
 * i-mode counters run only while a state that has them is resumed. Their registers start below
 * zero, and interrupt when they reach zero.
 */

/*
 * Returns the number of bits of an i-mode counter that perfctr_cpu_read() returns. The highest bit
 * is the sign.
 */
PERFCTR_CPU_FN(unsigned int, perfctr_cpu_iwidth, void);
/* Returns the largest number of events that a register can count before it interrupts. */
PERFCTR_CPU_FN(u64, perfctr_cpu_irange, void);
/*
 * Starts the i-mode counters of the config that this CPU has loaded, from the values of @value,
 * which are below zero. If @value is NULL, the counters continue where they stopped, provided that
 * perfctr_cpu_istopped() is true. Returns 0, -EAGAIN if an interrupt is pending (try again when it
 * ends), or -EIO if a counter failed.
 */
PERFCTR_CPU_FN(int, perfctr_cpu_istart, const struct perfctr_config *config, const u64 *value);
/*
 * Stops the i-mode counters. An earlier overflow may still interrupt. The sums show whether there
 * was an overflow.
 */
PERFCTR_CPU_FN(void, perfctr_cpu_istop, const struct perfctr_config *config, const void *id);
/*
 * Returns true if an i-mode counter has overflowed since it was started. May also return true
 * without an overflow.
 */
PERFCTR_CPU_FN(bool, perfctr_cpu_ioverflowed, const struct perfctr_config *config);
/* Stops the i-mode counters and zeroes their registers. */
PERFCTR_CPU_FN(void, perfctr_cpu_iclear, const struct perfctr_config *config);
/*
 * Returns true if @id was passed to the last perfctr_cpu_istop() on this CPU, and the registers
 * have not changed since.
 */
PERFCTR_CPU_FN(bool, perfctr_cpu_istopped, const void *id);

/*
 * Counters that need more than a read
 *
 * PERFCTR_CPU_OWN_WAY: some configs have counters that need more than a read. Such a config has
 * own_way set.
 *
 * resume, suspend: called instead of the functions of arch/sums.h, after i-mode counters were
 * started or stopped.
 * - x86, metrics: each metric is a part of what another counter has counted since both were zero.
 *   Each suspend adds the metrics to their sums, and each resume starts them again from zero. @acc
 *   of a metric is its sum.
 * - Pentium 4: a counter waits until another counter overflows. The processor changes the control
 *   register, so the register's value is part of the state. ppc32 has such counters, too.
 *
 * sample: reads the clock and the sums of a state that stays resumed, and stores them as
 * perfctr_cpu_store_sums() does. The state has no i-mode counters. On x86, the metrics start again,
 * and the state misses only the slots in the kernel meanwhile.
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
 * PERFCTR_CPU_METRICS: a counter may be a metric. Returns 1 + the number of the metric,
 * PERFCTR_WHOLE for the counter of which metrics are parts, or 0 for any other counter.
 */
#ifdef PERFCTR_CPU_METRICS
PERFCTR_CPU_FN(int, perfctr_cpu_metric, unsigned int hw);
#else
static inline int perfctr_cpu_metric(unsigned int hw)
{
	return 0;
}
#endif

/*
 * Returns true if this config may have metrics. On a Pentium 4, it also returns true if a counter
 * waits for another one, which does no harm.
 */
static inline bool perfctr_config_has_metrics(const struct perfctr_config *config)
{
#ifdef PERFCTR_CPU_METRICS
	return config->own_way;
#else
	return false;
#endif
}

#endif /* PERFCTR_CPU_H */
