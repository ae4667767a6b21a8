// SPDX-License-Identifier: GPL-2.0
/*
 * FCECE and TRIGGER: the processor changes MMCR0 by itself, so each state has its own. What a
 * thread sees is what it would see if it had the counters for itself, wherever it runs and
 * whoever runs in between.
 */
#include "tests.h"

#define PERIOD		1000
#define OWN_FROZEN	1	/* perfctr_cpu_state.own: see registers.c */

static struct perfctr_config *begin(const char *name, const struct perfctr_ctr_control *ctr,
				    unsigned int nr)
{
	struct model_machine machine = model_machine_of(model_named(name));

	shim_set_param("unsafe_interrupts", 1);
	driver_init(&machine);
	return claim_well(ctr, nr);
}

static u64 sum(const struct thread *thread, unsigned int i)
{
	return thread->state.ctr[i].acc;
}

/*
 * A thread with i-mode counters, as resume.c and period.c have it: these are started before, and
 * stopped before the sums are made. Periods are at most 2^31 here.
 */
struct ithread {
	struct thread thread;
	u64 next[MODEL_PMCS];		/* the sum at which the period ends */
};

static void ithread_init(struct ithread *ithread, struct perfctr_config *config)
{
	u32 i, first = perfctr_config_nr_actrs(config);

	thread_init(&ithread->thread, config);
	for (i = first; i < config->nr; i++)
		ithread->next[i - first] = -(u64)config->ctr[i].ireset;
}

static void ithread_in(struct ithread *ithread)
{
	struct perfctr_cpu_state *state = &ithread->thread.state;
	const struct perfctr_config *config = ithread->thread.config;
	u32 i, first = perfctr_config_nr_actrs(config);
	u64 value[MODEL_PMCS];

	local_irq_disable();
	if (!perfctr_cpu_has_loaded(config))
		ck_assert_int_eq(perfctr_cpu_load(config), 0);
	for (i = first; i < config->nr; i++)
		value[i - first] = state->ctr[i].acc - ithread->next[i - first];
	ck_assert_int_eq(perfctr_cpu_istart(config, value), 0);
	perfctr_cpu_resume_own_way(config, state);
	for (i = first; i < config->nr; i++)
		state->ctr[i].acc = ithread->next[i - first];
	local_irq_enable();
}

/* Returns the mask of those that have come to their ends. */
static u32 ithread_out(struct ithread *ithread)
{
	struct perfctr_cpu_state *state = &ithread->thread.state;
	const struct perfctr_config *config = ithread->thread.config;
	u32 i, first = perfctr_config_nr_actrs(config), mask = 0;

	local_irq_disable();
	perfctr_cpu_istop(config, ithread);
	perfctr_cpu_suspend_own_way(config, state);
	local_irq_enable();
	for (i = first; i < config->nr; i++) {
		u64 *next = &ithread->next[i - first];

		state->ctr[i].acc = *next + (u64)sign_extend64(state->ctr[i].acc - *next, 31);
		if ((s64)(state->ctr[i].acc - *next) < 0)
			continue;
		mask |= (u32)BIT(i);
		*next = state->ctr[i].acc - (u64)config->ctr[i].ireset;
	}
	return mask;
}

/* Another control has the CPU in between, and what it counts is nobody else's. */
static void somebody_else_runs(struct perfctr_config *config, unsigned int cpu)
{
	struct thread other;

	thread_init(&other, config);
	thread_run(&other, cpu, 12345);
	thread_expect_exact(&other);
}

static const struct perfctr_ctr_control plain[] = {
	CTR(0, EV_INSTRUCTIONS, BOTH), CTR(1, EV_CYCLES, BOTH),
};

/* FCECE: everything stops as PMC1 comes to 2^31, which takes many switches; and stays so. */
START_TEST(freezes_over_switches)
{
	static const struct perfctr_ctr_control ctr[] = {
		CTR_MMCR(0, EV_INSTRUCTIONS, USER, FCECE | PMC1CE),
		CTR_MMCR(1, EV_CYCLES, USER, FCECE | PMC1CE),
	};
	struct perfctr_config *config = begin(_i ? "7450" : "604", ctr, 2), *others = CLAIM(plain);
	struct thread thread;
	unsigned int i;
	u64 cycles;

	thread_init(&thread, config);
	ck_assert(config->own_way);
	for (i = 0; i < 7; i++) {
		thread_run(&thread, i % 2, 300000000);
		ck_assert_uint_eq(sum(&thread, 0), 300000000ull * (i + 1));
		ck_assert_uint_eq(sum(&thread, 1), 900000001ull * (i + 1));
		somebody_else_runs(others, i % 2);
	}
	ck_assert(!(thread.state.own & OWN_FROZEN));
	thread_run(&thread, 0, 300000000);
	ck_assert_uint_eq(sum(&thread, 0), BIT_ULL(31));
	/* The model counts cycles before instructions. */
	cycles = sum(&thread, 1);
	ck_assert_uint_eq(cycles, 900000001ull * 8);
	for (i = 0; i < 3; i++) {
		somebody_else_runs(others, i % 2);
		thread_run(&thread, i % 2, 1000);
		ck_assert_uint_eq(sum(&thread, 0), BIT_ULL(31));
		ck_assert_uint_eq(sum(&thread, 1), cycles);
	}
	/* Another control begins anew. */
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	ck_assert_uint_eq(sum(&thread, 0), 1000);
}
END_TEST

/* Two threads of one control, of which one is frozen; an interrupt of the module's in between */
START_TEST(each_state_has_its_own)
{
	static const struct perfctr_ctr_control ctr[] = {
		CTR_MMCR(2, EV_INSTRUCTIONS, USER, FCECE | PMCNCE),
	};
	struct perfctr_config *config = begin("7450", ctr, 1);
	struct thread a, b;
	int i;

	thread_init(&a, config);
	thread_init(&b, config);
	thread_run(&b, 0, 500);
	thread_in(&a, 0);
	model_execute(MODEL_USER, BIT_ULL(31) - 100);
	ck_assert_int_eq(age_all(), 0);
	model_execute(MODEL_USER, 99);
	ck_assert(!(model_mmcr0(0) & FC));
	model_execute(MODEL_USER, 500);
	ck_assert(model_mmcr0(0) & FC);
	thread_out(&a);
	ck_assert_uint_eq(sum(&a, 0), BIT_ULL(31));
	for (i = 0; i < 3; i++) {
		thread_run(&b, 0, 500);
		ck_assert_uint_eq(sum(&b, 0), 1000u + 500u * (unsigned int)i);
		thread_run(&a, 0, 500);
		ck_assert_uint_eq(sum(&a, 0), BIT_ULL(31));
		/* Nothing of theirs counts while they do not run. */
		model_execute(MODEL_USER, 12345);
	}
}
END_TEST

/* TRIGGER: PMC2 and up begin when PMC1 has 2^31, and go on, whoever runs in between. */
START_TEST(triggers_over_switches)
{
	static const struct perfctr_ctr_control ctr[] = {
		CTR_MMCR(0, EV_INSTRUCTIONS, USER, TRIGGER), CTR_MMCR(1, EV_CYCLES, USER, TRIGGER),
	};
	struct perfctr_config *config = begin(_i ? "7450" : "604", ctr, 2), *others = CLAIM(plain);
	struct thread thread;
	unsigned int i;

	thread_init(&thread, config);
	for (i = 0; i < 7; i++) {
		thread_run(&thread, i % 2, 300000000);
		ck_assert_uint_eq(sum(&thread, 1), 0);
		somebody_else_runs(others, i % 2);
	}
	thread_run(&thread, 0, 100000000);
	ck_assert_uint_eq(sum(&thread, 0), 2200000000);
	ck_assert_uint_eq(sum(&thread, 1), 0);
	for (i = 1; i < 30; i++) {
		somebody_else_runs(others, i % 2);
		thread_run(&thread, i % 2, 300000000);
		ck_assert_uint_eq(sum(&thread, 0), 2200000000 + 300000000ull * i);
		ck_assert_uint_eq(sum(&thread, 1), 900000001ull * i);
	}
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	ck_assert_uint_eq(sum(&thread, 1), 0);
}
END_TEST

/* The manual's use of both: from PMC1's 2^31 to PMC3's; then all freeze. */
START_TEST(triggers_and_freezes)
{
	static const struct perfctr_ctr_control ctr[] = {
		CTR_MMCR(0, EV_STORES, USER, TRIGGER | FCECE | PMCNCE),
		CTR_MMCR(2, EV_INSTRUCTIONS, USER, TRIGGER | FCECE | PMCNCE),
		CTR_MMCR(3, EV_LOADS, USER, TRIGGER | FCECE | PMCNCE),
	};
	struct perfctr_config *config = begin("7400", ctr, 3), *others = CLAIM(plain);
	struct thread thread;
	unsigned int i;

	thread_init(&thread, config);
	for (i = 0; i < 7; i++) {
		thread_run(&thread, i % 2, 900000000);
		ck_assert_uint_eq(sum(&thread, 0), 300000000ull * (i + 1));
		ck_assert_uint_eq(sum(&thread, 1), 0);
		somebody_else_runs(others, i % 2);
	}
	/* Instructions come before stores and loads in the model. */
	thread_run(&thread, 1, 900000000);
	ck_assert_uint_eq(sum(&thread, 1), 0);
	ck_assert_uint_eq(sum(&thread, 2), 225000000);
	somebody_else_runs(others, 1);
	thread_run(&thread, 1, 2000000000);
	ck_assert_uint_eq(sum(&thread, 1), 2000000000);
	somebody_else_runs(others, 1);
	thread_run(&thread, 1, 2000000000);
	ck_assert_uint_eq(sum(&thread, 1), BIT_ULL(31));
	ck_assert_uint_eq(sum(&thread, 0), 2400000000 + 666666666ull);
	thread_run(&thread, 1, 1000);
	ck_assert_uint_eq(sum(&thread, 1), BIT_ULL(31));
	ck_assert_uint_eq(sum(&thread, 0), 2400000000 + 666666666ull);
}
END_TEST

/* An i-mode counter freezes all at the end of its period, to the event; the next one goes on. */
START_TEST(freezes_at_a_period)
{
	const struct perfctr_ctr_control ctr[] = {
		CTR_MMCR(1, EV_BRANCHES, USER, FCECE),
		ICTR_MMCR(_i ? 3 : 0, EV_INSTRUCTIONS, USER, FCECE, PERIOD),
	};
	struct perfctr_config *config = begin("7450", ctr, 2), *others = CLAIM(plain);
	struct ithread thread;
	unsigned int i;

	ithread_init(&thread, config);
	shim_cpu = 0;
	for (i = 1; i < 10; i++) {
		ithread_in(&thread);
		model_execute(MODEL_USER, 600);
		ck_assert_uint_eq(ithread_out(&thread), 0);
		somebody_else_runs(others, 0);
		ithread_in(&thread);
		ck_assert(!model_irq_waits(0));
		model_execute(MODEL_USER, 600);
		ck_assert(model_irq_waits(0));
		model_execute(MODEL_USER, 12345);
		ck_assert_uint_eq(ithread_out(&thread), 2);
		ck_assert(!(thread.thread.state.own & OWN_FROZEN));
		ck_assert_uint_eq(sum(&thread.thread, 1), (u64)PERIOD * i);
		ck_assert_uint_eq(sum(&thread.thread, 0), 120ull * i);
		somebody_else_runs(others, 0);
	}
}
END_TEST

/*
 * Beside i-mode counters an a-mode counter of a long thread is no condition, though PMCnCE is set:
 * its end would interrupt again and again, and freeze for ever what the i-mode counters stop alone.
 */
static const struct {
	const char *name;
	u32 mmcr0;
} long_ones[] = { { "FCECE", FCECE }, { "TRIGGER", TRIGGER }, { "both", FCECE | TRIGGER } };

START_TEST(long_a_mode_beside_a_period)
{
	const u32 mmcr0 = long_ones[_i].mmcr0;
	const struct perfctr_ctr_control ctr[] = {
		CTR_MMCR(0, EV_LOADS, USER, mmcr0), CTR_MMCR(2, EV_STORES, USER, mmcr0),
		ICTR_MMCR(1, EV_INSTRUCTIONS, USER, mmcr0, PERIOD),
	};
	struct perfctr_config *config = begin("7450", ctr, 3);
	struct ithread thread;
	u64 before, ended = 0;
	unsigned int i;

	ithread_init(&thread, config);
	/* It has counted for long, and was triggered. */
	thread.thread.state.ctr[0].acc = BIT_ULL(33);
	thread.thread.state.ctr[1].acc = BIT_ULL(31) - 10;
	before = sum(&thread.thread, 1);
	shim_cpu = 0;
	for (i = 1; i <= 3; i++) {
		ithread_in(&thread);
		ck_assert_msg(!model_irq_waits(0), "%s: interrupted for ever", long_ones[_i].name);
		model_execute(MODEL_USER, 300);
		ck_assert_msg(!model_irq_waits(0), "%s: interrupted for ever", long_ones[_i].name);
		ended += ithread_out(&thread);
		ck_assert_uint_eq(sum(&thread.thread, 2), 300ull * i);
	}
	ck_assert_uint_eq(ended, 0);
	ck_assert_uint_eq(sum(&thread.thread, 1) - before, 300);
	/* The next end is the i-mode counter's. */
	ithread_in(&thread);
	model_execute(MODEL_USER, 300);
	ck_assert(model_irq_waits(0));
	ck_assert_uint_eq(ithread_out(&thread), 4);
	ck_assert_uint_eq(sum(&thread.thread, 2), mmcr0 & FCECE ? 1000 : 1200);
	ithread_in(&thread);
	ck_assert(!model_irq_waits(0));
	model_execute(MODEL_USER, 500);
	ithread_out(&thread);
	ck_assert_uint_eq(sum(&thread.thread, 2), mmcr0 & FCECE ? 1500 : 1700);
}
END_TEST

/*
 * What others left in counters that this control does not have is no condition of its own, and no
 * trigger.
 */
static const struct {
	const char *name;
	struct perfctr_ctr_control left, ctr;
} leftovers[] = {
	{ "PMCnCE", CTR_MMCR(2, EV_INSTRUCTIONS, USER, FCECE | PMC1CE),
	  CTR_MMCR(1, EV_INSTRUCTIONS, USER, FCECE | PMCNCE) },
	{ "PMC1CE", CTR_MMCR(0, EV_INSTRUCTIONS, USER, FCECE | PMCNCE),
	  CTR_MMCR(1, EV_INSTRUCTIONS, USER, FCECE | PMC1CE) },
	{ "TRIGGER", CTR_MMCR(0, EV_INSTRUCTIONS, USER, FCECE),
	  CTR_MMCR(1, EV_INSTRUCTIONS, USER, TRIGGER) },
	{ "TRIGGER, PMCnCE", CTR_MMCR(3, EV_INSTRUCTIONS, USER, FCECE),
	  CTR_MMCR(1, EV_INSTRUCTIONS, USER, TRIGGER | PMCNCE) },
};

START_TEST(others_left_something)
{
	struct perfctr_config *config = begin("7450", &leftovers[_i].ctr, 1);
	bool waits = leftovers[_i].ctr.config & TRIGGER;
	struct thread thread, other;

	thread_init(&thread, config);
	thread_init(&other, claim_well(&leftovers[_i].left, 1));
	thread_run(&other, 0, 2000000000);
	thread_run(&other, 0, 2000000000);
	thread_run(&other, 0, 1);
	ck_assert_uint_eq(sum(&other, 0), 4000000001);
	thread_run(&thread, 0, 1000);
	ck_assert_msg(sum(&thread, 0) == (waits ? 0 : 1000), "%s: %llu", leftovers[_i].name,
		      sum(&thread, 0));
}
END_TEST

/* At any two moments the same, whether the thread was switched in between or not. */
static const struct {
	u32 mmcr0;
	unsigned int hw[2];
} ways[] = {
	{ FCECE | PMC1CE, { 0, 1 } }, { FCECE | PMCNCE, { 0, 1 } },
	{ FCECE | PMC1CE | PMCNCE, { 1, 0 } },
	{ TRIGGER, { 0, 1 } }, { TRIGGER | PMCNCE, { 1, 0 } }, { TRIGGER | PMC1CE, { 0, 1 } },
	{ FCECE | TRIGGER | PMCNCE, { 0, 1 } }, { FCECE, { 0, 1 } },
};

START_TEST(as_if_it_were_alone)
{
	const u32 mmcr0 = ways[_i].mmcr0;
	const struct perfctr_ctr_control ctr[] = {
		CTR_MMCR(ways[_i].hw[0], EV_INSTRUCTIONS, USER, mmcr0),
		CTR_MMCR(ways[_i].hw[1], EV_CYCLES, USER, mmcr0),
	};
	struct perfctr_config *config = begin("7400", ctr, 2), *others = CLAIM(plain);
	struct thread alone, switched;
	unsigned int i, n;

	thread_init(&switched, config);
	thread_init(&alone, config);
	/* On CPU 1 nobody else ever is. */
	thread_in(&alone, 1);
	for (i = 0; i < 60; i++) {
		n = next_random() % 100000000;
		shim_cpu = 1;
		model_execute(MODEL_USER, n);
		thread_in(&switched, 0);
		model_execute(MODEL_USER, n);
		thread_out(&switched);
		if (next_random() % 2)
			somebody_else_runs(others, 0);
		/* It is suspended and resumed at once there, which the registers do not notice. */
		ck_assert_int_eq(age_all(), 0);
	}
	thread_out(&alone);
	for (i = 0; i < 2; i++)
		ck_assert_uint_eq(sum(&switched, i), sum(&alone, i));
	ck_assert_uint_eq(switched.state.own, alone.state.own);
}
END_TEST

void test_own_way(void)
{
	unit_begin("ppc32_own_way");
	unit_run(freezes_over_switches, 2);
	UNIT_RUN(each_state_has_its_own);
	unit_run(triggers_over_switches, 2);
	UNIT_RUN(triggers_and_freezes);
	unit_run(freezes_at_a_period, 2);
	UNIT_ROWS(long_a_mode_beside_a_period, long_ones);
	UNIT_ROWS(others_left_something, leftovers);
	UNIT_ROWS(as_if_it_were_alone, ways);
}
