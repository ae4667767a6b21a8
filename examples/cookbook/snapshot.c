// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads all counters and the clock at one moment, without a system call. Not even a switch to
 * another thread can come between two of them. So ratios of counts are right, however short the code
 * is.
 */
#include <err.h>
#include <stdio.h>

#include <libperfctr.h>

#define TURNS	1000

enum { INSTRUCTIONS, BRANCHES, CYCLES, EVENTS };

int main(void)
{
	struct perfctr_sum_ctrs before, after, sum;
	unsigned long turns = TURNS;
	struct vperfctr_meter *meter;
	const struct vperfctr *v;
	int error;

	error = vperfctr_meter_open(&meter, "instructions,branches,cycles", 0);
	if (error)
		errx(1, "%s", vperfctr_strerror(meter, error));
	v = vperfctr_meter_handle(meter);
	vperfctr_snapshot(v, &before, EVENTS);
	do
		__asm__ volatile ("" : "+r" (turns));
	while (--turns);
	if (vperfctr_snapshot(v, &after, EVENTS) < 0)
		err(1, "a read");

	vperfctr_meter_difference(meter, &before, &after, &sum);
	printf("%llu instructions, %llu branches, %llu cycles, %llu ticks of the clock\n",
	       sum.pmc[INSTRUCTIONS], sum.pmc[BRANCHES], sum.pmc[CYCLES], sum.tsc);
	vperfctr_meter_close(meter);
	return 0;
}
