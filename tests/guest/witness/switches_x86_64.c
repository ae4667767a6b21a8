// SPDX-License-Identifier: GPL-2.0
/*
 * switches: what two threads that take turns on a CPU write to the registers of its counters.
 * tests/machines/switches.sh runs it, and counts in QEMU's trace.
 *
 * Each way of counting is a line on stdout: its name, the expected number of writes, the
 * number that CPUID leaf 0x40000001 gives (README.md of the machines), and the leaf's number
 * for CR4. In the trace, two reads of one register in a row, which nobody else does, mark the
 * begin and the end of the switches.
 *
 * Both are real-time threads of one priority, so that sched_yield() switches from one to the
 * other and neither is ever preempted: the numbers are exact.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"

#define TURNS 100
#define WARM_UP 10
#define FIXED 24u	/* the first fixed counter's number */
#define MSR_PERFCTR0 0xc1
#define BRANCHES 0xc4u

/* What a thread counts: by all counters, by the first two as ALL does, or by these otherwise */
enum what { NOTHING, ALL, TWO, OTHER_TWO };

/**
 * struct way - two threads
 * @other: what the second one counts
 * @first: what the first one does
 * @uid: who the second one is
 * @map: both read their registers in user mode, as far as they may
 * @turn: writes to registers of the counters in each turn, which is two switches
 * @zeroed: switches of a turn that also zero all counters, each by a write
 */
static const struct way {
	const char *name;
	enum what first, other;
	uid_t uid;
	bool map;
	unsigned int turn;
	unsigned int zeroed;
} ways[] = {
	{ "beside_one_that_does_not_count", ALL, NOTHING, 0, false, 0, 0 },
	{ "same_control", ALL, ALL, 0, false, 0, 0 },
	{ "same_control_of_a_stranger", ALL, ALL, STRANGER_UID, false, 0, 0 },
	/* Another control, but nothing else in any register */
	{ "part_of_the_control", ALL, TWO, 0, false, 0, 0 },
	/* One register of two; so that writes are seen at all, too */
	{ "another_event", TWO, OTHER_TWO, 0, false, 2, 0 },
	{ "mapped_same_user", ALL, ALL, GUEST_UID, true, 0, 0 },
	/* One stops the counters, and one starts them. */
	{ "mapped_among_strangers", ALL, NOTHING, STRANGER_UID, true, 2, 0 },
	/* Each stops and starts them, and must not see what the other's were. */
	{ "mapped_strangers", ALL, ALL, STRANGER_UID, true, 4, 2 },
};

/* Writes as CPUID counts them: to registers of the counters, and to CR4 */
struct writes {
	uint32_t wrmsr;
	uint32_t cr4;
};

struct shared {
	volatile bool ready;
	volatile bool stop;
};

static int registers;
static struct shared *shared;

static void die(const char *what)
{
	perror(what);
	_exit(EXIT_FAILURE);
}

static void count(enum what what, bool map)
{
	static const uint32_t fixed_events[] = { 0xc0, 0x3c, 0x13c };
	struct perfctr_control control;
	unsigned int i;
	int fd;

	if (what == NOTHING)
		return;
	control_init(&control);
	control.tsc_on = 1;
	if (what == ALL) {
		for (i = 0; i < guest.nprogrammable; i++)
			control_add(&control, i % 2 ? BRANCHES : EV_INSTRUCTIONS);
		for (i = 0; i < sizeof(fixed_events) / sizeof(fixed_events[0]); i++)
			if (guest.info.counters >> (FIXED + i) & 1)
				control_add_at(&control, FIXED + i, fixed_events[i],
					       PERFCTR_CTR_USER);
	} else {
		/* The driver would choose the fixed counter of instructions. */
		control_add_at(&control, 0, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
		control_add_at(&control, 1, what == TWO ? BRANCHES : EV_INSTRUCTIONS,
			       PERFCTR_CTR_USER);
	}
	fd = try_open(PERFCTR_OPEN_CREAT);
	if (fd < 0 || try_control(fd, &control))
		die("control");
	if (map && !try_map(fd))
		die("map");
}

static void yield_times(unsigned int n)
{
	while (n--)
		sched_yield();
}

static pid_t start_other(const struct way *way)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (way->uid)
		become(way->uid);
	count(way->other, way->map);
	shared->ready = true;
	while (!shared->stop)
		sched_yield();
	_exit(0);
}

static void mark(void)
{
	uint64_t value;
	int i;

	for (i = 0; i < 2; i++)
		if (pread(registers, &value, sizeof(value), MSR_PERFCTR0) != sizeof(value))
			die("RDMSR");
}

static struct writes writes_so_far(void)
{
	struct writes writes;
	uint32_t all, unused;

	__cpuid(0x40000001, writes.wrmsr, all, writes.cr4, unused);
	(void)all;
	(void)unused;
	return writes;
}

/* In a process of its own, since its threads count until they end. */
static void take_turns(const struct way *way)
{
	struct writes before, after;
	int status;
	pid_t pid = start_other(way);

	if (way->map)
		become(GUEST_UID);
	count(way->first, way->map);
	while (!shared->ready)
		sched_yield();
	yield_times(WARM_UP);
	mark();
	before = writes_so_far();
	yield_times(TURNS);
	after = writes_so_far();
	mark();
	shared->stop = true;
	if (waitpid(pid, &status, 0) != pid || status)
		die("the other thread");
	printf("switches %s %u %" PRIu32 " %" PRIu32 "\n", way->name,
	       TURNS * (way->turn + way->zeroed * guest.info.nrctrs),
	       after.wrmsr - before.wrmsr, after.cr4 - before.cr4);
	exit(EXIT_SUCCESS);
}

int main(void)
{
	unsigned int i;
	int fd, status;
	pid_t pid;

	guest_begin("switches", NULL);
	(void)write_text("/proc/sys/kernel/nmi_watchdog", "0");
	fd = open("/lib/msr.ko", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
		die("/lib/msr.ko");
	registers = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	if (registers < 0)
		die("/dev/cpu/0/msr");
	shared = shared_alloc(sizeof(*shared));
	pin_self(0);
	make_realtime();
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (ways[i].map && !(guest.info.cpu_features & PERFCTR_FEATURE_RDPMC))
			continue;
		/* Processors with fixed counters have a global control, which stops all at once. */
		if (ways[i].zeroed && !(guest.info.counters >> FIXED))
			continue;
		memset(shared, 0, sizeof(*shared));
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid)
			take_turns(&ways[i]);
		if (waitpid(pid, &status, 0) != pid || status)
			die(ways[i].name);
	}
	return guest_end();
}
