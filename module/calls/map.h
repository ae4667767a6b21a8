/* SPDX-License-Identifier: GPL-2.0 */
/* mmap of the page, and who has it mapped */
#ifndef PERFCTR_MAP_H
#define PERFCTR_MAP_H

#include <linux/types.h>

struct file;
struct vm_area_struct;
struct vperfctr;

int perfctr_map_init(void);
void perfctr_map_exit(void);
int vperfctr_mmap(struct file *file, struct vm_area_struct *vma);
/* By the owner after an exec: it has no maps any more. */
void vperfctr_exec_unmap(struct vperfctr *perfctr);
/* By the owner: the child of its vfork has the page too, until take_back. */
void vperfctr_lend(struct vperfctr *perfctr);
bool vperfctr_take_back(struct vperfctr *perfctr);

#endif /* PERFCTR_MAP_H */
