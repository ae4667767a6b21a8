/* SPDX-License-Identifier: GPL-2.0 */
/* These functions keep a counting thread away from CPUs where it cannot count. */
#ifndef PERFCTR_AFFINITY_H
#define PERFCTR_AFFINITY_H

#include <linux/cpumask.h>
#include <linux/types.h>

struct perfctr_config;
struct task_struct;

/**
 * struct perfctr_affinity - what perfctr_keep_off_end() needs to undo perfctr_keep_off()
 * @changed: perfctr_keep_off() has changed the affinity
 * @before: with @changed, the CPUs where the thread was allowed to run before
 */
struct perfctr_affinity {
	bool changed;
	cpumask_var_t before;
};

/*
 * Keeps the thread away from CPUs where it cannot count by that config, from now on. Call this
 * after the config was claimed, for current or for a thread that cannot end meanwhile. Returns 0,
 * -EINVAL if no CPU is left, or -ENOMEM.
 */
int perfctr_keep_off(struct task_struct *task, const struct perfctr_config *config,
		     struct perfctr_affinity *affinity);
/*
 * Frees @affinity's memory. @undo: restores the affinity, too. Call this if perfctr_keep_off()
 * returned 0.
 */
void perfctr_keep_off_end(struct task_struct *task, struct perfctr_affinity *affinity, bool undo);

#endif /* PERFCTR_AFFINITY_H */
