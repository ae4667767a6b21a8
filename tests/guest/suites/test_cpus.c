// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of CPUs: sessions, and threads that are bound to one CPU.
 *
 * A real-time thread that is alone on its CPU executes what that counts in user mode, so what a
 * session counts there is as exact as what the thread counts itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/cpus.h"

#define ONLINE PERFCTR_READ_CPU_ONLINE
#define RUNNING PERFCTR_READ_CPU_RUNNING

static void exact_by(unsigned int source)
{
	struct perfctr_read_cpu rd, again;
	unsigned int cpu = guest.ncpus - 1;
	int fd = open_cpus();

	be_alone_on(cpu);
	count_cpu(fd, cpu, source);
	read_cpu(fd, cpu, &rd);
	ck_assert_uint_eq(rd.sum[0], 0);
	ck_assert_uint_eq(rd.clock, 0);
	ck_assert_uint_eq(rd.flags, ONLINE);
	ck_assert_uint_eq(rd.cstatus, PERFCTR_CSTATUS_CLOCK | 1);
	ck_assert_uint_eq(rd.nrctrs, 1);
	ck_assert_uint_eq(rd.sum[1], 0);
	go(fd);
	expect_exact(fd, cpu);
	read_cpu(fd, cpu, &rd);
	ck_assert_uint_eq(rd.flags, ONLINE | RUNNING);
	stop(fd);
	read_cpu(fd, cpu, &rd);
	ck_assert_uint_eq(rd.flags, ONLINE);
	body_spin(LOOPS);
	read_cpu(fd, cpu, &again);
	ck_assert_uint_eq(rd.sum[0], again.sum[0]);
	ck_assert_uint_eq(rd.clock, again.clock);
	/* It goes on from there, and a new control begins anew. */
	go(fd);
	read_cpu(fd, cpu, &again);
	ck_assert_uint_ge(again.sum[0], rd.sum[0]);
	ck_assert_uint_lt(again.sum[0], rd.sum[0] + BODY_SPIN(LOOPS));
	expect_exact(fd, cpu);
	stop(fd);
	count_cpu(fd, cpu, source);
	read_cpu(fd, cpu, &rd);
	ck_assert_uint_eq(rd.sum[0], 0);
	close(fd);
}

START_TEST(exact_natively)
{
	exact_by(PERFCTR_SOURCE_NATIVE);
}
END_TEST

START_TEST(exact_through_perf)
{
	exact_by(PERFCTR_SOURCE_SHARED);
}
END_TEST

/* Of all CPUs at a time, each by a control of its own, with what threads of each do */
static void all_cpus_by(unsigned int source)
{
	struct perfctr_read_cpu before[64], after[64];
	unsigned int cpu, n = guest.ncpus < 64 ? guest.ncpus : 64;
	struct perfctr_control control;
	int fd = open_cpus();

	for (cpu = 0; cpu < n; cpu++)
		count_cpu(fd, cpu, source);
	/* The last one counts the clock alone, in place of that. */
	control_init(&control);
	control.flags = PERFCTR_CONTROL_CPU;
	control.cpu = n - 1;
	control.tsc_on = 1;
	if (n > 1)
		set_control(fd, &control);
	go(fd);
	for (cpu = 0; cpu < n; cpu++) {
		pin_self(cpu);
		read_cpu(fd, cpu, &before[cpu]);
		body_spin(LOOPS);
		read_cpu(fd, cpu, &after[cpu]);
		ck_assert_uint_gt(after[cpu].clock, before[cpu].clock);
		if (cpu && cpu == n - 1)
			ck_assert_uint_eq(after[cpu].nrctrs, 0);
		else
			ck_assert_uint_ge(after[cpu].sum[0] - before[cpu].sum[0],
					  BODY_SPIN(LOOPS));
	}
	close(fd);
}

START_TEST(all_cpus)
{
	by_each_source(all_cpus_by);
	all_cpus_by(PERFCTR_SOURCE_ANY);
}
END_TEST

/* Sums of another CPU, while a thread there works: perf's event there has counted the same. */
START_TEST(agrees_with_perf)
{
	struct perf_event_attr attr;
	struct perfctr_read_cpu rd[2];
	uint64_t theirs[2];
	int fd = open_cpus(), event, i;
	cpu_set_t set;
	pid_t pid;

	/* Nobody else runs there, but what the test sends. */
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	ck_ok(sched_setaffinity(0, sizeof(set), &set));
	perf_attr_init(&attr, EV_INSTRUCTIONS);
	attr.disabled = 0;
	ck_ok(event = perf_open(&attr, -1, 1, -1));
	count_cpu(fd, 1, PERFCTR_SOURCE_SHARED);
	go(fd);
	for (i = 0; i < 2; i++) {
		/* While nothing runs there in user mode. */
		sleep_us(20000);
		read_cpu(fd, 1, &rd[i]);
		theirs[i] = perf_read_one(event);
		if (i)
			break;
		pid = fork();
		if (!pid) {
			pin_self(1);
			body_spin(10 * LOOPS);
			_exit(0);
		}
		expect_exit(pid, 0);
	}
	ck_assert_uint_ge(rd[1].sum[0] - rd[0].sum[0], BODY_SPIN(10 * LOOPS));
	ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], theirs[1] - theirs[0]);
	close(event);
	close(fd);
}
END_TEST

static void expect_counts(int fd, unsigned int cpu)
{
	struct perfctr_read_cpu before, after;

	read_cpu(fd, cpu, &before);
	body_spin(LOOPS);
	read_cpu(fd, cpu, &after);
	ck_assert_uint_eq(after.flags, ONLINE | RUNNING);
	ck_assert_uint_ge(after.sum[0] - before.sum[0], BODY_SPIN(LOOPS));
}

/* A CPU goes and comes: its sums stand still meanwhile. One may be controlled while it is away. */
static void hotplug_by(unsigned int source)
{
	struct perfctr_read_cpu before, off, again;
	int fd = open_cpus();

	count_cpu(fd, 0, source);
	count_cpu(fd, 1, source);
	go(fd);
	pin_self(1);
	expect_counts(fd, 1);
	read_cpu(fd, 1, &before);
	pin_self(0);
	ck_assert_int_eq(cpu_online(1, false), 0);
	read_cpu(fd, 1, &off);
	ck_assert_uint_eq(off.flags, RUNNING);
	ck_assert_uint_ge(off.sum[0], before.sum[0]);
	expect_counts(fd, 0);
	read_cpu(fd, 1, &again);
	ck_assert_uint_eq(off.sum[0], again.sum[0]);
	ck_assert_uint_eq(off.clock, again.clock);
	ck_assert_int_eq(cpu_online(1, true), 0);
	pin_self(1);
	expect_counts(fd, 1);
	read_cpu(fd, 1, &again);
	ck_assert_uint_ge(again.sum[0], off.sum[0] + BODY_SPIN(LOOPS));

	pin_self(0);
	stop(fd);
	ck_assert_int_eq(cpu_online(1, false), 0);
	count_cpu(fd, 1, source);
	go(fd);
	read_cpu(fd, 1, &off);
	ck_assert_uint_eq(off.flags, RUNNING);
	ck_assert_uint_eq(off.sum[0], 0);
	ck_assert_int_eq(cpu_online(1, true), 0);
	pin_self(1);
	expect_counts(fd, 1);
	/* Closed while it is away */
	pin_self(0);
	ck_assert_int_eq(cpu_online(1, false), 0);
	close(fd);
	ck_assert_int_eq(cpu_online(1, true), 0);
}

START_TEST(hotplug)
{
	/* No kernel with nohz_full= takes off a CPU of it. */
	if (cpu_online(1, false) == -EBUSY)
		return;
	ck_assert_int_eq(cpu_online(1, true), 0);
	by_each_source(hotplug_by);
}
END_TEST

/* Without the idle task a CPU that does nothing counts nothing; what runs there counts as ever. */
static void no_idle_by(unsigned int source)
{
	unsigned int cpu = guest.ncpus - 1;
	struct perfctr_read_cpu before[2], after[2];
	struct perfctr_control control;
	int fd[2] = { open_cpus(), open_cpus() };
	uint64_t all, busy;

	pin_self(0);
	/* The other one has the clock alone, since the registers may be the first one's. */
	cpu_control(&control, cpu, source);
	control.flags |= PERFCTR_CONTROL_NO_IDLE;
	set_control(fd[0], &control);
	control_init(&control);
	control.flags = PERFCTR_CONTROL_CPU;
	control.cpu = cpu;
	control.tsc_on = 1;
	set_control(fd[1], &control);
	go(fd[0]);
	go(fd[1]);
	read_cpu(fd[0], cpu, &before[0]);
	read_cpu(fd[1], cpu, &before[1]);
	sleep_us(200000);
	read_cpu(fd[1], cpu, &after[1]);
	read_cpu(fd[0], cpu, &after[0]);
	busy = after[0].clock - before[0].clock;
	all = after[1].clock - before[1].clock;
	ck_assert_uint_gt(all, 0);
	ck_assert_msg(busy < all / 2, "%llu of %llu ticks", (unsigned long long)busy,
		      (unsigned long long)all);
	be_alone_on(cpu);
	expect_exact(fd[0], cpu);
	sleep_us(1000);
	expect_exact(fd[0], cpu);
	read_cpu(fd[0], cpu, &before[0]);
	ck_assert_uint_gt(before[0].clock, after[0].clock);
	stop(fd[0]);
	go(fd[0]);
	expect_exact(fd[0], cpu);
	close(fd[0]);
	close(fd[1]);
}

START_TEST(without_idle)
{
	by_each_source(no_idle_by);
}
END_TEST

/* The module stays while there is a session. */
START_TEST(keeps_the_module)
{
	int fd = open_cpus();

	pin_self(0);
	count_cpu(fd, 0, PERFCTR_SOURCE_ANY);
	go(fd);
	ck_assert_int_eq(module_unload(), -EAGAIN);
	expect_counts(fd, 0);
	close(fd);
}
END_TEST

static void expect_refused(int fd, struct perfctr_control *control, int err)
{
	ck_assert_int_eq(try_control(fd, control), -err);
}

#define BAD(change) do {						\
	cpu_control(&control, 0, PERFCTR_SOURCE_ANY);			\
	change;								\
	expect_refused(fd, &control, EINVAL);				\
} while (0)

START_TEST(bad_controls)
{
	struct perfctr_control control;
	struct perfctr_read_cpu rd;
	int fd = open_cpus();

	BAD(control.flags = 0);
	BAD(control.flags = PERFCTR_CONTROL_NO_IDLE);
	BAD(control.flags |= PERFCTR_CONTROL_INHERIT);
	BAD(control.flags |= PERFCTR_CONTROL_ON_EXEC);
	BAD(control.flags |= PERFCTR_CONTROL_RAW);
	BAD(control.flags |= 0x80000000u);
	BAD(control.cpu = NO_CPU);
	BAD(control.cpu = UINT32_MAX);
	BAD(control.reserved0 = 1);
	BAD(control.timer_ns = PERFCTR_TIMER_MIN);
	BAD(control.flags |= PERFCTR_CONTROL_RECORD);
	BAD(control.reserved[4] = 1);
	BAD(control.tsc_on = 2);
	BAD(control.preserve = 1);
	BAD(control.refresh = 1);
	BAD(control.si_signo = SIGUSR1);
	BAD(control.source = PERFCTR_SOURCE_ANY + 1);
	BAD(control.nractrs = 0; control_add_ictr(&control, EV_INSTRUCTIONS, -1000);
	    control.si_signo = SIGUSR1);
	BAD(control.ctr[0].ireset = -1);
	BAD(control.ctr[0].reserved[0] = 1);
	BAD(control.ctr[0].config1 = 1);
	BAD(control.ctr[0].flags = 0);
	ck_errno(ioctl(fd, PERFCTR_IOC_CONTROL, NULL), EFAULT);

	ck_assert_int_eq(try_read_cpu(fd, NO_CPU, &rd), -EINVAL);
	ck_assert_int_eq(try_read_cpu(fd, UINT32_MAX, &rd), -EINVAL);
	ck_errno(ioctl(fd, PERFCTR_IOC_READ_CPU, NULL), EFAULT);
	rd.size = 8;
	ck_errno(ioctl(fd, PERFCTR_IOC_READ_CPU, &rd), EINVAL);
	rd.size = PERFCTR_MAX_SIZE + 8;
	ck_errno(ioctl(fd, PERFCTR_IOC_READ_CPU, &rd), E2BIG);
	/* Without counters, and with an array that has no room for them */
	read_cpu(fd, 0, &rd);
	ck_assert_uint_eq(rd.cstatus, 0);

	count_cpu(fd, 0, PERFCTR_SOURCE_ANY);
	go(fd);
	cpu_control(&control, 0, PERFCTR_SOURCE_ANY);
	expect_refused(fd, &control, EBUSY);
	ck_errno(ioctl(fd, PERFCTR_IOC_RESUME), EBUSY);
	rd.size = PERFCTR_READ_CPU_SIZE_VER0;
	rd.cpu = 0;
	rd.sum[0] = 77;
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CPU, &rd));
	ck_assert_uint_eq(rd.sum[0], 77);
	ck_assert_uint_eq(rd.nrctrs, 1);
	stop(fd);
	stop(fd);
	/* One with nothing ends the CPU's part. */
	control_init(&control);
	control.flags = PERFCTR_CONTROL_CPU;
	set_control(fd, &control);
	read_cpu(fd, 0, &rd);
	ck_assert_uint_eq(rd.cstatus, 0);
	close(fd);
}
END_TEST

/* A session has four calls, and no state has the fifth. */
START_TEST(other_calls)
{
	static const unsigned long calls[] = {
		PERFCTR_IOC_OPEN, PERFCTR_IOC_READ, PERFCTR_IOC_READ_CONTROL, PERFCTR_IOC_UNLINK,
		PERFCTR_IOC_IRESUME, PERFCTR_IOC_READ_TREE, PERFCTR_IOC_NEXT_MEMBER,
		PERFCTR_IOC_REFRESH, PERFCTR_IOC_ADD_MEMBER,
	};
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	int fd = open_cpus(), self = open_self(), device = open_device();
	static struct perfctr_read_cpu rd;
	struct perfctr_kernel_info info = { .size = sizeof(info) };
	char text[256], path[64];
	uint64_t words[4];
	unsigned int i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		rd.size = sizeof(rd);
		ck_errno(ioctl(fd, calls[i], &rd), ENOTTY);
	}
	ck_ok(ioctl(fd, PERFCTR_IOC_INFO, &info));
	ck_errno(read(fd, words, sizeof(words)), EINVAL);
	ck_assert_ptr_null(try_map(fd));
	ck_assert_int_eq(errno, ENODEV);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	ck_assert_int_gt(read_text(path, text, sizeof(text)), 0);
	ck_assert_ptr_nonnull(strstr(text, "cpus:"));
	rd.size = sizeof(rd);
	ck_errno(ioctl(self, PERFCTR_IOC_READ_CPU, &rd), ENOTTY);
	ck_errno(ioctl(device, PERFCTR_IOC_READ_CPU, &rd), ENOTTY);
	ck_errno(ioctl(self, PERFCTR_IOC_OPEN, &o), ENOTTY);
	o.flags |= PERFCTR_OPEN_CREAT;
	ck_errno(ioctl(device, PERFCTR_IOC_OPEN, &o), EINVAL);
	o.flags = PERFCTR_OPEN_CPUS;
	o.tid = getpid();
	ck_errno(ioctl(device, PERFCTR_IOC_OPEN, &o), EINVAL);
	o.tid = 0;
	o.pidfd = 1;
	ck_errno(ioctl(device, PERFCTR_IOC_OPEN, &o), EINVAL);
	close(device);
	close(self);
	close(fd);
}
END_TEST

/* Users may not, nor by a handle of root's. */
START_TEST(users_may_not)
{
	struct perfctr_read_cpu rd;
	uint32_t reason;
	int fd = open_cpus();

	count_cpu(fd, 0, PERFCTR_SOURCE_ANY);
	become(GUEST_UID);
	ck_assert_int_eq(try_open_cpus(), -EACCES);
	ck_assert_int_eq(try_count_cpu(fd, 0, PERFCTR_SOURCE_ANY, &reason), -EACCES);
	go(fd);
	read_cpu(fd, 0, &rd);
	close(fd);
}
END_TEST

/*
 * Threads that are bound
 */

static void bound_control(struct perfctr_control *control, unsigned int cpu, unsigned int source)
{
	cpu_control(control, cpu, source);
}

static void expect_thread_counts(int fd, uint64_t expected)
{
	struct perfctr_read space[2] = { { .size = sizeof(*space) }, { .size = sizeof(*space) } };

	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, space, body_spin, LOOPS), 0);
	ck_assert_uint_eq(space[1].sum[0] - space[0].sum[0], expected);
	if (expected)
		ck_assert_uint_gt(space[1].clock, space[0].clock);
	else
		ck_assert_uint_eq(space[1].clock, space[0].clock);
}

#define BODY (EXACT_KERNEL + BODY_SPIN(LOOPS))

static void bound_by(unsigned int source)
{
	struct perfctr_control control, back = { PERFCTR_CONTROL_INIT };
	const struct perfctr_page *page;
	struct perfctr_read rd, again;
	int fd = open_self(), i;
	bool may;

	pin_self(0);
	bound_control(&control, 1, source);
	set_control(fd, &control);
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &back));
	ck_assert_uint_eq(back.flags, PERFCTR_CONTROL_CPU);
	ck_assert_uint_eq(back.cpu, 1);
	expect_thread_counts(fd, 0);
	pin_self(1);
	expect_thread_counts(fd, BODY);
	page = map_page(fd);
	expect_thread_counts(fd, BODY);
	may = !page_asks(page, 0);
	for (i = 0; i < 20; i++) {
		pin_self(0);
		ck_assert(page_asks(page, 0));
		expect_thread_counts(fd, 0);
		read_all(fd, &rd);
		ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED);
		sleep_us(100);
		read_all(fd, &again);
		ck_assert_uint_eq(rd.sum[0], again.sum[0]);
		pin_self(1);
		expect_thread_counts(fd, BODY);
		ck_assert(!may || !page_asks(page, 0));
	}
	/* What the kernel counts is the thread's, wherever it runs. */
	ck_assert_uint_gt(again.soft.switches, 0);
	/* Suspended it stands still there as well. */
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	expect_thread_counts(fd, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	expect_thread_counts(fd, BODY);
	unmap_page(page);
	expect_thread_counts(fd, BODY);
	pin_self(0);
	expect_thread_counts(fd, 0);
	/* Unbound it counts everywhere. */
	control.flags = 0;
	control.cpu = 0;
	set_control(fd, &control);
	expect_thread_counts(fd, BODY);
	unlink_self(fd);
	close(fd);
}

START_TEST(bound)
{
	by_each_source(bound_by);
}
END_TEST

/* Descendants are bound as their root is. */
static void bound_child_by(unsigned int source)
{
	struct perfctr_read_tree before, after;
	struct perfctr_control control;
	int fd = open_self(), i;
	pid_t pid;

	pin_self(0);
	bound_control(&control, 1, source);
	control.flags |= PERFCTR_CONTROL_INHERIT;
	set_control(fd, &control);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(try_read_tree(fd, PERFCTR_TREE_ENDED, &before), 0);
		pid = fork();
		if (!pid) {
			pin_self(i);
			body_spin(LOOPS);
			pin_self(0);
			body_spin(LOOPS);
			_exit(0);
		}
		expect_exit(pid, 0);
		ck_assert_int_eq(try_read_tree(fd, PERFCTR_TREE_ENDED, &after), 0);
		if (i) {
			ck_assert_uint_ge(after.sum[0] - before.sum[0], BODY_SPIN(LOOPS));
			ck_assert_uint_lt(after.sum[0] - before.sum[0], BODY_SPIN(LOOPS) + 1000);
		} else {
			ck_assert_uint_eq(after.sum[0], before.sum[0]);
			ck_assert_uint_eq(after.clock, before.clock);
		}
	}
	unlink_self(fd);
	close(fd);
}

START_TEST(bound_descendants)
{
	by_each_source(bound_child_by);
}
END_TEST

START_TEST(bound_badly)
{
	struct perfctr_control control;
	int fd = open_self();

	bound_control(&control, NO_CPU, PERFCTR_SOURCE_ANY);
	expect_refused(fd, &control, EINVAL);
	bound_control(&control, 0, PERFCTR_SOURCE_ANY);
	control.flags |= PERFCTR_CONTROL_NO_IDLE;
	expect_refused(fd, &control, EINVAL);
	bound_control(&control, 0, PERFCTR_SOURCE_ANY);
	control.reserved0 = 1;
	expect_refused(fd, &control, EINVAL);
	bound_control(&control, 1, PERFCTR_SOURCE_ANY);
	control.flags = 0;
	expect_refused(fd, &control, EINVAL);
	close(fd);
}
END_TEST

int main(void)
{
	/* Where everybody can read the registers that is the condition. */
	guest_begin("cpus", is_ppc() ? "user_read=open" : NULL);
	GUEST_RUN(exact_natively, NEED_COUNTERS | NEED_NATIVE | LOG_SILENT);
	GUEST_RUN(exact_through_perf, NEED_COUNTERS | NEED_SHARED);
	GUEST_RUN(all_cpus, NEED_COUNTERS);
	GUEST_RUN(agrees_with_perf, NEED_COUNTERS | NEED_SMP | NEED_PERF | NEED_SHARED);
	GUEST_RUN(hotplug, NEED_COUNTERS | NEED_SMP);
	cpus_others();
	GUEST_RUN(without_idle, NEED_COUNTERS);
	GUEST_RUN(keeps_the_module, NEED_COUNTERS);
	GUEST_RUN(bad_controls, NEED_COUNTERS | LOG_SILENT);
	GUEST_RUN(other_calls, LOG_SILENT);
	GUEST_RUN(users_may_not, NEED_COUNTERS | LOG_SILENT);
	GUEST_RUN(bound, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(bound_descendants, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(bound_badly, NEED_COUNTERS | LOG_SILENT);
	cpus_tools();
	return guest_end();
}
