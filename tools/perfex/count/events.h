/* SPDX-License-Identifier: GPL-2.0 */
/* Describes the events that are to be counted. */
#ifndef PERFEX_EVENTS_H
#define PERFEX_EVENTS_H

#include <stdbool.h>
#include <string.h>

#include <libperfctr.h>

/* The flags of a counter that select the modes in which it counts. */
#define MODES	((unsigned int)(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL))

/**
 * struct event - one event
 * @name: the event as the user wrote it, without its modifier
 * @ctr: the event as the kernel takes it
 * @modifier: the user wrote a modifier, such as :u
 */
struct event {
	char name[128];
	struct perfctr_ctr_control ctr;
	bool modifier;
};

/**
 * struct events - the events of a run
 * @chosen: the user chose the events; otherwise usual_events() did
 * @left_out: the name of a usual event that cannot be counted here, or ""
 */
struct events {
	struct event event[PERFCTR_MAX_CTRS];
	unsigned int n;
	bool chosen;
	char left_out[sizeof(((struct event *)0)->name)];
};

/* Removes the events whose bit is set in @which. */
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

/*
 * Copies all events but the one of index @blamed to *others. Returns false if no event is blamed,
 * or if there is no other event.
 */
static inline bool events_without(const struct events *events, int blamed, struct events *others)
{
	if (blamed < 0 || events->n < 2)
		return false;
	*others = *events;
	events_leave_out(others, 1u << blamed);
	return true;
}

#endif /* PERFEX_EVENTS_H */
