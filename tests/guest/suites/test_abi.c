// SPDX-License-Identifier: GPL-2.0
/*
 * Bad input: it gets an errno with one documented meaning (docs/abi.md), changes nothing that
 * was running, and causes no kernel message. Raw ioctls, no library. test_abi_*.c have the calls
 * with more to ask.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/abi.h"

/*
 * Kernel and caller agree, whether they have 32 bits or 64. i386 aligns 64-bit members to 32
 * bits, so the structures must align them by themselves.
 */
#define LAYOUT(type, size, member, offset)				\
	_Static_assert(sizeof(struct type) == (size) &&			\
		       offsetof(struct type, member) == (offset), #type)
LAYOUT(perfctr_kernel_info, 192, events, 88);
LAYOUT(perfctr_cpus, 24, mask, 16);
LAYOUT(perfctr_open, 64, pidfd, 8);
LAYOUT(perfctr_ctr_control, 64, event, 8);
LAYOUT(perfctr_control, 4224, ctr, 128);
LAYOUT(perfctr_soft, 40, task_clock, 32);
LAYOUT(perfctr_read, 584, soft, 544);
LAYOUT(perfctr_read_tree, 624, soft, 584);
LAYOUT(perfctr_member, 608, soft, 568);
LAYOUT(perfctr_read_cpu, 544, sum, 32);
LAYOUT(perfctr_page_slot, 16, bias, 8);
LAYOUT(perfctr_page, 1680, slot, 288);

/* --- INFO --- */

static bool has_event(const struct perfctr_kernel_info *info, unsigned int type, unsigned int event)
{
	return info->events[type] >> (event & 63) & 1;
}

START_TEST(info_tells_the_truth)
{
	struct perfctr_kernel_info info = { .size = sizeof(info) };
	int dev = open_device();
	unsigned int i;

	ck_ok(ioctl(dev, PERFCTR_IOC_INFO, &info));
	ck_assert_uint_eq(info.size, sizeof(info));
	ck_assert_uint_eq(info.abi_version, PERFCTR_ABI_VERSION);
	ck_assert_uint_gt(strnlen(info.driver_version, sizeof(info.driver_version)), 0);
	ck_assert_uint_lt(strnlen(info.driver_version, sizeof(info.driver_version)),
			  sizeof(info.driver_version));
	ck_assert_uint_gt(info.tsc_hz, 0);
	ck_assert_uint_le(info.nrctrs, PERFCTR_MAX_CTRS);
	ck_assert_uint_le(info.user_read, PERFCTR_USER_READ_OPEN);
	for (i = 0; i < sizeof(info.reserved) / sizeof(info.reserved[0]); i++)
		ck_assert_uint_eq(info.reserved[i], 0);
	if (info.cpu_type == PERFCTR_RISCV_SBI) {
		ck_assert_uint_gt(info.nrctrs, 0);
		ck_assert_uint_ge(info.width, 32);
		ck_assert_uint_eq(info.counters & 2, 0);
		/* The events that the emulated machine has */
		ck_assert(has_event(&info, 0, EV_INSTRUCTIONS));
		ck_assert(has_event(&info, 0, EV_CYCLES));
		if (guest.nprogrammable == 0) {
			ck_assert_uint_eq(info.events[1], 0);
		} else {
			ck_assert(has_event(&info, 1, EV_DTLB_LOAD_MISSES));
			ck_assert(has_event(&info, 1, EV_DTLB_STORE_MISSES));
			ck_assert(has_event(&info, 1, EV_ITLB_LOAD_MISSES));
		}
		/* ... and one that it does not have: branch misses */
		ck_assert_uint_eq(info.events[0] & 1u << 6, 0);
	}
}
END_TEST

START_TEST(info_sizes)
{
	struct perfctr_kernel_info info = { .size = sizeof(info) };
	int dev = open_device();
	struct watch watch = watch_begin();
	unsigned int i;
	void *buf;

	info.size = sizeof(info) - 8;
	ck_errno(ioctl(dev, PERFCTR_IOC_INFO, &info), EINVAL);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_INFO, &info), EINVAL);
	info.size = 0;
	ck_errno(ioctl(dev, PERFCTR_IOC_INFO, &info), EINVAL);
	/* A member that only a later version knows is zero in this one. */
	buf = padded(&info, sizeof(info), sizeof(info) + 64, 0xaa);
	ck_ok(ioctl(dev, PERFCTR_IOC_INFO, buf));
	ck_assert_uint_eq(((struct perfctr_kernel_info *)buf)->abi_version, PERFCTR_ABI_VERSION);
	ck_assert_uint_eq(((struct perfctr_kernel_info *)buf)->size, sizeof(info) + 64);
	for (i = 0; i < 64; i++)
		ck_assert_uint_eq(((unsigned char *)buf)[sizeof(info) + i], 0);
	free(buf);
	/* Sizes that no structure of ours will ever have */
	buf = padded(&info, sizeof(info), PERFCTR_MAX_SIZE + 1, 0xaa);
	ck_errno(ioctl(dev, PERFCTR_IOC_INFO, buf), E2BIG);
	((struct perfctr_kernel_info *)buf)->size = PERFCTR_MAX_SIZE;
	ck_ok(ioctl(dev, PERFCTR_IOC_INFO, buf));
	ck_assert_uint_eq(((unsigned char *)buf)[PERFCTR_MAX_SIZE - 1], 0);
	ck_assert_uint_eq(((unsigned char *)buf)[PERFCTR_MAX_SIZE], 0xaa);
	((struct perfctr_kernel_info *)buf)->size = 0xffffffff;
	ck_errno(ioctl(dev, PERFCTR_IOC_INFO, buf), E2BIG);
	free(buf);
	watch_unchanged(&watch);
}
END_TEST

START_TEST(info_pointers)
{
	struct perfctr_kernel_info info = { .size = sizeof(info) };
	struct watch watch = watch_begin();

	bad_pointers(open_device(), PERFCTR_IOC_INFO, &info, sizeof(info), true);
	bad_pointers(watch.fd, PERFCTR_IOC_INFO, &info, sizeof(info), true);
	watch_unchanged(&watch);
}
END_TEST

/* --- CPUS --- */

START_TEST(cpus_masks)
{
	uint32_t words[64];
	struct perfctr_cpus cpus = {
		.size = sizeof(cpus), .nrwords = 64, .mask = (uintptr_t)words,
	};
	int dev = open_device();
	unsigned int i, online = 0;

	memset(words, 0xff, sizeof(words));
	ck_ok(ioctl(dev, PERFCTR_IOC_CPUS, &cpus));
	ck_assert_uint_gt(cpus.nrwords, 0);
	ck_assert_uint_le(cpus.nrwords, 64);
	for (i = 0; i < cpus.nrwords; i++)
		online += (unsigned int)__builtin_popcount(words[i]);
	ck_assert_uint_eq(online, guest.ncpus);
	ck_assert_uint_eq(words[0] & 1, 1);

	cpus.which = PERFCTR_CPUS_FORBIDDEN;
	cpus.nrwords = 64;
	memset(words, 0xff, sizeof(words));
	ck_ok(ioctl(dev, PERFCTR_IOC_CPUS, &cpus));
	for (i = 0; i < cpus.nrwords; i++)
		ck_assert_uint_eq(words[i], 0);
}
END_TEST

START_TEST(cpus_overflow)
{
	uint32_t words[65];
	struct perfctr_cpus cpus = { .size = sizeof(cpus), .mask = (uintptr_t)words };
	int dev = open_device();
	uint32_t needed;

	/* No room at all, not even a mask: asks for the size only. */
	cpus.mask = 0;
	ck_errno(ioctl(dev, PERFCTR_IOC_CPUS, &cpus), EOVERFLOW);
	needed = cpus.nrwords;
	ck_assert_uint_gt(needed, 0);
	ck_assert_uint_le(needed, 64);

	cpus.mask = (uintptr_t)words;
	cpus.nrwords = needed - 1;
	memset(words, 0x5a, sizeof(words));
	ck_errno(ioctl(dev, PERFCTR_IOC_CPUS, &cpus), EOVERFLOW);
	ck_assert_uint_eq(cpus.nrwords, needed);
	ck_assert_uint_eq(words[0], 0x5a5a5a5a);

	/* The size that EOVERFLOW gave is enough, and no more than that is written. */
	ck_ok(ioctl(dev, PERFCTR_IOC_CPUS, &cpus));
	ck_assert_uint_eq(cpus.nrwords, needed);
	ck_assert_uint_eq(words[needed], 0x5a5a5a5a);

	cpus.nrwords = 0xffffffff;
	ck_ok(ioctl(dev, PERFCTR_IOC_CPUS, &cpus));
	ck_assert_uint_eq(cpus.nrwords, needed);
	ck_assert_uint_eq(words[needed], 0x5a5a5a5a);
}
END_TEST

START_TEST(cpus_bad_input)
{
	uint32_t words[64];
	const struct perfctr_cpus good = {
		.size = sizeof(good), .nrwords = 64, .mask = (uintptr_t)words,
	};
	struct perfctr_cpus cpus = good;
	struct watch watch = watch_begin();
	int dev = open_device();
	void *buf;

	cpus.size = sizeof(cpus) - 8;
	ck_errno(ioctl(dev, PERFCTR_IOC_CPUS, &cpus), EINVAL);
	cpus = good;
	cpus.which = 2;
	ck_errno(ioctl(dev, PERFCTR_IOC_CPUS, &cpus), EINVAL);
	cpus = good;
	cpus.reserved = 1;
	ck_errno(ioctl(dev, PERFCTR_IOC_CPUS, &cpus), EINVAL);
	cpus = good;
	cpus.mask = BAD_ADDRESS;
	ck_errno(ioctl(dev, PERFCTR_IOC_CPUS, &cpus), EFAULT);
	cpus.mask = 0;
	ck_errno(ioctl(dev, PERFCTR_IOC_CPUS, &cpus), EFAULT);
	cpus.mask = (uintptr_t)read_only(words, sizeof(words));
	ck_errno(ioctl(dev, PERFCTR_IOC_CPUS, &cpus), EFAULT);
	buf = padded(&good, sizeof(good), sizeof(good) + 8, 0xaa);
	ck_errno(ioctl(dev, PERFCTR_IOC_CPUS, buf), E2BIG);
	free(buf);
	buf = padded(&good, sizeof(good), sizeof(good) + 8, 0);
	ck_ok(ioctl(dev, PERFCTR_IOC_CPUS, buf));
	free(buf);
	bad_pointers(dev, PERFCTR_IOC_CPUS, &good, sizeof(good), true);
	bad_pointers(watch.fd, PERFCTR_IOC_CPUS, &good, sizeof(good), true);
	ck_ok(ioctl(watch.fd, PERFCTR_IOC_CPUS, &good));
	watch_unchanged(&watch);
}
END_TEST

/* --- OPEN --- */

START_TEST(open_whether_there_is_one)
{
	int fd, second;

	ck_assert_int_eq(try_open(0), -ENOENT);
	fd = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL), -EEXIST);
	second = try_open(0);
	ck_assert_int_ge(second, 0);
	close(second);
	second = try_open(PERFCTR_OPEN_CREAT);
	ck_assert_int_ge(second, 0);
	close(second);
	unlink_self(fd);
	ck_assert_int_eq(try_open(0), -ENOENT);
	/* The old handle goes on beside a new state. */
	second = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);
	ck_assert_int_ge(second, 0);
	close(fd);
	close(second);
}
END_TEST

/* A file is a handle for good, of one state. */
START_TEST(open_once)
{
	struct perfctr_open arg = { .size = sizeof(arg), .flags = PERFCTR_OPEN_CREAT };
	struct watch watch = watch_begin();
	int dev = open_device();

	ck_errno(ioctl(watch.fd, PERFCTR_IOC_OPEN, &arg), ENOTTY);
	ck_ok(ioctl(dev, PERFCTR_IOC_OPEN, &arg));
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), ENOTTY);
	close(dev);
	watch_unchanged(&watch);
	unlink_self(watch.fd);
	/* Also when the state is gone */
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_OPEN, &arg), ENOTTY);
	ck_assert_int_eq(try_open(0), -ENOENT);
}
END_TEST

struct opener {
	pthread_barrier_t barrier;
	unsigned int won, late;
	int dev;
};

static void *open_at_once(void *arg)
{
	struct perfctr_open open_arg = { .size = sizeof(open_arg), .flags = PERFCTR_OPEN_CREAT };
	struct opener *opener = arg;
	int err, fd;

	(void)pthread_barrier_wait(&opener->barrier);
	err = ioctl(opener->dev, PERFCTR_IOC_OPEN, &open_arg) ? errno : 0;
	/* Only the thread that won has a state. */
	fd = try_open(0);
	if (!err && fd >= 0)
		__atomic_fetch_add(&opener->won, 1, __ATOMIC_RELAXED);
	else if (err == ENOTTY && fd == -ENOENT)
		__atomic_fetch_add(&opener->late, 1, __ATOMIC_RELAXED);
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* Threads that share a file: one of them gets it. */
START_TEST(open_races)
{
	unsigned int turn, i;
	pthread_t threads[4];

	for (turn = 0; turn < 50; turn++) {
		struct opener opener = { .dev = open_device() };

		ck_assert_int_eq(pthread_barrier_init(&opener.barrier, NULL, 4), 0);
		for (i = 0; i < 4; i++)
			ck_assert_int_eq(pthread_create(&threads[i], NULL, open_at_once, &opener), 0);
		for (i = 0; i < 4; i++)
			ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
		ck_assert_uint_eq(opener.won, 1);
		ck_assert_uint_eq(opener.late, 3);
		close(opener.dev);
	}
}
END_TEST

/* There is no way to a thread by its pidfd alone, and a thread's id is no pidfd. */
START_TEST(open_by_pidfd)
{
	struct perfctr_open arg = {
		.size = sizeof(arg), .flags = PERFCTR_OPEN_CREAT | PERFCTR_OPEN_PIDFD,
	};
	int dev = open_device();

	ck_ok(arg.pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0));
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), EINVAL);
	close(arg.pidfd);
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), EINVAL);
	arg.flags = PERFCTR_OPEN_CREAT;
	arg.pidfd = gettid();
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), EINVAL);
	arg.pidfd = -1;
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), EINVAL);
	ck_assert_int_eq(try_open(0), -ENOENT);
}
END_TEST

START_TEST(open_bad_input)
{
	const struct perfctr_open good = { .size = sizeof(good), .flags = PERFCTR_OPEN_CREAT };
	struct perfctr_open arg = good;
	struct watch watch = watch_begin();
	int dev = open_device();
	void *buf;

	arg.size = sizeof(arg) - 4;
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), EINVAL);
	arg.size = 0;
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), EINVAL);
	arg = good;
	arg.flags = 32;
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), EINVAL);
	arg.flags = PERFCTR_OPEN_CPUS | PERFCTR_OPEN_CREAT;
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), EINVAL);
	arg.flags = 0x80000000u | PERFCTR_OPEN_CREAT;
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), EINVAL);
	arg.flags = PERFCTR_OPEN_EXCL;
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), EINVAL);
	arg = good;
	arg.tid = 1;
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), EINVAL);
	arg = good;
	arg.reserved[5] = 1;
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, &arg), EINVAL);
	buf = padded(&good, sizeof(good), sizeof(good) + 4, 0xaa);
	ck_errno(ioctl(dev, PERFCTR_IOC_OPEN, buf), E2BIG);
	free(buf);
	bad_pointers(dev, PERFCTR_IOC_OPEN, &good, sizeof(good), false);
	buf = padded(&good, sizeof(good), sizeof(good) + 4, 0);
	ck_ok(ioctl(dev, PERFCTR_IOC_OPEN, buf));
	free(buf);
	watch_unchanged(&watch);
}
END_TEST

/* --- UNLINK --- */

START_TEST(unlink_is_final)
{
	struct watch watch = watch_begin();
	struct perfctr_read first, second;

	body_spin(100000);
	unlink_self(watch.fd);
	read_all(watch.fd, &first);
	ck_assert_uint_eq(first.flags & PERFCTR_READ_ATTACHED, 0);
	ck_assert_uint_ge(first.clock, watch.last.clock);
	if (has_counters())
		ck_assert_uint_ge(first.sum[0], watch.last.sum[0] + BODY_SPIN(100000));
	ck_assert_int_eq(try_control(watch.fd, &watch.control), -ESRCH);
	unlink_self(watch.fd);
	unlink_self(watch.fd);
	body_spin(100000);
	read_all(watch.fd, &second);
	ck_assert_mem_eq(&first, &second, sizeof(first));
}
END_TEST

/* --- IRESUME and REFRESH (more in test_overflow_calls.c), unknown ioctls, the wrong file --- */

START_TEST(nothing_to_resume)
{
	struct watch watch = watch_begin();

	ck_errno(ioctl(watch.fd, PERFCTR_IOC_IRESUME), EINVAL);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_REFRESH, 1), EINVAL);
	watch_unchanged(&watch);
}
END_TEST

START_TEST(unknown_ioctls)
{
	struct watch watch = watch_begin();
	int dev = open_device();
	unsigned int nr;

	for (nr = 0; nr < 256; nr++) {
		if ((nr >= 0x10 && nr <= 0x1d) || nr == 0x1f)
			continue;
		ck_errno(ioctl(watch.fd, _IO(PERFCTR_IOC_MAGIC, nr), &watch.control), ENOTTY);
		ck_errno(ioctl(dev, _IO(PERFCTR_IOC_MAGIC, nr), &watch.control), ENOTTY);
	}
	/* The right number with another direction or size is another ioctl. */
	ck_errno(ioctl(watch.fd, _IOWR(PERFCTR_IOC_MAGIC, 0x13, struct perfctr_control),
		       &watch.control), ENOTTY);
	ck_errno(ioctl(watch.fd, 0x5401, &watch.control), ENOTTY);
	watch_unchanged(&watch);
}
END_TEST

START_TEST(wrong_file)
{
	struct watch watch = watch_begin();
	struct perfctr_read rd = { .size = sizeof(rd) };
	int dev = open_device();

	ck_errno(ioctl(dev, PERFCTR_IOC_CONTROL, &watch.control), ENOTTY);
	ck_errno(ioctl(dev, PERFCTR_IOC_READ, &rd), ENOTTY);
	ck_errno(ioctl(dev, PERFCTR_IOC_READ_CONTROL, &watch.control), ENOTTY);
	ck_errno(ioctl(dev, PERFCTR_IOC_UNLINK), ENOTTY);
	ck_errno(ioctl(dev, PERFCTR_IOC_IRESUME), ENOTTY);
	ck_errno(ioctl(dev, PERFCTR_IOC_REFRESH, 1), ENOTTY);
	ck_errno(read(dev, &rd, sizeof(rd)), EINVAL);
	ck_assert_ptr_eq(mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, dev, 0), MAP_FAILED);
	ck_assert_int_eq(errno, ENODEV);
	watch_unchanged(&watch);
}
END_TEST

/* --- the device --- */

START_TEST(device_mode)
{
	int fd;

	ck_ok(fd = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC));
	close(fd);
}
END_TEST

int main(void)
{
	guest_begin("abi", NULL);
	GUEST_RUN(info_tells_the_truth, LOG_SILENT | AS_USER);
	GUEST_RUN(info_sizes, LOG_SILENT | AS_USER);
	GUEST_RUN(info_pointers, LOG_SILENT | AS_USER);
	GUEST_RUN(cpus_masks, LOG_SILENT | AS_USER);
	GUEST_RUN(cpus_overflow, LOG_SILENT | AS_USER);
	GUEST_RUN(cpus_bad_input, LOG_SILENT | AS_USER);
	GUEST_RUN(open_whether_there_is_one, LOG_SILENT | AS_USER);
	GUEST_RUN(open_once, LOG_SILENT | AS_USER);
	GUEST_RUN(open_by_pidfd, LOG_SILENT | AS_USER);
	GUEST_RUN(open_bad_input, LOG_SILENT | AS_USER);
	GUEST_RUN(open_races, LOG_SILENT | AS_USER);
	abi_control();
	GUEST_RUN(unlink_is_final, LOG_SILENT | AS_USER);
	abi_read();
	GUEST_RUN(nothing_to_resume, LOG_SILENT | AS_USER);
	GUEST_RUN(unknown_ioctls, LOG_SILENT | AS_USER);
	GUEST_RUN(wrong_file, LOG_SILENT | AS_USER);
	abi_map();
	abi_first();
	GUEST_RUN(device_mode, LOG_SILENT | AS_USER);
	return guest_end();
}
