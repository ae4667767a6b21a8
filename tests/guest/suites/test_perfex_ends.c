// SPDX-License-Identifier: GPL-2.0
/* perfex: how it ends, and what becomes of signals. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/known.h"
#include "suites/perfex.h"

/* --- how it ends --- */

START_TEST(exit_status)
{
	perfex("--", "/bin/true");
	ended_with(0);
	perfex("--", "/bin/false");
	ended_with(1);
	perfex("--", "/bin/sh", "-c", "exit 42");
	ended_with(42);
	perfex("--", "/bin/sh", "-c", "exit 255");
	ended_with(255);
}
END_TEST

static void died_of(int signo, const char *command)
{
	perfex("--json", "-o", OUTPUT, "--", "/bin/sh", "-c", command);
	ck_assert_msg(WIFSIGNALED(result.status), "exit status %d: %s",
		      WEXITSTATUS(result.status), result.err);
	ck_assert_int_eq(WTERMSIG(result.status), signo);
	is_json(output());
	ck_assert_int_eq(strtol(member(output(), "signal"), NULL, 10), signo);
	ck_assert(!strncmp(member(output(), "exit_status"), "null", 4));
	ck_assert(!strncmp(member(output(), "complete"), "true", 4));
}

START_TEST(death_by_signal)
{
	died_of(SIGTERM, "kill -TERM $$");
	died_of(SIGKILL, "kill -KILL $$");
	died_of(SIGSEGV, "kill -SEGV $$");
	died_of(SIGINT, "kill -INT $$");
}
END_TEST

/* --- signals that perfex is sent --- */
#define WAITER "/usr/libexec/perfctr/waiter"

static void ended_by(int signo)
{
	ck_assert_msg(WIFSIGNALED(result.status), "exit status %d: %s",
		      WEXITSTATUS(result.status), result.err);
	ck_assert_int_eq(WTERMSIG(result.status), signo);
}

/* The program dies of it, its counts are written, and perfex dies of it as well. */
START_TEST(passes_signals_on)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };
	static const char command[] = KNOWN_PATH "; exec " WAITER " " READY;
	unsigned int i;
	pid_t pid;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		(void)unlink(READY);
		pid = start_perfex("-e", "instructions:u", "--json", "-o", OUTPUT, "--",
				   "/bin/sh", "-c", command);
		signal_perfex(pid, signals[i]);
		finish_command(pid);
		ended_by(signals[i]);
		ck_assert_uint_eq(are_json_lines(output()), 1);
		ck_assert_int_eq(strtol(member(output(), "signal"), NULL, 10), signals[i]);
		ck_assert(!strncmp(member(output(), "complete"), "true", 4));
		ck_assert_uint_gt(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
	}
}
END_TEST

/* What a program makes of a signal decides how perfex ends, and it gets each one once. */
START_TEST(program_catches_signals)
{
	pid_t pid = start_perfex("-o", OUTPUT, "--", CATCHER, READY);

	signal_perfex(pid, SIGTERM);
	finish_command(pid);
	ended_with(1);
	says(output(), "seconds elapsed");
	(void)unlink(READY);
	pid = start_perfex("-o", OUTPUT, "--", CATCHER, READY);
	signal_perfex(pid, SIGTERM);
	sleep_us(50000);
	ck_ok(kill(pid, SIGTERM));
	sleep_us(50000);
	ck_ok(kill(pid, SIGHUP));
	finish_command(pid);
	ended_with(3);
}
END_TEST

START_TEST(program_ignores_signals)
{
	static const char command[] = "trap '' TERM; touch " READY
		"; while [ ! -e " GO " ]; do sleep 0.01; done; exit 5";
	pid_t pid = start_perfex("-o", OUTPUT, "--", "/bin/sh", "-c", command);

	signal_perfex(pid, SIGTERM);
	sleep_us(200000);
	ck_assert_int_eq(waitpid(pid, &result.status, WNOHANG), 0);
	write_file(GO, "");
	finish_command(pid);
	ended_with(5);
	says(output(), "seconds elapsed");
}
END_TEST

/* As under nohup, and in the background of a shell without job control */
START_TEST(perfex_ignores_what_it_was_started_to)
{
	pid_t pid = start_command(COMMAND("/bin/sh", "-c", "trap '' HUP; exec " PERFEX " -o " OUTPUT
					  " -- " CATCHER " " READY));

	signal_perfex(pid, SIGHUP);
	ck_ok(kill(pid, SIGTERM));
	finish_command(pid);
	ended_with(1);
}
END_TEST

START_TEST(under_timeout)
{
	static const char command[] = KNOWN_PATH "; exec sleep 1000";

	run_command(COMMAND("/bin/timeout", "1", PERFEX, "-e", "instructions:u", "--json", "-o",
			    OUTPUT, "--", "/bin/sh", "-c", command));
	ended_by(SIGTERM);
	ck_assert_uint_gt(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
}
END_TEST

/* Also with intervals, with several runs, and while others of the tree live on */
START_TEST(passes_signals_on_in_all_modes)
{
	static const char tree[] = KNOWN_PATH "& wait; sleep 1 & touch " READY "; wait";
	pid_t pid;

	pid = start_perfex("-I", "20", "--json", "-o", OUTPUT, "--", WAITER, READY);
	signal_perfex(pid, SIGTERM);
	finish_command(pid);
	ended_by(SIGTERM);
	ck_assert_uint_ge(are_json_lines(output()), 2);

	/* No further run begins after the signal. */
	(void)unlink(READY);
	pid = start_perfex("-r", "9", "--json", "-o", OUTPUT, "--", CATCHER, READY);
	signal_perfex(pid, SIGTERM);
	finish_command(pid);
	ended_with(1);
	says(output(), "\"runs\": 0, \"failed\": 1, \"warm_up_failed\": 0, \"interrupted\": true, ");

	(void)unlink(READY);
	pid = start_perfex("-e", "instructions:u", "--per-thread", "--json", "-o", OUTPUT, "--",
			   "/bin/sh", "-c", tree);
	signal_perfex(pid, SIGTERM);
	finish_command(pid);
	ended_by(SIGTERM);
	ck_assert_uint_gt(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_eq(strtoull(member(output(), "descendants_live"), NULL, 10), 1);
}
END_TEST

/* Ctrl-C signals the foreground group, with the program in it: perfex does not repeat that. */
START_TEST(terminal_signals_once)
{
	char name[64];
	int master = open_terminal(name, sizeof(name));
	pid_t pid;

	ck_ok(pid = fork());
	if (!pid) {
		(void)setsid();
		redirect(0, name, O_RDWR);	/* the session's first one controls it */
		redirect(1, name, O_RDWR);
		redirect(2, name, O_RDWR);
		execl(PERFEX, PERFEX, "-o", OUTPUT, "--", CATCHER, READY, (char *)NULL);
		_exit(99);
	}
	await_file(READY);
	ck_assert_int_eq(write(master, "\003", 1), 1);
	ck_assert_int_eq(waitpid(pid, &result.status, 0), pid);
	ended_with(1);
	says(output(), "seconds elapsed");
	close(master);
}
END_TEST

/* However perfex ends, the program dies with it. */
START_TEST(program_dies_with_perfex)
{
	char text[32];
	pid_t pid, program;
	int status;

	ck_ok(prctl(PR_SET_CHILD_SUBREAPER, 1));
	pid = start_perfex("--", "/bin/sh", "-c", "echo $$ > " GO "; touch " READY
			   "; exec sleep 1000");
	signal_perfex(pid, SIGKILL);
	finish_command(pid);
	ended_by(SIGKILL);
	ck_assert_int_gt(read_text(GO, text, sizeof(text)), 0);
	program = (pid_t)strtol(text, NULL, 10);
	ck_assert_int_eq(waitpid(program, &status, 0), program);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
END_TEST

/* Nobody reads the intervals any more: that is no reason to end the program. */
START_TEST(reader_goes_away)
{
	run_command(COMMAND("/bin/sh", "-c", PERFEX " -I 10 -- /bin/sh -c 'sleep 0.2; touch " GO
			    "' 2>&1 | head -n 1"));
	ended_with(0);
	await_file(GO);
}
END_TEST

START_TEST(program_not_there)
{
	perfex("--", "/nonexistent/program");
	ended_with(127);
	says(result.err, "/nonexistent/program");
	perfex("--", "no-such-program-in-the-path");
	ended_with(127);
	perfex("--", "/etc/passwd");
	ended_with(126);
	says(result.err, "/etc/passwd");
	perfex("--", "");
	ended_with(127);
	says(result.err, "perfex: cannot run '': its name is empty\n");
}
END_TEST

static void write_script(const char *path, const char *text)
{
	(void)unlink(path);
	write_file(path, text);
	ck_ok(chmod(path, 0755));
}

/* The program is there, but what it needs to run is not. */
START_TEST(interpreter_not_there)
{
	write_script(SCRIPT, "#!/no/such/interpreter -x\n");
	perfex("--", SCRIPT);
	ended_with(126);
	says(result.err, "cannot run '" SCRIPT "': its interpreter '/no/such/interpreter' is missing");
	write_script(SCRIPT, "#!/bin/sh\r\n");
	perfex("--", SCRIPT);
	ended_with(126);
	says(result.err, "'/bin/sh' with a carriage return behind it is missing");
	/* By PATH as well */
	ck_ok(setenv("PATH", "/nonexistent:/tmp:/bin", 1));
	perfex("--", strrchr(SCRIPT, '/') + 1);
	ended_with(126);
	says(result.err, "interpreter '/bin/sh'");
}
END_TEST

/* The program finds what it finds without perfex: descriptors, environment, signals. */
START_TEST(program_inherits_no_more)
{
	static const char look[] = "ls /proc/self/fd; env; grep Sig /proc/self/status";
	char without[16384];

	run_command((const char *const[]){ "/bin/sh", "-c", look, NULL });
	ended_with(0);
	(void)snprintf(without, sizeof(without), "%.*s", (int)sizeof(without) - 1, result.out);
	perfex("-o", OUTPUT, "--", "/bin/sh", "-c", look);
	ended_with(0);
	ck_assert_str_eq(result.out, without);
}
END_TEST

void perfex_ends(void)
{
	run_fresh(exit_status, AS_USER);
	run_fresh(death_by_signal, AS_USER);
	run_fresh(passes_signals_on, NEED_COUNTERS | AS_USER);
	run_fresh(program_catches_signals, 0);
	run_fresh(program_ignores_signals, AS_USER);
	run_fresh(perfex_ignores_what_it_was_started_to, 0);
	run_fresh(under_timeout, NEED_COUNTERS | AS_USER);
	run_fresh(passes_signals_on_in_all_modes, NEED_COUNTERS | AS_USER);
	run_fresh(terminal_signals_once, 0);
	run_fresh(program_dies_with_perfex, AS_USER);
	run_fresh(reader_goes_away, AS_USER);
	run_fresh(program_not_there, AS_USER);
	run_fresh(interpreter_not_there, AS_USER);
	run_fresh(program_inherits_no_more, AS_USER);
}
