/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This header has what the driver of an architecture and the other folders pass to each other.
 *
 * A perfctr_config is what a control asks of the hardware. Equal controls of one user in the same
 * namespaces share one config. Equal configs of several users, on the same counters, have the same
 * id: a CPU that has loaded one of these configs can count for all of them without writing a
 * register.
 */
#ifndef PERFCTR_ARCH_TYPES_H
#define PERFCTR_ARCH_TYPES_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/perfctr.h>

#include "base/compat.h"

/* The largest number of counters of a control in any driver: masks of counters have 32 bits. */
#define PERFCTR_MAX_HW	32

/*
 * Ids increase by PERFCTR_ID_STEP. PERFCTR_ID_USER in an id says that its configs count only user
 * mode.
 */
#define PERFCTR_ID_USER	1UL
#define PERFCTR_ID_STEP	8UL
/* This bit marks a kin that belongs to no config. */
#define PERFCTR_ID_UPPER	BIT(BITS_PER_LONG - 1)

/* perfctr_cpu_metric() returns this for the counter of which metrics are parts. */
#define PERFCTR_WHOLE	(-1)

struct perfctr_cpu_image;
struct perfctr_account;
struct pid_namespace;
struct task_struct;
struct user_namespace;

/**
 * struct perfctr_config - one set of counters, which all states of a user that ask for it use
 * @node: in config.c's table; under config_mutex
 * @unused: in config.c's list of configs without users; under config_mutex
 * @users: number of states and trees that count by this config. While it is not zero, the counters
 *	are claimed, unless the config is @evicted. Only config.c raises it from zero
 * @refs: one reference for each user, for each former user that still points to the config, and for
 *	config.c's table
 * @id: not 0. Configs that want the same from the same counters have the same id, and no other
 *	claimed config has that id. May have PERFCTR_ID_USER. Changes under config_mutex; users may
 *	read it
 * @kin: like @id, but unique to this config. Threads that count by the config may use registers one
 *	after the other where user mode reads registers (kin.c). May have PERFCTR_ID_USER; constant
 * @uid: the user whose controls have this config; constant
 * @pid_ns: the PID namespace of the threads that made these controls. A thread of the same user in
 *	another PID namespace could not trace these threads, so it must not see their counts. Holds
 *	a reference; constant while the config is in the table
 * @user_ns: the user namespace of these threads, for the same reason. Holds a reference; constant
 *	while the config is in the table
 * @account: the account of that user, or NULL without counters; constant while the config is in the
 *	table
 * @hash: key of the config in the table; constant
 * @evicted: why the counters were taken away: PERFCTR_ERROR_*, or 0 if they were not. States that
 *	count by an evicted config are lost
 * @shared: the counters are perf's (perf/shared.h); constant
 * @of_session: the config is native, and only sessions use it, so it counts CPUs. Never set with
 *	@shared; constant
 * @call: with @shared: a counter can only be read by calling perf's driver; constant after the
 *	claim
 * @unprivileged: with @shared: the users of the config have no privilege; constant
 * @hw: the hardware counter of each of the @nr counters, or with @shared its event set
 *	(perf/shared.c). Written by the claim, then constant
 * @mask: a bit for each counter in @hw
 * @imask: the bits of @mask that are i-mode counters
 * @arch_mask: a bit for each a-mode counter, as the driver numbers them
 * @own_way: only the driver can resume and suspend the counters (PERFCTR_CPU_OWN_WAY). Set by the
 *	claim, then constant
 * @core: the type of core on which the config counts, as the driver numbers types; constant
 * @nr: number of counters; 0 if the config has only the clock
 * @nr_ictrs: number of i-mode counters, which have a nonzero ireset and come last in @ctr
 * @image: what the driver writes to registers: perfctr_cpu_image_size() bytes. Set by
 *	perfctr_cpu_claim(), then constant
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
	struct perfctr_account *account;
	u32 hash;
	u32 evicted;
	bool shared;
	bool of_session;
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

/* Returns the number of a-mode counters, which is also the index of the first i-mode counter. */
static inline u32 perfctr_config_nr_actrs(const struct perfctr_config *config)
{
	return config->nr - config->nr_ictrs;
}

/**
 * struct perfctr_refusal - why a control was refused
 * @owner: PERFCTR_OWNER_*: who probably has the counters, with EBUSY
 * @index: index of the refused counter in the control, or PERFCTR_NO_INDEX if no single counter is
 *	to blame
 * @reason: PERFCTR_REASON_*
 * @possible: a bit for each counter that can count the event of counter @index, as
 *	perfctr_info.counters numbers them, or 0 if the driver does not know
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
 * struct perfctr_shared_attr - an event of perf's
 * @type: PERF_TYPE_*, or the type of a PMU
 * @config: as in struct perf_event_attr
 * @config1: as in struct perf_event_attr
 * @config2: as in struct perf_event_attr
 */
struct perfctr_shared_attr {
	u32 type;
	u64 config;
	u64 config1;
	u64 config2;
};

/**
 * struct perfctr_where - the CPUs where a control is to count
 * @task: if @cpu is -1: the control counts on all CPUs where this thread may run
 * @cpu: the only CPU where the control counts, or -1
 */
struct perfctr_where {
	struct task_struct *task;
	int cpu;
};

/**
 * struct perfctr_cpu_ctr - one counter of a state
 * @read: tells the driver how to read the counter's register
 * @acc: while the state is suspended: the sum. While it is resumed: the sum less the register's
 *	value at the start, so that @acc plus the register is the count
 */
struct perfctr_cpu_ctr {
	unsigned long read;
	u64 acc;
};

/**
 * struct perfctr_cpu_state - sums of the clock and all counters
 * @clock: the sum of the clock, while the state is suspended. While it is resumed: that sum less
 *	the clock's value at the start
 * @own: what the driver keeps for a state whose config has own_way (PERFCTR_CPU_OWN_WAY); each
 *	control zeroes it
 * @end: one past the last counter in use
 * @ctr: the counters. A register of an a-mode counter never wraps while it is in use
 *	(perfctr_cpu_age()), so its sum needs no mask. A register of an i-mode counter starts below
 *	zero, and period.c extends its sign
 *
 * A state changes only with interrupts off, either on the CPU where the owner runs, or in
 * sched_out() on the CPU to which the owner is coming. struct vperfctr says who may read the state.
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
 * typedef perfctr_run_t - runs a function on every CPU that is told of claims
 *
 * These are all online CPUs, except isolated CPUs where nobody has counted yet. An isolated CPU may
 * join later, by perfctr_cpu_join_claims(). perfctr_run_t calls fn(arg) on each CPU with interrupts
 * off, while no state is resumed there, so fn() may program counters. If fn() fails on one CPU the
 * others still run it, and perfctr_run_t returns that error. May sleep. The caller holds the CPU
 * hotplug lock.
 */
typedef int (*perfctr_run_t)(int (*fn)(void *arg), void *arg);

/**
 * typedef perfctr_ihandler_t - handles an overflow interrupt, whether or not a counter of ours
 *	caused it
 *
 * The driver calls the handler twice in each interrupt, on the CPU that was interrupted, with
 * interrupts off. At the start, when @ends is false, the handler suspends the current state and
 * finds overflows. The second call, with @ends, comes at the end.
 */
typedef void (*perfctr_ihandler_t)(bool ends);

/**
 * typedef perfctr_changed_t - called when somebody else writes to our registers, or takes them
 *
 * If @lost is true, perf has taken counters. Nothing is counted by them any more, and all counts so
 * far are right. Otherwise all counts since the last verification may be wrong. The driver calls
 * this at most once for each claim and CPU, on the CPU where it found the change, with interrupts
 * off. If somebody is about to write on any CPU, the driver calls this in atomic context.
 */
typedef void (*perfctr_changed_t)(bool lost);

#endif /* PERFCTR_ARCH_TYPES_H */
