/* SPDX-License-Identifier: GPL-2.0 */
/* Members from outside: a thread that runs becomes a member of a tree. */
#ifndef PERFCTR_INVITE_H
#define PERFCTR_INVITE_H

#include <linux/atomic.h>

struct vperfctr;

/* How many states wait for their threads to attach them */
extern atomic_t perfctr_nr_invited;

/* Current attaches that state; or ends it, as it has one, @own, or is about to end. */
void vperfctr_answer(struct vperfctr *perfctr, const struct vperfctr *own);
int vperfctr_add_member_ioctl(struct vperfctr *perfctr, void __user *arg);

#endif /* PERFCTR_INVITE_H */
