// SPDX-License-Identifier: GPL-2.0
/* What test_lib*.c share; see lib.h. */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <sys/mman.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/lib.h"

bool has_counters(void)
{
	return guest.nprogrammable != 0;
}

void usual_control(struct vperfctr_control *control)
{
	memset(control, 0, sizeof(*control));
	control->cpu_control.extended = PERFCTR_EXTENDED;
	control->cpu_control.tsc_on = 1;
	USER_MODE(control);
	if (guest.shared)
		control->source = VPERFCTR_SOURCE_SHARED;
	if (!has_counters())
		return;
	control->cpu_control.nractrs = 2;
	control->cpu_control.pmc_map[0] = PERFCTR_MAP_ANY;
	OLD_EVENT(&control->cpu_control, 0, EV_INSTRUCTIONS);
	control->cpu_control.pmc_map[1] = PERFCTR_MAP_ANY;
	OLD_EVENT(&control->cpu_control, 1, EV_DTLB_STORE_MISSES);
}

struct vperfctr *usual(void)
{
	struct vperfctr_control control;
	struct vperfctr *v = vperfctr_open();

	ck_assert_msg(v != NULL, "vperfctr_open: %s", strerror(errno));
	usual_control(&control);
	ck_ok(vperfctr_control(v, &control));
	return v;
}

__attribute__((noipa)) unsigned long long count_once(const struct vperfctr *v,
						     unsigned long n)
{
	unsigned long long first = vperfctr_read_pmc(v, 0);

	body_spin(n);
	return vperfctr_read_pmc(v, 0) - first;
}

void counts_exactly(const struct vperfctr *v)
{
	unsigned int i, exact = 0;

	for (i = 0; i < 100; i++)
		exact += count_once(v, LOOPS + i) - count_once(v, i + 1) == 2 * (LOOPS - 1);
	/* All are exact, but for a read that was repeated because of a switch. */
	ck_assert_uint_ge(exact, 95);
}
