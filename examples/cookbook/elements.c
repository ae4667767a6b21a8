// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Measures how many cycles a loop takes for each element. The first run fills caches and TLBs, and
 * other runs may be interrupted, so the result is the least of ten runs.
 */
#include <err.h>
#include <stdio.h>

#include <libperfctr.h>

#define ELEMENTS	4096
#define RUNS		10

struct element {
	struct element *next;
};

static void walk(const struct element *e)
{
	for (; e; e = e->next)
		__asm__ volatile ("" : : "r" (e));
}

int main(void)
{
	static struct element list[ELEMENTS];
	unsigned long long cycles[RUNS], least = ~0ULL;
	struct vperfctr_meter *meter;
	struct perfctr_sum_ctrs region;
	int error, i;

	for (i = 1; i < ELEMENTS; i++)
		list[i - 1].next = &list[i];
	error = vperfctr_meter_open(&meter, "cycles", VPERFCTR_METER_NET);
	for (i = 0; i < RUNS && !error; i++) {
		vperfctr_meter_begin(meter, &region);
		walk(list);
		error = vperfctr_meter_end(meter, &region);
		cycles[i] = region.pmc[0];
		if (cycles[i] < least)
			least = cycles[i];
	}
	if (error)
		errx(1, "%s", vperfctr_strerror(meter, error));
	printf("%.2f cycles for each of %d elements; the first run: %.2f\n",
	       (double)least / ELEMENTS, ELEMENTS, (double)cycles[0] / ELEMENTS);
	vperfctr_meter_close(meter);
	return 0;
}
