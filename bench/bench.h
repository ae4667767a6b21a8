/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the bench share. Runs in a guest whose clock is QEMU's
 * instruction counter, so that a nanosecond is an instruction: of user, kernel
 * and firmware together.
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

/* A bound of our figure that differs between architectures */
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

/* Who counts, if anyone */
enum side { NOBODY, PERFCTR, PERF };

/* What is counted, and how it is read */
struct setup {
	enum side side;
	unsigned int counters;
	bool map;	/* user space may read */
	bool kernel;	/* counts kernel mode as well: another control */
	bool inherit;	/* counts what is forked as well */
	bool topdown;	/* counts x86's SLOTS and the metrics of level 1: TOPDOWN_COUNTERS */
};

#define TOPDOWN_COUNTERS 5

/* --- counters.c: the two sides --- */

/* Does this processor have metrics of TopDown? */
bool has_topdown(void);
/* How many counters are measured: as many as the processor has, up to MAX_COUNTERS */
extern unsigned int bench_counters;
/* And of perf's, how many of these a user has without privilege */
extern unsigned int bench_user_counters;
/* Finds that, and which events they count. */
void counters_find(void);
/* Event @i of those that are counted, as perf has it */
struct perf_event_attr;
void counters_perf_event(unsigned int i, struct perf_event_attr *attr);
/* The same in a control, with what a Pentium 4 is told of it in other registers */
void counters_set_event(unsigned int i, struct perfctr_ctr_control *ctr);
/* By which source perfctr counts: PERFCTR_SOURCE_*; NATIVE, but in bench_shared() */
extern uint32_t bench_source;

/*
 * Counts for the calling thread until it ends. Fills in descriptors: one handle,
 * or one event each, the first of which leads the group. Fails by ending.
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
/* Whether the page, once the thread has been switched in with it, shows perfctr's registers. */
bool is_readable(const struct counting *counting);

/* The module: loaded once, unloaded for what is measured without it */
void module_load(const char *params);
void module_unload(void);
#define MODULE_PARAMS	"broadcasts=0"
void set_policy(const char *policy);
void write_setting(const char *path, const char *text);

/*
 * Writes so far that take an x86 processor many cycles: to registers of its counters, to
 * other model-specific ones, and to CR4. The patched QEMU gives them in CPUID leaf
 * 0x40000001. They wrap around.
 */
enum write { WRMSR, WRMSR_OTHER, CR4, NR_WRITES };

void read_writes(uint32_t writes[NR_WRITES]);

/* --- measure.c: a figure that can be trusted --- */

typedef double measure_fn(const void *arg);

/*
 * Calls @measure until two results in a row are within AGREEMENT of each other,
 * and returns their mean. If that does not happen in a bounded number of tries
 * it says so, and the figure is the smallest.
 */
double settled(measure_fn *measure, const void *arg);
/* The same, but two results may differ by AGREEMENT or by @fraction of the figure. */
double settled_within(measure_fn *measure, const void *arg, double fraction);
/* The median of @runs results, at most 41, for what differs from one run to the next. */
double median_of_runs(measure_fn *measure, const void *arg, unsigned int runs);
extern unsigned int unsettled;	/* how many figures did not settle */
/*
 * The most by which two runs of a figure since the last report() differed, or by which
 * settled_within() let them differ, or half of what lies between the quartiles of
 * median_of_runs(); 0 if settled() found all figures.
 */
extern double uncertainty;

/* Waits until the guest is done with what follows its boot. */
void settle_guest(void);

uint64_t now_ns(void);
/* Both sides keep their hooks in the scheduler for a while after the last use. */
void await_hooks_gone(void);

void die(const char *what) __attribute__((noreturn));
void pin(unsigned int cpu);
void become(uid_t uid);
void *shared_alloc(size_t size);
void await_child(pid_t pid);
/* Lets a process have many threads. */
void set_small_stack(pthread_attr_t *attr);

/* --- report.c --- */

/**
 * report() - take down one line
 * @metric: its name
 * @counters: how many there were
 * @perfctr: our figure, or NONE
 * @perf: perf_events' figure, or NONE
 * @bound: what ours must not exceed, or NONE
 */
void report(const char *metric, unsigned int counters, double perfctr, double perf,
	    double bound, const char *unit);
/* Reads this machine's kept figures. Before report_table() */
void report_compare(const char *path, const char *machine);
void report_table(void);
void report_json(const char *path, const char *machine);

/* --- the measurements --- */

void bench_switches(void);
void bench_perf_alone(void);	/* switches.c */
void bench_reads(void);		/* reads.c */
void bench_memory(void);	/* memory.c */
void bench_forks(void);		/* forks.c */
void bench_crowds(void);	/* likewise */
void bench_overflows(void);	/* overflows.c */
void bench_records(void);	/* records.c */
void bench_controls(void);	/* controls.c */
void bench_trees(void);		/* trees.c */

/* Counters of perf's, and switches seen by the tracepoint */
void bench_shared(void);	/* bench.c */
void switches_shared(void);
/* The module is loaded by_tracepoint=1; @native: there are native counters */
void switches_tracepoint(bool native);
void reads_shared(void);

#endif /* PERFCTR_BENCH_H */
