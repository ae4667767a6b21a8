// SPDX-License-Identifier: GPL-2.0
/* MMCR0 is compared with what was written: perf may write to it although it is ours. */
#include "arch/ppc32/registers.h"
#include "tests.h"

static const struct perfctr_ctr_control plain[] = { CTR(0, EV_INSTRUCTIONS, USER) };
static const struct perfctr_ctr_control other[] = { CTR(1, EV_CYCLES, BOTH) };
static const struct perfctr_ctr_control i_mode[] = { ICTR(1, EV_INSTRUCTIONS, USER, 100) };
static const struct perfctr_ctr_control own_way[] = {
	CTR_MMCR(0, EV_INSTRUCTIONS, USER, TRIGGER),
};

static unsigned int heard;

static void hear(bool lost)
{
	ck_assert(!lost);
	heard++;
}

static void begin(void)
{
	driver_init(&model_default);
	heard = 0;
	shim_warnings = 0;
	perfctr_cpu_set_changed(hear);
}

enum what { REST, RUNS, I_MODE, OWN_WAY };

/* In each state of the registers each bit is noticed, but what the processor changes in it. */
static const struct {
	enum what what;
	u32 own;
} states[] = {
	{ REST, 0 }, { RUNS, 0 }, { I_MODE, FC | PMXE | TRIGGER }, { OWN_WAY, FC | PMXE | TRIGGER },
};

static void set_up(enum what what)
{
	struct perfctr_config *config;
	struct thread thread;
	u64 value = -100;

	if (what == I_MODE)
		config = CLAIM(i_mode);
	else if (what == OWN_WAY)
		config = CLAIM(own_way);
	else
		config = CLAIM(plain);
	if (what == REST)
		return;
	ck_assert_int_eq(load_on(1, config), 0);
	local_irq_disable();
	if (what == I_MODE)
		ck_assert_int_eq(perfctr_cpu_istart(config, &value), 0);
	local_irq_enable();
	if (what == OWN_WAY) {
		thread_init(&thread, config);
		local_irq_disable();
		perfctr_cpu_resume_own_way(config, &thread.state);
		local_irq_enable();
	}
}

START_TEST(each_bit)
{
	unsigned int bit = (unsigned int)_i % 32;
	bool own = states[_i / 32].own & BIT(bit);

	begin();
	set_up(states[_i / 32].what);
	ck_assert(model_verify_on(1));
	model_set_spr(1, SPR_MMCR0, model_mmcr0(1) ^ (u32)BIT(bit));
	ck_assert(model_verify_on(1) == own);
	ck_assert(model_changed_on(1) == !own);
	ck_assert_uint_eq(heard, !own);
	ck_assert_uint_eq(shim_warnings, !own);
}
END_TEST

/* Who finds it: the tick, a load of another control, an istop, the give-back */
enum finder { TICK, LOAD, RESTART, END };

START_TEST(noticed)
{
	struct perfctr_config *config, *next;
	struct thread a, b;
	u32 perfs;

	begin();
	config = CLAIM(plain);
	next = CLAIM(other);
	thread_init(&a, config);
	thread_init(&b, next);
	thread_run(&a, 1, 1000);
	shim_jiffies++;
	ck_assert_uint_eq(shim_timers(1), 1);
	perfs = FCP | SEL1(2);
	model_set_spr(1, SPR_MMCR0, perfs);
	switch ((enum finder)_i) {
	case TICK:
		break;
	case LOAD:
		ck_assert_int_eq(load_on(1, next), -EIO);
		break;
	case RESTART:
		ck_assert_int_eq(restart_on(1, config, 1000), -EIO);
		break;
	case END:
		break;
	}
	if (_i != END) {
		/* A switch prints nothing and wakes nobody. */
		ck_assert_uint_eq(heard + shim_warnings, 0);
		shim_jiffies++;
		ck_assert_uint_eq(shim_timers(1), 1);
		/* It is told of once. Nobody counts here any more, but elsewhere. */
		ck_assert_uint_eq(heard, 1);
		ck_assert_uint_eq(shim_warnings, 1);
		ck_assert(model_changed_on(1) && !model_changed_on(0));
		ck_assert(!model_verify_on(1) && model_verify_on(0));
		ck_assert_int_eq(load_on(1, config), -EIO);
		ck_assert_int_eq(restart_on(1, next, 1000), -EIO);
		ck_assert(!has_loaded(1, config) && !private_on(1, config, 1000));
		ck_assert_int_eq(age_all(), 0);
		on_cpu_irqs_off(1, perfctr_cpu_rest);
		on_cpu_irqs_off(1, perfctr_cpu_leave);
		thread_run(&b, 0, 1000);
		thread_expect_exact(&b);
		shim_jiffies++;
		shim_timers(1);
		ck_assert_uint_eq(shim_timers(1), 0);
		ck_assert_uint_eq(heard, 1);
	}
	/* What is another's is left to it. */
	ck_assert_uint_eq(model_mmcr0(1), perfs);
	unclaim(next);
	unclaim(config);
	ck_assert_uint_eq(heard, 1);
	ck_assert_uint_eq(model_mmcr0(1), perfs);
	ck_assert_uint_eq(model_mmcr0(0), FC);
	/* Taken anew they count. */
	ck_assert(!model_changed_on(1));
	thread_init(&a, CLAIM(plain));
	thread_run(&a, 1, 1000);
	ck_assert(model_verify_on(1));
	shim_jiffies++;
	ck_assert_uint_eq(shim_timers(1), 1);
	thread_expect_exact(&a);
	unclaim(a.config);
	/* The timers end by themselves. */
	shim_jiffies++;
	shim_timers(0);
	shim_timers(1);
	ck_assert_uint_eq(shim_timers(0) + shim_timers(1), 0);
	ck_assert_uint_eq(heard, 1);
}
END_TEST

void test_verify(void)
{
	unit_begin("ppc32_verify");
	unit_run(each_bit, 4 * 32);
	unit_run(noticed, END + 1);
}
