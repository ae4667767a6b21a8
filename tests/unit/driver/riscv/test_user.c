// SPDX-License-Identifier: GPL-2.0
/* What user mode may read: restart, private, make public; and scounteren. */
#include "tests.h"

#define ALICE	1000
#define BOB	1001

static const struct perfctr_ctr_control three[] = {
	CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER), CTR_RAW(ANY, RAW_STORES, USER),
};
static const struct perfctr_ctr_control fixed[] = {
	CTR(0, EV_CYCLES, BOTH), CTR(ANY, EV_ITLB, USER), CTR(2, EV_INSTRUCTIONS, BOTH),
};

static void make_public_on(unsigned int cpu)
{
	on_cpu_irqs_off(cpu, perfctr_cpu_make_public);
}

static u64 value(const struct perfctr_config *config, unsigned int i)
{
	return model_value(shim_cpu, config->hw[i]);
}

/* Registers begin at zero, so nobody sees what ran before. */
START_TEST(restart_zeroes)
{
	struct perfctr_config *config;
	unsigned int i;

	driver_init(&model_default);
	config = CLAIM(three);
	ck_assert_int_eq(load_on(0, config), 0);
	model_execute(MODEL_USER, 100000);
	for (i = 0; i < 3; i++)
		ck_assert_uint_ne(value(config, i), 0);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	/* They count user mode only, and the calls are not user mode. */
	for (i = 0; i < 3; i++)
		ck_assert_uint_eq(value(config, i), 0);
	model_execute(MODEL_USER, 1000);
	ck_assert_uint_eq(value(config, 0), 1000);
	ck_assert_uint_eq(value(config, 2), 333);
}
END_TEST

/* Also if they were stopped, never ran, were programmed otherwise, or are fixed */
static const struct {
	const char *name;
	bool loaded, other_loaded, slept;
} befores[] = {
	{ "never ran", false, false, false },
	{ "ran", true, false, false },
	{ "counted something else", true, true, false },
	{ "slept", true, false, true },
};

START_TEST(restart_zeroes_from_anywhere)
{
	static const struct perfctr_ctr_control same[] = { CTR(3, EV_DTLB_READ, USER) };
	static const struct perfctr_ctr_control here[] = {
		CTR(3, EV_INSTRUCTIONS, USER), CTR(4, EV_ITLB, USER),
	};
	struct perfctr_config *config, *other;

	driver_init(&model_default);
	config = CLAIM(here);
	other = CLAIM(same);
	if (befores[_i].loaded)
		ck_assert_int_eq(load_on(0, config), 0);
	model_execute(MODEL_USER, 5000);
	if (befores[_i].other_loaded)
		ck_assert_int_eq(load_on(0, other), 0);
	if (befores[_i].slept)
		cpu_sleeps(0, true);
	shim_cpu = 0;
	model_execute(MODEL_USER, 5000);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	ck_assert_uint_eq(value(config, 0), 0);
	ck_assert_uint_eq(value(config, 1), 0);
	ck_assert(private_on(0, config, ALICE));
	model_execute(MODEL_USER, 777);
	ck_assert_uint_eq(value(config, 0), 777);
}
END_TEST

START_TEST(restart_zeroes_fixed_counters)
{
	struct perfctr_config *config;
	u64 before;

	driver_init(&model_default);
	config = CLAIM(fixed);
	ck_assert_int_eq(load_on(0, config), 0);
	model_execute(MODEL_USER, 100000);
	before = value(config, 0);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	/* The registers count the rest of the call. */
	ck_assert_uint_lt(value(config, 0), 2000);
	ck_assert_uint_lt(value(config, 2), 2000);
	ck_assert_uint_gt(before, 100000);
	ck_assert_uint_eq(value(config, 1), 0);
}
END_TEST

START_TEST(restart_is_two_calls)
{
	struct perfctr_config *config;
	int i;

	driver_init(&model_default);
	config = CLAIM(three);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	model_calls_reset();
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(restart_on(0, config, i % 2 ? ALICE : BOB), 0);
	ck_assert_uint_eq(model_calls[SBI_EXT_PMU_COUNTER_STOP], 3);
	ck_assert_uint_eq(model_calls[SBI_EXT_PMU_COUNTER_START], 3);
	ck_assert_uint_eq(model_all_calls(), 6);
}
END_TEST

/* Private to one user, one config, one CPU; no config is loaded. */
START_TEST(restart_is_private)
{
	struct perfctr_config *config, *other;

	driver_init(&model_default);
	config = CLAIM(three);
	other = CLAIM(fixed);
	ck_assert_int_eq(load_on(0, config), 0);
	ck_assert_int_eq(load_on(1, config), 0);
	ck_assert(!private_on(0, config, ALICE));
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	ck_assert(private_on(0, config, ALICE));
	ck_assert(!private_on(0, config, BOB));
	ck_assert(!private_on(0, other, ALICE));
	ck_assert(!private_on(1, config, ALICE));
	ck_assert(!has_loaded(0, config));
	ck_assert(has_loaded(1, config));
	ck_assert_int_eq(restart_on(0, config, BOB), 0);
	ck_assert(private_on(0, config, BOB));
	ck_assert(!private_on(0, config, ALICE));
	ck_assert_int_eq(restart_on(0, other, BOB), 0);
	ck_assert(!private_on(0, config, BOB));
	ck_assert(private_on(0, other, BOB));
}
END_TEST

/* Shared: loaded for everybody, private to nobody, without a call. */
START_TEST(public_registers_are_loaded)
{
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_default);
	config = CLAIM(three);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	model_calls_reset();
	make_public_on(0);
	ck_assert(has_loaded(0, config));
	ck_assert(!private_on(0, config, ALICE));
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	ck_assert_uint_eq(model_all_calls(), 0);
	thread_expect_exact(&thread);
	/* To be private again they start from zero. */
	ck_assert_uint_ne(value(config, 0), 0);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	ck_assert_uint_eq(value(config, 0), 0);
}
END_TEST

START_TEST(what_is_not_private_stays)
{
	struct perfctr_config *config;

	driver_init(&model_default);
	config = CLAIM(three);
	make_public_on(0);
	ck_assert(!has_loaded(0, config));
	ck_assert_int_eq(load_on(0, config), 0);
	make_public_on(0);
	ck_assert(has_loaded(0, config));
}
END_TEST

/* Any load of counters ends the privacy, as the loading thread ran. */
START_TEST(load_ends_privacy)
{
	struct perfctr_config *config, *other;

	driver_init(&model_default);
	config = CLAIM(three);
	other = CLAIM(fixed);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	ck_assert_int_eq(load_on(0, config), 0);
	ck_assert(!private_on(0, config, ALICE));
	ck_assert(has_loaded(0, config));
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	ck_assert_int_eq(load_on(0, other), 0);
	ck_assert(!private_on(0, config, ALICE));
	ck_assert(!has_loaded(0, config));
	ck_assert(has_loaded(0, other));
}
END_TEST

/* Whatever takes counters away ends the privacy as well. */
static const struct {
	const char *name;
	void (*fn)(void);
} ends[] = {
	{ "sleep", perfctr_cpu_online }, { "offline", perfctr_cpu_offline },
};

START_TEST(losing_counters_ends_privacy)
{
	struct perfctr_config *config;

	driver_init(&model_default);
	config = CLAIM(three);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	on_cpu_irqs_off(0, ends[_i].fn);
	ck_assert_msg(!private_on(0, config, ALICE), "%s", ends[_i].name);
	ck_assert(!has_loaded(0, config));
}
END_TEST

/* After an error they are private to nobody, and the next load or restart tries again. */
static const struct {
	const char *name;
	unsigned int fid;
	long error;
} restart_errors[] = {
	{ "start", SBI_EXT_PMU_COUNTER_START, SBI_ERR_FAILURE },
	{ "start says invalid", SBI_EXT_PMU_COUNTER_START, SBI_ERR_INVALID_PARAM },
	/* A counter that was not stopped runs on with its old value: START says ALREADY_STARTED. */
	{ "stop", SBI_EXT_PMU_COUNTER_STOP, SBI_ERR_FAILURE },
};

START_TEST(restart_error)
{
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_default);
	config = CLAIM(three);
	thread_init(&thread, config);
	thread_run(&thread, 0, 5000);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	model_execute(MODEL_USER, 5000);
	model_fail(restart_errors[_i].fid, 0, 1, restart_errors[_i].error);
	ck_assert_int_eq(restart_on(0, config, ALICE), -EIO);
	ck_assert(!private_on(0, config, ALICE));
	ck_assert(!has_loaded(0, config));
	thread_run(&thread, 0, 5000);
	thread_expect_exact(&thread);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	ck_assert_uint_eq(value(config, 0), 0);
}
END_TEST

START_TEST(restart_of_what_cannot_be_had)
{
	static const struct perfctr_ctr_control a[] = { CTR(3, EV_INSTRUCTIONS, USER) };
	static const struct perfctr_ctr_control b[] = { CTR(3, EV_ITLB, USER) };
	struct perfctr_config *config, *other;

	driver_init(&model_default);
	config = CLAIM(a);
	other = CLAIM(b);
	ck_assert_int_eq(restart_on(0, other, ALICE), 0);
	model_fail(SBI_EXT_PMU_COUNTER_CFG_MATCH, 0, 2, SBI_ERR_FAILURE);
	ck_assert_int_eq(restart_on(0, config, ALICE), -EIO);
	ck_assert(!private_on(0, config, ALICE));
	ck_assert(!private_on(0, other, ALICE));
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	ck_assert(private_on(0, config, ALICE));
}
END_TEST

/* Ageing sets private registers back to zero, where they began. */
START_TEST(ageing_keeps_privacy)
{
	struct perfctr_config *config;

	driver_init(&model_default);
	config = CLAIM(three);
	ck_assert_int_eq(restart_on(0, config, ALICE), 0);
	model_set_value(0, config->hw[0], 1ull << 47);
	ck_assert_int_eq(age_all(), 0);
	ck_assert_uint_eq(value(config, 0), 0);
	ck_assert(private_on(0, config, ALICE));
}
END_TEST

static const struct model_machine no_sbi = { .nr_cpus = 1 };

static const struct {
	const struct model_machine *machine;
	unsigned int nr;
	unsigned int policy;
	bool readable;
} policies[] = {
	{ &model_default, 1, PERFCTR_USER_READ_OFF, false },
	{ &model_default, 1, PERFCTR_USER_READ_GUARDED, true },
	{ &model_default, 1, PERFCTR_USER_READ_OPEN, true },
	{ &model_default, 0, PERFCTR_USER_READ_OFF, false },
	{ &model_default, 0, PERFCTR_USER_READ_GUARDED, true },
	{ &no_sbi, 1, PERFCTR_USER_READ_OFF, false },
	/* Nothing can be stopped, so nothing can be guarded. */
	{ &no_sbi, 1, PERFCTR_USER_READ_GUARDED, false },
	{ &no_sbi, 1, PERFCTR_USER_READ_OPEN, true },
	{ &no_sbi, 0, PERFCTR_USER_READ_GUARDED, true },
};

START_TEST(user_readable)
{
	static const struct perfctr_ctr_control cycle[] = { CTR(0, EV_CYCLES, BOTH) };

	driver_init(policies[_i].machine);
	ck_assert_int_eq(perfctr_cpu_user_readable(claim_well(cycle, policies[_i].nr),
						   policies[_i].policy),
			 policies[_i].readable);
}
END_TEST

/*
 * scounteren. Bits that perf sets or clears meanwhile are left to perf.
 */

static const struct {
	const char *name;
	u32 before;		/* found set */
	u32 set, cleared;	/* by perf in between */
	u32 after;
} scounterens[] = {
	/* Counters 4, 5 and 2 are ours. */
	{ "boot", 0x2, 0, 0, 0x2 },
	{ "nothing", 0, 0, 0, 0 },
	{ "legacy mode", 0x7, 0, 0, 0x7 },
	{ "perf has others", 0x40a, 0, 0, 0x40a },
	{ "one of ours was found", 0x12, 0, 0, 0x12 },
	{ "all were found", 0x36, 0, 0, 0x36 },
	{ "perf maps another", 0x2, 0x40, 0, 0x42 },
	{ "perf unmaps another", 0x42, 0, 0x40, 0x2 },
	{ "perf clears all", 0x7, 0, 0xffffffff, 0 },
	{ "perf clears one of ours", 0x2, 0, 0x10, 0x2 },
	{ "perf clears one that was found", 0x12, 0, 0x10, 0x2 },
	{ "perf sets one that was found, and another", 0x12, 0x110, 0, 0x112 },
};

START_TEST(grant_and_revoke)
{
	static const struct perfctr_ctr_control ours[] = {
		CTR(4, EV_ITLB, USER), CTR(5, EV_CYCLES, USER), CTR(2, EV_INSTRUCTIONS, BOTH),
	};
	struct perfctr_config *config;
	u32 granted;

	driver_init(&model_default);
	config = CLAIM(ours);
	model_set_scounteren(0, scounterens[_i].before);
	model_set_scounteren(1, 0x2);
	shim_cpu = 0;
	granted = perfctr_cpu_grant(config);
	ck_assert_uint_eq(model_scounteren(0), scounterens[_i].before | 0x34);
	model_set_scounteren(0, (model_scounteren(0) | scounterens[_i].set) &
				~scounterens[_i].cleared);
	perfctr_cpu_revoke(granted);
	ck_assert_msg(model_scounteren(0) == scounterens[_i].after, "%s: %#x, expected %#x",
		      scounterens[_i].name, model_scounteren(0), scounterens[_i].after);
	ck_assert_uint_eq(model_scounteren(1), 0x2);
}
END_TEST

/* Granted twice, revoked once: bits of the first grant are not taken for found ones. */
START_TEST(grant_again)
{
	struct perfctr_config *config;
	u32 granted;

	driver_init(&model_default);
	config = CLAIM(three);
	granted = perfctr_cpu_grant(config);
	ck_assert_uint_eq(granted, config->mask);
	granted |= perfctr_cpu_grant(config);
	perfctr_cpu_revoke(granted);
	ck_assert_uint_eq(model_scounteren(0), 0x2);
}
END_TEST

void test_user(void)
{
	unit_begin("riscv_user");
	UNIT_RUN(restart_zeroes);
	UNIT_ROWS(restart_zeroes_from_anywhere, befores);
	UNIT_RUN(restart_zeroes_fixed_counters);
	UNIT_RUN(restart_is_two_calls);
	UNIT_RUN(restart_is_private);
	UNIT_RUN(public_registers_are_loaded);
	UNIT_RUN(what_is_not_private_stays);
	UNIT_RUN(load_ends_privacy);
	UNIT_ROWS(losing_counters_ends_privacy, ends);
	UNIT_ROWS(restart_error, restart_errors);
	UNIT_RUN(restart_of_what_cannot_be_had);
	UNIT_RUN(ageing_keeps_privacy);
	UNIT_ROWS(user_readable, policies);
	UNIT_ROWS(grant_and_revoke, scounterens);
	UNIT_RUN(grant_again);
}
