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

/* Guards configs and claims. It is taken inside the hotplug lock. */
extern struct mutex perfctr_config_mutex;

/* Numbers of claimed configs with counters: [0] native, [1] shared; perfctr_config_mutex */
extern unsigned int perfctr_nr_claimed[2];
/* Number of native configs of sessions; perfctr_config_mutex */
extern unsigned int perfctr_nr_session_configs;
/*
 * True if a thread whose config was evicted may still read registers, until it leaves its CPU. This
 * happens only where threads, not processes, are permitted to read registers (RISC-V). Written
 * under perfctr_config_mutex.
 */
extern bool perfctr_late_readers;

/* Returns true if threads may still read counters that they had. They soon lose that permission. */
static inline bool perfctr_config_lingers(void)
{
	return READ_ONCE(perfctr_late_readers) || perfctr_cpu_lingers();
}

/*
 * struct wanted - what a control asks for
 * @ctr, @nr: the control's counters
 * @nr_ictrs: how many of them are i-mode counters
 * @perf: a counter has PERFCTR_CTR_PERF
 * @kernel: the control counts, or may count, more than user mode; known after the check
 * @core: as in struct perfctr_config
 * @hash: the hash of @core and the counters
 * @where: the CPUs where the control is to count
 * @of_session: the control is a session's, for a CPU and not for a thread
 * @uid, @pid_ns, @user_ns: the user and the namespaces of current
 * @shared: perf is to count the control
 * @unprivileged: @shared is true, and current has no privilege
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

/* Returns true if the control wants native counters for a CPU. */
static inline bool perfctr_native_session(const struct wanted *wanted)
{
	return wanted->of_session && wanted->nr && !wanted->shared;
}

/* Returns the reason why the present native claims keep the control from counting. */
static inline u32 perfctr_native_reason(const struct wanted *wanted)
{
	if (wanted->of_session && perfctr_nr_claimed[false] != perfctr_nr_session_configs)
		return PERFCTR_REASON_THREADS;
	if (!wanted->of_session && perfctr_nr_session_configs)
		return PERFCTR_REASON_CPUS;
	return PERFCTR_REASON_SOURCE;
}

/*
 * Ends all configs without users. Returns true if there was one. The caller holds the hotplug lock
 * and perfctr_config_mutex.
 */
bool perfctr_config_reap(void);
/*
 * Finds or makes a config of one source. If the control has i-mode counters, the caller has called
 * perfctr_interrupts_get(). Returns an error pointer on failure: EAGAIN if the config has to be
 * claimed, but current's user must wait before its next broadcast. The caller holds the hotplug
 * lock and perfctr_config_mutex.
 */
struct perfctr_config *perfctr_config_get_from(struct wanted *wanted,
					       struct perfctr_refusal *why);

/* --- for all --- */

int perfctr_config_init(void);
void perfctr_config_exit(void);

/* The source by which all controls must count: PERFCTR_SOURCE_*. ANY allows both sources. */
extern unsigned int perfctr_config_source;

/*
 * Finds or makes the config for a control of current. The control is to count on the CPUs of
 * @where, by @source (PERFCTR_SOURCE_*). The control counts a CPU if @of_session is true, else a
 * thread. The config is claimed on every told CPU. The caller becomes a user of the config, and
 * gets a reference. On failure returns an error pointer with EINVAL, EOPNOTSUPP, EACCES, EXDEV,
 * EBUSY, ENOMEM, ENOSPC or ERESTARTSYS, and sets *why. May sleep.
 */
struct perfctr_config *perfctr_config_get(const struct perfctr_where *where, bool of_session,
					  const struct perfctr_ctr_control *ctr, u32 nr,
					  u32 source, struct perfctr_refusal *why);
/* Adds a user and a reference to a config of which the caller is a user already. */
void perfctr_config_add_user(struct perfctr_config *config);
/*
 * Removes a user. After the last user has gone, the counters are given back. The caller must not
 * load the config any more, but while the caller has a reference it may look at the config. With
 * @atomic the function does not sleep.
 */
void perfctr_config_drop_user(struct perfctr_config *config, bool atomic);
/* Puts a reference. */
void perfctr_config_unref(struct perfctr_config *config);
/* Removes a user and puts a reference. Does nothing if @config is NULL. */
void perfctr_config_put(struct perfctr_config *config, bool atomic);
/*
 * Does what perfctr_config_put() does, after the caller has ended the counting of other threads.
 * These threads may still be reading registers: see PERFCTR_READER_DELAY.
 */
void perfctr_config_put_late(struct perfctr_config *config);

/* Tries to make the events again that are lost or missing on CPU @cpu. May sleep. */
void perfctr_config_mend(unsigned int cpu);
void perfctr_config_info(struct perfctr_kernel_info *info);
/* Returns true if the config counts more than user mode. @config may be NULL. */
bool perfctr_config_counts_kernel(const struct perfctr_config *config);
/* Returns true if current may count more than user mode, by perf's counters if @shared is true. */
bool perfctr_may_count_kernel(bool shared);
/* Gives back counters that linger. Called when no process may read registers any more. */
void perfctr_config_no_reader(void);
/* Takes the counters from all users, or from user @uid. Their states are lost. May sleep. */
void perfctr_config_evict(bool all, kuid_t uid);
/* Sets the function that is called after each eviction, and may sleep. */
void perfctr_config_set_evicted(void (*evicted)(void));

#endif /* PERFCTR_CONFIG_H */
