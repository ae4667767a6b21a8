// SPDX-License-Identifier: GPL-2.0
/*
 * Two CPUs of two types, as on the machine "hybrid": CPU 0 has more counters than CPU 1. A
 * thread that is bound to one type counts there, exactly. No other thread counts.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "kit/rivals.h"
#include "suites/hybrid.h"

/* The counters of both, and of CPU 0 */
#define SHARED 0x700003full
#define MORE 0x70000ffull

static struct perfctr_control clock_alone(void)
{
	struct perfctr_control control;

	control_init(&control);
	control.tsc_on = 1;
	return control;
}

static void expect_lost(int fd, const struct perfctr_page *page)
{
	struct perfctr_read rd, later;
	uint64_t words[2];

	ck_assert_int_eq(try_read(fd, &rd), -EIO);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_LOST);
	body_spin(LOOPS);
	sched_yield();
	ck_assert_int_eq(try_read(fd, &later), -EIO);
	ck_assert_mem_eq(&later, &rd, sizeof(rd));
	ck_errno(read(fd, words, sizeof(words)), EIO);
	if (page) {
		ck_assert_uint_eq(page->error, PERFCTR_ERROR_LOST);
		ck_assert(page_asks(page, 0));
	}
}

static uint32_t forbidden(void)
{
	uint32_t mask = 0;
	struct perfctr_cpus cpus = {
		.size = sizeof(cpus), .which = PERFCTR_CPUS_FORBIDDEN, .nrwords = 1,
		.mask = (uintptr_t)&mask,
	};
	int dev = open_device();

	ck_ok(ioctl(dev, PERFCTR_IOC_CPUS, &cpus));
	close(dev);
	return mask;
}

START_TEST(what_both_have)
{
	unsigned int i;

	ck_assert_uint_eq(guest.info.counters, SHARED);
	ck_assert_uint_eq(guest.info.nrctrs, 9);
	ck_assert_uint_eq(guest.info.width, 48);
	ck_assert_uint_ne(guest.info.cpu_features & PERFCTR_FEATURE_PCINT, 0);
	ck_assert_uint_eq(forbidden(), 0);
	/* On either CPU */
	for (i = 0; i < 2; i++) {
		struct perfctr_kernel_info info = { .size = sizeof(info) };
		int fd;

		bind_to(i);
		fd = open_device();
		ck_ok(ioctl(fd, PERFCTR_IOC_INFO, &info));
		ck_assert_uint_eq(info.counters, SHARED);
		close(fd);
	}
}
END_TEST

/* Every sort of control with a counter is refused, and changes nothing. */
static void refused(void)
{
	struct perfctr_control control = clock_alone(), seen, bad[5];
	struct perfctr_read before, after;
	int fd, other;
	unsigned int i;

	for (i = 0; i < 5; i++)
		bad[i] = instructions();
	bad[1].flags = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP;
	bad[2].flags = PERFCTR_CONTROL_ON_EXEC;
	bad[3].tsc_on = 0;
	control_init(&bad[4]);
	control_add_ictr(&bad[4], EV_INSTRUCTIONS, -100000);
	bad[4].si_signo = SIGUSR1;

	bind_to(BOTH_CPUS);
	fd = open_self();
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(try_control(fd, &bad[i]), -EXDEV);
	/* Nobody has become the holder. */
	ck_ok(other = try_open(0));
	set_control(other, &control);
	for (i = 0; i < 5; i++) {
		read_all(other, &before);
		ck_assert_int_eq(try_control(other, &bad[i]), -EXDEV);
		read_all(other, &after);
		ck_assert_uint_eq(after.cstatus, PERFCTR_CSTATUS_CLOCK);
		ck_assert_uint_gt(after.clock, before.clock);
		ck_assert_uint_ge(after.soft.switches, before.soft.switches);
		seen = (struct perfctr_control) { PERFCTR_CONTROL_INIT };
		ck_ok(ioctl(other, PERFCTR_IOC_READ_CONTROL, &seen));
		ck_assert_mem_eq(&seen, &control, sizeof(seen));
	}
	/* What no CPU can count is EINVAL everywhere. */
	bad[0].ctr[0].map = 6;
	ck_assert_int_eq(try_control(other, &bad[0]), -EINVAL);
	bind_to(1);
	set_control(other, &bad[3]);
	exact(other, NULL, 1);
	unlink_self(other);
}

START_TEST(unbound_is_refused)
{
	refused();
}
END_TEST

START_TEST(unbound_is_refused_to_a_user)
{
	refused();
}
END_TEST

/* A thread that may run on both CPUs */
START_TEST(clock_is_everywhere)
{
	struct perfctr_control control = clock_alone();
	int fd = open_self();
	uint64_t clock = 0;
	unsigned int i;

	bind_to(BOTH_CPUS);
	set_control(fd, &control);
	for (i = 0; i < 20; i++) {
		uint64_t now;

		bind_to(i % 3 == 2 ? BOTH_CPUS : i % 3);
		body_spin(LOOPS);
		now = read_clock(fd);
		ck_assert_uint_gt(now, clock);
		clock = now;
	}
	unlink_self(fd);
}
END_TEST

/* On each CPU, alone and among others that count something else there */
START_TEST(exact_on_either)
{
	struct rivals_plan plan = { .n = 4 };
	struct perfctr_control control = instructions();
	int fd = open_self();
	const struct perfctr_page *page = map_page(fd);
	unsigned int cpu;

	for (cpu = 0; cpu < 2; cpu++) {
		struct rivals *rivals;

		bind_to(cpu);
		set_control(fd, &control);
		exact(fd, page, RUNS);
		plan.cpu = (int)cpu;
		rivals = rivals_start(&plan);
		exact(fd, page, RUNS);
		rivals_stop(rivals);
	}
	unlink_self(fd);
}
END_TEST

/* Threads on both CPUs count at once by equal controls, each its own instructions. */
START_TEST(exact_on_both_at_once)
{
	struct perfctr_control control = instructions();
	struct rivals_plan plan = { .n = 4, .control = &control, .exact = true };
	struct rivals *rivals[2];
	const struct perfctr_page *page;
	unsigned int cpu;
	int fd;

	for (cpu = 0; cpu < 2; cpu++) {
		plan.cpu = (int)cpu;
		plan.uid = cpu ? GUEST_UID : 0;
		rivals[cpu] = rivals_start(&plan);
	}
	bind_to(1);
	fd = open_self();
	page = map_page(fd);
	set_control(fd, &control);
	exact(fd, page, RUNS);
	unlink_self(fd);
	for (cpu = 0; cpu < 2; cpu++)
		rivals_stop(rivals[cpu]);
}
END_TEST

START_TEST(every_counter_on_either)
{
	int fd = open_self();
	const struct perfctr_page *page = map_page(fd);
	unsigned int cpu, hw;

	for (cpu = 0; cpu < 2; cpu++) {
		bind_to(cpu);
		for (hw = 0; hw < 32; hw++) {
			struct perfctr_control control;

			control_init(&control);
			control_add_at(&control, hw, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
			if (!(SHARED >> hw & 1)) {
				ck_assert_int_eq(try_control(fd, &control), -EINVAL);
				continue;
			}
			/* The fixed counters have events of their own. */
			if (hw > 24)
				continue;
			set_control(fd, &control);
			ck_assert_uint_eq(page_hw_counter(page, 0), hw);
			exact(fd, page, 1);
		}
	}
	unlink_self(fd);
}
END_TEST

static volatile sig_atomic_t overflows;

static void count_overflow(int signo)
{
	(void)signo;
	overflows++;
}

/* Longer than everything around the loop */
#define PERIOD 100000l
#define OVERFLOWS 10

START_TEST(overflows_on_either)
{
	struct perfctr_control control;
	struct sigaction action = { .sa_handler = count_overflow };
	int fd = open_self();
	unsigned int cpu;

	ck_ok(sigaction(SIGRTMIN, &action, NULL));
	control_init(&control);
	control_add_ictr(&control, EV_INSTRUCTIONS, -PERIOD);
	control.si_signo = SIGRTMIN;
	control.refresh = 0x7fffffff;
	for (cpu = 0; cpu < 2; cpu++) {
		struct perfctr_read rd;

		bind_to(cpu);
		overflows = 0;
		set_control(fd, &control);
		body_spin(OVERFLOWS * PERIOD / 2);
		read_all(fd, &rd);
		ck_assert_uint_eq(rd.overflows, OVERFLOWS);
		ck_assert_int_eq(overflows, OVERFLOWS);
		ck_assert_uint_gt(rd.sum[0], OVERFLOWS * PERIOD);
		ck_assert_uint_lt(rd.sum[0], (OVERFLOWS + 1) * PERIOD);
	}
	unlink_self(fd);
}
END_TEST

/*
 * A thread that is bound elsewhere later stops with a sticky error. Threads that count there,
 * and those that it leaves, count on.
 */
static void move(unsigned int from, bool mapped, bool by_another)
{
	struct perfctr_control control = instructions();
	struct rivals_plan plan = { .n = 2, .control = &control, .exact = true };
	struct rivals *rivals[2];
	const struct perfctr_page *page = NULL;
	struct perfctr_read before, rd;
	unsigned int cpu;
	pid_t pid;
	int fd;

	for (cpu = 0; cpu < 2; cpu++) {
		plan.cpu = (int)cpu;
		plan.map = cpu;
		rivals[cpu] = rivals_start(&plan);
	}
	bind_to(from);
	fd = open_self();
	if (mapped)
		page = map_page(fd);
	set_control(fd, &control);
	exact(fd, page, 10);
	read_all(fd, &before);
	if (by_another) {
		ck_ok(pid = fork());
		if (!pid) {
			pin_thread(getppid(), !from);
			_exit(0);
		}
		expect_exit(pid, 0);
	} else {
		bind_to(!from);
	}
	expect_lost(fd, page);
	ck_assert_int_eq(try_read(fd, &rd), -EIO);
	ck_assert_uint_ge(rd.sum[0], before.sum[0]);
	/* Going back does not end the error. */
	bind_to(from);
	expect_lost(fd, page);
	set_control(fd, &control);
	exact(fd, page, 10);
	bind_to(!from);
	expect_lost(fd, page);
	/* A new control is for the CPU that the thread is on now. */
	set_control(fd, &control);
	exact(fd, page, 10);
	for (cpu = 0; cpu < 2; cpu++)
		rivals_stop(rivals[cpu]);
	unlink_self(fd);
	if (page)
		unmap_page(page);
	close(fd);
}

START_TEST(moved_to_the_other)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		move(i & 1, i & 2, i & 4);
}
END_TEST

/* A lost thread may still read registers: they hold nothing of others. */
START_TEST(registers_where_it_is_lost)
{
	struct perfctr_control control = instructions();
	struct rivals_plan plan = { .n = 4, .cpu = 1, .uid = STRANGER_UID, .control = &control };
	const struct perfctr_page *page;
	struct rivals *rivals;
	unsigned int i, n;
	int fd;

	for (n = 1; n < 6; n++)
		control_add(&control, EV_CYCLES);
	rivals = rivals_start(&plan);
	bind_to(0);
	fd = open_self();
	page = map_page(fd);
	set_control(fd, &control);
	exact(fd, page, 1);
	bind_to(1);
	expect_lost(fd, page);
	ck_assert(may_read_register(0));
	for (i = 0; i < RUNS; i++) {
		for (n = 0; n < 6; n++)
			ck_assert_uint_eq(read_register(n), 0);
		body_spin(LOOPS);
		sched_yield();
	}
	rivals_stop(rivals);
	unlink_self(fd);
}
END_TEST

/* Counters are taken on CPUs of all types, or on none. */
START_TEST(turns_with_perf)
{
	struct perfctr_control control = instructions();
	int fd = open_self(), perf[4], err;
	unsigned int tries = 0;

	bind_to(1);
	/* Not on CPU 1, whose counters Linux's driver does not know. */
	ck_assert_uint_eq(perf_take_counters(0, perf, 4), 4);
	ck_assert_int_eq(try_control(fd, &control), -EBUSY);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_PERF);
	perf_give_counters(perf, 4);
	do {
		err = try_control(fd, &control);
		if (err)
			sleep_us(10000);
	} while (err == -EBUSY && ++tries < 200);
	ck_assert_int_eq(err, 0);
	exact(fd, NULL, 1);
	ck_assert_uint_eq(perf_take_counters(0, perf, 4), 0);
	exact(fd, NULL, 1);
	unlink_self(fd);
	ck_assert_uint_eq(perf_take_counters(0, perf, 4), 4);
	perf_give_counters(perf, 4);
}
END_TEST

/* A suspended state that is moved is lost as well, before it could count wrongly. */
START_TEST(moved_while_suspended)
{
	struct perfctr_control control = instructions();
	int fd = open_self();

	bind_to(0);
	set_control(fd, &control);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	bind_to(1);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	expect_lost(fd, NULL);
	set_control(fd, &control);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	bind_to(0);
	bind_to(1);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	exact(fd, NULL, 1);
	unlink_self(fd);
}
END_TEST

/* The kernel moves the thread when none of its CPUs is left. */
START_TEST(its_cpu_goes)
{
	struct perfctr_control control = instructions();
	int fd = open_self();
	const struct perfctr_page *page = map_page(fd);

	bind_to(1);
	set_control(fd, &control);
	exact(fd, page, 10);
	ck_assert_int_eq(cpu_online(1, false), 0);
	expect_lost(fd, page);
	/* One type is left. */
	set_control(fd, &control);
	exact(fd, page, 10);
	ck_assert_int_eq(cpu_online(1, true), 0);
	bind_to(BOTH_CPUS);
	ck_assert_int_eq(try_control(fd, &control), -EXDEV);
	bind_to(1);
	set_control(fd, &control);
	exact(fd, page, 10);
	unlink_self(fd);
}
END_TEST

/* An exec on another CPU than the control */
static void exec_on(unsigned int cpu)
{
	struct perfctr_control control = instructions();
	struct perfctr_read rd;
	int sock[2], fd;
	pid_t pid;

	control.flags = PERFCTR_CONTROL_ON_EXEC;
	ck_ok(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock));
	ck_ok(pid = fork());
	if (!pid) {
		pin_self(0);
		fd = try_open(PERFCTR_OPEN_CREAT);
		if (fd < 0 || try_control(fd, &control) || send_fd(sock[1], fd))
			_exit(97);
		pin_self(cpu);
		execl(KNOWN_PATH, KNOWN_PATH, NULL);
		_exit(98);
	}
	fd = receive_fd(sock[0]);
	expect_exit(pid, 0);
	if (cpu) {
		ck_assert_int_eq(try_read(fd, &rd), -EIO);
		ck_assert_uint_eq(rd.error, PERFCTR_ERROR_LOST);
		ck_assert_uint_eq(rd.sum[0], 0);
	} else {
		ck_assert_uint_eq(read_sum(fd, 0), KNOWN_LENGTH(KNOWN_LOOPS));
	}
}

START_TEST(exec_elsewhere)
{
	exec_on(0);
	exec_on(1);
}
END_TEST

static pid_t run_known(unsigned int cpu)
{
	pid_t pid = fork();

	ck_ok(pid);
	if (!pid) {
		pin_self(cpu);
		execl(KNOWN_PATH, KNOWN_PATH, NULL);
		_exit(98);
	}
	return pid;
}

/* A member that moves to the other type is lost, and the tree says so. No other member is. */
START_TEST(descendant_elsewhere)
{
	struct perfctr_control control = instructions();
	struct perfctr_member member;
	struct perfctr_read_tree tree;
	int fd = open_self();
	pid_t pid[3];
	unsigned int i;

	bind_to(0);
	control.flags = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP;
	set_control(fd, &control);
	for (i = 0; i < 3; i++)
		pid[i] = run_known(i == 1);
	exact(fd, NULL, 10);
	for (i = 0; i < 3; i++)
		expect_exit(pid[i], 0);
	exact(fd, NULL, 10);
	ck_assert_int_eq(try_read_tree(fd, PERFCTR_TREE_ENDED, &tree), -EIO);
	ck_assert_uint_eq(tree.error, PERFCTR_ERROR_LOST);
	ck_assert_uint_eq(tree.ended, 3);
	memset(&member, 0, sizeof(member));
	member.size = sizeof(member);
	for (i = 0; i < 3; i++) {
		ck_ok(ioctl(fd, PERFCTR_IOC_NEXT_MEMBER, &member));
		ck_assert_int_eq(member.tid, pid[i]);
		ck_assert_uint_eq(member.error,
				  i == 1 ? PERFCTR_ERROR_LOST : PERFCTR_ERROR_NONE);
		/* The count begins with the member's first instruction, in our fork. */
		if (i == 1)
			ck_assert_uint_lt(member.sum[0], KNOWN_LENGTH(KNOWN_LOOPS));
		else
			ck_assert_uint_gt(member.sum[0], KNOWN_LENGTH(KNOWN_LOOPS));
	}
	unlink_self(fd);
}
END_TEST

/* The module is loaded while no CPU with fewer counters is online; one comes later. */
START_TEST(less_comes_later)
{
	struct perfctr_control control = instructions();
	struct perfctr_kernel_info info = { .size = sizeof(info) };
	const struct perfctr_page *page;
	int fd, dev;

	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert_int_eq(cpu_online(1, false), 0);
	ck_assert_int_eq(module_load(NULL), 0);
	dev = open_device();
	ck_ok(ioctl(dev, PERFCTR_IOC_INFO, &info));
	close(dev);
	ck_assert_uint_eq(info.counters, MORE);

	fd = open_self();
	page = map_page(fd);
	control.ctr[0].map = 7;
	set_control(fd, &control);
	exact(fd, page, 10);
	ck_assert_uint_eq(forbidden(), 0);
	ck_assert_int_eq(cpu_online(1, true), 0);
	ck_assert_uint_eq(forbidden(), 2);
	exact(fd, page, 10);
	/* The thread may run on both CPUs, but is not counted on the new one. */
	bind_to(1);
	expect_lost(fd, page);
	ck_assert_int_eq(try_control(fd, &control), -EXDEV);
	bind_to(BOTH_CPUS);
	ck_assert_int_eq(try_control(fd, &control), -EXDEV);
	bind_to(0);
	set_control(fd, &control);
	exact(fd, page, 10);
	unlink_self(fd);
	close(fd);
	unmap_page(page);
	/* The first control since that CPU came */
	fd = open_self();
	set_control(fd, &control);
	exact(fd, NULL, 10);
	unlink_self(fd);
	close(fd);
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

int main(void)
{
	guest_begin("hybrid", NULL);
	GUEST_RUN(what_both_have, NEED_HYBRID);
	GUEST_RUN(unbound_is_refused, NEED_HYBRID);
	GUEST_RUN(unbound_is_refused_to_a_user, NEED_HYBRID | AS_USER);
	GUEST_RUN(clock_is_everywhere, NEED_HYBRID);
	GUEST_RUN(exact_on_either, NEED_HYBRID);
	GUEST_RUN(exact_on_both_at_once, NEED_HYBRID);
	GUEST_RUN(every_counter_on_either, NEED_HYBRID);
	GUEST_RUN(overflows_on_either, NEED_HYBRID);
	GUEST_RUN(moved_to_the_other, NEED_HYBRID);
	GUEST_RUN(registers_where_it_is_lost, NEED_HYBRID);
	GUEST_RUN(turns_with_perf, NEED_HYBRID);
	GUEST_RUN(moved_while_suspended, NEED_HYBRID);
	GUEST_RUN(its_cpu_goes, NEED_HYBRID);
	GUEST_RUN(exec_elsewhere, NEED_HYBRID);
	GUEST_RUN(descendant_elsewhere, NEED_HYBRID | AS_USER);
	GUEST_RUN(less_comes_later, NEED_HYBRID | LOG_MODULE);
	hybrid_shared();
	return guest_end();
}
