// SPDX-License-Identifier: GPL-2.0
/*
 * PowerPC: perf may count by registers that are reserved for us. An event that could not be opened
 * since they are ours is closed all the same by Linux as it is shipped (seen in 6.12.107), and the
 * next one is opened without asking. Either perf asks each time, and all our counts are exact, or
 * the thread is told that somebody changed the registers.
 *
 * On such a kernel perf is not to be trusted after this.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/perfside.h"

#define LOOPS 1000ul

static void exact_once(int fd)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };

	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, LOOPS), 0);
	ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(LOOPS));
}

START_TEST(noticed_if_perf_does_not_ask)
{
	struct perfctr_read before, after;
	int fd = count_event(EV_INSTRUCTIONS), perf, turn;

	exact_once(fd);
	perf = perf_open_self(EV_CYCLES);
	/* Not if an event was refused earlier in this boot */
	if (perf < 0) {
		ck_assert_int_eq(errno, EBUSY);
		exact_once(fd);
		perf = perf_open_self(EV_CYCLES);
	}
	if (perf < 0) {
		ck_assert_int_eq(errno, EBUSY);
		for (turn = 0; turn < 100; turn++)
			exact_once(fd);
		return;
	}
	/* By the next tick */
	sleep_us(20000);
	ck_assert_int_eq(try_read(fd, &before), -EIO);
	ck_assert_uint_eq(before.error, PERFCTR_ERROR_CHANGED);
	/* The sums stand still. */
	body_spin(100 * LOOPS);
	ck_assert_int_eq(try_read(fd, &after), -EIO);
	ck_assert_uint_eq(after.error, PERFCTR_ERROR_CHANGED);
	ck_assert_uint_eq(after.sum[0], before.sum[0]);
	/* Each control counts, and is ended by each such event. */
	close(perf);
	unlink_self(fd);
	close(fd);
	fd = count_event(EV_INSTRUCTIONS);
	exact_once(fd);
	perf = perf_open_self(EV_CYCLES);
	if (perf < 0)
		ck_assert_int_eq(errno, EBUSY);
	else
		sleep_us(20000);
	(void)try_read(fd, &after);
	ck_assert_uint_eq(after.error, perf < 0 ? PERFCTR_ERROR_NONE : PERFCTR_ERROR_CHANGED);
	unlink_self(fd);
}
END_TEST

int main(void)
{
	guest_begin("unreserved", NULL);
	if (is_ppc())
		GUEST_RUN(noticed_if_perf_does_not_ask,
			  NEED_COUNTERS | NEED_NO_BESIDE | NEED_PERF | LOG_MODULE);
	return guest_end();
}
