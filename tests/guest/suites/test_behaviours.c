// SPDX-License-Identifier: GPL-2.0
/*
 * What the public tests of other counters ask, as far as it is asked nowhere else here:
 * docs/behaviours.md has them all, with the test for each.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"

#define LOOPS	1000ul

/* Of x86: the numbers of fixed counters begin here. */
#define FIXED	24u

/* A counter of its own for @event, in user mode, by the library's name for it */
static struct perfctr_ctr_control *add_named(struct perfctr_control *control, const char *event)
{
	struct perfctr_ctr_control *ctr = &control->ctr[control->nractrs++];

	ck_ok(perfctr_event_parse(guest.info.cpu_type, event, ctr));
	ctr->flags |= PERFCTR_CTR_USER;
	return ctr;
}

/* What each counter counts of a loop, and of the calls around it */
static void count_loop(int fd, unsigned long loops, uint64_t *count)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	unsigned int i;

	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, loops), 0);
	for (i = 0; i < rd[1].nrctrs; i++)
		count[i] = rd[1].sum[i] - rd[0].sum[i];
}

/* Of a turn of the loop; the emulated processor executes an instruction in a cycle. */
static const struct {
	const char *event;
	unsigned int each;
} x86_events[] = {
	{ "instructions", 2 }, { "cycles", 2 }, { "branches", 1 },
};

#define NR_EVENTS (sizeof(x86_events) / sizeof(x86_events[0]))

/* Most events of family 15h, cycles among them, have some counters only; instructions have all. */
static bool has_limits(void)
{
	return guest.info.cpu_type == PERFCTR_X86_AMD_FAM15H;
}

/* The Pentium has no name for cycles, and with MMX one that is the first counter's. */
static bool names(const char *event, unsigned int hw)
{
	struct perfctr_ctr_control ctr;

	return !perfctr_event_parse(guest.info.cpu_type, event, &ctr) &&
	       (ctr.map == PERFCTR_MAP_ANY || ctr.map == hw);
}

/* KVM's and the selftests': each general-purpose counter counts each architectural event. */
START_TEST(every_event_on_every_counter)
{
	uint64_t few[1] = { 0 }, more[1] = { 0 };
	unsigned int hw, i, tried = 0;
	int fd = open_self();

	for (hw = 0; hw < FIXED; hw++) {
		if (!(guest.info.counters >> hw & 1))
			continue;
		for (i = 0; i < NR_EVENTS; i++) {
			struct perfctr_control control;

			if (is_pentium() && !names(x86_events[i].event, hw))
				continue;
			control_init(&control);
			add_named(&control, x86_events[i].event)->map = hw;
			if (has_limits() && try_control(fd, &control)) {
				ck_assert_uint_eq(control.reason, PERFCTR_REASON_COUNTER);
				ck_assert(!(control.possible >> hw & 1) && i != 0);
				continue;
			}
			set_control(fd, &control);
			count_loop(fd, LOOPS, few);
			count_loop(fd, 3 * LOOPS, more);
			ck_assert_msg(more[0] - few[0] == 2 * LOOPS * x86_events[i].each,
				      "%s on counter %u: %llu", x86_events[i].event, hw,
				      (unsigned long long)(more[0] - few[0]));
		}
		tried++;
	}
	ck_assert_uint_eq(tried, guest.nprogrammable);
}
END_TEST

/* Which event a hardware counter is given, as an index of x86_events[] */
static unsigned int event_of(unsigned int hw)
{
	static const unsigned int fixed[] = { 0, 1, 1 };

	if (has_limits())
		return 0;
	if (is_pentium())
		return hw ? 2 : 0;
	return hw < FIXED ? hw % NR_EVENTS : fixed[hw - FIXED];
}

/* Less that of TopDown's slots, which the subject topdown counts with */
static uint64_t counters(void)
{
	return our_counters() & ~(1ull << (FIXED + 3));
}

/* All of them at once, general-purpose and fixed ones; and not one more. */
START_TEST(all_counters_at_once)
{
	uint64_t few[PERFCTR_MAX_CTRS] = { 0 }, more[PERFCTR_MAX_CTRS] = { 0 };
	unsigned int hw, i, n = 0, number[PERFCTR_MAX_CTRS];
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	for (hw = 0; hw < 64; hw++) {
		const char *event;

		if (!(counters() >> hw & 1))
			continue;
		/* The third fixed one is of cycles at a constant frequency. */
		event = hw == FIXED + 2 ? "ref-cycles" : x86_events[event_of(hw)].event;
		add_named(&control, event)->map = hw;
		number[n++] = hw;
	}
	ck_assert_int_eq(n, __builtin_popcountll(counters()));
	set_control(fd, &control);
	count_loop(fd, LOOPS, few);
	count_loop(fd, 3 * LOOPS, more);
	for (i = 0; i < n; i++)
		ck_assert_msg(more[i] - few[i] == 2 * LOOPS * x86_events[event_of(number[i])].each,
			      "counter %u: %llu", number[i], (unsigned long long)(more[i] - few[i]));

	add_named(&control, "branches");
	ck_errno(ioctl(fd, PERFCTR_IOC_CONTROL, &control), EINVAL);
	count_loop(fd, LOOPS, more);
	ck_assert_mem_eq(more, few, n * sizeof(*few));
}
END_TEST

#define EDGE	(1ull << 18)
#define INV	(1ull << 23)
#define CMASK(n)	((uint64_t)(n) << 24)

static uint64_t count_event_of(int fd, uint64_t event, body_fn *body, unsigned long arg)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	struct perfctr_control control;

	control_init(&control);
	control_add(&control, event);
	set_control(fd, &control);
	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body, arg), 0);
	return rd[1].sum[0] - rd[0].sum[0];
}

/* Cycles with so many instructions; here each has one. */
START_TEST(counter_mask_inversion_and_edge)
{
	const uint64_t length = EXACT_KERNEL + BODY_SPIN(LOOPS);
	uint64_t cycles = own_event(EV_CYCLES), few;
	int fd = open_self();

	ck_assert_uint_eq(count_event_of(fd, EV_INSTRUCTIONS, body_spin, LOOPS), length);
	ck_assert_uint_eq(count_event_of(fd, EV_INSTRUCTIONS | CMASK(1), body_spin, LOOPS), length);
	ck_assert_uint_eq(count_event_of(fd, EV_INSTRUCTIONS | CMASK(2), body_spin, LOOPS), 0);
	ck_assert_uint_eq(count_event_of(fd, EV_INSTRUCTIONS | CMASK(2) | INV, body_spin, LOOPS),
			  length);
	/* User mode begins anew after each system call. */
	few = count_event_of(fd, cycles | EDGE | CMASK(1), body_yield, 100);
	ck_assert_uint_eq(count_event_of(fd, cycles | EDGE | CMASK(1), body_yield, 300) - few, 200);
}
END_TEST

/* The Pentium's: clocks in which there is the event, and here each has one instruction. */
START_TEST(clocks_of_instructions)
{
	const uint64_t length = EXACT_KERNEL + BODY_SPIN(LOOPS);
	int fd = open_self();

	ck_assert_uint_eq(count_event_of(fd, EV_INSTRUCTIONS, body_spin, LOOPS), length);
	ck_assert_uint_eq(count_event_of(fd, own_event(EV_INSTRUCTIONS) | 1u << 8, body_spin, LOOPS),
			  length);
	/* All but the bits of the event, of the modes and of the clocks are reserved. */
	for (unsigned int bit = 9; bit < 64; bit++) {
		struct perfctr_control control;
		bool event = bit == 10 && guest.info.cpu_type == PERFCTR_X86_CYRIX_MII;

		control_init(&control);
		control_add(&control, own_event(EV_INSTRUCTIONS) | 1ull << bit);
		ck_assert_int_eq(try_control(fd, &control), event ? 0 : -EINVAL);
	}
}
END_TEST

/*
 * Overflows
 */

static volatile unsigned int signals, masks[16];
static int overflow_fd;

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	if (signals < 16)
		masks[signals] = (unsigned int)info->si_pid;
	signals++;
	if (overflow_fd >= 0)
		(void)ioctl(overflow_fd, PERFCTR_IOC_IRESUME);
}

/* @fd: by which the handler lets the counters go on, or -1 */
static void listen_to(int signo, int fd)
{
	struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO };

	signals = 0;
	overflow_fd = fd;
	ck_ok(sigaction(signo, &action, NULL));
}

/* KVM's: each counter overflows, fixed ones too, and each interrupt is its own counter's. */
START_TEST(overflow_on_every_counter)
{
	unsigned int hw, tried = 0, i;
	struct perfctr_control control;
	struct perfctr_read rd;
	int fd = open_self();

	listen_to(SIGUSR1, fd);
	for (hw = 0; hw < 64; hw++) {
		uint64_t event = EV_INSTRUCTIONS;

		if (!((is_x86() ? counters() : guest.info.counters) >> hw & 1))
			continue;
		/* cycle, time and instret do not interrupt; PMC5 and PMC6 count no instructions. */
		if (is_ppc() ? hw > 3 : hw < (is_x86() ? first_counter() : 3))
			continue;
		if (is_x86() && hw == FIXED + 1)
			event = EV_CYCLES;
		if (is_x86() && hw == FIXED + 2)
			event = 0x13c;
		control_init(&control);
		control.si_signo = SIGUSR1;
		control_add_ictr(&control, event, -5000);
		control.ctr[0].map = hw;
		signals = 0;
		set_control(fd, &control);
		body_spin(20000);
		ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
		read_all(fd, &rd);
		ck_assert_uint_ge(signals, 8);
		ck_assert_msg(rd.overflows == signals && signals == rd.sum[0] / 5000,
			      "counter %u: %u overflows, %u signals, of %llu", hw, rd.overflows,
			      signals, (unsigned long long)rd.sum[0]);
		for (i = 0; i < signals && i < 16; i++)
			ck_assert_uint_eq(masks[i], 1);
		tried++;
	}
	ck_assert_uint_eq(tried, is_x86() && !is_p4() ?
			  (unsigned int)__builtin_popcountll(counters()) : guest.nprogrammable);
}
END_TEST

/* Two overflow at the same instruction, behind one that never does, so many times and no more. */
START_TEST(two_overflow_at_once_so_many_times)
{
	const uint64_t period = 10000;
	const unsigned int times = 5;
	struct perfctr_control control;
	struct perfctr_read rd;
	int fd = open_self();
	unsigned int i;

	/* Else one of them after the other */
	const unsigned int first = guest.nprogrammable > 2;

	listen_to(SIGRTMIN, -1);
	control_init(&control);
	control.si_signo = SIGRTMIN;
	control.refresh = times;
	if (first)
		control_add(&control, EV_DTLB_LOAD_MISSES);
	control_add_ictr(&control, EV_INSTRUCTIONS, -(int64_t)period);
	control_add_ictr(&control, EV_LIKE_INSTRUCTIONS, -(int64_t)period);
	set_control(fd, &control);
	body_spin(100000);
	read_all(fd, &rd);
	ck_assert_uint_eq(signals, times);
	ck_assert_uint_eq(rd.overflows, times);
	ck_assert_uint_eq(rd.sum[first], times * period);
	ck_assert_uint_eq(rd.sum[first + 1], times * period);
	for (i = 0; i < times; i++)
		ck_assert_uint_eq(masks[i], 3u << first);
	ck_assert(rd.flags & PERFCTR_READ_OVERFLOWN);

	ck_ok(ioctl(fd, PERFCTR_IOC_REFRESH, 2));
	body_spin(100000);
	ck_assert_uint_eq(signals, times + 2);
	ck_assert_uint_eq(read_sum(fd, first), (times + 2) * period);
}
END_TEST

/* The state is the thread's, not the handle's: it signals, and another handle resumes it. */
START_TEST(overflow_after_close)
{
	struct perfctr_control control;
	struct perfctr_read rd;
	int fd = open_self();

	listen_to(SIGUSR1, -1);
	control_init(&control);
	control.si_signo = SIGUSR1;
	control_add_ictr(&control, EV_INSTRUCTIONS, -50000);
	set_control(fd, &control);
	ck_ok(close(fd));
	ck_assert_uint_eq(signals, 0);
	body_spin(100000);
	ck_assert_uint_eq(signals, 1);

	fd = try_open(0);
	ck_assert_int_ge(fd, 0);
	read_all(fd, &rd);
	ck_assert_uint_eq(rd.sum[0], 50000);
	ck_assert_uint_eq(rd.overflows, 1);
	ck_ok(ioctl(fd, PERFCTR_IOC_IRESUME));
	body_spin(100000);
	ck_assert_uint_eq(signals, 2);
	ck_assert_uint_eq(read_sum(fd, 0), 100000);
}
END_TEST

/*
 * Inline reads
 */

/* A new control is a reset: reads that follow never find what was before. */
START_TEST(inline_read_after_each_reset)
{
	const struct perfctr_page *page;
	struct perfctr_control control;
	uint64_t value[2], first = 0;
	unsigned int turn;
	int fd = open_self();
	long retries;

	page = map_page(fd);
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	for (turn = 0; turn < 2000; turn++) {
		set_control(fd, &control);
		retries = exact_inline(page, 0, body_spin, LOOPS + turn, value);
		ck_assert_int_ge(retries, 0);
		ck_assert_uint_eq(value[1] - value[0], EXACT_INLINE + BODY_SPIN(LOOPS + turn) +
				  (uint64_t)retries * EXACT_INLINE_RETRY);
		if (turn == 1)
			first = value[0];
		/* The first read may have been repeated too. */
		if (turn > 1)
			ck_assert_msg(value[0] == first || value[0] == first + EXACT_INLINE_RETRY,
				      "turn %u: %llu after the reset, else %llu", turn,
				      (unsigned long long)value[0], (unsigned long long)first);
	}
	ck_assert_uint_lt(first, BODY_SPIN(LOOPS));
}
END_TEST

static sigjmp_buf refused;

static void on_fault(int signo)
{
	(void)signo;
	siglongjmp(refused, 1);
}

/* As the instruction has it, whatever the page says; false if it is refused */
static bool read_operand(unsigned int operand)
{
#if defined(__x86_64__) || defined(__i386__)
	struct sigaction action = { .sa_handler = on_fault };
	unsigned int low, high;

	ck_ok(sigaction(SIGSEGV, &action, NULL));
	if (sigsetjmp(refused, 1))
		return false;
	__asm__ volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (operand));
	return true;
#else
	(void)operand;
	(void)on_fault;
	return false;
#endif
}

/* KVM's: operands of RDPMC that name no counter, and the P4's quick read, are refused. */
START_TEST(rdpmc_of_nothing)
{
	static const unsigned int nothing[] = {
		64, 1u << 8, 1u << 16, 1u << 29 | 1, 1u << 31, 1u << 31 | 1u << 30, ~0u,
	};
	struct perfctr_control control;
	unsigned int i, there = 0;
	int fd = open_self();

	(void)map_page(fd);
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	for (i = 0; i < 32; i++) {
		unsigned int fixed = (1u << 30) + i;

		if (!is_beside() || guest.info.counters >> i & 1)
			ck_assert_int_eq(read_operand(i), i < FIXED && (guest.info.counters >> i & 1));
		/* Beside perf, perf has the fixed counters, and others. */
		if (is_beside())
			continue;
		ck_assert_int_eq(read_operand(fixed), guest.info.counters >> FIXED >> i & 1);
		there += (guest.info.counters >> i & 1);
	}
	if (!is_beside())
		ck_assert_int_eq((int)there, __builtin_popcountll(guest.info.counters));
	/* Of a Pentium 4 bit 31 is a faster read, of 32 bits. */
	for (i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		ck_assert_msg(read_operand(nothing[i]) == (is_p4() && nothing[i] == 1u << 31),
			      "operand %#x", nothing[i]);
}
END_TEST

int main(void)
{
	guest_begin("behaviours", NULL);
	/* A Pentium 4's counters count some events each: test_p4.c has these tests of them. */
	if (!is_p4()) {
		GUEST_RUN(every_event_on_every_counter,
			  NEED_COUNTERS | NEED_NATIVE | NEED_X86 | AS_USER);
		GUEST_RUN(all_counters_at_once,
			  NEED_COUNTERS | NEED_NATIVE | NEED_X86 | AS_USER);
	}
	GUEST_RUN(counter_mask_inversion_and_edge, NEED_COUNTERS | NEED_X86 | NEED_EVNTSEL | AS_USER);
	if (is_pentium())
		GUEST_RUN(clocks_of_instructions, NEED_COUNTERS | AS_USER);
	GUEST_RUN(overflow_on_every_counter, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(two_overflow_at_once_so_many_times, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(overflow_after_close, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	GUEST_RUN(inline_read_after_each_reset, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(rdpmc_of_nothing, NEED_COUNTERS | NEED_USER_READ | NEED_X86 | AS_USER);
	return guest_end();
}
