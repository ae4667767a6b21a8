// SPDX-License-Identifier: GPL-2.0
/* What test_handle*.c share; see handle.h. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/perfside.h"
#include "suites/handle.h"

void await_byte(int sock)
{
	char byte;

	if (read(sock, &byte, 1) != 1)
		_exit(100);
}

void say_byte(int sock)
{
	if (write(sock, "x", 1) != 1)
		_exit(101);
}

struct child child_start(struct perfctr_control *control, child_fn *run, void *arg)
{
	struct child child;
	int sock[2];

	ck_ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock));
	ck_ok(child.pid = fork());
	if (!child.pid) {
		int fd = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);

		close(sock[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fd < 0 || try_control(fd, control) || send_fd(sock[1], fd))
			_exit(102);
		run(fd, sock[1], arg);
	}
	close(sock[1]);
	child.sock = sock[0];
	child.fd = receive_fd(child.sock);
	return child;
}

void child_go(const struct child *child)
{
	ck_assert_int_eq(write(child->sock, "g", 1), 1);
}

struct perfctr_control instructions_and_clock(void)
{
	struct perfctr_control control;

	control_init(&control);
	control.tsc_on = 1;
	if (guest.nprogrammable)
		control_add(&control, EV_INSTRUCTIONS);
	return control;
}

void read_dead(int fd, struct perfctr_read *rd)
{
	read_all(fd, rd);
	ck_assert_uint_eq(rd->flags & PERFCTR_READ_ATTACHED, 0);
}
