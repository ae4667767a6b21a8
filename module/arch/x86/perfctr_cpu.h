/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hot path of the x86 driver. Hardware counter n below 24 is the general-purpose
 * counter n, one from 24 on the fixed counter n - 24, one from 32 on TopDown's metric n - 32,
 * which has no counter, and is in no bit map. The clock is the TSC.
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
#define PERFCTR_X86_SLOTS	(PERFCTR_X86_FIXED + 3)	/* of which they are shares */

#define PERFCTR_X86_CONTROLS	64	/* most control registers of all counters */

#define PERFCTR_X86_NO_CORE	0xffffffffu
#define PERFCTR_X86_CHANGED	0xfffffffeu	/* no processor's either: see verify.c */

/**
 * struct perfctr_x86_cpu - what this CPU's counters do. That CPU alone touches it, with
 *	interrupts off, but for what is prepared before it comes
 * @active: id of the config whose counters all count as it wants them, and of which
 *	states may be resumed without further ado, or 0
 * @private_kin: kin of that of which only threads of @private_uid ran that read its
 *	registers, and nobody else, since all registers were zero; nobody else may
 *	without perfctr_cpu_load(). At most one of it and @active is set
 * @private_uid: see @private_kin
 * @private_id: the id of @private_kin
 * @private_mm: context.ctx_id of the one mm of which anything is in the registers; 0:
 *	there are several, or it is not known
 * @core: of a hybrid processor, its type and native model (CPUID leaf 1AH's EAX), of others 0;
 *	or PERFCTR_X86_NO_CORE, of which no config is: there is not all that the other CPUs
 *	have, or it does not count, or its counters are another CPU's
 * @tried: it was tried whether its counters count, since it came
 * @bad: those that do not
 * @bad_events: of perfctr_pmu.events, those that they do not count
 * @ours: the registers are set up for us: what is here is what they hold
 * @load_core: the @core of configs that may be loaded: that of the CPU; or, when somebody else has
 *	written to the registers, PERFCTR_X86_CHANGED, until they are taken anew or given back
 * @verified: jiffies when the registers were compared with what is here
 * @froze: an overflow interrupt stopped all counters, before we had them
 * @overrides: something counted as we took the registers: firmware, which gets back
 * @found: what the control registers held then
 * @running: counters, by number, that count as their own controls say. What else
 *	there is stands still, however it is controlled: see struct perfctr_pmu's
 *	@global_ctrl and @together
 * @enabled: counters whose own control lets them count something
 * @interrupting: counters whose own control lets them interrupt; but of who counts
 *	with them they stand still
 * @dirty: counters that may not be zero
 * @negative: those of them that were i-mode counters
 * @control: what the control registers hold, as struct perfctr_pmu numbers them
 * @global_ctrl: what the global control held before
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

/* A call that ends a function is a jump, and what it needs of the stack is its own. */
#define PERFCTR_CPU_APART	noinline

/* Only kernels of 32 bits run on processors without RDPMC, or with no time-stamp counter. */
#ifndef PERFCTR_X86_OLD
#define PERFCTR_X86_OLD	IS_ENABLED(CONFIG_X86_32)
#endif

/* Constant after init: see perfctr_x86_read_by_rdmsr(), perfctr_x86_use_kernels_clock() */
DECLARE_STATIC_KEY_FALSE(perfctr_x86_rdmsr_key);
DECLARE_STATIC_KEY_FALSE(perfctr_x86_clock_key);

u64 perfctr_x86_read_ctr_msr(u32 msr);
u64 perfctr_x86_kernels_clock(void);

/* The clock is not the time-stamp counter. */
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
 * RDPMC's name of each counter, and of the register of each metric; or the counters' MSRs, where
 * there is no RDPMC. Constant after init
 */
extern u32 perfctr_x86_rdpmc[PERFCTR_X86_METRIC + PERFCTR_METRICS];

/* Of RDPMC, where that is; else it is the counter's number. */
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
	/* It cannot fault: only counters that CPUID tells of are ever bound. */
	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" ((u32)ctr->read));
	return (u64)high << 32 | low;
}

unsigned int perfctr_cpu_iwidth(void);
u64 perfctr_cpu_irange(void);
int perfctr_cpu_istart(const struct perfctr_config *config, const u64 *value);
void perfctr_cpu_istop(const struct perfctr_config *config, const void *id);
void perfctr_cpu_iclear(const struct perfctr_config *config);

/* No counter of perf's interrupts meanwhile. Others' irq_work does, and is not told from ours. */
static inline bool perfctr_cpu_ioverflowed(const struct perfctr_config *config)
{
	return true;
}

/* Never: so each perfctr_cpu_istart() gets values, and not NULL. */
static inline bool perfctr_cpu_istopped(const void *id)
{
	return false;
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

static __always_inline bool perfctr_cpu_holds(const struct perfctr_config *config)
{
	return this_cpu_read(perfctr_x86_cpu.active) == READ_ONCE(config->id);
}

static __always_inline bool perfctr_cpu_holds_on(int cpu, unsigned long id)
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
 * Constant after init. Siblings: hyperthreads have their counters together, so the first one of
 * each core counts, and no other. Session bits: of a control's config, those that say what else
 * is counted of the other one
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

/* The family checks a control's config1 and config2, else they are zero. Constant after init */
#define PERFCTR_CPU_MORE_CONFIG

extern bool perfctr_x86_more_config;

static inline bool perfctr_cpu_more_config(void)
{
	return perfctr_x86_more_config;
}

#define PERFCTR_CPU_CLOCK_SLOT	64

/* By place and not by number, which saves its readers a look at the map. */
static inline unsigned long perfctr_cpu_slot(const struct perfctr_config *config,
					     unsigned long i)
{
	return i;
}

/*
 * In 32-bit mode it is the base of the segment that GS selects, which is one of the
 * thread's own in the GDT. The LDT is not looked at: who has it there has none for us.
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

/* As user space sees it: with FSGSBASE it changes without the kernel. */
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
 * CR4.PCE permits RDPMC: what is asked is what the processor will say. The kernel sets
 * it for whole processes (rdpmc.c), and takes it away again when perf's attribute
 * "rdpmc" says so.
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
	/* One that dies is without its mm from some point on. */
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
void perfctr_cpu_share(void);

static inline void perfctr_cpu_join(const struct task_struct *next)
{
	if (!next->mm || this_cpu_read(perfctr_x86_cpu.private_mm) != next->mm->context.ctx_id)
		this_cpu_write(perfctr_x86_cpu.private_mm, 0);
}

/* RDTSC kills: CR4.TSD follows prctl(PR_SET_TSC) and seccomp's strict mode. */
#define PERFCTR_CPU_HIDES_CLOCK

static __always_inline bool perfctr_cpu_clock_hidden(void)
{
	return perfctr_x86_clock_is_kernels() || test_thread_flag(TIF_NOTSC);
}

#define PERFCTR_CPU_MODELESS

bool perfctr_cpu_modeless(void);

/* Permission is the process's. */
static inline unsigned long perfctr_cpu_grant(const struct perfctr_config *config)
{
	return 0;
}

static inline void perfctr_cpu_revoke(u32 granted)
{
}

#define PERFCTR_CPU_PERMITS_PROCESSES

/* How many give somebody permission just now */
extern atomic_t perfctr_x86_giving;

/* Those of perf are among them, but while it has counters we have none. */
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
/* Before perfctr_cpu_permit_init(): nobody will be permitted. */
void perfctr_x86_forbid_user_reads(void);
int perfctr_cpu_mm_get(struct mm_struct *mm);
bool perfctr_cpu_mm_put(struct mm_struct *mm);
bool perfctr_cpu_mm_waits(struct mm_struct *mm);
bool perfctr_cpu_mm_permit(struct mm_struct *mm);
void perfctr_cpu_mm_forked(struct mm_struct *mm);
/* Perf has no counters, and we have none yet. May sleep. */
void perfctr_x86_forget_permits(void);
/*
 * Are the counters ours? Only then mms have the permission that they were given.
 * perfctr_cpu_update_permission() on each CPU makes it so. May sleep.
 */
void perfctr_x86_permit_claimed(bool claimed);
/* Has any mm the permission now? May sleep. */
bool perfctr_x86_any_permitted(void);
bool perfctr_cpu_mm_any_given(void);
bool perfctr_cpu_withhold(unsigned int why, bool withhold);
void perfctr_cpu_update_permission(void);
/* This CPU's counters are not perf's, nor ours yet: perf zeroes what it has left. Interrupts off */
void perfctr_x86_clear_perfs(void);

#define PERFCTR_CPU_ONE_SOURCE
#define PERFCTR_CPU_SHARED_INLINE	1

/* The bits that perf's counters have; 0 if that is not known. Constant after init */
extern u64 perfctr_x86_shared_mask;

/*
 * As x86_perf_event_update(), but nothing is written. An NMI may do that in between, and give the
 * register a new start as well: then prev_count, count or both change. Neither is
 * enough, as prev_count is the same again after an overflow.
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
/* That CPU is down: nothing is known of it any more. */
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
