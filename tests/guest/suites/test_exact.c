// SPDX-License-Identifier: GPL-2.0
/*
 * Counts are exact: code of known length, counted in user mode, gives just its
 * number of instructions and the constant of the read (see loops.h), in every
 * run, whatever else happens on the machine.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/exact.h"

START_TEST(kernel_read_alone)
{
	struct subject subject = subject_open(false);

	demand_runs(&subject);
}
END_TEST

START_TEST(plain_read_alone)
{
	int fd = count_event(EV_INSTRUCTIONS);
	uint64_t words[4];
	unsigned int turn;

	for (turn = 0; turn < RUNS; turn++) {
		ck_assert_int_eq(exact_read(fd, words, 16, body_yield, YIELDS), 16);
		ck_assert_uint_eq(words[3] - words[1], EXACT_KERNEL + BODY_YIELD(YIELDS));
		ck_assert_uint_ge(words[2], words[0]);
	}
}
END_TEST

START_TEST(inline_read_alone)
{
	struct subject subject = subject_open(true);

	demand_runs(&subject);
}
END_TEST

#if defined(__riscv)
#define FIRST_PROGRAMMABLE 3
#define END_PROGRAMMABLE 32
#elif defined(__powerpc__)
#define FIRST_PROGRAMMABLE 0
#define END_PROGRAMMABLE 4	/* those that count instructions */
#else
#define FIRST_PROGRAMMABLE first_counter()
#define END_PROGRAMMABLE 24
#endif

START_TEST(every_counter)
{
	struct perfctr_control control;
	struct subject subject;
	unsigned int hw, tried = 0;

	subject.fd = open_self();
	subject.page = map_page(subject.fd);
	for (hw = FIRST_PROGRAMMABLE; hw < END_PROGRAMMABLE; hw++) {
		if (!(guest.info.counters >> hw & 1))
			continue;
		control_init(&control);
		control_add_at(&control, hw, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
		set_control(subject.fd, &control);
		ck_assert_uint_eq(page_hw_counter(subject.page, 0), hw);
		demand(&subject, body_spin, SPIN_LOOPS, BODY_SPIN(SPIN_LOOPS), hw);
		tried++;
	}
	ck_assert_uint_eq(tried, guest.nprogrammable);
}
END_TEST

/* The count is the same for any order of counters and any place in the control. */
START_TEST(every_place)
{
	static const uint32_t others[] = {
		EV_CYCLES, EV_DTLB_LOAD_MISSES, EV_DTLB_STORE_MISSES, EV_ITLB_LOAD_MISSES,
	};
	unsigned int n = sizeof(others) / sizeof(others[0]) + 1;
	struct perfctr_control control;
	struct perfctr_read rd[2];
	unsigned int place, i;
	int fd = open_self();

	if (n > guest.nprogrammable)
		n = guest.nprogrammable;
	/* Without privilege, half of perf's counters, and the machine may have four. */
	if (guest.shared && n > 3)
		n = 3;

	for (place = 0; place < n; place++) {
		unsigned int other = 0;

		control_init(&control);
		control.tsc_on = place & 1;
		for (i = 0; i < n; i++)
			control_add(&control, i == place ? EV_INSTRUCTIONS : others[other++]);
		set_control(fd, &control);
		rd[0].size = sizeof(rd[0]);
		rd[1].size = sizeof(rd[1]);
		ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_yield, YIELDS), 0);
		ck_assert_uint_eq(rd[1].sum[place] - rd[0].sum[place],
				  EXACT_KERNEL + BODY_YIELD(YIELDS));
	}
}
END_TEST

/*
 * User and kernel mode together count more than user mode alone. On this machine an event is
 * on one counter only at a time, so the modes are counted in turn, and the kernel's part may
 * differ.
 */
START_TEST(kernel_mode_counts_more)
{
	struct perfctr_control control;
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	uint64_t user, both, kernel;
	int fd = open_self();

	control_init(&control);
	control_add_at(&control, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	set_control(fd, &control);
	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_yield, YIELDS), 0);
	user = rd[1].sum[0] - rd[0].sum[0];

	control.ctr[0].flags = PERFCTR_CTR_KERNEL;
	set_control(fd, &control);
	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_yield, YIELDS), 0);
	kernel = rd[1].sum[0] - rd[0].sum[0];

	control.ctr[0].flags = PERFCTR_CTR_KERNEL | PERFCTR_CTR_USER;
	set_control(fd, &control);
	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_yield, YIELDS), 0);
	both = rd[1].sum[0] - rd[0].sum[0];

	ck_assert_uint_eq(user, EXACT_KERNEL + BODY_YIELD(YIELDS));
	/* A system call that reads is some hundred instructions. */
	ck_assert_uint_gt(kernel, 100 * YIELDS);
	ck_assert_uint_gt(both, user + 100 * YIELDS);
}
END_TEST

/* The caller's own counters, with a ring for samples by time, each millisecond. */
static int open_sampled(struct perfctr_control *control)
{
	struct perfctr_ring ring = { .size = sizeof(ring), .pages = 4 };
	int fd = open_self();

	ck_ok(ioctl(fd, PERFCTR_IOC_RING, &ring));
	control_init(control);
	control->tsc_on = 1;
	control->flags = PERFCTR_CONTROL_RECORD;
	control->timer_ns = 1000000;
	return fd;
}

/* Samples by time need no counter of their own, and change no count. */
START_TEST(sampled_by_time)
{
	struct perfctr_control control;
	struct subject subject = { .fd = open_sampled(&control) };
	uint64_t words[4];
	unsigned int turn;

	control_add(&control, EV_INSTRUCTIONS);
	set_control(subject.fd, &control);
	demand_runs(&subject);
	for (turn = 0; turn < RUNS; turn++) {
		ck_assert_int_eq(exact_read(subject.fd, words, 16, body_yield, YIELDS), 16);
		ck_assert_uint_eq(words[3] - words[1], EXACT_KERNEL + BODY_YIELD(YIELDS));
		ck_assert_uint_ge(words[2], words[0]);
	}
}
END_TEST

/* What others read of a running thread that is sampled by time */
struct seen {
	bool go;
	uint64_t sum;
	unsigned int reads;
	unsigned int wrong;
};

/* Reads the state of @fd, alone and as the root of its tree, from go to stop. */
static void watch(int fd, struct seen *seen)
{
	struct perfctr_read rd = { .size = sizeof(rd) };
	struct perfctr_read_tree tree;

	while (!__atomic_load_n(&seen->go, __ATOMIC_ACQUIRE))
		sleep_us(100);
	while (__atomic_load_n(&seen->go, __ATOMIC_ACQUIRE)) {
		if (try_read(fd, &rd) || rd.sum[0] < seen->sum)
			seen->wrong++;
		seen->sum = rd.sum[0];
		if (try_read_tree(fd, PERFCTR_TREE_ROOT, &tree) || tree.sum[0] < seen->sum)
			seen->wrong++;
		seen->sum = tree.sum[0];
		__atomic_add_fetch(&seen->reads, 1, __ATOMIC_RELEASE);
	}
}

START_TEST(sampled_by_time_read_by_others)
{
	struct seen *seen = shared_alloc(sizeof(*seen));
	struct perfctr_control control;
	int fd = open_sampled(&control);
	uint64_t sum;
	pid_t pid;

	control.flags |= PERFCTR_CONTROL_INHERIT;
	control_add(&control, EV_INSTRUCTIONS);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin_self(guest.ncpus - 1);
		watch(fd, seen);
		_exit(0);
	}
	pin_self(0);
	set_control(fd, &control);
	__atomic_store_n(&seen->go, true, __ATOMIC_RELEASE);
	while (__atomic_load_n(&seen->reads, __ATOMIC_ACQUIRE) < RUNS)
		body_spin(SPIN_LOOPS);
	__atomic_store_n(&seen->go, false, __ATOMIC_RELEASE);
	expect_exit(pid, 0);
	ck_assert_uint_eq(seen->wrong, 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	sum = read_sum(fd, 0);
	ck_assert_uint_le(seen->sum, sum);
	ck_assert_uint_ge(2 * seen->sum, sum);
}
END_TEST

static int compare_counts(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * The usual kernel-mode instructions of a round trip through pipes, with a switch there and back: the median. A tick
 * and other work of the kernel make a trip longer. If this thread is preempted behind its write, the answer is there
 * before it reads, so it does not sleep, and the trip is shorter by some thousand instructions.
 */
static uint64_t round_trip(int fd, const int there[2], const int back[2])
{
	static uint64_t count[RUNS];
	uint64_t before;
	unsigned int i;
	char ch = 0;

	for (i = 0; i < RUNS; i++) {
		before = read_sum(fd, 0);
		if (write(there[1], &ch, 1) != 1 || read(back[0], &ch, 1) != 1)
			ck_abort_msg("pipe: %s", strerror(errno));
		count[i] = read_sum(fd, 0) - before;
	}
	qsort(count, RUNS, sizeof(*count), compare_counts);
	return count[RUNS / 2];
}

/* The counters run from the switch on, though the timer may be set later. */
START_TEST(kernel_mode_sampled_by_time)
{
	struct perfctr_control control;
	int fd = open_sampled(&control), there[2], back[2];
	uint64_t alone, sampled;
	pid_t pid;

	pin_self(0);
	ck_ok(pipe(there));
	ck_ok(pipe(back));
	pid = fork();
	if (!pid) {
		char ch;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (read(there[0], &ch, 1) == 1 && write(back[1], &ch, 1) == 1)
			;
		_exit(0);
	}
	control_add_at(&control, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, PERFCTR_CTR_KERNEL);
	control.flags = 0;
	control.timer_ns = 0;
	set_control(fd, &control);
	alone = round_trip(fd, there, back);
	control.flags = PERFCTR_CONTROL_RECORD;
	control.timer_ns = 1000000000;
	set_control(fd, &control);
	sampled = round_trip(fd, there, back);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_uint_ge(sampled, alone); /* resuming it takes longer, which is counted */
}
END_TEST

/*
 * The library's reads are compiled, so no source says how long they are. perf counts the
 * instructions of the same code: a turn of a loop of reads must be as long as perf says. If
 * perf does not count beside us, the kernel's own read of the counter is the witness.
 */
#define TURNS 1000ul

enum way { READ_PMC, SNAPSHOT };

static __attribute__((noipa)) void turn_loop(const struct vperfctr *v, enum way way,
						unsigned long n, uint64_t *first, uint64_t *last)
{
	struct perfctr_sum_ctrs sum;
	unsigned long i;

	if (way == READ_PMC) {
		*first = vperfctr_read_pmc(v, 0);
		for (i = 0; i < n; i++) {
			body_spin(i % 8 + 1);
			*last = vperfctr_read_pmc(v, 0);
		}
		return;
	}
	vperfctr_read_ctrs(v, &sum);
	*first = sum.pmc[0];
	for (i = 0; i < n; i++) {
		body_spin(i % 8 + 1);
		vperfctr_read_ctrs(v, &sum);
		*last = sum.pmc[0];
	}
}

/* A handle, if the kernel's own read is the witness; else -1 */
static int perfctr_fd = -1;

/* Nothing may be asserted while instructions are counted: libcheck writes now and then. */
static uint64_t own_sum(int fd)
{
	uint64_t words[2];

	return read(fd, words, sizeof(words)) == sizeof(words) ? words[1] : 0;
}

/* Out of line, so that it is the same code for any @n. */
static __attribute__((noipa)) uint64_t perf_over(int fd, const struct vperfctr *v, enum way way,
						 unsigned long n)
{
	uint64_t first, last, before;

	if (fd < 0) {
		before = own_sum(perfctr_fd);
		turn_loop(v, way, n, &first, &last);
		return own_sum(perfctr_fd) - before;
	}
	before = perf_read_one(fd);
	turn_loop(v, way, n, &first, &last);
	return perf_read_one(fd) - before;
}

/* Instructions of @n turns: the count of 2n turns less that of n */
static uint64_t perf_turns(const struct vperfctr *v, enum way way, unsigned long n)
{
	int fd = perfctr_fd < 0 ? perf_open_self(EV_INSTRUCTIONS) : -1;
	uint64_t once, twice;

	ck_assert_msg(perfctr_fd >= 0 || fd >= 0, "perf_event_open: %s", strerror(errno));
	once = perf_over(fd, v, way, n);
	twice = perf_over(fd, v, way, 2 * n);
	if (fd >= 0)
		close(fd);
	return twice - once;
}

static void compiled_reads(enum way way)
{
	struct vperfctr_control control;
	uint64_t first, last, more, once;
	struct vperfctr *v;
	unsigned int i;

	/* Nobody preempts this, so no read is repeated. */
	make_realtime();
	v = vperfctr_open();
	ck_assert_ptr_nonnull(v);
	memset(&control, 0, sizeof(control));
	control.cpu_control.tsc_on = 1;
	USER_MODE(&control);
	control.cpu_control.nractrs = 1;
	control.cpu_control.pmc_map[0] = PERFCTR_MAP_ANY;
	/* Another event, if perf counts the instructions now. */
	if (has_one_source()) {
		perfctr_fd = try_open(0);
		OLD_EVENT(&control.cpu_control, 0, EV_INSTRUCTIONS);
	} else {
		OLD_EVENT(&control.cpu_control, 0, EV_DTLB_STORE_MISSES);
	}
	ck_ok(vperfctr_control(v, &control));
	until_given_back();
	turn_loop(v, way, TURNS, &first, &last);
	once = perf_turns(v, way, TURNS);

	OLD_EVENT(&control.cpu_control, 0, EV_INSTRUCTIONS);
	ck_ok(vperfctr_control(v, &control));
	until_given_back();
	for (i = 0; i < 100; i++) {
		turn_loop(v, way, TURNS, &first, &last);
		more = last - first;
		turn_loop(v, way, 2 * TURNS, &first, &last);
		more = last - first - more;
		ck_assert_msg(more == once, "%lu turns are %llu instructions, perf says %llu",
			      TURNS, (unsigned long long)more, (unsigned long long)once);
	}
	vperfctr_close(v);
}

START_TEST(library_read)
{
	compiled_reads(READ_PMC);
}
END_TEST

START_TEST(library_snapshot)
{
	compiled_reads(SNAPSHOT);
}
END_TEST

static int count_clock(void)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.tsc_on = 1;
	set_control(fd, &control);
	return fd;
}

/* A state's clock goes on while its thread runs, and stops while it sleeps. */
START_TEST(clock_counts_run_time)
{
	uint64_t slept, ran, hz = guest.info.tsc_hz;
	uint64_t began, passed;
	int fd = count_clock();

	ck_assert_uint_gt(hz, 0);
	slept = read_clock(fd);
	sleep_us(200000);
	slept = read_clock(fd) - slept;
	/* A sleep of 200 ms uses the CPU only for a moment. */
	ck_assert_uint_lt(slept, hz / 100);

	began = now_ns();
	ran = read_clock(fd);
	do {
		body_spin(100000);
		passed = now_ns() - began;
	} while (passed < 50000000);
	ran = read_clock(fd) - ran;
	/* Others may have run now and then, but the thread cannot run longer than time passes. */
	ck_assert_uint_le(ran, (now_ns() - began) / 1000 * (hz / 1000) / 1000 + hz / 1000);
	ck_assert_uint_ge(ran, hz / 1000 * 25);
}
END_TEST

/* Whatever happens between two reads, the page's clock is the one that the kernel reads. */
START_TEST(clock_is_read_inline)
{
	int fd = count_clock();
	const struct perfctr_page *page = map_page(fd);
	unsigned long long value;
	uint64_t before, after;
	unsigned int i;

	for (i = 0; i < RUNS; i++) {
		before = read_clock(fd);
		ck_assert_msg(perfctr_page_read_reg(page, PERFCTR_CLOCK_SLOT, &value),
			      "read %u: the page says: ask the kernel", i);
		after = read_clock(fd);
		ck_assert_uint_ge(value, before);
		ck_assert_uint_le(value, after);
		switch (i % 4) {
		case 0: sched_yield(); break;
		case 1: sleep_us(100); break;
		case 2: pin_self(i / 4 % guest.ncpus); break;
		default: body_spin(SPIN_LOOPS);
		}
	}
}
END_TEST

#if !defined(__riscv) && !defined(__powerpc__)
/* Not all kernels tell the module before the thread's next switch. */
START_TEST(clock_is_not_offered_if_forbidden)
{
	int fd = count_clock();
	const volatile struct perfctr_page *page = map_page(fd);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		uint64_t before;

		ck_assert_uint_eq(page->slot[PERFCTR_CLOCK_SLOT].owner, thread_pointer());
		ck_assert_uint_eq(page->owner, thread_pointer());
		ck_ok(prctl(PR_SET_TSC, PR_TSC_SIGSEGV));
		sleep_us(1000);
		ck_assert_uint_eq(page->slot[PERFCTR_CLOCK_SLOT].owner, 0);
		ck_assert_uint_eq(page->owner, 0);
		/* The kernel reads it all the same. */
		before = read_clock(fd);
		body_spin(SPIN_LOOPS);
		ck_assert_uint_gt(read_clock(fd), before);
		ck_ok(prctl(PR_SET_TSC, PR_TSC_ENABLE));
		sleep_us(1000);
	}
}
END_TEST
#endif

#define FIXED_REF	26u	/* the number of fixed counter 2 */
#define EV_REF_CYCLES	0x13cu
#define EV_AMD_REF_CYCLES 0x100000120u	/* since Zen 4, in Linux */

/* The least of several turns, as one may be interrupted. */
static uint64_t ref_cycles(uint64_t (*count)(int fd), int fd, unsigned long loops)
{
	uint64_t before, cycles, least = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		before = count(fd);
		body_spin(loops);
		cycles = count(fd) - before;
		if (cycles < least)
			least = cycles;
	}
	return least;
}

/* The difference between 200,000 loops and 100,000 */
static uint64_t ref_cycles_more(uint64_t (*count)(int fd), int fd)
{
	uint64_t once = ref_cycles(count, fd, 100000);

	return ref_cycles(count, fd, 200000) - once;
}

/*
 * Our ref-cycles are perf's, where a fixed counter counts them, or an event of AMD's. Only one of us
 * can have it at a time, so both count the same code in turn. Other processors refuse them.
 */
START_TEST(ref_cycles_are_perfs)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_REF_CPU_CYCLES,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct perfctr_control control;
	struct perfctr_ctr_control ctr;
	struct perfctr_info info;
	uint64_t theirs, ours;
	int fd, err;

	err = perfctr_event_parse(guest.info.cpu_type, "ref-cycles:u", &ctr);
	control_init(&control);
	if (guest.info.cpu_type == PERFCTR_X86_AMD_ZEN4)
		control_add(&control, EV_AMD_REF_CYCLES);
	else
		control_add_at(&control, FIXED_REF, EV_REF_CYCLES, PERFCTR_CTR_USER);
	if (control.ctr[0].map == FIXED_REF && !(guest.info.counters >> FIXED_REF & 1)) {
		ck_ok(perfctr_get_info(&info));
		ck_assert(err || !perfctr_event_available(&info, &ctr));
		ck_assert_int_eq(try_control(open_self(), &control), -EINVAL);
		return;
	}
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(ctr.map, control.ctr[0].map);
	ck_assert_uint_eq(ctr.event, control.ctr[0].event);

	/* Nobody preempts this, so nothing else is counted. */
	make_realtime();
	fd = perf_open(&attr, 0, -1, -1);
	/* Linux 6.1 has none on AMD's. */
	if (fd < 0 && errno == ENOENT && is_amd())
		return;
	ck_assert_msg(fd >= 0, "perf_event_open: %s", strerror(errno));
	theirs = ref_cycles_more(perf_read_one, fd);
	close(fd);
	fd = open_self();
	ck_ok(try_control(fd, &control));
	ours = ref_cycles_more(own_sum, fd);
	ck_assert_uint_gt(ours, 0);
	/* QEMU reads ref-cycles from a clock as the mode changes, so they are one or two off. */
	ck_assert_msg(ours - theirs + 4 <= 8, "%llu ref-cycles, perf says %llu",
		      (unsigned long long)ours, (unsigned long long)theirs);
}
END_TEST

#ifdef __riscv
/*
 * The environment's BOARD: instructions and cycles have no other counters than instret and cycle,
 * as the device tree of some boards says. These filter by mode with Smcntrpmf only.
 */
static bool instructions_filter(void)
{
	uint32_t fixed = PERFCTR_FEATURE_FILTER_FIXED, general = PERFCTR_FEATURE_FILTER;

	return guest.info.cpu_features & (getenv("BOARD") ? fixed : general);
}

/* By a counter that counts all modes a program would be told the kernel's instructions as its own. */
START_TEST(one_mode_without_a_filter)
{
	static const uint32_t modes[] = { PERFCTR_CTR_USER, PERFCTR_CTR_KERNEL };
	static const uint64_t events[] = { EV_INSTRUCTIONS, EV_CYCLES };
	struct perfctr_control control;
	unsigned int i, k;
	int fd = open_self(), err;

	for (i = 0; i < 2; i++) {
		for (k = 0; k < 2; k++) {
			control_init(&control);
			control_add_at(&control, PERFCTR_MAP_ANY, events[i], modes[k]);
			control.source = PERFCTR_SOURCE_NATIVE;
			ck_assert_int_eq(try_control(fd, &control), -EOPNOTSUPP);
			control.source = PERFCTR_SOURCE_ANY;
			ck_assert_int_eq(try_control(fd, &control), -EOPNOTSUPP);
			/* perf itself knows, or only we do. */
			control.source = PERFCTR_SOURCE_SHARED;
			err = try_control(fd, &control);
			ck_assert_msg(err == -EINVAL || err == -EOPNOTSUPP, "%d", err);
		}
	}
	unlink_self(fd);
	close(fd);
}
END_TEST

/* Both modes it counts, by either source. */
START_TEST(both_modes_without_a_filter)
{
	const unsigned long loops = 1000000;
	static const uint32_t sources[] = {
		PERFCTR_SOURCE_NATIVE, PERFCTR_SOURCE_SHARED, PERFCTR_SOURCE_ANY,
	};
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	struct perfctr_control control;
	unsigned int i;
	int fd;

	/* There is one such counter: the next source has it when the one before has let it go. */
	for (i = 0; i < 3; i++) {
		fd = open_self();
		control_init(&control);
		control_add_at(&control, PERFCTR_MAP_ANY, EV_INSTRUCTIONS,
			       PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL);
		control.source = sources[i];
		set_control(fd, &control);
		ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, loops), 0);
		ck_assert_uint_ge(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(loops));
		/* Some calls and ticks of the kernel */
		ck_assert_uint_lt(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(loops + 100000));
		unlink_self(fd);
		close(fd);
	}
}
END_TEST

/* Where the emulator counts an event on one counter at a time the second one would stand still. */
START_TEST(an_event_in_two_modes)
{
	static const uint32_t sources[] = {
		PERFCTR_SOURCE_NATIVE, PERFCTR_SOURCE_SHARED, PERFCTR_SOURCE_ANY,
	};
	struct perfctr_control control;
	unsigned int i;
	int fd = open_self();

	for (i = 0; i < 3; i++) {
		control_init(&control);
		control_add_at(&control, PERFCTR_MAP_ANY, EV_DTLB_LOAD_MISSES, PERFCTR_CTR_USER);
		control_add_at(&control, PERFCTR_MAP_ANY, EV_DTLB_LOAD_MISSES, PERFCTR_CTR_KERNEL);
		control.source = sources[i];
		ck_assert_int_eq(try_control(fd, &control), guest.twice ? 0 : -EOPNOTSUPP);
	}
	unlink_self(fd);
	close(fd);
}
END_TEST
#endif

int main(void)
{
	guest_begin("exact", NULL);
	GUEST_RUN(kernel_read_alone, NEED_COUNTERS | AS_USER);
	GUEST_RUN(plain_read_alone, NEED_COUNTERS | AS_USER);
	GUEST_RUN(inline_read_alone, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(every_counter, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(every_place, NEED_COUNTERS | NEED_ROOM | AS_USER);
	GUEST_RUN(kernel_mode_counts_more, NEED_COUNTERS | NEED_ROOM);
	GUEST_RUN(sampled_by_time, NEED_COUNTERS | AS_USER);
	GUEST_RUN(sampled_by_time_read_by_others, NEED_COUNTERS | AS_USER);
	GUEST_RUN(kernel_mode_sampled_by_time, NEED_COUNTERS);
	exact_among();
	GUEST_RUN(library_read, NEED_COUNTERS | NEED_USER_READ | NEED_PERF);
	GUEST_RUN(library_snapshot, NEED_COUNTERS | NEED_USER_READ | NEED_PERF);
	GUEST_RUN(clock_counts_run_time, AS_USER);
	GUEST_RUN(clock_is_read_inline, NEED_RDTSC | AS_USER);
#if !defined(__riscv) && !defined(__powerpc__)
	GUEST_RUN(clock_is_not_offered_if_forbidden, NEED_RDTSC | AS_USER);
#endif
#ifdef __riscv
	if (!instructions_filter()) {
		GUEST_RUN(one_mode_without_a_filter, 0);
		GUEST_RUN(both_modes_without_a_filter, 0);
	}
	GUEST_RUN(an_event_in_two_modes, NEED_COUNTERS | NEED_PERF);
#endif
	GUEST_RUN(ref_cycles_are_perfs, NEED_X86 | NEED_PERF);
	return guest_end();
}
