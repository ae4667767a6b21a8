/* SPDX-License-Identifier: GPL-2.0 */
/* Kin: whose counts a thread may find in registers that it reads in user mode. See kin.c. */
#ifndef PERFCTR_KIN_H
#define PERFCTR_KIN_H

#include <linux/types.h>

struct task_struct;
struct vperfctr;

/* vperfctr.apart of the state of a child that current makes, whose own state is @parent */
bool perfctr_is_apart(const struct vperfctr *parent, struct task_struct *child);
/* Is the thread, which current controls, in another pid or user namespace than current? */
bool perfctr_is_other(struct task_struct *task);
/* A new kin, which no config and no thread has. In any context. */
unsigned long perfctr_new_kin(void);

#endif /* PERFCTR_KIN_H */
