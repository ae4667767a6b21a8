// SPDX-License-Identifier: GPL-2.0
/* Bad input of READ, READ_CONTROL and read(2), as in test_abi.c; and what they give. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "suites/abi.h"

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

void abi_read(void)
{
	GUEST_RUN(read_sizes, LOG_SILENT | AS_USER);
	GUEST_RUN(read_at_an_odd_address, LOG_SILENT | AS_USER);
	GUEST_RUN(read_pointers, LOG_SILENT | AS_USER);
	GUEST_RUN(read_before_any_control, LOG_SILENT | AS_USER);
	GUEST_RUN(read_control_bad_input, LOG_SILENT | AS_USER);
	GUEST_RUN(control_is_read_as_given, LOG_SILENT | AS_USER);
	GUEST_RUN(control_of_a_descendant, LOG_SILENT | AS_USER);
	GUEST_RUN(plain_read, LOG_SILENT | AS_USER);
	GUEST_RUN(plain_read_bad_input, LOG_SILENT | AS_USER);
	GUEST_RUN(no_other_io, LOG_SILENT | AS_USER);
}
