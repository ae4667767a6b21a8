/* SPDX-License-Identifier: GPL-2.0 */
/* These functions find and freeze another thread, which current traces. */
#ifndef PERFCTR_TRACEE_H
#define PERFCTR_TRACEE_H

#include <linux/types.h>

struct perfctr_tree;
struct task_struct;
struct vperfctr;

/*
 * Returns the thread of that id in current's pid namespace, with a reference. With @by_pidfd,
 * @pidfd must be a pidfd of the thread or of its process. Returns -EBADF if @pidfd is not open,
 * -ESRCH if there is no such thread or @pidfd belongs to another thread, or -EPERM if current does
 * not trace the thread.
 */
struct task_struct *perfctr_tracee_get(pid_t tid, bool by_pidfd, int pidfd);
/*
 * Returns the owner of @perfctr, with a reference. Returns -ESRCH if there is no owner, or -EPERM
 * if current does not trace it.
 */
struct task_struct *vperfctr_traced_owner(struct vperfctr *perfctr);
void perfctr_tracee_put(struct task_struct *task);

/*
 * Keeps the thread from running, with its state suspended and interrupts off, until
 * perfctr_tracee_thaw() is called. Returns 0, -ESRCH if the thread is in no ptrace stop, or -EINTR
 * if current was killed. May sleep.
 */
int perfctr_tracee_freeze(struct task_struct *task, unsigned long *flags);
void perfctr_tracee_thaw(struct task_struct *task, unsigned long flags);

/*
 * Returns 0 if the thread, which may run, has no state. Returns -EEXIST if the thread has a state
 * of that tree, -EBUSY if it has another state, -EINTR if current was killed, or the error of
 * perfctr_broadcasts_allow(). May sleep.
 */
int perfctr_tracee_check_free(struct task_struct *task, const struct perfctr_tree *tree);

#endif /* PERFCTR_TRACEE_H */
