// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counts a whole process: the calling thread, and all threads and processes that it makes from then
 * on. The code of these needs no change. The thread pool of a library is counted, too, if the library
 * makes it afterwards.
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include <libperfctr.h>

#define THREADS	4

static void *work(void *arg)
{
	unsigned long turns = *(const unsigned long *)arg;

	do
		__asm__ volatile ("" : "+r" (turns));
	while (--turns);
	return NULL;
}

/* Counts the caller and its descendants. */
static struct vperfctr *count_all(void)
{
	struct perfctr_control control = {
		PERFCTR_CONTROL_INIT,
		.flags = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP,
		.source = PERFCTR_SOURCE_ANY,
		.tsc_on = 1,
		.nractrs = 1,
	};
	struct vperfctr *v = vperfctr_open();
	struct perfctr_info info;

	if (!v || vperfctr_info(v, &info) < 0)
		err(1, "%s", PERFCTR_DEVICE);
	if (perfctr_event_parse(info.cpu_type, "instructions:u", &control.ctr[0]) < 0 ||
	    vperfctr_control_native(v, &control) < 0)
		err(1, "cannot count: %s", perfctr_reason_name(control.reason));
	return v;
}

int main(void)
{
	static const unsigned long turns[THREADS] = { 1000000, 2000000, 3000000, 4000000 };
	struct vperfctr *v = count_all();
	struct perfctr_member member = { .cursor = 0 };
	struct perfctr_read_tree sums;
	pthread_t thread[THREADS];
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)&turns[i]))
			errx(1, "no more threads");
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);

	if (vperfctr_read_tree(v, PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE, &sums) < 0)
		err(1, "not all was counted: %s", perfctr_error_name(sums.error));
	printf("all: %llu instructions in %llu threads\n", sums.sum[0], 1 + sums.ended + sums.live);
	/* One by one: by KEEP also those that have ended */
	while (!vperfctr_next_member(v, &member))
		printf("%s: %llu instructions\n", member.comm, member.sum[0]);
	if (errno != ENOENT)
		err(1, "the next thread");
	vperfctr_close(v);
	return 0;
}
