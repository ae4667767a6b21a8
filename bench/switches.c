// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what counters add to a context switch. Two processes on one CPU yield to each other,
 * with counters and without. In a switch one of them leaves the CPU and the other comes, so the
 * figure has both halves of a thread's switch. On x86 writes to registers are counted too, since
 * these take most of the time on a real processor.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <libperfctr.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define YIELDS 250	/* takes less time than lies between two interrupts of the timer */
#define ROUNDS 31	/* rounds of YIELDS, whose median is taken */
#define WARM_UP 500
#define UID_STRANGER 1001

struct pair {
	struct setup setup[2];
	uid_t uid[2];
	bool alone;	/* the second process does not count */
	bool tree;	/* both are children of a process that counts by inheritance */
};

/* What a switch costs: instructions, and the number of writes to each kind of register. */
struct cost {
	double insn;
	double writes[NR_WRITES];
};

struct ring {
	volatile unsigned int ready;
	volatile bool stop;
	bool readable;	/* user mode can read the mapped counters */
	struct cost cost;
};

static long own_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void yield_times(unsigned int n)
{
	while (n--)
		sched_yield();
}

/* Measures the cost of a switch. Each turn of this process has two switches: out, and in again. */
static void round_of_yields(struct cost *cost)
{
	uint32_t before[NR_WRITES], after[NR_WRITES];
	long switches = own_switches();
	unsigned int i;
	uint64_t began;

	read_writes(before);
	began = now_ns();
	yield_times(YIELDS);
	began = now_ns() - began;
	read_writes(after);
	switches = own_switches() - switches;
	/* Each turn must switch out once, or else something else is measured. */
	if (switches < YIELDS - YIELDS / 20 || switches > YIELDS + YIELDS / 20) {
		(void)fprintf(stderr, "bench: %ld switches in %d yields\n", switches, YIELDS);
		_exit(EXIT_FAILURE);
	}
	cost->insn = (double)began / (2.0 * (double)switches);
	for (i = 0; i < NR_WRITES; i++)
		cost->writes[i] = (after[i] - before[i]) / (2.0 * (double)switches);
}

static int in_order(const void *a, const void *b)
{
	double first = ((const struct cost *)a)->insn, second = ((const struct cost *)b)->insn;

	return (first > second) - (first < second);
}

/* Is one of the two processes. Number 0 measures. */
static void yielder(const struct pair *pair, struct ring *ring, unsigned int number)
{
	struct counting counting;
	struct cost cost[ROUNDS];
	unsigned int i, k;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* On Debian only root may call perf_event_open(), but events that are open stay open. */
	if (pair->setup[number].side == PERF)
		counting_begin(&counting, &pair->setup[number]);
	become(pair->uid[number]);
	if (pair->setup[number].side != PERF)
		counting_begin(&counting, &pair->setup[number]);
	__sync_fetch_and_add(&ring->ready, 1);
	while (ring->ready < 2)
		sched_yield();
	if (number) {
		while (!ring->stop)
			sched_yield();
		_exit(0);
	}
	yield_times(WARM_UP);
	ring->readable = is_readable(&counting);
	for (i = 0; i < ROUNDS; i++)
		round_of_yields(&cost[i]);
	qsort(cost, ROUNDS, sizeof(cost[0]), in_order);
	ring->cost.insn = cost[ROUNDS / 2].insn;
	/* Take the mean of the writes, so that an occasional write shows. */
	for (k = 0; k < NR_WRITES; k++) {
		ring->cost.writes[k] = 0;
		for (i = 0; i < ROUNDS; i++)
			ring->cost.writes[k] += cost[i].writes[k] / ROUNDS;
	}
	ring->stop = true;
	_exit(0);
}

static struct ring *ring;

static void run_pair(const struct pair *pair)
{
	pid_t pid[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			die("fork");
		if (!pid[i])
			yielder(pair, ring, i);
	}
	await_child(pid[0]);
	await_child(pid[1]);
}

/* Runs the pair as the children of a root that sleeps. The children inherit its counters. */
static void run_tree(const struct pair *pair)
{
	struct pair children = *pair;
	struct counting counting;
	struct setup root = pair->setup[0];
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid) {
		await_child(pid);
		return;
	}
	root.inherit = true;
	counting_begin(&counting, &root);
	children.setup[0].side = NOBODY;
	children.setup[1].side = NOBODY;
	run_pair(&children);
	_exit(0);
}

static double measure_pair(const void *arg)
{
	const struct pair *pair = arg;

	if (!ring)
		ring = shared_alloc(sizeof(*ring));
	ring->ready = 0;
	ring->stop = false;
	if (pair->tree)
		run_tree(pair);
	else
		run_pair(pair);
	return ring->cost.insn;
}

/* Measures a pair. The numbers of writes are those of the last run. */
static struct cost measure(const struct pair *pair)
{
	struct cost cost = { .insn = settled(measure_pair, pair) };

	memcpy(cost.writes, ring->cost.writes, sizeof(cost.writes));
	return cost;
}

/* Measures the base line, the same pair without counters. */
static struct cost base_line(uid_t first, uid_t second)
{
	struct pair pair = { .uid = { first, second } };

	return measure(&pair);
}

static struct cost extra(const struct setup *setup, const struct pair *how,
			 const struct cost *base)
{
	struct pair pair = *how;
	struct cost cost;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		bool kernel = pair.setup[i].kernel;

		pair.setup[i] = *setup;
		pair.setup[i].kernel = kernel;
	}
	if (pair.alone)
		pair.setup[1].side = NOBODY;
	cost = measure(&pair);
	if (setup->side == PERFCTR && setup->map && !ring->readable)
		return (struct cost){ NONE, { NONE, NONE, NONE } };
	cost.insn -= base->insn;
	for (i = 0; i < NR_WRITES; i++)
		cost.writes[i] -= base->writes[i];
	return cost;
}

/* What the figures of a row must not exceed. */
struct bounds {
	double insn[MAX_COUNTERS];
	double part_of_perf;	/* part of perf's figure, instead of @insn; unless 0 */
	double wrmsr;		/* writes to registers of the counters */
};

static const struct bounds none = { .insn = { NONE, NONE, NONE, NONE }, .wrmsr = NONE };

static void report_writes(const char *metric, const struct cost *perfctr,
			  const struct cost *perf, double wrmsr_bound)
{
	unsigned int n, all = bench_counters - 1;
	char name[64];

	(void)snprintf(name, sizeof(name), "%s_wrmsr", metric);
	for (n = 0; n < bench_counters; n++)
		report(name, n + 1, perfctr[n].writes[WRMSR], perf[n].writes[WRMSR],
		       wrmsr_bound, "WRMSR");
	/* These figures do not depend on the number of counters. */
	(void)snprintf(name, sizeof(name), "%s_wrmsr_other", metric);
	report(name, all + 1, perfctr[all].writes[WRMSR_OTHER], perf[all].writes[WRMSR_OTHER],
	       NONE, "WRMSR");
	(void)snprintf(name, sizeof(name), "%s_cr4", metric);
	report(name, all + 1, perfctr[all].writes[CR4], perf[all].writes[CR4], NONE, "CR4");
}

/*
 * Reports one metric, for 1 to 4 counters. One side is measured first for all numbers of counters,
 * since its hooks outlast its events.
 */
static void compare(const char *metric, const struct pair *how, const struct bounds *bounds)
{
	struct cost perfctr[MAX_COUNTERS] = { 0 }, perf[MAX_COUNTERS] = { 0 };
	struct cost base = base_line(how->uid[0], how->uid[1]);
	struct setup setup = { .map = how->setup[0].map };
	unsigned int n;

	for (n = 1; n <= bench_counters; n++) {
		setup.side = PERFCTR;
		setup.counters = n;
		perfctr[n - 1] = extra(&setup, how, &base);
	}
	await_hooks_gone();
	for (n = 1; n <= bench_counters; n++) {
		setup.side = PERF;
		setup.counters = n;
		perf[n - 1] = extra(&setup, how, &base);
	}
	for (n = 0; n < bench_counters; n++)
		report(metric, n + 1, perfctr[n].insn, perf[n].insn,
		       bounds->part_of_perf > 0 ? perf[n].insn * bounds->part_of_perf :
						  bounds->insn[n], "insn");
	if (BY_ARCH(false, true, true, false))
		report_writes(metric, perfctr, perf, bounds->wrmsr);
	await_hooks_gone();
}

/* Starts a process that counts, and sleeps while others switch. */
static pid_t counting_sleeper(enum side side, bool map)
{
	volatile bool *ready = shared_alloc(sizeof(*ready));
	struct setup setup = { .side = side, .counters = bench_counters, .map = map };
	struct counting counting;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		counting_begin(&counting, &setup);
		*ready = true;
		for (;;)
			pause();
	}
	while (!*ready)
		usleep(1000);
	return pid;
}

static void end_sleeper(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
}

static double beside(enum side side, bool map, double base)
{
	pid_t pid = counting_sleeper(side, map);
	double cost = base_line(0, 0).insn - base;

	end_sleeper(pid);
	return cost;
}

/*
 * Measures two processes that do not count: without the module, with it, while a third process
 * counts, and while the third process has mapped its page too.
 */
static void bystanders(void)
{
	static const char * const names[] = {
		"switch_extra_bystander", "switch_extra_bystander_mapped",
	};
	double without, idle, perf[2];
	int map;

	module_unload();
	without = base_line(0, 0).insn;
	for (map = 0; map < 2; map++) {
		perf[map] = beside(PERF, map, without);
		await_hooks_gone();
	}
	module_load("");
	idle = base_line(0, 0).insn;
	report("switch_base", 0, idle, without, NONE, "insn");
	report("switch_extra_bystander_nobody", 0, idle - without, 0, 0.5, "insn");
	for (map = 0; map < 2; map++)
		report(names[map], bench_counters, beside(PERFCTR, map, idle), perf[map],
		       map ? NONE : 10, "insn");
	await_hooks_gone();
}

#define SECOND_RUNS	3

/*
 * Returns the time of a loop of a second that is not switched, with its timer ticks and all that
 * these do.
 */
static double loop_of_a_second(const void *unused)
{
	unsigned long turns = 500000000;	/* a turn is two instructions */
	uint64_t begin = now_ns();

	(void)unused;
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("1:	dec	%0\n"
			 "	jnz	1b" : "+r" (turns) : : "cc");
#elif defined(__riscv)
	__asm__ volatile("1:	addi	%0, %0, -1\n"
			 "	bnez	%0, 1b" : "+r" (turns));
#elif defined(__aarch64__)
	__asm__ volatile("1:	sub	%0, %0, #1\n"
			 "	cbnz	%0, 1b" : "+r" (turns));
#elif defined(__powerpc__)
	__asm__ volatile("1:	addic.	%0, %0, -1\n"
			 "	bne	1b" : "+r" (turns) : : "cr0", "xer");
#endif
	return (double)(now_ns() - begin);
}

/*
 * Measures what the counters of a sleeping process add to a second in which no thread is switched.
 * On x86 the module checks the registers. The bound is a hundredth of the processor.
 */
static void second(void)
{
	double base = median_of_runs(loop_of_a_second, NULL, SECOND_RUNS), figure[2];
	enum side side;
	pid_t pid;

	for (side = PERFCTR; side <= PERF; side++) {
		pid = counting_sleeper(side, false);
		figure[side - PERFCTR] = median_of_runs(loop_of_a_second, NULL, SECOND_RUNS) - base;
		end_sleeper(pid);
		/* Otherwise the next base line would include the hooks. */
		await_hooks_gone();
	}
	report("second_extra", bench_counters, figure[0], figure[1], 10000000, "insn");
}

/*
 * Measures two processes that count SLOTS and metrics, which both sides begin anew at each switch.
 */
static void topdown(void)
{
	static const char * const names[] = {
		"switch_extra_topdown", "switch_extra_topdown_mapped",
	};
	struct setup setup = { .counters = TOPDOWN_COUNTERS, .topdown = true };
	struct pair pair = { .uid = { 0, 0 } };
	struct cost base = base_line(0, 0), perfctr[2], perf;
	char name[64];
	int map;

	setup.side = PERFCTR;
	for (map = 0; map < 2; map++) {
		setup.map = map;
		perfctr[map] = extra(&setup, &pair, &base);
	}
	await_hooks_gone();
	setup.side = PERF;
	for (map = 0; map < 2; map++) {
		setup.map = map;
		perf = extra(&setup, &pair, &base);
		report(names[map], TOPDOWN_COUNTERS, perfctr[map].insn, perf.insn, perf.insn,
		       "insn");
		(void)snprintf(name, sizeof(name), "%s_wrmsr", names[map]);
		report(name, TOPDOWN_COUNTERS, perfctr[map].writes[WRMSR], perf.writes[WRMSR], NONE,
		       "WRMSR");
	}
	await_hooks_gone();
}

void bench_perf_alone(void)
{
	struct pair plain = { .uid = { 0, 0 } };
	struct cost base = base_line(0, 0), perf;
	struct setup setup = { .side = PERF };

	for (setup.counters = 1; setup.counters <= MAX_COUNTERS; setup.counters++) {
		perf = extra(&setup, &plain, &base);
		report("switch_extra", setup.counters, NONE, perf.insn, NONE, "insn");
		report("switch_extra_wrmsr", setup.counters, NONE, perf.writes[WRMSR], NONE,
		       "WRMSR");
	}
}

void bench_switches(void)
{
	/*
	 * The bounds of 1 and 4 counters are the goals. The bounds of 2 and 3 counters lie on the
	 * line between them.
	 */
	static const struct bounds plain_bounds = {
		.insn = {
			BY_ARCH(70, 80, 80, 130),
			BY_ARCH(70 + 35 / 3.0, 80 + 35 / 3.0, 80 + 35 / 3.0, NONE),
			BY_ARCH(70 + 70 / 3.0, 80 + 70 / 3.0, 80 + 70 / 3.0, NONE),
			BY_ARCH(105, 115, 115, NONE),
		},
		.wrmsr = 0,
	};
	/* These bounds also apply if one process counts and the other does not. */
	static const struct bounds tree_bounds = {
		.insn = {
			BY_ARCH(110, 110, 110, NONE), BY_ARCH(110 + 70 / 3.0, 110 + 70 / 3.0, 110 + 70 / 3.0, NONE),
			BY_ARCH(110 + 140 / 3.0, 110 + 140 / 3.0, 110 + 140 / 3.0, NONE),
			BY_ARCH(180, 180, 180, NONE),
		},
		.wrmsr = 0,
	};
	/* These bounds apply to threads with pages. */
	static const struct bounds page_bounds = {
		.insn = {
			RISCV_X86(130, 160), RISCV_X86(130 + 70 / 3.0, 180),
			RISCV_X86(130 + 140 / 3.0, 200), RISCV_X86(200, 220),
		},
		.wrmsr = 0,
	};
	/*
	 * One write stops the counters of one process, and another write starts those of the other.
	 */
	static const struct bounds stranger_bounds = {
		.insn = { NONE, NONE, NONE, NONE },
		.part_of_perf = BY_ARCH(0.25, 0, 0, 0),
		.wrmsr = 2,
	};
	static const struct bounds alone_bounds = {
		.insn = { NONE, NONE, NONE, NONE }, .wrmsr = 2,
	};
	struct pair plain = { .uid = { 0, 0 } };
	struct pair kin = { .uid = { UID_USER, UID_USER } };
	struct pair strangers = { .uid = { UID_USER, UID_STRANGER } };
	struct pair alone = { .uid = { UID_USER, UID_STRANGER }, .alone = true };
	struct pair others = { .uid = { 0, 0 } };
	struct pair one = { .uid = { 0, 0 }, .alone = true };
	struct pair tree = { .uid = { 0, 0 }, .tree = true };

	bystanders();
	second();
	compare("switch_extra", &plain, &plain_bounds);
	compare("switch_extra_alone", &one, &tree_bounds);
	compare("switch_extra_tree", &tree, &tree_bounds);
	others.setup[1].kernel = true;
	compare("switch_extra_other_control", &others, &none);
	kin.setup[0].map = true;
	alone.setup[0].map = true;
	strangers.setup[0].map = true;
	set_policy("guarded");
	compare("switch_extra_guarded_kin", &kin, &page_bounds);
	compare("switch_extra_guarded_alone", &alone, &alone_bounds);
	compare("switch_extra_guarded_strangers", &strangers, &stranger_bounds);
	set_policy("open");
	compare("switch_extra_open", &strangers, &page_bounds);
	set_policy("guarded");
	if (has_topdown())
		topdown();
}

/* Bounds for counters of perf's. On RISC-V its driver reads each of them, at a fixed cost. */
static const struct bounds shared_bounds = {
	.insn = {
		BY_ARCH(300, 115, 150, NONE), BY_ARCH(500, 150, 200, NONE), BY_ARCH(700, 185, 250, NONE),
		BY_ARCH(900, 220, 300, NONE),
	},
	.wrmsr = 0,
};

void switches_shared(void)
{
	struct pair plain = { .uid = { 0, 0 } };

	/* The hooks of the previous part must be gone. */
	await_hooks_gone();
	compare("switch_extra_shared", &plain, &shared_bounds);
}

struct sleepers {
	pthread_barrier_t there;
	bool states;	/* each thread has a state */
};

static void *sleeper(void *arg)
{
	struct sleepers *sleepers = arg;

	if (sleepers->states && _vperfctr_open(1) < 0)
		die("perfctr: open");
	pthread_barrier_wait(&sleepers->there);
	for (;;)
		pause();
	return NULL;
}

/* Is a process of @nr sleeping threads, with states if @states. It runs until it is killed. */
static void hold_sleepers(unsigned int nr, bool states, volatile bool *ready)
{
	struct rlimit limit = { 2 * nr + 100, 2 * nr + 100 };
	struct sleepers sleepers = { .states = states };
	pthread_attr_t attr;
	pthread_t thread;
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_NOFILE, &limit);
	pthread_barrier_init(&sleepers.there, NULL, nr + 1);
	pthread_attr_init(&attr);
	set_small_stack(&attr);
	for (i = 0; i < nr; i++)
		if (pthread_create(&thread, &attr, sleeper, &sleepers))
			die("pthread_create");
	pthread_barrier_wait(&sleepers.there);
	*ready = true;
	for (;;)
		pause();
}

/* Lets a process have 100,000 threads, with their stacks. */
static void allow_many_threads(void)
{
	write_setting("/proc/sys/kernel/pid_max", "400000");
	write_setting("/proc/sys/kernel/threads-max", "200000");
	write_setting("/proc/sys/vm/max_map_count", "400000");
}

/* Measures two processes that do not count, beside @others sleeping threads. */
static double beside_sleepers(unsigned int others, bool states)
{
	volatile bool *ready = shared_alloc(sizeof(*ready));
	pid_t pid = fork();
	double cost;

	if (pid < 0)
		die("fork");
	if (!pid)
		hold_sleepers(others, states, ready);
	while (!*ready)
		usleep(1000);
	cost = base_line(0, 0).insn;
	end_sleeper(pid);
	return cost;
}

/*
 * Measures what is added if all sleeping threads have a state. So many threads alone cost something
 * as well.
 */
static double beside_many(unsigned int others)
{
	double base = beside_sleepers(others, false);
	double cost = beside_sleepers(others, true) - base;

	await_hooks_gone();
	return cost;
}

/* Needs the module loaded with by_tracepoint=1. @native: there are native counters. */
void switches_tracepoint(bool native)
{
	static const struct bounds plain_bounds = {
		.insn = { 100, 120, 140, 160 },
		.wrmsr = 0,
	};
	static const struct bounds by_tracepoint_bounds = {
		.insn = { BY_ARCH(NONE, 120, NONE, NONE), BY_ARCH(NONE, 120 + 110 / 3.0, NONE, NONE),
			  BY_ARCH(NONE, 120 + 220 / 3.0, NONE, NONE), BY_ARCH(NONE, 230, NONE, NONE) },
		.wrmsr = 0,
	};
	struct pair plain = { .uid = { 0, 0 } };
	const double few_bound = BY_ARCH(NONE, 34, NONE, NONE), many_bound = BY_ARCH(NONE, 45, NONE, NONE);

	allow_many_threads();
	await_hooks_gone();
	report("switch_extra_tracepoint_10", 10, beside_many(10), NONE, few_bound, "insn");
	report("switch_extra_tracepoint_100000", 100000, beside_many(100000), NONE, many_bound,
	       "insn");
	compare("switch_extra_tracepoint_shared", &plain, &by_tracepoint_bounds);
	if (!native)
		return;
	bench_source = PERFCTR_SOURCE_NATIVE;
	compare("switch_extra_tracepoint", &plain, &plain_bounds);
}
