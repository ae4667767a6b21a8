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
#include <check.h>
#include <linux/pid_namespace.h>
#include <linux/user_namespace.h>
#include <stdio.h>

#include "engine/engine.h"
#include "engine/machine.h"
#include "shared.h"
#include "unit.h"
#if defined(CONFIG_PPC32)
#include "ppc32/model_spr.h"
#elif defined(CONFIG_X86)
#include "x86/model_files.h"
#include "x86/model_msr.h"
#else
#include "riscv/model_sbi.h"
#endif

#define NR_CPUS		3
#define NR_THREADS	24
#define NR_PROCESSES	8
#define NR_MAPS		32
#define NR_USERS	3
#define NR_ORPHANS	4
#define MAX_CTRS	3

#define NATIVE		PERFCTR_SOURCE_NATIVE
#define SHARED		PERFCTR_SOURCE_SHARED
#define ANY_SOURCE	PERFCTR_SOURCE_ANY

struct process {
	struct mm_struct mm;
	struct pid_namespace *pid_ns;	/* NULL: the first process's */
	bool dumpable;
	unsigned int threads;
};

struct handle {
	struct file file;
	unsigned int refs;
};

/* The maps of all processes */
struct map {
	struct vm_area_struct vma;
	struct process *process;	/* NULL: the map is free */
	struct handle *handle;
};

struct control {
	u32 source;
	u32 nractrs, nrictrs;
	struct perfctr_ctr_control ctr[MAX_CTRS];
};

/* What the model knows of a tree */
struct tree {
	struct thread *root;
	struct handle *handle;
	struct model_tally root_ended;	/* the root's counts, if it has ended */
	struct model_tally ended;
	unsigned int nr_ended;
	bool stopped;
	bool root_has_ended;
	const struct control *control;
};

struct thread {
	struct task_struct task;
	struct process *process;	/* NULL: there is no such thread */
	struct handle *handle;
	struct thread *vfork_child;	/* it waits for that one */
	/* The model */
	const struct control *control;	/* NULL: nothing is to be counted */
	struct tree *tree;
	u64 limit[MAX_CTRS];
	u64 left;
	struct {
		const struct map *map;	/* NULL: it reads nothing just now */
		const struct perfctr_page *page;
		u64 bias;
		s32 seq;
		u32 i;
	} reading;
	u64 clock_least;		/* the least that it had before @seen */
	u64 clock_most;
	u64 since;
	struct model_tally seen;
	struct cred cred;
	unsigned int uid;
	u32 overflown;			/* mask */
	u32 was_user;			/* mask: users that it was since it runs */
	bool was_open;			/* since it runs, the policy was "open" */
	bool was_mapped;		/* since it runs, it had its page mapped */
	bool clock_on;
	bool suspended;
	bool raw;			/* by the policy */
	bool records;
	bool lent;
	bool told;
};

static const struct control controls[] = {
	{ NATIVE, 1, 0, { CTR(FIRST, EV_INSTRUCTIONS, USER) } },
	{ NATIVE, 2, 0, { CTR(FIRST, EV_INSTRUCTIONS, USER), CTR(FIRST + 1, EV_ITLB, USER) } },
	{ NATIVE, 3, 0, { CTR(FIRST + 1, EV_CYCLES, USER), CTR(FIRST, EV_ITLB, USER),
		  CTR(FIRST + 2, EV_DTLB_READ, USER) } },
	{ NATIVE, 1, 0, { CTR(FIRST + 1, EV_INSTRUCTIONS, BOTH) } },
	{ NATIVE, 2, 0, { CTR(FIRST, EV_INSTRUCTIONS, MODEL_ONE_MODE ? KERNEL : USER),
		  CTR(FIRST + 1, EV_CYCLES, KERNEL) } },
	{ NATIVE, 0, 0, {} },
	{ NATIVE, 1, 1, { CTR(FIRST, EV_INSTRUCTIONS, USER), ICTR(FIRST + 1, EV_ITLB, USER, 300) } },
	{ NATIVE, 0, 1, { ICTR(FIRST, EV_INSTRUCTIONS, USER, 4000) } },
#ifdef CONFIG_PPC32
	/* By an own way, though nothing comes of it: no condition is enabled, no counter waits. */
	{ NATIVE, 1, 0, { CTR_MMCR(FIRST, EV_INSTRUCTIONS, USER, FCECE) } },
	{ NATIVE, 2, 0, { CTR_MMCR(FIRST, EV_ITLB, USER, FCECE),
		  CTR_MMCR(FIRST + 2, EV_INSTRUCTIONS, USER, FCECE) } },
	{ NATIVE, 0, 1, { ICTR_MMCR(FIRST, EV_INSTRUCTIONS, USER, TRIGGER, 5000) } },
#endif
};

/* By perf, which has room for all at once, and on RISC-V beside those above */
static const struct control shared_controls[] = {
	{ SHARED, 1, 0, { CTR(ANY, EV_INSTRUCTIONS, USER) } },
	{ SHARED, 2, 0, { CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER) } },
	{ SHARED, 1, 0, { CTR(ANY, EV_ITLB, USER) } },
#if MODEL_ONE_MODE
	{ SHARED, 1, 0, { CTR(ANY, EV_DTLB_READ, USER) } },
#else
	{ SHARED, 1, 0, { CTR(ANY, EV_INSTRUCTIONS, BOTH) } },
#endif
	{ ANY_SOURCE, 1, 0, { CTR(FIRST, EV_INSTRUCTIONS, USER) } },
	{ SHARED, 3, 0, { CTR(ANY, EV_ITLB, USER),
		  CTR(ANY, EV_CYCLES, MODEL_ONE_MODE ? USER : KERNEL),
			  CTR(ANY, EV_INSTRUCTIONS, USER) } },
};

/* The first one and the last one are all that have ended, in either namespace. */
static struct process processes[NR_PROCESSES + 2];
#define ENDED_INSIDE	(processes + NR_PROCESSES + 1)
static struct pid_namespace inner;
static bool next_inside;	/* the next process is there */
static struct map maps[NR_MAPS];
static struct thread threads[NR_THREADS];
static struct thread idle[SHIM_CPUS];
static struct tree trees[NR_THREADS];
static struct handle *orphans[NR_ORPHANS];
static unsigned int in_step, seed;

/* How often each thing happened: all of them must. */
static struct {
	unsigned int reads, shown, private, switches, forks, execs, ends, tree_reads, overflows,
		     stops, policies, lends, maps, interrupted, raw, shared, refused, samples,
		     others;
} nr;

static unsigned int rnd(unsigned int n)
{
	static u64 state;

	if (!state)
		state = seed;
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(state >> 33) % n;
}

#define expect(condition, ...)							\
do {										\
	if (!(condition)) {							\
		char __what[256];						\
										\
		(void)snprintf(__what, sizeof(__what), __VA_ARGS__);		\
		ck_abort_msg("seed %u, step %u: %s", seed, in_step, __what);	\
	}									\
} while (0)

static struct thread *thread_of(struct task_struct *task)
{
	return container_of(task, struct thread, task);
}

static struct thread *running(void)
{
	return thread_of(current);
}

static bool is_idle(const struct thread *thread)
{
	return thread >= idle && thread < idle + SHIM_CPUS;
}

/* The thread's state, as long as it is attached */
static struct vperfctr *state_of(const struct thread *thread)
{
	struct hlist_node *first = thread->task.preempt_notifiers.first;

	if (perfctr_by_tracepoint())
		return perfctr_look_up(&thread->task);
	return first ? container_of(hlist_entry(first, struct preempt_notifier, link),
				    struct vperfctr, notifier) : NULL;
}

static bool runs(const struct thread *thread)
{
	unsigned int cpu;

	for (cpu = 0; cpu < NR_CPUS; cpu++)
		if (shim_on[cpu] == &thread->task)
			return true;
	return false;
}

/* It counts by perf. */
static bool is_shared(const struct thread *thread)
{
	const struct vperfctr *perfctr = state_of(thread);

	return perfctr && perfctr->config && perfctr->config->shared;
}

static void to_cpu(unsigned int cpu)
{
	shim_cpu = cpu;
	shim_uid = running()->uid;
}

static u64 now(void)
{
	return perfctr_cpu_clock();
}

int get_dumpable(struct mm_struct *mm)
{
	return container_of(mm, struct process, mm)->dumpable ? SUID_DUMP_USER : 0;
}

/*
 * What registers hold: for whom each counted since it was zero, or set. Each process has a
 * bit for each of its users, and one for while it is not dumpable.
 */

static struct shown {
	u64 value;
	u64 owners;
	unsigned int sets;
} registers[NR_CPUS][32];

static unsigned int owner_bit(const struct process *process, unsigned int user)
{
	return (unsigned int)(process - processes) * (NR_USERS + 1) + user;
}

static u64 owner_of(const struct thread *thread)
{
	const struct process *ended = thread->task.pid_ns ? ENDED_INSIDE : processes;
	const struct process *process = thread->process ? thread->process : ended;
	bool dumpable = process == ended || process->dumpable;

	return BIT_ULL(owner_bit(process, dumpable ? thread->cred.euid.val : NR_USERS));
}

/* If the value has changed it counted for that thread, and for nobody else if it was set. */
static void look_for(const struct thread *thread)
{
	unsigned int hw, sets;

	for (hw = 0; hw < 32; hw++) {
		struct shown *reg = &registers[shim_cpu][hw];
		u64 value;

		if (!(MACHINE_COUNTERS & BIT(hw)))
			continue;
		value = model_value(shim_cpu, hw);
		sets = machine_sets(hw);
		if (!value || sets != reg->sets)
			reg->owners = 0;
		if (value && (value != reg->value || sets != reg->sets))
			reg->owners |= owner_of(thread);
		reg->value = value;
		reg->sets = sets;
	}
}

static void look(void)
{
	look_for(running());
}

/* What the firmware left is nobody's. */
static void look_first(void)
{
	unsigned int cpu, hw;

	memset(registers, 0, sizeof(registers));
	for (cpu = 0; cpu < NR_CPUS; cpu++)
		for (hw = 0; hw < 32; hw++)
			if (MACHINE_COUNTERS & BIT(hw))
				registers[cpu][hw].value = model_value(cpu, hw);
}

void engine_look(void)
{
	look();
}

/* The process has ended, so no thread belongs to it any more. */
static void forget_process(const struct process *process)
{
	const struct process *ended = process->pid_ns ? ENDED_INSIDE : processes;
	unsigned int cpu, hw, user;

	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		for (hw = 0; hw < 32; hw++) {
			u64 *owners = &registers[cpu][hw].owners;

			for (user = 0; user <= NR_USERS; user++) {
				if (!(*owners & BIT_ULL(owner_bit(process, user))))
					continue;
				*owners &= ~BIT_ULL(owner_bit(process, user));
				*owners |= BIT_ULL(owner_bit(ended, user));
			}
		}
	}
}

static bool is_own(const struct map *map, const struct thread *thread)
{
	return map->process && map->process == thread->process && state_of(thread) &&
	       map->handle->file.private_data == state_of(thread) && map->vma.vm_ops->close;
}

static bool has_map(const struct thread *thread)
{
	const struct map *map;

	for (map = maps; map < maps + NR_MAPS; map++)
		if (is_own(map, thread))
			return true;
	return false;
}

/* The counters that RAW permits it to read, as a mask */
static u32 raw_counters(const struct thread *thread)
{
	u32 mask = 0, i;

	if (!thread->raw || !thread->control || perfctr_user_read != PERFCTR_USER_READ_OPEN)
		return 0;
	for (i = 0; i < thread->control->nractrs + thread->control->nrictrs; i++)
		mask |= (u32)BIT(thread->control->ctr[i].map);
	return mask;
}

/* Where each thread has a permission of its own: it has what it must, and no more. */
static void expect_permission(const struct thread *thread)
{
	u32 raw = raw_counters(thread);
	unsigned int hw;

	nr.raw += raw != 0;
	for (hw = 0; hw < 32; hw++) {
		if (!(MACHINE_COUNTERS & BIT(hw)))
			continue;
		expect(machine_may_read(hw) || !(raw & BIT(hw)),
		       "thread %d may not read counter %u, in spite of RAW",
		       (int)(thread - threads), hw);
		expect(!machine_may_read(hw) || raw & BIT(hw) || thread->was_mapped,
		       "thread %d, which has no page, may read counter %u",
		       (int)(thread - threads), hw);
	}
}

/* Half of all sequences have native counters alone, the others few of perf's, or many. */
static bool has_shared(void)
{
	return seed & 2 && machine_has_perf();
}

/* In a third of all sequences half of the threads write samples. */
static bool has_rings(void)
{
	return seed % 3 == 0;
}

/* Before user mode: the registers that the thread may read hold only what is its own. */
static void expect_own(const struct thread *thread)
{
	u32 users = thread->was_user | (u32)BIT(thread->cred.euid.val);
	u64 own = owner_of(thread);
	unsigned int hw, i;

	if (perfctr_cpu_permits_threads())
		expect_permission(thread);
	if (perfctr_user_read == PERFCTR_USER_READ_OPEN)
		return;
	/* Where anybody may read, that is so of perf's counters, too. */
	if (perfctr_cpu_always_readable() && has_shared())
		return;
	/* Where anybody may read, what counted for all is gone as soon as the policy changes. */
	if (thread->was_open && !perfctr_cpu_always_readable())
		return;
	for (i = 0; i <= NR_PROCESSES + 1; i++)
		if (processes[i].pid_ns == thread->task.pid_ns)
			own |= (u64)users << owner_bit(&processes[i], 0);
	for (i = 0; i <= NR_USERS; i++)
		own |= BIT_ULL(owner_bit(thread->process, i));
	for (hw = 0; hw < 32; hw++) {
		if (!(MACHINE_COUNTERS & BIT(hw)) || !machine_may_read(hw))
			continue;
		nr.private++;
		expect(!(registers[shim_cpu][hw].owners & ~own),
		       "thread %d may read counter %u of CPU %u: %#llx, with what is of %#llx",
		       (int)(thread - threads), hw, shim_cpu, registers[shim_cpu][hw].value,
		       registers[shim_cpu][hw].owners & ~own);
	}
}

/*
 * What is counted
 */

static bool counts(const struct thread *thread)
{
	return thread->control && !thread->suspended && (!thread->overflown || thread->records);
}

static u64 count_of(const struct control *control, const struct model_tally *tally, u32 i)
{
	return tally_count(tally, &control->ctr[i], control->ctr[i].map);
}

static void add(struct model_tally *to, const struct model_tally *from)
{
	unsigned int i, mode;

	for (i = 0; i < KIND_NR; i++)
		for (mode = 0; mode < MODEL_MODES; mode++)
			to->nr[i][mode] += from->nr[i][mode];
	to->time += from->time;
}

/* Begins new periods. */
static void begin_periods(struct thread *thread)
{
	const struct control *control = thread->control;
	u32 i;

	thread->overflown = 0;
	thread->told = false;
	for (i = 0; i < control->nrictrs; i++)
		thread->limit[i] = count_of(control, &thread->seen, control->nractrs + i) -
				   (u64)control->ctr[control->nractrs + i].ireset;
}

static void end_periods(struct thread *thread)
{
	const struct control *control = thread->control;
	u32 i;

	for (i = 0; control && i < control->nrictrs; i++) {
		u32 k = control->nractrs + i;
		u64 count = count_of(control, &thread->seen, k);

		if (count < thread->limit[i])
			continue;
		thread->limit[i] = count - (u64)control->ctr[k].ireset;
		thread->overflown |= BIT(k);
	}
}

void engine_signal(u32 mask)
{
	struct thread *thread = running();

	nr.overflows++;
	expect(thread->overflown == mask && !thread->told,
	       "thread %d is told of %#x, not of %#x", (int)(thread - threads), mask,
	       thread->overflown);
	if (thread->left > 1) {
		thread->left--;
		thread->overflown = 0;
	} else {
		thread->told = true;
	}
}

static void expect_clock(u64 clock, bool on, const struct thread *thread)
{
	u64 most = thread->clock_most + (runs(thread) ? ~0ull >> 1 : 0);
	u64 least = thread->clock_least + thread->seen.time;

	if (on)
		expect(clock >= least && clock <= most,
		       "thread %d: the clock is %llu, not from %llu to %llu",
		       (int)(thread - threads), clock, least, most);
}

void engine_sample(u32 mask, const u64 *value)
{
	struct thread *thread = running();
	const struct control *control = thread->control;
	u32 i;

	/* Its tree has died, and it was not detached yet. */
	if (!control)
		return;
	nr.samples++;
	nr.overflows += mask != 0;
	expect(thread->records && thread->overflown == mask,
	       "thread %d writes a sample of %#x, not of %#x", (int)(thread - threads), mask,
	       thread->overflown);
	for (i = 0; i < control->nractrs + control->nrictrs; i++) {
		u64 want = count_of(control, &thread->seen, i);

		expect(value[1 + i] == want, "thread %d, a sample's counter %u: %llu, not %llu",
		       (int)(thread - threads), i, value[1 + i], want);
	}
	expect_clock(value[0], thread->clock_on, thread);
	thread->overflown = 0;
}

/* The current thread asks. */
static void expect_sums(const struct thread *thread)
{
	struct vperfctr *perfctr = state_of(thread);
	const struct control *control = thread->control;
	u64 value[1 + PERFCTR_MAX_HW] = {};
	struct perfctr_sample sample = { .value = value };
	u32 i;

	if (!perfctr || !control)
		return;
	nr.reads++;
	nr.shared += is_shared(thread);
	expect(!vperfctr_sample(perfctr, &sample) && !perfctr->error, "cannot be read");
	expect(PERFCTR_CSTATUS_NRCTRS(sample.cstatus) == control->nractrs + control->nrictrs,
	       "thread %d: cstatus %#x", (int)(thread - threads), sample.cstatus);
	for (i = 0; i < control->nractrs + control->nrictrs; i++) {
		u64 want = count_of(control, &thread->seen, i);

		expect(value[1 + i] == want, "thread %d, counter %u: %llu, not %llu",
		       (int)(thread - threads), i, value[1 + i], want);
	}
	expect_clock(value[0], thread->clock_on, thread);
}

static void expect_states(void)
{
	const struct thread *thread;

	for (thread = threads; thread < threads + NR_THREADS; thread++) {
		const struct vperfctr *perfctr = state_of(thread);
		int hold;

		if (!perfctr || !(perfctr->seq & 1))
			continue;
		hold = atomic_read(&perfctr->hold);
		expect(runs(thread), "thread %d does not run, and is resumed",
		       (int)(thread - threads));
		expect(!(hold & ~PERFCTR_HOLD_COUNTERS), "thread %d is resumed, held by %#x",
		       (int)(thread - threads), hold);
	}
}

/* The current thread reads its page in user mode, as the header says. */
static void expect_page(struct thread *thread, struct map *map)
{
	const struct control *control = thread->control;
	struct vm_fault vmf = { .vma = &map->vma };
	u64 pointer = machine_thread_pointer(&thread->task), value;
	const struct perfctr_page *page;
	bool own = is_own(map, thread);
	const struct perfctr_page_slot *slot;
	u32 i, hw;

	map->vma.vm_ops->fault(&vmf);
	page = (const struct perfctr_page *)vmf.page;
	for (i = 0; i < page->nrctrs; i++) {
		slot = (const void *)((const char *)page->slot + page->map[i]);
		if (slot->owner != pointer) {
			expect(!own || !control || !counts(thread) || i >= control->nractrs ||
			       perfctr_user_read == PERFCTR_USER_READ_OFF || thread->lent ||
			       is_shared(thread) || !machine_shows(),
			       "thread %d must ask for counter %u", (int)(thread - threads), i);
			continue;
		}
		expect(own, "thread %d finds itself in another's page", (int)(thread - threads));
		expect(control && counts(thread), "thread %d, which does not count, is shown",
		       (int)(thread - threads));
		expect(perfctr_user_read != PERFCTR_USER_READ_OFF, "shown, though that is off");
		hw = machine_counter(page, i);
		expect(machine_may_read(hw), "thread %d dies of its reading counter %u",
		       (int)(thread - threads), hw);
		nr.shown++;
		if (!rnd(4)) {
			thread->reading.map = map;
			thread->reading.page = page;
			thread->reading.seq = page->seq;
			thread->reading.i = i;
			thread->reading.bias = slot->bias;
		}
		value = slot->bias + model_value(shim_cpu, hw);
		expect(value == count_of(control, &thread->seen, i),
		       "thread %d's page has of counter %u %llu, not %llu; control %d",
		       (int)(thread - threads), i, value, count_of(control, &thread->seen, i),
		       (int)(control - controls));
	}
	slot = &page->slot[PERFCTR_CPU_CLOCK_SLOT];
	if (own && slot->owner == pointer)
		expect_clock(slot->bias + now(), thread->clock_on, thread);
}

/*
 * A read of a counter was interrupted after it had the bias. What it reads now counts if the
 * page says that nothing has changed. It may be killed if the interruption was long.
 */
static void end_reading(struct thread *thread)
{
	const struct map *map = thread->reading.map;
	const struct perfctr_page *page = thread->reading.page;
	unsigned int hw;
	u64 value, want;

	thread->reading.map = NULL;
	if (!map || map->process != thread->process || !state_of(thread) ||
	    map->handle->file.private_data != state_of(thread) ||
	    page != state_of(thread)->page || page->seq != thread->reading.seq)
		return;
	nr.interrupted++;
	hw = machine_counter(page, thread->reading.i);
	value = thread->reading.bias + model_value(shim_cpu, hw);
	want = thread->control ? count_of(thread->control, &thread->seen, thread->reading.i) : 0;
	expect(thread->control && value == want,
	       "thread %d's interrupted read of counter %u gives %llu, not %llu",
	       (int)(thread - threads), thread->reading.i, value, want);
}

static void expect_user_mode(void)
{
	struct thread *thread = running();
	struct map *map;

	if (is_idle(thread))
		return;
	expect_own(thread);
	for (map = maps; map < maps + NR_MAPS; map++)
		if (map->process && map->process == thread->process)
			expect_page(thread, map);
}

/*
 * The kernel
 */

/* As in timer.c. It may fire at any time. */
static void fire_timer(void)
{
	struct vperfctr *perfctr;

	local_irq_disable();
	perfctr = vperfctr_current();
	if (perfctr && perfctr->imode)
		vperfctr_on_timer(perfctr);
	local_irq_enable();
	look();
}

static void return_to_user(void)
{
	struct thread *thread = running();
	struct callback_head *work;

	if (is_idle(thread))
		return;
	while (machine_irq_waits()) {
		machine_irq(false);
		look();
	}
	while ((work = thread->task.task_works)) {
		thread->task.task_works = work->next;
		work->func(work);
		look();
	}
	if (!thread->vfork_child)
		thread->lent = false;
	/* The works may have made an interrupt wait. */
	if (machine_irq_waits())
		machine_irq(true);
	look();
}

static void fire_out(struct task_struct *prev, struct task_struct *next)
{
	struct preempt_notifier *notifier;

	hlist_for_each_entry(notifier, &prev->preempt_notifiers, link)
		notifier->ops->sched_out(notifier, next);
}

static void fire_in(struct task_struct *next)
{
	struct preempt_notifier *notifier;

	hlist_for_each_entry(notifier, &next->preempt_notifiers, link)
		notifier->ops->sched_in(notifier, (int)shim_cpu);
}

static void happen_elsewhere(void);

/* A thread has come to that CPU, and does not know it yet. */
static bool in_switch[SHIM_CPUS];

static void end_switch(void)
{
	if (!in_switch[shim_cpu])
		return;
	in_switch[shim_cpu] = false;
	running()->was_mapped = has_map(running());
	fire_in(current);
	look();
}

static void switch_to(struct thread *next)
{
	void (*probe)(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int state) = shim_probe("sched_switch");
	struct thread *prev = running();
	unsigned int cpu = shim_cpu;

	if (prev == next)
		return;
	nr.switches++;
	next->since = now();
	next->was_open = false;
	next->was_user = 0;
	local_irq_disable();
	next->task.se.nr_migrations += next->task.cpu != cpu;
	next->task.cpu = cpu;
	if (probe)
		probe(NULL, false, &prev->task, &next->task, 0);
	/* Nothing counts there, but it may set next's counters. */
	look_for(next);
	fire_out(&prev->task, &next->task);
	look();
	prev->clock_most += now() - prev->since;
	prev->task.nvcsw++;
	if (rnd(3))
		instruction_pointer(task_pt_regs(&prev->task)) += 4;
	shim_on[cpu] = &next->task;
	to_cpu(cpu);
	machine_switch_mm();
	in_switch[cpu] = true;
	local_irq_enable();
	/*
	 * Interrupts come, and other CPUs do things. By the tracepoint next's counters may run
	 * already, which is neither wrong nor promised.
	 */
	if (!perfctr_by_tracepoint())
		model_execute(MODEL_KERNEL, rnd(300));
	look();
	if (machine_irq_waits() || (MACHINE_OTHERS_INTERRUPT && has_rings() && rnd(2)))
		machine_irq(false);
	look();
	if (has_rings())
		fire_timer();
	if (!rnd(3))
		happen_elsewhere();
	to_cpu(cpu);
	end_switch();
}

/* A thread of the kernel's has the CPU for a moment. */
static void switch_for_kthread(bool comes)
{
	void (*probe)(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int state) = shim_probe("sched_switch");
	static struct task_struct *before[SHIM_CPUS];
	static struct thread workers[SHIM_CPUS];
	struct task_struct *worker = &workers[shim_cpu].task, *next = worker;
	unsigned int uid = shim_uid;

	end_switch();
	if (comes) {
		before[shim_cpu] = current;
		worker->flags = PF_KTHREAD;
		worker->real_cred = &workers[shim_cpu].cred;
	} else {
		next = before[shim_cpu];
	}
	local_irq_disable();
	if (probe)
		probe(NULL, false, current, next, 0);
	look();
	fire_out(current, next);
	look();
	shim_on[shim_cpu] = next;
	local_irq_enable();
	fire_in(next);
	look();
	shim_uid = uid;
}

static void let_run(struct thread *thread, enum model_mode mode, u64 instructions)
{
	model_witness[shim_cpu] = counts(thread) ? &thread->seen : NULL;
	model_execute(mode, instructions);
	model_witness[shim_cpu] = NULL;
	look();
}

#ifdef CONFIG_RISCV
/* perf's handler runs, and no counter of ours has overflowed: i-mode counters need not stop. */
static void others_interrupt(const struct thread *thread)
{
	bool runs_on = counts(thread) && thread->control->nrictrs;
	unsigned int calls = model_all_calls();

	nr.others += runs_on;
	machine_irq_of_others();
	look();
	expect(!runs_on || model_all_calls() == calls, "stopped for an interrupt of others");
}
#endif

static void execute(void)
{
	struct thread *thread = running();
	unsigned int times;

	return_to_user();
	end_reading(thread);
	for (times = is_idle(thread) ? 0 : 1 + rnd(2); times; times--) {
		expect_user_mode();
		thread->reading.map = NULL;
		let_run(thread, MODEL_USER, 1 + rnd(2000));
		end_periods(thread);
		if (has_rings() && !rnd(4))
			fire_timer();
#ifdef CONFIG_RISCV
		/* What perf counts for us it would not start again: none of it has overflowed. */
		if (!machine_irq_waits() && model_perf_is_idle() && !rnd(4))
			others_interrupt(thread);
#endif
		if (machine_irq_waits() && (times > 1 || rnd(3))) {
			machine_irq(true);
			look();
			return_to_user();
		}
		if (thread->overflown && !thread->told)
			break;		/* noticed as the thread enters the kernel */
		expect_user_mode();
	}
	let_run(thread, MODEL_KERNEL, rnd(500));
}

static long ioctl(struct handle *handle, unsigned int cmd, void *arg)
{
	long ret = vperfctr_fops.unlocked_ioctl(&handle->file, cmd, (unsigned long)arg);

	look();
	return ret;
}

static void tree_dies(struct tree *tree)
{
	struct thread *thread;

	if (!tree)
		return;
	for (thread = threads; thread < threads + NR_THREADS; thread++) {
		if (thread->tree != tree)
			continue;
		thread->tree = NULL;
		if (tree->root != thread)
			thread->control = NULL;
	}
	memset(tree, 0, sizeof(*tree));
}

static void handle_put(struct handle *handle)
{
	unsigned int i;

	if (--handle->refs)
		return;
	/* The root has ended, so this was the tree's last reference. */
	for (i = 0; i < NR_THREADS; i++)
		if (trees[i].handle == handle && trees[i].root_has_ended)
			tree_dies(&trees[i]);
	vperfctr_fops.release(NULL, &handle->file);
	kfree(handle);
}

static bool handle_open(struct thread *thread)
{
	struct perfctr_open open = { .size = sizeof(open), .flags = PERFCTR_OPEN_CREAT };

	if (thread->handle && thread->handle->file.private_data == state_of(thread))
		return true;
	if (thread->handle)
		handle_put(thread->handle);
	thread->clock_on = thread->clock_on && state_of(thread);
	thread->handle = kzalloc(sizeof(*thread->handle), GFP_KERNEL);
	thread->handle->refs = 1;
	expect(!ioctl(thread->handle, PERFCTR_IOC_OPEN, &open), "OPEN");
	return true;
}

static struct tree *tree_new(void)
{
	struct tree *tree;

	for (tree = trees; tree < trees + NR_THREADS; tree++)
		if (!tree->control)
			return tree;
	return NULL;
}

/* Inherited, maybe from a tree that is dead by now: another thread controls it. */
static bool is_descendant(const struct thread *thread)
{
	return state_of(thread) && state_of(thread)->inherited;
}

#ifdef PERFCTR_CPU_ONE_SOURCE
/* Threads may have ended whose trees or handles still have a state that counts by it. */
static bool other_source_is_used(u32 source)
{
	struct perfctr_kernel_info info = {};

	perfctr_config_info(&info);
	if (source == SHARED)
		return info.source == NATIVE && model_perf_is_idle();
	return source == NATIVE && info.source == SHARED && !model_perf_is_idle();
}
#endif

static void make_ring(struct thread *thread)
{
	struct perfctr_ring ring = { .size = sizeof(ring), .pages = 1 };
	long err, want = 0;

	handle_open(thread);
	if (is_descendant(thread))
		want = -EBUSY;
	else if (state_of(thread)->ring)
		want = -EEXIST;
	err = ioctl(thread->handle, PERFCTR_IOC_RING, &ring);
	expect(err == want, "RING: %ld, not %ld", err, want);
}

/* @tree: the tree that the control makes, if it has INHERIT */
static void set_control(struct thread *thread, const struct control *control, struct tree *tree,
			bool tsc_on, u64 refresh, u32 flags)
{
	struct perfctr_control arg = { PERFCTR_CONTROL_INIT };
	bool records = flags & PERFCTR_CONTROL_RECORD;
	u64 before;
	long err;

	handle_open(thread);
	if (records)
		make_ring(thread);
	before = now();
	arg.tsc_on = tsc_on;
	arg.nractrs = control->nractrs;
	arg.nrictrs = control->nrictrs;
	arg.source = control->source;
	arg.si_signo = control->nrictrs && !records ? 10 : 0;
	arg.refresh = records ? 0 : refresh;
	arg.timer_ns = records ? 10000 : 0;
	arg.flags = (tree ? PERFCTR_CONTROL_INHERIT : 0) | flags;
	memcpy(arg.ctr, control->ctr, sizeof(control->ctr));
	/* RAW is by the policy. */
	shim_allow_kernel = flags & PERFCTR_CONTROL_RAW ? -EACCES : 0;
	err = ioctl(thread->handle, PERFCTR_IOC_CONTROL, &arg);
	shim_allow_kernel = 0;
	if (is_descendant(thread)) {
		expect(err == -EBUSY, "a descendant controls itself: %ld", err);
		return;
	}
	if (flags & PERFCTR_CONTROL_RAW && perfctr_user_read != PERFCTR_USER_READ_OPEN) {
		expect(err == -EACCES, "RAW under another policy: %ld", err);
		return;
	}
#ifdef PERFCTR_CPU_ONE_SOURCE
	if (err == -EBUSY && other_source_is_used(control->source)) {
		expect(arg.reason == PERFCTR_REASON_SOURCE && arg.owner == PERFCTR_OWNER_PERFCTR,
		       "the other source is in use: reason %u, owner %u", arg.reason, arg.owner);
		nr.refused++;
		/* Who asks for what perf has too often is not heard for a while. */
		shim_jiffies += HZ;
		return;
	}
#endif
	expect(!err, "CONTROL: %ld, counter %u, owner %u, reason %u", err, arg.refused, arg.owner,
	       arg.reason);
	expect(control->source == ANY_SOURCE || !control->nractrs ||
	       is_shared(thread) == (control->source == SHARED), "counts by the other source");
	tree_dies(thread->tree);
	thread->tree = tree;
	thread->control = control;
	/* A clock that was on goes on. */
	if (thread->clock_on && arg.tsc_on) {
		thread->clock_least += thread->seen.time;
	} else {
		thread->clock_least = 0;
		thread->clock_most = 0;
		thread->since = before;
	}
	thread->clock_on = arg.tsc_on;
	thread->suspended = flags & PERFCTR_CONTROL_SUSPENDED;
	thread->raw = flags & PERFCTR_CONTROL_RAW;
	thread->records = records;
	thread->left = max(arg.refresh, 1ull);
	memset(&thread->seen, 0, sizeof(thread->seen));
	begin_periods(thread);
	if (tree)
		*tree = (struct tree) {
			.root = thread, .handle = thread->handle, .control = control,
			.stopped = thread->suspended,
		};
}

static bool counts_user_only(const struct control *control)
{
	u32 i;

	for (i = 0; i < control->nractrs + control->nrictrs; i++)
		if (control->ctr[i].flags & PERFCTR_CTR_KERNEL)
			return false;
	return true;
}

static const struct control *choose_control(void)
{
	/* Mostly one that others have as well, and that counts user mode only */
	if (has_shared() && (seed & 1 ? rnd(8) > 0 : rnd(2)))
		return &shared_controls[rnd(rnd(2) ? 2 : ARRAY_SIZE(shared_controls))];
	return &controls[rnd(rnd(2) ? 2 : ARRAY_SIZE(controls))];
}

static void do_control(struct thread *thread)
{
	const struct control *control = choose_control();
	struct tree *tree = rnd(2) ? tree_new() : NULL;
	bool tsc_on = !control->nractrs || rnd(4);
	u64 refresh = control->nrictrs ? rnd(6) : 0;
	u32 flags = rnd(8) ? 0 : PERFCTR_CONTROL_SUSPENDED;

	if (perfctr_cpu_permits_threads() && control->source == NATIVE &&
	    counts_user_only(control) && !rnd(2))
		flags |= PERFCTR_CONTROL_RAW;
	if (has_rings() && rnd(2))
		flags |= PERFCTR_CONTROL_RECORD;
	set_control(thread, control, tree, tsc_on, refresh, flags);
}

static void do_stop_go(struct thread *thread)
{
	struct thread *member;
	bool stop = rnd(2);

	if (!thread->control || !state_of(thread))
		return;
	handle_open(thread);
	nr.stops++;
	expect(!ioctl(thread->handle, stop ? PERFCTR_IOC_SUSPEND : PERFCTR_IOC_RESUME, NULL),
	       "SUSPEND or RESUME");
	thread->suspended = stop;
	if (!thread->tree)
		return;
	thread->tree->stopped = stop;
	for (member = threads; member < threads + NR_THREADS; member++)
		if (member->tree == thread->tree)
			member->suspended = stop;
}

static void do_unlink(struct thread *thread)
{
	if (!state_of(thread) || is_descendant(thread))
		return;
	handle_open(thread);
	expect(!ioctl(thread->handle, PERFCTR_IOC_UNLINK, NULL), "UNLINK");
	tree_dies(thread->tree);
	thread->control = NULL;
}

static void do_iresume(struct thread *thread)
{
	long err;

	if (!thread->control || !state_of(thread))
		return;
	handle_open(thread);
	err = ioctl(thread->handle, PERFCTR_IOC_IRESUME, NULL);
	expect(err == (thread->told ? 0 : -EINVAL), "IRESUME: %ld", err);
	thread->overflown = thread->told ? 0 : thread->overflown;
	thread->told = false;
}

static void do_map(struct thread *thread)
{
	struct map *map;

	if (!state_of(thread))
		return;
	handle_open(thread);
	for (map = maps; map < maps + NR_MAPS && map->process; map++)
		;
	if (map == maps + NR_MAPS)
		return;
	nr.maps++;
	*map = (struct map) {
		.vma = { .vm_end = PAGE_SIZE, .vm_flags = VM_MAYSHARE,
			 .vm_mm = &thread->process->mm },
		.process = thread->process, .handle = thread->handle,
	};
	expect(!vperfctr_fops.mmap(&thread->handle->file, &map->vma), "mmap");
	thread->handle->refs++;
	thread->was_mapped = true;
	look();
}

static void unmap(struct map *map)
{
	if (map->vma.vm_ops->close)
		map->vma.vm_ops->close(&map->vma);
	map->process = NULL;
	look();
	handle_put(map->handle);
	look();
}

static void do_unmap(struct thread *thread)
{
	unsigned int i, from = rnd(NR_MAPS);
	struct map *map;

	for (i = 0; i < NR_MAPS; i++) {
		map = &maps[(from + i) % NR_MAPS];
		if (map->process == thread->process) {
			unmap(map);
			return;
		}
	}
}

static void do_policy(void)
{
	unsigned int cpu;

	nr.policies++;
	/* The thread could read these registers before, and may until it is switched out. */
	for (cpu = 0; cpu < NR_CPUS; cpu++)
		thread_of(shim_on[cpu])->was_open |= perfctr_user_read == PERFCTR_USER_READ_OPEN;
	perfctr_user_read_asked = rnd(3) ? PERFCTR_USER_READ_GUARDED : rnd(3);
	perfctr_policy_changed();
	look();
}

/* To another user, or back to the old one: not dumpable, until an exec */
static void do_setuid(struct thread *thread)
{
	thread->was_user |= (u32)BIT(thread->cred.euid.val);
	thread->cred.euid.val = rnd(2) ? thread->uid : rnd(NR_USERS);
	thread->process->dumpable = false;
}

static void expect_tree(struct tree *tree, struct handle *handle)
{
	struct perfctr_read_tree read = { .size = sizeof(read), .which = PERFCTR_TREE_ENDED };
	struct model_tally sums = tree->ended;
	const struct thread *thread;
	u32 i, live = 0;

	if (rnd(3))
		read.which |= PERFCTR_TREE_LIVE;
	if (rnd(3))
		read.which |= PERFCTR_TREE_ROOT;
	for (thread = threads; thread < threads + NR_THREADS; thread++) {
		bool root = thread == tree->root && !tree->root_has_ended;

		if (thread->tree != tree)
			continue;
		live += !root;
		if (read.which & (root ? PERFCTR_TREE_ROOT : PERFCTR_TREE_LIVE))
			add(&sums, &thread->seen);
	}
	if (tree->root_has_ended && read.which & PERFCTR_TREE_ROOT)
		add(&sums, &tree->root_ended);
	nr.tree_reads++;
	expect(!ioctl(handle, PERFCTR_IOC_READ_TREE, &read), "READ_TREE");
	expect(read.live == live && read.ended == tree->nr_ended,
	       "a tree of %u and %u, not of %llu and %llu", live, tree->nr_ended, read.live,
	       read.ended);
	for (i = 0; i < tree->control->nractrs + tree->control->nrictrs; i++) {
		u64 want = count_of(tree->control, &sums, i);

		expect(read.sum[i] == want, "a tree's counter %u: %llu, not %llu", i,
		       read.sum[i], want);
	}
}

static void do_read_tree(void)
{
	struct tree *tree = &trees[rnd(NR_THREADS)];

	if (tree->control)
		expect_tree(tree, tree->handle);
}

static void do_sleep(void)
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

static void do_work(void)
{
	shim_jiffies++;
	shim_work(rnd(2));
	look();
}

static void do_exec(struct thread *thread);

/* The current thread is in the kernel. */
static void do_something(void)
{
	struct thread *thread = running();
	unsigned int what = rnd(32);

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
		do_work();
	else if (what < 28)
		do_exec(thread);
	else
		expect_sums(&threads[rnd(NR_THREADS)]);
}

static void happen_elsewhere(void)
{
	unsigned int before = shim_cpu, cpu = rnd(NR_CPUS);

	if (cpu == before)
		return;
	to_cpu(cpu);
	do_something();
	to_cpu(before);
}

/*
 * Threads come and go
 */

static struct thread *thread_new(void)
{
	struct thread *thread;

	for (thread = threads; thread < threads + NR_THREADS; thread++)
		if (!thread->process)
			break;
	if (thread == threads + NR_THREADS)
		return NULL;
	memset(thread, 0, sizeof(*thread));
	thread->task.cpus_mask.bits = ~0ul;
	thread->task.real_cred = &thread->cred;
	return thread;
}

static struct pid *pid_new(int id)
{
	struct pid *pid = kzalloc(sizeof(*pid), GFP_KERNEL);

	*pid = (struct pid) { .refs = 1, .nr = id };
	return pid;
}

static struct process *process_new(const struct process *parent)
{
	struct process *process;

	for (process = processes + 1; process <= processes + NR_PROCESSES; process++)
		if (!process->threads)
			break;
	if (process > processes + NR_PROCESSES)
		return NULL;
	machine_copy_mm(&process->mm, parent ? &parent->mm : NULL);
	process->dumpable = !parent || parent->dumpable;
	/* A child is in the namespace of its parent, or further inside. */
	if (next_inside)
		process->pid_ns = &inner;
	else if (parent && (parent->pid_ns || rnd(4)))
		process->pid_ns = parent->pid_ns;
	else
		process->pid_ns = rnd(2) ? &inner : NULL;
	return process;
}

static void thread_begins(struct thread *thread, struct process *process, unsigned int uid)
{
	static int last_id;
	static u64 last_pointer = 0x1000;

	thread->process = process;
	process->threads++;
	thread->task.mm = &process->mm;
	thread->task.cpu = rnd(NR_CPUS);
	thread->task.pid = pid_new(++last_id);
	thread->task.pid_ns = process->pid_ns;
	thread->task.tgid = get_pid(thread->task.pid);
	thread->uid = uid;
	thread->cred.euid.val = uid;
	machine_set_thread_pointer(&thread->task, last_pointer += 0x100);
}

static void copy_maps(struct process *parent, struct process *child)
{
	struct map *map, *copy;

	for (map = maps; map < maps + NR_MAPS; map++) {
		if (map->process != parent)
			continue;
		for (copy = maps; copy < maps + NR_MAPS && copy->process; copy++)
			;
		if (copy == maps + NR_MAPS)
			return;
		*copy = *map;
		copy->process = child;
		copy->vma.vm_mm = &child->mm;
		copy->handle->refs++;
		if (copy->vma.vm_ops->open)
			copy->vma.vm_ops->open(&copy->vma);
	}
}

/* @how: below 3 a process, 3 by vfork(), else a thread */
static struct thread *make_child(struct thread *parent, unsigned int how)
{
	void (*probe)(void *data, struct task_struct *parent,
		      struct task_struct *child) = shim_probe("sched_process_fork");
	struct process *process = parent->process;
	struct thread *child = thread_new();

	if (child && how < 3)
		process = process_new(parent->process);
	if (!child || !process)
		return NULL;
	nr.forks++;
	thread_begins(child, process, parent->uid);
	child->cred = parent->cred;
	if (how < 4)
		machine_set_thread_pointer(&child->task, machine_thread_pointer(&parent->task));
	if (how < 3)
		copy_maps(parent->process, process);
	probe(NULL, &parent->task, &child->task);
	look();
	if (state_of(child)) {
		child->control = parent->control;
		child->clock_on = parent->clock_on;
		child->tree = parent->tree;
		child->suspended = parent->tree->stopped;
		child->raw = parent->raw && process == parent->process;
		child->records = parent->records;
		child->left = max(state_of(child)->imode ? state_of(child)->imode->left : 1, 1ull);
		begin_periods(child);
	} else {
		expect(!parent->tree, "a child was not counted");
	}
	if (how == 3) {
		nr.lends++;
		parent->vfork_child = child;
		parent->lent = true;
		switch_to(&idle[shim_cpu]);
	}
	return child;
}

/* The mm belongs to no process any more, but others may still walk through it. */
static void unmap_all(const struct process *process)
{
	struct map *map;

	for (map = maps; map < maps + NR_MAPS; map++)
		if (map->process == process)
			unmap(map);
}

static void leave_mm(struct thread *thread)
{
	struct process *process = thread->process;

	if (!--process->threads) {
		unmap_all(process);
		forget_process(process);
	}
	thread->process = thread->task.pid_ns ? ENDED_INSIDE : processes;
}

static void end_vfork(const struct thread *child)
{
	struct thread *other;

	for (other = threads; other < threads + NR_THREADS; other++)
		if (other->vfork_child == child)
			other->vfork_child = NULL;
}

/* Are overflows, and what the counters of a tree have counted, another matter than exec's? */
static bool is_simple(const struct thread *thread)
{
	return !thread->raw && (!thread->tree || !thread->control->nrictrs);
}

/* What registers of this CPU hold of one owner is another's from now on. */
static void pass_on(u64 from, u64 to)
{
	unsigned int hw;

	for (hw = 0; hw < 32; hw++) {
		if (registers[shim_cpu][hw].owners & from) {
			registers[shim_cpu][hw].owners &= ~from;
			registers[shim_cpu][hw].owners |= to;
		}
	}
}

/*
 * The program of a process of one thread is exchanged, for one that has another user's privileges
 * or not. The old mm goes first. Who can control such a program must not count it.
 */
static void do_exec(struct thread *thread)
{
	void (*probe)(void *data, struct task_struct *task, pid_t old_pid,
		      struct linux_binprm *bprm) = shim_probe("sched_process_exec");
	struct linux_binprm bprm = { .secureexec = !thread->tree && !rnd(3) };
	struct process *old = thread->process, *new;
	unsigned int user;

	if (old->threads != 1 || thread->vfork_child || !is_simple(thread))
		return;
	/* A tree would end by it. */
	if (thread->tree && thread->cred.euid.val != thread->uid)
		return;
	new = process_new(NULL);
	if (!new)
		return;
	nr.execs++;
	user = bprm.secureexec ? rnd(NR_USERS) : thread->cred.euid.val;
	new->dumpable = user == thread->uid && !bprm.secureexec;
	new->pid_ns = old->pid_ns;
	new->threads = 1;
	thread->task.mm = &new->mm;
	machine_switch_mm();
	unmap_all(old);
	/* Sums go on, so what the registers hold of the old program's the new one may know. */
	if (new->dumpable)
		pass_on(owner_of(thread), BIT_ULL(owner_bit(new, user)));
	leave_mm(thread);
	thread->process = new;
	end_vfork(thread);
	thread->was_user |= (u32)BIT(thread->cred.euid.val);
	thread->cred.euid.val = user;
	probe(NULL, &thread->task, 0, &bprm);
	look();
	if (!new->dumpable) {
		expect(!state_of(thread), "a program of another user's privileges is counted");
		thread->control = NULL;
		thread->tree = NULL;
	} else if (state_of(thread) && thread->control && thread->control->nrictrs &&
		   !thread->records) {
		/* No overflow is due any more. */
		begin_periods(thread);
		memset(thread->limit, 0xff, sizeof(thread->limit));
	}
}

static void do_exit(struct thread *thread)
{
	void (*probe)(void *data, struct task_struct *task, bool group_dead) =
		shim_probe("sched_process_exit");
	unsigned int cpu = shim_cpu, i;
	struct callback_head *work;
	bool late = rnd(2);
	struct tree *tree;

	nr.ends++;
	if (late) {
		/* Before 6.16 the mm goes before the probe. */
		thread->task.mm = NULL;
		machine_switch_mm();
		leave_mm(thread);
		if (rnd(2)) {
			switch_to(&idle[cpu]);
			switch_to(thread);
		}
	}
	/* While it was switched out its tree may have died. */
	tree = thread->tree;
	if (tree && tree->root == thread) {
		tree->root_ended = thread->seen;
		tree->root_has_ended = true;
		tree->root = NULL;
	} else if (tree) {
		add(&tree->ended, &thread->seen);
		tree->nr_ended++;
	}
	thread->control = NULL;
	thread->tree = NULL;
	probe(NULL, &thread->task, false);
	look();
	expect(!state_of(thread), "an end that is none");
	if (!late) {
		thread->task.mm = NULL;
		machine_switch_mm();
		leave_mm(thread);
	}
	for (i = 0; thread->handle && i < NR_ORPHANS; i++) {
		if (!orphans[i]) {
			orphans[i] = thread->handle;
			thread->handle = NULL;
		}
	}
	if (thread->handle)
		handle_put(thread->handle);
	while ((work = thread->task.task_works)) {
		thread->task.task_works = work->next;
		work->func(work);
		look();
	}
	switch_to(&idle[cpu]);
	end_vfork(thread);
	put_pid(thread->task.pid);
	put_pid(thread->task.tgid);
	thread->process = NULL;
}

static void do_close(void)
{
	unsigned int i = rnd(NR_ORPHANS);

	if (!orphans[i])
		return;
	handle_put(orphans[i]);
	orphans[i] = NULL;
	look();
}

static void do_begin(void)
{
	struct process *process = process_new(NULL);
	struct thread *thread = process ? thread_new() : NULL;

	if (thread)
		thread_begins(thread, process, rnd(NR_USERS));
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
}

static struct model_machine machine;

/* Somebody waits until counters do not linger any more. */
static void time_passes(void)
{
	shim_work(true);
	look();
}

#ifdef CONFIG_X86
static bool counters_outside;	/* see struct model_machine's @amd_outside */
#endif

static void begin(void)
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
	machine.amd_outside = counters_outside;
#endif
	machine.nr_cpus = NR_CPUS;
	model_boot(&machine);
	if (by_tracepoint)
		shim_set_param("by_tracepoint", 1);
	look_first();
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		shim_on[cpu] = &idle[cpu].task;
		idle[cpu].task.flags = PF_KTHREAD;
		idle[cpu].task.real_cred = &idle[cpu].cred;
		idle[cpu].task.cpu = cpu;
	}
	shim_kthread = switch_for_kthread;
	shim_while_waiting = time_passes;
	/* No call waits for broadcasts here, and no sample is left out. */
	shim_set_param("broadcasts", 0);
	if (has_rings())
		shim_set_param("overflow_budget", INT_MAX);
	ENDED_INSIDE->pid_ns = &inner;
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	ck_assert_int_eq(perfctr_config_init(), 0);
	perfctr_state_init(&above);
	perfctr_switch_init();
	perfctr_control_init();
	ck_assert_int_eq(perfctr_tree_init(), 0);
	ck_assert_int_eq(perfctr_map_init(), 0);
	ck_assert_int_eq(perfctr_handle_init(), 0);
	ck_assert_int_eq(perfctr_permit_init(), 0);
	ck_assert_int_eq(perfctr_events_init(), 0);
}

/* At the end nothing is left of anything. */
static void end(void)
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
	ck_assert_int_eq(shim_module_refs, 0);
	perfctr_events_exit();
	perfctr_permit_exit();
	perfctr_notify_exit();
	perfctr_config_exit();
	perfctr_burden_exit();
	perfctr_handle_exit();
	perfctr_map_exit();
	perfctr_tree_exit();
	perfctr_cpu_exit();
	ck_assert_int_eq(shim_notifiers, 0);
	ck_assert_int_eq(engine_rings.refs, 0);
	ck_assert_int_eq(engine_rings.writers, 0);
	ck_assert_uint_eq(shim_allocations, 0);
	ck_assert_uint_eq(inner.refs + init_pid_ns.refs + init_user_ns.refs, 0);
	model_perf_expect_none();
}

static unsigned int number(const char *name, unsigned int otherwise)
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
	begin();
	for (in_step = 0; in_step < steps; in_step++)
		step();
	end();
	/* In the sequences that are always tried all of these happen. */
	if (steps < STEPS || getenv("ENGINE_SEED"))
		return;
	ck_assert_uint_gt(nr.reads, 500);
	/* On x86 the source that is in use keeps the other one out, for long. */
	ck_assert(!has_shared() || nr.shared + nr.refused > 100);
	ck_assert(!has_rings() || nr.samples > 500);
	if (has_shared())
		return;
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
	ck_assert(!perfctr_cpu_permits_threads() || nr.raw > 10);
#ifdef CONFIG_RISCV
	ck_assert_uint_gt(nr.others, 50);
#endif
}
END_TEST

static struct thread *begin_thread(unsigned int uid)
{
	struct process *process = process_new(NULL);
	struct thread *thread = thread_new();

	process->pid_ns = NULL;
	thread_begins(thread, process, uid);
	return thread;
}

static void run_on(unsigned int cpu, struct thread *thread)
{
	to_cpu(cpu);
	switch_to(thread);
	return_to_user();
	expect_user_mode();
	let_run(thread, MODEL_USER, 1000);
	expect_user_mode();
}

/*
 * A tree dies while one of its members, whose process may read registers, runs on another
 * CPU. The config was the tree's alone, so it is unclaimed: from then on registers hold not
 * only what is that process's.
 */
START_TEST(a_config_ends_under_a_reader)
{
	struct thread *root, *member, *stranger;

	seed = 1;
	begin();
	root = begin_thread(0);
	stranger = begin_thread(1);
	to_cpu(0);
	switch_to(root);
	set_control(root, &controls[0], tree_new(), true, 0, 0);
	do_map(root);
	run_on(0, root);
	member = make_child(root, 4);
	run_on(1, member);
	to_cpu(0);
	set_control(root, &controls[1], NULL, true, 0, 0);
	run_on(1, member);
	run_on(1, stranger);
	run_on(1, member);
	end();
}
END_TEST

/*
 * A tree dies while one of its members reads registers, which are private to its user. It is
 * switched out before it is in user mode again. Registers that nothing stops count on, for
 * whoever comes: the next reader of that user with the same control must not see that.
 */
START_TEST(a_tree_dies_under_a_reader)
{
	struct thread *root, *member, *reader, *stranger;

	seed = 1;
	begin();
	root = begin_thread(0);
	reader = begin_thread(0);
	stranger = begin_thread(1);
	to_cpu(0);
	switch_to(reader);
	set_control(reader, &controls[0], NULL, true, 0, 0);
	do_map(reader);
	switch_to(root);
	set_control(root, &controls[0], tree_new(), true, 0, 0);
	run_on(0, root);
	member = make_child(root, 4);
	to_cpu(1);
	switch_to(member);
	do_map(member);
	run_on(1, member);
	to_cpu(0);
	set_control(root, &controls[1], NULL, true, 0, 0);
	run_on(1, stranger);
	run_on(1, reader);
	end();
}
END_TEST

/*
 * The policy changes while one of two threads that hand counters on to each other sleeps: its page
 * shows what the policy says as soon as it runs again, and not what was so before.
 */
START_TEST(the_policy_changes_under_a_sleeper)
{
	static const unsigned int policies[] = {
		PERFCTR_USER_READ_GUARDED, PERFCTR_USER_READ_OFF, PERFCTR_USER_READ_OPEN,
	};
	unsigned int from = policies[_i % 3], to = policies[_i / 3 % 3], i, shown;
	struct thread *thread[2];

	seed = _i < 9 ? 1 : 4;
	begin();
	for (i = 0; i < 2; i++) {
		thread[i] = begin_thread(0);
		to_cpu(0);
		switch_to(thread[i]);
		set_control(thread[i], &controls[0], NULL, true, 0, 0);
		do_map(thread[i]);
	}
	perfctr_user_read_asked = from;
	perfctr_policy_changed();
	look();
	for (i = 0; i < 5; i++)
		run_on(0, thread[i % 2]);
	perfctr_user_read_asked = to;
	perfctr_policy_changed();
	look();
	for (i = 0; i < 5; i++) {
		shown = nr.shown;
		run_on(0, thread[i % 2]);
		ck_assert(nr.shown > shown || to == PERFCTR_USER_READ_OFF);
	}
	end();
}
END_TEST

/* A child in an inner pid namespace has its parent's control. Neither may see the other's counts. */
START_TEST(a_child_inside)
{
	struct thread *root, *child;
	int i;

	seed = _i ? 4 : 1;
	begin();
	root = begin_thread(0);
	to_cpu(0);
	switch_to(root);
	set_control(root, &controls[0], tree_new(), true, 0, 0);
	do_map(root);
	next_inside = true;
	child = make_child(root, 0);
	next_inside = false;
	switch_to(child);
	do_map(child);
	for (i = 0; i < 6; i++)
		run_on(0, i % 2 ? child : root);
	end();
}
END_TEST

/* A tree keeps the state of a member that has ended, and one of their spares. */
START_TEST(an_ended_member_has_no_spare)
{
	struct thread *root, *members[3];
	unsigned int i, before;

	seed = 1;
	begin();
	root = begin_thread(0);
	to_cpu(0);
	switch_to(root);
	set_control(root, &controls[0], tree_new(), true, 0, PERFCTR_CONTROL_KEEP);
	for (i = 0; i < ARRAY_SIZE(members); i++)
		members[i] = make_child(root, 4);
	for (i = 0; i < ARRAY_SIZE(members); i++) {
		run_on(1, members[i]);
		before = shim_allocations;
		do_exit(members[i]);
		ck_assert_uint_eq(before - shim_allocations, i > 0);
	}
	end();
}
END_TEST

/*
 * Counters through perf, which loses them at some point. What was counted until then stays, the
 * state says LOST, and nobody else is affected.
 */

static struct perf_event *event_of(const struct thread *thread, u32 i, unsigned int cpu)
{
	struct perf_event *event = model_perf_event(cpu, state_of(thread)->config->hw[i]);

	ck_assert(event);
	return event;
}

/* It counts by such a control, and has run on CPU 0; then the CPU is idle. */
static struct thread *begin_shared(const struct control *control)
{
	struct thread *thread = begin_thread(0);

	run_on(0, thread);
	set_control(thread, control, NULL, true, 0, 0);
	ck_assert(state_of(thread)->config->shared);
	let_run(thread, MODEL_USER, 5000);
	switch_to(&idle[0]);
	return thread;
}

/* Its sums are what the model says, and its error is that, by all that reads. */
static void expect_error_and_sums(struct thread *thread, u32 error)
{
	const struct control *control = thread->control;
	struct perfctr_read read = { .size = sizeof(read) };
	u64 words[1 + MAX_CTRS];
	long err;
	ssize_t length;
	u32 i;

	err = ioctl(thread->handle, PERFCTR_IOC_READ, &read);
	ck_assert_int_eq(err, error ? -EIO : 0);
	ck_assert_uint_eq(read.error, error);
	ck_assert_uint_eq(read.nrctrs, control->nractrs);
	for (i = 0; i < control->nractrs; i++)
		ck_assert_uint_eq(read.sum[i], count_of(control, &thread->seen, i));
	length = vperfctr_fops.read(&thread->handle->file, (char *)words, sizeof(words), NULL);
	ck_assert_int_eq(length, error ? -EIO : (ssize_t)(8 * (1 + control->nractrs)));
	for (i = 0; !error && i < control->nractrs; i++)
		ck_assert_uint_eq(words[1 + i], count_of(control, &thread->seen, i));
}

static void expect_counts_on(unsigned int cpu, struct thread *thread)
{
	to_cpu(cpu);
	switch_to(thread);
	let_run(thread, MODEL_USER, 2000);
	let_run(thread, MODEL_KERNEL, 200);
	expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
	switch_to(&idle[cpu]);
	expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
}

enum moment { AT_SWITCH_OUT, AT_SWITCH_IN, AT_HAND_OVER, AT_READ, AT_READ_BY_OTHER, AT_CONTROL,
	      MOMENTS };

static void notice_loss(enum moment moment, struct thread *thread, struct thread *heir)
{
	u64 value[1 + PERFCTR_MAX_HW];
	struct perfctr_sample sample = { .value = value };

	switch (moment) {
	case AT_SWITCH_OUT:
	case AT_SWITCH_IN:
		switch_to(&idle[0]);
		break;
	case AT_HAND_OVER:
		/* The heir is not counted, as it has what is lost as well. */
		switch_to(heir);
		model_execute(MODEL_USER, 300);
		break;
	case AT_READ:
		ck_assert_int_eq(vperfctr_fops.read(&thread->handle->file, (char *)value,
						    sizeof(value), NULL), -EIO);
		break;
	case AT_READ_BY_OTHER:
		to_cpu(1);
		ck_assert(!vperfctr_sample(state_of(thread), &sample));
		ck_assert_uint_eq(value[1], count_of(thread->control, &thread->seen, 0));
		break;
	default:
		/* Another's control, which mends */
		perfctr_shared_any_lost = true;
		to_cpu(1);
		switch_to(heir);
		set_control(heir, heir->control, NULL, true, 0, 0);
		break;
	}
	to_cpu(0);
}

START_TEST(a_loss_is_noticed)
{
	struct thread *thread, *heir, *sleeper, *bystander;
	enum moment moment = (enum moment)_i;

	seed = 1;
	begin();
	thread = begin_shared(&shared_controls[_i % 2]);
	heir = begin_shared(thread->control);
	sleeper = begin_shared(thread->control);
	bystander = begin_shared(&shared_controls[3]);
	perfctr_shared_any_lost = false;
	to_cpu(0);
	if (moment != AT_SWITCH_IN) {
		switch_to(thread);
		let_run(thread, MODEL_USER, 3000);
	}
	model_perf_lose(event_of(thread, 0, 0));
	if (moment == AT_SWITCH_IN)
		switch_to(thread);
	model_execute(MODEL_USER, 700);
	notice_loss(moment, thread, heir);
	if (thread->control->nractrs == 1 || moment == AT_SWITCH_IN)
		expect_error_and_sums(thread, PERFCTR_ERROR_LOST);
	ck_assert_uint_eq(state_of(thread)->error, PERFCTR_ERROR_LOST);
	ck_assert(perfctr_shared_any_lost || moment == AT_CONTROL);
	ck_assert_uint_eq(state_of(heir)->error,
			  moment == AT_HAND_OVER ? PERFCTR_ERROR_LOST : PERFCTR_ERROR_NONE);
	if (moment == AT_HAND_OVER)
		expect_error_and_sums(heir, PERFCTR_ERROR_LOST);
	switch_to(&idle[0]);
	expect_counts_on(0, bystander);
	expect_counts_on(1, sleeper);
	/* After the next control all who are not lost count there. */
	to_cpu(0);
	switch_to(bystander);
	set_control(bystander, &shared_controls[2], NULL, true, 0, 0);
	switch_to(&idle[0]);
	expect_counts_on(0, sleeper);
	expect_counts_on(0, bystander);
	/* Who is lost stays so, until its own next control. */
	to_cpu(0);
	switch_to(thread);
	model_execute(MODEL_USER, 100);
	ck_assert_uint_eq(state_of(thread)->error, PERFCTR_ERROR_LOST);
	set_control(thread, &shared_controls[1], NULL, true, 0, 0);
	switch_to(&idle[0]);
	expect_counts_on(0, thread);
	end();
}
END_TEST

/* One reading ends the one's count and begins the other's. */
START_TEST(shared_counters_are_handed_over)
{
	struct thread *thread[2];
	int i;

	seed = 1;
	begin();
	thread[0] = begin_shared(&shared_controls[1]);
	thread[1] = begin_shared(&shared_controls[1]);
	to_cpu(0);
	for (i = 0; i < 6; i++) {
		struct thread *next = thread[i % 2];

		local_irq_disable();
		fire_out(current, &next->task);
		/* Not from the idle thread */
		ck_assert_uint_eq(state_of(next)->seq & 1, i > 0);
		shim_on[0] = &next->task;
		local_irq_enable();
		to_cpu(0);
		model_execute(MODEL_KERNEL, 100);
		fire_in(&next->task);
		let_run(next, MODEL_USER, 1000 + (unsigned int)i);
	}
	/* Somebody holds the next one after it was handed over. */
	local_irq_disable();
	fire_out(current, &thread[0]->task);
	ck_assert_uint_eq(state_of(thread[0])->seq & 1, 1);
	shim_on[0] = &thread[0]->task;
	atomic_or(PERFCTR_HOLD_SUSPENDED, &state_of(thread[0])->hold);
	WRITE_ONCE(state_of(thread[0])->at_once, PERFCTR_NO_CONFIG);
	local_irq_enable();
	to_cpu(0);
	fire_in(&thread[0]->task);
	ck_assert_uint_eq(state_of(thread[0])->seq & 1, 0);
	model_execute(MODEL_USER, 1000);
	switch_to(&idle[0]);
	expect_error_and_sums(thread[0], PERFCTR_ERROR_NONE);
	expect_error_and_sums(thread[1], PERFCTR_ERROR_NONE);
	end();
}
END_TEST

#if MACHINE_OTHERS_INTERRUPT
/*
 * An overflow interrupt of perf's comes after a switch, before sched_in(). It is heard, since
 * somebody has i-mode counters. A state that is sampled by time has none, so the interrupt leaves
 * it alone, and sched_in() resumes it, once.
 */
START_TEST(interrupted_before_it_comes_in)
{
	const struct control *control = _i ? &shared_controls[1] : &controls[1];
	struct thread *thread, *other;
	unsigned int i;

	seed = 1;
	begin();
	other = begin_thread(0);
	run_on(1, other);
	set_control(other, &controls[7], NULL, true, 0, 0);
	thread = begin_thread(0);
	run_on(0, thread);
	set_control(thread, control, NULL, true, 0, PERFCTR_CONTROL_RECORD);
	ck_assert_int_eq(is_shared(thread), _i);
	let_run(thread, MODEL_USER, 5000);
	for (i = 0; i < 3; i++) {
		switch_to(&idle[0]);
		local_irq_disable();
		fire_out(current, &thread->task);
		shim_on[0] = &thread->task;
		local_irq_enable();
		to_cpu(0);
		machine_irq(false);
		ck_assert_uint_eq(state_of(thread)->seq & 1, 0);
		model_execute(MODEL_KERNEL, 100);
		fire_in(&thread->task);
		ck_assert_uint_eq(state_of(thread)->seq & 1, 1);
		let_run(thread, MODEL_USER, 1000 + i);
		expect_sums(thread);
	}
	end();
}
END_TEST
#endif

/* A CPU goes. Who still runs there is neither counted nor lost. */
START_TEST(shared_on_a_cpu_that_goes)
{
	struct thread *thread;

	seed = 1;
	begin();
	thread = begin_shared(&shared_controls[1]);
	expect_counts_on(2, thread);
	shim_going = BIT(2);
	shim_cpu_down(2);
	/* It is pushed off only now. */
	shim_online |= BIT(2);
	to_cpu(2);
	switch_to(thread);
	ck_assert_uint_eq(state_of(thread)->seq & 1, 0);
	model_execute(MODEL_KERNEL, 500);
	switch_to(&idle[2]);
	shim_online &= ~BIT(2);
	expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
	expect_counts_on(0, thread);
	shim_going = 0;
	to_cpu(0);
	shim_cpu_up(2);
	expect_counts_on(2, thread);
	/* If it comes back without the event, the thread is lost. */
	to_cpu(0);
	shim_cpu_down(2);
	model_perf_fail(1, -ENOMEM);
	shim_cpu_up(2);
	to_cpu(2);
	switch_to(thread);
	model_execute(MODEL_USER, 500);
	expect_error_and_sums(thread, PERFCTR_ERROR_LOST);
	end();
}
END_TEST

/* Root evicts: running threads are lost at once, and sleeping ones as they come. */
START_TEST(shared_is_evicted)
{
	struct thread *thread, *sleeper;

	seed = 1;
	begin();
	thread = begin_shared(&shared_controls[1]);
	sleeper = begin_shared(&shared_controls[1]);
	to_cpu(0);
	switch_to(thread);
	let_run(thread, MODEL_USER, 1000);
	to_cpu(1);
	perfctr_config_evict(true, KUIDT_INIT(0));
	ck_assert_uint_eq(state_of(thread)->error, PERFCTR_ERROR_LOST);
	model_perf_expect_none();
	to_cpu(0);
	model_execute(MODEL_USER, 1000);
	expect_error_and_sums(thread, PERFCTR_ERROR_LOST);
	expect_error_and_sums(sleeper, PERFCTR_ERROR_NONE);
	switch_to(sleeper);
	expect_error_and_sums(sleeper, PERFCTR_ERROR_LOST);
	set_control(sleeper, &shared_controls[0], NULL, true, 0, 0);
	switch_to(&idle[0]);
	expect_counts_on(0, sleeper);
	end();
}
END_TEST

#ifdef CONFIG_X86
/*
 * Somebody else writes to registers of CPU 0 while a thread counts there. Whoever counts by them
 * has an error that says so, by the next switch, tick or end of counting, and no sooner.
 */
enum notice { BY_THE_TIMER, AT_THE_NEXT_SWITCH, AT_UNLINK, AT_SUSPEND, AT_EXIT, AT_PRESERVE,
	      NOTICES };

START_TEST(registers_are_changed)
{
	struct perfctr_control again = { PERFCTR_CONTROL_INIT, .nractrs = 1, .preserve = 1 };
	struct thread *thread, *sleeper, *clock;
	struct perfctr_read read = { .size = sizeof(read) };
	struct handle *handle;

	seed = 1;
	begin();
	thread = begin_thread(0);
	sleeper = begin_thread(0);
	clock = begin_thread(0);
	run_on(1, clock);
	set_control(clock, &controls[5], NULL, true, 0, 0);
	run_on(0, sleeper);
	set_control(sleeper, &controls[0], NULL, true, 0, 0);
	run_on(0, thread);
	set_control(thread, &controls[0], NULL, true, 0, 0);
	run_on(0, thread);
	handle = thread->handle;
	shim_jiffies++;
	ck_assert_uint_eq(shim_timers(0), 1);
	expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
	model_set_msr(0, model_global_ctrl(), 0);
	shim_jiffies++;
	switch (_i) {
	case BY_THE_TIMER:
		ck_assert_uint_eq(shim_timers(0), 1);
		expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
		to_cpu(1);
		shim_work(false);
		to_cpu(0);
		expect_error_and_sums(thread, PERFCTR_ERROR_CHANGED);
		break;
	case AT_THE_NEXT_SWITCH:
		/* The work that evicts comes later; until then it may be handed on to its kin. */
		ck_assert_uint_eq(shim_timers(0), 1);
		switch_to(&idle[0]);
		switch_to(sleeper);
		expect_error_and_sums(sleeper, PERFCTR_ERROR_CHANGED);
		switch_to(thread);
		expect_error_and_sums(thread, PERFCTR_ERROR_CHANGED);
		break;
	case AT_UNLINK:
		ck_assert_int_eq(ioctl(thread->handle, PERFCTR_IOC_UNLINK, NULL), 0);
		break;
	case AT_SUSPEND:
		ck_assert_int_eq(ioctl(thread->handle, PERFCTR_IOC_SUSPEND, NULL), 0);
		expect_error_and_sums(thread, PERFCTR_ERROR_CHANGED);
		break;
	case AT_EXIT:
		do_exit(thread);
		break;
	default:
		again.ctr[0] = controls[0].ctr[0];
		again.source = NATIVE;
		ck_assert_int_eq(ioctl(thread->handle, PERFCTR_IOC_CONTROL, &again), -EIO);
		expect_error_and_sums(thread, PERFCTR_ERROR_CHANGED);
		break;
	}
	ck_assert_int_eq(ioctl(handle, PERFCTR_IOC_READ, &read), -EIO);
	ck_assert_uint_eq(read.error, PERFCTR_ERROR_CHANGED);
	/* Then for whoever has the same counters, wherever; and for nobody without counters. */
	shim_work(false);
	to_cpu(1);
	switch_to(sleeper);
	expect_error_and_sums(sleeper, PERFCTR_ERROR_CHANGED);
	run_on(1, clock);
	expect_error_and_sums(clock, PERFCTR_ERROR_NONE);
	/* The next control takes them anew. */
	switch_to(sleeper);
	set_control(sleeper, &controls[0], NULL, true, 0, 0);
	expect_counts_on(1, sleeper);
	expect_counts_on(0, sleeper);
	end();
}
END_TEST

static const char *const policies[] = { "off", "guarded", "open" };

/*
 * AMD's amd_uncore comes, whose counters RDPMC reads too: under "guarded" nobody may execute it any
 * more as that begins, and nobody dies of it. "open" is root's word.
 */
START_TEST(counters_of_others_come)
{
	unsigned int from = (unsigned int)_i, left;
	struct thread *thread;

	seed = 20;
	counters_outside = true;
	begin();
	ck_assert(model_is_amd());
	perfctr_user_read_asked = from;
	perfctr_policy_changed();
	thread = begin_thread(0);
	to_cpu(0);
	switch_to(thread);
	set_control(thread, &controls[0], NULL, true, 0, 0);
	do_map(thread);
	run_on(0, thread);
	ck_assert_uint_eq(perfctr_user_read, from);
	ck_assert_msg(model_pce[0] == (from != PERFCTR_USER_READ_OFF), "%s", policies[from]);
	model_module_comes("amd_uncore");
	look();
	left = from == PERFCTR_USER_READ_OPEN ? PERFCTR_USER_READ_OPEN : PERFCTR_USER_READ_OFF;
	ck_assert_uint_eq(perfctr_user_read, left);
	ck_assert_msg(model_pce[0] == (left == PERFCTR_USER_READ_OPEN), "%s", policies[from]);
	run_on(0, thread);
	/* It stays so, whatever is asked, but for "open". */
	perfctr_user_read_asked = PERFCTR_USER_READ_GUARDED;
	perfctr_policy_changed();
	look();
	ck_assert_uint_eq(perfctr_user_read, PERFCTR_USER_READ_OFF);
	run_on(0, thread);
	perfctr_user_read_asked = PERFCTR_USER_READ_OPEN;
	perfctr_policy_changed();
	look();
	run_on(0, thread);
	ck_assert(model_pce[0]);
	end();
}
END_TEST
#endif

void test_arch(void)
{
	unit_begin("engine_" MODEL_ARCH);
#ifdef CONFIG_X86
	unit_run(registers_are_changed, NOTICES);
	UNIT_ROWS(counters_of_others_come, policies);
#endif
	unit_run(a_loss_is_noticed, MOMENTS);
	UNIT_RUN(shared_counters_are_handed_over);
#if MACHINE_OTHERS_INTERRUPT
	unit_run(interrupted_before_it_comes_in, 2);
#endif
	UNIT_RUN(shared_on_a_cpu_that_goes);
	UNIT_RUN(shared_is_evicted);
	UNIT_RUN(a_config_ends_under_a_reader);
	UNIT_RUN(a_tree_dies_under_a_reader);
	UNIT_RUN(an_ended_member_has_no_spare);
	unit_run(a_child_inside, 2);
	unit_run(the_policy_changes_under_a_sleeper, 18);
	unit_run(all_counts_are_exact, (int)number("ENGINE_ROWS", 20));
}

/* test_config.c and test_shared.c are below all this, and not linked here. */
void test_config(void)
{
}

void test_shared(void)
{
}
