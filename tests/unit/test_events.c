// SPDX-License-Identifier: GPL-2.0
/* Event names: parsed, written, near ones found. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#include "run.h"

#define HW(code)	(code)
#define CACHE(cache, op, result)	(0x10000u | (cache) << 3 | (op) << 1 | (result))

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

/* Where the module has no driver: perf's numbers, the same on every processor */
#define PERF_CACHE(cache, op, result)					\
	(PERF_COUNT_HW_CACHE_ ## cache | PERF_COUNT_HW_CACHE_OP_ ## op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_ ## result << 16)

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

static int is_p4(unsigned int cpu_type)
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

/* The Pentium's: the first counter's event names it, and Cyrix's event 400h is no slot of TopDown. */
START_TEST(test_p5)
{
	struct perfctr_info info = { .cpu_type = PERFCTR_X86_CYRIX_MII, .counters = 3 };
	struct perfctr_ctr_control ctr;
	unsigned int there;
	char name[80];

	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_INTEL_P5MMX, "cycles:u", &ctr), 0);
	ck_assert_uint_eq(ctr.event, 0x30);
	ck_assert_uint_eq(ctr.map, 0);
	perfctr_event_format(PERFCTR_X86_INTEL_P5MMX, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "cycles:u");
	ctr.map = PERFCTR_MAP_ANY;
	perfctr_event_format(PERFCTR_X86_INTEL_P5MMX, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "cycles:u");
	ctr.map = 1;
	perfctr_event_format(PERFCTR_X86_INTEL_P5MMX, &ctr, name, sizeof(name));
	ck_assert_str_ne(name, "cycles:u");
	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_INTEL_P5MMX, "instructions", &ctr), 0);
	ck_assert_uint_eq(ctr.map, PERFCTR_MAP_ANY);
	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_INTEL_P5, "cycles", &ctr), -1);
	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_CYRIX_MII, "r400", &ctr), 0);
	ck_assert_uint_eq(perfctr_event_demand(&info, &ctr, 1, &there), 1);
	ck_assert_uint_eq(there, 2);
}
END_TEST

#if defined(__x86_64__) || defined(__i386__)
#define P4_NAME(name, raw)	name
#else
#define P4_NAME(name, raw)	raw	/* 2.6's tables are x86's alone. */
#endif

/*
 * A Pentium 4's: block, ESCR select; ESCR event and mask; replay tags. Intel's Software Developer's
 * Manual, volume 3, lists of ESCRs and of events, and replay tagging
 */
static const struct {
	unsigned long cpu_type;
	const char *spec;
	unsigned long long event, config, config1, config2;
	unsigned long map;
	const char *written;	/* NULL: spec */
} p4s[] = {
	{ PERFCTR_X86_INTEL_P4, "cycles", 0x10000c000, 0x26000200, 0, 0, PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4M2, "cpu-cycles:u", 0x10000c000, 0x26000200, 0, 0, PERFCTR_MAP_ANY,
	  "cycles:u" },
	{ PERFCTR_X86_INTEL_P4M3, "instructions", 0x400008000, 0x04000600, 0, 0, PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4M3, "branches:k", 0x40000a000, 0x0c001e00, 0, 0, PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4, "branch-misses", 0x400008000, 0x06000200, 0, 0, PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4, "cache-misses", 0x10000e000, 0x180e0000, 0, 0, PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4, "iTLB-misses", 0x100006000, 0x30000400, 0, 0, PERFCTR_MAP_ANY,
	  "iTLB-load-misses" },
	{ PERFCTR_X86_INTEL_P4M3, "dTLB-load-misses", 0x40000a000, 0x12000200, 0x1000004, 1,
	  PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4M3, "dTLB-store-misses", 0x40000a000, 0x12000200, 0x1000004, 2,
	  PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4M3, "r400008000/4000200:u", 0x400008000, 0x04000200, 0, 0,
	  PERFCTR_MAP_ANY, P4_NAME("instr_retired:NBOGUSNTAG:u", "r400008000/4000200:u") },
	/* With a threshold, which no name says; an event of the first counter's CCCR that there is not */
	{ PERFCTR_X86_INTEL_P4, "r400148000/4000200", 0x400148000, 0x04000200, 0, 0, PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4, "r100008000/7e000200", 0x100008000, 0x7e000200, 0, 0, PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4, "r40000a000/12000200/1000008/1", 0x40000a000, 0x12000200, 0x1000008, 1,
	  PERFCTR_MAP_ANY, NULL },
	/* A whole CCCR */
	{ PERFCTR_X86_INTEL_P4, "r40003b000/c001e0c", 0x40003b000, 0x0c001e0c, 0, 0, PERFCTR_MAP_ANY,
	  "branches" },
#if defined(__x86_64__) || defined(__i386__)
	{ PERFCTR_X86_INTEL_P4, "instr_retired:NBOGUSNTAG:BOGUSTAG:uk", 0x400008000, 0x04001200, 0, 0,
	  PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4M2, "INSTR_RETIRED:bogusntag", 0x400008000, 0x04000800, 0, 0,
	  PERFCTR_MAP_ANY, "instr_retired:BOGUSNTAG" },
	{ PERFCTR_X86_INTEL_P4M3, "instr_completed:NBOGUS", 0x400008000, 0x0e000200, 0, 0,
	  PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4M3, "instr_completed:u", 0x400008000, 0x0e000600, 0, 0, PERFCTR_MAP_ANY,
	  NULL },
	/* The MS's block, and FLAME's */
	{ PERFCTR_X86_INTEL_P4, "retired_branch_type:CONDITIONAL", 0x200004000, 0x08000400, 0, 0,
	  PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4, "x87_FP_uop", 0x300002000, 0x09000000, 0, 0, PERFCTR_MAP_ANY, NULL },
	/* One half of the block has that event */
	{ PERFCTR_X86_INTEL_P4, "BSQ_active_entries:REQ_TYPE0", 0x10000e000, 0x0c000200, 0, 0, 2, NULL },
	{ PERFCTR_X86_INTEL_P4, "BSQ_allocation:REQ_TYPE0", 0x10000e000, 0x0a000200, 0, 0, 0, NULL },
	{ PERFCTR_X86_INTEL_P4, "replay_event:NBOGUS:BOGUS", 0x40000a000, 0x12000600, 0, 0,
	  PERFCTR_MAP_ANY, "replay_event" },
	{ PERFCTR_X86_INTEL_P4, "replay_event:NBOGUS:DTLB_ALL_MISS", 0x40000a000, 0x12000200, 0x1000004, 3,
	  PERFCTR_MAP_ANY, NULL },
	{ PERFCTR_X86_INTEL_P4, "replay_event:SP_ST_RET:BOGUS", 0x40000a000, 0x12000400, 0x1000400, 2,
	  PERFCTR_MAP_ANY, "replay_event:BOGUS:SP_ST_RET" },
	{ PERFCTR_X86_INTEL_P4, "replay_event:NBOGUS:L1_LD_MISS", 0x40000a000, 0x12000200, 0x1000001, 1,
	  PERFCTR_MAP_ANY, "L1-dcache-load-misses" },
#endif
};

START_TEST(test_p4)
{
	struct perfctr_info info = { .cpu_type = (unsigned int)p4s[_i].cpu_type, .counters = 0x3ffff };
	struct perfctr_ctr_control ctr;
	unsigned int there;
	char name[80];

	ck_assert_int_eq(perfctr_event_parse(info.cpu_type, p4s[_i].spec, &ctr), 0);
	ck_assert_uint_eq(ctr.event, p4s[_i].event);
	ck_assert_uint_eq(ctr.config, p4s[_i].config);
	ck_assert_uint_eq(ctr.config1, p4s[_i].config1);
	ck_assert_uint_eq(ctr.config2, p4s[_i].config2);
	ck_assert_uint_eq(ctr.map, p4s[_i].map);
	perfctr_event_format(info.cpu_type, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, p4s[_i].written ? p4s[_i].written : p4s[_i].spec);
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 1);
	ck_assert_uint_eq(perfctr_event_demand(&info, &ctr, 1, &there), 1);
	ck_assert_uint_eq(there, 18);
}
END_TEST

static const struct {
	unsigned long cpu_type;
	const char *spec;
	int error;
} no_olds[] = {
	{ PERFCTR_X86_INTEL_P4, "r1/2/3/4/5", ENOENT }, { PERFCTR_X86_INTEL_P4, "r1/2/3/", ENOENT },
	{ PERFCTR_X86_INTEL_P4, "r1/2/3/10000000000000000", EINVAL },
	{ PERFCTR_X86_INTEL_P5, "r1/2/3", ENOENT },
	{ PERFCTR_X86_INTEL_P4, "instr_retire", ENOENT },
	{ PERFCTR_X86_INTEL_P4M2, "instr_completed", ENOENT },
	{ PERFCTR_X86_INTEL_P4M2, "instructions:NBOGUS", EINVAL },
#if defined(__x86_64__) || defined(__i386__)
	{ PERFCTR_X86_INTEL_P4, "instr_retired:", EINVAL },
	{ PERFCTR_X86_INTEL_P4, "instr_retired::u", EINVAL },
	{ PERFCTR_X86_INTEL_P4, "instr_retired:NBOGUS", EINVAL },
	{ PERFCTR_X86_INTEL_P4, "instr_retired:NBOGUSTAG:x", EINVAL },
	{ PERFCTR_X86_INTEL_P4, "instr_retired:L1_LD_MISS", EINVAL },
	{ PERFCTR_X86_INTEL_P4, "replay_event:L1_LD_MISS:L2_LD_MISS", EINVAL },
	{ PERFCTR_X86_INTEL_P5, "FLOPS:u:k", EINVAL },
	{ PERFCTR_X86_INTEL_P5, "BUS_OWNERSHIP_LATENCY", ENOENT },
#endif
};

START_TEST(test_no_old)
{
	struct perfctr_ctr_control ctr;

	errno = 0;
	ck_assert_int_eq(perfctr_event_parse((unsigned int)no_olds[_i].cpu_type, no_olds[_i].spec, &ctr), -1);
	ck_assert_msg(errno == no_olds[_i].error, "%s: %s", no_olds[_i].spec, strerror(errno));
}
END_TEST

#if defined(__x86_64__) || defined(__i386__)
/*
 * Every event of 2.6's tables is parsed by its name, and written so, or by perf's name for it, or by the
 * first of two: uop_type and bsq_active_entries are there twice.
 */
static const struct {
	unsigned int cpu_type;
	unsigned int perfs, seconds;	/* so many by perf's, and by the first */
} tables[] = {
	{ PERFCTR_X86_INTEL_P5, 2, 0 }, { PERFCTR_X86_INTEL_P5MMX, 3, 0 }, { PERFCTR_X86_CYRIX_MII, 2, 0 },
	{ PERFCTR_X86_WINCHIP_C6, 2, 0 }, { PERFCTR_X86_WINCHIP_2, 2, 0 }, { PERFCTR_X86_VIA_C3, 2, 0 },
	{ PERFCTR_X86_INTEL_P4, 4, 2 }, { PERFCTR_X86_INTEL_P4M2, 4, 2 }, { PERFCTR_X86_INTEL_P4M3, 4, 2 },
};

START_TEST(test_tables)
{
	const struct perfctr_event_set *set, *perfs = perfctr_event_names(tables[_i].cpu_type);
	struct perfctr_ctr_control ctr, again;
	unsigned int i, k, by_perf = 0, by_first = 0;
	const struct perfctr_event *event;
	char name[128];

	for (set = perfctr_cpu_event_set(tables[_i].cpu_type); set; set = set->include) {
		for (i = 0; i < set->nevents; i++) {
			event = &set->events[i];
			ck_assert_int_eq(perfctr_event_parse(tables[_i].cpu_type, event->name, &ctr), 0);
			if (!is_p4(tables[_i].cpu_type)) {
				ck_assert_uint_eq(ctr.event, event->evntsel);
				ck_assert_uint_eq(ctr.map, event->counters_set == 3 ? PERFCTR_MAP_ANY :
							   event->counters_set - 1);
			}
			perfctr_event_format(tables[_i].cpu_type, &ctr, name, sizeof(name));
			ck_assert_int_eq(perfctr_event_parse(tables[_i].cpu_type, name, &again), 0);
			ck_assert_uint_eq(again.event, ctr.event);
			ck_assert_uint_eq(again.config, ctr.config);
			for (k = 0; k < perfs->nevents && strcmp(perfs->events[k].name, name) != 0; k++)
				;
			by_perf += k < perfs->nevents;
			if (k == perfs->nevents && strcmp(name, event->name) != 0) {
				by_first++;
				ck_assert_msg(!strcmp(name, "uops_type") || !strcmp(name, "BSQ_active_entries"),
					      "%s", name);
			}
		}
	}
	ck_assert_uint_eq(by_perf, tables[_i].perfs);
	ck_assert_uint_eq(by_first, tables[_i].seconds);
}
END_TEST
#endif

/* x86: a raw event is an event select; what the processor lacks is not available. */
START_TEST(test_x86)
{
	struct perfctr_info info = { .cpu_type = PERFCTR_X86_INTEL_ARCH };
	struct perfctr_ctr_control ctr;
	char name[80];

	ck_assert_int_eq(perfctr_event_parse(info.cpu_type, "r1c2:k", &ctr), 0);
	ck_assert_uint_eq(ctr.event, 0x1c2);
	ck_assert_uint_eq(ctr.config, 0);
	ck_assert_uint_eq(ctr.map, PERFCTR_MAP_ANY);
	ck_assert_uint_eq(ctr.flags, PERFCTR_CTR_KERNEL);
	perfctr_event_format(info.cpu_type, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "r1c2:k");
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);
	info.counters = 0xf;
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 1);

	/* With the value of its own register */
	ck_assert_int_eq(perfctr_event_parse(info.cpu_type, "R1B7/3f80400091:u", &ctr), 0);
	ck_assert_uint_eq(ctr.event, 0x1b7);
	ck_assert_uint_eq(ctr.config, 0x3f80400091);
	ck_assert_uint_eq(ctr.flags, PERFCTR_CTR_USER);
	perfctr_event_format(info.cpu_type, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "r1b7/3f80400091:u");
	ck_assert_int_eq(perfctr_event_parse(info.cpu_type, "r1b7/ffffffffffffffff", &ctr), 0);
	ck_assert_uint_eq(ctr.config, ~0ULL);
	/* Not the name that the event has without a value */
	ck_assert_int_eq(perfctr_event_parse(info.cpu_type, "rc0/1", &ctr), 0);
	perfctr_event_format(info.cpu_type, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "rc0/1");
	ctr.config = 0;
	perfctr_event_format(info.cpu_type, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "instructions");

	ck_assert_int_eq(perfctr_event_parse(info.cpu_type, "branch-misses:u", &ctr), 0);
	ck_assert_uint_eq(ctr.event, 0xc5);
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);
	info.events[0] = 1u << 6;
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 1);
	ck_assert_int_eq(perfctr_event_parse(info.cpu_type, "cpu-cycles", &ctr), 0);
	ck_assert_uint_eq(ctr.event, 0x3c);
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);
	ctr.map = 25;
	info.events[0] |= 1;
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);
	info.counters |= 1u << 25;
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 1);
	perfctr_event_format(info.cpu_type, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "cycles");
	/* Fixed counter 2 has an event of its own; elsewhere its code is the bus's cycles. */
	ck_assert_int_eq(perfctr_event_parse(info.cpu_type, "ref-cycles:u", &ctr), 0);
	ck_assert_uint_eq(ctr.event, 0x13c);
	ck_assert_uint_eq(ctr.map, 26);
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);
	info.events[0] |= 1u << 2;
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);
	info.counters |= 1u << 26;
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 1);
	info.events[0] &= ~(1ull << 2);
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);
	perfctr_event_format(info.cpu_type, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "ref-cycles:u");
	ck_assert_int_eq(perfctr_event_parse(info.cpu_type, "bus-cycles", &ctr), 0);
	ck_assert_uint_eq(ctr.event, 0x13c);
	ck_assert_uint_eq(ctr.map, PERFCTR_MAP_ANY);
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);
	info.events[0] |= 1u << 2;
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 1);
	ctr.map = 0;
	perfctr_event_format(info.cpu_type, &ctr, name, sizeof(name));
	ck_assert_str_eq(name, "bus-cycles");
	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_INTEL_PIII, "ref-cycles", &ctr), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(perfctr_event_parse(info.cpu_type, "cycles", &ctr), 0);
	ctr.map = 64;
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);
	/* A processor of which the library knows no events */
	info.cpu_type = PERFCTR_X86_AMD_ZEN4 + 1;
	ctr.map = PERFCTR_MAP_ANY;
	ck_assert_int_eq(perfctr_event_available(&info, &ctr), 0);

	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_INTEL_PIII, "cycles", &ctr), 0);
	ck_assert_uint_eq(ctr.event, 0x79);
}
END_TEST

/* perf's names on AMD's processors, by generation: Linux, arch/x86/events/amd/core.c */
static const struct {
	unsigned int cpu_type;
	const char *name;
	unsigned long long event;	/* 0: there is none */
} amds[] = {
	{ PERFCTR_X86_AMD_K8, "cycles", 0x76 }, { PERFCTR_X86_AMD_FAM10H, "instructions", 0xc0 },
	{ PERFCTR_X86_AMD_K7, "branches", 0xc2 }, { PERFCTR_X86_AMD_FAM15H, "branch-misses", 0xc3 },
	{ PERFCTR_X86_AMD_ZEN4, "cpu-cycles", 0x76 }, { PERFCTR_X86_AMD_ZEN, "branch-loads", 0xc2 },
	{ PERFCTR_X86_AMD_FAM10H, "cache-misses", 0x77e }, { PERFCTR_X86_AMD_ZEN, "cache-misses", 0x964 },
	{ PERFCTR_X86_AMD_FAM15H, "stalled-cycles-frontend", 0xd0 },
	{ PERFCTR_X86_AMD_ZEN, "stalled-cycles-frontend", 0x287 },
	{ PERFCTR_X86_AMD_ZEN2, "stalled-cycles-frontend", 0xa9 },
	{ PERFCTR_X86_AMD_ZEN4, "idle-cycles-frontend", 0xa9 },
	{ PERFCTR_X86_AMD_ZEN, "stalled-cycles-backend", 0x187 },
	{ PERFCTR_X86_AMD_ZEN2, "stalled-cycles-backend", 0 },
	{ PERFCTR_X86_AMD_ZEN2, "ref-cycles", 0 }, { PERFCTR_X86_AMD_ZEN4, "ref-cycles", 0x100000120 },
	{ PERFCTR_X86_AMD_FAM10H, "L1-dcache-load-misses", 0x141 },
	{ PERFCTR_X86_AMD_ZEN4, "l1d-read-miss", 0xc860 },
	{ PERFCTR_X86_AMD_FAM10H, "dTLB-loads", 0x40 }, { PERFCTR_X86_AMD_ZEN2, "dTLB-loads", 0xff45 },
	{ PERFCTR_X86_AMD_ZEN, "bus-cycles", 0 }, { PERFCTR_X86_AMD_ZEN, "slots", 0 },
	{ PERFCTR_X86_AMD_ZEN, "r5008001c0", 0x5008001c0 },
};

START_TEST(test_amd)
{
	struct perfctr_info info = { .cpu_type = amds[_i].cpu_type, .counters = 0x3f };
	struct perfctr_ctr_control ctr[2];
	unsigned int there;
	char name[80];
	int ret;

	ret = perfctr_event_parse(info.cpu_type, amds[_i].name, &ctr[0]);
	ck_assert_msg(ret == (amds[_i].event ? 0 : -1), "%s", amds[_i].name);
	if (ret)
		return;
	ck_assert_msg(ctr[0].event == amds[_i].event, "%s: %#llx", amds[_i].name, ctr[0].event);
	ck_assert_uint_eq(ctr[0].map, PERFCTR_MAP_ANY);
	ck_assert_int_eq(perfctr_event_available(&info, &ctr[0]), 1);
	ctr[1] = ctr[0];
	/* Event 0 with unit mask 80h is no metric of TopDown here. */
	ctr[1].event = 0x8000;
	ck_assert_uint_eq(perfctr_event_demand(&info, ctr, 2, &there), 2);
	ck_assert_uint_eq(there, 6);
	perfctr_event_format(info.cpu_type, &ctr[1], name, sizeof(name));
	ck_assert_str_eq(name, "r8000");
}
END_TEST

/* In place of the library's, which asks the processor */
static unsigned int model = PERFCTR_INTEL_NO_MODEL;

unsigned int perfctr_intel_model(void)
{
	return model;
}

/*
 * perf's cache events by model: tests/check.sh events compares the tables with Linux. What perf has another
 * event for than its own hardware event, an alias, an edge, and registers
 */
static const struct {
	unsigned int model;
	const char *name;
	unsigned long long event, value;	/* 0: there is none */
	const char *printed;
} caches[] = {
	{ 0x5e, "dTLB-load-misses:u", 0x0e08, 0, "dTLB-load-misses:u" },
	{ 0x5e, "l1d-read-miss", 0x0151, 0, "L1-dcache-load-misses" },
	{ 0x5e, "dTLB-loads", 0x81d0, 0, "L1-dcache-loads" },
	{ 0x5e, "LLC-loads:k", 0x01b7, 0x3fc0010001, "LLC-loads:k" },
	{ 0x5e, "L2-miss", 0x01b7, 0x3ffc020001, "LLC-load-misses" },
	{ 0x5e, "node-store-misses", 0x01b7, 0x1ff8000002, "node-store-misses" },
	{ 0x5e, "branch-load-misses", 0x00c5, 0, "branch-misses" },
	{ 0x5e, "branch-misses", 0x00c5, 0, "branch-misses" },
	{ 0x5e, "LLC-prefetches", 0, 0, NULL }, { 0x5e, "L1-dcache-store-misses:u", 0, 0, NULL },
	{ 0x7e, "iTLB-loads", 0, 0, NULL }, { 0x7e, "iTLB-load-misses", 0x0e85, 0, "iTLB-load-misses" },
	{ 0x1a, "branch-load-misses", 0x03e8, 0, "branch-load-misses" },
	{ 0x1a, "branch-misses", 0x00c5, 0, "branch-misses" },
	{ 0x37, "iTLB-load-misses", 0x40205, 0, "iTLB-load-misses" },
	{ 0x8f, "branch-loads", 0x04c4, 0, "branch-loads" },
	{ 0x8f, "branch-instructions", 0x00c4, 0, "branches" },
	{ 0x8f, "LLC-store-misses", 0x012a, 0x3f3fc00002, "LLC-store-misses" },
	{ 0x97, "LLC-store-misses", 0x012a, 0x3fbfc00002, "LLC-store-misses" },
	{ 0x97 | PERFCTR_INTEL_HYBRID, "dTLB-stores", 0x82d0, 0, "L1-dcache-stores" },
	{ 0x97 | PERFCTR_INTEL_HYBRID, "dTLB-store-misses", 0, 0, NULL },
	{ 0x97 | PERFCTR_INTEL_HYBRID, "branch-loads", 0, 0, NULL },
	/* Nothing is known of their caches: names that perf has on most models */
	{ 0xfe, "branch-loads", 0x00c4, 0, "branches" }, { 0xfe, "dTLB-loads", 0, 0, NULL },
};

START_TEST(test_intel_caches)
{
	struct perfctr_info info = { .cpu_type = PERFCTR_X86_INTEL_ARCH, .counters = 0xf, .events = { 0x7f } };
	struct perfctr_ctr_control ctr;
	char name[80];
	int ret;

	model = caches[_i].model;
	ret = perfctr_event_parse(info.cpu_type, caches[_i].name, &ctr);
	ck_assert_int_eq(ret, caches[_i].event ? 0 : -1);
	if (ret) {
		ck_assert_int_eq(errno, EOPNOTSUPP);
	} else {
		ck_assert_uint_eq(ctr.event, caches[_i].event);
		ck_assert_uint_eq(ctr.config, caches[_i].value);
		ck_assert_uint_eq(ctr.map, PERFCTR_MAP_ANY);
		ck_assert_int_eq(perfctr_event_available(&info, &ctr), 1);
		perfctr_event_format(info.cpu_type, &ctr, name, sizeof(name));
		ck_assert_str_eq(name, caches[_i].printed);
	}
}
END_TEST

/* Skylake's, once each, and nothing that it has not */
START_TEST(test_caches_are_listed)
{
	static const char *const wanted[] = {
		"L1-dcache-load-misses", "L1-dcache-loads", "L1-dcache-stores", "L1-icache-load-misses",
		"LLC-load-misses", "LLC-loads", "LLC-store-misses", "LLC-stores", "branch-load-misses",
		"branch-loads", "dTLB-load-misses", "dTLB-loads", "dTLB-store-misses", "dTLB-stores",
		"iTLB-load-misses", "iTLB-loads", "node-load-misses", "node-loads", "node-store-misses",
		"node-stores",
	};
	struct perfctr_event_name *more;
	unsigned int i, n = 0;
	char **near;

	model = 0x5e;
	more = perfctr_more_event_names();
	for (i = 0; more[i].name; i++) {
		if (!more[i].description || !strchr("Lbdin", more[i].name[0]) || !strchr(more[i].name, '-'))
			continue;
		ck_assert_msg(n < ARRAY_SIZE(wanted) && !strcmp(more[i].name, wanted[n]), "%s",
			      more[i].name);
		n++;
	}
	free(more);
	ck_assert_uint_eq(n, ARRAY_SIZE(wanted));
	near = perfctr_event_suggest(PERFCTR_X86_INTEL_ARCH, "dTLB-laod-misses:u", 1);
	ck_assert_ptr_nonnull(near);
	ck_assert_str_eq(near[0], "dTLB-load-misses");
	free((void *)near);
}
END_TEST

/* The model is none of these types' business. */
START_TEST(test_caches_of_others)
{
	struct perfctr_ctr_control ctr;

	model = 0x5e;
	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_AMD_ZEN, "dTLB-load-misses", &ctr), 0);
	ck_assert_uint_eq(ctr.event, 0xf045);
	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_AMD_ZEN, "LLC-loads", &ctr), -1);
	ck_assert_int_eq(errno, EOPNOTSUPP);
	ck_assert_int_eq(perfctr_event_parse(PERFCTR_RISCV_SBI, "dTLB-load-misses", &ctr), 0);
	ck_assert_uint_eq(ctr.event, CACHE(3, 0, 1));
	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_GENERIC, "dTLB-load-misses", &ctr), 0);
	ck_assert_uint_eq(ctr.event, PERF_TYPE_HW_CACHE);
	/* Types that a user may ask for name the registers: the model stays. */
	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_INTEL_NHLM, "dTLB-load-misses", &ctr), 0);
	ck_assert_uint_eq(ctr.event, 0x0e08);
	model = 0x0b;
	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_INTEL_PIII, "iTLB-load-misses", &ctr), 0);
	ck_assert_uint_eq(ctr.event, 0x0085);
	ck_assert_int_eq(perfctr_event_parse(PERFCTR_X86_INTEL_PIII, "dTLB-load-misses", &ctr), -1);
	ck_assert_int_eq(errno, EOPNOTSUPP);
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

#define ROWS(table)	((int)(sizeof(table) / sizeof((table)[0])))

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
	tcase_add_test(tc, test_p5);
	tcase_add_loop_test(tc, test_p4, 0, ROWS(p4s));
	tcase_add_loop_test(tc, test_no_old, 0, ROWS(no_olds));
#if defined(__x86_64__) || defined(__i386__)
	tcase_add_loop_test(tc, test_tables, 0, ROWS(tables));
#endif
	tcase_add_test(tc, test_x86);
	tcase_add_loop_test(tc, test_amd, 0, ROWS(amds));
	tcase_add_loop_test(tc, test_intel_caches, 0, ROWS(caches));
	tcase_add_test(tc, test_caches_are_listed);
	tcase_add_test(tc, test_caches_of_others);
	tcase_add_test(tc, test_format);
	tcase_add_loop_test(tc, test_suggest, 0, ROWS(near));
	tcase_add_test(tc, test_suggest_nothing);
	tcase_add_test(tc, test_distances);
	tcase_add_loop_test(tc, test_demand, 0, ROWS(demands));
	tcase_add_loop_test(tc, test_modifier, 0, ROWS(modifiers));
	tcase_add_test(tc, test_available);
	return run_tests("events", tc);
}
