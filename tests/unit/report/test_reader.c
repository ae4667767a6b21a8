// SPDX-License-Identifier: GPL-2.0
/* What the reader refuses, with which offset */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"
#include "tests.h"

#define HEADER	sizeof(struct recfile_header)
#define FIRST	(HEADER + 2 * sizeof(struct recfile_counter))	/* the first record */

/* A file with a record of each type */
static const char *whole(size_t *size)
{
	static const uint64_t callers[] = { 0x2010, 0x3010, 0 };

	kit_begin(&kit_about);
	kit_sample(7, 7, 1000, 500, 0x1010, callers);
	kit_map(7, 0x1000, 0x4000, 0, 99, "/nowhere/program");
	kit_comm(7, 7, "comm", true);
	kit_fork(7, 7, 8, 8);
	kit_kernel_sample(7, 7, 1000, 500, 0xffff0000, 0x1020);
	kit_unmap(7, 0x1000, 0x1000);
	kit_lost(3);
	kit_plain(PERFCTR_RECORD_THROTTLED, 7, 7);
	kit_plain(77, 7, 7);
	kit_plain(0x9000, 7, 7);
	kit_exit(7, 7);
	return kit_end(3, size);
}

static void check_refused(const char *file, size_t size, size_t offset, const char *words)
{
	const char *error = NULL;
	char begin[64];

	ck_assert_ptr_null(kit_read(file, size, &error));
	snprintf(begin, sizeof(begin), "'rec': at byte %zu: ", offset);
	ck_assert_msg(!strncmp(error, begin, strlen(begin)), "%s, not %s", error, begin);
	ck_assert_msg(strstr(error, words), "%s: no %s", error, words);
}

/* As it is but for some bytes */
static void check_changed(size_t at, const void *with, size_t n, size_t offset, const char *words)
{
	size_t size;
	const char *file = whole(&size);
	char *copy = malloc(size);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, file, size);
	memcpy(copy + at, with, n);
	check_refused(copy, size, offset, words);
	free(copy);
}

static void check_u32(size_t at, uint32_t value, size_t offset, const char *words)
{
	check_changed(at, &value, sizeof(value), offset, words);
}

static void check_u16(size_t at, uint16_t value, size_t offset, const char *words)
{
	check_changed(at, &value, sizeof(value), offset, words);
}

START_TEST(whole_file)
{
	const char *error = "";
	size_t size;
	const char *file = whole(&size);
	struct kit_report *report = kit_read(file, size, &error);

	ck_assert_msg(report != NULL, "%s", error);
	ck_assert_uint_eq(report->reader.records, 11);
	ck_assert_uint_eq(report->reader.lost, 3);
	ck_assert_uint_eq(report->profile.unknown, 2);
	kit_free(report);
}
END_TEST

START_TEST(cut_at_every_byte)
{
	size_t size, i;
	const char *file = whole(&size);

	for (i = 0; i < size; i++) {
		/* A copy, so that a byte too many that is read is seen */
		char *copy = malloc(i ? i : 1);

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, file, i);
		check_refused(copy, i, i, "the file ends here");
		free(copy);
	}
}
END_TEST

START_TEST(foreign_files)
{
	char text[512] = "#!/bin/sh\n", perf[512] = "PERFILE2", zeros[512] = "";

	check_refused(text, sizeof(text), 0, "this is no file of perfex record");
	check_refused(text, 1, 0, "this is no file of perfex record");
	check_refused(perf, sizeof(perf), 0, "perf's own files");
	check_refused(zeros, sizeof(zeros), 0, "this is no file of perfex record");
}
END_TEST

START_TEST(other_byte_order_and_version)
{
	check_u32(offsetof(struct recfile_header, byte_order), 0x04030201, 12, "other byte order");
	check_u32(offsetof(struct recfile_header, byte_order), 7, 12, "expected was 0x1020304");
	/* The first had shorter names. */
	check_u32(offsetof(struct recfile_header, version), 1, 8, "has version 1");
	check_u32(offsetof(struct recfile_header, version), 3, 8, "has version 3");
}
END_TEST

START_TEST(bad_headers)
{
	check_u32(16, HEADER - 8, 16, "the header has 256 bytes");
	check_u32(16, HEADER + 4, 16, "the header has");
	check_u32(16, UINT32_MAX, 16, "the header has");
	check_u32(20, 72, 20, "a counter has 72 bytes");
	check_u32(24, PERFCTR_MAX_CTRS + 1, 24, "counters; expected were at most");
	check_u32(24, UINT32_MAX, 24, "counters; expected were at most");
	check_u32(28, UINT32_MAX, 28, "the command has 4294967295 bytes");
	/* The records would begin elsewhere. */
	check_u32(24, 1, 32, "the records begin at byte");
	check_u32(28, 8, 32, "the records begin at byte");
	check_u32(36, 1, 32, "the records begin at byte");
}
END_TEST

START_TEST(texts_without_end)
{
	char full[128];

	memset(full, 'x', sizeof(full));
	check_changed(80, full, 40, 80, "the boot id has no end");
	check_changed(120, full, 72, 120, "the kernel's release has no end");
	check_changed(192, full, 72, 192, "the host's name has no end");
	check_changed(HEADER, full, 128, HEADER, "the name of an event has no end");
	check_changed(HEADER, "", 1, HEADER, "an event has no name");
}
END_TEST

START_TEST(bad_sizes)
{
	check_u32(FIRST + 4, 0, FIRST + 4, "a record has 0 bytes");
	check_u32(FIRST + 4, 16, FIRST + 4, "a record has 16 bytes");
	check_u32(FIRST + 4, 60, FIRST + 4, "a record has 60 bytes");
	check_u32(FIRST + 4, RECFILE_MAX_RECORD + 8, FIRST + 4, "a record has");
	check_u32(FIRST + 4, UINT32_MAX, FIRST + 4, "a record has");
	check_u32(FIRST + 4, 48, FIRST + 4, "a SAMPLE has 48 bytes; expected were at least 56");
	check_u32(FIRST + 4, 88, FIRST + 4, "a SAMPLE has 88 bytes; expected were 96");
}
END_TEST

START_TEST(bad_samples)
{
	check_u16(FIRST + 40, 1, FIRST + 40, "a SAMPLE has 1 sums");
	check_u16(FIRST + 40, UINT16_MAX, FIRST + 40, "a SAMPLE has 65535 sums");
	check_u16(FIRST + 42, 128, FIRST + 42, "a SAMPLE has 128 addresses in the kernel");
	check_u16(FIRST + 44, 128, FIRST + 44, "a SAMPLE has 128 addresses in user mode");
	check_u16(FIRST + 44, 4, FIRST + 4, "expected were 104");
}
END_TEST

/* Each becomes the only record of a file. */
static void check_record(const void *record, size_t n, size_t offset, const char *words)
{
	const char *file;
	size_t size;

	kit_begin(&kit_about);
	kit_raw(record, n);
	file = kit_end(0, &size);
	check_refused(file, size, FIRST + offset, words);
}

START_TEST(bad_maps)
{
	struct {
		struct perfctr_record_map map;
		char path[8];
	} m = {
		.map.record = { PERFCTR_RECORD_MAP, 0, sizeof(m), 0, 7, 7 },
		.map.start = 0x1000,
		.map.length = 0x1000,
		.path = "/12345",
	}, bad = m;
	struct perfctr_record_unmap u = {
		.record = { PERFCTR_RECORD_UNMAP, 0, sizeof(u), 0, 7, 7 },
	};

	bad.map.length = 0;
	check_record(&bad, sizeof(bad), 32, "a MAP has 0 bytes");
	bad.map.length = -(uint64_t)0x800;
	check_record(&bad, sizeof(bad), 32, "below the end of memory");
	bad = m;
	memcpy(bad.path, "/1234567", 8);
	check_record(&bad, sizeof(bad), 64, "a path has no NUL");
	bad.map.record.size = 64;
	check_record(&bad, 64, 4, "a MAP has 64 bytes; expected were at least 65");
	check_record(&u, sizeof(u), 32, "an UNMAP has 0 bytes");
}
END_TEST

START_TEST(other_bad_records)
{
	struct perfctr_record_comm comm = {
		.record = { PERFCTR_RECORD_COMM, 0, sizeof(comm), 0, 7, 7 },
	};
	struct {
		struct recfile_build_id id;
		char path[8];
	} b = { .id.record = { RECFILE_BUILD_ID, 0, sizeof(b), 0, 7, 7 } };
	struct perfctr_record small = { PERFCTR_RECORD_FORK, 0, sizeof(small), 0, 7, 7 };

	memset(comm.comm, 'x', sizeof(comm.comm));
	check_record(&comm, sizeof(comm), 24, "the name of a thread has no NUL");
	check_record(&b, sizeof(b), 40, "a build id has 0 bytes");
	b.id.id_size = RECFILE_MAX_BUILD_ID + 1;
	check_record(&b, sizeof(b), 40, "a build id has 65 bytes");
	b.id.id_size = 20;
	memset(b.path, 'x', sizeof(b.path));
	check_record(&b, sizeof(b), sizeof(b.id), "a path has no NUL");
	check_record(&small, sizeof(small), 4, "a FORK has 24 bytes; expected were at least 32");
	small.type = PERFCTR_RECORD_LOST;
	check_record(&small, sizeof(small), 4, "a LOST has 24 bytes");
}
END_TEST

START_TEST(bad_ends)
{
	size_t size, end;
	const char *file = whole(&size);
	char *copy = malloc(size + 8);

	ck_assert_ptr_nonnull(copy);
	end = size - sizeof(struct recfile_end);
	memcpy(copy, file, size);
	memset(copy + size, 0, 8);
	check_refused(copy, size + 8, size, "there is more behind the end");
	copy[end + 24]++;
	check_refused(copy, size, end + 24, "the end tells of 12 records; there are 11");
	copy[end + 24] -= 2;
	check_refused(copy, size, end + 24, "the end tells of 10 records; there are 11");
	free(copy);
}
END_TEST

/* What later versions append is skipped. */
START_TEST(larger_structures)
{
	size_t size, n = 0;
	const char *file = whole(&size), *error = "";
	struct recfile_header header;
	char *copy = calloc(1, size + 24);
	struct kit_report *report;

	ck_assert_ptr_nonnull(copy);
	memcpy(&header, file, sizeof(header));
	header.size += 8;
	header.counter_size += 8;
	header.data += 24;
	memcpy(copy, &header, sizeof(header));
	n = HEADER + 8;
	memcpy(copy + n, file + HEADER, sizeof(struct recfile_counter));
	n += sizeof(struct recfile_counter) + 8;
	memcpy(copy + n, file + HEADER + sizeof(struct recfile_counter),
	       sizeof(struct recfile_counter));
	n += sizeof(struct recfile_counter) + 8;
	memcpy(copy + n, file + FIRST, size - FIRST);
	report = kit_read(copy, size + 24, &error);
	ck_assert_msg(report != NULL, "%s", error);
	ck_assert_str_eq(report->reader.counter[1].name, "instructions");
	kit_free(report);
	free(copy);
}
END_TEST

void add_reader_tests(TCase *tc)
{
	tcase_add_test(tc, whole_file);
	tcase_add_test(tc, cut_at_every_byte);
	tcase_add_test(tc, foreign_files);
	tcase_add_test(tc, other_byte_order_and_version);
	tcase_add_test(tc, bad_headers);
	tcase_add_test(tc, texts_without_end);
	tcase_add_test(tc, bad_sizes);
	tcase_add_test(tc, bad_samples);
	tcase_add_test(tc, bad_maps);
	tcase_add_test(tc, other_bad_records);
	tcase_add_test(tc, bad_ends);
	tcase_add_test(tc, larger_structures);
}
