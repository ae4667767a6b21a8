/* SPDX-License-Identifier: GPL-2.0 */
/* CONTROL, READ_CONTROL, SUSPEND and RESUME of one thread, UNLINK */
#ifndef PERFCTR_CONTROL_H
#define PERFCTR_CONTROL_H

#include <linux/types.h>

struct file;
struct vperfctr;

int vperfctr_control(struct vperfctr *perfctr, struct file *file, void __user *arg);
int vperfctr_read_control(struct vperfctr *perfctr, void __user *arg);
int vperfctr_stop_go(struct vperfctr *perfctr, const struct file *file, bool stop);
int vperfctr_unlink(struct vperfctr *perfctr, struct file *file);
/* By the owner, at the exec that its control waits for */
void vperfctr_start_on_exec(struct vperfctr *perfctr);

#endif /* PERFCTR_CONTROL_H */
