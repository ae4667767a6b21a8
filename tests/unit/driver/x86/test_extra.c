// SPDX-License-Identifier: GPL-2.0
/* Events with a register of their own: one value at a time, on all CPUs. */
#include <asm/processor.h>

#include "tests.h"

#define NR(array)	((int)(sizeof(array) / sizeof((array)[0])))

#define XCTR(m, e, f, c)	{ .map = (m), .event = (e), .flags = (f), .config = (c) }

static const u32 msrs[MODEL_EXTRAS] = { MSR_OFFCORE_RSP_0, MSR_OFFCORE_RSP_1, MSR_PEBS_FRONTEND };

static const u16 events[MODEL_EXTRAS] = { EV_OFFCORE_0, EV_OFFCORE_1, EV_FRONTEND };

/* What Linux's perf_events knows of each model */
static const struct {
	u8 models[12];
	struct {
		u16 event;
		u8 reg;
		u64 valid;
	} events[7];
	u16 refused[3];
} kinds[] = {
	{ { 26, 30, 46 }, { { 0x01b7, 0, 0xffff } }, { 0x100b } },
	{ { 37, 44, 47 }, { { 0x01b7, 0, 0xffff }, { 0x01bb, 1, 0xffff } }, { 0x100b } },
	{ { 42, 58 }, { { 0x01b7, 0, 0x3f807f8fff }, { 0x01bb, 1, 0x3f807f8fff } }, { 0x01cd } },
	{ { 45, 62, 60, 63, 69, 70, 61, 71, 79, 86 },
	  { { 0x01b7, 0, 0x3fffff8fff }, { 0x01bb, 1, 0x3fffff8fff } }, { 0x01cd } },
	{ { 78, 94, 85, 142, 158, 165, 166 },
	  { { 0x01b7, 0, 0x3fffff8fff }, { 0x01bb, 1, 0x3fffff8fff }, { 0x01c6, 2, 0x7fff17 } },
	  { 0x01cd } },
	{ { 106, 108, 125, 126, 140, 141, 167 },
	  { { 0x01b7, 0, 0x3fffffbfff }, { 0x01bb, 1, 0x3fffffbfff }, { 0x01c6, 2, 0x7fff17 } },
	  { 0x01cd } },
	{ { 143, 207, 215 },
	  { { 0x012a, 0, 0x3fffffffff }, { 0x012b, 1, 0x3fffffffff }, { 0x01c6, 2, 0x7fff1f },
	    { 0x40ad, 2, 0x7 }, { 0x04c2, 2, 0x8 } }, { 0x01cd } },
	{ { 173, 174 },
	  { { 0x012a, 0, 0x3fffffffff }, { 0x012b, 1, 0x3fffffffff }, { 0x02c6, 2, 0x9 },
	    { 0x03c6, 2, 0x7fff1f }, { 0x40ad, 2, 0x7 }, { 0x04c2, 2, 0x8 } }, { 0x01cd } },
	{ { 87, 133 }, { { 0x01b7, 0, 0x799ffbb6e7 }, { 0x02b7, 1, 0x399ffbffe7 } }, {} },
	{ { 28, 38, 39, 53, 54 }, {}, {} },
	{ { 55, 74, 77, 76, 90, 117 }, { { 0x01b7, 0, 0x768005ffff }, { 0x02b7, 1, 0x368005ffff } }, {} },
	{ { 92, 95, 122 }, { { 0x01b7, 0, 0x760005ffbf }, { 0x02b7, 1, 0x360005ffbf } }, {} },
	{ { 134, 150, 156 },
	  { { 0x01b7, 0, 0x800ff0ffffff9fff }, { 0x02b7, 1, 0xff0ffffff9fff } }, {} },
	{ { 190 }, { { 0x01b7, 0, 0x8003f03fffffffff }, { 0x02b7, 1, 0x3f03fffffffff } }, { 0x05d0 } },
	{ { 175, 182 }, { { 0x01b7, 0, 0x800ff3ffffffffff }, { 0x02b7, 1, 0xff3ffffffffff } },
	  { 0x05d0, 0x0127, 0x0227 } },
};

/* All events that have a register on any model */
static const u16 all_events[] = {
	0x01b7, 0x01bb, 0x02b7, 0x012a, 0x012b, 0x100b, 0x01cd, 0x05d0, 0x01c6, 0x02c6, 0x03c6,
	0x40ad, 0x04c2, 0x0127, 0x0227,
};

/* A machine that takes whatever is written to its registers */
static void boot_model(u8 number, unsigned int version)
{
	struct model_machine machine = model_v4;
	unsigned int i;

	machine.model = number;
	machine.version = version;
	machine.full_width = false;
	for (i = 0; i < MODEL_EXTRAS; i++)
		machine.extras[i] = ~0ull;
	driver_init(&machine);
}

/* An event's register and the bits it takes, on each model that there is */
START_TEST(events_of_each_model)
{
	int kind = _i / NR(kinds[0].models), n = _i % NR(kinds[0].models), e, k, i;
	u8 number = kinds[kind].models[n];
	unsigned int bit, cpu;

	if (!number)
		return;
	/* A hypervisor's version may be lower than the model's. */
	boot_model(number, 1 + (unsigned int)n % 4);
	for (e = 0; e < NR(all_events); e++) {
		struct perfctr_ctr_control ctr = CTR(ANY, all_events[e], USER);
		u64 valid = 0;
		int err = 0;

		for (i = 0; i < NR(kinds[0].refused); i++)
			if (kinds[kind].refused[i] == all_events[e])
				err = -EOPNOTSUPP;
		for (k = 0; k < NR(kinds[0].events); k++)
			if (kinds[kind].events[k].event == all_events[e])
				break;
		if (k < NR(kinds[0].events)) {
			valid = kinds[kind].events[k].valid;
			err = -EINVAL;
		}
		ck_assert_msg(check(&ctr, 1, NULL) == err, "model %u, event %#x", number,
			      all_events[e]);
		for (bit = 0; bit < 64; bit++) {
			struct perfctr_config *config;

			ctr.config = BIT(bit);
			if (!(valid & BIT(bit))) {
				ck_assert_msg(check(&ctr, 1, NULL) == (err ? err : -EINVAL),
					      "model %u, event %#x, bit %u", number,
					      all_events[e], bit);
				continue;
			}
			config = claim_well(&ctr, 1);
			for (cpu = 0; cpu < 2; cpu++)
				for (i = 0; i < MODEL_EXTRAS; i++)
					ck_assert_uint_eq(model_msr(cpu, msrs[i]),
							  i == kinds[kind].events[k].reg ?
							  BIT(bit) : 0);
			unclaim(config);
		}
		if (!valid)
			continue;
		/* All bits at once, with all else that an event select has */
		ctr.config = valid;
		ctr.event |= SEL_EDGE | SEL_CMASK(1) | SEL_USR | SEL_EN;
		unclaim(claim_well(&ctr, 1));
	}
}
END_TEST

/* Models that are not known, or older than such events */
START_TEST(models_that_are_not_known)
{
	int e;

	boot_model(_i < 5 ? 31 : 255, 1 + (unsigned int)_i % 5);
	for (e = 0; e < NR(all_events); e++) {
		struct perfctr_ctr_control ctr = XCTR(ANY, all_events[e], USER, 1);

		ck_assert_int_eq(check(&ctr, 1, NULL), -EOPNOTSUPP);
		ctr.config = 0;
		ck_assert_int_eq(check(&ctr, 1, NULL), -EOPNOTSUPP);
	}
	model_expect_loaded();
}
END_TEST

START_TEST(before_there_were_any)
{
	int e;

	driver_init(machines[_i]);
	for (e = 0; e < NR(all_events); e++) {
		struct perfctr_ctr_control ctr = XCTR(ANY, all_events[e], USER, 1);

		ck_assert_int_eq(check(&ctr, 1, NULL), -EINVAL);
		ctr.config = 0;
		ck_assert_int_eq(check(&ctr, 1, NULL), 0);
	}
}
END_TEST

/* Registers that the processor turns out to lack, as under a hypervisor */
START_TEST(registers_that_are_not_there)
{
	int e;

	model_no_msr = msrs[_i];
	driver_init(&model_v4);
	for (e = 0; e < 3; e++) {
		struct perfctr_ctr_control ctr = XCTR(ANY, events[e], USER, 1);

		ck_assert_int_eq(check(&ctr, 1, NULL), e == _i ? -EOPNOTSUPP : 0);
	}
}
END_TEST

/* Counters of one control */
static const struct {
	const char *name;
	int err;
	struct perfctr_ctr_control ctr[3];
} rules[] = {
	{ "one", 0, { XCTR(ANY, EV_OFFCORE_0, USER, 0x8001) } },
	{ "all", 0, { XCTR(0, EV_OFFCORE_0, USER, 1), XCTR(3, EV_OFFCORE_1, BOTH, 2),
		      XCTR(ANY, EV_FRONTEND, USER, 0x11) } },
	{ "the same twice", 0, { XCTR(ANY, EV_OFFCORE_0, USER, 1), CTR(ANY, EV_BRANCHES, USER),
				 XCTR(ANY, EV_OFFCORE_0, KERNEL, 1) } },
	{ "different ones", -EINVAL,
	  { XCTR(ANY, EV_OFFCORE_0, USER, 1), CTR(ANY, EV_BRANCHES, USER),
	    XCTR(ANY, EV_OFFCORE_0, USER, 3) } },
	{ "different ones of the second", -EINVAL,
	  { XCTR(ANY, EV_OFFCORE_1, USER, 2), XCTR(ANY, EV_OFFCORE_1, USER, 1) } },
	{ "nothing", -EINVAL, { CTR(ANY, EV_OFFCORE_0, USER) } },
	{ "nothing of the second", -EINVAL,
	  { XCTR(ANY, EV_OFFCORE_0, USER, 1), CTR(ANY, EV_OFFCORE_1, USER) } },
	{ "a reserved bit", -EINVAL, { XCTR(ANY, EV_OFFCORE_0, USER, 0x1001) } },
	{ "for another event", -EINVAL, { XCTR(ANY, EV_BRANCHES, USER, 1) } },
	{ "beside it", -EINVAL,
	  { XCTR(ANY, EV_OFFCORE_0, USER, 1), XCTR(ANY, EV_BRANCHES, USER, 1) } },
	{ "for another unit mask", -EINVAL, { XCTR(ANY, 0x03b7, USER, 1) } },
	{ "for a fixed counter", -EINVAL, { XCTR(FIXED(0), EV_INSTRUCTIONS, USER, 1) } },
	{ "on a fixed counter", -EINVAL, { XCTR(FIXED(0), EV_OFFCORE_0, USER, 1) } },
	{ "latency of loads", -EOPNOTSUPP, { XCTR(ANY, 0x01cd, USER, 3) } },
};

START_TEST(rules_hold)
{
	unsigned int nr, i;
	int err;

	driver_init(&model_v4);
	for (nr = 0; nr < 3 && rules[_i].ctr[nr].flags; nr++)
		;
	err = check(rules[_i].ctr, nr, NULL);
	ck_assert_msg(err == rules[_i].err, "%s: %d", rules[_i].name, err);
	ck_assert_uint_eq(model_all_writes(), 0);
	if (err)
		return;
	claim_well(rules[_i].ctr, nr);
	for (i = 0; i < nr; i++) {
		const struct perfctr_ctr_control *ctr = &rules[_i].ctr[i];
		unsigned int reg = 0;

		while (events[reg] != (ctr->event & 0xffff) && reg < MODEL_EXTRAS - 1)
			reg++;
		if (ctr->config)
			ck_assert_uint_eq(model_msr(1, msrs[reg]), ctr->config);
	}
}
END_TEST

static const struct perfctr_ctr_control branches[] = {
	XCTR(ANY, EV_OFFCORE_0, USER, 1), CTR(ANY, EV_INSTRUCTIONS, BOTH),
};
static const struct perfctr_ctr_control branches_too[] = { XCTR(2, EV_OFFCORE_0, BOTH, 1) };
static const struct perfctr_ctr_control mispredictions[] = { XCTR(ANY, EV_OFFCORE_0, USER, 2) };
static const struct perfctr_ctr_control second[] = { XCTR(ANY, EV_OFFCORE_1, USER, 2) };
static const struct perfctr_ctr_control conflicting[] = {
	XCTR(ANY, EV_OFFCORE_1, USER, 2), XCTR(ANY, EV_FRONTEND, USER, 1),
	XCTR(ANY, EV_OFFCORE_0, USER, 0x8001),
};
static const struct perfctr_ctr_control plain[] = { CTR(0, EV_INSTRUCTIONS, USER) };

static void expect_extras(unsigned int reg, u64 value)
{
	unsigned int cpu;

	for (cpu = 0; cpu < model.nr_cpus; cpu++)
		if (shim_online & BIT(cpu))
			ck_assert_msg(model_msr(cpu, msrs[reg]) == value,
				      "CPU %u, MSR %#x: %#llx, expected %#llx", cpu, msrs[reg],
				      model_msr(cpu, msrs[reg]), value);
}

static void expect_busy(const struct perfctr_ctr_control *ctr, unsigned int nr, u32 index)
{
	struct perfctr_refusal why = NO_REFUSAL;

	model_calls_reset();
	ck_assert_int_eq(PTR_ERR(claim(ctr, nr, &why)), -EBUSY);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_PERFCTR);
	ck_assert_uint_eq(why.index, index);
	ck_assert_uint_eq(model_all_calls(), 0);
}

/* The first control sets the value, equal ones share it, others are refused, the last resets it. */
START_TEST(one_value_at_a_time)
{
	struct model_machine machine = model_v4;
	struct model_ownership before;
	struct perfctr_config *a, *b, *c, *d;
	struct thread one, other, neither;

	machine.nr_cpus = SHIM_CPUS;
	machine.siblings = _i;
	driver_init(&machine);
	model_ownership(&before);
	a = CLAIM(branches);
	expect_extras(0, 1);
	expect_extras(1, 0);
	expect_busy(mispredictions, 1, 0);
	expect_busy(conflicting, 3, 2);
	b = CLAIM(branches_too);
	c = CLAIM(second);
	d = CLAIM(plain);
	expect_extras(0, 1);
	expect_extras(1, 2);
	thread_init(&one, a);
	thread_init(&other, c);
	thread_init(&neither, d);
	/* Nobody writes the register at a switch. */
	model_calls_reset();
	thread_run(&one, 0, 1000);
	thread_run(&other, 0, 1000);
	thread_run(&neither, 0, 1000);
	thread_run(&one, 1, 1000);
	thread_run(&other, 1, 1000);
	ck_assert_uint_eq(model_writes[0][MSR_OFFCORE_RSP_0] + model_writes[1][MSR_OFFCORE_RSP_0] +
			  model_writes[0][MSR_OFFCORE_RSP_1] + model_writes[1][MSR_OFFCORE_RSP_1],
			  0);
	thread_expect_exact(&one);
	thread_expect_exact(&other);
	thread_expect_exact(&neither);
	unclaim(a);
	expect_extras(0, 1);
	expect_busy(mispredictions, 1, 0);
	unclaim(b);
	expect_extras(0, 0);
	expect_extras(1, 2);
	a = CLAIM(mispredictions);
	expect_extras(0, 2);
	expect_busy(branches, 2, 0);
	thread_init(&one, a);
	thread_run(&one, 1, 1000);
	thread_expect_exact(&one);
	unclaim(d);
	unclaim(c);
	expect_extras(0, 2);
	expect_extras(1, 0);
	unclaim(a);
	model_expect_ownership(&before);
}
END_TEST

/* A control that wants the value twice has it until its end. */
START_TEST(twice_in_one_control)
{
	static const struct perfctr_ctr_control twice[] = {
		XCTR(ANY, EV_OFFCORE_0, USER, 1), XCTR(ANY, EV_OFFCORE_0, KERNEL, 1),
	};
	struct perfctr_config *a, *b;
	struct thread thread;

	driver_init(&model_v3);
	a = CLAIM(twice);
	b = CLAIM(branches);
	thread_init(&thread, a);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	unclaim(b);
	expect_extras(0, 1);
	expect_busy(mispredictions, 1, 0);
	unclaim(a);
	expect_extras(0, 0);
	unclaim(CLAIM(mispredictions));
}
END_TEST

/* The processor refuses a value, or does not keep it: nobody counts by it, and all is as before. */
START_TEST(values_that_are_not_taken)
{
	static const struct perfctr_ctr_control asked[] = {
		XCTR(ANY, EV_OFFCORE_1, USER, 2), XCTR(ANY, EV_OFFCORE_0, USER, 0x10001),
		ICTR(ANY, EV_BRANCHES, USER, 1000),
	};
	struct model_machine machine = model_v4;
	struct perfctr_config *beside = NULL;
	struct model_ownership nobody, before;
	struct thread thread;

	if (_i % 2)
		model_drops = MSR_OFFCORE_RSP_0;
	else
		machine.extras[0] = 0xffff;
	driver_init(&machine);
	model_ownership(&nobody);
	if (_i / 2)
		beside = CLAIM(second);
	model_ownership(&before);
	ck_assert_int_eq(PTR_ERR(claim(asked, 3, NULL)), -EINVAL);
	model_expect_ownership(&before);
	ck_assert_int_eq(PTR_ERR(claim(asked, 3, NULL)), -EINVAL);
	model_expect_ownership(&before);
	ck_assert_uint_eq(model_lvtpc[0], 0x100e0);
	model_drops = ~0u;
	thread_init(&thread, CLAIM(branches));
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	unclaim(thread.config);
	if (beside) {
		expect_extras(1, 2);
		unclaim(beside);
	}
	model_expect_ownership(&nobody);
}
END_TEST

/* Values that others left in registers that nobody here wants are left. */
START_TEST(left_alone)
{
	struct perfctr_config *a, *b;
	unsigned int cpu;

	driver_init(&model_v4);
	for (cpu = 0; cpu < 2; cpu++)
		model_set_msr(cpu, MSR_OFFCORE_RSP_1, 0x33);
	a = CLAIM(plain);
	b = CLAIM(branches);
	cpu_offline(1);
	cpu_online(1);
	unclaim(a);
	unclaim(b);
	cpu_offline(1);
	cpu_online(1);
	expect_extras(1, 0x33);
}
END_TEST

/* Rows: hyperthreads; registers lost while the CPU is off; a thread loads late, as the CPU goes */
START_TEST(exact_over_hotplug)
{
	struct model_machine machine = model_v4;
	struct model_ownership before;
	struct thread a, b;
	int i;

	machine.siblings = _i & 1;
	driver_init(&machine);
	model_ownership(&before);
	thread_init(&a, CLAIM(branches));
	thread_init(&b, CLAIM(second));
	for (i = 0; i < 6; i++) {
		thread_run(&a, 1, 1000);
		thread_run(&b, 1, 1000);
		/* One thread stays on the other CPU meanwhile. */
		thread_in(&b, 0);
		model_execute(MODEL_USER, 100);
		cpu_offline(1);
		if (_i & 4)
			thread_run(&a, 1, 1000);
		shim_online &= ~BIT(1);
		shim_cpu = 0;
		model_execute(MODEL_USER, 1000);
		thread_out(&b);
		thread_run(&a, 0, 1000);
		if (_i & 2)
			model_cpu_sleep(1, false);
		cpu_comes(1);
		expect_extras(0, 1);
		expect_extras(1, 2);
	}
	thread_run(&a, 1, 1000);
	thread_run(&b, 1, 1000);
	thread_expect_exact(&a);
	thread_expect_exact(&b);
	unclaim(a.config);
	unclaim(b.config);
	if (!(_i & 2))
		model_expect_ownership(&before);
	expect_extras(0, 0);
	expect_extras(1, 0);
}
END_TEST

START_TEST(exact_over_sleep)
{
	struct thread thread;

	driver_init(&model_v4);
	thread_init(&thread, CLAIM(branches));
	thread_run(&thread, 0, 1000);
	cpu_sleeps(0, false);
	expect_extras(0, 1);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* A CPU that is away is not told that others want the register now, or nobody. */
START_TEST(changes_while_away)
{
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_v4);
	config = CLAIM(branches);
	cpu_goes(1);
	ck_assert_uint_eq(model_msr(1, MSR_OFFCORE_RSP_0), 1);
	unclaim(config);
	thread_init(&thread, CLAIM(mispredictions));
	cpu_comes(1);
	expect_extras(0, 2);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	cpu_goes(1);
	unclaim(thread.config);
	ck_assert_uint_eq(model_msr(1, MSR_OFFCORE_RSP_0), 2);
	if (_i) {
		/* The CPU's counters may be perf's by then. */
		u32 taken = model_perf_take_all(1);

		model_calls_reset();
		cpu_comes(1);
		ck_assert_uint_eq(model_all_writes(), 0);
		ck_assert_uint_eq(model_msr(1, MSR_OFFCORE_RSP_0), 2);
		model_perf_give(1, taken);
		cpu_goes(1);
	}
	cpu_comes(1);
	expect_extras(0, 0);
	ck_assert_uint_ne(model_perf_take_all(1), 0);
}
END_TEST

void test_extra(void)
{
	unit_begin("x86_extra");
	unit_run(events_of_each_model, NR(kinds) * NR(kinds[0].models));
	unit_run(models_that_are_not_known, 10);
	unit_run(before_there_were_any, 3);
	unit_run(registers_that_are_not_there, 3);
	UNIT_ROWS(rules_hold, rules);
	unit_run(one_value_at_a_time, 2);
	UNIT_RUN(twice_in_one_control);
	unit_run(values_that_are_not_taken, 4);
	UNIT_RUN(left_alone);
	unit_run(exact_over_hotplug, 8);
	UNIT_RUN(exact_over_sleep);
	unit_run(changes_while_away, 2);
}
