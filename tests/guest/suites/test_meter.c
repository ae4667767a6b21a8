// SPDX-License-Identifier: GPL-2.0
/*
 * Meters: events by names, regions, budgets, and what each error says. Counts are compared between
 * two lengths of one piece of code, so what the compiler puts around it does not matter.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/meter.h"

#define LOOPS 10000ul

static __attribute__((__noinline__))
unsigned long long spin_region(const struct vperfctr_meter *m, unsigned long n)
{
	struct perfctr_sum_ctrs region;
	int first, second;

	/* Asserting is work of its own, whose length changes. */
	first = vperfctr_meter_begin(m, &region);
	body_spin(n);
	second = vperfctr_meter_end(m, &region);
	return first || second ? 0 : region.pmc[0];
}

START_TEST(clock_without_events)
{
	static const char *const none[] = { NULL, "" };
	struct perfctr_sum_ctrs from, to, between;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct vperfctr_meter *m = meter_of(none[i], 0);

		ck_assert_uint_eq(vperfctr_meter_events(m), 0);
		ck_assert_ptr_null(vperfctr_meter_name(m, 0));
		ck_assert_int_eq(vperfctr_meter_read(m, &from), 0);
		body_spin(100000);
		ck_assert_int_eq(vperfctr_meter_read(m, &to), 0);
		vperfctr_meter_difference(m, &from, &to, &between);
		ck_assert_uint_gt(between.tsc, 0);
		ck_assert_uint_eq(between.tsc, to.tsc - from.tsc);
		ck_assert(vperfctr_meter_seconds(m, guest.info.tsc_hz) == 1.0);
		vperfctr_meter_close(m);
	}
	vperfctr_meter_close(NULL);
}
END_TEST

START_TEST(events_by_name)
{
	struct vperfctr_meter *m = meter_of(NAME ",cycles:u", 0);
	const struct vperfctr *v = vperfctr_meter_handle(m);
	struct perfctr_control control;
	uint64_t words[2 * 3];

	ck_assert_uint_eq(vperfctr_meter_events(m), 2);
	ck_assert_str_eq(vperfctr_meter_name(m, 0), NAME);
	ck_assert_str_eq(vperfctr_meter_name(m, 1), "cycles:u");
	ck_assert_ptr_null(vperfctr_meter_name(m, 2));

	/* Both in user mode, in their order, with the clock; gone at an exec */
	ck_ok(vperfctr_read_control_native(v, &control));
	ck_assert_uint_eq(control.nractrs, 2);
	ck_assert_uint_eq(control.nrictrs, 0);
	ck_assert_uint_eq(control.tsc_on, 1);
	ck_assert_uint_eq(control.flags, PERFCTR_CONTROL_CLOEXEC);
	ck_assert_uint_eq(control.ctr[0].flags & (PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL),
			  PERFCTR_CTR_USER);
	ck_assert_int_eq(exact_read(vperfctr_fd(v), words, 3 * sizeof(words[0]), body_spin, LOOPS),
			 3 * sizeof(words[0]));
	ck_assert_uint_eq(words[4] - words[1], EXACT_KERNEL + BODY_SPIN(LOOPS));
	vperfctr_meter_close(m);
}
END_TEST

START_TEST(regions_are_exact)
{
	struct vperfctr_meter *m = meter_of(NAME, 0);

	ck_assert_uint_eq(spin_region(m, 3 * LOOPS) - spin_region(m, LOOPS),
			  BODY_SPIN(3 * LOOPS) - BODY_SPIN(LOOPS));
	ck_assert_uint_eq(vperfctr_meter_cost(m)->pmc[0], 0);
	ck_assert_uint_eq(vperfctr_meter_cost(m)->tsc, 0);
	vperfctr_meter_close(m);
}
END_TEST

static __attribute__((__noinline__))
void empty_region(const struct vperfctr_meter *m, struct perfctr_sum_ctrs *region)
{
	(void)vperfctr_meter_begin(m, region);
	(void)vperfctr_meter_end(m, region);
}

/* With NET a region has just as much less as the cost says, and an empty one nothing. */
START_TEST(cost_is_taken_off)
{
	struct vperfctr_meter *m = meter_of(NAME, 0);
	struct perfctr_sum_ctrs region, cost;
	unsigned long long gross;

	gross = spin_region(m, LOOPS);
	empty_region(m, &region);
	vperfctr_meter_close(m);

	m = meter_of(NAME, VPERFCTR_METER_NET);
	cost = *vperfctr_meter_cost(m);
	ck_assert_uint_gt(cost.pmc[0], 0);
	ck_assert_uint_lt(cost.pmc[0], 1000);
	ck_assert_uint_eq(spin_region(m, LOOPS), gross - cost.pmc[0]);
	/* The same calls by another compiler's hand: up to as many instructions as they have arguments */
	ck_assert_uint_le(region.pmc[0], cost.pmc[0] + 4);
	ck_assert_uint_ge(region.pmc[0] + 4, cost.pmc[0]);
	empty_region(m, &region);
	ck_assert_uint_le(region.pmc[0], 4);
	vperfctr_meter_close(m);
}
END_TEST

START_TEST(stands_still_while_stopped)
{
	struct vperfctr_meter *m = meter_of(NAME, 0);
	struct perfctr_sum_ctrs one, two, three;
	int bad;

	bad = vperfctr_meter_stop(m);
	bad |= vperfctr_meter_read(m, &one);
	body_spin(LOOPS);
	bad |= vperfctr_meter_read(m, &two);
	bad |= vperfctr_meter_start(m);
	body_spin(LOOPS);
	bad |= vperfctr_meter_read(m, &three);
	ck_assert_int_eq(bad, 0);
	ck_assert_uint_eq(two.pmc[0], one.pmc[0]);
	ck_assert_uint_eq(two.tsc, one.tsc);
	/* The rest of start, and the read up to its register, or the P5's up to its system call */
	ck_assert_uint_gt(three.pmc[0] - two.pmc[0], BODY_SPIN(LOOPS));
	ck_assert_uint_lt(three.pmc[0] - two.pmc[0], BODY_SPIN(LOOPS) +
			  (is_x86() && guest.info.cpu_type == PERFCTR_X86_INTEL_P5 ? 200 : 100));
	vperfctr_meter_close(m);
}
END_TEST

static int lowest_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* What cannot be opened says why, and the thread is as it was. */
START_TEST(names_that_there_are_not)
{
	struct vperfctr_meter *m;
	int err, before = lowest_fd();
	char many[40 * 16] = "", longest[200];
	unsigned int i;

	err = vperfctr_meter_open(&m, NAME ",instructoins", 0);
	expect_failure(m, err, ENOENT, "'instructoins'", "instructions", NULL);
	err = vperfctr_meter_open(&m, NAME ":x", 0);
	expect_failure(m, err, EINVAL, "'" NAME ":x'", "u (user mode)", NULL);
	err = vperfctr_meter_open(&m, NAME ",,cycles", 0);
	expect_failure(m, err, EINVAL, "event 1 ", "comma", NULL);
	err = vperfctr_meter_open(&m, NAME ",", 0);
	expect_failure(m, err, EINVAL, "event 1 ", "comma", NULL);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	err = vperfctr_meter_open(&m, longest, 0);
	expect_failure(m, err, ENOENT, "199 letters", NULL);
	for (i = 0; i < 40; i++)
		(void)sprintf(many + strlen(many), "%s" NAME, i ? "," : "");
	err = vperfctr_meter_open(&m, many, 0);
	expect_failure(m, err, ENOSPC, "'" NAME "'", "one event too many", NULL);
	err = vperfctr_meter_open(&m, NAME, 6);
	expect_failure(m, err, EINVAL, "0x6", NULL);

	ck_assert_int_eq(lowest_fd(), before);
	m = meter_of(NAME, 0);
	vperfctr_meter_close(m);
	ck_assert_int_eq(lowest_fd(), before);
	ck_assert_str_eq(vperfctr_strerror(NULL, 0), "no error");
	ck_assert_ptr_nonnull(strstr(vperfctr_strerror(NULL, -ENOMEM), "memory"));
}
END_TEST

START_TEST(one_at_a_time)
{
	struct vperfctr_meter *m = meter_of(NAME, 0), *other;
	struct perfctr_sum_ctrs sum;
	int err = vperfctr_meter_open(&other, NAME, 0);

	ck_assert_int_eq(vperfctr_meter_read(other, &sum), -EBADF);
	ck_assert_int_eq(vperfctr_meter_stop(other), -EBADF);
	expect_failure(other, err, EEXIST, "counted already", NULL);
	ck_assert_uint_gt(spin_region(m, LOOPS), BODY_SPIN(LOOPS));
	vperfctr_meter_close(m);
}
END_TEST

START_TEST(kernel_mode_is_refused)
{
	struct vperfctr_meter *m;
	int err = vperfctr_meter_open(&m, "cycles:u," NAME ":k", 0);

	expect_failure(m, err, EACCES, "'" NAME ":k' (counter 1)", "CAP_PERFMON", "':u'", NULL);
	m = meter_of(NAME ":u", 0);
	vperfctr_meter_close(m);
}
END_TEST

/* Each alone can be counted, but there are not so many counters. */
/* All are different, so perf_events cannot count several of them by one counter, either. */
START_TEST(too_few_counters)
{
	/* Whole event selects of the Pentium have their modes in these bits. */
	const char *which = is_pentium() ? "" : "c4";
	/* What a Pentium 4 counts on those counters is no number. */
	const char *format = is_p4() ? "%sinstructions" : "%sr%x%s";
	char events[64 * 8], words[96];
	struct vperfctr_meter *m;
	unsigned int i;
	int err;

	events[0] = '\0';
	for (i = 1; i <= guest.nprogrammable + 1; i++)
		(void)sprintf(events + strlen(events), format, i > 1 ? "," : "", i, which);
	err = vperfctr_meter_open(&m, events, 0);
	(void)snprintf(words, sizeof(words), is_p4() ? "cannot count these %u events at a time" :
		       "%u events need general-purpose counters, and this processor (",
		       guest.nprogrammable + 1);
	/* Where there are no others it is known before. */
	expect_failure(m, err, ENOSPC, guest.nprogrammable < guest.info.nrctrs ? words :
		       "is one event too many: this processor (", NULL);
	*strrchr(events, ',') = '\0';
	m = meter_of(events, 0);
	ck_assert_uint_eq(vperfctr_meter_events(m), guest.nprogrammable);
	vperfctr_meter_close(m);
}
END_TEST

START_TEST(perf_has_the_counters)
{
	int perf = perf_open_self(EV_INSTRUCTIONS);
	struct vperfctr_meter *m;
	int err;

	ck_assert_int_ge(perf, 0);
	err = vperfctr_meter_open(&m, NAME, 0);
	/* Through perf it may be counted beside, where that is possible. */
	if (!err) {
		ck_assert(guest.info.cpu_features & PERFCTR_FEATURE_SHARED);
		vperfctr_meter_close(m);
	} else {
		expect_failure(m, err, EBUSY, "perf_events", NULL);
	}
	close(perf);
}
END_TEST

START_TEST(child_of_a_fork)
{
	struct vperfctr_meter *m = meter_of(NAME, 0), *own;
	struct perfctr_sum_ctrs sum, from, to, difference;
	pid_t pid;

	ck_assert_int_eq(vperfctr_meter_read(m, &from), 0);
	pid = fork();
	if (!pid) {
		if (vperfctr_meter_read(m, &sum) != -ECHILD ||
		    vperfctr_meter_begin(m, &sum) != -ECHILD ||
		    vperfctr_meter_end(m, &sum) != -ECHILD ||
		    vperfctr_meter_stop(m) != -ECHILD || vperfctr_meter_start(m) != -ECHILD ||
		    !strstr(vperfctr_strerror(m, -ECHILD), "fork()"))
			_exit(1);
		vperfctr_meter_close(m);
		if (vperfctr_meter_open(&own, NAME, 0))
			_exit(2);
		if (vperfctr_meter_read(own, &sum) || sum.pmc[0] == 0)
			_exit(3);
		vperfctr_meter_close(own);
		_exit(0);
	}
	expect_exit(pid, 0);
	/* It was not stopped, nor closed. */
	ck_assert_int_eq(vperfctr_meter_read(m, &to), 0);
	vperfctr_meter_difference(m, &from, &to, &difference);
	ck_assert_uint_gt(difference.pmc[0], 100);
	ck_assert_uint_gt(spin_region(m, LOOPS), BODY_SPIN(LOOPS));
	vperfctr_meter_close(m);
}
END_TEST

/* What another thread reads is what the owner has counted, which waits meanwhile. */
struct reading {
	const struct vperfctr_meter *m;
	struct perfctr_sum_ctrs sum;
	int err;
};

static void *read_meter(void *arg)
{
	struct reading *reading = arg;

	reading->err = vperfctr_meter_read(reading->m, &reading->sum);
	return NULL;
}

START_TEST(read_by_another_thread)
{
	struct vperfctr_meter *m = meter_of(NAME, 0);
	struct reading reading = { .m = m };
	struct perfctr_sum_ctrs before, after;
	pthread_t thread;

	ck_assert_int_eq(vperfctr_meter_read(m, &before), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, read_meter, &reading), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(vperfctr_meter_read(m, &after), 0);
	ck_assert_int_eq(reading.err, 0);
	ck_assert_uint_ge(reading.sum.pmc[0], before.pmc[0]);
	ck_assert_uint_le(reading.sum.pmc[0], after.pmc[0]);
	ck_assert_uint_gt(after.pmc[0], before.pmc[0]);
	vperfctr_meter_close(m);
}
END_TEST

static void *close_meter(void *m)
{
	vperfctr_meter_close(m);
	return NULL;
}

static void close_elsewhere(struct vperfctr_meter *m)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, close_meter, m), 0);
	pthread_join(thread, NULL);
}

/* The next one that opens gets it. */
static int lowest_free_fd(void)
{
	int fd = open("/dev/null", O_RDONLY);

	ck_ok(fd);
	close(fd);
	return fd;
}

/* As a collector of garbage does it: its thread can open another meter, which counts. */
START_TEST(closed_by_another_thread)
{
	int i, lowest = lowest_free_fd();
	struct vperfctr_meter *m;
	pid_t pid;

	for (i = 0; i < 3; i++) {
		m = meter_of(NAME, 0);
		ck_assert_uint_eq(spin_region(m, 3000) - spin_region(m, 1000),
				  BODY_SPIN(3000) - BODY_SPIN(1000));
		close_elsewhere(m);
	}
	/* It is not a child's to end what its parent counts. */
	ck_ok(pid = fork());
	if (!pid) {
		if (vperfctr_meter_open(&m, NAME, 0))
			_exit(1);
		vperfctr_meter_close(m);
		_exit(0);
	}
	expect_exit(pid, 0);
	m = meter_of(NAME, 0);
	vperfctr_meter_close(m);
	ck_assert_int_eq(lowest_free_fd(), lowest);
}
END_TEST

struct worker {
	struct vperfctr_meter *m;
	sem_t opened, closed;
};

static void *opens_a_meter(void *arg)
{
	struct worker *worker = arg;

	worker->m = meter_of(NAME, 0);
	sem_post(&worker->opened);
	sem_wait(&worker->closed);
	return NULL;
}

/* Nothing is left of a thread whose meter others closed, when it has ended. */
START_TEST(closed_before_its_thread_ends)
{
	int i, lowest = lowest_free_fd();
	struct worker worker;
	pthread_t thread;

	ck_ok(sem_init(&worker.opened, 0, 0));
	ck_ok(sem_init(&worker.closed, 0, 0));
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, opens_a_meter, &worker), 0);
		sem_wait(&worker.opened);
		vperfctr_meter_close(worker.m);
		sem_post(&worker.closed);
		pthread_join(thread, NULL);
	}
	/* pthread_join() may return before the kernel has forgotten the thread. */
	for (i = 0; i < 1000 && lowest_free_fd() != lowest; i++) {
		vperfctr_meter_close(meter_of(NAME, 0));
		usleep(1000);
	}
	ck_assert_int_eq(lowest_free_fd(), lowest);
}
END_TEST

/* Threads with a meter each, at the same time */
#define THREADS 4u
#define TURNS 200u
#define READ_AGAIN 100u	/* more than the instructions of a read */

struct measurer {
	const char *wrong;	/* NULL: nothing */
	unsigned int turn;
	unsigned int undisturbed;
	unsigned long long more, less;
};

/*
 * True if the counts stayed in the registers from before the region until after it. Otherwise a
 * read of them may have been interrupted, and have looked again, which is counted as well.
 */
static bool spin_undisturbed(const struct vperfctr_meter *m, unsigned long n,
			     unsigned long long *count)
{
	const struct perfctr_page *page = vperfctr_page(vperfctr_meter_handle(m));
	int seq = page->seq;

	*count = spin_region(m, n);
	return page->seq == seq;
}

/* What is wrong, or NULL */
static const char *measure_once(struct measurer *self, const struct vperfctr_meter *m)
{
	const long long exact = BODY_SPIN(2000) - BODY_SPIN(1000);
	bool undisturbed = spin_undisturbed(m, 2000, &self->more) &
			   spin_undisturbed(m, 1000, &self->less);
	long long off = (long long)(self->more - self->less) - exact;

	self->undisturbed += undisturbed;
	if (undisturbed)
		return off ? "wrong count" : NULL;
	return off > (long long)READ_AGAIN || off < -(long long)READ_AGAIN ?
	       "wrong count when disturbed" : NULL;
}

static void *measure(void *arg)
{
	struct measurer *self = arg;
	struct vperfctr_meter *m;

	for (; self->turn < TURNS && !self->wrong; self->turn++) {
		if (vperfctr_meter_open(&m, NAME, self->turn & 1 ? VPERFCTR_METER_NET : 0))
			self->wrong = "cannot open";
		else
			self->wrong = measure_once(self, m);
		vperfctr_meter_close(m);
	}
	return NULL;
}

START_TEST(threads_do_not_disturb)
{
	struct measurer measurer[THREADS] = { { .wrong = NULL } };
	pthread_t thread[THREADS];
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, measure, &measurer[i]),
				 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < THREADS; i++) {
		ck_assert_msg(!measurer[i].wrong, "thread %u, turn %u: %s: %llu and %llu", i,
			      measurer[i].turn, measurer[i].wrong, measurer[i].more,
			      measurer[i].less);
		ck_assert_uint_gt(measurer[i].undisturbed, TURNS / 2);
	}
}
END_TEST

int main(void)
{
	guest_begin("meter", NULL);
	GUEST_RUN(clock_without_events, AS_USER);
	GUEST_RUN(events_by_name, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	GUEST_RUN(regions_are_exact, NEED_COUNTERS | AS_USER);
	GUEST_RUN(cost_is_taken_off, NEED_COUNTERS | AS_USER);
	GUEST_RUN(stands_still_while_stopped, NEED_COUNTERS | AS_USER);
	GUEST_RUN(names_that_there_are_not, NEED_COUNTERS | AS_USER);
	GUEST_RUN(one_at_a_time, NEED_COUNTERS | AS_USER);
	GUEST_RUN(kernel_mode_is_refused, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	GUEST_RUN(too_few_counters, NEED_COUNTERS | NEED_X86 | AS_USER);
	GUEST_RUN(perf_has_the_counters, NEED_COUNTERS | NEED_PERF);
	GUEST_RUN(child_of_a_fork, NEED_COUNTERS | AS_USER);
	GUEST_RUN(read_by_another_thread, NEED_COUNTERS | AS_USER);
	GUEST_RUN(closed_by_another_thread, NEED_COUNTERS | AS_USER);
	GUEST_RUN(closed_before_its_thread_ends, NEED_COUNTERS | AS_USER);
	GUEST_RUN(threads_do_not_disturb, NEED_COUNTERS | AS_USER);
	meter_refused();
	return guest_end();
}
