// SPDX-License-Identifier: GPL-2.0
/*
 * RISC-V: the counter overflow interrupt (Sscofpmf's LCOFI). perf's driver is built in and handles
 * the interrupt. Tracepoints tell us when its handler begins and ends.
 */

#include <linux/interrupt.h>
#include <linux/irqdomain.h>
#include <linux/ptrace.h>
#include <trace/events/irq.h>
#include <asm/csr.h>
#include <asm/irq_regs.h>

#include "arch/cpu.h"
#include "base/hook.h"
#include "arch/riscv/interrupt.h"

static perfctr_ihandler_t ihandler;
static int overflow_irq;

static notrace void probe_irq_entry(void *data, int irq, struct irqaction *action)
{
	if (unlikely(irq == overflow_irq))
		ihandler(false);
}

static notrace void probe_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	if (unlikely(irq == overflow_irq))
		ihandler(true);
}

static struct perfctr_probe probes[] = {
	PERFCTR_PROBE(irq_handler_entry, probe_irq_entry),
	PERFCTR_PROBE(irq_handler_exit, probe_irq_exit),
};

notrace bool perfctr_cpu_interrupted_user(void)
{
	return user_mode(get_irq_regs());
}

int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler)
{
	if (!overflow_irq)
		return -ENODEV;
	if (!handler) {
		perfctr_probes_unregister(probes, ARRAY_SIZE(probes));
		return 0;
	}
	ihandler = handler;
	return perfctr_probes_register(probes, ARRAY_SIZE(probes));
}

/* Returns 0, or -ENODEV if the interrupt does not exist, or if the kernel lacks the tracepoints. */
int __init perfctr_riscv_interrupt_init(void)
{
	struct irq_domain *domain = irq_find_matching_fwnode(riscv_get_intc_hwnode(),
							     DOMAIN_BUS_ANY);

	if (domain && !perfctr_probes_find(probes, ARRAY_SIZE(probes)))
		overflow_irq = irq_find_mapping(domain, IRQ_PMU_OVF);
	return overflow_irq ? 0 : -ENODEV;
}
