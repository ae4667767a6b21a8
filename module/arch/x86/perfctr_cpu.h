/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hot path of the x86 driver. Hardware counter n below 24 is general-purpose counter n; from 24 on
 * it is fixed counter n - 24; from 32 on it is TopDown's metric n - 32, which has no counter and is
 * in no bit map. The clock is the TSC.
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
#define PERFCTR_X86_SLOTS	(PERFCTR_X86_FIXED + 3)	/* metrics are parts of this one */

#define PERFCTR_X86_CONTROLS	64	/* most control registers that all counters have together */

#define PERFCTR_X86_NO_CORE	0xffffffffu
#define PERFCTR_X86_CHANGED	0xfffffffeu	/* also no processor's: see verify.c */

/**
 * struct perfctr_x86_cpu - what this CPU's counters do. Only that CPU accesses it, with interrupts
 * off, except to prepare it before the CPU comes up
 * @active: id of the config whose counters all count as it wants them, so its states may be resumed
 *	at once; or 0
 * @private_kin: kin of a config; or 0. Since all registers were zero, only its threads of
 *	@private_uid that read registers have run; others need perfctr_cpu_load(). At most one of
 *	@private_kin and @active is set
 * @private_uid: see @private_kin
 * @private_id: id of the config of @private_kin
 * @private_mm: context.ctx_id of the only mm whose counts are in the registers; 0: there are
 *	several, or it is not known
 * @core: on a hybrid processor, the core's type and native model (CPUID leaf 1AH's EAX); on others
 *	0. Or PERFCTR_X86_NO_CORE, which no config has: the CPU lacks something that the others
 *	have, or does not count, or its counters are another CPU's
 * @tried: its counters have been tried since it came up
 * @bad: counters that do not count
 * @bad_events: events of perfctr_pmu.events that its counters do not count
 * @ours: the registers are set up for us, and hold what this structure says
 * @load_core: configs with this @core may be loaded: the CPU's own; or, after somebody else has
 *	written to the registers, PERFCTR_X86_CHANGED, until they are taken again or given back
 * @verified: jiffies when the registers were last compared with this structure
 * @froze: before we took the counters, an overflow interrupt stopped all of them
 * @overrides: firmware counted when we took the registers, and gets them back
 * @found: what the control registers held then
 * @running: counters, by number, that count if their own controls let them. All others stand still
 *	whatever their controls say: see struct perfctr_pmu's @global_ctrl and @together
 * @enabled: counters whose own control lets them count something
 * @interrupting: counters whose own control lets them interrupt. They stand still, except for
 *	states that count with them
 * @dirty: counters that may not be zero
 * @negative: those of @dirty that were i-mode counters
 * @control: what the control registers hold, as struct perfctr_pmu numbers them
 * @global_ctrl: what the global control held before we took it
 */
struct perfctr_x86_cpu {
	unsigned long active;
	unsigned long private_kin;
	kuid_t private_uid;
	unsigned long private_id;
	u64 private_mm;
	u32 core;
	u32 load_core;
	unsigned long verified;
	bool tried;
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

/* A call at the end of a function is a jump, and only the callee then needs a stack frame. */
#define PERFCTR_CPU_RARE	noinline

/* Only 32-bit kernels run on processors without RDPMC or without a time-stamp counter. */
#ifndef PERFCTR_X86_OLD
#define PERFCTR_X86_OLD	IS_ENABLED(CONFIG_X86_32)
#endif

/* Constant after init: see perfctr_x86_read_by_rdmsr(), perfctr_x86_use_kernels_clock() */
DECLARE_STATIC_KEY_FALSE(perfctr_x86_rdmsr_key);
DECLARE_STATIC_KEY_FALSE(perfctr_x86_clock_key);

u64 perfctr_x86_read_ctr_msr(u32 msr);
u64 perfctr_x86_kernels_clock(void);

/* True if the clock is not the time-stamp counter. */
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
 * RDPMC's number of each counter, and of the register of each metric; or the counters' MSRs, if
 * there is no RDPMC. Constant after init
 */
extern u32 perfctr_x86_rdpmc[PERFCTR_X86_METRIC + PERFCTR_METRICS];

/* RDPMC's number; without RDPMC the counter's number. */
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
	/* It cannot fault: we only bind counters that CPUID reports. */
	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" ((u32)ctr->read));
	return (u64)high << 32 | low;
}

unsigned int perfctr_cpu_iwidth(void);
u64 perfctr_cpu_irange(void);
int perfctr_cpu_istart(const struct perfctr_config *config, const u64 *value);
void perfctr_cpu_istop(const struct perfctr_config *config, const void *id);
void perfctr_cpu_iclear(const struct perfctr_config *config);

/*
 * No counter of perf's interrupts meanwhile. Others' irq_work may, and we cannot tell it from ours.
 */
static inline bool perfctr_cpu_ioverflowed(const struct perfctr_config *config)
{
	return true;
}

/* Never true, so each perfctr_cpu_istart() gets values, and not NULL. */
static inline bool perfctr_cpu_istopped(const void *id)
{
	return false;
}

/* A store that would fault fails. */
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
 * Constant after init. Siblings: hyperthreads share their counters, so only the first one of each
 * core counts. Session bits: bits of a control's config that say what to count of the other
 * hyperthread
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
 * The family checks a control's config1 and config2; otherwise they are zero. Constant after init
 */
#define PERFCTR_CPU_MORE_CONFIG

extern bool perfctr_x86_more_config;

static inline bool perfctr_cpu_more_config(void)
{
	return perfctr_x86_more_config;
}

#define PERFCTR_CPU_CLOCK_SLOT	64

/* A slot for each index, not for each hardware counter: this saves readers a look at the map. */
static inline unsigned long perfctr_cpu_slot(const struct perfctr_config *config,
					     unsigned long i)
{
	return i;
}

/*
 * In 32-bit mode it is the base of the segment that GS selects, which is one of the thread's own in
 * the GDT. We ignore the LDT: a thread that has its pointer there has none for us.
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

/* The thread pointer as user space sees it. With FSGSBASE user mode changes it by itself. */
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
 * CR4.PCE permits RDPMC, so we ask the processor itself. The kernel sets it for whole processes
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
	/* A dying thread loses its mm at some point. */
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

/* RDTSC may kill the thread: CR4.TSD follows prctl(PR_SET_TSC) and seccomp's strict mode. */
#define PERFCTR_CPU_HIDES_CLOCK

static __always_inline bool perfctr_cpu_clock_hidden(void)
{
	return perfctr_x86_clock_is_kernels() || test_thread_flag(TIF_NOTSC);
}

#define PERFCTR_CPU_MODELESS

bool perfctr_cpu_modeless(void);

/* The process has the permission, not the thread. */
static inline unsigned long perfctr_cpu_grant(const struct perfctr_config *config)
{
	return 0;
}

static inline void perfctr_cpu_revoke(u32 granted)
{
}

#define PERFCTR_CPU_PERMITS_PROCESSES

/* The number of callers that are giving somebody the permission */
extern atomic_t perfctr_x86_giving;

/* This includes perf's permissions, but while perf has counters we have none. */
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
bool perfctr_cpu_can_permit(void);
/* Call before perfctr_cpu_permit_init(): nobody will be permitted. */
void perfctr_x86_forbid_user_reads(void);
int perfctr_cpu_mm_get(struct mm_struct *mm);
bool perfctr_cpu_mm_put(struct mm_struct *mm);
bool perfctr_cpu_mm_waits(struct mm_struct *mm);
bool perfctr_cpu_mm_permit(struct mm_struct *mm);
void perfctr_cpu_mm_forked(struct mm_struct *mm);
/* Call when perf has no counters, and we have none yet. May sleep. */
void perfctr_x86_forget_permits(void);
/*
 * Are the counters ours? Only then do mms have the permission that they were given. CPUs apply this
 * in perfctr_cpu_update_permission(). May sleep.
 */
void perfctr_x86_permit_claimed(bool claimed);
/* Does any mm have the permission now? May sleep. */
bool perfctr_x86_any_permitted(void);
bool perfctr_cpu_mm_any_given(void);
bool perfctr_cpu_withhold(unsigned int why, bool withhold);
void perfctr_cpu_update_permission(void);
/*
 * This CPU's counters are neither perf's nor ours yet: has perf zero what it has left. Interrupts
 * are off.
 */
void perfctr_x86_clear_perfs(void);

#define PERFCTR_CPU_ONE_SOURCE
#define PERFCTR_CPU_SHARED_INLINE	1

/* The bits that perf's counters have; 0: not known. Constant after init */
extern u64 perfctr_x86_shared_mask;

/*
 * Like x86_perf_event_update(), but writes nothing. An NMI may update the event in between, and may
 * also restart the register: then prev_count, count or both change. We must compare both, as
 * prev_count is the same again after an overflow.
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
/* The CPU is down: forget all that was found about it. */
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
