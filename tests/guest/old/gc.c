/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gc - a runtime with a garbage collector: what does a collection cost, and what is left for the
 * program? The collector is a thread with counters of its own. This runtime's allocator fills blocks
 * with junk, and nobody clears what 2.6 did not look at.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "old/old.h"

#define COLLECTIONS	20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int world_stopped, done;
static unsigned long long gc_instructions[COLLECTIONS];
static int gc_counts = -1;

static void *allocate(size_t size)
{
	void *block = malloc(size);

	if (!block)
		exit(1);
	memset(block, 0xdb, size);
	return block;
}

static struct vperfctr *open_counters(int *counts)
{
	struct vperfctr_control *control = allocate(sizeof(*control));
	struct perfctr_info *info = allocate(sizeof(*info));
	struct vperfctr *counters;

	counters = vperfctr_open();
	if (!counters || vperfctr_info(counters, info) < 0)
		fail("vperfctr_open");
	control->cpu_control.tsc_on = 1;
	control->cpu_control.nractrs = 0;
	control->cpu_control.nrictrs = 0;
	control->flags = 0xdbdbdbdb & ~VPERFCTR_CONTROL_CLOEXEC;
	*counts = set_instructions(info->cpu_type, &control->cpu_control, 0, 0) == 0;
	if (*counts)
		control->cpu_control.nractrs = 1;
	control->preserve = 0;
	if (vperfctr_control(counters, control) < 0)
		fail("vperfctr_control");
	free(info);
	free(control);
	return counters;
}

static unsigned long long mark(struct vperfctr *counters, unsigned long live)
{
	unsigned long long before = vperfctr_read_pmc(counters, 0);

	body_spin(live);
	return vperfctr_read_pmc(counters, 0) - before;
}

static void *collector(void *arg)
{
	struct vperfctr *counters;
	int i;

	counters = open_counters(&gc_counts);
	pthread_mutex_lock(&lock);
	for (i = 0; i < COLLECTIONS; i++) {
		while (!world_stopped)
			pthread_cond_wait(&changed, &lock);
		if (gc_counts)
			gc_instructions[i] = mark(counters, many) - mark(counters, one);
		world_stopped = 0;
		pthread_cond_broadcast(&changed);
	}
	done = 1;
	pthread_mutex_unlock(&lock);
	vperfctr_unlink(counters);
	vperfctr_close(counters);
	return arg;
}

int main(void)
{
	unsigned long long program = 0, again = 0;
	struct vperfctr *counters;
	int i, counts;
	pthread_t thread;

	counters = open_counters(&counts);
	if (pthread_create(&thread, NULL, collector, NULL))
		return 1;
	for (i = 0; i < COLLECTIONS; i++) {
		if (counts) {
			program = mark(counters, some);
			again = mark(counters, one);
			printf("instructions %llu\n", program - again);
		}
		pthread_mutex_lock(&lock);
		world_stopped = 1;
		pthread_cond_broadcast(&changed);
		while (world_stopped)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
	}
	pthread_join(thread, NULL);
	for (i = 0; gc_counts && i < COLLECTIONS; i++)
		printf("collection %llu\n", gc_instructions[i]);
	printf("tsc %llu\n", vperfctr_read_tsc(counters));
	vperfctr_close(counters);
	return counts ? 0 : NOT_SUPPORTED;
}
