// SPDX-License-Identifier: GPL-2.0
/* What test_record*.c share; see record.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include <libperfctr.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "suites/record.h"

int make_ring_of(int fd, unsigned int pages, unsigned int flags)
{
	struct perfctr_ring ring = { .size = sizeof(ring), .pages = pages, .flags = flags };

	if (flags & PERFCTR_RING_USER_CHAIN)
		ring.user_depth = 16;
	if (flags & PERFCTR_RING_KERNEL_CHAIN)
		ring.kernel_depth = 16;
	return ioctl(fd, PERFCTR_IOC_RING, &ring) ? -errno : 0;
}

int open_with_ring(unsigned int pages, unsigned int flags)
{
	int fd = try_open(PERFCTR_OPEN_CREAT), err;

	ck_assert_int_ge(fd, 0);
	err = make_ring_of(fd, pages, flags);
	ck_assert_msg(!err, "RING: %s", strerror(-err));
	return fd;
}

struct vperfctr_ring *map_ring(int fd, unsigned int pages)
{
	struct vperfctr_ring *ring = vperfctr_ring_map(fd, pages);

	ck_assert_msg(ring != NULL, "map: %s", strerror(errno));
	return ring;
}

void control_samples(struct perfctr_control *control, int64_t period, unsigned int flags)
{
	control_init(control);
	control->tsc_on = 1;
	control->flags = PERFCTR_CONTROL_RECORD | flags;
	control_add_ictr(control, EV_INSTRUCTIONS, -period);
}

void control_timer(struct perfctr_control *control, unsigned int ns)
{
	control_init(control);
	control->tsc_on = 1;
	control->flags = PERFCTR_CONTROL_RECORD;
	control->timer_ns = ns;
}

const struct perfctr_record_sample *as_sample(const struct perfctr_record *record)
{
	return (const struct perfctr_record_sample *)record;
}
