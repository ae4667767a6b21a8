/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hot path of the x86 driver. Hardware counters 0 to 23 are the general-purpose counters, and
 * 24 to 31 the fixed counters. Numbers from 32 on are TopDown's metrics, which have no counters and
 * are in no bit map. The clock is the TSC.
 */
#ifndef PERFCTR_X86_CPU_H
#define PERFCTR_X86_CPU_H

#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/desc.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include <asm/ptrace.h>
#include <asm/segment.h>

#define PERFCTR_X86_FIXED	24	/* the first fixed counter */
#define PERFCTR_X86_MAX		32
#define PERFCTR_X86_METRIC	PERFCTR_X86_MAX	/* the first metric */
#define PERFCTR_X86_SLOTS	(PERFCTR_X86_FIXED + 3)	/* TopDown's metrics are parts of it */

#define PERFCTR_X86_CONTROLS	64	/* the most control registers of a CPU */

#define PERFCTR_X86_NO_CORE	0xffffffffu
/* No processor has these types: see verify.c and beside.c. */
#define PERFCTR_X86_CHANGED	0xfffffffeu
#define PERFCTR_X86_LOST	0xfffffffdu

/**
 * struct perfctr_x86_cpu - the counters of a CPU. Only that CPU accesses this structure, with
 * interrupts off. Before the CPU comes up, another CPU prepares it
 * @active: id of the config that is loaded, so that its states may be resumed at once. 0: none
 * @private_kin: the kin to which the registers are private. 0: they are not private. Since the
 *	registers were zero, all threads that have run and may read registers were of this kin and
 *	of @private_uid. Other threads need perfctr_cpu_load(). At most one of @private_kin and
 *	@active is set
 * @private_uid: the user to whom the registers are private
 * @private_id: id of the config to which the registers are private
 * @private_mm: context.ctx_id of the only mm whose counts are in the registers. 0: there are
 *	several, or the mm is not known
 * @core: the type of the core. On a hybrid processor this is EAX of CPUID leaf 1AH, on other
 *	processors 0. PERFCTR_X86_NO_CORE, which no config has: the CPU lacks something that the
 *	others have, or does not count, or its counters belong to another CPU
 * @tried: counters that have been tried since the CPU came up
 * @bad: counters that failed their trial
 * @bad_events: events of perfctr_pmu.events that the counters do not count
 * @ours: we have the counters, and the registers hold what this structure says
 * @load_core: the type of configs that may be loaded, mostly @core. PERFCTR_X86_CHANGED: somebody
 *	else has written to the registers, so no config may be loaded until we take the registers
 *	again or give them back. PERFCTR_X86_LOST: beside perf, the CPU does not hold all counters
 *	that it should
 * @held: beside perf: the counters that this CPU holds: see beside.c
 * @verified: jiffies when the registers were last compared with this structure
 * @froze: the freeze bit was set before we took the counters
 * @overrides: firmware counted when we took the registers, and will get them back
 * @found: values of the control registers when we took them from firmware
 * @running: counters that count if their own controls enable them. The others are stopped by
 *	@global_ctrl or @together of struct perfctr_pmu, whatever their own controls say
 * @enabled: counters that their own controls enable
 * @interrupting: counters that their own controls let interrupt. They run only while a state with
 *	these i-mode counters is resumed
 * @dirty: counters that may not be zero
 * @negative: counters of @dirty that were i-mode counters, so they may be below zero
 * @control: our copy of the control registers, in the order of perfctr_pmu.control
 * @global_ctrl: value of the global control before we took it
 */
struct perfctr_x86_cpu {
	unsigned long active;
	unsigned long private_kin;
	kuid_t private_uid;
	unsigned long private_id;
	u64 private_mm;
	u32 core;
	u32 load_core;
	u32 held;
	unsigned long verified;
	u32 tried;
	u32 bad;
	u32 bad_events;
	bool ours;
	bool froze;
	bool overrides;
	u32 running;
	u32 enabled;
	u32 interrupting;
	u32 dirty;
	u32 negative;
	u64 control[PERFCTR_X86_CONTROLS];
	u64 found[PERFCTR_X86_CONTROLS];
	u64 global_ctrl;
};

DECLARE_PER_CPU(struct perfctr_x86_cpu, perfctr_x86_cpu);

/*
 * With noinline, a call at the end of a function becomes a jump, so the function needs no stack
 * frame.
 */
#define PERFCTR_CPU_RARE	noinline

/* Only 32-bit kernels run on processors without RDPMC or without a time-stamp counter. */
#ifndef PERFCTR_X86_OLD
#define PERFCTR_X86_OLD	IS_ENABLED(CONFIG_X86_32)
#endif

/*
 * These keys are constant after init: see perfctr_x86_read_by_rdmsr() and
 * perfctr_x86_use_kernels_clock().
 */
DECLARE_STATIC_KEY_FALSE(perfctr_x86_rdmsr_key);
DECLARE_STATIC_KEY_FALSE(perfctr_x86_clock_key);

u64 perfctr_x86_read_ctr_msr(u32 msr);
u64 perfctr_x86_kernels_clock(void);

/* Returns true if the clock is the kernel's and not the time-stamp counter. */
static __always_inline bool perfctr_x86_clock_is_kernels(void)
{
	return PERFCTR_X86_OLD && static_branch_unlikely(&perfctr_x86_clock_key);
}

static __always_inline bool perfctr_x86_has_no_rdpmc(void)
{
	return PERFCTR_X86_OLD && static_branch_unlikely(&perfctr_x86_rdmsr_key);
}

static __always_inline u64 perfctr_cpu_clock(void)
{
	return perfctr_x86_clock_is_kernels() ? perfctr_x86_kernels_clock() : rdtsc();
}

/*
 * RDPMC's number of each counter, and of the register of each metric. If there is no RDPMC, these
 * are the MSRs of the counters. Constant after init.
 */
extern u32 perfctr_x86_rdpmc[PERFCTR_X86_METRIC + PERFCTR_METRICS];

/* Returns RDPMC's number of the counter, or @hw itself if there is no RDPMC. */
static __always_inline u32 perfctr_cpu_operand(unsigned int hw)
{
	return perfctr_x86_has_no_rdpmc() ? hw : perfctr_x86_rdpmc[hw];
}

static __always_inline void perfctr_cpu_bind(struct perfctr_cpu_ctr *ctr, unsigned int hw)
{
	ctr->read = perfctr_x86_rdpmc[hw];
}

static __always_inline u64 perfctr_cpu_read(const struct perfctr_cpu_ctr *ctr)
{
	u32 low, high;

	if (perfctr_x86_has_no_rdpmc())
		return perfctr_x86_read_ctr_msr(ctr->read);
	/* RDPMC cannot fault, because we bind only counters that exist. */
	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" ((u32)ctr->read));
	return (u64)high << 32 | low;
}

unsigned int perfctr_cpu_iwidth(void);
u64 perfctr_cpu_irange(void);
int perfctr_cpu_istart(const struct perfctr_config *config, const u64 *value);
void perfctr_cpu_istop(const struct perfctr_config *config, const void *id);
void perfctr_cpu_iclear(const struct perfctr_config *config);

/*
 * Always true. Our counters interrupt by the vector of irq_work, and we cannot tell the two
 * interrupts apart. perf has no counters meanwhile.
 */
static inline bool perfctr_cpu_ioverflowed(const struct perfctr_config *config)
{
	return true;
}

/* Never true, so perfctr_cpu_istart() always gets values and never NULL. */
static inline bool perfctr_cpu_istopped(const void *id)
{
	return false;
}

/*
 * Disables page faults, so that a store fails if its page is not in memory. Therefore
 * perfctr_cpu_faulted() is never true.
 */
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
	return this_cpu_read(perfctr_x86_cpu.active) == READ_ONCE(config->id);
}

static __always_inline bool perfctr_cpu_has_loaded_on(int cpu, unsigned long id)
{
	return this_cpu_read(perfctr_x86_cpu.active) == id;
}

int perfctr_cpu_load(const struct perfctr_config *config);

#define PERFCTR_CPU_METRICS

static inline int perfctr_cpu_metric(unsigned int hw)
{
	if (hw == PERFCTR_X86_SLOTS)
		return PERFCTR_WHOLE;
	return hw < PERFCTR_X86_METRIC ? 0 : 1 + hw - PERFCTR_X86_METRIC;
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
	return this_cpu_read(perfctr_x86_cpu.load_core) == PERFCTR_X86_CHANGED;
}

/*
 * perfctr_x86_siblings is true if hyperthreads share their counters, so that only the first
 * hyperthread of each core may count. perfctr_x86_session_bits are the bits of a control's config
 * that choose what to count of the other hyperthread. Both are constant after init.
 */
#define PERFCTR_CPU_KEEPS_OFF

extern bool perfctr_x86_siblings;
extern u64 perfctr_x86_session_bits;

static inline bool perfctr_cpu_keeps_off(void)
{
	return perfctr_x86_siblings;
}

static inline bool perfctr_cpu_out_of_place(void)
{
	return perfctr_x86_siblings &&
	       this_cpu_read(perfctr_x86_cpu.core) == PERFCTR_X86_NO_CORE;
}

static inline bool perfctr_cpu_for_sessions(const struct perfctr_ctr_control *ctr)
{
	return ctr->config & perfctr_x86_session_bits;
}

/*
 * If perfctr_x86_more_config is true, the family checks config1 and config2 of a control. Otherwise
 * config1 and config2 must be zero. Constant after init.
 */
#define PERFCTR_CPU_MORE_CONFIG

extern bool perfctr_x86_more_config;

static inline bool perfctr_cpu_more_config(void)
{
	return perfctr_x86_more_config;
}

#define PERFCTR_CPU_CLOCK_SLOT	64

/*
 * A page has a slot for each index in the control, and not for each hardware counter. So readers
 * need not look up the hardware counter.
 */
static inline unsigned long perfctr_cpu_slot(const struct perfctr_config *config,
					     unsigned long i)
{
	return i;
}

/*
 * Returns the thread pointer in 32-bit mode: the base of the segment that GS selects, which is one
 * of the thread's TLS segments in the GDT. Returns 0 if GS selects any other segment, even one in
 * the LDT.
 */
static inline u64 perfctr_cpu_thread_pointer_32(struct task_struct *task)
{
	unsigned int selector, entry;

	if (task == current)
		savesegment(gs, selector);
	else
#ifdef CONFIG_X86_64
		selector = task->thread.gsindex;
#else
		selector = task->thread.gs;
#endif
	entry = (selector >> 3) - GDT_ENTRY_TLS_MIN;
	if (selector & SEGMENT_TI_MASK || entry >= GDT_ENTRY_TLS_ENTRIES)
		return 0;
	return get_desc_base(&task->thread.tls_array[entry]);
}

/*
 * Returns the thread pointer as user space sees it. We read the register of the running thread,
 * because user mode can change it with FSGSBASE.
 */
static inline u64 perfctr_cpu_thread_pointer(struct task_struct *task)
{
#ifdef CONFIG_X86_64
	u32 low, high;

	if (!user_64bit_mode(task_pt_regs(task)))
		return perfctr_cpu_thread_pointer_32(task);
	if (task != current)
		return task->thread.fsbase;
	asm volatile("rdmsr" : "=a" (low), "=d" (high) : "c" (MSR_FS_BASE));
	return (u64)high << 32 | low;
#else
	return perfctr_cpu_thread_pointer_32(task);
#endif
}

/*
 * CR4.PCE permits RDPMC, so we read CR4 itself. The kernel sets this bit for whole processes
 * (rdpmc.c), and clears it again when perf's attribute "rdpmc" says so.
 */
static __always_inline bool perfctr_cpu_user_permitted(const struct perfctr_config *config)
{
	unsigned long cr4;

	asm volatile("mov %%cr4, %0" : "=r" (cr4));
	return cr4 & X86_CR4_PCE;
}

static inline bool perfctr_cpu_user_readable(const struct perfctr_config *config,
					     unsigned int policy)
{
	/* A dying thread may have lost its mm. */
	if (policy == PERFCTR_USER_READ_OFF || !current->mm)
		return false;
	return !config->nr || perfctr_cpu_user_permitted(config);
}

static inline bool perfctr_cpu_private(unsigned long kin, kuid_t uid)
{
	const struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	return cpu->private_kin == kin && uid_eq(cpu->private_uid, uid);
}

static inline kuid_t perfctr_cpu_private_user(void)
{
	return this_cpu_ptr(&perfctr_x86_cpu)->private_uid;
}

static inline bool perfctr_cpu_runs(void)
{
	return this_cpu_read(perfctr_x86_cpu.running);
}

int perfctr_cpu_restart(const struct perfctr_config *config, unsigned long kin, kuid_t uid);
void perfctr_cpu_leave(void);
void perfctr_cpu_make_public(void);

static inline void perfctr_cpu_leave_to_kin(const struct task_struct *next)
{
	if (!next->mm || this_cpu_read(perfctr_x86_cpu.private_mm) != next->mm->context.ctx_id)
		this_cpu_write(perfctr_x86_cpu.private_mm, 0);
}

/*
 * After prctl(PR_SET_TSC), or in seccomp's strict mode, CR4.TSD is set, and RDTSC would kill the
 * thread.
 */
#define PERFCTR_CPU_HIDES_CLOCK

static __always_inline bool perfctr_cpu_clock_hidden(void)
{
	return perfctr_x86_clock_is_kernels() || test_thread_flag(TIF_NOTSC);
}

#define PERFCTR_CPU_MODELESS

bool perfctr_cpu_modeless(void);

/* There is nothing to grant to a thread, because its whole process has the permission. */
static inline unsigned long perfctr_cpu_grant(const struct perfctr_config *config)
{
	return 0;
}

static inline void perfctr_cpu_revoke(u32 granted)
{
}

#define PERFCTR_CPU_PERMITS_PROCESSES

/* The number of callers that are about to permit an mm to execute RDPMC */
extern atomic_t perfctr_x86_giving;

/*
 * Returns true if the task may execute RDPMC, or will soon be permitted to do so. This includes
 * permissions by perf, but perf has no counters while we have them.
 */
static __always_inline bool perfctr_cpu_is_permitted(const struct task_struct *task)
{
	return task->mm && (atomic_read(&task->mm->context.perf_rdpmc_allowed) ||
			    unlikely(atomic_read(&perfctr_x86_giving)));
}

static inline void perfctr_cpu_giving(bool giving)
{
	if (giving)
		atomic_inc(&perfctr_x86_giving);
	else
		atomic_dec(&perfctr_x86_giving);
}

static inline bool perfctr_cpu_may_see(const struct task_struct *task)
{
	const struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	return !cpu->ours || cpu->private_mm == task->mm->context.ctx_id;
}

void perfctr_cpu_scrub(const struct task_struct *next);

bool perfctr_cpu_can_guard(void);
void perfctr_cpu_guard_init(void (*ends)(void));
void perfctr_cpu_guard_exit(void);

void perfctr_cpu_permit_init(void (*changes)(bool ends), void (*hides)(void));
void perfctr_cpu_permit_exit(void);
int perfctr_cpu_watch_readers(void (*comes)(void));
bool perfctr_cpu_can_permit(void);
/* Call this before perfctr_cpu_permit_init(), which then lets no process execute RDPMC. */
void perfctr_x86_forbid_user_reads(void);
int perfctr_cpu_mm_get(struct mm_struct *mm);
bool perfctr_cpu_mm_put(struct mm_struct *mm);
bool perfctr_cpu_mm_waits(struct mm_struct *mm);
bool perfctr_cpu_mm_permit(struct mm_struct *mm);
void perfctr_cpu_mm_forked(struct mm_struct *mm);
/*
 * Ends all permissions that processes still have. Call it when perf has no counters any more and we
 * have none yet. May sleep.
 */
void perfctr_x86_forget_permits(void);
/*
 * Tells rdpmc.c whether we have the counters. An mm that was given the permission has it only while
 * we have the counters. A CPU applies a change when it calls perfctr_cpu_update_permission(). May
 * sleep.
 */
void perfctr_x86_permit_claimed(bool claimed);
/* Returns true if any mm has the permission now. May sleep. */
bool perfctr_x86_any_permitted(void);
bool perfctr_cpu_mm_any_given(void);
bool perfctr_cpu_withhold(unsigned int why, bool withhold);
void perfctr_cpu_update_permission(void);
/*
 * Call this with false before perf may change registers that we hold, and with true afterwards. On
 * this CPU no state and no session counts in between. Interrupts are off.
 */
void perfctr_x86_registers_change(bool ends);
/*
 * Calls perf's function that zeroes counts which perf has left in this CPU's counters. Call it when
 * perf has no counters any more and we have none yet, with interrupts off.
 */
void perfctr_x86_clear_perfs(void);

#define PERFCTR_CPU_ONE_SOURCE

bool perfctr_cpu_has_one_source(void);

#define PERFCTR_CPU_SHARED_INLINE	1

/* A mask of the bits that perf's counters have, or 0 if it is not known. Constant after init. */
extern u64 perfctr_x86_shared_mask;

/*
 * Returns the count of an event of perf's. This computes what x86_perf_event_update() does, but
 * writes nothing. An NMI may update the event or restart the register in between, and then
 * prev_count, count or both change. We must compare both, because prev_count is the same again
 * after an overflow.
 */
static __always_inline u64 perfctr_cpu_shared_read(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	u64 prev, count, now;
	u32 low, high;

	do {
		prev = local64_read(&hw->prev_count);
		count = local64_read(&event->count);
		asm volatile("rdpmc" : "=a" (low), "=d" (high)
			     : "c" (READ_ONCE(hw->event_base_rdpmc)) : "memory");
	} while (unlikely(prev != local64_read(&hw->prev_count) ||
			  count != local64_read(&event->count)));
	now = (u64)high << 32 | low;
	return count + ((now - prev) & perfctr_x86_shared_mask);
}

static __always_inline bool perfctr_cpu_shared_filters(const struct perf_event *event)
{
	return true;
}

void perfctr_x86_shared_init(void);
/* Forgets the results of trials on CPU @cpu, which is down. */
void perfctr_x86_shared_forget(unsigned int cpu);
bool perfctr_cpu_shared_exists(void);
bool perfctr_cpu_shared_inline(const struct perf_event *event);
u32 perfctr_cpu_shared_refusal(const struct perfctr_shared_attr *attr);
bool perfctr_cpu_shared_needs_privilege(const struct perfctr_shared_attr *attr);

#define PERFCTR_CPU_SHARED_TRIES
bool perfctr_cpu_shared_twin(const struct perf_event *event, struct perfctr_shared_attr *attr);
void perfctr_cpu_shared_try(struct perf_event *twin);
bool perfctr_cpu_shared_discloses(void);
void perfctr_cpu_shared_watch(bool on);
bool perfctr_cpu_shared_hides(const struct perf_event *event);

#endif /* PERFCTR_X86_CPU_H */
