// SPDX-License-Identifier: GPL-2.0
/*
 * What is written to a ring: where threads are, and what a reader needs to know to name these
 * places.
 *
 * A thread writes what concerns itself. No tracepoint tells of mappings, so while somebody wants to
 * know them a probe is in the function by which the kernel tells perf. It only notes that something
 * changed: the mm counts its changes. Before the thread that made one returns to user mode it
 * compares its executable memory with what the reader knows. So a reader hears of a mapping before
 * that thread executes there, and of the end of one not later than of what comes to its place.
 *
 * Other threads may execute there earlier, and who made the change may have no state. So a sample
 * that is written while a change was not told yet says so (MAP_UNKNOWN), and its thread looks
 * before it goes on in user mode. Others may change memory all the time: a thread spends at most a
 * tenth of its time on looks that it did not cause itself.
 *
 * The name of a thread is compared as it writes.
 */

#include <linux/fs.h>
#include <linux/kcsan-checks.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/hook.h"
#include "thread/notify.h"
#include "thread/ring.h"
#include "deliver/record.h"

/**
 * struct chains - the addresses of the sample in progress; by its CPU, with interrupts off
 * @nr_kernel: of @kernel
 * @nr_user: of @user
 * @kernel: addresses in the kernel, from the innermost
 * @user: those in user mode
 */
struct chains {
	unsigned int nr_kernel;
	unsigned int nr_user;
	unsigned long kernel[PERFCTR_RING_MAX_DEPTH];
	u64 user[PERFCTR_RING_MAX_DEPTH];
};

static struct chains __percpu *chains;	/* constant after init */

/* For recorder->changes and told of a process whose memory is not watched: equal, or not */
static const u32 none;
static const u32 some = 1;

/* All but the time */
static void fill(struct perfctr_record *record, const struct perfctr_recorder *recorder,
		 unsigned int type, unsigned int flags, u32 size)
{
	record->type = type;
	record->flags = flags;
	record->size = size;
	record->pid = recorder->pid;
	record->tid = recorder->tid;
}

static void write_whole(struct perfctr_ring_buffer *ring, const struct perfctr_record *record)
{
	struct perfctr_record *to;
	unsigned long flags;

	local_irq_save(flags);
	to = perfctr_ring_begin(ring, record->size);
	if (to) {
		memcpy(to, record, record->size);
		to->time = perfctr_ring_time();
	}
	perfctr_ring_end(ring);
	local_irq_restore(flags);
}

static bool has_maps(const struct perfctr_recorder *recorder)
{
	return recorder->ring->flags & PERFCTR_RING_MAPS;
}

/*
 * Finds out the owner's ids for its records: after it was made, and after an exec. Nothing of its
 * memory was told then.
 */
static void find_ids(struct perfctr_recorder *recorder)
{
	/* An interrupt may write a sample, which needs all of this or nothing. */
	lockdep_assert_irqs_disabled();
	recorder->pid = task_tgid_nr_ns(current, recorder->ring->pid_ns);
	recorder->tid = task_pid_nr_ns(current, recorder->ring->pid_ns);
	recorder->told = &none;
	recorder->changes = has_maps(recorder) ? &some : &none;
}

static void write_comm(struct perfctr_recorder *recorder, unsigned int flags)
{
	struct perfctr_record_comm comm = {};

	/* Whoever changes it does that byte by byte, and a later sample tells the rest. */
	data_race(memcpy(recorder->comm, current->comm, sizeof(recorder->comm)));
	fill(&comm.record, recorder, PERFCTR_RECORD_COMM, flags, sizeof(comm));
	memcpy(comm.comm, recorder->comm, sizeof(comm.comm));
	comm.comm[sizeof(comm.comm) - 1] = '\0';
	write_whole(recorder->ring, &comm.record);
}

/* memcmp() takes longer than all other looks of a sample. */
static __always_inline bool is_known_as(const struct perfctr_recorder *recorder)
{
	const unsigned long *known = (const unsigned long *)recorder->comm;
	const unsigned long *now = (const unsigned long *)current->comm;
	unsigned int i;

	BUILD_BUG_ON(offsetof(struct task_struct, comm) % sizeof(*now) ||
		     offsetof(struct perfctr_recorder, comm) % sizeof(*known));
	for (i = 0; i < TASK_COMM_LEN / sizeof(*now); i++)
		/* It may be changing; a later sample finds it changed. */
		if (known[i] != data_race(now[i]))
			return false;
	return true;
}

/* What has to be told before a record of the owner's. */
static __always_inline void introduce(struct perfctr_recorder *recorder)
{
	lockdep_assert_irqs_disabled();
	if (unlikely(!recorder->told))
		find_ids(recorder);
	if (has_maps(recorder) && unlikely(!is_known_as(recorder)))
		write_comm(recorder, 0);
}

/* By the owner, where an interrupt may write a sample meanwhile. */
static void introduce_now(struct perfctr_recorder *recorder)
{
	unsigned long flags;

	local_irq_save(flags);
	introduce(recorder);
	local_irq_restore(flags);
}

/*
 * Samples
 */

/*
 * The code that was interrupted may be changing current's number of these. It finds it as it was,
 * so it is no race, but KCSAN takes an interrupt for another CPU.
 */
static __always_inline void forbid_faults(void)
{
	kcsan_disable_current();
	pagefault_disable();
	kcsan_enable_current();
}

static __always_inline void allow_faults(void)
{
	kcsan_disable_current();
	pagefault_enable();
	kcsan_enable_current();
}

/* Frames further out have higher addresses, and this ends where it is not so. */
static void find_user_chain(struct chains *to, struct pt_regs *regs, unsigned int depth)
{
	unsigned long frame = perfctr_cpu_first_frame(regs), last;

	to->user[0] = instruction_pointer(regs);
	to->nr_user = 1;
	forbid_faults();
	while (to->nr_user < depth) {
		last = frame;
		if (!perfctr_cpu_next_frame(regs, &frame, &to->user[to->nr_user]) ||
		    !to->user[to->nr_user])
			break;
		to->nr_user++;
		if (frame <= last)
			break;
	}
	allow_faults();
}

/*
 * May its user mode be looked at? As it ends somebody else's memory may still be mapped, and in an
 * exec the new program's is, which may not be ours to see.
 */
static __always_inline bool shows_user(void)
{
	return likely(current->mm && !current->in_execve);
}

/* Addresses in the kernel are told to those alone who may know them. Returns the sample's flags. */
static unsigned int find_chains(struct chains *chain, const struct perfctr_ring_buffer *ring,
				struct pt_regs *user, struct pt_regs *regs)
{
	chain->nr_kernel = 0;
	chain->nr_user = 0;
	if (ring->flags & PERFCTR_RING_USER_CHAIN && shows_user())
		find_user_chain(chain, user, ring->user_depth);
	if (regs && user_mode(regs))
		return 0;
	if (!regs || !(ring->flags & PERFCTR_RING_KERNEL))
		return PERFCTR_RECORD_ENTERED;
	if (ring->flags & PERFCTR_RING_KERNEL_CHAIN) {
		chain->kernel[0] = instruction_pointer(regs);
		chain->nr_kernel = 1 + perfctr_cpu_kernel_chain(regs, &chain->kernel[1],
								ring->kernel_depth - 1);
	}
	return PERFCTR_RECORD_KERNEL;
}

/* Somebody has changed the memory. The owner looks now, unless it looked a moment ago. */
static noinline unsigned int map_unknown(struct vperfctr *perfctr)
{
	if (perfctr_ring_time() >= perfctr->recorder->look_after) {
		perfctr->recorder->look_after = U64_MAX;
		vperfctr_return_soon(perfctr, current, PERFCTR_TODO_MAPS);
	}
	return PERFCTR_RECORD_MAP_UNKNOWN;
}

static __always_inline u64 *put_sums(u64 *to, const u64 *value, unsigned int nr)
{
	while (nr--)
		*to++ = *value++;
	return to;
}

void vperfctr_record_sample(struct vperfctr *perfctr, struct pt_regs *regs, u32 overflown,
			    const u64 *value)
{
	struct pt_regs *user = task_pt_regs(current);
	u32 nr = perfctr->cpu_state.end - perfctr->cpu_state.ctr, size;
	struct perfctr_recorder *recorder = perfctr->recorder;
	struct perfctr_ring_buffer *ring = recorder->ring;
	struct chains *chain = this_cpu_ptr(chains);
	struct perfctr_record_sample *sample;
	unsigned int flags, depth, i;
	u32 told;
	u64 *to;

	lockdep_assert_irqs_disabled();
	introduce(recorder);
	told = smp_load_acquire(recorder->told);	/* pairs with vperfctr_record_maps() */
	flags = find_chains(chain, ring, user, regs);
	depth = chain->nr_kernel + chain->nr_user;
	size = sizeof(*sample) + (nr + depth) * sizeof(u64);
	sample = perfctr_ring_begin(ring, size);
	/*
	 * While the ring is locked, so that what is told of a later change stands behind this
	 * sample; and @told is from before, so that nothing of it may stand in front.
	 */
	if (unlikely(READ_ONCE(*recorder->changes) != told))
		flags |= map_unknown(perfctr);
	if (unlikely(!sample))
		goto out;
	fill(&sample->record, recorder, PERFCTR_RECORD_SAMPLE, flags, size);
	/* While the ring is locked, so that all are in the order of time. */
	sample->record.time = perfctr_ring_time();
	sample->ip = 0;
	if (flags & PERFCTR_RECORD_KERNEL)
		sample->ip = instruction_pointer(regs);
	else if (shows_user())
		sample->ip = instruction_pointer(user);
	sample->cpu = smp_processor_id();
	sample->overflown = overflown;
	sample->nrctrs = nr;
	sample->kernel_depth = chain->nr_kernel;
	sample->user_depth = chain->nr_user;
	sample->reserved = 0;
	sample->clock = perfctr->clock_on ? *value : 0;
	to = put_sums(sample->value, value + 1, nr);
	if (depth) {
		for (i = 0; i < chain->nr_kernel; i++)
			*to++ = chain->kernel[i];
		put_sums(to, chain->user, chain->nr_user);
	}
out:
	perfctr_ring_end(ring);
}

void vperfctr_record_throttled(struct vperfctr *perfctr)
{
	struct perfctr_recorder *recorder = perfctr->recorder;
	struct perfctr_record record;

	introduce(recorder);
	fill(&record, recorder, PERFCTR_RECORD_THROTTLED, 0, sizeof(record));
	write_whole(recorder->ring, &record);
}

/*
 * Threads
 */

static bool tells_threads(const struct vperfctr *perfctr)
{
	return perfctr->recorder && has_maps(perfctr->recorder);
}

/*
 * The child has its parent's memory: a change is one for both. So it knows what was told of that,
 * before the FORK.
 */
static void share_maps(struct vperfctr *parent, struct vperfctr *perfctr, struct task_struct *child)
{
	struct perfctr_recorder *from = parent->recorder, *recorder = perfctr->recorder;

	recorder->told_at_fork = READ_ONCE(*from->told);
	recorder->told = &recorder->told_at_fork;
	recorder->changes = from->changes;
	if (recorder->pid == from->pid && from->told != &from->told_at_fork)
		recorder->told = from->told;
	recorder->known = from->known;
	if (recorder->known) {
		atomic_inc(&recorder->known->users);
		return;
	}
	/* From now on it takes a watch to see changes. */
	vperfctr_return_soon(parent, current, PERFCTR_TODO_MAPS);
	vperfctr_return_soon(perfctr, child, PERFCTR_TODO_MAPS);
}

/*
 * The child has a copy of its parent's memory, and readers take it from the FORK for what they were
 * told of the parent. That is right if all changes before the copy were told, and none after it was
 * told before the FORK: so nobody but the parent, who is in fork(2), was the last to look. Others
 * change a copy only after the child has made threads.
 */
static void copy_maps(const struct perfctr_recorder *from, struct perfctr_recorder *recorder)
{
	bool all = READ_ONCE(*from->changes) == READ_ONCE(*from->told);

	/* After the FORK is written: who looks is noted before it writes. */
	if (from->known && READ_ONCE(from->known->last_look) != from)
		all = false;
	recorder->told = &none;
	recorder->changes = all ? &none : &some;
}

void vperfctr_record_fork(struct vperfctr *parent, struct vperfctr *perfctr,
			  struct task_struct *child)
{
	struct perfctr_recorder *recorder = perfctr->recorder;
	struct perfctr_record_fork record;
	unsigned long flags;

	if (!tells_threads(parent))
		return;
	local_irq_save(flags);
	introduce(parent->recorder);
	recorder->pid = task_tgid_nr_ns(child, recorder->ring->pid_ns);
	recorder->tid = task_pid_nr_ns(child, recorder->ring->pid_ns);
	memcpy(recorder->comm, parent->recorder->comm, sizeof(recorder->comm));
	if (child->mm == current->mm)
		share_maps(parent, perfctr, child);
	fill(&record.record, recorder, PERFCTR_RECORD_FORK, 0, sizeof(record));
	record.parent_pid = parent->recorder->pid;
	record.parent_tid = parent->recorder->tid;
	write_whole(recorder->ring, &record.record);
	if (child->mm != current->mm)
		copy_maps(parent->recorder, recorder);
	local_irq_restore(flags);
}

void vperfctr_record_exec(struct vperfctr *perfctr)
{
	unsigned long flags;

	if (!perfctr->recorder)
		return;
	local_irq_save(flags);
	find_ids(perfctr->recorder);
	if (tells_threads(perfctr)) {
		write_comm(perfctr->recorder, PERFCTR_RECORD_EXEC);
		vperfctr_return_soon(perfctr, current, PERFCTR_TODO_MAPS);
	}
	local_irq_restore(flags);
}

void vperfctr_record_exit(struct vperfctr *perfctr)
{
	struct perfctr_record record;

	if (!tells_threads(perfctr))
		return;
	introduce_now(perfctr->recorder);
	fill(&record, perfctr->recorder, PERFCTR_RECORD_EXIT, 0, sizeof(record));
	write_whole(perfctr->recorder->ring, &record);
}

/*
 * Mappings
 */

/* The shape of a MAP's path: what d_path() needs, and room for "//anon" */
#define PATH_ROOM	(PATH_MAX + sizeof(u64))

static const char *name_of(struct vm_area_struct *vma, char *room)
{
	const char *name;

	if (vma->vm_file) {
		name = d_path(&vma->vm_file->f_path, room, PATH_MAX);
		return IS_ERR(name) ? "//toolong" : name;
	}
	if (vma->vm_ops && vma->vm_ops->name) {
		name = vma->vm_ops->name(vma);
		if (name)
			return name;
	}
	return "//anon";
}

static void write_map(struct perfctr_recorder *recorder, struct vm_area_struct *vma,
		      const struct perfctr_known_map *what, char *room)
{
	struct perfctr_ring_buffer *ring = recorder->ring;
	const char *name = name_of(vma, room);
	size_t length = strnlen(name, PATH_MAX - 1);
	u32 size = sizeof(struct perfctr_record_map) + round_up(length + 1, sizeof(u64));
	struct perfctr_record_map map = {
		.start = what->start,
		.length = what->end - what->start,
		.offset = what->offset,
		.inode = what->inode,
		.major = MAJOR(what->dev),
		.minor = MINOR(what->dev),
	};
	struct perfctr_record_map *to;

	fill(&map.record, recorder, PERFCTR_RECORD_MAP, 0, size);
	local_irq_disable();
	to = perfctr_ring_begin(ring, size);
	if (to) {
		*to = map;
		to->record.time = perfctr_ring_time();
		memset(to->path, 0, size - sizeof(*to));
		memcpy(to->path, name, length);
	}
	perfctr_ring_end(ring);
	local_irq_enable();
}

static void write_unmap(struct perfctr_recorder *recorder, unsigned long start, unsigned long end)
{
	struct perfctr_record_unmap record = {
		.start = start,
		.length = end - start,
	};

	fill(&record.record, recorder, PERFCTR_RECORD_UNMAP, 0, sizeof(record));
	write_whole(recorder->ring, &record.record);
}

static struct perfctr_known_map describe_mapping(const struct vm_area_struct *vma)
{
	struct perfctr_known_map map = {
		.start = vma->vm_start,
		.end = vma->vm_end,
		.offset = (u64)vma->vm_pgoff << PAGE_SHIFT,
	};

	if (vma->vm_file) {
		map.inode = file_inode(vma->vm_file)->i_ino;
		map.dev = file_inode(vma->vm_file)->i_sb->s_dev;
		map.generation = file_inode(vma->vm_file)->i_generation;
	}
	return map;
}

/* Do they show the same memory where they overlap? */
static bool same(const struct perfctr_known_map *a, const struct perfctr_known_map *b)
{
	return a->offset - a->start == b->offset - b->start && a->inode == b->inode &&
	       a->dev == b->dev && a->generation == b->generation;
}

/*
 * The next part of @map, from *@start on, that is not as in @map in the list: up to *@end. False:
 * there is none. *@i is where to look on in the list, which is in the order of addresses.
 */
static bool next_gap(const struct perfctr_known_map *map, const struct perfctr_known_map *list,
		     unsigned int nr, unsigned int *i, unsigned long *start, unsigned long *end)
{
	for (; *i < nr && list[*i].start < map->end; ++*i) {
		const struct perfctr_known_map *other = &list[*i];

		if (other->end > *start && same(other, map)) {
			if (other->start > *start) {
				*end = other->start;
				return true;
			}
			*start = other->end;
		}
		/* It may go on in the next map. */
		if (other->end > map->end)
			break;
	}
	*end = map->end;
	return *start < *end;
}

static bool is_code(const struct vm_area_struct *vma)
{
	return vma->vm_flags & VM_EXEC;
}

/*
 * Most processes that a ring remembers without a state that refers to them: beyond that it tells
 * everything of one anew.
 */
#define MOST_MMS	4096

static void forget_known(struct perfctr_ring_buffer *ring, struct perfctr_known_mm *known)
{
	perfctr_forget_mm(known);
	ring->nr_known--;
}

static void forget_unused(struct perfctr_ring_buffer *ring)
{
	struct perfctr_known_mm *known, *next;

	list_for_each_entry_safe_reverse(known, next, &ring->known_mms, node)
		if (!atomic_read(&known->users) &&
		    (ring->nr_known >= MOST_MMS || !atomic_read(&known->watched->mm->mm_users)))
			forget_known(ring, known);
}

/* What is known of current's process, made if there is none. The latest is the first. */
static struct perfctr_known_mm *find_mm(const struct perfctr_recorder *recorder)
{
	struct perfctr_ring_buffer *ring = recorder->ring;
	struct perfctr_known_mm *known;

	lockdep_assert_held(&ring->maps_mutex);
	list_for_each_entry(known, &ring->known_mms, node)
		if (known->watched->mm == current->mm && known->pid == recorder->pid) {
			list_move(&known->node, &ring->known_mms);
			return known;
		}
	forget_unused(ring);
	known = kzalloc(sizeof(*known), GFP_KERNEL_ACCOUNT);
	if (!known)
		return NULL;
	known->watched = perfctr_watch_mm(current->mm);
	if (!known->watched) {
		kfree(known);
		return NULL;
	}
	known->pid = recorder->pid;
	known->told = known->watched->changes - 1;
	list_add(&known->node, &ring->known_mms);
	ring->nr_known++;
	return known;
}

/* All executable memory. @now: room for all mappings that there are. Returns how many it has. */
static unsigned int describe_all(struct mm_struct *mm, struct perfctr_known_map *now)
{
	struct vm_area_struct *vma;
	unsigned int nr = 0;

	for (vma = find_vma(mm, 0); vma; vma = find_vma(mm, vma->vm_end)) {
		cond_resched();
		if (is_code(vma))
			now[nr++] = describe_mapping(vma);
	}
	return nr;
}

/*
 * Mappings are split and joined while others execute in them, so what counts is what is where. The
 * ends are told first, since new ones may be in their place; then each mapping that has something
 * new. False: no memory
 */
static bool tell_maps(struct perfctr_recorder *recorder, struct perfctr_known_mm *known, char *room)
{
	struct mm_struct *mm = known->watched->mm;
	struct perfctr_known_map *now;
	unsigned long start, end;
	unsigned int nr, i, at;

	now = kvcalloc(mm->map_count, sizeof(*now), GFP_KERNEL_ACCOUNT);
	if (!now)
		return false;
	nr = describe_all(mm, now);
	for (i = 0, at = 0; i < known->nr; i++) {
		start = known->map[i].start;
		for (; next_gap(&known->map[i], now, nr, &at, &start, &end); start = end)
			write_unmap(recorder, start, end);
		cond_resched();
	}
	for (i = 0, at = 0; i < nr; i++) {
		start = now[i].start;
		if (next_gap(&now[i], known->map, known->nr, &at, &start, &end))
			write_map(recorder, find_vma(mm, now[i].start), &now[i], room);
		cond_resched();
	}
	kvfree(known->map);
	known->map = now;
	known->nr = nr;
	return true;
}

/* Tells what changed since that was done. False: no memory. The mm cannot change meanwhile. */
static bool tell_changes(struct perfctr_recorder *recorder)
{
	struct perfctr_known_mm *known, *last = recorder->known;
	char *room = NULL;
	bool told;

	lockdep_assert_held_read(&current->mm->mmap_lock);
	lockdep_assert_held(&recorder->ring->maps_mutex);
	known = find_mm(recorder);
	if (!known) {
		/* It hears of no changes by others. */
		if (!last)
			WRITE_ONCE(recorder->changes, &some);
		return false;
	}
	/* Before the records: see copy_maps(). */
	WRITE_ONCE(known->last_look, recorder);
	told = known->told == known->watched->changes;
	if (!told)
		room = kmalloc(PATH_ROOM, GFP_KERNEL_ACCOUNT);
	if (room && tell_maps(recorder, known, room)) {
		/* After the records: who reads this writes behind them. */
		smp_store_release(&known->told, known->watched->changes);
		told = true;
	}
	kfree(room);
	atomic_inc(&known->users);
	local_irq_disable();
	recorder->known = known;
	recorder->told = &known->told;
	recorder->changes = &known->watched->changes;
	local_irq_enable();
	if (last)
		atomic_dec(&last->users);
	return told;
}

/*
 * By the owner, on its way to user mode. May sleep. Nobody else gives it another control meanwhile.
 * The mutex is the inner lock: who has it waits for nobody's memory.
 */
void vperfctr_record_maps(struct vperfctr *perfctr)
{
	struct perfctr_recorder *recorder = perfctr->recorder;
	u64 begin, end;
	bool told;

	if (!tells_threads(perfctr) || !current->mm)
		return;
	introduce_now(recorder);
	/* It is killed. */
	if (mmap_read_lock_killable(current->mm))
		return;
	mutex_lock(&recorder->ring->maps_mutex);
	begin = perfctr_ring_time();
	told = tell_changes(recorder);
	end = perfctr_ring_time();
	mutex_unlock(&recorder->ring->maps_mutex);
	mmap_read_unlock(current->mm);
	/* The reader learns that something is missing. */
	if (!told)
		perfctr_ring_lose(recorder->ring);
	local_irq_disable();
	if (recorder->look_after == U64_MAX)
		recorder->look_after = end + 9 * (end - begin);
	local_irq_enable();
}

void perfctr_record_free(struct perfctr_recorder *recorder)
{
	if (recorder && recorder->known)
		atomic_dec(&recorder->known->users);
	kfree(recorder);
}

/*
 * The kernel tells perf of a mapping of current's, which is there already. Nobody executes there
 * before its mmap_lock is free again, unless mprotect(2) made it executable.
 */
static int mapped(struct kprobe *kprobe, struct pt_regs *regs)
{
	const struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);
	struct vperfctr *perfctr;
	unsigned long flags;

	if (!is_code(vma))
		return 0;
	perfctr_mm_changed(vma->vm_mm);
	local_irq_save(flags);
	perfctr = vperfctr_current();
	if (perfctr && tells_threads(perfctr)) {
		/* Its memory is not watched. */
		if (!perfctr->recorder->known)
			perfctr->recorder->changes = &some;
		vperfctr_return_soon(perfctr, current, PERFCTR_TODO_MAPS);
	}
	local_irq_restore(flags);
	return 0;
}

static struct kprobe map_probe;	/* maps_hook's mutex */

static int turn_maps(bool on)
{
	static const unsigned int offsets[] = { 0, 8 };
	unsigned int i;

	if (!on) {
		unregister_kprobe(&map_probe);
		return 0;
	}
	/* Where ftrace has patched the beginning there may be no probe. What follows is as good. */
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		/* What an earlier registration left in it is not accepted. */
		map_probe = (struct kprobe){
			.symbol_name = "perf_event_mmap",
			.offset = offsets[i],
			.pre_handler = mapped,
		};
		if (!register_kprobe(&map_probe))
			return 0;
	}
	return -EOPNOTSUPP;
}

static struct perfctr_hook maps_hook = {
	.mutex = __MUTEX_INITIALIZER(maps_hook.mutex),
	.turn = turn_maps,
	.off = __DELAYED_WORK_INITIALIZER(maps_hook.off, perfctr_hook_off, 0),
};

int perfctr_record_maps_get(void)
{
	return perfctr_hook_get(&maps_hook);
}

void perfctr_record_maps_put(void)
{
	perfctr_hook_put(&maps_hook);
}

int __init perfctr_record_init(void)
{
	chains = alloc_percpu(struct chains);
	return chains ? 0 : -ENOMEM;
}

void perfctr_record_exit(void)
{
	perfctr_hook_exit(&maps_hook);
	free_percpu(chains);
}
