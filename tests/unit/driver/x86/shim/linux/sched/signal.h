/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_SCHED_SIGNAL_H
#define SHIM_SCHED_SIGNAL_H

#include <linux/sched.h>

/* All there are: each is a process */
extern struct task_struct *model_tasks;
extern unsigned int model_nr_tasks;

#define for_each_process_thread(process, task)				\
	for ((process) = (task) = model_tasks;				\
	     (void)(process), (task) && (task) < model_tasks + model_nr_tasks; \
	     (process) = ++(task))

#define rcu_read_lock()		((void)0)
#define rcu_read_unlock()	((void)0)

#endif /* SHIM_SCHED_SIGNAL_H */
