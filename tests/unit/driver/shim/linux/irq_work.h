/* SPDX-License-Identifier: GPL-2.0 */
/* On x86 done by an interrupt of its own, which is also the LVTPC's: see model_irq(). */
#ifndef SHIM_LINUX_IRQ_WORK_H
#define SHIM_LINUX_IRQ_WORK_H

#include "shim/kernel.h"

struct irq_work {
	void (*func)(struct irq_work *work);
	bool pending;
	bool hard;
};

#define IRQ_WORK_INIT(f)	((struct irq_work) { .func = (f) })
#define IRQ_WORK_INIT_HARD(f)	((struct irq_work) { .func = (f), .hard = true })
bool irq_work_queue(struct irq_work *work);
void irq_work_sync(struct irq_work *work);

#endif /* SHIM_LINUX_IRQ_WORK_H */
