/* SPDX-License-Identifier: GPL-2.0 */
/* Another thread, which current traces: finding it, and keeping it from running. */
#ifndef PERFCTR_TRACEE_H
#define PERFCTR_TRACEE_H

#include <linux/types.h>

struct perfctr_tree;
struct task_struct;
struct vperfctr;

/*
 * The thread of that id in current's pid namespace, with a reference. With @by_pidfd @pidfd must
 * be of the thread or of its process: EBADF. ESRCH: there is no such thread. EPERM: current does
 * not trace it.
 */
struct task_struct *perfctr_tracee_get(pid_t tid, bool by_pidfd, int pidfd);
/* The same of the owner of @perfctr: ESRCH, EPERM */
struct task_struct *vperfctr_traced_owner(struct vperfctr *perfctr);
void perfctr_tracee_put(struct task_struct *task);

/*
 * Keeps the thread from running until release, with interrupts off, so that its state is
 * suspended. ESRCH: it is in no ptrace stop. EINTR: current was killed. May sleep.
 */
int perfctr_tracee_hold(struct task_struct *task, unsigned long *flags);
void perfctr_tracee_release(struct task_struct *task, unsigned long flags);

/*
 * Has the thread, which may run, no state? EEXIST: it has one of that tree. EBUSY: another.
 * EINTR. May sleep.
 */
int perfctr_tracee_check_free(struct task_struct *task, const struct perfctr_tree *tree);

#endif /* PERFCTR_TRACEE_H */
