// SPDX-License-Identifier: GPL-2.0
/*
 * Counts have 64 bits, however narrow the counters are. The module is loaded to take the
 * counters for 26 bits wide: it must set them back before they pass half of that, unseen by
 * the reader and without losing an instruction.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/rivals.h"

#define WIDTH 26
#define RANGE (1ull << WIDTH)
#define MILLION 1000000ul
/* This many millions are several times the range. */
#define CHUNKS 300

START_TEST(info_tells_the_width)
{
	ck_assert_uint_eq(guest.info.width, WIDTH);
}
END_TEST

/* In one go: only the timer enters the kernel. */
static void count_at_once(const struct perfctr_page *page)
{
	uint64_t value[2];
	long ret;

	ret = exact_inline(page, 0, body_spin, CHUNKS / 2 * MILLION, value);
	ck_assert_int_ge(ret, 0);
	ck_assert_uint_eq(value[1] - value[0], EXACT_INLINE + BODY_SPIN(CHUNKS / 2 * MILLION) +
			  (uint64_t)ret * EXACT_INLINE_RETRY);
	ck_assert_uint_gt(value[1], 4 * RANGE);
}

START_TEST(mapped_thread)
{
	count_at_once(map_page(count_event(EV_INSTRUCTIONS)));
}
END_TEST

START_TEST(mapped_thread_on_another_cpu)
{
	const struct perfctr_page *page = map_page(count_event(EV_INSTRUCTIONS));

	pin_self(1);
	count_at_once(page);
}
END_TEST

START_TEST(register_stays_below)
{
	const struct perfctr_page *page = map_page(count_event(EV_INSTRUCTIONS));
	unsigned int hw = page_hw_counter(page, 0);
	uint64_t now, most = 0, last = 0;
	unsigned int i, set_back = 0;

	for (i = 0; i < 20 * CHUNKS; i++) {
		body_spin(MILLION / 40);
		now = read_register(hw);
		most = now > most ? now : most;
		set_back += now < last;
		last = now;
	}
	ck_assert_uint_lt(most, RANGE);
	/* 300 million counts fill the range so often; it is set back at least as often. */
	ck_assert_uint_ge(set_back, CHUNKS * MILLION / RANGE);
}
END_TEST

/* Without a page there is no permission, and only the kernel reads the counter. */
START_TEST(unmapped_thread)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	int fd = count_event(EV_INSTRUCTIONS);

	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, CHUNKS / 2 * MILLION), 0);
	ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0],
			  EXACT_KERNEL + BODY_SPIN(CHUNKS / 2 * MILLION));
}
END_TEST

/* The reader of test_reader.c, among switches and while registers are set back */
START_TEST(no_read_jumps)
{
	const struct perfctr_page *page = map_page(count_event(EV_INSTRUCTIONS));
	struct rivals_plan plan = { .n = 2, .cpu = -1, .sleep_us = 50, .sleepers = true };
	struct rivals *rivals = rivals_start(&plan);
	struct reader_result result;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		memset(&result, 0, sizeof(result));
		ck_assert_msg(exact_reader(page, 0, MILLION, &result) == 0,
			      "read %llu: %llu instructions since the last, executed %llu",
			      (unsigned long long)result.turns, (unsigned long long)result.delta,
			      (unsigned long long)result.expected);
	}
	rivals_stop(rivals);
}
END_TEST

/* While it sleeps others count with the same counters, which are set back meanwhile. */
START_TEST(sleeper_among_rivals)
{
	struct perfctr_control control;
	struct rivals_plan plan = { .n = 2, .cpu = -1, .control = &control, .exact = true };
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	struct rivals *rivals;
	unsigned int i;
	int fd;

	control_init(&control);
	control.tsc_on = 1;
	control_add(&control, EV_INSTRUCTIONS);
	fd = count_event(EV_INSTRUCTIONS);
	rivals = rivals_start(&plan);
	for (i = 0; i < 50; i++) {
		sleep_us(20000);
		ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, MILLION), 0);
		ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(MILLION));
	}
	rivals_stop(rivals);
}
END_TEST

static volatile unsigned int signals;
static uint64_t sums[8];
static int the_fd;

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	struct perfctr_read rd;

	(void)signo;
	(void)info;
	(void)context;
	(void)try_read(the_fd, &rd);
	if (signals < 8)
		sums[signals] = rd.sum[0];
	signals++;
	(void)ioctl(the_fd, PERFCTR_IOC_IRESUME);
}

/* A period of several ranges of the register; and one of a little more than half of it */
START_TEST(period_longer_than_the_register)
{
	static const int64_t period[] = { 3 * (int64_t)RANGE + 12345, RANGE / 2 + 1 };
	struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO };
	const struct perfctr_page *page;
	struct perfctr_control control;
	unsigned int i, k;

	(void)sigaction(SIGUSR1, &action, NULL);
	the_fd = open_self();
	page = map_page(the_fd);
	for (k = 0; k < 2; k++) {
		control_init(&control);
		control_add_ictr(&control, EV_INSTRUCTIONS, -period[k]);
		control.si_signo = SIGUSR1;
		signals = 0;
		set_control(the_fd, &control);
		/* So narrow a register does not tell whether it has overflowed. */
		ck_assert(page_asks(page, 0));
		body_spin(2 * RANGE);
		body_spin(2 * RANGE);
		ck_ok(ioctl(the_fd, PERFCTR_IOC_SUSPEND));
		ck_assert_uint_eq(signals, read_sum(the_fd, 0) / (uint64_t)period[k]);
		ck_assert_uint_ge(signals, 2);
		for (i = 0; i < signals && i < 8; i++)
			ck_assert_uint_eq(sums[i], (i + 1) * (uint64_t)period[k]);
	}
}
END_TEST

int main(void)
{
	guest_begin("width", "counter_width=26");
	GUEST_RUN(info_tells_the_width, NEED_COUNTERS | NEED_NARROW | AS_USER);
	GUEST_RUN(mapped_thread, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(mapped_thread_on_another_cpu,
		  NEED_COUNTERS | NEED_USER_READ | NEED_SMP | AS_USER);
	GUEST_RUN(register_stays_below, NEED_COUNTERS | NEED_USER_READ | NEED_NARROW | AS_USER);
	GUEST_RUN(unmapped_thread, NEED_COUNTERS | AS_USER);
	GUEST_RUN(no_read_jumps, NEED_COUNTERS | NEED_USER_READ);
	GUEST_RUN(sleeper_among_rivals, NEED_COUNTERS);
	GUEST_RUN(period_longer_than_the_register, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	return guest_end();
}
