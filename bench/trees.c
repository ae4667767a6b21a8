// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what it costs to read the sums of a tree while its descendants live. The root is a
 * process that counts by inheritance, and its children sleep. The machine has one CPU, and
 * perf_events reads its group by one call of read(2).
 */
#define _GNU_SOURCE
#include "bench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define READS 10
#define ROUNDS 20	/* the shortest is taken, as some are interrupted */

struct tree {
	enum side side;
	unsigned int children;
};

/* Each side reads only the counters. */
static void read_sums(const struct counting *counting)
{
	struct perfctr_read_tree sums = {
		.size = offsetof(struct perfctr_read_tree, sum[counting->setup.counters]),
		.which = PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE,
	};
	uint64_t words[1 + MAX_COUNTERS];

	if (counting->setup.side == PERF) {
		if (read(counting->fds[0], words, sizeof(words)) < 0)
			die("perf: read");
	} else if (ioctl(counting->fds[0], PERFCTR_IOC_READ_TREE, &sums)) {
		die("perfctr: read_tree");
	}
}

/* Starts @n children, which all sleep when this function returns. */
static void start_children(pid_t *pid, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			die("fork");
		if (!pid[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	usleep(100000);
}

static void end_children(const pid_t *pid, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		(void)kill(pid[i], SIGKILL);
	for (i = 0; i < n; i++)
		(void)waitpid(pid[i], NULL, 0);
}

/* Measures in a process of its own, so that nothing is left behind. */
static double tree_read(const void *arg)
{
	static volatile double *figure;
	const struct tree *tree = arg;
	struct setup setup = { .side = tree->side, .counters = bench_counters, .inherit = true };
	struct counting counting;
	uint64_t took, least = UINT64_MAX;
	pid_t pid, *children;
	unsigned int i, k;

	if (!figure)
		figure = shared_alloc(sizeof(*figure));
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid) {
		await_child(pid);
		return *figure;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	counting_begin(&counting, &setup);
	children = calloc(tree->children + 1, sizeof(*children));
	if (!children)
		die("calloc");
	start_children(children, tree->children);
	for (i = 0; i < ROUNDS; i++) {
		took = now_ns();
		for (k = 0; k < READS; k++)
			read_sums(&counting);
		took = now_ns() - took;
		if (took < least)
			least = took;
	}
	*figure = (double)least / READS;
	end_children(children, tree->children);
	_exit(0);
}

/* Reports rows whose number is the number of children. As many counters as possible are used. */
void bench_trees(void)
{
	static const unsigned int children[] = { 0, 10, 500 };
	unsigned int i;

	for (i = 0; i < sizeof(children) / sizeof(children[0]); i++) {
		struct tree tree = { .side = PERFCTR, .children = children[i] };
		double ours = settled_within(tree_read, &tree, 0.002), perf;

		tree.side = PERF;
		perf = settled_within(tree_read, &tree, 0.002);
		report("read_tree", children[i], ours, perf, perf / 2, "insn");
	}
}
