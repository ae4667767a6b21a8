// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes sentences about errors of meters. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meter.h"

int perfctr_meter_fail(struct vperfctr_meter *m, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(m->sentence, sizeof(m->sentence), format, args);
	va_end(args);
	m->err = err;
	return err;
}

/*
 * Tells a missing module from a missing device. A container sees the host's modules in /sys, but
 * may lack the device.
 */
static int fail_without_device(struct vperfctr_meter *m)
{
	if (!access("/sys/module/perfctr", F_OK))
		return perfctr_meter_fail(m, -ENOENT, "the module perfctr is loaded, but there is no "
					  PERFCTR_DEVICE " here: a container must be given the device");
	return perfctr_meter_fail(m, -ENOENT, "there is no " PERFCTR_DEVICE
				  ": the module perfctr is not loaded");
}

int perfctr_meter_fail_device(struct vperfctr_meter *m, int err)
{
	switch (-err) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return fail_without_device(m);
	case EACCES:
		return perfctr_meter_fail(m, err, "this user may not open " PERFCTR_DEVICE
					  ": its owner and mode say who may");
	case EPERM:
		return perfctr_meter_fail(m, -EACCES, PERFCTR_DEVICE " may not be opened here: a "
					  "container must be given the device, and not the file alone");
	case EEXIST:
		return perfctr_meter_fail(m, err, "this thread is counted already, by another meter or "
					  "handle, or by who started it (perfex, for example)");
	case EPROTO:
	case ENOTTY:
		return perfctr_meter_fail(m, -EPROTO, PERFCTR_DEVICE
					  " is of another version of perfctr than this library");
	default:
		return perfctr_meter_fail(m, err, PERFCTR_DEVICE ": %s", strerror(-err));
	}
}

/* Writes "; similar are NAME, NAME, NAME" to @buf, or "" if there are no similar names. */
static void near_names(const struct perfctr_info *info, const char *name, char *buf, size_t size)
{
	char **names = perfctr_event_suggest(info->cpu_type, name, 3);
	size_t i, used = 0;

	*buf = '\0';
	for (i = 0; names && names[i] && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s",
					 i ? ", " : "; similar are ", names[i]);
	free((void *)names);
}

int perfctr_meter_fail_event(struct vperfctr_meter *m, int err, const struct perfctr_info *info,
			     const char *name)
{
	char similar[160];

	switch (-err) {
	case ENOENT:
		near_names(info, name, similar, sizeof(similar));
		return perfctr_meter_fail(m, err, "'%s': this processor (%s) has no event of that name%s",
					  name, perfctr_info_cpu_name(info), similar);
	case EINVAL:
		return perfctr_meter_fail(m, err, "'%s': behind an event's last colon stands u (user mode), "
					  "k (kernel mode) or uk, or a unit that the event has; a raw "
					  "event is r and up to 16 hexadecimal digits", name);
	default:
		return perfctr_meter_fail(m, err, "'%s': this processor (%s) cannot count it", name,
					  perfctr_info_cpu_name(info));
	}
}

/* Returns why a control was refused with EBUSY: its reason, or who probably has the counters. */
static const char *why_busy(const struct perfctr_control *control, char *buf, size_t size)
{
	if (control->reason)
		return perfctr_reason_name(control->reason);
	if (!control->owner)
		return "the counters are taken, and the kernel does not know by whom";
	(void)snprintf(buf, size, "the counters are taken, probably by %s%s",
		       perfctr_owner_name(control->owner),
		       control->owner == PERFCTR_OWNER_WATCHDOG ?
			       " (as root: sysctl kernel.nmi_watchdog=0)" : "");
	return buf;
}

static const char *why_denied(const struct perfctr_control *control)
{
	if (control->reason == PERFCTR_REASON_OPEN)
		return perfctr_reason_name(control->reason);
	return "counting in kernel mode needs root, CAP_PERFMON, or kernel.perf_event_paranoid of at "
	       "most 1; ':u' is user mode alone";
}

static const char *why_not_supported(const struct perfctr_control *control)
{
	if (control->reason)
		return perfctr_reason_name(control->reason);
	if (control->nrictrs)
		return "there is no counter interrupt for it on this processor";
	return "this processor cannot restrict the counter to one mode; ':uk' is both, and needs "
	       "a privilege";
}

static const char *why_too_many(const struct vperfctr_meter *m, const struct perfctr_info *info,
				char *buf, size_t size)
{
	unsigned int there, needed = perfctr_event_demand(info, m->control.ctr, m->n, &there);

	if (needed > there)
		(void)snprintf(buf, size, "%u events need general-purpose counters, and this processor (%s) "
			       "has %u", needed, perfctr_info_cpu_name(info), there);
	else
		(void)snprintf(buf, size, "this processor (%s) cannot count these %u events at a time: some "
			       "of them can be counted on the same few of its counters only",
			       perfctr_info_cpu_name(info), m->n);
	return buf;
}

int perfctr_meter_fail_control(struct vperfctr_meter *m, int err, const struct perfctr_info *info)
{
	const struct perfctr_control *control = &m->control;
	const char *why = strerror(-err);
	char which[METER_NAME_SIZE + 32] = "", buf[200];

	if (control->refused < m->n)
		(void)snprintf(which, sizeof(which), "'%s' (counter %u): ",
			       m->name[control->refused], control->refused);
	switch (-err) {
	case EBUSY:
		why = why_busy(control, buf, sizeof(buf));
		break;
	case EACCES:
		why = why_denied(control);
		break;
	case EOPNOTSUPP:
		why = why_not_supported(control);
		break;
	case EXDEV:
		why = "the thread must be bound to cores that count it, of one type on a hybrid processor";
		break;
	case ENOSPC:
		why = "this user has as many different controls as the module's limit allows, and this is "
		      "one more";
		break;
	case EIO:
		why = "a CPU has just come whose counters cannot be had";
		break;
	case EINVAL:
		/* Each event can be counted alone (see meter.c), so there are too many events. */
		why = why_too_many(m, info, buf, sizeof(buf));
		err = -ENOSPC;
		if (control->reason && control->reason != PERFCTR_REASON_COUNTER)
			why = perfctr_reason_name(control->reason);
		break;
	default:
		break;
	}
	return perfctr_meter_fail(m, err, "%s%s", which, why);
}

/* Returns why the kernel has stopped counting. */
static const char *why_stopped(const struct vperfctr_meter *m)
{
	struct perfctr_read r;

	if (perfctr_read_some(m->handle.fd, &r, 0) < 0 && errno == EIO)
		return perfctr_error_name(r.error);
	return "the counting has been stopped by an error that is gone by now";
}

const char *vperfctr_strerror(const struct vperfctr_meter *m, int err)
{
	if (err >= 0)
		return "no error";
	if (!m)
		return err == -ENOMEM ? "no memory for a meter" : strerror(-err);
	if (m->err)
		return m->sentence;
	switch (-err) {
	case ECHILD:
		return "this meter counts the parent of a fork(): the child has to open one of its own";
	case EIO:
		return why_stopped(m);
	default:
		return strerror(-err);
	}
}
