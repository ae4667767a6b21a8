// SPDX-License-Identifier: GPL-2.0
/*
 * Measures how much memory a counting thread with a mapped page takes from the machine, and how
 * much its user is charged for (a memory cgroup). Threads are started before they count, so the
 * figures do not have what any thread takes.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS 2000
#define CGROUP "/tmp/cgroup"
#define GROUP CGROUP "/bench"
/* The bound is a page, the state, and the room for additions to the ABI. */
#define BOUND (4096 + 1024 + 128)

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

/*
 * Returns the number behind @name in a file with lines of names and numbers, or the first number of
 * the file if @name is NULL.
 */
static double read_number(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	double number = NONE;
	char line[256];

	if (!file)
		die(path);
	while (fgets(line, sizeof(line), file)) {
		size_t len = name ? strlen(name) : 0;

		if (name && (strncmp(line, name, len) != 0 || (line[len] != ' ' && line[len] != ':')))
			continue;
		number = strtod(line + len + (name ? 1 : 0), NULL);
		break;
	}
	(void)fclose(file);
	return number;
}

struct crowd {
	struct setup setup;
	pthread_barrier_t begin, done, end;
	double charged, total;
};

static void *member(void *arg)
{
	struct crowd *crowd = arg;
	struct counting counting;
	unsigned int i;

	pthread_barrier_wait(&crowd->begin);
	counting_begin(&counting, &crowd->setup);
	/* Touch the page, as an untouched page need not be allocated. */
	if (counting.page)
		(void)*(const volatile uint32_t *)&counting.page->cstatus;
	for (i = 0; i < crowd->setup.counters; i++)
		if (counting.perf_pages[i])
			(void)*(const volatile char *)counting.perf_pages[i];
	pthread_barrier_wait(&crowd->done);
	pthread_barrier_wait(&crowd->end);
	_exit(0);
}

/* Returns the bytes of all free pages, including those that each CPU keeps in its lists. */
static double free_bytes(void)
{
	FILE *file;
	char line[256];
	double pages = 0;
	unsigned long count;

	/*
	 * Drop caches, since memory that can be reclaimed is no cost. Then fold in the counts that
	 * are kept per CPU. A kernel for one CPU keeps none.
	 */
	write_file("/proc/sys/vm/drop_caches", "3");
	usleep(300000);
	if (!access("/proc/sys/vm/stat_refresh", F_OK))
		write_file("/proc/sys/vm/stat_refresh", "1");
	file = fopen("/proc/zoneinfo", "re");
	if (!file)
		die("/proc/zoneinfo");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " pages free %lu", &count) == 1 ||
		    sscanf(line, " count: %lu", &count) == 1)
			pages += (double)count;
	}
	(void)fclose(file);
	return pages * 4096;
}

static void run_crowd(struct crowd *crowd, volatile double *charged, volatile double *total)
{
	double free_before, charged_before;
	struct rlimit limit = { 65536, 65536 };
	pthread_attr_t attr;
	pthread_t thread;
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	write_file(GROUP "/cgroup.procs", "0");
	setrlimit(RLIMIT_NOFILE, &limit);
	/* Make room for all descriptors before memory is measured. */
	if (dup2(0, THREADS * (MAX_COUNTERS + 1) + 100) < 0)
		die("dup2");
	pthread_barrier_init(&crowd->begin, NULL, THREADS + 1);
	pthread_barrier_init(&crowd->done, NULL, THREADS + 1);
	pthread_barrier_init(&crowd->end, NULL, THREADS + 1);
	pthread_attr_init(&attr);
	set_small_stack(&attr);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread, &attr, member, crowd))
			die("pthread_create");
	usleep(500000);
	charged_before = read_number(GROUP "/memory.current", NULL);
	free_before = free_bytes();
	pthread_barrier_wait(&crowd->begin);
	pthread_barrier_wait(&crowd->done);
	usleep(500000);
	*total = (free_before - free_bytes()) / THREADS;
	*charged = (read_number(GROUP "/memory.current", NULL) - charged_before) / THREADS;
	_exit(0);
}

static double measure_crowd(enum side side, unsigned int counters, bool charged)
{
	volatile double *figures = shared_alloc(2 * sizeof(*figures));
	struct crowd crowd = {
		.setup = { .side = side, .counters = counters, .map = true },
	};
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		run_crowd(&crowd, &figures[0], &figures[1]);
	await_child(pid);
	return charged ? figures[0] : figures[1];
}

struct weighing {
	enum side side;
	unsigned int counters;
	bool charged;
};

static double weigh_once(const void *arg)
{
	const struct weighing *w = arg;

	return measure_crowd(w->side, w->counters, w->charged);
}

/* Weighs threads until two results agree within a hundredth, which is a few pages. */
static double weigh(enum side side, unsigned int counters, bool charged)
{
	struct weighing w = { .side = side, .counters = counters, .charged = charged };

	return settled_within(weigh_once, &w, 0.01);
}

void bench_memory(void)
{
	unsigned int n;

	if ((mkdir(CGROUP, 0755) && errno != EEXIST) ||
	    (mount("none", CGROUP, "cgroup2", 0, NULL) && errno != EBUSY)) {
		perror("bench: cgroup2");
		return;
	}
	write_file(CGROUP "/cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0755) && errno != EEXIST)
		die(GROUP);
	for (n = 1; n <= bench_counters; n++)
		report("memory", n, weigh(PERFCTR, n, false), weigh(PERF, n, false), BOUND,
		       "bytes");
	for (n = 1; n <= bench_counters; n++)
		report("memory_charged", n, weigh(PERFCTR, n, true), weigh(PERF, n, true),
		       BOUND, "bytes");
}
