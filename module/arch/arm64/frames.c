// SPDX-License-Identifier: GPL-2.0
/* arm64: finds where a thread was interrupted, and its call chain. */

#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/compat.h>
#include <asm/irq_regs.h>
#include <asm/pointer_auth.h>

#include "arch/cpu.h"

struct pt_regs *perfctr_cpu_interrupted_regs(void)
{
	return get_irq_regs();
}

/*
 * Ends the chain where it leaves the thread's own stack, e.g. if the interrupt has interrupted
 * another interrupt.
 */
unsigned int perfctr_cpu_kernel_chain(struct pt_regs *regs, unsigned long *caller,
				      unsigned int depth)
{
	unsigned long stack = (unsigned long)task_stack_page(current), frame = regs->regs[29];
	unsigned int nr = 0;

	while (nr < depth && IS_ALIGNED(frame, 16) && frame - stack <= THREAD_SIZE - 16) {
		const unsigned long *pair = (const unsigned long *)frame;

		caller[nr] = ptrauth_strip_kernel_insn_pac(pair[1]);
		if (!caller[nr])
			break;
		nr++;
		if (pair[0] <= frame)
			break;
		frame = pair[0];
	}
	return nr;
}

unsigned long perfctr_cpu_first_frame(const struct pt_regs *regs)
{
	return regs->regs[29];
}

/*
 * Returns false for AArch32, because not all AArch32 code keeps a frame pointer. Strips the
 * signatures of signed return addresses.
 */
bool perfctr_cpu_next_frame(const struct pt_regs *regs, unsigned long *frame, u64 *caller)
{
	const unsigned long __user *pair = (const unsigned long __user *)*frame;
	unsigned long saved[2];

	if (compat_user_mode(regs) || !IS_ALIGNED(*frame, sizeof(long)) ||
	    !user_read_access_begin(pair, sizeof(saved)))
		return false;
	unsafe_get_user(saved[0], &pair[0], fault);
	unsafe_get_user(saved[1], &pair[1], fault);
	user_read_access_end();
	*frame = saved[0];
	*caller = ptrauth_strip_user_insn_pac(saved[1]);
	return true;

fault:
	user_read_access_end();
	return false;
}
