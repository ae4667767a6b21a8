/* SPDX-License-Identifier: GPL-2.0 */
/* Maps the page of a state, and keeps track of the owner's maps. */
#ifndef PERFCTR_MAP_H
#define PERFCTR_MAP_H

#include <linux/types.h>

struct file;
struct vm_area_struct;
struct vperfctr;

int perfctr_map_init(void);
void perfctr_map_exit(void);
int vperfctr_mmap(struct file *file, struct vm_area_struct *vma);
/* Notes that the owner has no maps any more. The owner calls this after an exec. */
void vperfctr_exec_unmap(struct vperfctr *perfctr);
/*
 * The owner calls vperfctr_lend() when the child of its vfork has the page, too, and
 * vperfctr_take_back() later. vperfctr_take_back() returns false if the child may still have the
 * page.
 */
void vperfctr_lend(struct vperfctr *perfctr);
bool vperfctr_take_back(struct vperfctr *perfctr);

#endif /* PERFCTR_MAP_H */
