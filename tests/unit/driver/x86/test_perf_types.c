// SPDX-License-Identifier: GPL-2.0
/* Counters through perf on processors whose CPUs are of two types */
#include "shared_kit.h"
#include "tests.h"
#include "x86/model_files.h"
#include "config/config.h"

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

void test_perf_types(void)
{
	UNIT_ROWS(translation_on_a_hybrid_processor, of_all_types);
	UNIT_ROWS(cpus_of_two_types, types);
	UNIT_RUN(the_only_counter_of_the_other_type);
	UNIT_RUN(half_of_the_fewest);
	UNIT_RUN(another_type_comes);
}
