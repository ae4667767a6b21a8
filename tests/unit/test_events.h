/* SPDX-License-Identifier: GPL-2.0 */
/* The subject of test_events.c, in two files */
#ifndef TEST_EVENTS_H
#define TEST_EVENTS_H

#include <check.h>

#define CACHE(cache, op, result)	(0x10000u | (cache) << 3 | (op) << 1 | (result))

/* Where the module has no driver: perf's numbers, the same on every processor */
#define PERF_CACHE(cache, op, result)					\
	(PERF_COUNT_HW_CACHE_ ## cache | PERF_COUNT_HW_CACHE_OP_ ## op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_ ## result << 16)

int is_p4(unsigned int cpu_type);

#define ROWS(table)	((int)(sizeof(table) / sizeof((table)[0])))

/* Called by test_events.c */
void test_events_x86(TCase *tc);

#endif
