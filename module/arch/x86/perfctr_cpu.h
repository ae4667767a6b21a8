/* SPDX-License-Identifier: GPL-2.0 */
/* x86, clock only: the time-stamp counter. There are no counters to hold, load or show. */
#ifndef PERFCTR_X86_CPU_H
#define PERFCTR_X86_CPU_H

#include <linux/sched.h>
#include <asm/msr.h>
#include <asm/processor.h>

static __always_inline u64 perfctr_cpu_clock(void)
{
	return rdtsc();
}

static __always_inline void perfctr_cpu_bind(struct perfctr_cpu_ctr *ctr, unsigned int hw)
{
}

static __always_inline u64 perfctr_cpu_read(const struct perfctr_cpu_ctr *ctr)
{
	return 0;
}

static inline void perfctr_cpu_unbind(struct perfctr_cpu_ctr *ctr)
{
}

static inline void perfctr_cpu_ibind(struct perfctr_cpu_ctr *ctr, unsigned int hw)
{
}

static inline bool perfctr_cpu_ictrs_are_plain(void)
{
	return true;
}

static inline u64 perfctr_cpu_irange(void)
{
	return 0;
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

static inline bool perfctr_cpu_istopped(const void *id)
{
	return false;
}

static __always_inline bool perfctr_cpu_holds(const struct perfctr_config *config)
{
	return config != (const void *)-1UL;
}

static __always_inline int perfctr_cpu_load(const struct perfctr_config *config)
{
	return 0;
}

static __always_inline void perfctr_cpu_resume(struct perfctr_cpu_state *state)
{
	state->clock -= perfctr_cpu_clock();
}

static __always_inline void perfctr_cpu_suspend(struct perfctr_cpu_state *state)
{
	state->clock += perfctr_cpu_clock();
}

/* RDPMC operands have bits 0..62 of the slots to themselves. */
#define PERFCTR_CPU_CLOCK_SLOT	63

static inline unsigned int perfctr_cpu_slot(unsigned int hw)
{
	return hw;
}

/* As user space sees it: with FSGSBASE it changes without the kernel. */
static inline u64 perfctr_cpu_thread_pointer(struct task_struct *task)
{
#ifdef CONFIG_X86_64
	u32 low, high;

	if (task != current)
		return task->thread.fsbase;
	asm volatile("rdmsr" : "=a" (low), "=d" (high) : "c" (MSR_FS_BASE));
	return (u64)high << 32 | low;
#else
	return get_desc_base(&task->thread.tls_array[0]);
#endif
}

static inline bool perfctr_cpu_user_readable(const struct perfctr_config *config,
					     unsigned int policy)
{
	return policy != PERFCTR_USER_READ_OFF;
}

static inline bool perfctr_cpu_private(const struct perfctr_config *config, kuid_t uid)
{
	return true;
}

static inline int perfctr_cpu_restart(const struct perfctr_config *config, kuid_t uid)
{
	return 0;
}

static inline void perfctr_cpu_share(void)
{
}

static inline u32 perfctr_cpu_grant(const struct perfctr_config *config)
{
	return 0;
}

static inline void perfctr_cpu_revoke(u32 granted)
{
}

#endif /* PERFCTR_X86_CPU_H */
