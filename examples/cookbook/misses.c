// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Measures how often code misses the cache in a thousand instructions, or causes any other event
 * that the processor counts.
 *
 *	misses [EVENT]		such as dTLB-load-misses; perfex --list has all names
 */
#include <err.h>
#include <stdio.h>

#include <libperfctr.h>

#define SIZE	(16ul * 1024 * 1024)
#define STRIDE	4096

/* Loads from each page of memory that was not used before. */
static void work(void)
{
	static volatile char bytes[SIZE];
	unsigned long i;

	for (i = 0; i < SIZE; i += STRIDE)
		(void)bytes[i];
}

int main(int argc, char **argv)
{
	const char *event = argc > 1 ? argv[1] : "cache-misses";
	struct vperfctr_meter *meter;
	struct perfctr_sum_ctrs sum;
	char events[200];
	int error;

	if (snprintf(events, sizeof(events), "instructions,%s", event) >= (int)sizeof(events))
		errx(1, "the name of the event is too long");
	error = vperfctr_meter_open(&meter, events, VPERFCTR_METER_NET);
	if (error)
		errx(1, "%s", vperfctr_strerror(meter, error));
	vperfctr_meter_begin(meter, &sum);
	work();
	error = vperfctr_meter_end(meter, &sum);
	if (error)
		errx(1, "%s", vperfctr_strerror(meter, error));
	printf("%llu instructions, %llu %s: %.3f in a thousand\n", sum.pmc[0], sum.pmc[1], event,
	       1000.0 * (double)sum.pmc[1] / (double)sum.pmc[0]);
	vperfctr_meter_close(meter);
	return 0;
}
