// SPDX-License-Identifier: GPL-2.0
/* perfex: what it counts, how it ends, and what it says when it cannot. */
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/perfside.h"
#include "kit/registers.h"

#define PERFEX		"/usr/bin/perfex"
#define WITNESS		"/usr/bin/witness"
#define OUTPUT		"/tmp/perfex.out"
/* Files by which a program says that it is ready, and is told to go on */
#define READY		"/tmp/ready"
#define GO		"/tmp/go"
#define FAILED		125
#define WRONG		2	/* usage */
#define NO_COUNT	123
#define WATCHDOG	"/proc/sys/kernel/nmi_watchdog"
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
/* Who may read perf's counters in user mode, on x86 and on arm64 */
#define RDPMC		"/sys/bus/event_source/devices/cpu/rdpmc"
#define USER_ACCESS	"/proc/sys/kernel/perf_user_access"

#define OUTPUT_LINK	"/tmp/perfex.link"
#define SCRIPT		"/tmp/script"
#define PICTURE		"/tmp/perfex.svg"
#define COMMA_NAME	"/tmp/a,\"b"
#define EVIL_NAME	"/tmp/\033[2J\x9b\a"

/* How a command ended, and what it said. */
struct result {
	int status;
	char out[131072];	/* --list with libpfm4 is long */
	char err[16384];
};

static struct result result;

static void redirect(int fd, const char *path, int flags)
{
	int file = open(path, flags, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		_exit(98);
}

#define STDOUT		"/tmp/out"
#define STDERR		"/tmp/err"

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static pid_t start_command(const char *const *argv)
{
	pid_t pid;

	ck_ok(pid = fork());
	if (!pid) {
		redirect(0, "/dev/null", O_RDONLY);
		redirect(1, STDOUT, O_WRONLY | O_CREAT | O_TRUNC);
		redirect(2, STDERR, O_WRONLY | O_CREAT | O_TRUNC);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(99);
	}
	return pid;
}

static void finish_command(pid_t pid)
{
	ck_assert_int_eq(waitpid(pid, &result.status, 0), pid);
	ck_assert_int_ge(read_text(STDOUT, result.out, sizeof(result.out)), 0);
	ck_assert_int_ge(read_text(STDERR, result.err, sizeof(result.err)), 0);
	(void)unlink(STDOUT);
	(void)unlink(STDERR);
}

static void run_command(const char *const *argv)
{
	finish_command(start_command(argv));
}

/* The source under test, unless a later option says another one */
static pid_t start_perfex_with(const char *const *args)
{
	const char *argv[32] = { PERFEX };
	unsigned int n = 1;

	if (guest.shared) {
		argv[n++] = "--source";
		argv[n++] = "shared";
	}
	while (*args) {
		ck_assert_uint_lt(n, 31);
		argv[n++] = *args++;
	}
	return start_command(argv);
}

#define COMMAND(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define start_perfex(...) start_perfex_with(COMMAND(__VA_ARGS__))
#define perfex(...) finish_command(start_perfex(__VA_ARGS__))
/* A command's name comes before the options. */
#define perfex_command(...) run_command(COMMAND(PERFEX, __VA_ARGS__))
/* As everybody calls it, whatever is under test */
#define bare_perfex(...) run_command(COMMAND(PERFEX, __VA_ARGS__))

static void ended_with(int status)
{
	ck_assert_msg(WIFEXITED(result.status), "killed by signal %d: %s",
		      WTERMSIG(result.status), result.err);
	ck_assert_msg(WEXITSTATUS(result.status) == status, "exit status %d, expected %d: %s",
		      WEXITSTATUS(result.status), status, result.err);
}

/* The end of a text that is longer than what is told of a failure: a verdict is there. */
static const char *end_of(const char *text)
{
	size_t length = strlen(text);

	return length > 700 ? text + length - 700 : text;
}

static void says(const char *text, const char *words)
{
	ck_assert_msg(strstr(text, words) != NULL, "no \"%s\" in \"%s\"", words, end_of(text));
}

static void says_not(const char *text, const char *words)
{
	const char *found = strstr(text, words);

	ck_assert_msg(!found, "\"%s\" in \"%.1000s\"", words, found);
}

/* --- JSON, as RFC 8259 has it; returns what follows a value, NULL if it is none --- */

static const char *json_value(const char *s);

static const char *json_space(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

static const char *json_string(const char *s)
{
	unsigned int i;

	if (*s++ != '"')
		return NULL;
	for (; *s != '"'; s++) {
		if ((unsigned char)*s < 0x20)
			return NULL;
		if (*s != '\\')
			continue;
		s++;
		if (*s == 'u') {
			for (i = 0; i < 4; i++)
				if (!isxdigit((unsigned char)*++s))
					return NULL;
		} else if (!*s || !strchr("\"\\/bfnrt", *s)) {
			return NULL;
		}
	}
	return s + 1;
}

static const char *json_digits(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n ? s + n : NULL;
}

static const char *json_number(const char *s)
{
	if (*s == '-')
		s++;
	/* No leading zeroes */
	s = *s == '0' ? s + 1 : json_digits(s);
	if (s && *s == '.')
		s = json_digits(s + 1);
	if (s && (*s == 'e' || *s == 'E')) {
		s++;
		s = json_digits(*s == '+' || *s == '-' ? s + 1 : s);
	}
	return s;
}

/* An array, or with @names an object. NOLINTNEXTLINE(misc-no-recursion): JSON is */
static const char *json_members(const char *s, char end, bool names)
{
	s = json_space(s + 1);
	if (*s == end)
		return s + 1;
	for (;;) {
		if (names) {
			s = json_string(json_space(s));
			if (!s)
				return NULL;
			s = json_space(s);
			if (*s++ != ':')
				return NULL;
		}
		s = json_value(s);
		if (!s)
			return NULL;
		if (*s == end)
			return s + 1;
		if (*s++ != ',')
			return NULL;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): JSON is */
static const char *json_value(const char *s)
{
	static const char *const words[] = { "true", "false", "null" };
	unsigned int i;

	s = json_space(s);
	if (*s == '{') {
		s = json_members(s, '}', true);
	} else if (*s == '[') {
		s = json_members(s, ']', false);
	} else if (*s == '"') {
		s = json_string(s);
	} else if (islower((unsigned char)*s)) {
		for (i = 0; i < 3; i++)
			if (!strncmp(s, words[i], strlen(words[i])))
				break;
		s = i < 3 ? s + strlen(words[i]) : NULL;
	} else {
		s = json_number(s);
	}
	return s ? json_space(s) : NULL;
}

static void is_json(const char *text)
{
	const char *end = json_value(text);

	ck_assert_msg(end && !*end, "this is not JSON: %s", text);
}

/* JSON Lines: each line is a value. Returns how many there are. */
static unsigned int are_json_lines(const char *text)
{
	static char line[16384];
	unsigned int n = 0;
	size_t len;

	for (; *text; text += len + 1, n++) {
		len = strcspn(text, "\n");
		ck_assert_msg(text[len] == '\n', "no end of the line: %s", text);
		(void)snprintf(line, sizeof(line), "%.*s", (int)len, text);
		is_json(line);
	}
	return n;
}

/* What follows "name": in JSON that is known to be valid */
static const char *member(const char *json, const char *name)
{
	char quoted[64];
	const char *s;

	(void)snprintf(quoted, sizeof(quoted), "\"%s\":", name);
	s = strstr(json, quoted);
	ck_assert_msg(s != NULL, "no %s in %s", quoted, json);
	return json_space(s + strlen(quoted));
}

static uint64_t count_of(const char *json, const char *event)
{
	char quoted[80];
	const char *s;

	(void)snprintf(quoted, sizeof(quoted), "\"event\": \"%s\"", event);
	s = strstr(json, quoted);
	ck_assert_msg(s != NULL, "no %s in %s", quoted, json);
	return strtoull(member(s, "count"), NULL, 10);
}

static const char *output(void)
{
	static char text[32768];

	ck_assert_int_gt(read_text(OUTPUT, text, sizeof(text)), 0);
	return text;
}

/* --- what it counts --- */

static void known_length(void)
{
	perfex("-e", "instructions:u", "--json", "-o", OUTPUT, "--", KNOWN_PATH);
	ended_with(0);
	ck_assert_str_eq(result.err, "");
	is_json(output());
	ck_assert_uint_eq(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_LOOPS));
	perfex("-e", "instructions:u", "--json", "-o", OUTPUT, "--", KNOWN_OTHER_PATH);
	ended_with(0);
	ck_assert_uint_eq(count_of(output(), "instructions"), KNOWN_LENGTH(KNOWN_OTHER_LOOPS));
}

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

#define CATCHER "/usr/libexec/perfctr/catcher"
#define WAITER "/usr/libexec/perfctr/waiter"

static void await_file(const char *path)
{
	unsigned int i;

	for (i = 0; i < 1000 && access(path, F_OK); i++)
		sleep_us(10000);
	ck_assert_int_eq(access(path, F_OK), 0);
}

/* Sends a signal to perfex alone, as soon as its program is ready. */
static void signal_perfex(pid_t pid, int signo)
{
	await_file(READY);
	ck_ok(kill(pid, signo));
}

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

/* Our end of a terminal; the other end has this name. */
static int open_terminal(char *name, size_t size)
{
	int master, number, zero = 0;

	(void)mkdir("/dev/pts", 0755);
	(void)mount("devpts", "/dev/pts", "devpts", 0, "ptmxmode=0666");
	ck_ok(master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY));
	ck_ok(ioctl(master, TIOCSPTLCK, &zero));
	ck_ok(ioctl(master, TIOCGPTN, &number));
	(void)snprintf(name, size, "/dev/pts/%d", number);
	return master;
}

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

/* --- where the counts go, and when they do not --- */

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

START_TEST(bad_usage)
{
	perfex("--json");
	ended_with(WRONG);
	run_command((const char *const[]){ PERFEX, NULL });
	ended_with(WRONG);
	says(result.err, "which program");
}
END_TEST

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

/* The machine's name begins so. */
static bool is_machine(const char *name)
{
	struct utsname uts;

	return !uname(&uts) && !strncmp(uts.nodename, name, strlen(name));
}

/* libpfm4 is there, and the processor is one whose names are known here. */
static bool has_libpfm4(void)
{
	return !access("/lib/libpfm.so.4", F_OK) && (is_machine("icelake") || is_machine("skylake"));
}

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

/* --- the report --- */

/* What follows the key, up to the end of the line */
static void says_line(const char *key, const char *value)
{
	size_t len = strlen(key);
	const char *s = result.out;

	while ((s = strstr(s, key))) {
		const char *v = s + len + strspn(s + len, " \t");

		if ((s == result.out || s[-1] == '\n') && v > s + len &&
		    !strncmp(v, value, strlen(value)) && v[strlen(value)] == '\n')
			return;
		s++;
	}
	ck_abort_msg("no line \"%s\" with \"%s\" in \"%.3000s\"", key, value, result.out);
}

static void says_setting(const char *key, const char *path)
{
	char value[64];

	if (read_text(path, value, sizeof(value)) <= 0)
		return;
	value[strcspn(value, "\n")] = '\0';
	says_line(key, value);
}

static void says_exact(const char *what, unsigned int least_switches)
{
	char words[80];
	const char *s;

	(void)snprintf(words, sizeof(words), "  %s: exact in 20 of 20 runs (", what);
	s = strstr(result.out, words);
	ck_assert_msg(s != NULL, "no \"%s\" in \"%.3000s\"", words, result.out);
	ck_assert_uint_ge(strtoul(s + strlen(words), NULL, 10), least_switches);
}

/* Few overflows, since each costs an emulated machine 10 us, and a short wait */
#define SELFTEST	"selftest", "--overflows", "20", "--watch", "2"

/* The section of that title says so in full, and not that it was not made. */
static void is_made(const char *title)
{
	const char *s = strstr(result.out, title), *end;
	char section[1024];

	ck_assert_msg(s != NULL, "no \"%s\" in \"%.3000s\"", title, result.out);
	end = strstr(s, "\n\n");
	ck_assert_ptr_nonnull(end);
	(void)snprintf(section, sizeof(section), "%.*s", (int)(end - s), s);
	says_not(section, "not made");
}

/*
 * The emulated P6's, AMD's and Pentium 4's, whose events CPUID does not tell of, have no caches, no bus, no stalls
 * and no such branches to count; the kernel names them all. In the report's order, and NULL
 */
static const char * const *lacked(void)
{
	static const char * const p6[] = {
		"bus-cycles", "cache-references", "cache-misses", "branch-misses", NULL
	};
	static const char * const zen[] = {
		"cache-references", "cache-misses", "branch-misses", NULL
	};

	/* The Pentium's have no names for them. */
	if (!is_x86() || !guest.info.counters || guest.info.events[0] || is_pentium())
		return p6 + 4;
	return is_amd() || is_p4() ? zen : p6;
}

static void says_deviations(unsigned int more)
{
	const char * const *name = lacked();
	char words[80];
	unsigned int n;

	for (n = 0; name[n]; n++) {
		(void)snprintf(words, sizeof(words),
			       "%u. %s counts 0 of a program that causes it", n + 1, name[n]);
		says(result.out, words);
	}
	n += more;
	(void)snprintf(words, sizeof(words), "\nVerdict: %u deviation%s", n, n > 1 ? "s" : "");
	says(result.out, words);
}

/* The emulated PowerPCs count neither, and not each has a name for both. */
static void says_ppc_counts_no_misses(void)
{
	static const char caches[] = "cache-misses counts 0 of a program that causes it";
	static const char branches[] = "branch-misses counts 0 of a program that causes it";
	bool both = guest.info.cpu_type == PERFCTR_PPC_7450;

	says(result.out, both ? "\nVerdict: 2 deviations" : "\nVerdict: 1 deviation");
	if (both || guest.info.cpu_type == PERFCTR_PPC_750)
		says(result.out, caches);
	if (guest.info.cpu_type != PERFCTR_PPC_750)
		says(result.out, branches);
}

static void says_whether_exact(void)
{
	if (!guest.info.counters && !(guest.info.cpu_features & PERFCTR_FEATURE_SHARED)) {
		says(result.out, "not made: perfctr counts no instructions here\n");
	} else if (guest.info.counters && !(guest.info.cpu_features & PERFCTR_FEATURE_FILTER)) {
		says(result.out, "not made: this processor counts user and kernel mode together\n");
	} else {
		says(result.out, "a loop of 2000000 instructions in user mode:\n");
		says_exact("at one go", 0);
		says_exact("over a switch", 40);
		is_made("a loop of 2000000 instructions in user mode:\n");
		/* QEMU's own RISC-V counts an event by one counter alone: perf's, or ours. */
		if (!geteuid() && !has_one_source() && !is_arm64() &&
		    !(guest.info.cpu_features & PERFCTR_FEATURE_PCINT) && guest.info.counters) {
			says(result.out, "\nVerdict: 2 deviations");
			says(result.out, "1. perf counts 0 of 2000000 instructions while perfctr");
			says(result.out, "2. perfctr counts 0 of 2000000 instructions while perf");
			return;
		}
		if (is_ppc() && guest.info.cpu_type != PERFCTR_PPC_604e) {
			says_ppc_counts_no_misses();
			return;
		}
		if (*lacked()) {
			says_deviations(0);
			return;
		}
		says(result.out, "\nVerdict: counts exactly");
		says_not(result.out, "deviation");
	}
}

static bool log_has_costs(void)
{
	int size = klogctl(10, NULL, 0), n;
	char *text = malloc((size_t)size + 1);
	bool has;

	ck_assert_ptr_nonnull(text);
	ck_ok(n = klogctl(3, text, size));
	text[n] = '\0';
	has = strstr(text, "perfctr: cost ");
	free(text);
	return has;
}

START_TEST(selftest)
{
	static const char name[] = "whose-machine";
	struct utsname uts;
	char kernel[256];

	ck_ok(uname(&uts));
	ck_ok(sethostname(name, strlen(name)));
	perfex_command(SELFTEST);
	ck_ok(sethostname(uts.nodename, strlen(uts.nodename)));
	ended_with(0);
	ck_assert_str_eq(result.err, "");
	(void)snprintf(kernel, sizeof(kernel), "Linux %s %s", uts.release, uts.machine);
	says_line("kernel", kernel);
	says_line("perfex", guest.info.driver_version);
	says_line("library", guest.info.driver_version);
	says_line("driver_version", guest.info.driver_version);
	says_line("user_read", is_modeless() ? "off" : "guarded");
	says(result.out, "\ncpus\t");
	if (is_arm64()) {
		says(result.out, "\nCPU part   ");
	} else if (is_ppc()) {
		says(result.out, "\ncpu   ");
		says(result.out, "\nrevision   ");
	} else if (!is_x86()) {
		says(result.out, "\nisa   ");
	} else {
		says(result.out, "\ncpu family   ");
		says(result.out, "\nmodel name   ");
		says(result.out, "\nstepping   ");
		says_line("hypervisor", "yes");
	}
	says_setting("nmi_watchdog", WATCHDOG);
	says_setting("perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid");
	says_setting("perf_user_access", "/proc/sys/kernel/perf_user_access");
	says_setting("rdpmc", "/sys/bus/event_source/devices/cpu/rdpmc");
	says(result.out, "\nSend this text to those who packaged or gave you perfctr.\n");
	/* The report does not say whose machine it is. */
	says_not(result.out, name);
	says_not(result.out, "root\n");
	if (!is_x86())
		says_not(result.out, "What instructions cost");
	else if (!log_has_costs())
		says(result.out, "not measured. To do so, as root: rmmod perfctr; modprobe perfctr measure=1\n");
	says_whether_exact();
}
END_TEST

START_TEST(selftest_as_user)
{
	ck_assert_int_eq(write_text("/proc/sys/kernel/dmesg_restrict", "1"), 0);
	become(GUEST_UID);
	perfex_command(SELFTEST, "-o", OUTPUT);
	ended_with(0);
	ck_assert_str_eq(result.out, "");
	(void)snprintf(result.out, sizeof(result.out), "%s", output());
	says_line("user_read", is_modeless() ? "off" : "guarded");
	if (is_x86())
		says(result.out, "the kernel's log cannot be read (Operation not permitted). Try as root\n");
	says_whether_exact();
}
END_TEST

/* It tells of the last load that measured, or could not. */
START_TEST(selftest_of_costs)
{
	unsigned int i;
	const char *s;
	int perf;

	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(module_unload_patiently(), 0);
		ck_assert_int_eq(module_load("measure=1"), 0);
		perfex_command(SELFTEST);
		ended_with(0);
		says(result.out, "What instructions cost, in cycles of the clock:\n  cost of RDTSC: ");
		says(result.out, " cycles\n  cost of CR4 read: ");
		s = strstr(result.out, "  cost of RDTSC: ");
		ck_assert_ptr_null(strstr(s + 1, "  cost of RDTSC: "));
		if (guest.nprogrammable)
			says(result.out, guest.info.cpu_type == PERFCTR_X86_INTEL_P5 ?
			     " cycles\n  cost of RDMSR of a counter: " :
			     " cycles\n  cost of RDPMC: ");
	}
	if (!guest.nprogrammable || !guest.perf)
		return;
	ck_ok(perf = perf_open_self(EV_INSTRUCTIONS));
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert_int_eq(module_load("measure=1"), 0);
	perfex_command(SELFTEST);
	close(perf);
	ended_with(0);
	says(result.out, "of the clock:\n  cost not measured: perf_events or the NMI watchdog has");
	says_not(result.out, "cost of");
	says_line("owner", "perf_events");
	says_line("source", "shared (through perf_events)");
	says_whether_exact();
}
END_TEST

START_TEST(selftest_while_the_watchdog_counts)
{
	ck_assert_int_eq(write_text(WATCHDOG, "1"), 0);
	perfex_command(SELFTEST);
	ck_assert_int_eq(write_text(WATCHDOG, "0"), 0);
	ended_with(0);
	says_line("nmi_watchdog", "1");
	says_line("owner", "the NMI watchdog");
	says_line("source", "shared (through perf_events)");
	says_whether_exact();
}
END_TEST

/* An event select is written to while they count, as somebody does who does not ask. */
START_TEST(selftest_of_somebody_else)
{
	unsigned int i;
	pid_t pid;

	pin_self(0);
	open_registers();
	ck_ok(pid = fork());
	if (!pid) {
		/* The self test watches for 10 seconds, and all else takes less than one. */
		for (i = 0;; i++) {
			sleep_us(100000);
			if (i > 50)
				(void)wrmsr(msr_evntsel(0), is_p4() ? (i & 7) << 13 : i);
		}
	}
	perfex_command("selftest", "--overflows", "20");
	(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ended_with(0);
	says(result.out, ": somebody else wrote to the counters' registers (firmware");
	says_deviations(1);
	ck_assert_int_eq(module_unload_patiently(), 0);
	(void)wrmsr(msr_evntsel(0), 0);
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

START_TEST(selftest_of_one_who_is_counted)
{
	perfex("-o", OUTPUT, "--", PERFEX, SELFTEST);
	ended_with(0);
	says(result.out, "not made: perfex is counted itself, by a perfex around it say\n");
}
END_TEST

START_TEST(selftest_that_cannot_be)
{
	static const char *const bad[][3] = {
		{ "'0' is not a number of overflows", "--overflows", "0" },
		{ "'0' is not a time to watch", "--watch", "0" },
		{ "there is no option '--json'", "--json" },
		{ "there is no option -e", "-e", "instructions:u" },
		{ "selftest runs no program, but there is one: '/bin/touch'", "/bin/touch", "/tmp/was-run" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		perfex_command("selftest", bad[i][1], bad[i][2]);
		ended_with(WRONG);
		says(result.err, bad[i][0]);
		ck_assert_str_eq(result.out, "");
		ck_assert_int_ne(access("/tmp/was-run", F_OK), 0);
	}
	perfex_command("selftest", "-o", "/nonexistent/file");
	ended_with(FAILED);
	says(result.err, "cannot write '/nonexistent/file'");
	perfex_command("selftest", "-o", "/dev/full");
	ended_with(FAILED);
	says(result.err, "cannot write the text: No space left on device");
}
END_TEST

/* --- what it says when it cannot --- */

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

/* --- sources of counters --- */

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

/* What tests change, and what it was when the program began; run_fresh() sets it back. */
static struct {
	const char *path;
	char value[16];
} settings[] = { { .path = PARANOID }, { .path = RDPMC }, { .path = USER_ACCESS } };

#define NR_SETTINGS (sizeof(settings) / sizeof(settings[0]))

static void note_settings(void)
{
	size_t i;

	for (i = 0; i < NR_SETTINGS; i++)
		if (read_text(settings[i].path, settings[i].value, sizeof(settings[i].value)) < 0)
			settings[i].value[0] = '\0';
}

static void restore_settings(void)
{
	size_t i;

	for (i = 0; i < NR_SETTINGS; i++)
		(void)write_text(settings[i].path, settings[i].value);
	(void)write_text(MODULE_PARAMS "shared_open", "0");
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

/* The counts of a program that became another user's are not told. */
#define SETUID_COPY "/tmp/perfex_setuid"

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

/* Removes what the last test has left, which may be another user's. */
static void run_fresh(const TTest *test, uint64_t what)
{
	(void)unlink(OUTPUT);
	(void)unlink(STDOUT);
	(void)unlink(STDERR);
	(void)unlink(OUTPUT_LINK);
	(void)unlink(SCRIPT);
	(void)unlink(PICTURE);
	(void)unlink(COMMA_NAME);
	(void)unlink(EVIL_NAME);
	(void)unlink(READY);
	(void)unlink(GO);
	(void)unlink("/tmp/was-run");
	(void)unlink("/tmp/outer");
	(void)unlink(SETUID_COPY);
	(void)chmod(PERFCTR_DEVICE, 0666);
	/* As run-tests has it: perf's counters are had beside it. */
	(void)write_text(WATCHDOG, guest.shared ? "1" : "0");
	restore_settings();
	guest_run(test, what);
}

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
	run_fresh(repeated, NEED_COUNTERS | AS_USER);
	run_fresh(warm_up_is_forgotten, NEED_COUNTERS | AS_USER);
	run_fresh(each_run_has_the_input, NEED_COUNTERS | AS_USER);
	run_fresh(input_that_can_be_read_once, AS_USER);
	run_fresh(derived_values, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	run_fresh(derived_values_as_root, NEED_CYCLES | NEED_COUNTERS);
	run_fresh(csv_of_intervals, NEED_COUNTERS | AS_USER);
	run_fresh(csv_of_threads, NEED_COUNTERS | AS_USER);
	run_fresh(no_text_moves_a_cursor, NEED_COUNTERS | AS_USER);
	run_fresh(plots_intervals, NEED_COUNTERS | AS_USER);
	run_fresh(compares, NEED_COUNTERS | AS_USER);
	run_fresh(compares_in_turns, AS_USER);
	run_fresh(compare_that_cannot_be, AS_USER);
	run_fresh(merges, NEED_COUNTERS | AS_USER);
	run_fresh(colours_on_terminals, 0);
	run_fresh(bad_options, AS_USER);
	run_fresh(options_that_do_not_go_together, AS_USER);
	run_fresh(raw_csr, NEED_FIXED);
	run_fresh(raw_csr_as_user, NEED_FIXED | AS_USER);
	run_fresh(leaves_somebody_behind, NEED_COUNTERS | AS_USER);
	run_fresh(no_modifier_as_root, NEED_COUNTERS);
	run_fresh(no_modifier_as_user, NEED_COUNTERS | AS_USER);
	run_fresh(kernel_mode, NEED_COUNTERS);
	run_fresh(without_events, NEED_CYCLES | AS_USER);
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
	run_fresh(bad_usage, AS_USER);
	run_fresh(old_results_are_kept, AS_USER);
	run_fresh(output_whole_or_not_at_all, 0);
	run_fresh(output_named_by_pattern, AS_USER);
	run_fresh(output_file, AS_USER);
	run_fresh(small_stack, AS_USER);
	run_fresh(counts_are_never_lost, AS_USER);
	run_fresh(sticky_directory, 0);
	run_fresh(output_file_that_cannot_be_written, AS_USER);
	run_fresh(json_of_strange_arguments, AS_USER);
	run_fresh(program_inherits_no_more, AS_USER);
	run_fresh(help, AS_USER);
	run_fresh(info, AS_USER);
	run_fresh(list, AS_USER);
	run_fresh(list_without_the_module, LOG_MODULE);
	run_fresh(selftest, 0);
	run_fresh(selftest_as_user, 0);
	run_fresh(selftest_of_costs, NEED_X86 | NEED_NATIVE | NEED_RDTSC | LOG_MODULE);
	run_fresh(selftest_while_the_watchdog_counts, NEED_COUNTERS | NEED_X86 | NEED_PERF);
	run_fresh(selftest_of_somebody_else, NEED_COUNTERS | NEED_NATIVE | NEED_X86 | LOG_MODULE);
	run_fresh(selftest_of_one_who_is_counted, NEED_COUNTERS | AS_USER);
	run_fresh(selftest_that_cannot_be, AS_USER);
	run_fresh(software_events, AS_USER);
	run_fresh(name_of_the_kernel, NEED_COUNTERS | AS_USER);
	run_fresh(as_many_passes_as_it_takes, NEED_COUNTERS | AS_USER);
	run_fresh(passes_fail, NEED_COUNTERS | AS_USER);
	run_fresh(one_pass_fails, NEED_COUNTERS | AS_USER);
	run_fresh(runs_that_fail_are_left_out, NEED_COUNTERS | AS_USER);
	run_fresh(run_that_is_interrupted_is_left_out, NEED_COUNTERS | AS_USER);
	run_fresh(warm_up_that_fails, NEED_COUNTERS | AS_USER);
	run_fresh(modes_of_passes, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	run_fresh(passes_that_are_not_all, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	if (has_libpfm4())
		run_fresh(names_of_libpfm4, NEED_COUNTERS | AS_USER);
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
	run_fresh(setuid_program, 0);
	run_fresh(nested, AS_USER);
	return guest_end();
}
