// SPDX-License-Identifier: GPL-2.0
/* Meters over a page that no kernel wrote. */
#include <stdlib.h>
#include <unistd.h>

#include "meter.h"

#include "run.h"

static struct perfctr_page page = { .size = sizeof(page), .seq = 2 };
static struct vperfctr_meter meter = { .handle = { .page = &page, .fd = -1 } };

/* A region that is shorter than what the reads themselves were found to cost */
START_TEST(test_net)
{
	struct perfctr_sum_ctrs region;

	page.owner = perfctr_thread_pointer();
	page.slot[PERFCTR_CLOCK_SLOT].owner = page.owner;
	meter.pid = getpid();
	meter.cost.tsc = 1ULL << 50;
	ck_assert_int_eq(vperfctr_meter_begin(&meter, &region), 0);
	ck_assert_int_eq(vperfctr_meter_end(&meter, &region), 0);
	ck_assert_uint_eq(region.tsc, 0);
	/* And a longer one: as if it had begun long ago */
	ck_assert_int_eq(vperfctr_meter_begin(&meter, &region), 0);
	region.tsc -= 3ULL << 50;
	ck_assert_int_eq(vperfctr_meter_end(&meter, &region), 0);
	ck_assert_uint_eq(region.tsc >> 50, 2);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("meter");

	tcase_add_test(tc, test_net);
	return run_tests("meter", tc);
}
