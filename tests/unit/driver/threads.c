// SPDX-License-Identifier: GPL-2.0
/* See threads.h. */
#include <check.h>

#include "threads.h"
#include "base/account.h"
#include "perf/shared.h"
#include "perf/told.h"
#include "thread/kin.h"
#include "switch/run.h"
#include "switch/suspend.h"
#include "switch/wide.h"
#include "deliver/overflow.h"
#include "config/config.h"
#include "config/fold.h"
#include "config/let_in.h"

struct cpumask perfctr_told_cpus = { ~0ul };
bool perfctr_any_rarity;
unsigned int perfctr_user_read = PERFCTR_USER_READ_GUARDED;

static struct thread *running[SHIM_CPUS];

/* Configs that a test does not unclaim are no leak. */
static struct perfctr_config *claimed[64];

static void swap_claimed(struct perfctr_config *from, struct perfctr_config *to)
{
	size_t i;

	for (i = 0; i < sizeof(claimed) / sizeof(claimed[0]); i++) {
		if (claimed[i] == from) {
			claimed[i] = to;
			return;
		}
	}
	ck_abort_msg("not claimed, or too many are");
}

void driver_init(const struct model_machine *machine)
{
	struct model_ownership before;
	unsigned int cpu;

	model_boot(machine);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	model_expect_loaded();
	/* Each CPU comes, as config.c has them come. */
	model_ownership(&before);
	for_each_online_cpu(cpu)
		cpu_online(cpu);
	model_expect_ownership(&before);
	model_calls_reset();
}

int check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel)
{
	struct perfctr_refusal why = NO_REFUSAL;
	bool unused = false;
	int err;

	ck_assert(!shim_irqs_off);
	err = perfctr_cpu_check(ctr, nr, kernel ? kernel : &unused, &why);
	/* Only one of these counters may be to blame, and none after success. */
	ck_assert(why.index == PERFCTR_NO_INDEX || (err && why.index < nr));
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_NONE);
	return err;
}

struct perfctr_config *claim(const struct perfctr_ctr_control *ctr, unsigned int nr,
			     struct perfctr_refusal *why)
{
	static unsigned long last_id = 1000000;
	struct model_ownership before;
	struct perfctr_config *config;
	struct perfctr_refusal unused = NO_REFUSAL;
	unsigned int i;
	int err;

	err = check(ctr, nr, NULL);
	if (err)
		return ERR_PTR(err);
	config = perfctr_config_alloc(nr);
	config->nr = nr;
	config->id = ++last_id;
	config->kin = config->id;
	if (nr)
		memcpy(config->ctr, ctr, nr * sizeof(*ctr));
	for (i = 0; i < nr; i++)
		config->nr_ictrs += ctr[i].ireset != 0;
	model_ownership(&before);
	cpus_read_lock();
	err = perfctr_cpu_claim(config, perfctr_run_paid, why ? why : &unused);
	cpus_read_unlock();
	ck_assert(!shim_irqs_off);
	if (!err) {
		swap_claimed(NULL, config);
		return config;
	}
	kfree(config);
	model_expect_ownership(&before);
	return ERR_PTR(err);
}

struct perfctr_config *config_get_current(const struct perfctr_ctr_control *ctr, u32 nr, u32 source,
					  struct perfctr_refusal *why)
{
	struct perfctr_where where = { .task = current, .cpu = -1 };

	return perfctr_config_get(&where, false, ctr, nr, source, why);
}

struct perfctr_config *claim_well(const struct perfctr_ctr_control *ctr, unsigned int nr)
{
	struct perfctr_config *config = claim(ctr, nr, NULL);

	ck_assert_msg(!IS_ERR(config), "claim: %s", strerror(-(int)PTR_ERR(config)));
	return config;
}

void unclaim(struct perfctr_config *config)
{
	unsigned int cpu;

	swap_claimed(config, NULL);
	cpus_read_lock();
	perfctr_cpu_unclaim(config, perfctr_run_paid);
	cpus_read_unlock();
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		ck_assert_msg(!driver_remembers(cpu, config),
			      "CPU %u remembers a config that is gone", cpu);
	kfree(config);
}

void thread_init(struct thread *thread, struct perfctr_config *config)
{
	unsigned int i;

	memset(thread, 0, sizeof(*thread));
	thread->config = config;
	for (i = 0; i < config->nr; i++) {
		if (config->shared)
			perfctr_shared_bind(&thread->state.ctr[i], config->hw[i]);
		else if (i >= perfctr_config_nr_actrs(config))
			perfctr_cpu_bind_ictr(&thread->state.ctr[i], config->hw[i]);
		else
			perfctr_cpu_bind(&thread->state.ctr[i], config->hw[i]);
	}
	thread->state.end = thread->state.ctr + config->nr;
}

static void suspend(struct thread *thread);

/* As resume_shared() */
static void resume_shared(struct thread *thread)
{
	bool lost = thread->config->evicted;

	if (!lost) {
		lost = perfctr_shared_resume(&thread->state, (int)shim_cpu, thread->config->call);
		thread->resumed = true;
		model_witness[shim_cpu] = &thread->seen;
	}
	if (!lost)
		return;
	suspend(thread);
	thread->error = shim_going & BIT(shim_cpu) ? 0 : -EIO;
}

/* Interrupts are off. */
static void resume(struct thread *thread)
{
	if (thread->error)
		return;
	if (thread->config->shared) {
		resume_shared(thread);
		return;
	}
	if (!perfctr_cpu_has_loaded(thread->config)) {
		if (!(cpus_told & BIT(shim_cpu))) {
			cpus_told |= BIT(shim_cpu);
			perfctr_cpu_join_claims();
		}
		thread->error = thread->config->evicted ? -EIO :
							  perfctr_cpu_load(thread->config);
	}
	if (thread->error)
		return;
	if (perfctr_config_has_own_way(thread->config))
		perfctr_cpu_resume_own_way(thread->config, &thread->state);
	else
		perfctr_cpu_resume(&thread->state, false);
	thread->resumed = true;
	model_witness[shim_cpu] = &thread->seen;
}

static void suspend(struct thread *thread)
{
	if (!thread->resumed)
		return;
	if (perfctr_config_has_own_way(thread->config))
		perfctr_cpu_suspend_own_way(thread->config, &thread->state);
	else if (!thread->config->shared)
		perfctr_cpu_suspend(&thread->state);
	else if (perfctr_shared_suspend(&thread->state, (int)shim_cpu, thread->config->call))
		thread->error = -EIO;
	thread->resumed = false;
	model_witness[shim_cpu] = NULL;
}

void thread_in(struct thread *thread, unsigned int cpu)
{
	ck_assert(!running[cpu]);
	ck_assert(shim_online & BIT(cpu));
	shim_cpu = cpu;
	thread->cpu = cpu;
	running[cpu] = thread;
	local_irq_disable();
	resume(thread);
	local_irq_enable();
}

void thread_out(struct thread *thread)
{
	ck_assert(running[thread->cpu] == thread);
	shim_cpu = thread->cpu;
	local_irq_disable();
	suspend(thread);
	local_irq_enable();
	running[thread->cpu] = NULL;
}

void thread_run(struct thread *thread, unsigned int cpu, u64 instructions)
{
	thread_in(thread, cpu);
	model_execute(MODEL_USER, instructions);
	model_execute(MODEL_KERNEL, instructions / 3 + 50);
	thread_out(thread);
}

void thread_expect_sum(const struct thread *thread, unsigned int i)
{
	const struct perfctr_ctr_control *ctr = thread->twin ? thread->twin : thread->config->ctr;
	/* Of perf's no one knows which it is; all general ones count the same. */
	unsigned int hw = thread->config->shared ? FIRST : thread->config->hw[i];
	u64 want = tally_count(&thread->seen, &ctr[i], hw);

	ck_assert(!thread->resumed);
	ck_assert_msg(thread->state.ctr[i].acc == want,
		      "counter %u (hardware %u) has %llu, %llu were executed",
		      i, hw, thread->state.ctr[i].acc, want);
}

void thread_expect_exact(const struct thread *thread)
{
	unsigned int i;

	for (i = 0; i < thread->config->nr; i++)
		thread_expect_sum(thread, i);
	ck_assert_uint_eq(thread->state.clock, thread->seen.time);
}

/* In the place of switch.c's functions: the running thread's counters are suspended around it. */
int interrupts_heard;
int interrupts_error;

/* As in switch.c, where tracepoints are turned on: not under the hotplug lock */
int perfctr_interrupts_get(void)
{
	shim_assert(!shim_hotplug_locked);
	interrupts_heard += !interrupts_error;
	return interrupts_error;
}

void perfctr_interrupts_put(void)
{
	shim_assert(interrupts_heard > 0);
	interrupts_heard--;
}

void perfctr_interrupts_exit(void)
{
	shim_assert(!interrupts_heard);
}

/* As in fold.c, and as where the kernel permits no process to read registers */
int perfctr_let_in_init(void)
{
	return 0;
}

void perfctr_let_in_exit(void)
{
}

int perfctr_guard_begin(bool closely)
{
	(void)closely;
	ck_abort_msg("each switch is looked at");
}

bool perfctr_guard_is_on(bool closely)
{
	(void)closely;
	return true;
}

void perfctr_guard_end(void)
{
}

void perfctr_fold_get(void)
{
}

void perfctr_fold_put(void)
{
}

void perfctr_fold_exit(void)
{
}

/* As in told.c */
u32 cpus_isolated;

void perfctr_cpus_tell(unsigned int cpu)
{
	cpus_told = (cpus_told & ~BIT(cpu)) | (~(u64)cpus_isolated & BIT(cpu));
}

void perfctr_cpus_join(void)
{
	shim_assert(false);
}

/* No CPU is counted as such. */
void perfctr_wides_suspend(void)
{
}

void perfctr_wides_resume(void)
{
}

void perfctr_wides_online(void)
{
}

void perfctr_wides_offline(void)
{
}

bool perfctr_wides_on(unsigned int cpu)
{
	(void)cpu;
	return false;
}

void perfctr_cpus_leave(void)
{
	cpus_told &= ~(u64)cpus_isolated;
}

unsigned int broadcasts_charged;

int perfctr_run(int (*fn)(void *arg), void *arg)
{
	broadcasts_charged++;
	perfctr_broadcasts_made(1);
	return perfctr_run_paid(fn, arg);
}

int perfctr_run_nothing(void *unused)
{
	(void)unused;
	return 0;
}

/* No thread keeps its permission. */
int perfctr_find_late_reader(void *found)
{
	(void)found;
	return 0;
}

int perfctr_end_late_reader(void *unused)
{
	(void)unused;
	return 0;
}

int perfctr_run_paid(int (*fn)(void *arg), void *arg)
{
	unsigned int before = shim_cpu, cpu;
	int err = 0;

	might_sleep();
	shim_assert(shim_hotplug_locked);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		struct thread *thread = running[cpu];
		bool resumed = thread && thread->resumed;
		int ret;

		if (!(shim_online & cpus_told & BIT(cpu)))
			continue;
		shim_cpu = cpu;
		local_irq_disable();
		if (resumed)
			suspend(thread);
		ret = fn(arg);
		if (ret)
			err = ret;
		if (resumed)
			resume(thread);
		local_irq_enable();
	}
	shim_cpu = before;
	return err;
}

int age_all(void)
{
	int err;

	cpus_read_lock();
	err = perfctr_run_paid(perfctr_cpu_age, NULL);
	cpus_read_unlock();
	return err;
}

/* A thread of the kernel's runs on this CPU, and whoever ran there runs again. */
static void switch_for_kthread(bool comes)
{
	struct thread *thread = running[shim_cpu];

	if (!thread)
		return;
	local_irq_disable();
	if (comes)
		suspend(thread);
	else
		resume(thread);
	local_irq_enable();
}

static __attribute__((__constructor__)) void see_kthreads(void)
{
	shim_kthread = switch_for_kthread;
}

unsigned int next_random(void)
{
	static u64 state = 20240229;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(state >> 33);
}

unsigned int threads_take_turns(struct thread *thread, unsigned int threads,
				const struct perfctr_ctr_control *transient, unsigned int nr)
{
	struct thread *on[2] = { NULL, NULL };
	struct perfctr_config *gone;
	unsigned int i, cpu, refused = 0;

	for (i = 0; i < 4000; i++) {
		struct thread *t = &thread[next_random() % threads];

		cpu = next_random() % 2;
		shim_cpu = cpu;
		model_execute(next_random() % 2 ? MODEL_USER : MODEL_KERNEL, next_random() % 1000);
		if (on[cpu]) {
			thread_out(on[cpu]);
			on[cpu] = NULL;
		}
		model_execute(MODEL_KERNEL, next_random() % 100);
		if (t != on[!cpu]) {
			thread_in(t, cpu);
			on[cpu] = t;
			model_execute(MODEL_USER, next_random() % 5000);
		}
		if (next_random() % 50 == 0) {
			gone = claim(transient, nr, NULL);
			if (IS_ERR(gone))
				refused++;
			else
				unclaim(gone);
		}
		if (next_random() % 50 == 0)
			ck_assert_int_eq(age_all(), 0);
	}
	for (cpu = 0; cpu < 2; cpu++)
		if (on[cpu])
			thread_out(on[cpu]);
	return refused;
}

void cpu_sleeps(unsigned int cpu, bool firmware_forgets)
{
	struct thread *thread = running[cpu];
	unsigned int before = shim_cpu;
	bool resumed = thread && thread->resumed;

	shim_cpu = cpu;
	local_irq_disable();
	if (resumed)
		suspend(thread);
	model_cpu_sleep(cpu, firmware_forgets);
	perfctr_cpu_online();
	if (resumed)
		resume(thread);
	local_irq_enable();
	shim_cpu = before;
}

void on_cpu_irqs_off(unsigned int cpu, void (*fn)(void))
{
	unsigned int before = shim_cpu;

	shim_cpu = cpu;
	local_irq_disable();
	fn();
	local_irq_enable();
	shim_cpu = before;
}

void cpu_online(unsigned int cpu)
{
	unsigned int before = shim_cpu;

	shim_cpu = cpu;
	perfctr_cpu_reserve(cpu);
	shim_cpu = before;
	on_cpu_irqs_off(cpu, perfctr_cpu_online);
}

void cpu_offline(unsigned int cpu)
{
	on_cpu_irqs_off(cpu, perfctr_cpu_offline);
	perfctr_cpu_unreserve(cpu);
}

int load_on(unsigned int cpu, const struct perfctr_config *config)
{
	int err;

	shim_cpu = cpu;
	local_irq_disable();
	err = perfctr_cpu_load(config);
	local_irq_enable();
	return err;
}

int restart_on(unsigned int cpu, const struct perfctr_config *config, unsigned int uid)
{
	int err;

	shim_cpu = cpu;
	local_irq_disable();
	err = perfctr_cpu_restart(config, config->kin, KUIDT_INIT(uid));
	local_irq_enable();
	return err;
}

bool has_loaded(unsigned int cpu, const struct perfctr_config *config)
{
	bool loaded;

	shim_cpu = cpu;
	local_irq_disable();
	loaded = perfctr_cpu_has_loaded(config);
	local_irq_enable();
	return loaded;
}

bool private_on(unsigned int cpu, const struct perfctr_config *config, unsigned int uid)
{
	bool private;

	shim_cpu = cpu;
	local_irq_disable();
	private = perfctr_cpu_private(config->kin, KUIDT_INIT(uid));
	local_irq_enable();
	return private;
}
