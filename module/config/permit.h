/* SPDX-License-Identifier: GPL-2.0 */
/* Which processes may read registers in user mode, and by which policy. All of it may sleep. */
#ifndef PERFCTR_PERMIT_H
#define PERFCTR_PERMIT_H

#include <linux/types.h>

struct mm_struct;

/* The policy for user reads that was asked for last: PERFCTR_USER_READ_* */
extern unsigned int perfctr_user_read_asked;

/* Chooses the policy in force, perfctr_user_read, after perfctr_user_read_asked has changed. */
void perfctr_policy_changed(void);
/* x86: lets current's mm read registers, if its maps wait for it. False: try again later. */
bool perfctr_permit(void);
/* x86: an mm has unmapped a page. After the last one it loses its permission. */
void perfctr_forbid(struct mm_struct *mm);
/*
 * One wide more, or one less, counts natively. While there is any, no process may read registers.
 */
void perfctr_permit_wide(bool more);
int perfctr_permit_init(void);
void perfctr_permit_exit(void);

#endif /* PERFCTR_PERMIT_H */
