// SPDX-License-Identifier: GPL-2.0
/* usage: seeds DIRECTORY: writes files there that the fuzzer begins with, by perfex's writer. */
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"

static void save(const char *dir, const char *name)
{
	char path[4096];
	size_t size;
	const char *file = kit_end(2, &size);
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	if (!f || fwrite(file, 1, size, f) != size || fclose(f)) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

/* A program that makes a thread, and a child that executes another one */
static void record_processes(void)
{
	static const uint64_t callers[] = { 0x12001, 0x1f001, 0x13001, 0 };
	uint64_t i;

	kit_comm(7, 7, "sh", true);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/bin/sh");
	kit_map(7, 0x7fff0000, 0x2000, 0, 0, "[vdso]");
	kit_sample(7, 7, 1000, 100, 0x11000, callers);
	kit_fork(7, 7, 7, 8);
	kit_comm(7, 8, "worker", false);
	kit_sample(7, 8, 1000, 100, 0x11000, callers + 1);
	kit_fork(7, 8, 9, 9);
	kit_sample(9, 9, 1000, 100, 0x12000, callers);
	kit_unmap(9, 0x12000, 0x1000);
	kit_comm(9, 9, "ls", true);
	kit_map(9, 0x10000, 0x10000, 0, 2, "/bin/ls");
	kit_kernel_sample(9, 9, 3000, 300, 0xffffffff81000000, 0x11000);
	kit_lost(2);
	kit_plain(PERFCTR_RECORD_THROTTLED, 9, 9);
	kit_exit(9, 9);
	for (i = 0; i < 8; i++)
		kit_sample(7, 7, 2000 + i * 1000, 500, 0x10000 + i * 0x1800, callers + i % 4);
}

int main(int argc, char **argv)
{
	char *command[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char[]){ "ls" }, NULL };
	struct recfile_about about = kit_about;
	struct {
		struct recfile_build_id id;
		char path[16];
	} id = {
		.id.record = { RECFILE_BUILD_ID, 0, sizeof(id), 0, 7, 7 },
		.id.inode = 1,
		.id.major = 8,
		.id.id_size = 20,
		.path = "/bin/sh",
	};
	struct {
		struct recfile_file file;
		char path[16];
	} file = {
		.file.record = { RECFILE_FILE, 0, sizeof(file), 0, 9, 9 },
		.file.inode = 2,
		.file.major = 8,
		.path = "/bin/ls",
	};
	int i;

	if (argc != 2) {
		fprintf(stderr, "usage: seeds DIRECTORY\n");
		return EXIT_FAILURE;
	}
	kit_begin(&about);
	save(argv[1], "empty");
	about.argv = command;
	about.timer_ns = 1000000;
	kit_begin(&about);
	record_processes();
	kit_raw(&id, sizeof(id));
	kit_raw(&file, sizeof(file));
	save(argv[1], "processes");
	/* Maps over maps */
	kit_begin(&about);
	for (i = 0; i < 40; i++) {
		kit_map(7 + i % 3, 0x10000 + 0x700u * (unsigned int)(i * 7 % 11), 0x3000, 0x1000, 1,
			"/a");
		if (i % 5 == 0)
			kit_fork(7 + i % 3, 7, 7 + (i + 1) % 3, 8);
		if (i % 3 == 0)
			kit_unmap(7, 0x11000 + 0x100u * (unsigned int)i, 0x800);
		kit_sample(7 + i % 3, 7, (uint64_t)i * 10, 1, 0x12345, NULL);
	}
	save(argv[1], "maps");
	/* More counters, whose sums are in no order */
	about.nrctrs = 5;
	for (i = 0; i < 5; i++)
		about.counter[i] = kit_about.counter[i % 2];
	kit_begin(&about);
	for (i = 0; i < 4; i++) {
		uint64_t sample[14] = { 0 };
		struct perfctr_record_sample *s = (void *)sample;

		s->record = (struct perfctr_record){ PERFCTR_RECORD_SAMPLE, 0, sizeof(sample), 5, 7, 7 };
		s->ip = 0x11000;
		s->nrctrs = 5;
		s->user_depth = 2;
		s->value[i] = 1000;
		s->value[5] = 0x11000;
		s->value[6] = 0x12001;
		kit_raw(s, sizeof(sample));
	}
	save(argv[1], "counters");
	/* No counter but the clock */
	about.nrctrs = 0;
	kit_begin(&about);
	kit_comm(7, 7, "sleeper", false);
	save(argv[1], "clock");
	return EXIT_SUCCESS;
}
