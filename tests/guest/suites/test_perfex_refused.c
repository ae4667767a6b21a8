// SPDX-License-Identifier: GPL-2.0
/* perfex: what it says when it cannot count. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/known.h"
#include "kit/perfside.h"
#include "kit/registers.h"
#include "suites/perfex.h"

/* What is wrong, and what would be right; nothing was run. */
START_TEST(bad_options)
{
	static const char *const bad[][4] = {
		{ "'0' is not an interval, in milliseconds, which --interval (-I) takes (10 to 86400000)",
		  "-I", "0" },
		{ "'9' is not an interval", "-I", "9" }, { "'86400001' is not an interval", "-I", "86400001" },
		{ "'x' is not an interval", "-I", "x" }, { "is not an interval", "-I", "-5" },
		{ "'0' is not a number of runs, which --repeat (-r) takes (1 to", "-r", "0" },
		{ "'3x' is not a number of runs", "-r", "3x" },
		{ "'1000001' is not a number of runs", "-r", "1000001" },
		{ "'18446744073709551617' is not a number of runs", "-r", "18446744073709551617" },
		{ "'' is not a number of runs", "-r", "" },
		{ "'x' is not a number of runs, which --warm-up (-w) takes (0 to", "-w", "x" },
		{ "--warm-up (-w) needs --repeat (-r)", "-w", "1" },
		{ "--plot needs --interval (-I)", "--plot", "/tmp/was-run" },
		{ "--self and --per-thread do not go together", "--self", "--per-thread" },
		{ "--repeat (-r) and --interval (-I) do not go together", "-r2", "-I100" },
		{ "--json and --csv do not go together", "--json", "--csv" },
		{ "there is no option '--frobnicate'", "--frobnicate" },
		{ "there is no option '--overflows'", "--overflows", "1" },
		{ "there is no option -z", "-z" },
		{ "--json takes no argument, but there is one: '--json=x'", "--json=x" },
		{ "'perf' is no source of counters: these are native, shared, and any", "--source",
		  "perf" },
		{ "--output (-o): '%q{NO_SUCH}': '%q{NO_SUCH}': the environment has no variable",
		  "-o", "%q{NO_SUCH}" },
		{ "after a percent sign stands p, h, q{VAR} or %", "-o", "%d" },
		{ "after %q stands the name of a variable in braces", "-o", "%qX" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (bad[i][2])
			perfex(bad[i][1], bad[i][2], "--", "/bin/touch", "/tmp/was-run");
		else
			perfex(bad[i][1], "--", "/bin/touch", "/tmp/was-run");
		ended_with(WRONG);
		says(result.err, bad[i][0]);
		ck_assert_int_ne(access("/tmp/was-run", F_OK), 0);
	}
	perfex("-I");
	ended_with(WRONG);
	says(result.err, "--interval (-I) needs an argument: MS");
}
END_TEST

/* rdcycle is illegal since Linux 6.6; --raw-csr makes it legal for the program and its threads. */
/* Each pair, whatever the kernel or the machine would say of it */
START_TEST(options_that_do_not_go_together)
{
	static const char *const rows[][5] = {
		{ "--pid (-p) and --raw-csr", "-p1", "--raw-csr" },
		{ "--pid (-p) and --repeat (-r)", "-p1", "-r2" },
		{ "--all-cpus (-a) and --pid (-p)", "-a", "-p1" },
		{ "--all-cpus (-a) and --self", "-a", "--self" },
		{ "--all-cpus (-a) and --per-thread", "-a", "--per-thread" },
		{ "--all-cpus (-a) and --raw-csr", "-a", "--raw-csr" },
		{ "--all-cpus (-a) and --exact", "-a", "--exact" },
		{ "--cpu (-C) and --pid (-p)", "-C0", "-p1" },
		{ "--cpu (-C) and --self", "-C0", "--self" },
		{ "--cpu (-C) and --per-thread", "-C0", "--per-thread" },
		{ "--cpu (-C) and --raw-csr", "-C0", "--raw-csr" },
		{ "--cpu (-C) and --exact", "-C0", "--exact" },
		{ "--repeat (-r) and --per-thread", "-r2", "--per-thread" },
		{ "--repeat (-r) and --per-cpu", "-r2", "-C0", "--per-cpu" },
		{ "--passes and --pid (-p)", "--passes", "-ecycles", "-p1" },
		{ "--passes and --all-cpus (-a)", "--passes", "-ecycles", "-a" },
		{ "--passes and --cpu (-C)", "--passes", "-ecycles", "-C0" },
		{ "--passes and --interval (-I)", "--passes", "-ecycles", "-I10" },
		{ "--passes and --per-thread", "--passes", "-ecycles", "--per-thread" },
		{ "--passes and --topdown", "--passes", "-ecycles", "--topdown" },
		{ "--passes and --raw-csr", "--passes", "-ecycles", "--raw-csr" },
		{ "--passes and --exact", "--passes", "-ecycles", "--exact" },
	};
	const char *argv[8] = { PERFEX };
	char words[80];
	unsigned int i, n;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (n = 1; rows[i][n]; n++)
			argv[n] = rows[i][n];
		argv[n] = "/bin/true";
		argv[n + 1] = NULL;
		run_command(argv);
		ended_with(WRONG);
		(void)snprintf(words, sizeof(words), "perfex: %s do not go together\n", rows[i][0]);
		ck_assert_str_eq(result.err, words);
	}
	bare_perfex("-I10", "-o", "/tmp/same", "--plot", "/tmp/same", "/bin/true");
	ended_with(WRONG);
	ck_assert_str_eq(result.err, "perfex: --output (-o) and --plot name one file, '/tmp/same'\n");
}
END_TEST

START_TEST(bad_usage)
{
	perfex("--json");
	ended_with(WRONG);
	run_command((const char *const[]){ PERFEX, NULL });
	ended_with(WRONG);
	says(result.err, "which program");
}
END_TEST

/* What perf counts in software: the answer says where perfex has it, or that it has it not. */
START_TEST(software_events)
{
	static const struct {
		const char *name, *answer;
	} rows[] = {
		{ "task-clock", "perfex tells it always, without -e" },
		{ "cs", "perfex tells it always, without -e" },
		{ "cpu-migrations:u", "perfex tells it always, without -e" },
		{ "Major-Faults", "those with input or output" },
		{ "alignment-faults", "perfctr does not count it" },
	};
	unsigned int i;
	char line[128];

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		perfex("-e", rows[i].name, "--", "/bin/true");
		ended_with(FAILED);
		(void)snprintf(line, sizeof(line), "perfex: '%s' is no event of the processor",
			       rows[i].name);
		says(result.err, line);
		says(result.err, rows[i].answer);
	}
}
END_TEST

START_TEST(unknown_event)
{
	perfex("-e", "instuctions:u", "--", "/bin/touch", "/tmp/was-run");
	ended_with(FAILED);
	says(result.err, "instuctions");
	says(result.err, "Did you mean");
	says(result.err, "instructions");
	perfex("-e", "dtlb-laod-misses", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "dTLB-load-misses");
	perfex("-e", "instructions:pp", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "'instructions:pp': 'pp' is no modifier, and no unit of this event");
	perfex("-e", "rxyz", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "rxyz");
	perfex("-e", "instructions:u,", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "an event has no name. Is there a comma too many?");
	perfex("-e", ":u", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "an event has no name before :u");
	perfex("-e", "", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "an event has no name");
	ck_assert_int_ne(access("/tmp/was-run", F_OK), 0);
}
END_TEST

START_TEST(event_that_this_machine_lacks)
{
	/* The P6 does not tell what it lacks, but has fewer names. */
	bool told = guest.info.events[0];

	perfex("-e", told ? "branch-misses:u" : "cache-misses:u", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, told ? "branch-misses" : "cache-misses");
	/* No model of Intel's has this one of perf's. */
	if (told && is_x86() && !is_amd()) {
		perfex("-e", "L1-icache-prefetches:u", "--", "/bin/true");
		ended_with(FAILED);
		says(result.err, "'L1-icache-prefetches:u': the name is known, but this model of processor");
	}
}
END_TEST

/* perfex says why there are no counters: this machine's processor is no Intel. */
START_TEST(why_there_are_no_counters)
{
	static const char *const events[] = { "instructions:u", "rc0:u" };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		perfex("-e", events[i], "--", "/bin/true");
		ended_with(FAILED);
		says(result.err, "has no counters here");
		says(result.err, "no driver for the counters of this processor");
	}
	perfex("-i");
	ended_with(0);
	says(result.out, "no_counters\t\tthe module has no driver for");
	perfex("--", "/bin/true");
	ended_with(0);
}
END_TEST

START_TEST(too_many_events)
{
	char all[1024] = "";
	unsigned int i;

	for (i = 0; i <= guest.info.nrctrs; i++)
		(void)snprintf(all + strlen(all), sizeof(all) - strlen(all), "%scycles:u",
			       i ? "," : "");
	perfex("-e", all, "--", "/bin/true");
	ended_with(FAILED);
}
END_TEST

/* x86: there are more counters, but of another kind. */
START_TEST(too_many_events_of_a_kind)
{
	char all[1024] = "", words[160];
	unsigned int i, n = guest.nprogrammable + 1;

	if (n > guest.info.nrctrs)
		return;
	for (i = 0; i < n; i++)
		(void)snprintf(all + strlen(all), sizeof(all) - strlen(all), "%sbranches:u",
			       i ? "," : "");
	perfex("--source", "native", "-e", all, "--", "/bin/true");
	ended_with(FAILED);
	if (is_p4()) {
		says(result.err, "branches can be counted on\nthese counters only, which the others need: 12, 13, 14, 15, 16, 17.\n");
		return;
	}
	(void)snprintf(words, sizeof(words),
		       "perfex: %u events need general-purpose counters, and this processor has %u.\nRun the program once",
		       n, n - 1);
	says(result.err, words);
	/* Both have fixed counters of their own. */
	(void)snprintf(all + strlen(all), sizeof(all) - strlen(all), ",instructions:u,cycles:u");
	if (n + 2 > guest.info.nrctrs)
		return;
	perfex("--source", "native", "-e", all, "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, words);
}
END_TEST

/* MEM_INST_RETIRED */
#define ON_FOUR_COUNTERS	"r11d0:u,r12d0:u,r21d0:u,r41d0:u,r42d0:u"

/* Ice Lake: four of its eight counters count these. */
START_TEST(five_events_of_four_counters)
{
	perfex("--source", "native", "-e", ON_FOUR_COUNTERS, "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "perfex: this processor cannot count these events together: r42d0 can be counted on\n"
	     "these counters only, which the others need: 0, 1, 2, 3.\nRun the program once");
	perfex("--source", "native", "-e", ON_FOUR_COUNTERS, "-e", "instructions:u", "--passes", "--json",
	       "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	ck_assert_uint_eq(strtoul(member(output(), "passes"), NULL, 10), 2);
	ck_assert_uint_eq(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
	/* It joined the first. */
	ck_assert(strstr(output(), "\"instructions\"") < strchr(output(), '\n'));
}
END_TEST

START_TEST(no_privilege)
{
	perfex("-e", "cycles:k", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "cycles: counting in kernel mode needs a privilege:\n"
	     "root, CAP_PERFMON, or kernel.perf_event_paranoid of at most 1 (it is ");
	says(result.err, "-e cycles:u");
	perfex("-e", "cycles:uk", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "privilege");
}
END_TEST

START_TEST(no_permission)
{
	ck_ok(chmod(PERFCTR_DEVICE, 0600));
	become(GUEST_UID);
	perfex("--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "may not open");
	says(result.err, PERFCTR_DEVICE);
}
END_TEST

START_TEST(no_module)
{
	ck_assert_int_eq(module_unload_patiently(), 0);
	perfex("--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "module");
	says(result.err, "modprobe perfctr");
	perfex("-i");
	ended_with(FAILED);
	perfex_command("selftest");
	ended_with(FAILED);
	says(result.err, "modprobe perfctr");
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(module_load(NULL), 0);
	perfex("--", "/bin/true");
	ended_with(0);
}
END_TEST

/* A /dev of its own, and the host's modules */
START_TEST(container_without_device)
{
	ck_ok(unshare(CLONE_NEWNS));
	ck_ok(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	ck_ok(mount("tmpfs", "/dev", "tmpfs", 0, NULL));
	ck_ok(mknod("/dev/null", S_IFCHR | 0666, makedev(1, 3)));
	perfex("--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "docker run --device");
}
END_TEST

START_TEST(counters_taken)
{
	int fds[32];
	unsigned int n = 1;

	/* One event may take all counters. */
	if (has_one_source()) {
		ck_ok(fds[0] = perf_open_self(EV_INSTRUCTIONS));
	} else {
		n = perf_take_counters(0, fds, 32);
		ck_assert_uint_eq(n, guest.nprogrammable);
	}
	perfex("--source", "native", "-e", "instructions:u", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "taken");
	says(result.err, "perf_events");
	says(result.err, "Stop other profilers");
	says_not(result.err, "NMI watchdog");
	/* x86: perf has one left for us, if it counts for us. */
	if (is_x86())
		known_length();
	perf_give_counters(fds, n);
	known_length();
}
END_TEST

/* One counter is left, for the first of two events. So the second event is refused. */
START_TEST(says_which_event_is_refused)
{
	int fds[32];
	unsigned int n = perf_take_counters(0, fds, guest.nprogrammable - 1);

	ck_assert_uint_eq(n, guest.nprogrammable - 1);
	perfex("--source", "native", "-e", "instructions:u,dTLB-load-misses:u", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "perfex: dTLB-load-misses: the counters are taken, probably by perf_events.");
	perf_give_counters(fds, n);
}
END_TEST

/* x86: two threads want two values of one register. */
START_TEST(says_which_event_register_is_taken)
{
	pid_t pid = start_perfex("-e", "r1b7/10001:u", "-o", OUTPUT, "--", CATCHER, READY);

	await_file(READY);
	run_command(COMMAND(PERFEX, "-e", "instructions:u,r1b7/10002:u", "-o", OUTPUT, "--",
			    "/bin/true"));
	ended_with(FAILED);
	says(result.err, "perfex: r1b7/10002: other users of perfctr count with another value");
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* perfex's advice helps. */
START_TEST(counters_taken_by_the_watchdog)
{
	ck_assert_int_eq(write_text(WATCHDOG, "1"), 0);
	perfex("--source", "native", "-e", "instructions:u", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "taken, probably by the NMI watchdog");
	says(result.err, "as root: sysctl kernel.nmi_watchdog=0\n");
	perfex("-i");
	ended_with(0);
	says(result.out, "owner\t\t\tthe NMI watchdog\n");
	says(result.out, "source\t\t\tshared (through perf_events)\n");
	run_command((const char *const[]){ "/bin/sysctl", "kernel.nmi_watchdog=0", NULL });
	ended_with(0);
	perfex("--source", "native", "-e", "instructions:u", "--json", "-o", OUTPUT, "--",
	       KNOWN_PATH);
	ended_with(0);
	ck_assert_uint_eq(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
	perfex("-i");
	ended_with(0);
	says_not(result.out, "owner\t");
	says(result.out, "source\t\t\tnative\n");
}
END_TEST

START_TEST(counters_taken_by_the_firmware)
{
	open_registers();
	ck_assert_int_eq(write_text(MODULE_PARAMS "override_firmware", "0"), 0);
	ck_assert(wrmsr(msr_evntsel(0), evntsel_of(0, 0, true)));
	perfex("--source", "native", "-e", "instructions:u", "--", "/bin/true");
	ck_assert(wrmsr(msr_evntsel(0), 0));
	ended_with(FAILED);
	says(result.err, "taken, probably by the firmware");
	says(result.err, "set-up");
	known_length();
}
END_TEST

void perfex_refused(void)
{
	run_fresh(bad_options, AS_USER);
	run_fresh(options_that_do_not_go_together, AS_USER);
	run_fresh(bad_usage, AS_USER);
	run_fresh(software_events, AS_USER);
	run_fresh(unknown_event, NEED_COUNTERS | NEED_TLB_NAMES | AS_USER);
	run_fresh(event_that_this_machine_lacks, NEED_COUNTERS | NEED_LACKS | AS_USER);
	if (guest.info.no_counters == PERFCTR_NO_COUNTERS_PROCESSOR &&
	    !(guest.info.cpu_features & PERFCTR_FEATURE_SHARED))
		run_fresh(why_there_are_no_counters, AS_USER);
	if (is_machine("icelake"))
		run_fresh(five_events_of_four_counters, NEED_COUNTERS | NEED_NATIVE | AS_USER);
	run_fresh(too_many_events, NEED_COUNTERS | AS_USER);
	run_fresh(too_many_events_of_a_kind, NEED_COUNTERS | NEED_NATIVE | NEED_X86 | AS_USER);
	run_fresh(no_privilege, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	run_fresh(no_permission, 0);
	run_fresh(no_module, LOG_MODULE);
	run_fresh(container_without_device, 0);
	run_fresh(counters_taken, NEED_COUNTERS | NEED_NATIVE | NEED_PERF);
	run_fresh(says_which_event_is_refused,
		  NEED_COUNTERS | NEED_NATIVE | NEED_PERF | NEED_BESIDE);
	run_fresh(says_which_event_register_is_taken, NEED_COUNTERS | NEED_EXTRA | AS_USER);
	run_fresh(counters_taken_by_the_watchdog, NEED_COUNTERS | NEED_X86 | NEED_PERF);
	run_fresh(counters_taken_by_the_firmware,
		  NEED_COUNTERS | NEED_NATIVE | NEED_X86 | LOG_MODULE);
}
