// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tells what a piece of code costs. Where counters cannot be used, it tells why, and the time that
 * the code takes.
 *
 *	cc -O2 -o first first.c $(pkg-config --cflags --libs libperfctr)
 */
#include <err.h>
#include <stdio.h>

#include <libperfctr.h>

static void work(void)
{
	unsigned int i;

	for (i = 0; i < 1000; i++)
		__asm__ volatile ("" : : "r" (i));
}

int main(void)
{
	struct vperfctr_meter *meter;
	struct perfctr_sum_ctrs sum;
	unsigned int i;
	int error;

	error = vperfctr_meter_open(&meter, "instructions,cycles", VPERFCTR_METER_NET);
	if (error) {
		warnx("%s", vperfctr_strerror(meter, error));
		vperfctr_meter_close(meter);
		if (vperfctr_meter_open(&meter, NULL, VPERFCTR_METER_NET))
			return 1;
	}

	vperfctr_meter_begin(meter, &sum);
	work();
	error = vperfctr_meter_end(meter, &sum);
	if (error)
		errx(1, "%s", vperfctr_strerror(meter, error));

	printf("%.9f s", vperfctr_meter_seconds(meter, sum.tsc));
	for (i = 0; i < vperfctr_meter_events(meter); i++)
		printf(", %llu %s", sum.pmc[i], vperfctr_meter_name(meter, i));
	printf("\n");
	vperfctr_meter_close(meter);
	return 0;
}
