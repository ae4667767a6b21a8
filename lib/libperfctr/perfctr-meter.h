/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Meters: events by their names, and what a piece of code costs, in five lines. Included by
 * libperfctr.h only.
 *
 *	struct vperfctr_meter *meter;
 *	struct perfctr_sum_ctrs region;
 *	int err = vperfctr_meter_open(&meter, "instructions,branch-misses", 0);
 *
 *	if (err)
 *		errx(1, "%s", vperfctr_strerror(meter, err));
 *	vperfctr_meter_begin(meter, &region);
 *	work();
 *	vperfctr_meter_end(meter, &region);
 *	printf("%llu %s\n", region.pmc[0], vperfctr_meter_name(meter, 0));
 *
 * A meter counts the thread that opened it, which has one at a time. That thread opens, starts, and stops
 * it; any thread of the process may read it, also at the same time, or close it. A child of fork()
 * has no meter: it may close its copy, and every other call fails there with ECHILD. An exec ends
 * the counting.
 *
 * Calls return 0, or an error of <errno.h> as a negative number. Nothing is printed.
 */
#ifndef PERFCTR_METER_H
#define PERFCTR_METER_H

#ifndef LIBPERFCTR_H
#error "include <libperfctr.h>"
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct vperfctr_meter;

/* vperfctr_meter_open(): measure what begin and end cost themselves, and let end take it off */
#define VPERFCTR_METER_NET	1u

/*
 * Opens a meter of these events, named as for perfctr_event_parse(), with commas between them. It
 * counts from then on. An event without a modifier is counted in user mode. NULL or "" is none: the
 * clock is always counted. If the call fails *meter is a meter for vperfctr_strerror() and
 * vperfctr_meter_close() alone, or NULL if there was no memory for one.
 *
 * ENOENT: no event has that name, or there is no /dev/perfctr; EINVAL: a bad modifier or number, or
 * flags that there are not; EOPNOTSUPP: this processor cannot count the event, or not in that mode;
 * ENOSPC: it cannot count all of them at a time, or the user has too many different controls;
 * EEXIST: the thread is counted already; EACCES: it needs a privilege; EBUSY: others have the
 * counters; EXDEV: a hybrid processor, and the thread is not bound to cores of one type; EPROTO: the
 * module is of another version.
 */
int vperfctr_meter_open(struct vperfctr_meter **meter, const char *events, unsigned int flags);

/*
 * Opens a meter of one event that stops the caller after n of them: then the counters stand still and
 * the thread gets the signal, as perfctr 2.6's i-mode counters do it, at the first
 * instruction that the processor does not complete any more: see libperfctr(3), and PERFCTR_SI_OVF.
 * event may be NULL: "instructions". vperfctr_meter_start() begins another n.
 * As vperfctr_meter_open(), and EINVAL: n is 0 or above 2^62, or the signal cannot be sent;
 * EOPNOTSUPP: there is no counter interrupt.
 */
int vperfctr_meter_open_budget(struct vperfctr_meter **meter, const char *event,
			       unsigned long long n, int signo);

/*
 * NULL is allowed. By another thread: the thread that is counted gets rid of its counters as it opens
 * its next meter, or ends.
 */
void vperfctr_meter_close(struct vperfctr_meter *meter);

/* Lets the clock and all counters stand still, and go on. */
int vperfctr_meter_stop(struct vperfctr_meter *meter);
int vperfctr_meter_start(struct vperfctr_meter *meter);

/*
 * Clock and counters, all of one moment; counter i is the event at place i. What is behind
 * the last event is not written. EIO: the counting broke off, vperfctr_strerror() says why;
 * the sums are stored, and stand still.
 */
int vperfctr_meter_read(const struct vperfctr_meter *meter, struct perfctr_sum_ctrs *sum);

/* What was counted between two reads */
void vperfctr_meter_difference(const struct vperfctr_meter *meter,
			       const struct perfctr_sum_ctrs *from,
			       const struct perfctr_sum_ctrs *to,
			       struct perfctr_sum_ctrs *difference);

/* The same; with NET less vperfctr_meter_cost(), but not below 0. Any two may be the same structure. */
void vperfctr_meter_net(const struct vperfctr_meter *meter, const struct perfctr_sum_ctrs *from,
			const struct perfctr_sum_ctrs *to, struct perfctr_sum_ctrs *difference);

/*
 * Begin is a read. End replaces it by the difference to a read of its own, as vperfctr_meter_net() has it.
 *
 * Both are inline, and call the same function first: so where a program binds a function of a shared
 * library when it first calls it, that is done before the region begins.
 */
int vperfctr_meter_begin(const struct vperfctr_meter *meter, struct perfctr_sum_ctrs *region);
int vperfctr_meter_end(const struct vperfctr_meter *meter, struct perfctr_sum_ctrs *region);

#ifndef PERFCTR_NO_INLINE
PERFCTR_INLINE int vperfctr_meter_begin(const struct vperfctr_meter *meter,
					struct perfctr_sum_ctrs *region)
{
	return vperfctr_meter_read(meter, region);
}

PERFCTR_INLINE int vperfctr_meter_end(const struct vperfctr_meter *meter,
				      struct perfctr_sum_ctrs *region)
{
	struct perfctr_sum_ctrs to;
	int err = vperfctr_meter_read(meter, &to);

	if (!err)
		vperfctr_meter_net(meter, region, &to, region);
	return err;
}
#endif

/* What an empty region counts: the least of many. 0 without NET */
const struct perfctr_sum_ctrs *vperfctr_meter_cost(const struct vperfctr_meter *meter);

/* Number of events; the name of one as it was given, or NULL if there is none at this place */
unsigned int vperfctr_meter_events(const struct vperfctr_meter *meter);
const char *vperfctr_meter_name(const struct vperfctr_meter *meter, unsigned int i);

/* Ticks of the clock as seconds; 0 if the clock's frequency is not known */
double vperfctr_meter_seconds(const struct vperfctr_meter *meter, unsigned long long ticks);

/* For the inline reads, vperfctr_read_pmc() and vperfctr_snapshot(); it belongs to the meter. */
const struct vperfctr *vperfctr_meter_handle(const struct vperfctr_meter *meter);

/*
 * What an error of these calls means here, as a sentence: it names the event, its place and who has the
 * counters, where these are to blame. It is valid until the meter is closed. meter may be NULL.
 */
const char *vperfctr_strerror(const struct vperfctr_meter *meter, int err);

#ifdef __cplusplus
}
#endif

#endif /* PERFCTR_METER_H */
