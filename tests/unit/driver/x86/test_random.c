// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that may read registers must never find in one of them what it counted for others.
 * Threads of several processes and users come and go, as in switch.c, with all that happens
 * meanwhile, in an order that a fixed seed gives. It is known of each register for whom it
 * counted since it was zero.
 */
#include <check.h>

#include "tests.h"

#define STEPS		6000
#define NR_CPUS		2
#define NR_MMS		4
#define NR_CONFIGS	7
#define NR_THREADS	20
#define IDLE		0	/* the task that stands for all without an mm */

/* As in switch.c */
#define UNDO_SHOWN	1u
#define UNDO_ICTRS	2u

struct task {
	struct task_struct task;
	struct thread thread;	/* its config is NULL: it does not count */
	u64 next[PERFCTR_MAX_HW];
	unsigned int uid;
	unsigned int undo;
	bool mapped;
	bool resumed;
};

static struct mm_struct mms[NR_MMS];
static struct task tasks[NR_THREADS];
static struct task *on[NR_CPUS];
static bool is_off[NR_CPUS];

/* The tasks for which a register counted since it was written: a bit map */
static struct {
	u64 value;
	unsigned int writes;
	u32 tasks;
} known[NR_CPUS][32];

static u32 all_counters;
static unsigned int nr_looks, nr_private, nr_scrubs, nr_restarts, nr_irqs;

/* Writes of zero, or of an i-mode counter's start value */
static unsigned int writes_of(unsigned int cpu, unsigned int hw)
{
	if (hw >= FIXED(0))
		return model_writes[cpu][MSR_CORE_PERF_FIXED_CTR0 + hw - FIXED(0)];
	return model_sets(cpu, hw);
}

/* What a register counted since the last look was for the task on that CPU. */
static void note(unsigned int cpu)
{
	unsigned int hw;

	for (hw = 0; hw < 32; hw++) {
		unsigned int writes;
		u64 value;

		if (!(all_counters & BIT(hw)))
			continue;
		value = model_value(cpu, hw);
		writes = writes_of(cpu, hw);
		if (!value || writes != known[cpu][hw].writes)
			known[cpu][hw].tasks = 0;
		if (value && (value != known[cpu][hw].value || writes != known[cpu][hw].writes))
			known[cpu][hw].tasks |= BIT(on[cpu] - tasks);
		known[cpu][hw].value = value;
		known[cpu][hw].writes = writes;
	}
}

/* The registers counted only for tasks of @mm, or, if @by_uid, of that user. */
static void expect_own(unsigned int cpu, const char *what, const struct mm_struct *mm, bool by_uid,
		       unsigned int uid)
{
	unsigned int hw, i;

	for (hw = 0; hw < 32; hw++) {
		for (i = 0; i < NR_THREADS; i++) {
			if (!(known[cpu][hw].tasks & BIT(i)))
				continue;
			ck_assert_msg((mm && tasks[i].task.mm == mm) ||
				      (by_uid && i != IDLE && tasks[i].uid == uid),
				      "CPU %u, counter %u: %s, and it counted %#llx for task %u",
				      cpu, hw, what, known[cpu][hw].value, i);
		}
	}
}

/* What the driver says about any task must be so. */
static void look(unsigned int cpu)
{
	unsigned int i;

	note(cpu);
	if (!per_cpu_ptr(&perfctr_x86_cpu, cpu)->ours)
		return;
	for (i = 1; i < NR_THREADS; i++) {
		struct task *task = &tasks[i];

		if (perfctr_cpu_may_see(&task->task)) {
			nr_looks++;
			expect_own(cpu, "may see", task->task.mm, false, 0);
		}
		if (task->thread.config && task->thread.config->nr &&
		    perfctr_cpu_private(task->thread.config->kin, KUIDT_INIT(task->uid))) {
			nr_private++;
			expect_own(cpu, "private", NULL, true, task->uid);
		}
	}
}

static bool counts(const struct task *task)
{
	return task->thread.config;
}

/*
 * As switch.c
 */

static bool is_kin(const struct task *next)
{
	return counts(next) && next->mapped &&
	       perfctr_cpu_private(next->thread.config->kin, KUIDT_INIT(next->uid));
}

static void suspend(struct task *task, const struct task *next)
{
	struct perfctr_config *config = task->thread.config;
	u32 i, first;

	if (!config)
		return;
	first = perfctr_config_nr_actrs(config);
	if (task->undo & UNDO_ICTRS)
		perfctr_cpu_istop(config, task);
	if (task->resumed) {
		/* Reads are no instructions to the model, so all counts are of one moment. */
		perfctr_cpu_suspend(&task->thread.state);
		model_witness[shim_cpu] = NULL;
		for (i = first; i < config->nr; i++) {
			u64 *sum = &task->thread.state.ctr[i].acc;

			*sum = task->next[i] + (u64)sign_extend64(*sum - task->next[i],
								  (int)perfctr_cpu_iwidth() - 1);
		}
	}
	task->resumed = false;
	task->undo &= ~UNDO_ICTRS;
	if (!next || !(task->undo & UNDO_SHOWN))
		return;
	task->undo &= ~UNDO_SHOWN;
	if (is_kin(next))
		perfctr_cpu_leave_to_kin(&next->task);
	else
		perfctr_cpu_leave();
}

static void resume(struct task *task)
{
	struct perfctr_config *config = task->thread.config;
	u64 value[PERFCTR_MAX_HW];
	u32 i, first;

	if (!config || task->resumed)
		return;
	if ((task->mapped || perfctr_cpu_is_permitted(current)) && config->nr &&
	    perfctr_cpu_user_readable(config, PERFCTR_USER_READ_GUARDED)) {
		if (!(perfctr_cpu_private(config->kin, KUIDT_INIT(task->uid)) && perfctr_cpu_runs())) {
			nr_restarts++;
			ck_assert_int_eq(perfctr_cpu_restart(config, config->kin, KUIDT_INIT(task->uid)), 0);
		}
		task->undo |= UNDO_SHOWN;
	} else if (!perfctr_cpu_has_loaded(config)) {
		ck_assert_int_eq(perfctr_cpu_load(config), 0);
	}
	first = perfctr_config_nr_actrs(config);
	for (i = first; i < config->nr; i++) {
		u64 left = 1000 + next_random() % 20000;

		task->next[i] = task->thread.state.ctr[i].acc + left;
		value[i - first] = -left;
	}
	if (config->nr_ictrs) {
		task->undo |= UNDO_ICTRS;
		ck_assert_int_eq(perfctr_cpu_istart(config, value), 0);
	}
	perfctr_cpu_resume(&task->thread.state, false);
	for (i = first; i < config->nr; i++)
		task->thread.state.ctr[i].acc = task->next[i];
	task->resumed = true;
	model_witness[shim_cpu] = &task->thread.seen;
}

static void let_in(struct task *next)
{
	if (perfctr_cpu_may_see(&next->task) || is_kin(next))
		return;
	nr_scrubs++;
	suspend(on[shim_cpu], NULL);
	perfctr_cpu_scrub(&next->task);
}

static void switch_to(struct task *next)
{
	unsigned int cpu = shim_cpu;
	struct task *prev = on[cpu];

	if (prev == next)
		return;
	local_irq_disable();
	if (perfctr_cpu_is_permitted(&next->task))
		let_in(next);
	suspend(prev, next);
	note(cpu);
	on[cpu] = next;
	shim_current = next->task;
	/* The kernel's switch of the mm looks as well. */
	model_update_pce();
	look(cpu);
	resume(next);
	local_irq_enable();
}

/* As run_one() does */
static void on_every_cpu(void (*fn)(void))
{
	unsigned int cpu, before = shim_cpu;

	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		if (is_off[cpu])
			continue;
		shim_cpu = cpu;
		shim_current = on[cpu]->task;
		local_irq_disable();
		suspend(on[cpu], NULL);
		note(cpu);
		fn();
		look(cpu);
		resume(on[cpu]);
		local_irq_enable();
	}
	shim_cpu = before;
	shim_current = on[before]->task;
}

static void permission_changes(bool ends)
{
	static bool resumes[NR_CPUS];

	if (!ends) {
		resumes[shim_cpu] = on[shim_cpu]->resumed;
		suspend(on[shim_cpu], NULL);
	} else if (resumes[shim_cpu]) {
		resumes[shim_cpu] = false;
		resume(on[shim_cpu]);
	}
}

static void interrupt(bool ends)
{
	struct task *task = on[shim_cpu];

	if (!ends && task->undo & UNDO_ICTRS)
		suspend(task, NULL);
	else if (ends)
		resume(task);
}

static void look_at_permission(void)
{
	if (perfctr_cpu_is_permitted(current))
		let_in(on[shim_cpu]);
	perfctr_cpu_update_permission();
}

static void age_one(void)
{
	perfctr_cpu_age(NULL);
}

/*
 * What happens
 */

static void execute(void)
{
	unsigned int cpu = shim_cpu;
	struct task *task = on[cpu];

	model_execute(MODEL_USER, next_random() % 3000);
	note(cpu);
	/* If the task may read, it finds only what counted for its own mm, or its own user. */
	if (model_pce[cpu] && !is_off[cpu] && task != &tasks[IDLE])
		expect_own(cpu, "is read", task->task.mm, true, task->uid);
	model_execute(MODEL_KERNEL, next_random() % 500);
	note(cpu);
	if (model_irq_waits[cpu]) {
		nr_irqs++;
		model_irq(cpu);
	}
}

static void claim_transient(void)
{
	static const struct perfctr_ctr_control ctr[] = { CTR(1, EV_BRANCHES, BOTH) };
	struct perfctr_config *config = claim_well(ctr, 1);
	struct task *task = on[shim_cpu];

	/* A config may be loaded as the CPU goes. */
	local_irq_disable();
	suspend(task, NULL);
	ck_assert_int_eq(next_random() % 2 ? perfctr_cpu_load(config) :
			 perfctr_cpu_restart(config, config->kin, KUIDT_INIT(task->uid)), 0);
	note(shim_cpu);
	perfctr_cpu_make_public();
	resume(task);
	local_irq_enable();
	unclaim(config);
}

static bool runs_elsewhere(const struct task *task)
{
	unsigned int cpu;

	for (cpu = 0; cpu < NR_CPUS; cpu++)
		if (task != &tasks[IDLE] && on[cpu] == task)
			return true;
	return false;
}

static void go_off(void)
{
	struct task *late = &tasks[next_random() % NR_THREADS];
	unsigned int cpu = shim_cpu;

	switch_to(&tasks[IDLE]);
	cpu_offline(cpu);
	shim_cpu = cpu;
	note(cpu);
	if (next_random() % 2 && !runs_elsewhere(late)) {
		switch_to(late);
		switch_to(&tasks[IDLE]);
	}
	is_off[cpu] = true;
	shim_online &= ~BIT(cpu);
}

static void come(void)
{
	unsigned int cpu = shim_cpu;

	perfctr_cpu_prepare(cpu);
	shim_online |= BIT(cpu);
	is_off[cpu] = false;
	shim_current = on[cpu]->task;
	cpu_online(cpu);
	local_irq_disable();
	look(cpu);
	local_irq_enable();
}

static void sleep(void)
{
	unsigned int cpu = shim_cpu;

	local_irq_disable();
	suspend(on[cpu], NULL);
	if (next_random() % 2)
		model_cpu_sleep(cpu, false);
	perfctr_cpu_online();
	look(cpu);
	resume(on[cpu]);
	local_irq_enable();
}

/* Somebody maps or unmaps a page, or an event of perf's: the process, or all, may read then. */
static void change_permission(void)
{
	struct mm_struct *mm = &mms[next_random() % NR_MMS];

	atomic_set(&mm->context.perf_rdpmc_allowed, next_random() % 3 != 0);
	on_every_cpu(look_at_permission);
}

static void step(void)
{
	struct task *task = &tasks[next_random() % NR_THREADS];
	unsigned int what = next_random() % 64, i;

	shim_cpu = next_random() % NR_CPUS;
	shim_current = on[shim_cpu]->task;
	if (is_off[shim_cpu]) {
		if (what < 8)
			come();
		return;
	}
	execute();
	if (what == 0) {
		go_off();
	} else if (what == 1) {
		sleep();
	} else if (what == 2) {
		claim_transient();
	} else if (what < 5) {
		change_permission();
	} else if (what == 5) {
		/* Makes a counter old enough for ageing. */
		i = next_random() % 2;
		if (!(per_cpu_ptr(&perfctr_x86_cpu, shim_cpu)->negative & BIT(i)) &&
		    known[shim_cpu][i].tasks && !on[shim_cpu]->resumed)
			model_set_value(shim_cpu, i, 3ull << (model.width - 2));
		on_every_cpu(age_one);
	} else if (what == 6 && !on[shim_cpu]->resumed) {
		model_update_pce();
	} else if (!runs_elsewhere(task)) {
		switch_to(task);
	}
}

static const struct {
	unsigned int nr;
	struct perfctr_ctr_control ctr[3];
} controls[2][NR_CONFIGS] = {
	{
		{ 1, { CTR(0, EV_INSTRUCTIONS, BOTH) } },
		{ 1, { CTR(1, EV_BRANCHES, USER) } },
		{ 2, { CTR(1, EV_INSTRUCTIONS, KERNEL), CTR(0, EV_BRANCHES, BOTH) } },
		{ 1, { ICTR(0, EV_INSTRUCTIONS, USER, 5000) } },
		{ 2, { CTR(0, EV_INSTRUCTIONS, BOTH), ICTR(1, EV_BRANCHES, USER, 700) } },
		{ 1, { ICTR(1, EV_INSTRUCTIONS, USER, 3000) } },
		{ 0, {} },
	}, {
		{ 1, { CTR(0, EV_INSTRUCTIONS, BOTH) } },
		{ 2, { CTR(1, EV_BRANCHES, USER), CTR(FIXED(1), EV_CYCLES, BOTH) } },
		{ 3, { CTR(1, EV_INSTRUCTIONS, KERNEL), CTR(0, EV_BRANCHES, BOTH),
		       CTR(FIXED(0), EV_INSTRUCTIONS, USER) } },
		{ 1, { ICTR(0, EV_INSTRUCTIONS, USER, 5000) } },
		{ 3, { CTR(0, EV_INSTRUCTIONS, BOTH), ICTR(1, EV_BRANCHES, USER, 700),
		       ICTR(FIXED(0), EV_INSTRUCTIONS, USER, 900) } },
		{ 1, { ICTR(FIXED(1), EV_CYCLES, USER, 3000) } },
		{ 0, {} },
	},
};

static void begin(struct perfctr_config **configs)
{
	struct perfctr_kernel_info info = {};
	unsigned int i;

	for (i = 0; i < NR_CPUS; i++)
		on[i] = &tasks[IDLE];
	perfctr_cpu_info(&info);
	all_counters = (u32)info.counters;
	perfctr_cpu_permit_init(permission_changes, NULL);
	ck_assert_int_eq(perfctr_cpu_set_ihandler(interrupt), 0);
	for (i = 0; i < NR_CONFIGS; i++)
		configs[i] = claim_well(controls[model_has_fixed()][i].ctr,
					controls[model_has_fixed()][i].nr);
	for (i = 0; i < NR_MMS; i++) {
		mms[i].context.ctx_id = i + 1;
		atomic_set(&mms[i].context.perf_rdpmc_allowed, i % 2);
	}
	for (i = 1; i < NR_THREADS; i++) {
		struct task *task = &tasks[i];

		task->task.mm = &mms[i % NR_MMS];
		/* Few users, so that there is kin. Some tasks of a process are of another user. */
		task->uid = 1000 + i / 3 % 2;
		task->mapped = i % 3;
		if (i % (NR_CONFIGS + 1) < NR_CONFIGS)
			thread_init(&task->thread, configs[i % (NR_CONFIGS + 1)]);
	}
}

START_TEST(nobody_sees_what_is_others)
{
	struct perfctr_config *configs[NR_CONFIGS];
	unsigned int i, cpu, hw;

	driver_init(machines[_i]);
	begin(configs);
	for (i = 0; i < STEPS; i++)
		step();
	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		shim_cpu = cpu;
		shim_current = on[cpu]->task;
		if (is_off[cpu])
			come();
		switch_to(&tasks[IDLE]);
	}
	for (i = 1; i < NR_THREADS; i++)
		if (counts(&tasks[i]))
			thread_expect_exact(&tasks[i].thread);
	/* All of these have happened. */
	ck_assert_uint_gt(nr_looks, 100);
	ck_assert_uint_gt(nr_private, 100);
	ck_assert_uint_gt(nr_scrubs, 50);
	ck_assert_uint_gt(nr_restarts, 100);
	ck_assert_uint_gt(nr_irqs, 20);
	for (i = 0; i < NR_CONFIGS; i++)
		unclaim(configs[i]);
	for (cpu = 0; cpu < NR_CPUS; cpu++)
		for (hw = 0; hw < 32; hw++)
			if (all_counters & BIT(hw))
				ck_assert_uint_eq(model_value(cpu, hw), 0);
}
END_TEST

void test_random(void)
{
	unit_begin("x86_random");
	UNIT_ROWS(nobody_sees_what_is_others, machines);
}
