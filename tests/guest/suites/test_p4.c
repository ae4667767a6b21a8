// SPDX-License-Identifier: GPL-2.0
/*
 * The Pentium 4: two registers for each event, counters that wait for others, and tags of replayed
 * instructions.
 */
#define _GNU_SOURCE
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/p4.h"

#define BOTH	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)
#define PAGES	64ul
#define BLOCK(n)	((uint64_t)(n) << 32)
#define EXTENDED	(1u << 11)
#define ENABLE		(1u << 12)
#define ANY_THREAD	(3u << 16)
#define COMPARE		(1u << 18)
#define COMPLEMENT	(1u << 19)
#define EDGE		(1u << 24)
#define FORCE_OVF	(1u << 25)
#define OVF_PMI_T0	(1u << 26)
#define CASCADE		(1u << 30)
#define REPLAYS	ESCR(9, 1)
/* PEBS_ENABLE: tag uops for replays at misses of the data TLB */
#define DTLB_TAGS	(1u << 24 | 1u << 2)

/* Is CPU 1 one? */
static bool has_hyperthreads(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;

	__cpuid(1, a, b, c, d);
	(void)a;
	(void)c;
	return guest.ncpus > 1 && d & 1u << 28 && (b >> 16 & 0xff) > 1;
#else
	return false;
#endif
}

static void add_tagged(struct perfctr_control *control, uint64_t enable, uint64_t matrix)
{
	struct perfctr_ctr_control *ctr = &control->ctr[control->nractrs];

	add(control, PERFCTR_MAP_ANY, SELECT(5) | BLOCK(4), REPLAYS);
	ctr->config1 = enable;
	ctr->config2 = matrix;
}

/* What counts in the emulated machine, and on which counters; "instructions" is how many it is. */
static const struct {
	uint64_t select, escr;
	unsigned int first, last;
	bool branches;
} events[] = {
	{ SELECT(6), ESCR(0x13, 1), 0, 3, false },	/* global_power_events: a cycle each */
	{ SELECT(2), ESCR(0x04, 0x1e), 4, 7, true },	/* retired_branch_type */
	{ SELECT(4), INSNS, 12, 17, false },
	{ SELECT(5), ESCR(0x06, 0xf), 12, 17, true },	/* branch_retired */
};

/* Each counter by itself, with all that the CCCR says, and with what is counted alone. */
START_TEST(each_counter)
{
	int fd = open_self();
	unsigned int i, hw, whole;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		/* Two reads are the same system call: what is not the body is a constant. */
		for (hw = events[i].first; hw <= events[i].last; hw++) {
			for (whole = 0; whole < 2; whole++) {
				uint64_t cccr = events[i].select, expected, got;
				struct perfctr_control control;

				if (whole)
					cccr |= ENABLE | ANY_THREAD;
				control_init(&control);
				add(&control, hw, cccr, events[i].escr);
				set_control(fd, &control);
				got = counted(fd, 0, body_spin, LOOPS + 1000) -
				      counted(fd, 0, body_spin, LOOPS);
				expected = events[i].branches ? 1000 : 2000;
				ck_assert_msg(got == expected, "counter %u, CCCR %#llx: %llu", hw,
					      (unsigned long long)cccr, (unsigned long long)got);
			}
		}
	}
}
END_TEST

/* All that have something to count, at once */
START_TEST(all_at_once)
{
	uint64_t body = EXACT_KERNEL + BODY_SPIN(LOOPS);
	struct perfctr_control control;
	int fd = open_self();
	unsigned int i;

	control_init(&control);
	for (i = 0; i < 4; i++)
		add(&control, PERFCTR_MAP_ANY, SELECT(6) | BLOCK(1), ESCR(0x13, 1));
	for (i = 0; i < 4; i++)
		add(&control, PERFCTR_MAP_ANY, SELECT(2) | BLOCK(2), ESCR(0x04, 0x1e));
	for (i = 0; i < 6; i++)
		add(&control, PERFCTR_MAP_ANY, SELECT(4) | BLOCK(4), INSNS);
	set_control(fd, &control);
	for (i = 0; i < control.nractrs; i++) {
		uint64_t got = counted(fd, i, body_spin, LOOPS);

		if (i < 4 || i >= 8)
			ck_assert_uint_eq(got, body);
		else
			ck_assert_uint_eq(counted(fd, i, body_spin, LOOPS + 100) - got, 100);
	}
	/* An ESCR has one value: of the six these are three and three, and a third value is not. */
	control_init(&control);
	for (i = 0; i < 3; i++)
		add(&control, PERFCTR_MAP_ANY, SELECT(4) | BLOCK(4), INSNS);
	for (; i < 6; i++) {
		add(&control, PERFCTR_MAP_ANY, SELECT(4) | BLOCK(4), INSNS);
		control.ctr[i].flags = BOTH;
	}
	set_control(fd, &control);
	ck_assert_uint_eq(counted(fd, 0, body_spin, LOOPS), body);
	ck_assert_uint_gt(counted(fd, 5, body_spin, LOOPS), body);
	control.ctr[5].flags = PERFCTR_CTR_KERNEL;
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	ck_assert_uint_eq(control.refused, 5);
	ck_assert_uint_eq(control.possible, 0x3f000);
	/* The control before it goes on. */
	ck_assert_uint_eq(counted(fd, 0, body_spin, LOOPS), body);
}
END_TEST

/* A control that is refused, and leaves the one before as it was. */
static const struct {
	const char *name;
	uint64_t map, cccr, escr, enable, matrix;
	int err;
} refused[] = {
	{ "OVF", 12, SELECT(4) | ENABLE | ANY_THREAD | 1u << 31, INSNS, 0, 0, EINVAL },
	{ "OVF_PMI_T1", 12, SELECT(4) | ENABLE | ANY_THREAD | 1u << 27, INSNS, 0, 0, EINVAL },
	{ "OVF_PMI_T0 of an a-mode one", 12, SELECT(4) | ENABLE | ANY_THREAD | OVF_PMI_T0, INSNS,
	  0, 0, EINVAL },
	{ "bit 10", 12, SELECT(4) | ENABLE | ANY_THREAD | 1u << 10, INSNS, 0, 0, EINVAL },
	{ "neither ENABLE nor CASCADE", 12, SELECT(4) | ANY_THREAD, INSNS, 0, 0, EINVAL },
	{ "EXTENDED_CASCADE of counter 13", 13, SELECT(4) | ENABLE | ANY_THREAD | EXTENDED, INSNS,
	  0, 0, EINVAL },
	{ "no such ESCR", 12, SELECT(7), INSNS, 0, 0, EINVAL },
	{ "no block", PERFCTR_MAP_ANY, SELECT(4), INSNS, 0, 0, EINVAL },
	{ "another block", 12, SELECT(4) | BLOCK(1), INSNS, 0, 0, EINVAL },
	{ "counter 18", 18, SELECT(4), INSNS, 0, 0, EINVAL },
	{ "ESCR, bit 31", 12, SELECT(4), INSNS | 1u << 31, 0, 0, EINVAL },
	{ "ESCR, bit 32", 12, SELECT(4), INSNS | 1ull << 32, 0, 0, EINVAL },
	{ "ESCR, T1_USR", 12, SELECT(4), INSNS | T1_USR, 0, 0, EINVAL },
	{ "ESCR, T1_OS", 12, SELECT(4), INSNS | 2, 0, 0, EINVAL },
	{ "ESCR, another mode", 12, SELECT(4), INSNS | 8, 0, 0, EINVAL },
	{ "a matrix without tags", 12, SELECT(5), REPLAYS, 0, 1, EINVAL },
	{ "tags without UOP_TAG", 12, SELECT(5), REPLAYS, 4, 1, EINVAL },
	{ "tags without a matrix", 12, SELECT(5), REPLAYS, DTLB_TAGS, 0, EINVAL },
	{ "ENABLE_PEBS_MY_THR", 12, SELECT(5), REPLAYS, DTLB_TAGS | 1u << 25, 1, EINVAL },
	{ "bit 2 of the matrix", 12, SELECT(5), REPLAYS, DTLB_TAGS, 4, EINVAL },
};

START_TEST(bad_input)
{
	int fd = count_event(EV_INSTRUCTIONS);
	unsigned int i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct perfctr_control control;
		int err;

		control_init(&control);
		add(&control, PERFCTR_MAP_ANY, SELECT(6) | BLOCK(1), ESCR(0x13, 1));
		add(&control, (uint32_t)refused[i].map, refused[i].cccr, refused[i].escr);
		control.ctr[1].config1 = refused[i].enable;
		control.ctr[1].config2 = refused[i].matrix;
		err = try_control(fd, &control);
		ck_assert_msg(err == -refused[i].err, "%s: %s", refused[i].name, strerror(-err));
		ck_assert_msg(control.refused == 1, "%s: refused %u", refused[i].name,
			      control.refused);
		ck_assert_uint_eq(counted(fd, 0, body_spin, LOOPS), EXACT_KERNEL + BODY_SPIN(LOOPS));
	}
}
END_TEST

/* What the filters leave of events that come one at a time, and never in two ticks in a row */
START_TEST(filters)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	/* Ticks with more than none; with more than one; where "more than none" begins; with none */
	add(&control, 12, SELECT(5) | COMPARE, ESCR(0x06, 0xf));
	add(&control, 13, SELECT(5) | COMPARE | 1u << 20, ESCR(0x06, 0xf));
	add(&control, 16, SELECT(5) | COMPARE | EDGE, ESCR(0x06, 0xf));
	add(&control, 14, SELECT(5) | COMPARE | COMPLEMENT, ESCR(0x06, 0xf));
	set_control(fd, &control);
	ck_assert_uint_eq(counted(fd, 0, body_spin, LOOPS + 1000) -
			  counted(fd, 0, body_spin, LOOPS), 1000);
	ck_assert_uint_eq(counted(fd, 1, body_spin, LOOPS), 0);
	ck_assert_uint_eq(counted(fd, 2, body_spin, LOOPS + 1000) -
			  counted(fd, 2, body_spin, LOOPS), 1000);
	/* A turn has two instructions, of which one is a branch. */
	ck_assert_uint_eq(counted(fd, 3, body_spin, LOOPS + 1000) -
			  counted(fd, 3, body_spin, LOOPS), 1000);
}
END_TEST

#define TLB_PLACES	256u	/* QEMU's TLB gives a page one of so many, by its number, or of more */

/* PAGES pages that have other places in the TLB than the stack has around @stack */
static void *map_apart(const void *stack)
{
	unsigned int wanted = ((uintptr_t)stack / PAGE_SIZE + PAGES) % TLB_PLACES;
	char *base = mmap(NULL, (TLB_PLACES + PAGES) * PAGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	ck_assert_ptr_ne(base, MAP_FAILED);
	return base + (wanted - (uintptr_t)base / PAGE_SIZE) % TLB_PLACES * PAGE_SIZE;
}

/* Nothing is missing afterwards: a fault would give interrupts time to empty the TLB once more. */
static void forget_translations(void *base, size_t size)
{
	ck_ok(mprotect(base, size, PROT_READ));
	ck_ok(mprotect(base, size, PROT_READ | PROT_WRITE));
}

/* Replays at misses of the data TLB by stores are all that a loop of stores has. */
START_TEST(replay_tagging)
{
	struct body_touch_arg arg = { .n = PAGES };
	struct perfctr_control control;
	int fd = open_self();
	uint64_t replays, walks;
	pid_t pid;

	arg.base = map_apart(&arg);
	control_init(&control);
	add_tagged(&control, DTLB_TAGS, 2);
	add(&control, PERFCTR_MAP_ANY, SELECT(4) | BLOCK(1), ESCR(1, 1));	/* page_walk_type */
	set_control(fd, &control);
	(void)counted(fd, 0, body_touch, (unsigned long)&arg);
	forget_translations(arg.base, PAGES * PAGE_SIZE);
	replays = counted(fd, 0, body_touch, (unsigned long)&arg);
	ck_assert_uint_eq(replays, PAGES);
	/* Page walks are those of loads, too: what the body loads is in the TLB before. */
	forget_translations(arg.base, PAGES * PAGE_SIZE);
	(void)*(volatile unsigned long *)&arg.n;
	walks = counted(fd, 1, body_touch, (unsigned long)&arg);
	ck_assert_uint_eq(walks, PAGES);
	/* The tags are the core's: nobody else may have others, nor may one control. */
	pid = fork();
	if (!pid) {
		int own = open_self();

		control_init(&control);
		add_tagged(&control, DTLB_TAGS, 1);
		_exit(try_control(own, &control) == -EBUSY &&
		      control.owner == PERFCTR_OWNER_PERFCTR ? 0 : 1);
	}
	expect_exit(pid, 0);
	control_init(&control);
	add_tagged(&control, DTLB_TAGS, 2);
	add_tagged(&control, DTLB_TAGS, 1);
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	ck_assert_uint_eq(control.refused, 1);
	/* Nor may the next control, before this one is ended. Loads: that loop has none that miss. */
	control_init(&control);
	set_control(fd, &control);
	add_tagged(&control, DTLB_TAGS, 1);
	set_control(fd, &control);
	(void)counted(fd, 0, body_touch, (unsigned long)&arg);
	ck_assert_uint_le(counted(fd, 0, body_touch, (unsigned long)&arg), 2);
}
END_TEST

static int overflow_fd;
static volatile unsigned int overflows;

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)info;
	(void)context;
	overflows++;
	(void)ioctl(overflow_fd, PERFCTR_IOC_IRESUME);
}

static void listen_to_overflows(void)
{
	struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO };

	overflows = 0;
	ck_ok(sigaction(SIGUSR1, &action, NULL));
}

/*
 * A counter that waits for another one to overflow counts from there on. It does so for this
 * thread alone, and goes on when the thread goes on.
 */
static void cascades(unsigned int first, unsigned int second, uint64_t bit)
{
	const uint64_t period = 100000;
	struct perfctr_control control;
	struct perfctr_read rd;
	unsigned int i;

	listen_to_overflows();
	control_init(&control);
	control.si_signo = SIGUSR1;
	add(&control, second, SELECT(4) | bit | ANY_THREAD, INSNS);
	control.nrictrs = 1;
	control.ctr[1] = (struct perfctr_ctr_control){
		.map = first, .event = SELECT(4) | ENABLE | ANY_THREAD | OVF_PMI_T0,
		.config = INSNS, .flags = USER, .ireset = -(int64_t)period,
	};
	set_control(overflow_fd, &control);
	for (i = 0; i < 4; i++) {
		body_spin(10000);
		sched_yield();
		sleep_us(100);
	}
	read_all(overflow_fd, &rd);
	ck_assert_uint_eq(overflows, 0);
	ck_assert_uint_eq(rd.sum[0], 0);
	for (i = 0; i < 8; i++) {
		body_spin(10000);
		sched_yield();
		sleep_us(100);
	}
	read_all(overflow_fd, &rd);
	ck_assert_uint_ge(overflows, 1);
	ck_assert_uint_eq(rd.sum[1] - rd.sum[0], period);
	/* A new control waits again. */
	set_control(overflow_fd, &control);
	body_spin(10000);
	read_all(overflow_fd, &rd);
	ck_assert_uint_eq(rd.sum[0], 0);
}

START_TEST(cascade)
{
	overflow_fd = open_self();
	cascades(12, 14, CASCADE);
	cascades(13, 15, CASCADE);
}
END_TEST

/* Since model 2 */
START_TEST(extended_cascade)
{
	struct perfctr_control control;

	if (guest.info.cpu_type == PERFCTR_X86_INTEL_P4) {
		control_init(&control);
		add(&control, 12, SELECT(4) | EXTENDED | ANY_THREAD, INSNS);
		ck_assert_int_eq(try_control(open_self(), &control), -EINVAL);
		ck_assert_uint_eq(control.refused, 0);
		return;
	}
	overflow_fd = open_self();
	cascades(16, 12, EXTENDED);
	cascades(17, 15, EXTENDED);
}
END_TEST

/*
 * Of a CPU: a counter that waits begins with the event behind the one that the first counter
 * overflows at, goes on over reads and stops, and waits again in the next control. Either each
 * instruction is an overflow of the first one, or, as a tick never has two of them, there is none.
 */
static void cascades_of_cpu(int fd, unsigned int first, unsigned int second, uint64_t bit)
{
	struct perfctr_read space[2] = {};
	struct perfctr_read_cpu *rd[2] = { (void *)&space[0], (void *)&space[1] };
	unsigned int turn, i, j;

	for (i = 0; i < 2; i++)
		rd[i]->size = sizeof(*rd[i]);
	for (turn = 0; turn < 4; turn++) {
		bool goes = turn & 1;
		uint64_t never = goes ? 0 : COMPARE | 1u << 20;
		uint64_t body = goes ? EXACT_KERNEL + BODY_SPIN(LOOPS) : 0;
		struct perfctr_control control;

		control_init(&control);
		control.flags = PERFCTR_CONTROL_CPU;
		control.source = PERFCTR_SOURCE_NATIVE;
		add(&control, first, SELECT(4) | FORCE_OVF | never, INSNS);
		add(&control, second, SELECT(4) | bit | ANY_THREAD, INSNS);
		set_control(fd, &control);
		for (i = 0; i < 3; i++) {
			ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
			ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ_CPU, space, body_spin,
						      LOOPS), 0);
			ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
			for (j = 0; j < 2; j++)
				ck_assert_uint_eq(rd[1]->sum[j] - rd[0]->sum[j], body);
			ck_assert_uint_eq(rd[1]->sum[0], rd[1]->sum[1] + goes);
		}
	}
}

START_TEST(session_with_cascades)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	int fd = open_device();

	ck_ok(ioctl(fd, PERFCTR_IOC_OPEN, &o));
	pin_self(0);
	make_realtime();
	cascades_of_cpu(fd, 12, 14, CASCADE);
	cascades_of_cpu(fd, 13, 15, CASCADE);
	if (guest.info.cpu_type != PERFCTR_X86_INTEL_P4)
		cascades_of_cpu(fd, 16, 12, EXTENDED);
}
END_TEST

/* With FORCE_OVF each event interrupts. */
START_TEST(each_event_interrupts)
{
	struct body_touch_arg arg = { .n = PAGES };
	struct perfctr_control control;
	struct perfctr_read rd;

	arg.base = mmap(NULL, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ck_assert_ptr_ne(arg.base, MAP_FAILED);
	overflow_fd = open_self();
	listen_to_overflows();
	control_init(&control);
	control.si_signo = SIGUSR1;
	control.nrictrs = 1;
	control.ctr[0] = (struct perfctr_ctr_control){
		.map = PERFCTR_MAP_ANY, .flags = USER, .ireset = -1, .config1 = DTLB_TAGS,
		.config2 = 2, .config = REPLAYS, .event = SELECT(5) | BLOCK(4) | FORCE_OVF,
	};
	set_control(overflow_fd, &control);
	body_touch((unsigned long)&arg);
	read_all(overflow_fd, &rd);
	ck_assert_uint_gt(overflows, 0);
	ck_assert_uint_eq(rd.sum[0], overflows);
	control.ctr[0].ireset = -2;
	ck_assert_int_eq(try_control(overflow_fd, &control), -EINVAL);
}
END_TEST

int main(void)
{
	guest_begin("p4", NULL);
	if (!is_p4() || guest.shared)
		return guest_end();
	GUEST_RUN(each_counter, LOG_SILENT | AS_USER);
	GUEST_RUN(all_at_once, LOG_SILENT);
	GUEST_RUN(bad_input, LOG_SILENT | AS_USER);
	GUEST_RUN(filters, LOG_SILENT | AS_USER);
	GUEST_RUN(replay_tagging, LOG_SILENT | AS_USER);
	GUEST_RUN(cascade, LOG_SILENT | AS_USER);
	GUEST_RUN(extended_cascade, LOG_SILENT | AS_USER);
	GUEST_RUN(session_with_cascades, LOG_SILENT);
	GUEST_RUN(each_event_interrupts, LOG_SILENT | AS_USER);
	if (has_hyperthreads())
		p4_threads();
	return guest_end();
}
