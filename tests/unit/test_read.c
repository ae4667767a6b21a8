// SPDX-License-Identifier: GPL-2.0
/*
 * The inline read path over pages that no kernel wrote: which registers it
 * reads, and when it asks the kernel, which here is a bad descriptor.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libperfctr.h>

#include "run.h"

#ifndef PERFCTR_CLOCK_SLOT
#error "this arch has no inline read path"
#endif

static struct perfctr_page page;

/* As in the library: the page is the first member. */
static const struct {
	const struct perfctr_page *page;
	int fd;
	void *map;
} fake = { &page, -1, &page };

static const struct vperfctr *v;

static void set_up(void)
{
	unsigned int i;

	memset(&page, 0, sizeof(page));
	page.size = sizeof(page);
	page.seq = 2;
	page.owner = perfctr_thread_pointer();
	for (i = 0; i < PERFCTR_MAX_CTRS; i++)
		page.map[i] = PERFCTR_PAGE_NO_SLOT * sizeof(page.slot[0]);
	page.slot[PERFCTR_CLOCK_SLOT].owner = page.owner;
	page.slot[PERFCTR_CLOCK_SLOT].bias = -perfctr_register(PERFCTR_CLOCK_SLOT);
}

static int asked(unsigned long long value)
{
	int ok = value == PERFCTR_NO_COUNT && errno == EBADF;

	errno = 0;
	return ok;
}

/* An emulator of user mode looks at the request before it looks at the descriptor. */
static int asked_by_ioctl(int value)
{
	int ok = value == -1 && (errno == EBADF || errno == ENOSYS);

	errno = 0;
	return ok;
}

START_TEST(test_clock)
{
	struct perfctr_sum_ctrs sum;
	unsigned long long before, after;

	set_up();
	before = vperfctr_read_tsc(v);
	do
		after = vperfctr_read_tsc(v);
	while (after == before);
	ck_assert(after > before);
	/* Hours, in any unit: nothing but the register and the bias */
	ck_assert(after < 1ULL << 45);
	ck_assert(vperfctr_snapshot(v, &sum, 0) == 0);
	ck_assert(sum.tsc >= after && sum.tsc < 1ULL << 45);
	ck_assert(vperfctr_read_ctrs(v, &sum) == 0);

	page.slot[PERFCTR_CLOCK_SLOT].bias += 1ULL << 60;
	ck_assert(vperfctr_read_tsc(v) >> 60 == 1);
}
END_TEST

START_TEST(test_asks)
{
	struct perfctr_sum_ctrs sum;

	set_up();
	page.seq = -1;
	page.owner = 0;
	page.slot[PERFCTR_CLOCK_SLOT].owner = 0;
	ck_assert(asked(vperfctr_read_tsc(v)));
	ck_assert(asked_by_ioctl(vperfctr_snapshot(v, &sum, 0)));
	ck_assert(asked_by_ioctl(vperfctr_read_ctrs(v, &sum)));

	set_up();
	page.slot[PERFCTR_CLOCK_SLOT].owner++;
	ck_assert(asked(vperfctr_read_tsc(v)));
	/* The page as a whole has no owner where the clock is off. */
	page.owner = 0;
	ck_assert(asked_by_ioctl(vperfctr_snapshot(v, &sum, 0)));
	set_up();
	page.owner++;
	ck_assert(asked_by_ioctl(vperfctr_snapshot(v, &sum, 0)));

	/* Counters that do not exist, or cannot exist */
	set_up();
	ck_assert(asked(vperfctr_read_pmc(v, 0)));
	ck_assert(asked(vperfctr_read_pmc(v, PERFCTR_MAX_CTRS - 1)));
	ck_assert(asked(vperfctr_read_pmc_fenced(v, 0)));
	ck_assert(asked_by_ioctl(vperfctr_snapshot(v, &sum, 1)));
	errno = 0;
	ck_assert(asked(vperfctr_read_pmc(v, PERFCTR_MAX_CTRS)));
	ck_assert(vperfctr_read_reg(v, 3) == PERFCTR_NO_COUNT && errno == EINVAL);
	errno = 0;
	ck_assert(vperfctr_read_reg(v, ~0u) == PERFCTR_NO_COUNT && errno == EINVAL);
	errno = 0;
	ck_assert(vperfctr_snapshot(v, &sum, PERFCTR_NRCTRS + 1) == -1 && errno == EINVAL);
}
END_TEST

#if defined(__riscv) && __riscv_xlen == 64
static void count_on(unsigned int i, unsigned int reg)
{
	page.map[i] = (unsigned int)(reg * sizeof(page.slot[0]));
	page.slot[reg].owner = page.owner;
	page.slot[reg].bias = (unsigned long long)(i + 1) << 60;
	page.nrctrs = i + 1;
}

/* Any emulation of user mode may read cycle and instret. */
START_TEST(test_counters)
{
	struct perfctr_sum_ctrs sum, again;
	unsigned int i, n;

	set_up();
	count_on(0, PERFCTR_REG_INSTRET);
	count_on(1, PERFCTR_REG_CYCLE);
	count_on(2, PERFCTR_REG_TIME);

	for (i = 0; i < 3; i++)
		ck_assert(vperfctr_read_pmc(v, i) >> 60 == i + 1);
	ck_assert(vperfctr_read_pmc(v, 0) >> 60 == 1);
	ck_assert(vperfctr_read_pmc(v, 1) >> 60 == 2);
	ck_assert(vperfctr_read_pmc_fenced(v, 1) >> 60 == 2);
	ck_assert(vperfctr_read_instret(v) >> 60 == 1);
	ck_assert(vperfctr_read_cycle(v) >> 60 == 2);
	ck_assert(vperfctr_read_reg(v, PERFCTR_REG_TIME) >> 60 == 3);

	for (n = 0; n <= 3; n++) {
		memset(&sum, 0, sizeof(sum));
		ck_assert(vperfctr_snapshot(v, &sum, n) == 0);
		for (i = 0; i < 3; i++)
			ck_assert(sum.pmc[i] >> 60 == (i < n ? i + 1 : 0));
	}
	ck_assert(vperfctr_snapshot(v, &sum, 3) == 0);
	ck_assert(vperfctr_read_ctrs(v, &again) == 0);
	for (i = 0; i < 3; i++)
		ck_assert(again.pmc[i] >= sum.pmc[i] && again.pmc[i] >> 60 == i + 1);
	ck_assert(again.tsc >= sum.tsc);

	/* The stubs for other registers return, and read nothing. */
	page.slot[32].bias = 5;
	page.slot[PERFCTR_PAGE_NO_SLOT].bias = 6;
	page.slot[PERFCTR_REG_TIME].bias = 0;
	ck_assert(perfctr_place_count(&page, 32 * sizeof(page.slot[0])) == 5);
	ck_assert(perfctr_place_count(&page, PERFCTR_PAGE_NO_SLOT * sizeof(page.slot[0])) == 6);
	ck_assert(perfctr_place_count(&page, PERFCTR_REG_TIME * sizeof(page.slot[0])) <=
	       perfctr_register(PERFCTR_REG_TIME));
}
END_TEST
#endif

int main(void)
{
	TCase *tc = tcase_create("page");
	const void *object = &fake;

	v = object;
	tcase_add_test(tc, test_clock);
	tcase_add_test(tc, test_asks);
#if defined(__riscv)
	tcase_add_test(tc, test_counters);
#endif
	return run_tests("read", tc);
}
