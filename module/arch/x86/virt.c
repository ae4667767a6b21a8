// SPDX-License-Identifier: GPL-2.0
/*
 * Repairs the global control of AMD's performance monitoring version 2. When KVM turns the
 * processor's virtualization on or off, it makes perf reload perf's counters on each CPU (Linux,
 * arch/x86/events/amd/core.c, amd_pmu_reload_virt()). perf then clears the global control and sets
 * all of its bits, even if we have the counters. perf does not write other registers while it has
 * no counters.
 *
 * A probe restores the global control when perf's function returns. Until then our running counters
 * miss some instructions of the kernel, and our stopped counters count some. If the probe cannot be
 * set, verify.c finds the difference.
 */

#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>

#include "arch/x86/registers.h"
#include "arch/x86/virt.h"

#ifdef CONFIG_KRETPROBES

static int has_reloaded(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	unsigned long flags;

	local_irq_save(flags);
	perfctr_x86_mend(false);
	local_irq_restore(flags);
	return 0;
}

static struct kretprobe probes[] = {
	{ .kp.symbol_name = "amd_pmu_enable_virt", .handler = has_reloaded },
	{ .kp.symbol_name = "amd_pmu_disable_virt", .handler = has_reloaded },
};

static bool probed[ARRAY_SIZE(probes)];

void __init perfctr_x86_virt_init(void)
{
	unsigned int i;

	for (i = 0; perfctr_pmu.reloaded && i < ARRAY_SIZE(probes); i++)
		probed[i] = !register_kretprobe(&probes[i]);
}

void perfctr_x86_virt_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probed[i])
			unregister_kretprobe(&probes[i]);
}

#else

void __init perfctr_x86_virt_init(void)
{
}

void perfctr_x86_virt_exit(void)
{
}

#endif
