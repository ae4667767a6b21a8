// SPDX-License-Identifier: GPL-2.0
/* perfex: what it prints, in each form, and where that goes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/known.h"
#include "suites/perfex.h"

/* The value of a line of CSV that begins so, or -1 */
static double csv_value(const char *text, const char *beginning)
{
	const char *line = text, *comma;

	while (line && strncmp(line, beginning, strlen(beginning)) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line)
		return -1;
	comma = line + strcspn(line, "\n");
	while (*comma != ',')
		comma--;
	return strtod(comma + 1, NULL);
}

/* Counts of the same mode have a ratio, and others have none. An instruction is a cycle here. */
START_TEST(derived_values)
{
	perfex("-e", "instructions:u,cycles:u", "--csv", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	says(output(), ",instructions per cycle,u,,1.000000\n");
	says_not(output(), "GHz");
	says(output(), ",processors used,,,");
	perfex("-e", "instructions:u,cycles:u", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	is_json(output());
	says(output(), "\"derived\": [{\"name\": \"instructions per cycle\", \"user\": true, "
	     "\"kernel\": false, \"unit\": \"\", \"value\": 1.000000}");
	perfex("-e", "instructions:u,cycles:u", "--", KNOWN_PATH);
	ended_with(0);
	says(result.err, "               1.000  instructions per cycle:u\n");
	if (guest.nprogrammable < 3)
		return;
	perfex("-e", "instructions:u,cycles:u,branches:u", "-r", "3", "--csv", "-o", OUTPUT, "--",
	       KNOWN_PATH);
	ended_with(is_x86() ? 0 : WEXITSTATUS(result.status));
	if (is_x86())
		says(output(), "instructions per cycle,u,,3,0,1.000000,0.000000,1.000000,1.000000,1.000000\n");
}
END_TEST

/* Cycles of both modes over the clock's seconds; instructions of one mode go with no cycles of both. */
START_TEST(derived_values_as_root)
{
	double cycles, seconds, ghz;

	/* All counters of a PowerPC are of one mode. */
	perfex("-e", is_ppc() ? "cycles" : "instructions:u,cycles", "--csv", "-o", OUTPUT, "--",
	       KNOWN_PATH);
	ended_with(0);
	says_not(output(), "instructions per cycle");
	says(output(), "record,time,part,name,mode,unit,value\n");
	/* Ticks of unknown length give no seconds, and so no frequency. */
	if (!guest.info.tsc_hz) {
		says_not(output(), "GHz");
		return;
	}
	cycles = strtod(strstr(output(), ",cycles,uk,,") + strlen(",cycles,uk,,"), NULL);
	seconds = strtod(strstr(output(), ",on a processor,,s,") + strlen(",on a processor,,s,"), NULL);
	ghz = strtod(strstr(output(), ",cycles per nanosecond,uk,GHz,") +
		     strlen(",cycles per nanosecond,uk,GHz,"), NULL);
	ck_assert_double_eq_tol(ghz, cycles / seconds / 1e9, 1e-5);
	/* A CPU that idles has a clock that runs on, so there is no frequency of it. */
	if (guest.shared)
		return;
	perfex("-C", "0", "-e", "cycles", "--csv", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	says_not(output(), "GHz");
	perfex("-C", "0", "--no-idle", "-e", "cycles", "--csv", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	says(output(), "GHz");
}
END_TEST

/* The intervals' lines add up to the total's, and no line is anything else. */
START_TEST(csv_of_intervals)
{
	static const char command[] = "for i in 1 2 3 4; do " KNOWN_PATH "; sleep 0.03; done";
	double sum = 0, total = -1;
	unsigned int lines = 0, parts = 0;
	const char *line;

	perfex("-I", "20", "-e", "instructions:u", "--csv", "-o", OUTPUT, "--", "/bin/sh", "-c", command);
	ended_with(0);
	line = output();
	ck_assert(!strncmp(line, "record,time,part,name,mode,unit,value\n", 38));
	for (line = strchr(line, '\n') + 1; *line; line = strchr(line, '\n') + 1, lines++) {
		const char *name = strstr(line, ",,instructions,u,,");
		bool interval = !strncmp(line, "interval,", 9);

		ck_assert_msg(interval || !strncmp(line, "total,", 6), "%.100s", line);
		parts += interval;
		if (!name || name > strchr(line, '\n'))
			continue;
		if (interval)
			sum += strtod(name + 18, NULL);
		else
			total = strtod(name + 18, NULL);
	}
	ck_assert_uint_gt(lines, parts);
	ck_assert_uint_gt(parts, 5);
	ck_assert_double_eq(sum, total);
	ck_assert_double_gt(total, 4 * (double)KNOWN_LENGTH(KNOWN_LOOPS));
}
END_TEST

/* What is not counted is an empty field, and a thread's name may be anything. */
START_TEST(csv_of_threads)
{
	perfex("--per-thread", "-e", "instructions:u", "--csv", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	says(output(), " known,instructions,u,,2000032\n");
	ck_assert_double_ge(csv_value(output(), "total,"), 0);
	ck_assert_int_eq(system("cp " KNOWN_PATH " '" COMMA_NAME "'"), 0);
	perfex("--per-thread", "-e", "instructions:u", "--csv", "-o", OUTPUT, "--", COMMA_NAME);
	ended_with(0);
	says(output(), " a,\"\"b\",instructions,u,,2000032\n");
}
END_TEST

static void moves_no_cursor(const char *text)
{
	const char *s;

	ck_assert_str_ne(text, "");
	for (s = text; *s; s++)
		ck_assert_msg(*s == '\n' || (*s >= 0x20 && *s < 0x7f), "byte 0x%02x at %zu",
			      (unsigned char)*s, (size_t)(s - text));
}

/* The names of a program, a thread, a file and an event, in each form of output */
START_TEST(no_text_moves_a_cursor)
{
	static const char *const forms[] = { "", "--json", "--csv" };
	unsigned int i;

	ck_assert_int_eq(system("cp " KNOWN_PATH " '" EVIL_NAME "'"), 0);
	for (i = 0; i < 3; i++) {
		perfex("-e", "instructions:u", "--per-thread", *forms[i] ? forms[i] : "--per-thread", "--",
		       EVIL_NAME);
		ended_with(0);
		moves_no_cursor(result.err);
		perfex_command("compare", "-r", "2", "-e", "instructions:u",
			       *forms[i] ? forms[i] : "--warm-up=0", EVIL_NAME, "--", EVIL_NAME);
		ended_with(0);
		moves_no_cursor(result.err);
	}
	perfex("-e", "instructions:u", "--json", "-o", EVIL_NAME ".json", EVIL_NAME); // NOLINT(bugprone-suspicious-missing-comma)
	ended_with(0);
	ck_assert_int_eq(system("sed -i 's/instructions/\\\\u001b\\\\u009b/' '" EVIL_NAME ".json'"), 0);
	for (i = 0; i < 3; i++) {
		run_command(COMMAND(PERFEX, "merge", *forms[i] ? forms[i] : "--", EVIL_NAME ".json",
				    EVIL_NAME ".json"));
		ended_with(0);
		moves_no_cursor(result.out);
	}
	run_command(COMMAND(PERFEX, "merge", EVIL_NAME));
	ended_with(WRONG);
	moves_no_cursor(result.err);
	(void)unlink(EVIL_NAME ".json");
}
END_TEST

/* tests/unit/test_plot.c looks at what is drawn. */
START_TEST(plots_intervals)
{
	static const char command[] = "for i in 1 2 3; do " KNOWN_PATH "; sleep 0.03; done";
	const char *s;
	unsigned int steps = 0;

	perfex("-I", "20", "--plot", PICTURE, "-e", "instructions:u", "--json", "-o", OUTPUT, "--",
	       "/bin/sh", "-c", command);
	ended_with(0);
	ck_assert_int_gt(read_text(PICTURE, result.out, sizeof(result.out)), 0);
	says(result.out, ">instructions:u in a second</text>");
	says(result.out, "<title>perfex: /bin/sh -c for i in 1 2 3; do ");
	says(result.out, "</svg>\n");
	/* A step for each interval: the lines of JSON without the last one */
	s = strstr(result.out, "<path class=\"line\"");
	for (; *s != '>'; s++)
		steps += *s == 'H';
	ck_assert_uint_eq(steps, are_json_lines(output()) - 1);
	/* Whole or not at all */
	write_file(PICTURE, "old");
	perfex("-I", "20", "--plot", PICTURE, "--", "/nonexistent");
	ended_with(127);
	ck_assert_int_eq(read_text(PICTURE, result.out, sizeof(result.out)), 3);
	perfex("-I", "20", "--plot", PICTURE, "-o", PICTURE, "--", "/bin/true");
	ended_with(WRONG);
	perfex("-I", "20", "--plot", "/nonexistent/file", "--", "/bin/touch", "/tmp/was-run");
	ended_with(FAILED);
	says(result.err, "cannot write '/nonexistent/file': No such file or directory");
	ck_assert_int_ne(access("/tmp/was-run", F_OK), 0);
}
END_TEST

/*
 * What perfex writes to a terminal, with these words for the environment. It comes in pieces; an @ that is
 * written after it is the end.
 */
static void on_a_terminal(int master, int slave, const char *name, const char *no_color, const char *term)
{
	size_t length = 0;
	ssize_t n;
	pid_t pid;

	ck_ok(pid = fork());
	if (!pid) {
		redirect(2, name, O_RDWR);
		(void)setenv("NO_COLOR", no_color, 1);
		(void)setenv("TERM", term, 1);
		execl(PERFEX, PERFEX, "--", "/bin/true", (char *)NULL);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(pid, &result.status, 0), pid);
	ended_with(0);
	ck_assert_int_eq(write(slave, "@", 1), 1);
	do {
		n = read(master, result.err + length, sizeof(result.err) - 1 - length);
		ck_assert_int_gt(n, 0);
		length += (size_t)n;
		result.err[length] = '\0';
	} while (!strchr(result.err, '@'));
	says(result.err, "Counts of ");
}

/* NO_COLOR with any text in it, a dumb terminal and a file have none. */
START_TEST(colours_on_terminals)
{
	char name[64];
	int master = open_terminal(name, sizeof(name));
	int slave = open(name, O_RDWR | O_NOCTTY);	/* so that the terminal stays */

	on_a_terminal(master, slave, name, "", "linux");
	says(result.err, "\033[1m'/bin/true'\033[0m");
	on_a_terminal(master, slave, name, "1", "linux");
	says_not(result.err, "\033");
	on_a_terminal(master, slave, name, "", "dumb");
	says_not(result.err, "\033");
	ck_ok(setenv("TERM", "linux", 1));
	perfex("--", "/bin/true");
	ended_with(0);
	says_not(result.err, "\033");
	close(slave);
	close(master);
}
END_TEST

/* --- where the counts go, and when they do not --- */

/* What was there before stays there until there is something better. */
START_TEST(old_results_are_kept)
{
	static char old[8000];
	struct stat st;
	pid_t pid;

	memset(old, 'x', sizeof(old) - 1);
	write_file(OUTPUT, old);
	perfex("-o", OUTPUT, "--", "/nonexistent/program");
	ended_with(127);
	ck_assert_str_eq(output(), old);
	perfex("-o", OUTPUT, "-e", "", "--", "/bin/true");
	ended_with(FAILED);
	ck_assert_str_eq(output(), old);
	pid = start_perfex("-o", OUTPUT, "--", CATCHER, READY);
	signal_perfex(pid, SIGKILL);
	finish_command(pid);
	ck_assert_str_eq(output(), old);
	/* Nor is anything of the file that was to take its place, if perfex lives to the end. */
	ck_assert_int_eq(system("test $(ls -d " OUTPUT "* | wc -l) = 2"), 0);
	(void)system("rm -f " OUTPUT ".*");
	/* A symbolic link stays one, the file's mode stays, and none of its old content is left. */
	ck_ok(chmod(OUTPUT, 0640));
	ck_ok(symlink(OUTPUT, OUTPUT_LINK));
	perfex("-o", OUTPUT_LINK, "--json", "--", "/bin/true");
	ended_with(0);
	ck_ok(lstat(OUTPUT_LINK, &st));
	ck_assert(S_ISLNK(st.st_mode));
	ck_ok(stat(OUTPUT, &st));
	ck_assert_int_eq(st.st_mode & 07777, 0640);
	ck_assert_uint_eq(are_json_lines(output()), 1);
	/* So does one that leads to no file yet. */
	ck_ok(unlink(OUTPUT));
	perfex("-o", OUTPUT_LINK, "--json", "--", "/bin/true");
	ended_with(0);
	ck_ok(lstat(OUTPUT_LINK, &st));
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_uint_eq(are_json_lines(output()), 1);
	/* No results, no file */
	ck_ok(unlink(OUTPUT));
	perfex("-o", OUTPUT, "--", "/nonexistent/program");
	ended_with(127);
	ck_assert_int_ne(access(OUTPUT, F_OK), 0);
	ck_assert_int_ne(system("ls -d " OUTPUT "* 2>/dev/null"), 0);
}
END_TEST

/* While the program runs there is the old file, whole; when it has ended, the new one, whole. */
START_TEST(output_whole_or_not_at_all)
{
	static const char into_a_fifo[] = "mkfifo /tmp/fifo; cat /tmp/fifo & " PERFEX
		" -o /tmp/fifo true; wait; test -p /tmp/fifo && rm /tmp/fifo";
	struct stat st;
	pid_t pid;

	write_file(OUTPUT, "old\n");
	pid = start_perfex("-I", "100", "--json", "-o", OUTPUT, "--", CATCHER, READY);
	await_file(READY);
	sleep_us(350000);
	ck_assert_str_eq(output(), "old\n");
	ck_ok(kill(pid, SIGTERM));
	finish_command(pid);
	ck_assert_uint_gt(are_json_lines(output()), 3);
	/* A file system that is full: the old one stays, and that is told. */
	(void)mkdir("/tmp/full", 0700);
	ck_ok(mount("tmpfs", "/tmp/full", "tmpfs", 0, "size=8k"));
	write_file("/tmp/full/out", "old\n");
	ck_assert_int_eq(system("dd if=/dev/zero of=/tmp/full/rest bs=4k 2>/dev/null"), 1 << 8);
	perfex("-o", "/tmp/full/out", "--", "/bin/true");
	ck_assert_int_gt(read_text("/tmp/full/out", result.out, sizeof(result.out)), 0);
	ck_assert_int_eq(stat("/tmp/full/rest", &st), 0);
	ck_assert_int_eq(system("test $(ls /tmp/full | wc -l) = 2"), 0);
	ck_ok(umount("/tmp/full"));
	ended_with(FAILED);
	ck_assert_str_eq(result.out, "old\n");
	says(result.err, "cannot write '/tmp/full/out': No space left on device");
	says(result.err, "seconds elapsed");
	/* What is open already is not replaced, though it is a file here. */
	perfex("-o", "/dev/stdout", "--", "/bin/echo", "before");
	ended_with(0);
	ck_assert(!strncmp(result.out, "before\n", 7));
	says(result.out, "seconds elapsed");
	perfex("-o", "/dev/fd/2", "--", "/bin/true");
	ended_with(0);
	says(result.err, "seconds elapsed");
	/* Nor is what is no file */
	run_command(COMMAND("/bin/sh", "-c", into_a_fifo));
	ended_with(0);
	says(result.out, "seconds elapsed");
}
END_TEST

/* Each process of many has a file of its own. */
START_TEST(output_named_by_pattern)
{
	static const char pattern[] = OUTPUT ".%q{RANK}.%p.%h.%%";
	static char name[128];
	struct utsname uts;
	pid_t pid;

	ck_ok(uname(&uts));
	ck_ok(setenv("RANK", "3", 1));
	pid = start_perfex("-o", pattern, "--", "/bin/true");
	finish_command(pid);
	ended_with(0);
	(void)snprintf(name, sizeof(name), OUTPUT ".3.%d.%s.%%", pid, uts.nodename);
	ck_assert_int_gt(read_text(name, result.out, sizeof(result.out)), 0);
	says(result.out, "seconds elapsed");
	ck_ok(unlink(name));
	/* A variable does not lead to another directory. */
	ck_ok(setenv("RANK", "../x", 1));
	perfex("-o", pattern, "--", "/bin/true");
	ended_with(WRONG);
	says(result.err, "RANK is '../x', which has a slash");
}
END_TEST

/* The program's own words stay on its own stdout and stderr. */
START_TEST(output_file)
{
	perfex("-o", OUTPUT, "--", "/bin/sh", "-c", "echo to-stdout; echo to-stderr >&2");
	ended_with(0);
	ck_assert_str_eq(result.out, "to-stdout\n");
	ck_assert_str_eq(result.err, "to-stderr\n");
	says(output(), "seconds elapsed");
	perfex("--", "/bin/sh", "-c", "echo to-stdout");
	ended_with(0);
	ck_assert_str_eq(result.out, "to-stdout\n");
	says(result.err, "seconds elapsed");
}
END_TEST

/* A shell's limit of 128 kilobytes is the program's, and perfex's. */
START_TEST(small_stack)
{
	static const char *const commands[] = {
		"", "--json", "--csv", "-I 10 --plot " PICTURE, "-r 2", "compare -r 2 true --", // NOLINT(bugprone-suspicious-missing-comma)
	};
	char command[160];
	unsigned int i;

	for (i = 0; i < 6; i++) {
		(void)snprintf(command, sizeof(command), "ulimit -s 128; exec " PERFEX " %s /bin/true",
			       commands[i]);
		run_command(COMMAND("/bin/sh", "-c", command));
		ended_with(0);
	}
}
END_TEST

#define PLACE		"/tmp/place"
#define KEPT		"What could be written is in '"

/* The file that perfex says it kept has the counts; it is read to @text. */
static void is_kept(char *text, size_t size)
{
	const char *name = strstr(result.err, KEPT), *end;
	char path[128];

	ck_assert_msg(name != NULL, "%s", result.err);
	name += strlen(KEPT);
	end = strchr(name, '\'');
	ck_assert_ptr_nonnull(end);
	(void)snprintf(path, sizeof(path), "%.*s", (int)(end - name), name);
	ck_assert_int_gt(read_text(path, text, (unsigned int)size), 0);
}

/* What cannot take its name after the run stays beside it, or comes on stderr if there is no place left. */
START_TEST(counts_are_never_lost)
{
	static const char limited[] = "(ulimit -f 0; " PERFEX " %s; echo status $?) 2>&1 | cat";
	char command[256];

	(void)system("rm -rf " PLACE "; mkdir " PLACE);
	perfex("-o", PLACE "/out", "--", "/bin/chmod", "a-w", PLACE); // NOLINT(bugprone-suspicious-missing-comma)
	ended_with(FAILED);
	says(result.err, "cannot write '" PLACE "/out': Permission denied.\n");
	is_kept(result.out, sizeof(result.out));
	says(result.out, "seconds elapsed");
	ck_assert_int_eq(access(PLACE "/out", F_OK), -1);
	ck_ok(chmod(PLACE, 0700));
	perfex_command("compare", "-r", "1", "-w", "0", "-o", PLACE "/out", "/bin/true", "--", "/bin/chmod", "a-w", // NOLINT(bugprone-suspicious-missing-comma)
		       PLACE);
	ended_with(FAILED);
	is_kept(result.out, sizeof(result.out));
	says(result.out, "1 runs of each");
	ck_ok(chmod(PLACE, 0700));
	perfex("-o", PLACE "/out", "--", "/bin/rm", "-r", PLACE); // NOLINT(bugprone-suspicious-missing-comma)
	ended_with(FAILED);
	says(result.err, "seconds elapsed");
	says(result.err, "cannot write '" PLACE "/out': No such file or directory\n");
	/* A limit on the size of files is no death: the counts come on stderr. */
	(void)snprintf(command, sizeof(command), limited, "-o " OUTPUT " -- /bin/true");
	run_command(COMMAND("/bin/sh", "-c", command));
	says(result.out, "seconds elapsed");
	says(result.out, "cannot write '" OUTPUT "': File too large\nstatus 125\n");
	(void)snprintf(command, sizeof(command), limited, "compare -r 1 -o " OUTPUT " /bin/true -- /bin/true");
	run_command(COMMAND("/bin/sh", "-c", command));
	says(result.out, "1 runs of each");
	says(result.out, "File too large\nstatus 125\n");
	/* It is the program's death, as ever. */
	(void)snprintf(command, sizeof(command), limited, "-- /bin/sh -c \"echo x >" OUTPUT "\"");
	run_command(COMMAND("/bin/sh", "-c", command));
	says(result.out, "seconds elapsed");
	says(result.out, "status 153\n");
	ck_assert_int_eq(system("test $(ls -d " OUTPUT "* | wc -l) = 1"), 0);
}
END_TEST

/* Another's file in a sticky directory cannot be replaced, which is seen before the run. */
START_TEST(sticky_directory)
{
	static const char *const writers[] = {
		"-o " PLACE "/out --", "-I 10 --plot " PLACE "/out --", "record -o " PLACE "/out --",
		"compare -o " PLACE "/out true --", "merge -o " PLACE "/out /tmp/one.json",
	};
	char command[192];
	unsigned int i;

	ck_assert_int_eq(system("rm -rf " PLACE "; mkdir -m 1777 " PLACE), 0);
	write_file(PLACE "/out", "old\n");
	ck_ok(chmod(PLACE "/out", 0666));
	perfex("--json", "-o", "/tmp/one.json", "--", "/bin/true");
	ck_ok(chmod("/tmp/one.json", 0644));
	for (i = 0; i < 5; i++) {
		(void)snprintf(command, sizeof(command), PERFEX " %s%s", writers[i],
			       i < 4 ? " /bin/touch /tmp/was-run" : "");
		run_command(COMMAND("/bin/su", "user", "-c", command));
		ended_with(FAILED);
		says(result.err, "perfex: cannot write '" PLACE "/out': Operation not permitted\n");
		says(result.err, "sticky directory");
		ck_assert_int_eq(access("/tmp/was-run", F_OK), -1);
	}
	ck_assert_int_gt(read_text(PLACE "/out", result.out, sizeof(result.out)), 0);
	ck_assert_str_eq(result.out, "old\n");
	/* Root may. */
	perfex("-o", PLACE "/out", "--", "/bin/true"); // NOLINT(bugprone-suspicious-missing-comma)
	ended_with(0);
	ck_assert_int_eq(system("rm -r " PLACE " /tmp/one.json"), 0);
}
END_TEST

START_TEST(output_file_that_cannot_be_written)
{
	(void)unlink("/tmp/was-run");
	perfex("-o", "/nonexistent/file", "--", "/bin/touch", "/tmp/was-run");
	ended_with(FAILED);
	says(result.err, "/nonexistent/file");
	ck_assert_int_ne(access("/tmp/was-run", F_OK), 0);
	/* It was run, but its counts are lost. */
	perfex("-o", "/dev/full", "--", "/bin/true");
	ended_with(FAILED);
	says(result.err, "seconds elapsed");
	perfex("-o", "/dev/full", "--", "/bin/sh", "-c", "exit 3");
	ended_with(3);
}
END_TEST

START_TEST(json_of_strange_arguments)
{
	perfex("--json", "-o", OUTPUT, "--", "/bin/true", "quote\" and \\ back",
	       "new\nline\ttab \x01 \x7f", "\xff\xfe not text", "\xc3\xa4", "");
	ended_with(0);
	is_json(output());
	says(output(), "quote\\\" and \\\\ back");
	says(output(), "\xc3\xa4");
	says_not(output(), "\xff");
	perfex("--json", "--", "/bin/true");
	ended_with(0);
	is_json(result.err);
}
END_TEST

/* --- what it tells --- */

START_TEST(help)
{
	perfex("-h");
	ended_with(0);
	says(result.out, "usage: perfex");
	says(result.out, "-e");
	perfex("--help");
	ended_with(0);
	says(result.out, "usage: perfex");
	perfex("-V");
	ended_with(0);
	says(result.out, "perfex ");
}
END_TEST

START_TEST(info)
{
	perfex("-i");
	ended_with(0);
	says(result.out, guest.info.driver_version);
	perfex("--info");
	ended_with(0);
}
END_TEST

START_TEST(list)
{
	perfex("-l");
	ended_with(0);
	if (guest.nprogrammable) {
		says(result.out, "instructions");
		if (is_pentium())
			says(result.out, is_modeless() ? "cycles" : "branches");
		else
			says(result.out, is_ppc() ? "cycles" : "branch-misses");
		if (guest.info.cpu_type >= PERFCTR_RISCV_GENERIC ||
		    (is_x86() && !is_amd() && guest.info.events[0]))
			says(result.out, "dTLB-load-misses             yes");
	}
#ifdef __riscv
	/* What counts all modes cannot be had for one of them: see test_exact.c. */
	says(result.out, guest.info.cpu_features & PERFCTR_FEATURE_FILTER && !getenv("BOARD") ?
	     "\ninstructions                 yes " : "\ninstructions                 uk ");
#endif
	perfex("--list");
	ended_with(0);
}
END_TEST

START_TEST(list_without_the_module)
{
	ck_assert_int_eq(module_unload_patiently(), 0);
	perfex("--list");
	ended_with(0);
	says(result.out, "\ninstructions                 ?    ");
	says(result.out, "\nThere is no /dev/perfctr here, so it is not known which of these this processor has.\n");
	if (has_libpfm4())
		says(result.out, "\nBR_INST_RETIRED:ALL_BRANCHES ?    ");
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

void perfex_output(void)
{
	run_fresh(derived_values, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	run_fresh(derived_values_as_root, NEED_CYCLES | NEED_COUNTERS);
	run_fresh(csv_of_intervals, NEED_COUNTERS | AS_USER);
	run_fresh(csv_of_threads, NEED_COUNTERS | AS_USER);
	run_fresh(no_text_moves_a_cursor, NEED_COUNTERS | AS_USER);
	run_fresh(plots_intervals, NEED_COUNTERS | AS_USER);
	run_fresh(colours_on_terminals, 0);
	run_fresh(old_results_are_kept, AS_USER);
	run_fresh(output_whole_or_not_at_all, 0);
	run_fresh(output_named_by_pattern, AS_USER);
	run_fresh(output_file, AS_USER);
	run_fresh(small_stack, AS_USER);
	run_fresh(counts_are_never_lost, AS_USER);
	run_fresh(sticky_directory, 0);
	run_fresh(output_file_that_cannot_be_written, AS_USER);
	run_fresh(json_of_strange_arguments, AS_USER);
	run_fresh(help, AS_USER);
	run_fresh(info, AS_USER);
	run_fresh(list, AS_USER);
	run_fresh(list_without_the_module, LOG_MODULE);
}
