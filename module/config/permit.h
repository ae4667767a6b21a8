/* SPDX-License-Identifier: GPL-2.0 */
/* Permits processes to read registers in user mode, by the policy. All functions may sleep. */
#ifndef PERFCTR_PERMIT_H
#define PERFCTR_PERMIT_H

#include <linux/types.h>

struct mm_struct;

/* The policy for user reads that root has asked for: PERFCTR_USER_READ_* */
extern unsigned int perfctr_user_read_asked;

/* Sets perfctr_user_read, the policy in force, after perfctr_user_read_asked has changed. */
void perfctr_policy_changed(void);
/*
 * On x86: permits current's mm to read registers, if the mm has mapped a page and waits for the
 * permission. Returns false if this must be tried again later.
 */
bool perfctr_permit(void);
/* On x86: called when an mm has unmapped a page. The mm loses the permission with its last page. */
void perfctr_forbid(struct mm_struct *mm);
/*
 * Called before a wide begins to count natively (@more), and after a wide has stopped. While there
 * is such a wide, no process may read registers.
 */
void perfctr_permit_wide(bool more);
int perfctr_permit_init(void);
void perfctr_permit_exit(void);

#endif /* PERFCTR_PERMIT_H */
