// SPDX-License-Identifier: GPL-2.0
/* What test_hybrid*.c share; see hybrid.h. */
#define _GNU_SOURCE
#include <sched.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/hybrid.h"

#define YIELDS 4ul

void bind_to(unsigned int cpu)
{
	cpu_set_t set;

	if (cpu != BOTH_CPUS) {
		pin_self(cpu);
		return;
	}
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	CPU_SET(1, &set);
	ck_ok(sched_setaffinity(0, sizeof(set), &set));
}

struct perfctr_control instructions(void)
{
	struct perfctr_control control;

	control_init(&control);
	control.tsc_on = 1;
	control_add(&control, EV_INSTRUCTIONS);
	return control;
}

void exact(int fd, const struct perfctr_page *page, unsigned int runs)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	unsigned int run;
	uint64_t value[2];
	long ret;

	for (run = 1; run <= runs; run++) {
		unsigned long n = LOOPS + run;

		ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, n), 0);
		ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(n));
		ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_yield, YIELDS), 0);
		ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_YIELD(YIELDS));
		if (!page)
			continue;
		ret = exact_inline(page, 0, body_spin, n, value);
		ck_assert_int_ge(ret, 0);
		ck_assert_uint_eq(value[1] - value[0], EXACT_INLINE + BODY_SPIN(n) +
				  (uint64_t)ret * EXACT_INLINE_RETRY);
	}
}
