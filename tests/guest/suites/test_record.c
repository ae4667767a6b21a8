// SPDX-License-Identifier: GPL-2.0
/*
 * Samples in a ring. The emulated machine interrupts without skid, so each sample is where it must
 * be, to the instruction, and how many there are is known.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libperfctr.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/record.h"

#define TAILS 6

static const struct perfctr_record_sample *next_sample(struct vperfctr_ring *ring)
{
	const struct perfctr_record *record;

	do
		record = vperfctr_ring_next(ring);
	while (record && record->type != PERFCTR_RECORD_SAMPLE);
	return record ? as_sample(record) : NULL;
}

/* A loop of known length: each sample after exactly a period, and in the loop. */
START_TEST(samples_of_a_loop)
{
	const struct perfctr_record_sample *sample;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	/* In a slow kernel another interrupt more often finds an overflow before its own does. */
	const unsigned int other = getenv("SLOW_KERNEL") ? PERFCTR_RECORD_ENTERED : 0;
	unsigned int n = 0, inside = 0;
	uint64_t last = 0;
	int fd;

	fd = open_with_ring(PAGES, 0);
	ring = map_ring(fd, PAGES);
	control_samples(&control, PERIOD, 0);
	set_control(fd, &control);
	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, LOOPS), 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(LOOPS));
	while ((sample = next_sample(ring))) {
		n++;
		ck_assert_uint_eq(sample->record.size, sizeof(*sample) + sizeof(uint64_t));
		ck_assert_uint_eq(sample->nrctrs, 1);
		ck_assert_uint_eq(sample->value[0], n * PERIOD);
		ck_assert_uint_eq(sample->overflown, 1);
		ck_assert_uint_eq(sample->record.flags & ~other, 0);
		ck_assert_int_eq(sample->record.pid, getpid());
		ck_assert_int_eq(sample->record.tid, gettid());
		ck_assert_uint_ge(sample->record.time, last);
		last = sample->record.time;
		if (sample->value[0] > rd[0].sum[0] + EXACT_BEFORE_BODY + 2 &&
		    sample->value[0] < rd[1].sum[0] - EXACT_KERNEL) {
			uintptr_t loop = (uintptr_t)body_spin;

			inside++;
			ck_assert_msg(sample->ip >= loop && sample->ip < loop + 16,
				      "sample %u at %#llx, and the loop at %#lx", n,
				      (unsigned long long)sample->ip, (unsigned long)loop);
		}
	}
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
	ck_assert_uint_ge(n, rd[1].sum[0] / PERIOD);
	ck_assert_uint_ge(inside, BODY_SPIN(LOOPS) / PERIOD - 2);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* A ring of one page keeps what fits, and tells how many did not: together they are all. */
START_TEST(lost_records_are_counted)
{
	const struct perfctr_record *record;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	struct perfctr_read rd;
	unsigned int samples = 0;
	uint64_t lost = 0;
	int fd;

	fd = open_with_ring(1, 0);
	ring = map_ring(fd, 1);
	control_samples(&control, PERIOD, 0);
	set_control(fd, &control);
	body_spin(LOOPS);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((record = vperfctr_ring_next(ring)))
		samples += record->type == PERFCTR_RECORD_SAMPLE;
	ck_assert_uint_eq(samples, PAGE_SIZE / (sizeof(struct perfctr_record_sample) + 8));
	/* Now that there is room the next record is preceded by the number. */
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	body_spin(PERIOD);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	read_all(fd, &rd);
	while ((record = vperfctr_ring_next(ring))) {
		if (record->type == PERFCTR_RECORD_LOST)
			lost += ((const struct perfctr_record_lost *)record)->lost;
		else
			samples++;
	}
	ck_assert_uint_gt(lost, 100);
	ck_assert_uint_eq(lost, vperfctr_ring_lost(ring));
	ck_assert_uint_eq(samples + lost, rd.sum[0] / PERIOD);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* A record that goes on at the beginning of the ring is whole: 72 bytes do not divide a page. */
START_TEST(records_go_round)
{
	const struct perfctr_record_sample *sample;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	unsigned int n = 0, i;
	int fd;

	fd = open_with_ring(1, 0);
	ring = map_ring(fd, 1);
	control_init(&control);
	control.tsc_on = 1;
	control.flags = PERFCTR_CONTROL_RECORD;
	control_add(&control, EV_LIKE_INSTRUCTIONS);
	control_add_ictr(&control, EV_INSTRUCTIONS, -(int64_t)PERIOD);
	set_control(fd, &control);
	for (i = 0; i < 30; i++) {
		body_spin(10 * PERIOD);
		ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
		while ((sample = next_sample(ring))) {
			n++;
			ck_assert_uint_eq(sample->record.size, sizeof(*sample) + 2 * sizeof(uint64_t));
			ck_assert_uint_eq(sample->nrctrs, 2);
			ck_assert_uint_eq(sample->value[1], n * PERIOD);
		}
		ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	}
	ck_assert_uint_ge(n, 600);
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* Whatever a reader writes to its page, the kernel keeps within the ring. */
START_TEST(reader_scribbles)
{
	static const uint32_t tails[TAILS] = { 0xffffffff, 0x80000000, 4096, 1, 7, 0x12345678 };
	struct perfctr_control control;
	struct perfctr_ring_page *page;
	struct perfctr_read rd;
	uint32_t head;
	uint64_t lost;
	unsigned int i;
	int fd;

	fd = open_with_ring(2, 0);
	page = mmap(NULL, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PERFCTR_RING_OFFSET);
	ck_assert(page != MAP_FAILED);
	ck_assert_uint_eq(page->size, sizeof(*page));
	ck_assert_uint_eq(page->offset, PAGE_SIZE);
	ck_assert_uint_eq(page->length, 2 * PAGE_SIZE);
	control_samples(&control, PERIOD, 0);
	set_control(fd, &control);
	/* Who has read more than was written has no room for more. */
	body_spin(10 * PERIOD);
	head = page->head;
	lost = page->lost;
	page->tail = head + 8;
	body_spin(10 * PERIOD);
	ck_assert_uint_eq(page->head, head);
	ck_assert_uint_ge(page->lost, lost + 20);
	page->tail = head;
	body_spin(10 * PERIOD);
	ck_assert_uint_gt(page->head, head);
	for (i = 0; i < TAILS; i++) {
		page->tail = tails[i];
		page->head = tails[i] / 3;
		page->length = 1ull << 40;
		page->offset = -1;
		body_spin(10 * PERIOD);
	}
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	read_all(fd, &rd);
	ck_assert_uint_ge(rd.sum[0], 6 * BODY_SPIN(10 * PERIOD));
	munmap(page, 3 * PAGE_SIZE);
	close(fd);
}
END_TEST

static volatile int signalled;
static volatile int signal_fd;

static void on_signal(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	signalled++;
	signal_fd = info->si_fd;
}

/* The reader is woken after so many records: by poll(2), and by the signal of its choice. */
START_TEST(wakes_after_so_many)
{
	struct perfctr_ring wanted = { .size = sizeof(wanted), .pages = PAGES, .wakeup = 50 };
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	struct pollfd p;
	int fd, signo = SIGRTMIN + 3;

	fd = try_open(PERFCTR_OPEN_CREAT);
	ck_assert_int_ge(fd, 0);
	ck_errno(fcntl(fd, F_SETFL, O_RDWR | O_ASYNC), EINVAL);
	ck_ok(ioctl(fd, PERFCTR_IOC_RING, &wanted));
	ring = map_ring(fd, PAGES);
	ck_ok(sigaction(signo, &action, NULL));
	ck_ok(fcntl(fd, F_SETSIG, signo));
	ck_ok(fcntl(fd, F_SETOWN, getpid()));
	ck_ok(fcntl(fd, F_SETFL, O_RDWR | O_ASYNC));
	control_samples(&control, PERIOD, 0);
	set_control(fd, &control);
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	while (!signalled)
		;
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	ck_assert_int_eq(signal_fd, fd);
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	ck_assert_int_eq(p.revents, POLLIN);
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	ck_ok(fcntl(fd, F_SETFL, O_RDWR));
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	body_spin(100 * PERIOD);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	ck_assert_int_ge(signalled, 1);
	ck_assert_int_le(signalled, 2);
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	ck_ok(ioctl(fd, PERFCTR_IOC_UNLINK));
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	ck_assert_int_eq(p.revents & POLLHUP, POLLHUP);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* Who waits for the end alone is woken by it. */
START_TEST(the_end_wakes)
{
	struct pollfd p = { .fd = open_device(), .events = 0 };
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CREAT };
	struct perfctr_control control;
	uint64_t begin;
	int ready[2];
	pid_t pid;
	char byte;

	ck_ok(pipe(ready));
	control_timer(&control, 1000000000);
	ck_ok(pid = fork());
	if (!pid) {
		if (ioctl(p.fd, PERFCTR_IOC_OPEN, &o) || make_ring_of(p.fd, 1, 0) ||
		    try_control(p.fd, &control) || write(ready[1], "x", 1) != 1)
			_exit(1);
		sleep_us(100000);
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	begin = now_ns();
	ck_assert_int_eq(poll(&p, 1, 20000), 1);
	ck_assert_int_eq(p.revents, POLLHUP);
	ck_assert_uint_lt(now_ns() - begin, 10000000000ull);
	expect_exit(pid, 0);
	close(p.fd);
}
END_TEST

/*
 * Takes all samples of a timer from the ring. @end: the thread's clock as it was stopped. Machines
 * with counters go by the instruction clock, and each period has its sample. Elsewhere the host may
 * do something else for any time: one sample is for all periods that passed meanwhile.
 */
static void check_timed_samples(struct vperfctr_ring *ring, uint64_t end)
{
	uint64_t period = guest.info.tsc_hz / 1000, last = 0, due = 0;
	const struct perfctr_record_sample *sample;
	unsigned int n = 0;

	while ((sample = next_sample(ring))) {
		n++;
		ck_assert_uint_eq(sample->overflown, 0);
		ck_assert_uint_eq(sample->nrctrs, 0);
		/* One that is late does not make the next one late. */
		ck_assert_msg(sample->clock >= n * period - period / 10, "sample %u at %llu of %llu", n,
			      (unsigned long long)sample->clock, (unsigned long long)(n * period));
		ck_assert_uint_gt(sample->clock, last);
		last = sample->clock;
		due = (last + period / 10) / period;
	}
	ck_assert_uint_ge(n, 1);
	ck_assert_uint_le(due, end / period);
	if (guest.nprogrammable)
		ck_assert_msg(n + 1 >= due && n + 3 >= end / period,
			      "%u samples, the last at %llu, in %llu periods", n,
			      (unsigned long long)due, (unsigned long long)(end / period));
}

/* By time: with the clock alone, where there is no counter at all. */
START_TEST(samples_by_time)
{
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	int fd;

	fd = open_with_ring(PAGES, 0);
	ring = map_ring(fd, PAGES);
	control_timer(&control, 1000000);
	set_control(fd, &control);
	/* The kernel's own tests, after boot, may have the CPU for a part of the time. */
	while (read_clock(fd) < 50 * (guest.info.tsc_hz / 1000))
		body_spin(1000);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	/* It stands still from here on. */
	check_timed_samples(ring, read_clock(fd));
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* Those who switch more often than the timer fires are seen as well: it is their own time. */
START_TEST(samples_by_time_of_switching)
{
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	uint64_t clock;
	pid_t pid;
	int fd;

	pin_self(0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			sched_yield();
	}
	fd = open_with_ring(PAGES, 0);
	ring = map_ring(fd, PAGES);
	control_timer(&control, 1000000);
	set_control(fd, &control);
	while (read_clock(fd) < 30 * (guest.info.tsc_hz / 1000))
		sched_yield();
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	/* It stands still from here on. */
	clock = read_clock(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	check_timed_samples(ring, clock);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

static __attribute__((noinline, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))
void innermost(unsigned long n)
{
	volatile unsigned long i;

	for (i = 0; i < n; i++)
		;
}

static __attribute__((noinline, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))
void middle(unsigned long n)
{
	innermost(n);
	__asm__ volatile("");
}

static __attribute__((noinline, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))
void outermost(unsigned long n)
{
	middle(n);
	__asm__ volatile("");
}

static bool is_in(uint64_t address, void (*fn)(unsigned long))
{
	return address - (uintptr_t)fn < 96;
}

/* Who called whom: by frame pointers. */
START_TEST(user_chain)
{
	const struct perfctr_record_sample *sample;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	unsigned int n = 0, inner = 0;
	int fd;

	fd = open_with_ring(PAGES, PERFCTR_RING_USER_CHAIN);
	ring = map_ring(fd, PAGES);
	control_samples(&control, PERIOD, 0);
	set_control(fd, &control);
	outermost(20 * PERIOD);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((sample = next_sample(ring))) {
		const __u64 *chain = sample->value + sample->nrctrs;

		n++;
		ck_assert_uint_ge(sample->user_depth, 1);
		ck_assert_uint_le(sample->user_depth, 16);
		ck_assert_uint_eq(sample->kernel_depth, 0);
		ck_assert_uint_eq(chain[0], sample->ip);
		if (!is_in(sample->ip, innermost))
			continue;
		/* At its first and last instructions there is no frame. */
		if (sample->user_depth >= 3 && is_in(chain[1], middle) &&
		    (is_in(chain[2], outermost) ||
		     /* An old return address may come between. */
		     (is_ppc() && sample->user_depth >= 4 && is_in(chain[3], outermost))))
			inner++;
	}
	ck_assert_uint_ge(n, 20);
	ck_assert_msg(inner + 3 >= n, "%u of %u have the chain", inner, n);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

#if defined(__x86_64__) || defined(__riscv)
/* Spins while the frame pointer points to a frame that is its own caller's. */
static __attribute__((noinline)) void spin_in_circle(unsigned long n)
{
	static uint64_t frame[2];

#ifdef __x86_64__
	frame[0] = (uintptr_t)frame;
	frame[1] = (uintptr_t)spin_in_circle;
	__asm__ volatile("push %%rbp\n\tmov %1, %%rbp\n1:\tdec %0\n\tjnz 1b\n\tpop %%rbp"
			 : "+r"(n) : "r"(frame) : "memory", "cc");
#else
	frame[0] = (uintptr_t)(frame + 2);
	frame[1] = (uintptr_t)spin_in_circle;
	__asm__ volatile("mv t0, s0\n\tmv s0, %1\n1:\taddi %0, %0, -1\n\tbnez %0, 1b\n\tmv s0, t0"
			 : "+r"(n) : "r"(frame + 2) : "memory", "t0");
#endif
}

/* Who called whom ends where frames do not go outwards. */
START_TEST(user_chain_in_circle)
{
	const struct perfctr_record_sample *sample;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	unsigned int inside = 0;
	int fd;

	fd = open_with_ring(PAGES, PERFCTR_RING_USER_CHAIN);
	ring = map_ring(fd, PAGES);
	control_samples(&control, PERIOD, 0);
	set_control(fd, &control);
	spin_in_circle(20 * PERIOD);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((sample = next_sample(ring))) {
		const __u64 *chain = sample->value + sample->nrctrs;

		if (!is_in(sample->ip, spin_in_circle) || sample->user_depth < 2 ||
		    chain[1] != (uintptr_t)spin_in_circle)
			continue;
		ck_assert_uint_eq(sample->user_depth, 2);
		inside++;
	}
	ck_assert_uint_ge(inside, 38);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST
#endif

/* Root learns where in the kernel; who counts user mode alone learns where that was entered. */
START_TEST(kernel_addresses)
{
	const struct perfctr_record_sample *sample;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	unsigned int kernel = 0, chains = 0, i;
	char byte;
	int fd, zero;

	ck_ok(zero = open("/dev/zero", O_RDONLY));
	fd = open_with_ring(PAGES, PERFCTR_RING_KERNEL | PERFCTR_RING_KERNEL_CHAIN);
	ring = map_ring(fd, PAGES);
	/* A part of each interrupt is counted, and that is much where the kernel checks itself. */
	control_samples(&control, 200003, 0);
	control.ctr[0].flags |= PERFCTR_CTR_KERNEL;
	set_control(fd, &control);
	for (i = 0; i < 16000; i++) {
		ck_ok(read(zero, &byte, 1));
		while ((sample = next_sample(ring))) {
			const __u64 *chain = sample->value + sample->nrctrs;

			if (!(sample->record.flags & PERFCTR_RECORD_KERNEL)) {
				ck_assert_uint_eq(sample->kernel_depth, 0);
				continue;
			}
			kernel++;
			ck_assert_uint_ge(sample->kernel_depth, 1);
			ck_assert_uint_eq(chain[0], sample->ip);
			ck_assert(sizeof(long) == 4 || (int64_t)sample->ip < 0);
			chains += sample->kernel_depth > 2;
		}
	}
	ck_assert_msg(kernel > 20 && chains > 20, "%u in the kernel, %u with a chain", kernel, chains);
	vperfctr_ring_unmap(ring);
	close(fd);
	close(zero);
}
END_TEST

START_TEST(no_kernel_addresses)
{
	const struct perfctr_record_sample *sample;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	unsigned int entered = 0, i;
	uint64_t end;
	char byte;
	int fd, zero;

	ck_ok(zero = open("/dev/zero", O_RDONLY));
	fd = open_with_ring(PAGES, PERFCTR_RING_USER_CHAIN);
	ck_errno(ioctl(fd, PERFCTR_IOC_RING, &(struct perfctr_ring){ .size = sizeof(struct perfctr_ring) }),
		 EEXIST);
	ring = map_ring(fd, PAGES);
	control_timer(&control, 100000);
	set_control(fd, &control);
	end = now_ns() + 100000000;
	while (now_ns() < end)
		ck_ok(read(zero, &byte, 1));
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((sample = next_sample(ring))) {
		ck_assert_uint_eq(sample->kernel_depth, 0);
		ck_assert(!(sample->record.flags & PERFCTR_RECORD_KERNEL));
		entered += sample->record.flags == PERFCTR_RECORD_ENTERED;
		ck_assert(sizeof(long) == 4 || (int64_t)sample->ip > 0);
		for (i = 0; i < sample->user_depth; i++)
			ck_assert(sizeof(long) == 4 || (int64_t)sample->value[sample->nrctrs + i] > 0);
	}
	ck_assert_uint_gt(entered, 0);
	vperfctr_ring_unmap(ring);
	close(fd);
	close(zero);
}
END_TEST

/* Returns as a tick has just begun: this clock is that of the latest tick. */
static void wait_for_tick(void)
{
	struct timespec first, now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &first);
	do
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	while (now.tv_sec == first.tv_sec && now.tv_nsec == first.tv_nsec);
}

/*
 * More samples than the budget: that is told, counts go on, and so do samples in the next tick,
 * though no switch resumes the state. They begin again a tick and a little later each time. Begun
 * at the end of a tick they would soon go on in the next one, which has its own five: then ten may
 * follow each other.
 */
START_TEST(samples_are_throttled)
{
	const struct perfctr_record *record;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	unsigned int samples = 0, throttled = 0, since = 0;
	struct timespec begin, end, tick;
	unsigned long ticks;
	int fd;

	ck_assert_int_eq(write_text(MODULE_PARAMS "overflow_budget", "5"), 0);
	fd = open_with_ring(PAGES, 0);
	ring = map_ring(fd, PAGES);
	control_samples(&control, PERIOD, 0);
	wait_for_tick();
	clock_gettime(CLOCK_MONOTONIC, &begin);
	set_control(fd, &control);
	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, 100 * LOOPS), 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	clock_gettime(CLOCK_MONOTONIC, &end);
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	ticks = ((end.tv_sec - begin.tv_sec) * 1000000000l + end.tv_nsec - begin.tv_nsec) /
		tick.tv_nsec;
	ck_assert_int_eq(write_text(MODULE_PARAMS "overflow_budget", "1000000"), 0);
	ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(100 * LOOPS));
	while ((record = vperfctr_ring_next(ring))) {
		if (record->type == PERFCTR_RECORD_THROTTLED) {
			ck_assert_uint_eq(record->size, sizeof(*record));
			throttled++;
			since = 0;
			continue;
		}
		ck_assert_uint_eq(record->type, PERFCTR_RECORD_SAMPLE);
		samples++;
		ck_assert_uint_le(++since, 5);
	}
	ck_assert_uint_ge(throttled, 2);
	ck_assert_uint_ge(2ul * throttled, ticks);
	ck_assert_uint_ge(samples, 5ul * throttled);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

int main(void)
{
	guest_begin("record", "overflow_budget=1000000");
	GUEST_RUN(samples_of_a_loop, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(lost_records_are_counted, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(records_go_round, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(reader_scribbles, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	record_tree();
	GUEST_RUN(wakes_after_so_many, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(the_end_wakes, AS_USER);
	GUEST_RUN(samples_by_time, AS_USER);
	GUEST_RUN(samples_by_time_of_switching, AS_USER);
	GUEST_RUN(user_chain, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
#if defined(__x86_64__) || defined(__riscv)
	GUEST_RUN(user_chain_in_circle, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
#endif
	GUEST_RUN(kernel_addresses, NEED_COUNTERS | NEED_INTERRUPT);
	GUEST_RUN(no_kernel_addresses, AS_USER);
	record_maps();
	GUEST_RUN(samples_are_throttled, NEED_COUNTERS | NEED_INTERRUPT);
	record_rings();
	record_perfex();
	return guest_end();
}
