/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hot path of the arm64 driver. The driver has only the clock, which is the virtual counter of the
 * generic timer, CNTVCT_EL0. The hardware counters are perf's. So no native config has counters,
 * and nothing calls the functions that are about counters.
 */
#ifndef PERFCTR_ARM64_CPU_H
#define PERFCTR_ARM64_CPU_H

#include <linux/compat.h>
#include <linux/jump_label.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/uaccess.h>
#include <asm/processor.h>
#include <asm/sysreg.h>

/* A function that calls others needs a stack frame, so we avoid calls. */
#define PERFCTR_CPU_RARE	__always_inline

/*
 * On some processors an erratum makes ordinary reads of the clock unstable. The kernel has a
 * workaround.
 */
DECLARE_STATIC_KEY_FALSE(perfctr_arm64_unstable);
u64 perfctr_arm64_stable_clock(void);

/*
 * We execute no ISB, so the processor may read the clock some instructions early. But it cannot
 * read the clock before the exception that led here from user mode, nor after the return to user
 * mode.
 */
static __always_inline u64 perfctr_cpu_clock(void)
{
	if (static_branch_unlikely(&perfctr_arm64_unstable))
		return perfctr_arm64_stable_clock();
	return read_sysreg(cntvct_el0);
}

/* After prctl(PR_SET_TSC), a thread that reads the clock may get a SIGSEGV. */
#define PERFCTR_CPU_HIDES_CLOCK

static __always_inline bool perfctr_cpu_clock_hidden(void)
{
	return test_thread_flag(TIF_TSC_SIGSEGV);
}

/*
 * Returns 0 for a 32-bit thread. Its thread pointer is in another register, which the library does
 * not support.
 */
static inline u64 perfctr_cpu_thread_pointer(struct task_struct *task)
{
	if (is_compat_thread(task_thread_info(task)))
		return 0;
	return task == current ? read_sysreg(tpidr_el0) : task->thread.uw.tp_value;
}

/* Disables page faults, so that a store fails if its page is not in memory. */
static __always_inline void perfctr_cpu_faults_begin(void)
{
	pagefault_disable();
}

static __always_inline bool perfctr_cpu_faulted(void)
{
	return false;
}

static __always_inline void perfctr_cpu_faults_end(void)
{
	pagefault_enable();
}

#define PERFCTR_CPU_CLOCK_SLOT	64

/* A page has a slot for each index, as on x86. */
static inline unsigned long perfctr_cpu_slot(const struct perfctr_config *config,
					     unsigned long i)
{
	return i;
}

static inline u32 perfctr_cpu_operand(unsigned int hw)
{
	return 0;
}

static inline bool perfctr_cpu_user_readable(const struct perfctr_config *config,
					     unsigned int policy)
{
	return policy != PERFCTR_USER_READ_OFF && !config->nr;
}

static __always_inline bool perfctr_cpu_user_permitted(const struct perfctr_config *config)
{
	return true;
}

/* Always returns true, because the driver has no counters that a config could be loaded into. */
static __always_inline bool perfctr_cpu_has_loaded(const struct perfctr_config *config)
{
	return true;
}

static inline int perfctr_cpu_load(const struct perfctr_config *config)
{
	return 0;
}

/*
 * This function is called only for states with native counters, and arm64 has no native counters.
 */
static __always_inline bool perfctr_cpu_has_loaded_on(int cpu, unsigned long id)
{
	return false;
}

/* The functions below are about counters, or about registers that hold counts. */

static __always_inline void perfctr_cpu_bind(struct perfctr_cpu_ctr *ctr, unsigned int hw)
{
}

static __always_inline u64 perfctr_cpu_read(const struct perfctr_cpu_ctr *ctr)
{
	return 0;
}

static inline unsigned int perfctr_cpu_iwidth(void)
{
	return 64;
}

static inline u64 perfctr_cpu_irange(void)
{
	return S64_MAX;
}

static inline int perfctr_cpu_istart(const struct perfctr_config *config, const u64 *value)
{
	return -EIO;
}

static inline void perfctr_cpu_istop(const struct perfctr_config *config, const void *id)
{
}

static inline void perfctr_cpu_iclear(const struct perfctr_config *config)
{
}

static inline bool perfctr_cpu_ioverflowed(const struct perfctr_config *config)
{
	return false;
}

static inline bool perfctr_cpu_istopped(const void *id)
{
	return false;
}

static inline unsigned long perfctr_cpu_grant(const struct perfctr_config *config)
{
	return 0;
}

static inline void perfctr_cpu_revoke(u32 granted)
{
}

static inline bool perfctr_cpu_private(unsigned long kin, kuid_t uid)
{
	return false;
}

static inline kuid_t perfctr_cpu_private_user(void)
{
	return GLOBAL_ROOT_UID;
}

static inline bool perfctr_cpu_runs(void)
{
	return true;
}

static inline int perfctr_cpu_restart(const struct perfctr_config *config, unsigned long kin,
				      kuid_t uid)
{
	return -EIO;
}

static inline void perfctr_cpu_leave(void)
{
}

static inline void perfctr_cpu_leave_to_kin(const struct task_struct *next)
{
}

static inline void perfctr_cpu_make_public(void)
{
}

#define PERFCTR_CPU_SHARED_INLINE	1

extern const char perfctr_arm64_stubs[];

/* Reads the PMUv3 counter with perf's number @index. The cycle counter has number 31. */
static __always_inline u64 perfctr_arm64_counter(unsigned long index)
{
	register u64 value asm("x9");

	asm volatile("blr %1" : "=r" (value) : "r" (perfctr_arm64_stubs + 16 * index)
		     : "x30", "memory");
	return value;
}

/*
 * Does what armpmu_event_update() does for events of 32 bits, but writes nothing. An NMI may update
 * the event in between, and may also restart the register. Then prev_count, count or both change.
 * We must compare both, because prev_count is the same again after an overflow. The upper half of
 * the register counts something else, or is perf's bias.
 */
static __always_inline u64 perfctr_cpu_shared_read(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	u64 prev, count, now;

	do {
		prev = local64_read(&hw->prev_count);
		count = local64_read(&event->count);
		now = perfctr_arm64_counter(READ_ONCE(hw->idx));
	} while (unlikely(prev != local64_read(&hw->prev_count) ||
			  count != local64_read(&event->count)));
	return count + (u32)(now - prev);
}

static __always_inline bool perfctr_cpu_shared_filters(const struct perf_event *event)
{
	return true;
}

bool perfctr_cpu_shared_inline(const struct perf_event *event);

static inline u32 perfctr_cpu_shared_refusal(const struct perfctr_shared_attr *attr)
{
	return PERFCTR_REASON_NONE;
}

static inline bool perfctr_cpu_shared_needs_privilege(const struct perfctr_shared_attr *attr)
{
	return false;
}

static inline bool perfctr_cpu_shared_hides(const struct perf_event *event)
{
	return false;
}

bool perfctr_cpu_shared_discloses(void);
void perfctr_cpu_shared_watch(bool on);

#endif /* PERFCTR_ARM64_CPU_H */
