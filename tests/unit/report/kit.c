// SPDX-License-Identifier: GPL-2.0
/* Recordings that no kernel made */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kit.h"

struct recfile_about kit_about = {
	.counter = {
		{ "cycles", PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL, 0, 1000 },
		{ "instructions", PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL, 0, 0 },
	},
	.nrctrs = 2,
	.ring_flags = PERFCTR_RING_USER_CHAIN | PERFCTR_RING_MAPS,
	.clock_hz = 1000,
};

static struct recfile *file;
static char dir[64], path[80];
static char *bytes;
static uint64_t now;

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

void kit_begin(const struct recfile_about *about)
{
	struct timespec time = { 0 };

	free(bytes);
	bytes = NULL;
	/* However long a test takes, nothing was changed after it was mapped. */
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	now = ((uint64_t)time.tv_sec + 3600) * 1000;
	snprintf(dir, sizeof(dir), "/tmp/report_kit.XXXXXX");
	must(mkdtemp(dir) != NULL, "mkdtemp");
	snprintf(path, sizeof(path), "%s/rec", dir);
	file = recfile_create(path, about);
	must(file != NULL, "recfile_create");
}

void kit_raw(const void *record, size_t size)
{
	must(!recfile_append(file, record, size, NULL, 0), "recfile_append");
}

static struct perfctr_record header(unsigned int type, size_t size, int pid, int tid)
{
	return (struct perfctr_record){
		.type = (uint16_t)type, .size = (uint32_t)size, .time = now++ * 1000000,
		.pid = pid, .tid = tid,
	};
}

void kit_map(int pid, uint64_t start, uint64_t length, uint64_t offset, uint64_t inode,
	     const char *name)
{
	size_t size = (sizeof(struct perfctr_record_map) + strlen(name) + 8) & ~(size_t)7;
	struct perfctr_record_map *map = calloc(1, size);

	must(map != NULL, "calloc");
	map->record = header(PERFCTR_RECORD_MAP, size, pid, pid);
	map->start = start;
	map->length = length;
	map->offset = offset;
	map->inode = inode;
	map->major = 8;
	memcpy(map->path, name, strlen(name) + 1);
	kit_raw(map, size);
	free(map);
}

void kit_unmap(int pid, uint64_t start, uint64_t length)
{
	struct perfctr_record_unmap unmap = { .start = start, .length = length };

	unmap.record = header(PERFCTR_RECORD_UNMAP, sizeof(unmap), pid, pid);
	kit_raw(&unmap, sizeof(unmap));
}

void kit_comm(int pid, int tid, const char *comm, bool exec)
{
	struct perfctr_record_comm record = { .comm = "" };

	record.record = header(PERFCTR_RECORD_COMM, sizeof(record), pid, tid);
	record.record.flags = exec ? PERFCTR_RECORD_EXEC : 0;
	memcpy(record.comm, comm, strnlen(comm, sizeof(record.comm) - 1));
	kit_raw(&record, sizeof(record));
}

void kit_fork(int parent_pid, int parent_tid, int pid, int tid)
{
	struct perfctr_record_fork fork = { .parent_pid = parent_pid, .parent_tid = parent_tid };

	fork.record = header(PERFCTR_RECORD_FORK, sizeof(fork), pid, tid);
	kit_raw(&fork, sizeof(fork));
}

void kit_plain(unsigned int type, int pid, int tid)
{
	struct perfctr_record record = header(type, sizeof(record), pid, tid);

	kit_raw(&record, sizeof(record));
}

void kit_exit(int pid, int tid)
{
	kit_plain(PERFCTR_RECORD_EXIT, pid, tid);
}

void kit_lost(uint64_t lost)
{
	struct perfctr_record_lost record = { .lost = lost };

	record.record = header(PERFCTR_RECORD_LOST, sizeof(record), 0, 0);
	kit_raw(&record, sizeof(record));
}

/* With @kernel addresses there of which the first is the only one, or none */
static void sample(int pid, int tid, uint64_t cycles, uint64_t instructions, uint64_t kernel,
		   uint64_t ip, const uint64_t *callers)
{
	struct {
		struct perfctr_record_sample sample;
		uint64_t more[2 + 2 * PERFCTR_RING_MAX_DEPTH];
	} s = { .more = { cycles, instructions } };
	unsigned int n = 2;

	if (kernel)
		s.more[n++] = kernel;
	s.more[n++] = ip;
	while (callers && *callers && n < 2 + PERFCTR_RING_MAX_DEPTH)
		s.more[n++] = *callers++;
	s.sample.record = header(PERFCTR_RECORD_SAMPLE, sizeof(s.sample) + (size_t)n * 8, pid, tid);
	s.sample.record.flags = kernel ? PERFCTR_RECORD_KERNEL : 0;
	s.sample.ip = kernel ? kernel : ip;
	s.sample.overflown = 1;
	s.sample.nrctrs = 2;
	s.sample.kernel_depth = kernel != 0;
	s.sample.user_depth = (uint16_t)(n - 2 - s.sample.kernel_depth);
	s.sample.clock = cycles / 10;
	kit_raw(&s, s.sample.record.size);
}

void kit_sample(int pid, int tid, uint64_t cycles, uint64_t instructions, uint64_t ip,
		const uint64_t *callers)
{
	sample(pid, tid, cycles, instructions, 0, ip, callers);
}

void kit_kernel_sample(int pid, int tid, uint64_t cycles, uint64_t instructions, uint64_t ip,
		       uint64_t user)
{
	sample(pid, tid, cycles, instructions, ip, user, NULL);
}

const char *kit_end(uint64_t lost, size_t *size)
{
	FILE *f;
	long n;

	must(!recfile_finish(file, lost), "recfile_finish");
	f = fopen(path, "re");
	must(f && !fseek(f, 0, SEEK_END), path);
	n = ftell(f);
	must(n > 0 && !fseek(f, 0, SEEK_SET), path);
	/* So large that a sanitizer sees each byte too many that is read */
	bytes = malloc((size_t)n);
	must(bytes && fread(bytes, 1, (size_t)n, f) == (size_t)n, path);
	fclose(f);
	must(!unlink(path) && !rmdir(dir), path);
	*size = (size_t)n;
	return bytes;
}

struct kit_report *kit_read(const void *data, size_t size, const char **error)
{
	static char kept[sizeof(((struct reader *)0)->error)];
	struct kit_report *report = calloc(1, sizeof(*report));
	/* fmemopen() has no file of no bytes. */
	FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "r") : fopen("/dev/null", "re");
	const struct perfctr_record *record;
	enum reader_status status;

	must(report && f, "fmemopen");
	status = reader_open(&report->reader, f, "rec");
	if (status != READER_REFUSED) {
		profile_init(&report->profile, &report->reader);
		while ((status = reader_next(&report->reader, &record)) == READER_RECORD)
			profile_add(&report->profile, record);
	}
	fclose(f);
	if (status == READER_END)
		return report;
	memcpy(kept, report->reader.error, sizeof(kept));
	*error = kept;
	profile_free(&report->profile);
	reader_close(&report->reader);
	free(report);
	return NULL;
}

static void forget_symbols(struct kit_report *report)
{
	if (report->symbols.profile) {
		stacks_free(&report->stacks);
		symbols_free(&report->symbols);
	}
}

void kit_symbolize(struct kit_report *report, const struct symbols_how *how)
{
	forget_symbols(report);
	symbols_init(&report->symbols, &report->profile, how);
	stacks_make(&report->stacks, &report->symbols);
}

struct kit_report *kit_report(uint64_t lost, const struct symbols_how *how)
{
	const char *error = "", *file;
	struct kit_report *report;
	size_t size;

	file = kit_end(lost, &size);
	report = kit_read(file, size, &error);
	must(report != NULL, error);
	kit_symbolize(report, how);
	return report;
}

void kit_free(struct kit_report *report)
{
	forget_symbols(report);
	profile_free(&report->profile);
	reader_close(&report->reader);
	free(report);
}

bool kit_is_plain(const char *text)
{
	const unsigned char *u = (const unsigned char *)text;

	for (; *u; u++)
		if ((*u < 0x20 && *u != '\n' && *u != '\t') || *u == 0x7f || *u == 0x9b)
			return false;
	return true;
}

char *kit_folded(struct kit_report *report, unsigned int column)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	must(f != NULL, "open_memstream");
	print_folded(f, &report->stacks, column);
	fclose(f);
	return text;
}

char *kit_svg(struct kit_report *report, unsigned int column)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	must(f != NULL, "open_memstream");
	print_svg(f, &report->stacks, column);
	fclose(f);
	return text;
}

char *kit_table(struct kit_report *report, const struct table_how *how, bool json)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	must(f != NULL, "open_memstream");
	if (json)
		json_table(f, &report->symbols, &report->stacks, how);
	else
		print_table(f, &report->symbols, &report->stacks, how);
	fclose(f);
	return text;
}
