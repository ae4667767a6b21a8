/* SPDX-License-Identifier: GPL-2.0 */
/* Reading sums: the owner reads its own, others interrupt the owner's CPU. */
#ifndef PERFCTR_READ_H
#define PERFCTR_READ_H

#include <linux/fs.h>
#include <linux/types.h>

struct perfctr_sample;
struct vperfctr;

/* Copies the sums of a suspended state; false: it is not suspended. Anyone may call this. */
bool vperfctr_sums(const struct vperfctr *perfctr, struct perfctr_sample *sample);
/* The same for any state. ERESTARTSYS: a signal came while another CPU was asked */
int vperfctr_sample(struct vperfctr *perfctr, struct perfctr_sample *sample);
ssize_t vperfctr_read(struct file *file, char __user *buffer, size_t count, loff_t *pos);
int vperfctr_read_ioctl(struct vperfctr *perfctr, void __user *arg);

#endif /* PERFCTR_READ_H */
