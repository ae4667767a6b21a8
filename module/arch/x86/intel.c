// SPDX-License-Identifier: GPL-2.0
/*
 * Intel's architectural performance monitoring, versions 1 to 5: Core and later.
 * General-purpose counters have an event select each; from version 2 on there are fixed
 * counters, which share one control register, and a global control, in which each of all
 * counters has a bit.
 */

#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/nospec.h>
#include <linux/workqueue.h>
#include <asm/cpufeature.h>
#include <asm/msr-index.h>
#include <asm/processor.h>

#include "evntsel.h"
#include "intel.h"

#define CPUID_PERFMON	10
/* EAX is of what type and native model a hybrid processor's core is. */
#define CPUID_CORE	0x1a

/*
 * From version 6 on perf uses registers in other places, MSRs 0x1900 and up, for which its
 * reservations say yes to everybody. They are the same counters: nothing would keep perf
 * and us apart.
 */
#define VERSION_TOO_NEW	6

#define MAX_GP		8	/* more have no registers in the places of old */

#define RDPMC_FIXED	0x40000000u	/* its name of the first fixed counter */

#define FIXED_OS	1u
#define FIXED_USR	2u
#define FIXED_PMI	8u
#define FIXED_BITS	4	/* of each fixed counter in their control */

#define STATUS_PT	BIT_ULL(55)	/* Intel PT's output is full */
#define STATUS_CTR_FRZ	BIT_ULL(59)	/* version 4 and up: counters are frozen */

/*
 * Of MSR_IA32_DEBUGCTLMSR: an overflow interrupt stops all counters. Versions 2 and 3 clear
 * the global control then, later ones set STATUS_CTR_FRZ.
 */
#define DEBUGCTL_FREEZE	BIT_ULL(12)

#define CAP_FULL_WIDTH	BIT(13)

#define CORE_CYCLES	0x003c
#define INSTRUCTIONS	0x00c0
#define REF_CYCLES	0x013c
#define LLC_REFERENCES	0x4f2e
#define LLC_MISSES	0x412e
#define BRANCHES	0x00c4
#define MISPREDICTED	0x00c5

static const u32 fixed_events[] = { INSTRUCTIONS, CORE_CYCLES, REF_CYCLES };

/* In the order of the leaf's bits */
static const u32 arch_events[] = {
	CORE_CYCLES, INSTRUCTIONS, REF_CYCLES, LLC_REFERENCES, LLC_MISSES, BRANCHES, MISPREDICTED,
};

#define ARCH_EVENTS	GENMASK(ARRAY_SIZE(arch_events) - 1, 0)

/**
 * struct counters - what counters a CPU has, or, of a hybrid processor, all of them
 * @version: of architectural performance monitoring
 * @nr: general-purpose counters; 0: there are no counters
 * @nr_fixed: fixed counters
 * @width: bits of the narrowest of them
 * @lacks: architectural events that the processor says it has not, as a bit map
 * @interrupts: they interrupt
 * @pt: there is Intel PT, which interrupts as counters do
 * @freezes: there is DEBUGCTL_FREEZE
 * @full_width: there are registers that write all of a general-purpose counter
 * @none: PERFCTR_NO_COUNTERS_*
 */
struct counters {
	unsigned int version;
	unsigned int nr;
	unsigned int nr_fixed;
	unsigned int width;
	u32 lacks;
	bool interrupts;
	bool pt;
	bool freezes;
	bool full_width;
	u32 none;
};

static struct counters intel;	/* constant after init */

bool __init perfctr_intel_is(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && boot_cpu_data.x86 == 6 &&
	       boot_cpu_data.cpuid_level >= CPUID_PERFMON;
}

/* The processor's word, if the registers are there. Of this CPU. */
static void look_here(struct counters *own)
{
	u32 eax = cpuid_eax(CPUID_PERFMON), ebx = cpuid_ebx(CPUID_PERFMON);
	u32 edx = cpuid_edx(CPUID_PERFMON);
	unsigned int version, nr, nr_fixed = 0, width, i;
	unsigned int told = min_t(unsigned int, eax >> 24, ARRAY_SIZE(arch_events));

	own->none = PERFCTR_NO_COUNTERS_REGISTERS;
	version = eax & 0xff;
	nr = min(eax >> 8 & 0xff, (u32)MAX_GP);
	width = eax >> 16 & 0xff;
	if (!version)
		return;
	if (version >= VERSION_TOO_NEW) {
		own->none = PERFCTR_NO_COUNTERS_VERSION;
		return;
	}
	if (version >= 2) {
		nr_fixed = min_t(unsigned int, edx & 0x1f, ARRAY_SIZE(fixed_events));
		if (nr_fixed)
			width = min(width, edx >> 5 & 0xff);
	}
	if (!perfctr_x86_evntsel_exists(nr, MSR_ARCH_PERFMON_PERFCTR0, MSR_ARCH_PERFMON_EVENTSEL0))
		return;
	for (i = 0; i < nr_fixed; i++)
		if (!perfctr_x86_register_exists(MSR_CORE_PERF_FIXED_CTR0 + i) ||
		    !perfctr_x86_rdpmc_works(RDPMC_FIXED + i))
			return;
	if (width < 32 || width > 64 ||
	    (version >= 2 && (!perfctr_x86_register_exists(MSR_CORE_PERF_GLOBAL_CTRL) ||
			      !perfctr_x86_register_exists(MSR_CORE_PERF_FIXED_CTR_CTRL))))
		return;
	own->none = PERFCTR_NO_COUNTERS_NONE;
	own->version = version;
	own->nr = nr;
	own->nr_fixed = nr_fixed;
	own->width = width;
	/* Of those that the leaf is too old to tell of it has none. */
	own->lacks = (ebx & (BIT(told) - 1)) | (ARCH_EVENTS & ~(BIT(told) - 1));
	own->interrupts = version < 2 || perfctr_x86_register_exists(MSR_CORE_PERF_GLOBAL_STATUS);
	own->pt = own->interrupts && version >= 2 && boot_cpu_has(X86_FEATURE_INTEL_PT) &&
		  perfctr_x86_register_exists(MSR_IA32_RTIT_CTL);
	own->freezes = version >= 2 && perfctr_x86_register_exists(MSR_IA32_DEBUGCTLMSR) &&
		       perfctr_x86_register_exists(MSR_CORE_PERF_GLOBAL_STATUS);
	own->full_width = boot_cpu_has(X86_FEATURE_PDCM) &&
			  perfctr_x86_register_exists(MSR_IA32_PERF_CAPABILITIES) &&
			  read_msr(MSR_IA32_PERF_CAPABILITIES) & CAP_FULL_WIDTH &&
			  perfctr_x86_register_exists(MSR_IA32_PMC0);
}

/*
 * Hybrid processors have different counters on different CPUs: what all have is used,
 * and a CPU that comes later with less is not.
 */

static long __init look_on_cpu(void *own)
{
	look_here(own);
	return 0;
}

/* Less what a CPU has not. Where registers do not end alike nobody can wait for their end. */
static void __init keep_shared(struct counters *all, const struct counters *own)
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

static bool has_all(const struct counters *own)
{
	return own->version >= intel.version && own->nr >= intel.nr &&
	       own->nr_fixed >= intel.nr_fixed && !(own->lacks & ~intel.lacks) &&
	       (own->full_width || !intel.full_width) && (own->pt || !intel.pt) &&
	       (own->freezes || !intel.freezes) &&
	       (perfctr_pmu.interrupts ? own->interrupts && own->width == intel.width :
		own->width >= intel.width);
}

static void __init look_everywhere(struct counters *all)
{
	bool first = true;
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct counters own = {};

		work_on_cpu(cpu, look_on_cpu, &own);
		if (first)
			*all = own;
		else
			keep_shared(all, &own);
		first = false;
	}
	cpus_read_unlock();
	/* One without a global control would be another driver's. */
	if (all->version < 2) {
		all->nr = 0;
		if (!all->none)
			all->none = PERFCTR_NO_COUNTERS_PROCESSOR;
	}
}

static u32 intel_core(void)
{
	struct counters own = {};
	u32 core = 0;

	look_here(&own);
	if (has_all(&own))
		core = cpuid_eax(CPUID_CORE);
	/* Or it does not tell what it is, and may be anything. */
	return core ?: PERFCTR_X86_NO_CORE;
}

static void __init describe_fixed(void)
{
	u32 slot = perfctr_pmu.nr_controls++;
	unsigned int i;

	perfctr_pmu.control[slot].msr = MSR_CORE_PERF_FIXED_CTR_CTRL;
	for (i = 0; i < intel.nr_fixed; i++) {
		perfctr_pmu.ctr[PERFCTR_X86_FIXED + i] = (struct perfctr_x86_ctr){
			.msr = MSR_CORE_PERF_FIXED_CTR0 + i,
			.start_msr = MSR_CORE_PERF_FIXED_CTR0 + i,
			.start_mask = GENMASK_ULL(intel.width - 1, 0),
			.slot = slot,
			.stop = 0xfULL << FIXED_BITS * i,
			/* A whole event select, as perfctr 2.6 has it, would enable it so. */
			.enable = EVNTSEL_EN,
		};
		perfctr_x86_rdpmc[PERFCTR_X86_FIXED + i] = RDPMC_FIXED + i;
		perfctr_pmu.counters |= BIT(PERFCTR_X86_FIXED + i);
	}
}

static void __init describe(void)
{
	unsigned int i;

	perfctr_x86_evntsel_describe(intel.nr, intel.width, MSR_ARCH_PERFMON_PERFCTR0,
				     MSR_ARCH_PERFMON_EVENTSEL0);
	perfctr_pmu.interrupts = intel.interrupts;
	perfctr_pmu.events = ARCH_EVENTS & ~intel.lacks;
	perfctr_x86_evntsel_samples(INSTRUCTIONS, BRANCHES);
	if (intel.full_width) {
		for (i = 0; i < intel.nr; i++) {
			perfctr_pmu.ctr[i].start_msr = MSR_IA32_PMC0 + i;
			perfctr_pmu.ctr[i].start_mask = GENMASK_ULL(intel.width - 1, 0);
		}
		perfctr_pmu.irange = BIT_ULL(intel.width - 1);
	}
	if (intel.version < 2)
		return;
	describe_fixed();
	perfctr_pmu.global_ctrl = MSR_CORE_PERF_GLOBAL_CTRL;
	perfctr_pmu.global_status = MSR_CORE_PERF_GLOBAL_STATUS;
	perfctr_pmu.global_ack = MSR_CORE_PERF_GLOBAL_OVF_CTRL;
	if (intel.freezes) {
		perfctr_pmu.freeze_msr = MSR_IA32_DEBUGCTLMSR;
		perfctr_pmu.freeze = DEBUGCTL_FREEZE;
		perfctr_pmu.frozen = intel.version >= 4 ? STATUS_CTR_FRZ : 0;
	}
	if (intel.pt) {
		perfctr_pmu.trace = STATUS_PT;
		perfctr_pmu.trace_msr = MSR_IA32_RTIT_CTL;
		perfctr_pmu.trace_on = RTIT_CTL_TRACEEN;
	}
}

u32 __init perfctr_intel_look(void)
{
	bool hybrid = boot_cpu_has(X86_FEATURE_HYBRID_CPU);

	if (!hybrid)
		look_here(&intel);
	else if (boot_cpu_data.cpuid_level >= CPUID_CORE)
		look_everywhere(&intel);
	else
		return PERFCTR_NO_COUNTERS_PROCESSOR;
	if (!intel.nr)
		return intel.none;
	describe();
	perfctr_pmu.hybrid = hybrid;
	perfctr_intel_events_init(intel.version);
	return intel.none;
}

static u32 intel_cpu_type(void)
{
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

/* It would count zero, as if nothing had happened. */
static bool is_lacking(u64 event)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(arch_events); i++)
		if (intel.lacks & BIT(i) && (event & 0xffff) == arch_events[i])
			return true;
	return false;
}

static int intel_check(const struct perfctr_ctr_control *ctr, u32 hw)
{
	u32 fixed = hw - PERFCTR_X86_FIXED;

	if (is_lacking(ctr->event))
		return -EINVAL;
	if (hw != PERFCTR_MAP_ANY && hw >= PERFCTR_X86_FIXED) {
		fixed = array_index_nospec(fixed, ARRAY_SIZE(fixed_events));
		if ((ctr->event & EVNTSEL_EVENT) != fixed_events[fixed])
			return -EINVAL;
	}
	return perfctr_x86_evntsel_check(ctr, hw);
}

static void intel_compile(const struct perfctr_ctr_control *ctr, u32 hw,
			  struct perfctr_cpu_image *image)
{
	u64 ctrl;

	if (hw < PERFCTR_X86_FIXED) {
		perfctr_x86_evntsel_compile(ctr, hw, image);
		return;
	}
	ctrl = (ctr->flags & PERFCTR_CTR_USER ? FIXED_USR : 0) |
	       (ctr->flags & PERFCTR_CTR_KERNEL ? FIXED_OS : 0) |
	       (ctr->ireset ? FIXED_PMI : 0);
	perfctr_x86_image_add(image, perfctr_pmu.ctr[hw].slot, perfctr_pmu.ctr[hw].stop,
			      ctrl << FIXED_BITS * (hw - PERFCTR_X86_FIXED));
}

static bool intel_counts(void)
{
	return perfctr_x86_evntsel_counts() ||
	       (intel.nr_fixed && read_msr(MSR_CORE_PERF_FIXED_CTR_CTRL));
}

const struct perfctr_x86_family perfctr_intel = {
	.core = intel_core,
	.cpu_type = intel_cpu_type,
	.check = intel_check,
	.name = perfctr_x86_evntsel_name,
	.compile = intel_compile,
	.counts = intel_counts,
};
