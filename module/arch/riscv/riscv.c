// SPDX-License-Identifier: GPL-2.0
/* RISC-V: the counters of the processor, as the firmware describes them, and its clock. */

#define pr_fmt(fmt) "perfctr: " fmt

#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include <asm/asm-extable.h>
#include <asm/cpufeature.h>
#include <asm/hwcap.h>
#include <asm/sbi.h>

#include "arch/riscv/interrupt.h"
#include "arch/riscv/registers.h"
#include "arch/riscv/sbi_events.h"

#define IMPL_KVM		3	/* SBI implementation ID */

/*
 * No machine counts more than 2^33 events per second on one counter, e.g. two per cycle at 4 GHz.
 * This limits the ageing period.
 */
#define MAX_RATE_SHIFT	33

static unsigned int counter_width;
module_param(counter_width, uint, 0444);
MODULE_PARM_DESC(counter_width, "use only this many bits (26 or more) of each programmable counter; 0: all that the firmware says");

unsigned long perfctr_cpu_age_period(void)
{
	if (!perfctr_pmu.programmable || perfctr_pmu.width >= 64)
		return 0;
	return perfctr_age_period(perfctr_pmu.width, MAX_RATE_SHIFT);
}

u64 perfctr_cpu_clock_hz(void)
{
	return riscv_timebase;
}

/* A config needs no image: the firmware takes the user's request itself, one counter at a time. */
size_t perfctr_cpu_image_size(u32 nr)
{
	return 0;
}

unsigned int perfctr_cpu_nrctrs(void)
{
	return hweight32(perfctr_pmu.counters);
}

void perfctr_cpu_info(struct perfctr_kernel_info *info)
{
	info->cpu_type = perfctr_riscv_sbi ? PERFCTR_RISCV_SBI : PERFCTR_RISCV_GENERIC;
	info->cpu_features = PERFCTR_FEATURE_RDTSC;
	if (perfctr_pmu.counters)
		info->cpu_features |= PERFCTR_FEATURE_RDPMC;
	if (perfctr_pmu.filter)
		info->cpu_features |= PERFCTR_FEATURE_FILTER;
	if (perfctr_pmu.filter_fixed)
		info->cpu_features |= PERFCTR_FEATURE_FILTER_FIXED;
	if (perfctr_pmu.interrupt)
		info->cpu_features |= PERFCTR_FEATURE_PCINT;
	info->tsc_hz = riscv_timebase;
	info->nrctrs = perfctr_cpu_nrctrs();
	info->width = perfctr_pmu.width;
	info->counters = perfctr_pmu.counters;
	perfctr_riscv_probe_events();
	info->events[0] = perfctr_pmu.events[0];
	info->events[1] = perfctr_pmu.events[1];
}

#define csr_is_readable(csr)						\
({									\
	unsigned long __ok = 0, __value;				\
									\
	asm volatile("1:	csrr %1, " __stringify(csr) "\n"	\
		     "	li %0, 1\n"					\
		     "2:\n"						\
		     _ASM_EXTABLE(1b, 2b)				\
		     : "+r" (__ok), "=r" (__value));			\
	__ok;								\
})

static void __init find_counters(void)
{
	struct sbiret ret = perfctr_riscv_call(SBI_EXT_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0);
	unsigned long i, nr = ret.error ? 0 : min(ret.value, BITS_PER_LONG);

	perfctr_pmu.width = 64;
	for (i = 0; i < nr; i++) {
		union sbi_pmu_ctr_info info;
		unsigned int hw;

		ret = perfctr_riscv_call(SBI_EXT_PMU_COUNTER_GET_INFO, i, 0, 0, 0, 0);
		info.value = ret.value;
		if (ret.error || info.type)	/* firmware counters have no CSR */
			continue;
		hw = info.csr - CSR_CYCLE;
		if (hw >= PERFCTR_RISCV_MAX || hw == PERFCTR_RISCV_TIME)
			continue;
		perfctr_pmu.index[hw] = i;
		perfctr_pmu.shuffled |= i != hw;
		perfctr_pmu.counters |= BIT(hw);
		if (hw >= PERFCTR_RISCV_HPM) {
			perfctr_pmu.programmable |= BIT(hw);
			perfctr_pmu.width = min(perfctr_pmu.width, info.width + 1U);
		}
	}
	if (counter_width)
		perfctr_pmu.width = min(perfctr_pmu.width, max(counter_width, 26U));
}

/*
 * perf's driver enables the interrupt on each CPU when the CPU comes up. In a guest of KVM perf's
 * handler may lack scountovf. Then the handler stops perf's counters, and finds overflows in a
 * snapshot that the host makes of these counters. After an interrupt of our counters, the handler
 * would find no overflow there, and would not restart perf's counters.
 */
static int __init find_interrupt(void)
{
	struct sbiret impl = sbi_ecall(SBI_EXT_BASE, SBI_EXT_BASE_GET_IMP_ID, 0, 0, 0, 0, 0, 0);

	if (impl.error || impl.value == IMPL_KVM ||
	    !(csr_read(CSR_SIE) & BIT(IRQ_PMU_OVF)))
		return -ENODEV;
	return perfctr_riscv_interrupt_init();
}

int __init perfctr_cpu_init(void)
{
	perfctr_pmu.event_once = -1;
	perfctr_riscv_sbi = sbi_spec_version >= sbi_mk_version(0, 3) &&
			    sbi_probe_extension(SBI_EXT_PMU) > 0;
	if (perfctr_riscv_sbi) {
		find_counters();
		perfctr_pmu.filter = riscv_isa_extension_available(NULL, SSCOFPMF);
		/*
		 * Without Sscofpmf, perf asks for cycle and instret whenever it counts cycles and
		 * instructions. That changes the filter of these counters, even if perf then finds
		 * them reserved.
		 */
		perfctr_pmu.filter_fixed = perfctr_pmu.filter &&
					   perfctr_riscv_cpus_have("smcntrpmf");
		perfctr_pmu.fixed_only = perfctr_pmu.filter ? 0 : FIXED_MASK;
		perfctr_riscv_shared_init();
		perfctr_pmu.interrupt = perfctr_pmu.filter && perfctr_pmu.programmable &&
					!find_interrupt();
		perfctr_riscv_probe_events();
		return 0;
	}

	perfctr_pmu.width = 64;
	if (csr_is_readable(CSR_CYCLE))
		perfctr_pmu.counters |= BIT(PERFCTR_RISCV_CYCLE);
	if (csr_is_readable(CSR_INSTRET))
		perfctr_pmu.counters |= BIT(PERFCTR_RISCV_INSTRET);
	perfctr_riscv_probe_events();
	return 0;
}

void perfctr_cpu_exit(void)
{
}
