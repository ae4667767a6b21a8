/* SPDX-License-Identifier: GPL-2.0 */
/* self - a program counts itself: the first example that everybody copied */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "old/old.h"

static struct vperfctr *self;

static void count(unsigned long n, struct perfctr_sum_ctrs *sum)
{
	struct perfctr_sum_ctrs before, after;

	vperfctr_read_ctrs(self, &before);
	body_spin(n);
	vperfctr_read_ctrs(self, &after);
	sum->tsc = after.tsc - before.tsc;
	sum->pmc[0] = after.pmc[0] - before.pmc[0];
}

int main(void)
{
	struct perfctr_sum_ctrs small, large;
	struct vperfctr_control control;
	struct perfctr_info info;
	int i, counts;

	self = vperfctr_open();
	if (!self)
		fail("vperfctr_open");
	if (vperfctr_info(self, &info) < 0)
		fail("vperfctr_info");
	memset(&control, 0, sizeof(control));
	control.cpu_control.tsc_on = 1;
	counts = set_instructions(info.cpu_type, &control.cpu_control, 0, 0) == 0;
	if (counts)
		control.cpu_control.nractrs = 1;
	if (vperfctr_control(self, &control) < 0)
		fail("vperfctr_control");
	for (i = 0; i < 20; i++) {
		count(one, &small);
		count(many, &large);
		printf("tsc %llu\n", large.tsc);
		if (counts)
			printf("instructions %llu\n", large.pmc[0] - small.pmc[0]);
	}
	vperfctr_close(self);
	return counts ? 0 : NOT_SUPPORTED;
}
