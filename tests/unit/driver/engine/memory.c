// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of processes: which code is where, how threads change that, and how the kernel tells
 * of it. Of each address space there are a few pages. The first one always has code, where all go
 * on whose own has gone.
 */
#include <linux/err.h>
#include <linux/kprobes.h>

#include "thread/ring.h"

#include "engine/shim/records.h"
#include "engine/world.h"

#define BEGIN		0x10000ul

/*
 * Files that code is of. Two have one number after the other: that of a file that was deleted, and
 * another device has the same. The first has no name, the second is of no file.
 */
enum { ANONYMOUS = NO_CODE + 1, VDSO, FIRST_FILE };

static const struct super_block devices[] = { { .s_dev = 8 << 20 | 1 }, { .s_dev = 8 << 20 | 2 } };
static const struct inode inodes[] = {
	{ .i_ino = 7, .i_generation = 1, .i_sb = &devices[0] },
	{ .i_ino = 7, .i_generation = 2, .i_sb = &devices[0] },
	{ .i_ino = 7, .i_generation = 2, .i_sb = &devices[1] },
	{ .i_ino = 9, .i_generation = 1, .i_sb = &devices[0] },
};
/* NULL: it is too long. */
static const char *const paths[] = { "/deleted", "/later", "/elsewhere", NULL };
static const struct file files[] = {
	{ .f_path = 0, .f_inode = &inodes[0] }, { .f_path = 1, .f_inode = &inodes[1] },
	{ .f_path = 2, .f_inode = &inodes[2] }, { .f_path = 3, .f_inode = &inodes[3] },
};

#define NR_FILES	(FIRST_FILE + ARRAY_SIZE(files))

const char *d_path(const int *path, char *room, int size)
{
	size_t length;

	if (!paths[*path])
		return ERR_PTR(-ENAMETOOLONG);
	/* At the end of the room, as there */
	length = strlen(paths[*path]) + 1;
	return memcpy(room + size - length, paths[*path], length);
}

static const char *vdso_name(struct vm_area_struct *vma)
{
	(void)vma;
	return "[vdso]";
}

static const struct vm_operations_struct vdso_ops = { .name = vdso_name };

static struct memory *memory_of(const struct mm_struct *mm)
{
	return container_of(mm, struct memory, mm);
}

u64 page_address(unsigned int page)
{
	return BEGIN + page * PAGE_SIZE;
}

unsigned int page_at(u64 address)
{
	return (unsigned int)((address - BEGIN) >> PAGE_SHIFT);
}

/* Which file a MAP tells of; NO_CODE: none */
u8 file_told(const struct perfctr_record_map *map)
{
	const struct inode *inode;
	const char *path;
	unsigned int i;

	if (!map->inode && !map->major && !map->minor) {
		if (!strcmp(map->path, "//anon"))
			return ANONYMOUS;
		return strcmp(map->path, "[vdso]") ? NO_CODE : VDSO;
	}
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		inode = files[i].f_inode;
		path = paths[i] ? paths[i] : "//toolong";
		if (map->inode == inode->i_ino && map->major == MAJOR(inode->i_sb->s_dev) &&
		    map->minor == MINOR(inode->i_sb->s_dev) && !strcmp(map->path, path))
			return (u8)(FIRST_FILE + i);
	}
	return NO_CODE;
}

/*
 * What the module asks
 */

struct vm_area_struct *find_vma(struct mm_struct *mm, unsigned long address)
{
	struct memory *memory = memory_of(mm);
	int i;

	shim_assert(mm->mmap_lock.readers || mm->mmap_lock.writers);
	for (i = 0; i < mm->map_count; i++)
		if (address < memory->vma[i].vm_end)
			return &memory->vma[i];
	return NULL;
}

void mmgrab(struct mm_struct *mm)
{
	memory_of(mm)->refs++;
}

void mmdrop(struct mm_struct *mm)
{
	if (!--memory_of(mm)->refs)
		kfree(memory_of(mm));
}

int mmap_read_lock_killable(struct mm_struct *mm)
{
	might_sleep();
	shim_assert(!mm->mmap_lock.writers && mm == current->mm);
	/* Who is killed does not wait for others. */
	if (current->killed && rnd(2))
		return -EINTR;
	mm->mmap_lock.readers++;
	return 0;
}

void mmap_read_unlock(struct mm_struct *mm)
{
	shim_assert(mm->mmap_lock.readers);
	mm->mmap_lock.readers--;
}

unsigned int allocations_left = ~0u;
bool no_map_probes;
static struct kprobe *map_probe;
static const struct vm_area_struct *told_vma;

void *shim_zalloc(size_t size, gfp_t gfp)
{
	if (!allocations_left) {
		allocations_left = ~0u;
		return NULL;
	}
	if (allocations_left != ~0u)
		allocations_left--;
	return kzalloc(size, gfp);
}

int shim_map_probe(struct kprobe *probe)
{
	might_sleep();
	shim_assert(!map_probe && !strcmp(probe->symbol_name, "perf_event_mmap") &&
		    probe->pre_handler && !probe->addr);
	/* In half of all sequences something else is at its beginning. */
	if (no_map_probes || (!probe->offset && seed & 1))
		return -EINVAL;
	probe->addr = (void *)probe;
	map_probe = probe;
	return 0;
}

void shim_no_map_probe(struct kprobe *probe)
{
	might_sleep();
	shim_assert(map_probe == probe);
	map_probe = NULL;
}

unsigned long regs_get_kernel_argument(const struct pt_regs *regs, unsigned int n)
{
	shim_assert(!regs && !n);
	return (unsigned long)told_vma;
}

/*
 * Changes
 */

static bool goes_on(const struct memory *memory, unsigned int page)
{
	const struct code *code = &memory->page[page], *last = code - 1;

	return page && !code->split && code->file == last->file &&
	       code->executable == last->executable && code->offset == last->offset + 1;
}

static struct vm_area_struct vma_of(struct memory *memory, unsigned int page)
{
	const struct code *code = &memory->page[page];

	return (struct vm_area_struct) {
		.vm_start = page_address(page), .vm_end = page_address(page + 1),
		.vm_pgoff = code->offset, .vm_flags = code->executable ? VM_EXEC : 0,
		.vm_mm = &memory->mm,
		.vm_file = code->file < FIRST_FILE ? NULL : &files[code->file - FIRST_FILE],
		.vm_ops = code->file == VDSO ? &vdso_ops : NULL,
	};
}

/* The mappings, from what is where */
static void join(struct memory *memory)
{
	unsigned int page;
	int nr = 0;

	for (page = 0; page < NR_PAGES; page++) {
		if (memory->page[page].file == NO_CODE)
			continue;
		if (goes_on(memory, page))
			memory->vma[nr - 1].vm_end += PAGE_SIZE;
		else
			memory->vma[nr++] = vma_of(memory, page);
	}
	memory->mm.map_count = nr;
}

/* perf_event_mmap(), by current, which changes its memory */
static void tell(struct memory *memory, const struct vm_area_struct *vma)
{
	const struct vm_area_struct *elsewhere = told_vma;
	bool irqs_off = rnd(2);

	memory->changes += (vma->vm_flags & VM_EXEC) != 0;
	if (!map_probe)
		return;
	told_vma = vma;
	if (irqs_off)
		local_irq_disable();
	shim_assert(!map_probe->pre_handler(map_probe, NULL));
	if (irqs_off)
		local_irq_enable();
	told_vma = elsewhere;
	look();
}

static void tell_from(struct memory *memory, unsigned int from, unsigned int to)
{
	const struct vm_area_struct *vma;
	u64 at;

	for (at = page_address(from); at < page_address(to); at = vma->vm_end) {
		vma = find_vma(&memory->mm, at);
		if (!vma || vma->vm_start >= page_address(to))
			break;
		tell(memory, vma);
	}
}

/* Nobody executes there any more. */
static void leave(const struct memory *memory, unsigned int from, unsigned int to)
{
	struct thread *thread;
	unsigned int page;

	for (thread = threads; thread < threads + NR_THREADS; thread++) {
		page = page_at(instruction_pointer(task_pt_regs(&thread->task)));
		if (thread->task.mm == &memory->mm && page >= from && page < to)
			instruction_pointer(task_pt_regs(&thread->task)) = BEGIN;
	}
}

enum change { UNMAP, SPLIT, PROTECT, MAP };

static void change(struct memory *memory, enum change what, unsigned int from, unsigned int to)
{
	/* Mostly what can be joined with what is beside it */
	u8 file = (u8)(1 + rnd(rnd(2) ? FIRST_FILE : NR_FILES - 1));
	unsigned int page, skew = rnd(4) ? 0 : rnd(4);
	bool executable = rnd(4);

	/* Where there is no file the offset is the address. */
	if (file == ANONYMOUS)
		skew = 0;
	else if (file == VDSO)
		skew = -from;
	memory->edits++;
	for (page = from; page < to; page++) {
		struct code *code = &memory->page[page];

		if (what == UNMAP)
			*code = (struct code) {};
		else if (what == MAP)
			*code = (struct code) { file, (u8)(page + skew), executable, false };
		else if (what == PROTECT)
			code->executable = code->file != NO_CODE && executable;
	}
	if (what == SPLIT)
		memory->page[from].split = !memory->page[from].split;
	join(memory);
}

static enum change choose(unsigned int *from, unsigned int *to)
{
	unsigned int what = rnd(10);

	*from = 1 + rnd(NR_PAGES - 1);
	*to = min(*from + 1 + rnd(4), (unsigned int)NR_PAGES);
	return what < MAP ? (enum change)what : MAP;
}

/* mmap(2), munmap(2), mprotect(2), madvise(2), by the current thread */
void do_memory(struct thread *thread)
{
	struct memory *memory = thread->process->memory;
	unsigned int from, to, before = memory->changes;
	enum change what = choose(&from, &to);

	memory->mm.mmap_lock.writers++;
	if (what != SPLIT)
		leave(memory, from, to);
	change(memory, what, from, to);
	if (what == PROTECT || what == MAP)
		tell_from(memory, from, to);
	memory->mm.mmap_lock.writers--;
	thread->must_look |= memory->changes != before;
}

void do_memory_watched(struct thread *thread)
{
	accesses_begin();
	do_memory(thread);
	accesses_end();
}

void map_code(struct thread *thread, unsigned int page, u8 file)
{
	struct memory *memory = thread->process->memory;

	memory->mm.mmap_lock.writers++;
	leave(memory, page, page + 1);
	memory->page[page] = (struct code) { file, (u8)page, true, false };
	memory->edits++;
	join(memory);
	tell_from(memory, page, page + 1);
	memory->mm.mmap_lock.writers--;
	thread->must_look = true;
}

/* The new program of an exec is mapped. */
void memory_is_new(struct thread *thread)
{
	struct memory *memory = thread->process->memory;

	instruction_pointer(task_pt_regs(&thread->task)) = BEGIN;
	memory->mm.mmap_lock.writers++;
	tell_from(memory, 0, NR_PAGES);
	memory->mm.mmap_lock.writers--;
}

/* With a copy of another's, or with some mappings */
struct memory *memory_new(struct process *process, const struct memory *like)
{
	struct memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	unsigned int i, from, to;

	memory->process = process;
	memory->refs = 1;
	if (like) {
		memcpy(memory->page, like->page, sizeof(like->page));
		join(memory);
		return memory;
	}
	memory->page[0] = (struct code) { (u8)(FIRST_FILE + rnd(2)), 0, true, false };
	for (i = rnd(4); i; i--) {
		choose(&from, &to);
		change(memory, MAP, from, to);
	}
	join(memory);
	return memory;
}

/* The thread goes on in other code. */
void jump(struct thread *thread)
{
	const struct memory *memory = thread->process->memory;
	unsigned int page = rnd(NR_PAGES);

	if (!memory->page[page].executable)
		page = 0;
	instruction_pointer(task_pt_regs(&thread->task)) = page_address(page) + (u64)rnd(256) * 4;
}

/*
 * Interrupts, and other CPUs, between any two accesses of the files that write to rings
 */

static unsigned int accesses;	/* until something comes */
static bool in_between;

static const struct perfctr_ring_buffer *ring_of(const struct thread *thread)
{
	const struct vperfctr *perfctr = is_idle(thread) ? NULL : state_of(thread);

	return perfctr && perfctr->recorder ? perfctr->recorder->ring : NULL;
}

static bool writes(const struct thread *thread)
{
	const struct perfctr_ring_buffer *ring = ring_of(thread);

	return ring && ring->lock.held;
}

/* Time passes in the kernel, and the timer may fire. */
void be_interrupted(struct thread *thread)
{
	const struct vperfctr *perfctr = state_of(thread);

	if (!perfctr || !(perfctr->seq & 1) || !perfctr->recorder)
		return;
	let_run(thread, MODEL_KERNEL, rnd(3000));
	fire_timer(false);
}

/* What it does waits for nobody. */
static void do_one(struct thread *thread)
{
	const struct mm_struct *mm = thread->task.mm;
	const struct perfctr_ring_buffer *ring = ring_of(thread);
	unsigned int what = rnd(4), left = allocations_left;

	if (!what && !mm->mmap_lock.writers && ring && !ring->maps_mutex.held) {
		allocations_left = ~0u;
		return_to_user();
		allocations_left = left;
	} else if (what == 1 && !mm->mmap_lock.readers && !mm->mmap_lock.writers) {
		do_memory(thread);
	} else {
		be_interrupted(thread);
	}
}

void be_elsewhere(void)
{
	unsigned int before = shim_cpu, cpu = rnd(NR_CPUS);
	bool irqs_off = shim_irqs_off;

	look();
	to_cpu(cpu);
	if (cpu != before && !is_in_switch() && running()->process && running()->task.mm) {
		shim_irqs_off = false;
		do_one(running());
		shim_irqs_off = irqs_off;
	}
	to_cpu(before);
}

static void at_access(void)
{
	if (accesses--)
		return;
	accesses = rnd(64);
	in_between = true;
	accesses_end();
	if (writes(running()))
		look();
	else if (shim_irqs_off || rnd(2))
		be_elsewhere();
	else
		be_interrupted(running());
	in_between = false;
	accesses_begin();
}

void accesses_begin(void)
{
	if (has_rings() && in_step && !in_between)
		shim_at_access = at_access;
}

void accesses_end(void)
{
	shim_at_access = NULL;
}
