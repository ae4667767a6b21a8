// SPDX-License-Identifier: GPL-2.0
/*
 * What readers of rings learn of threads and their memory from the records, in the order of these.
 *
 * A sample without MAP_UNKNOWN is of code that its reader knows: the same file, at the same offset.
 * A thread that has changed its memory, or had a sample with MAP_UNKNOWN, looks before it goes on
 * in user mode: then its reader knows what is where, on all pages.
 */
#include "thread/ring.h"

#include "engine/world.h"

/*
 * @pid: 0: it is free. @stale: some of it may have gone, of which nobody tells: it was copied from
 * its parent's, or is of a program that ended while nothing was told. @anew: something was told
 * since its thread entered: so all else that has gone was told, too
 */
struct told {
	s32 pid;
	bool stale;
	bool anew;
	const struct memory *memory;	/* as it was when all was told */
	unsigned int changes;
	struct code page[NR_PAGES];
};

union record {
	struct perfctr_record record;
	struct perfctr_record_sample sample;
	struct perfctr_record_lost lost;
	struct perfctr_record_map map;
	struct perfctr_record_unmap unmap;
	struct perfctr_record_comm comm;
	struct perfctr_record_fork fork;
	u64 words[32];
};

/*
 * @may_lose: there may be no memory for the look in progress. @lost: records, so far; of these a
 * LOST has told @told_lost, and not @untold, when records were last read. @ended: the thread
 * whose end was told last. @names: of threads, in their order
 */
struct reader {
	const struct perfctr_ring_page *page;	/* NULL: it is free */
	const struct perfctr_ring_buffer *ring;
	u64 time, lost, told_lost, untold;
	struct told told[NR_THREADS];
	s32 ended;
	struct {
		s32 tid;
		char comm[TASK_COMM_LEN];
	} names[NR_THREADS];
	bool maps;
	bool may_lose;
};

static struct reader readers[64];

void reader_begins(const struct perfctr_ring_buffer *ring)
{
	struct reader *reader;

	for (reader = readers; reader->page; reader++)
		ck_assert_ptr_ne(reader, &readers[ARRAY_SIZE(readers) - 1]);
	memset(reader, 0, sizeof(*reader));
	reader->page = ring->page;
	reader->ring = ring;
	reader->maps = ring->flags & PERFCTR_RING_MAPS;
}

void reader_ends(const struct perfctr_ring_page *page)
{
	struct reader *reader;

	for (reader = readers; reader < readers + ARRAY_SIZE(readers); reader++)
		if (page && reader->page == page)
			reader->page = NULL;
}

/* Of the ring that its records are in; NULL: it has none */
struct reader *reader_of(struct thread *thread)
{
	const struct vperfctr *perfctr = is_idle(thread) ? NULL : state_of(thread);
	const struct perfctr_ring_page *page;
	struct reader *reader;

	if (!perfctr || !perfctr->recorder)
		return NULL;
	page = perfctr->recorder->ring->page;
	if (thread->reader && thread->reader->page == page)
		return thread->reader;
	for (reader = readers; reader->page != page; reader++)
		ck_assert_ptr_ne(reader, &readers[ARRAY_SIZE(readers) - 1]);
	thread->reader = reader;
	return reader;
}

static struct thread *thread_by_id(s32 tid)
{
	struct thread *thread;

	for (thread = threads; thread < threads + NR_THREADS; thread++)
		if (thread->process && thread->task.pid->nr == tid)
			return thread;
	return NULL;
}

static const struct memory *memory_of(const struct thread *thread)
{
	return thread->task.mm ? thread->process->memory : NULL;
}

static bool is_alive(s32 pid)
{
	const struct thread *thread;

	for (thread = threads; thread < threads + NR_THREADS; thread++)
		if (thread->process && thread->task.tgid->nr == pid)
			return true;
	return false;
}

static struct told *told_of(struct reader *reader, s32 pid)
{
	struct told *told, *unused = NULL;

	for (told = reader->told; told < reader->told + NR_THREADS; told++) {
		if (told->pid == pid)
			return told;
		if (!told->pid || !is_alive(told->pid))
			unused = told;
	}
	ck_assert_ptr_nonnull(unused);
	*unused = (struct told) { .pid = pid };
	return unused;
}

static char *name_of(struct reader *reader, s32 tid)
{
	const struct thread *thread = thread_by_id(tid);
	unsigned int i = (unsigned int)(thread - threads);

	if (!thread)
		return NULL;
	if (reader->names[i].tid != tid)
		memset(&reader->names[i], 0, sizeof(reader->names[i]));
	reader->names[i].tid = tid;
	return reader->names[i].comm;
}

static void expect_pages(const struct perfctr_record *record, u64 start, u64 length)
{
	expect(start >= page_address(0) && start + length <= page_address(NR_PAGES) && length &&
	       (start | length) % PAGE_SIZE == 0,
	       "thread id %d: %#llx bytes at %#llx", record->tid, length, start);
}

static void see_map(struct reader *reader, const struct perfctr_record_map *map)
{
	struct told *told = told_of(reader, map->record.pid);
	unsigned int page = page_at(map->start), to;
	u64 offset = map->offset;
	u8 file = file_told(map);
	bool new = false;

	told->stale |= told->memory && told->memory != memory_of(thread_by_id(map->record.tid));
	expect(file && map->path[map->record.size - sizeof(*map) - 1] == 0,
	       "a MAP of %s, inode %llu", map->path, map->inode);
	expect_pages(&map->record, map->start, map->length);
	for (to = page + (unsigned int)(map->length / PAGE_SIZE); page < to; page++) {
		struct code *code = &told->page[page];

		new |= code->file != file || code->offset * PAGE_SIZE != offset;
		*code = (struct code) { .file = file, .offset = (u8)(offset / PAGE_SIZE) };
		offset += PAGE_SIZE;
	}
	told->anew = true;
	expect(new || told->stale, "process %d: %#llx bytes at %#llx are told again",
	       map->record.pid, map->length, map->start);
	nr.told_maps++;
}

static void see_unmap(struct reader *reader, const struct perfctr_record_unmap *unmap)
{
	struct told *told = told_of(reader, unmap->record.pid);
	unsigned int page = page_at(unmap->start), to;

	expect_pages(&unmap->record, unmap->start, unmap->length);
	told->anew = true;
	for (to = page + (unsigned int)(unmap->length / PAGE_SIZE); page < to; page++) {
		expect(told->page[page].file || told->stale,
		       "process %d: the end of what is not at %#llx", unmap->record.pid,
		       page_address(page));
		told->page[page] = (struct code) {};
	}
}

static void see_comm(struct reader *reader, const struct perfctr_record_comm *comm)
{
	char *name = name_of(reader, comm->record.tid);

	if (name)
		memcpy(name, comm->comm, sizeof(comm->comm));
	if (comm->record.flags & PERFCTR_RECORD_EXEC)
		*told_of(reader, comm->record.pid) = (struct told) { .pid = comm->record.pid };
}

static void see_fork(struct reader *reader, const struct perfctr_record_fork *fork)
{
	const char *parent = name_of(reader, fork->parent_tid);
	char *child = name_of(reader, fork->record.tid);
	struct told told;

	ck_assert(parent && child);
	memcpy(child, parent, TASK_COMM_LEN);
	if (fork->record.pid == fork->parent_pid)
		return;
	told = *told_of(reader, fork->parent_pid);
	told.pid = fork->record.pid;
	told.stale = true;
	told.memory = NULL;
	*told_of(reader, fork->record.pid) = told;
}

static void see_time(struct reader *reader, const struct perfctr_record *record)
{
	expect(record->time > reader->time, "a record of %llu, after one of %llu", record->time,
	       reader->time);
	reader->time = record->time;
	/* Those were lost when records were last read. */
	expect(!reader->untold || record->type == PERFCTR_RECORD_LOST,
	       "a record of type %u, and %llu were lost before it", record->type, reader->untold);
}

static void see_lost(struct reader *reader, u64 lost)
{
	expect(lost && reader->told_lost + lost <= reader->page->lost, "%llu are lost", lost);
	reader->told_lost += lost;
	reader->untold = 0;
}

static void see_sample(struct reader *reader, const struct perfctr_record_sample *sample)
{
	struct thread *thread = thread_by_id(sample->record.tid);

	expect(thread && reader_of(thread) == reader, "a sample of thread id %d",
	       sample->record.tid);
	expect_sample(thread, sample);
}

static void see(struct reader *reader, const union record *at)
{
	see_time(reader, &at->record);
	expect(reader->maps || at->record.type <= PERFCTR_RECORD_THROTTLED,
	       "a ring without MAPS has a record of type %u", at->record.type);
	switch (at->record.type) {
	case PERFCTR_RECORD_SAMPLE:
		see_sample(reader, &at->sample);
		break;
	case PERFCTR_RECORD_LOST:
		see_lost(reader, at->lost.lost);
		break;
	case PERFCTR_RECORD_THROTTLED:
		throttled(thread_by_id(at->record.tid));
		break;
	case PERFCTR_RECORD_MAP:
		see_map(reader, &at->map);
		break;
	case PERFCTR_RECORD_UNMAP:
		see_unmap(reader, &at->unmap);
		break;
	case PERFCTR_RECORD_COMM:
		see_comm(reader, &at->comm);
		break;
	case PERFCTR_RECORD_FORK:
		see_fork(reader, &at->fork);
		break;
	case PERFCTR_RECORD_EXIT:
		reader->ended = at->record.tid;
		break;
	default:
		expect(false, "a record of type %u", at->record.type);
	}
}

/* A record may go on at the beginning of the ring. */
static void copy_out(const struct perfctr_ring_buffer *ring, u32 tail, void *to, u32 size)
{
	u32 from = tail & (ring->length - 1), first = min(size, ring->length - from);

	memcpy(to, ring->data + from, first);
	memcpy(to + first, ring->data, size - first);
}

void reader_reads(struct reader *reader)
{
	const struct perfctr_ring_buffer *ring = reader->ring;
	union record at;
	u64 lost;
	u32 tail;

	for (tail = ring->page->tail; tail != ring->page->head; tail += at.record.size) {
		copy_out(ring, tail, &at, sizeof(at.record));
		expect(at.record.size >= sizeof(at.record) && at.record.size <= sizeof(at),
		       "a record of type %u, with %u bytes", at.record.type, at.record.size);
		copy_out(ring, tail, &at, at.record.size);
		see(reader, &at);
	}
	ring->page->tail = tail;
	reader->untold = ring->page->lost - reader->told_lost;
	/* One at most: of a look for which there was no memory */
	lost = ring->page->lost - reader->lost;
	expect(!lost || (reader->may_lose && lost == 1), "%llu records are lost", lost);
	if (lost)
		reader->may_lose = false;
	reader->lost += lost;
}

static bool is_all_told(const struct thread *thread, const struct told *told)
{
	return thread->looked && told->memory && told->memory == memory_of(thread) &&
	       told->changes == told->memory->changes;
}

/* Where a sample says that its thread was */
void expect_place(struct thread *thread, const struct perfctr_record_sample *sample)
{
	struct reader *reader = thread->reader;
	unsigned int page = page_at(sample->ip);
	struct told *told;

	if (!reader->maps) {
		expect(!(sample->record.flags & PERFCTR_RECORD_MAP_UNKNOWN), "MAP_UNKNOWN");
		return;
	}
	expect(!strcmp(name_of(reader, sample->record.tid), thread->task.comm),
	       "thread %d is %s, not %s", (int)(thread - threads),
	       name_of(reader, sample->record.tid), thread->task.comm);
	told = told_of(reader, sample->record.pid);
	if (sample->record.flags & PERFCTR_RECORD_MAP_UNKNOWN) {
		expect(!is_all_told(thread, told), "thread %d: all was told, and MAP_UNKNOWN",
		       (int)(thread - threads));
		thread->unknown = sample->record.time;
		nr.unknown++;
	} else if (sample->ip) {
		const struct code *code = &thread->process->memory->page[page];

		expect(told->page[page].file == code->file &&
		       told->page[page].offset == code->offset,
		       "thread %d: a sample at %#llx in file %u, page %u: its reader knows %u, %u",
		       (int)(thread - threads), sample->ip, code->file, code->offset,
		       told->page[page].file, told->page[page].offset);
		nr.placed++;
	}
}

/* The current thread has another program: its reader knows nothing of that yet. */
void expect_exec(struct thread *thread)
{
	struct reader *reader = reader_of(thread);
	unsigned int page;

	for (page = 0; reader && reader->maps && page < NR_PAGES; page++)
		expect(!told_of(reader, thread->task.tgid->nr)->page[page].file,
		       "thread %d: no exec was told", (int)(thread - threads));
}

/* It has ended, and had such a reader. */
void expect_end(struct reader *reader, const struct thread *thread)
{
	if (!reader || !reader->maps)
		return;
	reader_reads(reader);
	expect(reader->ended == thread->task.pid->nr, "thread %d has ended, and no EXIT",
	       (int)(thread - threads));
}

/* All that was told of its memory, from now on */
void begin_look(struct thread *thread)
{
	thread->must_look = true;
	thread->looked = false;
	thread->unknown = 0;
	thread->not_before = 0;
}

static struct {
	u64 time;
	unsigned int edits;
	struct reader *fails;	/* There may be no memory for it. */
} entered[NR_CPUS];

/* The next look of the current thread has no memory. */
void reader_may_lose(struct thread *thread)
{
	struct reader *reader = reader_of(thread);

	reader->may_lose = true;
	entered[shim_cpu].fails = reader;
	allocations_left = 0;
}

/* The current thread will go on in user mode. Sometimes there is no memory for its look. */
void look_begins(struct thread *thread)
{
	struct reader *reader = reader_of(thread);

	if (!reader || !reader->maps || !thread->task.mm)
		return;
	entered[shim_cpu].time = shim_now;
	entered[shim_cpu].edits = thread->process->memory->edits;
	told_of(reader, thread->task.tgid->nr)->anew = false;
	if (in_step && !reader->may_lose && !rnd(8)) {
		reader->may_lose = true;
		entered[shim_cpu].fails = reader;
		allocations_left = rnd(4);
	}
}

static bool has_looked(const struct thread *thread)
{
	/* A sample is written a moment after it was asked whether its thread is to look. */
	return thread->must_look ||
	       (thread->unknown && thread->unknown > thread->not_before + 20000);
}

void look_ends(struct thread *thread)
{
	struct reader *reader = reader_of(thread);
	const struct memory *memory = memory_of(thread);
	struct reader *fails = entered[shim_cpu].fails;
	bool failed = false, looked = has_looked(thread);
	struct told *told;
	unsigned int page;

	if (fails) {
		allocations_left = ~0u;
		failed = !fails->may_lose;
		fails->may_lose = false;
		entered[shim_cpu].fails = NULL;
	}
	if (!reader || !reader->maps || !memory)
		return;
	/* For nine times as long as it took it does not look for others. */
	if (thread->unknown)
		thread->not_before = max(thread->not_before,
					 shim_now + 9 * (shim_now - entered[shim_cpu].time));
	thread->unknown = 0;
	thread->must_look = false;
	nr.not_told += failed;
	if (!looked || failed || thread->task.killed ||
	    entered[shim_cpu].edits != memory->edits)
		return;
	nr.looks++;
	told = told_of(reader, thread->task.tgid->nr);
	told->memory = memory;
	told->changes = memory->changes;
	thread->looked = true;
	for (page = 0; page < NR_PAGES; page++) {
		const struct code *code = &memory->page[page], *known = &told->page[page];
		u8 file = code->executable ? code->file : NO_CODE;

		expect((known->file == file && (!file || known->offset == code->offset)) ||
		       (!file && (told->stale || !told->anew)),
		       "thread %d: file %u, page %u at %#llx; its reader knows %u, %u",
		       (int)(thread - threads), file, code->offset, page_address(page), known->file,
		       known->offset);
	}
}
