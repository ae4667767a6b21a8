/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hot path of the riscv driver. Hardware counter n is the CSR cycle + n: cycle is 0, time is 1,
 * instret is 2, and hpmcounter3 to hpmcounter31 have their own numbers.
 */
#ifndef PERFCTR_RISCV_CPU_H
#define PERFCTR_RISCV_CPU_H

/* On RV32, each counter is two CSRs, and one half may wrap unnoticed while we read the other. */
#if defined(__riscv_xlen) && __riscv_xlen < 64
#error "perfctr has no driver for 32-bit RISC-V"
#endif

#include <linux/percpu.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <asm/csr.h>
#include <asm/timex.h>

#include "arch/riscv/stubs.h"

#define PERFCTR_RISCV_CYCLE	0
#define PERFCTR_RISCV_TIME	1
#define PERFCTR_RISCV_INSTRET	2
#define PERFCTR_RISCV_HPM	3	/* first programmable counter */
#define PERFCTR_RISCV_MAX	32

/* Says how a counter is programmed. All members are zero if it is not programmed. */
struct perfctr_riscv_prog {
	u32 event;		/* SBI event_idx */
	u32 flags;		/* PERFCTR_CTR_* */
	u64 config;		/* SBI event_data */
};

/**
 * struct perfctr_riscv_cpu - what the counters of a CPU do. Only this CPU accesses it, with
 *	interrupts off. Other CPUs may access it while this CPU is down
 * @programmed: id of the config that @prog is known to satisfy, or 0
 * @active: id of the config that this CPU has loaded, or 0. All counters of that config run as it
 *	wants them, so a switch may resume states of it
 * @private_kin: kin of the config with id @programmed, or 0. The counters of that config run. After
 *	they were last zeroed, they have run only for threads of @private_uid that read them. Other
 *	threads need perfctr_cpu_load() first. At most one of @private_kin and @active is set
 * @private_uid: the user to whom the registers are private, if @private_kin is set
 * @istopped: id passed to the last perfctr_cpu_istop(), if the registers have not changed since;
 *	only compared
 * @owned: counters that the firmware has given us
 * @running: a subset of @owned: counters that run
 * @started: fixed counters that we started, and must stop
 * @denied: fixed counters that perf did not let us reserve when the CPU came up
 * @prog: what each counter counts
 */
struct perfctr_riscv_cpu {
	unsigned long active;
	unsigned long programmed;
	unsigned long private_kin;
	kuid_t private_uid;
	const void *istopped;
	u32 owned;
	u32 running;
	u32 started;
	u32 denied;
	struct perfctr_riscv_prog prog[PERFCTR_RISCV_MAX];
};

DECLARE_PER_CPU(struct perfctr_riscv_cpu, perfctr_riscv_cpu);

/* A function that calls others needs a stack frame, so we avoid calls. */
#define PERFCTR_CPU_RARE	__always_inline

static __always_inline void perfctr_cpu_bind(struct perfctr_cpu_ctr *ctr, unsigned int hw)
{
	ctr->read = perfctr_riscv_stub(hw);
}

unsigned int perfctr_cpu_iwidth(void);
u64 perfctr_cpu_irange(void);
int perfctr_cpu_istart(const struct perfctr_config *config, const u64 *value);
void perfctr_cpu_istop(const struct perfctr_config *config, const void *id);
void perfctr_cpu_iclear(const struct perfctr_config *config);

/*
 * Returns true if one of the config's i-mode counters has OF set. OF stays set until the counter is
 * started again. If no OF is set, we cannot tell whose interrupt it is, so this function returns
 * true.
 */
static inline bool perfctr_cpu_ioverflowed(const struct perfctr_config *config)
{
	unsigned long overflowed = csr_read(CSR_SCOUNTOVF);

	return !overflowed || overflowed & config->imask;
}

static inline bool perfctr_cpu_istopped(const void *id)
{
	return this_cpu_ptr(&perfctr_riscv_cpu)->istopped == id;
}

static __always_inline u64 perfctr_cpu_read(const struct perfctr_cpu_ctr *ctr)
{
	return perfctr_riscv_read(ctr->read);
}

static __always_inline u64 perfctr_cpu_clock(void)
{
	return csr_read(CSR_TIME);
}

/*
 * Use these functions in a system call of current. scause holds the reason of this CPU's last trap.
 * If that reason is still the system call, no page fault has come since. If current was switched
 * out meanwhile, scause may hold anything.
 */
static __always_inline void perfctr_cpu_faults_begin(void)
{
}

static __always_inline bool perfctr_cpu_faulted(void)
{
	return csr_read(CSR_SCAUSE) != EXC_SYSCALL;
}

static __always_inline void perfctr_cpu_faults_end(void)
{
}

static __always_inline bool perfctr_cpu_has_loaded(const struct perfctr_config *config)
{
	return this_cpu_ptr(&perfctr_riscv_cpu)->active == READ_ONCE(config->id);
}

/* Takes the CPU's number from the caller, because this_cpu_ptr() would have to load it. */
static __always_inline bool perfctr_cpu_has_loaded_on(int cpu, unsigned long id)
{
	return per_cpu(perfctr_riscv_cpu, cpu).active == id;
}

int perfctr_cpu_load(const struct perfctr_config *config);

#define PERFCTR_CPU_CLOCK_SLOT	PERFCTR_RISCV_TIME

static inline unsigned long perfctr_cpu_slot(const struct perfctr_config *config,
					     unsigned long i)
{
	return config->hw[i];
}

static inline u32 perfctr_cpu_operand(unsigned int hw)
{
	return 0;
}

/* Everybody may read the time CSR. */
static __always_inline bool perfctr_cpu_clock_hidden(void)
{
	return false;
}

static inline u64 perfctr_cpu_thread_pointer(struct task_struct *task)
{
	return task_pt_regs(task)->tp;
}

/* True if the SBI PMU extension exists. Constant after perfctr_cpu_init(). */
extern bool perfctr_riscv_sbi;

static inline bool perfctr_cpu_user_readable(const struct perfctr_config *config,
					     unsigned int policy)
{
	/* Only the firmware can stop counters, so without the firmware we cannot guard them. */
	return policy == PERFCTR_USER_READ_OPEN ||
	       (policy == PERFCTR_USER_READ_GUARDED && (perfctr_riscv_sbi || !config->nr));
}

static inline bool perfctr_cpu_private(unsigned long kin, kuid_t uid)
{
	const struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);

	return cpu->private_kin == kin && uid_eq(cpu->private_uid, uid);
}

static inline kuid_t perfctr_cpu_private_user(void)
{
	return this_cpu_ptr(&perfctr_riscv_cpu)->private_uid;
}

static inline void perfctr_cpu_make_public(void)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);

	if (cpu->private_kin) {
		cpu->active = cpu->programmed;
		cpu->private_kin = 0;
	}
}

/* Stopping the registers takes a firmware call, so they run on, and are private to nobody. */
static inline void perfctr_cpu_leave(void)
{
	perfctr_cpu_make_public();
}

static inline void perfctr_cpu_leave_to_kin(const struct task_struct *next)
{
}

static inline bool perfctr_cpu_runs(void)
{
	return true;
}

int perfctr_cpu_restart(const struct perfctr_config *config, unsigned long kin, kuid_t uid);

#define PERFCTR_CPU_PERMITS_THREADS

/*
 * perf writes scounteren, too: on the CPUs of a process that maps or unmaps an event of perf's, and
 * on all CPUs when the setting perf_user_access changes. So we only clear bits that we set.
 */
static inline unsigned long perfctr_cpu_grant(const struct perfctr_config *config)
{
	unsigned long mask = config->mask;

	return mask & ~csr_read_set(CSR_SCOUNTEREN, mask);
}

static __always_inline bool perfctr_cpu_user_permitted(const struct perfctr_config *config)
{
	return !(config->mask & ~csr_read(CSR_SCOUNTEREN));
}

static inline void perfctr_cpu_revoke(u32 granted)
{
	csr_clear(CSR_SCOUNTEREN, granted);
}

/*
 * Only perf's driver can read its counters. The driver may count in the firmware, or be the legacy
 * driver.
 */
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

/* Bit n is clear if the counter to which the firmware gives the number n can filter modes. */
extern u64 perfctr_riscv_unfiltered;
void perfctr_riscv_shared_init(void);
/* Returns true if the device tree says that all CPUs have that extension. */
bool perfctr_riscv_cpus_have(const char *name);

/*
 * An event of perf's may be on a counter that does not filter: when all other counters are taken,
 * the firmware gives cycle and instret.
 */
static __always_inline bool perfctr_cpu_shared_filters(const struct perf_event *event)
{
	return likely(!(perfctr_riscv_unfiltered >> (READ_ONCE(event->hw.idx) & 63) & 1)) ||
	       !(event->attr.exclude_user || event->attr.exclude_kernel);
}

#define PERFCTR_CPU_COUNTS_ONCE
bool perfctr_cpu_counts_once(void);

/* perf lets a thread read only the counters of its own events. */
static inline bool perfctr_cpu_shared_discloses(void)
{
	return false;
}

static inline void perfctr_cpu_shared_watch(bool on)
{
}

static inline bool perfctr_cpu_shared_hides(const struct perf_event *event)
{
	return true;
}

#endif /* PERFCTR_RISCV_CPU_H */
