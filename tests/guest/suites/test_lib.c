// SPDX-License-Identifier: GPL-2.0
/*
 * libperfctr: the calls of perfctr 2.6 that concern the own thread, and what
 * came beside them, against the real module.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"

#define LOOPS 10000ul

static bool has_counters(void)
{
	return guest.nprogrammable != 0;
}

/* The clock, and instructions and store misses where there are counters. */
static void usual_control(struct vperfctr_control *control)
{
	memset(control, 0, sizeof(*control));
	control->cpu_control.extended = PERFCTR_EXTENDED;
	control->cpu_control.tsc_on = 1;
	USER_MODE(control);
	if (guest.shared)
		control->source = VPERFCTR_SOURCE_SHARED;
	if (!has_counters())
		return;
	control->cpu_control.nractrs = 2;
	control->cpu_control.pmc_map[0] = PERFCTR_MAP_ANY;
	OLD_EVENT(&control->cpu_control, 0, EV_INSTRUCTIONS);
	control->cpu_control.pmc_map[1] = PERFCTR_MAP_ANY;
	OLD_EVENT(&control->cpu_control, 1, EV_DTLB_STORE_MISSES);
}

/* On the P6 the second counter has no enable bit, also if ANY became that counter. */
static unsigned int reserved_in_second(void)
{
#if defined(__x86_64__) || defined(__i386__)
	/* perf chooses the counter, so the control stays as it was given. */
	if (guest.nprogrammable == 2 && !guest.info.events[0] && !guest.shared)
		return 1u << 22;
#endif
	return 0;
}

static struct vperfctr *usual(void)
{
	struct vperfctr_control control;
	struct vperfctr *v = vperfctr_open();

	ck_assert_msg(v != NULL, "vperfctr_open: %s", strerror(errno));
	usual_control(&control);
	ck_ok(vperfctr_control(v, &control));
	return v;
}

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

START_TEST(info_of_any_descriptor)
{
	struct perfctr_info one, two, three;
	struct vperfctr *v = usual();
	int dev;

	ck_ok(vperfctr_info(v, &one));
	ck_ok(perfctr_get_info(&two));
	ck_ok(dev = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC));
	ck_ok(perfctr_info(dev, &three));
	ck_assert_uint_eq(one.abi_version, PERFCTR_ABI_VERSION);
	ck_assert_str_eq(one.driver_version, two.driver_version);
	ck_assert_uint_eq(one.cpu_type, guest.info.cpu_type);
	ck_assert_mem_eq(&two, &three, sizeof(two));
	ck_assert_uint_eq(perfctr_info_nrctrs(&one), guest.info.nrctrs);
	ck_assert_ptr_nonnull(perfctr_info_cpu_name(&one));
	ck_assert_int_eq(perfctr_abi_check_fd(dev), 0);
	ck_assert_int_eq(perfctr_abi_check_fd(vperfctr_fd(v)), 0);
	ck_errno(perfctr_info(0, &one), ENOTTY);
	vperfctr_close(v);
}
END_TEST

START_TEST(cpus_info)
{
	struct vperfctr *v = usual();
	struct perfctr_cpus_info *info = vperfctr_cpus_info(v);
	unsigned int i, n = 0;

	ck_assert_ptr_nonnull(info);
	for (i = 0; i < info->cpus->nrwords; i++)
		n += (unsigned int)__builtin_popcount(info->cpus->mask[i]);
	ck_assert_uint_eq(n, guest.ncpus);
	for (i = 0; i < info->cpus_forbidden->nrwords; i++)
		ck_assert_uint_eq(info->cpus_forbidden->mask[i], 0);
	free(info);
	vperfctr_close(v);
}
END_TEST

START_TEST(every_way_to_read_agrees)
{
	struct perfctr_sum_ctrs a, b, c, d;
	struct vperfctr_control control, expected;
	struct vperfctr *v = usual();
	struct perfctr_read rd;
	uint64_t tsc;

	body_spin(LOOPS);
	tsc = vperfctr_read_tsc(v);
	ck_ok(vperfctr_read_ctrs(v, &a));
	ck_ok(vperfctr_read_state(v, &b, &control));
	ck_ok(vperfctr_read_ctrs(v, &c));
	ck_ok(_vperfctr_read_sum(vperfctr_fd(v), &d));
	ck_ok(vperfctr_read_native(v, &rd));
	ck_assert_uint_le(tsc, a.tsc);
	ck_assert_uint_le(a.tsc, b.tsc);
	ck_assert_uint_le(b.tsc, c.tsc);
	ck_assert_uint_le(c.tsc, d.tsc);
	ck_assert_uint_le(d.tsc, rd.clock);
	usual_control(&expected);
	ck_assert_uint_eq(control.cpu_control.tsc_on, 1);
	ck_assert_uint_eq(control.cpu_control.nractrs, expected.cpu_control.nractrs);
	ck_assert_uint_eq(control.cpu_control.nrictrs, 0);
	ck_assert_int_eq(control.si_signo, 0);
	if (!has_counters())
		return;
	ck_assert_uint_gt(a.pmc[0], BODY_SPIN(LOOPS));
	ck_assert_uint_lt(a.pmc[0], b.pmc[0]);
	ck_assert_uint_lt(b.pmc[0], c.pmc[0]);
	ck_assert_uint_lt(c.pmc[0], d.pmc[0]);
	ck_assert_uint_lt(d.pmc[0], rd.sum[0]);
	ck_assert_uint_lt(rd.sum[0], vperfctr_read_pmc(v, 0));
	ck_assert_uint_le(rd.sum[1], vperfctr_read_pmc(v, 1));
	ck_assert_uint_eq(control.cpu_control.evntsel[0], EVNTSEL(EV_INSTRUCTIONS));
	ck_assert_uint_eq(control.cpu_control.evntsel[1],
			  EVNTSEL(EV_DTLB_STORE_MISSES) & ~reserved_in_second());
	/* Either pointer may be NULL. */
	ck_ok(vperfctr_read_state(v, &b, NULL));
	ck_ok(vperfctr_read_state(v, NULL, &control));
	vperfctr_close(v);
}
END_TEST

/* Out of line, so that it is the same code for any @n. */
static __attribute__((noipa)) unsigned long long count_once(const struct vperfctr *v,
							    unsigned long n)
{
	unsigned long long first = vperfctr_read_pmc(v, 0);

	body_spin(n);
	return vperfctr_read_pmc(v, 0) - first;
}

/* The read's own length drops out of the difference of two counts. */
static void counts_exactly(const struct vperfctr *v)
{
	unsigned int i, exact = 0;

	for (i = 0; i < 100; i++)
		exact += count_once(v, LOOPS + i) - count_once(v, i + 1) == 2 * (LOOPS - 1);
	/* All are exact, but for a read that was repeated because of a switch. */
	ck_assert_uint_ge(exact, 95);
}

START_TEST(reads_are_exact)
{
	struct vperfctr *v = usual();

	counts_exactly(v);
	vperfctr_close(v);
}
END_TEST

static __attribute__((noipa)) unsigned long long count_once_fenced(const struct vperfctr *v,
								   unsigned long n)
{
	unsigned long long first = vperfctr_read_pmc_fenced(v, 0);

	body_spin(n);
	return vperfctr_read_pmc_fenced(v, 0) - first;
}

/* One fence behind the first read and one before the second are all that is counted more. */
START_TEST(fenced_reads_are_exact)
{
	struct vperfctr *v = usual();
	unsigned int i, exact = 0, more = 0;
	unsigned long long fences = 2;

#if defined(__i386__) && !defined(__SSE2__)
	/* CPUID, and what it takes: some more, but always as many */
	fences = count_once_fenced(v, 1) - count_once(v, 1);
	ck_assert_uint_gt(fences, 2);
	ck_assert_uint_lt(fences, 30);
#endif
	for (i = 0; i < 100; i++) {
		exact += count_once_fenced(v, LOOPS + i) - count_once_fenced(v, i + 1) ==
			 2 * (LOOPS - 1);
		more += count_once_fenced(v, i + 1) - count_once(v, i + 1) == fences;
	}
	/* As counts_exactly() */
	ck_assert_uint_ge(exact, 95);
	ck_assert_uint_ge(more, 95);
	vperfctr_close(v);
}
END_TEST

START_TEST(a_counter_that_is_not_there)
{
	struct vperfctr *v = usual();
	unsigned int n = has_counters() ? 2 : 0;

	/* Also if a register has that number, and counts */
	for (; n < PERFCTR_MAX_CTRS; n++) {
		errno = 0;
		ck_assert_uint_eq(vperfctr_read_pmc(v, n), PERFCTR_NO_COUNT);
		ck_assert_int_eq(errno, EINVAL);
	}
	errno = 0;
	ck_assert_uint_eq(vperfctr_read_pmc(v, 1000000), PERFCTR_NO_COUNT);
	ck_assert_int_eq(errno, EINVAL);
	vperfctr_close(v);
}
END_TEST

START_TEST(preserve_and_stop)
{
	struct vperfctr_control control;
	struct vperfctr *v = usual();
	unsigned long long sum;

	usual_control(&control);
	body_spin(LOOPS);
	if (has_counters()) {
		sum = vperfctr_read_pmc(v, 0);
		control.preserve = 1;
		ck_ok(vperfctr_control(v, &control));
		ck_assert_uint_gt(vperfctr_read_pmc(v, 0), sum);
		control.preserve = 0;
		ck_ok(vperfctr_control(v, &control));
		ck_assert_uint_lt(vperfctr_read_pmc(v, 0), LOOPS);
	}
	ck_assert_int_eq(vperfctr_is_running(v), 1);
	ck_ok(vperfctr_stop(v));
	ck_assert_int_eq(vperfctr_is_running(v), 0);
	ck_errno(vperfctr_iresume(v), EINVAL);
	vperfctr_close(v);
}
END_TEST

static struct vperfctr *the_handle;
static volatile unsigned int overflows;
static unsigned long long overflow_sum;
static int overflow_mask;

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	if (info->si_code != SI_PMC_OVF)
		return;
	overflow_mask = info->si_pmc_ovf_mask;
	overflow_sum = vperfctr_read_pmc(the_handle, 1);
	overflows++;
	vperfctr_iresume(the_handle);
}

/* By perfctr 2.6's names, and then by REFRESH */
START_TEST(interrupt_mode)
{
	struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO };
	struct vperfctr_control control, again;
	struct perfctr_control native;

	(void)sigaction(SIGUSR1, &action, NULL);
	memset(&control, 0, sizeof(control));
	control.si_signo = SIGUSR1;
	control.cpu_control.tsc_on = 1;
	control.cpu_control.nractrs = 1;
	control.cpu_control.nrictrs = 1;
	control.cpu_control.pmc_map[0] = PERFCTR_MAP_ANY;
	OLD_EVENT(&control.cpu_control, 0, EV_DTLB_LOAD_MISSES);
	control.cpu_control.pmc_map[1] = PERFCTR_MAP_ANY;
	OLD_EVENT(&control.cpu_control, 1, EV_INSTRUCTIONS);
	control.cpu_control.evntsel[1] = EVNTSEL_INT(EV_INSTRUCTIONS);
	control.cpu_control.ireset[1] = IRESET(50000);
	USER_MODE(&control);
	the_handle = vperfctr_open();
	ck_assert_ptr_nonnull(the_handle);
	ck_ok(vperfctr_control(the_handle, &control));
	body_spin(60000);
	ck_assert_uint_eq(overflows, 2);
	ck_assert_int_eq(overflow_mask, 2);
	ck_assert_uint_eq(overflow_sum, 100000);
	memset(&control, 0, sizeof(control));
	ck_ok(vperfctr_read_state(the_handle, NULL, &control));
	ck_assert_int_eq(control.si_signo, SIGUSR1);
	ck_assert_uint_eq(control.cpu_control.nrictrs, 1);
	ck_assert_int_eq(control.cpu_control.ireset[1], IRESET(50000));
	/* The counter that ANY became, in a form that can be given again */
	ck_assert_uint_ne(control.cpu_control.pmc_map[1], PERFCTR_MAP_ANY);
	ck_ok(vperfctr_control(the_handle, &control));
	ck_ok(vperfctr_read_state(the_handle, NULL, &again));
	ck_assert_mem_eq(&again, &control, sizeof(control));
	overflows = 0;
	body_spin(60000);
	ck_assert_uint_eq(overflows, 2);

	/* Nobody resumes: the last of three suspends. */
	(void)signal(SIGUSR1, SIG_IGN);
	memset(&native, 0, sizeof(native));
	ck_ok(vperfctr_read_control_native(the_handle, &native));
	ck_ok(vperfctr_control_native(the_handle, &native));
	ck_ok(vperfctr_refresh(the_handle, 3));
	body_spin(200000);
	ck_assert_uint_eq(vperfctr_read_pmc(the_handle, 1), 150000);
	ck_assert_int_eq(vperfctr_is_running(the_handle), 1);
	ck_errno(vperfctr_refresh(the_handle, 0), EINVAL);
	ck_ok(vperfctr_iresume(the_handle));
	vperfctr_close(the_handle);
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

START_TEST(fixed_registers)
{
	struct perfctr_control control;
	struct vperfctr *v = vperfctr_open();
	unsigned long long cycle, instret;

	ck_assert_ptr_nonnull(v);
	control_init(&control);
	control_add_at(&control, 0, EV_CYCLES, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL);
	control_add_at(&control, 2, EV_INSTRUCTIONS, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL);
	ck_ok(vperfctr_control_native(v, &control));
#if defined(__riscv)
	cycle = vperfctr_read_cycle(v);
	instret = vperfctr_read_instret(v);
	body_spin(LOOPS);
	ck_assert_uint_ge(vperfctr_read_cycle(v) - cycle, BODY_SPIN(LOOPS));
	ck_assert_uint_ge(vperfctr_read_instret(v) - instret, BODY_SPIN(LOOPS));
#else
	cycle = 0;
	instret = 0;
	ck_assert_uint_eq(cycle, instret);
#endif
	errno = 0;
	ck_assert_uint_eq(vperfctr_read_reg(v, 3), PERFCTR_NO_COUNT);
	ck_assert_int_eq(errno, EINVAL);
	vperfctr_close(v);
}
END_TEST

#if defined(__x86_64__) || defined(__i386__)
/* The fixed counters by 2.6's numbers; 2.6 did not look at their events. */
START_TEST(fixed_counters_of_x86)
{
	static const unsigned int fixed[] = { 0xc0, 0x3c, 0x13c };
	unsigned int i, n, bare;
	struct vperfctr_control control, back;
	struct perfctr_control native;
	struct perfctr_sum_ctrs sum, before;
	struct vperfctr *v = vperfctr_open();

	ck_assert_ptr_nonnull(v);
	memset(&sum, 0, sizeof(sum));
	memset(&before, 0, sizeof(before));
	memset(&control, 0, sizeof(control));
	control.cpu_control.extended = PERFCTR_EXTENDED;
	control.source = VPERFCTR_SOURCE_NATIVE;
	control.cpu_control.tsc_on = 1;
	control.cpu_control.nractrs = 1;
	control.cpu_control.pmc_map[0] = 0x40000000;
	control.cpu_control.evntsel[0] = EVNTSEL(fixed[0]);
	if (!(guest.info.counters >> 24)) {
		ck_errno(vperfctr_control(v, &control), EINVAL);
		vperfctr_close(v);
		return;
	}
	for (bare = 0; bare < 2; bare++) {
		memset(&control, 0, sizeof(control));
		control.cpu_control.extended = PERFCTR_EXTENDED;
		control.cpu_control.tsc_on = 1;
		/* QEMU counts its reference cycles by instructions too. */
		for (n = 0; n < 3 && guest.info.counters >> (24 + n) & 1; n++) {
			control.cpu_control.pmc_map[n] = 0x40000000 + n;
			control.cpu_control.evntsel[n] = EVNTSEL(bare ? 0 : fixed[n]);
		}
		control.cpu_control.pmc_map[n] = 1;
		OLD_EVENT(&control.cpu_control, n, EV_INSTRUCTIONS);
		n++;
		control.cpu_control.nractrs = n;
		/* The first time the dynamic linker finds the calls, which adds instructions. */
		for (i = 0; i < 3; i++) {
			before = sum;
			ck_ok(vperfctr_control(v, &control));
			body_spin(LOOPS * (i + 1));
			ck_ok(vperfctr_read_state(v, &sum, &back));
		}
		for (i = 0; i < n; i++) {
			ck_assert_uint_eq(back.cpu_control.pmc_map[i],
					  control.cpu_control.pmc_map[i]);
			ck_assert_uint_eq(back.cpu_control.evntsel[i],
					  EVNTSEL(i < n - 1 ? fixed[i] : EV_INSTRUCTIONS));
			ck_assert_uint_eq(sum.pmc[i] - before.pmc[i],
					  BODY_SPIN(3 * LOOPS) - BODY_SPIN(2 * LOOPS));
		}
		/* All counts are of one moment. */
		ck_assert_uint_eq(sum.pmc[n - 1], sum.pmc[0]);
		ck_ok(vperfctr_read_control_native(v, &native));
		ck_assert_uint_eq(native.ctr[0].map, 24);
		ck_ok(vperfctr_control(v, &back));
	}
	OLD_EVENT(&control.cpu_control, 0, EV_CYCLES);
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.evntsel[0] = EVNTSEL(fixed[0]) & ~(1u << 22);
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.evntsel[0] = fixed[0];	/* no mode */
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.evntsel[0] = EVNTSEL_INT(fixed[0]);
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.evntsel[0] = EVNTSEL(fixed[0]);
	control.cpu_control.pmc_map[0] = 0x40000008;
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.pmc_map[0] = 0x40000000;
	control.cpu_control.evntsel_high[0] = 1;
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.evntsel_high[0] = 0;
	ck_ok(vperfctr_control(v, &control));
	vperfctr_close(v);
}
END_TEST
#endif

START_TEST(snapshots_of_fewer)
{
	struct perfctr_sum_ctrs sum;
	struct vperfctr *v = usual();

	memset(&sum, 0x5a, sizeof(sum));
	ck_ok(vperfctr_snapshot(v, &sum, 1));
	ck_assert_uint_eq(sum.pmc[1], 0x5a5a5a5a5a5a5a5aull);
	ck_assert_uint_ne(sum.pmc[0], 0x5a5a5a5a5a5a5a5aull);
	ck_ok(vperfctr_snapshot(v, &sum, 2));
	ck_assert_uint_ne(sum.pmc[1], 0x5a5a5a5a5a5a5a5aull);
	errno = 0;
	ck_assert_int_eq(vperfctr_snapshot(v, &sum, 3), -1);
	ck_assert_int_eq(errno, EINVAL);
	vperfctr_close(v);
}
END_TEST

/* Each thread has counters of its own, and its parent's handle reads the parent's. */
static void *count_as_thread(void *arg)
{
	struct vperfctr *parents = arg, *own;
	struct vperfctr_control control;
	unsigned long long first;

	own = vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL);
	usual_control(&control);
	if (!own || vperfctr_control(own, &control))
		return "a thread cannot count";
	if (!vperfctr_control(parents, &control) || errno != EPERM)
		return "it controls another";
	first = vperfctr_read_tsc(parents);
	body_spin(100 * LOOPS);
	if (vperfctr_read_tsc(own) == PERFCTR_NO_COUNT)
		return "it cannot read its own";
	if (vperfctr_read_tsc(parents) < first)
		return "the parent's clock goes back";
	vperfctr_close(own);
	return NULL;
}

START_TEST(threads)
{
	struct vperfctr *v = usual();
	pthread_t thread[4];
	unsigned int i;
	void *wrong;

	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, count_as_thread, v), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], &wrong);
		ck_assert_msg(!wrong, "%s", (const char *)wrong);
	}
	ck_assert_int_eq(vperfctr_is_running(v), 1);
	vperfctr_close(v);
}
END_TEST

START_TEST(events)
{
	const struct perfctr_event_set *set = perfctr_event_names(guest.info.cpu_type);
	struct perfctr_ctr_control ctr;
	unsigned int i, counted = 0;
	struct perfctr_info info;
	bool few;
	int fd = open_self();

	ck_ok(perfctr_get_info(&info));
	ck_assert_ptr_nonnull(set);
	ck_assert_uint_eq(set->cpu_type, guest.info.cpu_type);
	/* The kernel counts every event that the library calls available, a metric with SLOTS. */
	for (i = 0; i < set->nevents; i++) {
		struct perfctr_control control;
		int available, err;

		memset(&ctr, 0, sizeof(ctr));
		ck_ok(perfctr_event_parse(guest.info.cpu_type, set->events[i].name, &ctr));
		available = perfctr_event_available(&info, &ctr);
		ctr.flags |= PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL;
		control_init(&control);
		if (ctr.flags & PERFCTR_CTR_PERF)
			control.source = PERFCTR_SOURCE_SHARED;
		if (!strncmp(set->events[i].name, "topdown-", 8))
			control_add_at(&control, PERFCTR_MAP_ANY, PERFCTR_EVENT_SLOTS, ctr.flags);
		control.ctr[control.nractrs++] = ctr;
		err = try_control(fd, &control);
		/* perf counts metrics in groups only. */
		if (control.source == PERFCTR_SOURCE_SHARED && control.nractrs == 2) {
			ck_assert_int_eq(err, available ? -EOPNOTSUPP : -EINVAL);
			continue;
		}
		/* perf counts what it is told, and of its own events it alone knows. */
		if (control.source == PERFCTR_SOURCE_SHARED)
			ck_assert_msg(available ? !err || ctr.flags & PERFCTR_CTR_PERF :
						  !err || err == -EINVAL || err == -EXDEV ||
						  err == -EOPNOTSUPP,
				      "%s: %s", set->events[i].name, strerror(-err));
		else if (is_amd() && control.reason == PERFCTR_REASON_SOURCE)
			/* The northbridge's, which perf alone counts */
			ck_assert_msg(available && err == -EOPNOTSUPP &&
				      !strncmp(set->events[i].name, "node-", 5), "%s: %s",
				      set->events[i].name, strerror(-err));
		else
			ck_assert_msg(available ? !err : err == -EINVAL, "%s: %savailable, %s",
				      set->events[i].name, available ? "" : "not ",
				      err ? strerror(-err) : "counted");
		counted += !err;
	}
	/* Of an emulated ARM perf counts cycles and instructions alone; the 604e has no other names. */
	few = !guest.info.counters || (is_ppc() && guest.info.cpu_type == PERFCTR_PPC_604e);
	if (is_pentium()) {
		ck_assert_uint_eq(counted, set->nevents);
		return;
	}
	ck_assert_uint_ge(counted, !has_counters() ? 0 : few ? 2 : 4);
}
END_TEST

/* --- sources --- */

static void count_from(struct vperfctr *v, unsigned int source)
{
	struct vperfctr_control control;

	usual_control(&control);
	control.source = source;
	ck_assert_msg(!vperfctr_control(v, &control), "%s: %s", strerror(errno),
		      perfctr_reason_name((unsigned int)vperfctr_reason(v)));
	ck_assert_int_eq(vperfctr_reason(v), PERFCTR_REASON_NONE);
}

static unsigned int source_of(const struct vperfctr *v)
{
	struct vperfctr_control control;

	ck_ok(vperfctr_read_state(v, NULL, &control));
	return control.source;
}

/* As a program for 2.6 does, which knows nothing of sources */
START_TEST(any_source_counts)
{
	struct vperfctr *v = vperfctr_open();
	unsigned int expected = VPERFCTR_SOURCE_NATIVE;

	/* There are none of the module's own; or, on x86, the watchdog has the counters now. */
	if (!guest.info.counters || (guest.shared && is_x86()))
		expected = VPERFCTR_SOURCE_SHARED;
	count_from(v, 0);
	ck_assert_uint_eq(source_of(v), expected);
	counts_exactly(v);
	vperfctr_close(v);
}
END_TEST

/* The same by the kernel's structure; a control of the clock alone has no source. */
START_TEST(source_is_told)
{
	struct vperfctr *v = vperfctr_open();
	struct perfctr_control native;
	struct vperfctr_control clock;
	struct perfctr_info about;

	count_from(v, VPERFCTR_SOURCE_SHARED);
	ck_assert_uint_eq(source_of(v), VPERFCTR_SOURCE_SHARED);
	ck_ok(vperfctr_read_control_native(v, &native));
	ck_assert_uint_eq(native.source, PERFCTR_SOURCE_SHARED);
	ck_ok(vperfctr_info(v, &about));
	ck_assert_uint_eq(about.source, PERFCTR_SOURCE_SHARED);
	counts_exactly(v);
	memset(&clock, 0, sizeof(clock));
	clock.cpu_control.extended = PERFCTR_EXTENDED;
	clock.cpu_control.tsc_on = 1;
	clock.source = VPERFCTR_SOURCE_SHARED;
	ck_ok(vperfctr_control(v, &clock));
	ck_assert_uint_eq(source_of(v), VPERFCTR_SOURCE_ANY);
	clock.source = VPERFCTR_SOURCE_SHARED + 1;
	ck_errno(vperfctr_control(v, &clock), EINVAL);
	vperfctr_close(v);
}
END_TEST

/* No register is the thread's, whatever its number. */
START_TEST(shared_has_no_registers)
{
	struct vperfctr *v = vperfctr_open();
	unsigned int reg;

	count_from(v, VPERFCTR_SOURCE_SHARED);
	for (reg = 0; reg < 80; reg++) {
		/* The clock is read as ever: slot 1 on RISC-V, 64 on x86. */
		if (reg == 1 || reg == 64)
			continue;
		errno = 0;
		ck_assert_uint_eq(vperfctr_read_reg(v, reg), PERFCTR_NO_COUNT);
		ck_assert_int_eq(errno, EINVAL);
	}
	ck_assert_uint_lt(vperfctr_read_pmc(v, 0), vperfctr_read_pmc(v, 0));
	ck_assert_uint_le(vperfctr_read_tsc(v), vperfctr_read_tsc(v));
	vperfctr_close(v);
}
END_TEST

#if defined(__x86_64__) || defined(__i386__)

#define PAGES	300ul

/* Branches, new pages for stores, and pages of code that nobody has executed */
struct caused {
	struct body_touch_arg data;
	unsigned char *code;
};

static void prepare(struct caused *c)
{
	c->data.n = PAGES;
	c->data.base = mmap(NULL, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	c->code = mmap(NULL, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(c->data.base != MAP_FAILED && c->code != MAP_FAILED);
	memset(c->code, 0xc3, PAGES * PAGE_SIZE);	/* RET */
	/* Which takes them out of the TLB */
	ck_ok(mprotect(c->code, PAGES * PAGE_SIZE, PROT_READ | PROT_EXEC));
}

static void cause(const struct caused *c)
{
	const unsigned char *at;
	void (*run)(void);
	unsigned long i;

	body_spin(20000);
	body_touch((unsigned long)&c->data);
	for (i = 0; i < PAGES; i++) {
		at = c->code + i * PAGE_SIZE;
		memcpy((void *)&run, (const void *)&at, sizeof(run));
		run();
	}
}

static void discard(const struct caused *c)
{
	munmap(c->data.base, PAGES * PAGE_SIZE);
	munmap(c->code, PAGES * PAGE_SIZE);
}

/* What it causes alone, and not the calls around it */
static uint64_t caused(uint64_t (*count)(int fd), int fd, const struct caused *c)
{
	uint64_t first = count(fd), before = count(fd);

	cause(c);
	return count(fd) - before - (before - first);
}

static uint64_t first_sum(int fd)
{
	return read_sum(fd, 0);
}

/* What perf counts by its own name: false if it has no such event on this processor */
static bool perf_counts(unsigned int config, uint64_t *count)
{
	struct perf_event_attr attr;
	struct caused c;
	int fd;

	perf_attr_init(&attr, EV_CYCLES);
	attr.type = PERF_TYPE_HW_CACHE;
	attr.config = config;
	prepare(&c);
	fd = perf_open(&attr, 0, -1, -1);
	if (fd >= 0)
		*count = caused(perf_read_one, fd, &c);
	discard(&c);
	if (fd < 0) {
		ck_assert_msg(errno == ENOENT || errno == EINVAL, "%s", strerror(errno));
		return false;
	}
	close(fd);
	return true;
}

static uint64_t count_by_name(const struct perfctr_ctr_control *ctr)
{
	struct perfctr_control control;
	int fd = open_self();
	struct caused c;
	uint64_t count;

	control_init(&control);
	control.ctr[control.nractrs++] = *ctr;
	prepare(&c);
	set_control(fd, &control);
	count = caused(first_sum, fd, &c);
	unlink_self(fd);
	discard(&c);
	return count;
}

/* perf's names of cache events are what perf has under them, or are refused as perf refuses them. */
START_TEST(cache_events_are_perfs)
{
	const struct perfctr_event_set *names = perfctr_event_names(PERFCTR_X86_GENERIC);
	unsigned int i, asked = 0, counted = 0, known = 0;
	struct perfctr_info info;

	ck_ok(perfctr_get_info(&info));
	if (is_amd() || guest.info.cpu_type == PERFCTR_X86_INTEL_P4)
		return;
	for (i = 0; i < names->nevents; i++) {
		unsigned int config = names->events[i].evntsel & 0xffffff;
		uint64_t theirs = 0, ours = 0;
		struct perfctr_ctr_control ctr;
		char name[64];
		bool has;

		if (names->events[i].evntsel >> 24 != PERF_TYPE_HW_CACHE)
			continue;
		asked++;
		has = perf_counts(config, &theirs);
		snprintf(name, sizeof(name), "%s:u", names->events[i].name);
		if (perfctr_event_parse(guest.info.cpu_type, name, &ctr) < 0) {
			ck_assert_int_eq(errno, EOPNOTSUPP);
			ck_assert_msg(!has, "perf has %s", name);
			continue;
		}
		ck_assert_msg(has, "perf has no %s", name);
		known++;
		/* The processor says of this one that it has it not. */
		if (!perfctr_event_available(&info, &ctr))
			ck_assert_uint_eq(theirs, 0);
		else
			ours = count_by_name(&ctr);
		/* Misses of a TLB are also by what others do to it. */
		ck_assert_msg(ours + 20 >= theirs && ours <= theirs + 20, "%s: %llu, perf says %llu", name,
			      (unsigned long long)ours, (unsigned long long)theirs);
		counted += ours >= PAGES;
	}
	printf("# %u of %u names are known, %u of them counted\n", known, asked, counted);
	ck_assert_uint_eq(asked, 32);
	ck_assert_uint_ge(known, 9);
	/* The emulated processors have branches all, and others of these each. */
	ck_assert_uint_ge(counted, 1);
}
END_TEST

#endif

/* What the library makes of names where the module has no driver counts on any processor. */
START_TEST(events_of_perf)
{
	struct vperfctr *v = vperfctr_open();
	struct perfctr_control native = { .tsc_on = 1, .nractrs = 2 };
	struct vperfctr_control control, again;
	unsigned int i;
	char name[64];

	native.source = PERFCTR_SOURCE_ANY;
	ck_ok(perfctr_event_parse(PERFCTR_X86_GENERIC, "instructions:u", &native.ctr[0]));
	ck_ok(perfctr_event_parse(PERFCTR_X86_GENERIC, "cycles:u", &native.ctr[1]));
	ck_ok(vperfctr_control_native(v, &native));
	ck_assert_uint_eq(source_of(v), VPERFCTR_SOURCE_SHARED);
	counts_exactly(v);

	/* The same by perfctr 2.6's structure */
	ck_ok(vperfctr_read_state(v, NULL, &control));
	ck_assert_uint_eq(control.cpu_control.perf_user, 3);
	ck_assert_uint_eq(control.cpu_control.perf_kernel, 0);
	ck_ok(vperfctr_stop(v));
	ck_ok(vperfctr_control(v, &control));
	counts_exactly(v);
	ck_ok(vperfctr_read_state(v, NULL, &again));
	ck_assert_mem_eq(&again, &control, sizeof(control));
	ck_ok(vperfctr_read_control_native(v, &native));
	for (i = 0; i < 2; i++) {
		perfctr_event_format(guest.info.cpu_type, &native.ctr[i], name, sizeof(name));
		ck_assert_str_eq(name, i ? "cycles:u" : "instructions:u");
	}

	/* By the module's own driver they cannot be counted, and the library says why. */
	control.source = VPERFCTR_SOURCE_NATIVE;
	ck_errno(vperfctr_control(v, &control), EOPNOTSUPP);
	ck_assert_int_eq(vperfctr_reason(v), PERFCTR_REASON_SOURCE);
	ck_assert_str_ne(perfctr_reason_name((unsigned int)vperfctr_reason(v)), "unknown");
	vperfctr_close(v);
}
END_TEST

/* perf keeps half of the counters from users: the rest is for those who have none of ours. */
START_TEST(half_without_privilege)
{
	struct vperfctr *v = vperfctr_open();
	unsigned int i, half = guest.nprogrammable / 2;
	struct vperfctr_control control;

	memset(&control, 0, sizeof(control));
	control.cpu_control.extended = PERFCTR_EXTENDED;
	control.source = VPERFCTR_SOURCE_SHARED;
	control.cpu_control.nractrs = half;
	/* Codes that each general-purpose counter counts, and no fixed one */
	for (i = 0; i <= half; i++) {
		control.cpu_control.pmc_map[i] = PERFCTR_MAP_ANY;
		control.cpu_control.evntsel[i] = EVNTSEL(0xc4 + (i << 8));
	}
	ck_ok(vperfctr_control(v, &control));
	control.cpu_control.nractrs++;
	ck_errno(vperfctr_control(v, &control), EBUSY);
	ck_assert_int_eq(vperfctr_reason(v), PERFCTR_REASON_HALF);
	vperfctr_close(v);
}
END_TEST

START_TEST(printing)
{
	struct vperfctr_control control;
	struct perfctr_cpus_info *cpus;
	struct perfctr_info about;
	int out, null;

	ck_ok(perfctr_get_info(&about));
	cpus = perfctr_cpus_info(open_device());
	ck_assert_ptr_nonnull(cpus);
	usual_control(&control);
	ck_ok(out = dup(1));
	ck_ok(null = open("/dev/null", O_WRONLY | O_CLOEXEC));
	ck_ok(dup2(null, 1));
	perfctr_info_print(&about);
	perfctr_cpus_info_print(cpus);
	perfctr_cpu_control_print(&control.cpu_control);
	(void)fflush(stdout);
	ck_ok(dup2(out, 1));
	free(cpus);
}
END_TEST

/* --- without the module, or without permission --- */

START_TEST(no_permission)
{
	int fd;

	ck_ok(chmod(PERFCTR_DEVICE, 0600));
	become(GUEST_UID);
	errno = 0;
	ck_assert_ptr_null(vperfctr_open());
	ck_assert_int_eq(errno, EACCES);
	fd = _vperfctr_open(1);
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(errno, EACCES);
}
END_TEST

START_TEST(no_module)
{
	struct perfctr_info about;

	ck_assert_int_eq(module_unload_patiently(), 0);
	errno = 0;
	ck_assert_ptr_null(vperfctr_open());
	ck_assert_int_eq(errno, ENOENT);
	ck_errno(perfctr_get_info(&about), ENOENT);
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

int main(void)
{
	guest_begin("lib", NULL);
	GUEST_RUN(open_and_close, AS_USER);
	GUEST_RUN(modes_that_there_are_not, 0);
	GUEST_RUN(close_gives_all_back, AS_USER);
	GUEST_RUN(info_of_any_descriptor, AS_USER);
	GUEST_RUN(cpus_info, AS_USER);
	GUEST_RUN(every_way_to_read_agrees, AS_USER);
	GUEST_RUN(reads_are_exact, NEED_COUNTERS | AS_USER);
	GUEST_RUN(fenced_reads_are_exact, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(a_counter_that_is_not_there, AS_USER);
	GUEST_RUN(preserve_and_stop, AS_USER);
	GUEST_RUN(refusals_keep_their_errno, AS_USER);
	GUEST_RUN(pidfds_that_are_refused, AS_USER);
	GUEST_RUN(second_handle, AS_USER);
	GUEST_RUN(held_by_another, AS_USER);
	GUEST_RUN(raw_descriptors, AS_USER);
	GUEST_RUN(handle_from_a_socket, AS_USER);
	GUEST_RUN(fixed_registers, NEED_FIXED);
#if defined(__x86_64__) || defined(__i386__)
	GUEST_RUN(fixed_counters_of_x86, NEED_COUNTERS | NEED_NATIVE | LOG_SILENT);
#endif
	GUEST_RUN(snapshots_of_fewer, NEED_COUNTERS | AS_USER);
	GUEST_RUN(threads, AS_USER);
	GUEST_RUN(events, 0);
#if defined(__x86_64__) || defined(__i386__)
	GUEST_RUN(cache_events_are_perfs, NEED_COUNTERS | NEED_PERF | NEED_NATIVE | NEED_EVNTSEL);
#endif
	GUEST_RUN(any_source_counts, NEED_COUNTERS | AS_USER);
	GUEST_RUN(source_is_told, NEED_COUNTERS | NEED_SHARED | AS_USER);
	GUEST_RUN(shared_has_no_registers, NEED_COUNTERS | NEED_SHARED | AS_USER);
	GUEST_RUN(events_of_perf, NEED_COUNTERS | NEED_SHARED | AS_USER);
	GUEST_RUN(half_without_privilege, NEED_COUNTERS | NEED_SHARED | NEED_X86 | AS_USER);
	GUEST_RUN(printing, AS_USER);
	GUEST_RUN(no_permission, 0);
	(void)chmod(PERFCTR_DEVICE, 0666);
	GUEST_RUN(no_module, LOG_MODULE);
	GUEST_RUN(interrupt_mode, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	return guest_end();
}
