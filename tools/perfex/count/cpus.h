/* SPDX-License-Identifier: GPL-2.0 */
/* Counts CPUs, for -a and -C. */
#ifndef PERFEX_CPUS_H
#define PERFEX_CPUS_H

#include "count/counts.h"
#include "count/how.h"

/**
 * struct cpu_counts - what one CPU counted
 * @lost: its counts stopped before the end of the run
 */
struct cpu_counts {
	unsigned int cpu;
	bool online;
	bool lost;
	uint64_t clock;
	uint64_t sum[PERFCTR_MAX_CTRS];
};

/*
 * Adds the CPUs of a list such as "0,2-3" to @how. Returns true, or false after printing why not.
 */
bool cpus_parse(const char *list, struct how *how);
/* Adds all CPUs that are online to @how. Returns true, or false after printing why not. */
bool cpus_all(struct how *how);
/* Begins to count the CPUs of @how. Returns true, or false with the reason in @run. */
bool cpus_begin(const struct events *events, const struct how *how, struct run *run);
void cpus_stop(void);
void cpus_end(const struct how *how);
/* Reads all CPUs. The sums of @run become their total. */
void cpus_read(const struct how *how, struct run *run);
/* Begins the next interval at the counts that were read last. */
void cpus_interval_ends(const struct how *how);
/* Return the counts of the CPU of index @i at the last read, and when the interval began. */
const struct cpu_counts *cpus_counts(unsigned int i);
const struct cpu_counts *cpus_before(unsigned int i);

#endif /* PERFEX_CPUS_H */
