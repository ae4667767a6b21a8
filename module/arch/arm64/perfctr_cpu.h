/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hot path of the arm64 driver. It has the clock alone, which is the virtual counter of the
 * generic timer, CNTVCT_EL0; the hardware's counters are perf's. So no native config has
 * counters, and what is about them is never called.
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

/* A function that calls others needs a stack frame, so calls are avoided. */
#define PERFCTR_CPU_APART	__always_inline

/* The counter of some processors must be read in another way, which the kernel knows. */
DECLARE_STATIC_KEY_FALSE(perfctr_arm64_unstable);
u64 perfctr_arm64_stable_clock(void);

/*
 * Without an ISB, so the processor may read it some instructions early. But not before the
 * exception that led from user mode to here, nor after the return to user mode.
 */
static __always_inline u64 perfctr_cpu_clock(void)
{
	if (static_branch_unlikely(&perfctr_arm64_unstable))
		return perfctr_arm64_stable_clock();
	return read_sysreg(cntvct_el0);
}

/* prctl(PR_SET_TSC) makes reads of the clock a SIGSEGV. */
#define PERFCTR_CPU_HIDES_CLOCK

static __always_inline bool perfctr_cpu_clock_hidden(void)
{
	return test_thread_flag(TIF_TSC_SIGSEGV);
}

/* As user space sees it. A thread of 32 bits has another register, and the library none. */
static inline u64 perfctr_cpu_thread_pointer(struct task_struct *task)
{
	if (is_compat_thread(task_thread_info(task)))
		return 0;
	return task == current ? read_sysreg(tpidr_el0) : task->thread.uw.tp_value;
}

/* What would fault, fails. */
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

/* By place, as on x86 */
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

/* Without counters there is nothing to load. */
static __always_inline bool perfctr_cpu_holds(const struct perfctr_config *config)
{
	return true;
}

static inline int perfctr_cpu_load(const struct perfctr_config *config)
{
	return 0;
}

/* Only states with counters ask by id. */
static __always_inline bool perfctr_cpu_holds_on(int cpu, unsigned long id)
{
	return false;
}

/*
 * What follows is of counters, or of registers that hold their counts.
 */

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

static inline void perfctr_cpu_join(const struct task_struct *next)
{
}

static inline void perfctr_cpu_share(void)
{
}

#define PERFCTR_CPU_SHARED_INLINE	1

extern const char perfctr_arm64_stubs[];

/* Of PMUv3, by perf's number: 31 is the cycle counter. */
static __always_inline u64 perfctr_arm64_counter(unsigned long index)
{
	register u64 value asm("x9");

	asm volatile("blr %1" : "=r" (value) : "r" (perfctr_arm64_stubs + 16 * index)
		     : "x30", "memory");
	return value;
}

/*
 * As armpmu_event_update() for events of 32 bits, but nothing is written. An NMI may do that in
 * between, and give the register a new start as well: then prev_count, count or both change.
 * Neither is enough, as prev_count is the same again after an overflow. The upper half of the
 * register counts something else, or is a bias of perf's.
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
