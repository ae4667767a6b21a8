// SPDX-License-Identifier: GPL-2.0
/* Counters of CPUs by libperfctr, and perfex -a. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <libperfctr.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/cpus.h"

/*
 * The library, and perfex
 */

/* Instructions in user mode, as perfctr 2.6 has it */
static void compat_control(struct gperfctr_cpu_control *control, unsigned int cpu)
{
	struct vperfctr_control own = { .si_signo = 0 };

	own.cpu_control.tsc_on = 1;
	own.cpu_control.nractrs = 1;
	own.cpu_control.pmc_map[0] = PERFCTR_MAP_ANY;
	OLD_EVENT(&own.cpu_control, 0, EV_INSTRUCTIONS);
	USER_MODE(&own);
	*control = (struct gperfctr_cpu_control){ .cpu = cpu, .cpu_control = own.cpu_control };
}

START_TEST(library)
{
	struct gperfctr_cpu_control control;
	struct gperfctr_cpu_state state, later;
	struct perfctr_control native;
	struct perfctr_cpus_info *cpus;
	struct perfctr_info info;
	struct gperfctr *g = gperfctr_open(), *other;

	ck_assert_ptr_nonnull(g);
	ck_ok(gperfctr_info(g, &info));
	ck_assert_uint_eq(info.cpu_type, guest.info.cpu_type);
	ck_assert_ptr_nonnull(cpus = gperfctr_cpus_info(g));
	free(cpus);
	ck_errno(gperfctr_start(g, 9999), EINVAL);
	be_alone_on(0);
	compat_control(&control, NO_CPU);
	ck_errno(gperfctr_control(g, &control), EINVAL);
	compat_control(&control, 0);
	ck_ok(gperfctr_control(g, &control));
	ck_assert_int_eq(gperfctr_start(g, 10000), 1);
	ck_errno(gperfctr_start(g, 10000), EBUSY);
	ck_errno(gperfctr_control(g, &control), EBUSY);
	memset(&state, 0xff, sizeof(state));
	state.cpu = 0;
	later.cpu = 0;
	ck_ok(gperfctr_read(g, &state));
	body_spin(LOOPS);
	ck_ok(gperfctr_read(g, &later));
	ck_assert_uint_ge(later.sum.pmc[0] - state.sum.pmc[0], BODY_SPIN(LOOPS));
	ck_assert_uint_lt(later.sum.pmc[0] - state.sum.pmc[0], BODY_SPIN(LOOPS) + 8000);
	ck_assert_uint_gt(later.sum.tsc, state.sum.tsc);
	ck_assert_uint_eq(later.sum.pmc[1], 0);
	ck_assert_uint_eq(state.cpu_control.tsc_on, 1);
	ck_assert_uint_eq(state.cpu_control.nractrs, 1);
	ck_assert_uint_eq(state.cpu_control.pmc_map[0], control.cpu_control.pmc_map[0]);
	ck_assert_uint_eq(state.cpu_control.evntsel[0], control.cpu_control.evntsel[0]);
	ck_ok(gperfctr_stop(g));
	ck_ok(gperfctr_read(g, &state));
	body_spin(LOOPS);
	ck_ok(gperfctr_read(g, &later));
	ck_assert_uint_eq(later.sum.pmc[0], state.sum.pmc[0]);
	/* A native control in its place */
	cpu_control(&native, 0, PERFCTR_SOURCE_ANY);
	native.flags = 0;
	ck_ok(gperfctr_control_native(g, &native));
	ck_ok(gperfctr_read(g, &state));
	ck_assert_uint_eq(state.sum.pmc[0], 0);
	ck_assert_uint_eq(state.cpu_control.nractrs, 0);
	if (guest.info.cpu_features & PERFCTR_FEATURE_NATIVE) {
		cpu_control(&native, 0, PERFCTR_SOURCE_NATIVE);
		other = gperfctr_open();
		ck_ok(gperfctr_control_native(g, memset(&native, 0, sizeof(native))));
		cpu_control(&native, 0, PERFCTR_SOURCE_NATIVE);
		ck_ok(gperfctr_control_native(other, &native));
		ck_errno(gperfctr_control_native(g, &native), EBUSY);
		ck_assert_int_eq(gperfctr_owner(g), PERFCTR_OWNER_PERFCTR);
		ck_assert_int_eq(gperfctr_reason(g), PERFCTR_REASON_CPUS);
		/* What the library refuses has no owner, whatever was before. */
		memset(&control, 0, sizeof(control));
		control.cpu_control.nractrs = PERFCTR_NRCTRS + 1;
		ck_errno(gperfctr_control(g, &control), EINVAL);
		ck_assert_int_eq(gperfctr_owner(g), PERFCTR_OWNER_NONE);
		ck_assert_int_eq(gperfctr_reason(g), PERFCTR_REASON_NONE);
		gperfctr_close(other);
	}
	/* Nothing to count ends the CPU's part. */
	memset(&control, 0, sizeof(control));
	ck_ok(gperfctr_control(g, &control));
	ck_assert_int_eq(gperfctr_start(g, 10000), 0);
	gperfctr_close(g);
}
END_TEST

START_TEST(library_without_privilege)
{
	ck_assert_ptr_null(gperfctr_open());
	ck_assert_int_eq(errno, EACCES);
}
END_TEST

static char said[16384];

/* Runs a command, and returns how it ended; what it said is in said. */
static int sh(const char *command)
{
	char line[1024];
	size_t n;
	FILE *f;
	int status;

	snprintf(line, sizeof(line), "(%s) 2>&1", command);
	f = popen(line, "r");
	ck_assert_ptr_nonnull(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_says(const char *what)
{
	ck_assert_msg(strstr(said, what) != NULL, "'%s' is not in: %s", what, said);
}

static void expect_fails(const char *command, int status, const char *what)
{
	ck_assert_int_eq(sh(command), status);
	expect_says(what);
}

/* The number behind this text */
static unsigned long long number_after(const char *what)
{
	const char *at = strstr(said, what);

	ck_assert_msg(at != NULL, "'%s' is not in: %s", what, said);
	return strtoull(at + strlen(what), NULL, 10);
}

#define LENGTH KNOWN_LENGTH(KNOWN_LOOPS)
#define KNOWN "/usr/libexec/perfctr/known"

START_TEST(perfex_counts_cpus)
{
	unsigned long long count;

	ck_assert_int_eq(sh("perfex -a -e instructions:u " KNOWN), 0);
	expect_says("Counts of CPUs 0, 1 during '" KNOWN "'");
	expect_says("instructions:u");
	expect_says("of all these CPUs");
	expect_says("seconds user");
	ck_assert_int_eq(sh("perfex -C 1 --json -e instructions:u taskset 2 " KNOWN), 0);
	count = number_after("\"count\": ");
	ck_assert_uint_ge(count, LENGTH);
	expect_says("\"cpus\": [1]");
	expect_says("\"exit_status\": 0");
	ck_assert_int_eq(sh("perfex -C 0-1 --per-cpu --json -e instructions:u taskset 2 " KNOWN), 0);
	expect_says("\"per_cpu\": [{\"cpu\": 0, \"online\": true, \"complete\": true, ");
	count = number_after("{\"cpu\": 1, \"online\": true, \"complete\": true, \"counts\": [");
	ck_assert_uint_ge(count, LENGTH);
	ck_assert_int_eq(sh("perfex -C 1,0 --per-cpu -I 20 -e instructions:u sleep 0.1"), 0);
	expect_says("CPU       instructions:u");
	expect_says("Counts of CPUs 1, 0 during");
	/* The program's status is perfex's. */
	ck_assert_int_eq(sh("perfex -a sh -c 'exit 3'"), 3);
	ck_assert_int_eq(sh("perfex -a /nowhere"), 127);
	ck_assert_int_eq(sh("perfex -a --no-idle " KNOWN), 0);
	expect_says("The idle tasks were left out.");
	ck_assert_int_eq(sh("perfex -a -r 3 --json " KNOWN), 0);
	expect_says("\"runs\": 3");
	/* Without a program, until it is told to end */
	ck_assert_int_eq(sh("perfex -a --json -I 50 -e instructions & sleep 0.3; kill -TERM $!; wait $!"),
			 0);
	expect_says("{\"interval\": ");
	expect_says("{\"cpus\": [0, 1], \"counts\": ");
}
END_TEST

START_TEST(perfex_refuses)
{
	expect_fails("perfex -C 7777 true", 125, "there is no CPU 7777");
	expect_fails("perfex -C 1-0 true", 2, "is no list of CPUs");
	expect_fails("perfex -C x true", 2, "is no list of CPUs");
	expect_fails("perfex -a --self true", 2, "do not go together");
	expect_fails("perfex -a -p 1", 2, "do not go together");
	expect_fails("perfex -a -r 2", 2, "--repeat (-r) needs a program");
	expect_fails("perfex --per-cpu true", 2, "--per-cpu needs --all-cpus (-a) or --cpu (-C)");
	expect_fails("perfex --no-idle true", 2, "--no-idle needs --all-cpus (-a) or --cpu (-C)");
}
END_TEST

START_TEST(perfex_needs_root)
{
	expect_fails("perfex -a true", 125, "which needs root or CAP_PERFMON");
}
END_TEST

void cpus_tools(void)
{
	GUEST_RUN(library, NEED_COUNTERS);
	GUEST_RUN(library_without_privilege, AS_USER);
	GUEST_RUN(perfex_counts_cpus, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(perfex_refuses, NEED_COUNTERS);
	GUEST_RUN(perfex_needs_root, AS_USER);
}
