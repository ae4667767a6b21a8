/* SPDX-License-Identifier: GPL-2.0 */
/* What readers of a ring learn of the code that threads have mapped */
#ifndef PERFCTR_MAPS_H
#define PERFCTR_MAPS_H

#include <linux/types.h>

struct perfctr_recorder;
struct task_struct;
struct vperfctr;

/* By the owner, which looks at its memory, and tells readers what they do not know. May sleep. */
void vperfctr_record_maps(struct vperfctr *perfctr);

/*
 * The child shares its parent's memory, so a change is one for both. It knows what readers were
 * told of that so far. Before the FORK is written
 */
void vperfctr_share_maps(struct vperfctr *parent, struct vperfctr *perfctr,
			 struct task_struct *child);
/*
 * The child has a copy of its parent's memory. Readers take from the FORK that it has all that they
 * were told of the parent. That is true if every change before the copy was told, and none after
 * the copy was told before the FORK: if the parent, which is in fork(2), was the last that looked.
 * Otherwise the child's samples say MAP_UNKNOWN until it looks. After the FORK is written
 */
void perfctr_copy_maps(const struct perfctr_recorder *from, struct perfctr_recorder *recorder);

/* The kernel tells of mappings from now on, until put: EOPNOTSUPP. May sleep. */
int perfctr_record_maps_get(void);
void perfctr_record_maps_put(void);
void perfctr_maps_exit(void);

#endif /* PERFCTR_MAPS_H */
