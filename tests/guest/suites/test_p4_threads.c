// SPDX-License-Identifier: GPL-2.0
/* The Pentium 4's hyperthreads, of which the second of each core has no counters of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "suites/p4.h"

/*
 * Hyperthreads: CPU 1 is the second one of CPU 0's core.
 */

static void may_run_on(unsigned int mask)
{
	cpu_set_t cpus;
	unsigned int cpu;

	CPU_ZERO(&cpus);
	for (cpu = 0; cpu < 2; cpu++)
		if (mask & 1u << cpu)
			CPU_SET(cpu, &cpus);
	ck_ok(sched_setaffinity(0, sizeof(cpus), &cpus));
}

static unsigned int runs_on(pid_t pid)
{
	cpu_set_t cpus;

	ck_assert_int_eq(sched_getaffinity(pid, sizeof(cpus), &cpus), 0);
	return (CPU_ISSET(0, &cpus) ? 1 : 0) | (CPU_ISSET(1, &cpus) ? 2 : 0);
}

START_TEST(forbidden_cpus)
{
	uint32_t word = 0;
	struct perfctr_cpus cpus = {
		.size = sizeof(cpus), .which = PERFCTR_CPUS_FORBIDDEN, .nrwords = 1,
		.mask = (uintptr_t)&word,
	};
	int dev = open_device();

	ck_ok(ioctl(dev, PERFCTR_IOC_CPUS, &cpus));
	ck_assert_uint_eq(word, 2);
}
END_TEST

/* Affinity excludes it; if nothing is left the control is refused, and all is as before. */
START_TEST(kept_off)
{
	struct perfctr_control control, none;
	int fd = open_self();
	unsigned int i;

	may_run_on(3);
	control_init(&none);
	none.tsc_on = 1;
	set_control(fd, &none);
	ck_assert_uint_eq(runs_on(0), 3);
	control_init(&control);
	control.tsc_on = 1;
	control_add(&control, EV_INSTRUCTIONS);
	may_run_on(2);
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	ck_assert_uint_eq(runs_on(0), 2);
	ck_assert_uint_gt(read_clock(fd), 0);
	may_run_on(3);
	for (i = 0; i < 100; i++) {
		set_control(fd, &control);
		ck_assert_uint_eq(runs_on(0), 1);
		ck_assert_uint_eq(counted(fd, 0, body_spin, LOOPS), EXACT_KERNEL + BODY_SPIN(LOOPS));
		/* It stays so, as in 2.6. */
		set_control(fd, &none);
		ck_assert_uint_eq(runs_on(0), 1);
		may_run_on(3);
	}
}
END_TEST

static volatile sig_atomic_t ills;
static volatile int ill_code;

static void on_ill(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	ill_code = info->si_code;
	ills++;
}

static void catch_ill(void)
{
	struct sigaction action = { .sa_sigaction = on_ill, .sa_flags = SA_SIGINFO };

	ck_ok(sigaction(SIGILL, &action, NULL));
}

/* Who comes there all the same is stopped, and told. What was counted until then stays. */
START_TEST(sent_there)
{
	struct perfctr_control control;
	struct perfctr_read rd, later;
	int fd, i;

	catch_ill();
	may_run_on(3);
	fd = count_event(EV_INSTRUCTIONS);
	body_spin(LOOPS);
	ck_assert_int_eq(ills, 0);
	may_run_on(2);
	ck_assert_int_eq(ills, 1);
	ck_assert_int_eq(ill_code, SI_KERNEL);
	ck_assert_int_eq(try_read(fd, &rd), -EIO);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_LOST);
	ck_assert_uint_ge(rd.sum[0], BODY_SPIN(LOOPS));
	ck_assert_uint_lt(rd.sum[0], BODY_SPIN(LOOPS) + 10000);
	for (i = 0; i < 10; i++) {
		body_spin(LOOPS);
		sleep_us(100);
	}
	ck_assert_int_eq(try_read(fd, &later), -EIO);
	ck_assert_uint_eq(later.sum[0], rd.sum[0]);
	ck_assert_int_eq(ills, 1);
	/* A control begins anew, where it may. */
	may_run_on(3);
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	ck_assert_uint_eq(counted(fd, 0, body_spin, LOOPS), EXACT_KERNEL + BODY_SPIN(LOOPS));
	ck_assert_int_eq(ills, 1);
}
END_TEST

/* Without a handler it dies, at once, although it never calls the kernel. */
START_TEST(killed_there)
{
	volatile int *ready = shared_alloc(sizeof(*ready));
	cpu_set_t second;
	int status;
	pid_t pid = fork();

	if (!pid) {
		may_run_on(3);
		(void)count_event(EV_INSTRUCTIONS);
		*ready = 1;
		for (;;)
			body_spin(LOOPS);
	}
	while (!*ready)
		sleep_us(100);
	CPU_ZERO(&second);
	CPU_SET(1, &second);
	ck_ok(sched_setaffinity(pid, sizeof(second), &second));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL, "status %#x",
		      (unsigned int)status);
}
END_TEST

/* Threads that count the clock alone, or by nothing, are everywhere; perf's registers are perf's. */
START_TEST(clock_is_everywhere)
{
	struct perfctr_control control;
	int fd = open_self();
	uint64_t before;

	catch_ill();
	control_init(&control);
	control.tsc_on = 1;
	set_control(fd, &control);
	may_run_on(2);
	before = read_clock(fd);
	body_spin(LOOPS);
	ck_assert_uint_gt(read_clock(fd), before);
	ck_assert_int_eq(ills, 0);
}
END_TEST

/* Children stay where their parent may be, and count. */
START_TEST(children)
{
	struct perfctr_control control;
	struct perfctr_read_tree tree;
	int fd = open_self(), i;

	may_run_on(3);
	control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT;
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	for (i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			unsigned int cpus = runs_on(0);

			body_spin(LOOPS);
			_exit(cpus == 1 ? 0 : 1);
		}
		expect_exit(pid, 0);
	}
	ck_assert_int_eq(try_read_tree(fd, PERFCTR_TREE_ENDED, &tree), 0);
	ck_assert_uint_ge(tree.sum[0], 20 * BODY_SPIN(LOOPS));
	ck_assert_uint_eq(tree.error, 0);
}
END_TEST

/* A thread that is added to a tree is kept off as well; one that has nowhere else is refused. */
START_TEST(added_member)
{
	volatile int *stage = shared_alloc(sizeof(*stage));
	struct perfctr_add_member add_member = { .size = sizeof(add_member) };
	struct perfctr_control control;
	struct perfctr_read_tree tree;
	cpu_set_t cpus;
	int fd = open_self();
	pid_t pid;

	may_run_on(3);
	pid = fork();
	if (!pid) {
		while (*stage == 0)
			sleep_us(100);
		body_spin(LOOPS);
		_exit(0);
	}
	control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT;
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	ck_ok(ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	ck_ok(sched_setaffinity(pid, sizeof(cpus), &cpus));
	add_member.tid = pid;
	ck_errno(ioctl(fd, PERFCTR_IOC_ADD_MEMBER, &add_member), EINVAL);
	ck_assert_uint_eq(runs_on(pid), 2);
	CPU_SET(0, &cpus);
	ck_ok(sched_setaffinity(pid, sizeof(cpus), &cpus));
	ck_ok(ioctl(fd, PERFCTR_IOC_ADD_MEMBER, &add_member));
	ck_assert_uint_eq(runs_on(pid), 1);
	*stage = 1;
	expect_exit(pid, 0);
	ck_assert_int_eq(try_read_tree(fd, PERFCTR_TREE_ENDED, &tree), 0);
	ck_assert_uint_ge(tree.sum[0], BODY_SPIN(LOOPS));
	ck_assert_uint_eq(tree.error, 0);
}
END_TEST

/* The same of a thread that another one controls */
START_TEST(tracee)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CREAT |
				  PERFCTR_OPEN_THREAD };
	struct perfctr_control control;
	struct perfctr_read rd;
	int fd, status;
	pid_t pid;

	may_run_on(2);
	pid = fork();
	if (!pid) {
		if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			execl("/usr/libexec/perfctr/known", "known", NULL);
		_exit(99);
	}
	ck_assert_int_eq(wait_stop(pid), SIGTRAP);
	fd = open_device();
	o.tid = pid;
	ck_ok(ioctl(fd, PERFCTR_IOC_OPEN, &o));
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	ck_assert_uint_eq(runs_on(pid), 2);
	may_run_on(3);
	{
		cpu_set_t cpus;

		ck_ok(sched_getaffinity(0, sizeof(cpus), &cpus));
		ck_ok(sched_setaffinity(pid, sizeof(cpus), &cpus));
	}
	set_control(fd, &control);
	ck_assert_uint_eq(runs_on(pid), 1);
	ck_ok(ptrace(PTRACE_CONT, pid, NULL, NULL));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	read_all(fd, &rd);
	ck_assert_uint_eq(rd.sum[0], KNOWN_LENGTH(KNOWN_LOOPS));
}
END_TEST

/* A session of CPU 0 counts what both of its threads do, or either; CPU 1 has no session. */
START_TEST(session)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	struct perfctr_read space[2] = {};
	struct perfctr_read_cpu *rd[2] = { (void *)&space[0], (void *)&space[1] };
	struct perfctr_control control;
	int fd = open_device();
	unsigned int i;

	ck_ok(ioctl(fd, PERFCTR_IOC_OPEN, &o));
	control_init(&control);
	control.flags = PERFCTR_CONTROL_CPU;
	control.source = PERFCTR_SOURCE_NATIVE;
	control.cpu = 1;
	control_add(&control, EV_INSTRUCTIONS);
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	control_init(&control);
	control.flags = PERFCTR_CONTROL_CPU;
	control.source = PERFCTR_SOURCE_NATIVE;
	add(&control, 12, SELECT(4), INSNS);
	add(&control, 14, SELECT(4), INSNS | T1_USR);
	control.ctr[1].flags = 0;
	set_control(fd, &control);
	may_run_on(2);
	make_realtime();
	for (i = 0; i < 2; i++)
		rd[i]->size = sizeof(*rd[i]);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ_CPU, space, body_spin, LOOPS), 0);
	ck_assert_uint_eq(rd[1]->sum[1] - rd[0]->sum[1], EXACT_KERNEL + BODY_SPIN(LOOPS));
	may_run_on(1);
	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ_CPU, space, body_spin, LOOPS), 0);
	ck_assert_uint_eq(rd[1]->sum[0] - rd[0]->sum[0], EXACT_KERNEL + BODY_SPIN(LOOPS));
}
END_TEST

void p4_threads(void)
{
	GUEST_RUN(forbidden_cpus, LOG_SILENT | AS_USER);
	GUEST_RUN(kept_off, LOG_SILENT | AS_USER);
	GUEST_RUN(sent_there, LOG_SILENT | AS_USER);
	GUEST_RUN(killed_there, LOG_SILENT | AS_USER);
	GUEST_RUN(clock_is_everywhere, LOG_SILENT | AS_USER);
	GUEST_RUN(children, LOG_SILENT | AS_USER);
	GUEST_RUN(added_member, LOG_SILENT | AS_USER);
	GUEST_RUN(tracee, LOG_SILENT | AS_USER);
	GUEST_RUN(session, LOG_SILENT);
}
