/* SPDX-License-Identifier: GPL-2.0 */
/* global - what all processors do, whoever runs there */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "old/old.h"

static struct gperfctr *gperfctr;

/* On the processor that we run on, which is 0 */
static unsigned long long count(unsigned long n)
{
	struct gperfctr_cpu_state before, after;

	before.cpu = 0;
	after.cpu = 0;
	if (gperfctr_read(gperfctr, &before) < 0)
		fail("gperfctr_read");
	body_spin(n);
	if (gperfctr_read(gperfctr, &after) < 0)
		fail("gperfctr_read");
	return after.sum.pmc[0] - before.sum.pmc[0];
}

int main(void)
{
	struct gperfctr_cpu_control control;
	struct gperfctr_cpu_state state;
	struct perfctr_cpus_info *cpus;
	struct perfctr_info info;
	unsigned cpu, ncpus = 0;
	int i, started;

	gperfctr = gperfctr_open();
	if (!gperfctr)
		fail("gperfctr_open");
	cpus = gperfctr_cpus_info(gperfctr);
	if (!cpus || gperfctr_info(gperfctr, &info) < 0)
		fail("gperfctr_info");
	memset(&control, 0, sizeof(control));
	control.cpu_control.tsc_on = 1;
	control.cpu_control.nractrs = 1;
	if (set_instructions(info.cpu_type, &control.cpu_control, 0, 0) < 0)
		return NOT_SUPPORTED;
	for (cpu = 0; cpu < cpus->cpus->nrwords * 32; cpu++) {
		if (!(cpus->cpus->mask[cpu / 32] & (1U << (cpu % 32))))
			continue;
		control.cpu = cpu;
		if (gperfctr_control(gperfctr, &control) < 0)
			fail("gperfctr_control");
		ncpus++;
	}
	started = gperfctr_start(gperfctr, 10000);
	if (started < 0)
		fail("gperfctr_start");
	printf("cpus %u\nstarted %d\n", ncpus, started);
	for (i = 0; i < 20; i++)
		printf("instructions %llu\n", count(many) - count(one));
	if (gperfctr_stop(gperfctr) < 0)
		fail("gperfctr_stop");
	for (cpu = 0; cpu < cpus->cpus->nrwords * 32; cpu++) {
		if (!(cpus->cpus->mask[cpu / 32] & (1U << (cpu % 32))))
			continue;
		state.cpu = cpu;
		if (gperfctr_read(gperfctr, &state) < 0)
			fail("gperfctr_read");
		printf("tsc %llu\ncounters %u\n", state.sum.tsc, state.cpu_control.nractrs);
	}
	free(cpus);
	gperfctr_close(gperfctr);
	return 0;
}
