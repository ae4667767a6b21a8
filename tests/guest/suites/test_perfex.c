// SPDX-License-Identifier: GPL-2.0
/* perfex: what it counts. */
#define _GNU_SOURCE
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kit/guest.h"
#include "kit/known.h"
#include "suites/perfex.h"

#define WITNESS		"/usr/bin/witness"
#define NO_COUNT	123

START_TEST(counts_exactly)
{
	known_length();
}
END_TEST

START_TEST(counts_exactly_as_user)
{
	known_length();
}
END_TEST

/* perf on the same machine gives the same number for the same program. */
START_TEST(counts_as_perf_does)
{
	static const char *const programs[] = { KNOWN_PATH, KNOWN_OTHER_PATH };
	char said[256];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		run_command((const char *const[]){ WITNESS, "-o", OUTPUT, "-e", "instructions:u",
						   "--", programs[i], NULL });
		ended_with(0);
		(void)snprintf(said, sizeof(said), "%s", output());
		perfex("-e", "instructions:u", "--json", "-o", OUTPUT, "--", programs[i]);
		ended_with(0);
		ck_assert_uint_eq(count_of(output(), "instructions"), strtoull(said, NULL, 10));
	}
}
END_TEST

START_TEST(counts_several)
{
	perfex("-e", "instructions:u", "-e", "cycles:u,dTLB-load-misses:u",
	       "--event=dTLB-store-misses:u", "--json", "-o", OUTPUT, KNOWN_PATH);
	ended_with(0);
	is_json(output());
	ck_assert_uint_eq(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_eq(count_of(output(), "cycles"), KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_lt(count_of(output(), "dTLB-load-misses"), 1000);
	ck_assert_uint_lt(count_of(output(), "dTLB-store-misses"), 1000);
	ck_assert_uint_gt(strtoull(member(output(), "ticks"), NULL, 10), 0);
}
END_TEST

/* Counting goes on over a second exec: the shell's part is the same for both programs. */
START_TEST(counts_over_a_second_exec)
{
	static const char known[] = "exec " KNOWN_PATH, other[] = "exec " KNOWN_OTHER_PATH;
	uint64_t once;

	perfex("-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c",
	       other);
	ended_with(0);
	once = count_of(output(), "instructions");
	ck_assert_uint_gt(once, KNOWN_LENGTH(KNOWN_OTHER_LOOPS));
	perfex("-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c",
	       known);
	ended_with(0);
	/* The shell executes the same each time, but for the place of its stack. */
	ck_assert_uint_gt(count_of(output(), "instructions") - once,
			  KNOWN_LENGTH(KNOWN_LOOPS) - KNOWN_LENGTH(KNOWN_OTHER_LOOPS) - 2000);
	ck_assert_uint_lt(count_of(output(), "instructions") - once,
			  KNOWN_LENGTH(KNOWN_LOOPS) - KNOWN_LENGTH(KNOWN_OTHER_LOOPS) + 2000);
}
END_TEST

START_TEST(children_are_counted)
{
	static const char once[] = KNOWN_PATH "; exit 0";
	static const char twice[] = KNOWN_PATH "; " KNOWN_PATH "; exit 0";
	uint64_t first;

	perfex("-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c", once);
	ended_with(0);
	first = count_of(output(), "instructions");
	ck_assert_uint_gt(first, KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_eq(strtoull(member(output(), "descendants_ended"), NULL, 10), 1);
	perfex("-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c", twice);
	ended_with(0);
	/* The rest is what the shell does for one more command. */
	ck_assert_uint_gt(count_of(output(), "instructions"), first + KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_lt(count_of(output(), "instructions"),
			  first + KNOWN_LENGTH(KNOWN_LOOPS) + 200000);
}
END_TEST

START_TEST(self_alone)
{
	static const char twice[] = KNOWN_PATH "; " KNOWN_PATH "; exit 0";

	perfex("--self", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c",
	       twice);
	ended_with(0);
	ck_assert_uint_lt(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
}
END_TEST

#define RDCYCLE_PATH "/usr/libexec/perfctr/rdcycle"

/* Without --raw-csr the program dies. */
static void ended_like_a_signal(void)
{
	perfex("-o", OUTPUT, "--", RDCYCLE_PATH);
	ck_assert(WIFSIGNALED(result.status));
	ck_assert_int_eq(WTERMSIG(result.status), SIGILL);
}

/* Every thread with its id, name and counts, which are those of the total. */
START_TEST(per_thread)
{
	static const char command[] = KNOWN_PATH " & " KNOWN_OTHER_PATH " & wait; exit 0";
	uint64_t total, sum = 0;
	unsigned int known = 0, n = 0;
	const char *s;

	perfex("--per-thread", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh",
	       "-c", command);
	ended_with(0);
	is_json(output());
	total = count_of(output(), "instructions");
	for (s = member(output(), "threads"); (s = strstr(s, "\"tid\":")); n++) {
		const char *name = member(s, "name"), *counts = member(s, "counts");
		uint64_t count = strtoull(counts + 1, NULL, 10);

		sum += count;
		known += !strncmp(name, "\"known\"", 7) && count > KNOWN_LENGTH(KNOWN_LOOPS);
		s = counts;
	}
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(known, 1);
	ck_assert_uint_eq(sum, total);
	perfex("--per-thread", "-e", "instructions:u", "--", "/bin/sh", "-c", command);
	ended_with(0);
	says(result.err, "known_other");
	says(result.err, "thread");
}
END_TEST

/* The intervals add up to the whole: the last one ends with the program. */
START_TEST(intervals)
{
	static const char command[] = "for i in 1 2 3 4 5 6 7 8; do " KNOWN_PATH "; sleep 0.03; done";
	uint64_t total, sum = 0;
	unsigned int n = 0, lines;
	const char *s, *end;

	perfex("-I", "20", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c",
	       command);
	ended_with(0);
	lines = are_json_lines(output());
	end = strstr(output(), "\n{\"command\"");
	ck_assert_ptr_nonnull(end);
	for (s = output(); s < end && (s = strstr(s, "\"interval\":")) && s < end; n++) {
		sum += strtoull(member(s, "count"), NULL, 10);
		s++;
	}
	total = count_of(end, "instructions");
	ck_assert_uint_gt(n, 5);
	ck_assert_uint_eq(lines, n + 1);
	ck_assert_uint_eq(sum, total);
	ck_assert_uint_gt(total, 8 * (uint64_t)KNOWN_LENGTH(KNOWN_LOOPS));
	perfex("-I", "20", "-e", "instructions:u", "--", "/bin/sh", "-c", command);
	ended_with(0);
	says(result.err, "seconds on a processor");
	/* If a program ends before the first interval does, all of it is in the last one. */
	perfex("-I", "80000", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	ck_assert_uint_eq(are_json_lines(output()), 2);
	ck_assert_uint_eq(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
}
END_TEST

/* What a member counts after the last interval is in neither the intervals nor the total. */
START_TEST(intervals_with_somebody_left)
{
	static const char command[] =
		"(while [ ! -e " GO " ]; do :; done) & sleep 0.1; exit 0";
	uint64_t sum = 0;
	const char *s, *end;

	perfex("-I", "20", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c",
	       command);
	write_file(GO, "");
	ended_with(0);
	end = strstr(output(), "\n{\"command\"");
	ck_assert_ptr_nonnull(end);
	ck_assert_uint_eq(strtoull(member(end, "descendants_live"), NULL, 10), 1);
	for (s = output(); (s = strstr(s, "\"interval\":")) && s < end; s++)
		sum += strtoull(member(s, "count"), NULL, 10);
	ck_assert_uint_eq(sum, count_of(end, "instructions"));
}
END_TEST

/* The clocks agree: one thread does not use more time than there is. */
START_TEST(no_more_time_than_elapses)
{
	double elapsed, used;

	perfex("-e", "instructions:u", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	elapsed = strtod(member(output(), "elapsed"), NULL);
	/* An event has a member "user" as well, so this one is looked for behind "elapsed". */
	used = strtod(member(member(output(), "elapsed"), "user"), NULL) +
	       strtod(member(output(), "system"), NULL);
	ck_assert_double_gt(used, 0);
	ck_assert_double_le(used, elapsed);
}
END_TEST

START_TEST(raw_csr)
{
	static const char child[] = RDCYCLE_PATH "; exit $?";

	ended_like_a_signal();
	perfex("--raw-csr", "--json", "-o", OUTPUT, "--", RDCYCLE_PATH);
	ended_with(0);
	ck_assert_uint_gt(count_of(output(), "instret"), 0);
	ck_assert_uint_gt(count_of(output(), "cycle"), 0);
	/* But not for a process that it starts. */
	perfex("--raw-csr", "-o", OUTPUT, "--", "/bin/sh", "-c", child);
	ended_with(128 + SIGILL);
}
END_TEST

START_TEST(raw_csr_as_user)
{
	perfex("--raw-csr", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "needs a privilege");
}
END_TEST

/* A daemon runs on: perfex says so, and has counted it so far. */
START_TEST(leaves_somebody_behind)
{
	perfex("-e", "instructions:u", "--", "/bin/sh", "-c", "sleep 1 & exit 0");
	ended_with(0);
	says(result.err, " 1 thread that it started still ran");
}
END_TEST

START_TEST(no_modifier_as_root)
{
	perfex("-e", "instructions", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	ck_assert_uint_gt(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert(!strncmp(member(output(), "user_only"), "false", 5));
	ck_assert(!strncmp(member(output(), "kernel"), "true", 4));
	perfex("-e", "instructions", "--", KNOWN_PATH);
	ended_with(0);
	says(result.err, "user and kernel mode");
	says_not(result.err, "instructions:u");
}
END_TEST

START_TEST(no_modifier_as_user)
{
	perfex("-e", "instructions", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	ck_assert_uint_eq(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert(!strncmp(member(output(), "user_only"), "true", 4));
	ck_assert(!strncmp(member(output(), "kernel"), "false", 5));
	perfex("-e", "instructions", "--", KNOWN_PATH);
	ended_with(0);
	says(result.err, "user mode only");
	says(result.err, "instructions:u");
}
END_TEST

/* The fewest of five runs: what comes beside only adds. */
static uint64_t fewest_instructions(const char *event)
{
	uint64_t least = UINT64_MAX, count;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		perfex("-e", event, "--json", "-o", OUTPUT, "--", KNOWN_PATH);
		ended_with(0);
		count = count_of(output(), "instructions");
		least = count < least ? count : least;
	}
	return least;
}

/* What the kernel executes for the same program twice is about the same. */
START_TEST(kernel_mode)
{
	const uint64_t user = KNOWN_LENGTH(KNOWN_LOOPS);
	uint64_t kernel = fewest_instructions("instructions:k");
	uint64_t both = fewest_instructions("instructions");

	ck_assert_uint_gt(kernel, 0);
	ck_assert_uint_gt(both, kernel + user / 4 * 3);
	ck_assert_uint_lt(both, kernel + user / 4 * 5);
}
END_TEST

START_TEST(without_events)
{
	perfex(KNOWN_PATH);
	ended_with(0);
	says(result.err, "seconds on a processor");
	says(result.err, "seconds elapsed");
	says(result.err, "seconds user");
	says(result.err, "seconds system");
	if (guest.nprogrammable ||
	    (!guest.info.counters && guest.info.cpu_features & PERFCTR_FEATURE_SHARED)) {
		says(result.err, "2,000,032");
		says(result.err, "instructions");
		says(result.err, "cycles");
	} else {
		says(result.err, "nly the clock");
	}
}
END_TEST

/*
 * The kernel's own name: on x86 Skylake's driver has this one, on arm64 each. What arm64's device
 * is called is the kernel's and the firmware's choice.
 */
START_TEST(name_of_the_kernel)
{
	/* libpfm4 has neither. */
	static const char *const names[] = { "topdown-slots-retired", "sw_incr" };
	char pattern[128], event[64];
	unsigned int i;
	glob_t found;
	int there;

	for (i = 0; i < 2; i++) {
		(void)snprintf(pattern, sizeof(pattern),
			       "/sys/bus/event_source/devices/%s/events/%s", i ? "armv8_*" : "cpu",
			       names[i]);
		there = !glob(pattern, 0, NULL, &found);
		if (there)
			globfree(&found);
		(void)snprintf(event, sizeof(event), "%s:u", names[i]);
		perfex("--list");
		ended_with(0);
		ck_assert_int_eq(strstr(result.out, names[i]) != NULL, there);
		perfex("-e", event, "--", "/bin/true");
		ended_with(there ? 0 : FAILED);
		says(result.err, names[i]);
	}
	/* As it is spelt there, and no path */
	perfex("-e", "Sw_Incr:u", "--", "/bin/true");
	ended_with(FAILED);
	perfex("-e", "../type", "--", "/bin/true");
	ended_with(FAILED);
}
END_TEST

/* Names of libpfm4's are those of the processor's manual, and count what perf's count. */
START_TEST(names_of_libpfm4)
{
	uint64_t branches;

	perfex("-e", "branches:u,INST_RETIRED:ANY_P:u,BR_INST_RETIRED:ALL_BRANCHES:u", "--json", "-o", OUTPUT,
	       KNOWN_PATH);
	ended_with(0);
	is_json(output());
	ck_assert_uint_eq(count_of(output(), "INST_RETIRED:ANY_P"), KNOWN_LENGTH(KNOWN_LOOPS));
	branches = count_of(output(), "branches");
	ck_assert_uint_ge(branches, KNOWN_LOOPS);
	ck_assert_uint_eq(count_of(output(), "BR_INST_RETIRED:ALL_BRANCHES"), branches);
	perfex("--list");
	ended_with(0);
	says(result.out, "\nBR_INST_RETIRED:ALL_BRANCHES ");
	if (is_machine("icelake")) {
		/* The first fixed counter's own; so the other has a counter beside it. */
		perfex("-e", "instructions:u,INST_RETIRED:ANY:u", "--json", "-o", OUTPUT, KNOWN_PATH);
		ended_with(0);
		ck_assert_uint_eq(count_of(output(), "INST_RETIRED:ANY"), KNOWN_LENGTH(KNOWN_LOOPS));
		ck_assert_uint_eq(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
	}
	/* Skylake's has a unit that is meant if none is named. */
	perfex("-e", "INST_RETIRED:ANYP:u", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, is_machine("skylake") ? "'ANYP:u' is no modifier, and no unit of this event" :
	     "libpfm4 knows the event INST_RETIRED, but not with what stands behind its name");
	says(result.err, "\nDid you mean INST_RETIRED:ANY");
	/* What cannot be loaded is as if it were not there. */
	ck_ok(mkdir("/tmp/no-libpfm", 0755));
	write_file("/tmp/no-libpfm/libpfm.so.4", "nothing");
	ck_ok(setenv("LD_LIBRARY_PATH", "/tmp/no-libpfm", 1));
	perfex("-e", "INST_RETIRED:ANY_P:u", "--", "/bin/true");
	ck_ok(unsetenv("LD_LIBRARY_PATH"));
	ended_with(FAILED);
	says(result.err, "no event has the name 'INST_RETIRED:ANY_P:u'");
}
END_TEST

static void note_settings(void)
{
	size_t i;

	for (i = 0; i < NR_SETTINGS; i++)
		if (read_text(settings[i].path, settings[i].value, sizeof(settings[i].value)) < 0)
			settings[i].value[0] = '\0';
}

/*
 * vices.sh, `cycles': a filter lets no cycles of an AMD's be counted, and as its trials do not look at them
 * neither source refuses them.
 */
START_TEST(cycles_that_are_not_counted)
{
	static const char *const sources[] = { "native", "shared" };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		/* Without -e it is these two. */
		bare_perfex("--source", sources[i], "--", KNOWN_PATH);
		ended_with(NO_COUNT);
		says(result.err, "       <not counted>  cycles");
		says(result.err, " Instructions or cycles of a program that ran cannot be 0, and so are not counted:\n"
		     " a hypervisor, the firmware or another program may keep the counters from counting.\n");
		bare_perfex("--source", sources[i], "-e", "cycles:u,instructions:u,cycles:k", "--",
			    KNOWN_PATH);
		ended_with(NO_COUNT);
		says(result.err, "       <not counted>  cycles:u\n           2,000,032  instructions:u\n"
		     "                   0  cycles:k\n");
		bare_perfex("--source", sources[i], "-e", "cycles:u,instructions:u", "--json", "-o", OUTPUT,
			    "--", KNOWN_PATH);
		ended_with(NO_COUNT);
		is_json(output());
		says(output(), "{\"event\": \"cycles\", \"user\": true, \"kernel\": false, \"count\": null}");
		ck_assert_uint_eq(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
		ck_assert(!strncmp(member(output(), "complete"), "true", 4));
		ck_assert(!strncmp(member(output(), "not_counted_because"), "\"a hypervisor", 13));
		bare_perfex("--source", sources[i], "-e", "cycles:u", "--csv", "-o", OUTPUT, "--", KNOWN_PATH);
		ended_with(NO_COUNT);
		says(output(), ",,cycles,u,,\n");
		says(result.err, "cannot be 0, and so are not counted");
		/* A status of the program's own is more. */
		bare_perfex("--source", sources[i], "-e", "cycles:u", "--", "/bin/false");
		ended_with(1);
		bare_perfex("--source", sources[i], "-e", "cycles:k,instructions:u", "--", KNOWN_PATH);
		ended_with(0);
	}
	/* In several runs */
	bare_perfex("-r", "2", "-e", "cycles:u", "--", KNOWN_PATH);
	ended_with(NO_COUNT);
	says(result.err, "\n    <not counted> ");
	perfex_command("compare", "-r", "2", "-e", "cycles:u", "--", KNOWN_PATH, "--", KNOWN_PATH);
	ended_with(NO_COUNT);
	says(result.err, "\n    <not counted>             <not counted> ");
	bare_perfex("selftest");
	ended_with(0);
	says(result.out, ": cycles counts 0 of a program that causes it\n");
}
END_TEST

START_TEST(setuid_program)
{
	ck_assert_int_eq(system("cp " KNOWN_PATH " " SETUID_COPY), 0);
	ck_ok(chmod(SETUID_COPY, 04755));
	become(GUEST_UID);
	perfex("--", SETUID_COPY);
	ended_with(FAILED);
	says(result.err, "INCOMPLETE");
	perfex("--json", "-o", OUTPUT, "--", SETUID_COPY);
	ended_with(FAILED);
	is_json(output());
	ck_assert(!strncmp(member(output(), "complete"), "false", 5));
	ck_assert(!strncmp(member(output(), "incomplete_because"), "\"", 1));
	/* It was stopped before its first instruction: that is no count of 0. */
	ck_assert(!strncmp(member(output(), "ticks"), "null", 4));
	ck_assert(!strncmp(member(output(), "context_switches"), "null", 4));
	perfex("-r", "2", "--json", "-o", OUTPUT, "--", SETUID_COPY);
	ended_with(FAILED);
	is_json(output());
	ck_assert(!strncmp(member(output(), "mean"), "null", 4));
	if (!guest.nprogrammable)
		return;
	perfex("-e", "instructions:u", "--", SETUID_COPY);
	ended_with(FAILED);
	says(result.err, "       <not counted>  instructions:u\n");
	says(result.err, "       <not counted>  ticks of the clock, on a processor\n");
	perfex("-e", "instructions:u", "-I", "1000", "--json", "-o", OUTPUT, "--", SETUID_COPY);
	ended_with(FAILED);
	ck_assert_uint_eq(are_json_lines(output()), 2);
	ck_assert(!strncmp(member(output(), "count"), "null", 4));
	ck_assert(!strncmp(member(strstr(output(), "\n{"), "count"), "null", 4));
	/* Nor of its only thread */
	perfex("-e", "instructions:u", "--per-thread", "--json", "-o", OUTPUT, "--", SETUID_COPY);
	ended_with(FAILED);
	ck_assert(!strncmp(member(member(output(), "threads"), "counts"), "[null]", 6));
}
END_TEST

/* perfex under perfex: the inner one cannot count what the outer one counts already. */
START_TEST(nested)
{
	perfex("--self", "-o", "/tmp/outer", "--", PERFEX, "-o", OUTPUT, "--", "/bin/true");
	ended_with(0);
	says(output(), "seconds elapsed");
	perfex("-o", "/tmp/outer", "--", PERFEX, "-o", OUTPUT, "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "counted already");
	says(result.err, "perfex --self");
}
END_TEST

int main(void)
{
	guest_begin("perfex", NULL);
	note_settings();
	if (getenv("VICE")) {
		run_fresh(cycles_that_are_not_counted, NEED_COUNTERS);
		return guest_end();
	}
	run_fresh(counts_exactly, NEED_COUNTERS);
	run_fresh(counts_exactly_as_user, NEED_COUNTERS | AS_USER);
	run_fresh(counts_as_perf_does, NEED_COUNTERS | NEED_PERF);
	run_fresh(counts_several, NEED_COUNTERS | NEED_TLB_NAMES | AS_USER);
	run_fresh(counts_over_a_second_exec, NEED_COUNTERS | AS_USER);
	run_fresh(children_are_counted, NEED_COUNTERS | AS_USER);
	run_fresh(self_alone, NEED_COUNTERS | AS_USER);
	run_fresh(per_thread, NEED_COUNTERS | AS_USER);
	run_fresh(intervals, NEED_COUNTERS | AS_USER);
	run_fresh(intervals_with_somebody_left, NEED_COUNTERS | AS_USER);
	run_fresh(no_more_time_than_elapses, NEED_COUNTERS | AS_USER);
	perfex_runs();
	perfex_output();
	perfex_refused();
	run_fresh(raw_csr, NEED_FIXED);
	run_fresh(raw_csr_as_user, NEED_FIXED | AS_USER);
	run_fresh(leaves_somebody_behind, NEED_COUNTERS | AS_USER);
	run_fresh(no_modifier_as_root, NEED_COUNTERS);
	run_fresh(no_modifier_as_user, NEED_COUNTERS | AS_USER);
	run_fresh(kernel_mode, NEED_COUNTERS);
	run_fresh(without_events, NEED_CYCLES | AS_USER);
	perfex_ends();
	perfex_selftest();
	run_fresh(name_of_the_kernel, NEED_COUNTERS | AS_USER);
	if (has_libpfm4())
		run_fresh(names_of_libpfm4, NEED_COUNTERS | AS_USER);
	perfex_source();
	run_fresh(setuid_program, 0);
	run_fresh(nested, AS_USER);
	return guest_end();
}
