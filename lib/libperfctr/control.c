// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Translates controls between perfctr 2.6's form and the kernel's. In 2.6's form each member is an
 * array, and architectures have different members. In the kernel's form each counter is a
 * structure.
 */
#include <errno.h>
#include <string.h>

#include "control.h"

/*
 * Counters of perf's events (PERFCTR_PERF_EVENTS)
 */

_Static_assert(PERFCTR_NRCTRS <= 32, "a bit for each counter");

int perfctr_has_perf_event(const struct perfctr_cpu_control *cpu, unsigned int i)
{
	return is_extended(cpu) && ((cpu->perf_user | cpu->perf_kernel) >> i & 1);
}

static int perf_ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			      struct perfctr_ctr_control *to)
{
	__u64 high = perfctr_ctr_config_high(from, i);

	if (high >> 32)
		return -1;
	to->map = PERFCTR_MAP_ANY;
	to->event = from->pmc_map[i];
	to->config = high << 32 | from->evntsel[i];
	to->flags = PERFCTR_CTR_PERF;
	if (from->perf_user >> i & 1)
		to->flags |= PERFCTR_CTR_USER;
	if (from->perf_kernel >> i & 1)
		to->flags |= PERFCTR_CTR_KERNEL;
	return 0;
}

/* 2.6's control has no place for perf's config1 and config2. */
static int perf_ctr_from_native(const struct perfctr_ctr_control *from,
				struct perfctr_cpu_control *to, unsigned int i)
{
	if (from->config1 || from->config2 || from->event >> 32)
		return -1;
	to->pmc_map[i] = (unsigned int)from->event;
	to->evntsel[i] = (unsigned int)from->config;
	if (from->flags & PERFCTR_CTR_USER)
		to->perf_user |= 1u << i;
	if (from->flags & PERFCTR_CTR_KERNEL)
		to->perf_kernel |= 1u << i;
	return perfctr_ctr_set_config_high(to, i, (unsigned int)(from->config >> 32));
}

/* VPERFCTR_SOURCE_ANY is 0, so old programs have it in their controls. */
static const unsigned int sources[] = {
	[VPERFCTR_SOURCE_ANY] = PERFCTR_SOURCE_ANY,
	[VPERFCTR_SOURCE_NATIVE] = PERFCTR_SOURCE_NATIVE,
	[VPERFCTR_SOURCE_SHARED] = PERFCTR_SOURCE_SHARED,
};

static unsigned int source_from_native(unsigned int source)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		if (sources[i] == source)
			return i;
	return VPERFCTR_SOURCE_ANY;
}

/*
 * Whole controls
 */

static int ctrs_to_native(const struct perfctr_cpu_control *cpu, unsigned int n,
			  unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (i >= cpu->nractrs && perfctr_ireset_to_native(cpu->ireset[i], &to[i].ireset) < 0)
			return -1;
		if (perfctr_has_perf_event(cpu, i)) {
			if (perf_ctr_to_native(cpu, i, &to[i]) < 0)
				return -1;
			continue;
		}
		to[i].map = cpu->pmc_map[i];
		perfctr_ctr_to_native(cpu, i, cpu_type, &to[i]);
	}
	return perfctr_ctrs_shared_to_native(cpu, n, cpu_type, to);
}

static int ctrs_from_native(const struct perfctr_ctr_control *from, unsigned int n,
			    unsigned int cpu_type, struct perfctr_cpu_control *cpu)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (perfctr_ireset_from_native(from[i].ireset, &cpu->ireset[i]) < 0)
			return -1;
		if (from[i].flags & PERFCTR_CTR_PERF) {
			if (perf_ctr_from_native(&from[i], cpu, i) < 0)
				return -1;
			continue;
		}
		cpu->pmc_map[i] = from[i].map;
		perfctr_ctr_from_native(&from[i], cpu_type, cpu, i);
	}
	return perfctr_ctrs_shared_from_native(from, n, cpu_type, cpu);
}

int perfctr_control_to_native(const struct vperfctr_control *from, unsigned int cpu_type,
			      struct perfctr_control *to)
{
	const struct perfctr_cpu_control *cpu = &from->cpu_control;
	unsigned int source = is_extended(cpu) ? from->source : VPERFCTR_SOURCE_ANY;
	unsigned int n = cpu->nractrs + cpu->nrictrs;

	if (cpu->nractrs > PERFCTR_NRCTRS || cpu->nrictrs > PERFCTR_NRCTRS ||
	    n > PERFCTR_NRCTRS || source >= ARRAY_SIZE(sources)) {
		errno = EINVAL;
		return -1;
	}

	memset(to, 0, offsetof(struct perfctr_control, ctr) + n * sizeof(to->ctr[0]));
	to->size = (__u32)(offsetof(struct perfctr_control, ctr) +
			   n * sizeof(to->ctr[0]));
	to->ctr_offset = offsetof(struct perfctr_control, ctr);
	to->ctr_size = sizeof(to->ctr[0]);
	to->flags = is_extended(cpu) ? from->flags : from->flags & VPERFCTR_CONTROL_CLOEXEC;
	to->tsc_on = !!cpu->tsc_on;
	to->nractrs = cpu->nractrs;
	to->nrictrs = cpu->nrictrs;
	to->si_signo = is_extended(cpu) || cpu->nrictrs ? from->si_signo : 0;
	to->source = sources[source];
	/* 2.6 ignored bits beyond the counters, but the kernel refuses them. */
	to->preserve = from->preserve & ((1ULL << n) - 1);
	if (ctrs_to_native(cpu, n, cpu_type, to->ctr) < 0) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}

int perfctr_control_from_native(const struct perfctr_control *from, unsigned int cpu_type,
				struct vperfctr_control *to)
{
	struct perfctr_cpu_control *cpu = &to->cpu_control;
	unsigned int n = from->nractrs + from->nrictrs;

	memset(to, 0, sizeof(*to));
	if (n > PERFCTR_NRCTRS) {
		errno = EINVAL;
		return -1;
	}

	to->flags = from->flags;
	to->si_signo = from->si_signo;
	to->preserve = (unsigned int)from->preserve;
	/* A control without counters has no source, so report ANY. */
	to->source = n ? source_from_native(from->source) : VPERFCTR_SOURCE_ANY;
	cpu->extended = PERFCTR_EXTENDED;
	cpu->tsc_on = from->tsc_on;
	cpu->nractrs = from->nractrs;
	cpu->nrictrs = from->nrictrs;
	if (ctrs_from_native(from->ctr, n, cpu_type, cpu) < 0) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}

/* The shortest periods that the kernel accepts. On some x86 models shorter ones interrupt late. */
static const __s64 least_periods[] = { 2, 32 };

/* 2.6 took any period, so a period that is too short is made longer. */
static int lengthen(struct perfctr_control *control)
{
	struct perfctr_ctr_control *ctr;
	unsigned int i;

	if (errno != EINVAL || control->refused < control->nractrs ||
	    control->refused >= control->nractrs + control->nrictrs)
		return 0;
	ctr = &control->ctr[control->refused];
	for (i = 0; i < ARRAY_SIZE(least_periods); i++)
		if (ctr->ireset < 0 && ctr->ireset > -least_periods[i]) {
			ctr->ireset = -least_periods[i];
			return 1;
		}
	return 0;
}

int perfctr_control_again(const struct vperfctr_control *from, struct perfctr_control *control)
{
	return perfctr_control_user_only(control) ||
	       (!is_extended(&from->cpu_control) && lengthen(control));
}
