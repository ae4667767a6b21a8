// SPDX-License-Identifier: GPL-2.0
/* What test_sharing*.c share; see sharing.h. */
#define _GNU_SOURCE

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/sharing.h"

#define GIVE_BACK_US 2000000

void exact_once(int fd)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };

	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, SHORT_LOOPS), 0);
	ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(SHORT_LOOPS));
}

struct perfctr_control control_of(uint64_t event)
{
	struct perfctr_control control;

	control_init(&control);
	control.tsc_on = 1;
	control_add_at(&control, general_map(guest.nprogrammable - 1), event, PERFCTR_CTR_USER);
	return control;
}

static unsigned int take_of(unsigned int cpu, int *fds, unsigned int max)
{
	/* Branches, which any general-purpose counter of x86 can count. TLB events have four of Ice Lake's eight. */
	struct perf_event_attr branches = { .type = PERF_TYPE_RAW, .size = sizeof(branches),
		.config = 0x00c4, .exclude_kernel = 1, .exclude_hv = 1 };

	return is_beside() ? perf_take(&branches, cpu, fds, max) :
			     perf_take_counters(cpu, fds, max);
}

void take(struct takings *takings, unsigned int first, unsigned int each)
{
	unsigned int cpu;

	takings->ncpus = guest.ncpus < CPUS_MAX ? guest.ncpus : CPUS_MAX;
	for (cpu = 0; cpu < takings->ncpus; cpu++)
		takings->n[cpu] = cpu < first ? 0 :
			take_of(cpu, takings->fds[cpu], each);
}

void give(struct takings *takings)
{
	unsigned int cpu;

	for (cpu = 0; cpu < takings->ncpus; cpu++)
		perf_give_counters(takings->fds[cpu], takings->n[cpu]);
}

bool has_all(const struct takings *takings)
{
	unsigned int cpu;

	/* On x86 some are always left to perf. */
	for (cpu = 0; cpu < takings->ncpus; cpu++)
		if (is_beside() ? takings->n[cpu] < guest.nprogrammable :
				  takings->n[cpu] != guest.nprogrammable)
			return false;
	return true;
}

void perf_gets_all(void)
{
	struct takings takings;
	unsigned int waited;
	bool all = false;

	for (waited = 0; !all && waited < GIVE_BACK_US; waited += 10000) {
		take(&takings, 0, PROGRAMMABLE_MAX);
		all = has_all(&takings);
		give(&takings);
		if (!all)
			sleep_us(10000);
	}
	ck_assert_msg(all, "perf gets %u counters of CPU 0, not %u", takings.n[0],
		      guest.nprogrammable);
}

struct perfctr_control control_of_many(unsigned int n)
{
	struct perfctr_control control;
	unsigned int i;

	control_init(&control);
	control.tsc_on = 1;
	for (i = 0; i < n; i++)
		control_add_at(&control, general_map(guest.nprogrammable - 1 - i),
			       i ? EV_CYCLES : EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	return control;
}

struct perfctr_control control_with_fixed(unsigned int n)
{
	struct perfctr_control control = control_of_many(n);
	struct perfctr_ctr_control fixed = control.ctr[0];

	if (guest.info.nrctrs == guest.nprogrammable)
		return control;
	fixed.map = PERFCTR_MAP_ANY;
	control.ctr[control.nractrs++] = control.ctr[0];
	control.ctr[0] = fixed;
	return control;
}
