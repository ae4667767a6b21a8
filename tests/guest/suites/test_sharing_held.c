// SPDX-License-Identifier: GPL-2.0
/*
 * Beside perf (the module's parameter beside): which counters we hold, what perf can do meanwhile, who reads what, and
 * what happens if perf takes a counter that we hold.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/sharing.h"

#define WATCHDOG "/proc/sys/kernel/nmi_watchdog"
#define THRESHOLD "/proc/sys/kernel/watchdog_thresh"
#define FIXED_INSTRUCTIONS 24u
#define FIXED_CYCLES 25u
#define FIXED_REF 26u

static unsigned int perf_could_take(void)
{
	struct takings takings;

	take(&takings, 0, PROGRAMMABLE_MAX);
	give(&takings);
	return takings.n[0];
}

/* Perf has what the controls do not need, and what they needed a second after they are gone. */
START_TEST(only_what_controls_need)
{
	struct perfctr_control control;
	unsigned int all, n;
	int fd = open_self();

	until_given_back();
	all = perf_could_take();
	ck_assert_uint_ge(all, guest.nprogrammable);
	for (n = 1; n <= guest.nprogrammable; n++) {
		control = control_of_many(n);
		set_control(fd, &control);
		ck_assert_uint_eq(perf_could_take(), all - n);
		exact_once(fd);
	}
	control = control_of_many(1);
	set_control(fd, &control);
	until_given_back();
	exact_once(fd);
	ck_assert_uint_eq(perf_could_take(), all - 1);
	exact_once(fd);
	unlink_self(fd);
	until_given_back();
	ck_assert_uint_eq(perf_could_take(), all);
}
END_TEST

/* A counter that perf needs for somebody is refused, and all is as it was. */
START_TEST(refused_what_perf_has)
{
	struct perfctr_control one = control_of_many(1), all = control_of_many(guest.nprogrammable);
	struct takings takings;
	int fd = open_self();

	until_given_back();
	set_control(fd, &one);
	take(&takings, 0, PROGRAMMABLE_MAX);
	ck_assert_uint_gt(takings.n[0], 0);
	all.source = PERFCTR_SOURCE_NATIVE;
	ck_assert_int_eq(try_control(fd, &all), -EBUSY);
	ck_assert_uint_eq(all.owner, PERFCTR_OWNER_PERF);
	exact_once(fd);
	/* It is loaded anew on each CPU. */
	pin_self(1);
	exact_once(fd);
	pin_self(0);
	exact_once(fd);
	give(&takings);
	set_control(fd, &all);
	exact_once(fd);
	unlink_self(fd);
}
END_TEST

/* Who asks for a counter that perf has is refused. Others who count lose nothing. */
START_TEST(refused_without_harm)
{
	struct perfctr_control control = control_of_many(1);
	volatile bool *flags = shared_alloc(2 * sizeof(*flags));
	volatile bool *counts = flags, *stop = flags + 1;
	struct takings takings;
	int fd = open_self();
	pid_t child;

	until_given_back();
	pin_self(0);
	ck_ok(child = fork());
	if (!child) {
		int own = open_self();

		set_control(own, &control);
		for (*counts = true; !*stop; sched_yield())
			exact_once(own);
		exact_once(own);
		_exit(0);
	}
	while (!*counts)
		sched_yield();
	control.ctr[0].map = general_map(0);
	control.source = PERFCTR_SOURCE_NATIVE;
	take(&takings, 0, control.ctr[0].map + 1);
	ck_assert_uint_eq(takings.n[0], control.ctr[0].map + 1);
	ck_assert_int_eq(try_control(fd, &control), -EBUSY);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_PERF);
	ck_assert_uint_eq(control.refused, 0);
	sleep_us(10000);
	give(&takings);
	set_control(fd, &control);
	exact_once(fd);
	*stop = true;
	expect_exit(child, 0);
	unlink_self(fd);
}
END_TEST

/*
 * An event of perf's that is older than ours, pinned, and counts a CPU comes first. We lose our counters, are told so, and
 * keep what was counted. The event counts.
 */
static void lose_to_an_older_pinned_event(struct perfctr_control control)
{
	int perf[PROGRAMMABLE_MAX], fd = open_self();
	struct perfctr_read before, rd, later;
	struct perf_event_attr attr;
	unsigned int n, i, all;
	uint64_t counted;

	pin_self(0);
	until_given_back();
	all = perf_could_take();
	perf_attr_init(&attr, EV_INSTRUCTIONS);
	attr.type = PERF_TYPE_RAW;
	attr.config = own_event(EV_INSTRUCTIONS);
	attr.pinned = 1;
	attr.disabled = 1;
	/* One may have the fixed counter. */
	for (n = 0; n <= all - guest.nprogrammable + 1; n++)
		ck_ok(perf[n] = perf_open(&attr, -1, 0, -1));
	control.source = PERFCTR_SOURCE_NATIVE;
	set_control(fd, &control);
	for (i = 0; i < n; i++) {
		exact_once(fd);
		read_all(fd, &before);
		ck_ok(ioctl(perf[i], PERF_EVENT_IOC_ENABLE, 0));
		if (try_read(fd, &rd))
			break;
	}
	ck_assert_uint_lt(i, n);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_LOST);
	ck_assert_uint_ge(rd.sum[0], before.sum[0]);
	ck_assert_uint_lt(rd.sum[0], before.sum[0] + 10000);
	body_spin(SHORT_LOOPS);
	ck_assert_int_eq(try_read(fd, &later), -EIO);
	ck_assert_mem_eq(&later, &rd, sizeof(rd));
	counted = perf_read_one(perf[i]);
	ck_assert_uint_ne(counted, UINT64_MAX);
	body_spin(SHORT_LOOPS);
	ck_assert_uint_ge(perf_read_one(perf[i]), counted + BODY_SPIN(SHORT_LOOPS));
	/* Not while perf has them */
	until_given_back();
	ck_assert_int_eq(try_control(fd, &control), -EBUSY);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_PERF);
	perf_give_counters(perf, n);
	set_control(fd, &control);
	exact_once(fd);
	/* Registers can be read in user mode again. */
	ck_assert(!page_asks(map_page(fd), 0));
	unlink_self(fd);
}

START_TEST(lost_to_an_older_pinned_event)
{
	lose_to_an_older_pinned_event(control_of_many(guest.nprogrammable));
}
END_TEST

/* A fixed counter is among them. Perf assigns all anew, or has one general counter for its first event. */
static void lose_a_fixed_one(unsigned int general)
{
	lose_to_an_older_pinned_event(control_with_fixed(general));
}

START_TEST(all_lost_to_an_older_pinned_event)
{
	lose_a_fixed_one(guest.nprogrammable);
}
END_TEST

START_TEST(most_lost_to_an_older_pinned_event)
{
	lose_a_fixed_one(guest.nprogrammable - 1);
}
END_TEST
END_TEST

static uint64_t nmis_of_cpu_0(void)
{
	char text[16384], *at;

	ck_assert_int_gt(read_text("/proc/interrupts", text, sizeof(text)), 0);
	at = strstr(text, "NMI:");
	ck_assert_ptr_nonnull(at);
	return strtoull(at + 4, NULL, 10);
}

/* The watchdog ticks while we hold all that we may, and is turned off and on meanwhile. */
START_TEST(watchdog_ticks)
{
	struct perfctr_control control = control_of_many(guest.nprogrammable);
	char before[16], threshold[16];
	int fd = open_self();
	uint64_t nmis, until;
	unsigned int turn;

	ck_assert_int_gt(read_text(WATCHDOG, before, sizeof(before)), 0);
	ck_assert_int_gt(read_text(THRESHOLD, threshold, sizeof(threshold)), 0);
	pin_self(0);
	ck_ok(write_text(THRESHOLD, "1"));
	for (turn = 0; turn < 2; turn++) {
		ck_ok(write_text(WATCHDOG, "0"));
		ck_ok(write_text(WATCHDOG, "1"));
		set_control(fd, &control);
		nmis = nmis_of_cpu_0();
		for (until = now_ns() + 3000000000ull; now_ns() < until;)
			exact_once(fd);
		ck_assert_uint_gt(nmis_of_cpu_0(), nmis);
		/* The second time it comes back while we hold our counters. */
	}
	unlink_self(fd);
	ck_ok(write_text(WATCHDOG, before));
	ck_ok(write_text(THRESHOLD, threshold));
}
END_TEST

/* The fixed counter of cycles is ours while the watchdog is off. Another one is left for the watchdog. */
START_TEST(watchdog_finds_a_counter)
{
	struct perfctr_control most = control_of_many(guest.nprogrammable - 1);
	struct perfctr_control all = control_of_many(guest.nprogrammable);
	char before[16], threshold[16];
	int fd = open_self();
	uint64_t nmis, until;

	ck_assert_int_gt(read_text(WATCHDOG, before, sizeof(before)), 0);
	ck_assert_int_gt(read_text(THRESHOLD, threshold, sizeof(threshold)), 0);
	pin_self(0);
	ck_ok(write_text(THRESHOLD, "1"));
	ck_ok(write_text(WATCHDOG, "0"));
	until_given_back();
	control_add_at(&most, FIXED_CYCLES, EV_CYCLES, PERFCTR_CTR_USER);
	control_add_at(&all, FIXED_CYCLES, EV_CYCLES, PERFCTR_CTR_USER);
	all.source = PERFCTR_SOURCE_NATIVE;
	if (general_map(0)) {
		/* perf keeps general counters. */
		most = all;
	} else {
		ck_assert_int_eq(try_control(fd, &all), -EBUSY);
		ck_assert_uint_eq(all.owner, PERFCTR_OWNER_PERF);
	}
	set_control(fd, &most);
	exact_once(fd);
	ck_ok(write_text(WATCHDOG, "1"));
	nmis = nmis_of_cpu_0();
	for (until = now_ns() + 3000000000ull; now_ns() < until;)
		exact_once(fd);
	ck_assert_uint_gt(nmis_of_cpu_0(), nmis);
	unlink_self(fd);
	/* It goes back to the fixed counter. */
	ck_ok(write_text(WATCHDOG, "0"));
	until_given_back();
	ck_ok(write_text(WATCHDOG, before));
	ck_ok(write_text(THRESHOLD, threshold));
}
END_TEST

/*
 * The fixed counters share a control register, which perf writes whole when an event of its own comes to a fixed counter
 * or leaves one. Our fixed counter goes on.
 */
START_TEST(perf_writes_the_fixed_control)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_REF_CPU_CYCLES, .exclude_kernel = 1, .exclude_hv = 1 };
	struct perfctr_control control;
	int fd = open_self(), perf, turn;

	control_init(&control);
	control.tsc_on = 1;
	control_add_at(&control, FIXED_INSTRUCTIONS, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	until_given_back();
	set_control(fd, &control);
	for (turn = 0; turn < 20; turn++) {
		ck_ok(perf = perf_open(&attr, 0, -1, -1));
		exact_once(fd);
		ck_assert_uint_gt(perf_read_one(perf), 0);
		close(perf);
		exact_once(fd);
	}
	unlink_self(fd);
}
END_TEST

/* Perf's users are told at once that we have all counters of their event, or wait if the administrator says so. */
START_TEST(perf_is_told_at_open)
{
	struct perfctr_control control = control_with_fixed(guest.nprogrammable);
	int fd = open_self(), before, perf;
	struct perf_event_attr attr;
	uint64_t values[3] = { 0 };
	pid_t child;

	until_given_back();
	perf_attr_init(&attr, EV_INSTRUCTIONS);
	attr.inherit = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	ck_ok(before = perf_open(&attr, 0, -1, -1));
	set_control(fd, &control);
	ck_errno(perf_open(&attr, 0, -1, -1), EBUSY);
	ck_errno(perf_open(&attr, -1, 0, -1), EBUSY);
	attr.write_backward = 1;
	ck_errno(perf_open(&attr, 0, -1, -1), EBUSY);
	attr.write_backward = 0;
	/* A fork goes on, although the child's event cannot count. */
	ck_ok(child = fork());
	if (!child)
		_exit(0);
	expect_exit(child, 0);
	exact_once(fd);
	ck_ok(write_text(REFUSE, "N"));
	ck_ok(perf = perf_open(&attr, 0, -1, -1));
	body_spin(SHORT_LOOPS);
	ck_assert_int_eq(read(perf, values, sizeof(values)), sizeof(values));
	ck_assert_uint_eq(values[0], 0);
	ck_assert_uint_eq(values[2], 0);
	ck_ok(write_text(REFUSE, "Y"));
	exact_once(fd);
	close(perf);
	close(before);
	/* One counter less, and there is one for perf. */
	control.nractrs--;
	set_control(fd, &control);
	until_given_back();
	ck_ok(perf = perf_open(&attr, 0, -1, -1));
	body_spin(SHORT_LOOPS);
	ck_assert_int_eq(read(perf, values, sizeof(values)), sizeof(values));
	ck_assert_uint_gt(values[0], 2 * SHORT_LOOPS);
	ck_assert_uint_eq(values[1], values[2]);
	close(perf);
	unlink_self(fd);
}
END_TEST

/*
 * On Zen, an event that needs two counters makes perf assign all counters anew. We lose ours, are told so, and keep what
 * was counted. Perf counts right.
 */
#define CODE_FLOPS 0x003

START_TEST(lost_to_a_pair)
{
	struct perfctr_control control = control_of_many(1);
	struct perf_event_attr plain, pair = { .type = PERF_TYPE_RAW, .size = sizeof(pair),
		.config = CODE_FLOPS | 0xff00, .exclude_kernel = 1, .exclude_hv = 1 };
	struct perfctr_read before, rd;
	int fd = open_self(), first, second;
	char watchdog[16];

	/* With the watchdog there are too few counters for the pair. */
	ck_assert_int_gt(read_text(WATCHDOG, watchdog, sizeof(watchdog)), 0);
	ck_ok(write_text(WATCHDOG, "0"));
	pin_self(0);
	until_given_back();
	control.source = PERFCTR_SOURCE_NATIVE;
	set_control(fd, &control);
	perf_attr_init(&plain, EV_INSTRUCTIONS);
	ck_ok(first = perf_open(&plain, 0, -1, -1));
	exact_once(fd);
	read_all(fd, &before);
	ck_ok(second = perf_open(&pair, 0, -1, -1));
	body_spin(SHORT_LOOPS);
	ck_assert_int_eq(try_read(fd, &rd), -EIO);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_LOST);
	ck_assert_uint_ge(rd.sum[0], before.sum[0]);
	ck_assert_uint_lt(rd.sum[0], before.sum[0] + 1000000);
	close(second);
	close(first);
	/* A new control begins anew. Those who counted may still be on their way out. */
	until_given_back();
	set_control(fd, &control);
	exact_once(fd);
	unlink_self(fd);
	ck_ok(write_text(WATCHDOG, watchdog));
}
END_TEST

void sharing_held(void)
{
	if (!is_beside())
		return;
	GUEST_RUN(only_what_controls_need, NEED_COUNTERS | NEED_PERF);
	GUEST_RUN(refused_what_perf_has, NEED_COUNTERS | NEED_PERF | NEED_SMP);
	GUEST_RUN(refused_without_harm, NEED_COUNTERS | NEED_PERF);
	GUEST_RUN(lost_to_an_older_pinned_event,
		  NEED_COUNTERS | NEED_PERF | NEED_USER_READ | LOG_MODULE);
	if (guest.info.nrctrs > guest.nprogrammable) {
		GUEST_RUN(all_lost_to_an_older_pinned_event,
			  NEED_COUNTERS | NEED_PERF | NEED_USER_READ | LOG_MODULE);
		GUEST_RUN(most_lost_to_an_older_pinned_event,
			  NEED_COUNTERS | NEED_PERF | NEED_USER_READ | LOG_MODULE);
	}
	GUEST_RUN(watchdog_ticks, NEED_COUNTERS | NEED_PERF);
	if (guest.info.counters >> FIXED_CYCLES & 1)
		GUEST_RUN(watchdog_finds_a_counter, NEED_COUNTERS | NEED_PERF);
	sharing_readers();
	/* Perf keeps the first counters. */
	if (guest.info.counters & 1)
		GUEST_RUN(perf_is_told_at_open, NEED_COUNTERS | NEED_PERF);
	if (guest.info.counters >> FIXED_REF & 1)
		GUEST_RUN(perf_writes_the_fixed_control, NEED_COUNTERS | NEED_PERF);
	if (is_amd() && guest.info.cpu_type >= PERFCTR_X86_AMD_ZEN)
		GUEST_RUN(lost_to_a_pair, NEED_COUNTERS | NEED_PERF | LOG_MODULE);
}
