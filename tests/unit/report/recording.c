// SPDX-License-Identifier: GPL-2.0
/*
 * usage: recording PROGRAM ADDRESS FILE
 *
 * Writes a recording of PROGRAM, which is mapped as a whole, with samples of cycles and cache misses at
 * ADDRESS, an offset in its file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit.h"

#define START	0x10000u

int main(int argc, char **argv)
{
	struct recfile_about about = {
		.counter = {
			{ "cycles", PERFCTR_CTR_USER, 0, 1000 },
			{ "cache-misses", PERFCTR_CTR_USER, 0, 0 },
		},
		.nrctrs = 2,
		.ring_flags = PERFCTR_RING_USER_CHAIN | PERFCTR_RING_MAPS,
		.clock_hz = 1000,
	};
	struct stat st;
	const char *bytes;
	uint64_t address;
	size_t size;
	FILE *f;
	int bad;

	if (argc != 4 || stat(argv[1], &st) < 0) {
		fprintf(stderr, "usage: recording PROGRAM ADDRESS FILE\n");
		return EXIT_FAILURE;
	}
	address = START + strtoull(argv[2], NULL, 0);
	kit_begin(&about);
	kit_map(getpid(), START, (uint64_t)st.st_size, 0, st.st_ino, argv[1]);
	kit_comm(getpid(), getpid(), "compress", false);
	kit_sample(getpid(), getpid(), 1000, 10, address, NULL);
	kit_sample(getpid(), getpid(), 2000, 30, address, NULL);
	bytes = kit_end(0, &size);
	f = fopen(argv[3], "we");
	bad = !f || fwrite(bytes, size, 1, f) != 1;
	if (f && fclose(f))
		bad = 1;
	if (bad)
		perror(argv[3]);
	return bad;
}
