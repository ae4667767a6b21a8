// SPDX-License-Identifier: GPL-2.0
/* Somebody writes to registers of x86's counters: it is noticed, and told. */
#define _GNU_SOURCE
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "kit/registers.h"
#include "suites/vices.h"

int count_by_both(void)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.tsc_on = 1;
	control_add_at(&control, first_counter(), EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	if (has_fixed())
		control_add_at(&control, 24, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	set_control(fd, &control);
	counts_instructions(fd, 0);
	return fd;
}

uint32_t error_of(int fd)
{
	struct perfctr_read rd;
	int err = try_read(fd, &rd);

	ck_assert_int_eq(err, rd.error ? -EIO : 0);
	return rd.error;
}

/* The thread is told within a look, its sums stand still, and the next control is exact. */
static void is_noticed(int fd)
{
	struct perfctr_read before, after;

	wait_for_a_look();
	ck_assert_uint_eq(error_of(fd), PERFCTR_ERROR_CHANGED);
	(void)try_read(fd, &before);
	wait_for_a_look();
	(void)try_read(fd, &after);
	ck_assert_uint_eq(after.error, PERFCTR_ERROR_CHANGED);
	ck_assert_uint_eq(after.sum[0], before.sum[0]);
	close(fd);
	fd = count_by_both();
	unlink_self(fd);
	close(fd);
}

/* Writes @msr with @bits toggled. */
static void toggle(uint32_t msr, uint64_t bits)
{
	uint64_t value;

	ck_assert(rdmsr(msr, &value));
	ck_assert(wrmsr(msr, value ^ bits));
}

/* Without it the first counter stands still: on the Pentium that of the mode. */
static uint64_t enable_bit(void)
{
	if (is_p4())
		return 1u << 12;
	return is_pentium() ? 0x80 : EVNTSEL_EN;
}

/* Bits of another event on counter @i; of a Pentium 4 of what the CCCR selects */
static uint64_t event_bits(unsigned int i)
{
	if (is_p4())
		return 1u << 13;
	if (is_pentium())
		return i ? evntsel_of(i, EV_INSTRUCTIONS, false) : 0x16 ^ 0x12;
	return i ? EV_INSTRUCTIONS : EV_INSTRUCTIONS ^ EV_BRANCHES;
}

START_TEST(select_changed)
{
	int fd;

	open_registers();
	fd = count_by_both();
	toggle(msr_evntsel(0), event_bits(0));
	is_noticed(fd);
	/* It stops counting altogether. */
	fd = count_by_both();
	toggle(msr_evntsel(0), enable_bit());
	is_noticed(fd);
	/* A counter that is not in use is ours as well: its next user counts from there on. */
	fd = count_by_both();
	toggle(msr_evntsel(1), event_bits(1));
	is_noticed(fd);
}
END_TEST

START_TEST(fixed_control_changed)
{
	int fd;

	open_registers();
	fd = count_by_both();
	toggle(MSR_FIXED_CTRL, 1);
	is_noticed(fd);
}
END_TEST

START_TEST(global_control_changed)
{
	int fd;

	open_registers();
	fd = count_by_both();
	toggle(msr_global_ctrl(), 1);
	is_noticed(fd);
	fd = count_by_both();
	ck_assert(wrmsr(msr_global_ctrl(), 0));
	is_noticed(fd);
}
END_TEST

/* Nothing was counted wrong yet, but the next overflow would stop all counters. */
START_TEST(freeze_set)
{
	int fd;

	open_registers();
	fd = count_by_both();
	toggle(MSR_DEBUGCTL, DEBUGCTL_FREEZE);
	is_noticed(fd);
}
END_TEST

/* Another event is counted, by the same select. */
START_TEST(event_register_changed)
{
	struct perfctr_control control;
	int fd = open_self();

	open_registers();
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control_add(&control, EV_OFFCORE);
	control.ctr[1].config = 0x101;
	set_control(fd, &control);
	toggle(MSR_OFFCORE_RSP_0, 2);
	is_noticed(fd);
	/* What nobody counts by is not ours. */
	fd = count_by_both();
	toggle(MSR_OFFCORE_RSP_0, 2);
	wait_for_a_look();
	ck_assert_uint_eq(error_of(fd), 0);
	unlink_self(fd);
	close(fd);
}
END_TEST

/*
 * hypervisor=off, and an instruction is a nanosecond: whatever is toggled, by the second tick the
 * thread has its error. It takes a tick if it comes just before the first one.
 */
START_TEST(noticed_by_the_next_tick)
{
	const uint32_t msrs[] = { msr_evntsel(0), MSR_FIXED_CTRL, msr_global_ctrl() };
	static const uint64_t bits[] = { EVNTSEL_EN, 1, 1 };
	unsigned int turn;

	open_registers();
	for (turn = 0; turn < 30; turn++) {
		int fd = count_by_both();
		uint64_t start;

		sleep_us(1000 + 300 * turn);
		start = now_ns();
		toggle(msrs[turn % 3], bits[turn % 3]);
		while (!error_of(fd))
			body_spin(1000);
		ck_assert_uint_le(now_ns() - start, 2 * TICK_NS);
		ck_assert_uint_eq(error_of(fd), PERFCTR_ERROR_CHANGED);
		close(fd);
	}
}
END_TEST

/* It ends its counting before the next look. */
START_TEST(noticed_at_the_end)
{
	struct perfctr_control control;
	int fd;

	open_registers();
	fd = count_by_both();
	toggle(msr_evntsel(0), enable_bit());
	body_spin(SOME_JIFFIES);
	unlink_self(fd);
	ck_assert_uint_eq(error_of(fd), PERFCTR_ERROR_CHANGED);
	close(fd);

	/* ... or is stopped: the error stays with the sums, also those that the next control leaves. */
	fd = count_by_both();
	toggle(msr_evntsel(0), enable_bit());
	body_spin(SOME_JIFFIES);
	control_init(&control);
	set_control(fd, &control);
	ck_assert_uint_eq(error_of(fd), PERFCTR_ERROR_CHANGED);
	control.tsc_on = 1;
	set_control(fd, &control);
	ck_assert_uint_eq(error_of(fd), PERFCTR_ERROR_NONE);
	control_add_at(&control, first_counter(), EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	control.preserve = 1;
	set_control(fd, &control);
	ck_assert_uint_lt(read_sum(fd, 0), SOME_JIFFIES);
	unlink_self(fd);
	close(fd);

	/* ... or goes on with its sums. */
	fd = count_by_both();
	toggle(msr_evntsel(0), enable_bit());
	body_spin(SOME_JIFFIES);
	control_init(&control);
	control_add_at(&control, first_counter(), EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	control.preserve = 1;
	ck_assert_int_eq(try_control(fd, &control), -EIO);
	ck_assert_uint_eq(error_of(fd), PERFCTR_ERROR_CHANGED);
	/* These sums are wrong for ever. */
	ck_assert_int_eq(try_control(fd, &control), -EIO);
	ck_assert_uint_eq(error_of(fd), PERFCTR_ERROR_CHANGED);
	control.preserve = 0;
	set_control(fd, &control);
	counts_instructions(fd, 0);
	unlink_self(fd);
	close(fd);
}
END_TEST

void vices_written(bool bare)
{
	GUEST_RUN(select_changed, NEEDS | NEED_COUNTERS);
	if (has_fixed())
		GUEST_RUN(fixed_control_changed, NEEDS | NEED_COUNTERS);
	if (msr_global_ctrl()) {
		GUEST_RUN(global_control_changed, NEEDS | NEED_COUNTERS);
		GUEST_RUN(freeze_set, NEEDS | NEED_COUNTERS);
	}
	GUEST_RUN(event_register_changed, NEEDS | NEED_EXTRA);
	GUEST_RUN(noticed_at_the_end, NEEDS | NEED_COUNTERS);
	if (bare)
		GUEST_RUN(noticed_by_the_next_tick, NEEDS);
}
