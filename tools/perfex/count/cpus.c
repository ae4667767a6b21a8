// SPDX-License-Identifier: GPL-2.0
/* Implements -a and -C, which count CPUs, whatever runs on them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "count/cpus.h"
#include "count/explain.h"
#include "count/signals.h"

#define MOST_CPUS	8192		/* Linux' limit */
#define START_INTERVAL	10000		/* the least that is accepted; it has no effect */

/*
 * The session of a run, and what each CPU has counted: at the last read, and when the interval
 * began.
 */
static struct gperfctr *session;
static struct cpu_counts *now, *before;

static bool add_cpu(struct how *how, unsigned long cpu)
{
	unsigned int i, *cpus;

	for (i = 0; i < how->ncpus; i++)
		if (how->cpus[i] == cpu)
			return true;
	cpus = reallocarray(how->cpus, how->ncpus + 1, sizeof(*cpus));
	if (!cpus) {
		explain("no memory");
		return false;
	}
	how->cpus = cpus;
	how->cpus[how->ncpus++] = (unsigned int)cpu;
	return true;
}

/* Adds the CPUs of a text such as "3" or "0-3". */
static bool add_range(struct how *how, const char *text)
{
	char *end;
	unsigned long first, last;

	first = last = strtoul(text, &end, 10);
	if (end != text && *end == '-') {
		text = end + 1;
		last = strtoul(text, &end, 10);
	}
	if (end == text || *end || *text == '-' || first > last || last >= MOST_CPUS) {
		explain("--cpu (-C): '%s' is no list of CPUs, as 0,2-3 (the highest is %d)", text,
			MOST_CPUS - 1);
		return false;
	}
	for (; first <= last; first++)
		if (!add_cpu(how, first))
			return false;
	return true;
}

bool cpus_parse(const char *list, struct how *how)
{
	char *copy = strdup(list), *rest = copy, *text;
	bool good = copy != NULL;

	while (good && (text = strsep(&rest, ",")))
		good = add_range(how, text);
	free(copy);
	return good;
}

bool cpus_all(struct how *how)
{
	int fd = open(PERFCTR_DEVICE, O_RDONLY | O_CLOEXEC);
	struct perfctr_cpus_info *info = fd < 0 ? NULL : perfctr_cpus_info(fd);
	bool good = info != NULL;
	unsigned int cpu, bit;

	if (!good)
		explain_device(errno);
	for (cpu = 0; good && cpu < info->cpus->nrwords * 32; cpu++) {
		bit = 1u << cpu % 32;
		if (info->cpus->mask[cpu / 32] & ~info->cpus_forbidden->mask[cpu / 32] & bit)
			good = add_cpu(how, cpu);
	}
	free(info);
	if (fd >= 0)
		close(fd);
	return good;
}

/* Programs the counters of @cpu. Returns 0, or -1 with errno; @c then says what was refused. */
static int cpus_control(unsigned int cpu, const struct events *events, unsigned int n,
			const struct how *how, struct perfctr_control *c)
{
	unsigned int i;

	*c = (struct perfctr_control){
		PERFCTR_CONTROL_INIT,
		.flags = how->no_idle ? PERFCTR_CONTROL_NO_IDLE : 0,
		.source = how->source,
		.cpu = cpu,
		.tsc_on = 1,
		.nractrs = n,
	};
	for (i = 0; i < n; i++) {
		c->ctr[i] = events->event[i].ctr;
		if (!events->event[i].modifier)
			c->ctr[i].flags |= MODES;
	}
	return gperfctr_control_native(session, c);
}

/*
 * Programs each CPU to count the first @n events. Returns true, or false with the reason in @run.
 */
static bool control_each(const struct events *events, unsigned int n, const struct how *how,
			 struct run *run)
{
	struct perfctr_control c;
	unsigned int i;

	for (i = 0; i < how->ncpus; i++) {
		if (!cpus_control(how->cpus[i], events, n, how, &c))
			continue;
		run->error = errno;
		run->owner = c.owner;
		run->reason = c.reason;
		run->refused = c.refused;
		run->possible = c.possible;
		run->bad_event = c.refused < n && !c.possible ? (int)c.refused : -1;
		return false;
	}
	return true;
}

/*
 * Programs all CPUs. As in control.c, an event that the user did not choose is left out if it
 * cannot be counted.
 */
static bool cpus_control_all(const struct events *events, const struct how *how, struct run *run)
{
	struct events others;

	run->stage = STAGE_CONTROL;
	if (control_each(events, events->n, how, run))
		return true;
	if (events->chosen || run->error == EBUSY)
		return false;
	if (events_without(events, run->bad_event, &others)) {
		run->left_out = 1u << run->bad_event;
		if (control_each(&others, others.n, how, run))
			return true;
	}
	run->left_out = (1u << events->n) - 1;
	return control_each(events, 0, how, run);
}

static bool check_all(const struct how *how, struct run *run)
{
	struct perfctr_read_cpu sums;
	unsigned int i;

	for (i = 0; i < how->ncpus; i++) {
		if (!gperfctr_read_native(session, how->cpus[i], &sums))
			continue;
		run->stage = STAGE_NO_CPU;
		run->error = errno;
		run->refused = how->cpus[i];
		return false;
	}
	return true;
}

/* Returns the source that the session uses now. */
static unsigned int cpus_source(void)
{
	struct perfctr_info info;

	if (gperfctr_info(session, &info) < 0)
		return PERFCTR_SOURCE_NATIVE;
	return info.source == PERFCTR_SOURCE_NATIVE ? PERFCTR_SOURCE_NATIVE :
						      PERFCTR_SOURCE_SHARED;
}

bool cpus_begin(const struct events *events, const struct how *how, struct run *run)
{
	how->pidfds[0] = (struct pollfd){ .fd = signals_fd(), .events = POLLIN };
	run->stage = STAGE_OPEN;
	session = gperfctr_open();
	run->error = errno;
	if (!session)
		return false;
	now = calloc(how->ncpus, sizeof(*now));
	before = calloc(how->ncpus, sizeof(*before));
	run->error = ENOMEM;
	if (!now || !before || !check_all(how, run) || !cpus_control_all(events, how, run))
		return false;
	if (how->source == PERFCTR_SOURCE_ANY)
		run->source = cpus_source();
	else
		run->source = how->source;
	clock_gettime(CLOCK_MONOTONIC, &run->start);
	if (gperfctr_start(session, START_INTERVAL) < 0) {
		run->error = errno;
		return false;
	}
	run->stage = STAGE_RUNNING;
	return true;
}

void cpus_stop(void)
{
	gperfctr_stop(session);
}

void cpus_end(const struct how *how)
{
	gperfctr_close(session);
	session = NULL;
	free(now);
	free(before);
	now = before = NULL;
	if (how->pidfds)
		close(how->pidfds[0].fd);
}

static void read_cpu(unsigned int cpu, struct cpu_counts *counts, struct run *run)
{
	struct perfctr_read_cpu sums;
	unsigned int i;

	if (gperfctr_read_native(session, cpu, &sums) < 0) {
		run->complete = false;
		run->why = errno == EIO ? perfctr_error_name(sums.error) : strerror(errno);
	}
	counts->cpu = cpu;
	counts->online = sums.flags & PERFCTR_READ_CPU_ONLINE;
	counts->lost = sums.error != 0;
	counts->clock = sums.clock;
	memcpy(counts->sum, sums.sum, sizeof(counts->sum));
	run->sums.nrctrs = sums.nrctrs;
	run->sums.clock += sums.clock;
	for (i = 0; i < sums.nrctrs; i++)
		run->sums.sum[i] += sums.sum[i];
}

void cpus_read(const struct how *how, struct run *run)
{
	unsigned int i;

	memset(&run->sums, 0, sizeof(run->sums));
	run->complete = true;
	for (i = 0; i < how->ncpus; i++)
		read_cpu(how->cpus[i], &now[i], run);
	run->counted = run->complete || run->sums.clock;
}

void cpus_interval_ends(const struct how *how)
{
	memcpy(before, now, how->ncpus * sizeof(*now));
}

const struct cpu_counts *cpus_counts(unsigned int i)
{
	return &now[i];
}

const struct cpu_counts *cpus_before(unsigned int i)
{
	return &before[i];
}
