// SPDX-License-Identifier: GPL-2.0
/* Programs the counters of the calling thread, or finds out why that fails. */
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "count/exact.h"
#include "record/recording.h"
#include "run/control.h"

static unsigned int control_flags(const struct how *how)
{
	unsigned int flags = PERFCTR_CONTROL_ON_EXEC | (how->raw_csr ? PERFCTR_CONTROL_RAW : 0);

	if (how->self)
		return flags;
	return flags | PERFCTR_CONTROL_INHERIT |
	       (how->per_thread ? PERFCTR_CONTROL_KEEP : 0);
}

/*
 * Programs the @n events from index @first on. Returns 0, or -1 with errno; @c then says what was
 * refused.
 */
static int control(int fd, const struct events *events, unsigned int first, unsigned int n,
		   bool user_only, const struct how *how, struct perfctr_control *c)
{
	unsigned int i;

	*c = (struct perfctr_control){
		PERFCTR_CONTROL_INIT,
		.flags = control_flags(how),
		.source = how->source,
		.tsc_on = 1,
		.nractrs = n,
	};
	/* A trial of only a part of the events needs no ring. */
	if (how->recording && first + n == events->n) {
		c->flags |= PERFCTR_CONTROL_RECORD;
		c->timer_ns = how->recording->timer_ns;
	}
	for (i = 0; i < n; i++) {
		const struct event *event = &events->event[first + i];

		c->ctr[i] = event->ctr;
		if (event->modifier)
			continue;
		c->ctr[i].flags |= PERFCTR_CTR_USER;
		if (!user_only)
			c->ctr[i].flags |= PERFCTR_CTR_KERNEL;
	}
	if (c->flags & PERFCTR_CONTROL_RECORD && how->recording->period && n) {
		c->nractrs--;
		c->nrictrs++;
		c->ctr[n - 1].ireset = -(int64_t)how->recording->period;
	}
	exact_control(how, c);
	return _vperfctr_control_native(fd, c);
}

/*
 * Returns the index of the event to blame, or -1 if each event can be counted, but not all
 * together. If other users have the counters, the event that was refused is to blame. Otherwise an
 * event that cannot be counted even alone is to blame.
 */
static int bad_event(int fd, const struct events *events, const struct how *how,
		     const struct run *run, unsigned int refused)
{
	struct perfctr_control alone;

	if (refused >= events->n)
		return -1;
	if (run->error != EBUSY &&
	    (!control(fd, events, refused, 1, run->user_only, how, &alone) ||
	     errno != run->error))
		return -1;
	return (int)refused;
}

/* Returns the source that was chosen for PERFCTR_SOURCE_ANY. */
static unsigned int chosen_source(int fd)
{
	struct perfctr_control c;

	return _vperfctr_read_control_native(fd, &c) < 0 ? PERFCTR_SOURCE_NATIVE : c.source;
}

/*
 * Counts events without a modifier in both modes if that is allowed. Otherwise all of them are
 * counted in user mode, and @user_only is set.
 */
static int control_all(int fd, const struct events *events, const struct how *how, bool *user_only,
		       struct perfctr_control *c)
{
	*user_only = false;
	if (!control(fd, events, 0, events->n, false, how, c))
		return 0;
	if (errno != EACCES)
		return -1;
	*user_only = true;
	return control(fd, events, 0, events->n, true, how, c);
}

/* Counts the usual events without the event to blame. */
static bool control_others(int fd, const struct events *events, const struct how *how,
			   struct run *run)
{
	struct perfctr_control c;
	struct events others;

	if (!events_without(events, run->bad_event, &others))
		return false;
	run->left_out = 1u << run->bad_event;
	return !control_all(fd, &others, how, &run->user_only, &c);
}

/*
 * Counts the usual events that can be counted, or else only the clock. Returns false if other users
 * have the counters now, or if the program would have to be bound to some of the CPUs to be
 * counted.
 */
static bool program(int fd, const struct events *events, const struct how *how,
		    struct run *run)
{
	struct perfctr_control c;

	run->stage = STAGE_CONTROL;
	if (!control_all(fd, events, how, &run->user_only, &c))
		return true;
	run->error = errno;
	run->owner = c.owner;
	run->reason = c.reason;
	run->refused = c.refused;
	run->possible = c.possible;
	run->bad_event = bad_event(fd, events, how, run, c.refused);
	if (events->chosen || run->error == EBUSY || run->error == EXDEV)
		return false;
	if (control_others(fd, events, how, run))
		return true;
	run->left_out = (1u << events->n) - 1;
	return !control(fd, events, events->n, 0, false, how, &c);
}

bool can_be_counted(const struct events *events, const struct how *how)
{
	struct perfctr_control c;
	int fd = _vperfctr_open(1);
	bool good, user_only;

	/* If the device cannot be opened, the run will print why. */
	if (fd < 0)
		return true;
	good = !control_all(fd, events, how, &user_only, &c);
	(void)ioctl(fd, PERFCTR_IOC_UNLINK);
	close(fd);
	return good;
}

bool control_program(int fd, const struct events *events, const struct how *how,
		     struct run *run)
{
	bool good = program(fd, events, how, run);

	if (good)
		run->source = chosen_source(fd);
	return good;
}
