// SPDX-License-Identifier: GPL-2.0
/* CPUs that come and go, sleep, and ageing. */
#include "tests.h"
#include "switch/run.h"

static const struct perfctr_ctr_control gp[] = {
	CTR(0, EV_INSTRUCTIONS, USER), CTR(1, EV_BRANCHES, BOTH),
};
static const struct perfctr_ctr_control fixed[] = {
	CTR(FIXED(1), EV_CYCLES, BOTH), CTR(FIXED(0), EV_INSTRUCTIONS, USER),
	CTR(0, EV_INSTRUCTIONS, KERNEL),
};
static const struct perfctr_ctr_control kernel[] = { CTR(1, EV_INSTRUCTIONS, KERNEL) };

void cpu_goes(unsigned int cpu)
{
	cpu_offline(cpu);
	shim_online &= ~BIT(cpu);
}

void cpu_comes(unsigned int cpu)
{
	perfctr_cpu_prepare(cpu);
	shim_online |= BIT(cpu);
	cpu_online(cpu);
}

/* With fixed counters, where there are any */
static struct perfctr_config *claim_other(void)
{
	return model_has_fixed() ? CLAIM(fixed) : CLAIM(kernel);
}

static void expect_control(unsigned int cpu, const struct model_ownership *want)
{
	struct model_ownership is;
	unsigned int i;

	model_ownership(&is);
	for (i = 0; i < MODEL_GP; i++)
		ck_assert_uint_eq(is.cpu[cpu].evntsel[i], want->cpu[cpu].evntsel[i]);
	ck_assert_uint_eq(is.cpu[cpu].fixed_ctrl, want->cpu[cpu].fixed_ctrl);
	ck_assert_uint_eq(is.cpu[cpu].global_ctrl, want->cpu[cpu].global_ctrl);
}

START_TEST(cpu_that_goes_gives_back)
{
	struct model_ownership before;
	struct thread thread;

	driver_init(machines[_i]);
	model_ownership(&before);
	thread_init(&thread, CLAIM(gp));
	thread_run(&thread, 1, 1000);
	cpu_goes(1);
	expect_control(1, &before);
	ck_assert(!has_loaded(1, thread.config));
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	/* The reservation is one for all CPUs. */
	ck_assert_uint_eq(model_perf_take_all(1), 0);
	unclaim(thread.config);
	model_expect_ownership(&before);
}
END_TEST

START_TEST(cpu_that_comes_is_taken)
{
	struct model_ownership before;
	struct perfctr_config *config;
	struct thread thread;

	driver_init(machines[_i]);
	model_ownership(&before);
	cpu_goes(1);
	config = CLAIM(gp);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
	expect_control(1, &before);
	cpu_comes(1);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), model_needed(config));
	model_expect_taken(1);
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	unclaim(config);
	model_expect_ownership(&before);
}
END_TEST

/* While nobody counts, a CPU that comes is tried, and left as it was. */
START_TEST(cpu_that_comes_for_nobody)
{
	struct model_ownership before;

	driver_init(machines[_i]);
	unclaim(CLAIM(gp));
	model_ownership(&before);
	model_calls_reset();
	cpu_goes(1);
	ck_assert_uint_eq(model_all_calls(), 0);
	cpu_comes(1);
	model_expect_ownership(&before);
}
END_TEST

START_TEST(exact_over_hotplug)
{
	struct model_ownership before;
	struct thread a, b;
	int i;

	driver_init(machines[_i]);
	model_ownership(&before);
	thread_init(&a, CLAIM(gp));
	thread_init(&b, claim_other());
	for (i = 0; i < 10; i++) {
		thread_run(&a, 1, 1000);
		thread_run(&b, 1, 1000);
		if (i % 2)
			thread_run(&a, 1, 1000);
		cpu_goes(1);
		thread_run(&a, 0, 1000);
		thread_run(&b, 0, 1000);
		/* Some CPUs come back without having lost power. */
		if (i % 3)
			model_cpu_sleep(1, false);
		cpu_comes(1);
		model_expect_taken(1);
	}
	thread_expect_exact(&a);
	thread_expect_exact(&b);
	unclaim(a.config);
	unclaim(b.config);
	if (model.version < 2)
		model_expect_ownership(&before);
}
END_TEST

/*
 * After the callback that gives back, threads that could not be pushed away yet may still be
 * switched in on that CPU. Then its counters stay ours.
 */
START_TEST(late_load_on_a_dying_cpu)
{
	struct model_ownership before;
	struct thread a, b;

	driver_init(machines[_i]);
	model_ownership(&before);
	thread_init(&a, CLAIM(gp));
	thread_init(&b, claim_other());
	thread_run(&a, 1, 1000);
	cpu_offline(1);
	thread_run(&a, 1, 1000);
	thread_run(&b, 1, 1000);
	shim_online &= ~BIT(1);
	thread_run(&a, 0, 1000);
	cpu_comes(1);
	thread_run(&b, 1, 1000);
	thread_run(&a, 1, 1000);
	thread_expect_exact(&a);
	thread_expect_exact(&b);
	unclaim(a.config);
	unclaim(b.config);
	/* GLOBAL_CTRL is what it was before all that. */
	model_expect_ownership(&before);
}
END_TEST

/* ... and the config that was loaded so late may be gone when the CPU comes. */
START_TEST(late_load_of_what_is_gone)
{
	struct perfctr_config *config;
	struct thread a, b;

	driver_init(machines[_i]);
	thread_init(&a, CLAIM(gp));
	thread_init(&b, CLAIM(kernel));
	cpu_offline(1);
	thread_run(&b, 1, 1000);
	shim_online &= ~BIT(1);
	/* Not by unclaim(), which would make that CPU forget the config at once */
	config = b.config;
	cpus_read_lock();
	perfctr_cpu_unclaim(config, perfctr_run);
	cpus_read_unlock();
	/* A thread of the CPU itself may run before the driver hears of the CPU again. */
	perfctr_cpu_prepare(1);
	ck_assert(!driver_remembers(1, config));
	shim_online |= BIT(1);
	cpu_online(1);
	thread_run(&a, 1, 1000);
	thread_expect_exact(&a);
}
END_TEST

/* ... and so may all configs: counters that it left on are given back as the CPU comes ... */
START_TEST(late_load_of_the_last)
{
	struct model_ownership before;
	struct perfctr_config *config;

	driver_init(machines[_i]);
	model_ownership(&before);
	config = CLAIM(gp);
	cpu_offline(1);
	ck_assert_int_eq(load_on(1, config), 0);
	shim_online &= ~BIT(1);
	cpus_read_lock();
	perfctr_cpu_unclaim(config, perfctr_run);
	cpus_read_unlock();
	kfree(config);
	cpu_comes(1);
	model_expect_ownership(&before);
	/* What counts there is not taken for firmware's. */
	CLAIM(gp);
}
END_TEST

/* ... unless somebody else has the counters by then. */
START_TEST(late_load_of_the_last_beside_perf)
{
	struct model_ownership perfs;
	struct perfctr_config *config;
	u32 taken;

	driver_init(machines[_i]);
	config = CLAIM(gp);
	cpu_offline(1);
	ck_assert_int_eq(load_on(1, config), 0);
	shim_online &= ~BIT(1);
	cpus_read_lock();
	perfctr_cpu_unclaim(config, perfctr_run);
	cpus_read_unlock();
	kfree(config);
	taken = model_perf_take_all(1);
	ck_assert_uint_ne(taken, 0);
	/* GLOBAL_CTRL is not what it was while the counters were ours. */
	if (model.version >= 2)
		model_set_msr(1, model_global_ctrl(), 0x3);
	model_ownership(&perfs);
	model_calls_reset();
	cpu_comes(1);
	cpu_goes(1);
	cpu_comes(1);
	ck_assert_uint_eq(model_all_writes(), 0);
	model_expect_ownership(&perfs);
	/* The next claim goes by what perf has left. */
	model_perf_give(1, taken);
	model_ownership(&perfs);
	unclaim(CLAIM(gp));
	model_expect_ownership(&perfs);
}
END_TEST

/* Another callback failed, so the CPU stays. */
START_TEST(offline_called_off)
{
	bool late = _i / NR_MACHINES;
	struct model_ownership before;
	struct thread thread;

	driver_init(machines[_i % NR_MACHINES]);
	model_ownership(&before);
	thread_init(&thread, CLAIM(gp));
	thread_run(&thread, 1, 1000);
	cpu_offline(1);
	if (late)
		thread_run(&thread, 1, 1000);
	cpu_online(1);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), model_needed(thread.config));
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	unclaim(thread.config);
	model_expect_ownership(&before);
}
END_TEST

/* Sleep, and whether registers are lost in it */
START_TEST(exact_over_sleep)
{
	bool lost = _i / NR_MACHINES;
	struct model_ownership before;
	struct thread a, b;
	int i;

	driver_init(machines[_i % NR_MACHINES]);
	model_ownership(&before);
	thread_init(&a, CLAIM(gp));
	thread_init(&b, claim_other());
	for (i = 0; i < 5; i++) {
		thread_run(&a, 0, 1000);
		thread_run(&b, 0, 1000);
		thread_run(&b, 1, 1000);
		if (lost)
			cpu_sleeps(0, false);
		else
			on_cpu_irqs_off(0, perfctr_cpu_online);
		model_expect_taken(0);
		thread_run(i % 2 ? &a : &b, 0, 1000);
	}
	/* The thread that asks for the sleep may count. */
	thread_in(&a, 0);
	model_execute(MODEL_USER, 1000);
	if (lost)
		cpu_sleeps(0, false);
	model_execute(MODEL_USER, 1000);
	thread_out(&a);
	thread_expect_exact(&a);
	thread_expect_exact(&b);
	unclaim(a.config);
	unclaim(b.config);
	model_expect_ownership(&before);
}
END_TEST

/* Sleep costs nothing while nobody counts. */
START_TEST(sleep_costs)
{
	driver_init(machines[_i]);
	model_calls_reset();
	cpu_sleeps(0, false);
	ck_assert_uint_eq(model_all_calls(), 0);
	unclaim(CLAIM(gp));
	model_calls_reset();
	cpu_sleeps(0, false);
	ck_assert_uint_eq(model_all_calls(), 0);
}
END_TEST

/*
 * Ageing
 */

static const struct {
	unsigned int width, fixed_width, used;
} widths[] = { { 40, 40, 40 }, { 48, 48, 48 }, { 48, 40, 40 }, { 40, 48, 40 }, { 32, 48, 32 } };

/* Only counters past half of their range are set back, while their thread runs. */
START_TEST(old_counters_are_set_back)
{
	static const struct perfctr_ctr_control both[] = {
		CTR(2, EV_INSTRUCTIONS, USER), CTR(FIXED(0), EV_INSTRUCTIONS, USER),
	};
	u32 msrs[] = { MSR_ARCH_PERFMON_PERFCTR0 + 2, MSR_CORE_PERF_FIXED_CTR0 };
	unsigned int row = (unsigned int)_i / 2, i = (unsigned int)_i % 2;
	u64 half = 1ull << (widths[row].used - 1);
	struct model_machine machine = model_v3;
	struct perfctr_config *config;
	struct thread thread;

	machine.width = widths[row].width;
	machine.fixed_width = widths[row].fixed_width;
	driver_init(&machine);
	config = CLAIM(both);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);

	model_set_value(0, config->hw[i], half - 1000);
	thread_in(&thread, 0);
	model_execute(MODEL_USER, 999);
	model_calls_reset();
	ck_assert_int_eq(age_all(), 0);
	ck_assert_uint_eq(model_all_writes(), 0);
	ck_assert_uint_eq(model_value(0, config->hw[i]), half - 1);
	model_execute(MODEL_USER, 1);
	ck_assert_int_eq(age_all(), 0);
	ck_assert_uint_eq(model_writes[0][msrs[i]], 1);
	ck_assert_uint_eq(model_all_writes(), 1);
	ck_assert_uint_eq(model_value(0, config->hw[i]), 0);
	model_execute(MODEL_USER, 5000);
	thread_out(&thread);
	ck_assert_uint_eq(model_value(0, config->hw[i]), 5000);
	ck_assert_uint_ne(model_value(0, config->hw[!i]), 5000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* If counters age often enough, no count is lost over many times the range. */
START_TEST(exact_over_many_wraps)
{
	struct thread thread, other;
	u64 step;
	int i;

	driver_init(machines[_i]);
	step = 1ull << (model.width - 3);
	thread_init(&thread, CLAIM(gp));
	thread_init(&other, thread.config);
	for (i = 0; i < 50; i++) {
		thread_in(&thread, 0);
		model_execute(MODEL_USER, step);
		ck_assert_int_eq(age_all(), 0);
		model_execute(MODEL_USER, step / 2);
		thread_out(&thread);
		thread_run(&other, 0, step / 2);
		ck_assert_int_eq(age_all(), 0);
		ck_assert_uint_lt(model_value(0, 0), 1ull << (model.width - 1));
	}
	ck_assert_uint_eq(thread.state.ctr[0].acc, 75 * step);
	thread_expect_exact(&thread);
	thread_expect_exact(&other);
}
END_TEST

/* Without ageing they do wrap, without an interrupt. So the test above means something. */
START_TEST(young_counters_wrap)
{
	struct thread thread;

	driver_init(machines[_i]);
	thread_init(&thread, CLAIM(gp));
	thread_in(&thread, 0);
	model_execute(MODEL_USER, 1ull << model.width);
	thread_out(&thread);
	ck_assert_uint_ne(thread.state.ctr[0].acc, 1ull << model.width);
	ck_assert_uint_eq(model_pmis[0], 0);
	if (model.version >= 2)
		ck_assert_uint_eq(model_msr(0, model_global_status()) & 1, 1);
}
END_TEST

/* A CPU's counters that were given back are left alone. */
START_TEST(ageing_leaves_what_is_given_back)
{
	driver_init(machines[_i]);
	CLAIM(gp);
	cpu_offline(1);
	model_set_value(1, 0, 1ull << (model.width - 1));
	model_calls_reset();
	/* The CPU is still there, as other callbacks have to run. */
	ck_assert_int_eq(age_all(), 0);
	ck_assert_uint_eq(model_all_writes(), 0);
}
END_TEST

/* 2^38 events a second at most: a look must come halfway between half of the range and its end. */
static const struct {
	unsigned int width;
	int hz;
	unsigned long period;
} periods[] = {
	{ 32, 250, 1 }, { 32, 1000, 3 }, { 36, 250, 15 }, { 39, 250, 125 }, { 40, 100, 100 },
	{ 40, 250, 250 }, { 40, 1000, 1000 }, { 41, 250, 500 }, { 48, 250, 64000 },
	{ 48, 100, 25600 }, { 48, 1000, 256000 }, { 64, 250, 16384000 },
};

START_TEST(age_period)
{
	struct model_machine machine = model_v1;

	machine.width = periods[_i].width;
	driver_init(&machine);
	shim_hz = periods[_i].hz;
	ck_assert_uint_eq(perfctr_cpu_age_period(), periods[_i].period);
}
END_TEST

void test_cpus(void)
{
	unit_begin("x86_cpus");
	UNIT_ROWS(cpu_that_goes_gives_back, machines);
	UNIT_ROWS(cpu_that_comes_is_taken, machines);
	UNIT_ROWS(cpu_that_comes_for_nobody, machines);
	UNIT_ROWS(exact_over_hotplug, machines);
	UNIT_ROWS(late_load_on_a_dying_cpu, machines);
	UNIT_ROWS(late_load_of_what_is_gone, machines);
	UNIT_ROWS(late_load_of_the_last, machines);
	UNIT_ROWS(late_load_of_the_last_beside_perf, machines);
	unit_run(offline_called_off, 2 * NR_MACHINES);
	unit_run(exact_over_sleep, 2 * NR_MACHINES);
	UNIT_ROWS(sleep_costs, machines);

	unit_begin("x86_age");
	unit_run(old_counters_are_set_back, 2 * (int)(sizeof(widths) / sizeof(widths[0])));
	UNIT_ROWS(exact_over_many_wraps, machines);
	UNIT_ROWS(young_counters_wrap, machines);
	UNIT_ROWS(ageing_leaves_what_is_given_back, machines);
	UNIT_ROWS(age_period, periods);
}
