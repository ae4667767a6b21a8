// SPDX-License-Identifier: GPL-2.0
/*
 * witness: what perf_event_open() counts of a program, from its exec on.
 *
 *	witness [-o FILE] [-u UID] -e EVENT[:u] ... -- PROGRAM [ARG...]
 *
 * One line per event on stderr or FILE: the count and the event's name. The
 * status is that of the program. Events that could not be counted all the time
 * have "-" for a count, since a number made by extrapolation is no witness. The
 * event task-clock is in nanoseconds. The program runs as the user with that UID.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/perfside.h"

#define EVENTS_MAX 8

static const struct {
	const char *name;
	unsigned int event;
} known_events[] = {
	{ "instructions", EV_INSTRUCTIONS },
	{ "cycles", EV_CYCLES },
	{ "dTLB-load-misses", EV_DTLB_LOAD_MISSES },
	{ "dTLB-store-misses", EV_DTLB_STORE_MISSES },
	{ "iTLB-load-misses", EV_ITLB_LOAD_MISSES },
};

static void usage(void)
{
	(void)fprintf(stderr, "usage: witness [-o FILE] [-u UID] -e EVENT[:u] ... -- PROGRAM [ARG...]\n");
	exit(2);
}

static void fail(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static int open_on_exec(struct perf_event_attr *attr, pid_t pid)
{
	attr->disabled = 1;
	attr->enable_on_exec = 1;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return perf_open(attr, pid, -1, -1);
}

static int open_event(const char *spec, pid_t pid)
{
	struct perf_event_attr attr;
	const char *colon = strchr(spec, ':');
	size_t i, len = colon ? (size_t)(colon - spec) : strlen(spec);

	if (!strcmp(spec, "task-clock")) {
		perf_attr_init(&attr, EV_CYCLES);
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_TASK_CLOCK;
		attr.exclude_kernel = 0;
		attr.exclude_hv = 0;
		return open_on_exec(&attr, pid);
	}
	for (i = 0; i < sizeof(known_events) / sizeof(known_events[0]); i++) {
		if (strlen(known_events[i].name) != len ||
		    strncmp(known_events[i].name, spec, len) != 0)
			continue;
		perf_attr_init(&attr, known_events[i].event);
		attr.exclude_kernel = colon && !strcmp(colon, ":u");
		attr.exclude_hv = attr.exclude_kernel;
		return open_on_exec(&attr, pid);
	}
	(void)fprintf(stderr, "witness: unknown event %s\n", spec);
	exit(2);
}

static pid_t start(char **argv, uid_t uid, int *go)
{
	int gate[2];
	char byte;
	pid_t pid;

	if (pipe(gate))
		fail("pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) != 1)
			_exit(127);
		close(gate[0]);
		if (uid && (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
			    setresuid(uid, uid, uid))) {
			perror("setresuid");
			_exit(127);
		}
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	close(gate[0]);
	*go = gate[1];
	return pid;
}

static void report(const char *path, char *const *specs, const int *fds, unsigned int n)
{
	int out = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : 2;
	struct {
		uint64_t count, enabled, running;
	} value;
	unsigned int i;

	if (out < 0)
		fail(path);
	for (i = 0; i < n; i++) {
		if (read(fds[i], &value, sizeof(value)) != sizeof(value))
			value.enabled = 0;
		if (!value.enabled || value.enabled != value.running)
			(void)dprintf(out, "- %s\n", specs[i]);
		else
			(void)dprintf(out, "%llu %s\n", (unsigned long long)value.count, specs[i]);
	}
	if (out != 2 && close(out))
		fail("close");
}

int main(int argc, char **argv)
{
	char *specs[EVENTS_MAX];
	int fds[EVENTS_MAX];
	const char *path = NULL;
	unsigned int i, n = 0;
	int opt, go, status;
	uid_t uid = 0;
	pid_t pid;

	while ((opt = getopt(argc, argv, "+e:o:u:")) != -1) {
		if (opt == 'e' && n < EVENTS_MAX) {
			specs[n++] = optarg;
		} else if (opt == 'u') {
			uid = (uid_t)strtoul(optarg, NULL, 10);
		} else if (opt == 'o') {
			path = optarg;
		} else {
			usage();
		}
	}
	if (!n || optind == argc)
		usage();

	pid = start(argv + optind, uid, &go);
	for (i = 0; i < n; i++) {
		fds[i] = open_event(specs[i], pid);
		if (fds[i] < 0)
			fail(specs[i]);
	}
	if (write(go, "g", 1) != 1)
		fail("write");
	if (waitpid(pid, &status, 0) != pid)
		fail("waitpid");
	report(path, specs, fds, n);
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		(void)raise(WTERMSIG(status));
	}
	return WEXITSTATUS(status);
}
