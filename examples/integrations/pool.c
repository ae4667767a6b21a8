// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counts a pool of threads: what each task costs, what each worker has done, and the sum of all. A
 * meter counts the thread that opens it, so each worker opens a meter. All threads may read it.
 */
#include <err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include <libperfctr.h>

#define WORKERS	4
#define TASKS	100
#define TURNS	1000ul

struct worker {
	pthread_t thread;
	struct vperfctr_meter *meter;
	unsigned int tasks;
};

static struct worker worker[WORKERS];
static unsigned long long cost[TASKS];
static atomic_uint next;
static pthread_barrier_t barrier;

/* Executes two instructions a turn. */
__attribute__((noinline)) static void task(unsigned long turns)
{
	do
		__asm__ volatile ("" : "+r" (turns));
	while (--turns);
}

static void *work(void *arg)
{
	struct worker *self = arg;
	struct perfctr_sum_ctrs region;
	unsigned int i;
	int error;

	error = vperfctr_meter_open(&self->meter, "instructions", VPERFCTR_METER_NET);
	if (error)
		errx(1, "%s", vperfctr_strerror(self->meter, error));
	while ((i = atomic_fetch_add(&next, 1)) < TASKS) {
		vperfctr_meter_begin(self->meter, &region);
		task(TURNS * (i + 1));
		error = vperfctr_meter_end(self->meter, &region);
		if (error)
			errx(1, "%s", vperfctr_strerror(self->meter, error));
		cost[i] = region.pmc[0];
		self->tasks++;
	}
	pthread_barrier_wait(&barrier);	/* all tasks are done */
	pthread_barrier_wait(&barrier);	/* the meters have been read */
	vperfctr_meter_close(self->meter);
	return NULL;
}

int main(void)
{
	unsigned long long sum = 0, total = 0;
	struct perfctr_sum_ctrs now;
	unsigned int i, tasks = 0;

	pthread_barrier_init(&barrier, NULL, WORKERS + 1);
	for (i = 0; i < WORKERS; i++)
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i]))
			errx(1, "no more threads");
	pthread_barrier_wait(&barrier);
	for (i = 0; i < WORKERS; i++) {
		/* Another thread's meter: by a system call */
		if (vperfctr_meter_read(worker[i].meter, &now))
			errx(1, "worker %u cannot be read", i);
		printf("worker %u: %u tasks, %llu instructions\n", i, worker[i].tasks, now.pmc[0]);
		tasks += worker[i].tasks;
		total += now.pmc[0];
	}
	pthread_barrier_wait(&barrier);
	for (i = 0; i < WORKERS; i++)
		pthread_join(worker[i].thread, NULL);
	for (i = 0; i < TASKS; i++)
		sum += cost[i];
	printf("the first task: %llu, the last: %llu\n", cost[0], cost[TASKS - 1]);
	printf("%u tasks: %llu instructions, workers: %llu\n", tasks, sum, total);
	return 0;
}
