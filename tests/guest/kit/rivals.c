// SPDX-License-Identifier: GPL-2.0
/* Rivals for CPUs and counters; see rivals.h. */
#define _GNU_SOURCE
#include "kit/rivals.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"

#define DEFAULT_RIVALS 8
#define DEFAULT_SLEEP_US 200
#define EXACT_LOOPS 500

/* One rival, in memory that it shares with the test's process. */
struct rival {
	struct rivals *all;
	unsigned int number;
	bool thread;
	pthread_t pthread;
	pid_t pid;
	volatile bool ready;
	volatile int error;		/* errno of what failed, or ERANGE: a wrong count */
	volatile uint64_t wrong;	/* ... which was this */
	volatile uint64_t turns;
};

struct rivals {
	struct rivals_plan plan;
	unsigned int n;
	volatile bool stop;
	struct rival rival[RIVALS_MAX];
};

/* Controls that differ from each other and count no instructions. */
static void other_control(struct perfctr_control *control, unsigned int number)
{
	static const uint32_t events[] = {
		EV_CYCLES, EV_DTLB_LOAD_MISSES, EV_DTLB_STORE_MISSES, EV_ITLB_LOAD_MISSES,
	};
	unsigned int i, first = number % 4, n = 1 + number % 3;
	/* Without privilege there is half of perf's counters, which are four at least. */
	unsigned int most = guest.shared ? 2 : 4;

	control_init(control);
	control->tsc_on = number & 1;
	if (guest.nprogrammable < 4) {
		control->tsc_on = 1;
		return;
	}
	for (i = 0; i < n; i++)
		control_add(control, events[(first + i) % most]);
}

static int rival_begin(const struct rival *rival)
{
	const struct rivals_plan *plan = &rival->all->plan;
	struct perfctr_control own;
	int fd, err;

	fd = try_open(PERFCTR_OPEN_CREAT);
	if (fd < 0)
		return fd;
	if (plan->control)
		own = *plan->control;
	else
		other_control(&own, rival->number);
	err = try_control(fd, &own);
	if (!err && (plan->map || (rival->number & 2)) && !try_map(fd))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

static int rival_turn(struct rival *rival, int fd, bool sleeper)
{
	const struct rivals_plan *plan = &rival->all->plan;
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	uint64_t delta;
	long err;

	if (plan->exact) {
		err = exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, EXACT_LOOPS);
		if (err)
			return (int)err;
		delta = rd[1].sum[0] - rd[0].sum[0];
		if (delta != EXACT_KERNEL + BODY_SPIN(EXACT_LOOPS)) {
			rival->wrong = delta;
			return -ERANGE;
		}
	}
	if (sleeper)
		sleep_us(plan->sleep_us);
	else
		sched_yield();
	return 0;
}

static void *rival_run(void *arg)
{
	struct rival *rival = arg;
	const struct rivals_plan *plan = &rival->all->plan;
	bool sleeper = plan->sleepers || (rival->number & 1);
	int fd, err = 0;

	if (plan->cpu >= 0)
		pin_self((unsigned int)plan->cpu);
	fd = rival_begin(rival);
	if (fd < 0) {
		rival->error = -fd;
		rival->ready = true;
		return NULL;
	}
	rival->ready = true;
	while (!rival->all->stop && !err) {
		err = rival_turn(rival, fd, sleeper);
		rival->turns++;
	}
	rival->error = -err;
	(void)ioctl(fd, PERFCTR_IOC_UNLINK);
	close(fd);
	return NULL;
}

/*
 * The priority is given before the user is changed. Only sleepers get it: one
 * that yields at real-time priority would keep all others from the CPU.
 */
static void rival_rise(const struct rival *rival)
{
	if (geteuid() == 0 && (rival->all->plan.sleepers || (rival->number & 1)))
		make_realtime();
}

static void *rival_thread(void *arg)
{
	rival_rise(arg);
	return rival_run(arg);
}

static void rival_process(struct rival *rival)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rival_rise(rival);
	if (rival->all->plan.uid)
		become(rival->all->plan.uid);
	rival_run(rival);
	_exit(0);
}

struct rivals *rivals_start(const struct rivals_plan *plan)
{
	struct rivals *rivals = shared_alloc(sizeof(*rivals));
	unsigned int i;

	rivals->plan = *plan;
	if (!plan->sleep_us)
		rivals->plan.sleep_us = DEFAULT_SLEEP_US;
	/* If a switch took longer than they sleep, nobody else would get the CPU. */
	if (getenv("SLOW_KERNEL"))
		rivals->plan.sleep_us *= 20;
	rivals->n = plan->n ? plan->n : DEFAULT_RIVALS;
	ck_assert_uint_le(rivals->n, RIVALS_MAX);

	/* Processes first: the child of a fork has none of the parent's threads. */
	for (i = rivals->n; i-- > 0;) {
		struct rival *rival = &rivals->rival[i];
		pid_t pid;

		rival->all = rivals;
		rival->number = i;
		rival->thread = i < plan->threads;
		if (rival->thread) {
			ck_assert_int_eq(pthread_create(&rival->pthread, NULL, rival_thread, rival), 0);
			continue;
		}
		ck_ok(pid = fork());
		if (!pid)
			rival_process(rival);
		rival->pid = pid;
	}
	for (i = 0; i < rivals->n; i++) {
		while (!rivals->rival[i].ready)
			sleep_us(100);
		ck_assert_msg(!rivals->rival[i].error, "rival %u: %s", i,
			      strerror(rivals->rival[i].error));
	}
	return rivals;
}

uint64_t rivals_turns(const struct rivals *rivals)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < rivals->n; i++)
		sum += rivals->rival[i].turns;
	return sum;
}

void rivals_stop(struct rivals *rivals)
{
	unsigned int i;

	/* The slowest may not have had the CPU yet. */
	for (i = 0; i < rivals->n; i++)
		while (!rivals->rival[i].turns && !rivals->rival[i].error)
			sleep_us(100);
	rivals->stop = true;
	for (i = 0; i < rivals->n; i++) {
		struct rival *rival = &rivals->rival[i];

		if (rival->thread)
			pthread_join(rival->pthread, NULL);
		else
			expect_exit(rival->pid, 0);
		ck_assert_msg(rival->error != ERANGE, "rival %u counted %llu, expected %llu", i,
			      (unsigned long long)rival->wrong,
			      (unsigned long long)(EXACT_KERNEL + BODY_SPIN(EXACT_LOOPS)));
		ck_assert_msg(!rival->error, "rival %u: %s", i, strerror(rival->error));
	}
	munmap(rivals, sizeof(*rivals));
}

struct mover {
	pthread_t pthread;
	pid_t tid;
	unsigned int us;
	uint64_t moves;
	volatile bool stop;
};

static void *mover_run(void *arg)
{
	struct mover *mover = arg;

	while (!mover->stop) {
		pin_thread(mover->tid, mover->moves & 1);
		mover->moves++;
		sleep_us(mover->us);
	}
	return NULL;
}

struct mover *mover_start(pid_t tid, unsigned int us)
{
	struct mover *mover = calloc(1, sizeof(*mover));

	ck_assert_ptr_nonnull(mover);
	mover->tid = tid;
	mover->us = us;
	ck_assert_int_eq(pthread_create(&mover->pthread, NULL, mover_run, mover), 0);
	return mover;
}

uint64_t mover_stop(struct mover *mover)
{
	uint64_t moves;

	mover->stop = true;
	pthread_join(mover->pthread, NULL);
	moves = mover->moves;
	free(mover);
	return moves;
}
