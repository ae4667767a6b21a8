// SPDX-License-Identifier: GPL-2.0
/* perfex: counters of ours, and counters through perf. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/known.h"
#include "kit/perfside.h"
#include "suites/perfex.h"

static void counts_known_from(const char *source)
{
	ck_assert_uint_eq(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_msg(!strncmp(member(output(), "source"), source, strlen(source)),
		      "not from %s: %s", source, output());
}

/* A machine as it comes, and a user who is nobody special and gives no option */
START_TEST(counts_while_the_watchdog_counts)
{
	ck_assert_int_eq(write_text(WATCHDOG, "1"), 0);
	become(GUEST_UID);
	bare_perfex(KNOWN_PATH);
	ended_with(0);
	says(result.err, "           2,000,032  instructions:u\n");
	says(result.err, "  cycles:u\n");
	says(result.err, " Counted through perf_events.\n");
	bare_perfex("--json", "-o", OUTPUT, KNOWN_PATH);
	ended_with(0);
	is_json(output());
	counts_known_from("\"shared\"");
	bare_perfex("-r", "3", "--json", "-o", OUTPUT, "-e", "instructions:u", "--", KNOWN_PATH);
	ended_with(0);
	ck_assert_uint_eq(strtoull(member(output(), "mean"), NULL, 10), KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert(!strncmp(member(output(), "source"), "\"shared\"", 8));
	bare_perfex("-i");
	ended_with(0);
	says(result.out, "source\t\t\tshared (through perf_events)\n");
}
END_TEST

/* Each source if it is asked for; what it was is told if it was perf. */
START_TEST(source_by_option)
{
	static const char *const sources[] = { "native", "shared" };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		char quoted[16];

		(void)snprintf(quoted, sizeof(quoted), "\"%s\"", sources[i]);
		bare_perfex("--source", sources[i], "-e", "instructions:u", "--json", "-o", OUTPUT,
			    "--", KNOWN_PATH);
		ended_with(0);
		counts_known_from(quoted);
		bare_perfex("--source", sources[i], "-e", "instructions:u", "--", KNOWN_PATH);
		ended_with(0);
		(i ? says : says_not)(result.err, "Counted through perf_events.\n");
	}
	/* The first is taken if it can be had. */
	bare_perfex("--source=any", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	counts_known_from("\"native\"");
	bare_perfex("--source", "perf", "--", "/bin/true");
	ended_with(WRONG);
}
END_TEST

/* As on a processor that the module has no driver for, but perf has one */
#define GENERIC		"/usr/libexec/perfctr/generic.so"

/* The first event that the list says is not here */
static void first_missing(char name[40])
{
	const char *line = result.out;

	while (line && (sscanf(line, "%39s", name) != 1 || strlen(line) < 31 ||
			strncmp(line + 29, "no ", 3) != 0)) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	ck_assert_msg(line != NULL, "everything is here: %s", result.out);
}

START_TEST(counts_without_a_driver)
{
	char events[40];

	ck_ok(setenv("LD_PRELOAD", GENERIC, 1));
	bare_perfex("-e", "instructions:u,cycles:u", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	ck_assert_str_eq(result.err, "");
	counts_known_from("\"shared\"");
	bare_perfex(KNOWN_PATH);
	ended_with(0);
	says(result.err, "           2,000,032  instructions:u\n");
	says(result.err, " Counted through perf_events.\n");
	bare_perfex("-e", "Instructions:u,CPU-cycles:u", "--", KNOWN_PATH);
	ended_with(0);
	says(result.err, "           2,000,032  Instructions:u\n");
	bare_perfex("-i");
	ended_with(0);
	says(result.out, "no_counters\t\tthe module has no driver");
	says(result.out, "source\t\t\tshared (through perf_events)\n");
	bare_perfex("selftest");
	ended_with(0);
	says_exact("at one go", 0);
	says_exact("over a switch", 40);

	/* Of perf's own events perf knows which ones it has. */
	bare_perfex("-l");
	ended_with(0);
	says(result.out, "instructions                 yes  instructions completed\n");
	says(result.out, "rHEX                         ?    ");
	first_missing(events);
	bare_perfex("-e", events, "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, events);
	says(result.err, "perfex --list");
	bare_perfex("-e", "instuctions", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "Did you mean instructions");

	bare_perfex("--source", "native", "-e", "instructions:u", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "only perf_events counts this");
	/* Instructions as a raw event, where they have a number */
	if (!is_x86() && !is_arm64())
		return;
	bare_perfex("-e", is_x86() ? "rc0:u,instructions:u" : "r8:u,instructions:u", "--json", "-o",
		    OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	counts_known_from("\"shared\"");
	ck_assert_uint_eq(count_of(output(), is_x86() ? "rc0" : "r8"), KNOWN_LENGTH(KNOWN_LOOPS));
	if (!is_x86())
		return;
	(void)snprintf(events, sizeof(events), "r%llx:u", 1ull << 21 | 0xc0);
	bare_perfex("-e", events, "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "this event may count other threads as well, which needs a privilege");
}
END_TEST

/* Without counters there is no source. */
START_TEST(clock_has_no_source)
{
	perfex("--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	if (guest.info.counters && !guest.nprogrammable)
		return;		/* the fixed ones of RISC-V, which not everybody may have */
	if (guest.info.counters)
		counts_known_from(guest.shared ? "\"shared\"" : "\"native\"");
	else if (guest.info.cpu_features & PERFCTR_FEATURE_SHARED)
		counts_known_from("\"shared\"");
	else
		ck_assert(!strncmp(member(output(), "source"), "null", 4));
}
END_TEST

/* perf has counters itself, and one is left. */
START_TEST(counts_beside_perf)
{
	int fd;

	ck_ok(fd = perf_open_self(EV_INSTRUCTIONS));
	bare_perfex("-e", "instructions:u", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	counts_known_from("\"shared\"");
	close(fd);
}
END_TEST

/* As user, with events that are refused, or with none */
static void user_runs(const char *const *argv)
{
	pid_t pid;

	ck_ok(pid = fork());
	if (!pid) {
		become(GUEST_UID);
		redirect(0, "/dev/null", O_RDONLY);
		redirect(1, STDOUT, O_WRONLY | O_CREAT | O_TRUNC);
		redirect(2, STDERR, O_WRONLY | O_CREAT | O_TRUNC);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(99);
	}
	finish_command(pid);
}

#define user_perfex(...) user_runs(COMMAND(PERFEX, __VA_ARGS__))

static void user_counts(bool may)
{
	user_perfex("-e", "instructions:u", "--json", "--", KNOWN_PATH);
	ended_with(may ? 0 : FAILED);
	if (may) {
		is_json(result.err);
		ck_assert_uint_eq(count_of(result.err, "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
		ck_assert(!strncmp(member(result.err, "source"), "\"shared\"", 8));
		return;
	}
	says(result.err, "any user who has mapped an event of perf_events' could read these counters");
	says(result.err, "sysctl kernel.perf_event_paranoid=3");
	says(result.err, is_arm64() ? "sysctl kernel.perf_user_access=0\n" :
				      "echo 0 > " RDPMC "\n");
	says(result.err, "/sys/module/perfctr/parameters/shared_open");
	says(result.err, "CAP_PERFMON");
}

static void set(const char *path, const char *text)
{
	ck_assert_int_eq(write_text(path, text), 0);
}

/* Where everybody may open perf's events a user is refused, and each way out leads out. */
START_TEST(perf_is_open_to_all)
{
	const char *hide = is_arm64() ? USER_ACCESS : RDPMC;

	if (is_x86())
		set(WATCHDOG, "1");
	set(PARANOID, "2");
	set(hide, "1");
	user_counts(false);
	/* Nothing was asked for, so there is the clock. */
	user_perfex("--", KNOWN_PATH);
	ended_with(0);
	says(result.err, " Only the clock was counted: instructions and cycles cannot be counted here");
	says(result.err, "sysctl kernel.perf_event_paranoid=3");
	user_perfex("-i");
	ended_with(0);
	says(result.out, "source\t\t\tnone: others could read these counters");
	user_perfex("selftest");
	ended_with(0);
	says(result.out, "  not made: any user who has mapped an event of perf_events'");
	/* root, who has CAP_PERFMON, is not concerned. */
	bare_perfex("-e", "instructions:u", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	counts_known_from("\"shared\"");

	set(hide, "0");
	user_counts(true);
	set(hide, "1");
	user_counts(false);
	set(MODULE_PARAMS "shared_open", "1");
	user_counts(true);
	set(MODULE_PARAMS "shared_open", "0");
	user_counts(false);
	/* Debian's level, which is its default */
	ck_assert_int_ge(strtol(settings[0].value, NULL, 10), 3);
	set(PARANOID, "3");
	user_counts(true);
}
END_TEST

/* perf keeps some counters for its own users. */
START_TEST(too_many_for_a_user)
{
	/* Branches of any kind: each general-purpose counter counts these codes. */
	perfex("--source", "shared", "-e", "rc4:u,r1c4:u,r2c4:u,r4c4:u,r8c4:u", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "at most half of the counters through perf_events");
	perfex("--source", "shared", "-e", "rc4:u,r1c4:u,r2c4:u,r4c4:u", "-o", OUTPUT, "--",
	       "/bin/true");
	ended_with(0);
	if (!(guest.info.counters >> 26 & 1))
		return;
	/* Reference cycles are the third fixed counter's alone. */
	perfex("--source", "shared", "-e", "ref-cycles:u", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "ref-cycles: there is one counter for this event");
	says(result.err, "CAP_PERFMON");
}
END_TEST

/* root may have all of them, and no more. */
START_TEST(too_many_through_perf)
{
	char all[256] = "";
	unsigned int i, n = guest.nprogrammable;

	for (i = 0; i <= n; i++)
		(void)snprintf(all + strlen(all), sizeof(all) - strlen(all), "%sr%xc4:u",
			       i ? "," : "", i + 1);
	perfex("--source", "shared", "-e", all, "--", "/bin/true");
	ended_with(FAILED);
	/* Without fixed counters it is more than there are. */
	says(result.err, n == guest.info.nrctrs ? "events are more than this processor counts at a time" :
						  "count too many different events through perf_events");
}
END_TEST

/* x86: what one counts through perf keeps others from the counters themselves, not from perf. */
START_TEST(one_source_at_a_time)
{
	pid_t pid = start_command(COMMAND(PERFEX, "--source", "shared", "-e", "instructions:u", "-o",
					  "/tmp/outer", "--", CATCHER, READY));

	await_file(READY);
	run_command(COMMAND(PERFEX, "--source", "native", "-e", "instructions:u", "--", "/bin/true"));
	ended_with(FAILED);
	says(result.err, "other users of perfctr count by the other source");
	says(result.err, "Leave out --source");
	run_command(COMMAND(PERFEX, "-e", "instructions:u", "--json", "-o", OUTPUT, "--",
			    KNOWN_PATH));
	ended_with(0);
	counts_known_from("\"shared\"");
	ck_ok(kill(pid, SIGTERM));
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* Nobody but the module's driver knows which register it is. */
START_TEST(raw_csr_through_perf)
{
	bare_perfex("--raw-csr", "--source", "shared", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "only perfctr's own driver can do this");
}
END_TEST

void perfex_source(void)
{
	run_fresh(counts_while_the_watchdog_counts, NEED_COUNTERS | NEED_SHARED | NEED_X86);
	run_fresh(source_by_option, NEED_COUNTERS | NEED_NATIVE | NEED_SHARED | AS_USER);
	run_fresh(counts_without_a_driver, NEED_COUNTERS | NEED_SHARED | AS_USER);
	run_fresh(clock_has_no_source, AS_USER);
	run_fresh(counts_beside_perf, NEED_COUNTERS | NEED_SHARED | NEED_PERF | NEED_X86);
	if (is_x86() || is_arm64())
		run_fresh(perf_is_open_to_all, NEED_COUNTERS | NEED_SHARED);
	if (guest.nprogrammable == 8)	/* half of which are four */
		run_fresh(too_many_for_a_user, NEED_COUNTERS | NEED_SHARED | NEED_X86 | AS_USER);
	run_fresh(too_many_through_perf, NEED_COUNTERS | NEED_SHARED | NEED_X86);
	run_fresh(one_source_at_a_time, NEED_COUNTERS | NEED_SHARED | NEED_X86 | AS_USER);
	run_fresh(raw_csr_through_perf, NEED_NATIVE | NEED_FIXED | NEED_SHARED);
}
