// SPDX-License-Identifier: GPL-2.0
/* perfctr_cpu_load(): what a switch between controls writes; sums stay exact through it. */
#include "tests.h"

static const struct model_processor *begin(const char *name)
{
	struct model_machine machine = model_machine_of(model_named(name));

	driver_init(&machine);
	return model_named(name);
}

static void expect_writes(const char *name, unsigned int mmcr0, unsigned int mmcr1,
			  unsigned int mmcr2, unsigned int others)
{
	const unsigned int *writes = model_writes[0];

	ck_assert_msg(writes[SPR_MMCR0] == mmcr0 && writes[SPR_MMCR1] == mmcr1 &&
		      writes[SPR_MMCR2] == mmcr2 &&
		      model_all_calls() == mmcr0 + mmcr1 + mmcr2 + others,
		      "%s: %u, %u, %u writes of MMCR0 to MMCR2, %u in all", name, writes[SPR_MMCR0],
		      writes[SPR_MMCR1], writes[SPR_MMCR2], model_all_calls());
	model_calls_reset();
}

/* Each switch between two writes those control registers that differ. */
static const struct {
	const char *name;
	struct perfctr_ctr_control a[2], b[2];
	unsigned int nr_a, nr_b;
	unsigned int mmcr0, mmcr1, mmcr2;
} pairs[] = {
	{ "same select", { CTR(0, 2, USER) }, { CTR(0, 2, USER) }, 1, 1, 0, 0, 0 },
	{ "select of PMC1", { CTR(0, 2, USER) }, { CTR(0, 1, USER) }, 1, 1, 1, 0, 0 },
	{ "select of PMC2", { CTR(1, 2, USER) }, { CTR(1, 1, USER) }, 1, 1, 1, 0, 0 },
	{ "select of PMC3", { CTR(2, 2, USER) }, { CTR(2, 1, USER) }, 1, 1, 0, 1, 0 },
	{ "select of PMC6", { CTR(5, 2, USER) }, { CTR(5, 1, USER) }, 1, 1, 0, 1, 0 },
	{ "other counter", { CTR(0, 2, USER) }, { CTR(3, 2, USER) }, 1, 1, 1, 1, 0 },
	{ "one more", { CTR(0, 2, USER) }, { CTR(0, 2, USER), CTR(4, 1, USER) }, 1, 2, 0, 1, 0 },
	{ "modes", { CTR(2, 2, USER) }, { CTR(2, 2, BOTH) }, 1, 1, 1, 0, 0 },
	{ "multiplier", { CTR_MMCR(2, 2, USER, MMCRS(0, THRESHMULT)) }, { CTR(2, 2, USER) }, 1, 1,
	  0, 0, 1 },
	{ "threshold", { CTR_MMCR(2, 2, USER, THRESHOLD(2)) }, { CTR(2, 2, USER) }, 1, 1, 1, 0, 0 },
	{ "all three", { CTR_MMCR(2, 2, USER, MMCRS(THRESHOLD(9), THRESHMULT)) },
	  { CTR(3, 2, BOTH) }, 1, 1, 1, 1, 1 },
	/* Stopped i-mode counters select nothing. */
	{ "i-mode", { CTR(0, 2, USER), ICTR(1, 2, USER, 5) }, { CTR(0, 2, USER) }, 2, 1, 0, 0, 0 },
};

START_TEST(writes_what_differs)
{
	struct perfctr_config *a, *b;
	const char *name = pairs[_i].name;

	begin("7450");
	a = claim_well(pairs[_i].a, pairs[_i].nr_a);
	b = claim_well(pairs[_i].b, pairs[_i].nr_b);
	ck_assert_int_eq(load_on(0, a), 0);
	model_calls_reset();
	ck_assert_int_eq(load_on(0, b), 0);
	ck_assert(has_loaded(0, b) && !has_loaded(0, a) && !has_loaded(1, b));
	expect_writes(name, pairs[_i].mmcr0, pairs[_i].mmcr1, pairs[_i].mmcr2, 0);
	ck_assert_int_eq(load_on(0, a), 0);
	expect_writes(name, pairs[_i].mmcr0, pairs[_i].mmcr1, pairs[_i].mmcr2, 0);
	/* Again, which the caller avoids by the id */
	ck_assert_int_eq(load_on(0, a), 0);
	expect_writes(name, 0, 0, 0, 0);
	/* Another CPU knows nothing of that. */
	ck_assert_int_eq(load_on(1, a), 0);
	ck_assert_uint_gt(model_all_calls(), 0);
}
END_TEST

/* Threads of one control come and go without a write. */
START_TEST(equal_controls_write_nothing)
{
	static const struct perfctr_ctr_control four[] = {
		CTR(ANY, 1, BOTH), CTR(ANY, 2, BOTH), CTR(0, 14, BOTH), CTR(5, 5, BOTH),
	};
	struct thread a, b;
	int i;

	begin("7450");
	thread_init(&a, CLAIM(four));
	thread_init(&b, a.config);
	thread_run(&a, 0, 100);
	model_calls_reset();
	for (i = 0; i < 10; i++) {
		thread_run(&b, 0, 1000);
		model_execute(MODEL_USER, 99);
		thread_run(&a, 0, 100);
	}
	expect_writes("equal", 0, 0, 0, 0);
	thread_expect_exact(&a);
	thread_expect_exact(&b);
}
END_TEST

START_TEST(the_clock_needs_nothing)
{
	struct perfctr_config *clock, *config;
	static const struct perfctr_ctr_control one[] = { CTR(0, 2, USER) };
	struct thread thread;

	begin(_i ? "7450" : "603e");
	clock = claim_well(NULL, 0);
	config = _i ? CLAIM(one) : clock;
	ck_assert_int_eq(load_on(0, config), 0);
	model_calls_reset();
	thread_init(&thread, clock);
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	expect_writes("clock", 0, 0, 0, 0);
	ck_assert(!_i || has_loaded(0, config));
}
END_TEST

/* Sums stay exact whatever else is loaded, claimed and aged meanwhile, on each processor. */
START_TEST(sums_are_exact)
{
	static const struct perfctr_ctr_control a[] = { CTR(0, EV_INSTRUCTIONS, USER) };
	static const struct perfctr_ctr_control b[] = {
		CTR(1, EV_CYCLES, BOTH), CTR(0, EV_STORES, BOTH),
	};
	static const struct perfctr_ctr_control c[] = {
		CTR(ANY, EV_CYCLES, KERNEL), CTR(ANY, EV_INSTRUCTIONS, KERNEL),
	};
	static const struct perfctr_ctr_control d[] = {
		CTR_MMCR(3, EV_BRANCHES, USER, THRESHOLD(3)),
		CTR_MMCR(2, EV_LOADS, USER, THRESHOLD(3)),
		CTR_MMCR(1, EV_ITLB, USER, THRESHOLD(3)),
	};
	struct model_machine machine = model_machine_of(&model_processors[_i]);
	struct thread thread[8];
	unsigned int i;

	if (!model_processors[_i].counters)
		return;
	driver_init(&machine);
	thread_init(&thread[0], CLAIM(a));
	thread_init(&thread[2], CLAIM(b));
	thread_init(&thread[4], CLAIM(c));
	thread_init(&thread[6], model_processors[_i].counters > 2 ? CLAIM(d) : thread[0].config);
	for (i = 0; i < 8; i += 2)
		thread_init(&thread[i + 1], thread[i].config);
	threads_take_turns(thread, 8, b, 1);
	for (i = 0; i < 8; i++)
		thread_expect_exact(&thread[i]);
}
END_TEST

/* Ageing sets back from 2^30 on, and nothing else; never a stopped i-mode counter. */
static const struct {
	u32 value;
	bool aged;
} ages[] = {
	{ 1, false }, { (1u << 30) - 1, false }, { 1u << 30, true }, { NEGATIVE - 1, true },
	{ NEGATIVE, true }, { ~0u, true },
};

START_TEST(ages_what_is_old)
{
	static const struct perfctr_ctr_control ctr[] = {
		CTR(0, 2, USER), CTR(3, 1, USER), ICTR(4, 4, USER, 1ul << 31),
	};
	struct perfctr_config *config;
	unsigned int hw;
	u64 value;

	begin("7450");
	config = CLAIM(ctr);
	ck_assert_int_eq(load_on(0, config), 0);
	/* A stopped i-mode counter may have any value. */
	value = (u64)ages[_i].value - BIT_ULL(31);
	local_irq_disable();
	ck_assert_int_eq(perfctr_cpu_istart(config, &value), 0);
	perfctr_cpu_istop(config, config);
	local_irq_enable();
	ck_assert_uint_eq(model_pmc(0, 4), ages[_i].value);
	for (hw = 0; hw < 6; hw++)
		if (hw != 4)
			model_set_pmc(0, hw, ages[_i].value);
	ck_assert_int_eq(age_all(), 0);
	for (hw = 0; hw < 6; hw++)
		ck_assert_uint_eq(model_pmc(0, hw), ages[_i].aged && hw != 4 ? 0 : ages[_i].value);
	local_irq_disable();
	ck_assert(perfctr_cpu_istopped(config));
	local_irq_enable();
}
END_TEST

/* Between two looks no counter gets from below 2^30 to 2^31, by 2^33 events a second. */
START_TEST(ageing_is_in_time)
{
	begin("7450");
	shim_hz = (int[]) { 100, 250, 300, 1000 }[_i];
	ck_assert_uint_le(perfctr_cpu_age_period(), (unsigned long)shim_hz / 8);
	ck_assert_uint_gt(perfctr_cpu_age_period(), 0);
}
END_TEST

void test_load(void)
{
	unit_begin("ppc32_load");
	UNIT_ROWS(writes_what_differs, pairs);
	UNIT_RUN(equal_controls_write_nothing);
	unit_run(the_clock_needs_nothing, 2);
	unit_run(sums_are_exact, MODEL_PROCESSORS);
	UNIT_ROWS(ages_what_is_old, ages);
	unit_run(ageing_is_in_time, 4);
}
