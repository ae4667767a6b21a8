/* SPDX-License-Identifier: GPL-2.0 */
/*
 * substrate - the part of a performance library that knows perfctr, as PAPI's: what an event set
 * counted is read when it is stopped, a thread's counters are opened once more for each attachment,
 * and stopped as if they were another's.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "old/old.h"

#define NRCTRS	(sizeof(((struct perfctr_sum_ctrs *)0)->pmc) / sizeof(unsigned long long))

static struct vperfctr *self;
static struct vperfctr_control control;
static int counts, bad;

static void expect(int good, const char *what)
{
	if (good)
		return;
	printf("bad: %s: %s\n", what, strerror(errno));
	bad++;
}

/* Reads write all sums, those of nothing as well. */
static int are_zero(const struct perfctr_sum_ctrs *sum, unsigned from)
{
	unsigned i;

	for (i = from; i < NRCTRS; i++)
		if (sum->pmc[i])
			return 0;
	return 1;
}

static void nothing_yet(void)
{
	struct perfctr_sum_ctrs sum;

	memset(&sum, 0xff, sizeof(sum));
	expect(vperfctr_read_ctrs(self, &sum) == 0 && sum.tsc == 0 && are_zero(&sum, 0),
	       "read_ctrs of nothing");
	memset(&sum, 0xff, sizeof(sum));
	expect(vperfctr_read_state(self, &sum, NULL) == 0 && sum.tsc == 0 && are_zero(&sum, 0),
	       "read_state of nothing");
}

/* What an event set counted by the time it is stopped. By each call it is the same. */
static unsigned long long event_set(unsigned preserve, unsigned long n, int by_empty_control)
{
	struct vperfctr_control empty, was;
	struct perfctr_sum_ctrs sum, state;

	memset(&empty, 0, sizeof(empty));
	control.preserve = preserve;
	expect(vperfctr_control(self, &control) == 0, "start");
	body_spin(n);
	if (by_empty_control)
		expect(vperfctr_control(self, &empty) == 0, "empty control");
	else
		expect(vperfctr_stop(self) == 0, "stop");
	expect(vperfctr_is_running(self) == 0, "is_running after a stop");
	memset(&sum, 0xff, sizeof(sum));
	memset(&state, 0xff, sizeof(state));
	expect(vperfctr_read_ctrs(self, &sum) == 0, "read_ctrs after a stop");
	expect(vperfctr_read_state(self, &state, &was) == 0, "read_state after a stop");
	expect(memcmp(&sum, &state, sizeof(sum)) == 0, "the same sums by both");
	expect(sum.tsc > 0 && vperfctr_read_tsc(self) == sum.tsc, "read_tsc after a stop");
	if (counts)
		expect(vperfctr_read_pmc(self, 0) == sum.pmc[0], "read_pmc after a stop");
	expect(are_zero(&sum, counts), "the sums of no counters");
	expect(was.cpu_control.tsc_on == 0 && was.cpu_control.nractrs == 0,
	       "the control after a stop");
	return sum.pmc[0];
}

static void event_sets(void)
{
	struct perfctr_sum_ctrs before, after;
	unsigned long long sum[3];
	int i;

	/* The first one differs: pages are new. */
	for (i = 0; i < 2; i++) {
		sum[0] = event_set(0, one, i);
		sum[1] = event_set(0, many, i);
		if (counts)
			printf("instructions %llu\n", sum[1] - sum[0]);
		sum[0] = event_set(0, one, i);
		sum[1] = event_set(1, one, i);
		sum[2] = event_set(1, many, i);
		if (counts)
			printf("preserved %llu\n", sum[2] - sum[1] - (sum[1] - sum[0]));
	}
	/* The clock's sum goes on from set to set, until one is without. */
	vperfctr_read_ctrs(self, &before);
	event_set(0, one, 0);
	vperfctr_read_ctrs(self, &after);
	expect(after.tsc > before.tsc, "the clock goes on");
}

static void opened_again(void)
{
	struct vperfctr_control clock;
	struct vperfctr *second;

	memset(&clock, 0, sizeof(clock));
	clock.cpu_control.tsc_on = 1;
	clock.flags = VPERFCTR_CONTROL_CLOEXEC;
	expect(vperfctr_control(self, &clock) == 0, "the clock alone");
	second = vperfctr_open();
	if (!second)
		second = vperfctr_open_mode(0);
	if (!second)
		fail("open again");
	expect(vperfctr_control(second, &clock) == 0, "the second controls");
	expect(vperfctr_control(self, &control) == 0, "the first controls");
	expect(vperfctr_stop(second) == 0, "the second stops");
	expect(vperfctr_is_running(self) == 0, "the first is stopped");
	expect(vperfctr_control(second, &control) == 0, "the second controls again");
	vperfctr_close(second);
	expect(vperfctr_is_running(self) == 1, "it counts after the second is closed");
	expect(vperfctr_control(self, &control) == 0, "the first controls again");
	expect(rvperfctr_stop((struct rvperfctr *)self) == 0, "rvperfctr_stop");
	expect(vperfctr_is_running(self) == 0, "it is stopped");
}

/* Some processors cannot do it as often. */
static void a_short_period(const struct perfctr_info *info)
{
	struct vperfctr_control often;

	if (!(info->cpu_features & PERFCTR_FEATURE_PCINT))
		return;
	signal(SIGIO, SIG_IGN);
	memset(&often, 0, sizeof(often));
	often.si_signo = SIGIO;
	often.cpu_control.tsc_on = 1;
	often.cpu_control.nrictrs = 1;
	if (set_instructions(info->cpu_type, &often.cpu_control, 0, 1) < 0)
		return;
	expect(vperfctr_control(self, &often) == 0, "a period of 1");
	set_instructions(info->cpu_type, &often.cpu_control, 0, 25);
	expect(vperfctr_control(self, &often) == 0, "a period of 25");
	often.cpu_control.ireset[0] = 0;
	expect(vperfctr_control(self, &often) < 0, "no period");
	vperfctr_stop(self);
}

#if defined(__x86_64__) || defined(__i386__)

/* By an older name: bits 8 to 11 of its events, and nothing else, are in a word of their own. */
static void family_10h(const struct perfctr_info *info)
{
	struct vperfctr_control wide = control, was;
	struct perfctr_sum_ctrs sum;

	if (info->cpu_type != PERFCTR_X86_AMD_FAM10)
		return;
	wide.preserve = 0;
	wide.cpu_control.evntsel_high[0] = 0x1;
	expect(vperfctr_control(self, &wide) == 0, "evntsel_high");
	expect(vperfctr_read_state(self, &sum, &was) == 0 &&
	       was.cpu_control.evntsel_high[0] == 0x1, "evntsel_high of the control that was read");
	wide.cpu_control.evntsel_high[0] = 0x10;
	expect(vperfctr_control(self, &wide) < 0 && errno == EINVAL, "a reserved bit");
	vperfctr_stop(self);
}

#else

static void family_10h(const struct perfctr_info *info)
{
	(void)info;
}

#endif

int main(void)
{
	struct perfctr_info info;

	self = vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL);
	if (!self || vperfctr_info(self, &info) < 0)
		fail("vperfctr_open_mode");
	control.cpu_control.tsc_on = 1;
	counts = set_instructions(info.cpu_type, &control.cpu_control, 0, 0) == 0;
	if (counts)
		control.cpu_control.nractrs = 1;
	nothing_yet();
	event_sets();
	opened_again();
	a_short_period(&info);
	family_10h(&info);
	expect(vperfctr_unlink(self) == 0, "unlink");
	expect(vperfctr_unlink(self) == 0, "unlink, twice");
	vperfctr_close(self);
	printf("bad %d\n", bad);
	if (bad)
		return 1;
	return counts ? 0 : NOT_SUPPORTED;
}
