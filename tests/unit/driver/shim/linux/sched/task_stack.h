/* SPDX-License-Identifier: GPL-2.0 */
#include "../../kernel.h"

/* Of an interrupt that comes from user mode */
#define object_is_on_stack(object)	((void)(object), true)

/* That of each thread in the kernel */
#define THREAD_SIZE			4096ul
extern unsigned long shim_stack[THREAD_SIZE / sizeof(unsigned long)];
#define task_stack_page(task)		((void)(task), (void *)shim_stack)
