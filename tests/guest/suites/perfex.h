/* SPDX-License-Identifier: GPL-2.0 */
/*
 * perfex, and other commands: they are run, and what they print is looked at. These assert, so they
 * are for the test's own process.
 */
#ifndef PERFCTR_TEST_PERFEX_H
#define PERFCTR_TEST_PERFEX_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PERFEX		"/usr/bin/perfex"
#define OUTPUT		"/tmp/perfex.out"
/* Files by which a program says that it is ready, and is told to go on */
#define READY		"/tmp/ready"
#define GO		"/tmp/go"
#define FAILED		125
#define WRONG		2	/* usage */
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

extern struct result result;

void redirect(int fd, const char *path, int flags);

#define STDOUT		"/tmp/out"
#define STDERR		"/tmp/err"

void write_file(const char *path, const char *text);
pid_t start_command(const char *const *argv);
void finish_command(pid_t pid);
void run_command(const char *const *argv);

/* The source under test, unless a later option says another one */
pid_t start_perfex_with(const char *const *args);

#define COMMAND(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define start_perfex(...) start_perfex_with(COMMAND(__VA_ARGS__))
#define perfex(...) finish_command(start_perfex(__VA_ARGS__))
/* A command's name comes before the options. */
#define perfex_command(...) run_command(COMMAND(PERFEX, __VA_ARGS__))
/* As everybody calls it, whatever is under test */
#define bare_perfex(...) run_command(COMMAND(PERFEX, __VA_ARGS__))

void ended_with(int status);
void says(const char *text, const char *words);
void says_not(const char *text, const char *words);

/* --- JSON, as RFC 8259 has it; returns what follows a value, NULL if it is none --- */

void is_json(const char *text);

/* JSON Lines: each line is a value. Returns how many there are. */
unsigned int are_json_lines(const char *text);

/* What follows "name": in JSON that is known to be valid */
const char *member(const char *json, const char *name);
uint64_t count_of(const char *json, const char *event);
const char *output(void);
void known_length(void);

#define CATCHER "/usr/libexec/perfctr/catcher"

void await_file(const char *path);

/* Sends a signal to perfex alone, as soon as its program is ready. */
void signal_perfex(pid_t pid, int signo);

/* Our end of a terminal; the other end has this name. */
int open_terminal(char *name, size_t size);

/* The machine's name begins so. */
bool is_machine(const char *name);

/* libpfm4 is there, and the processor is one whose names are known here. */
bool has_libpfm4(void);
void says_exact(const char *what, unsigned int least_switches);

/* What tests change, and what it was when the program began; run_fresh() sets it back. */
struct setting {
	const char *path;
	char value[16];
};

#define NR_SETTINGS 3

extern struct setting settings[NR_SETTINGS];

/* The counts of a program that became another user's are not told. */
#define SETUID_COPY "/tmp/perfex_setuid"

/* Removes what the last test has left, which may be another user's. */
void run_fresh(const TTest *test, uint64_t what);

/* The tests of test_perfex_*.c, which test_perfex.c calls */
void perfex_runs(void);
void perfex_ends(void);
void perfex_output(void);
void perfex_selftest(void);
void perfex_refused(void);
void perfex_source(void);

#endif
