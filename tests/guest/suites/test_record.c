// SPDX-License-Identifier: GPL-2.0
/*
 * Samples in a ring. The emulated machine interrupts without skid, so each sample is where it must
 * be, to the instruction, and how many there are is known.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libperfctr.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "../../tools/perfex/record/recfile.h"

#define PAGES 64
#define PERIOD ((uint64_t)1009)
#define LOOPS 200000ul
#define TAILS 6

static int make_ring_of(int fd, unsigned int pages, unsigned int flags)
{
	struct perfctr_ring ring = { .size = sizeof(ring), .pages = pages, .flags = flags };

	if (flags & PERFCTR_RING_USER_CHAIN)
		ring.user_depth = 16;
	if (flags & PERFCTR_RING_KERNEL_CHAIN)
		ring.kernel_depth = 16;
	return ioctl(fd, PERFCTR_IOC_RING, &ring) ? -errno : 0;
}

static int open_with_ring(unsigned int pages, unsigned int flags)
{
	int fd = try_open(PERFCTR_OPEN_CREAT), err;

	ck_assert_int_ge(fd, 0);
	err = make_ring_of(fd, pages, flags);
	ck_assert_msg(!err, "RING: %s", strerror(-err));
	return fd;
}

static struct vperfctr_ring *map_ring(int fd, unsigned int pages)
{
	struct vperfctr_ring *ring = vperfctr_ring_map(fd, pages);

	ck_assert_msg(ring != NULL, "map: %s", strerror(errno));
	return ring;
}

/* Instructions in user mode, a sample after so many */
static void control_samples(struct perfctr_control *control, int64_t period, unsigned int flags)
{
	control_init(control);
	control->tsc_on = 1;
	control->flags = PERFCTR_CONTROL_RECORD | flags;
	control_add_ictr(control, EV_INSTRUCTIONS, -period);
}

/* No counter: a sample after so much time */
static void control_timer(struct perfctr_control *control, unsigned int ns)
{
	control_init(control);
	control->tsc_on = 1;
	control->flags = PERFCTR_CONTROL_RECORD;
	control->timer_ns = ns;
}

static const struct perfctr_record_sample *as_sample(const struct perfctr_record *record)
{
	return (const struct perfctr_record_sample *)record;
}

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

/* What a child of known length executes, from its first instruction on. */
START_TEST(samples_of_an_exec)
{
	const struct perfctr_record *record;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	int sock[2], fd;
	unsigned int samples = 0, maps = 0, execs = 0, exits = 0, before = 0;
	uint64_t start = 0, length = 0;
	struct pollfd p;
	pid_t pid;

	ck_ok(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sock));
	pid = fork();
	if (!pid) {
		fd = try_open(PERFCTR_OPEN_CREAT);
		if (fd < 0 || make_ring_of(fd, PAGES, PERFCTR_RING_MAPS))
			_exit(1);
		control_samples(&control, PERIOD, PERFCTR_CONTROL_ON_EXEC | PERFCTR_CONTROL_INHERIT);
		if (try_control(fd, &control) || send_fd(sock[1], fd))
			_exit(2);
		execl(KNOWN_PATH, KNOWN_PATH, NULL);
		_exit(3);
	}
	fd = receive_fd(sock[0]);
	ring = map_ring(fd, PAGES);
	expect_exit(pid, 0);
	/* Nobody writes any more. */
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	ck_assert_int_eq(poll(&p, 1, -1), 1);
	ck_assert(p.revents & POLLHUP);
	while ((record = vperfctr_ring_next(ring))) {
		ck_assert_int_eq(record->pid, pid);
		ck_assert_int_eq(record->tid, pid);
		if (record->type == PERFCTR_RECORD_COMM) {
			const struct perfctr_record_comm *comm = (const void *)record;

			ck_assert_str_eq(comm->comm, "known");
			execs += record->flags == PERFCTR_RECORD_EXEC;
			before += samples;
		} else if (record->type == PERFCTR_RECORD_MAP) {
			const struct perfctr_record_map *map = (const void *)record;

			before += samples;
			ck_assert_uint_eq(record->size % 8, 0);
			ck_assert_uint_eq(record->size, sizeof(*map) + (strlen(map->path) / 8 + 1) * 8);
			if (!strcmp(map->path, KNOWN_PATH)) {
				start = map->start;
				length = map->length;
				ck_assert_uint_ne(map->inode, 0);
				maps++;
			}
		} else if (record->type == PERFCTR_RECORD_SAMPLE) {
			const struct perfctr_record_sample *sample = as_sample(record);

			samples++;
			ck_assert_uint_eq(sample->value[0], samples * PERIOD);
			ck_assert_msg(sample->ip >= start && sample->ip < start + length,
				      "%#llx is not in %#llx", (unsigned long long)sample->ip,
				      (unsigned long long)start);
		} else {
			ck_assert_uint_eq(record->type, PERFCTR_RECORD_EXIT);
			exits++;
		}
	}
	ck_assert_uint_eq(execs, 1);
	ck_assert_uint_eq(maps, 1);
	ck_assert_uint_eq(before, 0);
	ck_assert_uint_eq(exits, 1);
	ck_assert_uint_eq(samples, KNOWN_LENGTH(KNOWN_LOOPS) / PERIOD);
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* Each name is told once, before the first sample under it. */
START_TEST(names_of_a_thread)
{
	static const char *const name[] = { "first", "a second one", "fifteen letters" };
	const struct perfctr_record *record;
	struct perfctr_control control;
	unsigned int i, samples[4] = { 0 }, n = 0;
	struct vperfctr_ring *ring;
	int fd, err;

	fd = open_with_ring(PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, PAGES);
	control_samples(&control, PERIOD, 0);
	ck_ok(prctl(PR_SET_NAME, name[0]));
	/* Assertions are instructions as well. */
	err = try_control(fd, &control);
	for (i = 0; i < 3; i++) {
		err |= prctl(PR_SET_NAME, name[i]);
		body_spin(10 * PERIOD);
	}
	err |= ioctl(fd, PERFCTR_IOC_SUSPEND);
	ck_assert_int_eq(err, 0);
	while ((record = vperfctr_ring_next(ring))) {
		samples[n] += record->type == PERFCTR_RECORD_SAMPLE;
		if (record->type != PERFCTR_RECORD_COMM)
			continue;
		ck_assert_uint_lt(n, 3);
		ck_assert_uint_eq(record->size, sizeof(struct perfctr_record_comm));
		ck_assert_uint_eq(record->flags, 0);
		ck_assert_int_eq(record->tid, gettid());
		ck_assert_str_eq(((const struct perfctr_record_comm *)record)->comm, name[n]);
		n++;
	}
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(samples[0], 0);
	for (i = 1; i < 4; i++) {
		ck_assert_uint_ge(samples[i], 20);
		ck_assert_uint_le(samples[i], 21);
	}
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

#define CHILDREN 4

/* Threads and processes that are made write to the same ring, at the same time. */
START_TEST(samples_of_descendants)
{
	unsigned int forks = 0, exits = 0, samples[2 * CHILDREN] = { 0 }, n = 0, i;
	pid_t tid[2 * CHILDREN] = { 0 }, known[CHILDREN];
	const struct perfctr_record *record;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	int fd;

	fd = open_with_ring(16 * PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, 16 * PAGES);
	control_samples(&control, PERIOD, PERFCTR_CONTROL_INHERIT);
	set_control(fd, &control);
	for (i = 0; i < CHILDREN; i++) {
		known[i] = fork();
		if (!known[i]) {
			execl(KNOWN_PATH, KNOWN_PATH, NULL);
			_exit(3);
		}
	}
	for (i = 0; i < CHILDREN; i++)
		expect_exit(known[i], 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((record = vperfctr_ring_next(ring))) {
		if (record->tid == getpid())
			continue;
		if (record->type == PERFCTR_RECORD_FORK) {
			const struct perfctr_record_fork *made = (const void *)record;

			ck_assert_int_eq(made->parent_pid, getpid());
			ck_assert_int_eq(made->parent_tid, gettid());
			ck_assert_int_eq(record->pid, record->tid);
			ck_assert_uint_lt(n, CHILDREN);
			tid[n++] = record->tid;
			forks++;
			continue;
		}
		for (i = 0; i < n && tid[i] != record->tid; i++)
			;
		ck_assert_msg(i < n, "tid %d was not born", record->tid);
		exits += record->type == PERFCTR_RECORD_EXIT;
		if (record->type == PERFCTR_RECORD_SAMPLE) {
			samples[i]++;
			ck_assert_uint_eq(as_sample(record)->value[0], samples[i] * PERIOD);
		}
	}
	ck_assert_uint_eq(forks, CHILDREN);
	ck_assert_uint_eq(exits, CHILDREN);
	/* Between fork and exec they execute a little more. */
	for (i = 0; i < CHILDREN; i++)
		ck_assert_msg(samples[i] - KNOWN_LENGTH(KNOWN_LOOPS) / PERIOD < 8, "%u samples of %lu",
			      samples[i], (unsigned long)(KNOWN_LENGTH(KNOWN_LOOPS) / PERIOD));
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
	vperfctr_ring_unmap(ring);
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

/* What is mapped and unmapped while it counts. */
START_TEST(maps)
{
	const struct perfctr_record *record;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	unsigned int mapped = 0, unmapped = 0, self = 0, vdso = 0, replaced = 0, anon = 0;
	char *map, *other;
	int fd, file;

	fd = open_with_ring(PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, PAGES);
	control_samples(&control, 100000000, 0);
	set_control(fd, &control);
	ck_ok(file = open(KNOWN_PATH, O_RDONLY | O_CLOEXEC));
	map = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	ck_assert(map != MAP_FAILED);
	/* Another file in its place: the end of the first is told before. */
	close(file);
	ck_ok(file = open(KNOWN_OTHER_PATH, O_RDONLY | O_CLOEXEC));
	other = mmap(map, PAGE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0);
	ck_assert_ptr_eq(other, map);
	ck_ok(munmap(map, PAGE_SIZE));
	map = mmap(NULL, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(map != MAP_FAILED);
	ck_ok(mprotect(map + PAGE_SIZE, PAGE_SIZE, PROT_READ | PROT_EXEC));
	ck_ok(prctl(PR_SET_NAME, "renamed"));
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((record = vperfctr_ring_next(ring))) {
		const struct perfctr_record_map *m = (const void *)record;

		ck_assert_int_eq(record->pid, getpid());
		if (record->type == PERFCTR_RECORD_UNMAP && m->start == (uintptr_t)other) {
			ck_assert_uint_eq(m->length, PAGE_SIZE);
			unmapped++;
		}
		if (record->type != PERFCTR_RECORD_MAP)
			continue;
		self += m->start <= (uintptr_t)body_spin && (uintptr_t)body_spin - m->start < m->length;
		vdso += !strcmp(m->path, "[vdso]");
		if (!strcmp(m->path, KNOWN_PATH)) {
			ck_assert_uint_eq(m->start, (uintptr_t)other);
			mapped++;
		}
		if (!strcmp(m->path, KNOWN_OTHER_PATH)) {
			ck_assert_uint_eq(unmapped, 1);
			replaced++;
		}
		if (!strcmp(m->path, "//anon") && m->start == (uintptr_t)map + PAGE_SIZE) {
			ck_assert_uint_eq(m->length, PAGE_SIZE);
			ck_assert_uint_eq(m->inode, 0);
			anon++;
		}
	}
	ck_assert_uint_eq(self, 1);
	ck_assert_uint_eq(vdso, 1);
	ck_assert_uint_eq(mapped, 1);
	ck_assert_uint_eq(replaced, 1);
	ck_assert_uint_eq(anon, 1);
	ck_assert_uint_eq(unmapped, 2);
	close(file);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* What a reader makes of the records: is a page mapped in a process, and what was sampled there? */
struct page_told {
	pid_t pid;
	uintptr_t page;
	bool mapped;
	unsigned int maps, unmaps;	/* that tell of the page */
	unsigned int known, untold;	/* samples there */
	unsigned int unknown;		/* samples of the process that say that it is not known */
};

static void follow(struct page_told *told, const struct perfctr_record *record)
{
	const struct perfctr_record_map *map = (const void *)record;
	const struct perfctr_record_sample *sample = as_sample(record);
	bool there;

	if (record->pid != told->pid)
		return;
	if (record->type == PERFCTR_RECORD_SAMPLE) {
		there = sample->ip - told->page < PAGE_SIZE;
		if (record->flags & PERFCTR_RECORD_MAP_UNKNOWN)
			told->unknown++;
		else if (there && told->mapped)
			told->known++;
		else if (there)
			told->untold++;
		return;
	}
	if (record->type != PERFCTR_RECORD_MAP && record->type != PERFCTR_RECORD_UNMAP)
		return;
	/* An UNMAP has its addresses at the same place. */
	if (told->page - map->start >= map->length)
		return;
	told->mapped = record->type == PERFCTR_RECORD_MAP;
	if (told->mapped)
		told->maps++;
	else
		told->unmaps++;
}

/* Code of known length, as body_spin() */
static char *map_code(void *at)
{
	char *page = mmap(at, PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (page != MAP_FAILED) {
		memcpy(page, (const void *)(uintptr_t)body_spin, 64);
		__builtin___clear_cache(page, page + 64);
	}
	return page;
}

static void run_code(const char *page, unsigned long loops)
{
	((void (*)(unsigned long))(uintptr_t)page)(loops);
}

#define JOINS 20

/*
 * Mappings behind a page are split from its own and joined with it. It stays what it is, and is told
 * so; of the memory behind it the end is told, and of that alone.
 */
START_TEST(mappings_are_split_and_joined)
{
	const struct perfctr_record *record;
	struct page_told told = { .pid = getpid() };
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	unsigned int i, unmaps = 0;
	char *page, *last;
	int fd;

	page = mmap(NULL, 4 * PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(page != MAP_FAILED);
	page += PAGE_SIZE;
	told.page = (uintptr_t)page;
	ck_assert_ptr_eq(map_code(page), page);
	fd = open_with_ring(PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, PAGES);
	control_samples(&control, PERIOD, 0);
	set_control(fd, &control);
	for (i = 0; i < JOINS; i++) {
		ck_assert_ptr_eq(map_code(page + PAGE_SIZE), page + PAGE_SIZE);
		run_code(page, 2 * PERIOD);
		ck_ok(mprotect(page + PAGE_SIZE, PAGE_SIZE, PROT_READ));
		run_code(page, 2 * PERIOD);
	}
	last = map_code(NULL);
	ck_assert(last != MAP_FAILED);
	run_code(page, 2 * PERIOD);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((record = vperfctr_ring_next(ring))) {
		const struct perfctr_record_unmap *unmap = (const void *)record;

		follow(&told, record);
		if (record->type != PERFCTR_RECORD_UNMAP)
			continue;
		unmaps++;
		ck_assert_uint_eq(unmap->start, (uintptr_t)page + PAGE_SIZE);
		ck_assert_uint_eq(unmap->length, PAGE_SIZE);
	}
	ck_assert_uint_eq(told.unmaps, 0);
	ck_assert_uint_eq(unmaps, 1);
	ck_assert_uint_ge(told.maps, 1);
	ck_assert_uint_le(told.maps, 2);
	ck_assert_uint_eq(told.untold, 0);
	ck_assert_uint_eq(told.unknown, 0);
	ck_assert_uint_ge(told.known, (2ul * JOINS + 1) * 3);
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* Somebody who shares memory with the test, and maps code there when told to */
struct mapper {
	int go[2], done[2];
	char *volatile page;
};

static void mapper_init(struct mapper *mapper)
{
	ck_ok(pipe2(mapper->go, O_CLOEXEC));
	ck_ok(pipe2(mapper->done, O_CLOEXEC));
}

/* With no more of the library than its system calls: a process has it together with its parent. */
static void *map_when_told(void *arg)
{
	struct mapper *mapper = arg;
	char byte = 0;

	(void)!read(mapper->go[0], &byte, 1);
	mapper->page = map_code(NULL);
	(void)!write(mapper->done[1], &byte, 1);
	(void)!read(mapper->go[0], &byte, 1);
	return NULL;
}

static int map_in_process(void *arg)
{
	map_when_told(arg);
	return 0;
}

static void tell_mapper(struct mapper *mapper)
{
	ck_assert_int_eq(write(mapper->go[1], "", 1), 1);
}

/* While it waits it executes nothing in user mode. */
static void run_what_it_maps(struct mapper *mapper)
{
	char byte;

	tell_mapper(mapper);
	ck_assert_int_eq(read(mapper->done[0], &byte, 1), 1);
	ck_assert(mapper->page != MAP_FAILED);
	run_code(mapper->page, 100 * PERIOD);
}

/*
 * What the test executed there was told before it, but for one sample, which says so. With @other
 * it was told of that process as well.
 */
static void check_mapped_by_other(struct vperfctr_ring *ring, pid_t other, const char *page)
{
	struct page_told told = { .pid = getpid(), .page = (uintptr_t)page };
	struct page_told also = { .pid = other, .page = (uintptr_t)page };
	const struct perfctr_record *record;

	while ((record = vperfctr_ring_next(ring))) {
		follow(&told, record);
		follow(&also, record);
	}
	ck_assert_uint_eq(told.untold, 0);
	ck_assert_uint_eq(told.unknown, 1);
	ck_assert_uint_eq(told.maps, 1);
	ck_assert_uint_ge(told.known, 190);
	ck_assert_uint_eq(also.maps, other != 0);
	ck_assert_uint_eq(also.unknown, 0);
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
}

/* A thread of the process that nobody counts maps code, which a counted one executes. */
START_TEST(mapped_by_another_thread)
{
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	struct mapper mapper;
	pthread_t thread;
	int fd;

	mapper_init(&mapper);
	ck_assert_int_eq(pthread_create(&thread, NULL, map_when_told, &mapper), 0);
	fd = open_with_ring(PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, PAGES);
	control_samples(&control, PERIOD, 0);
	set_control(fd, &control);
	run_what_it_maps(&mapper);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	check_mapped_by_other(ring, 0, mapper.page);
	tell_mapper(&mapper);
	pthread_join(thread, NULL);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* A counted process that shares the memory does so: that is told of each of the two. */
START_TEST(mapped_by_another_process)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	struct mapper mapper;
	pid_t pid;
	int fd;

	mapper_init(&mapper);
	fd = open_with_ring(PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, PAGES);
	control_samples(&control, PERIOD, PERFCTR_CONTROL_INHERIT);
	set_control(fd, &control);
	pid = clone(map_in_process, stack + sizeof(stack), CLONE_VM | CLONE_FILES | CLONE_FS | SIGCHLD,
		    &mapper);
	ck_assert_int_gt(pid, 0);
	run_what_it_maps(&mapper);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	check_mapped_by_other(ring, pid, mapper.page);
	tell_mapper(&mapper);
	expect_exit(pid, 0);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/*
 * A child has what a FORK tells: nothing more is told of it before it makes a thread. From then on
 * that may map something.
 */
START_TEST(mapped_by_a_thread_of_a_child)
{
	struct page_told told = { .page = (uintptr_t)body_spin }, made = { .pid = 0 };
	struct perfctr_control control;
	const struct perfctr_record *record;
	struct mapper *mapper = shared_alloc(sizeof(*mapper));
	struct vperfctr_ring *ring;
	unsigned int alone = 0, samples = 0, beside = 0;
	bool has_thread = false;
	pthread_t thread;
	int fd;

	mapper_init(mapper);
	fd = open_with_ring(4 * PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, 4 * PAGES);
	control_samples(&control, PERIOD, PERFCTR_CONTROL_INHERIT);
	set_control(fd, &control);
	told.pid = fork();
	if (!told.pid) {
		body_spin(100 * PERIOD);
		if (pthread_create(&thread, NULL, map_when_told, mapper))
			_exit(1);
		run_what_it_maps(mapper);
		tell_mapper(mapper);
		_exit(0);
	}
	expect_exit(told.pid, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	made.pid = told.pid;
	made.page = (uintptr_t)mapper->page;
	while ((record = vperfctr_ring_next(ring))) {
		follow(&made, record);
		follow(&told, record);
		samples += record->type == PERFCTR_RECORD_SAMPLE && record->pid == told.pid;
		has_thread |= record->type == PERFCTR_RECORD_FORK && record->tid != record->pid;
		if (!has_thread)
			alone = samples;
		if (!told.maps)
			beside = samples - alone;
	}
	ck_assert_uint_eq(beside, 0);
	ck_assert_uint_ge(alone, 190);
	ck_assert_uint_eq(told.maps, 1);
	ck_assert_uint_eq(told.unmaps, 0);
	ck_assert_uint_eq(made.untold, 0);
	/* Until it waits it may be interrupted while the thread maps, and then looks itself. */
	ck_assert_uint_le(made.unknown, 1);
	ck_assert_uint_eq(made.maps, 1);
	ck_assert_uint_ge(made.known, 190);
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

#define EXECS 20

/* Samples by time of programs that were executed, by the place where they were taken */
struct around_execs {
	unsigned int within;	/* an exec: no address */
	unsigned int between;	/* the exec and what tells the new program's memory */
	unsigned int after;
};

/* Reads all that the ring has of processes that executed a program, which this one forked. */
static void count_around_execs(struct vperfctr_ring *ring, struct around_execs *count)
{
	const struct perfctr_record *record;
	bool told = true, execed = false, sure = false, unknown;
	pid_t me = getpid();

	while ((record = vperfctr_ring_next(ring))) {
		const struct perfctr_record_sample *sample = as_sample(record);

		if (record->pid == me)
			continue;
		if (record->type == PERFCTR_RECORD_FORK)
			execed = false;
		if (record->type == PERFCTR_RECORD_COMM && record->flags & PERFCTR_RECORD_EXEC) {
			execed = true;
			told = false;
			sure = false;
		}
		if (record->type == PERFCTR_RECORD_MAP)
			told = true;
		if (record->type != PERFCTR_RECORD_SAMPLE)
			continue;
		count->within += !execed && !sample->ip;
		count->between += !told;
		count->after += told && execed && sample->ip;
		if (!sample->ip)
			continue;
		/* With the mark there may be some between two MAPs, and none behind the last one. */
		unknown = record->flags & PERFCTR_RECORD_MAP_UNKNOWN;
		ck_assert(told || unknown);
		ck_assert(!sure || !unknown);
		sure = !unknown;
	}
}

/*
 * Samples by time come at any place of an exec: within it without an address, and after it, until
 * the new program's memory is told, with a mark.
 */
START_TEST(samples_between_exec_and_maps)
{
	/* In a kernel that checks itself a sample takes longer than the shortest period. */
	const unsigned int slower = getenv("SLOW_KERNEL") ? 10 : 1;
	struct around_execs count = { .within = 0 };
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	unsigned int i, rounds = 0;
	pid_t pid;
	int fd;

	fd = open_with_ring(16 * PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, 16 * PAGES);
	control_timer(&control, slower * PERFCTR_TIMER_MIN);
	control.flags |= PERFCTR_CONTROL_INHERIT;
	/* The memory is told within about a period, so only some execs have a sample before. */
	do {
		set_control(fd, &control);
		for (i = 0; i < EXECS; i++) {
			pid = fork();
			if (!pid) {
				execl(KNOWN_PATH, KNOWN_PATH, NULL);
				_exit(3);
			}
			expect_exit(pid, 0);
		}
		ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
		count_around_execs(ring, &count);
		rounds++;
		ck_assert_uint_ge(count.within, (unsigned long)rounds * EXECS);
		ck_assert_uint_ge(count.after, 50ul / slower * rounds * EXECS);
	} while (count.between < EXECS && rounds < 10);
	ck_assert_uint_ge(count.between, EXECS);
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

#define MANY_MAPPINGS 3000

struct changer {
	volatile bool stop;
	volatile unsigned long changes;
};

static void *change_all_the_time(void *arg)
{
	struct changer *changer = arg;

	while (!changer->stop) {
		char *page = map_code(NULL);

		if (page != MAP_FAILED)
			munmap(page, PAGE_SIZE);
		changer->changes++;
	}
	return NULL;
}

/* Bytes */
static uint64_t available_memory(void)
{
	char text[512] = "", *line;

	ck_assert_int_gt(read_text("/proc/meminfo", text, sizeof(text)), 0);
	line = strstr(text, "MemAvailable:");
	ck_assert_ptr_nonnull(line);
	return strtoull(line + strlen("MemAvailable:"), NULL, 10) << 10;
}

/* Instructions, with those in the kernel */
static uint64_t cost_of_loop(int fd)
{
	uint64_t before = read_sum(fd, 0);

	body_spin(100 * LOOPS);
	return read_sum(fd, 0) - before;
}

/*
 * Who has many mappings takes long to look at them all. Another who maps all the time makes a thread
 * that is sampled look for a tenth of its time at most. (Of its own mappings it tells at once.)
 */
START_TEST(changes_of_others_cost_little)
{
	struct changer changer = { .stop = false };
	const struct perfctr_record *record;
	struct page_told told = { .pid = getpid(), .page = (uintptr_t)body_spin };
	struct perfctr_control control;
	uint64_t alone, beside, free_before;
	struct vperfctr_ring *ring;
	pthread_t thread;
	unsigned int i;
	char *many;
	int fd;

	many = mmap(NULL, MANY_MAPPINGS * PAGE_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(many != MAP_FAILED);
	for (i = 0; i < MANY_MAPPINGS; i += 2)
		ck_ok(mprotect(many + i * PAGE_SIZE, PAGE_SIZE, PROT_NONE));
	fd = open_with_ring(16 * PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, 16 * PAGES);
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control.ctr[0].flags |= PERFCTR_CTR_KERNEL;
	control.flags = PERFCTR_CONTROL_RECORD;
	control_add_ictr(&control, EV_INSTRUCTIONS, -20011);
	set_control(fd, &control);
	alone = cost_of_loop(fd);
	ck_assert_int_eq(pthread_create(&thread, NULL, change_all_the_time, &changer), 0);
	while (changer.changes < 10)
		sched_yield();
	/* It may also interrupt this thread as it unmaps. */
	beside = cost_of_loop(fd);
	changer.stop = true;
	pthread_join(thread, NULL);
	/* In this emulator the time of two CPUs is one, and the other waits while this one looks. */
	ck_assert_msg(beside < 2 * alone, "%llu instructions, and %llu alone",
		      (unsigned long long)beside, (unsigned long long)alone);
	/* What is known of so many mappings takes 150 KB, and is replaced each time. */
	free_before = available_memory();
	for (i = 0; i < 400; i++) {
		char *page = map_code(NULL);

		ck_assert(page != MAP_FAILED);
		munmap(page, PAGE_SIZE);
	}
	ck_assert_uint_gt(available_memory() + (20 << 20), free_before);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((record = vperfctr_ring_next(ring)))
		follow(&told, record);
	ck_assert_uint_eq(told.untold, 0);
	ck_assert_uint_ge(told.unknown, 1);
	vperfctr_ring_unmap(ring);
	close(fd);
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

/* Each error, which leaves everything as it was. */
START_TEST(bad_rings)
{
	static const struct {
		struct perfctr_ring ring;
		int error;
	} bad[] = {
		{ { .size = 63, .pages = 1 }, EINVAL },
		{ { .size = PERFCTR_MAX_SIZE + 8, .pages = 1 }, E2BIG },
		{ { .size = 64 }, EINVAL },
		{ { .size = 64, .pages = 3 }, EINVAL },
		{ { .size = 64, .pages = 1u << 19 }, EINVAL },
		{ { .size = 64, .pages = 1u << 31 }, EINVAL },
		{ { .size = 64, .pages = 1, .flags = 16 }, EINVAL },
		{ { .size = 64, .pages = 1, .flags = 1u << 31 }, EINVAL },
		{ { .size = 64, .pages = 1, .flags = PERFCTR_RING_USER_CHAIN }, EINVAL },
		{ { .size = 64, .pages = 1, .user_depth = 1 }, EINVAL },
		{ { .size = 64, .pages = 1, .flags = PERFCTR_RING_USER_CHAIN, .user_depth = 128 }, EINVAL },
		{ { .size = 64, .pages = 1, .flags = PERFCTR_RING_KERNEL_CHAIN, .kernel_depth = 1 }, EINVAL },
		{ { .size = 64, .pages = 1, .kernel_depth = 1 }, EINVAL },
		{ { .size = 64, .pages = 1, .reserved = { 1 } }, EINVAL },
		{ { .size = 64, .pages = 1, .reserved = { [4] = 1ull << 63 } }, EINVAL },
		{ { .size = 64, .pages = 1, .flags = PERFCTR_RING_KERNEL }, EACCES },
		{ { .size = 64, .pages = 1u << 18 }, ENOMEM },
	};
	struct perfctr_control control, got;
	unsigned int i;
	int fd = open_self(), other;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct perfctr_ring ring = bad[i].ring;

		ck_assert_msg(ioctl(fd, PERFCTR_IOC_RING, &ring) == -1 && errno == bad[i].error,
			      "ring %u: %s, expected %s", i, strerror(errno), strerror(bad[i].error));
	}
	ck_errno(ioctl(fd, PERFCTR_IOC_RING, NULL), EFAULT);
	/* There is none. */
	control_samples(&control, PERIOD, 0);
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	ck_assert_ptr_eq(mmap(NULL, 2 * PAGE_SIZE, PROT_READ, MAP_SHARED, fd, PERFCTR_RING_OFFSET),
			 MAP_FAILED);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(make_ring_of(fd, 2, 0), 0);
	ck_assert_int_eq(make_ring_of(fd, 2, 0), -EEXIST);
	other = open_device();
	ck_errno(ioctl(other, PERFCTR_IOC_RING, &bad[0].ring), ENOTTY);
	close(other);
	/* Maps: of the whole ring, in its place, and shared */
	for (i = 1; i < 5; i++) {
		if (i == 3)
			continue;
		ck_assert_ptr_eq(mmap(NULL, i * PAGE_SIZE, PROT_READ, MAP_SHARED, fd,
				      PERFCTR_RING_OFFSET), MAP_FAILED);
		ck_assert_int_eq(errno, EINVAL);
	}
	ck_assert_ptr_eq(mmap(NULL, 3 * PAGE_SIZE, PROT_READ, MAP_PRIVATE, fd, PERFCTR_RING_OFFSET),
			 MAP_FAILED);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_eq(mmap(NULL, 3 * PAGE_SIZE, PROT_READ, MAP_SHARED, fd,
			      PERFCTR_RING_OFFSET + PAGE_SIZE), MAP_FAILED);
	ck_assert_int_eq(errno, EINVAL);
	/* Controls */
	control_samples(&control, PERIOD, 0);
	control.si_signo = SIGUSR1;
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	control_samples(&control, PERIOD, 0);
	control.refresh = 2;
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	control_samples(&control, PERIOD, 0);
	control.timer_ns = PERFCTR_TIMER_MIN - 1;
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	control.timer_ns = PERFCTR_TIMER_MAX + 1;
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	control_timer(&control, 0);
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	/* What was asked for is told again. */
	control.timer_ns = 500000;
	set_control(fd, &control);
	memset(&got, 0, sizeof(got));
	got.size = sizeof(got);
	got.ctr_offset = control.ctr_offset;
	got.ctr_size = control.ctr_size;
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &got));
	ck_assert_uint_eq(got.timer_ns, 500000);
	ck_assert_uint_eq(got.flags, PERFCTR_CONTROL_RECORD);
	ck_errno(ioctl(fd, PERFCTR_IOC_IRESUME), EINVAL);
	ck_errno(ioctl(fd, PERFCTR_IOC_REFRESH, 1), EINVAL);
	close(fd);
}
END_TEST

/* All rings of a user together are charged, and given back. */
START_TEST(memory_is_charged)
{
	struct rlimit limit = { 65536, 65536 };
	unsigned int i;
	int fd;

	ck_ok(setrlimit(RLIMIT_MEMLOCK, &limit));
	for (i = 0; i < 20; i++) {
		fd = open_self();
		ck_assert_int_eq(make_ring_of(fd, 16, 0), -ENOMEM);
		ck_assert_int_eq(make_ring_of(fd, 8, 0), 0);
		unlink_self(fd);
		close(fd);
		/* It is freed by a worker. */
		sleep_us(20000);
	}
	/* As much as the limit is allowed, and not a byte more. */
	limit.rlim_cur = 9 * PAGE_SIZE - 1;
	ck_ok(setrlimit(RLIMIT_MEMLOCK, &limit));
	fd = open_self();
	ck_assert_int_eq(make_ring_of(fd, 8, 0), -ENOMEM);
	limit.rlim_cur = 9 * PAGE_SIZE;
	ck_ok(setrlimit(RLIMIT_MEMLOCK, &limit));
	ck_assert_int_eq(make_ring_of(fd, 8, 0), 0);
	close(fd);
}
END_TEST

/* Only the thread itself makes its ring; a parent that was sent the handle may not. */
START_TEST(rings_of_others)
{
	struct perfctr_ring ring = { .size = sizeof(ring), .pages = 1 };
	struct perfctr_control control;
	int fd = open_self();
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(!(ioctl(fd, PERFCTR_IOC_RING, &ring) == -1 && errno == EPERM));
	expect_exit(pid, 0);
	/* What a child inherits writes to its root's. */
	control_init(&control);
	control.tsc_on = 1;
	control.flags = PERFCTR_CONTROL_INHERIT;
	set_control(fd, &control);
	pid = fork();
	if (!pid) {
		int own = try_open(0);

		_exit(own < 0 || !(ioctl(own, PERFCTR_IOC_RING, &ring) == -1 && errno == EBUSY));
	}
	expect_exit(pid, 0);
	close(fd);
}
END_TEST


#define PERFEX	"/usr/bin/perfex"
#define FILE_NAME "/tmp/test_record.rec"

/* What perfex has written: numbers of records by type, and the last one's */
struct written {
	unsigned int type[16];
	struct recfile_header header;
	struct recfile_counter counter[4];
	uint64_t records, lost;
	pid_t pid;
	bool whole;
};

static void read_file(struct written *written)
{
	static char data[4 << 20];
	const struct perfctr_record *record;
	size_t size, at;
	int fd;

	memset(written, 0, sizeof(*written));
	ck_ok(fd = open(FILE_NAME, O_RDONLY | O_CLOEXEC));
	size = read(fd, data, sizeof(data));
	close(fd);
	ck_assert_uint_gt(size, sizeof(written->header));
	ck_assert_uint_lt(size, sizeof(data));
	memcpy(&written->header, data, sizeof(written->header));
	ck_assert_int_eq(memcmp(written->header.magic, RECFILE_MAGIC, 8), 0);
	ck_assert_uint_le(written->header.nrctrs, 4);
	memcpy(written->counter, data + written->header.size,
	       written->header.nrctrs * sizeof(written->counter[0]));
	for (at = written->header.data; at < size; at += record->size) {
		record = (const void *)(data + at);
		ck_assert_uint_ge(record->size, sizeof(*record));
		ck_assert(!written->whole);
		if (record->type == RECFILE_END) {
			const struct recfile_end *end = (const void *)record;

			written->whole = true;
			ck_assert_uint_eq(end->records, written->records);
			written->lost = end->lost;
			continue;
		}
		written->records++;
		if (record->type < 16)
			written->type[record->type]++;
		if (record->type == PERFCTR_RECORD_SAMPLE)
			written->pid = record->pid;
	}
	ck_assert(written->whole);
}

static int perfex(const char *const argv[])
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execv(PERFEX, (char **)argv);
		_exit(99);
	}
	ck_ok(waitpid(pid, &status, 0));
	return status;
}

/* The file has each sample, and what counted. */
START_TEST(perfex_records)
{
	static const char *const argv[] = {
		"perfex", "record", "-g", "-c", "10007", "-e", "instructions:u,cycles:u", "-o", FILE_NAME,
		KNOWN_PATH, NULL,
	};
	struct written written;

	unlink(FILE_NAME);
	ck_assert_int_eq(perfex(argv), 0);
	read_file(&written);
	ck_assert_uint_eq(written.type[PERFCTR_RECORD_SAMPLE], KNOWN_LENGTH(KNOWN_LOOPS) / 10007);
	ck_assert_uint_eq(written.type[PERFCTR_RECORD_EXIT], 1);
	ck_assert_uint_ge(written.type[PERFCTR_RECORD_MAP], 1);
	ck_assert_uint_eq(written.lost, 0);
	ck_assert_uint_eq(written.header.nrctrs, 2);
	/* The one that interrupts is the last one. */
	ck_assert_str_eq(written.counter[0].name, "cycles");
	ck_assert_str_eq(written.counter[1].name, "instructions");
	ck_assert_uint_eq(written.counter[1].period, 10007);
	ck_assert_uint_eq(written.counter[1].flags, PERFCTR_CTR_USER);
	unlink(FILE_NAME);
	unlink(FILE_NAME ".old");
}
END_TEST

/*
 * Kills @pid when it was recorded for 300 ms. perfex has its file once it has attached, and before that
 * for a moment, to see whether it can have one.
 */
static void kill_recorded(pid_t pid)
{
	unsigned int ms = 0;

	while (ms < 300) {
		glob_t found;
		bool recorded = !glob(FILE_NAME ".??????", 0, NULL, &found);

		globfree(&found);
		ms = recorded ? ms + 1 : 0;
		sleep_us(1000);
	}
	kill(pid, SIGKILL);
}

/* A process that runs already, by time; until it is killed. */
START_TEST(perfex_records_a_process)
{
	char number[16];
	const char *const argv[] = {
		"perfex", "record", "-F", "2000", "-o", FILE_NAME, "-p", number, NULL,
	};
	struct written written;
	pid_t pid, killer;

	unlink(FILE_NAME);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	(void)snprintf(number, sizeof(number), "%d", pid);
	killer = fork();
	if (!killer) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		kill_recorded(pid);
		_exit(0);
	}
	ck_assert_int_eq(perfex(argv), 0);
	expect_exit(killer, 0);
	waitpid(pid, NULL, 0);
	read_file(&written);
	ck_assert_int_eq(written.pid, pid);
	ck_assert_uint_gt(written.type[PERFCTR_RECORD_SAMPLE], 20);
	ck_assert_uint_ge(written.type[PERFCTR_RECORD_MAP], 1);
	ck_assert_uint_eq(written.lost, 0);
	ck_assert_uint_eq(written.header.timer_ns, 500000);
	ck_assert_uint_eq(written.header.command_size, 0);
	unlink(FILE_NAME);
	unlink(FILE_NAME ".old");
}
END_TEST

/* A symbolic link is written through, and the old file is kept beside what it leads to. */
START_TEST(perfex_records_through_a_link)
{
	static const char *const argv[] = {
		"perfex", "record", "-F", "1000", "-o", FILE_NAME ".link", KNOWN_PATH, NULL, // NOLINT(bugprone-suspicious-missing-comma)
	};
	struct written written;
	struct stat st;
	unsigned int turn;

	unlink(FILE_NAME);
	unlink(FILE_NAME ".old");
	ck_ok(symlink(FILE_NAME, FILE_NAME ".link"));
	for (turn = 0; turn < 2; turn++) {
		ck_assert_int_eq(perfex(argv), 0);
		ck_ok(lstat(FILE_NAME ".link", &st));
		ck_assert(S_ISLNK(st.st_mode));
		ck_ok(lstat(FILE_NAME, &st));
		ck_assert(S_ISREG(st.st_mode));
		ck_assert_int_eq(access(FILE_NAME ".old", F_OK), turn ? 0 : -1);
		read_file(&written);
	}
	unlink(FILE_NAME);
	unlink(FILE_NAME ".old");
	unlink(FILE_NAME ".link");
}
END_TEST

/* What found no room in the file is told as lost, and what did is kept, whole. */
START_TEST(perfex_keeps_what_was_recorded)
{
	static const char *const argv[] = {
		"perfex", "record", "-c", "1009", "-e", "instructions:u", "-m", "1", "-o", FILE_NAME,
		KNOWN_PATH, NULL,
	};
	const struct rlimit small = { 16384, RLIM_INFINITY }, old = { RLIM_INFINITY, RLIM_INFINITY };
	const uint64_t all = KNOWN_LENGTH(KNOWN_LOOPS) / 1009;
	struct written written;
	glob_t found;
	unsigned int turn;
	int status = 0;

	/* Where perfex runs too seldom beside the program, most is lost and the rest has room. */
	for (turn = 0; !status && turn < 50; turn++) {
		unlink(FILE_NAME);
		unlink(FILE_NAME ".old");
		ck_ok(setrlimit(RLIMIT_FSIZE, &small));
		status = perfex(argv);
		ck_ok(setrlimit(RLIMIT_FSIZE, &old));
	}
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 125, "%#x", status);
	ck_assert_int_eq(access(FILE_NAME, F_OK), -1);
	ck_assert_int_eq(glob(FILE_NAME ".??????", 0, NULL, &found), 0);
	ck_assert_uint_eq(found.gl_pathc, 1);
	ck_ok(rename(found.gl_pathv[0], FILE_NAME));
	globfree(&found);
	read_file(&written);
	ck_assert_uint_gt(written.type[PERFCTR_RECORD_SAMPLE], 20);
	ck_assert_uint_ge(written.type[PERFCTR_RECORD_SAMPLE] + written.lost, all);
	ck_assert_uint_lt(written.type[PERFCTR_RECORD_SAMPLE] + written.lost, all + 40);
	unlink(FILE_NAME);
}
END_TEST

/* perfex's own failures are 125, wrong usage is 2, and both leave no file. */
START_TEST(perfex_cannot_record)
{
	static const char *const argvs[][8] = {
		{ "perfex", "record", "-o", FILE_NAME, "-e", "no-such-event", KNOWN_PATH },
		{ "perfex", "record", "-o", FILE_NAME, "-c", "1000", "-F", "10" },
		{ "perfex", "record", "-o", FILE_NAME, "-c", "1", KNOWN_PATH },
		{ "perfex", "record", "-o", FILE_NAME, "-m", "3", KNOWN_PATH },
		{ "perfex", "record", "-o", FILE_NAME, "-m", "262144", KNOWN_PATH },
		{ "perfex", "record", "-o", FILE_NAME },
		{ "perfex", "record", "-o", "/no/such/directory/file", KNOWN_PATH },
		{ "perfex", "record", "-o", FILE_NAME, "-p", "4000000" },
		{ "perfex", "record", "-o", "/tmp/%z", KNOWN_PATH },
	};
	static const int statuses[] = { 125, 2, 2, 2, 125, 2, 125, 2, 2 };
	const char *argv[10] = { NULL };
	unsigned int i, k;
	int status;

	unlink(FILE_NAME);
	for (i = 0; i < sizeof(argvs) / sizeof(argvs[0]); i++) {
		for (k = 0; k < 8; k++)
			argv[k] = argvs[i][k];
		/* Of the one with nine words the last did not fit. */
		argv[8] = i == 1 ? KNOWN_PATH : NULL;
		status = perfex(argv);
		ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == statuses[i],
			      "command %u ended with %#x", i, status);
		ck_assert_msg(access(FILE_NAME, F_OK), "command %u left a file", i);
	}
}
END_TEST

int main(void)
{
	guest_begin("record", "overflow_budget=1000000");
	GUEST_RUN(samples_of_a_loop, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(lost_records_are_counted, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(records_go_round, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(reader_scribbles, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(samples_of_an_exec, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(names_of_a_thread, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(samples_of_descendants, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
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
	GUEST_RUN(maps, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(mappings_are_split_and_joined, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(mapped_by_another_thread, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(mapped_by_another_process, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(mapped_by_a_thread_of_a_child, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(samples_between_exec_and_maps, NEED_COUNTERS | NEED_KPROBES | AS_USER);
	GUEST_RUN(changes_of_others_cost_little, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES);
	GUEST_RUN(samples_are_throttled, NEED_COUNTERS | NEED_INTERRUPT);
	GUEST_RUN(bad_rings, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(memory_is_charged, AS_USER);
	GUEST_RUN(rings_of_others, AS_USER);
	GUEST_RUN(perfex_records, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(perfex_records_a_process, NEED_KPROBES | AS_USER);
	GUEST_RUN(perfex_records_through_a_link, NEED_KPROBES | AS_USER);
	GUEST_RUN(perfex_keeps_what_was_recorded,
		  NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(perfex_cannot_record, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	return guest_end();
}
