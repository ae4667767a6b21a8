// SPDX-License-Identifier: GPL-2.0
/* What counters a processor has. */

#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/workqueue.h>
#include <asm/asm.h>
#include <asm/cpufeature.h>

#include "registers.h"
#include "intel.h"
#include "interrupt.h"
#include "processor.h"

#define PERF_CAP_FULL_WIDTH	BIT(13)

/*
 * From version 6 on perf uses registers in other places, MSRs 0x1900 and up, for which its
 * reservations say yes to everybody. They are the same counters: nothing would keep perf
 * and us apart.
 */
#define VERSION_TOO_NEW	6

/* CPUID leaf 1AH: EAX is of what type and native model a hybrid processor's core is */
#define LEAF_CORE	0x1a

u32 perfctr_x86_cpu_type(void)
{
	if (!perfctr_pmu.nr)
		return PERFCTR_X86_GENERIC;
	if (!perfctr_pmu.version) {
		switch (boot_cpu_data.x86_model) {
		case 3: case 5: case 6:
			return PERFCTR_X86_INTEL_PII;
		case 7: case 8: case 10: case 11:
			return PERFCTR_X86_INTEL_PIII;
		case 9: case 13:
			return PERFCTR_X86_INTEL_PENTM;
		}
		return PERFCTR_X86_INTEL_P6;
	}
	switch (boot_cpu_data.x86_model) {
	case 14:
		return PERFCTR_X86_INTEL_CORE;
	case 15: case 22: case 23: case 29:
		return PERFCTR_X86_INTEL_CORE2;
	case 28: case 38: case 39: case 53: case 54:
		return PERFCTR_X86_INTEL_ATOM;
	case 26: case 30: case 31: case 46:
		return PERFCTR_X86_INTEL_NHLM;
	case 37: case 44: case 47:
		return PERFCTR_X86_INTEL_WSTMR;
	}
	return PERFCTR_X86_INTEL_ARCH;
}

static bool register_exists(u32 msr)
{
	u32 low, high;

	return !rdmsr_safe(msr, &low, &high);
}

/* Emulators and hypervisors may have registers, and yet not the instruction. */
static bool rdpmc_works(u32 counter)
{
	u32 low, high, fault = 1;

	asm volatile("1:	rdpmc\n"
		     "	xor %0, %0\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : "+r" (fault), "=&a" (low), "=&d" (high) : "c" (counter));
	return !fault;
}

/*
 * The processor's word (CPUID leaf 10; the P6 family is known by its model), if the
 * registers are there. Of this CPU.
 */
static void look_for_counters(struct perfctr_pmu *own)
{
	unsigned int version, nr, nr_fixed = 0, width, i;
	u32 lacks = 0;

	own->none = PERFCTR_NO_COUNTERS_REGISTERS;
	if (boot_cpu_data.cpuid_level >= 10) {
		u32 eax = cpuid_eax(10), ebx = cpuid_ebx(10), edx = cpuid_edx(10);
		unsigned int told = min_t(unsigned int, eax >> 24,
					  ARRAY_SIZE(perfctr_x86_arch_events));

		version = eax & 0xff;
		nr = eax >> 8 & 0xff;
		width = eax >> 16 & 0xff;
		if (version >= 2) {
			nr_fixed = edx & 0x1f;
			if (nr_fixed)
				width = min(width, edx >> 5 & 0xff);
		}
		if (!version)
			return;
		if (version >= VERSION_TOO_NEW) {
			own->none = PERFCTR_NO_COUNTERS_VERSION;
			return;
		}
		/* Of those that the leaf is too old to tell of it has none. */
		lacks = (ebx & (BIT(told) - 1)) | (PERFCTR_X86_ARCH_EVENTS & ~(BIT(told) - 1));
	} else {
		version = 0;
		nr = 2;
		width = 40;
	}
	/* More have no registers in the places of old. */
	nr = min(nr, 8U);
	nr_fixed = min_t(unsigned int, nr_fixed, ARRAY_SIZE(perfctr_x86_fixed_events));
	for (i = 0; i < nr; i++)
		if (!register_exists(MSR_ARCH_PERFMON_EVENTSEL0 + i) ||
		    !register_exists(MSR_ARCH_PERFMON_PERFCTR0 + i) || !rdpmc_works(i))
			return;
	for (i = 0; i < nr_fixed; i++)
		if (!register_exists(MSR_CORE_PERF_FIXED_CTR0 + i) ||
		    !rdpmc_works(PERFCTR_X86_RDPMC_FIXED + i))
			return;
	if (!nr || width < 32 || width > 64 ||
	    (version >= 2 && (!register_exists(MSR_CORE_PERF_GLOBAL_CTRL) ||
			      !register_exists(MSR_CORE_PERF_FIXED_CTR_CTRL))))
		return;
	own->none = PERFCTR_NO_COUNTERS_NONE;
	own->version = version;
	own->nr = nr;
	own->nr_fixed = nr_fixed;
	own->width = width;
	own->lacks = lacks;
	own->interrupts = version < 2 || register_exists(MSR_CORE_PERF_GLOBAL_STATUS);
	own->pt = own->interrupts && version >= 2 && boot_cpu_has(X86_FEATURE_INTEL_PT) &&
		  register_exists(MSR_IA32_RTIT_CTL);
	own->freezes = version >= 2 && register_exists(MSR_IA32_DEBUGCTLMSR) &&
		       register_exists(MSR_CORE_PERF_GLOBAL_STATUS);
	own->full_width = version && boot_cpu_has(X86_FEATURE_PDCM) &&
			  register_exists(MSR_IA32_PERF_CAPABILITIES) &&
			  read_msr(MSR_IA32_PERF_CAPABILITIES) & PERF_CAP_FULL_WIDTH &&
			  register_exists(MSR_IA32_PMC0);
}

/*
 * Hybrid processors have different counters on different CPUs: what all have is used,
 * and a CPU that comes later with less is not.
 */

static long __init look_on_cpu(void *own)
{
	look_for_counters(own);
	return 0;
}

/* Less what a CPU has not. Where registers do not end alike nobody can wait for their end. */
static void __init keep_shared(struct perfctr_pmu *all, const struct perfctr_pmu *own)
{
	all->version = min(all->version, own->version);
	all->nr = min(all->nr, own->nr);
	all->nr_fixed = min(all->nr_fixed, own->nr_fixed);
	all->interrupts &= own->interrupts && all->width == own->width;
	all->pt &= own->pt;
	all->freezes &= own->freezes;
	all->width = min(all->width, own->width);
	all->lacks |= own->lacks;
	all->full_width &= own->full_width;
	if (!all->none)
		all->none = own->none;
}

static bool has_all(const struct perfctr_pmu *own)
{
	return own->version >= perfctr_pmu.version && own->nr >= perfctr_pmu.nr &&
	       own->nr_fixed >= perfctr_pmu.nr_fixed && !(own->lacks & ~perfctr_pmu.lacks) &&
	       (own->full_width || !perfctr_pmu.full_width) && (own->pt || !perfctr_pmu.pt) &&
	       (own->freezes || !perfctr_pmu.freezes) &&
	       (perfctr_pmu.interrupts ? own->interrupts && own->width == perfctr_pmu.width :
		own->width >= perfctr_pmu.width);
}

static void __init look_everywhere(struct perfctr_pmu *all)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct perfctr_pmu own = {};

		work_on_cpu(cpu, look_on_cpu, &own);
		if (all->hybrid)
			keep_shared(all, &own);
		else
			*all = own;
		all->hybrid = true;
	}
	cpus_read_unlock();
	/* One without a global control would be another driver's. */
	if (all->version < 2) {
		all->nr = 0;
		if (!all->none)
			all->none = PERFCTR_NO_COUNTERS_PROCESSOR;
	}
}

u32 perfctr_x86_core(void)
{
	struct perfctr_pmu own = {};
	u32 core = 0;

	look_for_counters(&own);
	if (has_all(&own))
		core = cpuid_eax(LEAF_CORE);
	/* Or it does not tell what it is, and may be anything. */
	return core ?: PERFCTR_X86_NO_CORE;
}

void __init perfctr_x86_find_counters(void)
{
	struct perfctr_pmu all = { .none = PERFCTR_NO_COUNTERS_PROCESSOR };

	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && boot_cpu_data.x86 == 6) {
		if (boot_cpu_has(X86_FEATURE_XENPV))
			all.none = PERFCTR_NO_COUNTERS_REGISTERS;
		else if (!boot_cpu_has(X86_FEATURE_HYBRID_CPU))
			look_for_counters(&all);
		else if (boot_cpu_data.cpuid_level >= LEAF_CORE)
			look_everywhere(&all);
	}
	if (!all.nr) {
		perfctr_pmu.none = all.none;
		return;
	}
	perfctr_pmu = all;
	perfctr_intel_events_init(all.version);
	perfctr_pmu.interrupts = all.interrupts && !perfctr_x86_interrupt_init();
	perfctr_pmu.counters = GENMASK(all.nr - 1, 0);
	if (all.nr_fixed)
		perfctr_pmu.counters |= GENMASK(PERFCTR_X86_FIXED + all.nr_fixed - 1,
						PERFCTR_X86_FIXED);
}
