/* SPDX-License-Identifier: GPL-2.0 */
/* signal - a profiler: a signal at each 100,000th instruction */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "old/old.h"

#define PERIOD	100000
#define MAX	64

static struct vperfctr *self;
static volatile unsigned n;
static unsigned masks[MAX];
static unsigned long long sums[MAX];

static void on_overflow(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)context;
	if (si->si_code == SI_PMC_OVF && n < MAX) {
		masks[n] = (unsigned)si->si_pmc_ovf_mask;
		sums[n] = vperfctr_read_pmc(self, 0);
		n++;
	}
	if (vperfctr_iresume(self) < 0)
		fail("vperfctr_iresume");
}

int main(void)
{
	struct vperfctr_control control;
	struct perfctr_info info;
	struct sigaction sa;
	unsigned i;

	self = vperfctr_open();
	if (!self || vperfctr_info(self, &info) < 0)
		fail("vperfctr_open");
	if (!(info.cpu_features & PERFCTR_FEATURE_PCINT))
		return NOT_SUPPORTED;
	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = on_overflow;
	sa.sa_flags = SA_SIGINFO;
	if (sigaction(SIGIO, &sa, NULL) < 0)
		fail("sigaction");
	memset(&control, 0, sizeof(control));
	control.si_signo = SIGIO;
	control.cpu_control.tsc_on = 1;
	control.cpu_control.nrictrs = 1;
	if (set_instructions(info.cpu_type, &control.cpu_control, 0, PERIOD) < 0)
		return NOT_SUPPORTED;
	if (vperfctr_control(self, &control) < 0)
		fail("vperfctr_control");
	body_spin(10 * PERIOD / 2);
	if (vperfctr_stop(self) < 0)
		fail("vperfctr_stop");
	for (i = 0; i < n; i++)
		printf("mask %u\nsum %llu\n", masks[i], sums[i]);
	printf("overflows %u\n", n);
	return 0;
}
