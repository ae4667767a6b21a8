/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A meter, and the sentences about its errors. */
#ifndef PERFCTR_METER_INTERNAL_H
#define PERFCTR_METER_INTERNAL_H

#include <sys/types.h>

#include "internal.h"

/* The longest name of an event, with modifier and NUL */
#define METER_NAME_SIZE		128u
#define METER_SENTENCE_SIZE	512u

/*
 * The thread that opens the meter writes it before anybody else knows it. Afterwards it does not
 * change, so any thread may read it.
 */
struct vperfctr_meter {
	struct vperfctr handle;			/* first: vperfctr_meter_handle() */
	pid_t pid;				/* of the process that opened it */
	pid_t tid;				/* of the thread that is counted */
	int err;				/* why it could not be opened, or 0 */
	unsigned int flags;
	unsigned int n;				/* number of events */
	double tsc_hz;
	struct perfctr_sum_ctrs cost;
	struct perfctr_control control;
	char name[PERFCTR_NRCTRS][METER_NAME_SIZE];
	char sentence[METER_SENTENCE_SIZE];	/* why it could not be opened */
};

/*
 * Each writes the sentence and returns the error. device: OPEN or INFO failed. event: a name is
 * wrong. control: CONTROL failed, and the control tells why.
 */
perfctr_internal __attribute__((__format__(__printf__, 3, 4)))
int perfctr_meter_fail(struct vperfctr_meter *m, int err, const char *format, ...);
perfctr_internal
int perfctr_meter_fail_device(struct vperfctr_meter *m, int err);
perfctr_internal
int perfctr_meter_fail_event(struct vperfctr_meter *m, int err, const struct perfctr_info *info,
			     const char *name);
perfctr_internal
int perfctr_meter_fail_control(struct vperfctr_meter *m, int err,
			       const struct perfctr_info *info);

#endif /* PERFCTR_METER_INTERNAL_H */
