/* SPDX-License-Identifier: GPL-2.0 */
/* READ_TREE and NEXT_MEMBER: reads of a tree and of its members */
#ifndef PERFCTR_READ_TREE_H
#define PERFCTR_READ_TREE_H

#include <linux/types.h>

struct vperfctr;

int vperfctr_read_tree_ioctl(struct vperfctr *perfctr, void __user *arg);
int vperfctr_next_member_ioctl(struct vperfctr *perfctr, void __user *arg);

#endif /* PERFCTR_READ_TREE_H */
