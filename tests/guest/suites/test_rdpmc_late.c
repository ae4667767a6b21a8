// SPDX-License-Identifier: GPL-2.0
/* x86: RDPMC by readers that are late to leave the registers, and RDTSC that kills. */
#define _GNU_SOURCE
#include <linux/perfctr.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/rdpmc.h"

#define HANDLERS_GIVE_UP 100000u

/* --- readers that are late --- */

/*
 * Between its look at the page and its RDPMC a thread may be interrupted by a signal whose
 * handler stops the counters. For a while it may still read registers, which are zero, and
 * perf gets no counters.
 */
START_TEST(late_reader_is_given_time)
{
	struct perfctr_control control;
	uint64_t value[REGISTERS];
	unsigned int n;
	int fd, perf;

	fd = count_event(EV_INSTRUCTIONS);
	map_page(fd);
	control_init(&control);
	set_control(fd, &control);
	ck_assert_uint_eq(try_registers(value), guest.info.counters);
	for (n = 0; n < REGISTERS; n++)
		ck_assert_uint_eq(value[n], 0);
	ck_errno(perf_open_cpu(), EBUSY);
	sleep_us(HANDLERS_GIVE_UP);
	ck_assert_uint_eq(try_registers(value), 0);
	ck_ok(perf = perf_open_cpu());
	close(perf);
}
END_TEST

/* A process without a map does not read, so nobody waits for it. */
START_TEST(no_reader_no_wait)
{
	const struct perfctr_page *page;
	struct perfctr_control control;
	int fd, perf;

	fd = count_event(EV_INSTRUCTIONS);
	control_init(&control);
	set_control(fd, &control);
	ck_ok(perf = perf_open_cpu());
	close(perf);
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	page = map_page(fd);
	control.nractrs = 0;
	set_control(fd, &control);
	ck_errno(perf_open_cpu(), EBUSY);
	unmap_page(page);
	sleep_us(20000);
	ck_ok(perf = perf_open_cpu());
	close(perf);
}
END_TEST

/* A new claim meanwhile: the counters count from zero, and are kept. */
START_TEST(claimed_again_meanwhile)
{
	struct perfctr_control control, none;
	uint64_t value[2], turn;
	const struct perfctr_page *page;
	int fd;

	control_init(&none);
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	fd = open_self();
	page = map_page(fd);
	for (turn = 0; turn < 20; turn++) {
		long ret;

		set_control(fd, &control);
		ret = exact_inline(page, 0, body_spin, 1000, value);
		ck_assert_int_ge(ret, 0);
		ck_assert_uint_eq(value[1] - value[0], EXACT_INLINE + BODY_SPIN(1000) +
				  (uint64_t)ret * EXACT_INLINE_RETRY);
		ck_errno(perf_open_cpu(), EBUSY);
		set_control(fd, &none);
		sleep_us((unsigned int)turn * 10000);
	}
	set_control(fd, &control);
	sleep_us(READERS_GIVE_UP);
	ck_errno(perf_open_cpu(), EBUSY);
}
END_TEST

/* The root of a tree ends the counting of a descendant that reads all the time. */
START_TEST(descendants_survive_the_end)
{
	struct perfctr_control control;
	unsigned int turn;

	control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT;
	control_add(&control, EV_INSTRUCTIONS);
	for (turn = 0; turn < 50; turn++) {
		volatile bool *reads = shared_alloc(PAGE_SIZE), *stop = reads + 1;
		int fd = open_self();
		pid_t child;

		set_control(fd, &control);
		ck_ok(child = fork());
		if (!child) {
			const struct perfctr_page *page = try_map(try_open(0));
			uint64_t value[2];

			if (!page)
				_exit(1);
			while (!*stop) {
				if (exact_inline(page, 0, body_spin, 1, value) >= 0)
					*reads = true;
			}
			_exit(0);
		}
		while (!*reads) {
			ck_assert_int_eq(waitpid(child, NULL, WNOHANG), 0);
			sched_yield();
		}
		body_spin(1 + turn * 1001);
		unlink_self(fd);
		close(fd);
		sched_yield();
		*stop = true;
		expect_exit(child, 0);
		munmap((void *)(uintptr_t)reads, PAGE_SIZE);
	}
}
END_TEST

/* --- RDTSC that kills --- */

static bool clock_is_offered(const volatile struct perfctr_page *page)
{
	return page->slot[PERFCTR_PAGE_SLOTS - 2].owner == thread_pointer();
}

static void expect_clock(int fd, const struct perfctr_page *page, bool offered)
{
	uint64_t value[2], before = read_clock(fd);

	ck_assert_int_eq(clock_is_offered(page), offered);
	ck_assert_int_eq(((const volatile struct perfctr_page *)page)->owner == thread_pointer(),
			 offered);
	/* The counters are not affected, nor are reads through the kernel. */
	ck_assert_int_ge(exact_inline(page, 0, body_spin, 1000, value), 0);
	ck_assert_uint_ge(value[1] - value[0], BODY_SPIN(1000));
	ck_assert_uint_gt(read_clock(fd), before);
}

/* The page says so as soon as the prctl() returns, and after switches. */
START_TEST(clock_is_forbidden)
{
	int fd = count_event(EV_INSTRUCTIONS);
	const struct perfctr_page *page = map_page(fd);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		expect_clock(fd, page, true);
		ck_ok(prctl(PR_SET_TSC, PR_TSC_SIGSEGV));
		expect_clock(fd, page, false);
		sleep_us(1000);
		expect_clock(fd, page, false);
		ck_ok(prctl(PR_SET_TSC, PR_TSC_ENABLE));
		expect_clock(fd, page, true);
		sleep_us(1000);
	}
	/* Forbidden before there is a page */
	unmap_page(page);
	ck_ok(prctl(PR_SET_TSC, PR_TSC_SIGSEGV));
	page = map_page(fd);
	sleep_us(1000);
	expect_clock(fd, page, false);
	ck_ok(prctl(PR_SET_TSC, PR_TSC_ENABLE));
}
END_TEST

/* seccomp's strict mode forbids it too, and nearly all else. */
START_TEST(clock_is_forbidden_by_seccomp)
{
	struct {
		volatile bool before, after;
	} *offered = shared_alloc(sizeof(*offered));
	pid_t child;
	int status;

	ck_ok(child = fork());
	if (!child) {
		const struct perfctr_page *page = map_page(count_event(EV_INSTRUCTIONS));

		sleep_us(1000);
		offered->before = clock_is_offered(page);
		offered->after = true;
		ck_ok(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
		offered->after = clock_is_offered(page);
		syscall(SYS_exit, 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert(offered->before);
	ck_assert(!offered->after);
}
END_TEST

void rdpmc_late(void)
{
	run(late_reader_is_given_time, NEED_NO_BESIDE);
	run(no_reader_no_wait, NEED_NO_BESIDE);
	run(claimed_again_meanwhile, NEED_NO_BESIDE);
	run(descendants_survive_the_end, 0);
	run(clock_is_forbidden, 0);
	run(clock_is_forbidden_by_seccomp, 0);
}
