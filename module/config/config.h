/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Configs, which config.c has in a table, and which of them a control gets (source.c).
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
/* Of the native ones, those of sessions; the same */
extern unsigned int perfctr_nr_wide;
/*
 * Where threads are permitted to read registers, and not processes: evicted ones that did not leave
 * their CPU since may still do so. Written under perfctr_config_mutex
 */
extern bool perfctr_late_readers;

/* May counters that threads had still be read by these? It ends soon. */
static inline bool perfctr_config_lingers(void)
{
	return READ_ONCE(perfctr_late_readers) || perfctr_cpu_lingers();
}

/*
 * struct wanted - what a control asks for
 * @ctr, @nr: its counters
 * @nr_ictrs: how many of them are i-mode counters
 * @perf: any is numbered as perf does
 * @kernel: it counts, or may count, more than user mode; known after the check
 * @core: see struct perfctr_config, as for the rest
 * @hash: of all that
 * @where: the CPUs where it is to count
 * @wide: it is a session's, and so of a CPU and no thread
 * @uid, @pid_ns, @user_ns: of current, who asks
 * @shared: by this source
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
	bool wide;
	kuid_t uid;
	struct pid_namespace *pid_ns;
	struct user_namespace *user_ns;
	bool shared;
	bool unprivileged;
};

/* Does it want counters of the module's driver, for a CPU? */
static inline bool perfctr_wanted_wide(const struct wanted *wanted)
{
	return wanted->wide && wanted->nr && !wanted->shared;
}

/* Why the native claims that there are do not let it have counters, of either source */
static inline u32 perfctr_native_reason(const struct wanted *wanted)
{
	if (wanted->wide && perfctr_nr_claimed[false] != perfctr_nr_wide)
		return PERFCTR_REASON_THREADS;
	if (!wanted->wide && perfctr_nr_wide)
		return PERFCTR_REASON_CPUS;
	return PERFCTR_REASON_SOURCE;
}

/* config.c. Ends all configs without users; true if there was any. The locks are held. */
bool perfctr_config_reap(void);
/*
 * By one source. If there are i-mode counters the caller has made interrupts heard for the
 * config. EAGAIN: it has to be claimed, but current's user must wait before its next broadcast.
 * The locks are held.
 */
struct perfctr_config *perfctr_config_get_from(struct wanted *wanted,
					       struct perfctr_refusal *why);

/* --- for all --- */

int perfctr_config_init(void);
void perfctr_config_exit(void);

/* By which sources controls may count: PERFCTR_SOURCE_*. ANY: either */
extern unsigned int perfctr_config_source;

/*
 * The config for a control that current asks for, which is to count @where by @source
 * (PERFCTR_SOURCE_*), for a CPU if @wide and else for a thread: one of current's user, which is
 * claimed on every told CPU. The caller becomes a user of it, and gets a reference. EINVAL,
 * EOPNOTSUPP, EACCES, EXDEV, EBUSY, ENOMEM, ENOSPC, ERESTARTSYS, each with *why. Sleeps.
 */
struct perfctr_config *perfctr_config_get(const struct perfctr_where *where, bool wide,
					  const struct perfctr_ctr_control *ctr, u32 nr,
					  u32 source, struct perfctr_refusal *why);
/* An existing user adds another user and a reference. */
void perfctr_config_share(struct perfctr_config *config);
/*
 * One user less; after the last one the counters are given back. The caller must not load the
 * config any more. It may look at it while it has a reference. @atomic: does not sleep.
 */
void perfctr_config_unuse(struct perfctr_config *config, bool atomic);
/* One reference less */
void perfctr_config_unref(struct perfctr_config *config);
/* Both */
void perfctr_config_put(struct perfctr_config *config, bool atomic);
/* Both, after the caller has ended the counting of other threads: see PERFCTR_READER_DELAY */
void perfctr_config_put_late(struct perfctr_config *config);

/* Makes events of perf's that are lost there, or missing, anew, if that can be. May sleep. */
void perfctr_config_mend(unsigned int cpu);
void perfctr_config_info(struct perfctr_kernel_info *info);
/* Does it count more than user mode? NULL: no */
bool perfctr_config_counts_kernel(const struct perfctr_config *config);
/* May current count more than user mode, by perf's counters or by others? */
bool perfctr_may_count_kernel(bool shared);
/* No process may read registers any more: gives back counters that linger. */
void perfctr_config_no_reader(void);
/* Takes the counters from all users, or from that one: their states are lost. May sleep. */
void perfctr_config_evict(bool all, kuid_t uid);
/* Has that called after each eviction. It may sleep. */
void perfctr_config_set_evicted(void (*evicted)(void));

#endif /* PERFCTR_CONFIG_H */
