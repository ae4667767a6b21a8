// SPDX-License-Identifier: GPL-2.0
/*
 * perf.c: counters through perf on x86. Either perf has all counters or we have; they are read by
 * RDPMC, while NMIs may come.
 */
#include "shared_kit.h"
#include "tests.h"
#include "x86/model_files.h"
#include "config/config.h"

#define ALL	3u

static const struct perfctr_ctr_control two[] = {
	CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER),
};
static const struct perfctr_ctr_control i_mode[] = { ICTR(ANY, EV_ITLB, USER, 100) };

/* --- events --- */

#define INTEL	X86_VENDOR_INTEL
#define AMD	X86_VENDOR_AMD
#define HYGON	X86_VENDOR_HYGON

#define SEL(v, e, f, err, config)	{ v, err, CTR(ANY, e, f), config, 0 }

static const struct {
	u32 vendor;
	int err;
	struct perfctr_ctr_control ctr;
	u64 config, config1;
} events[] = {
	SEL(INTEL, EV_INSTRUCTIONS, USER, 0, EV_INSTRUCTIONS),
	SEL(INTEL, 0xffff, KERNEL, 0, 0xffff),
	SEL(INTEL, 0xc0 | SEL_EDGE | SEL_INV | SEL_CMASK(0xff), USER, 0,
	    0xc0 | SEL_EDGE | SEL_INV | SEL_CMASK(0xff)),
	/* A whole event select says what the flags say; whether it enables is perf's matter. */
	SEL(INTEL, 0xc0 | SEL_USR | SEL_EN, USER, 0, 0xc0),
	SEL(INTEL, 0xc0 | SEL_USR, USER, 0, 0xc0),
	SEL(INTEL, 0xc0 | SEL_OS | SEL_EN, KERNEL, 0, 0xc0),
	SEL(INTEL, 0xc0 | SEL_USR | SEL_OS | SEL_EN, BOTH, 0, 0xc0),
	SEL(INTEL, 0xc0 | SEL_USR | SEL_EN, BOTH, -EINVAL, 0),
	SEL(INTEL, 0xc0 | SEL_USR | SEL_OS, USER, -EINVAL, 0),
	SEL(INTEL, 0xc0 | SEL_OS, USER, -EINVAL, 0),
	SEL(INTEL, 0xc0 | SEL_EN, USER, -EINVAL, 0),
	SEL(INTEL, 0xc0 | SEL_USR | SEL_INT | SEL_EN, USER, -EINVAL, 0),
	SEL(INTEL, 0xc0 | SEL_PC, USER, -EINVAL, 0),
	SEL(INTEL, 0xc0 | SEL_ANY, USER, -EINVAL, 0),
	SEL(INTEL, 0xc0 | BIT(32), USER, -EINVAL, 0),
	SEL(INTEL, 0xc0 | BIT(37), USER, -EINVAL, 0),
	SEL(INTEL, 0xc0 | BIT_ULL(63), USER, -EINVAL, 0),
	SEL(AMD, 0xc0 | BIT(32), USER, 0, 0xc0 | BIT(32)),
	SEL(AMD, 0xf000000c0, USER, 0, 0xf000000c0),
	SEL(AMD, 0x10000000c0, USER, -EINVAL, 0),
	SEL(AMD, 0xc0 | BIT(40), USER, -EINVAL, 0),
	SEL(HYGON, 0xc0 | BIT(35), KERNEL, 0, 0xc0 | BIT(35)),
	SEL(X86_VENDOR_CENTAUR, 0xc0 | BIT(35), KERNEL, -EINVAL, 0),
	/* Fixed counters, which perf chooses itself: one has an event of perf's own. */
	{ INTEL, 0, CTR(FIXED(0), EV_INSTRUCTIONS, USER), EV_INSTRUCTIONS, 0 },
	{ INTEL, 0, CTR(FIXED(1), EV_CYCLES, USER), EV_CYCLES, 0 },
	{ INTEL, 0, CTR(FIXED(2), EV_REFERENCE_CYCLES, USER), 0x300, 0 },
	{ INTEL, 0, CTR(FIXED(2), EV_REFERENCE_CYCLES | SEL_USR | SEL_EN, USER), 0x300, 0 },
	{ INTEL, -EINVAL, CTR(FIXED(2), EV_REFERENCE_CYCLES | SEL_OS | SEL_EN, USER), 0, 0 },
	{ INTEL, 0, CTR(ANY, EV_REFERENCE_CYCLES, USER), EV_REFERENCE_CYCLES, 0 },
	{ INTEL, 0, CTR(3, EV_REFERENCE_CYCLES, USER), EV_REFERENCE_CYCLES, 0 },
	/* A register of its own */
	{ INTEL, 0, { .map = ANY, .event = EV_OFFCORE_0, .config = 0x1234, .flags = USER },
	  EV_OFFCORE_0, 0x1234 },
};

START_TEST(translation)
{
	struct model_machine machine = model_v3;
	struct perfctr_shared_attr attr = {};

	machine.vendor = (u8)events[_i].vendor;
	model_boot(&machine);
	ck_assert_int_eq(perfctr_cpu_shared_attr(&events[_i].ctr, &attr), events[_i].err);
	if (events[_i].err)
		return;
	ck_assert_uint_eq(attr.type, PERF_TYPE_RAW);
	ck_assert_uint_eq(attr.config, events[_i].config);
	ck_assert_uint_eq(attr.config1, events[_i].config1);
	ck_assert_uint_eq(attr.config2, 0);
}
END_TEST

/* Zen's event FFFh changes what the counter before it counts, whoever has that. */
START_TEST(merge_is_refused)
{
	static const struct {
		const struct model_machine *machine;
		u64 event;
		bool merges;
	} rows[] = {
		{ &model_zen, 0xf000000ff, true }, { &model_zen4, 0xf000003ff, true },
		{ &model_zen, 0xf000000fe, false }, { &model_zen, 0x7000000ff, false },
		{ &model_15h, 0xf000000ff, false },
	};
	struct perfctr_shared_attr attr = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct perfctr_ctr_control ctr = CTR(ANY, rows[i].event, USER);

		model_boot(rows[i].machine);
		ck_assert_int_eq(perfctr_cpu_shared_attr(&ctr, &attr), rows[i].merges ? -EINVAL : 0);
		attr.type = PERF_TYPE_RAW;
		attr.config = rows[i].event;
		ck_assert(perfctr_cpu_shared_needs_privilege(&attr) == rows[i].merges);
	}
}
END_TEST

/* A fixed counter that is named with another event than its own: perf chooses another. */
START_TEST(the_event_decides)
{
	static const struct perfctr_ctr_control odd[] = {
		CTR(FIXED(2), EV_INSTRUCTIONS, USER), CTR(FIXED(0), EV_CYCLES, USER),
	};
	struct perfctr_config *config;

	shared_begin(&model_default);
	config = GET(odd, SHARED);
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

/* All fixed counters, and general ones, by RDPMC; perf's registers have one width for all. */
START_TEST(all_machines)
{
	static const struct perfctr_ctr_control all[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_CYCLES, BOTH),
		CTR(FIXED(2), EV_REFERENCE_CYCLES, KERNEL), CTR(ANY, EV_BRANCHES, USER),
		CTR(ANY, EV_ITLB, BOTH),
	};
	const struct model_machine *machine = machines[_i];
	struct perfctr_config *config;

	/* The P6's one enable bit is not what the modelled PMU is about. */
	if (!machine->version)
		return;
	shared_begin(machine);
	config = shared_get(machine->nr_fixed ? all : all + 3, 2 + 3 * !!machine->nr_fixed,
			    SHARED);
	ck_assert(!config->call);
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

static const struct {
	struct perfctr_ctr_control ctr;
	int err;
	u32 index;
} extras[] = {
	{ { .event = EV_OFFCORE_0, .config = 1 }, 0, 0 },
	{ { .event = EV_OFFCORE_1, .config = 2 }, 0, 0 },
	{ { .event = EV_OFFCORE_0, .config = BIT(14) }, -EINVAL, 0 },	/* not in the register */
	{ { .event = EV_ITLB, .config = 1 }, -EINVAL, 0 },		/* no register */
	/* None of its bits set, it counts nothing. */
	{ { .event = EV_OFFCORE_0, .config = 0 }, -EINVAL, 0 },
	/* Precise sampling alone counts it. */
	{ { .event = 0x01cd, .config = 0 }, -EOPNOTSUPP, 0 },
};

/* perf ignores a value for an event without a register; we do not. */
START_TEST(events_with_registers)
{
	struct perfctr_ctr_control ctr = extras[_i].ctr;
	struct perfctr_config *config;

	ctr.map = ANY;
	ctr.flags = USER;
	shared_begin(&model_v4);
	if (extras[_i].err) {
		expect_refused(&ctr, 1, SHARED, extras[_i].err, 0, NOBODY, NO_REASON);
		expect_refused(&ctr, 1, ANY_SOURCE, extras[_i].err, 0, NOBODY, NO_REASON);
	} else {
		config = shared_get(&ctr, 1, SHARED);
		ck_assert_uint_eq(event_of(config, 0, 1)->hw.extra_reg.config, ctr.config);
		expect_counts(config, ALL);
		shared_put(config);
	}
	shared_end();
}
END_TEST

/* Without the register it would be another's value that the event counts by. */
START_TEST(events_without_their_registers)
{
	static const struct perfctr_ctr_control offcore[] = {
		{ .map = ANY, .event = EV_OFFCORE_0, .flags = USER },
	};
	/* The latency of loads has a register, of which precise sampling makes use. */
	const struct perf_event latency = {
		.attr.config1 = 3,
		.hw = { .config = 0x01cd, .extra_reg = { 3, MSR_PEBS_LD_LAT_THRESHOLD } },
	};
	struct model_machine machine = model_v4;
	u32 reason = 0;

	machine.extras[0] = 0;
	shared_begin(&machine);
	ck_assert_int_eq(perfctr_cpu_shared_judge(&latency, &reason), -EOPNOTSUPP);
	expect_refused(offcore, 1, SHARED, -EOPNOTSUPP, 0, NOBODY, NO_REASON);
	expect_refused(offcore, 1, ANY_SOURCE, -EOPNOTSUPP, 0, NOBODY, NO_REASON);
	shared_end();
}
END_TEST

/* --- what counts nothing --- */

static const struct {
	u64 event;
	u32 generic;	/* perf's own name for it */
} architectural[] = {
	{ EV_CYCLES, PERF_COUNT_HW_CPU_CYCLES },
	{ EV_INSTRUCTIONS, PERF_COUNT_HW_INSTRUCTIONS },
	{ EV_REFERENCE_CYCLES, PERF_COUNT_HW_BUS_CYCLES },
	{ EV_LLC_REFERENCES, PERF_COUNT_HW_CACHE_REFERENCES },
	{ EV_LLC_MISSES, PERF_COUNT_HW_CACHE_MISSES },
	{ EV_BRANCHES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ EV_MISPREDICTIONS, PERF_COUNT_HW_BRANCH_MISSES },
};

static void expect_tried_out(const struct perfctr_ctr_control *ctr)
{
	expect_refused(ctr, 1, SHARED, -EINVAL, 0, NOBODY, PERFCTR_REASON_TRIAL);
	expect_refused(ctr, 1, ANY_SOURCE, -EINVAL, 0, NOBODY, PERFCTR_REASON_TRIAL);
}

/* CPUID's word; on Nehalem that mispredicted branches are counted wrong. perf takes raw events. */
START_TEST(events_that_the_processor_lacks)
{
	const u64 event = architectural[_i].event;
	const struct perfctr_ctr_control raw[] = { CTR(ANY, event, USER) };
	const struct perfctr_ctr_control edge[] = {
		CTR(ANY, event | SEL_EDGE | SEL_CMASK(1), USER),
	};
	const struct perfctr_ctr_control perfs[] = { CTR_PERF(PERF_TYPE_RAW, event, USER) };
	const struct perfctr_ctr_control none = CTR(ANY, event, USER);
	struct model_machine machine = model_v4;

	machine.lacks = BIT(_i);
	shared_begin(&machine);
	expect_tried_out(raw);
	expect_tried_out(edge);
	expect_refused(perfs, 1, ANY_SOURCE, -EINVAL, 0, NOBODY, PERFCTR_REASON_TRIAL);
	expect_refused(&none, 1, NATIVE, -EINVAL, 0, NOBODY, PERFCTR_REASON_TRIAL);
	shared_put(GET(((const struct perfctr_ctr_control[]){ CTR(ANY, EV_ITLB, USER) }), SHARED));
	shared_end();
	machine.told = (unsigned int)_i;
	machine.lacks = 0;
	shared_begin(&machine);
	expect_tried_out(raw);
	shared_end();
}
END_TEST

/* A guest of Xen's whose registers are perf's alone: what the family's events cause is known all the same. */
START_TEST(filtered_without_a_native_driver)
{
	static const struct perfctr_ctr_control filtered[] = { CTR(ANY, EV_BRANCHES, USER) };
	static const struct perfctr_ctr_control other[] = { CTR(ANY, EV_INSTRUCTIONS, USER) };
	struct model_machine machine = model_v4;

	machine.xenpv = true;
	model_filtered = EV_BRANCHES;
	shared_begin(&machine);
	expect_refused(filtered, 1, SHARED, -EINVAL, 0, NOBODY, PERFCTR_REASON_TRIAL);
	shared_put(GET(other, SHARED));
	shared_end();
}
END_TEST

/* A hypervisor's filter, of which the native driver knows as it has tried */
static const struct {
	const struct model_machine *machine;
	u32 filtered;
	u32 stuck;
	bool all;	/* no counter is left */
} filters[] = {
	{ &model_v4, EV_INSTRUCTIONS, BIT(FIXED(0)), false },
	{ &model_v4, EV_BRANCHES, 0, false },
	{ &model_v1, EV_INSTRUCTIONS, 0, false },
	{ &model_v4, EV_INSTRUCTIONS, 0xf | 7u << FIXED(0), true },
	{ &model_zen, 0xc0, 0, false },
	{ &model_zen4, 0xc2, 0, false },
};

/* By either name, of one mode or both: @_i / 2; perf had the counters as the module was loaded: & 1 */
START_TEST(filtered_events)
{
	const struct model_machine *machine = filters[_i / 2].machine;
	const struct perfctr_ctr_control raw[] = { CTR(ANY, filters[_i / 2].filtered, USER) };
	const struct perfctr_ctr_control both[] = { CTR(ANY, filters[_i / 2].filtered, BOTH) };
	const struct perfctr_ctr_control other[] = {
		CTR(ANY, machine->vendor == X86_VENDOR_INTEL ? EV_CYCLES : EV_ITLB, USER),
	};
	bool all = filters[_i / 2].all;

	model_filtered = filters[_i / 2].filtered;
	model_stuck[1] = filters[_i / 2].stuck;
	shared_untried = _i & 1;
	shared_begin(machine);
	expect_refused(raw, 1, SHARED, -EINVAL, 0, NOBODY, PERFCTR_REASON_TRIAL);
	/* It is known by now. */
	model_perf_asked = 0;
	expect_refused(both, 1, SHARED, -EINVAL, 0, NOBODY, PERFCTR_REASON_TRIAL);
	ck_assert_uint_le(model_perf_asked, 2);
	if (all)
		expect_refused(other, 1, SHARED, -EINVAL, 0, NOBODY, PERFCTR_REASON_TRIAL);
	else
		shared_put(GET(other, SHARED));
	shared_end();
}
END_TEST

/* The filter is of general counters alone: the fixed one counts, and is had by one event. */
START_TEST(filtered_on_general_counters)
{
	static const struct perfctr_ctr_control fixed[] = { CTR(ANY, EV_INSTRUCTIONS, USER) };
	static const struct perfctr_ctr_control both[] = { CTR(ANY, EV_INSTRUCTIONS, BOTH) };
	struct perfctr_config *config;

	model_filtered = EV_INSTRUCTIONS;
	shared_untried = true;
	shared_begin(&model_v4);
	config = GET(fixed, SHARED);
	expect_refused(both, 1, SHARED, -EINVAL, 0, NOBODY, PERFCTR_REASON_TRIAL);
	ck_assert_int_eq(event_of(config, 0, 0)->hw.idx, 32);
	ck_assert_int_eq(event_of(config, 0, 1)->hw.idx, 32);
	shared_put(config);
	shared_end();
}
END_TEST

/* A CPU that comes with a filter: who counts elsewhere is lost there. NMIs are forgiven. */
START_TEST(filtered_on_a_cpu_that_comes)
{
	static const struct perfctr_ctr_control branches[] = { CTR(ANY, EV_BRANCHES, USER) };
	struct perfctr_config *config;
	struct thread thread;

	shared_untried = true;
	shared_begin(&model_v4);
	model_disturbs = BIT(1) | BIT(2);
	config = GET(branches, SHARED);
	ck_assert_uint_eq(model_disturbs, 0);
	shim_cpu_down(1);
	model_filtered = EV_BRANCHES;
	shim_cpu_up(1);
	thread_init(&thread, config);
	thread_in(&thread, 1);
	ck_assert_int_eq(thread.error, -EIO);
	thread_out(&thread);
	shim_cpu_down(1);
	model_filtered = ~0u;
	shim_cpu_up(1);
	expect_counts(config, 2);
	shared_put(config);
	shared_end();
}
END_TEST

/* Root may say that nothing is tried: the count is what perf has. */
START_TEST(no_trial_is_wanted)
{
	static const struct perfctr_ctr_control branches[] = { CTR(ANY, EV_BRANCHES, USER) };

	model_filtered = EV_BRANCHES;
	shim_set_param("trial", 0);
	shared_begin(&model_v4);
	shared_put(GET(branches, SHARED));
	ck_assert_uint_eq(model_perf_asked, 2);
	shared_end();
}
END_TEST

/* The register has one value at a time. */
START_TEST(one_value_of_a_register)
{
	static const struct perfctr_ctr_control ctr[] = {
		{ .map = ANY, .event = EV_OFFCORE_0, .config = 1, .flags = USER },
		{ .map = ANY, .event = EV_OFFCORE_0, .config = 2, .flags = USER },
	};
	struct perfctr_config *config;

	shared_begin(&model_v4);
	config = shared_get(ctr, 1, SHARED);
	expect_refused(ctr + 1, 1, SHARED, -EBUSY, 0, PERFCTR_OWNER_PERFCTR, PERFCTR_REASON_ROOM);
	expect_counts(config, ALL);
	shared_put(config);
	shared_put(shared_get(ctr + 1, 1, SHARED));
	shared_end();
}
END_TEST

/* --- privilege --- */

static const struct {
	struct perfctr_ctr_control ctr;
	bool needs;
} privileged[] = {
	{ CTR_PERF(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, USER), false },
	{ CTR_PERF(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_ITLB |
		   PERF_COUNT_HW_CACHE_RESULT_MISS << 16, USER), false },
	{ CTR_PERF(PERF_TYPE_RAW, EV_ITLB, USER), false },
	{ CTR_PERF(PERF_TYPE_RAW, EV_ITLB | SEL_EDGE | SEL_INV | SEL_CMASK(1), USER), false },
	{ CTR_PERF(PERF_TYPE_RAW, EV_ITLB | BIT(32), USER), false },
	{ CTR_PERF(PERF_TYPE_RAW, EV_ITLB | BIT(40), USER), false },
	{ CTR_PERF(PERF_TYPE_RAW, EV_ITLB | SEL_ANY, USER), true },
	{ CTR_PERF(PERF_TYPE_RAW, EV_ITLB | SEL_PC, USER), true },
	{ CTR_PERF(PERF_TYPE_RAW, EV_ITLB | BIT(48), USER), true },
	{ CTR_PERF(PERF_TYPE_RAW, EV_ITLB | BIT(36), USER), true },
};

START_TEST(any_thread_needs_privilege)
{
	struct perfctr_ctr_control ctr[2] = { CTR(ANY, EV_ITLB, USER), privileged[_i].ctr };

	shared_begin(&model_default);
	shared_put(GET(ctr, SHARED));
	drop_privilege();
	if (privileged[_i].needs)
		expect_refused(ctr, 2, SHARED, -EACCES, 1, NOBODY, PERFCTR_REASON_KERNEL);
	else
		shared_put(GET(ctr, SHARED));
	shared_end();
}
END_TEST

#define LEVEL(paranoid, closed_above)	paranoid, closed_above

static const struct {
	const char *cpu, *core, *paranoid;
	long closed_above;
	bool no_init, init_ends, discloses;
} disclosures[] = {
	{ "0\n", NULL, LEVEL("2\n", LONG_MAX), false, false, false },
	{ "1\n", NULL, LEVEL("2\n", LONG_MAX), false, false, true },
	{ "2\n", NULL, LEVEL("2\n", LONG_MAX), false, false, true },
	/* Kernels where nobody opens perf without privilege */
	{ "1\n", NULL, LEVEL("3\n", 2), false, false, false },
	{ "1\n", NULL, LEVEL("4", 2), false, false, false },
	{ "1\n", NULL, LEVEL("2\n", 2), false, false, true },
	{ "1\n", NULL, LEVEL("-1\n", 2), false, false, true },
	{ "1\n", NULL, LEVEL("3\n", 3), false, false, true },
	{ "2\n", NULL, LEVEL("3\n", 2), false, false, true },
	/* Hybrid processors have it elsewhere. */
	{ NULL, "0\n", LEVEL("2\n", LONG_MAX), false, false, false },
	{ NULL, "1\n", LEVEL("3\n", 2), false, false, false },
	{ NULL, "2\n", LEVEL("3\n", 2), false, false, true },
	/* What cannot be read is the worst. */
	{ NULL, NULL, LEVEL("3\n", 2), false, false, true },
	{ "1\n", NULL, LEVEL(NULL, 2), false, false, true },
	{ "", NULL, LEVEL("3\n", 2), false, false, true },
	{ "no\n", NULL, LEVEL("3\n", 2), false, false, true },
	{ "1 0\n", NULL, LEVEL("3\n", 2), false, false, true },
	{ "0\n", NULL, LEVEL("3\n", 2), true, false, true },
	{ "0\n", NULL, LEVEL("3\n", 2), false, true, true },
};

START_TEST(disclosed)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	drop_privilege();
	model_rdpmc_of_cpu = disclosures[_i].cpu;
	model_rdpmc_of_core = disclosures[_i].core;
	model_paranoid = disclosures[_i].paranoid;
	model_closed_above = disclosures[_i].closed_above;
	model_no_init = disclosures[_i].no_init;
	model_init_ends = disclosures[_i].init_ends;
	if (disclosures[_i].discloses) {
		expect_refused(two, 2, SHARED, -EACCES, 0, NOBODY, PERFCTR_REASON_OPEN);
		/* Counters that the processor hides are nobody's to see. */
		model_perf_hides = ALL;
		shared_put(GET(two, SHARED));
		model_perf_hides = 0;
		expect_refused(two, 2, SHARED, -EACCES, 0, NOBODY, PERFCTR_REASON_OPEN);
		shim_set_param("shared_open", true);
	}
	config = GET(two, SHARED);
	expect_counts(config, ALL);
	shared_put(config);
	shim_set_param("shared_open", false);
	take_privilege();
	shared_put(GET(two, SHARED));
	shared_end();
}
END_TEST

/* Perf is opened to all after a claim: whoever wants the same then is refused. */
START_TEST(disclosed_since)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	drop_privilege();
	config = GET(two, SHARED);
	model_rdpmc_of_cpu = "2\n";
	expect_refused(two, 2, SHARED, -EACCES, 0, NOBODY, PERFCTR_REASON_OPEN);
	expect_refused(two, 2, ANY_SOURCE, -EACCES, 0, NOBODY, PERFCTR_REASON_OPEN);
	expect_counts(config, ALL);
	model_rdpmc_of_cpu = "0\n";
	shared_put(GET(two, SHARED));
	shared_put(config);
	shared_end();
}
END_TEST

/* Where the native driver cannot do it, and perf could with a privilege, the latter is told. */
START_TEST(privilege_is_what_lacks)
{
	static const struct perfctr_ctr_control odd[] = { CTR(15, EV_ITLB, USER) };

	shared_begin(&model_default);
	drop_privilege();
	model_rdpmc_of_cpu = "2\n";
	expect_refused(odd, 1, NATIVE, -EINVAL, 0, NOBODY, NO_REASON);
	expect_refused(odd, 1, ANY_SOURCE, -EACCES, 0, NOBODY, PERFCTR_REASON_OPEN);
	shared_end();
}
END_TEST

static const struct {
	u32 forced, asked;
	int err;
	bool shared;
} forces[] = {
	{ PERFCTR_SOURCE_NATIVE, NATIVE, 0, false },
	{ PERFCTR_SOURCE_NATIVE, ANY_SOURCE, 0, false },
	{ PERFCTR_SOURCE_NATIVE, SHARED, -EOPNOTSUPP, false },
	{ PERFCTR_SOURCE_SHARED, NATIVE, -EOPNOTSUPP, false },
	{ PERFCTR_SOURCE_SHARED, ANY_SOURCE, 0, true },
	{ PERFCTR_SOURCE_SHARED, SHARED, 0, true },
};

/* The parameter `source` */
START_TEST(forced_source)
{
	struct perfctr_kernel_info info = {};
	struct perfctr_config *config, *none;
	bool native = forces[_i].forced == PERFCTR_SOURCE_NATIVE;

	shared_begin(&model_default);
	perfctr_config_source = forces[_i].forced;
	perfctr_config_info(&info);
	ck_assert_uint_eq(info.cpu_features & (PERFCTR_FEATURE_NATIVE | PERFCTR_FEATURE_SHARED),
			  native ? PERFCTR_FEATURE_NATIVE : PERFCTR_FEATURE_SHARED);
	/* The clock has no source, and a thread may always stop. */
	none = shared_get(two, 0, forces[_i].asked);
	if (forces[_i].err) {
		expect_refused(two, 2, forces[_i].asked, forces[_i].err, NO_INDEX, NOBODY,
			       PERFCTR_REASON_SOURCE);
	} else {
		config = GET(two, forces[_i].asked);
		ck_assert_int_eq(config->shared, forces[_i].shared);
		shared_put(config);
	}
	if (!native)
		expect_refused(i_mode, 1, ANY_SOURCE, -EOPNOTSUPP, NO_INDEX, NOBODY,
			       PERFCTR_REASON_SOURCE);
	shared_put(none);
	perfctr_config_source = PERFCTR_SOURCE_ANY;
	shared_end();
}
END_TEST

/* One that is not hidden is enough. */
START_TEST(one_is_not_hidden)
{
	struct perfctr_config *hidden;

	shared_begin(&model_default);
	model_perf_hides = ALL;
	hidden = shared_get(two, 1, SHARED);
	model_perf_hides = 0;
	drop_privilege();
	model_rdpmc_of_cpu = "1\n";
	expect_refused(two, 2, SHARED, -EACCES, 1, NOBODY, PERFCTR_REASON_OPEN);
	shared_put(shared_get(two, 1, SHARED));
	shared_put(hidden);
	shared_end();
}
END_TEST

static const u32 hiding[] = { 0x1, 0x2 };

/* A CPU that does not hide is enough, whichever it is, and whenever it comes. */
START_TEST(one_cpu_does_not_hide)
{
	struct perfctr_config *config;
	struct thread thread;

	shared_begin(&model_default);
	model_perf_hides = hiding[_i];
	drop_privilege();
	model_rdpmc_of_cpu = "1\n";
	expect_refused(two, 2, SHARED, -EACCES, 0, NOBODY, PERFCTR_REASON_OPEN);
	model_perf_hides = ALL;
	shim_cpu_down(1);
	config = GET(two, SHARED);
	model_perf_hides = 0;
	shim_cpu_up(1);
	thread_init(&thread, config);
	thread_in(&thread, 1);
	ck_assert_int_eq(thread.error, -EIO);
	thread_out(&thread);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	shared_put(config);
	shared_end();
}
END_TEST

/* Root's event is visible there from then on, which whoever joins it has to know. */
START_TEST(one_cpu_shows_since)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	model_perf_hides = ALL;
	shim_cpu_down(1);
	config = GET(two, SHARED);
	model_perf_hides = 0;
	shim_cpu_up(1);
	expect_counts(config, ALL);
	drop_privilege();
	model_rdpmc_of_cpu = "1\n";
	expect_refused(two, 2, SHARED, -EACCES, 0, NOBODY, PERFCTR_REASON_OPEN);
	shared_put(config);
	shared_end();
}
END_TEST

static const struct {
	u8 vendor;
	bool core;
	u32 told;
	unsigned int nr;
} generals[] = {
	{ INTEL, false, 0, 4 }, { AMD, false, 0, 4 }, { AMD, true, 0, 6 }, { AMD, true, 12, 12 },
	{ HYGON, true, 0, 6 }, { X86_VENDOR_CENTAUR, false, 0, 2 },
};

START_TEST(general_counters)
{
	struct model_machine machine = model_v3;

	machine.vendor = generals[_i].vendor;
	machine.amd_core = generals[_i].core;
	machine.amd_ctrs = generals[_i].told;
	model_boot(&machine);
	ck_assert_uint_eq(perfctr_cpu_shared_generals(), generals[_i].nr);
}
END_TEST

/* --- reading --- */

/* What an NMI does, at the one of all places */
static struct {
	unsigned int at, now;
	unsigned int times;
	unsigned int cpu;
} nmi;

static void maybe_nmi(void)
{
	if (nmi.now++ != nmi.at)
		return;
	nmi.times++;
	model_perf_nmi(nmi.cpu);
	/* A second one, while the read is repeated */
	if (nmi.times < 2)
		nmi.at += 2;
}

static u64 read_once(struct perf_event *event)
{
	u64 count;

	local_irq_disable();
	count = perfctr_cpu_shared_read(event);
	local_irq_enable();
	return count;
}

/*
 * An NMI between any two of the accesses. After an exact overflow the counter starts from where it
 * started before, so prev_count is the same again, and the count is not.
 */
static const struct {
	const char *name;
	u64 value;	/* of the register */
	bool from_start;
} torn[] = {
	{ "no overflow", 0x900000000000, true },
	{ "exact overflow", 0, true },
	{ "overflow", 17, true },
	{ "late, exact", 0, false },
};

START_TEST(nmi_while_reading)
{
	struct perfctr_config *config;
	struct perf_event *event;
	u64 truth, start;
	unsigned int at;

	shared_begin(&model_default);
	config = shared_get(two + 1, 1, SHARED);
	for (at = 0; at < 8; at++) {
		/* Each time a new period */
		shared_put(config);
		config = shared_get(two + 1, 1, SHARED);
		event = event_of(config, 0, 0);
		shim_cpu = 0;
		start = event->hw.prev_count.value;
		if (!torn[_i].from_start)
			model_perf_nmi(0);
		model_perf_set_register(event, torn[_i].value);
		truth = model_perf_count(event);
		ck_assert_uint_gt(truth, 1000);
		nmi.at = at;
		nmi.now = 0;
		nmi.times = 0;
		nmi.cpu = 0;
		model_perf_between = maybe_nmi;
		ck_assert_msg(read_once(event) == truth, "%s, at %u", torn[_i].name, at);
		model_perf_between = NULL;
		ck_assert(nmi.times || at >= 5);
		ck_assert_uint_eq(read_once(event), truth);
		if (!torn[_i].value && at < 2)
			ck_assert_uint_eq(event->hw.prev_count.value, start);
	}
	shared_put(config);
	shared_end();
}
END_TEST

/* Which events are read by RDPMC: not those that perf's driver reads in another way */
static const struct {
	int rdpmc;
	bool good;
} inline_rows[] = {
	{ 0, true }, { 7, true }, { 1 << 30, true }, { 1 << 30 | 2, true },
	{ 1 << 30 | 3, false }, { 1 << 29, false }, { 1 << 29 | 3, false },
};

START_TEST(read_by_rdpmc)
{
	struct perf_event event = { .hw = { .event_base_rdpmc = inline_rows[_i].rdpmc } };

	driver_init(&model_default);
	ck_assert(perfctr_cpu_shared_inline(&event) == inline_rows[_i].good);
}
END_TEST

/* A vendor's counters whose width is not known, and which the native driver does not know */
START_TEST(read_by_perfs_driver)
{
	struct model_machine machine = model_default;
	struct perfctr_config *config;
	struct perfctr_kernel_info info = {};

	machine.vendor = X86_VENDOR_CENTAUR;
	shared_begin(&machine);
	perfctr_config_info(&info);
	ck_assert_uint_eq(info.nrctrs, 16);
	ck_assert(!(info.cpu_features & PERFCTR_FEATURE_NATIVE));
	expect_refused(two, 2, NATIVE, -EINVAL, 0, NOBODY, NO_REASON);
	config = GET(two, ANY_SOURCE);
	ck_assert(config->shared && config->call);
	expect_counts(config, ALL);
	shared_put(config);
	/* The error is perf's. */
	drop_privilege();
	model_rdpmc_of_cpu = "2\n";
	expect_refused(two, 2, ANY_SOURCE, -EACCES, 0, NOBODY, PERFCTR_REASON_OPEN);
	shared_end();
}
END_TEST

/* perf's driver says something else than the register: then we ask it, on all CPUs. */
START_TEST(reads_do_not_agree)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	model_perf_differs = (u32)BIT(_i);
	config = GET(two, SHARED);
	ck_assert(config->call);
	model_perf_differs = 0;
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

/* On a CPU that comes later: who counts by the event reads registers, so it cannot be had. */
START_TEST(reads_do_not_agree_later)
{
	struct perfctr_config *config;
	struct thread thread;

	shared_begin(&model_default);
	config = GET(two, SHARED);
	ck_assert(!config->call);
	shim_cpu_down(1);
	model_perf_differs = BIT(1);
	shim_cpu_up(1);
	ck_assert_uint_eq(model_perf_live, 2);
	expect_counts(config, BIT(0));
	thread_init(&thread, config);
	thread_in(&thread, 1);
	ck_assert_int_eq(thread.error, -EIO);
	thread_out(&thread);
	shared_put(config);
	shared_end();
}
END_TEST

/* --- sources: one at a time --- */

START_TEST(first_come)
{
	struct perfctr_config *config, *same;

	shared_begin(&model_default);
	config = GET(two, NATIVE);
	expect_refused(two, 2, SHARED, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_SOURCE);
	same = GET(two, ANY_SOURCE);
	ck_assert_ptr_eq(same, config);
	shared_put(same);
	shared_put(config);
	config = GET(two, SHARED);
	expect_refused(two, 2, NATIVE, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_SOURCE);
	/* i-mode counters are native ones only. */
	expect_refused(i_mode, 1, ANY_SOURCE, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_SOURCE);
	same = GET(two, ANY_SOURCE);
	ck_assert_ptr_eq(same, config);
	shared_put(same);
	shared_put(config);
	shared_end();
}
END_TEST

/* perf has counters of its own, for example the watchdog's. */
START_TEST(beside_perf)
{
	struct perfctr_config *config;
	struct perf_event *watchdog;

	shared_begin(&model_default);
	watchdog = model_perf_other(1, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true);
	expect_refused(two, 2, NATIVE, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERF, NO_REASON);
	config = GET(two, ANY_SOURCE);
	ck_assert(config->shared);
	expect_counts(config, ALL);
	/* From the second on there are claims of perfctr's. */
	expect_refused(two, 1, NATIVE, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_SOURCE);
	shared_put(config);
	/* Neither can: what the native driver can never do is told, before perf's lack of room. */
	expect_refused(general, 5, ANY_SOURCE, -EINVAL, 4, NOBODY, PERFCTR_REASON_COUNTER);
	expect_refused(i_mode, 1, ANY_SOURCE, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERF, NO_REASON);
	drop_privilege();
	model_rdpmc_of_cpu = "1\n";
	expect_refused(two, 2, ANY_SOURCE, -EACCES, 0, NOBODY, PERFCTR_REASON_OPEN);
	model_perf_release_other(watchdog);
	shared_end();
}
END_TEST

/* A config that nobody uses any more, but that is still there, is in nobody's way. */
START_TEST(an_unused_config_is_in_nobodys_way)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	perfctr_config_put(GET(two, NATIVE), true);
	config = GET(two, SHARED);
	perfctr_config_put(config, true);
	config = GET(two, ANY_SOURCE);
	ck_assert(!config->shared);
	perfctr_config_put(config, true);
	shared_put(GET(two, SHARED));
	shared_end();
}
END_TEST

static unsigned long delay;

/* @delay after the last native claim, while somebody may still read registers */
static void end_the_delay(void)
{
	shim_jiffies++;
	if (shim_waits == delay)
		shim_work(true);
}

static void permission_changes(bool ends)
{
	(void)ends;
}

static void begin_lingering(struct mm_struct *mm)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	perfctr_cpu_permit_init(permission_changes, NULL);
	config = GET(two, NATIVE);
	ck_assert_int_eq(perfctr_cpu_mm_get(mm), 0);
	ck_assert(perfctr_cpu_mm_permit(mm));
	shared_put(config);
	ck_assert(perfctr_cpu_lingers());
	ck_assert_uint_eq(shim_waits, 0);
	delay = shim_work_delay();
	shim_while_waiting = end_the_delay;
}

static void end_lingering(struct mm_struct *mm)
{
	shim_while_waiting = NULL;
	perfctr_cpu_mm_put(mm);
	shim_work(true);
	perfctr_cpu_permit_exit();
	shared_end();
}

START_TEST(waits_for_lingering_counters)
{
	static struct mm_struct mm = { .context = { .ctx_id = 1 } };
	struct perfctr_config *config;

	begin_lingering(&mm);
	config = GET(two, SHARED);
	ck_assert_uint_eq(shim_waits, HZ / 20);
	expect_counts(config, ALL);
	shared_put(config);
	end_lingering(&mm);
}
END_TEST

/* Threads whose counting another ended may come late: they are given a second. */
START_TEST(others_get_a_second)
{
	static struct mm_struct mm = { .context = { .ctx_id = 1 } };
	struct perfctr_config *config, *kept;

	begin_lingering(&mm);
	config = GET(two, NATIVE);
	kept = shared_get(two, 1, NATIVE);
	perfctr_config_put_late(config);
	shim_jiffies += HZ / 4;
	shared_put(kept);
	ck_assert_uint_eq(shim_work_delay(), HZ - HZ / 4);
	config = GET(two, NATIVE);
	shim_jiffies += HZ;
	shared_put(config);
	ck_assert_uint_eq(shim_work_delay(), HZ / 20);
	config = GET(two, NATIVE);
	perfctr_config_evict(true, (kuid_t){});
	shared_put(config);
	ck_assert_uint_eq(shim_work_delay(), HZ);
	end_lingering(&mm);
}
END_TEST

/* The firmware has taken back what it had: who comes next does not get it either. */
START_TEST(firmware_comes_back_while_they_linger)
{
	static struct mm_struct mm = { .context = { .ctx_id = 1 } };
	const u64 its_own = 0x4300c0;
	struct perfctr_config *config;

	shared_begin(&model_default);
	perfctr_cpu_permit_init(permission_changes, NULL);
	model_set_msr(0, MSR_P6_EVNTSEL0, its_own);
	config = GET(two, NATIVE);
	ck_assert_int_eq(perfctr_cpu_mm_get(&mm), 0);
	ck_assert(perfctr_cpu_mm_permit(&mm));
	model_set_msr(0, MSR_P6_EVNTSEL0, its_own);
	shared_put(config);
	ck_assert(perfctr_cpu_lingers());
	expect_refused(two, 2, NATIVE, -EBUSY, NO_INDEX, PERFCTR_OWNER_FIRMWARE, NO_REASON);
	perfctr_cpu_mm_put(&mm);
	shim_work(true);
	ck_assert_uint_eq(model_msr(0, MSR_P6_EVNTSEL0), its_own);
	perfctr_cpu_permit_exit();
	shared_end();
}
END_TEST

START_TEST(a_signal_ends_the_waiting)
{
	static struct mm_struct mm = { .context = { .ctx_id = 1 } };

	begin_lingering(&mm);
	shim_signal_after = 3;
	expect_refused(two, 2, SHARED, -ERESTARTSYS, NO_INDEX, NOBODY, NO_REASON);
	ck_assert_uint_eq(shim_waits, 4);
	shim_signal_after = -1;
	end_lingering(&mm);
}
END_TEST

/* Native could not count it, but perf can, a little later. */
START_TEST(any_source_waits_too)
{
	static struct mm_struct mm = { .context = { .ctx_id = 1 } };
	struct perfctr_config *config;

	begin_lingering(&mm);
	config = GET(((struct perfctr_ctr_control []) { CTR(15, EV_ITLB, USER) }), ANY_SOURCE);
	ck_assert(config->shared);
	ck_assert_uint_eq(shim_waits, HZ / 20);
	expect_counts(config, ALL);
	shared_put(config);
	end_lingering(&mm);
}
END_TEST

/* --- CPUs of two types --- */

#define PS	0x3u
#define ES	0xcu

#define HYBRID(nr_gp)								\
	.nr_cpus = 4, .vendor = X86_VENDOR_INTEL, .family = 6, .model = 151,	\
	.leaves = 32, .hybrid = true, .version = 5, .nr = (nr_gp), .width = 48,	\
	.nr_fixed = 3, .fixed_width = 48, .told = 7, .full_width = true

static const struct model_machine e_core = { HYBRID(6), .core = 0x20000001 };
static const struct model_machine hybrid = {
	HYBRID(8), .core = 0x40000001, .other_cpus = ES, .other = &e_core,
};

#define INSTRUCTIONS	CTR(ANY, EV_INSTRUCTIONS, USER)

static const struct {
	struct perfctr_ctr_control ctr;
	u32 type;
	u64 config;
} of_all_types[] = {
	{ INSTRUCTIONS, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ CTR(ANY, EV_INSTRUCTIONS | SEL_USR | SEL_EN, USER), PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_INSTRUCTIONS },
	{ CTR(FIXED(0), EV_INSTRUCTIONS, BOTH), PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ CTR(ANY, 0x3c, KERNEL), PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ CTR(ANY, 0x13c, USER), PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ CTR(FIXED(2), 0x13c, USER), PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ CTR(ANY, 0x300, USER), PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ CTR(ANY, 0x4f2e, USER), PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ CTR(ANY, 0x412e, USER), PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ CTR(ANY, 0xc4, USER), PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ CTR(ANY, 0xc5, USER), PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	/* These are of one type. */
	{ CTR(ANY, 0x1c0, USER), PERF_TYPE_RAW, 0x1c0 },
	{ CTR(ANY, 0xc0 | SEL_INV, USER), PERF_TYPE_RAW, 0xc0 | SEL_INV },
	{ CTR(ANY, 0xc0 | SEL_CMASK(1), USER), PERF_TYPE_RAW, 0xc0 | SEL_CMASK(1) },
	{ { .map = ANY, .event = 0xc0, .config = 1, .flags = USER }, PERF_TYPE_RAW, 0xc0 },
};

/* Architectural events are those of each CPU's PMU. */
START_TEST(translation_on_a_hybrid_processor)
{
	struct perfctr_shared_attr attr = {};

	model_boot(&hybrid);
	ck_assert_int_eq(perfctr_cpu_shared_attr(&of_all_types[_i].ctr, &attr), 0);
	ck_assert_uint_eq(attr.type, of_all_types[_i].type);
	ck_assert_uint_eq(attr.config, of_all_types[_i].config);
	ck_assert_uint_eq(attr.config1, of_all_types[_i].ctr.config);
}
END_TEST

/* Instructions, on all CPUs, on the first type, and on the other */
#define ON_ALL	CTR_PERF(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, USER)
#define ON_PS	CTR_PERF(PERF_TYPE_RAW, EV_INSTRUCTIONS, USER)
#define ON_ES	CTR_PERF(MODEL_OTHER_TYPE, EV_INSTRUCTIONS, USER)

static const struct {
	const char *name;
	struct perfctr_ctr_control ctr[2];
	u32 good_on;
	u32 index;
} types[] = {
	{ "all", { ON_ALL, ON_ALL }, PS | ES, 0 },
	{ "architectural", { INSTRUCTIONS, INSTRUCTIONS }, PS | ES, 0 },
	{ "architectural, first", { INSTRUCTIONS, ON_PS }, PS, 1 },
	{ "first", { ON_ALL, ON_PS }, PS, 1 },
	{ "other", { ON_ALL, ON_ES }, ES, 1 },
	{ "first before", { ON_PS, ON_ALL }, PS, 0 },
	{ "other before", { ON_ES, ON_ALL }, ES, 0 },
	{ "none", { ON_ES, ON_PS }, 0, 0 },
};

static const u32 bound_to[] = { 0x1, PS, 0x4, ES, 0x5, PS | ES };

/* A control must count wherever the thread may run; on other CPUs it is lost. */
START_TEST(cpus_of_two_types)
{
	static const struct perfctr_ctr_control twin[] = { INSTRUCTIONS, INSTRUCTIONS };
	struct perfctr_config *config;
	struct thread thread;
	unsigned int cpu, i;

	shared_begin(&hybrid);
	for (i = 0; i < ARRAY_SIZE(bound_to); i++) {
		shim_current.cpus_mask.bits = bound_to[i];
		if (bound_to[i] & ~types[_i].good_on) {
			u32 index = types[_i].index;

			/* None has both: it depends on the first CPU where the thread may run. */
			if (!types[_i].good_on)
				index = bound_to[i] & PS ? 0 : 1;
			expect_refused(types[_i].ctr, 2, SHARED, -EXDEV, index, NOBODY, NO_REASON);
			continue;
		}
		config = shared_get(types[_i].ctr, 2, SHARED);
		expect_counts_as(config, types[_i].good_on, twin);
		for (cpu = 0; cpu < 4; cpu++) {
			if (types[_i].good_on & BIT(cpu))
				continue;
			thread_init(&thread, config);
			thread_in(&thread, cpu);
			ck_assert_int_eq(thread.error, -EIO);
			thread_out(&thread);
		}
		shared_put(config);
	}
	shim_current.cpus_mask.bits = ~0ul;
	shared_end();
}
END_TEST

/* The only counter of its kind, of CPUs that are not the first */
START_TEST(the_only_counter_of_the_other_type)
{
	static const struct perfctr_ctr_control only[] = {
		CTR_PERF(MODEL_OTHER_TYPE, 0x300, USER),
	};

	shared_begin(&hybrid);
	shim_current.cpus_mask.bits = ES;
	drop_privilege();
	expect_refused(only, 1, SHARED, -EBUSY, 0, NOBODY, PERFCTR_REASON_ONLY);
	take_privilege();
	shared_put(GET(only, SHARED));
	shim_current.cpus_mask.bits = ~0ul;
	shared_end();
}
END_TEST

/* Half of the counters is half of what the cores with the fewest have. */
START_TEST(half_of_the_fewest)
{
	static const struct perfctr_ctr_control four[] = {
		CTR_PERF(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, USER),
		CTR_PERF(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, USER),
		CTR_PERF(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, USER),
		CTR_PERF(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, USER),
	};

	shared_begin(&hybrid);
	drop_privilege();
	expect_refused(four, 4, SHARED, -EBUSY, NO_INDEX, NOBODY, PERFCTR_REASON_HALF);
	shared_put(shared_get(four, 3, SHARED));
	shared_end();
}
END_TEST

/* A type that nobody knew when we were loaded comes with a CPU. */
START_TEST(another_type_comes)
{
	static const struct perfctr_ctr_control on_es[] = { ON_ES };
	static const struct perfctr_ctr_control twin[] = { INSTRUCTIONS };
	struct perfctr_config *config;

	model_boot(&hybrid);
	shared_begin(&hybrid);
	shim_cpu_down(2);
	shim_cpu_down(3);
	perfctr_config_exit();
	ck_assert_int_eq(perfctr_config_init(), 0);
	shim_cpu_up(2);
	shim_current.cpus_mask.bits = BIT(2);
	config = GET(on_es, SHARED);
	expect_counts_as(config, BIT(2), twin);
	shared_put(config);
	shim_cpu_up(3);
	shim_current.cpus_mask.bits = ~0ul;
	shared_end();
}
END_TEST

void test_perf(void)
{
	unit_begin("x86_perf");
	UNIT_ROWS(translation, events);
	UNIT_RUN(merge_is_refused);
	UNIT_ROWS(translation_on_a_hybrid_processor, of_all_types);
	UNIT_RUN(the_event_decides);
	unit_run(all_machines, NR_MACHINES);
	UNIT_ROWS(events_with_registers, extras);
	UNIT_RUN(events_without_their_registers);
	UNIT_ROWS(events_that_the_processor_lacks, architectural);
	unit_run(filtered_events, 2 * (int)ARRAY_SIZE(filters));
	UNIT_RUN(filtered_on_general_counters);
	UNIT_RUN(filtered_on_a_cpu_that_comes);
	UNIT_RUN(no_trial_is_wanted);
	UNIT_RUN(filtered_without_a_native_driver);
	UNIT_RUN(one_value_of_a_register);
	UNIT_ROWS(any_thread_needs_privilege, privileged);
	UNIT_ROWS(disclosed, disclosures);
	UNIT_RUN(disclosed_since);
	UNIT_RUN(privilege_is_what_lacks);
	UNIT_ROWS(forced_source, forces);
	UNIT_RUN(one_is_not_hidden);
	UNIT_ROWS(one_cpu_does_not_hide, hiding);
	UNIT_RUN(one_cpu_shows_since);
	UNIT_ROWS(general_counters, generals);
	UNIT_ROWS(nmi_while_reading, torn);
	UNIT_ROWS(read_by_rdpmc, inline_rows);
	UNIT_RUN(read_by_perfs_driver);
	unit_run(reads_do_not_agree, 2);
	UNIT_RUN(reads_do_not_agree_later);
	UNIT_RUN(first_come);
	UNIT_RUN(beside_perf);
	UNIT_RUN(an_unused_config_is_in_nobodys_way);
	UNIT_RUN(waits_for_lingering_counters);
	UNIT_RUN(others_get_a_second);
	UNIT_RUN(firmware_comes_back_while_they_linger);
	UNIT_RUN(a_signal_ends_the_waiting);
	UNIT_RUN(any_source_waits_too);
	UNIT_ROWS(cpus_of_two_types, types);
	UNIT_RUN(the_only_counter_of_the_other_type);
	UNIT_RUN(half_of_the_fewest);
	UNIT_RUN(another_type_comes);
}
