// SPDX-License-Identifier: GPL-2.0
/*
 * Copies that user mode reads: what restart, leave, leave to kin, make public and rest leave in the
 * registers.
 * Nobody can take the copies away, so what is there is what anybody sees.
 */
#include "tests.h"

#define ALICE	1000
#define BOB	1001

static const struct perfctr_ctr_control three[] = {
	CTR(0, EV_INSTRUCTIONS, USER), CTR(2, EV_CYCLES, USER), CTR(5, EV_STORES, USER),
};
static const struct perfctr_ctr_control same[] = {
	CTR(0, EV_INSTRUCTIONS, USER), CTR(2, EV_CYCLES, USER), CTR(5, EV_STORES, USER),
};
static const struct perfctr_ctr_control other[] = { CTR(2, EV_CYCLES, USER) };

static void leave_to_kin(void)
{
	perfctr_cpu_leave_to_kin(current);
}

static bool anything(unsigned int cpu)
{
	unsigned int hw;

	for (hw = 0; hw < model_processor()->counters; hw++)
		if (model_pmc(cpu, hw))
			return true;
	return false;
}

/* Nothing is seen, and nothing counts. */
static void expect_at_rest(unsigned int cpu)
{
	ck_assert(!anything(cpu));
	ck_assert(model_mmcr0(cpu) & FC);
	shim_cpu = cpu;
	model_execute(MODEL_USER, 1000);
	model_execute(MODEL_KERNEL, 1000);
	ck_assert(!anything(cpu));
}

/* Registers begin at zero, whatever was there. */
static const struct {
	const char *name;
	bool loaded, other_loaded, restarted, slept;
} befores[] = {
	{ "never ran", false, false, false, false }, { "ran", true, false, false, false },
	{ "ran otherwise", true, true, false, false }, { "ran for Bob", true, false, true, false },
	{ "slept", true, false, false, true },
};

START_TEST(restart_zeroes)
{
	struct perfctr_config *config, *another;

	driver_init(&model_default);
	config = CLAIM(three);
	another = CLAIM(other);
	shim_cpu = 0;
	if (befores[_i].loaded)
		ck_assert_int_eq(load_on(0, config), 0);
	model_execute(MODEL_USER, 5000);
	if (befores[_i].other_loaded)
		ck_assert_int_eq(load_on(0, another), 0);
	if (befores[_i].restarted)
		ck_assert_int_eq(restart_on(0, config, BOB), 0);
	if (befores[_i].slept)
		cpu_sleeps(0, true);
	model_execute(MODEL_USER, 5000);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	ck_assert_msg(!anything(0), "%s", befores[_i].name);
	ck_assert(private_on(0, config, ALICE) && !private_on(0, config, BOB));
	ck_assert(!private_on(0, another, ALICE) && !private_on(1, config, ALICE));
	ck_assert(!has_loaded(0, config));
	model_execute(MODEL_USER, 777);
	ck_assert_uint_eq(model_pmc(0, 0), 777);
	ck_assert_uint_eq(model_pmc(0, 5), 259);
	/* For herself again it does not. */
	model_calls_reset();
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	ck_assert_uint_eq(model_all_calls(), 0);
	ck_assert_uint_eq(model_pmc(0, 0), 777);
}
END_TEST

/* Whoever ends the privacy stops and zeroes all, by a write for each and one to stop. */
static const struct {
	const char *name;
	void (*end)(void);
} ends[] = {
	{ "leave", perfctr_cpu_leave }, { "make public", perfctr_cpu_make_public },
	{ "rest", perfctr_cpu_rest },
};

START_TEST(end_of_privacy)
{
	struct perfctr_config *config;

	driver_init(&model_default);
	config = CLAIM(three);
	ck_assert_int_eq(restart_on(1, config, ALICE), 0);
	model_execute(MODEL_USER, 5000);
	model_calls_reset();
	on_cpu_irqs_off(1, ends[_i].end);
	ck_assert_uint_eq(model_all_calls(), 4);
	ck_assert_uint_eq(model_writes[1][SPR_MMCR0], 1);
	expect_at_rest(1);
	ck_assert(!private_on(1, config, ALICE) && !has_loaded(1, config));
	/* Once is enough. */
	model_calls_reset();
	on_cpu_irqs_off(1, ends[_i].end);
	ck_assert_uint_eq(model_all_calls(), 0);
	/* It starts again, by the register that stops. */
	ck_assert_int_eq(restart_on(1, config, ALICE), 0);
	ck_assert_uint_eq(model_all_calls(), 1);
}
END_TEST

/* To kin they are left as they are. */
START_TEST(kin_get_them_as_they_are)
{
	struct perfctr_config *config;

	driver_init(&model_default);
	config = CLAIM(three);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	model_execute(MODEL_USER, 5000);
	model_calls_reset();
	on_cpu_irqs_off(0, leave_to_kin);
	ck_assert_uint_eq(model_all_calls(), 0);
	ck_assert(private_on(0, config, ALICE));
	ck_assert_uint_eq(model_pmc(0, 0), 5000);
}
END_TEST

/* What counts for everybody by policy is not taken from anybody, unless the policy changes. */
START_TEST(open_goes_on)
{
	struct perfctr_config *config;

	driver_init(&model_default);
	config = CLAIM(three);
	ck_assert_int_eq(load_on(0, config), 0);
	model_execute(MODEL_USER, 5000);
	on_cpu_irqs_off(0, perfctr_cpu_leave);
	on_cpu_irqs_off(0, perfctr_cpu_make_public);
	ck_assert(has_loaded(0, config));
	ck_assert_uint_eq(model_pmc(0, 0), 5000);
	on_cpu_irqs_off(0, perfctr_cpu_rest);
	ck_assert(!has_loaded(0, config));
	expect_at_rest(0);
}
END_TEST

/* The end of another claim, a CPU that goes or sleeps: nothing is seen of anybody any more. */
START_TEST(nothing_stays)
{
	struct perfctr_config *config, *another;

	driver_init(&model_default);
	config = CLAIM(three);
	another = CLAIM(same);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	ck_assert_int_eq(restart_on(1, config, BOB), 0);
	model_execute(MODEL_USER, 5000);
	shim_cpu = 0;
	model_execute(MODEL_USER, 5000);
	if (_i == 0)
		unclaim(another);
	else if (_i == 1)
		cpu_offline(0);
	else
		cpu_sleeps(0, true);
	expect_at_rest(0);
	ck_assert(!private_on(0, config, ALICE));
	if (_i == 0)
		expect_at_rest(1);
}
END_TEST

/* i-mode counters too, which hold a period's rest */
START_TEST(periods_do_not_stay)
{
	static const struct perfctr_ctr_control ctr[] = {
		CTR(0, EV_CYCLES, USER), ICTR(1, EV_INSTRUCTIONS, USER, 1000),
	};
	struct perfctr_config *config;
	u64 value = -1000;

	driver_init(&model_default);
	config = CLAIM(ctr);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	local_irq_disable();
	ck_assert_int_eq(perfctr_cpu_istart(config, &value), 0);
	local_irq_enable();
	model_execute(MODEL_USER, 10);
	local_irq_disable();
	perfctr_cpu_istop(config, config);
	local_irq_enable();
	ck_assert_uint_ne(model_pmc(0, 1), 0);
	on_cpu_irqs_off(0, perfctr_cpu_leave);
	expect_at_rest(0);
	/* And not those of one who starts after another */
	ck_assert_int_eq(restart_on(0, config, BOB), 0);
	ck_assert(!anything(0));
}
END_TEST

/* Which counters a page may show, by policy and processor */
START_TEST(readable)
{
	static const struct perfctr_ctr_control one[] = { CTR(0, EV_INSTRUCTIONS, USER) };
	const struct model_processor *processor = &model_processors[_i];
	struct model_machine machine = model_machine_of(processor);
	struct perfctr_config *config, *clock;

	driver_init(&machine);
	clock = claim_well(NULL, 0);
	ck_assert(perfctr_cpu_user_readable(clock, PERFCTR_USER_READ_GUARDED));
	ck_assert(!perfctr_cpu_user_readable(clock, PERFCTR_USER_READ_OFF));
	if (!processor->counters)
		return;
	config = CLAIM(one);
	ck_assert_int_eq(perfctr_cpu_user_readable(config, PERFCTR_USER_READ_GUARDED),
			 processor->copies);
	ck_assert_int_eq(perfctr_cpu_user_readable(config, PERFCTR_USER_READ_OPEN),
			 processor->copies);
	ck_assert(!perfctr_cpu_user_readable(config, PERFCTR_USER_READ_OFF));
	ck_assert_int_eq(perfctr_cpu_shared_discloses(), processor->copies);
}
END_TEST

void test_user(void)
{
	unit_begin("ppc32_user");
	UNIT_ROWS(restart_zeroes, befores);
	UNIT_ROWS(end_of_privacy, ends);
	UNIT_RUN(kin_get_them_as_they_are);
	UNIT_RUN(open_goes_on);
	unit_run(nothing_stays, 3);
	UNIT_RUN(periods_do_not_stay);
	unit_run(readable, MODEL_PROCESSORS);
}
