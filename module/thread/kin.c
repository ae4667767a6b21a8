// SPDX-License-Identifier: GPL-2.0
/*
 * Kin are threads that may see each other's counts in registers that user mode reads. Threads are
 * kin if they are of one user, and their configs have the same kin. But a thread is kin of nobody
 * if it is in another pid or user namespace (a container) than the thread that made its config.
 * Such a thread is a descendant that was made in the container, or is controlled from outside. Each
 * time it may read registers, the registers begin from zero.
 */

#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/user_namespace.h>

#include "thread/kin.h"
#include "thread/state.h"

/* The policy for user reads, PERFCTR_USER_READ_* */
unsigned int perfctr_user_read = PERFCTR_USER_READ_GUARDED;

bool perfctr_is_other(struct task_struct *task)
{
	return task_active_pid_ns(task) != task_active_pid_ns(current) ||
	       task_cred_xxx(task, user_ns) != current_user_ns();
}

bool perfctr_is_apart(const struct vperfctr *parent, struct task_struct *child)
{
	return parent->apart || perfctr_is_other(child);
}

notrace unsigned long perfctr_new_kin(void)
{
	static atomic_long_t last;
	unsigned long kin = atomic_long_add_return(PERFCTR_ID_STEP, &last);

	/*
	 * The result differs from the kin of each config, and from PERFCTR_NO_CONFIG. With a 32-bit
	 * long, the same kin comes again after 2^27 others. By then no CPU has it any more.
	 */
	return (kin & (PERFCTR_ID_UPPER / 2 - 1)) | PERFCTR_ID_UPPER | PERFCTR_ID_USER;
}
