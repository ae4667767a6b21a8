// SPDX-License-Identifier: GPL-2.0
/*
 * x86: counting by perf's events.
 *
 * perf's counters run all the time, and a process that may execute RDPMC in user mode can read each
 * of them. perf permits RDPMC to every process that has mapped an event of its own. So users
 * without privilege may count by perf's events only if no user can get that permission.
 */

#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <asm/cpufeature.h>

#include "base/settings.h"
#include "arch/perf.h"
#include "arch/x86/amd/amd.h"
#include "arch/x86/evntsel.h"
#include "arch/x86/extra.h"
#include "arch/x86/intel/intel.h"
#include "arch/x86/registers.h"
#include "arch/x86/topdown.h"
#include "arch/x86/trial.h"

#define CPUID_PERFMON		10
#define CPUID_AMD_PERFMON	0x80000022
#define AMD_WIDTH		48	/* perf assumes this width on all AMD processors */
#define AMD_CTRS		4
#define AMD_CTRS_CORE		6
#define FIXED_BASE		32	/* hw.idx of the first fixed counter */
/* These are RDPMC's numbers of the fixed counter for slots, and of the register of the metrics. */
#define RDPMC_SLOTS		(BIT(30) | 3)
#define RDPMC_METRICS		BIT(29)
/* These are the architectural events. */
#define EVNTSEL_CYCLES		0x3c
#define EVNTSEL_INSTRUCTIONS	0xc0
#define EVNTSEL_LLC_REFERENCES	0x4f2e
#define EVNTSEL_LLC_MISSES	0x412e
#define EVNTSEL_BRANCHES	0xc4
#define EVNTSEL_BRANCH_MISSES	0xc5
/* Fixed counter 2 counts this event, for which perf has another number. */
#define EVNTSEL_REF_CYCLES	0x13c
#define EVNTSEL_REF_CYCLES_PERF	0x300
#define FIXED_REF_CYCLES	(PERFCTR_X86_FIXED + 2)
#define AMD_EVENT_HIGH		GENMASK_ULL(35, 32)
#define EVNTSEL_RDPMC_DISABLE	BIT_ULL(37)

u64 perfctr_x86_shared_mask;

static bool is_amd(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_AMD ||
	       boot_cpu_data.x86_vendor == X86_VENDOR_HYGON;
}

/*
 * Returns true if perf uses its driver for Intel's architectural performance monitoring. For older
 * Intel processors, perf's drivers use other widths.
 */
static bool is_intel(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL &&
	       boot_cpu_data.cpuid_level >= CPUID_PERFMON && cpuid_eax(CPUID_PERFMON) & 0xff;
}

void __init perfctr_x86_shared_init(void)
{
	unsigned int width = 0;

	if (is_intel())
		width = cpuid_eax(CPUID_PERFMON) >> 16 & 0xff;
	else if (is_amd())
		width = AMD_WIDTH;
	if (width >= 32 && width < 64)
		perfctr_x86_shared_mask = GENMASK_ULL(width - 1, 0);
}

bool perfctr_cpu_shared_inline(const struct perf_event *event)
{
	u32 counter = event->hw.event_base_rdpmc;

	/* To read slots or metrics, perf's driver also writes registers. So RDPMC is not enough. */
	return perfctr_x86_shared_mask && counter != RDPMC_SLOTS && !(counter & RDPMC_METRICS);
}

/* Returns true if this is AMD's Merge, which perf lets everybody use. */
static bool is_merge(u64 config)
{
	return is_amd() && perfctr_amd_is_merge(config);
}

/*
 * Returns true if @bits is 0, or if its modes are those of the control. evntsel.c checks native
 * controls in this way.
 */
static bool control_bits_agree(const struct perfctr_ctr_control *ctr, u64 bits)
{
	u64 modes = (ctr->flags & PERFCTR_CTR_USER ? EVNTSEL_USR : 0) |
		    (ctr->flags & PERFCTR_CTR_KERNEL ? EVNTSEL_OS : 0);

	return !bits || (bits & ~(u64)EVNTSEL_EN) == modes;
}

/*
 * Returns perf's generic event for a raw event, or -1. On a hybrid processor, perf treats a raw
 * event as an event of the first type of core. But the PMU of each CPU counts generic events. The
 * raw events below have the same number on all types.
 */
static int generic_of(u64 config)
{
	switch (config) {
	case EVNTSEL_CYCLES: return PERF_COUNT_HW_CPU_CYCLES;
	case EVNTSEL_INSTRUCTIONS: return PERF_COUNT_HW_INSTRUCTIONS;
	case EVNTSEL_LLC_REFERENCES: return PERF_COUNT_HW_CACHE_REFERENCES;
	case EVNTSEL_LLC_MISSES: return PERF_COUNT_HW_CACHE_MISSES;
	case EVNTSEL_BRANCHES: return PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	case EVNTSEL_BRANCH_MISSES: return PERF_COUNT_HW_BRANCH_MISSES;
	case EVNTSEL_REF_CYCLES: return PERF_COUNT_HW_BUS_CYCLES;
	case EVNTSEL_REF_CYCLES_PERF: return PERF_COUNT_HW_REF_CPU_CYCLES;
	default: return -1;
	}
}

int perfctr_cpu_shared_attr(const struct perfctr_ctr_control *ctr,
			    struct perfctr_shared_attr *attr)
{
	u64 event = EVNTSEL_EVENT | (is_amd() ? AMD_EVENT_HIGH : 0);
	u64 control = EVNTSEL_USR | EVNTSEL_OS | EVNTSEL_EN;
	int generic;

	/*
	 * Refuses all other bits, because the control register of a fixed counter lacks them. perf
	 * has a special number for the event of fixed counter 2.
	 */
	if (ctr->event & ~(event | control) ||
	    !control_bits_agree(ctr, ctr->event & control))
		return -EINVAL;
	if (is_merge(ctr->event))
		return -EINVAL;
	attr->type = PERF_TYPE_RAW;
	attr->config = ctr->event & event;
	if (ctr->map == FIXED_REF_CYCLES && attr->config == EVNTSEL_REF_CYCLES)
		attr->config = EVNTSEL_REF_CYCLES_PERF;
	attr->config1 = ctr->config;
	generic = boot_cpu_has(X86_FEATURE_HYBRID_CPU) && !ctr->config ?
		  generic_of(attr->config) : -1;
	if (generic >= 0) {
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = generic;
	}
	return 0;
}

/*
 * Returns PERFCTR_REASON_NONE, or the reason why perf cannot count this event. perf counts a metric
 * of TopDown only in a group with SLOTS as its leader, and events that the kernel makes have no
 * groups.
 */
u32 perfctr_cpu_shared_refusal(const struct perfctr_shared_attr *attr)
{
	struct perfctr_ctr_control ctr = { .event = attr->config };

	if (!is_intel() || attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE)
		return PERFCTR_REASON_NONE;
	if (perfctr_x86_is_metric(&ctr, NULL))
		return PERFCTR_REASON_SOURCE;
	return perfctr_x86_topdown_lacks(attr->config) && attr->config != PERFCTR_EVENT_SLOTS ?
	       PERFCTR_REASON_TOPDOWN : PERFCTR_REASON_NONE;
}

/*
 * Returns true if the event has bits other than those that are known to be harmless. Bit 21 (any
 * thread) also counts the other hyperthread.
 */
bool perfctr_cpu_shared_needs_privilege(const struct perfctr_shared_attr *attr)
{
	u64 umask_high = GENMASK_ULL(47, 40);

	if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE)
		return false;
	return attr->config & ~(EVNTSEL_EVENT | AMD_EVENT_HIGH | umask_high) ||
	       is_merge(attr->config);
}

bool perfctr_cpu_shared_is_general(const struct perf_event *event)
{
	return event->hw.idx < FIXED_BASE;
}

/*
 * Trials
 *
 * perf does not check whether an event counts. An event may count nothing under a hypervisor, or
 * because of an erratum that CPUID reports. The native driver tries the counters of each CPU, and
 * its results also hold for perf's events. If the native driver could not try an event, because
 * perf had the counters, we try a twin of perf's event: another event of perf's that counts the
 * same. We do not notice if perf later moves an event to another kind of counter.
 */

/*
 * Results of trials. Each known event of the family has a bit that says that it was tried, and a
 * bit that says that it counted wrong.
 */
struct verdicts {
	u8 tried;
	u8 wrong;
};

/*
 * Results for the general counters of a CPU, and for its fixed counters. Only kernel threads on
 * that CPU access them, under config_mutex.
 */
static DEFINE_PER_CPU(struct verdicts[2], verdicts);

void perfctr_x86_shared_forget(unsigned int cpu)
{
	memset(per_cpu_ptr(&verdicts, cpu), 0, sizeof(struct verdicts[2]));
}

static struct verdicts *verdicts_of(const struct perf_event *event)
{
	return &(*per_cpu_ptr(&verdicts, event->cpu))[!perfctr_cpu_shared_is_general(event)];
}

/*
 * Returns the events that the loop of a trial causes. The families know these events even if the
 * native driver has no counters on this processor.
 */
static const struct perfctr_x86_known *known_events(void)
{
	if (perfctr_pmu.family)
		return perfctr_pmu.family->known;
	if (is_intel())
		return perfctr_intel.known;
	return is_amd() ? perfctr_amd.known : NULL;
}

/*
 * Returns the known event that @event counts, and sets *number to its number. Returns NULL if
 * @event counts no known event.
 */
static const struct perfctr_x86_known *find_known(const struct perf_event *event, u8 *number)
{
	const struct perfctr_x86_known *known = known_events();
	u64 select = event->hw.config & (EVNTSEL_EVENT | AMD_EVENT_HIGH);

	if (select == EVNTSEL_REF_CYCLES_PERF)
		select = EVNTSEL_REF_CYCLES;
	for (*number = 0; known && known->event; known++, ++*number)
		if (known->event == select)
			return known;
	return NULL;
}

/* Returns true if this is an architectural event that the processor reports as missing. */
static bool event_is_lacking(u64 config)
{
	static const u16 events[] = {
		EVNTSEL_CYCLES, EVNTSEL_INSTRUCTIONS, EVNTSEL_REF_CYCLES, EVNTSEL_LLC_REFERENCES,
		EVNTSEL_LLC_MISSES, EVNTSEL_BRANCHES, EVNTSEL_BRANCH_MISSES,
	};
	unsigned int i;

	if (!is_intel())
		return false;
	for (i = 0; i < ARRAY_SIZE(events); i++)
		if ((config & EVNTSEL_CODE_AND_UMASK) == events[i])
			return i >= cpuid_eax(CPUID_PERFMON) >> 24 ||
			       cpuid_ebx(CPUID_PERFMON) & BIT(i);
	return false;
}

/*
 * Returns true if the event, or a counter that it may use, counted wrong in the native driver's
 * trial on the event's CPU.
 */
static bool is_wrong_natively(const struct perf_event *event)
{
	const struct perfctr_x86_cpu *cpu = per_cpu_ptr(&perfctr_x86_cpu, event->cpu);
	const struct perfctr_x86_known *known = known_events();

	if (perfctr_cpu_shared_is_general(event) ?
	    cpu->bad & GENMASK(PERFCTR_X86_FIXED - 1, 0) :
	    cpu->bad >> (PERFCTR_X86_FIXED - FIXED_BASE + event->hw.idx) & 1)
		return true;
	for (; known && known->event; known++)
		if (known->bit & cpu->bad_events &&
		    known->event == (event->hw.config & EVNTSEL_CODE_AND_UMASK))
			return true;
	return false;
}

bool perfctr_cpu_shared_twin(const struct perf_event *event, struct perfctr_shared_attr *attr)
{
	const struct perfctr_x86_cpu *cpu = per_cpu_ptr(&perfctr_x86_cpu, event->cpu);
	const struct perfctr_x86_known *known;
	u8 number;

	known = perfctr_x86_trial_wanted ? find_known(event, &number) : NULL;
	/*
	 * The native driver keeps results only for known events whose @bit is not 0. Beside perf it
	 * tries no counters of perf's.
	 */
	if (!known || verdicts_of(event)->tried & BIT(number) ||
	    (cpu->tried && known->bit && !perfctr_pmu.beside))
		return false;
	*attr = (struct perfctr_shared_attr){
		.type = event->pmu->type,
		.config = event->hw.config & (EVNTSEL_EVENT | AMD_EVENT_HIGH),
	};
	return true;
}

/*
 * Returns what the event counts during the loop. Not inlined, so that the code around the loop is
 * the same in each call.
 */
static noinline u64 count_loop(struct perf_event *event, unsigned long turns)
{
	u64 before;

	event->pmu->read(event);
	before = local64_read(&event->count);
	perfctr_x86_spin(turns);
	event->pmu->read(event);
	return local64_read(&event->count) - before;
}

void perfctr_cpu_shared_try(struct perf_event *twin)
{
	struct verdicts *own = verdicts_of(twin);
	const struct perfctr_x86_known *known;
	unsigned long flags;
	bool right = false;
	unsigned int i;
	u64 few, many;
	u8 number;

	known = find_known(twin, &number);
	for (i = 0; known && i < PERFCTR_X86_TRIES && !right; i++) {
		local_irq_save(flags);
		few = count_loop(twin, PERFCTR_X86_SHORT);
		many = count_loop(twin, PERFCTR_X86_LONG);
		local_irq_restore(flags);
		right = perfctr_x86_is_right(few, many, known->per_turn);
	}
	if (!known)
		return;
	own->tried |= BIT(number);
	if (!right)
		own->wrong |= BIT(number);
}

/*
 * Checks the second register that some events need. Without it such an event counts nothing, or
 * something else. Returns 0, -EINVAL or -EOPNOTSUPP.
 */
static int judge_extra(const struct perf_event *event)
{
	u32 reg = event->hw.extra_reg.reg;

	if (is_merge(event->hw.config))
		return -EINVAL;
	if (!reg && !event->attr.config1)
		return perfctr_x86_has_extra(event->hw.config) ? -EOPNOTSUPP : 0;
	/* This register needs precise event-based sampling. */
	if (reg == MSR_PEBS_LD_LAT_THRESHOLD)
		return -EOPNOTSUPP;
	/* perf ignores config1 if perf's tables have no register for the event. */
	return reg && event->attr.config1 && event->hw.extra_reg.config == event->attr.config1 ?
	       0 : -EINVAL;
}

int perfctr_cpu_shared_judge(const struct perf_event *event, u32 *reason)
{
	int err = judge_extra(event);
	u8 number;

	if (err)
		return err;
	if (event_is_lacking(event->hw.config) || is_wrong_natively(event) ||
	    (find_known(event, &number) && verdicts_of(event)->wrong & BIT(number))) {
		*reason = PERFCTR_REASON_TRIAL;
		return -EINVAL;
	}
	return 0;
}

unsigned int perfctr_cpu_shared_generals(void)
{
	if (is_intel())
		return cpuid_eax(CPUID_PERFMON) >> 8 & 0xff;
	if (!is_amd())
		return 2;
	if (boot_cpu_data.extended_cpuid_level >= CPUID_AMD_PERFMON &&
	    cpuid_eax(CPUID_AMD_PERFMON) & 1)
		return cpuid_ebx(CPUID_AMD_PERFMON) & 0xf;
	return boot_cpu_has(X86_FEATURE_PERFCTR_CORE) ? AMD_CTRS_CORE : AMD_CTRS;
}

/*
 * Returns true if RDPMC in user mode cannot read the event's counter. On some processors a bit of
 * the event select forbids such reads. Kernels that know the bit set it for events of whole CPUs.
 */
bool perfctr_cpu_shared_hides(const struct perf_event *event)
{
	return event->hw.config & EVNTSEL_RDPMC_DISABLE;
}

/*
 * Functions that find out whether perf can count here, and whether user mode can read perf's events
 */

/*
 * The core PMU is called "cpu". A hybrid processor has several core PMUs, and one of them is called
 * "cpu_core".
 */
#define CORE_PMU	"sys/bus/event_source/devices/cpu"

bool perfctr_cpu_shared_exists(void)
{
	struct perfctr_setting type[] = {
		{ .name = CORE_PMU "/type" }, { .name = CORE_PMU "_core/type" },
	};
	bool exists = false;
	unsigned int i;

	/*
	 * On a Pentium 4, perf counts wrong, because p4_pmu_set_period() uses the start value of a
	 * counter before x86_perf_event_set_period() has computed it. This is so in Linux 6.1 to at
	 * least 7.2.
	 */
	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && boot_cpu_data.x86 == 15)
		return false;
	for (i = 0; i < ARRAY_SIZE(type); i++) {
		perfctr_setting_watch(&type[i], true);
		exists |= perfctr_setting_read(&type[i]) >= 0;
		perfctr_setting_watch(&type[i], false);
	}
	return exists;
}

static struct perfctr_setting rdpmc_of[] = {
	{ .name = CORE_PMU "/rdpmc" }, { .name = CORE_PMU "_core/rdpmc" },
};

void perfctr_cpu_shared_watch(bool on)
{
	perfctr_setting_watch(&rdpmc_of[0], on);
	perfctr_setting_watch(&rdpmc_of[1], on);
	perfctr_perf_watch(on);
}

bool perfctr_cpu_shared_discloses(void)
{
	long who = perfctr_setting_read(&rdpmc_of[0]);

	if (who < 0)
		who = perfctr_setting_read(&rdpmc_of[1]);
	/*
	 * 2: all processes may use RDPMC. 1: processes that have mapped an event may use it. 0: no
	 * process may use it.
	 */
	return who < 0 || who == 2 || (who && !perfctr_perf_is_closed());
}
