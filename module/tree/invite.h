/* SPDX-License-Identifier: GPL-2.0 */
/* Members from outside: a thread that runs becomes a member of a tree. */
#ifndef PERFCTR_INVITE_H
#define PERFCTR_INVITE_H

#include <linux/atomic.h>

struct vperfctr;

/* How many states wait for their threads to attach them */
extern atomic_t perfctr_nr_invited;

/* Current attaches @perfctr, or ends it: if current has @own or exits, or the tree is dead. */
void vperfctr_answer(struct vperfctr *perfctr, const struct vperfctr *own);
int vperfctr_add_member_ioctl(struct vperfctr *perfctr, void __user *arg);

#endif /* PERFCTR_INVITE_H */
