// SPDX-License-Identifier: GPL-2.0
/* What test_abi*.c share; see abi.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/abi.h"

bool has_counters(void)
{
	return guest.nprogrammable != 0;
}

void read_control(int fd, struct perfctr_control *control)
{
	control_init(control);
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, control));
}

struct watch watch_begin(void)
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

void watch_unchanged(struct watch *watch)
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

void *padded(const void *known, size_t len, size_t size, unsigned char fill)
{
	unsigned char *buf = malloc(size);

	ck_assert_ptr_nonnull(buf);
	memset(buf, fill, size);
	memcpy(buf, known, len);
	memcpy(buf, &(uint32_t){ (uint32_t)size }, sizeof(uint32_t));
	return buf;
}

void *at_page_end(const void *data, size_t mapped)
{
	char *area;

	area = mmap(NULL, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	ck_assert_ptr_ne(area, MAP_FAILED);
	ck_ok(munmap(area + PAGE_SIZE, PAGE_SIZE));
	memcpy(area + PAGE_SIZE - mapped, data, mapped);
	return area + PAGE_SIZE - mapped;
}

const void *read_only(const void *data, size_t len)
{
	char *area;

	area = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(area, MAP_FAILED);
	memcpy(area, data, len);
	ck_ok(mprotect(area, PAGE_SIZE, PROT_READ));
	return area;
}

void bad_pointers(int fd, unsigned long cmd, const void *good, size_t len, bool writes)
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
