// SPDX-License-Identifier: GPL-2.0
/*
 * RISC-V: the counter overflow interrupt (Sscofpmf's LCOFI) is perf's; its driver
 * is built in and has a handler for it. Tracepoints tell us as that begins and ends.
 */

#include <linux/interrupt.h>
#include <linux/irqdomain.h>
#include <linux/tracepoint.h>
#include <asm/csr.h>

#include "../../lowlevel.h"
#include "interrupt.h"

static perfctr_ihandler_t ihandler;
static int overflow_irq;
static struct tracepoint *entry, *exit;

static notrace void probe_entry(void *data, int irq, struct irqaction *action)
{
	if (unlikely(irq == overflow_irq))
		ihandler(false);
}

static notrace void probe_exit(void *data, int irq, struct irqaction *action, int ret)
{
	if (unlikely(irq == overflow_irq))
		ihandler(true);
}

int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler)
{
	int err;

	if (!overflow_irq)
		return -ENODEV;
	if (!handler) {
		tracepoint_probe_unregister(exit, probe_exit, NULL);
		tracepoint_probe_unregister(entry, probe_entry, NULL);
		tracepoint_synchronize_unregister();
		return 0;
	}
	ihandler = handler;
	err = tracepoint_probe_register(entry, probe_entry, NULL);
	if (err)
		return err;
	err = tracepoint_probe_register(exit, probe_exit, NULL);
	if (err) {
		tracepoint_probe_unregister(entry, probe_entry, NULL);
		tracepoint_synchronize_unregister();
	}
	return err;
}

static void __init find_tracepoint(struct tracepoint *tracepoint, void *data)
{
	if (!strcmp(tracepoint->name, "irq_handler_entry"))
		entry = tracepoint;
	else if (!strcmp(tracepoint->name, "irq_handler_exit"))
		exit = tracepoint;
}

/* ENODEV: perf has no handler, or there are no such tracepoints. */
int __init perfctr_riscv_interrupt_init(void)
{
	struct irq_domain *domain = irq_find_matching_fwnode(riscv_get_intc_hwnode(),
							     DOMAIN_BUS_ANY);

	if (domain)
		overflow_irq = irq_find_mapping(domain, IRQ_PMU_OVF);
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (!entry || !exit)
		overflow_irq = 0;
	return overflow_irq ? 0 : -ENODEV;
}
