/* SPDX-License-Identifier: GPL-2.0 */
/* The handle: an open file of the device. */
#ifndef PERFCTR_HANDLE_H
#define PERFCTR_HANDLE_H

#include <linux/fs.h>

/* INFO returns this version. */
#define PERFCTR_VERSION	"7.0.0"

extern const struct file_operations vperfctr_fops;

#endif /* PERFCTR_HANDLE_H */
