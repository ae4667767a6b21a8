// SPDX-License-Identifier: GPL-2.0
/* Bad input of mmap(2), as in test_abi.c; and what the page has. */
#define _GNU_SOURCE
#if defined(__i386__)
#include <asm/ldt.h>
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/abi.h"

static void bad_map(int fd, size_t len, int prot, int flags, off_t offset, int err)
{
	void *page = mmap(NULL, len, prot, flags, fd, offset);

	ck_assert_msg(page == MAP_FAILED, "mmap(%zu, %d, %d, %ld) succeeded", len, prot, flags,
		      (long)offset);
	ck_assert_msg(errno == err, "mmap(%zu, %d, %d, %ld): %s, expected %s", len, prot, flags,
		      (long)offset, strerror(errno), strerror(err));
}

START_TEST(map_bad_input)
{
	struct watch watch = watch_begin();
	void *page;

	bad_map(watch.fd, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 0, EACCES);
	bad_map(watch.fd, PAGE_SIZE, PROT_WRITE, MAP_SHARED, 0, EACCES);
	bad_map(watch.fd, PAGE_SIZE, PROT_READ, MAP_SHARED, PAGE_SIZE, EINVAL);
	bad_map(watch.fd, PAGE_SIZE, PROT_READ, MAP_SHARED,
		(off_t)1 << (sizeof(long) == 8 ? 40 : 30), EINVAL);
	bad_map(watch.fd, 2ul * PAGE_SIZE, PROT_READ, MAP_SHARED, 0, EINVAL);
	bad_map(watch.fd, 1ul << 30, PROT_READ, MAP_SHARED, 0, EINVAL);
	bad_map(watch.fd, PAGE_SIZE, PROT_READ, MAP_PRIVATE, 0, EINVAL);
	bad_map(watch.fd, PAGE_SIZE, PROT_READ, MAP_SHARED, 1, EINVAL);
	watch_unchanged(&watch);

	page = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, watch.fd, 0);
	ck_assert_ptr_ne(page, MAP_FAILED);
	ck_errno(mprotect(page, PAGE_SIZE, PROT_READ | PROT_WRITE), EACCES);
	ck_errno(mprotect(page, PAGE_SIZE, PROT_WRITE), EACCES);
	/* The map does not grow. */
	ck_assert_ptr_eq(mremap(page, PAGE_SIZE, 2ul * PAGE_SIZE, MREMAP_MAYMOVE), MAP_FAILED);
	watch_unchanged(&watch);
	ck_assert_uint_eq(((const struct perfctr_page *)page)->cstatus, watch.last.cstatus);
	ck_ok(munmap(page, PAGE_SIZE));
	watch_unchanged(&watch);
}
END_TEST

START_TEST(map_of_the_device)
{
	int dev = open_device();

	ck_assert_ptr_eq(mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, dev, 0), MAP_FAILED);
}
END_TEST

/* A store to the page kills the writer, and changes nothing. */
START_TEST(map_is_read_only)
{
	struct watch watch = watch_begin();
	const struct perfctr_page *page = map_page(watch.fd);
	int status;
	pid_t child;

	ck_ok(child = fork());
	if (!child) {
		((struct perfctr_page *)(uintptr_t)page)->seq = 0;
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	watch_unchanged(&watch);
}
END_TEST

START_TEST(map_outlives_handle)
{
	struct watch watch = watch_begin();
	const struct perfctr_page *page = map_page(watch.fd);

	close(watch.fd);
	ck_assert_uint_eq(page->cstatus, watch.last.cstatus);
	ck_assert_uint_eq(page->nrctrs, watch.control.nractrs);
	unmap_page(page);
}
END_TEST

/* Maps, unmaps and maps again, with two maps at a time. */
START_TEST(map_again)
{
	struct watch watch = watch_begin();
	const struct perfctr_page *first, *second;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		first = map_page(watch.fd);
		second = map_page(watch.fd);
		ck_assert_uint_eq(first->cstatus, second->cstatus);
		unmap_page(first);
		ck_assert_uint_eq(second->cstatus, watch.last.cstatus);
		unmap_page(second);
	}
	watch_unchanged(&watch);
}
END_TEST

START_TEST(raw_is_of_threads)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.flags = PERFCTR_CONTROL_RAW;
	control.tsc_on = 1;
	ck_assert_int_eq(try_control(fd, &control), -EOPNOTSUPP);
	if (!guest.nprogrammable)
		return;
	control_add(&control, EV_INSTRUCTIONS);
	ck_assert_int_eq(try_control(fd, &control), -EOPNOTSUPP);
}
END_TEST

/* It reveals of others what the privilege for kernel mode does. */
START_TEST(raw_needs_a_privilege)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.flags = PERFCTR_CONTROL_RAW;
	control.tsc_on = 1;
	ck_assert_int_eq(try_control(fd, &control), -EACCES);
	ck_assert_uint_eq(control.reason, PERFCTR_REASON_KERNEL);
	ck_assert_uint_eq(control.refused, PERFCTR_NO_INDEX);
}
END_TEST

/* The page says what the kernel says. */
START_TEST(map_describes_the_control)
{
	struct watch watch = watch_begin();
	const struct perfctr_page *page = map_page(watch.fd);
	struct perfctr_read rd;
	unsigned int i;

	read_all(watch.fd, &rd);
	ck_assert_uint_ge(page->size, sizeof(*page));
	ck_assert_uint_eq(page->cstatus, rd.cstatus);
	ck_assert_uint_eq(page->error, PERFCTR_ERROR_NONE);
	ck_assert_uint_eq(page->nrctrs, rd.nrctrs);
	ck_assert_uint_eq(page->reserved, 0);
	ck_assert_uint_eq(PERFCTR_CSTATUS_NRCTRS(page->cstatus), rd.nrctrs);
	ck_assert_uint_eq(PERFCTR_CSTATUS_NRICTRS(page->cstatus), 0);
	ck_assert_uint_eq(page->cstatus & PERFCTR_CSTATUS_CLOCK, PERFCTR_CSTATUS_CLOCK);
	for (i = 0; i < PERFCTR_MAX_CTRS; i++) {
		if (i < rd.nrctrs)
			ck_assert_uint_ne(guest.info.counters >> page_hw_counter(page, i) & 1, 0);
		else
			ck_assert_uint_eq(page->map[i], PERFCTR_PAGE_NO_SLOT * sizeof(page->slot[0]));
	}
	ck_assert_uint_eq(page->slot[PERFCTR_PAGE_NO_SLOT].owner, 0);
}
END_TEST

/* A control of the clock alone: every machine lets user mode read it. */
static void control_clock(struct perfctr_control *control)
{
	control_init(control);
	control->tsc_on = 1;
}

static bool page_is_mine(const struct perfctr_page *page)
{
	return page->seq >= 0 && page->owner == thread_pointer();
}

static void *map_own(void *mine)
{
	struct perfctr_control control;
	const struct perfctr_page *page;
	int fd = try_open(PERFCTR_OPEN_CREAT);

	control_clock(&control);
	page = fd < 0 || try_control(fd, &control) ? NULL : try_map(fd);
	*(bool *)mine = page && page_is_mine(page);
	return NULL;
}

/* The kernel and the thread agree on the thread pointer, whoever set it. */
START_TEST(map_knows_its_thread)
{
	struct perfctr_control control;
	const struct perfctr_page *page;
	int fd = open_self();
	bool mine = false;
	pthread_t thread;

	control_clock(&control);
	set_control(fd, &control);
	page = map_page(fd);
	ck_assert(page_is_mine(page));
	ck_assert_int_eq(pthread_create(&thread, NULL, map_own, &mine), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(mine);
}
END_TEST

#if defined(__i386__)

/* An ioctl with another segment in %gs. The thread's own data is not accessed meanwhile. */
static long ioctl_in_segment(unsigned int selector, int fd, unsigned long cmd, void *arg)
{
	unsigned int own;
	long ret;

	__asm__ volatile ("mov %%gs, %1\n\t"
			  "mov %6, %%gs\n\t"
			  "int $0x80\n\t"
			  "mov %1, %%gs"
			  : "=a" (ret), "=&S" (own)
			  : "0" (SYS_ioctl), "b" (fd), "c" (cmd), "d" (arg), "D" (selector)
			  : "memory");
	return ret;
}

/* Any of the thread's segments may have the thread pointer. */
START_TEST(map_knows_its_segment)
{
	static unsigned long data[16];
	struct user_desc segment = {
		.entry_number = -1u,
		.base_addr = (unsigned int)(uintptr_t)data,
		.limit = 0xfffff,
		.seg_32bit = 1,
		.limit_in_pages = 1,
		.useable = 1,
	};
	struct perfctr_control control;
	const struct perfctr_page *page;
	int fd = open_self();

	control_clock(&control);
	set_control(fd, &control);
	page = map_page(fd);
	ck_ok(syscall(SYS_set_thread_area, &segment));
	ck_assert_int_eq(ioctl_in_segment(segment.entry_number << 3 | 3, fd, PERFCTR_IOC_CONTROL,
					  &control), 0);
	ck_assert_uint_eq(page->owner, (uintptr_t)data);
	set_control(fd, &control);
	ck_assert(page_is_mine(page));
}
END_TEST

#endif

/* The page holds nothing but what the header describes. */
START_TEST(map_shows_nothing_else)
{
	struct watch watch = watch_begin();
	const struct perfctr_page *page = map_page(watch.fd);
	const unsigned char *rest = (const unsigned char *)page;
	uint64_t tp = thread_pointer();
	unsigned int i;

	ck_assert_uint_eq(page->reserved, 0);
	ck_assert(page->owner == 0 || page->owner == tp);
	for (i = 0; i < PERFCTR_PAGE_SLOTS; i++) {
		const struct perfctr_page_slot *slot = &page->slot[i];

		ck_assert(slot->owner == 0 || slot->owner == tp);
		/* Slots of other threads' counters, and unused ones, hold nothing. */
		ck_assert(slot->owner == tp || slot->bias == 0);
	}
	for (i = sizeof(*page); i < PAGE_SIZE; i++)
		ck_assert_uint_eq(rest[i], 0);
}
END_TEST

void abi_map(void)
{
	GUEST_RUN(map_bad_input, LOG_SILENT | AS_USER);
	GUEST_RUN(map_of_the_device, LOG_SILENT | AS_USER);
	/* The kernel may log the SIGSEGV. */
	GUEST_RUN(map_is_read_only, AS_USER);
	GUEST_RUN(map_outlives_handle, LOG_SILENT | AS_USER);
	GUEST_RUN(map_again, LOG_SILENT | AS_USER);
	if (!CONTROL_RAW)
		GUEST_RUN(raw_is_of_threads, AS_USER);
	else
		GUEST_RUN(raw_needs_a_privilege, LOG_SILENT | AS_USER);
	GUEST_RUN(map_describes_the_control, LOG_SILENT | AS_USER);
	GUEST_RUN(map_knows_its_thread, NEED_RDTSC | LOG_SILENT | AS_USER);
#if defined(__i386__)
	GUEST_RUN(map_knows_its_segment, NEED_RDTSC | LOG_SILENT | AS_USER);
#endif
	GUEST_RUN(map_shows_nothing_else, LOG_SILENT | AS_USER);
}
