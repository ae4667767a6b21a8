// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stops work that takes more than a million instructions. The signal may come anywhere in the work,
 * and its handler jumps out. So the work may take no locks, and allocate nothing.
 *
 *	budget [TURNS]		of a loop with two instructions; the default is 1000000
 */
#include <err.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <libperfctr.h>

#define BUDGET	1000000

static sigjmp_buf too_much;

static void on_limit(int signo)
{
	(void)signo;
	siglongjmp(too_much, 1);
}

static void work(unsigned long turns)
{
	do
		__asm__ volatile ("" : "+r" (turns));
	while (--turns);
}

int main(int argc, char **argv)
{
	static struct vperfctr_meter *meter;
	const struct sigaction action = { .sa_handler = on_limit };
	struct perfctr_sum_ctrs sum;
	int error;

	if (sigaction(SIGUSR1, &action, NULL) < 0)
		err(1, "sigaction");
	if (!sigsetjmp(too_much, 1)) {
		error = vperfctr_meter_open_budget(&meter, "instructions", BUDGET, SIGUSR1);
		if (error)
			errx(1, "%s", vperfctr_strerror(meter, error));
		work(argc > 1 ? strtoul(argv[1], NULL, 0) : BUDGET);
		vperfctr_meter_stop(meter);
		printf("done");
	} else {
		printf("stopped");
	}
	error = vperfctr_meter_read(meter, &sum);
	if (error)
		errx(1, "%s", vperfctr_strerror(meter, error));
	printf(" after %llu instructions\n", sum.pmc[0]);
	vperfctr_meter_close(meter);
	return 0;
}
