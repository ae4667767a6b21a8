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
 * A meter counts the thread that opened it; a thread can have one at a time. That thread starts
 * and stops it; any thread of the process may read it, at the same time as others, or close it.
 * In a child of fork() calls fail with ECHILD; it may only close its copy. An exec ends the
 * counting.
 *
 * Calls return 0, or an error of <errno.h> as a negative number. They print nothing.
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

/* vperfctr_meter_open(): measures what begin and end cost; end takes it off. */
#define VPERFCTR_METER_NET	1u

/*
 * Opens a meter of these events, named as for perfctr_event_parse() and separated by commas. It
 * counts from now on. An event without a modifier is counted in user mode. NULL or "": only the
 * clock, which is always counted. If the call fails, *meter is good for vperfctr_strerror() and
 * vperfctr_meter_close() only, or NULL if there was no memory.
 *
 * ENOENT: no event has that name, or there is no /dev/perfctr. EINVAL: a bad modifier or number,
 * or unknown flags. EOPNOTSUPP: this processor cannot count the event, or not in that mode.
 * ENOSPC: it cannot count all of them at a time, or the user has too many different controls.
 * EEXIST: the thread is counted already. EACCES: it needs a privilege. EBUSY: others have the
 * counters. EXDEV: the processor is hybrid, and the thread is not bound to cores of one type.
 * EPROTO: the module has another version.
 */
int vperfctr_meter_open(struct vperfctr_meter **meter, const char *events, unsigned int flags);

/*
 * Opens a meter of one event, NULL: "instructions". After n of them the counters stand still and
 * the thread gets the signal, as with perfctr 2.6's i-mode counters, at the next instruction that
 * the processor has not completed: see libperfctr(3), and PERFCTR_SI_OVF. vperfctr_meter_start()
 * begins another n. Errors are as of vperfctr_meter_open(), and EINVAL: n is 0 or above 2^62, or
 * the signal cannot be sent; EOPNOTSUPP: counters do not interrupt.
 */
int vperfctr_meter_open_budget(struct vperfctr_meter **meter, const char *event,
			       unsigned long long n, int signo);

/*
 * meter may be NULL. If another thread closes it, the counted thread keeps its counters until it
 * opens its next meter, or ends.
 */
void vperfctr_meter_close(struct vperfctr_meter *meter);

/* The clock and all counters stand still; and go on. */
int vperfctr_meter_stop(struct vperfctr_meter *meter);
int vperfctr_meter_start(struct vperfctr_meter *meter);

/*
 * The clock and all counters, of one moment; counter i is event i. Counters beyond the last event
 * are not written. EIO: counting has ended, and vperfctr_strerror() says why; the sums up to then
 * are stored.
 */
int vperfctr_meter_read(const struct vperfctr_meter *meter, struct perfctr_sum_ctrs *sum);

/* What was counted between two reads */
void vperfctr_meter_difference(const struct vperfctr_meter *meter,
			       const struct perfctr_sum_ctrs *from,
			       const struct perfctr_sum_ctrs *to,
			       struct perfctr_sum_ctrs *difference);

/* The same less vperfctr_meter_cost(), but not below 0. Any two may be the same structure. */
void vperfctr_meter_net(const struct vperfctr_meter *meter, const struct perfctr_sum_ctrs *from,
			const struct perfctr_sum_ctrs *to, struct perfctr_sum_ctrs *difference);

/*
 * Begin reads. End reads again, and region becomes the difference, as by vperfctr_meter_net().
 *
 * Both are inline, and call the same function first. So a program that binds functions of shared
 * libraries at their first call does that before the region begins.
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

/* What an empty region counts, the least of many; 0 without NET */
const struct perfctr_sum_ctrs *vperfctr_meter_cost(const struct vperfctr_meter *meter);

/* The number of events; the name of event i as it was given, or NULL */
unsigned int vperfctr_meter_events(const struct vperfctr_meter *meter);
const char *vperfctr_meter_name(const struct vperfctr_meter *meter, unsigned int i);

/* Ticks of the clock as seconds; 0 if the clock's frequency is not known */
double vperfctr_meter_seconds(const struct vperfctr_meter *meter, unsigned long long ticks);

/* For vperfctr_read_pmc() and vperfctr_snapshot(); the meter still owns it. */
const struct vperfctr *vperfctr_meter_handle(const struct vperfctr_meter *meter);

/*
 * An error of these calls as a sentence, with the event, its place, or who has the counters. It is
 * valid until the meter is closed. meter may be NULL.
 */
const char *vperfctr_strerror(const struct vperfctr_meter *meter, int err);

#ifdef __cplusplus
}
#endif

#endif /* PERFCTR_METER_H */
