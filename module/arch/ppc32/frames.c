// SPDX-License-Identifier: GPL-2.0
/* PowerPC: finds the call chain of an interrupted thread. */

#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#include "arch/cpu.h"

/*
 * Ends the chain where it leaves the thread's own stack, e.g. if the interrupt has interrupted
 * another interrupt.
 */
unsigned int perfctr_cpu_kernel_chain(struct pt_regs *regs, unsigned long *caller,
				      unsigned int depth)
{
	unsigned long stack = (unsigned long)task_stack_page(current), frame = regs->gpr[1], next;
	unsigned int nr = 0;

	while (nr < depth && IS_ALIGNED(frame, 16) && frame - stack < THREAD_SIZE - 16) {
		next = *(const unsigned long *)frame;
		if (next <= frame || next - stack >= THREAD_SIZE - 16)
			break;
		caller[nr++] = ((const unsigned long *)next)[1];
		frame = next;
	}
	return nr;
}

/*
 * Returns the stack pointer, with which the back chain of stack frames begins. All code keeps that
 * chain.
 */
unsigned long perfctr_cpu_first_frame(const struct pt_regs *regs)
{
	return regs->gpr[1];
}

static bool get(unsigned long address, u32 *word)
{
	const u32 __user *at = (const u32 __user *)address;

	if (!IS_ALIGNED(address, sizeof(*word)) || !user_read_access_begin(at, sizeof(*word)))
		return false;
	unsafe_get_user(*word, at, fault);
	user_read_access_end();
	return true;

fault:
	user_read_access_end();
	return false;
}

/*
 * A function saves its return address in its caller's frame. A leaf function does not: its return
 * address is only in the link register, and the frame holds an old address. We cannot tell whether
 * the interrupted function is a leaf. So we report the link register first, as perf does, although
 * it may be an address in the function itself.
 */
bool perfctr_cpu_next_frame(const struct pt_regs *regs, unsigned long *frame, u64 *caller)
{
	bool first = *frame == regs->gpr[1];
	u32 next, word = regs->link;

	if (!get(*frame, &next) || (!first && !get(*frame + sizeof(word), &word)))
		return false;
	*frame = next;
	/* The link register is 0 here, so read the frame. */
	if (!word && !get(next + sizeof(word), &word))
		return false;
	*caller = word;
	return true;
}
