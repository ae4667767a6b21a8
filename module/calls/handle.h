/* SPDX-License-Identifier: GPL-2.0 */
/* The open file of the device */
#ifndef PERFCTR_HANDLE_H
#define PERFCTR_HANDLE_H

#include <linux/fs.h>

/* As INFO tells it */
#define PERFCTR_VERSION	"7.0.0"

struct vperfctr;

extern const struct file_operations vperfctr_fops;

/* For vperfctr_put() alone */
void vperfctr_root_free(struct vperfctr *perfctr);
int perfctr_handle_init(void);
void perfctr_handle_exit(void);

#endif /* PERFCTR_HANDLE_H */
