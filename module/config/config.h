/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What config.c and source.c share: the table of configs, and what a control asks of it.
 */
#ifndef PERFCTR_CONFIG_H
#define PERFCTR_CONFIG_H

#include <linux/mutex.h>

#include "perfctr.h"

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

#endif /* PERFCTR_CONFIG_H */
