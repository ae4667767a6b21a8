// SPDX-License-Identifier: GPL-2.0
/* What is mapped: a ring tells of it before the samples that are in it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <libperfctr.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "suites/record.h"

/* What is mapped and unmapped while it counts. */
START_TEST(maps)
{
	const struct perfctr_record *record;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	unsigned int mapped = 0, unmapped = 0, self = 0, vdso = 0, replaced = 0, anon = 0;
	char *map, *other;
	int fd, file;

	fd = open_with_ring(PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, PAGES);
	control_samples(&control, 100000000, 0);
	set_control(fd, &control);
	ck_ok(file = open(KNOWN_PATH, O_RDONLY | O_CLOEXEC));
	map = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	ck_assert(map != MAP_FAILED);
	/* Another file in its place: the end of the first is told before. */
	close(file);
	ck_ok(file = open(KNOWN_OTHER_PATH, O_RDONLY | O_CLOEXEC));
	other = mmap(map, PAGE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0);
	ck_assert_ptr_eq(other, map);
	ck_ok(munmap(map, PAGE_SIZE));
	map = mmap(NULL, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(map != MAP_FAILED);
	ck_ok(mprotect(map + PAGE_SIZE, PAGE_SIZE, PROT_READ | PROT_EXEC));
	ck_ok(prctl(PR_SET_NAME, "renamed"));
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((record = vperfctr_ring_next(ring))) {
		const struct perfctr_record_map *m = (const void *)record;

		ck_assert_int_eq(record->pid, getpid());
		if (record->type == PERFCTR_RECORD_UNMAP && m->start == (uintptr_t)other) {
			ck_assert_uint_eq(m->length, PAGE_SIZE);
			unmapped++;
		}
		if (record->type != PERFCTR_RECORD_MAP)
			continue;
		self += m->start <= (uintptr_t)body_spin && (uintptr_t)body_spin - m->start < m->length;
		vdso += !strcmp(m->path, "[vdso]");
		if (!strcmp(m->path, KNOWN_PATH)) {
			ck_assert_uint_eq(m->start, (uintptr_t)other);
			mapped++;
		}
		if (!strcmp(m->path, KNOWN_OTHER_PATH)) {
			ck_assert_uint_eq(unmapped, 1);
			replaced++;
		}
		if (!strcmp(m->path, "//anon") && m->start == (uintptr_t)map + PAGE_SIZE) {
			ck_assert_uint_eq(m->length, PAGE_SIZE);
			ck_assert_uint_eq(m->inode, 0);
			anon++;
		}
	}
	ck_assert_uint_eq(self, 1);
	ck_assert_uint_eq(vdso, 1);
	ck_assert_uint_eq(mapped, 1);
	ck_assert_uint_eq(replaced, 1);
	ck_assert_uint_eq(anon, 1);
	ck_assert_uint_eq(unmapped, 2);
	close(file);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* What a reader makes of the records: is a page mapped in a process, and what was sampled there? */
struct page_told {
	pid_t pid;
	uintptr_t page;
	bool mapped;
	unsigned int maps, unmaps;	/* that tell of the page */
	unsigned int known, untold;	/* samples there */
	unsigned int unknown;		/* samples of the process that say that it is not known */
};

static void follow(struct page_told *told, const struct perfctr_record *record)
{
	const struct perfctr_record_map *map = (const void *)record;
	const struct perfctr_record_sample *sample = as_sample(record);
	bool there;

	if (record->pid != told->pid)
		return;
	if (record->type == PERFCTR_RECORD_SAMPLE) {
		there = sample->ip - told->page < PAGE_SIZE;
		if (record->flags & PERFCTR_RECORD_MAP_UNKNOWN)
			told->unknown++;
		else if (there && told->mapped)
			told->known++;
		else if (there)
			told->untold++;
		return;
	}
	if (record->type != PERFCTR_RECORD_MAP && record->type != PERFCTR_RECORD_UNMAP)
		return;
	/* An UNMAP has its addresses at the same place. */
	if (told->page - map->start >= map->length)
		return;
	told->mapped = record->type == PERFCTR_RECORD_MAP;
	if (told->mapped)
		told->maps++;
	else
		told->unmaps++;
}

/* Code of known length, as body_spin() */
static char *map_code(void *at)
{
	char *page = mmap(at, PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (page != MAP_FAILED) {
		memcpy(page, (const void *)(uintptr_t)body_spin, 64);
		__builtin___clear_cache(page, page + 64);
	}
	return page;
}

static void run_code(const char *page, unsigned long loops)
{
	((void (*)(unsigned long))(uintptr_t)page)(loops);
}

#define JOINS 20

/*
 * Mappings behind a page are split from its own and joined with it. It stays what it is, and is told
 * so; of the memory behind it the end is told, and of that alone.
 */
START_TEST(mappings_are_split_and_joined)
{
	const struct perfctr_record *record;
	struct page_told told = { .pid = getpid() };
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	unsigned int i, unmaps = 0;
	char *page, *last;
	int fd;

	page = mmap(NULL, 4 * PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(page != MAP_FAILED);
	page += PAGE_SIZE;
	told.page = (uintptr_t)page;
	ck_assert_ptr_eq(map_code(page), page);
	fd = open_with_ring(PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, PAGES);
	control_samples(&control, PERIOD, 0);
	set_control(fd, &control);
	for (i = 0; i < JOINS; i++) {
		ck_assert_ptr_eq(map_code(page + PAGE_SIZE), page + PAGE_SIZE);
		run_code(page, 2 * PERIOD);
		ck_ok(mprotect(page + PAGE_SIZE, PAGE_SIZE, PROT_READ));
		run_code(page, 2 * PERIOD);
	}
	last = map_code(NULL);
	ck_assert(last != MAP_FAILED);
	run_code(page, 2 * PERIOD);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((record = vperfctr_ring_next(ring))) {
		const struct perfctr_record_unmap *unmap = (const void *)record;

		follow(&told, record);
		if (record->type != PERFCTR_RECORD_UNMAP)
			continue;
		unmaps++;
		ck_assert_uint_eq(unmap->start, (uintptr_t)page + PAGE_SIZE);
		ck_assert_uint_eq(unmap->length, PAGE_SIZE);
	}
	ck_assert_uint_eq(told.unmaps, 0);
	ck_assert_uint_eq(unmaps, 1);
	ck_assert_uint_ge(told.maps, 1);
	ck_assert_uint_le(told.maps, 2);
	ck_assert_uint_eq(told.untold, 0);
	ck_assert_uint_eq(told.unknown, 0);
	ck_assert_uint_ge(told.known, (2ul * JOINS + 1) * 3);
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* Somebody who shares memory with the test, and maps code there when told to */
struct mapper {
	int go[2], done[2];
	char *volatile page;
};

static void mapper_init(struct mapper *mapper)
{
	ck_ok(pipe2(mapper->go, O_CLOEXEC));
	ck_ok(pipe2(mapper->done, O_CLOEXEC));
}

/* With no more of the library than its system calls: a process has it together with its parent. */
static void *map_when_told(void *arg)
{
	struct mapper *mapper = arg;
	char byte = 0;

	(void)!read(mapper->go[0], &byte, 1);
	mapper->page = map_code(NULL);
	(void)!write(mapper->done[1], &byte, 1);
	(void)!read(mapper->go[0], &byte, 1);
	return NULL;
}

static int map_in_process(void *arg)
{
	map_when_told(arg);
	return 0;
}

static void tell_mapper(struct mapper *mapper)
{
	ck_assert_int_eq(write(mapper->go[1], "", 1), 1);
}

/* While it waits it executes nothing in user mode. */
static void run_what_it_maps(struct mapper *mapper)
{
	char byte;

	tell_mapper(mapper);
	ck_assert_int_eq(read(mapper->done[0], &byte, 1), 1);
	ck_assert(mapper->page != MAP_FAILED);
	run_code(mapper->page, 100 * PERIOD);
}

/*
 * What the test executed there was told before it, but for one sample, which says so. With @other
 * it was told of that process as well.
 */
static void check_mapped_by_other(struct vperfctr_ring *ring, pid_t other, const char *page)
{
	struct page_told told = { .pid = getpid(), .page = (uintptr_t)page };
	struct page_told also = { .pid = other, .page = (uintptr_t)page };
	const struct perfctr_record *record;

	while ((record = vperfctr_ring_next(ring))) {
		follow(&told, record);
		follow(&also, record);
	}
	ck_assert_uint_eq(told.untold, 0);
	ck_assert_uint_eq(told.unknown, 1);
	ck_assert_uint_eq(told.maps, 1);
	ck_assert_uint_ge(told.known, 190);
	ck_assert_uint_eq(also.maps, other != 0);
	ck_assert_uint_eq(also.unknown, 0);
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
}

/* A thread of the process that nobody counts maps code, which a counted one executes. */
START_TEST(mapped_by_another_thread)
{
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	struct mapper mapper;
	pthread_t thread;
	int fd;

	mapper_init(&mapper);
	ck_assert_int_eq(pthread_create(&thread, NULL, map_when_told, &mapper), 0);
	fd = open_with_ring(PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, PAGES);
	control_samples(&control, PERIOD, 0);
	set_control(fd, &control);
	run_what_it_maps(&mapper);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	check_mapped_by_other(ring, 0, mapper.page);
	tell_mapper(&mapper);
	pthread_join(thread, NULL);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* A counted process that shares the memory does so: that is told of each of the two. */
START_TEST(mapped_by_another_process)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	struct mapper mapper;
	pid_t pid;
	int fd;

	mapper_init(&mapper);
	fd = open_with_ring(PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, PAGES);
	control_samples(&control, PERIOD, PERFCTR_CONTROL_INHERIT);
	set_control(fd, &control);
	pid = clone(map_in_process, stack + sizeof(stack), CLONE_VM | CLONE_FILES | CLONE_FS | SIGCHLD,
		    &mapper);
	ck_assert_int_gt(pid, 0);
	run_what_it_maps(&mapper);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	check_mapped_by_other(ring, pid, mapper.page);
	tell_mapper(&mapper);
	expect_exit(pid, 0);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/*
 * A child has what a FORK tells: nothing more is told of it before it makes a thread. From then on
 * that may map something.
 */
START_TEST(mapped_by_a_thread_of_a_child)
{
	struct page_told told = { .page = (uintptr_t)body_spin }, made = { .pid = 0 };
	struct perfctr_control control;
	const struct perfctr_record *record;
	struct mapper *mapper = shared_alloc(sizeof(*mapper));
	struct vperfctr_ring *ring;
	unsigned int alone = 0, samples = 0, beside = 0;
	bool has_thread = false;
	pthread_t thread;
	int fd;

	mapper_init(mapper);
	fd = open_with_ring(4 * PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, 4 * PAGES);
	control_samples(&control, PERIOD, PERFCTR_CONTROL_INHERIT);
	set_control(fd, &control);
	told.pid = fork();
	if (!told.pid) {
		body_spin(100 * PERIOD);
		if (pthread_create(&thread, NULL, map_when_told, mapper))
			_exit(1);
		run_what_it_maps(mapper);
		tell_mapper(mapper);
		_exit(0);
	}
	expect_exit(told.pid, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	made.pid = told.pid;
	made.page = (uintptr_t)mapper->page;
	while ((record = vperfctr_ring_next(ring))) {
		follow(&made, record);
		follow(&told, record);
		samples += record->type == PERFCTR_RECORD_SAMPLE && record->pid == told.pid;
		has_thread |= record->type == PERFCTR_RECORD_FORK && record->tid != record->pid;
		if (!has_thread)
			alone = samples;
		if (!told.maps)
			beside = samples - alone;
	}
	ck_assert_uint_eq(beside, 0);
	ck_assert_uint_ge(alone, 190);
	ck_assert_uint_eq(told.maps, 1);
	ck_assert_uint_eq(told.unmaps, 0);
	ck_assert_uint_eq(made.untold, 0);
	/* Until it waits it may be interrupted while the thread maps, and then looks itself. */
	ck_assert_uint_le(made.unknown, 1);
	ck_assert_uint_eq(made.maps, 1);
	ck_assert_uint_ge(made.known, 190);
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

#define EXECS 20

/* Samples by time of programs that were executed, by the place where they were taken */
struct around_execs {
	unsigned int within;	/* an exec: no address */
	unsigned int between;	/* the exec and what tells the new program's memory */
	unsigned int after;
};

/* Reads all that the ring has of processes that executed a program, which this one forked. */
static void count_around_execs(struct vperfctr_ring *ring, struct around_execs *count)
{
	const struct perfctr_record *record;
	bool told = true, execed = false, sure = false, unknown;
	pid_t me = getpid();

	while ((record = vperfctr_ring_next(ring))) {
		const struct perfctr_record_sample *sample = as_sample(record);

		if (record->pid == me)
			continue;
		if (record->type == PERFCTR_RECORD_FORK)
			execed = false;
		if (record->type == PERFCTR_RECORD_COMM && record->flags & PERFCTR_RECORD_EXEC) {
			execed = true;
			told = false;
			sure = false;
		}
		if (record->type == PERFCTR_RECORD_MAP)
			told = true;
		if (record->type != PERFCTR_RECORD_SAMPLE)
			continue;
		count->within += !execed && !sample->ip;
		count->between += !told;
		count->after += told && execed && sample->ip;
		if (!sample->ip)
			continue;
		/* With the mark there may be some between two MAPs, and none behind the last one. */
		unknown = record->flags & PERFCTR_RECORD_MAP_UNKNOWN;
		ck_assert(told || unknown);
		ck_assert(!sure || !unknown);
		sure = !unknown;
	}
}

/*
 * Samples by time come at any place of an exec: within it without an address, and after it, until
 * the new program's memory is told, with a mark.
 */
START_TEST(samples_between_exec_and_maps)
{
	/* In a kernel that checks itself a sample takes longer than the shortest period. */
	const unsigned int slower = getenv("SLOW_KERNEL") ? 10 : 1;
	struct around_execs count = { .within = 0 };
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	unsigned int i, rounds = 0;
	pid_t pid;
	int fd;

	fd = open_with_ring(16 * PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, 16 * PAGES);
	control_timer(&control, slower * PERFCTR_TIMER_MIN);
	control.flags |= PERFCTR_CONTROL_INHERIT;
	/* The memory is told within about a period, so only some execs have a sample before. */
	do {
		set_control(fd, &control);
		for (i = 0; i < EXECS; i++) {
			pid = fork();
			if (!pid) {
				execl(KNOWN_PATH, KNOWN_PATH, NULL);
				_exit(3);
			}
			expect_exit(pid, 0);
		}
		ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
		count_around_execs(ring, &count);
		rounds++;
		ck_assert_uint_ge(count.within, (unsigned long)rounds * EXECS);
		ck_assert_uint_ge(count.after, 50ul / slower * rounds * EXECS);
	} while (count.between < EXECS && rounds < 10);
	ck_assert_uint_ge(count.between, EXECS);
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

#define MANY_MAPPINGS 3000

struct changer {
	volatile bool stop;
	volatile unsigned long changes;
};

static void *change_all_the_time(void *arg)
{
	struct changer *changer = arg;

	while (!changer->stop) {
		char *page = map_code(NULL);

		if (page != MAP_FAILED)
			munmap(page, PAGE_SIZE);
		changer->changes++;
	}
	return NULL;
}

/* Bytes */
static uint64_t available_memory(void)
{
	char text[512] = "", *line;

	ck_assert_int_gt(read_text("/proc/meminfo", text, sizeof(text)), 0);
	line = strstr(text, "MemAvailable:");
	ck_assert_ptr_nonnull(line);
	return strtoull(line + strlen("MemAvailable:"), NULL, 10) << 10;
}

/* Instructions, with those in the kernel */
static uint64_t cost_of_loop(int fd)
{
	uint64_t before = read_sum(fd, 0);

	body_spin(100 * LOOPS);
	return read_sum(fd, 0) - before;
}

/*
 * Who has many mappings takes long to look at them all. Another who maps all the time makes a thread
 * that is sampled look for a tenth of its time at most. (Of its own mappings it tells at once.)
 */
START_TEST(changes_of_others_cost_little)
{
	struct changer changer = { .stop = false };
	const struct perfctr_record *record;
	struct page_told told = { .pid = getpid(), .page = (uintptr_t)body_spin };
	struct perfctr_control control;
	uint64_t alone, beside, free_before;
	struct vperfctr_ring *ring;
	pthread_t thread;
	unsigned int i;
	char *many;
	int fd;

	many = mmap(NULL, MANY_MAPPINGS * PAGE_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(many != MAP_FAILED);
	for (i = 0; i < MANY_MAPPINGS; i += 2)
		ck_ok(mprotect(many + i * PAGE_SIZE, PAGE_SIZE, PROT_NONE));
	fd = open_with_ring(16 * PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, 16 * PAGES);
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control.ctr[0].flags |= PERFCTR_CTR_KERNEL;
	control.flags = PERFCTR_CONTROL_RECORD;
	control_add_ictr(&control, EV_INSTRUCTIONS, -20011);
	set_control(fd, &control);
	alone = cost_of_loop(fd);
	ck_assert_int_eq(pthread_create(&thread, NULL, change_all_the_time, &changer), 0);
	while (changer.changes < 10)
		sched_yield();
	/* It may also interrupt this thread as it unmaps. */
	beside = cost_of_loop(fd);
	changer.stop = true;
	pthread_join(thread, NULL);
	/* In this emulator the time of two CPUs is one, and the other waits while this one looks. */
	ck_assert_msg(beside < 2 * alone, "%llu instructions, and %llu alone",
		      (unsigned long long)beside, (unsigned long long)alone);
	/* What is known of so many mappings takes 150 KB, and is replaced each time. */
	free_before = available_memory();
	for (i = 0; i < 400; i++) {
		char *page = map_code(NULL);

		ck_assert(page != MAP_FAILED);
		munmap(page, PAGE_SIZE);
	}
	ck_assert_uint_gt(available_memory() + (20 << 20), free_before);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((record = vperfctr_ring_next(ring)))
		follow(&told, record);
	ck_assert_uint_eq(told.untold, 0);
	ck_assert_uint_ge(told.unknown, 1);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

void record_maps(void)
{
	GUEST_RUN(maps, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(mappings_are_split_and_joined, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(mapped_by_another_thread, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(mapped_by_another_process, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(mapped_by_a_thread_of_a_child, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(samples_between_exec_and_maps, NEED_COUNTERS | NEED_KPROBES | AS_USER);
	GUEST_RUN(changes_of_others_cost_little, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES);
}
