// SPDX-License-Identifier: GPL-2.0
/* perfctr_cpu_load(): what a switch between controls costs, and that sums stay exact through it. */
#include "tests.h"

static const struct model_machine shuffled = {
	.sbi = true, .sscofpmf = true, .shuffled = true,
	.nr_cpus = 2, .programmable = 0x7f8, .width = 40,
};

static const struct model_machine unfiltered = {
	.sbi = true, .nr_cpus = 2, .programmable = 0x18, .width = 40,
};

/* A single counter, for which all controls compete */
static const struct model_machine narrow = {
	.sbi = true, .sscofpmf = true, .nr_cpus = 2, .programmable = 0x8, .width = 64,
};

/* QEMU: only one counter counts an event. */
static const struct model_machine once = {
	.sbi = true, .sscofpmf = true, .event_once = true,
	.nr_cpus = 2, .programmable = 0x7f8, .width = 64,
};

static const struct perfctr_ctr_control instructions[] = { CTR(ANY, EV_INSTRUCTIONS, USER) };
static const struct perfctr_ctr_control instructions_kernel[] = {
	CTR(ANY, EV_INSTRUCTIONS, KERNEL),
};
static const struct perfctr_ctr_control itlb[] = { CTR(ANY, EV_ITLB, BOTH) };

static void expect_calls(unsigned int cfg, unsigned int start, unsigned int stop)
{
	ck_assert_msg(model_calls[SBI_EXT_PMU_COUNTER_CFG_MATCH] == cfg &&
		      model_calls[SBI_EXT_PMU_COUNTER_START] == start &&
		      model_calls[SBI_EXT_PMU_COUNTER_STOP] == stop &&
		      model_all_calls() == cfg + start + stop,
		      "%u CFG_MATCH, %u START, %u STOP, expected %u, %u, %u",
		      model_calls[SBI_EXT_PMU_COUNTER_CFG_MATCH],
		      model_calls[SBI_EXT_PMU_COUNTER_START],
		      model_calls[SBI_EXT_PMU_COUNTER_STOP], cfg, start, stop);
	model_calls_reset();
}

/* After the first time, a switch to the same control makes no call. */
START_TEST(equal_controls_switch_without_a_call)
{
	static const struct perfctr_ctr_control four[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_CYCLES, BOTH),
		CTR(0, EV_CYCLES, BOTH), CTR_RAW(ANY, RAW_STORES, KERNEL),
	};
	struct thread a, b;
	int i;

	driver_init(&model_default);
	thread_init(&a, CLAIM(four));
	thread_init(&b, a.config);
	model_calls_reset();
	thread_run(&a, 0, 100);
	/* All programmable counters with one call; cycle runs already. */
	expect_calls(0, 1, 0);
	for (i = 0; i < 10; i++) {
		thread_run(&b, 0, 1000);
		thread_run(&a, 0, 100);
		model_execute(MODEL_USER, 99);
	}
	expect_calls(0, 0, 0);
	thread_run(&b, 1, 1000);
	expect_calls(0, 1, 0);
	thread_expect_exact(&a);
	thread_expect_exact(&b);
}
END_TEST

/* Loading a config that is loaded, or was a moment ago, makes no call either. */
START_TEST(load_again_is_free)
{
	struct perfctr_config *config;

	driver_init(&model_default);
	config = CLAIM(instructions);
	ck_assert_int_eq(load_on(0, config), 0);
	model_calls_reset();
	ck_assert_int_eq(load_on(0, config), 0);
	expect_calls(0, 0, 0);
	ck_assert(has_loaded(0, config));
	ck_assert(!has_loaded(1, config));
	ck_assert_int_eq(load_on(1, config), 0);
	ck_assert(has_loaded(1, config));
}
END_TEST

/* The clock alone needs nothing, and takes nothing from anyone. */
START_TEST(clock_alone_needs_nothing)
{
	struct perfctr_config *clock, *config;
	struct thread thread;

	driver_init(&model_default);
	clock = claim_well(NULL, 0);
	config = CLAIM(instructions);
	ck_assert_int_eq(load_on(0, config), 0);
	model_calls_reset();
	ck_assert_int_eq(load_on(0, clock), 0);
	ck_assert(has_loaded(0, config));
	thread_init(&thread, clock);
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	expect_calls(0, 0, 0);
	ck_assert(has_loaded(0, config));
}
END_TEST

/* Only the differences are programmed, the first time and at each switch. */
static const struct {
	const char *name;
	struct perfctr_ctr_control a[3], b[3];
	unsigned int nr_a, nr_b;
	unsigned int cfg, start, stop;	/* of each switch */
} pairs[] = {
	{ "disjoint", { CTR(3, EV_INSTRUCTIONS, USER) }, { CTR(4, EV_CYCLES, USER) }, 1, 1, 0, 0, 0 },
	{ "subset", { CTR(3, EV_INSTRUCTIONS, USER), CTR(4, EV_CYCLES, USER) },
	  { CTR(3, EV_INSTRUCTIONS, USER) }, 2, 1, 0, 0, 0 },
	{ "equal but for their order", { CTR(3, EV_INSTRUCTIONS, USER), CTR(4, EV_CYCLES, USER) },
	  { CTR(4, EV_CYCLES, USER), CTR(3, EV_INSTRUCTIONS, USER) }, 2, 2, 0, 0, 0 },
	{ "filter", { CTR(3, EV_INSTRUCTIONS, USER) }, { CTR(3, EV_INSTRUCTIONS, KERNEL) },
	  1, 1, 1, 1, 1 },
	{ "event", { CTR(3, EV_INSTRUCTIONS, USER) }, { CTR(3, EV_ITLB, USER) }, 1, 1, 1, 1, 1 },
	{ "event data", { CTR_RAW(3, RAW_STORES, USER) }, { CTR(3, EV_ITLB, USER) }, 1, 1, 1, 1, 1 },
	{ "one of two", { CTR(3, EV_INSTRUCTIONS, USER), CTR(4, EV_CYCLES, USER) },
	  { CTR(3, EV_INSTRUCTIONS, USER), CTR(4, EV_ITLB, USER) }, 2, 2, 1, 1, 1 },
	{ "two of three",
	  { CTR(3, EV_INSTRUCTIONS, USER), CTR(4, EV_CYCLES, USER), CTR(5, EV_ITLB, USER) },
	  { CTR(3, EV_DTLB_READ, USER), CTR(4, EV_CYCLES, KERNEL), CTR(5, EV_ITLB, USER) },
	  3, 3, 2, 1, 2 },
	/* A fixed counter is not given back for another filter, and runs on. */
	{ "filter of cycle", { CTR(0, EV_CYCLES, USER) }, { CTR(0, EV_CYCLES, KERNEL) }, 1, 1, 1, 0, 0 },
};

START_TEST(only_what_differs_is_programmed)
{
	struct thread a, b;
	int i;

	driver_init(&model_filtering);
	thread_init(&a, claim_well(pairs[_i].a, pairs[_i].nr_a));
	thread_init(&b, claim_well(pairs[_i].b, pairs[_i].nr_b));
	thread_run(&a, 0, 1000);
	thread_run(&b, 0, 1000);
	model_calls_reset();
	for (i = 0; i < 5; i++) {
		thread_run(&a, 0, 1234 + (u64)i);
		expect_calls(pairs[_i].cfg, pairs[_i].start, pairs[_i].stop);
		thread_run(&b, 0, 4321 + (u64)i);
		expect_calls(pairs[_i].cfg, pairs[_i].start, pairs[_i].stop);
	}
	thread_expect_exact(&a);
	thread_expect_exact(&b);
}
END_TEST

/*
 * Many threads of many controls, in any order, on two CPUs, moved between them,
 * interrupted by claims, by ageing and by execution that is nobody's.
 */
static const struct {
	const char *name;
	const struct model_machine *machine;
	unsigned int nr;
	struct {
		unsigned int nr;
		struct perfctr_ctr_control ctr[4];
	} control[6];
} mixes[] = {
	{ "default", &model_default, 6, {
		{ 1, { CTR(ANY, EV_INSTRUCTIONS, USER) } },
		{ 1, { CTR(ANY, EV_INSTRUCTIONS, KERNEL) } },
		{ 2, { CTR(ANY, EV_INSTRUCTIONS, BOTH), CTR(ANY, EV_CYCLES, USER) } },
		{ 4, { CTR(0, EV_CYCLES, BOTH), CTR(2, EV_INSTRUCTIONS, BOTH),
		       CTR(3, EV_ITLB, USER), CTR_RAW(4, RAW_STORES, USER) } },
		{ 3, { CTR(4, EV_DTLB_READ, USER), CTR(3, EV_DTLB_READ, KERNEL),
		       CTR(5, EV_DTLB_READ, BOTH) } },
		{ 0, {} } } },
	{ "filtered fixed", &model_filtering, 4, {
		{ 2, { CTR(0, EV_CYCLES, USER), CTR(2, EV_INSTRUCTIONS, USER) } },
		{ 2, { CTR(0, EV_CYCLES, KERNEL), CTR(2, EV_INSTRUCTIONS, BOTH) } },
		{ 2, { CTR(ANY, EV_CYCLES, USER), CTR(2, EV_INSTRUCTIONS, KERNEL) } },
		{ 1, { CTR(ANY, EV_CYCLES, KERNEL) } } } },
	{ "shuffled", &shuffled, 4, {
		{ 3, { CTR(0, EV_CYCLES, BOTH), CTR(ANY, EV_ITLB, USER), CTR(10, EV_CYCLES, USER) } },
		{ 2, { CTR(10, EV_ITLB, USER), CTR(ANY, EV_CYCLES, KERNEL) } },
		{ 1, { CTR(3, EV_DTLB_WRITE, USER) } },
		{ 1, { CTR(3, EV_DTLB_WRITE, BOTH) } } } },
	{ "unfiltered", &unfiltered, 3, {
		{ 2, { CTR(3, EV_ITLB, BOTH), CTR(4, EV_DTLB_READ, BOTH) } },
		{ 2, { CTR(4, EV_ITLB, BOTH), CTR(3, EV_DTLB_READ, BOTH) } },
		{ 3, { CTR(0, EV_CYCLES, BOTH), CTR(2, EV_INSTRUCTIONS, BOTH),
		       CTR(3, EV_DTLB_WRITE, BOTH) } } } },
	{ "event once", &once, 5, {
		{ 1, { CTR(3, EV_ITLB, USER) } },
		{ 2, { CTR(4, EV_ITLB, USER), CTR(3, EV_CYCLES, USER) } },
		{ 2, { CTR(5, EV_ITLB, KERNEL), CTR(6, EV_CYCLES, BOTH) } },
		{ 2, { CTR(ANY, EV_ITLB, BOTH), CTR(2, EV_INSTRUCTIONS, BOTH) } },
		{ 2, { CTR_RAW(3, RAW_LOADS, USER), CTR_RAW(4, RAW_STORES, USER) } } } },
	{ "one counter", &narrow, 5, {
		{ 1, { CTR(ANY, EV_INSTRUCTIONS, USER) } },
		{ 1, { CTR(ANY, EV_INSTRUCTIONS, KERNEL) } },
		{ 1, { CTR(ANY, EV_ITLB, USER) } },
		{ 1, { CTR_RAW(ANY, RAW_STORES, BOTH) } },
		{ 1, { CTR(3, EV_CYCLES, USER) } } } },
};

#define NR_THREADS	12

START_TEST(sums_are_exact)
{
	static const struct perfctr_ctr_control transient[] = { CTR(ANY, EV_CYCLES, BOTH) };
	struct perfctr_config *config[6];
	struct thread thread[NR_THREADS];
	unsigned int i;

	ck_assert_uint_ne(mixes[_i].nr, 0);
	driver_init(mixes[_i].machine);
	for (i = 0; i < mixes[_i].nr; i++)
		config[i] = claim_well(mixes[_i].control[i].ctr, mixes[_i].control[i].nr);
	for (i = 0; i < NR_THREADS; i++)
		thread_init(&thread[i], config[i % mixes[_i].nr]);
	/* The machine with one counter has none left. */
	(void)threads_take_turns(thread, NR_THREADS, transient, 1);
	for (i = 0; i < NR_THREADS; i++) {
		ck_assert_int_eq(thread[i].error, 0);
		ck_assert_uint_ne(thread[i].state.clock, 0);
		thread_expect_exact(&thread[i]);
	}
}
END_TEST

/* A load whose counter cannot be had is EIO, and nothing is believed afterwards. */
START_TEST(counter_that_cannot_be_had)
{
	static const struct perfctr_ctr_control a[] = { CTR(3, EV_INSTRUCTIONS, USER) };
	static const struct perfctr_ctr_control b[] = { CTR(3, EV_ITLB, USER) };
	struct perfctr_config *config_a, *config_b;
	struct thread thread;

	driver_init(&model_default);
	config_a = CLAIM(a);
	config_b = CLAIM(b);
	thread_init(&thread, config_b);
	ck_assert_int_eq(load_on(0, config_a), 0);
	/* The counter has neither the new nor the old event. */
	model_fail(SBI_EXT_PMU_COUNTER_CFG_MATCH, 0, 1, SBI_ERR_FAILURE);
	ck_assert_int_eq(load_on(0, config_b), -EIO);
	ck_assert(!has_loaded(0, config_b));
	ck_assert(!has_loaded(0, config_a));
	ck_assert_int_eq(load_on(0, config_b), 0);
	ck_assert(has_loaded(0, config_b));
	thread_run(&thread, 0, 5000);
	thread_expect_exact(&thread);
}
END_TEST

START_TEST(counter_that_is_gone)
{
	static const struct perfctr_ctr_control a[] = { CTR(3, EV_INSTRUCTIONS, USER) };
	static const struct perfctr_ctr_control b[] = { CTR(3, EV_ITLB, USER) };
	struct perfctr_config *config_a, *config_b;
	struct thread thread;

	driver_init(&model_default);
	config_a = CLAIM(a);
	config_b = CLAIM(b);
	thread_init(&thread, config_a);
	ck_assert_int_eq(load_on(0, config_a), 0);
	age_all();
	/* The change to b fails, and so does the way back: the counter is lost ... */
	model_fail(SBI_EXT_PMU_COUNTER_CFG_MATCH, 0, 2, SBI_ERR_FAILURE);
	ck_assert_int_eq(load_on(0, config_b), -EIO);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), 0);
	/* ... even to perf, ... */
	ck_assert(model_perf_take(0, 3, EV_DTLB_READ, 0, true));
	ck_assert_int_eq(load_on(0, config_a), -EIO);
	ck_assert_int_eq(load_on(0, config_b), -EIO);
	ck_assert(!has_loaded(0, config_a));
	model_calls_reset();
	age_all();
	expect_calls(0, 0, 0);
	/* ... until it is free. */
	model_perf_give(0, BIT(3));
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* A counter that was given up for the only one with an event may be perf's by now. */
START_TEST(counter_that_was_given_up)
{
	static const struct perfctr_ctr_control a[] = { CTR(3, EV_ITLB, USER) };
	static const struct perfctr_ctr_control b[] = { CTR(4, EV_ITLB, USER) };
	struct perfctr_config *config_a, *config_b;
	struct thread thread;

	driver_init(&once);
	config_a = CLAIM(a);
	config_b = CLAIM(b);
	thread_init(&thread, config_b);
	ck_assert_int_eq(load_on(0, config_a), 0);
	ck_assert_int_eq(load_on(0, config_b), 0);
	ck_assert(model_perf_take(0, 3, EV_CYCLES, 0, true));
	/* The model checks that perf's counter is not touched. */
	ck_assert_int_eq(load_on(0, config_a), -EIO);
	unclaim(config_a);
	ck_assert_uint_eq(model_owned(0, MODEL_PERF), BIT(3));
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* START fails: the config is not loaded, and the next load starts again. */
static const struct {
	const char *name;
	long error;
	unsigned int nr;
	struct perfctr_ctr_control ctr[2];
} starts[] = {
	{ "failure", SBI_ERR_FAILURE, 1, { CTR(3, EV_INSTRUCTIONS, USER) } },
	{ "not supported", SBI_ERR_NOT_SUPPORTED, 2,
	  { CTR(3, EV_INSTRUCTIONS, USER), CTR(4, EV_ITLB, KERNEL) } },
	{ "invalid", SBI_ERR_INVALID_PARAM, 1, { CTR(3, EV_INSTRUCTIONS, USER) } },
};

START_TEST(start_error)
{
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_default);
	config = claim_well(starts[_i].ctr, starts[_i].nr);
	thread_init(&thread, config);
	model_fail(SBI_EXT_PMU_COUNTER_START, 0, 1, starts[_i].error);
	ck_assert_int_eq(load_on(0, config), -EIO);
	ck_assert(!has_loaded(0, config));
	model_calls_reset();
	thread_run(&thread, 0, 1000);
	expect_calls(0, 1, 0);
	thread_expect_exact(&thread);
}
END_TEST

/* Also if another config was active: after a failed load no config counts as loaded. */
START_TEST(failed_load_leaves_no_other)
{
	struct perfctr_config *a, *b;
	struct thread thread, other;

	driver_init(&narrow);
	a = CLAIM(instructions);
	b = CLAIM(itlb);
	thread_init(&thread, a);
	thread_init(&other, b);
	thread_run(&thread, 0, 1000);
	thread_run(&other, 0, 1000);
	thread_run(&thread, 0, 1000);
	model_fail(SBI_EXT_PMU_COUNTER_START, 0, 1, SBI_ERR_FAILURE);
	thread_in(&other, 0);
	ck_assert_int_eq(other.error, -EIO);
	model_execute(MODEL_USER, 1000);
	thread_out(&other);
	ck_assert(!has_loaded(0, a));
	ck_assert(!has_loaded(0, b));
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	/* Its sums are what they were. */
	thread_expect_exact(&other);
}
END_TEST

/* ALREADY_STARTED is no error: sums are differences. */
START_TEST(already_started_is_good)
{
	static const struct perfctr_ctr_control fixed[] = {
		CTR(0, EV_CYCLES, BOTH), CTR(2, EV_INSTRUCTIONS, BOTH),
	};
	struct thread thread;

	driver_init(&model_default);
	thread_init(&thread, CLAIM(fixed));
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* Equal counters with another filter are not taken for the same. */
START_TEST(filter_is_part_of_the_program)
{
	struct thread user, kernel;
	int i;

	driver_init(&model_default);
	thread_init(&user, CLAIM(instructions));
	thread_init(&kernel, CLAIM(instructions_kernel));
	for (i = 0; i < 3; i++) {
		thread_run(&user, 0, 1000);
		thread_run(&kernel, 0, 1000);
	}
	ck_assert_uint_eq(user.state.ctr[0].acc, 3000);
	thread_expect_exact(&user);
	thread_expect_exact(&kernel);
}
END_TEST

void test_load(void)
{
	unit_begin("riscv_load");
	UNIT_RUN(equal_controls_switch_without_a_call);
	UNIT_RUN(load_again_is_free);
	UNIT_RUN(clock_alone_needs_nothing);
	UNIT_ROWS(only_what_differs_is_programmed, pairs);
	UNIT_ROWS(sums_are_exact, mixes);
	UNIT_RUN(counter_that_cannot_be_had);
	UNIT_RUN(counter_that_is_gone);
	UNIT_RUN(counter_that_was_given_up);
	UNIT_ROWS(start_error, starts);
	UNIT_RUN(failed_load_leaves_no_other);
	UNIT_RUN(already_started_is_good);
	UNIT_RUN(filter_is_part_of_the_program);
}
