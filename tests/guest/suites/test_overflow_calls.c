// SPDX-License-Identifier: GPL-2.0
/* i-mode counters: calls that an overflow meets, and calls that are refused. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/pairs.h"
#include "kit/perfside.h"
#include "kit/rivals.h"
#include "suites/overflow.h"

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

void overflow_calls(void)
{
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
}
