// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what a new control costs while other threads have many controls, each different. The
 * module must not search for it among those.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <linux/perfctr.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libperfctr.h"
#include "kit/perfside.h"

#define CONTROLS 200
#define FEW 10
/* A 32-bit kernel has no room for the stacks of more threads. */
#define MANY (sizeof(long) == 4 ? 2000u : 10000u)
#define SIGNAL SIGUSR1
/* The period of the first control, which is longer than any run. */
#define PERIOD 100000000000ll

/* Counts instructions in user mode, with a period that differs for each @n. */
static void control(int fd, unsigned int n)
{
	struct perfctr_control wanted = {
		PERFCTR_CONTROL_INIT,
		.nrictrs = 1,
		.si_signo = SIGNAL,
		.ctr[0] = {
			.map = PERFCTR_MAP_ANY,
			.flags = PERFCTR_CTR_USER,
			.ireset = -PERIOD - n,
		},
	};

	counters_set_event(0, &wanted.ctr[0]);
	wanted.size = offsetof(struct perfctr_control, ctr) + sizeof(wanted.ctr[0]);
	if (ioctl(fd, PERFCTR_IOC_CONTROL, &wanted))
		die("perfctr: control");
}

static int open_one(void)
{
	int fd = _vperfctr_open(1);

	if (fd < 0)
		die("perfctr: open");
	return fd;
}

struct others {
	pthread_barrier_t there;
	unsigned int next;
};

static void *hold_one(void *arg)
{
	struct others *others = arg;

	control(open_one(), __atomic_add_fetch(&others->next, 1, __ATOMIC_RELAXED));
	pthread_barrier_wait(&others->there);
	for (;;)
		pause();
	return NULL;
}

/* Is a process of @n threads, each with a control of its own, which runs until it is killed. */
static void hold(unsigned int n, int ready)
{
	struct rlimit limit = { 65536, 65536 };
	struct others others = { .next = 0 };
	pthread_attr_t attr;
	pthread_t thread;
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_NOFILE, &limit);
	pthread_barrier_init(&others.there, NULL, n + 1);
	pthread_attr_init(&attr);
	set_small_stack(&attr);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread, &attr, hold_one, &others))
			die("pthread_create");
	pthread_barrier_wait(&others.there);
	if (write(ready, "x", 1) != 1)
		die("write");
	for (;;)
		pause();
}

/* Each call of control() makes a new control, which ends the previous one. */
static double control_cost(const void *arg)
{
	const int *fd = arg;
	unsigned int i;
	uint64_t start;

	start = now_ns();
	for (i = 0; i < CONTROLS; i++)
		control(*fd, i % 2 ? 0 : MANY + 1);
	return (double)(now_ns() - start) / CONTROLS;
}

static double control_beside(unsigned int n)
{
	int fd, ready[2];
	double cost;
	char byte;
	pid_t pid;

	if (pipe(ready))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		hold(n, ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		die("read");
	close(ready[0]);
	close(ready[1]);
	fd = open_one();
	cost = settled_within(control_cost, &fd, 0.002);
	ioctl(fd, PERFCTR_IOC_UNLINK);
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return cost;
}

void bench_controls(void)
{
	double few = control_beside(FEW);

	report("control_beside_10", 1, few, NONE, NONE, "insn");
	report(MANY == 2000 ? "control_beside_2000" : "control_beside_10000", 1,
	       control_beside(MANY), NONE, 1.02 * few, "insn");
}
