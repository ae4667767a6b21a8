/* SPDX-License-Identifier: GPL-2.0 */
/* Describes how to run a program, as the options say. */
#ifndef PERFEX_HOW_H
#define PERFEX_HOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <libperfctr.h>

struct plot;
struct pollfd;
struct recording;

enum {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMATS,
};

/**
 * struct how - how to run and count
 * @self: count only the program's first thread
 * @per_thread: print each thread's counts as well
 * @format: FORMAT_* of the counts
 * @raw_csr: the program may execute rdcycle and rdinstret
 * @pids: the processes of -p
 * @pidfds: descriptors of @pids, or -1 for a process that has ended. The last is signals_fd()
 * @npids: number of @pids; 0 without -p
 * @cpus: the CPUs of -a or -C
 * @ncpus: number of @cpus; 0 without -a and -C
 * @per_cpu: print each CPU's counts as well
 * @no_idle: leave out the idle task
 * @source: PERFCTR_SOURCE_*
 * @interval: milliseconds between reads during the run; 0: no reads
 * @repeat: number of runs; 1 without -r
 * @input_begin: offset at which each run begins to read stdin, or -1
 * @warm_up: number of runs to warm up, whose counts are not used
 * @pass: number of this pass, from 1; 0 without --passes
 * @passes: how many passes there are
 * @recording: the recording of perfex record, or NULL
 * @plot: the picture of --plot, or NULL
 * @exact: correct the counts of instructions in user mode
 * @correction: what exact_begin() measured for @exact
 */
struct how {
	bool self;
	bool per_thread;
	unsigned int format;
	bool raw_csr;
	pid_t *pids;
	struct pollfd *pidfds;
	unsigned int npids;
	unsigned int *cpus;
	unsigned int ncpus;
	bool per_cpu;
	bool no_idle;
	unsigned int source;
	unsigned int interval;
	unsigned int repeat;
	int64_t input_begin;
	unsigned int warm_up;
	unsigned int pass, passes;
	struct recording *recording;
	struct plot *plot;
	bool exact;
	struct vperfctr_correction correction;
};

#endif /* PERFEX_HOW_H */
