// SPDX-License-Identifier: GPL-2.0
/* What test_tracee*.c share; see tracee.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "suites/tracee.h"

#define THREAD PERFCTR_OPEN_THREAD

int try_open_by(int descriptor, pid_t thread, unsigned int flags)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = flags | THREAD, .tid = thread,
				  .pidfd = descriptor };
	int err, fd = open(PERFCTR_DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || !ioctl(fd, PERFCTR_IOC_OPEN, &o))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int try_open_thread(pid_t tid, unsigned int flags)
{
	return try_open_by(0, tid, flags);
}

int open_thread(pid_t tid)
{
	int fd = try_open_thread(tid, CREAT);

	ck_assert_msg(fd >= 0, "OPEN of %d: %s", tid, strerror(-fd));
	return fd;
}

void control_instructions(struct perfctr_control *control, uint32_t flags)
{
	control_init(control);
	control->tsc_on = 1;
	control->flags = flags;
	control_add(control, EV_INSTRUCTIONS);
}

void count_instructions(int fd)
{
	struct perfctr_control control;

	control_instructions(&control, 0);
	set_control(fd, &control);
}

void cont(pid_t pid)
{
	ck_ok(ptrace(PTRACE_CONT, pid, NULL, NULL));
}

void go_to_call(pid_t pid)
{
	ck_ok(ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
	ck_assert_int_eq(wait_stop(pid), SIGTRAP | 0x80);
}

void finish(pid_t pid)
{
	cont(pid);
	expect_exit(pid, 0);
}
