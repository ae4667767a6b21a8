// SPDX-License-Identifier: GPL-2.0
/* i-mode counters of the ppc32 driver: what starts and stops them, and the interrupt. */
#include <asm/pmc.h>

#include "tests.h"

#define PERIOD	1000

static void begin(const char *name)
{
	struct model_machine machine = model_machine_of(model_named(name));

	shim_set_param("unsafe_interrupts", 1);
	driver_init(&machine);
}

static struct perfctr_config *loaded(const struct perfctr_ctr_control *ctr, unsigned int nr)
{
	struct perfctr_config *config = claim_well(ctr, nr);

	ck_assert_int_eq(load_on(0, config), 0);
	return config;
}
#define LOADED(ctrs)	loaded(ctrs, sizeof(ctrs) / sizeof((ctrs)[0]))

static void istart(const struct perfctr_config *config, const u64 *value)
{
	local_irq_disable();
	ck_assert_int_eq(perfctr_cpu_istart(config, value), 0);
	local_irq_enable();
}

static void istop(const struct perfctr_config *config, const void *id)
{
	local_irq_disable();
	perfctr_cpu_istop(config, id);
	local_irq_enable();
}

static void iclear(const struct perfctr_config *config)
{
	local_irq_disable();
	perfctr_cpu_iclear(config);
	local_irq_enable();
}

static bool istopped(const void *id)
{
	bool is;

	local_irq_disable();
	is = perfctr_cpu_istopped(id);
	local_irq_enable();
	return is;
}

/* Exact to the instruction, on each counter of each processor */
START_TEST(period_is_exact)
{
	const struct model_processor *processor = &model_processors[_i / MODEL_PMCS];
	unsigned int hw = (unsigned int)_i % MODEL_PMCS;
	const struct perfctr_ctr_control ctr[] = { ICTR(hw, EV_INSTRUCTIONS, USER, PERIOD) };
	struct perfctr_config *config;
	u64 value = -(u64)PERIOD;

	if (hw >= processor->counters)
		return;
	begin(processor->name);
	config = LOADED(ctr);
	ck_assert_uint_eq(config->imask, BIT(hw));
	ck_assert_uint_eq(config->arch_mask, 0);
	model_execute(MODEL_USER, 500);
	ck_assert_uint_eq(model_pmc(0, hw), 0);
	istart(config, &value);
	ck_assert_uint_eq(model_pmc(0, hw), NEGATIVE - PERIOD);
	model_execute(MODEL_KERNEL, 5000);
	model_execute(MODEL_USER, PERIOD - 1);
	ck_assert(!model_irq_waits(0));
	model_execute(MODEL_USER, 1);
	ck_assert(model_irq_waits(0));
	ck_assert_uint_eq(model_pmc(0, hw), NEGATIVE);
	istop(config, config);
	ck_assert(!model_irq_waits(0));
	model_execute(MODEL_USER, 500);
	ck_assert_uint_eq(model_pmc(0, hw), NEGATIVE);
	istart(config, &value);
	ck_assert(!model_irq_waits(0));
	model_execute(MODEL_USER, PERIOD);
	ck_assert(model_irq_waits(0));
}
END_TEST

/* The register is the number with its highest bit turned over, and is read so. */
static const struct {
	u64 value;
	u32 pmc;
} starts[] = {
	{ -1ull, 0x7fffffff }, { -2ull, 0x7ffffffe }, { -0x7fffffffull, 1 }, { -0x80000000ull, 0 },
};

START_TEST(starts_from)
{
	const struct perfctr_ctr_control ctr[] = { ICTR(3, EV_INSTRUCTIONS, USER, PERIOD) };
	struct perfctr_config *config;
	struct perfctr_cpu_ctr read;

	begin("7450");
	config = LOADED(ctr);
	istart(config, &starts[_i].value);
	ck_assert_uint_eq(model_pmc(0, 3), starts[_i].pmc);
	perfctr_cpu_bind_ictr(&read, 3);
	local_irq_disable();
	ck_assert_uint_eq(perfctr_cpu_read(&read), (u32)starts[_i].value);
	local_irq_enable();
	ck_assert_uint_eq(perfctr_cpu_iwidth(), 32);
	ck_assert_uint_eq(perfctr_cpu_irange(), BIT_ULL(31));
}
END_TEST

static const struct perfctr_ctr_control mixed[] = {
	CTR(0, EV_CYCLES, USER), CTR(3, EV_CYCLES, USER),
	ICTR(1, EV_INSTRUCTIONS, USER, PERIOD), ICTR(4, EV_ITLB, USER, 7),
};

/* They go on from where they were, by two writes, unless somebody changed the registers since. */
START_TEST(goes_on)
{
	struct perfctr_config *config, *other;
	u64 values[2] = { -(u64)PERIOD, -7ull };
	int a, b;

	begin("7450");
	config = LOADED(mixed);
	other = loaded(mixed, 1);
	ck_assert_int_eq(load_on(0, config), 0);
	istart(config, values);
	model_execute(MODEL_USER, 13);
	istop(config, &a);
	model_execute(MODEL_USER, 500);
	ck_assert(istopped(&a) && !istopped(&b));
	model_calls_reset();
	istart(config, NULL);
	ck_assert_uint_eq(model_all_calls(), 2);
	ck_assert_uint_eq(model_writes[0][SPR_MMCR0], 1);
	ck_assert_uint_eq(model_writes[0][SPR_MMCR1], 1);
	ck_assert_uint_eq(model_pmc(0, 1), NEGATIVE - PERIOD + 13);
	ck_assert_uint_eq(model_pmc(0, 4), NEGATIVE - 7 + 1);
	ck_assert(!istopped(&a));
	istop(config, &b);
	ck_assert(istopped(&b));
	/* Not after a load of another config: then they begin from zero, */
	ck_assert_int_eq(load_on(0, other), 0);
	ck_assert(!istopped(&b));
	ck_assert_uint_eq(model_pmc(0, 1), 0);
	ck_assert_uint_eq(model_pmc(0, 4), 0);
	/* nor after a restart, a rest or sleep, nor when they are made public. */
	ck_assert_int_eq(load_on(0, config), 0);
	istart(config, values);
	istop(config, &b);
	ck_assert_int_eq(restart_on(0, config, 1), 0);
	ck_assert(!istopped(&b));
	istart(config, values);
	istop(config, &b);
	on_cpu_irqs_off(0, perfctr_cpu_make_public);
	ck_assert(!istopped(&b));
	ck_assert_uint_eq(model_pmc(0, 1), 0);
	ck_assert_int_eq(load_on(0, config), 0);
	istart(config, values);
	istop(config, &b);
	cpu_sleeps(0, true);
	ck_assert(!istopped(&b));
}
END_TEST

START_TEST(cleared)
{
	struct perfctr_config *config;
	u64 values[2] = { -(u64)PERIOD, -7ull };

	begin("7450");
	config = LOADED(mixed);
	istart(config, values);
	model_execute(MODEL_USER, 13);
	iclear(config);
	ck_assert(!istopped(config));
	ck_assert_uint_eq(model_pmc(0, 1), 0);
	ck_assert_uint_eq(model_pmc(0, 4), 0);
	ck_assert(!(model_mmcr0(0) & (PMXE | PMC1CE | PMCNCE)));
	/* The others count on. */
	ck_assert_uint_eq(model_pmc(0, 0), 40);
	model_execute(MODEL_USER, 100);
	ck_assert_uint_eq(model_pmc(0, 0), 341);
	ck_assert_uint_eq(model_pmc(0, 1), 0);
}
END_TEST

/*
 * PMCnCE is about all counters but PMC1: another one beside i-mode that was negative would
 * interrupt for ever. So it is set back at the start, whoever it belonged to; PMC1 is not.
 */
static const struct {
	u32 pmc;
	bool back;
} besides[] = {
	{ (1u << 30) - 1, false }, { 1u << 30, true }, { NEGATIVE - 1, true }, { NEGATIVE, true },
	{ ~0u, true },
};

START_TEST(beside_others)
{
	struct perfctr_config *config;
	u64 values[2] = { -(u64)PERIOD, -7ull };
	unsigned int hw;

	begin("7450");
	config = LOADED(mixed);
	for (hw = 0; hw < 6; hw++)
		model_set_pmc(0, hw, besides[_i].pmc);
	istart(config, values);
	ck_assert(!model_irq_waits(0));
	for (hw = 0; hw < 6; hw++)
		if (hw != 1 && hw != 4)
			ck_assert_uint_eq(model_pmc(0, hw), hw && besides[_i].back ? 0 :
								besides[_i].pmc);
	model_execute(MODEL_USER, 700);
	istop(config, config);
}
END_TEST

START_TEST(pmc1_alone_interrupts_alone)
{
	static const struct perfctr_ctr_control ctr[] = {
		CTR(1, EV_CYCLES, USER), ICTR(0, EV_INSTRUCTIONS, USER, PERIOD),
	};
	struct perfctr_config *config;
	u64 value = -(u64)PERIOD;

	begin("604");
	config = LOADED(ctr);
	model_set_pmc(0, 1, NEGATIVE - 10);
	istart(config, &value);
	ck_assert_uint_eq(model_pmc(0, 1), NEGATIVE - 10);
	model_execute(MODEL_USER, PERIOD - 1);
	ck_assert(!model_irq_waits(0));
	model_execute(MODEL_USER, 1);
	ck_assert(model_irq_waits(0));
}
END_TEST

/*
 * The interrupt
 */

static struct perfctr_config *interrupted;
static unsigned int begins, ends, from_user;
static bool stops;

static void handle(bool end)
{
	lockdep_assert_irqs_disabled();
	if (end)
		ends++;
	else
		begins++;
	ck_assert(ends == begins || (!end && ends + 1 == begins));
	from_user += perfctr_cpu_interrupted_user();
	if (!end && stops)
		perfctr_cpu_istop(interrupted, interrupted);
}

static void hear(const char *name, const struct perfctr_ctr_control *ctr, unsigned int nr)
{
	begin(name);
	interrupted = loaded(ctr, nr);
	ck_assert_int_eq(perfctr_cpu_set_ihandler(handle), 0);
}

/* As it begins the counters stop, and it comes once. Also where it does not clear PMXE */
START_TEST(interrupt_is_heard)
{
	u64 values[2] = { -(u64)PERIOD, -7ull };

	hear("7450", mixed, 4);
	model.keeps_pmxe = _i & 1;
	stops = true;
	istart(interrupted, values);
	model_execute(MODEL_USER, PERIOD);
	ck_assert(model_irq_waits(0));
	model_irq(0, _i & 2);
	ck_assert_uint_eq(begins, 1);
	ck_assert_uint_eq(ends, 1);
	ck_assert_uint_eq(from_user, _i & 2 ? 2 : 0);
	ck_assert_uint_eq(model_irqs[0], 1);
	ck_assert(istopped(interrupted));
	/* Its value says that it has come to its end. */
	ck_assert_uint_eq(model_pmc(0, 1), NEGATIVE);
	istart(interrupted, values);
	model_execute(MODEL_USER, PERIOD);
	model_irq(0, true);
	ck_assert_uint_eq(begins, 2);
	unclaim(interrupted);
}
END_TEST

/* One that nobody stops, since its thread has just left, or nobody hears, does not come again. */
START_TEST(interrupt_of_nobody)
{
	u64 values[2] = { -(u64)PERIOD, -7ull };

	hear("7450", mixed, 4);
	model.keeps_pmxe = _i & 1;
	if (_i & 2)
		ck_assert_int_eq(perfctr_cpu_set_ihandler(NULL), 0);
	istart(interrupted, values);
	model_execute(MODEL_USER, PERIOD);
	model_irq(0, false);
	ck_assert_uint_eq(begins, _i & 2 ? 0 : 1);
	ck_assert_uint_eq(model_irqs[0], 1);
	ck_assert(!model_irq_waits(0));
	model_execute(MODEL_USER, PERIOD);
	istop(interrupted, interrupted);
	unclaim(interrupted);
}
END_TEST

START_TEST(handler_where_it_is_unsafe)
{
	struct model_machine machine = model_machine_of(&model_processors[_i]);

	driver_init(&machine);
	ck_assert_int_eq(perfctr_cpu_set_ihandler(handle), model_processors[_i].safe ? 0 : -ENODEV);
}
END_TEST

void test_ictrs(void)
{
	unit_begin("ppc32_ictrs");
	unit_run(period_is_exact, MODEL_PROCESSORS * MODEL_PMCS);
	UNIT_ROWS(starts_from, starts);
	UNIT_RUN(goes_on);
	UNIT_RUN(cleared);
	UNIT_ROWS(beside_others, besides);
	UNIT_RUN(pmc1_alone_interrupts_alone);
	unit_run(interrupt_is_heard, 4);
	unit_run(interrupt_of_nobody, 4);
	unit_run(handler_where_it_is_unsafe, MODEL_PROCESSORS);
}
