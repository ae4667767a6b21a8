// SPDX-License-Identifier: GPL-2.0
/* The trial: counters that do not count a known loop are not used, and nothing else is lost. */
#include "tests.h"

#define ALL	(0xf | 7u << FIXED(0))
#define GENERAL	0xfu
#define EVENTS	0x7fu

static u64 counters_told(void)
{
	struct perfctr_kernel_info info = {};

	perfctr_cpu_info(&info);
	return info.counters;
}

static u64 events_told(void)
{
	struct perfctr_kernel_info info = {};

	perfctr_cpu_info(&info);
	return info.events[0];
}

/* All that there is counts, on each machine, and is told of. */
START_TEST(all_are_good)
{
	u64 fixed = min(machines[_i]->nr_fixed, 3u);

	driver_init(machines[_i]);
	unclaim(CLAIM(((const struct perfctr_ctr_control[]){ CTR(0, EV_INSTRUCTIONS, USER) })));
	if (machines[_i]->version && !model_is_amd())
		ck_assert_uint_eq(events_told(), EVENTS);
	ck_assert_uint_eq(counters_told(), (BIT(machines[_i]->nr) - 1) |
			  (!model_has_fixed() ? 0 : (BIT(fixed) - 1) << FIXED(0)));
	ck_assert_uint_eq(shim_warnings, 0);
}
END_TEST

/* What one CPU counts wrong is not used on any. */
static const struct {
	const char *name;
	u32 stuck, modeless, no_write, drops;
	u64 left;
} bad_rows[] = {
	{ "the first counts nothing", BIT(0), 0, ~0u, ~0u, ALL & ~BIT(0) },
	{ "the last counts nothing", BIT(3), 0, ~0u, ~0u, ALL & ~BIT(3) },
	{ "two", BIT(1) | BIT(2), 0, ~0u, ~0u, ALL & ~6ull },
	{ "all general ones", 0xf, 0, ~0u, ~0u, 7u << FIXED(0) },
	{ "a fixed one", BIT(FIXED(0)), 0, ~0u, ~0u, ALL & ~BIT(FIXED(0)) },
	{ "reference cycles", BIT(FIXED(2)), 0, ~0u, ~0u, ALL & ~BIT(FIXED(2)) },
	{ "counts kernel mode as well", 0, BIT(2), ~0u, ~0u, ALL & ~BIT(2) },
	{ "a fixed one does", 0, BIT(FIXED(1)), ~0u, ~0u, ALL & ~BIT(FIXED(1)) },
	{ "a value is dropped", 0, 0, ~0u, 0xc3, ALL & ~BIT(2) },
	{ "a fixed one's", 0, 0, ~0u, 0x30a, ALL & ~BIT(FIXED(1)) },
	{ "an event select is dropped", 0, 0, ~0u, 0x187, ALL & ~BIT(1) },
	{ "the fixed ones' control", 0, 0, ~0u, 0x38d, GENERAL },
	{ "the global control", 0, 0, ~0u, 0x38f, 0 },
	{ "a write of a value faults", 0, 0, 0xc2, ~0u, ALL & ~BIT(1) },
	{ "of an event select", 0, 0, 0x188, ~0u, ALL & ~BIT(2) },
	{ "of the global control", 0, 0, 0x38f, ~0u, 0 },
};

START_TEST(bad_ones_are_not_used)
{
	static const struct perfctr_ctr_control any[] = { CTR(ANY, EV_BRANCHES, USER) };
	u64 left = bad_rows[_i].left;
	struct perfctr_kernel_info info = {};
	struct thread thread;
	unsigned int hw;

	model_stuck[1] = bad_rows[_i].stuck;
	model_modeless[1] = bad_rows[_i].modeless;
	model_drops = bad_rows[_i].drops;
	model_no_write = bad_rows[_i].no_write;
	driver_init(&model_default);
	perfctr_cpu_info(&info);
	ck_assert_msg(info.counters == left, "%s: %#llx and not %#llx", bad_rows[_i].name,
		      info.counters, left);
	ck_assert_uint_eq(perfctr_cpu_nrctrs(), hweight32((u32)left));
	ck_assert_uint_gt(shim_warnings, 0);
	ck_assert_uint_eq(info.no_counters, left ? PERFCTR_NO_COUNTERS_NONE :
			  PERFCTR_NO_COUNTERS_TRIAL);
	for (hw = 0; hw < PERFCTR_X86_MAX; hw++) {
		const struct perfctr_ctr_control named[] = { CTR(hw, EV_BRANCHES, USER) };

		ck_assert_int_eq(check(named, 1, NULL),
				 hw < 4 && left & BIT(hw) ? 0 : -EINVAL);
	}
	if (!(left & GENERAL)) {
		ck_assert_int_eq(check(any, 1, NULL), -EINVAL);
		return;
	}
	thread_init(&thread, CLAIM(any));
	ck_assert(left & BIT(thread.config->hw[0]));
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	unclaim(thread.config);
}
END_TEST

/* A Pentium 4's blocks have events of their own, of which the loop causes none of the third's. */
START_TEST(each_block_of_a_pentium_4)
{
	const u64 all = 0x3ffff, untried = 0xf00;

	switch (_i % 3) {
	case 0:
		model_stuck[1] = BIT(_i / 3);
		break;
	case 1:
		model_modeless[1] = BIT(_i / 3);
		break;
	default:
		model_drops = 0x300 + _i / 3;
		break;
	}
	driver_init(_i % 2 ? &model_p4 : &model_p4m3);
	ck_assert_msg(counters_told() == (all & ~(BIT(_i / 3) & ~(_i % 3 < 2 ? untried : 0))),
		      "counter %d: %#llx", _i / 3, counters_told());
}
END_TEST

/* Root may say that there is to be no trial. */
START_TEST(not_wanted)
{
	model_stuck[1] = BIT(0);
	shim_set_param("trial", 0);
	driver_init(&model_default);
	ck_assert_uint_eq(counters_told(), ALL);
	ck_assert_uint_eq(shim_warnings, 0);
}
END_TEST

/* A hypervisor's filter: the event is refused, by whatever counter, and others count. */
START_TEST(filtered_event)
{
	static const u16 events[] = { EV_CYCLES, EV_INSTRUCTIONS, EV_BRANCHES };
	static const unsigned int bits[] = { 0, 1, 5 };
	const struct perfctr_ctr_control filtered[] = { CTR(ANY, events[_i], USER) };
	const struct perfctr_ctr_control good[] = { CTR(ANY, events[(_i + 1) % 3], USER) };

	model_filtered = events[_i];
	driver_init(&model_default);
	ck_assert_uint_eq(events_told(), EVENTS & ~BIT(bits[_i]));
	ck_assert_uint_eq(counters_told(), ALL);
	ck_assert_int_eq(check(filtered, 1, NULL), -EINVAL);
	ck_assert_int_eq(check(good, 1, NULL), 0);
}
END_TEST

#define LOOPS	10	/* of the driver in each try */

/* NMIs in loops of two tries are forgiven, as the third is good. */
static const u64 disturbed_rows[] = {
	BIT(0), BIT(1), BIT(0) | BIT(LOOPS), BIT(LOOPS - 1) | BIT(LOOPS + 3),
};

START_TEST(disturbed)
{
	model_disturbs = disturbed_rows[_i];
	driver_init(&model_default);
	ck_assert_uint_eq(model_disturbs, 0);
	ck_assert_uint_eq(counters_told(), ALL);
	ck_assert_uint_eq(shim_warnings, 0);
}
END_TEST

/* In all three tries the first event was counted wrong, and so by its fixed counter. */
START_TEST(always_disturbed)
{
	model_disturbs = BIT(1) | BIT(LOOPS + 1) | BIT(2 * LOOPS + 1);
	driver_init(&model_default);
	ck_assert_uint_eq(model_disturbs, 0);
	ck_assert_uint_eq(events_told(), EVENTS & ~BIT(1));
	ck_assert_uint_eq(counters_told(), ALL & ~BIT(FIXED(0)));
	ck_assert_uint_gt(shim_warnings, 0);
}
END_TEST

/* Perf has the counters as the module is loaded: they are tried by the first claim. */
START_TEST(tried_late)
{
	static const struct perfctr_ctr_control any[] = { CTR(ANY, EV_BRANCHES, USER) };
	static const struct perfctr_ctr_control first[] = { CTR(0, EV_BRANCHES, USER) };
	struct perfctr_refusal why = NO_REFUSAL;
	struct perfctr_config *config;
	unsigned int cpu;
	u32 taken;

	model_boot(&model_default);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	taken = model_perf_take_all(0);
	ck_assert_uint_ne(taken, 0);
	model_stuck[1] = BIT(0);
	model_calls_reset();
	for_each_online_cpu(cpu)
		cpu_online(cpu);
	ck_assert_uint_eq(model_all_calls(), 0);
	ck_assert_uint_eq(counters_told(), ALL);
	model_perf_give(0, taken);
	/* The check said yes, since nobody knew. */
	ck_assert_int_eq(check(first, 1, NULL), 0);
	ck_assert_int_eq((int)PTR_ERR(claim(first, 1, &why)), -EINVAL);
	ck_assert_uint_eq(why.index, 0);
	ck_assert_uint_eq(counters_told(), ALL & ~BIT(0));
	config = CLAIM(any);
	ck_assert_uint_eq(config->hw[0], 1);
	unclaim(config);
}
END_TEST

/*
 * A CPU that comes later, with less: its counters are not used, and who counts elsewhere is
 * lost there. @_i: whether somebody counts as it comes
 */
START_TEST(bad_cpu_comes)
{
	static const struct perfctr_ctr_control any[] = { CTR(ANY, EV_BRANCHES, USER) };
	struct thread a, b;

	driver_init(&model_default);
	thread_init(&a, CLAIM(any));
	thread_init(&b, a.config);
	if (!_i)
		unclaim(a.config);
	cpu_goes(1);
	model_stuck[1] = BIT(3);
	cpu_comes(1);
	/* What others have used already does not change. */
	ck_assert_uint_eq(counters_told(), ALL);
	ck_assert(perfctr_cpu_is_forbidden(1));
	if (!_i) {
		thread_init(&a, CLAIM(any));
		thread_init(&b, a.config);
	}
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
	thread_run(&a, 0, 1000);
	ck_assert_int_eq(a.error, 0);
	thread_expect_exact(&a);
	thread_run(&b, 1, 1000);
	ck_assert_int_eq(b.error, -EIO);
	/* Mended, and here again */
	cpu_goes(1);
	model_stuck[1] = 0;
	cpu_comes(1);
	ck_assert(!perfctr_cpu_is_forbidden(1));
	thread_run(&a, 1, 1000);
	ck_assert_int_eq(a.error, 0);
	thread_expect_exact(&a);
	unclaim(a.config);
}
END_TEST

/* What the registers held is there again, with the global control of before. */
START_TEST(registers_are_put_back)
{
	struct model_ownership before;
	unsigned int i;

	model_boot(&model_v5);
	model_set_msr(0, MSR_CORE_PERF_GLOBAL_CTRL, 0x700000005);
	model_set_msr(0, 0x186, 0x4000c0);
	for (i = 0; i < 8; i++)
		model_set_value(0, i, 0x800000000000 + i);
	for (i = 0; i < 3; i++)
		model_set_value(0, FIXED(i), 0x123456789abc + i);
	model_ownership(&before);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	cpu_online(0);
	model_expect_ownership(&before);
	ck_assert_uint_gt(model_all_writes(), 0);
	for (i = 0; i < 8; i++)
		ck_assert_uint_eq(model_value(0, i), 0x800000000000 + i);
	for (i = 0; i < 3; i++)
		ck_assert_uint_eq(model_value(0, FIXED(i)), 0x123456789abc + i);
}
END_TEST

/* A value that cannot be written is zero afterwards. */
START_TEST(values_that_cannot_be_put_back)
{
	static const struct {
		u64 before, after;
	} values[] = {
		{ 0x7fffffff, 0x7fffffff }, { 0xffff80000000, 0xffff80000000 },
		{ 0x80000000, 0 }, { 0x100000000, 0 }, { 0xffff7fffffff, 0 },
	};

	model_boot(&model_default);
	model_set_value(0, 2, values[_i].before);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	cpu_online(0);
	ck_assert_uint_eq(model_value(0, 2), values[_i].after);
}
END_TEST

/* Firmware counts: its counters are not touched, neither by the trial. */
START_TEST(firmware_is_left_alone)
{
	model_boot(&model_default);
	model_set_msr(0, 0x186, 0x4300c0);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	model_calls_reset();
	cpu_online(0);
	ck_assert_uint_eq(model_all_writes(), 0);
	ck_assert_uint_eq(model_msr(0, 0x186), 0x4300c0);
}
END_TEST

void test_trial(void)
{
	unit_begin("x86_trial");
	UNIT_ROWS(all_are_good, machines);
	UNIT_ROWS(bad_ones_are_not_used, bad_rows);
	unit_run(each_block_of_a_pentium_4, 3 * 18);
	UNIT_RUN(not_wanted);
	unit_run(filtered_event, 3);
	UNIT_ROWS(disturbed, disturbed_rows);
	UNIT_RUN(always_disturbed);
	UNIT_RUN(tried_late);
	unit_run(bad_cpu_comes, 2);
	UNIT_RUN(registers_are_put_back);
	unit_run(values_that_cannot_be_put_back, 5);
	UNIT_RUN(firmware_is_left_alone);
}
