// SPDX-License-Identifier: GPL-2.0
/* perfex: several runs, several passes over events that do not fit, and runs that are compared. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/known.h"
#include "suites/perfex.h"

START_TEST(repeated)
{
	const char *s;

	perfex("-r", "5", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	is_json(output());
	ck_assert_uint_eq(strtoull(member(output(), "runs"), NULL, 10), 5);
	ck_assert_uint_eq(strtoull(member(output(), "mean"), NULL, 10), KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_eq(strtoull(member(output(), "deviation"), NULL, 10), 0);
	ck_assert_uint_eq(strtoull(member(output(), "minimum"), NULL, 10), KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_eq(strtoull(member(output(), "median"), NULL, 10), KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_eq(strtoull(member(output(), "maximum"), NULL, 10), KNOWN_LENGTH(KNOWN_LOOPS));
	perfex("-r", "3", "-e", "instructions:u", "--", KNOWN_PATH);
	ended_with(0);
	says(result.err, "mean of 3 runs");
	says(result.err, "        2,000,032    0.00%        2,000,032        2,000,032        2,000,032"
	     "  instructions:u\n");
	says(result.err, "seconds user");
	says(result.err, "seconds system");
	/* The first run that fails decides. */
	perfex("-r", "3", "--", "/bin/sh", "-c", "exit 3");
	ended_with(3);
	perfex("-r", "3", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c", "exit 3");
	ended_with(3);
	ck_assert_uint_eq(are_json_lines(output()), 1);
	ck_assert_int_eq(strtol(member(output(), "exit_status"), NULL, 10), 3);
	ck_assert(!strncmp(member(output(), "signal"), "null", 4));
	ck_assert(!strncmp(member(output(), "incomplete_because"), "null", 4));
	perfex("-r", "3", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c", ":");
	ended_with(0);
	/* As above, behind "elapsed" */
	s = member(output(), "elapsed");
	ck_assert_double_gt(strtod(member(member(s, "user"), "mean"), NULL) +
			    strtod(member(member(s, "system"), "mean"), NULL), 0);
}
END_TEST

/* Runs of known, other, other, other: the first is the odd one. */
START_TEST(warm_up_is_forgotten)
{
	static const char command[] = "if [ -e " GO " ]; then exec " KNOWN_OTHER_PATH "; fi; : > " GO
				      "; exec " KNOWN_PATH;
	uint64_t mean;

	/* Without a run to warm up it is seen: the extremes are apart, and the median is the other's. */
	perfex("-r", "4", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c", command);
	ended_with(0);
	mean = strtoull(member(output(), "mean"), NULL, 10);
	ck_assert_uint_gt(strtoull(member(output(), "maximum"), NULL, 10),
			  strtoull(member(output(), "median"), NULL, 10) + 1000000);
	ck_assert_uint_gt(mean, strtoull(member(output(), "median"), NULL, 10) + 200000);
	(void)unlink(GO);
	perfex("-r", "3", "-w", "1", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh",
	       "-c", command);
	ended_with(0);
	ck_assert_uint_eq(strtoull(member(output(), "runs"), NULL, 10), 3);
	ck_assert_uint_eq(strtoull(member(output(), "warm_up_runs"), NULL, 10), 1);
	ck_assert_uint_lt(strtoull(member(output(), "maximum"), NULL, 10),
			  strtoull(member(output(), "minimum"), NULL, 10) + 100000);
	ck_assert_uint_gt(mean, strtoull(member(output(), "maximum"), NULL, 10) + 100000);
}
END_TEST

/* How often @part is in @text */
static unsigned int occurrences(const char *text, const char *part)
{
	unsigned int n = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		n++;
	}
	return n;
}

#define MANY	20	/* no processor here counts one event on so many counters */

/* More events than any processor counts at a time */
static const char *many(void)
{
	static char events[MANY * 16];
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < MANY; i++)
		used += (size_t)snprintf(events + used, sizeof(events) - used, "%sinstructions:u",
					 i ? "," : "");
	return events;
}

/* Each run reads what the first one reads. One that reads nothing ends with 9, and counts little. */
START_TEST(each_run_has_the_input)
{
	static const char file[] = "printf '1\\n2\\n' >" SCRIPT "; ";
	static const char reads[] = "read a && read b && exec " KNOWN_PATH "; exit 9";
	uint64_t least;
	char command[1024];

	(void)snprintf(command, sizeof(command), "%s" PERFEX
		       " -r 3 -w 1 -e instructions:u --json -o " OUTPUT " -- /bin/sh -c '%s' <" SCRIPT,
		       file, reads);
	run_command(COMMAND("/bin/sh", "-c", command));
	ended_with(0);
	least = strtoull(member(output(), "minimum"), NULL, 10);
	ck_assert_uint_gt(least, KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_lt(strtoull(member(output(), "maximum"), NULL, 10), least + 2000);
	/* From where it was when perfex began */
	(void)snprintf(command, sizeof(command), "%sexec <" SCRIPT "; read a; " PERFEX
		       " -r 3 -o " OUTPUT " -- /bin/cat", file);
	run_command(COMMAND("/bin/sh", "-c", command));
	ended_with(0);
	ck_assert_str_eq(result.out, "2\n2\n2\n");
	perfex("-r", "2", "-o", OUTPUT, "--input", SCRIPT, "--", "/bin/cat");
	ended_with(0);
	ck_assert_str_eq(result.out, "1\n2\n1\n2\n");
	perfex("-e", many(), "--passes", "-o", OUTPUT, "--input", SCRIPT, "--", "/bin/cat");
	ended_with(0);
	ck_assert_uint_ge(occurrences(result.out, "1\n2\n"), 2);
	perfex_command("compare", "-r", "2", "-w", "1", "-o", OUTPUT, "--input", SCRIPT, "--",
		       "/bin/sh", "-c", "read a; echo A$a", "--", "/bin/sh", "-c", "read b; echo B$b");
	ended_with(0);
	ck_assert_str_eq(result.out, "A1\nB1\nB1\nA1\nA1\nB1\n");
}
END_TEST

/* What can be read once is for one run. */
START_TEST(input_that_can_be_read_once)
{
	static const char *const several[] = {
		"-r 2 --", "-r 1 -w 1 --", "compare -r 1 -w 0 /bin/cat --", "-r 2 --input /dev/fd/0",
	};
	char command[256];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		(void)snprintf(command, sizeof(command), "echo x | " PERFEX " %s /bin/cat", several[i]);
		run_command(COMMAND("/bin/sh", "-c", command));
		ended_with(WRONG);
		says(result.err, i < 3 ? "perfex: standard input can be read once only, and there are 2 runs" :
		     "perfex: '/dev/fd/0' can be read once only, and there are 2 runs");
		ck_assert_str_eq(result.out, "");
	}
	run_command(COMMAND("/bin/sh", "-c", "echo x | " PERFEX " -r 1 -- /bin/cat"));
	ended_with(0);
	ck_assert_str_eq(result.out, "x\n");
	/* What is closed is closed for each of them. */
	run_command(COMMAND("/bin/sh", "-c", PERFEX " -r 2 -o " OUTPUT " -- /bin/sh -c 'read a || echo none' <&-"));
	ended_with(0);
	ck_assert_str_eq(result.out, "none\nnone\n");
	perfex("--input", "/nonexistent", "--", "/bin/cat");
	ended_with(FAILED);
	says(result.err, "perfex: --input: cannot read '/nonexistent': No such file or directory\n");
	perfex("--input", "/dev/null", "-p", "1");
	ended_with(WRONG);
	says(result.err, "perfex: --input needs a program\n");
}
END_TEST

/* Each of them is exact, in whichever pass it is. */
START_TEST(as_many_passes_as_it_takes)
{
	char events[MANY * 16], exact[64];
	unsigned int i, n, passes;
	const char *line;

	(void)snprintf(events, sizeof(events), "%s", many());
	perfex("-e", events, "--passes", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	passes = (unsigned int)strtoul(member(output(), "passes"), NULL, 10);
	ck_assert_uint_ge(passes, 2);
	ck_assert_uint_eq(are_json_lines(output()), passes);
	(void)snprintf(exact, sizeof(exact), "\"count\": %" PRIu64 "}", (uint64_t)KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_eq(occurrences(output(), exact), MANY);
	line = output();
	for (i = 1; i <= passes; i++) {
		ck_assert_uint_eq(strtoul(member(line, "pass"), NULL, 10), i);
		line = strchr(line, '\n') + 1;
	}
	/* The first pass has as many as there is room for. */
	n = occurrences(output(), exact) - occurrences(strchr(output(), '\n'), exact);
	ck_assert_uint_ge(n, 1);
	events[n * strlen("instructions:u,") - 1] = '\0';
	perfex("-e", events, "--passes", "--", KNOWN_PATH);
	ended_with(0);
	says(result.err, ", pass 1 of 1:\n");
	events[n * strlen("instructions:u,") - 1] = ',';
	events[(n + 1) * strlen("instructions:u,") - 1] = '\0';
	perfex("-e", events, "--", KNOWN_PATH);
	ended_with(FAILED);
	perfex("-e", events, "--passes", "--", KNOWN_PATH);
	ended_with(0);
	says(result.err, ", pass 2 of 2:\n");
	ck_assert_uint_eq(occurrences(result.err, "2,000,032  instructions:u\n"), n + 1);

	perfex("-e", events, "--passes", "--csv", "-r", "2", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	ck_assert_uint_eq(occurrences(output(), "pass,name,mode,unit,runs,"), 1);
	ck_assert_uint_eq(occurrences(output(), "\n1,instructions,u,,2,0,2000032.000,0.000,"), n);
	ck_assert_uint_eq(occurrences(output(), "\n2,instructions,u,,2,0,2000032.000,0.000,"), 1);
	perfex("-e", events, "--passes", "--csv", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	ck_assert_uint_eq(occurrences(output(), "record,time,part,"), 1);
	ck_assert_uint_eq(occurrences(output(), ",pass 2,instructions,u,,2000032\n"), 1);
}
END_TEST

/* Both add a line to a file each time. One ends with 3 from the second time on, one with 0 by a signal. */
#define TIMES	"/tmp/times"
static const char exits_later[] = "echo again >>" TIMES "; [ $(grep -c again " TIMES ") = 1 ] || exit 3";
static const char signals_us[] = "echo again >>" TIMES "; trap 'exit 0' TERM; kill -TERM $PPID; sleep 5; sleep 5";

static unsigned int times_run(void)
{
	char text[1024] = "";

	(void)read_text(TIMES, text, sizeof(text));
	(void)unlink(TIMES);
	return occurrences(text, "again");
}

/* The run of this number fails, or has perfex told to end; the others are known. */
static const char *odd_run(unsigned int number, const char *how)
{
	static char command[256];

	(void)snprintf(command, sizeof(command), "echo again >>" TIMES "; [ $(grep -c again " TIMES
		       ") = %u ] && { %s; }; exec " KNOWN_PATH, number, how);
	return command;
}

/* Their counts are in no mean, and it is told how many they are. */
START_TEST(runs_that_fail_are_left_out)
{
	const char *command = odd_run(2, "exit 3");
	uint64_t least;

	perfex("-r", "3", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c", command);
	ended_with(3);
	ck_assert_uint_eq(times_run(), 3);
	says(output(), "\"runs\": 2, \"failed\": 1, \"warm_up_failed\": 0, \"interrupted\": false, ");
	least = strtoull(member(output(), "minimum"), NULL, 10);
	ck_assert_uint_gt(least, KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_lt(strtoull(member(output(), "maximum"), NULL, 10), least + 20000);
	perfex("-r", "3", "-e", "instructions:u", "--csv", "-o", OUTPUT, "--", "/bin/sh", "-c", command);
	ended_with(3);
	ck_assert_uint_eq(times_run(), 3);
	says(output(), "name,mode,unit,runs,failed,mean,sd,minimum,median,maximum\ninstructions,u,,2,1,");
	perfex("-r", "3", "-e", "instructions:u", "--", "/bin/sh", "-c", command);
	ended_with(3);
	ck_assert_uint_eq(times_run(), 3);
	says(result.err, "', mean of 2 runs  (1 of 3 runs failed):\n");
	/* If all fail there is no mean. */
	perfex("-r", "2", "-e", "instructions:u", "--csv", "-o", OUTPUT, "--", "/bin/false");
	ended_with(1);
	says(output(), "\ninstructions,u,,0,2,,,,,\n");
	perfex_command("compare", "-r", "2", "-w", "0", "-e", "instructions:u", "--csv", "-o", OUTPUT, "--",
		       KNOWN_PATH, "--", "/bin/sh", "-c", command);
	ended_with(3);
	ck_assert_uint_eq(times_run(), 2);
	says(output(), "\ninstructions,u,,2,0,2000032.000,0.000,2000032.000,2000032.000,2000032.000,1,1,");
	perfex_command("compare", "-r", "2", "-w", "0", "--", KNOWN_PATH, "--", "/bin/sh", "-c", command);
	ended_with(3);
	(void)times_run();
	says(result.err, "  (1 of 2 runs failed)\n 2 runs of A and 1 of B, in turns:\n");
}
END_TEST

/* A signal ends the runs: the one that it came in is left out, whatever it ended with. */
START_TEST(run_that_is_interrupted_is_left_out)
{
	static const char interrupts[] = "trap \"exit 0\" TERM; kill -TERM $PPID; sleep 5";

	perfex("-r", "9", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c",
	       odd_run(3, interrupts));
	ended_with(0);
	ck_assert_uint_eq(times_run(), 3);
	says(output(), "\"runs\": 2, \"failed\": 1, \"warm_up_failed\": 0, \"interrupted\": true, ");
	ck_assert_uint_lt(strtoull(member(output(), "maximum"), NULL, 10),
			  strtoull(member(output(), "minimum"), NULL, 10) + 20000);
	perfex("-r", "9", "--", "/bin/sh", "-c", odd_run(1, interrupts));
	ended_with(0);
	ck_assert_uint_eq(times_run(), 1);
	says(result.err, "', mean of 0 runs  (1 of 1 runs failed, interrupted):\n");
	says(result.err, "    <not counted>");
	/* Of runs to warm up nothing is counted, nor then. */
	perfex("-r", "9", "-w", "2", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c",
	       odd_run(1, interrupts));
	ended_with(0);
	ck_assert_uint_eq(times_run(), 1);
	says(output(), "\"runs\": 0, \"failed\": 0, \"warm_up_failed\": 1, \"interrupted\": true, ");
	says(output(), "\"kernel\": false, \"mean\": null, ");
	perfex_command("compare", "-r", "9", "-w", "0", "-o", OUTPUT, "--", "/bin/sh", "-c",
		       odd_run(1, interrupts), "--", "/bin/true");
	ended_with(FAILED);
	(void)times_run();
	says(result.err, "perfex: it was ended before each program had run\n");
}
END_TEST

/* It decides the exit status, and is told, with -r and in a comparison alike. */
START_TEST(warm_up_that_fails)
{
	const char *command = odd_run(1, "exit 7");

	perfex("-r", "2", "-w", "1", "-e", "instructions:u", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c",
	       command);
	ended_with(7);
	ck_assert_uint_eq(times_run(), 3);
	says(output(), "\"runs\": 2, \"failed\": 0, \"warm_up_failed\": 1, \"interrupted\": false, ");
	ck_assert_int_eq(strtol(member(output(), "exit_status"), NULL, 10), 7);
	perfex("-r", "2", "-w", "1", "--", "/bin/sh", "-c", command);
	ended_with(7);
	(void)times_run();
	says(result.err, "', mean of 2 runs after 1 to warm up  (1 to warm up failed):\n");
	perfex_command("compare", "-r", "2", "-w", "1", "--", "/bin/true", "--", "/bin/sh", "-c", command);
	ended_with(7);
	ck_assert_uint_eq(times_run(), 3);
	says(result.err, "  (1 to warm up failed)\n 2 runs of each, in turns, after 1 to warm up:\n");
}
END_TEST

/* The first run that fails decides, and each pass tells of its own. */
START_TEST(one_pass_fails)
{
	const char *second;

	perfex("-e", many(), "--passes", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c", exits_later);
	ended_with(3);
	ck_assert_uint_ge(times_run(), 2);
	ck_assert_int_eq(strtol(member(output(), "exit_status"), NULL, 10), 0);
	second = strchr(output(), '\n') + 1;
	ck_assert_int_eq(strtol(member(second, "exit_status"), NULL, 10), 3);
	/* Of two runs of the first pass the second has failed; all of the others. */
	perfex("-e", many(), "--passes", "-r", "2", "--json", "-o", OUTPUT, "--", "/bin/sh", "-c", exits_later);
	ended_with(3);
	(void)times_run();
	ck_assert_uint_eq(occurrences(output(), "\"exit_status\": 3"), are_json_lines(output()));
}
END_TEST

/* A mode that one pass cannot have is that pass's alone. */
START_TEST(modes_of_passes)
{
	char events[MANY * 16 + 16];

	(void)snprintf(events, sizeof(events), "%s,cycles", many());
	perfex("-e", events, "--passes", "-r", "2", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	says(output(), "{\"event\": \"cycles\", \"user\": true, \"kernel\": false, ");
	ck_assert_uint_eq(occurrences(output(), "\"kernel\": true"), 0);
	ck_assert_uint_eq(occurrences(output(), "\"user_only\": true"), 1);
}
END_TEST

/* Nothing is run if one of the passes is refused, and a signal leaves no file. */
START_TEST(passes_that_are_not_all)
{
	char events[MANY * 16 + 16];

	(void)snprintf(events, sizeof(events), "%s,cycles:k", many());
	perfex("-e", events, "--passes", "--", "/bin/sh", "-c", exits_later);
	ended_with(FAILED);
	says(result.err, "cycles: counting in kernel mode needs a privilege");
	ck_assert_uint_eq(times_run(), 0);
	perfex("-e", many(), "--passes", "-o", OUTPUT, "--", "/bin/sh", "-c", signals_us);
	ended_with(FAILED);
	says(result.err, "perfex: a signal came before pass 2 of ");
	says(result.err, ": there are no counts of all events\n");
	ck_assert_uint_eq(times_run(), 1);
	ck_assert_int_eq(access(OUTPUT, F_OK), -1);
}
END_TEST

/* Of an event that there is not nothing is run. */
START_TEST(passes_fail)
{
	perfex("-e", "instructions:u,no-such-event", "--passes", "--", "/bin/touch", "/tmp/was-run");
	ended_with(FAILED);
	says(result.err, "perfex: no event has the name 'no-such-event'\n");
	ck_assert_int_eq(access("/tmp/was-run", F_OK), -1);
	perfex("-e", "instructions:u", "--passes", "--", "/bin/sh", "-c", "exit 3");
	ended_with(3);
	perfex("-e", "instructions:u", "--passes", "-o", OUTPUT, "--", "/no/such/program");
	ended_with(127);
	ck_assert_int_eq(access(OUTPUT, F_OK), -1);
	perfex("--passes", "--", "/bin/true");
	ended_with(WRONG);
	says(result.err, "perfex: --passes needs --event (-e)\n");
}
END_TEST

/* Two programs in turns: exact counts have an exact difference. */
START_TEST(compares)
{
	const double a = KNOWN_LENGTH(KNOWN_LOOPS), b = KNOWN_LENGTH(KNOWN_OTHER_LOOPS);
	char words[128];
	const char *s;

	perfex_command("compare", "-r", "5", "-e", "instructions:u", "--json", "-o", OUTPUT, "--",
			      KNOWN_PATH, "--", KNOWN_OTHER_PATH);
	ended_with(0);
	ck_assert_uint_eq(are_json_lines(output()), 1);
	says(output(), "{\"a\": {\"command\": [\"" KNOWN_PATH "\"], \"runs\": 5, \"failed\": 0, "
	     "\"warm_up_failed\": 0, \"interrupted\": false}");
	says(output(), "\"warm_up_runs\": 1, \"confidence\": 0.95");
	s = strstr(output(), "{\"name\": \"instructions\"");
	ck_assert_ptr_nonnull(s);
	ck_assert_double_eq(strtod(member(member(s, "a"), "median"), NULL), a);
	ck_assert_double_eq(strtod(member(member(s, "b"), "median"), NULL), b);
	ck_assert_double_eq(strtod(member(s, "difference"), NULL), b - a);
	ck_assert_double_eq(strtod(member(s, "low"), NULL), b - a);
	ck_assert_double_eq(strtod(member(s, "high"), NULL), b - a);
	/* With times there is an interval, and it is around the difference. */
	s = strstr(output(), "{\"name\": \"elapsed\"");
	ck_assert_ptr_nonnull(s);
	ck_assert_double_lt(strtod(member(s, "low"), NULL), strtod(member(s, "difference"), NULL));
	ck_assert_double_gt(strtod(member(s, "high"), NULL), strtod(member(s, "difference"), NULL));

	perfex_command("compare", "-r", "5", "-w", "0", "-e", "instructions:u", "--", KNOWN_PATH, "--",
			      KNOWN_OTHER_PATH);
	ended_with(0);
	says(result.err, " A: " KNOWN_PATH "\n B: " KNOWN_OTHER_PATH "\n 5 runs of each, in turns:\n");
	says(result.err, "mean of A       sd        mean of B       sd         B less A, 95 %\n");
	(void)snprintf(words, sizeof(words), "%+.2f%% +- 0.00%%  instructions:u\n", 100 * (b - a) / a);
	says(result.err, words);
	/* Four runs are too few for an interval. */
	perfex_command("compare", "-r", "4", "-w", "0", "-e", "instructions:u", "--", KNOWN_PATH, "--",
			      KNOWN_OTHER_PATH);
	ended_with(0);
	(void)snprintf(words, sizeof(words), "             %+.2f%%  instructions:u\n", 100 * (b - a) / a);
	says(result.err, words);
	perfex_command("compare", "-r", "2", "-e", "instructions:u", "--csv", "-o", OUTPUT,
			      KNOWN_PATH, "--", KNOWN_OTHER_PATH);
	ended_with(0);
	says(output(), "\ninstructions,u,,2,0,2000032.000,0.000,2000032.000,2000032.000,2000032.000,2,0,");
}
END_TEST

/* In turns, and each is first as often: what they write is in that order. */
START_TEST(compares_in_turns)
{
	perfex_command("compare", "-r", "3", "-w", "1", "-o", OUTPUT, "--", "/bin/echo", "a", "--",
			      "/bin/echo", "b");
	ended_with(0);
	ck_assert_str_eq(result.out, "a\nb\nb\na\na\nb\nb\na\n");
	/* The first run that fails decides, and it is told which program did. */
	perfex_command("compare", "-r", "3", "--", "/bin/true", "--", "/bin/sh", "-c", "exit 5");
	ended_with(5);
	says(result.err, " B: /bin/sh -c exit 5  (3 of 3 runs failed, 1 to warm up failed)\n");
	perfex_command("compare", "-r", "3", "--", "/bin/true", "--", "/nonexistent");
	ended_with(127);
}
END_TEST

START_TEST(compare_that_cannot_be)
{
	static const char *const bad[][2] = {
		{ "/bin/true", NULL }, { "--", NULL }, { "/bin/true", "--" }, { NULL, NULL },
	};
	unsigned int i;

	for (i = 0; i < 4; i++) {
		run_command((const char *const[]){ PERFEX, "compare", bad[i][0], bad[i][1], NULL });
		ended_with(WRONG);
		says(result.err, i < 1 || i == 2 ? "There is no second one after '/bin/true'" :
		     "which program");
	}
	run_command(COMMAND(PERFEX, "compare", "-I", "10", "true", "--", "true"));
	ended_with(WRONG);
	says(result.err, "there is no option -I");
	run_command(COMMAND(PERFEX, "compare", "-h"));
	ended_with(0);
	says(result.out, "--warm-up N");
}
END_TEST

/* Files of three programs: the numbers of each are known. */
START_TEST(merges)
{
	const unsigned long a = KNOWN_LENGTH(KNOWN_LOOPS), b = KNOWN_LENGTH(KNOWN_OTHER_LOOPS);
	char words[256];

	(void)mkdir("/tmp/merge", 0777);
	(void)chdir("/tmp/merge");
	perfex("-e", "instructions:u", "--json", "-o", "0.json", "--", KNOWN_PATH);
	ended_with(0);
	perfex("-e", "instructions:u", "-I", "1000", "--json", "-o", "1.json", "--", KNOWN_OTHER_PATH);
	ended_with(0);
	perfex("-e", "instructions:u", "--json", "-o", "2.json", "--", KNOWN_PATH);
	ended_with(0);
	run_command(COMMAND(PERFEX, "merge", "--csv", "0.json", "1.json", "2.json"));
	ended_with(0);
	(void)snprintf(words, sizeof(words), "instructions,u,,3,%lu,1.json,%.3f,%lu,0.json,%lu\n", b,
		       (double)(2 * a + b) / 3, a, 2 * a + b);
	says(result.out, words);
	run_command(COMMAND(PERFEX, "merge", "--json", "0.json", "1.json", "2.json"));
	ended_with(0);
	is_json(result.out);
	(void)snprintf(words, sizeof(words), "\"minimum\": %lu, \"minimum_of\": \"1.json\"", b);
	says(result.out, words);
	run_command(COMMAND(PERFEX, "merge", "0.json", "2.json"));
	ended_with(0);
	says(result.out, "        2,000,032  all           2,000,032        2,000,032  all           4,000,064"
	     "  instructions:u\n");
	/* A number of some of them is no number of all. */
	write_file("3.json", "{\"counts\": [{\"event\": \"instructions\", \"user\": true, \"kernel\": false, "
		   "\"count\": null}], \"complete\": true}\n");
	run_command(COMMAND(PERFEX, "merge", "0.json", "3.json", "2.json"));
	ended_with(0);
	says(result.out, "        2,000,032  all           2,000,032        2,000,032  all           4,000,064"
	     "  instructions:u (of 2)\n");
	/* From 10^12 on a number is as wide as its column. */
	write_file("big.json", "{\"counts\": [{\"event\": \"cycles\", \"user\": true, \"kernel\": false, "
		   "\"count\": 1000000000000}], \"complete\": true}\n");
	run_command(COMMAND(PERFEX, "merge", "big.json", "big.json"));
	ended_with(0);
	says(result.out, "\n 1,000,000,000,000  all      1,000,000,000,000 1,000,000,000,000  all      "
	     "2,000,000,000,000  cycles:u\n");
	write_file("big.json", "{\"counts\": [{\"event\": \"x\", \"count\": 1.5e9}], \"complete\": true}\n");
	run_command(COMMAND(PERFEX, "merge", "big.json"));
	ended_with(WRONG);
	says(result.err, "'big.json' line 1 is not what perfex --json writes: 'count' is 1.5e9, which is no whole");
	/* What is no such file */
	write_file("bad.json", "{\"counts\": [}\n");
	run_command(COMMAND(PERFEX, "merge", "0.json", "bad.json"));
	ended_with(WRONG);
	says(result.err, "'bad.json' line 1 is no JSON: at character 13 there is '}', where a value was expected");
	ck_assert_str_eq(result.out, "");
	perfex("-r", "2", "--json", "-o", "r.json", "--", "/bin/true");
	run_command(COMMAND(PERFEX, "merge", "r.json"));
	ended_with(WRONG);
	says(result.err, "'r.json' line 1 is not the counts of one run");
	run_command(COMMAND(PERFEX, "merge", "none.json"));
	ended_with(WRONG);
	says(result.err, "'none.json' cannot be read: No such file or directory");
	run_command(COMMAND(PERFEX, "merge"));
	ended_with(WRONG);
	says(result.err, "which files?");
	ck_assert_int_eq(system("rm -r /tmp/merge"), 0);
}
END_TEST

void perfex_runs(void)
{
	run_fresh(repeated, NEED_COUNTERS | AS_USER);
	run_fresh(warm_up_is_forgotten, NEED_COUNTERS | AS_USER);
	run_fresh(each_run_has_the_input, NEED_COUNTERS | AS_USER);
	run_fresh(input_that_can_be_read_once, AS_USER);
	run_fresh(compares, NEED_COUNTERS | AS_USER);
	run_fresh(compares_in_turns, AS_USER);
	run_fresh(compare_that_cannot_be, AS_USER);
	run_fresh(merges, NEED_COUNTERS | AS_USER);
	run_fresh(as_many_passes_as_it_takes, NEED_COUNTERS | AS_USER);
	run_fresh(passes_fail, NEED_COUNTERS | AS_USER);
	run_fresh(one_pass_fails, NEED_COUNTERS | AS_USER);
	run_fresh(runs_that_fail_are_left_out, NEED_COUNTERS | AS_USER);
	run_fresh(run_that_is_interrupted_is_left_out, NEED_COUNTERS | AS_USER);
	run_fresh(warm_up_that_fails, NEED_COUNTERS | AS_USER);
	run_fresh(modes_of_passes, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	run_fresh(passes_that_are_not_all, NEED_CYCLES | NEED_COUNTERS | AS_USER);
}
