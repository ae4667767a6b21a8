// SPDX-License-Identifier: GPL-2.0
/*
 * Informs the readers of a ring about the code that threads have mapped.
 *
 * No tracepoint reports mappings. While somebody wants to know them, a probe is in the function by
 * which the kernel tells perf of a mapping. The probe only notes that something has changed: it
 * counts the changes of each watched mm. Before the thread that made the change returns to user
 * mode, it compares its executable memory with the maps that readers know. So a reader learns of a
 * mapping before that thread executes there. The reader learns of the end of a mapping no later
 * than of the mapping that takes its place.
 *
 * Other threads may execute in a new mapping earlier, and the thread that made the mapping may have
 * no state. So a sample that is written before a change was announced says MAP_UNKNOWN. The thread
 * of the sample looks at the memory before it goes on in user mode. Other threads may change the
 * memory all the time, so a thread spends at most a tenth of its time on these looks.
 */

#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "base/hook.h"
#include "thread/notify.h"
#include "deliver/maps.h"
#include "deliver/recorder.h"

void vperfctr_use_same_maps(struct vperfctr *parent, struct vperfctr *perfctr,
			    struct task_struct *child)
{
	struct perfctr_recorder *from = parent->recorder, *recorder = perfctr->recorder;

	recorder->announced_at_fork = READ_ONCE(*from->announced);
	recorder->announced = &recorder->announced_at_fork;
	recorder->changes = from->changes;
	if (recorder->pid == from->pid && from->announced != &from->announced_at_fork)
		recorder->announced = from->announced;
	recorder->known = from->known;
	if (recorder->known) {
		atomic_inc(&recorder->known->users);
		return;
	}
	/* Both threads can now change this memory. Each looks at it, and so begins to watch it. */
	vperfctr_return_soon(parent, current, PERFCTR_TODO_MAPS);
	vperfctr_return_soon(perfctr, child, PERFCTR_TODO_MAPS);
}

void perfctr_copy_maps(const struct perfctr_recorder *from, struct perfctr_recorder *recorder)
{
	/* Until the child makes threads, only the child changes its copy of the memory. */
	bool all = READ_ONCE(*from->changes) == READ_ONCE(*from->announced);

	/*
	 * A thread that looks at the memory sets last_look before it writes records. The FORK is
	 * written already. If we do not see another thread's look here, the records of that look
	 * stand behind the FORK.
	 */
	if (from->known && READ_ONCE(from->known->last_look) != from)
		all = false;
	recorder->announced = &perfctr_changes_none;
	recorder->changes = all ? &perfctr_changes_none : &perfctr_changes_some;
}

/* Size of the room for the path of a MAP. d_path() fills at most PATH_MAX. */
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

	perfctr_record_fill(&map.record, recorder, PERFCTR_RECORD_MAP, 0, size);
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

	perfctr_record_fill(&record.record, recorder, PERFCTR_RECORD_UNMAP, 0, sizeof(record));
	perfctr_record_write(recorder->ring, &record.record);
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

/* Returns true if both maps show the same memory where they overlap. */
static bool same(const struct perfctr_known_map *a, const struct perfctr_known_map *b)
{
	return a->offset - a->start == b->offset - b->start && a->inode == b->inode &&
	       a->dev == b->dev && a->generation == b->generation;
}

/*
 * Finds the next part of @map whose memory no map of @list shows at the same addresses. The search
 * begins at address *@start, and at map *@i of @list, which is in the order of addresses. Sets
 * *@start and *@end to the bounds of the part. Returns false if there is no such part.
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
		/* The next @map may overlap @other, too, so *@i stays. */
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
 * A ring that knows this many processes forgets those to which no state refers. If a thread of such
 * a process records again, the ring gets all maps of the process anew.
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

/*
 * Returns the entry for current's process, or NULL if there is no memory. Makes the entry if
 * necessary. The list begins with the entry that was used last.
 */
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
	known->announced = known->watched->changes - 1;
	list_add(&known->node, &ring->known_mms);
	ring->nr_known++;
	return known;
}

/* Fills @now, which is large enough, with the executable mappings. Returns their number. */
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
 * Announces the difference between the present mappings and those that readers know. The kernel
 * splits and merges mappings while other threads execute in them. So we compare what each address
 * shows, and not mappings. We announce the ends of old mappings first, because new mappings may
 * have taken their place, and then each mapping that shows something new. Returns false if there is
 * no memory.
 */
static bool announce_maps(struct perfctr_recorder *recorder, struct perfctr_known_mm *known,
			  char *room)
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

/*
 * Announces what has changed since the last look. Returns false if there is no memory. The mm
 * cannot change meanwhile.
 */
static bool announce_changes(struct perfctr_recorder *recorder)
{
	struct perfctr_known_mm *known, *last = recorder->known;
	char *room = NULL;
	bool all;

	lockdep_assert_held_read(&current->mm->mmap_lock);
	lockdep_assert_held(&recorder->ring->maps_mutex);
	known = find_mm(recorder);
	if (!known) {
		/* This memory is not watched, so changes by other threads may be missed. */
		if (!last)
			WRITE_ONCE(recorder->changes, &perfctr_changes_some);
		return false;
	}
	/* perfctr_copy_maps() relies on last_look being set before records are written. */
	WRITE_ONCE(known->last_look, recorder);
	all = known->announced == known->watched->changes;
	if (!all)
		room = kmalloc(PATH_ROOM, GFP_KERNEL_ACCOUNT);
	if (room && announce_maps(recorder, known, room)) {
		/* Pairs with vperfctr_record_sample(), which then writes behind these records. */
		smp_store_release(&known->announced, known->watched->changes);
		all = true;
	}
	kfree(room);
	atomic_inc(&known->users);
	local_irq_disable();
	recorder->known = known;
	recorder->announced = &known->announced;
	recorder->changes = &known->watched->changes;
	local_irq_enable();
	if (last)
		atomic_dec(&last->users);
	return all;
}

/*
 * The owner calls this on its way to user mode, so the state's control does not change meanwhile.
 * May sleep. maps_mutex is taken inside mmap_lock: the holder of maps_mutex never waits for an
 * mmap_lock.
 */
void vperfctr_record_maps(struct vperfctr *perfctr)
{
	struct perfctr_recorder *recorder = perfctr->recorder;
	u64 begin, end;
	bool all;

	if (!vperfctr_records_maps(perfctr) || !current->mm)
		return;
	perfctr_introduce_now(recorder);
	/* The owner is being killed. */
	if (mmap_read_lock_killable(current->mm))
		return;
	mutex_lock(&recorder->ring->maps_mutex);
	begin = perfctr_ring_time();
	all = announce_changes(recorder);
	end = perfctr_ring_time();
	mutex_unlock(&recorder->ring->maps_mutex);
	mmap_read_unlock(current->mm);
	/* A lost record tells the reader that something is missing. */
	if (!all)
		perfctr_ring_lose(recorder->ring);
	local_irq_disable();
	if (recorder->look_after == U64_MAX)
		recorder->look_after = end + 9 * (end - begin);
	local_irq_enable();
}

/*
 * This probe is called as the kernel tells perf of a mapping of current. The mapping is in place
 * already. No thread executes there before the mmap_lock is free again, unless mprotect(2) made the
 * mapping executable.
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
	if (perfctr && vperfctr_records_maps(perfctr)) {
		/* If the memory is not watched, changes are not counted. */
		if (!perfctr->recorder->known)
			perfctr->recorder->changes = &perfctr_changes_some;
		vperfctr_return_soon(perfctr, current, PERFCTR_TODO_MAPS);
	}
	local_irq_restore(flags);
	return 0;
}

static struct kprobe map_probe;	/* guarded by the mutex of maps_hook */

static int turn_maps(bool on)
{
	static const unsigned int offsets[] = { 0, 8 };
	unsigned int i;

	if (!on) {
		unregister_kprobe(&map_probe);
		return 0;
	}
	/* No probe can be where ftrace has patched a function. A later place serves as well. */
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		/* register_kprobe() rejects a probe with remains of an earlier registration. */
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

void perfctr_maps_exit(void)
{
	perfctr_hook_exit(&maps_hook);
}
