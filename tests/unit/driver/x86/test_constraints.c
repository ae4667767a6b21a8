// SPDX-License-Identifier: GPL-2.0
/*
 * What differs from one model of Intel's to the next: events that only some counters count, errata,
 * and models that are not known. That the tables are right linux/compare.c says.
 */
#include "shared_kit.h"
#include "tests.h"
#include "arch/user.h"
#include "switch/run.h"

#define NOBODY_REFUSED	0xff

/* Models, by number, and a machine that has as many counters */
#define CORE		&model_v1, 14
#define CORE2		&model_v2, 15
#define NEHALEM		&model_v3, 26
#define WESTMERE	&model_v3, 37
#define SANDY_BRIDGE	&model_default, 42
#define IVY_BRIDGE	&model_default, 58
#define HASWELL		&model_default, 60
#define BROADWELL	&model_default, 61
#define SKYLAKE		&model_v4, 94
#define ICE_LAKE	&model_v5, 126
#define SAPPHIRE_RAPIDS	&model_v5, 143
#define GRACEMONT	&model_v5, 190
#define KNIGHTS_LANDING	&model_v3, 87
#define UNKNOWN		&model_v5, 200

static void init(const struct model_machine *machine, u8 number, bool siblings)
{
	struct model_machine own = *machine;

	own.model = number;
	own.siblings = siblings;
	driver_init(&own);
}

static const struct {
	const char *name;
	const struct model_machine *machine;
	u32 model;
	unsigned int nr;
	struct perfctr_ctr_control ctr[5];
	u8 hw[5];
	u8 refused;		/* then EINVAL: that one could have */
	u32 possible;
} controls[] = {
	{ "FP_COMP_INSTR_RET, DIV", CORE, 2, { CTR(ANY, 0x13, USER), CTR(ANY, 0xc1, USER) },
	  { 1, 0 }, NOBODY_REFUSED, 0 },
	{ "two of counter 1", CORE, 2, { CTR(ANY, 0x13, USER), CTR(ANY, 0x19, USER) }, {}, 1, 2 },
	{ "MEM_LOAD_RETIRED", CORE2, 2, { CTR(ANY, EV_BRANCHES, USER), CTR(ANY, 0x02cb, USER) },
	  { 1, 0 }, NOBODY_REFUSED, 0 },
	{ "and ITLB_MISS_RETIRED", CORE2, 2, { CTR(ANY, 0xc9, USER), CTR(ANY, 0x02cb, USER) }, {},
	  1, 1 },
	{ "MEM_LOAD_RETIRED on 1", CORE2, 1, { CTR(1, 0x02cb, USER) }, {}, 0, 1 },
	{ "L1D", NEHALEM, 3, { CTR(ANY, 0x0151, USER), CTR(ANY, 0x0141, USER),
			       CTR(ANY, EV_BRANCHES, USER) },
	  { 0, 1, 2 }, NOBODY_REFUSED, 0 },
	{ "L1D thrice", NEHALEM, 3, { CTR(ANY, 0x0151, USER), CTR(ANY, 0x0141, USER),
				      CTR(ANY, 0x024e, USER) }, {}, 2, 3 },
	{ "OFFCORE_REQUESTS_OUTSTANDING", WESTMERE, 1, { CTR(3, 0x0160, USER) }, {}, 0, 1 },
	{ "which Nehalem does not have there", NEHALEM, 1, { CTR(3, 0x0160, USER) }, { 3 },
	  NOBODY_REFUSED, 0 },
	{ "L1D_PEND_MISS", SANDY_BRIDGE, 3, { CTR(ANY, EV_BRANCHES, USER),
			CTR(ANY, EV_MISPREDICTIONS, USER), CTR(ANY, 0x0148, USER) },
	  { 0, 1, 2 }, NOBODY_REFUSED, 0 },
	{ "L1D_PEND_MISS on 0", SANDY_BRIDGE, 1, { CTR(0, 0x0148, USER) }, {}, 0, 4 },
	{ "with an edge", SANDY_BRIDGE, 1, { CTR(ANY, 0x0148 | SEL_EDGE | SEL_CMASK(1), USER) },
	  { 2 }, NOBODY_REFUSED, 0 },
	{ "as a whole", SANDY_BRIDGE, 1, { CTR(ANY, 0x0148 | SEL_USR | SEL_EN, USER) }, { 2 },
	  NOBODY_REFUSED, 0 },
	{ "with a period", SANDY_BRIDGE, 1, { ICTR(ANY, 0x0148, USER, 1000) }, { 2 },
	  NOBODY_REFUSED, 0 },
	{ "whose counter is named by another", SANDY_BRIDGE, 2, { CTR(ANY, 0x0148, USER),
			CTR(2, EV_BRANCHES, USER) }, {}, 1, 0xf },
	{ "INST_RETIRED.PREC_DIST", SANDY_BRIDGE, 2, { CTR(ANY, EV_BRANCHES, USER),
			CTR(ANY, 0x01c0, USER) }, { 0, 1 }, NOBODY_REFUSED, 0 },
	{ "CYCLE_ACTIVITY", SANDY_BRIDGE, 2, { CTR(ANY, 0x02a3, USER), CTR(ANY, 0x06a3, USER) },
	  {}, 1, 4 },
	{ "MEM_UOPS_RETIRED without siblings", SANDY_BRIDGE, 1, { CTR(ANY, 0x81d0, USER) }, { 0 },
	  NOBODY_REFUSED, 0 },
	{ "one unit mask", IVY_BRIDGE, 2, { CTR(ANY, 0x0248, USER), CTR(ANY, 0x0148, USER) },
	  { 0, 2 }, NOBODY_REFUSED, 0 },
	{ "CYCLE_ACTIVITY", HASWELL, 2, { CTR(ANY, 0x08a3, USER), CTR(ANY, 0x04a3, USER) },
	  { 2, 0 }, NOBODY_REFUSED, 0 },
	{ "a bit of the unit mask", BROADWELL, 2, { CTR(ANY, 0x0ca3, USER), CTR(ANY, 0x04a3, USER) },
	  { 2, 0 }, NOBODY_REFUSED, 0 },
	{ "INST_RETIRED.PREC_DIST", SKYLAKE, 1, { CTR(ANY, 0x01c0, USER) }, { 1 },
	  NOBODY_REFUSED, 0 },
	{ "a range", ICE_LAKE, 5, { CTR(ANY, 0x0349, USER), CTR(ANY, 0x0150, USER),
			CTR(ANY, 0x0156, USER), CTR(ANY, 0x0160, USER), CTR(ANY, EV_BRANCHES, USER) },
	  { 0, 1, 2, 3, 4 }, NOBODY_REFUSED, 0 },
	{ "a range, once too often", ICE_LAKE, 5, { CTR(ANY, 0x0148, USER), CTR(ANY, 0x0150, USER),
			CTR(ANY, 0x0156, USER), CTR(ANY, 0x018b, USER), CTR(ANY, 0x01e6, USER) },
	  {}, 4, 0xf },
	{ "beyond a range", ICE_LAKE, 1, { CTR(4, 0x0157, USER) }, { 4 }, NOBODY_REFUSED, 0 },
	{ "before a range", ICE_LAKE, 1, { CTR(4, 0x0147, USER) }, { 4 }, NOBODY_REFUSED, 0 },
	{ "its first one", ICE_LAKE, 1, { CTR(4, 0x0148, USER) }, {}, 0, 0xf },
	{ "its last one", ICE_LAKE, 1, { CTR(4, 0x0156, USER) }, {}, 0, 0xf },
	{ "an exception", ICE_LAKE, 2, { CTR(7, 0x14a3, USER), CTR(6, 0x04a3, USER) }, { 7, 6 },
	  NOBODY_REFUSED, 0 },
	{ "the rule", ICE_LAKE, 1, { CTR(7, 0x06a3, USER) }, {}, 0, 0xf },
	{ "makes room for a named one", ICE_LAKE, 5, { CTR(ANY, EV_BRANCHES, USER),
			CTR(1, EV_MISPREDICTIONS, USER), CTR(2, 0x2a0, USER), CTR(3, 0x1a0, USER),
			CTR(ANY, 0x0148, USER) }, { 4, 1, 2, 3, 0 }, NOBODY_REFUSED, 0 },
	{ "TOPDOWN.BAD_SPEC_SLOTS", SAPPHIRE_RAPIDS, 2, { CTR(ANY, EV_BRANCHES, USER),
			CTR(ANY, 0x04a4, USER) }, { 1, 0 }, NOBODY_REFUSED, 0 },
	{ "most codes below 0x90", SAPPHIRE_RAPIDS, 1, { CTR(4, 0x018f, USER) }, {}, 0, 0xf },
	{ "but not cycles", SAPPHIRE_RAPIDS, 2, { CTR(7, EV_CYCLES, USER),
			CTR(6, EV_LLC_MISSES, USER) }, { 7, 6 }, NOBODY_REFUSED, 0 },
	{ "none", GRACEMONT, 2, { CTR(7, 0x018f, USER), CTR(6, 0x04a4, USER) }, { 7, 6 },
	  NOBODY_REFUSED, 0 },
	{ "none", KNIGHTS_LANDING, 1, { CTR(3, 0x0148, USER) }, { 3 }, NOBODY_REFUSED, 0 },
};

START_TEST(events_get_counters_that_count_them)
{
	const struct perfctr_ctr_control *ctr = controls[_i].ctr;
	struct perfctr_refusal why = NO_REFUSAL;
	unsigned int nr = controls[_i].nr, i;
	const char *name = controls[_i].name;
	struct perfctr_config *config;
	bool kernel = false;
	int err;

	init(controls[_i].machine, controls[_i].model, false);
	err = perfctr_cpu_check(ctr, nr, &kernel, &why);
	if (controls[_i].refused != NOBODY_REFUSED) {
		ck_assert_msg(err == -EINVAL, "%s: %d", name, err);
		ck_assert_msg(why.index == controls[_i].refused, "%s: %u", name, why.index);
		ck_assert_uint_eq(why.reason, PERFCTR_REASON_COUNTER);
		ck_assert_msg(why.possible == controls[_i].possible, "%s: %#llx", name,
			      why.possible);
		return;
	}
	ck_assert_msg(!err, "%s: %d", name, err);
	config = claim_well(ctr, nr);
	for (i = 0; i < nr; i++)
		ck_assert_msg(config->hw[i] == controls[_i].hw[i], "%s: counter %u is %u", name, i,
			      config->hw[i]);
	unclaim(config);
}
END_TEST

/* A hypervisor gives so few counters that none is left of those that could. */
START_TEST(none_is_there)
{
	static const struct perfctr_ctr_control ctr[] = { CTR(ANY, 0x0148, USER) };
	struct model_machine machine = model_default;
	struct perfctr_refusal why = NO_REFUSAL;
	bool kernel = false;

	machine.nr = 2;
	driver_init(&machine);
	ck_assert_int_eq(perfctr_cpu_check(ctr, 1, &kernel, &why), -EINVAL);
	ck_assert_uint_eq(why.reason, PERFCTR_REASON_COUNTER);
	ck_assert_uint_eq(why.possible, 0);
}
END_TEST

/* On a wrong counter the processor counts nothing. ANY leaves the others to whom it does not matter. */
START_TEST(counts_what_others_count_not)
{
	static const struct perfctr_ctr_control ctr[] = {
		CTR(ANY, EV_BRANCHES, USER), CTR(ANY, EV_MISPREDICTIONS, USER),
		CTR(ANY, EV_BRANCHES, BOTH), CTR(ANY, EV_INSTRUCTIONS, KERNEL),
		CTR(ANY, EV_BRANCHES, KERNEL), CTR(ANY, EV_DTLB_WRITE, USER),
	};
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_v5);
	model_confined = EV_DTLB_WRITE;
	model_confined_to = 0xf;
	config = CLAIM(ctr);
	ck_assert_uint_lt(config->hw[5], 4);
	thread_init(&thread, config);
	thread_run(&thread, 0, 100000);
	thread_run(&thread, 1, 100000);
	thread_expect_exact(&thread);
	unclaim(config);
}
END_TEST

static const struct {
	const char *name;
	const struct model_machine *machine;
	u8 model;
	bool siblings;
	struct perfctr_ctr_control ctr;
	int err;
	u32 reason;
} refusals[] = {
#define BAD	(-EOPNOTSUPP), PERFCTR_REASON_ERRATUM
#define FINE	0, PERFCTR_REASON_NONE
#define MODEL	(-EOPNOTSUPP), PERFCTR_REASON_MODEL
#define WRONG	(-EINVAL), PERFCTR_REASON_NONE
	{ "BJ122, d0", SANDY_BRIDGE, true, CTR(ANY, 0x81d0, USER), BAD },
	{ "BJ122, d1", SANDY_BRIDGE, true, CTR(ANY, 0x01d1, USER), BAD },
	{ "BJ122, d2", SANDY_BRIDGE, true, CTR(ANY, 0x02d2, USER), BAD },
	{ "BJ122, d3", SANDY_BRIDGE, true, CTR(ANY, 0x01d3, USER), BAD },
	{ "BJ122, named", SANDY_BRIDGE, true, CTR(0, 0x81d0, USER), BAD },
	{ "BJ122, with more", SANDY_BRIDGE, true, CTR(0, 0x81d0 | SEL_INV | SEL_CMASK(1), USER), BAD },
	{ "BJ122, with a period", SANDY_BRIDGE, true, ICTR(ANY, 0x81d0, USER, 1000), BAD },
	{ "a bad bit comes first", SANDY_BRIDGE, true, CTR(ANY, 0x81d0 | SEL_PC, USER), WRONG },
	{ "cf", SANDY_BRIDGE, true, CTR(ANY, 0x01cf, USER), FINE },
	{ "d4", SANDY_BRIDGE, true, CTR(ANY, 0x02d4, USER), FINE },
	{ "alone", SANDY_BRIDGE, false, CTR(ANY, 0x81d0, USER), FINE },
	{ "BV98", IVY_BRIDGE, true, CTR(ANY, 0x01d1, USER), BAD },
	{ "BV98, alone", IVY_BRIDGE, false, CTR(ANY, 0x01d1, USER), FINE },
	{ "HSD29", HASWELL, true, CTR(ANY, 0x01d3, USER), BAD },
	{ "HSD29, alone", HASWELL, false, CTR(ANY, 0x01d3, USER), FINE },
	{ "Broadwell is free of it", BROADWELL, true, CTR(ANY, 0x01d1, USER), FINE },
	{ "and Nehalem", NEHALEM, true, CTR(ANY, 0x01d1, USER), FINE },
	{ "HSW11", HASWELL, false, ICTR(ANY, 0x01c0, USER, 1024), BAD },
	{ "HSW11, without a period", HASWELL, false, CTR(ANY, 0x01c0, USER), FINE },
	{ "BDM11", BROADWELL, false, ICTR(ANY, 0x01c0, USER, 1024), BAD },
	{ "BDM11, another unit mask", BROADWELL, false, ICTR(ANY, 0x02c0, USER, 1024), FINE },
	{ "BDM11, instructions", BROADWELL, false, ICTR(ANY, EV_INSTRUCTIONS, USER, 1024), FINE },
	{ "Skylake is free of it", SKYLAKE, true, ICTR(ANY, 0x01c0, USER, 1024), FINE },
	{ "unknown, cycles", UNKNOWN, true, CTR(ANY, EV_CYCLES, USER), FINE },
	{ "unknown, instructions", UNKNOWN, true, CTR(7, EV_INSTRUCTIONS, USER), FINE },
	{ "unknown, reference cycles", UNKNOWN, true, CTR(ANY, EV_REFERENCE_CYCLES, USER), FINE },
	{ "unknown, these by perf's number", UNKNOWN, true, CTR(ANY, 0x300, USER), FINE },
	{ "unknown, cache references", UNKNOWN, true, CTR(ANY, EV_LLC_REFERENCES, USER), FINE },
	{ "unknown, cache misses", UNKNOWN, true, CTR(ANY, EV_LLC_MISSES, USER), FINE },
	{ "unknown, branches", UNKNOWN, true, ICTR(ANY, EV_BRANCHES, USER, 1000), FINE },
	{ "unknown, branch misses", UNKNOWN, true, CTR(ANY, EV_MISPREDICTIONS, USER), FINE },
	{ "unknown, with more", UNKNOWN, true, CTR(ANY, EV_CYCLES | SEL_EDGE | SEL_CMASK(1), USER), FINE },
	{ "unknown, another unit mask", UNKNOWN, true, CTR(ANY, 0x01c4, USER), MODEL },
	{ "unknown, another event", UNKNOWN, true, CTR(ANY, EV_ITLB, USER), MODEL },
	{ "unknown, with a period", UNKNOWN, true, ICTR(ANY, EV_ITLB, USER, 1000), MODEL },
	{ "unknown, named", UNKNOWN, true, CTR(0, EV_ITLB, USER), MODEL },
	{ "unknown, with a register", UNKNOWN, true, CTR(ANY, EV_OFFCORE_0, USER), MODEL },
	{ "unknown, no event", UNKNOWN, true, CTR(ANY, 0, USER), MODEL },
	{ "unknown, a bad bit", UNKNOWN, true, CTR(ANY, EV_ITLB | SEL_PC, USER), WRONG },
	{ "unknown, of code 0", UNKNOWN, true, CTR(ANY, 0x0200, USER), WRONG },
};

START_TEST(what_counts_wrong_is_refused)
{
	const struct perfctr_ctr_control ctr[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), refusals[_i].ctr,
	};
	struct perfctr_refusal why = NO_REFUSAL;
	struct perfctr_kernel_info info = {};
	bool kernel = false;
	int err;

	init(refusals[_i].machine, refusals[_i].model, refusals[_i].siblings);
	err = perfctr_cpu_check(ctr, 2, &kernel, &why);
	ck_assert_msg(err == refusals[_i].err, "%s: %d", refusals[_i].name, err);
	ck_assert_msg(why.reason == refusals[_i].reason, "%s: reason %u", refusals[_i].name,
		      why.reason);
	ck_assert_uint_eq(why.index, err ? 1 : PERFCTR_NO_INDEX);
	ck_assert_uint_eq(why.possible, 0);
	perfctr_cpu_info(&info);
	ck_assert_int_eq(!!(info.cpu_features & PERFCTR_FEATURE_UNKNOWN_MODEL),
			 refusals[_i].model == 200);
}
END_TEST

/* What is architectural and yet lacking is not there, known model or not. */
START_TEST(unknown_model_lacks_an_event)
{
	static const struct perfctr_ctr_control ctr[] = { CTR(ANY, EV_MISPREDICTIONS, USER) };
	struct model_machine machine = model_v5;
	struct perfctr_refusal why = NO_REFUSAL;
	bool kernel = false;

	machine.model = 200;
	machine.lacks = 0x40;
	driver_init(&machine);
	ck_assert_int_eq(perfctr_cpu_check(ctr, 1, &kernel, &why), -EINVAL);
	ck_assert_uint_eq(why.reason, PERFCTR_REASON_TRIAL);
}
END_TEST

static const struct {
	const struct model_machine *machine;
	u8 model;
	u32 reason;
} others[] = {
	{ UNKNOWN, PERFCTR_REASON_MODEL }, { SANDY_BRIDGE, PERFCTR_REASON_ERRATUM },
};

/* perf may know the model, and knows how to count in spite of an erratum: ANY goes on to it. */
START_TEST(perf_counts_what_is_refused)
{
	struct perfctr_ctr_control ctr[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER),
	};
	struct model_machine machine = *others[_i].machine;
	struct perfctr_config *config;

	if (others[_i].reason == PERFCTR_REASON_ERRATUM)
		ctr[1].event = 0x81d0;
	machine.model = others[_i].model;
	machine.siblings = true;
	shared_begin(&machine);
	expect_refused(ctr, 2, NATIVE, -EOPNOTSUPP, 1, NOBODY, others[_i].reason);
	config = GET(ctr, ANY_SOURCE);
	ck_assert(config->shared);
	shared_put(config);
	config = shared_get(ctr, 1, ANY_SOURCE);
	ck_assert(!config->shared);
	shared_put(config);
	shared_end();
}
END_TEST

static const struct {
	const struct model_machine *machine;
	u8 model;
	u32 least;
} periods[] = {
	{ &model_p6, 8, 2 }, { CORE, 2 }, { CORE2, 2 }, { NEHALEM, 32 }, { WESTMERE, 2 },
	{ SANDY_BRIDGE, 2 }, { HASWELL, 32 }, { BROADWELL, 2 }, { SKYLAKE, 2 }, { ICE_LAKE, 2 },
	{ UNKNOWN, 2 },
};

START_TEST(least_period)
{
	struct perfctr_ctr_control ctr[] = {
		CTR(ANY, EV_BRANCHES, USER), ICTR(ANY, EV_INSTRUCTIONS, USER, 1),
	};
	struct perfctr_refusal why;
	bool kernel = false;
	s64 period;
	int err;

	init(periods[_i].machine, periods[_i].model, false);
	for (period = 1; period < 200; period++) {
		why = (struct perfctr_refusal)NO_REFUSAL;
		ctr[1].ireset = -period;
		err = perfctr_cpu_check(ctr, 2, &kernel, &why);
		ck_assert_msg(err == (period < periods[_i].least ? -EINVAL : 0), "%lld: %d", period,
			      err);
		ck_assert_uint_eq(why.index, err ? 1 : PERFCTR_NO_INDEX);
		ck_assert_uint_eq(why.reason, PERFCTR_REASON_NONE);
	}
	/* The longest there is */
	ctr[1].ireset = -S64_MAX - 1;
	ck_assert_int_eq(check(ctr, 2, NULL), 0);
}
END_TEST

static const struct {
	bool force_abort, always_abort;
	u32 counters;
} transactions[] = {
	{ false, false, 0xf }, { true, false, 0x7 }, { true, true, 0xf }, { false, true, 0xf },
};

/* Counter 3 is microcode's, while transactions are executed: its registers are not touched. */
START_TEST(microcode_has_a_counter)
{
	static const struct perfctr_ctr_control four[] = {
		CTR(ANY, EV_BRANCHES, USER), CTR(ANY, EV_MISPREDICTIONS, USER),
		CTR(ANY, EV_ITLB, USER), CTR(ANY, EV_DTLB_READ, USER),
	};
	static const struct perfctr_ctr_control named[] = { CTR(3, EV_BRANCHES, USER) };
	struct model_machine machine = model_v4;
	struct perfctr_refusal why = NO_REFUSAL;
	bool all = transactions[_i].counters == 0xf, kernel = false;
	struct perfctr_config *config;
	struct perfctr_kernel_info info = {};
	struct thread thread;

	machine.tsx_force_abort = transactions[_i].force_abort;
	machine.rtm_always_abort = transactions[_i].always_abort;
	driver_init(&machine);
	model_set_msr(0, MSR_ARCH_PERFMON_EVENTSEL0 + 3, 0x4321);
	model_set_value(0, 3, 0x1234);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.counters, 0x7000000 | transactions[_i].counters);
	ck_assert_uint_eq(info.nrctrs, all ? 7 : 6);
	ck_assert_int_eq(check(named, 1, NULL), all ? 0 : -EINVAL);
	ck_assert_int_eq(perfctr_cpu_check(four, 4, &kernel, &why), all ? 0 : -EINVAL);
	if (all)
		return;
	ck_assert_uint_eq(why.index, 3);
	ck_assert_uint_eq(why.reason, PERFCTR_REASON_COUNTER);
	ck_assert_uint_eq(why.possible, 0x7);
	model_calls_reset();
	config = claim_well(four, 3);
	thread_init(&thread, config);
	thread_run(&thread, 0, 10000);
	thread_expect_exact(&thread);
	ck_assert(!(model_msr(0, MSR_CORE_PERF_GLOBAL_CTRL) & BIT(3)));
	unclaim(config);
	ck_assert_int_eq(age_all(), 0);
	perfctr_cpu_give_back(perfctr_run);
	ck_assert_uint_eq(model_msr(0, MSR_ARCH_PERFMON_EVENTSEL0 + 3), 0x4321);
	ck_assert_uint_eq(model_value(0, 3), 0x1234);
	ck_assert_uint_eq(model_writes[0][MSR_ARCH_PERFMON_EVENTSEL0 + 3], 0);
	ck_assert_uint_eq(model_writes[1][MSR_ARCH_PERFMON_EVENTSEL0 + 3], 0);
}
END_TEST

/*
 * AAK100, AAP53, BD53: the model counts cycles if counters were not reset.
 */

static const u8 resetting[] = { 26, 30, 46, 37, 44, 47 };

static unsigned int writes_of(unsigned int cpu, u32 first, unsigned int nr)
{
	unsigned int i, all = 0;

	for (i = 0; i < nr; i++)
		all += model_writes[cpu][first + i];
	return all;
}

/* Each load of another event, on each counter, begins with a reset; what is loaded needs none. */
START_TEST(counters_are_reset)
{
	static const struct perfctr_ctr_control one[] = {
		CTR(0, EV_INSTRUCTIONS, USER), CTR(2, EV_ITLB, USER),
		CTR(FIXED(0), EV_INSTRUCTIONS, USER),
	};
	static const struct perfctr_ctr_control other[] = {
		CTR(3, EV_BRANCHES, USER), CTR(2, EV_DTLB_READ, BOTH),
		CTR(1, EV_INSTRUCTIONS, USER),
	};
	static const struct perfctr_ctr_control fixed[] = { CTR(FIXED(1), EV_CYCLES, USER) };
	struct thread a, b, c;
	unsigned int i;

	init(&model_v3, resetting[_i], false);
	thread_init(&a, CLAIM(one));
	thread_init(&b, CLAIM(other));
	thread_init(&c, CLAIM(fixed));
	for (i = 0; i < 20; i++) {
		model_calls_reset();
		thread_run(&a, i % 2, 1000 + i);
		/* Event, zero, and what is counted by two of four; the values twice. */
		ck_assert_uint_eq(writes_of(i % 2, MSR_ARCH_PERFMON_EVENTSEL0, 4), 4 + 4 + 2);
		ck_assert_uint_eq(writes_of(i % 2, MSR_ARCH_PERFMON_PERFCTR0, 4), 4 + 4);
		model_calls_reset();
		thread_run(&a, i % 2, 500);
		thread_run(&c, i % 2, 500);
		thread_run(&a, i % 2, 500);
		ck_assert_uint_eq(writes_of(i % 2, MSR_ARCH_PERFMON_EVENTSEL0, 4), 0);
		thread_run(&b, i % 2, 2000 + i);
	}
	thread_expect_exact(&a);
	thread_expect_exact(&b);
	thread_expect_exact(&c);
}
END_TEST

/* Where that is not needed nothing of it happens. */
START_TEST(others_are_not_reset)
{
	static const struct perfctr_ctr_control one[] = { CTR(0, EV_INSTRUCTIONS, USER) };
	struct thread thread;

	init(SANDY_BRIDGE, false);
	thread_init(&thread, CLAIM(one));
	model_calls_reset();
	thread_run(&thread, 0, 1000);
	ck_assert_uint_eq(model_all_writes(), 1);
	thread_expect_exact(&thread);
}
END_TEST

/* The vice is there: an event select that is written without a reset counts cycles. */
START_TEST(the_model_wants_a_reset)
{
	static const u32 events[] = { 0x4300b5, 0x4300d2, 0x4300b1, 0x4300b1 };
	const u64 instructions = EV_INSTRUCTIONS | SEL_USR | SEL_EN;
	struct model_tally tally = {};
	unsigned int i, variant;

	for (variant = 0; variant < 4; variant++) {
		u32 count;

		model_boot(&model_v3);
		ck_assert(model_wrmsr(MSR_CORE_PERF_GLOBAL_CTRL, 0));
		for (i = 0; i < 4; i++) {
			ck_assert(model_wrmsr(MSR_ARCH_PERFMON_EVENTSEL0 + i,
					      events[variant == 1 ? 0 : i]));
			ck_assert(model_wrmsr(MSR_ARCH_PERFMON_PERFCTR0 + i, 0));
		}
		/* They do not run, or do not stand again, or it is one event only. */
		if (variant != 2)
			ck_assert(model_wrmsr(MSR_CORE_PERF_GLOBAL_CTRL, 0xf));
		if (variant != 3)
			ck_assert(model_wrmsr(MSR_CORE_PERF_GLOBAL_CTRL, 0));
		ck_assert(model_wrmsr(MSR_ARCH_PERFMON_EVENTSEL0, instructions));
		ck_assert(model_wrmsr(MSR_ARCH_PERFMON_PERFCTR0, 0));
		ck_assert(model_wrmsr(MSR_CORE_PERF_GLOBAL_CTRL, 1));
		tally = (struct model_tally){};
		model_witness[0] = &tally;
		model_execute(MODEL_USER, 1000);
		model_witness[0] = NULL;
		ck_assert_uint_ne(tally.nr[KIND_CYCLES][MODEL_USER],
				  tally.nr[KIND_INSTRUCTIONS][MODEL_USER]);
		count = (u32)model_value(0, 0);
		ck_assert_uint_eq(count, tally.nr[variant ? KIND_CYCLES : KIND_INSTRUCTIONS]
						 [MODEL_USER]);
	}
}
END_TEST

void test_constraints(void)
{
	unit_begin("x86_constraints");
	UNIT_ROWS(events_get_counters_that_count_them, controls);
	UNIT_RUN(none_is_there);
	UNIT_RUN(counts_what_others_count_not);
	UNIT_ROWS(what_counts_wrong_is_refused, refusals);
	UNIT_RUN(unknown_model_lacks_an_event);
	UNIT_ROWS(perf_counts_what_is_refused, others);
	UNIT_ROWS(least_period, periods);
	UNIT_ROWS(microcode_has_a_counter, transactions);
	UNIT_ROWS(counters_are_reset, resetting);
	UNIT_RUN(others_are_not_reset);
	UNIT_RUN(the_model_wants_a_reset);
}
