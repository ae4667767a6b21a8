// SPDX-License-Identifier: GPL-2.0
/*
 * Intel's architectural performance monitoring, versions 1 to 5: Core and later. Each
 * general-purpose counter has an event select. From version 2 on there are also fixed counters,
 * which share one control register, and a global control with a bit for each counter.
 */

#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/workqueue.h>
#include <asm/cpufeature.h>
#include <asm/msr-index.h>
#include <asm/processor.h>

#include "base/work.h"
#include "arch/x86/evntsel.h"
#include "arch/x86/intel/intel.h"
#include "arch/x86/reset.h"
#include "arch/x86/take.h"
#include "arch/x86/topdown.h"

#define CPUID_PERFMON	10
/* On a hybrid processor, EAX of this leaf holds the type and the native model of this core. */
#define CPUID_CORE	0x1a

/*
 * From version 6 on, perf reaches the counters by other registers, MSRs 0x1900 and up. The kernel
 * grants every reservation of these registers, so perf and the module could program the same
 * counters.
 */
#define VERSION_TOO_NEW	6

#define MAX_GP		8	/* counters from 8 on have no registers at the old addresses */
/* These limits are for writes to unused counters. Registers beyond them are not counters. */
#define MAX_GP_MSRS	(MSR_FSB_FREQ - MSR_ARCH_PERFMON_PERFCTR0)
#define MAX_FIXED_MSRS	16

/*
 * Processors of versions 2 to 4 have this many fixed counters, even if they report fewer. Under a
 * hypervisor only the reported ones exist (Linux, arch/x86/events/intel/core.c, intel_pmu_init()).
 */
#define UNREPORTED_FIXED	3

#define RDPMC_FIXED	0x40000000u	/* RDPMC's number of the first fixed counter */
#define RDPMC_METRICS	0x20000000u	/* RDPMC's number of the register of TopDown's metrics */

#define FIXED_OS	1u
#define FIXED_USR	2u
#define FIXED_PMI	8u
#define FIXED_BITS	4	/* bits for each fixed counter in their control */

#define STATUS_PT	BIT_ULL(55)	/* Intel PT's output is full */
#define STATUS_CTR_FRZ	BIT_ULL(59)	/* version 4 and up: counters are frozen */

/*
 * While this bit of MSR_IA32_DEBUGCTLMSR is set, an overflow interrupt stops all counters. Versions
 * 2 and 3 do so by clearing the global control, later versions by setting STATUS_CTR_FRZ.
 */
#define DEBUGCTL_FREEZE	BIT_ULL(12)

#define CAP_FULL_WIDTH	BIT(13)
#define CAP_METRICS	BIT(15)

#define CORE_CYCLES	0x003c
#define INSTRUCTIONS	0x00c0
#define REF_CYCLES	0x013c
#define LLC_REFERENCES	0x4f2e
#define LLC_MISSES	0x412e
#define BRANCHES	0x00c4
#define MISPREDICTED	0x00c5

#define FIXED_REF_CYCLES	2
#define FIXED_REF_CYCLES_EVENT	0x0300	/* perf's number for the event of that counter */

/* These are the events of the fixed counters. The last event is only useful with TopDown. */
static const u32 fixed_events[] = {
	INSTRUCTIONS, CORE_CYCLES, [FIXED_REF_CYCLES] = REF_CYCLES, PERFCTR_EVENT_SLOTS,
};

static_assert(PERFCTR_X86_FIXED + ARRAY_SIZE(fixed_events) - 1 == PERFCTR_X86_SLOTS);

/* The architectural events are in the order of their bits in leaf CPUID_PERFMON. */
static const u32 arch_events[] = {
	CORE_CYCLES, INSTRUCTIONS, REF_CYCLES, LLC_REFERENCES, LLC_MISSES, BRANCHES, MISPREDICTED,
};

#define ARCH_EVENTS	GENMASK(ARRAY_SIZE(arch_events) - 1, 0)

/**
 * struct counters - the counters of a CPU, or those that all CPUs of a hybrid processor have
 * @version: version of architectural performance monitoring
 * @nr: number of general-purpose counters; 0: there are no counters
 * @nr_fixed: number of fixed counters
 * @width: width of the narrowest counter in bits
 * @lacks: architectural events that the processor reports as missing, as a bit map
 * @interrupts: the counters interrupt
 * @pt: the processor has Intel PT, which uses the same interrupt as the counters
 * @freezes: DEBUGCTL_FREEZE exists
 * @full_width: the processor has registers that write all bits of a general-purpose counter
 * @nr_metrics: number of TopDown's metrics
 * @none: why there are no counters, PERFCTR_NO_COUNTERS_*
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
	unsigned int nr_metrics;
	u32 none;
};

static struct counters intel;	/* constant after init */

/*
 * The model of this processor. If it is NULL, the model is unknown, and only the architectural
 * events can be trusted. Constant after init.
 */
static const struct perfctr_intel_model *model;

bool __init perfctr_intel_is(void)
{
	/*
	 * Family 6, and families from 18 on, have this leaf. The families in between, Knights
	 * Corner and the P4, lack it.
	 */
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL &&
	       (boot_cpu_data.x86 == 6 || boot_cpu_data.x86 >= 18) &&
	       boot_cpu_data.cpuid_level >= CPUID_PERFMON;
}

static bool fixed_exists(unsigned int i)
{
	return perfctr_x86_register_exists(MSR_CORE_PERF_FIXED_CTR0 + i) &&
	       perfctr_x86_rdpmc_works(RDPMC_FIXED + i);
}

/*
 * Returns the number of fixed counters, including those that exist but are not reported. The trial
 * finds out later whether they count.
 */
static unsigned int find_unreported(unsigned int version, unsigned int nr)
{
	if (version >= 5 || boot_cpu_has(X86_FEATURE_HYPERVISOR))
		return nr;
	while (nr < UNREPORTED_FIXED && fixed_exists(nr))
		nr++;
	return nr;
}

/*
 * Returns the number of metrics in the register. The processor does not report this number.
 * According to Linux's intel/core.c, Sapphire, Emerald and Granite Rapids have both levels. Other
 * models with metrics have only the first level, like Ice Lake.
 */
static unsigned int metrics_of_model(void)
{
	switch (boot_cpu_data.x86 == 6 ? boot_cpu_data.x86_model : 0) {
	case 0x8f: case 0xcf: case 0xad: case 0xae:
		return 8;
	}
	return 4;
}

/*
 * Returns true if the processor has TopDown and the fixed counter that TopDown needs. Returns false
 * on a hybrid processor, where only some cores have TopDown, and a core without it may come up
 * later.
 */
static bool has_metrics(u64 capabilities, u32 edx)
{
	return capabilities & CAP_METRICS && (edx & 0x1f) >= ARRAY_SIZE(fixed_events) &&
	       !boot_cpu_has(X86_FEATURE_HYBRID_CPU) &&
	       perfctr_x86_register_exists(MSR_PERF_METRICS) &&
	       perfctr_x86_rdpmc_works(RDPMC_METRICS);
}

/* Fills in *own with what this CPU reports, if the reported registers exist. */
static void look_here(struct counters *own)
{
	u32 eax = cpuid_eax(CPUID_PERFMON), ebx = cpuid_ebx(CPUID_PERFMON);
	u32 edx = cpuid_edx(CPUID_PERFMON);
	unsigned int version, nr, nr_fixed = 0, width, i;
	unsigned int reported = min_t(unsigned int, eax >> 24, ARRAY_SIZE(arch_events));
	u64 capabilities = 0;

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
	if (boot_cpu_has(X86_FEATURE_PDCM) &&
	    perfctr_x86_register_exists(MSR_IA32_PERF_CAPABILITIES))
		capabilities = read_msr(MSR_IA32_PERF_CAPABILITIES);
	if (version >= 2) {
		own->nr_metrics = has_metrics(capabilities, edx) ? metrics_of_model() : 0;
		nr_fixed = min_t(unsigned int, edx & 0x1f,
				 ARRAY_SIZE(fixed_events) - !own->nr_metrics);
		if (nr_fixed)
			width = min(width, edx >> 5 & 0xff);
	}
	if (!perfctr_x86_evntsel_exists(nr, MSR_ARCH_PERFMON_PERFCTR0, MSR_ARCH_PERFMON_EVENTSEL0,
					1))
		return;
	for (i = 0; i < nr_fixed; i++)
		if (!fixed_exists(i))
			return;
	if (version >= 2)
		nr_fixed = find_unreported(version, nr_fixed);
	if (width < 32 || width > 64 ||
	    (version >= 2 && (!perfctr_x86_register_exists(MSR_CORE_PERF_GLOBAL_CTRL) ||
			      !perfctr_x86_register_exists(MSR_CORE_PERF_FIXED_CTR_CTRL))))
		return;
	own->none = PERFCTR_NO_COUNTERS_NONE;
	own->version = version;
	own->nr = nr;
	own->nr_fixed = nr_fixed;
	own->width = width;
	/* The processor also lacks the events that its CPUID leaf is too short to report. */
	own->lacks = (ebx & (BIT(reported) - 1)) | (ARCH_EVENTS & ~(BIT(reported) - 1));
	own->interrupts = version < 2 || perfctr_x86_register_exists(MSR_CORE_PERF_GLOBAL_STATUS);
	own->pt = own->interrupts && version >= 2 && boot_cpu_has(X86_FEATURE_INTEL_PT) &&
		  perfctr_x86_register_exists(MSR_IA32_RTIT_CTL);
	own->freezes = version >= 2 && perfctr_x86_register_exists(MSR_IA32_DEBUGCTLMSR) &&
		       perfctr_x86_register_exists(MSR_CORE_PERF_GLOBAL_STATUS);
	own->full_width = capabilities & CAP_FULL_WIDTH &&
			  perfctr_x86_register_exists(MSR_IA32_PMC0);
}

/*
 * The CPUs of a hybrid processor have different counters. We use the counters that all CPUs have. A
 * CPU that comes up later and has fewer counters is not used.
 */

static long __init look_on_cpu(void *own)
{
	look_here(own);
	return 0;
}

/*
 * Removes from *all what this CPU lacks. i-mode needs counters of equal widths, because counters of
 * different widths overflow at different values.
 */
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

		perfctr_work_on_cpu(cpu, look_on_cpu, &own);
		if (first)
			*all = own;
		else
			keep_shared(all, &own);
		first = false;
	}
	cpus_read_unlock();
	/* We do not support hybrid processors without a global control. */
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
	/* A core that reports 0 does not tell its type, so we cannot use it. */
	return core ?: PERFCTR_X86_NO_CORE;
}

static void __init describe_fixed(void)
{
	u32 reg = perfctr_pmu.nr_controls++;
	unsigned int i;

	perfctr_pmu.fixed_control = reg;
	perfctr_pmu.control[reg].msr = MSR_CORE_PERF_FIXED_CTR_CTRL;
	for (i = 0; i < intel.nr_fixed; i++) {
		perfctr_pmu.ctr[PERFCTR_X86_FIXED + i] = (struct perfctr_x86_ctr){
			.msr = MSR_CORE_PERF_FIXED_CTR0 + i,
			.start_msr = MSR_CORE_PERF_FIXED_CTR0 + i,
			.start_mask = GENMASK_ULL(intel.width - 1, 0),
			.reg = reg,
			.stop = 0xfULL << FIXED_BITS * i,
			/* perfctr 2.6's programs pass a whole event select, with this bit set. */
			.enable = EVNTSEL_EN,
		};
		perfctr_x86_rdpmc[PERFCTR_X86_FIXED + i] = RDPMC_FIXED + i;
		perfctr_pmu.counters |= BIT(PERFCTR_X86_FIXED + i);
	}
}

/*
 * Returns true if the microcode may use this counter. On some processors the microcode works around
 * an erratum of transactions. It uses counter 3 whenever a transaction is executed, unless
 * MSR_TSX_FORCE_ABORT makes each transaction abort at once ("Performance Monitoring Impact of Intel
 * TSX Memory Ordering Issue"). perf sets that bit while it uses the counter. We leave the counter
 * to the microcode, because the bit would abort everybody's transactions.
 */
static bool is_microcodes(unsigned int counter)
{
	return counter == 3 && boot_cpu_has(X86_FEATURE_TSX_FORCE_ABORT) &&
	       !boot_cpu_has(X86_FEATURE_RTM_ALWAYS_ABORT);
}

/* The first three events are Intel's. Linux added the event for the fourth counter. */
static const u32 reset_events[] = { 0x4300b5, 0x4300d2, 0x4300b1, 0x4300b1 };

static void __init describe_model(void)
{
	unsigned int i;

	/* The table has the model numbers of family 6. */
	model = boot_cpu_data.x86 == 6 ? perfctr_intel_model_find(boot_cpu_data.x86_model) : NULL;
	perfctr_pmu.unknown_model = !model;
	if (model && model->least_period)
		perfctr_pmu.least_period = model->least_period;
	if (model && model->errata & PERFCTR_INTEL_RESET)
		perfctr_x86_reset_needed(reset_events, ARRAY_SIZE(reset_events));
	for (i = 0; i < intel.nr; i++)
		if (is_microcodes(i))
			perfctr_x86_drop(BIT(i), 0);
}

static void __init describe_intel(void)
{
	unsigned int i;

	perfctr_x86_evntsel_describe(intel.nr, intel.width, MSR_ARCH_PERFMON_PERFCTR0,
				     MSR_ARCH_PERFMON_EVENTSEL0, 1);
	describe_model();
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
	if (intel.nr_metrics)
		perfctr_x86_topdown_describe(intel.nr_metrics, RDPMC_METRICS);
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
	describe_intel();
	perfctr_pmu.hybrid = hybrid;
	perfctr_intel_events_init();
	return intel.none;
}

static u32 intel_cpu_type(void)
{
	if (boot_cpu_data.x86 != 6)
		return PERFCTR_X86_INTEL_ARCH;
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

/*
 * Returns true if the processor lacks this event. A counter would stay zero, as if the event had
 * never happened.
 */
static bool is_lacking(u64 event)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(arch_events); i++)
		if (!(perfctr_pmu.events & BIT(i)) && (event & 0xffff) == arch_events[i])
			return true;
	return false;
}

/*
 * Returns a bit map with the fixed counter that can count this event, or 0. On a general-purpose
 * counter, REF_CYCLES means bus cycles, as in perf. So REF_CYCLES gets its fixed counter only if
 * the control names that counter.
 */
static u32 fixed_counter(const struct perfctr_ctr_control *ctr, u64 event)
{
	unsigned int i;

	if (event == REF_CYCLES && ctr->map != PERFCTR_X86_FIXED + FIXED_REF_CYCLES)
		return 0;
	if (event == FIXED_REF_CYCLES_EVENT)
		event = REF_CYCLES;
	for (i = 0; i < intel.nr_fixed; i++)
		if (event == fixed_events[i])
			return BIT(PERFCTR_X86_FIXED + i);
	return 0;
}

static bool is_architectural(u64 event)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(arch_events); i++)
		if ((event & 0xffff) == arch_events[i])
			return true;
	return false;
}

/* Returns 0, or -EOPNOTSUPP with why->reason if this model counts the event wrong or may do so. */
static int check_model(const struct perfctr_ctr_control *ctr, u64 event,
		       struct perfctr_refusal *why)
{
	if (!model && !is_architectural(event) && event != FIXED_REF_CYCLES_EVENT)
		why->reason = PERFCTR_REASON_MODEL;
	/* Sibling hyperthreads that are offline matter too, because they may come up later. */
	else if (model && perfctr_intel_model_is_bad(model, event, ctr->ireset, cpu_smt_possible()))
		why->reason = PERFCTR_REASON_ERRATUM;
	else
		return 0;
	return -EOPNOTSUPP;
}

static int intel_check(const struct perfctr_ctr_control *ctr, u32 *counters,
		       struct perfctr_refusal *why)
{
	u64 event = ctr->event & EVNTSEL_EVENT;
	u32 general = model ? perfctr_intel_model_counters(model, event) : ~0u;
	int err = perfctr_x86_evntsel_check(ctr);

	if (err)
		return -EINVAL;
	if (is_lacking(event)) {
		why->reason = PERFCTR_REASON_TRIAL;
		return -EINVAL;
	}
	if (perfctr_x86_topdown_check(event, why))
		return -EINVAL;
	*counters = fixed_counter(ctr, event);
	/* perf uses code 0 for events of the fixed counters. */
	if (event & EVNTSEL_CODE || !(event & EVNTSEL_UMASK))
		*counters |= perfctr_pmu.general & general;
	else if (!*counters)
		return -EINVAL;
	return check_model(ctr, event, why);
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
	perfctr_x86_image_add(image, perfctr_pmu.ctr[hw].reg, perfctr_pmu.ctr[hw].stop,
			      ctrl << FIXED_BITS * (hw - PERFCTR_X86_FIXED));
}

static u32 intel_counts(u64 *value)
{
	u32 msr = perfctr_x86_evntsel_counts(value);

	if (msr || !intel.nr_fixed)
		return msr;
	*value = read_msr(MSR_CORE_PERF_FIXED_CTR_CTRL);
	return *value ? MSR_CORE_PERF_FIXED_CTR_CTRL : 0;
}

/*
 * Zeroes the counters that we do not use. A process that may read one counter may read all of them,
 * and unused counters may still hold perf's counts. The bits of the unused counters in the global
 * control are clear now, so these counters stay zero.
 */
static void intel_clear_unused(void)
{
	u32 gp = cpuid_eax(CPUID_PERFMON) >> 8 & 0xff, edx = cpuid_edx(CPUID_PERFMON);
	unsigned long fixed;
	unsigned int i;

	if (intel.version < 2)
		return;
	for (i = 0; i < min_t(u32, gp, MAX_GP_MSRS); i++)
		if (!(perfctr_pmu.counters & BIT(i)) && !is_microcodes(i))
			wrmsr_safe(MSR_ARCH_PERFMON_PERFCTR0 + i, 0, 0);
	fixed = (BIT(edx & 0x1f) - 1) | (BIT(intel.nr_fixed) - 1);
	if (intel.version >= 5)
		fixed |= cpuid_ecx(CPUID_PERFMON);
	for_each_set_bit(i, &fixed, MAX_FIXED_MSRS)
		if (!(perfctr_pmu.counters >> PERFCTR_X86_FIXED & BIT(i)))
			wrmsr_safe(MSR_CORE_PERF_FIXED_CTR0 + i, 0, 0);
	/* The register may not exist. Then the write faults, and wrmsr_safe() ignores the fault. */
	if (fixed & BIT(PERFCTR_X86_SLOTS - PERFCTR_X86_FIXED) &&
	    !(perfctr_pmu.counters & BIT(PERFCTR_X86_SLOTS)))
		wrmsr_safe(MSR_PERF_METRICS, 0, 0);
}

static const struct perfctr_x86_known known[] = {
	{ .event = INSTRUCTIONS, .per_turn = 2, .bit = BIT(1) },
	{ .event = BRANCHES, .per_turn = 1, .bit = BIT(5) },
	{ .event = CORE_CYCLES, .bit = BIT(0) },
	{ .event = REF_CYCLES, .bit = BIT(2) },
	{}
};

const struct perfctr_x86_family perfctr_intel = {
	.core = intel_core,
	.cpu_type = intel_cpu_type,
	.check = intel_check,
	.name = perfctr_x86_evntsel_name,
	.compile = intel_compile,
	.counts = intel_counts,
	.clear_unused = intel_clear_unused,
	.beside = perfctr_intel_beside,
	.placeholder = perfctr_intel_placeholder,
	.perf_fixed = perfctr_intel_perf_fixed,
	.known = known,
};
