// SPDX-License-Identifier: GPL-2.0
/*
 * Who may see what others left in registers that are read in user mode: kin. These are the
 * threads of one user whose config has the same kin, but for those that have a config of another
 * pid or user namespace than their own (a container): descendants that a thread made there, and
 * threads that are controlled from outside. They are kin of nobody: each time that one of them
 * reads registers these begin from zero.
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
	 * It is no config's, and not PERFCTR_NO_CONFIG. Where a long has 32 bits one comes again
	 * after 2^27 others: by then no CPU has it any more.
	 */
	return (kin & (PERFCTR_ID_UPPER / 2 - 1)) | PERFCTR_ID_UPPER | PERFCTR_ID_USER;
}
