// SPDX-License-Identifier: GPL-2.0
/* perfex record: what is copied from the ring, and what is said of it. A file is in place of the kernel's memory. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "count/explain.h"
#include "count/signals.h"
#include "record/recording.h"
#include "run.h"

static char dir[] = "/tmp/test_recording.XXXXXX";
static char path[64];

/* Of explain.c, counts.c and signals.c */
void explain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
}

unsigned int mode(const struct event *event, const struct run *run)
{
	(void)run;
	return event->ctr.flags & MODES;
}

void signals_spare_limit(void)
{
}

bool signals_left(void)
{
	return false;
}

bool signals_pass_on(pid_t pid, int64_t ms)
{
	(void)pid;
	(void)ms;
	return false;
}

static size_t page_size;
static struct perfctr_ring_page *page;
static char stream[49152];		/* all records that were in the ring */
static size_t written;

/* As the kernel does it */
static void put(unsigned int type, unsigned int size)
{
	struct perfctr_record record = { .type = type, .size = size, .time = written };
	unsigned int i;

	ck_assert_uint_le(written + size, sizeof(stream));
	memset(stream + written, (int)(written / 8 & 0xff), size);
	memcpy(stream + written, &record, sizeof(record));
	for (i = 0; i < size; i++)
		((char *)page)[page_size + ((page->head + i) & (page_size - 1))] = stream[written + i];
	page->head += size;
	written += size;
}

static void enter(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/rec", dir);
}

static void leave(void)
{
	(void)unlink(path);
	(void)rmdir(dir);
}

/* Samples are counted on either side of the ring's end, and behind a record that goes over it. */
START_TEST(test_goes_round)
{
	struct recording recording = { .path = path, .period = 1000, .signals = -1 };
	struct how how = { .recording = &recording };
	struct perfctr_info info = { .tsc_hz = 1000 };
	struct events events = { .n = 1, .event[0].name = "cycles" };
	struct run run = { .ring_pages = 1 };
	static char whole[65536];
	char *said, words[256];
	unsigned int at;
	size_t size;
	FILE *f, *terminal = stderr;

	page_size = (size_t)sysconf(_SC_PAGESIZE);
	run.fd = memfd_create("ring", MFD_CLOEXEC);
	ck_assert_int_ge(run.fd, 0);
	ck_assert_int_eq(ftruncate(run.fd, (off_t)(PERFCTR_RING_OFFSET + 2 * page_size)), 0);
	page = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, run.fd, PERFCTR_RING_OFFSET);
	ck_assert(page != MAP_FAILED);
	ck_assert(recording_begin(&info, &events, &how, &run, NULL));
	/* So many bytes of the second sample are before the boundary. */
	for (at = 0; at <= 64; at += 8) {
		put(PERFCTR_RECORD_COMM, (unsigned int)(page_size - (page->head & (page_size - 1)) - 64 - at));
		ck_assert(!recording_wait(&how, &run));
		put(PERFCTR_RECORD_SAMPLE, 64);
		put(PERFCTR_RECORD_SAMPLE, 64);
		put(PERFCTR_RECORD_THROTTLED, 40);
		put(PERFCTR_RECORD_SAMPLE, 48);
		ck_assert(!recording_wait(&how, &run));
		ck_assert_uint_eq(recording.samples, at / 8 * 3 + 3);
		ck_assert_uint_eq(recording.throttled, at / 8 + 1);
	}
	put(PERFCTR_RECORD_SAMPLE, 64);
	page->lost = 3;
	stderr = open_memstream(&said, &size);
	ck_assert_ptr_nonnull(stderr);
	ck_assert(recording_end(&how));
	fclose(stderr);
	stderr = terminal;
	snprintf(words, sizeof(words), "perfex: 28 samples in '%s', 3 records lost: try a larger --pages, "
		 "9 times too many in a tick: try a larger --period\n", path);
	ck_assert_str_eq(said, words);
	free(said);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	size = fread(whole, 1, sizeof(whole), f);
	fclose(f);
	ck_assert_uint_lt(size, sizeof(whole));
	ck_assert_ptr_nonnull(memmem(whole, size, stream, written));
	munmap(page, 2 * page_size);
	close(run.fd);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("recording");

	tcase_add_unchecked_fixture(tcase, enter, leave);
	tcase_add_test(tcase, test_goes_round);
	return run_tests("recording", tcase);
}
