// SPDX-License-Identifier: GPL-2.0
/* What test_perfex*.c share; see perfex.h. */
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/known.h"
#include "suites/perfex.h"

struct result result;

void redirect(int fd, const char *path, int flags)
{
	int file = open(path, flags, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		_exit(98);
}

void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

pid_t start_command(const char *const *argv)
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

void finish_command(pid_t pid)
{
	ck_assert_int_eq(waitpid(pid, &result.status, 0), pid);
	ck_assert_int_ge(read_text(STDOUT, result.out, sizeof(result.out)), 0);
	ck_assert_int_ge(read_text(STDERR, result.err, sizeof(result.err)), 0);
	(void)unlink(STDOUT);
	(void)unlink(STDERR);
}

void run_command(const char *const *argv)
{
	finish_command(start_command(argv));
}

pid_t start_perfex_with(const char *const *args)
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

void ended_with(int status)
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

void says(const char *text, const char *words)
{
	ck_assert_msg(strstr(text, words) != NULL, "no \"%s\" in \"%s\"", words, end_of(text));
}

void says_not(const char *text, const char *words)
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

void is_json(const char *text)
{
	const char *end = json_value(text);

	ck_assert_msg(end && !*end, "this is not JSON: %s", text);
}

unsigned int are_json_lines(const char *text)
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

const char *member(const char *json, const char *name)
{
	char quoted[64];
	const char *s;

	(void)snprintf(quoted, sizeof(quoted), "\"%s\":", name);
	s = strstr(json, quoted);
	ck_assert_msg(s != NULL, "no %s in %s", quoted, json);
	return json_space(s + strlen(quoted));
}

uint64_t count_of(const char *json, const char *event)
{
	char quoted[80];
	const char *s;

	(void)snprintf(quoted, sizeof(quoted), "\"event\": \"%s\"", event);
	s = strstr(json, quoted);
	ck_assert_msg(s != NULL, "no %s in %s", quoted, json);
	return strtoull(member(s, "count"), NULL, 10);
}

const char *output(void)
{
	static char text[32768];

	ck_assert_int_gt(read_text(OUTPUT, text, sizeof(text)), 0);
	return text;
}

void known_length(void)
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

void await_file(const char *path)
{
	unsigned int i;

	for (i = 0; i < 1000 && access(path, F_OK); i++)
		sleep_us(10000);
	ck_assert_int_eq(access(path, F_OK), 0);
}

void signal_perfex(pid_t pid, int signo)
{
	await_file(READY);
	ck_ok(kill(pid, signo));
}

int open_terminal(char *name, size_t size)
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

bool is_machine(const char *name)
{
	struct utsname uts;

	return !uname(&uts) && !strncmp(uts.nodename, name, strlen(name));
}

bool has_libpfm4(void)
{
	return !access("/lib/libpfm.so.4", F_OK) && (is_machine("icelake") || is_machine("skylake"));
}

void says_exact(const char *what, unsigned int least_switches)
{
	char words[80];
	const char *s;

	(void)snprintf(words, sizeof(words), "  %s: exact in 20 of 20 runs (", what);
	s = strstr(result.out, words);
	ck_assert_msg(s != NULL, "no \"%s\" in \"%.3000s\"", words, result.out);
	ck_assert_uint_ge(strtoul(s + strlen(words), NULL, 10), least_switches);
}

struct setting settings[NR_SETTINGS] = {
	{ .path = PARANOID }, { .path = RDPMC }, { .path = USER_ACCESS },
};

static void restore_settings(void)
{
	size_t i;

	for (i = 0; i < NR_SETTINGS; i++)
		(void)write_text(settings[i].path, settings[i].value);
	(void)write_text(MODULE_PARAMS "shared_open", "0");
}

void run_fresh(const TTest *test, uint64_t what)
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
