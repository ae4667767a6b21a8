/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy for user reads says whose counts may be in registers that a thread reads in user mode:
 * those of its kin, those of everybody, or none. See kin.c.
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

/*
 * Returns true if registers must be free of others' counts whenever a thread runs, even if the
 * thread has no page.
 */
static __always_inline bool perfctr_guards_all(void)
{
	return perfctr_cpu_always_readable() &&
	       READ_ONCE(perfctr_user_read) != PERFCTR_USER_READ_OPEN;
}

/* Returns the value of vperfctr.apart for a child that current makes. @parent: current's state. */
bool perfctr_is_apart(const struct vperfctr *parent, struct task_struct *child);
/* Returns true if the thread is in another pid or user namespace than current, who controls it. */
bool perfctr_is_other(struct task_struct *task);
/* Returns a new kin, which no config and no thread has. May be called in any context. */
unsigned long perfctr_new_kin(void);

#endif /* PERFCTR_KIN_H */
