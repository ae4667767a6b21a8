// SPDX-License-Identifier: GPL-2.0
/* What test_cpus*.c share; see cpus.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/cpus.h"

int try_open_cpus(void)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	int fd = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC), err;

	if (fd < 0 || !ioctl(fd, PERFCTR_IOC_OPEN, &o))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int open_cpus(void)
{
	int fd = try_open_cpus();

	ck_assert_msg(fd >= 0, "OPEN of CPUs: %s", strerror(-fd));
	return fd;
}

void cpu_control(struct perfctr_control *control, unsigned int cpu, unsigned int source)
{
	control_init(control);
	control->flags = PERFCTR_CONTROL_CPU;
	control->cpu = cpu;
	control->tsc_on = 1;
	control->source = source;
	control_add(control, EV_INSTRUCTIONS);
}

void count_cpu(int fd, unsigned int cpu, unsigned int source)
{
	struct perfctr_control control;
	int err;

	cpu_control(&control, cpu, source);
	err = try_control(fd, &control);
	ck_assert_msg(!err, "CONTROL of CPU %u by source %u: %s (reason %u)", cpu, source,
		      strerror(-err), control.reason);
}

int try_count_cpu(int fd, unsigned int cpu, unsigned int source, uint32_t *reason)
{
	struct perfctr_control control;
	int err;

	cpu_control(&control, cpu, source);
	err = try_control(fd, &control);
	*reason = control.reason;
	return err;
}

void go(int fd)
{
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
}

void stop(int fd)
{
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
}

int try_read_cpu(int fd, unsigned int cpu, struct perfctr_read_cpu *rd)
{
	memset(rd, 0xff, sizeof(*rd));
	rd->size = sizeof(*rd);
	rd->cpu = cpu;
	return ioctl(fd, PERFCTR_IOC_READ_CPU, rd) ? -errno : 0;
}

void read_cpu(int fd, unsigned int cpu, struct perfctr_read_cpu *rd)
{
	int err = try_read_cpu(fd, cpu, rd);

	ck_assert_msg(!err, "READ_CPU of %u: %s (error %u)", cpu, strerror(-err), rd->error);
}

static bool has_source(unsigned int source)
{
	return guest.info.cpu_features & (source == PERFCTR_SOURCE_NATIVE ?
					  PERFCTR_FEATURE_NATIVE : PERFCTR_FEATURE_SHARED);
}

void by_each_source(void (*test)(unsigned int source))
{
	if (has_source(PERFCTR_SOURCE_NATIVE))
		test(PERFCTR_SOURCE_NATIVE);
	if (has_source(PERFCTR_SOURCE_SHARED))
		test(PERFCTR_SOURCE_SHARED);
}

void be_alone_on(unsigned int cpu)
{
	pin_self(cpu);
	make_realtime();
}

void expect_exact(int fd, unsigned int cpu)
{
	struct perfctr_read space[2] = {};
	struct perfctr_read_cpu *rd[2] = { (void *)&space[0], (void *)&space[1] };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		rd[i]->size = sizeof(*rd[i]);
		rd[i]->cpu = cpu;
	}
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ_CPU, space, body_spin, LOOPS), 0);
		ck_assert_uint_eq(rd[1]->sum[0] - rd[0]->sum[0], EXACT_KERNEL + BODY_SPIN(LOOPS));
		ck_assert_uint_gt(rd[1]->clock, rd[0]->clock);
	}
}
