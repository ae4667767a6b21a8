/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_SCHED_TASK_H
#define SHIM_SCHED_TASK_H

#include <linux/sched.h>

#define task_lock(task)		((void)(task))
#define task_unlock(task)	((void)(task))

#endif /* SHIM_SCHED_TASK_H */
