/* SPDX-License-Identifier: GPL-2.0 */
/* ADD_MEMBER: a thread that runs already becomes a member of a tree. */
#ifndef PERFCTR_INVITE_H
#define PERFCTR_INVITE_H

#include <linux/atomic.h>

struct vperfctr;

/* Number of states that wait for their threads to attach them */
extern atomic_t perfctr_nr_invited;

/*
 * Current attaches @perfctr, to which it was invited. @own is a state that current has already, or
 * NULL. If current has such a state, or exits, or the tree is dead, @perfctr ends instead.
 */
void vperfctr_answer(struct vperfctr *perfctr, const struct vperfctr *own);
int vperfctr_add_member_ioctl(struct vperfctr *perfctr, void __user *arg);

#endif /* PERFCTR_INVITE_H */
