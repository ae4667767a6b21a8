// SPDX-License-Identifier: GPL-2.0
/* perfctr_cpu_load(): a register that holds the right value already is not written. */
#include "arch/x86/registers.h"
#include "tests.h"

#define SEL(n)		(MSR_ARCH_PERFMON_EVENTSEL0 + (n))
#define FIXED_CTRL	MSR_CORE_PERF_FIXED_CTR_CTRL
#define MOST		4	/* most registers in a row of the tables */

static const struct perfctr_ctr_control one[] = { CTR(0, EV_INSTRUCTIONS, USER) };

/* Only these registers were written on that CPU, each once, and none on others; 0 ends the list. */
static void expect_writes(const char *what, unsigned int cpu, const u32 *msrs)
{
	unsigned int i;

	for (i = 0; i < MOST && msrs[i]; i++)
		ck_assert_msg(model_writes[cpu][msrs[i]] == 1, "%s: %u writes of %#x", what,
			      model_writes[cpu][msrs[i]], msrs[i]);
	ck_assert_msg(model_all_writes() == i, "%s: %u writes, expected %u", what,
		      model_all_writes(), i);
	ck_assert_msg(model_all_calls() == i, "%s: registers were read", what);
	model_calls_reset();
}

static const u32 nothing[MOST];

/* From free counters to a first control, and from one control to another and back */
static const struct {
	const char *name;
	const struct model_machine *machine;
	unsigned int nr_a, nr_b;
	struct perfctr_ctr_control a[4], b[4];
	u32 first[MOST], to_b[MOST], to_a[MOST];
} pairs[] = {
	{ "disjoint", &model_default, 1, 1,
	  { CTR(0, EV_INSTRUCTIONS, USER) }, { CTR(1, EV_BRANCHES, USER) },
	  { SEL(0) }, {}, {} },
	{ "subset", &model_default, 2, 1,
	  { CTR(0, EV_INSTRUCTIONS, USER), CTR(1, EV_BRANCHES, USER) },
	  { CTR(1, EV_BRANCHES, USER) },
	  { SEL(0), SEL(1) }, {}, {} },
	{ "equal but for their order", &model_v1, 2, 2,
	  { CTR(0, EV_INSTRUCTIONS, USER), CTR(1, EV_BRANCHES, USER) },
	  { CTR(1, EV_BRANCHES, USER), CTR(0, EV_INSTRUCTIONS, USER) },
	  { SEL(0), SEL(1) }, {}, {} },
	{ "equal but for how it is said", &model_v2, 1, 1,
	  { CTR(0, EV_INSTRUCTIONS, USER) }, { CTR(0, EV_INSTRUCTIONS | SEL_USR | SEL_EN, USER) },
	  { SEL(0) }, {}, {} },
	{ "equal but for its name", &model_v2, 1, 1,
	  { CTR(0, EV_INSTRUCTIONS, USER) }, { CTR(ANY, EV_INSTRUCTIONS, USER) },
	  { SEL(0) }, {}, {} },
	{ "modes", &model_default, 1, 1,
	  { CTR(0, EV_INSTRUCTIONS, USER) }, { CTR(0, EV_INSTRUCTIONS, KERNEL) },
	  { SEL(0) }, { SEL(0) }, { SEL(0) } },
	{ "event", &model_v4, 1, 1,
	  { CTR(3, EV_INSTRUCTIONS, USER) }, { CTR(3, EV_ITLB, USER) },
	  { SEL(3) }, { SEL(3) }, { SEL(3) } },
	{ "unit mask", &model_v4, 1, 1,
	  { CTR(3, EV_BRANCHES, USER) }, { CTR(3, EV_BRANCHES | 0x100, USER) },
	  { SEL(3) }, { SEL(3) }, { SEL(3) } },
	{ "counter mask", &model_v4, 1, 1,
	  { CTR(3, EV_BRANCHES, USER) }, { CTR(3, EV_BRANCHES | SEL_CMASK(0x80), USER) },
	  { SEL(3) }, { SEL(3) }, { SEL(3) } },
	{ "one of two", &model_v5, 2, 2,
	  { CTR(0, EV_INSTRUCTIONS, USER), CTR(7, EV_BRANCHES, USER) },
	  { CTR(0, EV_INSTRUCTIONS, USER), CTR(7, EV_MISPREDICTIONS, USER) },
	  { SEL(0), SEL(7) }, { SEL(7) }, { SEL(7) } },
	{ "two of three, and the fixed ones", &model_v5, 4, 4,
	  { CTR(0, EV_INSTRUCTIONS, USER), CTR(1, EV_BRANCHES, USER), CTR(2, EV_ITLB, USER),
	    CTR(FIXED(0), EV_INSTRUCTIONS, USER) },
	  { CTR(0, EV_ITLB, USER), CTR(1, EV_BRANCHES, USER), CTR(2, EV_ITLB, KERNEL),
	    CTR(FIXED(0), EV_INSTRUCTIONS, BOTH) },
	  { SEL(0), SEL(1), SEL(2), FIXED_CTRL }, { SEL(0), SEL(2), FIXED_CTRL },
	  { SEL(0), SEL(2), FIXED_CTRL } },
	/* One register controls all fixed counters. */
	{ "fixed", &model_v2, 3, 3,
	  { CTR(FIXED(0), EV_INSTRUCTIONS, USER), CTR(FIXED(1), EV_CYCLES, USER),
	    CTR(FIXED(2), EV_REFERENCE_CYCLES, USER) },
	  { CTR(FIXED(0), EV_INSTRUCTIONS, KERNEL), CTR(FIXED(1), EV_CYCLES, BOTH),
	    CTR(FIXED(2), EV_REFERENCE_CYCLES, USER) },
	  { FIXED_CTRL }, { FIXED_CTRL }, { FIXED_CTRL } },
	{ "other fixed ones go on", &model_v2, 1, 1,
	  { CTR(FIXED(0), EV_INSTRUCTIONS, USER) }, { CTR(FIXED(2), EV_REFERENCE_CYCLES, USER) },
	  { FIXED_CTRL }, {}, {} },
	{ "fixed subset", &model_default, 2, 1,
	  { CTR(FIXED(0), EV_INSTRUCTIONS, USER), CTR(FIXED(1), EV_CYCLES, USER) },
	  { CTR(FIXED(1), EV_CYCLES, USER) },
	  { FIXED_CTRL }, {}, {} },
	{ "the clock", &model_default, 1, 0,
	  { CTR(0, EV_INSTRUCTIONS, USER) }, {}, { SEL(0) }, {}, {} },
	/* EVNTSEL0 of the P6 stays enabled, whatever is counted. */
	{ "p6, second", &model_p6, 1, 1,
	  { CTR(1, EV_INSTRUCTIONS, USER) }, { CTR(1, EV_BRANCHES, USER) },
	  { SEL(1) }, { SEL(1) }, { SEL(1) } },
	{ "p6, both", &model_p6, 2, 1,
	  { CTR(0, EV_P6_CYCLES, USER), CTR(1, EV_INSTRUCTIONS, USER) },
	  { CTR(0, EV_INSTRUCTIONS, BOTH) },
	  { SEL(0), SEL(1) }, { SEL(0) }, { SEL(0) } },
};

START_TEST(only_what_differs_is_written)
{
	const char *name = pairs[_i].name;
	struct thread a, b, c;
	int i;

	driver_init(pairs[_i].machine);
	thread_init(&a, claim_well(pairs[_i].a, pairs[_i].nr_a));
	thread_init(&b, claim_well(pairs[_i].b, pairs[_i].nr_b));
	thread_init(&c, a.config);
	model_calls_reset();
	thread_run(&a, 1, 1000);
	expect_writes(name, 1, pairs[_i].first);
	/* The registers that only b uses are new on that CPU. */
	thread_run(&b, 1, 1000);
	model_calls_reset();
	for (i = 0; i < 3; i++) {
		thread_run(&a, 1, 1234);
		expect_writes(name, 1, pairs[_i].to_a);
		thread_run(&c, 1, 77);
		expect_writes(name, 1, nothing);
		thread_run(&b, 1, 4321);
		expect_writes(name, 1, pairs[_i].to_b);
	}
	/* The other CPU has seen nothing of this. */
	thread_run(&a, 0, 1000);
	expect_writes(name, 0, pairs[_i].first);
	thread_expect_exact(&a);
	thread_expect_exact(&b);
	thread_expect_exact(&c);
}
END_TEST

/* After the first time, a switch to the same control accesses no register, on any machine. */
START_TEST(equal_controls_switch_for_nothing)
{
	struct thread a, b;
	int i;

	driver_init(machines[_i]);
	thread_init(&a, CLAIM(one));
	thread_init(&b, a.config);
	thread_run(&a, 0, 100);
	model_calls_reset();
	for (i = 0; i < 10; i++) {
		thread_run(&b, 0, 1000);
		thread_run(&a, 0, 100);
		model_execute(MODEL_USER, 99);
	}
	ck_assert_uint_eq(model_all_calls(), 0);
	thread_expect_exact(&a);
	thread_expect_exact(&b);
}
END_TEST

START_TEST(held_is_what_was_loaded)
{
	static const struct perfctr_ctr_control same[] = {
		CTR(0, EV_INSTRUCTIONS | SEL_USR | SEL_EN, USER),
	};
	struct perfctr_config *a, *b, *clock;

	driver_init(machines[_i]);
	a = CLAIM(one);
	b = CLAIM(same);
	clock = claim_well(NULL, 0);
	ck_assert(!has_loaded(0, a));
	ck_assert_int_eq(load_on(0, a), 0);
	ck_assert(has_loaded(0, a));
	ck_assert(!has_loaded(1, a));
	/* The registers are as b needs them, but only a load finds that out. */
	ck_assert(!has_loaded(0, b));
	ck_assert_int_eq(load_on(0, clock), 0);
	ck_assert(has_loaded(0, a));
	ck_assert_int_eq(load_on(0, b), 0);
	ck_assert(has_loaded(0, b));
	ck_assert(!has_loaded(0, a));
}
END_TEST

/*
 * Many threads of many controls, in any order, on two CPUs, moved between them,
 * interrupted by claims, by ageing and by execution that is nobody's.
 */
#define NR_CONTROLS	5
#define NR_THREADS	12

static const struct {
	const struct model_machine *machine;
	struct {
		unsigned int nr;
		struct perfctr_ctr_control ctr[4];
	} control[NR_CONTROLS];
} mixes[] = {
	{ &model_p6, {
		{ 1, { CTR(ANY, EV_INSTRUCTIONS, USER) } },
		{ 1, { CTR(1, EV_INSTRUCTIONS, KERNEL) } },
		{ 2, { CTR(1, EV_P6_CYCLES, BOTH), CTR(ANY, EV_BRANCHES, USER) } },
		{ 2, { CTR(0, EV_P6_CYCLES, KERNEL), CTR(1, EV_INSTRUCTIONS, USER) } },
		{ 0, {} } } },
	{ &model_v1, {
		{ 1, { CTR(1, EV_INSTRUCTIONS, USER) } },
		{ 1, { CTR(0, EV_INSTRUCTIONS, KERNEL) } },
		{ 2, { CTR(1, EV_CYCLES, BOTH), CTR(ANY, EV_BRANCHES, USER) } },
		{ 2, { CTR(ANY, EV_CYCLES, KERNEL), CTR(ANY, EV_ITLB, USER) } },
		{ 0, {} } } },
	{ &model_v2, {
		{ 2, { CTR(ANY, EV_INSTRUCTIONS, USER), CTR(FIXED(0), EV_INSTRUCTIONS, KERNEL) } },
		{ 1, { CTR(FIXED(0), EV_INSTRUCTIONS, USER) } },
		{ 4, { CTR(1, EV_CYCLES, BOTH), CTR(ANY, EV_BRANCHES, USER),
		       CTR(FIXED(1), EV_CYCLES, USER),
		       CTR(FIXED(2), EV_REFERENCE_CYCLES, KERNEL) } },
		{ 1, { CTR(FIXED(1), EV_CYCLES, BOTH) } },
		{ 1, { CTR(0, EV_REFERENCE_CYCLES, BOTH) } } } },
	{ &model_v5, {
		{ 2, { CTR(7, EV_INSTRUCTIONS, USER), CTR(FIXED(0), EV_INSTRUCTIONS, KERNEL) } },
		{ 3, { CTR(ANY, EV_MISPREDICTIONS, USER), CTR(ANY, EV_ITLB, USER),
		       CTR(ANY, EV_DTLB_READ, BOTH) } },
		{ 4, { CTR(1, EV_CYCLES, BOTH), CTR(ANY, EV_BRANCHES, USER),
		       CTR(FIXED(1), EV_CYCLES, USER),
		       CTR(FIXED(2), EV_REFERENCE_CYCLES, KERNEL) } },
		{ 1, { CTR(FIXED(1), EV_CYCLES, BOTH) } },
		{ 1, { CTR(7, EV_INSTRUCTIONS, BOTH) } } } },
};

START_TEST(sums_are_exact)
{
	static const struct perfctr_ctr_control transient[] = { CTR(1, EV_BRANCHES, BOTH) };
	struct perfctr_config *config[NR_CONTROLS];
	struct thread thread[NR_THREADS];
	unsigned int i;

	driver_init(mixes[_i].machine);
	for (i = 0; i < NR_CONTROLS; i++)
		config[i] = claim_well(mixes[_i].control[i].ctr, mixes[_i].control[i].nr);
	for (i = 0; i < NR_THREADS; i++)
		thread_init(&thread[i], config[i % NR_CONTROLS]);
	ck_assert_uint_eq(threads_take_turns(thread, NR_THREADS, transient, 1), 0);
	for (i = 0; i < NR_THREADS; i++) {
		ck_assert_uint_ne(thread[i].state.clock, 0);
		if (thread[i].config->nr)
			ck_assert_uint_ne(thread[i].state.ctr[0].acc, 0);
		thread_expect_exact(&thread[i]);
	}
	ck_assert_uint_eq(model_pmis[0] + model_pmis[1], 0);
}
END_TEST

/* Perf counts by the second fixed counter, and does not know of ours, the first and the third. */
#define PERFS_BITS	0xb0u
#define OUR_BITS	0xf0fu

/* An NMI comes when we have written the control of fixed counters. perf's handler writes it, too, and then ours. */
static void write_as_perf(u32 msr)
{
	static bool inside;

	if (inside || msr != FIXED_CTRL)
		return;
	inside = true;
	model_set_msr(shim_cpu, FIXED_CTRL, PERFS_BITS);
	perfctr_x86_restore_fixed();
	inside = false;
}

static void expect_fixed(u64 ours)
{
	ck_assert_uint_eq(model_msr(0, FIXED_CTRL), ours | PERFS_BITS);
}

START_TEST(perf_writes_the_control_of_fixed_counters)
{
	static const struct perfctr_ctr_control ctr_a[] = {
		CTR(FIXED(0), EV_INSTRUCTIONS, USER), CTR(0, EV_BRANCHES, USER),
	}, ctr_b[] = {
		CTR(FIXED(0), EV_INSTRUCTIONS, KERNEL), CTR(FIXED(2), EV_REFERENCE_CYCLES, USER),
		CTR(0, EV_INSTRUCTIONS, USER),
	};
	struct perfctr_x86_cpu *cpu = per_cpu_ptr(&perfctr_x86_cpu, 0);
	struct thread a, b;
	int i;

	driver_init(&model_default);
	thread_init(&a, claim_well(ctr_a, ARRAY_SIZE(ctr_a)));
	thread_init(&b, claim_well(ctr_b, ARRAY_SIZE(ctr_b)));
	perfctr_pmu.beside = true;
	cpu->held = BIT(PERFCTR_X86_FIXED) | BIT(PERFCTR_X86_FIXED + 2) | 1;
	ck_assert_uint_eq(perfctr_x86_bits_of(cpu->held, perfctr_pmu.ctr[PERFCTR_X86_FIXED].reg), OUR_BITS);
	model_after_write = write_as_perf;
	for (i = 0; i < 3; i++) {
		thread_run(&a, 0, 1234);
		expect_fixed(0x2 | (i ? 0x200 : 0));
		thread_run(&b, 0, 4321);
		expect_fixed(0x201);
	}
	model_after_write = NULL;
	thread_expect_exact(&a);
	/* Of b's kernel mode some is missed between perf's write and ours. */
	perfctr_pmu.beside = false;
	cpu->held = 0;
}
END_TEST

void test_load(void)
{
	unit_begin("x86_load");
	UNIT_ROWS(only_what_differs_is_written, pairs);
	UNIT_ROWS(equal_controls_switch_for_nothing, machines);
	UNIT_ROWS(held_is_what_was_loaded, machines);
	UNIT_ROWS(sums_are_exact, mixes);
	UNIT_RUN(perf_writes_the_control_of_fixed_counters);
}
