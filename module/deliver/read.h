/* SPDX-License-Identifier: GPL-2.0 */
/* Reads of sums: the owner reads its own sums, and other threads interrupt the owner's CPU. */
#ifndef PERFCTR_READ_H
#define PERFCTR_READ_H

#include <linux/fs.h>
#include <linux/types.h>

struct perfctr_sample;
struct vperfctr;

/*
 * Copies the sums of a suspended state. Returns false if the state is not suspended, or was resumed
 * meanwhile. Anyone may call this.
 */
bool vperfctr_sums(const struct vperfctr *perfctr, struct perfctr_sample *sample);
/*
 * Reads the sums of any state. Returns 0, or -ERESTARTSYS if a signal came before the owner's CPU
 * could be asked. May sleep.
 */
int vperfctr_sample(struct vperfctr *perfctr, struct perfctr_sample *sample);
ssize_t vperfctr_read(struct file *file, char __user *buffer, size_t count, loff_t *pos);
int vperfctr_read_ioctl(struct vperfctr *perfctr, void __user *arg);

#endif /* PERFCTR_READ_H */
