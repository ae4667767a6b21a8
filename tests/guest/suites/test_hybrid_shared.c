// SPDX-License-Identifier: GPL-2.0
/* Two CPUs of two types, as in test_hybrid.c: through perf, and what perfex says. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/hybrid.h"

/* --- through perf --- */

static struct perfctr_control shared_instructions(void)
{
	struct perfctr_control control = instructions();

	control.source = PERFCTR_SOURCE_SHARED;
	return control;
}

/* One sum of what is executed on both types, which perf's own event of a thread has not */
START_TEST(one_sum_on_both_types)
{
	struct perfctr_control control = shared_instructions();
	struct perfctr_read before, rd;
	uint64_t between[2];
	int fd = open_self();
	unsigned int i;

	bind_to(BOTH_CPUS);
	set_control(fd, &control);
	exact(fd, NULL, RUNS);
	for (i = 0; i < 2; i++) {
		bind_to(i);
		exact(fd, NULL, RUNS);
		between[i] = 0;
	}
	/* Moving takes the same number of user instructions, there and back. */
	for (i = 0; i < RUNS; i++) {
		ck_ok(try_read(fd, &before));
		bind_to(i & 1);
		body_spin(LOOPS);
		ck_ok(try_read(fd, &rd));
		if (i >= 2)
			ck_assert_uint_eq(rd.sum[0] - before.sum[0], between[i & 1]);
		between[i & 1] = rd.sum[0] - before.sum[0];
	}
	ck_assert_uint_eq(between[0], between[1]);
	ck_assert_uint_gt(between[0], BODY_SPIN(LOOPS));
	unlink_self(fd);
}
END_TEST

/* An event that only the first type has by this number: there it counts, elsewhere it does not. */
START_TEST(raw_events_are_of_one_type)
{
	struct perfctr_control control = shared_instructions();
	struct perfctr_read rd;
	int fd = open_self();

	control.ctr[0].flags |= PERFCTR_CTR_PERF;
	control.ctr[0].event = PERF_TYPE_RAW;
	control.ctr[0].config = EV_INSTRUCTIONS;
	bind_to(BOTH_CPUS);
	ck_assert_int_eq(try_control(fd, &control), -EXDEV);
	bind_to(1);
	ck_assert_int_eq(try_control(fd, &control), -EXDEV);
	bind_to(0);
	set_control(fd, &control);
	exact(fd, NULL, RUNS);
	bind_to(1);
	ck_assert_int_eq(try_read(fd, &rd), -EIO);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_LOST);
	unlink_self(fd);
}
END_TEST

/*
 * perfex
 */

#define OUT "/tmp/hybrid.out"
#define ERR "/tmp/hybrid.err"

/* perfex's words are in these files. */
static int shell(const char *command)
{
	char line[512];
	int status;

	(void)snprintf(line, sizeof(line), "%s >" OUT " 2>" ERR, command);
	status = system(line); /* NOLINT(cert-env33-c): the test is its own master */
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void says(const char *path, const char *words)
{
	char text[8192];

	ck_assert_int_ge(read_text(path, text, sizeof(text)), 0);
	ck_assert_msg(strstr(text, words) != NULL, "no \"%s\" in \"%s\"", words, text);
}

static void perfex_tells(void)
{
	char known[64];

	(void)snprintf(known, sizeof(known), "\"count\": %llu",
		       (unsigned long long)KNOWN_LENGTH(KNOWN_LOOPS));
	bind_to(BOTH_CPUS);
	ck_assert_int_eq(shell("perfex --info"), 0);
	says(OUT, "hybrid");
	ck_assert_int_eq(shell("perfex --source native -e instructions:u -- " KNOWN_PATH), 125);
	says(ERR, "the cores of this processor are of several types");
	says(ERR, "taskset -c");
	/* Nor does it run with the default events. */
	ck_assert_int_eq(shell("perfex --source native -- " KNOWN_PATH), 125);
	says(ERR, "taskset -c");

	ck_assert_int_eq(shell("taskset -c 0 perfex --json -e instructions:u -- " KNOWN_PATH), 0);
	says(ERR, known);
	ck_assert_int_eq(shell("taskset -c 1 perfex --json -e instructions:u -- " KNOWN_PATH), 0);
	says(ERR, known);
	ck_assert_int_eq(shell("taskset -c 1 perfex selftest"), 0);
	says(OUT, "exact in 20 of 20 runs");
	/* A program that moves itself */
	ck_assert_int_eq(shell("taskset -c 0 perfex --source native -e instructions:u -- taskset -c 1 " KNOWN_PATH),
			 125);
	says(ERR, "INCOMPLETE");
	says(ERR, "it came to a CPU whose counters could not be had");
	(void)unlink(OUT);
	(void)unlink(ERR);
}

START_TEST(perfex_says_to_bind_it)
{
	perfex_tells();
}
END_TEST

START_TEST(perfex_says_to_bind_it_as_user)
{
	perfex_tells();
}
END_TEST

void hybrid_shared(void)
{
	GUEST_RUN(one_sum_on_both_types, NEED_HYBRID | NEED_SHARED);
	GUEST_RUN(one_sum_on_both_types, NEED_HYBRID | NEED_SHARED | AS_USER);
	GUEST_RUN(raw_events_are_of_one_type, NEED_HYBRID | NEED_SHARED);
	GUEST_RUN(perfex_says_to_bind_it, NEED_HYBRID);
	GUEST_RUN(perfex_says_to_bind_it_as_user, NEED_HYBRID | AS_USER);
}
