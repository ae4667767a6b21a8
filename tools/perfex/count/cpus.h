/* SPDX-License-Identifier: GPL-2.0 */
/* -a and -C: counters of CPUs. */
#ifndef PERFEX_CPUS_H
#define PERFEX_CPUS_H

#include "count/counts.h"
#include "count/how.h"

/**
 * struct cpu_counts - what one CPU counted
 * @lost: its counts end before the run does
 */
struct cpu_counts {
	unsigned int cpu;
	bool online;
	bool lost;
	uint64_t clock;
	uint64_t sum[PERFCTR_MAX_CTRS];
};

/* The CPUs of a list such as "0,2-3". False: it has told why not. */
bool cpus_parse(const char *list, struct how *how);
/* All CPUs that are online. False: it has told why not. */
bool cpus_all(struct how *how);
/* Counts them. False: @run says why not. */
bool cpus_begin(const struct events *events, const struct how *how, struct run *run);
void cpus_stop(void);
void cpus_end(const struct how *how);
/* Reads all CPUs; their total becomes the sums of @run. */
void cpus_read(const struct how *how, struct run *run);
/* What was read last is where the next interval begins. */
void cpus_interval_ends(const struct how *how);
/* Of the CPU of index @i: as it was read last, and as the interval began */
const struct cpu_counts *cpus_counts(unsigned int i);
const struct cpu_counts *cpus_before(unsigned int i);

#endif /* PERFEX_CPUS_H */
