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

void test_perf(void)
{
	unit_begin("x86_perf");
	UNIT_ROWS(translation, events);
	UNIT_RUN(merge_is_refused);
	test_perf_types();
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
	test_perf_live();
}
