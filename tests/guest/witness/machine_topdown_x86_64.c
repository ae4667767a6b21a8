// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the machine itself, as machine_x86_64.c does: the counter of slots, and PERF_METRICS,
 * which says what they were used for (Intel's manual, volume 3: "Performance Metrics"). What
 * the emulated ones count is in tests/machines/README.md: a part of the slots that cycles,
 * instructions and branches decide, so they are counted beside and the rest follows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/loops.h"
#include "witness/machine_x86_64.h"
#include "kit/perfside.h"
#include "kit/registers.h"

#define SLOTS		0x0400u		/* perf's code of fixed counter 3 */
#define METRIC(i)	(0x8000u + 0x100u * (i))
#define MAX_METRICS	8u
#define WHOLE		255u		/* what the metrics of level 1 add up to */

#define FIXED_SLOTS	3u
#define CTRL_SLOTS	(UINT64_C(1) << 35)
#define CTRL_METRICS	(UINT64_C(1) << 48)
#define CAP_METRICS	(1u << 15)
#define FIXED_OS	1u
#define FIXED_USER	2u

static const char *const metric_names[MAX_METRICS] = {
	"retiring", "bad speculation", "frontend bound", "backend bound",
	"heavy operations", "branch mispredicts", "fetch latency", "memory bound",
};

/* What happened, as other counters say */
struct used {
	uint64_t cycles;
	uint64_t instructions;
	uint64_t branches;
};

static unsigned int metrics;	/* how many there are, 0: none at all */
static uint64_t width;		/* slots of a cycle */

static void find_topdown(void)
{
	bool wide = pmu.model == 143;

	if (pmu.fixed_counters <= FIXED_SLOTS)
		return;
	metrics = wide ? 8 : 4;
	width = wide ? 6 : 5;
}

/* The slots of each metric, before rounding, in fifths of one */
static void parts_of(const struct used *used, uint64_t *part)
{
	uint64_t c = used->cycles, i = used->instructions, b = used->branches;

	part[0] = 5 * i + 5 * b;
	part[1] = 6 * b;
	part[2] = 5 * c + 3 * b;
	part[3] = 5 * (width - 1) * c - 5 * i - 14 * b;
	part[4] = 10 * b;
	part[5] = 2 * b;
	part[6] = 3 * b;
	part[7] = 10 * c - 5 * i + b;
}

static void metrics_of(const struct used *used, uint64_t *field)
{
	uint64_t slots = 5 * width * used->cycles, part[MAX_METRICS], sum = 0, begin = 0;
	unsigned int i;

	parts_of(used, part);
	for (i = 0; i < 4; i++) {
		sum += part[i];
		field[i] = WHOLE * sum / slots - begin;
		begin += field[i];
	}
	for (; i < metrics; i++)
		field[i] = WHOLE * part[i] / slots;
}

/* The same as the register has it */
static uint64_t register_of(const struct used *used)
{
	uint64_t field[MAX_METRICS], value = 0;
	unsigned int i;

	metrics_of(used, field);
	for (i = 0; i < metrics; i++)
		value |= field[i] << 8 * i;
	return value;
}

/* --- Through perf --- */

/* A group of slots, metrics and what they are made of, in the order of their values */
struct group {
	int fd[1 + MAX_METRICS + 3];
	unsigned int n;
};

struct values {
	uint64_t n;
	uint64_t slots;
	uint64_t rest[MAX_METRICS + 3];
};

static void group_open(struct group *group)
{
	uint64_t config[1 + MAX_METRICS + 3] = { SLOTS };
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < metrics; i++)
		config[1 + i] = METRIC(i);
	config[1 + i] = pmu.cycles;
	config[2 + i] = INSTRUCTIONS;
	config[3 + i] = BRANCHES;
	group->n = 4 + metrics;
	for (i = 0; i < group->n; i++) {
		raw_attr(&attr, config[i], true);
		attr.pinned = !i;
		attr.read_format = PERF_FORMAT_GROUP;
		group->fd[i] = perf_open(&attr, 0, -1, i ? group->fd[0] : -1);
		ck_assert_msg(group->fd[i] >= 0, "perf_event_open(%#" PRIx64 "): %s", config[i],
			      strerror(errno));
	}
}

static void group_close(struct group *group)
{
	while (group->n)
		close(group->fd[--group->n]);
}

/* Differences of what is counted between two reads around the body */
static bool group_measure(const struct group *group, body_fn *body, unsigned long arg,
			  struct values *counted)
{
	size_t size = (1 + group->n) * sizeof(uint64_t);
	uint64_t words[2 * (2 + MAX_METRICS + 3)] = { 0 }, *first = words, *second;
	unsigned int i;

	second = first + 1 + group->n;
	if (exact_read(group->fd[0], words, size, body, arg) != (long)size)
		return false;
	counted->n = second[0];
	counted->slots = second[1] - first[1];
	for (i = 2; i <= group->n; i++)
		counted->rest[i - 2] = second[i] - first[i];
	return second[0] == group->n;
}

static struct used used_of(const struct values *counted)
{
	return (struct used) {
		.cycles = counted->rest[metrics],
		.instructions = counted->rest[metrics + 1],
		.branches = counted->rest[metrics + 2],
	};
}

static void measure_body(const char *what, body_fn *body, unsigned long arg, uint64_t instructions,
			 uint64_t cycles)
{
	uint64_t field[MAX_METRICS];
	struct values counted;
	struct group group;
	struct used used;
	unsigned int i;

	group_open(&group);
	/* Each read by perf starts slots and metrics from zero. */
	ck_assert(group_measure(&group, body, arg, &counted));
	ck_assert(group_measure(&group, body, arg, &counted));
	group_close(&group);
	used = used_of(&counted);
	ck_assert_uint_eq(used.instructions, instructions);
	ck_assert_uint_eq(used.cycles, cycles);
	row(what, "slots", width * cycles, counted.slots);
	metrics_of(&used, field);
	for (i = 0; i < metrics; i++)
		row(what, metric_names[i], field[i] * counted.slots / WHOLE, counted.rest[i]);
}

/* Many turns of one instruction, each of which takes a cycle; no i386 has the counter. */
body_fn body_copy;
__asm__(".text\n"
	"body_copy:\n"
#if defined(__x86_64__)
	"	mov	%rdi, %rsi\n"		/* 1 */
	"	mov	$1000, %ecx\n"		/* 2 */
	"	rep movsb\n"			/* 3 */
#endif
	"	ret\n");			/* 4 */
#define BODY_COPY	4u
#define COPY_TURNS	1000u

static char bytes[COPY_TURNS];

START_TEST(slots_and_metrics)
{
	struct body_touch_arg arg = { .n = 100 };
	uint64_t spin = BODY_SPIN(100000) + EXACT_KERNEL;
	uint64_t copy = BODY_COPY + EXACT_KERNEL;
	uint64_t yield = BODY_YIELD(1000) + EXACT_KERNEL;

	if (!metrics)
		return;
	measure_body("loop of 100,000", body_spin, 100000, spin, spin);
	measure_body("REP MOVSB, 1,000 times", body_copy, (unsigned long)bytes, copy,
		     copy + COPY_TURNS);
	measure_body("1,000 times sched_yield()", body_yield, 1000, yield, yield);
	arg.base = mmap(NULL, arg.n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	ck_assert(arg.base != MAP_FAILED);
	measure_body("stores to 100 pages", body_touch, (unsigned long)&arg,
		     BODY_TOUCH(arg.n) + EXACT_KERNEL, BODY_TOUCH(arg.n) + EXACT_KERNEL);
	munmap(arg.base, arg.n * 4096);
}
END_TEST

static uint64_t own_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/*
 * Two programs on one CPU, each of which counts for itself. Returns how often the one that
 * was switched more rarely was.
 */
static uint64_t measure_two(body_fn *body, const unsigned long *turns, struct values *counts)
{
	struct {
		atomic_int ready;
		uint64_t switches[2];
	} *both = shared_alloc(sizeof(*both));
	uint64_t seldom;
	pid_t pid[2];
	int who;

	for (who = 0; who < 2; who++) {
		pid[who] = fork();
		if (!pid[who]) {
			struct group group;
			uint64_t before;
			bool good;

			pin_self(0);
			group_open(&group);
			atomic_fetch_add(&both->ready, 1);
			while (atomic_load(&both->ready) < 2)
				sched_yield();
			before = own_switches();
			good = group_measure(&group, body, turns[who], &counts[who]);
			both->switches[who] = own_switches() - before;
			_exit(!good);
		}
	}
	for (who = 0; who < 2; who++)
		expect_exit(pid[who], 0);
	seldom = both->switches[0] < both->switches[1] ? both->switches[0] : both->switches[1];
	munmap(both, sizeof(*both));
	return seldom;
}

/*
 * At a switch perf saves slots and metrics, and writes both back when the program comes again.
 * Slots lose nothing. Of the metrics 255ths are left, which is exact as long as these do not
 * change: while a program does the same all the time.
 */
START_TEST(two_programs)
{
	static const unsigned long yields[2] = { 3000, 3300 }, spins[2] = { 15000000, 20000000 };
	struct values *counts = shared_alloc(2 * sizeof(*counts));
	uint64_t field[MAX_METRICS];
	unsigned int who, i;

	if (!metrics)
		return;
	ck_assert_uint_ge(measure_two(body_yield, yields, counts), 1000);
	for (who = 0; who < 2; who++)
		row(who ? "the other that yields" : "one of two that yield", "slots",
		    width * (BODY_YIELD(yields[who]) + EXACT_KERNEL), counts[who].slots);

	ck_assert_uint_ge(measure_two(body_spin, spins, counts), 3);
	for (who = 0; who < 2; who++) {
		const char *what = who ? "the other that spins" : "one of two that spin";
		struct used used = used_of(&counts[who]);

		row(what, "slots", width * (BODY_SPIN(spins[who]) + EXACT_KERNEL),
		    counts[who].slots);
		ck_assert_uint_eq(width * used.cycles, counts[who].slots);
		metrics_of(&used, field);
		for (i = 0; i < metrics; i++)
			row(what, metric_names[i], field[i] * counts[who].slots / WHOLE,
			    counts[who].rest[i]);
	}
	munmap(counts, 2 * sizeof(*counts));
}
END_TEST

START_TEST(sampling_slots)
{
	/* An overflow in the middle of a cycle is told behind its instruction. */
	if (metrics)
		samples(SLOTS, "slots, period of 200,006 cycles", 1025000, 200006 * width, 10);
}
END_TEST

/* RDPMC of both, by the indices that perf gives, around five instructions */
START_TEST(user_reads_of_both)
{
	const struct perf_event_mmap_page *page[2];
	uint32_t slots[2], value[2];
	struct group group;
	unsigned int i;

	if (!metrics)
		return;
	group_open(&group);
	for (i = 0; i < 2; i++) {
		page[i] = mmap(NULL, 4096, PROT_READ, MAP_SHARED, group.fd[i], 0);
		ck_assert(page[i] != MAP_FAILED);
	}
	ck_assert_uint_eq(page[0]->index - 1, 0x40000003);
	ck_assert_uint_eq(page[1]->index - 1, 0x20000000);
	for (i = 0; i < 2; i++) {
		uint32_t high;

		__asm__ volatile("rdpmc" : "=a" (value[i]), "=d" (high) : "c" (0x20000000));
		ck_assert(metrics > 4 ? high : !high);
		ck_assert_uint_eq((value[i] & 0xff) + (value[i] >> 8 & 0xff) +
				  (value[i] >> 16 & 0xff) + (value[i] >> 24), WHOLE);
		body_spin(1000);
	}
	__asm__ volatile("mov %2, %%ecx; rdpmc; mov %%eax, %%esi;"
			 "nop; nop; nop; nop; nop; mov %2, %%ecx; rdpmc"
			 : "=&S" (slots[0]), "=&a" (slots[1])
			 : "r" (0x40000003) : "ecx", "edx");
	row("two RDPMC in one block", "slots", 8 * width, slots[1] - slots[0]);
	for (i = 0; i < 2; i++)
		munmap((void *)(uintptr_t)page[i], 4096);
	group_close(&group);
}
END_TEST

/* --- The registers themselves --- */

START_TEST(registers_of_topdown)
{
	uint64_t fixed = UINT64_C(0xb000), capabilities = 0, value, now = 0;
	unsigned int bit;

	open_registers();
	if (pmu.version < 5)
		return;
	ck_assert(rdmsr(MSR_CAPABILITIES, &capabilities));
	ck_assert_uint_eq(!(capabilities & CAP_METRICS), !metrics);
	if (!metrics) {
		refused(MSR_FIXED_CTR0 + FIXED_SLOTS);
		refused(MSR_METRICS);
		reg(MSR_GLOBAL_CTRL, CTRL_METRICS, false, 0);
		reg(MSR_STATUS_RESET, CTRL_METRICS, false, 0);
		reg(MSR_STATUS_SET, CTRL_METRICS, false, 0);
		return;
	}
	reg(MSR_FIXED_CTRL, fixed, true, fixed);
	reg(MSR_FIXED_CTRL, fixed | 0x4000, false, 0);
	reg(MSR_GLOBAL_CTRL, CTRL_SLOTS | CTRL_METRICS, true, CTRL_SLOTS | CTRL_METRICS);
	for (bit = 47; bit < 50; bit += 2)
		reg(MSR_GLOBAL_CTRL, UINT64_C(1) << bit, false, 0);
	ck_assert(wrmsr(MSR_STATUS_SET, CTRL_SLOTS | CTRL_METRICS));
	ck_assert(rdmsr(MSR_STATUS, &value) && value == (CTRL_SLOTS | CTRL_METRICS));
	ck_assert(wrmsr(MSR_STATUS_RESET, CTRL_METRICS));
	ck_assert(rdmsr(MSR_STATUS, &value) && value == CTRL_SLOTS);
	ck_assert(wrmsr(MSR_STATUS_RESET, CTRL_SLOTS));
	ck_assert(rdmsr(MSR_STATUS, &value) && !value);

	/* What was saved is restored: slots first, as the metrics are parts of these. */
	value = 0x4a3b2c00 + (WHOLE - 0x4a - 0x3b - 0x2c);
	if (metrics == 8)
		value |= UINT64_C(0x010a141e) << 32;
	for (bit = 0; bit <= 48; bit += 12) {
		ck_assert(wrmsr(MSR_FIXED_CTR0 + FIXED_SLOTS, mask_of(bit)));
		ck_assert(wrmsr(MSR_METRICS, value));
		/* They are not told of a later write to slots. */
		ck_assert(wrmsr(MSR_FIXED_CTR0 + FIXED_SLOTS, 0));
		ck_assert(rdmsr(MSR_METRICS, &now));
		ck_assert_uint_eq(now, bit ? value : 0);
		ck_assert(wrmsr(MSR_METRICS, 0));
		ck_assert(rdmsr(MSR_METRICS, &now) && !now);
	}
	for (bit = 0; bit < 64; bit++) {
		value = UINT64_C(1) << bit;
		ck_assert_uint_eq(wrmsr(MSR_METRICS, value), bit < 8 * metrics);
		ck_assert(rdmsr(MSR_METRICS, &value) && !value);
	}
}
END_TEST

static void topdown_reset(uint64_t slots)
{
	ck_assert(wrmsr(MSR_GLOBAL_CTRL, 0));
	ck_assert(wrmsr(MSR_FIXED_CTR0, 0));
	ck_assert(wrmsr(MSR_FIXED_CTR0 + 1, 0));
	ck_assert(wrmsr(MSR_FULL_PMC0, 0));
	ck_assert(wrmsr(MSR_FIXED_CTR0 + FIXED_SLOTS, slots));
	ck_assert(wrmsr(MSR_METRICS, 0));
}

/* All together, in these modes (FIXED_*) */
static void topdown_start(uint64_t modes, uint64_t also)
{
	ck_assert(wrmsr(MSR_FIXED_CTRL, modes << 12 | modes << 4 | modes));
	ck_assert(wrmsr(MSR_EVNTSEL0, BRANCHES | EVNTSEL_EN |
			(modes & FIXED_USER ? EVNTSEL_USER : 0) |
			(modes & FIXED_OS ? EVNTSEL_OS : 0)));
	ck_assert(wrmsr(MSR_GLOBAL_CTRL, CTRL_SLOTS | also | UINT64_C(3) << 32 | 1));
}

static void topdown_stop(struct used *used, uint64_t *slots, uint64_t *value)
{
	ck_assert(wrmsr(MSR_GLOBAL_CTRL, 0));
	ck_assert(rdmsr(MSR_FIXED_CTR0, &used->instructions));
	ck_assert(rdmsr(MSR_FIXED_CTR0 + 1, &used->cycles));
	ck_assert(rdmsr(MSR_PMC0, &used->branches));
	ck_assert(rdmsr(MSR_FIXED_CTR0 + FIXED_SLOTS, slots));
	ck_assert(rdmsr(MSR_METRICS, value));
}

static void topdown_end(uint64_t ctrl)
{
	ck_assert(wrmsr(MSR_FIXED_CTRL, 0));
	ck_assert(wrmsr(MSR_EVNTSEL0, 0));
	ck_assert(wrmsr(MSR_STATUS_RESET, CTRL_SLOTS | CTRL_METRICS));
	topdown_reset(0);
	ck_assert(wrmsr(MSR_GLOBAL_CTRL, ctrl));
}

static void some_work(unsigned int kind)
{
	unsigned int i;

	if (kind != 1)
		body_spin(20000);
	if (kind != 2) {
		for (i = 0; i < 20; i++)
			body_copy((unsigned long)bytes);
		body_yield(20);
	}
}

/* The metrics are of the modes in which slots are counted, and of all time since the reset. */
START_TEST(modes_and_time)
{
	uint64_t ctrl = 0, modes, slots = 0, value = 0;
	struct used used = { 0 };
	unsigned int turn;

	if (!metrics)
		return;
	open_registers();
	pin_self(0);
	ck_assert(rdmsr(MSR_GLOBAL_CTRL, &ctrl));
	for (modes = FIXED_OS; modes <= (FIXED_OS | FIXED_USER); modes++) {
		topdown_reset(0);
		/* Later turns are told apart no more by the metrics' differences. */
		for (turn = 0; turn < 4; turn++) {
			topdown_start(modes, CTRL_METRICS);
			some_work(turn % 3);
			topdown_stop(&used, &slots, &value);
			ck_assert_uint_eq(slots, width * used.cycles);
			ck_assert_uint_eq(value, register_of(&used));
		}
	}
	topdown_end(ctrl);
}
END_TEST

/* Metrics that are not enabled stand still, and so they do while slots are not counted. */
START_TEST(enabling_metrics)
{
	uint64_t ctrl = 0, slots = 0, before = 0, value = 0;
	struct used used, more;

	if (!metrics)
		return;
	open_registers();
	pin_self(0);
	ck_assert(rdmsr(MSR_GLOBAL_CTRL, &ctrl));
	topdown_reset(0);
	topdown_start(FIXED_USER, CTRL_METRICS);
	body_spin(10000);
	topdown_stop(&used, &slots, &before);
	ck_assert_uint_eq(before, register_of(&used));

	topdown_start(FIXED_USER, 0);
	some_work(1);
	topdown_stop(&more, &slots, &value);
	ck_assert_uint_gt(more.cycles, used.cycles);
	ck_assert_uint_eq(slots, width * more.cycles);
	ck_assert_uint_eq(value, before);

	ck_assert(wrmsr(MSR_GLOBAL_CTRL, CTRL_METRICS));
	some_work(1);
	topdown_stop(&more, &slots, &value);
	ck_assert_uint_eq(slots, width * more.cycles);
	ck_assert_uint_eq(value, before);
	topdown_end(ctrl);
}
END_TEST

/* Both overflow at once if the metrics are of all slots; then they begin anew. */
START_TEST(overflow_of_slots)
{
	uint64_t ctrl = 0, slots = 0, value = 0, status = 0;
	struct used used;
	int both;

	if (!metrics)
		return;
	open_registers();
	pin_self(0);
	ck_assert(rdmsr(MSR_GLOBAL_CTRL, &ctrl));
	for (both = 0; both < 2; both++) {
		topdown_reset(mask_of(pmu.width) - 99);
		if (both)
			ck_assert(wrmsr(MSR_METRICS, WHOLE));
		topdown_start(FIXED_USER, CTRL_METRICS);
		body_spin(10000);
		topdown_stop(&used, &slots, &value);
		ck_assert_uint_eq(slots, width * used.cycles - 100);
		ck_assert(rdmsr(MSR_STATUS, &status));
		ck_assert_uint_eq(status, CTRL_SLOTS | (both ? CTRL_METRICS : 0));
		if (!both)
			ck_assert_uint_eq(value, register_of(&used));
		else
			ck_assert_uint_ne(value & 0xff, WHOLE);
		ck_assert(wrmsr(MSR_STATUS_RESET, status));
		ck_assert(rdmsr(MSR_STATUS, &status) && !status);
	}
	topdown_end(ctrl);
}
END_TEST

void topdown_tests(void)
{
	find_topdown();
	GUEST_RUN(registers_of_topdown, 0);
	GUEST_RUN(modes_and_time, 0);
	GUEST_RUN(enabling_metrics, 0);
	GUEST_RUN(overflow_of_slots, 0);
	GUEST_RUN(slots_and_metrics, NEED_PERF);
	GUEST_RUN(two_programs, NEED_PERF);
	GUEST_RUN(sampling_slots, NEED_PERF);
	GUEST_RUN(user_reads_of_both, NEED_PERF);
}
