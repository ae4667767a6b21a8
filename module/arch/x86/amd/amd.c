// SPDX-License-Identifier: GPL-2.0
/*
 * AMD's processors, and Hygon's. Each counter has an event select with the P6's layout. Since
 * family 10h, an event number has 12 bits.
 *
 * - K7, K8, families 10h to 14h: four counters.
 * - Family 15h and later: six counters in other registers, if CPUID reports PERFCTR_CORE. The four
 *   old registers are aliases of the first four new ones.
 * - Zen 4 and later: performance monitoring version 2, which has a global control, and a status
 *   that says which counter overflowed.
 *
 * Bits 41:40 of an event select choose between host and guests. We leave both bits zero, so that a
 * counter counts in the host and in guests, as on Intel. A vCPU's thread then also counts its
 * guest. For other threads, which run no guest, HostOnly (bit 41) would count the same. But with
 * HostOnly, a counter counts nothing while EFER.SVME is clear, and KVM changes EFER.SVME as its
 * guests come and go.
 *
 * Sources: AMD64 Architecture Programmer's Manual, volume 2, "Performance Monitoring Counters";
 * BIOS and Kernel Developer's Guides and Processor Programming References of the families; Linux's
 * driver, arch/x86/events/amd/core.c.
 */

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/msr-index.h>
#include <asm/processor.h>

#include "arch/x86/amd/amd.h"
#include "arch/x86/evntsel.h"
#include "arch/x86/uncore.h"

#define NR		4
#define NR_CORE		6	/* RDPMC's numbers from 6 on select counters of the northbridge */
#define WIDTH		48

#define EVENT_HIGH	GENMASK_ULL(35, 32)

#define INSTRUCTIONS	0x00c0
#define BRANCHES	0x00c2

#define CODE_FLOPS	0x003
#define CODE_MERGE	0xfff

#define CPUID_PERFMON	0x80000022
#define PERFMON_CORE_CTRS	GENMASK(3, 0)	/* in EBX of that leaf */

/*
 * While this bit of MSR_IA32_DEBUGCTLMSR is set, an overflow interrupt stops all counters and sets
 * STATUS_FROZEN.
 */
#define DEBUGCTL_FREEZE	BIT_ULL(12)
#define STATUS_FROZEN	BIT_ULL(59)

#define FAMILY_K7	0x06
#define FAMILY_K8	0x0f
#define FAMILY_10H	0x10
#define FAMILY_11H	0x11	/* with cores like the K8's */
#define FAMILY_12H	0x12
#define FAMILY_14H	0x14
#define FAMILY_15H	0x15
#define FAMILY_16H	0x16
#define FAMILY_ZEN	0x17	/* Zen and Zen 2 */
#define FAMILY_HYGON	0x18
#define FAMILY_ZEN3	0x19	/* Zen 3 and Zen 4 */
#define FAMILY_ZEN5	0x1a

/*
 * The number of counters, the registers of the first counter, and the distance to the next
 * counter's registers. Constant after init.
 */
static unsigned int nr;
static u32 perfctr, evntsel;
static unsigned int distance;

/* Returns true for the families above. Later families are unknown to us and left to perf. */
bool __init perfctr_amd_is(void)
{
	unsigned int family = boot_cpu_data.x86;

	if (boot_cpu_data.x86_vendor == X86_VENDOR_HYGON)
		return family == FAMILY_HYGON;
	if (boot_cpu_data.x86_vendor != X86_VENDOR_AMD)
		return false;
	switch (family) {
	case FAMILY_K7: case FAMILY_K8: case FAMILY_10H: case FAMILY_11H: case FAMILY_12H:
	case FAMILY_14H: case FAMILY_15H: case FAMILY_16H: case FAMILY_ZEN: case FAMILY_ZEN3:
	case FAMILY_ZEN5:
		return true;
	}
	return false;
}

/* Returns the event number, which has 12 bits. */
static unsigned int code_of(u64 event)
{
	return (event & EVNTSEL_CODE) | (event & EVENT_HIGH) >> 24;
}

static bool has_version_2(void)
{
	return boot_cpu_has(X86_FEATURE_PERFCTR_CORE) && boot_cpu_has(X86_FEATURE_PERFMON_V2);
}

/* Finds the counters. A hypervisor may offer fewer counters than the processor has. */
static void __init find_amd(void)
{
	nr = NR;
	perfctr = MSR_K7_PERFCTR0;
	evntsel = MSR_K7_EVNTSEL0;
	distance = 1;
	if (!boot_cpu_has(X86_FEATURE_PERFCTR_CORE))
		return;
	nr = NR_CORE;
	perfctr = MSR_F15H_PERF_CTR;
	evntsel = MSR_F15H_PERF_CTL;
	distance = 2;
	if (has_version_2())
		nr = min_t(unsigned int, cpuid_ebx(CPUID_PERFMON) & PERFMON_CORE_CTRS, NR_CORE);
}

static bool global_exists(void)
{
	return perfctr_x86_register_exists(MSR_AMD64_PERF_CNTR_GLOBAL_STATUS) &&
	       perfctr_x86_register_exists(MSR_AMD64_PERF_CNTR_GLOBAL_CTL);
}

static void __init describe_amd(void)
{
	unsigned int i;

	perfctr_x86_evntsel_describe(nr, WIDTH, perfctr, evntsel, distance);
	for (i = 0; i < nr; i++)
		perfctr_pmu.ctr[i].start_mask = GENMASK_ULL(WIDTH - 1, 0);
	perfctr_pmu.irange = BIT_ULL(WIDTH - 1);
	perfctr_pmu.interrupts = true;
	if (boot_cpu_data.x86 >= FAMILY_10H && boot_cpu_data.x86 != FAMILY_11H)
		perfctr_pmu.event_bits |= EVENT_HIGH;
	perfctr_x86_evntsel_samples(INSTRUCTIONS, BRANCHES);
	if (!has_version_2())
		return;
	perfctr_pmu.global_ctrl = MSR_AMD64_PERF_CNTR_GLOBAL_CTL;
	perfctr_pmu.reloaded = true;
	perfctr_pmu.global_status = MSR_AMD64_PERF_CNTR_GLOBAL_STATUS;
	perfctr_pmu.global_ack = MSR_AMD64_PERF_CNTR_GLOBAL_STATUS_CLR;
	if (perfctr_x86_register_exists(MSR_IA32_DEBUGCTLMSR)) {
		perfctr_pmu.freeze_msr = MSR_IA32_DEBUGCTLMSR;
		perfctr_pmu.freeze = DEBUGCTL_FREEZE;
		perfctr_pmu.frozen = STATUS_FROZEN;
	}
}

u32 __init perfctr_amd_look(void)
{
	find_amd();
	if (!perfctr_x86_evntsel_exists(nr, perfctr, evntsel, distance) ||
	    (has_version_2() && !global_exists()))
		return PERFCTR_NO_COUNTERS_REGISTERS;
	describe_amd();
	if (boot_cpu_has(X86_FEATURE_PERFCTR_NB) || boot_cpu_has(X86_FEATURE_PERFCTR_LLC))
		perfctr_x86_uncore_exists();
	return PERFCTR_NO_COUNTERS_NONE;
}

/* perfctr 2.6 uses this rule to tell K8s of revision C and later from earlier ones. */
static u32 type_of_k8(void)
{
	unsigned int model = boot_cpu_data.x86_model;

	return model > 5 || (model >= 4 && boot_cpu_data.x86_stepping >= 8) ?
	       PERFCTR_X86_AMD_K8C : PERFCTR_X86_AMD_K8;
}

/* The model numbers of each generation are from Linux (arch/x86/kernel/cpu/amd.c). */
static u32 amd_cpu_type(void)
{
	unsigned int model = boot_cpu_data.x86_model;

	switch (boot_cpu_data.x86) {
	case FAMILY_K7:
		return PERFCTR_X86_AMD_K7;
	case FAMILY_K8:
		return type_of_k8();
	case FAMILY_11H:
		return PERFCTR_X86_AMD_K8C;
	case FAMILY_10H: case FAMILY_12H: case FAMILY_14H:
		return PERFCTR_X86_AMD_FAM10H;
	case FAMILY_15H: case FAMILY_16H:
		return PERFCTR_X86_AMD_FAM15H;
	case FAMILY_ZEN:
		return model < 0x30 || (model >= 0x50 && model < 0x60) ? PERFCTR_X86_AMD_ZEN :
									 PERFCTR_X86_AMD_ZEN2;
	case FAMILY_HYGON:
		return PERFCTR_X86_AMD_ZEN;
	case FAMILY_ZEN3:
		return model < 0x10 || (model >= 0x20 && model < 0x60) ? PERFCTR_X86_AMD_ZEN2 :
									 PERFCTR_X86_AMD_ZEN4;
	}
	return PERFCTR_X86_AMD_ZEN4;
}

/**
 * struct rule - events of family 15h, and the counters that can count them
 * @first: code of the first event, in the bits of @mask
 * @last: code of the last event
 * @mask: bits of the code that are compared
 * @counters: the counters, as a bit map
 */
struct rule {
	u16 first;
	u16 last;
	u16 mask;
	u8 counters;
};

#define EXACT(first, last, counters)	{ first, last, 0xfff, counters }
#define UNIT(first, last, counters)	{ first, last, 0xff, counters }

/*
 * These rules are from "Counter Allocation" in the BIOS and Kernel Developer's Guide of family 15h,
 * and from Linux's amd_get_event_constraints_f15h(). The first rule that matches an event applies.
 */
static const struct rule rules_15h[] = {
	EXACT(0x003, 0x003, 0x08),	/* FPU */
	EXACT(0x00b, 0x00b, 0x08),
	EXACT(0x00d, 0x00d, 0x08),
	EXACT(0x023, 0x023, 0x07),	/* load and store unit, data cache */
	EXACT(0x02d, 0x02d, 0x08),
	EXACT(0x02e, 0x02e, 0x09),
	EXACT(0x043, 0x043, 0x07),
	EXACT(0x045, 0x046, 0x07),
	EXACT(0x054, 0x055, 0x07),
	EXACT(0x08f, 0x08f, 0x01),	/* instruction cache, decoder */
	EXACT(0x187, 0x188, 0x01),
	EXACT(0x0db, 0x0df, 0x3f),	/* execution unit */
	EXACT(0x1c0, 0x1c0, 0x38),
	EXACT(0x1d6, 0x1d6, 0x3f),
	EXACT(0x1d8, 0x1d8, 0x3f),
	UNIT(0x00, 0x1f, 0x38),
	UNIT(0x20, 0x5f, 0x3f),
	UNIT(0x60, 0x9f, 0x07),
	UNIT(0xc0, 0xcf, 0x3f),
	UNIT(0xd0, 0xdf, 0x07),
};

/* Sets *counters and returns true if the counters of this event depend on its unit mask. */
static bool by_umask_15h(unsigned int code, u64 event, u32 *counters)
{
	bool several = hweight64(event & EVNTSEL_UMASK) > 1;

	switch (code) {
	case 0x000:	/* each half of the unit mask selects pipes */
		*counters = event & 0xf000 && event & 0x0f00 ? 0x08 : 0x38;
		return true;
	case 0x004:
		*counters = several ? 0x08 : 0x38;
		return true;
	case 0x031:
		*counters = several ? 0 : 0x07;
		return true;
	}
	return false;
}

u32 perfctr_amd_15h_counters(u64 event)
{
	unsigned int code = code_of(event), i;
	u32 counters;

	if (by_umask_15h(code, event, &counters))
		return counters;
	for (i = 0; i < ARRAY_SIZE(rules_15h); i++) {
		const struct rule *rule = &rules_15h[i];

		if ((code & rule->mask) >= rule->first && (code & rule->mask) <= rule->last)
			return rule->counters;
	}
	/* The event is undefined, or belongs to the northbridge, which has its own counters. */
	return 0;
}

/* Returns true if this is an event of the northbridge. */
static bool is_northbridges(unsigned int code)
{
	return (code & 0xe0) == 0xe0;
}

/*
 * Checks an event on families before Zen. On K8 and families 10h to 14h, all cores share the
 * counters of the northbridge's events. perf keeps two cores from using the same shared counter,
 * which we cannot do at a switch. Families 15h and 16h have separate counters for these events, and
 * amd_uncore programs them.
 */
static int check_old(u64 event, u32 *counters, struct perfctr_refusal *why)
{
	unsigned int code = code_of(event);

	switch (boot_cpu_data.x86) {
	case FAMILY_K7:
		return 0;
	case FAMILY_15H:
		*counters &= perfctr_amd_15h_counters(event);
		return 0;
	case FAMILY_16H:
		if (is_northbridges(code))
			*counters = 0;
		return 0;
	}
	if (!is_northbridges(code))
		return 0;
	why->reason = PERFCTR_REASON_SOURCE;
	return -EOPNOTSUPP;
}

bool perfctr_amd_is_merge(u64 event)
{
	return boot_cpu_data.x86 >= FAMILY_ZEN && code_of(event) == CODE_MERGE;
}

/*
 * Counting floating-point operations needs Merge, which takes a second counter. Only perf can use
 * Merge.
 */
static int check_zen(u64 event, struct perfctr_refusal *why)
{
	if (perfctr_amd_is_merge(event))
		return -EINVAL;
	if (code_of(event) != CODE_FLOPS)
		return 0;
	why->reason = PERFCTR_REASON_SOURCE;
	return -EOPNOTSUPP;
}

static int amd_check(const struct perfctr_ctr_control *ctr, u32 *counters,
		     struct perfctr_refusal *why)
{
	int err = perfctr_x86_evntsel_check(ctr);

	if (err)
		return err;
	*counters = perfctr_pmu.general;
	return boot_cpu_data.x86 >= FAMILY_ZEN ? check_zen(ctr->event, why) :
						 check_old(ctr->event, counters, why);
}

/* Zeroes the counters that failed their trial. */
static void amd_clear_unused(void)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!(perfctr_pmu.counters & BIT(i)))
			wrmsr_safe(perfctr + i * distance, 0, 0);
}

static bool amd_beside(void)
{
	return true;
}

/* Each counter can count this event. */
static u64 amd_placeholder(unsigned int idx)
{
	return INSTRUCTIONS;
}

/* Cycles are left out, because three counters of family 15h do not count them. */
static const struct perfctr_x86_known known[] = {
	{ .event = INSTRUCTIONS, .per_turn = 2 },
	{ .event = BRANCHES, .per_turn = 1 },
	{}
};

const struct perfctr_x86_family perfctr_amd = {
	.cpu_type = amd_cpu_type,
	.check = amd_check,
	.name = perfctr_x86_evntsel_name,
	.compile = perfctr_x86_evntsel_compile,
	.counts = perfctr_x86_evntsel_counts,
	.clear_unused = amd_clear_unused,
	.beside = amd_beside,
	.placeholder = amd_placeholder,
	.known = known,
};
