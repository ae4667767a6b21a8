// SPDX-License-Identifier: GPL-2.0
/* perfctr_cpu_claim() and perfctr_cpu_unclaim(): who gets which counters, and gives them back. */
#include "tests.h"
#include "base/account.h"
#include "switch/run.h"
#include "riscv/test_claim.h"

/* Two counters, one of which alone counts dTLB misses */
static const struct model_machine tight = {
	.sbi = true, .sscofpmf = true, .nr_cpus = 2,
	.programmable = 0x18, .dtlb_counters = 0x8, .width = 48,
};

static const struct perfctr_ctr_control instructions[] = { CTR(ANY, EV_INSTRUCTIONS, USER) };
static const struct perfctr_ctr_control instructions_kernel[] = {
	CTR(ANY, EV_INSTRUCTIONS, KERNEL),
};
static const struct perfctr_ctr_control cycles[] = { CTR(ANY, EV_CYCLES, USER) };
static const struct perfctr_ctr_control dtlb_read[] = { CTR(ANY, EV_DTLB_READ, USER) };
static const struct perfctr_ctr_control dtlb_write[] = { CTR(ANY, EV_DTLB_WRITE, USER) };
static const struct perfctr_ctr_control itlb[] = { CTR(ANY, EV_ITLB, USER) };
static const struct perfctr_ctr_control stores[] = { CTR_RAW(ANY, RAW_STORES, USER) };
static const struct perfctr_ctr_control loads[] = { CTR_RAW(ANY, RAW_LOADS, USER) };
static const struct perfctr_ctr_control no_such_raw[] = { CTR_RAW(ANY, RAW_NONE, USER) };
static const struct perfctr_ctr_control three[] = {
	CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_ITLB, USER),
};

void expect_busy(const struct perfctr_ctr_control *ctr, unsigned int nr, u32 who)
{
	struct perfctr_refusal why = NO_REFUSAL;
	long err = PTR_ERR(claim(ctr, nr, &why));

	ck_assert_msg(err == -EBUSY, "%ld, expected EBUSY", err);
	ck_assert_uint_eq(why.owner, who);
}

static void perf_take(unsigned int cpu, u32 counters)
{
	unsigned int hw;

	for (hw = MODEL_HPM; hw < MODEL_CTRS; hw++)
		if (counters & BIT(hw))
			ck_assert(model_perf_take(cpu, hw, EV_BRANCHES, 0, true) ||
				  model_perf_take(cpu, hw, EV_ITLB, 0, true));
}

/* A counter that perf has on one CPU cannot be had on any. */
START_TEST(named_on_all_cpus_or_none)
{
	static const struct perfctr_ctr_control named[] = { CTR(5, EV_DTLB_READ, USER) };
	struct model_machine machine = model_default;

	machine.nr_cpus = SHIM_CPUS;
	driver_init(&machine);
	perf_take((unsigned int)_i, BIT(5));
	expect_busy(named, 1, PERFCTR_OWNER_PERF);
	model_perf_give((unsigned int)_i, BIT(5));
	CLAIM(named);
	for (shim_cpu = 0; shim_cpu < SHIM_CPUS; shim_cpu++)
		ck_assert_uint_eq(model_owned(shim_cpu, MODEL_DRIVER), BIT(5));
}
END_TEST

/* ANY is a counter that is free on all CPUs. */
START_TEST(any_on_all_cpus)
{
	struct perfctr_config *config;
	unsigned int cpu;

	driver_init(&model_default);
	perf_take(0, 0x2a8);
	perf_take(1, 0x550);
	expect_busy(dtlb_read, 1, PERFCTR_OWNER_PERF);
	model_perf_give(1, BIT(8));
	config = CLAIM(dtlb_read);
	ck_assert_uint_eq(config->hw[0], 8);
	for (cpu = 0; cpu < 2; cpu++)
		ck_assert_uint_eq(model_owned(cpu, MODEL_DRIVER), BIT(8));
}
END_TEST

/* With several counters as well: if the last one cannot be claimed, the first is given back. */
START_TEST(all_counters_or_none)
{
	static const struct perfctr_ctr_control named[] = {
		CTR(3, EV_DTLB_READ, USER), CTR(4, EV_DTLB_WRITE, USER), CTR(5, EV_ITLB, USER),
	};

	driver_init(&model_default);
	perf_take(1, BIT(3 + _i));
	expect_busy(named, 3, PERFCTR_OWNER_PERF);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), 0);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
}
END_TEST

START_TEST(named_before_any)
{
	static const struct perfctr_ctr_control mixed[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR(3, EV_CYCLES, USER),
		CTR(ANY, EV_ITLB, USER), CTR(4, EV_DTLB_READ, USER),
	};
	struct perfctr_config *config;

	driver_init(&model_default);
	config = CLAIM(mixed);
	ck_assert_uint_eq(config->hw[1], 3);
	ck_assert_uint_eq(config->hw[3], 4);
	ck_assert_uint_gt(config->hw[0], 4);
	ck_assert_uint_gt(config->hw[2], 4);
	ck_assert_uint_ne(config->hw[0], config->hw[2]);
}
END_TEST

/* arch_mask, which restart gives to the firmware, has the firmware's numbers. */
START_TEST(indices_are_the_firmwares)
{
	static const struct perfctr_ctr_control named[] = {
		CTR(0, EV_CYCLES, BOTH), CTR(3, EV_DTLB_READ, USER), CTR(10, EV_ITLB, USER),
	};
	struct model_machine machine = model_default;
	struct perfctr_config *config;
	struct thread thread;

	machine.shuffled = true;
	driver_init(&machine);
	config = CLAIM(named);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), BIT(3) | BIT(10));
	/* There are 11 indices, and each is shifted by five. */
	ck_assert_uint_eq(config->arch_mask, BIT(5) | BIT(8) | BIT(4));
	thread_init(&thread, config);
	thread_run(&thread, 1, 12345);
	thread_expect_exact(&thread);
}
END_TEST

START_TEST(same_event_shares)
{
	static const struct perfctr_ctr_control more[] = {
		CTR(ANY, EV_DTLB_READ, USER), CTR(ANY, EV_INSTRUCTIONS, USER),
	};
	struct perfctr_config *a, *b;

	driver_init(&model_default);
	a = CLAIM(instructions);
	model_calls_reset();
	b = CLAIM(more);
	ck_assert_uint_eq(a->hw[0], b->hw[1]);
	ck_assert_uint_ne(b->hw[0], b->hw[1]);
	/* One counter was new, on two CPUs. */
	ck_assert_uint_eq(model_calls[SBI_EXT_PMU_COUNTER_CFG_MATCH], 2);
}
END_TEST

START_TEST(same_event_with_another_filter_shares)
{
	struct perfctr_config *a, *b;

	driver_init(&model_default);
	a = CLAIM(instructions);
	b = CLAIM(instructions_kernel);
	ck_assert_uint_eq(a->hw[0], b->hw[0]);
	ck_assert_uint_eq(hweight32(model_owned(0, MODEL_DRIVER)), 1);
	(void)b;
}
END_TEST

/* Of two counters with the event, the one with the filter is taken: there is nothing to program. */
START_TEST(same_filter_is_preferred)
{
	static const struct perfctr_ctr_control twice[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_INSTRUCTIONS, KERNEL),
	};
	struct perfctr_config *config;

	driver_init(&model_default);
	config = CLAIM(twice);
	model_calls_reset();
	ck_assert_uint_eq(CLAIM(instructions_kernel)->hw[0], config->hw[1]);
	ck_assert_uint_eq(CLAIM(instructions)->hw[0], config->hw[0]);
	ck_assert_uint_eq(model_all_calls(), 0);
}
END_TEST

/* Raw events are told apart by their data. */
START_TEST(another_raw_event_does_not_share)
{
	struct perfctr_config *a, *b;

	driver_init(&model_default);
	a = CLAIM(stores);
	b = CLAIM(stores);
	ck_assert_uint_eq(a->hw[0], b->hw[0]);
	ck_assert_int_eq(PTR_ERR(claim(no_such_raw, 1, NULL)), -EINVAL);
	b = CLAIM(loads);
	ck_assert_uint_ne(a->hw[0], b->hw[0]);
}
END_TEST

/* Different controls get counters of their own until half are in use, then they share. */
START_TEST(half_is_left_to_perf)
{
	struct perfctr_config *config[6];
	u32 used = 0;
	int i;

	driver_init(&model_default);
	config[0] = CLAIM(instructions);
	config[1] = CLAIM(cycles);
	config[2] = CLAIM(dtlb_read);
	config[3] = CLAIM(dtlb_write);
	for (i = 0; i < 4; i++)
		used |= config[i]->mask;
	ck_assert_uint_eq(hweight32(used), 4);
	config[4] = CLAIM(itlb);
	config[5] = CLAIM(stores);
	ck_assert_uint_eq(config[4]->mask & ~used, 0);
	ck_assert_uint_eq(config[5]->mask & ~used, 0);
	ck_assert_uint_eq(hweight32(model_owned(0, MODEL_DRIVER)), 4);
}
END_TEST

/* One control gets the counters that it names, however many these are. */
START_TEST(one_control_may_have_more_than_half)
{
	static const struct perfctr_ctr_control six[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_CYCLES, USER),
		CTR(ANY, EV_DTLB_READ, USER), CTR(ANY, EV_DTLB_WRITE, USER),
		CTR(ANY, EV_ITLB, USER), CTR_RAW(ANY, RAW_STORES, USER),
	};

	driver_init(&model_default);
	ck_assert_uint_eq(hweight32(CLAIM(six)->mask), 6);
	ck_assert_uint_eq(hweight32(model_owned(1, MODEL_DRIVER)), 6);
}
END_TEST

/* With half in use and the rest perf's, a control shares our counters. */
START_TEST(shares_what_is_ours_when_perf_has_the_rest)
{
	struct perfctr_config *a, *b;

	driver_init(&model_default);
	a = CLAIM(instructions);
	model_perf_take_all(0);
	model_perf_take_all(1);
	b = CLAIM(itlb);
	ck_assert_uint_eq(a->hw[0], b->hw[0]);
	expect_busy(three, 3, PERFCTR_OWNER_PERF);
}
END_TEST

START_TEST(perf_has_them)
{
	driver_init(&model_default);
	perf_take(1, 0x7e0);
	expect_busy(three, 3, PERFCTR_OWNER_PERF);
	model_perf_give(1, BIT(5));
	CLAIM(three);
}
END_TEST

/* No counter is left that could count the event, whoever has them: the control is wrong. */
START_TEST(never_together)
{
	static const struct perfctr_ctr_control both[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_CYCLES, USER),
	};
	static const struct perfctr_ctr_control misses[] = {
		CTR(ANY, EV_DTLB_READ, USER), CTR(ANY, EV_DTLB_WRITE, USER),
	};
	struct thread thread;

	driver_init(&tight);
	thread_init(&thread, CLAIM(both));
	thread_run(&thread, 0, 1000);
	thread_in(&thread, 1);
	model_execute(MODEL_USER, 500);
	ck_assert_int_eq(PTR_ERR(claim(misses, 2, NULL)), -EINVAL);
	model_execute(MODEL_USER, 500);
	thread_out(&thread);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* Only the firmware knows raw events: one that is refused with a counter free does not exist. */
START_TEST(unknown_raw_event)
{
	static const struct perfctr_ctr_control named[] = { CTR_RAW(4, RAW_NONE, USER) };

	driver_init(&model_default);
	ck_assert_int_eq(PTR_ERR(claim(no_such_raw, 1, NULL)), -EINVAL);
	ck_assert_int_eq(PTR_ERR(claim(named, 1, NULL)), -EINVAL);
	/* A counter of ours was tried, too. */
	CLAIM(instructions);
	ck_assert_int_eq(PTR_ERR(claim(no_such_raw, 1, NULL)), -EINVAL);
	ck_assert_int_eq(PTR_ERR(claim(named, 1, NULL)), -EINVAL);
}
END_TEST

START_TEST(raw_event_that_cannot_be_told)
{
	driver_init(&model_default);
	model_perf_take_all(0);
	model_perf_take_all(1);
	expect_busy(stores, 1, PERFCTR_OWNER_PERF);
	expect_busy(no_such_raw, 1, PERFCTR_OWNER_PERF);
}
END_TEST

/* A raw event that exists, but the control's other counter took the only counter for it. */
START_TEST(raw_event_beside_its_rival)
{
	static const struct perfctr_ctr_control two[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR_RAW(ANY, RAW_STORES, USER),
	};

	driver_init(&model_default);
	perf_take(0, 0x7f0);
	perf_take(1, 0x7f0);
	expect_busy(two, 2, PERFCTR_OWNER_PERF);
	CLAIM(stores);
}
END_TEST

/* A raw event for a named counter, which perf has */
START_TEST(raw_event_on_a_counter_of_perf)
{
	static const struct perfctr_ctr_control named[] = { CTR_RAW(4, RAW_STORES, USER) };

	driver_init(&model_default);
	perf_take(0, BIT(4));
	perf_take(1, BIT(4));
	expect_busy(named, 1, PERFCTR_OWNER_PERF);
}
END_TEST

/*
 * Firmware without Sscofpmf gives only the fixed counters to cycles and instructions. If
 * nothing can be filtered these are good for ANY as well.
 */
START_TEST(any_cycles_without_sscofpmf)
{
	static const struct perfctr_ctr_control both[] = {
		CTR(ANY, EV_CYCLES, BOTH), CTR(ANY, EV_INSTRUCTIONS, BOTH),
		CTR(ANY, EV_DTLB_READ, BOTH),
	};
	struct model_machine machine = model_default;
	struct perfctr_config *config;
	struct thread thread;
	long err;

	machine.sscofpmf = false;
	driver_init(&machine);
	config = claim(both, 3, NULL);
	err = IS_ERR(config) ? PTR_ERR(config) : 0;
	ck_assert_msg(!err, "%ld", err);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

START_TEST(unknown_raw_event_without_sscofpmf)
{
	static const struct perfctr_ctr_control raw[] = { CTR_RAW(ANY, RAW_NONE, BOTH) };
	struct model_machine machine = model_default;
	long err;

	machine.sscofpmf = false;
	driver_init(&machine);
	err = PTR_ERR(claim(raw, 1, NULL));
	ck_assert_msg(err == -EINVAL, "%ld, expected EINVAL", err);
}
END_TEST

/* Everything is given back as it was. */
static const struct {
	const char *name;
	const struct model_machine *machine;
	unsigned int nr;
	struct perfctr_ctr_control ctr[4];
} controls[] = {
	{ "clock", &model_default, 0, {} },
	{ "one", &model_default, 1, { CTR(ANY, EV_CYCLES, USER) } },
	{ "four", &model_default, 4,
	  { CTR(ANY, EV_CYCLES, USER), CTR(9, EV_ITLB, KERNEL), CTR(ANY, EV_ITLB, USER),
	    CTR_RAW(3, RAW_STORES, BOTH) } },
	{ "fixed", &model_default, 2, { CTR(0, EV_CYCLES, BOTH), CTR(2, EV_INSTRUCTIONS, BOTH) } },
	{ "fixed, filtered", &model_filtering, 2,
	  { CTR(0, EV_CYCLES, USER), CTR(2, EV_INSTRUCTIONS, KERNEL) } },
	{ "fixed and others", &model_filtering, 3,
	  { CTR(0, EV_CYCLES, USER), CTR(ANY, EV_CYCLES, KERNEL), CTR(2, EV_INSTRUCTIONS, USER) } },
};

START_TEST(unclaim_gives_back)
{
	struct model_ownership before;
	struct perfctr_config *config;
	struct thread thread;
	unsigned int cpu;

	driver_init(controls[_i].machine);
	perf_take(1, BIT(7) | BIT(8));
	model_ownership(&before);
	config = claim_well(controls[_i].ctr, controls[_i].nr);
	thread_init(&thread, config);
	for (cpu = 0; cpu < 2; cpu++) {
		thread_run(&thread, cpu, 1000);
		if (config->nr)
			ck_assert_int_eq(restart_on(cpu, config, 1000), 0);
	}
	unclaim(config);
	model_expect_ownership(&before);
	for (cpu = 0; cpu < 2; cpu++) {
		ck_assert_uint_eq(per_cpu_ptr(&perfctr_riscv_cpu, cpu)->owned, 0);
		ck_assert_uint_eq(per_cpu_ptr(&perfctr_riscv_cpu, cpu)->running, 0);
		ck_assert_uint_eq(model_owned(cpu, MODEL_DRIVER), 0);
	}
}
END_TEST

/* Counters that another config needs stay, and count on. */
START_TEST(unclaim_keeps_what_others_need)
{
	static const struct perfctr_ctr_control two[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_DTLB_READ, USER),
	};
	struct perfctr_config *a, *b;
	struct thread thread;

	driver_init(&model_default);
	a = CLAIM(instructions);
	b = CLAIM(two);
	thread_init(&thread, a);
	thread_run(&thread, 0, 100);
	thread_in(&thread, 1);
	model_execute(MODEL_USER, 100);
	unclaim(b);
	model_execute(MODEL_USER, 100);
	thread_out(&thread);
	thread_run(&thread, 0, 100);
	thread_expect_exact(&thread);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), a->mask);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), a->mask);
	unclaim(a);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), 0);
}
END_TEST

/* A config that is gone is not remembered, even if no counter is given back. */
START_TEST(freed_config_is_forgotten)
{
	struct perfctr_config *a, *b;

	driver_init(&model_default);
	a = CLAIM(instructions);
	b = CLAIM(instructions);
	ck_assert_int_eq(load_on(0, a), 0);
	ck_assert_int_eq(restart_on(1, a, 1000), 0);
	ck_assert(has_loaded(0, a));
	ck_assert(private_on(1, a, 1000));
	unclaim(a);	/* looks */
	ck_assert_int_eq(load_on(0, b), 0);
}
END_TEST

/* A failed claim does not disturb threads that count. */
START_TEST(failed_claims_disturb_nobody)
{
	static const struct perfctr_ctr_control named[] = {
		CTR(3, EV_INSTRUCTIONS, USER), CTR(4, EV_CYCLES, USER),
	};
	static const struct perfctr_ctr_control bad[] = {
		CTR(3, EV_ITLB, KERNEL), CTR(4, EV_DTLB_READ, USER), CTR(5, EV_ITLB, USER),
	};
	struct thread thread, other;
	int i;

	driver_init(&model_default);
	thread_init(&thread, CLAIM(named));
	thread_init(&other, thread.config);
	perf_take(1, BIT(5));
	for (i = 0; i < 5; i++) {
		thread_in(&thread, 0);
		thread_in(&other, 1);
		model_execute(MODEL_USER, 1000);
		expect_busy(bad, 3, PERFCTR_OWNER_PERF);
		model_execute(MODEL_USER, 1000);
		thread_out(&other);
		thread_out(&thread);
	}
	thread_expect_exact(&thread);
	thread_expect_exact(&other);
}
END_TEST

/* A CPU that comes later gets the counters of configs, but not of refused controls. */
START_TEST(refusal_is_forgotten)
{
	static const struct perfctr_ctr_control three_instructions[] = {
		CTR(3, EV_INSTRUCTIONS, USER),
	};
	static const struct perfctr_ctr_control three_none[] = { CTR_RAW(3, RAW_NONE, USER) };

	driver_init(&model_default);
	CLAIM(three_instructions);
	ck_assert_int_eq(PTR_ERR(claim(three_none, 1, NULL)), -EINVAL);
	cpu_offline(1);
	model_cpu_off(1);
	model_cpu_on(1);
	perfctr_cpu_prepare(1);
	cpu_online(1);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), BIT(3));
	ck_assert_uint_eq(model_ctr(1, 3)->event, EV_INSTRUCTIONS);
}
END_TEST

/* A counter of ours that cannot take the new event is kept for the old one. */
START_TEST(failed_change_keeps_the_counter)
{
	static const struct perfctr_ctr_control four[] = { CTR(4, EV_INSTRUCTIONS, USER) };
	static const struct perfctr_ctr_control never[] = { CTR(4, EV_DTLB_READ, USER) };
	struct thread thread;

	driver_init(&tight);
	thread_init(&thread, CLAIM(four));
	thread_run(&thread, 0, 100);
	thread_in(&thread, 0);
	ck_assert_int_eq(PTR_ERR(claim(never, 1, NULL)), -EINVAL);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), BIT(4));
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), BIT(4));
	model_execute(MODEL_USER, 100);
	thread_out(&thread);
	thread_run(&thread, 1, 100);
	thread_expect_exact(&thread);
}
END_TEST

/* Any of the calls of a claim may fail, once, or again when it is tried one by one. */
START_TEST(claim_survives_any_refusal)
{
	static const struct perfctr_ctr_control mixed[] = {
		CTR(0, EV_CYCLES, BOTH), CTR(3, EV_INSTRUCTIONS, USER), CTR(4, EV_ITLB, USER),
	};
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_default);
	/* Three counters on two CPUs are six calls, and giving cycle back is one on each. */
	model_fail(SBI_EXT_PMU_COUNTER_CFG_MATCH, (unsigned int)_i % 7, _i < 7 ? 1 : 9,
		   SBI_ERR_FAILURE);
	config = claim(mixed, 3, NULL);
	ck_assert_int_eq(IS_ERR(config), _i >= 7 && _i < 13);
	model_fail(SBI_EXT_PMU_COUNTER_CFG_MATCH, 0, 0, 0);
	if (IS_ERR(config))
		config = CLAIM(mixed);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* A fixed counter that somebody stopped is started; if that fails the claim fails. */
START_TEST(fixed_counter_is_started)
{
	static const struct perfctr_ctr_control cycle[] = { CTR(0, EV_CYCLES, BOTH) };
	struct thread thread;

	driver_init(&model_default);
	/* On the second CPU, as both give it back, and when it is tried again */
	model_fail(SBI_EXT_PMU_COUNTER_START, 1, 4, SBI_ERR_FAILURE);
	ck_assert_int_eq(PTR_ERR(claim(cycle, 1, NULL)), -EBUSY);
	thread_init(&thread, CLAIM(cycle));
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

void test_claim(void)
{
	unit_begin("riscv_claim");
	unit_run(named_on_all_cpus_or_none, SHIM_CPUS);
	UNIT_RUN(any_on_all_cpus);
	unit_run(all_counters_or_none, 3);
	UNIT_RUN(named_before_any);
	UNIT_RUN(indices_are_the_firmwares);
	UNIT_RUN(same_event_shares);
	UNIT_RUN(same_event_with_another_filter_shares);
	UNIT_RUN(same_filter_is_preferred);
	UNIT_RUN(another_raw_event_does_not_share);
	UNIT_RUN(half_is_left_to_perf);
	UNIT_RUN(one_control_may_have_more_than_half);
	UNIT_RUN(shares_what_is_ours_when_perf_has_the_rest);
	UNIT_RUN(perf_has_them);
	UNIT_RUN(never_together);
	UNIT_RUN(unknown_raw_event);
	UNIT_RUN(raw_event_that_cannot_be_told);
	UNIT_RUN(raw_event_beside_its_rival);
	UNIT_RUN(raw_event_on_a_counter_of_perf);
	UNIT_RUN(any_cycles_without_sscofpmf);
	UNIT_RUN(unknown_raw_event_without_sscofpmf);
	test_claim_fixed();
	UNIT_ROWS(unclaim_gives_back, controls);
	UNIT_RUN(unclaim_keeps_what_others_need);
	UNIT_RUN(freed_config_is_forgotten);
	UNIT_RUN(failed_claims_disturb_nobody);
	UNIT_RUN(refusal_is_forgotten);
	UNIT_RUN(failed_change_keeps_the_counter);
	unit_run(claim_survives_any_refusal, 14);
	UNIT_RUN(fixed_counter_is_started);
}
