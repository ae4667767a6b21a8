/* SPDX-License-Identifier: GPL-2.0 */
/* perfex record: the ring is copied to the file while the program runs. */
#ifndef PERFEX_RECORDING_H
#define PERFEX_RECORDING_H

#include "count/counts.h"
#include "count/how.h"

/**
 * struct recording - what the options say, and how far it is
 * @path: of the file
 * @period: events between samples; 0: samples by time
 * @timer_ns: time between samples; 0: samples by events
 * @pages: of the ring
 * @pages_chosen: the user asked for so many, so no ring of fewer will do
 * @chains: note who called whom
 * @signals: signals_fd()
 * @error: errno of writing to the file, or 0
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

/* Before anything runs. False: it has told why the file cannot be written. */
bool recording_can_write(const struct how *how);
/* Whoever opens the counters makes the ring. False: @run says why not. */
bool recording_make_ring(int fd, const struct how *how, struct run *run);
/* Once the counters run. False: it has told why not. */
bool recording_begin(const struct perfctr_info *info, const struct events *events,
		     const struct how *how, const struct run *run, char **argv);
/* Until a signal comes or something ends. Whether a signal asked for the end. */
bool recording_wait(const struct how *how, const struct run *run);
/* False: it has told why the file is not whole. */
bool recording_end(const struct how *how);

#endif /* PERFEX_RECORDING_H */
