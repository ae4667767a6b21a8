// SPDX-License-Identifier: GPL-2.0
/* libperfctr: handles, by descriptors, pidfds and sockets, and a second one. */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/lib.h"

START_TEST(open_and_close)
{
	struct vperfctr *v, *w;

	errno = 0;
	ck_assert_ptr_null(vperfctr_open_mode(0));
	ck_assert_int_eq(errno, ENOENT);
	v = vperfctr_open();
	ck_assert_ptr_nonnull(v);
	ck_assert_int_ge(vperfctr_fd(v), 0);
	errno = 0;
	ck_assert_ptr_null(vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL));
	ck_assert_int_eq(errno, EEXIST);
	w = vperfctr_open();
	ck_assert_ptr_nonnull(w);
	vperfctr_close(w);
	w = vperfctr_open_mode(0);
	ck_assert_ptr_nonnull(w);
	vperfctr_close(w);
	ck_ok(vperfctr_unlink(v));
	vperfctr_close(v);
	v = vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL);
	ck_assert_ptr_nonnull(v);
	ck_ok(vperfctr_unlink(v));
	ck_ok(vperfctr_unlink(v));
	vperfctr_close(v);
}
END_TEST

/* By root, who could have a session by the kernel's flag */
START_TEST(modes_that_there_are_not)
{
	static const unsigned int modes[] = {
		PERFCTR_OPEN_EXCL, PERFCTR_OPEN_PIDFD, PERFCTR_OPEN_THREAD, PERFCTR_OPEN_CPUS, ~0u,
	};
	unsigned int i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		errno = 0;
		ck_assert_ptr_null(vperfctr_open_mode(modes[i]));
		ck_assert_int_eq(errno, EINVAL);
	}
}
END_TEST

START_TEST(close_gives_all_back)
{
	unsigned int i;
	int before = dup(0), after;

	close(before);
	for (i = 0; i < 200; i++)
		vperfctr_close(usual());
	after = dup(0);
	ck_assert_int_eq(after, before);
	close(after);
}
END_TEST

START_TEST(refusals_keep_their_errno)
{
	struct vperfctr_control control;
	struct vperfctr *v = usual();

	usual_control(&control);
	control.cpu_control.nrictrs = 1;
	control.cpu_control.pmc_map[2] = PERFCTR_MAP_ANY;
	OLD_EVENT(&control.cpu_control, 2, EV_CYCLES);
	ck_errno(vperfctr_control(v, &control), EINVAL);
	usual_control(&control);
	OLD_EVENT(&control.cpu_control, 0, EV_MISSING);
	/* perf counts what it is told. */
	if (has_counters() && !guest.shared)
		ck_errno(vperfctr_control(v, &control), EINVAL);
	ck_assert_int_eq(vperfctr_is_running(v), 1);
	ck_ok(vperfctr_unlink(v));
	usual_control(&control);
	ck_errno(vperfctr_control(v, &control), ESRCH);
	vperfctr_close(v);
}
END_TEST

static void refuses_pidfd(int pidfd, int error)
{
	errno = 0;
	ck_assert_ptr_null(rvperfctr_open_pidfd(pidfd));
	ck_assert_int_eq(errno, error);
}

/* The library finds out whose a pidfd is. */
START_TEST(pidfds_that_are_refused)
{
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC), pidfd;
	pid_t pid;

	refuses_pidfd(-1, EBADF);
	refuses_pidfd(12345, EBADF);
	ck_ok(file);
	refuses_pidfd(file, EBADF);
	ck_ok(pid = fork());
	if (!pid)
		for (;;)
			pause();
	ck_ok(pidfd = (int)syscall(SYS_pidfd_open, pid, 0));
	refuses_pidfd(pidfd, EPERM);
	ck_ok(ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	refuses_pidfd(pidfd, ESRCH);
	ck_ok(kill(pid, SIGKILL));
	ck_ok(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT));
	refuses_pidfd(pidfd, ESRCH);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	refuses_pidfd(pidfd, ESRCH);
}
END_TEST

/* A program that runs under perfex finds its counters held, and learns by whom. */
START_TEST(held_by_another)
{
	struct vperfctr_control control;
	int fd = open_self();
	struct vperfctr *second = vperfctr_open();

	ck_assert_ptr_nonnull(second);
	usual_control(&control);
	ck_ok(_vperfctr_control(fd, &control));
	ck_errno(vperfctr_control(second, &control), EBUSY);
	ck_assert_int_eq(vperfctr_owner(second), PERFCTR_OWNER_HOLDER);
	ck_assert_ptr_nonnull(perfctr_owner_name(PERFCTR_OWNER_HOLDER));
	/* It may still read them. */
	ck_assert_uint_gt(vperfctr_read_tsc(second) + 1, 0);
	close(fd);
	ck_ok(vperfctr_control(second, &control));
	vperfctr_close(second);
}
END_TEST

static void *opens_and_controls(void *arg)
{
	struct vperfctr *v = vperfctr_open();
	struct vperfctr_control control;

	(void)arg;
	usual_control(&control);
	return v && !vperfctr_control(v, &control) ? v : NULL;
}

/*
 * A thread's second handle may control as the first does; it is a descriptor of its own. So may one
 * after the first was closed, or its state unlinked. Those of other threads, and of a child, whose
 * copy of the parent's handle is older, are their own.
 */
START_TEST(second_handle)
{
	struct vperfctr *first = usual(), *second = vperfctr_open(), *third, *other;
	struct vperfctr_control control;
	pthread_t thread;
	void *ret;
	int how;
	pid_t pid;

	usual_control(&control);
	ck_assert_ptr_nonnull(second);
	ck_assert_int_ne(vperfctr_fd(first), vperfctr_fd(second));
	ck_ok(vperfctr_control(second, &control));
	ck_ok(vperfctr_control(first, &control));
	ck_assert_ptr_null(vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL));
	ck_assert_int_eq(errno, EEXIST);

	ck_assert_int_eq(pthread_create(&thread, NULL, opens_and_controls, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, &ret), 0);
	other = ret;
	ck_assert_ptr_nonnull(other);
	ck_ok(pid = fork());
	if (!pid)
		_exit(opens_and_controls(NULL) ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	ck_assert_int_eq(how, 0);
	ck_assert_int_eq(vperfctr_is_running(other), 0);
	vperfctr_close(other);

	vperfctr_close(first);
	ck_assert_int_eq(vperfctr_is_running(second), 1);
	third = vperfctr_open_mode(0);
	ck_assert_ptr_nonnull(third);
	ck_ok(vperfctr_control(third, &control));
	ck_ok(vperfctr_unlink(third));
	/* Not a descriptor of what was unlinked */
	first = vperfctr_open();
	ck_assert_ptr_nonnull(first);
	ck_ok(vperfctr_control(first, &control));
	ck_errno(vperfctr_control(second, &control), ESRCH);
	vperfctr_close(first);
	vperfctr_close(second);
	vperfctr_close(third);
}
END_TEST

START_TEST(raw_descriptors)
{
	struct vperfctr_control control, readback;
	struct perfctr_cpus_info *cpus;
	struct perfctr_sum_ctrs sum;
	struct perfctr_info info;
	int fd;

	/* Without a state there is information, and nothing else. */
	ck_ok(fd = _vperfctr_open(0));
	ck_ok(perfctr_abi_check_fd(fd));
	ck_ok(perfctr_info(fd, &info));
	ck_assert_uint_eq(info.abi_version, PERFCTR_ABI_VERSION);
	ck_assert_ptr_nonnull(cpus = perfctr_cpus_info(fd));
	free(cpus);
	usual_control(&control);
	ck_errno(_vperfctr_control(fd, &control), ENOTTY);
	ck_errno(_vperfctr_read_control(fd, &readback), ENOTTY);
	ck_errno(_vperfctr_read_sum(fd, &sum), ENOTTY);
	close(fd);
	ck_ok(fd = _vperfctr_open(1));
	ck_errno(_vperfctr_open(1), EEXIST);
	ck_ok(_vperfctr_control(fd, &control));
	body_spin(LOOPS);
	ck_ok(_vperfctr_read_control(fd, &readback));
	ck_assert_uint_eq(readback.cpu_control.nractrs, control.cpu_control.nractrs);
	ck_ok(_vperfctr_read_sum(fd, &sum));
	if (has_counters())
		ck_assert_uint_gt(sum.pmc[0], BODY_SPIN(LOOPS));
	close(fd);
	ck_errno(_vperfctr_read_sum(fd, &sum), EBADF);
}
END_TEST

/* A vperfctr made of a handle that came from another process over a socket */
START_TEST(handle_from_a_socket)
{
	struct perfctr_sum_ctrs sum;
	struct vperfctr *v;
	int sock[2];
	pid_t child;

	ck_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	ck_ok(child = fork());
	if (!child) {
		struct vperfctr_control control;
		int fd = _vperfctr_open(1);

		usual_control(&control);
		if (fd < 0 || _vperfctr_control(fd, &control) || send_fd(sock[1], fd))
			_exit(1);
		body_spin(LOOPS);
		_exit(0);
	}
	v = vperfctr_from_fd(receive_fd(sock[0]));
	ck_assert_ptr_nonnull(v);
	expect_exit(child, 0);
	ck_ok(vperfctr_read_ctrs(v, &sum));
	ck_assert_uint_gt(sum.tsc, 0);
	if (has_counters()) {
		ck_assert_uint_gt(sum.pmc[0], BODY_SPIN(LOOPS));
		ck_assert_uint_eq(vperfctr_read_pmc(v, 0), sum.pmc[0]);
	}
	ck_assert_uint_eq(vperfctr_read_tsc(v), sum.tsc);
	ck_assert_int_eq(vperfctr_is_running(v), 0);
	vperfctr_close(v);
}
END_TEST

void lib_handles(void)
{
	GUEST_RUN(open_and_close, AS_USER);
	GUEST_RUN(modes_that_there_are_not, 0);
	GUEST_RUN(close_gives_all_back, AS_USER);
	GUEST_RUN(refusals_keep_their_errno, AS_USER);
	GUEST_RUN(pidfds_that_are_refused, AS_USER);
	GUEST_RUN(second_handle, AS_USER);
	GUEST_RUN(held_by_another, AS_USER);
	GUEST_RUN(raw_descriptors, AS_USER);
	GUEST_RUN(handle_from_a_socket, AS_USER);
}
