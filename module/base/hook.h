/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Places in the kernel's text that are patched for us (tracepoints, static keys), and the
 * work queue, for work that cannot run in the context that causes it.
 */
#ifndef PERFCTR_HOOK_H
#define PERFCTR_HOOK_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

struct tracepoint;

/* It is empty when the module is unloaded, and destroyed then. */
extern struct workqueue_struct *perfctr_wq;

/**
 * struct perfctr_probe - a probe of a tracepoint. Tracepoints are not exported: we find
 *	them by name
 * @name: of the tracepoint
 * @fn: the function that it calls, with NULL and the tracepoint's arguments
 * @prio: of several probes of a tracepoint that with the highest is called first
 * @tracepoint: found by perfctr_probes_find()
 */
struct perfctr_probe {
	const char *name;
	void *fn;
	int prio;
	struct tracepoint *tracepoint;
};

/*
 * Initializer for a probe of the tracepoint tp, whose header is included. Arguments differ
 * between kernels: a probe whose arguments do not fit this kernel does not compile.
 */
#define PERFCTR_PROBE(tp, probe)						\
	{									\
		.name = #tp,							\
		.fn = (void *)(probe) +						\
		      BUILD_BUG_ON_ZERO(!__same_type(check_trace_callback_type_##tp, \
						     void (typeof(probe) *))),	\
	}

/* ENOENT if the kernel lacks one of them. */
int perfctr_probes_find(struct perfctr_probe *probes, unsigned int nr);
/* Registers all or none. May sleep; not under the hotplug lock, which it takes itself. */
int perfctr_probes_register(const struct perfctr_probe *probes, unsigned int nr);
/* No probe runs any more when this returns. */
void perfctr_probes_unregister(const struct perfctr_probe *probes, unsigned int nr);

/**
 * struct perfctr_hook - something that is patched into the kernel's text while it is
 *	needed. Patching is slow and interrupts all CPUs, so no user may turn a hook on and
 *	off at will: the first user turns it on, and it goes off some time after the last
 * @mutex: guards @is_on, and the rise of @users from zero; outside the hotplug
 *	lock, which @turn takes
 * @turn: switches it on or off; the mutex is held
 * @users: how many need it: states, configs, or processes
 * @is_on: it is switched on
 * @off: switches it off if nobody needs it any more
 */
struct perfctr_hook {
	struct mutex mutex;	/* see above */
	int (*turn)(bool on);
	atomic_t users;
	bool is_on;
	struct delayed_work off;
};

/* Only for @off */
void perfctr_hook_off(struct work_struct *work);

/* Adds a user: 0, or the error of @turn. May sleep; not under the hotplug lock. */
int perfctr_hook_get(struct perfctr_hook *hook);
/* Adds a user where there is one already. */
void perfctr_hook_share(struct perfctr_hook *hook);
/* Removes a user. */
void perfctr_hook_put(struct perfctr_hook *hook);
/* There will be no users any more: switches it off at once. May sleep. */
void perfctr_hook_exit(struct perfctr_hook *hook);

#endif /* PERFCTR_HOOK_H */
