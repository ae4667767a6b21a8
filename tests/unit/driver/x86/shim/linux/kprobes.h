/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_KPROBES_H
#define SHIM_LINUX_KPROBES_H

#include "shim/kernel.h"

struct kretprobe_instance {
	int unused;
};

struct kprobe {
	const char *symbol_name;
	void *addr;
	unsigned int offset;
	int (*pre_handler)(struct kprobe *probe, struct pt_regs *regs);
	unsigned int flags;
};

#define KPROBE_FLAG_DISABLED	2

struct kretprobe {
	struct kprobe kp;
	int (*entry_handler)(struct kretprobe_instance *instance, struct pt_regs *regs);
	int (*handler)(struct kretprobe_instance *instance, struct pt_regs *regs);
};

int register_kprobe(struct kprobe *probe);
void unregister_kprobe(struct kprobe *probe);
int enable_kprobe(struct kprobe *probe);
int disable_kprobe(struct kprobe *probe);
int register_kretprobe(struct kretprobe *probe);
void unregister_kretprobe(struct kretprobe *probe);

#define NOKPROBE_SYMBOL(name)	extern int shim_kprobes_end

#endif /* SHIM_LINUX_KPROBES_H */
