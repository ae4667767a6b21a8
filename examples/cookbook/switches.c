// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds out if a region of code was disturbed. The kernel counts context switches, migrations to
 * another CPU and page faults of each thread that counts. A region with any of these is measured
 * again.
 */
#include <err.h>
#include <stdio.h>
#include <unistd.h>

#include <libperfctr.h>

#define TRIES	100

static struct vperfctr_meter *meter;

static void work(void)
{
	unsigned long turns = 100000;

	do
		__asm__ volatile ("" : "+r" (turns));
	while (--turns);
}

static void nap(void)
{
	usleep(1000);
}

static struct perfctr_soft disturbances(void)
{
	struct perfctr_read now;

	if (vperfctr_read_native(vperfctr_meter_handle(meter), &now) < 0)
		err(1, "a read");
	return now.soft;
}

/* Measures a region and prints its disturbances. Returns true if there were none. */
static int measure(const char *name, void (*region)(void))
{
	struct perfctr_soft from = disturbances(), to;
	struct perfctr_sum_ctrs sum;
	int error;

	vperfctr_meter_begin(meter, &sum);
	region();
	error = vperfctr_meter_end(meter, &sum);
	to = disturbances();
	if (error)
		errx(1, "%s", vperfctr_strerror(meter, error));
	printf("%s: %llu cycles, %llu switches, %llu migrations, %llu page faults\n", name, sum.pmc[0],
	       to.switches - from.switches, to.migrations - from.migrations,
	       to.minor_faults - from.minor_faults + to.major_faults - from.major_faults);
	return to.switches == from.switches && to.migrations == from.migrations &&
	       to.minor_faults == from.minor_faults && to.major_faults == from.major_faults;
}

int main(void)
{
	int error = vperfctr_meter_open(&meter, "cycles", VPERFCTR_METER_NET), i;

	if (error)
		errx(1, "%s", vperfctr_strerror(meter, error));
	for (i = 0; i < TRIES && !measure("work", work); i++)
		;
	printf(i < TRIES ? "that one was undisturbed\n" : "none was undisturbed\n");
	measure("nap", nap);
	vperfctr_meter_close(meter);
	return 0;
}
