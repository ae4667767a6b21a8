/* SPDX-License-Identifier: GPL-2.0 */
/* What readers of a ring learn of the code that threads have mapped */
#ifndef PERFCTR_MAPS_H
#define PERFCTR_MAPS_H

#include <linux/types.h>

struct perfctr_recorder;
struct task_struct;
struct vperfctr;

/* The owner looks at its memory, and announces to readers what they do not know. May sleep. */
void vperfctr_record_maps(struct vperfctr *perfctr);

/*
 * Call this before the FORK is written, if the child shares its parent's memory. Both then see the
 * same changes, and readers know as much of the child's memory as of the parent's.
 */
void vperfctr_use_same_maps(struct vperfctr *parent, struct vperfctr *perfctr,
			    struct task_struct *child);
/*
 * Call this after the FORK is written, if the child has a copy of its parent's memory. At a FORK
 * readers assume that the child has all maps that they know of its parent. That is right only if
 * every change before the copy was announced before the FORK, and no change after the copy was
 * announced before the FORK. The parent is in fork(2), so it is right if the parent looked last.
 * Otherwise the child's samples say MAP_UNKNOWN until the child looks.
 */
void perfctr_copy_maps(const struct perfctr_recorder *from, struct perfctr_recorder *recorder);

/* Hears of mappings from now on, until put. EOPNOTSUPP: the kernel allows no probe. May sleep. */
int perfctr_record_maps_get(void);
void perfctr_record_maps_put(void);
void perfctr_maps_exit(void);

#endif /* PERFCTR_MAPS_H */
