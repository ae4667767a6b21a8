// SPDX-License-Identifier: GPL-2.0
/* What test_topdown*.c share; see topdown.h. */
#define _GNU_SOURCE

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/topdown.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define BRANCHES	0xc4u

static unsigned int model_number(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int eax, ebx, ecx, edx;

	__cpuid(1, eax, ebx, ecx, edx);
	return (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
#else
	return 0;
#endif
}

uint64_t width(void)
{
	return model_number() == 143 ? 6 : 5;
}

unsigned int nr_metrics(void)
{
	return guest.info.topdown * L1;
}

void add(struct perfctr_control *control, uint64_t event)
{
	control_add_at(control, PERFCTR_MAP_ANY, event, USER);
}

void whole_control(struct perfctr_control *control)
{
	unsigned int i;

	control_init(control);
	control->tsc_on = 1;
	add(control, EV_CYCLES);
	add(control, EV_INSTRUCTIONS);
	add(control, BRANCHES);
	add(control, SLOTS);
	for (i = 0; i < nr_metrics(); i++)
		add(control, METRIC(i));
}

int count_all(void)
{
	struct perfctr_control control;
	int fd = open_self();

	whole_control(&control);
	set_control(fd, &control);
	return fd;
}

void parts_of(const __u64 *sum, uint64_t *part)
{
	uint64_t c = sum[CYCLES], i = sum[INSTRUCTIONS], b = sum[BRANCHES_AT];

	part[PERFCTR_METRIC_RETIRING] = 5 * (i + b);
	part[PERFCTR_METRIC_BAD_SPEC] = 6 * b;
	part[PERFCTR_METRIC_FE_BOUND] = 5 * c + 3 * b;
	part[PERFCTR_METRIC_BE_BOUND] = 5 * ((width() - 1) * c - i) - 14 * b;
	part[PERFCTR_METRIC_HEAVY_OPS] = 10 * b;
	part[PERFCTR_METRIC_BR_MISPREDICT] = 2 * b;
	part[PERFCTR_METRIC_FETCH_LAT] = 3 * b;
	part[PERFCTR_METRIC_MEM_BOUND] = 5 * (2 * c - i) + b;
}

double share(uint64_t part, uint64_t slots)
{
	return (double)part / (FIFTHS * (double)slots);
}
