// SPDX-License-Identifier: GPL-2.0
/* Claims of cycle and instret, which filter by mode with Smcntrpmf alone */
#include "tests.h"
#include "base/account.h"
#include "switch/run.h"
#include "riscv/test_claim.h"

static const struct perfctr_ctr_control instructions_kernel[] = {
	CTR(ANY, EV_INSTRUCTIONS, KERNEL),
};
static const struct perfctr_ctr_control cycles[] = { CTR(ANY, EV_CYCLES, USER) };

/*
 * Without Sscofpmf perf's cycles and instructions are cycle and instret too, so these are had
 * from perf.
 */
static const struct perfctr_ctr_control cycle[] = { CTR(ANY, EV_CYCLES, BOTH) };
static const struct perfctr_ctr_control cycle_too[] = {
	CTR(0, EV_CYCLES, BOTH), CTR(ANY, EV_INSTRUCTIONS, BOTH),
};

static void boot_without_sscofpmf(void)
{
	struct model_machine machine = model_default;

	machine.sscofpmf = false;
	driver_init(&machine);
}

static void expect_reserved(u32 counters)
{
	unsigned int cpu;

	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		ck_assert_uint_eq(model_perf_reserved[cpu],
				  shim_online & BIT(cpu) ? counters : 0);
}

START_TEST(fixed_reserved_from_perf)
{
	struct perfctr_config *first, *second;
	unsigned int allocations;
	struct thread thread;

	boot_without_sscofpmf();
	allocations = shim_allocations;
	first = CLAIM(cycle);
	expect_reserved(BIT(MODEL_CYCLE));
	second = CLAIM(cycle_too);
	expect_reserved(MODEL_FIXED);
	unclaim(first);
	expect_reserved(MODEL_FIXED);
	thread_init(&thread, second);
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	unclaim(second);
	expect_reserved(0);
	ck_assert_uint_eq(shim_allocations, allocations);
	/* perf finds them as it left them. */
	ck_assert(model_ctr(0, MODEL_CYCLE)->inhibited && model_ctr(1, MODEL_INSTRET)->inhibited);
}
END_TEST

/* perf rewrites a counter at each reservation: from its present value, also after a restart. */
START_TEST(fixed_rewritten_by_perf)
{
	struct perfctr_config *config;
	u64 value;

	boot_without_sscofpmf();
	config = CLAIM(cycle);
	ck_assert_int_eq(restart_on(0, config, 1), 0);
	shim_cpu = 0;
	model_execute(MODEL_USER, 1000);
	value = model_value(0, MODEL_CYCLE);
	CLAIM(cycle_too);
	/* The calls of the firmware are counted. */
	ck_assert_uint_ge(model_value(0, MODEL_CYCLE), value);
	ck_assert_uint_lt(model_value(0, MODEL_CYCLE), value + 100000);
}
END_TEST

/* With Sscofpmf there is nothing that could be reserved: the model would object. */
START_TEST(fixed_not_reserved_with_sscofpmf)
{
	static const struct perfctr_ctr_control named[] = { CTR(0, EV_CYCLES, BOTH) };

	driver_init(&model_default);
	CLAIM(named);
	expect_reserved(0);
}
END_TEST

START_TEST(fixed_that_perf_has_pinned)
{
	boot_without_sscofpmf();
	model_perf_pinned[_i] = BIT(MODEL_INSTRET);
	expect_busy(cycle_too, 2, PERFCTR_OWNER_PERF);
	expect_reserved(0);
	CLAIM(cycle);
	expect_busy(cycle_too, 2, PERFCTR_OWNER_PERF);
	expect_reserved(BIT(MODEL_CYCLE));
	model_perf_pinned[_i] = 0;
	CLAIM(cycle_too);
	expect_reserved(MODEL_FIXED);
}
END_TEST

START_TEST(fixed_where_perf_counts_nothing)
{
	struct thread thread;

	boot_without_sscofpmf();
	model_no_perf = true;
	thread_init(&thread, CLAIM(cycle_too));
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

START_TEST(fixed_without_memory)
{
	struct perfctr_config *config;
	struct perfctr_refusal why = NO_REFUSAL;
	unsigned int allocations;

	boot_without_sscofpmf();
	config = kzalloc(struct_size(config, ctr, 1), GFP_KERNEL_ACCOUNT);
	config->nr = 1;
	memcpy(config->ctr, cycle, sizeof(cycle));
	/* The user's account, which stays */
	perfctr_broadcasts_made(0);
	allocations = shim_allocations;
	shim_no_memory = true;
	cpus_read_lock();
	ck_assert_int_eq(perfctr_cpu_claim(config, perfctr_run, &why), -ENOMEM);
	cpus_read_unlock();
	shim_no_memory = false;
	ck_assert_uint_eq(shim_allocations, allocations);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_NONE);
	expect_reserved(0);
	kfree(config);
	CLAIM(cycle);
}
END_TEST

/* perf knows the event and does not give it, while all counters are claimed at once; then it does. */
START_TEST(fixed_that_perf_refuses_once)
{
	boot_without_sscofpmf();
	model_perf_fail(0, -EACCES);
	CLAIM(cycle);
	expect_reserved(BIT(MODEL_CYCLE));
}
END_TEST

START_TEST(fixed_over_hotplug)
{
	struct perfctr_config *config;
	struct thread thread;

	boot_without_sscofpmf();
	config = CLAIM(cycle_too);
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	cpu_offline(1);
	ck_assert_uint_eq(model_perf_reserved[1], 0);
	/* The thread has to leave the CPU, and may still be switched in before that. */
	thread_run(&thread, 1, 1000);
	ck_assert_int_eq(thread.error, 0);
	model_cpu_off(1);
	model_cpu_on(1);
	perfctr_cpu_prepare(1);
	cpu_online(1);
	expect_reserved(MODEL_FIXED);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	unclaim(config);
	expect_reserved(0);
}
END_TEST

/* A CPU comes, and perf is first: loads fail there until nobody wants the counters any more. */
START_TEST(fixed_denied_on_a_cpu_that_comes)
{
	struct perfctr_config *config;
	struct thread thread;

	boot_without_sscofpmf();
	config = CLAIM(cycle_too);
	cpu_offline(1);
	model_cpu_off(1);
	model_cpu_on(1);
	perfctr_cpu_prepare(1);
	model_perf_pinned[1] = BIT(MODEL_CYCLE);
	cpu_online(1);
	ck_assert_int_eq(load_on(1, config), -EIO);
	ck_assert_int_eq(load_on(0, config), 0);
	unclaim(config);
	model_perf_pinned[1] = 0;
	thread_init(&thread, CLAIM(cycle_too));
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* A firmware that gives another counter than was asked for is not believed. */
START_TEST(wrong_index_is_not_believed)
{
	static const struct perfctr_ctr_control named[] = { CTR(4, EV_DTLB_READ, USER) };
	static const struct perfctr_ctr_control last[] = { CTR(10, EV_DTLB_READ, USER) };
	struct model_machine machine = model_default;

	machine.ignores_mask = true;
	driver_init(&machine);
	expect_busy(named, 1, PERFCTR_OWNER_PERF);
	/* The highest index, which the firmware gives rightly */
	ck_assert_uint_eq(CLAIM(last)->hw[0], 10);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), BIT(10));
	expect_busy(named, 1, PERFCTR_OWNER_PERF);
}
END_TEST

/*
 * If the firmware falls back to a fixed counter, the claim fails, and the filter is put right
 * if the counter was ours. That happens if there is no other event to ask with first.
 */
static const struct model_machine fallbacks[] = {
	{ .sbi = true, .sscofpmf = true, .smcntrpmf = true,
	  .nr_cpus = 2, .programmable = 0x7f8, .width = 48 },
	{ .sbi = true, .sscofpmf = true, .smcntrpmf = true, .basic = true,
	  .nr_cpus = 2, .programmable = 0x7f8, .width = 48 },
};

START_TEST(fallback_is_repaired)
{
	static const struct perfctr_ctr_control filtered[] = {
		CTR(0, EV_CYCLES, USER), CTR(2, EV_INSTRUCTIONS, KERNEL),
	};
	static const struct perfctr_ctr_control any[] = { CTR(ANY, EV_CYCLES, KERNEL) };
	static const struct perfctr_ctr_control any2[] = { CTR(ANY, EV_INSTRUCTIONS, USER) };
	struct perfctr_config *config;
	struct thread thread, other;
	struct perfctr_config *refused;
	struct perfctr_refusal why = NO_REFUSAL;

	driver_init(&fallbacks[_i]);
	config = CLAIM(filtered);
	thread_init(&thread, config);
	thread_init(&other, config);
	thread_run(&thread, 0, 1000);
	thread_run(&other, 1, 1000);
	model_perf_take_all(0);
	model_perf_take_all(1);
	thread_in(&thread, 0);
	model_execute(MODEL_USER, 777);

	/* Not by claim(): until the next load the filter on CPU 1 may be wrong. */
	refused = kzalloc(struct_size(refused, ctr, 1), GFP_KERNEL_ACCOUNT);
	refused->nr = 1;
	refused->ctr[0] = any[0];
	cpus_read_lock();
	ck_assert_int_eq(perfctr_cpu_claim(refused, perfctr_run, &why), -EBUSY);
	refused->ctr[0] = any2[0];
	ck_assert_int_eq(perfctr_cpu_claim(refused, perfctr_run, &why), -EBUSY);
	cpus_read_unlock();
	kfree(refused);

	model_execute(MODEL_USER, 777);
	model_execute(MODEL_KERNEL, 555);
	thread_out(&thread);
	thread_run(&other, 1, 4321);
	thread_run(&other, 0, 4321);
	thread_expect_exact(&thread);
	thread_expect_exact(&other);
	ck_assert_uint_eq(model_ctr(1, 0)->modes_off, BIT(MODEL_KERNEL) | BIT(MODEL_MACHINE));
	ck_assert_uint_eq(model_ctr(1, 2)->modes_off, BIT(MODEL_USER) | BIT(MODEL_MACHINE));
}
END_TEST

/* A filter of a fixed counter that is another's outlives our request for its event. */
START_TEST(refusal_leaves_a_fixed_filter)
{
	driver_init(&model_filtering);
	model_perf_take_all(0);
	model_perf_take_all(1);
	model_perf_take(0, 3, EV_INSTRUCTIONS, 0, true);
	expect_busy(instructions_kernel, 1, PERFCTR_OWNER_PERF);
}
END_TEST

/* If the fallback cannot be avoided, a fixed counter that nobody has is left unfiltered. */
START_TEST(refusal_leaves_nobodys_counter_unfiltered)
{
	driver_init(&fallbacks[1]);
	model_perf_take_all(0);
	model_perf_take_all(1);
	expect_busy(instructions_kernel, 1, PERFCTR_OWNER_PERF);
	expect_busy(cycles, 1, PERFCTR_OWNER_PERF);
}
END_TEST

void test_claim_fixed(void)
{
	UNIT_RUN(fixed_reserved_from_perf);
	UNIT_RUN(fixed_rewritten_by_perf);
	UNIT_RUN(fixed_not_reserved_with_sscofpmf);
	unit_run(fixed_that_perf_has_pinned, 2);
	UNIT_RUN(fixed_where_perf_counts_nothing);
	UNIT_RUN(fixed_without_memory);
	UNIT_RUN(fixed_that_perf_refuses_once);
	UNIT_RUN(fixed_over_hotplug);
	UNIT_RUN(fixed_denied_on_a_cpu_that_comes);
	UNIT_RUN(wrong_index_is_not_believed);
	UNIT_ROWS(fallback_is_repaired, fallbacks);
	UNIT_RUN(refusal_leaves_a_fixed_filter);
	UNIT_RUN(refusal_leaves_nobodys_counter_unfiltered);
}
