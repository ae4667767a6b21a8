/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Meters count events by their names, and tell in five lines what a piece of code costs. Only
 * libperfctr.h includes this file.
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
 * A meter counts the thread that opened it, and a thread can have one meter at a time. Only that
 * thread may start and stop the meter. Any thread of the process may read it, also at the same time
 * as other threads, or close it. In a child of fork() reads, start and stop fail with ECHILD; the
 * child may only close its copy. An exec ends the counting.
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

/* With this flag, vperfctr_meter_end() subtracts the cost of begin and end, measured at open. */
#define VPERFCTR_METER_NET	1u

/*
 * Opens a meter of these events and starts the meter. @events has names for perfctr_event_parse(),
 * separated by commas. An event without a modifier is counted in user mode. The clock is always
 * counted; NULL or "" counts the clock alone. If the call fails, *meter is good for
 * vperfctr_strerror() and vperfctr_meter_close() only, or NULL if there was no memory.
 *
 * ENOENT: no event has that name, or there is no /dev/perfctr. EINVAL: a bad modifier or number,
 * or unknown flags. EOPNOTSUPP: this processor cannot count the event, or not in that mode.
 * ENOSPC: the processor cannot count all events at a time, or the user has too many different
 * controls. EEXIST: the thread is counted already. EACCES: the caller lacks a privilege. EBUSY:
 * others have the counters. EXDEV: the processor is hybrid, and the thread is not bound to cores of
 * one type. EPROTO: the module has another version.
 */
int vperfctr_meter_open(struct vperfctr_meter **meter, const char *events, unsigned int flags);

/*
 * Opens a meter of one event (NULL means "instructions"). After @n of these events the counters
 * stand still and the thread gets the signal, at the first instruction that the processor has not
 * yet completed. See libperfctr(3), and PERFCTR_SI_OVF. vperfctr_meter_start() begins another @n
 * events. Errors are those of vperfctr_meter_open(), and EINVAL if @n is 0 or above 2^62, or if the
 * signal cannot be sent, and EOPNOTSUPP if the counters cannot interrupt.
 */
int vperfctr_meter_open_budget(struct vperfctr_meter **meter, const char *event,
			       unsigned long long n, int signo);

/*
 * Closes a meter, or does nothing with NULL. If another thread closes the meter, the counted thread
 * keeps its counters until it opens its next meter, or ends.
 */
void vperfctr_meter_close(struct vperfctr_meter *meter);

/* Stop makes the clock and all counters stand still. Start lets them go on. */
int vperfctr_meter_stop(struct vperfctr_meter *meter);
int vperfctr_meter_start(struct vperfctr_meter *meter);

/*
 * Reads the clock and all counters, of one moment. Counter i counts event i. Counters beyond the
 * last event are not written. EIO: counting has ended, and vperfctr_strerror() says why. The call
 * then stores the last sums.
 */
int vperfctr_meter_read(const struct vperfctr_meter *meter, struct perfctr_sum_ctrs *sum);

/* Stores what was counted between two reads. */
void vperfctr_meter_difference(const struct vperfctr_meter *meter,
			       const struct perfctr_sum_ctrs *from,
			       const struct perfctr_sum_ctrs *to,
			       struct perfctr_sum_ctrs *difference);

/*
 * Stores what was counted between two reads, less vperfctr_meter_cost(), but at least 0. Any two of
 * the pointers may be equal.
 */
void vperfctr_meter_net(const struct vperfctr_meter *meter, const struct perfctr_sum_ctrs *from,
			const struct perfctr_sum_ctrs *to, struct perfctr_sum_ctrs *difference);

/*
 * Begin reads into @region. End reads again, and stores the difference in @region, as
 * vperfctr_meter_net() does.
 *
 * Both are inline, and begin with a call of vperfctr_meter_read(). So a program that binds
 * functions of shared libraries at their first call binds this function before the region begins.
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

/* Returns what an empty region counts: the least of many measurements, or 0 without NET. */
const struct perfctr_sum_ctrs *vperfctr_meter_cost(const struct vperfctr_meter *meter);

/* These return the number of events, and the name of event @i as it was given, or NULL. */
unsigned int vperfctr_meter_events(const struct vperfctr_meter *meter);
const char *vperfctr_meter_name(const struct vperfctr_meter *meter, unsigned int i);

/* Returns ticks of the clock as seconds, or 0 if the clock's frequency is not known. */
double vperfctr_meter_seconds(const struct vperfctr_meter *meter, unsigned long long ticks);

/* Returns a handle for vperfctr_read_pmc() and vperfctr_snapshot(), which the meter still owns. */
const struct vperfctr *vperfctr_meter_handle(const struct vperfctr_meter *meter);

/*
 * Returns an error of these calls as a sentence, with the event, its place, or who has the
 * counters. The sentence is valid until the meter is closed. @meter may be NULL.
 */
const char *vperfctr_strerror(const struct vperfctr_meter *meter, int err);

#ifdef __cplusplus
}
#endif

#endif /* PERFCTR_METER_H */
