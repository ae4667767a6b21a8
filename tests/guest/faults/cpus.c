// SPDX-License-Identifier: GPL-2.0
/*
 * Cases of faults: counters of a CPU. The caller is alone there, as far as user mode goes, so what
 * the session counts is what the caller executes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "faults/faults.h"
#include "kit/guest.h"
#include "kit/loops.h"

static unsigned int own_cpu(void)
{
	return guest.ncpus - 1;
}

/* --- scenes --- */

/* A control that is to be tried, or given */
static void init_controls(struct scene *scene)
{
	first_control(&scene->control);
	scene->control.flags = PERFCTR_CONTROL_CPU;
	scene->control.cpu = own_cpu();
	scene->next = scene->control;
	if (exact)
		control_add(&scene->next, EV_CYCLES);
}

static void with_device(struct scene *scene)
{
	pin_self(own_cpu());
	make_realtime();
	open_only(scene);
	init_controls(scene);
}

static long call_open_cpus(struct scene *scene)
{
	struct perfctr_open arg = { .size = sizeof(arg), .flags = PERFCTR_OPEN_CPUS };

	return ioctl(scene->fd, PERFCTR_IOC_OPEN, &arg);
}

static void with_session(struct scene *scene)
{
	with_device(scene);
	if (call_open_cpus(scene))
		die("OPEN of CPUs: %s", strerror(errno));
}

static void control_cpu(struct scene *scene)
{
	if (try_control(scene->fd, &scene->control))
		die("CONTROL of a CPU: %s", strerror(errno));
}

static void with_counters(struct scene *scene)
{
	with_session(scene);
	control_cpu(scene);
}

/* The next control leaves the idle task out, which takes a probe of each switch. */
static void with_next_no_idle(struct scene *scene)
{
	renew_module();
	with_counters(scene);
	scene->next.flags |= PERFCTR_CONTROL_NO_IDLE;
}

static void with_running(struct scene *scene)
{
	with_counters(scene);
	if (call_resume(scene))
		die("RESUME of a session: %s", strerror(errno));
}

/* --- calls --- */

static int try_read_cpu(const struct scene *scene, struct perfctr_read_cpu *rd)
{
	memset(rd, 0, sizeof(*rd));
	rd->size = sizeof(*rd);
	rd->cpu = own_cpu();
	return ioctl(scene->fd, PERFCTR_IOC_READ_CPU, rd) ? -errno : 0;
}

static long call_read_cpu(struct scene *scene)
{
	struct perfctr_read_cpu rd;

	return try_read_cpu(scene, &rd) ? -1 : 0;
}

/* --- checks --- */

static bool is_session(const struct scene *scene)
{
	struct perfctr_read_cpu rd;

	return try_read_cpu(scene, &rd) != -ENOTTY;
}

/* When the session has ended its counters are free for a thread. */
static const char *counts_after(struct scene *scene)
{
	if (call_close(scene))
		return "close fails";
	with_counts(scene);
	return counts(scene, &scene->control);
}

/*
 * The session counts so many counters, of which the first counts exactly. It runs, or will; and
 * leaves nothing.
 */
static const char *cpu_counts(struct scene *scene, const struct perfctr_control *control,
			      bool runs)
{
	struct perfctr_read space[2] = {};
	struct perfctr_read_cpu *rd[2] = { (void *)&space[0], (void *)&space[1] };
	const char *wrong;
	unsigned int i;

	if (try_read_cpu(scene, rd[0]) || rd[0]->nrctrs != control->nractrs)
		return "READ_CPU, or another control is in force";
	if (!(rd[0]->flags & PERFCTR_READ_CPU_RUNNING) == runs)
		return runs ? "the session does not run" : "the session runs";
	if (!runs && call_resume(scene))
		return "RESUME fails";
	if (!control->nractrs)
		return counts_after(scene);
	for (i = 0; i < 2; i++) {
		rd[i]->size = sizeof(*rd[i]);
		rd[i]->cpu = own_cpu();
	}
	if (exact_kernel(scene->fd, PERFCTR_IOC_READ_CPU, space, body_spin, 1000))
		return "READ_CPU fails";
	wrong = compare_counts(rd[1]->sum[0] - rd[0]->sum[0], EXACT_KERNEL + BODY_SPIN(1000));
	return wrong ? wrong : counts_after(scene);
}

static const char *check_open_cpus(struct scene *scene, bool done)
{
	if (is_session(scene) != done)
		return done ? "there is no session" : "the file has become a session";
	if (!done && call_open_cpus(scene))
		return "OPEN fails afterwards";
	control_cpu(scene);
	return cpu_counts(scene, &scene->control, false);
}

/* The first control: there is none as before, and nothing in the way of it. */
static const char *check_first_control(struct scene *scene, bool done)
{
	struct perfctr_read_cpu rd;

	if (!done && (try_read_cpu(scene, &rd) || rd.cstatus))
		return "a control is in force";
	if (!done && call_control(scene))
		return "CONTROL fails afterwards";
	return cpu_counts(scene, &scene->next, false);
}

static const char *check_next_control(struct scene *scene, bool done)
{
	return cpu_counts(scene, done ? &scene->next : &scene->control, false);
}

static const char *check_read(struct scene *scene, bool done)
{
	(void)done;
	return cpu_counts(scene, &scene->control, true);
}

const struct fault_case cpus_cases[] = {
	{ "open_cpus", with_device, call_open_cpus, check_open_cpus, 0, 0 },
	{ "cpu_control_first", with_session, call_control, check_first_control, 0, 0 },
	{ "cpu_control_other", with_counters, call_control, check_next_control, 0, 0 },
	{ "cpu_control_no_idle", with_next_no_idle, call_control, check_next_control, 0, 0 },
	{ "cpu_read", with_running, call_read_cpu, check_read, 0, 0 },
	{ }
};
