// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sessions, which count CPUs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "internal.h"

/* The least interval of gperfctr_start() in microseconds, as in perfctr 2.6 */
#define LEAST_INTERVAL	10000u

/* A CPU that the session counts, with its control in 2.6's form, or zeros for a native control */
struct part {
	struct part *next;
	unsigned int cpu;
	struct perfctr_cpu_control control;
};

struct parts {
	struct part *first;
	unsigned int nr;
	unsigned int owner;
	unsigned int reason;
};

struct gperfctr {
	int fd;
	struct parts *parts;
};

struct gperfctr *gperfctr_open(void)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	struct gperfctr *g = malloc(sizeof(*g));
	struct parts *parts = calloc(1, sizeof(*parts));

	if (!g || !parts)
		goto err_free;
	g->parts = parts;
	g->fd = perfctr_open_fd(&o);
	if (g->fd >= 0)
		return g;
err_free:
	free(parts);
	free(g);
	return NULL;
}

void gperfctr_close(struct gperfctr *g)
{
	struct part *part, *next;

	if (!g)
		return;
	close(g->fd);
	for (part = g->parts->first; part; part = next) {
		next = part->next;
		free(part);
	}
	free(g->parts);
	free(g);
}

int gperfctr_fd(const struct gperfctr *g)
{
	return g->fd;
}

int gperfctr_info(const struct gperfctr *g, struct perfctr_info *info)
{
	return perfctr_info(g->fd, info);
}

struct perfctr_cpus_info *gperfctr_cpus_info(const struct gperfctr *g)
{
	return perfctr_cpus_info(g->fd);
}

int gperfctr_owner(const struct gperfctr *g)
{
	return (int)g->parts->owner;
}

int gperfctr_reason(const struct gperfctr *g)
{
	return (int)g->parts->reason;
}

static struct part **find_cpu(const struct gperfctr *g, unsigned int cpu)
{
	struct part **part = &g->parts->first;

	while (*part && (*part)->cpu != cpu)
		part = &(*part)->next;
	return part;
}

/*
 * Notes that the CPU counts from now on, or, if @made is NULL, that the CPU counts no more. If the
 * CPU has no part yet, @made becomes its part; else @made is freed.
 */
static void note(const struct gperfctr *g, unsigned int cpu, struct part *made,
		 const struct perfctr_cpu_control *control)
{
	struct part **part = find_cpu(g, cpu), *old = *part;

	if (made && !old) {
		made->cpu = cpu;
		*part = made;
		g->parts->nr++;
		old = made;
	} else if (made) {
		free(made);
	} else if (old) {
		*part = old->next;
		g->parts->nr--;
		free(old);
		return;
	}
	if (!old)
		return;
	memset(&old->control, 0, sizeof(old->control));
	if (control)
		old->control = *control;
}

static int control_cpu(const struct gperfctr *g, struct perfctr_control *native,
		       const struct perfctr_cpu_control *control)
{
	int counts = native->tsc_on || native->nractrs, ret;
	struct part *made = counts ? calloc(1, sizeof(*made)) : NULL;

	if (counts && !made)
		return -1;
	native->flags |= PERFCTR_CONTROL_CPU;
	ret = _vperfctr_control_native(g->fd, native);
	if (ret < 0 && control && perfctr_control_user_only(native))
		ret = _vperfctr_control_native(g->fd, native);
	g->parts->owner = ret < 0 ? native->owner : PERFCTR_OWNER_NONE;
	g->parts->reason = ret < 0 ? native->reason : PERFCTR_REASON_NONE;
	if (ret < 0) {
		free(made);
		return -1;
	}
	note(g, native->cpu, made, control);
	return 0;
}

int gperfctr_control_native(const struct gperfctr *g, struct perfctr_control *control)
{
	return control_cpu(g, control, NULL);
}

int gperfctr_control(const struct gperfctr *g, struct gperfctr_cpu_control *control)
{
	struct vperfctr_control compat = { .cpu_control = control->cpu_control };
	struct perfctr_control native;

	g->parts->owner = PERFCTR_OWNER_NONE;
	g->parts->reason = PERFCTR_REASON_NONE;
	if (perfctr_control_to_native(&compat, perfctr_cpu_type(g->fd), &native) < 0)
		return -1;
	native.cpu = control->cpu;
	return control_cpu(g, &native, &control->cpu_control);
}

int gperfctr_read_native(const struct gperfctr *g, unsigned int cpu,
			 struct perfctr_read_cpu *sums)
{
	memset(sums, 0, sizeof(*sums));
	sums->size = sizeof(*sums);
	sums->cpu = cpu;
	return ioctl(g->fd, PERFCTR_IOC_READ_CPU, sums);
}

int gperfctr_read(const struct gperfctr *g, struct gperfctr_cpu_state *state)
{
	struct perfctr_read_cpu sums;
	int ret = gperfctr_read_native(g, state->cpu, &sums);
	const struct part *part;
	unsigned int i;

	if (ret < 0 && errno != EIO)
		return -1;
	part = *find_cpu(g, state->cpu);
	memset(&state->cpu_control, 0, sizeof(state->cpu_control));
	if (part)
		state->cpu_control = part->control;
	memset(&state->sum, 0, sizeof(state->sum));
	state->sum.tsc = sums.clock;
	for (i = 0; i < sums.nrctrs && i < PERFCTR_NRCTRS; i++)
		state->sum.pmc[i] = sums.sum[i];
	return ret;
}

int gperfctr_start(const struct gperfctr *g, unsigned int interval_usec)
{
	if (interval_usec < LEAST_INTERVAL) {
		errno = EINVAL;
		return -1;
	}
	if (ioctl(g->fd, PERFCTR_IOC_RESUME) < 0)
		return -1;
	return (int)g->parts->nr;
}

int gperfctr_stop(const struct gperfctr *g)
{
	return ioctl(g->fd, PERFCTR_IOC_SUSPEND);
}
