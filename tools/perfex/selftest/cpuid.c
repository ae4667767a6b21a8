// SPDX-License-Identifier: GPL-2.0
/* Prints what CPUID says on x86, and finds what CPUID promises and the module does not use. */
#include "count/why.h"
#include "selftest/checks.h"
#include "selftest/cpuid.h"

#if IS_X86

#include <cpuid.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

/*
 * The leaves of CPUID that are printed: performance monitoring (0AH, 23H) and the type of the core
 * (1AH), SDM Vol. 2A. AMD has 8000_0001H, whose ECX says which counters exist, and 8000_0022H, APM
 * Vol. 3, appendix E.
 */

#define LEAF_PERFMON	0x0au
#define LEAF_CORE	0x1au
#define LEAF_PERFMON_EXT	0x23u
#define LEAF_AMD_FEATURES	0x80000001u
#define LEAF_AMD_PERFMON	0x80000022u

static const struct {
	uint32_t leaf, subleaf;
} leaves[] = {
	{ LEAF_PERFMON, 0 }, { LEAF_CORE, 0 },
	{ LEAF_PERFMON_EXT, 0 }, { LEAF_PERFMON_EXT, 1 }, { LEAF_PERFMON_EXT, 2 },
	{ LEAF_PERFMON_EXT, 3 },
	{ LEAF_AMD_FEATURES, 0 }, { LEAF_AMD_PERFMON, 0 },
};

/* The indices of AMD's leaves in leaves[]. */
#define FEATURES	6
#define PERFMON		7

#define LEAVES	(sizeof(leaves) / sizeof(leaves[0]))

/* EAX, EBX, ECX and EDX of each leaf. They are zero if the processor lacks the leaf. */
struct cpuid {
	uint32_t reg[LEAVES][4];
};

/* The EBX of "HygonGenuine". */
#define SIGNATURE_HYGON	0x6f677948u

bool is_amd(void)
{
	uint32_t a, b, c, d;

	return __get_cpuid(0, &a, &b, &c, &d) &&
	       (b == signature_AMD_ebx || b == SIGNATURE_HYGON);
}

static void get_cpuid(struct cpuid *cpuid)
{
	/* In clang's header before version 15, __get_cpuid_max() returns an int. */
	uint32_t most = (uint32_t)__get_cpuid_max(0, NULL);
	uint32_t most_extended = is_amd() ? (uint32_t)__get_cpuid_max(0x80000000u, NULL) : 0;
	size_t i;

	memset(cpuid, 0, sizeof(*cpuid));
	for (i = 0; i < LEAVES; i++) {
		uint32_t *r = cpuid->reg[i];

		if (leaves[i].leaf <= (leaves[i].leaf < 0x80000000u ? most : most_extended))
			__cpuid_count(leaves[i].leaf, leaves[i].subleaf, r[0], r[1], r[2], r[3]);
	}
}

/*
 * Reads the leaves of the next CPU from *cpu on, among those where perfex may run. Returns false if
 * there is none.
 */
static bool next_cpuid(const cpu_set_t *allowed, unsigned int *cpu, struct cpuid *cpuid)
{
	cpu_set_t one;

	for (; *cpu < CPU_SETSIZE; (*cpu)++) {
		if (!CPU_ISSET(*cpu, allowed))
			continue;
		CPU_ZERO(&one);
		CPU_SET(*cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			continue;
		get_cpuid(cpuid);
		return true;
	}
	return false;
}

static void print_one_cpuid(const struct cpuid *cpuid)
{
	size_t i;

	for (i = 0; i < LEAVES; i++) {
		const uint32_t *r = cpuid->reg[i];

		if (!(r[0] | r[1] | r[2] | r[3]))
			continue;
		printf("  %02XH.%u%-18s %08x %08x %08x %08x\n", leaves[i].leaf, leaves[i].subleaf, "",
		       r[0], r[1], r[2], r[3]);
	}
}

/* Consecutive CPUs with equal leaves are printed once. */
void print_cpuid(void)
{
	struct cpuid cpuid, last;
	cpu_set_t allowed;
	unsigned int cpu;
	bool first = true;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	printf("\nCPUID leaf, EAX, EBX, ECX, EDX:\n");
	for (cpu = 0; next_cpuid(&allowed, &cpu, &cpuid); cpu++) {
		if (!first && !memcmp(&cpuid, &last, sizeof(cpuid)))
			continue;
		printf("  from CPU %u on\n", cpu);
		print_one_cpuid(&cpuid);
		last = cpuid;
		first = false;
	}
	(void)sched_setaffinity(0, sizeof(allowed), &allowed);
}

/* The following functions find what CPUID promises and the module does not use. */

/* The events in the order of CPUID 0AH's EBX, and of perfctr_info.events. */
static const char *const arch_events[] = {
	"cycles", "instructions", "bus-cycles", "cache-references", "cache-misses", "branches",
	"branch-misses",
};

#define ARCH_EVENTS	(sizeof(arch_events) / sizeof(arch_events[0]))

/*
 * Since family 15h, AMD's processors have six counters, or as many as the leaf says; RDPMC can name
 * six. Older processors have four, which CPUID does not mention. These four are promised only if
 * the module uses counters.
 */
#define AMD_CTRS_OLD	0xfu
#define AMD_CTRS	6u
#define AMD_PERFCTR_CORE	(1u << 23)

static uint64_t amd_counters(const struct cpuid *cpuid, bool some)
{
	uint32_t n = AMD_CTRS;

	if (!(cpuid->reg[FEATURES][2] & AMD_PERFCTR_CORE))
		return some ? AMD_CTRS_OLD : 0;
	if (cpuid->reg[PERFMON][0] & 1)
		n = cpuid->reg[PERFMON][1] & 0xf;
	return (1u << (n < AMD_CTRS ? n : AMD_CTRS)) - 1;
}

/*
 * Intel's counters that the module does not use. Microcode needs counter 3 for an erratum of
 * transactions, unless all transactions are aborted (CPUID 07H, EDX). Fixed counter 3 counts slots,
 * which are only used for TopDown's metrics.
 */
#define LEAF_TSX	7u
#define RTM_ALWAYS_ABORT	(1u << 11)
#define TSX_FORCE_ABORT	(1u << 13)
#define MICROCODES	(UINT64_C(1) << 3)
#define SLOTS		(UINT64_C(1) << (X86_FIXED + 3))
#define KNOWN_FIXED	4u

static uint64_t left_alone(uint64_t counters, const struct perfctr_info *info)
{
	uint64_t left = 0;
	uint32_t a, b, c, d;

	if (is_amd())
		return 0;
	if (counters & MICROCODES && __get_cpuid_count(LEAF_TSX, 0, &a, &b, &c, &d) &&
	    d & TSX_FORCE_ABORT && !(d & RTM_ALWAYS_ABORT))
		left |= MICROCODES;
	if (counters & SLOTS && !(info->cpu_features & PERFCTR_FEATURE_TOPDOWN))
		left |= SLOTS;
	return left;
}

/* Finds the counters and events that all CPUs have. @some is true if the module uses counters. */
static bool get_promises(uint64_t *counters, uint32_t *events, bool some)
{
	struct cpuid cpuid;
	cpu_set_t allowed;
	unsigned int cpu;

	*counters = ~UINT64_C(0);
	*events = (1u << ARCH_EVENTS) - 1;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return false;
	for (cpu = 0; next_cpuid(&allowed, &cpu, &cpuid); cpu++) {
		const uint32_t *r = cpuid.reg[0];
		uint32_t version = r[0] & 0xff, general = r[0] >> 8 & 0xff, length = r[0] >> 24;
		uint32_t fixed = version > 1 ? r[3] & 0x1f : 0;

		if (is_amd()) {
			*counters &= amd_counters(&cpuid, some);
			*events = 0;
			continue;
		}
		if (!version || !general) {
			*counters = 0;
			*events = 0;
			continue;
		}
		/*
		 * Count only the first eight registers, as later registers are elsewhere. Further
		 * fixed counters vary.
		 */
		if (fixed > KNOWN_FIXED)
			fixed = KNOWN_FIXED;
		*counters &= (general < 8 ? (1u << general) - 1 : 0xff) |
			     (uint64_t)((1u << fixed) - 1) << X86_FIXED;
		*events &= (length < 32 ? (1u << length) - 1 : ~0u) & ~r[1];
	}
	(void)sched_setaffinity(0, sizeof(allowed), &allowed);
	return true;
}

void print_left_alone(const struct perfctr_info *info)
{
	uint64_t counters, left;
	uint32_t events;

	if (!info->counters || !get_promises(&counters, &events, true))
		return;
	left = left_alone(counters, info) & ~info->counters;
	if (left & MICROCODES)
		printf("left_alone\t\tcounter 3, to microcode: it needs that for transactions (TSX force abort)\n");
	if (left & SLOTS)
		printf("left_alone\t\tfixed counter 3: it counts slots, and TopDown's metrics are not there\n");
}

void check_promises(const struct machine *m)
{
	uint64_t counters, unused;
	uint32_t events, i;

	if (m->firmware)
		deviates("the firmware keeps counters, so 0 are left to count with");
	if (!get_promises(&counters, &events, m->info->counters)) {
		not_made("%s", strerror(errno));
		return;
	}
	if (!counters) {
		not_made("CPUID promises no counters");
		return;
	}
	if (!m->info->counters) {
		const char *why = why_no_driver(m->info);

		deviates("0 of the counters 0x%" PRIx64 " are used: %s", counters,
			 why ? why : "the module does not say why");
		return;
	}
	counters &= ~left_alone(counters, m->info);
	unused = counters & ~m->info->counters;
	tell("counters 0x%" PRIx64 " are promised, and 0x%llx used", counters, m->info->counters);
	if (unused)
		deviates("counters 0x%" PRIx64 " that CPUID promises are not used: they did not count a known loop right as the module was loaded",
			 unused);
	for (i = 0; i < ARCH_EVENTS; i++)
		if (events & ~m->info->events[0] & 1u << i)
			deviates("event %u, %s, that CPUID promises is not used: it counted a known loop wrong as the module was loaded",
				 i, arch_events[i]);
}

#endif /* IS_X86 */
