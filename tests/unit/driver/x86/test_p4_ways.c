// SPDX-License-Identifier: GPL-2.0
/* The Pentium 4: cascades, replay tagging, and CPUs without counters of their own */
#include <check.h>

#include "arch/x86/intel/p4.h"
#include "config/config.h"
#include "tests.h"
#include "x86/test_p4.h"

static const struct model_machine *const p4s[] = {
	&model_p4, &model_p4m2, &model_p4m3, &model_p4m2_ht, &model_p4m3_ht,
};

#define NAMED(m, s, e)	{ .map = (m), .event = P4_CCCR(s), .config = (e), .flags = USER }

/*
 * Cascades: a counter that waits counts from the other's overflow on, whoever comes in between.
 */

#define WAITS(bit)	((bit) | CCCR_ANY_THREAD)

static const struct {
	const char *name;
	u32 first, second;
	u64 bit;
} cascades[] = {
	{ "0 to 2", 0, 2, CCCR_CASCADE }, { "3 to 1", 3, 1, CCCR_CASCADE },
	{ "4 to 6", 4, 6, CCCR_CASCADE }, { "11 to 9", 11, 9, CCCR_CASCADE },
	{ "12 to 14", 12, 14, CCCR_CASCADE }, { "14 to 16", 14, 16, CCCR_CASCADE },
	{ "15 to 17", 15, 17, CCCR_CASCADE }, { "16 to 12", 16, 12, CCCR_EXTENDED },
	{ "17 to 15", 17, 15, CCCR_EXTENDED }, { "17 to 16", 17, 16, CCCR_EXTENDED },
	{ "16 to 17", 16, 17, CCCR_EXTENDED },
};

static void of_block(struct perfctr_ctr_control *ctr, u32 map)
{
	static const struct {
		u64 select, escr;
	} events[] = { { 6, CYCLES }, { 2, BRANCH_TYPES }, { 5, STORES }, { 4, INSNS } };
	unsigned int block = map < 12 ? map / 4 : 3;

	*ctr = (struct perfctr_ctr_control){
		.map = map, .flags = USER, .event = P4_CCCR(events[block].select),
		.config = events[block].escr,
	};
}

static void in_own_way(struct thread *thread, bool in)
{
	local_irq_disable();
	if (in) {
		ck_assert_int_eq(perfctr_cpu_load(thread->config), 0);
		perfctr_cpu_resume_own_way(thread->config, &thread->state);
	} else {
		perfctr_cpu_suspend_own_way(thread->config, &thread->state);
	}
	local_irq_enable();
}

START_TEST(cascade)
{
	struct perfctr_ctr_control ctr[2];
	struct perfctr_config *config;
	struct thread one, two;
	u64 before, first;

	driver_init(&model_p4m2);
	of_block(&ctr[0], cascades[_i].first);
	of_block(&ctr[1], cascades[_i].second);
	/* Each increment is an overflow, and so the first event lets the other one go. */
	ctr[0].event |= CCCR_ENABLE | CCCR_ANY_THREAD | CCCR_FORCE_OVF;
	ctr[1].event |= WAITS(cascades[_i].bit);
	config = CLAIM(ctr);
	ck_assert(config->own_way);
	thread_init(&one, config);
	thread_init(&two, config);

	/* Nothing happens to the first thread. */
	in_own_way(&one, true);
	in_own_way(&one, false);
	ck_assert_uint_eq(one.state.own, 0);
	in_own_way(&two, true);
	model_execute(MODEL_USER, 1000);
	before = model_value(0, cascades[_i].second);
	model_execute(MODEL_USER, 1000);
	first = model_value(0, cascades[_i].second) - before;
	ck_assert_msg(first, "%s", cascades[_i].name);
	shim_jiffies++;
	ck_assert(model_verify_on(0));
	in_own_way(&two, false);
	ck_assert_uint_eq(two.state.own, BIT(1));
	before = two.state.ctr[1].acc;

	/* To it, the counter still waits; and to the other one it counts on at once. */
	in_own_way(&one, true);
	ck_assert_uint_eq(model_msr(0, 0x360 + cascades[_i].second) & CCCR_ENABLE, 0);
	in_own_way(&one, false);
	ck_assert_uint_eq(one.state.ctr[1].acc, 0);
	in_own_way(&two, true);
	ck_assert_uint_ne(model_msr(0, 0x360 + cascades[_i].second) & CCCR_ENABLE, 0);
	model_execute(MODEL_USER, 1000);
	in_own_way(&two, false);
	ck_assert_uint_eq(two.state.ctr[1].acc, before + first);
}
END_TEST

/*
 * Replay tagging: one value at a time, on all CPUs
 */

static u64 pebs_of(unsigned int cpu, unsigned int i)
{
	return model_msr(cpu, 0x3f1 + i);
}

START_TEST(replay_tagging)
{
	struct perfctr_ctr_control ctr[] = {
		NAMED(12, 5, REPLAYS), NAMED(13, 4, INSNS),
	}, other[] = {
		NAMED(14, 5, REPLAYS),
	}, plain[] = {
		NAMED(14, 5, BRANCHES),
	};
	struct perfctr_refusal why = NO_REFUSAL;
	struct perfctr_config *config, *second;
	struct thread thread;
	unsigned int cpu;
	bool kernel;

	driver_init(&model_p4m3);
	ctr[0].config1 = TAG | BIT(2);
	ctr[0].config2 = 1;
	/* Of one control's counters some need not say it, and none may say anything else. */
	ck_assert_int_eq(perfctr_cpu_check(ctr, 2, &kernel, &why), 0);
	ctr[1].config1 = TAG | BIT(1);
	ctr[1].config2 = 1;
	ck_assert_int_eq(perfctr_cpu_check(ctr, 2, &kernel, &why), -EINVAL);
	ck_assert_uint_eq(why.index, 1);
	ctr[1].config1 = TAG | BIT(2);
	ctr[1].config2 = 2;
	ck_assert_int_eq(perfctr_cpu_check(ctr, 2, &kernel, &why), -EINVAL);
	ctr[1].config2 = 1;
	config = CLAIM(ctr);
	for (cpu = 0; cpu < 2; cpu++) {
		ck_assert_uint_eq(pebs_of(cpu, 0), TAG | BIT(2));
		ck_assert_uint_eq(pebs_of(cpu, 1), 1);
	}
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	ck_assert_uint_ne(thread.state.ctr[0].acc, 0);

	other[0].config1 = TAG | BIT(2);
	other[0].config2 = 3;
	why = (struct perfctr_refusal)NO_REFUSAL;
	ck_assert_int_eq(PTR_ERR(claim(other, 1, &why)), -EBUSY);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_PERFCTR);
	ck_assert_uint_eq(why.index, 0);
	unclaim(CLAIM(plain));
	other[0].config2 = 1;
	second = CLAIM(other);
	unclaim(config);
	ck_assert_uint_eq(pebs_of(1, 0), TAG | BIT(2));
	unclaim(second);
	for (cpu = 0; cpu < 2; cpu++) {
		ck_assert_uint_eq(pebs_of(cpu, 0), 0);
		ck_assert_uint_eq(pebs_of(cpu, 1), 0);
	}
}
END_TEST

/* Two controls of one user that differ in their tags alone are not the same. */
START_TEST(tags_are_compared)
{
	struct perfctr_ctr_control ctr = NAMED(12, 5, REPLAYS);
	struct perfctr_config *config, *again;
	struct perfctr_refusal why;

	driver_init(&model_p4m3);
	ck_assert_int_eq(perfctr_config_init(), 0);
	ctr.config1 = TAG | BIT(2);
	ctr.config2 = 1;
	config = config_get_current(&ctr, 1, PERFCTR_SOURCE_NATIVE, &why);
	ck_assert(!IS_ERR(config));
	again = config_get_current(&ctr, 1, PERFCTR_SOURCE_NATIVE, &why);
	ck_assert_ptr_eq(again, config);
	ctr.config2 = 3;
	ck_assert_int_eq(PTR_ERR(config_get_current(&ctr, 1, PERFCTR_SOURCE_NATIVE, &why)), -EBUSY);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_PERFCTR);
	ctr.config2 = 1;
	ctr.config1 = TAG | BIT(1);
	ck_assert_int_eq(PTR_ERR(config_get_current(&ctr, 1, PERFCTR_SOURCE_NATIVE, &why)), -EBUSY);
	perfctr_config_put(again, false);
	perfctr_config_put(config, false);
	perfctr_config_exit();
}
END_TEST

/* On other processors these members are of perf's events alone. */
START_TEST(more_config_elsewhere)
{
	struct perfctr_ctr_control ctr = CTR(ANY, EV_INSTRUCTIONS, USER);
	struct perfctr_refusal why;

	driver_init(&model_default);
	ck_assert(!perfctr_may_have_more(&ctr));
	ck_assert_int_eq(check_one(&ctr, &why), 0);
	ctr.config1 = 1;
	ck_assert_int_eq(check_one(&ctr, &why), -EINVAL);
	ctr.config1 = 0;
	ctr.config2 = 1;
	ck_assert_int_eq(check_one(&ctr, &why), -EINVAL);
}
END_TEST

/*
 * Hyperthreads
 */

/* The second thread of a core counts nothing, and is loaded with nothing. */
START_TEST(forbidden_cpus)
{
	static const struct perfctr_ctr_control ctr[] = { NAMED(12, 4, INSNS) };
	bool ht = p4s[_i]->threads > 1;
	struct perfctr_config *config;

	driver_init(p4s[_i]);
	ck_assert(!perfctr_cpu_is_forbidden(0));
	ck_assert_int_eq(perfctr_cpu_is_forbidden(1), ht);
	/* Whoever may execute RDPMC there would read this. */
	ck_assert_int_eq(perfctr_cpu_can_guard(), !ht);
	config = CLAIM(ctr);
	ck_assert_int_eq(load_on(0, config), 0);
	model_calls_reset();
	ck_assert_int_eq(load_on(1, config), ht ? -EIO : 0);
	ck_assert_uint_eq(model_all_writes(), ht ? 0 : 2);
	unclaim(config);
}
END_TEST

static const struct {
	u32 allowed;
	int cpu, err;
} wheres[] = {
	{ 0x1, -1, 0 }, { 0x3, -1, 0 }, { 0x2, -1, -EINVAL }, { 0, 0, 0 }, { 0, 1, -EINVAL },
};

START_TEST(where_it_counts)
{
	struct task_struct task = {};
	const struct perfctr_where where = {
		.task = wheres[_i].cpu < 0 ? &task : NULL, .cpu = wheres[_i].cpu,
	};
	u32 core = 1;

	task.cpus_mask.bits = wheres[_i].allowed;
	driver_init(&model_p4m2_ht);
	ck_assert_int_eq(perfctr_cpu_core(&where, &core), wheres[_i].err);
	if (!wheres[_i].err)
		ck_assert_uint_eq(core, 0);
}
END_TEST

void test_p4_ways(void)
{
	UNIT_ROWS(cascade, cascades);
	UNIT_RUN(replay_tagging);
	UNIT_RUN(tags_are_compared);
	UNIT_RUN(more_config_elsewhere);
	UNIT_ROWS(forbidden_cpus, p4s);
	UNIT_ROWS(where_it_counts, wheres);
}
