/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the files of perfex share. */
#ifndef PERFEX_H
#define PERFEX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include <libperfctr.h>

#if defined(__x86_64__) || defined(__i386__)
#define IS_X86	1
#else
#define IS_X86	0
#endif
#if defined(__powerpc__)
#define IS_PPC	1
#else
#define IS_PPC	0
#endif

#if defined(__riscv)
#define IS_RISCV	1
#else
#define IS_RISCV	0
#endif

/* perf has all counters or none, and so have we. */
#define HAS_ONE_SOURCE	(IS_X86 || IS_PPC)

#define PERFEX_VERSION	"7.0.0"

/* Where the text of --report is wanted; the makefile has the address, if the packager gave one. */
#ifndef REPORT_TO
#define REPORT_TO	"those who packaged or gave you perfctr"
#endif
#define SEND_REPORT	"Send this text to " REPORT_TO "."

/*
 * Our own exit status beside the program's, as env, nohup and timeout have it; and of wrong usage,
 * when nothing was run
 */
#define EXIT_USAGE	2
#define EXIT_NO_COUNT	123	/* instructions or cycles of a program that ran were 0 */
#define EXIT_PERFEX	125
#define EXIT_NOT_EXECUTABLE	126
#define EXIT_NOT_FOUND	127

/* Of a counter's flags: in which mode it counts */
#define MODES	((unsigned int)(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL))

struct event {
	char name[128];			/* as given, without modifier */
	struct perfctr_ctr_control ctr;
	bool modifier;			/* the user said in which mode */
};

struct events {
	struct event event[PERFCTR_MAX_CTRS];
	unsigned int n;
	bool chosen;			/* by the user; else what is usual */
};

/* perfex record: what the options say, and how far it is */
struct recording {
	const char *path;		/* of the file */
	unsigned int period;		/* of the last event; 0: samples by time */
	uint64_t timer_ns;		/* between samples by time; 0: none */
	unsigned int pages;		/* of the ring */
	bool pages_chosen;		/* by the user: it is these or none */
	bool chains;			/* who called whom */
	int signals;			/* signals_fd() */
	struct recfile *file;
	struct vperfctr_ring *ring;
	unsigned long long samples, throttled;
	int error;			/* of writing to the file, or 0 */
};

/* How the counts are written */
enum {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMATS,
};

/* What the options say of a run */
struct how {
	bool self;			/* the program's first thread only */
	bool per_thread;		/* each thread's counts as well */
	unsigned int format;		/* FORMAT_* */
	bool raw_csr;			/* rdcycle and rdinstret are legal */
	pid_t *pids;			/* of processes that run already, with -p; ... */
	struct pollfd *pidfds;		/* ... descriptors of them, -1 if ended; then signals' */
	unsigned int npids;		/* 0: a program is run, or CPUs are counted */
	unsigned int *cpus;		/* these are counted, with -a and -C */
	unsigned int ncpus;		/* 0: a program or processes are */
	bool per_cpu;			/* each CPU's counts as well */
	bool no_idle;			/* without what the idle task does */
	unsigned int source;		/* PERFCTR_SOURCE_* */
	unsigned int interval;		/* ms between reads on the way; 0: none */
	unsigned int repeat;		/* how many runs; 1 without -r */
	int64_t input_begin;		/* where each run begins to read stdin, or -1 */
	unsigned int warm_up;		/* runs before these, which are not told of */
	unsigned int pass, passes;	/* which one of how many, with --passes; else 0 */
	struct recording *recording;	/* of perfex record; else NULL */
	struct plot *plot;		/* of the intervals, with --plot; else NULL */
	bool exact;			/* instructions in user mode are corrected, ... */
	struct vperfctr_correction correction;	/* ... by this, which was measured */
};

/* What the options say of a report */
struct report_options {
	unsigned int overflows;		/* of each counter */
	unsigned int watch;		/* for so many seconds: does somebody write to registers? */
	bool hotplug;			/* a CPU may be taken off, and on again */
	bool sleep;			/* the machine may sleep */
};

/* How far the child came */
enum stage {
	STAGE_FORK,
	STAGE_OPEN,
	STAGE_RING,			/* of perfex record */
	STAGE_CONTROL,
	STAGE_EXEC,
	STAGE_TRACE,			/* of -p: the thread run.pid cannot be traced, ... */
	STAGE_ADD,			/* ... or not be counted */
	STAGE_NO_CPU,			/* of -C: there is no CPU run.refused */
	STAGE_RUNNING,
};

struct run {
	/* How it began; all but RUNNING have an error */
	enum stage stage;
	int error;
	unsigned int owner;		/* of CONTROL with EBUSY: PERFCTR_OWNER_* */
	unsigned int reason;		/* of CONTROL: PERFCTR_REASON_* */
	int bad_event;			/* of CONTROL: which one, -1: all of them together */
	unsigned int refused;		/* of these: the first that found no counter, ... */
	uint64_t possible;		/* ... though it could have these; 0: not known */
	bool user_only;			/* kernel mode was left out, not being allowed */
	bool clock_only;		/* the usual events could not be counted */
	unsigned int ring_pages;	/* of perfex record: the ring that was made, ... */
	unsigned int ring_flags;	/* ... and its PERFCTR_RING_* */
	unsigned int source;		/* of its counters, if there are any: PERFCTR_SOURCE_* */

	/* How it ended */
	int status;			/* as of wait() */
	struct timespec start, end;	/* CLOCK_MONOTONIC; the start is just before the exec */
	struct rusage usage;		/* since the start */
	bool stop;			/* a signal asked for the end */
	struct perfctr_read_tree sums;	/* of one thread as well */
	int fd;				/* the handle, or -1 */
	pid_t pid;			/* of the program's first thread; 0 if none is run */
	bool counted;			/* the sums are those of at least a part of the run */
	bool complete;			/* they are of the whole run */
	const char *why;		/* if not, why */
	uint64_t zeroes;		/* bit for each event whose count of 0 cannot be, and so is none */
	const char *why_zero;
};

/* What one CPU counted */
struct cpu_counts {
	unsigned int cpu;
	bool online;
	bool lost;			/* not to the end */
	uint64_t clock;
	uint64_t sum[PERFCTR_MAX_CTRS];
};

/* What there was when an interval began */
struct moment {
	struct perfctr_read_tree sums;
	double elapsed;
};

/* Where the counts go */
struct results {
	const char *path;		/* NULL: ... */
	FILE *standard;			/* ... this one, or stderr */
	char *target, *temporary;	/* what it is, and what is written meanwhile; or NULL */
	FILE *f;
	bool begun;			/* there are results */
	bool told;			/* on stderr too, as they could not be written */
	int error;			/* of writing, or 0 */
};

/*
 * results.c. name: what the argument of an option means; false, after it told why it means nothing.
 * open: before anything runs. file: as soon as there is something to write. written: whether it could
 * be written up to now. close: the file is there then; false, after it told why not, and where the
 * results are.
 */
bool results_name(const char *option, const char *pattern, char **name);
bool results_open(struct results *results);
FILE *results_file(struct results *results);
bool results_written(struct results *results);
bool results_close(struct results *results);

/*
 * control.c: control_program: programs the calling thread's counters for its exec; false: run says
 * why not. can_be_counted: whether it could be; the thread has no counters then.
 */
bool control_program(int fd, const struct events *events, const struct how *how,
		     struct run *run);
bool can_be_counted(const struct events *events, const struct how *how);

/* series.c: finds the counts of 0 that cannot be: @run has ended. */
void note_zeroes(const struct perfctr_info *info, const struct events *events,
		 const struct how *how, struct run *run);

/*
 * run.c: runs the program under the counters, or beside what -p counts, and tells of each interval.
 * Returns -1 if it did not start. run_end() gives back what a run has.
 */
int run_program(char **argv, struct events *events, const struct how *how,
		const struct perfctr_info *info, struct results *results, struct run *run);
void run_end(const struct how *how, struct run *run);
/* Ends as the program did, for those who look at how we ended: the exit status, if it returns */
int end_like(const struct run *run);

/*
 * input.c: what the program reads. begin: once, before any file is opened; returns -1, or the exit
 * status after it told why the runs cannot read the same. again: before each of them.
 */
int input_begin(const char *path, unsigned int runs, struct how *how);
void input_again(const struct how *how);

/*
 * recording.c: perfex record. can_write: before anything runs; false, after it told why not.
 * make_ring: by who opens the counters; false: run says why not. begin: once the counters run;
 * false, after it told why. wait: until a signal comes, or something ends; whether a signal asked
 * for the end. end: false, after it told why the file is not whole.
 */
bool recording_can_write(const struct how *how);
bool recording_make_ring(int fd, const struct how *how, struct run *run);
bool recording_begin(const struct perfctr_info *info, const struct events *events,
		     const struct how *how, const struct run *run, char **argv);
bool recording_wait(const struct how *how, const struct run *run);
bool recording_end(const struct how *how);

/*
 * attach.c: -p. parse: a list of process ids; false, after it told why. begin: counts these; false:
 * run says why. ended: all of them have. wait: at most so many milliseconds (-1: for ever) until
 * one of them ends, or a signal comes; whether that asked for the end.
 */
bool attach_parse(const char *list, struct how *how);
bool attach_begin(const struct events *events, const struct how *how, struct run *run);
bool attach_ended(const struct how *how);
bool attach_wait(const struct how *how, int64_t ms);

/*
 * cpus.c: -a and -C. parse: a list of CPUs; all: those that are online; false, after it told why.
 * begin: counts them; false: run says why. stop: at the end of the run. read: their total, as the
 * sums of the run. interval_ends: what was read last is what the next interval begins with.
 * counts, before: of the CPU of index @i, as it was read last, and as the interval began.
 */
bool cpus_parse(const char *list, struct how *how);
bool cpus_all(struct how *how);
bool cpus_begin(const struct events *events, const struct how *how, struct run *run);
void cpus_stop(void);
void cpus_end(const struct how *how);
void cpus_read(const struct how *how, struct run *run);
void cpus_interval_ends(const struct how *how);
const struct cpu_counts *cpus_counts(unsigned int i);
const struct cpu_counts *cpus_before(unsigned int i);

/*
 * signals.c: signals that are sent to perfex. signals_spare_limit(): from now on a limit on the size
 * of files (ulimit -f) is an error of write(2), and does not kill. signals_take() is called once,
 * before anything runs; signals_give_back() in the child, which gets the signals as perfex was started
 * with. signals_pass_on() waits for one signal, at most so many milliseconds (-1: for ever),
 * and sends it to the program. signals_left() drops signals that have come. Both return
 * whether a signal asked for the end. signals_fd() is readable while there are any.
 */
void signals_take(void);
void signals_spare_limit(void);
void signals_give_back(void);
bool signals_pass_on(pid_t pid, int64_t ms);
bool signals_left(void);
int signals_fd(void);

/*
 * choose.c: what options and their arguments mean. Those that return bool tell on stderr why not.
 * number: within these bounds; @what it is. usual_events: those that people want to know first.
 */
bool get_info(struct perfctr_info *info);
bool add_events(const struct perfctr_info *info, struct events *events, const char *list);
void usual_events(const struct perfctr_info *info, struct events *events);
bool topdown_events(const struct perfctr_info *info, struct events *events, unsigned int source);
bool raw_events(const struct perfctr_info *info, struct events *events);
bool number(const char *text, unsigned long least, unsigned long most, const char *what,
	    unsigned int *value);
bool source_by_name(const char *name, unsigned int *source);

/* subprogram.c: becomes perfex-report, with these words; returns the exit status if it cannot. */
int run_subprogram(char **argv);

/* report.c: on stdout */
void print_report(const struct perfctr_info *info, const struct report_options *how);
void print_info(const struct perfctr_info *info);

/* list.c: --list; names: without the module */
void print_list(const struct perfctr_info *info);
void print_names(void);

/*
 * output.c: in the form that is wanted. interval: what was counted in it, as the difference of two
 * reads of the whole run
 */
void print_run(FILE *f, char **argv, const struct perfctr_info *info,
	       const struct events *events, const struct how *how, const struct run *run);
void print_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		    const struct how *how, const struct run *run, const struct moment *before);

/* text.c: for people; json.c and csv.c: for programs, JSON with each object on a line of its own */
void text_run(FILE *f, char **argv, const struct perfctr_info *info,
	      const struct events *events, const struct how *how, const struct run *run);
void text_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		   const struct how *how, const struct run *run, const struct moment *before);
void json_run(FILE *f, char **argv, const struct perfctr_info *info,
	      const struct events *events, const struct how *how, const struct run *run);
void json_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		   const struct how *how, const struct run *run, const struct moment *before);
void csv_run(FILE *f, char **argv, const struct perfctr_info *info,
	     const struct events *events, const struct how *how, const struct run *run);
void csv_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		  const struct how *how, const struct run *run, const struct moment *before);

/* exact.c: --exact */
/* Before anything runs: false if the counts could not be corrected, and says why */
bool exact_begin(const struct perfctr_info *info, struct events *events, struct how *how);
/* The counter that counts interrupts, behind those of the events */
void exact_control(const struct how *how, struct perfctr_control *control);
/* What the kernel gave becomes what the program executed. */
void exact_correct(const struct how *how, unsigned int nrctrs, __u64 *sum);
/*
 * How many instructions were taken off each corrected count, and how many it may still be too many
 */
uint64_t exact_subtracted(const struct how *how, const struct perfctr_read_tree *sums);
uint64_t exact_excess(const struct how *how, const struct perfctr_read_tree *sums);

/* counts.c */
double elapsed(const struct run *run);
double seconds(const struct timeval *t);
unsigned int mode(const struct event *event, const struct run *run);
/* Whether it ended with another status than 0, by a signal, or with counts of a part of it */
bool went_wrong(const struct run *run);
/*
 * Whether @run decides the exit status of several: the first that went wrong, else the first with
 * a count of 0 that cannot be, else the first
 */
bool decides(bool first, const struct run *worst, const struct run *run);
/* What perfex ends with if the program ended by itself */
int exit_status(const struct run *run);
/* Whether there is a count of event i */
bool is_counted(const struct run *run, unsigned int i);
/* Root, unless it is that of -p, and descendants, as long as there are any; false at the end. */
bool next_thread(const struct run *run, char **argv, struct perfctr_member *member, bool first);
bool is_member_counted(const struct perfctr_member *member);

/*
 * topdown.c. metric_of: PERFCTR_METRIC_* of an event, or -1. shares: of the slots that were counted
 * since @before (NULL: the beginning), as perfctr_topdown_ratios(); 0 without slots and metrics
 */
int metric_of(const struct event *event);
unsigned int topdown_shares(const struct events *events, const __u64 *sum, const __u64 *before,
			    double ratio[PERFCTR_TOPDOWN_RATIOS]);

/* explain.c: tells on stderr what is wrong and what to do; or as a text without a newline */
void explain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void explain_device(int error);
void explain_event(const struct perfctr_info *info, const char *spec, int error);
void explain_missing_event(const struct perfctr_info *info, const char *name);
void explain_too_many(const struct perfctr_info *info, unsigned int n);
void explain_no_topdown(const struct perfctr_info *info, unsigned int source);
/* NULL if the module has a driver for the processor's counters; NULL if anybody has */
const char *why_no_driver(const struct perfctr_info *info);
const char *why_no_counters(const struct perfctr_info *info);
const char *why_unbound(void);
const char *why_busy(unsigned int owner, unsigned int reason);
/* EACCES with PERFCTR_REASON_OPEN */
const char *why_open(void);
/* Instructions or cycles of a program that ran are 0. */
const char *why_zero(const struct perfctr_info *info);
/* Who may count in kernel mode */
const char *which_privilege(void);
/* Why a run did not start; returns the exit status for that. */
int explain_run(const struct run *run, char **argv, const struct perfctr_info *info,
		const struct events *events, const struct how *how);

#endif /* PERFEX_H */
