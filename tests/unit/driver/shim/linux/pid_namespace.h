/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_PID_NAMESPACE_H
#define SHIM_PID_NAMESPACE_H

#include "shim/kernel.h"

#define PIDTYPE_PID	0

struct pid_namespace {
	unsigned int refs;
};

extern struct pid_namespace init_pid_ns;

/* Threads of a test have that of its first process, unless they have another. */
#define task_active_pid_ns(task)	((task)->pid_ns ?: &init_pid_ns)

static inline struct pid_namespace *get_pid_ns(struct pid_namespace *ns)
{
	ns->refs++;
	return ns;
}

static inline void put_pid_ns(struct pid_namespace *ns)
{
	might_sleep();
	shim_assert(ns->refs);
	ns->refs--;
}

struct pid *find_pid_ns(int nr, struct pid_namespace *ns);
struct task_struct *pid_task(struct pid *pid, int type);
void get_task_struct(struct task_struct *task);
void put_task_struct(struct task_struct *task);

#endif /* SHIM_PID_NAMESPACE_H */
