/* SPDX-License-Identifier: GPL-2.0 */
/* Informs the readers of a ring about the code that threads have mapped. */
#ifndef PERFCTR_MAPS_H
#define PERFCTR_MAPS_H

#include <linux/types.h>

struct perfctr_recorder;
struct task_struct;
struct vperfctr;

/*
 * The owner looks at its memory, and writes records of all executable mappings that readers do not
 * know. May sleep.
 */
void vperfctr_record_maps(struct vperfctr *perfctr);

/*
 * Call this before the FORK is written, if the child shares its parent's memory. Parent and child
 * then see the same changes, and readers know as much of the child's memory as of the parent's.
 */
void vperfctr_use_same_maps(struct vperfctr *parent, struct vperfctr *perfctr,
			    struct task_struct *child);
/*
 * Call this after the FORK is written, if the child has a copy of its parent's memory. At a FORK,
 * readers assume that the child has all maps that they know of its parent. The readers are right if
 * exactly the changes before the copy were announced before the FORK. That is so if the parent,
 * which is in fork(2), was the last thread that looked at the memory. Otherwise the child's samples
 * say MAP_UNKNOWN until the child looks.
 */
void perfctr_copy_maps(const struct perfctr_recorder *from, struct perfctr_recorder *recorder);

/*
 * Turns on the probe of new mappings, until perfctr_record_maps_put(). Returns 0, or -EOPNOTSUPP if
 * the kernel allows no such probe. May sleep.
 */
int perfctr_record_maps_get(void);
void perfctr_record_maps_put(void);
void perfctr_maps_exit(void);

#endif /* PERFCTR_MAPS_H */
