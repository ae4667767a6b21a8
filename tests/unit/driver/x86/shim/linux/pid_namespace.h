/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_PID_NAMESPACE_H
#define SHIM_PID_NAMESPACE_H

#include "shim/kernel.h"

#define PIDTYPE_PID	0

struct pid_namespace {
	int unused;
};

extern struct pid_namespace init_pid_ns;
struct pid *find_pid_ns(int nr, struct pid_namespace *ns);
struct task_struct *pid_task(struct pid *pid, int type);
void get_task_struct(struct task_struct *task);
void put_task_struct(struct task_struct *task);

#endif /* SHIM_PID_NAMESPACE_H */
