// SPDX-License-Identifier: GPL-2.0
/* Claiming: all or nothing of the machine's; how registers are taken, and how given back. */
#include "arch/ppc32/registers.h"
#include "tests.h"

static const struct perfctr_ctr_control one[] = { CTR(0, EV_INSTRUCTIONS, USER) };
static const struct perfctr_ctr_control i_mode[] = { ICTR(1, EV_INSTRUCTIONS, USER, 100) };

static const struct model_processor *begin(int i)
{
	struct model_machine machine = model_machine_of(&model_processors[i]);

	shim_set_param("unsafe_interrupts", 1);
	driver_init(&machine);
	return &model_processors[i];
}

/* Nothing counts, nothing interrupts, and all is zero. */
static void expect_at_rest(unsigned int cpu)
{
	const struct model_processor *processor = model_processor();
	unsigned int hw;

	ck_assert_uint_eq(model_mmcr0(cpu), FC);
	if (processor->mmcrs > 1)
		ck_assert_uint_eq(model_mmcr1(cpu), 0);
	if (processor->mmcrs > 2)
		ck_assert_uint_eq(model_mmcr2(cpu), 0);
	if (processor->bamr)
		ck_assert_uint_eq(model_spr(cpu, SPR_BAMR), 0);
	for (hw = 0; hw < processor->counters; hw++)
		ck_assert_uint_eq(model_pmc(cpu, hw), 0);
}

/* Whatever somebody left there, and by writes to registers that exist alone: the model's rule */
START_TEST(takes_all)
{
	const struct model_processor *processor = begin(_i);
	struct perfctr_config *config;
	unsigned int cpu, hw;

	if (!processor->counters)
		return;
	for (cpu = 0; cpu < 2; cpu++) {
		for (hw = 0; hw < processor->counters; hw++)
			model_set_pmc(cpu, hw, NEGATIVE + hw);
		model_set_spr(cpu, SPR_MMCR0, FCECE | PMC1CE | PMCNCE | SEL1(1) | SEL2(2));
		if (processor->mmcrs > 1)
			model_set_spr(cpu, SPR_MMCR1, ~0u);
		if (processor->mmcrs > 2)
			model_set_spr(cpu, SPR_MMCR2, ~0u);
	}
	config = CLAIM(one);
	expect_at_rest(0);
	expect_at_rest(1);
	ck_assert_uint_eq(config->mask, 1);
	ck_assert_int_eq(load_on(0, config), 0);
	ck_assert_int_eq(restart_on(1, config, 7), 0);
	shim_cpu = 0;
	model_execute(MODEL_USER, 1000);
	unclaim(config);
	expect_at_rest(0);
	expect_at_rest(1);
	ck_assert_uint_eq(model_releases, 1);
}
END_TEST

/* The interrupt is off before the owner goes: the model's release_pmc_hardware() looks. */
START_TEST(gives_back_what_interrupts)
{
	struct perfctr_config *config;
	u64 value = -100;

	if (!begin(_i)->counters)
		return;
	config = CLAIM(i_mode);
	ck_assert_int_eq(load_on(1, config), 0);
	local_irq_disable();
	ck_assert_int_eq(perfctr_cpu_istart(config, &value), 0);
	local_irq_enable();
	ck_assert(model_mmcr0(1) & PMXE);
	model_execute(MODEL_USER, 200);
	ck_assert(model_irq_waits(1));
	unclaim(config);
	expect_at_rest(1);
	ck_assert(!model_irq_waits(1));
}
END_TEST

/* The first claim takes, and the last one gives back; in between nobody loses anything. */
START_TEST(counts_claims)
{
	static const struct perfctr_ctr_control other[] = { CTR(0, EV_CYCLES, BOTH) };
	struct perfctr_config *a, *b;
	struct thread thread;

	driver_init(&model_default);
	a = CLAIM(one);
	thread_init(&thread, a);
	thread_run(&thread, 0, 1000);
	model_calls_reset();
	b = CLAIM(other);
	ck_assert_uint_eq(model_all_calls(), 0);
	ck_assert(has_loaded(0, a));
	thread_in(&thread, 0);
	model_execute(MODEL_USER, 100);
	unclaim(b);
	model_execute(MODEL_USER, 100);
	thread_out(&thread);
	ck_assert_uint_eq(model_releases, 0);
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	unclaim(a);
	ck_assert_uint_eq(model_releases, 1);
	/* The clock takes nothing. */
	b = claim_well(NULL, 0);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), 0);
	unclaim(b);
	ck_assert_uint_eq(model_releases, 1);
}
END_TEST

START_TEST(perf_has_them)
{
	struct perfctr_refusal why = NO_REFUSAL;
	struct perfctr_config *config;

	driver_init(&model_default);
	ck_assert_uint_ne(model_perf_take_all(0), 0);
	ck_assert_int_eq(PTR_ERR(claim(one, 1, &why)), -EBUSY);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_PERF);
	ck_assert_uint_eq(why.index, PERFCTR_NO_INDEX);
	ck_assert_uint_eq(model_all_calls(), 0);
	model_perf_give(0, 0);
	config = CLAIM(one);
	ck_assert_uint_eq(model_perf_take_all(0), 0);
	unclaim(config);
	ck_assert_uint_ne(model_perf_take_all(0), 0);
	model_perf_give(0, 0);
}
END_TEST

/*
 * Whoever asks in vain has the kernel write to its log: ten times at once, and then twice in a
 * second, at most. Half a second after that it is asked again, at any time since the boot.
 */
static const long moments[] = {
	-75000,		/* as the kernel boots: five minutes, at 250 Hz */
	-1, 0, 1000,
	1l << 40, (long)(~0ul >> 1) - 100, (long)BIT(63) + 100,
};

START_TEST(does_not_fill_the_log)
{
	unsigned int i, second, before;

	driver_init(&model_default);
	shim_jiffies = (unsigned long)moments[_i];
	ck_assert_uint_ne(model_perf_take_all(0), 0);
	for (second = 0; second < 30; second++) {
		before = model_complaints;
		for (i = 0; i < 100; i++)
			ck_assert_int_eq(PTR_ERR(claim(one, 1, NULL)), -EBUSY);
		ck_assert_uint_eq(model_complaints - before, second ? 2 : 10);
		shim_jiffies += (unsigned long)HZ;
	}
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(PTR_ERR(claim(one, 1, NULL)), -EBUSY);
	/* Until the time is over it says no without asking. */
	model_perf_give(0, 0);
	ck_assert_int_eq(PTR_ERR(claim(one, 1, NULL)), -EBUSY);
	shim_jiffies += (unsigned long)HZ / 2 - 1;
	ck_assert_int_eq(PTR_ERR(claim(one, 1, NULL)), -EBUSY);
	shim_jiffies++;
	unclaim(CLAIM(one));
	shim_jiffies += 5ul * HZ;
	/* One who asks rarely is never put off. */
	for (i = 0; i < 50; i++) {
		model_perf_take_all(0);
		ck_assert_int_eq(PTR_ERR(claim(one, 1, NULL)), -EBUSY);
		model_perf_give(0, 0);
		unclaim(CLAIM(one));
		shim_jiffies += (unsigned long)HZ;
	}
}
END_TEST

/* A CPU comes, goes and sleeps while counters are claimed. */
START_TEST(cpus_that_come_and_go)
{
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_default);
	config = CLAIM(one);
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	cpu_offline(1);
	expect_at_rest(1);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
	/* Threads that have to leave it may still run there. */
	thread_run(&thread, 1, 100);
	perfctr_cpu_prepare(1);
	model_cpu_off(1);
	model_cpu_on(1);
	cpu_online(1);
	expect_at_rest(1);
	thread_run(&thread, 1, 1000);
	thread_in(&thread, 1);
	model_execute(MODEL_USER, 100);
	cpu_sleeps(1, true);
	model_execute(MODEL_USER, 100);
	thread_out(&thread);
	thread_expect_exact(&thread);
	unclaim(config);
	/* Nor does a load after the end. */
	cpu_online(1);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
	cpu_offline(1);
}
END_TEST

/* A load on a CPU that was not told of the claim takes it first; after the end it fails. */
START_TEST(load_without_a_claim)
{
	struct perfctr_config *config;

	driver_init(&model_default);
	config = CLAIM(one);
	cpu_offline(1);
	ck_assert_int_eq(load_on(1, config), 0);
	ck_assert_uint_ne(model_owned(1, MODEL_DRIVER), 0);
	cpu_offline(1);
	ck_assert_int_eq(restart_on(1, config, 1), 0);
	cpu_offline(1);
	perfctr_ppc32_claimed = false;
	ck_assert_int_eq(load_on(1, config), -EIO);
	ck_assert_int_eq(restart_on(1, config, 1), -EIO);
	perfctr_ppc32_claimed = true;
	unclaim(config);
}
END_TEST

/* What a control is in the registers: as loaded, and while its i-mode counters run */
static const struct {
	const char *name, *processor;
	struct perfctr_ctr_control ctr[6];
	u32 mmcr[3];
	u32 full[3];
	unsigned int nr;
} images[] = {
	{ "user mode", "604", { CTR(0, 2, USER) }, { FCS | SEL1(2) }, { FCS | SEL1(2) }, 1 },
	{ "kernel mode", "604", { CTR(1, 31, KERNEL) }, { FCP | SEL2(31) }, { FCP | SEL2(31) }, 1 },
	{ "both", "604", { CTR(1, 3, BOTH), CTR(0, 1, BOTH) }, { SEL1(1) | SEL2(3) },
	  { SEL1(1) | SEL2(3) }, 2 },
	{ "all of a 750", "750",
	  { CTR(0, 0x7f, USER), CTR(1, 0x3f, USER), CTR(2, 0x1f, USER), CTR(3, 0x1e, USER) },
	  { FCS | 0x1fff, SEL3(0x1f) | SEL4(0x1e) }, { FCS | 0x1fff, SEL3(0x1f) | SEL4(0x1e) }, 4 },
	{ "all of a 7450", "7450",
	  { CTR(5, 0x3f, USER), CTR(4, 0x1d, USER), CTR(3, 0x1c, USER), CTR(2, 0x1b, USER),
	    CTR(1, 0x3a, USER), CTR(0, 0x79, USER) },
	  { FCS | SEL1(0x79) | SEL2(0x3a), SEL3(0x1b) | SEL4(0x1c) | SEL5(0x1d) | SEL6(0x3f) },
	  { FCS | SEL1(0x79) | SEL2(0x3a), SEL3(0x1b) | SEL4(0x1c) | SEL5(0x1d) | SEL6(0x3f) }, 6 },
	{ "thresholds", "7400", { CTR_MMCR(0, 11, USER, MMCRS(THRESHOLD(63), THRESHMULT)) },
	  { FCS | SEL1(11) | THRESHOLD(63), 0, THRESHMULT },
	  { FCS | SEL1(11) | THRESHOLD(63), 0, THRESHMULT }, 1 },
	{ "marks, conditions", "7450",
	  { CTR_MMCR(0, 1, USER, FCM0 | FCM1 | TBSEL(3) | TBEE | PMC1CE) },
	  { FCS | SEL1(1) | FCM0 | FCM1 | TBSEL(3) | TBEE | PMC1CE },
	  { FCS | SEL1(1) | FCM0 | FCM1 | TBSEL(3) | TBEE | PMC1CE }, 1 },
	{ "i-mode of PMC1", "7450", { ICTR(0, 2, USER, 9) }, { FCS },
	  { FCS | SEL1(2) | PMXE | PMC1CE }, 1 },
	{ "i-mode of PMC2", "604", { CTR(0, 1, BOTH), ICTR(1, 2, BOTH, 9) }, { SEL1(1) },
	  { SEL1(1) | SEL2(2) | PMXE | PMCNCE }, 2 },
	{ "i-mode of PMC1 and 3", "7450",
	  { CTR(3, 4, KERNEL), ICTR(2, 5, KERNEL, 9), ICTR(0, 6, KERNEL, 9) },
	  { FCP, SEL4(4) }, { FCP | SEL1(6) | PMXE | PMC1CE | PMCNCE, SEL3(5) | SEL4(4) }, 3 },
	/* By an own way: not before it is resumed */
	{ "FCECE", "7450", { CTR_MMCR(0, 1, USER, MMCRS(FCECE | PMC1CE, THRESHMULT)) },
	  { FC, 0, THRESHMULT }, { FCS | FCECE | PMC1CE | SEL1(1), 0, THRESHMULT }, 1 },
	{ "TRIGGER, i-mode", "7450",
	  { CTR_MMCR(2, 4, USER, TRIGGER), ICTR_MMCR(1, 2, USER, TRIGGER, 9) },
	  { FC, SEL3(4) }, { FCS | TRIGGER | PMXE | PMCNCE | SEL2(2), SEL3(4) }, 2 },
};

static void expect_mmcrs(const char *name, const u32 mmcr[MODEL_MMCRS])
{
	static const unsigned int spr[MODEL_MMCRS] = { SPR_MMCR0, SPR_MMCR1, SPR_MMCR2 };
	unsigned int i;

	for (i = 0; i < MODEL_MMCRS; i++) {
		if (i >= model_processor()->mmcrs)
			break;
		ck_assert_msg(model_spr(0, spr[i]) == mmcr[i], "%s: MMCR%u is %#x, not %#x", name,
			      i, model_spr(0, spr[i]), mmcr[i]);
	}
}

START_TEST(registers_of_a_control)
{
	struct perfctr_config *config;
	struct thread thread;
	u64 value[6] = { -9, -9 };

	begin((int)(model_named(images[_i].processor) - model_processors));
	config = claim_well(images[_i].ctr, images[_i].nr);
	thread_init(&thread, config);
	ck_assert_int_eq(load_on(0, config), 0);
	expect_mmcrs(images[_i].name, images[_i].mmcr);
	local_irq_disable();
	ck_assert_int_eq(perfctr_cpu_istart(config, config->nr_ictrs ? value : NULL), 0);
	if (perfctr_config_has_own_way(config))
		perfctr_cpu_resume_own_way(config, &thread.state);
	local_irq_enable();
	expect_mmcrs(images[_i].name, images[_i].full);
	local_irq_disable();
	perfctr_cpu_istop(config, &thread);
	local_irq_enable();
	expect_mmcrs(images[_i].name, images[_i].mmcr);
}
END_TEST

void test_claim(void)
{
	unit_begin("ppc32_claim");
	unit_run(takes_all, MODEL_PROCESSORS);
	unit_run(gives_back_what_interrupts, MODEL_PROCESSORS);
	UNIT_RUN(counts_claims);
	UNIT_RUN(perf_has_them);
	UNIT_ROWS(does_not_fill_the_log, moments);
	UNIT_RUN(cpus_that_come_and_go);
	UNIT_RUN(load_without_a_claim);
	UNIT_ROWS(registers_of_a_control, images);
}
