/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hot path of the x86 driver. Hardware counter n below 24 is the general-purpose
 * counter n, one from 24 on the fixed counter n - 24. The clock is the TSC.
 */
#ifndef PERFCTR_X86_CPU_H
#define PERFCTR_X86_CPU_H

#include <linux/percpu.h>
#include <linux/sched.h>
#include <asm/msr.h>
#include <asm/processor.h>

#define PERFCTR_X86_FIXED	24	/* the first fixed counter */
#define PERFCTR_X86_MAX		32

#define PERFCTR_X86_RDPMC_FIXED	0x40000000u	/* RDPMC's name of that one */

/**
 * struct perfctr_x86_cpu - what this CPU's counters do; only that CPU touches it,
 *	with interrupts off
 * @active: config whose counters all count as it wants them, or NULL
 * @ours: the registers are set up for us: what is here is what they hold
 * @evntsel: the event selects
 * @fixed_ctrl: control of the fixed counters
 * @global_ctrl: what the global control held before
 */
struct perfctr_x86_cpu {
	const struct perfctr_config *active;
	bool ours;
	u32 evntsel[PERFCTR_X86_FIXED];
	u64 fixed_ctrl;
	u64 global_ctrl;
};

DECLARE_PER_CPU(struct perfctr_x86_cpu, perfctr_x86_cpu);

static __always_inline u64 perfctr_cpu_clock(void)
{
	return rdtsc();
}

static __always_inline void perfctr_cpu_bind(struct perfctr_cpu_ctr *ctr, unsigned int hw)
{
	ctr->read = hw < PERFCTR_X86_FIXED ? hw :
					     PERFCTR_X86_RDPMC_FIXED + hw - PERFCTR_X86_FIXED;
}

static __always_inline u64 perfctr_cpu_read(const struct perfctr_cpu_ctr *ctr)
{
	u32 low, high;

	/* It cannot fault: only counters that CPUID tells of are ever bound. */
	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" ((u32)ctr->read));
	return (u64)high << 32 | low;
}

/* Without i-mode counters so far, so none is ever unbound. */
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
	return this_cpu_read(perfctr_x86_cpu.active) == config;
}

int perfctr_cpu_load(const struct perfctr_config *config);

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

/*
 * The clock alone: RDPMC is not permitted to user mode so far. Its permission is
 * one of the whole process, so it takes more than a switch of the thread.
 */
static inline bool perfctr_cpu_user_readable(const struct perfctr_config *config,
					     unsigned int policy)
{
	return policy != PERFCTR_USER_READ_OFF && !config->nr;
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
