/* SPDX-License-Identifier: GPL-2.0 */
/* Copies the ring to a file while the program runs, for perfex record. */
#ifndef PERFEX_RECORDING_H
#define PERFEX_RECORDING_H

#include "count/counts.h"
#include "count/how.h"

/**
 * struct recording - the options of a recording, and its state
 * @path: the name of the file
 * @period: events between samples; 0: samples by time
 * @timer_ns: time between samples; 0: samples by events
 * @pages: number of pages of the ring
 * @pages_chosen: the user chose @pages, so a smaller ring is not tried
 * @chains: record the callers of each sample
 * @signals: the descriptor from signals_fd()
 * @error: errno of the first failure to write the file, or 0
 */
struct recording {
	const char *path;
	unsigned int period;
	uint64_t timer_ns;
	unsigned int pages;
	bool pages_chosen;
	bool chains;
	int signals;
	struct recfile *file;
	struct vperfctr_ring *ring;
	unsigned long long samples, throttled;
	int error;
};

/*
 * Checks, before anything runs, that the file can be written. Returns true, or false after printing
 * why not.
 */
bool recording_can_write(const struct how *how);
/*
 * Makes the ring, in the thread that opens the counters. Returns true, or false with the reason in
 * @run.
 */
bool recording_make_ring(int fd, const struct how *how, struct run *run);
/* Begins the file, once the counters run. Returns true, or false after printing why not. */
bool recording_begin(const struct perfctr_info *info, const struct events *events,
		     const struct how *how, const struct run *run, char **argv);
/*
 * Waits until there are records, a signal comes or a process ends, and copies the records. Returns
 * true if a signal asked perfex to end.
 */
bool recording_wait(const struct how *how, const struct run *run);
/* Ends the file. Returns true, or false after printing why the file is not complete. */
bool recording_end(const struct how *how);

#endif /* PERFEX_RECORDING_H */
