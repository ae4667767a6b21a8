// SPDX-License-Identifier: GPL-2.0
/* Event names: parsed, written, near ones found. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#include "run.h"
#include "test_events.h"

#define HW(code)	(code)

static const struct {
	const char *name;
	unsigned int event;
	unsigned int map;
	unsigned int flags;
} good[] = {
	{ "cycles", HW(1), PERFCTR_MAP_ANY, 0 },
	{ "cpu-cycles", HW(1), PERFCTR_MAP_ANY, 0 },
	{ "instructions", HW(2), PERFCTR_MAP_ANY, 0 },
	{ "instructions:u", HW(2), PERFCTR_MAP_ANY, PERFCTR_CTR_USER },
	{ "instructions:k", HW(2), PERFCTR_MAP_ANY, PERFCTR_CTR_KERNEL },
	{ "instructions:uk", HW(2), PERFCTR_MAP_ANY, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL },
	{ "INSTRUCTIONS:ku", HW(2), PERFCTR_MAP_ANY, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL },
	{ "cache-references", HW(3), PERFCTR_MAP_ANY, 0 },
	{ "cache-misses", HW(4), PERFCTR_MAP_ANY, 0 },
	{ "branches", HW(5), PERFCTR_MAP_ANY, 0 },
	{ "branch-instructions", HW(5), PERFCTR_MAP_ANY, 0 },
	{ "branch-misses", HW(6), PERFCTR_MAP_ANY, 0 },
	{ "bus-cycles", HW(7), PERFCTR_MAP_ANY, 0 },
	{ "stalled-cycles-frontend", HW(8), PERFCTR_MAP_ANY, 0 },
	{ "idle-cycles-frontend", HW(8), PERFCTR_MAP_ANY, 0 },
	{ "stalled-cycles-backend", HW(9), PERFCTR_MAP_ANY, 0 },
	{ "ref-cycles", HW(10), PERFCTR_MAP_ANY, 0 },
	{ "cycle", HW(1), 0, 0 },
	{ "instret:uk", HW(2), 2, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL },
	{ "L1-dcache-loads", CACHE(0, 0, 0), PERFCTR_MAP_ANY, 0 },
	{ "L1-dcache-load-misses", CACHE(0, 0, 1), PERFCTR_MAP_ANY, 0 },
	{ "l1d-read-miss", CACHE(0, 0, 1), PERFCTR_MAP_ANY, 0 },
	{ "l1-d-stores", CACHE(0, 1, 0), PERFCTR_MAP_ANY, 0 },
	{ "L1-data-prefetch-misses", CACHE(0, 2, 1), PERFCTR_MAP_ANY, 0 },
	{ "L1-icache-prefetches", CACHE(1, 2, 0), PERFCTR_MAP_ANY, 0 },
	{ "LLC-stores", CACHE(2, 1, 0), PERFCTR_MAP_ANY, 0 },
	{ "L2-store-misses", CACHE(2, 1, 1), PERFCTR_MAP_ANY, 0 },
	{ "dTLB-load-misses:u", CACHE(3, 0, 1), PERFCTR_MAP_ANY, PERFCTR_CTR_USER },
	{ "dtlb-store-misses", CACHE(3, 1, 1), PERFCTR_MAP_ANY, 0 },
	{ "d-tlb-write-misses", CACHE(3, 1, 1), PERFCTR_MAP_ANY, 0 },
	{ "dTLB-misses", CACHE(3, 0, 1), PERFCTR_MAP_ANY, 0 },
	{ "dTLB-misses-load", CACHE(3, 0, 1), PERFCTR_MAP_ANY, 0 },
	{ "dTLB", CACHE(3, 0, 0), PERFCTR_MAP_ANY, 0 },
	{ "iTLB-load-misses", CACHE(4, 0, 1), PERFCTR_MAP_ANY, 0 },
	{ "Instruction-TLB-refs", CACHE(4, 0, 0), PERFCTR_MAP_ANY, 0 },
	{ "branch-loads", CACHE(5, 0, 0), PERFCTR_MAP_ANY, 0 },
	{ "btb-load-misses", CACHE(5, 0, 1), PERFCTR_MAP_ANY, 0 },
	{ "node-speculative-read", CACHE(6, 2, 0), PERFCTR_MAP_ANY, 0 },
};

START_TEST(test_good)
{
	struct perfctr_ctr_control ctr;

	ck_assert_int_eq(perfctr_event_parse(PERFCTR_RISCV_SBI, good[_i].name, &ctr), 0);
	ck_assert_uint_eq(ctr.event, good[_i].event);
	ck_assert_uint_eq(ctr.map, good[_i].map);
	ck_assert_uint_eq(ctr.flags, good[_i].flags);
	ck_assert_uint_eq(ctr.config, 0);
	ck_assert_uint_eq(ctr.reserved[0] | ctr.reserved[1] | ctr.config1 | ctr.config2, 0);
	ck_assert_int_eq(ctr.ireset, 0);
}
END_TEST

START_TEST(test_raw)
{
	struct perfctr_ctr_control ctr;

	ck_assert_int_eq(perfctr_event_parse(PERFCTR_RISCV_SBI, "r10019:u", &ctr), 0);
	ck_assert_uint_eq(ctr.event, 0x20000);
	ck_assert_uint_eq(ctr.config, 0x10019);
	ck_assert_uint_eq(ctr.map, PERFCTR_MAP_ANY);
	ck_assert_uint_eq(ctr.flags, PERFCTR_CTR_USER);

	ck_assert_int_eq(perfctr_event_parse(PERFCTR_RISCV_SBI, "rffffffffffffffff", &ctr), 0);
	ck_assert_uint_eq(ctr.config, ~0ULL);

	ck_assert_int_eq(perfctr_event_parse(PERFCTR_RISCV_SBI, "r10000000000000000", &ctr), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

static const struct {
	const char *name;
	unsigned int cpu_type;
	int error;
} bad[] = {
	{ "", PERFCTR_RISCV_SBI, ENOENT },
	{ ":u", PERFCTR_RISCV_SBI, ENOENT },
	{ "instruction", PERFCTR_RISCV_SBI, ENOENT },
	{ "r", PERFCTR_RISCV_SBI, ENOENT },
	{ "rxyz", PERFCTR_RISCV_SBI, ENOENT },
	{ "dTLB-", PERFCTR_RISCV_SBI, ENOENT },
	{ "dTLB--misses", PERFCTR_RISCV_SBI, ENOENT },
	{ "dTLB-loads-stores", PERFCTR_RISCV_SBI, ENOENT },
	{ "dTLB-load-missesx", PERFCTR_RISCV_SBI, ENOENT },
	{ "iTLB-stores", PERFCTR_RISCV_SBI, ENOENT },
	{ "L1-icache-stores", PERFCTR_RISCV_SBI, ENOENT },
	{ "nodes", PERFCTR_RISCV_SBI, ENOENT },
	{ "an-event-name-that-is-longer-than-any-that-there-is-and-then-some", PERFCTR_RISCV_SBI, ENOENT },
	{ "cycles:", PERFCTR_RISCV_SBI, EINVAL },
	{ "cycles:x", PERFCTR_RISCV_SBI, EINVAL },
	{ "cycles:u:k", PERFCTR_RISCV_SBI, EINVAL },
	{ "cache-misses", PERFCTR_RISCV_GENERIC, ENOENT },
	{ "r1", PERFCTR_RISCV_GENERIC, ENOENT },
	{ "r10019/1", PERFCTR_RISCV_SBI, ENOENT },
	{ "r1b7/", PERFCTR_X86_INTEL_ARCH, ENOENT },
	{ "r/1", PERFCTR_X86_INTEL_ARCH, ENOENT },
	{ "r1b7/1g", PERFCTR_X86_INTEL_ARCH, ENOENT },
	{ "r1b7/1/1", PERFCTR_X86_INTEL_ARCH, ENOENT },
	{ "cycles/1", PERFCTR_X86_INTEL_ARCH, ENOENT },
	{ "r1b7/10000000000000000", PERFCTR_X86_INTEL_ARCH, EINVAL },
	{ "r10000000000000000/1", PERFCTR_X86_INTEL_ARCH, EINVAL },
	{ "r1b7/1:x", PERFCTR_X86_INTEL_ARCH, EINVAL },
	{ "cycle", PERFCTR_X86_GENERIC, ENOENT },
	{ "instret", PERFCTR_ARM64_GENERIC, ENOENT },
	{ "cycles:x", PERFCTR_X86_GENERIC, EINVAL },
	{ "r10000000000000000", PERFCTR_ARM64_GENERIC, EINVAL },
	{ "r1b7/", PERFCTR_X86_GENERIC, ENOENT },
	{ "r1b7/1", PERFCTR_ARM64_GENERIC, ENOENT },
	{ "cycles", PERFCTR_X86_CYRIX_MII, ENOENT },
	{ "cycles", 0xdead, ENOENT },
};

START_TEST(test_bad)
{
	struct perfctr_ctr_control ctr;

	errno = 0;
	ck_assert_int_eq(perfctr_event_parse(bad[_i].cpu_type, bad[_i].name, &ctr), -1);
	ck_assert_int_eq(errno, bad[_i].error);
}
END_TEST

static const struct {
	const char *name;
	const char *written;
	unsigned long long config;
	unsigned int type;
	unsigned int modes;
} perfs[] = {
	{ "cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES, PERF_TYPE_HARDWARE, 0 },
	{ "cpu-cycles:u", "cycles:u", PERF_COUNT_HW_CPU_CYCLES,
	  PERF_TYPE_HARDWARE, PERFCTR_CTR_USER },
	{ "INSTRUCTIONS:k", "instructions:k", PERF_COUNT_HW_INSTRUCTIONS,
	  PERF_TYPE_HARDWARE, PERFCTR_CTR_KERNEL },
	{ "cache-references", "cache-references", PERF_COUNT_HW_CACHE_REFERENCES,
	  PERF_TYPE_HARDWARE, 0 },
	{ "cache-misses", "cache-misses", PERF_COUNT_HW_CACHE_MISSES, PERF_TYPE_HARDWARE, 0 },
	{ "branches", "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_TYPE_HARDWARE, 0 },
	{ "branch-instructions", "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	  PERF_TYPE_HARDWARE, 0 },
	{ "branch-misses:uk", "branch-misses:uk", PERF_COUNT_HW_BRANCH_MISSES,
	  PERF_TYPE_HARDWARE, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL },
	{ "bus-cycles", "bus-cycles", PERF_COUNT_HW_BUS_CYCLES, PERF_TYPE_HARDWARE, 0 },
	{ "stalled-cycles-frontend", "stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	  PERF_TYPE_HARDWARE, 0 },
	{ "idle-cycles-backend", "stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
	  PERF_TYPE_HARDWARE, 0 },
	{ "ref-cycles", "ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, PERF_TYPE_HARDWARE, 0 },
	{ "L1-dcache-loads", "L1-dcache-loads", PERF_CACHE(L1D, READ, ACCESS),
	  PERF_TYPE_HW_CACHE, 0 },
	{ "L1-icache-prefetch-misses", "L1-icache-prefetch-misses", PERF_CACHE(L1I, PREFETCH, MISS),
	  PERF_TYPE_HW_CACHE, 0 },
	{ "L2-stores", "LLC-stores", PERF_CACHE(LL, WRITE, ACCESS), PERF_TYPE_HW_CACHE, 0 },
	{ "dTLB-store-misses:u", "dTLB-store-misses:u", PERF_CACHE(DTLB, WRITE, MISS),
	  PERF_TYPE_HW_CACHE, PERFCTR_CTR_USER },
	{ "iTLB-misses", "iTLB-load-misses", PERF_CACHE(ITLB, READ, MISS), PERF_TYPE_HW_CACHE, 0 },
	{ "branch-load-misses", "branch-load-misses", PERF_CACHE(BPU, READ, MISS),
	  PERF_TYPE_HW_CACHE, 0 },
	{ "node-prefetches", "node-prefetches", PERF_CACHE(NODE, PREFETCH, ACCESS),
	  PERF_TYPE_HW_CACHE, 0 },
	{ "R4300C0:u", "r4300c0:u", 0x4300c0, PERF_TYPE_RAW, PERFCTR_CTR_USER },
	{ "rffffffffffffffff", "rffffffffffffffff", ~0ULL, PERF_TYPE_RAW, 0 },
};

START_TEST(test_perf)
{
	static const unsigned int cpu_types[] = { PERFCTR_X86_GENERIC, PERFCTR_ARM64_GENERIC };
	struct perfctr_info info = { .cpu_features = PERFCTR_FEATURE_RDTSC };
	struct perfctr_ctr_control ctr;
	char name[80];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		info.cpu_type = cpu_types[i];
		info.cpu_features = PERFCTR_FEATURE_RDTSC;
		ck_assert_int_eq(perfctr_event_parse(cpu_types[i], perfs[_i].name, &ctr), 0);
		ck_assert_uint_eq(ctr.event, perfs[_i].type);
		ck_assert_uint_eq(ctr.config, perfs[_i].config);
		ck_assert_uint_eq(ctr.flags, PERFCTR_CTR_PERF | perfs[_i].modes);
		ck_assert_uint_eq(ctr.map, PERFCTR_MAP_ANY);
		ck_assert_uint_eq(ctr.reserved[0] | ctr.reserved[1] | ctr.config1 | ctr.config2, 0);
		ck_assert_int_eq(ctr.ireset, 0);
		perfctr_event_format(cpu_types[i], &ctr, name, sizeof(name));
		ck_assert_str_eq(name, perfs[_i].written);
		/* Only perf knows which ones there are, so it depends on perf alone. */
		ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);
		info.cpu_features |= PERFCTR_FEATURE_SHARED;
		ck_assert_int_eq(perfctr_event_available(&info, &ctr), 1);
	}
	/* In the control of any processor they are perf's. */
	perfctr_event_format(PERFCTR_RISCV_SBI, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, perfs[_i].written);
	info.cpu_type = PERFCTR_X86_INTEL_ARCH;
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 1);
}
END_TEST

/* config1 and config2 are no part of a name, but for the register of a raw event. */
START_TEST(test_perf_config1)
{
	struct perfctr_ctr_control ctr;
	char name[80];

	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_GENERIC, "r12a/3f:k", &ctr), 0);
	ck_assert_uint_eq(ctr.event, PERF_TYPE_RAW);
	ck_assert_uint_eq(ctr.config, 0x12a);
	ck_assert_uint_eq(ctr.config1, 0x3f);
	perfctr_event_format(PERFCTR_X86_GENERIC, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "r12a/3f:k");
	ctr.config2 = 5;
	perfctr_event_format(PERFCTR_X86_GENERIC, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "perf event 4/0x12a/0x3f/0x5:k");
	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_GENERIC, "cycles", &ctr), 0);
	ctr.config1 = 1;
	perfctr_event_format(PERFCTR_X86_GENERIC, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "perf event 0/0x0/0x1/0x0");
	/* Of a core PMU of a hybrid processor */
	ctr.event = 10;
	ctr.config1 = 0;
	perfctr_event_format(PERFCTR_X86_INTEL_ARCH, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "perf event 10/0x0/0x0/0x0");
}
END_TEST

/* Every name that riscv's set has but for the fixed counters, and no other */
START_TEST(test_perf_names)
{
	const struct perfctr_event_set *riscv = perfctr_event_names(PERFCTR_RISCV_SBI);
	const struct perfctr_event_set *set = perfctr_event_names(PERFCTR_X86_GENERIC);
	struct perfctr_ctr_control ctr;
	unsigned int i, n = 0;
	char name[80];

	for (i = 0; i < riscv->nevents; i++) {
		int fixed = !strcmp(riscv->events[i].name, "cycle") ||
			    !strcmp(riscv->events[i].name, "instret");

		ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_GENERIC, riscv->events[i].name,
						     &ctr), fixed ? -1 : 0);
		if (fixed)
			continue;
		n++;
		perfctr_event_format(PERFCTR_X86_GENERIC, &ctr, name, sizeof(name));
		ck_assert_str_eq(name, riscv->events[i].name);
	}
	ck_assert_uint_eq(set->nevents, n);
	ck_assert_uint_eq(set->cpu_type, PERFCTR_X86_GENERIC);
	ck_assert_uint_eq(perfctr_event_names(PERFCTR_ARM64_GENERIC)->cpu_type,
			  PERFCTR_ARM64_GENERIC);
	for (i = 0; i < set->nevents; i++) {
		ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_GENERIC, set->events[i].name,
						     &ctr), 0);
		ck_assert_uint_eq(set->events[i].evntsel, ctr.event << 24 | ctr.config);
		ck_assert_ptr_nonnull(set->events[i].description);
	}
}
END_TEST

/* Every name that the set has is parsed to itself and written as itself. */
static const unsigned int types[] = {
	PERFCTR_RISCV_SBI, PERFCTR_RISCV_GENERIC,
	PERFCTR_X86_INTEL_P5, PERFCTR_X86_INTEL_P5MMX, PERFCTR_X86_CYRIX_MII,
	PERFCTR_X86_WINCHIP_C6, PERFCTR_X86_WINCHIP_2, PERFCTR_X86_VIA_C3,
	PERFCTR_X86_INTEL_P4, PERFCTR_X86_INTEL_P4M2, PERFCTR_X86_INTEL_P4M3,
	PERFCTR_X86_INTEL_P6, PERFCTR_X86_INTEL_PII, PERFCTR_X86_INTEL_PIII,
	PERFCTR_X86_INTEL_PENTM, PERFCTR_X86_INTEL_CORE, PERFCTR_X86_INTEL_CORE2,
	PERFCTR_X86_INTEL_ATOM, PERFCTR_X86_INTEL_NHLM, PERFCTR_X86_INTEL_WSTMR,
	PERFCTR_X86_INTEL_ARCH,
	PERFCTR_X86_AMD_K7, PERFCTR_X86_AMD_K8, PERFCTR_X86_AMD_K8C, PERFCTR_X86_AMD_FAM10H,
	PERFCTR_X86_AMD_FAM15H, PERFCTR_X86_AMD_ZEN, PERFCTR_X86_AMD_ZEN2, PERFCTR_X86_AMD_ZEN4,
};

#define NTYPES (sizeof(types) / sizeof(types[0]))

int is_p4(unsigned int cpu_type)
{
	return cpu_type == PERFCTR_X86_INTEL_P4 || cpu_type == PERFCTR_X86_INTEL_P4M2 ||
	       cpu_type == PERFCTR_X86_INTEL_P4M3;
}

START_TEST(test_round_trip)
{
	const struct perfctr_event_set *set = perfctr_event_names(types[_i]);
	struct perfctr_ctr_control ctr;
	char spec[80], name[80];
	unsigned int i, j;

	ck_assert_ptr_nonnull(set);
	ck_assert_uint_eq(set->cpu_type, types[_i]);
	for (i = 0; i < set->nevents; i++) {
		snprintf(spec, sizeof(spec), "%s:u", set->events[i].name);
		ck_assert_int_eq(perfctr_event_parse(types[_i], spec, &ctr), 0);
		/* AMD's events of 12 bits do not fit; a Pentium 4's are in two registers. */
		if (is_p4(types[_i]))
			ck_assert_uint_eq(ctr.config >> 25 | (ctr.event >> 13 & 7) << 8,
					  set->events[i].evntsel);
		else if (set->events[i].evntsel < 0x10000 || types[_i] >= PERFCTR_RISCV_GENERIC)
			ck_assert_uint_eq(ctr.event, set->events[i].evntsel);
		perfctr_event_format(types[_i], &ctr, name, sizeof(name));
		ck_assert_str_eq(name, spec);
		ck_assert_ptr_nonnull(set->events[i].description);
		for (j = 0; j < i; j++)
			ck_assert_str_ne(set->events[i].name, set->events[j].name);
	}
}
END_TEST

START_TEST(test_format)
{
	struct perfctr_ctr_control ctr = {
		.map = PERFCTR_MAP_ANY, .event = 0x20000, .config = 0xbeef,
		.flags = PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL,
	};
	char name[80];

	perfctr_event_format(PERFCTR_RISCV_SBI, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "rbeef:uk");
	ctr.event = 0x1ffff;
	ctr.flags = 0;
	perfctr_event_format(PERFCTR_RISCV_SBI, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "event 0x1ffff");
	/* Cut like snprintf() does */
	ck_assert_int_eq(perfctr_event_format(PERFCTR_RISCV_SBI, &ctr, name, 4), 13);
	ck_assert_str_eq(name, "eve");
}
END_TEST

static const struct {
	const char *wrong;
	const char *first;
} near[] = {
	{ "instruction", "instructions" },
	{ "insturctions:u", "instructions" },
	{ "cyles", "cycles" },
	{ "Cycels", "cycles" },
	{ "branch-mises", "branch-misses" },
	{ "dTLB-load-miss", "dTLB-load-misses" },
	{ "itlb-load-mises", "iTLB-load-misses" },
	{ "L1-dcahce-loads", "L1-dcache-loads" },
	{ "cpu-cycels", "cpu-cycles" },
	{ "tlb", "dTLB-loads" },
};

static size_t count(char **names)
{
	size_t n = 0;

	while (names && names[n])
		n++;
	return n;
}

START_TEST(test_suggest)
{
	char **names = perfctr_event_suggest(PERFCTR_RISCV_SBI, near[_i].wrong, 3);

	ck_assert_uint_ge(count(names), 1);
	ck_assert_uint_le(count(names), 3);
	ck_assert_str_eq(names[0], near[_i].first);
	free((void *)names);
}
END_TEST

START_TEST(test_suggest_nothing)
{
	char longer[200], **names;

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ck_assert_ptr_null(perfctr_event_suggest(PERFCTR_RISCV_SBI, "zzzzzzzz", 3));
	ck_assert_ptr_null(perfctr_event_suggest(PERFCTR_RISCV_SBI, "", 3));
	ck_assert_ptr_null(perfctr_event_suggest(PERFCTR_RISCV_SBI, longer, 3));
	ck_assert_ptr_null(perfctr_event_suggest(PERFCTR_RISCV_SBI, "cyles", 0));
	ck_assert_ptr_null(perfctr_event_suggest(PERFCTR_X86_CYRIX_MII, "cyles", 3));
	names = perfctr_event_suggest(PERFCTR_X86_INTEL_P4, "cyles", 3);
	ck_assert_str_eq(names[0], "cycles");
	free((void *)names);
#if defined(__x86_64__) || defined(__i386__)
	names = perfctr_event_suggest(PERFCTR_X86_INTEL_P4M3, "inst_completed:u", 3);
	ck_assert_str_eq(names[0], "instr_completed");
	free((void *)names);
	names = perfctr_event_suggest(PERFCTR_X86_INTEL_P5MMX, "bus_ownership_latncy", 3);
	ck_assert_str_eq(names[0], "BUS_OWNERSHIP_LATENCY");
	free((void *)names);
#endif
	names = perfctr_event_suggest(PERFCTR_X86_GENERIC, "cyles", 3);
	ck_assert_uint_ge(count(names), 1);
	ck_assert_str_eq(names[0], "cycles");
	free((void *)names);
	/* More of them than wanted */
	names = perfctr_event_suggest(PERFCTR_RISCV_SBI, "misses", 3);
	ck_assert_uint_eq(count(names), 3);
	free((void *)names);
}
END_TEST

/* Names of which each is one letter nearer to "abcdef": two letters swapped are one. The last is too far. */
START_TEST(test_distances)
{
	static const char *const names[] = { "axcyez", "abxydef", "abdcef", "abcdef", "xycyez" };
	static const unsigned int scores[] = { 0, 1, 2, 3 };
	struct perfctr_near near = { .max = PERFCTR_NEAR_MAX };
	size_t i;

	for (i = 0; i < 5; i++)
		perfctr_near_compare(&near, "abcdef", 6, names[i]);
	ck_assert_uint_eq(near.n, 4);
	for (i = 0; i < 4; i++) {
		ck_assert_uint_eq(near.score[i], scores[i]);
		ck_assert_str_eq(near.name[i], names[3 - i]);
	}
	/* Capitals are no other letters, neither of what was written nor of what is there already. */
	perfctr_near_compare(&near, "abcdef", 6, "ABCDEF");
	ck_assert_uint_eq(near.n, 4);
	near.n = 0;
	perfctr_near_compare(&near, "ABCDEF", 6, "abCdxF");
	ck_assert_uint_eq(near.score[0], 1);
}
END_TEST

static const struct {
	const char *spec, *modifier;
} modifiers[] = {
	{ "cycles", "" }, { "cycles:u", ":u" }, { "cycles:uk", ":uk" }, { "cycles:x", "" },
	{ "cycles:", "" }, { "", "" }, { ":u", ":u" }, { "L2_RQSTS:MISS", "" },
	{ "L2_RQSTS:MISS:k", ":k" }, { "L2_RQSTS:u=1", "" }, { "A:u:B", "" },
};

START_TEST(test_modifier)
{
	ck_assert_str_eq(perfctr_event_modifier(modifiers[_i].spec), modifiers[_i].modifier);
}
END_TEST

/* Events of a processor with two general-purpose counters, and fixed ones */
static const struct {
	unsigned int cpu_type, features;
	const char *events[5];
	unsigned int needed;
} demands[] = {
	{ PERFCTR_X86_INTEL_ARCH, 0, { "instructions", "cycles", "ref-cycles", "slots" }, 0 },
	{ PERFCTR_X86_INTEL_ARCH, 0, { "branches", "instructions", "instructions" }, 2 },
	{ PERFCTR_X86_INTEL_ARCH, 0, { "r1c0", "cycles:u", "branches", "branch-misses" }, 3 },
	{ PERFCTR_X86_INTEL_P6, 0, { "instructions", "branches" }, 2 },
	{ PERFCTR_RISCV_SBI, 0, { "cycles", "instructions", "branches" }, 1 },
	{ PERFCTR_RISCV_SBI, PERFCTR_FEATURE_FILTER, { "cycles", "instructions", "cycle", "instret" }, 2 },
	{ PERFCTR_X86_GENERIC, 0, { "cycles", "instructions", "branches" }, 0 },
};

START_TEST(test_demand)
{
	struct perfctr_info info = {
		.cpu_type = demands[_i].cpu_type,
		.cpu_features = demands[_i].features,
	};
	struct perfctr_ctr_control ctr[5];
	unsigned int n, there;

	if (info.cpu_type == PERFCTR_RISCV_SBI)
		info.counters = 0x1f;
	else
		info.counters = info.cpu_type == PERFCTR_X86_INTEL_P6 ? 3 : 3 | 0xfull << 24;
	for (n = 0; demands[_i].events[n]; n++)
		ck_assert_int_eq(perfctr_event_parse(info.cpu_type, demands[_i].events[n], &ctr[n]), 0);
	ck_assert_uint_eq(perfctr_event_demand(&info, ctr, n, &there), demands[_i].needed);
	if (demands[_i].needed)
		ck_assert_uint_eq(there, 2);
}
END_TEST

START_TEST(test_available)
{
	struct perfctr_info info = {
		.cpu_type = PERFCTR_RISCV_SBI,
		.counters = 0xf | 1 << 5,
		.events = { 1 << 1 | 1 << 2, 1ULL << 25 },
	};
	static const struct {
		const char *name;
		int available;
	} rows[] = {
		{ "cycles", 1 }, { "instructions", 1 }, { "branches", 0 },
		{ "dTLB-load-misses", 1 }, { "dTLB-loads", 0 },
		{ "cycle", 1 }, { "instret", 1 }, { "r1", 1 },
	};
	struct perfctr_ctr_control ctr;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(perfctr_event_parse(info.cpu_type, rows[i].name, &ctr), 0);
		ck_assert_msg(perfctr_event_available(&info, &ctr) == rows[i].available,
			      "%s", rows[i].name);
	}

	/* Nothing but the fixed counters, and not all of these */
	info.cpu_type = PERFCTR_RISCV_GENERIC;
	info.counters = 0x3;
	info.events[0] = 1 << 1;
	info.events[1] = 0;
	perfctr_event_parse(info.cpu_type, "cycles", &ctr);
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 1);
	perfctr_event_parse(info.cpu_type, "instructions", &ctr);
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);
	perfctr_event_parse(info.cpu_type, "cycle", &ctr);
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 1);
	perfctr_event_parse(info.cpu_type, "instret", &ctr);
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("names");

	tcase_add_loop_test(tc, test_good, 0, ROWS(good));
	tcase_add_test(tc, test_raw);
	tcase_add_loop_test(tc, test_bad, 0, ROWS(bad));
	tcase_add_loop_test(tc, test_perf, 0, ROWS(perfs));
	tcase_add_test(tc, test_perf_config1);
	tcase_add_test(tc, test_perf_names);
	tcase_add_loop_test(tc, test_round_trip, 0, NTYPES);
	test_events_x86(tc);
	tcase_add_test(tc, test_format);
	tcase_add_loop_test(tc, test_suggest, 0, ROWS(near));
	tcase_add_test(tc, test_suggest_nothing);
	tcase_add_test(tc, test_distances);
	tcase_add_loop_test(tc, test_demand, 0, ROWS(demands));
	tcase_add_loop_test(tc, test_modifier, 0, ROWS(modifiers));
	tcase_add_test(tc, test_available);
	return run_tests("events", tc);
}
