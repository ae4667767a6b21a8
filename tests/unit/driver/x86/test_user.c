// SPDX-License-Identifier: GPL-2.0
/*
 * What user mode may read: restart, leave, make public, scrub. A thread that may read one register
 * may read all, so the tests look at all.
 */
#include "tests.h"

#define ALICE	1000
#define BOB	1001

static struct mm_struct mms[] = {
	{ .context = { .ctx_id = 100 } }, { .context = { .ctx_id = 200 } },
};

/* Counter 0 alone, counter 1 alone, and both, or all kinds */
static const struct perfctr_ctr_control first[] = { CTR(0, EV_INSTRUCTIONS, BOTH) };
static const struct perfctr_ctr_control second[] = { CTR(1, EV_BRANCHES, BOTH) };
static const struct perfctr_ctr_control both[] = {
	CTR(1, EV_INSTRUCTIONS, USER), CTR(0, EV_BRANCHES, BOTH),
};
static const struct perfctr_ctr_control mixed[] = {
	CTR(1, EV_INSTRUCTIONS, USER), CTR(FIXED(0), EV_INSTRUCTIONS, BOTH),
	CTR(FIXED(2), EV_REFERENCE_CYCLES, USER),
};

#define NR_CONTROLS 4

static struct perfctr_config *claim_control(unsigned int i)
{
	switch (i) {
	case 0:
		return CLAIM(first);
	case 1:
		return CLAIM(second);
	case 2:
		return CLAIM(both);
	default:
		return model_has_fixed() ? CLAIM(mixed) : CLAIM(both);
	}
}

static u32 counters(void)
{
	struct perfctr_kernel_info info = {};

	perfctr_cpu_info(&info);
	return (u32)info.counters;
}

static void leave(void)
{
	on_cpu_irqs_off(shim_cpu, perfctr_cpu_leave);
}

static void make_public(void)
{
	on_cpu_irqs_off(shim_cpu, perfctr_cpu_make_public);
}

static bool runs(void)
{
	bool is;

	local_irq_disable();
	is = perfctr_cpu_runs();
	local_irq_enable();
	return is;
}

static bool may_see(struct mm_struct *mm)
{
	const struct task_struct task = { .mm = mm };
	bool may;

	local_irq_disable();
	may = perfctr_cpu_may_see(&task);
	local_irq_enable();
	return may;
}

static void scrub(struct mm_struct *mm)
{
	const struct task_struct task = { .mm = mm };

	local_irq_disable();
	perfctr_cpu_scrub(&task);
	local_irq_enable();
}

static void leave_to_kin(struct mm_struct *mm)
{
	const struct task_struct task = { .mm = mm };

	local_irq_disable();
	perfctr_cpu_leave_to_kin(&task);
	local_irq_enable();
}

static void execute(void)
{
	model_execute(MODEL_USER, 1000);
	model_execute(MODEL_KERNEL, 100);
}

/* Only the counters in @mask count. */
static void expect_running(const char *when, u32 mask)
{
	unsigned int hw;

	for (hw = 0; hw < 32; hw++) {
		u64 before;

		if (!(counters() & BIT(hw)))
			continue;
		before = model_value(shim_cpu, hw);
		execute();
		ck_assert_msg((model_value(shim_cpu, hw) != before) == !!(mask & BIT(hw)),
			      "%s: counter %u %s", when, hw, mask & BIT(hw) ? "stands" : "runs");
	}
}

/* A register may count up to this in the rest of the WRMSR that starts it. */
#define A_WRMSR	40

static void expect_zero_but(const char *when, u32 mask)
{
	unsigned int hw;

	for (hw = 0; hw < 32; hw++)
		if (counters() & BIT(hw))
			ck_assert_msg(model_value(shim_cpu, hw) <= (mask & BIT(hw) ? A_WRMSR : 0),
				      "%s: counter %u holds %#llx", when, hw,
				      model_value(shim_cpu, hw));
}

static void expect_writes(const char *what, unsigned int nr)
{
	ck_assert_msg(model_all_writes() == nr, "%s: %u writes, expected %u", what,
		      model_all_writes(), nr);
	ck_assert_msg(model_all_calls() == nr, "%s: registers were read", what);
	model_calls_reset();
}

static void restart(const struct perfctr_config *config, unsigned int uid)
{
	ck_assert_int_eq(restart_on(shim_cpu, config, uid), 0);
	ck_assert(private_on(shim_cpu, config, uid));
	ck_assert(!has_loaded(shim_cpu, config));
	ck_assert(runs());
}

static const unsigned int rows = NR_MACHINES * NR_CONTROLS;

static struct perfctr_config *begin(int row)
{
	ck_assert_int_lt(row, (int)rows);
	driver_init(machines[row / NR_CONTROLS]);
	shim_current.mm = &mms[0];
	return claim_control((unsigned int)row % NR_CONTROLS);
}

/* A mapped thread beside others that do not count: one write to stop, and one to start. */
START_TEST(stop_and_start_are_a_write_each)
{
	struct perfctr_config *config = begin(_i);
	unsigned int nr = model.version != 1, i;

	restart(config, ALICE);
	execute();
	model_calls_reset();
	for (i = 0; i < 3; i++) {
		u64 value = model_value(0, config->hw[0]);

		leave();
		expect_writes("leave", nr);
		/* Version 1 cannot stop all by one write, so they are private to nobody. */
		ck_assert_int_eq(has_loaded(0, config), model.version == 1);
		ck_assert_int_eq(private_on(0, config, ALICE), model.version != 1);
		ck_assert_int_eq(runs(), model.version == 1);
		expect_running("left", nr ? 0 : config->mask);
		restart(config, ALICE);
		/* Stopped, they go on from where they were; else they start from zero. */
		if (nr)
			ck_assert_uint_ge(model_value(0, config->hw[0]), value);
		else
			expect_zero_but("restarted", config->mask);
		expect_writes("restart", nr ? 1 : config->nr);
		expect_running("restarted", config->mask);
	}
	/* A second leave() does nothing. */
	leave();
	model_calls_reset();
	leave();
	expect_writes("leave again", 0);
}
END_TEST

/* The counters go to a thread of the same kind in another process. */
START_TEST(kin_of_another_process_costs_nothing)
{
	struct perfctr_config *config = begin(_i);

	restart(config, ALICE);
	ck_assert(may_see(&mms[0]));
	ck_assert(!may_see(&mms[1]));
	execute();
	model_calls_reset();
	leave_to_kin(&mms[0]);
	ck_assert(may_see(&mms[0]));
	leave_to_kin(&mms[1]);
	shim_current.mm = &mms[1];
	ck_assert(private_on(0, config, ALICE));
	ck_assert(!private_on(0, config, BOB));
	ck_assert(!private_on(1, config, ALICE));
	shim_cpu = 0;
	ck_assert(runs());
	expect_writes("leave to kin", 0);
	/* But other threads of either process must not see what the other process counted. */
	ck_assert(!may_see(&mms[0]));
	ck_assert(!may_see(&mms[1]));
	if (model.version == 1)
		return;
	/* A start after a stop costs no more than that. */
	leave();
	model_calls_reset();
	restart(config, ALICE);
	expect_writes("restart", 1);
	ck_assert(!may_see(&mms[0]));
	ck_assert(!may_see(&mms[1]));
	/* A thread without an mm is dying: then it is not known whose counts they hold. */
	leave();
	shim_current.mm = NULL;
	restart(config, ALICE);
	ck_assert(!may_see(&mms[0]));
	ck_assert(!may_see(&mms[1]));
}
END_TEST

/* What others counted is gone, whoever they are, and nothing of theirs counts. */
static const char *const strangers[] = {
	"loaded", "restarted by another user", "restarted in another mm by another user", "dying",
};

START_TEST(nothing_of_strangers_is_left)
{
	unsigned int stranger = (unsigned int)_i / rows, i;
	const char *name = strangers[stranger];
	struct perfctr_config *config = begin((int)((unsigned int)_i % rows));

	for (i = 0; i < NR_CONTROLS; i++) {
		struct perfctr_config *other = claim_control(i);

		if (stranger == 0)
			ck_assert_int_eq(load_on(0, other), 0);
		shim_current.mm = stranger == 2 ? &mms[1] : &mms[0];
		if (stranger == 3)
			shim_current.mm = NULL;
		if (stranger)
			restart(other, BOB);
		execute();
		if (stranger)
			leave();
		shim_current.mm = &mms[0];
		ck_assert(!private_on(0, config, ALICE));
		restart(config, ALICE);
		expect_zero_but(name, config->mask);
		ck_assert(may_see(&mms[0]));
		ck_assert(!may_see(&mms[1]));
		expect_running(name, config->mask);
	}
}
END_TEST

/* A dying thread has no mm, which must not be taken for "several, or not known". */
START_TEST(dying_after_strangers)
{
	struct perfctr_config *config = begin(_i), *other = claim_control(2);

	restart(config, ALICE);
	leave();
	ck_assert_int_eq(load_on(0, other), 0);
	execute();
	shim_current.mm = NULL;
	restart(config, ALICE);
	expect_zero_but("dying", config->mask);
	ck_assert(!may_see(&mms[0]));
}
END_TEST

/* In one process, whose threads may read all registers, another control costs the differences. */
START_TEST(threads_of_a_process)
{
	struct perfctr_config *a, *b;

	driver_init(machines[_i]);
	shim_current.mm = &mms[0];
	a = CLAIM(first);
	b = CLAIM(second);
	restart(a, ALICE);
	execute();
	leave();
	restart(b, ALICE);
	execute();
	leave();
	model_calls_reset();
	restart(a, ALICE);
	expect_running("first", a->mask);
	leave();
	restart(b, ALICE);
	expect_running("second", b->mask);
	/* Nehalem's erratum takes 20 each time, and then the select is zero. */
	if (model.version >= 2)
		expect_writes("both, and between them a stop", 3 + (model.resets ? 2 * 21 : 0));
	ck_assert(may_see(&mms[0]));
}
END_TEST

/* For a process of which nothing else is known all counters are stopped and zero, whoever ran. */
START_TEST(scrubbed)
{
	struct perfctr_config *config;
	unsigned int i, last;

	driver_init(machines[_i]);
	for (last = 0; last < NR_CONTROLS; last++) {
		shim_current.mm = &mms[0];
		for (i = 0; i < NR_CONTROLS; i++) {
			config = claim_control((last + i) % NR_CONTROLS);
			if (i % 2)
				restart(config, ALICE + i);
			else
				ck_assert_int_eq(load_on(0, config), 0);
			execute();
		}
		scrub(&mms[1]);
		ck_assert(!has_loaded(0, config));
		ck_assert(!private_on(0, config, ALICE));
		expect_zero_but("scrubbed", 0);
		expect_running("scrubbed", 0);
		ck_assert(may_see(&mms[1]));
		ck_assert(!may_see(&mms[0]));
		/* For the next such process nothing is to be done. */
		model_calls_reset();
		scrub(&mms[0]);
		expect_writes("scrubbed twice", 0);
		ck_assert(may_see(&mms[0]));
		ck_assert(!may_see(&mms[1]));
	}
	/* A load lets the counters count again. */
	config = claim_control(2);
	ck_assert_int_eq(load_on(0, config), 0);
	ck_assert(!may_see(&mms[0]));
	if (model.version < 2)
		expect_running("loaded again", config->mask);
}
END_TEST

/* Private to nobody, and loaded for everybody if they run */
START_TEST(shared)
{
	struct perfctr_config *config = begin(_i);

	restart(config, ALICE);
	model_calls_reset();
	make_public();
	ck_assert(has_loaded(0, config));
	ck_assert(!private_on(0, config, ALICE));
	ck_assert(!may_see(&mms[0]));
	expect_writes("make public", 0);
	make_public();
	ck_assert(has_loaded(0, config));
	restart(config, ALICE);
	leave();
	make_public();
	ck_assert_int_eq(has_loaded(0, config), model.version == 1);
	ck_assert_int_eq(load_on(0, config), 0);
	model_calls_reset();
	ck_assert_int_eq(load_on(0, config), 0);
	expect_writes("load of what is loaded", 0);
	ck_assert(has_loaded(0, config));
	leave();
	ck_assert(has_loaded(0, config));
	expect_writes("leave without privacy", 0);
}
END_TEST

/* A load after a stop: counters that were stopped count on, which only reads show. */
START_TEST(loaded_after_a_stop)
{
	struct perfctr_config *config = begin(_i);
	struct thread thread;

	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	restart(config, ALICE);
	execute();
	leave();
	execute();
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	scrub(&mms[1]);
	shim_cpu = 0;
	scrub(&mms[1]);
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* After the release nobody sees anything of ours: all counters are zero and stopped. */
START_TEST(released_zero)
{
	struct perfctr_config *config = begin(_i), *other;
	unsigned int cpu;

	other = CLAIM(both);
	for (cpu = 0; cpu < 2; cpu++) {
		shim_cpu = cpu;
		ck_assert_int_eq(load_on(cpu, other), 0);
		execute();
		restart(config, ALICE);
		execute();
		if (cpu)
			ck_assert_int_eq(load_on(cpu, config), 0);
		execute();
	}
	unclaim(config);
	unclaim(other);
	for (cpu = 0; cpu < 2; cpu++) {
		shim_cpu = cpu;
		expect_zero_but("released", 0);
		expect_running("released", 0);
		/* What it may see is not the driver's business any more. */
		ck_assert(may_see(&mms[0]));
		ck_assert(may_see(&mms[1]));
	}
}
END_TEST

static void nothing_runs(bool ends)
{
	(void)ends;
}

/* What perf left is zeroed before the registers are ours, and not later. */
START_TEST(perf_leaves_nothing_to_be_zeroed)
{
	struct perfctr_config *config;
	struct thread thread;
	u32 taken;

	driver_init(machines[_i]);
	perfctr_cpu_permit_init(nothing_runs, NULL);
	shim_current.mm = &mms[0];
	atomic_set(&mms[0].context.perf_rdpmc_allowed, 1);
	taken = model_perf_take_all(0);
	model_execute(MODEL_USER, 1000);
	model_perf_give(0, taken);
	config = CLAIM(first);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	thread_in(&thread, 0);
	model_execute(MODEL_USER, 1000);
	/* A switch of mms, say */
	model_update_pce();
	model_execute(MODEL_USER, 1000);
	thread_out(&thread);
	thread_expect_exact(&thread);
}
END_TEST

/* CR4.PCE and the policy decide. */
static const struct {
	unsigned int policy;
	unsigned int nr;
	bool pce, mm, readable;
} policies[] = {
	{ PERFCTR_USER_READ_OFF, 1, true, true, false },
	{ PERFCTR_USER_READ_OFF, 0, true, true, false },
	{ PERFCTR_USER_READ_GUARDED, 1, true, true, true },
	{ PERFCTR_USER_READ_GUARDED, 1, false, true, false },
	{ PERFCTR_USER_READ_GUARDED, 1, true, false, false },
	{ PERFCTR_USER_READ_GUARDED, 0, false, true, true },
	{ PERFCTR_USER_READ_GUARDED, 0, false, false, false },
	{ PERFCTR_USER_READ_OPEN, 1, true, true, true },
	{ PERFCTR_USER_READ_OPEN, 1, false, true, false },
};

START_TEST(user_readable)
{
	struct perfctr_config *config;

	driver_init(&model_default);
	config = claim_well(first, policies[_i].nr);
	shim_current.mm = policies[_i].mm ? &mms[0] : NULL;
	shim_cpu = 1;
	model_pce[1] = policies[_i].pce;
	ck_assert_int_eq(perfctr_cpu_user_readable(config, policies[_i].policy),
			 policies[_i].readable);
}
END_TEST

void test_user(void)
{
	unit_begin("x86_user");
	unit_run(stop_and_start_are_a_write_each, (int)rows);
	unit_run(kin_of_another_process_costs_nothing, (int)rows);
	unit_run(nothing_of_strangers_is_left, (int)(rows * ARRAY_SIZE(strangers)));
	unit_run(dying_after_strangers, (int)rows);
	UNIT_ROWS(threads_of_a_process, machines);
	UNIT_ROWS(scrubbed, machines);
	unit_run(shared, (int)rows);
	unit_run(loaded_after_a_stop, (int)rows);
	unit_run(released_zero, (int)rows);
	UNIT_ROWS(perf_leaves_nothing_to_be_zeroed, machines);
	UNIT_ROWS(user_readable, policies);
}
