/* SPDX-License-Identifier: GPL-2.0 */
/* What the driver looks at of a thread */
#ifndef SHIM_ASM_THREAD_H
#define SHIM_ASM_THREAD_H

struct pt_regs {
	unsigned long ip;
	unsigned long cs;
	long ax;
};

#define regs_return_value(regs)	((regs)->ax)

/* A segment of 32-bit mode, as far as it is of interest: its base */
struct desc_struct {
	unsigned long base;
};

struct thread_struct {
	unsigned long fsbase;
	unsigned short gsindex;
	struct desc_struct tls_array[3];
	struct pt_regs regs;
};

/* Of task_struct.ti_flags */
#define TIF_NOTSC	16

#define task_pt_regs(task)	(&(task)->thread.regs)
#define instruction_pointer(r)	((r)->ip)

#endif /* SHIM_ASM_THREAD_H */
