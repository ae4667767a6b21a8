/* SPDX-License-Identifier: GPL-2.0 */
/* The work that a thread does for its state before it returns to user mode, or as it dies. */
#ifndef PERFCTR_RETURN_H
#define PERFCTR_RETURN_H

#include <linux/compiler.h>

#include "thread/notify.h"
#include "tree/invite.h"

struct callback_head;
struct vperfctr;

/* Current attaches the state to which it was invited, if there is one. Probes may call this. */
void perfctr_attach_invited(void);

/* Attaches the state to which current was invited, if any. Returns current's state, or NULL. */
static __always_inline struct vperfctr *vperfctr_current_or_invited(void)
{
	if (unlikely(atomic_read(&perfctr_nr_invited)))
		perfctr_attach_invited();
	return vperfctr_current();
}

/* main.c puts these functions into struct perfctr_above. */
void vperfctr_return(struct callback_head *work);
void vperfctr_return_invited(struct callback_head *work);
/* Notes the owner's pid, which an exec may have changed. The owner calls this after an exec. */
void vperfctr_exec_pid(struct vperfctr *perfctr);

#endif /* PERFCTR_RETURN_H */
