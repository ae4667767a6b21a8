// SPDX-License-Identifier: GPL-2.0
/* perfctr_cpu_claim() and perfctr_cpu_unclaim(): all registers or none, and all back. */
#include "tests.h"
#include "arch/user.h"
#include "arch/x86/registers.h"
#include "switch/run.h"

static const struct perfctr_ctr_control one[] = { CTR(0, EV_INSTRUCTIONS, USER) };
static const struct perfctr_ctr_control other[] = { CTR(1, EV_BRANCHES, BOTH) };

static void expect_busy(const struct perfctr_ctr_control *ctr, unsigned int nr, u32 who)
{
	struct perfctr_refusal why = NO_REFUSAL;
	long err = PTR_ERR(claim(ctr, nr, &why));

	ck_assert_msg(err == -EBUSY, "%ld, expected EBUSY", err);
	ck_assert_uint_eq(why.owner, who);
	ck_assert_uint_eq(model_all_writes(), 0);
}

static void expect_reserved(enum model_owner owner)
{
	unsigned int i;

	for (i = 0; i < MODEL_GP; i++) {
		enum model_owner want = i < model.nr ? owner : MODEL_NOBODY;

		ck_assert_uint_eq(model_reserved.perfctr[i], want);
		ck_assert_uint_eq(model_reserved.evntsel[i], want);
	}
}

/* Each register that somebody else may have: a counter (even rows), or its event select */
START_TEST(every_reservation_or_none)
{
	unsigned int i = (unsigned int)_i / 2 % MODEL_GP;
	u8 *reserved = _i % 2 ? &model_reserved.evntsel[i] : &model_reserved.perfctr[i];
	const struct model_machine *machine = machines[_i / 2 / MODEL_GP];

	if (i >= machine->nr)
		return;
	driver_init(machine);
	model_calls_reset();
	*reserved = MODEL_PERF;
	/* claim() checks that nothing stays reserved. */
	expect_busy(one, 1, PERFCTR_OWNER_PERF);
	ck_assert_uint_eq(*reserved, MODEL_PERF);
	ck_assert_uint_eq(model_all_calls(), 0);
	*reserved = MODEL_NOBODY;
	CLAIM(one);
	expect_reserved(MODEL_DRIVER);
}
END_TEST

START_TEST(turns_with_perf)
{
	struct perfctr_config *config;
	u32 taken;

	driver_init(machines[_i]);
	taken = model_perf_take_all(0);
	ck_assert_uint_ne(taken, 0);
	model_calls_reset();
	expect_busy(one, 1, PERFCTR_OWNER_PERF);
	expect_reserved(MODEL_PERF);
	model_perf_give(0, taken);
	config = CLAIM(one);
	ck_assert_uint_eq(model_perf_take_all(0), 0);
	ck_assert_uint_eq(model_perf_take_all(1), 0);
	unclaim(config);
	expect_reserved(MODEL_NOBODY);
	ck_assert_uint_ne(model_perf_take_all(1), 0);
}
END_TEST

/* Firmware makes no reservations: counters that run on any CPU are its. */
static const struct {
	const char *name;
	const struct model_machine *machine;
	u64 msr, value;
	bool busy;
} firmware[] = {
	{ "p6", &model_p6, 0x186, 0x4300c0, true },
	/* As perf leaves it */
	{ "p6, enabled, in no mode", &model_p6, 0x186, 0x4000c0, false },
	{ "p6, not enabled", &model_p6, 0x187, 0x300c0, false },
	{ "v1, the last", &model_v1, 0x187, 0x4300c0, true },
	{ "v1, not enabled", &model_v1, 0x186, 0x300c0, false },
	{ "v2", &model_v2, 0x186, 0x4300c0, true },
	{ "v2, fixed", &model_v2, 0x38d, 0x200, true },
	{ "v3, the last", &model_v3, 0x189, 0x4100c0, true },
	{ "v3, fixed, interrupt alone", &model_v3, 0x38d, 0x8, true },
	{ "v4, fixed", &model_v4, 0x38d, 0x3, true },
	{ "v5, the last", &model_v5, 0x18d, 0x410000, true },
	{ "v5, in no mode", &model_v5, 0x18d, 0x4000c0, false },
	{ "v5, a fixed one that we do not know", &model_v5, 0x38d, 0x3000, true },
};

START_TEST(firmware_counts)
{
	unsigned int row = (unsigned int)_i / SHIM_CPUS, cpu = (unsigned int)_i % SHIM_CPUS;
	struct model_machine machine = *firmware[row].machine;
	struct thread thread;

	machine.nr_cpus = SHIM_CPUS;
	driver_init(&machine);
	shim_set_param("override_firmware", 0);
	model_set_msr(cpu, (u32)firmware[row].msr, firmware[row].value);
	if (firmware[row].busy) {
		expect_busy(one, 1, PERFCTR_OWNER_FIRMWARE);
		ck_assert_uint_eq(model_msr(cpu, (u32)firmware[row].msr), firmware[row].value);
		model_set_msr(cpu, (u32)firmware[row].msr, 0);
	}
	thread_init(&thread, CLAIM(one));
	model_expect_taken(cpu);
	thread_run(&thread, cpu, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* It is overridden, and has its controls back afterwards. Root is told of it once. */
START_TEST(firmware_gives_way)
{
	unsigned int row = (unsigned int)_i / SHIM_CPUS, cpu = (unsigned int)_i % SHIM_CPUS;
	struct model_machine machine = *firmware[row].machine;
	u32 msr = (u32)firmware[row].msr;
	struct perfctr_config *config;
	struct thread thread;
	unsigned int i;

	machine.nr_cpus = SHIM_CPUS;
	driver_init(&machine);
	model_set_msr(cpu, msr, firmware[row].value);
	for (i = 0; i < 2; i++) {
		config = CLAIM(one);
		ck_assert_uint_eq(shim_warnings, firmware[row].busy);
		model_expect_taken(cpu);
		thread_init(&thread, config);
		thread_run(&thread, cpu, 1000);
		thread_expect_exact(&thread);
		unclaim(config);
		/* Of others it is perf's, which sets up what it needs. */
		ck_assert_uint_eq(model_msr(cpu, msr), firmware[row].busy ? firmware[row].value : 0);
	}
}
END_TEST

/*
 * It takes back what it had: nobody counts by that, and it is not overridden again until root says
 * so. What somebody else writes is not the firmware's.
 */
START_TEST(firmware_comes_back)
{
	unsigned int row = (unsigned int)_i / SHIM_CPUS, cpu = (unsigned int)_i % SHIM_CPUS;
	struct model_machine machine = *firmware[row].machine;
	u32 msr = (u32)firmware[row].msr;
	struct perfctr_config *config;

	if (!firmware[row].busy)
		return;
	machine.nr_cpus = SHIM_CPUS;
	driver_init(&machine);
	model_set_msr(cpu, msr, firmware[row].value);
	config = CLAIM(one);
	model_set_msr(cpu, msr, firmware[row].value ^ 1);
	unclaim(config);
	config = CLAIM(one);
	model_set_msr(cpu, msr, firmware[row].value);
	unclaim(config);
	ck_assert_uint_eq(model_msr(cpu, msr), firmware[row].value);
	model_calls_reset();
	expect_busy(one, 1, PERFCTR_OWNER_FIRMWARE);
	shim_set_param("override_firmware", 1);
	config = CLAIM(one);
	model_expect_taken(cpu);
	unclaim(config);
	ck_assert_uint_eq(model_msr(cpu, msr), firmware[row].value);
}
END_TEST

START_TEST(taken_on_all_cpus)
{
	struct model_machine machine = *machines[_i];
	unsigned int cpu;

	machine.nr_cpus = SHIM_CPUS;
	driver_init(&machine);
	CLAIM(other);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		model_expect_taken(cpu);
	/* Nobody uses a fourth fixed counter, but who may read one may read it. */
	if (model.nr_fixed > 3)
		for (cpu = 0; cpu < SHIM_CPUS; cpu++)
			ck_assert_uint_eq(model_value(cpu, FIXED(3)), 0);
}
END_TEST

/* Configs one after the other: the first takes, the last gives back, nothing is written between. */
START_TEST(last_user_gives_back)
{
	struct model_ownership before;
	struct perfctr_config *a, *b, *c;
	struct thread thread;
	unsigned int cpu;

	driver_init(machines[_i]);
	model_ownership(&before);
	a = CLAIM(one);
	for (cpu = 0; cpu < 2; cpu++)
		ck_assert_int_eq(load_on(cpu, a), 0);
	model_calls_reset();
	b = CLAIM(other);
	c = CLAIM(one);
	ck_assert_uint_eq(model_all_calls(), 0);
	thread_init(&thread, b);
	thread_run(&thread, 0, 1000);
	model_calls_reset();
	unclaim(a);
	expect_reserved(MODEL_DRIVER);
	unclaim(c);
	ck_assert_uint_eq(model_all_calls(), 0);
	expect_reserved(MODEL_DRIVER);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	unclaim(b);
	/* Each CPU has another GLOBAL_CTRL. */
	model_expect_ownership(&before);
	expect_reserved(MODEL_NOBODY);
}
END_TEST

/* GLOBAL_CTRL is given back as it was, also with bits of counters that we do not know. */
START_TEST(global_control_as_before)
{
	static const u64 values[] = { 0, 0x1, 0x3ff, 0x7000003ff, 0x400000200 };
	struct model_machine machine = model_v3;
	struct perfctr_config *config;
	int i;

	machine.nr = 10;
	machine.resets = false;	/* Nehalem's erratum is of four. */
	driver_init(&machine);
	model_set_msr(0, 0x38f, values[_i]);
	for (i = 0; i < 2; i++) {
		config = CLAIM(one);
		ck_assert_uint_eq(model_msr(0, 0x38f), 0x7000000ff);
		unclaim(config);
		ck_assert_uint_eq(model_msr(0, 0x38f), values[_i]);
	}
}
END_TEST

/* A config that is gone is not remembered, even if its registers stay as they are. */
START_TEST(freed_config_is_forgotten)
{
	struct perfctr_config *a, *b;

	driver_init(machines[_i]);
	a = CLAIM(one);
	b = CLAIM(one);
	ck_assert_int_eq(load_on(0, a), 0);
	ck_assert_int_eq(load_on(1, b), 0);
	unclaim(a);	/* looks */
	ck_assert(has_loaded(1, b));
	unclaim(b);
}
END_TEST

START_TEST(named_before_any)
{
	static const struct perfctr_ctr_control mixed[] = {
		CTR(ANY, EV_BRANCHES, KERNEL), CTR(0, EV_BRANCHES, USER),
		CTR(ANY, EV_BRANCHES, USER), CTR(2, EV_INSTRUCTIONS, KERNEL),
		CTR(FIXED(1), EV_CYCLES, BOTH),
	};
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_v3);
	config = CLAIM(mixed);
	ck_assert_uint_eq(config->hw[0], 1);
	ck_assert_uint_eq(config->hw[1], 0);
	ck_assert_uint_eq(config->hw[2], 3);
	ck_assert_uint_eq(config->hw[3], 2);
	ck_assert_uint_eq(config->hw[4], FIXED(1));
	ck_assert_uint_eq(config->mask, 0xf | BIT(FIXED(1)));
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* The clock alone takes nothing, and disturbs nobody who has counters. */
START_TEST(clock_beside_perf)
{
	struct model_ownership before;
	struct thread thread;
	u64 value;

	driver_init(machines[_i]);
	ck_assert_uint_ne(model_perf_take_all(0), 0);
	model_ownership(&before);
	value = model_value(0, 0);
	thread_init(&thread, claim_well(NULL, 0));
	thread_in(&thread, 0);
	/* perf's counters are always past half of their range. */
	ck_assert_int_eq(age_all(), 0);
	thread_out(&thread);
	cpu_offline(0);
	cpu_online(0);
	cpu_offline(1);
	cpu_online(1);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	unclaim(thread.config);
	ck_assert_uint_eq(model_value(0, 0), value);
	ck_assert_uint_eq(model_all_writes(), 0);
	model_expect_ownership(&before);
}
END_TEST

/* The clock's config does not take part in the counters, neither as it comes nor as it goes. */
START_TEST(clock_beside_counters)
{
	struct perfctr_config *clock;
	struct thread thread;

	driver_init(machines[_i]);
	clock = claim_well(NULL, 0);
	unclaim(clock);
	thread_init(&thread, CLAIM(one));
	expect_reserved(MODEL_DRIVER);
	thread_run(&thread, 0, 1000);
	clock = claim_well(NULL, 0);
	model_calls_reset();
	unclaim(clock);
	ck_assert_uint_eq(model_all_calls(), 0);
	expect_reserved(MODEL_DRIVER);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* What perf says of counters that we want to hold, what the control is told, and why */
static const struct {
	int says;
	int told;
	u32 reason;
	u32 index;
} holds[] = {
	{ -EINVAL, -EOPNOTSUPP, PERFCTR_REASON_MODEL, 0 },
	{ -ENXIO, -EOPNOTSUPP, PERFCTR_REASON_MODEL, 0 },
	{ -EOPNOTSUPP, -EBUSY, PERFCTR_REASON_MEDIATED, PERFCTR_NO_INDEX },
	{ -ENOMEM, -ENOMEM, PERFCTR_REASON_NONE, PERFCTR_NO_INDEX },
};

START_TEST(refused_beside_perf)
{
	struct perfctr_refusal why = NO_REFUSAL;

	driver_init(&model_default);
	perfctr_pmu.beside = true;
	model_hold_error = holds[_i].says;
	ck_assert_int_eq(PTR_ERR(claim(one, ARRAY_SIZE(one), &why)), holds[_i].told);
	ck_assert_uint_eq(why.reason, holds[_i].reason);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_NONE);
	ck_assert_uint_eq(why.index, holds[_i].index);
	cpus_read_lock();
	perfctr_cpu_give_back(perfctr_run_paid);
	cpus_read_unlock();
	ck_assert(!perfctr_cpu_lingers());
	model_hold_error = 0;
	perfctr_pmu.beside = false;
}
END_TEST

void test_claim(void)
{
	unit_begin("x86_claim");
	unit_run(every_reservation_or_none, 2 * MODEL_GP * NR_MACHINES);
	UNIT_ROWS(turns_with_perf, machines);
	unit_run(firmware_counts, (int)ARRAY_SIZE(firmware) * SHIM_CPUS);
	unit_run(firmware_gives_way, (int)ARRAY_SIZE(firmware) * SHIM_CPUS);
	unit_run(firmware_comes_back, (int)ARRAY_SIZE(firmware) * SHIM_CPUS);
	UNIT_ROWS(taken_on_all_cpus, machines);
	UNIT_ROWS(last_user_gives_back, machines);
	unit_run(global_control_as_before, 5);
	UNIT_ROWS(freed_config_is_forgotten, machines);
	UNIT_RUN(named_before_any);
	UNIT_ROWS(clock_beside_perf, machines);
	UNIT_ROWS(clock_beside_counters, machines);
	unit_run(refused_beside_perf, (int)ARRAY_SIZE(holds));
}
