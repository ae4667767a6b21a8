/* SPDX-License-Identifier: GPL-2.0 */
/* What the driver looks at of a thread */
#ifndef SHIM_ASM_THREAD_H
#define SHIM_ASM_THREAD_H

struct pt_regs {
	unsigned long epc;
	unsigned long tp;
	unsigned long ra, s0;
};

struct thread_struct {
	struct pt_regs regs;
};

#define task_pt_regs(task)	(&(task)->thread.regs)
#define instruction_pointer(r)	((r)->epc)

#endif /* SHIM_ASM_THREAD_H */
