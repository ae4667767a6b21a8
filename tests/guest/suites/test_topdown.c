// SPDX-License-Identifier: GPL-2.0
/*
 * TopDown: SLOTS and its metrics. What the emulated processor's metrics are is in
 * tests/machines/README.md: parts of the slots that cycles, instructions and branches decide. So
 * these are counted beside them, in the same control, and the rest follows.
 *
 * A metric is in 8 bits: so many 255ths of the slots since it was zeroed, within one of them. The
 * module adds it up at each switch, each read through the kernel, and once a second, and rounds
 * to a slot. So a sum may be wrong by 1/255 of the slots, and by half a slot for each time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libperfctr.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/topdown.h"

/* And what the register says of them, if it was zeroed before */
static void fields_of(const __u64 *sum, uint64_t *field)
{
	uint64_t part[PERFCTR_METRICS], slots = FIFTHS * width() * sum[CYCLES], all = 0, begin = 0;
	unsigned int i;

	parts_of(sum, part);
	for (i = 0; i < L1; i++) {
		all += part[i];
		field[i] = WHOLE * all / slots - begin;
		begin += field[i];
	}
	for (; i < nr_metrics(); i++)
		field[i] = WHOLE * part[i] / slots;
}

static void subtract(const __u64 *after, const __u64 *before, __u64 *sum)
{
	unsigned int i;

	for (i = 0; i < METRICS_AT + nr_metrics(); i++)
		sum[i] = after[i] - before[i];
}

/* @wrong: the slots of which 1/255 may be missing, or too much */
static void expect_near(const __u64 *sum, uint64_t wrong, uint64_t folds)
{
	uint64_t part[PERFCTR_METRICS];
	unsigned int i;

	ck_assert_uint_eq(sum[SLOTS_AT], width() * sum[CYCLES]);
	parts_of(sum, part);
	for (i = 0; i < nr_metrics(); i++) {
		double off = fabs((double)sum[METRICS_AT + i] - (double)part[i] / FIFTHS);

		ck_assert_msg(off <= (double)wrong / WHOLE + (double)folds / 2,
			      "metric %u: %" PRIu64 " of %" PRIu64 " slots, %" PRIu64 "/5 were", i,
			      (uint64_t)sum[METRICS_AT + i], (uint64_t)sum[SLOTS_AT], part[i]);
	}
}

/* How often it was folded between two reads through the kernel, at most */
static uint64_t folds_between(const struct perfctr_read *a, const struct perfctr_read *b)
{
	return 1 + b->soft.switches - a->soft.switches +
	       2 * (b->clock - a->clock) / guest.info.tsc_hz;
}

/* One period between two reads, as it is almost always: exact, to the unit and the slot */
START_TEST(exact_numbers)
{
	struct perfctr_read rd[2];
	__u64 sum[METRICS_AT + PERFCTR_METRICS];
	uint64_t field[PERFCTR_METRICS];
	unsigned int i, n, exact = 0;
	int fd = count_all();

	for (n = 0; n < 20; n++) {
		bool good = true;

		read_all(fd, &rd[0]);
		body_spin(1000 + 777 * n);
		read_all(fd, &rd[1]);
		subtract(rd[1].sum, rd[0].sum, sum);
		expect_near(sum, sum[SLOTS_AT], folds_between(&rd[0], &rd[1]));
		fields_of(sum, field);
		for (i = 0; i < nr_metrics(); i++)
			good &= sum[METRICS_AT + i] ==
				(field[i] * sum[SLOTS_AT] + WHOLE / 2) / WHOLE;
		exact += good;
	}
	ck_assert_uint_ge(exact, 15);
	unlink_self(fd);
}
END_TEST

/* Over many switches, with others that count other things on this CPU, and mixes that change */
START_TEST(exact_over_switches)
{
	static char pages[16 * 4096];
	struct body_touch_arg touch = { pages, 16 };
	struct perfctr_read rd[2];
	__u64 sum[METRICS_AT + PERFCTR_METRICS];
	int fd = count_all(), i;
	pid_t pid;

	pin_self(0);
	pid = fork();
	if (!pid) {
		struct perfctr_control control;
		int own = try_open(PERFCTR_OPEN_CREAT);

		control_init(&control);
		add(&control, SLOTS);
		add(&control, EV_INSTRUCTIONS);
		if (own < 0 || try_control(own, &control))
			_exit(1);
		for (;;)
			sched_yield();
	}
	read_all(fd, &rd[0]);
	for (i = 0; i < 300; i++) {
		if (i & 1)
			body_spin(5000);
		else
			body_touch((unsigned long)&touch);
		sched_yield();
	}
	read_all(fd, &rd[1]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_uint_ge(rd[1].soft.switches - rd[0].soft.switches, 150);
	subtract(rd[1].sum, rd[0].sum, sum);
	expect_near(sum, sum[SLOTS_AT], folds_between(&rd[0], &rd[1]));
	unlink_self(fd);
}
END_TEST

static struct vperfctr *open_all(void)
{
	struct perfctr_control control;
	struct vperfctr *v = vperfctr_open();

	ck_assert_ptr_nonnull(v);
	whole_control(&control);
	ck_ok(vperfctr_control_native(v, &control));
	return v;
}

/* What the page says: metrics have no slot that readers of old may read. */
START_TEST(page_says)
{
	struct vperfctr *v = open_all();
	const struct perfctr_page *page = vperfctr_page(v);
	unsigned int i;

	ck_assert_uint_eq(page->size, sizeof(*page));
	ck_assert_uint_le(sizeof(*page), 2048);
	ck_assert_uint_eq(page->metrics_owner, thread_pointer());
	ck_assert_uint_eq(page->owner, 0);
	ck_assert_uint_eq(page->slots, SLOTS_AT);
	ck_assert_uint_eq(page->operand[SLOTS_AT], 0x40000003);
	ck_assert(!page_asks(page, SLOTS_AT));
	for (i = 0; i < nr_metrics(); i++) {
		ck_assert_uint_eq(page->metric[METRICS_AT + i], 1 + i);
		ck_assert_uint_eq(page->operand[METRICS_AT + i], 0x20000000);
		ck_assert_uint_eq(page->map[METRICS_AT + i],
				  PERFCTR_PAGE_NO_SLOT * sizeof(page->slot[0]));
		ck_assert_uint_eq(page->slot[METRICS_AT + i].owner, 0);
	}
	for (; i < PERFCTR_MAX_CTRS - METRICS_AT; i++)
		ck_assert_uint_eq(page->metric[METRICS_AT + i], 0);
	for (i = 0; i < METRICS_AT; i++)
		ck_assert_uint_eq(page->metric[i], 0);
	/* A control without metrics */
	vperfctr_close(v);
	ck_assert_int_ge(count_event(EV_INSTRUCTIONS), 0);
}
END_TEST

/* The same differences without the kernel: when all is set its descriptor is closed. */
START_TEST(inline_reads)
{
	struct vperfctr *v = open_all();
	struct perfctr_sum_ctrs sum[2] = { 0 };
	struct perfctr_topdown topdown[3];
	uint64_t value, before, after;
	__u64 delta[METRICS_AT + PERFCTR_METRICS] = { 0 };
	unsigned int i, n = METRICS_AT + nr_metrics(), right = 0, turn;

	for (turn = 0; turn < 20; turn++) {
		/* A new period */
		ck_ok(vperfctr_ask_topdown(v, &topdown[0]));
		ck_ok(vperfctr_snapshot(v, &sum[0], n));
		body_spin(20000);
		ck_ok(vperfctr_snapshot(v, &sum[1], n));
		for (i = 0; i < n; i++)
			delta[i] = sum[1].pmc[i] - sum[0].pmc[i];
		/* A switch, or a fold, comes in between now and then. */
		right += delta[SLOTS_AT] == width() * delta[CYCLES];
		if (delta[SLOTS_AT] == width() * delta[CYCLES])
			expect_near(delta, 2 * (sum[1].pmc[SLOTS_AT] - topdown[0].slots), 4);
	}
	ck_assert_uint_ge(right, 10);

	ck_ok(vperfctr_ask_topdown(v, &topdown[0]));
	close(vperfctr_fd(v));
	ck_errno(vperfctr_ask_topdown(v, &topdown[2]), EBADF);
	ck_ok(vperfctr_read_topdown(v, &topdown[1]));
	ck_ok(vperfctr_snapshot(v, &sum[0], n));
	ck_ok(vperfctr_read_ctrs(v, &sum[0]));
	ck_assert_uint_eq(topdown[0].metrics, (1u << nr_metrics()) - 1);
	ck_assert_uint_eq(topdown[1].metrics, topdown[0].metrics);
	ck_assert_uint_gt(topdown[1].slots, topdown[0].slots);
	ck_assert_uint_gt(sum[0].pmc[SLOTS_AT], topdown[1].slots);
	/* One by one: counts of the same things, a little later each */
	for (i = 0; i < n; i++) {
		value = vperfctr_read_pmc(v, i);
		ck_assert_uint_ne(value, PERFCTR_NO_COUNT);
		before = sum[0].pmc[i];
		after = vperfctr_read_pmc(v, SLOTS_AT) - sum[0].pmc[SLOTS_AT];
		ck_assert_msg(value + after / 32 + 64 >= before && value <= before + after,
			      "counter %u: %" PRIu64 ", was %" PRIu64, i, value, before);
	}
}
END_TEST

/* Two regions after each other, of which each has its own mix */
START_TEST(regions_differ)
{
	static char pages[64 * 4096];
	struct body_touch_arg touch = { pages, 64 };
	struct vperfctr *v = open_all();
	struct perfctr_read rd[2];
	struct perfctr_topdown from, to;
	double ratio[PERFCTR_TOPDOWN_RATIOS];
	__u64 sum[METRICS_AT + PERFCTR_METRICS];
	uint64_t part[PERFCTR_METRICS];
	unsigned int i, k, known, all = nr_metrics() == L1 ? 0xf : 0xfff;
	double spin = 0;

	for (k = 0; k < 2; k++) {
		ck_ok(vperfctr_read_native(v, &rd[0]));
		ck_ok(vperfctr_read_topdown(v, &from));
		if (!k)
			body_spin(100000);
		for (i = 0; k && i < 500; i++)
			body_touch((unsigned long)&touch);
		ck_ok(vperfctr_read_topdown(v, &to));
		ck_ok(vperfctr_read_native(v, &rd[1]));
		subtract(rd[1].sum, rd[0].sum, sum);
		known = perfctr_topdown_ratios(&from, &to, ratio);
		ck_assert_uint_eq(known, all);
		parts_of(sum, part);
		for (i = 0; i < nr_metrics(); i++)
			ck_assert_msg(fabs(ratio[i] - share(part[i], sum[SLOTS_AT])) < 2.5 / WHOLE,
				      "region %u: %s is %f, not %f", k, perfctr_topdown_name(i),
				      ratio[i], share(part[i], sum[SLOTS_AT]));
		for (i = 0; all != 0xf && i < L1; i++)
			ck_assert_double_eq_tol(ratio[i], ratio[L1 + i] +
						ratio[PERFCTR_METRICS + i], 2.5 / WHOLE);
		if (!k)
			spin = ratio[PERFCTR_METRIC_BAD_SPEC];
	}
	/* The first has a branch in two instructions, the second in four: 10 % or more, and 5 or 6. */
	ck_assert_double_gt(spin, ratio[PERFCTR_METRIC_BAD_SPEC] + 0.04);
	vperfctr_close(v);
}
END_TEST

static uint64_t rdpmc(uint32_t operand)
{
#if defined(__x86_64__) || defined(__i386__)
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (operand));
	return (uint64_t)high << 32 | low;
#else
	return operand;
#endif
}

/*
 * A thread that computes for 2.5 seconds is folded in between, although nothing else runs there:
 * its register of slots never has more than those of 1.5 seconds.
 */
START_TEST(never_switched)
{
	struct vperfctr *v;
	uint64_t begin, now, slots = 0, most = 0, first;
	uint64_t hz = guest.info.tsc_hz;
	struct perfctr_read rd[2];
	__u64 sum[METRICS_AT + PERFCTR_METRICS];

	pin_self(1);
	v = open_all();
	ck_ok(vperfctr_read_native(v, &rd[0]));
	begin = now = vperfctr_read_tsc(v);
	first = vperfctr_read_pmc(v, SLOTS_AT);
	while (now - begin < 5 * hz / 2) {
		body_spin(100000);
		now = vperfctr_read_tsc(v);
		slots = rdpmc(0x40000003);
		if (slots > most)
			most = slots;
	}
	slots = vperfctr_read_pmc(v, SLOTS_AT) - first;
	ck_ok(vperfctr_read_native(v, &rd[1]));
	ck_assert_uint_lt(most, slots / 5 * 3);
	subtract(rd[1].sum, rd[0].sum, sum);
	expect_near(sum, sum[SLOTS_AT], folds_between(&rd[0], &rd[1]));
	vperfctr_close(v);
}
END_TEST

/* One who may read registers beside one who counts metrics: nobody reads another's. */
struct seen {
	int ready;
	int err;
	uint64_t turns;
	uint64_t slots;
	uint64_t metrics;
};

static void look(struct seen *seen, uid_t uid)
{
	struct perfctr_control control;
	int fd, i;

	if (uid)
		become(uid);
	fd = try_open(PERFCTR_OPEN_CREAT);
	control_init(&control);
	add(&control, EV_INSTRUCTIONS);
	if (fd < 0 || !try_map(fd) || try_control(fd, &control)) {
		seen->err = 1;
		return;
	}
	seen->ready = 1;
	for (i = 0; i < 300; i++) {
		seen->slots |= rdpmc(0x40000003);
		seen->metrics |= rdpmc(0x20000000);
		seen->turns++;
		sched_yield();
	}
}

static void beside_a_stranger(bool mapped)
{
	struct seen *seen = shared_alloc(sizeof(*seen));
	struct perfctr_read rd[2];
	__u64 sum[METRICS_AT + PERFCTR_METRICS];
	pid_t pid;
	int fd;

	pin_self(0);
	ck_ok(pid = fork());
	if (!pid) {
		look(seen, STRANGER_UID);
		_exit(seen->err);
	}
	become(GUEST_UID);
	fd = count_all();
	if (mapped)
		map_page(fd);
	read_all(fd, &rd[0]);
	while (!waitpid(pid, NULL, WNOHANG)) {
		body_spin(2000);
		sched_yield();
	}
	read_all(fd, &rd[1]);
	ck_assert_int_eq(seen->err, 0);
	ck_assert_uint_eq(seen->turns, 300);
	ck_assert_uint_eq(seen->slots, 0);
	ck_assert_uint_eq(seen->metrics, 0);
	ck_assert_uint_ge(rd[1].soft.switches - rd[0].soft.switches, 100);
	subtract(rd[1].sum, rd[0].sum, sum);
	expect_near(sum, sum[SLOTS_AT], folds_between(&rd[0], &rd[1]));
}

START_TEST(guarded_one_mapped)
{
	beside_a_stranger(false);
}
END_TEST

START_TEST(guarded_both_mapped)
{
	beside_a_stranger(true);
}
END_TEST

/* Two of one user, with pages and the same control: each its own counts */
START_TEST(kin)
{
	struct perfctr_read rd[2];
	__u64 sum[METRICS_AT + PERFCTR_METRICS];
	struct vperfctr *v;
	pid_t pid;
	int i;

	pin_self(0);
	ck_ok(pid = fork());
	if (!pid) {
		struct perfctr_control control;
		struct vperfctr *own = vperfctr_open();

		whole_control(&control);
		if (!own || vperfctr_control_native(own, &control))
			_exit(1);
		for (;;) {
			body_spin(3000);
			sched_yield();
		}
	}
	v = open_all();
	ck_ok(vperfctr_read_native(v, &rd[0]));
	for (i = 0; i < 200; i++) {
		body_spin(1000);
		sched_yield();
	}
	ck_ok(vperfctr_read_native(v, &rd[1]));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_uint_ge(rd[1].soft.switches - rd[0].soft.switches, 100);
	subtract(rd[1].sum, rd[0].sum, sum);
	expect_near(sum, sum[SLOTS_AT], folds_between(&rd[0], &rd[1]));
	vperfctr_close(v);
}
END_TEST

/* i-mode beside: overflows come, sums are right. */
static volatile sig_atomic_t overflows;

static void on_overflow(int signo)
{
	(void)signo;
	overflows++;
}

START_TEST(beside_imode)
{
	struct perfctr_control control;
	struct perfctr_read rd[2];
	__u64 sum[METRICS_AT + PERFCTR_METRICS];
	struct sigaction action = { .sa_handler = on_overflow };
	unsigned int last = METRICS_AT + nr_metrics();
	int fd = open_self(), i;

	ck_ok(sigaction(SIGUSR1, &action, NULL));
	whole_control(&control);
	control_add_ictr(&control, EV_INSTRUCTIONS, -50000);
	control.si_signo = SIGUSR1;
	control.refresh = 1000000;
	set_control(fd, &control);
	read_all(fd, &rd[0]);
	for (i = 0; i < 20; i++)
		body_spin(50000);
	read_all(fd, &rd[1]);
	subtract(rd[1].sum, rd[0].sum, sum);
	expect_near(sum, sum[SLOTS_AT], folds_between(&rd[0], &rd[1]) + 3 * (uint64_t)overflows);
	ck_assert_uint_eq(sum[INSTRUCTIONS], rd[1].sum[last] - rd[0].sum[last]);
	ck_assert_int_ge(overflows, (int)(sum[INSTRUCTIONS] / 50000) - 1);
	ck_assert_uint_eq(rd[1].overflows - rd[0].overflows, (unsigned int)overflows);
	unlink_self(fd);
}
END_TEST

/* Each sample has them all, of the same moment. */
START_TEST(samples)
{
	unsigned int last = METRICS_AT + nr_metrics(), n = 0, i;
	struct perfctr_ring made = { .size = sizeof(made), .pages = 64 };
	const struct perfctr_record *record;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	struct perfctr_read rd;
	int fd = open_self();

	ck_ok(_vperfctr_make_ring(fd, &made));
	ring = vperfctr_ring_map(fd, 64);
	ck_assert_ptr_nonnull(ring);
	whole_control(&control);
	control_add_ictr(&control, EV_INSTRUCTIONS, -50000);
	control.flags |= PERFCTR_CONTROL_RECORD;
	set_control(fd, &control);
	for (i = 0; i < 20; i++)
		body_spin(50000);
	read_all(fd, &rd);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((record = vperfctr_ring_next(ring))) {
		const struct perfctr_record_sample *sample = (const void *)record;

		if (record->type != PERFCTR_RECORD_SAMPLE)
			continue;
		n++;
		ck_assert_uint_eq(sample->nrctrs, last + 1);
		ck_assert_uint_eq(sample->overflown, 1ull << last);
		ck_assert_uint_eq(sample->value[last], 50000ull * n);
		ck_assert_uint_eq(sample->value[INSTRUCTIONS], 50000ull * n);
		expect_near(sample->value, sample->value[SLOTS_AT],
			    3 * (uint64_t)n + rd.soft.switches + 1 + 2 * rd.clock / guest.info.tsc_hz);
	}
	ck_assert_uint_ge(n, 20 * BODY_SPIN(50000) / 50000);
	ck_assert_uint_eq(n, rd.sum[last] / 50000);
	vperfctr_ring_unmap(ring);
	unlink_self(fd);
}
END_TEST

/* Of a CPU: where one thread runs alone a session counts what that would count of itself. */
START_TEST(session)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	struct perfctr_read_cpu rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	__u64 sum[METRICS_AT + PERFCTR_METRICS];
	int fd = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC);
	struct perfctr_control control;
	unsigned int n;

	ck_ok(ioctl(fd, PERFCTR_IOC_OPEN, &o));
	pin_self(0);
	make_realtime();
	whole_control(&control);
	control.flags |= PERFCTR_CONTROL_CPU;
	control.source = PERFCTR_SOURCE_NATIVE;
	set_control(fd, &control);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	for (n = 0; n < 20; n++) {
		ck_ok(ioctl(fd, PERFCTR_IOC_READ_CPU, &rd[0]));
		body_spin(1000 + 777 * n);
		/* While it is stopped nothing is counted, and it goes on from there. */
		if (n & 1) {
			ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
			body_spin(100000);
			ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
		}
		ck_ok(ioctl(fd, PERFCTR_IOC_READ_CPU, &rd[1]));
		subtract(rd[1].sum, rd[0].sum, sum);
		ck_assert_uint_ge(sum[INSTRUCTIONS], BODY_SPIN(1000 + 777 * n));
		ck_assert_uint_lt(sum[INSTRUCTIONS], BODY_SPIN(1000 + 777 * n) + 10000);
		expect_near(sum, sum[SLOTS_AT], 8);
	}
	close(fd);
}
END_TEST

/* A tree: each has periods of its own, and the total is right. */
START_TEST(tree)
{
	struct perfctr_control control;
	struct perfctr_read_tree total;
	int fd = open_self(), i;

	whole_control(&control);
	control.flags |= PERFCTR_CONTROL_INHERIT;
	set_control(fd, &control);
	for (i = 0; i < 8; i++) {
		pid_t pid;

		ck_ok(pid = fork());
		if (!pid) {
			body_spin(10000 * (unsigned long)(i + 1));
			sched_yield();
			_exit(0);
		}
	}
	for (i = 0; i < 8; i++)
		ck_ok(wait(NULL));
	ck_assert_int_eq(try_read_tree(fd, PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED |
				       PERFCTR_TREE_LIVE, &total), 0);
	ck_assert_uint_eq(total.ended, 8);
	ck_assert_uint_ge(total.sum[INSTRUCTIONS], 8 * 9 / 2 * BODY_SPIN(10000));
	expect_near(total.sum, total.sum[SLOTS_AT],
		    total.soft.switches + 20 + 2 * total.clock / guest.info.tsc_hz);
	unlink_self(fd);
}
END_TEST

/* Another reads, while the thread runs elsewhere. */
START_TEST(read_by_another)
{
	int sock[2], fd, i;
	struct perfctr_read rd;
	pid_t pid;

	ck_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	ck_ok(pid = fork());
	if (!pid) {
		struct perfctr_control control;
		int own = try_open(PERFCTR_OPEN_CREAT);

		pin_self(1);
		whole_control(&control);
		if (own < 0 || try_control(own, &control) || send_fd(sock[1], own))
			_exit(1);
		for (;;)
			body_spin(100000);
	}
	fd = receive_fd(sock[0]);
	for (i = 0; i < 50; i++) {
		ck_assert_int_eq(try_read(fd, &rd), 0);
		/* Each of these reads has folded it once, and so may have switches. */
		expect_near(rd.sum, rd.sum[SLOTS_AT], (uint64_t)i + 2 + rd.soft.switches +
			    2 * rd.clock / guest.info.tsc_hz);
		sleep_us(2000);
	}
	ck_assert_uint_gt(rd.sum[SLOTS_AT], 1000000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(try_read(fd, &rd), 0);
	expect_near(rd.sum, rd.sum[SLOTS_AT], 60 + rd.soft.switches +
		    2 * rd.clock / guest.info.tsc_hz);
}
END_TEST

#if defined(__x86_64__) || defined(__i386__)
static uint64_t now(void)
{
	return __builtin_ia32_rdtsc();
}

#else

static uint64_t now(void)
{
	return 0;
}
#endif

/* By a session: each read begins the metrics anew, and the clock and all else go on. */
START_TEST(read_of_a_cpu)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	struct perfctr_read_cpu first = { .size = sizeof(first) }, rd;
	uint64_t before, after, last;
	struct perfctr_control control;
	int fd = open_device(), i;

	pin_self(0);
	ck_ok(ioctl(fd, PERFCTR_IOC_OPEN, &o));
	whole_control(&control);
	control.flags = PERFCTR_CONTROL_CPU;
	set_control(fd, &control);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	before = now();
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CPU, &first));
	after = now();
	for (i = 0; i < 200; i++) {
		__u64 sum[METRICS_AT + PERFCTR_METRICS];

		body_spin(100);
		rd = (struct perfctr_read_cpu){ .size = sizeof(rd) };
		last = now();
		ck_ok(ioctl(fd, PERFCTR_IOC_READ_CPU, &rd));
		ck_assert_uint_ge(rd.clock - first.clock, last - after);
		ck_assert_uint_le(rd.clock - first.clock, now() - before);
		subtract(rd.sum, first.sum, sum);
		expect_near(sum, sum[SLOTS_AT], (uint64_t)i + 2 +
			    2 * (rd.clock - first.clock) / guest.info.tsc_hz);
	}
	close(fd);
}
END_TEST

/* perf and we in turns: its shares are ours, and nothing of the one is left to the other. */
START_TEST(perf_in_turns)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_RAW, .exclude_kernel = 1,
		.read_format = PERF_FORMAT_GROUP,
	};
	uint64_t before[2 + 8], after[2 + 8];
	__u64 sum[METRICS_AT + PERFCTR_METRICS] = { 0 };
	struct perfctr_read rd[2];
	unsigned int i, turn;
	int fd, group[1 + 8] = { 0 };

	for (turn = 0; turn < 3; turn++) {
		until_given_back();
		for (i = 0; i <= nr_metrics(); i++) {
			attr.config = i ? METRIC(i - 1) : SLOTS;
			group[i] = perf_open(&attr, 0, -1, i ? group[0] : -1);
			ck_assert_msg(group[i] >= 0, "perf, %#" PRIx64 ": %s",
				      (uint64_t)attr.config, strerror(errno));
		}
		ck_assert_int_gt(read(group[0], before, sizeof(before)), 0);
		body_spin(100000);
		ck_assert_int_gt(read(group[0], after, sizeof(after)), 0);
		for (i = 0; i <= nr_metrics(); i++)
			close(group[nr_metrics() - i]);

		fd = count_all();
		read_all(fd, &rd[0]);
		body_spin(100000);
		read_all(fd, &rd[1]);
		subtract(rd[1].sum, rd[0].sum, sum);
		expect_near(sum, sum[SLOTS_AT], folds_between(&rd[0], &rd[1]));
		for (i = 0; i < nr_metrics(); i++) {
			double perf = (double)(after[2 + i] - before[2 + i]) /
				      (double)(after[1] - before[1]);

			ck_assert_double_eq_tol(perf, (double)sum[METRICS_AT + i] /
						(double)sum[SLOTS_AT], 2.5 / WHOLE);
		}
		unlink_self(fd);
		close(fd);
	}
}
END_TEST

int main(void)
{
	guest_begin("topdown", NULL);
	GUEST_RUN(exact_numbers, NEED_TOPDOWN | AS_USER);
	GUEST_RUN(exact_over_switches, NEED_TOPDOWN | AS_USER);
	GUEST_RUN(page_says, NEED_TOPDOWN | NEED_USER_READ | AS_USER);
	GUEST_RUN(inline_reads, NEED_TOPDOWN | NEED_USER_READ | AS_USER);
	GUEST_RUN(regions_differ, NEED_TOPDOWN | NEED_USER_READ | AS_USER);
	GUEST_RUN(never_switched, NEED_TOPDOWN | NEED_USER_READ | NEED_SMP | AS_USER);
	GUEST_RUN(guarded_one_mapped, NEED_TOPDOWN | NEED_USER_READ);
	GUEST_RUN(guarded_both_mapped, NEED_TOPDOWN | NEED_USER_READ);
	GUEST_RUN(kin, NEED_TOPDOWN | NEED_USER_READ | AS_USER);
	GUEST_RUN(beside_imode, NEED_TOPDOWN | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(samples, NEED_TOPDOWN | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(session, NEED_TOPDOWN);
	GUEST_RUN(tree, NEED_TOPDOWN | AS_USER);
	GUEST_RUN(read_by_another, NEED_TOPDOWN | NEED_SMP | AS_USER);
	GUEST_RUN(read_of_a_cpu, NEED_TOPDOWN);
	GUEST_RUN(perf_in_turns, NEED_TOPDOWN | NEED_PERF);
	topdown_others();
	return guest_end();
}
