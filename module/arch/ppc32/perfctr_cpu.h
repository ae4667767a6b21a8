/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hot path of the ppc32 driver. Hardware counter n is PMC<n + 1>. The clock is the timebase.
 *
 * From the 750 on, each counter has a copy that user mode can always read. So registers that run or
 * are not zero are private to a user, unless the policy is "open": see registers.c. The 604 and
 * 604e have no such copies.
 */
#ifndef PERFCTR_PPC32_CPU_H
#define PERFCTR_PPC32_CPU_H

#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/processor.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <asm/ptrace.h>
#include <asm/time.h>

#include "arch/ppc32/stubs.h"

#define PERFCTR_PPC32_MAX	6	/* the largest number of counters */
#define PERFCTR_PPC32_MMCRS	3	/* the largest number of control registers */

/**
 * struct perfctr_ppc32_cpu - what the counters of a CPU do. Only this CPU accesses it, with
 *	interrupts off. Other CPUs may access it while this CPU is down
 * @active: id of the config that this CPU has loaded for everybody, so a switch may resume states
 *	of that config; or 0
 * @private_kin: kin of the config that this CPU counts only for threads of @private_uid, or 0. The
 *	registers then hold no counts of other threads. At most one of @private_kin and @active is
 *	set
 * @private_uid: the user to whom the registers are private, if @private_kin is set
 * @istopped: id passed to the last perfctr_cpu_istop(), if the registers have not changed since;
 *	only compared
 * @ours: the registers are set up for this module
 * @changed: somebody else has written to the registers since they became ours
 * @reported: @changed was reported
 * @found: the value of MMCR0 when @changed was set
 * @mmcr: the values that we wrote to the control registers. The processor may have changed MMCR0
 *	since: see write_mmcr0()
 * @stopped: MMCR0 as perfctr_cpu_istop() found it, for perfctr_cpu_suspend_own_way()
 * @dirty: counters that may not be zero
 * @imask: a subset of @dirty: counters that may hold the count of an i-mode counter
 */
struct perfctr_ppc32_cpu {
	unsigned long active;
	unsigned long private_kin;
	kuid_t private_uid;
	const void *istopped;
	bool ours;
	bool changed;
	bool reported;
	u32 found;
	u32 mmcr[PERFCTR_PPC32_MMCRS];
	u32 stopped;
	u32 dirty;
	u32 imask;
};

DECLARE_PER_CPU(struct perfctr_ppc32_cpu, perfctr_ppc32_cpu);

/* A function that calls others needs a stack frame, so we avoid calls. */
#define PERFCTR_CPU_RARE	__always_inline

static __always_inline void perfctr_cpu_bind(struct perfctr_cpu_ctr *ctr, unsigned int hw)
{
	ctr->read = perfctr_ppc32_stub(hw);
}

#define PERFCTR_CPU_BINDS_ICTRS

static __always_inline void perfctr_cpu_bind_ictr(struct perfctr_cpu_ctr *ctr, unsigned int hw)
{
	ctr->read = perfctr_ppc32_stub(PERFCTR_PPC32_MAX + hw);
}

static __always_inline u64 perfctr_cpu_read(const struct perfctr_cpu_ctr *ctr)
{
	return perfctr_ppc32_read(ctr->read);
}

static __always_inline u64 perfctr_cpu_clock(void)
{
	return get_tb();
}

/* Everybody may read the timebase. */
static __always_inline bool perfctr_cpu_clock_hidden(void)
{
	return false;
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

static __always_inline bool perfctr_cpu_has_loaded(const struct perfctr_config *config)
{
	return this_cpu_ptr(&perfctr_ppc32_cpu)->active == READ_ONCE(config->id);
}

static __always_inline bool perfctr_cpu_has_loaded_on(int cpu, unsigned long id)
{
	return per_cpu(perfctr_ppc32_cpu, cpu).active == id;
}

int perfctr_cpu_load(const struct perfctr_config *config);

/* A register of an i-mode counter has 32 bits. */
static inline unsigned int perfctr_cpu_iwidth(void)
{
	return 32;
}

/*
 * Returns half of the range of a register. A value in the other half means overflow, even if the
 * interrupt is late.
 */
static inline u64 perfctr_cpu_irange(void)
{
	return BIT_ULL(31);
}

int perfctr_cpu_istart(const struct perfctr_config *config, const u64 *value);
void perfctr_cpu_istop(const struct perfctr_config *config, const void *id);
void perfctr_cpu_iclear(const struct perfctr_config *config);

/*
 * Always returns true, because while a state with i-mode counters runs, no other counters
 * interrupt.
 */
static inline bool perfctr_cpu_ioverflowed(const struct perfctr_config *config)
{
	return true;
}

static inline bool perfctr_cpu_istopped(const void *id)
{
	return this_cpu_ptr(&perfctr_ppc32_cpu)->istopped == id;
}

#define PERFCTR_CPU_OWN_WAY

void perfctr_cpu_resume_own_way(const struct perfctr_config *config,
				struct perfctr_cpu_state *state);
void perfctr_cpu_suspend_own_way(const struct perfctr_config *config,
				 struct perfctr_cpu_state *state);
void perfctr_cpu_sample_own_way(const struct perfctr_config *config,
				struct perfctr_cpu_state *state, u64 *value);

#define PERFCTR_CPU_VERIFIES

bool perfctr_cpu_verify(void);

static inline bool perfctr_cpu_changed(void)
{
	return this_cpu_ptr(&perfctr_ppc32_cpu)->changed;
}

#define PERFCTR_CPU_CLOCK_SLOT	64

/* A page has a slot for each index, as on x86. */
static inline unsigned long perfctr_cpu_slot(const struct perfctr_config *config,
					     unsigned long i)
{
	return i;
}

/* Returns the number by which user code chooses the instruction. */
static inline u32 perfctr_cpu_operand(unsigned int hw)
{
	return hw;
}

/* The 32-bit ABI keeps the thread pointer in r2. */
static inline u64 perfctr_cpu_thread_pointer(struct task_struct *task)
{
	return task_pt_regs(task)->gpr[2];
}

/* True if the counters have copies that user mode reads. Constant after init. */
DECLARE_STATIC_KEY_FALSE(perfctr_ppc32_copies);

#define PERFCTR_CPU_ALWAYS_READABLE

static __always_inline bool perfctr_cpu_always_readable(void)
{
	return static_branch_likely(&perfctr_ppc32_copies);
}

void perfctr_cpu_rest(void);

static inline bool perfctr_cpu_user_readable(const struct perfctr_config *config,
					     unsigned int policy)
{
	return policy != PERFCTR_USER_READ_OFF && (perfctr_cpu_always_readable() || !config->nr);
}

/* Always returns true, because a page shows registers only if user mode can always read them. */
static __always_inline bool perfctr_cpu_user_permitted(const struct perfctr_config *config)
{
	return true;
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
	const struct perfctr_ppc32_cpu *cpu = this_cpu_ptr(&perfctr_ppc32_cpu);

	return cpu->private_kin == kin && uid_eq(cpu->private_uid, uid);
}

static inline kuid_t perfctr_cpu_private_user(void)
{
	return this_cpu_ptr(&perfctr_ppc32_cpu)->private_uid;
}

/* Private registers always run. */
static inline bool perfctr_cpu_runs(void)
{
	return true;
}

int perfctr_cpu_restart(const struct perfctr_config *config, unsigned long kin, kuid_t uid);

/*
 * Does nothing if the registers are not private. Such registers count for everybody: the policy is
 * "open", or there are no copies.
 */
static inline void perfctr_cpu_leave(void)
{
	if (this_cpu_ptr(&perfctr_ppc32_cpu)->private_kin)
		perfctr_cpu_rest();
}

static inline void perfctr_cpu_make_public(void)
{
	perfctr_cpu_leave();
}

static inline void perfctr_cpu_leave_to_kin(const struct task_struct *next)
{
}

/*
 * Either perf has all counters, or we have them. perf's only driver is for the 745x, and reads its
 * counters itself.
 */
#define PERFCTR_CPU_ONE_SOURCE

static inline bool perfctr_cpu_has_one_source(void)
{
	return true;
}

#define PERFCTR_CPU_SHARED_INLINE	0

static inline u64 perfctr_cpu_shared_read(struct perf_event *event)
{
	return 0;
}

static inline bool perfctr_cpu_shared_inline(const struct perf_event *event)
{
	return false;
}

static inline u32 perfctr_cpu_shared_refusal(const struct perfctr_shared_attr *attr)
{
	return PERFCTR_REASON_NONE;
}

static inline bool perfctr_cpu_shared_needs_privilege(const struct perfctr_shared_attr *attr)
{
	return false;
}

static __always_inline bool perfctr_cpu_shared_filters(const struct perf_event *event)
{
	return true;
}

/* User mode can read the copies of perf's counters, too. No setting of perf's prevents that. */
static inline bool perfctr_cpu_shared_discloses(void)
{
	return perfctr_cpu_always_readable();
}

static inline void perfctr_cpu_shared_watch(bool on)
{
}

static inline bool perfctr_cpu_shared_hides(const struct perf_event *event)
{
	return false;
}

bool perfctr_cpu_shared_exists(void);

#endif /* PERFCTR_PPC32_CPU_H */
