// SPDX-License-Identifier: GPL-2.0
/* Names of events of x86's processors. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#include "run.h"
#include "test_events.h"

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

void test_events_x86(TCase *tc)
{
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
}
