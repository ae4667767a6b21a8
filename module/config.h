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

/*
 * struct wanted - what a control asks for
 * @ctr, @nr: its counters
 * @nr_ictrs: how many of them are i-mode counters
 * @perf: any is numbered as perf does
 * @kernel: it counts, or may count, more than user mode; known after the check
 * @core: see struct perfctr_config, as for the rest
 * @hash: of all that
 * @task: whose counters they are
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
	struct task_struct *task;
	kuid_t uid;
	struct pid_namespace *pid_ns;
	struct user_namespace *user_ns;
	bool shared;
	bool unprivileged;
};

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
