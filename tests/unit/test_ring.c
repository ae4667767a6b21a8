// SPDX-License-Identifier: GPL-2.0
/* The library's reader of a ring, on a file in place of the kernel's memory. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <libperfctr.h>

#include "run.h"

#define PAGES	2u

static size_t page_size, length;
static struct perfctr_ring_page *page;
static struct vperfctr_ring *ring;
static char *data;
static int fd;

static void begin(uint32_t at)
{
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	length = PAGES * page_size;
	fd = memfd_create("ring", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)(PERFCTR_RING_OFFSET + page_size + length)), 0);
	page = mmap(NULL, page_size + length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    PERFCTR_RING_OFFSET);
	ck_assert(page != MAP_FAILED);
	data = (char *)page + page_size;
	page->head = at;
	page->tail = at;
	ring = vperfctr_ring_map(fd, PAGES);
	ck_assert_ptr_nonnull(ring);
}

static void end(void)
{
	vperfctr_ring_unmap(ring);
	munmap(page, page_size + length);
	close(fd);
}

/* As the kernel does it; each byte behind the header is @fill. */
static void put(uint32_t size, unsigned char fill)
{
	struct perfctr_record record = { .type = PERFCTR_RECORD_COMM, .size = size, .time = fill };
	unsigned char bytes[sizeof(record)];
	uint32_t i;

	memcpy(bytes, &record, sizeof(record));
	for (i = 0; i < size; i++)
		data[(page->head + i) & (length - 1)] =
			(char)(i < sizeof(bytes) ? bytes[i] : fill);
	page->head += size;
}

static void is_next(uint32_t size, unsigned char fill)
{
	const struct perfctr_record *record = vperfctr_ring_next(ring);
	uint32_t i, wrong = 0;

	ck_assert_ptr_nonnull(record);
	ck_assert_uint_eq(record->size, size);
	ck_assert_uint_eq(record->time, fill);
	/* A copy, as it goes on at the ring's beginning */
	if ((page->tail & (length - 1)) + size > length)
		ck_assert_uint_ge(malloc_usable_size((void *)(uintptr_t)record), size);
	for (i = sizeof(*record); i < size; i++)
		wrong += ((const unsigned char *)record)[i] != fill;
	ck_assert_uint_eq(wrong, 0);
}

/* Records of all sizes, at all places, also where @head wraps at 2^32 */
START_TEST(test_goes_round)
{
	uint32_t size, n = 0;

	begin(0xffffe000);
	for (size = sizeof(struct perfctr_record); size <= 4096; size += 8) {
		put(size, (unsigned char)++n);
		put(32, 99);
		is_next(size, (unsigned char)n);
		is_next(32, 99);
		ck_assert_ptr_null(vperfctr_ring_next(ring));
		ck_assert_int_eq(errno, EAGAIN);
		ck_assert_uint_eq(page->tail, page->head);
	}
	end();
}
END_TEST

/* Whoever else has the map writes to the page: no more is given than the ring has. */
START_TEST(test_head_of_others)
{
	static const uint32_t heads[] = { 0xffffffff, 0x80000000, 0x7fff0000, 12345672 };
	struct iovec part[2];
	unsigned int i;

	begin(512);
	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		page->head = heads[i];
		ck_assert_uint_eq(vperfctr_ring_peek(ring, part), length);
		ck_assert_ptr_eq(part[0].iov_base, (char *)part[1].iov_base + 512);
		ck_assert_uint_eq(part[0].iov_len, length - 512);
		ck_assert_uint_eq(part[1].iov_len, 512);
	}
	/* Nor is it taken from there how far we are. */
	page->head = 1024;
	page->tail = 12345;
	ck_assert_uint_eq(vperfctr_ring_peek(ring, part), 512);
	vperfctr_ring_consume(ring, 8);
	ck_assert_uint_eq(page->tail, 520);
	ck_assert_uint_eq(vperfctr_ring_peek(ring, part), 504);
	end();
}
END_TEST

/* What makes no sense is no record. */
START_TEST(test_bad_sizes)
{
	static const uint32_t sizes[] = { 0, 8, 23, 28, 0x2008, 0xfffffff8 };
	struct perfctr_record record = { .type = PERFCTR_RECORD_EXIT };
	unsigned int i;

	begin(0);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		record.size = sizes[i];
		memcpy(data, &record, sizeof(record));
		page->head = (uint32_t)length;
		ck_assert_ptr_null(vperfctr_ring_next(ring));
		ck_assert_int_eq(errno, EBADMSG);
		ck_assert_uint_eq(page->tail, 0);
	}
	/* It has not been written yet to its end. */
	record.size = 32;
	memcpy(data, &record, sizeof(record));
	page->head = 24;
	ck_assert_ptr_null(vperfctr_ring_next(ring));
	ck_assert_int_eq(errno, EBADMSG);
	page->head = 32;
	ck_assert_ptr_nonnull(vperfctr_ring_next(ring));
	end();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("ring");

	tcase_add_test(tc, test_goes_round);
	tcase_add_test(tc, test_head_of_others);
	tcase_add_test(tc, test_bad_sizes);
	return run_tests("ring", tc);
}
