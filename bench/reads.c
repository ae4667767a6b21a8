// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what it costs to read one count in user mode, a snapshot, and counts through the kernel;
 * and what it costs to open, control and close.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <libperfctr.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit/perfside.h"

#define READS 20000
#define CALLS 1000
#define OPENS 8000

/* Makes the compiler compute the value, though nothing uses it. */
#define consume(value) __asm__ volatile ("" : : "r" (value))

/* Returns the time of @n executions of @statement. */
#define TIME(n, statement) ({						\
	uint64_t began_ = now_ns();					\
	unsigned long i_;						\
									\
	for (i_ = 0; i_ < (n); i_++) {					\
		statement;						\
	}								\
	(double)(now_ns() - began_);					\
})

/*
 * Returns the shortest of many times, each of which is shorter than the time between two interrupts
 * of the timer.
 */
#define LEAST_TIME(n, statement) ({					\
	double least_ = TIME(n, statement);				\
	unsigned int k_;						\
									\
	for (k_ = 0; k_ < 20; k_++) {					\
		double once_ = TIME(n, statement);			\
									\
		if (once_ < least_)					\
			least_ = once_;					\
	}								\
	least_;								\
})

/* Returns the cost of one @statement, without the loop around it. */
#define LEAST(n, statement)						\
	((LEAST_TIME(n, statement) -					\
	  LEAST_TIME(n, __asm__ volatile ("" : : : "memory"))) / (double)(n))

/*
 * Returns the mean time of a statement with all that it causes later. The loop does not matter
 * here.
 */
#define MEAN(n, statement)	(TIME(n, statement) / (double)(n))

#if defined(__riscv)

/*
 * Reads the register that perf's user page names, by a table of instructions. The number of the
 * register is not known when this is compiled, and a table is the shortest way.
 */
__asm__(".text\n\t.balign 8\n\t.option push\n\t.option norvc\n"
	"bench_csrs:\n\t"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,"
		"16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
	"csrr t1, 0xc00 + \\n\n\t"
	"jr t0\n\t"
	".endr\n\t"
	".option pop\n");

static inline uint64_t read_pmc(unsigned long n)
{
	register uint64_t value __asm__("t1");

	__asm__ volatile ("lla t2, bench_csrs\n\t"
			  "add t2, t2, %1\n\t"
			  "jalr t0, t2" : "=r" (value) : "r" (n * 8) : "t0", "t2");
	return value;
}

#elif defined(__powerpc__)

/* On PowerPC, perf's page never says that user mode may read a counter. */
static inline uint64_t read_pmc(unsigned long n)
{
	(void)n;
	die("perf's page");
}

#elif defined(__aarch64__)

/* perf lets user mode read only if kernel.perf_user_access is set, which it is not. */
static inline uint64_t read_pmc(unsigned long n)
{
	(void)n;
	die("kernel.perf_user_access");
}

#else

static inline uint64_t read_pmc(unsigned long n)
{
	uint32_t low, high;

	__asm__ volatile ("rdpmc" : "=a" (low), "=d" (high) : "c" ((uint32_t)n));
	return (uint64_t)high << 32 | low;
}

#endif

/* Reads a count as the comment above struct perf_event_mmap_page says, but without the times. */
static inline uint64_t perf_user_read(const volatile struct perf_event_mmap_page *page)
{
	uint32_t seq, index;
	int64_t count, pmc;

	do {
		seq = page->lock;
		__asm__ volatile ("" : : : "memory");
		index = page->index;
		count = page->offset;
		if (page->cap_user_rdpmc && index) {
			pmc = (int64_t)read_pmc(index - 1);
			pmc <<= 64 - page->pmc_width;
			pmc >>= 64 - page->pmc_width;
			count += pmc;
		}
		__asm__ volatile ("" : : : "memory");
	} while (page->lock != seq);
	return (uint64_t)count;
}

struct reading {
	struct counting counting;
	struct vperfctr *v;
};

static struct reading reading_begin(enum side side, unsigned int counters, bool map)
{
	struct setup setup = { .side = side, .counters = counters, .map = map };
	struct reading reading;

	counting_begin(&reading.counting, &setup);
	reading.v = NULL;
	if (side == PERFCTR) {
		reading.v = vperfctr_open_mode(0);
		if (!reading.v)
			die("vperfctr_open_mode");
		/* Wait for a switch with the page mapped, after which nothing changes any more. */
		usleep(1000);
	}
	return reading;
}

static void reading_end(struct reading *reading)
{
	if (reading->v)
		vperfctr_close(reading->v);
	counting_end(&reading->counting);
}

/* --- one count in user mode --- */

static double perfctr_user_read(const void *arg)
{
	const struct reading *reading = arg;
	const struct vperfctr *v = reading->v;
	unsigned int last = reading->counting.setup.counters - 1;

	/* In real programs the place of a counter in its control is a constant. */
	switch (last) {
	case 0:
		return LEAST(READS, consume(vperfctr_read_pmc(v, 0)));
	case 1:
		return LEAST(READS, consume(vperfctr_read_pmc(v, 1)));
	case 2:
		return LEAST(READS, consume(vperfctr_read_pmc(v, 2)));
	default:
		return LEAST(READS, consume(vperfctr_read_pmc(v, 3)));
	}
}

static double perf_user_read_cost(const void *arg)
{
	const struct reading *reading = arg;
	const struct perf_event_mmap_page *page =
		reading->counting.perf_pages[reading->counting.setup.counters - 1];

	return LEAST(READS, consume(perf_user_read(page)));
}

#if defined(__riscv)

/*
 * Begins to count by cycle and instret. That needs privilege on a machine that cannot restrict them
 * to user mode.
 */
static struct reading fixed_begin(void)
{
	struct perfctr_info info;
	struct perfctr_control control;
	struct reading reading;
	unsigned int i, flags = PERFCTR_CTR_USER;

	memset(&reading, 0, sizeof(reading));
	reading.v = vperfctr_open();
	if (!reading.v || vperfctr_info(reading.v, &info))
		die("vperfctr_open");
	if (!(info.cpu_features & PERFCTR_FEATURE_FILTER_FIXED))
		flags |= PERFCTR_CTR_KERNEL;
	control = (struct perfctr_control){ PERFCTR_CONTROL_INIT };
	control.nractrs = 2;
	for (i = 0; i < 2; i++) {
		control.ctr[i].map = 2 * i;	/* cycle is counter 0, instret 2 */
		control.ctr[i].event = i ? EV_INSTRUCTIONS : EV_CYCLES;
		control.ctr[i].flags = flags;
	}
	if (vperfctr_control_native(reading.v, &control))
		die("fixed counters");
	return reading;
}

static double perfctr_fixed_read(const void *arg)
{
	const struct reading *reading = arg;
	const struct vperfctr *v = reading->v;

	return LEAST(READS, consume(vperfctr_read_instret(v)));
}

static void fixed_reads(void)
{
	struct reading reading = fixed_begin();
	double perfctr = settled(perfctr_fixed_read, &reading);

	vperfctr_unlink(reading.v);
	vperfctr_close(reading.v);
	report("user_read_fixed", 1, perfctr, NONE, 10, "insn");
}

#else

/* Measures nothing, as fixed counters are read like all others on these processors. */
static void fixed_reads(void)
{
}

#endif

static bool perf_is_readable(const struct reading *reading)
{
	const struct perf_event_mmap_page *page = reading->counting.perf_pages[0];

	return page->cap_user_rdpmc;
}

static void user_reads(void)
{
	unsigned int n;

	for (n = 1; n <= bench_counters; n++) {
		struct reading ours = reading_begin(PERFCTR, n, true);
		double perfctr = NONE, perf;
		struct reading theirs;

		if (is_readable(&ours.counting))
			perfctr = settled(perfctr_user_read, &ours);
		reading_end(&ours);
		theirs = reading_begin(PERF, n, true);
		perf = perf_is_readable(&theirs) ? settled(perf_user_read_cost, &theirs) : NONE;
		reading_end(&theirs);
		report("user_read", n, perfctr, perf, RISCV_X86(16, 12), "insn");
	}
}

/* --- all counts at once --- */

static double perfctr_snapshot(const void *arg)
{
	const struct reading *reading = arg;
	const struct vperfctr *v = reading->v;
	struct perfctr_sum_ctrs sum;

	switch (reading->counting.setup.counters) {
	case 1:
		return LEAST(READS, vperfctr_snapshot(v, &sum, 1); consume(&sum));
	case 2:
		return LEAST(READS, vperfctr_snapshot(v, &sum, 2); consume(&sum));
	case 3:
		return LEAST(READS, vperfctr_snapshot(v, &sum, 3); consume(&sum));
	default:
		return LEAST(READS, vperfctr_snapshot(v, &sum, 4); consume(&sum));
	}
}

/* Reads each counter once. The counts are not consistent with each other. */
static double perf_snapshot(const void *arg)
{
	const struct reading *reading = arg;
	void *const *pages = reading->counting.perf_pages;
	uint64_t value[MAX_COUNTERS];

	switch (reading->counting.setup.counters) {
	case 1:
		return LEAST(READS, value[0] = perf_user_read(pages[0]); consume(value));
	case 2:
		return LEAST(READS, value[0] = perf_user_read(pages[0]);
			    value[1] = perf_user_read(pages[1]); consume(value));
	case 3:
		return LEAST(READS, value[0] = perf_user_read(pages[0]);
			    value[1] = perf_user_read(pages[1]);
			    value[2] = perf_user_read(pages[2]); consume(value));
	default:
		return LEAST(READS, value[0] = perf_user_read(pages[0]);
			    value[1] = perf_user_read(pages[1]);
			    value[2] = perf_user_read(pages[2]);
			    value[3] = perf_user_read(pages[3]); consume(value));
	}
}

/* --- through the kernel --- */

static double plain_read(const void *arg)
{
	const struct reading *reading = arg;
	int fd = reading->counting.fds[0];
	uint64_t words[MAX_COUNTERS + 3];

	return LEAST(CALLS, if (syscall(SYS_read, fd, words, sizeof(words)) <= 0)
			die("read"));
}

static double ioctl_read(const void *arg)
{
	const struct reading *reading = arg;
	int fd = reading->counting.fds[0];
	struct perfctr_read rd = { .size = sizeof(rd) };

	return LEAST(CALLS, if (ioctl(fd, PERFCTR_IOC_READ, &rd))
			die("READ"));
}

static double empty_call(const void *arg)
{
	(void)arg;
	return LEAST(CALLS, syscall(SYS_getppid));
}

/*
 * Compares the two sides. plain_read() serves both, since perf's group leader reads the whole
 * group.
 */
static void compare(const char *metric, measure_fn *ours, measure_fn *theirs, bool map,
		    const double *bounds)
{
	unsigned int n;

	for (n = 1; n <= bench_counters; n++) {
		struct reading reading = reading_begin(PERFCTR, n, map);
		double perfctr = NONE, perf = NONE;

		if (!map || is_readable(&reading.counting))
			perfctr = settled(ours, &reading);
		reading_end(&reading);
		if (theirs) {
			reading = reading_begin(PERF, n, map);
			if (!map || perf_is_readable(&reading))
				perf = settled(theirs, &reading);
			reading_end(&reading);
		}
		report(metric, n, perfctr, perf, bounds ? bounds[n - 1] : NONE, "insn");
	}
}

/* --- open, control, close --- */

struct neighbour {
	struct setup setup;
	pthread_t thread;
	volatile bool ready;
	volatile bool stop;
};

static void *neighbour_run(void *arg)
{
	struct neighbour *neighbour = arg;
	struct counting counting;

	counting_begin(&counting, &neighbour->setup);
	neighbour->ready = true;
	while (!neighbour->stop)
		usleep(20000);
	counting_end(&counting);
	return NULL;
}

static double open_close_cost(const void *arg)
{
	const struct setup *setup = arg;
	struct counting counting;

	return MEAN(OPENS, counting_begin(&counting, setup); counting_end(&counting));
}

/*
 * The following functions measure the parts of perfctr's cost: the device file alone, the device
 * file with a state, and what CONTROL adds.
 */
static double open_device_cost(const void *arg)
{
	(void)arg;
	return MEAN(OPENS, close(open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC)));
}

static double make_state_cost(const void *arg)
{
	struct perfctr_open open_arg = { .size = sizeof(open_arg), .flags = PERFCTR_OPEN_CREAT };
	int fd;

	(void)arg;
	return MEAN(OPENS, fd = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC);
		    ioctl(fd, PERFCTR_IOC_OPEN, &open_arg);
		    ioctl(fd, PERFCTR_IOC_UNLINK); close(fd));
}

static double control_cost(const void *arg)
{
	const struct reading *reading = arg;
	struct perfctr_control control = { PERFCTR_CONTROL_INIT };
	int fd = reading->counting.fds[0];

	if (ioctl(fd, PERFCTR_IOC_READ_CONTROL, &control))
		die("READ_CONTROL");
	control.size = offsetof(struct perfctr_control, ctr) +
		       control.nractrs * sizeof(control.ctr[0]);
	return MEAN(OPENS, ioctl(fd, PERFCTR_IOC_CONTROL, &control));
}

static void open_close_parts(void)
{
	struct reading reading;

	report("open_close_device", 0, settled(open_device_cost, NULL), NONE, NONE, "insn");
	report("open_close_state", 0, settled(make_state_cost, NULL), NONE, NONE, "insn");
	reading = reading_begin(PERFCTR, bench_counters, false);
	report("open_close_control", bench_counters, settled(control_cost, &reading), NONE, NONE,
	       "insn");
	reading_end(&reading);
}

/*
 * Measures opening and closing while another thread counts, with the same control or with another
 * one.
 */
static double open_close(enum side side, unsigned int counters, bool other)
{
	struct neighbour neighbour = {
		.setup = { .side = side, .counters = counters, .kernel = other },
	};
	struct setup setup = { .side = side, .counters = counters };
	double cost;

	if (pthread_create(&neighbour.thread, NULL, neighbour_run, &neighbour))
		die("pthread_create");
	while (!neighbour.ready)
		usleep(1000);
	/* The cost includes what soft interrupts free later, so it is a mean with some noise. */
	cost = settled_within(open_close_cost, &setup, 0.001);
	neighbour.stop = true;
	pthread_join(neighbour.thread, NULL);
	return cost;
}

static void opens(const char *metric, bool other, double bound)
{
	unsigned int n;

	for (n = 1; n <= bench_counters; n++)
		report(metric, n, open_close(PERFCTR, n, other), open_close(PERF, n, other),
		       bound, "insn");
}

static double open_close_alone(enum side side, unsigned int counters)
{
	struct setup setup = { .side = side, .counters = counters };

	return settled_within(open_close_cost, &setup, 0.001);
}

/*
 * Measures the same as open_close(), but without privilege. Each control then checks who could read
 * perf's counters.
 */
static double open_close_as_user(unsigned int counters)
{
	volatile double *cost = shared_alloc(sizeof(*cost));
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		become(UID_USER);
		*cost = open_close(PERFCTR, counters, false);
		_exit(0);
	}
	await_child(pid);
	return *cost;
}

void reads_shared(void)
{
	static const double bounds[MAX_COUNTERS] = { NONE, NONE, NONE, 900 };
	unsigned int n;

	compare("kernel_read_shared", plain_read, plain_read, false, bounds);
	opens("open_close_shared", false, 18000);
	write_setting("/proc/sys/kernel/perf_event_paranoid", "3");
	for (n = 1; n <= bench_user_counters; n++)
		report("open_close_shared_user", n, open_close_as_user(n), NONE, 18000, "insn");
	/* No other thread counts here, so perf's events are made and released each time. */
	for (n = 1; n <= bench_counters; n++)
		report("open_close_shared_first", n, open_close_alone(PERFCTR, n),
		       open_close_alone(PERF, n), NONE, "insn");
}

#if defined(__x86_64__) || defined(__i386__)

static uint64_t rdpmc(uint32_t operand)
{
	uint32_t low, high;

	__asm__ volatile ("rdpmc" : "=a" (low), "=d" (high) : "c" (operand));
	return (uint64_t)high << 32 | low;
}

/*
 * Reads metrics as the example in Linux's documentation does, which nothing protects from a switch
 * in between.
 */
static double perf_topdown(const void *unused)
{
	uint64_t slots, metrics, value[TOPDOWN_COUNTERS];
	unsigned int i;

	(void)unused;
	return LEAST(READS, slots = rdpmc(0x40000003); metrics = rdpmc(0x20000000);
		     value[0] = slots;
		     for (i = 1; i < TOPDOWN_COUNTERS; i++)
			     value[i] = (metrics >> 8 * (i - 1) & 255) * slots;
		     consume(value));
}

static double perfctr_topdown(const void *arg)
{
	const struct reading *reading = arg;
	struct perfctr_topdown topdown;

	return LEAST(READS, vperfctr_read_topdown(reading->v, &topdown); consume(&topdown));
}

/* Measures reads of SLOTS and the metrics of level 1, in user mode and by read(2). */
static void topdown_reads(void)
{
	struct setup setup = { .counters = TOPDOWN_COUNTERS, .map = true, .topdown = true };
	double user[2], kernel[2];
	struct reading reading = { .v = NULL };

	setup.side = PERFCTR;
	counting_begin(&reading.counting, &setup);
	reading.v = vperfctr_open_mode(0);
	if (!reading.v)
		die("vperfctr_open_mode");
	usleep(1000);
	user[0] = is_readable(&reading.counting) ? settled(perfctr_topdown, &reading) : NONE;
	kernel[0] = settled(plain_read, &reading);
	reading_end(&reading);
	setup.side = PERF;
	reading.v = NULL;
	counting_begin(&reading.counting, &setup);
	user[1] = perf_is_readable(&reading) ? settled(perf_topdown, NULL) : NONE;
	kernel[1] = settled(plain_read, &reading);
	reading_end(&reading);
	report("user_read_topdown", TOPDOWN_COUNTERS, user[0], user[1], NONE, "insn");
	report("kernel_read_topdown", TOPDOWN_COUNTERS, kernel[0], kernel[1], NONE, "insn");
}

#else

static void topdown_reads(void)
{
}

#endif

void bench_reads(void)
{
	static const double snapshot_bounds[MAX_COUNTERS] = { NONE, NONE, NONE, 60 };
	static const double kernel_bounds[MAX_COUNTERS] = {
		NONE, NONE, NONE, RISCV_X86(900, NONE),
	};
	double empty;

	user_reads();
	fixed_reads();
	compare("snapshot", perfctr_snapshot, perf_snapshot, true, snapshot_bounds);
	empty = settled(empty_call, NULL);
	report("empty_system_call", 0, empty, empty, NONE, "insn");
	compare("kernel_read", plain_read, plain_read, false, kernel_bounds);
	compare("kernel_read_ioctl", ioctl_read, NULL, false, NULL);
	if (has_topdown())
		topdown_reads();
	opens("open_close", false, RISCV_X86(18000, NONE));
	opens("open_close_other_control", true, RISCV_X86(18000, NONE));
	open_close_parts();
}
