/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose counts a thread may find in registers that it reads in user mode: those of its kin, or, by
 * the policy, everybody's or nobody's. See kin.c.
 */
#ifndef PERFCTR_KIN_H
#define PERFCTR_KIN_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/perfctr.h>

#include "arch/user.h"

struct task_struct;
struct vperfctr;

/* The policy for user reads that is in force: PERFCTR_USER_READ_* */
extern unsigned int perfctr_user_read;

/* Must registers hold nothing of others whenever a thread runs, whatever state it has? */
static __always_inline bool perfctr_guards_all(void)
{
	return perfctr_cpu_always_readable() &&
	       READ_ONCE(perfctr_user_read) != PERFCTR_USER_READ_OPEN;
}

/* vperfctr.apart of the state of a child that current makes, whose own state is @parent */
bool perfctr_is_apart(const struct vperfctr *parent, struct task_struct *child);
/* Is the thread, which current controls, in another pid or user namespace than current? */
bool perfctr_is_other(struct task_struct *task);
/* A new kin, which no config and no thread has. In any context. */
unsigned long perfctr_new_kin(void);

#endif /* PERFCTR_KIN_H */
