/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declares what the parts of the bench share. The bench runs in a guest whose clock is QEMU's
 * instruction counter. So a nanosecond is an instruction, of user, kernel and firmware together.
 */
#ifndef PERFCTR_BENCH_H
#define PERFCTR_BENCH_H

#include <pthread.h>
#include <assert.h>
#include <linux/perfctr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MAX_COUNTERS 4
#define NONE (-1.0)	/* there is no such figure */

#define UID_USER 1000	/* a user without privilege */

/* Selects the bound of perfctr's figure that is valid on this architecture. */
#if defined(__riscv)
#define BY_ARCH(riscv, x86, arm64, ppc32) (riscv)
#elif defined(__aarch64__)
#define BY_ARCH(riscv, x86, arm64, ppc32) (arm64)
#elif defined(__powerpc__)
#define BY_ARCH(riscv, x86, arm64, ppc32) (ppc32)
#else
#define BY_ARCH(riscv, x86, arm64, ppc32) (x86)
#endif
#define RISCV_X86(riscv, x86) BY_ARCH(riscv, x86, x86, NONE)

/* Who counts. */
enum side { NOBODY, PERFCTR, PERF };

/* What is counted, and how it is read. */
struct setup {
	enum side side;
	unsigned int counters;
	bool map;	/* the counters are mapped, so user space may read them */
	bool kernel;	/* counts kernel mode as well, so the control differs */
	bool inherit;	/* counts children as well */
	bool topdown;	/* counts TOPDOWN_COUNTERS: x86's SLOTS and the metrics of level 1 */
};

#define TOPDOWN_COUNTERS 5

/* --- counters.c: both sides count the same --- */

/* Returns true if this processor has metrics of TopDown. */
bool has_topdown(void);
/* The number of counters that are measured: as many as the processor has, up to MAX_COUNTERS. */
extern unsigned int bench_counters;
/* The number of perf's counters that a user without privilege gets. */
extern unsigned int bench_user_counters;
/* Sets the two numbers above, and chooses the events that are counted. */
void counters_find(void);
/* Fills in event @i of those that are counted, as perf takes it. */
struct perf_event_attr;
void counters_perf_event(unsigned int i, struct perf_event_attr *attr);
/* Fills in event @i of a control, also what a Pentium 4 needs in other registers. */
void counters_set_event(unsigned int i, struct perfctr_ctr_control *ctr);
/* The source by which perfctr counts: PERFCTR_SOURCE_NATIVE, except in bench_shared(). */
extern uint32_t bench_source;

/*
 * The counters of a thread, which count until it ends. perfctr has one handle, and perf one
 * descriptor for each event; the first one leads the group. The bench ends if they cannot be
 * opened.
 */
struct counting {
	struct setup setup;
	int fds[TOPDOWN_COUNTERS];
	const struct perfctr_page *page;
	void *perf_pages[TOPDOWN_COUNTERS];
};

static_assert(TOPDOWN_COUNTERS >= MAX_COUNTERS, "room for all");

void counting_begin(struct counting *counting, const struct setup *setup);
void counting_end(struct counting *counting);
/*
 * Returns true if the page shows perfctr's registers, after the thread has been switched in with
 * the page.
 */
bool is_readable(const struct counting *counting);

/*
 * Load and unload the module. It is loaded once, and unloaded only for what is measured without it.
 * It gets the parameter @param, and bench_param of the command line.
 */
void module_load(const char *param);
void module_unload(void);
extern const char *bench_param;
void set_policy(const char *policy);
void write_setting(const char *path, const char *text);

/*
 * Kinds of writes that take an x86 processor many cycles: to registers of its counters, to other
 * model-specific registers, and to CR4. The patched QEMU gives the numbers of writes so far in
 * CPUID leaf 0x40000001. They wrap around.
 */
enum write { WRMSR, WRMSR_OTHER, CR4, NR_WRITES };

void read_writes(uint32_t writes[NR_WRITES]);

/* --- measure.c: figures that can be trusted --- */

typedef double measure_fn(const void *arg);

/*
 * Calls @measure until two results in a row differ by at most AGREEMENT, and returns their mean.
 * After a bounded number of tries it returns the smallest result, and counts the figure in
 * @unsettled.
 */
double settled(measure_fn *measure, const void *arg);
/*
 * Does the same as settled(), but two results may differ by AGREEMENT or by @fraction of the
 * figure.
 */
double settled_within(measure_fn *measure, const void *arg, double fraction);
/* Returns the median of @runs results, at most 41, for a figure that differs from run to run. */
double median_of_runs(measure_fn *measure, const void *arg, unsigned int runs);
extern unsigned int unsettled;	/* number of figures that did not settle */
/*
 * The uncertainty of the figures since the last report(): the most by which two runs of a figure
 * differed, or by which settled_within() let them differ, or half the distance between the
 * quartiles of median_of_runs(). 0 if settled() found all figures.
 */
extern double uncertainty;

/* Waits until the guest has finished what it does after its boot. */
void settle_guest(void);

uint64_t now_ns(void);
/*
 * Waits until both sides have removed their hooks in the scheduler, which they keep for a while
 * after the last use.
 */
void await_hooks_gone(void);

void die(const char *what) __attribute__((noreturn));
void pin(unsigned int cpu);
void become(uid_t uid);
void *shared_alloc(size_t size);
void await_child(pid_t pid);
/* Sets a small stack, so that a process can have many threads. */
void set_small_stack(pthread_attr_t *attr);

/* --- report.c --- */

/**
 * report() - add a row to the table
 * @metric: name of the row
 * @counters: number of counters
 * @perfctr: perfctr's figure, or NONE
 * @perf: perf_events' figure, or NONE
 * @bound: what perfctr's figure must not exceed, or NONE
 */
void report(const char *metric, unsigned int counters, double perfctr, double perf,
	    double bound, const char *unit);
/* Reads the figures of this machine that were kept. Called before report_table(). */
void report_compare(const char *path, const char *machine);
void report_table(void);
void report_json(const char *path, const char *machine);

/* --- the measurements --- */

void bench_switches(void);
void bench_perf_alone(void);	/* switches.c */
void bench_reads(void);		/* reads.c */
void bench_memory(void);	/* memory.c */
void bench_forks(void);		/* forks.c */
void bench_crowds(void);	/* forks.c */
void bench_overflows(void);	/* overflows.c */
void bench_records(void);	/* records.c */
void bench_controls(void);	/* controls.c */
void bench_trees(void);		/* trees.c */
void bench_beside(void);	/* beside.c */

/*
 * The following functions measure counting through perf, and switches that the tracepoint reports.
 */
void bench_shared(void);	/* bench.c */
void switches_shared(void);
/* Needs the module loaded with by_tracepoint=1. @native: there are native counters. */
void switches_tracepoint(bool native);
void reads_shared(void);

#endif /* PERFCTR_BENCH_H */
