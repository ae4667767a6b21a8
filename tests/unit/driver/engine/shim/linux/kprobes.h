/* SPDX-License-Identifier: GPL-2.0 */
/* As x86's, where the driver has another use for them */
#ifndef SHIM_LINUX_KPROBES_H
#define SHIM_LINUX_KPROBES_H

#include "shim/kernel.h"

struct kprobe {
	const char *symbol_name;
	void *addr;
	unsigned int offset;
	int (*pre_handler)(struct kprobe *probe, struct pt_regs *regs);
};

int register_kprobe(struct kprobe *probe);
void unregister_kprobe(struct kprobe *probe);

#endif /* SHIM_LINUX_KPROBES_H */
