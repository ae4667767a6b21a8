// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that come and go, deep sleep, ageing, and machines without the SBI PMU
 * extension.
 */
#include "tests.h"

static const struct perfctr_ctr_control two[] = {
	CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER),
};
static const struct perfctr_ctr_control fixed[] = {
	CTR(0, EV_CYCLES, USER), CTR(2, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER),
};

/* As in config.c's hotplug callbacks, with the hart around them */
static void cpu_goes(unsigned int cpu)
{
	cpu_offline(cpu);
	shim_online &= ~BIT(cpu);
	model_cpu_off(cpu);
}

static void hart_comes(unsigned int cpu)
{
	model_cpu_on(cpu);
	perfctr_cpu_prepare(cpu);
	shim_online |= BIT(cpu);
}

static void cpu_comes(unsigned int cpu)
{
	hart_comes(cpu);
	cpu_online(cpu);
}

START_TEST(cpu_that_comes_gets_its_counters)
{
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_default);
	cpu_goes(1);
	config = CLAIM(two);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
	cpu_comes(1);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), config->mask);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	model_calls_reset();
	thread_run(&thread, 1, 1000);
	ck_assert_uint_eq(model_calls[SBI_EXT_PMU_COUNTER_CFG_MATCH], 0);
	thread_expect_exact(&thread);
	unclaim(config);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
}
END_TEST

/* Nothing is claimed for a CPU that comes when nobody counts. */
START_TEST(cpu_that_comes_for_nobody)
{
	driver_init(&model_default);
	unclaim(CLAIM(two));
	model_calls_reset();
	cpu_goes(1);
	cpu_comes(1);
	ck_assert_uint_eq(model_all_calls(), 0);
}
END_TEST

/* A CPU comes with its counters taken: loads are EIO there until they are free. */
START_TEST(cpu_that_comes_taken)
{
	struct perfctr_config *config;
	struct thread stays, moves, later;

	driver_init(&model_default);
	cpu_goes(1);
	config = CLAIM(two);
	thread_init(&stays, config);
	thread_init(&moves, config);
	thread_init(&later, config);
	thread_run(&stays, 0, 1000);
	thread_run(&moves, 0, 1000);
	hart_comes(1);
	model_perf_take_all(1);
	cpu_online(1);

	thread_run(&moves, 1, 1000);
	ck_assert_int_eq(moves.error, -EIO);
	/* Its sums are right as far as they go. */
	thread_expect_exact(&moves);
	thread_run(&stays, 0, 1000);
	ck_assert_int_eq(stays.error, 0);

	model_perf_give(1, 0x7f8);
	thread_run(&later, 1, 1000);
	thread_run(&later, 0, 1000);
	ck_assert_int_eq(later.error, 0);
	thread_expect_exact(&later);
	thread_expect_exact(&stays);
}
END_TEST

/* One of two counters can be had there: only the other is missing. */
START_TEST(cpu_that_comes_half_taken)
{
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_default);
	cpu_goes(1);
	config = CLAIM(two);
	hart_comes(1);
	ck_assert(model_perf_take(1, config->hw[0], EV_CYCLES, 0, true));
	cpu_online(1);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), BIT(config->hw[1]));
	ck_assert_int_eq(load_on(1, config), -EIO);
	model_perf_give(1, BIT(config->hw[0]));
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* A new control is claimed on the CPUs that are there. */
START_TEST(claim_skips_cpus_that_are_gone)
{
	struct perfctr_config *config;

	driver_init(&model_default);
	model_perf_take_all(1);
	cpu_goes(1);
	config = CLAIM(two);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), config->mask);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
}
END_TEST

START_TEST(cpu_that_goes_gives_back)
{
	struct model_ownership before;
	struct perfctr_config *config, *other;
	struct thread thread;

	driver_init(&model_filtering);
	model_ownership(&before);
	config = CLAIM(fixed);
	other = CLAIM(two);
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	ck_assert_int_eq(restart_on(1, other, 1000), 0);
	thread_run(&thread, 0, 1000);
	cpu_offline(1);
	ck_assert(!has_loaded(1, config));
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), (config->mask & ~MODEL_FIXED) | other->mask);
	thread_expect_exact(&thread);
	unclaim(config);
	unclaim(other);
	model_expect_ownership(&before);
}
END_TEST

/* Off and on, again and again, with threads that move. */
START_TEST(exact_over_hotplug)
{
	struct thread a, b;
	int i;

	driver_init(&model_filtering);
	thread_init(&a, CLAIM(fixed));
	thread_init(&b, CLAIM(two));
	for (i = 0; i < 10; i++) {
		thread_run(&a, 1, 1000);
		thread_run(&b, 1, 1000);
		if (i % 2)
			thread_run(&a, 1, 1000);
		cpu_goes(1);
		thread_run(&a, 0, 1000);
		thread_run(&b, 0, 1000);
		cpu_comes(1);
	}
	ck_assert_int_eq(a.error, 0);
	ck_assert_int_eq(b.error, 0);
	thread_expect_exact(&a);
	thread_expect_exact(&b);
}
END_TEST

/*
 * After the callback that gives back, threads may still be switched in on that CPU if they
 * could not be pushed away yet (migration disabled). What they program is lost with the hart,
 * and must not be believed when it comes.
 */
START_TEST(late_load_on_a_dying_cpu)
{
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_default);
	config = CLAIM(two);
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	cpu_offline(1);
	thread_run(&thread, 1, 1000);
	shim_online &= ~BIT(1);
	model_cpu_off(1);
	thread_run(&thread, 0, 1000);
	cpu_comes(1);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), config->mask);
}
END_TEST

/* Another callback failed, so the CPU stays: counters that were loaded late are still had. */
START_TEST(offline_called_off)
{
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_default);
	config = CLAIM(two);
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	cpu_offline(1);
	thread_run(&thread, 1, 1000);
	cpu_online(1);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), config->mask);
	thread_run(&thread, 1, 1000);
	ck_assert_int_eq(thread.error, 0);
	thread_expect_exact(&thread);
	unclaim(config);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
}
END_TEST

/* Deep sleep: registers are lost, and the firmware may or may not remember. */
static const struct {
	const char *name;
	bool lost, firmware_forgets;
} sleeps[] = {
	{ "firmware remembers", true, false },
	{ "firmware forgets", true, true },
	{ "did not sleep after all", false, false },
};

static void sleep(unsigned int cpu, int row)
{
	if (sleeps[row].lost)
		cpu_sleeps(cpu, sleeps[row].firmware_forgets);
	else
		on_cpu_irqs_off(cpu, perfctr_cpu_online);
}

START_TEST(exact_over_sleep)
{
	struct thread a, b;
	int i;

	driver_init(&model_filtering);
	thread_init(&a, CLAIM(fixed));
	thread_init(&b, CLAIM(two));
	for (i = 0; i < 5; i++) {
		thread_run(&a, 0, 1000);
		thread_run(&b, 0, 1000);
		thread_run(&b, 1, 1000);
		sleep(0, _i);
		thread_run(i % 2 ? &a : &b, 0, 1000);
		ck_assert_uint_eq(model_owned(0, MODEL_DRIVER),
				  (a.config->mask | b.config->mask) & ~MODEL_FIXED);
	}
	ck_assert_int_eq(a.error, 0);
	ck_assert_int_eq(b.error, 0);
	thread_expect_exact(&a);
	thread_expect_exact(&b);
}
END_TEST

/* The thread that asks for a system suspend may count. */
START_TEST(sleep_of_a_thread_that_counts)
{
	struct thread thread;
	int i;

	driver_init(&model_filtering);
	thread_init(&thread, CLAIM(fixed));
	for (i = 0; i < 3; i++) {
		thread_in(&thread, 0);
		model_execute(MODEL_USER, 1000);
		cpu_sleeps(0, i % 2);
		model_execute(MODEL_USER, 1000);
		thread_out(&thread);
	}
	ck_assert_int_eq(thread.error, 0);
	thread_expect_exact(&thread);
}
END_TEST

/* Sleep costs nothing while nobody counts. */
START_TEST(sleep_costs)
{
	driver_init(&model_default);
	model_calls_reset();
	cpu_sleeps(0, true);
	ck_assert_uint_eq(model_all_calls(), 0);
	unclaim(CLAIM(two));
	model_calls_reset();
	cpu_sleeps(0, false);
	ck_assert_uint_eq(model_all_calls(), 0);
}
END_TEST

/*
 * Ageing
 */

/* Width: by the firmware, by the parameter, and the one that is used */
static const struct {
	unsigned int width, narrow, parameter, used;
} widths[] = {
	{ 48, 0, 0, 48 }, { 64, 0, 0, 64 }, { 32, 0, 0, 32 }, { 24, 0, 0, 24 },
	{ 48, 40, 0, 40 }, { 48, 24, 0, 24 },
	{ 48, 0, 26, 26 }, { 48, 0, 32, 32 }, { 64, 0, 26, 26 },
	{ 48, 0, 1, 26 }, { 48, 0, 25, 26 }, { 48, 0, 27, 27 },
	{ 48, 0, 60, 48 }, { 48, 0, 64, 48 }, { 32, 0, 40, 32 },
};

static void boot_width(unsigned int width, unsigned int narrow, unsigned int parameter)
{
	struct model_machine machine = model_default;

	machine.width = width;
	if (narrow) {
		machine.narrow = 7;
		machine.narrow_width = narrow;
	}
	shim_set_param("counter_width", parameter);
	driver_init(&machine);
}

START_TEST(width_in_use)
{
	struct perfctr_kernel_info info = {};

	boot_width(widths[_i].width, widths[_i].narrow, widths[_i].parameter);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.width, widths[_i].used);
}
END_TEST

/* Only counters past half of their range are set back, while their thread runs. */
START_TEST(old_counters_are_set_back)
{
	u64 half = 1ull << (widths[_i].used - 1);
	struct perfctr_config *config;
	struct thread thread;
	unsigned int first;

	boot_width(widths[_i].width, widths[_i].narrow, widths[_i].parameter);
	config = CLAIM(two);
	first = config->hw[0];
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);

	/* In time */
	model_set_value(0, first, half - 1000);
	thread_in(&thread, 0);
	model_execute(MODEL_USER, 999);
	model_calls_reset();
	ck_assert_int_eq(age_all(), 0);
	ck_assert_uint_eq(model_all_calls(), 0);
	ck_assert_uint_eq(model_value(0, first), half - 1);
	model_execute(MODEL_USER, 1);
	/* Past */
	ck_assert_int_eq(age_all(), 0);
	ck_assert_uint_eq(model_calls[SBI_EXT_PMU_COUNTER_STOP], 1);
	ck_assert_uint_eq(model_calls[SBI_EXT_PMU_COUNTER_START], 1);
	ck_assert_uint_eq(model_all_calls(), 2);
	ck_assert_uint_eq(model_value(0, first), 0);
	model_execute(MODEL_USER, 5000);
	thread_out(&thread);
	ck_assert_uint_eq(model_value(0, first), 5000);
	ck_assert_uint_ne(model_value(0, config->hw[1]), 0);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* If counters age often enough, no count is lost over many times the range. */
START_TEST(exact_over_many_wraps)
{
	struct perfctr_config *config;
	struct thread thread, other;
	int i;

	boot_width(_i ? 26 : 48, 0, _i ? 0 : 26);
	config = CLAIM(two);
	thread_init(&thread, config);
	thread_init(&other, config);
	for (i = 0; i < 100; i++) {
		thread_in(&thread, 0);
		model_execute(MODEL_USER, 16000000);
		ck_assert_int_eq(age_all(), 0);
		model_execute(MODEL_USER, 8000000);
		thread_out(&thread);
		thread_run(&other, 0, 8000000);
		ck_assert_int_eq(age_all(), 0);
		ck_assert_uint_lt(model_value(0, config->hw[0]), 1 << 25);
	}
	ck_assert_uint_eq(thread.state.ctr[0].acc, 2400000000);
	thread_expect_exact(&thread);
	thread_expect_exact(&other);
}
END_TEST

/* Without ageing the model's counters do wrap: the test above means something. */
START_TEST(young_counters_wrap)
{
	struct thread thread;

	boot_width(24, 0, 0);
	thread_init(&thread, CLAIM(two));
	thread_in(&thread, 0);
	model_execute(MODEL_USER, 1 << 24);
	thread_out(&thread);
	ck_assert_uint_ne(thread.state.ctr[0].acc, 1 << 24);
}
END_TEST

/* A counter that cannot be started again is not taken for running. */
START_TEST(ageing_error)
{
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_default);
	config = CLAIM(two);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	model_set_value(0, config->hw[0], 1ull << 47);
	thread_in(&thread, 0);
	model_execute(MODEL_USER, 1000);
	model_fail(SBI_EXT_PMU_COUNTER_START, 0, 1, SBI_ERR_FAILURE);
	ck_assert_int_eq(age_all(), -EIO);
	model_execute(MODEL_USER, 1000);
	thread_out(&thread);
	ck_assert_int_eq(thread.error, 0);
	thread_expect_exact(&thread);
}
END_TEST

/* Counters that run for nobody now, and perf's, are left alone. */
START_TEST(ageing_leaves_others)
{
	struct perfctr_config *config;

	driver_init(&model_default);
	config = CLAIM(two);
	ck_assert(model_perf_take(0, 9, EV_CYCLES, 0, true));
	model_set_value(0, 9, 1ull << 47);
	model_set_value(0, MODEL_CYCLE, 1ull << 63);
	/* Claimed, but never started */
	model_set_value(0, config->hw[0], 1ull << 47);
	model_calls_reset();
	ck_assert_int_eq(age_all(), 0);
	ck_assert_uint_eq(model_all_calls(), 0);
}
END_TEST

/*
 * No counter gains more than 2^33 a second, so one that is just below half of
 * its range has 2^(width - 1) / 2^33 seconds left. A look must come within that,
 * even if it comes late by as much again; and not much more often.
 */
START_TEST(age_period)
{
	static const int hertz[] = { 100, 250, 300, 1000 };
	unsigned int width, w, i;

	width = 24 + (unsigned int)_i;
	boot_width(width, 0, 0);
	for (i = 0; i < sizeof(hertz) / sizeof(hertz[0]); i++) {
		double exact, period;

		shim_hz = hertz[i];
		period = (double)perfctr_cpu_age_period();
		if (width == 64) {
			ck_assert(period == 0);
			continue;
		}
		exact = shim_hz;
		for (w = 35; w < width; w++)
			exact *= 2;
		for (w = 35; w > width; w--)
			exact /= 2;
		ck_assert_msg(period >= 1, "width %u, HZ %d", width, shim_hz);
		ck_assert_msg(period == 1 || period <= exact, "width %u, HZ %d: %g, at most %g",
			      width, shim_hz, period, exact);
		/* A period of days is long enough. */
		ck_assert_msg(period > exact / 2 - 1 || period >= 65536. * shim_hz,
			      "width %u, HZ %d: %g, exactly %g", width, shim_hz, period, exact);
	}
}
END_TEST

START_TEST(nothing_to_age)
{
	struct model_machine machine = model_default;

	machine.programmable = 0;
	driver_init(&machine);
	ck_assert_uint_eq(perfctr_cpu_age_period(), 0);
}
END_TEST

/*
 * Without the extension
 */

static const struct model_machine no_sbi = { .nr_cpus = 2 };

static const struct perfctr_ctr_control both[] = {
	CTR(0, EV_CYCLES, BOTH), CTR(ANY, EV_INSTRUCTIONS, BOTH),
};

/* Any SBI call fails the test here. */
START_TEST(no_sbi_counts)
{
	struct perfctr_config *config, *cycles;
	struct thread a, b, c;
	int i;

	driver_init(&no_sbi);
	config = CLAIM(both);
	ck_assert_uint_eq(config->hw[0], 0);
	ck_assert_uint_eq(config->hw[1], 2);
	cycles = claim_well(both, 1);
	thread_init(&a, config);
	thread_init(&b, config);
	thread_init(&c, cycles);
	for (i = 0; i < 5; i++) {
		thread_run(&a, 0, 1000);
		thread_run(&c, 0, 1000);
		thread_run(&b, 1, 1000);
		thread_run(&c, 1, 1000);
		thread_run(&a, 1, 1000);
		age_all();
	}
	thread_expect_exact(&a);
	thread_expect_exact(&b);
	thread_expect_exact(&c);
	unclaim(config);

	unclaim(cycles);
	perfctr_cpu_exit();
}
END_TEST

START_TEST(no_sbi_hotplug)
{
	struct thread thread;

	driver_init(&no_sbi);
	thread_init(&thread, CLAIM(both));
	thread_run(&thread, 1, 1000);
	cpu_goes(1);
	thread_run(&thread, 0, 1000);
	cpu_comes(1);
	on_cpu_irqs_off(1, perfctr_cpu_online);
	thread_run(&thread, 1, 1000);
	ck_assert_uint_eq(perfctr_cpu_age_period(), 0);
	thread_expect_exact(&thread);
}
END_TEST

/* A counter whose CSR traps does not exist. */
static const struct {
	bool cycle, instret;
	u32 counters;
} traps[] = {
	{ true, true, 0x5 }, { true, false, 0x1 }, { false, true, 0x4 }, { false, false, 0 },
};

START_TEST(no_sbi_traps)
{
	struct perfctr_kernel_info info = {};

	model_boot(&no_sbi);
	shim_csr_readable[0] = traps[_i].cycle;
	shim_csr_readable[2] = traps[_i].instret;
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.counters, traps[_i].counters);
	ck_assert_uint_eq(info.nrctrs, perfctr_cpu_nrctrs());
	ck_assert_int_eq(!!(info.cpu_features & PERFCTR_FEATURE_RDPMC), !!traps[_i].counters);
	ck_assert(info.cpu_features & PERFCTR_FEATURE_RDTSC);
	ck_assert_int_eq(check(&both[0], 1, NULL), traps[_i].cycle ? 0 : -EINVAL);
	ck_assert_int_eq(check(&both[1], 1, NULL), traps[_i].instret ? 0 : -EINVAL);
	ck_assert_int_eq(check(NULL, 0, NULL), 0);
}
END_TEST

/* An SBI that is too old, or lacks the extension, counts as none. */
START_TEST(old_sbi_is_none)
{
	struct perfctr_kernel_info info = {};

	model_boot(&model_default);
	if (_i)
		sbi_spec_version = sbi_mk_version(0, 2);
	else
		model.sbi = false;
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.cpu_type, PERFCTR_RISCV_GENERIC);
	ck_assert_uint_eq(info.counters, 0x5);
	ck_assert_uint_eq(model_all_calls(), 0);
}
END_TEST

void test_cpus(void)
{
	unit_begin("riscv_cpus");
	UNIT_RUN(cpu_that_comes_gets_its_counters);
	UNIT_RUN(cpu_that_comes_for_nobody);
	UNIT_RUN(cpu_that_comes_taken);
	UNIT_RUN(cpu_that_comes_half_taken);
	UNIT_RUN(claim_skips_cpus_that_are_gone);
	UNIT_RUN(cpu_that_goes_gives_back);
	UNIT_RUN(exact_over_hotplug);
	UNIT_RUN(late_load_on_a_dying_cpu);
	UNIT_RUN(offline_called_off);
	UNIT_ROWS(exact_over_sleep, sleeps);
	UNIT_RUN(sleep_of_a_thread_that_counts);
	UNIT_RUN(sleep_costs);

	unit_begin("riscv_age");
	UNIT_ROWS(width_in_use, widths);
	UNIT_ROWS(old_counters_are_set_back, widths);
	unit_run(exact_over_many_wraps, 2);
	UNIT_RUN(young_counters_wrap);
	UNIT_RUN(ageing_error);
	UNIT_RUN(ageing_leaves_others);
	unit_run(age_period, 41);
	UNIT_RUN(nothing_to_age);

	unit_begin("riscv_no_sbi");
	UNIT_RUN(no_sbi_counts);
	UNIT_RUN(no_sbi_hotplug);
	UNIT_ROWS(no_sbi_traps, traps);
	unit_run(old_sbi_is_none, 2);
}
