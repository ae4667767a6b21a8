/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the driver of an architecture and the other folders pass to each other.
 *
 * A perfctr_config is what a control asks of the hardware. Equal controls of one user in the same
 * namespaces share one config. Equal configs of several users, on the same counters, have the same
 * id: a CPU that has loaded one can count for any of them without writing a register.
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

/* Most counters of one control in any driver: masks of counters have 32 bits. */
#define PERFCTR_MAX_HW	32

/* Ids increase by PERFCTR_ID_STEP. This bit of an id says that its configs count only user mode. */
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
 * struct perfctr_config - one set of counters, shared by all states of a user that want it
 * @node: in config.c's table; under config_mutex
 * @unused: in config.c's list of configs without users; under config_mutex
 * @users: states and trees that count by it. While there is one, its counters are claimed, unless
 *	it is @evicted. Only config.c raises this from zero
 * @refs: one reference for each user, for each former user that still points to it, and for
 *	config.c's table
 * @id: not 0. Configs that want the same of the same counters have the same id; no other claimed
 *	config has it. May have PERFCTR_ID_USER. Changes under config_mutex; users may read it
 * @kin: like @id, but unique to this config: threads that count by it may use registers one after
 *	the other, where user mode reads them (kin.c). Constant; may have PERFCTR_ID_USER
 * @uid: the user whose controls have it; constant
 * @pid_ns: the PID namespace of the threads that made these controls. A thread of the same user in
 *	another one could not trace them, so it must not see their counts. Holds a reference;
 *	constant while the config is in the table
 * @user_ns: the same for their user namespace
 * @account: that user's account; NULL without counters; constant while it is in the table
 * @hash: its key in the table; constant
 * @evicted: 0, or PERFCTR_ERROR_*: why its counters were taken away. States that count by it are
 *	then lost
 * @shared: its counters are perf's: see perf/shared.h; constant
 * @of_session: only sessions use it, and natively, so it counts CPUs. Never with @shared; constant
 * @call: with @shared: one of its counters can only be read by calling perf's driver; constant
 *	after the claim
 * @unprivileged: with @shared: its users have no privilege; constant
 * @hw: the hardware counter of each of the @nr counters, or its event set in perf/shared.c.
 *	Written by the claim, then constant
 * @mask: a bit for each counter of @hw
 * @imask: the bits of @mask that are i-mode counters
 * @arch_mask: a bit for each a-mode counter, as the driver numbers them
 * @own_way: only the driver can resume and suspend it (PERFCTR_CPU_OWN_WAY). Set by the claim, then
 *	constant
 * @core: the type of core on which it counts, as the driver numbers types; constant
 * @nr: number of counters; 0: it has only the clock
 * @nr_ictrs: how many of them are i-mode counters, which have a nonzero ireset. They come last
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

/* Number of a-mode counters. Equals the index of the first i-mode counter. */
static inline u32 perfctr_config_nr_actrs(const struct perfctr_config *config)
{
	return config->nr - config->nr_ictrs;
}

/**
 * struct perfctr_refusal - why a control was refused
 * @owner: PERFCTR_OWNER_*: who probably has the counters, with EBUSY
 * @index: index of the refused counter in the control. PERFCTR_NO_INDEX: no single counter is to
 *	blame
 * @reason: PERFCTR_REASON_*
 * @possible: a bit for each counter that can count the event of counter @index, as
 *	perfctr_info.counters numbers them. 0: the driver does not know
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
 * @config1: likewise
 * @config2: likewise
 */
struct perfctr_shared_attr {
	u32 type;
	u64 config;
	u64 config1;
	u64 config2;
};

/**
 * struct perfctr_where - the CPUs where a control is to count
 * @task: if @cpu is -1: all CPUs where this thread may run
 * @cpu: only this CPU, or -1
 */
struct perfctr_where {
	struct task_struct *task;
	int cpu;
};

/**
 * struct perfctr_cpu_ctr - one counter of a state
 * @read: tells the driver how to read its register
 * @acc: the sum, while the state is suspended. While it is resumed, the sum less the register's
 *	value at the start: so @acc plus the register is the count
 */
struct perfctr_cpu_ctr {
	unsigned long read;
	u64 acc;
};

/**
 * struct perfctr_cpu_state - sums of the clock and all counters
 * @clock: as perfctr_cpu_ctr.acc, for the clock
 * @own: what the driver's own way keeps for the state (PERFCTR_CPU_OWN_WAY); each control zeroes it
 * @end: one past the last counter in use
 * @ctr: the counters. Registers of a-mode counters never wrap while they are in use
 *	(perfctr_cpu_age()), so their sums need no mask. Registers of i-mode counters start below
 *	zero, and period.c extends their sign
 *
 * A state changes only with interrupts off: on the CPU where the owner runs, or in sched_out() on
 * the CPU to which the owner is coming. struct vperfctr says who may read it.
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
 * These are all online CPUs, except isolated ones where nobody counts: they may join later, by
 * perfctr_cpu_join_claims(). It calls fn(arg) on each with interrupts off, while no state is
 * resumed there, so fn() may program counters. If fn() fails on one CPU the others still run it,
 * and that error is returned. May sleep. The caller holds the CPU hotplug lock.
 */
typedef int (*perfctr_run_t)(int (*fn)(void *arg), void *arg);

/**
 * typedef perfctr_ihandler_t - handles an overflow interrupt, no matter whose counter caused it
 *
 * The driver calls it twice in each interrupt, on that CPU, with interrupts off: at the start
 * (@ends is false), where it suspends the current state and finds overflows, and at the end.
 */
typedef void (*perfctr_ihandler_t)(bool ends);

/**
 * typedef perfctr_changed_t - called when somebody else writes to our registers
 *
 * All counts since the last verification may be wrong. The driver calls it on the CPU where it
 * found the change, with interrupts off, at most once for each claim; or in atomic context, if
 * somebody is about to write on any CPU.
 */
typedef void (*perfctr_changed_t)(void);

#endif /* PERFCTR_ARCH_TYPES_H */
