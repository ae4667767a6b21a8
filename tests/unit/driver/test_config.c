// SPDX-License-Identifier: GPL-2.0
/* config.c: who shares a config, and when one is claimed, found again and freed. */
#include <linux/pid_namespace.h>
#include <linux/user_namespace.h>

#include "threads.h"
#include "unit.h"
#include "base/account.h"
#include "base/hook.h"
#include "thread/kin.h"
#include "config/config.h"
#include "test_config.h"

static const struct perfctr_ctr_control two[] = {
	CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER),
};
static const struct perfctr_ctr_control kernel[] = { CTR(ANY, EV_INSTRUCTIONS, KERNEL) };

static struct model_ownership at_boot;

/* Of the latest get() or expect_error() */
static struct perfctr_refusal refusal;

void begin(const struct model_machine *machine)
{
	model_boot(machine);
	model_ownership(&at_boot);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	ck_assert_int_eq(perfctr_config_init(), 0);
	/* The user's account is no config, but an allocation. */
	perfctr_broadcasts_made(0);
	ck_assert_uint_eq(shim_allocations, 1);
	model_calls_reset();
}

unsigned int configs_there(void)
{
	return shim_allocations - 1;
}

void end(void)
{
	perfctr_config_exit();
	perfctr_account_exit();
	perfctr_cpu_exit();
	ck_assert_uint_eq(shim_allocations, 0);
	ck_assert_uint_eq(shim_hotplug_locked, 0);
	ck_assert_uint_eq(shim_work_delay(), 0);
	model_expect_ownership(&at_boot);
}

struct perfctr_config *get(const struct perfctr_ctr_control *ctr, u32 nr)
{
	struct perfctr_config *config = config_get_current(ctr, nr, PERFCTR_SOURCE_NATIVE, &refusal);

	ck_assert_msg(!IS_ERR(config), "%ld", PTR_ERR(config));
	ck_assert_uint_eq(refusal.index, PERFCTR_NO_INDEX);
	ck_assert_uint_eq(refusal.owner, PERFCTR_OWNER_NONE);
	ck_assert_uint_eq(shim_hotplug_locked, 0);
	return config;
}

void expect_error(const struct perfctr_ctr_control *ctr, u32 nr, int err)
{
	struct model_ownership before;
	unsigned int before_it = configs_there();

	model_ownership(&before);
	ck_assert_int_eq(PTR_ERR(config_get_current(ctr, nr, PERFCTR_SOURCE_NATIVE, &refusal)), err);
	model_expect_ownership(&before);
	ck_assert_uint_eq(configs_there(), before_it);
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
	ck_assert_uint_eq(configs_there(), 1);
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
	ck_assert_uint_eq(configs_there(), 0);
	end();
}
END_TEST

/* Controls are equal only if they are equal in every member. */
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
	  { CTR(FIRST, EV_CYCLES, USER), CTR(FIRST + 1, EV_DTLB_READ, USER) } },
#if !MODEL_ONE_MODE
	{ "the last's flags", 2, 2, { CTR(FIRST, EV_CYCLES, USER), CTR(FIRST + 1, EV_ITLB, USER) },
	  { CTR(FIRST, EV_CYCLES, USER), CTR(FIRST + 1, EV_ITLB, KERNEL) } },
#endif
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
	ck_assert_uint_eq(configs_there(), 2);
	perfctr_config_put(a, false);
	perfctr_config_put(b, false);
	ck_assert_uint_eq(configs_there(), 2);
	perfctr_config_put(a, false);
	perfctr_config_put(b, false);
	end();
}
END_TEST

/*
 * Who has the same user id in another namespace has a config of its own. The counters count the same
 * for both, but are private to one of them at most.
 */
START_TEST(namespaces_are_apart)
{
	static struct pid_namespace inner;
	static struct user_namespace inner_user = { .parent = &init_user_ns };
	struct perfctr_config *a, *b;
	struct thread thread;

	begin(&model_default);
	a = get(two, 2);
	if (_i)
		shim_current.pid_ns = &inner;
	else
		shim_user_ns = &inner_user;
	b = get(two, 2);
	ck_assert_ptr_ne(a, b);
	ck_assert_uint_eq(a->id, b->id);
	ck_assert_uint_ne(a->kin, b->kin);
	ck_assert_ptr_eq(get(two, 2), b);
	ck_assert_int_eq(restart_on(0, a, 1), 0);
	ck_assert(private_on(0, a, 1));
	ck_assert(!private_on(0, b, 1));
	ck_assert_int_eq(restart_on(0, b, 1), 0);
	ck_assert(!private_on(0, a, 1));
	on_cpu_irqs_off(0, perfctr_cpu_make_public);
	/* Where anybody can read them they stop. */
	ck_assert(has_loaded(0, a) != perfctr_cpu_always_readable());
	ck_assert(has_loaded(0, b) != perfctr_cpu_always_readable());
	/* The config that has ended is not found again. */
	perfctr_config_put(a, false);
	ck_assert_int_eq(restart_on(0, b, 1), 0);
	shim_current.pid_ns = NULL;
	shim_user_ns = &init_user_ns;
	a = get(two, 2);
	ck_assert(!private_on(0, a, 1));
	thread_init(&thread, a);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	perfctr_config_put(a, false);
	perfctr_config_put(b, false);
	perfctr_config_put(b, false);
	ck_assert_uint_eq(inner.refs + inner_user.refs + init_pid_ns.refs + init_user_ns.refs, 0);
	end();
}
END_TEST

/* Nor does an evicted config's id count for the one that was private. */
START_TEST(evicted_beside_another_namespace)
{
	static struct pid_namespace inner;
	struct perfctr_config *a, *b;

	begin(&model_default);
	a = get(two, 2);
	shim_current.pid_ns = &inner;
	shim_uid = 7;
	b = get(two, 2);
	ck_assert_uint_eq(a->id, b->id);
	ck_assert_int_eq(restart_on(0, b, 7), 0);
	perfctr_config_evict(false, KUIDT_INIT(0));
	ck_assert_uint_ne(a->id, b->id);
	on_cpu_irqs_off(0, perfctr_cpu_make_public);
	ck_assert(!has_loaded(0, a));
	perfctr_config_put(a, false);
	perfctr_config_put(b, false);
	ck_assert_uint_eq(inner.refs, 0);
	end();
}
END_TEST

/* Kernel-mode counting needs the permission that perf would need, also if the config exists. */
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

#if defined(CONFIG_X86)
/*
 * Where counters count all modes whatever is asked, nobody without permission counts at all, unless
 * root says that all may see.
 */
START_TEST(modeless_needs_permission_unless_open)
{
	static const struct perfctr_ctr_control both[] = { CTR(ANY, 0xc0, USER | KERNEL) };
	static const unsigned int policies[] = {
		PERFCTR_USER_READ_OFF, PERFCTR_USER_READ_GUARDED, PERFCTR_USER_READ_OPEN,
	};
	struct perfctr_refusal why = NO_REFUSAL;
	unsigned int i;

	begin(&model_c3);
	shim_allow_kernel = -EACCES;
	for (i = 0; i < 3; i++) {
		perfctr_user_read = policies[i];
		if (policies[i] == PERFCTR_USER_READ_OPEN)
			perfctr_config_put(get(both, 1), false);
		else
			expect_error(both, 1, -EACCES);
	}
	perfctr_user_read = PERFCTR_USER_READ_GUARDED;
	ck_assert_int_eq(PTR_ERR(config_get_current(both, 1, PERFCTR_SOURCE_NATIVE, &why)), -EACCES);
	ck_assert_uint_eq(why.reason, PERFCTR_REASON_KERNEL);
	shim_allow_kernel = 0;
	perfctr_config_put(get(both, 1), false);
	end();
}
END_TEST

/* Elsewhere "open" is no permission to count kernel mode. */
START_TEST(open_is_no_permission_elsewhere)
{
	begin(&model_default);
	shim_allow_kernel = -EACCES;
	perfctr_user_read = PERFCTR_USER_READ_OPEN;
	expect_error(kernel, 1, -EACCES);
	end();
}
END_TEST
#endif

/* A control that is wrong is refused as such, whatever the permission. */
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
	/* RISC-V claims one by one and tells the first counter; x86 claims all, and tells none. */
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
		CTR(ANY, EV_INSTRUCTIONS, MODEL_ONE_MODE ? KERNEL : USER),
		CTR(ANY, EV_ITLB, KERNEL),
	};

	begin(&model_default);
	expect_error(bad, 2, -EINVAL);
	ck_assert_uint_eq(refusal.index, 1);
	ck_assert_uint_eq(refusal.owner, PERFCTR_OWNER_NONE);
	shim_allow_kernel = -EACCES;
	expect_error(last, 2, -EACCES);
	ck_assert_uint_eq(refusal.index, !MODEL_ONE_MODE);
	ck_assert_uint_eq(refusal.owner, PERFCTR_OWNER_NONE);
	shim_no_memory = true;
	expect_error(two, 2, -ENOMEM);
	ck_assert_uint_eq(refusal.index, PERFCTR_NO_INDEX);
	end();
}
END_TEST

/* A put that may not sleep leaves the rest to a work. The next get may still find the config. */
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
	ck_assert_uint_eq(configs_there(), 1);
	shim_work(false);
	ck_assert_uint_eq(configs_there(), 0);
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
	ck_assert_uint_eq(configs_there(), 1);
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	perfctr_config_put(config, false);
	ck_assert_uint_eq(configs_there(), 0);
	end();
}
END_TEST

/* A config without users makes room at once. */
START_TEST(reaped_for_the_next)
{
	static const struct perfctr_ctr_control misses[] = { CTR(FIRST, EV_DTLB_READ, USER) };
	struct perfctr_config *old, *config;

	begin(&model_tight);
	old = get(two, 2);
	perfctr_config_put(old, true);
	config = get(misses, 1);
	ck_assert_uint_eq(configs_there(), 1);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), model_needed(config));
	shim_work(false);
	ck_assert_uint_eq(configs_there(), 1);
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

/* --- eviction --- */

/* Evicts all configs, or those of a user; the last put may not sleep. */
static const struct {
	const char *name;
	bool all, atomic;
} evicted_rows[] = {
	{ "all", true, false }, { "a user", false, false }, { "atomic", false, true },
};

START_TEST(evicted)
{
	struct perfctr_config *config, *other, *again;
	struct thread thread, sleeper, stranger;
	bool all = evicted_rows[_i].all;

	begin(&model_default);
	shim_uid = 1000;
	config = get(two, 2);
	shim_uid = 0;
	other = get(two, 2);
	thread_init(&thread, config);
	thread_init(&sleeper, config);
	thread_init(&stranger, other);
	thread_run(&sleeper, 1, 1000);
	thread_in(&thread, 0);
	thread_in(&stranger, 1);
	perfctr_config_evict(all, KUIDT_INIT(1000));
	/* A running thread is lost at once, a sleeping one as it comes to a CPU. */
	ck_assert_int_eq(thread.error, -EIO);
	ck_assert_int_eq(stranger.error, all ? -EIO : 0);
	if (all)
		ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), 0);
	thread_out(&thread);
	thread_out(&stranger);
	thread_run(&sleeper, 0, 1000);
	ck_assert_int_eq(sleeper.error, -EIO);
	if (!all) {
		thread_run(&stranger, 0, 1000);
		thread_expect_exact(&stranger);
	}
	/* A new config is another one, and counts. */
	shim_uid = 1000;
	again = get(two, 2);
	ck_assert_ptr_ne(again, config);
	thread_init(&thread, again);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	/* The old config goes with its last user, and takes no counter along. */
	perfctr_config_put(config, evicted_rows[_i].atomic);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	perfctr_config_put(again, false);
	perfctr_config_put(other, false);
	shim_uid = 0;
	end();
}
END_TEST

/* A config without users that was not reaped yet */
START_TEST(evicted_without_users)
{
	begin(&model_default);
	perfctr_config_put(get(two, 2), true);
	perfctr_config_evict(true, KUIDT_INIT(0));
	ck_assert_uint_eq(configs_there(), 0);
	shim_work(false);
	end();
}
END_TEST

START_TEST(the_clock_is_not_evicted)
{
	struct perfctr_config *config;

	begin(&model_default);
	config = get(two, 0);
	perfctr_config_evict(true, KUIDT_INIT(0));
	ck_assert(!config->evicted);
	ck_assert_ptr_eq(get(two, 0), config);
	perfctr_config_put(config, false);
	perfctr_config_put(config, false);
	end();
}
END_TEST

/* --- isolated CPUs --- */

/* CPU 1 is isolated: nothing is done there until a thread comes, nor after the last config. */
START_TEST(isolated_until_used)
{
	static const struct perfctr_ctr_control itlb[] = { CTR(ANY, EV_ITLB, USER) };
	struct perfctr_config *config, *second;
	struct thread thread;
	int turn;

	cpus_isolated = BIT(1);
	begin(&model_default);
	for (turn = 0; turn < 2; turn++) {
		config = get(two, 2);
		ck_assert_uint_ne(model_owned(0, MODEL_DRIVER), 0);
		ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
		thread_init(&thread, config);
		thread_run(&thread, 0, 1000);
		ck_assert(!(cpus_told & BIT(1)));
		thread_run(&thread, 1, 1000);
		ck_assert(cpus_told & BIT(1));
		/* A config that is claimed now is claimed there as well. */
		second = get(itlb, 1);
		ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), model_owned(0, MODEL_DRIVER));
		thread_run(&thread, 1, 1000);
		perfctr_config_put(second, false);
		thread_run(&thread, 1, 1000);
		thread_expect_exact(&thread);
		perfctr_config_put(config, false);
		shim_work(true);
		ck_assert_uint_eq(model_owned(1, MODEL_DRIVER), 0);
		ck_assert(!(cpus_told & BIT(1)));
	}
	end();
	cpus_isolated = 0;
}
END_TEST

/* An isolated CPU that comes online during a claim is left alone all the same. */
START_TEST(isolated_over_hotplug)
{
	struct perfctr_config *config;
	struct thread thread;

	cpus_isolated = BIT(1);
	begin(&model_default);
	config = get(two, 2);
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	shim_cpu_down(1);
	model_cpu_off(1);
	model_cpu_on(1);
	shim_cpu_up(1);
	thread_run(&thread, 1, 1000);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	perfctr_config_put(config, false);
	end();
	cpus_isolated = 0;
}
END_TEST

/* hook.c: if one of several probes cannot be registered none is. */
static void probe(void *data)
{
	ck_assert_ptr_null(data);
}

START_TEST(all_probes_or_none)
{
	static const char *const names[] = {
		"sched_process_fork", "sched_process_exec", "sched_process_exit",
	};
	struct perfctr_probe probes[3];
	unsigned int i, n;

	for (i = 0; i < 3; i++)
		probes[i] = (struct perfctr_probe){ .name = names[i], .fn = probe };
	ck_assert_int_eq(perfctr_probes_find(probes, 3), 0);
	for (n = 1; n <= 4; n++) {
		shim_fail_nth = n;
		ck_assert_int_eq(perfctr_probes_register(probes, 3), n < 4 ? -ENOMEM : 0);
		shim_fail_nth = 0;
		for (i = 0; i < 3; i++)
			ck_assert(!shim_probe(names[i]) == (n < 4));
	}
	perfctr_probes_unregister(probes, 3);
	for (i = 0; i < 3; i++)
		ck_assert(!shim_probe(names[i]));
}
END_TEST

void test_config(void)
{
	unit_begin(MODEL_ARCH "_config");
	UNIT_RUN(equal_controls_share);
	UNIT_ROWS(different_controls_do_not, differences);
	unit_run(namespaces_are_apart, 2);
	UNIT_RUN(evicted_beside_another_namespace);
	UNIT_RUN(kernel_mode_needs_permission);
#if defined(CONFIG_X86)
	UNIT_RUN(modeless_needs_permission_unless_open);
	UNIT_RUN(open_is_no_permission_elsewhere);
#endif
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
	test_config_users();
	UNIT_ROWS(evicted, evicted_rows);
	UNIT_RUN(evicted_without_users);
	UNIT_RUN(the_clock_is_not_evicted);
	UNIT_RUN(isolated_until_used);
	UNIT_RUN(isolated_over_hotplug);
	UNIT_RUN(all_probes_or_none);
}
