/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The structure of a meter, and the functions that write sentences about its errors. */
#ifndef PERFCTR_METER_INTERNAL_H
#define PERFCTR_METER_INTERNAL_H

#include <sys/types.h>

#include "internal.h"

/* The size of the longest name of an event, with modifier and NUL */
#define METER_NAME_SIZE		128u
#define METER_SENTENCE_SIZE	512u

/*
 * The thread that opens a meter fills in this structure before any other thread can see it.
 * Afterwards the structure does not change, so any thread may read it.
 */
struct vperfctr_meter {
	struct vperfctr handle;			/* of the counted thread */
	pid_t pid;				/* process that opened the meter */
	pid_t tid;				/* thread that is counted */
	int err;				/* why the open failed, or 0 */
	unsigned int flags;
	unsigned int n;				/* number of events */
	double tsc_hz;
	struct perfctr_sum_ctrs cost;
	struct perfctr_control control;
	char name[PERFCTR_NRCTRS][METER_NAME_SIZE];
	char sentence[METER_SENTENCE_SIZE];	/* why the open failed */
};

/* Writes a sentence about the error @err to the meter, and returns @err. */
perfctr_internal __attribute__((__format__(__printf__, 3, 4)))
int perfctr_meter_fail(struct vperfctr_meter *m, int err, const char *format, ...);
/* Writes the sentence about an OPEN or INFO that failed, and returns the error. */
perfctr_internal
int perfctr_meter_fail_device(struct vperfctr_meter *m, int err);
/* Writes the sentence about the name of an event that cannot be counted, and returns the error. */
perfctr_internal
int perfctr_meter_fail_event(struct vperfctr_meter *m, int err, const struct perfctr_info *info,
			     const char *name);
/* Writes the sentence about a CONTROL that refused the meter's control. Returns the error. */
perfctr_internal
int perfctr_meter_fail_control(struct vperfctr_meter *m, int err,
			       const struct perfctr_info *info);

#endif /* PERFCTR_METER_INTERNAL_H */
