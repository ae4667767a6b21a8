/* SPDX-License-Identifier: GPL-2.0 */
/* threads - each worker of a numerical code counts its part */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "old/old.h"

#define WORKERS	8

static struct worker {
	pthread_t thread;
	unsigned long n;
	unsigned long long instructions;
	int supported;
} workers[WORKERS];

/* The kernel's reads are as long for each of them, and are not repeated. */
static unsigned long long count(struct vperfctr *self, unsigned long n)
{
	struct perfctr_sum_ctrs before, after;

	if (vperfctr_read_state(self, &before, NULL) < 0)
		fail("vperfctr_read_state");
	body_spin(n);
	if (vperfctr_read_state(self, &after, NULL) < 0)
		fail("vperfctr_read_state");
	return after.pmc[0] - before.pmc[0];
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct vperfctr_control control;
	struct perfctr_info info;
	struct vperfctr *self;

	self = vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL);
	if (!self || vperfctr_info(self, &info) < 0)
		fail("vperfctr_open_mode");
	memset(&control, 0, sizeof(control));
	control.cpu_control.tsc_on = 1;
	control.cpu_control.nractrs = 1;
	w->supported = set_instructions(info.cpu_type, &control.cpu_control, 0, 0) == 0;
	if (w->supported) {
		if (vperfctr_control(self, &control) < 0)
			fail("vperfctr_control");
		w->instructions = count(self, w->n) - count(self, one);
	}
	vperfctr_close(self);
	return NULL;
}

int main(void)
{
	int i;

	for (i = 0; i < WORKERS; i++) {
		workers[i].n = 100000 + i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 1;
	}
	for (i = 0; i < WORKERS; i++) {
		pthread_join(workers[i].thread, NULL);
		if (!workers[i].supported)
			return NOT_SUPPORTED;
		printf("instructions %llu\n", workers[i].instructions);
	}
	return 0;
}
