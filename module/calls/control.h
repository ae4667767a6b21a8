/* SPDX-License-Identifier: GPL-2.0 */
/* The calls CONTROL, READ_CONTROL, SUSPEND and RESUME of one thread, and UNLINK. */
#ifndef PERFCTR_CONTROL_H
#define PERFCTR_CONTROL_H

#include <linux/types.h>

struct file;
struct vperfctr;

int vperfctr_control(struct vperfctr *perfctr, struct file *file, void __user *arg);
int vperfctr_read_control(struct vperfctr *perfctr, void __user *arg);
int vperfctr_stop_go(struct vperfctr *perfctr, const struct file *file, bool stop);
int vperfctr_unlink(struct vperfctr *perfctr, struct file *file);
/* Starts a state whose control waits for an exec. The owner calls this at the exec. */
void vperfctr_start_on_exec(struct vperfctr *perfctr);

#endif /* PERFCTR_CONTROL_H */
