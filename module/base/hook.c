// SPDX-License-Identifier: GPL-2.0
/* This file registers probes, and turns hooks on and off. See hook.h. */

#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "base/hook.h"

struct workqueue_struct *perfctr_wq;

/* A hook goes off this long after its last user has left. */
#define DELAY	(10 * HZ)

struct search {
	struct perfctr_probe *probes;
	unsigned int nr;
};

static void find_one(struct tracepoint *tracepoint, void *data)
{
	const struct search *search = data;
	unsigned int i;

	for (i = 0; i < search->nr; i++)
		if (!strcmp(tracepoint->name, search->probes[i].name))
			search->probes[i].tracepoint = tracepoint;
}

int perfctr_probes_find(struct perfctr_probe *probes, unsigned int nr)
{
	struct search search = { .probes = probes, .nr = nr };

	for_each_kernel_tracepoint(find_one, &search);
	while (nr--)
		if (!probes[nr].tracepoint)
			return -ENOENT;
	return 0;
}

void perfctr_probes_unregister(const struct perfctr_probe *probes, unsigned int nr)
{
	while (nr--)
		tracepoint_probe_unregister(probes[nr].tracepoint, probes[nr].fn, NULL);
	tracepoint_synchronize_unregister();
}

int perfctr_probes_register(const struct perfctr_probe *probes, unsigned int nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		err = tracepoint_probe_register_prio(probes[i].tracepoint, probes[i].fn, NULL,
						     TRACEPOINT_DEFAULT_PRIO + probes[i].prio);
		if (err) {
			perfctr_probes_unregister(probes, i);
			return err;
		}
	}
	return 0;
}

void perfctr_hook_off(struct work_struct *work)
{
	struct perfctr_hook *hook = container_of(work, struct perfctr_hook, off.work);

	mutex_lock(&hook->mutex);
	if (hook->is_on && !atomic_read(&hook->users))
		hook->is_on = hook->turn(false) != 0;
	mutex_unlock(&hook->mutex);
}

int perfctr_hook_get(struct perfctr_hook *hook)
{
	int err = 0;

	mutex_lock(&hook->mutex);
	if (!hook->is_on)
		err = hook->turn(true);
	if (!err) {
		hook->is_on = true;
		atomic_inc(&hook->users);
	}
	mutex_unlock(&hook->mutex);
	return err;
}

void perfctr_hook_add_user(struct perfctr_hook *hook)
{
	atomic_inc(&hook->users);
}

void perfctr_hook_put(struct perfctr_hook *hook)
{
	if (atomic_dec_and_test(&hook->users))
		mod_delayed_work(perfctr_wq, &hook->off, DELAY);
}

void perfctr_hook_exit(struct perfctr_hook *hook)
{
	cancel_delayed_work_sync(&hook->off);
	perfctr_hook_off(&hook->off.work);
}
