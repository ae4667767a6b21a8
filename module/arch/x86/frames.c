// SPDX-License-Identifier: GPL-2.0
/* x86: finds the place where a thread was interrupted, and its call chain. */

#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/unwind.h>

#include "arch/cpu.h"

/*
 * The kernel keeps no pointer to the registers that the irq_work interrupt has saved. Registers of
 * user mode are always in the same place. The unwinder finds registers of the kernel.
 */
struct pt_regs *perfctr_cpu_interrupted_regs(void)
{
	struct unwind_state state;
	struct pt_regs *regs;

	if (perfctr_cpu_interrupted_user())
		return task_pt_regs(current);
	for (unwind_start(&state, current, NULL, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		regs = unwind_get_entry_regs(&state, NULL);
		if (regs)
			return regs;
	}
	return NULL;
}

unsigned int perfctr_cpu_kernel_chain(struct pt_regs *regs, unsigned long *caller,
				      unsigned int depth)
{
	struct unwind_state state;
	unsigned int nr = 0;

	unwind_start(&state, current, regs, NULL);
	/* The first frame is the interrupted place itself. */
	for (unwind_next_frame(&state); !unwind_done(&state) && nr < depth;
	     unwind_next_frame(&state)) {
		caller[nr] = unwind_get_return_address(&state);
		if (!caller[nr])
			break;
		nr++;
	}
	return nr;
}

unsigned long perfctr_cpu_first_frame(const struct pt_regs *regs)
{
	return regs->bp;
}

bool perfctr_cpu_next_frame(const struct pt_regs *regs, unsigned long *frame, u64 *caller)
{
	const unsigned long __user *pair = (const unsigned long __user *)*frame;
	const u32 __user *half = (const u32 __user *)*frame;
	u32 next;

	if (!IS_ALIGNED(*frame, sizeof(u32)) || !user_read_access_begin(pair, sizeof(*pair) * 2))
		return false;
	if (user_64bit_mode((struct pt_regs *)regs)) {
		unsigned long word;

		unsafe_get_user(word, &pair[0], fault);
		*frame = word;
		unsafe_get_user(word, &pair[1], fault);
		*caller = word;
	} else {
		unsafe_get_user(next, &half[0], fault);
		*frame = next;
		unsafe_get_user(next, &half[1], fault);
		*caller = next;
	}
	user_read_access_end();
	return true;

fault:
	user_read_access_end();
	return false;
}
