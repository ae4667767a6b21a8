/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What of the kernel's text is patched for us: tracepoints, static keys. And the work
 * queue, for what may not be done where it falls due.
 */
#ifndef PERFCTR_HOOK_H
#define PERFCTR_HOOK_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

struct tracepoint;

/* Destroyed, empty, when the module goes. */
extern struct workqueue_struct *perfctr_wq;

/**
 * struct perfctr_probe - a probe of a tracepoint. These are not exported: they are found
 *	by name
 * @name: of the tracepoint
 * @fn: what it calls, with NULL and the tracepoint's arguments
 * @tracepoint: found by perfctr_probes_find()
 */
struct perfctr_probe {
	const char *name;
	void *fn;
	struct tracepoint *tracepoint;
};

/*
 * A struct perfctr_probe of the tracepoint tp, whose header is included. Kernels change
 * the arguments: a probe that does not take those of this one does not compile.
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
/* All, or none. May sleep; not under the hotplug lock, which this takes itself. */
int perfctr_probes_register(const struct perfctr_probe *probes, unsigned int nr);
/* Whoever runs one of them has left it when this returns. */
void perfctr_probes_unregister(const struct perfctr_probe *probes, unsigned int nr);

/**
 * struct perfctr_hook - something that is patched into the kernel's text while it is
 *	needed. To patch is slow and interrupts all CPUs, so no user may turn it on and off
 *	at will: it comes on with the first who needs it, and goes off some time after the
 *	last
 * @mutex: guards @is_on, and the rise of @users from zero; outside the hotplug
 *	lock, which @turn takes
 * @turn: switch it; the mutex is held
 * @users: who needs it: states, or configs
 * @is_on: it is switched on
 * @off: looks whether it is still needed
 */
struct perfctr_hook {
	struct mutex mutex;	/* see above */
	int (*turn)(bool on);
	atomic_t users;
	bool is_on;
	struct delayed_work off;
};

/* For @off alone. */
void perfctr_hook_off(struct work_struct *work);

/* One more who needs it: 0, or the error of @turn. May sleep; not under the hotplug lock. */
int perfctr_hook_get(struct perfctr_hook *hook);
/* One more, where there is one already. */
void perfctr_hook_share(struct perfctr_hook *hook);
/* One less. */
void perfctr_hook_put(struct perfctr_hook *hook);
/* Nobody gets it any more: off at once. May sleep. */
void perfctr_hook_exit(struct perfctr_hook *hook);

#endif /* PERFCTR_HOOK_H */
