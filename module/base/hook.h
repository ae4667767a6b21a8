/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hook is a place in the kernel's text that is patched for us: a tracepoint or a static key. This
 * header also declares the module's work queue, for work that cannot run in the context that causes
 * it.
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
 * struct perfctr_probe - a probe of a tracepoint. Tracepoints are not exported, so we find them by
 *	name
 * @name: name of the tracepoint
 * @fn: the function to call, with NULL and the tracepoint's arguments
 * @prio: the priority. A tracepoint calls the probe with the highest priority first
 * @tracepoint: found by perfctr_probes_find()
 */
struct perfctr_probe {
	const char *name;
	void *fn;
	int prio;
	struct tracepoint *tracepoint;
};

/*
 * Initializes a probe of the tracepoint tp. Include the tracepoint's header. Arguments of
 * tracepoints differ between kernels: a probe whose arguments do not fit this kernel does not
 * compile.
 */
#define PERFCTR_PROBE(tp, probe)						\
	{									\
		.name = #tp,							\
		.fn = (void *)(probe) +						\
		      BUILD_BUG_ON_ZERO(!__same_type(check_trace_callback_type_##tp, \
						     void (typeof(probe) *))),	\
	}

/* Finds the tracepoints of all probes. Returns 0, or -ENOENT if the kernel lacks a tracepoint. */
int perfctr_probes_find(struct perfctr_probe *probes, unsigned int nr);
/*
 * Registers all probes, or none if it fails. May sleep. Takes the hotplug lock, so the caller must
 * not hold it.
 */
int perfctr_probes_register(const struct perfctr_probe *probes, unsigned int nr);
/* Unregisters all probes. No probe runs after this function has returned. May sleep. */
void perfctr_probes_unregister(const struct perfctr_probe *probes, unsigned int nr);

/**
 * struct perfctr_hook - something that is patched into the kernel's text while it is needed.
 *	Patching is slow and interrupts all CPUs, so no user may turn a hook on and off at will. The
 *	first user turns the hook on, and the hook goes off some time after its last user has left
 * @mutex: guards @is_on, and the rise of @users from zero. Take it before the hotplug lock, which
 *	@turn takes
 * @turn: switches the hook on or off; the mutex is held. Returns 0, or an error after which the
 *	hook is as it was
 * @users: number of states, configs or processes that need the hook
 * @is_on: true while the hook is switched on
 * @off: the work that switches the hook off if @users is zero
 */
struct perfctr_hook {
	struct mutex mutex;	/* guards is_on, and the rise of users from zero */
	int (*turn)(bool on);
	atomic_t users;
	bool is_on;
	struct delayed_work off;
};

/* Switches the hook off if it has no user. The work @off of a hook calls this function. */
void perfctr_hook_off(struct work_struct *work);

/*
 * Adds a user. Returns 0, or the error of @turn. May sleep. The caller must not hold the hotplug
 * lock.
 */
int perfctr_hook_get(struct perfctr_hook *hook);
/* Adds a user while another user keeps the hook on. */
void perfctr_hook_add_user(struct perfctr_hook *hook);
/* Removes a user. Interrupts may be off. */
void perfctr_hook_put(struct perfctr_hook *hook);
/* Switches the hook off at once. Call this when no user is left and no user can come. May sleep. */
void perfctr_hook_exit(struct perfctr_hook *hook);

#endif /* PERFCTR_HOOK_H */
