// SPDX-License-Identifier: GPL-2.0
/* Rings that are refused, what a ring costs, and rings of others. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "suites/record.h"

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

void record_rings(void)
{
	GUEST_RUN(bad_rings, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(memory_is_charged, AS_USER);
	GUEST_RUN(rings_of_others, AS_USER);
}
