// SPDX-License-Identifier: GPL-2.0
/* Checks that each overflow interrupts at once. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "selftest/checks.h"
#include "selftest/loop.h"

#define PERIOD	1000u
/* The test waits so many turns of the loop for an interrupt. */
#define PATIENCE	1000000ul
/*
 * An interrupt is late if the counter has counted more instructions than this since the overflow.
 */
#define LATE	1000u

/* The test of one counter ends after this time. */
#define SECONDS	3.0

static volatile sig_atomic_t came;

static void overflown(int sig)
{
	(void)sig;
	came = 1;
}

/**
 * struct overflows - the overflows of one counter
 * @asked: number of overflows that should happen
 * @lost: number of overflows that did not interrupt
 * @late: number of overflows that interrupted late
 * @least, @most: fewest and most instructions between overflow and interrupt
 */
struct overflows {
	unsigned int asked, lost, late;
	uint64_t least, most;
};

/*
 * Runs the loop until the counter overflows. Returns false if no interrupt comes. After an
 * overflow, the counter stands still until IRESUME starts it again.
 */
static bool wait_for_overflow(uint32_t period)
{
	unsigned long waited;

	spin(period / 2 + LATE);
	for (waited = 0; !came && waited < PATIENCE; waited += LATE)
		spin(LATE);
	return came;
}

static bool overflow_once(const struct counting *c, uint32_t period, struct overflows *o)
{
	struct perfctr_read before, after;
	uint64_t beyond;

	if (_vperfctr_read_native(c->fd, &before) < 0)
		return false;
	came = 0;
	o->asked++;
	if (ioctl(c->fd, PERFCTR_IOC_IRESUME) < 0)
		return false;
	if (!wait_for_overflow(period)) {
		o->lost++;
		return false;
	}
	if (_vperfctr_read_native(c->fd, &after) < 0)
		return false;
	beyond = after.sum[0] - before.sum[0] - period;
	if (o->asked == 1 || beyond < o->least)
		o->least = beyond;
	if (o->asked == 1 || beyond > o->most)
		o->most = beyond;
	o->late += beyond > LATE;
	return true;
}

/*
 * Starts to count instructions in user mode on counter @map. Returns true, or false after printing
 * why not.
 */
static bool start_overflows(struct counting *c, const struct machine *m, uint32_t map,
			    uint32_t period, unsigned int refresh)
{
	c->control = (struct perfctr_control){
		PERFCTR_CONTROL_INIT,
		.source = PERFCTR_SOURCE_NATIVE,
		.nrictrs = 1,
		.si_signo = SIGUSR2,
		.refresh = refresh,
	};
	c->control.ctr[0].ireset = -(int64_t)period;
	(void)perfctr_event_parse(m->info->cpu_type, "instructions:u", &c->control.ctr[0]);
	c->control.ctr[0].map = map;
	c->control.ctr[0].ireset = -(int64_t)period;
	return start_control(c);
}

static void make_overflows(const struct machine *m, uint32_t map, uint32_t period, unsigned int n,
			   const char *what)
{
	struct overflows o = { .asked = 0 };
	struct counting c;
	double end;
	bool first;

	came = 0;
	if (!start_overflows(&c, m, map, period, 0)) {
		tell("%s: not tried: %s", what, why_not_started(&c));
		return;
	}
	/* The first overflow is not measured, as the counter has run since the control. */
	first = wait_for_overflow(period);
	end = now() + SECONDS;
	while (first && o.asked < n && now() < end)
		if (!overflow_once(&c, period, &o))
			break;
	stop(&c);
	if (!first || o.lost) {
		deviates("%s: overflow %u of %u did not interrupt", what, o.asked + !first, n);
		return;
	}
	tell("%s: %u of %u overflows interrupted, %" PRIu64 " to %" PRIu64
	     " instructions beyond, %u late", what, o.asked, n, o.least, o.most, o.late);
	if (!o.asked)
		deviates("%s: %s", what, why_unread(&c));
	if (o.late)
		deviates("%s: %u of %u overflows interrupted more than %u instructions late, up to %" PRIu64,
			 what, o.late, o.asked, LATE, o.most);
}

static void catch_overflows(void (*handler)(int), struct sigaction *before)
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGUSR2, &action, before);
}

/* Returns true if counter @hw counts instructions and can interrupt. */
static bool can_overflow(const struct machine *m, unsigned int hw)
{
	if (!(m->info->counters >> hw & 1))
		return false;
	if (IS_PPC)
		return hw < 4;
	return IS_X86 ? hw <= X86_FIXED : hw > 2;
}

void check_overflows(const struct machine *m)
{
	struct sigaction before;
	unsigned int hw;
	char what[32];

	catch_overflows(overflown, &before);
	for (hw = 0; hw < 64; hw++) {
		if (!can_overflow(m, hw))
			continue;
		(void)snprintf(what, sizeof(what), "counter %u", hw);
		make_overflows(m, hw, PERIOD, m->how->overflows, what);
	}
	sigaction(SIGUSR2, &before, NULL);
}

void check_short_periods(const struct machine *m)
{
	static const uint32_t periods[] = { 1, 2, 31, 127 };
	unsigned int n = m->how->overflows < 100 ? m->how->overflows : 100;
	struct sigaction before;
	char what[32];
	size_t i;

	catch_overflows(overflown, &before);
	for (i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		(void)snprintf(what, sizeof(what), "period %u", periods[i]);
		make_overflows(m, PERFCTR_MAP_ANY, periods[i], n, what);
	}
	sigaction(SIGUSR2, &before, NULL);
}

/*
 * Counts the loop while a counter wraps from its top to zero. SIGUSR2 is ignored, so the program
 * executes nothing for an overflow, and its count must be the same as without overflows.
 */
void check_wrap(const struct machine *m)
{
	const uint32_t period = 100000;
	struct sigaction before;
	struct counting c;
	struct tally t;

	catch_overflows(SIG_IGN, &before);
	if (!start_overflows(&c, m, PERFCTR_MAP_ANY, period, 0x7fffffff)) {
		not_made("%s", why_not_started(&c));
	} else {
		if (!tally(&c, 10, spin, SHORT, LONG, EXPECTED, &t)) {
			deviates("over the top of a counter: %s", why_unread(&c));
		} else {
			tell_tally("over the top 20 times", &t, EXPECTED, NO_SWITCHES);
			/* Each overflow interrupts, which may itself add instructions. */
			if (interrupts_add && t.least > EXPECTED && t.most <= EXPECTED + 50)
				tell("%" PRIu64 " to %" PRIu64 " too many, as interrupts add some",
				     t.least - EXPECTED, t.most - EXPECTED);
			else
				judge_tally("over the top of a counter", &t, EXPECTED);
		}
		stop(&c);
	}
	sigaction(SIGUSR2, &before, NULL);
}
