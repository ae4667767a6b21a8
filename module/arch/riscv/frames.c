// SPDX-License-Identifier: GPL-2.0
/* RISC-V: finds where a thread was interrupted, and its call chain. */

#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/irq_regs.h>

#include "arch/cpu.h"

/* A leaf function's frame pointer is at most this far below its caller's frame pointer. */
#define LARGEST_FRAME	0x100000

struct pt_regs *perfctr_cpu_interrupted_regs(void)
{
	return get_irq_regs();
}

static bool is_on_stack(unsigned long frame)
{
	unsigned long stack = (unsigned long)task_stack_page(current);

	return IS_ALIGNED(frame, sizeof(long)) && frame - stack >= 2 * sizeof(long) &&
	       frame - stack <= THREAD_SIZE;
}

/*
 * Ends the chain where it leaves the thread's own stack, e.g. if the interrupt has interrupted
 * another interrupt.
 */
unsigned int perfctr_cpu_kernel_chain(struct pt_regs *regs, unsigned long *caller,
				      unsigned int depth)
{
	unsigned long frame = regs->s0, next;
	unsigned int nr = 0;

	if (!IS_ENABLED(CONFIG_FRAME_POINTER))
		return 0;
	while (nr < depth && is_on_stack(frame)) {
		const unsigned long *pair = (const unsigned long *)frame - 2;

		/* A leaf function may save only s0: see perfctr_cpu_next_frame(). */
		if (!nr && is_on_stack(pair[1])) {
			caller[nr] = regs->ra;
			next = pair[1];
		} else {
			caller[nr] = pair[1];
			next = pair[0];
		}
		if ((long)caller[nr] >= 0)
			break;
		nr++;
		if (next <= frame)
			break;
		frame = next;
	}
	return nr;
}

unsigned long perfctr_cpu_first_frame(const struct pt_regs *regs)
{
	return regs->s0;
}

/*
 * s0 points just above the return address, and the caller's s0 is below that. But a leaf function
 * may save only s0, in the place of the return address. Then the leaf's return address is still in
 * ra.
 */
bool perfctr_cpu_next_frame(const struct pt_regs *regs, unsigned long *frame, u64 *caller)
{
	unsigned long at = *frame, saved[2];
	const unsigned long __user *pair = (const unsigned long __user *)at - 2;

	if (!IS_ALIGNED(at, sizeof(long)) || !user_read_access_begin(pair, sizeof(saved)))
		return false;
	unsafe_get_user(saved[0], &pair[0], fault);
	unsafe_get_user(saved[1], &pair[1], fault);
	user_read_access_end();
	if (at == regs->s0 && saved[1] >= at && saved[1] - at < LARGEST_FRAME) {
		*frame = saved[1];
		*caller = regs->ra;
	} else {
		*frame = saved[0];
		*caller = saved[1];
	}
	return true;

fault:
	user_read_access_end();
	return false;
}
