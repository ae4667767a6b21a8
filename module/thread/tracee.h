/* SPDX-License-Identifier: GPL-2.0 */
/* Another thread, which current traces: finding it, and freezing it. */
#ifndef PERFCTR_TRACEE_H
#define PERFCTR_TRACEE_H

#include <linux/types.h>

struct perfctr_tree;
struct task_struct;
struct vperfctr;

/*
 * The thread of that id in current's pid namespace, with a reference. With @by_pidfd, @pidfd must
 * be a pidfd of the thread or of its process. EBADF: @pidfd is not open. ESRCH: there is no such
 * thread, or @pidfd is not its. EPERM: current does not trace it.
 */
struct task_struct *perfctr_tracee_get(pid_t tid, bool by_pidfd, int pidfd);
/* The same for the owner of @perfctr. ESRCH: there is none. EPERM */
struct task_struct *vperfctr_traced_owner(struct vperfctr *perfctr);
void perfctr_tracee_put(struct task_struct *task);

/*
 * Keeps the thread from running, with its state suspended, and interrupts off, until
 * perfctr_tracee_thaw() is called. ESRCH: the thread is in no ptrace stop. EINTR: current was
 * killed. May sleep.
 */
int perfctr_tracee_freeze(struct task_struct *task, unsigned long *flags);
void perfctr_tracee_thaw(struct task_struct *task, unsigned long flags);

/*
 * 0 if the thread, which may run, has no state. EEXIST: it has a state of that tree. EBUSY: it has
 * another. EINTR: current was killed. May also return the error of perfctr_broadcasts_allow().
 * May sleep.
 */
int perfctr_tracee_check_free(struct task_struct *task, const struct perfctr_tree *tree);

#endif /* PERFCTR_TRACEE_H */
