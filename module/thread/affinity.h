/* SPDX-License-Identifier: GPL-2.0 */
/* A thread that counts may have to keep off CPUs where it could not. */
#ifndef PERFCTR_AFFINITY_H
#define PERFCTR_AFFINITY_H

#include <linux/cpumask.h>
#include <linux/types.h>

struct perfctr_config;
struct task_struct;

/**
 * struct perfctr_affinity - what perfctr_keep_off() has changed
 * @changed: false: nothing
 * @before: the CPUs where the thread might run, if so
 */
struct perfctr_affinity {
	bool changed;
	cpumask_var_t before;
};

/*
 * The thread, which is current or cannot end, is to count by that config, which is claimed: from
 * now on it does not run where it cannot count. EINVAL: no CPU is left. ENOMEM
 */
int perfctr_keep_off(struct task_struct *task, const struct perfctr_config *config,
		     struct perfctr_affinity *affinity);
/* After a success: frees what was noted. @undo: the thread is not to count after all. */
void perfctr_keep_off_end(struct task_struct *task, struct perfctr_affinity *affinity, bool undo);

#endif /* PERFCTR_AFFINITY_H */
