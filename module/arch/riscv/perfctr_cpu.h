/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hot path of the riscv driver. Hardware counter n is the CSR cycle + n: cycle
 * 0, time 1, instret 2, hpmcounter3..31.
 */
#ifndef PERFCTR_RISCV_CPU_H
#define PERFCTR_RISCV_CPU_H

/* There each counter is two CSRs of 32 bits: one half may wrap between two reads unnoticed. */
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
#define PERFCTR_RISCV_HPM	3	/* first of the programmable counters */
#define PERFCTR_RISCV_MAX	32

/* How a counter is programmed; all zero if it is not. */
struct perfctr_riscv_prog {
	u32 event;		/* SBI event_idx */
	u32 flags;		/* PERFCTR_CTR_* */
	u64 config;		/* SBI event_data */
};

/**
 * struct perfctr_riscv_cpu - what this CPU's counters do; accessed only on that CPU,
 *	with interrupts off, or while it is down
 * @programmed: id of the config that @prog is known to satisfy, or 0
 * @active: id of the config that this CPU holds: its counters all run as it wants them,
 *	so its states may be resumed; 0: see @prog
 * @private_kin: the kin of the config that @programmed is the id of, if its counters run
 *	likewise, but since its registers were zero they only ran for threads of
 *	@private_uid that read them; others need perfctr_cpu_load() first. At most one of it
 *	and @active is set
 * @private_uid: see @private_kin
 * @istopped: the id of the last perfctr_cpu_istop(), if the registers still hold what
 *	they held then; only compared
 * @owned: counters that the firmware has handed to us
 * @running: those of them that run
 * @started: fixed counters that we started, and have to stop
 * @denied: fixed counters that perf did not let us reserve when the CPU came
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

/* A function that calls others needs a stack frame, so calls are avoided. */
#define PERFCTR_CPU_APART	__always_inline

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
 * OF stays set until the counter is started again. One is set at least: if none is seen nobody can
 * tell whose interrupt it is.
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
 * In a system call of current. scause has the reason of this CPU's last trap: if that is
 * still the system call, no page fault came since. If current was switched out meanwhile
 * it may be anything.
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

static __always_inline bool perfctr_cpu_holds(const struct perfctr_config *config)
{
	return this_cpu_ptr(&perfctr_riscv_cpu)->active == READ_ONCE(config->id);
}

/* this_cpu_ptr() would have to load the number of the CPU. */
static __always_inline bool perfctr_cpu_holds_on(int cpu, unsigned long id)
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

/* The SBI PMU extension is there; constant after perfctr_cpu_init(). */
extern bool perfctr_riscv_sbi;

static inline bool perfctr_cpu_user_readable(const struct perfctr_config *config,
					     unsigned int policy)
{
	/* Only the firmware can stop counters: without it they cannot be guarded. */
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

static inline void perfctr_cpu_share(void)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);

	if (cpu->private_kin) {
		cpu->active = cpu->programmed;
		cpu->private_kin = 0;
	}
}

/* Stopping takes a call of the firmware, so the registers run on, private to nobody. */
static inline void perfctr_cpu_leave(void)
{
	perfctr_cpu_share();
}

static inline void perfctr_cpu_join(const struct task_struct *next)
{
}

static inline bool perfctr_cpu_runs(void)
{
	return true;
}

int perfctr_cpu_restart(const struct perfctr_config *config, unsigned long kin, kuid_t uid);

#define PERFCTR_CPU_PERMITS_THREADS

/*
 * perf writes scounteren too: on every CPU of a process that maps or unmaps one
 * of its events, and on all CPUs when its perf_user_access changes. So we clear only
 * the bits that we have set ourselves.
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

/* perf's driver may count in the firmware, or by a legacy driver: it knows. */
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

/* Of perf's: the firmware's numbers of the counters that count in all modes */
extern u64 perfctr_riscv_unfiltered;
void perfctr_riscv_shared_init(void);
/* Do all CPUs have that extension? The device tree says so. */
bool perfctr_riscv_cpus_have(const char *name);

/* cycle and instret are what the firmware gives if all others are taken. */
static __always_inline bool perfctr_cpu_shared_filters(const struct perf_event *event)
{
	return likely(!(perfctr_riscv_unfiltered >> (READ_ONCE(event->hw.idx) & 63) & 1)) ||
	       !(event->attr.exclude_user || event->attr.exclude_kernel);
}

#define PERFCTR_CPU_COUNTS_ONCE
bool perfctr_cpu_counts_once(void);

/* perf lets a thread read the counters of its own events, and no others. */
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
