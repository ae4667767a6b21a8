/* SPDX-License-Identifier: GPL-2.0 */
/* The events that the user asked for. */
#ifndef PERFEX_EVENTS_H
#define PERFEX_EVENTS_H

#include <stdbool.h>

#include <libperfctr.h>

/* The flags of a counter that say in which mode it counts */
#define MODES	((unsigned int)(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL))

/**
 * struct event - one event
 * @name: as the user wrote it, without its modifier
 * @ctr: what it is for the kernel
 * @modifier: the user wrote in which mode to count
 */
struct event {
	char name[128];
	struct perfctr_ctr_control ctr;
	bool modifier;
};

/**
 * struct events - the events of a run
 * @chosen: by the user; else they are usual_events()
 */
struct events {
	struct event event[PERFCTR_MAX_CTRS];
	unsigned int n;
	bool chosen;
};

#endif /* PERFEX_EVENTS_H */
