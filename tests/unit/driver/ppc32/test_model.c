// SPDX-License-Identifier: GPL-2.0
/* The model against the rules of the manuals, so that the other tests may trust it. */
#include <asm/pmc.h>
#include <asm/reg.h>
#include <asm/time.h>

#include "tests.h"

/* How often the handler ran, 100 times as much if it was not in user mode; what MMCR0 was then */
static unsigned int heard;
static u32 found;

static void note(struct pt_regs *regs)
{
	heard += user_mode(regs) ? 1 : 100;
	found = mfspr(SPR_MMCR0);
	mtspr(SPR_PMC1, 0);
	mtspr(SPR_PMC2, 0);
}

static void begin(const char *processor)
{
	struct model_machine machine = model_machine_of(model_named(processor));

	model_boot(&machine);
	ck_assert_int_eq(reserve_pmc_hardware(note), 0);
	model_set_pmc(0, 0, 0);
	model_set_pmc(0, 1, 0);
	shim_cpu = 0;
}

static void set(u32 mmcr0)
{
	model_set_spr(0, SPR_MMCR0, mmcr0 | SEL1(EV_INSTRUCTIONS) | SEL2(EV_CYCLES));
}

/* By each freeze bit */
static const struct {
	u32 mmcr0;
	bool user, kernel;
} freezes[] = {
	{ 0, true, true }, { FC, false, false }, { FCS, true, false }, { FCP, false, true },
	{ FCS | FCP, false, false }, { FCM0, false, false }, { FCM1, true, true },
};

START_TEST(freezes_by_mode)
{
	begin("604");
	set(freezes[_i].mmcr0);
	model_execute(MODEL_USER, 10);
	ck_assert_uint_eq(model_pmc(0, 0), freezes[_i].user ? 10 : 0);
	model_execute(MODEL_KERNEL, 100);
	ck_assert_uint_eq(model_pmc(0, 0),
			  (freezes[_i].user ? 10 : 0) + (freezes[_i].kernel ? 100 : 0));
	ck_assert_uint_eq(model_pmc(0, 1),
			  (freezes[_i].user ? 31 : 0) + (freezes[_i].kernel ? 301 : 0));
}
END_TEST

/* Each counter counts by its own select. */
START_TEST(selects)
{
	unsigned int hw;

	begin("7450");
	for (hw = 0; hw < 6; hw++)
		model_set_pmc(0, hw, 0);
	model_set_spr(0, SPR_MMCR0, SEL1(EV_INSTRUCTIONS) | SEL2(EV_STORES));
	model_set_spr(0, SPR_MMCR1, SEL3(EV_LOADS) | SEL4(EV_CYCLES) | SEL5(EV_NOTHING) |
		      SEL6(EV_BRANCHES));
	model_execute(MODEL_USER, 60);
	ck_assert_uint_eq(model_pmc(0, 0), 60);
	ck_assert_uint_eq(model_pmc(0, 1), 20);
	ck_assert_uint_eq(model_pmc(0, 2), 15);
	ck_assert_uint_eq(model_pmc(0, 3), 181);
	ck_assert_uint_eq(model_pmc(0, 4), 0);
	ck_assert_uint_eq(model_pmc(0, 5), 12);
}
END_TEST

/* A condition stands while the counter is negative, and the interrupt clears PMXE. */
static const struct {
	u32 enable;
	unsigned int hw;
	bool waits;
} conditions[] = {
	{ PMC1CE, 0, true }, { PMC1CE, 1, false }, { PMCNCE, 0, false }, { PMCNCE, 1, true },
	{ 0, 0, false }, { PMC1CE | PMCNCE, 0, true }, { PMC1CE | PMCNCE, 1, true },
};

START_TEST(interrupts)
{
	begin("604");
	model_set_pmc(0, conditions[_i].hw, NEGATIVE - 30);
	set(PMXE | conditions[_i].enable);
	model_execute(MODEL_USER, 9);
	ck_assert(!model_irq_waits(0));
	model_execute(MODEL_USER, 30);
	ck_assert(model_irq_waits(0) == conditions[_i].waits);
	if (!conditions[_i].waits)
		return;
	set(conditions[_i].enable);
	ck_assert(!model_irq_waits(0));
	set(PMXE | conditions[_i].enable);
	ck_assert(model_irq_waits(0));
	model_irq(0, true);
	ck_assert_uint_eq(heard, 1);
	ck_assert(!(found & PMXE));
	ck_assert(!(model_mmcr0(0) & PMXE));
	ck_assert(!model_irq_waits(0));
}
END_TEST

/* FCECE freezes at the very event, whatever else counts. */
START_TEST(freezes_at_the_condition)
{
	begin("604");
	model_set_pmc(0, 0, NEGATIVE - 7);
	set(FCECE | PMC1CE);
	model_execute(MODEL_USER, 100);
	ck_assert_uint_eq(model_pmc(0, 0), NEGATIVE);
	ck_assert(model_mmcr0(0) & FC);
	/* Cycles come before instructions here. */
	ck_assert_uint_eq(model_pmc(0, 1), 301);
	model_execute(MODEL_USER, 100);
	ck_assert_uint_eq(model_pmc(0, 1), 301);
	/* It has occurred already: who takes FC away has it count. */
	set(FCECE | PMC1CE);
	ck_assert(!(model_mmcr0(0) & FC));
	model_set_pmc(0, 0, 5);
	model_set_pmc(0, 0, NEGATIVE);
	ck_assert(model_mmcr0(0) & FC);
}
END_TEST

/* TRIGGER holds all but the first, until that is negative or something enabled occurs. */
START_TEST(triggers)
{
	begin("7450");
	set(TRIGGER);
	model_execute(MODEL_USER, 10);
	ck_assert_uint_eq(model_pmc(0, 0), 10);
	ck_assert_uint_eq(model_pmc(0, 1), 0);
	model_set_pmc(0, 0, NEGATIVE - 1);
	model_execute(MODEL_USER, 10);
	ck_assert(!(model_mmcr0(0) & TRIGGER));
	model_execute(MODEL_USER, 10);
	ck_assert_uint_eq(model_pmc(0, 1), 31);
	/* By a condition of another counter; and instead of FC */
	model_set_pmc(0, 0, 0);
	model_set_pmc(0, 1, 0);
	set(TRIGGER | FCECE | PMCNCE);
	model_set_pmc(0, 1, NEGATIVE);
	ck_assert(!(model_mmcr0(0) & (TRIGGER | FC)));
	model_execute(MODEL_USER, 10);
	ck_assert_uint_eq(model_pmc(0, 0), 10);
}
END_TEST

/* A bit of the timebase becomes 1. */
START_TEST(timebase_events)
{
	static const u64 period[] = { 2, 512, 8192, 131072 };
	u64 tb, until;

	begin("604");
	set(TBEE | FCECE | TBSEL(_i));
	tb = get_tb();
	until = period[_i] - (tb + period[_i] / 2) % period[_i];
	if (until > 1)
		model_pass(until - 1);
	ck_assert(!(model_mmcr0(0) & FC));
	model_pass(1);
	ck_assert(model_mmcr0(0) & FC);
}
END_TEST

/* Registers that a processor does not have */
static const struct {
	const char *processor;
	unsigned int spr;
	bool there;
} registers[] = {
	{ "603e", SPR_MMCR0, false }, { "603e", SPR_PMC1, false }, { "604", SPR_MMCR0, true },
	{ "604", SPR_MMCR1, false }, { "604", SPR_PMC2, true }, { "604", SPR_PMC3, false },
	{ "604e", SPR_MMCR1, true }, { "604e", SPR_PMC4, true }, { "604e", SPR_PMC5, false },
	{ "750", SPR_MMCR2, false }, { "750", SPR_BAMR, false }, { "7400", SPR_MMCR2, true },
	{ "7400", SPR_BAMR, true }, { "7400", SPR_PMC5, false }, { "7450", SPR_PMC6, true },
	{ "7450", 1, false },
};

START_TEST(registers_exist)
{
	begin("604");
	model.pvr = model_named(registers[_i].processor)->pvr;
	ck_assert(model_has_spr(registers[_i].spr) == registers[_i].there);
}
END_TEST

void test_model(void)
{
	unit_begin("ppc32_model");
	UNIT_ROWS(freezes_by_mode, freezes);
	UNIT_RUN(selects);
	UNIT_ROWS(interrupts, conditions);
	UNIT_RUN(freezes_at_the_condition);
	UNIT_RUN(triggers);
	unit_run(timebase_events, 4);
	UNIT_ROWS(registers_exist, registers);
}
