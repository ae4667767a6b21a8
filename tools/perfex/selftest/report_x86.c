// SPDX-License-Identifier: GPL-2.0
/* What the self test says of x86: CPUID, what the module logged, and checks of its own. */
#include "base/perfex.h"
#include "count/explain.h"
#include "selftest/checks.h"
#include "selftest/loop.h"

#if IS_X86

#include <cpuid.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

/*
 * CPUID: of performance monitoring (0AH, 23H) and of the core's type (1AH): SDM Vol. 2A, CPUID. AMD's
 * has 8000_0001H, which says in ECX which counters there are, and 8000_0022H: APM Vol. 3, appendix E
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

/* Of these, AMD's */
#define FEATURES	6
#define PERFMON		7

#define LEAVES	(sizeof(leaves) / sizeof(leaves[0]))

/* EAX, EBX, ECX, EDX of each; zero where the processor has no such leaf */
struct cpuid {
	uint32_t reg[LEAVES][4];
};

/* "Hygo", of HygonGenuine */
#define SIGNATURE_HYGON	0x6f677948u

static bool is_amd(void)
{
	uint32_t a, b, c, d;

	return __get_cpuid(0, &a, &b, &c, &d) &&
	       (b == signature_AMD_ebx || b == SIGNATURE_HYGON);
}

static void get_cpuid(struct cpuid *cpuid)
{
	/* An int in clang's header until 15 */
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

/* Of each CPU where we may run: what it says, with its number; 0: there are no more */
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

/* CPUs one after the other that say the same are told of together. */
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

/*
 * What CPUID promises and the module does not use
 */

/* In the order of CPUID 0AH's EBX, and of perfctr_info.events */
static const char *const arch_events[] = {
	"cycles", "instructions", "bus-cycles", "cache-references", "cache-misses", "branches",
	"branch-misses",
};

#define ARCH_EVENTS	(sizeof(arch_events) / sizeof(arch_events[0]))

/*
 * AMD's: six since family 15h, or so many as the leaf says; RDPMC has names for six. Before, four,
 * of which CPUID says nothing, so that nobody promised them where there are none.
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
 * Intel's that the module leaves alone. Counter 3 is microcode's, where transactions need it for an
 * erratum and are not aborted at once (CPUID 07H, EDX). Fixed counter 3 counts slots, of which
 * TopDown's metrics are shares.
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

/* Counters as perfctr_info.counters has them, and events; of all CPUs. @some: some are used. */
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
		/* More than eight have their registers elsewhere; what more fixed ones count varies. */
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

/*
 * What the module logged
 */

/* Of klogctl() */
#define SYSLOG_READ_ALL		3
#define SYSLOG_SIZE_BUFFER	10

#define COST	"perfctr: cost "
#define HELD	"perfctr: at load"
#define STANDS	"perfctr: GLOBAL_CTRL=0: "
#define WRONG	"counts a known loop wrong"
#define ELSE	"somebody else writes"
#define FIRMWARE	"the firmware counts"

/* The kernel's log, or NULL */
static char *read_log(void)
{
	int size = klogctl(SYSLOG_SIZE_BUFFER, NULL, 0), n;
	char *log;

	if (size < 0)
		return NULL;
	log = malloc((size_t)size + 1);
	if (!log)
		return NULL;
	n = klogctl(SYSLOG_READ_ALL, log, size);
	if (n < 0) {
		free(log);
		return NULL;
	}
	log[n] = '\0';
	return log;
}

/* The module may have measured at each of several loads: the last one's first line counts. */
static const char *last_costs(const char *log)
{
	const char *found, *start = NULL;

	for (found = strstr(log, COST); found; found = strstr(found + 1, COST))
		if (!strncmp(found, COST "of RDTSC:", strlen(COST "of RDTSC:")) ||
		    !strncmp(found, COST "not", strlen(COST "not")))
			start = found;
	return start;
}

void print_costs(void)
{
	char *log = read_log();
	const char *line = log ? last_costs(log) : NULL;

	printf("\nWhat instructions cost, in cycles of the clock:\n");
	if (!log)
		printf("  unknown: the kernel's log cannot be read (%s). Try as root\n",
		       strerror(errno));
	else if (!line)
		printf("  not measured. To do so, as root: rmmod perfctr; modprobe perfctr measure=1\n"
		       "  dmesg has it then, and so has perfex selftest\n");
	for (; line; line = strstr(line + 1, COST))
		printf("  %.*s\n", (int)strcspn(line, "\n") - (int)strlen("perfctr: "),
		       line + strlen("perfctr: "));
	free(log);
}

/* All lines that have the words, from there on; returns how many. */
static unsigned int tell_lines(const char *log, const char *words)
{
	const char *found, *line;
	unsigned int n = 0;

	for (found = strstr(log, words); found; found = strstr(found + 1, words), n++) {
		for (line = found; line > log && line[-1] != '\n' && line[-1] != ']'; line--)
			;
		line += strspn(line, " ");
		if (!strncmp(line, "perfctr: ", strlen("perfctr: ")))
			line += strlen("perfctr: ");
		tell("%.*s", (int)strcspn(line, "\n"), line);
	}
	return n;
}

/* Of the last load that measured */
static void tell_measured(const char *log)
{
	const char *found, *last = NULL;
	uint64_t beyond;

	for (found = strstr(log, HELD ", "); found; found = strstr(found + 1, HELD ", "))
		last = found;
	if (!last) {
		not_made("the module was not loaded with measure=1, or others had the counters then");
		return;
	}
	tell_lines(last, HELD);
	found = strstr(last, STANDS);
	if (!found)
		return;
	beyond = strtoull(found + strlen(STANDS), NULL, 10);
	tell("GLOBAL_CTRL=0: %" PRIu64 " instructions counted after it", beyond);
	if (beyond)
		deviates("after GLOBAL_CTRL was zeroed a counter counted %" PRIu64 " instructions",
			 beyond);
}

void check_load(const struct machine *m)
{
	char *log = read_log();
	unsigned int n;

	(void)m;
	if (!log) {
		not_made("the kernel's log cannot be read (%s). Try as root", strerror(errno));
		return;
	}
	tell_lines(log, WRONG);
	tell_lines(log, FIRMWARE);
	n = tell_lines(log, ELSE);
	if (n)
		deviates("somebody else wrote to counters' registers, %u times", n);
	tell_measured(log);
	free(log);
}

/*
 * What a read costs in user mode
 */

#define BATCH	16u
#define ROUNDS	100u
/* A hypervisor that emulates it needs thousands, a processor some dozens. */
#define TRAPPED	500u

static uint64_t tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a" (low), "=d" (high));
	return (uint64_t)high << 32 | low;
}

static inline __attribute__((always_inline)) uint64_t fastest(uint32_t operand, bool reads,
							      bool fenced)
{
	uint64_t least = UINT64_MAX, cycles;
	unsigned int round, i;
	uint32_t low, high;

	for (round = 0; round < ROUNDS; round++) {
		cycles = tsc();
		for (i = 0; i < BATCH; i++) {
			if (fenced)
				__asm__ volatile("lfence" : : : "memory");
			if (reads)
				__asm__ volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (operand));
			else
				__asm__ volatile("");
		}
		cycles = tsc() - cycles;
		least = cycles < least ? cycles : least;
	}
	return least;
}

static uint64_t each(uint64_t cycles, uint64_t empty)
{
	return cycles > empty ? (cycles - empty + BATCH / 2) / BATCH : 0;
}

static void tell_read_cost(uint32_t operand)
{
	uint64_t empty = fastest(operand, false, false);
	uint64_t plain = each(fastest(operand, true, false), empty);
	uint32_t a, b, c, d;

	if (__get_cpuid(1, &a, &b, &c, &d) && d & bit_SSE2)
		tell("RDPMC: %" PRIu64 " cycles of the clock, with LFENCE before it %" PRIu64,
		     plain, each(fastest(operand, true, true), empty));
	else
		tell("RDPMC: %" PRIu64 " cycles of the clock", plain);
	if (plain > TRAPPED)
		deviates("RDPMC in user mode takes %" PRIu64 " cycles, so it is trapped and emulated",
			 plain);
}

void check_read_cost(const struct machine *m)
{
	struct perfctr_control control = { PERFCTR_CONTROL_INIT, .nractrs = 1 };
	struct vperfctr *v = vperfctr_open();
	const struct perfctr_page *page;

	(void)perfctr_event_parse(m->info->cpu_type, "instructions:u", &control.ctr[0]);
	if (!v || vperfctr_control_native(v, &control) < 0) {
		not_made("%s", strerror(errno));
	} else {
		page = vperfctr_page(v);
		if (page->slot[0].owner)
			tell_read_cost(page->operand[0]);
		else
			not_made("the module lets no register be read here");
	}
	if (v) {
		(void)vperfctr_unlink(v);
		vperfctr_close(v);
	}
}

/*
 * Reference cycles: the clock's, of a core that is not halted. SDM Vol. 3B, "Fixed-function
 * Performance Counters"
 */

#define REF_CYCLES_FIXED	(X86_FIXED + 2)
#define REF_CYCLES		0x300u
#define AMD_REF_CYCLES	0x100000120u
#define BUS_CYCLES		0x13cu

static uint64_t spun;	/* ticks of the clock */

static void timed_spin(unsigned long turns)
{
	uint64_t start = tsc();

	spin(turns);
	spun = tsc() - start;
}

/*
 * Per tick of the clock. Interrupts, and hypervisors that run something else meanwhile, make it less,
 * so the most of some runs is taken, and after less than the expected number some more are made.
 */
static double per_tick(const struct counting *c, double expected)
{
	uint64_t few[PERFCTR_MAX_CTRS], many[PERFCTR_MAX_CTRS], few_spun;
	double most = 0, ratio;
	unsigned int run;

	for (run = 0; run < 10 || (run < 50 && most < 0.99 * expected); run++) {
		if (run >= 10)
			nap(20);
		if (!count(c, timed_spin, SHORT, few))
			return 0;
		few_spun = spun;
		if (!count(c, timed_spin, LONG, many) || spun == few_spun)
			return 0;
		ratio = (double)(many[0] - few[0]) / (double)(spun - few_spun);
		most = ratio > most ? ratio : most;
	}
	return most;
}

void check_ref_cycles(const struct machine *m)
{
	struct perfctr_ctr_control ctr = {
		.map = REF_CYCLES_FIXED, .event = REF_CYCLES, .flags = PERFCTR_CTR_USER,
	};
	struct counting c;
	double ratio;

	/* Of Zen 4 any counter counts cycles at the clock's frequency: Linux, amd/core.c. */
	if (m->info->cpu_type == PERFCTR_X86_AMD_ZEN4) {
		ctr.map = PERFCTR_MAP_ANY;
		ctr.event = AMD_REF_CYCLES;
	} else if (!(m->info->counters >> REF_CYCLES_FIXED & 1)) {
		not_made("there is no counter of them");
		return;
	}
	if (!start(&c, PERFCTR_SOURCE_NATIVE, &ctr)) {
		not_made("%s", why_not_started(&c));
		return;
	}
	ratio = per_tick(&c, 1);
	stop(&c);
	tell("reference cycles: %.3f in each tick", ratio);
	if (ratio < 0.99 || ratio > 1.01)
		deviates("there are %.3f reference cycles in each tick of the clock, and not one",
			 ratio);
	if (ctr.map == PERFCTR_MAP_ANY)
		return;
	ctr.map = PERFCTR_MAP_ANY;
	ctr.event = BUS_CYCLES;
	if (!start(&c, PERFCTR_SOURCE_NATIVE, &ctr))
		return;
	tell("bus cycles, another event: %.3f in each tick", per_tick(&c, 0));
	stop(&c);
}

/*
 * Events that only some counters count
 */

/* Of several models: which counters can count them is the module's table. */
static const uint32_t of_intel[] = {
	0x0010, 0x0011, 0x0012, 0x0013, 0x0014, 0x0018, 0x0019, 0x0040, 0x0048, 0x0060, 0x01a3,
	0x01c0, 0x01d0, 0x01d1,
};

/* Of family 15h's units, and of the northbridge (0xe9) */
static const uint32_t of_amd[] = {
	0x0000, 0x0003, 0x000b, 0x0023, 0x002d, 0x002e, 0x0043, 0x0060, 0x008f, 0x00d0, 0x00d6,
	0x00e9,
};

static void stir(unsigned long n)
{
	static volatile unsigned char bytes[65536];
	size_t i;

	for (; n; n--)
		for (i = 0; i < sizeof(bytes); i += 64)
			bytes[i]++;
}

static void try_constrained(const struct perfctr_ctr_control *ctr, uint64_t possible)
{
	uint64_t counts[PERFCTR_MAX_CTRS];
	struct counting c;

	if (!start(&c, PERFCTR_SOURCE_NATIVE, ctr) || !count(&c, stir, 100, counts))
		tell("event 0x%llx: counters 0x%" PRIx64 ", not counted", ctr->event, possible);
	else
		tell("event 0x%llx: counters 0x%" PRIx64 " alone can count it, and counted %s",
		     ctr->event, possible, counts[0] ? "some" : "0");
	stop(&c);
}

/* Those that alone can count it; 0: all can, or it is refused for what start() says */
static uint64_t find_possible(const struct machine *m, struct perfctr_ctr_control *ctr,
			      struct counting *c)
{
	unsigned int last = X86_FIXED - 1;
	uint32_t tried[2];
	size_t i;

	while (last && !(m->info->counters >> last & 1))
		last--;
	/* No set of counters that is known leaves out another than the first or the last. */
	tried[0] = 0;
	tried[1] = last;
	for (i = 0; i < 2; i++) {
		ctr->map = tried[i];
		if (start(c, PERFCTR_SOURCE_NATIVE, ctr))
			stop(c);
		else
			return c->control.reason == PERFCTR_REASON_COUNTER ?
			       c->control.possible : 0;
	}
	return 0;
}

/* Intel's of family 6: other processors' event selects do not mean that. */
static bool has_intels_events(const struct perfctr_info *info)
{
	switch (info->own_cpu_type) {
	case PERFCTR_X86_INTEL_P6: case PERFCTR_X86_INTEL_PII: case PERFCTR_X86_INTEL_PIII:
	case PERFCTR_X86_INTEL_PENTM: case PERFCTR_X86_INTEL_CORE: case PERFCTR_X86_INTEL_CORE2:
	case PERFCTR_X86_INTEL_ATOM: case PERFCTR_X86_INTEL_NHLM: case PERFCTR_X86_INTEL_WSTMR:
	case PERFCTR_X86_INTEL_ARCH:
		return true;
	default:
		return false;
	}
}

void check_constraints(const struct machine *m)
{
	const size_t tried = is_amd() ? sizeof(of_amd) / sizeof(of_amd[0]) :
					sizeof(of_intel) / sizeof(of_intel[0]);
	const uint32_t *events = is_amd() ? of_amd : of_intel;
	unsigned int found = 0, refused = 0, reason = PERFCTR_REASON_NONE;
	uint64_t possible;
	size_t i;

	if (!is_amd() && !has_intels_events(m->info)) {
		not_made("no such event of this processor is known");
		return;
	}
	for (i = 0; i < tried; i++) {
		struct perfctr_ctr_control ctr = {
			.event = events[i], .flags = PERFCTR_CTR_USER,
		};
		struct counting c;

		possible = find_possible(m, &ctr, &c);
		if (possible) {
			found++;
			ctr.map = PERFCTR_MAP_ANY;
			try_constrained(&ctr, possible);
		} else if (c.error) {
			refused++;
			reason = c.control.reason;
		}
	}
	tell("of %zu events %u can be counted by some counters only, %u are refused%s%s", tried,
	     found, refused, reason ? ": " : "", reason ? perfctr_reason_name(reason) : "");
}

/*
 * Hyperthreads that spoil each other's counts: Sandy Bridge (BJ122), Ivy Bridge (BV98), Haswell
 * (HSD29)
 */

static bool has_erratum(void)
{
	uint32_t a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (a >> 8 & 0xf) != 6)
		return false;
	switch ((a >> 4 & 0xf) | (a >> 12 & 0xf0)) {
	case 42: case 45: case 58: case 60: case 62: case 63: case 69: case 70:
		return true;
	default:
		return false;
	}
}

void check_hyperthreads(const struct machine *m)
{
	static const uint32_t events[] = { 0x81d0, 0x01d1, 0x01d2, 0x01d3 };
	unsigned int refused = 0;
	struct counting c;
	size_t i;

	if (is_amd()) {
		not_made("no such event of AMD's processors is known");
		return;
	}
	if (!has_intels_events(m->info)) {
		not_made("no such event of this processor is known");
		return;
	}
	for (i = 0; i < 4; i++) {
		const struct perfctr_ctr_control ctr = {
			.map = PERFCTR_MAP_ANY, .event = events[i], .flags = PERFCTR_CTR_USER,
		};

		if (start(&c, PERFCTR_SOURCE_NATIVE, &ctr))
			stop(&c);
		else
			refused++;
	}
	if (refused)
		tell("%u of 4 events 0xd0 to 0xd3 are refused: %s", refused,
		     c.control.reason ? perfctr_reason_name(c.control.reason) : strerror(c.error));
	else
		tell("events 0xd0 to 0xd3 are counted");
	if (refused < 4 && has_erratum())
		deviates("%zu of 4 events that spoil the counts of the other hyperthread are not refused",
			 4 - (size_t)refused);
}

#endif /* IS_X86 */
