// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a state. A state is made for a thread, and the thread attaches it (notify.c). Later
 * the state stops, is detached, and is freed with its last reference. tree.c makes and frees
 * inherited states.
 */

#include <linux/module.h>
#include <linux/pid.h>
#include <linux/slab.h>

#include "arch/user.h"
#include "thread/notify.h"
#include "thread/page.h"
#include "thread/ring.h"
#include "thread/tracee.h"
#include "switch/suspend.h"
#include "deliver/maps.h"
#include "deliver/record.h"
#include "config/config.h"
#include "tree/tree.h"
#include "calls/life.h"

/* The cache of roots, which have room for as many counters as the processor has. */
static struct kmem_cache *state_cache;

static void free_root_memory(struct callback_head *head)
{
	kmem_cache_free(state_cache, container_of(head, struct vperfctr, return_work));
}

static void ring_put(struct perfctr_ring_buffer *ring)
{
	if (ring && perfctr_ring_wants_maps(ring))
		perfctr_record_maps_put();
	perfctr_ring_put(ring);
}

struct vperfctr *vperfctr_create(struct task_struct *task)
{
	struct vperfctr *perfctr = kmem_cache_zalloc(state_cache, GFP_KERNEL);

	if (!perfctr)
		return NULL;
	vperfctr_setup(perfctr);
	perfctr->pid = get_task_pid(task, PIDTYPE_PID);
	return perfctr;
}

void vperfctr_stop(struct vperfctr *perfctr, u32 error)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	vperfctr_suspend(perfctr);
	perfctr_cpu_make_public();
	vperfctr_hold(perfctr, PERFCTR_HOLD_LOST);
	vperfctr_page_disown(perfctr);
	WRITE_ONCE(perfctr->error, error);
	if (perfctr->page && !perfctr->stale)
		WRITE_ONCE(perfctr->page->error, error);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
}

/* The registers of a tracee are not verified here, but as the tracee leaves its CPU. */
int vperfctr_verify(struct vperfctr *perfctr)
{
	unsigned long flags;
	bool good = true;

	if (READ_ONCE(perfctr->error) == PERFCTR_ERROR_CHANGED)
		return -EIO;
	local_irq_save(flags);
	if (vperfctr_is_own(perfctr) && perfctr->seq & 1 && vperfctr_is_native(perfctr) &&
	    perfctr->config->nr)
		good = perfctr_cpu_verify();
	local_irq_restore(flags);
	if (good)
		return 0;
	vperfctr_stop(perfctr, PERFCTR_ERROR_CHANGED);
	return -EIO;
}

/*
 * Takes the state from its owner, and so makes the sums final. The owner calls this, or its tracer
 * while the owner is frozen.
 */
static __always_inline void disown(struct vperfctr *perfctr, bool own)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	vperfctr_suspend(perfctr);
	vperfctr_hold(perfctr, PERFCTR_HOLD_ENDED);
	atomic_andnot(PERFCTR_HOLD_ON_EXEC | PERFCTR_HOLD_SUSPENDED, &perfctr->hold);
	vperfctr_page_disown(perfctr);
	WRITE_ONCE(perfctr->holder, NULL);
	vperfctr_unnotify(perfctr);
	/* sched_out() would take back the permission, but does not see this state any more. */
	vperfctr_end_reading(perfctr, own);
	if (perfctr->inherited)
		vperfctr_descendant_name(perfctr);
	rcu_assign_pointer(perfctr->owner, NULL);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
}

/* Puts the references of the owner: one to the state, and one to the module. */
static void put_owners(struct vperfctr *perfctr)
{
	vperfctr_put(perfctr);
	/*
	 * The caller runs our text after this. The open file of an ioctl keeps the module, and
	 * the unload of the module waits for probes.
	 */
	module_put(THIS_MODULE);
}

void vperfctr_detach(struct vperfctr *perfctr, bool atomic)
{
	bool later = atomic && (!perfctr->inherited || IS_ENABLED(CONFIG_PREEMPT_RT));
	/* If the work is queued, it takes over the owner's references. */
	bool queued = later && vperfctr_return_queue(perfctr, current);

	vperfctr_verify(perfctr);
	disown(perfctr, true);
	if (perfctr->inherited) {
		vperfctr_descendant_end(perfctr);
		/* After the state has ended, its spare is not needed any more. */
		if (!later)
			vperfctr_drop_spare(perfctr);
	} else if (perfctr->config) {
		perfctr_config_drop_user(perfctr->config, atomic);
	}
	if (!queued)
		put_owners(perfctr);
}

int vperfctr_detach_tracee(struct vperfctr *perfctr, struct task_struct *owner)
{
	unsigned long flags;
	int err = perfctr_tracee_freeze(owner, &flags);

	if (err)
		return err;
	disown(perfctr, false);
	perfctr_tracee_thaw(owner, flags);
	if (perfctr->config)
		perfctr_config_drop_user(perfctr->config, false);
	put_owners(perfctr);
	return 0;
}

void vperfctr_forget_tree(struct vperfctr *perfctr)
{
	struct perfctr_tree *tree;

	raw_spin_lock_irq(&perfctr->lock);
	tree = perfctr->tree;
	if (!perfctr->inherited)
		WRITE_ONCE(perfctr->tree, NULL);
	raw_spin_unlock_irq(&perfctr->lock);
	if (!perfctr->inherited)
		perfctr_tree_end(tree);
}

void vperfctr_root_free(struct vperfctr *perfctr)
{
	if (perfctr->tree)
		perfctr_tree_end(perfctr->tree);
	if (perfctr->config)
		perfctr_config_unref(perfctr->config);
	kfree(perfctr->imode);
	perfctr_record_free(perfctr->recorder);
	ring_put(perfctr->ring);
	vperfctr_free_memory(perfctr, free_root_memory);
}

int perfctr_life_init(void)
{
	state_cache = kmem_cache_create("perfctr", vperfctr_size(), 0, SLAB_ACCOUNT, NULL);
	return state_cache ? 0 : -ENOMEM;
}

void perfctr_life_exit(void)
{
	kmem_cache_destroy(state_cache);
}
