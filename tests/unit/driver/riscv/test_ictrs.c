// SPDX-License-Identifier: GPL-2.0
/*
 * i-mode counters of the riscv driver: what starts and stops them, and what becomes
 * of the interrupt, which is perf's as well.
 */
#include "tests.h"
#include "config/config.h"

#define PERIOD 1000
#define HW 4
#define PERFS 6

static const struct model_machine wide = {
	.sbi = true, .sscofpmf = true, .nr_cpus = 2, .programmable = 0x7f8, .width = 64,
};

static const struct perfctr_ctr_control one[] = { ICTR(HW, EV_INSTRUCTIONS, USER, PERIOD) };
static const struct perfctr_ctr_control kernel[] = { ICTR(HW, EV_INSTRUCTIONS, BOTH, 1) };
static const struct perfctr_ctr_control a_mode[] = { CTR(HW, EV_INSTRUCTIONS, USER) };
static const struct perfctr_ctr_control mixed[] = {
	CTR(3, EV_CYCLES, USER), ICTR(HW, EV_INSTRUCTIONS, USER, PERIOD),
	ICTR(5, EV_ITLB, USER, 7),
};

/* Loaded by CPU 0 */
static struct perfctr_config *loaded(const struct perfctr_ctr_control *ctr, unsigned int nr)
{
	struct perfctr_config *config = claim_well(ctr, nr);

	ck_assert_int_eq(load_on(0, config), 0);
	return config;
}
#define LOADED(ctrs)	loaded(ctrs, sizeof(ctrs) / sizeof((ctrs)[0]))

static int istart(const struct perfctr_config *config, const u64 *value)
{
	int err;

	local_irq_disable();
	err = perfctr_cpu_istart(config, value);
	local_irq_enable();
	return err;
}

static void istop(const struct perfctr_config *config, const void *id)
{
	local_irq_disable();
	perfctr_cpu_istop(config, id);
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

static void expect_calls(unsigned int start, unsigned int stop)
{
	ck_assert_uint_eq(model_calls[SBI_EXT_PMU_COUNTER_START], start);
	ck_assert_uint_eq(model_calls[SBI_EXT_PMU_COUNTER_STOP], stop);
	ck_assert_uint_eq(model_all_calls(), start + stop);
	model_calls_reset();
}

static const u64 period[] = { -(u64)PERIOD };

/* i-mode is refused if the machine lacks something. */
static const struct {
	const char *name;
	struct model_machine machine;
	int err;
} machines[] = {
	{ "all", { .sscofpmf = true }, 0 },
	{ "no Sscofpmf", { .sscofpmf = false }, -EOPNOTSUPP },
	{ "not enabled", { .sscofpmf = true, .no_interrupt = true }, -EOPNOTSUPP },
	{ "no handler of perf's", { .sscofpmf = true, .no_handler = true }, -EOPNOTSUPP },
	{ "KVM", { .sscofpmf = true, .kvm = true }, -EOPNOTSUPP },
};

START_TEST(where_they_are)
{
	static const struct perfctr_ctr_control itlb[] = { ICTR(ANY, EV_ITLB, BOTH, 100) };
	struct model_machine machine = machines[_i].machine;
	struct perfctr_kernel_info info = {};

	machine.sbi = true;
	machine.nr_cpus = 1;
	machine.programmable = 0x78;
	machine.width = 64;
	driver_init(&machine);
	perfctr_cpu_info(&info);
	ck_assert_int_eq(!!(info.cpu_features & PERFCTR_FEATURE_PCINT), !machines[_i].err);
	ck_assert_msg(check(itlb, 1, NULL) == machines[_i].err, "%s", machines[_i].name);
}
END_TEST

START_TEST(not_on_fixed_counters)
{
	static const struct perfctr_ctr_control cycle[] = { ICTR(0, EV_CYCLES, BOTH, 1) };
	static const struct perfctr_ctr_control instret[] = { ICTR(2, EV_INSTRUCTIONS, BOTH, 1) };

	driver_init(&wide);
	ck_assert_int_eq(check(cycle, 1, NULL), -EINVAL);
	ck_assert_int_eq(check(instret, 1, NULL), -EINVAL);
	ck_assert_int_eq(check(one, 1, NULL), 0);
}
END_TEST

/* A load does not start them; start, overflow and stop are exact to the instruction. */
START_TEST(period_is_exact)
{
	struct perfctr_config *config;

	driver_init(&wide);
	config = LOADED(one);
	ck_assert_uint_eq(config->imask, BIT(HW));
	model_execute(MODEL_USER, 500);
	ck_assert(model_ctr(0, HW)->inhibited);
	model_calls_reset();
	ck_assert_int_eq(istart(config, period), 0);
	expect_calls(1, 0);
	ck_assert_uint_eq(model_value(0, HW), period[0]);
	model_execute(MODEL_KERNEL, 5000);
	model_execute(MODEL_USER, PERIOD - 1);
	ck_assert(!model_pending(0));
	model_execute(MODEL_USER, 1);
	ck_assert(model_pending(0));
	ck_assert_uint_eq(model_value(0, HW), 0);
	istop(config, config);
	expect_calls(0, 1);
	/* Only our overflow: the interrupt is taken back, and OF is left for perf's handler. */
	ck_assert(!model_pending(0));
	ck_assert_uint_eq(model_scountovf(0) & BIT(HW), BIT(HW));
	model_execute(MODEL_USER, 500);
	ck_assert_uint_eq(model_value(0, HW), 0);
	/* The counter interrupts again. */
	ck_assert_int_eq(istart(config, period), 0);
	ck_assert_uint_eq(model_scountovf(0) & BIT(HW), 0);
	model_execute(MODEL_USER, PERIOD);
	ck_assert(model_pending(0));
}
END_TEST

/* Counters that were stopped for a while go on from where they were, by one call. */
START_TEST(goes_on_by_one_call)
{
	struct perfctr_config *config;
	u64 values[2] = { -(u64)PERIOD, -7ull };
	int a, b;

	driver_init(&wide);
	config = LOADED(mixed);
	model_calls_reset();
	ck_assert_int_eq(istart(config, values), 0);
	expect_calls(2, 0);
	model_execute(MODEL_USER, 13);
	istop(config, &a);
	expect_calls(0, 1);
	model_execute(MODEL_USER, 500);
	ck_assert(istopped(&a));
	ck_assert(!istopped(&b));
	ck_assert_int_eq(istart(config, NULL), 0);
	expect_calls(1, 0);
	ck_assert_uint_eq(model_value(0, HW), values[0] + 13);
	ck_assert_uint_eq(model_value(0, 5), values[1] + 1);
	ck_assert(!istopped(&a));
	istop(config, &a);
	/* Not if somebody else had them since, */
	ck_assert_int_eq(istart(config, values), 0);
	istop(config, &b);
	ck_assert(!istopped(&a));
	ck_assert(istopped(&b));
	/* nor after a load of another config, a restart, or sleep. */
	ck_assert_int_eq(load_on(0, LOADED(a_mode)), 0);
	ck_assert(!istopped(&b));
	ck_assert_int_eq(load_on(0, config), 0);
	ck_assert_int_eq(istart(config, values), 0);
	istop(config, &b);
	ck_assert_int_eq(restart_on(0, config, 1), 0);
	ck_assert(!istopped(&b));
	ck_assert_int_eq(istart(config, values), 0);
	istop(config, &b);
	cpu_sleeps(0, true);
	ck_assert(!istopped(&b));
}
END_TEST

/* Guarded: a-mode counters start from zero, and i-mode counters are left to istart(). */
START_TEST(restart_leaves_them)
{
	struct perfctr_config *config;
	u64 values[2] = { -(u64)PERIOD, -7ull };

	driver_init(&wide);
	config = LOADED(mixed);
	ck_assert_int_eq(istart(config, values), 0);
	model_execute(MODEL_USER, 13);
	istop(config, config);
	model_calls_reset();
	ck_assert_int_eq(restart_on(0, config, 1000), 0);
	expect_calls(1, 1);
	ck_assert(private_on(0, config, 1000));
	ck_assert(!model_ctr(0, 3)->inhibited);
	ck_assert(model_ctr(0, HW)->inhibited);
	ck_assert_uint_eq(model_value(0, HW), values[0] + 13);
	/* Without a-mode counters nothing is done. */
	config = LOADED(one);
	model_calls_reset();
	ck_assert_int_eq(restart_on(0, config, 1000), 0);
	expect_calls(0, 0);
	ck_assert(private_on(0, config, 1000));
}
END_TEST

/* Registers that may be read while they do not count hold nothing of others. */
START_TEST(cleared)
{
	struct perfctr_config *config, *other;
	struct thread thread;

	driver_init(&wide);
	other = CLAIM(a_mode);
	thread_init(&thread, other);
	config = CLAIM(one);
	thread_run(&thread, 0, 300);
	ck_assert(!model_ctr(0, HW)->inhibited);
	ck_assert_uint_ne(model_value(0, HW), 0);
	ck_assert_int_eq(restart_on(0, config, 1000), 0);
	local_irq_disable();
	perfctr_cpu_iclear(config);
	local_irq_enable();
	ck_assert(model_ctr(0, HW)->inhibited);
	ck_assert_uint_eq(model_value(0, HW), 0);
	ck_assert(!istopped(config));
	model_execute(MODEL_USER, 100);
	ck_assert_uint_eq(model_value(0, HW), 0);
	ck_assert_int_eq(istart(config, period), 0);
	ck_assert_uint_eq(model_value(0, HW), period[0]);
	istop(config, config);
	thread_run(&thread, 0, 700);
	thread_expect_exact(&thread);
}
END_TEST

/* A counter that another thread has for a-mode runs on behind this config's back. */
START_TEST(counter_shared_with_a_mode)
{
	struct perfctr_config *config, *other;
	struct thread thread;

	driver_init(&wide);
	config = LOADED(one);
	other = CLAIM(a_mode);
	thread_init(&thread, other);
	thread_run(&thread, 0, 300);
	ck_assert(!model_ctr(0, HW)->inhibited);
	ck_assert_int_eq(load_on(0, config), 0);
	ck_assert_int_eq(istart(config, period), 0);
	ck_assert_uint_eq(model_value(0, HW), period[0]);
	model_execute(MODEL_USER, PERIOD + 5);
	istop(config, config);
	thread_run(&thread, 0, 700);
	thread_run(&thread, 1, 300);
	thread_run(&thread, 0, 700);
	thread_expect_exact(&thread);
}
END_TEST

/* One period has begun, and perf counts the same event on a counter of its own. */
static struct perfctr_config *started_beside_perf(bool user_only)
{
	struct perfctr_config *config;

	driver_init(&wide);
	config = LOADED(one);
	ck_assert(model_perf_take(0, PERFS, EV_INSTRUCTIONS, 0, user_only));
	ck_assert_int_eq(istart(config, period), 0);
	return config;
}

/* perf's interrupt is pending: it is not lost, and our counters wait for its end. */
START_TEST(perfs_interrupt_comes_first)
{
	struct perfctr_config *config = started_beside_perf(true);

	model_set_value(0, PERFS, -100ull);
	model_execute(MODEL_USER, 100);
	ck_assert(model_pending(0));
	istop(config, config);
	/* We take back only our own interrupt. */
	ck_assert(model_pending(0));
	model_calls_reset();
	ck_assert_int_eq(istart(config, NULL), -EAGAIN);
	expect_calls(0, 0);
	model_perf_handles(0, -500ull);
	ck_assert(!model_pending(0));
	ck_assert(istopped(config));
	ck_assert_int_eq(istart(config, NULL), 0);
	ck_assert_uint_eq(model_value(0, HW), period[0] + 100);
	/* Both interrupt again. */
	model_execute(MODEL_USER, 500);
	ck_assert(model_pending(0));
	istop(config, config);
	model_perf_handles(0, -100000ull);
	ck_assert_int_eq(istart(config, NULL), 0);
	model_execute(MODEL_USER, 400);
	ck_assert(model_pending(0));
	istop(config, config);
	ck_assert(!model_pending(0));
}
END_TEST

/* perf's alone: ours need not be stopped for it. */
START_TEST(whose_interrupt_it_is)
{
	struct perfctr_config *config = started_beside_perf(true);
	unsigned int i;

	model_set_value(0, PERFS, -300ull);
	model_calls_reset();
	for (i = 0; i < 3; i++) {
		model_execute(MODEL_USER, 300);
		ck_assert(model_pending(0));
		ck_assert(!perfctr_cpu_ioverflowed(config));
		model_perf_handles(0, -300ull);
	}
	expect_calls(0, 0);
	model_execute(MODEL_USER, 99);
	ck_assert(!model_pending(0));
	model_execute(MODEL_USER, 1);
	ck_assert(model_pending(0));
	ck_assert(perfctr_cpu_ioverflowed(config));
	istop(config, config);
	ck_assert(perfctr_cpu_ioverflowed(config));
	ck_assert_int_eq(istart(config, period), 0);
	/* It cannot be told: none is seen. */
	ck_assert_uint_eq(model_scountovf(0), 0);
	ck_assert(perfctr_cpu_ioverflowed(config));
	/* One of them at least */
	config = LOADED(mixed);
	ck_assert_int_eq(istart(config, (u64 []) { -(u64)PERIOD, -7ull }), 0);
	model_overflow_of_others(0, true);
	ck_assert(!perfctr_cpu_ioverflowed(config));
	model_execute(MODEL_USER, PERIOD);
	ck_assert(perfctr_cpu_ioverflowed(config));
}
END_TEST

/* Both overflow at the same instruction: perf's handler finds its own, and starts it again. */
START_TEST(both_at_once)
{
	struct perfctr_config *config = started_beside_perf(true);

	model_set_value(0, PERFS, period[0]);
	model_execute(MODEL_USER, PERIOD);
	istop(config, config);
	ck_assert(model_pending(0));
	model_perf_handles(0, -300ull);
	ck_assert(!model_ctr(0, PERFS)->inhibited);
	ck_assert_int_eq(istart(config, period), 0);
	model_execute(MODEL_USER, 300);
	ck_assert(model_pending(0));
}
END_TEST

/*
 * Only ours overflows: the interrupt calls perf's handler all the same, which must find an
 * OF, or it would not start the counters that it stops.
 */
START_TEST(perf_runs_on_after_ours)
{
	struct perfctr_config *config = started_beside_perf(true);
	u64 before;

	model_execute(MODEL_USER, PERIOD);
	istop(config, config);
	ck_assert(!model_pending(0));
	/* The interrupt was on its way. */
	shim_csr_set(CSR_SIP, BIT(IRQ_PMU_OVF));
	model_perf_handles(0, 0);
	before = model_value(0, PERFS);
	model_execute(MODEL_USER, 10);
	ck_assert_uint_eq(model_value(0, PERFS), before + 10);
}
END_TEST

/* perf's interrupt comes while our counters are started. OF may have stayed set, so they wait. */
START_TEST(perfs_interrupt_comes_between)
{
	struct perfctr_config *config = started_beside_perf(false);

	model_execute(MODEL_USER, PERIOD);
	istop(config, config);
	/* In the kernel's part of the call */
	model_set_value(0, PERFS, -3ull);
	ck_assert_int_eq(istart(config, period), -EAGAIN);
	ck_assert(model_ctr(0, HW)->inhibited);
	ck_assert(model_pending(0));
	ck_assert(!istopped(config));
	model_perf_handles(0, -100000ull);
	ck_assert_int_eq(istart(config, period), 0);
	model_execute(MODEL_USER, PERIOD);
	ck_assert(model_pending(0));
}
END_TEST

/* If its own overflow comes before the call has returned, it does not wait for ever. */
START_TEST(own_overflow_comes_between)
{
	static const u64 soon[] = { -3ull };
	struct perfctr_config *config;

	driver_init(&wide);
	config = LOADED(kernel);
	ck_assert_int_eq(istart(config, soon), 0);
	ck_assert(model_pending(0));
	ck_assert(!model_ctr(0, HW)->inhibited);
	istop(config, config);
	ck_assert(!model_pending(0));
}
END_TEST

/* If START fails, or a counter runs already and would not take the value, all stay stopped. */
START_TEST(start_fails)
{
	u64 values[2] = { -(u64)PERIOD, -7ull };
	struct perfctr_config *config;
	unsigned int after;

	driver_init(&wide);
	config = LOADED(mixed);
	for (after = 0; after < 2; after++) {
		model_fail(SBI_EXT_PMU_COUNTER_START, after, 1, SBI_ERR_FAILURE);
		ck_assert_int_eq(istart(config, values), -EIO);
		ck_assert(model_ctr(0, HW)->inhibited);
		ck_assert(model_ctr(0, 5)->inhibited);
		ck_assert(!istopped(config));
	}
	model_fail(SBI_EXT_PMU_COUNTER_START, 1, 1, SBI_ERR_ALREADY_STARTED);
	ck_assert_int_eq(istart(config, values), -EIO);
	ck_assert(model_ctr(0, HW)->inhibited);
	ck_assert_int_eq(istart(config, values), 0);
	istop(config, config);
	model_fail(SBI_EXT_PMU_COUNTER_START, 0, 1, SBI_ERR_FAILURE);
	ck_assert_int_eq(istart(config, NULL), -EIO);
	ck_assert(model_ctr(0, HW)->inhibited);
}
END_TEST

/* How far a register of so many bits may be from its interrupt. Its highest bit is the sign. */
static const unsigned int widths[] = { 32, 40, 48, 63, 64 };

START_TEST(width_and_range)
{
	struct model_machine machine = wide;
	struct perfctr_config *config;
	struct perfctr_cpu_ctr ctr;
	u64 far, all, acc;

	machine.width = widths[_i];
	driver_init(&machine);
	ck_assert_uint_eq(perfctr_cpu_iwidth(), widths[_i]);
	ck_assert_uint_eq(perfctr_cpu_irange(), BIT_ULL(widths[_i] - 1));
	config = LOADED(one);
	perfctr_cpu_bind(&ctr, HW);
	all = ~0ull >> (64 - widths[_i]);
	far = -perfctr_cpu_irange();
	ck_assert_int_eq(istart(config, &far), 0);
	/* As the register is: the caller extends the sign. */
	ck_assert_uint_eq(perfctr_cpu_read(&ctr), far & all);
	model_execute(MODEL_USER, 10);
	acc = perfctr_cpu_read(&ctr);
	ck_assert_uint_eq(acc, (far & all) + 10);
	ck_assert_uint_eq((u64)sign_extend64(acc, perfctr_cpu_iwidth() - 1), far + 10);
	istop(config, config);
	ck_assert(!model_pending(0));
	ck_assert_int_eq(istart(config, period), 0);
	model_execute(MODEL_USER, PERIOD + 10);
	ck_assert(model_pending(0));
	ck_assert_uint_eq(perfctr_cpu_read(&ctr), 10);
	istop(config, config);
	/* Stopped counters with the highest bit set are not set back by ageing. */
	ck_assert_int_eq(istart(config, &far), 0);
	istop(config, config);
	model_calls_reset();
	ck_assert_int_eq(age_all(), 0);
	expect_calls(0, 0);
}
END_TEST

/* All calls use the firmware's numbers of the counters. */
START_TEST(shuffled_indices)
{
	u64 values[2] = { -(u64)PERIOD, -7ull };
	struct model_machine machine = wide;
	struct perfctr_config *config;

	machine.shuffled = true;
	driver_init(&machine);
	config = LOADED(mixed);
	ck_assert_int_eq(istart(config, values), 0);
	ck_assert(!model_ctr(0, HW)->inhibited);
	ck_assert(!model_ctr(0, 5)->inhibited);
	model_execute(MODEL_USER, PERIOD);
	ck_assert(model_pending(0));
	istop(config, config);
	ck_assert(model_ctr(0, HW)->inhibited);
	ck_assert(model_ctr(0, 5)->inhibited);
	ck_assert(!model_ctr(0, 3)->inhibited);
	ck_assert(!model_pending(0));
}
END_TEST

/* config.c: interrupts are heard while there is a config with i-mode counters. */
START_TEST(interrupts_are_heard)
{
	struct perfctr_config *first, *second, *other;
	struct perfctr_refusal why;

	driver_init(&wide);
	ck_assert_int_eq(perfctr_config_init(), 0);
	first = config_get_current(a_mode, 1, PERFCTR_SOURCE_NATIVE, &why);
	ck_assert(!IS_ERR(first));
	ck_assert_int_eq(interrupts_heard, 0);
	second = config_get_current(mixed, 3, PERFCTR_SOURCE_NATIVE, &why);
	ck_assert(!IS_ERR(second));
	ck_assert_uint_eq(second->nr_ictrs, 2);
	ck_assert_int_eq(interrupts_heard, 1);
	ck_assert_ptr_eq(config_get_current(mixed, 3, PERFCTR_SOURCE_NATIVE, &why), second);
	ck_assert_int_eq(interrupts_heard, 1);
	/* Another period is another config. */
	other = config_get_current(one, 1, PERFCTR_SOURCE_NATIVE, &why);
	ck_assert_ptr_ne(other, first);
	ck_assert_int_eq(interrupts_heard, 2);
	interrupts_error = -ENODEV;
	ck_assert_ptr_eq(config_get_current(kernel, 1, PERFCTR_SOURCE_NATIVE, &why), ERR_PTR(-EOPNOTSUPP));
	interrupts_error = -ENOMEM;
	ck_assert_ptr_eq(config_get_current(kernel, 1, PERFCTR_SOURCE_NATIVE, &why), ERR_PTR(-ENOMEM));
	interrupts_error = 0;
	perfctr_config_put(other, false);
	perfctr_config_put(second, false);
	ck_assert_int_eq(interrupts_heard, 1);
	perfctr_config_put(second, false);
	ck_assert_int_eq(interrupts_heard, 0);
	/* A refusal gives back what it has taken. */
	other = config_get_current((struct perfctr_ctr_control []) {
					   ICTR(0, EV_CYCLES, BOTH, 1) }, 1,
				   PERFCTR_SOURCE_NATIVE, &why);
	ck_assert_ptr_eq(other, ERR_PTR(-EINVAL));
	ck_assert_int_eq(interrupts_heard, 0);
	perfctr_config_put(first, false);
	perfctr_config_exit();
}
END_TEST

void test_ictrs(void)
{
	unit_begin("riscv_ictrs");
	UNIT_ROWS(where_they_are, machines);
	UNIT_RUN(not_on_fixed_counters);
	UNIT_RUN(period_is_exact);
	UNIT_RUN(goes_on_by_one_call);
	UNIT_RUN(restart_leaves_them);
	UNIT_RUN(cleared);
	UNIT_RUN(counter_shared_with_a_mode);
	UNIT_RUN(perfs_interrupt_comes_first);
	UNIT_RUN(whose_interrupt_it_is);
	UNIT_RUN(both_at_once);
	UNIT_RUN(perf_runs_on_after_ours);
	UNIT_RUN(perfs_interrupt_comes_between);
	UNIT_RUN(own_overflow_comes_between);
	UNIT_RUN(start_fails);
	UNIT_ROWS(width_and_range, widths);
	UNIT_RUN(shuffled_indices);
	UNIT_RUN(interrupts_are_heard);
}
