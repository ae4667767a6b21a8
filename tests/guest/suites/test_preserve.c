// SPDX-License-Identifier: GPL-2.0
/*
 * One rule for sums: a control that counts resets those of its counters whose preserve bit is
 * clear. The clock's sum goes on as long as each of these has the clock on. What is kept is kept
 * to the instruction.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/pairs.h"
#include "kit/loops.h"

#define LOOPS 10000ul
/* What a test executes between two looks, beside its loop, is less than this. */
/* A control is copied word by word, of 32 bits or of 64. */
#define SLACK (sizeof(long) == 8 || is_x86() ? 5000ul : 8000ul)

/* Two counters and the clock. Their sums after each control are looked at. */
static struct perfctr_control two_counters(void)
{
	struct perfctr_control control;

	control_init(&control);
	control.tsc_on = 1;
	control_add(&control, EV_INSTRUCTIONS);
	control_add(&control, EV_DTLB_STORE_MISSES);
	return control;
}

/*
 * The first read after a control: the sum that the counter started from, and some hundred
 * instructions that were executed since.
 */
static uint64_t started_from(int fd, unsigned int i)
{
	return read_sum(fd, i);
}

START_TEST(without_preserve_from_zero)
{
	struct perfctr_control control = two_counters();
	int fd = open_self();

	set_control(fd, &control);
	body_spin(LOOPS);
	ck_assert_uint_ge(read_sum(fd, 0), BODY_SPIN(LOOPS));
	set_control(fd, &control);
	ck_assert_uint_lt(started_from(fd, 0), SLACK);
}
END_TEST

START_TEST(preserve_bit_keeps)
{
	struct perfctr_control control = two_counters();
	uint64_t before, after;
	int fd = open_self();

	pairs_ignore();
	set_control(fd, &control);
	body_spin(LOOPS);
	before = read_sum(fd, 0);
	control.preserve = 1;
	set_control(fd, &control);
	after = started_from(fd, 0);
	ck_assert_uint_gt(after, before);
	ck_assert_uint_lt(after, before + SLACK);
}
END_TEST

START_TEST(each_counter_has_its_bit)
{
	struct perfctr_control control;
	uint64_t sum[2];
	unsigned int keep;
	int fd = open_self();

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control_add(&control, EV_CYCLES);
	for (keep = 0; keep < 4; keep++) {
		control.preserve = 0;
		set_control(fd, &control);
		body_spin(LOOPS);
		control.preserve = keep;
		set_control(fd, &control);
		sum[0] = read_sum(fd, 0);
		sum[1] = read_sum(fd, 1);
		ck_assert_msg((sum[0] > LOOPS) == (keep & 1), "preserve %u: counter 0 has %llu",
			      keep, (unsigned long long)sum[0]);
		ck_assert_msg((sum[1] > LOOPS) == (keep >> 1), "preserve %u: counter 1 has %llu",
			      keep, (unsigned long long)sum[1]);
	}
}
END_TEST

/* A sum belongs to a place in the control, whatever is counted there next. */
START_TEST(kept_for_another_event)
{
	struct perfctr_control control;
	uint64_t before, after;
	int fd = open_self();

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	body_spin(LOOPS);
	before = read_sum(fd, 0);
	control.ctr[0].event = own_event(EV_ITLB_LOAD_MISSES);
	control.ctr[0].config = own_config(EV_ITLB_LOAD_MISSES);
	control.preserve = 1;
	set_control(fd, &control);
	after = read_sum(fd, 0);
	ck_assert_uint_ge(after, before);
	ck_assert_uint_lt(after, before + SLACK);
}
END_TEST

#define TURNS 50

/* Every turn executes the same code, so it counts as much as the one before. */
static void same_lengths(const uint64_t *sum)
{
	unsigned int i;

	ck_assert_uint_gt(sum[1] - sum[0], BODY_SPIN(LOOPS));
	ck_assert_uint_lt(sum[1] - sum[0], BODY_SPIN(LOOPS) + 2 * SLACK);
	for (i = 2; i < TURNS; i++)
		ck_assert_uint_eq(sum[i] - sum[i - 1], sum[1] - sum[0]);
}

/* The same control again and again keeps every instruction in between. */
START_TEST(preserved_exactly)
{
	struct perfctr_control control;
	uint64_t sum[TURNS];
	unsigned int i;
	int fd = open_self();

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	control.preserve = 1;
	for (i = 0; i < TURNS; i++) {
		body_spin(LOOPS);
		set_control(fd, &control);
		sum[i] = read_sum(fd, 0);
	}
	same_lengths(sum);
}
END_TEST

/*
 * A control that does not name a counter stops it, and its sum waits: what is executed
 * meanwhile is not counted, and what was counted before is not lost.
 */
START_TEST(stop_and_go_on)
{
	struct perfctr_control control, stop;
	uint64_t sum[TURNS];
	unsigned int i;
	int fd = open_self();

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control.preserve = 1;
	control_init(&stop);
	stop.preserve = 1;
	for (i = 0; i < TURNS; i++) {
		set_control(fd, &control);
		body_spin(LOOPS);
		set_control(fd, &stop);
		/* Each time something else */
		body_spin(LOOPS * (i + 1));
		set_control(fd, &control);
		sum[i] = read_sum(fd, 0);
		set_control(fd, &stop);
	}
	same_lengths(sum);
}
END_TEST

/* Stores in @gain what both counters count, while the second one is stopped but for the ends. */
static void stop_the_second(int fd, unsigned long loops, uint64_t *gain)
{
	struct perfctr_control control;
	struct perfctr_read rd[2];

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control_add(&control, EV_CYCLES);
	control.preserve = 3;
	set_control(fd, &control);
	read_all(fd, &rd[0]);
	control.nractrs = 1;
	set_control(fd, &control);
	body_spin(loops);
	control.nractrs = 2;
	set_control(fd, &control);
	read_all(fd, &rd[1]);
	gain[0] = rd[1].sum[0] - rd[0].sum[0];
	gain[1] = rd[1].sum[1] - rd[0].sum[1];
}

/* One counter of several stops, by a control that does not name it, and keeps its sum. */
START_TEST(one_stops_and_goes_on)
{
	uint64_t gain[3][2];
	unsigned int i;
	int fd = open_self();

	/* The first turn differs, as pages are faulted in. */
	for (i = 0; i < 3; i++)
		stop_the_second(fd, LOOPS * (i ? i : 1), gain[i]);
	ck_assert_uint_eq(gain[2][0] - gain[1][0], BODY_SPIN(2 * LOOPS) - BODY_SPIN(LOOPS));
	ck_assert_uint_eq(gain[2][1], gain[1][1]);
	ck_assert_uint_lt(gain[1][1], SLACK);
	ck_assert_uint_gt(read_sum(fd, 1), gain[0][1] + gain[1][1] + gain[2][1]);
}
END_TEST

/*
 * A control that counts nothing leaves all sums. Both calls show them, and what is counted next may
 * go on from them.
 */
START_TEST(stop_keeps_sums)
{
	struct perfctr_control control = two_counters(), stop;
	struct perfctr_read at, rd;
	uint64_t words[3];
	int fd = open_self();

	set_control(fd, &control);
	body_spin(LOOPS);
	read_all(fd, &at);
	control_init(&stop);
	set_control(fd, &stop);
	body_spin(LOOPS);
	read_all(fd, &rd);
	ck_assert_uint_eq(rd.cstatus, 0);
	ck_assert_uint_eq(rd.nrctrs, 2);
	ck_assert_uint_ge(rd.clock, at.clock);
	ck_assert_uint_gt(rd.sum[0], at.sum[0]);
	ck_assert_uint_lt(rd.sum[0], at.sum[0] + SLACK);
	ck_assert_uint_ge(rd.soft.task_clock, at.soft.task_clock);
	ck_assert_int_eq(read(fd, words, sizeof(words)), sizeof(words));
	ck_assert_uint_eq(words[0], rd.clock);
	ck_assert_uint_eq(words[1], rd.sum[0]);
	ck_assert_uint_eq(words[2], rd.sum[1]);
	/* Again: nothing is different. */
	set_control(fd, &stop);
	ck_assert_uint_eq(read_sum(fd, 0), rd.sum[0]);
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &control));
	ck_assert_uint_eq(control.nractrs, 0);
	ck_assert_uint_eq(control.tsc_on, 0);

	control = two_counters();
	control.preserve = 1;
	set_control(fd, &control);
	/* Assertions write, which is counted. */
	read_all(fd, &at);
	ck_assert_uint_gt(at.sum[0], rd.sum[0]);
	ck_assert_uint_lt(at.sum[0], rd.sum[0] + SLACK);
	ck_assert_uint_lt(at.sum[1], SLACK);
	ck_assert_uint_ge(at.clock, rd.clock);
}
END_TEST

/* The sum of a counter that a control does not name waits, whatever it preserves. */
START_TEST(not_named_is_kept)
{
	struct perfctr_control control;
	struct perfctr_read rd;
	uint64_t before;
	int fd = open_self();

	control_init(&control);
	control_add(&control, EV_CYCLES);
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	body_spin(LOOPS);
	before = read_sum(fd, 1);
	control.nractrs = 1;
	set_control(fd, &control);
	body_spin(LOOPS);
	control.nractrs = 2;
	control.preserve = 2;
	set_control(fd, &control);
	read_all(fd, &rd);
	ck_assert_uint_lt(rd.sum[0], LOOPS);
	ck_assert_uint_gt(rd.sum[1], before);
	ck_assert_uint_lt(rd.sum[1], before + LOOPS);
}
END_TEST

START_TEST(sums_after_a_stop_and_an_end)
{
	struct perfctr_control control = two_counters(), stop;
	struct perfctr_read at, rd;
	int fd = open_self();

	set_control(fd, &control);
	body_spin(LOOPS);
	control_init(&stop);
	set_control(fd, &stop);
	read_all(fd, &at);
	ck_ok(ioctl(fd, PERFCTR_IOC_UNLINK));
	read_all(fd, &rd);
	ck_assert_uint_eq(rd.cstatus, 0);
	ck_assert_uint_eq(rd.nrctrs, 2);
	ck_assert_uint_eq(rd.sum[0], at.sum[0]);
	ck_assert_uint_eq(rd.clock, at.clock);
}
END_TEST

START_TEST(clock_is_kept_while_it_is_on)
{
	struct perfctr_control control;
	uint64_t before, after;
	int fd = open_self();

	control_init(&control);
	control.tsc_on = 1;
	set_control(fd, &control);
	body_spin(100 * LOOPS);
	before = read_clock(fd);
	ck_assert_uint_gt(before, 0);
	set_control(fd, &control);
	after = read_clock(fd);
	ck_assert_uint_ge(after, before);
	/* This is a stop. */
	control.tsc_on = 0;
	set_control(fd, &control);
	before = read_clock(fd);
	ck_assert_uint_ge(before, after);
	body_spin(LOOPS);
	ck_assert_uint_eq(read_clock(fd), before);
	control.tsc_on = 1;
	set_control(fd, &control);
	ck_assert_uint_ge(read_clock(fd), before);
}
END_TEST

START_TEST(clock_off_with_counters_on)
{
	struct perfctr_control control = two_counters();
	struct perfctr_read rd;
	uint64_t before;
	int fd = open_self();

	control.tsc_on = 0;
	set_control(fd, &control);
	body_spin(LOOPS);
	read_all(fd, &rd);
	ck_assert_uint_eq(rd.clock, 0);
	ck_assert_uint_eq(rd.cstatus & PERFCTR_CSTATUS_CLOCK, 0);
	ck_assert_uint_ge(rd.sum[0], BODY_SPIN(LOOPS));
	/* That has no clock to be kept by a stop, and the next begins with zero. */
	control_init(&control);
	set_control(fd, &control);
	ck_assert_uint_eq(read_clock(fd), 0);
	control.tsc_on = 1;
	set_control(fd, &control);
	body_spin(LOOPS);
	before = read_clock(fd);
	control = two_counters();
	control.tsc_on = 0;
	set_control(fd, &control);
	body_spin(100 * LOOPS);
	control.tsc_on = 1;
	set_control(fd, &control);
	ck_assert_uint_lt(read_clock(fd), 10 * before);
}
END_TEST

/* Fewer, and then more counters than before: the new ones begin with zero. */
START_TEST(number_of_counters_changes)
{
	struct perfctr_control one, many;
	struct perfctr_read rd;
	uint64_t kept;
	unsigned int i;
	int fd = open_self();

	control_init(&one);
	control_add(&one, EV_INSTRUCTIONS);
	control_init(&many);
	control_add(&many, EV_INSTRUCTIONS);
	control_add(&many, EV_CYCLES);
	if (guest.nprogrammable > 2)
		control_add(&many, EV_DTLB_STORE_MISSES);

	set_control(fd, &many);
	body_spin(LOOPS);
	one.preserve = 1;
	set_control(fd, &one);
	read_all(fd, &rd);
	ck_assert_uint_eq(rd.nrctrs, 1);
	ck_assert_uint_gt(rd.sum[0], BODY_SPIN(LOOPS));
	kept = rd.sum[0];

	many.preserve = 1;
	set_control(fd, &many);
	read_all(fd, &rd);
	ck_assert_uint_eq(rd.nrctrs, many.nractrs);
	ck_assert_uint_gt(rd.sum[0], kept);
	for (i = 1; i < many.nractrs; i++)
		ck_assert_uint_lt(rd.sum[i], SLACK);
}
END_TEST

/* A refused control preserves everything, the sums as well. */
START_TEST(refused_control_keeps_sums)
{
	struct perfctr_control control = two_counters();
	uint64_t before, after;
	int fd = open_self();

	pairs_ignore();
	set_control(fd, &control);
	body_spin(LOOPS);
	before = read_sum(fd, 0);
	/* perf lets raw events pass that the processor has not. */
	control.ctr[1].event = guest.shared ? 1ull << 40 | EV_INSTRUCTIONS : EV_MISSING;
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	after = read_sum(fd, 0);
	ck_assert_uint_gt(after, before);
	ck_assert_uint_lt(after, before + SLACK);
}
END_TEST

START_TEST(page_follows_the_control)
{
	struct perfctr_control control = two_counters();
	const struct perfctr_page *page;
	uint64_t value[2];
	int fd = open_self();
	int32_t seq;

	page = map_page(fd);
	ck_assert_int_lt(page->seq, 0);
	set_control(fd, &control);
	ck_assert(!page_asks(page, 0));
	seq = page->seq;
	ck_assert_int_ge(exact_inline(page, 0, body_spin, LOOPS, value), 0);
	ck_assert_uint_ge(value[0], 1);
	ck_assert_uint_lt(value[0], SLACK);

	control.preserve = 1;
	set_control(fd, &control);
	ck_assert_int_ne(page->seq, seq);
	ck_assert_int_ge(exact_inline(page, 0, body_spin, LOOPS, value), 0);
	ck_assert_uint_gt(value[0], BODY_SPIN(LOOPS));

	control_init(&control);
	set_control(fd, &control);
	ck_assert_int_lt(page->seq, 0);
	ck_assert_uint_eq(page->cstatus, 0);
	ck_assert_uint_eq(page->nrctrs, 0);
	ck_assert(page_asks(page, 0));
}
END_TEST

START_TEST(is_running)
{
	struct vperfctr_control control = { .cpu_control = { .tsc_on = 1 } };
	struct perfctr_control at_exec = {
		PERFCTR_CONTROL_INIT, .flags = PERFCTR_CONTROL_ON_EXEC, .tsc_on = 1,
	};
	struct vperfctr *v = vperfctr_open();

	ck_assert_ptr_nonnull(v);
	ck_assert_int_eq(vperfctr_is_running(v), 0);
	ck_ok(vperfctr_control_native(v, &at_exec));
	ck_assert_int_eq(vperfctr_is_running(v), 0);
	ck_ok(vperfctr_control(v, &control));
	ck_assert_int_eq(vperfctr_is_running(v), 1);
	ck_ok(vperfctr_stop(v));
	ck_assert_int_eq(vperfctr_is_running(v), 0);
	ck_ok(vperfctr_control(v, &control));
	ck_assert_int_eq(vperfctr_is_running(v), 1);
	ck_ok(vperfctr_suspend(v));
	ck_assert_int_eq(vperfctr_is_running(v), 0);
	ck_ok(vperfctr_resume(v));
	ck_assert_int_eq(vperfctr_is_running(v), 1);
	ck_ok(vperfctr_unlink(v));
	ck_assert_int_eq(vperfctr_is_running(v), 0);
	vperfctr_close(v);
}
END_TEST

int main(void)
{
	guest_begin("preserve", NULL);
	GUEST_RUN(without_preserve_from_zero, NEED_COUNTERS | AS_USER);
	GUEST_RUN(preserve_bit_keeps, NEED_COUNTERS | AS_USER);
	GUEST_RUN(each_counter_has_its_bit, NEED_COUNTERS | AS_USER);
	GUEST_RUN(kept_for_another_event, NEED_COUNTERS | AS_USER);
	GUEST_RUN(preserved_exactly, NEED_COUNTERS | AS_USER);
	GUEST_RUN(stop_and_go_on, NEED_COUNTERS | AS_USER);
	GUEST_RUN(one_stops_and_goes_on, NEED_COUNTERS);
	GUEST_RUN(stop_keeps_sums, NEED_COUNTERS | AS_USER);
	GUEST_RUN(not_named_is_kept, NEED_COUNTERS | AS_USER);
	GUEST_RUN(sums_after_a_stop_and_an_end, NEED_COUNTERS | AS_USER);
	GUEST_RUN(clock_is_kept_while_it_is_on, AS_USER);
	GUEST_RUN(clock_off_with_counters_on, NEED_COUNTERS | AS_USER);
	GUEST_RUN(number_of_counters_changes, NEED_COUNTERS | NEED_ROOM | AS_USER);
	GUEST_RUN(refused_control_keeps_sums, NEED_COUNTERS | AS_USER);
	GUEST_RUN(page_follows_the_control, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(is_running, AS_USER);
	return guest_end();
}
