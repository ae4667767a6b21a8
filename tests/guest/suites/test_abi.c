// SPDX-License-Identifier: GPL-2.0
/*
 * Bad input: it gets an errno with one documented meaning (docs/abi.md), changes nothing that
 * was running, and causes no kernel message. Raw ioctls, no library.
 */
#define _GNU_SOURCE
#if defined(__i386__)
#include <asm/ldt.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/abi_first.h"
#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"

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

#define BAD_ADDRESS 8ul
#define KERNEL_ADDRESS ((void *)-4096l)
#define BOTH (PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

static bool has_counters(void)
{
	return guest.nprogrammable != 0;
}

/*
 * A state that counts, as the victim of bad input: after each, its control must
 * read back the same and its counts must have gone on, exactly.
 */
struct watch {
	int fd;
	struct perfctr_control control;
	struct perfctr_read last;
};

static void read_control(int fd, struct perfctr_control *control)
{
	control_init(control);
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, control));
}

static struct watch watch_begin(void)
{
	struct perfctr_control control;
	struct watch watch;

	control_init(&control);
	control.tsc_on = 1;
	if (has_counters()) {
		control_add(&control, EV_INSTRUCTIONS);
		control_add(&control, EV_DTLB_STORE_MISSES);
	}
	watch.fd = open_self();
	set_control(watch.fd, &control);
	read_control(watch.fd, &watch.control);
	ck_assert_uint_eq(watch.control.nractrs, control.nractrs);
	read_all(watch.fd, &watch.last);
	return watch;
}

static void watch_unchanged(struct watch *watch)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	struct perfctr_control control;
	unsigned int i;

	read_control(watch->fd, &control);
	ck_assert_mem_eq(&control, &watch->control, sizeof(control));
	ck_assert_int_eq(exact_kernel(watch->fd, PERFCTR_IOC_READ, rd, body_spin, 1000), 0);
	ck_assert_uint_eq(rd[1].cstatus, watch->last.cstatus);
	ck_assert_uint_eq(rd[1].error, PERFCTR_ERROR_NONE);
	ck_assert_uint_eq(rd[1].flags, PERFCTR_READ_ATTACHED);
	ck_assert_uint_ge(rd[0].clock, watch->last.clock);
	for (i = 0; i < rd[1].nrctrs; i++)
		ck_assert_uint_ge(rd[0].sum[i], watch->last.sum[i]);
	if (has_counters())
		ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0],
				  EXACT_KERNEL + BODY_SPIN(1000));
	watch->last = rd[1];
}

/* A copy of @known with @size bytes; the bytes behind the first @len are @fill. */
static void *padded(const void *known, size_t len, size_t size, unsigned char fill)
{
	unsigned char *buf = malloc(size);

	ck_assert_ptr_nonnull(buf);
	memset(buf, fill, size);
	memcpy(buf, known, len);
	memcpy(buf, &(uint32_t){ (uint32_t)size }, sizeof(uint32_t));
	return buf;
}

/* A copy of @data that ends at the last byte of a page. The next page is not mapped. */
static void *at_page_end(const void *data, size_t mapped)
{
	char *area;

	area = mmap(NULL, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	ck_assert_ptr_ne(area, MAP_FAILED);
	ck_ok(munmap(area + PAGE_SIZE, PAGE_SIZE));
	memcpy(area + PAGE_SIZE - mapped, data, mapped);
	return area + PAGE_SIZE - mapped;
}

static const void *read_only(const void *data, size_t len)
{
	char *area;

	area = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(area, MAP_FAILED);
	memcpy(area, data, len);
	ck_ok(mprotect(area, PAGE_SIZE, PROT_READ));
	return area;
}

/* Every way in which an ioctl's pointer can be bad. */
static void bad_pointers(int fd, unsigned long cmd, const void *good, size_t len, bool writes)
{
	ck_errno(ioctl(fd, cmd, NULL), EFAULT);
	ck_errno(ioctl(fd, cmd, BAD_ADDRESS), EFAULT);
	ck_errno(ioctl(fd, cmd, KERNEL_ADDRESS), EFAULT);
	ck_errno(ioctl(fd, cmd, at_page_end(good, 2)), EFAULT);
	ck_errno(ioctl(fd, cmd, at_page_end(good, 4)), EFAULT);
	ck_errno(ioctl(fd, cmd, at_page_end(good, len - 1)), EFAULT);
	if (writes)
		ck_errno(ioctl(fd, cmd, read_only(good, len)), EFAULT);
}

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

/* --- CONTROL --- */

/* One way to spoil a good control, and the error that it gets */
struct spoiled {
	const char *how;
	void (*spoil)(struct perfctr_control *control);
	int err;
	bool counters;		/* makes sense only if there are counters */
	uint32_t refused;	/* the counter that is blamed */
};

#define SPOIL(name, statement) \
static void spoil_ ## name(struct perfctr_control *control) { statement; }

SPOIL(size_zero, control->size = 0)
SPOIL(size_one_byte, control->size = 1)
SPOIL(size_short, control->size = CONTROL_SIZE(0) - 8)
SPOIL(size_no_room, control->size = CONTROL_SIZE(control->nractrs - 1))
SPOIL(size_half_a_counter, control->size = CONTROL_SIZE(control->nractrs) - 4)
SPOIL(size_giant, control->size = 0xffffffff)
SPOIL(offset_short, control->ctr_offset = PERFCTR_CONTROL_SIZE_VER0 - 8)
SPOIL(offset_zero, control->ctr_offset = 0)
SPOIL(offset_odd, control->ctr_offset += 4)
SPOIL(offset_beyond, control->ctr_offset = control->size + 8)
SPOIL(offset_wraps, control->ctr_offset = 0xfffffff8)
SPOIL(stride_short, control->ctr_size = PERFCTR_CTR_CONTROL_SIZE_VER0 - 8)
SPOIL(stride_zero, control->ctr_size = 0)
SPOIL(stride_odd, control->ctr_size += 4)
SPOIL(stride_beyond, control->ctr_size = (control->size - CONTROL_SIZE(0)) / 2 + 8)
SPOIL(stride_wraps, control->ctr_size = 0x80000000)
SPOIL(flags, control->flags = 1u << 30)
SPOIL(flags_top, control->flags = 0x80000000)
SPOIL(tsc_on_two, control->tsc_on = 2)
SPOIL(nractrs_too_many, control->nractrs = PERFCTR_MAX_CTRS + 1)
SPOIL(nractrs_giant, control->nractrs = 0xffffffff)
SPOIL(nractrs_wraps, control->nractrs = 0xffffffff; control->nrictrs = 3)
SPOIL(nrictrs_one, control->nractrs--; control->nrictrs = 1)
SPOIL(signo, control->si_signo = SIGUSR1)
SPOIL(signo_bad, control->si_signo = -1)
SPOIL(preserve_beyond, control->preserve = 1ull << 32)
SPOIL(preserve_top, control->preserve = 1ull << 63)
SPOIL(refresh, control->refresh = 1)
SPOIL(refresh_top, control->refresh = 1ull << 63)
SPOIL(reserved0, control->reserved0 = 1)
SPOIL(timer_ns, control->timer_ns = PERFCTR_TIMER_MIN)
SPOIL(record, control->flags |= PERFCTR_CONTROL_RECORD)
SPOIL(reserved, control->reserved[0] = 1)
SPOIL(reserved_last, control->reserved[4] = 1ull << 63)
SPOIL(cpu_without_flag, control->cpu = 1)
SPOIL(cpu_impossible, control->flags |= PERFCTR_CONTROL_CPU; control->cpu = 0xffffffff)
SPOIL(cpu_high, control->flags |= PERFCTR_CONTROL_CPU; control->reserved0 = 0x80000000)
SPOIL(source, control->source = PERFCTR_SOURCE_ANY + 1)
SPOIL(ctr_flags_none, control->ctr[0].flags = 0)
SPOIL(ctr_flags_unknown, control->ctr[0].flags = 8 | PERFCTR_CTR_USER)
SPOIL(ctr_flags_top, control->ctr[1].flags |= 0x80000000)
SPOIL(ctr_reserved, control->ctr[0].reserved[0] = 1)
SPOIL(ctr_reserved_last, control->ctr[1].reserved[1] = 1ull << 40)
SPOIL(ctr_config1, control->ctr[0].config1 = 1)
SPOIL(ctr_config2, control->ctr[1].config2 = 1ull << 63)
SPOIL(ireset, control->ctr[0].ireset = -1)
SPOIL(config, control->ctr[0].config = 1)
SPOIL(map_beyond, control->ctr[0].map = 32)
SPOIL(map_giant, control->ctr[0].map = 0xfffffffe)
SPOIL(event_missing, control->ctr[0].event = EV_MISSING)
SPOIL(event_high, control->ctr[0].event = 1ull << 36 | EV_INSTRUCTIONS)
SPOIL(event_top, control->ctr[0].event = 1ull << 63 | EV_INSTRUCTIONS)
SPOIL(event_last_counter, control->ctr[1].event = EV_MISSING)
#if defined(__x86_64__) || defined(__i386__)
/* Of a Pentium 4's CCCR these are a filter, and bits 10 to 0 are reserved. */
#define RESERVED(bit)	(is_p4() ? 1u << (bit) % 11 : 1u << (bit))
SPOIL(map_missing, control->ctr[0].map = 23)
SPOIL(map_missing_fixed, control->ctr[0].map = 31)
SPOIL(map_rdpmc, control->ctr[0].map = 0x40000000)
SPOIL(map_twice, control->ctr[0].map = 1; control->ctr[1].map = 1)
SPOIL(map_fixed_twice, control->ctr[0].map = 25; control->ctr[1] = control->ctr[0])
SPOIL(map_instructions_cycles, control->ctr[0].map = 24; control->ctr[0].event = EV_CYCLES)
SPOIL(map_cycles_instructions, control->ctr[0].map = 25; control->ctr[0].event = EV_INSTRUCTIONS)
SPOIL(map_reference_cycles, control->ctr[0].map = 26; control->ctr[0].event = EV_CYCLES)
SPOIL(map_fixed_edge, control->ctr[0].map = 25; control->ctr[0].event = EV_CYCLES | 1u << 18)
SPOIL(map_fixed_mask, control->ctr[0].map = 25; control->ctr[0].event = EV_CYCLES | 1u << 24)
SPOIL(event_usr_alone, control->ctr[0].event |= 1u << 16)
SPOIL(event_enabled_alone, control->ctr[0].event |= RESERVED(22))
SPOIL(event_os_too, control->ctr[0].event |= 1u << 16 | 1u << 17 | 1u << 22)
SPOIL(event_interrupts, control->ctr[0].event |= 1u << 16 | 1u << 20 | 1u << 22)
SPOIL(event_pin_control, control->ctr[0].event |= RESERVED(19))
SPOIL(event_any_thread, control->ctr[0].event |= RESERVED(21))
SPOIL(event_guest_only, control->ctr[0].event |= 1ull << 40)
SPOIL(event_host_only, control->ctr[0].event |= 1ull << 41)
#elif defined(__powerpc__)
/* Both registers are of the control as a whole. */
#define CONFIG(bits) control->ctr[0].config = (bits), control->ctr[1].config = (bits)
SPOIL(map_missing, control->ctr[0].map = 6)
SPOIL(map_far, control->ctr[0].map = 64)
SPOIL(map_twice, control->ctr[0].map = 1; control->ctr[1].map = 1)
SPOIL(event_far_on_second, control->ctr[1].map = 1; control->ctr[1].event = 64)
SPOIL(event_far_on_third, control->ctr[0].map = 2; control->ctr[0].event = 32)
SPOIL(event_of_one_counter, control->ctr[0].event = 23)
SPOIL(modes_differ, control->ctr[1].flags |= PERFCTR_CTR_KERNEL)
SPOIL(registers_differ, control->ctr[1].config = 1u << 16)
SPOIL(mmcr0_fc, CONFIG(1u << 31))
SPOIL(mmcr0_fcs, CONFIG(1u << 30))
SPOIL(mmcr0_fcp, CONFIG(1u << 29))
SPOIL(mmcr0_pmxe, CONFIG(1u << 26))
SPOIL(mmcr0_pmc1sel, CONFIG(1u << 6))
SPOIL(mmcr0_pmc2sel, CONFIG(1u << 5))
SPOIL(mmcr2_smcntenable, CONFIG(1ull << 62))
SPOIL(mmcr2_smintenable, CONFIG(1ull << 61))
SPOIL(mmcr2_last, CONFIG(1ull << 32))
#else
SPOIL(map_time, control->ctr[0].map = 1)
SPOIL(map_missing, control->ctr[0].map = 31)
SPOIL(map_far, control->ctr[0].map = 64)
SPOIL(map_twice, control->ctr[0].map = 5; control->ctr[1].map = 5)
SPOIL(map_cycle_instructions, control->ctr[0].map = 0; control->ctr[0].event = EV_INSTRUCTIONS)
SPOIL(map_instret_cycles, control->ctr[0].map = 2; control->ctr[0].event = EV_CYCLES)
SPOIL(map_instret_tlb, control->ctr[0].map = 2; control->ctr[0].event = EV_DTLB_LOAD_MISSES)
SPOIL(event_none, control->ctr[0].event = 0)
SPOIL(event_hw_undefined, control->ctr[0].event = 11)
SPOIL(event_hw_far, control->ctr[0].event = 0xffff)
SPOIL(event_cache_missing, control->ctr[0].event = 0x10001)
SPOIL(event_cache_undefined, control->ctr[0].event = 0x10000 | 7 << 3)
SPOIL(event_cache_bad_op, control->ctr[0].event = 0x10000 | 3 << 3 | 3 << 1)
SPOIL(event_cache_far, control->ctr[0].event = 0x1ffff)
SPOIL(event_raw_missing, control->ctr[0].event = 0x20000; control->ctr[0].config = 0x7777)
SPOIL(event_raw_code, control->ctr[0].event = 0x20001)
SPOIL(event_type_undefined, control->ctr[0].event = 0x40000)
SPOIL(event_type_undefined_last, control->ctr[0].event = 0xe0001)
SPOIL(event_firmware, control->ctr[0].event = 0xf0005)
SPOIL(event_beyond, control->ctr[0].event = 0x100000 | EV_INSTRUCTIONS)
#endif

/* @refused: not written; the whole control; the counter to blame */
#define UNTOLD 77
#define BAD_UNREAD(name, err, counters) { #name, spoil_ ## name, err, counters, UNTOLD }
#define BAD(name, err, counters) { #name, spoil_ ## name, err, counters, PERFCTR_NO_INDEX }
#define BAD_CTR(name, err, refused) { #name, spoil_ ## name, err, true, refused }

static const struct spoiled spoils[] = {
	BAD_UNREAD(size_zero, EINVAL, false),
	BAD_UNREAD(size_one_byte, EINVAL, false),
	BAD_UNREAD(size_short, EINVAL, false),
	BAD_UNREAD(size_no_room, EINVAL, true),
	BAD_UNREAD(size_half_a_counter, EINVAL, true),
	BAD_UNREAD(size_giant, E2BIG, false),
	BAD_UNREAD(offset_short, EINVAL, false),
	BAD_UNREAD(offset_zero, EINVAL, false),
	BAD_UNREAD(offset_odd, EINVAL, false),
	BAD_UNREAD(offset_beyond, EINVAL, false),
	BAD_UNREAD(offset_wraps, EINVAL, false),
	BAD_UNREAD(stride_short, EINVAL, false),
	BAD_UNREAD(stride_zero, EINVAL, false),
	BAD_UNREAD(stride_odd, EINVAL, false),
	BAD_UNREAD(stride_beyond, EINVAL, true),
	BAD_UNREAD(stride_wraps, EINVAL, true),
	BAD(flags, EINVAL, false),
	BAD(flags_top, EINVAL, false),
	BAD(tsc_on_two, EINVAL, false),
	BAD_UNREAD(nractrs_too_many, EINVAL, false),
	BAD_UNREAD(nractrs_giant, EINVAL, false),
	BAD_UNREAD(nractrs_wraps, EINVAL, false),
	BAD_CTR(nrictrs_one, EINVAL, 1),
	BAD(signo, EINVAL, false),
	BAD(signo_bad, EINVAL, false),
	BAD(reserved, EINVAL, false),
	BAD(reserved_last, EINVAL, false),
	BAD(reserved0, EINVAL, false),
	BAD(timer_ns, EINVAL, false),
	BAD(record, EINVAL, false),
	BAD(cpu_without_flag, EINVAL, false),
	BAD(cpu_impossible, EINVAL, false),
	BAD(cpu_high, EINVAL, false),
	BAD(source, EINVAL, false),
	BAD(preserve_beyond, EINVAL, false),
	BAD(preserve_top, EINVAL, false),
	BAD(refresh, EINVAL, false),
	BAD(refresh_top, EINVAL, false),
	BAD_CTR(ctr_flags_none, EINVAL, 0),
	BAD_CTR(ctr_flags_unknown, EINVAL, 0),
	BAD_CTR(ctr_flags_top, EINVAL, 1),
	BAD_CTR(ctr_reserved, EINVAL, 0),
	BAD_CTR(ctr_reserved_last, EINVAL, 1),
	BAD_CTR(ctr_config1, EINVAL, 0),
	BAD_CTR(ctr_config2, EINVAL, 1),
	BAD_CTR(ireset, EINVAL, 0),
	BAD_CTR(config, EINVAL, 0),
	BAD_CTR(map_beyond, EINVAL, 0),
	BAD_CTR(map_giant, EINVAL, 0),
	BAD_CTR(event_missing, EINVAL, 0),
	BAD_CTR(event_high, EINVAL, 0),
	BAD_CTR(event_top, EINVAL, 0),
	BAD_CTR(event_last_counter, EINVAL, 1),
#if defined(__x86_64__) || defined(__i386__)
	BAD_CTR(map_missing, EINVAL, 0),
	BAD_CTR(map_missing_fixed, EINVAL, 0),
	BAD_CTR(map_rdpmc, EINVAL, 0),
	BAD_CTR(map_twice, EINVAL, 1),
	BAD_CTR(map_fixed_twice, EINVAL, 1),
	BAD_CTR(map_instructions_cycles, EINVAL, 0),
	BAD_CTR(map_cycles_instructions, EINVAL, 0),
	BAD_CTR(map_reference_cycles, EINVAL, 0),
	BAD_CTR(map_fixed_edge, EINVAL, 0),
	BAD_CTR(map_fixed_mask, EINVAL, 0),
	BAD_CTR(event_usr_alone, EINVAL, 0),
	BAD_CTR(event_enabled_alone, EINVAL, 0),
	BAD_CTR(event_os_too, EINVAL, 0),
	BAD_CTR(event_interrupts, EINVAL, 0),
	BAD_CTR(event_pin_control, EINVAL, 0),
	BAD_CTR(event_any_thread, EINVAL, 0),
	BAD_CTR(event_guest_only, EINVAL, 0),
	BAD_CTR(event_host_only, EINVAL, 0),
#elif defined(__powerpc__)
	BAD_CTR(map_missing, EINVAL, 0),
	BAD_CTR(map_far, EINVAL, 0),
	BAD_CTR(map_twice, EINVAL, 1),
	BAD_CTR(event_far_on_second, EINVAL, 1),
	BAD_CTR(event_far_on_third, EINVAL, 0),
	BAD_CTR(event_of_one_counter, EINVAL, 0),
	BAD_CTR(modes_differ, EINVAL, 1),
	BAD_CTR(registers_differ, EINVAL, 1),
	BAD_CTR(mmcr0_fc, EINVAL, 0),
	BAD_CTR(mmcr0_fcs, EINVAL, 0),
	BAD_CTR(mmcr0_fcp, EINVAL, 0),
	BAD_CTR(mmcr0_pmxe, EINVAL, 0),
	BAD_CTR(mmcr0_pmc1sel, EINVAL, 0),
	BAD_CTR(mmcr0_pmc2sel, EINVAL, 0),
	BAD_CTR(mmcr2_smcntenable, EINVAL, 0),
	BAD_CTR(mmcr2_smintenable, EINVAL, 0),
	BAD_CTR(mmcr2_last, EINVAL, 0),
#else
	BAD_CTR(map_time, EINVAL, 0),
	BAD_CTR(map_missing, EINVAL, 0),
	BAD_CTR(map_far, EINVAL, 0),
	BAD_CTR(map_twice, EINVAL, 1),
	BAD_CTR(map_cycle_instructions, EINVAL, 0),
	BAD_CTR(map_instret_cycles, EINVAL, 0),
	BAD_CTR(map_instret_tlb, EINVAL, 0),
	BAD_CTR(event_none, EINVAL, 0),
	BAD_CTR(event_hw_undefined, EINVAL, 0),
	BAD_CTR(event_hw_far, EINVAL, 0),
	BAD_CTR(event_cache_missing, EINVAL, 0),
	BAD_CTR(event_cache_undefined, EINVAL, 0),
	BAD_CTR(event_cache_bad_op, EINVAL, 0),
	BAD_CTR(event_cache_far, EINVAL, 0),
	BAD_CTR(event_raw_missing, EINVAL, 0),
	BAD_CTR(event_raw_code, EINVAL, 0),
	BAD_CTR(event_type_undefined, EINVAL, 0),
	BAD_CTR(event_type_undefined_last, EINVAL, 0),
	BAD_CTR(event_firmware, EOPNOTSUPP, 0),
	BAD_CTR(event_beyond, EINVAL, 0),
#endif
};

/* Without fixed counters, as on the P6, the first counter that names one is to blame. */
static uint32_t blamed(const struct spoiled *spoiled)
{
	if (!strcmp(spoiled->how, "map_fixed_twice"))
		return guest.info.counters >> 25 & 1;
	return spoiled->refused;
}

/*
 * Run as root, so that no control is refused for want of privilege first, and as user, so
 * that no refusal depends on having it.
 */
static void spoil_controls(void)
{
	struct watch watch = watch_begin();
	struct perfctr_control control;
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
		if (spoils[i].counters && !has_counters())
			continue;
		control_init(&control);
		control.tsc_on = 1;
		if (has_counters()) {
			control_add(&control, EV_CYCLES);
			control_add(&control, EV_DTLB_LOAD_MISSES);
		}
		control.owner = UNTOLD;
		control.refused = UNTOLD;
		control.possible = UNTOLD;
		spoils[i].spoil(&control);
		err = try_control(watch.fd, &control);
		ck_assert_msg(err == -spoils[i].err, "%s: %s, expected %s", spoils[i].how,
			      err ? strerror(-err) : "succeeded", strerror(spoils[i].err));
		ck_assert_msg(control.refused == blamed(&spoils[i]), "%s: refused is %u",
			      spoils[i].how, control.refused);
		ck_assert_uint_eq(control.owner, spoils[i].refused == UNTOLD ? UNTOLD :
						 PERFCTR_OWNER_NONE);
		if (spoils[i].refused == UNTOLD)
			ck_assert_uint_eq(control.possible, UNTOLD);
		else
			ck_assert_uint_eq(control.possible != 0,
					  control.reason == PERFCTR_REASON_COUNTER);
		watch_unchanged(&watch);
	}
}

START_TEST(control_bad_input)
{
	spoil_controls();
}
END_TEST

START_TEST(control_bad_input_as_user)
{
	spoil_controls();
}
END_TEST

/*
 * Stock QEMU counts an event on one counter only; then the control is refused, as the other
 * counter's zero would be no count. Other machines count the event twice.
 */
START_TEST(control_event_twice)
{
	struct watch watch = watch_begin();
	struct perfctr_control control;
	struct perfctr_read rd;
	int err;

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control_add(&control, EV_INSTRUCTIONS);
	err = try_control(watch.fd, &control);
	if (err) {
		ck_assert_int_eq(err, -EOPNOTSUPP);
		watch_unchanged(&watch);
		return;
	}
	read_all(watch.fd, &rd);
	ck_assert_uint_gt(rd.sum[0], 0);
	ck_assert_uint_eq(rd.sum[0], rd.sum[1]);
}
END_TEST

/* A control of a later version, whose head and counters are @more bytes longer */
static unsigned char *longer(const struct perfctr_control *control, uint32_t more)
{
	uint32_t offset = CONTROL_SIZE(0) + more;
	uint32_t stride = sizeof(control->ctr[0]) + more;
	unsigned char *buf = calloc(1, offset + control->nractrs * stride);
	struct perfctr_control *to = (struct perfctr_control *)buf;
	unsigned int i;

	ck_assert_ptr_nonnull(buf);
	memcpy(buf, control, CONTROL_SIZE(0));
	to->size = offset + control->nractrs * stride;
	to->ctr_offset = offset;
	to->ctr_size = stride;
	for (i = 0; i < control->nractrs; i++)
		memcpy(buf + offset + (size_t)i * stride, &control->ctr[i], sizeof(control->ctr[i]));
	return buf;
}

START_TEST(control_sizes)
{
	struct watch watch = watch_begin();
	struct perfctr_control control = watch.control;
	unsigned int i, n = control.nractrs, more, last;
	unsigned char *buf, *back;

	for (more = 8; more <= 64; more += 8) {
		buf = longer(&watch.control, more);
		ck_ok(ioctl(watch.fd, PERFCTR_IOC_CONTROL, buf));
		read_all(watch.fd, &watch.last);
		/* READ_CONTROL uses this layout, with zeroes where the module knows no member. */
		back = longer(&watch.control, more);
		memset(back + 16, 0xaa, ((struct perfctr_control *)back)->size - 16);
		ck_ok(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, back));
		ck_assert_mem_eq(back, buf, ((struct perfctr_control *)buf)->size);
		/* One byte that the module does not know: the last of the head, or of a counter */
		last = CONTROL_SIZE(0) + more;
		for (i = 0; i <= n; i++, last += (unsigned int)sizeof(control.ctr[0]) + more) {
			buf[last - 1] = 1;
			ck_errno(ioctl(watch.fd, PERFCTR_IOC_CONTROL, buf), E2BIG);
			buf[last - 1] = 0;
			watch_unchanged(&watch);
		}
		/* Counters may not overlap members that the module knows. */
		((struct perfctr_control *)buf)->ctr_offset = CONTROL_SIZE(0) - 8;
		ck_errno(ioctl(watch.fd, PERFCTR_IOC_CONTROL, buf), EINVAL);
		ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, buf), EINVAL);
		watch_unchanged(&watch);
		free(buf);
		free(back);
	}
	/* The largest size. What is behind the last counter does not matter. */
	buf = malloc(PERFCTR_MAX_SIZE + 1);
	ck_assert_ptr_nonnull(buf);
	memset(buf, 0xaa, PERFCTR_MAX_SIZE + 1);
	memcpy(buf, &watch.control, CONTROL_SIZE(n));
	((struct perfctr_control *)buf)->size = PERFCTR_MAX_SIZE;
	ck_ok(ioctl(watch.fd, PERFCTR_IOC_CONTROL, buf));
	read_all(watch.fd, &watch.last);
	ck_ok(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, buf));
	ck_assert_uint_eq(buf[PERFCTR_MAX_SIZE - 1], 0);
	((struct perfctr_control *)buf)->size = PERFCTR_MAX_SIZE + 1;
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_CONTROL, buf), E2BIG);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, buf), E2BIG);
	free(buf);
	watch_unchanged(&watch);

	/* Exactly as long as it must be, at the end of mapped memory */
	control.size = CONTROL_SIZE(n);
	ck_ok(ioctl(watch.fd, PERFCTR_IOC_CONTROL, at_page_end(&control, control.size)));
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_CONTROL, at_page_end(&control, control.size - 1)),
		 EFAULT);
}
END_TEST

START_TEST(control_pointers)
{
	struct watch watch = watch_begin();
	struct perfctr_control control = watch.control;

	/* Every byte of it is read. */
	control.size = CONTROL_SIZE(control.nractrs);
	bad_pointers(watch.fd, PERFCTR_IOC_CONTROL, &control, control.size, true);
	watch_unchanged(&watch);
}
END_TEST

/*
 * More counters than the machine has. They cannot all count different events, and this
 * machine counts an event once only: either may be the reason of the refusal.
 */
START_TEST(control_too_many_counters)
{
	struct watch watch = watch_begin();
	struct perfctr_control control;
	unsigned int i;
	int err;

	control_init(&control);
	for (i = 0; i <= guest.info.nrctrs; i++)
		control_add(&control, EV_CYCLES);
	ck_assert_uint_le(control.nractrs, PERFCTR_MAX_CTRS);
	err = try_control(watch.fd, &control);
	ck_assert_msg(err == -EINVAL || err == -EOPNOTSUPP, "%s", strerror(-err));
	watch_unchanged(&watch);
}
END_TEST

START_TEST(kernel_counting_needs_privilege)
{
	static const uint32_t flags[] = { PERFCTR_CTR_KERNEL, BOTH };
	struct watch watch = watch_begin();
	struct perfctr_control control;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		control_init(&control);
		/* On ppc32 all counters of a control count the same modes. */
		control_add_at(&control, PERFCTR_MAP_ANY, EV_CYCLES,
			       is_ppc() ? flags[i] : PERFCTR_CTR_USER);
		control_add_at(&control, PERFCTR_MAP_ANY, EV_DTLB_LOAD_MISSES, flags[i]);
		ck_assert_int_eq(try_control(watch.fd, &control), -EACCES);
		ck_assert_uint_eq(control.refused, is_ppc() ? 0 : 1);
		ck_assert_uint_eq(control.owner, PERFCTR_OWNER_NONE);
		watch_unchanged(&watch);
	}
}
END_TEST

START_TEST(unfiltered_counting_needs_privilege)
{
	struct watch watch = watch_begin();
	struct perfctr_control control;

	control_init(&control);
	control_add_at(&control, 0, EV_CYCLES, BOTH);
	ck_assert_int_eq(try_control(watch.fd, &control), -EACCES);
	watch_unchanged(&watch);
	control_init(&control);
	control_add_at(&control, 2, EV_INSTRUCTIONS, BOTH);
	ck_assert_int_eq(try_control(watch.fd, &control), -EACCES);
	watch_unchanged(&watch);
}
END_TEST

/* A counter without a filter is refused with a restriction, whoever asks. */
static void restrict_fixed(void)
{
	static const uint32_t flags[] = { PERFCTR_CTR_USER, PERFCTR_CTR_KERNEL };
	struct watch watch = watch_begin();
	struct perfctr_control control;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		control_init(&control);
		control_add_at(&control, 0, EV_CYCLES, flags[i]);
		ck_assert_int_eq(try_control(watch.fd, &control), -EOPNOTSUPP);
		watch_unchanged(&watch);
		control_init(&control);
		control_add_at(&control, 2, EV_INSTRUCTIONS, flags[i]);
		ck_assert_int_eq(try_control(watch.fd, &control), -EOPNOTSUPP);
		watch_unchanged(&watch);
	}
}

START_TEST(fixed_counters_have_no_filter)
{
	restrict_fixed();
}
END_TEST

START_TEST(fixed_counters_have_no_filter_as_user)
{
	restrict_fixed();
}
END_TEST

START_TEST(fixed_counters_count)
{
	struct perfctr_control control;
	struct perfctr_read a, b;
	int fd = open_self();

	control_init(&control);
	control.tsc_on = 1;
	control_add_at(&control, 0, EV_CYCLES, BOTH);
	control_add_at(&control, 2, EV_INSTRUCTIONS, BOTH);
	set_control(fd, &control);
	read_all(fd, &a);
	body_spin(100000);
	read_all(fd, &b);
	ck_assert_uint_ge(b.sum[0] - a.sum[0], BODY_SPIN(100000));
	ck_assert_uint_ge(b.sum[1] - a.sum[1], BODY_SPIN(100000));
	/* The rest is the two calls, and perhaps an interrupt. */
	ck_assert_uint_lt(b.sum[1] - a.sum[1], 2 * BODY_SPIN(100000));
}
END_TEST

START_TEST(second_open_file)
{
	struct watch watch = watch_begin();
	struct perfctr_control control = watch.control;
	int second = try_open(0);

	ck_assert_int_ge(second, 0);
	ck_assert_int_eq(try_control(second, &control), -EBUSY);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_HOLDER);
	ck_assert_uint_eq(control.refused, PERFCTR_NO_INDEX);
	watch_unchanged(&watch);

	/* Nor can the other handle stop or unlink what the holder controls. */
	control_init(&control);
	ck_assert_int_eq(try_control(second, &control), -EBUSY);
	ck_errno(ioctl(second, PERFCTR_IOC_UNLINK), EBUSY);
	watch_unchanged(&watch);

	/* The holder stops: the state is free again. */
	set_control(watch.fd, &control);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_NONE);
	control.tsc_on = 1;
	set_control(second, &control);
	ck_assert_int_eq(try_control(watch.fd, &watch.control), -EBUSY);

	/* Its last close frees the state, too, and counting goes on. */
	close(second);
	control_init(&control);
	control.tsc_on = 1;
	set_control(watch.fd, &control);
}
END_TEST

/* A duplicate of the descriptor is the same open file, and so the same holder. */
START_TEST(duplicate_is_the_holder)
{
	struct watch watch = watch_begin();
	int copy = dup(watch.fd);

	ck_ok(copy);
	set_control(copy, &watch.control);
	close(watch.fd);
	set_control(copy, &watch.control);
	unlink_self(copy);
}
END_TEST

/* --- other threads --- */

struct foreign {
	int fd;
	struct perfctr_control *control;
	int control_err;
	int unlink_err;
	int read_err;
};

static void *act_on_foreign(void *arg)
{
	struct foreign *foreign = arg;
	struct perfctr_read rd;

	foreign->control_err = try_control(foreign->fd, foreign->control);
	foreign->unlink_err = ioctl(foreign->fd, PERFCTR_IOC_UNLINK) ? -errno : 0;
	foreign->read_err = try_read(foreign->fd, &rd);
	return NULL;
}

START_TEST(control_of_another_thread)
{
	struct watch watch = watch_begin();
	struct foreign *foreign = shared_alloc(sizeof(*foreign));
	pthread_t thread;
	pid_t child;

	foreign->fd = watch.fd;
	foreign->control = &watch.control;
	ck_assert_int_eq(pthread_create(&thread, NULL, act_on_foreign, foreign), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(foreign->control_err, -EPERM);
	ck_assert_int_eq(foreign->unlink_err, -EPERM);
	ck_assert_int_eq(foreign->read_err, 0);
	watch_unchanged(&watch);

	memset(foreign, 0, sizeof(*foreign));
	foreign->fd = watch.fd;
	foreign->control = &watch.control;
	ck_ok(child = fork());
	if (!child) {
		act_on_foreign(foreign);
		_exit(0);
	}
	expect_exit(child, 0);
	ck_assert_int_eq(foreign->control_err, -EPERM);
	ck_assert_int_eq(foreign->unlink_err, -EPERM);
	ck_assert_int_eq(foreign->read_err, 0);
	watch_unchanged(&watch);
}
END_TEST

struct leaver {
	int fd;
	struct perfctr_control control;
};

static void *count_and_leave(void *arg)
{
	struct leaver *leaver = arg;

	leaver->fd = try_open(PERFCTR_OPEN_CREAT);
	if (leaver->fd >= 0 && try_control(leaver->fd, &leaver->control))
		leaver->fd = -1;
	return NULL;
}

START_TEST(control_of_a_dead_thread)
{
	struct leaver leaver;
	struct perfctr_read rd;
	pthread_t thread;

	control_init(&leaver.control);
	leaver.control.tsc_on = 1;
	ck_assert_int_eq(pthread_create(&thread, NULL, count_and_leave, &leaver), 0);
	pthread_join(thread, NULL);
	ck_assert_int_ge(leaver.fd, 0);
	/* pthread_join() returns before the kernel has ended the thread. */
	do {
		sleep_us(1000);
		read_all(leaver.fd, &rd);
	} while (rd.flags & PERFCTR_READ_ATTACHED);
	ck_assert_int_eq(try_control(leaver.fd, &leaver.control), -ESRCH);
	ck_ok(ioctl(leaver.fd, PERFCTR_IOC_UNLINK));
	ck_assert_uint_gt(rd.clock, 0);
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

/* --- READ --- */

START_TEST(read_sizes)
{
	struct watch watch = watch_begin();
	struct perfctr_read rd;
	unsigned char *buf;
	unsigned int i;

	memset(&rd, 0, sizeof(rd));
	rd.size = READ_SIZE(0) - 8;
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ, &rd), EINVAL);
	rd.size = 0;
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ, &rd), EINVAL);

	/* Room for no sum, for one, and so on: the others are not written. */
	for (i = 0; i <= watch.control.nractrs; i++) {
		memset(&rd, 0x5a, sizeof(rd));
		rd.size = (uint32_t)READ_SIZE(i);
		ck_ok(ioctl(watch.fd, PERFCTR_IOC_READ, &rd));
		ck_assert_uint_eq(rd.size, READ_SIZE(i));
		ck_assert_uint_eq(rd.nrctrs, watch.control.nractrs);
		ck_assert_uint_eq(rd.sum[i], 0x5a5a5a5a5a5a5a5aull);
		ck_assert_uint_eq(rd.overflows, 0);
	}

	/* A larger structure than we know */
	memset(&rd, 0, sizeof(rd));
	buf = padded(&rd, sizeof(rd), sizeof(rd) + 64, 0xaa);
	ck_ok(ioctl(watch.fd, PERFCTR_IOC_READ, buf));
	memcpy(&rd, buf, sizeof(rd));
	ck_assert_uint_eq(rd.nrctrs, watch.control.nractrs);
	for (i = 0; i < 64; i++)
		ck_assert_uint_eq(buf[sizeof(rd) + i], 0);
	free(buf);
	buf = padded(&rd, sizeof(rd), PERFCTR_MAX_SIZE + 1, 0);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ, buf), E2BIG);
	free(buf);
	watch_unchanged(&watch);
}
END_TEST

START_TEST(read_pointers)
{
	struct perfctr_read rd = { .size = sizeof(rd) };
	struct watch watch = watch_begin();

	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ, NULL), EFAULT);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ, BAD_ADDRESS), EFAULT);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ, KERNEL_ADDRESS), EFAULT);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ, at_page_end(&rd, 2)), EFAULT);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ, at_page_end(&rd, READ_SIZE(0) - 1)), EFAULT);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ, read_only(&rd, sizeof(rd))), EFAULT);
	/* Only the bytes that are written must be mapped. */
	rd.size = (uint32_t)READ_SIZE(watch.control.nractrs);
	ck_ok(ioctl(watch.fd, PERFCTR_IOC_READ, at_page_end(&rd, rd.size)));
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ, at_page_end(&rd, rd.size - 8)), EFAULT);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ, read_only(&rd, rd.size)), EFAULT);
	watch_unchanged(&watch);
}
END_TEST

/* What is written whole words at a time is written byte by byte where they are not aligned. */
START_TEST(read_at_an_odd_address)
{
	struct perfctr_read before, odd, after;
	struct watch watch = watch_begin();
	char buf[sizeof(odd) + 2];
	unsigned int i;

	memset(buf, 0x55, sizeof(buf));
	read_all(watch.fd, &before);
	odd.size = (uint32_t)READ_SIZE(watch.control.nractrs);
	memcpy(buf + 1, &odd.size, sizeof(odd.size));
	ck_ok(ioctl(watch.fd, PERFCTR_IOC_READ, buf + 1));
	read_all(watch.fd, &after);
	memcpy(&odd, buf + 1, odd.size);
	ck_assert_uint_eq(odd.size, READ_SIZE(watch.control.nractrs));
	ck_assert_uint_eq(odd.cstatus, before.cstatus);
	ck_assert_uint_eq(odd.nrctrs, before.nrctrs);
	ck_assert_uint_eq(odd.flags, before.flags);
	ck_assert_uint_ge(odd.clock, before.clock);
	ck_assert_uint_le(odd.clock, after.clock);
	for (i = 0; i < odd.nrctrs; i++) {
		ck_assert_uint_ge(odd.sum[i], before.sum[i]);
		ck_assert_uint_le(odd.sum[i], after.sum[i]);
	}
	ck_assert_int_eq(buf[0], 0x55);
	ck_assert_int_eq(buf[1 + odd.size], 0x55);
	watch_unchanged(&watch);
}
END_TEST

START_TEST(read_before_any_control)
{
	struct perfctr_read rd;
	int fd = open_self();

	read_all(fd, &rd);
	ck_assert_uint_eq(rd.cstatus, 0);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_NONE);
	ck_assert_uint_eq(rd.nrctrs, 0);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED);
	ck_assert_uint_eq(rd.clock, 0);
}
END_TEST

START_TEST(read_control_bad_input)
{
	struct watch watch = watch_begin();
	struct perfctr_control control;

	control_init(&control);
	control.size = CONTROL_SIZE(0) - 8;
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, &control), EINVAL);
	control.size = 0;
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, &control), EINVAL);
	control_init(&control);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, NULL), EFAULT);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, BAD_ADDRESS), EFAULT);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, at_page_end(&control, 2)), EFAULT);
	control.size = CONTROL_SIZE(watch.control.nractrs);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL,
		       read_only(&control, control.size)), EFAULT);
	watch_unchanged(&watch);
}
END_TEST

/* The control that is asked for. watch_begin() has put in the counters that ANY became. */
static struct perfctr_control asked(const struct watch *watch, uint32_t flags)
{
	struct perfctr_control control = watch->control;

	control.flags = flags;
	control.preserve = flags & PERFCTR_CONTROL_KEEP ? 0x80000003 : 2;
	return control;
}

static void expect_asked(int fd, const struct perfctr_control *asked)
{
	struct perfctr_control control;

	read_control(fd, &control);
	ck_assert_mem_eq(&control, asked, CONTROL_SIZE(asked->nractrs));
}

static const uint32_t asked_flags[] = {
	0,
	PERFCTR_CONTROL_CLOEXEC,
	PERFCTR_CONTROL_ON_EXEC,
	PERFCTR_CONTROL_INHERIT,
	PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP,
	PERFCTR_CONTROL_SUSPENDED,
	PERFCTR_CONTROL_CLOEXEC | PERFCTR_CONTROL_ON_EXEC | PERFCTR_CONTROL_INHERIT |
	PERFCTR_CONTROL_KEEP | PERFCTR_CONTROL_SUSPENDED | PERFCTR_CONTROL_HOLDER_ONLY,
};

/* READ_CONTROL gives what CONTROL took, also after UNLINK, and CONTROL takes it again. */
START_TEST(control_is_read_as_given)
{
	struct watch watch = watch_begin();
	struct perfctr_control control, again;
	unsigned int i;
	int fd;

	for (i = 0; i < sizeof(asked_flags) / sizeof(asked_flags[0]); i++) {
		control = asked(&watch, asked_flags[i]);
		set_control(watch.fd, &control);
		expect_asked(watch.fd, &control);
		read_control(watch.fd, &again);
		set_control(watch.fd, &again);
		expect_asked(watch.fd, &control);
		ck_ok(ioctl(watch.fd, PERFCTR_IOC_RESUME));
		expect_asked(watch.fd, &control);
	}
	unlink_self(watch.fd);
	expect_asked(watch.fd, &control);
	/* A state that never had a control, and one that was stopped */
	fd = open_self();
	control_init(&control);
	control.refused = PERFCTR_NO_INDEX;
	expect_asked(fd, &control);
	again.flags = 0;
	set_control(fd, &again);
	control.preserve = 3;
	set_control(fd, &control);
	expect_asked(fd, &control);
}
END_TEST

struct member {
	struct perfctr_control control;
	int fd;
};

static void *ask_for_control(void *arg)
{
	struct member *member = arg;

	member->fd = try_open(0);
	if (member->fd < 0 || ioctl(member->fd, PERFCTR_IOC_READ_CONTROL, &member->control))
		member->control.nractrs = PERFCTR_MAX_CTRS;
	return NULL;
}

/* A descendant has the root's control, also when it has ended. */
START_TEST(control_of_a_descendant)
{
	struct watch watch = watch_begin();
	struct perfctr_control control = asked(&watch, PERFCTR_CONTROL_INHERIT |
						       PERFCTR_CONTROL_KEEP);
	struct member member = { .control = { PERFCTR_CONTROL_INIT } };
	pthread_t thread;

	set_control(watch.fd, &control);
	ck_assert_int_eq(pthread_create(&thread, NULL, ask_for_control, &member), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_mem_eq(&member.control, &control, CONTROL_SIZE(control.nractrs));
	expect_asked(member.fd, &control);
	unlink_self(watch.fd);
	expect_asked(member.fd, &control);
}
END_TEST

/* --- IRESUME and REFRESH (more in test_overflow.c), unknown ioctls, the wrong file --- */

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

/* --- read(2) --- */

START_TEST(plain_read)
{
	struct watch watch = watch_begin();
	unsigned int i, n = 1 + watch.control.nractrs;
	uint64_t words[1 + PERFCTR_MAX_CTRS + 1];
	struct perfctr_read before, after;

	read_all(watch.fd, &before);
	memset(words, 0x5a, sizeof(words));
	ck_assert_int_eq(read(watch.fd, words, sizeof(words)), (ssize_t)(n * sizeof(words[0])));
	read_all(watch.fd, &after);
	ck_assert_uint_ge(words[0], before.clock);
	ck_assert_uint_le(words[0], after.clock);
	for (i = 1; i < n; i++) {
		ck_assert_uint_ge(words[i], before.sum[i - 1]);
		ck_assert_uint_le(words[i], after.sum[i - 1]);
	}
	ck_assert_uint_eq(words[n], 0x5a5a5a5a5a5a5a5aull);
	/* Exactly as much room as is needed. The file's position does not move. */
	ck_assert_int_eq(read(watch.fd, words, n * sizeof(words[0])),
			 (ssize_t)(n * sizeof(words[0])));
	watch_unchanged(&watch);
}
END_TEST

START_TEST(plain_read_bad_input)
{
	struct watch watch = watch_begin();
	size_t len = (1 + watch.control.nractrs) * sizeof(uint64_t);
	uint64_t words[1 + PERFCTR_MAX_CTRS] = { 0 };

	ck_errno(read(watch.fd, words, 0), EINVAL);
	ck_errno(read(watch.fd, words, len - 1), EINVAL);
	ck_errno(read(watch.fd, words, len - sizeof(uint64_t)), EINVAL);
	ck_errno(read(watch.fd, NULL, len), EFAULT);
	ck_errno(read(watch.fd, (void *)BAD_ADDRESS, len), EFAULT);
	ck_errno(read(watch.fd, KERNEL_ADDRESS, len), EFAULT);
	ck_errno(read(watch.fd, at_page_end(words, len - 1), len), EFAULT);
	ck_errno(read(watch.fd, (void *)(uintptr_t)read_only(words, len), len), EFAULT);
	watch_unchanged(&watch);
}
END_TEST

START_TEST(no_other_io)
{
	struct watch watch = watch_begin();
	char buf[64] = "";

	ck_assert_int_eq(write(watch.fd, buf, sizeof(buf)), -1);
	ck_assert_int_eq(lseek(watch.fd, 4096, SEEK_SET), -1);
	ck_assert_int_eq(pread(watch.fd, buf, sizeof(buf), 0), -1);
	watch_unchanged(&watch);
}
END_TEST

/* --- mmap --- */

static void bad_map(int fd, size_t len, int prot, int flags, off_t offset, int err)
{
	void *page = mmap(NULL, len, prot, flags, fd, offset);

	ck_assert_msg(page == MAP_FAILED, "mmap(%zu, %d, %d, %ld) succeeded", len, prot, flags,
		      (long)offset);
	ck_assert_msg(errno == err, "mmap(%zu, %d, %d, %ld): %s, expected %s", len, prot, flags,
		      (long)offset, strerror(errno), strerror(err));
}

START_TEST(map_bad_input)
{
	struct watch watch = watch_begin();
	void *page;

	bad_map(watch.fd, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 0, EACCES);
	bad_map(watch.fd, PAGE_SIZE, PROT_WRITE, MAP_SHARED, 0, EACCES);
	bad_map(watch.fd, PAGE_SIZE, PROT_READ, MAP_SHARED, PAGE_SIZE, EINVAL);
	bad_map(watch.fd, PAGE_SIZE, PROT_READ, MAP_SHARED,
		(off_t)1 << (sizeof(long) == 8 ? 40 : 30), EINVAL);
	bad_map(watch.fd, 2ul * PAGE_SIZE, PROT_READ, MAP_SHARED, 0, EINVAL);
	bad_map(watch.fd, 1ul << 30, PROT_READ, MAP_SHARED, 0, EINVAL);
	bad_map(watch.fd, PAGE_SIZE, PROT_READ, MAP_PRIVATE, 0, EINVAL);
	bad_map(watch.fd, PAGE_SIZE, PROT_READ, MAP_SHARED, 1, EINVAL);
	watch_unchanged(&watch);

	page = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, watch.fd, 0);
	ck_assert_ptr_ne(page, MAP_FAILED);
	ck_errno(mprotect(page, PAGE_SIZE, PROT_READ | PROT_WRITE), EACCES);
	ck_errno(mprotect(page, PAGE_SIZE, PROT_WRITE), EACCES);
	/* The map does not grow. */
	ck_assert_ptr_eq(mremap(page, PAGE_SIZE, 2ul * PAGE_SIZE, MREMAP_MAYMOVE), MAP_FAILED);
	watch_unchanged(&watch);
	ck_assert_uint_eq(((const struct perfctr_page *)page)->cstatus, watch.last.cstatus);
	ck_ok(munmap(page, PAGE_SIZE));
	watch_unchanged(&watch);
}
END_TEST

START_TEST(map_of_the_device)
{
	int dev = open_device();

	ck_assert_ptr_eq(mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, dev, 0), MAP_FAILED);
}
END_TEST

/* A store to the page kills the writer, and changes nothing. */
START_TEST(map_is_read_only)
{
	struct watch watch = watch_begin();
	const struct perfctr_page *page = map_page(watch.fd);
	int status;
	pid_t child;

	ck_ok(child = fork());
	if (!child) {
		((struct perfctr_page *)(uintptr_t)page)->seq = 0;
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	watch_unchanged(&watch);
}
END_TEST

START_TEST(map_outlives_handle)
{
	struct watch watch = watch_begin();
	const struct perfctr_page *page = map_page(watch.fd);

	close(watch.fd);
	ck_assert_uint_eq(page->cstatus, watch.last.cstatus);
	ck_assert_uint_eq(page->nrctrs, watch.control.nractrs);
	unmap_page(page);
}
END_TEST

/* Maps, unmaps and maps again, with two maps at a time. */
START_TEST(map_again)
{
	struct watch watch = watch_begin();
	const struct perfctr_page *first, *second;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		first = map_page(watch.fd);
		second = map_page(watch.fd);
		ck_assert_uint_eq(first->cstatus, second->cstatus);
		unmap_page(first);
		ck_assert_uint_eq(second->cstatus, watch.last.cstatus);
		unmap_page(second);
	}
	watch_unchanged(&watch);
}
END_TEST

START_TEST(raw_is_of_threads)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.flags = PERFCTR_CONTROL_RAW;
	control.tsc_on = 1;
	ck_assert_int_eq(try_control(fd, &control), -EOPNOTSUPP);
	if (!guest.nprogrammable)
		return;
	control_add(&control, EV_INSTRUCTIONS);
	ck_assert_int_eq(try_control(fd, &control), -EOPNOTSUPP);
}
END_TEST

/* It reveals of others what the privilege for kernel mode does. */
START_TEST(raw_needs_a_privilege)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.flags = PERFCTR_CONTROL_RAW;
	control.tsc_on = 1;
	ck_assert_int_eq(try_control(fd, &control), -EACCES);
	ck_assert_uint_eq(control.reason, PERFCTR_REASON_KERNEL);
	ck_assert_uint_eq(control.refused, PERFCTR_NO_INDEX);
}
END_TEST

/* The page says what the kernel says. */
START_TEST(map_describes_the_control)
{
	struct watch watch = watch_begin();
	const struct perfctr_page *page = map_page(watch.fd);
	struct perfctr_read rd;
	unsigned int i;

	read_all(watch.fd, &rd);
	ck_assert_uint_ge(page->size, sizeof(*page));
	ck_assert_uint_eq(page->cstatus, rd.cstatus);
	ck_assert_uint_eq(page->error, PERFCTR_ERROR_NONE);
	ck_assert_uint_eq(page->nrctrs, rd.nrctrs);
	ck_assert_uint_eq(page->reserved, 0);
	ck_assert_uint_eq(PERFCTR_CSTATUS_NRCTRS(page->cstatus), rd.nrctrs);
	ck_assert_uint_eq(PERFCTR_CSTATUS_NRICTRS(page->cstatus), 0);
	ck_assert_uint_eq(page->cstatus & PERFCTR_CSTATUS_CLOCK, PERFCTR_CSTATUS_CLOCK);
	for (i = 0; i < PERFCTR_MAX_CTRS; i++) {
		if (i < rd.nrctrs)
			ck_assert_uint_ne(guest.info.counters >> page_hw_counter(page, i) & 1, 0);
		else
			ck_assert_uint_eq(page->map[i], PERFCTR_PAGE_NO_SLOT * sizeof(page->slot[0]));
	}
	ck_assert_uint_eq(page->slot[PERFCTR_PAGE_NO_SLOT].owner, 0);
}
END_TEST

/* A control of the clock alone: every machine lets user mode read it. */
static void control_clock(struct perfctr_control *control)
{
	control_init(control);
	control->tsc_on = 1;
}

static bool page_is_mine(const struct perfctr_page *page)
{
	return page->seq >= 0 && page->owner == thread_pointer();
}

static void *map_own(void *mine)
{
	struct perfctr_control control;
	const struct perfctr_page *page;
	int fd = try_open(PERFCTR_OPEN_CREAT);

	control_clock(&control);
	page = fd < 0 || try_control(fd, &control) ? NULL : try_map(fd);
	*(bool *)mine = page && page_is_mine(page);
	return NULL;
}

/* The kernel and the thread agree on the thread pointer, whoever set it. */
START_TEST(map_knows_its_thread)
{
	struct perfctr_control control;
	const struct perfctr_page *page;
	int fd = open_self();
	bool mine = false;
	pthread_t thread;

	control_clock(&control);
	set_control(fd, &control);
	page = map_page(fd);
	ck_assert(page_is_mine(page));
	ck_assert_int_eq(pthread_create(&thread, NULL, map_own, &mine), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert(mine);
}
END_TEST

#if defined(__i386__)

/* An ioctl with another segment in %gs. The thread's own data is not accessed meanwhile. */
static long ioctl_in_segment(unsigned int selector, int fd, unsigned long cmd, void *arg)
{
	unsigned int own;
	long ret;

	__asm__ volatile ("mov %%gs, %1\n\t"
			  "mov %6, %%gs\n\t"
			  "int $0x80\n\t"
			  "mov %1, %%gs"
			  : "=a" (ret), "=&S" (own)
			  : "0" (SYS_ioctl), "b" (fd), "c" (cmd), "d" (arg), "D" (selector)
			  : "memory");
	return ret;
}

/* Any of the thread's segments may have the thread pointer. */
START_TEST(map_knows_its_segment)
{
	static unsigned long data[16];
	struct user_desc segment = {
		.entry_number = -1u,
		.base_addr = (unsigned int)(uintptr_t)data,
		.limit = 0xfffff,
		.seg_32bit = 1,
		.limit_in_pages = 1,
		.useable = 1,
	};
	struct perfctr_control control;
	const struct perfctr_page *page;
	int fd = open_self();

	control_clock(&control);
	set_control(fd, &control);
	page = map_page(fd);
	ck_ok(syscall(SYS_set_thread_area, &segment));
	ck_assert_int_eq(ioctl_in_segment(segment.entry_number << 3 | 3, fd, PERFCTR_IOC_CONTROL,
					  &control), 0);
	ck_assert_uint_eq(page->owner, (uintptr_t)data);
	set_control(fd, &control);
	ck_assert(page_is_mine(page));
}
END_TEST

#endif

/* The page holds nothing but what the header describes. */
START_TEST(map_shows_nothing_else)
{
	struct watch watch = watch_begin();
	const struct perfctr_page *page = map_page(watch.fd);
	const unsigned char *rest = (const unsigned char *)page;
	uint64_t tp = thread_pointer();
	unsigned int i;

	ck_assert_uint_eq(page->reserved, 0);
	ck_assert(page->owner == 0 || page->owner == tp);
	for (i = 0; i < PERFCTR_PAGE_SLOTS; i++) {
		const struct perfctr_page_slot *slot = &page->slot[i];

		ck_assert(slot->owner == 0 || slot->owner == tp);
		/* Slots of other threads' counters, and unused ones, hold nothing. */
		ck_assert(slot->owner == tp || slot->bias == 0);
	}
	for (i = sizeof(*page); i < PAGE_SIZE; i++)
		ck_assert_uint_eq(rest[i], 0);
}
END_TEST

/* --- programs that were built with the first version --- */

/* It had another name, which is the library's now. */
#define perfctr_info	perfctr_kernel_info

#define SAME_MEMBER(type, member)						\
	_Static_assert(offsetof(struct first_ ## type, member) ==		\
		       offsetof(struct perfctr_ ## type, member) &&		\
		       sizeof(((struct first_ ## type *)0)->member) ==		\
		       sizeof(((struct perfctr_ ## type *)0)->member),		\
		       #type "." #member)
#define SAME(first, now) _Static_assert((first) == (now), #now)

/* What may never change in the header. Sizes of structures may grow, so they are not here. */
SAME_MEMBER(info, abi_version);
SAME_MEMBER(info, driver_version);
SAME_MEMBER(info, cpu_type);
SAME_MEMBER(info, cpu_features);
SAME_MEMBER(info, cpu_khz);
SAME_MEMBER(info, tsc_to_cpu_mult);
SAME_MEMBER(info, tsc_hz);
SAME_MEMBER(info, nrctrs);
SAME_MEMBER(info, no_counters);
SAME_MEMBER(info, user_read);
SAME_MEMBER(info, width);
SAME_MEMBER(info, counters);
SAME_MEMBER(info, events);
SAME_MEMBER(cpus, which);
SAME_MEMBER(cpus, nrwords);
SAME_MEMBER(cpus, mask);
SAME_MEMBER(open, flags);
SAME_MEMBER(open, pidfd);
SAME_MEMBER(ctr_control, map);
SAME_MEMBER(ctr_control, flags);
SAME_MEMBER(ctr_control, event);
SAME_MEMBER(ctr_control, config);
SAME_MEMBER(ctr_control, ireset);
SAME_MEMBER(control, flags);
SAME_MEMBER(control, ctr_offset);
SAME_MEMBER(control, ctr_size);
SAME_MEMBER(control, tsc_on);
SAME_MEMBER(control, nractrs);
SAME_MEMBER(control, nrictrs);
SAME_MEMBER(control, si_signo);
SAME_MEMBER(control, preserve);
SAME_MEMBER(control, refresh);
SAME_MEMBER(control, refused);
SAME_MEMBER(control, owner);
SAME_MEMBER(soft, switches);
SAME_MEMBER(soft, migrations);
SAME_MEMBER(soft, minor_faults);
SAME_MEMBER(soft, major_faults);
SAME_MEMBER(soft, task_clock);
SAME_MEMBER(read, cstatus);
SAME_MEMBER(read, error);
SAME_MEMBER(read, nrctrs);
SAME_MEMBER(read, flags);
SAME_MEMBER(read, overflows);
SAME_MEMBER(read, clock);
SAME_MEMBER(read, sum);
SAME_MEMBER(read, soft);
SAME_MEMBER(read_tree, which);
SAME_MEMBER(read_tree, cstatus);
SAME_MEMBER(read_tree, error);
SAME_MEMBER(read_tree, nrctrs);
SAME_MEMBER(read_tree, tree_id);
SAME_MEMBER(read_tree, live);
SAME_MEMBER(read_tree, ended);
SAME_MEMBER(read_tree, missed);
SAME_MEMBER(read_tree, not_kept);
SAME_MEMBER(read_tree, clock);
SAME_MEMBER(read_tree, sum);
SAME_MEMBER(read_tree, soft);
SAME_MEMBER(member, flags);
SAME_MEMBER(member, cursor);
SAME_MEMBER(member, tid);
SAME_MEMBER(member, tgid);
SAME_MEMBER(member, comm);
SAME_MEMBER(member, error);
SAME_MEMBER(member, nrctrs);
SAME_MEMBER(member, clock);
SAME_MEMBER(member, sum);
SAME_MEMBER(member, soft);
SAME_MEMBER(page_slot, owner);
SAME_MEMBER(page_slot, bias);
SAME_MEMBER(page, seq);
SAME_MEMBER(page, cstatus);
SAME_MEMBER(page, error);
SAME_MEMBER(page, nrctrs);
SAME_MEMBER(page, owner);
SAME_MEMBER(page, map);
SAME_MEMBER(page, slot);
SAME_MEMBER(page, operand);
SAME(FIRST_INFO, PERFCTR_IOC_INFO);
SAME(FIRST_CPUS, PERFCTR_IOC_CPUS);
SAME(FIRST_OPEN, PERFCTR_IOC_OPEN);
SAME(FIRST_CONTROL, PERFCTR_IOC_CONTROL);
SAME(FIRST_READ, PERFCTR_IOC_READ);
SAME(FIRST_READ_CONTROL, PERFCTR_IOC_READ_CONTROL);
SAME(FIRST_UNLINK, PERFCTR_IOC_UNLINK);
SAME(FIRST_IRESUME, PERFCTR_IOC_IRESUME);
SAME(FIRST_READ_TREE, PERFCTR_IOC_READ_TREE);
SAME(FIRST_NEXT_MEMBER, PERFCTR_IOC_NEXT_MEMBER);
SAME(FIRST_SUSPEND, PERFCTR_IOC_SUSPEND);
SAME(FIRST_RESUME, PERFCTR_IOC_RESUME);
SAME(FIRST_REFRESH, PERFCTR_IOC_REFRESH);
SAME(sizeof(struct first_info), PERFCTR_INFO_SIZE_VER0);
SAME(sizeof(struct first_cpus), PERFCTR_CPUS_SIZE_VER0);
SAME(sizeof(struct first_open), PERFCTR_OPEN_SIZE_VER0);
SAME(offsetof(struct first_control, ctr), PERFCTR_CONTROL_SIZE_VER0);
SAME(sizeof(struct first_ctr_control), PERFCTR_CTR_CONTROL_SIZE_VER0);
SAME(offsetof(struct first_read, sum), PERFCTR_READ_SIZE_VER0);
SAME(offsetof(struct first_read_tree, sum), PERFCTR_READ_TREE_SIZE_VER0);
SAME(offsetof(struct first_member, sum), PERFCTR_MEMBER_SIZE_VER0);
SAME(FIRST_ABI_VERSION, PERFCTR_ABI_VERSION);
SAME(FIRST_MAX_CTRS, PERFCTR_MAX_CTRS);
SAME(FIRST_MAX_SIZE, PERFCTR_MAX_SIZE);
SAME(FIRST_NO_INDEX, PERFCTR_NO_INDEX);
SAME(FIRST_MAP_ANY, PERFCTR_MAP_ANY);
SAME(FIRST_CTR_USER, PERFCTR_CTR_USER);
SAME(FIRST_CTR_KERNEL, PERFCTR_CTR_KERNEL);
SAME(FIRST_OPEN_CREAT, PERFCTR_OPEN_CREAT);
SAME(FIRST_OPEN_EXCL, PERFCTR_OPEN_EXCL);
SAME(FIRST_OPEN_PIDFD, PERFCTR_OPEN_PIDFD);
SAME(FIRST_CLOEXEC, PERFCTR_CONTROL_CLOEXEC);
SAME(FIRST_ON_EXEC, PERFCTR_CONTROL_ON_EXEC);
SAME(FIRST_INHERIT, PERFCTR_CONTROL_INHERIT);
SAME(FIRST_KEEP, PERFCTR_CONTROL_KEEP);
SAME(FIRST_RAW, PERFCTR_CONTROL_RAW);
SAME(FIRST_SUSPENDED, PERFCTR_CONTROL_SUSPENDED);
SAME(FIRST_HOLDER_ONLY, PERFCTR_CONTROL_HOLDER_ONLY);
SAME(FIRST_CSTATUS_CLOCK, PERFCTR_CSTATUS_CLOCK);
SAME(FIRST_READ_ATTACHED, PERFCTR_READ_ATTACHED);
SAME(FIRST_READ_ON_EXEC, PERFCTR_READ_ON_EXEC);
SAME(FIRST_READ_OVERFLOWN, PERFCTR_READ_OVERFLOWN);
SAME(FIRST_READ_THROTTLED, PERFCTR_READ_THROTTLED);
SAME(FIRST_READ_SUSPENDED, PERFCTR_READ_SUSPENDED);
SAME(FIRST_TREE_ROOT, PERFCTR_TREE_ROOT);
SAME(FIRST_TREE_ENDED, PERFCTR_TREE_ENDED);
SAME(FIRST_TREE_LIVE, PERFCTR_TREE_LIVE);
SAME(FIRST_MEMBER_LIVE, PERFCTR_MEMBER_LIVE);
SAME(FIRST_OWNER_NONE, PERFCTR_OWNER_NONE);
SAME(FIRST_OWNER_HOLDER, PERFCTR_OWNER_HOLDER);
SAME(FIRST_PAGE_NO_SLOT, PERFCTR_PAGE_NO_SLOT);

static int first_open_self(void)
{
	struct first_open arg = { .size = sizeof(arg), .flags = FIRST_OPEN_CREAT };
	int fd = open_device();

	ck_ok(ioctl(fd, FIRST_OPEN, &arg));
	return fd;
}

/* A control of the clock, and of one counter if there are any */
static struct first_control first_control(uint32_t flags)
{
	struct first_control control = {
		.size = sizeof(control),
		.flags = flags,
		.ctr_offset = offsetof(struct first_control, ctr),
		.ctr_size = sizeof(control.ctr[0]),
		.tsc_on = 1,
		.nractrs = has_counters(),
		.refused = 1,
		.owner = 1,
		.ctr[0] = {
			.map = FIRST_MAP_ANY,
			.flags = FIRST_CTR_USER,
			.event = own_event(EV_INSTRUCTIONS),
			.config = own_config(EV_INSTRUCTIONS),
		},
	};

	return control;
}

static void first_expect(const struct first_control *control, uint32_t cstatus, uint32_t nrctrs)
{
	ck_assert_uint_eq(cstatus, FIRST_CSTATUS_CLOCK | control->nractrs);
	ck_assert_uint_eq(nrctrs, control->nractrs);
}

static void first_read(int fd, struct first_read *rd)
{
	memset(rd, 0xaa, sizeof(*rd));
	rd->size = sizeof(*rd);
	ck_ok(ioctl(fd, FIRST_READ, rd));
	ck_assert_uint_eq(rd->size, sizeof(*rd));
	ck_assert_uint_eq(rd->error, 0);
	ck_assert_uint_eq(rd->overflows, 0);
}

/* This must pass for ever. It uses nothing from today's header. */
START_TEST(first_programs_run)
{
	struct first_control control = first_control(0), back, other;
	struct first_info info = { .size = sizeof(info) };
	uint32_t words[64];
	struct first_cpus cpus = {
		.size = sizeof(cpus), .nrwords = 64, .mask = (uintptr_t)words,
	};
	const struct first_page *page;
	int fd, second, i;
	struct first_read rd[3];
	uint64_t plain[2];

	fd = open_device();
	ck_ok(ioctl(fd, FIRST_INFO, &info));
	ck_assert_uint_eq(info.size, sizeof(info));
	ck_assert_uint_eq(info.abi_version >> 24, FIRST_ABI_VERSION >> 24);
	ck_assert_uint_gt(info.tsc_hz, 0);
	ck_assert_uint_ge(info.nrctrs, control.nractrs);
	ck_ok(ioctl(fd, FIRST_CPUS, &cpus));
	ck_assert_uint_gt(cpus.nrwords, 0);
	ck_assert_uint_eq(words[0] & 1, 1);
	close(fd);

	fd = first_open_self();
	second = first_open_self();
	ck_ok(ioctl(fd, FIRST_CONTROL, &control));
	ck_assert_uint_eq(control.refused, FIRST_NO_INDEX);
	ck_assert_uint_eq(control.owner, FIRST_OWNER_NONE);
	other = control;
	ck_errno(ioctl(second, FIRST_CONTROL, &other), EBUSY);
	ck_assert_uint_eq(other.refused, FIRST_NO_INDEX);
	ck_assert_uint_eq(other.owner, FIRST_OWNER_HOLDER);

	first_read(fd, &rd[0]);
	body_spin(100000);
	first_read(second, &rd[1]);
	first_expect(&control, rd[1].cstatus, rd[1].nrctrs);
	ck_assert_uint_eq(rd[1].flags, FIRST_READ_ATTACHED);
	ck_assert_uint_gt(rd[1].clock, rd[0].clock);
	for (i = (int)control.nractrs; i < FIRST_MAX_CTRS; i++)
		ck_assert_uint_eq(rd[1].sum[i], 0);
	ck_assert_uint_gt(rd[1].soft.task_clock, rd[0].soft.task_clock);
	ck_assert_int_eq(read(fd, plain, sizeof(plain)), (ssize_t)(8 + 8 * control.nractrs));
	ck_assert_uint_gt(plain[0], rd[1].clock);
	if (control.nractrs) {
		ck_assert_uint_ge(rd[1].sum[0] - rd[0].sum[0], BODY_SPIN(100000));
		ck_assert_uint_gt(plain[1], rd[1].sum[0]);
	}

	back = first_control(0);
	memset(&back.tsc_on, 0xaa, sizeof(back) - offsetof(struct first_control, tsc_on));
	ck_ok(ioctl(second, FIRST_READ_CONTROL, &back));
	control.ctr[0].map = back.ctr[0].map;
	ck_assert_mem_eq(&back, &control, offsetof(struct first_control, ctr[control.nractrs]));

	page = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(page, MAP_FAILED);
	ck_assert_uint_ge(page->size, sizeof(*page));
	first_expect(&control, page->cstatus, page->nrctrs);
	ck_assert_uint_eq(page->error, 0);
	ck_assert(page->owner == 0 || page->owner == thread_pointer());
	for (i = 0; i < FIRST_MAX_CTRS; i++)
		ck_assert((page->map[i] == 16 * FIRST_PAGE_NO_SLOT) == (i >= (int)page->nrctrs));
	ck_assert_uint_eq(page->slot[FIRST_PAGE_NO_SLOT].owner, 0);

	ck_ok(ioctl(fd, FIRST_SUSPEND));
	first_read(fd, &rd[1]);
	ck_assert_uint_eq(rd[1].flags, FIRST_READ_ATTACHED | FIRST_READ_SUSPENDED);
	body_spin(1000);
	first_read(fd, &rd[2]);
	ck_assert_mem_eq(&rd[1], &rd[2], offsetof(struct first_read, soft));
	ck_ok(ioctl(fd, FIRST_RESUME));
	ck_errno(ioctl(fd, FIRST_IRESUME), EINVAL);
	ck_errno(ioctl(fd, FIRST_REFRESH, 1), EINVAL);
	ck_ok(ioctl(fd, FIRST_UNLINK));
	first_read(fd, &rd[2]);
	ck_assert_uint_eq(rd[2].flags, 0);
}
END_TEST

START_TEST(first_programs_have_trees)
{
	struct first_control control = first_control(FIRST_INHERIT | FIRST_KEEP);
	struct first_read_tree tree = {
		.size = sizeof(tree), .which = FIRST_TREE_ENDED | FIRST_TREE_LIVE,
	};
	struct first_member member = { .size = sizeof(member) };
	int fd = first_open_self(), status;
	pid_t child;

	ck_ok(ioctl(fd, FIRST_CONTROL, &control));
	ck_ok(child = fork());
	if (!child) {
		body_spin(100000);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_ok(ioctl(fd, FIRST_READ_TREE, &tree));
	first_expect(&control, tree.cstatus, tree.nrctrs);
	ck_assert_uint_eq(tree.error, 0);
	ck_assert_uint_ne(tree.tree_id, 0);
	ck_assert_uint_eq(tree.ended, 1);
	ck_assert_uint_eq(tree.live | tree.missed | tree.not_kept, 0);
	ck_ok(ioctl(fd, FIRST_NEXT_MEMBER, &member));
	ck_assert_uint_eq(member.flags, 0);
	ck_assert_uint_ne(member.cursor, 0);
	ck_assert_int_eq(member.tid, child);
	ck_assert_int_eq(member.tgid, child);
	ck_assert_uint_gt(strnlen(member.comm, sizeof(member.comm)), 0);
	ck_assert_uint_eq(member.error, 0);
	ck_assert_uint_eq(member.clock, tree.clock);
	ck_assert_mem_eq(member.sum, tree.sum, sizeof(tree.sum));
	ck_assert_mem_eq(&member.soft, &tree.soft, sizeof(tree.soft));
	if (control.nractrs)
		ck_assert_uint_ge(tree.sum[0], BODY_SPIN(100000));
	ck_errno(ioctl(fd, FIRST_NEXT_MEMBER, &member), ENOENT);
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
	GUEST_RUN(control_bad_input, LOG_SILENT);
	GUEST_RUN(control_bad_input_as_user, LOG_SILENT | AS_USER);
	GUEST_RUN(control_event_twice, NEED_COUNTERS | LOG_SILENT | AS_USER);
	GUEST_RUN(control_sizes, LOG_SILENT | AS_USER);
	GUEST_RUN(control_pointers, LOG_SILENT | AS_USER);
	GUEST_RUN(control_too_many_counters, LOG_SILENT | NEED_COUNTERS | AS_USER);
	GUEST_RUN(kernel_counting_needs_privilege, LOG_SILENT | NEED_COUNTERS | AS_USER);
	GUEST_RUN(unfiltered_counting_needs_privilege,
		  LOG_SILENT | NEED_FIXED | NEED_UNFILTERED | AS_USER);
	GUEST_RUN(fixed_counters_have_no_filter, LOG_SILENT | NEED_FIXED | NEED_UNFILTERED);
	GUEST_RUN(fixed_counters_have_no_filter_as_user,
		  LOG_SILENT | NEED_FIXED | NEED_UNFILTERED | AS_USER);
	GUEST_RUN(fixed_counters_count, LOG_SILENT | NEED_FIXED);
	GUEST_RUN(second_open_file, LOG_SILENT | AS_USER);
	GUEST_RUN(duplicate_is_the_holder, LOG_SILENT | AS_USER);
	GUEST_RUN(control_of_another_thread, LOG_SILENT | AS_USER);
	GUEST_RUN(control_of_a_dead_thread, LOG_SILENT | AS_USER);
	GUEST_RUN(unlink_is_final, LOG_SILENT | AS_USER);
	GUEST_RUN(read_sizes, LOG_SILENT | AS_USER);
	GUEST_RUN(read_at_an_odd_address, LOG_SILENT | AS_USER);
	GUEST_RUN(read_pointers, LOG_SILENT | AS_USER);
	GUEST_RUN(read_before_any_control, LOG_SILENT | AS_USER);
	GUEST_RUN(read_control_bad_input, LOG_SILENT | AS_USER);
	GUEST_RUN(control_is_read_as_given, LOG_SILENT | AS_USER);
	GUEST_RUN(control_of_a_descendant, LOG_SILENT | AS_USER);
	GUEST_RUN(nothing_to_resume, LOG_SILENT | AS_USER);
	GUEST_RUN(unknown_ioctls, LOG_SILENT | AS_USER);
	GUEST_RUN(wrong_file, LOG_SILENT | AS_USER);
	GUEST_RUN(plain_read, LOG_SILENT | AS_USER);
	GUEST_RUN(plain_read_bad_input, LOG_SILENT | AS_USER);
	GUEST_RUN(no_other_io, LOG_SILENT | AS_USER);
	GUEST_RUN(map_bad_input, LOG_SILENT | AS_USER);
	GUEST_RUN(map_of_the_device, LOG_SILENT | AS_USER);
	/* The kernel may log the SIGSEGV. */
	GUEST_RUN(map_is_read_only, AS_USER);
	GUEST_RUN(map_outlives_handle, LOG_SILENT | AS_USER);
	GUEST_RUN(map_again, LOG_SILENT | AS_USER);
	if (!CONTROL_RAW)
		GUEST_RUN(raw_is_of_threads, AS_USER);
	else
		GUEST_RUN(raw_needs_a_privilege, LOG_SILENT | AS_USER);
	GUEST_RUN(map_describes_the_control, LOG_SILENT | AS_USER);
	GUEST_RUN(map_knows_its_thread, NEED_RDTSC | LOG_SILENT | AS_USER);
#if defined(__i386__)
	GUEST_RUN(map_knows_its_segment, NEED_RDTSC | LOG_SILENT | AS_USER);
#endif
	GUEST_RUN(map_shows_nothing_else, LOG_SILENT | AS_USER);
	GUEST_RUN(first_programs_run, LOG_SILENT | AS_USER);
	GUEST_RUN(first_programs_have_trees, LOG_SILENT | AS_USER);
	GUEST_RUN(device_mode, LOG_SILENT | AS_USER);
	return guest_end();
}
