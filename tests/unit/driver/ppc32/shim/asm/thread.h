/* SPDX-License-Identifier: GPL-2.0 */
/* What the driver looks at of a thread, and of what was interrupted */
#ifndef SHIM_ASM_THREAD_H
#define SHIM_ASM_THREAD_H

struct pt_regs {
	unsigned long nip;
	unsigned long gpr[32];
	unsigned long msr;
};

struct thread_struct {
	struct pt_regs regs;
};

#define task_pt_regs(task)	(&(task)->thread.regs)
#define instruction_pointer(r)	((r)->nip)
#define SHIM_MSR_PR		0x4000ul
#define user_mode(r)		(((r)->msr & SHIM_MSR_PR) != 0)

#endif /* SHIM_ASM_THREAD_H */
