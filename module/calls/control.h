/* SPDX-License-Identifier: GPL-2.0 */
/* CONTROL, READ_CONTROL, SUSPEND and RESUME of one thread, UNLINK, and the end of a state */
#ifndef PERFCTR_CONTROL_H
#define PERFCTR_CONTROL_H

#include <linux/types.h>

struct file;
struct vperfctr;

int vperfctr_control(struct vperfctr *perfctr, struct file *file, void __user *arg);
int vperfctr_read_control(struct vperfctr *perfctr, void __user *arg);
int vperfctr_stop_go(struct vperfctr *perfctr, const struct file *file, bool stop);
int vperfctr_unlink(struct vperfctr *perfctr, struct file *file);
/* After an unlink of a root: ends its tree, although the state may live on. Sleeps. */
void vperfctr_forget_tree(struct vperfctr *perfctr);
/* By the owner: stops with an error that stays. */
void vperfctr_stop(struct vperfctr *perfctr, u32 error);
/* By the owner, at an exec that its control waits for */
void vperfctr_start_on_exec(struct vperfctr *perfctr);
/*
 * By the owner: takes the state from it, at an unlink, exec or exit, or when its tree is dead.
 * @atomic: does not sleep. To free a root may sleep, and on RT to free anything: then the thread's
 * reference is put later, on its way to user mode.
 */
void vperfctr_detach(struct vperfctr *perfctr, bool atomic);

#endif /* PERFCTR_CONTROL_H */
