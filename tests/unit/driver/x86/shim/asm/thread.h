/* SPDX-License-Identifier: GPL-2.0 */
/* What the driver looks at of a thread */
#ifndef SHIM_ASM_THREAD_H
#define SHIM_ASM_THREAD_H

struct thread_struct {
	unsigned long fsbase;
};

#endif /* SHIM_ASM_THREAD_H */
