// SPDX-License-Identifier: GPL-2.0
/*
 * longest [KEPT...]: for how long are interrupts off while a tree with KEPT members that have
 * ended is read, listed, stopped and ended? Prints a line for each number and call, in
 * microseconds. Needs a kernel with the tracer irqsoff, which measures this.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"

#define TRACING "/tmp/tracing"
#define LATENCY TRACING "/tracing_max_latency"
#define TREE_ALL (PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE)
/* For perfctr's work. In a kernel that checks itself the kernel's own takes longer. */
#define BOUND_US 2000

static int failed;

static void die(const char *what)
{
	printf("not ok longest: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void put(const char *path, const char *text)
{
	if (write_text(path, text))
		die(path);
}

static void must(int err, const char *what)
{
	errno = -err;
	if (err)
		die(what);
}

/* Prints the longest time since the last call, and where it was. */
static void tell(unsigned int kept, const char *call)
{
	static char trace[65536];
	char text[32], *line, *longest = NULL;
	bool ours = false;

	if (read_text(LATENCY, text, sizeof(text)) < 0)
		die(LATENCY);
	if (read_text(TRACING "/trace", trace, sizeof(trace)) < 0)
		die("trace");
	for (line = strtok(trace, "\n"); line; line = strtok(NULL, "\n")) {
		ours |= strstr(line, "perfctr") != NULL;
		if (strstr(line, "=> started at:") || strstr(line, "=> ended at:"))
			longest = line;
	}
	printf("longest %u kept, %s: %d us%s%s\n", kept, call, atoi(text),
	       longest ? "," : "", longest ? longest + 1 : "");
	if (ours && atoi(text) > BOUND_US) {
		printf("not ok longest.%u: %s\n", kept, call);
		failed = 1;
	}
	put(LATENCY, "0");
}

static void measure(unsigned int kept)
{
	struct perfctr_member member = { .size = sizeof(member) };
	struct perfctr_read_tree tree;
	struct perfctr_control control;
	int fd = try_open(PERFCTR_OPEN_CREAT);
	unsigned int i, n = 0;
	char limit[16];
	pid_t child;

	/* The tracer makes each process several times as slow. */
	put(TRACING "/current_tracer", "nop");
	(void)snprintf(limit, sizeof(limit), "%u", kept);
	put(MODULE_PARAMS "keep", limit);
	control_init(&control);
	control.tsc_on = 1;
	control.flags = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP;
	must(fd < 0 ? fd : try_control(fd, &control), "control");
	for (i = 0; i < kept; i++) {
		child = vfork();	/* NOLINT(*vfork,bugprone-unsafe-functions) */
		if (!child)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			die("vfork");
	}
	sleep_us(500000);
	put(TRACING "/current_tracer", "irqsoff");
	put(LATENCY, "0");
	put(TRACING "/tracing_on", "1");

	must(try_read_tree(fd, TREE_ALL, &tree), "READ_TREE");
	tell(kept, "READ_TREE");
	while (!ioctl(fd, PERFCTR_IOC_NEXT_MEMBER, &member))
		n++;
	if (n != kept || tree.ended != kept)
		die("not all are kept");
	tell(kept, "all NEXT_MEMBER");
	if (ioctl(fd, PERFCTR_IOC_SUSPEND) || ioctl(fd, PERFCTR_IOC_RESUME))
		die("SUSPEND, RESUME");
	tell(kept, "SUSPEND, RESUME");
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	tell(kept, "fork, exit");
	control_init(&control);
	must(try_control(fd, &control), "control");
	tell(kept, "the end of the tree");
	put(TRACING "/tracing_on", "0");
	ioctl(fd, PERFCTR_IOC_UNLINK);
	close(fd);
	printf("ok longest.%u\n", kept);
}

int main(int argc, char **argv)
{
	static char *usual[] = { NULL, "10", "1000", "100000", NULL };
	char **arg = argc > 1 ? argv : usual;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (module_load(NULL) && errno != EEXIST)
		die("module");
	mkdir(TRACING, 0700);
	if (mount("none", TRACING, "tracefs", 0, NULL))
		die(TRACING);
	/* Makes the page allocator give back few pages at a time: see test_inherit_members.c. */
	put("/proc/sys/vm/percpu_pagelist_high_fraction", "100000");
	put(TRACING "/tracing_on", "0");
	while (*++arg)
		measure((unsigned int)strtoul(*arg, NULL, 10));
	put(TRACING "/current_tracer", "nop");
	umount(TRACING);
	return failed;
}
