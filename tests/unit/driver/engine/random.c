// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the services above the driver, from the switch to the tree, in long random sequences
 * of all that can happen to threads, against a model that knows nothing of registers: a
 * thread's count is what it executed while it was to be counted.
 *
 * After each step the sums of every thread, as the module gives them to anybody, and those of
 * its tree are exactly the model's; so is what a sample has, and what a thread reads by its page,
 * and the page must show registers whenever it may. A thread that may read registers finds in none
 * of them what it counted for others since it was zero. A state that is not to count, or whose
 * thread does not run, holds sums.
 *
 * ENGINE_SEED, ENGINE_STEPS and ENGINE_ROWS choose other sequences: the seed of the first,
 * their length, and their number. ENGINE_TRACE prints each step.
 */
#include <linux/pid_namespace.h>
#include <linux/user_namespace.h>
#ifdef CONFIG_X86
#include <asm/tsc.h>
#endif

#include "engine/shim/records.h"
#include "engine/world.h"
#include "unit.h"
#include "base/account.h"
#include "thread/notify.h"
#include "switch/switch.h"
#include "switch/timer.h"
#include "deliver/overflow.h"
#include "deliver/record.h"
#include "config/config.h"
#include "config/permit.h"
#include "tree/tree.h"
#include "calls/handle.h"
#include "calls/layout.h"
#include "calls/life.h"
#include "calls/map.h"
#include "calls/return.h"
#include "calls/session.h"
#include "calls/threads.h"

unsigned int in_step, seed;
bool nobody_calls;
struct counted nr;
#ifdef CONFIG_X86
bool counters_outside, hyperthreads;
#endif

unsigned int rnd(unsigned int n)
{
	static u64 state;

	if (!state)
		state = seed;
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(state >> 33) % n;
}

static bool counts_user_only(const struct control *control)
{
	u32 i;

	for (i = 0; i < control->nractrs + control->nrictrs; i++)
		if (control->ctr[i].flags & PERFCTR_CTR_KERNEL)
			return false;
	return true;
}

const struct control *choose_control(void)
{
	/* Mostly one that others have as well, and that counts user mode only */
	if (has_shared() && (seed & 1 ? rnd(8) > 0 : rnd(2)))
		return &shared_controls[rnd(rnd(2) ? 2 : nr_shared_controls)];
	return &controls[rnd(rnd(2) ? 2 : machine_nr_controls())];
}

static void do_control(struct thread *thread)
{
	const struct control *control = choose_control();
	struct tree *tree = rnd(2) ? tree_new() : NULL;
	bool tsc_on = !control->nractrs || rnd(4);
	u64 refresh = control->nrictrs ? rnd(has_throttles() ? 30 : 6) : 0;
	u32 flags = rnd(8) ? 0 : PERFCTR_CONTROL_SUSPENDED;

	if (perfctr_cpu_permits_threads() && control->source == NATIVE &&
	    counts_user_only(control) && !rnd(2))
		flags |= PERFCTR_CONTROL_RAW;
	if (has_rings() && rnd(2))
		flags |= PERFCTR_CONTROL_RECORD;
	if (!rnd(3))
		flags |= PERFCTR_CONTROL_CLOEXEC;
	if (!rnd(4))
		flags |= PERFCTR_CONTROL_HOLDER_ONLY;
	if (!(flags & PERFCTR_CONTROL_RAW) && !rnd(6))
		flags |= PERFCTR_CONTROL_CPU;
	set_control(thread, control, tree, tsc_on, refresh, flags);
}

static void do_read_tree(void)
{
	struct tree *tree = &trees[rnd(NR_THREADS)];

	if (tree->control)
		expect_tree(tree, tree->handle);
}

void do_sleep(void)
{
	unsigned int uid = shim_uid;

	local_irq_disable();
	shim_pm_notifier->notifier_call(shim_pm_notifier, CPU_PM_ENTER, NULL);
	look();
	/* What perf does about its own registers is not modelled. */
	if (rnd(2) && model_perf_is_idle())
		model_cpu_sleep(shim_cpu, false);
	look();
	shim_pm_notifier->notifier_call(shim_pm_notifier, CPU_PM_EXIT, NULL);
	look();
	local_irq_enable();
	shim_uid = uid;
}

void do_work(void)
{
	shim_jiffies++;
	shim_work(rnd(2));
	look();
}

/* The current thread is in the kernel. */
static void do_something(void)
{
	struct thread *thread = running();
	unsigned int what = rnd(38);

	if (is_idle(thread))
		return;
	return_to_user();
	if (what < 3)
		do_control(thread);
	else if (what < 6)
		do_stop_go(thread);
	else if (what < 10)
		do_map(thread);
	else if (what < 12)
		do_unmap(thread);
	else if (what < 14)
		do_policy();
	else if (what < 18)
		do_read_tree();
	else if (what < 19)
		do_unlink(thread);
	else if (what < 20)
		do_setuid(thread);
	else if (what < 24)
		do_iresume(thread);
	else if (what < 25)
		rnd(4) ? do_trace() : do_work();
	else if (what < 28)
		do_exec(thread);
	else if (what < 31)
		do_add_member(thread);
	else if (what < 34)
		do_memory_watched(thread);
	else if (what < 35)
		do_rename(thread);
	else
		expect_sums(&threads[rnd(NR_THREADS)]);
}

void happen_elsewhere(void)
{
	unsigned int before = shim_cpu, cpu = rnd(NR_CPUS);

	if (cpu == before || nobody_calls)
		return;
	to_cpu(cpu);
	do_something();
	to_cpu(before);
}

/* The thread to run next: mostly one that counts the same */
static struct thread *choose_next(const struct thread *prev)
{
	unsigned int i, tries = 1 + rnd(6);
	struct thread *next = NULL;

	for (i = 0; i < tries; i++) {
		next = &threads[rnd(NR_THREADS)];
		if (next->process && next->control && next->control == prev->control)
			break;
	}
	return next;
}

static void step(void)
{
	struct thread *thread, *next;
	unsigned int what = rnd(96);

	shim_jiffies += !rnd(48);
	to_cpu(rnd(NR_CPUS));
	execute();
	thread = running();
	next = choose_next(thread);
	if (getenv("ENGINE_TRACE"))
		printf("# %u: CPU %u, thread %d, %u\n", in_step, shim_cpu,
		       (int)(thread - threads), what);
	if (what < 2) {
		do_begin();
	} else if (what < 5 && !is_idle(thread)) {
		return_to_user();
		make_child(thread, rnd(8));
	} else if (what < 7 && !is_idle(thread)) {
		thread->task.killed = !rnd(4);
		if (thread->task.killed && rnd(2))
			do_memory_watched(thread);
		return_to_user();
		do_exit(thread);
	} else if (what < 8) {
		do_sleep();
	} else if (what < 9) {
		do_close();
	} else if (what < 40) {
		do_something();
	} else if (next->process && !runs(next) && !next->vfork_child) {
		switch_to(next);
	} else if (what < 48) {
		switch_to(&idle[shim_cpu]);
	}
	expect_states();
	if (!rnd(4))
		expect_sums(&threads[rnd(NR_THREADS)]);
	thread = &threads[rnd(NR_THREADS)];
	if (!rnd(16) && state_of(thread) && thread->control && may_be_disturbed(thread))
		expect_sums_of_moment(thread);
}

static struct model_machine machine;

/* Somebody waits until counters do not linger any more. */
static void time_passes(void)
{
	shim_work(true);
	look();
}

void engine_begin(void)
{
	static const struct perfctr_above above = {
		.on_return = vperfctr_return,
		.on_invited = vperfctr_return_invited,
		.free_inherited = vperfctr_descendant_free,
		.free_root = vperfctr_root_free,
	};
	bool by_tracepoint;
	unsigned int cpu;

	machine = *machine_choose(seed, &by_tracepoint);
#ifdef CONFIG_X86
	if (hyperthreads)
		machine = model_p4m2_ht;
	machine.amd_outside = counters_outside;
#endif
	machine.nr_cpus = NR_CPUS;
	model_boot(&machine);
#ifdef CONFIG_X86
	model_perf_calls = seed % 3 == 0;
	/* So slow that samples by time come often */
	tsc_khz = 500000;
#endif
	if (by_tracepoint)
		shim_set_param("by_tracepoint", 1);
#ifdef CONFIG_X86
	/* By the tracepoint the kernel's instructions count from some point of the switch on. */
	model_free_writes = by_tracepoint;
#endif
	look_first();
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		shim_on[cpu] = &idle[cpu].task;
		idle[cpu].task.flags = PF_KTHREAD;
		idle[cpu].task.real_cred = &idle[cpu].cred;
		idle[cpu].task.cpu = cpu;
	}
	shim_kthread = switch_for_kthread;
	shim_while_waiting = time_passes;
	/* No call waits for broadcasts here. */
	shim_set_param("broadcasts", 0);
	set_budget(has_throttles() ? 2 : INT_MAX);
	ENDED_INSIDE->pid_ns = &inner;
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	ck_assert_int_eq(perfctr_config_init(), 0);
	perfctr_state_init(&above);
	perfctr_timer_init(vperfctr_on_timer);
	ck_assert_int_eq(perfctr_record_init(), 0);
	perfctr_switch_init();
	perfctr_control_init();
	ck_assert_int_eq(perfctr_tree_init(), 0);
	ck_assert_int_eq(perfctr_map_init(), 0);
	ck_assert_int_eq(perfctr_session_init(), 0);
	ck_assert_int_eq(perfctr_life_init(), 0);
	ck_assert_int_eq(perfctr_permit_init(), 0);
	ck_assert_int_eq(perfctr_threads_init(), 0);
}

/* At the end nothing is left of anything. */
void engine_end(void)
{
	struct thread *thread;
	unsigned int i, cpu;

	for (thread = threads; thread < threads + NR_THREADS; thread++)
		thread->vfork_child = NULL;
	for (thread = threads; thread < threads + NR_THREADS; thread++) {
		if (!thread->process)
			continue;
		for (cpu = 0; shim_on[cpu] != &thread->task && cpu < NR_CPUS - 1; cpu++)
			;
		to_cpu(cpu);
		switch_to(thread);
		return_to_user();
		do_exit(thread);
	}
	for (i = 0; i < NR_ORPHANS; i++)
		if (orphans[i])
			handle_put(orphans[i]);
	/* Rings are freed by it. */
	shim_work(false);
	ck_assert_int_eq(shim_module_refs, 0);
	perfctr_threads_exit();
	perfctr_permit_exit();
	perfctr_notify_exit();
	perfctr_config_exit();
	perfctr_account_exit();
	perfctr_life_exit();
	perfctr_map_exit();
	perfctr_tree_exit();
	perfctr_record_exit();
	perfctr_timer_exit();
	perfctr_cpu_exit();
	ck_assert_int_eq(shim_notifiers, 0);
	ck_assert_int_eq(shim_user.locked_vm.counter, 0);
	ck_assert_uint_eq(shim_allocations, 0);
	ck_assert_uint_eq(inner.refs + init_pid_ns.refs + init_user_ns.refs, 0);
	model_perf_expect_none();
}

unsigned int number(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);

	return value ? (unsigned int)strtoul(value, NULL, 0) : otherwise;
}

/* So many that the rarest thing happens often enough in each sequence */
#define STEPS 28000u

START_TEST(all_counts_are_exact)
{
	unsigned int steps = number("ENGINE_STEPS", STEPS);

	seed = number("ENGINE_SEED", 20261123) + (unsigned int)_i;
	engine_begin();
	for (in_step = 0; in_step < steps; in_step++)
		step();
	engine_end();
	pairs_row_ends();
	/* In the sequences that are always tried all of these happen. */
	if (steps < STEPS || getenv("ENGINE_SEED"))
		return;
	ck_assert_uint_gt(nr.reads, 500);
	/* On x86 the source that is in use keeps the other one out, for long. */
	ck_assert(!has_shared() || nr.shared + nr.refused > 100);
	ck_assert(!has_rings() || nr.samples > 500);
	ck_assert(!has_rings() || (nr.told_maps > 100 && nr.placed > 100 && nr.unknown > 50));
	ck_assert(!has_rings() || (nr.looks > 50 && nr.not_told > 2));
	ck_assert(!has_rings() || !has_throttles() || (nr.throttled > 30 && nr.goes_on > 30));
	if (has_shared())
		return;
	ck_assert(!has_throttles() || has_rings() || nr.held > 2);
	ck_assert(nr.shown > 500 || !machine_shows());
	ck_assert(nr.private > 500 || !machine_shows());
	ck_assert(nr.interrupted > 100 || !machine_shows());
	ck_assert_uint_gt(nr.switches, 1000);
	ck_assert_uint_gt(nr.forks, 100);
	ck_assert_uint_gt(nr.execs, 5);
	ck_assert_uint_gt(nr.ends, 100);
	ck_assert_uint_gt(nr.tree_reads, 50);
	ck_assert_uint_gt(nr.overflows, 50);
	ck_assert_uint_gt(nr.stops, 50);
	ck_assert_uint_gt(nr.policies, 50);
	ck_assert_uint_gt(nr.lends, 20);
	ck_assert_uint_gt(nr.maps, 20);
	ck_assert_uint_gt(nr.traced, 20);
	ck_assert_uint_gt(nr.added, 0);
	ck_assert_uint_gt(nr.not_holder, 0);
	ck_assert_uint_gt(nr.read_running, 50);
	ck_assert_uint_gt(nr.read_between, 500);
	ck_assert_uint_gt(nr.disturbed, 50);
	ck_assert(!perfctr_cpu_permits_threads() || nr.raw > 10);
#ifdef CONFIG_RISCV
	ck_assert_uint_gt(nr.others, 50);
#endif
}
END_TEST

void test_arch(void)
{
	unit_begin("engine_" MODEL_ARCH);
	pairs_begin();
	test_scenes();
	test_invited();
	test_faults();
	test_mapped();
	unit_run(all_counts_are_exact, (int)number("ENGINE_ROWS", ENGINE_ROWS));
	test_sessions();
	test_pairs();
}

/* test_config.c and test_shared.c are below all this, and not linked here. */
void test_config(void)
{
}

void test_shared(void)
{
}
