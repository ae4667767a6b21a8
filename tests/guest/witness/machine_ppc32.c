// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the machine itself: what its counters count by Linux's own driver, which knows the 745x
 * alone. Each comparison is also printed as a row of a table. What that driver does not use, and
 * the other processors, tests/machines/ppc32/rules.c checks.
 *
 * Two reads of a perf event are two equal system calls, which count the same around any body:
 * the count of the empty body is subtracted.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"

/* perf's raw events: the number of a counter, and a select */
#define PMC(n, event)		((n) << 8 | (event))
#define CYCLES			0x01u
#define INSTRUCTIONS		0x02u
#define BRANCHES		PMC(1u, 0x22u)

static void row(const char *what, const char *event, uint64_t expected, uint64_t counted)
{
	printf("| %s | %s | %" PRIu64 " | %" PRIu64 " |\n", what, event, expected, counted);
	(void)fflush(stdout);
	ck_assert_msg(counted == expected, "%s, %s: %" PRIu64 " instead of %" PRIu64,
		      what, event, counted, expected);
}

static int raw_open(uint64_t config, int group)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_RAW, .config = config,
		.exclude_kernel = true, .exclude_hv = true, .pinned = group < 0,
	};
	int fd = perf_open(&attr, 0, -1, group);

	ck_assert_msg(fd >= 0, "perf_event_open(%#" PRIx64 "): %s", config, strerror(errno));
	return fd;
}

body_fn body_empty, body_trap, body_illegal;

__asm__(".text\n"
	"body_empty:\n"
	"	blr\n"
	"body_trap:\n"
	"1:	trap\n"				/* never */
	"	addic.	3, 3, -1\n"		/* n times 1 */
	"	bne	1b\n"			/* n times 2 */
	"	blr\n"				/* 1 */
	"body_illegal:\n"
	"1:	.long	0\n"			/* never */
	"	addic.	3, 3, -1\n"		/* n times 1 */
	"	bne	1b\n"			/* n times 2 */
	"	blr\n"				/* 1 */
	);

#define BODY_TRAP(n)		(1 + 2 * (uint64_t)(n))

static uint64_t measure_fd(int fd, body_fn *body, unsigned long arg)
{
	uint64_t words[2] = { 0, 0 };

	ck_assert_int_eq(exact_read(fd, words, sizeof(words[0]), body, arg), sizeof(words[0]));
	return words[1] - words[0];
}

/* What the event counts of the body, without its return */
static uint64_t measure(uint64_t event, body_fn *body, unsigned long arg)
{
	int fd = raw_open(event, -1);
	uint64_t empty, count;

	(void)measure_fd(fd, body_empty, 0);
	empty = measure_fd(fd, body_empty, 0);
	count = measure_fd(fd, body, arg);
	close(fd);
	return count - empty;
}

START_TEST(loop)
{
	static const char *const names[] = {
		"instructions by PMC1", "instructions by PMC2", "instructions by PMC3",
		"instructions by PMC4",
	};
	unsigned int i;

	row("loop of 1,000,000", "instructions", BODY_SPIN(1000000) - 1,
	    measure(INSTRUCTIONS, body_spin, 1000000));
	row("loop of 1,000,000", "cycles", BODY_SPIN(1000000) - 1,
	    measure(CYCLES, body_spin, 1000000));
	row("loop of 1,000,000", "cycles by PMC5", BODY_SPIN(1000000) - 1,
	    measure(PMC(5, CYCLES), body_spin, 1000000));
	row("loop of 1,000,000", "cycles by PMC6", BODY_SPIN(1000000) - 1,
	    measure(PMC(6, CYCLES), body_spin, 1000000));
	row("loop of 1,000,000", "branches", 1000000, measure(BRANCHES, body_spin, 1000000));
	for (i = 0; i < 4; i++)
		row("loop of 1,000", names[i], BODY_SPIN(1000) - 1,
		    measure(PMC(i + 1, INSTRUCTIONS), body_spin, 1000));
	row("loop of 1,000", "an event that there is not", 0,
	    measure(PMC(4, 0x1f), body_spin, 1000));
}
END_TEST

START_TEST(system_calls)
{
	row("1,000 times sched_yield()", "instructions", BODY_YIELD(1000) - 1,
	    measure(INSTRUCTIONS, body_yield, 1000));
}
END_TEST

START_TEST(page_faults)
{
	struct body_touch_arg arg = { .n = 100 };

	arg.base = mmap(NULL, arg.n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	ck_assert(arg.base != MAP_FAILED);
	row("100 page faults", "instructions", BODY_TOUCH(arg.n) - 1,
	    measure(INSTRUCTIONS, body_touch, (unsigned long)&arg));
	munmap(arg.base, arg.n * 4096);
}
END_TEST

static uint64_t traps;

static void on_trap(int signo, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signo;
	(void)info;
	uc->uc_mcontext.uc_regs->gregs[PT_NIP] += 4;
	traps++;
}

/* What ends in an exception is not counted, whichever it is. */
START_TEST(exceptions)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	uint64_t handler;

	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	handler = measure(INSTRUCTIONS, body_trap, 1) - (BODY_TRAP(1) - 1);
	ck_assert_uint_eq(traps, 1);
	ck_assert_uint_gt(handler, 5);
	ck_assert_uint_lt(handler, 100);
	row("100 times trap", "instructions", BODY_TRAP(100) - 1 + 100 * handler,
	    measure(INSTRUCTIONS, body_trap, 100));
	row("100 illegal instructions", "instructions", BODY_TRAP(100) - 1 + 100 * handler,
	    measure(INSTRUCTIONS, body_illegal, 100));
	ck_assert_uint_eq(traps, 201);
}
END_TEST

/* All six at once, in one group */
START_TEST(together)
{
	static const unsigned int events[] = {
		BRANCHES, PMC(2u, INSTRUCTIONS), PMC(3u, INSTRUCTIONS), PMC(4u, INSTRUCTIONS),
		PMC(5u, CYCLES), PMC(6u, CYCLES),
	};
	int fds[6];
	uint64_t count[6];
	unsigned int i;

	for (i = 0; i < 6; i++)
		fds[i] = raw_open(events[i], i ? fds[0] : -1);
	for (i = 0; i < 6; i++) {
		(void)measure_fd(fds[i], body_empty, 0);
		count[i] = measure_fd(fds[i], body_spin, 100000) -
			   measure_fd(fds[i], body_empty, 0);
	}
	row("loop of 100,000, six at once", "branches", 100000, count[0]);
	for (i = 1; i < 6; i++)
		row("loop of 100,000, six at once", i < 4 ? "instructions" : "cycles",
		    BODY_SPIN(100000) - 1, count[i]);
	for (i = 0; i < 6; i++)
		close(fds[i]);
}
END_TEST

/* Two on one CPU, which exchange their counters at each switch */
START_TEST(switches)
{
	int status, fd;
	pid_t child = fork();

	if (!child) {
		for (;;) {
			fd = raw_open(INSTRUCTIONS, -1);
			body_yield(100);
			close(fd);
		}
	}
	row("1,000 times sched_yield() beside another", "instructions", BODY_YIELD(1000) - 1,
	    measure(INSTRUCTIONS, body_yield, 1000));
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}
END_TEST

#define SAMPLE_PERIOD	100003

START_TEST(samples)
{
	struct perf_sampling sampling;
	uint64_t count;

	ck_assert(perf_sampling_begin(&sampling, PMC(2u, INSTRUCTIONS), SAMPLE_PERIOD));
	body_spin(10 * SAMPLE_PERIOD + 100);
	count = perf_read_one(sampling.fd);
	row("samples of a loop", "instructions, period 100,003", count / SAMPLE_PERIOD,
	    perf_sampling_end(&sampling));
	ck_assert_uint_eq(count / SAMPLE_PERIOD, 20);
}
END_TEST

int main(void)
{
	guest_begin("machine", NULL);
	GUEST_RUN(loop, NEED_PERF);
	GUEST_RUN(system_calls, NEED_PERF);
	GUEST_RUN(page_faults, NEED_PERF);
	GUEST_RUN(exceptions, NEED_PERF);
	GUEST_RUN(together, NEED_PERF);
	GUEST_RUN(switches, NEED_PERF);
	GUEST_RUN(samples, NEED_PERF | NEED_SAMPLES);
	return guest_end();
}
