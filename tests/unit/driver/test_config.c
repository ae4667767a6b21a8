// SPDX-License-Identifier: GPL-2.0
/* config.c: who shares a config, and when one is claimed, found again and freed. */
#include "threads.h"
#include "unit.h"

static const struct perfctr_ctr_control two[] = {
	CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER),
};
static const struct perfctr_ctr_control kernel[] = { CTR(ANY, EV_INSTRUCTIONS, KERNEL) };

static struct model_ownership at_boot;

/* Of the latest get() or expect_error() */
static struct perfctr_refusal refusal;

static void begin(const struct model_machine *machine)
{
	model_boot(machine);
	model_ownership(&at_boot);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	ck_assert_int_eq(perfctr_config_init(), 0);
	model_calls_reset();
}

/* Nothing is left when the module goes, whatever was pending. */
static void end(void)
{
	perfctr_config_exit();
	perfctr_cpu_exit();
	ck_assert_uint_eq(shim_allocations, 0);
	ck_assert_uint_eq(shim_hotplug_locked, 0);
	ck_assert_uint_eq(shim_work_delay(), 0);
	model_expect_ownership(&at_boot);
}

static struct perfctr_config *get(const struct perfctr_ctr_control *ctr, u32 nr)
{
	struct perfctr_config *config = perfctr_config_get(ctr, nr, &refusal);

	ck_assert_msg(!IS_ERR(config), "%ld", PTR_ERR(config));
	ck_assert_uint_eq(refusal.index, PERFCTR_NO_INDEX);
	ck_assert_uint_eq(refusal.owner, PERFCTR_OWNER_NONE);
	ck_assert_uint_eq(shim_hotplug_locked, 0);
	return config;
}

static void expect_error(const struct perfctr_ctr_control *ctr, u32 nr, int err)
{
	struct model_ownership before;
	unsigned int allocations = shim_allocations;

	model_ownership(&before);
	ck_assert_int_eq(PTR_ERR(perfctr_config_get(ctr, nr, &refusal)), err);
	model_expect_ownership(&before);
	ck_assert_uint_eq(shim_allocations, allocations);
	ck_assert_uint_eq(shim_hotplug_locked, 0);
}

START_TEST(equal_controls_share)
{
	struct perfctr_config *a, *b, *c;
	struct thread thread;

	begin(&model_default);
	a = get(two, 2);
	model_calls_reset();
	b = get(two, 2);
	ck_assert_ptr_eq(a, b);
	ck_assert_uint_eq(model_all_calls(), 0);
	ck_assert_uint_eq(shim_allocations, 1);
	perfctr_config_put(a, false);
	c = get(two, 2);
	ck_assert_ptr_eq(b, c);
	thread_init(&thread, c);
	perfctr_config_put(b, false);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	ck_assert_uint_ne(model_owned(0, MODEL_DRIVER), 0);
	perfctr_config_put(c, false);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), 0);
	ck_assert_uint_eq(shim_allocations, 0);
	end();
}
END_TEST

/* Equal is what is equal in every member. */
static const struct {
	const char *name;
	u32 nr_a, nr_b;
	struct perfctr_ctr_control a[2], b[2];
} differences[] = {
	{ "fewer", 2, 1, { CTR(FIRST, EV_CYCLES, USER), CTR(FIRST + 1, EV_ITLB, USER) },
	  { CTR(FIRST, EV_CYCLES, USER) } },
	{ "more", 1, 2, { CTR(FIRST, EV_CYCLES, USER) },
	  { CTR(FIRST, EV_CYCLES, USER), CTR(FIRST + 1, EV_ITLB, USER) } },
	{ "none", 1, 0, { CTR(FIRST, EV_CYCLES, USER) }, {} },
	{ "map", 1, 1, { CTR(FIRST, EV_CYCLES, USER) }, { CTR(FIRST + 1, EV_CYCLES, USER) } },
	{ "any", 1, 1, { CTR(FIRST, EV_CYCLES, USER) }, { CTR(ANY, EV_CYCLES, USER) } },
	{ "event", 1, 1, { CTR(FIRST, EV_CYCLES, USER) }, { CTR(FIRST, EV_ITLB, USER) } },
	{ "flags", 1, 1, { CTR(FIRST, EV_CYCLES, USER) }, { CTR(FIRST, EV_CYCLES, BOTH) } },
	{ "the last", 2, 2, { CTR(FIRST, EV_CYCLES, USER), CTR(FIRST + 1, EV_ITLB, USER) },
	  { CTR(FIRST, EV_CYCLES, USER), CTR(FIRST + 1, EV_ITLB, KERNEL) } },
	{ "order", 2, 2, { CTR(FIRST, EV_CYCLES, USER), CTR(FIRST + 1, EV_ITLB, USER) },
	  { CTR(FIRST + 1, EV_ITLB, USER), CTR(FIRST, EV_CYCLES, USER) } },
};

START_TEST(different_controls_do_not)
{
	struct perfctr_config *a, *b;

	begin(&model_default);
	a = get(differences[_i].a, differences[_i].nr_a);
	b = get(differences[_i].b, differences[_i].nr_b);
	ck_assert_msg(a != b, "%s", differences[_i].name);
	ck_assert_ptr_eq(get(differences[_i].a, differences[_i].nr_a), a);
	ck_assert_ptr_eq(get(differences[_i].b, differences[_i].nr_b), b);
	ck_assert_uint_eq(shim_allocations, 2);
	perfctr_config_put(a, false);
	perfctr_config_put(b, false);
	ck_assert_uint_eq(shim_allocations, 2);
	perfctr_config_put(a, false);
	perfctr_config_put(b, false);
	end();
}
END_TEST

/* Kernel-mode counting needs what perf would ask for, also of what another one has already. */
START_TEST(kernel_mode_needs_permission)
{
	struct perfctr_config *config, *user;

	begin(&model_default);
	shim_allow_kernel = -EACCES;
	expect_error(kernel, 1, -EACCES);
	ck_assert_uint_eq(model_all_calls(), 0);
	user = get(two, 2);
	shim_allow_kernel = 0;
	config = get(kernel, 1);
	shim_allow_kernel = -EPERM;	/* whatever the kernel says, it is EACCES */
	expect_error(kernel, 1, -EACCES);
	perfctr_config_put(config, false);
	perfctr_config_put(user, false);
	end();
}
END_TEST

/* What cannot be is said first: it is no question of permission. */
START_TEST(nonsense_is_not_a_matter_of_permission)
{
	static const struct perfctr_ctr_control bad[] = {
		CTR(ANY, EV_INSTRUCTIONS, KERNEL), CTR(31, EV_ITLB, USER),
	};
	static const struct perfctr_ctr_control never[] = { CTR_NEVER };

	begin(&model_default);
	shim_allow_kernel = -EACCES;
	expect_error(bad, 2, -EINVAL);
	expect_error(never, 1, CTR_NEVER_ERROR);
	end();
}
END_TEST

START_TEST(no_memory)
{
	begin(&model_default);
	shim_no_memory = true;
	expect_error(two, 2, -ENOMEM);
	shim_no_memory = false;
	perfctr_config_put(get(two, 2), false);
	end();
}
END_TEST

START_TEST(busy_tells_the_owner)
{
	u32 taken;

	begin(&model_default);
	taken = model_perf_take_all(1);
	expect_error(two, 2, -EBUSY);
	ck_assert_uint_eq(refusal.owner, PERFCTR_OWNER_PERF);
	/* Where counters are had one by one it is the first; else it is all of them. */
	ck_assert_uint_eq(refusal.index, BUSY_INDEX);
	model_perf_give(1, taken);
	perfctr_config_put(get(two, 2), false);
	end();
}
END_TEST

/* An error that is not EBUSY says which counter it is, and nothing about an owner. */
START_TEST(other_errors_tell_the_counter)
{
	static const struct perfctr_ctr_control bad[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR_NONE,
	};
	static const struct perfctr_ctr_control last[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, KERNEL),
	};

	begin(&model_default);
	expect_error(bad, 2, -EINVAL);
	ck_assert_uint_eq(refusal.index, 1);
	ck_assert_uint_eq(refusal.owner, PERFCTR_OWNER_NONE);
	shim_allow_kernel = -EACCES;
	expect_error(last, 2, -EACCES);
	ck_assert_uint_eq(refusal.index, 1);
	ck_assert_uint_eq(refusal.owner, PERFCTR_OWNER_NONE);
	shim_no_memory = true;
	expect_error(two, 2, -ENOMEM);
	ck_assert_uint_eq(refusal.index, PERFCTR_NO_INDEX);
	end();
}
END_TEST

/* A put that may not sleep leaves the rest to a work; and the next get may find it again. */
START_TEST(reaped_later)
{
	struct perfctr_config *config;

	begin(&model_default);
	config = get(two, 2);
	model_calls_reset();
	local_irq_disable();
	perfctr_config_put(config, true);
	local_irq_enable();
	ck_assert_uint_eq(model_all_calls(), 0);
	ck_assert_uint_eq(shim_allocations, 1);
	shim_work(false);
	ck_assert_uint_eq(shim_allocations, 0);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), 0);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
	end();
}
END_TEST

START_TEST(found_again_before_it_is_reaped)
{
	struct perfctr_config *config;
	struct thread thread;

	begin(&model_default);
	config = get(two, 2);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	perfctr_config_put(config, true);
	model_calls_reset();
	ck_assert_ptr_eq(get(two, 2), config);
	ck_assert_uint_eq(model_all_calls(), 0);
	shim_work(false);
	ck_assert_uint_eq(shim_allocations, 1);
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	perfctr_config_put(config, false);
	ck_assert_uint_eq(shim_allocations, 0);
	end();
}
END_TEST

/* What nobody needs any more makes room at once. */
START_TEST(reaped_for_the_next)
{
	static const struct perfctr_ctr_control misses[] = { CTR(FIRST, EV_DTLB_READ, USER) };
	struct perfctr_config *old, *config;

	begin(&model_tight);
	old = get(two, 2);
	perfctr_config_put(old, true);
	config = get(misses, 1);
	ck_assert_uint_eq(shim_allocations, 1);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), model_needed(config));
	shim_work(false);
	ck_assert_uint_eq(shim_allocations, 1);
	perfctr_config_put(config, false);
	end();
}
END_TEST

/* Unload right after the last state died: the work has not run yet. */
START_TEST(exit_with_work_pending)
{
	begin(&model_default);
	perfctr_config_put(get(two, 2), true);
	end();
}
END_TEST

START_TEST(put_of_nothing)
{
	begin(&model_default);
	perfctr_config_put(NULL, false);
	perfctr_config_put(NULL, true);
	end();
}
END_TEST

/* The clock alone is a config as well, without counters. */
START_TEST(clock_alone)
{
	struct perfctr_config *clock;

	begin(&model_default);
	clock = get(two, 0);
	ck_assert_uint_eq(model_all_calls(), 0);
	ck_assert_uint_eq(clock->nr, 0);
	ck_assert_uint_eq(clock->mask, 0);
	ck_assert_ptr_eq(get(kernel, 0), clock);
	perfctr_config_put(clock, false);
	perfctr_config_put(clock, false);
	end();
}
END_TEST

/* Ageing goes on while there is a config, and ends after the last. */
START_TEST(ageing_goes_on)
{
	struct perfctr_config *config;
	struct thread thread;
	int i;

	begin(&model_narrow);
	ck_assert_uint_eq(shim_work_delay(), 0);
	config = get(two, 2);
	thread_init(&thread, config);
	for (i = 0; i < 20; i++) {
		ck_assert_uint_eq(shim_work_delay(), perfctr_cpu_age_period());
		thread_in(&thread, (unsigned int)i % 2);
		model_execute(MODEL_USER, 1ull << 30);
		shim_work(true);
		thread_out(&thread);
	}
	thread_expect_exact(&thread);
	perfctr_config_put(config, false);
	shim_work(true);
	ck_assert_uint_eq(shim_work_delay(), 0);
	/* And begins again with the next. */
	config = get(two, 2);
	ck_assert_uint_eq(shim_work_delay(), perfctr_cpu_age_period());
	perfctr_config_put(config, false);
	end();
}
END_TEST

START_TEST(nothing_to_age)
{
	begin(&model_ageless);
	perfctr_config_put(get(two, perfctr_cpu_nrctrs() ? 2 : 0), true);
	ck_assert_uint_eq(shim_work_delay(), 0);
	end();
}
END_TEST

START_TEST(hotplug)
{
	struct perfctr_config *config;
	struct thread thread;

	begin(&model_default);
	config = get(two, 2);
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	shim_cpu_down(1);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
	model_cpu_off(1);
	thread_run(&thread, 0, 1000);
	model_cpu_on(1);
	shim_cpu_up(1);
	ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), model_needed(config));
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	perfctr_config_put(config, false);
	end();
}
END_TEST

void test_config(void)
{
	unit_begin(MODEL_ARCH "_config");
	UNIT_RUN(equal_controls_share);
	UNIT_ROWS(different_controls_do_not, differences);
	UNIT_RUN(kernel_mode_needs_permission);
	UNIT_RUN(nonsense_is_not_a_matter_of_permission);
	UNIT_RUN(no_memory);
	UNIT_RUN(busy_tells_the_owner);
	UNIT_RUN(other_errors_tell_the_counter);
	UNIT_RUN(reaped_later);
	UNIT_RUN(found_again_before_it_is_reaped);
	UNIT_RUN(reaped_for_the_next);
	UNIT_RUN(exit_with_work_pending);
	UNIT_RUN(put_of_nothing);
	UNIT_RUN(clock_alone);
	UNIT_RUN(ageing_goes_on);
	UNIT_RUN(nothing_to_age);
	UNIT_RUN(hotplug);
}
