// SPDX-License-Identifier: GPL-2.0
/*
 * TopDown: metrics that are fractions of 8 bits of SLOTS since both were zero, as the modelled
 * processor has them, become sums in slots.
 */
#include <asm/apic.h>

#include "arch/x86/registers.h"
#include "tests.h"
#include "switch/run.h"

#define RET	PERFCTR_METRIC_RETIRING
#define BAD	PERFCTR_METRIC_BAD_SPEC
#define FE	PERFCTR_METRIC_FE_BOUND
#define BE	PERFCTR_METRIC_BE_BOUND
#define HEAVY	PERFCTR_METRIC_HEAVY_OPS
#define MEM	PERFCTR_METRIC_MEM_BOUND

#define METRIC(n, f)	CTR(ANY, EV_METRIC(n), f)

/* As a careless control has it: SLOTS in the middle, metrics in any order, others between */
static const struct perfctr_ctr_control level_1[] = {
	METRIC(BE, USER), CTR(ANY, EV_INSTRUCTIONS, USER), METRIC(RET, USER),
	CTR(ANY, EV_SLOTS, USER), METRIC(FE, USER), METRIC(BAD, USER), CTR(ANY, EV_BRANCHES, BOTH),
};

static const struct perfctr_ctr_control level_2[] = {
	CTR(ANY, EV_SLOTS, USER),
	METRIC(0, USER), METRIC(1, USER), METRIC(2, USER), METRIC(3, USER),
	METRIC(4, USER), METRIC(5, USER), METRIC(6, USER), METRIC(7, USER),
};

static const struct perfctr_ctr_control kernel_too[] = {
	CTR(ANY, EV_SLOTS, BOTH), METRIC(RET, BOTH), METRIC(BE, BOTH),
};

/* What a thread did with its slots, as the model has it */
struct truth {
	u64 slots;
	u64 part[PERFCTR_METRICS];
	s64 folds;
};

static void set_mix(unsigned int ret, unsigned int bad, unsigned int fe)
{
	const unsigned int mix[PERFCTR_METRICS] = {
		ret, bad, fe, 1000 - ret - bad - fe, ret / 3, bad / 2, fe, 7,
	};

	memcpy(model_mix, mix, sizeof(mix));
}

static void execute(struct truth *truth, u64 instructions)
{
	u64 slots = MODEL_SLOTS * (3 * instructions + 1);
	unsigned int i;

	model_execute(MODEL_USER, instructions);
	truth->slots += slots;
	for (i = 0; i < PERFCTR_METRICS; i++)
		truth->part[i] += model_part(i, slots);
}

/* One period of counting on a CPU, by a thread that is out */
static void run(struct thread *thread, unsigned int cpu, struct truth *truth, u64 instructions)
{
	thread_in(thread, cpu);
	execute(truth, instructions);
	model_execute(MODEL_KERNEL, 77);
	thread_out(thread);
	truth->folds++;
}

/* SLOTS is exact. A metric is within 1/255 of its slots and half a slot for each fold. */
static void expect(const struct thread *thread, const struct truth *truth)
{
	unsigned int i, metric;

	for (i = 0; i < thread->config->nr; i++) {
		const struct perfctr_ctr_control *ctr = &thread->config->ctr[i];
		s64 sum = (s64)thread->state.ctr[i].acc, want;

		if ((ctr->event & 0xf8ff) != EV_METRIC(0)) {
			thread_expect_sum(thread, i);
			if ((ctr->event & 0xffff) == EV_SLOTS)
				ck_assert_uint_eq(sum, truth->slots);
			continue;
		}
		metric = ctr->event >> 8 & 7;
		want = (s64)truth->part[metric];
		/* The model cuts off, so a sum is never more but for the rounding. */
		ck_assert_msg(2 * (sum - want) <= truth->folds, "metric %u: %lld of %lld",
			      metric, sum, want);
		ck_assert_msg(510 * (want - sum) <= (s64)(2 * truth->slots + 255ull * truth->folds),
			      "metric %u: %lld of %lld, slots %llu", metric, sum, want,
			      truth->slots);
	}
}

/* Exact numbers: a fraction of 8 bits, times SLOTS, to the next slot */
START_TEST(one_fold)
{
	struct truth truth = {};
	struct thread thread;

	driver_init(&model_topdown);
	set_mix(500, 100, 200);
	thread_init(&thread, CLAIM(level_1));
	/* 4 * 3004 slots: 127, 25, 51 and 51 of 255 units */
	run(&thread, 0, &truth, 1001);
	ck_assert_uint_eq(thread.state.ctr[3].acc, 12016);
	ck_assert_uint_eq(thread.state.ctr[2].acc, (127 * 12016 + 127) / 255);
	ck_assert_uint_eq(thread.state.ctr[5].acc, (25 * 12016 + 127) / 255);
	ck_assert_uint_eq(thread.state.ctr[4].acc, (50 * 12016 + 127) / 255);
	ck_assert_uint_eq(thread.state.ctr[0].acc, (51 * 12016 + 127) / 255);
	/* Others beside them */
	ck_assert_uint_eq(thread.state.ctr[1].acc, 1001);
	ck_assert_uint_eq(thread.state.ctr[6].acc, 200 + 15);
}
END_TEST

static const struct {
	const struct model_machine *machine;
	const struct perfctr_ctr_control *ctr;
	unsigned int nr;
} controls[] = {
	{ &model_topdown, level_1, 7 },
	{ &model_topdown_2, level_1, 7 },
	{ &model_topdown_2, level_2, 9 },
};

/* Regions of different mixes, over switches and CPUs, beside one who counts other things */
START_TEST(over_switches)
{
	static const struct perfctr_ctr_control other[] = {
		CTR(ANY, EV_SLOTS, BOTH), CTR(ANY, EV_CYCLES, USER),
	};
	struct truth truth = {};
	struct thread thread, beside;
	unsigned int i;

	driver_init(controls[_i].machine);
	thread_init(&thread, claim_well(controls[_i].ctr, controls[_i].nr));
	thread_init(&beside, CLAIM(other));
	for (i = 0; i < 1000; i++) {
		set_mix(next_random() % 500, next_random() % 300, next_random() % 200);
		run(&thread, i / 3 % 2, &truth, next_random() % 4000);
		if (i % 3 == 0)
			thread_run(&beside, i / 3 % 2, next_random() % 4000);
		if (i % 100 == 0)
			ck_assert_int_eq(age_all(), 0);
	}
	expect(&thread, &truth);
	thread_expect_exact(&beside);
}
END_TEST

/*
 * Whoever runs for long: without folds the last region, of another kind, would be lost in a unit
 * that has grown to more slots than it has.
 */
START_TEST(long_run_in_pieces)
{
	struct truth truth = {}, first;
	struct thread thread;
	u64 before, region, unit;
	unsigned int i;

	driver_init(&model_topdown);
	thread_init(&thread, CLAIM(level_1));
	thread_in(&thread, 0);
	set_mix(900, 50, 50);
	for (i = 0; i < 100; i++) {
		execute(&truth, 1000000);
		/* As fold.c does */
		cpus_read_lock();
		ck_assert_int_eq(perfctr_run_paid(perfctr_run_nothing, NULL), 0);
		cpus_read_unlock();
		truth.folds++;
	}
	before = thread.state.ctr[0].acc;
	first = truth;
	set_mix(0, 0, 0);
	execute(&truth, 1000);
	thread_out(&thread);
	truth.folds++;
	expect(&thread, &truth);
	/* 12,004 slots, all of them bound by the back end; the unit would be 4.7 millions. */
	region = thread.state.ctr[0].acc - before;
	unit = first.slots / 255;
	ck_assert_uint_gt(unit, 4000000);
	ck_assert_uint_eq(region, truth.slots - first.slots);
}
END_TEST

/* What it counts in kernel mode, too: both registers stand while they are zeroed. */
START_TEST(kernel_mode)
{
	struct thread thread;
	struct perfctr_config *config;
	u64 slots, parts;
	unsigned int i;

	driver_init(&model_topdown);
	set_mix(600, 100, 100);
	config = CLAIM(kernel_too);
	/* Bit 0 says that it counts user mode alone. */
	config->id &= ~PERFCTR_ID_USER;
	thread_init(&thread, config);
	for (i = 0; i < 50; i++) {
		thread_in(&thread, 0);
		model_execute(MODEL_KERNEL, 500);
		model_execute(MODEL_USER, 500);
		thread_out(&thread);
	}
	slots = thread.state.ctr[0].acc;
	/* The rest of the write that starts it is counted: 1 instruction, 4 cycles. */
	ck_assert_uint_eq(slots, 50ull * MODEL_SLOTS * (2 * 1501 + 4));
	parts = 0;
	for (i = 0; i < 50; i++)
		parts += 2 * model_part(RET, 1501ull * MODEL_SLOTS) + model_part(RET, 4ull * MODEL_SLOTS);
	ck_assert_uint_le(thread.state.ctr[1].acc, parts + 25);
	ck_assert_uint_ge(255 * (thread.state.ctr[1].acc + 25), 255 * parts - slots);
	/* In kernel mode the global control stands as others left it. */
	ck_assert_uint_eq(model_msr(0, MSR_CORE_PERF_GLOBAL_CTRL),
			  0xf000000ff | 1ull << 48);
}
END_TEST

/* i-mode counters beside them */
START_TEST(beside_imode)
{
	static const struct perfctr_ctr_control control[] = {
		CTR(ANY, EV_SLOTS, USER), METRIC(RET, USER), METRIC(BAD, USER),
		ICTR(ANY, EV_INSTRUCTIONS, USER, 1000),
	};
	const u64 start = -1000;
	struct perfctr_config *config;
	struct truth truth = {};
	struct thread thread;

	driver_init(&model_topdown);
	set_mix(300, 300, 300);
	config = CLAIM(control);
	ck_assert_uint_eq(config->imask, BIT(FIXED(0)));
	ck_assert_uint_eq(config->mask, BIT(FIXED(0)) | BIT(FIXED(3)));
	thread_init(&thread, config);
	ck_assert_int_eq(load_on(0, config), 0);
	local_irq_disable();
	ck_assert_int_eq(perfctr_cpu_istart(config, &start), 0);
	perfctr_cpu_resume_own_way(config, &thread.state);
	local_irq_enable();
	execute(&truth, 600);
	ck_assert_uint_eq(model_value(0, FIXED(0)), (start + 600) & GENMASK_ULL(47, 0));
	local_irq_disable();
	perfctr_cpu_istop(config, NULL);
	perfctr_cpu_suspend_own_way(config, &thread.state);
	local_irq_enable();
	ck_assert_uint_eq(thread.state.ctr[0].acc, truth.slots);
	ck_assert_uint_eq(thread.state.ctr[1].acc,
			  (76 * truth.slots + 127) / 255);
	ck_assert_uint_eq(model_pmis[0], 0);
}
END_TEST

/* A control, and what is said of it: the error, whose fault, and why */
static const struct {
	const char *name;
	const struct model_machine *machine;
	unsigned int nr;
	struct perfctr_ctr_control ctr[4];
	long err;
	u32 index, reason;
} refusals[] = {
	{ "without SLOTS", &model_topdown, 1, { METRIC(RET, USER) },
	  -EINVAL, 0, PERFCTR_REASON_SLOTS },
	{ "without SLOTS, beside others", &model_topdown, 3,
	  { CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_CYCLES, USER), METRIC(RET, USER) },
	  -EINVAL, 2, PERFCTR_REASON_SLOTS },
	{ "SLOTS in other modes", &model_topdown, 2,
	  { CTR(ANY, EV_SLOTS, BOTH), METRIC(RET, USER) }, -EINVAL, 1, PERFCTR_REASON_SLOTS },
	{ "SLOTS as an i-mode counter", &model_topdown, 2,
	  { METRIC(RET, USER), ICTR(ANY, EV_SLOTS, USER, 1000) },
	  -EINVAL, 0, PERFCTR_REASON_SLOTS },
	{ "as an i-mode counter", &model_topdown, 2,
	  { CTR(ANY, EV_SLOTS, USER), ICTR(ANY, EV_METRIC(RET), USER, 1000) },
	  -EINVAL, 1, PERFCTR_REASON_SLOTS },
	{ "with a counter's name", &model_topdown, 2,
	  { CTR(ANY, EV_SLOTS, USER), CTR(FIXED(3), EV_METRIC(RET), USER) }, -EINVAL, 1, 0 },
	{ "with an edge", &model_topdown, 2,
	  { CTR(ANY, EV_SLOTS, USER), CTR(ANY, EV_METRIC(RET) | SEL_EDGE, USER) }, -EINVAL, 1, 0 },
	{ "with modes that disagree", &model_topdown, 2,
	  { CTR(ANY, EV_SLOTS, USER), CTR(ANY, EV_METRIC(RET) | SEL_OS, USER) }, -EINVAL, 1, 0 },
	{ "with a config", &model_topdown, 2,
	  { CTR(ANY, EV_SLOTS, USER), { .map = ANY, .event = EV_METRIC(RET), .flags = USER,
					.config = 1 } }, -EINVAL, 1, 0 },
	{ "SLOTS on another counter", &model_topdown, 1, { CTR(0, EV_SLOTS, USER) },
	  -EINVAL, 0, PERFCTR_REASON_COUNTER },
	{ "SLOTS twice", &model_topdown, 2, { CTR(ANY, EV_SLOTS, USER), CTR(ANY, EV_SLOTS, USER) },
	  -EINVAL, 1, PERFCTR_REASON_COUNTER },
	{ "another event on its counter", &model_topdown, 1, { CTR(FIXED(3), EV_CYCLES, USER) },
	  -EINVAL, 0, PERFCTR_REASON_COUNTER },
	{ "level 2 where there is one", &model_topdown, 2,
	  { CTR(ANY, EV_SLOTS, USER), METRIC(HEAVY, USER) }, -EINVAL, 1, PERFCTR_REASON_TOPDOWN },
	{ "a ninth metric", &model_topdown_2, 2,
	  { CTR(ANY, EV_SLOTS, USER), CTR(ANY, 0x8800, USER) }, -EINVAL, 1, 0 },
	{ "a metric where there is none", &model_v5, 1, { METRIC(RET, USER) },
	  -EINVAL, 0, PERFCTR_REASON_TOPDOWN },
	{ "SLOTS where there is none", &model_v5, 1, { CTR(ANY, EV_SLOTS, USER) },
	  -EINVAL, 0, PERFCTR_REASON_TOPDOWN },
	{ "SLOTS of version 1", &model_v1, 1, { CTR(ANY, EV_SLOTS, USER) },
	  -EINVAL, 0, PERFCTR_REASON_TOPDOWN },
	{ "SLOTS of a P6", &model_p6, 1, { CTR(ANY, EV_SLOTS, USER) },
	  -EINVAL, 0, PERFCTR_REASON_TOPDOWN },
	{ "a metric of a P6", &model_p6, 2,
	  { CTR(ANY, EV_CYCLES, USER), METRIC(BAD, USER) }, -EINVAL, 1, PERFCTR_REASON_TOPDOWN },
	/* And what is not refused */
	{ "SLOTS alone", &model_topdown, 1, { CTR(ANY, EV_SLOTS, USER) }, 0, PERFCTR_NO_INDEX, 0 },
	{ "SLOTS as an i-mode counter, alone", &model_topdown, 1,
	  { ICTR(ANY, EV_SLOTS, USER, 1000) }, 0, PERFCTR_NO_INDEX, 0 },
	{ "whole event selects", &model_topdown, 2,
	  { CTR(ANY, EV_METRIC(RET) | SEL_USR | SEL_EN, USER),
	    CTR(ANY, EV_SLOTS | SEL_USR | SEL_EN, USER) }, 0, PERFCTR_NO_INDEX, 0 },
	{ "one twice", &model_topdown, 3,
	  { METRIC(RET, USER), METRIC(RET, USER), CTR(FIXED(3), EV_SLOTS, USER) },
	  0, PERFCTR_NO_INDEX, 0 },
};

START_TEST(refused)
{
	struct perfctr_refusal why = NO_REFUSAL;
	struct perfctr_config *config;
	bool kernel = false;
	unsigned int i;

	driver_init(refusals[_i].machine);
	ck_assert_msg(perfctr_cpu_check(refusals[_i].ctr, refusals[_i].nr, &kernel, &why) ==
		      refusals[_i].err, "%s", refusals[_i].name);
	ck_assert_msg(why.index == refusals[_i].index, "%s: index %u", refusals[_i].name,
		      why.index);
	ck_assert_msg(why.reason == refusals[_i].reason, "%s: reason %u", refusals[_i].name,
		      why.reason);
	if (refusals[_i].err)
		return;
	/* CONTROL takes what READ_CONTROL gives, and it is the same. */
	config = claim_well(refusals[_i].ctr, refusals[_i].nr);
	for (i = 0; i < config->nr; i++) {
		struct perfctr_ctr_control ctr = config->ctr[i];

		perfctr_cpu_name(&ctr, config->hw[i]);
		ck_assert_uint_eq(ctr.map, config->hw[i] < 32 ? config->hw[i] : ANY);
		ck_assert_uint_eq(ctr.event, config->ctr[i].event);
	}
}
END_TEST

static const struct {
	const struct model_machine *machine;
	u32 levels;
	unsigned int nrctrs;
	u64 counters;
} infos[] = {
	{ &model_topdown, 1, 16, 0xf0000ff },
	{ &model_topdown_2, 2, 20, 0xf0000ff },
	{ &model_v5, 0, 11, 0x70000ff },
};

START_TEST(info)
{
	struct perfctr_kernel_info info = {};

	driver_init(infos[_i].machine);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.topdown, infos[_i].levels);
	ck_assert_uint_eq(!!(info.cpu_features & PERFCTR_FEATURE_TOPDOWN), !!infos[_i].levels);
	ck_assert_uint_eq(info.nrctrs, infos[_i].nrctrs);
	ck_assert_uint_eq(info.counters, infos[_i].counters);
}
END_TEST

/* What CPUID and PERF_CAPABILITIES promise may be missing all the same. */
static const struct {
	const char *name;
	u32 no_msr, no_rdpmc;
	u32 stuck;
	unsigned int nr_fixed;
	bool no_pdcm, hybrid;
	u64 faults, drops;
} lacks[] = {
	{ "the register", MSR_PERF_METRICS, ~0u, 0, 4, false, false, 0, 0 },
	{ "its operand", ~0u, 0x20000000, 0, 4, false, false, 0, 0 },
	{ "a count of SLOTS", ~0u, ~0u, BIT(FIXED(3)), 4, false, false, 0, 0 },
	{ "the fixed counter", ~0u, ~0u, 0, 3, false, false, 0, 0 },
	{ "the capabilities", ~0u, ~0u, 0, 4, true, false, 0, 0 },
	{ "one type of cores", ~0u, ~0u, 0, 4, false, true, 0, 0 },
	{ "its bit in the global control, a fault", ~0u, ~0u, 0, 4, false, false, 1ull << 48, 0 },
	{ "its bit in the global control, lost", ~0u, ~0u, 0, 4, false, false, 0, 1ull << 48 },
};

START_TEST(lacking)
{
	static const struct perfctr_ctr_control cycles[] = { CTR(FIXED(1), EV_CYCLES, USER) };
	const struct perfctr_ctr_control metric = METRIC(RET, USER);
	struct model_machine machine = model_topdown;
	struct perfctr_refusal why = NO_REFUSAL;
	struct perfctr_kernel_info info = {};
	bool kernel = false;
	struct thread thread;

	machine.nr_fixed = lacks[_i].nr_fixed;
	machine.no_pdcm = lacks[_i].no_pdcm;
	machine.hybrid = lacks[_i].hybrid;
	machine.core = lacks[_i].hybrid ? 0x40000001 : 0;
	model_no_msr = lacks[_i].no_msr;
	model_no_rdpmc = lacks[_i].no_rdpmc;
	model_stuck[0] = model_stuck[1] = lacks[_i].stuck;
	model_global_faults = lacks[_i].faults;
	model_global_drops = lacks[_i].drops;
	driver_init(&machine);
	if (!lacks[_i].hybrid) {
		thread_init(&thread, CLAIM(cycles));
		thread_run(&thread, 0, 1000);
		shim_jiffies++;
		thread_run(&thread, 0, 1000);
		thread_expect_exact(&thread);
	}
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.topdown, 0);
	ck_assert_uint_eq(info.cpu_features & PERFCTR_FEATURE_TOPDOWN, 0);
	ck_assert_uint_eq(info.counters, 0x70000ff);
	ck_assert_int_eq(perfctr_cpu_check(&metric, 1, &kernel, &why), -EINVAL);
	ck_assert_uint_eq(why.reason, PERFCTR_REASON_TOPDOWN);
}
END_TEST

static u64 metrics_on(unsigned int cpu)
{
	return model_msr(cpu, MSR_PERF_METRICS);
}

static void before_perfs_nmi(void)
{
	ck_assert(!perfctr_x86_take_overflows(true));
}

static void after_perfs_nmi(void)
{
	ck_assert(!perfctr_x86_take_overflows(false));
}

/*
 * Beside perf, an overflow of the metrics is acknowledged before perf's handler of NMIs sees it, which would zero SLOTS and
 * the metrics.
 */
START_TEST(overflow_of_metrics_is_not_perfs)
{
	const unsigned int ack = model_index(MSR_CORE_PERF_GLOBAL_OVF_CTRL);
	struct perfctr_x86_cpu *cpu = per_cpu_ptr(&perfctr_x86_cpu, 0);
	struct perfctr_config *metrics;

	driver_init(&model_topdown);
	metrics = CLAIM(level_1);
	perfctr_pmu.beside = true;
	model_calls_reset();
	on_cpu_irqs_off(0, before_perfs_nmi);
	ck_assert_uint_eq(model_writes[0][ack], 0);
	cpu->held = BIT(PERFCTR_X86_SLOTS);
	on_cpu_irqs_off(0, before_perfs_nmi);
	ck_assert_uint_eq(model_writes[0][ack], 1);
	on_cpu_irqs_off(0, after_perfs_nmi);
	ck_assert_uint_eq(model_writes[0][ack], 1);
	cpu->held = 0;
	perfctr_pmu.beside = false;
	unclaim(metrics);
}
END_TEST

/* A stranger who may read registers sees neither the counter nor the metrics. */
START_TEST(zeroed_for_strangers)
{
	static struct mm_struct mms[] = {
		{ .context = { .ctx_id = 100 } }, { .context = { .ctx_id = 200 } },
	};
	static const struct perfctr_ctr_control one[] = { CTR(ANY, EV_INSTRUCTIONS, USER) };
	const struct task_struct stranger = { .mm = &mms[1] };
	struct perfctr_config *metrics, *other;
	struct truth truth = {};
	struct thread thread;

	driver_init(&model_topdown);
	shim_current.mm = &mms[0];
	metrics = CLAIM(level_1);
	other = CLAIM(one);
	thread_init(&thread, metrics);
	ck_assert_int_eq(restart_on(0, metrics, 1000), 0);
	local_irq_disable();
	perfctr_cpu_resume_own_way(metrics, &thread.state);
	local_irq_enable();
	execute(&truth, 1000);
	ck_assert_uint_ne(metrics_on(0), 0);
	switch (_i) {
	case 0:
		/* Another user's page */
		shim_current.mm = &mms[1];
		ck_assert_int_eq(restart_on(0, other, 1001), 0);
		break;
	case 1:
		/* A thread of another process that has a map, and counts nothing */
		local_irq_disable();
		perfctr_cpu_leave();
		perfctr_cpu_scrub(&stranger);
		local_irq_enable();
		break;
	default:
		/* Its own user takes a control without metrics: they stand. */
		ck_assert_int_eq(restart_on(0, other, 1001), 0);
		break;
	}
	ck_assert_uint_eq(metrics_on(0), 0);
	ck_assert_uint_eq(model_value(0, FIXED(3)), 0);
	/* Nor does anything count there meanwhile. */
	model_execute(MODEL_USER, 1000);
	ck_assert_uint_eq(metrics_on(0), 0);
	ck_assert_uint_eq(model_value(0, FIXED(3)), 0);
}
END_TEST

/* Nobody finds them after the last claim, nor as they are taken. */
START_TEST(zeroed_when_taken_and_given_back)
{
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_topdown);
	/* Somebody had them before. */
	model_set_msr(0, MSR_CORE_PERF_FIXED_CTR_CTRL, 0x2000);
	model_set_msr(0, MSR_CORE_PERF_GLOBAL_CTRL, 1ull << 35 | 1ull << 48);
	model_set_value(0, FIXED(3), 0);
	shim_cpu = 0;
	model_execute(MODEL_USER, 1000);
	ck_assert_uint_ne(metrics_on(0), 0);
	model_set_msr(0, MSR_CORE_PERF_FIXED_CTR_CTRL, 0);
	config = CLAIM(level_1);
	ck_assert_uint_eq(metrics_on(0), 0);
	ck_assert_uint_eq(model_msr(0, MSR_CORE_PERF_GLOBAL_CTRL), 0xf000000ff | 1ull << 48);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	ck_assert_uint_ne(metrics_on(0), 0);
	unclaim(config);
	ck_assert_uint_eq(metrics_on(0), 0);
	ck_assert_uint_eq(model_value(0, FIXED(3)), 0);
	ck_assert_uint_eq(model_msr(0, MSR_CORE_PERF_GLOBAL_CTRL), 1ull << 35 | 1ull << 48);
}
END_TEST

/* The bit is one of those that are verified, and that an NMI may have changed. */
START_TEST(its_bit_is_verified)
{
	struct thread thread;
	bool good;

	driver_init(&model_topdown);
	thread_init(&thread, CLAIM(level_1));
	thread_in(&thread, 0);
	shim_jiffies++;
	local_irq_disable();
	good = perfctr_cpu_verify();
	local_irq_enable();
	ck_assert(good);
	model_set_msr(0, MSR_CORE_PERF_GLOBAL_CTRL, 0xf000000ff);
	if (_i) {
		/* perf's handler would leave it so, and the LVTPC as it wants that. */
		model_lvtpc[0] = APIC_DM_NMI;
		model_nmi(0);
		ck_assert_uint_eq(model_msr(0, MSR_CORE_PERF_GLOBAL_CTRL),
				  0xf000000ff | 1ull << 48);
	}
	shim_jiffies++;
	local_irq_disable();
	good = perfctr_cpu_verify();
	local_irq_enable();
	ck_assert_int_eq(good, _i);
}
END_TEST

/* SLOTS that is past half of its range is set back, and the metrics with it. */
START_TEST(ageing)
{
	struct perfctr_config *config;

	driver_init(&model_topdown);
	config = CLAIM(level_1);
	ck_assert_int_eq(load_on(0, config), 0);
	model_execute(MODEL_USER, 1000);
	model_set_value(0, FIXED(3), 1ull << 47);
	ck_assert_int_eq(age_all(), 0);
	ck_assert_uint_eq(model_value(0, FIXED(3)), 0);
	model_execute(MODEL_USER, 1000);
	/* 40 % of the slots since: 102 units. Parts from before would make it more. */
	set_mix(400, 100, 200);
	ck_assert_uint_eq(metrics_on(0) & 0xff, 101);
}
END_TEST

/* A CPU comes, and another goes, while a thread counts. */
START_TEST(hotplug)
{
	struct truth truth = {};
	struct thread thread;

	driver_init(&model_topdown_2);
	set_mix(250, 250, 250);
	thread_init(&thread, CLAIM(level_2));
	run(&thread, 0, &truth, 5000);
	cpu_goes(1);
	run(&thread, 0, &truth, 5000);
	cpu_comes(1);
	run(&thread, 1, &truth, 5000);
	thread_in(&thread, 1);
	execute(&truth, 3000);
	/* Its registers are lost while it sleeps. */
	cpu_sleeps(1, true);
	truth.folds++;
	execute(&truth, 3000);
	thread_out(&thread);
	truth.folds++;
	expect(&thread, &truth);
}
END_TEST

/* A config without metrics costs no write of theirs, and is resumed by reading alone. */
START_TEST(costs_others_nothing)
{
	static const struct perfctr_ctr_control plain[] = {
		CTR(ANY, EV_SLOTS, USER), CTR(ANY, EV_CYCLES, USER),
	};
	struct perfctr_config *config;
	struct thread a, b;

	driver_init(&model_topdown);
	config = CLAIM(plain);
	ck_assert(!config->own_way);
	thread_init(&a, config);
	thread_init(&b, config);
	thread_run(&a, 0, 1000);
	model_calls_reset();
	thread_run(&b, 0, 1000);
	thread_run(&a, 0, 1000);
	ck_assert_uint_eq(model_all_calls(), 0);
	thread_expect_exact(&a);
	thread_expect_exact(&b);
}
END_TEST

/* perf's kernel events have no group, which a metric needs; SLOTS needs none. */
START_TEST(not_through_perf)
{
	static const struct {
		u64 event;
		u32 reason;
	} rows[] = {
		{ EV_METRIC(RET), PERFCTR_REASON_SOURCE }, { EV_METRIC(MEM), PERFCTR_REASON_TOPDOWN },
		{ EV_SLOTS, PERFCTR_REASON_NONE }, { EV_CYCLES, PERFCTR_REASON_NONE },
	};
	struct perfctr_shared_attr attr = { .type = PERF_TYPE_RAW };
	unsigned int i;

	driver_init(&model_topdown);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		attr.config = rows[i].event;
		ck_assert_uint_eq(perfctr_cpu_shared_refusal(&attr), rows[i].reason);
	}
	attr.type = PERF_TYPE_HW_CACHE;
	attr.config = EV_METRIC(RET);
	ck_assert_uint_eq(perfctr_cpu_shared_refusal(&attr), PERFCTR_REASON_NONE);
}
END_TEST

void test_topdown(void)
{
	unit_begin("x86_topdown");
	UNIT_RUN(one_fold);
	UNIT_ROWS(over_switches, controls);
	UNIT_RUN(long_run_in_pieces);
	UNIT_RUN(kernel_mode);
	UNIT_RUN(beside_imode);
	UNIT_ROWS(refused, refusals);
	UNIT_ROWS(info, infos);
	UNIT_ROWS(lacking, lacks);
	unit_run(zeroed_for_strangers, 3);
	UNIT_RUN(zeroed_when_taken_and_given_back);
	unit_run(its_bit_is_verified, 2);
	UNIT_RUN(ageing);
	UNIT_RUN(hotplug);
	UNIT_RUN(costs_others_nothing);
	UNIT_RUN(not_through_perf);
	UNIT_RUN(overflow_of_metrics_is_not_perfs);
}
