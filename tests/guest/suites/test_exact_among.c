// SPDX-License-Identifier: GPL-2.0
/* Counts are exact among others: threads, processes, moves, page faults and signals. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "kit/rivals.h"
#include "suites/exact.h"

#define TOUCHED_PAGES 16

/* Reads through the kernel and inline, beside the rivals of @plan */
static void demand_among(const struct rivals_plan *plan)
{
	struct subject kernel = subject_open(false);
	struct subject mapped;
	struct rivals *rivals;

	if (plan->cpu >= 0)
		pin_self((unsigned int)plan->cpu);
	rivals = rivals_start(plan);
	demand_runs(&kernel);
	mapped.fd = kernel.fd;
	mapped.page = shown_page(mapped.fd);
	demand_runs(&mapped);
	rivals_stop(rivals);
}

START_TEST(eight_threads_other_events)
{
	struct rivals_plan plan = { .threads = 8, .cpu = 0 };

	demand_among(&plan);
}
END_TEST

START_TEST(eight_processes_other_events)
{
	struct rivals_plan plan = { .cpu = 0 };

	demand_among(&plan);
}
END_TEST

START_TEST(eight_strangers_other_events)
{
	struct rivals_plan plan = { .cpu = 0, .uid = STRANGER_UID };

	demand_among(&plan);
}
END_TEST

/* All rivals have the same control, and each must count right. */
static void same_control(struct rivals_plan *plan)
{
	struct perfctr_control control;

	control_init(&control);
	control.tsc_on = 1;
	control_add(&control, EV_INSTRUCTIONS);
	plan->control = &control;
	plan->exact = true;
	demand_among(plan);
	plan->control = NULL;
}

START_TEST(eight_threads_same_control)
{
	struct rivals_plan plan = { .threads = 8, .cpu = 0 };

	same_control(&plan);
}
END_TEST

START_TEST(eight_mapped_threads_same_control)
{
	struct rivals_plan plan = { .threads = 8, .cpu = 0, .map = true };

	same_control(&plan);
}
END_TEST

START_TEST(eight_strangers_same_control)
{
	struct rivals_plan plan = { .cpu = 0, .map = true, .uid = STRANGER_UID };

	same_control(&plan);
}
END_TEST

START_TEST(eight_threads_on_two_cpus)
{
	struct rivals_plan plan = { .threads = 8, .cpu = -1 };

	demand_among(&plan);
}
END_TEST

START_TEST(same_control_on_two_cpus)
{
	struct rivals_plan plan = { .threads = 4, .cpu = -1 };

	same_control(&plan);
}
END_TEST

START_TEST(moved_between_cpus)
{
	struct rivals_plan plan = { .threads = 8, .cpu = -1 };
	struct mover *mover = mover_start(gettid(), 50);

	demand_among(&plan);
	ck_assert_uint_gt(mover_stop(mover), 100);
}
END_TEST

/* Moves from a CPU whose counters count other things to another one, and back. */
START_TEST(moves_itself)
{
	struct rivals_plan plan = { .n = 4, .threads = 4, .cpu = 1 };
	struct subject subject = subject_open(true);
	struct rivals *rivals = rivals_start(&plan);
	unsigned int turn;
	uint64_t value[2];
	long ret;

	for (turn = 0; turn < RUNS; turn++) {
		pin_self(turn & 1);
		ret = exact_inline(subject.page, 0, body_yield, YIELDS, value);
		ck_assert_int_ge(ret, 0);
		ck_assert_uint_eq(value[1] - value[0], EXACT_INLINE + BODY_YIELD(YIELDS) +
				  (uint64_t)ret * EXACT_INLINE_RETRY);
	}
	rivals_stop(rivals);
}
END_TEST

static void among_page_faults(const struct subject *subject)
{
	struct body_touch_arg arg = { .n = TOUCHED_PAGES };
	size_t size = TOUCHED_PAGES * PAGE_SIZE;
	unsigned int turn;

	arg.base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(arg.base, MAP_FAILED);
	for (turn = 1; turn <= RUNS; turn++) {
		/* Each of its pages faults anew. */
		ck_ok(madvise(arg.base, size, MADV_DONTNEED));
		demand(subject, body_touch, (unsigned long)&arg, BODY_TOUCH(TOUCHED_PAGES), turn);
	}
	ck_ok(munmap(arg.base, size));
}

START_TEST(page_faults_kernel_read)
{
	struct subject subject = subject_open(false);

	among_page_faults(&subject);
}
END_TEST

START_TEST(page_faults_inline_read)
{
	struct subject subject = subject_open(true);

	among_page_faults(&subject);
}
END_TEST

static void handle_signal(int signo)
{
	struct sigaction action = { .sa_handler = loops_handler };

	ck_ok(sigaction(signo, &action, NULL));
}

static void among_signals(const struct subject *subject)
{
	struct body_signal_arg arg = {
		.pid = (unsigned long)getpid(),
		.tid = (unsigned long)gettid(),
		.signo = SIGUSR1,
		.n = 3,
	};
	unsigned int turn, sigreturn;

	handle_signal(SIGUSR1);
	ck_ok(raise(SIGUSR1));
	sigreturn = sigreturn_length();
	ck_assert_uint_gt(sigreturn, 0);
	loops_handled = 0;
	for (turn = 1; turn <= RUNS; turn++)
		demand(subject, body_signal, (unsigned long)&arg, BODY_SIGNAL(3, sigreturn), turn);
	ck_assert_uint_eq(loops_handled, 3ul * RUNS);
}

START_TEST(signals_kernel_read)
{
	struct subject subject = subject_open(false);

	among_signals(&subject);
}
END_TEST

START_TEST(signals_inline_read)
{
	struct subject subject = subject_open(true);

	among_signals(&subject);
}
END_TEST

/* A timer's signals come between any two instructions, and their number is known. */
START_TEST(signals_at_any_instruction)
{
	struct subject subject = subject_open(true);
	struct body_unblocked_arg arg;
	struct itimerval interval;
	struct perfctr_read rd[2];
	unsigned int turn, sigreturn;
	uint64_t fired, all = 0, cost;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	arg.unblock = &set;
	handle_signal(SIGALRM);
	ck_ok(raise(SIGALRM));
	sigreturn = sigreturn_length();
	/* A kernel that checks itself is slow: the loop must get on between two signals. */
	cost = now_ns();
	for (turn = 0; turn < 10; turn++)
		ck_ok(raise(SIGALRM));
	cost = (now_ns() - cost) / 10;
	interval.it_value.tv_sec = 0;
	interval.it_value.tv_usec = (suseconds_t)(cost / 250 > 50 ? cost / 250 : 50);
	interval.it_interval = interval.it_value;
	arg.n = (unsigned long)interval.it_value.tv_usec * 1000;
	ck_ok(sigprocmask(SIG_BLOCK, &set, NULL));
	ck_ok(setitimer(ITIMER_REAL, &interval, NULL));
	for (turn = 1; turn <= RUNS; turn++) {
		loops_handled = 0;
		rd[0].size = sizeof(rd[0]);
		rd[1].size = sizeof(rd[1]);
		ck_assert_int_eq(exact_kernel(subject.fd, PERFCTR_IOC_READ, rd, body_unblocked,
					      (unsigned long)&arg), 0);
		fired = loops_handled;
		all += fired;
		ck_assert_msg(rd[1].sum[0] - rd[0].sum[0] ==
			      EXACT_KERNEL + BODY_UNBLOCKED(arg.n) +
			      fired * (LOOPS_HANDLER + sigreturn),
			      "run %u: counted %llu with %llu signals", turn,
			      (unsigned long long)(rd[1].sum[0] - rd[0].sum[0]),
			      (unsigned long long)fired);
	}
	ck_assert_uint_ge(all, RUNS);
}
END_TEST

void exact_among(void)
{
	GUEST_RUN(page_faults_kernel_read, NEED_COUNTERS | AS_USER);
	GUEST_RUN(page_faults_inline_read, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(signals_kernel_read, NEED_COUNTERS | AS_USER);
	GUEST_RUN(signals_inline_read, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(signals_at_any_instruction, NEED_COUNTERS | AS_USER);
	GUEST_RUN(eight_threads_other_events, NEED_COUNTERS);
	GUEST_RUN(eight_processes_other_events, NEED_COUNTERS);
	GUEST_RUN(eight_strangers_other_events, NEED_COUNTERS);
	GUEST_RUN(eight_threads_same_control, NEED_COUNTERS);
	GUEST_RUN(eight_mapped_threads_same_control, NEED_COUNTERS);
	GUEST_RUN(eight_strangers_same_control, NEED_COUNTERS);
	GUEST_RUN(eight_threads_on_two_cpus, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(same_control_on_two_cpus, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(moved_between_cpus, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(moves_itself, NEED_COUNTERS | NEED_USER_READ | NEED_SMP);
}
