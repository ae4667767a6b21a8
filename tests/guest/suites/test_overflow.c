// SPDX-License-Identifier: GPL-2.0
/*
 * i-mode counters. The emulated machine interrupts without skid, so the sum that a
 * handler finds is known to the instruction: a multiple of the period. And what is
 * counted again from the handler's IRESUME on is the same each time (tail), so the
 * length of a loop is known as well, however often it is interrupted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/overflow.h"

static const uint64_t periods[] = { 1000, 1009, 9973, 100003, 1000000, 3000017, 10000000 };
#define NR_PERIODS (sizeof(periods) / sizeof(periods[0]))

/* Enough for some overflows, and never for too many */
static unsigned long loops_of(uint64_t period)
{
	return period < 100000 ? 300000 : 3 * (unsigned long)period;
}

START_TEST(refused_without_interrupts)
{
	struct perfctr_control control;
	int fd = open_self();

	period_control(&control, 1000);
	ck_errno(ioctl(fd, PERFCTR_IOC_CONTROL, &control), EOPNOTSUPP);
}
END_TEST

START_TEST(exact_at_every_period)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	unsigned int i;

	learn_tail(self);
	for (i = 0; i < NR_PERIODS; i++)
		ck_exact(self, periods[i], loops_of(periods[i]));
}
END_TEST

/* The handler's place is behind the instruction that overflowed. */
START_TEST(exact_place)
{
	struct listener *self = listen_to(SIGUSR1, STAY);
	struct perfctr_read rd[2];
	struct perfctr_control control;
	uintptr_t spin = (uintptr_t)body_spin;
	uint64_t into;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		period_control(&control, 5000 + i);
		memset(rd, 0, sizeof(rd));
		rd[0].size = rd[1].size = sizeof(rd[0]);
		self->nr = 0;
		set_control(self->fd, &control);
		ck_assert_int_eq(exact_kernel(self->fd, PERFCTR_IOC_READ, rd, body_spin, 5000), 0);
		ck_assert_uint_eq(self->nr, 1);
		/* Instructions since the first read. A turn of the loop has two. */
		into = self->note[0].sum[0] - rd[0].sum[0];
		if (!i)
			ck_assert_uint_ge(into, 2ull * EXACT_KERNEL);
		ck_assert_uint_eq(self->note[0].sum[0], 5000 + i);
		ck_assert_uint_eq(self->note[0].pc,
				  spin + BODY_SPIN_FIRST * ((into - EXACT_BEFORE_BODY) & 1));
	}
}
END_TEST

/* Counter 1 is an i-mode counter. User mode can read it only if registers have 64 bits. */
static void its_page_is_exact(const struct perfctr_page *page)
{
	uint64_t value[2];

	if (guest.info.width < 64) {
		ck_assert(page_asks(page, 1));
		return;
	}
	ck_assert(!page_asks(page, 1));
	ck_assert_int_ge(exact_inline(page, 1, body_spin, 100, value), 0);
	ck_assert_uint_eq(value[1] - value[0], EXACT_INLINE + BODY_SPIN(100));
}

/* The counters stand still, the clock goes on, READ says why, and the page shows no registers. */
START_TEST(suspended_until_resumed)
{
	struct listener *self = listen_to(SIGUSR1, STAY);
	const struct perfctr_page *page;
	struct perfctr_control control;
	struct perfctr_read rd, now;

	page = map_page(self->fd);
	period_control(&control, 50000);
	control.nractrs = 1;
	control.ctr[1] = control.ctr[0];
	control.ctr[0].event = own_event(EV_DTLB_STORE_MISSES);
	control.ctr[0].config = own_config(EV_DTLB_STORE_MISSES);
	control.ctr[0].ireset = 0;
	set_control(self->fd, &control);
	body_spin(10000);
	ck_assert_uint_eq(self->nr, 0);
	ck_assert(!page_asks(page, 0));
	its_page_is_exact(page);
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED);
	ck_assert_uint_eq(rd.overflows, 0);
	ck_assert_uint_eq(rd.cstatus, PERFCTR_CSTATUS_CLOCK | 1 << 8 | 2);

	body_spin(100000);
	ck_assert_uint_eq(self->nr, 1);
	ck_assert_int_eq(self->note[0].mask, 2);
	read_all(self->fd, &rd);
	body_spin(100000);
	sched_yield();
	read_all(self->fd, &now);
	ck_assert_uint_eq(rd.flags, PERFCTR_READ_ATTACHED | PERFCTR_READ_OVERFLOWN);
	ck_assert_uint_eq(rd.overflows, 1);
	ck_assert_uint_eq(rd.sum[1], 50000);
	ck_assert_uint_eq(now.sum[1], rd.sum[1]);
	ck_assert_uint_eq(now.sum[0], rd.sum[0]);
	ck_assert_uint_gt(now.clock, rd.clock);
	ck_assert(page_asks(page, 0));
	ck_assert(page_asks(page, 1));

	ck_ok(ioctl(self->fd, PERFCTR_IOC_IRESUME));
	its_page_is_exact(page);
	ck_errno(ioctl(self->fd, PERFCTR_IOC_IRESUME), EINVAL);
	read_all(self->fd, &now);
	ck_assert_uint_eq(now.flags, PERFCTR_READ_ATTACHED);
	ck_assert_uint_gt(now.sum[1], rd.sum[1]);
}
END_TEST

/* Two periods at once, of events that are equal here. An overflow of one suspends both. */
START_TEST(two_periods)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	uint64_t limit[2] = { 7000, 21000 };
	/* An a-mode counter before them, if there are enough counters */
	const unsigned int first = guest.nprogrammable > 2;
	struct perfctr_control control;
	unsigned int i, both = 0;

	control_init(&control);
	control.si_signo = SIGUSR1;
	if (first)
		control_add(&control, EV_DTLB_LOAD_MISSES);
	control_add_ictr(&control, EV_INSTRUCTIONS, -7000);
	control_add_ictr(&control, EV_LIKE_INSTRUCTIONS, -21000);
	set_control(self->fd, &control);
	body_spin(500000);
	ck_ok(ioctl(self->fd, PERFCTR_IOC_SUSPEND));
	ck_assert_uint_gt(self->nr, 100);
	for (i = 0; i < self->nr; i++) {
		const struct note *note = &self->note[i];
		int mask = 0, k;

		for (k = 0; k < 2; k++) {
			if (note->sum[first + k] < limit[k])
				continue;
			mask |= 1 << (first + k);
			ck_assert_uint_eq(note->sum[first + k], limit[k]);
			limit[k] += k ? 21000 : 7000;
		}
		ck_assert_int_eq(note->mask, mask);
		both += mask == 3 << first;
	}
	ck_assert_uint_gt(both, 30);
}
END_TEST

/* The period does not change the sum: an a-mode counter beside it has the same. */
START_TEST(a_mode_beside)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct perfctr_control control;
	struct perfctr_read rd;
	unsigned int i;

	control_init(&control);
	control.si_signo = SIGUSR1;
	control_add(&control, EV_LIKE_INSTRUCTIONS);
	control_add_ictr(&control, EV_INSTRUCTIONS, -3001);
	set_control(self->fd, &control);
	body_spin(500000);
	read_all(self->fd, &rd);
	ck_assert_uint_eq(rd.sum[0], rd.sum[1]);
	ck_assert_uint_eq(rd.overflows, rd.sum[1] / 3001);
	for (i = 0; i < self->nr && i < NOTES; i++)
		ck_assert_uint_eq(self->note[i].sum[0], self->note[i].sum[1]);
}
END_TEST

/* perf counts more of the same thread: what each handler does before its IRESUME. */
START_TEST(perf_is_witness)
{
	struct listener *self = listen_to(SIGUSR1, IRESUME);
	struct perfctr_control control;
	uint64_t perfs[2], more[NR_PERIODS], each;
	unsigned int i, nr[NR_PERIODS];
	struct perfctr_read rd[2];
	int perf;

	ck_ok(perf = perf_open_self(EV_INSTRUCTIONS));
	for (i = 0; i < NR_PERIODS; i++) {
		period_control(&control, (int64_t)periods[i]);
		set_control(self->fd, &control);
		ck_ok(ioctl(self->fd, PERFCTR_IOC_SUSPEND));
		self->nr = 0;
		read_all(self->fd, &rd[0]);
		perfs[0] = perf_read_one(perf);
		(void)ioctl(self->fd, PERFCTR_IOC_RESUME);
		body_spin(loops_of(periods[i]));
		(void)ioctl(self->fd, PERFCTR_IOC_SUSPEND);
		perfs[1] = perf_read_one(perf);
		read_all(self->fd, &rd[1]);
		nr[i] = self->nr;
		more[i] = perfs[1] - perfs[0] - (rd[1].sum[0] - rd[0].sum[0]);
	}
	/* That is the same for each signal; the calls around add the same in all cases. */
	each = (more[0] - more[3]) / (nr[0] - nr[3]);
	ck_assert_uint_gt(each, 20);
	for (i = 0; i < NR_PERIODS; i++) {
		ck_assert_uint_ge(nr[i], 2);
		ck_assert_uint_lt(nr[i], NOTES);
		ck_assert_uint_eq(more[i] - nr[i] * each, more[0] - nr[0] * each);
	}
}
END_TEST

int main(void)
{
	guest_begin("overflow", NULL);
	GUEST_RUN(refused_without_interrupts, NEED_NO_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(exact_at_every_period, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(exact_place, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(suspended_until_resumed,
		  NEED_INTERRUPT | NEED_USER_READ | LOG_SILENT | AS_USER);
	GUEST_RUN(two_periods, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(a_mode_beside, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(perf_is_witness, NEED_INTERRUPT | NEED_PERF | NEED_BESIDE | LOG_SILENT);
	overflow_among();
	overflow_signals();
	overflow_calls();
	return guest_end();
}
