// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tells what a loop costs. Counts instructions and cycles of the calling thread in user mode, with
 * inline reads before and after the loop, which runs ten times.
 *
 *	cc -O2 -o loop loop.c $(pkg-config --cflags --libs libperfctr)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libperfctr.h>

#define RUNS	10
#define SIZE	4096

enum { INSTRUCTIONS, CYCLES, EVENTS };

static const char *const names[EVENTS] = { "instructions:u", "cycles:u" };

/* Starts counters of the events by their names, which are the same on all processors. */
static int program(const struct vperfctr *v)
{
	struct perfctr_control control = { .tsc_on = 1, .nractrs = EVENTS };
	struct perfctr_info info;
	int i;

	if (vperfctr_info(v, &info) < 0)
		return -1;
	for (i = 0; i < EVENTS; i++)
		if (perfctr_event_parse(info.cpu_type, names[i], &control.ctr[i]) < 0)
			return -1;
	return vperfctr_control_native(v, &control);
}

int main(void)
{
	static volatile unsigned char bytes[SIZE];
	struct perfctr_sum_ctrs before, after;
	struct vperfctr *v;
	int i, j;

	v = vperfctr_open();
	if (!v) {
		fprintf(stderr, PERFCTR_DEVICE ": %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	if (program(v) < 0) {
		fprintf(stderr, "cannot count: %s\n", strerror(errno));
		vperfctr_close(v);
		return EXIT_FAILURE;
	}

	for (i = 0; i < RUNS; i++) {
		vperfctr_snapshot(v, &before, EVENTS);
		for (j = 0; j < SIZE; j++)
			bytes[j]++;
		vperfctr_snapshot(v, &after, EVENTS);
		printf("run %d: %llu instructions, %llu cycles\n", i,
		       after.pmc[INSTRUCTIONS] - before.pmc[INSTRUCTIONS],
		       after.pmc[CYCLES] - before.pmc[CYCLES]);
	}
	vperfctr_close(v);
	return EXIT_SUCCESS;
}
