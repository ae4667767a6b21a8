/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one interface between the counters of an architecture and the files above. An
 * arch knows the registers of CPUs, and of threads no more than which of them may read
 * registers. It calls up only through functions that it is handed: perfctr_run_t,
 * perfctr_ihandler_t, perfctr_changed_t, and on x86 those of perfctr_cpu_permit_init().
 *
 * A perfctr_config is what a control asks of the hardware. Equal controls of a user, in the
 * same namespaces, share one config; equal configs of several users, on the same counters, have the
 * same id. If a CPU's active id is that of a state's config nothing has to be written.
 */
#ifndef PERFCTR_LOWLEVEL_H
#define PERFCTR_LOWLEVEL_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include <linux/perfctr.h>

#include "base/compat.h"

/*
 * long perfctr_work_on_cpu(cpu, fn, arg): fn(arg) by a kernel thread on that CPU. A kernel for one
 * CPU has a work_on_cpu() that is current, with current's privilege.
 */
#ifdef CONFIG_SMP
#define perfctr_work_on_cpu	work_on_cpu
#else
struct perfctr_work {
	struct work_struct work;
	long (*fn)(void *arg);
	void *arg;
	long result;
};

static inline void perfctr_work_fn(struct work_struct *work)
{
	struct perfctr_work *own = container_of(work, struct perfctr_work, work);

	own->result = own->fn(own->arg);
}

static inline long perfctr_work_on_cpu(unsigned int cpu, long (*fn)(void *arg), void *arg)
{
	struct perfctr_work own = { .fn = fn, .arg = arg };

	INIT_WORK_ONSTACK(&own.work, perfctr_work_fn);
	schedule_work(&own.work);
	flush_work(&own.work);
	destroy_work_on_stack(&own.work);
	return own.result;
}
#endif

/* Most counters of one control in any driver: masks of counters have 32 bits. */
#define PERFCTR_MAX_HW	32

/* In the id of a config: it counts user mode alone. Ids rise by PERFCTR_ID_STEP. */
#define PERFCTR_ID_USER	1UL
#define PERFCTR_ID_STEP	8UL
#define PERFCTR_ID_UPPER	BIT(BITS_PER_LONG - 1)	/* in that of a kin which is no config's */

/* perfctr_cpu_metric() of a counter of which metrics are shares */
#define PERFCTR_WHOLE	(-1)

/* Why no process may read registers, as perfctr_cpu_withhold() is told */
#define PERFCTR_WITHHELD_POLICY		1u	/* the policy is `off` */
#define PERFCTR_WITHHELD_CPUS		2u	/* they count for CPUs, and so for everybody */

struct perfctr_cpu_image;
struct perfctr_user;
struct pid_namespace;
struct pt_regs;
struct user_namespace;

/**
 * struct perfctr_config - one set of counters, shared by all states of a user that want it
 * @node: in config.c's table; config_mutex
 * @unused: in config.c's list of configs without users
 * @users: how many count by it: states and trees. While there is one, and it is not
 *	@evicted, it is claimed. Only config.c raises it from zero
 * @refs: how many may look at it: each user, each former user that still refers to it,
 *	and config.c's table
 * @id: the same for all configs that want the same of the same counters, and of no others
 *	that are claimed; not 0; may have PERFCTR_ID_USER. config_mutex; users may read it
 * @kin: as @id, but of no other config: who may share registers that are read in user mode
 *	(kin.c). Constant; may have PERFCTR_ID_USER
 * @uid: the user whose controls have it; constant
 * @pid_ns: where the threads that made these controls are: who has the same user id, but could
 *	not trace them, is not to see what they do either. With a reference; constant while it
 *	is in the table
 * @user_ns: the same
 * @user: that user's account; NULL without counters; constant while it is in the table
 * @hash: where it is in the table; constant
 * @evicted: PERFCTR_ERROR_*: its claim was taken back for that reason: states that count by it
 *	are lost; else 0
 * @shared: its counters are perf's: see shared.h; constant
 * @wide: it is of sessions alone, and not @shared: it counts CPUs; constant
 * @call: @shared, and only perf's driver can read one of them; constant after the claim
 * @unprivileged: @shared, and its users have no privilege; constant
 * @hw: hardware counter of each of the @nr, or slot of shared.h; set by the claim, then
 *	constant
 * @mask: the same as a bit map
 * @imask: the i-mode counters of @mask
 * @arch_mask: the a-mode counters, numbered as the arch needs it
 * @own_way: its registers are resumed and suspended in a way of the arch's own
 *	(PERFCTR_CPU_OWN_WAY); set by the claim, then constant
 * @core: the type of core on which it counts, as the arch numbers it; constant
 * @nr: number of counters; 0 for a control of the clock alone
 * @nr_ictrs: how many of them, the last ones, are i-mode counters, that is, have an
 *	ireset other than zero
 * @image: what the arch writes to its registers for it: perfctr_cpu_image_size() bytes.
 *	Set by perfctr_cpu_claim(), then constant
 * @ctr: the counters as the user asked for them; constant
 */
struct perfctr_config {
	struct hlist_node node;
	struct list_head unused;
	atomic_t users;
	refcount_t refs;
	unsigned long id;
	unsigned long kin;
	kuid_t uid;
	struct pid_namespace *pid_ns;
	struct user_namespace *user_ns;
	struct perfctr_user *user;
	u32 hash;
	u32 evicted;
	bool shared;
	bool wide;
	bool call;
	bool unprivileged;
	bool own_way;
	u32 mask;
	u32 imask;
	unsigned long arch_mask;
	u32 core;
	u8 hw[PERFCTR_MAX_HW];
	u32 nr;
	u32 nr_ictrs;
	struct perfctr_cpu_image *image;
	struct perfctr_ctr_control ctr[] __counted_by(nr);
};

/**
 * struct perfctr_refusal - why a control was refused
 * @owner: PERFCTR_OWNER_*: with EBUSY, who probably has the counters
 * @index: the counter that was refused, in the order of the control, or
 *	PERFCTR_NO_INDEX if no single one is to blame
 * @reason: PERFCTR_REASON_*
 * @possible: the counters that the event of counter @index could have, as perfctr_info.counters
 *	numbers them; 0 if the driver does not know
 */
struct perfctr_refusal {
	u32 owner;
	u32 index;
	u32 reason;
	u64 possible;
};

#define PERFCTR_NO_REFUSAL						\
	((struct perfctr_refusal){ .owner = PERFCTR_OWNER_NONE, .index = PERFCTR_NO_INDEX })

/**
 * struct perfctr_shared_attr - an event, as struct perf_event_attr has it
 * @type: PERF_TYPE_*, or that of a PMU
 * @config: as there
 * @config1: as there
 * @config2: as there
 */
struct perfctr_shared_attr {
	u32 type;
	u64 config;
	u64 config1;
	u64 config2;
};

/* Number of a-mode counters, which is the index of the first i-mode counter */
static inline u32 perfctr_config_nr_actrs(const struct perfctr_config *config)
{
	return config->nr - config->nr_ictrs;
}

/**
 * struct perfctr_cpu_ctr - one counter of a state
 * @read: how its register is read (arch)
 * @acc: while suspended the sum; while resumed the difference, sum - start, so that the
 *	count is @acc plus the register. Other code keeps sum and start apart
 */
struct perfctr_cpu_ctr {
	unsigned long read;
	u64 acc;
};

/**
 * struct perfctr_cpu_state - sums of the clock and all counters
 * @clock: as perfctr_cpu_ctr.acc, for the clock
 * @own: what ppc32's and x86's own way keeps for the state; 0 from each control on
 * @end: one past the last counter in use
 * @ctr: the counters. Registers of a-mode counters never wrap while they are in use
 *	(perfctr_cpu_age()), so their sums need no mask; those of i-mode counters
 *	start below zero, and period.c extends their sign
 *
 * Changed only with interrupts off, on the CPU where the owner runs, and by sched_out() on
 * the CPU to which the owner is just coming. struct vperfctr says who may read it.
 */
struct perfctr_cpu_state {
	u64 clock;
#if defined(CONFIG_PPC32) || defined(CONFIG_X86)
	u32 own;
#endif
	struct perfctr_cpu_ctr *end;
	struct perfctr_cpu_ctr ctr[];
};

/**
 * typedef perfctr_run_t - run a function on every CPU that is told of claims
 *
 * These are the online CPUs, except isolated ones where nobody counts, which may join later:
 * perfctr_cpu_join_claims(). Calls fn(arg) on each with interrupts off and no state
 * resumed there, so that counters may be reprogrammed. Returns 0, or the error of one
 * CPU where it failed; all other CPUs are called nevertheless. May sleep; the caller
 * holds the CPU hotplug lock.
 */
typedef int (*perfctr_run_t)(int (*fn)(void *arg), void *arg);

/**
 * typedef perfctr_ihandler_t - handles an overflow interrupt, which may be of anybody's counter
 *
 * Called on its CPU, in the interrupt, with interrupts off: as it begins (@ends is
 * false), to suspend the current state and find overflows, and as it ends.
 */
typedef void (*perfctr_ihandler_t)(bool ends);

/**
 * typedef perfctr_changed_t - somebody else has written to the registers of this CPU
 *
 * All that was counted by them since they were verified last may be wrong, or soon will be.
 * Called on that CPU with interrupts off, once until the counters were unclaimed; or in atomic
 * context when somebody is about to write on any CPU.
 */
typedef void (*perfctr_changed_t)(void);

/* May fail with ENODEV where there is nothing to count with, not even a clock. */
int perfctr_cpu_init(void);
void perfctr_cpu_exit(void);

/* Frequency of the clock, Hz. */
u64 perfctr_cpu_clock_hz(void);

/* Most counters that one control can have; constant after init. */
unsigned int perfctr_cpu_nrctrs(void);

/* Fills in the members that depend on the processor. */
void perfctr_cpu_info(struct perfctr_kernel_info *info);

/*
 * Could this processor count the control at all? 0, or EINVAL or EOPNOTSUPP with
 * why->index. Sets *kernel if it counts, or may count, anything but user mode. May sleep.
 */
int perfctr_cpu_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
		      struct perfctr_refusal *why);

/* Bytes of perfctr_config.image, of so many counters */
size_t perfctr_cpu_image_size(u32 nr);

/* Of @nr counters, all zero */
static inline struct perfctr_config *perfctr_config_alloc(u32 nr)
{
	struct perfctr_config *config;
	size_t size = struct_size(config, ctr, nr);

	config = kzalloc(size + perfctr_cpu_image_size(nr), GFP_KERNEL_ACCOUNT);
	if (config)
		config->image = (void *)config + size;
	return config;
}

/**
 * struct perfctr_where - the CPUs where a control is to count
 * @task: those where this thread may run
 * @cpu: -1; or not negative: this one alone, and no @task
 */
struct perfctr_where {
	struct task_struct *task;
	int cpu;
};

/*
 * The type of these CPUs. EXDEV: they are of several types, which do not count the same, or of
 * one that cannot count. The hotplug lock is held.
 */
int perfctr_cpu_core(const struct perfctr_where *where, u32 *core);

/* Can that CPU, which is online, not count as the others do? */
bool perfctr_cpu_is_forbidden(unsigned int cpu);

/*
 * PERFCTR_CPU_KEEPS_OFF: defined where some CPUs' counters may be another CPU's, so that a thread
 * that counts must stay away from them
 * bool perfctr_cpu_keeps_off(void): is it so here?
 * bool perfctr_cpu_out_of_place(void): is this CPU one of those? Interrupts are off
 * bool perfctr_cpu_for_sessions(ctr): does that want what only a whole CPU's counters may?
 */

/*
 * Takes every counter of the config on every told CPU, or none: EBUSY, or EINVAL for
 * an event that turns out not to exist; both set *why. config_mutex and the hotplug
 * lock are held.
 */
int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why);
/*
 * Gives back the counters that no other config needs. Where processes are permitted to read
 * registers they may linger instead: perfctr_cpu_lingers(). Same locks.
 */
void perfctr_cpu_unclaim(struct perfctr_config *config, perfctr_run_t run);

/* Names the hardware counter in a counter's control that said PERFCTR_MAP_ANY. */
void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw);

/* Hear interrupts; NULL: no more, and then the handler runs nowhere any more. May sleep. */
int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler);
/* In the handler: was user mode interrupted? False if that is not known. */
bool perfctr_cpu_interrupted_user(void);
/* In the handler: where; NULL if that is not known */
struct pt_regs *perfctr_cpu_interrupted_regs(void);

/*
 * Frames of current's user mode, as its code keeps frame pointers. first: the innermost one's
 * address. next: *caller becomes the return address that *frame has, and *frame the next one's
 * address; false if that cannot be read. Nothing of it is to be trusted. Page faults are disabled
 */
unsigned long perfctr_cpu_first_frame(const struct pt_regs *regs);
bool perfctr_cpu_next_frame(const struct pt_regs *regs, unsigned long *frame, u64 *caller);
/*
 * Who called whom in the kernel, where current was interrupted: at most @depth return addresses,
 * from the innermost. How many there are. Interrupts are off
 */
unsigned int perfctr_cpu_kernel_chain(struct pt_regs *regs, unsigned long *caller,
				      unsigned int depth);

/*
 * CPU hotplug. prepare: a CPU that is down will come. reserve, unreserve: it has come,
 * or it will go; called by a kernel thread on that CPU, which may sleep, with
 * config_mutex held.
 */
void perfctr_cpu_prepare(unsigned int cpu);
void perfctr_cpu_reserve(unsigned int cpu);
void perfctr_cpu_unreserve(unsigned int cpu);
/*
 * On the CPU, interrupts off. online: take the counters that the claimed configs need,
 * whatever it had, since it has come, or may have lost its registers in a deep sleep.
 * offline: give all back.
 */
void perfctr_cpu_online(void);
void perfctr_cpu_offline(void);
/*
 * The same as online, on a CPU that was not told of the claims so far. A claim or unclaim
 * that happens at the same time is noted before perfctr_run_t is called: so either this
 * sees it, or it runs here as well.
 */
void perfctr_cpu_join_claims(void);

/*
 * Sets counters back to zero that are past half of their range; called by perfctr_run_t.
 * perfctr_cpu_age_period() says how often that is needed, in jiffies; 0: never.
 */
int perfctr_cpu_age(void *unused);
unsigned long perfctr_cpu_age_period(void);

/* The period for counters of @width bits, and at most 2^@max_rate_shift events a second */
static inline unsigned long perfctr_age_period(unsigned int width, unsigned int max_rate_shift)
{
	unsigned long second = HZ;

	/* A counter that is just below half of its range must not wrap before the next look. */
	if (width - 2 <= max_rate_shift)
		return max(1UL, second >> (max_rate_shift + 2 - width));
	return second << min(width - 2 - max_rate_shift, 16U);
}

/*
 * The rest is the hot path, inline in the header of the arch. Interrupts are off.
 *
 * PERFCTR_CPU_APART
 *	noinline or __always_inline, whichever is better for a branch of the hot path
 *	that is not the most frequent one
 * bool perfctr_cpu_holds(const struct perfctr_config *)
 *	this CPU's counters count that config now
 * bool perfctr_cpu_holds_on(int cpu, unsigned long id)
 *	the same by its id, where the caller knows the number of this CPU
 * int perfctr_cpu_load(const struct perfctr_config *)
 *	make them count it; EIO if a counter cannot be had, this CPU is of another type, or
 *	somebody else has written to its registers
 * PERFCTR_CPU_VERIFIES: defined where registers are read back, by the next two
 * bool perfctr_cpu_verify(void)
 *	do this CPU's registers hold what was written to them? True if they are not ours. They
 *	are read once in a jiffy at most, and what was found then is the answer until its end;
 *	on ppc32 each time
 * bool perfctr_cpu_changed(void)
 *	no, as was found before: perfctr_cpu_load() fails until the counters are unclaimed
 * void perfctr_cpu_faults_begin(void), bool perfctr_cpu_faulted(void),
 * void perfctr_cpu_faults_end(void)
 *	around stores to user memory in a system call of current. If a page must be
 *	fetched, either the store fails, or faulted says so (it may say so without
 *	reason). Valid only if current is not switched out meanwhile
 * u64 perfctr_cpu_clock(void), u64 perfctr_cpu_read(const struct perfctr_cpu_ctr *)
 * void perfctr_cpu_bind(struct perfctr_cpu_ctr *, unsigned int hw)
 *	set @read for a hardware counter
 * PERFCTR_CPU_BINDS_ICTRS: defined where an i-mode counter is read in another way, and there is
 * void perfctr_cpu_bind_ictr(struct perfctr_cpu_ctr *, unsigned int hw)
 *
 * i-mode counters run only while a state that has them is resumed. Their registers
 * start from a negative value and interrupt as they come to zero:
 * unsigned int perfctr_cpu_iwidth(void)
 *	how many bits of one perfctr_cpu_read() gives; the highest is the sign
 * u64 perfctr_cpu_irange(void)
 *	the largest distance of a register from its interrupt
 * int perfctr_cpu_istart(const struct perfctr_config *, const u64 *value)
 *	start the i-mode counters of the config, which this CPU holds, from these values,
 *	which are negative. NULL: from where they stopped, if perfctr_cpu_istopped().
 *	EAGAIN: an interrupt is pending; try again as it ends. EIO: a counter failed
 * void perfctr_cpu_istop(const struct perfctr_config *, const void *id)
 *	stop them. An overflow until now may still interrupt: sums tell whether there was one
 * bool perfctr_cpu_ioverflowed(const struct perfctr_config *)
 *	has one of them overflowed since they were started? May say so without reason
 * void perfctr_cpu_iclear(const struct perfctr_config *)
 *	stop them, and zero their registers
 * bool perfctr_cpu_istopped(const void *id)
 *	the last istop on this CPU had this id, and nobody changed the registers since
 *
 * PERFCTR_CPU_OWN_WAY: defined where some configs need more than reading registers, and say so by
 * perfctr_config.own_way. Instead of perfctr_cpu_resume() and perfctr_cpu_suspend():
 * void perfctr_cpu_resume_own_way(config, state), perfctr_cpu_suspend_own_way(config, state)
 *	i-mode counters were started before, or are stopped. On x86 some counters are metrics,
 *	shares of what another one counts: these begin anew, and are added to their sums. In
 *	between @acc of a metric is its sum until then; on a Pentium 4 a counter waits for another
 *	one to overflow. There and on ppc32 a control register changes by itself, and belongs to
 *	the state
 * void perfctr_cpu_sample_own_way(config, state, u64 *value)
 *	the clock and the sums of a state that is resumed and remains so, as
 *	perfctr_cpu_store_sums(). No i-mode counters. x86 misses nothing but the slots of kernel
 *	mode in which metrics begin anew
 *
 * PERFCTR_CPU_METRICS: defined where a counter may be a metric, which is known for the time since
 * it and that other one were zero only
 * int perfctr_cpu_metric(unsigned int hw)
 *	1 + its number if that is a metric; PERFCTR_WHOLE: that of which metrics are shares; else 0
 *
 * User reads:
 * u64 perfctr_cpu_thread_pointer(task): of current, or of a child that it makes, as
 *	user space sees it
 * unsigned int perfctr_cpu_slot(config, i), PERFCTR_CPU_CLOCK_SLOT
 * bool perfctr_cpu_clock_hidden(void): current may not read the clock in user mode. Where
 *	that may change the arch defines PERFCTR_CPU_HIDES_CLOCK
 * bool perfctr_cpu_user_readable(config, policy): may its registers be shown at all?
 * bool perfctr_cpu_user_permitted(config): may user mode read the registers here and now?
 *	Any answer is right for a thread that is dead
 * u32 perfctr_cpu_operand(unsigned int hw): its name in an instruction that reads it
 * unsigned long perfctr_cpu_grant(config), void perfctr_cpu_revoke(u32 granted)
 *	give and take the permission to read the registers in user mode. Where each thread
 *	can have one of its own the arch defines PERFCTR_CPU_PERMITS_THREADS
 * bool perfctr_cpu_private(kin, uid): they are private to that user's threads of that kin:
 *	since they were zero they only ran for these, which may read them
 * kuid_t perfctr_cpu_private_user(void): that user; if they are private to nobody, any user
 * bool perfctr_cpu_runs(void): they run, given that they are private
 * int perfctr_cpu_restart(config, kin, uid): let them run, private to these, and from zero
 *	unless they are private to them already. The CPU holds the config for others only after
 *	perfctr_cpu_load(). EIO as there
 * void perfctr_cpu_leave(void): the thread to which they may be private leaves: they stop,
 *	or are not private any more
 * void perfctr_cpu_join(const struct task_struct *next): the same, but next is kin, to
 *	which they stay private
 * void perfctr_cpu_share(void): they are private to nobody, and held for everybody if they
 *	run; to be private again they are restarted
 *
 * Where user mode of every thread may read the registers, and nobody can take that from it, the
 * arch defines PERFCTR_CPU_ALWAYS_READABLE. Then they are private to a user whenever they hold
 * anything, unless the policy is open:
 * bool perfctr_cpu_always_readable(void): is that so on this processor?
 * void perfctr_cpu_rest(void): stop and zero them all; no state is resumed. There, share and
 *	leave do that, too, if they are private
 *
 * The shared source (shared.h):
 * PERFCTR_CPU_ONE_SOURCE: defined where perf and perfctr each have all counters or none
 * bool perfctr_cpu_shared_exists(void): there, does perf have a PMU of the cores? May sleep
 * PERFCTR_CPU_SHARED_INLINE: 1 if perfctr_cpu_shared_read() reads registers
 * u64 perfctr_cpu_shared_read(struct perf_event *): the count of an event that counts on
 *	this CPU. Right while perf may be in an NMI
 * bool perfctr_cpu_shared_inline(event): may it be used for that event, as far as is known?
 * int perfctr_cpu_shared_attr(ctr, attr): *attr becomes perf's event for the event of a
 *	native control; EINVAL if there is none that is exactly the same
 * u32 perfctr_cpu_shared_refusal(attr): PERFCTR_REASON_*: why perf cannot count it for us, as it
 *	takes a group of events; NONE if it can, as far as is known
 * bool perfctr_cpu_shared_needs_privilege(attr): it may count more than its own thread
 * bool perfctr_cpu_shared_filters(event), which counts: its register keeps to the modes that
 *	were asked for. perf may choose another register
 * int perfctr_cpu_shared_judge(event, reason), on its CPU: 0, or EINVAL or EOPNOTSUPP with
 *	*reason: it does not count what was asked for, as perf ignores part of it, or the
 *	native driver would refuse it for counting wrong
 * PERFCTR_CPU_COUNTS_ONCE: defined where some processors do:
 * bool perfctr_cpu_counts_once(void): count an event by one of the counters that want it, and not
 *	by the others; or it is not known. config_mutex
 * PERFCTR_CPU_SHARED_TRIES: defined where some events are tried before they count for us:
 * bool perfctr_cpu_shared_twin(event, attr), on its CPU: *attr becomes an event by which to try
 *	whether that one counts; false: there is none, or it was tried
 * void perfctr_cpu_shared_try(twin), on its CPU, which counts kernel mode: judge() heeds it
 * bool perfctr_cpu_shared_is_general(event): it has a counter that counts any event
 * unsigned int perfctr_cpu_shared_generals(void): how many of these this CPU has
 * void perfctr_cpu_shared_watch(bool on): opens the files that tell it, or closes them. Opened
 *	by a kernel thread; may sleep
 * bool perfctr_cpu_shared_discloses(void): could a user without privilege read counters of
 *	perf's in user mode? While that is watched; may sleep
 * bool perfctr_cpu_shared_hides(event): nobody can read that event's, even so
 *
 * Where the kernel permits processes, and not threads, to read registers, the arch
 * defines PERFCTR_CPU_PERMITS_PROCESSES. Then any thread of such a process may read the
 * registers, so they must hold nothing of others when it comes to a CPU:
 * bool perfctr_cpu_is_permitted(task)
 * bool perfctr_cpu_may_see(task), which is permitted: the registers hold nothing but its mm's
 * void perfctr_cpu_scrub(task): otherwise: stop and zero all. No state is resumed
 * void perfctr_cpu_permit_init(changes, hides), void perfctr_cpu_permit_exit(void): may sleep.
 *	changes(false) and changes(true) are called before and after others change the
 *	permission or the registers, on that CPU, with interrupts off. hides() is called
 *	after perfctr_cpu_clock_hidden() may have changed for current, if the kernel
 *	lets us know
 * bool perfctr_cpu_can_guard(void): nothing but our counters can be read so; else the policy
 *	"guarded" cannot hold
 * void perfctr_cpu_guard_init(ends), void perfctr_cpu_guard_exit(void): may sleep. ends() is
 *	called if that ends, which it does once, and before there is anything to be read. May sleep
 * int perfctr_cpu_mm_get(mm), bool perfctr_cpu_mm_put(mm): mm has one more, or one less,
 *	map of a page. May sleep. get: ENOMEM. put: true if mm was permitted, and is
 *	not any more
 * bool perfctr_cpu_mm_waits(mm): it has maps, but no permission
 * bool perfctr_cpu_mm_permit(mm): permit it; false if it does not wait any more. In force
 *	after perfctr_cpu_update_permission() on each CPU. May sleep
 * void perfctr_cpu_mm_forked(mm): mm is of a child that has not run yet: it has no maps
 * void perfctr_cpu_giving(bool): while true, every mm is taken for permitted, as one may
 *	soon be
 * bool perfctr_cpu_mm_any_given(void): is any mm permitted? May sleep
 * bool perfctr_cpu_lingers(void): no config has counters, but they are not given back yet,
 *	as somebody may be about to read one
 * void perfctr_cpu_give_back(run): give back counters that linger. As perfctr_cpu_unclaim()
 * bool perfctr_cpu_withhold(why, bool): take the permission from all mms, or give it back if
 *	nobody else withholds it: PERFCTR_WITHHELD_*. True if that is a change. In force as after
 *	permit
 * void perfctr_cpu_update_permission(void): tell this CPU what its mm may do. Interrupts
 *	are off, and no state is resumed
 */
#if defined(CONFIG_ARM64)
#include "arch/arm64/perfctr_cpu.h"
#elif defined(CONFIG_PPC32)
#include "arch/ppc32/perfctr_cpu.h"
#elif defined(CONFIG_RISCV)
#include "arch/riscv/perfctr_cpu.h"
#elif defined(CONFIG_X86)
#include "arch/x86/perfctr_cpu.h"
#else
#error "perfctr has no driver for this architecture"
#endif

#include "arch/absent.h"

/* The clock alone goes on: subtract it, add it. */
static __always_inline void perfctr_cpu_resume_clock(struct perfctr_cpu_state *state)
{
	state->clock -= perfctr_cpu_clock();
}

static __always_inline void perfctr_cpu_suspend_clock(struct perfctr_cpu_state *state)
{
	state->clock += perfctr_cpu_clock();
}

/* Subtract the registers. @some: it is known that there are counters. */
static __always_inline void perfctr_cpu_resume(struct perfctr_cpu_state *state, bool some)
{
	struct perfctr_cpu_ctr *ctr = state->ctr, *end = state->end;

	if (some || ctr != end) {
		do {
			ctr->acc -= perfctr_cpu_read(ctr);
		} while (++ctr != end);
	}
	perfctr_cpu_resume_clock(state);
}

/* Add them, again. */
static __always_inline void perfctr_cpu_suspend(struct perfctr_cpu_state *state)
{
	struct perfctr_cpu_ctr *ctr, *end = state->end;

	perfctr_cpu_suspend_clock(state);
	for (ctr = state->ctr; ctr != end; ctr++)
		ctr->acc += perfctr_cpu_read(ctr);
}

/* The clock and the sums of a state that is suspended, as struct perfctr_sample has them */
static inline void perfctr_cpu_store_sums(const struct perfctr_cpu_state *state, u64 *value)
{
	const struct perfctr_cpu_ctr *ctr, *end = state->end;

	*value++ = state->clock;
	for (ctr = state->ctr; ctr != end; ctr++)
		*value++ = ctr->acc;
}

/* Returns the bias of @to. */
static __always_inline u64 perfctr_cpu_hand_over_one(struct perfctr_cpu_ctr *from,
						     struct perfctr_cpu_ctr *to)
{
	u64 value = perfctr_cpu_read(from);

	from->acc += value;
	return to->acc -= value;
}

/*
 * perfctr_cpu_suspend() of one state, which has counters, and perfctr_cpu_resume() of
 * another whose config, @config, has the same id: each register is read once. Two at a
 * time, since the loop itself takes a third as long as what it does. With @show the biases
 * of @to go to its page as well, whose slots are @slot.
 */
static __always_inline void perfctr_cpu_hand_over(struct perfctr_cpu_state *from,
						  struct perfctr_cpu_state *to,
						  const struct perfctr_config *config,
						  struct perfctr_page_slot *slot, bool show)
{
	struct perfctr_cpu_ctr *ctr = from->ctr, *end = from->end, *last = end - 1;
	struct perfctr_cpu_ctr *other = to->ctr;
	u64 now = perfctr_cpu_clock(), bias;
	unsigned long i = 0;

	from->clock += now;
	to->clock -= now;
	do {
		bias = perfctr_cpu_hand_over_one(ctr, other);
		if (show)
			slot[perfctr_cpu_slot(config, i)].bias = bias;
		if (ctr == last)
			break;
		bias = perfctr_cpu_hand_over_one(ctr + 1, other + 1);
		if (show)
			slot[perfctr_cpu_slot(config, i + 1)].bias = bias;
		ctr += 2;
		other += 2;
		i += 2;
	} while (ctr != end);
}

#endif /* PERFCTR_LOWLEVEL_H */
