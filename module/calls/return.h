/* SPDX-License-Identifier: GPL-2.0 */
/* What a thread does for its state on its way back to user mode, and how it takes up a state */
#ifndef PERFCTR_RETURN_H
#define PERFCTR_RETURN_H

#include <linux/compiler.h>

#include "thread/notify.h"
#include "tree/invite.h"

struct callback_head;
struct vperfctr;

/* Current attaches the state that it was invited to have, if any. Probes may call this. */
void perfctr_attach_invited(void);

/* The same, then vperfctr_current() */
static __always_inline struct vperfctr *vperfctr_current_or_invited(void)
{
	if (unlikely(atomic_read(&perfctr_nr_invited)))
		perfctr_attach_invited();
	return vperfctr_current();
}

/* For struct perfctr_above */
void vperfctr_return(struct callback_head *work);
void vperfctr_return_invited(struct callback_head *work);
/* By the owner after an exec, which may have changed its id */
void vperfctr_exec_pid(struct vperfctr *perfctr);

#endif /* PERFCTR_RETURN_H */
