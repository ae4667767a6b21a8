// SPDX-License-Identifier: GPL-2.0
/* What counters are found: those that the processor tells of, and that are there. */
#include <asm/processor.h>

#include "tests.h"

static const struct perfctr_ctr_control one[] = { CTR(0, EV_INSTRUCTIONS, USER) };
static const struct perfctr_ctr_control i_mode[] = { ICTR(ANY, EV_INSTRUCTIONS, USER, 1000) };

/* Only the clock is there: nothing else is reported, and no register is touched. */
static void expect_no_counters(const char *name, u32 why)
{
	struct perfctr_kernel_info info = {};
	struct thread thread;

	perfctr_cpu_info(&info);
	ck_assert_msg(!info.counters, "%s: counters %#llx", name, info.counters);
	ck_assert_uint_eq(info.cpu_type, PERFCTR_X86_GENERIC);
	ck_assert_uint_eq(info.cpu_features, PERFCTR_FEATURE_RDTSC);
	ck_assert_uint_eq(info.nrctrs, 0);
	ck_assert_msg(info.no_counters == why, "%s: reason %u, expected %u", name,
		      info.no_counters, why);
	ck_assert_uint_eq(info.width, 64);
	ck_assert_uint_eq(info.events[0], 0);
	ck_assert_uint_eq(perfctr_cpu_nrctrs(), 0);
	ck_assert_uint_eq(perfctr_cpu_age_period(), 0);
	ck_assert_int_eq(check(one, 1, NULL), -EINVAL);
	ck_assert_int_eq(check(i_mode, 1, NULL), -EINVAL);
	ck_assert_int_eq(age_all(), 0);
	thread_init(&thread, claim_well(NULL, 0));
	thread_run(&thread, 0, 1000);
	cpu_offline(1);
	cpu_online(1);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	unclaim(thread.config);
	model_expect_loaded();
}

static void expect_counters(u64 counters, u64 width)
{
	struct perfctr_kernel_info info = {};

	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.counters, counters);
	ck_assert_uint_eq(info.no_counters, PERFCTR_NO_COUNTERS_NONE);
	ck_assert_uint_eq(info.width, width);
	ck_assert_uint_eq(perfctr_cpu_nrctrs(), hweight32((u32)counters));
}

/* Processors without counters, or that the driver does not know */
static const struct {
	const char *name;
	struct model_machine machine;
	u32 why;
} none[] = {
#define PROCESSOR(v, f, l)							\
	.nr_cpus = 2, .vendor = X86_VENDOR_##v, .family = (f), .model = 26, .leaves = (l)
#define COUNTERS(v, n, w, n_fixed, w_fixed)					\
	.version = (v), .nr = (n), .width = (w), .nr_fixed = (n_fixed),		\
	.fixed_width = (w_fixed), .told = 7
#define NO_DRIVER	PERFCTR_NO_COUNTERS_PROCESSOR
#define NO_REGISTERS	PERFCTR_NO_COUNTERS_REGISTERS
#define TOO_NEW		PERFCTR_NO_COUNTERS_VERSION
	{ "AMD's K6", { PROCESSOR(AMD, 5, 11), COUNTERS(3, 4, 48, 3, 48) }, NO_DRIVER },
	{ "AMD's family 13h", { PROCESSOR(AMD, 0x13, 11), COUNTERS(1, 4, 48, 0, 0) }, NO_DRIVER },
	{ "AMD's family 1bh", { PROCESSOR(AMD, 0x1b, 11), COUNTERS(2, 6, 48, 0, 0) }, NO_DRIVER },
	{ "Hygon's family 19h", { PROCESSOR(HYGON, 0x19, 11), COUNTERS(1, 6, 48, 0, 0) }, NO_DRIVER },
	{ "486", { PROCESSOR(INTEL, 4, 1), COUNTERS(0, 2, 40, 0, 0) }, NO_DRIVER },
	{ "P4 of an emulator", { PROCESSOR(INTEL, 15, 5), COUNTERS(0, 0, 40, 0, 0) }, NO_REGISTERS },
	{ "P4 with the leaf", { PROCESSOR(INTEL, 15, 10), COUNTERS(3, 4, 48, 3, 48) }, NO_REGISTERS },
	{ "XENPV",
	  { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 48, 3, 48), .xenpv = true }, NO_REGISTERS },
	{ "hybrid",
	  { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 48, 3, 48), .hybrid = true }, NO_DRIVER },
	{ "version 0", { PROCESSOR(INTEL, 6, 11), COUNTERS(0, 4, 48, 3, 48) }, NO_REGISTERS },
	{ "no counters", { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 0, 48, 0, 48) }, NO_REGISTERS },
	{ "only fixed counters",
	  { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 0, 48, 3, 48) }, NO_REGISTERS },
	{ "all zero", { PROCESSOR(INTEL, 6, 10) }, NO_REGISTERS },
	{ "31 bits", { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 31, 3, 48) }, NO_REGISTERS },
	{ "31 bits, fixed", { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 48, 3, 31) }, NO_REGISTERS },
	{ "0 bits", { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 0, 3, 48) }, NO_REGISTERS },
	{ "65 bits", { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 65, 3, 65) }, NO_REGISTERS },
	{ "255 bits", { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 255, 3, 255) }, NO_REGISTERS },
	{ "version 6", { PROCESSOR(INTEL, 6, 35), COUNTERS(6, 8, 48, 3, 48) }, TOO_NEW },
	{ "version 7", { PROCESSOR(INTEL, 6, 35), COUNTERS(7, 8, 48, 3, 48) }, TOO_NEW },
	{ "version 255", { PROCESSOR(INTEL, 6, 35), COUNTERS(255, 8, 48, 3, 48) }, TOO_NEW },
	/* As families 18 and 19 are on bare metal, which perf counts by */
	{ "family 18", { PROCESSOR(INTEL, 18, 35), COUNTERS(6, 10, 48, 4, 48) }, TOO_NEW },
	{ "family 19", { PROCESSOR(INTEL, 19, 35), COUNTERS(6, 8, 48, 4, 48) }, TOO_NEW },
	{ "family 18 without the leaf", { PROCESSOR(INTEL, 18, 9), COUNTERS(0, 2, 40, 0, 0) }, NO_DRIVER },
};

START_TEST(no_counters)
{
	driver_init(&none[_i].machine);
	expect_no_counters(none[_i].name, none[_i].why);
}
END_TEST

/* Emulators and hypervisors: CPUID tells of a register that faults. */
static const struct {
	const char *name;
	const struct model_machine *machine;
	u32 msr, rdpmc;
} lies[] = {
#define NO_MSR(m, n)	{ #m " of " #n, &model_##n, m, ~0u }
#define NO_RDPMC(c, n)	{ "RDPMC " #c " of " #n, &model_##n, ~0u, c }
	NO_MSR(0x186, p6), NO_MSR(0x187, p6), NO_MSR(0xc1, p6), NO_MSR(0xc2, p6),
	NO_RDPMC(0, p6), NO_RDPMC(1, p6),
	NO_MSR(0x187, v1), NO_MSR(0xc2, v1), NO_RDPMC(1, v1),
	NO_MSR(0x38d, v2), NO_MSR(0x38f, v2), NO_MSR(0x309, v2), NO_MSR(0x30b, v2),
	NO_RDPMC(0x40000000, v2), NO_RDPMC(0x40000002, v2),
	NO_MSR(0x186, v3), NO_MSR(0x189, v3), NO_MSR(0xc4, v3), NO_RDPMC(3, v3),
	NO_MSR(0x38d, v3), NO_MSR(0x38f, v3), NO_MSR(0x30a, v3), NO_RDPMC(0x40000001, v3),
	NO_MSR(0x18d, v5), NO_MSR(0xc8, v5), NO_RDPMC(7, v5), NO_MSR(0x38f, v5),
};

START_TEST(registers_that_fault)
{
	model_no_msr = lies[_i].msr;
	model_no_rdpmc = lies[_i].rdpmc;
	driver_init(lies[_i].machine);
	expect_no_counters(lies[_i].name, NO_REGISTERS);
}
END_TEST

/* Registers that are not needed may be missing: a fourth fixed counter, full-width writes. */
START_TEST(registers_that_nobody_needs)
{
	static const u32 msrs[] = { 0x30c, 0x4c1, 0x391, 0x390, 0x38e };

	model_no_msr = msrs[_i];
	driver_init(&model_v5);
	expect_counters(0x70000ff, 48);
	unclaim(CLAIM(one));
}
END_TEST

static const struct {
	const char *name;
	struct model_machine machine;
	u64 counters, width;
} some[] = {
	{ "32 bits", { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 32, 3, 48) }, 0x700000f, 32 },
	{ "fixed ones are narrower",
	  { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 48, 3, 40) }, 0x700000f, 40 },
	{ "fixed ones are wider",
	  { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 40, 3, 48) }, 0x700000f, 40 },
	{ "64 bits", { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 64, 3, 64) }, 0x700000f, 64 },
	{ "no fixed ones", { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 48, 0, 0) }, 0xf, 48 },
	{ "one fixed one", { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 4, 48, 1, 48) }, 0x100000f, 48 },
	{ "ten counters", { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 10, 48, 3, 48) }, 0x70000ff, 48 },
	{ "one counter", { PROCESSOR(INTEL, 6, 11), COUNTERS(3, 1, 48, 3, 48) }, 0x7000001, 48 },
	{ "version 5", { PROCESSOR(INTEL, 6, 35), COUNTERS(5, 8, 48, 3, 48) }, 0x70000ff, 48 },
	{ "family 6 without the leaf",
	  { PROCESSOR(INTEL, 6, 9), COUNTERS(0, 2, 40, 0, 0) }, 0x3, 40 },
	/* A hypervisor's model of them */
	{ "family 19 with version 2",
	  { PROCESSOR(INTEL, 19, 35), COUNTERS(2, 8, 48, 3, 48) }, 0x70000ff, 48 },
	/* Versions 2 to 4 may not tell of fixed counters; a hypervisor's has those that it tells of. */
	{ "untold, version 2",
	  { PROCESSOR(INTEL, 6, 11), COUNTERS(2, 2, 40, 3, 40), .fixed_untold = true },
	  0x7000003, 40 },
	{ "untold, version 4",
	  { PROCESSOR(INTEL, 6, 22), COUNTERS(4, 4, 48, 3, 48), .fixed_untold = true },
	  0x700000f, 48 },
	{ "untold, two that are there",
	  { PROCESSOR(INTEL, 6, 11), COUNTERS(2, 2, 40, 2, 40), .fixed_untold = true },
	  0x3000003, 40 },
	{ "untold, version 5",
	  { PROCESSOR(INTEL, 6, 35), COUNTERS(5, 8, 48, 3, 48), .fixed_untold = true }, 0xff, 48 },
	{ "untold by a hypervisor",
	  { PROCESSOR(INTEL, 6, 11), COUNTERS(2, 2, 40, 3, 40), .fixed_untold = true,
	    .hypervisor = true }, 0x3, 40 },
	/* The leaf has fixed counters from version 2 on only. */
	{ "version 1", { PROCESSOR(INTEL, 6, 10), COUNTERS(1, 2, 48, 3, 48) }, 0x3, 48 },
};

START_TEST(some_counters)
{
	struct model_ownership before;
	struct thread thread;

	driver_init(&some[_i].machine);
	model_ownership(&before);
	expect_counters(some[_i].counters, some[_i].width);
	thread_init(&thread, CLAIM(one));
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	unclaim(thread.config);
	model_expect_ownership(&before);
}
END_TEST

/* Without a time-stamp counter there is the kernel's clock. */
START_TEST(no_clock)
{
	struct model_machine machine = model_v3;
	struct perfctr_kernel_info info = {};
	struct thread thread;

	machine.no_tsc = true;
	driver_init(&machine);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.cpu_features & PERFCTR_FEATURE_RDTSC, 0);
	ck_assert_uint_eq(info.tsc_hz, NSEC_PER_SEC);
	ck_assert_uint_eq(perfctr_cpu_clock_hz(), NSEC_PER_SEC);
	ck_assert(perfctr_cpu_clock_hidden());
	thread_init(&thread, CLAIM(one));
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	ck_assert_uint_ne(thread.state.clock, 0);
}
END_TEST

void test_probe(void)
{
	unit_begin("x86_probe");
	UNIT_ROWS(no_counters, none);
	UNIT_ROWS(registers_that_fault, lies);
	unit_run(registers_that_nobody_needs, 5);
	UNIT_ROWS(some_counters, some);
	UNIT_RUN(no_clock);
}
