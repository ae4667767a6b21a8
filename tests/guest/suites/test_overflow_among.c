// SPDX-License-Identifier: GPL-2.0
/* i-mode counters among others: threads, processes, and perf that samples. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "kit/rivals.h"
#include "suites/overflow.h"

static void spin_together(struct spinner *spinner, unsigned int n)
{
	unsigned int i;

	learn_tail(listen_to(SIGUSR1, IRESUME));
	for (i = 0; i < n; i++)
		ck_assert_int_eq(pthread_create(&spinner[i].pthread, NULL, spinner_run,
						&spinner[i]), 0);
	for (i = 0; i < n; i++)
		pthread_join(spinner[i].pthread, NULL);
	for (i = 0; i < n; i++)
		ck_assert_msg(spinner[i].fine, "thread %u: %s", i, spinner[i].self->fault);
}

/* The threads take turns by the timer; each turn is long enough for some overflows. */
START_TEST(four_on_one_cpu)
{
	struct spinner spinner[4] = {
		{ .period = 1000, .loops = 3000000, .rounds = 2 },
		{ .period = 20011, .loops = 9000000, .rounds = 2 },
		{ .period = 1000003, .loops = 9000000, .rounds = 2 },
		{ .period = 1000, .loops = 3000000, .rounds = 2 },
	};

	spin_together(spinner, 4);
}
END_TEST

START_TEST(four_anywhere)
{
	struct spinner spinner[4] = {
		{ .cpu = -1, .period = 10007, .loops = 5000000, .rounds = 2 },
		{ .cpu = -1, .period = 5003, .loops = 5000000, .rounds = 2 },
		{ .cpu = -1, .period = 1000003, .loops = 9000000, .rounds = 2 },
		{ .cpu = -1, .period = 10007, .loops = 5000000, .rounds = 2 },
	};

	spin_together(spinner, 4);
}
END_TEST

static void among_rivals(const struct rivals_plan *plan)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct rivals *rivals;

	learn_tail(self);
	rivals = rivals_start(plan);
	ck_exact(self, 1009, 1000000);
	ck_exact(self, 100003, 5000000);
	rivals_stop(rivals);
}

START_TEST(among_eight_rivals)
{
	struct rivals_plan plan = { .cpu = 0 };

	pin_self(0);
	among_rivals(&plan);
}
END_TEST

/* The rivals count the same event without a period, on the same counter if there is only one. */
START_TEST(among_rivals_that_count_the_same)
{
	struct perfctr_control control;
	struct rivals_plan plan = { .cpu = 0, .n = 4, .exact = true, .control = &control };

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	pin_self(0);
	among_rivals(&plan);
}
END_TEST

/* The strangers have mapped their pages too. Neither side sees the other's registers. */
START_TEST(mapped_among_strangers)
{
	struct perfctr_control control;
	struct rivals_plan plan = {
		.cpu = 0, .n = 4, .exact = true, .control = &control, .map = true,
		.uid = STRANGER_UID,
	};

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	pin_self(0);
	listen_to(SIGUSR1, IRESUME);
	map_page(listener->fd);
	among_rivals(&plan);
}
END_TEST

START_TEST(exact_while_moved)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct mover *mover;
	uint64_t moves;

	learn_tail(self);
	mover = mover_start((pid_t)syscall(SYS_gettid), 300);
	ck_exact(self, 1009, 3000000);
	ck_exact(self, 50021, 20000000);
	moves = mover_stop(mover);
	ck_assert_uint_gt(moves, 20);
}
END_TEST

START_TEST(exact_while_a_cpu_comes_and_goes)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	pid_t child;

	learn_tail(self);
	ck_ok(child = fork());
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			(void)cpu_online(1, false);
			(void)cpu_online(1, true);
		}
	}
	ck_exact(self, 2003, 10000000);
	ck_ok(kill(child, SIGKILL));
	waitpid(child, NULL, 0);
	ck_assert_int_eq(cpu_online(1, true), 0);
}
END_TEST

/* perf samples another event, or the same one: neither side misses an overflow. */
static void beside_perf(unsigned int event)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct perf_sampling sampling;
	uint64_t samples, counted;
	struct perf_event_attr attr;
	int witness;

	learn_tail(self);
	perf_attr_init(&attr, event);
	ck_ok(witness = perf_open(&attr, 0, -1, -1));
	ck_assert(perf_sampling_begin(&sampling, event, 100003));
	ck_exact(self, 1009, 1000000);
	ck_exact(self, 100003, 10000000);
	samples = perf_sampling_count(&sampling);
	counted = perf_read_one(witness);
	/* The witness counts from a little before the samples on. */
	ck_assert_uint_ge(samples + 1, counted / 100003);
	ck_assert_uint_le(samples, counted / 100003);
	ck_assert_uint_ge(samples, 200);
	perf_sampling_end(&sampling);
}

START_TEST(beside_perf_samples)
{
	beside_perf(EV_CYCLES);
}
END_TEST

START_TEST(beside_perf_samples_of_the_same)
{
	beside_perf(EV_INSTRUCTIONS);
}
END_TEST

/* What the kernel executes for so many samples of perf's: the least of three times */
static uint64_t kernel_for_samples(int witness, const struct perf_sampling *sampling, uint64_t nr)
{
	uint64_t least = UINT64_MAX, before, kernel;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		before = perf_sampling_count(sampling);
		kernel = perf_read_one(witness);
		body_spin(nr * 100003 / 2);
		kernel = perf_read_one(witness) - kernel;
		if (kernel < least)
			least = kernel;
		ck_assert_uint_le(perf_sampling_count(sampling) - before - nr, 1);
	}
	return least;
}

static int kernel_witness(void)
{
	struct perf_event_attr attr;
	int witness;

	perf_attr_init(&attr, EV_INSTRUCTIONS);
	attr.exclude_user = 1;
	attr.exclude_kernel = 0;
	ck_ok(witness = perf_open(&attr, 0, -1, -1));
	return witness;
}

/* For an interrupt of perf's counter alone a state of user mode is neither suspended nor resumed. */
START_TEST(no_stop_for_perf_samples)
{
	const uint64_t nr = 100;
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct perf_sampling sampling;
	struct perfctr_control control;
	int witness = kernel_witness();
	uint64_t alone, beside;
	struct perfctr_read rd;

	ck_assert(perf_sampling_begin(&sampling, EV_CYCLES, 100003));
	alone = kernel_for_samples(witness, &sampling, nr);
	period_control(&control, 1ll << 40);
	set_control(self->fd, &control);
	beside = kernel_for_samples(witness, &sampling, nr);
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.overflows, 0);
	/* Where the kernel checks itself each takes as long as it likes. */
	if (!getenv("SLOW_KERNEL"))
		ck_assert_uint_le(beside, alone + nr * 400);
	perf_sampling_end(&sampling);
}
END_TEST

/* One that counts kernel mode is: perf's handler is counted neither by that nor by perf. */
START_TEST(kernel_mode_stops_for_perf_samples)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct perf_sampling sampling;
	struct perfctr_control control;
	int witness = kernel_witness();
	uint64_t before, ours, perfs;

	ck_assert(perf_sampling_begin(&sampling, EV_CYCLES, 100003));
	period_control(&control, 1ll << 40);
	control.ctr[0].flags = PERFCTR_CTR_KERNEL;
	set_control(self->fd, &control);
	perfs = perf_read_one(witness);
	before = read_sum(self->fd, 0);
	body_spin(10000000);
	ours = read_sum(self->fd, 0) - before;
	perfs = perf_read_one(witness) - perfs;
	ck_assert_uint_lt(ours, perfs);
	ck_assert_uint_ge(perf_sampling_end(&sampling), 199);
}
END_TEST

/* With kernel mode no place is exact, but neither our overflows nor perf's samples are lost. */
START_TEST(kernel_mode_beside_perf)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct perf_sampling sampling;
	/* More than the kernel executes before user mode; how long interrupts may be off */
	const int64_t period = getenv("SLOW_KERNEL") ? 1000000 : 50000, late = period / 2;
	struct perfctr_control control;
	struct perf_event_attr attr;
	uint64_t samples, counted;
	struct perfctr_read rd;
	unsigned int i;
	int witness;

	perf_attr_init(&attr, EV_CYCLES);
	ck_ok(witness = perf_open(&attr, 0, -1, -1));
	/* At a tenth of that period perf throttles itself, and alone takes two samples too many. */
	ck_assert(perf_sampling_begin(&sampling, EV_CYCLES, 100003));
	period_control(&control, period);
	control.ctr[0].flags = PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL;
	set_control(self->fd, &control);
	body_yield(3000);
	body_spin(10000000);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_SUSPEND));
	read_all(self->fd, &rd);
	samples = perf_sampling_count(&sampling);
	counted = perf_read_one(witness);
	ck_assert_uint_gt(self->nr, 10);
	ck_assert_uint_eq(rd.overflows, self->nr);
	for (i = 1; i < self->nr && i < NOTES; i++) {
		ck_assert_uint_ge(self->note[i].sum[0] - self->note[i - 1].sum[0], (uint64_t)period);
		ck_assert_uint_le(self->note[i].sum[0] - self->note[i - 1].sum[0],
				  (uint64_t)(period + late));
	}
	ck_assert_uint_lt(rd.sum[0] - self->note[i - 1].sum[0], (uint64_t)(period + late));
	ck_assert_uint_ge(samples + 1, counted / 100003);
	ck_assert_uint_le(samples, counted / 100003);
	perf_sampling_end(&sampling);
}
END_TEST

void overflow_among(void)
{
	GUEST_RUN(four_on_one_cpu, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(four_anywhere, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(among_eight_rivals, NEED_INTERRUPT | LOG_SILENT);
	GUEST_RUN(among_rivals_that_count_the_same, NEED_INTERRUPT | LOG_SILENT);
	GUEST_RUN(mapped_among_strangers, NEED_INTERRUPT | LOG_SILENT);
	GUEST_RUN(exact_while_moved, NEED_INTERRUPT | NEED_SMP | LOG_SILENT | AS_USER);
	GUEST_RUN(exact_while_a_cpu_comes_and_goes, NEED_INTERRUPT | NEED_SMP);
	/* perf says how long its interrupts take. */
	GUEST_RUN(beside_perf_samples, NEED_INTERRUPT | NEED_SAMPLES | NEED_BESIDE);
	GUEST_RUN(beside_perf_samples_of_the_same, NEED_INTERRUPT | NEED_SAMPLES | NEED_BESIDE);
	GUEST_RUN(no_stop_for_perf_samples, NEED_INTERRUPT | NEED_SAMPLES | NEED_BESIDE);
	GUEST_RUN(kernel_mode_stops_for_perf_samples, NEED_INTERRUPT | NEED_SAMPLES | NEED_BESIDE);
	GUEST_RUN(kernel_mode_beside_perf, NEED_INTERRUPT | NEED_SAMPLES | NEED_BESIDE);
}
