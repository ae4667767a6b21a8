/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks: places in the kernel's text that are patched for us (tracepoints, static keys). And the
 * module's work queue, for work that cannot run in the context that causes it.
 */
#ifndef PERFCTR_HOOK_H
#define PERFCTR_HOOK_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

struct tracepoint;

/* Unloading the module waits until this queue is empty, and destroys it. */
extern struct workqueue_struct *perfctr_wq;

/**
 * struct perfctr_probe - a probe of a tracepoint. Tracepoints are not exported: we find
 *	them by name
 * @name: of the tracepoint
 * @fn: the function to call, with NULL and the tracepoint's arguments
 * @prio: a tracepoint calls the probe with the highest priority first
 * @tracepoint: found by perfctr_probes_find()
 */
struct perfctr_probe {
	const char *name;
	void *fn;
	int prio;
	struct tracepoint *tracepoint;
};

/*
 * Initializer for a probe of the tracepoint tp. Include the tracepoint's header. Arguments differ
 * between kernels: a probe whose arguments do not fit this kernel does not compile.
 */
#define PERFCTR_PROBE(tp, probe)						\
	{									\
		.name = #tp,							\
		.fn = (void *)(probe) +						\
		      BUILD_BUG_ON_ZERO(!__same_type(check_trace_callback_type_##tp, \
						     void (typeof(probe) *))),	\
	}

/* Finds the tracepoints of all probes. ENOENT: the kernel lacks one of them. */
int perfctr_probes_find(struct perfctr_probe *probes, unsigned int nr);
/* Registers all or none. May sleep. Takes the hotplug lock: the caller must not hold it. */
int perfctr_probes_register(const struct perfctr_probe *probes, unsigned int nr);
/* No probe runs after this has returned. May sleep. */
void perfctr_probes_unregister(const struct perfctr_probe *probes, unsigned int nr);

/**
 * struct perfctr_hook - something that is patched into the kernel's text while it is
 *	needed. Patching is slow and interrupts all CPUs, so no user may turn a hook on and
 *	off at will: the first user turns it on, and it goes off some time after the last
 * @mutex: guards @is_on, and the rise of @users from zero. Take it outside the hotplug
 *	lock, which @turn takes
 * @turn: switches it on or off; the mutex is held
 * @users: number of states, configs or processes that need it
 * @is_on: it is switched on
 * @off: the work that switches it off if @users is zero
 */
struct perfctr_hook {
	struct mutex mutex;	/* see above */
	int (*turn)(bool on);
	atomic_t users;
	bool is_on;
	struct delayed_work off;
};

/* The function of @off, for initializers */
void perfctr_hook_off(struct work_struct *work);

/* Adds a user: 0, or the error of @turn. May sleep. The caller must not hold the hotplug lock. */
int perfctr_hook_get(struct perfctr_hook *hook);
/* Adds a user while another user keeps the hook on. */
void perfctr_hook_add_user(struct perfctr_hook *hook);
/* Removes a user. Interrupts may be off. */
void perfctr_hook_put(struct perfctr_hook *hook);
/* No user is left, and none comes: switches the hook off at once. May sleep. */
void perfctr_hook_exit(struct perfctr_hook *hook);

#endif /* PERFCTR_HOOK_H */
