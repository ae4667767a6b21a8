// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Measures what one call of a function costs: the least of many calls, less the cost of measuring.
 */
#include <err.h>
#include <stdio.h>

#include <libperfctr.h>

#define CALLS	100
#define TURNS	1000

/* Executes two instructions a turn. */
__attribute__((noinline)) static void function(unsigned long turns)
{
	do
		__asm__ volatile ("" : "+r" (turns));
	while (--turns);
}

int main(void)
{
	unsigned long long least = ~0ULL;
	struct vperfctr_meter *meter;
	struct perfctr_sum_ctrs region;
	int error, i;

	error = vperfctr_meter_open(&meter, "instructions", VPERFCTR_METER_NET);
	if (error)
		errx(1, "%s", vperfctr_strerror(meter, error));
	for (i = 0; i < CALLS; i++) {
		vperfctr_meter_begin(meter, &region);
		function(TURNS);
		/* An error stays, so the end fails as well if the beginning has. */
		error = vperfctr_meter_end(meter, &region);
		if (error)
			errx(1, "%s", vperfctr_strerror(meter, error));
		if (region.pmc[0] < least)
			least = region.pmc[0];
	}
	printf("a call: %llu instructions\n", least);
	printf("measuring one: %llu, taken off\n", vperfctr_meter_cost(meter)->pmc[0]);
	vperfctr_meter_close(meter);
	return 0;
}
