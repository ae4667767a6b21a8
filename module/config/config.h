/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Configs. config.c has them in a table, and source.c chooses the one that a control gets.
 */
#ifndef PERFCTR_CONFIG_H
#define PERFCTR_CONFIG_H

#include <linux/mutex.h>

#include "arch/cpu.h"
#include "arch/user.h"

/* --- for config.c and source.c --- */

/* Guards configs, and all claiming. Inside the hotplug lock. */
extern struct mutex perfctr_config_mutex;

/* Configs with counters, native and shared; perfctr_config_mutex */
extern unsigned int perfctr_nr_claimed[2];
/* Native configs of sessions; perfctr_config_mutex */
extern unsigned int perfctr_nr_session_configs;
/*
 * Where the permission to read registers is a thread's, and not a process's (RISC-V): a thread that
 * was evicted may still read them, until it leaves its CPU. Written under perfctr_config_mutex
 */
extern bool perfctr_late_readers;

/* May threads still read counters that they had? That ends soon. */
static inline bool perfctr_config_lingers(void)
{
	return READ_ONCE(perfctr_late_readers) || perfctr_cpu_lingers();
}

/*
 * struct wanted - what a control asks for
 * @ctr, @nr: its counters
 * @nr_ictrs: how many of them are i-mode counters
 * @perf: one of them has PERFCTR_CTR_PERF
 * @kernel: it counts, or may count, more than user mode; known after the check
 * @core: as in struct perfctr_config
 * @hash: of @core and the counters
 * @where: the CPUs where it is to count
 * @of_session: it is a session's, for a CPU and no thread
 * @uid, @pid_ns, @user_ns: current's
 * @shared: perf is to count it
 * @unprivileged: @shared, and current has no privilege
 */
struct wanted {
	const struct perfctr_ctr_control *ctr;
	u32 nr;
	u32 nr_ictrs;
	bool perf;
	bool kernel;
	u32 core;
	u32 hash;
	struct perfctr_where where;
	bool of_session;
	kuid_t uid;
	struct pid_namespace *pid_ns;
	struct user_namespace *user_ns;
	bool shared;
	bool unprivileged;
};

/* Does it want native counters for a CPU? */
static inline bool perfctr_native_session(const struct wanted *wanted)
{
	return wanted->of_session && wanted->nr && !wanted->shared;
}

/* Why the present native claims keep it from having counters of either source */
static inline u32 perfctr_native_reason(const struct wanted *wanted)
{
	if (wanted->of_session && perfctr_nr_claimed[false] != perfctr_nr_session_configs)
		return PERFCTR_REASON_THREADS;
	if (!wanted->of_session && perfctr_nr_session_configs)
		return PERFCTR_REASON_CPUS;
	return PERFCTR_REASON_SOURCE;
}

/* Ends all configs without users; true: there was one. The mutex and the hotplug lock are held. */
bool perfctr_config_reap(void);
/*
 * Finds or makes a config of one source. For i-mode counters the caller has called
 * perfctr_interrupts_get(). EAGAIN: the config has to be claimed, but current's user must wait
 * before its next broadcast. The same locks are held.
 */
struct perfctr_config *perfctr_config_get_from(struct wanted *wanted,
					       struct perfctr_refusal *why);

/* --- for all --- */

int perfctr_config_init(void);
void perfctr_config_exit(void);

/* The source by which all controls must count: PERFCTR_SOURCE_*. ANY: either */
extern unsigned int perfctr_config_source;

/*
 * Finds or makes the config for a control of current's that is to count @where by @source
 * (PERFCTR_SOURCE_*): for a CPU if @of_session, else for a thread. The config is claimed on every
 * told CPU. The caller becomes a user of it, and gets a reference. EINVAL, EOPNOTSUPP, EACCES,
 * EXDEV, EBUSY, ENOMEM, ENOSPC, ERESTARTSYS, each with *why. Sleeps.
 */
struct perfctr_config *perfctr_config_get(const struct perfctr_where *where, bool of_session,
					  const struct perfctr_ctr_control *ctr, u32 nr,
					  u32 source, struct perfctr_refusal *why);
/* Adds a user and a reference. The caller is a user already. */
void perfctr_config_add_user(struct perfctr_config *config);
/*
 * One user less; after the last one the counters are given back. The caller must not load the
 * config any more. While it has a reference it may look at the config. @atomic: does not sleep.
 */
void perfctr_config_drop_user(struct perfctr_config *config, bool atomic);
/* One reference less */
void perfctr_config_unref(struct perfctr_config *config);
/* One user and one reference less; NULL: nothing */
void perfctr_config_put(struct perfctr_config *config, bool atomic);
/* The same after the caller has ended the counting of other threads: see PERFCTR_READER_DELAY */
void perfctr_config_put_late(struct perfctr_config *config);

/* Makes anew, if possible, the events that perf has lost or lacks on that CPU. May sleep. */
void perfctr_config_mend(unsigned int cpu);
void perfctr_config_info(struct perfctr_kernel_info *info);
/* Does it count more than user mode? NULL: no */
bool perfctr_config_counts_kernel(const struct perfctr_config *config);
/* May current count more than user mode? @shared: by perf's counters */
bool perfctr_may_count_kernel(bool shared);
/* No process may read registers any more: gives back counters that linger. */
void perfctr_config_no_reader(void);
/* Takes the counters from all users, or from that one: their states are lost. May sleep. */
void perfctr_config_evict(bool all, kuid_t uid);
/* @evicted is called after each eviction, and may sleep. */
void perfctr_config_set_evicted(void (*evicted)(void));

#endif /* PERFCTR_CONFIG_H */
