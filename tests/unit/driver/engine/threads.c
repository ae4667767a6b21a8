// SPDX-License-Identifier: GPL-2.0
/* Threads: which there are, what the kernel does with them, and how they come and go. */
#include <linux/pid_namespace.h>

#include "engine/shim/records.h"
#include "engine/world.h"
#include "thread/kin.h"
#include "thread/notify.h"

struct process processes[NR_PROCESSES + 2];
struct pid_namespace inner;
bool next_inside;
struct thread threads[NR_THREADS];
struct thread idle[SHIM_CPUS];

struct thread *thread_of(struct task_struct *task)
{
	return container_of(task, struct thread, task);
}

struct thread *running(void)
{
	return thread_of(current);
}

bool is_idle(const struct thread *thread)
{
	return thread >= idle && thread < idle + SHIM_CPUS;
}

/* The thread's state, as long as it is attached */
struct vperfctr *state_of(const struct thread *thread)
{
	struct hlist_node *first = thread->task.preempt_notifiers.first;

	if (perfctr_by_tracepoint())
		return perfctr_look_up(&thread->task);
	return first ? container_of(hlist_entry(first, struct preempt_notifier, link),
				    struct vperfctr, notifier) : NULL;
}

bool runs(const struct thread *thread)
{
	unsigned int cpu;

	for (cpu = 0; cpu < NR_CPUS; cpu++)
		if (shim_on[cpu] == &thread->task)
			return true;
	return false;
}

/* It counts by perf. */
bool is_shared(const struct thread *thread)
{
	const struct vperfctr *perfctr = state_of(thread);

	return perfctr && perfctr->config && perfctr->config->shared;
}

void to_cpu(unsigned int cpu)
{
	shim_cpu = cpu;
	shim_uid = running()->uid;
}

u64 now(void)
{
	return perfctr_cpu_clock();
}

int get_dumpable(struct mm_struct *mm)
{
	return container_of(mm, struct memory, mm)->process->dumpable ? SUID_DUMP_USER : 0;
}

struct pid *find_vpid(int nr)
{
	const struct thread *thread;

	for (thread = threads; thread < threads + NR_THREADS; thread++)
		if (thread->process && thread->task.pid->nr == nr)
			return thread->task.pid;
	return NULL;
}

struct task_struct *shim_pid_task(struct pid *pid, int type)
{
	struct thread *thread;

	shim_assert(type == PIDTYPE_PID);
	for (thread = threads; thread < threads + NR_THREADS; thread++)
		if (pid && thread->process && thread->task.pid == pid)
			return &thread->task;
	return NULL;
}

void shim_get_task(struct task_struct *task)
{
	task->refs++;
}

void shim_put_task(struct task_struct *task)
{
	shim_assert(task->refs);
	task->refs--;
}

/*
 * The kernel
 */

void fire_timer(bool early)
{
	shim_hrtimer(early);
	look();
}

/* It was added to a tree: it counts from here on, if that lives. */
static void accept(struct thread *thread)
{
	const struct tree *tree = thread->tree;

	ck_assert_ptr_nonnull(tree);
	thread->invited = false;
	thread->control = tree->control;
	thread->clock_on = tree->clock_on;
	thread->clock_least = 0;
	thread->clock_most = 0;
	thread->since = now();
	thread->suspended = tree->stopped;
	thread->only_cpu = tree->only_cpu;
	thread->records = tree->records;
	thread->timer_ns = tree->timer_ns;
	thread->raw = false;
	thread->cloexec = tree->cloexec;
	thread->deaf = !thread->records;
	thread->whose = VALUE_OUTSIDE;
	thread->policies = 0;
	thread->sampled = false;
	thread->spent = 0;
	thread->throttled = false;
	thread->left = 1;
	memset(&thread->seen, 0, sizeof(thread->seen));
	begin_periods(thread);
	begin_timer(thread, 0, 0);
	begin_look(thread);
}

static void do_works(struct thread *thread)
{
	struct callback_head *work;

	if (thread->invited)
		accept(thread);
	while ((work = thread->task.task_works)) {
		thread->task.task_works = work->next;
		work->func(work);
		look();
	}
}

void return_to_user(void)
{
	struct thread *thread = running();

	fire_timer(false);
	if (is_idle(thread))
		return;
	look_begins(thread);
	accesses_begin();
	while (machine_irq_waits()) {
		machine_irq(false);
		look();
	}
	do_works(thread);
	if (!thread->vfork_child)
		thread->lent = false;
	/* The works may have made an interrupt wait. */
	if (machine_irq_waits())
		machine_irq(true);
	look();
	/* All that has taken time. */
	if (thread->records) {
		fire_timer(false);
		do_works(thread);
	}
	accesses_end();
	look_ends(thread);
	follow_throttle(thread);
}

static void fire_switch(struct task_struct *prev, struct task_struct *next)
{
	void (*probe)(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int state);
	unsigned int i;

	for (i = 0; (probe = shim_probe_nth("sched_switch", i)); i++)
		probe(NULL, false, prev, next, 0);
}

void fire_out(struct task_struct *prev, struct task_struct *next)
{
	struct preempt_notifier *notifier;

	hlist_for_each_entry(notifier, &prev->preempt_notifiers, link)
		notifier->ops->sched_out(notifier, next);
}

void fire_in(struct task_struct *next)
{
	struct preempt_notifier *notifier;

	hlist_for_each_entry(notifier, &next->preempt_notifiers, link)
		notifier->ops->sched_in(notifier, (int)shim_cpu);
}

/* A thread has come to that CPU, and does not know it yet. */
static bool in_switch[SHIM_CPUS];

bool is_in_switch(void)
{
	return in_switch[shim_cpu];
}

static void end_switch(void)
{
	if (!in_switch[shim_cpu])
		return;
	in_switch[shim_cpu] = false;
	/* An interrupt may have resumed it since the switch. */
	running()->was_mapped |= has_map(running());
	fire_in(current);
	look();
}

static void set_running(struct task_struct *task, bool is)
{
	task->__state = is ? TASK_RUNNING : TASK_INTERRUPTIBLE;
	task->on_rq = is;
	task->on_cpu = is;
}

void switch_to(struct thread *next)
{
	struct thread *prev = running();
	unsigned int cpu = shim_cpu;

	if (prev == next)
		return;
	nr.switches++;
	next->since = now();
	next->was_mapped = has_map(next);
	next->was_open = false;
	next->was_user = 0;
	local_irq_disable();
	next->task.se.nr_migrations += next->task.cpu != cpu;
	next->task.cpu = cpu;
	readers_begin(prev, next);
	fire_switch(&prev->task, &next->task);
	/* Nothing counts there, but it may set next's counters. */
	look_for(next);
	fire_out(&prev->task, &next->task);
	look();
	prev->clock_most += now() - prev->since;
	prev->task.nvcsw++;
	if (rnd(3))
		instruction_pointer(task_pt_regs(&prev->task)) += 4;
	shim_on[cpu] = &next->task;
	set_running(&prev->task, false);
	set_running(&next->task, true);
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
	/* It was set for another thread. */
	fire_timer(true);
	readers_end();
	if (!rnd(3))
		happen_elsewhere();
	to_cpu(cpu);
	readers_begin(prev, next);
	end_switch();
	readers_end();
}

/* A thread of the kernel's has the CPU for a moment. */
void switch_for_kthread(bool comes)
{
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
	fire_switch(current, next);
	look();
	fire_out(current, next);
	look();
	shim_on[shim_cpu] = next;
	local_irq_enable();
	fire_in(next);
	look();
	shim_uid = uid;
}

void let_run(struct thread *thread, enum model_mode mode, u64 instructions)
{
	machine_vary_work(rnd(~0u));
	if (counts(thread) && instructions)
		thread->policies |= (u32)BIT(perfctr_user_read);
	model_witness[shim_cpu] = counts(thread) ? &thread->seen : NULL;
	model_execute(mode, instructions);
	shim_now += instructions;
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

void execute(void)
{
	struct thread *thread = running();
	unsigned int times;

	return_to_user();
	end_reading(thread);
	for (times = is_idle(thread) ? 0 : 1 + rnd(2); times; times--) {
		expect_no_sample_is_due(thread);
		expect_user_mode();
		thread->reading.map = NULL;
		jump(thread);
		let_run(thread, MODEL_USER, 1 + rnd(2000));
		end_periods(thread);
		fire_timer(false);
		if (thread->records)
			return_to_user();
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

/*
 * Threads come and go
 */

struct thread *thread_new(void)
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
	thread->task.__state = TASK_INTERRUPTIBLE;
	thread->whose = VALUE_OWN;
	return thread;
}

static struct pid *pid_new(int id)
{
	struct pid *pid = kzalloc(sizeof(*pid), GFP_KERNEL | __GFP_NOFAIL);

	*pid = (struct pid) { .refs = 1, .nr = id };
	return pid;
}

struct process *process_new(const struct process *parent)
{
	struct process *process;

	for (process = processes + 1; process <= processes + NR_PROCESSES; process++)
		if (!process->threads)
			break;
	if (process > processes + NR_PROCESSES)
		return NULL;
	process->memory = memory_new(process, parent ? parent->memory : NULL);
	machine_copy_mm(&process->memory->mm, parent ? &parent->memory->mm : NULL);
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

void thread_begins(struct thread *thread, struct process *process, unsigned int uid)
{
	static int last_id;
	static u64 last_pointer = 0x1000;

	thread->process = process;
	process->threads++;
	thread->task.mm = &process->memory->mm;
	atomic_set(&thread->task.mm->mm_users, (int)process->threads);
	instruction_pointer(task_pt_regs(&thread->task)) = page_address(0);
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
		copy->vma.vm_mm = &child->memory->mm;
		copy->handle->refs++;
		if (copy->vma.vm_ops->open)
			copy->vma.vm_ops->open(&copy->vma);
	}
}

void (*meanwhile_in_fork)(void);

/* The memory was copied, the parent is not in the probe yet, and other CPUs go on. */
static void go_on_elsewhere(void)
{
	if (meanwhile_in_fork)
		meanwhile_in_fork();
	else if (in_step && has_rings() && !rnd(3))
		be_elsewhere();
}

/* @how: below 3 a process, 3 by vfork(), 4 a process that shares the memory, else a thread */
struct thread *make_child(struct thread *parent, unsigned int how)
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
	/* The fork attaches it. */
	if (parent->invited)
		accept(parent);
	thread_begins(child, process, parent->uid);
	child->cred = parent->cred;
	if (how < 4)
		machine_set_thread_pointer(&child->task, machine_thread_pointer(&parent->task));
	if (how < 3)
		copy_maps(parent->process, process);
	if (how > 4) {
		put_pid(child->task.tgid);
		child->task.tgid = get_pid(parent->task.tgid);
	}
	memcpy(child->task.comm, parent->task.comm, sizeof(child->task.comm));
	go_on_elsewhere();
	accesses_begin();
	probe(NULL, &parent->task, &child->task);
	accesses_end();
	look();
	if (state_of(child)) {
		child->control = parent->control;
		child->clock_on = parent->clock_on;
		child->tree = parent->tree;
		child->suspended = parent->tree->stopped;
		child->raw = parent->raw && process == parent->process;
		child->records = parent->records;
		child->deaf = parent->deaf;
		child->cloexec = parent->cloexec;
		child->only_cpu = parent->only_cpu;
		child->timer_ns = parent->timer_ns;
		child->left = max(state_of(child)->imode ? state_of(child)->imode->left : 1, 1ull);
		begin_periods(child);
		begin_timer(child, 0, 0);
	} else {
		expect(!parent->tree || shim_no_memory, "a child was not counted");
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

	atomic_set(&process->memory->mm.mm_users, (int)--process->threads);
	if (!process->threads) {
		unmap_all(process);
		forget_process(process);
		mmdrop(&process->memory->mm);
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

/* The sums of a member are its tree's; with the root the tree ends, before its next instruction. */
static void unlinked_by_exec(struct thread *thread)
{
	struct perfctr_read_tree read = { .size = sizeof(read), .which = PERFCTR_TREE_ENDED };
	struct tree *tree = thread->tree;

	if (tree && tree->root != thread) {
		tally_add(&tree->ended, &thread->seen);
		tree->nr_ended++;
	}
	thread->control = NULL;
	if (tree && tree->root == thread) {
		return_to_user();
		expect(engine_ioctl(tree->handle, PERFCTR_IOC_READ_TREE, &read) == -ENOENT,
		       "CLOEXEC: the tree is still there");
		tree_dies(tree);
	}
	thread->tree = NULL;
}

/*
 * The program of a process of one thread is exchanged, for one that has another user's privileges
 * or not. The old mm goes first. Who can control such a program must not count it.
 */
void do_exec(struct thread *thread)
{
	void (*probe)(void *data, struct task_struct *task, pid_t old_pid,
		      struct linux_binprm *bprm) = shim_probe("sched_process_exec");
	struct linux_binprm bprm = { .secureexec = !thread->tree && !rnd(3) };
	struct process *old = thread->process, *new;
	bool state = state_of(thread) || thread->invited;
	unsigned int user;

	/* The exec attaches it. */
	if (thread->invited)
		accept(thread);
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
	atomic_set(&new->memory->mm.mm_users, 1);
	thread->task.in_execve = true;
	thread->task.mm = &new->memory->mm;
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
	do_rename(thread);
	accesses_begin();
	memory_is_new(thread);
	be_interrupted(thread);
	probe(NULL, &thread->task, 0, &bprm);
	accesses_end();
	look();
	expect_exec(thread);
	thread->task.in_execve = false;
	thread->must_look = true;
	thread->looked = false;
	if (!new->dumpable) {
		expect(!state_of(thread), "a program of another user's privileges is counted");
		thread->control = NULL;
		thread->tree = NULL;
	} else if (state && thread->control && thread->cloexec) {
		nr.unlinked++;
		expect(!state_of(thread), "CLOEXEC: it is still counted");
		unlinked_by_exec(thread);
	} else if (state_of(thread) && thread->control && thread->control->nrictrs &&
		   !thread->records) {
		/* No overflow is due any more. */
		thread->deaf = true;
		begin_periods(thread);
	}
}

/* prctl(PR_SET_NAME) */
void do_rename(struct thread *thread)
{
	memset(thread->task.comm, 0, sizeof(thread->task.comm));
	(void)snprintf(thread->task.comm, sizeof(thread->task.comm), "n%u", rnd(1000));
}

void do_exit(struct thread *thread)
{
	void (*probe)(void *data, struct task_struct *task, bool group_dead) =
		shim_probe("sched_process_exit");
	unsigned int cpu = shim_cpu, i;
	bool late = rnd(2);
	struct reader *reader;
	struct tree *tree;

	nr.ends++;
	thread->task.flags |= PF_EXITING;
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
		tally_add(&tree->ended, &thread->seen);
		tree->nr_ended++;
	}
	thread->control = NULL;
	thread->tree = NULL;
	thread->invited = false;
	reader = reader_of(thread);
	probe(NULL, &thread->task, false);
	look();
	expect_end(reader, thread);
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
	do_works(thread);
	switch_to(&idle[cpu]);
	end_vfork(thread);
	expect(!thread->task.refs, "%u references to a thread are left", thread->task.refs);
	put_pid(thread->task.pid);
	put_pid(thread->task.tgid);
	thread->process = NULL;
}

void do_close(void)
{
	unsigned int i = rnd(NR_ORPHANS);

	if (!orphans[i])
		return;
	handle_put(orphans[i]);
	orphans[i] = NULL;
	look();
}

void do_begin(void)
{
	struct thread *thread = thread_new();
	struct process *process = thread ? process_new(NULL) : NULL;

	if (process)
		thread_begins(thread, process, rnd(NR_USERS));
}
