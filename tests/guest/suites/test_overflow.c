// SPDX-License-Identifier: GPL-2.0
/*
 * i-mode counters. The emulated machine interrupts without skid, so the sum that a
 * handler finds is known to the instruction: a multiple of the period. And what is
 * counted again from the handler's IRESUME on is the same each time (tail), so the
 * length of a loop is known as well, however often it is interrupted.
 *
 * The handler of a thread notes what it is told in its struct listener. Helpers
 * find faults and tell of them in words, since only the test itself may assert.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/pairs.h"
#include "kit/perfside.h"
#include "kit/rivals.h"

#if defined(__riscv)
#define SOME_ICTR	5u
/* cycle and instret do not interrupt. */
#define NO_ICTR		2u
#define OTHER_ICTR	0u
#elif defined(__powerpc__)
#define SOME_ICTR	1u
#define NO_ICTR		6u
#define OTHER_ICTR	7u
#else
#define SOME_ICTR	(first_counter() + 1)
#define NO_ICTR		23u
/* The fixed counter of instructions */
#define OTHER_ICTR	24u
#endif

#define NOTES 1024	/* the first ones are kept, all are counted */

/* What a handler saw */
struct note {
	uint64_t sum[3];
	uint64_t clock;
	uintptr_t pc;
	uint32_t flags;
	int mask;
	int code;
	int error;	/* si_errno */
	int signo;
};

/* What a handler does at the end */
enum then { IRESUME, STAY };

struct listener {
	int fd;
	enum then then;
	volatile unsigned int nr;
	volatile bool throttled;
	struct note note[NOTES];
	char fault[512];
};

static __thread struct listener *listener;

static uintptr_t interrupted_pc(const ucontext_t *context)
{
#if defined(__riscv)
	return context->uc_mcontext.__gregs[REG_PC];
#elif defined(__aarch64__)
	return context->uc_mcontext.pc;
#elif defined(__powerpc__)
	return context->uc_mcontext.uc_regs->gregs[32];	/* NIP */
#elif defined(__i386__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_EIP];
#else
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#endif
}

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	struct listener *self = listener;
	struct perfctr_read rd;
	unsigned int i;

	if (self->nr < NOTES) {
		struct note *note = &self->note[self->nr];

		(void)try_read(self->fd, &rd);
		for (i = 0; i < 3; i++)
			note->sum[i] = rd.sum[i];
		note->clock = rd.clock;
		note->pc = interrupted_pc(context);
		note->flags = rd.flags;
		note->mask = info->si_pid;
		note->code = info->si_code;
		note->error = info->si_errno;
		note->signo = signo;
	}
	self->nr++;
	if (info->si_errno == EAGAIN)
		self->throttled = true;
	if (self->then == IRESUME)
		(void)ioctl(self->fd, PERFCTR_IOC_IRESUME);
}

static struct listener *listen_to(int signo, enum then then)
{
	struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_RESTART };

	(void)sigaction(signo, &action, NULL);
	listener = shared_alloc(sizeof(*listener));
	listener->then = then;
	listener->fd = try_open(PERFCTR_OPEN_CREAT);
	return listener;
}

static void period_control(struct perfctr_control *control, int64_t period)
{
	control_init(control);
	control->tsc_on = 1;
	control->si_signo = SIGUSR1;
	control_add_ictr(control, EV_INSTRUCTIONS, -period);
}

static __attribute__((format(printf, 2, 3)))
bool fault(struct listener *self, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(self->fault, sizeof(self->fault), format, args);
	va_end(args);
	return false;
}

/* What is counted of each handler, from its IRESUME to its return. Measured once. */
static uint64_t tail;

/*
 * Counts a loop of known length with overflows in it, each of which must be in its place.
 * Checks what the handlers of the first NOTES saw.
 */
static bool spin_and_check(struct listener *self, uint64_t period, unsigned long loops)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	struct perfctr_control control;
	uint64_t length, expected;
	unsigned int before, within, i;
	int err;

	if (self->fd < 0)
		return fault(self, "OPEN: %s", strerror(-self->fd));
	period_control(&control, (int64_t)period);
	self->nr = 0;
	err = try_control(self->fd, &control);
	if (!err)
		err = (int)exact_kernel(self->fd, PERFCTR_IOC_READ, rd, body_spin, loops);
	(void)ioctl(self->fd, PERFCTR_IOC_SUSPEND);
	if (err)
		return fault(self, "%s", strerror(-err));
	before = rd[0].overflows;
	within = rd[1].overflows - before;
	if (rd[1].overflows != rd[1].sum[0] / period)
		return fault(self, "%u overflows in %llu of %llu", rd[1].overflows,
			     (unsigned long long)rd[1].sum[0], (unsigned long long)period);
	/* More may have come since that read. */
	if (self->nr < rd[1].overflows)
		return fault(self, "%u signals of %u", self->nr, rd[1].overflows);
	for (i = 0; i < self->nr && i < NOTES; i++) {
		const struct note *note = &self->note[i];

		expected = (i + 1) * period;
		if (note->sum[0] != expected)
			return fault(self, "overflow %u at %llu, expected %llu", i,
				     (unsigned long long)note->sum[0], (unsigned long long)expected);
		if (note->mask != 1 || note->code != 'P' || note->error || note->signo != SIGUSR1 ||
		    note->flags != (PERFCTR_READ_ATTACHED | PERFCTR_READ_OVERFLOWN))
			return fault(self, "overflow %u: mask %#x, code %d, errno %d, signal %d, flags %#x",
				     i, note->mask, note->code, note->error, note->signo, note->flags);
	}
	length = rd[1].sum[0] - rd[0].sum[0];
	expected = EXACT_KERNEL + BODY_SPIN(loops);
	if (!tail && within == 1)
		tail = length - expected;
	expected += within * tail;
	if (length != expected)
		return fault(self, "%llu instructions with %u overflows, expected %llu",
			     (unsigned long long)length, within, (unsigned long long)expected);
	return true;
}

/* One overflow, in the middle of the loop */
static void learn_tail(struct listener *self)
{
	if (!tail)
		ck_assert_msg(spin_and_check(self, 20000, 15000) && tail, "%s", self->fault);
	ck_assert_uint_lt(tail, 100);
}

#define ck_exact(self, period, loops) \
	ck_assert_msg(spin_and_check(self, period, loops), "period %llu: %s", \
		      (unsigned long long)(period), (self)->fault)

static const uint64_t periods[] = { 1000, 1009, 9973, 100003, 1000000, 3000017, 10000000 };
#define NR_PERIODS (sizeof(periods) / sizeof(periods[0]))

/* Enough for some overflows, and never for too many */
static unsigned long loops_of(uint64_t period)
{
	return period < 100000 ? 300000 : 3 * (unsigned long)period;
}

START_TEST(refused_without_interrupts)
{
	struct perfctr_control control;
	int fd = open_self();

	period_control(&control, 1000);
	ck_errno(ioctl(fd, PERFCTR_IOC_CONTROL, &control), EOPNOTSUPP);
}
END_TEST

/* --- alone --- */

START_TEST(exact_at_every_period)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	unsigned int i;

	learn_tail(self);
	for (i = 0; i < NR_PERIODS; i++)
		ck_exact(self, periods[i], loops_of(periods[i]));
}
END_TEST

/* The handler's place is behind the instruction that overflowed. */
START_TEST(exact_place)
{
	struct listener *self = listen_to(SIGUSR1, STAY);
	struct perfctr_read rd[2];
	struct perfctr_control control;
	uintptr_t spin = (uintptr_t)body_spin;
	uint64_t into;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		period_control(&control, 5000 + i);
		memset(rd, 0, sizeof(rd));
		rd[0].size = rd[1].size = sizeof(rd[0]);
		self->nr = 0;
		set_control(self->fd, &control);
		ck_assert_int_eq(exact_kernel(self->fd, PERFCTR_IOC_READ, rd, body_spin, 5000), 0);
		ck_assert_uint_eq(self->nr, 1);
		/* Instructions since the first read. A turn of the loop has two. */
		into = self->note[0].sum[0] - rd[0].sum[0];
		if (!i)
			ck_assert_uint_ge(into, 2ull * EXACT_KERNEL);
		ck_assert_uint_eq(self->note[0].sum[0], 5000 + i);
		ck_assert_uint_eq(self->note[0].pc,
				  spin + BODY_SPIN_FIRST * ((into - EXACT_BEFORE_BODY) & 1));
	}
}
END_TEST

/* Counter 1 is an i-mode counter. User mode can read it only if registers have 64 bits. */
static void its_page_is_exact(const struct perfctr_page *page)
{
	uint64_t value[2];

	if (guest.info.width < 64) {
		ck_assert(page_asks(page, 1));
		return;
	}
	ck_assert(!page_asks(page, 1));
	ck_assert_int_ge(exact_inline(page, 1, body_spin, 100, value), 0);
	ck_assert_uint_eq(value[1] - value[0], EXACT_INLINE + BODY_SPIN(100));
}

/* The counters stand still, the clock goes on, READ says why, and the page shows no registers. */
START_TEST(suspended_until_resumed)
{
	struct listener *self = listen_to(SIGUSR1, STAY);
	const struct perfctr_page *page;
	struct perfctr_control control;
	struct perfctr_read rd, now;

	page = map_page(self->fd);
	period_control(&control, 50000);
	control.nractrs = 1;
	control.ctr[1] = control.ctr[0];
	control.ctr[0].event = own_event(EV_DTLB_STORE_MISSES);
	control.ctr[0].config = own_config(EV_DTLB_STORE_MISSES);
	control.ctr[0].ireset = 0;
	set_control(self->fd, &control);
	body_spin(10000);
	ck_assert_uint_eq(self->nr, 0);
	ck_assert(!page_asks(page, 0));
	its_page_is_exact(page);
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED);
	ck_assert_uint_eq(rd.overflows, 0);
	ck_assert_uint_eq(rd.cstatus, PERFCTR_CSTATUS_CLOCK | 1 << 8 | 2);

	body_spin(100000);
	ck_assert_uint_eq(self->nr, 1);
	ck_assert_int_eq(self->note[0].mask, 2);
	read_all(self->fd, &rd);
	body_spin(100000);
	sched_yield();
	read_all(self->fd, &now);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_OVERFLOWN);
	ck_assert_uint_eq(rd.overflows, 1);
	ck_assert_uint_eq(rd.sum[1], 50000);
	ck_assert_uint_eq(now.sum[1], rd.sum[1]);
	ck_assert_uint_eq(now.sum[0], rd.sum[0]);
	ck_assert_uint_gt(now.clock, rd.clock);
	ck_assert(page_asks(page, 0));
	ck_assert(page_asks(page, 1));

	ck_ok(ioctl(self->fd, PERFCTR_IOC_IRESUME));
	its_page_is_exact(page);
	ck_errno(ioctl(self->fd, PERFCTR_IOC_IRESUME), EINVAL);
	read_all(self->fd, &now);
	ck_assert_uint_eq(now.flags, PERFCTR_READ_ATTACHED);
	ck_assert_uint_gt(now.sum[1], rd.sum[1]);
}
END_TEST

/* Two periods at once, of events that are equal here. An overflow of one suspends both. */
START_TEST(two_periods)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	uint64_t limit[2] = { 7000, 21000 };
	/* An a-mode counter before them, if there are enough counters */
	const unsigned int first = guest.nprogrammable > 2;
	struct perfctr_control control;
	unsigned int i, both = 0;

	control_init(&control);
	control.si_signo = SIGUSR1;
	if (first)
		control_add(&control, EV_DTLB_LOAD_MISSES);
	control_add_ictr(&control, EV_INSTRUCTIONS, -7000);
	control_add_ictr(&control, EV_LIKE_INSTRUCTIONS, -21000);
	set_control(self->fd, &control);
	body_spin(500000);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_SUSPEND));
	ck_assert_uint_gt(self->nr, 100);
	for (i = 0; i < self->nr; i++) {
		const struct note *note = &self->note[i];
		int mask = 0, k;

		for (k = 0; k < 2; k++) {
			if (note->sum[first + k] < limit[k])
				continue;
			mask |= 1 << (first + k);
			ck_assert_uint_eq(note->sum[first + k], limit[k]);
			limit[k] += k ? 21000 : 7000;
		}
		ck_assert_int_eq(note->mask, mask);
		both += mask == 3 << first;
	}
	ck_assert_uint_gt(both, 30);
}
END_TEST

/* The period does not change the sum: an a-mode counter beside it has the same. */
START_TEST(a_mode_beside)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct perfctr_control control;
	struct perfctr_read rd;
	unsigned int i;

	control_init(&control);
	control.si_signo = SIGUSR1;
	control_add(&control, EV_LIKE_INSTRUCTIONS);
	control_add_ictr(&control, EV_INSTRUCTIONS, -3001);
	set_control(self->fd, &control);
	body_spin(500000);
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.sum[0], rd.sum[1]);
	ck_assert_uint_eq(rd.overflows, rd.sum[1] / 3001);
	for (i = 0; i < self->nr && i < NOTES; i++)
		ck_assert_uint_eq(self->note[i].sum[0], self->note[i].sum[1]);
}
END_TEST

/* perf counts more of the same thread: what each handler does before its IRESUME. */
START_TEST(perf_is_witness)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct perfctr_control control;
	uint64_t perfs[2], more[NR_PERIODS], each;
	unsigned int i, nr[NR_PERIODS];
	struct perfctr_read rd[2];
	int perf;

	ck_ok(perf = perf_open_self(EV_INSTRUCTIONS));
	for (i = 0; i < NR_PERIODS; i++) {
		period_control(&control, (int64_t)periods[i]);
		set_control(self->fd, &control);
		ck_ok(ioctl(self->fd, PERFCTR_IOC_SUSPEND));
		self->nr = 0;
		read_all(self->fd, &rd[0]);
		perfs[0] = perf_read_one(perf);
		(void)ioctl(self->fd, PERFCTR_IOC_RESUME);
		body_spin(loops_of(periods[i]));
		(void)ioctl(self->fd, PERFCTR_IOC_SUSPEND);
		perfs[1] = perf_read_one(perf);
		read_all(self->fd, &rd[1]);
		nr[i] = self->nr;
		more[i] = perfs[1] - perfs[0] - (rd[1].sum[0] - rd[0].sum[0]);
	}
	/* That is the same for each signal; the calls around add the same in all cases. */
	each = (more[0] - more[3]) / (nr[0] - nr[3]);
	ck_assert_uint_gt(each, 20);
	for (i = 0; i < NR_PERIODS; i++) {
		ck_assert_uint_ge(nr[i], 2);
		ck_assert_uint_lt(nr[i], NOTES);
		ck_assert_uint_eq(more[i] - nr[i] * each, more[0] - nr[0] * each);
	}
}
END_TEST

/* --- among others --- */

struct spinner {
	struct listener *self;
	pthread_t pthread;
	uint64_t period;
	unsigned long loops;
	int cpu;
	unsigned int rounds;
	bool fine;
};

static void *spinner_run(void *arg)
{
	struct spinner *spinner = arg;
	unsigned int i;

	if (spinner->cpu >= 0)
		pin_self((unsigned int)spinner->cpu);
	spinner->self = listen_to(SIGUSR1, IRESUME);
	spinner->fine = true;
	for (i = 0; i < spinner->rounds && spinner->fine; i++)
		spinner->fine = spin_and_check(spinner->self, spinner->period, spinner->loops);
	return NULL;
}

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

/* --- deliver so many, and stop --- */

static void refresh_control(struct perfctr_control *control, int64_t period, uint64_t refresh)
{
	period_control(control, period);
	control->si_signo = SIGRTMIN + 1;	/* these queue up */
	control->refresh = refresh;
}

START_TEST(refresh_stops_after_so_many)
{
	struct listener *self = listen_to(SIGRTMIN + 1, STAY);
	struct perfctr_control control, back = { PERFCTR_CONTROL_INIT };
	struct perfctr_read rd;
	unsigned int i;

	refresh_control(&control, 5000, 7);
	set_control(self->fd, &control);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_READ_CONTROL, &back));
	ck_assert_uint_eq(back.refresh, 7);
	ck_assert_int_eq(back.si_signo, SIGRTMIN + 1);
	ck_assert_uint_eq(back.nrictrs, 1);
	ck_assert_int_eq(back.ctr[0].ireset, -5000);
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 7);
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.sum[0], 35000);
	ck_assert_uint_eq(rd.overflows, 7);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_OVERFLOWN);

	ck_ok(ioctl(self->fd, PERFCTR_IOC_REFRESH, 3));
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 10);
	ck_assert_uint_eq(read_sum(self->fd, 0), 50000);

	/* While the counters run, REFRESH replaces the number. IRESUME allows one overflow more. */
	ck_ok(ioctl(self->fd, PERFCTR_IOC_REFRESH, 1000));
	ck_ok(ioctl(self->fd, PERFCTR_IOC_REFRESH, 2));
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 12);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_IRESUME));
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 13);
	for (i = 0; i < 13; i++) {
		ck_assert_int_eq(self->note[i].mask, 1);
		ck_assert_int_eq(self->note[i].error, 0);
	}
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.sum[0], 65000);
	ck_assert_uint_eq(rd.overflows, 13);
}
END_TEST

/*
 * The thread overflows at each instruction: it uses up its budget in each tick, and is told.
 * Another thread on the same CPU works as fast as beside any thread.
 */
struct work {
	volatile uint64_t done;
	volatile bool stop;
};

static uint64_t worked_in(struct work *work, unsigned int us)
{
	uint64_t before = work->done, until = now_ns() + us * 1000ull;

	while (now_ns() < until)
		body_spin(1000);
	return work->done - before;
}

#define STORM_MS	150	/* of work, each 100 of which take an emulated processor some seconds */

static void storm(uint32_t modes, uid_t uid)
{
	struct work *work = shared_alloc(sizeof(*work));
	struct listener *self = listen_to(SIGRTMIN + 1, STAY);
	struct perfctr_control control;
	struct sigaction action;
	uint64_t alone, beside, told = 0, until;
	struct perfctr_read rd;
	unsigned int i;
	pid_t child;

	/* If an overflow takes too long for the default budget */
	if (getenv("SLOW_KERNEL"))
		ck_assert_int_eq(write_text(MODULE_PARAMS "overflow_budget", "5"), 0);
	pin_self(0);
	become(uid);
	ck_ok(child = fork());
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!work->stop) {
			body_spin(1000);
			work->done++;
		}
		_exit(0);
	}
	alone = worked_in(work, STORM_MS * 1000);

	/* The thread may overflow in its handler more often than signals can be queued. */
	(void)sigaction(SIGRTMIN + 1, NULL, &action);
	(void)sigaction(SIGIO, &action, NULL);
	refresh_control(&control, least_period(), INT32_MAX);
	control.ctr[0].flags = modes;
	beside = work->done;
	set_control(self->fd, &control);
	for (until = now_ns() + STORM_MS * 1000000ull; now_ns() < until;)
		if (self->throttled) {
			/* The thread asks for more. */
			told++;
			self->throttled = false;
			read_all(self->fd, &rd);
			ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED |
					  PERFCTR_READ_OVERFLOWN | PERFCTR_READ_THROTTLED);
			self->nr = 0;
			ck_ok(ioctl(self->fd, PERFCTR_IOC_IRESUME));
		}
	beside = work->done - beside;
	ck_ok(ioctl(self->fd, PERFCTR_IOC_UNLINK));
	work->stop = true;
	expect_exit(child, 0);
	ck_assert_uint_gt(told, 0);
	ck_assert_uint_gt(alone, 1000);
	ck_assert_uint_ge(beside * 10, alone * 8);
	for (i = 0; i < self->nr && i < NOTES; i++)
		ck_assert_int_eq(self->note[i].mask, 1);
}

START_TEST(storm_in_user_mode)
{
	storm(PERFCTR_CTR_USER, GUEST_UID);
}
END_TEST

START_TEST(storm_in_both_modes)
{
	storm(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL, 0);
}
END_TEST

START_TEST(budget_is_a_parameter)
{
	struct listener *self = listen_to(SIGRTMIN + 1, STAY);
	struct perfctr_control control;
	struct perfctr_read rd;

	ck_assert_int_eq(write_text(MODULE_PARAMS "overflow_budget", "3"), 0);
	refresh_control(&control, 1000, 1000);
	set_control(self->fd, &control);
	body_spin(10000);
	read_all(self->fd, &rd);
	ck_assert_int_eq(write_text(MODULE_PARAMS "overflow_budget", "200"), 0);
	/* A tick more or less */
	ck_assert_uint_ge(self->nr, 4);
	ck_assert_uint_le(self->nr, 8);
	ck_assert_int_eq(self->note[self->nr - 1].error, EAGAIN);
	ck_assert_int_eq(self->note[self->nr - 2].error, 0);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_OVERFLOWN |
			  PERFCTR_READ_THROTTLED);
	ck_assert_uint_eq(rd.sum[0], self->nr * 1000ull);
	/* Counting goes on where it was. */
	ck_ok(ioctl(self->fd, PERFCTR_IOC_IRESUME));
	body_spin(3000);
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.overflows, rd.sum[0] / 1000);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED);
}
END_TEST

/* --- signals --- */

START_TEST(blocked_signal_waits)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct pollfd p = { .events = POLLIN };
	struct perfctr_control control;
	struct perfctr_read rd;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	period_control(&control, 10000);
	set_control(self->fd, &control);
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 0);
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.sum[0], 10000);
	ck_assert_uint_eq(rd.overflows, 1);
	/* A loop of events can hear of it. */
	ck_ok(p.fd = signalfd(-1, &set, SFD_CLOEXEC));
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	close(p.fd);
	/* The overflow has been told, although nobody handles the signal yet. */
	ck_ok(ioctl(self->fd, PERFCTR_IOC_IRESUME));
	body_spin(100000);
	ck_assert_uint_eq(read_sum(self->fd, 0), 20000);
	ck_assert_uint_eq(self->nr, 0);
	self->then = STAY;
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* Of each signal one is kept. */
	ck_assert_uint_eq(self->nr, 1);
	ck_assert_int_eq(self->note[0].mask, 1);
	ck_assert_int_eq(self->note[0].code, 'P');
}
END_TEST

START_TEST(ignored_signal)
{
	struct perfctr_control control;
	int fd = open_self();

	(void)signal(SIGUSR1, SIG_IGN);
	period_control(&control, 10000);
	set_control(fd, &control);
	body_spin(100000);
	ck_assert_uint_eq(read_sum(fd, 0), 10000);
	ck_ok(ioctl(fd, PERFCTR_IOC_IRESUME));
	body_spin(100000);
	ck_assert_uint_eq(read_sum(fd, 0), 20000);
}
END_TEST

START_TEST(default_action_kills)
{
	struct perfctr_control control;
	int status;
	pid_t child;

	ck_ok(child = fork());
	if (!child) {
		(void)signal(SIGUSR1, SIG_DFL);
		period_control(&control, 10000);
		if (try_control(try_open(PERFCTR_OPEN_CREAT), &control))
			_exit(1);
		body_spin(100000);
		_exit(2);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGUSR1);
}
END_TEST

START_TEST(queue_is_full)
{
	struct rlimit before, none;
	struct listener *self = listen_to(SIGIO, IRESUME);
	struct perfctr_control control;

	ck_ok(getrlimit(RLIMIT_SIGPENDING, &before));
	none = before;
	none.rlim_cur = 0;
	refresh_control(&control, 10000, 0);
	set_control(self->fd, &control);
	ck_ok(setrlimit(RLIMIT_SIGPENDING, &none));
	body_spin(12000);
	(void)ioctl(self->fd, PERFCTR_IOC_SUSPEND);
	/* libcheck's timer is in that queue too. */
	ck_ok(setrlimit(RLIMIT_SIGPENDING, &before));
	ck_assert_uint_eq(self->nr, 2);
	ck_assert_int_eq(self->note[0].signo, SIGIO);
	ck_assert_int_eq(self->note[0].code, 'P');
	ck_assert_int_eq(self->note[0].mask, 1);
	ck_assert_uint_eq(self->note[1].sum[0], 20000);
}
END_TEST

/* si_pid holds the mask. A process id there would change in a pid namespace, or be 0. */
START_TEST(in_a_pid_namespace)
{
	struct spinner *spinner = shared_alloc(sizeof(*spinner));
	pid_t child;

	learn_tail(listen_to(SIGUSR1, IRESUME));
	*spinner = (struct spinner){ .cpu = -1, .period = 1009, .loops = 100000, .rounds = 2 };
	child = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL,
			       NULL);
	ck_ok(child);
	if (!child) {
		spinner_run(spinner);
		_exit(getpid() == 1 ? 0 : 1);
	}
	expect_exit(child, 0);
	ck_assert_msg(spinner->fine, "%s", spinner->self->fault);
}
END_TEST

/* --- exec, fork, threads --- */

/* The new image has no handler, and lives; its counts are exact. */
START_TEST(exec_ends_the_signals)
{
	struct perfctr_control control, back = { PERFCTR_CONTROL_INIT };
	struct perfctr_read before, after;
	uint64_t *sum = shared_alloc(sizeof(*sum));
	int pair[2], go[2], fd;
	pid_t child;
	char byte;

	ck_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	ck_ok(pipe(go));
	ck_ok(child = fork());
	if (!child) {
		struct listener *self = listen_to(SIGUSR1, STAY);

		period_control(&control, 100000);
		(void)try_control(self->fd, &control);
		(void)send_fd(pair[1], self->fd);
		(void)read(go[0], &byte, 1);
		body_spin(100000);	/* the counters stand still at the exec */
		*sum = self->nr;
		execl(KNOWN_PATH, "known", NULL);
		_exit(127);
	}
	fd = receive_fd(pair[0]);
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &back));
	ck_assert_int_eq(back.si_signo, SIGUSR1);
	read_all(fd, &before);
	ck_assert_int_eq(write(go[1], "g", 1), 1);
	expect_exit(child, 0);
	ck_assert_uint_eq(*sum, 1);
	read_all(fd, &after);
	ck_assert_uint_eq(after.sum[0], 100000 + KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_eq(after.overflows, 1);
	ck_assert_uint_eq(after.flags, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &back));
	/* READ_CONTROL gives what was asked for. */
	ck_assert_int_eq(back.si_signo, SIGUSR1);
}
END_TEST

START_TEST(fork_inherits_nothing)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	pid_t child;

	learn_tail(self);
	ck_exact(self, 1009, 10000);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_RESUME));
	ck_ok(child = fork());
	if (!child) {
		/* A listener of its own: the parent's counts on. */
		listener = shared_alloc(sizeof(*listener));
		body_spin(100000);
		_exit(listener->nr ? 1 : 0);
	}
	expect_exit(child, 0);
}
END_TEST

/* A thread of a tree: handlers and handle are the root's, periods and signals its own. */
struct member {
	pthread_t pthread;
	struct listener listener;
	int root;
	bool done;
};

static void *member_run(void *arg)
{
	struct member *member = arg;

	listener = &member->listener;
	/* IRESUME by the root's handle resumes the caller's own counters. */
	member->listener.fd = member->root;
	body_spin(200000);
	member->done = true;
	return NULL;
}

START_TEST(a_tree_of_periods)
{
	struct member *member = shared_alloc(8 * sizeof(*member));
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct perfctr_control control;
	struct perfctr_read_tree tree;
	unsigned int i, signals = 0;
	pid_t child[4];

	period_control(&control, 10007);
	control.flags = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP;
	set_control(self->fd, &control);
	for (i = 0; i < 8; i++)
		member[i].root = self->fd;
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&member[i].pthread, NULL, member_run, &member[i]), 0);
	for (i = 0; i < 4; i++) {
		ck_ok(child[i] = fork());
		if (!child[i]) {
			member_run(&member[4 + i]);
			_exit(0);
		}
	}
	for (i = 0; i < 4; i++)
		pthread_join(member[i].pthread, NULL);
	for (i = 0; i < 4; i++)
		expect_exit(child[i], 0);
	/* A joined thread may still be ending. */
	for (i = 0; i < 1000; i++) {
		ck_assert_int_eq(try_read_tree(self->fd, PERFCTR_TREE_ENDED, &tree), 0);
		if (tree.ended == 8)
			break;
		sleep_us(1000);
	}
	ck_assert_uint_eq(tree.ended, 8);
	for (i = 0; i < 8; i++) {
		ck_assert(member[i].done);
		/* 400,001 of the loop alone, and a little for each handler's end */
		ck_assert_uint_ge(member[i].listener.nr, 39);
		ck_assert_uint_le(member[i].listener.nr, 42);
		signals += member[i].listener.nr;
	}
	ck_assert_uint_le(signals, tree.sum[0] / 10007);
	ck_assert_uint_ge(signals + 8, tree.sum[0] / 10007);
}
END_TEST

/* --- calls that an overflow meets --- */

/* Each instruction around a call overflows in one turn. */
#define SWEEP 120

START_TEST(control_forgets)
{
	struct listener *self = listen_to(SIGUSR1, STAY);
	struct perfctr_control next, control;
	unsigned int period, met = 0, before = 0;
	struct perfctr_read rd;
	int err, read_err;

	pairs_ignore();
	control_init(&next);
	control_add(&next, EV_INSTRUCTIONS);
	for (period = least_period(); period < SWEEP + 40; period++) {
		unsigned int nr;

		period_control(&control, period);
		self->nr = 0;
		err = try_control(self->fd, &control) ?: try_control(self->fd, &next);
		nr = self->nr;
		body_spin(1000);
		/* Before asserts, which are long. */
		memset(&rd, 0, sizeof(rd));
		rd.size = sizeof(rd);
		read_err = try_read(self->fd, &rd);
		ck_assert_int_eq(err, 0);
		ck_assert_int_eq(read_err, 0);
		/* No signal comes after the call. */
		ck_assert_uint_eq(self->nr, nr);
		ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED);
		ck_assert_uint_eq(rd.overflows, 0);
		ck_assert_uint_lt(rd.sum[0] - BODY_SPIN(1000), 3000);
		before += nr;
		met += !nr;
	}
	ck_assert_uint_gt(before, 10);
	ck_assert_uint_gt(met, 10);
}
END_TEST

START_TEST(unlink_forgets)
{
	struct listener *self = listen_to(SIGUSR1, STAY);
	struct perfctr_control control;
	unsigned int period, before = 0, met = 0;
	struct perfctr_read rd;
	int err;

	pairs_ignore();
	for (period = least_period(); period < SWEEP; period++) {
		unsigned int nr;

		period_control(&control, period);
		self->nr = 0;
		err = try_control(self->fd, &control);
		(void)ioctl(self->fd, PERFCTR_IOC_UNLINK);
		nr = self->nr;
		body_spin(1000);
		ck_assert_int_eq(err, 0);
		ck_assert_uint_eq(self->nr, nr);
		read_all(self->fd, &rd);
		/* At the overflow, or before it */
		ck_assert_uint_le(rd.sum[0], period);
		ck_assert_uint_eq(rd.overflows, rd.sum[0] == period);
		before += nr;
		met += rd.overflows && !nr;
		close(self->fd);
		self->fd = open_self();
	}
	ck_assert_uint_gt(before, 10);
	/* The overflow at the call itself was not told. */
	ck_assert_uint_eq(met, 1);
}
END_TEST

/* The overflow comes before the call or after it, and never in between. */
START_TEST(iresume_meets_an_overflow)
{
	struct listener *self = listen_to(SIGUSR1, STAY);
	unsigned int period, resumed = 0, refused = 0;
	struct perfctr_control control;
	struct perfctr_read rd;
	int ret, err, nr;

	for (period = least_period(); period < SWEEP; period++) {
		period_control(&control, period);
		self->nr = 0;
		(void)try_control(self->fd, &control);
		ret = ioctl(self->fd, PERFCTR_IOC_IRESUME);
		err = errno;
		nr = (int)self->nr;
		body_spin(1000);
		/* The first signal, and another one if the call resumed the counters */
		if (!ret) {
			resumed++;
			ck_assert_uint_eq(self->nr, 2);
		} else {
			refused++;
			ck_assert_int_eq(err, EINVAL);
			ck_assert_uint_eq(self->nr, 1);
			ck_assert_int_le(nr, 1);
		}
		read_all(self->fd, &rd);
		ck_assert_uint_eq(rd.sum[0], (uint64_t)self->nr * period);
		ck_assert_uint_eq(rd.overflows, self->nr);
		ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_OVERFLOWN);
	}
	ck_assert_uint_gt(resumed, 10);
	ck_assert_uint_gt(refused, 10);
}
END_TEST

START_TEST(refresh_meets_an_overflow)
{
	struct listener *self = listen_to(SIGRTMIN + 1, STAY);
	struct perfctr_control control;
	unsigned int period, before = 0;
	struct perfctr_read rd;
	int ret;

	for (period = least_period(); period < SWEEP; period++) {
		refresh_control(&control, period, 0);
		self->nr = 0;
		(void)try_control(self->fd, &control);
		ret = ioctl(self->fd, PERFCTR_IOC_REFRESH, 3);
		body_spin(1000);
		ck_assert_int_eq(ret, 0);
		read_all(self->fd, &rd);
		/* Three, or three after one that came before the call */
		ck_assert_uint_ge(self->nr, 3);
		ck_assert_uint_le(self->nr, 4);
		before += self->nr == 4;
		ck_assert_uint_eq(rd.overflows, self->nr);
		ck_assert_uint_eq(rd.sum[0], (uint64_t)self->nr * period);
	}
	ck_assert_uint_gt(before, 10);
	ck_assert_uint_lt(before, SWEEP - 10);
}
END_TEST

/* The tree's sums contain what the child counted to its end. An overflow at its end is not told. */
START_TEST(exit_meets_an_overflow)
{
	struct listener *self = listen_to(SIGUSR1, STAY);
	struct perfctr_read_tree tree;
	struct perfctr_control control;
	unsigned int period, met = 0;
	uint64_t length = 0;
	pid_t child;

	/* From a period longer than the child's whole life to one that is shorter */
	for (period = 100500; !length || period + 20 > length; period--) {
		period_control(&control, period);
		control.flags = PERFCTR_CONTROL_INHERIT;
		ck_assert_int_eq(try_control(self->fd, &control), 0);
		self->nr = 0;
		child = fork();
		if (!child) {
			body_spin(50000);
			_exit(0);
		}
		expect_exit(child, 0);
		ck_assert_int_eq(try_read_tree(self->fd, PERFCTR_TREE_ENDED, &tree), 0);
		if (!length)
			length = tree.sum[0];
		/* To the child's end, or to its overflow; one at its very end is not told. */
		ck_assert_uint_eq(tree.sum[0], period < length ? period : length);
		if (period == length)
			met++;
	}
	ck_assert_uint_eq(met, 1);
}
END_TEST

/* --- what is refused --- */

START_TEST(bad_controls)
{
	struct listener *self = listen_to(SIGUSR1, STAY);
	struct perfctr_control good, bad;
	struct perfctr_read before, after;
	unsigned int i;

	period_control(&good, 1000000);
	set_control(self->fd, &good);
	body_spin(1000);
	read_all(self->fd, &before);
	for (i = 0; i < 15; i++) {
		bad = good;
		switch (i) {
		case 0: bad.si_signo = 0; break;
		case 1: bad.si_signo = -1; break;
		case 2: bad.si_signo = 65; break;
		case 3: bad.si_signo = SIGKILL; break;
		case 4: bad.si_signo = SIGSTOP; break;
		case 5: bad.ctr[0].ireset = 0; break;
		case 6: bad.ctr[0].ireset = 1; break;
		case 7: bad.ctr[0].ireset = INT64_MAX; break;
		case 8: bad.flags = PERFCTR_CONTROL_ON_EXEC; break;
		case 9: bad.ctr[0].map = NO_ICTR; break;
		case 10: bad.ctr[0].map = OTHER_ICTR; bad.ctr[0].event = EV_CYCLES; break;
		case 11: bad.nractrs = 1; bad.ctr[1] = bad.ctr[0]; break;
		case 12: bad.ctr[0].ireset = 1 - (int64_t)least_period(); break;
		case 13: bad.nrictrs = PERFCTR_MAX_CTRS + 1; break;
		default: bad.size = CONTROL_SIZE(1) - 1; break;
		}
		ck_assert_msg(ioctl(self->fd, PERFCTR_IOC_CONTROL, &bad) == -1 && errno == EINVAL,
			      "case %u: %s", i, strerror(errno));
	}
	read_all(self->fd, &after);
	ck_assert_uint_gt(after.sum[0], before.sum[0]);
	ck_assert_uint_eq(after.cstatus, before.cstatus);
	/* The shortest period, and the longest. The refused controls have taken nothing. */
	good.ctr[0].ireset = -(int64_t)least_period();
	set_control(self->fd, &good);
	body_spin(1000);
	ck_assert_uint_eq(read_sum(self->fd, 0), least_period());
	ck_assert_uint_eq(self->nr, 1);
	self->nr = 0;
	good.ctr[0].ireset = INT64_MIN;
	set_control(self->fd, &good);
	body_spin(1000);
	ck_assert_uint_gt(read_sum(self->fd, 0), BODY_SPIN(1000));
	ck_assert_uint_eq(self->nr, 0);
}
END_TEST

static void *not_mine(void *arg)
{
	int fd = *(int *)arg;

	if (!ioctl(fd, PERFCTR_IOC_IRESUME) || errno != EPERM ||
	    !ioctl(fd, PERFCTR_IOC_REFRESH, 1) || errno != EPERM)
		return "not refused";
	return NULL;
}

START_TEST(bad_resumes)
{
	struct listener *self = listen_to(SIGUSR1, STAY);
	struct perfctr_control control;
	pthread_t pthread;
	void *wrong;

	period_control(&control, 1000);
	set_control(self->fd, &control);
	body_spin(10000);
	ck_assert_uint_eq(self->nr, 1);
	ck_errno(ioctl(self->fd, PERFCTR_IOC_REFRESH, 0), EINVAL);
	ck_errno(ioctl(self->fd, PERFCTR_IOC_REFRESH, 0x80000000ul), EINVAL);
	ck_assert_int_eq(pthread_create(&pthread, NULL, not_mine, &self->fd), 0);
	pthread_join(pthread, &wrong);
	ck_assert_ptr_null(wrong);
	/* Nothing has changed. */
	ck_assert_uint_eq(read_sum(self->fd, 0), 1000);
	unlink_self(self->fd);
	ck_errno(ioctl(self->fd, PERFCTR_IOC_IRESUME), ESRCH);
	ck_errno(ioctl(self->fd, PERFCTR_IOC_REFRESH, 1), ESRCH);
	ck_assert_uint_eq(read_sum(self->fd, 0), 1000);
}
END_TEST

/* --- with the other calls --- */

START_TEST(stop_and_go)
{
	struct listener *self = listen_to(SIGUSR1, STAY);
	struct perfctr_control control;

	period_control(&control, 100000);
	set_control(self->fd, &control);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_SUSPEND));
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 0);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_RESUME));
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 1);
	/* SUSPEND and the overflow both keep it from counting, and both must end. */
	ck_ok(ioctl(self->fd, PERFCTR_IOC_SUSPEND));
	ck_ok(ioctl(self->fd, PERFCTR_IOC_IRESUME));
	body_spin(100000);
	ck_assert_uint_eq(read_sum(self->fd, 0), 100000);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_RESUME));
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 2);
	ck_assert_uint_eq(read_sum(self->fd, 0), 200000);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_SUSPEND));
	ck_ok(ioctl(self->fd, PERFCTR_IOC_RESUME));
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 2);
}
END_TEST

/*
 * The overflow comes between a reader's look at the page and its read of the register, and
 * the handler sleeps. The value that was read is discarded, and the read is not fatal.
 */
static void on_overflow_sleep(int signo, siginfo_t *info, void *context)
{
	unsigned int i;

	(void)signo;
	(void)info;
	(void)context;
	for (i = 0; i < 8; i++)
		sched_yield();
	listener->nr++;
}

START_TEST(overflow_within_a_read)
{
	struct perfctr_control control, others;
	struct rivals_plan plan = {
		.cpu = 0, .n = 2, .control = &others, .map = true, .uid = STRANGER_UID,
	};
	struct listener *self = listen_to(SIGUSR1, STAY);
	struct sigaction action = { .sa_sigaction = on_overflow_sleep, .sa_flags = SA_SIGINFO };
	const struct perfctr_page *page;
	unsigned int period, asked = 0;
	struct rivals *rivals;
	uint64_t value[2];

	control_init(&others);
	control_add(&others, EV_INSTRUCTIONS);
	pin_self(0);
	rivals = rivals_start(&plan);
	(void)sigaction(SIGUSR1, &action, NULL);
	page = map_page(self->fd);
	for (period = least_period(); period < SWEEP; period++) {
		period_control(&control, period);
		self->nr = 0;
		(void)try_control(self->fd, &control);
		asked += exact_inline(page, 0, body_spin, 1, value) < 0;
		body_spin(1000);
		ck_assert_uint_eq(self->nr, 1);
	}
	ck_assert_uint_gt(asked, 10);
	rivals_stop(rivals);
}
END_TEST

/* While the thread is suspended by an overflow, strangers count by its counter. */
START_TEST(overflown_sees_nothing_of_others)
{
	const unsigned int hw = SOME_ICTR;
	struct perfctr_control control, others;
	struct rivals_plan plan = {
		.cpu = 0, .n = 4, .exact = true, .control = &others, .uid = STRANGER_UID,
	};
	struct listener *self = listen_to(SIGUSR1, STAY);
	struct rivals *rivals;
	uint64_t value;
	unsigned int i, seen = 0;

	control_init(&others);
	control_add_at(&others, hw, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	pin_self(0);
	rivals = rivals_start(&plan);
	map_page(self->fd);
	period_control(&control, 50000);
	control.ctr[0].map = hw;
	set_control(self->fd, &control);
	body_spin(100000);
	ck_assert_uint_eq(self->nr, 1);
	for (i = 0; i < 1000; i++) {
		sched_yield();
		if (!may_read_register(hw))
			continue;
		value = read_register(hw);
		ck_assert_msg(value == 0, "turn %u: %llu", i, (unsigned long long)value);
		seen++;
	}
	ck_assert_uint_gt(seen, 900);
	rivals_stop(rivals);
}
END_TEST

struct reader {
	pthread_t pthread;
	int fd;
	volatile bool stop;
	volatile uint64_t turns;
};

static void *suspend_and_resume(void *arg)
{
	struct reader *reader = arg;

	pin_self(1);
	while (!reader->stop) {
		(void)ioctl(reader->fd, PERFCTR_IOC_SUSPEND);
		(void)ioctl(reader->fd, PERFCTR_IOC_RESUME);
		reader->turns++;
	}
	return NULL;
}

/* The same if another thread suspends the counters */
START_TEST(suspended_within_a_read)
{
	struct perfctr_control others;
	struct rivals_plan plan = {
		.cpu = 0, .n = 2, .control = &others, .map = true, .uid = STRANGER_UID,
		.sleepers = true, .sleep_us = 50,
	};
	struct perfctr_control control;
	const struct perfctr_page *page;
	struct reader reader = { .stop = false };
	struct rivals *rivals;
	uint64_t value[2], words[2], clock = 0;
	unsigned int i;

	control_init(&others);
	control_add(&others, EV_INSTRUCTIONS);
	control_init(&control);
	control.tsc_on = 1;
	control.flags = PERFCTR_CONTROL_INHERIT;
	control_add(&control, EV_INSTRUCTIONS);
	rivals = rivals_start(&plan);
	reader.fd = open_self();
	page = map_page(reader.fd);
	set_control(reader.fd, &control);
	ck_assert_int_eq(pthread_create(&reader.pthread, NULL, suspend_and_resume, &reader), 0);
	pin_self(0);
	for (i = 0; i < 20000 || reader.turns < 300; i++) {
		(void)exact_inline(page, 0, body_spin, 1, value);
		ck_assert_int_eq(read(reader.fd, words, sizeof(words)), sizeof(words));
		/* The clock does not jump, as it would if the register were added to the sum. */
		if (words[0] < clock || words[0] - clock > guest.info.tsc_hz)
			ck_abort_msg("clock %llu after %llu", (unsigned long long)words[0],
				     (unsigned long long)clock);
		clock = words[0];
	}
	reader.stop = true;
	pthread_join(reader.pthread, NULL);
	rivals_stop(rivals);
}
END_TEST

/* Looks at its page, waits for the tracer's word, reads the register, and goes on for a while. */
static void read_when_told(const volatile bool *told)
{
	const struct perfctr_page *page = map_page(open_self());
	unsigned int hw = page_hw_counter(page, 0);

	if (!may_read_register(hw) || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(99);
	raise(SIGSTOP);
	while (!*told)
		;
	(void)read_register(hw);
	/* Elsewhere processes have the permission, and keep it. */
#if defined(__riscv)
	while (may_read_register(hw))
#endif
		raise(SIGSTOP);
	_exit(0);
}

/*
 * The same if the thread is switched out many times before it executes anything more. And then it
 * does lose its permission.
 */
START_TEST(stopped_within_a_read)
{
	volatile bool *told = shared_alloc(sizeof(*told));
	struct perfctr_control control;
	int fd, status, signo = 0, i;
	unsigned int stops = 0;
	pid_t pid;

	control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT;
	control_add(&control, EV_INSTRUCTIONS);
	fd = open_self();
	set_control(fd, &control);
	ck_ok(pid = fork());
	if (!pid)
		read_when_told(told);
	ck_assert_int_eq(wait_stop(pid), SIGSTOP);
	ck_ok(ptrace(PTRACE_CONT, pid, NULL, NULL));
	sleep_us(20000);
	for (i = 0; i < 20; i++)
		ck_ok(kill(pid, SIGRTMIN + i));
	ck_assert_int_eq(wait_stop(pid), SIGRTMIN);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	*told = true;
	for (i = 1; i < 20; i++) {
		ck_ok(ptrace(PTRACE_CONT, pid, NULL, NULL));
		ck_assert_int_eq(wait_stop(pid), SIGRTMIN + i);
	}
	do {
		/* may_read_register() catches SIGILL; read_register() does not. */
		ck_assert_msg(signo != SIGILL || stops, "it died of the read");
		ck_ok(ptrace(PTRACE_CONT, pid, NULL, signo == SIGILL ? (long)SIGILL : 0));
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		signo = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
		stops += signo == SIGSTOP;
	} while (signo && stops < 300);
	ck_assert_msg(!status && stops, "status %#x after %u stops", (unsigned int)status, stops);
}
END_TEST

/* A period begins with the control, whatever sum was preserved. */
START_TEST(preserved_sum)
{
	struct listener *self = listen_to(SIGUSR1, STAY);
	struct perfctr_control control;
	unsigned int i;

	for (i = 1; i < 5; i++) {
		period_control(&control, 10000);
		control.preserve = 1;
		set_control(self->fd, &control);
		body_spin(100000);
		ck_assert_uint_eq(self->nr, i);
		ck_assert_uint_eq(read_sum(self->fd, 0), i * 10000ull);
	}
}
END_TEST

/* Any handle shows that the counters are suspended, and reads them while they run. */
START_TEST(read_by_others)
{
	struct perfctr_control control;
	int pair[2], fd;
	struct perfctr_read rd;
	uint64_t last = 0;
	pid_t child;
	unsigned int i;

	ck_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	ck_ok(child = fork());
	if (!child) {
		struct listener *self = listen_to(SIGUSR1, IRESUME);

		period_control(&control, 5003);
		(void)try_control(self->fd, &control);
		(void)send_fd(pair[1], self->fd);
		for (;;)
			body_spin(1000);
	}
	fd = receive_fd(pair[0]);
	for (i = 0; i < 2000; i++) {
		read_all(fd, &rd);
		ck_assert_uint_ge(rd.sum[0], last);
		ck_assert_uint_ge(rd.sum[0], rd.overflows * 5003ull);
		last = rd.sum[0];
		if (!(i % 50))
			sleep_us(100);
	}
	ck_assert_uint_gt(rd.overflows, 10);
	ck_ok(kill(child, SIGKILL));
	waitpid(child, NULL, 0);
	read_all(fd, &rd);
	ck_assert_uint_ge(rd.sum[0], last);
	ck_assert_uint_eq(rd.overflows, rd.sum[0] / 5003);
}
END_TEST

/* The page that a call needs, and who brings it when the call waits for it */
struct late {
	int fd;
	void *page;
	char image[PAGE_SIZE];
};

static void *bring(void *arg)
{
	struct late *late = arg;
	struct uffdio_copy copy = {
		.dst = (uintptr_t)late->page,
		.src = (uintptr_t)late->image,
		.len = PAGE_SIZE,
	};
	struct uffd_msg msg;

	if (read(late->fd, &msg, sizeof(msg)) == (ssize_t)sizeof(msg)) {
		sleep_us(1000);
		(void)ioctl(late->fd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

/* READ waits for the page of its argument, and takes the sums after that, still in the kernel. */
START_TEST(read_that_sleeps)
{
	struct perfctr_read first = { .size = sizeof(first) }, *rd;
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct listener *self = listen_to(SIGUSR1, STAY);
	struct uffdio_api api = { .api = UFFD_API };
	struct perfctr_control control;
	struct late late;
	pthread_t thread;
	uint64_t before;
	unsigned int i;

	period_control(&control, 1ll << 40);
	set_control(self->fd, &control);
	memset(&late, 0, sizeof(late));
	memcpy(late.image, &first, sizeof(first));
	rd = late.page = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	ck_assert(late.page != MAP_FAILED);
	ck_ok(late.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC));
	ck_ok(ioctl(late.fd, UFFDIO_API, &api));
	range.range.start = (uintptr_t)late.page;
	range.range.len = PAGE_SIZE;
	ck_ok(ioctl(late.fd, UFFDIO_REGISTER, &range));
	for (i = 0; i < 10; i++) {
		ck_ok(madvise(late.page, PAGE_SIZE, MADV_DONTNEED));
		ck_assert_int_eq(pthread_create(&thread, NULL, bring, &late), 0);
		before = read_sum(self->fd, 0);
		ck_ok(ioctl(self->fd, PERFCTR_IOC_READ, rd));
		ck_assert_uint_ge(rd->sum[0], before);
		ck_assert_uint_le(rd->sum[0], read_sum(self->fd, 0));
		pthread_join(thread, NULL);
	}
	ck_assert_uint_eq(self->nr, 0);
}
END_TEST

int main(void)
{
	guest_begin("overflow", NULL);
	GUEST_RUN(refused_without_interrupts, NEED_NO_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(exact_at_every_period, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(exact_place, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(suspended_until_resumed,
		  NEED_INTERRUPT | NEED_USER_READ | LOG_SILENT | AS_USER);
	GUEST_RUN(two_periods, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(a_mode_beside, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(perf_is_witness, NEED_INTERRUPT | NEED_PERF | NEED_BESIDE | LOG_SILENT);
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
	GUEST_RUN(refresh_stops_after_so_many, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(storm_in_user_mode, NEED_INTERRUPT | LOG_SILENT);
	GUEST_RUN(storm_in_both_modes, NEED_INTERRUPT | LOG_SILENT);
	GUEST_RUN(budget_is_a_parameter, NEED_INTERRUPT | LOG_SILENT);
	GUEST_RUN(blocked_signal_waits, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(ignored_signal, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(default_action_kills, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(queue_is_full, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(in_a_pid_namespace, NEED_INTERRUPT | NEED_NAMESPACES | LOG_SILENT);
	GUEST_RUN(exec_ends_the_signals, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(fork_inherits_nothing, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(a_tree_of_periods, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(control_forgets, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(unlink_forgets, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(iresume_meets_an_overflow, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(refresh_meets_an_overflow, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(exit_meets_an_overflow, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(bad_controls, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(bad_resumes, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(stop_and_go, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(overflow_within_a_read, NEED_INTERRUPT | LOG_SILENT);
	GUEST_RUN(overflown_sees_nothing_of_others,
		  NEED_INTERRUPT | NEED_USER_READ | LOG_SILENT);
	GUEST_RUN(suspended_within_a_read, NEED_COUNTERS | NEED_USER_READ | NEED_SMP | LOG_SILENT);
	GUEST_RUN(stopped_within_a_read,
		  NEED_COUNTERS | NEED_USER_READ | NEED_PERMISSION | LOG_SILENT);
	GUEST_RUN(preserved_sum, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(read_by_others, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(read_that_sleeps, NEED_INTERRUPT | LOG_SILENT);
	return guest_end();
}
