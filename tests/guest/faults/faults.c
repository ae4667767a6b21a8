// SPDX-License-Identifier: GPL-2.0
/*
 * faults: every call of the ABI while memory runs out and user memory fails, at
 * each point where it can. For a kernel with CONFIG_FAULT_INJECTION.
 *
 *	faults [-v] [CASE...]
 *
 * For n = 1, 2, ... the n-th allocation or copy of the call fails
 * (/proc/thread-self/fail-nth), until the call succeeds without a failure. That is
 * repeated some times, since the allocators' stocks differ, and so does n. A call that
 * fails must return ENOMEM or EFAULT and change nothing: the control in force goes on
 * counting, exactly. At the end the number of points of each call is printed; -v prints
 * the outcome of each. With SOURCE=shared in the environment it counts through perf_events.
 *
 * calls.c has the cases of a thread and its own state, the others those of other subjects.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "faults/faults.h"
#include "kit/guest.h"

#define POINTS_MAX 400
#define ROUNDS 4
#define CASES_MAX 100

bool exact;
bool interrupts;
unsigned int maps_flag;
static bool verbose;

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)printf("not ok faults: ");
	(void)vprintf(format, args);
	(void)printf("\n");
	va_end(args);
	exit(EXIT_FAILURE);
}

/* --- the kernel's side --- */

/* Injects faults also where the caller may sleep, and makes the kernel print nothing. */
static void configure_faults(void)
{
	static const struct {
		const char *file;
		const char *value;
		bool optional;
	} settings[] = {
		{ "failslab/ignore-gfp-wait", "N", false },
		{ "failslab/verbose", "0", false },
		{ "fail_page_alloc/ignore-gfp-wait", "N", false },
		{ "fail_page_alloc/ignore-gfp-highmem", "N", true },
		{ "fail_page_alloc/min-order", "0", false },
		{ "fail_page_alloc/verbose", "0", false },
		{ "fail_usercopy/verbose", "0", false },
	};
	char path[128];
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		(void)snprintf(path, sizeof(path), "/sys/kernel/debug/%s", settings[i].file);
		err = write_text(path, settings[i].value);
		if (err && !settings[i].optional)
			die("%s: %s (is this a debug kernel?)", path, strerror(-err));
	}
}

static int fail_nth = -1;

/* The write itself copies from user memory, so it may be what fails. */
static void set_fail_nth(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);
	int tries;

	for (tries = 0; tries < 3; tries++)
		if (pwrite(fail_nth, text, (size_t)len, 0) == len)
			return;
	die("fail-nth: %s", strerror(errno));
}

/* Has the fault come by now? Leaves no fault pending. */
static bool fault_came(void)
{
	char text[16] = "";
	/* The read's own copy fails if that was next. */
	bool came = pread(fail_nth, text, sizeof(text) - 1, 0) > 0 && text[0] == '0';

	set_fail_nth(0);
	return came;
}

static const struct fault_case *const subjects[] = {
	own_cases, record_cases, tracee_cases, cpus_cases,
};

/* Outcome of the faults of one case, in memory shared with the processes of the case */
struct outcome {
	unsigned int points;	/* the last one's number */
	unsigned int enomem;	/* of all rounds, as the following */
	unsigned int efault;
	unsigned int survived;	/* the call succeeded all the same */
	bool done;		/* it succeeded without a fault */
	char wrong[256];
};

/* One call with one fault, in a process of its own; it leaves what it found in @outcome. */
static void one_fault(const struct fault_case *c, unsigned int n, struct outcome *outcome)
{
	struct scene scene = { .fd = -1, .own = -1 };
	const char *wrong;
	bool came;
	int err;

	control_init(&scene.control);
	control_init(&scene.next);
	c->prepare(&scene);
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_nth < 0)
		die("fail-nth: %s", strerror(errno));
	set_fail_nth(n);
	err = c->call(&scene) ? errno : 0;
	came = fault_came();

	if (came) {
		if (n > outcome->points)
			outcome->points = n;
		outcome->enomem += err == ENOMEM;
		outcome->efault += err == EFAULT;
		outcome->survived += err == 0;
	} else {
		outcome->done = true;
	}
	wrong = c->check(&scene, err == 0);
	if (verbose)
		printf("%s: point %u%s: %s\n", c->name, n, came ? "" : " (no fault)", strerror(err));
	if (err && (!came || (err != ENOMEM && err != EFAULT && err != c->also)))
		(void)snprintf(outcome->wrong, sizeof(outcome->wrong), "point %u%s: %s", n,
			       came ? "" : " (no fault)", strerror(err));
	else if (wrong)
		(void)snprintf(outcome->wrong, sizeof(outcome->wrong), "point %u: %s: %s", n,
			       strerror(err), wrong);
}

static bool run_case(const struct fault_case *c, struct outcome *outcome)
{
	unsigned int n = 1, round = 0;
	int status;
	pid_t pid;

	while (round < ROUNDS && n <= POINTS_MAX && !outcome->wrong[0]) {
		pid = fork();
		if (pid < 0)
			die("fork: %s", strerror(errno));
		if (!pid) {
			one_fault(c, n, outcome);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid ||
		    (status && !(WIFSIGNALED(status) && WTERMSIG(status) == c->signal)))
			(void)snprintf(outcome->wrong, sizeof(outcome->wrong),
				       "point %u: its process ended with status %#x", n,
				       (unsigned int)status);
		n++;
		if (outcome->done) {
			outcome->done = false;
			round++;
			n = 1;
		}
	}
	if (round < ROUNDS && !outcome->wrong[0])
		(void)snprintf(outcome->wrong, sizeof(outcome->wrong), "it fails without end");
	if (outcome->wrong[0])
		printf("not ok faults.%s: %s\n", c->name, outcome->wrong);
	else
		printf("ok faults.%s\n", c->name);
	return !outcome->wrong[0];
}

/*
 * A descendant is missed only if memory fails twice: in the fork's probe, and on the way back
 * to user mode. Here it fails whenever a descendant's state is allocated, and READ_TREE must
 * say so.
 */
static bool run_missed(void)
{
	static const char *const settings[][2] = {
		{ "/sys/kernel/slab/perfctr_descendant/failslab", "1" },
		{ "/sys/kernel/debug/failslab/cache-filter", "Y" },
		{ "/sys/kernel/debug/failslab/times", "-1" },
		{ "/sys/kernel/debug/failslab/probability", "100" },
	};
	struct perfctr_read_tree tree = { .size = sizeof(tree), .which = 7 };
	struct scene scene = { .fd = -1, .own = -1 };
	const char *wrong = NULL;
	unsigned int i;
	int err = 0;

	with_tree(&scene);
	for (i = 0; !err && i < sizeof(settings) / sizeof(settings[0]); i++)
		err = write_text(settings[i][0], settings[i][1]);
	/* The root has one spare state. */
	for (i = 0; !err && i < 5; i++)
		call_fork(&scene);
	(void)write_text("/sys/kernel/debug/failslab/probability", "0");
	(void)write_text("/sys/kernel/debug/failslab/cache-filter", "N");
	if (err) {
		printf("not ok faults.missed: failslab: %s\n", strerror(-err));
		return false;
	}
	call_fork(&scene);
	if (!ioctl(scene.fd, PERFCTR_IOC_READ_TREE, &tree) || errno != EIO ||
	    tree.error != PERFCTR_ERROR_MEMORY)
		wrong = "READ_TREE does not say so";
	else if (tree.missed != 4 || tree.ended != 3 || tree.live)
		wrong = "other than 4 were missed, or 3 are there";
	else
		wrong = counts(&scene, &scene.control);
	if (wrong)
		printf("not ok faults.missed: %s (%llu missed, %llu ended)\n", wrong,
		       (unsigned long long)tree.missed, (unsigned long long)tree.ended);
	else
		printf("ok faults.missed\n");
	return !wrong;
}

static bool is_wanted(int argc, char **argv, const char *name)
{
	int i;

	for (i = optind; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc == optind;
}

/* All cases that are wanted; their number */
static unsigned int collect(int argc, char **argv, const struct fault_case **cases)
{
	const struct fault_case *c;
	unsigned int i, n = 0;

	for (i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		for (c = subjects[i]; c->name; c++)
			if (n < CASES_MAX && is_wanted(argc, argv, c->name))
				cases[n++] = c;
	return n;
}

int main(int argc, char **argv)
{
	const struct fault_case *cases[CASES_MAX];
	struct outcome *outcomes;
	unsigned int i, n, failed = 0;

	if (getopt(argc, argv, "v") == 'v')
		verbose = true;
	guest_begin("faults", NULL);
	exact = guest.nprogrammable &&
		(guest.shared || guest.info.cpu_features & PERFCTR_FEATURE_FILTER);
	interrupts = guest.info.cpu_features & PERFCTR_FEATURE_PCINT && !guest.shared;
	maps_flag = has_kprobes() ? PERFCTR_RING_MAPS : 0;
	configure_faults();
	n = collect(argc, argv, cases);
	outcomes = shared_alloc(CASES_MAX * sizeof(*outcomes));
	for (i = 0; i < n; i++)
		if (!run_case(cases[i], &outcomes[i]))
			failed++;

	if (is_wanted(argc, argv, "missed") && !run_missed())
		failed++;

	printf("%-24s %8s   in %u rounds: %8s %8s %8s\n", "call", "points", ROUNDS, "ENOMEM",
	       "EFAULT", "none");
	for (i = 0; i < n; i++)
		printf("%-24s %8u                %8u %8u %8u\n", cases[i]->name,
		       outcomes[i].points, outcomes[i].enomem, outcomes[i].efault,
		       outcomes[i].survived);
	return guest_end() || failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
