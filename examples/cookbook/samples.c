// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Takes a sample of a thread's place and counters after each 100000 instructions. The kernel writes
 * the samples to a ring. A second thread sleeps in poll() until there are some, and reads them.
 */
#include <err.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>

#include <libperfctr.h>

#define PAGES	8
#define PERIOD	100000
#define TURNS	5000000ul

static void *reader(void *arg)
{
	struct pollfd handle = { .fd = vperfctr_fd(arg), .events = POLLIN };
	struct vperfctr_ring *ring = vperfctr_ring_map(handle.fd, PAGES);
	const struct perfctr_record *record;
	unsigned long long samples = 0, last = 0;

	if (!ring)
		err(1, "the ring");
	do {
		if (poll(&handle, 1, -1) < 0)
			err(1, "poll");
		while ((record = vperfctr_ring_next(ring))) {
			if (record->type != PERFCTR_RECORD_SAMPLE)
				continue;
			samples++;
			last = ((const struct perfctr_record_sample *)record)->value[0];
		}
	} while (!(handle.revents & POLLHUP)); /* as long as somebody writes */
	printf("%llu samples, %llu lost, the last after %llu instructions\n", samples,
	       vperfctr_ring_lost(ring), last);
	vperfctr_ring_unmap(ring);
	return NULL;
}

int main(void)
{
	struct perfctr_control control = {
		PERFCTR_CONTROL_INIT, .flags = PERFCTR_CONTROL_RECORD, .tsc_on = 1, .nrictrs = 1,
	};
	struct perfctr_ring ring = { .pages = PAGES, .wakeup = 10 };
	struct vperfctr *v = vperfctr_open();
	unsigned long turns = TURNS;
	struct perfctr_info info;
	pthread_t thread;

	if (!v || vperfctr_info(v, &info) < 0 || vperfctr_make_ring(v, &ring) < 0)
		err(1, "%s", PERFCTR_DEVICE);
	if (perfctr_event_parse(info.cpu_type, "instructions:u", &control.ctr[0]) < 0)
		err(1, "instructions:u");
	control.ctr[0].ireset = -PERIOD;
	if (vperfctr_control_native(v, &control) < 0)
		err(1, "cannot count: %s", perfctr_reason_name(control.reason));
	if (pthread_create(&thread, NULL, reader, v))
		errx(1, "there is no second thread");

	do
		__asm__ volatile ("" : "+r" (turns));
	while (--turns);

	vperfctr_stop(v);
	pthread_join(thread, NULL);
	vperfctr_close(v);
	return 0;
}
