// SPDX-License-Identifier: GPL-2.0
/* Calls that a thread makes, and what the model thinks of them. */
#include "engine/world.h"
#include "thread/kin.h"
#include "deliver/read.h"
#include "config/config.h"
#include "config/permit.h"
#include "calls/handle.h"

struct map maps[NR_MAPS];
struct tree trees[NR_THREADS];
struct handle *orphans[NR_ORPHANS];
bool rings_tell_maps;

long engine_ioctl(struct handle *handle, unsigned int cmd, void *arg)
{
	long ret = vperfctr_fops.unlocked_ioctl(&handle->file, cmd, (unsigned long)arg);

	look();
	return ret;
}

void tree_dies(struct tree *tree)
{
	struct thread *thread;

	if (!tree)
		return;
	for (thread = threads; thread < threads + NR_THREADS; thread++) {
		if (thread->tree != tree)
			continue;
		thread->tree = NULL;
		thread->invited = false;
		if (tree->root != thread)
			thread->control = NULL;
	}
	memset(tree, 0, sizeof(*tree));
}

void handle_put(struct handle *handle)
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

static void handle_new(struct thread *thread, struct perfctr_open *open)
{
	if (thread->handle)
		handle_put(thread->handle);
	thread->clock_on = thread->clock_on && state_of(thread);
	thread->handle = kzalloc(sizeof(*thread->handle), GFP_KERNEL);
	thread->handle->refs = 1;
	expect(!engine_ioctl(thread->handle, PERFCTR_IOC_OPEN, open), "OPEN");
}

static void handle_open(struct thread *thread)
{
	struct perfctr_open open = { .size = sizeof(open), .flags = PERFCTR_OPEN_CREAT };

	if (!thread->handle || thread->handle->file.private_data != state_of(thread))
		handle_new(thread, &open);
}

struct tree *tree_new(void)
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
	struct perfctr_ring ring = {
		.size = sizeof(ring), .pages = 1,
		.flags = rings_tell_maps || rnd(2) ? PERFCTR_RING_MAPS : 0,
	};
	long err, want = 0;

	handle_open(thread);
	if (is_descendant(thread))
		want = -EBUSY;
	else if (state_of(thread)->ring)
		want = -EEXIST;
	err = engine_ioctl(thread->handle, PERFCTR_IOC_RING, &ring);
	expect(err == want, "RING: %ld, not %ld", err, want);
	if (!err)
		reader_begins(state_of(thread)->ring);
}

/* By the thread itself */
u64 clock_of(const struct thread *thread)
{
	u64 value[1 + PERFCTR_MAX_HW];
	struct perfctr_sample sample = { .value = value };

	expect(!vperfctr_sample(state_of(thread), &sample), "cannot be read");
	return value[0];
}

/* ns, in which a thread executes some 3,000 instructions */
static u64 timer_period(void)
{
	return max((u64)PERFCTR_TIMER_MIN, 5000 * NSEC_PER_SEC / perfctr_cpu_clock_hz());
}

/* @tree: the tree that the control makes, if it has INHERIT */
void set_control(struct thread *thread, const struct control *control, struct tree *tree,
		 bool tsc_on, u64 refresh, u32 flags)
{
	struct perfctr_control arg = { PERFCTR_CONTROL_INIT };
	bool records = flags & PERFCTR_CONTROL_RECORD, traced = thread != running();
	u64 before, clock = 0, timer_ns = 0;
	long err;

	if (!traced)
		handle_open(thread);
	if (records)
		make_ring(thread);
	if (records && (!control->nrictrs || rnd(2)))
		timer_ns = timer_period() << rnd(2);
	before = now();
	/* The model knows when a sample is due by the clock. */
	arg.tsc_on = tsc_on || timer_ns;
	if (arg.tsc_on && thread->clock_on)
		clock = clock_of(thread);
	arg.nractrs = control->nractrs;
	arg.nrictrs = control->nrictrs;
	arg.source = control->source;
	arg.si_signo = control->nrictrs && !records ? 10 : 0;
	arg.refresh = records ? 0 : refresh;
	arg.timer_ns = timer_ns;
	arg.cpu = flags & PERFCTR_CONTROL_CPU ? rnd(NR_CPUS) : 0;
	arg.flags = (tree ? PERFCTR_CONTROL_INHERIT : 0) | flags;
	memcpy(arg.ctr, control->ctr, sizeof(control->ctr));
	/* RAW is by the policy. */
	shim_allow_kernel = flags & PERFCTR_CONTROL_RAW ? -EACCES : 0;
	err = engine_ioctl(thread->handle, PERFCTR_IOC_CONTROL, &arg);
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
	thread->timer_ns = timer_ns;
	thread->sampled = false;
	thread->left = max(arg.refresh, 1ull);
	thread->only_cpu = flags & PERFCTR_CONTROL_CPU ? 1 + arg.cpu : 0;
	thread->whose = VALUE_OWN;
	if (thread->only_cpu)
		thread->whose = VALUE_ONE_CPU;
	if (traced)
		thread->whose = VALUE_TRACED;
	thread->deaf = false;
	thread->cloexec = flags & PERFCTR_CONTROL_CLOEXEC;
	thread->policies = 0;
	thread->spent = 0;
	thread->throttled = false;
	memset(&thread->seen, 0, sizeof(thread->seen));
	begin_periods(thread);
	begin_timer(thread, clock, clock_of(thread));
	begin_look(thread);
	if (tree)
		*tree = (struct tree) {
			.root = thread, .handle = thread->handle, .control = control,
			.stopped = thread->suspended, .clock_on = thread->clock_on,
			.holder_only = flags & PERFCTR_CONTROL_HOLDER_ONLY,
			.records = records, .timer_ns = timer_ns, .only_cpu = thread->only_cpu,
			.cloexec = thread->cloexec,
		};
}

/* Current traces it from here on; one that does not run is in a stop. */
void trace(struct thread *thread)
{
	thread->task.ptrace = 1;
	thread->task.parent = current;
	if (!runs(thread))
		thread->task.__state = __TASK_TRACED;
}

void untrace(struct thread *thread)
{
	thread->task.ptrace = 0;
	thread->task.parent = NULL;
	if (!runs(thread))
		thread->task.__state = TASK_INTERRUPTIBLE;
}

/* A thread that sleeps, and that nobody counts */
static struct thread *choose_uncounted(void)
{
	struct thread *thread = &threads[rnd(NR_THREADS)];

	return thread->process && thread->task.mm && !runs(thread) && !thread->vfork_child && !state_of(thread) &&
	       !thread->tree && !thread->task.task_works ? thread : NULL;
}

/* The current thread traces another, and has it counted. Then the other has the handle. */
void do_trace(void)
{
	struct thread *thread = choose_uncounted();
	struct perfctr_open open = {
		.size = sizeof(open), .flags = PERFCTR_OPEN_CREAT | PERFCTR_OPEN_THREAD,
	};

	if (!thread)
		return;
	nr.traced++;
	trace(thread);
	open.tid = thread->task.pid->nr;
	handle_new(thread, &open);
	set_control(thread, choose_control(), NULL, true, 0, rnd(8) ? 0 : PERFCTR_CONTROL_SUSPENDED);
	untrace(thread);
}

void add_member(struct thread *thread, struct thread *member)
{
	struct perfctr_add_member add = { .size = sizeof(add) };

	handle_open(thread);
	nr.added++;
	trace(member);
	add.tid = member->task.pid->nr;
	expect(!engine_ioctl(thread->handle, PERFCTR_IOC_ADD_MEMBER, &add), "ADD_MEMBER");
	untrace(member);
	member->tree = thread->tree;
	member->invited = true;
	memset(&member->seen, 0, sizeof(member->seen));
}

/* A root adds a thread to its tree. */
void do_add_member(struct thread *thread)
{
	struct thread *member = choose_uncounted();

	if (member && thread->tree && thread->tree->root == thread)
		add_member(thread, member);
}

void do_stop_go(struct thread *thread)
{
	struct thread *member;
	bool stop = rnd(2);
	long err;

	if (!thread->control || !state_of(thread))
		return;
	handle_open(thread);
	nr.stops++;
	err = engine_ioctl(thread->handle, stop ? PERFCTR_IOC_SUSPEND : PERFCTR_IOC_RESUME, NULL);
	/* Only through the file that the control came by */
	if (thread->tree && thread->tree->holder_only && thread->handle != thread->tree->handle) {
		nr.not_holder++;
		expect(err == -EBUSY, "a member stops or starts a tree of its holder's: %ld", err);
		return;
	}
	expect(!err, "SUSPEND or RESUME: %ld", err);
	thread->suspended = stop;
	if (!thread->tree)
		return;
	thread->tree->stopped = stop;
	for (member = threads; member < threads + NR_THREADS; member++)
		if (member->tree == thread->tree)
			member->suspended = stop;
}

void do_unlink(struct thread *thread)
{
	if (!state_of(thread) || is_descendant(thread))
		return;
	handle_open(thread);
	expect(!engine_ioctl(thread->handle, PERFCTR_IOC_UNLINK, NULL), "UNLINK");
	tree_dies(thread->tree);
	thread->control = NULL;
}

void do_iresume(struct thread *thread)
{
	long err;

	if (!thread->control || !state_of(thread))
		return;
	handle_open(thread);
	err = engine_ioctl(thread->handle, PERFCTR_IOC_IRESUME, NULL);
	expect(err == (thread->told ? 0 : -EINVAL), "IRESUME: %ld", err);
	thread->overflown = thread->told ? 0 : thread->overflown;
	thread->told = false;
}

void do_map(struct thread *thread)
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
			 .vm_mm = &thread->process->memory->mm },
		.process = thread->process, .handle = thread->handle,
	};
	expect(!vperfctr_fops.mmap(&thread->handle->file, &map->vma), "mmap");
	thread->handle->refs++;
	thread->was_mapped = true;
	look();
}

void unmap(struct map *map)
{
	if (map->vma.vm_ops->close)
		map->vma.vm_ops->close(&map->vma);
	map->process = NULL;
	look();
	handle_put(map->handle);
	look();
}

void do_unmap(struct thread *thread)
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

void do_policy(void)
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
void do_setuid(struct thread *thread)
{
	thread->was_user |= (u32)BIT(thread->cred.euid.val);
	thread->cred.euid.val = rnd(2) ? thread->uid : rnd(NR_USERS);
	thread->process->dumpable = false;
}
