/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_USER_NAMESPACE_H
#define SHIM_USER_NAMESPACE_H

#include "shim/kernel.h"

struct user_namespace {
	unsigned int refs;
	struct user_namespace *parent;
	kuid_t owner;
	struct {
		unsigned int inum;
	} ns;
};

extern struct user_namespace init_user_ns, *shim_user_ns;

#define current_user_ns()	shim_user_ns
#define task_cred_xxx(task, xxx)	((void)(task), shim_user_ns)

static inline struct user_namespace *get_user_ns(struct user_namespace *ns)
{
	ns->refs++;
	return ns;
}

static inline void put_user_ns(struct user_namespace *ns)
{
	shim_assert(ns->refs);
	ns->refs--;
}

#endif /* SHIM_USER_NAMESPACE_H */
