// SPDX-License-Identifier: GPL-2.0
/*
 * A reader that races with switches, which come as fast as possible: over millions of
 * reads no count ever goes back, and none jumps. The counter counts the reader's own
 * instructions, so the difference of two successive reads is known exactly. The loop
 * (exact_reader() in loops_ARCH.S) stops at the first difference that is wrong.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "kit/rivals.h"

#define MILLION 1000000ull
#define READS (MILLION + MILLION / 2)
/* Without so many switches, and retries, there was no race to speak of. */
#define SWITCHES_AT_LEAST 1000
#define RETRIES_AT_LEAST 20

/*
 * Sleepers that wake up all the time, at a higher priority than the reader's. A
 * switch to them and back takes some 20 us, so this is about as fast as it goes
 * while something is left for the reader.
 */
static const struct rivals_plan fast = {
	.n = 2, .threads = 1, .cpu = 0, .sleep_us = 50, .sleepers = true,
};

static uint64_t switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* Reads that are right one by one, with whatever the caller has started. */
static void race(const struct perfctr_page *page, bool rivals)
{
	struct reader_result result;
	uint64_t retries = 0, reads = 0, before = switches();
	long how;

	do {
		ck_assert_msg(reads < 50 * MILLION, "%llu retries in %llu reads: no race",
			      (unsigned long long)retries, (unsigned long long)reads);
		memset(&result, 0, sizeof(result));
		how = exact_reader(page, 0, MILLION / 4, &result);
		ck_assert_msg(how != 2, "after %llu reads the page says: ask the kernel",
			      (unsigned long long)(reads + result.turns));
		ck_assert_msg(how == 0, "read %llu: %lld instructions since the last, executed %llu",
			      (unsigned long long)(reads + result.turns),
			      (long long)result.delta, (unsigned long long)result.expected);
		reads += result.turns;
		retries += result.retries;
	} while (reads < READS || (rivals && (retries < RETRIES_AT_LEAST ||
					      switches() - before < SWITCHES_AT_LEAST)));
}

static const struct perfctr_page *begin(void)
{
	return map_page(count_event(EV_INSTRUCTIONS));
}

START_TEST(calm)
{
	race(begin(), false);
}
END_TEST

START_TEST(rivals_with_other_controls)
{
	const struct perfctr_page *page = begin();
	struct rivals_plan plan = fast;
	struct rivals *rivals;

	pin_self(0);
	rivals = rivals_start(&plan);
	race(page, true);
	rivals_stop(rivals);
}
END_TEST

static void rivals_with_this_control(uid_t uid, bool map)
{
	const struct perfctr_page *page = begin();
	struct rivals_plan plan = fast;
	struct perfctr_control control;
	struct rivals *rivals;

	control_init(&control);
	control.tsc_on = 1;
	control_add(&control, EV_INSTRUCTIONS);
	plan.control = &control;
	plan.uid = uid;
	plan.map = map;
	if (uid)
		plan.threads = 0;
	pin_self(0);
	rivals = rivals_start(&plan);
	race(page, true);
	rivals_stop(rivals);
}

START_TEST(rivals_with_the_same_control)
{
	rivals_with_this_control(0, true);
}
END_TEST

START_TEST(rivals_that_map_nothing)
{
	rivals_with_this_control(0, false);
}
END_TEST

START_TEST(rivals_that_are_strangers)
{
	rivals_with_this_control(STRANGER_UID, true);
}
END_TEST

static void under_policy(const char *policy)
{
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", policy), 0);
	rivals_with_this_control(STRANGER_UID, true);
}

START_TEST(strangers_under_open)
{
	under_policy("open");
}
END_TEST

START_TEST(moved_between_cpus)
{
	const struct perfctr_page *page = begin();
	struct mover *mover = mover_start(gettid(), 100);
	struct rivals_plan plan = fast;
	struct rivals *rivals;

	plan.cpu = -1;
	rivals = rivals_start(&plan);
	race(page, true);
	rivals_stop(rivals);
	mover_stop(mover);
}
END_TEST

/*
 * The snapshot: counts of cycles and instructions in user mode, which on a
 * machine with an instruction clock are the same. If they are taken together
 * their difference never changes; if a switch came between, it would.
 */
static void race_snapshots(bool use_cpu1)
{
	struct rivals_plan plan = fast;
	struct vperfctr_control control;
	struct perfctr_sum_ctrs sums[2] = {}, *last = &sums[0], *now = &sums[1], *next;
	struct rivals *rivals;
	struct vperfctr *v;
	unsigned int k, n = guest.nprogrammable < 4 ? guest.nprogrammable : 4;
	uint64_t before, skew, i;
	bool first;

	v = vperfctr_open();
	ck_assert_ptr_nonnull(v);
	memset(&control, 0, sizeof(control));
	control.cpu_control.tsc_on = 1;
	USER_MODE(&control);
	control.cpu_control.nractrs = n;
	for (i = 0; i < n; i++)
		control.cpu_control.pmc_map[i] = PERFCTR_MAP_ANY;
	OLD_EVENT(&control.cpu_control, 0, EV_INSTRUCTIONS);
	OLD_EVENT(&control.cpu_control, 1, EV_DTLB_LOAD_MISSES);
	OLD_EVENT(&control.cpu_control, 2, EV_DTLB_STORE_MISSES);
	OLD_EVENT(&control.cpu_control, n - 1, EV_CYCLES);
	ck_ok(vperfctr_control(v, &control));

	if (!use_cpu1)
		pin_self(0);
	plan.cpu = use_cpu1 ? -1 : 0;
	rivals = rivals_start(&plan);
	before = switches();
	first = !vperfctr_read_ctrs(v, last);
	skew = last->pmc[n - 1] - last->pmc[0];
	/*
	 * An assertion of libcheck is 1,400 instructions, so there is one for all of a
	 * snapshot. Nothing is copied, as i386 copies by a string instruction, in which each
	 * repetition is a cycle.
	 */
	for (i = 0; i < MILLION || switches() - before < SWITCHES_AT_LEAST; i++) {
		bool right = first && !vperfctr_read_ctrs(v, now) &&
			now->tsc >= last->tsc && now->pmc[0] > last->pmc[0] &&
			now->pmc[n - 1] - now->pmc[0] == skew;

		for (k = 1; k < n; k++)
			right &= now->pmc[k] >= last->pmc[k];
		if (!right)
			ck_abort_msg("snapshot %llu: %llu %llu %llu %llu %llu after %llu %llu %llu %llu %llu",
				     (unsigned long long)i, now->tsc, now->pmc[0], now->pmc[1],
				     now->pmc[2], now->pmc[3], last->tsc, last->pmc[0], last->pmc[1],
				     last->pmc[2], last->pmc[3]);
		next = last;
		last = now;
		now = next;
	}
	rivals_stop(rivals);
	vperfctr_close(v);
}

START_TEST(snapshots)
{
	race_snapshots(false);
}
END_TEST

START_TEST(snapshots_on_two_cpus)
{
	race_snapshots(true);
}
END_TEST

/* Reads through the kernel, of a thread that is switched all the time. */
START_TEST(kernel_reads)
{
	struct rivals_plan plan = fast;
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	int fd = count_event(EV_INSTRUCTIONS);
	struct rivals *rivals;
	uint64_t before, i;

	pin_self(0);
	rivals = rivals_start(&plan);
	before = switches();
	for (i = 0; i < MILLION / 10 || switches() - before < SWITCHES_AT_LEAST; i++) {
		if (exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, 1) ||
		    rd[1].sum[0] - rd[0].sum[0] != EXACT_KERNEL + BODY_SPIN(1) ||
		    rd[1].clock < rd[0].clock)
			ck_abort_msg("read %llu: %llu %llu after %llu %llu", (unsigned long long)i,
				     (unsigned long long)rd[1].sum[0],
				     (unsigned long long)rd[1].clock,
				     (unsigned long long)rd[0].sum[0],
				     (unsigned long long)rd[0].clock);
	}
	rivals_stop(rivals);
}
END_TEST

/*
 * Two threads change their controls all the time while the reader reads: claiming counters
 * and giving them back must not disturb those in use.
 */
struct changer {
	volatile bool stop;
	volatile int err;
	volatile uint64_t changes;
};

static void *change_controls(void *arg)
{
	static const uint32_t events[] = {
		EV_CYCLES, EV_DTLB_LOAD_MISSES, EV_DTLB_STORE_MISSES, EV_ITLB_LOAD_MISSES,
	};
	struct changer *changer = arg;
	struct perfctr_control control;
	int fd = try_open(PERFCTR_OPEN_CREAT);
	unsigned int i, most = guest.nprogrammable < 3 ? guest.nprogrammable : 3;

	changer->err = fd < 0 ? fd : 0;
	while (!changer->stop && !changer->err) {
		control_init(&control);
		for (i = 0; i < changer->changes % (most + 1); i++)
			control_add(&control, events[(changer->changes / 4 + i) % 4]);
		changer->err = try_control(fd, &control);
		changer->changes++;
	}
	return NULL;
}

START_TEST(others_change_controls)
{
	const struct perfctr_page *page = begin();
	struct changer changer[2];
	pthread_t thread[2];
	unsigned int i;

	pin_self(0);
	memset(changer, 0, sizeof(changer));
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, change_controls, &changer[i]), 0);
	while (changer[0].changes < 100 || changer[1].changes < 100) {
		race(page, false);
		sched_yield();
		ck_assert_int_eq(changer[0].err, 0);
		ck_assert_int_eq(changer[1].err, 0);
	}
	for (i = 0; i < 2; i++) {
		changer[i].stop = true;
		pthread_join(thread[i], NULL);
	}
}
END_TEST

int main(void)
{
	guest_begin("reader", NULL);
	GUEST_RUN(calm, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(rivals_with_other_controls, NEED_COUNTERS | NEED_USER_READ);
	GUEST_RUN(rivals_with_the_same_control, NEED_COUNTERS | NEED_USER_READ);
	GUEST_RUN(rivals_that_map_nothing, NEED_COUNTERS | NEED_USER_READ);
	GUEST_RUN(rivals_that_are_strangers, NEED_COUNTERS | NEED_USER_READ);
	GUEST_RUN(strangers_under_open, NEED_COUNTERS | NEED_USER_READ);
	write_text(MODULE_PARAMS "user_read", "guarded");
	GUEST_RUN(moved_between_cpus, NEED_COUNTERS | NEED_USER_READ | NEED_SMP);
	GUEST_RUN(snapshots, NEED_COUNTERS | NEED_USER_READ);
	GUEST_RUN(snapshots_on_two_cpus, NEED_COUNTERS | NEED_USER_READ | NEED_SMP);
	GUEST_RUN(kernel_reads, NEED_COUNTERS);
	GUEST_RUN(others_change_controls, NEED_COUNTERS | NEED_USER_READ);
	return guest_end();
}
