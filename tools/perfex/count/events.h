/* SPDX-License-Identifier: GPL-2.0 */
/* The events that the user asked for. */
#ifndef PERFEX_EVENTS_H
#define PERFEX_EVENTS_H

#include <stdbool.h>
#include <string.h>

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
 * @left_out: the name of one of the usual events that cannot be counted here; "": each can
 */
struct events {
	struct event event[PERFCTR_MAX_CTRS];
	unsigned int n;
	bool chosen;
	char left_out[sizeof(((struct event *)0)->name)];
};

/* @which: a bit for each event */
static inline void events_leave_out(struct events *events, unsigned int which)
{
	unsigned int i, n = 0;

	for (i = 0; i < events->n; i++) {
		if (which >> i & 1)
			memcpy(events->left_out, events->event[i].name, sizeof(events->left_out));
		else
			events->event[n++] = events->event[i];
	}
	events->n = n;
}

/* *others: all but the event to blame. False: there is none to blame, or no other */
static inline bool events_without(const struct events *events, int blamed, struct events *others)
{
	if (blamed < 0 || events->n < 2)
		return false;
	*others = *events;
	events_leave_out(others, 1u << blamed);
	return true;
}

#endif /* PERFEX_EVENTS_H */
