// SPDX-License-Identifier: GPL-2.0
/* The control of 2.6 made the kernel's, and back. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "run.h"

static struct vperfctr_control from, back;
static struct perfctr_control to;
static unsigned int cpu_type;	/* 0 is one whose registers are as most have them */

static void set_up(unsigned int nractrs, unsigned int nrictrs)
{
	memset(&from, 0, sizeof(from));
	memset(&to, 0xff, sizeof(to));
	memset(&back, 0xff, sizeof(back));
	from.cpu_control.nractrs = nractrs;
	from.cpu_control.nrictrs = nrictrs;
	from.cpu_control.extended = PERFCTR_EXTENDED;
	cpu_type = 0;
}

/* What a program of 2.6's sets, and nothing else: the rest is what was in memory. */
START_TEST(test_only_what_2_6_had)
{
	unsigned int i, nrictrs = _i & 1;

	set_up(1, nrictrs);
	memset(&from, 0xa5, sizeof(from));
	memset(&to, 0xff, sizeof(to));
	from.cpu_control.tsc_on = 1;
	from.cpu_control.nractrs = 1;
	from.cpu_control.nrictrs = nrictrs;
	for (i = 0; i < 1 + nrictrs; i++) {
		from.cpu_control.pmc_map[i] = i;
		from.cpu_control.evntsel[i] = 0x4100c0;
		from.cpu_control.ireset[i] = -5;
#if defined(__riscv)
		from.cpu_control.riscv.mode[i] = 0;
		from.cpu_control.riscv.event_data[i] = 0;
#elif defined(__aarch64__)
		from.cpu_control.arm64.mode[i] = 0;
		from.cpu_control.arm64.config[i] = 0;
#endif
	}
	if (nrictrs)
		from.si_signo = 12;
	if (_i & 2)
		from.flags |= VPERFCTR_CONTROL_CLOEXEC;
	else
		from.flags &= ~(unsigned int)VPERFCTR_CONTROL_CLOEXEC;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.flags, _i & 2 ? PERFCTR_CONTROL_CLOEXEC : 0);
	ck_assert_int_eq(to.si_signo, nrictrs ? 12 : 0);
	ck_assert_uint_eq(to.source, PERFCTR_SOURCE_ANY);
	for (i = 0; i < 1 + nrictrs; i++) {
		ck_assert_uint_eq(to.ctr[i].event, 0x4100c0);
		ck_assert_uint_eq(to.ctr[i].map, i);
		ck_assert_uint_eq(to.ctr[i].flags & PERFCTR_CTR_PERF, 0);
		ck_assert_uint_eq(to.ctr[i].config1 | to.ctr[i].config2, 0);
#if !defined(__powerpc__)
		ck_assert_uint_eq(to.ctr[i].config, 0);
#endif
	}
}
END_TEST

START_TEST(test_nothing)
{
	set_up(0, 0);
	from.preserve = ~0u;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.size, offsetof(struct perfctr_control, ctr));
	ck_assert_uint_eq(to.tsc_on, 0);
	ck_assert_uint_eq(to.nractrs, 0);
	ck_assert_uint_eq(to.preserve, 0);
	ck_assert_uint_eq(to.refresh | to.refused | to.owner | to.reason, 0);
}
END_TEST

/* Old programs, which leave it zero, count by any source. */
START_TEST(test_source)
{
	static const unsigned int rows[][2] = {
		{ 0, PERFCTR_SOURCE_ANY },
		{ VPERFCTR_SOURCE_ANY, PERFCTR_SOURCE_ANY },
		{ VPERFCTR_SOURCE_NATIVE, PERFCTR_SOURCE_NATIVE },
		{ VPERFCTR_SOURCE_SHARED, PERFCTR_SOURCE_SHARED },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		set_up(1, 0);
		from.source = rows[i][0];
		ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
		ck_assert_uint_eq(to.source, rows[i][1]);
		ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
		ck_assert_uint_eq(back.source, rows[i][0]);
		/* The clock has none. */
		to.nractrs = 0;
		ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
		ck_assert_uint_eq(back.source, VPERFCTR_SOURCE_ANY);
	}
	for (i = 0; i < 2; i++) {
		set_up(1, 0);
		from.source = i ? VPERFCTR_SOURCE_SHARED + 1 : ~0u;
		errno = 0;
		ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), -1);
		ck_assert_int_eq(errno, EINVAL);
	}
	/* Of a later kernel */
	to.nractrs = 1;
	to.source = 17;
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
	ck_assert_uint_eq(back.source, VPERFCTR_SOURCE_ANY);
}
END_TEST

static void set_config_high(unsigned int i, unsigned long long high)
{
#if defined(__x86_64__) || defined(__i386__)
	from.cpu_control.evntsel_high[i] = (unsigned int)high;
#elif defined(__aarch64__)
	from.cpu_control.arm64.config[i] = high;
#else
	from.cpu_control.riscv.event_data[i] = high;
#endif
}

/* Between counters of the processor's own, which stay what they are */
START_TEST(test_perf_events)
{
	set_up(4, 1);
	from.cpu_control.pmc_map[0] = 3;
	from.cpu_control.evntsel[0] = 0x4100c0;
	from.cpu_control.pmc_map[1] = PERF_TYPE_HW_CACHE;
	from.cpu_control.evntsel[1] = 0x10203;
	from.cpu_control.perf_user = 1u << 1 | 1u << 3;
	from.cpu_control.pmc_map[2] = PERF_TYPE_RAW;
	from.cpu_control.evntsel[2] = 0x9abcdef0;
	set_config_high(2, 0xf2345678);
	from.cpu_control.perf_kernel = 1u << 2 | 1u << 3;
	from.cpu_control.pmc_map[3] = 10;
	/* The event of a response off the core, were it not perf's */
	from.cpu_control.evntsel[3] = 0x1b7;
	from.cpu_control.ireset[4] = -7;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.ctr[0].map, 3);
	ck_assert_uint_eq(to.ctr[0].event, 0x4100c0);
	ck_assert_uint_eq(to.ctr[0].flags & PERFCTR_CTR_PERF, 0);
	ck_assert_uint_eq(to.ctr[1].map, PERFCTR_MAP_ANY);
	ck_assert_uint_eq(to.ctr[1].event, PERF_TYPE_HW_CACHE);
	ck_assert_uint_eq(to.ctr[1].config, 0x10203);
	ck_assert_uint_eq(to.ctr[1].flags, PERFCTR_CTR_PERF | PERFCTR_CTR_USER);
	ck_assert_uint_eq(to.ctr[2].event, PERF_TYPE_RAW);
	ck_assert_uint_eq(to.ctr[2].config, 0xf23456789abcdef0);
	ck_assert_uint_eq(to.ctr[2].flags, PERFCTR_CTR_PERF | PERFCTR_CTR_KERNEL);
	ck_assert_uint_eq(to.ctr[3].event, 10);
	ck_assert_uint_eq(to.ctr[3].config, 0x1b7);
	ck_assert_uint_eq(to.ctr[3].flags,
			  PERFCTR_CTR_PERF | PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL);
	ck_assert_uint_eq(to.ctr[3].config1 | to.ctr[3].config2, 0);
	ck_assert_uint_eq(to.ctr[4].flags & PERFCTR_CTR_PERF, 0);
	ck_assert_int_eq(to.ctr[4].ireset, -7);
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
#if defined(__riscv)
	/* 0 is user mode, as it was. */
	from.cpu_control.riscv.mode[0] = PERFCTR_CTR_USER;
	from.cpu_control.riscv.mode[4] = PERFCTR_CTR_USER;
#elif defined(__aarch64__)
	from.cpu_control.arm64.mode[0] = PERFCTR_CTR_USER;
	from.cpu_control.arm64.mode[4] = PERFCTR_CTR_USER;
#endif
	ck_assert_mem_eq(&back, &from, sizeof(from));
}
END_TEST

/* What 2.6's structure has no place for is an error, and not left out. */
START_TEST(test_perf_events_too_long)
{
	set_up(1, 0);
	from.cpu_control.perf_user = 1;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
	to.ctr[0].config1 = _i == 0;
	to.ctr[0].config2 = _i == 1;
	to.ctr[0].event = (unsigned long long)(_i == 2) << 32;
	errno = 0;
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), -1);
	ck_assert_int_eq(errno, EINVAL);
#if defined(__riscv) || defined(__aarch64__)
	set_config_high(0, 1ULL << 32);
	errno = 0;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), -1);
	ck_assert_int_eq(errno, EINVAL);
#endif
}
END_TEST

START_TEST(test_counters)
{
	unsigned int i;

	set_up(2, 1);
	from.cpu_control.tsc_on = 17;	/* 2.6: whatever is not zero */
	from.flags = VPERFCTR_CONTROL_CLOEXEC;
	from.si_signo = 12;
	from.preserve = ~0u;
	for (i = 0; i < 3; i++) {
		from.cpu_control.pmc_map[i] = 10 + i;
		from.cpu_control.evntsel[i] = 0x100 + i;
		from.cpu_control.ireset[i] = -5;
	}
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.size, offsetof(struct perfctr_control, ctr[3]));
	ck_assert_uint_eq(to.tsc_on, 1);
	ck_assert_uint_eq(to.flags, PERFCTR_CONTROL_CLOEXEC);
	ck_assert_uint_eq(to.nractrs, 2);
	ck_assert_uint_eq(to.nrictrs, 1);
	ck_assert_int_eq(to.si_signo, 12);
	ck_assert_uint_eq(to.preserve, 7);
	for (i = 0; i < 3; i++) {
		ck_assert_uint_eq(to.ctr[i].map, 10 + i);
		ck_assert_uint_eq(to.ctr[i].event, 0x100 + i);
		ck_assert_uint_eq(to.ctr[i].reserved[0] | to.ctr[i].reserved[1] |
				  to.ctr[i].config1 | to.ctr[i].config2, 0);
		/* 2.6's ireset means nothing for a-mode counters. */
		ck_assert_int_eq(to.ctr[i].ireset, i < 2 ? 0 : -5);
	}

	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
	ck_assert_uint_eq(back.cpu_control.tsc_on, 1);
	ck_assert_uint_eq(back.cpu_control.nractrs, 2);
	ck_assert_uint_eq(back.cpu_control.nrictrs, 1);
	ck_assert_uint_eq(back.preserve, 7);
	ck_assert_int_eq(back.si_signo, 12);
	for (i = 0; i < 3; i++) {
		ck_assert_uint_eq(back.cpu_control.pmc_map[i], 10 + i);
		ck_assert_uint_eq(back.cpu_control.evntsel[i], 0x100 + i);
	}
}
END_TEST

START_TEST(test_too_many)
{
	static const unsigned int bad[][2] = {
		{ PERFCTR_NRCTRS + 1, 0 },
		{ 0, PERFCTR_NRCTRS + 1 },
		{ PERFCTR_NRCTRS, 1 },
		{ ~0u, 2 },
		{ 2, ~0u },
	};

	set_up(bad[_i][0], bad[_i][1]);
	errno = 0;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

/* As many counters as there can be: a shift by 32 would be one too far. */
START_TEST(test_all)
{
	set_up(PERFCTR_NRCTRS, 0);
	from.preserve = ~0u;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.preserve, (1ULL << PERFCTR_NRCTRS) - 1);

	memset(&to, 0, sizeof(to));
	to.nractrs = PERFCTR_NRCTRS + 1;
	errno = 0;
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

#if defined(__x86_64__) || defined(__i386__)

/* PERFCTR_CPU_TYPE */
static const struct {
	const char *name;
	unsigned long long counters;
	unsigned int own;
	unsigned int reported;
} older[] = {
	{ "NHLM", 0xf0000ff, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_NHLM },
	{ "WSTMR", 0x700000f, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_WSTMR },
	{ "CORE2", 0x7000003, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_CORE2 },
	{ "ATOM", 0x700000f, PERFCTR_X86_INTEL_WSTMR, PERFCTR_X86_INTEL_ATOM },
	{ "P6", 0x3, PERFCTR_X86_INTEL_PENTM, PERFCTR_X86_INTEL_P6 },
	{ "PII", 0x3, PERFCTR_X86_INTEL_PIII, PERFCTR_X86_INTEL_PII },
	{ "K8", 0xf, PERFCTR_X86_AMD_FAM10H, PERFCTR_X86_AMD_K8 },
	{ "FAM10H", 0x3f, PERFCTR_X86_AMD_ZEN4, PERFCTR_X86_AMD_FAM10H },
	/* A hypervisor's; not older; of the other vendor */
	{ "ZEN", 0xf, PERFCTR_X86_AMD_ZEN4, PERFCTR_X86_AMD_ZEN4 },
	{ "ZEN4", 0x3f, PERFCTR_X86_AMD_ZEN, PERFCTR_X86_AMD_ZEN },
	{ "NHLM", 0x3f, PERFCTR_X86_AMD_ZEN, PERFCTR_X86_AMD_ZEN },
	/* Two of its four counters are missing; a fixed one; all */
	{ "NHLM", 0x7000003, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_ARCH },
	{ "CORE2", 0x3000003, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_ARCH },
	{ "CORE2", 0, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_ARCH },
	/* Not older */
	{ "WSTMR", 0x700000f, PERFCTR_X86_INTEL_NHLM, PERFCTR_X86_INTEL_NHLM },
	{ "ARCH", 0x700000f, PERFCTR_X86_INTEL_NHLM, PERFCTR_X86_INTEL_NHLM },
	{ "NHLM", 0x700000f, PERFCTR_X86_INTEL_NHLM, PERFCTR_X86_INTEL_NHLM },
	{ "PIII", 0x3, PERFCTR_X86_INTEL_PII, PERFCTR_X86_INTEL_PII },
	/* Other registers */
	{ "PIII", 0x700000f, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_ARCH },
	{ "CORE", 0x700000f, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_ARCH },
	{ "P6", 0x3, PERFCTR_X86_INTEL_CORE, PERFCTR_X86_INTEL_CORE },
	{ "K7", 0x700000f, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_ARCH },
	/* Nothing that there is */
	{ "", 0x700000f, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_ARCH },
	{ "nhlm", 0x700000f, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_ARCH },
	{ "NHLM_", 0x700000f, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_ARCH },
	{ "21", 0x700000f, PERFCTR_X86_INTEL_ARCH, PERFCTR_X86_INTEL_ARCH },
	{ "NHLM", 0, PERFCTR_X86_GENERIC, PERFCTR_X86_GENERIC },
	{ "NHLM", 0x700000f, 99, 99 },
};

START_TEST(test_older_type)
{
	ck_assert_uint_eq(perfctr_older_type(older[_i].name, older[_i].own, older[_i].counters),
			  older[_i].reported);
}
END_TEST

/* 2.6's numbers of counters are RDPMC's, and it did not look at a fixed one's event. */
START_TEST(test_fixed)
{
	static const struct {
		unsigned int map, evntsel, native, back;
		unsigned long long event;
	} rows[] = {
		{ 0x40000000, 0x4100c0, 24, 0x40000000, 0x4100c0 },
		{ 0x40000001, 0x42003c, 25, 0x40000001, 0x42003c },
		{ 0x40000002, 0x43013c, 26, 0x40000002, 0x43013c },
		{ 0x40000000, 0x430000, 24, 0x40000000, 0x4300c0 },
		{ 0x40000001, 0x410000, 25, 0x40000001, 0x41003c },
		{ 0x40000002, 0x520000, 26, 0x40000002, 0x52013c },
		/* The kernel refuses what is wrong. */
		{ 0x40000000, 0x41003c, 24, 0x40000000, 0x41003c },
		{ 0x40000000, 0x1410000, 24, 0x40000000, 0x14100c0 },
		{ 0x40000003, 0x410000, 27, 0x40000003, 0x410000 },
		{ 0x40000007, 0x4100c0, 31, 0x40000007, 0x4100c0 },
		{ 0x40000008, 0x4100c0, 0x40000008, 0x40000008, 0x4100c0 },
		{ 0x3fffffff, 0x410000, 0x3fffffff, 0x3fffffff, 0x410000 },
		{ 0x80000000, 0x410000, 0x80000000, 0x80000000, 0x410000 },
		{ 32, 0x4100c0, 32, 32, 0x4100c0 },
		/* The kernel's own numbers are accepted as well. */
		{ 24, 0x4100c0, 24, 0x40000000, 0x4100c0 },
		{ 31, 0x410000, 31, 0x40000007, 0x410000 },
		/* Other numbers are the same in both. */
		{ 23, 0x410000, 23, 23, 0x410000 },
		{ 0, 0x410000, 0, 0, 0x410000 },
		{ PERFCTR_MAP_ANY, 0x410000, PERFCTR_MAP_ANY, PERFCTR_MAP_ANY, 0x410000 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		set_up(1, 1);
		from.cpu_control.pmc_map[1] = rows[i].map;
		from.cpu_control.evntsel[1] = rows[i].evntsel;
		ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
		ck_assert_uint_eq(to.ctr[0].map, 0);
		ck_assert_uint_eq(to.ctr[1].map, rows[i].native);
		ck_assert_uint_eq(to.ctr[1].event, rows[i].event);
		ck_assert_uint_eq(to.ctr[1].flags, rows[i].evntsel >> 16 & 3);
		ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
		ck_assert_uint_eq(back.cpu_control.pmc_map[1], rows[i].back);
		ck_assert_uint_eq(back.cpu_control.evntsel[1], rows[i].event);
		ck_assert_uint_eq(back.cpu_control.evntsel_high[1], 0);
	}
}
END_TEST

START_TEST(test_arch)
{
	set_up(1, 0);
	from.cpu_control.evntsel[0] = 0x004300c0;
	from.cpu_control.evntsel_high[0] = 0x12345678;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.ctr[0].event, 0x12345678004300c0);
	ck_assert_uint_eq(to.ctr[0].flags, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL);
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
	ck_assert_uint_eq(back.cpu_control.evntsel_high[0], 0x12345678);
	/* 2.6: one place for both names */
	ck_assert_uint_eq(back.cpu_control.p4.escr[0], 0x12345678);
}
END_TEST

/* On a Pentium 4: 2.6's p4, with the kernel's names of the same */
static const struct {
	unsigned int map, evntsel, escr, native;
	__u64 event;
	unsigned int flags, back;
} p4s[] = {
	{ 12, 0x00039000, 0x04000204, 12, 0x00039000, PERFCTR_CTR_USER, 12 },
	/* A quick read is 2.6's affair. */
	{ 0x8000000c, 0x00039000, 0x04000208, 12, 0x00039000, PERFCTR_CTR_KERNEL, 12 },
	{ 17, 0x00039000, 0x0400020c, 17, 0x00039000, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL, 17 },
	/* The kernel refuses these three, as the reference says. */
	{ 12, 0x00039000, 0x04000200, 12, 0x00039000, 0, 12 },
	{ 12, 0x80039000, 0x04000204, 12, 0x80039000, PERFCTR_CTR_USER, 12 },
	{ 12, 0x00039000, 0x84000205, 12, 0x00039000, PERFCTR_CTR_USER, 12 },
	{ PERFCTR_MAP_ANY, 0x00039000, 0x04000204, PERFCTR_MAP_ANY, 0x00039000, PERFCTR_CTR_USER,
	  PERFCTR_MAP_ANY },
	{ PERFCTR_P4_ANY(0), 0x0003d000, 0x26000204, PERFCTR_MAP_ANY, 0x10003d000, PERFCTR_CTR_USER,
	  PERFCTR_P4_ANY(0) },
	{ PERFCTR_P4_ANY(3), 0x00039000, 0x04000204, PERFCTR_MAP_ANY, 0x400039000, PERFCTR_CTR_USER,
	  PERFCTR_P4_ANY(3) },
};

static const unsigned int p4_types[] = {
	PERFCTR_X86_INTEL_P4, PERFCTR_X86_INTEL_P4M2, PERFCTR_X86_INTEL_P4M3,
};

START_TEST(test_p4)
{
	set_up(1, 0);
	cpu_type = p4_types[(unsigned int)_i % ARRAY_SIZE(p4_types)];
	from.cpu_control.extended = (unsigned int)_i & 1 ? PERFCTR_EXTENDED : 0;
	from.cpu_control.pmc_map[0] = p4s[_i].map;
	from.cpu_control.evntsel[0] = p4s[_i].evntsel;
	from.cpu_control.p4.escr[0] = p4s[_i].escr;
	from.cpu_control.p4.pebs_enable = 0x1000004;
	from.cpu_control.p4.pebs_matrix_vert = 3;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.ctr[0].map, p4s[_i].native);
	ck_assert_uint_eq(to.ctr[0].event, p4s[_i].event);
	ck_assert_uint_eq(to.ctr[0].config, p4s[_i].escr);
	ck_assert_uint_eq(to.ctr[0].config1, 0x1000004);
	ck_assert_uint_eq(to.ctr[0].config2, 3);
	ck_assert_uint_eq(to.ctr[0].flags, p4s[_i].flags);
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
	ck_assert_uint_eq(back.cpu_control.pmc_map[0], p4s[_i].back);
	ck_assert_uint_eq(back.cpu_control.evntsel[0], p4s[_i].evntsel);
	ck_assert_uint_eq(back.cpu_control.p4.escr[0], p4s[_i].escr);
	ck_assert_uint_eq(back.cpu_control.p4.pebs_enable, 0x1000004);
	ck_assert_uint_eq(back.cpu_control.p4.pebs_matrix_vert, 3);
}
END_TEST

static void rsp_refused(unsigned int first, unsigned int second)
{
	from.cpu_control.nhlm.offcore_rsp[0] = first;
	from.cpu_control.nhlm.offcore_rsp[1] = second;
	errno = 0;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), -1);
	ck_assert_int_eq(errno, EINVAL);
}

/* Each register's value goes to the counters of its event, and to no others. */
START_TEST(test_offcore)
{
	static const unsigned int seconds[] = { 0x4101bb, 0x4102b7 };

	set_up(2, 0);
	from.cpu_control.evntsel[0] = 0x4100c0;
	from.cpu_control.evntsel[1] = 0x4101c4;
	rsp_refused(1, 0);
	rsp_refused(0, 1);
	from.cpu_control.evntsel[1] = 0x4101b7;
	rsp_refused(0, 1);
	rsp_refused(1, 1);
	from.cpu_control.nhlm.offcore_rsp[0] = 0xffff7733;
	from.cpu_control.nhlm.offcore_rsp[1] = 0;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.ctr[0].config, 0);
	ck_assert_uint_eq(to.ctr[1].config, 0xffff7733);
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
	ck_assert_mem_eq(&back, &from, sizeof(from));

	from.cpu_control.evntsel[0] = seconds[_i];
	from.cpu_control.nhlm.offcore_rsp[1] = 0x80000001;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.ctr[0].config, 0x80000001);
	ck_assert_uint_eq(to.ctr[1].config, 0xffff7733);
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
	ck_assert_mem_eq(&back, &from, sizeof(from));

	/* The kernel refuses a counter without a value. */
	from.cpu_control.nhlm.offcore_rsp[0] = 0;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.ctr[1].config, 0);
}
END_TEST

/* A value that 2.6 has no place for is an error, and not left out. */
START_TEST(test_offcore_too_long)
{
	set_up(1, 0);
	from.cpu_control.evntsel[0] = 0x4101b7;
	from.cpu_control.nhlm.offcore_rsp[0] = 1;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
	to.ctr[0].config = 1ULL << 32;
	errno = 0;
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), -1);
	ck_assert_int_eq(errno, EINVAL);
	/* The front end's register */
	to.ctr[0].event = 0x4101c6;
	to.ctr[0].config = 0x11;
	errno = 0;
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST
#elif defined(__riscv)
START_TEST(test_arch)
{
	set_up(2, 0);
	from.cpu_control.evntsel[1] = 0x20000;
	from.cpu_control.riscv.event_data[1] = 0xffff00000000;
	from.cpu_control.riscv.mode[1] = PERFCTR_CTR_KERNEL;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.ctr[0].flags, PERFCTR_CTR_USER);
	ck_assert_uint_eq(to.ctr[1].flags, PERFCTR_CTR_KERNEL);
	ck_assert_uint_eq(to.ctr[1].event, 0x20000);
	ck_assert_uint_eq(to.ctr[1].config, 0xffff00000000);
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
	ck_assert_uint_eq(back.cpu_control.riscv.mode[0], PERFCTR_CTR_USER);
	ck_assert_uint_eq(back.cpu_control.riscv.event_data[1], 0xffff00000000);
}
END_TEST
#elif defined(__aarch64__)
START_TEST(test_arch)
{
	set_up(2, 0);
	from.cpu_control.evntsel[1] = 0x11;
	from.cpu_control.arm64.config[1] = 0xffff00000000;
	from.cpu_control.arm64.mode[1] = PERFCTR_CTR_KERNEL;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.ctr[0].flags, PERFCTR_CTR_USER);
	ck_assert_uint_eq(to.ctr[1].flags, PERFCTR_CTR_KERNEL);
	ck_assert_uint_eq(to.ctr[1].event, 0x11);
	ck_assert_uint_eq(to.ctr[1].config, 0xffff00000000);
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
	ck_assert_uint_eq(back.cpu_control.arm64.mode[0], PERFCTR_CTR_USER);
	ck_assert_uint_eq(back.cpu_control.arm64.config[1], 0xffff00000000);
}
END_TEST
#endif

#if defined(__x86_64__) || defined(__i386__)
/* Selects that have no bits where the P6 has its modes, and others */
static const struct {
	unsigned int cpu_type, evntsel, flags;
} modes[] = {
	{ PERFCTR_X86_INTEL_P5, 0x56, PERFCTR_CTR_KERNEL },
	{ PERFCTR_X86_INTEL_P5MMX, 0x1b0, PERFCTR_CTR_USER },
	/* Modes, and no response off the core */
	{ PERFCTR_X86_INTEL_P5MMX, 0x1b7, PERFCTR_CTR_USER },
	{ PERFCTR_X86_CYRIX_MII, 0x4c2, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL },
	{ PERFCTR_X86_INTEL_P5, 0x16, 0 },
	/* The kernel refuses these bits. */
	{ PERFCTR_X86_INTEL_P5, 0x410016, 0 },
	{ PERFCTR_X86_WINCHIP_C6, 0x47, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL },
	{ PERFCTR_X86_WINCHIP_2, 0x16, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL },
	{ PERFCTR_X86_VIA_C3, 0x1c0, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL },
	{ PERFCTR_X86_INTEL_P6, 0xc0, 0 },
	{ PERFCTR_X86_INTEL_P6, 0x4100c0, PERFCTR_CTR_USER },
	{ PERFCTR_X86_AMD_K7, 0xc0, 0 },
	{ PERFCTR_X86_AMD_K7, 0x4200c0, PERFCTR_CTR_KERNEL },
};

START_TEST(test_modes)
{
	set_up(1, 0);
	cpu_type = modes[_i].cpu_type;
	from.cpu_control.evntsel[0] = modes[_i].evntsel;
	from.cpu_control.pmc_map[0] = 1;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.ctr[0].flags, modes[_i].flags);
	ck_assert_uint_eq(to.ctr[0].event, modes[_i].evntsel);
	ck_assert_uint_eq(to.ctr[0].config, 0);
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
	ck_assert_mem_eq(&back, &from, sizeof(from));
}
END_TEST

/* What a native control leaves to its flags is in 2.6's words. */
START_TEST(test_modes_of_flags)
{
	set_up(1, 0);
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	to.ctr[0].event = 0x16;
	to.ctr[0].flags = PERFCTR_CTR_USER;
	ck_assert_int_eq(perfctr_control_from_native(&to, PERFCTR_X86_INTEL_P5, &back), 0);
	ck_assert_uint_eq(back.cpu_control.evntsel[0], 0x96);
	to.ctr[0].flags = PERFCTR_CTR_KERNEL;
	ck_assert_int_eq(perfctr_control_from_native(&to, PERFCTR_X86_CYRIX_MII, &back), 0);
	ck_assert_uint_eq(back.cpu_control.evntsel[0], 0x56);
	ck_assert_int_eq(perfctr_control_from_native(&to, PERFCTR_X86_WINCHIP_2, &back), 0);
	ck_assert_uint_eq(back.cpu_control.evntsel[0], 0x16);
	to.ctr[0].event = 0x8000;
	to.ctr[0].config = 0x04000200;
	ck_assert_int_eq(perfctr_control_from_native(&to, PERFCTR_X86_INTEL_P4, &back), 0);
	ck_assert_uint_eq(back.cpu_control.evntsel[0], 0x8000);
	ck_assert_uint_eq(back.cpu_control.p4.escr[0], 0x04000208);
}
END_TEST

/* Counters of perf's events have perf's words on any processor, also beside others. */
START_TEST(test_perf_beside)
{
	static const unsigned int types[] = {
		PERFCTR_X86_INTEL_P4M3, PERFCTR_X86_INTEL_P5, PERFCTR_X86_VIA_C3, PERFCTR_X86_INTEL_ARCH,
	};

	set_up(2, 0);
	cpu_type = types[_i];
	from.source = VPERFCTR_SOURCE_SHARED;
	from.cpu_control.perf_user = 2;
	from.cpu_control.pmc_map[1] = PERF_TYPE_RAW;
	from.cpu_control.evntsel[1] = 0x000300c0;
	from.cpu_control.evntsel_high[1] = 0x0400020c;
	ck_assert_int_eq(perfctr_control_to_native(&from, cpu_type, &to), 0);
	ck_assert_uint_eq(to.source, PERFCTR_SOURCE_SHARED);
	ck_assert_uint_eq(to.ctr[1].map, PERFCTR_MAP_ANY);
	ck_assert_uint_eq(to.ctr[1].event, PERF_TYPE_RAW);
	ck_assert_uint_eq(to.ctr[1].config, 0x0400020c000300c0);
	ck_assert_uint_eq(to.ctr[1].config1 | to.ctr[1].config2, 0);
	ck_assert_uint_eq(to.ctr[1].flags, PERFCTR_CTR_PERF | PERFCTR_CTR_USER);
	ck_assert_int_eq(perfctr_control_from_native(&to, cpu_type, &back), 0);
	ck_assert_mem_eq(&back, &from, sizeof(from));
}
END_TEST
#endif

int main(void)
{
	TCase *tc = tcase_create("2.6");

	tcase_add_test(tc, test_nothing);
	tcase_add_test(tc, test_source);
	tcase_add_loop_test(tc, test_only_what_2_6_had, 0, 4);
	tcase_add_test(tc, test_counters);
	tcase_add_loop_test(tc, test_too_many, 0, 5);
	tcase_add_test(tc, test_all);
	tcase_add_test(tc, test_arch);
	tcase_add_test(tc, test_perf_events);
	tcase_add_loop_test(tc, test_perf_events_too_long, 0, 3);
#if defined(__x86_64__) || defined(__i386__)
	tcase_add_loop_test(tc, test_older_type, 0, (int)ARRAY_SIZE(older));
	tcase_add_loop_test(tc, test_modes, 0, (int)ARRAY_SIZE(modes));
	tcase_add_test(tc, test_modes_of_flags);
	tcase_add_loop_test(tc, test_perf_beside, 0, 4);
	tcase_add_test(tc, test_fixed);
	tcase_add_loop_test(tc, test_p4, 0, (int)ARRAY_SIZE(p4s));
	tcase_add_loop_test(tc, test_offcore, 0, 2);
	tcase_add_test(tc, test_offcore_too_long);
#endif
	return run_tests("control", tc);
}
